// How much a run has written into directories of the host, where no quota can be set.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "model/profile.h"

namespace cordon::sandbox::native {

/// Cheap while nothing happens: looks at the free space of the file system, and only when that shrank by the limit,
/// counts the files that changed since the start. Somebody else filling the disk is therefore not taken for the
/// sandbox.
class DiskWatch {
 public:
  DiskWatch(std::vector<std::string> directories, const Limits& limits);
  bool idle() const { return places_.empty(); }
  /// A sentence when the limit is exceeded.
  std::optional<std::string> exceeded();

 private:
  struct Place {
    std::string directory;
    std::uint64_t bytes_before;
    std::uint64_t files_before;
  };
  struct Count {
    std::uint64_t bytes = 0;
    std::uint64_t files = 0;
  };
  Count changed_beneath(int directory, int depth) const;

  std::vector<Place> places_;
  std::uint64_t bytes_limit_;
  std::uint64_t files_limit_;
  timespec started_{};
};

}  // namespace cordon::sandbox::native
