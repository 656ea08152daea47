// Watching a run from its orders to its end: streams, limits, and how it ended.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "model/outcome.h"
#include "model/profile.h"
#include "sandbox/native/cgroup.h"
#include "sandbox/native/disk_watch.h"
#include "sandbox/native/launcher.h"
#include "sandbox/sandbox.h"

namespace cordon::sandbox::native {

class Monitor {
 public:
  Monitor(const Profile& profile, Launched& launched, Cgroup* cgroup, Io& io, std::stop_token stop);

  /// Until the program and all it started are dead. Fills in outcome, usage and truncation.
  void watch(RunReport& report);

 private:
  using Clock = std::chrono::steady_clock;
  struct Kept {
    std::uint64_t written = 0;  // by the program
    std::uint64_t kept = 0;     // passed on
  };

  void poll_once(int timeout_ms);
  void take_message();
  void read_stream(std::optional<sys::Fd>& fd, Stream stream);
  bool read_some(const sys::Fd& fd, Stream stream);
  void drain();
  void let_go_and_drain();
  void feed_input();
  void check_limits(Clock::time_point now);
  void check_disk_and_memory(const CgroupReading& reading);
  void end_because(Why why, std::string sentence);
  void end_by_force();
  int timeout_until_next_check(Clock::time_point now) const;
  Outcome outcome_of(const CgroupReading& reading) const;
  Outcome outcome_of_status(int status, const CgroupReading& reading) const;

  const Profile& profile_;
  Launched& launched_;
  Cgroup* cgroup_;
  Io& io_;
  std::stop_token stop_;
  sys::Fd stop_event_;
  DiskWatch disk_;

  Clock::time_point started_ = Clock::now();
  std::chrono::milliseconds check_interval_{50};
  Clock::time_point next_check_ = started_ + check_interval_;
  Clock::time_point killed_at_{};
  bool forced_ = false;
  std::string pending_input_;
  std::size_t input_sent_ = 0;
  bool input_from_descriptor_ = false;
  bool input_open_ = false;
  Kept out_;
  Kept err_;
  std::uint64_t forks_refused_ = 0;
  int crowded_checks_ = 0;
  std::uint64_t processes_seen_ = 0;
  std::uint64_t resident_seen_ = 0;
  std::uint64_t cpu_seen_ms_ = 0;

  std::optional<Report> ended_;
  std::optional<Error> broken_;
  std::optional<Killed> killed_;
  bool over_ = false;
};

}  // namespace cordon::sandbox::native
