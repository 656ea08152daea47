// F. Kernel interfaces that no build or test needs and exploits do.
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstring>

#include "probe.h"

#if defined(__x86_64__)
#include <asm/ldt.h>
#include <asm/prctl.h>
#endif

namespace cordon::attacks {
namespace {

Answer find_decoy_key(const Decoys&) {
  return answer(syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_SESSION_KEYRING, "user", "cordon-decoy", 0));
}

Answer add_key_to_process(const Decoys&) {
  return answer(syscall(SYS_add_key, "user", "cordon-attack", "x", 1UL, KEY_SPEC_PROCESS_KEYRING));
}

Answer ring_setup(const Decoys&) {
  char parameters[120] = {};
  return answer(syscall(SYS_io_uring_setup, 4U, parameters));
}

Answer load_program(const Decoys&) {
  const bpf_insn program[] = {{BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0}, {BPF_JMP | BPF_EXIT, 0, 0, 0, 0}};
  bpf_attr attributes{};
  attributes.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
  attributes.insns = reinterpret_cast<__u64>(program);
  attributes.insn_cnt = 2;
  attributes.license = reinterpret_cast<__u64>("GPL");
  return answer(syscall(SYS_bpf, BPF_PROG_LOAD, &attributes, sizeof attributes));
}

Answer make_map(const Decoys&) {
  bpf_attr attributes{};
  attributes.map_type = BPF_MAP_TYPE_ARRAY;
  attributes.key_size = 4;
  attributes.value_size = 4;
  attributes.max_entries = 1;
  return answer(syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof attributes));
}

Answer watch_performance(bool kernel) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  attributes.exclude_kernel = !kernel;
  attributes.exclude_hv = 1;
  return answer(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0UL));
}

Answer set_personality(unsigned long value) {
  const long old = syscall(SYS_personality, value);
  const Answer result = answer(old);
  if (old >= 0) syscall(SYS_personality, old);
  return result;
}

/// The program in memory is this one: it must find the same filter.
Answer memory_program(const Decoys&) {
  const int copy = static_cast<int>(syscall(SYS_memfd_create, "program", 0U));
  const int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (copy < 0 || self < 0) return answer(-1);
  char block[65536];
  for (ssize_t got; (got = read(self, block, sizeof block)) > 0;)
    if (write(copy, block, static_cast<size_t>(got)) != got) return answer(-1);
  int ends[2];
  if (pipe(ends) != 0) return answer(-1);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    char* const argv[] = {const_cast<char*>("probe"), const_cast<char*>("unshare_user"), nullptr};
    char* const environment[] = {nullptr};
    syscall(SYS_execveat, copy, "", argv, environment, AT_EMPTY_PATH);
    _exit(127);
  }
  close(ends[1]);
  char line[256] = {};
  const ssize_t length = read(ends[0], line, sizeof line - 1);
  return open_if(length > 0 && strstr(line, "OPEN") != nullptr, length > 0 ? "it ran, filtered" : "it did not run");
}

Answer remap_pages(const Decoys&) {
  void* area = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return answer(syscall(SYS_remap_file_pages, area, 4096UL, 0, 1UL, 0));
}

#if defined(__x86_64__)
// The numbers of the 32-bit table mean other calls there: 20 is getpid, 102 socketcall, 5 open.
long call_i386(long number, long first, long second, long third) {
  long result = number;
  asm volatile("int $0x80" : "+a"(result) : "b"(first), "c"(second), "d"(third) : "memory", "r8", "r9", "r10", "r11");
  return result;
}

Answer getpid_i386(const Decoys&) { return open_if(call_i386(20, 0, 0, 0) > 0); }

Answer socket_i386(const Decoys&) {
  void* low = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  if (low == MAP_FAILED) return answer(-1);
  const int arguments[3] = {AF_NETLINK, SOCK_RAW, 0};
  memcpy(low, arguments, sizeof arguments);
  return open_if(call_i386(102, 1, reinterpret_cast<long>(low), 0) >= 0);
}

/// mov $1,%eax; mov $42,%ebx; int $0x80 in the smallest ELF that the kernel takes.
Answer run_i386(const Decoys&) {
  unsigned char image[96] = {0x7f, 'E', 'L', 'F', 1, 1, 1};
  const auto put = [&image](size_t at, unsigned value, size_t bytes) { memcpy(image + at, &value, bytes); };
  put(16, 2, 2), put(18, 3, 2), put(20, 1, 4), put(24, 0x08048054, 4), put(28, 52, 4), put(40, 52, 2), put(42, 32, 2);
  put(44, 1, 2), put(52, 1, 4), put(60, 0x08048000, 4), put(64, 0x08048000, 4), put(68, 96, 4), put(72, 96, 4);
  put(76, 5, 4), put(80, 0x1000, 4);
  const unsigned char code[] = {0xb8, 1, 0, 0, 0, 0xbb, 42, 0, 0, 0, 0xcd, 0x80};
  memcpy(image + 84, code, sizeof code);
  const int fd = open("program-i386", O_CREAT | O_WRONLY | O_TRUNC, 0700);
  if (fd < 0 || write(fd, image, sizeof image) != sizeof image) return answer(-1);
  close(fd);
  const int status = status_of({"./program-i386"});
  unlink("program-i386");
  if (WIFSIGNALED(status)) return open_if(false, std::string("killed by ") + sigabbrev_np(WTERMSIG(status)));
  return open_if(WIFEXITED(status) && WEXITSTATUS(status) == 42);
}

Answer write_ldt(const Decoys&) {
  user_desc entry{};
  entry.entry_number = 0;
  entry.limit = 0xfffff;
  entry.seg_32bit = 1;
  entry.useable = 1;
  return answer(syscall(SYS_modify_ldt, 1, &entry, sizeof entry));
}
#endif

constexpr Probe probes[] = {
    {"add_key", "cannot add a key", add_key_to_process},
    {"request_key", "cannot request a key",
     [](const Decoys&) { return open_unless_denied(syscall(SYS_request_key, "user", "cordon-missing", nullptr, 0)); }},
    {"keyctl_join", "cannot join a session keyring",
     [](const Decoys&) { return answer(syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, "cordon-attack")); }},
    {"launcher_key", "cannot find a key of the launcher's session", find_decoy_key},
    {"io_uring_setup", "cannot set up io_uring", ring_setup},
    {"io_uring_enter", "cannot enter io_uring",
     [](const Decoys&) { return open_unless_denied(syscall(SYS_io_uring_enter, -1, 0U, 0U, 0U, nullptr, 0UL)); }},
    {"io_uring_register", "cannot register with io_uring",
     [](const Decoys&) { return open_unless_denied(syscall(SYS_io_uring_register, -1, 0U, nullptr, 0U)); }},
    {"bpf_program", "cannot load a BPF program", load_program},
    {"bpf_map", "cannot make a BPF map", make_map},
    {"userfaultfd", "cannot handle user page faults",
     [](const Decoys&) { return answer(syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY)); }},
    {"userfaultfd_kernel", "cannot handle kernel page faults",
     [](const Decoys&) { return answer(syscall(SYS_userfaultfd, O_CLOEXEC)); }},
    {"perf_user", "cannot open a perf event", [](const Decoys&) { return watch_performance(false); }},
    {"perf_kernel", "cannot open a perf event that counts the kernel",
     [](const Decoys&) { return watch_performance(true); }},
    {"personality_exec", "cannot set READ_IMPLIES_EXEC",
     [](const Decoys&) { return set_personality(READ_IMPLIES_EXEC); }},
    {"personality_aslr", "cannot switch address randomisation off",
     [](const Decoys&) { return set_personality(ADDR_NO_RANDOMIZE); }},
    {"personality_32", "cannot take a 32-bit personality", [](const Decoys&) { return set_personality(PER_LINUX32); }},
    {"memory_program", "runs a program from memory under the same filter", memory_program},
    {"remap_file_pages", "cannot remap file pages", remap_pages},
    {"fanotify_init", "cannot watch the file system",
     [](const Decoys&) { return answer(syscall(SYS_fanotify_init, 0x200U, O_RDONLY)); }},
    {"mbind", "cannot bind memory to a node",
     [](const Decoys&) {
       void* area = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
       return open_unless_denied(syscall(SYS_mbind, area, 4096UL, 0, nullptr, 0UL, 0U));
     }},
    {"set_mempolicy", "cannot set a memory policy",
     [](const Decoys&) { return open_unless_denied(syscall(SYS_set_mempolicy, 0, nullptr, 0UL)); }},
    {"memfd_secret", "cannot hide memory from the kernel",
     [](const Decoys&) { return open_unless_denied(syscall(447 /* memfd_secret */, 0U)); }},
#if defined(__x86_64__)
    {"int80_getpid", "cannot make a 32-bit system call", getpid_i386},
    {"int80_netlink", "cannot open a socket by the 32-bit table", socket_i386},
    {"program_i386", "cannot run a 32-bit program", run_i386},
    {"x32_getpid", "cannot make an x32 system call",
     [](const Decoys&) { return answer(syscall(0x40000000 | SYS_getpid)); }},
    {"modify_ldt", "cannot write the LDT", write_ldt},
    {"iopl", "cannot raise its I/O level", [](const Decoys&) { return answer(syscall(SYS_iopl, 3)); }},
    {"ioperm", "cannot open I/O ports", [](const Decoys&) { return answer(syscall(SYS_ioperm, 0x80UL, 1UL, 1)); }},
    {"ustat", "cannot call ustat",
     [](const Decoys&) {
       char room[64];
       return open_unless_denied(syscall(SYS_ustat, 1U, room));
     }},
    {"uselib", "cannot call uselib",
     [](const Decoys&) { return open_unless_denied(syscall(SYS_uselib, "/nonexistent")); }},
    {"sysfs_call", "cannot call sysfs", [](const Decoys&) { return open_unless_denied(syscall(SYS_sysfs, 3)); }},
#endif
};

}  // namespace

Probes kernel_probes() { return probes; }

}  // namespace cordon::attacks
