"""Ways in which a script says one program and runs another. %a is the one that it says, %b the one that runs; %maybe is a
condition before something, or nothing. Each is a script of its own; runs.py also grows them into others.
"""

FUNCTIONS = [
    # Which body a name has, after courses that may not have been taken.
    "f() { %b; }; while [ -e no ]; do f() { %a; }; done; f", "f() { %b; }; for i in $(cat); do f() { %a; }; done; f",
    "f() { %b; }; for i in 1; do cat && break; f() { %a; }; done; f", "f() { %b; }; g() { cat && return; f() { %a; }; }; g; f",
    "f() { %b; }\n: $((1/0)); f() { %a; }\nf", "f() { %b; }\n: ${x?}; f() { %a; }\nf",
    "i=0; while ((i++ < 2)); do %a; %a() { %b; }; done", "i=0; while ((i++ < 2)); do %a; eval '%a() { %b; }'; done",
    "for i in $(echo 1; cat; echo 2); do %a; %a() { %b; }; done", "for ((i = 0; i < 2; i++)); do %a; eval '%a() { %b; }'; done",
    "i=0; until ((i++ > 1)); do %a; g() { %a() { %b; }; }; g; done",
    "i=0; while ((i++ < 3)); do %a; eval '%a() { h; }'; eval 'h() { %b; }'; done",
    "n=0; f() { %a; %a() { %b; }; ((n++)) || f; }; f", "n=0; x=%a; f() { $x; x=%b; ((n++)) || f; }; f",
    "f() { $1; [ -n \"$2\" ] && shift && f \"$@\"; }; f %a %b", "f() { $1; [ -z $3 ] || g $2 $3; }; g() { f $1; f $2; }; f %a %a %b",
    "f() { case $1 in x) f y %a;; y) f z %b;; z) $2;; esac; }; f x",
    "/bin/%a() { %b; }; /bin/%a", "function /bin/%a { %b; }; /bin/%a", "function a-b { %b; }; a-b", "1() { %b; }; 1",
    "function [ { %b; }; [ a ]", "echo() { %b; }; echo %a", "command() { %b; }; command %a", "function . { %b; }; . %a",
    "eval() { %b; }; eval %a", "unset() { %b; }; unset x", "%a() { %b; }; command %a; %a", "%a() { %b; }; \\%a",
    "%a() if :; then %b; fi; %a", "%a() ( %b ); %a", "%a() [[ $(%b) ]]; %a", "%a() (( x[$(%b)] )); %a", "%a() { %b; } > f; %a",
    "f() { %b; }; export -f f; /bin/bash -c f", "f() { \"$@\"; }; export -f f; /bin/bash -c 'f %b'", "set -a; %a() { %b; }; /bin/bash -c %a",
    "/usr/bin/env 'BASH_FUNC_%a%%=() { %b; }' /bin/bash -c %a", "declare -fx f; f() { %b; }; declare -fx f; /bin/bash -c f",
    "command_not_found_handle() { shift; \"$@\"; }; no %b", "command_not_found_handle() { %b; }; no",
    "f() { %b; }; (unset -f f; f() { %a; }); f", "f() { %b; }; f() { %a; } | cat; f", "f() { %b; }; f() { %a; } & wait; f",
    "case a in *) f() { %b; };; esac; case $# in 1) f() { %a; };; esac; f",
    "if cat; then f() { %b; }; else f() { %a; }; fi; f", "f() { %maybef() { %b; }; %a; }; f; f",
    "f() { %b; }; { f() { %a; }; } > no/f; f", "f() { %b; }; g() { f() { %a; }; }; g 2> no/f; f",
    "case $0 in bash) f() { %b; };; esac\n" + "\n".join(f"[ -e no{i} ] && f() {{ :; : {i}; }}" for i in range(12)) + "\nf",
]

TRAPS = [
    "trap '%a() { %b; }' DEBUG; :; %a", "trap 'set -- %b' DEBUG; set -- %a; \"$@\"", "trap f EXIT; f() { %b; }; cat && exit; f() { %a; }",
    "trap f DEBUG; f() { %b; }; :; f() { %a; }; :", "x=%a; trap '$x' ERR; set -E; (x=%b; false)", "x=%a; trap '$x' DEBUG; set -T; (x=%b; :)",
    "x=%a; trap '$x' EXIT; f() { local x=%b; exit; }; f", "f() { %b; }; trap f EXIT; cat && exit; unset -f f",
    "f() { %b; }; trap f ERR; set -E; (f() { %a; }; false)", "f() { %a; }; trap f ERR; set -E; (f() { %b; }; false)",
    "x=%b; shopt -s extdebug; trap '[[ $BASH_COMMAND != x=* ]]' DEBUG; x=%a; $x", "trap 'x=%b' USR1; x=%a; kill -USR1 $$; $x",
    "trap 'shift' DEBUG; set -- %a %a %a %b; \"$1\"; \"$1\"; \"$1\"", "trap '%b' RETURN; f() { :; }; set -T; f", "trap %b ERR; false",
    "mapfile -tC '%b' -c1 a <<< x", "mapfile -C '%a() { %b; }; :' -c1 a <<< x; %a", "mapfile -C 'x=%b; :' -c1 a <<< x; x=%a; $x",
    "readarray -t -c1 -C%b a <<< x", "compgen -fW '$(%b)' x", "compgen -oplusdirs -W '$(%b)' x", "compgen -C %b x", "compgen -F f x; f() { %b; }; compgen -F f x",
    "PS4='$(%b)'; set -x; :", "PS4='$(%b)' /bin/bash -xc :", "PS4='$(%b)'; export PS4; /bin/bash -xc :", "BASH_ENV='$(%b)' /bin/bash -c :",
    "echo %b > e; BASH_ENV=e /bin/bash -c :", "echo %b > e; export BASH_ENV=$PWD/e; /bin/bash -c :", "BASH_XTRACEFD=2 PS4='`%b`' /bin/bash -o xtrace -c :",
    "PROMPT_COMMAND=%b /bin/bash --norc -i", "PS1='$(%b)' /bin/bash --norc -i", "/usr/bin/env PS4='$(%b)' SHELLOPTS=xtrace /bin/bash -c :",
    "set -o history; history -s %b; fc -s", "set -o history -o histexpand\nhistory -s %b\n!!", "set -o history\necho %b > h; history -r h; fc -s",
    "shopt -s expand_aliases\nalias z=%b\ntrap z ERR\nfalse\nalias z=%a\n", "trap -- %b 0", "trap - 0; trap '%b' 0; trap -p",
    "trap '%b' EXIT; exec %a", "(trap '%b' EXIT)", "f() { trap '%b' RETURN; }; f", "trap 'f() { %b; }' DEBUG; f() { %a; }; f",
]

ALIASES = [
    "set -o posix\nalias %a=%b\n%a", "POSIXLY_CORRECT=1\nalias %a=%b\n%a", "shopt -so posix\nalias %a=%b\n%a", "set -oposix\nalias %a=%b\n%a",
    "declare POSIXLY_CORRECT=y\nalias %a=%b\n%a", "read POSIXLY_CORRECT <<< y\nalias %a=%b\n%a",
    "shopt -s expand_aliases; alias %a=%b; : $(%a)", "shopt -s expand_aliases; alias %a=%b; : `%a`", "shopt -s expand_aliases; alias %a=%b; cat <(%a)",
    "shopt -s expand_aliases; alias %a=%b; f() { : $(%a); }; f", "shopt -s expand_aliases\nalias %a=%b\nunalias %a; : $(%a)",
    "shopt -s expand_aliases\nalias z=%a\nalias z=%b; : $(z)", "shopt -s expand_aliases\nBASH_ALIASES[%a]=%b\n%a",
    "shopt -s expand_aliases\nBASH_ALIASES+=([%a]=%b)\n%a", "shopt -s expand_aliases\nprintf -v 'BASH_ALIASES[%a]' %b\n%a",
    "shopt -s expand_aliases\nread 'BASH_ALIASES[%a]' <<< %b\n%a", "shopt -s expand_aliases\ndeclare 'BASH_ALIASES[%a]=%b'\n%a",
    "shopt -s expand_aliases\nalias %a=%b; eval %a", "shopt -s expand_aliases\nbuiltin alias %a=%b\n%a", "shopt -s expand_aliases\nalias -p %a=%b\n%a",
    "shopt -qs expand_aliases\nalias -- %a=%b\n%a", "shopt -s expand_aliases\nalias z='eval ' %a=%b\nz %a", "shopt -s expand_aliases\nalias z='%b '\\'''\nz x'",
    "i=0; shopt -s expand_aliases; while ((i++ < 2)); do eval %a; alias %a=%b; done", "shopt -s expand_aliases\nalias f='%b; f'\nf() { %a; }\nf",
    "/bin/bash -O expand_aliases -c 'alias %a=%b\n%a'", "/bin/bash --posix -c 'alias %a=%b\n%a'", "/bin/sh -c 'alias %a=%b\n%a'",
    "BASHOPTS=x; /usr/bin/env BASHOPTS=expand_aliases /bin/bash -c 'alias %a=%b\n%a'", "POSIXLY_CORRECT=1 /bin/bash -c 'alias %a=%b\n%a'",
    "/bin/sh -c '$(echo \"%b\\0040a\")'", "alias %a=%b\nset -o posix\n%a", "hash -p /mnt/bin/%b %a; %a", "BASH_CMDS[%a]=/mnt/bin/%b; %a",
    "printf -v 'BASH_CMDS[%a]' /mnt/bin/%b; %a", "enable -n echo; echo %a",
]

VARIABLES = [
    "x=%a; f() { $x; }; set -k; f x=%b", "x=%a; f() { $x; }; set -o keyword; f x=%b", "set -o posix; x=%a; x=%b :; $x", "set -o posix; x=%a; x=%b eval :; $x",
    "x=%b; f() { local -I x; ${x:-%a}; }; f", "shopt -s localvar_inherit; x=%b; f() { local x; ${x:-%a}; }; f", "x=%a; f() { local x=z; declare -g x=%b; }; f; $x",
    "x=%a; x=%b export x; $x", "x=%a; x=%b readonly x; $x", "x=%a; x=%b declare -x x; $x", "x=%a; x=%b unset x; ${x:-%b}", "x=%a; declare -n y=x; unset y; ${x:-%b}",
    "x=%a; declare -n y=x; while [ -z $z ]; do y=%b; z=1; done; $x", "x=%a; declare -n y=x; %maybey=%b; $x", "x=%a; f() { local -n y=$1; y=%b; }; f x; $x",
    "x=%a; declare -n y=x; read y <<< %b; $x", "x=%a; declare -n y=x; printf -v y %s %b; $x", "x=%a; declare -n y=x; for i in 1 2; do y=%b; done; $x",
    "x=%a; declare -n y; y=x; y=%b; $x", "x=%a; declare -n y=x; : ${y:=%b}; unset x; : ${y:=%b}; $x", "x=%a; declare -n y=x; y+=; ((y=1)); x=%a; mapfile -t y <<< %b; $x",
    "readonly x=%b; f() { local x=%a; $x; }; f; $x", "declare -i x; declare +i x; x=%b; $x", "declare -u x; declare +u x; x=%b; $x", "x=%b; declare -A x; ${x:-%a}",
    "x=(%b); declare -A x; ${x:-%a}", "declare -a 'y=(%b)'; ${y[0]}", "declare -a 'y=($(%b))'", "x='($(%b))'; declare -a y=\"$x\"", "y=(); declare y='(%b)'; ${y[0]}",
    "f() { local -a 'y=($(%b))'; }; f", "readonly -a 'y=($(%b))'", "export -a 'y=($(%b))'", "declare -A 'y=([$(%b)]=1)'", "declare -A y; declare 'y=([a]=`%b`)'",
    "BASH_ARGV0=%b; $0", "OPTIND=%b; $OPTIND", "unset RANDOM; RANDOM=%b; $RANDOM", "x=%b; : > no/f && x=%a; $x", "x=%b; declare x=%a > no/f; $x", "x=%b; { x=%a; } > no/f; $x",
    "x=%b; read x <<< %a > no/f; $x", "set -- %b; set -- %a >&7; \"$@\"", "x=%b; f() { x=%a; }; f < no; $x", "x=%b; if :; then x=%a; fi 2> no/f; $x", "x=%b; x=%a > no/f; $x",
    "x=%b; eval x=%a 2> no/f; $x", "x=%b; for i in 1; do x=%a; done < no; $x", "x=%a; unset x 3< no; ${x:-%b}; $x", "exec 1>&-; x=%b; declare x=%a >&1; $x",
    "unset x; case a in a) ;; ${x:=%a}) ;; esac; ${x:-%b}", "unset x; y=${x:=%b} > f${x:=%a}; $x", "set -- %a; . /dev/stdin z <<< 'set -- %b'; \"$@\"",
    ". /dev/stdin <<< 'x=%b; return; x=%a'; $x", "f() { . /dev/stdin <<< 'x=%b; return; x=%a'; $x; }; f", "eval 'x=%b; cat && return; x=%a'; $x",
    "x=%b; shopt -s failglob; : no*; x=%a\n$x", "shopt -s nocasematch; x=XX; ${x/xx/%b}", "shopt -s nocasematch; x=A%b; ${x/a}", "shopt -s xpg_echo; $(echo '%b\\0040a')",
    "f() { local -; set -f; }; f; /mnt/bin/%b*", "set -f; f() { set +f; }; %maybef; /mnt/bin/%b*", "shopt -s compat42; x=a; ${x/a/'%b'}", "x='%b a'; %maybeIFS=; $x",
    "x=%a; %maybeeval 'x=%b'; $x", "x=%a; f() { x=%b; %maybereturn; x=%a; }; f; $x", "x=%a; (x=%b; $x); { x=%b; } | cat; $x", "shopt -s lastpipe; x=%a; : | x=%b; $x",
    "x=%a; : {x}> f; $x; x=%b; $x", "x=(%a %b); i=0; ${x[i++]}; ${x[i]}", "x=%a; y=x; printf -v $y %s %b; $x", "x=%a; y=x; read $y <<< %b; $x", "x=%a; y=x; declare $y=%b; $x",
    "x=%a; y=x; eval $y=%b; $x", "x=%a; y=x; let $y=1; $x; export $y=%b; $x", "x=%a; set -- %b; getopts a: x -a; for x; do :; done; $x", "set -- %a %b; shift $(($#-1)); $1",
    "set -- a %b; f() { shift; $1; }; f %a %b; shift; $1", "x=%a; coproc x { :; }; x=%b; $x", "x=%a; select x in %b; do break; done <<< 1; $x", "x=%a; wait -p x; x=${x:-%b}; $x",
    "IFS=1; set -- %a %b; x=\"$*\"; IFS=' '; $2", "x=${@:0:1}; set -- %b; ${@:1}", "_=%a; : %b; $_", "x=$'%b\\0z'; $x", "x=$'%b\\c@z'; $x", "x=$\"%b\"; $x", "{%b,a}", "~/../mnt/bin/%b",
    "x=%a; ((x=0)); unset x; x=${x-%b}; $x", "x=%a; x+=x; x=${x%x}; x=${x/%a/%b}; $x", "declare -l x=%a; x=%b; $x", "x=$(declare -p PWD; echo); x=%b; $x", "y='x=%b'; declare $y; $x",
    "export x=%a; /bin/bash -c '$x'; x=%b; /bin/bash -c '$x'", "x=%b /bin/bash -c '$x'", "/bin/bash -c '$0' %b", "/bin/bash -c '\"$@\"' x %b", "/bin/bash <<< %b",
    "echo %b > s; . ./s", "exec 3> s; echo %b >&3; . ./s", "{ echo %b; } > s; . ./s", "f() { echo \"$1\" > s; }; f %b; . ./s", "cat > s <<< %b; /bin/bash s", "echo %a > s; echo %b >> s; . ./s",
    "echo '%b' | cat > s; . ./s", "history -s %b; history -w s; . ./s", "declare -p PWD > s; x=%b; $x", "printf '%s\\n' %b | /bin/bash", "echo %b > s; /bin/bash < s",
]

ARITHMETIC = [
    "y='b[$(%b)]'; ((a[y]))", "y='b[$(%b)]'; (($# + RANDOM + y))", "y='b[$(%b)]'; x='a[$y]'; ((x))", "y='b[$(%b)]'; x='a[y]'; ((x))", "x='a[$(%b)]'$RANDOM; ((x))",
    "declare -i x; x+='a[$(%b)]'", "declare -ia x; x=('a[$(%b)]')", "declare -ia x; mapfile -t x <<< 'a[$(%b)]'", "declare -ia x; read -a x <<< 'a[$(%b)]'", "declare -i x; read x <<< 'a[$(%b)]'",
    "declare -i x; for x in 'a[$(%b)]'; do :; done", "f() { local -i x='a[$(%b)]'; }; f", "x='a[$(%b)]'; : ${HOSTNAME:x}", "x='a[$(%b)]'; : ${HOSTNAME:0:x}", "x='a[$(%b)]'; : ${@:x}",
    "x='b[$(%b)]'; a=(1); unset 'a[x]'", "x='b[$(%b)]'; a=(1); test -v 'a[x]'", "x='b[$(%b)]'; [[ -v a[x] ]]", "x='b[$(%b)]'; printf -v 'a[x]' 1", "x='b[$(%b)]'; read 'a[x]' <<< 1",
    "x='b[$(%b)]'; declare 'a[x]=1'", "x='b[$(%b)]'; a[x]=1", "x='b[$(%b)]'; a=([x]=1)", "x='b[$(%b)]'; : {a[x]}> f", "x='a[$(%b)]'; : ${!x}", "x='a[$(%b)]'; : ${!x:-1}", "RANDOM='a[$(%b)]'",
    "SECONDS='a[$(%b)]'", "LINENO='a[$(%b)]'", "x='a[$(%b)]'; declare -n y=$x; : $y", "declare -n y='a[$(%b)]'; y=1", "x='a[$(%b)]'; [[ $x -eq 1 ]]", "x='a[$(%b)]'; [[ x -eq 1 ]]", "x='a[$(%b)]'; [[ $RANDOM -eq x ]]",
    "x='a[$(%b)]'; let y=x", "x='a[$(%b)]'; let 'y+=x+z'", "x='a[$(%b)]'; : $[x]", "x='a[$(%b)]'; for ((i=0; i<x; i++)); do :; done", "x='a[$(%b)]'; y=(1 2); : ${y[x]} ${#y[x]}",
    "x='a[`%b`]'; ((x))", "x='a[$(%b)]'; y=x; ((y))", "x='a[$(%b)]'; y=x; : $((${y}))", "x='a[$(%b)]'; ((z = 1 ? x : 0))", "x='a[$(%b)]'; ((0 || x))", "x='a[$(%b)]'; ((0 && x)) || ((x++))",
    "x='a[$(%b)]'; : ${y[$x]}", "x='a[$(%b)]'; : $((y[$x]))", "wait -p 'a[$(%b)]'", "getopts a 'b[$(%b)]' -a", "x='a[$(%b)]'; while ((x)); do :; done", "x='a[$(%b)]'; shift x",
    "x='a[$(%b)]'; declare -i y=x", "x='a[$(%b)]'; declare -i y; %maybey=x", "x='a[$(%b)]'; declare -i y; y=z; z=x; y=z", "x='a[${z:-$(%b)}]'; ((x))", "z='$(%b)'; x='a[${z@P}]'; ((x))",
    "x='a[$(<f; %b)]'; ((x))", "x='a[b[$(%b)]]'; ((x))", "x='a[\"$(%b)\"]'; ((x))", "declare -A m; k='x[$(%b)]'; ((m[$k]++))", "declare -A m; k='$(%b)'; unset \"m[$k]\"", "declare -A m; k='$(%b)'; [[ -v m[$k] ]]",
    "k='$(%b)'; test -v \"a[$k]\"", "x='a[$(%b)]'; [ -v $x ]", "x='a[$(%b)]'; printf -v $x 1", "x='a[$(%b)]'; export x; /bin/bash -c '((x))'", "x='a[$(%b)]' /bin/bash -c ': $((x))'",
]

INPUT = [
    "printf '%a\\n%b\\n' | { f() { read y; }; f; read x; $x; }", "printf '%a\\n%b\\n' | { { read y; } <&0; read x; $x; }", "printf '%a\\n%b\\n' | { read y <&0; read x; $x; }",
    "printf '%a\\n%b\\n' | { read y < /dev/stdin; read x; $x; }", "printf '%a\\n%b\\n' | { select i in a; do break; done; read x; $x; }", "printf '%a\\n%b\\n' | { exec 3<&0; read y <&3; read x; $x; }",
    "printf '%a\\n%b\\n' | { read -u 0 y; read x; $x; }", "printf '%a\\n%b\\n' | { read y 3<&0 <&3; read x; $x; }", "printf '%a\\n%b\\n' | { (read y); read x; $x; }", "printf '%a\\n%b\\n' | { y=$(read y <&0); read x; $x; }",
    "exec 3<<<%b; read x <&3 3<<<%a; $x", "exec 3<<< '%a\n%b'; read y <&3; read x <&3; $x", "{ read y <&3; read x <&3; $x; } 3<<< '%a\n%b'", "exec 3<<< '%a\n%b'; for i in 1 2; do read x <&3; $x; done",
    "exec <<< '%a\n%b'; read y; read x; $x", "echo %a | { command exec <<< %b; read x; $x; }", "echo %a | { exec <<< %b; read x; $x; }", "echo %a | { f() { exec <<< %b; }; f; read x; $x; }",
    "{ read y; read x; $x; } <<< '%a\n%b'", "f() { read y; read x; $x; }; f <<< '%a\n%b'", "while read x; do $x; done <<< '%a\n%b'", "mapfile -t x <<< '%a\n%b'; ${x[1]}", "read -d z x <<< %bz; $x",
    "read -a x <<< '%a %b'; ${x[1]}", "IFS=, read x y <<< %a,%b; $y", "IFS=, read -r x y <<< %a,%b; $y", "read x y <<< '%a %b'; $y", "read <<< %b; $REPLY", "read x <<< '%b\\\\\n'; $x", "read -N 2 x <<< %b; $x",
    "printf '%a\\n%b\\n' | { cat <&0 > f & wait; read x; $x; }", "printf '%a\\n%b\\n' | { eval 'read y'; read x; $x; }", "printf '%a\\n%b\\n' | { builtin read y; read x; $x; }", "printf '%a\\n%b\\n' | { if read y; then read x; $x; fi; }",
    "exec 3<<< 'cat <<E\n%b\nE'; read y <&3; /bin/bash <&3", "printf 'cat <<E\\n%b\\nE\\n' | { read y; /bin/bash; }", "printf 'cat <<E\\n%b\\nE\\n' | { read y <&0; /bin/bash; }", "printf 'cat <<E\\n%b\\nE\\n' | { f() { read y; }; f; /bin/bash; }",
    "printf 'cat <<E\\n%b\\nE\\n' | { f() { read y; }; f; . /dev/stdin; }", "printf ': <<E\\n%b\\nE\\n' | while read y; do /bin/bash; done", "{ read y; /bin/bash; } <<< ': <<E\n%b\nE'", "{ read y <&0; /bin/bash; } <<< ': <<E\n%b\nE'",
    "exec <<< ': <<E\n%b\nE'; read y; /bin/bash", "f() { read y; /bin/bash; }; f <<< ': <<E\n%b\nE'", "for i in 1; do read y; /bin/bash; done <<< ': <<E\n%b\nE'", "(read y; /bin/bash) <<< ': <<E\n%b\nE'",
    "exec 3<<< ': <<E\n%b\nE'; read -u 3 y; /bin/bash <&3", "exec 3<<< ': <<E\n%b\nE'; read -u 3 y; . /dev/fd/3", "{ read -u 3 y; /bin/bash /dev/fd/3; } 3<<< ': <<E\n%b\nE'",
]

UNKNOWN = [
    # What was said once may still hold.
    "cat && x='a[$(%b)]'; ((x))", "cat && k='$(%b)'; test -v \"a[$k]\"", "cat && x='$(%b)'; : ${x@P}", "cat && x='($(%b))'; declare -a y=\"$x\"", "set -- 'a[$(%b)]'; cat || set -- 1; (($1))",
    "set -- '$(%b)'; cat || set -- 1; test -v \"a[$1]\"", "mapfile -t x <<< 'a[$(%b)]'; ((x))", "read -a x <<< 'a[$(%b)]'; ((x[0]))", "x=('a[$(%b)]'); cat || x=(1); ((x))", "cat && x='a[$(%b)]'; : ${!x}",
    "cat && x=%b; trap \"$x\" EXIT", "cat && x=%b; mapfile -C \"$x\" -c1 y <<< z", "cat && x=%b; compgen -C \"$x\" y", "cat && x='$(%b)'; compgen -W \"$x\" y", "cat && x=%b; eval \"$x\"", "cat && x=%b; . <(echo $x)",
    "cat && x=%b; /bin/bash -c \"$x\"", "cat && x=%b; /bin/bash <<< \"$x\"", "cat && x=%b; echo $x | /bin/bash", "cat && x=%b; echo $x > s; . ./s", "cat && x=%b; exec $x", "cat && x=%b; command $x", "cat && x=%b; coproc $x; wait",
    "cat && x=%b; alias %a=$x\nshopt -s expand_aliases\n%a", "cat && x=%b; f() { $1; }; f $x", "cat && x=%b; set -- $x; $1", "cat && x=%b; y=($x); ${y[0]}", "cat && x=%b; printf -v y %s $x; $y", "cat && x=%b; y=$x; export y; /bin/bash -c '$y'",
    "/bin/bash -ni <<< %b", "/bin/bash -n -c %b -i", "/bin/bash +n -c %b", "/bin/bash -o noexec -i -c %b", "cat || eval() { :; }; eval %b", "cat && :() { %b; }; :",
    "if cat; then f() { %b; }; fi; f", "cat || unset x; x=${x-%b}; $x", "x=$(cat; echo %b); $x", "x=`cat`%b; $x", "%b$(cat)", "$(cat)%b", "\"$(cat)\"%b", "${no}%b", "{%b,a}", "x=; $x %b", "$(:) %b", "$no %b", "$@ %b", "\"$@\" %b", "$* %b",
    "a=%b; b=$a; c=${b}; \"$c\"", "a=(x %b); ${a[-1]}", "a=([5]=%b); ${a[@]}", "declare -A m=([k]=%b); ${m[k]}", "declare -A m; m[k]=%b; \"${m[@]}\"", "x=a%b; ${x:1}", "x=%bz; ${x::-1}", "x=%b; ${x@E}", "x=%b; ${x@L}", "x=R2; ${x,}", "x=2; r$x",
]

MISTAKES = [
    "x=%b; let 'y=' 'x=2'; $x", ": $(f() { %b; }\n: $((1/0)); f() { %a; }\nf)", ": $(shopt -s expand_aliases\nalias %a=%b\n%a)", ": $(shopt -s expand_aliases\nalias z=%b\nz)", "cat && x='a[$(%b)]'; printf -v $x 1", "cat && x='a[$(%b)]'; read $x <<< 1",
    # A builtin that is called wrongly does nothing.
    "set -- %b; set -Z -- %a; \"$@\"", "set -- %b; set -o no -- %a; \"$@\"", "x=%b; declare -Z x=%a; $x", "x=%b; declare -p x=%a; $x", "x=%b; readonly -i x=%a; $x", "x=%b; export -Z x=%a; $x", "x=%b; export -p x=%a; $x",
    "f() { local -Z x=%a; $x; }; x=%b; f", "f() { %b; }; unset -fv f; f", "x=%a; unset -fv x; ${x:-%b}", "x=%a; unset -Z x; ${x:-%b}", "set -- %a %b; shift 1 2; $1", "set -- %b %a; shift 1 2; $1", "set -- %b %a; shift -Z; $1",
    "x=%b; command -Z declare x=%a; $x", "x=%b; builtin -- eval x=%a; $x", "builtin -- eval %b", "command -p -- eval %b", "command -pp eval %b", "builtin builtin eval %b", "command -- command -p eval %b", "exec -a x %b", "exec -cl %b", "exec -- %b",
    "shopt -s expand_aliases\nalias z=%b\nunalias -Z z\nz", "shopt -s expand_aliases\nalias z=%b\nshopt -su expand_aliases\nz", "x=%b; read -Z x <<< %a; $x", "x=%b; printf -Z -v x %a; $x", "x=%b; printf -v x -- %a; $x", "x=%b; printf -v; $x",
    "x=%b; mapfile -Z x <<< %a; $x", "x=%b; let; $x", "x=%b; eval -Z x=%a; $x", "x=%b; . -Z; $x", "x=%b; trap 'x=%a' NO; $x", "x=%b; enable -n declare; declare x=%a; $x", "x=%b; enable -n eval; eval x=%a; $x", "set -- %b; enable -n set; set -- %a; $1",
    "f() { %b; }; readonly -f f; f() { %a; }; f", "f() { %b; }; declare -rf f; f() { %a; }; f", "f() { %b; }; readonly -f f; unset -f f; f", "f() { %b; }; typeset -fr f; { f() { %a; }; }; f",
    "shopt -s expand_aliases\nalias %b=%a > no/f\n%b", "shopt -s expand_aliases\neval 'alias %b=%a' > no/f\n%b", "shopt -s expand_aliases\n{ alias %b=%a; } > no/f\n%b",
    "shopt -s expand_aliases\nf() { cat && return; g; }; g() { alias %b=%a; }; f\n%b", "shopt -s expand_aliases\nfor i in 1; do cat && break; alias %b=%a; done\n%b", "shopt -s expand_aliases\n. /dev/stdin <<< 'return; alias %b=%a'\n%b",
    "x=%b; declare 1x=2 x=%a; $x", "x=%b; declare -aA x=%a; $x", "x=%b; declare -n x=%a; $x", "readonly x=%b; declare x=%a; $x", "readonly x=%b; read x <<< %a; $x", "readonly x=%b; printf -v x %a; $x", "readonly x=%b; for x in %a; do :; done; $x",
    "readonly x=%b; x=%a :; $x", "readonly x=%b; x=%a eval :; $x", "readonly x=%b; unset x; $x", "readonly x=%b; f() { x=%a; }; f\n$x", "readonly x=%b; ((x=1)); $x", "x=%b; local x=%a; $x", "x=%b; return; x=%a; $x", "x=%b; break; $x", "x=%b; cd a b && x=%a; $x",
]

COURSES = [
    "cat && readonly x=%b; for x in %a; do :; done; $x", "cat && readonly x=%b; x=%a; $x", "cat && readonly x=%b; read x <<< %a; $x", "cat && declare -ia x; x=('a[$(%b)]')", "cat && declare -i x; read x <<< 'a[$(%b)]'", "cat && f() { echo \"$1\" > s; }; f %b; . ./s",
    "cat && f() { x=%b; }; x=%a; f; $x", "cat && f() { x=%a; }; x=%b; cat || f; $x", "cat && cd() { x=%b; }; x=%a; cd /; $x", "cat && read() { %b; }; read x <<< %a", "cat && f() { set -- %b; \"$@\"; }; f", "cat && f() { eval \"$1\"; }; f %b", "f() { :; }; cat && f() { $1; }; f %b",
    # What succeeds, what is left early, and what else is printed.
    "set -o pipefail; x=%b; false | : && x=%a; $x", "declare -i n; x=%b; n=1/0 && x=%a; $x", "x=%b; a[1/0]=1 && x=%a; $x", "x=%b; a[-9]=1 && x=%a; $x", "x=%b; readonly y; y=1 && x=%a; $x", "x=%b; trap : NO && x=%a; $x", "x=%b; shift 9 || x=%a; $x",
    "x=%b; f() { %a; }; readonly -f f; f() { :; } && x=%a; $x", "x=%b; coproc no && x=%a; $x", "x=%b; : ${y[1/0]} && x=%a; $x", "x=%b; declare -r y=1; declare y=2 && x=%a; $x", "x=%b; ! : | false && x=%a; $x", "x=%b; time false && x=%a; $x", "x=%b; (false) && x=%a; $x",
    "x=%b; { false; } && x=%a; $x", "x=%b; if false; then :; fi && x=%a; $x", "x=%b; for i in; do :; done || x=%a; $x", "x=%b; case a in b) ;; esac || x=%a; $x", "x=%b; while false; do :; done && x=%a; $x", "x=%b; f() { return 1; }; f && x=%a; $x", "x=%b; f() { false; }; f || x=%a; $x",
    "x=%b; [[ -n $y ]] && x=%a; $x", "x=%b; [[ -z $HOME ]] && x=%a; $x", "x=%b; ((0)) && x=%a; $x", "x=%b; y=$(false) && x=%a; $x", "x=%b; export y=$(false) || x=%a; $x", "x=%b; eval false && x=%a; $x", "x=%b; [ a = b ] && x=%a; $x", "x=%b; test a && x=%a; $x", "x=%b; read y < /dev/null && x=%a; $x",
    "x=$(trap 'echo %b' EXIT); $x", "x=$(trap 'echo %b' EXIT; :); $x", "set -T; trap 'echo %b' DEBUG; x=$(:); $x", "set -E; trap 'echo %b' ERR; x=$(false); $x", "set -T; trap 'echo %b' DEBUG; : | /bin/bash", "set -T; trap 'echo %b' RETURN; f() { :; }; x=$(f); $x", "x=$(set | cat); $x; %b", "IFS=$' =\n'; x=$(set); $x; %b",
    "alias %b=a; IFS=\" ='\"; x=$(alias); ${x#alias }", "x=$(alias); $x %b", "x=$(shopt -p extglob); $x; %b", "set -T; trap '[[ $BASH_COMMAND == x=%a ]] && return' DEBUG; f() { x=%b; x=%a; }; f; $x", "trap return USR1; f() { x=%b; kill -USR1 $$; x=%a; }; f; $x",
    "trap 'break' USR1; for i in 1; do x=%b; kill -USR1 $$; x=%a; done; $x", "trap 'continue' ERR; for i in 1; do x=%b; false; x=%a; done; $x", "x=%a; i=0; while ((i++ < 2)); do : | x=%b; $x; shopt -s lastpipe; done", "x=%a; i=0; while ((i++ < 2)); do : | x=%b; $x; eval 'shopt -s lastpipe'; done",
    "f() { x=%b; }; x=%a; i=0; while ((i++ < 2)); do $x; compgen -F f y; done", "x=%a; i=0; while ((i++ < 2)); do $x; mapfile -C 'x=%b; :' -c1 y <<< z; done", "x=%a; i=0; while ((i++ < 2)); do $x; printf -v x %s %b; done", "x=%a; i=0; while ((i++ < 2)); do $x; y=x; printf -v $y %s %b; done",
    "x=%a; i=0; while ((i++ < 2)); do $x; : ${x=a} $((y=1)); x=%b; done", "set -- %a %b; i=0; while ((i++ < 2)); do $1; shift; done", "x=%a; i=0; while ((i++ < 2)); do $x; read x <<< %b; done", "x=%a; i=0; until ((i++ > 1)); do $x; for x in %b; do :; done; done", "x=%a; for i in $(echo 1; cat; echo 2); do $x; x=%b; done",
    "x=%a; i=0; while ((i++ < 2)); do $x; f() { x=%b; }; f; done", "x=%a; f() { x=%b; }; i=0; while ((i++ < 2)); do $x; f; done", "x=%a; f() { g; }; g() { x=%b; }; i=0; while ((i++ < 2)); do $x; f; done", "x=%a; i=0; while ((i++ < 2)); do $x; { x=%b; }; done", "x=%a; i=0; while ((i++ < 2)); do $x; getopts a x -a; x=%b; done",
    "x=(%a %b); for ((i=0; i<2; i++)); do ${x[i]}; done", "x=(%a); i=0; while ((i++ < 2)); do ${x[0]}; x[0]=%b; done", "x=(%a); i=0; while ((i++ < 2)); do $x; x+=(%b); x=(\"${x[@]:1}\"); done", "declare -A x=([a]=%a); i=0; while ((i++ < 2)); do ${x[a]}; x[a]=%b; done", "i=0; while ((i++ < 2)); do ${x-%a}; x=%b; done",
    "i=0; while ((i++ < 2)); do ${x:=%a}; x=%b; done", "i=0; while ((i++ < 2)); do case $x in '') x=%b;; *) $x;; esac; done", "i=0; while ((i++ < 2)); do if [[ $x ]]; then $x; fi; x=%b; done", "i=0; x=:; while ((i++ < 2)); do eval $x; x=%b; done", "i=0; x=:; while ((i++ < 2)); do . <(echo $x); x=%b; done",
    "i=0; x=:; while ((i++ < 2)); do /bin/bash -c \"$x\"; x=%b; done", "i=0; x=:; while ((i++ < 2)); do echo $x | /bin/bash; x=%b; done", "i=0; x=:; while ((i++ < 2)); do /bin/bash <<< $x; x=%b; done", "i=0; echo : > s; while ((i++ < 2)); do /bin/bash s; echo %b > s; done", "i=0; while ((i++ < 2)); do trap \"$x\" EXIT; x=%b; done",
]

PRINTED = [
    "$(printf '%b' 'r\\0622' )", "$(printf '\\x72%d' 2) %b", "$(printf '%c%s' rxx 2)", "$(printf '%.2s' r2zzz)", "$(printf '%s' r 2)", "$(printf '%-2s' r2)", "$(printf '%2$s' a r2)", "$(printf 'r%x' 2)", "$(printf '%q' r2)", "$(printf '%(r2)T' 0)",
    "$(printf 'r%d' \"'\\002\")", "$(printf 'r%i' 02)", "$(printf r%u 0x2)", "$(printf 'r2%.0s' a)", "$(printf 'r%b' '2\\c' x)", "$(printf -- r2)", "$(printf -v x r1; echo r2)", "$(echo -e 'r\\x32')", "$(echo -en 'r2\\c z')", "$(echo -nee r2)", "$(echo -E 'r2')", "$(echo -n -e 'r\\0622')",
    "$(echo -e 'r\\u0032')", "$(echo -e 'r2\\e' | cat)", "$(echo r2 -n)", "$(echo -x; echo r2)", "$(echo '#'; echo r2)", "x=$(echo '#'; echo r2); eval \"$x\"", "$(cat - <<< r2)", "$(cat <<E\nr2\nE\n)", "$(cat << 'E' | cat\nr2\nE\n)", "$(<f) r2", "$(printf 'r2\\0x')", "$(printf 'r\\62')",
    "set -- a b; r$#", "x=ab; r${#x}", "x=é; r${#x}1; r$((${#x}+1))", "a=(1 2); r${#a[@]}", "r$((1+1))", "r$[4/2]", "r{2..2}", "r{2,}", "{r2..r2}", "r${x:+2}${x:-2}", "HOME=r2; ~", "OLDPWD=r2; ~-", "PWD=r2; ~+", "x=~; HOME=r2; $x; y=~; $y", "x=R2; ${x,,}", "x=r2x; ${x%x}", "x=xr2; ${x#?}", "x=arb; x=${x/a}; ${x/b/2}",
    "x=r.2; ${x//.}", "x='r\\2'; eval $x", "x=r2; y='$x'; eval $y", "eval eval '\\$(echo r2)'", "eval 'r2' '#' x", "eval $'cat <<E\\nE\\nr2'", "a=(r1 r2); a=(\"${a[@]:1}\"); $a", "a=(r1 r2); ${a[@]/r1/:}", "a=(x r2); ${a[*]:1:1}", "a=(r2); ${a[@]@Q}", "x=r2; ${x@U}; ${x@u}; ${x@Q}", "IFS=x; a=rx2; r$a; IFS=; $a",
    "x=2; r$x$y", "x='r2 a'; $x; \"$x\"", "IFS=-; x=r2-a; $x", "IFS=; x='r2 a'; $x; unset IFS; $x", "IFS=2; set -- r r; x=\"$*\"; IFS=' '; $x", "IFS=2; set -- r r; $*; x=$*; IFS=; $x", "x=(r 2); IFS=; \"${x[*]}\"", "IFS=,; x=\"${*:-r2}\"; $x", "shopt -s extglob; x=r2aa; ${x%+(a)}", "x=r2aa; ${x%+(a)}; ${x%a*}", "x=r2[a]; ${x%\\[a]}",
]

ALL = FUNCTIONS + TRAPS + ALIASES + VARIABLES + ARITHMETIC + INPUT + UNKNOWN + MISTAKES + COURSES + PRINTED


def spelled(trick, said, run, maybe):
    return trick.replace("%maybe", maybe).replace("%a", said).replace("%b", run)
