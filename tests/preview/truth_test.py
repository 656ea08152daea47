#!/usr/bin/env python3
"""Preview and commit against a direct run: generated scripts, each run both ways on equal trees. CORDON_SCRIPTS says how
many."""
import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../guard"))
from case import Case  # noqa: E402
from trees import Writer, stamps_of, tree_of  # noqa: E402

SCRIPTS = int(os.environ.get("CORDON_SCRIPTS", "40"))
SEED = int(os.environ.get("CORDON_SEED", "1"))


class Truth(Case):
    def setUp(self):
        super().setUp()
        token = self.become_approver()
        self.direct = os.path.join(self.dir, "direct")
        for root in (self.work, self.direct):
            os.makedirs(os.path.join(root, ".cordon"), exist_ok=True)
            with open(os.path.join(root, "SANDBOX.md"), "w") as file:
                file.write("# Security Level\nLevel: full\n")
            self.call("cordon", "trust", "--yes", env=token, cwd=root, expect=0)

    def clear(self, root):
        for name in os.listdir(root):
            if name in ("SANDBOX.md", ".cordon"):
                continue
            path = os.path.join(root, name)
            if os.path.isdir(path) and not os.path.islink(path):
                for directory, _, _ in os.walk(path):
                    os.chmod(directory, 0o700)
                shutil.rmtree(path)
            else:
                os.unlink(path)

    def start_over(self, seed):
        writer = Writer(seed)
        self.clear(self.work)
        self.clear(self.direct)
        writer.plant(self.work)
        Writer(seed).plant(self.direct)
        self.assertEqual(tree_of(self.work), tree_of(self.direct))
        return writer.script()

    def run_both_ways(self, script):
        before = stamps_of(self.work)
        result = self.exec(script, "--dry-run", "--keep")
        if result["would"] != "execute":
            return None  # the rules ask a person about it, which is not what is tested here
        self.assertIsNone(result["cannot_preview"], result)
        self.assertEqual(stamps_of(self.work), before, "a preview changed the workspace")
        done = self.call("cordon", "preview", "commit", "--json", result["preview"])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        real = self.exec(script, cwd=self.direct, expect=0)
        self.assertEqual(result["exit_code"], real["exit_code"])
        return result

    def test_generated_scripts_end_in_equal_trees(self):
        changes = tried = 0
        seed = SEED
        while tried < SCRIPTS:
            script = self.start_over(seed)
            with self.subTest(seed=seed, script=script):
                seed += 1
                result = self.run_both_ways(script)
                if result:
                    changes += len(result["changes"])
                    self.assertEqual(tree_of(self.work), tree_of(self.direct))
                tried += result is not None
        self.assertGreater(changes, SCRIPTS, "the scripts do too little to prove anything")
        self.assertNotIn("added", self.call("cordon", "preview", "list").stdout)
        print(f"{SCRIPTS} scripts, {changes} changes", flush=True)

    def test_a_directory_that_mv_moves_is_moved(self):
        self.start_over(7)
        for root in (self.work, self.direct):
            os.makedirs(os.path.join(root, "old/inner"))
            for path in ("old/f", "old/inner/g"):
                with open(os.path.join(root, path), "w") as file:
                    file.write(path)
        self.run_both_ways("mv old renamed")
        self.assertEqual(tree_of(self.work), tree_of(self.direct))

    def test_a_directory_that_is_renamed_by_the_call_itself_cannot_be_previewed(self):
        os.mkdir(os.path.join(self.work, "old"))
        result = self.exec("python3 -c 'import os; os.rename(\"old\", \"new\")'", "--dry-run")
        self.assertIn("cannot preview: a rename or link failed across layers", result["cannot_preview"])
        self.assertTrue(os.path.isdir(os.path.join(self.work, "old")))


if __name__ == "__main__":
    unittest.main(verbosity=1)
