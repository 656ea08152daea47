#include "policy/decide.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "policy/placement.h"

namespace cordon::policy {

namespace {

struct DenyHit {
  const Entry* entry;
  Match match;
};

/// The firmest match of any entry with any call.
std::optional<DenyHit> firmest(const std::vector<Entry>& entries, const Analysis& analysis, const Rules& rules) {
  std::optional<DenyHit> best;
  for (const Entry& entry : entries) {
    if (entry.value == "*") continue;  // "everything" is no pattern; see asks_for_everything
    const DenyPattern pattern(entry.value, rules.canonical);
    for (const Invocation& call : analysis.invocations) {
      const Match match = pattern.matches(call);
      if (match == Match::no || (best && best->match >= match)) continue;
      best = DenyHit{&entry, match};
      if (match == Match::yes) return best;
    }
  }
  return best;
}

const Entry* asks_for_everything(const Settings& settings) {
  const auto found = std::find_if(settings.dangerous.begin(), settings.dangerous.end(),
                                  [](const Entry& entry) { return entry.value == "*"; });
  return found == settings.dangerous.end() ? nullptr : &*found;
}

/// The cover of a whole script: every call in it must be covered, and nothing in it may be graver than its gravest
/// call (a flow, a redirect, text that was not understood).
std::optional<Cover> cover_of_all(const Analysis& analysis, const Rules& rules) {
  if (!analysis.understood || analysis.invocations.empty()) return std::nullopt;
  Risk gravest = Risk::safe;
  std::optional<Cover> first;
  bool auto_approve = true;
  for (const Invocation& call : analysis.invocations) {
    gravest = std::max(gravest, call.risk);
    // What only carries another call (timeout, env) adds nothing that would need an entry of its own.
    if (call.wrapper && call.risk < Risk::dangerous && call.uncoverable.empty()) continue;
    auto cover = cover_of(call, rules);
    if (!cover) return std::nullopt;
    auto_approve = auto_approve && cover->auto_approve;
    if (!first) first = std::move(cover);
  }
  if (!first || analysis.risk > gravest) return std::nullopt;
  first->auto_approve = auto_approve;
  return first;
}

/// One row of the table of level × risk.
struct Cell {
  Action listed;
  Action unlisted;
};

// Columns: safe, normal, dangerous, critical. Disallowed is refused everywhere. `allowlist` × safe is decided by
// "Auto-approve safe", which stands for being listed.
constexpr auto x = Action::allow;
constexpr auto ask = Action::ask;
constexpr auto no = Action::deny;
constexpr std::array<std::array<Cell, 4>, 4> table = {{
    /* deny      */ {{{x, no}, {x, no}, {x, no}, {no, no}}},
    /* allowlist */ {{{x, ask}, {x, ask}, {x, ask}, {no, no}}},
    /* ask       */ {{{x, x}, {x, x}, {x, ask}, {no, no}}},
    /* full      */ {{{x, x}, {x, x}, {x, x}, {ask, ask}}},
}};

std::string leading_reason(const Analysis& analysis) {
  return analysis.findings.empty() ? "" : analysis.findings.front().reason;
}

std::string leading_rule(const Analysis& analysis, const Settings& settings) {
  if (!analysis.findings.empty() && analysis.findings.front().risk == analysis.risk) {
    return analysis.findings.front().rule;
  }
  return fmt::format("level.{}", name_of(settings.level.value));
}

void by_level(const Analysis& analysis, const Rules& rules, const std::optional<Cover>& cover, Verdict& verdict) {
  const Settings& settings = rules.settings;
  verdict.rule = leading_rule(analysis, settings);
  verdict.origin = settings.level.origin;
  verdict.reason = leading_reason(analysis);
  if (analysis.risk == Risk::disallowed) {
    verdict.action = Action::deny;
    return;
  }
  const bool safe_counts = settings.level.value == SecurityLevel::allowlist && analysis.risk == Risk::safe &&
                           settings.approval.auto_approve_safe.value;
  const Cell cell = table[static_cast<std::size_t>(settings.level.value)][static_cast<std::size_t>(analysis.risk)];
  const bool listed = cover.has_value() || safe_counts;
  verdict.action = listed ? cell.listed : cell.unlisted;
  if (cover && verdict.action == Action::allow) {
    verdict.rule = "allowed: " + cover->pattern;
    verdict.origin = cover->origin;
    if (!cover->auto_approve) verdict.action = Action::ask;
    return;
  }
  if (verdict.action == Action::deny && settings.level.value == SecurityLevel::deny && verdict.reason.empty()) {
    verdict.reason = "The security level is deny and no Allowed entry covers this";
  }
  // "Dangerous: *" asks about what neither an entry nor "safe" speaks for.
  const Entry* everything = asks_for_everything(settings);
  const bool spoken_for = listed || (analysis.risk == Risk::safe && settings.approval.auto_approve_safe.value);
  if (everything != nullptr && verdict.action == Action::allow && !spoken_for) {
    verdict.action = Action::ask;
    verdict.rule = "dangerous: *";
    verdict.origin = everything->origin;
    verdict.reason = "Everything that is not listed asks";
  }
}

struct HostAndPort {
  std::string_view host;
  std::string_view port;  // empty: the web's
};

HostAndPort split_port(std::string_view target) {
  if (target.starts_with('[')) {
    const std::size_t end = std::min(target.find(']'), target.size() - 1);
    return {target.substr(1, end - 1), target.substr(std::min(target.size(), end + 2))};
  }
  const std::size_t colon = target.find(':');
  if (colon == std::string_view::npos || target.find(':', colon + 1) != std::string_view::npos) return {target, {}};
  return {target.substr(0, colon), target.substr(colon + 1)};
}

bool port_fits(std::string_view wanted, std::string_view given) {
  const auto of_the_web = [](std::string_view port) { return port.empty() || port == "80" || port == "443"; };
  return wanted == given || ((wanted.empty() || given.empty()) && of_the_web(wanted) && of_the_web(given));
}

/// What the proxy decides again, for every connection and by its exact port.
bool host_allowed(const std::string& target, const Settings& settings, const SandboxSettings& sandbox) {
  const auto [host, port] = split_port(target);
  return std::any_of(sandbox.network.begin(), sandbox.network.end(), [&](const NetworkRule& rule) {
    if (!rule.preset.empty()) {
      const auto preset = settings.presets.find(rule.preset);
      if (preset == settings.presets.end()) return false;
      return std::any_of(preset->second.begin(), preset->second.end(), [&](const std::string& one) {
        return split_port(one).host == host && port_fits(port, split_port(one).port);
      });
    }
    if (!port_fits(port, rule.port ? std::to_string(*rule.port) : "")) return false;
    return rule.subdomains ? host.size() > rule.host.size() + 1 && host.ends_with("." + rule.host) : host == rule.host;
  });
}

bool is_inside(std::string_view path, std::string_view directory) {
  return path == directory || (path.starts_with(directory) && (directory == "/" || path[directory.size()] == '/'));
}

bool path_allowed(const Need& need, const Settings& settings, const SandboxSettings& sandbox) {
  const bool writes = need.kind == Need::Kind::write_path;
  for (const PathRule& rule : settings.filesystem) {
    if (is_inside(need.target, rule.path))
      return rule.access == PathAccess::rw || (rule.access == PathAccess::ro && !writes);
  }
  return std::any_of(sandbox.binds.begin(), sandbox.binds.end(), [&](const auto& bind) {
    return is_inside(need.target, bind.target) && (bind.access == PathAccess::rw || !writes);
  });
}

/// What the run needs beyond the settings becomes a grant, which only a person gives.
void add_grants(const Analysis& analysis, const Rules& rules, Verdict& verdict) {
  const SandboxSettings& sandbox = rules.settings.agent(rules.agent).sandbox;
  for (const Need& need : analysis.needs) {
    if (need.kind == Need::Kind::elevation) {
      verdict.needs_host = true;
      continue;
    }
    const bool given = need.kind == Need::Kind::host ? host_allowed(need.target, rules.settings, sandbox)
                                                     : path_allowed(need, rules.settings, sandbox);
    if (!given) verdict.grants.push_back(need);
  }
  if (verdict.needs_host && verdict.action != Action::deny) {
    verdict.action = Action::deny;
    verdict.rule = "needs.host";
    verdict.origin = {};
    verdict.reason = "Needs the host itself: only an elevated pattern can run this";
  }
  if (!verdict.grants.empty() && verdict.action == Action::allow) {
    verdict.action = Action::ask;
    verdict.rule = "grant";
    verdict.origin = {};
    verdict.reason = fmt::format("Needs {}, which the settings do not give", verdict.grants.front().target);
  }
}

/// Every call of the script must match a pattern: `git status; git push` is not `git push`.
const Entry* elevated_by(const Analysis& analysis, const ElevatedSettings& elevated) {
  if (!elevated.enabled.value || !analysis.understood || analysis.invocations.empty()) return nullptr;
  if (analysis.risk >= Risk::critical) return nullptr;
  const Entry* first = nullptr;
  for (const Invocation& call : analysis.invocations) {
    const auto found = std::find_if(elevated.patterns.begin(), elevated.patterns.end(),
                                    [&](const Entry& entry) { return AllowPattern(entry.value).names(call); });
    if (found == elevated.patterns.end()) return nullptr;
    if (first == nullptr) first = &*found;
  }
  return first;
}

void ask_if_required(const Rules& rules, Verdict& verdict) {
  if (!rules.require_approval || verdict.action != Action::allow) return;
  verdict.action = Action::ask;
  verdict.rule = "require-approval";
  verdict.origin = {};
  verdict.reason = "Approval was asked for";
}

}  // namespace

std::optional<Cover> cover_of(const Invocation& call, const Rules& rules) {
  for (const Entry& entry : rules.settings.allowed) {
    if (AllowPattern(entry.value).covers(call)) return Cover{entry.value, entry.origin, true};
  }
  if (const AllowlistEntry* entry = rules.allowlist.covering(call, rules.now)) {
    return Cover{entry->pattern, Origin{"allowlist"}, entry->auto_approve};
  }
  return std::nullopt;
}

Verdict decide(const Analysis& analysis, const Rules& rules) {
  Verdict verdict{.risk = analysis.risk};
  const Settings& settings = rules.settings;

  const auto disallowed = firmest(settings.disallowed, analysis, rules);
  if (disallowed && disallowed->match == Match::yes) {
    verdict.action = Action::deny;
    verdict.risk = Risk::disallowed;
    verdict.rule = "disallowed: " + disallowed->entry->value;
    verdict.origin = disallowed->entry->origin;
    verdict.reason = fmt::format("Matches the disallowed entry '{}'", disallowed->entry->value);
    return verdict;
  }

  if (rules.clean_room) {
    verdict.action = Action::allow;
    verdict.rule = "clean-room";
    ask_if_required(rules, verdict);
    return verdict;
  }

  const auto dangerous = firmest(settings.dangerous, analysis, rules);
  const bool entry_asks = dangerous || disallowed;  // a word that cannot be known might be the one that is named
  const auto cover = entry_asks ? std::nullopt : cover_of_all(analysis, rules);
  if (cover) verdict.allowlisted = cover->pattern;
  by_level(analysis, rules, cover, verdict);
  if (entry_asks && analysis.risk < Risk::critical) {
    const Entry& entry = disallowed ? *disallowed->entry : *dangerous->entry;
    verdict.action = settings.level.value == SecurityLevel::deny ? Action::deny : Action::ask;
    verdict.risk = std::max(verdict.risk, Risk::dangerous);
    verdict.rule = (disallowed ? "disallowed: " : "dangerous: ") + entry.value;
    verdict.origin = entry.origin;
    verdict.reason = disallowed
                         ? fmt::format("May match the disallowed entry '{}': a word cannot be known", entry.value)
                         : fmt::format("Matches the dangerous entry '{}'", entry.value);
  }

  const ElevatedSettings& elevated = settings.agent(rules.agent).elevated;
  // On the host nothing is closed that would have to be opened.
  if (placement_of(settings, rules.agent, rules.session).where == Where::host) {
    verdict.where = Where::host;
    ask_if_required(rules, verdict);
    return verdict;
  }
  const Entry* pattern = verdict.action == Action::deny ? nullptr : elevated_by(analysis, elevated);
  if (pattern != nullptr) {
    verdict.where = Where::host;
    verdict.rule = "elevated: " + pattern->value;
    verdict.origin = pattern->origin;
    verdict.reason = fmt::format("Runs on the host by the elevated pattern '{}'", pattern->value);
    if (elevated.require_approval.value) verdict.action = Action::ask;
  } else {
    add_grants(analysis, rules, verdict);
  }
  ask_if_required(rules, verdict);
  return verdict;
}

}  // namespace cordon::policy
