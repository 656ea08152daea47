#!/usr/bin/env python3
"""Runs a test as root and as an unprivileged user, each with control groups of its own and a copy of the programs.

    each_user.py PROGRAM ARG…

The program finds CORDON_BIN, HOME, CORDON_TEST_DIR and CORDON_AS_USER in its environment. Started by a user, it runs
the test as that user only."""
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time

USER = "cordon-test"
CONTROLLERS = ("memory", "pids", "cpu", "cpuacct")


def delegate(uid, name):
    """A control group of the user's own in every hierarchy there is; the caller moves into it."""
    for controller in CONTROLLERS:
        path = f"/sys/fs/cgroup/{controller}/{name}"
        if not os.path.isdir(f"/sys/fs/cgroup/{controller}"):
            continue
        os.makedirs(path, exist_ok=True)
        for item in ["."] + os.listdir(path):
            os.chown(os.path.join(path, item), uid, uid)
        with open(os.path.join(path, "cgroup.procs"), "w") as procs:
            procs.write(str(os.getpid()))


def remove_groups(name):
    for controller in CONTROLLERS:
        path = f"/sys/fs/cgroup/{controller}/{name}"
        for _ in range(100):
            try:
                os.rmdir(path)
                break
            except FileNotFoundError:
                break
            except OSError:
                time.sleep(0.02)


def run_as(uid, gid, command):
    name = f"cordon-tests-{os.getpid()}-{uid}"
    # Not in /tmp: a sandbox has one of its own, which would hide what must be hidden by other means.
    place = tempfile.mkdtemp(prefix="cordon-each-", dir="/srv")
    binaries = os.path.join(place, "bin")
    shutil.copytree(os.environ["CORDON_BIN"], binaries, symlinks=True,
                    ignore=lambda _, names: [n for n in names if n.endswith(("_test", "_fuzz")) or n.startswith("bench_")])
    libexec = os.path.join(os.environ["CORDON_BIN"], "..", "libexec")
    if os.path.isdir(libexec):
        shutil.copytree(libexec, os.path.join(place, "libexec"))
    home = os.path.join(place, "home")
    os.mkdir(home)
    for path in (place, home):
        os.chown(path, uid, gid)
        os.chmod(path, 0o755)
    pid = os.fork()
    if pid == 0:
        delegate(uid, name)
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
        environment = {**os.environ, "CORDON_AS_USER": str(uid), "CORDON_TEST_DIR": place, "CORDON_BIN": binaries, "HOME": home}
        os.chdir(place)
        os.execvpe(command[0], command, environment)
    _, status = os.waitpid(pid, 0)
    shutil.rmtree(place, ignore_errors=True)
    remove_groups(name)
    code = os.waitstatus_to_exitcode(status)
    print(f"== as uid {uid}: {'passed' if code == 0 else f'FAILED ({code})'}", flush=True)
    return code


def main():
    command = sys.argv[1:]
    if os.getuid() != 0:
        os.execvp(command[0], command)
    try:
        user = pwd.getpwnam(USER)
    except KeyError:
        subprocess.run(["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", USER], check=True)
        user = pwd.getpwnam(USER)
    codes = [run_as(uid, gid, command) for uid, gid in ((0, 0), (user.pw_uid, user.pw_gid))]
    return next((code for code in codes if code), 0)


if __name__ == "__main__":
    sys.exit(main())
