// Where Cordon was called: directory, workspace, person, settings. Found once, then only read.
#pragma once

#include <memory>
#include <string>

#include "app/world.h"
#include "base/clock.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "config/load.h"
#include "guard/judge.h"
#include "policy/allowlist.h"

namespace cordon::app {

class Surroundings {
 public:
  /// What `check` is asked to assume.
  struct Given {
    std::string cwd;
    std::string user;
  };
  static Result<Surroundings> find(const GlobalOptions& global, const Given& given);

  /// What a line of `check --batch` says about itself: working directory, user, and further deny entries, which can
  /// only tighten.
  Result<void> apply(const Json& object);

  const Settings& settings() const { return *settings_; }
  const policy::Allowlist& allowlist() const { return *allowlist_; }
  const config::Sources& sources() const { return sources_; }
  Time now() const { return now_; }
  guard::Circumstances circumstances() const;

 private:
  config::Sources sources_;
  std::shared_ptr<const Settings> settings_;
  std::shared_ptr<const policy::Allowlist> allowlist_;
  RiskContext place_;
  std::string agent_;
  std::string session_;
  Time now_{};
};

}  // namespace cordon::app
