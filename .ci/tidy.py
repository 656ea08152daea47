#!/usr/bin/env python3
"""clang-tidy over src/, as many at a time as there are processors.

    tidy.py [FILE…]      default: every source of src/ that is not a test

A file that was clean stays clean until it, a header of ours that it reaches, its compiler's command or the list of
checks changes. What was clean is remembered in ~/.cache/cordon/tidy under a digest of all these, so checkouts share it.
The commands are those of build/release without its precompiled headers: a file that forgets an #include is found here.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATABASE = ROOT / "build/tidy"
CLEAN = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "cordon/tidy"
TIDY = "clang-tidy-16"
INCLUDE = re.compile(rb'^#\s*include "([^"]+)"', re.M)


def commands():
    """Writes the database that clang-tidy reads; returns file → command."""
    entries = json.loads((ROOT / "build/release/compile_commands.json").read_text())
    for entry in entries:
        entry["command"] = re.sub(r"-Winvalid-pch -include \S+ ", "", entry["command"])
    DATABASE.mkdir(parents=True, exist_ok=True)
    (DATABASE / "compile_commands.json").write_text(json.dumps(entries))
    return {entry["file"]: entry["command"] for entry in entries}


def reached(path, seen):
    """`path` and the headers of ours that it includes, directly or not."""
    if path in seen or not path.is_file():
        return seen
    seen.add(path)
    for name in INCLUDE.findall(path.read_bytes()):
        reached(ROOT / "src" / name.decode(), seen)
    return seen


def digest(path, command, common):
    sums = hashlib.sha256(common)
    sums.update(command.replace(str(ROOT), ".").encode())
    for part in sorted(reached(path, set())):
        sums.update(str(part.relative_to(ROOT)).encode() + b"\0" + part.read_bytes() + b"\0")
    return sums.hexdigest()


def tidy(path, stamp):
    """What clang-tidy says about `path`; nothing where it is clean."""
    run = subprocess.run(
        [TIDY, "--quiet", "--extra-arg=-Wno-unknown-warning-option", "-p", str(DATABASE), str(path)],
        capture_output=True, text=True, cwd=ROOT, check=False)
    if run.returncode == 0 and "warning:" not in run.stdout:
        stamp.touch()
        return ""
    return run.stdout + run.stderr


def main():
    known = commands()
    files = [pathlib.Path(name).resolve() for name in sys.argv[1:]] or sorted(
        path for path in map(pathlib.Path, known)
        if path.is_relative_to(ROOT / "src") and not path.name.endswith("_test.cc"))
    version = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
    common = version + (ROOT / ".clang-tidy").read_bytes()
    CLEAN.mkdir(parents=True, exist_ok=True)
    work = []
    for path in files:
        if str(path) not in known:
            sys.exit(f"tidy: {path} is not part of the build")
        stamp = CLEAN / digest(path, known[str(path)], common)
        if not stamp.exists():
            work.append((path, stamp))
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for said in pool.map(lambda job: tidy(*job), work):
            wrong += said != ""
            print(said, end="")
    print(f"tidy: {len(files)} files, {len(work)} looked at, {wrong} not clean")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
