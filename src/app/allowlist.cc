// cordon allowlist: commands that run without being asked about.
#include "policy/allowlist.h"
#include "base/json.h"

#include <unistd.h>

#include <iostream>

#include "app/changes.h"
#include "app/presence.h"
#include "app/surroundings.h"
#include "app/terminal.h"
#include "app/verbs.h"
#include "base/text.h"
#include "guard/judge.h"

namespace cordon::app {

namespace {

struct Options {
  std::string pattern;
  std::string reason;
  std::string expires;
  bool still_ask = false;
  std::vector<std::string> command;
  PresenceOptions presence;
};

Result<std::optional<Time>> expiry_of(const std::string& text, Time now) {
  if (text.empty()) return std::optional<Time>();
  if (const auto lasts = parse_duration(text)) return std::optional<Time>(now + *lasts);
  const auto time = from_rfc3339(text);
  if (!time)
    return fail(Fault::invalid_input, "--expires wants a time (2026-12-31) or a duration (30d), not '{}'", text);
  if (*time <= now) return fail(Fault::invalid_input, "--expires {} is in the past", text);
  return time;
}

Result<int> add(const GlobalOptions& global, const Options& options) {
  const Time now = SystemClock().now();
  policy::AllowlistEntry entry{.pattern = options.pattern, .reason = options.reason, .added_at = now};
  entry.expires = TRY(expiry_of(options.expires, now));
  entry.auto_approve = !options.still_ask;
  const auto presence =
      TRY(prove_presence(global, options.presence,
                         "Let '" + visible(options.pattern, Lines::escape) + "' run without asking from now on?"));
  entry.added_by = TRY(user_name()) + " (" + approve::name_of(presence) + ")";
  CHECK_OK(record_change(global, RecordKind::policy_changed, "allowlist add: " + options.pattern,
                         {{"presence", approve::name_of(presence)}, {"reason", options.reason.substr(0, 1024)}}));
  CHECK_OK(policy::AllowlistStore(TRY(state_directory(global))).add(std::move(entry)));
  if (global.json) {
    std::cout << Json{{"success", true}, {"pattern", options.pattern}, {"message", "Pattern added to allowlist"}}.dump(
                     2)
              << '\n';
  } else if (!global.quiet) {
    std::cout << "Pattern added to allowlist: " << visible(options.pattern, Lines::escape) << '\n';
  }
  return exit_code::done;
}

Result<int> remove(const GlobalOptions& global, const Options& options) {
  CHECK_OK(record_change(global, RecordKind::policy_changed, "allowlist remove: " + options.pattern, {}));
  CHECK_OK(policy::AllowlistStore(TRY(state_directory(global))).remove(options.pattern));
  if (global.json) {
    std::cout
        << Json{{"success", true}, {"pattern", options.pattern}, {"message", "Pattern removed from allowlist"}}.dump(2)
        << '\n';
  } else if (!global.quiet) {
    std::cout << "Pattern removed from allowlist: " << visible(options.pattern, Lines::escape) << '\n';
  }
  return exit_code::done;
}

Json to_json(const policy::AllowlistEntry& entry, Time now) {
  return {{"pattern", entry.pattern},
          {"reason", entry.reason},
          {"added_by", entry.added_by},
          {"added_at", to_rfc3339(entry.added_at)},
          {"expires", entry.expires ? Json(to_rfc3339(*entry.expires)) : Json()},
          {"auto_approve", entry.auto_approve},
          {"expired", entry.expires && *entry.expires <= now}};
}

Result<int> list(const GlobalOptions& global) {
  const auto allowlist = TRY(policy::AllowlistStore(TRY(state_directory(global))).read());
  const Time now = SystemClock().now();
  if (global.json) {
    Json entries = Json::array();
    for (const auto& entry : allowlist.entries()) entries.push_back(to_json(entry, now));
    std::cout << Json{{"entries", entries}}.dump(2) << '\n';
    return exit_code::done;
  }
  if (allowlist.entries().empty() && !global.quiet) std::cerr << "The allowlist is empty.\n";
  for (const auto& entry : allowlist.entries()) {
    std::cout << visible(entry.pattern, Lines::escape);
    if (!entry.reason.empty()) std::cout << "  # " << visible(entry.reason, Lines::escape);
    if (!entry.auto_approve) std::cout << "  (still asks)";
    if (entry.expires)
      std::cout << (*entry.expires <= now ? "  (expired)" : "  (until " + to_rfc3339(*entry.expires) + ")");
    std::cout << '\n';
  }
  return exit_code::done;
}

Result<int> test(const GlobalOptions& global, const Options& options) {
  const Surroundings here = TRY(Surroundings::find(global, {}));
  const guard::Judgement judgement = guard::judge(command_text(options.command), here.circumstances());
  const Json answer = guard::coverage_json(judgement, here.settings(), here.allowlist(), here.now());
  const std::string& pattern = judgement.verdict.allowlisted;
  if (global.json || !is_terminal(STDOUT_FILENO))
    std::cout << answer.dump(2) << '\n';
  else
    std::cout << (pattern.empty() ? "no entry covers it" : "covered by: " + visible(pattern, Lines::escape)) << '\n';
  return pattern.empty() ? 1 : 0;
}

}  // namespace

void define_allowlist(CommandLine& line) {
  const Verb verb = line.verb("allowlist", "Commands that run without being asked about");
  verb.require_part();
  const auto options = std::make_shared<Options>();

  const Verb add_verb =
      CommandLine::part(verb, "add", "Add a pattern: words from the start of a command, e.g. 'cargo build'");
  add_verb.add_option("PATTERN", options->pattern, "Words in order; * at the end or inside a word").required();
  add_verb.add_option("--reason", options->reason, "Why, for whoever reads the list").type_name("TEXT");
  add_verb.add_option("--expires", options->expires, "Until then, or for that long").type_name("TIME");
  add_verb.add_flag("--still-ask", options->still_ask, "List and show it, but keep asking");
  add_presence_options(add_verb, options->presence);
  add_verb.example("sandbox-allowlist add 'cargo build' --reason 'builds only' --expires 30d");
  add_verb.exits(exit_code::refused, "no presence: not a terminal, or not the approver's secret");
  line.does(add_verb, [&line, options] { return finish(add(line.global(), *options)); });

  const Verb remove_verb = CommandLine::part(verb, "remove", "Remove a pattern");
  remove_verb.add_option("PATTERN", options->pattern, "Exactly as listed").required();
  remove_verb.example("sandbox-allowlist remove 'cargo build'");
  line.does(remove_verb, [&line, options] { return finish(remove(line.global(), *options)); });

  const Verb list_verb = CommandLine::part(verb, "list", "List the patterns");
  list_verb.example("sandbox-allowlist list --json");
  line.does(list_verb, [&line] { return finish(list(line.global())); });

  const Verb test_verb = CommandLine::part(verb, "test", "Say which entry, if any, covers a command");
  test_verb.add_option("COMMAND", options->command, "The command, quoted as one word (or words after --)").required();
  test_verb.example("sandbox-allowlist test 'cargo build --release'");
  test_verb.exits(0, "covered");
  test_verb.exits(1, "not covered");
  line.does(test_verb, [&line, options] { return finish(test(line.global(), *options)); });
}

}  // namespace cordon::app
