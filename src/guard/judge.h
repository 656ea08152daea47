// Text in, verdict out: parse once, decide on the parse. Nothing here runs anything or changes anything.
#pragma once

#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "model/analysis.h"
#include "model/script.h"
#include "model/settings.h"
#include "model/verdict.h"
#include "policy/allowlist.h"

namespace cordon::guard {

/// What a judgement depends on besides the text.
struct Circumstances {
  const Settings& settings;
  const policy::Allowlist& allowlist;
  RiskContext place;
  std::string agent = "main";
  std::string session;
  bool clean_room = false;
  bool require_approval = false;
  Time now{};
};

struct Judgement {
  Script script;
  Analysis analysis;
  Verdict verdict;
};

Judgement judge(std::string_view text, const Circumstances& circumstances);

/// The check object: the seed's five fields first, then ours.
Json to_json(const Judgement& judgement);

/// {matched, pattern, reason, covers[]}: which allowlist entry, if any, covers it and each of its simple commands.
Json coverage_json(const Judgement& judgement, const Settings& settings, const policy::Allowlist& allowlist, Time now);

/// Short human phrases, one per distinct cause, the gravest first.
std::vector<std::string> reasons_of(const Judgement& judgement);

}  // namespace cordon::guard
