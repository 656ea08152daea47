// Previews that are kept: in the state directory, bounded in number and size, and not for ever. docs/preview.md is the
// form on disk.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "sandbox/preview/change.h"
#include "sandbox/preview/collect.h"
#include "sandbox/preview/making.h"
#include "sys/fd.h"
#include "sys/file.h"

namespace cordon::sandbox::preview {

/// What a command did in a preview, and where it could be done for real.
struct Preview {
  std::string id;  // "prv_…"
  std::string workspace;
  std::string command;
  std::string approval;  // the queue entry whose approver is to see it; empty: none
  Time created{};
  Time expires{};
  Json plan;    // the description of the plan that ran, with its request
  Json result;  // how it ended
  std::string out;
  std::string err;
  ChangeList list;
};

struct StoreLimits {
  std::size_t previews = 64;
  std::uint64_t bytes = 2ULL << 30;
  Duration lasts = std::chrono::hours(24);
};

Json to_json(const Preview& preview);
/// Any bytes may be given.
Result<Preview> preview_from(std::string_view text);

class Store {
 public:
  Store(const std::string& state_dir, const Clock& clock, StoreLimits limits = {});

  /// Content first, then what it is: one that was cut off in between is swept.
  class Draft {
   public:
    Sink sink();
    const std::string& id() const { return id_; }
    Draft(Draft&&) = default;
    Draft& operator=(Draft&&) = delete;
    ~Draft();

   private:
    friend class Store;
    Draft(std::string id, std::string path, sys::Fd content)
        : id_(std::move(id)), path_(std::move(path)), content_(std::move(content)) {}
    std::string id_;
    std::string path_;  // empty once it is kept
    sys::Fd content_;
  };
  Result<Draft> begin() const;
  enum class Asked { dry, in_earnest };
  /// Fills in its id and times.
  Result<void> keep(Draft draft, Preview& preview, Asked asked) const;

  Result<Preview> find(std::string_view id) const;
  /// The newest first. What cannot be read is left out.
  Result<std::vector<Preview>> list() const;
  Result<std::optional<Preview>> find_for_approval(std::string_view approval) const;
  /// From now on it is what this entry's approver sees and may commit.
  Result<void> attach(std::string_view id, std::string_view approval) const;
  /// The entry whose approver sees it; empty: none.
  std::string approval_of(std::string_view id) const;
  /// The entry was answered or has expired: what was made for it goes, what was only attached to it stays. One whose
  /// commit was begun stays too.
  void let_go(std::string_view approval) const;

  /// Who has this makes the preview of that entry, and nobody else does. Nothing: another is at it.
  Result<std::optional<Making>> begin_making(std::string_view approval) const;
  Result<Making> adopt_making(std::string_view approval, sys::Fd file) const;
  Progress progress(std::string_view approval) const;
  /// Few are made at once, so that who asks for many does not take the machine.
  Result<sys::FileLock> wait_for_turn(std::string_view approval) const;

  /// Whether the entry that this preview is for was asked for by nothing but a dry run.
  bool is_only_dry(std::string_view id) const;
  /// From now on it was asked for in earnest, too.
  void set_earnest(std::string_view id) const;
  Result<void> remove(std::string_view id) const;
  /// Removes what has expired, unless it is half committed.
  void sweep() const;

  Result<sys::Fd> open_content(std::string_view id) const;
  std::string directory_of(std::string_view id) const { return root_ + "/" + std::string(id); }
  /// One commit at a time.
  Result<sys::FileLock> lock() const;

 private:
  std::vector<std::string> ids() const;
  std::uint64_t bytes_kept() const;
  std::string making_directory() const { return root_ + "/making"; }
  std::string root_;
  const Clock* clock_;
  StoreLimits limits_;
};

bool is_preview_id(std::string_view id);

}  // namespace cordon::sandbox::preview
