#include "model/script.h"

#include <algorithm>

namespace cordon {

bool Word::known() const {
  return std::all_of(pieces.begin(), pieces.end(), [](const Piece& p) { return p.kind == Piece::Kind::literal; });
}

std::string Word::text() const {
  std::string all;
  for (const Piece& piece : pieces) all += piece.text;
  return all;
}

std::string Word::prefix() const {
  std::string start;
  for (const Piece& piece : pieces) {
    if (piece.kind != Piece::Kind::literal) break;
    start += piece.text;
  }
  return start;
}

bool Word::has(Piece::Kind kind) const {
  return std::any_of(pieces.begin(), pieces.end(), [kind](const Piece& p) { return p.kind == kind; });
}

Word Word::literal(std::string text, Span where) {
  Word word;
  word.pieces.push_back(Piece{.kind = Piece::Kind::literal, .quoted = true, .text = std::move(text)});
  word.where = where;
  return word;
}

namespace {

/// Whether the program of that name does what bash's builtin does with these words.
bool has_equal_program(const Command& builtin) {
  const std::string name = builtin.words.front().text();
  if (name == "true" || name == "false") return builtin.words.size() == 1;
  if (name != "echo") return false;
  return std::none_of(builtin.words.begin() + 1, builtin.words.end(),
                      [](const Word& word) { return word.text().starts_with('-'); });
}

/// Nothing but the call itself: no `!` or `time` before it, no group around it.
bool is_all_of(std::string_view text, Span where) {
  constexpr std::string_view nothing = " \t\n;";
  return where.end <= text.size() && text.substr(0, where.begin).find_first_not_of(nothing) == std::string_view::npos &&
         text.substr(where.end).find_first_not_of(nothing) == std::string_view::npos;
}

}  // namespace

bool Script::is_plain_call() const {
  if (!understood || commands.size() != 1 || !oddities.empty()) return false;
  const Command& only = commands.front();
  if (only.words.empty() || !is_all_of(text, only.where)) return false;
  if (only.kind == Command::Kind::builtin && !has_equal_program(only)) return false;
  return only.kind != Command::Kind::function && only.kind != Command::Kind::compound && only.assignments.empty() &&
         only.redirects.empty() && !only.background &&
         std::all_of(only.words.begin(), only.words.end(), [](const Word& w) { return w.known(); });
}

}  // namespace cordon
