// The way in: which files there are, which of them count, and what they say together.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/merge.h"
#include "config/trust.h"
#include "config/value.h"
#include "model/settings.h"

namespace cordon::config {

struct Sources {
  std::string workspace;                 // absolute
  std::string home;                      // of the user
  std::string user_file;                 // ~/.config/cordon/config.json5; may be missing
  std::vector<std::string> extra_files;  // --config; must exist
  std::string state_dir;
  std::vector<std::string> engine_sockets;  // from DOCKER_HOST and the like
};

struct SourceFile {
  enum class State {
    missing,
    own,  // the user's, or asked for by --config
    trusted,
    untrusted,  // never trusted
    changed,    // trusted once, with other content
    gone,       // trusted once, and now missing: its tightenings still count
  };
  std::string path;
  std::string name;  // as origins call it
  State state = State::missing;
  Digest digest;
};
const char* name_of(SourceFile::State state);

/// A place that the files name, and where it led when they were read.
struct Seen {
  std::string path;
  std::string resolved;
  bool is_opened = false;  // to sandboxes, so that it may not be one of those that never are
};

struct Loaded {
  Settings settings;
  std::vector<Remark> remarks;    // warnings and notes, each beginning with file:line
  std::vector<Ignored> ignored;   // loosenings that do not count
  std::vector<SourceFile> files;  // in the order in which they count
  std::vector<Seen> seen;
};

/// Fails with one sentence, "file:line: …", on anything that is not understood: then nothing may run.
Result<Loaded> load(const Sources& sources);

/// Every file that `load` reads, there or not. Those of the workspace are known by their real paths.
struct Consulted {
  std::string path;
  bool of_workspace = false;
};
std::vector<Consulted> consulted_by(const Sources& sources);

/// Whether loading the same files again would see the same around them.
bool still_so(const std::vector<Seen>& seen, const Sources& sources);

/// What `cordon trust` shows before it asks.
struct TrustPreview {
  SourceFile file;
  std::string bytes;                // what would be trusted, exactly
  std::vector<Ignored> loosenings;  // what would count from then on; reasons are empty
  std::string difference;           // unified, to what was trusted before (or to nothing)
  std::vector<Remark> remarks;
};

/// The workspace's files that can be trusted, and what trusting each would do. Those that are missing are left out.
Result<std::vector<TrustPreview>> preview_trust(const Sources& sources);

/// Stores exactly the bytes that were shown.
Result<void> trust(const Sources& sources, const TrustPreview& preview, Time now);

/// The two workspace files, by their real paths.
std::string sandbox_md_path(const Sources& sources);
std::string workspace_settings_path(const Sources& sources);

}  // namespace cordon::config
