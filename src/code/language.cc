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
      {"javascript",
       "JavaScript",
       {"js"},
       Engine::javascript,
       "main.js",
       {},
       {},
       "",
       last_line,
       {},
       "node -e {}",
       {".js", ".mjs", ".cjs"}},
      {"typescript",
       "TypeScript",
       {"ts"},
       Engine::javascript,
       "main.ts",
       {},
       {},
       "",
       last_line,
       {},
       "ts-node -e {}",
       {".ts", ".mts", ".cts"}},
      {"python",
       "Python",
       {"py", "python3"},
       Engine::python,
       "main.py",
       {"python3", "-I", "-B", "-X", "utf8", "-c", "{boot}", "{}"},
       {},
       "python3",
       last_line,
       {"File \"main.py\", line ", Which::last},
       "python3 -c {}",
       {".py"}},
      {"bash",
       "Bash",
       {"sh", "shell"},
       Engine::program,
       "main.sh",
       {"bash", "--norc", "--noprofile", "{}"},
       {},
       "bash",
       last_line,
       {"/main.sh: line ", Which::last},
       "bash -c {} main.sh",
       {".sh", ".bash"}},
      {"ruby",
       "Ruby",
       {"rb"},
       Engine::program,
       "main.rb",
       {"ruby", "{}"},
       {},
       "ruby",
       first_line,
       {"/main.rb:", Which::first},
       "ruby -e {}",
       {".rb"}},
      {"perl",
       "Perl",
       {"pl"},
       Engine::program,
       "main.pl",
       {"perl", "{}"},
       {},
       "perl",
       first_line,
       {"/main.pl line ", Which::first},
       "perl -e {}",
       {".pl"}},
      {"lua",
       "Lua",
       {},
       Engine::program,
       "main.lua",
       {"lua5.4", "{}"},
       {},
       "lua5.4",
       first_line,
       {"/main.lua:", Which::first},
       "lua5.4 -e {}",
       {".lua"}},
      {"php",
       "PHP",
       {},
       Engine::program,
       "main.php",
       {"php", "-n", "-d", "display_errors=stderr", "-d", "log_errors=0", "-d", "html_errors=0", "{}"},
       {},
       "php-cli",
       first_line,
       {"/main.php:", Which::first},
       "php -r {}",
       {".php"}},
      {"c",
       "C",
       {},
       Engine::program,
       "main.c",
       {"/tmp/code/program"},
       {"cc", "-O1", "-std=c17", "-o", "/tmp/code/program", "{}", "-lm"},
       "gcc",
       first_error,
       {"/main.c:", Which::first},
       "cc -x c -o program - <<< {} && ./program",
       {".c"}},
      {"c++",
       "C++",
       {"cpp", "cxx"},
       Engine::program,
       "main.cc",
       {"/tmp/code/program"},
       {"c++", "-O1", "-std=c++20", "-o", "/tmp/code/program", "{}"},
       "g++",
       first_error,
       {"/main.cc:", Which::first},
       "c++ -x c++ -o program - <<< {} && ./program",
       {".cc", ".cpp", ".cxx"}},
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

const Language* language_of_file(std::string_view path) {
  for (const Language& language : table()) {
    for (const std::string_view ending : language.endings) {
      if (path.ends_with(ending)) return &language;
    }
  }
  return nullptr;
}

std::string command_for(const Language& language, std::string_view code, const std::vector<std::string>& arguments) {
  const auto quoted = [](std::string_view text) {
    std::string word = "'";
    for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return word + "'";
  };
  std::string command(language.typed);
  command.replace(command.find("{}"), 2, quoted(code));
  for (const std::string& argument : arguments) command += ' ' + quoted(argument);
  return command;
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
