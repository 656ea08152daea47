"""The Model Context Protocol over streamable HTTP, in both eras, spoken by hand."""
import json
import os
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from http_case import HttpCase, Stream  # noqa: E402

MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"


class McpCase(HttpCase):
    def body(self, method, params=None, number=1, meta=None):
        """A request of 2026-07-28 and the fields that go with it."""
        params = {**(params or {}), "_meta": {META + "protocolVersion": MODERN, META + "clientCapabilities": {}, META + "clientInfo": {"name": "t", "version": "1"}, **(meta or {})}}
        fields = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method, "Accept": "application/json, text/event-stream"}
        if method == "tools/call":
            fields["Mcp-Name"] = params["name"]
        return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}, fields

    def modern(self, token, method, params=None, **keywords):
        body, fields = self.body(method, params, **keywords)
        return self.ask("POST", "/mcp", body, token, fields)

    def post(self, token, message, session=None, accept="application/json, text/event-stream"):
        return self.ask("POST", "/mcp", message, token, {"Accept": accept, **({"Mcp-Session-Id": session} if session else {})})

    def begin(self, token, version="2025-11-25", capabilities=None):
        reply = self.post(token, {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": version, "capabilities": capabilities or {}, "clientInfo": {"name": "t", "version": "1"}}})
        self.assertEqual(reply.json()["result"]["protocolVersion"], version, reply.body)
        session = reply.fields["mcp-session-id"]
        self.assertEqual(self.post(token, {"jsonrpc": "2.0", "method": "notifications/initialized"}, session).status, 202)
        return session


class Modern(McpCase):
    def test_discover_list_call(self):
        token = self.token()
        found = self.modern(token, "server/discover").json()["result"]
        self.assertEqual((found["supportedVersions"], found["resultType"]), ([MODERN], "complete"))
        tools = [one["name"] for one in self.modern(token, "tools/list").json()["result"]["tools"]]
        self.assertIn("sandbox_exec", tools)
        self.assertNotIn("sandbox_queue_approve", tools)
        done = self.modern(token, "tools/call", {"name": "sandbox_exec", "arguments": {"command": "echo hi"}})
        self.assertEqual((done.status, done.fields["content-type"]), (200, "application/json"))
        self.assertEqual(done.json()["result"]["structuredContent"]["stdout"], "hi\n")
        waits = self.modern(token, "tools/call", {"name": "sandbox_exec", "arguments": {"command": "rm -rf build"}}).json()["result"]
        self.assertIn("sandbox-queue approve cmd_", waits["content"][0]["text"])

    def test_fields_must_say_what_the_body_says(self):
        token = self.token()
        body, fields = self.body("tools/call", {"name": "sandbox_check", "arguments": {"command": "ls"}})
        self.assertEqual(self.ask("POST", "/mcp", body, token, fields).status, 200)
        for name, value in (("MCP-Protocol-Version", "2025-11-25"), ("Mcp-Method", "tools/list"), ("Mcp-Name", "sandbox_exec"),
                            ("MCP-Protocol-Version", None), ("Mcp-Method", None), ("Mcp-Name", None)):
            with self.subTest(f"{name}: {value}"):
                wrong = {key: one for key, one in {**fields, name: value}.items() if one is not None}
                reply = self.ask("POST", "/mcp", body, token, wrong)
                self.assertEqual((reply.status, reply.json()["error"]["code"]), (400, -32020))

    def test_errors_have_their_status(self):
        token = self.token()
        unknown = self.modern(token, "tools/nothing")
        self.assertEqual((unknown.status, unknown.json()["error"]["code"]), (404, -32601))
        body, fields = self.body("tools/list")
        body["params"]["_meta"][META + "protocolVersion"] = fields["MCP-Protocol-Version"] = "2030-01-01"
        version = self.ask("POST", "/mcp", body, token, fields)
        self.assertEqual((version.status, version.json()["error"]["code"]), (400, -32022))
        self.assertEqual(version.json()["error"]["data"]["supported"], [MODERN])
        for text, code in (("{", -32700), ("[]", -32600), ("{}", -32600), ("[" * 100, -32700), ('{"jsonrpc":"2.0","id":{},"method":"x"}', -32600)):
            reply = self.ask("POST", "/mcp", text.encode(), token)
            self.assertEqual((reply.status, reply.json()["error"]["code"]), (400, code), text)
        self.assertEqual(self.ask("GET", "/mcp", token=token).status, 405)

    def test_progress_makes_a_stream_and_closing_it_ends_the_call(self):
        token = self.token()
        mark = f"{time.monotonic_ns()}"
        body, fields = self.body("tools/call", {"name": "sandbox_exec", "arguments": {"command": f"sleep {mark}"}}, meta={"progressToken": "p"})
        stream = Stream(self, "POST", "/mcp", body, token, fields)
        self.assertEqual(stream.fields["content-type"], "text/event-stream")
        event, data, _ = stream.next()
        self.assertEqual(json.loads(data)["method"], "notifications/progress")
        self.wait_for(lambda: self.running(mark) >= 1)
        stream.close()
        self.wait_for(lambda: self.running(mark) == 0)
        body, fields = self.body("tools/call", {"name": "sandbox_exec", "arguments": {"command": "echo end"}}, number="n", meta={"progressToken": 1})
        messages = [json.loads(data) for _, data, _ in Stream(self, "POST", "/mcp", body, token, fields).rest()]
        self.assertEqual((messages[-1]["id"], messages[-1]["result"]["structuredContent"]["stdout"]), ("n", "end\n"))
        # Who takes no stream gets the answer alone.
        fields["Accept"] = "application/json"
        self.assertEqual(self.ask("POST", "/mcp", body, token, fields).json()["id"], "n")

    def test_a_subscription_is_acknowledged_and_stays_open(self):
        token = self.token()
        body, fields = self.body("subscriptions/listen", {"notifications": {}})
        stream = Stream(self, "POST", "/mcp", body, token, fields)
        self.assertIn("acknowledged", stream.next()[1])
        auditor = self.token("auditor")
        self.assertIn("cordon_event_listeners 1", self.ask("GET", "/metrics", token=auditor).body)
        self.stop_daemon()
        self.assertEqual(stream.rest(), [])

    def test_an_approval_through_a_form_is_bound_to_the_call_and_the_token(self):
        os.makedirs(os.path.join(self.home, ".config/cordon"), exist_ok=True)
        with open(os.path.join(self.home, ".config/cordon/config.json5"), "w") as file:
            file.write("{policy: {approverSurfaces: ['desk']}}")
        os.mkdir(os.path.join(self.work, "build"))
        token, other = self.token("agent", "--agent", "desk"), self.token("agent", "--agent", "desk", "--session", "other")
        params = {"name": "sandbox_exec", "arguments": {"command": "rm -rf build"}}
        able = {META + "clientCapabilities": {"elicitation": {"form": {}}}}
        asked = self.modern(token, "tools/call", params, meta=able).json()["result"]
        self.assertEqual(asked["resultType"], "input_required")
        yes = {**params, "requestState": asked["requestState"], "inputResponses": {"approval": {"action": "accept", "content": {"approve": True}}}}
        stolen = self.modern(other, "tools/call", yes, meta=able)
        self.assertEqual((stolen.status, stolen.json()["error"]["code"]), (400, -32602))
        self.assertTrue(self.exists("build"))
        self.assertFalse(self.modern(token, "tools/call", yes, meta=able).json()["result"]["isError"])
        self.assertFalse(self.exists("build"))
        self.assertEqual(self.modern(token, "tools/call", yes, meta=able).json()["error"]["code"], -32602)


class Legacy(McpCase):
    def use(self, token, session, name, arguments, number=1, **more):
        return self.post(token, {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments, **more}}, session)

    def test_a_session_of_each_version(self):
        token = self.token()
        for version in ("2025-11-25", "2025-06-18", "2025-03-26"):
            session = self.begin(token, version)
            self.assertEqual(self.use(token, session, "sandbox_exec", {"command": "echo hi"}).json()["result"]["structuredContent"]["stdout"], "hi\n")
            self.assertEqual(self.post(token, {"jsonrpc": "2.0", "id": 3, "method": "ping"}, session).json()["result"], {})
            unknown = self.post(token, {"jsonrpc": "2.0", "id": 4, "method": "nothing"}, session)
            self.assertEqual((unknown.status, unknown.json()["error"]["code"]), (200, -32601))
            self.assertEqual(self.ask("DELETE", "/mcp", token=token, fields={"Mcp-Session-Id": session}).status, 204)
            self.assertEqual(self.use(token, session, "sandbox_check", {"command": "ls"}).status, 404)

    def test_a_session_is_its_tokens_alone(self):
        token, other = self.token(), self.token()
        session = self.begin(token)
        self.assertEqual(self.use(other, session, "sandbox_check", {"command": "ls"}).status, 404)
        self.assertEqual(self.ask("DELETE", "/mcp", token=other, fields={"Mcp-Session-Id": session}).status, 404)
        self.assertEqual(self.use(token, session, "sandbox_check", {"command": "ls"}).status, 200)
        self.assertEqual(self.use(token, None, "sandbox_check", {"command": "ls"}).status, 400)

    def test_cancelling_kills_the_run(self):
        token = self.token()
        session = self.begin(token)
        mark = f"{time.monotonic_ns()}"

        def ask():
            try:
                self.use(token, session, "sandbox_exec", {"command": f"sleep {mark}"}, number=7)
            except OSError:
                pass  # who cancelled gets no answer

        asking = threading.Thread(target=ask)
        asking.start()
        self.wait_for(lambda: self.running(mark) >= 1)
        other = self.begin(token)
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
        self.assertEqual(self.post(token, cancel, other).status, 202)
        self.assertGreaterEqual(self.running(mark), 1, "another session's call was cancelled")
        self.assertEqual(self.post(token, cancel, session).status, 202)
        asking.join()
        self.wait_for(lambda: self.running(mark) == 0)

    def test_a_question_goes_out_on_the_stream_and_its_answer_comes_back_by_post(self):
        os.makedirs(os.path.join(self.home, ".config/cordon"), exist_ok=True)
        with open(os.path.join(self.home, ".config/cordon/config.json5"), "w") as file:
            file.write("{policy: {approverSurfaces: ['desk']}}")
        os.mkdir(os.path.join(self.work, "build"))
        token = self.token("agent", "--agent", "desk")
        session = self.begin(token, capabilities={"elicitation": {}})
        body = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "sandbox_exec", "arguments": {"command": "rm -rf build"}}}
        stream = Stream(self, "POST", "/mcp", body, token, {"Accept": "application/json, text/event-stream", "Mcp-Session-Id": session})
        question = json.loads(stream.next()[1])
        self.assertEqual(question["method"], "elicitation/create")
        answer = {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"approve": True}}}
        # From another session it is nobody's answer.
        self.assertEqual(self.post(token, answer, self.begin(token)).status, 202)
        self.assertTrue(self.exists("build"))
        self.assertEqual(self.post(token, answer, session).status, 202)
        self.assertTrue(json.loads(stream.next()[1])["result"]["structuredContent"]["success"])
        self.assertFalse(self.exists("build"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
