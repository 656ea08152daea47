#include "serve/tools/arguments.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace cordon::serve {

namespace {

using Kind = Argument::Kind;

constexpr std::size_t longest_shown = 60;

Json schema_of(const Argument& argument) {
  Json schema;
  switch (argument.kind) {
    case Kind::text:
      schema = {{"type", "string"}, {"minLength", argument.required ? 1 : 0}};
      break;
    case Kind::boolean:
      schema = {{"type", "boolean"}};
      break;
    case Kind::whole:
      schema = {{"type", "integer"}, {"minimum", argument.least}, {"maximum", argument.most}};
      break;
    case Kind::choice: {
      Json choices = Json::array();
      for (const std::string_view choice : argument.choices) choices.push_back(std::string(choice));
      schema = {{"type", "string"}, {"enum", choices}};
      break;
    }
    case Kind::texts:
      schema = {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}};
      break;
    case Kind::object:
      schema = schema_of(argument.members);
      break;
  }
  schema["description"] = std::string(argument.description);
  return schema;
}

/// What came, for a sentence; never long.
std::string shown(const Json& value) {
  if (value.is_string()) {
    const std::string text = visible(value.get<std::string>(), Lines::escape);
    return text.size() <= longest_shown ? "'" + text + "'" : "a long string";
  }
  if (value.is_number() || value.is_boolean() || value.is_null()) return value.dump();
  return value.is_array() ? "an array" : "an object";
}

Result<void> wrong(std::string_view path, std::string_view expected, const Json& value) {
  return fail(Fault::invalid_input, "`{}` must be {}, not {}", path, expected, shown(value));
}

Result<void> check_choice(const Argument& argument, const std::string& path, const Json& value) {
  std::string all;
  for (const std::string_view choice : argument.choices) {
    if (value.is_string() && value.get<std::string>() == choice) return {};
    all += (all.empty() ? "" : ", ") + std::string(choice);
  }
  return wrong(path, "one of " + all, value);
}

Result<void> check_whole(const Argument& argument, const std::string& path, const Json& value) {
  const std::string expected = fmt::format("a whole number from {} to {}", argument.least, argument.most);
  if (!value.is_number_integer()) return wrong(path, expected, value);
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(argument.most)) {
    return wrong(path, expected, value);
  }
  const auto number = value.get<std::int64_t>();
  return number < argument.least || number > argument.most ? wrong(path, expected, value) : Result<void>();
}

Result<void> check_members(const Json& given, std::span<const Argument> arguments, const std::string& prefix);

Result<void> check_value(const Argument& argument, const std::string& path, const Json& value) {
  switch (argument.kind) {
    case Kind::text:
      if (!value.is_string()) return wrong(path, "a string", value);
      if (argument.required && trim(value.get_ref<const std::string&>()).empty()) {
        return fail(Fault::invalid_input, "`{}` must not be empty", path);
      }
      return {};
    case Kind::boolean:
      return value.is_boolean() ? Result<void>() : wrong(path, "true or false", value);
    case Kind::whole:
      return check_whole(argument, path, value);
    case Kind::choice:
      return check_choice(argument, path, value);
    case Kind::texts:
      if (!value.is_object()) return wrong(path, "an object of strings", value);
      for (const auto& [name, member] : value.items()) {
        if (!member.is_string()) return wrong(path + "." + visible(name, Lines::escape), "a string", member);
      }
      return {};
    case Kind::object:
      if (!value.is_object()) return wrong(path, "an object", value);
      return check_members(value, argument.members, path + ".");
  }
  return {};
}

Result<void> check_members(const Json& given, std::span<const Argument> arguments, const std::string& prefix) {
  std::vector<std::string_view> names;
  for (const Argument& argument : arguments) names.push_back(argument.name);
  for (const auto& [name, value] : given.items()) {
    if (std::ranges::find(names, name) != names.end()) continue;
    const std::string written = visible(name.substr(0, longest_shown), Lines::escape);
    if (const auto close = nearest(name, names)) {
      return fail(Fault::invalid_input, "there is no argument `{}{}`; did you mean `{}{}`?", prefix, written, prefix,
                  *close);
    }
    return fail(Fault::invalid_input, "there is no argument `{}{}`", prefix, written);
  }
  for (const Argument& argument : arguments) {
    const auto found = given.find(argument.name);
    if (found == given.end()) {
      if (!argument.required) continue;
      return fail(Fault::invalid_input, "`{}{}` is missing: {}", prefix, argument.name, argument.description);
    }
    CHECK_OK(check_value(argument, prefix + std::string(argument.name), *found));
  }
  return {};
}

}  // namespace

Json schema_of(std::span<const Argument> arguments) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const Argument& argument : arguments) {
    properties[std::string(argument.name)] = schema_of(argument);
    if (argument.required) required.push_back(std::string(argument.name));
  }
  Json schema = {{"type", "object"}, {"properties", properties}};
  if (!required.empty()) schema["required"] = required;
  schema["additionalProperties"] = false;
  return schema;
}

Result<void> check(const Json& given, std::span<const Argument> arguments) {
  if (!given.is_object()) return wrong("arguments", "an object", given);
  return check_members(given, arguments, "");
}

std::string text_in(const Json& given, std::string_view name, std::string_view otherwise) {
  const auto found = given.find(name);
  return found == given.end() ? std::string(otherwise) : found->get<std::string>();
}

bool flag_in(const Json& given, std::string_view name, bool otherwise) {
  const auto found = given.find(name);
  return found == given.end() ? otherwise : found->get<bool>();
}

std::int64_t number_in(const Json& given, std::string_view name, std::int64_t otherwise) {
  const auto found = given.find(name);
  return found == given.end() ? otherwise : found->get<std::int64_t>();
}

}  // namespace cordon::serve
