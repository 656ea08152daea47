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

/// Opened once per process. Finds out by trying what this machine gives; what is missing is named in every report.
class NativeSandbox : public Sandbox {
 public:
  static Result<std::unique_ptr<NativeSandbox>> open(Options options);
  ~NativeSandbox() override;

  /// May be called from many threads at once.
  RunReport run(Clearance clearance, Io& io, std::stop_token stop) override;

  /// What a run would report now.
  Isolation isolation() const;

 private:
  struct State;
  explicit NativeSandbox(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cordon::sandbox::native
