#!/usr/bin/python3
"""Running code from outside: what each language gives, what it can not reach, and what is told when it goes wrong. As
root the whole suite runs a second time as an unprivileged user."""
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from driver import TOOL, Driver  # noqa: E402
from javascript_attacks import ATTACKS  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
KEYS = ["success", "output", "stderr", "exitCode", "executionTime", "error", "isolation", "artifacts", "session"]


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.state = tempfile.mkdtemp(prefix="cordon-code-")
        cls.driver = Driver("--state", cls.state)

    @classmethod
    def tearDownClass(cls):
        cls.driver.close()
        shutil.rmtree(cls.state, ignore_errors=True)

    def run_code(self, language, code, **more):
        return self.driver.run(language, code, **more)

    def good(self, language, code, **more):
        result = self.run_code(language, code, **more)
        self.assertTrue(result["success"], json.dumps(result, indent=1)[:3000])
        self.assertEqual((result["exitCode"], result["error"], result["isolation"]["backend"]), (0, None, "native"))
        return result["output"]

    def bad(self, language, code, pattern, **more):
        result = self.run_code(language, code, **more)
        self.assertFalse(result["success"], json.dumps(result, indent=1)[:3000])
        self.assertRegex(result["error"], pattern)
        self.assertNotEqual(result["exitCode"], 0)
        return result


class Seed(Case):
    """Every example of the document that the product was asked for."""

    def test_result_has_the_promised_keys_in_order(self):
        result = self.run_code("javascript", "1")
        self.assertEqual(list(result)[:len(KEYS)], KEYS)

    def test_javascript_gives_the_last_expression(self):
        self.assertEqual(self.good("javascript", "const x = 40 + 2; x", timeout=5000), "42")

    def test_fibonacci(self):
        self.assertEqual(self.good("javascript", """
    function fibonacci(n) {
      if (n <= 1) return n;
      return fibonacci(n-1) + fibonacci(n-2);
    }
    fibonacci(10)
  """), "55")

    def test_python_prints(self):
        self.assertEqual(self.good("python", 'print("Hello from Python")', timeout=10000), "Hello from Python")

    def test_python_average(self):
        self.assertEqual(self.good("python", """
import json
data = [1, 2, 3, 4, 5]
result = sum(data) / len(data)
print(json.dumps({"average": result}))
  """), '{"average": 3.0}')

    def test_bash_prints(self):
        self.assertEqual(self.good("bash", 'echo "Hello from Bash"', timeout=10000), "Hello from Bash")

    def test_bash_system_info(self):
        self.assertEqual(self.good("bash", 'echo "User: $USER"; echo "PWD: $PWD"'),
                         "User: sandboxuser\nPWD: /home/sandboxuser/work")

    def test_missing_python_module(self):
        result = self.bad("python", "import nonexistent_module",
                          "^ModuleNotFoundError: No module named 'nonexistent_module'$")
        self.assertEqual((result["exitCode"], result["line"]), (1, 1))


class Texts(Case):
    def test_language_is_required(self):
        self.assertEqual(self.driver.ask(code="1")["error"], "Language is required and must be a string")
        self.assertEqual(self.driver.ask(language=5, code="1")["error"], "Language is required and must be a string")

    def test_code_is_required(self):
        self.assertEqual(self.driver.ask(language="js")["error"], "Code is required and must be a string")

    def test_unsupported_language(self):
        result = self.run_code("COBOL", "x")
        self.assertEqual((result["error"], result["exitCode"], result["success"]), ("Unsupported language: COBOL", -1, False))

    def test_timeout(self):
        for language, code in (("js", "for(;;);"), ("python", "while True: pass"), ("bash", "while :; do :; done")):
            result = self.bad(language, code, "^Execution timeout after 300ms$", timeout=300)
            self.assertEqual((result["exitCode"], result["killed_by"]), (-1, "timeout"))

    def test_names_and_aliases_in_any_case(self):
        for name in ("JavaScript", "JS", "js", "ts"):
            self.assertEqual(self.good(name, "6*7"), "42")
        for name in ("Python", "py"):
            self.assertEqual(self.good(name, "print(6*7)"), "42")
        for name in ("Bash", "sh", "SHELL"):
            self.assertEqual(self.good(name, "echo $((6*7))"), "42")

    def test_truncation_marks(self):
        result = self.run_code("python", "import sys; print('é'*100); sys.stderr.write('e'*100)", maxOutputSize=51)
        self.assertEqual(result["output"], "é" * 25 + "\n[Output truncated]")
        self.assertEqual(result["stderr"], "e" * 51 + "\n[Error output truncated]")
        self.assertEqual((result["success"], result["truncated"]), (True, {"stdout": True, "stderr": True}))

    def test_default_limit_is_a_mebibyte(self):
        result = self.run_code("python", "print('A' * 3000000)")
        self.assertEqual(len(result["output"]), (1 << 20) + len("\n[Output truncated]"))


SINCE_NODE_20 = ("isWellFormed", "toSorted", "toReversed", "toSpliced", "].with(", "/v.test", "maxByteLength")


class JavaScript(Case):
    def test_console_lines_then_the_value(self):
        result = self.run_code("js", "console.log('a', 1); console.info({b: [1]}); console.debug('%s-%d', 'x', 2); "
                                     "console.warn('w'); console.error('e'); 'v'")
        self.assertEqual((result["output"], result["stderr"]), ("a 1\n{ b: [ 1 ] }\nx-2\nv", "w\ne"))

    def test_no_value_for_undefined_and_null(self):
        self.assertEqual(self.good("js", "undefined"), "")
        self.assertEqual(self.good("js", "null"), "")
        self.assertEqual(self.good("js", "false"), "false")

    def test_promises_timers_and_top_level_await_settle(self):
        self.assertEqual(self.good("js", "await new Promise(r => setTimeout(() => r('late'), 20))"), "late")
        self.assertEqual(self.good("js", "setTimeout(() => console.log('2'), 10); console.log('1'); Promise.resolve(3)"), "1\n2\n3")
        self.bad("js", "await new Promise(() => {})", "unsettled top-level await")
        self.bad("js", "Promise.reject(new TypeError('gone')); 1", "^TypeError: gone$")

    def test_errors_tell_name_message_and_line(self):
        result = self.bad("js", "\n\nconst f = () => { throw new RangeError('boo') };\nf()", "^RangeError: boo$")
        self.assertEqual((result["line"], result["exitCode"]), (3, 1))
        self.assertIn("at f (main.js:3", result["stderr"])
        self.assertEqual(self.bad("js", "let a = 1;\nlet b = ;", "^SyntaxError: ")["line"], 2)

    def test_typescript_types_are_removed_and_lines_kept(self):
        code = "interface P { x: number }\nenum E { A = 1, B }\nconst p: P = { x: E.B };\nfunction id<T>(v: T): T { return v }\nid<number>(p.x as number)"
        self.assertEqual(self.good("typescript", code), "2")
        self.assertEqual(self.bad("ts", "type A = string;\n\nnull!.x", "^TypeError: ")["line"], 3)
        self.assertEqual(self.bad("ts", "let a: = 1", "^SyntaxError: ")["line"], 1)

    def test_snippets_give_what_node_gives(self):
        with open(os.path.join(HERE, "snippets.txt")) as file:
            snippets = [line.rstrip("\n") for line in file if line.strip()]
        version = subprocess.run(["node", "--version"], text=True, capture_output=True, check=True).stdout
        if int(version[1:].split(".")[0]) < 20:  # Debian 12's own
            snippets = [code for code in snippets if not any(word in code for word in SINCE_NODE_20)]
        self.assertGreaterEqual(len(snippets), 200)
        done = subprocess.run(["node", os.path.join(HERE, "oracle.mjs")], input=json.dumps(snippets), text=True,
                              capture_output=True, check=True, env={**os.environ, "TZ": "UTC"})
        wrong = []
        for code, expected in zip(snippets, json.loads(done.stdout)):
            result = self.run_code("js", code)
            got = {"value": result["output"]} if result["success"] else {"error": result["error"].split(":")[0]}
            if got != expected:
                wrong.append((code, expected, got))
        self.assertEqual(wrong, [], "\n".join(map(str, wrong)))

    def test_attacks_end_as_results(self):
        self.assertGreaterEqual(len(ATTACKS), 40)
        for claim, code, expected in ATTACKS:
            with self.subTest(claim):
                # One that is not expected to run out of time gets plenty of it, however busy the machine is.
                timeout = 1000 if "timeout" in str(expected) else 60000
                self.judge(self.run_code("js", code, timeout=timeout, memory=64 << 20), expected)

    def judge(self, result, expected):
        text = json.dumps(result, indent=1)[:2000]
        error = result["error"] or ""
        if result["success"] and "or_output" in expected:
            return self.assertEqual(result["output"], expected["or_output"], text)
        if "output" in expected:
            self.assertEqual((result["success"], result["output"]), (True, expected["output"]), text)
        if "output_matches" in expected:
            self.assertRegex(result["output"], expected["output_matches"])
        if "error" in expected:
            self.assertFalse(result["success"], text)
            self.assertRegex(error, expected["error"])
        if "killed_by" in expected:
            self.assertEqual(result["killed_by"], expected["killed_by"], text)
        if "killed_by_any" in expected:
            self.assertIn(result["killed_by"], expected["killed_by_any"], text)
        for kind in ("timeout", "memory"):
            if "output_or_" + kind in expected and result["killed_by"] != kind:
                self.assertEqual(result["output"], expected["output_or_" + kind], text)
        if "truncated" in expected:
            self.assertTrue(result["truncated"]["stdout"], text)


class Sessions(Case):
    def test_javascript_variables_live_on(self):
        self.assertEqual(self.good("js", "let n = 1; const add = x => (n += x); n", session="live"), "1")
        self.assertEqual(self.good("js", "add(10)", session="live"), "11")
        self.assertEqual(self.good("ts", "add(1 as number)", session="live"), "12")

    def test_fork_goes_its_own_way_and_rollback_forgets(self):
        self.good("js", "globalThis.v = [1]", session="a")
        self.good("js", "v.push(2)", session="a")
        self.assertEqual(self.driver.ask(op="fork", **{"from": "a", "to": "b"}), {"ok": True})
        self.good("js", "v.push('b')", session="b")
        self.good("js", "v.push('a')", session="a")
        self.assertEqual(self.good("js", "v.join()", session="b"), "1,2,b")
        self.assertEqual(self.good("js", "v.join()", session="a"), "1,2,a")
        self.assertEqual(self.driver.ask(op="rollback", session="a", step=1), {"ok": True})
        self.assertEqual(self.good("js", "v.join()", session="a"), "1")
        self.assertIn("already", self.driver.ask(op="fork", **{"from": "a", "to": "b"})["error"])

    def test_a_failed_call_leaves_the_state_as_it_was(self):
        self.good("js", "let kept = 1", session="f")
        for code in ("kept = 2; for(;;);", "kept = 2; (function f(){f()})()", "kept = 2; const a=[]; for(;;) a.push(new Uint8Array(2**20))", "kept = 2; throw 1"):
            result = self.run_code("js", code, session="f", timeout=500)
            self.assertFalse(result["success"])
            self.assertEqual(result["session"], {"id": "f", "step": 1, "survived": True})
        self.assertEqual(self.good("js", "kept", session="f"), "1")

    def test_a_damaged_or_forged_state_is_refused_or_harmless(self):
        self.good("js", "let x = 1", session="d")
        path = os.path.join(self.state, "d", "1.state")
        with open(path, "rb") as file:
            whole = file.read()
        with open(path, "wb") as file:
            file.write(whole[:-1] + bytes([whole[-1] ^ 1]))
        self.assertIn("damaged", self.run_code("js", "x", session="d")["error"])
        import hashlib
        for position in list(range(48, 110, 3)) + list(range(200, len(whole), len(whole) // 40)):
            forged = bytearray(whole)
            for i in range(position, min(position + 64, len(whole))):
                forged[i] = (forged[i] * 7 + 113) & 0xff
            forged[16:48] = hashlib.sha256(forged[48:]).digest()
            with open(path, "wb") as file:
                file.write(forged)
            result = self.run_code("js", "x + [1,2,3].map(y => y * 2).join()", session="d", timeout=1000)
            self.assertTrue(result["success"] or result["error"], result)
            self.driver.ask(op="rollback", session="d", step=1)
        self.assertEqual(self.good("js", "'the driver lives'"), "the driver lives")

    def test_session_names_are_no_paths(self):
        for name in ("../x", "a/b", "", ".hidden", "x" * 200):
            self.assertIn("session's name", self.run_code("js", "1", session=name)["error"])

    def test_python_interpreter_lives_on(self):
        self.good("python", "x = 41\nimport math", session="p")
        self.assertEqual(self.good("python", "x += 1\nprint(x, math.floor(2.5))", session="p"), "42 2")
        self.bad("python", "raise ValueError('v')", "^ValueError: v$", session="p")
        self.assertEqual(self.good("python", "print(x)", session="p"), "42")

    def test_python_session_survives_a_timeout_that_it_lets_happen(self):
        self.good("python", "y = 7", session="t")
        result = self.bad("python", "while True: pass", "^Execution timeout after 2000ms$", session="t", timeout=2000)
        self.assertTrue(result["session"]["survived"])
        self.assertEqual(self.good("python", "print(y)", session="t"), "7")
        result = self.bad("python", "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass",
                          "^Execution timeout after 2000ms$", session="t", timeout=2000)
        self.assertFalse(result["session"]["survived"])
        self.bad("python", "print(y)", "^NameError", session="t")

    def test_python_session_that_is_ended_says_so(self):
        self.good("python", "z = 1", session="e")
        self.assertFalse(self.bad("python", "import os; os._exit(3)", "session is over", session="e")["session"]["survived"])
        self.good("python", "z = 1", session="m")
        result = self.bad("python", "a = []\nwhile True: a.append(bytearray(10**7))", "Out of memory|MemoryError|the session is over", session="m")
        self.bad("python", "print(q)", "^NameError", session="m")
        del result

    def test_idle_sessions_are_ended(self):
        self.good("python", "w = 1", session="idle")
        self.assertGreaterEqual(self.driver.ask(op="expire")["ended"], 1)
        self.bad("python", "w", "^NameError", session="idle")


class Files(Case):
    def test_files_in_and_out(self):
        given = base64.b64encode(b"a,b\n1,2\n").decode()
        result = self.run_code("python", "d = open('in/data.csv').read()\nopen('out.txt', 'w').write(d.upper())",
                               files={"in/data.csv": given})
        self.assertTrue(result["success"], result)
        self.assertEqual(result["artifacts"], [{"path": "out.txt", "mime": "text/plain", "bytes": 8,
                                                "base64": base64.b64encode(b"A,B\n1,2\n").decode()}])

    def test_changed_input_comes_back(self):
        result = self.run_code("bash", "echo more >> given.txt", files={"given.txt": base64.b64encode(b"x\n").decode()})
        self.assertEqual([a["path"] for a in result["artifacts"]], ["given.txt"])

    def test_links_fifos_and_large_files_are_left_out(self):
        result = self.run_code("bash", "ln -s /etc/passwd link; mkfifo pipe; head -c 20000000 /dev/zero > big; echo ok > ok; mkdir -p d/e; echo x > d/e/f")
        self.assertEqual([a["path"] for a in result["artifacts"]], ["d/e/f", "ok"])
        self.assertEqual({o["path"]: o["reason"] for o in result["leftOut"]},
                         {"link": "a symbolic link", "pipe": "not a regular file", "big": "too large"})

    def test_names_of_given_files_stay_inside(self):
        for name in ("../x", "/etc/x", "a/../../x", ""):
            result = self.run_code("bash", "true", files={name: ""})
            self.assertFalse(result["success"])
            self.assertIn("cannot place file", result["stderr"])

    def test_input_and_arguments(self):
        self.assertEqual(self.good("python", "import sys; print(input(), sys.argv[1:])", stdin="line\n", args=["a", "b c"]),
                         "line ['a', 'b c']")
        self.assertEqual(self.good("bash", 'read x; echo "$x $1 $#"', stdin="line\n", args=["a b", "c"]), "line a b 2")
        self.bad("python", "input()", "^EOFError")

    def test_figures_come_back_as_pictures(self):
        if not os.path.isdir("/usr/lib/python3/dist-packages/matplotlib"):
            self.skipTest("matplotlib is not installed (python3-matplotlib)")
        result = self.run_code("python", "import matplotlib.pyplot as p\np.plot([1, 2])\np.show()", timeout=120000)
        self.assertEqual([(a["path"], a["mime"]) for a in result["artifacts"]], [("figure-1.png", "image/png")])
        self.assertTrue(base64.b64decode(result["artifacts"][0]["base64"]).startswith(b"\x89PNG"))

    def test_numpy_and_its_generator(self):
        if not os.path.isdir("/usr/lib/python3/dist-packages/numpy"):
            self.skipTest("numpy is not installed (python3-numpy)")
        code = "import numpy, random; print(numpy.random.random(), random.random())"
        self.assertNotEqual(self.good("python", code), self.good("python", code))


class Languages(Case):
    ROWS = [
        ("ruby", "ruby", "puts [1,2].sum\nputs ARGV[0]", "3\na", "\nraise 'x'", "main.rb:2.*x", 2),
        ("perl", "perl", "print 1+2, \"\\n$ARGV[0]\\n\"", "3\na", "\ndie 'x'", "^x at .*line 2", 2),
        ("lua", "lua5.4", "print(1+2)\nprint(arg[1])", "3\na", "\nerror('x')", "main.lua:2: x", 2),
        ("php", "php", "<?php echo 1+2, \"\\n\", $argv[1], \"\\n\";", "3\na", "<?php\nnope();", "undefined function nope", 2),
        ("c", "cc", "#include <stdio.h>\nint main(int n, char** a) { printf(\"%d\\n%s\\n\", 3, a[1]); }", "3\na",
         "int main() {\n  return x; }", "error: .*x", 2),
        ("c++", "c++", "#include <cstdio>\nint main(int n, char** a) { std::printf(\"%d\\n%s\\n\", 3, a[1]); }", "3\na",
         "int main() {\n  return x; }", "error: .*x", 2),
        ("python", "python3", "import sys; print(3)\nprint(sys.argv[1])", "3\na", "\nraise KeyError('x')", "^KeyError: 'x'$", 2),
        ("bash", "bash", "echo 3\necho $1", "3\na", "\nnope", "line 2: nope: command not found", 2),
    ]

    def test_each_runs_and_tells_its_errors(self):
        for name, program, code, output, wrong, pattern, line in self.ROWS:
            with self.subTest(name):
                if not shutil.which(program, path="/usr/local/bin:/usr/bin:/bin"):
                    self.assertIn("is not installed here: " + program, self.run_code(name, code)["error"])
                    continue
                self.assertEqual(self.good(name, code, args=["a"]), output)
                result = self.bad(name, wrong, pattern)
                self.assertEqual(result["line"], line, result)

    def test_exit_codes_and_signals_are_told(self):
        self.assertEqual(self.bad("bash", "exit 7", "^Process exited with code 7$")["exitCode"], 7)
        self.assertEqual(self.bad("python", "import sys; sys.exit(9)", "^Process exited with code 9$")["exitCode"], 9)
        self.assertEqual(self.bad("bash", "kill -SEGV $$", "^Ended by signal 11")["exitCode"], 139)
        self.bad("bash", "kill -9 $PPID; sleep 5", "ended without an answer|signal", timeout=4000)


class Security(Case):
    """The security tests of the seed, for each language, each with the right reason."""

    def test_no_network(self):
        self.bad("python", "import socket; socket.create_connection(('1.1.1.1', 80), 2)", "^OSError: |^PermissionError: ")
        self.bad("python", "import urllib.request; urllib.request.urlopen('http://127.0.0.1')", "URLError|OSError")
        self.bad("bash", "exec 3<>/dev/tcp/1.1.1.1/80", "connect: |Network is unreachable|Permission denied|Operation not permitted")
        self.bad("js", "fetch('http://127.0.0.1')", "^ReferenceError: fetch is not defined$")

    def test_no_way_to_files_of_the_host(self):
        secret = os.path.join(tempfile.mkdtemp(prefix="cordon-secret-"), "secret")
        with open(secret, "w") as file:
            file.write("hidden")
        self.bad("python", "open(%r)" % secret, "^FileNotFoundError|^PermissionError")
        self.bad("bash", "cat %s" % secret, "No such file|Permission denied")
        self.bad("python", "open('/usr/bin/evil', 'w')", "Read-only file system|Permission denied")
        self.bad("bash", "echo x > /etc/passwd", "Read-only file system|Permission denied")
        self.bad("python", "open('/root/.ssh/id_rsa')", "^FileNotFoundError|^PermissionError")
        self.bad("js", "require('fs').readFileSync('/etc/passwd')", "^ReferenceError: require is not defined$")
        shutil.rmtree(os.path.dirname(secret))

    def test_memory_is_limited(self):
        for language, code in (("python", "a = []\nwhile True: a.append(bytearray(10**7))"),
                               ("bash", "x=$(head -c 900000000 /dev/zero | tr '\\0' x); echo ${#x}"),
                               ("js", "const a = []; for (;;) a.push(new Array(1e5).fill(0))")):
            result = self.bad(language, code, "^Out of memory|MemoryError|Cannot allocate|cannot allocate")
            self.assertIn(result["killed_by"], ("memory", None))

    def test_processes_are_limited(self):
        result = self.run_code("bash", ":(){ :|:& };:; wait; sleep 3", timeout=6000)
        self.assertFalse(result["success"])
        self.assertIn(result["killed_by"], ("pids", "timeout", None))
        self.assertLessEqual(result["usage"]["processes_peak"], 70)

    def test_output_bombs_are_cut(self):
        for language, code in (("python", "while True: print('A' * 1000000)"), ("bash", "yes"), ("js", "for (;;) console.log('x'.repeat(1e6))")):
            result = self.run_code(language, code, timeout=3000)
            self.assertFalse(result["success"])
            self.assertIn(result["killed_by"], ("output", "timeout"))
            self.assertTrue(result["output"].endswith("\n[Output truncated]"))
            self.assertEqual(len(result["output"]), (1 << 20) + len("\n[Output truncated]"))

    def test_disk_is_limited(self):
        self.bad("bash", "head -c 1000000000 /dev/zero > /tmp/fill", "No space left|File too large")

    def test_nothing_is_left_of_an_earlier_run(self):
        self.good("bash", "echo secret > /tmp/left; echo secret > ~/left; sleep 60 >/dev/null 2>&1 &")
        self.assertEqual(self.good("bash", "ls -A /tmp ~ | grep -c left; ls /proc | grep -c '^[0-9]'; true").split("\n")[0], "0")


class Secrets(unittest.TestCase):
    def test_python_that_looks_everywhere_finds_no_secret(self):
        """In the environment of whoever runs it, in another session, in a run before, warm and cold."""
        state = tempfile.mkdtemp(prefix="cordon-code-")
        secret = "S3CR3T" + os.urandom(8).hex()
        half = len(secret) // 2
        search = """
import os, sys, gc
A, B = %r, %r
wanted = (A + B).encode()
found = []
def look(name, data):
    if wanted in data: found.append(name)
look('environ', repr(dict(os.environ)).encode())
for root in ('/proc', '/tmp', '/home', '/run', '/dev/shm', '/var', '/etc'):
    for folder, folders, files in os.walk(root):
        if folder.startswith('/proc/') and folder.count('/') > 3: folders[:] = []
        for name in files:
            path = os.path.join(folder, name)
            if name in ('kmsg', 'kcore', 'trace_pipe', 'mem', 'pagemap', 'clear_refs'): continue
            try:
                fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
                look(path, os.read(fd, 1 << 20)); os.close(fd)
            except OSError: pass
for pid in [p for p in os.listdir('/proc') if p.isdigit()]:
    try:
        memory = open('/proc/%%s/mem' %% pid, 'rb', 0)
        for line in open('/proc/%%s/maps' %% pid):
            start, end = (int(x, 16) for x in line.split()[0].split('-'))
            if end - start > 1 << 28 or int(pid) == os.getpid(): continue
            try: memory.seek(start); look('memory of ' + pid, memory.read(end - start))
            except (OSError, OverflowError, ValueError): pass
    except OSError: pass
print(found)
""" % (secret[:half], secret[half:])
        for options in ((), ("--warm", "1")):
            driver = Driver("--state", state, *options, environment={**os.environ, "CORDON_SECRET": secret})
            self.assertTrue(driver.run("python", "hold = '%s'" % secret, session="other")["success"])
            self.assertTrue(driver.run("bash", "echo %s > /tmp/x; echo %s > ~/y" % (secret, secret))["success"])
            self.assertTrue(driver.run("python", "open('/dev/shm/z', 'w').write('%s')" % secret)["success"])
            result = driver.run("python", search, timeout=60000)
            driver.close()
            self.assertEqual((result["success"], result["output"]), (True, "[]"), result)
        shutil.rmtree(state)


class Warm(Case):
    @classmethod
    def setUpClass(cls):
        cls.state = tempfile.mkdtemp(prefix="cordon-code-")
        cls.driver = Driver("--state", cls.state, "--warm", "2")

    def test_gives_the_same_results_and_each_sandbox_once(self):
        for _ in range(3):
            self.assertEqual(self.good("js", "globalThis.seen = (globalThis.seen ?? 0) + 1"), "1")
            self.assertEqual(self.good("python", "import os, sys\nopen('/tmp/mine', 'x')\nprint(input(), sys.argv)", stdin="in\n", args=["z"]),
                             "in ['main.py', 'z']")
            self.assertEqual(self.good("bash", "test ! -e /tmp/mine && echo clean"), "clean")

    def test_each_interpreter_has_its_own_hash_seed_and_layout(self):
        code = "import random; print(hash('x'), id(object()), random.random())"
        first, second = self.good("python", code).split(), self.good("python", code).split()
        for a, b in zip(first, second):
            self.assertNotEqual(a, b)

    def test_a_shell_that_was_started_ahead_runs_its_script_as_ever(self):
        self.assertEqual(self.good("bash", 'echo "$0 $# $BASH_SOURCE"; pwd; cat "$0" | head -c 4; ls -l "$0" | cut -c 1'),
                         "/tmp/code/main.sh 0 /tmp/code/main.sh\n/home/sandboxuser/work\necho-")
        self.assertEqual(self.good("bash", 'read -r line; echo "<$line>"; cat', stdin="one\ntwo\n"), "<one>\ntwo")
        self.assertEqual(self.good("bash", "cat <<E\n$((1+1))\nE\n(echo sub); f() { echo f; }; f; source /dev/stdin <<< 'echo sourced'"), "2\nsub\nf\nsourced")
        self.assertEqual(self.good("bash", 'echo "$1 $#"', args=["a b", "c"]), "a b 2")
        self.assertEqual(self.good("bash", "# %s\necho long" % ("x" * 9000)), "long")
        self.assertEqual(self.good("bash", "echo made > $CORDON_OUTPUT/made; cat made"), "made")
        self.assertEqual(self.driver.run("bash", "exit 7")["exitCode"], 7)
        self.assertEqual(self.driver.run("bash", "true\nfi")["line"], 2)

    def test_errors_and_timeouts_are_told_as_ever(self):
        self.bad("bash", "sleep 100", "^Execution timeout after 300ms$", timeout=300)
        self.bad("python", "1/0", "^ZeroDivisionError")
        self.bad("python", "while True: pass", "^Execution timeout after 300ms$", timeout=300)
        self.bad("js", "for(;;);", "^Execution timeout after 300ms$", timeout=300)


class Many(unittest.TestCase):
    def test_mixed_runs_at_once_are_all_right(self):
        count = int(os.environ.get("CORDON_RUNS", "60"))
        at_once = os.environ.get("CORDON_AT_ONCE", "10")
        lines, expected = [], []
        for i in range(count):
            kind = i % 5
            language, code, answer = [("js", "%d * 2" % i, str(i * 2)), ("python", "print(%d + 1)" % i, str(i + 1)),
                                      ("bash", "echo $((%d - 1))" % i, str(i - 1)), ("ts", "let n: number = %d; n" % i, str(i)),
                                      ("js", "throw new Error('e%d')" % i, "Error: e%d" % i)][kind]
            lines.append(json.dumps({"language": language, "code": code}))
            expected.append(answer)
        done = subprocess.run([TOOL, "--at-once", at_once], input="\n".join(lines) + "\n", text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        results = [json.loads(line) for line in done.stdout.split("\n") if line]
        self.assertEqual([r["error"] if r["error"] else r["output"] for r in results], expected)


def run_as_user():
    """The same, as somebody without rights, in control groups of its own."""
    import pwd
    try:
        user = pwd.getpwnam("cordon-test")
    except KeyError:
        subprocess.run(["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", "cordon-test"], check=True)
        user = pwd.getpwnam("cordon-test")
    child = os.fork()
    if child == 0:
        for controller in ("memory", "pids", "cpu", "cpuacct"):
            path = "/sys/fs/cgroup/%s/cordon-code-%d" % (controller, os.getppid())
            if os.path.isdir("/sys/fs/cgroup/" + controller):
                os.makedirs(path, exist_ok=True)
                for item in ["."] + os.listdir(path):
                    os.chown(os.path.join(path, item), user.pw_uid, user.pw_gid)
                with open(os.path.join(path, "cgroup.procs"), "w") as procs:
                    procs.write(str(os.getpid()))
        os.setgroups([])
        os.setresgid(user.pw_gid, user.pw_gid, user.pw_gid)
        os.setresuid(user.pw_uid, user.pw_uid, user.pw_uid)
        os.environ["HOME"] = "/nonexistent"
        os.execv(sys.executable, [sys.executable, os.path.abspath(__file__), *sys.argv[1:]])
    status = os.waitpid(child, 0)[1]
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    program = unittest.main(exit=False)
    failed = not program.result.wasSuccessful()
    if os.getuid() == 0 and not failed:
        print("the same as an unprivileged user", file=sys.stderr, flush=True)
        failed = run_as_user() != 0
    sys.exit(1 if failed else 0)
