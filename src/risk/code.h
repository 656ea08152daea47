// Small lexers for code given on a command line: enough to tell strings and comments from calls, not to understand it.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "risk/judge.h"

namespace cordon::risk {

struct Token {
  enum class Kind { name, string, shell, mark, line_end };
  Kind kind;
  std::string text;  // a name with its dots ("os.path.join"), a string's value, the command in backticks, one character
  bool unknown = false;
  std::uint32_t indent = 0;  // of the line after a line_end
};

/// `language` decides what is a comment, a string, a regular expression. Unterminated parts end with the text.
std::vector<Token> lex(std::string_view language, std::string_view text);

/// Judges what the code runs, deletes, writes and reaches by the calls that data/programs/languages.json5 names.
void judge_code(Judge& judge, Run& run, std::uint8_t language, std::string_view text, const Arg& arg);

/// Paths put together from literals: os.path.join(home, ".aws", "credentials"), Path.home() / ".aws" / "credentials".
std::vector<std::string> joined_paths(std::string_view language, const std::vector<Token>& tokens);

/// "$ENV{HOME}/x", "#{Dir.home}/x", "${os.homedir()}/x" as "~/x"; anything else as it is.
std::string homeward(const std::string& text);

/// Files that the code fills with text it states, and modules it loads that this script wrote before. Returns the
/// places of those files.
std::set<std::string> note_files(Judge& judge, Run& run, std::string_view language, const std::vector<Token>& tokens,
                                 const Arg& arg);

void judge_sed(Judge& judge, Run& run, std::string_view script, const Arg& arg);
void judge_debugger(Judge& judge, Run& run, std::string_view command, const Arg& arg);
void judge_expect(Judge& judge, Run& run, std::string_view text, const Arg& arg);
void judge_vim(Judge& judge, Run& run, std::string_view command, const Arg& arg);

}  // namespace cordon::risk
