#include "config/markdown.h"

#include <md4c.h>

#include <algorithm>

#include "base/text.h"

namespace cordon::config {
namespace {

using Kind = MarkdownLine::Kind;

/// What md4c says about one source line.
struct Seen {
  bool text = false;  // any text of this line reached us
  bool heading = false;
  bool code = false;
  bool html = false;
  bool comment = false;  // HTML that shows nothing
  bool quote = false;
  int items = 0;  // list items around its first text
  int level = 0;
  std::string words;  // of a heading
};

/// Bytes of a list marker with the blanks after it, or 0.
std::size_t marker_length(std::string_view text) {
  std::size_t at = 0;
  if (text.empty()) return 0;
  if (text[0] == '-' || text[0] == '*' || text[0] == '+') {
    at = 1;
  } else {
    while (at < text.size() && at < 9 && text[at] >= '0' && text[at] <= '9') ++at;
    if (at == 0 || at == text.size() || (text[at] != '.' && text[at] != ')')) return 0;
    ++at;
  }
  if (at == text.size()) return at;
  const std::size_t blanks = at;
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
  return at > blanks ? at : 0;
}

/// `---`, `* * *`, `===`: a rule or the line under a heading.
bool is_rule(std::string_view text) {
  std::size_t marks = 0;
  for (const char c : text) {
    if (c == ' ' || c == '\t') continue;
    if (c != text[0] || (c != '-' && c != '*' && c != '_' && c != '=')) return false;
    ++marks;
  }
  return marks >= 3 || (marks > 0 && text[0] == '=');
}

/// Where the words of a line begin: after blanks, quotation marks and list markers.
std::size_t head_length(std::string_view line) {
  std::size_t at = 0;
  for (;;) {
    while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
    if (at < line.size() && line[at] == '>') {
      ++at;
      continue;
    }
    const std::size_t marker = marker_length(line.substr(at));
    if (marker == 0) return at;
    at += marker;
  }
}

/// What of the line's words decides about blocks: a fence, or the beginning of HTML.
std::size_t opening_length(std::string_view words) {
  if (words.starts_with("<!")) return 2;
  if (words.starts_with('<')) return 1;
  if (!words.starts_with("```") && !words.starts_with("~~~")) return 0;
  const std::size_t run = std::min(words.find_first_not_of(words[0]), words.size());
  const bool closed = words[0] == '`' && words.find('`', run) != std::string_view::npos;
  return closed ? 0 : run;
}

/// `line` with everything that has a meaning only inside a line (emphasis, links, code, entities) made plain, byte for
/// byte. We use none of it, and md4c takes quadratic time over some of it.
void append_plain(std::string& out, std::string_view line) {
  const std::size_t head = head_length(line);
  const std::string_view words = line.substr(head);
  if (is_rule(words) || is_rule(trim(line))) {
    out += line;
    return;
  }
  const std::size_t opening = opening_length(words);
  out += line.substr(0, head + opening);
  for (std::size_t at = opening; at < words.size(); ++at) {
    // `</script>` ends a block of HTML wherever it stands.
    const bool ends_html = words.substr(at).starts_with("</");
    const bool plain = ends_html || std::string_view("[]*_`&\\!<~").find(words[at]) == std::string_view::npos;
    out += plain ? words[at] : 'x';
  }
}

class Outline {
 public:
  explicit Outline(std::string_view source) : source_(source) {
    starts_.push_back(0);
    for (std::size_t at = 0; at < source.size(); ++at) {
      const bool ends =
          source[at] == '\n' || (source[at] == '\r' && (at + 1 == source.size() || source[at + 1] != '\n'));
      if (ends) starts_.push_back(at + 1);
    }
    seen_.resize(starts_.size());
    plain_.reserve(source.size());
    for (std::size_t index = 0; index < starts_.size(); ++index) {
      const std::string_view text = line(index);
      append_plain(plain_, text);
      const std::size_t end = index + 1 < starts_.size() ? starts_[index + 1] : source.size();
      plain_ += source.substr(starts_[index] + text.size(), end - starts_[index] - text.size());
    }
  }

  Result<void> parse() {
    MD_PARSER parser{};
    parser.flags = MD_FLAG_NOHTMLSPANS;
    parser.enter_block = [](MD_BLOCKTYPE type, void* detail, void* self) {
      return static_cast<Outline*>(self)->enter(type, detail);
    };
    parser.leave_block = [](MD_BLOCKTYPE type, void*, void* self) { return static_cast<Outline*>(self)->leave(type); };
    parser.enter_span = [](MD_SPANTYPE, void*, void*) { return 0; };
    parser.leave_span = [](MD_SPANTYPE, void*, void*) { return 0; };
    parser.text = [](MD_TEXTTYPE, const MD_CHAR* text, MD_SIZE size, void* self) {
      return static_cast<Outline*>(self)->add({text, size});
    };
    if (md_parse(plain_.data(), static_cast<MD_SIZE>(plain_.size()), &parser, this) != 0) {
      return fail(Fault::internal, "Markdown could not be read: out of memory");
    }
    return {};
  }

  std::size_t lines() const { return starts_.size(); }
  const Seen& seen(std::size_t line) const { return seen_[line]; }

  std::string_view line(std::size_t index) const {
    const std::size_t end = index + 1 < starts_.size() ? starts_[index + 1] : source_.size();
    std::string_view text = source_.substr(starts_[index], end - starts_[index]);
    while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
    return text;
  }

 private:
  int enter(MD_BLOCKTYPE type, void* detail) {
    if (type == MD_BLOCK_LI) ++items_;
    if (type == MD_BLOCK_QUOTE) ++quotes_;
    if (type == MD_BLOCK_CODE) code_ = true;
    if (type == MD_BLOCK_HTML) {
      html_ = true;
      comment_ = html_began_ = false;
    }
    if (type == MD_BLOCK_H) {
      level_ = static_cast<int>(static_cast<MD_BLOCK_H_DETAIL*>(detail)->level);
      heading_line_ = none;
    }
    return 0;
  }

  int leave(MD_BLOCKTYPE type) {
    if (type == MD_BLOCK_LI) --items_;
    if (type == MD_BLOCK_QUOTE) --quotes_;
    if (type == MD_BLOCK_CODE) code_ = false;
    if (type == MD_BLOCK_HTML) html_ = false;
    if (type == MD_BLOCK_H) level_ = 0;
    return 0;
  }

  int add(std::string_view text) {
    // md4c hands out pieces of the text, and for line ends and replaced characters its own constants: only the former
    // have a place.
    const std::less<const char*> before;
    const bool ours = !before(text.data(), plain_.data()) && before(text.data(), plain_.data() + plain_.size());
    if (!ours) {
      if (level_ > 0 && heading_line_ != none) seen_[heading_line_].words += ' ';
      return 0;
    }
    const auto offset = static_cast<std::size_t>(text.data() - plain_.data());
    const auto line = static_cast<std::size_t>(std::ranges::upper_bound(starts_, offset) - starts_.begin()) - 1;
    Seen& here = seen_[line];
    if (!here.text) here.items = items_;
    here.text = true;
    here.code |= code_;
    if (html_ && !html_began_) comment_ = trim(source_.substr(offset, text.size())).starts_with("<!--");
    html_began_ = html_;
    here.html |= html_;
    here.comment |= html_ && comment_;
    here.quote |= quotes_ > 0;
    if (level_ == 0 || items_ > 0 || quotes_ > 0) return 0;
    if (heading_line_ == none) heading_line_ = line;
    here.heading = true;
    here.level = level_;
    seen_[heading_line_].words += source_.substr(offset, text.size());
    return 0;
  }

  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::string_view source_;
  std::string plain_;  // what md4c is given: the same bytes, but for those made plain
  std::vector<std::size_t> starts_;
  std::vector<Seen> seen_;
  int items_ = 0;
  int quotes_ = 0;
  int level_ = 0;
  std::size_t heading_line_ = none;
  bool code_ = false;
  bool html_ = false;
  bool html_began_ = false;
  bool comment_ = false;
};

bool is_fence(std::string_view text) { return text.starts_with("```") || text.starts_with("~~~"); }

/// A comment is not shown to whoever reads the page, so it must not count either.
std::string without_comments(std::string_view text) {
  std::string made;
  for (;;) {
    const std::size_t start = text.find("<!--");
    const std::size_t end = start == std::string_view::npos ? start : text.find("-->", start + 4);
    if (end == std::string_view::npos) break;
    made += text.substr(0, start);
    text.remove_prefix(end + 3);
  }
  made += text;
  return std::string(trim(made));
}

/// How many markers stand one after the other: `- * x` has two, because CommonMark takes it for a list in a list.
int markers_on(std::string_view text) {
  int count = 0;
  for (std::size_t length = marker_length(text); length > 0; length = marker_length(text)) {
    ++count;
    text.remove_prefix(length);
    text = trim(text);
  }
  return count;
}

std::size_t indent_of(std::string_view raw) {
  std::size_t columns = 0;
  for (const char c : raw) {
    if (c != ' ' && c != '\t') break;
    columns = c == '\t' ? columns / 4 * 4 + 4 : columns + 1;
  }
  return columns;
}

/// What the line is, given what md4c saw and how far the list around it is indented.
MarkdownLine classify(const Seen& seen, std::string_view raw, std::size_t list_indent, bool after_setext) {
  MarkdownLine made;
  made.text = without_comments(raw);
  const std::string_view text = made.text;
  if (seen.heading) {
    made.level = seen.level;
    made.text = trim(seen.words);
    made.kind = made.text.empty() ? Kind::blank : Kind::heading;
    return made;
  }
  if (seen.code || (!seen.text && is_fence(text))) {
    made.kind = seen.code ? Kind::code : Kind::blank;
    return made;
  }
  // In `- > x` the quotation is inside the entry and belongs to its text.
  const bool quoted = seen.quote && marker_length(text) == 0;
  if (seen.html || quoted) {
    made.kind = seen.comment ? Kind::comment : seen.html ? Kind::html : Kind::quote;
    return made;
  }
  const bool underline = after_setext && !seen.text && text.find_first_not_of("-=") == std::string_view::npos;
  if (text.empty() || underline || (!seen.text && is_rule(text))) return made;
  const std::size_t marker = marker_length(text);
  if (marker == 0 || (seen.text && seen.items == 0)) {
    made.kind = seen.items > 0 ? Kind::more : Kind::paragraph;
    return made;
  }
  const bool deeper = seen.text ? seen.items > markers_on(text) : indent_of(raw) > list_indent + 1;
  made.kind = deeper ? Kind::nested : Kind::item;
  made.text = trim(text.substr(marker));
  return made;
}

}  // namespace

Result<std::vector<MarkdownLine>> read_markdown(std::string_view text) {
  Outline outline(text);
  CHECK_OK(outline.parse());
  constexpr std::size_t no_list = 1'000'000;
  std::vector<MarkdownLine> made;
  std::size_t list_indent = no_list;
  for (std::size_t index = 0; index < outline.lines(); ++index) {
    const bool after_setext =
        index > 0 && made.back().kind == Kind::heading && !trim(outline.line(index - 1)).starts_with('#');
    MarkdownLine line = classify(outline.seen(index), outline.line(index), list_indent, after_setext);
    line.number = static_cast<int>(index) + 1;
    if (line.kind == Kind::item && list_indent == no_list) list_indent = indent_of(outline.line(index));
    if (line.kind == Kind::heading || line.kind == Kind::paragraph) list_indent = no_list;
    made.push_back(std::move(line));
  }
  return made;
}

}  // namespace cordon::config
