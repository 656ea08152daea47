"""What the audit tests share: the programs, scratch directories, and logs to play with."""
import contextlib
import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile

BIN = os.environ.get("CORDON_BIN") or os.path.join(os.path.dirname(__file__), "../../build/release/bin")
DRIVER = os.path.join(BIN, "audit_driver")
VERIFY = os.path.join(BIN, "cordon-verify")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# Files of the writers alone: they prove nothing and no verifier reads them.
WORKING = {"frontier", "lock", "reserve", "running", "index", "damaged", "key", "redaction.key", "torn", "quarantine"}


def driver(*words, check=True, **more):
    return subprocess.run([DRIVER, *map(str, words)], check=check, capture_output=True, text=True, **more)


@contextlib.contextmanager
def scratch():
    path = tempfile.mkdtemp(prefix="cordon-audit-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def small_log(root, days=3, runs=1):
    """A log of some days, the last of them still open, all of it signed."""
    path = os.path.join(root, "log")
    for number in range(days):
        driver("day", path, "2026-03-0{}".format(number + 1), runs, "d{}".format(number))
    return path


def blob_log(root):
    """As small_log, with an output too long for its line, kept beside the log."""
    path = small_log(root, days=2)
    record = {"command": "cat noise", "user": "driver", "status": "executed", "request": "blob", "exit": 0,
              "output": "\u0001" * 1400}
    driver("record", path, "2026-03-03T12:00:00Z", input=json.dumps(record))
    return path


def files_of(path):
    """Name → bytes of all that a verifier reads."""
    found = {}
    for folder, _, names in os.walk(path):
        for name in names:
            relative = os.path.relpath(os.path.join(folder, name), path)
            if relative.split("/")[0] not in WORKING:
                with open(os.path.join(folder, name), "rb") as file:
                    found[relative] = file.read()
    return found


def as_a_user():
    """Words that run a program as an unprivileged user, and that user's id; nothing when we are one."""
    if os.getuid() != 0:
        return [], os.getuid()
    nobody = pwd.getpwnam("nobody")
    return ["setpriv", "--reuid", str(nobody.pw_uid), "--regid", str(nobody.pw_gid), "--clear-groups"], nobody.pw_uid


def fail(message):
    print("FAILED: " + message)
    sys.exit(1)
