// cordon audit show: one record whole, what became of its request, and what it printed.
#include <unistd.h>

#include <iostream>

#include "app/audit_verbs.h"
#include "audit/verify/merkle.h"
#include "base/text.h"

namespace cordon::app {

namespace {

struct Shown {
  std::string line;
  Json record;
  std::vector<std::string> related;
  std::optional<std::string> output;   // whole, when it does not stand in the line and was kept
  std::optional<std::string> command;  // the same
};

std::string plain(const Json& value) {
  return visible(value.is_string() ? value.get<std::string>() : value.dump(), Lines::escape);
}

std::string text_of(const Json& record, const char* key) {
  const Json value = record.value(key, Json());
  return value.is_string() ? value.get<std::string>() : "";
}

void print_block(const std::string& title, std::string_view text) {
  std::cout << '\n' << styled(title, Style::bold, STDOUT_FILENO) << '\n';
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    std::cout << "  " << visible(text.substr(0, end), Lines::keep) << '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void print_members(const Shown& shown) {
  const std::string risk = text_of(shown.record, "risk");
  for (const auto& [key, value] : shown.record.items()) {
    if (key == "output" || value == "") continue;
    const bool is_risk = key == "risk";
    std::cout << styled(fmt::format("{:<15}", key), Style::dim, STDOUT_FILENO)
              << styled(plain(value), is_risk ? style_of_risk(risk) : Style::plain, STDOUT_FILENO) << '\n';
  }
  std::cout << styled(fmt::format("{:<15}", "leaf"), Style::dim, STDOUT_FILENO) << audit::hash_leaf(shown.line).hex()
            << '\n';
}

void print_output(const Shown& shown) {
  const std::string excerpt = text_of(shown.record, "output");
  if (shown.command) print_block("Command, whole:", *shown.command);
  if (shown.output) return print_block(fmt::format("Output, {} bytes:", grouped(shown.output->size())), *shown.output);
  if (excerpt.empty()) return;
  const bool gone = shown.record.contains("output_commit");
  print_block(gone ? "Output, its beginning and end (the whole was erased or deleted):" : "Output:", excerpt);
}

void print_related(const Shown& shown) {
  if (shown.related.size() < 2) return;
  std::cout << '\n' << styled("The same request:", Style::bold, STDOUT_FILENO) << '\n';
  for (const std::string& line : shown.related) {
    const Json record = Json::parse(line, nullptr, false);
    std::cout << fmt::format("  {:>6}  {}  {:<18} {}", record.value("seq", std::uint64_t{0}),
                             plain(record.value("timestamp", Json(""))), plain(record.value("kind", Json(""))),
                             plain(record.value("status", Json(""))));
    if (record.contains("exit")) std::cout << " (exit " << record["exit"].dump() << ')';
    std::cout << (line == shown.line ? "  ← this\n" : "\n");
  }
}

Json to_json(const Shown& shown) {
  Json related = Json::array();
  for (const std::string& line : shown.related) {
    if (line != shown.line) related.push_back(Json::parse(line, nullptr, false));
  }
  const bool committed = shown.record.contains("output_commit");
  Json output = committed ? Json() : shown.record.value("output", Json());
  // Bytes that are no UTF-8 have no place in JSON; --output gives them as they were.
  if (shown.output) output = is_utf8(*shown.output) ? *shown.output : visible(*shown.output, Lines::keep);
  return {{"record", shown.record},
          {"leaf", audit::hash_leaf(shown.line).hex()},
          {"related", related},
          {"output", output},
          {"output_kept", !committed || shown.output.has_value()}};
}

Result<Shown> find(const std::string& directory, std::uint64_t seq) {
  auto line = TRY(audit::record_line(directory, seq));
  if (!line) return fail(Fault::invalid_input, "there is no record {} (or its day was deleted)", seq);
  Shown shown{*std::move(line), {}, {}, {}, {}};
  shown.record = Json::parse(shown.line, nullptr, false);
  if (!shown.record.is_object()) return fail(Fault::corrupt, "record {} is damaged: run `cordon audit verify`", seq);
  shown.related = TRY(audit::records_of_request(directory, shown.line));
  shown.output = TRY(audit::committed_text(directory, shown.record, "output_commit"));
  shown.command = TRY(audit::committed_text(directory, shown.record, "command_commit"));
  return shown;
}

}  // namespace

Result<int> audit_show(const GlobalOptions& global, const AuditShowOptions& options) {
  const std::string directory = TRY(audit_directory(global));
  CHECK_OK(warn_of_damage(directory));
  const Shown shown = TRY(find(directory, options.seq));
  if (options.raw) {
    std::cout << shown.line << '\n';
  } else if (options.output) {
    const std::string text = shown.output.value_or(text_of(shown.record, "output"));
    std::cout << (is_terminal(STDOUT_FILENO) ? visible(text, Lines::keep) : text);
  } else if (global.json) {
    print_json(to_json(shown));
  } else {
    print_members(shown);
    print_output(shown);
    print_related(shown);
  }
  return exit_code::done;
}

}  // namespace cordon::app
