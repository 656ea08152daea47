"""A workspace, a home and a state of one's own, and cordon typed as a person or an agent would."""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import unittest


class Case(unittest.TestCase):
    # What waits gets a preview by a process of its own; most tests count what they started themselves.
    queue_preview = "off"

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="cordon-guard-", dir=os.environ.get("CORDON_TEST_DIR"))
        self.work = os.path.join(self.dir, "work")
        self.home = os.path.join(self.dir, "home")
        self.state = os.path.join(self.dir, "state")
        for path in (self.work, self.home):
            os.mkdir(path)
        os.mkdir(os.path.join(self.work, ".cordon"))
        os.makedirs(os.path.join(self.home, ".config/cordon"))
        with open(os.path.join(self.home, ".config/cordon/config.json5"), "w") as file:
            file.write(f'{{policy: {{preview: "{self.queue_preview}"}}}}')
        self.environment = {
            "PATH": os.environ["CORDON_BIN"] + ":" + os.environ["PATH"],
            "HOME": self.home,
            "CORDON_STATE_DIR": self.state,
            "NO_COLOR": "1",
        }

    def tearDown(self):
        for pid in self.makers():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.dir, ignore_errors=True)

    def makers(self):
        """Processes that make previews for this state's queue; not their children that are about to become something else."""
        found = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    words = file.read().split(b"\0")
                with open(f"/proc/{pid}/stat") as file:
                    parent = int(file.read().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            if b"--background" in words and os.fsencode(self.state) in words:
                found[int(pid)] = parent
        return [pid for pid, parent in found.items() if parent not in found]

    def call(self, *command, expect=None, env=None, text=True, **keywords):
        """Runs a command in the workspace without a terminal; `expect` is its exit code."""
        done = subprocess.run(command, cwd=keywords.pop("cwd", self.work), env={**self.environment, **(env or {})},
                              stdin=keywords.pop("stdin", subprocess.DEVNULL), capture_output=True, text=text,
                              timeout=keywords.pop("timeout", 120), **keywords)
        if expect is not None:
            self.assertEqual(done.returncode, expect, f"{command}\n{done.stdout}\n{done.stderr}")
        return done

    def exec(self, text, *options, expect=None, **keywords):
        """The exec object."""
        done = self.call("sandbox-exec", "--json", *options, text, expect=expect, **keywords)
        return json.loads(done.stdout)

    def become_approver(self):
        token = self.call("cordon", "approver", "init", "--unattended", expect=0).stdout.strip()
        return {"CORDON_APPROVER_TOKEN": token}

    def write(self, name, content, mode=0o644):
        path = os.path.join(self.work, name)
        with open(path, "w") as file:
            file.write(content)
        os.chmod(path, mode)
        return path

    def read(self, name):
        with open(os.path.join(self.work, name)) as file:
            return file.read()

    def exists(self, name):
        return os.path.lexists(os.path.join(self.work, name))

    def records(self):
        """Every line of the audit log, in order."""
        directory = os.path.join(self.state, "audit")
        lines = []
        for name in sorted(os.listdir(directory)):
            if name.endswith(".jsonl"):
                with open(os.path.join(directory, name)) as file:
                    lines += [json.loads(line) for line in file if line.endswith("\n")]
        return lines

    def verify(self):
        return self.call("cordon-verify", "log", os.path.join(self.state, "audit"))
