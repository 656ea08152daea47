#include "sandbox/native/placeholders.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "sandbox/native/placeholder_journal.h"
#include "sandbox/native/reach.h"
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

/// `parent` is the directory it goes into.
Result<void> make(int parent, const std::string& name, const Placeholder& wanted) {
  const int made = wanted.directory
                       ? ::mkdirat(parent, name.c_str(), 0755)
                       : ::openat(parent, name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (made < 0)
    return fail(Fault::conflict, "placeholder for protected path {}: {}", wanted.path, std::strerror(errno));
  if (!wanted.directory) ::close(made);
  return {};
}

/// One that is missing, and the directory that it belongs in.
struct Missing {
  sys::Fd parent;
  std::string name;
  Placeholder placeholder;
};

}  // namespace

Result<PlaceholderHold> PlaceholderHold::take(const Workspace& workspace, const std::string& state_directory) {
  PlaceholderHold result;
  result.workspace_ = workspace.path;
  result.state_directory_ = state_directory;
  sys::Fd root(::open(workspace.path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (root.get() < 0) return fail(Fault::invalid_input, "workspace {}: {}", workspace.path, std::strerror(errno));
  std::optional<PlaceholderJournal> journal;
  if (!state_directory.empty()) journal = TRY(PlaceholderJournal::open(state_directory));
  std::vector<Missing> missing;
  std::vector<Placeholder> held;
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
    if (!exists && !journal) {
      return fail(Fault::unavailable,
                  "protected path {} is missing and there is no state directory to journal a placeholder", *path);
    }
    const Placeholder placeholder{workspace.path + "/" + *path, wants_directory};
    if (!exists || (journal && journal->holds(placeholder.path))) held.push_back(placeholder);
    if (!exists) missing.push_back({std::move(parent), parts.name, placeholder});
    const bool directory = exists ? S_ISDIR(status.st_mode) : wants_directory;
    result.paths_.push_back({ancestors_of(*path), *path, hidden, directory, false});
    return {};
  };
  for (const std::string& path : workspace.protected_paths) CHECK_OK(protect(path, false));
  for (const std::string& path : workspace.hidden_paths) CHECK_OK(protect(path, true));
  if (!held.empty()) result.held_as_ = TRY(journal->enter(held));
  // Released by the destructor, which waits for the journal itself.
  auto make_missing = [&]() -> Result<void> {
    for (const Missing& item : missing) CHECK_OK(make(item.parent.get(), item.name, item.placeholder));
    return {};
  };
  const auto made = make_missing();
  journal.reset();
  if (!made) return tl::make_unexpected(made.error());
  return result;
}

Result<void> PlaceholderHold::also_for(const std::string& mark) const {
  if (held_as_.empty()) return {};
  PlaceholderJournal journal = TRY(PlaceholderJournal::open(state_directory_));
  return journal.share(held_as_, mark);
}

PlaceholderHold::~PlaceholderHold() { release(); }

std::vector<Quarantined> PlaceholderHold::release() {
  std::vector<Quarantined> moved = quarantine();
  sweep();
  return moved;
}

void PlaceholderHold::sweep() {
  if (held_as_.empty()) return;
  if (auto journal = PlaceholderJournal::open(state_directory_)) journal->leave(held_as_);
  held_as_.clear();
}

std::vector<Quarantined> PlaceholderHold::quarantine() {
  std::vector<Quarantined> moved;
  if (state_directory_.empty() || watched_.empty()) return moved;
  // One at a time: two runs that end together must not take each other's.
  const auto journal = PlaceholderJournal::open(state_directory_);
  std::error_code error;
  Reach reach;
  for (const Watched& item : watched_) {
    Split parts = split(item.path);
    const sys::Fd parent = reach.directory(workspace_ + "/" + parts.parent);
    struct stat status {};
    if (parent.get() < 0 || !reach.stat(parent.get(), parts.name, status)) continue;
    if (!item.link.empty() && S_ISLNK(status.st_mode) &&
        fs::read_symlink(workspace_ + "/" + item.path, error) == item.link)
      continue;
    const std::string store = state_directory_ + "/quarantine";
    if (!sys::ensure_private_directory(store)) continue;
    static std::atomic<unsigned> counter{0};
    const std::string kept = fmt::format("{}/{}-{}-{}", store, sys::own_liveness(), counter.fetch_add(1), parts.name);
    // Renamed, never copied: what a sandbox made is not read on the way. Across file systems it is renamed in place.
    if (reach.rename(parent.get(), parts.name, AT_FDCWD, kept)) {
      moved.push_back({item.path, kept});
    } else {
      const std::string beside = parts.name + ".cordon-quarantined";
      if (reach.rename(parent.get(), parts.name, parent.get(), beside)) {
        moved.push_back({item.path, workspace_ + "/" + parts.parent + "/" + beside});
      }
    }
  }
  watched_.clear();
  return moved;
}

Result<std::vector<ProtectedPath>> protected_in_overlay(const Workspace& workspace) {
  std::vector<ProtectedPath> paths;
  sys::Fd root(::open(workspace.path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (root.get() < 0) return fail(Fault::invalid_input, "workspace {}: {}", workspace.path, std::strerror(errno));
  auto protect = [&](const std::string& given, bool hidden) -> Result<void> {
    const auto path = tidy(given);
    if (!path) return fail(Fault::invalid_input, "protected path '{}' is not inside the workspace", given);
    const Split parts = split(*path);
    const sys::Fd parent = open_strictly(root.get(), parts.parent, O_PATH | O_DIRECTORY);
    struct stat status {};
    if (parent.get() < 0) return {};
    const bool exists = ::fstatat(parent.get(), parts.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
    if ((hidden && !exists) || (exists && S_ISLNK(status.st_mode))) return {};
    const bool directory = exists ? S_ISDIR(status.st_mode) : given.ends_with('/');
    paths.push_back({ancestors_of(*path), *path, hidden, directory, !exists});
    return {};
  };
  for (const std::string& path : workspace.protected_paths) CHECK_OK(protect(path, false));
  for (const std::string& path : workspace.hidden_paths) CHECK_OK(protect(path, true));
  return paths;
}

void sweep_placeholders(const std::string& state_directory) {
  std::error_code error;
  if (!fs::exists(state_directory + "/placeholders", error)) return;
  if (auto journal = PlaceholderJournal::open(state_directory)) journal->sweep();
}

}  // namespace cordon::sandbox::native
