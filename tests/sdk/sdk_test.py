"""The SDKs' own tests: without a daemon, and then with one."""
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "run"))
from run_case import RunCase  # noqa: E402

SDK = os.path.join(os.environ["CORDON_SOURCE"], "sdk")


class Sdk(RunCase):
    def passes(self, *command):
        done = subprocess.run(command, cwd=self.work, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_node(self):
        self.passes("node", "--test", os.path.join(SDK, "node", "test", "sandbox.test.js"))

    def test_python(self):
        self.passes("/usr/bin/python3", "-B", os.path.join(SDK, "python", "tests", "test_sandbox.py"))


class ServedSdk(Sdk):
    served = True


if __name__ == "__main__":
    unittest.main()
