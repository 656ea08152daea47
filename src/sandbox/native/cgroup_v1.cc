// Version 1: each controller is a hierarchy of its own, and each may or may not be ours to use.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <mutex>

#include "sandbox/native/cgroup.h"
#include "sys/fd.h"

namespace cordon::sandbox::native {

namespace {

// Each is tried before it is counted on; those that few runs ask for, only when one does.
constexpr const char* always_wanted[] = {"memory", "pids"};
constexpr const char* sometimes_wanted[] = {"cpu", "cpuacct"};

using Groups = std::map<std::string, std::string>;  // by controller: a directory

void remove_groups(Groups& groups) {
  std::erase_if(groups, [](const auto& item) { return ::rmdir(item.second.c_str()) == 0 || errno == ENOENT; });
}

class CgroupV1 : public Cgroup {
 public:
  ~CgroupV1() override { remove(); }

  /// Where `trial` has a group, that one is used. Without limits: in every hierarchy, whatever will be asked of it.
  Result<void> make(const Groups& parents, const Limits* limits, Groups trial) {
    const std::string name = new_group_name();
    for (const auto& [controller, parent] : parents) {
      if (limits && controller == "cpu" && limits->cpus <= 0) continue;
      // A throttled pid 1 may be too slow to count for us.
      if (limits && controller == "cpuacct" && limits->cpu_ms == 0 && limits->cpus <= 0) continue;
      const std::string path = trial.contains(controller) ? trial[controller] : parent + "/" + name;
      trial.erase(controller);
      if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) {
        return fail(Fault::unavailable, "mkdir {}: {}", path, std::strerror(errno));
      }
      paths_[controller] = path;
    }
    gauges_ = CgroupGauges(paths_);
    remove_groups(trial);
    return {};
  }

  Result<std::vector<sys::Fd>> doors() const override {
    std::vector<sys::Fd> opened;
    for (const auto& [controller, path] : paths_) {
      opened.emplace_back(::open((path + "/tasks").c_str(), O_WRONLY | O_CLOEXEC));
      if (opened.back().get() < 0) return fail(Fault::unavailable, "open {}/tasks: {}", path, std::strerror(errno));
    }
    return opened;
  }

  int oom_descriptor() const override { return oom_event_.get(); }
  short oom_events() const override { return POLLIN; }
  void acknowledge_oom() override {
    eventfd_t count;
    ::eventfd_read(oom_event_.get(), &count);
  }

  /// Version 1 has no call for it. With room for nobody, nobody is born while the list is gone through.
  void kill() override {
    if (paths_.empty()) return;
    if (auto pids = paths_.find("pids"); pids != paths_.end()) (void)write_control(pids->second + "/pids.max", "0");
    const std::string list = paths_.begin()->second + "/cgroup.procs";
    constexpr int most_rounds = 100;
    for (int round = 0; round < most_rounds && kill_listed(list) > 0; ++round) {
      const timespec moment{0, 1'000'000};
      ::nanosleep(&moment, nullptr);
    }
  }

  bool remove() override {
    remove_groups(paths_);
    return paths_.empty();
  }

 protected:
  Result<void> set(const Limits& limits) override {
    if (auto path = paths_.find("memory"); path != paths_.end())
      CHECK_OK(set_memory(path->second, limits.memory_bytes));
    if (auto path = paths_.find("pids"); path != paths_.end()) {
      CHECK_OK(write_control(path->second + "/pids.max", limits.pids ? std::to_string(limits.pids + 1) : "max"));
    }
    if (auto path = paths_.find("cpu"); path != paths_.end()) {
      const long quota = limits.cpus > 0 ? static_cast<long>(limits.cpus * 100'000) : -1;
      CHECK_OK(write_control(path->second + "/cpu.cfs_quota_us", std::to_string(quota)));
    }
    return {};
  }

 private:
  Result<void> set_memory(const std::string& path, std::uint64_t most) {
    const std::string bytes = most ? std::to_string(most) : "-1";
    const std::string with_swap = path + "/memory.memsw.limit_in_bytes";
    // Never below the limit without swap, which may rise now.
    if (oom_event_.get() >= 0) (void)write_control(with_swap, "-1");
    CHECK_OK(write_control(path + "/memory.limit_in_bytes", bytes));
    // Where swap is accounted: none beyond the same limit. Where it is not, the file is missing.
    (void)write_control(with_swap, bytes);
    if (most && oom_event_.get() < 0) watch_oom(path);
    return {};
  }

  static std::vector<int> members(const std::string& list) {
    std::ifstream file(list);
    std::vector<int> pids;
    for (int pid; file >> pid;) pids.push_back(pid);
    return pids;
  }

  /// How many were still there.
  static std::size_t kill_listed(const std::string& list) {
    struct Opened {
      int pid;
      sys::Fd pidfd;
    };
    std::vector<Opened> opened;
    for (int pid : members(list)) opened.push_back({pid, sys::Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)))});
    // Looked up again with the descriptors in hand: a number that was given to somebody else meanwhile is not on the
    // list any more.
    const std::vector<int> still = members(list);
    for (const Opened& item : opened) {
      if (item.pidfd.get() < 0 || std::ranges::find(still, item.pid) == still.end()) continue;
      ::syscall(SYS_pidfd_send_signal, item.pidfd.get(), SIGKILL, nullptr, 0);
    }
    return still.size();
  }

  void watch_oom(const std::string& path) {
    sys::Fd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    sys::Fd control(::open((path + "/memory.oom_control").c_str(), O_RDONLY | O_CLOEXEC));
    if (event.get() < 0 || control.get() < 0) return;
    if (write_control(path + "/cgroup.event_control", fmt::format("{} {}", event.get(), control.get()))) {
      oom_event_ = std::move(event);
      oom_control_ = std::move(control);
    }
  }

  Groups paths_;
  sys::Fd oom_event_{-1};
  sys::Fd oom_control_{-1};
};

/// A group that a process can enter, or nothing: that the parent looks writable says little.
std::optional<std::string> trial_group(const std::string& parent, const std::string& name) {
  const std::string path = parent + "/" + name;
  if (::mkdir(path.c_str(), 0755) != 0) return std::nullopt;
  if (::access((path + "/tasks").c_str(), W_OK) == 0) return path;
  ::rmdir(path.c_str());
  return std::nullopt;
}

class CgroupsV1 : public Cgroups {
 public:
  CgroupsV1(Groups parents, Groups trial, Groups untried, LeftGroups left)
      : parents_(std::move(parents)), trial_(std::move(trial)), untried_(std::move(untried)), left_(std::move(left)) {}
  ~CgroupsV1() override { remove_groups(trial_); }

  Result<std::unique_ptr<Cgroup>> create(const Limits& limits) override {
    auto group = TRY(create_for(&limits));
    CHECK_OK(group->limit(limits));
    return group;
  }
  Result<std::unique_ptr<Cgroup>> create_unlimited() override { return create_for(nullptr); }

  std::vector<std::string> missing() const override {
    std::vector<std::string> phrases;
    if (!limits_memory()) phrases.emplace_back("memory control group: memory is held by a watchdog only");
    if (!limits_processes()) phrases.emplace_back("pids control group: processes are counted by RLIMIT_NPROC only");
    return phrases;
  }
  bool born_into() const override { return false; }
  bool limits_memory() const override { return has("memory"); }
  bool limits_processes() const override { return has("pids"); }

 private:
  bool has(const char* controller) const {
    std::lock_guard guard(lock_);
    return parents_.contains(controller);
  }

  Result<std::unique_ptr<Cgroup>> create_for(const Limits* limits) {
    Groups parents;
    Groups trial;
    {
      std::lock_guard guard(lock_);
      if (limits == nullptr || limits->cpus > 0 || limits->cpu_ms > 0) try_the_rest();
      parents = parents_;
      std::swap(trial, trial_);
    }
    auto group = std::make_unique<CgroupV1>();
    CHECK_OK(group->make(parents, limits, std::move(trial)));
    return group;
  }

  void try_the_rest() {
    const std::string name = new_group_name();
    for (const auto& [controller, parent] : std::exchange(untried_, {})) {
      left_.sweep(parent);
      const auto group = trial_group(parent, name);
      if (!group) continue;
      parents_[controller] = parent;
      trial_[controller] = *group;
    }
  }

  mutable std::mutex lock_;
  Groups parents_;  // our own groups
  Groups trial_;    // made to know whether they can be; the first run takes them
  Groups untried_;
  LeftGroups left_;
};

}  // namespace

std::unique_ptr<Cgroups> find_cgroups_v1(const std::vector<Hierarchy>& hierarchies) {
  Groups parents;
  Groups trial;
  Groups untried;
  LeftGroups left;
  const std::string name = new_group_name();
  for (const Hierarchy& hierarchy : hierarchies) {
    if (hierarchy.version != 1) continue;
    const auto holds = [&](const char* controller) {
      return std::ranges::find(hierarchy.controllers, controller) != hierarchy.controllers.end();
    };
    for (const char* controller : sometimes_wanted) {
      if (holds(controller)) untried.try_emplace(controller, hierarchy.own_group);
    }
    for (const char* controller : always_wanted) {
      if (!holds(controller) || parents.contains(controller)) continue;
      left.sweep(hierarchy.own_group);
      auto group = trial_group(hierarchy.own_group, name);
      if (!group) continue;
      parents[controller] = hierarchy.own_group;
      trial[controller] = *group;
    }
  }
  auto found = std::make_unique<CgroupsV1>(std::move(parents), std::move(trial), std::move(untried), std::move(left));
  if (!found->limits_memory() && !found->limits_processes()) return nullptr;
  return found;
}

}  // namespace cordon::sandbox::native
