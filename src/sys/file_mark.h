// What tells one content of a file from the next without reading it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"

namespace cordon::sys {

struct FileMark {
  bool there = false;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t changed_ns = 0;  // the content
  std::int64_t touched_ns = 0;  // anything about it; nobody can set this one back
  bool operator==(const FileMark&) const = default;
};

enum class Links { follow, refuse };

/// The mark of what lies there; one that is not `there` when nothing does. Nothing where it could not tell two contents
/// apart: a link is on the way and links are refused, or it was touched so shortly before `now` that its times may not
/// move on with the next change.
std::optional<FileMark> mark_of(const std::string& path, Links links, Time now);

}  // namespace cordon::sys
