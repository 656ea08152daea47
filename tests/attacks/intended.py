"""What is open on purpose, and why; and why some attacks are never open on the machine that tests them."""

import resource

# (level or "L*", principal or "*", attack): reason. At L0 at most five.
OPEN = {
    ("L*", "*", "lock_system_file"):
        "flock(2) needs no right but reading, and no filter sees which file it is; it is advisory, the files are the "
        "system's programs, which nobody locks, and it ends with the run",
    ("L*", "*", "path_socket_workspace"):
        "the workspace is given, and with it a socket that the user's own program listens on there; the kernel can "
        "tell it from the sandbox's own sockets only since Landlock ABI 9",
    ("L*", "*", "path_datagram_workspace"): "as path_socket_workspace",
    ("L1c", "*", "memory_pipes"):
        "without a memory cgroup nobody counts what lies in pipes; the kernel bounds it for each user (64 MiB, "
        "fs.pipe-user-pages-soft), and the result names the cgroup as missing",
    ("L2", "*", "host_process_listed"):
        "L2 is the level without a /proc of its own: names and command lines of host processes can be read, their "
        "memory, environment, files and signals can't; the result names it as missing",
    ("L2", "*", "host_process_by_number"): "as host_process_listed",
    **{("L4", "*", name): "L4 has no namespaces: the kernel's tables of processes, sockets, segments and mounts are the "
                          "host's to read; nothing in them can be touched"
       for name in ("host_process_listed", "host_process_by_number", "sysvipc_listed", "host_mount_listed",
                    "host_port_listed", "pidfd_host", "affinity_host")},
    **{("L4", "*", name): "L4 has no mounts of its own, so nothing of /proc is covered" for name in (
        "kernel_config", "kernel_command_line", "boot_id")},
    ("L4", "*", "host_name"): "L4 has no uts namespace",
    ("L4", "*", "signal_owner_host"):
        "to name an owner is no signal: Landlock's scope refuses it when it would be sent (signal_host)",
    ("L4", "*", "use_planted_device"): "L4 has no mounts to make nodev; only root can have planted the device",
    ("L4", "user", "capability_bounding"):
        "a plain user without a user namespace can't drop what it does not have; no_new_privs keeps it unusable",
    ("L4", "user", "securebits_unlocked"): "as capability_bounding",
    **{("L4", "*", name): "L4 can't hold protected paths: a profile that asks for them is refused "
                          "(protected_at_L4), so these are tried without"
       for name in ("git_hook", "git_new_hook", "git_config", "git_config_by_hardlink", "git_config_by_rename",
                    "git_moved_away", "git_hooks_moved_away", "git_hooks_exchanged", "git_swapped_for_symlink",
                    "settings_write", "settings_by_rename", "settings_unlink", "settings_directory",
                    "shell_start_file", "shell_profile", "editor_tasks", "environment_loader", "placeholder_removed",
                    "masked_parent_moved", "masked_file", "hooks_directory_removed")},
}

# Containers: what their runtimes do not offer. Nothing of it reaches the host.
OPEN.update({(backend, "*", name): why for backend in ("runc", "docker") for name, why in {
    "path_socket_workspace": OPEN["L*", "*", "path_socket_workspace"],
    "path_datagram_workspace": "as path_socket_workspace",
    "udp_loopback": "a container's loopback is up, and its own: the datagram reaches nobody",
    "processes_unlimited": "processes are counted by the control group, not by RLIMIT_NPROC, which would count those of "
                           "the same user outside as well",
    "page_flags": "covered by /dev/null: it can be opened and reads nothing",
    "securebits_unlocked": "an OCI configuration cannot lock them; there is no capability, and no new privileges",
}.items()})
OPEN["runc", "*", "lock_system_file"] = OPEN["L*", "*", "lock_system_file"]
OPEN["docker", "*", "lock_system_file"] = "the file is the image's, not the host's, and flock(2) needs no right but reading"
OPEN["docker", "user", "use_planted_device"] = (
    "the engine mounts without nodev, and its API has no word for it (root mounts by itself, with it); the device "
    "that is tried is /dev/null, and those that the engine's device list does not have stay closed; only root can plant one")
OPEN["runc", "user", "init_fd"] = "started by a user, pid 1 is that user's and uid 0 of the namespace; its only file is its socket"

# gVisor's kernel is a process on the host (the Sentry: nobody's, no capability outside its user namespace, a filter of its
# own). Each of these is answered by it and was looked at by hand; none is passed on.
OPEN.update({("gvisor", "*", name): why for name, why in {
    "lock_system_file": "the Sentry keeps its own table of locks: none is taken on the host's file",
    "path_socket_workspace": "as natively; pid 1 needs --fsgofer-host-uds to reach its launcher, and with it every socket "
                             "that lies in what is mounted can be reached",
    "path_datagram_workspace": "as path_socket_workspace",
    "udp_loopback": "the Sentry's network stack has a loopback and nothing else: the datagram reaches nobody",
    "processes_unlimited": "its processes are the Sentry's, not the host's; the memory limit bounds how many there can be",
    "raise_processes": "the limit is one of the Sentry's own table, in which it bounds nothing (processes_unlimited)",
    "outer_user_zero": "uid 0 of the Sentry's own kernel, without any capability; its identity map leads to no user of the "
                       "host, where files are opened by the gofer within what is mounted",
    "outer_group_zero": "as outer_user_zero",
    "become_outer_root": "it is that uid 0 already (outer_user_zero), and gains nothing",
    "device_fuse": "the node is the Sentry's; it can be opened, and reading needs a mount that is refused (EPERM)",
    "device_net_tun": "the node is the Sentry's; an interface made by it would be one of its own stack, and making it needs "
                      "CAP_NET_ADMIN",
    "huge_pages": "the Sentry takes the flag as a hint and gives ordinary pages, counted by the memory limit",
    "init_environ": "pid 1 is started with an empty environment; runsc adds HOME=/home/sandboxuser, and that is all there is",
    "init_thread_environ": "as init_environ",
    "init_fd": "the Sentry does not know PR_SET_DUMPABLE for /proc: the list shows a signalfd and the control socket, and "
               "neither can be opened by its link",
    "init_maps": "as init_fd: addresses of a static program that is the same in every sandbox; its memory stays closed "
                 "(init_mem)",
    "setns_init_user": "the link can be opened; joining is refused (setns_at_all)",
    "int80_netlink": "the Sentry looks every number up in its 64-bit table, where 102 is getuid: it answers 0 and there is no "
                     "socket",
    "kernel_command_line": "a constant of the Sentry's: BOOT_IMAGE=/vmlinuz-4.4.0-gvisor quiet",
    "sysfs_listed": "a /sys of the Sentry's own: the number of processors and its loopback, nothing of the machine's devices",
    "lower_oom_score": "kept by the Sentry as a number and never told to the host, whose score of the Sentry stays",
    "nice_negative": "kept by the Sentry as a number: its threads have the priority that they had",
    "many_timers": "the Sentry counts timers against no limit of signals; they are its own memory, which the memory limit counts",
    "netlink_route": "a socket of the Sentry's stack, which lists its loopback",
    "netlink_uevent": "a socket of the Sentry's; to join the group that hears events is refused (EACCES)",
    "ping_socket": "a socket of the Sentry's stack, which has no way out",
}.items()})

# Attacks that no column of this table shows open on every machine, and what would open them.
NOT_IN_KERNEL = "this machine's kernel is built without it; the filter's evaluator tests hold the rule"
NEEDS_RESOURCE = "needs CAP_SYS_RESOURCE, which root does not have on this machine"
CONSTRUCTION = {
    "unreachable_cwd": "getcwd says '(unreachable)' when the working directory lies outside the root",
    "workspace_alias": "only a sandbox has /workspace; open with --without protected (mutate.py)",
    "remount_usr": "only where /usr is a mount of its own; open with seccomp and capabilities left out (mutate.py)",
    "modprobe_path": NOT_IN_KERNEL, "sysrq_trigger": NOT_IN_KERNEL, "iopl": NOT_IN_KERNEL, "ioperm": NOT_IN_KERNEL,
    "uselib": NOT_IN_KERNEL, "kexec_load": NOT_IN_KERNEL, "init_module": NOT_IN_KERNEL,
    "finit_module": NOT_IN_KERNEL, "delete_module": NOT_IN_KERNEL, "crypto_socket": NOT_IN_KERNEL,
    "key_socket": NOT_IN_KERNEL, "tipc_socket": NOT_IN_KERNEL, "rds_socket": NOT_IN_KERNEL,
    "bluetooth_socket": NOT_IN_KERNEL, "can_socket": NOT_IN_KERNEL, "x32_getpid": NOT_IN_KERNEL,
    "lower_oom_score": NEEDS_RESOURCE, "raise_descriptors": NEEDS_RESOURCE, "raise_processes": NEEDS_RESOURCE,
    "realtime_fifo": "real-time group scheduling gives the cage's cgroup no share; realtime_deadline shows the right",
    "vm_read_host": "reads one address of its own in the decoy, where nothing is mapped; vm_read shows the call",
    "terminal_take": "needs a session of its own without a terminal; TIOCSCTTY has a rule in the filter's evaluator tests",
    "huge_pages": "none are reserved on this machine",
}


def covers(level, principal, column):
    column_level, column_principal = column.split("/")
    same_level = level == column_level or (level == "L*" and column_level.startswith("L"))
    return same_level and principal in ("*", column_principal)


def rows():
    return [(level, principal, name, why) for (level, principal, name), why in OPEN.items()]


def reason(level, principal, name):
    for (level_, principal_, name_), why in OPEN.items():
        if name_ == name and covers(level_, principal_, f"{level}/{principal}"):
            return why
    return None


def cannot_show(name):
    """Why this attack proves nothing on this machine, open or closed."""
    if name in ("core_dump", "core_file") and resource.getrlimit(resource.RLIMIT_CORE)[1] == 0:
        return "nobody may leave a core file here: sudo took the right, and root has no CAP_SYS_RESOURCE to give it back"
    return None


def by_construction(name):
    return CONSTRUCTION.get(name) or cannot_show(name)
