// What the settings mean for sessions and commands, told by the functions that exec itself uses.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "guard/execution.h"
#include "guard/session.h"
#include "policy/placement.h"

namespace cordon::guard {

struct Explanation {
  struct SessionRow {
    std::string key;
    policy::Placement placement;
  };
  struct ElevatedRow {
    std::string pattern;
    Origin origin;
    bool with_approval = true;
  };
  std::string agent;
  SandboxSettings sandbox;
  std::vector<SessionRow> sessions;  // every one seen so far, and the one asked for
  bool elevated_enabled = false;
  std::vector<ElevatedRow> elevated;
  ToolSettings tools;
  std::vector<std::string> effective_tools;
  std::optional<Judgement> command;  // with --command
  Json plan;                         // what would run, where it would
  std::string obstacle;              // why it would not even be asked about; empty: nothing is in its way
  std::vector<std::string> probe;    // with --probe: what is in force, one sentence each
};

/// Without command and probe.
Explanation explain(const Settings& settings, const std::string& agent, const std::string& session,
                    const std::vector<Session>& seen);
std::string to_text(const Explanation& explanation);
Json to_json(const Explanation& explanation);

}  // namespace cordon::guard
