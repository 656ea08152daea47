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

/// Everything an approver must see, whole. `drift`: what has changed since it was asked, if that was looked at.
/// `preview`: what the command did where nothing of it stayed.
std::string describe(const approve::Entry& entry, const std::vector<std::string>& drift, Time now,
                     const std::optional<sandbox::preview::Preview>& preview);

/// On one line; where it is longer than `columns`, it ends by saying how much is missing. 0: as long as it is.
std::string in_one_line(std::string_view text, std::size_t columns);

/// "2m ago", "in 13m".
std::string distance(Time from, Time now);

/// "root", or "root (agent builder)".
std::string asker_of(const approve::Entry& entry);

}  // namespace cordon::app
