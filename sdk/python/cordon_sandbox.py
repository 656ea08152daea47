"""Code and commands under Cordon: judged, isolated, recorded.

    import cordon_sandbox as sandbox
    sandbox.execute("python", "print(6 * 7)", timeout=10_000)["output"]   # "42"

Over the daemon's socket where one listens, else by starting `cordon`; the results are the same. Every call gives Cordon's
own result object as a dictionary; `execute` never raises for what goes wrong with the code. Standard library only."""
import base64
import hashlib
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile

__all__ = ["CordonError", "Sandbox", "audit_log", "audit_stats", "audit_verify", "check", "exec", "execute", "queue_approve",
           "queue_list", "queue_reject", "queue_show", "queue_wait"]
__version__ = "0.1.0"

_PROTOCOL = 1
_LARGEST_ARGUMENT = 100_000  # bytes; the kernel refuses longer ones at 128 KiB


class CordonError(Exception):
    """Cordon could not be asked, or could not make sense of the request."""


def _exact(value):
    if isinstance(value, str):
        return value
    return {"base64": base64.b64encode(bytes(value)).decode()}


def _refused(error):
    return {"success": False, "output": "", "stderr": "", "exitCode": -1, "executionTime": 0, "error": error,
            "isolation": None, "artifacts": [], "session": None}


class Sandbox:
    """Where and as whom calls are made. `cwd` is the directory whose workspace and settings count."""

    def __init__(self, *, cwd=None, agent=None, state_dir=None, socket_path=None, binary=None, daemon=True):
        self.cwd = cwd
        self.agent = agent
        self.state_dir = state_dir
        self.socket_path = socket_path
        self.binary = binary or os.environ.get("CORDON_BINARY") or "cordon"
        self.daemon = daemon and "CORDON_NO_DAEMON" not in os.environ

    def execute(self, language, code, *, timeout=None, max_output_size=None, args=(), stdin=None, files=None, session=None,
                fork=None, step=None, access=None):
        """Runs code in a sandbox of its own; `timeout` is in milliseconds."""
        if not language or not isinstance(language, str):
            return _refused("Language is required and must be a string")
        if not code or not isinstance(code, str):
            return _refused("Code is required and must be a string")
        snippet = {"language": language, "code": code, "arguments": list(args)}
        for key, value in (("maxOutputSize", max_output_size), ("session", session), ("fork", fork), ("step", step),
                           ("access", access)):
            if value is not None:
                snippet[key] = value
        if files:
            snippet["files"] = [[name, _exact(content)] for name, content in files.items()]
        message = {"protocol": _PROTOCOL, "verb": "run", "snippet": snippet, "cwd": self.cwd or os.getcwd()}
        if timeout is not None:
            message["timeout"] = timeout
        if stdin is not None:
            message["input"] = _exact(stdin)
        if self.agent:
            message["agent"] = self.agent
        try:
            answer = self._ask_daemon(message)
            return answer if answer is not None else self._execute_by_binary(snippet, timeout, stdin, files or {})
        except (CordonError, OSError) as error:
            return _refused(str(error))

    def check(self, command):
        """What Cordon thinks of a command; nothing runs."""
        return self._ask("check", "--", command)

    def exec(self, command, *, timeout=None, dry_run=False, require_approval=False, wait=None, approval=None, env=None,
             stdin=None):
        """Judges a command, runs it in a sandbox or queues it, and records it."""
        words = ["exec", "--json"]
        for name, value in (("--timeout", timeout), ("--wait", wait), ("--approval", approval)):
            if value is not None:
                words += [name, str(value)]
        words += ["--dry-run"] * dry_run + ["--require-approval"] * require_approval
        for name, value in (env or {}).items():
            words += ["--env", "%s=%s" % (name, value)]
        if stdin is not None:
            words.append("--stdin")
        return self._ask(*words, "--", command, stdin=stdin)

    def queue_list(self, status=None):
        return self._ask("queue", "list", "--json", *(["--status", status] if status else []))

    def queue_show(self, entry):
        return self._ask("queue", "show", "--json", entry)

    def queue_approve(self, entry, *, by=None, notes=None):
        return self._ask("queue", "approve", "--json", entry, *(["--by", by] if by else []),
                         *(["--notes", notes] if notes else []))

    def queue_reject(self, entry, reason, *, by=None):
        return self._ask("queue", "reject", "--json", entry, "--reason", reason, *(["--by", by] if by else []))

    def queue_wait(self, entry):
        return self._ask("queue", "wait", "--json", entry)

    def audit_log(self, *, last=None, risk_level=None, since=None, command_pattern=None):
        words = ["audit", "log", "--json"]
        for name, value in (("--last", last), ("--risk-level", risk_level), ("--since", since),
                            ("--command-pattern", command_pattern)):
            if value is not None:
                words += [name, str(value)]
        return self._ask(*words)

    def audit_stats(self, period=None):
        return self._ask("audit", "stats", "--json", *(["--period", period] if period else []))

    def audit_verify(self):
        done = self._start(["audit", "verify"])
        return {"good": done.returncode in (0, 3), "signed": done.returncode == 0, "text": done.stdout.decode().strip()}

    # How it is done.

    def _state(self):
        given = self.state_dir or os.environ.get("CORDON_STATE_DIR")
        if given:
            return given
        base = os.environ.get("XDG_STATE_HOME", "")
        return base + "/cordon" if base.startswith("/") else os.path.expanduser("~/.local/state/cordon")

    def _socket(self):
        given = self.socket_path or os.environ.get("CORDON_SOCKET")
        if given:
            return given
        runtime = os.environ.get("XDG_RUNTIME_DIR", "")
        if not runtime.startswith("/"):
            return self._state() + "/run/serve.sock"
        return "%s/cordon/serve-%s.sock" % (runtime, hashlib.sha256(self._state().encode()).hexdigest()[:16])

    def _ask_daemon(self, message):
        """The daemon's answer; None where it is to be done without one."""
        if not self.daemon:
            return None
        with socket.socket(socket.AF_UNIX) as connection:
            try:
                connection.connect(self._socket())
            except OSError:
                return None
            peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            if struct.unpack("3i", peer)[1] != os.geteuid():
                return None
            body = json.dumps(message).encode()
            connection.sendall(struct.pack("<I", len(body)) + body)
            with connection.makefile("rb") as stream:
                while True:
                    header = stream.read(4)
                    if len(header) < 4:
                        raise CordonError("the daemon ended while it worked on this")
                    answer = json.loads(stream.read(struct.unpack("<I", header)[0]))
                    if answer["type"] == "answer":
                        return answer["object"]
                    if answer["type"] == "decline":
                        return None
                    if answer["type"] == "error":
                        raise CordonError(answer["message"])

    def _execute_by_binary(self, snippet, timeout, stdin, files):
        words = ["run", "--json", "--lang", snippet["language"]]
        for name, value in (("--timeout", timeout), ("--max-output", snippet.get("maxOutputSize")),
                            ("--session", snippet.get("session")), ("--fork", snippet.get("fork")),
                            ("--step", snippet.get("step")), ("--access", snippet.get("access"))):
            if value is not None:
                words += [name, str(value)]
        folder = tempfile.mkdtemp(prefix="cordon-")
        try:
            def place(content):
                path = os.path.join(folder, str(len(os.listdir(folder))))
                with open(path, "wb") as file:
                    file.write(content.encode() if isinstance(content, str) else content)
                return path
            for name, content in files.items():
                words += ["--file", "%s=%s" % (name, place(content))]
            long = len(snippet["code"].encode()) > _LARGEST_ARGUMENT
            # The equals sign keeps code that begins with a dash from being read as an option.
            words.append(place(snippet["code"]) if long else "--code=" + snippet["code"])
            if snippet["arguments"]:
                words += ["--", *snippet["arguments"]]
            return self._ask(*words, stdin=stdin)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _start(self, words, stdin=None):
        options = (["--state-dir", self.state_dir] if self.state_dir else []) + (["--agent", self.agent] if self.agent else [])
        environment = dict(os.environ, **({} if self.daemon else {"CORDON_NO_DAEMON": "1"}))
        given = stdin.encode() if isinstance(stdin, str) else stdin
        try:
            return subprocess.run([self.binary, *options, *words], input=given if given is not None else b"",
                                  capture_output=True, cwd=self.cwd, env=environment, check=False)
        except FileNotFoundError:
            raise CordonError("cordon was not found; install it or give binary=PATH") from None

    def _ask(self, *words, stdin=None):
        done = self._start(words, stdin)
        try:
            return json.loads(done.stdout)
        except ValueError:
            text = done.stderr.decode(errors="replace").strip()
            raise CordonError(text.removeprefix("cordon: ") or "cordon ended with %d" % done.returncode) from None


_here = Sandbox()
execute = _here.execute
check = _here.check
exec = _here.exec  # noqa: A001, the product's own name for it
queue_list = _here.queue_list
queue_show = _here.queue_show
queue_approve = _here.queue_approve
queue_reject = _here.queue_reject
queue_wait = _here.queue_wait
audit_log = _here.audit_log
audit_stats = _here.audit_stats
audit_verify = _here.audit_verify
