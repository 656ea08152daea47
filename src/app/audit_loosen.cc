// cordon audit retain, erase, quarantine: what takes something away from the log. Each leaves a record of itself, and
// what goes beyond the settings needs presence.
#include <unistd.h>

#include <iostream>

#include "app/audit_verbs.h"
#include "app/surroundings.h"
#include "audit/health.h"
#include "audit/log.h"
#include "audit/retention.h"
#include "base/text.h"

namespace cordon::app {

namespace {

constexpr std::uint64_t most_days = 36'500;

/// Who wants it, for the record.
Result<std::string> proven_person(const GlobalOptions& global, const PresenceOptions& options,
                                  const std::string& question) {
  const auto presence = TRY(prove_presence(global, options, question));
  return TRY(user_name()) + " (" + approve::name_of(presence) + ")";
}

/// As the settings say. `--config` has no say: it would shorten what others rely on.
Result<Duration> retention_of(const GlobalOptions& global) {
  config::Sources sources = TRY(sources_of(global, TRY(current_directory())));
  sources.extra_files.clear();
  const config::Loaded loaded = TRY(config::load(sources));
  return std::chrono::milliseconds(loaded.settings.approval.audit_retention_ms.value);
}

Json to_json(const std::vector<audit::DueDay>& due, Duration keep, bool deleted) {
  Json days = Json::array();
  for (const audit::DueDay& one : due) days.push_back({{"day", one.day}, {"bytes", one.bytes}});
  return {{"keep", to_text(keep)}, {"deleted", deleted}, {"days", days}};
}

void print(const std::vector<audit::DueDay>& due, Duration keep, bool deleted) {
  if (due.empty()) {
    std::cout << "Nothing is older than " << to_text(keep) << ".\n";
    return;
  }
  std::uint64_t bytes = 0;
  for (const audit::DueDay& one : due) {
    std::cout << one.day << "  " << grouped(one.bytes) << " bytes\n";
    bytes += one.bytes;
  }
  std::cout << fmt::format("{} {} older than {} ({} bytes){}\n", due.size(), due.size() == 1 ? "day" : "days",
                           to_text(keep), grouped(bytes),
                           deleted ? ": deleted, seals and proof kept" : " would be deleted");
}

}  // namespace

Result<int> audit_retain(const GlobalOptions& global, const AuditRetainOptions& options) {
  const std::string directory = TRY(audit_directory(global));
  const Duration configured = TRY(retention_of(global));
  if (options.days > most_days) return fail(Fault::invalid_input, "--days is at most {}", most_days);
  const Duration keep = options.days == 0 ? configured : Duration(std::chrono::hours(24 * options.days));
  const SystemClock clock;
  const auto due = TRY(audit::days_due(TRY(sys::Directory::open(directory)), keep, clock.now()));
  if (!options.dry_run && !due.empty()) {
    const std::string by =
        keep >= configured
            ? TRY(user_name())
            : TRY(proven_person(global, options.presence,
                                fmt::format("The settings keep records for {}. Delete {} days before that?",
                                            to_text(configured), due.size())));
    audit::Log log = TRY(audit::Log::open(directory, clock, {}));
    (void)TRY(log.retain(keep, by));
  }
  if (global.json)
    print_json(to_json(due, keep, !options.dry_run));
  else if (!global.quiet)
    print(due, keep, !options.dry_run);
  return exit_code::done;
}

Result<int> audit_erase(const GlobalOptions& global, const AuditEraseOptions& options) {
  const std::string directory = TRY(audit_directory(global));
  const SystemClock clock;
  audit::Log log = TRY(audit::Log::open(directory, clock, {}));
  if (!TRY(audit::record_line(directory, options.seq))) {
    return fail(Fault::invalid_input, "there is no record {} (or its day was deleted)", options.seq);
  }
  const std::string by = TRY(proven_person(global, options.presence,
                                           fmt::format("Erase for ever the output that record {} committed to? The "
                                                       "line itself, with its excerpt, stays.",
                                                       options.seq)));
  const bool erased = TRY(log.erase(options.seq, by, options.reason));
  if (global.json)
    print_json({{"success", true}, {"seq", options.seq}, {"erased", erased}});
  else if (!global.quiet)
    std::cout << (erased ? "Erased, and recorded that it was.\n" : "Nothing is kept beside this record.\n");
  return exit_code::done;
}

Result<int> audit_quarantine(const GlobalOptions& global, const AuditQuarantineOptions& options) {
  const std::string directory = TRY(audit_directory(global));
  if (!TRY(audit::known_damage(directory))) {
    const auto report = TRY(audit::examine({directory, std::nullopt, {}, "", ""}));
    if (report.damage.empty()) return fail(Fault::invalid_input, "the log is sound: there is nothing to answer");
  }
  const std::string damage = TRY(audit::known_damage(directory)).value_or("");
  const std::string by = TRY(proven_person(
      global, options.presence,
      fmt::format("Damage: {}\nMove this log away as it is, and begin a new one?", visible(damage, Lines::escape))));
  const std::string place = TRY(audit::quarantine(directory, SystemClock(), {by, options.reason}));
  if (global.json)
    print_json({{"success", true}, {"moved_to", place}});
  else if (!global.quiet)
    std::cout << "Moved to " << visible(place, Lines::escape) << "; a new log has begun and says why.\n";
  return exit_code::done;
}

}  // namespace cordon::app
