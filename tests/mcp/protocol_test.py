"""The protocol itself: eras, errors, bounds, and how a person is asked from within a call."""
import json
import os
import sys
import time
import unittest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "../guard")]
from client import META, MODERN
from session_test import RUNNING, McpCase

PAGE = {"elicitation": {"form": {}, "url": {}}}


class Eras(McpCase):
    def test_a_modern_result_says_its_type_who_answers_and_how_long_it_lasts(self):
        client = self.connect()
        listed = client.request("tools/list")["result"]
        self.assertEqual((listed["resultType"], listed["cacheScope"]), ("complete", "private"))
        self.assertGreater(listed["ttlMs"], 0)
        self.assertEqual(listed["_meta"][META + "serverInfo"]["name"], "cordon")
        for tool in listed["tools"]:
            self.assertEqual(tool["inputSchema"]["type"], "object")
            self.assertIn("outputSchema", tool)
            self.assertEqual(tool["annotations"]["readOnlyHint"], tool["name"] not in RUNNING)

    def test_discovery_needs_no_envelope(self):
        client = self.connect()
        client.send({"jsonrpc": "2.0", "id": "probe", "method": "server/discover"})
        self.assertEqual(client.next()["result"]["supportedVersions"], [MODERN])

    def test_other_versions_are_told_what_is_spoken(self):
        client = self.connect()
        client.send({"jsonrpc": "2.0", "id": 1, "method": "tools/list",
                     "params": {"_meta": {META + "protocolVersion": "1999-01-01", META + "clientCapabilities": {}}}})
        error = client.next()["error"]
        self.assertEqual((error["code"], error["data"]), (-32022, {"supported": [MODERN], "requested": "1999-01-01"}))
        client.send({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"_meta": {META + "protocolVersion": MODERN}}})
        error = client.next()["error"]
        self.assertEqual(error["code"], -32602)
        self.assertIn("clientCapabilities", error["message"])

    def test_before_either_era_nothing_is_listed(self):
        client = self.connect()
        client.send({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        self.assertEqual(client.next()["error"]["code"], -32602)

    def test_what_the_modern_era_removed_is_unknown_in_it(self):
        client = self.connect()
        for method in ("initialize", "ping", "logging/setLevel", "resources/list", "prompts/list", "no/such"):
            self.assertEqual(client.request(method)["error"]["code"], -32601, method)

    def test_the_older_era_pings_and_falls_back_to_a_version_it_knows(self):
        client = self.connect(era="2030-01-01")
        self.assertEqual(client.hello["result"]["protocolVersion"], "2025-11-25")
        self.assertEqual(client.request("ping")["result"], {})
        self.assertNotIn("resultType", client.request("tools/list")["result"])

    def test_batches_are_for_the_one_version_that_had_them(self):
        client = self.connect(era="2025-03-26")
        client.send([{"jsonrpc": "2.0", "id": "a", "method": "ping"}, {"jsonrpc": "2.0", "id": "b", "method": "ping"}])
        self.assertEqual({client.next()["id"], client.next()["id"]}, {"a", "b"})
        client = self.connect(era="2025-11-25")
        client.send([{"jsonrpc": "2.0", "id": "a", "method": "ping"}])
        self.assertEqual(client.next()["error"]["code"], -32600)

    def test_a_subscription_is_acknowledged_and_can_be_cancelled(self):
        client = self.connect()
        held = client.start("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        said = client.next()
        self.assertEqual(said["method"], "notifications/subscriptions/acknowledged")
        self.assertEqual(said["params"], {"_meta": {META + "subscriptionId": held}, "notifications": {}})
        client.notify("notifications/cancelled", {"requestId": held})
        self.assertIn("sandbox_exec", client.tools())


class Bounds(McpCase):
    def test_what_is_no_message_is_answered_and_the_next_one_is_read(self):
        client = self.connect()
        for data, code in ((b"{", -32700), (b"\xff\xfe", -32700), (b"[]", -32600), (b"5", -32600), (b'{"jsonrpc":"1.0","id":1,"method":"x"}', -32600),
                           (b'{"jsonrpc":"2.0","id":{},"method":"x"}', -32600), (b'{"jsonrpc":"2.0","id":1.5,"method":"x"}', -32600),
                           (b'{"jsonrpc":"2.0","id":1,"method":5}', -32600), (b'{"jsonrpc":"2.0","id":1,"method":"x","params":[]}', -32600),
                           (b"[" * 100000, -32700), (b'{"a":' * 70 + b"1" + b"}" * 70, -32700)):
            client.send_bytes(data + b"\n")
            self.assertEqual(client.next()["error"]["code"], code, data[:60])
        self.assertIn("sandbox_exec", client.tools())

    def test_ten_megabytes_in_a_line_are_passed_over(self):
        client = self.connect()
        client.send_bytes(b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * (10 << 20) + b'"}\n')
        self.assertIn("bytes", client.next()["error"]["message"])
        self.assertIn("sandbox_exec", client.tools())

    def test_no_more_calls_at_once_than_the_bound(self):
        client = self.connect()
        wait = {"name": "sandbox_exec", "arguments": {"command": "until [ -e go ]; do sleep 0.2; done", "dry_run": False}}
        held = [client.start("tools/call", wait) for _ in range(33)]
        first = client.next()
        self.assertEqual((first["id"], first["error"]["code"]), (held[-1], -32000))
        self.write("go", "")
        for one in held[:-1]:
            self.assertTrue(client.finish(one)["result"]["structuredContent"]["success"])
            # Answers come in any order; those that came meanwhile are looked at again.
            for message in client.others:
                client.lines.put(message)
            client.others.clear()

    def test_an_id_in_use_is_not_taken_twice(self):
        client = self.connect()
        held = client.start("tools/call", {"name": "sandbox_exec", "arguments": {"command": "until [ -e go ]; do sleep 0.1; done"}})
        client.last_id -= 1
        client.start("tools/call", {"name": "sandbox_exec", "arguments": {"command": "ls"}})
        self.assertEqual(client.next()["error"]["code"], -32600)
        self.write("go", "")
        self.assertIn("result", client.finish(held))

    def test_a_change_of_the_settings_counts_from_the_next_call_on(self):
        path = os.path.join(self.home, ".config/cordon/config.json5")
        client = self.connect()

        def action():
            return client.call("sandbox_check", {"command": "ls"})["structuredContent"]["suggested_action"]

        for level, expected in (("ask", "execute"), ("deny", "block"), ("ask", "execute")):
            self.settings(f"{{policy: {{level: '{level}'}}}}")
            self.assertEqual(action(), expected)
            # Then it is old enough to be kept.
            while time.time() - os.stat(path).st_ctime < 2.1:
                time.sleep(0.05)
            self.assertEqual([action(), action()], [expected, expected])

    def test_bytes_of_a_command_that_are_no_text_do_not_break_the_stream(self):
        client = self.connect()
        done = client.call("sandbox_exec", {"command": r"printf 'a\377\000b\n'"})
        self.assertIn("a", done["structuredContent"]["stdout"])


class Asking(McpCase):
    def setUp(self):
        super().setUp()
        self.token = self.become_approver()
        os.mkdir(os.path.join(self.work, "build"))
        self.arguments = {"command": "rm -rf build"}

    def approve(self, entry):
        self.call("sandbox-queue", "approve", entry, env=self.token, expect=0)

    def test_a_page_is_shown_where_the_settings_name_one_and_the_answer_comes_from_there(self):
        self.settings("{policy: {approvalPage: 'http://127.0.0.1:7411/approve'}}")
        client = self.connect(capabilities=PAGE)
        first = client.call("sandbox_exec", self.arguments)
        self.assertEqual(first["resultType"], "input_required")
        question = first["inputRequests"]["approval"]
        self.assertEqual((question["method"], question["params"]["mode"]), ("elicitation/create", "url"))
        entry = question["params"]["url"].removeprefix("http://127.0.0.1:7411/approve/")
        self.assertRegex(entry, "^cmd_[a-z0-9]{10,}$")
        held = client.start("tools/call", {"name": "sandbox_exec", "arguments": self.arguments, "requestState": first["requestState"],
                                           "inputResponses": {"approval": {"action": "accept"}}}, {"progressToken": 7})
        self.assertIn(entry, client.next()["params"]["message"])
        self.assertTrue(self.exists("build"), "an accept in the client is no approval")
        self.approve(entry)
        self.assertTrue(client.finish(held)["result"]["structuredContent"]["success"])
        self.assertFalse(self.exists("build"))

    def test_a_page_in_the_older_era_is_a_request_to_the_client(self):
        self.settings("{policy: {approvalPage: 'http://127.0.0.1:7411/approve'}}")
        client = self.connect(era="2025-11-25", capabilities=PAGE)
        held = client.start("tools/call", {"name": "sandbox_exec", "arguments": self.arguments})
        question = client.next()
        self.assertEqual((question["method"], question["params"]["mode"]), ("elicitation/create", "url"))
        entry = question["params"]["elicitationId"]
        client.send({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept"}})
        self.approve(entry)
        self.assertTrue(client.finish(held)["result"]["structuredContent"]["success"])

    def test_a_form_is_shown_only_to_a_client_that_the_settings_name(self):
        for named, era in ((False, MODERN), (False, "2025-11-25")):
            client = self.connect("--agent", "desk", era=era, capabilities={"elicitation": {}})
            self.assertTrue(client.call("sandbox_exec", self.arguments)["structuredContent"]["queued"], (named, era))
        self.settings("{policy: {approverSurfaces: ['desk']}}")
        other = self.connect("--agent", "other", capabilities={"elicitation": {}})
        self.assertTrue(other.call("sandbox_exec", self.arguments)["structuredContent"]["queued"])
        client = self.connect("--agent", "desk", capabilities={"elicitation": {}})
        first = client.call("sandbox_exec", self.arguments)
        self.assertIn("rm -rf build", first["inputRequests"]["approval"]["params"]["message"])
        done = client.call("sandbox_exec", self.arguments, requestState=first["requestState"],
                           inputResponses={"approval": {"action": "accept", "content": {"approve": True}}})
        self.assertTrue(done["structuredContent"]["success"], done)
        self.assertFalse(self.exists("build"))
        votes = [line["detail"]["presence"] for line in self.records() if line["kind"] == "approval.decided"]
        self.assertEqual(votes, ["surface"])

    def test_a_workspace_cannot_name_its_own_approver(self):
        self.write(".cordon/config.json5", "{policy: {approverSurfaces: ['main']}}")
        done = self.call("cordon", "config", "check")
        client = self.connect(capabilities={"elicitation": {}})
        answer = client.call("sandbox_exec", self.arguments)
        self.assertNotIn("inputRequests", answer, done.stdout + done.stderr)

    def test_a_form_in_the_older_era(self):
        self.settings("{policy: {approverSurfaces: ['desk']}}")
        for reply, ran in (({"action": "decline"}, False), ({"action": "accept", "content": {"approve": False}}, False),
                           ({"action": "cancel"}, False), ({"action": "accept", "content": {"approve": True}}, True)):
            client = self.connect("--agent", "desk", era="2025-06-18", capabilities={"elicitation": {}})
            held = client.start("tools/call", {"name": "sandbox_exec", "arguments": self.arguments})
            question = client.next()
            self.assertNotIn("mode", question["params"])
            client.send({"jsonrpc": "2.0", "id": question["id"], "result": reply})
            answer = client.finish(held)["result"]
            self.assertEqual(answer["structuredContent"]["success"], ran, (reply, answer))
            self.assertEqual(self.exists("build"), not ran)

    def refused(self, client, arguments, state, replies):
        """The error that such a second round is."""
        return client.finish(client.start("tools/call", {"name": "sandbox_exec", "arguments": arguments, "requestState": state,
                                                         "inputResponses": replies}))["error"]

    def test_a_request_state_is_for_one_call_of_one_principal_once(self):
        self.settings("{policy: {approverSurfaces: ['desk', 'other']}}")
        ask = {"elicitation": {}}
        yes = {"approval": {"action": "accept", "content": {"approve": True}}}
        client = self.connect("--agent", "desk", capabilities=ask)
        state = client.call("sandbox_exec", self.arguments)["requestState"]
        other = self.connect("--agent", "other", capabilities=ask)
        for who, arguments, forged in ((other, self.arguments, state), (client, {"command": "rm -rf other"}, state),
                                       (client, self.arguments, state[:-1] + ("0" if state[-1] != "0" else "1")),
                                       (client, self.arguments, "A" + state[1:]), (client, self.arguments, ""), (client, self.arguments, "." * 5000)):
            answer = self.refused(who, arguments, forged, yes)
            self.assertEqual(answer["code"], -32602, answer)
            self.assertIn("requestState", answer["message"])
        self.assertTrue(self.exists("build"))
        self.assertTrue(client.call("sandbox_exec", self.arguments, requestState=state, inputResponses=yes)["structuredContent"]["success"])
        self.assertIn("used already", self.refused(client, self.arguments, state, yes)["message"])


if __name__ == "__main__":
    unittest.main(verbosity=1)
