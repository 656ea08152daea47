// Tells a caller from time to time that a call is alive: clients give up on silence.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "sandbox/sandbox.h"
#include "serve/tools/tool.h"

namespace cordon::serve {

/// Keeps output and reports how the run goes, until it is destroyed. The first report comes at once.
class ReportingIo : public sandbox::CapturedIo {
 public:
  explicit ReportingIo(const Call& call);
  ~ReportingIo() override;

  void started() override;
  void output(sandbox::Stream stream, std::string_view bytes) override;
  /// Now it waits for a person.
  void waits_for(const std::string& approval);

 private:
  void tick(const std::stop_token& stop);
  void say(const std::string& message);
  std::string message() const;

  const Call& call_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  double reports_ = 0;
  bool running_ = false;
  std::size_t bytes_ = 0;
  std::string approval_;
  std::chrono::steady_clock::time_point begun_;
  std::jthread ticker_;
};

}  // namespace cordon::serve
