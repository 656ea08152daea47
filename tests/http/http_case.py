"""A daemon with its HTTP interface, tokens for it, and clients that say exactly what a test wants."""
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import time

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "../run")]
from run_case import RunCase  # noqa: E402


class Reply:
    def __init__(self, status, fields, body):
        self.status, self.fields, self.body = status, fields, body

    def json(self):
        return json.loads(self.body)

    def error(self):
        return self.json()["error"]


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class HttpCase(RunCase):
    options = ("--listen", "127.0.0.1:0")

    def setUp(self):
        super().setUp()
        self.approver = self.become_approver()
        self.start_http(*self.options)

    def start_http(self, *options, env=None):
        self.daemon = subprocess.Popen(["cordon", "serve", *(() if "--rate" in options else ("--rate", "100000")), *options], cwd=self.work, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, text=True, env={**self.environment, **(env or {})})
        self.assertIn("listening on", self.daemon.stdout.readline())
        self.unix = self.port = None
        for _ in range(2 if "--listen" in options else 1):
            place = self.daemon.stdout.readline().strip().removeprefix("HTTP on ")
            if place.startswith("unix:"):
                self.unix = place.removeprefix("unix:")
            else:
                self.place, self.port = place, int(re.search(r":(\d+)$", place).group(1))

    def restart(self, *options):
        self.stop_daemon()
        self.start_http(*options)

    def token(self, role="agent", *options, **keywords):
        """A new token's text."""
        done = self.call("cordon", "token", "create", "--role", role, *options, "--quiet", env=self.approver, expect=0, **keywords)
        return done.stdout.strip()

    def connection(self, timeout=60):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def ask(self, method, path, body=None, token=None, fields=None, connection=None):
        """One request and its whole answer."""
        own = connection is None
        connection = connection or self.connection()
        given = dict(fields or {})
        if token:
            given["Authorization"] = f"Bearer {token}"
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        if body is not None:
            given.setdefault("Content-Type", "application/json")
        connection.request(method, path, body, given)
        answer = connection.getresponse()
        reply = Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read().decode())
        if own:
            connection.close()
        return reply

    def tool(self, name, arguments=None, token=None, **keywords):
        return self.ask("POST", f"/v1/tools/{name}", arguments or {}, token, **keywords)

    def raw(self, *pieces, timeout=60):
        """Bytes sent as they are, piece by piece; everything that comes back until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout) as connection:
            for piece in pieces:
                connection.sendall(piece)
            return self.rest(connection)

    @staticmethod
    def rest(connection):
        received = b""
        try:
            while more := connection.recv(1 << 16):
                received += more
        except ConnectionResetError:
            pass
        return received

    def head(self, path="/v1/tools/sandbox_check", token=None, method="POST", host=None, **fields):
        """The bytes of a head."""
        lines = [f"{method} {path} HTTP/1.1", f"Host: {host or f'127.0.0.1:{self.port}'}", "Content-Type: application/json"]
        if token:
            lines.append(f"Authorization: Bearer {token}")
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
        return ("\r\n".join(lines) + "\r\n\r\n").encode()

    def wait_for(self, condition, seconds=60):
        until = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), until, "it did not happen")
            time.sleep(0.02)

    def running(self, mark):
        return int(subprocess.run(["pgrep", "-fc", f"^sleep {mark}"], capture_output=True, text=True).stdout or 0)

    def queue_as(self, token, command="rm -rf build"):
        return self.tool("sandbox_exec", {"command": command}, token).json()["queue_id"]


class Stream:
    """A text/event-stream, event by event."""

    def __init__(self, case, method, path, body=None, token=None, fields=None):
        self.connection = case.connection(120)
        given = {"Accept": "text/event-stream", "Content-Type": "application/json", **(fields or {})}
        if token:
            given["Authorization"] = f"Bearer {token}"
        self.connection.request(method, path, None if body is None else json.dumps(body), given)
        self.answer = self.connection.getresponse()
        self.status = self.answer.status
        self.fields = {name.lower(): value for name, value in self.answer.getheaders()}

    def next(self):
        """(event, data, id), or None at the end; comments are passed over."""
        event, data, number = "", [], ""
        while True:
            line = self.answer.readline()
            if not line:
                return None
            line = line.decode().rstrip("\n")
            if not line:
                if data:
                    return event, "\n".join(data), number
                continue
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "event":
                event = value
            elif name == "data":
                data.append(value)
            elif name == "id":
                number = value

    def comment(self):
        """The first line of the stream that is a comment."""
        while not (line := self.answer.readline()).startswith(b":"):
            if not line:
                return None
        return line

    def rest(self):
        events = []
        while (event := self.next()) is not None:
            events.append(event)
        self.close()
        return events

    def close(self):
        # Both hold the socket.
        self.answer.close()
        self.connection.close()
