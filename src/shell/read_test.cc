// Tables: a text, and what Script says of it. One row is one claim.
#include "shell/read.h"

#include <gtest/gtest.h>
#include <algorithm>

#include <chrono>

#include "shell/show.h"

namespace cordon::shell {
namespace {

ShellState given() {
  ShellState state;
  state.variables["HOME"] = "/home/me";
  state.positional = {"bash"};
  return state;
}

std::string said(std::string_view text) { return show(read(text, given())); }

struct Row {
  const char* text;
  const char* said;
};

template <std::size_t N>
void expect_rows(const Row (&rows)[N]) {
  for (const Row& row : rows) EXPECT_EQ(said(row.text), row.said) << row.text;
}

bool says_odd(std::string_view text, Oddity::Kind kind) {
  for (const Oddity& oddity : read(text, given()).oddities) {
    if (oddity.kind == kind) return true;
  }
  return false;
}

TEST(Read, ListsSimpleCommandsInOrder) {
  expect_rows({
      {"", ""},
      {"ls -la", "ls -la\n"},
      {"a; b & c && d || e", "a\n& b\nc\n? d\n? e\n"},
      {"a # b", "a\n"},
      {"a#b c", "'a#b' c\n"},
      {"if a; then b; elif c; then d; else e; fi", "a\n? b\n? c\n? d\n? e\n"},
      {"while a; do b; done", "a\n? b\n"},
      {"case x in a) b;; c) d;; esac", "? b\n? d\n"},
      {"(a; b) >f", "c: 1>f\na 1>f\nb 1>f\n"},
      {"! a", "a\n"},
      {"time -p a", "a\n"},
      {"coproc N { a; }", "& a\n"},
      {"[[ -f x && $(a) ]]", "$ ? a\n"},
      {"((x=$(a)))", "$ a\n"},
  });
}

TEST(Read, KnowsWhereStdinComesFrom) {
  expect_rows({
      {"a | b", "a\nb |0\n"},
      {"a |& b", "a\nb |0\n"},
      {"{ a; b; } | c", "a\nb\nc |0,1\n"},
      {"cat <<E | sh\nhi\nE\n", "cat 0<<<'hi\\n' in='hi\\n'\nsh |0 in='hi\\n'\n"},
      {"a <<E; b\n$x\nE\n", "a 0<<<‹\"$x\"›'\\n'\nb\n"},
      {"a <<'E'\n$x\nE\n", "a 0<<<'$x\\n' in='$x\\n'\n"},
      {"a <<-E\n\t\tx\n\tE\nb", "a 0<<<'x\\n' in='x\\n'\nb\n"},
      {"a <<X <<Y\nx\nX\ny\nY\n", "a 0<<<'x\\n' 0<<<'y\\n' in='y\\n'\n"},
      {"sh <<< 'rm x'", "sh 0<<<'rm x''\\n' in='rm x\\n'\n"},
      {"echo cm0gLXJmIC8K | base64 -d | sh",
       "b: echo cm0gLXJmIC8K\nbase64 -d |0 in='cm0gLXJmIC8K\\n'\nsh |1 in='rm -rf /\\n'\n"},
      {"echo 726d2078 | xxd -r -p | bash", "b: echo 726d2078\nxxd -r -p |0 in='726d2078\\n'\nbash |1 in='rm x'\n"},
      {"echo 'x mr' | rev | sh", "b: echo 'x mr'\nrev |0 in='x mr\\n'\nsh |1 in='rm x\\n'\n"},
      {"echo sn | tr n-z a-m | sh", "b: echo sn\ntr n-z a-m |0 in='sn\\n'\nsh |1 in='fa\\n'\n"},
      {"curl u | sh", "curl u\nsh |0\n"},
      {"{ echo rm x | sh; } > f", "c: 1>f\nb: echo rm x\nsh 1>f |1 in='rm x\\n'\n"},
      {"set -e; echo rm x | sh", "b: set -e\nb: echo rm x\nsh |1 in='rm x\\n'\n"},
  });
}

TEST(Read, ExpandsWhatIsKnown) {
  expect_rows({
      {"x=rm; $x -rf /tmp/*", "b: x=rm\nrm -rf /tmp/‹glob *›\n"},
      {"echo ~/a \"$HOME\" ~x", "b: echo /home/me/a /home/me ‹\"~x\"›\n"},
      {"c=r; d=m; $c$d x", "b: c=r\nb: d=m\nrm x\n"},
      {"$(printf '\\162m') x", "$ b: printf '\\162m'\nrm x\n"},
      {"$'\\x72m' x", "rm x\n"},
      {"{rm,-rf,/}", "rm -rf /\n"},
      {"rm${IFS}-rf${IFS}/", "rm -rf /\n"},
      {"set -- rm x; \"$@\"", "b: set -- rm x\nrm x\n"},
      {"x=a y=b; ${!x} $y", "b: x=a y=b\n‹${!x}› b\n"},
      {"a=rm; b=a; ${!b} x", "b: a=rm\nb: b=a\nrm x\n"},
      {"x='$(rm y)'; : ${x@P}", "b: x='$(rm y)'\n$ rm y\nb: : ‹$(…)›\n"},
      {"printf -v c %s rm; $c x", "b: printf -v c %s rm\nrm x\n"},
      {"read c <<< 'rm x'; $c", "b: read c 0<<<'rm x''\\n' in='rm x\\n'\nrm x\n"},
      {"a=(rm -r x); ${a[@]}", "b: a=rm' '-r' 'x\nrm -r x\n"},
      {"x=xrm; ${x#x} y", "b: x=xrm\nrm y\n"},
      {"x=RM; ${x,,} y", "b: x=RM\nrm y\n"},
      {"for c in a b; do $c; done", "a\nb\n"},
      {"f() { rm \"$1\"; }; f x", "f: f x\nrm x\n"},
      {"cd /tmp && rm -rf x", "b: cd /tmp\n? rm -rf x dir=/tmp\n"},
      {"export A=b; c", "b: export A=b\nc export:A=b\n"},
      {"echo $((2*21))", "b: echo 42\n"},
  });
}

TEST(Read, FollowsTextThatIsReadAgain) {
  expect_rows({
      {"eval \"r\"\"m x\"", "b: eval 'rm x'\nrm x\n"},
      {"command eval 'rm x'", "b: command eval 'rm x'\nrm x\n"},
      {"builtin eval rm x", "b: builtin eval rm x\nrm x\n"},
      {"trap 'rm x' EXIT", "b: trap 'rm x' EXIT\n? rm x dir=‹›\n"},
      {"compgen -C 'rm x'", "b: compgen -C 'rm x'\n? rm x dir=‹›\n"},
      {"f() { rm x; }; export -f f; bash -c f", "b: export -f f\nbash -c f\n? f: f ‹$@› dir=‹›\n? rm x dir=‹›\n"},
      {". <(echo rm x)", "$ & b: echo rm x\nb: . ‹<›\nrm x\n"},
      {"eval \"$X\"", "b: eval ‹\"$X\"›\n"},
      {"shopt -s expand_aliases\nalias l='rm x'\nl y",
       "b: shopt -s expand_aliases\nb: alias 'l=rm x'\nrm x y\n! alias l\n"},
  });
}

TEST(Read, SaysUnknownInsteadOfGuessing) {
  expect_rows({
      {"if a; then x=rm; else x=ls; fi; $x", "a\n? b: x=rm\n? b: x=ls\n‹$x›\n"},
      {"x=ls; while a; do x=rm; done; $x", "b: x=ls\na\n? b: x=rm\n‹$x›\n"},
      {"x=ls; a && x=rm; $x", "b: x=ls\na\n? b: x=rm\n‹$x›\n"},
      {"x=ls; . ./file; $x", "b: x=ls\nb: . ./file\n‹$x› dir=‹›\n"},
      {"x=ls; $y; $x", "b: x=ls\n‹$y›\n‹$x› dir=‹›\n"},
      {"trap 'x=rm' DEBUG; x=ls; $x", "b: trap x=rm DEBUG\nb: x=ls\n‹$x›\n? b: x=rm dir=‹›\n"},
      {"RANDOM=5; echo $RANDOM", "b: RANDOM=5\nb: echo ‹number $RANDOM›\n"},
      {"x=ls; read x; $x", "b: x=ls\nb: read x\n‹$x›\n"},
      {"declare -n r=x; x=ls; r=rm; $x", "b: declare -n r=x\nb: x=ls\nb: r=rm dir=‹›\n‹$x› dir=‹›\n"},
  });
}

// The catalogue of ways in which command guards were passed by.
TEST(ParsingBypass, PipeToAnUnlistedCommand) { EXPECT_EQ(said("ls | evil"), "ls\nevil |0\n"); }
TEST(ParsingBypass, AmpersandChainsWithoutBlanks) { EXPECT_EQ(said("ls&evil"), "& ls\nevil\n"); }
TEST(ParsingBypass, NewlineChains) { EXPECT_EQ(said("ls\nevil"), "ls\nevil\n"); }
TEST(ParsingBypass, LineContinuationBetweenDollarAndParenthesis) {
  EXPECT_EQ(said("echo $\\\n(evil)"), "$ evil\nb: echo ‹$\\\n(evil)›\n");
}
TEST(ParsingBypass, LineContinuationInsideAWordAndAnOperator) { EXPECT_EQ(said("r\\\nm x &\\\n& y"), "rm x\n? y\n"); }
TEST(ParsingBypass, SubstitutionInDoubleQuotes) {
  EXPECT_EQ(said("echo \"$(evil)\""), "$ evil\nb: echo ‹\"$(evil)\"›\n");
}
TEST(ParsingBypass, BackquotesInDoubleQuotes) {
  EXPECT_EQ(said("echo \"`evil \\\"a\\\"`\""), "$ evil a\nb: echo ‹\"`evil \\\"a\\\"`\"›\n");
}
TEST(ParsingBypass, BackquotesInADefaultValueInDoubleQuotes) {
  EXPECT_EQ(said("echo \"${X:-`evil`}\""), "$ ? evil\nb: echo ‹\"${X:-`evil`}\"›\n");
}
TEST(ParsingBypass, SubstitutionInAnUnquotedHereDocument) {
  EXPECT_EQ(said("cat <<E\n$(evil)\nE"), "$ evil\ncat 0<<<‹\"$(evil)\"›'\\n'\n");
}
TEST(ParsingBypass, UnterminatedHereDocument) {
  EXPECT_EQ(said("cat <<E\n$(evil)"), "$ evil\ncat 0<<<‹\"$(evil)\"›'\\n'\n");
}
TEST(ParsingBypass, PipeAfterTheHereDocumentOperator) {
  EXPECT_EQ(said("cat <<E | evil\nx\nE"), "cat 0<<<'x\\n' in='x\\n'\nevil |0 in='x\\n'\n");
}
TEST(ParsingBypass, ProcessSubstitution) { EXPECT_EQ(said("cat <(evil)"), "$ & evil\ncat ‹<›\n"); }
TEST(ParsingBypass, EmptyQuotesInsideAName) { EXPECT_EQ(said("r\"\"m x"), "rm x\n"); }
TEST(ParsingBypass, BackslashBeforeAName) { EXPECT_EQ(said("\\rm x"), "rm x\n"); }
TEST(ParsingBypass, AnsiQuotedName) { EXPECT_EQ(said("$'\\162\\x6d' x"), "rm x\n"); }
TEST(ParsingBypass, IfsAsABlank) { EXPECT_EQ(said("rm${IFS}x"), "rm x\n"); }
TEST(ParsingBypass, ReassignedIfs) { EXPECT_EQ(said("IFS=,;c=rm,x;$c"), "b: IFS=,\nb: c=rm,x\nrm x\n"); }
TEST(ParsingBypass, BraceExpansionMakesTheCommand) { EXPECT_EQ(said("{r,}m x"), "rm m x\n"); }
TEST(ParsingBypass, GlobInACommandName) { EXPECT_EQ(said("/bin/r?"), "/bin/r‹glob ?›\n"); }
TEST(ParsingBypass, FunctionTakesTheNameOfAProgram) {
  EXPECT_EQ(said("ls() { evil; }; ls"), "f: ls\nevil\n! shadowed ls\n");
}
TEST(ParsingBypass, CarriageReturnIsPartOfAWord) {
  Script script = read("ls\r\nevil", given());
  EXPECT_EQ(script.commands[0].words[0].text(), "ls\r");
  EXPECT_TRUE(says_odd("ls\r\nevil", Oddity::Kind::invisible_text));
}
TEST(ParsingBypass, FormFeedAndVerticalTabAreNoBlanks) {
  EXPECT_EQ(read("a\fb\vc", given()).commands[0].words.size(), 1u);
}
TEST(ParsingBypass, CommandsAfterACommentLine) { EXPECT_EQ(said("# x\nevil"), "evil\n"); }
TEST(ParsingBypass, CaseInsideSubstitution) {
  EXPECT_EQ(said("echo $(case x in x) evil;; esac)"), "$ ? evil\nb: echo ‹$(case x in x) evil;; esac)›\n");
}
// bash gives up the line at an assignment to what is no variable; the next one runs with what was set before.
TEST(Arithmetic, AnAssignmentAfterAChoiceIsAnError) {
  EXPECT_EQ(said("x=1; : $((1?2:y=3)); x=2\nrec \"$x\""), "b: x=1\nb: : ‹number $((1?2:y=3))›\nb: x=2\nrec ‹\"$x\"›\n");
  EXPECT_EQ(said("rec $((0?2:(y=3)))"), "rec 3\n");
  // Also in a branch, which is taken back and joined, after assignments of its own.
  const std::string branch = said("z=rm; if [[ a ]]; then : $((z=2,1?2:x=3)); z=echo; else z=echo; fi\n$z x");
  EXPECT_EQ(branch.find("b: echo x"), std::string::npos) << branch;
  std::string chain;
  for (int i = 0; i < 100'000; ++i) chain += "1?1:";
  EXPECT_FALSE(said("rec $((" + chain + "1))").empty()) << "however deep";
}
TEST(ParsingBypass, SubshellsThatLookLikeArithmetic) { EXPECT_EQ(said("((evil); a)"), "evil\na\n"); }
TEST(ParsingBypass, SubstitutionThatLooksLikeArithmetic) {
  EXPECT_EQ(said("echo $((evil); a)"), "$ evil\n$ a\nb: echo ‹$((evil); a)›\n");
}
TEST(ParsingBypass, CommandsInAnArithmeticSubscript) {
  EXPECT_EQ(said("x='a[$(evil)]'; echo $((x))"), "b: x='a[$(evil)]'\n$ evil\nb: echo ‹number $((x))›\n");
}
TEST(ParsingBypass, BraceInsideAQuotedDefault) {
  EXPECT_EQ(said("echo ${X:-'}'; evil} a; evil"), "b: echo ‹${X:-'}'; evil}› a\nevil\n");
}

TEST(Odd, ForkBombInAnySpelling) {
  for (const char* text : {":(){ :|:& };:", "f() { f | f & }; f", "b(){ b& b; };b", "function x { x | x & }; x",
                           "while true; do sleep 1 & done", "for ((;;)); do x & done", ":(){ (: | :)& };:"}) {
    EXPECT_TRUE(says_odd(text, Oddity::Kind::fork_bomb)) << text;
  }
}
TEST(ParsingBypass, AliasThatMayNotBeThere) {
  for (const char* doubt :
       {"(alias rm=ls)", "alias rm=ls | cat", "alias rm=ls &", ": $(alias rm=ls)", "cat && alias rm=ls",
        "if cat; then alias rm=ls; fi", "for i in $(cat); do alias rm=ls; done", "f() { alias rm=ls; }; cat && f",
        "cat && eval 'alias rm=ls'", "alias rm=$x", "alias $x", "alias rm=ls\ncat && unalias rm",
        "alias rm=ls\ncat && unalias -a", "alias rm=ls\nunalias $x", "while cat; do alias rm=ls; done",
        "trap 'alias rm=ls' USR1", ": ${x?}; alias rm=ls"}) {
    const Script script = read(std::string("shopt -s expand_aliases\n") + doubt + "\nrm -rf x", given());
    EXPECT_TRUE(script.trouble.starts_with("a command that may be an alias for another"))
        << doubt << ": " << script.trouble;
  }
  EXPECT_FALSE(read("cat && shopt -s expand_aliases\nalias rm=ls\nrm -rf x", given()).understood);
  EXPECT_EQ(said("shopt -s expand_aliases\n(alias rm=ls)\nalias rm=ls\nrm x"),
            "b: shopt -s expand_aliases\nb: alias rm=ls\nb: alias rm=ls\nls x\n! alias rm\n");
}
TEST(ParsingBypass, FunctionThatMayHaveBecomeAnother) {
  EXPECT_EQ(said("f() { ls && f() { evil; }; f; }; f"),
            "f: f\nls\nf: f\n? evil\n? ls\n? f: f\n? evil\n? f\n! recursion f\n");
}
TEST(Odd, RecursionWithoutForkIsOnlyRecursion) {
  EXPECT_TRUE(says_odd("f() { f; }; f", Oddity::Kind::recursion));
  EXPECT_FALSE(says_odd("f() { f; }; f", Oddity::Kind::fork_bomb));
}
TEST(Odd, TextThatDoesNotLookLikeWhatItIs) {
  for (const char* text : {"rm\xe2\x80\x8b x", "ls \xe2\x80\xae gpj.exe", "ls\xc2\xa0-l", "\xd1\x80m x", "ls \x1b[2K",
                           "\xef\xbd\x92m x"}) {
    EXPECT_TRUE(says_odd(text, Oddity::Kind::invisible_text)) << text;
  }
  EXPECT_FALSE(says_odd("echo '\xd0\xbf\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82'\n\techo caf\xc3\xa9",
                        Oddity::Kind::invisible_text));
}

/// bash reads it twice, and not alike: what looks like a text to us, it runs.
TEST(Trouble, ABackslashInAnArrayInASubstitution) {
  const char* what = "a backslash in an array in a substitution, which bash first reads as if it were not there";
  for (const char* begins : {"echo $(a=(\\' 'b))", "echo \"$(a=(\\' 'b))\"", "cat <(a=(\\' 'b))",
                             "echo $(x; a+=(\\' 'b))", "echo $(f() { a=(\\' 'b); })", "echo $(declare a=(\\' 'b))",
                             "echo $(if x; then a=(\\' 'b); fi)", "echo $(case x in y) a=(\\' 'b);; esac)",
                             "echo $({ a=(\\' 'b); })", "echo $( (a=(\\' 'b)) )", "x=($(a=(\\' 'b)))"}) {
    const Script script = read(std::string(begins) + "\nevil\necho $(c=(\\' 'd))' ))", given());
    EXPECT_FALSE(script.understood) << begins;
    EXPECT_TRUE(script.trouble.starts_with(what)) << begins << ": " << script.trouble;
  }
  for (const char* fine :
       {"a=(\\')", "echo $(a=(x\\\\ \"\\\"\" '\\'))", "echo $(echo \\')", "( a=(\\') )", "echo $(a=(\\a\\ b))"}) {
    EXPECT_EQ(read(fine, given()).trouble, "") << fine;
  }
}

/// bash gives the text back to itself, and looks for the document behind it: its lines are run.
TEST(Trouble, AHereDocumentInTwoParentheses) {
  const char* what = "a here-document inside two parentheses, which bash takes from behind them";
  for (const char* text : {"((cat <<'EOF'\nevil\nEOF\n) )", "((cat <\\\n<-EOF\nevil\nEOF\n); a)",
                           "x && ((a; cat 3<<X\nevil\nX\n)|b)", "((x=$(cat <<'EOF'\nevil\nEOF\n)) )"}) {
    const Script script = read(text, given());
    EXPECT_FALSE(script.understood) << text;
    EXPECT_TRUE(script.trouble.starts_with(what)) << text << ": " << script.trouble;
  }
  for (const char* fine :
       {"( (cat <<'EOF'\nevil\nEOF\n) )", "((cat <<< x) | b)", "((a << 2))", "echo $((cat <<'EOF'\nevil\nEOF\n) )"}) {
    EXPECT_EQ(read(fine, given()).trouble, "") << fine;
  }
}

/// The last parenthesis is the substitution's: nothing may be cut off it.
TEST(Trouble, ArithmeticThatEndsInASubstitution) {
  EXPECT_TRUE(read("echo $(($'\\'')$())", given()).trouble.starts_with("parentheses that belong together"));
}

TEST(Trouble, NamesWhatIsWrongAndKeepsWhatWasRead) {
  Script script = read("ls\nrm -rf x\necho \"abc", given());
  EXPECT_FALSE(script.understood);
  EXPECT_EQ(script.trouble, "\" is never closed (line 3, column 6)");
  EXPECT_EQ(script.trouble_at.begin, 17u);
  EXPECT_EQ(script.commands[1].words[0].text(), "rm");
}
TEST(Trouble, CommandsBehindAMistakeAreListedForDenyRules) {
  Script script = read("foo ) ; evil x", given());
  EXPECT_FALSE(script.understood);
  EXPECT_EQ(script.commands.back().words[0].text(), "evil");
}
TEST(Trouble, AnExpansionInTheEndOfAHereDocumentIsNotGuessedAt) {
  EXPECT_FALSE(read("cat << `a`\nx\n`a`\n", given()).understood);
  EXPECT_FALSE(read("cat << ${a}\nx\n${a}\n", given()).understood);
  EXPECT_FALSE(read("cat << 'a\nb'\nx\na\nb\n", given()).understood);
  EXPECT_TRUE(read("cat << $a\nx\n$a\n", given()).understood);
}
TEST(Trouble, AHereDocumentThatEndsInABackslashIsNotGuessedAt) {
  EXPECT_FALSE(read("cat <<E\nx\\", given()).understood);
  EXPECT_TRUE(read("cat <<'E'\nx\\", given()).understood);
  EXPECT_TRUE(read("cat <<E\nx\\\\", given()).understood);
}
TEST(Trouble, AFunctionWithAnImpossibleNameIsNotUnderstood) {
  EXPECT_FALSE(read("a[b c]d() { ls; }", given()).understood);
  EXPECT_FALSE(read("'a b'() { ls; }", given()).understood);
  EXPECT_TRUE(read("a-b.c() { ls; }", given()).understood);
}
TEST(Trouble, ANulByteIsNeverUnderstood) { EXPECT_FALSE(read(std::string_view("ls\0rm", 5), given()).understood); }

TEST(Bounds, DeepNestingIsAnswered) {
  for (const char* piece :
       {"(",      "$(",   "{ ",     "\"${x:-", "`",  "if ", "[[ ! ", "[[ ( ", "$((", "a=(", "((", "case x in x) ",
        "f() { ", "\"$(", "while ", "! ",      "<(", "$[",  "!(",    "${x["}) {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += piece;
    Script script = read(text, given());
    EXPECT_TRUE(!script.understood || script.commands.size() <= 1) << piece;
  }
}
TEST(Bounds, OfAHundredThousandSegmentsMostAreListedAndTheRestIsSaid) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "a;";
  const Script script = read(text, given());
  EXPECT_GE(script.commands.size(), 50'000u);
  EXPECT_TRUE(std::any_of(script.oddities.begin(), script.oddities.end(),
                          [](const Oddity& oddity) { return oddity.kind == Oddity::Kind::limit; }));
}
TEST(Bounds, ExpansionWithoutEndIsCutOff) {
  std::string functions = "f0() { :; }\n";
  for (int i = 1; i < 40; ++i)
    functions += "f" + std::to_string(i) + "() { f" + std::to_string(i - 1) + "; f" + std::to_string(i - 1) + "; }\n";
  std::string braces = "echo ", loops, aliases = "shopt -s expand_aliases\n";
  for (int i = 0; i < 60; ++i) braces += "{a,b}", loops += "for i in 1 2 3 4; do ";
  loops += ":;";
  for (int i = 0; i < 60; ++i) loops += " done;";
  for (int i = 0; i < 40; ++i)
    aliases += "alias a" + std::to_string(i) + "='a" + std::to_string(i + 1) + " a" + std::to_string(i + 1) + " '\n";
  for (const std::string& text : {functions + "f20", braces, loops})
    EXPECT_TRUE(says_odd(text, Oddity::Kind::limit)) << text.substr(0, 40);
  EXPECT_FALSE(read(aliases + "a0\n", given()).understood);
  std::string doubling;
  for (int i = 0; i < 100; ++i) doubling += "x=$x$x$y;";
  EXPECT_TRUE(read(doubling, given()).understood);
}

}  // namespace
}  // namespace cordon::shell
