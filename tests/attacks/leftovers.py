"""A5, A12, A13, A16 and the host's own hands: what a sandbox leaves behind must not lead the host astray."""
import os
import subprocess
import time

import decoys
from scenario import NATIVE, Scenario, closed, opened, program, started, summary, verdict


def shell(column, workspace, text, *options):
    out, report = column.run(workspace, ["/bin/sh", "-c", text], list(options))
    return out, started(report)


def private_directory(column, workspace, name):
    path = f"{workspace.base}/{name}"
    os.mkdir(path, 0o700)
    os.chown(path, column.owner, column.owner)
    return path


def upper_directory(column, workspace):
    path = private_directory(column, workspace, "upper")
    for name in ("upper", "work"):
        os.mkdir(f"{path}/{name}", 0o755)
        os.chown(f"{path}/{name}", column.owner, column.owner)
    return path


def victim(column, workspace):
    """A file of the host that only the host's own hand could change."""
    path = f"{workspace.base}/victim/file"
    decoys.file(path, "untouched", column.owner)
    return path


def unchanged(path):
    return decoys.read(path) == "untouched"


def session_symlink(column, workspace):
    """The host writes the session's ~/.gitconfig: run one puts a symlink there, run two makes the host write."""
    session, target = private_directory(column, workspace, "session"), victim(column, workspace)
    options = ["--session", session, "--git-name", "attacker", "--git-email", "a@example.org"]
    shell(column, workspace, f"rm -f ~/.gitconfig; ln -s {target} ~/.gitconfig; ls -la ~", *options)
    _, report = column.run(workspace, ["/bin/true"], options)
    return verdict(not unchanged(target), summary(report))


def session_fifo(column, workspace):
    session = private_directory(column, workspace, "session")
    options = ["--session", session, "--git-name", "attacker", "--git-email", "a@example.org"]
    shell(column, workspace, "rm -f ~/.gitconfig; mkfifo ~/.gitconfig", *options)
    begun = time.monotonic()
    process = column.start(workspace, ["/bin/true"], options)
    try:
        process.communicate(timeout=8)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return opened("the next run hangs")
    return closed(f"{time.monotonic() - begun:.1f} s")


def session_locked_out(column, workspace):
    """A directory without rights in HOME or /tmp must not break the next run."""
    session = private_directory(column, workspace, "session")
    shell(column, workspace, "mkdir -p ~/a/b /tmp/c; chmod 0 ~/a /tmp/c; chmod 0 ~ /tmp; true", "--session", session)
    _, report = column.run(workspace, ["/bin/true"], ["--session", session])
    return verdict(report["outcome"] != "exited" and not report.get("error"), summary(report))


def deep_tree(column, workspace):
    """10,000 directories deep, names with newlines and escapes: the host's walks (disk, sweeping) must stay bounded."""
    text = ("i=0; while [ $i -lt 2000 ]; do mkdir -p d/d/d/d/d && cd d/d/d/d/d || break; i=$((i+1)); done; "
            "cd \"$OLDPWD\"; echo x > \"$(printf 'a\\nb\\033[31m')\"; true")
    shell(column, workspace, text, "--disk", str(64 << 20))
    begun = time.monotonic()
    _, report = column.run(workspace, ["/bin/true"], ["--disk", str(64 << 20)])
    subprocess.run(["rm", "-rf", f"{workspace.path}/d"], check=False)
    elapsed = time.monotonic() - begun
    return verdict(report["outcome"] != "exited" or elapsed > 8, f"{elapsed:.1f} s, {summary(report)}")


def placeholder_through_symlink(column, workspace):
    """`.git` is a symlink to the user's home: holding `.git/hooks` must not create anything there."""
    os.rename(f"{workspace.path}/.git", f"{workspace.path}/git-was")
    os.symlink(decoys.HOME, f"{workspace.path}/.git")
    before = decoys.tree(decoys.HOME)
    _, report = column.run(workspace, ["/bin/true"])
    after = decoys.tree(decoys.HOME)
    os.unlink(f"{workspace.path}/.git")
    os.rename(f"{workspace.path}/git-was", f"{workspace.path}/.git")
    return verdict(before != after, summary(report))


def symlink_shows_home(column, workspace):
    """The same symlink must not bind what it points to into the sandbox either."""
    os.rename(f"{workspace.path}/.git", f"{workspace.path}/git-was")
    os.symlink(f"{decoys.HOME}/.ssh", f"{workspace.path}/.git")
    os.mkdir(f"{decoys.HOME}/.ssh/hooks")
    decoys.file(f"{decoys.HOME}/.ssh/hooks/key", decoys.SECRET, column.owner)
    out, report = column.run(workspace, ["/bin/sh", "-c", "cat .git/hooks/key .git/id_rsa"])
    os.unlink(f"{workspace.path}/.git")
    os.rename(f"{workspace.path}/git-was", f"{workspace.path}/.git")
    os.unlink(f"{decoys.HOME}/.ssh/hooks/key")
    os.rmdir(f"{decoys.HOME}/.ssh/hooks")
    return verdict(decoys.SECRET in out, summary(report))


def bind_target_through_symlink(column, workspace):
    os.symlink(f"{workspace.base}/neighbour", f"{workspace.path}/out")
    column.run(workspace, ["/bin/true"], ["--bind", f"/usr/share:{workspace.path}/out/made:ro"])
    made = os.path.lexists(f"{workspace.base}/neighbour/made")
    return verdict(made, "the host made a directory outside" if made else "")


def sweep_spares_the_user(column, workspace):
    """A launcher dies with placeholders in place; then the user makes real files there. The next run's sweep must
    leave them."""
    process = column.start(workspace, ["/bin/sleep", "20"])
    deadline = time.monotonic() + 5
    placeholder = f"{workspace.path}/.vscode"
    while time.monotonic() < deadline and not os.path.lexists(placeholder):
        time.sleep(0.01)
    process.kill()
    process.communicate()
    if os.path.isdir(placeholder):
        decoys.file(f"{placeholder}/settings.json", "{}", column.owner)
    else:
        if os.path.lexists(placeholder):
            os.unlink(placeholder)
        decoys.file(f"{placeholder}/settings.json", "{}", column.owner)
        os.chown(placeholder, column.owner, column.owner)
    decoys.file(f"{workspace.path}/.bashrc", "mine", column.owner)
    column.run(workspace, ["/bin/true"])
    kept = decoys.read(f"{placeholder}/settings.json") == "{}" and decoys.read(f"{workspace.path}/.bashrc") == "mine"
    for path in (f"{placeholder}/settings.json", f"{workspace.path}/.bashrc"):
        if os.path.lexists(path):
            os.unlink(path)
    if os.path.isdir(placeholder):
        os.rmdir(placeholder)
    return verdict(not kept, "the user's files are gone" if not kept else "")


def placeholders_after_kill(column, workspace):
    """After a SIGKILL the next run sweeps what the killed one left."""
    process = column.start(workspace, ["/bin/sleep", "20"])
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and not os.path.lexists(f"{workspace.path}/.vscode"):
        time.sleep(0.01)
    process.kill()
    process.communicate()
    _, report = column.run(workspace, ["/bin/true"])
    started(report)
    left = [name for name in (".vscode", ".bashrc", ".profile", ".envrc", ".cordon")
            if os.path.lexists(f"{workspace.path}/{name}")]
    return verdict(left, f"left: {left}" if left else "")


def overlay_reaches_lower(column, workspace):
    upper = upper_directory(column, workspace)
    before = decoys.tree(workspace.path)
    text = "echo x > main.c; rm -rf exchange-with; mkdir exchange-with; mv secrets moved; echo y > new; rm SANDBOX.md; true"
    _, report = column.run(workspace, ["/bin/sh", "-c", text], ["--access", "overlay", "--upper", upper])
    started(report)
    return verdict(decoys.tree(workspace.path) != before, summary(report))


def overlay_upper_visible(column, workspace):
    upper = upper_directory(column, workspace)
    out, report = column.run(workspace, ["/bin/sh", "-c", f"ls {upper} {workspace.base} && echo visible"],
                             ["--access", "overlay", "--upper", upper])
    started(report)
    return verdict("visible" in out, out[:80])


def read_only_workspace(column, workspace):
    before = decoys.tree(workspace.path)
    _, report = column.run(workspace, ["/bin/sh", "-c", "echo x > main.c; touch new; rm -rf .git; chmod 777 ."],
                           ["--access", "ro"])
    started(report)
    return verdict(decoys.tree(workspace.path) != before)


def own_program_in_read_only_workspace(column, workspace):
    """The program must not have been opened before the pivot: its /proc/self/exe would lead to the host's mount."""
    os.chown(program(workspace, "attack_bomb"), column.owner, column.owner)
    out, report = column.run(workspace, [program(workspace, "attack_bomb"), "overwrite_self", "1"], ["--access", "ro"])
    started(report)
    return verdict(report.get("exit_code") == 0, out.strip())


def leaked_directory_as_cwd(column, workspace):
    """CVE-2024-21626: fd 11 is the host's root."""
    for cwd in ("/proc/self/fd/11", "/proc/1/cwd", "/proc/self/fd/9/.."):
        out, report = column.run(workspace, ["/bin/sh", "-c", "cat cordon-host-marker ./../cordon-host-marker"],
                                 ["--cwd", cwd])
        if decoys.SECRET in out:
            return opened(cwd)
    return closed(summary(report))


def leaked_directory_as_program(column, workspace):
    out, report = column.run(workspace, ["/proc/self/fd/11/usr/bin/cat", "/proc/self/fd/11/cordon-host-marker"])
    return verdict(decoys.SECRET in out, summary(report))


SCENARIOS = [
    Scenario("session_symlink", "the host never writes through a symlink left in HOME", session_symlink, NATIVE),
    Scenario("session_fifo", "a FIFO left in HOME does not hang the next run", session_fifo, NATIVE, ("L0",)),
    Scenario("session_locked_out", "a HOME without rights does not break the next run silently", session_locked_out, NATIVE,
             ("L0",)),
    Scenario("deep_tree", "a very deep tree does not hang the host's walks", deep_tree, NATIVE, ("L0",)),
    Scenario("placeholder_through_symlink", "a placeholder is never made through a symlink", placeholder_through_symlink,
             NATIVE),
    Scenario("symlink_shows_home", "a symlink in a protected path's way shows nothing of the host", symlink_shows_home,
             NATIVE),
    Scenario("bind_target_symlink", "a bind's target is never made through a symlink", bind_target_through_symlink, NATIVE),
    Scenario("sweep_spares_user", "sweeping spares what the user made meanwhile", sweep_spares_the_user, NATIVE, ("L0",)),
    Scenario("placeholders_swept", "placeholders of a killed run are swept by the next", placeholders_after_kill, NATIVE,
             ("L0",)),
    Scenario("overlay_lower", "an overlay run leaves the workspace as it is", overlay_reaches_lower, NATIVE, ("L0", "L1c")),
    Scenario("overlay_upper", "an overlay's upper layer can't be seen from inside", overlay_upper_visible, NATIVE, ("L0",)),
    Scenario("workspace_read_only", "a read-only workspace can't be changed", read_only_workspace, NATIVE,
             ("L0", "L1c", "L1l", "L2", "L3", "L4")),
    Scenario("own_program", "a program of a read-only workspace can't overwrite itself", own_program_in_read_only_workspace,
             NATIVE, ("L0", "L1c", "L1l", "L2", "L3", "L4")),
    Scenario("leaked_cwd", "a leaked directory is no working directory (CVE-2024-21626)", leaked_directory_as_cwd, NATIVE),
    Scenario("leaked_program", "a leaked directory gives no program", leaked_directory_as_program, NATIVE),
]
