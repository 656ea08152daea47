"""Killed or failing at any moment: the log verifies or names its damage, and nothing ran without a durable intent.

The command leaves a witness, a file of its own name, so that "it ran" is a fact of the disk. CORDON_KILLS sets how many
random kills there are."""
import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from case import Case

KILLS = int(os.environ.get("CORDON_KILLS", "25"))


class Crash(Case):
    def check_witnesses(self, context):
        """Every witness has its intent, and verify passes or names the damage."""
        verified = self.verify()
        self.assertIn(verified.returncode, (0, 2, 3), (context, verified.stdout, verified.stderr))
        if verified.returncode == 2:
            self.assertTrue(verified.stdout.strip() or verified.stderr.strip(), context)
            return 2
        intended = {line["command"] for line in self.records() if line["kind"] == "intent"}
        for name in os.listdir(self.work):
            if name.startswith("witness"):
                self.assertIn(f"touch {name}", intended, context)
        return verified.returncode

    def test_killed_at_random_moments(self):
        self.call("sandbox-exec", "true", expect=0)
        began = time.monotonic()
        self.call("sandbox-exec", "true", expect=0)
        usual = time.monotonic() - began
        dice = random.Random(4711)
        for i in range(KILLS):
            run = subprocess.Popen(["sandbox-exec", f"touch witness{i}"], cwd=self.work, env=self.environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(dice.uniform(0, usual * 1.2))
            run.send_signal(signal.SIGKILL)
            run.wait()
        self.check_witnesses("kills")
        self.call("sandbox-exec", "touch witness-last", expect=0)
        self.assertEqual(self.check_witnesses("after"), 0)
        lines = self.records()
        begun = {line["request"] for line in lines if line["kind"] == "intent"}
        ended = {line.get("request") for line in lines if line["kind"] in ("outcome", "recovery")}
        open_runs = begun - ended
        self.assertEqual(open_runs, set(), "what a dead process had begun is closed by the next")

    @unittest.skipUnless(shutil.which("strace"), "strace is not installed")
    def test_every_write_path_call_failing_once(self):
        """Into each call that writes, of one whole run: EIO, ENOSPC, and a write that is cut short."""
        calls = self.count_calls()
        self.assertGreater(sum(calls.values()), 5, calls)
        for call, times in calls.items():
            for when in range(1, times + 1):
                faults = ("EIO", "ENOSPC") if call != "write" else ("EIO", "ENOSPC", "short")
                for fault in faults:
                    with self.subTest(call=call, when=when, fault=fault):
                        self.one_fault(call, when, fault)

    def count_calls(self):
        self.call("sandbox-exec", "true", expect=0)
        trace = os.path.join(self.dir, "trace")
        self.call("strace", "-o", trace, "-e", "trace=write,pwrite64,writev,fsync,fdatasync,rename,renameat,ftruncate,fallocate",
                  "-P", os.path.join(self.state, "audit"), *self.audit_paths(), "sandbox-exec", "true", expect=0)
        counts = {}
        with open(trace) as file:
            for line in file:
                name = line.split("(")[0]
                if name.isidentifier():
                    counts[name] = counts.get(name, 0) + 1
        return counts

    def audit_paths(self):
        options = []
        for name in os.listdir(os.path.join(self.state, "audit")):
            options += ["-P", os.path.join(self.state, "audit", name)]
        return options

    def one_fault(self, call, when, fault):
        shutil.rmtree(self.state, ignore_errors=True)
        for name in os.listdir(self.work):
            if name.startswith("witness"):
                os.unlink(os.path.join(self.work, name))
        self.call("sandbox-exec", "true", expect=0)
        witness = f"witness-{call}-{when}-{fault}"
        how = f"retval=1" if fault == "short" else f"error={fault}"
        inject = f"inject={call}:{how}:when={when}"
        done = self.call("strace", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", inject,
                         "-P", os.path.join(self.state, "audit"), *self.audit_paths(), "sandbox-exec", f"touch {witness}")
        code = self.check_witnesses((call, when, fault))
        if done.returncode == 125:
            self.assertFalse(self.exists(witness), "it says that it was not run")
        again = self.call("sandbox-exec", "true")
        if code != 2:
            self.assertEqual(again.returncode, 0, (call, when, fault, again.stderr))


if __name__ == "__main__":
    unittest.main()
