// cordon audit: what was asked for, decided and run, in a log that nobody can change unnoticed.
#include <unistd.h>

#include <iostream>

#include "app/audit_verbs.h"
#include "app/verbs.h"
#include "base/text.h"

namespace cordon::app {

Result<std::string> audit_directory(const GlobalOptions& global) { return TRY(state_directory(global)) + "/audit"; }

void AuditFilterOptions::add_to(Verb verb) {
  verb.add_option("--risk-level", risk_level, "Only this risk: safe, normal, dangerous, critical or disallowed")
      .type_name("LEVEL");
  verb.add_option("--status", status, "Only this status: executed, failed, killed, blocked, queued, approved, rejected")
      .type_name("STATUS");
  verb.add_option("--since", since, "From then on: a time, a day (2026-02-25), or how long ago (2h, 7d)")
      .type_name("TIME");
  verb.add_option("--until", until, "Before then").type_name("TIME");
  verb.add_option("--command-pattern", command_pattern, "Commands like 'rm*'; without * or ?: that hold the text")
      .type_name("GLOB");
  verb.add_option("--user", user, "Asked for by this user").type_name("USER");
  verb.add_flag("--all", all, "Records of every kind: what was begun, connections, starts, the log's own");
}

Result<Time> moment_of(const std::string& option, const std::string& text, Time now) {
  if (const auto ago = parse_duration(text); ago && *ago <= now.time_since_epoch()) return now - *ago;
  if (const auto time = from_rfc3339(text)) return *time;
  return fail(Fault::invalid_input,
              "{} wants a time (2026-02-25 or 2026-02-25T10:00:00Z) or how long ago (2h), not '{}'", option, text);
}

Result<audit::Filter> AuditFilterOptions::filter(Time now) const {
  audit::Filter made;
  if (!risk_level.empty()) {
    made.risk = risk_named(to_lower(risk_level));
    if (!made.risk) {
      return fail(Fault::invalid_input, "--risk-level is safe, normal, dangerous, critical or disallowed; not '{}'",
                  risk_level);
    }
  }
  if (!since.empty()) made.since = TRY(moment_of("--since", since, now));
  if (!until.empty()) made.until = TRY(moment_of("--until", until, now));
  made.status = status;
  made.command = command_pattern;
  made.user = user;
  made.every_kind = all;
  return made;
}

Style style_of_risk(std::string_view risk) {
  if (risk == "critical" || risk == "disallowed") return Style::red;
  if (risk == "dangerous") return Style::yellow;
  return risk.empty() ? Style::plain : Style::green;
}

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

void print_json(const Json& json) { std::cout << json.dump(2, ' ', is_terminal(STDOUT_FILENO)) << '\n'; }

Result<void> warn_of_damage(const std::string& directory) {
  const auto damage = TRY(audit::known_damage(directory));
  if (!damage) return {};
  std::cerr << styled("warning:", Style::yellow, STDERR_FILENO)
            << " the log is damaged, and nothing runs until that is answered: " << visible(*damage, Lines::escape)
            << "\n         see: cordon audit verify\n";
  return {};
}

namespace {

void define_reading(CommandLine& line, Verb verb) {
  const auto log = std::make_shared<AuditLogOptions>();
  const Verb log_verb = CommandLine::part(verb, "log", "The newest records, e.g. log --last 20 --risk-level dangerous");
  log_verb.add_option("-n,--last", log->last, "How many at most").type_name("N");
  log->filter.add_to(log_verb);
  log_verb.add_flag("--jsonl", log->jsonl, "The lines as they stand in the file");
  line.does(log_verb, [&line, log] { return finish(audit_log(line.global(), *log)); });

  const auto show = std::make_shared<AuditShowOptions>();
  const Verb show_verb = CommandLine::part(verb, "show", "One record whole, its output, and what became of it");
  show_verb.add_option("SEQ", show->seq, "The record's number").required();
  show_verb.add_flag("--raw", show->raw, "The line as it stands in the file");
  show_verb.add_flag("--output", show->output, "Only what the command printed, whole if it was kept");
  line.does(show_verb, [&line, show] { return finish(audit_show(line.global(), *show)); });

  const auto find = std::make_shared<AuditFindOptions>();
  const Verb find_verb =
      CommandLine::part(verb, "find", "Records in which a secret was seen, e.g. find --secret - (exit 1: in none)");
  find_verb
      .add_option("--secret", find->secret, "File that holds it, - for stdin; never as an argument, which others see")
      .type_name("FILE")
      .required();
  line.does(find_verb, [&line, find] { return finish(audit_find(line.global(), *find)); });

  const auto period = std::make_shared<std::string>("all");
  const Verb stats_verb = CommandLine::part(verb, "stats", "What was asked for, how it was judged, and by whom");
  stats_verb.add_option("--period", *period, "1d, 7d, 30d or all; whole days (UTC), so at least that long")
      .type_name("TIME");
  line.does(stats_verb, [&line, period] { return finish(audit_stats(line.global(), *period)); });

  const auto exported = std::make_shared<AuditExportOptions>();
  const Verb export_verb = CommandLine::part(verb, "export", "Write records for other programs, the oldest first");
  export_verb.add_option("--format", exported->format, "json, jsonl (the lines as they are) or csv")
      .type_name("FORMAT");
  export_verb.add_option("-o,--output", exported->output, "To this file, which only you can read (default: stdout)")
      .type_name("FILE");
  export_verb.add_flag("--force", exported->force, "Replace the file if it exists");
  exported->filter.add_to(export_verb);
  line.does(export_verb, [&line, exported] { return finish(audit_export(line.global(), *exported)); });
}

void define_proving(CommandLine& line, Verb verb) {
  const auto verify = std::make_shared<AuditVerifyOptions>();
  const Verb verify_verb = CommandLine::part(
      verb, "verify", "Whether the log is what was written: exit 0 good, 2 damaged, 3 good with an unsigned tail");
  verify_verb.add_option("--from", verify->from, "Only from this day on (2026-02-25)").type_name("DAY");
  verify_verb.add_option("--to", verify->to, "Only up to this day").type_name("DAY");
  verify_verb.add_option("--key", verify->key, "The verifier key that you kept elsewhere, or a file with it")
      .type_name("KEY");
  verify_verb.add_option("--against", verify->against, "A checkpoint that you kept elsewhere: is it still true?")
      .type_name("FILE");
  line.does(verify_verb, [&line, verify] { return finish(audit_verify(line.global(), *verify)); });

  const auto seq = std::make_shared<std::uint64_t>(0);
  const Verb prove_verb =
      CommandLine::part(verb, "prove", "Print a proof that one record is in the log, which shows no other");
  prove_verb.add_option("SEQ", *seq, "The record's number").required();
  line.does(prove_verb, [&line, seq] { return finish(audit_prove(line.global(), *seq)); });

  const Verb checkpoint_verb =
      CommandLine::part(verb, "checkpoint", "Sign the log as it is now and print that, to be kept elsewhere");
  line.does(checkpoint_verb, [&line] { return finish(audit_checkpoint(line.global())); });
}

void define_loosening(CommandLine& line, Verb verb) {
  const auto retain = std::make_shared<AuditRetainOptions>();
  const Verb retain_verb = CommandLine::part(verb, "retain", "Delete days older than the settings keep; proof stays");
  retain_verb.add_option("--days", retain->days, "Keep that many instead; fewer than the settings say needs presence")
      .type_name("N");
  retain_verb.add_flag("-n,--dry-run", retain->dry_run, "Only say what would go");
  add_presence_options(retain_verb, retain->presence);
  line.does(retain_verb, [&line, retain] { return finish(audit_retain(line.global(), *retain)); });

  const auto erase = std::make_shared<AuditEraseOptions>();
  const Verb erase_verb =
      CommandLine::part(verb, "erase", "Erase the whole output kept beside one record; needs presence, is recorded");
  erase_verb.add_option("SEQ", erase->seq, "The record's number").required();
  erase_verb.add_option("--reason", erase->reason, "Why, for the record").required();
  add_presence_options(erase_verb, erase->presence);
  line.does(erase_verb, [&line, erase] { return finish(audit_erase(line.global(), *erase)); });

  const auto quarantine = std::make_shared<AuditQuarantineOptions>();
  const Verb quarantine_verb = CommandLine::part(
      verb, "quarantine", "Answer damage: move the damaged log away whole and begin a new one; needs presence");
  quarantine_verb.add_option("--reason", quarantine->reason, "What happened, for the record").required();
  add_presence_options(quarantine_verb, quarantine->presence);
  line.does(quarantine_verb, [&line, quarantine] { return finish(audit_quarantine(line.global(), *quarantine)); });
}

}  // namespace

void define_audit(CommandLine& line) {
  const Verb verb = line.verb("audit", "What was asked for, decided and run, in a log that shows every change");
  verb.require_part();
  define_reading(line, verb);
  define_proving(line, verb);
  define_loosening(line, verb);
}

}  // namespace cordon::app
