"""The daemon itself: who may ask it, what it does when a client or it itself goes, and what it keeps from runs."""
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from run_case import RunCase  # noqa: E402

RUNS = int(os.environ.get("CORDON_RUNS", "60"))
AT_ONCE = int(os.environ.get("CORDON_AT_ONCE", "10"))


def frame(body):
    text = json.dumps(body).encode()
    return struct.pack("<I", len(text)) + text


class ServeCase(RunCase):
    def setUp(self):
        super().setUp()
        self.path = self.start_daemon(env={"DAEMON_SECRET": "in-its-environment"})

    def ask(self, body, descriptors=(), whole=True):
        """The answer to one message, spoken by hand."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(120)
            connection.connect(self.path)
            message = body if isinstance(body, bytes) else frame(body)
            if descriptors:
                socket.send_fds(connection, [message], list(descriptors))
            else:
                connection.sendall(message)
            if not whole:
                connection.shutdown(socket.SHUT_WR)
            received = b""
            while True:
                more = connection.recv(1 << 16)
                if not more:
                    break
                received += more
        answers = []
        while len(received) >= 4:
            length = struct.unpack("<I", received[:4])[0]
            answers.append(json.loads(received[4:4 + length]))
            received = received[4 + length:]
        return answers[-1] if answers else None

    def served_by(self):
        """Which process wrote the last intent: the daemon's log is open in it."""
        return self.ask({"protocol": 1, "verb": "ping"})["pid"]


class Channel(ServeCase):
    def test_socket_is_ours_alone(self):
        directory = os.path.dirname(self.path)
        self.assertTrue(directory.startswith(self.runtime), self.path)
        self.assertEqual(os.stat(directory).st_mode & 0o777, 0o700)
        self.assertEqual(os.stat(self.path).st_mode & 0o777, 0o600)

    @unittest.skipUnless(os.getuid() == 0, "needs root to become another user")
    def test_another_user_gets_nothing(self):
        os.chmod(self.path, 0o666)
        for place in (self.dir, self.runtime, os.path.dirname(self.path)):
            os.chmod(place, 0o755)
        code = ("import os, socket, sys\nos.setgid(65534); os.setuid(65534)\ns = socket.socket(socket.AF_UNIX)\n"
                "s.connect(sys.argv[1])\ntry:\n s.sendall(b'\\x02\\0\\0\\0{}')\n print(s.recv(100))\nexcept OSError: print(b'')")
        done = subprocess.run([sys.executable, "-c", code, self.path], capture_output=True, text=True)
        self.assertEqual(done.stdout.strip(), "b''", done.stderr)

    @unittest.skipUnless(os.getuid() == 0, "needs root to become another user")
    def test_a_daemon_of_another_user_is_not_asked(self):
        self.stop_daemon()
        place = os.path.join(self.dir, "false.sock")
        code = ("import os, socket, sys\ns = socket.socket(socket.AF_UNIX)\nos.setgid(65534); os.setuid(65534)\n"
                "s.bind(sys.argv[1])\ns.listen()\nprint('up', flush=True)\nc, _ = s.accept()\nprint(len(c.recv(100)), flush=True)")
        os.chmod(self.dir, 0o777)
        false = subprocess.Popen([sys.executable, "-c", code, place], stdout=subprocess.PIPE, text=True)
        self.assertEqual(false.stdout.readline(), "up\n")
        self.assertEqual(self.good("js", "6 * 7", env={"CORDON_SOCKET": place}), "42")
        self.assertEqual(false.stdout.readline(), "0\n", "not a byte of the request went there")
        false.stdout.close()
        false.wait()

    def test_a_client_in_another_user_namespace_is_declined(self):
        code = ("import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\n"
                "s.settimeout(60)\nn = int.from_bytes(s.recv(4), 'little')\nprint(s.recv(n).decode())")
        # Each is told before a byte is read.
        for inside, wanted in (([], "hello"), (["unshare", "-r"], "decline")):
            with self.subTest(wanted):
                done = subprocess.run([*inside, sys.executable, "-c", code, self.path], capture_output=True, text=True)
                self.assertEqual(json.loads(done.stdout)["type"], wanted, done.stdout + done.stderr)

    def test_nonsense_is_answered_or_dropped_and_the_daemon_lives(self):
        good = {"protocol": 1, "verb": "run", "snippet": {"language": "js", "code": "1"}}
        for body in (b"", b"\x01", b"\xff\xff\xff\xff", b"\x02\0\0\0[]", b"\x03\0\0\0{{{", b"\x10\0\0\0{}",
                     {}, {"protocol": 2}, {"protocol": "1"}, {"protocol": 1}, {"protocol": 1, "verb": "approve"},
                     {**good, "snippet": 5}, {**good, "snippet": {"language": 5, "code": []}}, {**good, "timeout": -1},
                     {**good, "request": {}}, {**good, "request": {"text": 1}}, {**good, "descriptors": ["home"]},
                     {**good, "cwd": "/nowhere"}, {**good, "version": "0.0.0"}, {**good, "world": {}},
                     {"protocol": 1, "verb": "exec", "verdict": "allow"}):
            with self.subTest(body):
                answer = self.ask(body, whole=not isinstance(body, bytes))
                self.assertTrue(answer is None or answer["type"] in ("hello", "error", "decline", "answer"), answer)
                self.assertNotEqual((answer or {}).get("exit"), 0, answer)
        self.assertEqual(self.ask(good)["object"]["output"], "1")

    def test_texts_of_the_seed_over_the_socket(self):
        for snippet, text in (({"code": "1"}, "Language is required and must be a string"),
                              ({"language": 7, "code": "1"}, "Language is required and must be a string"),
                              ({"language": "js"}, "Code is required and must be a string"),
                              ({"language": "js", "code": 5}, "Code is required and must be a string"),
                              ({"language": "COBOL", "code": "x"}, "Unsupported language: COBOL")):
            answer = self.ask({"protocol": 1, "verb": "run", "snippet": snippet})
            self.assertEqual(answer["object"]["error"], text)

    def test_a_client_can_not_claim_what_loosens(self):
        """Settings of its own, a workspace above, a main session on the host: declined, and then presence is asked for."""
        self.write("loose.json5", "{agents: {defaults: {sandbox: {mode: 'off'}}}}")
        done = self.call("cordon", "exec", "--config", os.path.join(self.work, "loose.json5"), "true")
        self.assertEqual(done.returncode, 126, done.stderr)
        os.mkdir(os.path.join(self.work, "inner"))
        os.mkdir(os.path.join(self.work, "inner", ".cordon"))
        done = self.call("cordon", "exec", "--workspace", self.work, "true", cwd=os.path.join(self.work, "inner"))
        self.assertEqual(done.returncode, 126, done.stderr)

    def test_second_daemon_is_refused_and_a_stale_socket_replaced(self):
        done = self.call("cordon", "serve")
        self.assertEqual(done.returncode, 1)
        self.assertIn("already", done.stderr)
        self.stop_daemon(signal.SIGKILL)
        self.assertTrue(os.path.exists(self.path))
        self.assertEqual(self.good("js", "6 * 7"), "42", "without a daemon behind the socket it is done here")
        self.start_daemon()
        self.assertEqual(self.good("js", "6 * 7"), "42")


class Same(ServeCase):
    """exec by the daemon is exec."""

    def both(self, *command, **keywords):
        served = self.call(*command, **keywords)
        alone = self.call(*command, env={"CORDON_NO_DAEMON": "1"}, **keywords)
        self.assertEqual((served.returncode, served.stdout, served.stderr), (alone.returncode, alone.stdout, alone.stderr))
        return served

    def test_results_are_the_same(self):
        self.write("a.txt", "hello\n")
        for command in ("cat a.txt", "echo out; echo err >&2; exit 3", "rm -rf /", "nope", "sleep 60",
                        "head -c 3000000 /dev/zero", "pwd; id -un; env | sort"):
            with self.subTest(command):
                self.both("sandbox-exec", "--timeout", "1000" if command == "sleep 60" else "60000", command)
        self.both("sandbox-exec", "--env", "A=b c", "echo $A")
        self.both("sandbox-exec", "--cwd", "/usr", "true")
        self.assertEqual(self.both("sandbox-exec", "-i", "cat", stdin=subprocess.DEVNULL).returncode, 0)

    def test_objects_are_the_same(self):
        for text in ("echo 1", "exit 7", "rm -rf /"):
            served = self.exec(text)
            alone = self.exec(text, env={"CORDON_NO_DAEMON": "1"})
            for changing in ("duration_ms", "usage"):
                del served[changing], alone[changing]
            self.assertEqual(served, alone)

    def test_settings_are_read_anew(self):
        self.assertEqual(self.call("sandbox-exec", "true").returncode, 0)
        self.write("SANDBOX.md", "# Disallowed Commands\n- true\n")
        self.assertEqual(self.call("sandbox-exec", "true").returncode, 126)
        self.write("SANDBOX.md", "# Security Level\n- Levle: deny\n")
        served = self.call("sandbox-exec", "true")
        alone = self.call("sandbox-exec", "true", env={"CORDON_NO_DAEMON": "1"})
        self.assertEqual((served.returncode, served.stderr), (alone.returncode, alone.stderr))

    def test_queue_wait_and_approval(self):
        token = self.become_approver()
        queued = self.exec("rm -rf build", expect=75)
        self.call("sandbox-queue", "approve", "--no-run", queued["queue_id"], env=token)
        self.assertEqual(self.exec("rm -rf build", "--approval", queued["queue_id"])["exit_code"], 0)
        waits = subprocess.Popen(["sandbox-exec", "--wait", "60s", "rm -rf other"], cwd=self.work, env=self.environment,
                                 stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        line = waits.stderr.readline()
        self.assertIn("waiting for approval of cmd_", line)
        self.call("sandbox-queue", "approve", line.split(" of ")[1].split(";")[0], env=token, expect=0)
        self.assertEqual(waits.wait(120), 0)
        waits.stderr.close()

    def test_another_home_is_not_the_daemons(self):
        other = os.path.join(self.dir, "other")
        os.mkdir(other)
        self.assertEqual(self.call("sandbox-exec", "true", env={"HOME": other}).returncode, 0)


class Ends(ServeCase):
    def start(self, code="print('up', flush=True)\nwhile True: pass"):
        run = subprocess.Popen(["cordon", "run", "--timeout", "120s", "-l", "python", "-c", code], cwd=self.work,
                               env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        self.assertEqual(run.stdout.readline(), "up\n")
        return code, run

    def wait_for_records(self, code, count):
        """Ends when they are there; a test that hangs here is ended by its time limit."""
        import time
        while len(self.code_records(code)) < count:
            time.sleep(0.02)
        return self.code_records(code)

    def test_client_gone_ends_and_records_the_run(self):
        code, run = self.start()
        run.kill()
        run.wait()
        run.stdout.close()
        run.stderr.close()
        self.assertEqual(self.wait_for_records(code, 2), [("intent", "started"), ("outcome", "killed")])

    def test_sigterm_lets_what_runs_finish(self):
        self.stop_daemon()
        self.start_daemon("--grace", "60s")
        code, run = self.start("print('up', flush=True)\nimport time; time.sleep(1); print('done')")
        self.assertEqual(self.stop_daemon(), 0)
        self.assertEqual(run.communicate()[0], "done\n")
        self.assertEqual(run.returncode, 0)
        self.assertFalse(os.path.exists(self.path))
        self.assertEqual(self.code_records(code)[-1], ("outcome", "executed"))
        kinds = [line["kind"] for line in self.records()]
        self.assertEqual((kinds.count("start"), kinds.count("stop")), (2, 2))

    def test_after_the_grace_it_is_ended_and_recorded(self):
        self.stop_daemon()
        self.start_daemon("--grace", "100ms")
        code, run = self.start()
        self.assertEqual(self.stop_daemon(), 0)
        run.communicate()
        self.assertEqual(run.returncode, 137)
        self.assertEqual(self.code_records(code)[-1], ("outcome", "killed"))

    def test_daemon_killed_is_told_and_the_next_one_closes_the_record(self):
        code, run = self.start()
        self.stop_daemon(signal.SIGKILL)
        _, errors = run.communicate()
        self.assertEqual(run.returncode, 125)
        self.assertIn("daemon ended", errors)
        self.start_daemon()
        self.assertEqual(self.good("js", "1"), "1")
        requests = {line["request"] for line in self.records() if line["kind"] == "intent"}
        closed = {line.get("request") for line in self.records() if line["kind"] in ("outcome", "recovery")}
        self.assertEqual(requests - closed, set())
        self.assertIn(self.verify().returncode, (0, 3))

    def test_a_daemon_that_does_not_answer_is_given_up_and_nothing_runs(self):
        self.daemon.send_signal(signal.SIGSTOP)
        done = self.call("cordon", "exec", "--from", "hook", "--agent", "codex", "touch ran", timeout=110)
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("does not take the request", done.stderr)
        self.daemon.send_signal(signal.SIGCONT)
        self.assertEqual(self.stop_daemon(), 0)
        self.assertFalse(self.exists("ran"))
        self.assertEqual([line for line in self.records() if line.get("command") == "touch ran"], [])

    def test_a_reader_that_went_away_does_not_hold_the_daemon(self):
        run = subprocess.Popen(["cordon", "run", "-l", "bash", "--timeout", "60s", "--max-output", "100000000", "-c", "yes"],
                               cwd=self.work, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL)
        run.stdout.read(1 << 16)
        run.kill()
        run.wait()
        self.assertIn(("outcome", "killed"), self.wait_for_records("yes", 2))
        run.stdout.close()


SEARCH = """
import os, re
# Never whole in our own memory: one class for every character.
wanted = re.compile(b''.join(b'[%%c]' %% c for half in (%r, %r) for c in half.encode()))
found = []
def look(name, data):
    if wanted.search(data): found.append(name)
for fd in range(3, 1024):
    try: os.fstat(fd); found.append('descriptor %%d %%s' %% (fd, os.readlink('/proc/self/fd/%%d' %% fd)))
    except OSError: pass
look('environ', repr(dict(os.environ)).encode())
for root in ('/proc', '/tmp', '/home', '/run', '/dev/shm', '/var', '/etc', '/srv', '/root'):
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
            if end - start > 1 << 28: continue
            try: memory.seek(start); data = memory.read(end - start)
            except (OSError, OverflowError, ValueError): continue
            look('memory of ' + pid, data)
    except OSError: pass
print(found)
"""


class Kept(ServeCase):
    """What the daemon has and what others had is not found by code that looks everywhere."""

    def test_python_that_looks_everywhere_finds_no_secret(self):
        secret = "S3CR3T" + os.urandom(8).hex()
        self.stop_daemon()
        self.start_daemon(env={"DAEMON_SECRET": secret})
        search = SEARCH % (secret[:10], secret[10:])
        self.good("python", "hold = '%s'" % secret, "--session", "other")
        self.good("bash", "echo %s > /tmp/x; echo %s > ~/y; echo %s > /dev/shm/z 2>/dev/null; true" % ((secret,) * 3))
        for _ in range(3):  # cold, then from what was kept ready
            self.good("python", "x = '%s'" % secret)
            self.assertEqual(self.good("python", search, "--timeout", "120s"), "[]")
        # A session's interpreter is told what to run on a socket to the runner beside it.
        found = self.good("python", search, "--timeout", "120s", "--session", "mine")
        self.assertRegex(found, r"^\['descriptor 3 socket:\[\d+\]'\]$")

    def children(self):
        with open("/proc/%d/task/%d/children" % (self.daemon.pid, self.daemon.pid)) as file:
            first = file.read().split()
        found = set(first)
        for task in os.listdir("/proc/%d/task" % self.daemon.pid):
            try:
                with open("/proc/%d/task/%s/children" % (self.daemon.pid, task)) as file:
                    found.update(file.read().split())
            except FileNotFoundError:
                pass
        return found

    def test_what_is_kept_ready_stays_within_bounds(self):
        """More kinds of rooms than are kept: the oldest go, and what is asked for is right all the same."""
        for number in range(14):
            limits = "{agents: {defaults: {sandbox: {limits: {memory: '%d MiB'}}}}}" % (300 + number)
            self.write(".cordon/config.json5", limits)
            for _ in range(2):
                self.assertEqual(self.good("js", "%d + 1" % number), str(number + 1))
        self.assertLessEqual(len(self.children()), 8 * 4 + 8)
        self.assertEqual(self.stop_daemon(), 0)

    def test_each_run_has_its_own_interpreter(self):
        code = "import random; print(hash('x'), random.random())"
        self.assertEqual(len({tuple(self.good("python", code).split()) for _ in range(4)}), 4)


class Many(ServeCase):
    def test_mixed_runs_at_once_are_all_right(self):
        """Asked over the socket, `AT_ONCE` at a time; every one has its two records."""
        kinds = [("js", "%d * 2", lambda i: str(i * 2)), ("python", "print(%d + 1)", lambda i: str(i + 1)),
                 ("bash", "echo $((%d - 1))", lambda i: str(i - 1)), ("ts", "let n: number = %d; n", str),
                 ("js", "throw new Error('e%d')", lambda i: "Error: e%d" % i)]
        wrong, numbers, lock = [], iter(range(RUNS)), threading.Lock()

        def work():
            while True:
                with lock:
                    i = next(numbers, None)
                if i is None:
                    return
                language, code, expected = kinds[i % len(kinds)]
                answer = self.ask({"protocol": 1, "verb": "run", "timeout": 120000,
                                   "snippet": {"language": language, "code": code % i}})
                result = (answer or {}).get("object", {})
                got = result.get("error") or result.get("output")
                if got != expected(i):
                    wrong.append((i, answer))

        threads = [threading.Thread(target=work) for _ in range(AT_ONCE)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        before = self.open_descriptors()
        self.assertEqual(self.stop_daemon(), 0)
        lines = self.records()
        for kind in ("intent", "outcome"):
            self.assertEqual(sum(line["kind"] == kind for line in lines), RUNS)
        self.assertLess(before, 200, "descriptors do not pile up")
        self.assertEqual(self.verify().returncode, 0)

    def open_descriptors(self):
        return len(os.listdir("/proc/%d/fd" % self.daemon.pid))


if __name__ == "__main__":
    unittest.main()
