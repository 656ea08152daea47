#include "sandbox/container/group.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "sys/fd.h"

namespace cordon::sandbox::container {

namespace {

constexpr const char* wanted[] = {"memory", "pids", "cpuacct"};

}  // namespace

ContainerGroup::ContainerGroup(int pid, std::function<void()> kill) : kill_(std::move(kill)) {
  if (pid <= 0) return;
  const auto hierarchies = native::own_hierarchies();
  std::ifstream lines(fmt::format("/proc/{}/cgroup", pid));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string group = line.substr(second + 1);
    for (const native::Hierarchy& hierarchy : hierarchies) {
      if (hierarchy.version == 2 && controllers == ",,") paths_[""] = hierarchy.mount_point + group;
      if (hierarchy.version != 1) continue;
      for (const char* controller : wanted) {
        const bool holds = std::ranges::find(hierarchy.controllers, controller) != hierarchy.controllers.end();
        if (holds && controllers.find(fmt::format(",{},", controller)) != std::string::npos) {
          paths_[controller] = hierarchy.mount_point + group;
        }
      }
    }
  }
  // A hybrid layout: version 2 is there for its names alone.
  if (paths_.size() > 1) paths_.erase("");
  const auto unified = paths_.find("");
  gauges_ = unified != paths_.end() ? native::CgroupGauges(unified->second) : native::CgroupGauges(paths_);
  before_ = gauges_.read();
}

Result<void> move_into(const native::Cgroup& group, int pid) {
  std::vector<sys::Fd> doors = TRY(group.doors());
  if (const int directory = group.birth_descriptor(); directory >= 0) {
    doors.emplace_back(::openat(directory, "cgroup.procs", O_WRONLY | O_CLOEXEC));
  }
  const std::string number = std::to_string(pid);
  for (const sys::Fd& door : doors) {
    if (::write(door.get(), number.data(), number.size()) < 0) {
      return fail(Fault::unavailable, "the container cannot be moved into its control groups: {}",
                  std::strerror(errno));
    }
  }
  return {};
}

native::CgroupReading ContainerGroup::read() const {
  native::CgroupReading reading = gauges_.read();
  reading.oom_kills -= std::min(before_.oom_kills, reading.oom_kills);
  reading.forks_refused -= std::min(before_.forks_refused, reading.forks_refused);
  if (reading.cpu_us) *reading.cpu_us -= std::min(before_.cpu_us.value_or(0), *reading.cpu_us);
  return reading;
}

}  // namespace cordon::sandbox::container
