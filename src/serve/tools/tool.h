// The tools that agents, approvers and auditors call, over MCP and HTTP alike: each is a row of data and one function.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "sandbox/sandbox.h"
#include "serve/premises.h"
#include "serve/tools/arguments.h"

namespace cordon::serve {

/// How far a call has come. `done` only grows.
struct Progress {
  double done = 0;
  std::string message;
};

struct Call {
  const Caller& caller;
  const Json& arguments;                          // checked
  std::function<void(const Progress&)> progress;  // empty: nobody wants to know
  std::stop_token stop;
  /// Told of what runs prints, as it comes. Empty: the answer is enough.
  std::function<void(sandbox::Stream, std::string_view)> output = {};
  /// How long to stay for a person's answer where the arguments do not say.
  std::optional<Duration> wait = {};
};

/// What a client may assume of a tool (MCP's annotations).
struct Hints {
  bool read_only = false;
  bool destructive = false;
  bool idempotent = false;
};

struct Tool {
  std::string_view name;
  std::string_view title;
  std::string_view description;  // for a model
  std::span<const Argument> arguments;
  Json (*output_schema)();
  Hints hints;
  std::vector<Role> roles;       // who may use it
  std::string_view policy_name;  // the tool of the tool policy that it gives; empty: none
  Result<Json> (*call)(const Premises& premises, const Call& call);
  std::string_view denied_with = {};  // a deny of this tool takes it away too
};

/// All of them, always in this order.
std::span<const Tool> all_tools();

/// Those that this caller has: by its role, and by what the settings' tool policy gives its agent.
std::vector<const Tool*> tools_for(const Caller& caller, const Settings& settings);
/// Nothing when there is none, or none for this caller: the two look alike.
const Tool* find_tool(std::string_view name, const Caller& caller, const Settings& settings);

/// Checks the arguments and calls. The error's sentence is written for whoever called.
Result<Json> call_tool(const Tool& tool, const Premises& premises, const Call& call);

/// Whether the answer tells of something that was not done: refused, waiting, broken.
bool is_failure(const Json& answer);
/// One sentence that says what came of it and what to do next; empty when the answer speaks for itself.
std::string advice_on(const Json& answer);

}  // namespace cordon::serve
