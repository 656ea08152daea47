// E. Reaching into other processes: pid 1, a sibling, the host's.
#include <fcntl.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "probe.h"

namespace cordon::attacks {
namespace {

pid_t sleeping_child() {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  return child;
}

Answer ended(Answer result, pid_t child) {
  kill(child, SIGKILL);
  return result;
}

Answer attach(int request) {
  const pid_t child = sleeping_child();
  return ended(answer(ptrace(static_cast<__ptrace_request>(request), child, nullptr, nullptr)), child);
}

long variable = 7;

Answer read_memory(pid_t target) {
  long copy = 0;
  const iovec here{&copy, sizeof copy};
  const iovec there{&variable, sizeof variable};
  return answer(process_vm_readv(target, &here, 1, &there, 1, 0));
}

Answer write_memory(pid_t target) {
  long copy = 7;
  const iovec here{&copy, sizeof copy};
  const iovec there{&variable, sizeof variable};
  return answer(process_vm_writev(target, &here, 1, &there, 1, 0));
}

/// An address that is mapped nowhere: EFAULT instead of EPERM shows that pid 1 would have been read.
Answer read_init_memory(const Decoys&) {
  long copy = 0;
  const iovec here{&copy, sizeof copy};
  const iovec there{reinterpret_cast<void*>(8), sizeof copy};
  return open_unless_denied(process_vm_readv(1, &here, 1, &there, 1, 0));
}

Answer take_descriptor(pid_t target) {
  const long pidfd = syscall(SYS_pidfd_open, target, 0U);
  if (pidfd < 0) return answer(pidfd);
  return answer(syscall(SYS_pidfd_getfd, pidfd, 1, 0U));
}

Answer advise(const Decoys&) {
  const pid_t child = sleeping_child();
  const long pidfd = syscall(SYS_pidfd_open, child, 0U);
  const iovec range{reinterpret_cast<void*>(reinterpret_cast<unsigned long>(&variable) & ~4095UL), 4096};
  return ended(open_unless_denied(syscall(SYS_process_madvise, pidfd, &range, 1UL, MADV_COLD, 0U)), child);
}

Answer release_memory(const Decoys&) {
  const pid_t child = sleeping_child();
  const long pidfd = syscall(SYS_pidfd_open, child, 0U);
  return ended(open_unless_denied(syscall(448 /* process_mrelease */, pidfd, 0U)), child);
}

Answer signal_host(const Decoys& decoys) { return answer(kill(decoys.number("pid"), 0)); }

Answer signal_host_by_pidfd(const Decoys& decoys) { return answer(syscall(SYS_pidfd_open, decoys.number("pid"), 0U)); }

Answer own_signals(const Decoys& decoys) {
  int ends[2];
  if (pipe(ends) != 0) return answer(-1);
  return answer(fcntl(ends[0], F_SETOWN, decoys.number("pid")));
}

constexpr Probe probes[] = {
    {"ptrace_traceme", "cannot ask to be traced",
     [](const Decoys&) {
       const pid_t child = fork();
       if (child == 0) _exit(ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0 ? 42 : errno);
       int status = 0;
       waitpid(child, &status, 0);
       const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
       return Answer{code == 42, code == 42 ? 0 : code, {}};
     }},
    {"ptrace_attach", "cannot attach to another process", [](const Decoys&) { return attach(PTRACE_ATTACH); }},
    {"ptrace_seize", "cannot seize another process", [](const Decoys&) { return attach(PTRACE_SEIZE); }},
    {"ptrace_init", "cannot seize pid 1",
     [](const Decoys&) { return answer(ptrace(PTRACE_SEIZE, 1, nullptr, nullptr)); }},
    {"vm_read", "cannot read another process's memory", [](const Decoys&) { return read_memory(getppid()); }},
    {"vm_write", "cannot write another process's memory", [](const Decoys&) { return write_memory(getppid()); }},
    {"vm_read_init", "cannot read pid 1's memory", read_init_memory},
    {"vm_read_host", "cannot read a host process's memory",
     [](const Decoys& d) { return read_memory(d.number("pid")); }},
    {"mem_file_sibling", "cannot open a host process's memory file",
     [](const Decoys& d) { return try_open("/proc/" + d.text("pid") + "/mem", O_RDONLY); }},
    {"pidfd_getfd", "cannot take a descriptor out of another process",
     [](const Decoys&) { return take_descriptor(getppid()); }},
    {"pidfd_getfd_init", "cannot take a descriptor out of pid 1", [](const Decoys&) { return take_descriptor(1); }},
    {"kcmp", "cannot compare kernel objects of two processes",
     [](const Decoys&) { return answer(syscall(SYS_kcmp, getpid(), getppid(), KCMP_VM, 0UL, 0UL)); }},
    {"process_madvise", "cannot advise on another process's memory", advise},
    {"process_mrelease", "cannot release another process's memory", release_memory},
    {"migrate_pages", "cannot migrate another process's pages",
     [](const Decoys&) {
       const unsigned long node = 1;
       return open_unless_denied(syscall(SYS_migrate_pages, getppid(), 8UL, &node, &node));
     }},
    {"move_pages", "cannot move another process's pages",
     [](const Decoys&) {
       return open_unless_denied(syscall(SYS_move_pages, getppid(), 0UL, nullptr, nullptr, nullptr, 0));
     }},
    {"signal_host", "cannot signal a host process", signal_host},
    {"pidfd_host", "cannot open a pidfd of a host process", signal_host_by_pidfd},
    {"signal_owner_host", "cannot make a host process receive SIGIO", own_signals},
    {"prlimit_host", "cannot read a host process's limits",
     [](const Decoys& d) {
       unsigned long limits[2];
       return answer(syscall(SYS_prlimit64, d.number("pid"), 7, nullptr, limits));
     }},
    {"affinity_host", "cannot ask for a host process's affinity",
     [](const Decoys& d) {
       unsigned long mask[16];
       return answer(syscall(SYS_sched_getaffinity, d.number("pid"), sizeof mask, mask));
     }},
};

}  // namespace

Probes process_probes() { return probes; }

}  // namespace cordon::attacks
