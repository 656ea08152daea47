// Why was it blocked? Two sources. The kernel: a filter that hands refused calls to a listener in the launcher, which
// writes them down and refuses them (reporting_filter). And, far weaker, what programs themselves print.
//
//   in the child:     Fd listener = TRY(sys::install_filter_with_listener(reporting_filter(options)));
//                     send it over a Unix socket, close it, exec
//   in the launcher:  ViolationRecorder recorder(options, ViolationRecorder::usual_limit);
//                     CHECK_OK(serve_violations(listener, stop, recorder));      // ends when the sandbox is empty
//                     recorder.violations()
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/native/filter.h"
#include "sys/seccomp.h"

namespace cordon::sandbox::native {

struct Violation {
  enum class Kind : std::uint8_t { call, namespaces, socket, file_mode, terminal, path, network };
  /// kernel: the filter stopped it. hint: the program's output reads as if; it may be wrong, or made up.
  enum class Evidence : std::uint8_t { kernel, hint };

  Kind kind;
  Evidence evidence;
  std::string call;          // "socket"; empty for a hint
  std::string detail;        // "AF_NETLINK, type 3, protocol 0"
  std::string claimed_path;  // from the caller's memory or output: not to be trusted, made printable
  std::string allowed_by;    // what a person could change; empty if nothing short of running on the host
  std::uint64_t count = 1;

  bool operator==(const Violation&) const = default;
};

const char* name_of(Violation::Kind kind);

/// With every byte that is not plain ASCII shown as \xHH, so that it can't play with a terminal.
std::string printable(std::string_view text);

/// Collects at most `limit` different violations; what comes after is only counted.
class ViolationRecorder {
 public:
  static constexpr std::size_t usual_limit = 64;

  /// `options` are those of the filter that the sandbox runs under.
  ViolationRecorder(const FilterOptions& options, std::size_t limit)
      : options_(options), plain_(payload_filter(options)), limit_(limit) {}

  /// Takes one waiting call from the listener, writes it down, and refuses it with the errno of the plain filter.
  /// Nothing that was read from the caller's memory has a say in that. Blocks unless poll said POLLIN.
  Result<void> serve(int listener);

  const std::vector<Violation>& violations() const { return violations_; }
  /// Refused calls beyond the limit, not in violations().
  std::uint64_t unrecorded() const { return unrecorded_; }

 private:
  int error_for(const seccomp_data& call) const;
  void record(Violation violation);

  FilterOptions options_;
  std::span<const sock_filter> plain_;
  std::size_t limit_;
  std::vector<Violation> violations_;
  std::uint64_t unrecorded_ = 0;
};

/// Whoever holds the listener must serve or close it: a refused call waits until then.
/// Serves until every process under the filter is gone, or `stop` (an eventfd or pipe, -1 for none) becomes readable.
Result<void> serve_violations(int listener, int stop, ViolationRecorder& recorder);

/// What the filter's call would be called in a report, without reading any memory.
Violation describe(const seccomp_data& call, const FilterOptions& options);

/// What error output suggests: paths and hosts that programs complain about. Bounded in input and findings.
std::vector<Violation> hints_in(std::string_view error_output);

}  // namespace cordon::sandbox::native
