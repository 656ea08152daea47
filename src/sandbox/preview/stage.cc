#include "sandbox/preview/stage.h"

#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "sandbox/preview/look.h"
#include "sys/file.h"
#include "sys/tree.h"

namespace cordon::sandbox::preview {

namespace {

constexpr std::size_t chunk = 256UL * 1024;

std::string shown(std::string_view path) { return visible(path, Lines::escape); }

tl::unexpected<Error> trouble(const char* call, const std::string& path) {
  return fail(Fault::unavailable, "{} {}: {}", call, shown(path), sys::errno_text(errno));
}

struct Place {
  sys::Fd parent;
  std::string name;
};

Result<Place> place_of(const sys::Fd& base, const std::string& path) {
  auto parts = sys::split_path(path);
  return Place{TRY(sys::open_beneath(base, parts.parent, O_PATH | O_DIRECTORY)), std::move(parts.name)};
}

}  // namespace

std::string stage_name(std::string_view preview) { return fmt::format(".cordon-commit-{}", preview); }

Result<void> StageWriter::write(std::vector<Operation>& operations) {
  for (const Operation& operation : operations) {
    const bool puts = operation.what == Operation::Do::place || operation.what == Operation::Do::exchange;
    if (puts) plan(operation);
  }
  for (const Made& made : made_) {
    if (made.change->same_as.empty()) CHECK_OK(make(made));
  }
  // Other names of a file can be made when the file is there.
  for (const Made& made : made_) {
    if (!made.change->same_as.empty()) CHECK_OK(make_other_name(made));
  }
  // Innermost first: what a directory's mode keeps us out of is done before it has that mode.
  for (auto made = made_.rbegin(); made != made_.rend(); ++made) CHECK_OK(give(*made));
  for (Operation& operation : operations) {
    const auto status = TRY(sys::stat_beneath(stage_, operation.staged));
    operation.inode = status ? status->st_ino : 0;
  }
  return {};
}

void StageWriter::plan(const Operation& operation) {
  const auto first = std::ranges::lower_bound(list_.changes, operation.path, path_comes_before, &Change::path);
  for (auto change = first; change != list_.changes.end() && is_at_or_below(change->path, operation.path); ++change) {
    if (!change->after || !change->left_out.empty()) continue;
    const bool top = change->path == operation.path;
    made_.push_back({&*change, operation.staged + change->path.substr(operation.path.size()), top});
    staged_.emplace(change->path, made_.back().at);
  }
}

Result<void> StageWriter::make(const Made& made) {
  const Change& change = *made.change;
  const Place place = TRY(place_of(stage_, made.at));
  switch (change.after->kind) {
    case Kind::directory:
      if (::mkdirat(place.parent.get(), place.name.c_str(), 0700) != 0) return trouble("mkdir", change.path);
      return {};
    case Kind::link:
      if (::symlinkat(change.leads_to.c_str(), place.parent.get(), place.name.c_str()) != 0) {
        return trouble("symlink", change.path);
      }
      return {};
    case Kind::file:
      return make_file(made);
  }
  return {};
}

Result<void> StageWriter::make_file(const Made& made) {
  const Place place = TRY(place_of(stage_, made.at));
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const sys::Fd file(::openat(place.parent.get(), place.name.c_str(), flags, 0600));
  if (file.get() < 0) return trouble("create", made.change->path);
  CHECK_OK(copy_content(*made.change, file));
  return copy_attributes(*made.change, file);
}

Result<void> StageWriter::copy_content(const Change& change, const sys::Fd& file) const {
  Sha256 hash;
  std::string buffer;
  for (std::uint64_t done = 0; done < change.after->size; done += buffer.size()) {
    buffer.resize(std::min<std::uint64_t>(chunk, change.after->size - done));
    const ssize_t got = ::pread(content_.get(), buffer.data(), buffer.size(), static_cast<off_t>(change.offset + done));
    if (got <= 0) return fail(Fault::corrupt, "the kept content of {} is cut off", shown(change.path));
    buffer.resize(static_cast<std::size_t>(got));
    hash.add(buffer);
    CHECK_OK(sys::write_sparse(file, shown(change.path), buffer));
  }
  if (::ftruncate(file.get(), static_cast<off_t>(change.after->size)) != 0) return trouble("truncate", change.path);
  if (hash.finish() != *change.after->content) {
    return fail(Fault::corrupt, "the kept content of {} is not what the preview showed", shown(change.path));
  }
  return {};
}

/// A program that writes into a file leaves its attributes alone, so the new one gets them. Never those of security.*,
/// and none that an overlay would take for its own.
Result<void> StageWriter::copy_attributes(const Change& change, const sys::Fd& file) const {
  if (!change.before || change.before->kind != Kind::file) return {};
  const auto old = sys::open_beneath(root_, change.path, O_RDONLY);
  if (!old) return {};
  std::string names(64UL * 1024, '\0');
  const ssize_t length = ::flistxattr(old->get(), names.data(), names.size());
  names.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  for (std::size_t at = 0; at < names.size();) {
    const std::string name = names.c_str() + at;
    at += name.size() + 1;
    const bool wanted =
        name == "system.posix_acl_access" || (name.starts_with("user.") && !name.starts_with("user.overlay."));
    if (!wanted) continue;
    std::string value(64UL * 1024, '\0');
    const ssize_t size = ::fgetxattr(old->get(), name.c_str(), value.data(), value.size());
    if (size < 0) continue;
    if (::fsetxattr(file.get(), name.c_str(), value.data(), static_cast<std::size_t>(size), 0) != 0) {
      return trouble("set an attribute of", change.path);
    }
  }
  return {};
}

Result<void> StageWriter::make_other_name(const Made& made) {
  const Change& change = *made.change;
  const auto staged = staged_.find(change.same_as);
  if (staged != staged_.end()) {
    const Place from = TRY(place_of(stage_, staged->second));
    const Place to = TRY(place_of(stage_, made.at));
    if (::linkat(from.parent.get(), from.name.c_str(), to.parent.get(), to.name.c_str(), 0) == 0) return {};
  } else if (link_to(change.same_as, change, made.at)) {
    return {};
  }
  return make_file(made);
}

/// Another name for a file of the workspace, if it still is the one that the preview saw.
Result<void> StageWriter::link_to(const std::string& path, const Change& change, const std::string& at) {
  const sys::Fd file = TRY(sys::open_beneath(root_, path, O_RDONLY));
  const auto status = TRY(sys::stat_of(file, path));
  const Change* own = list_.find(path);
  const std::uint32_t mode = own != nullptr && own->before ? own->before->mode : change.after->mode;
  const bool same = S_ISREG(status.st_mode) && (status.st_mode & 07777U) == mode &&
                    TRY(hash_file(file, path, 0)).content == change.after->content;
  if (!same) return fail(Fault::conflict, "{} is another file", shown(path));
  const Place from = TRY(place_of(root_, path));
  const Place to = TRY(place_of(stage_, at));
  if (::linkat(from.parent.get(), from.name.c_str(), to.parent.get(), to.name.c_str(), 0) != 0) {
    return trouble("link", path);
  }
  const auto linked = TRY(sys::stat_beneath(stage_, at));
  if (linked && linked->st_ino == status.st_ino && linked->st_dev == status.st_dev) return {};
  CHECK_OK(sys::remove_tree(to.parent, to.name));
  return fail(Fault::conflict, "{} was swapped", shown(path));
}

/// Whose a new file would have been, had the command made it there.
Result<StageWriter::Owner> StageWriter::owner_of(const Change& change) const {
  if (change.before) {
    if (const auto old = TRY(sys::stat_beneath(root_, change.path))) return Owner{old->st_uid, old->st_gid, false};
  }
  const auto workspace = TRY(sys::stat_of(root_, "the workspace"));
  Owner owner{workspace.st_uid, ::geteuid() == 0 ? workspace.st_gid : ::getegid(), false};
  for (std::string above = change.path; !above.empty();) {
    above = sys::split_path(above).parent;
    const Passed* passed = list_.find_passed(above);
    if (passed == nullptr) continue;
    // Its group and this very bit are inherited.
    owner.inherits_group = (passed->mode & S_ISGID) != 0;
    if (!owner.inherits_group) break;
    const sys::Fd directory = TRY(sys::open_beneath(root_, above, O_PATH | O_DIRECTORY));
    owner.gid = TRY(sys::stat_of(directory, above)).st_gid;
    break;
  }
  return owner;
}

/// Owner and mode. A run started by root gives what it makes to the workspace's owner, so does its commit.
Result<void> StageWriter::give(const Made& made) const {
  const Change& change = *made.change;
  const Place place = TRY(place_of(stage_, made.at));
  const auto current = TRY(sys::stat_beneath(place.parent, place.name));
  if (!current) return fail(Fault::conflict, "{} vanished from the stage", shown(change.path));
  if (!change.same_as.empty() && current->st_nlink > 1) return {};  // the file's first name has given it all
  const Owner owner = TRY(owner_of(change));
  const bool as_root = ::geteuid() == 0;
  const uid_t uid = as_root ? owner.uid : current->st_uid;
  if (uid != current->st_uid || owner.gid != current->st_gid) {
    const int given = ::fchownat(place.parent.get(), place.name.c_str(), uid, owner.gid, AT_SYMLINK_NOFOLLOW);
    // A group that one is not in cannot be given; the file is then of one's own.
    if (given != 0 && as_root) return trouble("chown", change.path);
  }
  if (change.after->kind == Kind::link) return {};
  const sys::Fd file = TRY(sys::open_beneath(place.parent, place.name, O_PATH));
  std::uint32_t mode = change.after->mode & 01777U;
  if (change.after->kind == Kind::directory) {
    if (owner.inherits_group) mode |= S_ISGID;
    if (made.top) mode |= 0700;  // one that is to be moved must be writable until it is
  }
  return sys::change_mode(file, mode, shown(change.path));
}

}  // namespace cordon::sandbox::preview
