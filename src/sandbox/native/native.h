// The native backend: namespaces, Landlock, seccomp and cgroups, without root and without a daemon.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "sandbox/sandbox.h"
#include "sandbox/weaken.h"

namespace cordon::sandbox::native {

struct Options {
  std::string state_directory;  // journals and quarantine; 0700, ours; empty: protected placeholders are refused
  Weakened weakened;            // for tests only
};

/// What to keep ready ahead of time.
struct WarmStock {
  std::size_t network_namespaces = 8;
  std::size_t slots = 0;
};

/// Opened once per process. Finds out by trying what this machine gives; what is missing is named in every report.
class NativeSandbox : public Sandbox {
 public:
  static Result<std::unique_ptr<NativeSandbox>> open(Options options);
  ~NativeSandbox() override;

  /// May be called from many threads at once.
  RunReport run(Clearance clearance, Io& io, std::stop_token stop) override;
  std::unique_ptr<Preparation> prepare(const Profile& profile) override;
  RunReport run_prepared(std::unique_ptr<Preparation> prepared, Clearance clearance, Io& io,
                         std::stop_token stop) override;

  /// From now on sandboxes start from a zygote, and those whose profile is like this one but for the command, from a
  /// slot that is already isolated. Returns when everything is in stock; what is used is replaced in the background.
  /// May be called for several profiles, but not while another call or a run is under way.
  Result<void> warm_up(const Profile& profile, const WarmStock& stock);
  /// After warm_up: for every kind of profile that is run from now on and whose program can be started ahead, so many
  /// are kept ready. The kind that was not used for longest gives way to a new one.
  void keep_ready_what_is_used(std::size_t count);
  /// Waits until what was used is replaced.
  void wait_until_warm();

  /// What a run would report now.
  Isolation isolation() const;

 private:
  struct State;
  class Begun;
  explicit NativeSandbox(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cordon::sandbox::native
