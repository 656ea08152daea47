#!/usr/bin/env python3
"""What is bound is swapped for a link to a secret directory, over and over, while sandboxes start: the directory itself in
one test, its parent in the other. Whatever a start comes upon, no program ever sees the secret.

Each test starts as often as STARTS says; with CORDON_DEEP more often, and whatever time it takes."""
import ctypes
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

TOOL = os.path.join(os.environ["CORDON_BIN"], "sandbox_run")
PROGRAMS = {"native": None, "runc": "runc", "gvisor": "runsc", "docker": "dockerd"}
DEEP = bool(os.environ.get("CORDON_DEEP"))
STARTS = 300 if DEEP else 30
# On a machine that is too busy for all of them, fewer count too.
LEAST = STARTS if DEEP else 4
SECONDS = 7200 if DEEP else 45
AT_ONCE = 2
EXCHANGE = 2
AT_FDCWD = -100


def exchange_for_ever(one, other):
    libc = ctypes.CDLL(None, use_errno=True)
    while os.getppid() != 1:
        if libc.renameat2(AT_FDCWD, one.encode(), AT_FDCWD, other.encode(), EXCHANGE) != 0:
            return
        # Long enough for a start to come upon either in every one of its steps.
        for _ in range(200):
            pass


class Swapped(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="cordon-swap-", dir=os.environ.get("CORDON_TEST_DIR", "/srv"))
        os.chmod(self.dir, 0o755)
        self.state = os.path.join(self.dir, "state")
        os.mkdir(self.state, 0o700)
        for place, text in (("secret", "SECRET"), ("secret/below", "SECRET"), ("plain", "plain"), ("plain/below", "plain")):
            os.makedirs(os.path.join(self.dir, place), exist_ok=True)
            with open(os.path.join(self.dir, place, "file"), "w") as file:
                file.write(text + "\n")
        # Beside it, so that an exchange is one of names in one directory.
        os.symlink(os.path.join(self.dir, "secret"), os.path.join(self.dir, "link"))

    def tearDown(self):
        shutil.rmtree(self.dir, ignore_errors=True)

    def command(self, backend, source):
        words = [TOOL, "--backend", backend, "--state", self.state]
        if backend == "docker":
            words += ["--socket", os.environ["CORDON_TEST_SOCKET"], "--image", os.environ["CORDON_TEST_IMAGE"]]
        return [*words, "--bind", f"{source}:/data:ro", "--", "cat", "/data/file"]

    def start_often(self, backend, source):
        """How many saw what they should, and how many were refused."""
        if PROGRAMS[backend] and shutil.which(PROGRAMS[backend]) is None:
            self.skipTest(f"there is no {PROGRAMS[backend]}")
        saw = refused = 0
        deadline = time.monotonic() + SECONDS
        while saw + refused < STARTS and time.monotonic() < deadline:
            running = [subprocess.Popen(self.command(backend, source), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                       for _ in range(AT_ONCE)]
            for process in running:
                out, err = process.communicate(timeout=180)
                self.assertNotIn("SECRET", out, f"after {saw + refused} starts")
                result = json.loads(out) if process.returncode == 0 else self.fail(err)
                if result["outcome"] == "broken":
                    refused += 1
                    continue
                self.assertEqual((result["outcome"], result["exit_code"], result["stdout"]), ("exited", 0, "plain\n"), result)
                saw += 1
        self.assertGreaterEqual(saw + refused, LEAST)
        print(f"{backend}: {saw} started, {refused} refused", file=sys.stderr, flush=True)
        return saw, refused

    def attempt(self, backend, below):
        swapped = os.path.join(self.dir, "plain")
        swapper = multiprocessing.Process(target=exchange_for_ever, args=(swapped, os.path.join(self.dir, "link")), daemon=True)
        swapper.start()
        try:
            self.start_often(backend, swapped + below)
            self.assertTrue(swapper.is_alive(), "nothing was swapped")
        finally:
            swapper.kill()
            swapper.join()


def add_tests():
    for backend in PROGRAMS:
        for what, below in (("the_directory_itself", ""), ("its_parent", "/below")):
            def test(self, backend=backend, below=below):
                self.attempt(backend, below)
            setattr(Swapped, f"test_{backend}_{what}", test)


add_tests()
if __name__ == "__main__":
    unittest.main(verbosity=2)
