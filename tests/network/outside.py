"""The outside of stage.py: a name server, web servers, a server that echoes, one that never answers. Everything that
arrives is written to STAGE/log, so that a test can say what did not."""
import ctypes
import json
import os
import shutil
import socket
import socketserver
import ssl
import struct
import subprocess
import sys
import threading
import time

from stage import OUTSIDE, SIX

STAGE = sys.argv[1]
LOCK = threading.Lock()


def note(**what):
    with LOCK, open(f"{STAGE}/log", "a") as log:
        log.write(json.dumps(what) + "\n")


# Names that mean trouble, each with its addresses.
ZONE = {
    **{name: [address] for name, address in OUTSIDE.items()},
    "sub.a.test": [OUTSIDE["a.test"]], "evil.test": [OUTSIDE["b.test"]],
    "loop.test": ["127.0.0.1"], "private.test": ["10.77.0.1"], "meta.test": ["169.254.169.254"],
    "own.test": ["93.184.216.200"], "mixed.test": ["127.0.0.1", OUTSIDE["a.test"]], "zero.test": ["0.0.0.0"],
    "cgnat.test": ["100.64.0.1"], "multi.test": ["224.0.0.1"], "refusing.test": [OUTSIDE["a.test"]],
    "big.test": [OUTSIDE["a.test"]] + [f"93.184.217.{i}" for i in range(1, 60)],
    "secret.evil.test": [OUTSIDE["b.test"]],
}
ZONE6 = {
    "six.test": [SIX], "loop6.test": ["::1"], "mapped.test": ["::ffff:127.0.0.1"], "nat64.test": ["64:ff9b::7f00:1"],
    "sixtofour.test": ["2002:7f00:1::1"], "ula.test": ["fd00::1"], "link6.test": ["fe80::1"],
    "own6.test": ["2a00:1450::200"],
}
ALIASES = {"alias.test": "a.test", "alias-loop.test": "loop.test"}


class Rebinding:
    """First an address outside, then loopback."""
    asked = 0


def answer(query, limit):
    identity, flags, count = struct.unpack(">HHH", query[:6])
    at, labels = 12, []
    while query[at]:
        labels.append(query[at + 1:at + 1 + query[at]].decode("latin-1"))
        at += query[at] + 1
    kind = struct.unpack(">H", query[at + 1:at + 3])[0]
    question = query[12:at + 5]
    name = ".".join(labels).lower()
    note(what="dns", name=name, kind=kind)
    records, known = [], name in ZONE or name in ZONE6 or name in ALIASES or name == "rebind.test"
    target, owner = name, b"\xc0\x0c"
    if name in ALIASES:
        target = ALIASES[name]
        encoded = b"".join(bytes([len(l)]) + l.encode() for l in target.split(".")) + b"\0"
        records.append(owner + struct.pack(">HHIH", 5, 1, 1, len(encoded)) + encoded)
        owner = encoded
    addresses = ZONE.get(target, []) if kind == 1 else ZONE6.get(target, [])
    if name == "rebind.test" and kind == 1:
        Rebinding.asked += 1
        addresses = [OUTSIDE["a.test"]] if Rebinding.asked == 1 else ["127.0.0.1"]
    for address in addresses:
        packed = socket.inet_pton(socket.AF_INET if kind == 1 else socket.AF_INET6, address)
        records.append(owner + struct.pack(">HHIH", kind, 1, 0 if name == "rebind.test" else 1, len(packed)) + packed)
    code = 0 if known else 3
    body = question + b"".join(records)
    if 12 + len(body) > limit:
        return struct.pack(">HHHHHH", identity, 0x8380, 1, 0, 0, 0) + question
    return struct.pack(">HHHHHH", identity, 0x8180 | code, 1, len(records), 0, 0) + body


def serve_dns():
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind((OUTSIDE["dns"], 53))

    def datagrams():
        while True:
            query, sender = udp.recvfrom(4096)
            udp.sendto(answer(query, 512), sender)

    class Stream(socketserver.BaseRequestHandler):
        def handle(self):
            length = struct.unpack(">H", self.request.recv(2, socket.MSG_WAITALL))[0]
            reply = answer(self.request.recv(length, socket.MSG_WAITALL), 65535)
            self.request.sendall(struct.pack(">H", len(reply)) + reply)

    start(OUTSIDE["dns"], 53, Stream)
    threading.Thread(target=datagrams, daemon=True).start()


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 1024

    def handle_error(self, request, client_address):
        pass  # clients that go away are what the tests are about


class Server6(Server):
    address_family = socket.AF_INET6


def start(address, port, handler):
    server = (Server6 if ":" in address else Server)((address, port), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()


def read_head(stream):
    lines = []
    while True:
        line = stream.readline(65537)
        if not line:
            return None
        if line in (b"\r\n", b"\n"):
            return lines
        lines.append(line.decode("latin-1").rstrip("\r\n"))


class Web(socketserver.StreamRequestHandler):
    """Keeps connections, takes bodies, and says what it was asked for."""
    def handle(self):
        local = self.request.getsockname()
        while True:
            head = read_head(self.rfile)
            if not head:
                return
            fields = {k.lower(): v.strip() for k, v in (line.split(":", 1) for line in head[1:])}
            if "content-length" in fields:
                body = self.rfile.read(int(fields["content-length"]))
            elif fields.get("transfer-encoding") == "chunked":
                body = b""
                while True:
                    size = int(self.rfile.readline().strip(), 16)
                    body += self.rfile.read(size)
                    self.rfile.readline()
                    if size == 0:
                        break
            else:
                body = b""
            note(what="http", address=local[0], port=local[1], line=head[0], host=fields.get("host"), body=len(body),
                 fields=sorted(fields))
            if not self.reply(head[0].split()[1], fields, head[0].split()[0]):
                return

    def reply(self, path, fields, method):
        if path.startswith("/redirect/"):
            self.say(302, b"", {"Location": "http://" + path[len("/redirect/"):] + "/"})
        elif path == "/chunked":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nT: x\r\n\r\n")
        elif path == "/until-close":
            self.wfile.write(b"HTTP/1.0 200 OK\r\n\r\nto the end")
            return False
        elif path == "/endless":
            self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                self.wfile.write(b"x" * 65536)
        elif path == "/slow":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n")
            for _ in range(10):
                self.wfile.write(b".")
                self.wfile.flush()
                time.sleep(0.2)
        elif path == "/upgrade" and fields.get("upgrade", "").lower() == "websocket":
            self.wfile.write(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
            self.wfile.write(self.rfile.readline())
            return False
        elif path == "/two-lengths":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab")
        elif path.startswith("/bytes/"):
            self.say(200, b"x" * int(path[len("/bytes/"):]))
        else:
            plain = path.split("?")[0]
            file = os.path.normpath(f"{STAGE}/www/{plain}") + ("/index.html" if plain.endswith("/") else "")
            if file.startswith(f"{STAGE}/www/") and os.path.isfile(file):
                with open(file, "rb") as content:
                    self.say(200, content.read(), {"Content-Type": "text/html"} if file.endswith(".html") else {}, method)
            elif path == "/":
                self.say(200, b"hello from outside\n", {}, method)
            else:
                self.say(404, b"not here\n", {}, method)
        self.wfile.flush()
        return True

    def say(self, status, body, fields=None, method="GET"):
        extra = "".join(f"{k}: {v}\r\n" for k, v in (fields or {}).items())
        self.wfile.write(f"HTTP/1.1 {status} x\r\nContent-Length: {len(body)}\r\n{extra}\r\n".encode())
        if method != "HEAD":
            self.wfile.write(body)


class SecureWeb(Web):
    def setup(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{STAGE}/server.pem", f"{STAGE}/server.key")
        context.sni_callback = lambda _, name, __: note(what="tls", name=name)
        try:
            self.request = context.wrap_socket(self.request, server_side=True)
        except OSError as error:
            note(what="tls-failed", error=str(error))
            raise
        super().setup()


class Echo(socketserver.BaseRequestHandler):
    """Speaks first, as ssh and mail servers do."""
    def handle(self):
        note(what="echo", port=self.request.getsockname()[1])
        self.request.sendall(b"greetings\n")
        while True:
            part = self.request.recv(65536)
            if not part:
                return
            self.request.sendall(part)


class Silent(socketserver.BaseRequestHandler):
    def handle(self):
        while self.request.recv(65536):
            pass


def serve_ssh():
    """For root of a home of its own, with whatever key a test puts there."""
    home = f"{STAGE}/ssh-home"
    os.makedirs(f"{home}/.ssh", 0o700)
    with open(f"{home}/.ssh/authorized_keys", "w"):
        pass
    os.chmod(f"{home}/.ssh/authorized_keys", 0o600)
    if not shutil.which("dropbear"):
        return
    subprocess.run(["mount", "--bind", home, "/root"], check=True)
    subprocess.run(["dropbearkey", "-t", "ed25519", "-f", f"{STAGE}/ssh-host-key"], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    subprocess.Popen(["dropbear", "-F", "-E", "-s", "-r", f"{STAGE}/ssh-host-key", "-p", f"{OUTSIDE['ssh.test']}:22",
                      "-P", f"{STAGE}/ssh-pid"], stdin=subprocess.DEVNULL, stderr=open(f"{STAGE}/ssh-log", "w"))


def main():
    ctypes.CDLL(None).unshare(0x40000000 | 0x20000)
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    print("namespace", flush=True)
    sys.stdin.readline()
    commands = ["link set lo up", "addr add 10.77.0.2/24 dev far", "-6 addr add 2a00:1450::2/64 dev far nodad",
                f"-6 addr add {SIX}/64 dev far nodad", "link set far up"]
    commands += [f"addr add {address}/32 dev lo" for address in OUTSIDE.values()]
    for command in commands:
        subprocess.run(["ip", *command.split()], check=True)
    subprocess.run(["ip", "route", "add", "93.184.216.200/32", "dev", "far"], check=True)
    os.makedirs(f"{STAGE}/www", exist_ok=True)
    serve_dns()
    for name in ("a.test", "b.test", "mirror.test"):
        start(OUTSIDE[name], 80, Web)
        start(OUTSIDE[name], 8080, Web)
        start(OUTSIDE[name], 443, SecureWeb)
        start(OUTSIDE[name], 7, Echo)
    start(SIX, 80, Web)
    serve_ssh()
    start(OUTSIDE["slow.test"], 80, Silent)
    start(OUTSIDE["slow.test"], 443, Silent)
    print("ready", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
