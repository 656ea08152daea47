#include "code/language.h"

#include <unistd.h>

#include <algorithm>

#include "base/text.h"

namespace cordon::code {

namespace {

const std::vector<Language>& table() {
  using enum ErrorText;
  using Which = ErrorLine::Which;
  static const std::vector<Language> rows = {
      {"javascript", "JavaScript", {"js"}, Engine::javascript, "main.js", {}, {}, "", last_line, {}},
      {"typescript", "TypeScript", {"ts"}, Engine::javascript, "main.ts", {}, {}, "", last_line, {}},
      {"python",
       "Python",
       {"py", "python3"},
       Engine::python,
       "main.py",
       {"python3", "-I", "-B", "-X", "utf8", "-c", "{boot}", "{}"},
       {},
       "python3",
       last_line,
       {"File \"main.py\", line ", Which::last}},
      {"bash",
       "Bash",
       {"sh", "shell"},
       Engine::program,
       "main.sh",
       {"bash", "--norc", "--noprofile", "{}"},
       {},
       "bash",
       last_line,
       {"/main.sh: line ", Which::last}},
      {"ruby",
       "Ruby",
       {"rb"},
       Engine::program,
       "main.rb",
       {"ruby", "{}"},
       {},
       "ruby",
       first_line,
       {"/main.rb:", Which::first}},
      {"perl",
       "Perl",
       {"pl"},
       Engine::program,
       "main.pl",
       {"perl", "{}"},
       {},
       "perl",
       first_line,
       {"/main.pl line ", Which::first}},
      {"lua",
       "Lua",
       {},
       Engine::program,
       "main.lua",
       {"lua5.4", "{}"},
       {},
       "lua5.4",
       first_line,
       {"/main.lua:", Which::first}},
      {"php",
       "PHP",
       {},
       Engine::program,
       "main.php",
       {"php", "-n", "-d", "display_errors=stderr", "-d", "log_errors=0", "-d", "html_errors=0", "{}"},
       {},
       "php-cli",
       first_line,
       {"/main.php:", Which::first}},
      {"c",
       "C",
       {},
       Engine::program,
       "main.c",
       {"/tmp/code/program"},
       {"cc", "-O1", "-std=c17", "-o", "/tmp/code/program", "{}", "-lm"},
       "gcc",
       first_error,
       {"/main.c:", Which::first}},
      {"c++",
       "C++",
       {"cpp", "cxx"},
       Engine::program,
       "main.cc",
       {"/tmp/code/program"},
       {"c++", "-O1", "-std=c++20", "-o", "/tmp/code/program", "{}"},
       "g++",
       first_error,
       {"/main.cc:", Which::first}},
  };
  return rows;
}

/// The sandbox shows these directories of the host, and nothing else that holds programs.
bool found(std::string_view program) {
  for (const char* directory : {"/usr/local/bin/", "/usr/bin/", "/bin/"}) {
    if (::access((directory + std::string(program)).c_str(), X_OK) == 0) return true;
  }
  return false;
}

}  // namespace

std::span<const Language> languages() { return table(); }

const Language* language_named(std::string_view name) {
  const std::string wanted = to_lower(name);
  for (const Language& language : table()) {
    if (language.name == wanted || std::ranges::find(language.aliases, wanted) != language.aliases.end())
      return &language;
  }
  return nullptr;
}

std::optional<Error> missing(const Language& language) {
  const auto& words = language.compile.empty() ? language.command : language.compile;
  if (words.empty() || found(words.front())) return std::nullopt;
  return Error{Fault::unavailable,
               fmt::format("{} is not installed here: {} was not found in /usr/local/bin, /usr/bin or /bin (Debian "
                           "package {})",
                           language.title, words.front(), language.package)};
}

}  // namespace cordon::code
