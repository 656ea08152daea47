// Where we and `bash -n` differ on what is valid, one by one. Each row says how to rewrite a script so that the cause
// is gone: the difference counts as explained only if both then agree.
#pragma once

#include <regex>
#include <string>
#include <vector>

namespace cordon::shell {

struct Explained {
  std::regex cause;
  std::string rewrite;
  std::string reason;
};

inline const std::vector<Explained>& explained() {
  static const std::vector<Explained> table{
      {std::regex(R"(([$<>]\((?:[ \t]|\\\n)*)time)"), "$1:\ntime",
       "directly after $( bash's first reading takes `time` as an ordinary word and so refuses `$(time { a; })`; when "
       "it runs "
       "the substitution it reads it again, as the keyword. We read it the way it would run."},
      {std::regex(R"((\[\[|&&|\|\||!|\()((?:[ \t\n]|\\\n)*)\]\])"), "$1 a b ]]",
       "an expression missing before ]] ends bash's reading without a word and with status 0; nothing after it runs. "
       "We say "
       "what is wrong."},
      {std::regex(R"(([<>$]\()\()"), "$1 (",
       "a substitution that begins with a second parenthesis, inside an array: bash's first reading takes `((…))` as "
       "arithmetic and does not look into it; when it runs the substitution it reads it again, as commands, and "
       "refuses "
       "it. We read it the way it would run."},
      {std::regex(R"(for((?:[ \t]|\\\n)*)\(\()"), ": $1\\(\\(",
       "a `for ((` that the text ends in ends bash's reading without a word and with status 0; nothing of that line "
       "runs. We say what is wrong."},
      {std::regex(R"(\\(?![\s\S]))"), "",
       "a backslash that is the last character of a file is nothing to bash, wherever a word may not stand; in a text "
       "given with -c it is an error, as to us."},
      {std::regex(R"((\$\[[^\]]*)\$\{)"), "$1",
       "in the old $[…] bash's first reading does not look into ${, and finds out that it is never closed only when it "
       "runs it."},
      {std::regex(R"(\(\((?=[\s\S]*<(?:\\\n)?<))"), "( (",
       "a here-document inside `((`, where that is two subshells: bash gives the text back to itself and takes the "
       "document from behind it, so that its lines are run. We refuse to read that."},
      {std::regex(R"((\\\\)|\\["'`$();&|<>#])"), "$1x",
       "a backslash in an array in a substitution is not there in bash's first reading, and there in the second. We "
       "refuse to read that."},
      {std::regex(R"(\bcoproc((?:[ \t]|\\\n)*[{(]))"), "$1",
       "a reserved word in a list of values right behind `coproc {`: bash refuses it there, and nowhere else. Nothing "
       "runs; we read what it would be."},
  };
  return table;
}

}  // namespace cordon::shell
