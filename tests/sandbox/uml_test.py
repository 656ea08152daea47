#!/usr/bin/python3
"""What this machine's own kernel does not have: control groups of version 2 alone, and no Landlock. User-mode Linux
boots on the machine's own files in two seconds; in it native_test.py runs as a user to whom a subtree was handed.

  uml_test.py          boots and waits
  uml_test.py inside   is the first process in there
"""
import os
import shutil
import subprocess
import sys
import time
import traceback

KERNEL = "/usr/bin/linux.uml"
USER = 65534
# What a control group or a missing Landlock could change; that kernel forks slowly and has no overlayfs.
CLASSES = ["VersionTwo", "Limits", "Protected.test_what_exists_cannot_be_changed_moved_or_removed",
           "Lifetime.test_what_the_program_leaves_behind_dies_with_it", "Lifetime.test_nothing_survives_a_killed_launcher",
           "Warm.test_limits_hold", "Warm.test_nothing_of_one_run_is_seen_by_the_next",
           "Warm.test_waiting_slots_die_with_their_launcher"]
VERDICT = "uml tests ended with"
GROUP = "/sys/fs/cgroup/delegated"


def boot():
    if not os.access(KERNEL, os.X_OK):
        print(f"skipped: there is no {KERNEL} (Debian package user-mode-linux)")
        return 77
    if subprocess.run([KERNEL, "--version"], capture_output=True, check=False).returncode != 0:
        print("skipped: user-mode Linux does not start on this machine")
        return 77
    line = [KERNEL, "root=/dev/root", "rootfstype=hostfs", "hostfs=/", "mem=1024M", "quiet", "con=null", "con0=null,fd:1",
            "con1=null", f"init={os.path.abspath(__file__)}", f"CORDON_BIN={os.path.abspath(os.environ['CORDON_BIN'])}",
            f"CORDON_CLASSES={','.join(sys.argv[1:])}"]
    done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=800,
                          check=False)
    verdict = [text for text in done.stdout.splitlines() if VERDICT in text]
    # Its state of registers is a fixed size; processors with larger ones (AMX) give it none back, and no program runs.
    if not verdict and "ptrace set fp regs failed" in done.stdout + done.stderr:
        print("skipped: user-mode Linux cannot run programs on this processor (ptrace set fp regs failed); try another machine")
        return 77
    passed = bool(verdict) and verdict[-1].split()[-1] == "0"
    print(done.stdout[-20000:])
    print("passed" if passed else f"FAILED: {verdict or 'no verdict'} {done.stderr[-500:]}")
    return 0 if passed else 1


def mount(kind, point, options=""):
    subprocess.run(["/bin/mount", "-t", kind, *(["-o", options] if options else []), kind, point], check=True)


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def delegate():
    """As systemd hands a subtree to a user: the user's own, controllers passed on, processes in a leaf."""
    write("/sys/fs/cgroup/cgroup.subtree_control", "+memory +pids +cpu")
    os.mkdir(GROUP)
    write(f"{GROUP}/cgroup.subtree_control", "+memory +pids +cpu")
    os.mkdir(f"{GROUP}/tests")
    for directory in (GROUP, f"{GROUP}/tests"):
        for name in ("", "/cgroup.procs", "/cgroup.threads", "/cgroup.subtree_control"):
            os.chown(directory + name, USER, USER)


def run_tests(group, classes):
    """As the user, in the group; gives the status."""
    child = os.fork()
    if child == 0:
        write(f"{group}/cgroup.procs", "0")
        os.setgroups([])
        os.setresgid(USER, USER, USER)
        os.setresuid(USER, USER, USER)
        environment = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/tmp/place", "CORDON_AS_USER": "1",
                       "CORDON_TEST_DIR": "/tmp/place", "CORDON_BIN": "/tmp/place/bin", "CORDON_KILLS": "20"}
        os.execve("/usr/bin/python3", ["python3", os.path.join(os.path.dirname(os.path.abspath(__file__)), "native_test.py"),
                                       *classes], environment)
    _, status = os.waitpid(child, 0)
    return status


def be_init():
    for kind, point in (("proc", "/proc"), ("sysfs", "/sys"), ("tmpfs", "/tmp"), ("tmpfs", "/run")):
        mount(kind, point)
    mount("cgroup2", "/sys/fs/cgroup")
    os.makedirs("/dev/pts", exist_ok=True)
    mount("devpts", "/dev/pts")
    os.makedirs("/tmp/place/bin")
    os.chmod("/tmp", 0o1777)
    for tool in ("sandbox_run", "sandbox_soak"):
        shutil.copy(f"{os.environ['CORDON_BIN']}/{tool}", "/tmp/place/bin")
    for directory in ("/tmp/place", "/tmp/place/bin"):
        os.chown(directory, USER, USER)
    delegate()
    chosen = [name for name in os.environ.get("CORDON_CLASSES", "").split(",") if name]
    status = run_tests(f"{GROUP}/tests", chosen or CLASSES)
    if not chosen:
        # A group with nothing passed on and nobody else in it: we move into a leaf of it.
        alone = "/sys/fs/cgroup/alone"
        os.mkdir(alone)
        for name in ("", "/cgroup.procs", "/cgroup.threads", "/cgroup.subtree_control"):
            os.chown(alone + name, USER, USER)
        status |= try_alone(alone)
    return status


def try_alone(group):
    child = os.fork()
    if child == 0:
        write(f"{group}/cgroup.procs", "0")
        os.setgroups([])
        os.setresgid(USER, USER, USER)
        os.setresuid(USER, USER, USER)
        os.execve("/tmp/place/bin/sandbox_run", ["sandbox_run", "--", "/bin/true"], {"PATH": "/usr/bin:/bin"})
    _, status = os.waitpid(child, 0)
    print(f"alone in a group: {status}; passed on: {open(group + '/cgroup.subtree_control').read().strip()}")
    moved = "memory" in open(f"{group}/cgroup.subtree_control").read()
    return status or (0 if moved else 1)


def main():
    if os.getpid() != 1:
        return boot()
    status = 1
    try:
        status = be_init()
    except BaseException:
        traceback.print_exc(file=sys.stdout)
    print(f"{VERDICT} {status}", flush=True)
    time.sleep(0.2)
    subprocess.run(["/sbin/halt", "-f"], check=False)
    write("/proc/sysrq-trigger", "o")
    time.sleep(60)
    return 0


if __name__ == "__main__":
    sys.exit(main())
