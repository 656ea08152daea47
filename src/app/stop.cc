#include "app/stop.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace cordon::app {

namespace {

constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};

void listen(void (*told)(int)) {
  struct sigaction action {};
  action.sa_handler = told;
  action.sa_flags = SA_RESTART;
  for (const int number : signals) ::sigaction(number, &action, nullptr);
}

void listen_no_more() {
  for (const int number : signals) std::signal(number, SIG_DFL);
}

int signal_pipe[2] = {-1, -1};

void on_signal(int) {
  const int before = errno;
  const char byte = 1;
  static_cast<void>(::write(signal_pipe[1], &byte, 1) == 1);
  errno = before;
}

volatile int connection_to_end = -1;

void on_signal_hang_up(int) {
  const int before = errno;
  ::shutdown(connection_to_end, SHUT_WR);
  errno = before;
}

}  // namespace

StopOnSignal::StopOnSignal() {
  if (::pipe2(signal_pipe, O_CLOEXEC) != 0) return;
  listen(on_signal);
  watcher_ = std::jthread([source = source_, again = again_](const std::stop_token& end) mutable {
    char byte = 0;
    while (!end.stop_requested() && ::read(signal_pipe[0], &byte, 1) == 1) {
      if (byte == 1 && !source.request_stop()) again.request_stop();
    }
  });
}

StopOnSignal::~StopOnSignal() {
  listen_no_more();
  if (signal_pipe[1] < 0) return;
  watcher_.request_stop();
  const char end = 0;
  static_cast<void>(::write(signal_pipe[1], &end, 1) == 1);
  watcher_ = {};
  for (int& descriptor : signal_pipe) {
    ::close(descriptor);
    descriptor = -1;
  }
}

HangUpOnSignal::HangUpOnSignal(int connection) {
  connection_to_end = connection;
  listen(on_signal_hang_up);
}

HangUpOnSignal::~HangUpOnSignal() { listen_no_more(); }

}  // namespace cordon::app
