// One written value → one checked setting. Every error is "file:line: what is wrong, and what was expected".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json5.h"
#include "config/bind.h"
#include "config/field.h"

namespace cordon::config {

struct Remark {
  enum class Kind { warning, note };
  Kind kind = Kind::warning;
  std::string sentence;  // begins with file:line
};

/// What the values of a file are read against.
struct Surroundings {
  std::string workspace;
  std::string home;
  BindRules binds;
};

/// `name` is what the file calls the setting, for errors.
Result<Scalar> read_scalar(const Field& field, std::string_view name, std::string_view text, const Origin& origin);
Result<Scalar> read_scalar(const Field& field, std::string_view name, const json5::Value& value, const Origin& origin);

/// One entry of a list.
Result<Item> read_item(const Field& field, std::string_view text, const Origin& origin, const Surroundings& around,
                       std::vector<Remark>& remarks);

/// "(did you mean 'x'?)" with a blank before it, or nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

/// "deny, allowlist, ask or full".
std::string listed(std::span<const std::string_view> words);

}  // namespace cordon::config
