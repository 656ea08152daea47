// From a container that was started to the end of the program in it.
#pragma once

#include <stop_token>

#include "model/outcome.h"
#include "sandbox/container/layout.h"
#include "sandbox/native/cgroup.h"
#include "sandbox/native/launcher.h"
#include "sandbox/sandbox.h"

namespace cordon::sandbox::container {

/// How long an engine may take to start a container on a busy machine.
constexpr std::chrono::seconds patience_with_start{60};
/// How long a pid 1 that was reached may take to say so.
constexpr std::chrono::seconds patience_with_answer{20};

/// A container whose pid 1 has called and waits for orders.
struct Called {
  native::Launched launched;  // its control socket and streams
  std::unique_ptr<native::Cgroup> group;
};

/// Takes the call of pid 1; `ended` as in Stage::wait_for_init.
Result<void> take_call(Stage& stage, int ended, native::Launched& launched);
/// The same where a container that is kept was called; nothing: nobody was there.
Result<void> take_call(std::optional<sys::Fd> control, native::Launched& launched);

/// Gives the orders and watches until nothing of the program is left. Fills in outcome, usage, truncation and what was
/// quarantined. Pid 1 has been let go then.
void supervise(Layout& layout, Called& called, Io& io, std::stop_token stop, RunReport& report);

/// The outcome of a run that did not come to pass.
Outcome unrun(const Error& error);

}  // namespace cordon::sandbox::container
