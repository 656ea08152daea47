// G. The caller's terminal. The host side runs these once on a pseudo terminal of its own and looks there for what was
// typed; without a terminal they are closed with ENOTTY.
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>

#include <cstring>

#include "probe.h"

namespace cordon::attacks {
namespace {

constexpr unsigned long high_bits = 1UL << 32;

/// On every descriptor that could be the terminal: the streams and /dev/tty.
Answer on_terminal(unsigned long request, const void* argument) {
  const int own = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
  int error = ENOTTY;
  for (const int fd : {0, 1, 2, own}) {
    if (fd < 0) continue;
    if (syscall(SYS_ioctl, fd, request, argument) == 0) return open_if(true, "fd " + std::to_string(fd));
    if (errno != ENOTTY) error = errno;
  }
  return {false, error, {}};
}

Answer many_timers(const Decoys&) {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGUSR1;
  int made = 0;
  for (timer_t timer; made < 50000 && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;) ++made;
  return {made == 50000, made == 50000 ? 0 : errno, std::to_string(made) + " timers"};
}

constexpr Probe probes[] = {
    {"terminal_type", "cannot type into the caller's terminal (TIOCSTI)",
     [](const Decoys&) { return on_terminal(TIOCSTI, "\v"); }},
    {"terminal_type_high_bits", "cannot hide TIOCSTI behind high bits (CVE-2019-7303)",
     [](const Decoys&) { return on_terminal(TIOCSTI | high_bits, "\v"); }},
    // A pseudo terminal knows no TIOCLINUX, the console would paste: on a terminal only EPERM shows that a filter
    // stands.
    {"terminal_paste", "cannot paste by TIOCLINUX",
     [](const Decoys&) {
       const Answer result = on_terminal(TIOCLINUX, "\3");
       const bool terminal = isatty(0) != 0 || isatty(1) != 0 || isatty(2) != 0;
       return Answer{terminal && result.error != EPERM, result.error, result.note};
     }},
    {"terminal_take", "cannot take the terminal as its own",
     [](const Decoys&) { return on_terminal(TIOCSCTTY, nullptr); }},
    {"terminal_discipline", "cannot change the terminal's line discipline",
     [](const Decoys&) {
       const int discipline = 0;
       return on_terminal(TIOCSETD, &discipline);
     }},
    {"terminal_opened", "has no controlling terminal of the caller",
     [](const Decoys&) { return try_open("/dev/tty", O_RDWR); }},
    {"many_timers", "cannot make 50,000 timers", many_timers},
};

}  // namespace

Probes terminal_probes() { return probes; }

}  // namespace cordon::attacks
