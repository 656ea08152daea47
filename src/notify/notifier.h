// Tells people at once. Never blocks and never fails a run: what goes wrong is noted in the state's notify.log.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/settings.h"
#include "notify/notice.h"

namespace cordon::notify {

struct Places {
  std::string state_dir;
  /// Where notify-send may lie. Not PATH: that belongs to whoever called us, and what is found is run outside of any
  /// sandbox.
  std::vector<std::string> program_directories = {"/usr/local/bin", "/usr/bin", "/bin"};
  /// Of the caller; only a short list of names is handed on.
  const char* const* environment = nullptr;
};

class Notifier {
 public:
  Notifier(NotificationSettings settings, Places places) : settings_(std::move(settings)), places_(std::move(places)) {}

  /// Whether anything at all would be told about this event.
  bool wants(std::string_view event) const;
  /// In a detached process with an end; identical notices within ten seconds are sent once.
  void send(const Notice& notice) const;
  /// The same here and now, for tests: every channel that is set, and what failed.
  std::vector<std::string> deliver(const Notice& notice) const;

  static constexpr std::chrono::seconds sent_once_within{10};

 private:
  bool has_desktop() const;
  Result<void> tell_desktop(const Notice& notice) const;
  Result<void> tell_webhook(const Notice& notice) const;
  Result<void> tell_command(const Notice& notice) const;
  /// True: an identical one was sent just now. Notes this one.
  Result<bool> is_repeated(const Notice& notice) const;
  void note_failure(const Notice& notice, const std::string& failure) const;
  std::string variable(std::string_view name) const;
  std::vector<std::string> variables() const;

  NotificationSettings settings_;
  Places places_;
};

/// The names that `notifications.events` takes.
std::vector<std::string> event_names();

}  // namespace cordon::notify
