#include "serve/tools/arguments.h"

#include <gtest/gtest.h>

#include <array>

#include "serve/tools/tool.h"

namespace cordon::serve {
namespace {

using Kind = Argument::Kind;
constexpr std::array<std::string_view, 2> words = {"one", "two"};
constexpr std::array<Argument, 1> inner = {{{.name = "deep", .description = "Deep"}}};
constexpr std::array<Argument, 6> fields = {{
    {.name = "text", .required = true, .description = "Some text"},
    {.name = "flag", .kind = Kind::boolean, .description = "A flag"},
    {.name = "number", .kind = Kind::whole, .description = "A number", .least = 1, .most = 10},
    {.name = "choice", .kind = Kind::choice, .description = "A choice", .choices = words},
    {.name = "texts", .kind = Kind::texts, .description = "Texts"},
    {.name = "object", .kind = Kind::object, .description = "An object", .members = inner},
}};

std::string complaint(const char* json) {
  const auto checked = check(parse_json(json), fields);
  return checked ? "" : checked.error().sentence;
}

TEST(Arguments, WhatIsRightIsAccepted) {
  EXPECT_EQ(complaint(R"({"text":"x"})"), "");
  EXPECT_EQ(complaint(R"({"text":"x","flag":true,"number":10,"choice":"two","texts":{"A":"b"},"object":{"deep":""}})"),
            "");
}

TEST(Arguments, WhatIsWrongIsNamedWithWhatWasExpected) {
  const std::array<std::pair<const char*, const char*>, 12> table = {{
      {R"({})", "`text` is missing: Some text"},
      {R"({"text":""})", "`text` must not be empty"},
      {R"({"text":7})", "`text` must be a string, not 7"},
      {R"({"text":"x","flag":"yes"})", "`flag` must be true or false, not 'yes'"},
      {R"({"text":"x","number":0})", "`number` must be a whole number from 1 to 10, not 0"},
      {R"({"text":"x","number":1.5})", "`number` must be a whole number from 1 to 10, not 1.5"},
      {R"({"text":"x","number":18446744073709551615})",
       "`number` must be a whole number from 1 to 10, not 18446744073709551615"},
      {R"({"text":"x","choice":"three"})", "`choice` must be one of one, two, not 'three'"},
      {R"({"text":"x","texts":{"A":null}})", "`texts.A` must be a string, not null"},
      {R"({"text":"x","object":{"deap":"y"}})", "there is no argument `object.deap`; did you mean `object.deep`?"},
      {R"({"text":"x","zzzzzz":1})", "there is no argument `zzzzzz`"},
      {R"([])", "`arguments` must be an object, not an array"},
  }};
  for (const auto& [json, sentence] : table) EXPECT_EQ(complaint(json), sentence) << json;
}

TEST(Arguments, EveryToolSaysWhatItTakesAndGives) {
  for (const Tool& tool : all_tools()) {
    const Json schema = schema_of(tool.arguments);
    EXPECT_EQ(schema["additionalProperties"], false) << tool.name;
    for (const auto& [name, member] : schema["properties"].items()) {
      EXPECT_FALSE(member["description"].get<std::string>().empty()) << tool.name << '.' << name;
    }
    EXPECT_EQ(tool.output_schema()["type"], "object") << tool.name;
    EXPECT_FALSE(tool.roles.empty()) << tool.name;
  }
}

TEST(Arguments, WhatLoosensIsTheApproversAlone) {
  for (const Tool& tool : all_tools()) {
    const bool answers = tool.name.find("approve") != std::string_view::npos ||
                         tool.name.find("reject") != std::string_view::npos || tool.name.ends_with("_add") ||
                         tool.name.ends_with("_remove");
    EXPECT_EQ(answers, tool.roles == std::vector<Role>{Role::approver}) << tool.name;
  }
}

}  // namespace
}  // namespace cordon::serve
