// F64. Calls that belong to who runs the machine. All are asked with arguments that the kernel refuses after it has
// checked the right: EINVAL or EFAULT here means that the right was there.
#include <linux/reboot.h>
#include <sys/klog.h>
#include <sys/quota.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <time.h>

#include <cstring>

#include "probe.h"

namespace cordon::attacks {
namespace {

Answer set_name_to_itself(long number, const char* name) { return answer(syscall(number, name, strlen(name))); }

utsname names() {
  utsname found{};
  uname(&found);
  return found;
}

constexpr Probe probes[] = {
    {"kexec_load", "cannot load another kernel",
     [](const Decoys&) { return open_unless_denied(syscall(SYS_kexec_load, 0UL, 1UL << 40, nullptr, 0xffUL)); }},
    {"init_module", "cannot load a module",
     [](const Decoys&) { return open_unless_denied(syscall(SYS_init_module, nullptr, 0UL, "")); }},
    {"finit_module", "cannot load a module by descriptor",
     [](const Decoys&) { return open_unless_denied(syscall(SYS_finit_module, -1, "", 0)); }},
    {"delete_module", "cannot remove a module",
     [](const Decoys&) { return open_unless_denied(syscall(SYS_delete_module, "cordon_no_such_module", 0U)); }},
    {"reboot", "cannot reboot",
     [](const Decoys&) { return open_unless_denied(syscall(SYS_reboot, 0, 0, 0, nullptr)); }},
    {"swapon", "cannot add swap", [](const Decoys&) { return open_unless_denied(swapon("/nonexistent", 0)); }},
    {"swapoff", "cannot remove swap", [](const Decoys&) { return open_unless_denied(swapoff("/nonexistent")); }},
    {"acct", "cannot switch accounting",
     [](const Decoys&) { return open_unless_denied(syscall(SYS_acct, "/nonexistent")); }},
    {"quotactl", "cannot set quotas",
     [](const Decoys&) { return open_unless_denied(quotactl(QCMD(Q_QUOTAOFF, USRQUOTA), nullptr, 0, nullptr)); }},
    {"kernel_log", "cannot read the kernel's log",
     [](const Decoys&) {
       char room[64];
       return answer(klogctl(3, room, sizeof room));
     }},
    {"settimeofday", "cannot set the clock",
     [](const Decoys&) { return answer(syscall(SYS_settimeofday, nullptr, nullptr)); }},
    {"clock_settime", "cannot call clock_settime",
     [](const Decoys&) {
       const timespec wrong{-1, 0};
       // EINVAL comes before the capability check: only a filter can close this one.
       return open_unless_denied(syscall(SYS_clock_settime, CLOCK_REALTIME, &wrong));
     }},
    {"adjtimex", "cannot adjust the clock",
     [](const Decoys&) {
       timex change{};
       change.modes = ADJ_TICK;
       change.tick = 1;
       return open_unless_denied(adjtimex(&change));
     }},
    {"clock_adjtime", "cannot adjust the clock by clock_adjtime",
     [](const Decoys&) {
       timex change{};
       change.modes = ADJ_TICK;
       change.tick = 1;
       return open_unless_denied(syscall(SYS_clock_adjtime, CLOCK_REALTIME, &change));
     }},
    {"sethostname", "cannot set the host name",
     [](const Decoys&) { return set_name_to_itself(SYS_sethostname, names().nodename); }},
    {"setdomainname", "cannot set the domain name",
     [](const Decoys&) { return set_name_to_itself(SYS_setdomainname, names().domainname); }},
    {"vhangup", "cannot hang up the terminal", [](const Decoys&) { return answer(syscall(SYS_vhangup)); }},
};

}  // namespace

Probes machine_probes() { return probes; }

}  // namespace cordon::attacks
