// Where a path lies, and what that place means: the workspace, the home, the system, a device, a credential store.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/analysis.h"

namespace cordon::risk {

enum class Area {
  unknown,  // begins with something that cannot be known
  workspace,
  temporary,  // /tmp and its like
  sink,       // /dev/null, /dev/stdout: nothing is kept there
  device,
  kernel,  // /proc, /sys
  system,
  home,     // of the user, but outside the workspace
  outside,  // anywhere else: another user's home, /srv, /mnt …
};

struct Place {
  Area area = Area::unknown;
  std::string path;            // absolute and without "." or ".."; as written when unknown
  bool wildcard = false;       // holds a pattern that the shell will expand
  bool vital = false;          // the root, a home, or a directory the system lives in, or everything directly in it
  bool credential = false;     // holds secrets
  bool holds_secrets = false;  // a tree in which credential stores lie: the home, ~/.ssh, the root
  bool persistent = false;     // what is written there runs later, unasked
  bool hook = false;           // what is written there runs at the next git or editor action in the workspace
  bool guarded = false;        // Cordon's own state or settings
  bool suspect = false;        // the name says secret or password: matters only when it leaves the machine
  bool workspace_root = false;

  bool kept() const { return area != Area::sink; }
};

/// Joins with `directory` and removes "." and "..", as the kernel would without symbolic links.
std::string absolute(std::string_view path, std::string_view directory);

/// `directory` is where relative paths begin; nothing when that cannot be known.
Place locate(std::string_view text, const std::optional<std::string>& directory, const RiskContext& context);

/// Could the shell expand this pattern to a file that is known to hold secrets?
bool could_be_credential(std::string_view pattern, const RiskContext& context);

/// A host that is this machine itself.
bool is_local_host(std::string_view host);
/// Cloud metadata services hand out credentials to whoever asks.
bool is_metadata_host(std::string_view host);
/// The host in scheme://user@host:port/path, host:port or host; empty when there is none.
std::string_view host_of(std::string_view url);

}  // namespace cordon::risk
