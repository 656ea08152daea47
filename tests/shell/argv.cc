// What we say a command's arguments are, against what a program really receives. Scripts are made from a harmless
// grammar and run by bash with a PATH that holds nothing but a recorder and a few pure tools, in a throwaway directory
// and private namespaces (the caller starts us inside them). To claim a wrong argument is a failure; not to know one is
// not. Usage: shell_argv RECORDER COUNT [SEED]
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>

#include "shell/read.h"
#include "shell/show.h"

namespace cordon::shell {
namespace {

namespace fs = std::filesystem;
using Argv = std::vector<std::string>;

class Grammar {
 public:
  explicit Grammar(std::uint64_t seed) : random_(seed) {}

  std::string script() {
    std::string out;
    for (std::size_t n = 2 + below(5); n > 0; --n)
      out += statement(0) + (below(3) == 0 ? "\n" : below(8) == 0 ? " && " : "; ");
    return numbered(out + "rec end $x \"$y\" ${z-none}\n");
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  template <std::size_t N>
  std::string one_of(const char* const (&choices)[N]) {
    return choices[below(N)];
  }

  // Every call in the text gets a number, so that what ran can be compared with what was said of that very call.
  static std::string numbered(const std::string& text) {
    std::string out;
    int calls = 0;
    for (std::size_t at = 0;;) {
      std::size_t found = text.find("rec ", at);
      if (found == std::string::npos) return out + text.substr(at);
      out += text.substr(at, found + 4 - at) + "@" + std::to_string(++calls) + " ";
      at = found + 4;
    }
  }

  std::string name() {
    static const char* const names[] = {"x", "y", "z"};
    return one_of(names);
  }
  std::string number() { return std::to_string(below(7)); }

  std::string value() {
    static const char* const fixed[] = {"plain",
                                        "'a b'",
                                        "\"two words\"",
                                        "$'tab\\there'",
                                        "$'\\x41\\102\\u00e9'",
                                        "a\\ b",
                                        "\"\"",
                                        "''",
                                        "'*'",
                                        "\" lead\"",
                                        "'trail '",
                                        "a:b:c",
                                        "'a,b,,c'",
                                        "~",
                                        "~/d",
                                        "\"~\"",
                                        "'$x'",
                                        "\"\\$x\"",
                                        "-n",
                                        "a=b",
                                        "{p,q}",
                                        "\"{p,q}\"",
                                        "'x\ny'",
                                        "7",
                                        "010",
                                        "0x1f",
                                        "A1b2"};
    switch (below(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return one_of(fixed);
      case 4:
        return "$" + name();
      case 5:
        return "\"$" + name() + "\"";
      case 6:
        return one_of(fixed) + "\"$" + name() + "\"" + one_of(fixed);
      case 7:
        return substitution();
      case 8:
        return "$((" + expression(0) + "))";
      case 9:
        return parameter();
      case 10:
        return "\"" + parameter() + "\"";
      case 11:
        return "\"" + substitution() + "\"";
      case 12:
        return "${" + name() + ":-" + one_of(fixed) + "}";
      case 13:
        return "\"${" + name() + ":-d'q'\\$\"in\"}\"";
      case 14:
        return "$" + name() + one_of(fixed);
      default:
        return "`printf %s " + one_of(fixed) + "`";
    }
  }
  std::string substitution() {
    static const char* const fixed[] = {"$(echo a b)",
                                        "$(printf '%s-%s' x y)",
                                        "$(printf '\\162m')",
                                        "$(echo cm0gLXI= | base64 -d)",
                                        "$(echo abc | rev)",
                                        "$(echo abc | tr a-c A-C)",
                                        "$(printf 'a\\n\\n')",
                                        "$(echo -n q)",
                                        "$(echo -e 'a\\tb')",
                                        "$(printf '%s\\n' a b c)",
                                        "$(printf '%03d|%x' 7 255)",
                                        "$(cat <<<hi)",
                                        "$(true && echo yes)",
                                        "$(false || echo no)",
                                        "$(x=inner; echo $x)",
                                        "$(echo \"$x\")",
                                        "$(echo $y)",
                                        "$(for i in 1 2; do echo $i; done)",
                                        "$(f() { echo in $1; }; f a)",
                                        "$(echo a; echo b)",
                                        "$(if true; then echo t; else echo e; fi)",
                                        "$(printf %b 'a\\0101')",
                                        "$(: )",
                                        "$(echo a >/dev/null; echo b)",
                                        "$(echo \"a  b\" | cat)",
                                        "$(printf '%5s|%-4s|' ab cd)",
                                        "$(printf '%c' xyz)",
                                        "$(echo {1..3})",
                                        "$(echo 'a\\b')",
                                        "$(case a in a) echo A;; esac)",
                                        "$( (echo s) )",
                                        "$(echo $#)",
                                        "$(cat <<E\nh $x\nE\n)",
                                        "$(printf '%d' \"'A\")",
                                        "$(echo a | tr -d a)",
                                        "$(printf %s)"};
    return one_of(fixed);
  }
  std::string parameter() {
    static const char* const operations[] = {
        "#a", "##*a", "%b",    "%%b*", "/a/X", "//a/X", "/#a/X", "/%c/X",  "^",       "^^",       ",",
        ",,", ":1",   ":1:2",  ": -1", ":0:1", "+set",  ":+set", "-unset", ":-empty", "@U",       "@L",
        "@u", "/ /_", "// /_", "#?",   "%?",   "#*:",   "##*:",  "%:*",    "%%:*",    "/[0-9]/N", "//[!a]/-"};
    static const char* const others[] = {"${#x}",   "${#y}",       "${!w}",     "$#",
                                         "$1",      "${2-none}",   "${@:1:1}",  "${a[0]}",
                                         "${a[1]}", "${#a[@]}",    "${a[-1]}",  "${x:-${y:-deep}}",
                                         "${x@P}",  "${x+\"$y\"}", "${IFS:0:1}"};
    if (below(3) == 0) return one_of(others);
    return "${" + name() + one_of(operations) + "}";
  }
  std::string expression(int depth) {
    static const char* const operators[] = {
        "+", "-", "*", "/", "%", "<", ">", "==", "&&", "||", "<<", "&", "|", "^", "**", ","};
    if (depth > 2 || below(2) == 0) {
      switch (below(6)) {
        case 0:
          return name();
        case 1:
          return "0x1" + number();
        case 2:
          return "(" + expression(depth + 1) + ")";
        case 3:
          return below(3) == 0 ? name() + "=" + number() : below(2) ? "n++" : "++n";
        default:
          return "1" + number();
      }
    }
    if (below(8) == 0) return expression(depth + 1) + "?" + expression(depth + 1) + ":" + expression(depth + 1);
    return expression(depth + 1) + one_of(operators) + expression(depth + 1);
  }
  std::string words() {
    std::string out = value();
    for (std::size_t n = below(3); n > 0; --n) out += " " + value();
    return out;
  }
  std::string condition() {
    static const char* const choices[] = {"true",           "false", "[ -n \"$x\" ]", "[[ -z $y ]]", "test 1 = 1",
                                          "[[ $x == a* ]]", ":",     "! true",        "((n > 2))",   "[[ a && b ]]",
                                          "rec cond"};
    return one_of(choices);
  }
  std::string block(int depth) {
    std::string out = statement(depth + 1);
    for (std::size_t n = below(2); n > 0; --n) out += "; " + statement(depth + 1);
    return out;
  }
  std::string compound(int depth) {
    static const char* const leaves[] = {"break", "continue", ":", "break", "continue", "return", ":"};
    switch (below(22)) {
      case 0:
        return "for i in " + words() + "; do " + block(depth) + "; rec loop $i; done";
      case 1:
        return "for i in " + words() + "; do " + condition() + " && " + one_of(leaves) + "; " + block(depth) + "; done";
      case 2:
        return "if " + condition() + "; then " + block(depth) + "; else " + block(depth) + "; fi";
      case 3:
        return "f() { local x=" + value() + "; rec f \"$@\" $x; " + block(depth) + "; }; f " + words();
      case 4:
        return "g() { " + condition() + " && return; " + block(depth) + "; }; g " + words() + "; rec after $x $y";
      case 5:
        return "( " + block(depth) + "; rec sub $x )";
      case 6:
        return "{ " + block(depth) + "; }";
      case 7:
        return "case " + value() + " in a*) " + block(depth) + ";; '') x=empty;& *) " + block(depth) + ";; esac";
      case 8:
        return "n=0; while [ $n -lt 2 ]; do n=$((n+1)); " + block(depth) + "; done";
      case 9:
        return condition() + " && { " + block(depth) + "; } || { " + block(depth) + "; }";
      case 10:
        return "eval " + one_of(evals);
      case 11:
        return "printf 'p q\\nr\\n' | while read a b; do rec pipe \"$a\" \"$b\" $x; x=lost; done";
      case 12:
        return "h() { x=" + value() + "; y=$1; }; h " + words();
      case 13:
        return "for ((k=0; k<2; k++)); do x=$k; " + block(depth) + "; done";
      case 14:
        return "until " + condition() + "; do " + block(depth) + "; break; done";
      case 15:
        return "echo " + words() + " | { read q; rec got \"$q\"; }";
      case 16:
        return "k() { declare y=" + value() + "; eval 'rec k $y'; unset y; rec k2 $y; }; k";
      case 17:
        return "select v in a b; do break; done </dev/null";
      case 18:
        return "x=" + value() + " eval 'rec tmp \"$x\"'";
      case 19:
        return "l() { for i in 1 2 3; do [ $i = 2 ] && return; x=$i; done; x=end; }; l";
      case 20:
        return "while read -r r; do rec line \"$r\"; done <<< " + value();
      default:
        return "coproc { " + block(depth) + "; }; wait";
    }
  }
  static constexpr const char* evals[] = {"'rec ev $x'",           "\"rec ev $x\"", "rec '$y' $x",
                                          "'x=from-eval; rec $x'", "\"x='$y'\"",    "'set -- e1 e2'; rec \"$@\""};
  std::string statement(int depth) {
    if (depth < 2 && below(4) == 0) return compound(depth);
    static const char* const fixed[] = {
        "a=(1 'two words' $x); rec ${a[@]} \"${a[@]}\" \"${a[*]}\" ${#a[@]}",
        "a=(p q); a+=(r); rec \"${a[@]:1}\" ${!a[@]}",
        "a[3]=far; rec \"${a[@]}\"",
        "read a b <<< \"one two three\"; rec \"$a\" \"$b\"",
        "read -r x <<< ' sp  aced '; rec \"$x\"",
        "IFS=, read u v <<< 'k,l,m'; rec \"$u\" \"$v\"",
        "IFS=:; rec $x $y; unset IFS",
        "IFS=,; x='a,b,,c'; rec $x; IFS=$' \\t\\n'",
        "OLD=$IFS; IFS=; rec $x$y; IFS=$OLD",
        "IFS=x; rec $x \"$*\"; unset IFS",
        "printf -v y '%s_%d' q 5; rec $y",
        "w=x; rec \"${!w}\"",
        "set -- a 'b c' d; rec \"$@\" $* \"$*\" $#",
        "set -- $x; rec $# \"$@\"",
        "shift; rec \"$@\"",
        "shift 2; rec $1",
        "declare -i n=3+4; n+=2; rec $n",
        "declare -u up=abc; rec $up; up=def; rec $up",
        "declare -l lo=ABC; lo+=D; rec $lo",
        "export E1=$x; rec \"$E1\"",
        "readonly RO=1; rec $RO",
        "unset x; rec ${x-gone}",
        "unset y; rec ${y:=assigned} $y",
        "let n=2*3; rec $n",
        "((n+=5)); rec $n",
        "x+=more; rec $x",
        "x=1; x+=2; rec $x",
        "rec {a,b{1,2}}c {1..3} {01..03} {c..a} {x,}y",
        "rec \"$x\"'$y'\\$z",
        "rec $'\\'q\\'' $\"loc\"",
        "rec \"a\\\nb\" c\\\nd",
        "rec r\"\"m \\rm 'r'm",
        "rec $(echo a)$(echo b) \"$(echo 'c  d')\"",
        "x=$(rec side; echo v); rec $x",
        "rec ~ ~/a \"~\" ~nobodyatall x~",
        "x=~/p:~/q; rec $x",
        "alias al='rec aliased'; al",
        "shopt -s expand_aliases\nalias al='rec aliased '\nal $x",
        "trap 'x=trapped' USR1; rec $x",
        "declare -n ref=x; ref=via; rec $x; unset -n ref",
        "rec ${x//[^a-z]/} ${y^} ${x:(-2)}",
        "x=${x:0:3}; rec \"$x\"",
        "x='a[0]'; rec $((1))",
        "rec <<E \"$x\"\nbody $x\nE",
        "rec $(cat <<'E'\nraw $x\nE\n)",
        "command rec cmd $x",
        "builtin eval 'rec bi $x'",
        "command eval x=ce; rec $x",
        ". <(echo 'x=sourced'); rec $x",
        "source /dev/stdin <<< 'y=src'; rec $y",
        "exec 3>&1; rec fd",
        "rec >/dev/null out",
        "true && x=and; rec $x",
        "false && x=never; rec $x",
        "false || y=or; rec $y",
        "x=sub | cat; rec $x",
        "(x=paren); rec $x",
        "x=bg & wait; rec $x",
        "{ x=group; }; rec $x",
        "[[ ab =~ a(b) ]]; rec ${BASH_REMATCH[1]}",
        "shopt -s lastpipe; echo lp | read x; rec $x",
        "set -f; rec *; set +f",
        "set -a; AE=1; rec $AE; set +a",
        "x=5; rec $((x*2)) $((x=x+1)) $x",
        "y='x+1'; rec $((y))",
        "mapfile -t m <<< $'l1\\nl2'; rec \"${m[@]}\"",
        "getopts ab: o -b val; rec $o $OPTARG",
        "x=$RANDOM; RANDOM=5; rec \"${x:+r}\"",
        "x=\"a b\"; y=$x; rec $y \"$y\"",
        "rec \"$@\"x y\"$@\"",
        "local q=1; rec ${q-none}",
        "rec $((n++)) $n $((--n))",
        "x=abcabc; rec ${x#*b} ${x##*b} ${x%b*} ${x%%b*} ${x/b/} ${x//b/&}",
        "s=(); rec \"${s[@]}\" n${#s[@]}",
        "declare -A m=([k]=v [j]=w); rec ${m[k]} ${m[j]}",
        "m2[5]=q; rec ${m2[5]} ${m2[$((2+3))]}",
        "x=; rec $x\"\" $x ''$x",
        "IFS=' :'; x=' a : b::c '; rec $x; unset IFS",
        "x=$'a\\nb'; rec $x \"$x\"",
        "rec ${x:-a b} \"${x:-a b}\" ${nope:-a \"b c\" d}",
        "x='rec fromvar'; $x",
        "x=rec; $x dyn \"$y\"",
        "rec $(echo \\\\) \"\\a\\$\\\\\" '\\\\'",
        "rec `echo \\`echo in\\`` \"`echo \"q  r\"`\"",
        "printf '%s\\n' one two | { mapfile t; rec ${#t[@]}; }",
        "test -n \"$x\" && rec t || rec f",
    };
    switch (below(5)) {
      case 0:
        return name() + "=" + value();
      case 1:
        return "rec " + words();
      case 2:
        return "rec " + words() + "; " + name() + "=" + value();
      default:
        return one_of(fixed);
    }
  }

  std::mt19937_64 random_;
};

std::vector<Argv> run(const std::string& script, const fs::path& directory) {
  fs::path record = directory / "record";
  fs::remove(record);
  std::string path = "PATH=" + (directory / "bin").string(), where = "RECORD=" + record.string();
  const char* environment[] = {path.c_str(), where.c_str(), "HOME=/home/me", "LC_ALL=C.UTF-8", nullptr};
  const char* arguments[] = {"bash", "--norc", "--noprofile", "-c", script.c_str(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  int error =
      posix_spawn(&pid, "/bin/bash", &actions, nullptr, const_cast<char**>(arguments), const_cast<char**>(environment));
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) std::exit(77);
  waitpid(pid, nullptr, 0);
  std::ifstream in(record, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  std::vector<Argv> calls;
  Argv call;
  for (std::size_t at = 0; at < bytes.size();) {
    std::string text = bytes.substr(at, bytes.find('\0', at) - at);
    at += text.size() + 1;
    if (text == "\x01") {
      calls.push_back(std::move(call));
      call.clear();
    } else {
      call.push_back(std::move(text));
    }
  }
  return calls;
}

// Whether a word with unknown stretches could be this text.
bool fits(const cordon::Word& word, std::string_view text) {
  std::string_view rest = text;
  bool open = false;
  for (const Piece& piece : word.pieces) {
    if (piece.kind != Piece::Kind::literal) {
      open = true;
      continue;
    }
    // What is known of the end is at the end, also where it occurs before.
    if (open && &piece == &word.pieces.back()) return rest.ends_with(piece.text);
    std::size_t at = open ? rest.find(piece.text) : rest.starts_with(piece.text) ? 0 : std::string_view::npos;
    if (at == std::string_view::npos) return false;
    rest.remove_prefix(at + piece.text.size());
    open = false;
  }
  return open || rest.empty() || (!word.pieces.empty() && word.pieces.back().kind != Piece::Kind::literal);
}

bool fits(const Command& command, const Argv& argv) {
  bool elastic = false;
  for (const cordon::Word& word : command.words) {
    for (const Piece& piece : word.pieces)
      elastic = elastic || (piece.kind != Piece::Kind::literal && (!piece.quoted || piece.variable == "@"));
  }
  if (elastic) return true;
  if (command.words.size() != argv.size()) return false;
  for (std::size_t i = 0; i < argv.size(); ++i) {
    if (!fits(command.words[i], argv[i])) return false;
  }
  return true;
}

bool may_be_recorder(const Command& command) {
  if (command.words.empty()) return false;
  // A text that is not known may run anything, and says so.
  if (command.words[0].text() == "eval" || command.words[0].text() == "." || command.words[0].text() == "source") {
    return std::any_of(command.words.begin(), command.words.end(), [](const cordon::Word& w) { return !w.known(); });
  }
  // command rec …: the words that matter come later; it is listed under its wrapper.
  return !command.words[0].known() || command.words[0].text() == "rec" || command.words[0].text() == "command" ||
         command.words[0].text() == "builtin";
}

std::string shown(const Argv& argv) {
  std::string out;
  for (const std::string& argument : argv) out += "[" + argument + "]";
  return out;
}

// Which call of the text this is: its number, the first argument.
std::string number_of(const std::string& first) { return first.starts_with('@') ? first : std::string(); }

Command without_wrapper(Command command) {
  while (command.words.size() > 1 && command.words[0].known() && command.words[0].text() == "command")
    command.words.erase(command.words.begin());
  return command;
}

std::vector<std::string> differences(const Script& script, const std::vector<Argv>& calls, std::size_t& known) {
  std::vector<std::string> out;
  std::vector<Command> claims;
  for (const Command& command : script.commands) {
    if (may_be_recorder(command)) claims.push_back(without_wrapper(command));
    bool all_known = may_be_recorder(command) && std::all_of(command.words.begin(), command.words.end(),
                                                             [](const cordon::Word& w) { return w.known(); });
    known += all_known ? 1 : 0;
  }
  for (const Argv& call : calls) {
    std::string number = call.size() > 1 ? number_of(call[1]) : "";
    bool foreseen = std::any_of(claims.begin(), claims.end(), [&](const Command& claim) {
      if (!claim.words[0].known() || claim.words[0].text() == "eval") return true;
      bool second = claim.words.size() > 1 && claim.words[1].known();
      return (!second || number_of(claim.words[1].text()) == number) && fits(claim, call);
    });
    if (!foreseen) out.push_back("ran but not foreseen: " + shown(call));
  }
  return out;
}

int compare(const std::string& recorder, std::size_t count, std::uint64_t seed) {
  char made[] = "/tmp/cordon-argv-XXXXXX";
  if (mkdtemp(made) == nullptr) return 77;
  fs::path directory = made;
  fs::create_directory(directory / "bin");
  fs::create_directory(directory / "work");
  fs::copy_file(recorder, directory / "bin" / "rec");
  for (const char* tool : {"base64", "tr", "rev", "cat"})
    fs::create_symlink(fs::path("/usr/bin") / tool, directory / "bin" / tool);
  fs::current_path(directory / "work");
  Grammar grammar(seed);
  ShellState state;
  state.variables["HOME"] = "/home/me";
  state.positional = {"bash"};
  std::size_t failures = 0, known = 0, real = 0, refused = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::string text = grammar.script();
    Script script = read(text, state);
    std::vector<Argv> calls = run(text, directory);
    real += calls.size();
    // What is not understood is not claimed; but nearly all of it must be.
    if (!script.understood) {
      refused += calls.empty() ? 0 : 1;
      continue;
    }
    std::vector<std::string> found = differences(script, calls, known);
    if (found.empty()) continue;
    if (++failures > 25) continue;
    std::cout << text << "--- we say\n" << show(script) << "--- ran\n";
    for (const Argv& call : calls) std::cout << shown(call) << "\n";
    for (const std::string& line : found) std::cout << "*** " << line << "\n";
    std::cout << "===\n";
  }
  fs::current_path("/");
  fs::remove_all(directory);
  std::cout << count << " scripts, " << real << " calls really made, " << known << " claimed with every word known, "
            << refused << " not understood, " << failures << " failures\n";
  return failures == 0 && refused * 50 <= count ? 0 : 1;
}

}  // namespace
}  // namespace cordon::shell

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  rlimit cpu{10, 10};
  (void)cpu;
  return cordon::shell::compare(argv[1], std::stoul(argv[2]), argc > 3 ? std::stoull(argv[3]) : 1);
}
