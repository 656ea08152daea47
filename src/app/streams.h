// The output of a command, passed on as it comes.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "app/stop.h"
#include "base/clock.h"
#include "sandbox/sandbox.h"

namespace cordon::app {

/// Writes to our own stdout and stderr. On a terminal, a command that is silent for long gets a line that says it still
/// runs; the line is wiped before anything else is written.
class PassingIo : public sandbox::Io {
 public:
  enum class Progress { off, on };
  PassingIo(Progress progress, bool input);
  ~PassingIo() override;

  void output(sandbox::Stream stream, std::string_view bytes) override;
  void started() override;
  std::optional<int> input_descriptor() override;
  WindowSize window_size() override;
  bool allow_contact(const Contact& contact) override;

  /// Who is asked about hosts that no rule names; output waits meanwhile.
  using AskContact = std::function<bool(const Contact&)>;
  void ask_about_contacts(AskContact ask) { ask_ = std::move(ask); }

 private:
  void show_progress(const std::stop_token& stop);
  void wipe();

  bool input_;
  Progress progress_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point begun_{};
  std::chrono::steady_clock::time_point last_output_{};
  AskContact ask_;
  std::jthread ticker_;
};

}  // namespace cordon::app
