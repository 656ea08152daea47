// Verdict → Plan.
#pragma once

#include <functional>
#include <string>

#include "model/analysis.h"
#include "model/request.h"
#include "model/script.h"
#include "model/settings.h"
#include "plan/content.h"
#include "plan/environment.h"
#include "plan/plan.h"

namespace cordon::plan {

/// What freezing needs to be told.
struct Basis {
  const Settings& settings;
  const Script& script;
  const Analysis& analysis;
  const Verdict& verdict;
  Digest policy;
  SessionDirectory session;
  std::string backend;  // by its name; what isolates it
  std::string image;    // docker: the id of the image
  /// Fails when this path of the host must never be writable from a sandbox.
  std::function<Result<void>(const std::string& path)> may_be_written;
  LoadsCode loads_code;
};

/// Names what will run and opens nothing for longer than it looks. Called again before the run: what changed since has
/// another digest.
Result<Plan> freeze(const Request& request, const Basis& basis, Contents& contents);

}  // namespace cordon::plan
