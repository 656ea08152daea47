#include "sandbox/container/supervise.h"

#include <poll.h>

#include "sandbox/native/monitor.h"

namespace cordon::sandbox::container {

Result<void> take_call(Stage& stage, int ended, native::Launched& launched) {
  return take_call(TRY(stage.wait_for_init(patience_with_start, ended)), launched);
}

Result<void> take_call(std::optional<sys::Fd> control, native::Launched& launched) {
  if (!control) return fail(Fault::unavailable, "the session's container does not answer");
  pollfd ready{control->get(), POLLIN, 0};
  const auto patience = std::chrono::milliseconds(patience_with_answer);
  if (::poll(&ready, 1, static_cast<int>(patience.count())) <= 0) {
    return fail(Fault::unavailable, "the container does not answer");
  }
  launched.control = std::move(control);
  launched.ours_to_reap = false;
  launched.streams_lag = true;
  const auto message = TRY(launched.receive());
  if (!message || message->report.kind != native::ReportKind::ready) {
    return fail(Fault::internal, "pid 1 of the container did not come up");
  }
  return {};
}

void supervise(Layout& layout, Called& called, Io& io, std::stop_token stop, RunReport& report) {
  if (auto sent = called.launched.send_orders(native::encode_orders(layout.profile, layout.command)); !sent) {
    report.outcome = Broken{sent.error()};
    return;
  }
  native::Monitor(layout.profile, called.launched, called.group.get(), io, std::move(stop)).watch(report);
  if (layout.placeholders) report.quarantined = layout.placeholders->release();
}

Outcome unrun(const Error& error) {
  if (error.fault == Fault::denied) return Refused{"sandbox.backend", error.sentence};
  return Broken{error};
}

}  // namespace cordon::sandbox::container
