"""G72, J103, J107, J108 and D45: whatever ends first, all ends."""
import os
import signal
import subprocess
import time

from scenario import (CALIBRATED, NATIVE, Scenario, bomb, closed, end_survivors, opened, running, started, summary,
                      survivors, verdict, wait_until)


def leaves_survivors(name):
    def attempt(column, workspace):
        _, report = column.run(workspace, bomb(workspace, name, 8))
        left = survivors()
        started(report)
        return verdict(left, f"{left} survivors")
    return attempt


def returns_when_main_ends(column, workspace):
    begun = time.monotonic()
    out, report = column.run(workspace, bomb(workspace, "daemon_keeps_output", 5))
    elapsed = time.monotonic() - begun
    left = survivors()
    started(report)
    lost = "main has ended" not in out
    return verdict(elapsed > 3 or left or lost, f"{elapsed:.1f} s, {left} survivors{', output lost' if lost else ''}")


def ends_at_the_deadline(name, size):
    """Three tries, and what a run of nothing takes at this moment is allowed on top: a machine under load is late with
    everything."""
    def attempt(column, workspace):
        late = []
        for _ in range(3):
            _, nothing = column.run(workspace, ["/bin/true"])
            allowed = 100 + started(nothing)["duration_us"] / 1000
            _, report = column.run(workspace, bomb(workspace, name, size), ["--wall", "400"])
            left = survivors()
            started(report)
            if report.get("killed_by") != "timeout":
                return opened(f"ended as {summary(report)}")
            over = report["duration_us"] / 1000 - 400
            if over <= allowed and not left:
                return closed(f"{over:.0f} ms after the deadline")
            late.append(f"{over:.0f} ms late ({allowed:.0f} allowed), {left} survivors")
        return opened("; ".join(late))
    return attempt


def launcher_ended_by(number):
    def attempt(column, workspace):
        process = column.start(workspace, bomb(workspace, "daemon_and_stay", 8))
        if not wait_until(lambda: len(running()) >= 4, 5):
            process.kill()
            end_survivors()
            out, err = process.communicate()
            raise RuntimeError(f"did not start: {(out + err)[-200:]}")
        os.kill(process.pid, number)
        left = survivors()
        process.kill()
        process.communicate()
        return verdict(left, f"{left} survivors")
    return attempt


def launcher_killed_early(column, workspace):
    """At moments while it still sets up: the window between clone and the first lines of the child."""
    worst = 0
    for delay in range(0, 36, 3):
        process = column.start(workspace, bomb(workspace, "daemon_and_stay", 8))
        time.sleep(delay / 5000)
        process.kill()
        process.wait()
        worst = max(worst, survivors())
        process.communicate()
    return verdict(worst, f"{worst} survivors")


def kills_all(column, workspace):
    out, report = column.run(workspace, bomb(workspace, "kill_all", 1))
    started(report)
    end_survivors()
    return verdict("killed all others" not in out, summary(report))


def kills_init(column, workspace):
    out, report = column.run(workspace, bomb(workspace, "kill_init", 1))
    started(report)
    end_survivors()
    return verdict("still here" not in out or report.get("exit_code") != 0, summary(report))


def reaps_orphans(column, workspace):
    out, report = column.run(workspace, bomb(workspace, "orphans", 1000), ["--pids", "64"])
    started(report)
    return verdict(report.get("exit_code") != 0, f"{out.strip()} {summary(report)}")


def writes_late(column, workspace):
    file = f"{workspace.path}/written-late"
    _, report = column.run(workspace, bomb(workspace, "writes_after_exit", 3, workspace.path))
    started(report)
    size = lambda: os.path.getsize(file) if os.path.exists(file) else 0
    first = size()
    grew = wait_until(lambda: size() > first, 0.3)
    end_survivors()
    return verdict(grew, f"{first} bytes, then {size()}")


def stdin_never_read(column, workspace):
    """The writer must not be what the run waits for."""
    process = column.start(workspace, ["/bin/true"], ["--stdin-inherit"], stdin=subprocess.PIPE)
    os.set_blocking(process.stdin.fileno(), False)
    try:
        process.stdin.raw.write(b"x" * (1 << 20))
    except BrokenPipeError:
        pass
    ended = wait_until(lambda: process.poll() is not None, 5)
    process.kill()
    process.stdout.read()
    return verdict(not ended, "hung" if not ended else "")


def without_streams(column, workspace):
    """Started with 0, 1 and 2 closed, the launcher's own files must not become the command's streams."""
    os.chmod(workspace.path, 0o777)  # at L4 started by root nobody maps the ids of its files
    script = 'exec 0<&- 1>&- 2>&-; exec "$@"'
    line = column.wrap(workspace, ["/bin/sh", "-c", "ls -l /proc/self/fd > streams 2>&1; echo x; echo y >&2"], ["--raw"])
    column.wrap_saved = column.wrap
    column.wrap = lambda *_: ["/bin/sh", "-c", script, "sh", *line]
    try:
        process = column.start(workspace, [])
        process.communicate(timeout=20)
    finally:
        column.wrap = column.wrap_saved
    path = f"{workspace.path}/streams"
    if not os.path.exists(path):
        raise RuntimeError(f"did not run: exit {process.returncode}")
    with open(path) as file:
        lines = [line.split(" -> ") for line in file if " -> " in line]
    bad = [target.strip() for _, target in lines
           if not target.startswith(("/dev/null", "pipe:", "/proc/", "socket:")) and not target.startswith(workspace.path)]
    return verdict(bad, ", ".join(bad))


SCENARIOS = [
    Scenario("daemon_survives", "a double-forked daemon is gone 100 ms after the end", leaves_survivors("daemon_left")),
    Scenario("subreaper_survives", "orphans of a subreaper are gone 100 ms after the end", leaves_survivors("subreaper")),
    Scenario("stdout_kept_open", "a child that keeps stdout open does not delay the result", returns_when_main_ends),
    Scenario("signals_ignored", "ignoring and blocking every signal is no help at the deadline",
             ends_at_the_deadline("ignore_signals", 8), NATIVE),
    Scenario("tree_stopped", "a tree that stopped itself ends at the deadline", ends_at_the_deadline("stop_self", 8), NATIVE),
    Scenario("busy_at_deadline", "eight busy loops end at the deadline", ends_at_the_deadline("busy", 8), NATIVE),
    Scenario("launcher_killed", "nothing survives a SIGKILL of the launcher", launcher_ended_by(signal.SIGKILL)),
    Scenario("launcher_terminated", "nothing survives a SIGTERM of the launcher", launcher_ended_by(signal.SIGTERM)),
    Scenario("launcher_hung_up", "nothing survives a SIGHUP of the launcher", launcher_ended_by(signal.SIGHUP)),
    Scenario("launcher_killed_early", "nothing survives a SIGKILL of the launcher while it sets up", launcher_killed_early,
             NATIVE),
    Scenario("kill_everyone", "kill(-1) does not end the supervisor", kills_all, NATIVE),
    Scenario("kill_init", "pid 1 can't be ended or stopped from inside", kills_init, NATIVE, ("L0", "L1c", "L2")),
    Scenario("orphans_reaped", "1,000 orphans are reaped", reaps_orphans, NATIVE),
    Scenario("writes_after_exit", "nothing is written after the result is there", writes_late),
    Scenario("stdin_never_read", "an unread stdin does not hang the run", stdin_never_read, NATIVE),
    Scenario("streams_closed", "starting with closed streams leaks no descriptor into them", without_streams, NATIVE,
             ("L0", "L4")),
]

for scenario in SCENARIOS:
    scenario.kills = scenario.name.startswith("launcher_")
    scenario.limit = scenario.name in ("tree_stopped", "launcher_killed")
