// B. What /proc and /sys tell and let be written.
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include <cctype>
#include <cstdlib>
#include <cstring>

#include "probe.h"

namespace cordon::attacks {
namespace {

Answer readable(const char* path) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return answer(-1);
  char byte = 0;
  const ssize_t got = read(fd, &byte, 1);
  return got > 0 ? open_if(true) : got == 0 ? open_if(false, "empty") : answer(-1);
}

Answer writable(const char* path) { return try_open(path, O_WRONLY); }

Answer link_of(const char* path) {
  char target[4096];
  const ssize_t length = readlink(path, target, sizeof target);
  return length < 0 ? answer(-1) : open_if(true, std::string(target, static_cast<size_t>(length)));
}

Answer listable(const char* path) {
  DIR* directory = opendir(path);
  if (directory == nullptr) return answer(-1);
  int entries = 0;
  while (readdir(directory) != nullptr) ++entries;
  closedir(directory);
  return open_if(entries > 2);
}

Answer host_process_listed(const Decoys& decoys) {
  DIR* directory = opendir("/proc");
  if (directory == nullptr) return answer(-1);
  bool found = false;
  while (const dirent* entry = readdir(directory)) {
    if (isdigit(entry->d_name[0]) == 0) continue;
    const std::string base = std::string("/proc/") + entry->d_name;
    found = found || content_of(base + "/comm") == decoys.text("process") + "\n";
  }
  closedir(directory);
  return open_if(found);
}

/// Asked for by number, since Landlock or hidepid may hide the entry and not the directory behind it.
Answer host_process_by_number(const Decoys& decoys) {
  return open_if(content_of("/proc/" + decoys.text("pid") + "/comm") == decoys.text("process") + "\n");
}

/// Both files begin their lines with an address, which reads as zeros without the right to see it.
Answer any_address_in(const char* path) {
  const std::string text = content_of(path);
  if (text.empty()) return answer(-1);
  for (size_t at = 0; at < text.size() && at < 20000; at = text.find('\n', at) + 1) {
    const size_t end = text.find_first_of(" \n", text.find_first_not_of(' ', at));
    if (text.substr(at, end - at).find_first_not_of(" 0-") != std::string::npos) return open_if(true, "addresses");
    if (text.find('\n', at) == std::string::npos) break;
  }
  return open_if(false, "addresses are zero");
}

/// As in CVE-2019-5736: once the program has ended nothing but the mount and its owner stands against the write. The
/// kernel tells "busy" before "read-only", so the mount is asked apart.
Answer only_busy(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd >= 0) return open_if(true, "opened for writing");
  if (errno != ETXTBSY) return answer(-1);
  struct statvfs status {};
  const bool read_only = statvfs(path.c_str(), &status) == 0 && (status.f_flag & ST_RDONLY) != 0;
  return {!read_only, ETXTBSY, read_only ? "read-only mount" : "only while it runs"};
}

Answer running_system_program(const Decoys&) {
  const pid_t child = fork();
  if (child == 0) {
    execl("/usr/bin/sleep", "sleep", "5", nullptr);
    _exit(127);
  }
  const std::string exe = "/proc/" + std::to_string(child) + "/exe";
  char target[256] = {};
  for (int i = 0; i < 100000 && strncmp(target, "/usr/bin/sleep", 14) != 0; ++i) {
    memset(target, 0, sizeof target);
    if (readlink(exe.c_str(), target, sizeof target - 1) < 0) break;
  }
  const Answer result = only_busy(exe);
  kill(child, SIGKILL);
  return result;
}

Answer lower_oom_score(const Decoys&) {
  const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return answer(-1);
  return answer(write(fd, "-1000", 5));
}

Answer time_offsets(const Decoys&) {
  if (unshare(CLONE_NEWTIME) != 0) return answer(-1);
  const int fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return answer(-1);
  return answer(write(fd, "monotonic 10 0", 14));
}

/// CVE-2022-0492: a cgroup hierarchy mounted anew, with its release_agent in reach.
Answer release_agent(const Decoys&) {
  if (unshare(CLONE_NEWNS) != 0) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWCGROUP) != 0) return answer(-1);
  }
  mkdir("mount-here", 0700);
  const int mounted = mount("cgroup", "mount-here", "cgroup", 0, "memory");
  if (mounted != 0) return answer(-1);
  const Answer result = try_open("mount-here/release_agent", O_WRONLY);
  umount2("mount-here", MNT_DETACH);
  return result;
}

Answer make_cgroup(const Decoys&) {
  for (const char* path : {"/sys/fs/cgroup/cordon-attack", "/sys/fs/cgroup/memory/cordon-attack",
                           "/sys/fs/cgroup/unified/cordon-attack"}) {
    if (mkdir(path, 0700) != 0) continue;
    rmdir(path);
    return open_if(true, path);
  }
  return answer(-1);
}

Answer marker_behind(const char* link, const Decoys& decoys) {
  const std::string up = "/../../../../../../../../../../../../";
  return try_open(std::string(link) + up + decoys.text("marker"), O_RDONLY);
}

/// Not read: reading takes messages away from who logs them. A mask is an empty file of another file system.
Answer kernel_log_file(const Decoys&) {
  const int fd = open("/proc/kmsg", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct statfs status {};
  if (fd < 0 || fstatfs(fd, &status) != 0) return answer(-1);
  return open_if(status.f_type == 0x9fa0, status.f_type == 0x9fa0 ? "" : "masked");
}

Answer host_mount_listed(const Decoys& decoys) {
  const std::string text = content_of("/proc/self/mountinfo");
  return open_if(text.find(decoys.text("mount")) != std::string::npos);
}

Answer host_name(const Decoys& decoys) {
  utsname names{};
  uname(&names);
  return open_if(names.nodename == decoys.text("hostname"), names.nodename);
}

Answer host_port_listed(const Decoys& decoys) {
  char port[16];
  snprintf(port, sizeof port, ":%04X ", static_cast<unsigned>(decoys.number("port")));
  const std::string text = content_of("/proc/net/tcp");
  if (text.empty()) return answer(-1);
  return open_if(text.find(port) != std::string::npos);
}

Answer same_machine_id(const Decoys& decoys) {
  return open_if(content_of("/etc/machine-id").find(decoys.text("machine")) != std::string::npos);
}

constexpr Probe probes[] = {
    {"host_process_listed", "cannot see a host process in /proc", host_process_listed},
    {"host_process_by_number", "cannot open a host process's /proc directory", host_process_by_number},
    {"init_environ", "cannot read /proc/1/environ", [](const Decoys&) { return readable("/proc/1/environ"); }},
    {"init_root", "cannot follow /proc/1/root", [](const Decoys&) { return link_of("/proc/1/root"); }},
    {"init_cwd", "cannot follow /proc/1/cwd", [](const Decoys&) { return link_of("/proc/1/cwd"); }},
    {"init_exe", "cannot follow /proc/1/exe", [](const Decoys&) { return link_of("/proc/1/exe"); }},
    {"init_fd", "cannot list /proc/1/fd", [](const Decoys&) { return listable("/proc/1/fd"); }},
    {"init_maps", "cannot read /proc/1/maps", [](const Decoys&) { return readable("/proc/1/maps"); }},
    {"init_mem", "cannot open /proc/1/mem", [](const Decoys&) { return try_open("/proc/1/mem", O_RDWR); }},
    {"init_thread_environ", "cannot read pid 1's environment through its thread",
     [](const Decoys&) { return readable("/proc/1/task/1/environ"); }},
    {"init_stack", "cannot read /proc/1/stack", [](const Decoys&) { return readable("/proc/1/stack"); }},
    {"init_exe_handle", "cannot open pid 1's program", [](const Decoys&) { return try_open("/proc/1/exe", O_RDONLY); }},
    {"running_program_write", "cannot overwrite a system program that runs", running_system_program},
    {"core_pattern", "cannot open core_pattern for writing",
     [](const Decoys&) { return writable("/proc/sys/kernel/core_pattern"); }},
    {"modprobe_path", "cannot open kernel/modprobe for writing",
     [](const Decoys&) { return writable("/proc/sys/kernel/modprobe"); }},
    {"sysrq_trigger", "cannot open sysrq-trigger for writing",
     [](const Decoys&) { return writable("/proc/sysrq-trigger"); }},
    {"overcommit", "cannot open vm/overcommit_memory for writing",
     [](const Decoys&) { return writable("/proc/sys/vm/overcommit_memory"); }},
    {"max_user_namespaces", "cannot write user/max_user_namespaces back",
     [](const Decoys&) { return writable("/proc/sys/user/max_user_namespaces"); }},
    {"ip_forward", "cannot open net/ipv4/ip_forward for writing",
     [](const Decoys&) { return writable("/proc/sys/net/ipv4/ip_forward"); }},
    {"ipc_limits", "cannot open kernel/shmmax for writing",
     [](const Decoys&) { return writable("/proc/sys/kernel/shmmax"); }},
    {"hostname_file", "cannot open kernel/hostname for writing",
     [](const Decoys&) { return writable("/proc/sys/kernel/hostname"); }},
    {"last_pid", "cannot choose the next pid", [](const Decoys&) { return writable("/proc/sys/kernel/ns_last_pid"); }},
    {"sysfs_listed", "cannot list /sys/devices", [](const Decoys&) { return listable("/sys/devices"); }},
    {"sysfs_write", "cannot open a file of /sys for writing",
     [](const Decoys&) { return writable("/sys/kernel/mm/transparent_hugepage/enabled"); }},
    {"cgroup_procs", "cannot open a cgroup.procs for writing",
     [](const Decoys&) { return writable("/sys/fs/cgroup/memory/cgroup.procs"); }},
    {"cgroup_made", "cannot make a cgroup", make_cgroup},
    {"release_agent", "cannot mount a cgroup hierarchy and reach release_agent", release_agent},
    {"kernel_symbols", "cannot read kernel addresses", [](const Decoys&) { return any_address_in("/proc/kallsyms"); }},
    {"physical_map", "cannot read physical addresses", [](const Decoys&) { return any_address_in("/proc/iomem"); }},
    {"kernel_log_file", "cannot open /proc/kmsg", kernel_log_file},
    {"timer_list", "cannot read /proc/timer_list", [](const Decoys&) { return readable("/proc/timer_list"); }},
    {"slabinfo", "cannot read /proc/slabinfo", [](const Decoys&) { return readable("/proc/slabinfo"); }},
    {"page_flags", "cannot open /proc/kpageflags",
     [](const Decoys&) { return try_open("/proc/kpageflags", O_RDONLY); }},
    {"keys_listed", "cannot see a host key in /proc/keys",
     [](const Decoys&) { return open_if(content_of("/proc/keys").find("cordon-decoy") != std::string::npos); }},
    {"kernel_config", "cannot read the kernel's configuration",
     [](const Decoys&) { return readable("/proc/config.gz"); }},
    {"kernel_command_line", "cannot read the kernel's command line",
     [](const Decoys&) { return readable("/proc/cmdline"); }},
    {"boot_id", "cannot learn the boot id", [](const Decoys&) { return readable("/proc/sys/kernel/random/boot_id"); }},
    {"sysvipc_listed", "cannot see a host segment in /proc/sysvipc/shm",
     [](const Decoys&) { return open_if(content_of("/proc/sysvipc/shm").find("5387") != std::string::npos); }},
    {"lower_oom_score", "cannot exempt itself from the OOM killer", lower_oom_score},
    {"time_offsets", "cannot shift its clocks", time_offsets},
    {"root_link", "cannot leave by /proc/self/root",
     [](const Decoys& d) { return marker_behind("/proc/self/root", d); }},
    {"cwd_link", "cannot leave by /proc/self/cwd", [](const Decoys& d) { return marker_behind("/proc/self/cwd", d); }},
    {"init_root_link", "cannot leave by /proc/1/root",
     [](const Decoys& d) { return marker_behind("/proc/1/root", d); }},
    {"host_mount_listed", "cannot see the host's mounts in mountinfo", host_mount_listed},
    {"host_name", "cannot learn the host's name", host_name},
    {"machine_id", "cannot learn the machine id", same_machine_id},
    {"host_port_listed", "cannot see the host's sockets in /proc/net", host_port_listed},
};

}  // namespace

Probes procfs_probes() { return probes; }

}  // namespace cordon::attacks
