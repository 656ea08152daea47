// The escapes of $'…', echo -e and printf.
#pragma once

#include <string>
#include <string_view>

namespace cordon::shell {

/// $'…'. A NUL ends the text, as it does in bash.
std::string decode_ansi(std::string_view text);
/// The backslash escapes of echo -e (and printf %b): `stop` is set by \c.
std::string decode_echo(std::string_view text, bool& stop);
/// The escapes of a printf format.
std::string decode_format(std::string_view text);

}  // namespace cordon::shell
