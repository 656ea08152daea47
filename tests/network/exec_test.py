"""sandbox-exec with network rules: from SANDBOX.md and approvals to the log. Runs inside stage.py."""
import json
import os
import pty
import re
import select
import shutil
import socket
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "guard"))
from case import Case

STAGE = os.environ["STAGE"]


class NetworkCase(Case):
    def setUp(self):
        super().setUp()
        self.token = self.become_approver()
        self.seen = os.path.getsize(f"{STAGE}/log") if os.path.exists(f"{STAGE}/log") else 0
        shutil.copy(f"{STAGE}/ca.pem", self.work)

    def log(self, what=None):
        with open(f"{STAGE}/log") as file:
            file.seek(self.seen)
            return [line for line in map(json.loads, file) if what in (None, line["what"])]

    def allow(self, *rules):
        self.write("SANDBOX.md", "# Network\n" + "".join(f"- {rule}\n" for rule in rules))
        self.call("cordon", "trust", "--yes", "SANDBOX.md", expect=0, env=self.token)

    def contacts(self):
        return [line for line in self.records() if line["kind"] == "network"]


class Rules(NetworkCase):
    def test_a_trusted_rule_opens_its_host_and_every_connection_is_recorded(self):
        self.allow("a.test")
        self.write("fetch.sh", "curl -sS http://a.test/; curl -sS --cacert ca.pem https://a.test/; curl -sS http://b.test/\n")
        result = self.exec("bash fetch.sh", expect=0)
        self.assertEqual(result["stdout"].count("hello from outside\n"), 2, result)
        self.assertEqual(result["network"]["rules_to_allow"], ["b.test:80"])
        # When a connection is closed is known to the one side only: the next may be refused before.
        lines = sorted(self.contacts(), key=lambda line: (line["detail"]["host"], line["detail"]["port"]))
        self.assertEqual([(line["status"], line["detail"]["host"], line["detail"]["port"]) for line in lines],
                         [("opened", "a.test", 80), ("closed", "a.test", 80), ("opened", "a.test", 443), ("closed", "a.test", 443),
                          ("refused", "b.test", 80)])
        self.assertEqual(lines[1]["detail"]["address"], "93.184.216.1")
        self.assertGreater(lines[1]["detail"]["received_bytes"], 0)
        self.assertEqual(len({line["request"] for line in self.records() if "request" in line}), 1)
        self.assertEqual(self.verify().returncode, 0)

    def test_an_untrusted_rule_opens_nothing(self):
        self.write("SANDBOX.md", "# Network\n- a.test\n")
        self.write("fetch.sh", "curl -sS http://a.test/\n")
        self.assertNotEqual(self.exec("bash fetch.sh")["exit_code"], 0)
        self.assertEqual(self.log(), [])

    def test_a_host_that_the_command_names_is_a_grant_that_a_person_gives(self):
        waiting = self.exec("curl -sS http://a.test/", expect=75)
        self.assertEqual(waiting["grants"], [{"kind": "host", "target": "a.test"}])
        done = self.call("sandbox-queue", "approve", waiting["queue_id"], "--json", expect=0, env=self.token)
        self.assertIn("hello from outside", done.stdout)
        self.assertEqual([line["detail"]["host"] for line in self.contacts()], ["a.test", "a.test"])

    def test_a_command_whose_host_is_allowed_does_not_ask(self):
        self.allow("a.test:8080")
        self.assertEqual(self.exec("curl -sS http://a.test:8080/", expect=0)["stdout"], "hello from outside\n")
        self.assertEqual(self.exec("curl -sS http://a.test/", expect=75)["queued"], True)

    def test_a_preview_that_nobody_approved_reaches_nobody(self):
        self.allow("a.test")
        self.write("fetch.sh", "curl -sS http://a.test/\n")
        self.exec("bash fetch.sh", "--dry-run", "--require-approval")
        self.assertEqual(self.log(), [], "what it read could have left before anybody said yes")
        self.exec("bash fetch.sh", "--dry-run", expect=0)
        self.assertNotEqual(self.log(), [], "the settings name the host, and nobody has to be asked")

    def test_changed_rules_count_for_the_next_connection(self):
        self.allow("a.test")
        os.mkfifo(os.path.join(self.work, "go"))
        self.write("fetch.sh", "curl -sS http://a.test/; curl -sS http://b.test/; echo now; read x < go; "
                               "curl -sS http://a.test/; curl -sS http://b.test/\n")
        run = subprocess.Popen(["sandbox-exec", "bash fetch.sh"], cwd=self.work, env={**os.environ, **self.environment},
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        first = ""
        while "now" not in first:
            first += run.stdout.readline()
        self.allow("b.test")
        with open(os.path.join(self.work, "go"), "w") as go:
            go.write("\n")
        rest = run.stdout.read()
        run.wait(60)
        run.stdout.close()
        self.assertIn("hello from outside\ncordon: b.test:80", first)
        self.assertIn("cordon: a.test:80", rest)
        self.assertTrue(rest.endswith("hello from outside\n"), rest)

    def test_a_workspace_tightens_the_limits_and_loosens_them_only_once_trusted(self):
        self.allow("a.test")
        self.write("fetch.sh", "curl -sS -o /dev/null http://a.test/bytes/3000000\n")
        self.exec("bash fetch.sh", expect=0)
        with open(os.path.join(self.work, ".cordon/config.json5"), "w") as file:
            file.write("{agents: {defaults: {sandbox: {network: {limits: {bytes: 1000000}}}}}}")
        result = self.exec("bash fetch.sh")
        self.assertNotEqual(result["exit_code"], 0)
        self.assertIn("are spent", json.dumps(result["network"]["contacts"]))
        with open(os.path.join(self.home, ".config/cordon/config.json5"), "w") as file:
            file.write("{agents: {defaults: {sandbox: {network: {limits: {bytes: 1000000}}}}}}")
        with open(os.path.join(self.work, ".cordon/config.json5"), "w") as file:
            file.write("{agents: {defaults: {sandbox: {network: {limits: {bytes: 100000000}}}}}}")
        self.assertNotEqual(self.exec("bash fetch.sh")["exit_code"], 0)
        self.call("cordon", "trust", "--yes", expect=0, env=self.token)
        self.exec("bash fetch.sh", expect=0)

    def test_without_rules_there_is_no_network_at_all(self):
        self.write("look.sh", "env | grep -ci proxy; curl -sS http://93.184.216.1/\n")
        result = self.exec("bash look.sh", expect=7)
        self.assertEqual(result["stdout"], "0\n")
        self.assertNotIn("network", result)

    def test_the_clean_room_has_none(self):
        self.allow("a.test")
        self.write("fetch.sh", "curl -sS http://a.test/\n")
        self.assertEqual(self.call("mass", "bash fetch.sh").returncode, 6)


class Learning(NetworkCase):
    def test_without_a_terminal_refused_hosts_are_listed_as_rules(self):
        self.write("fetch.sh", "curl -sS http://a.test/; curl -sS https://b.test/\n")
        done = self.call("sandbox-exec", "--learn-network", "bash fetch.sh")
        self.assertIn("- a.test:80\n- b.test:443\n", done.stderr)
        self.assertEqual(self.log(), [])

    def person(self, *command, answers):
        """Types the answers as the questions come; returns what was shown."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.work)
            os.execvpe(command[0], command, {**os.environ, **self.environment})
        shown, asked = "", 0
        while True:
            try:
                part = os.read(terminal, 65536)
            except OSError:
                break
            if not part:
                break
            shown += part.decode(errors="replace")
            while shown.count("for this run? [y/N]") > asked:
                os.write(terminal, answers[asked].encode() + b"\n")
                asked += 1
        os.close(terminal)
        os.waitpid(pid, 0)
        return shown

    def test_a_person_is_asked_about_each_host(self):
        os.remove(os.path.join(self.state, "approver.json")) if os.path.exists(os.path.join(self.state, "approver.json")) else None
        shutil.rmtree(self.state)
        self.write("fetch.sh", "curl -sS http://a.test/; curl -sS http://b.test/; curl -sS http://a.test/\n")
        shown = self.person("sandbox-exec", "--learn-network", "bash fetch.sh", answers=["y", "n"])
        self.assertEqual(shown.count("hello from outside"), 2, shown)
        self.assertIn("b.test:80 refused", shown)
        self.assertEqual({line["host"] for line in self.log("http")}, {"a.test"})


class Publishing(NetworkCase):
    def test_a_server_inside_is_reached_on_the_hosts_loopback(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.write("server.py", "import http.server, sys\n"
                                "s = http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), http.server.SimpleHTTPRequestHandler)\n"
                                "print('up', flush=True)\ns.serve_forever()\n")
        run = subprocess.Popen(["sandbox-exec", "--publish", str(port), f"python3 -u server.py {port}"], cwd=self.work,
                               env={**os.environ, **self.environment}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        self.assertEqual(run.stdout.readline(), "up\n")
        bodies = []
        threads = [threading.Thread(target=lambda: bodies.append(self.fetch(port))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len([body for body in bodies if "server.py" in body]), 8)
        run.terminate()
        run.communicate(timeout=60)
        self.assertRaises(ConnectionRefusedError, socket.create_connection, ("127.0.0.1", port), 5)

    @staticmethod
    def fetch(port):
        with socket.create_connection(("127.0.0.1", port), 30) as sock:
            sock.sendall(b"GET / HTTP/1.0\r\n\r\n")
            data = b""
            while part := sock.recv(65536):
                data += part
            return data.decode()

    def test_a_port_that_is_taken_is_said_before_anything_runs(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            result = self.exec("echo ran", "--publish", str(port), expect=125)
            self.assertIn("cannot be used", result["error"])


if __name__ == "__main__":
    unittest.main(verbosity=1)
