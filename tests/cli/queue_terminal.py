#!/usr/bin/env python3
"""What a person, and what an agent that pretends to be one, can do at a terminal."""
import json, os, pty, re, select, shutil, signal, subprocess, sys, tempfile, termios, time, fcntl, struct

bin_dir = os.environ["CORDON_BIN"]
scratch = tempfile.mkdtemp()
work = scratch + "/work"
os.makedirs(work)
os.makedirs(scratch + "/home")
os.chdir(work)
env = {"HOME": scratch + "/home", "CORDON_STATE_DIR": scratch + "/state", "PATH": bin_dir + ":/usr/bin:/bin", "TERM": "xterm", "LANG": "C.UTF-8"}
subprocess.run(["git", "init", "-q", "."], check=True)


def fail(text):
    print("FAILED:", text, file=sys.stderr)
    sys.exit(1)


class Terminal:
    """A program on a terminal of its own, as an agent can have one."""

    def __init__(self, *argv, more=None):
        self.seen = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(bin_dir + "/" + argv[0], list(argv), {**env, **(more or {})})
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))

    def expect(self, text, seconds=60):
        end = time.monotonic() + seconds
        while text not in self.seen:
            ready, _, _ = select.select([self.fd], [], [], max(0, end - time.monotonic()))
            if not ready:
                fail(f"never said {text!r}; said:\n{self.seen}")
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                data = b""
            if not data:
                fail(f"ended without saying {text!r}; said:\n{self.seen}")
            self.seen += data.decode("utf-8", "replace")
        self.seen = self.seen[self.seen.index(text) + len(text):]

    def type(self, text):
        os.write(self.fd, text.encode())

    def flags(self):
        return termios.tcgetattr(self.fd)[3]

    def end(self):
        while True:
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                break
            if not data:
                break
            self.seen += data.decode("utf-8", "replace")
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def run(*argv, more=None):
    done = subprocess.run(argv, env={**env, **(more or {})}, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def queued(command):
    code, text = run(bin_dir + "/sandbox-exec", "--json", "-a", command)
    if code != 75:
        fail(f"{command}: exit {code}: {text}")
    return re.search(r"cmd_[a-z0-9]+", text).group()


# A person confirms their own request with y while no approver is set.
t = Terminal("sandbox-exec", "-a", "touch mine")
t.expect("Run it?")
t.type("y\n")
if t.end() != 0 or not os.path.exists("mine"):
    fail(f"a person's own y did not run it: {t.seen}")
t = Terminal("sandbox-exec", "-a", "touch declined")
t.expect("Run it?")
t.type("\n")
if t.end() != 126 or os.path.exists("declined"):
    fail("no answer is not a yes")

# A request that an agent made cannot be waved through with y.
id = queued("touch agents")
t = Terminal("sandbox-queue", "approve", id)
t.expect("a y is not enough")
if t.end() != 126:
    fail("an agent's request was approved by y")

# With a passphrase set, y is never enough: not by double fork, not on a terminal of one's own.
t = Terminal("cordon", "approver", "init")
t.expect("New passphrase: ")
if t.flags() & termios.ECHO:
    fail("the passphrase is shown")
t.type("correct horse battery\n")
t.expect("Once more: ")
t.type("correct horse battery\n")
if t.end() != 0:
    fail(f"approver init: {t.seen}")

t = Terminal("sandbox-exec", "-a", "touch pretended")
t.expect("Run it?")
t.type("y\n")
t.expect("passphrase: ")
t.type("y\n")
code = t.end()
if code not in (75, 126) or os.path.exists("pretended"):
    fail(f"an agent on a pty of its own approved itself (exit {code})")

for answer in ("y\n", "yes\n", "\n", "correct horse\n"):
    t = Terminal("sandbox-queue", "approve", id)
    t.expect("Command (1 line, 12 characters, whole):")
    t.expect("passphrase: ")
    t.type(answer)
    if t.end() != 126 or os.path.exists("agents"):
        fail(f"{answer!r} approved an agent's request")

# Ctrl-C at the question gives the terminal its echo back.
t = Terminal("sandbox-queue", "approve", id)
t.expect("passphrase: ")
os.kill(t.pid, signal.SIGINT)
deadline = time.monotonic() + 30
while not t.flags() & termios.ECHO:
    if time.monotonic() > deadline:
        fail("echo stays off after an interrupt")
if t.end() == 0 or os.path.exists("agents"):
    fail("an interrupt approved")

# What would hide in a command is seen.
hidden = "echo ok # \u202e gnihton od " + "x" * 3000 + "\ntouch tail"
hid = queued(hidden)
t = Terminal("sandbox-queue", "approve", hid)
t.expect("(2 lines, 3034 characters, whole):")
t.expect("\\u{202e}")
t.expect("touch tail")
t.expect("CAREFUL")
t.expect("passphrase: ")
t.type("\n")
t.end()
t = Terminal("sandbox-queue", "list")
t.expect("characters)")
t.end()

t = Terminal("sandbox-queue", "approve", id)
t.expect("passphrase: ")
t.type("correct horse battery\n")
if t.end() != 0 or not os.path.exists("agents"):
    fail(f"the passphrase did not approve: {t.seen}")

# The live view.
open("deploy.sh", "w").write("echo one\n")
wid = queued("bash deploy.sh")
kept = queued("touch by_key")
t = Terminal("sandbox-queue", "watch")
t.expect("pending")
t.expect("touch by_key")
before = t.flags()
if before & termios.ICANON:
    fail("keys are not read as they are pressed")
fcntl.ioctl(t.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 12, 60, 0, 0))
t.expect("q quit")
new = queued("touch newcomer")
t.expect(new)
code, text = run(bin_dir + "/sandbox-queue", "reject", new, "--reason", "x")
t.type("s")
t.expect("all shown")
t.expect("rejected")
t.type("s")
# Choose by_key: the newest pending one is on top.
t.type("\r")
t.expect("lines 1-")
t.type("\x1b")
t.expect("enter details")
t.type("a")
t.expect("passphrase: ")
t.type("wrong\n")
t.expect("Press enter")
t.type("\n")
t.expect("cordon queue:")
t.type("r")
t.expect("Why is")
t.type("not today\n")
t.expect("Press enter")
t.type("\n")
t.expect("cordon queue:")
t.type("q")
t.expect("\x1b[?1049l")
flags = t.flags()
if t.end() != 0:
    fail("watch did not end well")
if not flags & termios.ICANON or not flags & termios.ECHO:
    fail("the terminal was not given back")

for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    t = Terminal("sandbox-queue", "watch")
    t.expect("q quit")
    os.kill(t.pid, number)
    t.expect("\x1b[?1049l")
    t.end()

# Drift is shown in the details.
open("deploy.sh", "w").write("echo two\n")
t = Terminal("sandbox-queue", "show", wid)
t.expect("deploy.sh has another content")
t.end()
print("queue on a terminal: as promised")
shutil.rmtree(scratch, ignore_errors=True)
