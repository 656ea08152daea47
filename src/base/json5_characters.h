// Which characters mean what in JSON5 (ECMAScript 5.1, with Unicode 10 for letters).
#pragma once

namespace cordon::json5 {

bool is_digit(char32_t character);
bool starts_identifier(char32_t character);
bool continues_identifier(char32_t character);
bool is_line_terminator(char32_t character);
bool is_space(char32_t character);
/// 0 to 15, or −1.
int hex_digit(char32_t character);

}  // namespace cordon::json5
