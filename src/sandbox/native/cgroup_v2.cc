// Version 2: one hierarchy; what a parent passes on to its children is set in the parent, and only where no process
// lives.
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>

#include "sandbox/native/cgroup.h"
#include "sys/clone.h"
#include "sys/fd.h"

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
  CgroupV2(std::string path, const std::set<std::string>& controllers, sys::Fd directory, sys::Fd events)
      : path_(std::move(path)),
        controllers_(controllers),
        directory_(std::move(directory)),
        memory_events_(std::move(events)) {
    gauges_ = CgroupGauges(path_);
  }
  ~CgroupV2() override { remove(); }

  int birth_descriptor() const override { return directory_.get(); }
  int oom_descriptor() const override { return memory_events_.get(); }
  // Such a file is always readable; a change shows as POLLPRI, until it is read again.
  short oom_events() const override { return POLLPRI; }
  void acknowledge_oom() override {
    char text[512];
    [[maybe_unused]] ssize_t got = ::pread(memory_events_.get(), text, sizeof text, 0);
  }
  void kill() override { (void)write_control(path_ + "/cgroup.kill", "1"); }

  bool remove() override {
    if (path_.empty()) return true;
    if (::rmdir(path_.c_str()) != 0 && errno != ENOENT) return false;
    path_.clear();
    return true;
  }

 protected:
  Result<void> set(const Limits& limits) override {
    const auto number_or_max = [](std::uint64_t number) { return number ? std::to_string(number) : "max"; };
    if (controllers_.contains("memory")) {
      CHECK_OK(write_control(path_ + "/memory.max", number_or_max(limits.memory_bytes)));
      (void)write_control(path_ + "/memory.swap.max", limits.memory_bytes ? "0" : "max");
    }
    if (controllers_.contains("pids")) {
      CHECK_OK(write_control(path_ + "/pids.max", number_or_max(limits.pids ? limits.pids + 1 : 0)));
    }
    if (!controllers_.contains("cpu")) return {};
    const std::string quota = number_or_max(limits.cpus > 0 ? static_cast<std::uint64_t>(limits.cpus * 100'000) : 0);
    return write_control(path_ + "/cpu.max", quota + " 100000");
  }

 private:
  std::string path_;
  const std::set<std::string>& controllers_;  // of the CgroupsV2
  sys::Fd directory_;
  sys::Fd memory_events_;
};

class CgroupsV2 : public Cgroups {
 public:
  CgroupsV2(std::string parent, std::set<std::string> controllers, LeftGroups left)
      : parent_(std::move(parent)), controllers_(std::move(controllers)), left_(std::move(left)) {}

  Result<std::unique_ptr<Cgroup>> create_unlimited() override {
    const std::string path = parent_ + "/" + new_group_name();
    if (::mkdir(path.c_str(), 0755) != 0) return fail(Fault::unavailable, "mkdir {}: {}", path, std::strerror(errno));
    sys::Fd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    sys::Fd events(::open((path + "/memory.events").c_str(), O_RDONLY | O_CLOEXEC));
    auto group = std::make_unique<CgroupV2>(path, controllers_, std::move(directory), std::move(events));
    group->acknowledge_oom();
    return group;
  }

  Result<std::unique_ptr<Cgroup>> create(const Limits& limits) override {
    std::unique_ptr<Cgroup> group = TRY(create_unlimited());
    CHECK_OK(group->limit(limits));
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
  LeftGroups left_;
};

bool useful(const std::set<std::string>& controllers) {
  return controllers.contains("memory") || controllers.contains("pids");
}

std::set<std::string> passed_on(const std::string& group) { return words_of(group + "/cgroup.subtree_control"); }

void pass_on(const std::string& group) {
  const auto offered = words_of(group + "/cgroup.controllers");
  for (const char* controller : {"memory", "pids", "cpu"}) {
    if (offered.contains(controller))
      (void)write_control(group + "/cgroup.subtree_control", fmt::format("+{}", controller));
  }
}

constexpr const char* leaf_name = "/cordon.launchers";

/// A group with processes in it passes nothing on. If we are alone in ours, we can move into a leaf of it.
void pass_on_from_leaf(const std::string& group) {
  const std::string leaf = group + leaf_name;
  if (::mkdir(leaf.c_str(), 0755) != 0 && errno != EEXIST) return;
  if (!write_control(leaf + "/cgroup.procs", "0")) return;
  pass_on(group);
  if (useful(passed_on(group))) return;
  // Others live here: back to them, as if nothing had been tried.
  (void)write_control(group + "/cgroup.procs", "0");
  ::rmdir(leaf.c_str());
}

void leave_at_once(void*) {}

/// A process is born into a new group, as every sandbox will be: that the directory can be made says little.
bool usable(const std::string& parent) {
  const std::string path = parent + "/" + new_group_name();
  if (::mkdir(path.c_str(), 0755) != 0) return false;
  sys::Fd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  auto stack = sys::ChildStack::create(16384);
  long pid = -1;
  if (stack) {
    sys::CloneArguments arguments;
    arguments.flags = CLONE_VM | CLONE_VFORK | 0x200000000ULL;  // CLONE_INTO_CGROUP
    arguments.stack = stack->base();
    arguments.stack_size = stack->size();
    arguments.cgroup = static_cast<std::uint64_t>(directory.get());
    pid = sys::cordon_clone3_call(&arguments, sizeof arguments, leave_at_once, nullptr);
    if (pid > 0) ::waitpid(static_cast<int>(pid), nullptr, __WALL);
  }
  ::rmdir(path.c_str());
  return pid > 0;
}

std::unique_ptr<Cgroups> use(const std::string& group) {
  const auto controllers = passed_on(group);
  if (!useful(controllers) || ::access(group.c_str(), W_OK) != 0) return nullptr;
  LeftGroups left;
  left.sweep(group);
  if (!usable(group)) return nullptr;
  return std::make_unique<CgroupsV2>(group, controllers, std::move(left));
}

}  // namespace

/// Our own group, or the nearest above it that is ours to use and already passes its controllers on: what systemd hands
/// to a user looks like that. Only if there is none, our own group is changed for it.
std::unique_ptr<Cgroups> find_cgroups_v2(const std::vector<Hierarchy>& hierarchies) {
  for (const Hierarchy& hierarchy : hierarchies) {
    if (hierarchy.version != 2) continue;
    for (std::string group = hierarchy.own_group; ::access((group + "/cgroup.procs").c_str(), F_OK) == 0;
         group = group.substr(0, group.rfind('/'))) {
      if (auto found = use(group)) return found;
      if (group == hierarchy.mount_point) break;
    }
    // Beside version 1 it may have nothing to offer.
    if (!useful(words_of(hierarchy.own_group + "/cgroup.controllers"))) continue;
    if (::access(hierarchy.own_group.c_str(), W_OK) != 0) continue;
    pass_on_from_leaf(hierarchy.own_group);
    if (auto found = use(hierarchy.own_group)) return found;
  }
  return nullptr;
}

}  // namespace cordon::sandbox::native
