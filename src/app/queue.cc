// cordon queue: requests that wait for a person.
#include "approve/queue.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <iostream>
#include <thread>

#include "app/changes.h"
#include "app/decision.h"
#include "app/entry_text.h"
#include "app/terminal.h"
#include "app/verbs.h"
#include "app/watch.h"
#include "base/text.h"
#include "sandbox/preview/describe.h"

namespace cordon::app {

namespace {

struct Options {
  std::string id;
  std::string status = "pending";
  std::string by;
  std::string reason;
  std::string timeout;
  std::string older_than;
  bool background = false;
  ApproveOptions approve;
};

std::size_t terminal_columns() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

Style style_of(Risk risk) {
  if (risk >= Risk::critical) return Style::red;
  return risk == Risk::dangerous ? Style::yellow : Style::plain;
}

void print_table(const std::vector<approve::Entry>& entries, Time now) {
  constexpr const char* form = "{:<16}  {:<8}  {:<10}  {:<8}  {:<18}  ";
  const std::string head = fmt::format(form, "ID", "STATUS", "RISK", "ASKED", "BY");
  std::cout << styled(head + "COMMAND", Style::bold, STDOUT_FILENO) << '\n';
  const std::size_t columns = terminal_columns();
  // A narrow terminal wraps rather than hiding the command.
  const std::size_t room = columns > head.size() + 30 ? columns - head.size() : 0;
  for (const approve::Entry& entry : entries) {
    const std::string row = fmt::format(form, entry.id, approve::name_of(entry.state), name_of(entry.request.risk),
                                        distance(entry.created_at, now), asker_of(entry));
    std::cout << styled(row, style_of(entry.request.risk), STDOUT_FILENO) << in_one_line(entry.request.command, room)
              << '\n';
  }
}

Result<std::optional<approve::State>> state_of(const std::string& status) {
  if (status == "all") return std::optional<approve::State>();
  const auto state = approve::state_named(status);
  if (!state) {
    return fail(Fault::invalid_input,
                "--status '{}': one of pending, approved, rejected, expired, drifted, executed, failed, all", status);
  }
  return state;
}

Result<int> list(const GlobalOptions& global, const Options& options) {
  const SystemClock clock;
  const auto state = TRY(state_of(options.status));
  approve::Queue queue = TRY(open_queue(global, clock));
  const auto entries = TRY(queue.list(state));
  if (global.json) {
    Json array = Json::array();
    for (const approve::Entry& entry : entries) array.push_back(approve::to_json(entry));
    std::cout << to_json_text(array) << '\n';
    return exit_code::done;
  }
  if (entries.empty()) {
    if (!global.quiet) {
      std::cerr << (state == approve::State::pending ? "Nothing waits for approval.\n" : "No such entries.\n");
    }
    return exit_code::done;
  }
  if (is_terminal(STDOUT_FILENO)) {
    print_table(entries, clock.now());
    return exit_code::done;
  }
  for (const approve::Entry& entry : entries) {
    std::cout << entry.id << '\t' << approve::name_of(entry.state) << '\t' << name_of(entry.request.risk) << '\t'
              << to_rfc3339(entry.created_at) << '\t' << asker_of(entry) << '\t'
              << in_one_line(entry.request.command, 0) << '\n';
  }
  return exit_code::done;
}

/// What changed is worth knowing while it can still be answered.
std::vector<std::string> live_drift(const GlobalOptions& global, const approve::Entry& entry, const Clock& clock) {
  if (entry.state != approve::State::pending && entry.state != approve::State::approved) return {};
  auto guard = guard_of(global, entry, clock);
  if (!guard) return {"it would not run now: " + guard.error().sentence};
  return drift_of(*guard, entry);
}

Result<int> show(const GlobalOptions& global, const Options& options) {
  const SystemClock clock;
  approve::Queue queue = TRY(open_queue(global, clock));
  const approve::Entry entry = TRY(queue.find(options.id));
  const auto drift = live_drift(global, entry, clock);
  const auto preview = preview_for(global, entry, clock);
  const bool looks = may_look(global, options.approve.presence);
  if (global.json) {
    Json object = approve::to_json(entry);
    object["changed_since"] = drift;
    const auto detail = looks ? sandbox::preview::Detail::diffs : sandbox::preview::Detail::names;
    object["preview"] = preview.made ? sandbox::preview::summary_json(*preview.made, detail) : Json();
    // Whoever only asked is told nothing of how it goes.
    const Json instead = preview.instead.empty() ? Json() : Json(visible(preview.instead, Lines::escape));
    object["preview_state"] = !looks ? Json() : preview.made ? Json("made") : instead;
    std::cout << to_json_text(object) << '\n';
  } else {
    std::cout << describe(entry, drift, clock.now(), looks ? preview : EntryPreview());
    if (preview.made && !looks) {
      std::cout << "Preview      " << preview.made->id << " (shown at a terminal, or with the approver's token)\n";
    }
  }
  return exit_code::done;
}

Result<int> preview(const GlobalOptions& global, const Options& options) {
  const SystemClock clock;
  if (options.background) {
    approve::Queue queue = TRY(open_queue(global, clock));
    return make_preview(global, TRY(queue.find(options.id)), clock);
  }
  if (!may_look(global, options.approve.presence)) {
    return fail(Fault::denied, "what it would do is for its approver: ask at a terminal, or give the approver's token");
  }
  approve::Queue queue = TRY(open_queue(global, clock));
  return preview_entry(global, TRY(queue.find(options.id)), clock);
}

Result<int> approve(const GlobalOptions& global, const Options& options) {
  const SystemClock clock;
  approve::Queue queue = TRY(open_queue(global, clock));
  return approve_entry(global, options.approve, TRY(queue.find(options.id)), clock);
}

Result<int> reject(const GlobalOptions& global, const Options& options) {
  const SystemClock clock;
  if (trim(options.reason).empty()) return fail(Fault::invalid_input, "say why: --reason 'too broad'");
  approve::Queue queue = TRY(open_queue(global, clock));
  return reject_entry(global, TRY(queue.find(options.id)), options.by, options.reason, clock);
}

int exit_code_of(approve::State state) {
  switch (state) {
    case approve::State::pending:
      return exit_code::queued;
    case approve::State::approved:
    case approve::State::executed:
    case approve::State::failed:
      return exit_code::done;
    case approve::State::rejected:
    case approve::State::expired:
    case approve::State::drifted:
      return exit_code::refused;
  }
  return exit_code::refused;
}

Result<int> wait(const GlobalOptions& global, const Options& options) {
  constexpr auto pause = std::chrono::milliseconds(100);
  const SystemClock clock;
  std::optional<Time> until;
  if (!options.timeout.empty()) {
    const auto patience = parse_duration(options.timeout);
    if (!patience) return fail(Fault::invalid_input, "--timeout '{}': write a time like 30s or 5m", options.timeout);
    until = clock.now() + *patience;
  }
  approve::Queue queue = TRY(open_queue(global, clock));
  approve::Entry entry = TRY(queue.find(options.id));
  while (entry.state == approve::State::pending && (!until || clock.now() < *until)) {
    std::this_thread::sleep_for(pause);
    entry = TRY(queue.find(options.id));
  }
  if (global.json) {
    std::cout << to_json_text(approve::to_json(entry)) << '\n';
  } else if (!global.quiet) {
    std::cout << entry.id << " is " << approve::name_of(entry.state)
              << (entry.reason.empty() ? "" : ": " + visible(entry.reason, Lines::escape)) << '\n';
  }
  return exit_code_of(entry.state);
}

Result<int> clear(const GlobalOptions& global, const Options& options) {
  const SystemClock clock;
  const auto age = parse_duration(options.older_than);
  if (!age) {
    return fail(Fault::invalid_input, "--older-than '{}': write a duration like 7d or 12h", options.older_than);
  }
  approve::Queue queue = TRY(open_queue(global, clock));
  CHECK_OK(record_change(global, RecordKind::policy_changed, "queue clear --older-than " + options.older_than, {}));
  const std::int64_t removed = TRY(queue.clear(*age));
  if (global.json) {
    std::cout << to_json_text({{"success", true}, {"removed", removed}}) << '\n';
  } else if (!global.quiet) {
    std::cout << "Removed " << removed << (removed == 1 ? " entry" : " entries") << "; the audit log keeps them.\n";
  }
  return exit_code::done;
}

Verb with_id(Verb verb, const std::shared_ptr<Options>& options) {
  verb.add_option("ID", options->id, "The whole id, e.g. cmd_k3m9x2a7bq4d").required();
  return verb;
}

void define_answers(CommandLine& line, Verb verb, const std::shared_ptr<Options>& options) {
  const Verb approve_verb =
      with_id(CommandLine::part(verb, "approve", "Let it run, once unless said otherwise; needs a person"), options);
  ApproveOptions& given = options->approve;
  approve_verb.add_option("--by", given.by, "Who approves, for the record (default: the user)").type_name("WHO");
  approve_verb.add_option("--notes", given.notes, "Why, for the record");
  approve_verb.add_option("--uses", given.uses, "Let it run so many times").type_name("N");
  approve_verb.add_option("--until", given.until, "The approval ends then").type_name("TIME");
  approve_verb.add_option("--for", given.lasts, "The approval ends after that long").type_name("DURATION");
  approve_verb.add_flag("--no-run", given.no_run, "Leave running it to the asker");
  approve_verb.add_flag("--commit", given.commit, "Apply its preview, exactly as shown, instead of running it");
  add_presence_options(approve_verb, given.presence);
  approve_verb.example("sandbox-queue approve cmd_k3m9x2a7bq4d --commit");
  approve_verb.example("sandbox-queue approve cmd_k3m9x2a7bq4d --notes 'looked at it'");
  approve_verb.exits(exit_code::refused, "no presence: not a terminal, or not the approver's secret");
  line.does(approve_verb, [&line, options] { return finish(approve(line.global(), *options)); });

  const Verb reject_verb = with_id(CommandLine::part(verb, "reject", "Say no"), options);
  reject_verb.add_option("--reason", options->reason, "Why; the asker is told").required();
  reject_verb.add_option("--by", options->by, "Who rejects, for the record (default: the user)").type_name("WHO");
  reject_verb.example("sandbox-queue reject cmd_k3m9x2a7bq4d --reason 'not on this branch'");
  line.does(reject_verb, [&line, options] { return finish(reject(line.global(), *options)); });
}

}  // namespace

void define_queue(CommandLine& line) {
  const Verb verb = line.verb("queue", "Look at and answer what waits for approval");
  verb.require_part();
  const auto options = std::make_shared<Options>();
  const Verb list_verb = CommandLine::part(verb, "list", "List what waits");
  list_verb
      .add_option("--status", options->status,
                  "Which: pending, approved, rejected, expired, drifted, executed, failed, all")
      .type_name("STATUS");
  list_verb.example("sandbox-queue list --status all");
  line.does(list_verb, [&line, options] { return finish(list(line.global(), *options)); });
  const Verb show_verb = with_id(CommandLine::part(verb, "show", "Show everything about one request"), options);
  add_presence_options(show_verb, options->approve.presence);
  show_verb.example("sandbox-queue show cmd_k3m9x2a7bq4d");
  line.does(show_verb, [&line, options] { return finish(show(line.global(), *options)); });
  const Verb preview_verb = with_id(
      CommandLine::part(verb, "preview", "Try it out where nothing of it stays, and show the real changes"), options);
  preview_verb.add_flag("--background", options->background,
                        "Set in the process that Cordon starts for what it queues; shows nothing");
  add_presence_options(preview_verb, options->approve.presence);
  preview_verb.example("sandbox-queue preview cmd_k3m9x2a7bq4d");
  line.does(preview_verb, [&line, options] { return finish(preview(line.global(), *options)); });
  define_answers(line, verb, options);
  const Verb wait_verb = with_id(CommandLine::part(verb, "wait", "Wait for the answer"), options);
  wait_verb.add_option("--timeout", options->timeout, "At most so long (default: until it is answered or expires)")
      .type_name("TIME");
  wait_verb.example("sandbox-queue wait cmd_k3m9x2a7bq4d --timeout 10m");
  wait_verb.exits(0, "approved");
  wait_verb.exits(exit_code::queued, "still pending");
  wait_verb.exits(exit_code::refused, "rejected, expired or drifted");
  line.does(wait_verb, [&line, options] { return finish(wait(line.global(), *options)); });
  const Verb clear_verb = CommandLine::part(verb, "clear", "Remove old answered entries; pending ones stay");
  clear_verb.add_option("--older-than", options->older_than, "How old, e.g. 7d").type_name("DURATION").required();
  clear_verb.example("sandbox-queue clear --older-than 7d");
  line.does(clear_verb, [&line, options] { return finish(clear(line.global(), *options)); });
  const Verb watch_verb = CommandLine::part(verb, "watch", "A live view on the terminal: look, approve, reject by key");
  add_presence_options(watch_verb, options->approve.presence);
  watch_verb.example("sandbox-queue watch");
  line.does(watch_verb, [&line, options] { return finish(watch(line.global(), options->approve.presence)); });
}

}  // namespace cordon::app
