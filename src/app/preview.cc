// cordon preview: what commands did where nothing of it stayed, to be looked at, committed or dropped.
#include <iostream>

#include "app/decision.h"
#include "app/entry_text.h"
#include "app/guard_for.h"
#include "app/streams.h"
#include "app/terminal.h"
#include "app/verbs.h"
#include "base/text.h"
#include "sandbox/preview/describe.h"

namespace cordon::app {

namespace {

namespace preview = sandbox::preview;

struct Options {
  std::string id;
  std::string approval;
  PresenceOptions presence;
};

Result<preview::Store> open_store(const GlobalOptions& global, const Clock& clock) {
  return preview::Store(TRY(state_directory(global)), clock);
}

/// What is in the queue is for an approver: others get the names of the previews and no more.
Result<void> may_see(const GlobalOptions& global, const Options& options, const preview::Preview& kept) {
  if (kept.approval.empty() || may_look(global, options.presence)) return {};
  return fail(Fault::denied, "{} is for the approver of {}: do this at a terminal, or give the approver's token",
              kept.id, kept.approval);
}

Result<int> list(const GlobalOptions& global) {
  const SystemClock clock;
  const auto previews = TRY(TRY(open_store(global, clock)).list());
  if (global.json) {
    Json array = Json::array();
    for (const preview::Preview& kept : previews) array.push_back(summary_json(kept, preview::Detail::names));
    std::cout << to_json_text(array) << '\n';
    return exit_code::done;
  }
  if (previews.empty() && !global.quiet)
    std::cerr << "No previews are kept. Make one: sandbox-exec --dry-run --keep …\n";
  for (const preview::Preview& kept : previews) {
    std::cout << kept.id << "  " << distance(kept.created, clock.now()) << "  "
              << (kept.approval.empty() ? summary(kept.list) : "for the approver of " + kept.approval) << "  "
              << in_one_line(kept.command, 0) << '\n';
  }
  return exit_code::done;
}

Result<int> show(const GlobalOptions& global, const Options& options) {
  const SystemClock clock;
  const preview::Preview kept = TRY(TRY(open_store(global, clock)).find(options.id));
  CHECK_OK(may_see(global, options, kept));
  const auto conflicts = TRY(preview::conflicts_of(kept));
  if (global.json) {
    Json object = summary_json(kept, preview::Detail::diffs);
    object["conflicts"] = conflicts;
    std::cout << to_json_text(object) << '\n';
    return exit_code::done;
  }
  std::cout << text_of(kept, preview::Detail::diffs);
  for (const std::string& conflict : conflicts) std::cout << "CHANGED SINCE: " << conflict << '\n';
  return exit_code::done;
}

Result<guard::Guard> guard_of(const GlobalOptions& global, const preview::Preview& kept, const Clock& clock) {
  return guard_for_stored(global, TRY(plan::request_of(kept.plan)), clock);
}

Result<int> commit(const GlobalOptions& global, const Options& options) {
  const SystemClock clock;
  const preview::Preview kept = TRY(TRY(open_store(global, clock)).find(options.id));
  guard::Guard guard = TRY(guard_of(global, kept, clock));
  const StopOnSignal stop;
  return say_committed(global, TRY(guard.commit(kept.id, {.approval = options.approval}, stop.token())));
}

Result<int> discard(const GlobalOptions& global, const Options& options) {
  const SystemClock clock;
  const preview::Preview kept = TRY(TRY(open_store(global, clock)).find(options.id));
  // Else what an approver looked at could be exchanged for another before they answer.
  CHECK_OK(may_see(global, options, kept));
  guard::Guard guard = TRY(guard_of(global, kept, clock));
  const guard::Discarded discarded = TRY(guard.discard(kept.id));
  if (global.json) {
    std::cout << to_json_text({{"success", true}, {"preview", discarded.id}, {"rolled_back", discarded.rolled_back}})
              << '\n';
  } else if (!global.quiet) {
    std::cout << "Discarded " << discarded.id << (discarded.rolled_back ? "; its half-done commit was undone" : "")
              << ".\n";
  }
  return exit_code::done;
}

Verb with_id(Verb verb, const std::shared_ptr<Options>& options) {
  verb.add_option("ID", options->id, "The whole id, e.g. prv_4c1f0a9b27d3e865").required();
  return verb;
}

}  // namespace

void define_preview(CommandLine& line) {
  const Verb verb = line.verb("preview", "Look at, commit or drop what commands did in a dry run that was kept");
  verb.require_part();
  const auto options = std::make_shared<Options>();
  const Verb list_verb = CommandLine::part(verb, "list", "List the previews that are kept");
  list_verb.example("cordon preview list");
  line.does(list_verb, [&line] { return finish(list(line.global())); });
  const Verb show_verb = with_id(CommandLine::part(verb, "show", "Show output, changes and conflicts of one"), options);
  add_presence_options(show_verb, options->presence);
  show_verb.example("cordon preview show prv_4c1f0a9b27d3e865");
  line.does(show_verb, [&line, options] { return finish(show(line.global(), *options)); });
  const Verb commit_verb = with_id(
      CommandLine::part(verb, "commit", "Apply exactly its changes, or go on with a commit that was cut off"), options);
  commit_verb.add_option("--approval", options->approval, "Commit by this approval").type_name("ID");
  commit_verb.example("cordon preview commit prv_4c1f0a9b27d3e865");
  commit_verb.exits(exit_code::queued, "not committed: waits for approval");
  commit_verb.exits(exit_code::refused, "refused");
  line.does(commit_verb, [&line, options] { return finish(commit(line.global(), *options)); });
  const Verb discard_verb =
      with_id(CommandLine::part(verb, "discard", "Drop it; a commit that was cut off is undone"), options);
  add_presence_options(discard_verb, options->presence);
  discard_verb.example("cordon preview discard prv_4c1f0a9b27d3e865");
  line.does(discard_verb, [&line, options] { return finish(discard(line.global(), *options)); });
}

}  // namespace cordon::app
