// A run of plain characters while a word is read: a view of the text as long as it stands there in one piece, a copy as
// soon as a joined line breaks it.
#pragma once

#include <string>

#include "shell/parser.h"

namespace cordon::shell {

class Parser::Literal {
 public:
  explicit Literal(Parser& parser) : parser_(parser) {}

  void add(std::size_t from, std::size_t to) {
    const char* begin = parser_.text_.data() + from;
    std::size_t count = to - from;
    if (count == 0) return;
    if (size_ == 0 && joined_.empty()) {
      begin_ = begin, size_ = count, at_ = from;
    } else if (joined_.empty() && begin_ + size_ == begin) {
      size_ += count;
    } else {
      if (joined_.empty()) joined_.assign(begin_, size_);
      joined_.append(begin, count);
    }
  }
  /// The character just read.
  void add_last() {
    if (parser_.pos_ == 0) return add_text(" ");
    add(parser_.pos_ - 1, parser_.pos_);
  }
  void add_text(std::string_view text) {
    if (joined_.empty()) joined_.assign(begin_ == nullptr ? "" : begin_, size_);
    joined_ += text;
  }
  void drop_last() {
    if (!joined_.empty()) return joined_.pop_back();
    if (size_ > 0) --size_;
  }
  std::string_view view() const { return joined_.empty() ? std::string_view(begin_, size_) : joined_; }
  bool empty() const { return size_ == 0 && joined_.empty(); }

  void flush(Parts& out) {
    if (empty()) return;
    Part part;
    part.kind = Part::Kind::literal;
    part.text = joined_.empty() ? view() : parser_.arena_.copy(joined_);
    part.where = parser_.span(at_);
    out.push(parser_.arena_, part);
    begin_ = nullptr, size_ = 0;
    joined_.clear();
  }

 private:
  Parser& parser_;
  const char* begin_ = nullptr;
  std::size_t size_ = 0;
  std::size_t at_ = 0;
  std::string joined_;
};

}  // namespace cordon::shell
