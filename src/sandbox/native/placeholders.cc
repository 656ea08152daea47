#include "sandbox/native/placeholders.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/json.h"
#include "sys/file.h"
#include "sys/liveness.h"

namespace cordon::sandbox::native {

namespace fs = std::filesystem;

namespace {

sys::Fd open_strictly(int directory, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return sys::Fd(static_cast<int>(::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how)));
}

struct Split {
  std::string parent;  // "." at the top
  std::string name;
};
Split split(const std::string& path) {
  auto slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

std::vector<std::string> ancestors_of(const std::string& path) {
  std::vector<std::string> ancestors;
  for (auto slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    ancestors.push_back(path.substr(0, slash));
  }
  return ancestors;
}

/// "a//b/./c/" → "a/b/c"; nothing if it leaves the workspace or is it.
std::optional<std::string> tidy(const std::string& path) {
  std::string result = fs::path(path).lexically_normal().string();
  while (result.ends_with('/')) result.pop_back();
  if (result.empty() || result == "." || result.starts_with("/") || result == ".." || result.starts_with("../"))
    return std::nullopt;
  return result;
}

std::string journal_root(const std::string& state_directory) { return state_directory + "/placeholders"; }

/// One directory for each placeholder: `entry` says what and where, every other file is one run that holds it.
std::string journal_name(const std::string& path) {
  std::size_t hash = std::hash<std::string>()(path);
  return fmt::format("{:016x}", hash);
}

struct Entry {
  std::string path;
  bool directory = false;
};

/// Before the placeholder is made. Not synced: it is there for runs that are killed, and a machine that lost its power
/// may keep an empty placeholder. Not replaced atomically: killed in between, there is nothing to sweep yet.
Result<void> write_entry(const std::string& journal, const Entry& entry) {
  const std::string path = journal + "/entry";
  const sys::Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.get() < 0) return fail(Fault::unavailable, "cannot write {}: {}", path, std::strerror(errno));
  const Json json{{"path", entry.path}, {"directory", entry.directory}};
  return sys::write_all(file, path, json.dump());
}

std::optional<Entry> read_entry(const std::string& journal) {
  auto text = sys::read_file(journal + "/entry", 65536);
  if (!text) return std::nullopt;
  Json json = parse_json(*text);
  if (!json.is_object()) return std::nullopt;
  return Entry{json.value("path", ""), json.value("directory", false)};
}

/// Under the journal's lock: removes holders that are dead; true if nobody is left.
bool unheld(const std::string& journal) {
  std::error_code error;
  bool held = false;
  for (const auto& item : fs::directory_iterator(journal, error)) {
    const std::string name = item.path().filename();
    if (!name.starts_with("by-")) continue;
    if (sys::is_alive(name.substr(3, name.rfind('-') - 3))) {
      held = true;
    } else {
      fs::remove(item.path(), error);
    }
  }
  return !held;
}

/// Removes the placeholder if it still is empty, as we made it: what someone put there stays.
void sweep(const std::string& journal) {
  auto entry = read_entry(journal);
  std::error_code error;
  struct stat status {};
  if (entry && ::lstat(entry->path.c_str(), &status) == 0) {
    if (entry->directory && S_ISDIR(status.st_mode)) ::rmdir(entry->path.c_str());
    if (!entry->directory && S_ISREG(status.st_mode) && status.st_size == 0) ::unlink(entry->path.c_str());
  }
  fs::remove_all(journal, error);
}

std::string holder_name() {
  static std::atomic<unsigned> counter{0};
  return fmt::format("by-{}-{}", sys::own_liveness(), counter.fetch_add(1));
}

/// Makes the placeholder, or joins those who hold it.
Result<std::string> hold(const std::string& state_directory, int parent, const std::string& name, const Entry& wanted,
                         bool exists) {
  const std::string journal = journal_root(state_directory) + "/" + journal_name(wanted.path);
  if (exists && !fs::exists(journal)) return std::string();
  CHECK_OK(sys::ensure_private_directory(journal));
  const std::string holder = journal + "/" + holder_name();
  CHECK_OK(sys::create_file(holder, "", 0600));
  if (exists) return holder;
  CHECK_OK(write_entry(journal, wanted));
  int made = wanted.directory
                 ? ::mkdirat(parent, name.c_str(), 0755)
                 : ::openat(parent, name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (made < 0)
    return fail(Fault::conflict, "placeholder for protected path {}: {}", wanted.path, std::strerror(errno));
  if (!wanted.directory) ::close(made);
  return holder;
}

}  // namespace

Result<PlaceholderHold> PlaceholderHold::take(const Workspace& workspace, const std::string& state_directory) {
  PlaceholderHold result;
  result.workspace_ = workspace.path;
  result.state_directory_ = state_directory;
  sys::Fd root(::open(workspace.path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (root.get() < 0) return fail(Fault::invalid_input, "workspace {}: {}", workspace.path, std::strerror(errno));
  std::optional<sys::FileLock> lock;
  if (!state_directory.empty()) {
    CHECK_OK(sys::ensure_private_directory(journal_root(state_directory)));
    lock = TRY(sys::FileLock::take(journal_root(state_directory) + "/lock"));
  }
  auto protect = [&](const std::string& given, bool hidden) -> Result<void> {
    auto path = tidy(given);
    if (!path) return fail(Fault::invalid_input, "protected path '{}' is not inside the workspace", given);
    const bool wants_directory = given.ends_with('/');
    Split parts = split(*path);
    sys::Fd parent = open_strictly(root.get(), parts.parent, O_PATH | O_DIRECTORY);
    struct stat status {};
    const bool reachable = parent.get() >= 0;
    const bool exists = reachable && ::fstatat(parent.get(), parts.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (hidden && !exists) return {};
    // Nothing can be mounted on a link, and without its directory there is nothing to hold: looked at after the run.
    if (!reachable || (exists && S_ISLNK(status.st_mode))) {
      std::error_code error;
      std::string link = exists ? fs::read_symlink(workspace.path + "/" + *path, error).string() : "";
      result.watched_.push_back({*path, link});
      return {};
    }
    if (!exists && state_directory.empty()) {
      return fail(Fault::unavailable,
                  "protected path {} is missing and there is no state directory to journal a placeholder", *path);
    }
    if (!state_directory.empty()) {
      std::string holder =
          TRY(hold(state_directory, parent.get(), parts.name, {workspace.path + "/" + *path, wants_directory}, exists));
      if (!holder.empty()) result.held_.push_back(holder);
    }
    const bool directory = exists ? S_ISDIR(status.st_mode) : wants_directory;
    result.paths_.push_back({ancestors_of(*path), *path, hidden, directory});
    return {};
  };
  for (const std::string& path : workspace.protected_paths) CHECK_OK(protect(path, false));
  for (const std::string& path : workspace.hidden_paths) CHECK_OK(protect(path, true));
  return result;
}

Result<void> PlaceholderHold::also_for(const std::string& mark) const {
  for (const std::string& holder : held_) {
    const std::string other = fmt::format("{}/by-{}-kept", fs::path(holder).parent_path().string(), mark);
    std::error_code error;
    if (!fs::exists(other, error)) CHECK_OK(sys::create_file(other, "", 0600));
  }
  return {};
}

PlaceholderHold::~PlaceholderHold() { release(); }

std::vector<Quarantined> PlaceholderHold::release() {
  std::vector<Quarantined> moved;
  if (state_directory_.empty() || (held_.empty() && watched_.empty())) return moved;
  auto lock = sys::FileLock::take(journal_root(state_directory_) + "/lock");
  std::error_code error;
  for (const std::string& holder : held_) {
    fs::remove(holder, error);
    const std::string journal = fs::path(holder).parent_path();
    if (unheld(journal)) sweep(journal);
  }
  held_.clear();
  sys::Fd root(::open(workspace_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (const Watched& item : watched_) {
    Split parts = split(item.path);
    sys::Fd parent = open_strictly(root.get(), parts.parent, O_PATH | O_DIRECTORY);
    struct stat status {};
    if (parent.get() < 0 || ::fstatat(parent.get(), parts.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!item.link.empty() && S_ISLNK(status.st_mode) &&
        fs::read_symlink(workspace_ + "/" + item.path, error) == item.link)
      continue;
    const std::string store = state_directory_ + "/quarantine";
    if (!sys::ensure_private_directory(store)) continue;
    static std::atomic<unsigned> counter{0};
    const std::string kept = fmt::format("{}/{}-{}-{}", store, sys::own_liveness(), counter.fetch_add(1), parts.name);
    // Renamed, never copied: what a sandbox made is not read on the way. Across file systems it is renamed in place.
    if (::renameat(parent.get(), parts.name.c_str(), AT_FDCWD, kept.c_str()) == 0) {
      moved.push_back({item.path, kept});
    } else {
      const std::string beside = parts.name + ".cordon-quarantined";
      if (::renameat(parent.get(), parts.name.c_str(), parent.get(), beside.c_str()) == 0) {
        moved.push_back({item.path, workspace_ + "/" + parts.parent + "/" + beside});
      }
    }
  }
  watched_.clear();
  return moved;
}

void sweep_placeholders(const std::string& state_directory) {
  const std::string root = journal_root(state_directory);
  std::error_code error;
  if (!fs::exists(root, error)) return;
  auto lock = sys::FileLock::take(root + "/lock");
  if (!lock) return;
  std::vector<std::string> journals;
  for (const auto& item : fs::directory_iterator(root, error)) {
    if (item.is_directory(error)) journals.push_back(item.path());
  }
  for (const std::string& journal : journals) {
    if (unheld(journal)) sweep(journal);
  }
}

}  // namespace cordon::sandbox::native
