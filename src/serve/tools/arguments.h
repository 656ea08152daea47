// Arguments of tools, as data: one table says what a model is told (JSON Schema) and what is accepted.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace cordon::serve {

struct Argument {
  enum class Kind { text, boolean, whole, choice, texts, object };
  std::string_view name;
  Kind kind = Kind::text;
  bool required = false;
  std::string_view description;
  std::span<const std::string_view> choices = {};  // of a choice
  std::int64_t least = 1;                          // of a whole number
  std::int64_t most = 1;
  std::span<const Argument> members = {};  // of an object; one level is enough
};

/// The JSON Schema of an object with these members and no others.
Json schema_of(std::span<const Argument> arguments);

/// Accepts an object with exactly these members. The sentence names the field, what was expected, and what came.
Result<void> check(const Json& given, std::span<const Argument> arguments);

/// For what `check` let through; `otherwise` where it was not given.
std::string text_in(const Json& given, std::string_view name, std::string_view otherwise = {});
bool flag_in(const Json& given, std::string_view name, bool otherwise);
std::int64_t number_in(const Json& given, std::string_view name, std::int64_t otherwise);

}  // namespace cordon::serve
