#include "sandbox/preview/collect.h"

#include <fcntl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "base/text.h"
#include "sandbox/preview/look.h"
#include "sys/file.h"
#include "sys/tree.h"

namespace cordon::sandbox::preview {

namespace {

constexpr std::size_t chunk = 256UL * 1024;
constexpr const char* opaque_mark = "user.overlay.opaque";
constexpr std::string_view staging_prefix = ".cordon-commit-";

/// What overlayfs leaves where something of the lower layer was deleted.
bool is_whiteout(const struct stat& status) { return S_ISCHR(status.st_mode) && status.st_rdev == makedev(0, 0); }

bool is_special(const struct stat& status) {
  return !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode) && !S_ISLNK(status.st_mode);
}

const char* special_name(const struct stat& status) {
  if (S_ISFIFO(status.st_mode)) return "a named pipe";
  if (S_ISSOCK(status.st_mode)) return "a socket";
  return "a device";
}

std::string shown(std::string_view path) { return visible(path, Lines::escape); }

class Collector {
 public:
  Collector(const Layers& layers, const CollectLimits& limits, const Sink& keep)
      : layers_(layers), limits_(limits), keep_(keep), diff_room_(limits.diff_bytes) {
    for (std::string path : layers.protected_paths) {
      while (path.ends_with('/')) path.pop_back();
      protected_.push_back(std::move(path));
    }
  }

  Result<ChangeList> run() {
    CHECK_OK(pass(""));
    std::vector<Visit> open = {{"", true, false}};
    while (!open.empty()) {
      const Visit visit = std::move(open.back());
      open.pop_back();
      CHECK_OK(look_into(visit, open));
    }
    sort();
    prefer_old_names();
    note_other_names();
    return std::move(list_);
  }

 private:
  struct Visit {
    std::string path;
    bool over_lower;  // a directory of the workspace lies beneath it
    bool replaced;    // and what is in that one is not seen through it
  };

  static std::string join(const std::string& directory, const std::string& name) {
    return directory.empty() ? name : directory + "/" + name;
  }

  /// A directory of the workspace on the way to something.
  Result<void> pass(const std::string& path) {
    const sys::Fd directory = TRY(sys::open_beneath(layers_.lower, path, O_PATH | O_DIRECTORY));
    const auto status = TRY(sys::stat_of(directory, path));
    list_.passed.push_back({path, status.st_dev, status.st_ino, status.st_mode & 07777U});
    return {};
  }

  Result<void> look_into(const Visit& visit, std::vector<Visit>& open) {
    const sys::Fd directory = TRY(open_readable(visit.path, O_PATH | O_DIRECTORY));
    // One made inside an opaque directory is as opaque, and does not say so itself.
    const bool replaced = visit.replaced || sys::attribute_of(directory, opaque_mark) == "y";
    const std::vector<std::string> names = TRY(sys::names_in(directory, shown(visit.path), limits_.changes));
    for (const std::string& name : names) {
      const std::string path = join(visit.path, name);
      if (!is_proper_path(path)) {
        return fail(Fault::unavailable, "{} is nested too deeply or too long", shown(path.substr(0, 200)));
      }
      CHECK_OK(look_at(directory, name, {path, visit.over_lower, replaced}, open));
    }
    if (!replaced || !visit.over_lower) return {};
    const sys::Fd lower = TRY(sys::open_beneath(layers_.lower, visit.path, O_PATH | O_DIRECTORY));
    for (const std::string& name : TRY(sys::names_in(lower, shown(visit.path), limits_.changes))) {
      if (!std::ranges::binary_search(names, name)) CHECK_OK(deleted(join(visit.path, name)));
    }
    return {};
  }

  Result<void> look_at(const sys::Fd& directory, const std::string& name, const Visit& at, std::vector<Visit>& open) {
    struct stat status {};
    if (::fstatat(directory.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      return fail(Fault::unavailable, "stat {}: {}", shown(at.path), sys::errno_text(errno));
    }
    const auto beneath = at.over_lower ? TRY(sys::stat_beneath(layers_.lower, at.path)) : std::optional<struct stat>();
    if (is_whiteout(status)) return beneath ? deleted(at.path) : Result<void>();
    if (is_placeholder(at.path, status, beneath.has_value())) return {};
    const bool was_directory = beneath && S_ISDIR(beneath->st_mode);
    if (S_ISDIR(status.st_mode)) {
      if (was_directory) CHECK_OK(pass(at.path));
      open.push_back({at.path, was_directory, at.replaced});
    } else if (was_directory) {
      CHECK_OK(deleted_below(at.path));
    }
    Change change{.path = at.path};
    if (beneath) CHECK_OK(describe_before(change, *beneath));
    return changed(directory, name, std::move(change), status);
  }

  Result<void> changed(const sys::Fd& directory, const std::string& name, Change change, const struct stat& status) {
    if (is_special(status)) {
      change.after = Node{};
      change.left_out = fmt::format("it is {}, which a commit does not make", special_name(status));
      return add(std::move(change));
    }
    change.after = node_of(status);
    Node& after = *change.after;
    std::string text;
    if (after.kind == Kind::link) {
      change.leads_to = TRY(sys::link_target(directory, name));
      after.size = change.leads_to.size();
      after.content = sha256(change.leads_to);
    }
    if (after.kind == Kind::file) CHECK_OK(take_content(status, change, text));
    const bool same_kind = change.before && change.before->kind == after.kind;
    const bool same_mode = same_kind && change.before->mode == after.mode;
    if (!same_mode) after.mode &= 01777U;  // never setuid or setgid
    if (after.kind == Kind::directory) return same_mode ? Result<void>() : add(std::move(change));
    const auto before = after.kind == Kind::file && same_kind ? TRY(read_before(change)) : std::optional<std::string>();
    if (same_mode && change.same_as.empty() && !change.is_content_changed()) return {};
    after.mode &= 01777U;  // nor are they kept by what has other content
    const bool comparable = !same_kind || (before && change.is_content_changed());
    if (after.kind == Kind::file && change.same_as.empty() && comparable) compare(change, before.value_or(""), text);
    return add(std::move(change));
  }

  Result<void> describe_before(Change& change, const struct stat& beneath) {
    change.before = node_of(beneath);
    change.was = identity_of(beneath);
    change.names = S_ISDIR(beneath.st_mode) ? 1 : beneath.st_nlink;
    if (!S_ISDIR(beneath.st_mode) && change.was.ctime_ns > layers_.begun_ns) {
      return fail(Fault::conflict, "{} was changed by somebody else while the command ran", shown(change.path));
    }
    if (S_ISLNK(beneath.st_mode)) {
      const auto parts = sys::split_path(change.path);
      const sys::Fd parent = TRY(sys::open_beneath(layers_.lower, parts.parent, O_PATH | O_DIRECTORY));
      change.before->content = sha256(TRY(sys::link_target(parent, parts.name)));
    }
    return {};
  }

  /// Hashes the file, hands it on, and keeps the text of one that is small enough to be compared.
  Result<void> take_content(const struct stat& status, Change& change, std::string& text) {
    Node& after = *change.after;
    const auto key = std::pair(status.st_dev, status.st_ino);
    if (const auto first = seen_.find(key); status.st_nlink > 1 && first != seen_.end()) {
      change.same_as = first->second.path;
      change.offset = first->second.offset;
      after.content = first->second.content;
      return {};
    }
    if (after.size > limits_.content_bytes - std::min(limits_.content_bytes, offset_)) {
      return fail(Fault::unavailable, "its files are larger than {} bytes together", limits_.content_bytes);
    }
    change.offset = offset_;
    const std::string path = shown(change.path);
    const sys::Fd file = TRY(open_readable(change.path, O_RDONLY));
    Sha256 hash;
    std::uint64_t total = 0;
    std::string buffer(chunk, '\0');
    for (;;) {
      const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return fail(Fault::unavailable, "read {}: {}", path, sys::errno_text(errno));
      if (got == 0) break;
      const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
      total += bytes.size();
      if (total > after.size) return fail(Fault::unavailable, "{} is still being written", path);
      hash.add(bytes);
      if (keep_) CHECK_OK(keep_(bytes));
      if (after.size <= limits_.diff.input_bytes) text += bytes;
    }
    if (total != after.size) return fail(Fault::unavailable, "{} is still being written", path);
    after.content = hash.finish();
    offset_ += after.size;
    if (status.st_nlink > 1) seen_.emplace(key, Seen{change.path, change.offset, *after.content});
    return {};
  }

  void compare(Change& change, const std::string& before, const std::string& text) {
    if (change.after->size > limits_.diff.input_bytes) return;
    DiffLimits limits = limits_.diff;
    limits.output_bytes = std::min(limits.output_bytes, diff_room_);
    change.diff = diff(before, text, limits);
    if (change.diff) diff_room_ -= change.diff->text.size();
  }

  /// The bytes, where they are few enough to be compared. What may be unchanged is hashed; what we may not read is
  /// known by its identity alone.
  Result<std::optional<std::string>> read_before(Change& change) {
    const bool small = change.before->size <= limits_.diff.input_bytes;
    if (!small && change.before->size != change.after->size) return std::optional<std::string>();
    const auto file = sys::open_beneath(layers_.lower, change.path, O_RDONLY);
    if (!file) return std::optional<std::string>();
    auto looked = TRY(hash_file(*file, shown(change.path), limits_.diff.input_bytes));
    change.before->content = looked.content;
    return std::move(looked.text);
  }

  Result<void> deleted(const std::string& path) {
    const auto beneath = TRY(sys::stat_beneath(layers_.lower, path));
    if (!beneath) return {};
    Change change{.path = path};
    CHECK_OK(describe_before(change, *beneath));
    CHECK_OK(add(std::move(change)));
    return S_ISDIR(beneath->st_mode) ? deleted_below(path) : Result<void>();
  }

  Result<void> deleted_below(const std::string& top) {
    std::vector<std::string> open = {top};
    while (!open.empty()) {
      const std::string path = std::move(open.back());
      open.pop_back();
      const sys::Fd directory = TRY(sys::open_beneath(layers_.lower, path, O_PATH | O_DIRECTORY));
      for (const std::string& name : TRY(sys::names_in(directory, shown(path), limits_.changes))) {
        Change change{.path = join(path, name)};
        if (!is_proper_path(change.path)) return fail(Fault::unavailable, "{} is nested too deeply", shown(path));
        const auto beneath = TRY(sys::stat_beneath(layers_.lower, change.path));
        if (!beneath) return fail(Fault::conflict, "{} changed while the command ran", shown(change.path));
        CHECK_OK(describe_before(change, *beneath));
        if (S_ISDIR(beneath->st_mode)) open.push_back(change.path);
        CHECK_OK(add(std::move(change)));
      }
    }
    return {};
  }

  Result<void> add(Change change) {
    if (list_.changes.size() >= limits_.changes) {
      return fail(Fault::unavailable, "it changes more than {} files", limits_.changes);
    }
    if (change.left_out.empty()) change.left_out = why_left_out(change);
    list_.changes.push_back(std::move(change));
    return {};
  }

  std::string why_left_out(const Change& change) const {
    for (const std::string& path : protected_) {
      if (is_at_or_below(change.path, path)) return "it is a protected path";
      // Taking away or replacing what holds one takes it away too.
      const bool stays = change.after && change.after->kind == Kind::directory;
      if (change.before && !stays && is_at_or_below(path, change.path)) return "a protected path is in it";
    }
    return change.path.starts_with(staging_prefix) ? "the name is Cordon's own" : "";
  }

  /// Made by the sandbox itself so that a read-only mount had something to stand on.
  bool is_placeholder(const std::string& path, const struct stat& status, bool exists) const {
    if (exists || std::ranges::find(protected_, path) == protected_.end()) return false;
    return S_ISDIR(status.st_mode) || (S_ISREG(status.st_mode) && status.st_size == 0);
  }

  /// The layer is thrown away: a mode that keeps even its owner out is widened to read it.
  Result<sys::Fd> open_readable(const std::string& path, int flags) const {
    auto file = sys::open_beneath(layers_.upper, path, flags);
    const bool is_path = (flags & O_PATH) != 0;
    if (file && !is_path) return file;
    if (!file && file.error().fault != Fault::denied) return file;
    const sys::Fd place = TRY(sys::open_beneath(layers_.upper, path, O_PATH));
    const auto status = TRY(sys::stat_of(place, path));
    const unsigned needed = S_ISDIR(status.st_mode) ? 0700 : 0400;
    if ((status.st_mode & needed) != needed) {
      CHECK_OK(sys::change_mode(place, (status.st_mode & 07777U) | needed, shown(path)));
    }
    return sys::open_beneath(layers_.upper, path, flags);
  }

  void sort() {
    // The same path may be met twice: as hidden by an opaque directory and by its own mark.
    const auto before = [](const auto& left, const auto& right) { return path_comes_before(left.path, right.path); };
    const auto same = [](const auto& left, const auto& right) { return left.path == right.path; };
    std::ranges::stable_sort(list_.changes, before);
    list_.changes.erase(std::unique(list_.changes.begin(), list_.changes.end(), same), list_.changes.end());
    std::ranges::stable_sort(list_.passed, before);
    list_.passed.erase(std::unique(list_.passed.begin(), list_.passed.end(), same), list_.passed.end());
  }

  /// `ln old new` gives one file two names: the new one is the change.
  void prefer_old_names() {
    std::map<std::string, std::string> older;  // the name that was met first, and one that was there before
    for (const Change& change : list_.changes) {
      const bool is_old = !change.same_as.empty() && change.before && !change.is_content_changed() &&
                          change.before->mode == change.after->mode;
      if (is_old) older.try_emplace(change.same_as, change.path);
    }
    for (Change& change : list_.changes) {
      const auto found = older.find(change.same_as.empty() ? change.path : change.same_as);
      if (found != older.end()) change.same_as = found->second;
    }
    std::erase_if(list_.changes, [](const Change& change) { return change.same_as == change.path; });
  }

  void note_other_names() {
    const auto several = std::ranges::count_if(list_.changes, [](const Change& change) {
      return change.names > 1 && change.after && change.is_content_changed();
    });
    if (several > 0) {
      list_.notes.push_back(fmt::format(
          "{} of the modified files have further names (hard links); a commit changes the named ones only", several));
    }
  }

  struct Seen {
    std::string path;
    std::uint64_t offset;
    Digest content;
  };

  const Layers& layers_;
  const CollectLimits& limits_;
  const Sink& keep_;
  std::vector<std::string> protected_;
  ChangeList list_;
  std::map<std::pair<dev_t, ino_t>, Seen> seen_;
  std::uint64_t offset_ = 0;
  std::size_t diff_room_;
};

}  // namespace

Result<ChangeList> collect(const Layers& layers, const CollectLimits& limits, const Sink& keep) {
  return Collector(layers, limits, keep).run();
}

}  // namespace cordon::sandbox::preview
