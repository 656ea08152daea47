"""A client of `cordon mcp` that says exactly what a test wants, rightly or wrongly."""
import json
import queue
import subprocess
import threading

MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"


class Client:
    """One process on two pipes. What it sends is read by a thread, so that nothing is missed while nobody asks."""

    def __init__(self, command, cwd, env, era=MODERN, capabilities=None):
        self.era = era
        self.capabilities = capabilities or {}
        self.process = subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.lines = queue.Queue()
        self.others = []
        self.last_id = 0
        threading.Thread(target=self._read, daemon=True).start()
        if era != MODERN:
            self.hello = self.request("initialize", {"protocolVersion": era, "capabilities": self.capabilities,
                                                     "clientInfo": {"name": "test", "version": "1"}})
            self.notify("notifications/initialized")

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))
        self.lines.put(None)

    def send_bytes(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def notify(self, method, params=None):
        self.send({"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})})

    def next(self, timeout=60):
        """The next message of the server; None at its end."""
        return self.lines.get(timeout=timeout)

    def start(self, method, params=None, meta=None):
        """Sends a request; its id."""
        self.last_id += 1
        params = dict(params or {})
        if self.era == MODERN:
            params["_meta"] = {META + "protocolVersion": MODERN, META + "clientCapabilities": self.capabilities,
                               META + "clientInfo": {"name": "test", "version": "1"}, **(meta or {})}
        elif meta:
            params["_meta"] = meta
        self.send({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params})
        return self.last_id

    def finish(self, request, timeout=60):
        """The answer to a request; everything else that comes before it is kept in `others`."""
        while True:
            message = self.next(timeout)
            if message is None:
                raise EOFError(self.process.stderr.read().decode())
            if message.get("id") == request and "method" not in message:
                return message
            self.others.append(message)

    def request(self, method, params=None, meta=None):
        return self.finish(self.start(method, params, meta))

    def call(self, name, arguments=None, meta=None, **params):
        """The result of a tool."""
        answer = self.request("tools/call", {"name": name, "arguments": arguments or {}, **params}, meta)
        return answer.get("result", answer)

    def tools(self):
        return [tool["name"] for tool in self.request("tools/list")["result"]["tools"]]

    def close(self, timeout=60):
        self.process.stdin.close()
        code = self.process.wait(timeout)
        self.process.stdout.close()
        self.process.stderr.close()
        return code
