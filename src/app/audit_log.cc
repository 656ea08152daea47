// cordon audit log, find: the records that match.
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <iterator>

#include "app/audit_verbs.h"
#include "base/text.h"
#include "sys/file.h"

namespace cordon::app {

namespace {

// On a terminal a row should stay readable; what is left out is said, and `show` has it.
constexpr std::size_t longest_command = 300;
constexpr std::size_t longest_output = 60;
constexpr std::size_t largest_secret = 1 << 20;

std::string text_of(const Json& record, const char* key) {
  const Json value = record.value(key, Json());
  return value.is_string() ? value.get<std::string>() : "";
}

std::string shortened(const std::string& text, std::size_t most) {
  std::string shown = visible(text, Lines::escape);
  if (shown.size() <= most) return shown;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(shown[end]) & 0xC0) == 0x80) --end;
  const std::size_t left = shown.size() - end;
  shown.resize(end);
  return fmt::format("{}…[{} more]", shown, left);
}

void print_row(const Json& record) {
  const std::string risk = text_of(record, "risk");
  std::cout << styled(fmt::format("{:>6}", record.value("seq", std::uint64_t{0})), Style::dim, STDOUT_FILENO) << "  "
            << visible(text_of(record, "timestamp"), Lines::escape) << " | "
            << styled(shortened(text_of(record, "command"), longest_command), Style::bold, STDOUT_FILENO) << " | "
            << visible(text_of(record, "user"), Lines::escape) << " | "
            << visible(text_of(record, "status"), Lines::escape) << " | "
            << styled(shortened(text_of(record, "output"), longest_output), Style::dim, STDOUT_FILENO) << " | "
            << styled(visible(risk, Lines::escape), style_of_risk(risk), STDOUT_FILENO) << '\n';
}

void print_text(const std::vector<std::string>& lines, bool quiet) {
  const bool terminal = is_terminal(STDOUT_FILENO);
  if (terminal && !quiet) {
    const char* heads = "   Seq  Timestamp | Command | User | Status | Output | Risk";
    std::cout << styled(heads, Style::dim, STDOUT_FILENO) << '\n';
  }
  for (const std::string& line : lines) {
    const Json record = parse_json(line);
    if (terminal)
      print_row(record);
    else
      std::cout << audit::table_line(record) << '\n';
  }
}

int print_lines(const GlobalOptions& global, const std::vector<std::string>& lines, bool jsonl) {
  if (jsonl) {
    for (const std::string& line : lines) std::cout << line << '\n';
  } else if (global.json) {
    print_json(audit::records_json(lines));
  } else {
    print_text(lines, global.quiet);
  }
  return exit_code::done;
}

bool begun(const std::string& directory) {
  std::error_code ignored;
  return std::filesystem::exists(directory, ignored);
}

Result<std::string> read_secret(const std::string& name) {
  std::string secret;
  if (name == "-")
    secret.assign(std::istreambuf_iterator<char>(std::cin), {});
  else
    secret = TRY(sys::read_file(name, largest_secret));
  if (secret.ends_with('\n')) secret.pop_back();
  if (secret.size() < 8)
    return fail(Fault::invalid_input, "a secret has at least 8 bytes; shorter ones are not marked");
  return secret;
}

}  // namespace

Result<int> audit_log(const GlobalOptions& global, const AuditLogOptions& options) {
  const std::string directory = TRY(audit_directory(global));
  const audit::Filter filter = TRY(options.filter.filter(SystemClock().now()));
  if (!begun(directory)) {
    if (!global.quiet && !global.json) std::cerr << "The audit log is empty: nothing has run yet.\n";
    return print_lines(global, {}, options.jsonl);
  }
  CHECK_OK(warn_of_damage(directory));
  const auto lines = TRY(audit::last_lines(directory, filter, options.last));
  if (lines.empty() && !global.quiet && !global.json) std::cerr << "No record matches.\n";
  return print_lines(global, lines, options.jsonl);
}

Result<int> audit_find(const GlobalOptions& global, const AuditFindOptions& options) {
  const std::string directory = TRY(audit_directory(global));
  const std::string secret = TRY(read_secret(options.secret));
  CHECK_OK(warn_of_damage(directory));
  const auto lines = TRY(audit::lines_with_secret(directory, secret));
  if (lines.empty() && !global.quiet && !global.json) std::cerr << "No record holds this secret.\n";
  (void)print_lines(global, lines, false);
  return lines.empty() ? exit_code::trouble : exit_code::done;
}

}  // namespace cordon::app
