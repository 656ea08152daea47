// Languages are data: adding one is a row in language.cc and a test.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cordon::code {

/// How the code is run in the sandbox.
enum class Engine {
  javascript,  // in the runner itself
  python,      // an interpreter that can be started before the code is known
  program,     // an interpreter or compiler, started for the code
};

/// How the line of an error is found in what was written to stderr: after this text. Where it occurs more than once,
/// an interpreter that prints the innermost call last (Python) means the last, others the first.
struct ErrorLine {
  std::string_view before;
  enum class Which { first, last } which = Which::first;
};

/// Which line of stderr says what went wrong.
enum class ErrorText {
  first_line,
  last_line,
  first_error,  // the first with "error" in it: a compiler's
};

struct Language {
  std::string_view name;   // "python"
  std::string_view title;  // "Python"
  std::vector<std::string_view> aliases;
  Engine engine = Engine::program;
  std::string_view code_name;             // the file the code is kept in
  std::vector<std::string_view> command;  // `{}` is the file; the first word must be found in the sandbox
  std::vector<std::string_view> compile;
  std::string_view package;  // Debian's, for the message when it is missing
  ErrorText error_text = ErrorText::last_line;
  ErrorLine error_line;
  std::string_view typed = {};                 // what one would type to run code that is given as text, `{}`
  std::vector<std::string_view> endings = {};  // of files in this language
};

std::span<const Language> languages();

/// By name or alias, in any case.
const Language* language_named(std::string_view name);

/// By the end of a file's name: "script.py".
const Language* language_of_file(std::string_view path);

/// The command that runs this code with these arguments, as a shell would read it.
std::string command_for(const Language& language, std::string_view code, const std::vector<std::string>& arguments);

/// What must be found for it to run, and is not: a sentence. Nothing when all is there.
std::optional<Error> missing(const Language& language);

}  // namespace cordon::code
