"""The outer cage: what stands for "the host" while the attacks run.

An attack that succeeds must not harm the machine that tests it. So the runner first leaves for private mount, pid,
network, ipc and uts namespaces whose root is an overlay: the machine's files below, a tmpfs above. Whatever an escape
writes lands in the upper layer, and looking there is also how "the host is unchanged" is asserted. A cgroup bounds
bombs that no sandbox stops.
"""
import fcntl
import json
import os
import signal
import sys
import tempfile
import time

import kernel_calls as kernel

CAGE = "/run/cage"  # inside the cage: upper/ is the overlay's upper layer
WORK = "/srv"       # a tmpfs: idmapped mounts are not possible on an overlay
MEMORY_BOUND = 3 << 30
PROCESS_BOUND = 3000
USER_ID = 4242
FOREIGN_GROUP = 4343  # held by the launcher that root starts; must not reach the sandbox
CGROUP = "/sys/fs/cgroup"
EMPTIED = {"/tmp": "1777", "/var/tmp": "1777", "/run": "755", "/srv": "755"}
SPECIAL = ("/proc", "/sys", "/dev", *EMPTIED)
CHECKOUT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def controllers():
    """The roots of the hierarchies in which the tests get a subtree: v1 controllers, or the v2 tree."""
    if os.path.exists(f"{CGROUP}/cgroup.controllers"):
        return [CGROUP]
    names = ("memory", "pids", "cpu", "freezer", "cpuacct", "unified")
    return [f"{CGROUP}/{name}" for name in names if os.path.isdir(f"{CGROUP}/{name}")]


def make_bounds(name):
    """Cgroups that bound whatever happens; joined by the cage alone, removed when it is gone."""
    made = []
    for root in controllers():
        group = f"{root}/{name}"
        try:
            os.mkdir(group)
        except OSError:
            continue
        made.append(group)
        for file, value in (("memory.limit_in_bytes", MEMORY_BOUND), ("memory.max", MEMORY_BOUND),
                            ("pids.max", PROCESS_BOUND)):
            if os.path.exists(f"{group}/{file}"):
                write(f"{group}/{file}", str(value))
        os.mkdir(f"{group}/runner")
        # A group counts as one task among those beside it: on a busy machine the attacks would hardly run at all.
        if os.path.exists(f"{group}/cpu.shares"):
            for path in (group, f"{group}/runner"):
                write(f"{path}/cpu.shares", "16384")
    return made


def delegate(groups, user):
    """A subtree that belongs to the unprivileged user, as systemd's Delegate=yes gives one; and one for root."""
    for group in groups:
        for owner, name in ((user, "user"), (0, "root")):
            path = f"{group}/{name}"
            os.makedirs(path, exist_ok=True)
            os.chown(path, owner, owner)
            if os.path.exists(f"{path}/cpu.shares"):
                write(f"{path}/cpu.shares", "16384")
            for file in ("cgroup.procs", "cgroup.threads", "tasks", "cgroup.subtree_control"):
                if os.path.exists(f"{path}/{file}"):
                    os.chown(f"{path}/{file}", owner, owner)


def join(groups, name):
    for group in groups:
        write(f"{group}/{name}/cgroup.procs", "0")


def remove_cgroups(groups):
    for group in groups:
        for directory, _, _ in os.walk(group, topdown=False):
            for _ in range(500):
                try:
                    os.rmdir(directory)
                    break
                except OSError:
                    time.sleep(0.02)  # its last process is still on its way out
            else:
                print(f"left behind: {directory}", file=sys.stderr)


def other_mounts():
    """Mount points that the overlay of / does not cover, e.g. a separate /home."""
    with open("/proc/self/mountinfo") as file:
        points = [line.split()[4] for line in file]
    return [p for p in dict.fromkeys(points)
            if p != "/" and not any(p == s or p.startswith(s + "/") for s in SPECIAL) and os.path.isdir(p)]


def make_devices(directory):
    """A small /dev: what programs need, and decoys with dangerous names and /dev/null's number."""
    kernel.mount("tmpfs", directory, "tmpfs", 0, "mode=755")
    for name, minor in (("null", 3), ("zero", 5), ("full", 7), ("random", 8), ("urandom", 9)):
        os.mknod(f"{directory}/{name}", 0o20666, os.makedev(1, minor))
    os.mknod(f"{directory}/tty", 0o20666, os.makedev(5, 0))
    os.mkdir(f"{directory}/net")
    for decoy in ("mem", "port", "kmsg", "vda", "fuse", "kvm", "loop-control", "userfaultfd", "net/tun", "vsock",
                  "uinput"):
        os.mknod(f"{directory}/{decoy}", 0o20666, os.makedev(1, 3))
        os.chmod(f"{directory}/{decoy}", 0o666)
    for name in ("null", "zero", "full", "random", "urandom", "tty"):
        os.chmod(f"{directory}/{name}", 0o666)
    for name, target in (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2"),
                         ("ptmx", "pts/ptmx")):
        os.symlink(target, f"{directory}/{name}")
    for name in ("pts", "shm", "mqueue"):
        os.mkdir(f"{directory}/{name}")
    kernel.mount("devpts", f"{directory}/pts", "devpts", 0, "newinstance,ptmxmode=0666,mode=620")
    kernel.mount("tmpfs", f"{directory}/shm", "tmpfs", 0, "mode=1777,size=1g")
    kernel.mount("mqueue", f"{directory}/mqueue", "mqueue")


def show(path, root):
    kernel.mount(path, root + path, None, kernel.MS_BIND)
    kernel.mount(None, root + path, None, kernel.MS_BIND | kernel.MS_REMOUNT | kernel.MS_RDONLY)


def make_root(scratch):
    kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    covered = other_mounts()
    kernel.mount("tmpfs", scratch, "tmpfs", 0, "mode=755,size=1g")
    root = f"{scratch}/root"
    for name in ("upper", "work", "root"):
        os.mkdir(f"{scratch}/{name}")
    kernel.mount("overlay", root, "overlay", 0, f"lowerdir=/,upperdir={scratch}/upper,workdir={scratch}/work")
    for point in covered:
        show(point, root)
    kernel.mount("/sys", f"{root}/sys", None, kernel.MS_BIND | kernel.MS_REC)
    kernel.mount("proc", f"{root}/proc", "proc")
    make_devices(f"{root}/dev")
    for name, mode in EMPTIED.items():
        kernel.mount("tmpfs", root + name, "tmpfs", 0, f"mode={mode},size=2g")
    # The programs that attack are in it, wherever somebody has put it.
    if any(CHECKOUT.startswith(name + "/") for name in EMPTIED):
        os.makedirs(root + CHECKOUT)
        show(CHECKOUT, root)
    os.mkdir(f"{root}{CAGE}", 0o755)
    kernel.mount(scratch, f"{root}{CAGE}", None, kernel.MS_BIND)
    os.chdir(root)
    kernel.pivot_root(".", ".")
    kernel.umount(".")
    os.chdir("/")
    os.chmod(CAGE, 0o700)
    # As systemd leaves it on a real host: only then can a mount travel between host and sandbox.
    kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_SHARED)


def be_init(run):
    """pid 1 of the cage: reaps what nobody waits for, ends with the runner and takes all with it."""
    runner = os.fork()
    if runner == 0:
        os.setsid()
        status = 1
        try:
            status = run()
        except BaseException:  # the child must not return into the parent's code
            import traceback
            traceback.print_exc()
        sys.stdout.flush()
        os._exit(status)
    while True:
        pid, status = os.wait()
        if pid == runner:
            os._exit(os.waitstatus_to_exitcode(status) & 0xff)


def enter(groups, scratch, run):
    """In a child of the runner: never returns."""
    join(groups, "runner")
    kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC |
                   kernel.CLONE_NEWUTS)
    init = os.fork()
    if init != 0:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        _, status = os.waitpid(init, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0xff)
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        make_root(scratch)
        kernel.checked(kernel.libc.sethostname(b"cordon-attack-host", 18), "sethostname")
        kernel.configure_loopback(["10.99.0.1", "169.254.169.254"])
        delegate(groups, USER_ID)
    except OSError as error:
        print(f"skipped: this machine gives no cage: {error}", flush=True)
        os._exit(77)
    be_init(lambda: run(groups))


class Cage:
    """One that is running: its first process, its control groups, and the end of the pipe that its results come through."""

    def __init__(self, child, groups, results, scratch):
        self.child = child
        self.groups = groups
        self.results = results
        self.scratch = scratch


def start(number, run):
    """Starts a cage in which `run(cgroups)` gives a value that JSON can carry."""
    groups = make_bounds(f"cordon-attacks-{os.getpid()}-{number}")
    scratch = tempfile.mkdtemp(prefix="cordon-cage-", dir="/tmp")
    inside = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(inside[0])
        # Out of the way of the numbers that leak_descriptors uses.
        writing = fcntl.fcntl(inside[1], fcntl.F_DUPFD_CLOEXEC, 200)
        os.close(inside[1])

        def deliver(joined):
            value = run(joined)
            with os.fdopen(writing, "w") as pipe:
                json.dump(value, pipe)
            return 0
        enter(groups, scratch, deliver)
    os.close(inside[1])
    running.append(child)
    for number_ in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number_, stop_all)
    return Cage(child, groups, inside[0], scratch)


running = []


def stop_all(*_):
    """Stopped from outside (a test's timeout): a cage ends with its first process, and what it left is removed."""
    for child in running:
        try:
            os.kill(child, signal.SIGKILL)
        except ProcessLookupError:
            pass  # the same signal has ended it already


def finish(cage):
    """Waits for its end; gives its status and what it delivered, if anything."""
    with os.fdopen(cage.results) as pipe:
        text = pipe.read()
    _, status = os.waitpid(cage.child, 0)
    running.remove(cage.child)
    remove_cgroups(cage.groups)
    os.rmdir(cage.scratch)
    return os.waitstatus_to_exitcode(status) & 0xff, json.loads(text) if text else None
