// Who the attacker is: ids, groups, capabilities, and whether they could grow.
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>

#include "probe.h"

namespace cordon::attacks {
namespace {

std::string status_field(const std::string& name) {
  const std::string status = content_of("/proc/self/status");
  const size_t at = status.find("\n" + name + ":\t");
  if (at == std::string::npos) return {};
  const size_t begin = at + name.size() + 3;
  return status.substr(begin, status.find('\n', begin) - begin);
}

Answer has_capability(const char* set) {
  const std::string value = status_field(set);
  return open_if(!value.empty() && strtoull(value.c_str(), nullptr, 16) != 0, value);
}

/// The id that the parent namespace sees: an inner 0 is harmless, an outer 0 owns the host's files.
long outer_id(const char* map, unsigned inner) {
  const std::string text = content_of(map);
  const char* line = text.c_str();
  unsigned first = 0;
  unsigned outer = 0;
  unsigned count = 0;
  for (int used = 0; sscanf(line, " %u %u %u%n", &first, &outer, &count, &used) == 3; line += used)
    if (inner >= first && inner - first < count) return static_cast<long>(outer) + (inner - first);
  return -1;
}

Answer outer_user_zero(const Decoys&) { return open_if(outer_id("/proc/self/uid_map", geteuid()) == 0); }
Answer outer_group_zero(const Decoys&) { return open_if(outer_id("/proc/self/gid_map", getegid()) == 0); }

Answer become_outer_root(const Decoys&) {
  const Answer changed = answer(setresuid(0, 0, 0));
  if (!changed.open) return changed;
  return open_if(outer_id("/proc/self/uid_map", 0) == 0);
}

Answer filesystem_id(const Decoys&) {
  setfsuid(0);
  const bool zero = setfsuid(static_cast<uid_t>(-1)) == 0;
  return open_if(zero && outer_id("/proc/self/uid_map", 0) == 0);
}

Answer drop_groups(const Decoys&) { return answer(setgroups(0, nullptr)); }

Answer raise_capability(const Decoys&) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct wanted[2]{{1U << CAP_SYS_ADMIN % 32, 1U << CAP_SYS_ADMIN % 32, 0}, {0, 0, 0}};
  return answer(syscall(SYS_capset, &header, wanted));
}

Answer foreign_group_file(const Decoys&) { return try_open("group-secret", O_RDONLY); }

constexpr Probe probes[] = {
    {"capability_effective", "has no effective capability", [](const Decoys&) { return has_capability("CapEff"); }},
    {"capability_permitted", "has no permitted capability", [](const Decoys&) { return has_capability("CapPrm"); }},
    {"capability_bounding", "has an empty bounding set", [](const Decoys&) { return has_capability("CapBnd"); }},
    {"securebits_unlocked", "has its securebits locked",
     [](const Decoys&) {
       constexpr int locked = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP_LOCKED;
       return open_if((prctl(PR_GET_SECUREBITS) & locked) != locked);
     }},
    {"capability_ambient", "has no ambient capability", [](const Decoys&) { return has_capability("CapAmb"); }},
    {"capability_raised", "cannot raise a capability", raise_capability},
    {"new_privileges", "runs with no_new_privs",
     [](const Decoys&) { return open_if(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0); }},
    {"no_filter", "runs under a seccomp filter", [](const Decoys&) { return open_if(status_field("Seccomp") != "2"); }},
    {"outer_user_zero", "is not the host's uid 0", outer_user_zero},
    {"outer_group_zero", "is not the host's gid 0", outer_group_zero},
    {"become_outer_root", "cannot become the host's uid 0", become_outer_root},
    {"filesystem_id", "cannot take the host's uid 0 for file access", filesystem_id},
    {"drop_groups", "cannot drop groups (a group may be a deny rule)", drop_groups},
    {"foreign_group_file", "cannot read a file by a group of the launcher", foreign_group_file},
};

}  // namespace

Probes identity_probes() { return probes; }

}  // namespace cordon::attacks
