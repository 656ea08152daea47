// cordon audit verify, prove, checkpoint: whether the log is what was written, and how to show it to others.
#include "audit/health.h"

#include <unistd.h>

#include <filesystem>
#include <iostream>

#include "app/audit_verbs.h"
#include "audit/log.h"
#include "base/text.h"
#include "sys/file.h"

namespace cordon::app {

namespace {

constexpr std::size_t largest_note = 1 << 16;

bool is_day(const std::string& text) { return text.empty() || (text.size() == 10 && from_rfc3339(text)); }

/// A verifier key, or a file that holds one.
Result<std::string> key_of(const std::string& text) {
  const auto file = sys::read_file_if_exists(text, largest_note);
  if (file && *file) return **file;
  if (text.find('+') != std::string::npos) return text;
  return fail(Fault::invalid_input, "--key wants a verifier key (name+id+base64) or a file that holds one");
}

Result<audit::VerifyRequest> request_of(const std::string& directory, const AuditVerifyOptions& options) {
  if (!is_day(options.from) || !is_day(options.to)) {
    return fail(Fault::invalid_input, "--from and --to want days (2026-02-25)");
  }
  audit::VerifyRequest request{directory, std::nullopt, {}, options.from, options.to};
  if (!options.key.empty()) request.key = TRY(key_of(options.key));
  for (const std::string& file : options.against) request.against.push_back(TRY(sys::read_file(file, largest_note)));
  return request;
}

const char* word_of(audit::Soundness soundness) {
  switch (soundness) {
    case audit::Soundness::good:
      return "good";
    case audit::Soundness::damaged:
      return "damaged";
    case audit::Soundness::unsigned_tail:
      return "unsigned_tail";
  }
  return "damaged";
}

Json to_json(const audit::VerifyReport& report) {
  Json damage = Json::array();
  for (const audit::Damage& one : report.damage) {
    damage.push_back({{"file", visible(one.file, Lines::escape)},
                      {"line", one.line},
                      {"byte", one.byte},
                      {"what", visible(one.what, Lines::escape)}});
  }
  return {{"result", word_of(report.soundness())},
          {"summary", report.summary()},
          {"days", report.days},
          {"sealed_days", report.sealed_days},
          {"deleted_days", report.deleted_days},
          {"records", report.records},
          {"size", report.size},
          {"signed", report.signed_size},
          {"unsigned_tail", report.unsigned_tail},
          {"damage", damage},
          {"remarks", report.remarks}};
}

void print(const audit::VerifyReport& report, bool quiet) {
  const audit::Soundness soundness = report.soundness();
  const Style style = soundness == audit::Soundness::good      ? Style::green
                      : soundness == audit::Soundness::damaged ? Style::red
                                                               : Style::yellow;
  std::cout << styled(soundness == audit::Soundness::damaged ? "DAMAGED" : "good", style, STDOUT_FILENO) << "  "
            << report.summary() << '\n';
  for (const std::string& remark : report.remarks) std::cout << "note: " << visible(remark, Lines::escape) << '\n';
  for (const audit::Damage& one : report.damage) {
    std::cout << styled("damage:", Style::red, STDOUT_FILENO) << ' ' << visible(one.text(), Lines::escape) << '\n';
  }
  if (soundness != audit::Soundness::damaged || quiet) return;
  std::cerr << "Nothing runs until this is answered: put the files back as they were and verify again, or begin a new\n"
               "log beside the damaged one with: cordon audit quarantine --reason '…'\n";
}

}  // namespace

Result<int> audit_verify(const GlobalOptions& global, const AuditVerifyOptions& options) {
  const std::string directory = TRY(audit_directory(global));
  std::error_code ignored;
  if (!std::filesystem::exists(directory, ignored)) {
    return fail(Fault::unavailable, "there is no audit log in {}", directory);
  }
  const audit::VerifyReport report = TRY(audit::examine(TRY(request_of(directory, options))));
  if (global.json)
    print_json(to_json(report));
  else
    print(report, global.quiet);
  return static_cast<int>(report.soundness());
}

Result<int> audit_prove(const GlobalOptions& global, std::uint64_t seq) {
  const std::string directory = TRY(audit_directory(global));
  const SystemClock clock;
  if (!TRY(audit::record_line(directory, seq))) {
    return fail(Fault::invalid_input, "there is no record {} (or its day was deleted)", seq);
  }
  audit::Log log = TRY(audit::Log::open(directory, clock, {}));
  const std::string proof = TRY(log.prove(seq));
  const std::string key(trim(log.verifier_key()));
  if (global.json) {
    print_json({{"seq", seq}, {"proof", proof}, {"key", key}});
    return exit_code::done;
  }
  std::cout << proof;
  std::cout.flush();
  if (global.quiet) return exit_code::done;
  std::cerr << "This shows record " << seq << " and none of the others. To check it, with the output kept in a file:\n"
            << "  cordon-verify proof FILE --key '" << key << "'\n"
            << "Whoever checks should have the key from you, not from the file.\n";
  return exit_code::done;
}

Result<int> audit_checkpoint(const GlobalOptions& global) {
  const std::string directory = TRY(audit_directory(global));
  const SystemClock clock;
  audit::Log log = TRY(audit::Log::open(directory, clock, {}));
  const std::string note = TRY(log.signed_checkpoint());
  const std::string key(trim(log.verifier_key()));
  if (global.json) {
    print_json({{"checkpoint", note}, {"key", key}});
    return exit_code::done;
  }
  std::cout << note;
  std::cout.flush();
  if (global.quiet) return exit_code::done;
  std::cerr
      << "Keep this and the key where this machine cannot change them. Later: cordon audit verify --against FILE\n"
      << "  key: " << key << '\n';
  return exit_code::done;
}

}  // namespace cordon::app
