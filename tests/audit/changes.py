#!/usr/bin/env python3
"""Every byte flipped, every file cut at every length, every line deleted, doubled or swapped: all of it is found.

cordon-verify and `cordon audit verify` see every change, verify.py a sample (all with --deep).
"""
import os
import shutil
import subprocess
import sys

from stage import VERIFY, blob_log, driver, fail, files_of, scratch
import verify

DEEP = "--deep" in sys.argv
GROUP = 400
OPEN_ENDS = {"2026-03-03.jsonl with a byte more"}


def flips(files):
    masks = [0x01, 0x20, 0x80] if DEEP else [0x01]
    for name, content in files.items():
        for at in range(len(content)):
            for mask in masks:
                changed = content[:at] + bytes([content[at] ^ mask]) + content[at + 1:]
                yield "{} byte {} ^ {:#x}".format(name, at, mask), {name: changed}


def cuts(files):
    for name, content in files.items():
        for length in range(len(content)):
            yield "{} cut at {}".format(name, length), {name: content[:length]}
        yield name + " removed", {name: None}
        # At the log's very end that is what a dying writer leaves: torn, not damaged (see OPEN_ENDS).
        yield name + " with a byte more", {name: content + b"x"}
        yield name + " with a line more", {name: content + b"\n"}


def lines(files):
    for name, content in files.items():
        if not name.endswith(".jsonl"):
            continue
        all_lines = content.splitlines(keepends=True)
        for i in range(len(all_lines)):
            yield "{} line {} deleted".format(name, i + 1), {name: b"".join(all_lines[:i] + all_lines[i + 1:])}
            yield "{} line {} doubled".format(name, i + 1), {name: b"".join(all_lines[:i + 1] + all_lines[i:])}
            for j in range(i + 1, len(all_lines)):
                swapped = list(all_lines)
                swapped[i], swapped[j] = swapped[j], swapped[i]
                yield "{} lines {} and {} swapped".format(name, i + 1, j + 1), {name: b"".join(swapped)}


def exchanges(files):
    names = sorted(files)
    for one in names:
        for two in names:
            if one < two and one.rsplit(".")[-1] == two.rsplit(".")[-1]:
                yield "{} and {} exchanged".format(one, two), {one: files[two], two: files[one]}
    for day in sorted({name[:10] for name in names if name.endswith(".seal")}):
        yield day + " removed", {day + ".jsonl": None, day + ".seal": None}
    seal = files["2026-03-01.seal"]
    yield "a seal as checkpoint", {"checkpoint": seal}
    yield "the checkpoint as seal", {"2026-03-02.seal": files["checkpoint"]}


def resigned(files, root):
    """The same history, signed by another key throughout, with and without its key."""
    other = os.path.join(root, "other")
    os.mkdir(other)
    theirs = files_of(blob_log(other))
    yield "all seals by another key", {name: theirs[name] for name in files if name.endswith(".seal")}
    yield "all signatures by another key", {n: theirs[n] for n in files if n.endswith(".seal") or n == "checkpoint"}
    yield "another log, but its key.pub", {name: theirs[name] for name in theirs if name != "key.pub"}
    yield "another key.pub", {"key.pub": theirs["key.pub"]}


def place(path, files, change):
    os.makedirs(path)
    for name, content in {**files, **change}.items():
        if content is not None:
            os.makedirs(os.path.dirname(os.path.join(path, name)), exist_ok=True)
            with open(os.path.join(path, name), "wb") as file:
                file.write(content)


def codes(output):
    return {line.split(" ", 1)[1]: int(line.split(" ", 1)[0]) for line in output.splitlines()}


def examine(root, files, group, number, counts):
    paths = []
    for index, (_, change) in enumerate(group):
        path = os.path.join(root, "changed", str(index))
        place(path, files, change)
        paths.append(path)
    # Two directories at least, so that each gets its line.
    ours = subprocess.run([VERIFY, "log", "--quiet", *paths, paths[0]], capture_output=True, text=True)
    outside = codes(ours.stdout)
    inside = codes(driver("verify", *paths).stdout)
    for index, (name, _) in enumerate(group):
        path = paths[index]
        # What was committed to may be erased; it may not be changed.
        erased = name.startswith("output/") and name.endswith(" removed")
        expected = 3 if name in OPEN_ENDS else 0 if erased else 2
        if outside.get(path) != expected:
            fail("cordon-verify says {} to: {}".format(outside.get(path), name))
        if inside.get(path) != expected:
            fail("verify says {} to: {}".format(inside.get(path), name))
        counts["seen"] += 1
        if DEEP or (number + index) % 17 == 0 or expected != 2:
            code = verify.Log(path).verify()
            counts["python"] += 1
            if code != expected:
                fail("verify.py says {} to: {}".format(code, name))
    shutil.rmtree(os.path.join(root, "changed"))


def main():
    with scratch() as root:
        path = blob_log(root)
        files = files_of(path)
        blobs = [name for name in files if name.startswith("output/")]
        if len(blobs) != 1:
            fail("there should be one output beside the log: {}".format(blobs))
        untouched = subprocess.run([VERIFY, "log", path], capture_output=True, text=True)
        if untouched.returncode != 0 or verify.Log(path).verify() != 0:
            fail("the log is not good to begin with: " + untouched.stdout)
        counts = {"seen": 0, "python": 0}
        group, number = [], 0
        for source in (flips(files), cuts(files), lines(files), exchanges(files), resigned(files, root)):
            for change in source:
                group.append(change)
                if len(group) == GROUP:
                    examine(root, files, group, number, counts)
                    number, group = number + len(group), []
        if group:
            examine(root, files, group, number, counts)
        print("{seen} changes, all found; {python} of them shown to verify.py too".format(**counts))


if __name__ == "__main__":
    main()
