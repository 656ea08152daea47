#include "sandbox/native/syscall_table.h"

#include <algorithm>

namespace cordon::sandbox::native {

namespace {

// name, number on x86_64, number on aarch64 (-1: that architecture has no such call), rule, reason.
// Complete up to Linux 6.19. A call that is not here is answered ENOSYS, as by a kernel that lacks it.
constexpr SyscallRow rows[] = {
    // Files: data
    {"read", 0, 63, Rule::allow, "works on a file that is already open"},
    {"write", 1, 64, Rule::allow, "works on a file that is already open"},
    {"readv", 19, 65, Rule::allow, "works on a file that is already open"},
    {"writev", 20, 66, Rule::allow, "works on a file that is already open"},
    {"pread64", 17, 67, Rule::allow, "works on a file that is already open"},
    {"pwrite64", 18, 68, Rule::allow, "works on a file that is already open"},
    {"preadv", 295, 69, Rule::allow, "works on a file that is already open"},
    {"pwritev", 296, 70, Rule::allow, "works on a file that is already open"},
    {"preadv2", 327, 286, Rule::allow, "works on a file that is already open"},
    {"pwritev2", 328, 287, Rule::allow, "works on a file that is already open"},
    {"lseek", 8, 62, Rule::allow, "works on a file that is already open"},
    {"close", 3, 57, Rule::allow, "works on a file that is already open"},
    {"close_range", 436, 436, Rule::allow, "works on a file that is already open"},
    {"dup", 32, 23, Rule::allow, "works on a file that is already open"},
    {"dup2", 33, -1, Rule::allow, "works on a file that is already open"},
    {"dup3", 292, 24, Rule::allow, "works on a file that is already open"},
    {"fcntl", 72, 25, Rule::allow, "works on a file that is already open"},
    {"flock", 73, 32, Rule::allow, "works on a file that is already open"},
    {"fsync", 74, 82, Rule::allow, "works on a file that is already open"},
    {"fdatasync", 75, 83, Rule::allow, "works on a file that is already open"},
    {"sync_file_range", 277, 84, Rule::allow, "works on a file that is already open"},
    {"ftruncate", 77, 46, Rule::allow, "works on a file that is already open"},
    {"fallocate", 285, 47, Rule::allow, "works on a file that is already open"},
    {"fadvise64", 221, 223, Rule::allow, "works on a file that is already open"},
    {"readahead", 187, 213, Rule::allow, "works on a file that is already open"},
    {"sendfile", 40, 71, Rule::allow, "works on a file that is already open"},
    {"copy_file_range", 326, 285, Rule::allow, "works on a file that is already open"},
    {"splice", 275, 76, Rule::allow, "works on a file that is already open"},
    {"tee", 276, 77, Rule::allow, "works on a file that is already open"},
    {"vmsplice", 278, 75, Rule::allow, "works on a file that is already open"},
    {"pipe", 22, -1, Rule::allow, "works on a file that is already open"},
    {"pipe2", 293, 59, Rule::allow, "works on a file that is already open"},
    {"getdents", 78, -1, Rule::allow, "works on a file that is already open"},
    {"getdents64", 217, 61, Rule::allow, "works on a file that is already open"},
    {"cachestat", 451, 451, Rule::allow, "works on a file that is already open"},

    // Files: names
    {"stat", 4, -1, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"fstat", 5, 80, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"lstat", 6, -1, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"newfstatat", 262, 79, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"statx", 332, 291, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"access", 21, -1, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"faccessat", 269, 48, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"faccessat2", 439, 439, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"readlink", 89, -1, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"readlinkat", 267, 78, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"getcwd", 79, 17, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"chdir", 80, 49, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"fchdir", 81, 50, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"statfs", 137, 43, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"fstatfs", 138, 44, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"truncate", 76, 45, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"rename", 82, -1, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"renameat", 264, 38, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"renameat2", 316, 276, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"link", 86, -1, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"linkat", 265, 37, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"symlink", 88, -1, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"symlinkat", 266, 36, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"unlink", 87, -1, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"unlinkat", 263, 35, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"rmdir", 84, -1, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"chown", 92, -1, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"fchown", 93, 55, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"lchown", 94, -1, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"fchownat", 260, 54, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"utime", 132, -1, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"utimes", 235, -1, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"futimesat", 261, -1, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"utimensat", 280, 88, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},
    {"umask", 95, 166, Rule::allow, "mounts, file modes and Landlock decide which path may be touched"},

    // Files: extended attributes
    {"setxattr", 188, 5, Rule::allow, "ordinary attributes; security.* asks for capabilities that are gone"},
    {"lsetxattr", 189, 6, Rule::allow, "ordinary attributes; security.* asks for capabilities that are gone"},
    {"fsetxattr", 190, 7, Rule::allow, "ordinary attributes; security.* asks for capabilities that are gone"},
    {"getxattr", 191, 8, Rule::allow, "ordinary attributes; security.* asks for capabilities that are gone"},
    {"lgetxattr", 192, 9, Rule::allow, "ordinary attributes; security.* asks for capabilities that are gone"},
    {"fgetxattr", 193, 10, Rule::allow, "ordinary attributes; security.* asks for capabilities that are gone"},
    {"listxattr", 194, 11, Rule::allow, "ordinary attributes; security.* asks for capabilities that are gone"},
    {"llistxattr", 195, 12, Rule::allow, "ordinary attributes; security.* asks for capabilities that are gone"},
    {"flistxattr", 196, 13, Rule::allow, "ordinary attributes; security.* asks for capabilities that are gone"},
    {"removexattr", 197, 14, Rule::allow, "ordinary attributes; security.* asks for capabilities that are gone"},
    {"lremovexattr", 198, 15, Rule::allow, "ordinary attributes; security.* asks for capabilities that are gone"},
    {"fremovexattr", 199, 16, Rule::allow, "ordinary attributes; security.* asks for capabilities that are gone"},
    {"setxattrat", 463, 463, Rule::allow, "ordinary attributes; security.* asks for capabilities that are gone"},
    {"getxattrat", 464, 464, Rule::allow, "ordinary attributes; security.* asks for capabilities that are gone"},
    {"listxattrat", 465, 465, Rule::allow, "ordinary attributes; security.* asks for capabilities that are gone"},
    {"removexattrat", 466, 466, Rule::allow, "ordinary attributes; security.* asks for capabilities that are gone"},

    // Files: flushing
    {"sync", 162, 81, Rule::allow, "package managers and databases flush"},
    {"syncfs", 306, 267, Rule::allow, "package managers and databases flush"},

    // Files: what can set a mode
    {"open", 2, -1, Rule::open_mode, "a setuid or setgid file left in a workspace would act for its owner outside"},
    {"openat", 257, 56, Rule::openat_mode,
     "a setuid or setgid file left in a workspace would act for its owner outside"},
    {"creat", 85, -1, Rule::mode_in_1, "a setuid or setgid file left in a workspace would act for its owner outside"},
    {"chmod", 90, -1, Rule::mode_in_1, "a setuid or setgid file left in a workspace would act for its owner outside"},
    {"fchmod", 91, 52, Rule::mode_in_1, "a setuid or setgid file left in a workspace would act for its owner outside"},
    {"fchmodat", 268, 53, Rule::mode_in_2,
     "a setuid or setgid file left in a workspace would act for its owner outside"},
    {"fchmodat2", 452, 452, Rule::mode_in_2,
     "a setuid or setgid file left in a workspace would act for its owner outside"},
    {"mkdir", 83, -1, Rule::mode_in_1, "a setuid or setgid file left in a workspace would act for its owner outside"},
    {"mkdirat", 258, 34, Rule::mode_in_2,
     "a setuid or setgid file left in a workspace would act for its owner outside"},
    {"mknod", 133, -1, Rule::mode_in_1, "a setuid or setgid file left in a workspace would act for its owner outside"},
    {"mknodat", 259, 33, Rule::mode_in_2,
     "a setuid or setgid file left in a workspace would act for its owner outside"},

    // Watching
    {"inotify_init", 253, -1, Rule::allow, "reports changes of what can be read anyway"},
    {"inotify_init1", 294, 26, Rule::allow, "reports changes of what can be read anyway"},
    {"inotify_add_watch", 254, 27, Rule::allow, "reports changes of what can be read anyway"},
    {"inotify_rm_watch", 255, 28, Rule::allow, "reports changes of what can be read anyway"},

    // Waiting for events
    {"poll", 7, -1, Rule::allow, "waits on open files"},
    {"ppoll", 271, 73, Rule::allow, "waits on open files"},
    {"select", 23, -1, Rule::allow, "waits on open files"},
    {"pselect6", 270, 72, Rule::allow, "waits on open files"},
    {"epoll_create", 213, -1, Rule::allow, "waits on open files"},
    {"epoll_create1", 291, 20, Rule::allow, "waits on open files"},
    {"epoll_ctl", 233, 21, Rule::allow, "waits on open files"},
    {"epoll_wait", 232, -1, Rule::allow, "waits on open files"},
    {"epoll_pwait", 281, 22, Rule::allow, "waits on open files"},
    {"epoll_pwait2", 441, 441, Rule::allow, "waits on open files"},
    {"eventfd", 284, -1, Rule::allow, "waits on open files"},
    {"eventfd2", 290, 19, Rule::allow, "waits on open files"},
    {"signalfd", 282, -1, Rule::allow, "waits on open files"},
    {"signalfd4", 289, 74, Rule::allow, "waits on open files"},
    {"timerfd_create", 283, 85, Rule::allow, "waits on open files"},
    {"timerfd_settime", 286, 86, Rule::allow, "waits on open files"},
    {"timerfd_gettime", 287, 87, Rule::allow, "waits on open files"},

    // Asynchronous files, the old way
    {"io_setup", 206, 0, Rule::allow, "databases use it; a small interface, unlike io_uring"},
    {"io_destroy", 207, 1, Rule::allow, "databases use it; a small interface, unlike io_uring"},
    {"io_submit", 209, 2, Rule::allow, "databases use it; a small interface, unlike io_uring"},
    {"io_cancel", 210, 3, Rule::allow, "databases use it; a small interface, unlike io_uring"},
    {"io_getevents", 208, 4, Rule::allow, "databases use it; a small interface, unlike io_uring"},
    {"io_pgetevents", 333, 292, Rule::allow, "databases use it; a small interface, unlike io_uring"},

    // Memory
    {"mmap", 9, 222, Rule::allow, "the own address space"},
    {"mprotect", 10, 226, Rule::allow, "the own address space"},
    {"munmap", 11, 215, Rule::allow, "the own address space"},
    {"mremap", 25, 216, Rule::allow, "the own address space"},
    {"brk", 12, 214, Rule::allow, "the own address space"},
    {"msync", 26, 227, Rule::allow, "the own address space"},
    {"mincore", 27, 232, Rule::allow, "the own address space"},
    {"madvise", 28, 233, Rule::allow, "the own address space"},
    {"mlock", 149, 228, Rule::allow, "the own address space"},
    {"mlock2", 325, 284, Rule::allow, "the own address space"},
    {"munlock", 150, 229, Rule::allow, "the own address space"},
    {"mlockall", 151, 230, Rule::allow, "the own address space"},
    {"munlockall", 152, 231, Rule::allow, "the own address space"},
    {"pkey_mprotect", 329, 288, Rule::allow, "the own address space"},
    {"pkey_alloc", 330, 289, Rule::allow, "the own address space"},
    {"pkey_free", 331, 290, Rule::allow, "the own address space"},
    {"mseal", 462, 462, Rule::allow, "the own address space"},
    {"map_shadow_stack", 453, 453, Rule::allow, "the own address space"},
    {"memfd_create", 319, 279, Rule::allow, "the own address space"},
    {"membarrier", 324, 283, Rule::allow, "the own address space"},

    // Processes
    {"fork", 57, -1, Rule::allow, "starts and ends own processes; limits count them"},
    {"vfork", 58, -1, Rule::allow, "starts and ends own processes; limits count them"},
    {"execve", 59, 221, Rule::allow, "starts and ends own processes; limits count them"},
    {"execveat", 322, 281, Rule::allow, "starts and ends own processes; limits count them"},
    {"exit", 60, 93, Rule::allow, "starts and ends own processes; limits count them"},
    {"exit_group", 231, 94, Rule::allow, "starts and ends own processes; limits count them"},
    {"wait4", 61, 260, Rule::allow, "starts and ends own processes; limits count them"},
    {"waitid", 247, 95, Rule::allow, "starts and ends own processes; limits count them"},
    {"getpid", 39, 172, Rule::allow, "starts and ends own processes; limits count them"},
    {"getppid", 110, 173, Rule::allow, "starts and ends own processes; limits count them"},
    {"gettid", 186, 178, Rule::allow, "starts and ends own processes; limits count them"},
    {"set_tid_address", 218, 96, Rule::allow, "starts and ends own processes; limits count them"},
    {"setpgid", 109, 154, Rule::allow, "starts and ends own processes; limits count them"},
    {"getpgid", 121, 155, Rule::allow, "starts and ends own processes; limits count them"},
    {"getpgrp", 111, -1, Rule::allow, "starts and ends own processes; limits count them"},
    {"setsid", 112, 157, Rule::allow, "starts and ends own processes; limits count them"},
    {"getsid", 124, 156, Rule::allow, "starts and ends own processes; limits count them"},
    {"rseq", 334, 293, Rule::allow, "starts and ends own processes; limits count them"},
    {"pidfd_open", 434, 434, Rule::allow, "starts and ends own processes; limits count them"},

    // Threads and locks
    {"futex", 202, 98, Rule::allow, "every threaded program"},
    {"futex_waitv", 449, 449, Rule::allow, "every threaded program"},
    {"futex_wake", 454, 454, Rule::allow, "every threaded program"},
    {"futex_wait", 455, 455, Rule::allow, "every threaded program"},
    {"futex_requeue", 456, 456, Rule::allow, "every threaded program"},
    {"set_robust_list", 273, 99, Rule::allow, "every threaded program"},
    {"get_robust_list", 274, 100, Rule::allow, "every threaded program"},
    {"sched_yield", 24, 124, Rule::allow, "every threaded program"},
    {"restart_syscall", 219, 128, Rule::allow, "every threaded program"},

    // Scheduling
    {"sched_setparam", 142, 118, Rule::allow, "raising a priority asks for capabilities or limits that are gone"},
    {"sched_getparam", 143, 121, Rule::allow, "raising a priority asks for capabilities or limits that are gone"},
    {"sched_setscheduler", 144, 119, Rule::allow, "raising a priority asks for capabilities or limits that are gone"},
    {"sched_getscheduler", 145, 120, Rule::allow, "raising a priority asks for capabilities or limits that are gone"},
    {"sched_setattr", 314, 274, Rule::allow, "raising a priority asks for capabilities or limits that are gone"},
    {"sched_getattr", 315, 275, Rule::allow, "raising a priority asks for capabilities or limits that are gone"},
    {"sched_get_priority_max", 146, 125, Rule::allow,
     "raising a priority asks for capabilities or limits that are gone"},
    {"sched_get_priority_min", 147, 126, Rule::allow,
     "raising a priority asks for capabilities or limits that are gone"},
    {"sched_rr_get_interval", 148, 127, Rule::allow,
     "raising a priority asks for capabilities or limits that are gone"},
    {"sched_setaffinity", 203, 122, Rule::allow, "raising a priority asks for capabilities or limits that are gone"},
    {"sched_getaffinity", 204, 123, Rule::allow, "raising a priority asks for capabilities or limits that are gone"},
    {"getpriority", 140, 141, Rule::allow, "raising a priority asks for capabilities or limits that are gone"},
    {"setpriority", 141, 140, Rule::allow, "raising a priority asks for capabilities or limits that are gone"},
    {"ioprio_get", 252, 31, Rule::allow, "raising a priority asks for capabilities or limits that are gone"},
    {"ioprio_set", 251, 30, Rule::allow, "raising a priority asks for capabilities or limits that are gone"},
    {"getcpu", 309, 168, Rule::allow, "raising a priority asks for capabilities or limits that are gone"},

    // Signals
    {"kill", 62, 129, Rule::allow, "reaches own processes only: the pid namespace and the Landlock signal scope"},
    {"tkill", 200, 130, Rule::allow, "reaches own processes only: the pid namespace and the Landlock signal scope"},
    {"tgkill", 234, 131, Rule::allow, "reaches own processes only: the pid namespace and the Landlock signal scope"},
    {"rt_sigaction", 13, 134, Rule::allow,
     "reaches own processes only: the pid namespace and the Landlock signal scope"},
    {"rt_sigprocmask", 14, 135, Rule::allow,
     "reaches own processes only: the pid namespace and the Landlock signal scope"},
    {"rt_sigreturn", 15, 139, Rule::allow,
     "reaches own processes only: the pid namespace and the Landlock signal scope"},
    {"rt_sigpending", 127, 136, Rule::allow,
     "reaches own processes only: the pid namespace and the Landlock signal scope"},
    {"rt_sigtimedwait", 128, 137, Rule::allow,
     "reaches own processes only: the pid namespace and the Landlock signal scope"},
    {"rt_sigqueueinfo", 129, 138, Rule::allow,
     "reaches own processes only: the pid namespace and the Landlock signal scope"},
    {"rt_tgsigqueueinfo", 297, 240, Rule::allow,
     "reaches own processes only: the pid namespace and the Landlock signal scope"},
    {"rt_sigsuspend", 130, 133, Rule::allow,
     "reaches own processes only: the pid namespace and the Landlock signal scope"},
    {"sigaltstack", 131, 132, Rule::allow,
     "reaches own processes only: the pid namespace and the Landlock signal scope"},
    {"pause", 34, -1, Rule::allow, "reaches own processes only: the pid namespace and the Landlock signal scope"},
    {"pidfd_send_signal", 424, 424, Rule::allow,
     "reaches own processes only: the pid namespace and the Landlock signal scope"},

    // Time
    {"time", 201, -1, Rule::allow, "reads clocks, sleeps, sets own timers"},
    {"gettimeofday", 96, 169, Rule::allow, "reads clocks, sleeps, sets own timers"},
    {"clock_gettime", 228, 113, Rule::allow, "reads clocks, sleeps, sets own timers"},
    {"clock_getres", 229, 114, Rule::allow, "reads clocks, sleeps, sets own timers"},
    {"clock_nanosleep", 230, 115, Rule::allow, "reads clocks, sleeps, sets own timers"},
    {"nanosleep", 35, 101, Rule::allow, "reads clocks, sleeps, sets own timers"},
    {"alarm", 37, -1, Rule::allow, "reads clocks, sleeps, sets own timers"},
    {"getitimer", 36, 102, Rule::allow, "reads clocks, sleeps, sets own timers"},
    {"setitimer", 38, 103, Rule::allow, "reads clocks, sleeps, sets own timers"},
    {"timer_create", 222, 107, Rule::allow, "reads clocks, sleeps, sets own timers"},
    {"timer_settime", 223, 110, Rule::allow, "reads clocks, sleeps, sets own timers"},
    {"timer_gettime", 224, 108, Rule::allow, "reads clocks, sleeps, sets own timers"},
    {"timer_getoverrun", 225, 109, Rule::allow, "reads clocks, sleeps, sets own timers"},
    {"timer_delete", 226, 111, Rule::allow, "reads clocks, sleeps, sets own timers"},
    {"times", 100, 153, Rule::allow, "reads clocks, sleeps, sets own timers"},

    // Identity
    {"getuid", 102, 174, Rule::allow, "without capabilities an identity can only be set to itself"},
    {"geteuid", 107, 175, Rule::allow, "without capabilities an identity can only be set to itself"},
    {"getgid", 104, 176, Rule::allow, "without capabilities an identity can only be set to itself"},
    {"getegid", 108, 177, Rule::allow, "without capabilities an identity can only be set to itself"},
    {"getresuid", 118, 148, Rule::allow, "without capabilities an identity can only be set to itself"},
    {"getresgid", 120, 150, Rule::allow, "without capabilities an identity can only be set to itself"},
    {"getgroups", 115, 158, Rule::allow, "without capabilities an identity can only be set to itself"},
    {"setuid", 105, 146, Rule::allow, "without capabilities an identity can only be set to itself"},
    {"setgid", 106, 144, Rule::allow, "without capabilities an identity can only be set to itself"},
    {"setreuid", 113, 145, Rule::allow, "without capabilities an identity can only be set to itself"},
    {"setregid", 114, 143, Rule::allow, "without capabilities an identity can only be set to itself"},
    {"setresuid", 117, 147, Rule::allow, "without capabilities an identity can only be set to itself"},
    {"setresgid", 119, 149, Rule::allow, "without capabilities an identity can only be set to itself"},
    {"setfsuid", 122, 151, Rule::allow, "without capabilities an identity can only be set to itself"},
    {"setfsgid", 123, 152, Rule::allow, "without capabilities an identity can only be set to itself"},
    {"setgroups", 116, 159, Rule::allow, "without capabilities an identity can only be set to itself"},
    {"capget", 125, 90, Rule::allow, "without capabilities an identity can only be set to itself"},
    {"capset", 126, 91, Rule::allow, "without capabilities an identity can only be set to itself"},

    // The machine, read
    {"uname", 63, 160, Rule::allow, "what every program may know"},
    {"sysinfo", 99, 179, Rule::allow, "what every program may know"},
    {"getrusage", 98, 165, Rule::allow, "what every program may know"},
    {"getrlimit", 97, 163, Rule::allow, "what every program may know"},
    {"getrandom", 318, 278, Rule::allow, "what every program may know"},

    // Limits
    {"setrlimit", 160, 164, Rule::allow, "a soft limit moves below the hard limit; raising that asks for a capability"},

    // Limits of any process
    {"prlimit64", 302, 261, Rule::own_limits,
     "without a pid namespace it could change the limits of the user's other programs"},

    // Sockets, once there is one
    {"connect", 42, 203, Rule::allow, "the family was judged by socket()"},
    {"accept", 43, 202, Rule::allow, "the family was judged by socket()"},
    {"accept4", 288, 242, Rule::allow, "the family was judged by socket()"},
    {"bind", 49, 200, Rule::allow, "the family was judged by socket()"},
    {"listen", 50, 201, Rule::allow, "the family was judged by socket()"},
    {"getsockname", 51, 204, Rule::allow, "the family was judged by socket()"},
    {"getpeername", 52, 205, Rule::allow, "the family was judged by socket()"},
    {"sendto", 44, 206, Rule::allow, "the family was judged by socket()"},
    {"recvfrom", 45, 207, Rule::allow, "the family was judged by socket()"},
    {"sendmsg", 46, 211, Rule::allow, "the family was judged by socket()"},
    {"recvmsg", 47, 212, Rule::allow, "the family was judged by socket()"},
    {"sendmmsg", 307, 269, Rule::allow, "the family was judged by socket()"},
    {"recvmmsg", 299, 243, Rule::allow, "the family was judged by socket()"},
    {"shutdown", 48, 210, Rule::allow, "the family was judged by socket()"},
    {"setsockopt", 54, 208, Rule::allow, "the family was judged by socket()"},
    {"getsockopt", 55, 209, Rule::allow, "the family was judged by socket()"},

    // Own confinement
    {"landlock_create_ruleset", 444, 444, Rule::allow, "can only tighten"},
    {"landlock_add_rule", 445, 445, Rule::allow, "can only tighten"},
    {"landlock_restrict_self", 446, 446, Rule::allow, "can only tighten"},

    // Tracing by the host
    {"uretprobe", 335, -1, Rule::allow,
     "placed by the kernel when the host traces with uprobes; called directly it only raises SIGILL"},
    {"uprobe", 336, -1, Rule::allow,
     "placed by the kernel when the host traces with uprobes; called directly it only raises SIGILL"},

    // Judged by an argument
    {"clone", 56, 220, Rule::clone_flags, "starts processes and threads; a new namespace opens most of the kernel"},
    {"socket", 41, 198, Rule::socket_family,
     "families that leave the network namespace, or have a record of kernel holes, are left out"},
    {"socketpair", 53, 199, Rule::socketpair_family, "a pair of Unix sockets reaches nobody else"},
    {"ioctl", 16, 29, Rule::ioctl_request,
     "a few requests type into the caller's terminal, drive its console or open refused doors"},
    {"prctl", 157, 167, Rule::prctl_option, "options that only concern or tighten the caller"},
    {"arch_prctl", 158, -1, Rule::arch_prctl_code, "thread registers, wide registers, shadow stacks"},
    {"personality", 135, 92, Rule::personality_value,
     "other values switch off address randomisation or make memory executable"},
    {"seccomp", 317, 277, Rule::seccomp_operation,
     "stacking filters only tightens; a listener would take the one place that Cordon's own needs"},

    // System V and POSIX message IPC
    {"shmget", 29, 194, Rule::ipc, "host objects are out of reach only in an own IPC namespace"},
    {"shmat", 30, 196, Rule::ipc, "host objects are out of reach only in an own IPC namespace"},
    {"shmctl", 31, 195, Rule::ipc, "host objects are out of reach only in an own IPC namespace"},
    {"shmdt", 67, 197, Rule::ipc, "host objects are out of reach only in an own IPC namespace"},
    {"semget", 64, 190, Rule::ipc, "host objects are out of reach only in an own IPC namespace"},
    {"semop", 65, 193, Rule::ipc, "host objects are out of reach only in an own IPC namespace"},
    {"semtimedop", 220, 192, Rule::ipc, "host objects are out of reach only in an own IPC namespace"},
    {"semctl", 66, 191, Rule::ipc, "host objects are out of reach only in an own IPC namespace"},
    {"msgget", 68, 186, Rule::ipc, "host objects are out of reach only in an own IPC namespace"},
    {"msgsnd", 69, 189, Rule::ipc, "host objects are out of reach only in an own IPC namespace"},
    {"msgrcv", 70, 188, Rule::ipc, "host objects are out of reach only in an own IPC namespace"},
    {"msgctl", 71, 187, Rule::ipc, "host objects are out of reach only in an own IPC namespace"},
    {"mq_open", 240, 180, Rule::ipc, "host objects are out of reach only in an own IPC namespace"},
    {"mq_unlink", 241, 181, Rule::ipc, "host objects are out of reach only in an own IPC namespace"},
    {"mq_timedsend", 242, 182, Rule::ipc, "host objects are out of reach only in an own IPC namespace"},
    {"mq_timedreceive", 243, 183, Rule::ipc, "host objects are out of reach only in an own IPC namespace"},
    {"mq_notify", 244, 184, Rule::ipc, "host objects are out of reach only in an own IPC namespace"},
    {"mq_getsetattr", 245, 185, Rule::ipc, "host objects are out of reach only in an own IPC namespace"},

    // Other processes
    {"ptrace", 101, 117, Rule::debugging, "reads and writes the memory of other processes"},
    {"process_vm_readv", 310, 270, Rule::debugging, "reads and writes the memory of other processes"},
    {"process_vm_writev", 311, 271, Rule::debugging, "reads and writes the memory of other processes"},

    // Other processes, never
    {"pidfd_getfd", 438, 438, Rule::deny, "takes from or acts on other processes; no build or test needs it"},
    {"kcmp", 312, 272, Rule::deny, "takes from or acts on other processes; no build or test needs it"},
    {"process_madvise", 440, 440, Rule::deny, "takes from or acts on other processes; no build or test needs it"},
    {"process_mrelease", 448, 448, Rule::deny, "takes from or acts on other processes; no build or test needs it"},

    // Namespaces
    {"unshare", 272, 97, Rule::deny, "a new user namespace gives capabilities over most of the kernel"},
    {"setns", 308, 268, Rule::deny, "a new user namespace gives capabilities over most of the kernel"},

    // Mounts
    {"mount", 165, 40, Rule::deny, "the mount tree is the first lock"},
    {"umount2", 166, 39, Rule::deny, "the mount tree is the first lock"},
    {"pivot_root", 155, 41, Rule::deny, "the mount tree is the first lock"},
    {"chroot", 161, 51, Rule::deny, "the mount tree is the first lock"},
    {"fsopen", 430, 430, Rule::deny, "the mount tree is the first lock"},
    {"fsconfig", 431, 431, Rule::deny, "the mount tree is the first lock"},
    {"fsmount", 432, 432, Rule::deny, "the mount tree is the first lock"},
    {"fspick", 433, 433, Rule::deny, "the mount tree is the first lock"},
    {"move_mount", 429, 429, Rule::deny, "the mount tree is the first lock"},
    {"open_tree", 428, 428, Rule::deny, "the mount tree is the first lock"},
    {"open_tree_attr", 467, 467, Rule::deny, "the mount tree is the first lock"},
    {"mount_setattr", 442, 442, Rule::deny, "the mount tree is the first lock"},

    // File handles
    {"name_to_handle_at", 303, 264, Rule::deny, "handles reach files past every directory check"},
    {"open_by_handle_at", 304, 265, Rule::deny, "handles reach files past every directory check"},

    // Watching for others
    {"fanotify_init", 300, 262, Rule::deny, "sees and can stall the file accesses of others"},
    {"fanotify_mark", 301, 263, Rule::deny, "sees and can stall the file accesses of others"},

    // Kernel attack surface
    {"bpf", 321, 280, Rule::deny, "privileged or young interfaces with a long record of holes"},
    {"perf_event_open", 298, 241, Rule::deny, "privileged or young interfaces with a long record of holes"},
    {"userfaultfd", 323, 282, Rule::deny, "privileged or young interfaces with a long record of holes"},
    {"memfd_secret", 447, 447, Rule::deny, "privileged or young interfaces with a long record of holes"},
    {"remap_file_pages", 216, 234, Rule::deny, "privileged or young interfaces with a long record of holes"},
    {"lookup_dcookie", 212, 18, Rule::deny, "privileged or young interfaces with a long record of holes"},

    // Keys
    {"add_key", 248, 217, Rule::deny, "keyrings are not in any namespace: the launcher's keys would be in reach"},
    {"request_key", 249, 218, Rule::deny, "keyrings are not in any namespace: the launcher's keys would be in reach"},
    {"keyctl", 250, 219, Rule::deny, "keyrings are not in any namespace: the launcher's keys would be in reach"},

    // The kernel itself
    {"init_module", 175, 105, Rule::deny, "changes the running kernel"},
    {"finit_module", 313, 273, Rule::deny, "changes the running kernel"},
    {"delete_module", 176, 106, Rule::deny, "changes the running kernel"},
    {"kexec_load", 246, 104, Rule::deny, "changes the running kernel"},
    {"kexec_file_load", 320, 294, Rule::deny, "changes the running kernel"},
    {"reboot", 169, 142, Rule::deny, "changes the running kernel"},

    // The machine
    {"swapon", 167, 224, Rule::deny, "belongs to the administrator"},
    {"swapoff", 168, 225, Rule::deny, "belongs to the administrator"},
    {"acct", 163, 89, Rule::deny, "belongs to the administrator"},
    {"quotactl", 179, 60, Rule::deny, "belongs to the administrator"},
    {"quotactl_fd", 443, 443, Rule::deny, "belongs to the administrator"},
    {"syslog", 103, 116, Rule::deny, "belongs to the administrator"},
    {"sethostname", 170, 161, Rule::deny, "belongs to the administrator"},
    {"setdomainname", 171, 162, Rule::deny, "belongs to the administrator"},
    {"vhangup", 153, 58, Rule::deny, "belongs to the administrator"},
    {"nfsservctl", 180, 42, Rule::deny, "belongs to the administrator"},

    // Clocks
    {"settimeofday", 164, 170, Rule::deny, "the time of the machine"},
    {"clock_settime", 227, 112, Rule::deny, "the time of the machine"},
    {"adjtimex", 159, 171, Rule::deny, "the time of the machine"},
    {"clock_adjtime", 305, 266, Rule::deny, "the time of the machine"},

    // Memory placement
    {"mbind", 237, 235, Rule::deny, "moves pages between nodes, also of other processes"},
    {"set_mempolicy", 238, 237, Rule::deny, "moves pages between nodes, also of other processes"},
    {"get_mempolicy", 239, 236, Rule::deny, "moves pages between nodes, also of other processes"},
    {"set_mempolicy_home_node", 450, 450, Rule::deny, "moves pages between nodes, also of other processes"},
    {"migrate_pages", 256, 238, Rule::deny, "moves pages between nodes, also of other processes"},
    {"move_pages", 279, 239, Rule::deny, "moves pages between nodes, also of other processes"},

    // Processor state
    {"modify_ldt", 154, -1, Rule::deny, "segments and ports of old x86"},
    {"iopl", 172, -1, Rule::deny, "segments and ports of old x86"},
    {"ioperm", 173, -1, Rule::deny, "segments and ports of old x86"},

    // Long obsolete
    {"_sysctl", 156, -1, Rule::deny, "nothing built in this century needs it"},
    {"sysfs", 139, -1, Rule::deny, "nothing built in this century needs it"},
    {"uselib", 134, -1, Rule::deny, "nothing built in this century needs it"},
    {"ustat", 136, -1, Rule::deny, "nothing built in this century needs it"},

    // Answered as by a kernel that lacks it: programs fall back
    {"clone3", 435, 435, Rule::absent,
     "its flags lie in memory, out of sight of a filter; libraries fall back to clone"},
    {"openat2", 437, 437, Rule::absent,
     "its mode lies in memory, out of sight of a filter; programs fall back to openat"},
    {"io_uring_setup", 425, 425, Rule::absent,
     "does file and network calls that no filter sees; programs fall back to epoll and threads"},
    {"io_uring_enter", 426, 426, Rule::absent,
     "does file and network calls that no filter sees; programs fall back to epoll and threads"},
    {"io_uring_register", 427, 427, Rule::absent,
     "does file and network calls that no filter sees; programs fall back to epoll and threads"},
    {"statmount", 457, 457, Rule::absent, "shows mounts and namespaces around us; programs fall back to /proc"},
    {"listmount", 458, 458, Rule::absent, "shows mounts and namespaces around us; programs fall back to /proc"},
    {"listns", 470, 470, Rule::absent, "shows mounts and namespaces around us; programs fall back to /proc"},
    {"lsm_get_self_attr", 459, 459, Rule::absent, "labels of security modules: nothing in the sandbox has one to set"},
    {"lsm_set_self_attr", 460, 460, Rule::absent, "labels of security modules: nothing in the sandbox has one to set"},
    {"lsm_list_modules", 461, 461, Rule::absent, "labels of security modules: nothing in the sandbox has one to set"},
    {"file_getattr", 468, 468, Rule::absent, "inode flags by structure; programs fall back to ioctl"},
    {"file_setattr", 469, 469, Rule::absent, "inode flags by structure; programs fall back to ioctl"},
    {"set_thread_area", 205, -1, Rule::absent, "only for 32-bit programs"},
    {"get_thread_area", 211, -1, Rule::absent, "only for 32-bit programs"},
    {"create_module", 174, -1, Rule::absent, "gone from the kernel, or never in it"},
    {"get_kernel_syms", 177, -1, Rule::absent, "gone from the kernel, or never in it"},
    {"query_module", 178, -1, Rule::absent, "gone from the kernel, or never in it"},
    {"getpmsg", 181, -1, Rule::absent, "gone from the kernel, or never in it"},
    {"putpmsg", 182, -1, Rule::absent, "gone from the kernel, or never in it"},
    {"afs_syscall", 183, -1, Rule::absent, "gone from the kernel, or never in it"},
    {"tuxcall", 184, -1, Rule::absent, "gone from the kernel, or never in it"},
    {"security", 185, -1, Rule::absent, "gone from the kernel, or never in it"},
    {"vserver", 236, -1, Rule::absent, "gone from the kernel, or never in it"},
    {"epoll_ctl_old", 214, -1, Rule::absent, "gone from the kernel, or never in it"},
    {"epoll_wait_old", 215, -1, Rule::absent, "gone from the kernel, or never in it"},
};

}  // namespace

int SyscallRow::number(Architecture architecture) const {
  return architecture == Architecture::x86_64 ? x86_64 : aarch64;
}

std::span<const SyscallRow> syscall_table() { return rows; }

const SyscallRow* find_syscall(Architecture architecture, std::uint32_t number) {
  const auto* row = std::ranges::find_if(rows, [&](const SyscallRow& candidate) {
    return candidate.number(architecture) >= 0 && static_cast<std::uint32_t>(candidate.number(architecture)) == number;
  });
  return row == std::end(rows) ? nullptr : row;
}

}  // namespace cordon::sandbox::native
