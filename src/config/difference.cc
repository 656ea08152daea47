#include "config/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace cordon::config {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> made;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    made.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return made;
}

struct Step {
  char mark;  // ' ', '-', '+'
  std::string_view line;
};

using Lines = std::vector<std::string_view>;

/// Longest common subsequence of what is left between the equal beginning and end; above the limit the whole middle
/// counts as replaced, since a table of its square would be too large.
void append_middle(std::vector<Step>& steps, const Lines& before, const Lines& after) {
  constexpr std::size_t largest_table = 4'000'000;
  const std::size_t rows = before.size(), columns = after.size();
  if ((rows + 1) * (columns + 1) > largest_table) {
    for (const std::string_view line : before) steps.push_back({'-', line});
    for (const std::string_view line : after) steps.push_back({'+', line});
    return;
  }
  std::vector<std::uint32_t> common((rows + 1) * (columns + 1));
  const auto at = [&](std::size_t row, std::size_t column) -> std::uint32_t& {
    return common[row * (columns + 1) + column];
  };
  for (std::size_t row = rows; row-- > 0;) {
    for (std::size_t column = columns; column-- > 0;) {
      at(row, column) = before[row] == after[column] ? at(row + 1, column + 1) + 1
                                                     : std::max(at(row + 1, column), at(row, column + 1));
    }
  }
  std::size_t row = 0, column = 0;
  while (row < rows || column < columns) {
    if (row < rows && column < columns && before[row] == after[column]) {
      steps.push_back({' ', before[row]});
      ++row;
      ++column;
    } else if (column == columns || (row < rows && at(row + 1, column) >= at(row, column + 1))) {
      steps.push_back({'-', before[row++]});
    } else {
      steps.push_back({'+', after[column++]});
    }
  }
}

std::vector<Step> steps_between(Lines before, Lines after) {
  std::vector<Step> steps, ending;
  std::size_t same = 0;
  while (same < before.size() && same < after.size() && before[same] == after[same]) {
    steps.push_back({' ', before[same++]});
  }
  before.erase(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(same));
  after.erase(after.begin(), after.begin() + static_cast<std::ptrdiff_t>(same));
  while (!before.empty() && !after.empty() && before.back() == after.back()) {
    ending.push_back({' ', before.back()});
    before.pop_back();
    after.pop_back();
  }
  append_middle(steps, before, after);
  steps.insert(steps.end(), ending.rbegin(), ending.rend());
  return steps;
}

/// Steps [begin, end) that are shown together.
struct Hunk {
  std::size_t begin;
  std::size_t end;
};

std::vector<Hunk> hunks_of(const std::vector<Step>& steps) {
  constexpr std::size_t context = 3;
  std::vector<Hunk> made;
  for (std::size_t index = 0; index < steps.size(); ++index) {
    if (steps[index].mark == ' ') continue;
    const std::size_t begin = index - std::min(index, context);
    const std::size_t end = std::min(index + context + 1, steps.size());
    if (!made.empty() && begin <= made.back().end) {
      made.back().end = end;
    } else {
      made.push_back({begin, end});
    }
  }
  return made;
}

}  // namespace

std::string unified_difference(std::string_view before, std::string_view after, std::string_view name) {
  if (before == after) return "";
  const std::vector<Step> steps = steps_between(lines_of(before), lines_of(after));
  std::string made = fmt::format("--- {} (trusted)\n+++ {}\n", name, name);
  std::size_t at = 0, old_line = 1, new_line = 1;
  for (const Hunk& hunk : hunks_of(steps)) {
    for (; at < hunk.begin; ++at, ++old_line, ++new_line) {
    }
    std::string body;
    std::size_t old_count = 0, new_count = 0;
    for (; at < hunk.end; ++at) {
      const Step& step = steps[at];
      old_count += step.mark != '+';
      new_count += step.mark != '-';
      body += step.mark;
      body += step.line;
      if (!step.line.ends_with('\n')) body += "\n\\ No newline at end of file\n";
    }
    made += fmt::format("@@ -{},{} +{},{} @@\n{}", old_count == 0 ? old_line - 1 : old_line, old_count,
                        new_count == 0 ? new_line - 1 : new_line, new_count, body);
    old_line += old_count;
    new_line += new_count;
  }
  return made;
}

}  // namespace cordon::config
