// Where the log ends: all that a writer must know to add a line. Kept in the file `frontier` so that nobody has to read
// a day to append to it; it can always be rebuilt from the day file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "audit/note.h"
#include "audit/tree.h"
#include "base/clock.h"

namespace cordon::audit {

struct Tail {
  std::string day;                // "" before the first line
  std::uint64_t bytes = 0;        // of the day file
  std::uint64_t last_length = 0;  // of the last line with its newline
  Digest last_leaf;               // zero before the first line
  Time last_time{};
  TreeHead day_start;  // the tree before the day's first line
  Tree tree;
  std::string boot;  // in which run of the machine it was written
};

std::string frontier_text(const Tail& tail);
/// Nothing for anything but what frontier_text gave, whole. Bytes after it are not looked at.
std::optional<Tail> parse_frontier(std::string_view text);

/// The parts of a line that the next one depends on, taken from their fixed places.
struct LineEnds {
  Time time;
  std::uint64_t seq;
  Digest prev;
};
std::optional<LineEnds> line_ends(std::string_view line);

/// The day after; `day` must be one.
std::string next_day(const std::string& day);
bool is_day(std::string_view text);

}  // namespace cordon::audit
