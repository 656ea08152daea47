// Settings and grants → what the sandbox is told.
#pragma once

#include "plan/freeze.h"

namespace cordon::plan {

/// Everything but the program's identity.
Result<Profile> profile_of(const Request& request, const Basis& basis);

/// The rules of the network proxy that the settings give an agent, presets written out.
std::vector<std::string> network_rules(const Settings& settings, const std::string& agent);

/// Those that approving these grants gives.
std::vector<std::string> granted_rules(const std::vector<Need>& grants);

/// Where the sandbox looks for programs, first to last.
std::vector<std::string> search_path(const Profile& profile);

/// Whether what is seen at `path` inside is a file of the host. Everything else is an image's, which its id pins.
bool is_given(const Profile& profile, const std::string& path);

/// The file of the host that is seen at `path` inside the sandbox.
std::string host_path(const Profile& profile, const std::string& path);

/// Files below `directory` whose names say that they hold credentials; not deeper than a few levels.
std::vector<std::string> credential_files(const std::string& directory);

/// Files and directories of a workspace through which a program could have its way outside of the sandbox later. A
/// directory ends with a slash.
std::vector<std::string> protected_paths(const std::string& workspace, const std::string& home);

}  // namespace cordon::plan
