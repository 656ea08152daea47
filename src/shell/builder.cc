#include "shell/builder.h"

namespace cordon::shell {
namespace {

bool has_extended_pattern(std::string_view text) {
  for (std::size_t at = text.find('('); at != std::string_view::npos; at = text.find('(', at + 1)) {
    if (at > 0 && std::string_view("?*+@!").find(text[at - 1]) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

void Evaluator::Builder::literal(std::string_view text) {
  soft_end_ = false;
  exists_ = exists_ || !text.empty();
  if (text.empty()) return;
  if (!current_.empty() && current_.back().kind == Piece::Kind::literal) {
    current_.back().text += text;
    return;
  }
  Piece& piece = current_.emplace_back();
  piece.quoted = true;
  piece.text = text;
}

void Evaluator::Builder::glob(std::string_view text) {
  if (noglob_ && context_ == Context::word) return literal(text);
  soft_end_ = false;
  exists_ = true;
  Piece& piece = current_.emplace_back();
  piece.kind = Piece::Kind::glob;
  piece.text = text;
}

void Evaluator::Builder::pattern(std::string_view text) {
  if (!patterns() || (noglob_ && context_ == Context::word)) return literal(text);
  // What came out of an expansion: whether it is more than it looks is not worth being wrong about.
  const bool escapes = context_ == Context::pattern && text.find('\\') != std::string_view::npos;
  if (escapes || (extended && has_extended_pattern(text))) return glob(text);
  std::size_t from = 0;
  for (;;) {
    std::size_t at = text.find_first_of("*?[", from);
    if (at == std::string_view::npos) break;
    if (at > from) literal(text.substr(from, at - from));
    std::size_t length = 1;
    if (text[at] == '[') {
      std::size_t begin = at + 1;
      if (begin < text.size() && (text[begin] == '!' || text[begin] == '^')) ++begin;
      std::size_t close = text.find(']', begin + 1);
      std::size_t slash = text.find('/', at);
      if (close != std::string_view::npos && (context_ == Context::pattern || close < slash)) {
        length = close - at + 1;
      } else {
        bracket_ = true;
      }
    }
    glob(text.substr(at, length));
    from = at + length;
  }
  if (from < text.size()) literal(text.substr(from));
}

void Evaluator::Builder::unknown(Piece piece) {
  soft_end_ = false;
  piece.quoted = !splits();
  // Unquoted it may be nothing at all, but then there may be no word: it has to be shown all the same.
  exists_ = true;
  current_.push_back(std::move(piece));
}

void Evaluator::Builder::unknown_list(Piece piece) {
  unknown(std::move(piece));
  if (context_ == Context::word) current_.back().quoted = false;
}

void Evaluator::Builder::value(const Value& value) {
  if (value.known) {
    if (splits()) return split(value.text);
    if (patterns()) return pattern(value.text);
    return literal(value.text);
  }
  for (const Piece& piece : value.pieces) {
    if (piece.kind != Piece::Kind::literal) {
      unknown(piece);
    } else if (splits()) {
      split(piece.text);
    } else if (patterns()) {
      pattern(piece.text);
    } else {
      literal(piece.text);
    }
  }
}

void Evaluator::Builder::split(std::string_view text) {
  if (!ifs_known_) {
    if (text.empty()) return;
    Piece piece{.kind = Piece::Kind::unknown, .text = std::string(text)};
    return unknown(std::move(piece));
  }
  auto is_separator = [&](char c) { return ifs_.find(c) != std::string_view::npos; };
  auto is_soft = [&](char c) { return (c == ' ' || c == '\t' || c == '\n') && is_separator(c); };
  std::size_t i = 0;
  while (i < text.size()) {
    std::size_t end = i;
    while (end < text.size() && !is_separator(text[end])) ++end;
    if (end > i) pattern(text.substr(i, end - i));
    i = end;
    if (i >= text.size()) break;
    while (i < text.size() && is_soft(text[i])) ++i;
    bool hard = i < text.size() && is_separator(text[i]);
    if (hard) {
      ++i;
      while (i < text.size() && is_soft(text[i])) ++i;
    }
    if (!at_start()) {
      end_field();
      soft_end_ = !hard;
    } else if (hard) {
      if (!soft_end_) exist(), end_field();
      soft_end_ = false;
    }
  }
}

void Evaluator::Builder::settle_brackets() {
  bracket_ = false;
  bool closes = false;
  for (std::size_t i = current_.size(); i-- > 0;) {
    Piece& piece = current_[i];
    bool opens = piece.kind == Piece::Kind::glob && piece.text == "[";
    if (opens && !closes) piece.kind = Piece::Kind::literal;
    if (piece.kind != Piece::Kind::literal || piece.text.find(']') != std::string::npos) closes = true;
  }
  for (std::size_t i = 1; i < current_.size();) {
    if (current_[i].kind == Piece::Kind::literal && current_[i - 1].kind == Piece::Kind::literal) {
      current_[i - 1].text += current_[i].text;
      current_.erase(current_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

void Evaluator::Builder::end_field() {
  if (!exists_ && current_.empty()) return;
  if (bracket_) settle_brackets();
  Field& field = done_.emplace_back();
  field.pieces = std::move(current_);
  current_.clear();
  exists_ = false;
}

std::vector<Field> Evaluator::Builder::finish(Span where) {
  end_field();
  for (Field& field : done_) field.where = where;
  return std::move(done_);
}

Field Evaluator::Builder::finish_one(Span where) {
  exists_ = true;
  end_field();
  Field field = std::move(done_.front());
  field.where = where;
  return field;
}

}  // namespace cordon::shell
