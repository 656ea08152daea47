#!/usr/bin/python3
"""What bash runs, against what we say that it runs. Scripts are grown from the places where a text is read twice or in two
ways (quotes, arrays, substitutions, here-documents, parentheses, functions), and spoiled a little. Every program in them is
a recorder. One that ran without having been named, in a script that nobody would be asked about, is a hole. tricks.py holds
what is known to mislead; each is tried as it is, and as a part of others.

Usage: runs.py COUNT [SEED]: so many are grown. They run in bubblewrap: without a network, without rights, in memory.
"""
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

import tricks

PROGRAMS = [f"r{number}" for number in range(1, 10)]
SPOILERS = ["(", ")", "((", "))", "'", '"', "`", "\\", "\\'", '\\"', "\n", "$(", "${", "}", "<<'EOF'\n", "\nEOF\n", "<<EOF\n", "#", " # ",
            ";", "&", "|", "$'", "a=(", "[[ ", " ]]", "{ ", "; }", "\\\n", "esac", "done", "fi", "\\\\", "$((", "<(", "case a in a) ",
            "if :; then ", "for i in a; do ", "<<<", "!", "$", '$"', ";;", "coproc ", "time ", "function g ", "x=", "\t", "@(", "*)"]


class Grower:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.calls = 0

    def program(self):
        self.calls += 1
        return PROGRAMS[self.calls % len(PROGRAMS)]

    def one_of(self, makers):
        made = self.random.choice(makers)
        return made() if callable(made) else made

    def hidden(self):
        """A program on a line of its own, in what should be data."""
        return self.random.choice(["x ", "\n", "; ", ") "]) + self.program() + "\n"

    def word(self, depth):
        plain = ["a", "b", "x1", "'q'", '"q"', "\\a", "--", "''", "$x", '"$x"', "a\\ b", "\\\\", "\\;"]
        if depth > 3 or self.random.random() < 0.2:
            return self.random.choice(plain)
        inner = lambda: self.word(depth + 1)
        commands = lambda: self.commands(depth + 1)
        return self.one_of([
            lambda: f"$({commands()})", lambda: f'"$({commands()})"', lambda: f"<({commands()})", lambda: f"`{self.program()} a`",
            lambda: f'"`{self.program()} \\"a\\"`"', lambda: f"'{self.hidden()}'", lambda: f'"{self.hidden()}"',
            lambda: f"$'\\'{self.hidden()}'", lambda: f"${{x:-{inner()}}}", lambda: f'"${{x:-{inner()}}}"', lambda: f"${{x#{inner()}}}",
            lambda: "${x/" + self.random.choice(["'", "a", "\\'"]) + f"/{inner()}}}", lambda: f"$((1+{self.program()}))",
            lambda: f"$((1+$({self.program()})))", "$[1+1]", lambda: f"{{a,{inner()}}}", lambda: f"#{inner()}", lambda: f"@({inner()}|b)",
            lambda: self.random.choice(["\\'", '\\"', "\\`", "\\(", "\\)", "\\$", "\\#", "\\\n"])])

    def here_document(self, depth):
        mark = self.random.choice(["'EOF'", '"EOF"', "EOF", "E\\OF", "-'EOF'", "-EOF"])
        rest = self.one_of(["", "", lambda: f" | {self.program()}", lambda: f"; {self.program()}", lambda: f" && {self.program()}", ")"])
        before = self.one_of(["", "x\n", lambda: self.word(depth + 1) + "\n", "'\n", '"\n', "$(\n", "\\\n"])
        return f"{self.random.choice(['cat', ':'])} <<{mark}{rest}\n{before}{self.program()}\nEOF\n"

    def indirect(self):
        """A program that is named by what came before; sometimes only if something succeeds."""
        first, second, maybe = self.program(), self.program(), self.random.choice(["", ": && ", "! : || ", "cat && ", "cat || ", "[ -e a ] && "])
        return self.one_of([
            f"x={first}; {maybe}x={second}; $x", f"x={first}; {maybe}unset x; ${{x:-{second}}}", f"set -- {first}; {maybe}set -- {second}; \"$@\"",
            f"f() {{ {first}; }}; {maybe}f() {{ {second}; }}; f", f"f() {{ {maybe}return; {first}; }}; f", f"{maybe}unset -f f; f",
            f"f() {{ {maybe}f() {{ {first}; }}; f; }}; f", f"g() {{ f() {{ {first}; }}; }}; {maybe}g; f", f"eval \"f() {{ {first}; }}\"; {maybe}f",
            f"y=x; x={first}; {maybe}declare -n y=x; {maybe}y={second}; $x", f"a=({first} {second}); {maybe}a=({second}); ${{a[0]}}",
            f"x=$(echo {first}); {maybe}x={second}; $x", f"x='{first} a'; {maybe}IFS=1; $x", f"printf -v x %s {first}; {maybe}x={second}; $x",
            f"read x <<< {first}; {maybe}read x <<< {second}; $x", f"trap {first} EXIT; {maybe}trap {second} EXIT",
            f"shopt -s expand_aliases\nalias z={first}\n{maybe}alias z={second}\nz", f"for x in {first} {second}; do {maybe}break; $x; done; $x",
            f"while read x; do $x; done <<< {first}", f"until {maybe}x={first}; do :; done; $x", f"case a in a) x={first};; esac; {maybe}x={second}; $x",
            f"({maybe}x={first}; $x); $x", f"x={first} eval '$x'; {maybe}x={second}; $x", f"f() {{ local x={first}; g; }}; g() {{ $x; }}; {maybe}x={second}; f; g",
            f"x={first}; {{ {maybe}x={second}; }} | cat; $x", f"x=({first}); {maybe}x+=({second}); ${{x[-1]}}", f"set -e; {maybe}false; {first}",
            f"x={first}; {maybe}x=${{x/1/2}}; $x", f"command {first}; {maybe}exec {second}", f"{maybe}. <(echo {first})", f"source /dev/stdin <<< '{first}'",
            f"coproc {{ {maybe}{first}; }}; wait", f"x={first}; let '{maybe and 'y=1'}' 'x=2'; $x", f"f() {{ x={first}; }}; {maybe}f; $x",
            f"x={first}; readonly x; {maybe}x={second}; $x", f"PS4={first}; x='$({second})'; echo ${{x@P}}", f"x=y; y={first}; {maybe}y={second}; ${{!x}}"])

    def trick(self):
        maybe = self.random.choice(["", "", ": && ", "! : || ", "cat && ", "cat || ", "[ -e a ] && "])
        return tricks.spelled(self.random.choice(tricks.ALL), self.program(), self.program(), maybe)

    def command(self, depth):
        if depth > 3 or self.random.random() < 0.2:
            return f"{self.program()} {self.random.choice(['', 'a', chr(39) + 'b' + chr(39)])}"
        if self.random.random() < 0.25:
            return self.one_of([self.indirect, self.trick])
        words = lambda most: " ".join(self.word(depth + 1) for _ in range(self.random.randrange(most + 1)))
        commands = lambda: self.commands(depth + 1)
        return self.one_of([
            lambda: f": {words(3)}", lambda: f"a=({words(3)})", lambda: f"declare a=({words(2)})", lambda: f"x={self.word(depth + 1)}",
            lambda: f"( {commands()} )", lambda: f"(({commands()}) )", lambda: f"(({commands()});{commands()})", lambda: f"{{ {commands()}; }}",
            lambda: f"if {self.random.choice([':', '! :', self.program()])}; then {commands()}; fi",
            lambda: f"for i in 1 {words(1)}; do {commands()}; done",
            lambda: f"case {self.random.choice(['a', 'x'])} in {self.random.choice(['a)', '(a)', 'a|b)', 'x) ;; a)'])} {commands()}"
                    f"{self.random.choice([';;', ' ;;', '', ';&'])} esac",
            lambda: f"{self.random.choice('fg')}() {{ {commands()}; }}; {self.random.choice('fg')}", lambda: self.here_document(depth),
            lambda: f": # {self.random.choice(['', chr(39), chr(34), '(', '`', '$('])} {self.program()}\n",
            lambda: f"[[ a == {self.word(depth + 1)} ]]", "[[ a =~ (a|b) ]]", "[[ a =~ \\( ]]", lambda: f"! {self.command(depth + 1)}",
            lambda: f"time {self.command(depth + 1)}", lambda: f"eval '{self.program()} x'", lambda: f'eval "{self.program()}"',
            lambda: f": <<< {self.word(depth + 1)}", "((x=1))"])

    def commands(self, depth):
        text = self.command(depth)
        for _ in range(self.random.randrange(3)):
            text += self.random.choice(["; ", "\n", " && ", " || ", " | ", "\n", " &\n"]) + self.command(depth)
        return text

    def spoil(self, text):
        at, length = self.random.randrange(len(text) + 1), self.random.randrange(8)
        return self.one_of([lambda: text[:at] + text[at + 1:], lambda: text[:at] + text[at + length:],
                            lambda: text[:at] + self.random.choice(SPOILERS) + text[at:],
                            lambda: text[:at] + self.random.choice(SPOILERS) + text[at + 1:],
                            lambda: text[:at] + text[at:at + length] + text[at:]])

    def script(self):
        text = f"{self.commands(0)}\n{self.commands(0)}\n{self.program()}\n"
        for _ in range(self.random.choice([0, 1, 1, 2, 2, 3])):
            text = self.spoil(text)
        return text


def run_all(place):
    """Inside bubblewrap: each script by bash; a line with what it ran."""
    def bounded():
        os.setsid()
        for limit, most in ((resource.RLIMIT_CPU, 1), (resource.RLIMIT_NPROC, 200), (resource.RLIMIT_FSIZE, 1 << 20)):
            resource.setrlimit(limit, (most, most))
    with open(f"{place}/scripts") as scripts:
        for number, line in enumerate(scripts):
            work, record = f"/tmp/work{number}", f"/tmp/record{number}"
            os.mkdir(work)
            environment = {"PATH": f"{place}/bin", "HOME": work, "LC_ALL": "C.UTF-8", "RECORD": record, "RECORD_FILE": "1"}
            running = subprocess.Popen(["/bin/bash", "--norc", "--noprofile", "-c", json.loads(line)["command"]], cwd=work, env=environment,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=bounded)
            try:
                running.wait(5)
            except subprocess.TimeoutExpired:
                pass
            try:
                os.killpg(running.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            running.wait()
            ran = set()
            if os.path.exists(record):
                with open(record, "rb") as file:
                    ran = {os.path.basename(call.split(b"\0")[0]).decode() for call in file.read().split(b"\0\1\0") if call}
            print(json.dumps(sorted(ran)), flush=True)
            shutil.rmtree(work, ignore_errors=True)


def main():
    if sys.argv[1] == "--inside":
        return run_all(sys.argv[2])
    count, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    if not shutil.which("bwrap"):
        print("skipped: needs bubblewrap")
        return 77
    bin_dir = os.environ["CORDON_BIN"]
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        os.mkdir(f"{place}/bin")
        for program in PROGRAMS:
            shutil.copy(f"{bin_dir}/shell_recorder", f"{place}/bin/{program}")
        shutil.copy("/usr/bin/cat", f"{place}/bin/cat")
        for part in (__file__, tricks.__file__):
            shutil.copy(part, place)
        texts = [tricks.spelled(trick, "r1", "r2", "") for trick in tricks.ALL]
        texts += [Grower(seed * 1_000_000 + number).script() for number in range(count)]
        count = len(texts)
        with open(f"{place}/scripts", "w") as file:
            file.writelines(json.dumps({"command": text}) + "\n" for text in texts)
        with open(f"{place}/scripts") as file:
            checked = subprocess.run([f"{bin_dir}/cordon", "check", "--batch"], stdin=file, capture_output=True, check=False,
                                     env={**os.environ, "HOME": place, "CORDON_STATE_DIR": f"{place}/state"})
        said = [json.loads(line) for line in checked.stdout.decode().splitlines()]
        inside = subprocess.run(["bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
                                 "--tmpfs", "/tmp", "--ro-bind", place, "/mnt", "--uid", "65534", "--gid", "65534", "--cap-drop", "ALL",
                                 "/usr/bin/python3", "/mnt/runs.py", "--inside", "/mnt"], capture_output=True, check=False)
        ran = [json.loads(line) for line in inside.stdout.decode().splitlines()]
    if not len(said) == len(ran) == count:
        print(f"{count} scripts, {len(said)} answers, {len(ran)} runs", checked.stderr.decode()[-2000:], inside.stderr.decode()[-2000:], sep="\n")
        return 1
    holes = let_through = 0
    for text, answer, programs in zip(texts, said, ran):
        if answer["risk_level"] not in ("safe", "normal"):
            continue
        let_through += 1
        named = " ".join(effect["target"] for effect in answer["effects"] if effect["kind"] == "runs").split()
        missed = [program for program in programs if program not in named]
        if missed:
            holes += 1
            print(f"ran but not named: {' '.join(missed)}; named: {' '.join(named)}\n{text}===")
    print(f"{count} scripts, {sum(map(bool, ran))} ran something, {let_through} let through, {holes} holes")
    # A test that lets nothing through proves nothing.
    return 1 if holes or let_through < count // 20 else 0


if __name__ == "__main__":
    sys.exit(main())
