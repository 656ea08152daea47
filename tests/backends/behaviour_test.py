#!/usr/bin/env python3
"""One behaviour of every backend: what is given, what is taken, how it ends, and that nothing is left. The backend is
CORDON_BACKEND; docker's engine is the one that engine.py started: Docker, or with CORDON_ENGINE=podman Podman."""
import hashlib
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

BACKEND = os.environ.get("CORDON_BACKEND", "native")
TOOL = os.path.join(os.environ["CORDON_BIN"], "sandbox_run")
PODMAN = os.environ.get("CORDON_ENGINE") == "podman"
PROGRAMS = {"runc": "runc", "crun": "crun", "gvisor": "runsc", "docker": "podman" if PODMAN else "dockerd"}
PACKAGES = {"dockerd": "docker.io"}
ROOT = os.getuid() == 0
# The slowest of them start in seconds on a busy machine.
PATIENCE = 180
KEY = "cordon.session"  # a label of containers that are kept


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


def engine(method, path, body=None):
    connection = http.client.HTTPConnection("engine")
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(os.environ["CORDON_TEST_SOCKET"])
    connection.request(method, path, json.dumps(body) if body else None, {"Content-Type": "application/json"})
    text = connection.getresponse().read()
    connection.close()
    return json.loads(text) if text else None


def engine_containers():
    return [one["Id"] for one in engine("GET", "/containers/json?all=1") if KEY not in (one["Labels"] or {})]


def engine_containers_of(session):
    return [one["Id"] for one in engine("GET", "/containers/json?all=1") if (one["Labels"] or {}).get(KEY) == session]


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
            return engine_containers()
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
            grep -hs nameserver /etc/resolv.conf
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


    def test_the_machine_is_not_read_from_sys_and_proc(self):
        program = ("import os\n"
                   "def readable(path):\n"
                   "    try:\n"
                   "        with open(path, 'rb') as file: return bool(file.read(1))\n"
                   "    except OSError: return False\n"
                   "for top, _, names in os.walk('/sys'):\n"
                   "    for name in names:\n"
                   "        if readable(os.path.join(top, name)): print(os.path.join(top, name))\n"
                   "for name in ('kcore', 'keys', 'timer_list', 'sched_debug', 'kallsyms', 'interrupts', 'iomem', 'ioports',\n"
                   "             'modules', 'kmsg', 'cmdline', 'config.gz', 'sys/kernel/random/boot_id', 'kpageflags'):\n"
                   "    if readable('/proc/' + name): print('/proc/' + name)\n"
                   "for name in ('acpi', 'scsi', 'asound', 'driver', 'bus'):\n"
                   "    if os.path.isdir('/proc/' + name) and os.listdir('/proc/' + name): print('/proc/' + name)\n"
                   "print('end')\n")
        lines = self.good(self.run_tool(argv=["python3", "-c", program])).split()
        if BACKEND == "gvisor":  # tables of its own kernel
            lines = [line for line in lines if not line.startswith(("/sys/", "/proc/cmdline"))]
        if BACKEND == "native":
            # Its user namespace takes the right to read what is not covered; these two tell everybody the same.
            lines = [line for line in lines if line not in ("/proc/interrupts", "/proc/kallsyms", "/proc/modules",
                                                            "/proc/iomem", "/proc/ioports", "/proc/driver", "/proc/bus",
                                                            "/proc/scsi", "/proc/acpi")]
        self.assertEqual(lines[:10], ["end"])


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

    def test_what_is_given_has_neither_devices_nor_setuid_programs(self):
        if BACKEND == "gvisor":
            self.skipTest("gVisor opens no device of the host, and its own kernel has no setuid programs")
        if BACKEND == "docker" and not ROOT:
            self.skipTest("only root can mount with nodev and nosuid; the engine has no word for it")
        data = os.path.join(self.dir, "data")
        os.mkdir(data)
        session = os.path.join(self.dir, "session")
        for keep in ((), ("--idle", "60000", "--life", "60000")):
            out = self.good(self.rw("--bind", f"{data}:/data:ro", "--bind", f"{data}:/more/data:rw", "--session", session,
                                    *keep, shell="cat /proc/self/mountinfo"))
            options = {fields[4]: set(fields[5].split(",")) for fields in map(str.split, out.strip().split("\n"))}
            for place in (self.work, "/workspace", "/data", "/more/data", "/tmp", "/home/sandboxuser"):
                self.assertLessEqual({"nodev", "nosuid"}, options[place], place)
            self.assertIn("ro", options["/data"])
            self.assertIn("rw", options["/more/data"])
        self.end_kept(session)

    def end_kept(self, session):
        for one in engine_containers_of(session) if BACKEND == "docker" else []:
            engine("DELETE", f"/containers/{one}?force=1")

    def test_a_path_that_looks_like_options_is_only_a_path(self):
        for name in ("a=b", "c,rw=true", "d,target=", 'e"f'):
            data = os.path.join(self.dir, name)
            os.mkdir(data)
            with open(os.path.join(data, "f"), "w") as file:
                file.write(name)
            for bind in (f"{data}:/data:ro", f"{data}:{data}:ro"):
                result = self.run_tool("--bind", bind, argv=["cat", bind.split(":")[1] + "/f"])
                # Podman joins the words of a mount with commas. Given by root, the source is a place of Cordon's own.
                told = data in bind if not ROOT else bind.count(data) == 2
                if PODMAN and told and name != "a=b":
                    self.assertIn("Podman cannot mount", result["error"] or "", result)
                    continue
                self.assertEqual(self.good(result), name)
                self.assertEqual(os.listdir(data), ["f"])

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


# Beside another run in the same container, as the same user: it calls at every socket that it finds, and looks into
# everything of Cordon's that it may. What it achieves it prints.
HOSTILE = r"""
import os, socket, struct
fake = b"".join(struct.pack("<IiiIQQ", kind, 0, 0, 0, 0, 0) for kind in (1, 3, 4))  # ready, started, ended
print("up", flush=True)
while True:
    names = set()
    for place in ("/.cordon", "/.cordon/calls"):
        try:
            names.update(os.path.join(place, name) for name in os.listdir(place))
        except OSError:
            pass
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline") as file:
                words = file.read().split("\0")
        except OSError:
            continue
        names.update(word for word in words if word.startswith("/.cordon/"))
        if words[0] != "/.cordon/init":
            continue
        try:
            os.close(os.open(f"/proc/{pid}/mem", os.O_RDWR))
            # It may have become the program of its run in between, which is no secret to this one.
            with open(f"/proc/{pid}/cmdline") as file:
                if file.read().startswith("/.cordon/init"):
                    print("OPENED", pid, flush=True)
        except OSError:
            pass
    for name in names:
        with socket.socket(socket.AF_UNIX) as caller:
            try:
                caller.connect(name)
                caller.sendall(fake)
                print("CONNECTED", name, flush=True)
            except OSError:
                pass
"""


class ForgetfulEngine:
    """Between Cordon and the engine: a limit is gone from every request to make a container, as engines do that cannot
    hold it."""
    def __init__(self, path, limit):
        self.limit = limit
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(16)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.connect, args=(client,), daemon=True).start()

    def connect(self, client):
        other = socket.socket(socket.AF_UNIX)
        other.connect(os.environ["CORDON_TEST_SOCKET"])
        threading.Thread(target=self.copy, args=(other, client), daemon=True).start()
        text = b""
        while b"\r\n\r\n" not in text and (got := client.recv(65536)):
            text += got
        head, _, body = text.partition(b"\r\n\r\n")
        if b"/containers/create" in head.split(b"\r\n")[0]:
            length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
            while len(body) < length:
                body += client.recv(65536)
            wanted = json.loads(body)
            for name in self.limit:
                del wanted["HostConfig"][name]
            body = json.dumps(wanted).encode()
            head = head.replace(str(length).encode(), str(len(body)).encode())
        other.sendall(head + b"\r\n\r\n" + body)
        self.copy(client, other)

    @staticmethod
    def copy(source, target):
        try:
            while got := source.recv(65536):
                target.sendall(got)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass


@unittest.skipUnless(BACKEND == "docker", "an engine holds the limits")
class DroppedLimits(Case):
    def test_an_engine_that_holds_no_limits_runs_nothing(self):
        for limit in (("Memory", "MemorySwap"), ("PidsLimit",)):
            for keep in ((), ("--session", os.path.join(self.dir, "session"))):
                path = os.path.join(self.dir, "engine.sock")
                forgetful = ForgetfulEngine(path, limit)
                try:
                    result = self.run_tool("--socket", path, "--workspace", self.work, "--access", "rw", *keep, shell="touch ran")
                finally:
                    forgetful.listener.close()
                    os.unlink(path)
                self.assertEqual(result["outcome"], "broken", result)
                self.assertIn("the container engine does not limit", result["error"])
                self.assertEqual(os.listdir(self.work), [])
        self.assertEqual(engine_containers_of(os.path.join(self.dir, "session")), [])


@unittest.skipUnless(BACKEND == "docker", "containers are kept by an engine")
class KeptContainers(Case):
    def setUp(self):
        super().setUp()
        self.session = os.path.join(self.dir, "session")

    def tearDown(self):
        for one in self.containers():
            engine("DELETE", f"/containers/{one}?force=1")
        super().tearDown()

    def containers(self):
        return engine_containers_of(self.session)

    def options(self, idle=600000, life=600000):
        return ("--session", self.session, "--idle", str(idle), "--life", str(life), "--workspace", self.work, "--access", "rw")

    def kept(self, shell, *options, idle=600000, life=600000):
        return self.run_tool(*self.options(idle, life), *options, shell=shell)

    def until_gone(self):
        deadline = time.monotonic() + PATIENCE
        while self.containers() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(self.containers(), [], "it did not end by itself")

    def test_the_second_run_is_in_the_first_one_s_container_and_a_run_like_any_other(self):
        self.assertEqual(self.good(self.kept("echo one > ~/note; echo two > made; sleep 1000 & true")), "")
        first = self.containers()
        self.assertEqual(len(first), 1)
        result = self.kept("cat; cat ~/note made; echo err >&2; pgrep -x sleep; exit 7", "--stdin", "in\n")
        self.assertEqual((result["exit_code"], result["stdout"], result["stderr"]), (7, "in\none\ntwo\n", "err\n"), result)
        result = self.kept("kill -9 $$")
        self.assertEqual((result["outcome"], result["signal"]), ("killed", 9))
        result = self.kept("echo > /dev/stdout; echo >> /dev/stderr; id -u; cat /proc/self/status")
        self.assertEqual(result["stdout"].split()[0], str(user_inside()))
        for line in ("CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"):
            self.assertIn(line + "\n", result["stdout"])
        self.assertEqual(self.containers(), first)

    def test_time_is_over_there_too_and_nothing_of_the_run_is_left(self):
        mark = f"6{os.getpid()}.25"
        self.good(self.kept("true"))
        result = self.kept(f"sleep {mark} & setsid sleep {mark} & echo begun; wait", "--wall", "1500")
        self.assertEqual((result["outcome"], result["killed_by"], result["stdout"]), ("killed", "timeout", "begun\n"))
        self.assertEqual(processes_with(mark), [])
        self.good(self.kept("true"))

    def test_a_killed_launcher_takes_its_run_with_it_and_the_container_stays(self):
        mark = f"7{os.getpid()}.25"
        self.good(self.kept("true"))
        first = self.containers()
        with subprocess.Popen(self.command(*self.options(), "--raw", shell=f"echo up; sleep {mark}"), stdout=subprocess.PIPE) as process:
            self.assertEqual(process.stdout.readline(), b"up\n")
            process.send_signal(signal.SIGKILL)
        deadline = time.monotonic() + PATIENCE
        while processes_with(mark) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(processes_with(mark), [])
        self.good(self.kept("true"))
        self.assertEqual(self.containers(), first)

    def test_one_that_was_lost_is_made_again(self):
        place = os.path.join(self.session, "container")

        def engine_removes():
            for one in self.containers():
                engine("DELETE", f"/containers/{one}?force=1")

        def note_is_garbage():
            with open(os.path.join(place, "made"), "w") as file:
                file.write("\0 nothing\n")

        def nobody_listens():
            os.unlink(os.path.join(place, "socket"))
            with socket.socket(socket.AF_UNIX) as nobody:
                nobody.bind(os.path.join(place, "socket"))  # and does not listen

        for lose in (engine_removes, note_is_garbage, nobody_listens, lambda: shutil.rmtree(place)):
            self.good(self.kept("true"))
            lose()
            self.assertEqual(self.good(self.kept("echo again")), "again\n")
            now = self.containers()
            self.assertEqual(self.good(self.kept("echo again")), "again\n")
            self.assertEqual(self.containers(), now, "it is made anew each time")

    def test_one_that_never_ran_blocks_nothing_and_is_swept(self):
        mark = hashlib.sha256(self.state.encode()).hexdigest()[:32]
        made = engine("POST", "/containers/create", {
            "Image": os.environ["CORDON_TEST_IMAGE"], "Cmd": ["true"],
            "Labels": {"cordon.state": mark, KEY: self.session, "cordon.maker": "1.1"}})["Id"]
        self.good(self.kept("true"))
        self.assertNotIn(made, self.containers())
        first = self.containers()
        self.good(self.kept("true"))
        self.assertEqual(self.containers(), first)

    def test_a_program_in_it_cannot_answer_for_another_run(self):
        program = self.write("hostile.py", HOSTILE)
        self.good(self.kept("true"))
        with subprocess.Popen(self.command(*self.options(), "--raw", argv=["python3", program]), stdout=subprocess.PIPE, text=True) as hostile:
            try:
                self.assertEqual(hostile.stdout.readline(), "up\n")
                for _ in range(10):
                    result = self.kept("echo real; exit 7")
                    self.assertEqual((result["outcome"], result["exit_code"], result["stdout"]), ("exited", 7, "real\n"), result)
            finally:
                hostile.kill()
            self.assertEqual(hostile.stdout.read(), "")
        self.good(self.kept("true"))  # sweeps what the killed one left

    def test_it_ends_when_nobody_comes(self):
        self.good(self.kept("true", idle=1500))
        self.until_gone()
        self.assertEqual(self.good(self.kept("echo again", idle=1500)), "again\n")
        # Not while somebody is there.
        self.assertEqual(self.good(self.kept("sleep 3; echo there", idle=1500)), "there\n")
        self.until_gone()

    def test_it_ends_when_it_is_old_but_not_under_a_run(self):
        with subprocess.Popen(self.command(*self.options(life=2000), "--raw", shell="echo up; sleep 4; echo there"),
                              stdout=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.readline(), "up\n")
            old = self.containers()
            # Others have another one, once it is too old.
            deadline = time.monotonic() + PATIENCE
            while self.containers() == old and time.monotonic() < deadline and process.poll() is None:
                self.good(self.kept("true", life=2000))
            self.assertEqual(process.stdout.read(), "there\n")
        self.until_gone()


def main():
    if BACKEND != "native" and shutil.which(PROGRAMS[BACKEND]) is None:
        program = PROGRAMS[BACKEND]
        print(f"skipped: there is no {program}; apt install {PACKAGES.get(program, program)}")
        sys.exit(77)
    unittest.main(verbosity=2)


if __name__ == "__main__":
    main()
