// What isolates a run. Which backend it is, is decided before the plan is frozen, and the plan says it: none is put in
// the place of another afterwards.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "config/load.h"
#include "model/request.h"
#include "model/settings.h"
#include "sandbox/sandbox.h"

namespace cordon::guard {

struct Isolator {
  std::string backend;  // "native", "docker", "gvisor", "runc", "crun"
  std::string image;    // docker: its id
};

/// The name as it is given to `--backend`; empty stays empty. An unknown one is an error that lists them.
Result<std::string> backend_named(const std::string& name);

using OpenBackend = std::function<Result<sandbox::Sandbox*>(const std::string& backend)>;

/// A backend that is named and cannot be had is an error that says why and what to do. Only `auto` looks further: for a
/// clean room an engine that has the image, then the native one.
Result<Isolator> choose_isolator(const Request& request, const SandboxSettings& settings, const OpenBackend& open);

Result<std::shared_ptr<sandbox::Sandbox>> open_backend(const std::string& backend, const config::Sources& sources);

}  // namespace cordon::guard
