#include "sandbox/native/filter_rules.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <initializer_list>

namespace cordon::sandbox::native {

namespace {

using sys::SeccompAnswer;

constexpr SeccompAnswer yes = SeccompAnswer::allow();
constexpr SeccompAnswer no = SeccompAnswer::fail_with(EPERM);
constexpr SeccompAnswer no_such_call = SeccompAnswer::fail_with(ENOSYS);
constexpr SeccompAnswer no_such_option = SeccompAnswer::fail_with(EINVAL);

constexpr std::uint32_t whole = 0xffffffff;

// Numbers, where the headers of Debian 12 are older than the kernels we run on or differ between architectures.
constexpr std::uint32_t open_creates = 0100 | 020000000;  // O_CREAT, __O_TMPFILE: the same on x86_64 and aarch64
constexpr std::uint32_t set_id_bits = S_ISUID | S_ISGID;

CallRule always(SeccompAnswer answer) { return {{}, answer}; }

/// One argument, equal to one of these values.
CallRule one_of(std::uint8_t argument, std::initializer_list<std::uint32_t> values, SeccompAnswer otherwise) {
  CallRule rule{{}, otherwise};
  for (const std::uint32_t value : values) rule.clauses.push_back({{{argument, whole, value}}, yes});
  return rule;
}

CallRule no_set_id(std::uint8_t mode) { return {{{{{mode, set_id_bits, 0}}, yes}}, no}; }

// A mode counts only in a call that creates; otherwise it may be whatever was left in the register.
CallRule no_set_id_created(std::uint8_t flags, std::uint8_t mode) {
  return {{{{{flags, open_creates, 0}}, yes}, {{{mode, set_id_bits, 0}}, yes}}, no};
}

CallRule clone_flags() {
  // CLONE_NEWTIME is missing on purpose: in clone(2) its bit belongs to the exit signal.
  constexpr std::uint32_t namespaces =
      CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
  return {{{{{0, namespaces, 0}}, yes}}, no};
}

/// TCP and UDP by their plain protocols. Raw sockets: EPERM. Everything else (ICMP, SCTP, MPTCP, ...): EPROTONOSUPPORT,
/// upon which programs that prefer it (Go: MPTCP, ping: ICMP) take the next best.
void add_internet(std::uint32_t family, std::vector<Clause>& clauses) {
  constexpr std::uint32_t type_bits = 0xf;  // above are SOCK_CLOEXEC and SOCK_NONBLOCK
  const auto allow = [&](std::uint32_t type, std::uint32_t protocol) {
    clauses.push_back({{{0, whole, family}, {1, type_bits, type}, {2, whole, protocol}}, yes});
  };
  allow(SOCK_STREAM, 0);
  allow(SOCK_STREAM, 6);
  allow(SOCK_DGRAM, 0);
  allow(SOCK_DGRAM, 17);
  clauses.push_back({{{0, whole, family}, {1, type_bits, SOCK_RAW}}, no});
  clauses.push_back({{{0, whole, family}, {1, type_bits, SOCK_PACKET}}, no});
  clauses.push_back({{{0, whole, family}}, SeccompAnswer::fail_with(EPROTONOSUPPORT)});
}

/// A family that is not offered is answered EAFNOSUPPORT, not EPERM: getaddrinfo, libaudit and getifaddrs then do
/// without it, where EPERM makes some of them give up.
CallRule socket_family(const FilterOptions& options) {
  CallRule rule{{}, SeccompAnswer::fail_with(EAFNOSUPPORT)};
  if (options.unix_sockets()) rule.clauses.push_back({{{0, whole, AF_UNIX}}, yes});
  if (options.internet_sockets()) {
    add_internet(AF_INET, rule.clauses);
    add_internet(AF_INET6, rule.clauses);
  }
  if (options.netlink_route()) rule.clauses.push_back({{{0, whole, AF_NETLINK}, {2, whole, NETLINK_ROUTE}}, yes});
  return rule;
}

CallRule ioctl_request() {
  struct Request {
    std::uint32_t mask;
    std::uint32_t value;
  };
  static constexpr Request refused[] = {
      {whole, 0x5412},       // TIOCSTI: types into the terminal's input
      {whole, 0x541c},       // TIOCLINUX: pastes into a virtual console
      {whole, 0x541d},       // TIOCCONS: takes over the console's output
      {whole, 0x5423},       // TIOCSETD: line disciplines, a door to old kernel modules
      {whole, 0x5437},       // TIOCVHANGUP: hangs up the terminal for everybody
      {0xffffff00, 0x4b00},  // KD...: keyboard tables and strings, fonts of a virtual console
      {0xffffff00, 0x5600},  // VT_...: switches and locks virtual consoles
      {whole, 0xaa00},       // USERFAULTFD_IOC_NEW: userfaultfd by another door
      {whole, 0x40806685},   // FS_IOC_ENABLE_VERITY: makes a file of the workspace unwritable for ever
      {whole, 0xc0506617},   // FS_IOC_ADD_ENCRYPTION_KEY: keys again
  };
  CallRule rule{{}, yes};
  for (const Request& request : refused) rule.clauses.push_back({{{1, request.mask, request.value}}, no});
  return rule;
}

CallRule prctl_option() {
  return one_of(0,
                {
                    1,          2,   // PR_SET_PDEATHSIG, GET
                    3,          4,   // PR_GET_DUMPABLE, SET
                    7,          8,   // PR_GET_KEEPCAPS, SET
                    13,         14,  // PR_GET_TIMING, SET
                    15,         16,  // PR_SET_NAME, GET
                    21,         22,  // PR_GET_SECCOMP, SET
                    23,         24,  // PR_CAPBSET_READ, DROP
                    25,         26,  // PR_GET_TSC, SET
                    27,              // PR_GET_SECUREBITS
                    29,         30,  // PR_SET_TIMERSLACK, GET
                    34,              // PR_MCE_KILL_GET
                    36,         37,  // PR_SET_CHILD_SUBREAPER, GET
                    38,         39,  // PR_SET_NO_NEW_PRIVS, GET
                    40,              // PR_GET_TID_ADDRESS
                    41,         42,  // PR_SET_THP_DISABLE, GET
                    47,              // PR_CAP_AMBIENT: with no capability there is none to raise
                    50,         51,  // PR_SVE_SET_VL, GET
                    52,         53,  // PR_GET_SPECULATION_CTRL, SET: of itself
                    54,              // PR_PAC_RESET_KEYS
                    55,         56,  // PR_SET_TAGGED_ADDR_CTRL, GET
                    60,         61,  // PR_PAC_SET_ENABLED_KEYS, GET
                    63,         64,  // PR_SME_SET_VL, GET
                    65,         66,  // PR_SET_MDWE, GET
                    0x41555856,      // PR_GET_AUXV
                    0x53564d41,      // PR_SET_VMA: names a mapping
                    0x59616d61,      // PR_SET_PTRACER: names who may trace the caller; worth nothing without ptrace
                },
                no_such_option);
}

CallRule arch_prctl_code() {
  return one_of(0,
                {
                    0x1001, 0x1002, 0x1003, 0x1004,  // ARCH_SET_GS, SET_FS, GET_FS, GET_GS
                    0x1021, 0x1022, 0x1023,          // ARCH_GET_XCOMP_SUPP, GET_XCOMP_PERM, REQ_XCOMP_PERM: AMX
                    0x5001, 0x5002, 0x5003, 0x5005,  // ARCH_SHSTK_ENABLE, DISABLE, LOCK, STATUS
                },
                no_such_option);
}

CallRule seccomp_operation() {
  constexpr std::uint32_t new_listener = 8;
  return {{
              {{{0, whole, 0}}, yes},                        // SECCOMP_SET_MODE_STRICT
              {{{0, whole, 1}, {1, new_listener, 0}}, yes},  // SECCOMP_SET_MODE_FILTER
              {{{0, whole, 2}}, yes},                        // SECCOMP_GET_ACTION_AVAIL
          },
          no};
}

}  // namespace

CallRule call_rule(Rule rule, const FilterOptions& options) {
  switch (rule) {
    case Rule::allow:
      return always(yes);
    case Rule::deny:
      return always(no);
    case Rule::absent:
      return always(no_such_call);
    case Rule::ipc:
      return always(options.ipc_objects() ? yes : no);
    case Rule::debugging:
      return always(options.debugging() ? yes : no);
    case Rule::mode_in_1:
      return no_set_id(1);
    case Rule::mode_in_2:
      return no_set_id(2);
    case Rule::open_mode:
      return no_set_id_created(1, 2);
    case Rule::openat_mode:
      return no_set_id_created(2, 3);
    case Rule::clone_flags:
      return clone_flags();
    case Rule::own_limits:
      return options.other_processes_limits() ? always(yes) : one_of(0, {0}, no);
    case Rule::socket_family:
      return socket_family(options);
    case Rule::socketpair_family:
      return one_of(0, {AF_UNIX}, SeccompAnswer::fail_with(EAFNOSUPPORT));
    case Rule::ioctl_request:
      return ioctl_request();
    case Rule::prctl_option:
      return prctl_option();
    case Rule::arch_prctl_code:
      return arch_prctl_code();
    case Rule::personality_value:
      return one_of(0, {0, whole}, no);
    case Rule::seccomp_operation:
      return seccomp_operation();
  }
  return always(no);
}

std::vector<JudgedCall> judged_calls(Architecture architecture, const FilterOptions& options) {
  std::vector<JudgedCall> calls;
  for (const SyscallRow& row : syscall_table()) {
    const int number = row.number(architecture);
    if (number < 0) continue;
    calls.push_back({row.name, static_cast<std::uint32_t>(number), call_rule(row.rule, options)});
  }
  return calls;
}

}  // namespace cordon::sandbox::native
