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

bool Script::is_plain_call() const {
  if (!understood || commands.size() != 1 || !oddities.empty()) return false;
  const Command& only = commands.front();
  return only.kind == Command::Kind::program && !only.words.empty() && only.assignments.empty() &&
         only.redirects.empty() && !only.background &&
         std::all_of(only.words.begin(), only.words.end(), [](const Word& w) { return w.known(); });
}

}  // namespace cordon
