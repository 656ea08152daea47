// The wish of whoever started us to end it: SIGINT, SIGTERM and SIGHUP.
#pragma once

#include <stop_token>

namespace cordon::app {

/// The signals ask for an end instead of ending us, so that the run is ended and recorded. One per
/// process.
class StopOnSignal {
 public:
  StopOnSignal();
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;
  std::stop_token token() const { return source_.get_token(); }
  /// Asked for by a second signal.
  std::stop_token again() const { return again_.get_token(); }

 private:
  std::stop_source source_;
  std::stop_source again_;
};

/// The signals close our side of a connection for writing, which the daemon takes for the same wish. Without a thread:
/// this is all that a client of it has to do. One per process.
class HangUpOnSignal {
 public:
  explicit HangUpOnSignal(int connection);
  ~HangUpOnSignal();
  HangUpOnSignal(const HangUpOnSignal&) = delete;
  HangUpOnSignal& operator=(const HangUpOnSignal&) = delete;
};

}  // namespace cordon::app
