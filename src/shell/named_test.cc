// What bash would run is named, or the script is said not to be understood. In every text, bash runs `evil`.
#include <gtest/gtest.h>

#include <algorithm>

#include "shell/read.h"

namespace cordon::shell {
namespace {

/// Somebody who reads only what we say of it would be asked, or be told.
bool is_told(std::string_view text, std::uint32_t depth = 0) {
  ShellState state;
  state.positional = {"bash"};
  state.depth = depth;
  const Script script = read(text, state);
  if (!script.understood) return true;
  const bool cut_off =
      std::ranges::any_of(script.oddities, [](const Oddity& oddity) { return oddity.kind == Oddity::Kind::limit; });
  return cut_off || std::ranges::any_of(script.commands, [](const Command& command) {
           return !command.words.empty() && (!command.words[0].known() || command.words[0].text() == "evil");
         });
}

template <std::size_t N>
void expect_told(const char* const (&texts)[N]) {
  for (const char* text : texts) EXPECT_TRUE(is_told(text)) << text;
}

/// Otherwise it would be told of everything.
TEST(Named, WhatIsOrdinaryIsNotDoubted) {
  for (const char* text : {"ls",
                           "for i in a b; do ls $i > f; done; ls",
                           "f() { ls \"$@\"; }; f a > log 2>&1",
                           "trap 'ls' EXIT; ls",
                           "x=ls; $x > f",
                           "f() { [ -d \"$1\" ] && for i in \"$1\"/*; do f \"$i\"; done; ls \"$1\"; }; f .",
                           "while read -r x; do ls \"$x\"; done < f",
                           "i=0; while ((i < 3)); do ls; ((i++)); done",
                           "cd x && ls; { ls; } > f; ls",
                           "f() { local x=ls; $x; }; f; f",
                           "cat > f <<'E'\n$(evil)\nE\nls",
                           "set -euo pipefail; shopt -s nullglob; for f in *.c; do ls \"$f\"; done",
                           "export -f ls; ls | while read -r l; do ls; done",
                           "declare -A m; m[a]=1; ((m[a]++)); ls",
                           "read -r x <<< ls; $x",
                           "printf -- '- [ ] remove `evil | sh` [$(evil)]'",
                           "printf '%s\\n' 'a[$(evil)]'",
                           "printf -v x '[$(evil)]'",
                           "x=\"${y:-\"$z\"}\"; ls \"$x\"",
                           "x=$(ls 2>&1); ls \"$x\"",
                           "IFS=, read -r a b <<< x,y; ls \"$a\"",
                           "make prefix=~/x > log 2>&1; ls",
                           "eval 'ls' > f 2>&1; echo a > f; ls",
                           "x=\"${y:-'a b'}\"; ls \"${x#'$'}\"",
                           "ls \"${x//$'\\n'/ }\"",
                           "trap 'echo stopped >&2' INT; ls",
                           "shopt -s expand_aliases\nalias l='ls -l'\nx=$(l a)",
                           "(cd x && ls) || exit 1; ls"}) {
    EXPECT_FALSE(is_told(text)) << text;
  }
}

TEST(Named, AFunctionThatMayHaveKeptItsOldBody) {
  expect_told({"f() { evil; }; while [ -e x ]; do f() { ls; }; done; f",
               "f() { evil; }; for i in $(cat); do f() { ls; }; done; f",
               "f() { evil; }; for i in 1; do cat && break; f() { ls; }; done; f",
               "f() { evil; }; g() { cat && return; f() { ls; }; }; g; f",
               "f() { evil; }\n: $((1/0)); f() { ls; }\nf"});
}

TEST(Named, AFunctionThatTheNextRoundCalls) {
  expect_told({"while cat; do ls; ls() { evil; }; done", "while cat; do ls; eval 'ls() { evil; }'; done",
               "for i in $(cat); do ls; ls() { evil; }; done", "for ((;;)); do ls; eval 'ls() { evil; }'; done",
               "until cat; do ls; g() { ls() { evil; }; }; g; done",
               "while cat; do ls; eval 'ls() { h; }'; eval 'h() { evil; }'; done"});
}

TEST(Named, ThatAnUncertainFunctionMayBeAProgram) {
  const Script script = read("cat && rm() { ls; }; rm x", {});
  EXPECT_TRUE(std::ranges::any_of(script.commands, [](const Command& command) {
    return command.kind == Command::Kind::program && command.words[0].text() == "rm";
  }));
  expect_told({"cat || eval() { :; }; eval evil"});
}

TEST(Named, WhatAFunctionDoesWhenItCallsItself) {
  expect_told({"f() { ls; ls() { evil; }; cat && f; }; f", "x=ls; f() { $x; x=evil; cat && f; }; f",
               "f() { $1; [ -n \"$2\" ] && shift && f \"$@\"; }; f ls evil",
               "f() { $1; [ -z $3 ] || g $2 $3; }; g() { f $1; f $2; }; f ls ls evil",
               "f() { case $1 in x) f y ls;; y) f z evil;; z) $2;; esac; }; f x"});
}

TEST(Named, AFunctionWithMoreBodiesThanAreKept) {
  std::string text = "case $0 in bash) f() { evil; };; esac\n";
  for (int i = 0; i < 100; ++i) text += "[ -e x ] && f() { : " + std::to_string(i) + "; }\n";
  EXPECT_TRUE(is_told(text + "f"));
}

TEST(Named, AFunctionNamedLikeAPath) { expect_told({"/bin/ls() { evil; }; /bin/ls", "function ./x { evil; }; ./x"}); }

TEST(Named, WhatAnExportedFunctionIsGiven) {
  expect_told({"f() { \"$@\"; }; export -f f; bash -c 'f evil'", "set -a; ls() { evil; }; bash -c ls",
               "command_not_found_handle() { shift; \"$@\"; }; no evil"});
}

TEST(Named, WhatARedirectThatFailsKeepsFromHappening) {
  expect_told({"x=evil; : > no/f && x=ls; $x", "x=evil; declare x=ls > no/f; $x", "x=evil; { x=ls; } > no/f; $x",
               "x=evil; read x <<< ls > no/f; $x", "set -- evil; set -- ls >&7; \"$@\"",
               "x=evil; f() { x=ls; }; f < no; $x", "x=evil; if :; then x=ls; fi 2> no/f; $x",
               "x=evil; eval x=ls 2> no/f; $x", "x=evil; for i in 1; do x=ls; done < no; $x",
               "f() { evil; }; { f() { ls; }; } > no/f; f", "exec 1>&-; x=evil; declare x=ls >&1; $x"});
}

TEST(Named, ABuiltinThatIsCalledWrongly) {
  expect_told({"set -- evil; set -Z -- ls; \"$@\"", "set -- evil; set -o no -- ls; \"$@\"",
               "x=evil; declare -Z x=ls; $x", "x=evil; declare -p x=ls; $x", "x=evil; export -Z x=ls; $x",
               "f() { local -Z x=ls; $x; }; x=evil; f", "x=evil; unset -Z x; ${x:-ls}",
               "x=evil; command -Z declare x=ls; $x", "builtin -- eval evil", "x=evil; let 'y=' 'x=2'; $x"});
}

TEST(Named, WhatSeemsToSucceed) {
  expect_told({"set -o pipefail; x=evil; false | : && x=ls; $x", "x=evil; trap : NO && x=ls; $x",
               "x=evil; f() { ls; }; readonly -f f; f() { :; } && x=ls; $x"});
}

TEST(Named, WhatATrapPrints) {
  expect_told({"x=$(trap 'echo evil' EXIT); $x", "set -T; trap 'echo evil' DEBUG; x=$(:); $x",
               "set -E; trap 'echo evil' ERR; x=$(false); $x",
               "set -o functrace; trap 'echo evil' RETURN; f() { :; }; x=$(f); $x",
               "alias evil=a; IFS=\" ='\"; x=$(alias); ${x#alias }"});
}

TEST(Named, ATrapThatLeavesWhatItInterrupts) {
  expect_told({"set -T; trap '[[ $BASH_COMMAND == x=ls ]] && return' DEBUG; f() { x=evil; x=ls; }; f; $x",
               "trap break USR1; for i in 1; do x=evil; kill -USR1 $$; x=ls; done; $x",
               "trap continue ERR; for i in 1; do x=evil; false; x=ls; done; $x"});
}

TEST(Named, AFileThatTheNextRoundFinds) {
  const Script script = read("while cat; do . ./s; echo evil > s; done", {});
  EXPECT_EQ(
      std::ranges::count_if(script.commands, [](const Command& command) { return command.words[0].text() == "."; }), 2);
}

TEST(Named, ATextThatLooksLikeAnOption) {
  expect_told({"trap -- '-x; evil' EXIT", "mapfile -tC evil -c1 lines < f", "mapfile -tCevil lines < f",
               "compgen -aC evil", "compgen -abF evil"});
}

TEST(Named, AListThatIsNoneAndASubscriptThatEndsTheLine) {
  expect_told({"a=('$(evil)')x; : ${a[0]@P}", "x=evil; m[]=1; x=ls\n$x", "cat && x='a[$(evil)]'; read esac$x <<< 1"});
}

TEST(Named, WhatIsAPatternOnlyIfAnOptionWasSet) {
  expect_told({"(shopt -s extglob)\n!(evil)", "false && shopt -s extglob\n!(evil)", "shopt -s extglob $X\n!(evil)",
               "shopt -s extglob | cat\n!(evil)"});
}

TEST(Named, AFunctionThatCannotBeChanged) {
  expect_told({"f() { evil; }; readonly -f f; f() { ls; }; f", "f() { evil; }; declare -rf f; f() { ls; }; f",
               "f() { evil; }; readonly -f f; unset -f f; f"});
}

TEST(Named, AnAliasThatMayNotHaveBeenMade) {
  expect_told({"shopt -s expand_aliases\nalias evil=ls > no/f\nevil",
               "shopt -s expand_aliases\neval 'alias evil=ls' > no/f\nevil",
               "shopt -s expand_aliases\n{ alias evil=ls; } > no/f\nevil",
               "shopt -s expand_aliases\nf() { cat && return; g; }; g() { alias evil=ls; }; f\nevil",
               "shopt -s expand_aliases\nfor i in 1; do cat && break; alias evil=ls; done\nevil",
               "shopt -s expand_aliases\n. /dev/stdin <<< 'return; alias evil=ls'\nevil"});
}

TEST(Named, WhatATrapChanges) {
  expect_told({"trap 'ls() { evil; }' DEBUG; ls", "trap 'set -- evil' DEBUG; set -- ls; \"$@\"",
               "trap shift DEBUG; set -- ls evil; \"$1\"", "mapfile -C 'ls() { evil; }; :' -c1 a <<< x; ls",
               "x=evil; shopt -s extdebug; trap '[[ $BASH_COMMAND != x=* ]]' DEBUG; x=ls; $x"});
}

TEST(Named, WhatATrapFindsWhenItRuns) {
  expect_told({"trap f EXIT; f() { evil; }; cat && exit; f() { ls; }", "trap f DEBUG; f() { evil; }; :; f() { ls; }",
               "f() { evil; }; trap f EXIT; cat && exit; unset -f f", "x=ls; trap '$x' ERR; set -E; (x=evil; false)",
               "f() { ls; }; trap f ERR; set -E; (f() { evil; }; false)",
               "shopt -s expand_aliases\nalias z=evil\ntrap z ERR\nfalse\nalias z=ls\n"});
}

TEST(Named, ASubstitutionThatIsReadAgainWithOtherAliases) {
  expect_told({"shopt -s expand_aliases\nalias z=ls\nalias z=evil; : $(z)",
               "shopt -s expand_aliases\nalias evil=ls\nunalias evil; : $(evil)",
               "shopt -s expand_aliases\nf() { : $(z); }\nalias z=evil\nf",
               "shopt -s expand_aliases; while cat; do eval ls; alias ls=evil; done",
               "shopt -s expand_aliases\nalias -p evil=ls\nevil"});
}

TEST(Named, AnAliasThatASubstitutionMakes) {
  expect_told({": $(shopt -s expand_aliases\nalias z=evil\nz)", "cat <(shopt -s expand_aliases\nalias z=evil\nz)"});
}

TEST(Named, AVariableThatMeansSomethingToBash) {
  expect_told({"printf -v 'BASH_ALIASES[ls]' evil\nls", "read 'BASH_CMDS[ls]' <<< /x/evil; ls",
               "declare POSIXLY_CORRECT=1; x=ls; x=evil :; $x", "BASH_ARGV0=evil; $0"});
}

TEST(Named, AnOptionThatChangesHowBashReads) {
  expect_told({"x=ls; f() { $x; }; set -k; f x=evil", "x=ls; f() { $x; }; set -o keyword; f x=evil",
               "set -o posix; x=ls; x=evil :; $x", "shopt -so posix; x=ls; x=evil :; $x",
               "shopt -s localvar_inherit; x=evil; f() { local x; ${x:-ls}; }; f",
               "shopt -s xpg_echo; $(echo 'evil\\0040a')", "x=evil; shopt -s failglob; : no*; x=ls\n$x",
               "shopt -s nocasematch; x=XX; ${x/xx/evil}"});
}

/// sh -c TEXT: it may be dash.
TEST(Named, WhatAnotherShellReadsOtherwise) {
  for (const char* text :
       {"$(echo 'evil\\0040a')", "x=ls; x=evil :; $x", "x=ls; x=evil eval :; $x", "x=evil; declare x=ls; $x",
        "x=evil; let x=1; $x", "[[ -n a ]] && x=ls || x=evil; $x", "((1)) && x=ls || x=evil; $x",
        "x=evil; x=ls &>/dev/null; $x", "x=evil; printf -v x ls; $x", "alias ls=evil\nls"}) {
    EXPECT_TRUE(is_told(text, 1)) << text;
  }
}

TEST(Named, AVariableThatIsNotWhatItWasAssigned) {
  expect_told({"x=evil; f() { local -I x; ${x:-ls}; }; f", "x=ls; f() { local x=z; declare -g x=evil; }; f; $x",
               "x=ls; x=evil export x; $x", "x=ls; x=evil readonly x; $x", "x=ls; f() { export x; }; x=evil f; $x",
               "readonly x=evil; f() { local x=ls; $x; }; f", "declare -u x; declare +u x; x=evil; $x",
               "x=evil; declare -A x; ${x:-ls}", "x=(evil); declare -A x; ${x:-ls}",
               "unset x; case a in a) ;; ${x:=ls}) ;; esac; ${x:-evil}", "unset x; y=${x:=evil} > f${x:=ls}; $x"});
}

TEST(Named, AnAttributeThatAVariableMayHave) {
  expect_told({"cat && readonly x=evil; for x in ls; do :; done; $x", "cat && declare -ia x; x=('a[$(evil)]')",
               "cat && declare -i x; read x <<< 'a[$(evil)]'"});
}

TEST(Named, WhatAReferenceStandsFor) {
  expect_told({"x=ls; declare -n y=x; unset y; ${x:-evil}", "x=ls; declare -n y=x; while cat; do y=evil; done; $x",
               "x=ls; declare -n y=x; while cat; do $x; y=evil; done",
               "x=ls; declare -n y=x; unset x; : ${y:=evil}; $x"});
}

TEST(Named, AListThatIsQuoted) {
  expect_told({"declare -a 'y=(evil)'; ${y[0]}", "declare -a 'y=($(evil))'", "x='($(evil))'; declare -a y=\"$x\"",
               "y=(); declare y='(evil)'; ${y[0]}", "readonly -a 'y=($(evil))'",
               "cat && x='($(evil))'; declare -a y=\"$x\""});
}

TEST(Named, WhatASourcedTextLeavesBehind) {
  expect_told({"set -- ls; . /dev/stdin z <<< 'set -- evil'; \"$@\"", ". /dev/stdin <<< 'x=evil; return; x=ls'; $x",
               "f() { . /dev/stdin <<< 'x=evil; return; x=ls'; $x; }; f"});
}

TEST(Named, ANumberThatRunsSomething) {
  expect_told({"y='b[$(evil)]'; ((a[y]))", "y='b[$(evil)]'; (($# + RANDOM + y))", "y='b[$(evil)]'; x='a[$y]'; ((x))",
               "x='a[$(evil)]'$RANDOM; ((x))", "declare -i x; x+='a[$(evil)]'", "declare -ia x; x=('a[$(evil)]')",
               "declare -ia x; mapfile -t x <<< 'a[$(evil)]'", "x='a[$(evil)]'; : ${HOSTNAME:x}",
               "x='a[$(evil)]'; : ${HOSTNAME:0:x}", "x='a[$(evil)]'; : ${@:x}", "RANDOM='a[$(evil)]'",
               "OPTIND='a[$(evil)]'", "x='a[$(evil)]'; while ((x)); do :; done",
               "x='a[$(evil)]'; for ((i=0; i<x; i++)); do :; done", "x='a[$(evil)]' bash -c ': $((x))'",
               "x='a[$(evil)]'; export x; bash -c '((x))'"});
}

TEST(Named, ASubscriptThatRunsSomething) {
  expect_told({"x='b[$(evil)]'; a=(1); unset 'a[x]'", "x='b[$(evil)]'; test -v 'a[x]'", "x='b[$(evil)]'; [[ -v a[x] ]]",
               "x='b[$(evil)]'; printf -v 'a[x]' 1", "printf -v'a[$(evil)]' 1", "printf -v x -v 'a[$(evil)]' 1",
               "printf -v x -v y %s 'x[$(evil)]'; ((y))", "printf -v x -vy evil; $y", "printf 'a%n' 'a[$(evil)]'",
               "printf -- '%5n' 'a[$(evil)]'", "x='b[$(evil)]'; read 'a[x]' <<< 1", "x='b[$(evil)]'; declare 'a[x]=1'",
               "x='b[$(evil)]'; a=([x]=1)", "x='b[$(evil)]'; : {a[x]}> f", "x='a[$(evil)]'; : ${!x}",
               "z='$(evil)'; x='a[${z@P}]'; ((x))"});
}

TEST(Named, AMessageThatRunsSomething) { expect_told({"unset x; : ${x?$(evil)}", "unset x; : ${x:?`evil`}"}); }

TEST(Named, PromptsInAList) {
  expect_told({"a=('$(evil)'); : ${a[@]@P}", "set -- '$(evil)'; : ${@@P}", "a=('$(evil)'); cat || a=(); : ${a[@]@P}",
               "set -- '$(evil)'; cat || set --; : ${*@P}", "declare -A m=([k]='$(evil)'); : ${m[k]@P}"});
}

TEST(Named, APatternThatIsMoreThanItLooks) {
  expect_told({"shopt -s extglob; x=evila; ${x%+(a)}", "shopt -s extglob; x='/bin/@(evil)'; $x",
               "p='\\?'; x='?evil'; ${x#$p}", "p='\\a'; x='aevil'; ${x/$p}"});
}

TEST(Named, AValueThatMayStillHold) {
  expect_told({"cat && x='a[$(evil)]'; ((x))", "cat && k='$(evil)'; test -v \"a[$k]\"", "cat && x='$(evil)'; : ${x@P}",
               "cat && x='a[$(evil)]'; : ${!x}", "cat && x='a[$(evil)]'; declare -n y=$x; : $y",
               "cat && x='a[$(evil)]'; declare -i y=$x", "[[ a == @(<(evil)|b) ]]",
               "set -- 'a[$(evil)]'; cat || set -- 1; (($1))", "mapfile -t x <<< 'a[$(evil)]'; ((x))",
               "cat && x='$(evil)'; compgen -W \"$x\" y", "cat && x='a[$(evil)]'; printf -v $x 1"});
}

TEST(Named, WhatOthersHaveLeftOfAnInput) {
  expect_told(
      {"printf 'ls\\nevil\\n' | { f() { read y; }; f; read x; $x; }",
       "printf 'ls\\nevil\\n' | { { read y; } <&0; read x; $x; }",
       "printf 'ls\\nevil\\n' | { read y <&0; read x; $x; }",
       "printf 'ls\\nevil\\n' | { read y < /dev/stdin; read x; $x; }",
       "printf 'ls\\nevil\\n' | { select i in a; do break; done; read x; $x; }",
       "printf 'ls\\nevil\\n' | { exec 3<&0; read y <&3; read x; $x; }",
       "printf 'evil\\nls\\n' | { if cat < f; then read x; else read x; fi; $x; }",
       "exec 3<<< evil; read x <&3 3<<< ls; $x", "exec 3<<< 'ls\nevil'; read y <&3; read x <&3; $x",
       "{ read y <&3; read x <&3; $x; } 3<<< 'ls\nevil'", "exec 3<<< 'ls\nevil'; while cat; do read x <&3; $x; done",
       "echo ls | { command exec <<< evil; read x; $x; }", "echo ls | { f() { exec <<< evil; }; f; read x; $x; }"});
}

/// Who is given a text that somebody before has read from is not given all of it.
TEST(Named, NoTextIsHandedOnTwice) {
  for (const char* text :
       {"{ read y; bash; } <<< ': <<E\nevil\nE'", "exec <<< ': <<E\nevil\nE'; read y; bash",
        "f() { read y; bash; }; f <<< ': <<E\nevil\nE'", "exec 3<<< ': <<E\nevil\nE'; read y <&3; bash <&3",
        "exec 3<<< ': <<E\nevil\nE'; read -u 3 y; bash <&3", "printf ': <<E\\nevil\\nE\\n' | { read y <&0; bash; }",
        "while cat; do bash; done <<< ': <<E\nevil\nE'"}) {
    const Script script = read(text, {});
    for (const Command& command : script.commands) {
      if (command.words.empty() || command.words[0].text() != "bash") continue;
      EXPECT_NE(command.input.value_or(""), ": <<E\nevil\nE\n") << text;
      for (const Redirect& redirect : command.redirects)
        EXPECT_FALSE(redirect.kind == Redirect::Kind::here_text && redirect.target.text() == ": <<E\nevil\nE\n")
            << text;
    }
  }
}

TEST(Named, WhatIsWrittenThroughADescriptor) {
  const Script script = read("exec 3> s; echo evil >&3; . ./s", {});
  EXPECT_EQ(script.commands[1].output, "evil\n");
  expect_told({"history -s evil; history -w s; . ./s"});
}

/// Builtins called in unusual ways, variables that hold for one command, what is left early, what bash takes away.
TEST(Named, WhatBashDoesOtherwiseThanItsManualLetsOneThink) {
  expect_told({"y=evil; read 1x y <<< 'evil ls'; $y",
               "z=evil; read x 1y z <<< 'a b ls'; $z",
               "shopt -s failglob; shopt -Zu failglob; x=evil; : no*; x=ls\n$x",
               "shopt -s lastpipe; shopt -Zu lastpipe; x=ls; : | x=evil; $x",
               "shopt -s lastpipe; shopt -u -Z lastpipe; x=ls; : | x=evil; $x",
               "x=ls; trap 'local x=evil' USR1; f() { x=ls; kill -USR1 $$; $x; }; f",
               "trap 'local x=evil' DEBUG; set -T; f() { x=ls; $x; }; f",
               "x=evil; x=ls . /dev/stdin <<< \"$x\"",
               "x=evil; f() { read y; $y; }; x=ls f <<< $x",
               "x=evil; x=ls eval '. /dev/stdin' <<< \"$x\"",
               "x=evil; x=ls read y <<< $x; $y",
               "g=1; g() { evil; }; unset x -f g; g",
               "set + evil; $1",
               "set -- ls; set + evil; \"$1\"",
               "set -- evil; set +; \"$1\"",
               "set +x + evil; $1",
               "x=ls; eval \"$(declare -l x=evil; declare -l; echo :)\"; $x",
               "x=ls; eval \"$(export x=evil; export -a; declare -x; echo :)\"; $x",
               "x=evil; builtin -- -- eval x=ls; $x",
               "z=ls; y='q z=evil'; command declare x=$y; $z",
               "z=ls; y='q z=evil'; builtin declare x=$y; $z",
               "z=ls; y='q z=evil'; command export x=$y; $z",
               "eval \"$(printf ':\\c\\nevil')\"",
               "x=$(echo aa | tr 'a-c[:lower:]' '[:upper:]x'); ${x:-evil}",
               "x=$(echo a | tr a '[:digit:]'); ${x:-evil}",
               "HOME[1]=x; ${HOME[0]:+evil}",
               "x=2; y=evil; : $((5--x)); y=ls\n$y",
               "x=2; y=evil; : $((5++x)); y=ls\n$y",
               "x=evil; : $((0 && 2**-1)); x=ls\n$x",
               "y='\"1'; x=evil; : $(( $y )); x=ls\n$x",
               "x=evil; : $((010#5)); x=ls\n$x",
               "x=aevil; ${x[@]:1}",
               "x=aevil; ${x[*]:1}",
               "x=; ${x/*/evil}",
               "x=; ${x//*/evil}",
               "HOME=evil; set -- x=~; ${1#x=}",
               "HOME=evil; f() { ${1#x=}; }; f x=~",
               "HOME=evil; for i in x=~; do ${i#x=}; done",
               "HOME=evil; set -- x=a:~; ${1#x=a:}",
               "y=evil; x=$( [[ -z a ]] ) && y=ls; $y",
               "y=evil; x=$( ((0)) ) && y=ls; $y",
               "y=evil; (exit 1; :) && y=ls; $y",
               "y=evil; (kill -9 $BASHPID; :) && y=ls; $y",
               "printf 'evil\\nls\\n' | { read y 3< no; read x; $x; }",
               "printf 'evil\\nls\\n' | { for i in 1; do break; read y; done; read x; $x; }",
               "printf 'evil\\nls\\n' | { for i in 1; do continue; read y; done; read x; $x; }",
               "unset RANDOM; RANDOM='x evil'; set -- $RANDOM ls; $2",
               "set -- $! ls evil; $2",
               "f() { $2; }; f $! ls evil",
               "unset SECONDS; SECONDS='x evil'; set -- $SECONDS ls; $2",
               "x=evil; while [ -e no ]; do printf '-v' x %s ls; done; $x",
               "y=evil; x='y=5'; while [ -e no ]; do ((x)); done; $y",
               "x=ls; read -rax <<< evil; $x",
               "x=ls; case a in a) x=evil;;& b) :;; *) $x;; esac",
               "x=ls; case a in a) x=evil;;& b) :;; c) :;; *) $x;; esac",
               "x=evil; x=ls x=ls :; $x",
               "x=ls; x=1 eval 'unset x; x=evil'; $x",
               "f() { unset x; x=evil; }; x=ls; x=1 f; $x",
               "x=ls; x=1 printf -v x evil; $x",
               "p=ls; pz=evil; v=1; x=\"${v+$p\"z\"}\"; $x",
               "x=\"${v-\"$\"(evil)}\"",
               "cat <<E\n${v-\"$\"(evil)}\nE",
               "cat <<E\n${v-$\"(evil)\"}\nE",
               "x=$(eval 'echo ls' > /dev/null; echo evil); $x",
               "x=$(eval 'echo ls' >&2; echo evil); $x"});
}

TEST(Named, WhatEndsAtAMistakeIsNotTakenForDone) {
  expect_told({"readonly y=1; x=evil; for y in 1; do x=ls; done; $x", "readonly y=1; x=evil; read y x <<< 'a ls'; $x",
               "readonly y=1; x=evil; let y=2 x=3; $x", "readonly a=(1); x=evil; a+=(2); x=ls\n$x",
               "x=evil; declare -A m; m[]=1; x=ls\n$x", "x=evil; a=(1); a[-5]=2; x=ls\n$x"});
}

TEST(Named, WhatACallIsGivenIsGivenToWhatItRuns) {
  expect_told(
      {"eval '. /dev/stdin' <<< evil", "eval 'f() { . /dev/stdin; }; f' <<< evil", ". <(echo 'read x; $x') <<< evil"});
  for (const char* text : {"eval bash <<< evil", "f() { eval bash; }; f <<< evil", "command eval bash <<< evil"}) {
    const Script script = read(text, {});
    EXPECT_EQ(script.commands.back().input, "evil\n") << text;
  }
}

TEST(Named, WhatIsAssignedInASubscriptIsNotKnown) {
  for (const char* text :
       {"x=ls; test -v 'a[x=2]'; $x", "x=ls; read 'a[x=2]' <<< 1; $x", "x=ls; y='a[x=2]'; : ${!y}; $x",
        "x=ls; y='x=2'; a=([y]=1); $x", "x=ls; : {a[x=2]}< /dev/null; $x", "x=ls; RANDOM='x=2'; $x"}) {
    const Script script = read(text, {});
    EXPECT_FALSE(script.understood && script.commands.back().words[0].known()) << text;
  }
}

TEST(Named, SingleQuotesThatQuoteNothing) {
  expect_told({": \"${v-'$(evil)'}\"", ": \"${v:-$'\\x24(evil)'}\"", "cat <<E\n${v-'`evil`'}\nE"});
}

TEST(Named, WhatBashPrintsOfASubstitutionIsWhatItRuns) {
  expect_told({"COPROC() { evil; }; : $(coproc ls)", "function time { ls; }; : $(>f time evil)"});
}

TEST(Named, AnAliasThatEndsInTheMiddleOfSomething) {
  for (const char* text :
       {"alias a='ls #'\na : 'x\nevil #'", "alias a=': \\'\na<<E\nevil\nE", "alias a='false |'\na| evil",
        "alias a='('\na( 1 #2)); evil\n))", "alias a=': \"x'\na;\" ; evil #\"",
        "alias a='case x in'\n: \"$(a x) : ' ;; esac)\"; evil #';; esac)\""}) {
    EXPECT_FALSE(read(std::string("shopt -s expand_aliases\n") + text, {}).understood) << text;
  }
}

TEST(Named, AFunctionThatAnAliasNames) { expect_told({"shopt -s expand_aliases\nalias a='f()'\na { evil; }; f"}); }

TEST(Named, NumbersAndBytesThatAreWrittenStrangely) {
  for (const char* text : {"ev{+01..1}", "$'ev1\\x{}z'"})
    EXPECT_EQ(read(text, {}).commands[0].words[0].text(), "ev1") << text;
}

TEST(Named, AFileThatATrapWrites) {
  const Script script = read("trap 'echo evil > f' DEBUG; . ./f", {});
  ASSERT_GE(script.commands.size(), 3u);
  EXPECT_EQ(script.commands[1].words[0].text(), "echo");
}

}  // namespace
}  // namespace cordon::shell
