// How a request ended. "It did not start", "it was stopped" and "it ran" are different things and different types.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/profile.h"

namespace cordon {

/// Why a run was ended from outside, or died of a signal (`signal`).
enum class Why { timeout, memory, pids, disk, output, signal, policy };
const char* name_of(Why why);

using ApprovalId = std::string;

struct Exited {
  int code = 0;
  bool operator==(const Exited&) const = default;
};
struct Killed {
  int signal = 0;
  Why why = Why::signal;
  std::string sentence;  // which limit, its value, and the option that raises it
  bool operator==(const Killed&) const = default;
};
struct Refused {
  std::string rule;
  std::string reason;
  bool operator==(const Refused&) const = default;
};
struct Waiting {
  ApprovalId id;
  Time expires;
  bool operator==(const Waiting&) const = default;
};
/// Set-up failed: nothing of the command ran.
struct Broken {
  Error error;
  bool operator==(const Broken&) const = default;
};
using Outcome = std::variant<Exited, Killed, Refused, Waiting, Broken>;

/// What was in force while it ran.
struct Isolation {
  std::string backend = "native";
  std::string level = "L0";
  std::vector<std::string> missing;  // e.g. "cgroup: memory is held by a watchdog only (…)"
};

struct Usage {
  std::uint64_t cpu_ms = 0;
  std::uint64_t memory_peak_bytes = 0;  // 0: not known (no memory cgroup)
  std::uint64_t processes_peak = 0;     // 0: not known (no pids cgroup)
  std::uint64_t stdout_bytes = 0;       // written, not kept
  std::uint64_t stderr_bytes = 0;
};

struct Truncated {
  bool out = false;
  bool err = false;
};

/// Something a sandboxed program wanted and did not get.
struct Violation {
  std::string what;   // "socket(AF_PACKET)", "open /home/x/.ssh"
  std::string rule;   // which protection said no
  std::string allow;  // what would allow it; empty: nothing does
  std::uint32_t count = 1;
};

/// A host that a sandboxed program reached for, by way of the network proxy.
struct Contact {
  enum class Stage {
    refused,  // no rule allows it, or what was asked, named or answered is not what was allowed
    failed,   // allowed, and could not be reached
    opened,
    closed,  // the bytes are known now
  };
  Stage stage = Stage::refused;
  std::string transport;  // "http", "connect", "socks"
  std::string host;       // canonical; empty: what was asked could not be read
  std::uint16_t port = 0;
  std::string address;      // the one that was dialled
  std::string rule;         // which allowed it
  std::string reason;       // why not
  std::string would_allow;  // the rule that would; empty: none does
  std::uint64_t sent = 0;   // bytes
  std::uint64_t received = 0;
  std::uint32_t count = 1;  // how often the same happened
};
const char* name_of(Contact::Stage stage);

/// Something the sandbox left where nothing may appear, moved out of the way.
struct Quarantined {
  std::string path;  // in the workspace
  std::string kept;  // where it is now
};

struct RunReport {
  Outcome outcome = Broken{{Fault::internal, "nothing was run"}};
  Isolation isolation;
  Usage usage;
  Truncated truncated;
  std::chrono::microseconds duration{0};
  std::vector<Violation> violations;
  std::vector<Quarantined> quarantined;
  std::vector<Contact> contacts;  // with network rules; the same ones together
  /// What has to stay in the workspace while anything of the run is left: let go of it before saying that it is over.
  std::shared_ptr<const void> holding;
};

}  // namespace cordon
