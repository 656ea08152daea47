#include "sandbox/native/violations.h"

#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

namespace cordon::sandbox::native {

namespace {

using sys::SeccompAnswer;

constexpr std::size_t longest_path = 256;

struct Named {
  std::uint64_t value;
  const char* name;
};

constexpr Named families[] = {{1, "AF_UNIX"},     {2, "AF_INET"},       {10, "AF_INET6"}, {15, "AF_KEY"},
                              {16, "AF_NETLINK"}, {17, "AF_PACKET"},    {21, "AF_RDS"},   {29, "AF_CAN"},
                              {30, "AF_TIPC"},    {31, "AF_BLUETOOTH"}, {38, "AF_ALG"},   {40, "AF_VSOCK"},
                              {43, "AF_SMC"},     {44, "AF_XDP"}};

constexpr Named namespaces[] = {{CLONE_NEWUSER, "user"},    {CLONE_NEWNS, "mount"}, {CLONE_NEWPID, "pid"},
                                {CLONE_NEWNET, "network"},  {CLONE_NEWIPC, "ipc"},  {CLONE_NEWUTS, "uts"},
                                {CLONE_NEWCGROUP, "cgroup"}};

constexpr Named requests[] = {{0x5412, "TIOCSTI"},
                              {0x541c, "TIOCLINUX"},
                              {0x541d, "TIOCCONS"},
                              {0x5423, "TIOCSETD"},
                              {0x5437, "TIOCVHANGUP"},
                              {0xaa00, "USERFAULTFD_IOC_NEW"},
                              {0x40806685, "FS_IOC_ENABLE_VERITY"},
                              {0xc0506617, "FS_IOC_ADD_ENCRYPTION_KEY"}};

struct PathArgument {
  std::string_view call;
  std::uint8_t argument;
};

// For reports only.
constexpr PathArgument path_arguments[] = {
    {"open", 0},       {"creat", 0},         {"chmod", 0},
    {"mkdir", 0},      {"mknod", 0},         {"chroot", 0},
    {"pivot_root", 0}, {"umount2", 0},       {"swapon", 0},
    {"swapoff", 0},    {"acct", 0},          {"openat", 1},
    {"fchmodat", 1},   {"fchmodat2", 1},     {"mkdirat", 1},
    {"mknodat", 1},    {"mount", 1},         {"open_tree", 1},
    {"fspick", 1},     {"mount_setattr", 1}, {"name_to_handle_at", 1},
};

std::string name_in(std::span<const Named> names, std::uint64_t value, const char* otherwise) {
  const auto named = std::ranges::find(names, value, &Named::value);
  return named != names.end() ? named->name : fmt::format("{} {:#x}", otherwise, value);
}

std::uint32_t low(const seccomp_data& call, std::size_t argument) {
  return static_cast<std::uint32_t>(call.args[argument]);
}

std::string new_namespaces(std::uint32_t flags) {
  std::string text;
  for (const Named& space : namespaces) {
    if ((flags & space.value) != 0) text += fmt::format("{}{}", text.empty() ? "new namespaces: " : ", ", space.name);
  }
  return text;
}

void describe_socket(const seccomp_data& call, const FilterOptions& options, Violation& violation) {
  const std::uint32_t family = low(call, 0);
  violation.kind = Violation::Kind::socket;
  violation.detail =
      fmt::format("{}, type {}, protocol {}", name_in(families, family, "family"), low(call, 1) & 0xf, low(call, 2));
  if (family == AF_NETLINK && low(call, 2) == 0) violation.allowed_by = "AllowNetlinkRoute";
  const bool internet = (family == AF_INET || family == AF_INET6) && !options.internet_sockets();
  if (internet || (family == AF_UNIX && !options.unix_sockets())) {
    violation.allowed_by = "a level with its own network and mount namespaces (L3 or better)";
  }
}

void describe_mode(const seccomp_data& call, std::size_t argument, Violation& violation) {
  violation.kind = Violation::Kind::file_mode;
  violation.detail = fmt::format("mode {:04o}", low(call, argument) & 07777);
}

/// Kind, detail and remedy, by the rule that refused it.
void describe_by_rule(Rule rule, const seccomp_data& call, const FilterOptions& options, Violation& violation) {
  switch (rule) {
    case Rule::socket_family:
    case Rule::socketpair_family:
      return describe_socket(call, options, violation);
    case Rule::mode_in_1:
      return describe_mode(call, 1, violation);
    case Rule::mode_in_2:
    case Rule::open_mode:
      return describe_mode(call, 2, violation);
    case Rule::openat_mode:
      return describe_mode(call, 3, violation);
    case Rule::clone_flags:
      violation.kind = Violation::Kind::namespaces;
      violation.detail = new_namespaces(low(call, 0));
      return;
    case Rule::ioctl_request:
      if (low(call, 1) <= 0xffff && low(call, 1) != 0xaa00) violation.kind = Violation::Kind::terminal;
      violation.detail = name_in(requests, low(call, 1), "request");
      return;
    case Rule::ipc:
      violation.allowed_by = "a level with its own IPC namespace (L3 or better)";
      return;
    case Rule::own_limits:
      violation.allowed_by = "a level with its own pid namespace (L3 or better)";
      return;
    case Rule::debugging:
      violation.allowed_by = "AllowPtrace";
      return;
    case Rule::personality_value:
    case Rule::seccomp_operation:
      violation.detail = fmt::format("{:#x}", low(call, 0));
      return;
    default:
      return;
  }
}

/// The path that the caller says it means. It may change it at any time: for a person to read, never to decide by.
std::string claimed_path(const Violation& violation, const sys::SeccompNotification& notification, int listener) {
  const auto found = std::ranges::find(path_arguments, violation.call, &PathArgument::call);
  if (found == std::end(path_arguments)) return {};
  const std::uint64_t address = notification.call.args[found->argument];
  const auto text = sys::read_text_of(static_cast<int>(notification.pid), address, longest_path);
  // A caller that died may have left its pid to another process, whose memory is nobody's business.
  if (!sys::still_waiting(listener, notification.id)) return {};
  return printable(text);
}

}  // namespace

const char* name_of(Violation::Kind kind) {
  switch (kind) {
    case Violation::Kind::call:
      return "call";
    case Violation::Kind::namespaces:
      return "namespaces";
    case Violation::Kind::socket:
      return "socket";
    case Violation::Kind::file_mode:
      return "file-mode";
    case Violation::Kind::terminal:
      return "terminal";
    case Violation::Kind::path:
      return "path";
    case Violation::Kind::network:
      return "network";
  }
  return "call";
}

std::string printable(std::string_view text) {
  std::string shown;
  for (const char c : text) {
    const bool plain = c >= 0x20 && c < 0x7f && c != '\\';
    shown += plain ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return shown;
}

Violation describe(const seccomp_data& call, const FilterOptions& options) {
  Violation violation{.kind = Violation::Kind::call, .evidence = Violation::Evidence::kernel};
  const SyscallRow* row = find_syscall(this_architecture, static_cast<std::uint32_t>(call.nr));
  if (row == nullptr) {
    violation.call = fmt::format("call {}", call.nr);
    return violation;
  }
  violation.call = row->name;
  describe_by_rule(row->rule, call, options, violation);
  if (violation.call == "unshare") violation.detail = new_namespaces(low(call, 0));
  if (violation.call == "unshare" || violation.call == "setns") violation.kind = Violation::Kind::namespaces;
  return violation;
}

int ViolationRecorder::error_for(const seccomp_data& call) const {
  const auto returned = sys::evaluate(plain_, call);
  if (!returned) return EPERM;
  const SeccompAnswer answer = SeccompAnswer::decode(*returned);
  // Nothing that reaches the listener is ever let through, even if the two filters should disagree.
  return answer.kind == SeccompAnswer::Kind::error && answer.error > 0 ? answer.error : EPERM;
}

void ViolationRecorder::record(Violation violation) {
  const auto known = std::ranges::find_if(violations_, [&](const Violation& before) {
    return before.call == violation.call && before.detail == violation.detail &&
           before.claimed_path == violation.claimed_path;
  });
  if (known != violations_.end()) {
    ++known->count;
  } else if (violations_.size() < limit_) {
    violations_.push_back(std::move(violation));
  } else {
    ++unrecorded_;
  }
}

Result<void> ViolationRecorder::serve(int listener) {
  const auto notification = TRY(sys::receive_notification(listener));
  if (!notification) return {};
  Violation violation = describe(notification->call, options_);
  // Once full, a flood of refused calls costs as little as it can.
  if (violations_.size() < limit_) violation.claimed_path = claimed_path(violation, *notification, listener);
  record(std::move(violation));
  return sys::refuse_call(listener, notification->id, error_for(notification->call));
}

Result<void> serve_violations(int listener, int stop, ViolationRecorder& recorder) {
  std::array<pollfd, 2> watched{{{listener, POLLIN, 0}, {stop, POLLIN, 0}}};
  while (true) {
    if (::poll(watched.data(), watched.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return fail(Fault::internal, "poll of the seccomp listener: {}", std::strerror(errno));
    }
    if ((watched[0].revents & POLLIN) != 0) {
      CHECK_OK(recorder.serve(listener));
    } else if (watched[0].revents != 0 || watched[1].revents != 0) {
      return {};
    }
  }
}

}  // namespace cordon::sandbox::native
