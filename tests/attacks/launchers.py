"""Ways to start a program: bare, in Debian's bubblewrap for calibration, and in Cordon's native sandbox."""
import json
import os
import subprocess
import tempfile

import cage
import decoys
import kernel_calls as kernel

TIMEOUT = 40


def become(principal, groups):
    """What is done in the child before the launcher is executed: its ids, its cgroup, and a key in its keyring."""
    def prepare():
        cage.join(groups, principal)
        kernel.fresh_session_key("cordon-decoy", decoys.SECRET)
        if principal == "root":
            os.setgroups([0, cage.FOREIGN_GROUP])
            return
        os.setgroups([])
        os.setresgid(cage.USER_ID, cage.USER_ID, cage.USER_ID)
        os.setresuid(cage.USER_ID, cage.USER_ID, cage.USER_ID)
        kernel.prctl(4, 1)  # dumpable, as after a login
    return prepare


def leak_descriptors():
    """fd 9, a secret; fd 11, the host's root directory: what a careless parent leaves open. Once, before the runner has
    other descriptors that these numbers could hit."""
    os.dup2(os.open(f"{decoys.HOME}/SECRET", os.O_RDONLY), 9)
    os.dup2(os.open("/", os.O_RDONLY | os.O_DIRECTORY), 11)


class Launcher:
    """One column of the table: a name, a principal, and how a command line becomes a confined one."""

    def __init__(self, name, principal, groups, wrap):
        self.name = name
        self.principal = principal
        self.groups = groups
        self.wrap = wrap
        self.owner = 0 if principal == "root" else cage.USER_ID

    def prepare(self):
        """What a column needs before its first run; the reason, where this machine does not have it."""
        return None

    def start(self, workspace, command, options=(), **settings):
        settings.setdefault("stdin", subprocess.DEVNULL)
        settings.setdefault("stdout", subprocess.PIPE)
        settings.setdefault("stderr", subprocess.PIPE)
        # An ambient capability outlives exec: one that the launcher has must not reach the sandbox.
        ambient = ["setpriv", "--inh-caps=+net_raw", "--ambient-caps=+net_raw"] if self.principal == "root" else []
        line = ambient + self.wrap(workspace, list(command), list(options))
        return subprocess.Popen(line, cwd=workspace.path,
                                env=dict(decoys.ENVIRONMENT), pass_fds=(9, 11), start_new_session=True,
                                preexec_fn=become(self.principal, self.groups), **settings)

    def run(self, workspace, command, options=(), **settings):
        """Gives (stdout, report): the report is the sandbox's own for native, else only the exit code. Output goes to
        files: what survives the run and keeps them open must not keep us waiting."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = self.start(workspace, command, options, stdout=out, stderr=err, **settings)
            try:
                process.wait(timeout=TIMEOUT)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                return "", {"outcome": "hung", "error": f"no end after {TIMEOUT} s"}
            texts = [os.pread(file.fileno(), 64 << 20, 0).decode(errors="replace") for file in (out, err)]
        return self.read(process.returncode, *texts)

    def read(self, code, out, err):
        return out, {"outcome": "exited", "exit_code": code, "stderr": err}


class Native(Launcher):
    def __init__(self, level, principal, groups, sandbox_run, without):
        super().__init__(level, principal, groups, self.confine)
        self.sandbox_run = sandbox_run
        self.without = list(without)

    def confine(self, workspace, command, options):
        arguments = [self.sandbox_run, "--workspace", workspace.path, "--access", "rw", "--cwd", workspace.path,
                     "--state", f"{decoys.STATE}/{self.principal}", "--wall", "60000"]
        if "namespaces" not in self.without:  # L4 can hold neither; hygiene.py looks at what it says to that
            for name in decoys.PROTECTED:
                arguments += ["--protect", name]
            for name in decoys.HIDDEN:
                arguments += ["--hide", name]
        for layer in self.without:
            arguments += ["--without", layer]
        return arguments + options + ["--"] + command

    def read(self, code, out, err):
        try:
            report = json.loads(out)
        except ValueError:
            return out, {"outcome": "broken", "error": f"exit {code}, no report: {(err or out)[-300:]}"}
        return report["stdout"], report


class Container(Native):
    """The same programs in a container of an OCI runtime."""

    def __init__(self, backend, principal, groups, sandbox_run):
        super().__init__(backend, principal, groups, sandbox_run, [])

    def confine(self, workspace, command, options):
        return super().confine(workspace, command, ["--backend", self.name, *options])


class Docker(Container):
    """In a container of the engine that the cage has (engine_in_cage.py)."""

    def __init__(self, principal, groups, sandbox_run, engine):
        super().__init__("docker", principal, groups, sandbox_run)
        self.engine = engine

    def prepare(self):
        return self.engine.start()

    def confine(self, workspace, command, options):
        place = ["--socket", self.engine.socket, "--image", self.engine.image]
        return super().confine(workspace, command, [*place, *options])


CONTAINERS = ("runc", "gvisor", "docker")


def bare(principal, groups):
    # Private mounts: an attempt that succeeds bare must not unmount the cage's /proc for the others.
    prefix = ["unshare", "-m", "--propagation", "private"] if principal == "root" else []
    return Launcher("bare", principal, groups, lambda workspace, command, options: prefix + command)


def bubblewrap(principal, groups):
    line = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
    return Launcher("bwrap", principal, groups,
                    lambda workspace, command, options: line + ["--bind", workspace.path, workspace.path] + command)


def plain_namespaces(principal, groups):
    """Namespaces and nothing else, capabilities in them kept: what `unshare -r` gives."""
    line = ["unshare", "-r", "-m", "-p", "-n", "-i", "-u", "-C", "-f", "--mount-proc"]
    return Launcher("unshare", principal, groups, lambda workspace, command, options: line + command)


# What takes a level down to the next: the same switch that a machine without that feature flips.
LEVELS = {
    "L0": [], "L1c": ["cgroup"], "L1l": ["landlock"], "L2": ["proc"], "L3": ["userns"], "L4": ["namespaces"],
}


def native(level, principal, groups, sandbox_run, without=()):
    return Native(level, principal, groups, sandbox_run, LEVELS[level] + list(without))
