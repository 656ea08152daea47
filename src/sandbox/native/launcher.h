// Starting the child that becomes a sandbox, and talking to it.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/profile.h"
#include "sandbox/native/blueprint.h"
#include "sandbox/native/pid1/orders.h"
#include "sys/clone.h"
#include "sys/fd.h"

namespace cordon::sandbox::native {

/// The launcher's ends of a sandbox's pipes.
struct Pipes {
  std::optional<sys::Fd> input;  // to write stdin to
  std::optional<sys::Fd> output;
  std::optional<sys::Fd> error;
};

/// Something that went wrong before the program ran, and where: levels of the ladder are chosen by it.
struct LaunchTrouble {
  std::string step;
  int error = 0;
  Error sentence;
};

/// One message from pid 1, with the descriptor that came with it.
struct PidOneMessage {
  Report report;
  std::optional<sys::Fd> descriptor;
};

/// A sandbox from clone to the end of its pid 1.
class Launched {
 public:
  int pid = -1;  // of its pid 1, as seen from here
  std::optional<sys::Fd> pidfd;
  std::optional<sys::Fd> control;
  std::optional<sys::Fd> terminal;  // the master of its pty
  std::optional<sys::Fd> listener;  // for refused calls
  std::optional<sys::Fd> memory;    // in which an overlay keeps what the run changed
  std::optional<sys::Fd> proxy;     // listens on its loopback for the network proxy
  std::optional<sys::Fd> network;   // its network namespace, where ports of it are published
  Pipes pipes;
  ChildNotes notes;
  ChildNotes companion_notes;
  bool ours_to_reap = true;       // false: a zygote's child
  bool own_pid_namespace = true;  // its end is the end of all
  bool streams_lag = false;       // a container's: carried by somebody else, who closes them once pid 1 is gone
  std::uint64_t cpu_us = 0;       // of all that were in it; known after reap
  std::uint64_t peak_rss_bytes = 0;

  /// The next message; nothing when pid 1 is gone.
  Result<std::optional<PidOneMessage>> receive();
  /// Waits until pid 1 is ready for orders.
  Result<void> wait_until_ready(LaunchTrouble& trouble);
  /// Pid 1 goes through them before it takes orders.
  Result<void> send_doors(const std::vector<sys::Fd>& doors);
  /// Descriptors with a message that says what they are for (orders.h); at most `most_doors`.
  Result<void> send_descriptors(OrderFlags purpose, const std::vector<int>& descriptors);
  Result<void> send_orders(const std::string& orders);
  /// Asks pid 1 to end everybody and to report what they used.
  void ask_to_end();
  void kill();
  /// Whether its pid 1 still runs.
  bool alive() const;
  /// Waits for the end of pid 1, and with it of all that were in the sandbox; false when it takes longer.
  bool reap(std::chrono::milliseconds patience);
};

/// How stdin, stdout and stderr are given.
enum class InputKind { null, pipe };

struct LaunchRequest {
  Blueprint* blueprint;
  InputKind input = InputKind::null;
  int cgroup = -1;  // a v2 cgroup to be born into
};

/// Clones in the calling thread, which must outlive the sandbox: the signal of a parent's death is a thread's.
/// Returns as soon as the child exists; until it is ready, blueprint and result stay where they are.
Result<std::unique_ptr<Launched>> launch(const LaunchRequest& request, LaunchTrouble& trouble);

/// A child of the zygote that has done all that is the same for every sandbox, and waits to be told which it becomes.
class WaitingChild {
 public:
  /// In the calling thread, which must outlive it. `early` is prepared by the zygote and holds a network namespace.
  static Result<std::unique_ptr<WaitingChild>> start(std::unique_ptr<Blueprint> early, int cgroup);
  /// Ends one that was never used.
  ~WaitingChild();
  WaitingChild(const WaitingChild&) = delete;
  WaitingChild& operator=(const WaitingChild&) = delete;

  bool alive() const;
  /// It goes into these control groups while it waits.
  Result<void> send_doors(const std::vector<sys::Fd>& doors) { return launched_->send_doors(doors); }
  /// As `launch`. The blueprint is one without a terminal, made for the zygote.
  static std::unique_ptr<Launched> become(std::unique_ptr<WaitingChild> waiting, Blueprint& plan, InputKind input);

 private:
  explicit WaitingChild(std::unique_ptr<Blueprint> early) : early_(std::move(early)) {}
  static void number(Blueprint& plan, InputKind input);

  std::unique_ptr<Blueprint> early_;
  std::array<int, waiting_descriptors> given_{};  // by our numbers
  sys::Fd go_{-1};
  std::unique_ptr<Launched> launched_;
};

/// What one program is started with.
struct Command {
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::string cwd;
  std::vector<std::string> places;  // see orders.h
  std::uint32_t flags = 0;
};

/// The message that starts the program.
std::string encode_orders(const Profile& profile, const Command& command);

}  // namespace cordon::sandbox::native
