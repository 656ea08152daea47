"""Every layer holds alone: each is tested with those switched off that stand behind it.

A row names the layer, what else is switched off, and attacks that it must stop by itself. With the layer on they must
be closed; with it off too they must be open, or the row would prove nothing. Names of single system calls and their
rules are the filter's evaluator tests; here the layer as a whole is on trial.
"""
import decoys
import intended
import scenarios

# What stands behind what: the locks that would answer in another's place.
ROWS = [
    ("seccomp", ["landlock", "capabilities", "readonly", "mountflags", "masks", "rlimits"], "user", [
        "unshare_user", "clone_user", "clone3_user", "setuid_by_chmod", "setuid_by_openat2",
        "ptrace_traceme", "io_uring_setup", "add_key", "vsock", "netlink_route", "userfaultfd",
        "perf_user", "personality_exec", "int80_getpid", "program_i386", "modify_ldt", "memory_program",
        "name_to_handle_at", "pidfd_getfd", "vm_read", "terminal_own"]),
    ("landlock", ["namespaces", "seccomp"], "user", [
        "outside_write", "outside_read", "outside_list", "outside_make_directory", "outside_make_file",
        "outside_make_symlink", "outside_make_fifo", "outside_make_socket", "outside_remove_file",
        "outside_remove_directory", "outside_move", "outside_truncate", "outside_execute", "read_ssh_key",
        "append_authorized_keys", "read_neighbour", "read_host_tmp", "abstract_socket", "tcp_loopback", "signal_host"]),
    # The same lock in a sandbox with mounts of its own, where pid 1 is handed it by its companion.
    ("landlock", ["readonly"], "user", ["write_root_directory", "workspace_read_only"]),
    # That the inner id is not 0 takes the capabilities away at exec already; what is seen here is the rest.
    ("capabilities", ["seccomp", "landlock"], "user", ["capability_bounding", "securebits_unlocked"]),
    ("readonly", ["landlock"], "user", ["write_root_directory", "workspace_read_only"]),
    ("mountflags", ["landlock"], "user", ["use_planted_device", "mount_flags"]),
    ("masks", ["landlock", "seccomp", "capabilities"], "user", ["last_pid", "kernel_config", "kernel_command_line", "boot_id"]),
    ("protected", [], "user", ["git_hook", "git_new_hook", "git_config", "git_config_by_hardlink", "git_moved_away",
                               "settings_write", "settings_directory", "shell_start_file", "editor_tasks",
                               "workspace_alias"]),
    ("rlimits", [], "user", ["core_dump", "core_file", "descriptors_unlimited", "queued_signals_unlimited"]),
    ("fds", [], "user", ["inherited_descriptor"]),
    ("proc", ["landlock"], "user", ["host_process_listed"]),
    ("userns", ["seccomp", "landlock"], "root", ["namespace_user"]),
    ("namespaces", ["seccomp"], "user", ["namespace_mnt", "namespace_pid", "namespace_net", "namespace_ipc",
                                         "namespace_uts", "namespace_cgroup", "shared_memory", "host_name"]),
    ("cgroup", ["rlimits"], "user", ["processor_share"]),
]


def measure(column, names, programs, label):
    """{attack: (open, errno, note)} for probes and scenarios alike."""
    by_name = {scenario.name: scenario for scenario in scenarios.all_scenarios(False)}
    found = {}
    workspace = decoys.Workspace(f"layer-{label}", column.owner, programs)
    probes = [name for name in names if name not in by_name]
    if probes:
        out, report = column.run(workspace, [f"{workspace.path}/attack_probe", *probes, *workspace.arguments()])
        for line in out.splitlines():
            fields = line.split("\t")
            if len(fields) == 4:
                found[fields[0]] = (fields[1] == "OPEN", fields[2], fields[3])
        for name in probes:
            found.setdefault(name, (None, "-", str(report.get("error") or report)[:120]))
    workspace.remove()
    for name in names:
        if name in by_name:
            own = decoys.Workspace(f"layer-{label}-{name}", column.owner, programs)
            try:
                found[name] = by_name[name].attempt(column, own)
            except Exception as error:
                found[name] = (None, "-", f"{type(error).__name__}: {error}"[:120])
            own.remove()
    return found


NEEDS_A_QUIET_MACHINE = ("processor_share",)


def test_alone(make_column, programs, only, share, shares):
    """Prints one row for each layer; gives how many attacks answered otherwise than they must."""
    print("\nEach layer alone (closed with it, open without it):")
    wrong = 0
    for number, (layer, others, principal, names) in enumerate(ROWS):
        if (only and layer not in only) or number % shares != share:
            continue
        with_it = measure(make_column(principal, others), names, programs, f"{layer}-on")
        without = measure(make_column(principal, others + [layer]), names, programs, f"{layer}-off")
        held = [n for n in names if with_it[n][0] is False and without[n][0]]
        # On a busy machine four processes may not get more than their share anyway: then nothing is shown.
        unshown = [n for n in names if (n in NEEDS_A_QUIET_MACHINE or intended.cannot_show(n))
                   and with_it[n][0] is False and without[n][0] is False]
        for name in unshown:
            why = intended.cannot_show(name) or f"the machine is too busy ({without[name][2]})"
            print(f"  {layer:13} {name}: not shown, {why}")
        bad = [n for n in names if n not in held + unshown]
        wrong += len(bad)
        print(f"  {layer:13} without {','.join(others) or '-'}: stops {len(held)} of {len(names)}: {', '.join(held)}")
        for name in bad:
            print(f"FAILED layer {layer}: {name}: with it {with_it[name]}, without it {without[name]}")
    return wrong
