#include "risk/table.h"

#include <algorithm>

namespace cordon::risk {

namespace rows {

std::span<const OptionRow> NodeRow::options() const { return {option_rows + options_at, options_size}; }
std::span<const WhenRow> NodeRow::whens() const { return {when_rows + whens_at, whens_size}; }
std::span<const RoleRow> NodeRow::roles() const { return {role_rows + roles_at, roles_size}; }

}  // namespace rows

namespace {

template <class Row>
const Row* by_name(std::span<const Row> all, std::string_view name) {
  auto at = std::lower_bound(all.begin(), all.end(), name,
                             [](const Row& row, std::string_view wanted) { return row.name.view() < wanted; });
  return at != all.end() && at->name.view() == name ? &*at : nullptr;
}

const Node* exact_program(std::string_view name) {
  const auto* row = by_name<rows::NameRow>({rows::program_rows, rows::program_rows_size}, name);
  return row ? &rows::node_rows[row->node] : nullptr;
}

}  // namespace

const Node* find_program(std::string_view name) {
  if (const Node* node = exact_program(name)) return node;
  if (name.ends_with(".exe")) return find_program(name.substr(0, name.size() - 4));
  std::string_view stem = name;
  while (!stem.empty() && ((stem.back() >= '0' && stem.back() <= '9') || stem.back() == '.')) stem.remove_suffix(1);
  if (stem.size() == name.size()) return nullptr;
  if (stem.ends_with('-')) stem.remove_suffix(1);
  return stem.size() < 2 ? nullptr : exact_program(stem);
}

const Node* find_subcommand(const Node& parent, std::string_view name) {
  std::span<const rows::NameRow> exact{rows::sub_rows + parent.subs_at, parent.subs_exact};
  if (const auto* row = by_name(exact, name)) return &rows::node_rows[row->node];
  for (std::uint32_t i = 0; i < parent.subs_globs; ++i) {
    const rows::NameRow& row = rows::sub_rows[parent.subs_at + parent.subs_exact + i];
    if (matches(row.name.view(), name)) return &rows::node_rows[row.node];
  }
  return nullptr;
}

const Option* find_option(const Node& node, std::string_view name) { return by_name(node.options(), name); }

const Rule& rule_named(std::string_view name) {
  std::span<const std::uint16_t> all{rows::rules_by_name, rows::rules_by_name_size};
  auto at = std::lower_bound(all.begin(), all.end(), name, [](std::uint16_t index, std::string_view wanted) {
    return rows::rule_rows[index].name.view() < wanted;
  });
  if (at != all.end() && rows::rule_rows[*at].name.view() == name) return rows::rule_rows[*at];
  return rule_named("internal.unnamed");
}

std::string_view language_name(std::uint8_t language) {
  return language < rows::language_names_size ? rows::language_names[language].view() : std::string_view{};
}

std::optional<std::uint8_t> language_named(std::string_view name) {
  for (std::uint32_t i = 0; i < rows::language_names_size; ++i) {
    if (rows::language_names[i].view() == name) return static_cast<std::uint8_t>(i);
  }
  return std::nullopt;
}

std::string_view find_call(std::uint8_t language, std::string_view dotted) {
  std::span<const rows::CallRow> all{rows::call_rows, rows::call_rows_size};
  auto find = [&](std::string_view name) -> std::string_view {
    auto at =
        std::lower_bound(all.begin(), all.end(), name, [language](const rows::CallRow& row, std::string_view wanted) {
          return row.language != language ? row.language < language : row.name.view() < wanted;
        });
    return at != all.end() && at->language == language && at->name.view() == name ? at->what.view()
                                                                                  : std::string_view{};
  };
  if (std::string_view what = find(dotted); !what.empty()) return what;
  const std::size_t dot = dotted.rfind('.');
  if (dot == std::string_view::npos) {
    std::string last = "." + std::string(dotted);
    return find(last);
  }
  return find(dotted.substr(dot));
}

std::string_view find_environment(std::string_view name) {
  std::span<const rows::PlaceRow> all{rows::environment_rows, rows::environment_rows_size};
  auto at = std::lower_bound(all.begin(), all.end(), name, [](const rows::PlaceRow& row, std::string_view wanted) {
    return row.kind.view() < wanted;
  });
  if (at != all.end() && at->kind.view() == name) return at->entry.view();
  for (const rows::PlaceRow& row : all) {
    if (row.kind.view().find('*') != std::string_view::npos && matches(row.kind.view(), name)) return row.entry.view();
  }
  return {};
}

bool listed(std::string_view kind, std::string_view text) {
  const std::string_view last = text.substr(text.rfind('/') + 1);
  std::span<const rows::PlaceRow> all{rows::place_rows, rows::place_rows_size};
  auto row = std::lower_bound(all.begin(), all.end(), kind, [](const rows::PlaceRow& each, std::string_view wanted) {
    return each.kind.view() < wanted;
  });
  for (; row != all.end() && row->kind.view() == kind; ++row) {
    const std::string_view pattern = row->entry.view();
    const bool whole = pattern.find('/') != std::string_view::npos;
    // Most patterns fail by their last character.
    const std::string_view subject = whole ? text : last;
    if (!pattern.empty() && pattern.back() != '*' && (subject.empty() || pattern.back() != subject.back())) continue;
    if (matches(pattern, subject)) return true;
  }
  return false;
}

bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace cordon::risk
