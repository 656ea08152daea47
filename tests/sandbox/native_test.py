#!/usr/bin/python3
"""The native sandbox from outside: what it gives, what it takes, and what is left of it. Every test runs twice when root
starts it: as root, and as an unprivileged user in control groups that were handed to it."""
import json
import os
import pwd
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TOOL = os.path.join(os.environ["CORDON_BIN"], "sandbox_run")
USER = "cordon-test"
CONTROLLERS = ("memory", "pids", "cpu", "cpuacct")


def delegate(uid, name):
    """A control group of the user's own in every hierarchy there is; the caller moves into it."""
    made = []
    for controller in CONTROLLERS:
        path = f"/sys/fs/cgroup/{controller}/{name}"
        if os.path.isdir(f"/sys/fs/cgroup/{controller}"):
            os.makedirs(path, exist_ok=True)
            for item in ["."] + os.listdir(path):
                os.chown(os.path.join(path, item), uid, uid)
            with open(os.path.join(path, "cgroup.procs"), "w") as procs:
                procs.write(str(os.getpid()))
            made.append(path)
    return made


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="cordon-test-", dir=os.environ.get("CORDON_TEST_DIR"))
        os.chmod(self.dir, 0o755)
        self.work = os.path.join(self.dir, "work")
        self.state = os.path.join(self.dir, "state")
        os.mkdir(self.work)
        os.mkdir(self.state, 0o700)

    def tearDown(self):
        shutil.rmtree(self.dir, ignore_errors=True)

    def run_tool(self, *options, shell=None, argv=None, timeout=120):
        command = [TOOL, *options]
        command += ["--shell", shell] if shell is not None else ["--", *argv]
        done = subprocess.run(command, capture_output=True, timeout=timeout)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return json.loads(done.stdout)

    def rw(self, *options, **keywords):
        return self.run_tool("--workspace", self.work, "--access", "rw", "--state", self.state, *options, **keywords)

    def good(self, result):
        self.assertEqual((result["outcome"], result["exit_code"]), ("exited", 0), json.dumps(result, indent=1))
        return result["stdout"]

    def write(self, path, text, mode=0o644):
        path = os.path.join(self.work, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)


class Isolation(Case):
    def test_full_level_is_reached_and_nothing_is_missing(self):
        result = self.run_tool("--require", "L0", argv=["/bin/true"])
        self.good(result)
        self.assertEqual(result["isolation"], {"backend": "native", "level": "L0", "missing": []})

    def test_is_an_unprivileged_user_without_any_capability(self):
        out = self.good(self.run_tool(shell="id -u; id -g; grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status"))
        lines = out.split("\n")
        self.assertEqual(lines[:2], ["1000", "1000"])
        for line in lines[2:]:
            if line.startswith("Cap"):
                self.assertTrue(line.endswith("0000000000000000"), line)
        self.assertIn("NoNewPrivs:\t1", out)
        self.assertIn("Seccomp:\t2", out)

    def test_sees_three_descriptors_and_none_of_the_host(self):
        out = self.good(self.run_tool(shell="exec 9>&-; ls -l /proc/self/fd | tail -n +2 | wc -l; readlink /proc/$$/fd/0"))
        self.assertEqual(out.split(), ["4", "/dev/null"])  # 0, 1, 2 and ls's own

    def test_inherited_descriptors_do_not_reach_it(self):
        with open("/etc/hostname") as file:
            os.dup2(file.fileno(), 37)
        os.set_inheritable(37, True)
        done = subprocess.run([TOOL, "--shell", "ls /proc/self/fd"], capture_output=True, close_fds=False)
        os.close(37)
        self.assertEqual(json.loads(done.stdout)["stdout"].split(), ["0", "1", "2", "3"])

    def test_environment_is_a_short_list(self):
        done = subprocess.run([TOOL, "--env", "LD_PRELOAD=/x", "--env", "BASH_ENV=/x", "--env", "GOOD=1", "--", "/usr/bin/env"],
                              capture_output=True, env={**os.environ, "SECRET": "hidden"})
        names = {line.split("=")[0] for line in json.loads(done.stdout)["stdout"].split("\n") if line}
        self.assertEqual(names, {"HOME", "PATH", "USER", "LOGNAME", "SHELL", "LANG", "TMPDIR", "TERM", "CORDON_SANDBOX", "GOOD"})

    def test_host_files_beyond_the_allowlist_do_not_exist(self):
        secret = os.path.join(self.dir, "secret")
        with open(secret, "w") as file:
            file.write("x")
        out = self.good(self.run_tool(shell=f"ls {secret} /etc/shadow /sys /boot /var/lib 2>&1 | grep -c 'No such file'; ls /home; ls -A /root"))
        self.assertEqual(out.split(), ["5", "sandboxuser"])

    def test_the_kernels_symbols_are_covered(self):
        # Where the host lets everybody use perf, they are addresses.
        self.assertEqual(self.good(self.run_tool(shell="cat /proc/kallsyms /proc/modules | wc -c")).split(), ["0"])

    def test_pid_one_shows_nothing_of_the_launcher(self):
        out = self.good(self.run_tool(shell="cat /proc/1/environ /proc/1/maps 2>&1 | grep -c denied; ls /proc/1/fd 2>&1 | grep -c denied; tr '\\0' ' ' < /proc/1/cmdline"))
        self.assertEqual(out.split(), ["2", "1", "cordon-pid1", "with-companion"])

    def test_tty_is_its_own(self):
        out = self.good(self.run_tool("--tty", shell="tty; test -t 0 && test -t 1 && test -t 2 && echo all; stty size >/dev/null && echo sized"))
        self.assertEqual(out.replace("\r", "").split(), ["/dev/pts/0", "all", "sized"])

    def test_every_processor_of_the_launcher_is_the_programs(self):
        self.assertEqual(self.good(self.run_tool(argv=["nproc"])), f"{len(os.sched_getaffinity(0))}\n")
        others = os.sched_getaffinity(0)
        one = {min(others)}
        try:
            os.sched_setaffinity(0, one)
            self.assertEqual(self.good(self.run_tool(argv=["nproc"])), "1\n")
        finally:
            os.sched_setaffinity(0, others)

    def test_weaker_than_required_is_refused(self):
        result = self.run_tool("--require", "L0", "--without", "cgroup", argv=["/bin/true"])
        self.assertEqual(result["outcome"], "refused")

    def test_each_level_runs_and_names_itself(self):
        for layer, level in (("cgroup", "L1"), ("proc", "L2"), ("namespaces", "L4")) + ((("userns", "L3"),) if os.getuid() == 0 else ()):
            with self.subTest(level):
                result = self.run_tool("--without", layer, "--session", self.dir + "/session", shell="echo ran $(id -u)")
                self.assertIn("ran", self.good(result))
                self.assertEqual(result["isolation"]["level"], level)


    def test_the_hosts_files_are_gone_before_any_path_is_looked_up(self):
        # They go while the sandbox is still being closed: whoever is early must not find them.
        for start in ([], ["--warm", "1"]):
            self.assertEqual(self.good(self.run_tool(*start, "--cwd", "/.host", shell="pwd; ls -A")), "/.host\n")
            for options, program in ((["--cwd", "/.host/etc"], "/bin/pwd"), ([], "/.host/bin/true")):
                result = self.run_tool(*start, *options, argv=[program])
                self.assertEqual(result["outcome"], "broken", json.dumps(result, indent=1))


    def test_nothing_is_looked_up_while_the_hosts_files_are_late_to_go(self):
        if not shutil.which("strace"):
            self.skipTest("strace is not installed")
        late = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=umount2", "-e", "inject=umount2:delay_enter=400000"]
        done = subprocess.run([*late, TOOL, "--cwd", "/.host/etc", "--", "/bin/pwd"], capture_output=True, timeout=60)
        result = json.loads(done.stdout)
        self.assertEqual((result["outcome"], result["stdout"]), ("broken", ""), json.dumps(result, indent=1))


class Workspace(Case):
    def test_none_shows_no_host_directory(self):
        self.assertEqual(self.good(self.run_tool(shell=f"pwd; ls -d {self.work} 2>/dev/null; true")), "/home/sandboxuser\n")

    def test_read_only_can_be_read_at_both_paths_and_not_written(self):
        self.write("a", "text")
        out = self.good(self.run_tool("--workspace", self.work, "--access", "ro",
                                      shell=f"pwd; cat a /agent/a; touch b /agent/b 2>&1 | grep -c Read-only"))
        self.assertEqual(out, f"{self.work}\ntexttext2\n")

    def test_rw_files_belong_to_the_owner_outside(self):
        self.good(self.rw(shell="echo new > made; mkdir d; echo x > /workspace/d/e; cat /workspace/made"))
        for name in ("made", "d", "d/e"):
            self.assertEqual(os.stat(os.path.join(self.work, name)).st_uid, os.getuid())

    def test_overlay_keeps_the_workspace_unchanged(self):
        self.write("keep", "old")
        self.write("gone", "old")
        out = self.good(self.run_tool("--workspace", self.work, "--access", "overlay",
                                      shell="echo new > keep; rm gone; echo x > more; cat keep; ls /workspace"))
        self.assertEqual(out.split(), ["new", "keep", "more"])
        self.assertEqual(sorted(os.listdir(self.work)), ["gone", "keep"])
        self.assertEqual(open(self.work + "/keep").read(), "old")

    def test_overlay_changes_are_left_in_the_upper_directory_given(self):
        upper = self.dir + "/upper"
        os.mkdir(upper)
        self.write("keep", "old")
        self.good(self.run_tool("--workspace", self.work, "--access", "overlay", "--upper", upper, shell="echo new > keep"))
        self.assertEqual(open(upper + "/upper/keep").read(), "new\n")

    def test_binds_appear_where_asked_and_as_asked(self):
        extra = self.dir + "/extra"
        os.mkdir(extra)
        with open(extra + "/f", "w") as file:
            file.write("bound")
        out = self.good(self.run_tool("--bind", f"{extra}:/data/in:ro", "--bind", f"{extra}:/data/out:rw",
                                      shell="cat /data/in/f; touch /data/in/x 2>&1 | grep -c Read-only; echo 1 > /data/out/g; ls /data"))
        self.assertEqual(out, "bound1\nin\nout\n")
        self.assertEqual(open(extra + "/g").read(), "1\n")

    def test_session_home_and_tmp_persist(self):
        session = self.dir + "/session"
        self.good(self.run_tool("--session", session, shell="echo a > ~/kept; echo b > /tmp/kept"))
        self.assertEqual(self.good(self.run_tool("--session", session, shell="cat ~/kept /tmp/kept")), "a\nb\n")
        self.assertEqual(self.good(self.run_tool("--session", session + "2", shell="ls ~ /tmp | grep kept; true")), "")

    def test_without_a_session_nothing_persists(self):
        self.good(self.run_tool(shell="echo a > ~/kept; echo b > /tmp/kept"))
        self.assertEqual(self.good(self.run_tool(shell="ls ~ /tmp | grep kept; true")), "")


class Protected(Case):
    PROTECT = ("--protect", ".git/hooks/", "--protect", ".git/config", "--protect", "SANDBOX.md", "--protect", ".cordon/")

    def setUp(self):
        super().setUp()
        self.write(".git/hooks/pre-commit", "old")
        self.write(".git/config", "old")
        self.write("SANDBOX.md", "old")

    def test_what_exists_cannot_be_changed_moved_or_removed(self):
        out = self.good(self.rw(*self.PROTECT, shell="""
            for t in 'echo x > .git/hooks/pre-commit' 'echo x > .git/hooks/new' 'echo x > .git/config' 'echo x > SANDBOX.md' \\
                     'rm -f SANDBOX.md' 'mv .git .git2' 'mv .git/hooks h' 'rm -rf .git/hooks' 'ln -sf /x SANDBOX.md' \\
                     'echo x > /workspace/SANDBOX.md' 'mv /workspace/.git /workspace/g' 'chmod 777 .git/config'; do
              (eval "$t") 2>/dev/null && echo "GOT THROUGH: $t"; done; echo fine > .git/index; echo done"""))
        self.assertEqual(out, "done\n")
        self.assertEqual(open(self.work + "/.git/hooks/pre-commit").read(), "old")
        self.assertEqual(open(self.work + "/.git/index").read(), "fine\n")
        self.assertFalse({".git2", "g"} & set(os.listdir(self.work)))

    def test_what_is_missing_is_held_and_leaves_no_trace(self):
        out = self.good(self.rw(*self.PROTECT, shell="mkdir .cordon 2>&1; echo x > .cordon/config 2>/dev/null || echo held; mv .cordon c 2>/dev/null || echo held"))
        self.assertEqual(out.count("held"), 2)
        self.assertFalse(os.path.exists(self.work + "/.cordon"))
        self.assertEqual(os.listdir(self.state + "/placeholders"), ["lock"])

    def test_a_killed_run_leaves_placeholders_only_until_the_next_start(self):
        running = subprocess.Popen([TOOL, "--workspace", self.work, "--access", "rw", "--state", self.state, *self.PROTECT,
                                    "--raw", "--shell", "echo up; sleep 100"], stdout=subprocess.PIPE)
        running.stdout.readline()
        self.assertTrue(os.path.exists(self.work + "/.cordon"))
        running.kill()
        running.wait()
        running.stdout.close()
        self.good(self.rw(shell="true"))
        self.assertFalse(os.path.exists(self.work + "/.cordon"))

    def test_a_placeholder_stays_while_another_run_holds_it(self):
        running = subprocess.Popen([TOOL, "--workspace", self.work, "--access", "rw", "--state", self.state, *self.PROTECT,
                                    "--raw", "--shell", "echo up; read x; echo x > .cordon/a || echo held", "--stdin-inherit"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        running.stdout.readline()
        self.good(self.rw(*self.PROTECT, shell="true"))
        self.assertTrue(os.path.exists(self.work + "/.cordon"))
        out, _ = running.communicate(b"go\n")
        self.assertEqual(out, b"held\n")
        self.assertFalse(os.path.exists(self.work + "/.cordon"))

    def test_what_appears_where_its_directory_was_missing_is_quarantined_and_reported(self):
        shutil.rmtree(self.work + "/.git")
        result = self.rw(*self.PROTECT, shell="mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit")
        self.good(result)
        self.assertEqual([item["path"] for item in result["quarantined"]], [".git/hooks"])
        self.assertFalse(os.path.exists(self.work + "/.git/hooks"))
        self.assertTrue(os.path.exists(result["quarantined"][0]["kept"]))

    def test_a_run_that_closes_its_workspace_leaves_no_placeholder_and_keeps_its_mode(self):
        for mode in ("0", "015", "500"):
            self.good(self.rw(*self.PROTECT, shell=f"chmod {mode} ."))
            self.assertEqual(os.stat(self.work).st_mode & 0o777, int(mode, 8))
            os.chmod(self.work, 0o755)
            self.assertFalse(os.path.exists(self.work + "/.cordon"), mode)
            self.assertEqual(os.listdir(self.state + "/placeholders"), ["lock"])

    def test_closing_the_workspace_does_not_save_what_is_to_be_quarantined(self):
        shutil.rmtree(self.work + "/.git")
        for closing in ("chmod 0 .", "chmod 0 .git", "chmod 0 .git/hooks; chmod 0 .git; chmod 0 ."):
            result = self.rw(*self.PROTECT, shell=f"mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; {closing}")
            self.good(result)
            self.assertEqual([item["path"] for item in result["quarantined"]], [".git/hooks"], closing)
            os.chmod(self.work, 0o755)
            os.chmod(self.work + "/.git", 0o755)
            self.assertFalse(os.path.exists(self.work + "/.git/hooks"))
            shutil.rmtree(self.work + "/.git")

    def test_a_run_that_cannot_be_set_up_leaves_no_placeholder(self):
        result = self.rw(*self.PROTECT, "--bind", f"{self.dir}/missing:/data:ro", shell="true")
        self.assertEqual(result["outcome"], "broken")
        self.assertFalse(os.path.exists(self.work + "/.cordon"))
        self.assertEqual(os.listdir(self.state + "/placeholders"), ["lock"])

    def test_hidden_files_cannot_be_read(self):
        self.write(".env", "SECRET=1")
        out = self.good(self.rw("--hide", ".env", shell="wc -c < .env; cat /workspace/.env; mv .env e 2>/dev/null || echo held"))
        self.assertEqual(out, "0\nheld\n")


class Limits(Case):
    def killed(self, result, why):
        self.assertEqual((result["outcome"], result["killed_by"]), ("killed", why), json.dumps(result, indent=1))
        self.assertTrue(result["error"])

    def test_wall_time_against_ignored_signals_stop_and_setsid(self):
        result = self.run_tool("--wall", "300", shell="trap '' TERM INT HUP; setsid sleep 100 & kill -STOP $$")
        self.killed(result, "timeout")

    def test_memory_is_told_apart(self):
        result = self.run_tool("--memory", "60000000", argv=["/usr/bin/python3", "-c", "x=b'x'*300000000"])
        self.killed(result, "memory")
        self.assertGreater(result["usage"]["memory_peak_bytes"], 40000000)

    def test_memory_by_watchdog_without_control_groups(self):
        result = self.run_tool("--without", "cgroup", "--memory", "60000000", argv=["/usr/bin/python3", "-c", "x=b'x'*300000000\nimport time; time.sleep(50)"])
        self.killed(result, "memory")

    def test_memory_files_count_as_memory(self):
        result = self.run_tool("--memory", "60000000", shell="head -c 300000000 /dev/zero > /dev/shm/x")
        self.killed(result, "memory")

    def test_fork_bomb(self):
        result = self.run_tool("--pids", "30", "--wall", "20000", shell=":(){ :|:& };:; sleep 100")
        self.killed(result, "pids")
        self.assertLessEqual(result["usage"]["processes_peak"], 30)

    def test_fork_bomb_without_control_groups(self):
        self.killed(self.run_tool("--without", "cgroup", "--pids", "30", "--wall", "20000", shell=":(){ :|:& };:; sleep 100"), "pids")

    def test_cpu_time_of_the_whole_tree(self):
        result = self.run_tool("--cpu", "300", "--wall", "20000", shell="(while :; do :; done) & (while :; do :; done) & wait")
        self.killed(result, "timeout")

    def test_cpu_time_without_control_groups(self):
        self.killed(self.run_tool("--without", "cgroup", "--cpu", "300", "--wall", "20000", shell="while :; do :; done"), "timeout")

    def test_output_is_drained_counted_and_cut(self):
        result = self.run_tool("--output", "1000", shell="head -c 3000000 /dev/zero | tr '\\0' x; head -c 500 /dev/zero >&2")
        self.good(result)
        self.assertEqual((len(result["stdout"]), result["usage"]["stdout_bytes"]), (1000, 3000000))
        self.assertEqual(result["truncated"], {"stdout": True, "stderr": False})

    def test_endless_output_ends_the_run(self):
        self.killed(self.run_tool("--output-kill", "5000000", argv=["/usr/bin/yes"]), "output")

    def test_file_size(self):
        self.killed(self.run_tool("--file", "1000", shell="exec head -c 100000 /dev/zero > /tmp/x"), "disk")

    def test_memory_file_system_is_bounded_in_bytes_and_files(self):
        out = self.good(self.run_tool("--disk", "1000000", "--inodes", "50", shell="head -c 2000000 /dev/zero > /tmp/x 2>/dev/null || echo full; rm /tmp/x; for i in $(seq 100); do : > ~/f$i; done 2>/dev/null; ls ~ | wc -l"))
        self.assertEqual(out.split()[0], "full")
        self.assertLess(int(out.split()[1]), 50)

    def test_disk_watchdog_in_a_writable_workspace(self):
        result = self.rw("--disk", "20000000", "--file", "0", "--wall", "30000", shell="i=0; while :; do head -c 5000000 /dev/zero > f$i; i=$((i+1)); sync -f .; sleep 0.02; [ $i -lt 60 ] || sleep 100; done")
        self.killed(result, "disk")

    def test_open_files(self):
        out = self.good(self.run_tool("--files", "64", argv=["/usr/bin/python3", "-c", "import os\nl=[]\ntry:\n  while 1: l.append(os.dup(0))\nexcept OSError: print(len(l)<64)"]))
        self.assertEqual(out, "True\n")

    def test_no_core_dump(self):
        self.assertEqual(self.good(self.run_tool(shell="ulimit -c; ulimit -c 1 2>/dev/null || echo no")), "0\nno\n")

    def test_usage_is_reported(self):
        usage = self.run_tool(shell="for i in $(seq 20000); do :; done; sleep 0.1 & sleep 0.1 & wait")["usage"]
        self.assertGreater(usage["cpu_ms"], 0)
        self.assertGreater(usage["memory_peak_bytes"], 100000)
        self.assertEqual(usage["processes_peak"], 3)


    def test_what_a_killed_run_used_is_reported(self):
        for layers in ((), ("--without", "cgroup"), ("--without", "namespaces"), ("--without", "namespaces", "--without", "cgroup")):
            with self.subTest(layers):
                result = self.run_tool(*layers, "--wall", "700", shell="(while :; do :; done) & (while :; do :; done) & wait")
                if result["outcome"] == "refused":
                    continue  # neither namespaces nor Landlock: VersionTwo
                self.killed(result, "timeout")
                self.assertGreater(result["usage"]["cpu_ms"], 10)


class WithoutNamespaces(Case):
    """Level L4: Landlock and seccomp alone."""

    def test_what_it_cannot_hold_is_refused(self):
        self.write("a", "x")
        workspace = ("--workspace", self.work, "--access", "rw", "--state", self.state)
        for options in ((*workspace, "--protect", "a"), (*workspace, "--hide", "a"), ("--network", "loopback"), ("--tty",),
                        ("--workspace", self.work, "--access", "ro", "--hide", "a"),
                        ("--workspace", self.work, "--access", "overlay"), ("--bind", f"{self.work}:/data:rw")):
            with self.subTest(options):
                result = self.run_tool("--without", "namespaces", *options, argv=["/bin/true"])
                self.assertEqual(result["outcome"], "refused", json.dumps(result, indent=1))

    def test_all_end_with_the_program_or_at_the_deadline(self):
        marker = f"20{os.getpid()}"
        leave = f"setsid sleep {marker} & (trap '' TERM HUP; setsid sleep {marker} &) ; kill -STOP $! ; "
        for layers in ((), ("--without", "cgroup"), ("--without", "scopes"), ("--without", "scopes", "--without", "cgroup")):
            for end, options in (("exit 0", ()), ("sleep 100", ("--wall", "400"))):
                with self.subTest((layers, end)):
                    self.run_tool("--without", "namespaces", *layers, *options, shell=leave + end)
                    self.assertEqual(subprocess.run(["pgrep", "-f", f"sleep {marker}"], capture_output=True).stdout, b"")

    def test_the_program_cannot_end_its_supervisor(self):
        result = self.run_tool("--without", "namespaces", shell="kill -9 $PPID 2>/dev/null; echo alive")
        if any("scope for signals" in phrase for phrase in result["isolation"]["missing"]):
            self.skipTest("needs Landlock ABI 6; without it the report says so")
        self.assertEqual(result["outcome"], "exited", json.dumps(result, indent=1))
        self.assertEqual(result["stdout"], "alive\n")


class Lifetime(Case):
    def test_what_the_program_leaves_behind_dies_with_it(self):
        begin = time.monotonic()
        result = self.run_tool(shell="setsid sleep 1000 & (setsid sleep 1000 &) ; (trap '' HUP TERM; sleep 1000) & echo main; exit 3")
        self.assertEqual((result["exit_code"], result["stdout"]), (3, "main\n"))
        self.assertLess(time.monotonic() - begin, 20)

    def test_stdin_given_is_read_to_its_end(self):
        self.assertEqual(self.good(self.run_tool("--stdin", "hello", argv=["/bin/cat"])), "hello")

    def test_a_large_stdin_that_nobody_reads_does_not_block(self):
        self.good(self.run_tool("--stdin", "x" * 100000, argv=["/bin/true"]))

    def test_large_arguments_arrive(self):
        self.assertEqual(self.good(self.run_tool(argv=["/bin/sh", "-c", 'echo ${#1} ${#2}', "sh", "a" * 120000, "b" * 100000])), "120000 100000\n")

    def test_exit_codes_and_signals_are_told_apart(self):
        self.assertEqual(self.run_tool(shell="exit 42")["exit_code"], 42)
        result = self.run_tool(shell="kill -SEGV $$")
        self.assertEqual((result["killed_by"], result["signal"]), ("signal", signal.SIGSEGV))

    def test_a_program_that_is_not_there_did_not_run(self):
        for argv in (["/nonexistent"], ["nonexistent"], ["/etc/passwd"], ["/tmp"]):
            self.assertEqual(self.run_tool(argv=argv)["outcome"], "broken", argv)

    def test_pid_one_reaps_a_thousand_orphans(self):
        self.good(self.run_tool("--pids", "200", shell="for i in $(seq 1000); do (true &) ; done; sleep 0.2; [ $(ls -d /proc/[0-9]* | wc -l) -lt 20 ]"))

    def kill_launcher_at_random(self, rounds):
        marker = f"10{os.getpid()}"
        for i in range(rounds):
            running = subprocess.Popen([TOOL, "--shell", f"setsid sleep {marker} & trap '' TERM; sleep {marker}"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep((i * 7 % 31) / 1000)
            running.kill()
            running.wait()
        deadline = time.monotonic() + 0.1 * (1 + os.getloadavg()[0])
        while True:
            left = subprocess.run(["pgrep", "-f", f"sleep {marker}"], capture_output=True).stdout
            if not left or time.monotonic() > deadline:
                break
            time.sleep(0.01)
        self.assertEqual(left, b"")
        self.good(self.run_tool(argv=["/bin/true"]))
        self.assertEqual(leftover_groups(), [])

    def test_nothing_survives_a_killed_launcher(self):
        self.kill_launcher_at_random(int(os.environ.get("CORDON_KILLS", "30")))


def leftover_groups():
    found = []
    if os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
        for directory, names, _ in os.walk("/sys/fs/cgroup"):
            found += [os.path.join(directory, n) for n in names if n.startswith("cordon-") and "." in n]
    for controller in CONTROLLERS:
        with open("/proc/self/cgroup") as file:
            for line in file:
                _, names, path = line.strip().split(":", 2)
                if controller in names.split(","):
                    base = f"/sys/fs/cgroup/{controller}{path}"
                    if os.path.isdir(base):
                        found += [os.path.join(base, n) for n in os.listdir(base) if n.startswith("cordon-") and "." in n]
    return found


def is_running(pid):
    """A dead process that its new parent has not collected yet does not run."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def wait_for_end(pids):
    """A moment for the kernel, longer where everything takes longer."""
    deadline = time.monotonic() + 0.1 * (1 + os.getloadavg()[0])
    while any(is_running(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.01)


class Leaks(Case):
    def test_many_in_a_row_and_at_once_leave_nothing(self):
        runs, at_once = int(os.environ.get("CORDON_RUNS", "300")), int(os.environ.get("CORDON_AT_ONCE", "40"))
        done = subprocess.run([os.path.join(os.environ["CORDON_BIN"], "sandbox_soak"), str(runs), str(at_once)], capture_output=True, timeout=1500)
        self.assertEqual(done.returncode, 0, done.stdout.decode() + done.stderr.decode())
        self.assertEqual(leftover_groups(), [])


class Warm(Case):
    """From a zygote (--warm 1) and from slots (--warm 3): the same sandbox, sooner."""

    def each(self, *options, shell, repeat="3"):
        if not os.path.isdir("/sys/fs/cgroup/pids") and not os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
            self.skipTest("no pids control group")
        for warm in ("1", "3"):
            done = subprocess.run([TOOL, "--warm", warm, "--repeat", repeat, *options, "--shell", shell], capture_output=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
            text, decoder = done.stdout.decode(), json.JSONDecoder()
            while text.strip():
                result, end = decoder.raw_decode(text.lstrip())
                text = text.lstrip()[end:]
                yield result

    def test_nothing_of_one_run_is_seen_by_the_next(self):
        for result in self.each("--network", "loopback", shell="""ls -A ~ /tmp /dev/shm | grep -c left; ls -d /proc/[0-9]* | wc -l
                touch ~/left /tmp/left /dev/shm/left; ipcmk -M 4096 >/dev/null; ipcs -m | grep -c 0x; setsid sleep 100 & true"""):
            self.assertEqual(result["outcome"], "exited")
            lines = result["stdout"].split()
            self.assertEqual((lines[0], lines[2]), ("0", "1"))
            self.assertLessEqual(int(lines[1]), 6)

    def test_workspace_and_binds_appear_as_from_a_cold_start(self):
        self.write("a", "text")
        for result in self.each("--workspace", self.work, "--access", "rw", "--bind", f"{self.dir}:/mnt/deep/er:ro",
                                shell="pwd; cat a /workspace/a; echo b > b; ls /mnt/deep/er; touch /mnt/x /mnt/deep/x 2>&1 | grep -c Read-only"):
            self.assertEqual(self.good(result), f"{self.work}\ntexttextstate\nwork\n2\n")
        self.assertEqual(os.stat(self.work + "/b").st_uid, os.getuid())

    def test_a_protected_path_is_protected_in_a_warm_start(self):
        self.write("SANDBOX.md", "old")
        for result in self.each("--workspace", self.work, "--access", "rw", "--state", self.state, "--protect", "SANDBOX.md",
                                shell="echo x > SANDBOX.md 2>/dev/null || echo held"):
            self.assertEqual(self.good(result), "held\n")

    def test_limits_hold(self):
        for result in self.each("--wall", "300", shell="trap '' TERM; sleep 100", repeat="1"):
            self.assertEqual(result["killed_by"], "timeout")
        for result in self.each("--memory", "60000000", shell="head -c 300000000 /dev/zero > /dev/shm/x", repeat="1"):
            self.assertEqual(result["killed_by"], "memory")

    def test_what_was_made_ready_with_other_limits_gets_its_own(self):
        fill = "head -c 200000000 /dev/zero > /dev/shm/x"
        for first, then, ends in (("1000000000", "60000000", ["exited", "killed", "killed"]),
                                  ("60000000", "1000000000", ["killed", "exited", "exited"])):
            results = list(self.each("--first-memory", first, "--memory", then, shell=fill))
            self.assertEqual([result["outcome"] for result in results], ends * 2, json.dumps(results, indent=1))

    def test_what_was_made_ready_with_a_memory_of_another_size_gets_its_own(self):
        for first, then in ((8 << 20, 64 << 20), (64 << 20, 8 << 20)):
            results = self.each("--first-disk", str(first), "--disk", str(then),
                                shell="df -B1 --output=size /tmp ~ /dev/shm | tail -n 3; grep -c ' /dev/shm ' /proc/self/mounts")
            sizes = [list(map(int, self.good(result).split())) for result in results]
            self.assertEqual(sizes, [[size] * 3 + [1] for size in (first, then, then)] * 2)

    def test_waiting_slots_die_with_their_launcher(self):
        running = subprocess.Popen([TOOL, "--warm", "4", "--raw", "--shell", "echo up; sleep 100"], stdout=subprocess.PIPE)
        running.stdout.readline()
        below = subprocess.run(["pgrep", "-P", str(running.pid)], capture_output=True).stdout.split()
        self.assertGreaterEqual(len(below), 2)
        running.kill()
        running.wait()
        running.stdout.close()
        wait_for_end([pid.decode() for pid in below])
        self.assertEqual([pid for pid in below if is_running(pid.decode())], [])


    @staticmethod
    def begun_ahead(launcher):
        """Every pid 1 that still has its companion, and the companion."""
        def children(pid):
            return subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False).stdout.split()
        pairs = [(pid1, companion) for pid1 in children(launcher) for companion in children(pid1)]
        def name(pid):
            with open(f"/proc/{pid}/comm") as file:
                return file.read().strip()
        return [pair for pair in pairs if name(pair[1]) == os.path.basename(TOOL)]

    def test_children_that_wait_hold_nothing_of_their_launcher(self):
        if os.getuid() == 0:
            self.skipTest("root's sandboxes are made whole when they are wanted")
        running = subprocess.Popen([TOOL, "--warm", "1", "--raw", "--shell", "echo up; sleep 100"], stdout=subprocess.PIPE)
        running.stdout.readline()
        waiting = self.begun_ahead(running.pid)
        self.assertTrue(waiting)
        for pid1, companion in waiting:
            with self.assertRaises(PermissionError):
                os.listdir(f"/proc/{pid1}/fd")
            # Streams, control, pid 1's image, the word to go on, its network, both ends of the joint, and the host's root, which
            # goes before anything is started.
            held = {int(number): os.readlink(f"/proc/{companion}/fd/{number}") for number in os.listdir(f"/proc/{companion}/fd")}
            self.assertLessEqual(len(held), 10, held)
            self.assertLess(max(held), 10, held)
        waiting = [pid for pair in waiting for pid in pair]
        running.kill()
        running.wait()
        running.stdout.close()
        wait_for_end(waiting)
        self.assertEqual([pid for pid in waiting if is_running(pid)], [])

    def test_one_that_died_while_it_waited_is_not_used(self):
        """Killed one by one between two runs of the same launcher."""
        if os.getuid() == 0:
            self.skipTest("root's sandboxes are made whole when they are wanted")
        running = subprocess.Popen([TOOL, "--warm", "1", "--raw", "--repeat", "2", "--shell", "echo up; sleep 1"], stdout=subprocess.PIPE)
        running.stdout.readline()
        waiting = self.begun_ahead(running.pid)
        self.assertTrue(waiting)
        for which, (pid1, companion) in enumerate(waiting):
            os.kill(int(companion if which % 2 else pid1), signal.SIGKILL)
        self.assertEqual(running.stdout.readline(), b"up\n")
        running.stdout.close()
        self.assertEqual(running.wait(timeout=20), 0)


class Prepared(Case):
    """A place that is built while the record of its run is still being written."""
    STARTS = ([], ["--warm", "1"])
    WRITES = "echo here > witness"

    def test_runs_what_it_was_made_for(self):
        for start in self.STARTS:
            self.good(self.rw(*start, "--protect", "SANDBOX.md", "--prepared", "for-it", shell=self.WRITES))
            self.assertEqual(os.listdir(self.work), ["witness"])
            os.unlink(self.work + "/witness")

    def test_runs_nothing_by_itself_and_leaves_nothing(self):
        for start in self.STARTS:
            result = self.rw(*start, "--protect", "SANDBOX.md", "--prepared", "in-vain", shell=self.WRITES)
            self.assertEqual((result["outcome"], result["error"]), ("broken", "prepared in vain"))
            self.assertEqual(os.listdir(self.work), [])

    def test_is_not_used_for_another_run(self):
        for start in self.STARTS:
            result = self.run_tool(*start, "--workspace", self.work, "--access", "ro", "--state", self.state, "--protect", "SANDBOX.md",
                                   "--prepared", "for-another", shell=self.WRITES)
            self.assertEqual(result["outcome"], "exited", json.dumps(result, indent=1))
            self.assertNotEqual(result["exit_code"], 0)
            self.assertEqual(os.listdir(self.work), [])


class VersionTwo(Case):
    """Inside user-mode Linux (uml_test.py): control groups of version 2 and no Landlock."""

    def setUp(self):
        super().setUp()
        if not os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
            self.skipTest("needs control groups of version 2 alone: see uml_test.py")

    def test_the_level_is_named_with_what_is_missing(self):
        result = self.run_tool(argv=["/bin/true"])
        self.good(result)
        self.assertEqual(result["isolation"]["level"], "L1")
        self.assertEqual(result["isolation"]["missing"], ["Landlock: files are held by mounts alone"])

    def test_the_full_level_is_refused(self):
        result = self.run_tool("--require", "L0", argv=["/bin/true"])
        self.assertEqual(result["outcome"], "refused")

    def test_nothing_runs_without_namespaces_where_there_is_no_landlock(self):
        result = self.run_tool("--without", "namespaces", argv=["/bin/true"])
        self.assertIn(result["outcome"], ("refused", "broken"))

    def test_a_sandbox_lives_in_a_group_of_its_own_from_its_first_moment(self):
        running = subprocess.Popen([TOOL, "--raw", "--shell", "setsid sleep 1000 & echo up; wait"], stdout=subprocess.PIPE)
        running.stdout.readline()
        groups = leftover_groups()
        self.assertEqual(len(groups), 1, groups)
        with open(groups[0] + "/cgroup.procs") as file:
            inside = file.read().split()
        self.assertGreaterEqual(len(inside), 3)
        # All of it ends by the group alone, pid 1 included.
        with open(groups[0] + "/cgroup.kill", "w") as kill:
            kill.write("1")
        running.wait(timeout=20)
        running.stdout.close()
        self.assertEqual([pid for pid in inside if is_running(pid)], [])
        self.assertEqual(leftover_groups(), [])

    def test_a_share_of_a_processor(self):
        usage = self.run_tool("--cpus", "0.3", "--wall", "1000", shell="(while :; do :; done) & while :; do :; done")["usage"]
        self.assertGreater(usage["cpu_ms"], 100)
        self.assertLess(usage["cpu_ms"], 600)

    def test_running_out_of_memory_is_noticed_though_the_program_goes_on(self):
        result = self.run_tool("--memory", "60000000", "--wall", "20000",
                               shell="/usr/bin/python3 -c 'x=b\"x\"*300000000'; sleep 100")
        self.assertEqual((result["outcome"], result["killed_by"]), ("killed", "memory"), json.dumps(result, indent=1))

    def test_waiting_costs_no_processor_time(self):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.good(self.run_tool(shell="sleep 4"))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        # One that polls without rest would take all four; a start takes up to one where the machine below is busy.
        self.assertLess(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2.5)

    def test_doctor_names_what_is_missing_and_how_to_get_it(self):
        done = subprocess.run([TOOL, "--doctor"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"Landlock +NO")
        self.assertRegex(done.stdout, r"control groups +ok +memory and processes are limited")
        self.assertIn("level L1", done.stdout)


class Comparison(Case):
    """The program must be the file that was planned, wherever it is seen from."""

    def differs(self, result):
        self.assertEqual(result["outcome"], "broken", json.dumps(result, indent=1))
        self.assertIn("not the file that was planned", result["error"])

    def program(self, name, text):
        shutil.copy("/bin/sh", os.path.join(self.work, name))
        with open(os.path.join(self.work, name), "ab") as file:
            file.write(text)

    def test_the_planned_program_runs(self):
        self.good(self.run_tool("--expect", "/bin/true", argv=["/bin/true"]))
        self.good(self.run_tool("--expect", "/bin/bash", shell="true"))

    def test_another_program_does_not(self):
        self.differs(self.run_tool("--expect", "/bin/false", argv=["/bin/true"]))
        self.differs(self.run_tool("--expect", "/bin/sh", shell="true"))

    def test_the_same_content_in_another_file_runs_and_other_content_of_that_size_does_not(self):
        self.program("planned", b"aaaa")
        self.program("copy", b"aaaa")
        self.program("other", b"bbbb")
        planned = self.work + "/planned"
        for access in ("ro", "rw"):
            options = ("--workspace", self.work, "--access", access, "--state", self.state, "--expect", planned)
            self.assertEqual(self.good(self.run_tool(*options, argv=["./planned", "-c", "echo ran"])), "ran\n")
            self.assertEqual(self.good(self.run_tool(*options, argv=["./copy", "-c", "echo ran"])), "ran\n")
            self.differs(self.run_tool(*options, argv=["./other", "-c", "echo ran"]))

    def test_through_an_overlay_the_content_counts(self):
        upper = self.dir + "/upper"
        for name in ("", "/upper", "/work"):
            os.mkdir(upper + name)
        self.program("planned", b"aaaa")
        options = ("--workspace", self.work, "--access", "overlay", "--upper", upper, "--expect", self.work + "/planned")
        self.assertEqual(self.good(self.run_tool(*options, argv=["./planned", "-c", "echo ran; cp planned p; echo x >> p; mv -f p planned"])), "ran\n")
        # Changed in the layer above by the run before.
        self.differs(self.run_tool(*options, argv=["./planned", "-c", "echo ran"]))

    def test_a_script_keeps_its_name_and_is_compared(self):
        self.write("script", '#!/bin/sh\necho "$0"\n', 0o755)
        self.write("changed", '#!/bin/sh\necho "$1"\n', 0o755)
        self.assertEqual(self.good(self.rw("--expect", self.work + "/script", argv=["./script"])), "./script\n")
        self.differs(self.rw("--expect", self.work + "/script", argv=["./changed"]))

    def test_what_is_no_file_is_not_waited_for(self):
        os.mkfifo(self.work + "/fifo", 0o755)
        self.assertEqual(self.rw("--expect", "/bin/true", argv=["./fifo"])["outcome"], "broken")


class Reports(Case):
    def test_refused_calls_are_reported(self):
        result = self.run_tool("--violations", shell="unshare -U true 2>/dev/null; echo done")
        self.assertEqual(self.good(result), "done\n")
        self.assertIn("unshare", " ".join(item["what"] for item in result["violations"]))

    def test_doctor_finds_the_full_level(self):
        done = subprocess.run([TOOL, "--doctor"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("level L0", done.stdout)


class RealWork(Case):
    def test_gcc_and_make(self):
        self.write("Makefile", "prog: main.o add.o\n\t$(CC) -o $@ $^\nmain.o add.o: add.h\n")
        self.write("add.h", "int add(int, int);\n")
        self.write("add.c", '#include "add.h"\nint add(int a, int b) { return a + b; }\n')
        self.write("main.c", '#include <stdio.h>\n#include "add.h"\nint main(void) { printf("%d\\n", add(40, 2)); }\n')
        self.assertTrue(self.good(self.rw(shell="make -j2 >/dev/null && ./prog")).endswith("42\n"))

    def test_npm_test_without_network(self):
        if not shutil.which("npm"):
            self.skipTest("npm is not installed")
        self.write("package.json", '{"name":"p","version":"1.0.0","scripts":{"test":"node --test"}}')
        self.write("a.test.js", "const t=require('node:test');t('adds',()=>{require('assert').equal(40+2,42)});")
        self.good(self.rw("--session", self.dir + "/session", shell="npm test >/dev/null 2>log || { cat log; exit 1; }"))

    def test_python_with_numpy(self):
        if subprocess.run(["/usr/bin/python3", "-c", "import numpy"], capture_output=True).returncode:
            self.skipTest("python3-numpy is not installed")
        self.assertEqual(self.good(self.rw(argv=["/usr/bin/python3", "-c", "import numpy; print(int(numpy.arange(10).sum()))"])), "45\n")

    def test_git_commit_with_the_users_name(self):
        subprocess.run(["git", "init", "-q", self.work], check=True)
        out = self.good(self.rw("--git-name", 'Ada "L" King', "--git-email", "ada@example.org", *Protected.PROTECT,
                                shell="echo a > a && git add a && git commit -qm first && git log --format='%an <%ae> %s'"))
        self.assertEqual(out, 'Ada "L" King <ada@example.org> first\n')
        log = subprocess.run(["git", "-c", f"safe.directory={self.work}", "-C", self.work, "log", "--format=%s"], capture_output=True)
        self.assertEqual(log.stdout, b"first\n")

    def test_a_wrapper_script_that_uses_its_own_path(self):
        self.write("gradlew", '#!/bin/sh\ncd "$(dirname "$0")" && exec sh ./lib/run.sh "$@"\n', 0o755)
        self.write("lib/run.sh", 'echo "in $PWD with $*"\n')
        self.assertEqual(self.good(self.rw(argv=["./gradlew", "build", "-x"])), f"in {self.work} with build -x\n")
        self.assertEqual(self.good(self.rw("--cwd", "/tmp", argv=[self.work + "/gradlew", "t"])), f"in {self.work} with t\n")

    def test_a_server_and_its_client(self):
        self.good(self.rw("--network", "loopback", shell="""/usr/bin/python3 -m http.server 8123 >/dev/null 2>&1 &
            echo page > index.html; for i in $(seq 50); do
            /usr/bin/python3 -c 'import urllib.request as u; assert u.urlopen("http://127.0.0.1:8123/index.html").read()==b"page\\n"' 2>/dev/null && exit 0; sleep 0.1; done; exit 1"""))

    def test_a_server_lives_until_it_is_stopped(self):
        running = subprocess.Popen([TOOL, "--workspace", self.work, "--access", "rw", "--state", self.state, "--network", "loopback",
                                    "--wall", "0", "--raw", "--shell", """exec 2>/dev/null
            /usr/bin/python3 -m http.server 8125 >/dev/null &
            until /usr/bin/python3 -c 'import urllib.request as u; u.urlopen("http://127.0.0.1:8125/")'; do sleep 0.1; done
            echo up; wait; sleep 1000"""], stdout=subprocess.PIPE)
        self.assertEqual(running.stdout.readline(), b"up\n")
        below = [pid.decode() for pid in subprocess.run(["pgrep", "-f", "http.server 8125"], capture_output=True).stdout.split()]
        self.assertTrue(below)
        running.terminate()
        running.wait(timeout=20)
        running.stdout.close()
        wait_for_end(below)
        self.assertEqual([pid for pid in below if is_running(pid)], [])

    def test_a_shell_script_of_two_hundred_lines(self):
        lines = ["#!/bin/bash", "set -euo pipefail", "total=0"]
        for i in range(66):
            lines += [f"f{i}() {{ local x=$1; echo $((x * {i} % 7)); }}", f"v=$(f{i} {i} | sort | head -1)", 'total=$((total + v)); printf "%s\\n" "$v" >> log']
        lines += ["wc -l < log", "echo $total"]
        self.write("big.sh", "\n".join(lines) + "\n", 0o755)
        self.assertEqual(self.good(self.rw(argv=["./big.sh"])).split()[0], "66")


def main():
    if os.getuid() == 0 and "CORDON_AS_USER" not in os.environ:
        return run_as_root()
    unittest.main(verbosity=1)


def run_as_root():
    """Both identities, in control groups that are removed afterwards; behind a mount and pid namespace of its own."""
    try:
        pwd.getpwnam(USER)
    except KeyError:
        subprocess.run(["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", USER], check=True)
    user = pwd.getpwnam(USER)
    name = f"cordon-tests-{os.getpid()}"
    failed = False
    both = ((0, 0), (user.pw_uid, user.pw_gid))
    for uid, gid in both[1:] if "CORDON_ONLY_USER" in os.environ else both:
        place = tempfile.mkdtemp(prefix="cordon-native-")
        os.chown(place, uid, gid)
        binaries = os.path.join(place, "bin")
        os.mkdir(binaries, 0o755)
        for tool in ("sandbox_run", "sandbox_soak"):
            shutil.copy(os.path.join(os.environ["CORDON_BIN"], tool), binaries)
        os.chmod(place, 0o755)
        pid = os.fork()
        if pid == 0:
            delegate(uid, name)
            environment = {**os.environ, "CORDON_AS_USER": "1", "CORDON_TEST_DIR": place, "CORDON_BIN": binaries, "HOME": place}
            # Mounts of tests that run beside this one are not to be counted as its own.
            os.execvpe("unshare", ["unshare", "--mount", "--propagation", "private", "setpriv", "--reuid", str(uid), "--regid", str(gid),
                                   "--clear-groups", "/usr/bin/python3", __file__, *sys.argv[1:]], environment)
        _, status = os.waitpid(pid, 0)
        print(f"== as uid {uid}: {'passed' if status == 0 else 'FAILED'}", flush=True)
        failed = failed or status != 0
        shutil.rmtree(place, ignore_errors=True)
        for controller in CONTROLLERS:
            path = f"/sys/fs/cgroup/{controller}/{name}"
            if os.path.isdir(path):
                for _ in range(50):
                    try:
                        os.rmdir(path)
                        break
                    except OSError:
                        time.sleep(0.02)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
