#include "app/screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace cordon::app {

namespace {

constexpr std::array watched = {SIGINT, SIGTERM, SIGHUP, SIGWINCH};
volatile sig_atomic_t stop_wanted = 0;
volatile sig_atomic_t size_changed = 0;

void note(int number) {
  if (number == SIGWINCH)
    size_changed = 1;
  else
    stop_wanted = 1;
}

void put(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(STDOUT_FILENO, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

// Alternate screen, no cursor, no wrapping: a row that is too long must not push others away.
constexpr std::string_view take_over = "\x1b[?1049h\x1b[?25l\x1b[?7l";
constexpr std::string_view give_back = "\x1b[?7h\x1b[?25h\x1b[?1049l";

Input key(Key pressed) { return {Input::Kind::key, pressed, 0}; }

Input read_key() {
  char bytes[16];
  const ssize_t count = ::read(STDIN_FILENO, bytes, sizeof bytes);
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return {};
  if (count <= 0) return {Input::Kind::stop, Key::none, 0};
  const std::string_view typed(bytes, static_cast<std::size_t>(count));
  if (typed == "\x1b[A" || typed == "\x1bOA") return key(Key::up);
  if (typed == "\x1b[B" || typed == "\x1bOB") return key(Key::down);
  if (typed == "\x1b[5~") return key(Key::page_up);
  if (typed == "\x1b[6~") return key(Key::page_down);
  if (typed == "\x1b" || typed == "\x7f") return key(Key::back);
  if (typed.front() == '\r' || typed.front() == '\n') return key(Key::enter);
  if (typed.front() == '\x03') return {Input::Kind::stop, Key::none, 0};
  // One key at a time: what was pasted is not a row of decisions.
  return typed.size() == 1 ? Input{Input::Kind::key, Key::character, typed.front()} : Input{};
}

}  // namespace

Result<Screen> Screen::open() {
  if (!is_terminal(STDIN_FILENO) || !is_terminal(STDOUT_FILENO)) {
    return fail(Fault::invalid_input, "this needs a terminal; without one use: sandbox-queue list");
  }
  Screen screen;
  screen.enter();
  return screen;
}

Screen::Screen(Screen&& other) noexcept
    : before_(other.before_), old_mask_(other.old_mask_), entered_(std::exchange(other.entered_, false)) {
  std::copy(std::begin(other.old_actions_), std::end(other.old_actions_), std::begin(old_actions_));
}

Screen::~Screen() { leave(); }

void Screen::enter() {
  if (std::exchange(entered_, true)) return;
  sigset_t blocked;
  sigemptyset(&blocked);
  for (std::size_t i = 0; i < watched.size(); ++i) {
    sigaddset(&blocked, watched[i]);
    struct sigaction action {};
    action.sa_handler = note;
    ::sigaction(watched[i], &action, &old_actions_[i]);
  }
  ::sigprocmask(SIG_BLOCK, &blocked, &old_mask_);
  ::tcgetattr(STDIN_FILENO, &before_);
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | ISIG | IEXTEN);
  raw.c_iflag &= ~static_cast<tcflag_t>(IXON | ICRNL);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
  put(take_over);
}

void Screen::leave() {
  if (!std::exchange(entered_, false)) return;
  ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  put(give_back);
  for (std::size_t i = 0; i < watched.size(); ++i) ::sigaction(watched[i], &old_actions_[i], nullptr);
  ::sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
}

Screen::Size Screen::size() const {
  winsize window{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_row == 0 || window.ws_col == 0) return {};
  return {window.ws_row, window.ws_col};
}

void Screen::draw(const std::vector<Row>& rows) const {
  const std::size_t height = size().rows;
  std::string frame = "\x1b[H";
  for (std::size_t i = 0; i < height; ++i) {
    frame += "\x1b[2K";
    if (i < rows.size()) {
      if (rows[i].chosen) frame += "\x1b[7m";
      frame += styled(rows[i].text, rows[i].style, STDOUT_FILENO);
      if (rows[i].chosen) frame += "\x1b[0m";
    }
    if (i + 1 < height) frame += "\r\n";
  }
  put(frame);
}

Input Screen::wait(std::chrono::milliseconds patience) {
  timespec time{patience.count() / 1000, (patience.count() % 1000) * 1'000'000};
  pollfd keyboard{STDIN_FILENO, POLLIN, 0};
  const int ready = ::ppoll(&keyboard, 1, &time, &old_mask_);
  if (stop_wanted != 0) return {Input::Kind::stop, Key::none, 0};
  if (size_changed != 0) {
    size_changed = 0;
    return {Input::Kind::resized, Key::none, 0};
  }
  if (ready <= 0) return {};
  return read_key();
}

}  // namespace cordon::app
