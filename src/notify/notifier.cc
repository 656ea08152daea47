#include "notify/notifier.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "base/digest.h"
#include "base/text.h"
#include "notify/child.h"
#include "notify/webhook.h"
#include "sys/file.h"

namespace cordon::notify {

namespace {

constexpr std::chrono::milliseconds channel_limit{15'000};
constexpr std::chrono::seconds whole_limit{60};
constexpr std::size_t largest_secret = 4096;
constexpr std::size_t largest_log = 256 * 1024;
constexpr std::size_t largest_memory = 64 * 1024;

constexpr std::array<std::string_view, 9> handed_on = {
    "PATH",           "HOME", "LANG", "USER", "LOGNAME", "DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR"};

/// notify-send's body may be read as markup.
std::string without_markup(const std::string& text) {
  std::string plain;
  for (const char c : text) {
    if (c == '<')
      plain += "&lt;";
    else if (c == '>')
      plain += "&gt;";
    else if (c == '&')
      plain += "&amp;";
    else
      plain += c;
  }
  return plain;
}

Result<std::string> read_secret(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return fail(Fault::unavailable, "{}: {}", path, sys::errno_text(errno));
  if ((status.st_mode & 077) != 0)
    return fail(Fault::denied, "{} can be read by others; run: chmod 600 {}", path, path);
  const std::string secret(trim(TRY(sys::read_file(path, largest_secret))));
  if (secret.empty()) return fail(Fault::unavailable, "{} is empty", path);
  return secret;
}

std::int64_t seconds_of(Time time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

}  // namespace

std::vector<std::string> event_names() {
  return {"approval_wanted", "blocked", "disallowed", "exfiltration_suspected", "queue_full", "audit_trouble"};
}

bool Notifier::wants(std::string_view event) const {
  const auto& events = settings_.events;
  const bool listed = events.empty() || std::any_of(events.begin(), events.end(),
                                                    [&](const Entry& entry) { return entry.value == event; });
  return listed && (has_desktop() || !settings_.webhook_url.value.empty() || !settings_.command.empty());
}

void Notifier::send(const Notice& notice) const {
  if (!wants(notice.event)) return;
  detach(
      [&] {
        if (const auto repeated = is_repeated(notice); repeated && *repeated) return;
        for (const std::string& failure : deliver(notice)) note_failure(notice, failure);
      },
      whole_limit);
}

std::vector<std::string> Notifier::deliver(const Notice& notice) const {
  std::vector<std::string> failures;
  const auto tell = [&](const char* channel, Result<void> (Notifier::*way)(const Notice&) const) {
    const auto told = within(channel_limit, [&] { return (this->*way)(notice); });
    if (!told) failures.push_back(fmt::format("{}: {}", channel, told.error().sentence));
  };
  if (has_desktop()) tell("desktop", &Notifier::tell_desktop);
  if (!settings_.webhook_url.value.empty()) tell("webhook", &Notifier::tell_webhook);
  if (!settings_.command.empty()) tell("command", &Notifier::tell_command);
  return failures;
}

bool Notifier::has_desktop() const {
  if (!settings_.desktop.value) return false;
  return !variable("DISPLAY").empty() || !variable("WAYLAND_DISPLAY").empty() ||
         !variable("DBUS_SESSION_BUS_ADDRESS").empty();
}

Result<void> Notifier::tell_desktop(const Notice& notice) const {
  for (const std::string& directory : places_.program_directories) {
    const std::string program = directory + "/notify-send";
    if (::access(program.c_str(), X_OK) != 0) continue;
    const bool urgent = notice.event != "approval_wanted";
    return run_hook({.argv = {program, "--app-name=Cordon", urgent ? "--urgency=critical" : "--urgency=normal", "--",
                              title_of(notice), without_markup(text_of(notice))},
                     .environment = variables(),
                     .input = ""});
  }
  // No notify-send: nothing that a person could be told about it again and again.
  return {};
}

Result<void> Notifier::tell_webhook(const Notice& notice) const {
  const Address address = TRY(read_address(settings_.webhook_url.value));
  Post message{.event = notice.event, .body = to_json(notice).dump(), .secret = {}, .timestamp = seconds_of(notice.at)};
  const std::string& secret_file = settings_.webhook_secret_file.value;
  if (!secret_file.empty()) message.secret = TRY(read_secret(secret_file));
  return post(address, message);
}

Result<void> Notifier::tell_command(const Notice& notice) const {
  Hook hook{.argv = {}, .environment = variables(), .input = to_json(notice).dump() + "\n"};
  for (const Entry& word : settings_.command) hook.argv.push_back(word.value);
  return run_hook(hook);
}

Result<bool> Notifier::is_repeated(const Notice& notice) const {
  const auto lock = TRY(sys::FileLock::take(places_.state_dir + "/notify.lock"));
  const std::string path = places_.state_dir + "/notify.sent";
  Sha256 hash;
  hash.add_field(notice.event).add_field(notice.command).add_field(notice.sentence);
  const std::string key = hash.add_field(notice.workspace).finish().hex();
  const std::int64_t now = seconds_of(notice.at);
  const auto before = sys::read_file_if_exists(path, largest_memory);
  std::istringstream lines(before && *before ? **before : "");
  std::string kept, known;
  std::int64_t when = 0;
  bool repeated = false;
  while (lines >> known >> when) {
    if (when > now || now - when >= sent_once_within.count()) continue;
    if (known == key) repeated = true;
    kept += fmt::format("{} {}\n", known, when);
  }
  if (repeated) return true;
  CHECK_OK(sys::replace_file(path, kept + fmt::format("{} {}\n", key, now), 0600));
  return false;
}

void Notifier::note_failure(const Notice& notice, const std::string& failure) const {
  const auto lock = sys::FileLock::take(places_.state_dir + "/notify.lock");
  if (!lock) return;
  const std::string path = places_.state_dir + "/notify.log";
  auto before = sys::read_file_if_exists(path, 2 * largest_log);
  std::string text = before && *before ? **before : "";
  if (text.size() > largest_log) text.erase(0, text.find('\n', text.size() - largest_log / 2) + 1);
  text += fmt::format("{} {} {}\n", to_rfc3339(notice.at), notice.event, bounded(failure, 1000));
  static_cast<void>(sys::replace_file(path, text, 0600));
}

std::string Notifier::variable(std::string_view name) const {
  for (const char* const* at = places_.environment; at != nullptr && *at != nullptr; ++at) {
    const std::string_view line(*at);
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == '=') {
      return std::string(line.substr(name.size() + 1));
    }
  }
  return "";
}

std::vector<std::string> Notifier::variables() const {
  std::vector<std::string> made;
  for (const std::string_view name : handed_on) {
    if (const std::string value = variable(name); !value.empty()) made.push_back(fmt::format("{}={}", name, value));
  }
  return made;
}

}  // namespace cordon::notify
