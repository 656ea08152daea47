#include "sandbox/native/cgroup_gauges.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <string_view>

namespace cordon::sandbox::native {

namespace {

sys::Fd open_to_read(const std::string& path) { return sys::Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)); }

}  // namespace

CgroupGauges::CgroupGauges(const std::string& directory)
    : cpu_{directory + "/cpu.stat", "usage_usec"},
      memory_peak_{directory + "/memory.peak"},
      processes_peak_{directory + "/pids.peak"},
      processes_now_{directory + "/pids.current"},
      oom_kills_{directory + "/memory.events", "oom_kill"},
      forks_refused_{directory + "/pids.events", "max"} {}

CgroupGauges::CgroupGauges(const std::map<std::string, std::string>& directories) {
  if (auto memory = directories.find("memory"); memory != directories.end()) {
    memory_peak_.path = memory->second + "/memory.max_usage_in_bytes";
    oom_kills_ = {memory->second + "/memory.oom_control", "oom_kill"};
  }
  if (auto pids = directories.find("pids"); pids != directories.end()) {
    processes_peak_.path = pids->second + "/pids.peak";
    processes_now_.path = pids->second + "/pids.current";
    forks_refused_ = {pids->second + "/pids.events", "max"};
  }
  if (auto cpu = directories.find("cpuacct"); cpu != directories.end()) {
    cpu_.path = cpu->second + "/cpuacct.usage";
    cpu_ticks_per_us_ = 1000;
  }
}

void CgroupGauges::Gauge::open() {
  if (!path.empty() && file.get() < 0) file = open_to_read(path);
}

std::optional<std::uint64_t> CgroupGauges::Gauge::read() const {
  if (path.empty()) return std::nullopt;
  const sys::Fd opened_now(file.get() < 0 ? open_to_read(path) : sys::Fd(-1));
  char buffer[4096];
  const ssize_t got = ::pread(file.get() < 0 ? opened_now.get() : file.get(), buffer, sizeof buffer, 0);
  if (got <= 0) return std::nullopt;
  std::string_view text(buffer, static_cast<std::size_t>(got));
  if (!key.empty()) {
    while (!text.starts_with(key) || !text.substr(key.size()).starts_with(' ')) {
      const std::size_t end = text.find('\n');
      if (end == std::string_view::npos) return std::nullopt;
      text.remove_prefix(end + 1);
    }
    text.remove_prefix(key.size() + 1);
  }
  std::uint64_t number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc()) return std::nullopt;
  return number;
}

void CgroupGauges::open() {
  for (Gauge* gauge : {&cpu_, &memory_peak_, &processes_peak_, &processes_now_, &oom_kills_, &forks_refused_}) {
    gauge->open();
  }
}

CgroupReading CgroupGauges::read() const {
  CgroupReading reading;
  if (auto ticks = cpu_.read()) reading.cpu_us = *ticks / cpu_ticks_per_us_;
  reading.memory_peak = memory_peak_.read();
  reading.processes_peak = processes_peak_.read();
  reading.processes_now = processes_now_.read().value_or(0);
  reading.oom_kills = oom_kills_.read().value_or(0);
  reading.forks_refused = forks_refused_.read().value_or(0);
  return reading;
}

}  // namespace cordon::sandbox::native
