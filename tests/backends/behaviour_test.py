#!/usr/bin/env python3
"""One behaviour of every backend: what is given, what is taken, how it ends, and that nothing is left. The backend is
CORDON_BACKEND; docker's engine is the one that engine.py started."""
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

BACKEND = os.environ.get("CORDON_BACKEND", "native")
TOOL = os.path.join(os.environ["CORDON_BIN"], "sandbox_run")
PROGRAMS = {"runc": "runc", "gvisor": "runsc", "docker": "dockerd"}
ROOT = os.getuid() == 0
# The slowest of them start in seconds on a busy machine.
PATIENCE = 180


def user_inside():
    """Which user a program is, as it sees itself."""
    if BACKEND == "native":
        return 1000
    if BACKEND == "gvisor":
        return 0  # of gVisor's own kernel
    if BACKEND == "docker":
        return 2147000000 if ROOT else os.getuid()
    return 2147000000 if ROOT else 0


def processes_with(mark):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if mark.encode() in file.read():
                    found.append(int(pid))
        except OSError:
            pass
    return [pid for pid in found if pid != os.getpid()]


def engine_containers():
    connection = http.client.HTTPConnection("engine")
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(os.environ["CORDON_TEST_SOCKET"])
    connection.request("GET", "/containers/json?all=1")
    return [one["Names"][0] for one in json.loads(connection.getresponse().read())]


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="cordon-backend-", dir=os.environ.get("CORDON_TEST_DIR", "/srv"))
        os.chmod(self.dir, 0o755)
        self.work = os.path.join(self.dir, "work")
        self.state = os.path.join(self.dir, "state")
        os.mkdir(self.work)
        os.mkdir(self.state, 0o700)

    def tearDown(self):
        left = os.path.join(self.state, "containers")
        names = os.listdir(left) if os.path.isdir(left) else []
        shutil.rmtree(self.dir, ignore_errors=True)
        self.assertEqual([name for name in names if name != "lock"], [], "a stage was left behind")

    def command(self, *options, shell=None, argv=None):
        words = [TOOL, "--backend", BACKEND, "--state", self.state]
        if BACKEND == "docker":
            words += ["--socket", os.environ["CORDON_TEST_SOCKET"], "--image", os.environ["CORDON_TEST_IMAGE"]]
        return [*words, *options, *(["--shell", shell] if shell is not None else ["--", *argv])]

    def run_tool(self, *options, shell=None, argv=None, **keywords):
        done = subprocess.run(self.command(*options, shell=shell, argv=argv), capture_output=True, timeout=PATIENCE, **keywords)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        result = json.loads(done.stdout)
        if result["outcome"] != "broken":
            self.assertEqual(result["isolation"]["backend"], BACKEND)
        return result

    def rw(self, *options, **keywords):
        return self.run_tool("--workspace", self.work, "--access", "rw", *options, **keywords)

    def good(self, result):
        self.assertEqual((result["outcome"], result["exit_code"]), ("exited", 0), json.dumps(result, indent=1))
        return result["stdout"]

    def write(self, name, text, mode=0o644):
        path = os.path.join(self.work, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def read(self, name):
        with open(os.path.join(self.work, name)) as file:
            return file.read()


class Streams(Case):
    def test_output_and_error_are_told_apart_and_the_exit_code_is_the_program_s(self):
        result = self.run_tool(shell="echo out; echo err >&2; exit 7")
        self.assertEqual((result["outcome"], result["exit_code"], result["stdout"], result["stderr"]),
                         ("exited", 7, "out\n", "err\n"))

    def test_every_byte_arrives_in_order_and_input_reaches_its_end(self):
        text = "".join(f"line {number}\n" for number in range(20000))
        result = self.run_tool("--stdin", "begin\n" + "x" * 70000, shell=f"wc -c; seq -f 'line %.0f' 0 19999")
        first, rest = self.good(result).split("\n", 1)
        self.assertEqual((first.strip(), rest), (str(70006), text))

    def test_without_input_stdin_is_empty(self):
        self.assertEqual(self.good(self.run_tool(shell="wc -c")).strip(), "0")

    def test_more_output_than_the_limit_is_cut_and_said(self):
        result = self.run_tool("--output", "1000", shell="head -c 200000 /dev/zero | tr '\\0' x; echo e >&2")
        self.assertEqual(self.good(result), "x" * 1000)
        self.assertEqual(result["truncated"], {"stdout": True, "stderr": False})
        self.assertEqual(result["usage"]["stdout_bytes"], 200000)

    def test_output_without_end_is_ended(self):
        result = self.run_tool("--output-kill", "2000000", shell="cat /dev/zero")
        self.assertEqual((result["outcome"], result["killed_by"]), ("killed", "output"))


class Ends(Case):
    def test_a_signal_is_not_an_exit_code(self):
        result = self.run_tool(shell="kill -TERM $$")
        self.assertEqual((result["outcome"], result["signal"], result["killed_by"]), ("killed", 15, "signal"))
        result = self.run_tool(shell="exit 143")
        self.assertEqual((result["outcome"], result["exit_code"]), ("exited", 143))

    def test_time_is_over(self):
        mark = f"3{os.getpid()}.25"
        result = self.run_tool("--wall", "1500", shell=f"sleep {mark} & setsid sleep {mark} & echo begun; wait")
        self.assertEqual((result["outcome"], result["killed_by"], result["stdout"]), ("killed", "timeout", "begun\n"))
        self.assertIn("limit: time", result["error"])
        self.assertEqual(processes_with(mark), [])

    def test_what_the_program_left_running_ends_with_it(self):
        mark = f"4{os.getpid()}.25"
        self.good(self.run_tool(shell=f"setsid sleep {mark} >/dev/null 2>&1 & disown; exit 0"))
        self.assertEqual(processes_with(mark), [])

    def test_memory_runs_out(self):
        result = self.run_tool("--memory", str(96 << 20), shell="python3 -c 'x = [bytearray(1 << 20) for _ in range(600)]; print(len(x))'")
        self.assertNotIn("600", result["stdout"])
        if BACKEND == "gvisor":  # the Sentry goes with what it runs
            self.assertEqual(result["outcome"], "killed", result)
        else:
            self.assertEqual((result["outcome"], result["killed_by"]), ("killed", "memory"), result)

    def test_a_program_that_is_not_there_is_no_exit_code(self):
        result = self.run_tool(argv=["no-such-program"])
        self.assertEqual(result["outcome"], "broken")
        self.assertIn("not found", result["error"])

    def test_a_program_that_changed_since_is_not_run(self):
        path = self.write("tool", "#!/bin/sh\necho ran\n", 0o755)
        options = ("--workspace", self.work, "--access", "rw", "--expect", path)
        self.assertEqual(self.good(self.run_tool(*options, argv=[path])), "ran\n")
        other = self.write("other", "#!/bin/sh\necho other\n", 0o755)
        result = self.run_tool("--workspace", self.work, "--access", "rw", "--expect", path, argv=[other])
        self.assertEqual(result["outcome"], "broken")
        self.assertIn("not the file that was planned", result["error"])

    def test_a_stopped_run_leaves_nothing(self):
        mark = f"5{os.getpid()}.25"
        with subprocess.Popen(self.command("--raw", shell=f"echo up; sleep {mark}"), stdout=subprocess.PIPE) as process:
            self.assertEqual(process.stdout.readline(), b"up\n")
            process.send_signal(signal.SIGKILL)
        deadline = time.monotonic() + PATIENCE
        while processes_with(mark) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(processes_with(mark), [], "it outlived a killed launcher")
        # Whatever of it is still on the disk or in the engine is swept by the next one.
        self.good(self.run_tool(argv=["true"]))
        self.assertEqual(self.containers(), [])

    def containers(self):
        if BACKEND == "docker":
            return [name for name in engine_containers() if name.startswith("/cordon-") and not name.startswith("/cordon-kept-")]
        place = os.path.join(self.state, BACKEND)
        return os.listdir(place) if os.path.isdir(place) else []


class Limits(Case):
    def test_processes_are_bounded(self):
        if BACKEND == "gvisor":
            self.skipTest("gVisor's processes are not the host's; its memory limit holds them (docs/backends.md)")
        result = self.run_tool("--pids", "20", "--wall", "60000", shell="for i in $(seq 200); do sleep 30 & done 2>/dev/null; jobs -p | wc -l")
        if result["outcome"] == "exited":
            self.assertLessEqual(int(result["stdout"] or 0), 20)
        else:
            self.assertEqual(result["killed_by"], "pids", result)

    def test_a_file_that_grows_too_large_ends_it_and_core_dumps_are_off(self):
        result = self.run_tool("--file", "100000", argv=["head", "-c", "300000", "/dev/zero"])
        self.good(result)
        result = self.rw("--file", "100000", shell="ulimit -c; exec python3 -c 'import signal; signal.signal(signal.SIGXFSZ, signal.SIG_DFL); open(\"big\", \"wb\", 0).write(b\"x\" * 300000); open(\"big\", \"ab\", 0).write(b\"x\" * 300000)'")
        self.assertEqual(result["stdout"], "0\n")
        self.assertLessEqual(os.path.getsize(os.path.join(self.work, "big")), 100000)

    def test_what_it_writes_is_bounded(self):
        result = self.rw("--disk", "20000000", "--wall", "60000",
                         shell="for i in $(seq 100); do head -c 4000000 /dev/zero > f$i; sync; sleep 0.1; done; echo done")
        self.assertEqual((result["outcome"], result["killed_by"]), ("killed", "disk"), result)


class Surroundings(Case):
    def test_who_and_where_it_is(self):
        out = self.good(self.run_tool("--cwd", "/usr", "--env", "A=b c", "--env", "LD_PRELOAD=/x", "--env", "BASH_ENV=/x",
                                      shell="id -u; pwd; echo \"$A|$LD_PRELOAD|$BASH_ENV\"; echo $HOME; id -un; uname -n; echo $PATH | tr : '\\n' | grep -c bin"))
        lines = out.split("\n")
        self.assertEqual(lines[:3], [str(user_inside()), "/usr", "b c||"])
        self.assertEqual(lines[3:6], ["/home/sandboxuser", "sandboxuser", "sandbox" if BACKEND != "native" else lines[5]])
        self.assertNotEqual(user_inside(), 0 if BACKEND in ("native", "docker") else -1)

    def test_no_capability_no_new_privileges_filtered(self):
        out = self.good(self.run_tool(shell="grep -E '^(CapPrm|CapEff|CapBnd|CapAmb|NoNewPrivs|Seccomp):' /proc/self/status"))
        for line in out.strip().split("\n"):
            if line.startswith("Cap") and (BACKEND != "gvisor" or not line.startswith("CapBnd")):
                self.assertTrue(line.endswith("0" * 16), line)
        if BACKEND != "gvisor":
            self.assertIn("NoNewPrivs:\t1", out)
        self.assertIn("Seccomp:\t2", out)

    def test_the_root_is_read_only_and_the_host_is_not_there(self):
        secret = os.path.join(self.dir, "secret")
        with open(secret, "w") as file:
            file.write("s3cret")
        out = self.good(self.run_tool(shell=f"""
            for path in /x /usr/x /etc/x /bin/x /proc/sys/kernel/core_pattern; do (: > $path) 2>/dev/null && echo wrote $path; done
            for path in {secret} /etc/shadow /root/.ssh /var/lib/dpkg /run/docker.sock /var/run/docker.sock; do test -e $path && echo sees $path; done
            cat /proc/1/environ 2>/dev/null | tr '\\0' '\\n' | grep -E 'CORDON_TEST|SUDO|SSH'
            echo end"""))
        self.assertEqual(out, "end\n")

    def test_there_is_no_network(self):
        program = ("import socket\n"
                   "for where in (('1.1.1.1', 53), ('169.254.169.254', 80), ('10.0.0.1', 80)):\n"
                   "    s = socket.socket(); s.settimeout(3)\n"
                   "    try: s.connect(where); print('OPEN', where)\n"
                   "    except OSError: pass\n"
                   "try: socket.getaddrinfo('example.com', 80); print('RESOLVED')\n"
                   "except OSError: pass\n"
                   "for family in (16, 17, 40):\n"
                   "    try: socket.socket(family, socket.SOCK_RAW); print('FAMILY', family)\n"
                   "    except OSError: pass\n"
                   "print('end')\n")
        out = self.good(self.run_tool(argv=["python3", "-c", program]))
        self.assertEqual([line for line in out.split("\n") if line and not (BACKEND == "gvisor" and line == "FAMILY 16")], ["end"])

    def test_refused_calls_are_refused(self):
        program = ("import ctypes, os\n"
                   "libc = ctypes.CDLL(None, use_errno=True)\n"
                   "def attempt(name, *words):\n"
                   "    if libc.syscall(*words) >= 0: print('OPEN', name)\n"
                   "attempt('unshare user', 272, 0x10000000)\n"
                   "attempt('mount', 165, b'x', b'/tmp', b'tmpfs', 0, 0)\n"
                   "attempt('keyctl', 250, 0, -3, 1)\n"
                   "attempt('bpf', 321, 0, 0, 0)\n"
                   "attempt('perf_event_open', 298, 0, 0, -1, -1, 0)\n"
                   "attempt('userfaultfd', 323, 1)\n"
                   "attempt('io_uring_setup', 425, 1, 0)\n"
                   "attempt('setns', 308, 0, 0)\n"
                   "attempt('chroot', 161, b'/tmp')\n"
                   "attempt('ptrace', 101, 16, 1, 0, 0)\n"
                   "try:\n"
                   "    open('/tmp/s', 'w').close(); os.chmod('/tmp/s', 0o4755)\n"
                   "    if os.stat('/tmp/s').st_mode & 0o4000: print('SETUID')\n"
                   "except OSError: pass\n"
                   "print('end')\n")
        out = self.good(self.run_tool(argv=["python3", "-c", program]))
        tolerated = {"SETUID"} if BACKEND == "gvisor" else set()  # nosuid mounts, and no new privileges
        self.assertEqual([line for line in out.split("\n") if line and line not in tolerated], ["end"])


class Files(Case):
    def test_a_writable_workspace_is_written_as_its_owner(self):
        self.write("in.txt", "given\n")
        self.good(self.rw(shell="cat in.txt > out.txt; echo more >> /workspace/out.txt; mkdir d; ln -s in.txt l"))
        self.assertEqual(self.read("out.txt"), "given\nmore\n")
        self.assertEqual(os.stat(os.path.join(self.work, "out.txt")).st_uid, os.getuid())

    def test_a_read_only_workspace_is_not(self):
        self.write("in.txt", "given\n")
        out = self.good(self.run_tool("--workspace", self.work, "--access", "ro",
                                      shell="cat in.txt /agent/in.txt; echo x 2>/dev/null > in.txt || echo refused; rm -f in.txt 2>/dev/null; mv in.txt y 2>/dev/null; true"))
        self.assertEqual(out, "given\ngiven\nrefused\n")
        self.assertEqual(os.listdir(self.work), ["in.txt"])

    def test_a_throwaway_view_changes_nothing_and_hides_credentials(self):
        self.write("in.txt", "given\n")
        self.write(".env", "SECRET=1\n")
        self.write("keys/id_rsa", "secret\n")
        out = self.good(self.run_tool("--workspace", self.work, "--access", "overlay", "--hide", ".env", "--hide", "keys/id_rsa",
                                      shell="cat in.txt; cat .env keys/id_rsa 2>/dev/null; echo new > in.txt; echo x > made; rm -rf keys; cat in.txt made"))
        self.assertEqual(out, "given\nnew\nx\n")
        self.assertEqual((self.read("in.txt"), self.read("keys/id_rsa")), ("given\n", "secret\n"))
        self.assertFalse(os.path.exists(os.path.join(self.work, "made")))

    def test_protected_paths_hold_and_leave_nothing_behind(self):
        self.write(".git/config", "[core]\n")
        self.write(".git/HEAD", "ref\n")
        self.write("hidden.txt", "secret\n")
        out = self.good(self.rw("--protect", ".git/config", "--protect", ".git/hooks/", "--protect", "SANDBOX.md", "--hide", "hidden.txt", shell="""
            (echo x >> .git/config) 2>/dev/null && echo wrote config
            (echo x > /workspace/.git/config) 2>/dev/null && echo wrote config by the other name
            (echo x > .git/hooks/pre-commit) 2>/dev/null && echo wrote a hook
            (echo x > SANDBOX.md) 2>/dev/null && echo wrote SANDBOX.md
            mv .git g 2>/dev/null && echo moved .git
            rm -rf .git/config 2>/dev/null && echo removed config
            cat hidden.txt
            echo y > .git/HEAD && echo free
            echo end"""))
        self.assertEqual(out.strip().split("\n"), ["free", "end"])
        self.assertEqual(self.read(".git/config"), "[core]\n")
        self.assertEqual(sorted(os.listdir(self.work)), [".git", "hidden.txt"])
        self.assertEqual(sorted(os.listdir(os.path.join(self.work, ".git"))), ["HEAD", "config"])

    def test_binds_are_there_as_asked(self):
        data = os.path.join(self.dir, "data")
        os.mkdir(data)
        with open(os.path.join(data, "f"), "w") as file:
            file.write("bound\n")
        out = self.good(self.run_tool("--bind", f"{data}:/data:ro", "--bind", f"{data}:/more/data:rw",
                                      shell="cat /data/f; (echo x > /data/g) 2>/dev/null && echo wrote; echo y > /more/data/h"))
        self.assertEqual(out, "bound\n")
        self.assertEqual(sorted(os.listdir(data)), ["f", "h"])

    def test_a_link_in_place_of_a_bind_is_not_followed(self):
        real = os.path.join(self.dir, "real")
        os.mkdir(real)
        link = os.path.join(self.dir, "link")
        os.symlink("/etc", link)
        for path in (link, link + "/ssl"):
            result = self.run_tool("--bind", f"{path}:/data:rw", shell="ls /data")
            self.assertEqual(result["outcome"], "broken", result)

    def test_home_and_tmp_are_private_and_kept_only_with_a_session(self):
        probe = "cat ~/note /tmp/note 2>/dev/null; echo kept > ~/note; echo kept > /tmp/note; mkdir -p ~/a/b; echo end"
        for _ in range(2):
            self.assertEqual(self.good(self.run_tool(shell=probe)), "end\n")
        session = os.path.join(self.dir, "session")
        options = ("--session", session, "--home", "/home/someone")
        self.assertEqual(self.good(self.run_tool(*options, shell=probe)), "end\n")
        self.assertEqual(self.good(self.run_tool(*options, shell=probe + "; echo $HOME")), "kept\nkept\nend\n/home/someone\n")


def main():
    if BACKEND != "native" and shutil.which(PROGRAMS[BACKEND]) is None:
        print(f"skipped: there is no {PROGRAMS[BACKEND]}; apt install {'docker.io' if BACKEND == 'docker' else PROGRAMS[BACKEND]}")
        sys.exit(77)
    unittest.main(verbosity=2)


if __name__ == "__main__":
    main()
