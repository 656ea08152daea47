#include "serve/http/events.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "sys/file.h"

namespace cordon::serve::http {

namespace {

namespace fs = std::filesystem;

constexpr int between_signs_ms = 15'000;
constexpr std::uint64_t read_at_once = 16U << 20;  // a line is far shorter

/// The newest day's file, or the first after `after`; empty: there is none.
std::string day_file(const std::string& directory, const std::string& after) {
  std::string found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".jsonl") || name <= after) continue;
    const bool better = after.empty() ? name > found : name < found;
    if (found.empty() || better) found = name;
  }
  return found;
}

}  // namespace

std::optional<Told> told_as(const Json& record, const Caller& caller) {
  if (!record.is_object()) return std::nullopt;
  const auto text = [&](const char* key) {
    const auto found = record.find(key);
    return found != record.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const std::string kind = text("kind");
  const bool queue = kind.starts_with("approval.") || kind.starts_with("approval_");
  if (!queue && kind != "intent" && kind != "outcome" && kind != "refused") return std::nullopt;
  const Principal& me = caller.principal;
  const bool own = text("user") == me.user && text("agent") == me.agent && text("session") == me.session;
  if (caller.role == Role::agent && !own) return std::nullopt;
  const auto seq = record.find("seq");
  const bool numbered = seq != record.end() && seq->is_number_unsigned();
  return Told{.name = queue ? "queue" : "run", .id = numbered ? std::to_string(seq->get<std::uint64_t>()) : ""};
}

Result<std::unique_ptr<Events>> Events::follow(std::string directory, TokenCheck& tokens) {
  sys::Fd changes(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (changes.get() < 0) return fail(Fault::unavailable, "inotify: {}", sys::errno_text(errno));
  sys::Fd wake(::eventfd(0, EFD_CLOEXEC));
  if (wake.get() < 0) return fail(Fault::unavailable, "eventfd: {}", sys::errno_text(errno));
  std::unique_ptr<Events> events(new Events(std::move(directory), tokens, std::move(changes), std::move(wake)));
  events->thread_ = std::thread([raw = events.get()] { raw->run(); });
  return events;
}

Events::Events(std::string directory, TokenCheck& tokens, sys::Fd changes, sys::Fd wake)
    : directory_(std::move(directory)), tokens_(tokens), changes_(std::move(changes)), wake_(std::move(wake)) {}

Events::~Events() {
  ::eventfd_write(wake_.get(), 1);
  if (thread_.joinable()) thread_.join();
  close();
}

void Events::close() {
  const std::lock_guard lock(lock_);
  closed_ = true;
  for (const Listener& one : listeners_) one.exchange->end();
  listeners_.clear();
}

void Events::listen(std::shared_ptr<Exchange> exchange, Wants wants) {
  exchange->set_endless();
  const std::lock_guard lock(lock_);
  // Before it is listed: what it is told comes after the head.
  if (!exchange->begun()) exchange->begin({.type = "text/event-stream"});
  if (closed_ || (wants == Wants::records && !watch_log())) return exchange->end();
  // So that a client knows that nothing is missed from here on.
  if (wants == Wants::records) exchange->try_write(": listening\n\n");
  listeners_.push_back({std::move(exchange), wants});
}

/// From its end on. While nobody listens the log is not looked at: every run writes to it.
bool Events::watch_log() {
  if (watch_ >= 0) return true;
  watch_ = ::inotify_add_watch(changes_.get(), directory_.c_str(), IN_MODIFY | IN_CREATE);
  day_ = day_file(directory_, "");
  struct stat file {};
  const bool there = ::stat((directory_ + "/" + day_).c_str(), &file) == 0;
  offset_ = there ? static_cast<std::uint64_t>(file.st_size) : 0;
  return watch_ >= 0;
}

std::size_t Events::listeners() const {
  const std::lock_guard lock(lock_);
  return listeners_.size();
}

void Events::run() {
  auto last_sign = std::chrono::steady_clock::now();
  for (;;) {
    pollfd ends[] = {{changes_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    if (::poll(ends, 2, between_signs_ms) < 0 && errno != EINTR) return;
    if (ends[1].revents != 0) return;
    if (ends[0].revents != 0) {
      char dropped[4096];
      while (::read(changes_.get(), dropped, sizeof dropped) > 0) {
      }
      look();
    }
    const auto now = std::chrono::steady_clock::now();
    if (now - last_sign < std::chrono::milliseconds(between_signs_ms)) continue;
    last_sign = now;
    keep_awake();
  }
}

/// Whole lines only; of a line that is being written, the rest comes with the next look.
void Events::look() {
  const std::lock_guard lock(lock_);
  const auto wants_records = [](const Listener& one) { return one.wants == Wants::records; };
  if (watch_ >= 0 && std::ranges::none_of(listeners_, wants_records)) {
    ::inotify_rm_watch(changes_.get(), watch_);
    watch_ = -1;
  }
  while (watch_ >= 0) {
    const sys::Fd file(::open((directory_ + "/" + day_).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    struct stat now {};
    const bool readable = !day_.empty() && file.get() >= 0 && ::fstat(file.get(), &now) == 0;
    const std::uint64_t size = readable ? static_cast<std::uint64_t>(now.st_size) : 0;
    std::string bytes(size > offset_ ? std::min(size - offset_, read_at_once) : 0, '\0');
    const ssize_t count =
        bytes.empty() ? 0 : ::pread(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset_));
    bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    const std::size_t end = bytes.rfind('\n');
    if (end == std::string::npos) {
      const std::string next = day_file(directory_, day_.empty() ? "0" : day_);
      if (next.empty()) return;
      day_ = next;
      offset_ = 0;
      continue;
    }
    std::string_view rest(bytes.data(), end + 1);
    offset_ += rest.size();
    while (!rest.empty()) {
      const std::size_t stop = rest.find('\n');
      tell(rest.substr(0, stop));
      rest.remove_prefix(stop + 1);
    }
  }
}

void Events::tell(std::string_view line) {
  const Json record = parse_json(line);
  listeners_.remove_if([&](const Listener& one) {
    if (one.wants == Wants::nothing) return false;
    const Caller& caller = one.exchange->visitor.caller;
    const auto told = told_as(record, caller);
    if (!told) return false;
    const bool counts = caller.token.empty() || tokens_.still_counts(caller.token);
    if (counts && one.exchange->try_write(sse_event(told->name, line, told->id))) return false;
    // Revoked, gone, or too slow to be told: the end of the stream says that something may be missing.
    one.exchange->end();
    return true;
  });
}

void Events::keep_awake() {
  const std::lock_guard lock(lock_);
  listeners_.remove_if([&](const Listener& one) {
    const Caller& caller = one.exchange->visitor.caller;
    const bool counts = caller.token.empty() || tokens_.still_counts(caller.token);
    if (counts && one.exchange->try_write(":\n\n")) return false;
    one.exchange->end();
    return true;
  });
}

}  // namespace cordon::serve::http
