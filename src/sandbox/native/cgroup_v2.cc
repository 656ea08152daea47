// Version 2: one hierarchy; what a parent passes on to its children is set in the parent, and only where no process
// lives.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>

#include "sandbox/native/cgroup.h"
#include "sys/fd.h"
#include "sys/liveness.h"

namespace cordon::sandbox::native {

namespace {

std::set<std::string> words_of(const std::string& path) {
  std::ifstream file(path);
  std::set<std::string> words;
  for (std::string word; file >> word;) words.insert(word);
  return words;
}

class CgroupV2 : public Cgroup {
 public:
  CgroupV2(std::string path, sys::Fd directory, sys::Fd events)
      : path_(std::move(path)), directory_(std::move(directory)), memory_events_(std::move(events)) {}
  ~CgroupV2() override { remove(); }

  Result<void> attach(int) override { return {}; }
  int birth_descriptor() const override { return directory_.get(); }
  int oom_descriptor() const override { return memory_events_.get(); }
  void kill() override { (void)write_control(path_ + "/cgroup.kill", "1"); }

  CgroupReading read() const override {
    CgroupReading reading;
    reading.cpu_us = read_keyed(path_ + "/cpu.stat", "usage_usec");
    reading.memory_peak = read_number(path_ + "/memory.peak");
    reading.processes_peak = read_number(path_ + "/pids.peak");
    reading.oom_kills = read_keyed(path_ + "/memory.events", "oom_kill").value_or(0);
    reading.forks_refused = read_keyed(path_ + "/pids.events", "max").value_or(0);
    reading.processes_now = read_number(path_ + "/pids.current").value_or(0);
    return reading;
  }

  bool remove() override {
    if (path_.empty()) return true;
    if (::rmdir(path_.c_str()) != 0 && errno != ENOENT) return false;
    path_.clear();
    return true;
  }

 private:
  std::string path_;
  sys::Fd directory_;
  sys::Fd memory_events_;
};

class CgroupsV2 : public Cgroups {
 public:
  CgroupsV2(std::string parent, std::set<std::string> controllers)
      : parent_(std::move(parent)), controllers_(std::move(controllers)) {}

  Result<std::unique_ptr<Cgroup>> create(const Limits& limits) override {
    const std::string path = parent_ + "/" + new_group_name();
    if (::mkdir(path.c_str(), 0755) != 0) return fail(Fault::unavailable, "mkdir {}: {}", path, std::strerror(errno));
    sys::Fd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    sys::Fd events(::open((path + "/memory.events").c_str(), O_RDONLY | O_CLOEXEC));
    auto group = std::make_unique<CgroupV2>(path, std::move(directory), std::move(events));
    if (limits_memory() && limits.memory_bytes) {
      CHECK_OK(write_control(path + "/memory.max", std::to_string(limits.memory_bytes)));
      (void)write_control(path + "/memory.swap.max", "0");
      (void)write_control(path + "/memory.oom.group", "1");
    }
    if (limits_processes() && limits.pids) CHECK_OK(write_control(path + "/pids.max", std::to_string(limits.pids + 1)));
    if (controllers_.contains("cpu") && limits.cpus > 0) {
      CHECK_OK(write_control(path + "/cpu.max", fmt::format("{} 100000", static_cast<long>(limits.cpus * 100'000))));
    }
    return group;
  }

  std::vector<std::string> missing() const override {
    std::vector<std::string> phrases;
    if (!limits_memory()) phrases.emplace_back("memory control group: memory is held by a watchdog only");
    if (!limits_processes()) phrases.emplace_back("pids control group: processes are counted by RLIMIT_NPROC only");
    return phrases;
  }
  bool born_into() const override { return true; }
  bool limits_memory() const override { return controllers_.contains("memory"); }
  bool limits_processes() const override { return controllers_.contains("pids"); }

 private:
  std::string parent_;
  std::set<std::string> controllers_;
};

/// Passes controllers on to children. A group with processes cannot: then we move into a leaf of it first.
std::set<std::string> pass_on(const std::string& group) {
  const auto offered = words_of(group + "/cgroup.controllers");
  auto passed = [&] { return words_of(group + "/cgroup.subtree_control"); };
  auto enable = [&] {
    for (const char* controller : {"memory", "pids", "cpu"}) {
      if (offered.contains(controller))
        (void)write_control(group + "/cgroup.subtree_control", fmt::format("+{}", controller));
    }
  };
  enable();
  if (passed().contains("memory") || !offered.contains("memory")) return passed();
  const std::string leaf = group + "/cordon.launchers";
  if (::mkdir(leaf.c_str(), 0755) != 0 && errno != EEXIST) return passed();
  if (!write_control(leaf + "/cgroup.procs", "0")) return passed();
  enable();
  return passed();
}

}  // namespace

std::unique_ptr<Cgroups> find_cgroups_v2() {
  for (const Hierarchy& hierarchy : own_hierarchies()) {
    if (hierarchy.version != 2) continue;
    std::string group = hierarchy.own_group;
    // Already moved by an earlier start.
    if (group.ends_with("/cordon.launchers")) group.resize(group.size() - std::strlen("/cordon.launchers"));
    if (::access(group.c_str(), W_OK) != 0 || !words_of(group + "/cgroup.controllers").contains("memory")) continue;
    auto controllers = pass_on(group);
    if (!controllers.contains("memory") && !controllers.contains("pids")) continue;
    sweep_groups(group);
    const std::string trial = group + "/" + new_group_name();
    if (::mkdir(trial.c_str(), 0755) != 0) continue;
    ::rmdir(trial.c_str());
    return std::make_unique<CgroupsV2>(group, controllers);
  }
  return nullptr;
}

}  // namespace cordon::sandbox::native
