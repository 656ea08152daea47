// From what is wanted (Profile) to what a container is given: the same files at the same places as in the native
// sandbox.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/profile.h"
#include "sandbox/container/stage.h"
#include "sandbox/native/launcher.h"
#include "sandbox/native/placeholders.h"

namespace cordon::sandbox::container {

/// Who the program is, as it sees itself and as the files that it writes say.
struct Identity {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
};

/// One of the host's directories or files.
struct Place {
  std::string source;  // absolute, no symbolic link in it
  std::string target;
  bool writable = false;
  bool directory = true;
  bool ours = false;  // a file of the stage: read by anyone, never id-mapped
};

struct Layout {
  /// As it was asked for, with the stage's own directories where files are kept only for this run.
  Profile profile;
  std::vector<Place> places;  // in the order in which they are mounted
  native::Command command;
  std::optional<native::PlaceholderHold> placeholders;
};

/// Fails when the profile asks for what only the native backend gives. Asked before anybody approves, and again here.
Result<void> check_offered(const Profile& profile);

/// `state_directory` is for the journal of placeholders.
Result<Layout> lay_out(const Profile& profile, const Stage& stage, const std::string& state_directory);

/// /etc/passwd and /etc/group in which `identity` is the sandbox's user.
std::string passwd_for(const Identity& identity);
std::string group_for(const Identity& identity);

/// Parts of /proc and /sys that are covered, and that can only be read: what tells about the machine, or changes it.
std::vector<std::string> masked_paths();
std::vector<std::string> read_only_paths();

/// An engine takes no word of nosuid and nodev; where we mount, everything has them.
enum class MountedBy { engine, us };

/// "DEVICE INODE FLAGS PATH" for pid 1 (orders.h), of what is there now and no symbolic link leads to.
Result<std::string> place_as_seen(const Place& place, MountedBy by);

/// A throwaway copy of `source` without `hidden` (relative paths): regular files, directories and links. More than the
/// limits allow is an error.
Result<void> copy_tree(const std::string& source, const std::string& target, const std::vector<std::string>& hidden,
                       const Limits& limits);

}  // namespace cordon::sandbox::container
