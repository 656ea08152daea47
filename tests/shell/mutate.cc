#include "mutate.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

namespace cordon::shell {
namespace {

class Grower {
 public:
  explicit Grower(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }
  template <std::size_t N>
  std::string one_of(const char* const (&choices)[N]) {
    return choices[below(N)];
  }

  std::string script() {
    std::string out = list(0);
    if (below(4) == 0) out += "\n" + list(0);
    if (below(6) != 0) out += "\n";
    return out;
  }

  std::string mutated(std::string text, const std::string& other) {
    static const char* const tokens[] = {
        "(",      ")",    "{",        "}",   "((",   "))",    "[[",    "]]",   "[",     "]",       "'",
        "\"",     "`",    "$",        "$(",  "${",   "$((",   "$[",    "$'",   "$\"",   "<(",      ">(",
        ";",      ";;",   ";&",       ";;&", "&",    "&&",    "|",     "||",   "|&",    "!",       "<",
        ">",      ">>",   "<<",       "<<-", "<<<",  "<&",    ">&",    "&>",   "&>>",   "<>",      ">|",
        "\n",     " ",    "\t",       "\\",  "\\\n", "#",     " #",    "if",   "then",  "else",    "elif",
        "fi",     "for",  "in",       "do",  "done", "while", "until", "case", "esac",  "select",  "function",
        "coproc", "time", "time -p ", "f()", "a=(",  "a[1]=", "+=",    "=",    "EOF",   "\nEOF\n", "cat <<EOF",
        "*",      "?",    "@(",       "!(",  "=~",   "==",    "-f",    "2>&1", "{fd}>", "~",       "\r",
        "\f",     "x",    "1",        "$x",  "${x}", "\"$x\""};
    std::size_t edits = 1 + below(3);
    for (std::size_t i = 0; i < edits; ++i) {
      std::size_t at = below(text.size() + 1);
      std::size_t length = below(std::min<std::size_t>(text.size() - at, 8) + 1);
      switch (below(8)) {
        case 0:
          text.erase(at, 1);
          break;
        case 1:
          text.erase(at, length);
          break;
        case 2:
          text.insert(at, one_of(tokens));
          break;
        case 3:
          text.insert(at, " " + one_of(tokens) + " ");
          break;
        case 4:
          text.insert(at, text.substr(at, length));
          break;
        case 5:
          text = text.substr(0, at) + other.substr(below(other.size() + 1));
          break;
        case 6:
          text = wrapped(text);
          break;
        default:
          if (at < text.size()) text.replace(at, 1, one_of(tokens));
          break;
      }
    }
    return text;
  }

 private:
  std::string wrapped(const std::string& text) {
    switch (below(9)) {
      case 0:
        return "echo $(" + text + ")";
      case 1:
        return "{ " + text + "; }";
      case 2:
        return "(" + text + ")";
      case 3:
        return "echo \"$(" + text + ")\"";
      case 4:
        return "if " + text + "; then " + text + "; fi";
      case 5:
        return "f() { " + text + "\n}";
      case 6:
        return "cat <<EOF\n" + text + "\nEOF\n";
      case 7:
        return "echo `" + text + "`";
      default:
        return "x=$(" + text + "\n) y=<(" + text + ")";
    }
  }

  std::string name() {
    static const char* const names[] = {"a", "b", "x", "foo", "_y", "IFS", "HOME", "i"};
    return one_of(names);
  }
  std::string separator() {
    static const char* const choices[] = {"; ", "\n", " & ", " && ", " || ", ";", "&", " &&\n", "\n\n", " # note\n"};
    return one_of(choices);
  }
  std::string list(int depth) {
    std::string out = pipeline(depth);
    std::size_t more = below(3);
    for (std::size_t i = 0; i < more; ++i) out += separator() + pipeline(depth);
    return out;
  }
  std::string terminated(int depth) {
    static const char* const ends[] = {"; ", "\n", " ;\n", " & "};
    return list(depth) + one_of(ends);
  }
  std::string pipeline(int depth) {
    std::string out = below(12) == 0 ? "! " : below(15) == 0 ? "time " : below(30) == 0 ? "time -p " : "";
    out += command(depth);
    std::size_t more = below(5) == 0 ? 1 + below(2) : 0;
    for (std::size_t i = 0; i < more; ++i)
      out += (below(4) == 0 ? " |& " : below(3) == 0 ? " |\n " : " | ") + command(depth);
    return out;
  }
  std::string command(int depth) {
    if (depth > 3 || below(3) != 0) return simple(depth);
    std::string out;
    switch (below(14)) {
      case 0:
        out = "{ " + terminated(depth + 1) + "}";
        break;
      case 1:
        out = "(" + list(depth + 1) + ")";
        break;
      case 2:
        out = "if " + terminated(depth + 1) + "then " + terminated(depth + 1) +
              (below(2)   ? "else " + terminated(depth + 1)
               : below(2) ? "elif " + terminated(depth + 1) + "then " + terminated(depth + 1)
                          : "") +
              "fi";
        break;
      case 3:
        out =
            "for " + name() + " in " + words(depth) + (below(2) ? "; " : "\n") + "do " + terminated(depth + 1) + "done";
        break;
      case 4:
        out = "while " + terminated(depth + 1) + "do " + terminated(depth + 1) + "done";
        break;
      case 5:
        out = case_command(depth);
        break;
      case 6:
        out = "[[ " + test(depth, 0) + " ]]";
        break;
      case 7:
        out = "(( " + arithmetic() + " ))";
        break;
      case 8:
        out = "for ((" + arithmetic() + "; " + arithmetic() + ";" + arithmetic() + ")); do " + terminated(depth + 1) +
              "done";
        break;
      case 9:
        return name() + "() " + (below(2) ? "{ " : "\n{\n") + terminated(depth + 1) + "}";
      case 10:
        return "function " + name() + (below(2) ? " { " : " () { ") + terminated(depth + 1) + "}";
      case 11:
        return "coproc " + std::string(below(2) ? "NAME { " : "{ ") + terminated(depth + 1) + "}";
      case 12:
        out = "select " + name() + " in " + words(depth) + "; do " + terminated(depth + 1) + "done";
        break;
      default:
        out = "until " + terminated(depth + 1) + "do " + terminated(depth + 1) + "done";
        break;
    }
    if (below(4) == 0) out += " " + redirect(depth);
    return out;
  }
  std::string case_command(int depth) {
    static const char* const ends[] = {";;", ";&", ";;&"};
    std::string out = "case " + word(depth) + (below(3) ? " in " : " in\n");
    std::size_t clauses = below(3);
    for (std::size_t i = 0; i < clauses; ++i) {
      out += below(3) == 0 ? "(" : "";
      out += word(depth) + (below(3) == 0 ? "|" + word(depth) : "") + ") ";
      if (below(4) != 0) out += list(depth + 1);
      out += below(4) == 0 ? "\n" : " ";
      out += one_of(ends) + (below(2) ? "\n" : " ");
    }
    return out + "esac";
  }
  std::string test(int depth, int level) {
    static const char* const unary[] = {"-f", "-z", "-n", "-d", "-v"};
    static const char* const binary[] = {"==", "=", "!=", "<", ">", "-eq", "-lt", "-nt"};
    static const char* const regexes[] = {"^a(b|c)*$", "[[:digit:]]+", "(a|b) ", "\"x y\"",
                                          "$re",       "a\\ b",        "^$",     "(x)(y)"};
    static const char* const patterns[] = {"*.txt", "@(a|b)", "!(x)", "a*", "[a-z]?", "\"$x\"*"};
    if (level < 2 && below(4) == 0)
      return test(depth, level + 1) + (below(2) ? " && " : " ||\n") + test(depth, level + 1);
    switch (below(6)) {
      case 0:
        return one_of(unary) + " " + word(depth);
      case 1:
        return word(depth) + " " + one_of(binary) + " " + word(depth);
      case 2:
        return word(depth) + " =~ " + one_of(regexes);
      case 3:
        return word(depth) + " == " + one_of(patterns);
      case 4:
        return level < 2 ? "( " + test(depth, level + 1) + " )" : word(depth);
      default:
        return "! " + word(depth);
    }
  }
  std::string arithmetic() {
    static const char* const choices[] = {"1",    "x+1",    "i<10", "i++", "x=5",    "(a+b)*2", "a?b:c",
                                          "$x*2", "a[1]+2", "x<<2", "1,2", "$((2))", "",        "${x}"};
    return one_of(choices);
  }
  std::string words(int depth) {
    std::string out = word(depth);
    std::size_t more = below(3);
    for (std::size_t i = 0; i < more; ++i) out += " " + word(depth);
    return out;
  }
  std::string simple(int depth) {
    static const char* const commands[] = {"echo",    "ls",   "cat", "true", ":",     "printf", "export",
                                           "declare", "eval", "[",   "read", "rm -f", "git"};
    std::string out;
    if (below(4) == 0) out += assignment(depth) + " ";
    if (below(12) == 0) return out.empty() ? assignment(depth) : out;
    if (below(12) == 0) out += redirect(depth) + " ";
    out += one_of(commands) + (below(5) != 0 ? " " + words(depth) : "");
    if (below(5) == 0) out += " " + redirect(depth);
    if (below(12) == 0) out += here_document(depth);
    return out;
  }
  std::string assignment(int depth) {
    switch (below(6)) {
      case 0:
        return name() + "=(" + words(depth) + ")";
      case 1:
        return name() + "[" + arithmetic() + "]=" + word(depth);
      case 2:
        return name() + "+=" + word(depth);
      case 3:
        return name() + "=";
      case 4:
        return name() + "=([1]=" + word(depth) + " b)";
      default:
        return name() + "=" + word(depth);
    }
  }
  std::string redirect(int depth) {
    static const char* const choices[] = {">out",  "> out",  ">>log",   "<in",       "2>&1",   "2>/dev/null",
                                          "&>all", "&>>all", ">|out",   "<>rw",      "{fd}>x", "<&3",
                                          ">&-",   "3<&0",   "<<<word", "<<<\"$x\"", ">&file", "1>&2-"};
    return below(8) == 0 ? ">" + word(depth) : one_of(choices);
  }
  std::string here_document(int depth) {
    static const char* const bodies[] = {"line\n",   "$x `date` $(ls)\n", "\tindented\n", "",
                                         "a\\\nb\n", "${x:-y}\n\n",       "'\"\n",        "EO F\n"};
    static const char* const tails[] = {"", " | cat", "; echo x", " && true", " >out"};
    std::string delimiter = below(3) == 0 ? "'EOF'" : below(4) == 0 ? "\"EOF\"" : below(5) == 0 ? "E\\OF" : "EOF";
    bool strip = below(4) == 0;
    (void)depth;
    return std::string(strip ? " <<-" : " <<") + delimiter + one_of(tails) + "\n" + one_of(bodies) +
           (strip ? "\t" : "") + "EOF\n";
  }
  std::string word(int depth) {
    std::string out = piece(depth);
    std::size_t more = below(4) == 0 ? 1 + below(2) : 0;
    for (std::size_t i = 0; i < more; ++i) out += piece(depth);
    return out;
  }
  std::string piece(int depth) {
    static const char* const literals[] = {"a",      "b.txt", "-n",  "*",   "?x",   "[ab]*", "~", "~/x",   "{a,b}",
                                           "{1..3}", "x=y",   "\\ ", "\\$", "a#b",  "#",     "%", "in",    "do",
                                           "}",      "{",     "!",   "=",   "\\\n", "é",     "-", "a\\\nb"};
    static const char* const singles[] = {"''",     "'a b'",    "'$x'",     "'\"'",   "'a\nb'",
                                          "$'\\n'", "$'a\\'b'", "$'\\x41'", "$\"hi\""};
    static const char* const parameters[] = {
        "$x",        "$1",       "$@",      "$#",        "$?",       "$$",     "${x}",       "${x:-y}",
        "${x:-$y}",  "${x#a*}",  "${x%%b}", "${x/a/b}",  "${x//a/}", "${x^^}", "${x,}",      "${x:1:2}",
        "${#x}",     "${!x}",    "${!x*}",  "${x[1]}",   "${x[@]}",  "${x@Q}", "${x:-'a}'}", "${x:-\"}\"}",
        "${x:=a b}", "${x+\\}}", "$",       "${x/#a/b}", "${1}",     "${@:2}", "${x:-`ls`}", "${x[$i]}"};
    switch (below(9)) {
      case 0:
        return one_of(singles);
      case 1:
      case 2:
        return one_of(parameters);
      case 3:
        return depth > 3 ? "x" : "$(" + list(depth + 1) + (below(4) == 0 ? "\n" : "") + ")";
      case 4:
        return depth > 3 ? "y" : "\"" + quoted(depth + 1) + "\"";
      case 5:
        return depth > 2       ? "z"
               : below(3) == 0 ? "`echo a`"
               : below(2)      ? "`echo \\`b\\` \\$x`"
                               : "`" + name() + " \"q\"`";
      case 6:
        return below(2)        ? "$((" + arithmetic() + "))"
               : below(3) == 0 ? "$[" + arithmetic() + "]"
                               : "${x:-$((" + arithmetic() + "))}";
      case 7:
        return depth > 3 || below(3) != 0 ? "w" : (below(2) ? "<(" : ">(") + list(depth + 1) + ")";
      default:
        return one_of(literals);
    }
  }
  std::string quoted(int depth) {
    static const char* const texts[] = {
        "a b",         "$x",     "${x}", "\\\"",     "\\$", "'",          "`date`", "${x:-\"in\"}",    "${x:-'in'}",
        "$(ls \"q\")", "a\\\nb", "#",    "$((1+1))", "!",   "${x%\"a\"}", "",       "`echo \\\"a\\\"`"};
    std::string out = one_of(texts);
    if (below(3) == 0) out += one_of(texts);
    if (below(6) == 0) out += "$(" + list(depth + 1) + ")";
    return out;
  }

  std::mt19937_64 random_;
};

}  // namespace

std::vector<std::string> read_corpus(const std::string& path) {
  std::vector<std::string> commands;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) commands.push_back(nlohmann::json::parse(line).at("command").get<std::string>());
  }
  return commands;
}

std::vector<std::string> make_scripts(const std::vector<std::string>& base, std::uint64_t seed, std::size_t count) {
  Grower grower(seed);
  std::vector<std::string> out;
  std::vector<std::string> pool = base;
  while (out.size() < count) {
    out.push_back(grower.script());
    pool.push_back(out.back());
    if (out.size() >= count) break;
    const std::string& one = pool[grower.below(pool.size())];
    const std::string& other = pool[grower.below(pool.size())];
    out.push_back(grower.mutated(one, other));
  }
  return out;
}

}  // namespace cordon::shell
