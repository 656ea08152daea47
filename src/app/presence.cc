#include "app/presence.h"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "app/terminal.h"
#include "base/text.h"
#include "sys/fd.h"
#include "sys/file.h"

namespace cordon::app {

namespace {

// /dev/tty and not stdin: what is piped in is not what a person typed.
Result<sys::Fd> open_terminal() {
  sys::Fd terminal(::open("/dev/tty", O_RDWR | O_CLOEXEC));
  if (terminal.get() < 0) return fail(Fault::denied, "there is no terminal to ask on");
  return terminal;
}

volatile sig_atomic_t interrupted = 0;

/// With it a signal that comes between the question and the reading is not lost: it is only let in while we wait.
const sigset_t* mask_while_waiting = nullptr;

Result<std::string> read_line(const sys::Fd& terminal) {
  std::string line;
  char c = 0;
  while (line.size() < 1024) {
    if (mask_while_waiting != nullptr) {
      pollfd readable{terminal.get(), POLLIN, 0};
      const int ready = ::ppoll(&readable, 1, nullptr, mask_while_waiting);
      if (interrupted != 0) return fail(Fault::denied, "no answer");
      if (ready < 0) continue;
    }
    const ssize_t count = ::read(terminal.get(), &c, 1);
    if (count < 0 && errno == EINTR && interrupted == 0) continue;
    if (count <= 0) return fail(Fault::denied, "no answer");
    if (c == '\n') return line;
    line += c;
  }
  return fail(Fault::invalid_input, "the answer is too long");
}

/// While a secret is typed, ^C ends the question and not us: the terminal must get its echo back first.
class Interruptible {
 public:
  Interruptible() {
    interrupted = 0;
    struct sigaction action {};
    action.sa_handler = [](int) { interrupted = 1; };
    sigset_t blocked;
    ::sigemptyset(&blocked);
    for (std::size_t i = 0; i < signals.size(); ++i) {
      ::sigaction(signals[i], &action, &before_[i]);
      ::sigaddset(&blocked, signals[i]);
    }
    ::sigprocmask(SIG_BLOCK, &blocked, &mask_);
    mask_while_waiting = &mask_;
  }
  ~Interruptible() {
    mask_while_waiting = nullptr;
    ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
    for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &before_[i], nullptr);
  }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  static constexpr std::array signals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, 3> before_{};
  sigset_t mask_{};
};

class EchoOff {
 public:
  explicit EchoOff(int descriptor) : descriptor_(descriptor) {
    if (::tcgetattr(descriptor_, &before_) != 0) return;
    termios quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    changed_ = ::tcsetattr(descriptor_, TCSAFLUSH, &quiet) == 0;
  }
  ~EchoOff() {
    if (changed_) ::tcsetattr(descriptor_, TCSAFLUSH, &before_);
  }
  EchoOff(const EchoOff&) = delete;
  EchoOff& operator=(const EchoOff&) = delete;

 private:
  int descriptor_;
  termios before_{};
  bool changed_ = false;
};

Result<std::string> given_token(const PresenceOptions& options) {
  if (!options.token_file.empty()) return std::string(trim(TRY(sys::read_file(options.token_file, 4096))));
  const char* token = std::getenv("CORDON_APPROVER_TOKEN");
  return std::string(token == nullptr ? "" : token);
}

Result<approve::Presence> check_secret(const approve::Approver& approver, std::string_view secret) {
  if (!TRY(approver.accepts(secret))) return fail(Fault::denied, "that is not the approver's secret");
  return approver.kind == approve::Approver::Kind::token ? approve::Presence::token : approve::Presence::passphrase;
}

}  // namespace

Result<std::string> ask_secret(const std::string& prompt) {
  const sys::Fd terminal = TRY(open_terminal());
  const Interruptible interruptible;
  // Before the prompt: what is typed right after it must neither be shown nor dropped.
  const EchoOff quiet(terminal.get());
  CHECK_OK(sys::write_all(terminal, "/dev/tty", prompt));
  auto line = read_line(terminal);
  CHECK_OK(sys::write_all(terminal, "/dev/tty", "\n"));
  return line;
}

Result<std::string> ask_line(const std::string& prompt) {
  const sys::Fd terminal = TRY(open_terminal());
  CHECK_OK(sys::write_all(terminal, "/dev/tty", visible(prompt, Lines::keep)));
  return read_line(terminal);
}

Result<bool> ask_yes(const std::string& question) {
  const std::string answer = to_lower(trim(TRY(ask_line(question + " [y/N] "))));
  return answer == "y" || answer == "yes";
}

Result<approve::Presence> prove_presence(const GlobalOptions& global, const PresenceOptions& options,
                                         const std::string& question) {
  const auto approver = TRY(approve::ApproverStore(TRY(state_directory(global))).read());
  const std::string token = TRY(given_token(options));
  if (!token.empty()) {
    if (!approver) return fail(Fault::denied, "no approver is set; run: cordon approver init --unattended");
    return check_secret(*approver, token);
  }
  const bool at_terminal = is_terminal(STDIN_FILENO) && open_terminal().has_value();
  if (approver && approver->kind == approve::Approver::Kind::passphrase && at_terminal) {
    return check_secret(*approver, TRY(ask_secret(question + "\nApprover's passphrase: ")));
  }
  if (approver || !at_terminal || !global.agent.empty()) {
    return fail(
        Fault::denied,
        "this loosens limits and needs a person: run it at a terminal (after: cordon approver init), or give the "
        "approver's token by --token-file or CORDON_APPROVER_TOKEN (after: cordon approver init --unattended)");
  }
  if (!TRY(ask_yes(question))) return fail(Fault::denied, "not confirmed; nothing was changed");
  return approve::Presence::confirmed;
}

}  // namespace cordon::app
