// The body of a request to make a container: a profile in the engine's words.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "sandbox/container/layout.h"

namespace cordon::sandbox::docker {

// Labels, by which containers are found again.
constexpr const char* state_label = "cordon.state";  // which state directory's
constexpr const char* owner_label = "cordon.owner";  // the mark of the process that must remove it
constexpr const char* key_label = "cordon.session";  // one that is kept: whose
constexpr const char* maker_label = "cordon.maker";  // one that is kept: the mark of the process that made it

/// Who reads it. Podman takes Docker's words, passes over some of them in silence, and has others instead.
enum class Dialect { docker, podman };

struct Mount {
  std::string source;
  std::string target;
  bool read_only = true;  // for the engine to make so
  bool recursive = false;
};

struct ContainerRequest {
  Dialect dialect = Dialect::docker;
  std::string filter;  // of system calls: its text; for Podman the path of a file that holds it
  std::string user;    // "UID:GID"
  std::vector<std::string> arguments;
  bool input = false;
  std::vector<Mount> mounts;
  std::map<std::string, std::string> labels;
};

/// What is asked for, also where a profile says "no limit".
std::uint64_t memory_of(const Limits& limits);
std::uint64_t processes_of(const Limits& limits);

/// The same for every container.
std::string filter_text();

/// Podman joins the words of a mount with commas, so that a path with one would be read as options.
Result<void> check_mount(const Mount& mount, Dialect dialect);

Json body_of(const container::Layout& layout, const ContainerRequest& request);

}  // namespace cordon::sandbox::docker
