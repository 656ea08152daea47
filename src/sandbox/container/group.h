// What a container uses, read from the control groups that its runtime made.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "sandbox/native/cgroup.h"

namespace cordon::sandbox::container {

class ContainerGroup : public native::Cgroup {
 public:
  /// `pid`: of the container's first process, as the host counts; 0: not known, and nothing is read.
  ContainerGroup(int pid, std::function<void()> kill);

  /// Whether memory and processes are counted where we can see it.
  bool visible() const { return !paths_.empty(); }

  void kill() override { kill_(); }
  native::CgroupReading read() const override;
  bool remove() override { return true; }

 private:
  std::map<std::string, std::string> paths_;  // by controller; version 2: ""
  native::CgroupReading before_;              // of earlier runs in the same container
  std::function<void()> kill_;
};

/// Moves a process that somebody else started into a group of ours.
Result<void> move_into(const native::Cgroup& group, int pid);

}  // namespace cordon::sandbox::container
