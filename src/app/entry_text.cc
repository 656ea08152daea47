#include "app/entry_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "sandbox/preview/describe.h"

namespace cordon::app {

namespace {

std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }));
}

std::string_view first_characters(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    const bool starts = (static_cast<unsigned char>(text[at]) & 0xc0) != 0x80;
    if (starts && count-- == 0) break;
  }
  return text.substr(0, at);
}

std::string word(const Json& value) {
  const std::string text = value.is_string() ? value.get<std::string>()
                           : value.is_null() ? "none"
                                             : value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return visible(text, Lines::escape);
}

Json at(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) ? object[key] : Json();
}

class Page {
 public:
  void row(std::string_view name, std::string_view value) { text_ += fmt::format("{:<13}{}\n", name, value); }
  /// One row per value, the name on the first.
  void rows(std::string_view name, const std::vector<std::string>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) row(i == 0 ? name : "", values[i]);
  }
  void indented(std::string_view block) {
    std::size_t start = 0;
    while (start <= block.size()) {
      const std::size_t end = std::min(block.find('\n', start), block.size());
      text_ += fmt::format("  {}\n", block.substr(start, end - start));
      start = end + 1;
    }
  }
  void line(std::string_view text) { text_ += fmt::format("{}\n", text); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void add_command(Page& page, const std::string& command) {
  const auto lines = 1 + std::count(command.begin(), command.end(), '\n');
  // The size is said first: what scrolled away above is then missed.
  page.line(fmt::format("Command ({} {}, {} characters, whole):", lines, lines == 1 ? "line" : "lines",
                        count_characters(command)));
  page.indented(visible(command, Lines::keep));
  const auto hidden = hidden_characters(command);
  if (hidden.empty()) return;
  page.line(
      fmt::format("CAREFUL: {} characters that would not be seen or would be misread are written as escapes; "
                  "the first is {} ({})",
                  hidden.size(), hidden.front().escape, name_of(hidden.front().kind)));
}

std::string file_row(const Json& file) {
  return fmt::format("{}  sha256 {}", word(at(file, "path")), word(at(file, "sha256")));
}

void add_program(Page& page, const Json& plan) {
  const Json runs = at(plan, "runs");
  if (runs.is_array()) {
    std::string words;
    for (const Json& argument : runs)
      words += (words.empty() ? "" : " ") + argument.dump(-1, ' ', false, Json::error_handler_t::replace);
    page.row("Executes", visible(words, Lines::escape));
  } else {
    page.row("Executes", "the whole text by bash");
  }
  const Json program = at(plan, "program");
  page.row("Program", program.is_object() ? file_row(program) : "not found where the sandbox looks");
}

std::vector<std::string> words_of(const Json& list) {
  std::vector<std::string> words;
  if (list.is_array()) std::transform(list.begin(), list.end(), std::back_inserter(words), word);
  return words;
}

void add_limits(Page& page, const Json& limits) {
  if (!limits.is_object()) return;
  std::string text;
  for (const auto& [name, value] : limits.items())
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value.dump());
  page.row("Limits", text);
}

void add_plan(Page& page, const Json& plan) {
  add_program(page, plan);
  page.row("Directory", word(at(at(plan, "cwd"), "path")));
  const Json workspace = at(plan, "workspace");
  page.row("Workspace", fmt::format("{} ({})", word(at(workspace, "path")), word(at(workspace, "access"))));
  std::vector<std::string> rows;
  for (const Json& file : at(plan, "files")) rows.push_back(file_row(file));
  page.rows("Files", rows);
  page.rows("NOT PINNED", words_of(at(plan, "unpinned")));
  rows.clear();
  for (const Json& grant : at(plan, "grants")) {
    rows.push_back(fmt::format("{} {}", word(at(grant, "kind")), word(at(grant, "target"))));
  }
  page.rows("GRANTS", rows);
  page.rows("Binds", words_of(at(plan, "binds")));
  page.row("Runs in", word(at(plan, "where")));
  page.row("Network", word(at(plan, "network")));
  rows.clear();
  const Json environment = at(plan, "environment");
  if (environment.is_object()) {
    for (const auto& [name, value] : environment.items()) {
      rows.push_back(fmt::format("{}={}", visible(name, Lines::escape), word(value)));
    }
  }
  page.rows("Environment", rows);
  add_limits(page, at(plan, "limits"));
  if (const Json once = at(plan, "not_twice"); once.is_string()) page.row("Only once", word(once));
  page.row("Plan", "sha256 " + word(at(plan, "digest")));
}

/// Deletions come first, so what is left out is what was added. That something is, is said.
std::string start_of(const std::string& text, const std::string& id) {
  constexpr std::size_t most_lines = 100;
  std::size_t end = 0;
  for (std::size_t lines = 0; lines < most_lines; ++lines) {
    const std::size_t next = text.find('\n', end);
    if (next == std::string::npos) return text;
    end = next + 1;
  }
  const auto more = std::count(text.begin() + static_cast<std::ptrdiff_t>(end), text.end(), '\n');
  if (more == 0) return text;
  return fmt::format("{}… {} MORE LINES OF THE PREVIEW ARE NOT SHOWN HERE; all of it: sandbox-queue show {}",
                     text.substr(0, end), more, id);
}

/// What a commit keeps for its asker is shown to its asker.
Json without_output(Json result) {
  if (result.is_object()) {
    result.erase("stdout");
    result.erase("stderr");
  }
  return result;
}

void add_answers(Page& page, const approve::Entry& entry) {
  if (entry.approved_at) {
    page.row("Approved",
             fmt::format("{} by {}", to_rfc3339(*entry.approved_at), visible(entry.approved_by, Lines::escape)));
  }
  if (!entry.notes.empty()) page.row("Notes", visible(entry.notes, Lines::escape));
  if (entry.state == approve::State::approved && entry.uses_left > 1) {
    page.row("Uses left", std::to_string(entry.uses_left));
  }
  if (entry.rejected_at) {
    page.row("Rejected",
             fmt::format("{} by {}", to_rfc3339(*entry.rejected_at), visible(entry.rejected_by, Lines::escape)));
  }
  if (!entry.reason.empty()) page.row("Reason", visible(entry.reason, Lines::escape));
  if (!entry.result.is_null()) page.row("Result", word(without_output(entry.result)));
}

}  // namespace

std::string in_one_line(std::string_view text, std::size_t columns) {
  std::string line = visible(text, Lines::escape);
  const std::size_t length = count_characters(line);
  if (columns == 0 || length <= columns) return line;
  // The note's own length grows with the number in it; one digit more is room enough.
  const std::size_t note = fmt::format("… (+{} characters)", length).size() - 2;
  const std::size_t kept = columns > note ? columns - note : 0;
  return fmt::format("{}… (+{} characters)", first_characters(line, kept), length - kept);
}

std::string distance(Time from, Time now) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(from > now ? from - now : now - from).count();
  const std::string text = seconds < 60      ? fmt::format("{}s", seconds)
                           : seconds < 3600  ? fmt::format("{}m", seconds / 60)
                           : seconds < 86400 ? fmt::format("{}h", seconds / 3600)
                                             : fmt::format("{}d", seconds / 86400);
  return from > now ? "in " + text : text + " ago";
}

std::string asker_of(const approve::Entry& entry) {
  const approve::Asker& asker = entry.request.asker;
  const std::string user = visible(asker.user, Lines::escape);
  return asker.is_agent ? fmt::format("{} (agent {})", user, visible(asker.agent, Lines::escape)) : user;
}

std::string describe(const approve::Entry& entry, const std::vector<std::string>& drift, Time now,
                     const EntryPreview& preview, Length length) {
  Page page;
  const approve::Asker& asker = entry.request.asker;
  page.line(fmt::format("{}  {}  {}", entry.id, approve::name_of(entry.state), name_of(entry.request.risk)));
  add_command(page, entry.request.command);
  page.rows("Why", [&] {
    std::vector<std::string> reasons;
    for (const std::string& reason : entry.request.reasons) reasons.push_back(visible(reason, Lines::escape));
    return reasons;
  }());
  page.row("Asked by", fmt::format("{}, through {}{}", asker_of(entry), visible(asker.surface, Lines::escape),
                                   asker.session.empty() ? "" : ", session " + visible(asker.session, Lines::escape)));
  page.row("Asked", fmt::format("{} ({})", to_rfc3339(entry.created_at), distance(entry.created_at, now)));
  const bool open = entry.state == approve::State::pending || entry.state == approve::State::approved;
  if (open) page.row("Expires", fmt::format("{} ({})", to_rfc3339(entry.expires_at), distance(entry.expires_at, now)));
  add_plan(page, entry.request.plan);
  add_answers(page, entry);
  std::vector<std::string> changes;
  for (const std::string& change : drift) changes.push_back(visible(change, Lines::escape));
  page.rows("CHANGED SINCE", changes);
  if (preview.made) {
    page.line("Preview (approve --commit applies exactly this, without running it again):");
    const std::string text = sandbox::preview::text_of(*preview.made, sandbox::preview::Detail::diffs);
    page.indented(length == Length::whole ? text : start_of(text, entry.id));
  } else if (!preview.instead.empty()) {
    page.row("Preview", visible(preview.instead, Lines::escape));
  }
  return page.take();
}

}  // namespace cordon::app
