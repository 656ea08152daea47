#include "app/terminal.h"

#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "app/command_line.h"
#include "base/text.h"

namespace cordon::app {

bool is_terminal(int descriptor) { return ::isatty(descriptor) == 1; }

std::string styled(std::string_view text, Style style, int descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  if (style == Style::plain || !is_terminal(descriptor) || (no_color != nullptr && *no_color != '\0')) {
    return std::string(text);
  }
  const char* code = style == Style::bold     ? "1"
                     : style == Style::dim    ? "2"
                     : style == Style::red    ? "31"
                     : style == Style::yellow ? "33"
                                              : "32";
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

int complain(const Error& error) {
  // The sentence may quote a file or a command: never let those drive the terminal.
  std::cerr << styled("cordon:", Style::red, STDERR_FILENO) << ' ' << visible(error.sentence, Lines::keep) << '\n';
  return 1;
}

int finish(const Result<int>& result) {
  if (result) return *result;
  complain(result.error());
  return result.error().fault == Fault::denied ? exit_code::refused : exit_code::trouble;
}

}  // namespace cordon::app
