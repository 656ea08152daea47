// The seccomp filter of a sandboxed program: an allowlist as an interval tree of BPF. The decisions: docs/filter.md.
//
//   auto options = FilterOptions::strict().with(OwnNetworkNamespace{}).with(OwnMountNamespace{});
//   CHECK_OK(sys::install_filter(payload_filter(options)));
//
// Unknown call: ENOSYS. Unknown option of a call: EINVAL. Socket family that is not offered: EAFNOSUPPORT. Known and
// refused: EPERM. Another architecture's calls, x32 among them: the process is killed.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <array>
#include <cstdint>
#include <span>

#include "base/json_fwd.h"
#include "base/result.h"
#include "sandbox/native/syscall_table.h"
#include "sys/bpf.h"
#include "sys/seccomp.h"

namespace cordon::sandbox::native {

// What the caller vouches for. Each opens what that namespace contains, and nothing else.
struct OwnMountNamespace {};    // with OwnNetworkNamespace: Unix sockets
struct OwnNetworkNamespace {};  // TCP and UDP sockets; they reach only what the namespace holds
struct OwnIpcNamespace {};      // System V IPC and POSIX message queues
struct OwnPidNamespace {};      // limits of other processes

// Weakenings. Search for them to find who uses them.
struct AllowPtrace {};        // debuggers: ptrace, process_vm_readv, process_vm_writev
struct AllowNetlinkRoute {};  // getifaddrs, ip, os.networkInterfaces(): more kernel in reach. Needs OwnNetworkNamespace

class FilterOptions {
 public:
  /// What is safe without any namespace (level L4): no sockets but pairs, no IPC objects.
  static FilterOptions strict() { return FilterOptions(); }
  /// What is safe in the full set of namespaces (levels L0 to L3).
  static FilterOptions namespaced();

  FilterOptions with(OwnMountNamespace) const { return opened(mount); }
  FilterOptions with(OwnNetworkNamespace) const { return opened(network); }
  FilterOptions with(OwnIpcNamespace) const { return opened(ipc); }
  FilterOptions with(OwnPidNamespace) const { return opened(pid); }
  FilterOptions with(AllowPtrace) const { return opened(ptrace); }
  FilterOptions with(AllowNetlinkRoute) const { return opened(netlink); }

  bool internet_sockets() const { return has(network); }
  bool unix_sockets() const { return has(network) && has(mount); }
  bool netlink_route() const { return has(network) && has(netlink); }
  bool ipc_objects() const { return has(ipc); }
  bool other_processes_limits() const { return has(pid); }
  bool debugging() const { return has(ptrace); }

  static constexpr std::size_t combinations = 64;
  /// Names this combination: equal options, equal key.
  std::size_t key() const { return bits_; }
  bool operator==(const FilterOptions&) const = default;

 private:
  enum Bit : std::uint8_t { mount = 1, network = 2, ipc = 4, pid = 8, ptrace = 16, netlink = 32 };
  FilterOptions opened(Bit bit) const;
  bool has(Bit bit) const { return (bits_ & bit) != 0; }
  std::uint8_t bits_ = 0;
};

/// What becomes of a refused call (EPERM, EAFNOSUPPORT): answered at once, or handed to the listener (violations.h).
enum class OnRefusal { answer, notify };

#if defined(__x86_64__)
constexpr Architecture this_architecture = Architecture::x86_64;
#elif defined(__aarch64__)
constexpr Architecture this_architecture = Architecture::aarch64;
#else
#error "No system call table for this architecture: add a column to syscall_table.cc"
#endif

/// The filter for this machine, built at first use and kept; the span stays valid for the life of the process. Ask
/// before forking: in a child of a process with threads, building it could wait for a lock that nobody gives back.
std::span<const sock_filter> payload_filter(const FilterOptions& options);

/// The same, but refused calls go to a listener. Install with sys::install_filter_with_listener.
std::span<const sock_filter> reporting_filter(const FilterOptions& options);

/// For any architecture, on any machine; not cached.
sys::BpfProgram build_filter(Architecture architecture, const FilterOptions& options, OnRefusal refusal);

/// What a program answers to one call. `audit_architecture` is an AUDIT_ARCH_ number.
Result<sys::SeccompAnswer> evaluate(std::span<const sock_filter> program, std::uint32_t audit_architecture,
                                    std::uint32_t number, const std::array<std::uint64_t, 6>& arguments);

std::uint32_t audit_architecture(Architecture architecture);

/// The same policy, with the same answers, in the form that Docker, Podman and OCI runtimes read.
Json oci_profile(const FilterOptions& options);

}  // namespace cordon::sandbox::native
