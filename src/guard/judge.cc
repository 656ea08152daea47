#include "guard/judge.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "policy/decide.h"
#include "risk/analyse.h"
#include "shell/read.h"

namespace cordon::guard {

namespace {

ShellState state_of(const RiskContext& place) {
  ShellState state;
  if (!place.home.empty()) state.variables["HOME"] = place.home;
  if (!place.user.empty()) state.variables["USER"] = place.user;
  state.variables["PWD"] = place.cwd;
  state.positional_known = false;  // whoever calls may give some

  return state;
}

const char* action_word(Action action) {
  switch (action) {
    case Action::allow:
      return "execute";
    case Action::ask:
      return "queue_for_approval";
    case Action::deny:
      return "block";
  }
  return "block";
}

const char* name_of_need(Need::Kind kind) {
  switch (kind) {
    case Need::Kind::read_path:
      return "read";
    case Need::Kind::write_path:
      return "write";
    case Need::Kind::host:
      return "host";
    case Need::Kind::elevation:
      return "elevation";
  }
  return "elevation";
}

/// Commands may hold bytes that are no text; JSON cannot.
std::string as_text(std::string_view bytes) {
  return is_utf8(bytes) ? std::string(bytes) : visible(bytes, Lines::keep);
}

template <class Strings>
Json texts(const Strings& strings) {
  Json array = Json::array();
  for (const std::string& string : strings) array.push_back(as_text(string));
  return array;
}

}  // namespace

Judgement judge(std::string_view text, const Circumstances& circumstances) {
  static const ReadScript read = [](std::string_view inner, const ShellState& state) {
    return shell::read(inner, state);
  };
  static const policy::Canonical canonical = [](const std::vector<std::string>& words) {
    return risk::canonical(words);
  };
  Judgement judgement;
  judgement.script = shell::read(text, state_of(circumstances.place));
  judgement.analysis = risk::analyse(judgement.script, circumstances.place, read);
  judgement.verdict = policy::decide(judgement.analysis, {.settings = circumstances.settings,
                                                          .allowlist = circumstances.allowlist,
                                                          .canonical = canonical,
                                                          .agent = circumstances.agent,
                                                          .session = circumstances.session,
                                                          .clean_room = circumstances.clean_room,
                                                          .require_approval = circumstances.require_approval,
                                                          .now = circumstances.now});
  return judgement;
}

std::vector<std::string> reasons_of(const Judgement& judgement) {
  std::vector<std::string> reasons;
  const auto add = [&](const std::string& reason) {
    if (!reason.empty() && std::find(reasons.begin(), reasons.end(), reason) == reasons.end())
      reasons.push_back(reason);
  };
  // An entry of the settings that made it graver than the command itself is the gravest cause.
  if (judgement.verdict.risk > judgement.analysis.risk) add(judgement.verdict.reason);
  for (const Finding& finding : judgement.analysis.findings) add(finding.reason);
  if (judgement.verdict.action != Action::allow) add(judgement.verdict.reason);
  return reasons;
}

Json to_json(const Judgement& judgement) {
  const auto& [script, analysis, verdict] = judgement;
  Json effects = Json::array();
  for (const Effect& effect : analysis.effects) {
    effects.push_back({{"kind", name_of(effect.kind)}, {"target", as_text(effect.target)}});
  }
  std::vector<std::string> safer;
  for (const Finding& finding : analysis.findings) {
    if (!finding.safer.empty() && std::find(safer.begin(), safer.end(), finding.safer) == safer.end()) {
      safer.push_back(finding.safer);
    }
  }
  Json object = {{"command", as_text(script.text)},
                 {"risk_level", name_of(verdict.risk)},
                 {"risk_reasons", texts(reasons_of(judgement))},
                 {"requires_approval", verdict.action == Action::ask},
                 {"suggested_action", action_word(verdict.action)},
                 {"understood", analysis.understood},
                 {"rule", verdict.rule},
                 {"effects", std::move(effects)},
                 {"safer", texts(safer)},
                 {"allowlisted", verdict.allowlisted.empty() ? Json() : Json(verdict.allowlisted)},
                 {"decided_by", verdict.origin.text()}};
  Json grants = Json::array();
  for (const Need& need : verdict.grants) {
    grants.push_back({{"kind", name_of_need(need.kind)}, {"target", as_text(need.target)}});
  }
  object["grants"] = std::move(grants);
  object["needs"] = verdict.needs_host ? Json("host") : Json();
  object["where"] = name_of(verdict.where);
  return object;
}

Json coverage_json(const Judgement& judgement, const Settings& settings, const policy::Allowlist& allowlist, Time now) {
  const policy::Rules rules{.settings = settings, .allowlist = allowlist, .canonical = {}, .now = now};
  Json covers = Json::array();
  for (const Invocation& call : judgement.analysis.invocations) {
    const auto cover = policy::cover_of(call, rules);
    std::string words;
    for (const std::string& word : call.words) words += (words.empty() ? "" : " ") + shell_word(word);
    covers.push_back({{"command", visible(call.words.size() == 1 ? call.words.front() : words, Lines::escape)},
                      {"entry", cover ? Json(cover->pattern) : Json()},
                      {"why_not", cover ? Json() : Json(call.uncoverable)}});
  }
  const std::string& pattern = judgement.verdict.allowlisted;
  std::string reason;
  for (const auto& entry : allowlist.entries()) {
    if (entry.pattern == pattern) reason = entry.reason;
  }
  return {{"matched", !pattern.empty()},
          {"pattern", pattern.empty() ? Json() : Json(pattern)},
          {"reason", reason},
          {"covers", covers}};
}

}  // namespace cordon::guard
