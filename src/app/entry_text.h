// A queue entry as a person reads it. Hidden characters are made visible; nothing is cut without saying so.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "approve/queue.h"
#include "base/clock.h"
#include "sandbox/preview/store.h"

namespace cordon::app {

/// What the command did where nothing of it stayed, or why that cannot be shown (yet).
struct EntryPreview {
  std::optional<sandbox::preview::Preview> made;
  std::string instead;  // "being made"; empty: nobody is to make one
};

enum class Length {
  whole,
  question,  // no more of the preview than a terminal keeps, so that the command above it can be seen
};

/// Everything an approver must see. `drift`: what has changed since it was asked, if that was looked at.
std::string describe(const approve::Entry& entry, const std::vector<std::string>& drift, Time now,
                     const EntryPreview& preview, Length length = Length::whole);

/// On one line; where it is longer than `columns`, it ends by saying how much is missing. 0: as long as it is.
std::string in_one_line(std::string_view text, std::size_t columns);

/// "2m ago", "in 13m".
std::string distance(Time from, Time now);

/// "root", or "root (agent builder)".
std::string asker_of(const approve::Entry& entry);

}  // namespace cordon::app
