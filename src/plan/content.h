// What a file holds, by hash. Hashing a large program at every run would cost more than the run, so hashes are
// remembered with the file's identity; a change of content moves ctime.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/digest.h"
#include "base/result.h"
#include "plan/plan.h"

namespace cordon::plan {

/// The file's identity as it is now, symlinks followed; nothing when there is none or it is no regular file.
std::optional<FileIdentity> identity_of_file(const std::string& path);
/// A directory's device and inode.
Result<FileIdentity> identity_of_directory(const std::string& path);

class Contents {
 public:
  /// `state_dir` may be empty: then nothing is remembered beyond this value.
  Contents(std::string state_dir, const Clock& clock);

  /// Nothing when there is no such regular file. Larger than `limit` is an error.
  Result<std::optional<FrozenFile>> freeze(const std::string& path, std::uint64_t limit);
  /// Keeps what was learned for the next process. Losing it costs time only.
  void remember();

 private:
  void load();
  std::string path() const { return state_dir_ + "/contents.txt"; }

  std::string state_dir_;
  const Clock* clock_;
  bool loaded_ = false;
  bool learned_ = false;
  std::map<std::string, Digest> known_;  // by identity, written out
};

}  // namespace cordon::plan
