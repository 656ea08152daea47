// J. What a single process can take or raise. Bombs, which are told by how the run ends, are in bomb.cc.
#include <fcntl.h>
#include <sched.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <cstring>

#include "probe.h"

namespace cordon::attacks {
namespace {

Answer unlimited(__rlimit_resource resource, rlim_t sane) {
  rlimit limit{};
  getrlimit(resource, &limit);
  return open_if(limit.rlim_max > sane, limit.rlim_max == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_max));
}

Answer raise_limit(__rlimit_resource resource) {
  rlimit limit{};
  getrlimit(resource, &limit);
  limit.rlim_max = limit.rlim_max == RLIM_INFINITY ? RLIM_INFINITY : limit.rlim_max + 1;
  return answer(setrlimit(resource, &limit));
}

/// Not alone the limit: a dump is written where the kernel says, by a program of the host when it says so.
Answer dumps_core(const Decoys&) {
  const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_CORE, &all);
  rlimit limit{};
  getrlimit(RLIMIT_CORE, &limit);
  return open_if(limit.rlim_max > 0);
}

Answer schedule(int policy) {
  sched_param parameters{};
  parameters.sched_priority = 1;
  return answer(sched_setscheduler(0, policy, &parameters));
}

Answer schedule_deadline(const Decoys&) {
  struct {
    unsigned size, policy;
    unsigned long flags;
    int nice;
    unsigned priority;
    unsigned long runtime, deadline, period;
  } attributes{48, 6, 0, 0, 0, 10000000, 30000000, 30000000};
  return answer(syscall(SYS_sched_setattr, 0, &attributes, 0U));
}

Answer lock_memory(const Decoys&) {
  constexpr size_t size = 64UL << 20;
  void* area = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return answer(mlock2(area, size, MLOCK_ONFAULT));
}

Answer huge_pages(const Decoys&) {
  void* area = mmap(nullptr, 2UL << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
  return answer(area == MAP_FAILED ? -1 : 0);
}

Answer many_descriptors(const Decoys&) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  int made = 0;
  while (made < 3000 && open("/dev/null", O_RDONLY) >= 0) ++made;
  return {made == 3000, made == 3000 ? 0 : errno, std::to_string(made) + " descriptors"};
}

constexpr Probe probes[] = {
    {"core_dump", "cannot dump core", dumps_core},
    {"descriptors_unlimited", "cannot hold 3,000 descriptors", many_descriptors},
    {"processes_unlimited", "has a limit of processes", [](const Decoys&) { return unlimited(RLIMIT_NPROC, 65536); }},
    {"queued_signals_unlimited", "has a limit of queued signals",
     [](const Decoys&) { return unlimited(RLIMIT_SIGPENDING, 20000); }},
    {"locked_memory_unlimited", "cannot lock 64 MiB of memory", lock_memory},
    {"file_size_unlimited", "has a limit of file size",
     [](const Decoys&) { return unlimited(RLIMIT_FSIZE, 1UL << 40); }},
    {"raise_descriptors", "cannot raise its descriptor limit",
     [](const Decoys&) { return raise_limit(RLIMIT_NOFILE); }},
    {"raise_processes", "cannot raise its process limit", [](const Decoys&) { return raise_limit(RLIMIT_NPROC); }},
    {"realtime_fifo", "cannot run with real-time priority", [](const Decoys&) { return schedule(SCHED_FIFO); }},
    {"realtime_deadline", "cannot run with a deadline", schedule_deadline},
    {"nice_negative", "cannot raise its priority",
     [](const Decoys&) { return answer(setpriority(PRIO_PROCESS, 0, -20)); }},
    {"io_realtime", "cannot take real-time disk priority",
     [](const Decoys&) { return answer(syscall(SYS_ioprio_set, 1, 0, 1 << 13)); }},
    {"huge_pages", "cannot take huge pages", huge_pages},
};

}  // namespace

Probes resource_probes() { return probes; }

}  // namespace cordon::attacks
