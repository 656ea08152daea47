// What a person at a terminal sees: colour there, plain text in a pipe.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace cordon::app {

enum class Style { plain, bold, dim, red, yellow, green };

/// `text` in that style if `descriptor` is a terminal and NO_COLOR is not set.
std::string styled(std::string_view text, Style style, int descriptor);
bool is_terminal(int descriptor);

/// Writes "cordon: SENTENCE" on stderr; returns the exit code for trouble.
int complain(const Error& error);
/// The exit code of a verb: what it returned, or that of its error after saying it (126 when denied, else 1).
int finish(const Result<int>& result);

}  // namespace cordon::app
