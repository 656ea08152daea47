#include "sandbox/network/program/confine.h"

#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>

#include "sys/landlock.h"
#include "sys/seccomp.h"

namespace cordon::sandbox::network {

namespace {

using sys::BpfAssembler;
using sys::SeccompAnswer;

#if defined(__x86_64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#endif

constexpr int allowed_calls[] = {
    SYS_read,       SYS_write,      SYS_close,         SYS_recvfrom,       SYS_sendto,
    SYS_connect,    SYS_accept4,    SYS_epoll_create1, SYS_epoll_ctl,      SYS_epoll_pwait,
    SYS_setsockopt, SYS_getsockopt, SYS_shutdown,      SYS_clock_gettime,  SYS_getrandom,
    SYS_munmap,     SYS_mremap,     SYS_brk,           SYS_madvise,        SYS_futex,
    SYS_exit,       SYS_exit_group, SYS_rt_sigreturn,  SYS_rt_sigprocmask, SYS_restart_syscall,
#if defined(__x86_64__)
    SYS_epoll_wait,
#endif
};

constexpr std::uint32_t argument(int index) {
  return static_cast<std::uint32_t>(offsetof(seccomp_data, args)) + 8U * static_cast<std::uint32_t>(index);
}

Result<void> trouble(const char* what) { return fail(Fault::unavailable, "{}: {}", what, std::strerror(errno)); }

/// The one that sandboxes started by root are, too: it owns no file. Where it does not exist (a container), nobody.
Result<void> become_nobody() {
  constexpr unsigned unowned = 2'147'000'000;
  constexpr unsigned nobody = 65534;
  if (::geteuid() != 0) return {};
  ::setgroups(0, nullptr);
  for (const unsigned id : {unowned, nobody}) {
    if (::setresgid(id, id, id) == 0 && ::setresuid(id, id, id) == 0) return {};
  }
  return trouble("setresuid");
}

Result<void> drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  if (::syscall(SYS_capset, &header, none) != 0) return trouble("capset");
  return {};
}

Result<void> limit(std::uint64_t descriptors) {
  constexpr std::uint64_t most_memory = 1ULL << 30;
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  const rlim_t wanted = std::min<rlim_t>(files.rlim_max, descriptors);
  for (const auto& [resource, value] : {std::pair{RLIMIT_NOFILE, wanted},
                                        {RLIMIT_AS, most_memory},
                                        {RLIMIT_FSIZE, 0},
                                        {RLIMIT_CORE, 0},
                                        {RLIMIT_NPROC, 0}}) {
    const rlimit both{value, value};
    if (::setrlimit(resource, &both) != 0) return trouble("setrlimit");
  }
  return {};
}

/// Where there is no Landlock the filter alone holds: it knows no call that takes a path.
Result<void> close_files() {
  const int abi = sys::landlock_abi();
  if (abi <= 0) return {};
  sys::landlock::Rights handled = sys::landlock::offered_by(abi);
  handled.network &= sys::landlock::bind_tcp;
  return TRY(sys::LandlockRuleset::create(handled)).restrict_self();
}

}  // namespace

sys::BpfProgram proxy_filter() {
  BpfAssembler assembler;
  const auto yes = assembler.answer(SeccompAnswer::allow().encode());
  const auto no = assembler.answer(SeccompAnswer::fail_with(EPERM).encode());
  const auto kill = assembler.answer(SeccompAnswer::kill_process().encode());
  using Test = BpfAssembler::Test;

  // socket: TCP and UDP of both families.
  constexpr std::uint32_t type_bits = ~static_cast<std::uint32_t>(SOCK_NONBLOCK | SOCK_CLOEXEC);
  auto type = assembler.branch(Test::equal, SOCK_DGRAM, {yes, no});
  type = assembler.branch(Test::equal, SOCK_STREAM, {yes, type});
  type = assembler.load(argument(1), assembler.mask(type_bits, type));
  auto family = assembler.branch(Test::equal, AF_INET6, {type, no});
  family = assembler.load(argument(0), assembler.branch(Test::equal, AF_INET, {type, family}));
  // Memory that is executed is memory that an attacker wrote.
  const auto memory = assembler.load(argument(2), assembler.branch(Test::any_bit, PROT_EXEC, {no, yes}));

  auto calls = assembler.branch(Test::equal, SYS_socket, {family, no});
  for (const int call : {SYS_mmap, SYS_mprotect}) {
    calls = assembler.branch(Test::equal, static_cast<std::uint32_t>(call), {memory, calls});
  }
  for (const int call : allowed_calls) {
    calls = assembler.branch(Test::equal, static_cast<std::uint32_t>(call), {yes, calls});
  }
  const auto numbers = assembler.load(offsetof(seccomp_data, nr), calls);
  const auto entry = assembler.branch(Test::equal, architecture, {numbers, kill});
  return assembler.finish(assembler.load(offsetof(seccomp_data, arch), entry));
}

Result<void> confine(std::uint64_t descriptors) {
  CHECK_OK(become_nobody());
  CHECK_OK(drop_capabilities());
  CHECK_OK(limit(descriptors));
  if (::prctl(PR_SET_DUMPABLE, 0) != 0 || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return trouble("prctl");
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::prctl(PR_SET_NAME, "cordon-proxy") != 0) return trouble("prctl");
  CHECK_OK(close_files());
  return sys::install_filter(proxy_filter());
}

}  // namespace cordon::sandbox::network
