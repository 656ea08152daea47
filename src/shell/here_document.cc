// Here-documents: their lines stand between this line and the next, whatever this line goes on to say.
#include <algorithm>

#include "shell/ansi.h"
#include "shell/parser.h"

namespace cordon::shell {

bool holds_expansion(const Parts& parts, Part::Kind least) {
  return std::any_of(parts.begin(), parts.end(),
                     [least](const Part& part) { return part.kind >= least || holds_expansion(part.parts, least); });
}

std::string Parser::delimiter_of(const Word& word) const {
  std::string text;
  auto raw = [&](const Part& part) -> std::string_view {
    if (pinned_) return {};
    return text_.substr(part.where.begin - base_, part.where.end - part.where.begin);
  };
  for (const Part& part : word.parts) {
    switch (part.kind) {
      case Part::Kind::literal:
      case Part::Kind::escaped:
      case Part::Kind::single:
        text += part.text;
        break;
      case Part::Kind::ansi:
        text += decode_ansi(part.text);
        break;
      case Part::Kind::dquote:
      case Part::Kind::locale:
        for (const Part& inner : part.parts) {
          bool plain = inner.kind == Part::Kind::literal || inner.kind == Part::Kind::escaped;
          text += plain ? inner.text : raw(inner);
        }
        break;
      default:
        text += raw(part);
        break;
    }
  }
  return text;
}

// `at_newline`: the line is over and the documents begin here; else they begin where the line ends.
void Parser::gather_here_documents(bool at_newline) {
  if (!frames_.empty()) {
    fail("a here-document begun inside an alias", span(pos_));
    return;
  }
  std::size_t at = pos_;
  if (!at_newline) {
    at = resume_;
    if (at == 0) {
      at = text_.find('\n', pos_);
      at = at == std::string_view::npos ? text_.size() : at + 1;
    }
  }
  Seq<HereDocument*> pending = lex_.pending;
  lex_.pending.clear();
  bool resumed_inside = false;
  for (HereDocument* document : pending) gather(*document, at, resumed_inside);
  if (at_newline) {
    pos_ = at;
  } else if (resumed_inside) {
    fail("a here-document whose end shares its line with a closing parenthesis of another line", span(at));
  } else if (at > pos_) {
    resume_ = at;
  }
}

void Parser::gather(HereDocument& document, std::size_t& at, bool& resumed_inside) {
  std::size_t begin = at;
  std::string joined;
  bool plain = !document.strip_tabs;  // the body stands in the text as it is
  std::size_t plain_end = at;
  std::string body;
  while (at < text_.size()) {
    std::size_t line_begin = at;
    std::size_t end;
    bool in_pieces = false;
    joined.clear();
    for (;;) {
      end = text_.find('\n', at);
      if (end == std::string_view::npos) end = text_.size();
      std::size_t slashes = 0;
      while (end > at + slashes && text_[end - 1 - slashes] == '\\') ++slashes;
      bool continued = !document.quoted && slashes % 2 == 1 && end < text_.size();
      // Half an escape: what it would mean depends on what bash's reader adds to a line that has no end.
      if (!document.quoted && slashes % 2 == 1 && end == text_.size())
        fail_later("a here-document that ends in a backslash", span(end));
      if (!continued) break;
      joined += text_.substr(at, end - 1 - at);
      at = end + 1;
      in_pieces = true;
    }
    std::string_view line = text_.substr(at, end - at);
    if (in_pieces) {
      joined += line;
      line = joined;
      plain = false;
    }
    at = end < text_.size() ? end + 1 : end;
    std::string_view stripped = line;
    if (document.strip_tabs && line != document.delimiter) {
      while (stripped.starts_with('\t')) stripped.remove_prefix(1);
    }
    if (stripped == document.delimiter) {
      document.closed = true;
      break;
    }
    // Old scripts end the document and $( on one line; bash still reads them so.
    bool old_end = (lex_.state & in_substitution) != 0 && stripped.starts_with(document.delimiter) &&
                   stripped.substr(document.delimiter.size()).find(')') != std::string_view::npos && !in_pieces;
    if (old_end) {
      document.closed = true;
      resumed_inside = true;
      at = line_begin + (line.size() - stripped.size()) + document.delimiter.size();
      plain_end = line_begin;
      break;
    }
    body += stripped;
    body += '\n';
    plain_end = at;
  }
  document.where = span(begin, plain_end);
  plain = plain && plain_end - begin == body.size();
  document.text = plain ? text_.substr(begin, body.size()) : arena_.copy(body);
  if (document.quoted) return;
  ++limits_.depth;
  Parser inner(document.text, arena_, limits_, dialect_, base_ + static_cast<std::uint32_t>(begin));
  if (pinned_)
    inner.pin(pin_);
  else if (!plain)
    inner.pin(document.where);
  document.body = inner.read_quoted_text(true);
  --limits_.depth;
  if (inner.failed()) fail_later(inner.trouble_.what, inner.trouble_.where);
  if (inner.late_trouble() != nullptr) fail_later(inner.late_.what, inner.late_.where);
}

}  // namespace cordon::shell
