#!/usr/bin/env python3
"""kill -9 at random moments of a commit, then gone on with or undone: one tree or the other, nothing between. And
somebody who swaps files while it is being applied. CORDON_KILLS says how often."""
import os
import random
import signal
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../guard"))
from preview_test import PreviewCase  # noqa: E402
from trees import tree_of  # noqa: E402

KILLS = int(os.environ.get("CORDON_KILLS", "15"))
FILES = 150


class Killed(PreviewCase):
    def fill(self):
        for i in range(FILES):
            directory = os.path.join(self.work, f"d{i % 7}")
            os.makedirs(directory, exist_ok=True)
            with open(os.path.join(directory, f"f{i}"), "w") as file:
                file.write(f"old {i}\n" * 20)
        self.write("change.py", """
import glob, os
for name in glob.glob('d[0-3]/*'): open(name, 'w').write('new\\n')
for name in glob.glob('d4/*'): os.unlink(name)
for i in range(40):
    os.makedirs(f'n/{i}')
    open(f'n/{i}/f', 'w').write(str(i))
os.chmod('d5', 0o700)
for name in glob.glob('d6/*'): os.chmod(name, 0o600)
os.symlink('../d0', 'n/link')
os.rename('d5/f5', 'd5/moved')
""")

    def script(self):
        return "python3 change.py"

    def start(self, *command):
        return subprocess.Popen(command, cwd=self.work, env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def test_killed_at_any_moment_it_is_finished_or_undone(self):
        choose = random.Random(4)
        self.fill()
        outcomes = {"before": 0, "between": 0, "after": 0}
        old = tree_of(self.work)
        new = None
        for turn in range(KILLS):
            id = self.keep(self.script())["preview"]
            if new is None:
                new = self.tree_of_a_direct_run()
            process = self.start("cordon", "preview", "commit", id)
            # The moment is chosen by what is there to be seen, not by a clock.
            target = choose.choice([None, f".cordon-commit-{id}", "n", "n/39", "d3/f3"])
            self.wait_for(target, process, old, choose.randrange(400))
            process.send_signal(signal.SIGKILL)
            process.wait()
            now = tree_of(self.work)
            outcomes["before" if now == old else "after" if now == new else "between"] += 1
            kept = self.call("cordon", "preview", "list").stdout
            if id in kept and turn % 2 == 0:
                self.commit(id)
                self.assertEqual(tree_of(self.work), new)
            elif id in kept:
                done = self.call("cordon", "preview", "discard", id)
                if done.returncode == 0:
                    self.assertEqual(tree_of(self.work), old)
                else:
                    self.assertIn("was complete", done.stderr)
                    self.assertEqual(tree_of(self.work), new)
            else:
                self.assertEqual(now, new)
            self.reset()
            self.assertEqual(tree_of(self.work), old)
        print(f"{KILLS} kills: {outcomes}", flush=True)
        self.assertIn(self.verify().returncode, (0, 3))

    def wait_for(self, target, process, old, spins):
        while process.poll() is None:
            path = os.path.join(self.work, target) if target else None
            seen = path is None or (os.path.lexists(path) if target not in old else self.read(target) == "new\n")
            if seen:
                spins -= 1
            if spins < 0:
                return

    def tree_of_a_direct_run(self):
        copy = os.path.join(self.dir, "copy")
        subprocess.run(["cp", "-a", self.work, copy], check=True)
        self.call("bash", "-c", self.script(), cwd=copy, expect=0)
        return tree_of(copy)

    def reset(self):
        subprocess.run("rm -rf d? n .cordon-commit-*", shell=True, cwd=self.work, check=True)
        self.fill()

    def test_a_file_swapped_while_it_is_applied_is_not_lost(self):
        """Somebody writes to the same files all the while: whatever the commit says, no work of theirs is gone."""
        self.fill()
        for turn in range(max(3, KILLS // 5)):
            id = self.keep(self.script())["preview"]
            stop = threading.Event()
            written = []

            def meddle():
                i = 0
                while not stop.is_set() and i < 2000:
                    path = os.path.join(self.work, f"d{i % 4}", f"f{i % 4 + 28}")
                    mine = f"mine {turn} {i}\n"
                    try:
                        with open(path + ".mine", "w") as file:
                            file.write(mine)
                        os.rename(path + ".mine", path)
                        written.append((path, mine))
                    except FileNotFoundError:
                        pass
                    i += 1

            thread = threading.Thread(target=meddle)
            thread.start()
            done = self.call("cordon", "preview", "commit", "--json", id)
            stop.set()
            thread.join()
            last = dict(written)
            for path, mine in last.items():
                with open(path) as file:
                    self.assertIn(file.read(), (mine, "new\n"), path)
            self.assertIn(done.returncode, (0, 1, 125), done.stderr)
            self.assertFalse([n for n in os.listdir(self.work) if n.startswith(".cordon-commit")], done.stdout + done.stderr)
            if done.returncode != 0:
                self.call("cordon", "preview", "discard", id)
            self.reset()


if __name__ == "__main__":
    unittest.main(verbosity=1)
