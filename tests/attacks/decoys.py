"""What is planted for the attackers to find: nothing of it is real."""
import hashlib
import os
import select
import shutil
import socket
import stat
import struct
import subprocess
import threading
import time

import kernel_calls as kernel
from cage import CAGE, FOREIGN_GROUP, USER_ID, WORK, write

SECRET = "DECOY-4f1c9a"
HOME = f"{WORK}/home/attacked"
STATE = f"{WORK}/state"
SYSTEM_V_KEY = 0x150B
PORT = 4747
DECOY_PID = 30000
PROCESS = "cordon-decoy"
SOCKET = "/run/cordon-decoy.sock"
ENVIRONMENT = {
    "CORDON_ATTACK_SECRET": SECRET, "AWS_SECRET_ACCESS_KEY": SECRET, "GITHUB_TOKEN": SECRET,
    "LD_LIBRARY_PATH": "/srv/nowhere", "BASH_ENV": "/srv/nowhere/env", "ENV": "/srv/nowhere/env",
    "PYTHONSTARTUP": "/srv/nowhere/start.py", "NODE_OPTIONS": "--no-warnings", "GIT_SSH_COMMAND": "/bin/false",
    "SSH_AUTH_SOCK": f"{HOME}/agent.sock", "DBUS_SESSION_BUS_ADDRESS": f"unix:path={SOCKET}", "DISPLAY": ":0",
    "XDG_RUNTIME_DIR": "/run/user/4242", "HOME": HOME, "PATH": ".:/usr/local/bin:/usr/bin:/bin",
}
PROTECTED = [".git/hooks", ".git/config", ".git/info", "SANDBOX.md", ".cordon", ".bashrc", ".profile", ".vscode",
             ".envrc"]
HIDDEN = ["secrets/key"]
SYSCTLS = ["kernel/core_pattern", "kernel/modprobe", "kernel/hostname", "user/max_user_namespaces",
           "net/ipv4/ip_forward", "vm/overcommit_memory", "kernel/shmmax"]

kept = []  # sockets and processes that must live as long as the cage, or as their workspace
listeners = select.epoll()


def give(path, owner, mode=None):
    os.lchown(path, owner, owner)
    if mode is not None:
        os.chmod(path, mode)


def file(path, text, owner, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    write(path, text)
    give(path, owner, mode)


def listen(family, address, kind=socket.SOCK_STREAM):
    listener = socket.socket(family, kind)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(address)
    if kind == socket.SOCK_STREAM:
        listener.listen(256)
    if family == socket.AF_UNIX and not address.startswith("\0"):
        os.chmod(address, 0o777)
    keep(listener)
    return listener


def keep(listener):
    kept.append(listener)
    if listener.type == socket.SOCK_STREAM:
        listeners.register(listener, select.EPOLLIN)


def close(listener):
    if listener.type == socket.SOCK_STREAM:
        listeners.unregister(listener)
    kept.remove(listener)
    listener.close()


def plant_account():
    for path, line in (("/etc/passwd", f"attacked:x:{USER_ID}:{USER_ID}::{HOME}:/bin/sh\n"),
                       ("/etc/group", f"attacked:x:{USER_ID}:\n")):
        with open(path, "a") as table:
            table.write(line)
    write("/etc/machine-id", "0123456789abcdef0123456789abcdef\n")
    write("/cordon-host-marker", SECRET)
    os.chmod("/cordon-host-marker", 0o644)


def plant_removable():
    """Anew for every attack: one that got through as root leaves its own."""
    file(f"{HOME}/outside/removable", "", USER_ID, 0o600)
    os.makedirs(f"{HOME}/outside/empty", exist_ok=True)
    give(f"{HOME}/outside/empty", USER_ID)


def plant_home(probe):
    os.makedirs(f"{HOME}/outside")
    plant_removable()
    shutil.copy(probe, f"{HOME}/outside/program")
    give(f"{HOME}/outside/program", USER_ID, 0o755)
    for name in (".ssh/id_rsa", ".ssh/authorized_keys", ".aws/credentials", ".bashrc", "SECRET"):
        file(f"{HOME}/{name}", SECRET, USER_ID, 0o600)
    for directory, _, _ in os.walk(HOME):
        give(directory, USER_ID)
    os.makedirs(f"{STATE}/user", exist_ok=True)
    give(f"{STATE}/user", USER_ID, 0o700)
    os.makedirs(f"{STATE}/root", exist_ok=True)
    os.chmod(f"{STATE}/root", 0o700)
    os.makedirs("/root/secrets", exist_ok=True)
    for path in ("/tmp/cordon-host-secret", "/var/tmp/cordon-host-secret", "/dev/shm/cordon-decoy"):
        file(path, SECRET, 0, 0o666)


def plant_sockets():
    write("/proc/sys/net/ipv4/ping_group_range", "0 2147483647")
    listen(socket.AF_INET, ("0.0.0.0", PORT))
    if socket.has_ipv6:
        six = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
        six.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        six.bind(("::", PORT))
        six.listen(256)
        keep(six)
    listen(socket.AF_INET, ("0.0.0.0", PORT), socket.SOCK_DGRAM)
    listen(socket.AF_UNIX, "\0cordon-decoy")
    for path in (SOCKET, f"{HOME}/agent.sock", "/tmp/cordon-host.sock"):
        listen(socket.AF_UNIX, path)
    threading.Thread(target=accept_all, daemon=True).start()


def accept_all():
    """So that no backlog fills: a full one would look like a closed door."""
    while True:
        for number, _ in listeners.poll():
            try:
                taken, _ = socket.socket(fileno=os.dup(number)).accept()
                taken.close()
            except OSError:
                pass  # closed meanwhile, with its workspace


def plant_ipc():
    kernel.plant_system_v(SYSTEM_V_KEY)
    os.close(os.open("/dev/mqueue/cordon-decoy", os.O_CREAT | os.O_RDWR, 0o666))
    os.chmod("/dev/mqueue/cordon-decoy", 0o666)


def plant_process():
    """A process of the same user, with a number that no small pid namespace has by chance."""
    write("/proc/sys/kernel/ns_last_pid", str(DECOY_PID - 1))
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setresgid(USER_ID, USER_ID, USER_ID)
        os.setresuid(USER_ID, USER_ID, USER_ID)
        # Changing ids makes it non-dumpable; as a user's ordinary process it would not be.
        kernel.prctl(4, 1)
        write("/proc/self/comm", PROCESS)
        while True:
            import signal
            signal.pause()
    kept.append(child)
    return child


def plant_system_setuid(probe):
    shutil.copy(probe, "/usr/local/bin/cordon-planted-setuid")
    os.chmod("/usr/local/bin/cordon-planted-setuid", 0o4755)


def plant_all(probe, leak_descriptors):
    plant_account()
    plant_home(probe)
    leak_descriptors()
    plant_sockets()
    plant_ipc()
    plant_system_setuid(probe)
    os.makedirs("/mnt/cordon-host-mount", exist_ok=True)
    kernel.mount("tmpfs", "/mnt/cordon-host-mount", "tmpfs")
    return plant_process()


class Workspace:
    """A project with a repository, a neighbour, and things left in it that would be dangerous on the host."""

    def __init__(self, name, owner, programs):
        self.base = f"{WORK}/work/{name}"
        self.path = f"{self.base}/project"
        self.owner = owner
        os.makedirs(self.path)
        plant_removable()
        for directory in (f"{WORK}/work", self.base, self.path):
            os.chmod(directory, 0o755)
        file(f"{self.base}/neighbour/secret", SECRET, owner)
        for name_, text in ((".git/hooks/pre-commit", "#!/bin/sh\n"), (".git/config", "[core]\n"),
                            (".git/HEAD", "ref: refs/heads/main\n"), ("SANDBOX.md", "# Sandbox\n"),
                            ("secrets/key", SECRET), ("main.c", "int main(void) { return 0; }\n")):
            file(f"{self.path}/{name_}", text, owner)
        for directory in (".git/info", "exchange-with"):
            os.makedirs(f"{self.path}/{directory}")
        for program in programs:
            shutil.copy(program, self.path)
        self.plant(programs[0])
        for directory, _, _ in os.walk(self.base):
            give(directory, owner)

    def plant(self, probe):
        os.mknod(f"{self.path}/planted-device", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        os.chmod(f"{self.path}/planted-device", 0o666)
        for name, mode in (("planted-setuid", 0o4755), ("planted-setgid", 0o2755), ("planted-capable", 0o755)):
            shutil.copy(probe, f"{self.path}/{name}")
            # Owned by another id than the one the attacker has: else there would be nothing to gain.
            other = 0 if self.owner else FOREIGN_GROUP
            os.chown(f"{self.path}/{name}", other, other)
            os.chmod(f"{self.path}/{name}", mode)
        capability = struct.pack("<IIIII", 0x02000001, 1 << 13, 0, 0, 0)
        os.setxattr(f"{self.path}/planted-capable", "security.capability", capability)
        file(f"{self.path}/group-secret", SECRET, 0, 0o040)
        os.chown(f"{self.path}/group-secret", 0, FOREIGN_GROUP)
        self.sockets = [listen(socket.AF_UNIX, f"{self.path}/host.sock"),
                        listen(socket.AF_UNIX, f"{self.path}/host-datagram.sock", socket.SOCK_DGRAM)]

    def arguments(self):
        """What the probe program is told."""
        return [f"home={HOME}", f"neighbour={self.base}/neighbour", f"state={STATE}", f"socket={SOCKET}",
                "abstract=cordon-decoy", f"port={PORT}", f"pid={DECOY_PID}", f"process={PROCESS}",
                "marker=cordon-host-marker", "mount=/mnt/cordon-host-mount", "hostname=cordon-attack-host",
                "machine=0123456789abcdef"]

    def remove(self):
        for listener in self.sockets:
            close(listener)
        shutil.rmtree(self.base, ignore_errors=True)


def digest(path):
    status = os.lstat(path)
    kind = stat.S_IFMT(status.st_mode)
    text = ""
    if kind == stat.S_IFREG:
        with open(path, "rb") as content:
            text = hashlib.sha256(content.read()).hexdigest()
    if kind == stat.S_IFLNK:
        text = os.readlink(path)
    return (oct(status.st_mode), status.st_uid, status.st_gid, text)


def tree(root):
    found = {}
    for directory, names, files in os.walk(root):
        for name in names + files:
            path = os.path.join(directory, name)
            try:
                found[path] = digest(path)
            except FileNotFoundError:
                pass
    return found


def processes():
    names = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm") as comm, open(f"/proc/{pid}/stat") as state:
                if ") Z " not in state.read():
                    names[pid] = comm.read().strip()
        except OSError:
            pass
    return names


def read(path):
    try:
        with open(path) as content:
            return content.read()
    except OSError as error:
        return error.strerror


def cgroups(groups):
    return sorted(d for group in groups for d, _, _ in os.walk(group))


def host_state(groups, workspace):
    """All that an attack must leave as it is, as one flat table."""
    state = {f"sysctl {name}": read(f"/proc/sys/{name}") for name in SYSCTLS}
    for root in (f"{CAGE}/upper", HOME, f"{workspace.base}/neighbour", "/tmp", "/run", "/dev", "/var/tmp"):
        state.update(tree(root))
    for name in (".git/hooks", ".git/config", ".git/HEAD", "SANDBOX.md", ".cordon", ".bashrc", ".profile", ".vscode",
                 ".envrc"):
        path = f"{workspace.path}/{name}"
        state[path] = digest(path) if os.path.lexists(path) else "absent"
    state.update({f"process {pid}": name for pid, name in processes().items()})
    state.update({f"mount {line}": "there" for line in read("/proc/self/mounts").splitlines()})
    # Key, number and mode; the rest (who used it last) changes whenever somebody does.
    state["system v"] = [line.split()[:3] for kind in ("shm", "sem", "msg")
                         for line in read(f"/proc/sysvipc/{kind}").splitlines()]
    state.update({f"cgroup {path}": "there" for path in cgroups(groups)})
    return state


def differences(before, after):
    changed = [f"{name}: {before.get(name, 'absent')} → {after.get(name, 'gone')}"
               for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name)]
    return [line[:240] for line in changed]


def wait_for_same(before, groups, workspace, seconds=1.0):
    """The difference that stays: what the kernel still tidies up (a cgroup, a dying process) gets a moment."""
    deadline = time.monotonic() + seconds
    while True:
        changed = differences(before, host_state(groups, workspace))
        if not changed or time.monotonic() > deadline:
            return changed
        time.sleep(0.02)
