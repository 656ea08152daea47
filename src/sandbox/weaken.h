// Every way to make a sandbox weaker has a type here, so that one search finds all who do.
#pragma once

#include <cstdint>

namespace cordon::sandbox {

// For tests only: each layer must hold when the others are gone, so each can be switched off.
struct WithoutSeccomp {};
struct WithoutLandlock {};
struct WithoutLandlockScopes {};  // as before Linux 6.12
struct WithoutCgroup {};
struct WithoutCapabilityDrop {};
struct WithoutResourceLimits {};
struct WithoutFreshProc {};      // level L2
struct WithoutUserNamespace {};  // level L3 (root)
struct WithoutNamespaces {};     // level L4
struct WithoutReadOnlyMounts {};
struct WithoutMountFlags {};  // nosuid, nodev
struct WithoutMasks {};       // hidden and read-only parts of /proc
struct WithoutProtectedPaths {};
struct WithoutInitHygiene {};  // pid 1 stays dumpable
struct WithoutFdClosing {};
struct WithoutParentDeathSignal {};

class Weakened {
 public:
  Weakened& allow(WithoutSeccomp) { return set(seccomp_bit); }
  Weakened& allow(WithoutLandlock) { return set(landlock_bit); }
  Weakened& allow(WithoutLandlockScopes) { return set(scopes_bit); }
  Weakened& allow(WithoutCgroup) { return set(cgroup_bit); }
  Weakened& allow(WithoutCapabilityDrop) { return set(capabilities_bit); }
  Weakened& allow(WithoutResourceLimits) { return set(rlimits_bit); }
  Weakened& allow(WithoutFreshProc) { return set(proc_bit); }
  Weakened& allow(WithoutUserNamespace) { return set(user_namespace_bit); }
  Weakened& allow(WithoutNamespaces) { return set(namespaces_bit); }
  Weakened& allow(WithoutReadOnlyMounts) { return set(read_only_bit); }
  Weakened& allow(WithoutMountFlags) { return set(mount_flags_bit); }
  Weakened& allow(WithoutMasks) { return set(masks_bit); }
  Weakened& allow(WithoutProtectedPaths) { return set(protected_bit); }
  Weakened& allow(WithoutInitHygiene) { return set(init_bit); }
  Weakened& allow(WithoutFdClosing) { return set(fds_bit); }
  Weakened& allow(WithoutParentDeathSignal) { return set(death_signal_bit); }

  bool seccomp() const { return has(seccomp_bit); }
  bool landlock() const { return has(landlock_bit); }
  bool landlock_scopes() const { return has(scopes_bit); }
  bool cgroup() const { return has(cgroup_bit); }
  bool capabilities() const { return has(capabilities_bit); }
  bool rlimits() const { return has(rlimits_bit); }
  bool proc() const { return has(proc_bit); }
  bool user_namespace() const { return has(user_namespace_bit); }
  bool namespaces() const { return has(namespaces_bit); }
  bool read_only() const { return has(read_only_bit); }
  bool mount_flags() const { return has(mount_flags_bit); }
  bool masks() const { return has(masks_bit); }
  bool protected_paths() const { return has(protected_bit); }
  bool init_hygiene() const { return has(init_bit); }
  bool fd_closing() const { return has(fds_bit); }
  bool parent_death_signal() const { return has(death_signal_bit); }
  bool any() const { return bits_ != 0; }

 private:
  enum Bit : std::uint32_t {
    seccomp_bit = 1u << 0,
    landlock_bit = 1u << 1,
    cgroup_bit = 1u << 2,
    capabilities_bit = 1u << 3,
    rlimits_bit = 1u << 4,
    proc_bit = 1u << 5,
    user_namespace_bit = 1u << 6,
    namespaces_bit = 1u << 7,
    read_only_bit = 1u << 8,
    mount_flags_bit = 1u << 9,
    masks_bit = 1u << 10,
    protected_bit = 1u << 11,
    init_bit = 1u << 12,
    fds_bit = 1u << 13,
    death_signal_bit = 1u << 14,
    scopes_bit = 1u << 15,
  };
  Weakened& set(Bit bit) {
    bits_ |= bit;
    return *this;
  }
  bool has(Bit bit) const { return (bits_ & bit) != 0; }
  std::uint32_t bits_ = 0;
};

}  // namespace cordon::sandbox
