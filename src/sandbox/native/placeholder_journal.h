// Which run holds which placeholder: one file for each run, written before its placeholders are made, so that what a
// killed run leaves behind is found by the next start.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "sys/file.h"

namespace cordon::sandbox::native {

struct Placeholder {
  std::string path;
  bool directory = false;
};

/// Open for as long as it exists: whoever else wants to read or change it waits.
class PlaceholderJournal {
 public:
  static Result<PlaceholderJournal> open(const std::string& state_directory);

  /// Whether a run holds a placeholder there.
  bool holds(const std::string& path) const;
  /// Before they are made. Not synced: it is there for runs that are killed, and a machine that lost its power may keep
  /// an empty placeholder. Returns the name to leave by.
  Result<std::string> enter(const std::vector<Placeholder>& placeholders);
  /// What run `name` holds is also held while that process lives; once is enough.
  Result<void> share(const std::string& name, const std::string& mark);
  /// Removes what nobody else holds.
  void leave(const std::string& name);
  /// What runs that are gone did not remove.
  void sweep();

 private:
  PlaceholderJournal(std::string directory, sys::FileLock lock);
  void remove(const std::string& name);

  std::string directory_;
  sys::FileLock lock_;
  std::map<std::string, std::vector<Placeholder>> runs_;
};

}  // namespace cordon::sandbox::native
