#include "sys/landlock.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace cordon::sys {

namespace {

// The numbers are the same on all architectures.
constexpr long create_ruleset_call = 444;
constexpr long add_rule_call = 445;
constexpr long restrict_self_call = 446;

constexpr unsigned int ask_version = 1;
constexpr int rule_path_beneath = 1;
constexpr int rule_net_port = 2;

struct RulesetAttributes {
  std::uint64_t files;
  std::uint64_t network;
  std::uint64_t scopes;
};

struct [[gnu::packed]] PathBeneath {
  std::uint64_t allowed;
  std::int32_t parent;
};

struct NetPort {
  std::uint64_t allowed;
  std::uint64_t port;
};

/// An older kernel takes a longer structure only if the part it does not know is zero: so the length is always the full
/// one.
long create_ruleset(const RulesetAttributes* attributes, std::size_t size, unsigned int flags) {
  return ::syscall(create_ruleset_call, attributes, size, flags);
}

}  // namespace

namespace landlock {

Rights offered_by(int abi) {
  if (abi <= 0) return {};
  Rights rights{.files = refer - 1};  // ABI 1: all below
  if (abi >= 2) rights.files |= refer;
  if (abi >= 3) rights.files |= truncate;
  if (abi >= 4) rights.network = bind_tcp | connect_tcp;
  if (abi >= 5) rights.files |= ioctl_device;
  if (abi >= 6) rights.scopes = abstract_unix_socket | signal;
  return rights;
}

}  // namespace landlock

int landlock_abi() {
  const long version = create_ruleset(nullptr, 0, ask_version);
  return version > 0 ? static_cast<int>(version) : 0;
}

Result<LandlockRuleset> LandlockRuleset::create(const landlock::Rights& handled) {
  const RulesetAttributes attributes{handled.files, handled.network, handled.scopes};
  const long ruleset = create_ruleset(&attributes, sizeof(attributes), 0);
  if (ruleset < 0) {
    return fail(Fault::unavailable, "landlock: cannot handle files {:#x}, network {:#x}, scopes {:#x}: {}",
                handled.files, handled.network, handled.scopes, std::strerror(errno));
  }
  return LandlockRuleset(Fd(static_cast<int>(ruleset)), handled);
}

Result<void> LandlockRuleset::allow_path(int path, std::uint64_t rights) {
  struct stat status {};
  if (::fstat(path, &status) != 0) {
    return fail(Fault::invalid_input, "landlock: descriptor {}: {}", path, std::strerror(errno));
  }
  if (!S_ISDIR(status.st_mode)) rights &= landlock::file_rights;
  PathBeneath rule{rights & handled_.files, path};
  if (rule.allowed == 0) return {};  // the kernel calls a rule that allows nothing an error; here it says nothing new
  if (::syscall(add_rule_call, ruleset_.get(), rule_path_beneath, &rule, 0) != 0) {
    return fail(Fault::unavailable, "landlock: cannot allow {:#x} beneath descriptor {}: {}", rights, path,
                std::strerror(errno));
  }
  return {};
}

Result<void> LandlockRuleset::allow_port(std::uint16_t port, std::uint64_t rights) {
  const NetPort rule{rights & handled_.network, port};
  if (rule.allowed == 0) return {};
  if (::syscall(add_rule_call, ruleset_.get(), rule_net_port, &rule, 0) != 0) {
    return fail(Fault::unavailable, "landlock: cannot allow {:#x} on port {}: {}", rights, port, std::strerror(errno));
  }
  return {};
}

Result<void> LandlockRuleset::restrict_self() const {
  if (::syscall(restrict_self_call, ruleset_.get(), 0) != 0) {
    return fail(Fault::unavailable, "landlock: cannot restrict: {}", std::strerror(errno));
  }
  return {};
}

}  // namespace cordon::sys
