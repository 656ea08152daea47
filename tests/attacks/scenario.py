"""An attack that the host side drives and judges: a name, a claim, the columns it is for, and the attempt."""
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from typing import Callable

import decoys

NATIVE = "native"            # every level
CALIBRATED = "calibrated"    # also bare and in bubblewrap, where it is (or may be) open
ONCE = "once"                # also bare, as a user: enough to show that it can be open, where it costs time
BOMB = "attack_bomb"


@dataclass
class Scenario:
    name: str
    claim: str
    attempt: Callable
    columns: str = CALIBRATED
    levels: tuple = ("L0", "L1c", "L4")
    deep: bool = False
    shown_by: str = "user"       # who, without a sandbox, it is open for
    limit: bool = False          # held by the control group where there is one
    kills: bool = False          # the launcher itself is ended from outside

    def applies(self, column, deep):
        if column.name.startswith("L"):
            # Without a control group it is the limits that are held by something else.
            if column.name == "L1c" and not deep and not self.limit:
                return False
            return column.name in self.levels
        if self.columns == ONCE:
            return column.name == "bare" and column.principal == "user"
        return self.columns == CALIBRATED and column.principal == self.shown_by


def closed(note=""):
    return (False, "-", note)


def opened(note=""):
    return (True, "-", note)


def verdict(is_open, note=""):
    return (bool(is_open), "-", str(note))


def program(workspace, name):
    return f"{workspace.path}/{name}"


def bomb(workspace, name, size, *more):
    return [program(workspace, BOMB), name, str(size), *more]


def running(name=BOMB):
    return [int(pid) for pid, comm in decoys.processes().items() if comm == name[:15]]


def wait_until(condition, seconds):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.005)
    return bool(condition())


def end_survivors(name=BOMB):
    """Those that a sandbox (or its absence) let live; all of them are in the cage's pid namespace."""
    for pid in running(name):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    wait_until(lambda: not running(name), 2)


def patience():
    """100 ms, and on a machine under load what twenty program starts take at this moment."""
    begun = time.monotonic()
    subprocess.run(["/bin/true"], check=True)
    return 0.1 + 20 * (time.monotonic() - begun)


def survivors():
    """How many are left 100 ms after the end; then ends them."""
    gone = wait_until(lambda: not running(), patience())
    left = 0 if gone else len(running())
    end_survivors()
    return left


def summary(report):
    return f"{report.get('outcome')} {report.get('exit_code')} {report.get('killed_by')} {report.get('error') or ''}"[:160]


def started(report):
    """A run that did not start proves nothing."""
    if report["outcome"] in ("broken", "hung", "refused"):
        raise RuntimeError(summary(report))
    return report
