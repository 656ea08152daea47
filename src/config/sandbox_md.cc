#include "config/sandbox_md.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "config/markdown.h"

namespace cordon::config {
namespace {

using Kind = MarkdownLine::Kind;

std::string shown_word(std::string_view text) { return visible(text.substr(0, 80), Lines::escape); }

/// A key or value without the emphasis or backticks around it.
std::string_view bare(std::string_view text) {
  text = trim(text);
  while (!text.empty() && (text.front() == '*' || text.front() == '`')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == '*' || text.back() == '`')) text.remove_suffix(1);
  return trim(text);
}

/// The heading as a section's name: without what stands in parentheses, in any case.
std::string_view section_of(std::string_view heading) {
  std::string_view name = bare(heading.substr(0, std::min(heading.find('('), heading.size())));
  while (name.ends_with(':')) name.remove_suffix(1);
  const std::string wanted = to_lower(bare(name));
  for (const std::string_view section : sections()) {
    if (to_lower(section) == wanted) return section;
  }
  return "";
}

class SandboxReader {
 public:
  SandboxReader(std::string_view name, const Surroundings& around, std::vector<Remark>& remarks)
      : name_(name), around_(around), remarks_(remarks) {}

  Result<std::vector<Change>> read(std::string_view text) {
    for (const MarkdownLine& line : TRY(read_markdown(text))) CHECK_OK(take(line));
    if (warnings_ > most_warnings) {
      remarks_.push_back(
          {Remark::Kind::warning, fmt::format("{}: {} more warnings", name_, warnings_ - most_warnings)});
    }
    return std::move(changes_);
  }

 private:
  Origin at(const MarkdownLine& line) const { return {std::string(name_), line.number, 1}; }

  template <class... Args>
  tl::unexpected<Error> wrong(const MarkdownLine& line, fmt::format_string<Args...> format, Args&&... args) const {
    return fail(Fault::invalid_input, "{}: {}", at(line).text(), fmt::format(format, std::forward<Args>(args)...));
  }

  template <class... Args>
  void warn(const MarkdownLine& line, fmt::format_string<Args...> format, Args&&... args) {
    if (++warnings_ > most_warnings) return;
    remarks_.push_back({Remark::Kind::warning,
                        fmt::format("{}: {}", at(line).text(), fmt::format(format, std::forward<Args>(args)...))});
  }

  Result<void> take(const MarkdownLine& line) {
    if (line.kind == Kind::blank || line.kind == Kind::comment) return {};
    if (line.kind == Kind::heading) return begin_section(line);
    if (section_.empty()) return check_stray(line);
    if (line.kind == Kind::nested) return wrong(line, "an entry inside another entry; every entry stands by itself");
    if (line.kind == Kind::more) return wrong(line, "an entry goes on over a second line; write it on one");
    if (line.kind == Kind::code || line.kind == Kind::quote || line.kind == Kind::html) {
      const char* what = line.kind == Kind::code ? "a code block" : line.kind == Kind::html ? "HTML" : "a quotation";
      if (unread_ != line.number - 1) warn(line, "{} under {} is not read", what, section_);
      unread_ = line.number;
      return {};
    }
    return list_ != nullptr ? take_entry(line) : take_pair(line);
  }

  Result<void> begin_section(const MarkdownLine& line) {
    const bool first = !any_heading_;
    any_heading_ = true;
    section_ = section_of(line.text);
    list_ = nullptr;
    for (const Field& field : fields()) {
      if (!section_.empty() && field.section == section_ && field.label.empty()) list_ = &field;
    }
    if (!section_.empty() || (first && line.level == 1)) return {};
    if (const std::size_t colon = line.text.find(':'); colon != std::string::npos) {
      for (const Field& field : fields()) {
        if (field_labelled(field.section, line.text.substr(0, colon)) != &field) continue;
        return wrong(line, "'{}' has become a heading (by the line of dashes below it?); put a blank line between",
                     shown_word(line.text));
      }
    }
    const std::string hint = warnings_ < most_warnings ? did_you_mean(line.text, sections()) : "";
    warn(line, "unknown section '{}' is not read{}", shown_word(line.text), hint);
    return {};
  }

  /// Outside every known section only prose may stand; a setting there is surely meant to count.
  Result<void> check_stray(const MarkdownLine& line) {
    const std::size_t colon = line.text.find(':');
    if ((line.kind != Kind::item && line.kind != Kind::paragraph) || colon == std::string::npos) return {};
    const std::string_view label = bare(std::string_view(line.text).substr(0, colon));
    for (const Field& field : fields()) {
      if (field_labelled(field.section, label) != &field) continue;
      return wrong(line, "'{}' stands outside its section '{}'", field.label, field.section);
    }
    return {};
  }

  Result<void> take_entry(const MarkdownLine& line) {
    const bool pairs = list_->form == Form::paths;
    if (line.kind == Kind::paragraph && !pairs) {
      warn(line, "text outside a list is not read as an entry of {} (begin the line with '- ')", section_);
      return {};
    }
    std::string text = pairs ? std::string(line.text) : TRY(entry_text(line));
    if (pairs) std::erase(text, '`');
    if (list_->form == Form::network && to_lower(text) == "none") return {};
    Item item = TRY(read_item(*list_, text, at(line), around_, remarks_));
    const auto [place, fresh] = lists_.emplace(list_, changes_.size());
    if (fresh) {
      changes_.push_back(
          {.field = list_, .agent = "", .scalar = {}, .items = {}, .replaces = false, .origin = at(line)});
    }
    std::vector<Item>& items = changes_[place->second].items;
    if (items.size() >= static_cast<std::size_t>(list_->most)) {
      return wrong(line, "more than {} entries under {}", list_->most, section_);
    }
    items.push_back(std::move(item));
    return {};
  }

  /// `code` stands for itself; what follows it after a dash, colon or parenthesis is a remark for people.
  Result<std::string> entry_text(const MarkdownLine& line) const {
    const std::string_view text = line.text;
    if (!text.starts_with('`')) return unescaped(text);
    const std::size_t ticks = text.find_first_not_of('`');
    const std::string fence(std::min(ticks, text.size()), '`');
    const std::size_t end = ticks == std::string_view::npos ? ticks : text.find(fence, ticks);
    if (end == std::string_view::npos) return wrong(line, "the backtick of '{}' is not closed", shown_word(text));
    const std::string_view rest = trim(text.substr(end + fence.size()));
    static constexpr std::string_view before_remark[] = {"—", "–", "- ", "-- ", ":", "(", "#"};
    const bool remark =
        std::ranges::any_of(before_remark, [&](std::string_view mark) { return rest.starts_with(mark); });
    if (!rest.empty() && !remark) {
      return wrong(line, "'{}' has text after the backticks; put all of the entry inside them", shown_word(text));
    }
    return std::string(trim(text.substr(ticks, end - ticks)));
  }

  /// Who knows Markdown writes `\*`; every other backslash belongs to the pattern.
  static std::string unescaped(std::string_view text) {
    std::string made;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const bool escape = text[at] == '\\' && at + 1 < text.size() && (text[at + 1] == '*' || text[at + 1] == '_');
      if (!escape) made.push_back(text[at]);
    }
    return made;
  }

  Result<void> take_pair(const MarkdownLine& line) {
    const std::string_view text = line.text;
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos && line.kind == Kind::paragraph) {
      warn(line, "text under {} is not read (a setting is written 'Key: value')", section_);
      return {};
    }
    if (colon == std::string_view::npos) return wrong(line, "expected 'Key: value' under {}", section_);
    const std::string_view label = bare(text.substr(0, colon));
    const Field* field = field_labelled(section_, label);
    if (field == nullptr) {
      return wrong(line, "unknown key '{}' under {}{}", shown_word(label), section_, did_you_mean(label, labels()));
    }
    if (const auto [earlier, fresh] = set_.emplace(field, line.number); !fresh) {
      return wrong(line, "{} is already set in line {}", field->label, earlier->second);
    }
    Scalar value = TRY(read_scalar(*field, field->label, bare(text.substr(colon + 1)), at(line)));
    changes_.push_back(
        {.field = field, .agent = "", .scalar = std::move(value), .items = {}, .replaces = false, .origin = at(line)});
    return {};
  }

  std::vector<std::string_view> labels() const {
    std::vector<std::string_view> made;
    for (const Field& field : fields()) {
      if (field.section == section_ && !field.label.empty()) made.push_back(field.label);
    }
    return made;
  }

  std::string_view name_;
  const Surroundings& around_;
  std::vector<Remark>& remarks_;
  std::vector<Change> changes_;
  std::string_view section_;
  const Field* list_ = nullptr;
  std::map<const Field*, int> set_;            // scalar → line
  std::map<const Field*, std::size_t> lists_;  // list → its change
  static constexpr int most_warnings = 50;
  int warnings_ = 0;
  bool any_heading_ = false;
  int unread_ = -1;  // last line of a block that was warned about
};

}  // namespace

Result<std::vector<Change>> read_sandbox_md(std::string_view text, std::string_view name, const Surroundings& around,
                                            std::vector<Remark>& remarks) {
  return SandboxReader(name, around, remarks).read(text);
}

}  // namespace cordon::config
