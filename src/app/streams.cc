#include "app/streams.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace cordon::app {

namespace {

constexpr auto silent_for = std::chrono::seconds(5);

/// A reader that went away is its own business; the command's exit code still counts.
void write_fully(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) {
      pollfd writable{descriptor, POLLOUT, 0};
      ::poll(&writable, 1, -1);
      continue;
    }
    if (count <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace

PassingIo::PassingIo(Progress progress, bool input) : input_(input), progress_(progress) {
  std::signal(SIGPIPE, SIG_IGN);
}

PassingIo::~PassingIo() {
  ticker_ = {};
  const std::lock_guard lock(mutex_);
  wipe();
}

void PassingIo::started() {
  begun_ = last_output_ = std::chrono::steady_clock::now();
  if (progress_ == Progress::off) return;
  ticker_ = std::jthread([this](const std::stop_token& stop) { show_progress(stop); });
}

void PassingIo::output(sandbox::Stream stream, std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  wipe();
  last_output_ = std::chrono::steady_clock::now();
  write_fully(stream == sandbox::Stream::out ? STDOUT_FILENO : STDERR_FILENO, bytes);
}

std::optional<int> PassingIo::input_descriptor() { return input_ ? std::optional(STDIN_FILENO) : std::nullopt; }

PassingIo::WindowSize PassingIo::window_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return {};
  return {size.ws_row, size.ws_col};
}

bool PassingIo::allow_contact(const Contact& contact) {
  if (!ask_) return false;
  const std::lock_guard lock(mutex_);
  wipe();
  const bool allowed = ask_(contact);
  last_output_ = std::chrono::steady_clock::now();
  return allowed;
}

void PassingIo::show_progress(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    changed_.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; });
    const auto now = std::chrono::steady_clock::now();
    if (stop.stop_requested() || now - last_output_ < silent_for) continue;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - begun_).count();
    write_fully(STDERR_FILENO, fmt::format("\r\x1b[2mrunning for {} s, Ctrl-C ends it\x1b[0m\x1b[K", seconds));
    shown_ = true;
  }
}

void PassingIo::wipe() {
  if (shown_) write_fully(STDERR_FILENO, "\r\x1b[K");
  shown_ = false;
}

}  // namespace cordon::app
