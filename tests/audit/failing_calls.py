#!/usr/bin/env python3
"""Each system call of one append fails, one after the other, with EIO and ENOSPC; each write is cut short at each byte. Afterwards
nothing ran without a durable intent, the log verifies or names what is wrong, and the next writer carries on."""
import collections
import datetime
import os
import re
import resource
import shutil
import signal
import subprocess
import sys

from stage import DRIVER, VERIFY, driver, fail, scratch
import verify
from killed import records_of

CALLS = ["write", "pwrite64", "fdatasync", "fsync", "openat", "renameat", "ftruncate", "flock", "fallocate", "unlinkat",
         "mkdirat", "fchmod", "newfstatat", "fstat", "pread64", "getdents64", "close"]
ERRORS = ["EIO", "ENOSPC"]


def copy_of(base, path):
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(base, path)
    if os.path.exists(path + ".witness"):
        os.unlink(path + ".witness")


def requests(path, kinds):
    return {record["request"] for record in records_of(path) if record["kind"] in kinds and "request" in record}


def check(path, name):
    """The state right after the failure, and after the next writer."""
    ran = set()
    if os.path.exists(path + ".witness"):
        with open(path + ".witness") as file:
            ran = set(file.read().split())
    intended = requests(path, ("intent",))
    if not ran <= intended:
        fail("{}: {} ran without an intent".format(name, ran - intended))
    code = subprocess.run([VERIFY, "log", "--quiet", path]).returncode
    if code not in (0, 3):
        fail("{}: verify says {}".format(name, code))
    after = driver("append", path, 1, "after", check=False)
    if after.returncode != 0:
        fail("{}: the next writer is stopped: {}".format(name, after.stderr))
    code = subprocess.run([VERIFY, "log", path], capture_output=True, text=True)
    if code.returncode != 0 or verify.Log(path).verify() != 0:
        fail("{}: after the next writer: {}".format(name, code.stdout))
    if requests(path, ("intent",)) != requests(path, ("outcome", "recovery")):
        fail("{}: an intent without an end".format(name))
    return bool(ran)


def calls_of(base, path, words):
    copy_of(base, path)
    trace = path + ".trace"
    subprocess.run(["strace", "-f", "-qq", "-o", trace, "-e", "trace=" + ",".join(CALLS), DRIVER, *words], check=True)
    counts = collections.Counter()
    with open(trace) as file:
        for line in file:
            found = re.match(r"\d+ +(\w+)\(", line)
            if found:
                counts[found.group(1)] += 1
    return counts


def fail_each_call(base, path, words):
    total = ran = refused = 0
    for call, count in sorted(calls_of(base, path, words).items()):
        for error in ERRORS:
            for number in range(1, count + 1):
                copy_of(base, path)
                done = subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e",
                                       "inject={}:error={}:when={}".format(call, error, number), DRIVER, *words],
                                      capture_output=True)
                refused += done.returncode != 0
                ran += check(path, "{} number {} fails with {}".format(call, number, error))
                total += 1
    return total, ran, refused


def limited(limit, ignore):
    def set_up():
        # Ignored: a short write, then EFBIG. Not ignored: dead in the middle of the line.
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN if ignore else signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return set_up


def cut_each_write(base, path):
    name = next(name for name in os.listdir(base) if name.endswith(".jsonl"))
    size = os.path.getsize(os.path.join(base, name))
    total = 0
    for extra in range(0, 1000, 1 if "--deep" in sys.argv else 7):
        for ignore in (True, False):
            copy_of(base, path)
            subprocess.run([DRIVER, "append", path, "1", "x"], capture_output=True, preexec_fn=limited(size + extra, ignore))
            check(path, "a write cut after {} bytes".format(extra))
            total += 1
    return total


def main():
    if shutil.which("strace") is None:
        print("skipped: strace is not installed (apt-get install strace)")
        return 77
    with scratch() as root:
        base, path = os.path.join(root, "base"), os.path.join(root, "log")
        driver("append", base, 30, "base")
        os.unlink(base + ".witness")
        probe = subprocess.run(["strace", "-o", "/dev/null", "-e", "inject=getpid:error=EIO", "true"], capture_output=True)
        if probe.returncode != 0:
            print("skipped: strace may not trace here")
            return 77
        tomorrow = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)).date().isoformat()
        ways = {"in one day": ["append", path, "1", "x"]}
        if "--deep" in sys.argv:
            ways["over midnight"] = ["day", path, tomorrow, "1", "x"]
        for way, words in ways.items():
            print("{}: {} failing calls, {} still ran with their record, {} refused or stopped".format(
                way, *fail_each_call(base, path, words)))
        print("{} writes cut short".format(cut_each_write(base, path)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
