// A line of the log as its readers see it: the spans of its members, found in one strict pass over the JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cordon::audit {

struct Member {
  std::string_view key;    // without its quotes, escapes as written
  std::string_view value;  // as written
};

/// The members of one JSON object in their order; nothing when `text` is anything else, by the letter of RFC 8259.
/// `members` is emptied first, so that one vector serves millions of lines.
bool read_members(std::string_view text, std::vector<Member>& members);

/// The value of the member, as written; empty when there is none.
std::string_view value_of(const std::vector<Member>& members, std::string_view key);

/// What stands between the quotes of a JSON string as written; nothing when it is not one.
std::optional<std::string_view> between_quotes(std::string_view value);
/// A non-negative number without leading zeros.
std::optional<std::uint64_t> number_of(std::string_view value);
/// A JSON string's text with its escapes undone.
std::string unescaped(std::string_view value);

}  // namespace cordon::audit
