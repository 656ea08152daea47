// From what is wanted (Profile) to what the child does (Blueprint).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/outcome.h"
#include "model/profile.h"
#include "sandbox/native/blueprint.h"
#include "sandbox/native/placeholders.h"

namespace cordon::sandbox::native {

/// What is the same for every run of one NativeSandbox.
struct Machine {
  RootTree root_tree;
  sys::Fd pid1_image;
  Ladder ladder;  // the highest; how far down a machine forces us is known only after trying
  Weakened weakened;
  std::string state_directory;
  bool processes_in_cgroup = false;
};

/// A blueprint with everything that must live as long as it.
struct Draft {
  Blueprint blueprint;
  std::vector<sys::Fd> trees;  // id-mapped mounts
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::string cwd;
  std::uint32_t order_flags = 0;
  std::optional<PlaceholderHold> placeholders;
};

/// Everything that does not belong to one command: what a warm slot can prepare ahead.
Result<std::unique_ptr<Draft>> draft_surroundings(const Profile& profile, const Machine& machine, const Ladder& ladder);
/// The command's own part.
void draft_command(const Profile& profile, const Machine& machine, Draft& draft);

/// Of each process, but for how many there may be: who counts them differs.
std::vector<ResourceLimit> resource_limits(const Limits& limits);

/// Of the memory file system that they limit.
std::string scratch_options(const Limits& limits);

/// What is executed: the argv as it is, or bash with the text.
std::vector<std::string> arguments_of(const Profile& profile);
/// The short list of variables, then the profile's own; without those that make bash or the loader do something else.
std::vector<std::string> environment_of(const Profile& profile, const std::string& home, const std::string& temporary);

}  // namespace cordon::sandbox::native
