#!/usr/bin/env python3
"""The three verifiers agree, the commands of docs/audit-format.md work as they stand there, and a proof shows its record."""
import json
import os
import re
import subprocess

from stage import VERIFY, driver, fail, scratch, small_log
import verify


def agree(path, expected, what, *options):
    ours = subprocess.run([VERIFY, "log", "--quiet", path, *options]).returncode
    words = dict(zip(options[::2], options[1::2]))
    against = [open(words["--against"], "rb").read()] if "--against" in words else []
    key = open(words["--key"]).read() if "--key" in words else None
    theirs = verify.Log(path, key, against).verify()
    if (ours, theirs) != (expected, expected):
        fail("{}: expected {}, cordon-verify says {}, verify.py {}".format(what, expected, ours, theirs))


def shell_commands(path):
    page = open(os.path.join(os.environ.get("CORDON_SOURCE", os.path.join(os.path.dirname(__file__), "../..")),
                             "docs/audit-format.md")).read()
    block = re.search(r"## With a shell\n+```sh\n(.*?)```", page, re.S).group(1).replace("2026-02-25", "2026-03-01")
    done = subprocess.run(["bash", "-e", "-c", block], cwd=path, capture_output=True, text=True)
    with open(os.path.join(path, "2026-03-01.jsonl")) as file:
        third = json.loads(file.read().splitlines()[2])
    if third["prev"] not in done.stdout or "Verified Successfully" not in done.stdout:
        fail("the shell commands of the page: {} {}".format(done.stdout, done.stderr))


def proof(path, root):
    text = driver("prove", path, 5).stdout
    name = os.path.join(root, "proof")
    with open(name, "w") as file:
        file.write(text)
    key = os.path.join(path, "key.pub")
    shown = subprocess.run([VERIFY, "proof", name, "--key", key], capture_output=True, text=True)
    if shown.returncode != 0 or json.loads(shown.stdout)["seq"] != 5:
        fail("the proof is not accepted: " + shown.stderr)
    with open(name, "w") as file:
        file.write(text.replace("index 5", "index 4"))
    if subprocess.run([VERIFY, "proof", name, "--key", key], capture_output=True).returncode != 2:
        fail("a changed proof is accepted")


def main():
    with scratch() as root:
        path = small_log(root, days=5, runs=2)
        agree(path, 0, "a sound log")
        agree(path, 0, "with its key", "--key", os.path.join(path, "key.pub"))
        kept = os.path.join(root, "kept")
        with open(kept, "wb") as file:
            file.write(open(os.path.join(path, "checkpoint"), "rb").read())
        proof(path, root)
        shell_commands(path)
        driver("retain", path, "2026-03-05", 24)
        agree(path, 0, "after retention")
        agree(path, 0, "against a checkpoint that was kept", "--against", kept)
        # A writer that is killed leaves an unsigned tail.
        with open(os.path.join(path, "2026-03-05.jsonl"), "ab") as file:
            file.write(b'{"timestamp":"2026-03-05T12:00:00.000000Z","comm')
        agree(path, 3, "a torn last line")
        os.unlink(os.path.join(path, "2026-03-04.jsonl"))
        agree(path, 2, "a day deleted without a notice")
        print("cordon-verify and verify.py agree; the page's commands work")


if __name__ == "__main__":
    main()
