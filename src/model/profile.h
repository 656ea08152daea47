// What a run is made of: the program, what it sees of the machine, and how much it may use. `plan/` makes one; it is
// hashed into the plan's digest, recorded, and then the only thing a sandbox is told.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/digest.h"

namespace cordon {

/// A file as it was when the plan was frozen. A change of content moves ctime, which only root can forge, so a file
/// that still has all five is the one whose content was hashed. That does not hold where the sandbox may write to it
/// (stores through a mapping move ctime late), nor where it is seen through an overlay or a copy (another device and
/// inode): there the content is hashed again, inside the sandbox.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;
  std::optional<Digest> content;  // without it, the five must be the same
  bool operator==(const FileIdentity&) const = default;
};

/// Either an argv that is executed as it is, or text for the sandbox's own bash.
struct Program {
  std::vector<std::string> argv;          // argv[0] without a slash is looked up on the sandbox's PATH
  std::optional<std::string> shell_text;  // `bash --norc --noprofile -c TEXT`; argv then holds $0, $1 …
  /// Of argv[0]'s file, or of bash with `shell_text`; compared inside the new root, after the pivot. A `#!` file is
  /// then executed by its path, because its interpreter opens it by name; everything else by the descriptor that was
  /// compared.
  std::optional<FileIdentity> expected;
  /// It writes one byte when it is up, and does nothing before its first input: where sandboxes are kept ready, it may
  /// be started ahead in one.
  bool waits_for_input = false;
  bool operator==(const Program&) const = default;
};

enum class WorkspaceAccess { none, ro, rw, overlay };
const char* name_of(WorkspaceAccess access);

/// The directory of the work. It appears at its own path and at /agent (ro) or /workspace (rw, overlay).
struct Workspace {
  std::string path;  // absolute, resolved; empty with `none`
  WorkspaceAccess access = WorkspaceAccess::none;
  std::string upper;  // overlay: where changes are kept; empty: in memory, gone with the run
  /// Overlay in memory: what the run left there is handed to `Io::left` before it goes.
  bool handed_over = false;

  /// Read-only inside a writable workspace, relative to `path`. What does not exist is held by a placeholder.
  std::vector<std::string> protected_paths;
  /// Not readable either (credential files); relative to `path`.
  std::vector<std::string> hidden_paths;
  bool operator==(const Workspace&) const = default;
};

struct Bind {
  std::string source;  // absolute, resolved
  std::string target;  // absolute inside the sandbox
  enum class Access { ro, rw } access = Access::ro;
  bool operator==(const Bind&) const = default;
};

/// 0 means: no limit of this kind.
struct Limits {
  std::uint64_t wall_ms = 60'000;
  std::uint64_t cpu_ms = 0;                 // summed over the whole tree
  std::uint64_t memory_bytes = 1ULL << 30;  // whole tree, files in memory included
  std::uint64_t pids = 256;
  std::uint64_t file_bytes = 1ULL << 30;  // one file
  std::uint64_t disk_bytes = 1ULL << 30;  // all that one run writes: memory file systems, session, rw workspace
  std::uint64_t inodes = 200'000;
  std::uint64_t open_files = 1024;
  std::uint64_t output_bytes = 1ULL << 20;          // kept of each stream; the rest is drained, counted and dropped
  std::uint64_t output_kill_bytes = 1ULL << 30;     // of both streams: beyond it the run is ended, reason `output`
  double cpus = 0;                                  // share of processors, e.g. 1.5
  std::uint64_t connections = 1024;                 // through the network proxy at once; more wait
  std::uint64_t network_bytes = 16ULL << 30;        // through the network proxy, both directions together
  std::uint64_t connection_ms = 12ULL * 3'600'000;  // how long one connection through it may last
  bool operator==(const Limits&) const = default;
};

enum class Network {
  none,      // an empty network namespace, not even loopback is up
  loopback,  // 127.0.0.1 and ::1 of its own
  rules,     // the same, and on it a proxy that leads to the hosts of Profile::network_rules
};
const char* name_of(Network network);

/// A container that is kept ends by itself when nobody came for so long, or when it is so old and nobody is there.
struct KeptTimes {
  std::uint64_t idle_ms = 15ULL * 60'000;
  std::uint64_t age_ms = 6ULL * 3'600'000;
  bool operator==(const KeptTimes&) const = default;
};

/// The files that steps of one piece of work share. Without a directory they live in memory and go with the run.
struct SessionDirectory {
  std::string path;  // on the host, 0700, ours: holds home/ and tmp/
  /// Where HOME is inside: the user's own path, so that `~` means there what it meant when the command was judged. The
  /// files are the session's, not the user's. Empty: /home/sandboxuser, where it always is too.
  std::string home;
  std::string git_name;  // for the generated ~/.gitconfig
  std::string git_email;
  /// Its files are seen as they are, and what a run does to them goes with the run.
  bool throwaway = false;
  bool operator==(const SessionDirectory&) const = default;
};

enum class Input {
  closed,  // an empty stdin
  given,   // from Io
};

enum class Level { L0, L1, L2, L3, L4 };
/// L0 everything; L1 no cgroup or no Landlock; L2 no /proc of its own; L3 root's namespaces without a user namespace;
/// L4 Landlock and seccomp without namespaces.
const char* name_of(Level level);
std::optional<Level> level_named(std::string_view name);

struct Profile {
  Program program;
  std::string cwd;  // absolute inside the sandbox; empty: workspace, else HOME
  std::vector<std::pair<std::string, std::string>> environment;  // beyond the short fixed list (HOME, PATH, …)
  Workspace workspace;
  std::vector<Bind> binds;
  Limits limits;
  Network network = Network::none;
  std::vector<std::string> network_rules;  // "example.com", "*.example.com:443": docs/network.md
  std::vector<std::uint16_t> published;    // ports inside that are reached from the host's loopback
  SessionDirectory session;
  Input input = Input::closed;
  bool tty = false;                // a pty of its own as stdin, stdout and stderr
  bool report_violations = false;  // which call or path was denied; costs a little per denied call
  Level require = Level::L2;       // anything weaker is refused
  std::string backend;             // which one the plan was made for; empty: native
  std::string image;               // docker: the id of the image that is the root, and so all that is in it
  std::string image_user;          // docker: "UID" or "UID:GID"; empty: chosen so that the workspace can be used
  KeptTimes kept;                  // docker
  bool operator==(const Profile&) const = default;
};

}  // namespace cordon
