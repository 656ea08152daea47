// Texts made to exhaust a judge: cost grows no faster than the text, the answer is never less than dangerous once a
// limit is met, and a disallowed command is found wherever it stands.
#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "risk/analyse.h"
#include "shell/read.h"

namespace cordon {
namespace {

std::string times(std::size_t n, std::string_view text) {
  std::string all;
  all.reserve(n * text.size());
  while (n-- > 0) all += text;
  return all;
}

std::string counted(std::size_t n, const std::function<std::string(const std::string&)>& one) {
  std::string all;
  for (std::size_t i = 0; i < n; ++i) all += one(std::to_string(i));
  return all;
}

std::string wrapped(std::size_t n, std::string_view before, std::string_view inside, std::string_view after) {
  return times(n, before) + std::string(inside) + times(n, after);
}

struct Bomb {
  const char* name;
  std::size_t size;  // what `make` is given first; then four times as much
  std::function<std::string(std::size_t)> make;
  bool limited = false;  // at four times the size a limit is met, and the answer is dangerous
};

using N = std::size_t;

const std::vector<Bomb>& bombs() {
  static const std::vector<Bomb> table{
      // Segments.
      {"100,000 segments", 25'000, [](N n) { return times(n, "ls;"); }, true},
      {"a pipeline without end", 25'000, [](N n) { return times(n, "ls|") + "ls"; }, true},
      {"and, and, and", 25'000, [](N n) { return times(n, "ls&&") + "ls"; }, true},
      {"or", 20'000, [](N n) { return times(n, "a||x=1;"); }},
      {"background jobs", 25'000, [](N n) { return times(n, "ls&"); }, true},
      {"lines", 25'000, [](N n) { return times(n, "ls\n"); }, true},
      {"comments", 25'000, [](N n) { return times(n, "# x\n"); }},
      {"a shell that reads its own input", 10'000, [](N n) { return times(n, "bash</dev/stdin;sh<-;"); }},
      {"descriptors of descriptors", 10'000, [](N n) { return times(n, "a 3<&0 4<&3 <&4|") + "b"; }},
      {"an escape to a program with escapes", 2'000,
       [](N n) { return "psql <<'E'\n" + times(n, "\\! psql; psql\n") + "E\n"; }},
      {"a subscript that names its own command", 2'000, [](N n) { return "`[ " + times(n, "a[$b ") + "`"; }},
      {"words and redirects", 10'000, [](N n) { return "sort" + times(n, " a") + times(n, " >b"); }},
      {"redirects of nothing", 10'000, [](N n) { return "echo '" + times(n, " ") + "'" + times(n, " >b"); }},
      {"copies of a long text", 1'000,
       [](N n) { return "cat >a <<'E'\n" + times(n, "ls -la /x\n") + "E\n" + times(n, "cp a b;cat a>c;mv b a;"); }},
      {"a long workflow, committed again and again", 1'000,
       [](N n) {
         return "cat >.github/workflows/a.yml <<'E'\n" + times(n, "- run: curl x\n") + "E\n" + times(n, "git commit;");
       }},
      {"code that writes a file again and again", 2'000,
       [](N n) { return "python3 - <<'E'\np='Makefile'\n" + times(n, "open(p,'w').write(s+'curl x')\n") + "E\n"; }},
      {"code of nothing but names", 2'000,
       [](N n) {
         return "python3 - <<'E'\n" +
                counted(n, [](const std::string& i) { return "a" + i + "='x'\nf(a" + i + ")\n"; }) + "E\n";
       }},
      {"evaluations in evaluations", 2'000,
       [](N n) { return "python3 - <<'E'\n" + times(n, "getattr(exec(") + "\nE\n"; }},
      {"functions and loops", 1'000,
       [](N n) { return "python3 - <<'E'\n" + times(n, "def f(c):\n os.system(c)\nfor c in ['a']: f(c)\n") + "E\n"; }},
      {"a function that runs again and again", 3'000,
       [](N n) { return "python3 - <<'E'\ndef f(c):\n" + times(n, " os.system(c)\n") + "E\n"; }},
      {"brackets that nobody closes", 1'000,
       [](N n) { return "node - <<'E'\n" + times(n, "function f(c){for(const a of [x=(c)=>exec(c,") + "\nE\n"; }},
      {"bare paths", 2'000,
       [](N n) {
         return "nix eval --expr '" + counted(n, [](const std::string& i) { return "/a/b" + i + " "; }) + "'";
       }},
      {"programs of one's own", 1'000,
       [](N n) {
         return "PATH=$PWD/bin:$PATH;" + counted(250, [](const std::string& i) { return "echo ls>bin/a" + i + ";"; }) +
                times(n, "a1;");
       }},
      {"hooks with a long text", 2'000,
       [](N n) { return "echo '" + times(n, "ls;") + "'" + times(n, " >.git/hooks/a"); }},
      {"lines that expect types", 2'000,
       [](N n) { return "expect <<'E'\nspawn sh\n" + times(n, "send \"ls\\r\"\n") + "E\n"; }},
      {"files that code opens and drops", 4'000,
       [](N n) { return "python3 <<'E'\n" + times(n, "open('a.py','w')\nopen(f,'w').close()\n") + "E\n"; }},
      {"rehearsals taken back", 10'000, [](N n) { return "git push" + times(n, " --dry-run --no-dry-run"); }},
      // Brackets of every kind, closed and not.
      {"(", 25'000, [](N n) { return times(n, "("); }, true},
      {"( )", 25'000, [](N n) { return wrapped(n, "(", "ls", ")"); }},
      {"{", 25'000, [](N n) { return times(n, "{ "); }, true},
      {"{ }", 25'000, [](N n) { return wrapped(n, "{ ", "ls", " ;}"); }, true},
      {"((", 20'000, [](N n) { return times(n, "(("); }, true},
      {"[[ (", 15'000, [](N n) { return times(n, "[[ ( "); }, true},
      {"[[ ( ) ]]", 15'000, [](N n) { return "[[ " + wrapped(n, "( ", "a", " )") + " ]]"; }, true},
      {"[[ ! ! ]]", 15'000, [](N n) { return "[[ " + times(n, "! ") + "a ]]"; }, true},
      {"$(", 15'000, [](N n) { return times(n, "$("); }, true},
      {"$( )", 15'000, [](N n) { return wrapped(n, "$(", ":", ")"); }, true},
      {"$((", 15'000, [](N n) { return times(n, "$(("); }, true},
      {"$(((", 15'000, [](N n) { return times(n, "$((("); }, true},
      {"backquotes", 25'000, [](N n) { return times(n, "`"); }},
      {"escaped backquotes", 25'000, [](N n) { return times(n, "\\`"); }},
      {"quoted $(", 15'000, [](N n) { return wrapped(n, "\"$(", "ls", ")\""); }, true},
      {"${x:-", 15'000, [](N n) { return times(n, "${x:-"); }, true},
      {"${x:-}", 15'000, [](N n) { return wrapped(n, "${x:-", "a", "}"); }, true},
      {"<(", 12'000, [](N n) { return wrapped(n, "cat <(", "ls", ")"); }, true},
      {"if", 10'000, [](N n) { return wrapped(n, "if ls;then ", "ls;", " fi;"); }, true},
      {"while", 10'000, [](N n) { return wrapped(n, "while ls;do ", "ls;", "done;"); }, true},
      {"for", 10'000, [](N n) { return wrapped(n, "for i in a;do ", "ls;", "done;"); }, true},
      {"case", 10'000, [](N n) { return wrapped(n, "case a in a) ", "ls", ";; esac"); }, true},
      {"functions in functions", 10'000, [](N n) { return wrapped(n, "f(){ ", "ls;", " };"); }, true},
      {"time time", 20'000, [](N n) { return times(n, "time ") + "ls"; }},
      {"! !", 25'000, [](N n) { return times(n, "! ") + "ls"; }},
      {"coproc coproc", 12'000, [](N n) { return times(n, "coproc ") + "ls"; }},
      {"loops of loops around a long body", 4'000,
       [](N n) { return wrapped(60, "for i in a;do ", times(n, "x=1;"), "done;"); }},
      {"conditions of conditions around many assignments", 3'000,
       [](N n) {
         return wrapped(60, "if a;then ", counted(n, [](const std::string& i) { return "v" + i + "=1;"; }), " fi;");
       }},
      // Arithmetic.
      {"parentheses in arithmetic", 25'000, [](N n) { return "echo $((" + wrapped(n, "(", "1", ")") + "))"; }},
      {"a long sum", 25'000, [](N n) { return "echo $((1" + times(n, "+1") + "))"; }},
      {"subscripts", 20'000, [](N n) { return "echo $((" + wrapped(n, "a[", "1", "]") + "))"; }},
      // Here-documents and redirects.
      {"here-documents", 8'000, [](N n) { return times(n, "cat <<E\nx\nE\n"); }},
      {"here-documents on one line", 4'000, [](N n) { return "cat" + times(n, " <<E") + "\n" + times(n, "x\nE\n"); },
       true},
      {"here-documents without end", 12'000, [](N n) { return times(n, "cat <<E\n"); }},
      {"here-documents in substitutions", 6'000, [](N n) { return wrapped(n, "cat <<E\n$(", "", "\nE\n)"); }, true},
      {"redirects", 15'000, [](N n) { return "ls " + times(n, "> a "); }},
      {"inputs", 15'000, [](N n) { return "cat " + times(n, "< a "); }},
      {"duplicates", 15'000, [](N n) { return "ls " + times(n, "2>&1 "); }},
      {"redirects of groups", 5'000, [](N n) { return wrapped(n, "{ ", "ls", "; } > a"); }, true},
      {"redirects of a group with many commands", 1'000,
       [](N n) { return "{ " + times(n, "ls;") + " } " + times(n, "3> a "); }, true},
      {"exec again and again", 4'000, [](N n) { return times(n, "exec 3< a;"); }},
      // Variables.
      {"one variable", 15'000, [](N n) { return times(n, "x=1;"); }},
      {"many variables", 15'000, [](N n) { return counted(n, [](const std::string& i) { return "v" + i + "=1;"; }); }},
      {"many exports", 2'000,
       [](N n) { return counted(n, [](const std::string& i) { return "export v" + i + "=1;ls;"; }); }, true},
      {"many assignments before one command", 15'000, [](N n) { return times(n, "A=1 ") + "ls"; }},
      {"doubling", 4'000, [](N n) { return "a=x;" + times(n, "a=$a$a;") + "$a"; }},
      {"growing", 8'000, [](N n) { return "a=x;" + times(n, "a+=x;") + "echo $a"; }},
      {"a long value used often", 20'000, [](N n) { return "a=" + times(n, "x") + ";" + times(n / 50, "echo $a;"); }},
      {"an unknown value that grows", 8'000, [](N n) { return times(n, "a=$a$b;") + "echo $a"; }},
      {"an array used often", 1'500, [](N n) { return "a=(" + times(n, "x ") + ");" + times(n, "echo ${a[@]};"); }},
      {"an array that grows", 4'000, [](N n) { return "a=();" + times(n, "a+=(x);") + "echo ${a[@]}"; }},
      {"elements", 4'000, [](N n) { return counted(n, [](const std::string& i) { return "a[" + i + "]=1;"; }); }},
      {"parameters that grow", 3'000, [](N n) { return times(n, "set -- \"$@\" a;"); }},
      {"shift", 3'000, [](N n) { return "set -- " + times(n, "a ") + ";" + times(n, "shift;"); }},
      {"patterns with stars", 1'000, [](N n) { return "a=" + times(2'000, "a") + ";" + times(n, "echo ${a##*b*c};"); }},
      {"replacing with stars", 500, [](N n) { return "a=" + times(300, "a") + ";" + times(n, "echo ${a//a*b/x};"); }},
      {"unknown programs between assignments", 3'000,
       [](N n) { return counted(n, [](const std::string& i) { return "v" + i + "=1;$x;"; }); }},
      {"directories", 10'000, [](N n) { return times(n, "cd a;"); }},
      // Words.
      {"a long word", 100'000, [](N n) { return times(n, "a"); }},
      {"quotes", 25'000, [](N n) { return times(n, "'a'"); }},
      {"variables in one word", 20'000, [](N n) { return "echo " + times(n, "$a"); }},
      {"stars", 50'000, [](N n) { return "echo " + times(n, "*"); }},
      {"a long path", 25'000, [](N n) { return "cat " + times(n, "a/../"); }},
      {"braces", 20'000, [](N n) { return "echo " + times(n, "{a,b}"); }, true},
      {"braces in braces", 20'000, [](N n) { return "echo " + wrapped(n, "{a,", "b", "}"); }},
      {"open braces", 20'000, [](N n) { return "echo " + times(n, "{a,"); }},
      {"ranges", 4'000, [](N n) { return "echo " + times(n, "{1..99999} "); }, true},
      {"extended patterns", 12'000, [](N n) { return "shopt -s extglob\nls " + wrapped(n, "@(a|", "b", ")"); }},
      // Aliases and functions.
      {"an alias bomb", 1'500,
       [](N n) {
         std::string all = "shopt -s expand_aliases\n";
         for (N i = 0; i < n; ++i)
           all += "alias a" + std::to_string(i) + "='a" + std::to_string(i + 1) + "; a" + std::to_string(i + 1) + "'\n";
         return all + "a0\n";
       },
       true},
      {"functions that call functions", 3'000,
       [](N n) {
         std::string all = "f0(){ ls; }\n";
         for (N i = 1; i < n; ++i) {
           const std::string last = "f" + std::to_string(i - 1);
           all += "f" + std::to_string(i) + "(){ " + last + "; " + last + "; }\n";
         }
         return all + "f" + std::to_string(n - 1);
       },
       true},
      {"one function called often", 10'000, [](N n) { return "f(){ ls; }\n" + times(n, "f;"); }, true},
      {"a long function called often", 3'000, [](N n) { return "f(){ " + times(n, "ls;") + " }\n" + times(n, "f;"); },
       true},
      {"a function with a long word called often", 3'000,
       [](N n) { return "f(){ echo " + times(n, "x") + "; }\n" + times(n, "f;"); }},
      {"traps", 4'000, [](N n) { return times(n, "trap ls EXIT;"); }},
      // Text inside text.
      {"eval eval", 12'000, [](N n) { return times(n, "eval ") + "ls"; }, true},
      {"eval of a long text, often", 1'000,
       [](N n) { return "a='" + times(n, "ls;") + "';" + times(n, "eval \"$a\";"); }, true},
      {"bash -c", 3'000, [](N n) { return times(n, "bash -c 'ls';"); }},
      {"base64 into sh", 2'000, [](N n) { return times(n, "echo bHM=|base64 -d|sh;"); }},
      {"wrappers", 12'000, [](N n) { return times(n, "env ") + "ls"; }, true},
      {"xargs", 10'000, [](N n) { return times(n, "xargs ") + "ls"; }, true},
      {"find -exec", 5'000, [](N n) { return "find . " + times(n, "-exec ls \\; "); }},
      {"options", 20'000, [](N n) { return "tar " + times(n, "-x "); }},
      {"a cluster of options", 50'000, [](N n) { return "tar -" + times(n, "x"); }},
      {"operands", 25'000, [](N n) { return "cat " + times(n, "a "); }},
      {"files to delete", 8'000, [](N n) { return "rm" + counted(n, [](const std::string& i) { return " f" + i; }); }},
      {"downloads", 2'000,
       [](N n) { return counted(n, [](const std::string& i) { return "curl x.example -o f" + i + ";"; }); }},
      {"git -c", 8'000, [](N n) { return "git " + times(n, "-c a.b=c ") + "log"; }},
      {"code", 8'000, [](N n) { return "python3 -c '" + times(n, "os.system(") + "'"; }},
      {"statements", 15'000, [](N n) { return "python3 -c '" + times(n, "a=b\n") + "'"; }},
      {"an awk program", 10'000, [](N n) { return "awk '" + times(n, "{print $1}") + "'"; }},
      {"a sed script", 10'000, [](N n) { return "sed '" + times(n, "s/a/b/;") + "'"; }},
      {"SQL", 10'000, [](N n) { return "psql -c '" + times(n, "select 1;") + "'"; }},
      {"recipes", 5'000, [](N n) { return "make -f - <<'E'\n" + times(n, "a:\n\tls\n") + "E\n"; }},
      // Everything unterminated, and mistakes.
      {"a single quote", 15'000, [](N n) { return times(n, "ls;") + "'" + times(n, "x "); }, true},
      {"a double quote", 15'000, [](N n) { return times(n, "ls;") + "\"" + times(n, "$x "); }, true},
      {"a parameter", 15'000, [](N n) { return times(n, "ls;") + "${" + times(n, "x"); }, true},
      {"mistakes", 12'000, [](N n) { return times(n, "ls )\n"); }, true},
      {"fi", 20'000, [](N n) { return times(n, "fi\n"); }, true},
      {"zero-width characters", 15'000, [](N n) { return times(n, "\xe2\x80\x8b"); }},
      {"NUL", 25'000, [](N n) { return times(n, std::string_view("a\0", 2)); }, true},
      {"many unknown names", 6'000,
       [](N n) { return counted(n, [](const std::string& i) { return "prog" + i + ";"; }); }},
      {"many unknown commands", 6'000,
       [](N n) { return counted(n, [](const std::string& i) { return "$x" + i + " a;"; }); }},
  };
  return table;
}

struct Cost {
  Analysis analysis;
  std::uint64_t work = 0;
  double seconds = 0;  // of this thread
  std::size_t commands = 0;
};

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Cost judged(const std::string& text) {
  RiskContext context;
  context.cwd = context.workspace = "/home/me/project";
  context.home = "/home/me";
  context.look_at_files = false;
  ShellState state;
  state.variables["HOME"] = "/home/me";
  const ReadScript read = [](std::string_view inner, const ShellState& shell) { return shell::read(inner, shell); };
  const double begin = cpu_seconds();
  const Script script = shell::read(text, state);
  Cost cost{risk::analyse(script, context, read), script.work, 0, script.commands.size()};
  cost.seconds = cpu_seconds() - begin;
  cost.work += cost.analysis.work;
  return cost;
}

bool finds_push(const Analysis& analysis) {
  return std::any_of(analysis.invocations.begin(), analysis.invocations.end(), [](const Invocation& call) {
    return call.program == "git" &&
           std::find(call.canonical.begin(), call.canonical.end(), "push") != call.canonical.end();
  });
}

TEST(Bounds, CostGrowsNoFasterThanTheText) {
  for (const Bomb& bomb : bombs()) {
    const std::string small = bomb.make(bomb.size), large = bomb.make(4 * bomb.size);
    const Cost first = judged(small), second = judged(large);
    const double growth = static_cast<double>(large.size()) / static_cast<double>(small.size());
    // A fixed allowance and so much for every byte: beyond it the judge must have stopped.
    EXPECT_LE(second.work, 200 * large.size() + (std::uint64_t{12} << 20)) << bomb.name;
    EXPECT_LE(second.commands, large.size() + 50'000) << bomb.name;
    // Four times the text may take four times as long; the square of that is sixteen. Short times say nothing.
    if (second.seconds <= 0.4) continue;
    EXPECT_LE(second.seconds / first.seconds, 3 * growth) << bomb.name << " took " << second.seconds << " s";
  }
}

TEST(Bounds, WhatMeetsALimitIsNeverLessThanDangerous) {
  for (const Bomb& bomb : bombs()) {
    if (!bomb.limited) continue;
    EXPECT_GE(judged(bomb.make(4 * bomb.size)).analysis.risk, Risk::dangerous) << bomb.name;
  }
}

TEST(Bounds, ADisallowedCommandIsFoundAtTheEndAndInTheMiddle) {
  // In these what follows is no command, but the inside of a comment, a quote or a document.
  const std::vector<std::string_view> data{"here-documents without end", "NUL"};
  for (const Bomb& bomb : bombs()) {
    if (std::find(data.begin(), data.end(), bomb.name) != data.end()) continue;
    const std::string text = bomb.make(2 * bomb.size);
    EXPECT_TRUE(finds_push(judged(text + "\ng''it push\n").analysis)) << bomb.name << ", at the end";
    // Twice the same quote closes it, and what stands between is a word.
    if (std::string_view(bomb.name).ends_with("quote")) continue;
    EXPECT_TRUE(finds_push(judged(text + "\n/usr/bin/git push\n" + text).analysis)) << bomb.name << ", in the middle";
  }
}

TEST(Bounds, NestedLayersDoNotHideADisallowedCommand) {
  std::string layers = "git push";
  for (int i = 0; i < 12; ++i) {
    std::string quoted = "bash -c '";
    for (char c : layers) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    layers = quoted + "'";
    if (layers.size() > 60'000) break;
    EXPECT_TRUE(finds_push(judged(layers).analysis)) << i;
  }
  EXPECT_TRUE(finds_push(judged(times(60, "env ") + "git push").analysis));
  EXPECT_TRUE(finds_push(judged(times(500, "env ") + "git push").analysis));
  EXPECT_TRUE(finds_push(judged(times(40, "eval ") + "git push").analysis));
  EXPECT_TRUE(finds_push(judged(times(40, "sudo nice ") + "git push").analysis));
}

TEST(Bounds, ATextTooLongToBeLookedAtIsBlocked) {
  EXPECT_GE(judged(times(3 << 20, "a")).analysis.risk, Risk::critical);
}

}  // namespace
}  // namespace cordon
