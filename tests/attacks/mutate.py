#!/usr/bin/python3
"""Removes one protection after another from the sandbox's source and shows that an attack then gets through.

  mutate.py --bin DIR [--only NAME]… [--list | --fit]

Each mutation is a change of one place in src/, made in a scratch copy that is built on its own; the attacks that must
notice it are then run against that build. A mutation that no attack notices, or whose place is no longer in the
source, fails the run: either the protection is not needed or a test is missing.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
NATIVE = "src/sandbox/native"


# Warnings are errors, and what is taken away may have been the only user of something.
WHAT_MAY_BE_LEFT_OVER = "".join(f'#pragma GCC diagnostic ignored "-W{name}"\n' for name in (
    "unused-parameter", "unused-function", "unused-variable", "unused-but-set-variable", "unused-const-variable"))


@dataclass
class Mutation:
    name: str
    path: str
    old: str
    new: str
    attacks: list           # at least one of them must be open
    principal: str = "user"
    without: list = field(default_factory=list)  # what stands behind it, switched off
    level: str = "L0"


def right(name, attack):
    """As if the ruleset did not know this right."""
    line = "const landlock::Rights offered = landlock::offered_by(plan.ladder.landlock_abi);"
    return Mutation(f"Landlock: {name} not held", f"{NATIVE}/landlock_domain.cc", line,
                    line.replace("const ", "", 1) + f" offered.files &= ~std::uint64_t{{landlock::{name}}};",
                    [attack], without=["namespaces", "seccomp"])


MUTATIONS = [
    Mutation("id map gives host 0", f"{NATIVE}/user_namespace.cc", "root ? unowned_id : ::geteuid()", "::geteuid()",
             ["host_root_inside", "outer_user_zero"], "root"),
    Mutation("id map gives group 0", f"{NATIVE}/user_namespace.cc", "root ? unowned_id : ::getegid()", "::getegid()",
             ["host_root_inside", "outer_group_zero"], "root"),
    Mutation("no IPC namespace", f"{NATIVE}/launcher.cc", "CLONE_NEWIPC | ", "", ["namespace_ipc", "shared_memory"]),
    Mutation("no UTS namespace", f"{NATIVE}/launcher.cc", "CLONE_NEWUTS | ", "", ["namespace_uts"]),
    Mutation("no cgroup namespace", f"{NATIVE}/launcher.cc", " | CLONE_NEWCGROUP", "", ["namespace_cgroup"]),
    Mutation("no network namespace", f"{NATIVE}/network.cc", ": raw::call(SYS_unshare, CLONE_NEWNET);", ": 0;",
             ["namespace_net", "tcp_loopback", "abstract_socket"], without=["landlock", "seccomp"]),
    Mutation("no pid namespace", f"{NATIVE}/launcher.cc", "CLONE_NEWPID | ", "", ["namespace_pid", "signal_host"]),
    Mutation("no new session keyring", f"{NATIVE}/isolate.cc", "leave_keyring(child) && keep_only_own_descriptors", "keep_only_own_descriptors",
             ["launcher_key"], without=["seccomp"]),
    Mutation("host name kept", f"{NATIVE}/isolate.cc", "if (!companion.start(child) || !name_host(child)) return false;",
             "if (!companion.start(child)) return false;",
             ["host_name"]),
    Mutation("descriptors kept", f"{NATIVE}/isolate.cc", "raw::call(SYS_close_range, count, ~0U, 0)", "0",
             ["inherited_descriptor"]),
    Mutation("no seccomp filter", f"{NATIVE}/isolate.cc", "if (plan.weakened.seccomp()) return true;", "return true;",
             ["unshare_user", "no_filter"]),
    Mutation("no Landlock", f"{NATIVE}/landlock_domain.cc",
             "if (plan.ladder.landlock_abi <= 0 || plan.weakened.landlock()) return true;", "return true;",
             ["read_ssh_key"], without=["namespaces"]),
    Mutation("pid 1 leaves its companion's Landlock ruleset lying", f"{NATIVE}/pid1/pid1.cpp",
             "restrict_self(doors.number[next]) < 0", "false", ["write_root_directory"], without=["readonly"]),
    Mutation("no rlimits", f"{NATIVE}/isolate.cc", "if (child.plan.weakened.rlimits()) return true;", "return true;",
             ["core_dump", "descriptors_unlimited"]),
    Mutation("securebits not locked", f"{NATIVE}/capabilities.cc", "raw::prctl(PR_SET_SECUREBITS, locked)", "0",
             ["securebits_unlocked"]),
    Mutation("bounding set kept", f"{NATIVE}/capabilities.cc", "if (raw::prctl(PR_CAPBSET_DROP, capability) < 0) break;",
             "break;", ["capability_bounding"]),
    Mutation("nodev left out", f"{NATIVE}/mounts.h", "guarded = 0x2 | 0x4;", "guarded = 0x2;", ["mount_flags", "use_planted_device"]),
    Mutation("root left writable", f"{NATIVE}/root_tree.cc",
             "const raw::MountAttributes read_only{.set = raw::mount_read_only};\n  return child.ok(raw::mount_setattr(",
             "const raw::MountAttributes read_only{.set = 0};\n  return child.ok(raw::mount_setattr(",
             ["write_root_directory"], without=["landlock"]),
    Mutation("/proc writable", f"{NATIVE}/proc.cc", "if (!child.plan.weakened.masks()) flags |= MS_RDONLY;", "",
             ["last_pid", "ipc_limits"], without=["landlock"]),
    Mutation("/proc not covered", f"{NATIVE}/proc.cc", "if (child.plan.weakened.masks()) return true;", "return true;",
             ["kernel_config", "boot_id"]),
    Mutation("old root kept", f"{NATIVE}/companion.cc", 'raw::umount("/.host", MNT_DETACH)', "0",
             ["old_root_attached", "host_mount_listed"]),
    Mutation("mounts keep their peers", f"{NATIVE}/root_tree.cc", "MS_REC | MS_PRIVATE", "MS_REC | MS_SLAVE",
             ["mounts_propagate"]),
    Mutation("protected paths not mounted", f"{NATIVE}/workspace.cc",
             "placed = mount_protected_paths(child, target);", "placed = true;", ["git_hook", "settings_write"]),
    Mutation("protected parents can be moved", f"{NATIVE}/protected_paths.cc",
             "held = held && cover(child, base, ancestor.c_str(), nullptr, 0);", "(void)ancestor;", ["git_moved_away"]),
    Mutation("pid 1 dumpable and readable", f"{NATIVE}/pid1/pid1.cpp",
             "if (!(task.orders.flags & order_stay_dumpable)) call(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);",
             "call(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0);", ["init_maps", "init_fd"], without=["seccomp", "landlock"]),
    # PR_SET_PDEATHSIG is not in this table: pid 1 also watches its launcher's end of the control socket, so either may go.
    right("read_file", "outside_read"), right("write_file", "outside_write"), right("read_directory", "outside_list"),
    right("make_directory", "outside_make_directory"), right("make_regular", "outside_make_file"),
    right("make_symlink", "outside_make_symlink"), right("make_fifo", "outside_make_fifo"),
    right("make_socket", "outside_make_socket"), right("remove_file", "outside_remove_file"),
    right("remove_directory", "outside_remove_directory"), right("truncate", "outside_truncate"),
    # Nor is the right to execute: the kernel asks for read_file as well, and what may be read here may be executed.
    Mutation("what needs mounts is not refused", f"{NATIVE}/draft.cc",
             "if (!ladder_.namespaces) CHECK_OK(refuse_what_needs_mounts());", "", ["protected_at_L4"], level="L4"),
    Mutation("pid 1 in the program's reach", f"{NATIVE}/pid1/pid1.cpp",
             "if (task.orders.flags & order_out_of_reach) {", "if (task.orders.flags & 0x10000) {", ["kill_everyone"], level="L4"),
    Mutation("nobody ends the others without a pid namespace", f"{NATIVE}/pid1/pid1.cpp",
             "if ((task.orders.flags & order_subreaper) && !task.scoped) return end_descendants(tally);",
             "if (task.orders.flags & order_subreaper) return;", ["daemon_survives", "signals_ignored"], level="L4"),
    Mutation("Landlock: scopes not held", f"{NATIVE}/landlock_domain.cc", "network, offered.scopes}", "network, 0}",
             ["abstract_socket", "signal_host"], without=["namespaces", "seccomp"]),
    Mutation("Landlock: TCP not held", f"{NATIVE}/landlock_domain.cc", ": offered.network;", ": 0;",
             ["tcp_loopback"], without=["namespaces", "seccomp"]),
]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.environ.get("CORDON_BIN", "build/release/bin"))
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--fit", action="store_true", help="only look whether each has its place in the source")
    return parser.parse_args()


def copy_source(target):
    """All that a build may read."""
    shutil.copytree(SOURCE, target, ignore=shutil.ignore_patterns("node_modules", "build", ".git"), symlinks=True,
                    dirs_exist_ok=True)


def build(target):
    """Gives None, or why there is no program."""
    made = subprocess.run(["cmake", "--build", f"{target}/build/release", "--target", "sandbox_run"], capture_output=True,
                          text=True, check=False)
    return None if made.returncode == 0 else made.stdout[-2000:]


def configure(target):
    """As the release is built: ccache then knows every file that no mutation changes."""
    subprocess.run(["cmake", "--preset", "release"], cwd=target, check=True,
                   stdout=subprocess.DEVNULL)


def attack(arguments, target, mutation):
    """The names among the mutation's attacks that are open now, and how the rest answered."""
    results = f"{target}/results.json"
    line = [sys.executable, f"{HERE}/attacks.py", "--bin", arguments.bin, "--sandbox-run",
            f"{target}/build/release/bin/sandbox_run", "--principals", mutation.principal, "--columns", mutation.level, "--quiet",
            "--json", results, "--exact"]
    for name in mutation.attacks:
        line += ["--only", name]
    for layer in mutation.without:
        line += ["--without", layer]
    ran = subprocess.run(line, capture_output=True, text=True, check=False)
    if ran.returncode == 77:
        print(ran.stdout.strip().splitlines()[-1])
        sys.exit(77)
    try:
        with open(results) as file:
            found = json.load(file)
    except ValueError:
        return [], ran.stdout[-500:] + ran.stderr[-500:]
    answers = {name: next(iter(row.values())) for name, row in found["cells"].items() if row}
    noticed = [name for name, answer in answers.items() if answer[0]]
    if found["skipped"]:
        noticed.append(f"does not start ({next(iter(found['skipped'].values()))[:60]})")
    return noticed, str(answers)[:300]


def main():
    arguments = parse_arguments()
    arguments.bin = os.path.abspath(arguments.bin)
    chosen = [m for m in MUTATIONS if not arguments.only or any(part in m.name for part in arguments.only)]
    if arguments.list:
        print("\n".join(m.name for m in chosen))
        return 0
    if arguments.fit:
        return 1 if [m for m in chosen if not fits(m, SOURCE)] else 0
    if os.geteuid() != 0:
        print("skipped: the attacks run in a cage that needs root")
        return 77
    survived = 0
    # Beside the build, and kept: a second run builds only what changed. Not in /tmp or /var/tmp, which the cage hides.
    target = os.path.join(os.path.dirname(os.path.dirname(arguments.bin)), "mutate")
    os.makedirs(target, exist_ok=True)
    copy_source(target)
    configure(target)
    trouble = build(target)
    if trouble:
        print(f"FAILED: the unchanged copy does not build:\n{trouble}")
        return 1
    for mutation in chosen:
        survived += 0 if try_mutation(arguments, target, mutation) else 1
    print(f"{len(chosen)} mutations, {survived} not noticed")
    return 1 if survived else 0


def fits(mutation, tree):
    with open(f"{tree}/{mutation.path}") as file:
        places = file.read().count(mutation.old)
    if places != 1:
        print(f"FAILED {mutation.name}: {places} places in {mutation.path} fit; one must", flush=True)
    return places == 1


def try_mutation(arguments, target, mutation):
    begun = time.monotonic()
    if not fits(mutation, target):
        return False
    path = f"{target}/{mutation.path}"
    with open(path) as file:
        original = file.read()
    try:
        with open(path, "w") as file:
            file.write(WHAT_MAY_BE_LEFT_OVER + original.replace(mutation.old, mutation.new))
        trouble = build(target)
        if trouble:
            print(f"FAILED {mutation.name}: does not build: {trouble[-400:]}", flush=True)
            return False
        noticed, answers = attack(arguments, target, mutation)
    finally:
        with open(path, "w") as file:
            file.write(original)
    seconds = time.monotonic() - begun
    if noticed:
        print(f"{mutation.name:40} noticed by {', '.join(noticed)} ({seconds:.0f} s)", flush=True)
        return True
    print(f"FAILED {mutation.name}: no attack notices: {answers} ({seconds:.0f} s)", flush=True)
    return False


if __name__ == "__main__":
    sys.exit(main())
