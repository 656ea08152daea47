#include "sandbox/preview/still.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "sandbox/preview/look.h"
#include "sys/file.h"
#include "sys/tree.h"

namespace cordon::sandbox::preview {

namespace {

constexpr std::size_t most_conflicts = 100;

std::string shown(std::string_view path) { return visible(path, Lines::escape); }

bool stays_directory(const Change& change) {
  return change.before && change.after && change.before->kind == Kind::directory &&
         change.after->kind == Kind::directory;
}

std::string join(const std::string& directory, const std::string& name) {
  return directory.empty() ? name : directory + "/" + name;
}

}  // namespace

const Change* decided_by(const ChangeList& list, std::string_view path) {
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
    const Change* above = list.find(path.substr(0, slash));
    if (above != nullptr && !stays_directory(*above)) return above;
  }
  return nullptr;
}

Result<std::string> Still::wrong_parents(const std::string& path) const {
  std::string at;
  for (std::size_t slash = 0; slash != std::string::npos;) {
    const Passed* passed = list_.find_passed(at);
    if (passed == nullptr) return fail(Fault::corrupt, "a stored preview does not say what {} was", shown(at));
    const auto directory = sys::open_beneath(root_, at, O_PATH | O_DIRECTORY);
    if (!directory) return fmt::format("{}: the directory is gone or another one", shown(at.empty() ? "." : at));
    const auto status = TRY(sys::stat_of(*directory, at));
    if (status.st_dev != passed->device || status.st_ino != passed->inode) {
      return fmt::format("{}: the directory is another one", shown(at.empty() ? "." : at));
    }
    slash = path.find('/', at.empty() ? 0 : at.size() + 1);
    if (slash != std::string::npos) at = path.substr(0, slash);
  }
  return std::string();
}

Result<std::string> Still::wrong_node(const Change& change, const sys::Fd& directory, const std::string& name,
                                      Strictness strictness) const {
  struct stat status {};
  if (::fstatat(directory.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT ? fmt::format("{}: it is gone", shown(change.path))
                           : fmt::format("{}: {}", shown(change.path), sys::errno_text(errno));
  }
  const Node now = node_of(status);
  const FileIdentity identity = identity_of(status);
  const bool same_file = identity.device == change.was.device && identity.inode == change.was.inode;
  // A directory that is to be moved is made writable for it.
  const bool may_be_wider = now.kind == Kind::directory && strictness == Strictness::moved;
  const std::uint32_t ignored = may_be_wider ? 0700U : 0U;
  if (now.kind != change.before->kind || (now.mode | ignored) != (change.before->mode | ignored)) {
    return fmt::format("{}: it is of another kind or mode", shown(change.path));
  }
  if (now.kind == Kind::directory) return same_file ? "" : fmt::format("{}: another directory", shown(change.path));
  const bool same_times = same_file && identity.size == change.was.size && identity.mtime_ns == change.was.mtime_ns;
  if (same_times && identity.ctime_ns == change.was.ctime_ns) return std::string();
  if (!same_file) return fmt::format("{}: it is another file", shown(change.path));
  // Touched: only the same content will do.
  if (now.size == change.before->size && change.before->content) {
    Digest content;
    if (now.kind == Kind::link) {
      content = sha256(TRY(sys::link_target(directory, name)));
    } else {
      const auto file = sys::open_beneath(directory, name, O_RDONLY);
      if (!file) return fmt::format("{}: it cannot be read any more", shown(change.path));
      content = TRY(hash_file(*file, change.path, 0)).content;
    }
    if (content == *change.before->content) return std::string();
    return fmt::format("{}: its content changed", shown(change.path));
  }
  if (strictness == Strictness::moved && same_times) return std::string();
  return fmt::format("{}: it changed", shown(change.path));
}

/// Everything that was in a directory that goes must be known, and nothing may have come.
Result<std::string> Still::wrong_below(const Change& change, const sys::Fd& directory, const std::string& name,
                                       Strictness strictness) const {
  const sys::Fd inner = TRY(sys::open_beneath(directory, name, O_PATH | O_DIRECTORY));
  const auto names = TRY(sys::names_in(inner, shown(change.path), 1'000'000));
  const auto first = std::ranges::upper_bound(list_.changes, change.path, path_comes_before, &Change::path);
  for (const std::string& below : names) {
    const Change* known = list_.find(join(change.path, below));
    if (known == nullptr || !known->before) return fmt::format("{}: it is new", shown(join(change.path, below)));
    std::string why = TRY(wrong(*known, inner, below, strictness));
    if (!why.empty()) return why;
  }
  for (auto next = first; next != list_.changes.end() && is_at_or_below(next->path, change.path); ++next) {
    const auto parts = sys::split_path(next->path);
    if (parts.parent != change.path || !next->before) continue;
    if (!std::ranges::binary_search(names, parts.name)) return fmt::format("{}: it is gone", shown(next->path));
  }
  return std::string();
}

Result<std::string> Still::wrong(const Change& change, const sys::Fd& directory, const std::string& name,
                                 Strictness strictness) const {
  std::string why = TRY(wrong_node(change, directory, name, strictness));
  if (!why.empty() || change.before->kind != Kind::directory || stays_directory(change)) return why;
  return wrong_below(change, directory, name, strictness);
}

Result<std::vector<std::string>> Still::conflicts() const {
  std::vector<std::string> found;
  for (const Change& change : list_.changes) {
    if (found.size() >= most_conflicts) {
      found.emplace_back("and more");
      break;
    }
    if (!change.left_out.empty() || decided_by(list_, change.path) != nullptr) continue;
    std::string why = TRY(wrong_parents(change.path));
    if (!why.empty()) {
      found.push_back(std::move(why));
      continue;
    }
    const auto parts = sys::split_path(change.path);
    const sys::Fd parent = TRY(sys::open_beneath(root_, parts.parent, O_PATH | O_DIRECTORY));
    if (change.before) {
      why = TRY(wrong(change, parent, parts.name, Strictness::untouched));
    } else if (TRY(sys::stat_beneath(parent, parts.name))) {
      why = fmt::format("{}: something is there now", shown(change.path));
    }
    if (!why.empty()) found.push_back(std::move(why));
  }
  return found;
}

}  // namespace cordon::sandbox::preview
