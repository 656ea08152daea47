// The stage of a commit: a directory in the workspace in which new content is made before it gets its place.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/preview/change.h"
#include "sandbox/preview/journal.h"
#include "sys/fd.h"

namespace cordon::sandbox::preview {

std::string stage_name(std::string_view preview);

/// Writes what operations put into place. Everything is made new, with O_EXCL, below a directory of ours.
class StageWriter {
 public:
  StageWriter(const sys::Fd& root, const sys::Fd& stage, const sys::Fd& content, const ChangeList& list)
      : root_(root), stage_(stage), content_(content), list_(list) {}

  /// Fills in the inodes.
  Result<void> write(std::vector<Operation>& operations);

 private:
  struct Made {
    const Change* change;
    std::string at;  // below the stage
    bool top;
  };
  struct Owner {
    uid_t uid;
    gid_t gid;
    bool inherits_group;
  };
  void plan(const Operation& operation);
  Result<Owner> owner_of(const Change& change) const;
  Result<void> make(const Made& made);
  Result<void> make_file(const Made& made);
  Result<void> make_other_name(const Made& made);
  Result<void> link_to(const std::string& path, const Change& change, const std::string& at);
  Result<void> copy_content(const Change& change, const sys::Fd& file) const;
  Result<void> copy_attributes(const Change& change, const sys::Fd& file) const;
  Result<void> give(const Made& made) const;

  const sys::Fd& root_;
  const sys::Fd& stage_;
  const sys::Fd& content_;
  const ChangeList& list_;
  std::vector<Made> made_;
  std::map<std::string, std::string, std::less<>> staged_;  // path → where on the stage
};

}  // namespace cordon::sandbox::preview
