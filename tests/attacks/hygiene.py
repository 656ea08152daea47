"""Who the confined processes are as the host sees them, and what one run leaves for another."""
import os
import signal
import time

import cage
import decoys
from scenario import (CALIBRATED, NATIVE, Scenario, bomb, closed, end_survivors, opened, running, started, summary,
                      verdict, wait_until)

EVERY = ("L0", "L1c", "L1l", "L2", "L3", "L4")
NAMESPACED = ("L0", "L1c", "L1l", "L2", "L3")


LOOKS = []


def look_at_all(column, workspace):
    """One long run for all looks: what the host sees of its processes."""
    process = column.start(workspace, bomb(workspace, "daemon_and_stay", 8))
    try:
        if not wait_until(lambda: len(running()) >= 4, 5):
            process.kill()
            end_survivors()
            raise RuntimeError(f"did not start: {process.communicate()[0][-300:]}")
        pid = running()[0]
        found = {}
        for look in LOOKS:
            try:
                found[look] = look(column, pid)
            except OSError as error:
                found[look] = opened(f"could not be looked at: {error}")
        return found
    finally:
        process.kill()
        end_survivors()
        process.communicate()


def while_running(look):
    LOOKS.append(look)

    def attempt(column, workspace):
        if not hasattr(column, "looked"):
            column.looked = look_at_all(column, workspace)
        return column.looked[look]
    return attempt


def status(pid):
    return dict(line.split(":\t", 1) for line in decoys.read(f"/proc/{pid}/status").splitlines() if ":\t" in line)


def shares_namespace(kind):
    def look(_, pid):
        return verdict(os.readlink(f"/proc/{pid}/ns/{kind}") == os.readlink(f"/proc/self/ns/{kind}"))
    return while_running(look)


def has_host_root(_, pid):
    ids = status(pid)["Uid"].split() + status(pid)["Gid"].split()
    return verdict("0" in ids, " ".join(ids))


def has_launcher_groups(_, pid):
    groups = status(pid)["Groups"].split()
    return verdict("0" in groups or str(cage.FOREIGN_GROUP) in groups, " ".join(groups))


def has_capabilities(_, pid):
    fields = status(pid)
    sets = {name: fields[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")}
    return verdict(any(int(value, 16) for value in sets.values()), sets["CapEff"])


def init_of(pid):
    """The first process of the pid namespace: found upwards, as long as the namespace stays the same."""
    while True:
        parent = int(status(pid)["PPid"])
        if parent == 0 or os.readlink(f"/proc/{parent}/ns/pid") != os.readlink(f"/proc/{pid}/ns/pid"):
            return pid
        pid = parent


def init_is_weak(_, pid):
    fields = status(init_of(pid))
    weak = []
    if int(fields["CapEff"], 16):
        weak.append(f"CapEff {fields['CapEff']}")
    if fields.get("Seccomp") != "2":
        weak.append("no filter")
    if fields.get("NoNewPrivs") != "1":
        weak.append("no_new_privs off")
    if "0" in fields["Uid"].split():
        weak.append("host uid 0")
    return verdict(weak, ", ".join(weak))


def init_holds_files(_, pid):
    """A directory or file of the host that pid 1 holds open is one bug away from the payload."""
    init = init_of(pid)
    held = []
    for number in os.listdir(f"/proc/{init}/fd"):
        target = os.readlink(f"/proc/{init}/fd/{number}")
        if target.startswith("/") and not target.startswith(("/dev/null", "/memfd:", "/dev/pts", "/dev/ptmx")):
            held.append(f"{number} → {target}")
    return verdict(held, ", ".join(held)[:160])


def init_environment(_, pid):
    text = decoys.read(f"/proc/{init_of(pid)}/environ")
    return verdict(decoys.SECRET in text)


def payload_environment(_, pid):
    text = decoys.read(f"/proc/{pid}/environ")
    return verdict(decoys.SECRET in text or decoys.HOME in text, text.replace("\0", " ")[:100])


def mounts_propagate(_, pid):
    lines = decoys.read(f"/proc/{pid}/mountinfo").splitlines()
    tagged = [line.split()[4] for line in lines if " shared:" in line or " master:" in line]
    return verdict(tagged, ", ".join(tagged[:4]))


def old_root_attached(_, pid):
    """Host mounts that nobody asked for are still in the sandbox's mount table."""
    points = [line.split()[4] for line in decoys.read(f"/proc/{pid}/mountinfo").splitlines()]
    found = [point for point in points if point.endswith(("/mnt/cordon-host-mount", cage.CAGE)) or "fs/cgroup" in point]
    return verdict(found, ", ".join(found))


def writable_mounts(_, pid):
    """Mounts without nosuid or nodev: a planted setuid file or device would count there."""
    weak = []
    for line in decoys.read(f"/proc/{pid}/mountinfo").splitlines():
        fields = line.split()
        options = fields[5].split(",")
        if fields[4].startswith("/dev/") and "nosuid" in options:
            continue  # a single device node must be usable, that is what it is for
        if "nosuid" not in options or "nodev" not in options:
            weak.append(f"{fields[4]} {fields[5]}")
    return verdict(weak, "; ".join(weak)[:200])


def previous_run_visible(column, workspace):
    leave = "echo x > /tmp/left; echo x > /dev/shm/left; echo x > /var/tmp/left; echo x > ~/left; ipcmk -M 4096 || true"
    column.run(workspace, ["/bin/sh", "-c", leave])
    out, report = column.run(workspace, ["/bin/sh", "-c", "ls /tmp /dev/shm /var/tmp ~ | grep left; ipcs -m | grep 4096"])
    started(report)
    for path in ("/tmp/left", "/dev/shm/left", "/var/tmp/left", f"{decoys.HOME}/left"):
        if os.path.lexists(path):
            os.unlink(path)
    return verdict("left" in out or "4096" in out, out.strip()[:80])


def other_sandbox_visible(column, workspace):
    """Two at once of the same user: processes, abstract sockets, /tmp, memory."""
    other = column.start(workspace, bomb(workspace, "daemon_and_stay", 8))
    try:
        if not wait_until(lambda: len(running()) >= 4, 5):
            raise RuntimeError("did not start")
        out, report = column.run(workspace, ["/bin/sh", "-c", "cat /proc/[0-9]*/comm"])
        started(report)
        return verdict("attack_bomb" in out, " ".join(out.split())[:100])
    finally:
        other.kill()
        end_survivors()
        other.communicate()


def path_hijack(column, workspace):
    decoys.file(f"{workspace.path}/ls", "#!/bin/sh\necho hijacked\n", column.owner, 0o755)
    out, report = column.run(workspace, ["ls", "main.c"])
    started(report)
    return verdict("hijacked" in out, out.strip()[:60])


def protected_without_mounts(column, workspace):
    """What can't be held must be refused, or named as missing: never silently left open."""
    out, report = column.run(workspace, ["/bin/sh", "-c", "echo x >> .git/hooks/pre-commit; cat secrets/key"],
                             ["--protect", ".git/hooks", "--hide", "secrets/key"])
    return verdict(report["outcome"] != "refused", f"{out[:60]} {summary(report)}")


def host_loopback(column, workspace):
    """With a loopback of its own the host's must stay out of reach."""
    names = ["tcp_loopback", "tcp_lan", "tcp_metadata", "tcp_loopback6", "tcp_mapped", "tcp_zero", "abstract_socket",
             "vsock", "netlink_netfilter", "packet_socket", "raw_socket"]
    out, report = column.run(workspace, [f"{workspace.path}/attack_probe", *names, *workspace.arguments()],
                             ["--network", "loopback"])
    started(report)
    reached = [line.split("\t")[0] for line in out.splitlines() if "\tOPEN\t" in line]
    return verdict(reached or len(out.splitlines()) != len(names), ", ".join(reached) or summary(report))


def fuzzed(seconds):
    def attempt(column, workspace):
        seed = str(int(time.time()))
        out, report = column.run(workspace, bomb(workspace, "fuzz", seconds, seed),
                                 ["--wall", str((seconds + 1) * 1000), "--output-kill", "0"])
        end_survivors()
        alive = report["outcome"] in ("exited", "killed")
        return verdict(not alive, f"seed {seed}: {summary(report)}")
    return attempt


KILLING = ("namespace_", "host_root", "launcher_groups", "capabilities_", "init_", "payload_", "mounts_", "old_root",
           "mount_flags", "other_sandbox")

SCENARIOS = [
    *[Scenario(f"namespace_{kind}", f"has a {kind} namespace of its own", shares_namespace(kind), CALIBRATED, NAMESPACED)
      for kind in ("mnt", "pid", "net", "ipc", "uts", "cgroup")],
    Scenario("namespace_user", "has a user namespace of its own", shares_namespace("user"), CALIBRATED,
             ("L0", "L1c", "L1l", "L2")),
    Scenario("host_root_inside", "no process inside has the host's uid or gid 0", while_running(has_host_root), CALIBRATED,
             EVERY),
    Scenario("launcher_groups", "no process inside keeps root's or another group of the launcher",
             while_running(has_launcher_groups), CALIBRATED, EVERY),
    Scenario("capabilities_inside", "no process inside has a capability", while_running(has_capabilities), CALIBRATED,
             EVERY),
    Scenario("init_weak", "pid 1 is filtered, without capabilities and not the host's root", while_running(init_is_weak),
             CALIBRATED, NAMESPACED),
    Scenario("init_holds_files", "pid 1 holds no file or directory of the host", while_running(init_holds_files), CALIBRATED,
             NAMESPACED),
    Scenario("init_environment", "pid 1 has nothing of the launcher's environment", while_running(init_environment),
             CALIBRATED, NAMESPACED),
    Scenario("payload_environment", "the program has nothing of the launcher's environment",
             while_running(payload_environment), CALIBRATED, EVERY),
    Scenario("mounts_propagate", "no mount travels between host and sandbox", while_running(mounts_propagate), CALIBRATED,
             NAMESPACED),
    Scenario("old_root_attached", "the old root and the host's mounts are gone", while_running(old_root_attached), CALIBRATED,
             NAMESPACED),
    Scenario("mount_flags", "every mount is nosuid and nodev", while_running(writable_mounts), CALIBRATED, NAMESPACED),
    Scenario("previous_run", "nothing of one run is visible to the next", previous_run_visible, CALIBRATED, NAMESPACED),
    Scenario("other_sandbox", "nothing of another sandbox is visible", other_sandbox_visible, CALIBRATED,
             ("L0", "L1c", "L1l", "L3")),  # at L2 the host's /proc shows it as it shows the host's
    Scenario("path_hijack", "a program in the workspace does not stand for a system one", path_hijack, CALIBRATED, EVERY),
    Scenario("protected_at_L4", "a profile with protected paths is refused where nothing can hold them", protected_without_mounts, NATIVE,
             ("L4",)),
    Scenario("host_loopback", "a loopback of its own is not the host's", host_loopback, NATIVE, ("L0", "L1c", "L1l", "L2")),
    Scenario("fuzz_short", "two seconds of random system calls do no harm", fuzzed(2), NATIVE, ("L0", "L4")),
    Scenario("fuzz_long", "a minute of random system calls does no harm", fuzzed(60), NATIVE, ("L0",), True),
]

for scenario in SCENARIOS:
    scenario.kills = scenario.name.startswith(KILLING)
    scenario.shown_by = "root" if scenario.name in ("host_root_inside", "launcher_groups") else "user"
