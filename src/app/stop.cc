#include "app/stop.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <thread>

#include "sys/fd.h"

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

volatile int told_by = -1;

void on_signal(int) {
  const int before = errno;
  const char byte = 1;
  static_cast<void>(::write(told_by, &byte, 1) == 1);
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
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return;
  told_by = ends[1];
  listen(on_signal);
  // It ends by itself when the other end is closed. Nobody waits for that: a command would, at its end.
  std::thread([from = sys::Fd(ends[0]), source = source_, again = again_]() mutable {
    char byte = 0;
    while (::read(from.get(), &byte, 1) == 1) {
      if (!source.request_stop()) again.request_stop();
    }
  }).detach();
}

StopOnSignal::~StopOnSignal() {
  listen_no_more();
  if (told_by >= 0) ::close(told_by);
  told_by = -1;
}

HangUpOnSignal::HangUpOnSignal(int connection) {
  connection_to_end = connection;
  listen(on_signal_hang_up);
}

HangUpOnSignal::~HangUpOnSignal() { listen_no_more(); }

}  // namespace cordon::app
