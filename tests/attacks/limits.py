"""J95–J106, J109: what takes without end is stopped, and the result says by which limit."""
import glob
import os
import resource
import threading
import time

from scenario import (NATIVE, ONCE, Scenario, bomb, closed, end_survivors, opened, program, running, started,
                      summary, verdict)

MEBIBYTE = 1 << 20


def stopped(name, size, options, reasons, path="."):
    """The bomb must not reach its size. Killed by a limit, the reason must be one of `reasons`; refused by an errno
    (the bomb then counts and exits 3) is as good."""
    def attempt(column, workspace):
        out, report = column.run(workspace, bomb(workspace, name, size, path or workspace.path),
                                 options if column.name.startswith("L") else [])
        end_survivors()
        # What a bare bomb left in the cage's own /tmp: the host's state is read file by file.
        for left in glob.glob(f"{path}/bomb-*") + glob.glob(f"{path}/inode-*") if path.startswith("/") else []:
            os.unlink(left)
        started(report)
        if report.get("exit_code") == 0:
            return opened(f"took all: {out.strip()[:80]}")
        if column.name.startswith("L") and report["outcome"] == "killed" and report["killed_by"] not in reasons:
            return opened(f"stopped, but reason {report['killed_by']!r} is not one of {reasons}")
        return closed(out.strip()[:60] or summary(report))
    return attempt


def fork_bomb(column, workspace):
    most, done = [0], threading.Event()

    def watch():
        while not done.is_set():
            most[0] = max(most[0], len(running()))
            time.sleep(0.02)
    watcher = threading.Thread(target=watch)
    watcher.start()
    _, report = column.run(workspace, bomb(workspace, "fork_bomb", 3), ["--pids", "64", "--wall", "1000"])
    done.set()
    watcher.join()
    left = len(running())
    end_survivors()
    started(report)
    wrong = report["outcome"] != "killed" or report["killed_by"] not in ("pids", "timeout")
    return verdict(most[0] > 64 or left or wrong, f"at most {most[0]} processes, {left} left, {summary(report)}")


def output_bomb(stream):
    def attempt(column, workspace):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        _, report = column.run(workspace, bomb(workspace, "output", 64, stream), ["--output", str(MEBIBYTE)])
        started(report)
        name = "stderr" if stream == "stderr" else "stdout"
        kept, written = len(report[name]), report["usage"][f"{name}_bytes"]
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        wrong = []
        if report.get("exit_code") != 0:
            wrong.append(f"ended as {summary(report)}")
        if kept > 3 * MEBIBYTE or (stream != "binary" and kept > MEBIBYTE):
            wrong.append(f"{kept} bytes kept")
        if written != 64 * MEBIBYTE or not report["truncated"][name]:
            wrong.append(f"{written} bytes counted, truncated {report['truncated'][name]}")
        if peak > max(before, 100 * 1024):
            wrong.append(f"{peak} KiB of memory")
        return verdict(wrong, ", ".join(wrong))
    return attempt


def output_killed(column, workspace):
    _, report = column.run(workspace, bomb(workspace, "output", 64, "stdout"), ["--output-kill", str(16 * MEBIBYTE)])
    started(report)
    return verdict(report.get("killed_by") != "output", summary(report))


def processor_time(column, workspace):
    begun = time.monotonic()
    _, report = column.run(workspace, bomb(workspace, "busy", 4), ["--cpu", "500", "--wall", "8000"])
    end_survivors()
    started(report)
    elapsed = time.monotonic() - begun
    return verdict(report["outcome"] != "killed" or elapsed > 5, f"{elapsed:.1f} s, {summary(report)}")


def processor_share(column, workspace):
    _, report = column.run(workspace, bomb(workspace, "busy", 4), ["--cpus", "0.5", "--wall", "1500"])
    end_survivors()
    started(report)
    used = report["usage"]["cpu_ms"]
    # Nothing at all would only mean that it was not counted; a busy machine gives less than the share.
    return verdict(not 1 <= used <= 1200, f"{used} ms of processor time in 1,500 ms")


def core_file(column, workspace):
    _, report = column.run(workspace, bomb(workspace, "crash", 1))
    started(report)
    cores = glob.glob(f"{workspace.path}/core*")
    wrong = bool(cores)
    if column.name.startswith("L"):
        wrong = wrong or report.get("killed_by") != "signal" or report.get("signal") != 11
    return verdict(wrong, f"{cores} {summary(report)}")


MEMORY = ["--memory", str(48 * MEBIBYTE)]
DISK = ["--disk", str(24 * MEBIBYTE), "--wall", "20000"]

SCENARIOS = [
    Scenario("fork_bomb", "a fork bomb stays within its limit and ends", fork_bomb, NATIVE),
    Scenario("forks", "400 processes are too many", stopped("forks", 400, [], ("pids", "timeout")), ONCE),
    Scenario("threads", "400 threads are too many", stopped("threads", 400, [], ("pids", "timeout")), ONCE),
    Scenario("memory", "160 MiB are too much for 48", stopped("memory", 160, MEMORY, ("memory",)), ONCE),
    Scenario("memory_shared", "160 MiB of shared memory are too much for 48",
             stopped("shared_memory", 160, MEMORY, ("memory",)), ONCE),
    Scenario("memory_file", "160 MiB in a memfd are too much for 48",
             stopped("memory_file", 160, MEMORY, ("memory", "disk")), ONCE),
    Scenario("memory_in_many", "160 MiB in eight processes are too much for 48",
             stopped("memory_in_many", 160, MEMORY, ("memory",)), ONCE),
    Scenario("memory_pipes", "60 MiB in pipes are too much for 24",
             stopped("pipes", 60, ["--memory", str(24 * MEBIBYTE)], ("memory",)), ONCE),
    Scenario("tmp_filled", "100 MiB in /tmp are too much for 24",
             stopped("one_file", 100, DISK + MEMORY, ("disk", "memory"), "/tmp"), ONCE),
    Scenario("shm_filled", "100 MiB in /dev/shm are too much for 24",
             stopped("one_file", 100, DISK + MEMORY, ("disk", "memory"), "/dev/shm"), ONCE),
    Scenario("file_too_big", "one file of 64 MiB is too big for 16",
             stopped("one_file", 64, ["--file", str(16 * MEBIBYTE)], ("disk", "signal"), ""), ONCE),
    # Much more than the limit: a watchdog that looks now and then has time to see it.
    Scenario("workspace_filled", "400 MiB in the workspace are too much for 24",
             stopped("many_files", 400, DISK, ("disk",), ""), ONCE),
    Scenario("workspace_inodes", "30,000 files in the workspace are too many",
             stopped("inodes", 30000, ["--inodes", "2000", "--wall", "20000"], ("disk",), ""), ONCE),
    Scenario("tmp_inodes", "30,000 files in /tmp are too many",
             stopped("inodes", 30000, ["--inodes", "2000", "--wall", "20000"], ("disk",), "/tmp"), ONCE),
    Scenario("output_flood", "64 MiB of output are drained, counted and cut", output_bomb("stdout"), NATIVE),
    Scenario("error_flood", "64 MiB of error output are drained, counted and cut", output_bomb("stderr"), NATIVE, ("L0",)),
    Scenario("binary_flood", "64 MiB that are no UTF-8 are drained, counted and cut", output_bomb("binary"), NATIVE, ("L0",)),
    Scenario("output_killed", "output without end is ended, and says so", output_killed, NATIVE),
    Scenario("processor_time", "processor time is limited for the whole tree", processor_time, NATIVE),
    Scenario("processor_share", "half a processor is half a processor", processor_share, NATIVE, ("L0",)),
    Scenario("core_file", "a crash leaves no core and is told as a signal", core_file, ONCE),
]

for scenario in SCENARIOS:
    scenario.limit = True
