"""G70: the caller's terminal. The probes run once more with a pseudo terminal as stdin, stderr and controlling
terminal; the host side looks into the terminal's input queue for what was typed."""
import array
import fcntl
import os
import pty
import subprocess
import termios
import tty

from scenario import CALIBRATED, NATIVE, Scenario, closed, opened, started, summary, verdict

PROBES = ["terminal_type", "terminal_type_high_bits", "terminal_paste", "terminal_take", "terminal_discipline",
          "terminal_opened"]
EVERY = ("L0", "L1c", "L1l", "L2", "L3", "L4")


def on_terminal(column, workspace, command, options):
    """Gives (stdout, report, typed bytes, changed settings)."""
    master, slave = pty.openpty()
    os.fchown(slave, column.owner, column.owner)
    tty.setraw(slave)
    before = termios.tcgetattr(slave)
    take = column_preparation(column)
    process = start(column, workspace, command, options, slave, take)
    out, _ = process.communicate(timeout=30)
    queued = array.array("i", [0])
    fcntl.ioctl(slave, termios.FIONREAD, queued)
    changed = termios.tcgetattr(slave) != before
    os.close(slave)
    os.close(master)
    out, report = column.read(process.returncode, out.decode(errors="replace"), "")
    return out, report, queued[0], changed


def column_preparation(column):
    from launchers import become
    prepare = become(column.principal, column.groups)

    def take():
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        prepare()
    return take


def start(column, workspace, command, options, slave, take):
    import decoys
    return subprocess.Popen(column.wrap(workspace, list(command), list(options)), cwd=workspace.path,
                            env=dict(decoys.ENVIRONMENT), pass_fds=(9, 11), start_new_session=True, preexec_fn=take,
                            stdin=slave, stdout=subprocess.PIPE, stderr=slave)


def probe(name):
    def attempt(column, workspace):
        options = ["--stdin-inherit"] if column.name.startswith("L") else []
        out, report, typed, _ = on_terminal(column, workspace, [f"{workspace.path}/attack_probe", name], options)
        started(report)
        for line in out.splitlines():
            fields = line.split("\t")
            if len(fields) == 4 and fields[0] == name:
                return (fields[1] == "OPEN" or typed > 0, fields[2], f"{typed} bytes typed")
        raise RuntimeError(f"no answer: {out[-100:]} {summary(report)}")
    return attempt


def own_terminal(column, workspace):
    """With a pty of its own: whatever it does there must not reach the caller's."""
    out, report, typed, changed = on_terminal(column, workspace, [f"{workspace.path}/attack_probe", *PROBES],
                                              ["--tty", "--stdin-inherit"])
    started(report)
    first = next((line for line in out.splitlines() if line.startswith("terminal_type\t")), "")
    wrong = typed > 0 or changed or "OPEN" in first or not first
    return verdict(wrong, f"{typed} bytes typed, settings changed: {changed}, {first!r}")


def settings_changed(column, workspace):
    text = "stty raw -echo < /dev/tty; stty raw -echo; stty raw -echo <&2; true"
    options = ["--stdin-inherit"] if column.name.startswith("L") else []
    _, report, _, changed = on_terminal_cooked(column, workspace, ["/bin/sh", "-c", text], options)
    started(report)
    return verdict(changed)


def on_terminal_cooked(column, workspace, command, options):
    saved = tty.setraw
    tty.setraw = lambda _: None
    try:
        return on_terminal(column, workspace, command, options)
    finally:
        tty.setraw = saved


SCENARIOS = [
    *[Scenario(name, claim, probe(name), CALIBRATED, EVERY) for name, claim in (
        ("terminal_type", "cannot type into the caller's terminal (TIOCSTI)"),
        ("terminal_type_high_bits", "cannot hide TIOCSTI behind high bits (CVE-2019-7303)"),
        ("terminal_paste", "cannot paste by TIOCLINUX"),
        ("terminal_take", "cannot take the terminal as its own"),
        ("terminal_discipline", "cannot change the terminal's line discipline"),
        ("terminal_opened", "has no controlling terminal of the caller"))],
    Scenario("terminal_settings", "cannot change the terminal's settings", settings_changed, CALIBRATED, EVERY),
    Scenario("terminal_own", "a terminal of its own leads nowhere else", own_terminal, NATIVE, ("L0",)),
]
