// Text from strangers, made fit to be shown; and small helps for words.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cordon {

/// Why a character must not be shown as it is.
enum class Hidden {
  control,     // C0, C1, DEL: moves the cursor, colours, clears
  bidi,        // changes the order in which text is shown
  zero_width,  // shows nothing
  odd_blank,   // looks like a space and is none
  confusable,  // looks like an ASCII character and is none
  invalid,     // not UTF-8
};
const char* name_of(Hidden hidden);

struct HiddenCharacter {
  Hidden kind;
  std::size_t offset;  // in bytes
  std::size_t length;
  std::string escape;  // how visible() writes it
};

/// Everything in `text` that a reader would not see or would misread. Newline and tab are not among it.
std::vector<HiddenCharacter> hidden_characters(std::string_view text);

enum class Lines { keep, escape };

/// `text` with every hidden character written as an escape (\x1b, \u{202e}). With Lines::escape newlines and tabs too,
/// so that the result is one line.
std::string visible(std::string_view text, Lines lines);

/// Decodes one UTF-8 character at `offset`; nothing when it is malformed, overlong, a surrogate or cut off.
struct Utf8 {
  char32_t character;
  std::size_t length;
};
std::optional<Utf8> decode_utf8(std::string_view text, std::size_t offset);
bool is_utf8(std::string_view text);
void append_utf8(std::string& text, char32_t character);

/// The candidate closest in spelling, if one is close enough to be worth asking "did you mean …?".
std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string_view> candidates);

/// `word` as a shell reads it back: bare where that is safe, else in single quotes.
std::string shell_word(std::string_view word);

std::string to_lower(std::string_view text);
std::string_view trim(std::string_view text);

}  // namespace cordon
