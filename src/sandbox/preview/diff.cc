#include "sandbox/preview/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "base/text.h"

namespace cordon::sandbox::preview {

namespace {

constexpr std::size_t context_lines = 3;

using Lines = std::vector<std::string_view>;  // each with its newline

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::size_t length = end == std::string_view::npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return lines;
}

/// Lines `from` to `to` of the old text became lines `other_from` to `other_to` of the new one.
struct Edit {
  std::size_t from;
  std::size_t to;
  std::size_t other_from;
  std::size_t other_to;
};

/// Equal lines get equal numbers, so that comparing two costs the same however long they are.
std::vector<std::uint32_t> numbers_of(const Lines& lines, std::unordered_map<std::string_view, std::uint32_t>& known) {
  std::vector<std::uint32_t> numbers;
  numbers.reserve(lines.size());
  for (const std::string_view line : lines) {
    numbers.push_back(known.try_emplace(line, static_cast<std::uint32_t>(known.size())).first->second);
  }
  return numbers;
}

/// Myers' greedy search, an O(ND) difference algorithm, given up after `most` edits: time and memory are then at most
/// proportional to the texts and to the square of that constant.
class Search {
 public:
  Search(std::span<const std::uint32_t> before, std::span<const std::uint32_t> after, std::size_t most)
      : before_(before), after_(after), most_(static_cast<long>(std::min(most, before.size() + after.size()))) {}

  /// Nothing: more edits than allowed.
  std::optional<std::vector<Edit>> edits() {
    furthest_.assign(static_cast<std::size_t>(2 * most_ + 3), 0);
    for (long count = 0; count <= most_; ++count) {
      trace_.emplace_back(furthest_.begin() + (most_ + 1 - count), furthest_.begin() + (most_ + 2 + count));
      for (long diagonal = -count; diagonal <= count; diagonal += 2) {
        if (advance(count, diagonal)) return walk_back(count);
      }
    }
    return std::nullopt;
  }

 private:
  long& at(long diagonal) { return furthest_[static_cast<std::size_t>(diagonal + most_ + 1)]; }
  long known(long count, long diagonal) const {
    return trace_[static_cast<std::size_t>(count)][static_cast<std::size_t>(diagonal + count)];
  }
  static bool goes_down(long count, long diagonal, long left, long right) {
    return diagonal == -count || (diagonal != count && left < right);
  }

  bool advance(long count, long diagonal) {
    const bool down = goes_down(count, diagonal, at(diagonal - 1), at(diagonal + 1));
    long x = down ? at(diagonal + 1) : at(diagonal - 1) + 1;
    long y = x - diagonal;
    while (x < width() && y < height() && before_[static_cast<std::size_t>(x)] == after_[static_cast<std::size_t>(y)]) {
      ++x;
      ++y;
    }
    at(diagonal) = x;
    return x >= width() && y >= height();
  }

  std::vector<Edit> walk_back(long count) const {
    std::vector<Edit> edits;
    long x = width();
    long y = height();
    for (; count > 0; --count) {
      const long diagonal = x - y;
      // The row before, as it was when this one was begun.
      const auto left = diagonal > -count ? known(count, diagonal - 1) : 0;
      const auto right = diagonal < count ? known(count, diagonal + 1) : 0;
      const bool down = goes_down(count, diagonal, left, right);
      const long from_x = down ? right : left;
      const long from_y = from_x - (down ? diagonal + 1 : diagonal - 1);
      const auto here_x = static_cast<std::size_t>(from_x);
      const auto here_y = static_cast<std::size_t>(from_y);
      edits.push_back(down ? Edit{here_x, here_x, here_y, here_y + 1} : Edit{here_x, here_x + 1, here_y, here_y});
      x = from_x;
      y = from_y;
    }
    std::reverse(edits.begin(), edits.end());
    return edits;
  }

  long width() const { return static_cast<long>(before_.size()); }
  long height() const { return static_cast<long>(after_.size()); }

  std::span<const std::uint32_t> before_;
  std::span<const std::uint32_t> after_;
  long most_;
  std::vector<long> furthest_;
  std::vector<std::vector<long>> trace_;
};

std::vector<Edit> edits_between(const Lines& before, const Lines& after, std::size_t most) {
  std::unordered_map<std::string_view, std::uint32_t> known;
  const auto left = numbers_of(before, known);
  const auto right = numbers_of(after, known);
  const std::size_t shorter = std::min(left.size(), right.size());
  std::size_t start = 0;
  while (start < shorter && left[start] == right[start]) ++start;
  std::size_t tail = 0;
  while (tail < shorter - start && left[left.size() - 1 - tail] == right[right.size() - 1 - tail]) ++tail;
  const auto middle = std::span(left).subspan(start, left.size() - start - tail);
  const auto other = std::span(right).subspan(start, right.size() - start - tail);
  auto found = Search(middle, other, most).edits();
  if (!found) found = {{0, middle.size(), 0, other.size()}};
  std::vector<Edit> joined;
  for (Edit edit : *found) {
    edit = {edit.from + start, edit.to + start, edit.other_from + start, edit.other_to + start};
    if (!joined.empty() && joined.back().to == edit.from && joined.back().other_to == edit.other_from) {
      joined.back().to = edit.to;
      joined.back().other_to = edit.other_to;
    } else {
      joined.push_back(edit);
    }
  }
  return joined;
}

/// Writes hunks until the room is used up.
class Printer {
 public:
  Printer(const Lines& before, const Lines& after, std::size_t room) : before_(before), after_(after), room_(room) {}

  Difference print(const std::vector<Edit>& edits) {
    for (std::size_t first = 0; first < edits.size() && !result_.cut;) {
      std::size_t last = first;
      while (last + 1 < edits.size() && edits[last + 1].from <= edits[last].to + 2 * context_lines) ++last;
      hunk({edits.begin() + static_cast<long>(first), edits.begin() + static_cast<long>(last) + 1});
      first = last + 1;
    }
    return std::move(result_);
  }

 private:
  static std::string range(std::size_t from, std::size_t count) {
    return count == 1 ? std::to_string(from + 1) : fmt::format("{},{}", count == 0 ? from : from + 1, count);
  }

  void hunk(std::span<const Edit> edits) {
    const Edit& first = edits.front();
    const Edit& last = edits.back();
    const std::size_t lead = std::min(context_lines, std::min(first.from, first.other_from));
    const std::size_t trail =
        std::min(context_lines, std::min(before_.size() - last.to, after_.size() - last.other_to));
    const std::size_t from = first.from - lead;
    const std::size_t other_from = first.other_from - lead;
    add(fmt::format("@@ -{} +{} @@\n", range(from, last.to + trail - from),
                    range(other_from, last.other_to + trail - other_from)));
    std::size_t at = from;
    for (const Edit& edit : edits) {
      for (; at < edit.from; ++at) line(' ', before_[at]);
      for (; at < edit.to; ++at) line('-', before_[at]);
      for (std::size_t other = edit.other_from; other < edit.other_to; ++other) line('+', after_[other]);
    }
    for (; at < last.to + trail; ++at) line(' ', before_[at]);
  }

  void line(char mark, std::string_view text) {
    add(std::string(1, mark) + std::string(text));
    if (!text.ends_with('\n')) add("\n\\ No newline at end of file\n");
  }

  void add(std::string_view text) {
    if (result_.cut) return;
    if (result_.text.size() + text.size() > room_) {
      result_.cut = true;
      return;
    }
    result_.text += text;
  }

  const Lines& before_;
  const Lines& after_;
  std::size_t room_;
  Difference result_;
};

}  // namespace

bool is_text(std::string_view bytes) { return bytes.find('\0') == std::string_view::npos && is_utf8(bytes); }

std::optional<Difference> diff(std::string_view before, std::string_view after, const DiffLimits& limits) {
  if (before.size() > limits.input_bytes || after.size() > limits.input_bytes) return std::nullopt;
  if (!is_text(before) || !is_text(after)) return std::nullopt;
  const Lines left = lines_of(before);
  const Lines right = lines_of(after);
  return Printer(left, right, limits.output_bytes).print(edits_between(left, right, limits.edits));
}

}  // namespace cordon::sandbox::preview
