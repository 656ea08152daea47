// Limits on a whole tree of processes, and what it used: control groups of either version, found by trying.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/profile.h"
#include "sandbox/native/cgroup_gauges.h"
#include "sys/fd.h"

namespace cordon::sandbox::native {

/// The control groups of one run, used once: counters of one run are never another's. Removed when destroyed.
class Cgroup {
 public:
  virtual ~Cgroup() = default;
  /// Version 1: whoever writes 0 to each of these is in it. (To move another process the kernel waits for all
  /// processors, 7 ms; moving oneself costs nothing.)
  virtual Result<std::vector<sys::Fd>> doors() const { return std::vector<sys::Fd>(); }
  /// Version 2: a descriptor for clone3 to be born into; −1: by its doors.
  virtual int birth_descriptor() const { return -1; }
  /// What was created unlimited, or for somebody else's limits. What it has already costs nothing.
  Result<void> limit(const Limits& limits) {
    if (limits_ && same(*limits_, limits)) return {};
    CHECK_OK(set(limits));
    limits_ = limits;
    return {};
  }
  /// Tells by `oom_events` (of poll) that the group may have run out of memory, until acknowledged; −1 without.
  virtual int oom_descriptor() const { return -1; }
  virtual short oom_events() const { return 0; }
  virtual void acknowledge_oom() {}
  /// Everybody in it, and nobody can be born into it meanwhile.
  virtual void kill() = 0;
  virtual CgroupReading read() const { return gauges_.read(); }
  /// Whoever waits anyway does it, so that how the run ended is known the sooner.
  void prepare_to_read() { gauges_.open(); }
  /// False while a process is still in it.
  virtual bool remove() = 0;

 protected:
  /// All of them, those that are none too: it may have had others.
  virtual Result<void> set(const Limits&) { return {}; }
  CgroupGauges gauges_;

 private:
  static bool same(const Limits& one, const Limits& other) {
    return one.memory_bytes == other.memory_bytes && one.pids == other.pids && one.cpus == other.cpus;
  }
  std::optional<Limits> limits_;
};

/// Groups that processes which are gone have left behind: removed now, or at the end where somebody in them is still
/// dying.
class LeftGroups {
 public:
  LeftGroups() = default;
  LeftGroups(LeftGroups&&) noexcept = default;
  LeftGroups& operator=(LeftGroups&&) noexcept = default;
  ~LeftGroups();
  void sweep(const std::string& parent);

 private:
  std::vector<std::string> busy_;
};

/// What the machine gives to this process.
class Cgroups {
 public:
  virtual ~Cgroups() = default;
  virtual Result<std::unique_ptr<Cgroup>> create(const Limits& limits) = 0;
  /// For one that is born before it is known what it may use.
  virtual Result<std::unique_ptr<Cgroup>> create_unlimited() = 0;
  /// Whether a process is born into its group (v2); else it goes in by itself.
  virtual bool born_into() const = 0;
  /// What cannot be limited, each a phrase for a person.
  virtual std::vector<std::string> missing() const = 0;
  virtual bool limits_memory() const = 0;
  virtual bool limits_processes() const = 0;
};

/// Delegated v2, else v1 controller by controller, else nothing. Makes a group and removes it again to know.
std::unique_ptr<Cgroups> find_cgroups();

/// Where a hierarchy is mounted and which group of it this process is in.
struct Hierarchy {
  int version;
  std::vector<std::string> controllers;  // v1
  std::string own_group;                 // absolute path of our group's directory
  std::string mount_point;
};
std::vector<Hierarchy> own_hierarchies();

// Parts of find_cgroups.
std::unique_ptr<Cgroups> find_cgroups_v2(const std::vector<Hierarchy>& hierarchies);
std::unique_ptr<Cgroups> find_cgroups_v1(const std::vector<Hierarchy>& hierarchies);

/// "cordon-PID.START-N": names the process that must remove it, so that the next start can tell what was left behind.
std::string new_group_name();
Result<void> write_control(const std::string& path, const std::string& value);

}  // namespace cordon::sandbox::native
