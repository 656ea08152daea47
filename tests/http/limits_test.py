"""What a stranger, a page in a browser and a careless client can not do to the HTTP interface."""
import json
import os
import re
import socket
import ssl
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from http_case import HttpCase, Stream  # noqa: E402

CHECK = b'{"command":"ls"}'


class Place(HttpCase):
    """A page from elsewhere reaches a server on this machine through its reader's browser."""

    def test_the_host_must_be_one_of_ours(self):
        token = self.token()
        for host, status in ((f"127.0.0.1:{self.port}", 200), (f"localhost:{self.port}", 200), ("LOCALHOST", 200), (f"[::1]:{self.port}", 200),
                             ("evil.example", 421), (f"evil.example:{self.port}", 421), ("127.0.0.1.evil.example", 421),
                             (f"localhost:{self.port + 1}", 421), ("localhost:", 421), ("localhost@evil", 421), ("", 421), ("[::1", 421)):
            with self.subTest(host):
                for path in ("/healthz", "/v1/openapi.json"):
                    received = self.raw(self.head(path, token, "GET", host=host or " ", Connection="close"))
                    self.assertEqual(received.split(b" ")[1], str(status).encode(), received[:300])

    def test_the_origin_must_be_ours_or_named(self):
        self.restart(*self.options, "--origin", "https://pages.example", "--host", "cordon.example")
        token = self.token()
        own = f"127.0.0.1:{self.port}"
        for host, origin, status in ((own, f"http://{own}", 200), (own, "https://pages.example", 200), (own, "http://localhost:3000", 403),
                                     (own, "null", 403), (own, "http://evil.example", 403), (own, f"https://{own}", 403),
                                     (f"cordon.example:{self.port}", f"http://cordon.example:{self.port}", 200),
                                     (own, "https://pages.example.evil", 403), (own, "", 403)):
            with self.subTest(origin):
                received = self.raw(self.head("/v1/openapi.json", token, "GET", host=host, Origin=origin, Connection="close"))
                self.assertEqual(received.split(b" ")[1], str(status).encode(), received[:300])
                self.assertNotIn(b"Access-Control", received)

    def test_beyond_this_machine_only_with_tls(self):
        for address in ("0.0.0.0:0", "[::]:0", "192.0.2.1:0"):
            done = self.call("cordon", "serve", "--socket", os.path.join(self.dir, "other/s.sock"), "--listen", address)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("TLS", done.stderr)
        for address in ("localhost", "127.0.0.1", "127.0.0.1:99999", "x:1", ":1", "127.0.0.1:-1", "127.0.0.1:1x"):
            done = self.call("cordon", "serve", "--socket", os.path.join(self.dir, "other/s.sock"), "--listen", address)
            self.assertIn("like 127.0.0.1:8080", done.stderr)

    def test_tls(self):
        certificate, key = os.path.join(self.dir, "cert.pem"), os.path.join(self.dir, "key.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", certificate,
                        "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True, capture_output=True)
        self.restart("--listen", "0.0.0.0:0", "--tls-cert", certificate, "--tls-key", key)
        self.assertTrue(self.place.startswith("https://"), self.place)
        token = self.token()
        context = ssl.create_default_context(cafile=certificate)

        body = b'{"command":"echo tls"}'
        with socket.create_connection(("127.0.0.1", self.port), 60) as plain, context.wrap_socket(plain, server_hostname="localhost") as wire:
            wire.sendall(self.head("/v1/tools/sandbox_exec", token, Content_Length=len(body), Connection="close") + body)
            self.assertIn(wire.version(), ("TLSv1.2", "TLSv1.3"))
            self.assertIn(b'"stdout":"tls\\n"', self.rest(wire))
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        old.set_ciphers("ALL:@SECLEVEL=0")
        old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
        with socket.create_connection(("127.0.0.1", self.port), 60) as plain, self.assertRaises((ssl.SSLError, OSError)):
            old.wrap_socket(plain)
        # What is no TLS is no request either, and a client that goes ends its run here too.
        self.assertNotIn(b"200 OK", self.raw(self.head("/healthz", method="GET", Connection="close")))
        mark = f"{time.monotonic_ns()}"
        body = json.dumps({"command": f"sleep {mark}"}).encode()
        wire = context.wrap_socket(socket.create_connection(("127.0.0.1", self.port), 60), server_hostname="localhost")
        wire.sendall(self.head("/v1/tools/sandbox_exec", token, Content_Length=len(body)) + body)
        self.wait_for(lambda: self.running(mark) >= 1)
        wire.close()
        self.wait_for(lambda: self.running(mark) == 0)
        wrong = self.call("cordon", "serve", "--socket", os.path.join(self.dir, "other/s.sock"), "--listen", "127.0.0.1:0", "--tls-cert", certificate)
        self.assertIn("both", wrong.stderr)


class Smuggling(HttpCase):
    """Where one request ends and the next begins must not be a matter of opinion."""

    def test_what_could_be_read_two_ways_is_refused_and_nothing_after_it_is_read(self):
        token = self.token()
        line = b"POST /v1/tools/sandbox_check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + f"Authorization: Bearer {token}\r\n".encode()
        hidden = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for name, fields in (("both", b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
                             ("both, the other way", b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n"),
                             ("two lengths", b"Content-Length: 16\r\nContent-Length: 2\r\n\r\n" + CHECK),
                             ("the same twice", b"Content-Length: 16\r\nContent-Length: 16\r\n\r\n" + CHECK),
                             ("a list", b"Content-Length: 16, 16\r\n\r\n" + CHECK),
                             ("a sign", b"Content-Length: +16\r\n\r\n" + CHECK),
                             ("negative", b"Content-Length: -1\r\n\r\n" + CHECK),
                             ("hexadecimal", b"Content-Length: 0x10\r\n\r\n" + CHECK),
                             ("huge", b"Content-Length: 99999999999999999999999\r\n\r\n" + CHECK),
                             ("a blank before the colon", b"Content-Length : 16\r\n\r\n" + CHECK),
                             ("another encoding", b"Transfer-Encoding: identity\r\n\r\n"),
                             ("two encodings", b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
                             ("chunked twice", b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
                             ("chunked with a tail", b"Transfer-Encoding: chunked, x\r\n\r\n0\r\n\r\n"),
                             ("a bad chunk", b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"),
                             ("a chunk's length with a sign", b"Transfer-Encoding: chunked\r\n\r\n-1\r\n"),
                             ("two hosts", b"Host: localhost\r\nContent-Length: 16\r\n\r\n" + CHECK),
                             ("a bare newline", b"Content-Length: 16\n\n" + CHECK),
                             ("a control character", b"X: a\x00b\r\nContent-Length: 16\r\n\r\n" + CHECK),
                             ("an upgrade", b"Upgrade: h2c\r\nContent-Length: 16\r\n\r\n" + CHECK)):
            with self.subTest(name):
                received = self.raw(line + fields + hidden)
                self.assertEqual(len(re.findall(rb"HTTP/1.1 \d", received)), 1, received)
                self.assertEqual(received.split(b" ")[1], b"400", received)

    def test_other_nonsense(self):
        for data, status in ((b"\r\n\r\n", b"400"), (b"GET\r\n\r\n", b"400"), (b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n", b"505"),
                             (b"GET / HTTP/3.0\r\nHost: localhost\r\n\r\n", b"505"), (b"GET http://localhost/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", b"400"),
                             (b"GET * HTTP/1.1\r\nHost: localhost\r\n\r\n", b"400"), (b"GET /healthz HTTP/1.1\r\n\r\n", b"400"),
                             (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"505"), (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b"400"),
                             (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nExpect: x\r\n\r\n", b"417")):
            with self.subTest(data):
                received = self.raw(data)
                self.assertEqual(received.split(b" ")[1:2], [status], received)
        self.assertEqual(self.ask("GET", "/healthz").status, 200)

    def test_chunked_bodies_and_continue_work(self):
        token = self.token()
        received = self.raw(self.head(token=token, Transfer_Encoding="chunked", Connection="close"), b"4\r\n{\"co\r\n", b"c\r\nmmand\":\"ls\"}\r\n0\r\n\r\n")
        self.assertIn(b"200 OK", received)
        with socket.create_connection(("127.0.0.1", self.port), 60) as connection:
            connection.sendall(self.head(token=token, Content_Length=16, Expect="100-continue", Connection="close"))
            self.assertEqual(connection.recv(100), b"HTTP/1.1 100 Continue\r\n\r\n")
            connection.sendall(CHECK)
            self.assertIn(b"200 OK", self.rest(connection))
        # Who is not let in is not asked to go on.
        self.assertIn(b"401", self.raw(self.head(Content_Length=16, Expect="100-continue")).split(b"\r\n")[0])


class Limits(HttpCase):
    def test_a_head_that_is_too_large(self):
        token = self.token()
        many = {f"X-{n}": "y" * 200 for n in range(100)}
        self.assertEqual(self.ask("GET", "/healthz", fields=many).status, 431)
        received = self.raw(b"GET /" + b"x" * 20000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertEqual(received.split(b" ")[1], b"431")
        self.assertEqual(self.ask("GET", "/healthz", fields={"X": "y" * 14000}).status, 200)
        self.assertEqual(self.tool("sandbox_check", {"command": "ls"}, token).status, 200)

    def test_a_body_that_is_too_large(self):
        token = self.token()
        self.assertEqual(self.tool("sandbox_check", {"command": "echo " + "x" * 1_040_000}, token).status, 200)
        # By its announced length, before it is sent; and by what comes, when that is not announced.
        self.assertEqual(self.raw(self.head(token=token, Content_Length=(1 << 20) + 1)).split(b" ")[1], b"413")
        chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
        self.assertEqual(self.raw(self.head(token=token, Transfer_Encoding="chunked"), *[chunk] * 17).split(b" ")[1], b"413")
        self.restart(*self.options, "--max-body", "100")
        self.assertEqual(self.tool("sandbox_check", {"command": "x" * 100}, token).status, 413)

    def test_too_many_requests_a_second(self):
        self.restart(*self.options, "--rate", "5")
        token, other = self.token(), self.token()
        replies = [self.tool("sandbox_check", {"command": "ls"}, token) for _ in range(20)]
        refused = [reply for reply in replies if reply.status == 429]
        self.assertTrue(refused)
        self.assertGreaterEqual(sum(reply.status == 200 for reply in replies), 10)
        self.assertGreaterEqual(int(refused[0].fields["retry-after"]), 1)
        self.assertEqual(refused[0].error()["code"], "too_many_requests")
        self.assertEqual(self.tool("sandbox_check", {"command": "ls"}, other).status, 200, "another's limit is another's")
        # Guesses of tokens count too, all together.
        wrong = [self.tool("sandbox_check", {}, f"cordon_tok_{n:016x}_{n:064x}").status for n in range(20)]
        self.assertEqual(set(wrong), {401, 429})

    def test_too_many_calls_at_once(self):
        self.restart(*self.options, "--max-calls", "2")
        token, other = self.token(), self.token("agent", "--agent", "other")
        wait = "touch begun{}; until [ -e go ]; do sleep 0.05; done"
        threads = [threading.Thread(target=self.tool, args=("sandbox_exec", {"command": wait.format(n)}, token)) for n in range(2)]
        for thread in threads:
            thread.start()
        self.wait_for(lambda: sum(name.startswith("begun") for name in os.listdir(self.work)) == 2)
        reply = self.tool("sandbox_exec", {"command": "true"}, token)
        self.assertEqual((reply.status, reply.error()["code"], reply.fields["retry-after"]), (429, "too_many_calls", "1"))
        self.assertEqual(self.tool("sandbox_exec", {"command": "true"}, other).status, 200)
        self.write("go", "")
        for thread in threads:
            thread.join()
        self.wait_for(lambda: self.tool("sandbox_exec", {"command": "true"}, token).status == 200)

    def test_too_many_connections(self):
        self.restart(*self.options, "--max-connections", "5")
        held = [socket.create_connection(("127.0.0.1", self.port), 60) for _ in range(5)]
        for one in held:
            one.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertIn(b"200 OK", one.recv(1000))
        self.assertEqual(self.raw().split(b" ")[1], b"503")
        for one in held:
            one.close()
        def again():
            try:
                return self.ask("GET", "/healthz").status == 200
            except OSError:
                return False
        self.wait_for(again)


class Slow(HttpCase):
    options = ("--listen", "127.0.0.1:0", "--patience", "300ms")

    def test_a_head_and_a_body_that_do_not_come(self):
        token = self.token()
        for sent, status in ((b"GET /hea", b"408"), (self.head(token=token, Content_Length=16), b"408"),
                             (self.head(token=token, Content_Length=16) + b"{", b"408"), (self.head(token=token, Transfer_Encoding="chunked") + b"4\r\n", b"408")):
            self.assertEqual(self.raw(sent).split(b" ")[1], status)
        self.assertEqual(self.raw(), b"", "who says nothing is not told anything")

    def test_a_head_that_comes_byte_by_byte_is_not_waited_for(self):
        with socket.create_connection(("127.0.0.1", self.port), 60) as connection:
            try:
                for byte in b"GET /healthz HTTP/1.1\r\nX: " + b"y" * 10000:
                    connection.sendall(bytes([byte]))
                    time.sleep(0.01)
            except OSError:
                pass
            else:
                self.fail("all of it was read")
        self.assertEqual(self.ask("GET", "/healthz").status, 200)

    def test_a_run_may_take_longer_than_a_request(self):
        self.assertEqual(self.tool("sandbox_exec", {"command": "sleep 2.5; echo on"}, self.token()).json()["stdout"], "on\n")

    def test_a_client_that_does_not_read_ends_its_run(self):
        token = self.token()
        mark = f"{time.monotonic_ns()}"
        # Each of these bytes is six in JSON: more than the kernel keeps for a client.
        body = json.dumps({"command": f"head -c 1000000 /dev/zero | tr '\\0' '\\1' | tee /dev/stderr; sleep {mark}"}).encode()
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect(("127.0.0.1", self.port))
            connection.sendall(self.head("/v1/tools/sandbox_exec", token, Content_Length=len(body), Accept="text/event-stream") + body)
            outcomes = lambda: [line["status"] for line in self.records() if line["kind"] == "outcome" and mark in line["command"]]
            self.wait_for(lambda: outcomes() == ["killed"])

    def test_a_half_closed_client_has_given_up(self):
        token = self.token()
        mark = f"{time.monotonic_ns()}"
        body = json.dumps({"command": f"sleep {mark}"}).encode()
        with socket.create_connection(("127.0.0.1", self.port), 60) as connection:
            connection.sendall(self.head("/v1/tools/sandbox_exec", token, Content_Length=len(body)) + body)
            self.wait_for(lambda: self.running(mark) >= 1)
            connection.shutdown(socket.SHUT_WR)
            self.wait_for(lambda: self.running(mark) == 0)
        self.assertEqual(self.raw(self.head(token=token, Content_Length=16) + b"{", timeout=60).split(b" ")[1], b"408")

    def test_what_is_sent_ahead_is_bounded(self):
        token = self.token()
        mark = f"{time.monotonic_ns()}"
        body = json.dumps({"command": f"sleep {mark}"}).encode()
        with socket.create_connection(("127.0.0.1", self.port), 60) as connection:
            connection.sendall(self.head("/v1/tools/sandbox_exec", token, Content_Length=len(body)) + body)
            self.wait_for(lambda: self.running(mark) >= 1)
            try:
                for _ in range(1000):
                    connection.sendall(b"x" * 65536)
            except OSError:
                pass
            else:
                self.fail("64 MiB were taken")
        self.wait_for(lambda: self.running(mark) == 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
