#include "sandbox/preview/commit.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "sandbox/preview/journal.h"
#include "sandbox/preview/look.h"
#include "sandbox/preview/stage.h"
#include "sandbox/preview/still.h"
#include "sys/tree.h"

namespace cordon::sandbox::preview {

namespace {

std::string shown(std::string_view path) { return visible(path, Lines::escape); }

Result<sys::Fd> open_workspace(const Preview& preview) {
  sys::Fd root(::open(preview.workspace.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (root.get() < 0) {
    return fail(Fault::conflict, "the workspace {}: {}", shown(preview.workspace), sys::errno_text(errno));
  }
  return root;
}

/// The order matters where one needs what another makes: a name is freed before it is taken, and modes come last.
std::vector<Operation> operations_for(const ChangeList& list) {
  std::vector<Operation> operations;
  const auto add = [&](Operation::Do what, const Change& change) {
    operations.push_back({what, change.path, std::to_string(operations.size()), 0});
  };
  for (const Change& change : list.changes) {
    if (!change.left_out.empty() || decided_by(list, change.path) != nullptr) continue;
    if (!change.before) {
      add(Operation::Do::place, change);
    } else if (!change.after) {
      add(Operation::Do::remove, change);
    } else if (!change.is_content_changed() && change.same_as.empty()) {
      add(Operation::Do::mode, change);
    } else {
      add(Operation::Do::exchange, change);
    }
  }
  return operations;
}

class Committer {
 public:
  static Result<Committer> open(const Store& store, const Preview& preview) {
    return Committer(store, preview, TRY(open_workspace(preview)));
  }

  Result<CommitReport> run() {
    journal_ = TRY(read_journal(directory_));
    CommitReport report;
    if (journal_ && journal_->state == Journal::State::staging) CHECK_OK(leave_stage());
    if (!journal_) {
      report.conflicts = TRY(still().conflicts());
      if (!report.conflicts.empty()) return report;
      CHECK_OK(stage());
    } else {
      report.resumed = true;
    }
    if (journal_->state == Journal::State::applying) {
      const auto why = apply();
      if (!why || !why->empty()) CHECK_OK(undo());
      if (!why) return tl::make_unexpected(why.error());
      if (!why->empty()) {
        report.conflicts.push_back(*why);
        report.end = CommitReport::End::rolled_back;
        return report;
      }
    }
    report.applied = journal_->operations.size();
    CHECK_OK(finish());
    report.end = CommitReport::End::applied;
    return report;
  }

  Result<bool> roll_back() {
    journal_ = TRY(read_journal(directory_));
    if (!journal_) return false;
    if (journal_->state == Journal::State::applying) {
      CHECK_OK(undo());
      return true;
    }
    if (journal_->state == Journal::State::staging) {
      CHECK_OK(leave_stage());
      return true;
    }
    CHECK_OK(finish());
    return fail(Fault::conflict, "the commit of {} was complete; it cannot be undone any more", preview_.id);
  }

 private:
  Committer(const Store& store, const Preview& preview, sys::Fd root)
      : store_(store),
        preview_(preview),
        list_(preview.list),
        root_(std::move(root)),
        directory_(store.directory_of(preview.id)) {}

  Still still() const { return {root_, list_}; }

  // ---- the stage

  Result<void> stage() {
    journal_ = Journal{.operations = operations_for(list_)};
    CHECK_OK(write_journal(directory_, *journal_));
    const auto staged = fill_stage();
    if (!staged) {
      CHECK_OK(leave_stage());
      return staged;
    }
    journal_->state = Journal::State::applying;
    return write_journal(directory_, *journal_);
  }

  Result<void> fill_stage() {
    const std::string name = stage_name(preview_.id);
    // Permission to write in the workspace itself may have to be taken for a moment.
    CHECK_OK(widen(""));
    CHECK_OK(sys::remove_tree(root_, name));
    if (::mkdirat(root_.get(), name.c_str(), 0700) != 0) {
      return fail(Fault::unavailable, "mkdir {}: {}", name, sys::errno_text(errno));
    }
    const sys::Fd stage = TRY(open_stage());
    const auto status = TRY(sys::stat_of(stage, name));
    // Root works in directories of others, who must not be able to put one of theirs in its place.
    if (status.st_uid != ::geteuid() || (status.st_mode & 0077U) != 0) {
      return fail(Fault::conflict, "{} was swapped while it was made", name);
    }
    journal_->device = status.st_dev;
    journal_->inode = status.st_ino;
    const sys::Fd content = TRY(store_.open_content(preview_.id));
    CHECK_OK(StageWriter(root_, stage, content, list_).write(journal_->operations));
    return sync(stage);
  }

  Result<sys::Fd> open_stage() const {
    return sys::open_beneath(root_, stage_name(preview_.id), O_RDONLY | O_DIRECTORY);
  }

  /// The one that the journal names, and not another in its place.
  Result<sys::Fd> open_own_stage() const {
    sys::Fd stage = TRY(open_stage());
    const auto status = TRY(sys::stat_of(stage, "the stage"));
    if (status.st_dev != journal_->device || status.st_ino != journal_->inode) {
      return fail(Fault::conflict, "{} is not the directory that the commit made; nothing was touched",
                  stage_name(preview_.id));
    }
    return stage;
  }

  static Result<void> sync(const sys::Fd& stage) {
    if (::syncfs(stage.get()) == 0) return {};
    return fail(Fault::unavailable, "sync the workspace: {}", sys::errno_text(errno));
  }

  Result<void> remove_stage() {
    CHECK_OK(widen(""));
    CHECK_OK(sys::remove_tree(root_, stage_name(preview_.id)));
    return narrow_workspace();
  }

  /// After the last change: the journal goes with the preview, at once, so that a preview without one was not applied.
  Result<void> finish() {
    CHECK_OK(remove_stage());
    journal_.reset();
    return store_.remove(preview_.id);
  }

  /// Removes the stage with what is on it, then the journal: the workspace is as it was.
  Result<void> leave_stage() {
    CHECK_OK(remove_stage());
    const std::string path = directory_ + "/journal.json";
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
      return fail(Fault::unavailable, "remove {}: {}", path, sys::errno_text(errno));
    }
    journal_.reset();
    return {};
  }

  // ---- forward

  /// Why it cannot be done; empty: all is done, also on disk.
  Result<std::string> apply() {
    const sys::Fd stage = TRY(open_own_stage());
    for (const Operation& operation : journal_->operations) CHECK_OK(widen_above(operation.path));
    for (const Operation& operation : journal_->operations) {
      if (operation.what == Operation::Do::mode) continue;
      const std::string why = TRY(carry_out(stage, operation));
      if (!why.empty()) return why;
    }
    CHECK_OK(settle(Side::after));
    CHECK_OK(sync(stage));
    journal_->state = Journal::State::applied;
    CHECK_OK(write_journal(directory_, *journal_));
    return std::string();
  }

  Result<std::string> carry_out(const sys::Fd& stage, const Operation& operation) {
    const Change* change = list_.find(operation.path);
    if (change == nullptr) return fail(Fault::corrupt, "the journal of a commit does not fit its preview");
    if (TRY(is_done(stage, operation))) return std::string();
    std::string why = TRY(still().wrong_parents(operation.path));
    if (!why.empty()) return why;
    const auto parts = sys::split_path(operation.path);
    const sys::Fd parent = TRY(sys::open_beneath(root_, parts.parent, O_PATH | O_DIRECTORY));
    if (change->before) {
      why = TRY(still().wrong(*change, parent, parts.name, Strictness::untouched));
      if (!why.empty()) return why;
      if (change->before->kind == Kind::directory) CHECK_OK(make_movable(parent, parts.name));
    }
    CHECK_OK(move(stage, operation, parent, parts.name, why));
    if (!why.empty() || !change->before) return why;
    // Whatever was swapped in at the last moment is on the stage now, and does not get lost there.
    why = TRY(still().wrong(*change, stage, operation.staged, Strictness::moved));
    if (!why.empty()) CHECK_OK(move_back(stage, operation, parent, parts.name));
    return why;
  }

  static Result<void> move(const sys::Fd& stage, const Operation& operation, const sys::Fd& parent,
                           const std::string& name, std::string& why) {
    Result<void> moved;
    if (operation.what == Operation::Do::remove) {
      moved = sys::rename_at(parent, name, stage, operation.staged, sys::Onto::nothing);
    } else {
      const bool exchange = operation.what == Operation::Do::exchange;
      moved =
          sys::rename_at(stage, operation.staged, parent, name, exchange ? sys::Onto::exchange : sys::Onto::nothing);
    }
    if (moved || moved.error().fault != Fault::conflict) return moved;
    why = fmt::format("{}: {}", shown(operation.path), moved.error().sentence);
    return {};
  }

  static Result<void> move_back(const sys::Fd& stage, const Operation& operation, const sys::Fd& parent,
                                const std::string& name) {
    switch (operation.what) {
      case Operation::Do::place:
        return sys::rename_at(parent, name, stage, operation.staged, sys::Onto::nothing);
      case Operation::Do::exchange:
        return sys::rename_at(stage, operation.staged, parent, name, sys::Onto::exchange);
      case Operation::Do::remove:
        return sys::rename_at(stage, operation.staged, parent, name, sys::Onto::nothing);
      case Operation::Do::mode:
        return {};
    }
    return {};
  }

  /// On which side of its rename an operation is, told by what is on the stage.
  static Result<bool> is_done(const sys::Fd& stage, const Operation& operation) {
    const auto staged = TRY(sys::stat_beneath(stage, operation.staged));
    if (operation.what == Operation::Do::remove) return staged.has_value();
    return !staged || staged->st_ino != operation.inode;
  }

  // ---- back

  Result<void> undo() {
    const sys::Fd stage = TRY(open_own_stage());
    std::vector<std::string> stuck;
    for (const Operation& operation : journal_->operations) CHECK_OK(widen_above(operation.path));
    for (auto operation = journal_->operations.rbegin(); operation != journal_->operations.rend(); ++operation) {
      if (operation->what == Operation::Do::mode || !TRY(is_done(stage, *operation))) continue;
      if (auto back = take_back(stage, *operation); !back) stuck.push_back(back.error().sentence);
    }
    CHECK_OK(settle(Side::before));
    if (!stuck.empty()) {
      return fail(Fault::conflict,
                  "not all could be undone, because the workspace was changed meanwhile ({}); the old files are in {}",
                  fmt::join(stuck, "; "), stage_name(preview_.id));
    }
    CHECK_OK(sync(stage));
    return leave_stage();
  }

  Result<void> take_back(const sys::Fd& stage, const Operation& operation) {
    const auto parts = sys::split_path(operation.path);
    const sys::Fd parent = TRY(sys::open_beneath(root_, parts.parent, O_PATH | O_DIRECTORY));
    if (operation.what != Operation::Do::remove) {
      const auto there = TRY(sys::stat_beneath(parent, parts.name));
      if (!there || there->st_ino != operation.inode) {
        return fail(Fault::conflict, "{} is not what the commit put there", shown(operation.path));
      }
      if (S_ISDIR(there->st_mode)) CHECK_OK(make_movable(parent, parts.name));
    }
    return move_back(stage, operation, parent, parts.name);
  }

  // ---- modes

  enum class Side { before, after };

  /// A directory that its owner may not write cannot be moved to another.
  static Result<void> make_movable(const sys::Fd& parent, const std::string& name) {
    const sys::Fd directory = TRY(sys::open_beneath(parent, name, O_PATH | O_DIRECTORY));
    const auto status = TRY(sys::stat_of(directory, name));
    if ((status.st_mode & 0700U) == 0700U) return {};
    return sys::change_mode(directory, (status.st_mode & 07777U) | 0700U, shown(name));
  }

  /// What keeps its owner from changing it is opened for the time of the commit.
  Result<void> widen(const std::string& path) const {
    const Passed* passed = list_.find_passed(path);
    if (passed == nullptr) return {};
    const auto directory = sys::open_beneath(root_, path, O_PATH | O_DIRECTORY);
    if (!directory) return {};  // told as a conflict when it is needed
    const auto status = TRY(sys::stat_of(*directory, path));
    if ((status.st_mode & 0700U) == 0700U || status.st_ino != passed->inode) return {};
    return sys::change_mode(*directory, (status.st_mode & 07777U) | 0700U, shown(path));
  }

  Result<void> widen_above(const std::string& path) const {
    CHECK_OK(widen(""));
    for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
      CHECK_OK(widen(path.substr(0, slash)));
    }
    return {};
  }

  /// The workspace's own mode, once nothing is to be done in it any more.
  Result<void> narrow_workspace() const {
    const Passed* passed = list_.find_passed("");
    if (passed == nullptr || (passed->mode & 0700U) == 0700U) return {};
    return sys::change_mode(root_, passed->mode, "the workspace");
  }

  /// Modes as they were or as they are to be, innermost first: an outer one may close the way.
  Result<void> settle(Side side) const {
    for (auto change = list_.changes.rbegin(); change != list_.changes.rend(); ++change) {
      if (!change->left_out.empty()) continue;
      const std::optional<Node>& node = side == Side::after ? change->after : change->before;
      if (!node || node->kind == Kind::link) continue;
      const bool only_mode = change->before && change->after && !change->is_content_changed();
      if (only_mode || node->kind == Kind::directory) CHECK_OK(set_mode(*change, *node, side));
    }
    for (auto passed = list_.passed.rbegin(); passed != list_.passed.rend(); ++passed) {
      const bool widened = (passed->mode & 0700U) != 0700U && !passed->path.empty();
      if (!widened || (side == Side::after && list_.find(passed->path) != nullptr)) continue;
      const auto directory = sys::open_beneath(root_, passed->path, O_PATH | O_DIRECTORY);
      if (!directory) continue;
      const auto status = TRY(sys::stat_of(*directory, passed->path));
      if (status.st_ino != passed->inode) continue;  // another one now, which we never opened
      CHECK_OK(sys::change_mode(*directory, passed->mode, shown(passed->path)));
    }
    return {};
  }

  bool is_placed(const std::string& path, std::uint64_t inode) const {
    return std::ranges::any_of(journal_->operations, [&](const Operation& operation) {
      return operation.path == path && operation.inode == inode;
    });
  }

  Result<void> set_mode(const Change& change, const Node& node, Side side) const {
    const auto file = sys::open_beneath(root_, change.path, O_PATH);
    if (!file) return {};
    const auto status = TRY(sys::stat_of(*file, change.path));
    if (kind_of(status) != node.kind || S_ISLNK(status.st_mode)) return {};
    const bool is_old = change.before && status.st_ino == change.was.inode;
    const bool must_be_old = side == Side::before || (change.before && !change.is_content_changed());
    if (must_be_old && !is_old && change.same_as.empty()) return {};
    // What was made on the stage has its mode, but for the outermost directory, which had to stay movable.
    if (!is_old && node.kind == Kind::directory && !is_placed(change.path, status.st_ino)) return {};
    std::uint32_t mode = node.mode;
    // Inherited from the directory above, not a wish of the command.
    if (node.kind == Kind::directory) mode |= status.st_mode & S_ISGID;
    if ((status.st_mode & 07777U) == mode) return {};
    return sys::change_mode(*file, mode, shown(change.path));
  }

  const Store& store_;
  const Preview& preview_;
  const ChangeList& list_;
  sys::Fd root_;
  std::string directory_;
  std::optional<Journal> journal_;
};

/// Protected since the preview was made, too.
void leave_out_protected(ChangeList& list, const ProtectedPaths& protected_paths) {
  for (Change& change : list.changes) {
    for (std::string_view path : protected_paths) {
      while (path.ends_with('/')) path.remove_suffix(1);
      const bool stays = change.after && change.after->kind == Kind::directory;
      const bool takes_away = change.before && !stays && is_at_or_below(path, change.path);
      if (is_at_or_below(change.path, path) || takes_away) change.left_out = "it is a protected path";
      // Another name of a protected file would be a way to change it.
      if (!change.same_as.empty() && is_at_or_below(change.same_as, path)) change.same_as.clear();
    }
  }
}

}  // namespace

Result<CommitReport> commit(Clearance clearance, const Store& store, const Preview& preview,
                            const ProtectedPaths& protected_paths) {
  // Spent by being here: the record of this commit is durable.
  const Clearance spent = std::move(clearance);
  const sys::FileLock lock = TRY(store.lock());
  Preview own = TRY(store.find(preview.id));
  if (own.list.digest() != preview.list.digest()) {
    return fail(Fault::conflict, "{} is not the preview that was looked at", preview.id);
  }
  leave_out_protected(own.list, protected_paths);
  Committer committer = TRY(Committer::open(store, own));
  CommitReport report = TRY(committer.run());
  for (const Change& change : own.list.changes) {
    if (!change.left_out.empty()) {
      report.left_out.push_back(fmt::format("{}: {}", shown(change.path), change.left_out));
    }
  }
  return report;
}

Result<bool> roll_back(Clearance clearance, const Store& store, const Preview& preview) {
  const Clearance spent = std::move(clearance);
  const sys::FileLock lock = TRY(store.lock());
  Committer committer = TRY(Committer::open(store, preview));
  return committer.roll_back();
}

bool is_half_committed(const Store& store, const Preview& preview) {
  const auto journal = read_journal(store.directory_of(preview.id));
  return !journal || journal->has_value();
}

Result<std::vector<std::string>> conflicts_of(const Preview& preview) {
  const sys::Fd root = TRY(open_workspace(preview));
  return Still(root, preview.list).conflicts();
}

}  // namespace cordon::sandbox::preview
