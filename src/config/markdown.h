// The block structure of a Markdown text, line by line. md4c decides what is a heading, a list, code or a comment; the
// words themselves are taken from the source line, because a command pattern must not lose its `*` and `_` to emphasis.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cordon::config {

struct MarkdownLine {
  enum class Kind {
    blank,
    heading,  // `text` is the heading's text
    item,     // starts a list item; `text` follows the marker
    nested,   // starts an item inside another line's item
    more,     // goes on with the item above
    paragraph,
    code,  // in a code block
    comment,
    html,
    quote,
  };
  Kind kind = Kind::blank;
  int number = 0;    // from 1
  int level = 0;     // of a heading
  std::string text;  // trimmed, comments on the line removed
};

/// Needs valid UTF-8 without NUL. Fails only when md4c has no memory.
Result<std::vector<MarkdownLine>> read_markdown(std::string_view text);

}  // namespace cordon::config
