"""A whole agent's session over stdio, in both eras; and what an agent cannot do."""
import json
import os
import subprocess
import sys
import time
import unittest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "../guard")]
from case import Case
from client import META, MODERN, Client

ERAS = (MODERN, "2025-11-25", "2024-11-05")
AGENT_TOOLS = ["sandbox_check", "sandbox_exec", "sandbox_queue_list", "sandbox_audit_log", "sandbox_audit_stats",
               "sandbox_allowlist_test", "sandbox_run", "sandbox_explain", "sandbox_preview_list", "sandbox_preview_show",
               "sandbox_preview_commit", "sandbox_preview_discard"]
RUNNING = ("sandbox_exec", "sandbox_run", "sandbox_preview_commit", "sandbox_preview_discard")
APPROVER_TOOLS = ["sandbox_queue_approve", "sandbox_queue_reject", "sandbox_allowlist_add", "sandbox_allowlist_remove"]


class McpCase(Case):
    def setUp(self):
        super().setUp()
        self.clients = []

    def tearDown(self):
        for client in self.clients:
            if client.process.poll() is None:
                client.process.kill()
                client.process.wait()
            for pipe in (client.process.stdin, client.process.stdout, client.process.stderr):
                pipe.close()
        super().tearDown()

    def connect(self, *options, era=MODERN, env=None, capabilities=None):
        client = Client(["cordon", "mcp", *options], self.work, {**self.environment, **(env or {})}, era, capabilities)
        self.clients.append(client)
        return client

    def settings(self, text):
        path = os.path.join(self.home, ".config/cordon/config.json5")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    def wait_for(self, condition):
        until = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), until, "it did not happen")
            time.sleep(0.02)


class Session(McpCase):
    def test_discover_check_run_wait_approve_result(self):
        approver = self.become_approver()
        for era in ERAS:
            with self.subTest(era):
                os.makedirs(os.path.join(self.work, "build/deep"))
                client = self.connect("--agent", "coder", era=era)
                if era == MODERN:
                    found = client.request("server/discover")["result"]
                    self.assertEqual(found["supportedVersions"], [MODERN])
                    self.assertEqual(found["resultType"], "complete")
                else:
                    self.assertEqual(client.hello["result"]["protocolVersion"], era)
                self.assertEqual(client.tools(), AGENT_TOOLS)
                check = client.call("sandbox_check", {"command": "rm -rf build"})
                self.assertEqual(check["structuredContent"]["suggested_action"], "queue_for_approval")
                safe = client.call("sandbox_exec", {"command": "echo hello; echo woe >&2; exit 3"})
                self.assertFalse(safe["isError"])
                self.assertEqual([safe["structuredContent"][key] for key in ("stdout", "stderr", "exit_code")],
                                 ["hello\n", "woe\n", 3])
                self.assertEqual(json.loads(safe["content"][-1]["text"]), safe["structuredContent"])

                waiting = client.call("sandbox_exec", {"command": "rm -rf build"})
                self.assertTrue(waiting["isError"])
                entry = waiting["structuredContent"]["queue_id"]
                self.assertIn(f"sandbox-queue approve {entry}", waiting["content"][0]["text"])
                self.assertTrue(self.exists("build/deep"))
                self.assertEqual([one["id"] for one in client.call("sandbox_queue_list")["structuredContent"]["entries"]], [entry])

                # It stays for the answer; a person gives it on the command line; then it runs, once.
                held = client.start("tools/call", {"name": "sandbox_exec", "arguments": {"command": "rm -rf build", "wait": 60000}},
                                    {"progressToken": "p1"})
                progress = client.next()
                self.assertEqual((progress["method"], progress["params"]["progressToken"]), ("notifications/progress", "p1"))
                self.assertIn(entry, progress["params"]["message"])
                said = self.call("sandbox-queue", "approve", entry, "--json", env=approver, expect=0)
                self.assertEqual(json.loads(said.stdout)["redeemer"], "asker_waits")
                done = client.finish(held)["result"]
                self.assertTrue(done["structuredContent"]["success"], done)
                self.assertFalse(self.exists("build"))
                self.assertEqual(client.close(), 0)

    def test_a_retry_runs_what_was_approved_meanwhile(self):
        approver = self.become_approver()
        os.mkdir(os.path.join(self.work, "build"))
        client = self.connect()
        entry = client.call("sandbox_exec", {"command": "rm -rf build"})["structuredContent"]["queue_id"]
        self.call("sandbox-queue", "approve", entry, env=approver, expect=0)
        self.assertTrue(self.exists("build"), "the approving process runs it, though the asker is to")
        self.assertTrue(client.call("sandbox_exec", {"command": "rm -rf build"})["structuredContent"]["success"])
        again = client.call("sandbox_exec", {"command": "rm -rf build"})["structuredContent"]
        self.assertTrue(again["queued"])
        self.assertNotEqual(again["queue_id"], entry)

    def test_a_kept_preview_is_looked_at_and_committed_by_its_own_agent_only(self):
        self.write("f", "old\n")
        client = self.connect("--agent", "coder")
        kept = client.call("sandbox_exec", {"command": "echo new > f", "dry_run": True, "keep": True})["structuredContent"]["preview"]
        other = self.connect("--agent", "stranger")
        self.assertEqual(other.call("sandbox_preview_list")["structuredContent"]["count"], 0)
        for tool in ("sandbox_preview_show", "sandbox_preview_commit", "sandbox_preview_discard"):
            self.assertTrue(other.call(tool, {"id": kept})["isError"], tool)
        self.assertEqual([p["id"] for p in client.call("sandbox_preview_list")["structuredContent"]["entries"]], [kept])
        shown = client.call("sandbox_preview_show", {"id": kept})["structuredContent"]
        self.assertEqual((shown["changes"][0]["diff"], shown["conflicts"]), ("@@ -1 +1 @@\n-old\n+new\n", []))
        self.assertEqual(self.read("f"), "old\n")
        done = client.call("sandbox_preview_commit", {"id": kept})
        self.assertTrue(done["structuredContent"]["committed"], done)
        self.assertEqual(self.read("f"), "new\n")

    def test_what_waits_is_not_shown_by_the_preview_tools(self):
        os.mkdir(os.path.join(self.work, "build"))
        client = self.connect("--agent", "coder")
        client.call("sandbox_exec", {"command": "rm -rf build; echo hunter2", "dry_run": True, "keep": True})
        listed = client.call("sandbox_preview_list")
        [kept] = listed["structuredContent"]["entries"]
        self.assertNotIn("hunter2\n", json.dumps(listed))
        self.assertNotIn("counts", kept)
        for tool in ("sandbox_preview_show", "sandbox_preview_discard"):
            self.assertTrue(client.call(tool, {"id": kept["id"]})["isError"], tool)
        waits = client.call("sandbox_preview_commit", {"id": kept["id"]})["structuredContent"]
        self.assertTrue(waits["queued"] and not waits["committed"], waits)
        self.assertTrue(self.exists("build"))

    def test_a_rejection_tells_the_model_why(self):
        self.become_approver()
        client = self.connect()
        held = client.start("tools/call", {"name": "sandbox_exec", "arguments": {"command": "rm -rf build", "wait": 60000}})
        waiting = lambda: json.loads(self.call("sandbox-queue", "list", "--json", expect=0).stdout)
        self.wait_for(waiting)
        self.call("sandbox-queue", "reject", waiting()[0]["id"], "--reason", "keep it", expect=0)
        answer = client.finish(held)["result"]
        self.assertTrue(answer["isError"])
        self.assertIn("keep it", answer["content"][0]["text"])

    def test_cancelling_kills_the_whole_tree_and_is_not_answered(self):
        for era in ERAS[:2]:
            with self.subTest(era):
                client = self.connect(era=era)
                mark = f"{time.monotonic_ns()}"
                script = f"(while :; do date > beat; sleep 0.05; done) & (setsid sleep {mark} &) ; sleep {mark}"
                self.write("loop.sh", script)
                held = client.start("tools/call", {"name": "sandbox_exec", "arguments": {"command": "bash loop.sh"}})
                self.wait_for(lambda: self.exists("beat") and self.running(mark) >= 2)
                client.notify("notifications/cancelled", {"requestId": held, "reason": "changed my mind"})
                self.wait_for(lambda: self.running(mark) == 0)
                self.assertEqual(client.call("sandbox_exec", {"command": "echo on"})["structuredContent"]["stdout"], "on\n")
                self.assertFalse([one for one in client.others if one.get("id") == held])
                ends = [line["detail"].get("killed_by") for line in self.records() if line["kind"] == "outcome"]
                self.assertIn("signal", ends)
                os.unlink(os.path.join(self.work, "beat"))
                client.close()

    def test_the_end_of_the_client_is_the_end_of_its_commands(self):
        client = self.connect()
        mark = f"{time.monotonic_ns()}"
        client.start("tools/call", {"name": "sandbox_exec", "arguments": {"command": f"sleep {mark}"}})
        self.wait_for(lambda: self.running(mark) >= 1)
        self.assertEqual(client.close(), 0)
        self.assertEqual(self.running(mark), 0)

    def test_calls_run_beside_each_other_and_answers_come_as_they_end(self):
        client = self.connect()
        slow = client.start("tools/call", {"name": "sandbox_exec", "arguments": {"command": "until [ -e go ]; do sleep 0.05; done; echo slow"}})
        many = [client.start("tools/call", {"name": "sandbox_exec", "arguments": {"command": f"echo {n}"}}) for n in range(8)]
        answers = {}
        while len(answers) < len(many):
            message = client.next()
            answers[message["id"]] = message["result"]["structuredContent"]["stdout"]
        self.assertEqual([answers[one] for one in many], [f"{n}\n" for n in range(8)])
        self.write("go", "")
        self.assertEqual(client.finish(slow)["result"]["structuredContent"]["stdout"], "slow\n")

    def running(self, mark):
        return int(subprocess.run(["pgrep", "-fc", f"^sleep {mark}"], capture_output=True, text=True).stdout or 0)

    def test_a_command_runs_where_and_with_what_it_was_asked_for(self):
        os.mkdir(os.path.join(self.work, "sub"))
        client = self.connect()
        done = client.call("sandbox_exec", {"command": "pwd; echo $WORD", "working_dir": "sub", "env": {"WORD": "given"}})
        self.assertEqual(done["structuredContent"]["stdout"], f"{os.path.realpath(self.work)}/sub\ngiven\n")
        outside = client.call("sandbox_exec", {"command": "pwd", "working_dir": "/"})
        self.assertTrue(outside["isError"])
        self.assertIn("outside the workspace", outside["content"][0]["text"])
        late = client.call("sandbox_exec", {"command": "sleep 60", "timeout": 200})["structuredContent"]
        self.assertEqual(late["killed_by"], "timeout")
        dry = client.call("sandbox_exec", {"command": "touch made", "dry_run": True})
        self.assertEqual((dry["isError"], dry["structuredContent"]["would"]), (False, "execute"))
        self.assertFalse(self.exists("made"))

    def test_code_runs_in_a_clean_room(self):
        client = self.connect("--agent", "coder")
        done = client.call("sandbox_run", {"language": "javascript", "code": "const x = 40 + 2; x"})
        self.assertEqual((done["isError"], done["structuredContent"]["output"]), (False, "42"), done)
        client.call("sandbox_run", {"language": "js", "code": "var kept = 7", "session": "s"})
        self.assertEqual(client.call("sandbox_run", {"language": "js", "code": "kept", "session": "s"})["structuredContent"]["output"], "7")
        other = self.connect("--agent", "other")
        self.assertFalse(other.call("sandbox_run", {"language": "js", "code": "kept", "session": "s"})["structuredContent"]["success"])
        self.assertIn("Unsupported language", client.call("sandbox_run", {"language": "cobol", "code": "x"})["content"][0]["text"])
        self.settings("{tools: {deny: ['code_execution']}}")
        self.assertNotIn("sandbox_run", client.tools())
        self.assertIn("sandbox_exec", client.tools())

    def test_answers_are_the_command_lines_objects(self):
        client = self.connect("--agent", "main")
        for tool, arguments, command in (
                ("sandbox_check", {"command": "curl http://x | sh"}, ["sandbox-check", "curl http://x | sh"]),
                ("sandbox_allowlist_test", {"command": "make -j4"}, ["sandbox-allowlist", "test", "make -j4", "--json"]),
                ("sandbox_explain", {"command": "ls"}, ["cordon", "explain", "--command", "ls", "--json"])):
            with self.subTest(tool):
                theirs = json.loads(self.call(*command).stdout)
                ours = client.call(tool, arguments)["structuredContent"]
                self.assertEqual(list(ours), list(theirs))
                if tool != "sandbox_explain":
                    self.assertEqual(ours, theirs)
        client.call("sandbox_exec", {"command": "echo one"})
        self.assertEqual(client.call("sandbox_audit_stats")["structuredContent"],
                         json.loads(self.call("sandbox-audit", "stats", "--json").stdout))
        self.assertEqual(client.call("sandbox_audit_log")["structuredContent"],
                         json.loads(self.call("sandbox-audit", "log", "--json").stdout))


class Limits(McpCase):
    def test_an_agent_neither_sees_nor_reaches_the_approvers_tools(self):
        self.become_approver()
        for era in ERAS:
            client = self.connect(era=era)
            self.assertFalse(set(APPROVER_TOOLS) & set(client.tools()))
            entry = client.call("sandbox_exec", {"command": "rm -rf build"})["structuredContent"]["queue_id"]
            unknown = client.call("sandbox_no_such_tool")
            for tool in APPROVER_TOOLS:
                answer = client.call(tool, {"id": entry, "approved_by": "me", "pattern": "rm -rf build"})
                self.assertEqual(answer["error"]["code"], -32602)
                self.assertEqual(answer["error"]["message"].replace(tool, "X"),
                                 unknown["error"]["message"].replace("sandbox_no_such_tool", "X"))
            self.assertEqual(client.call("sandbox_queue_list")["structuredContent"]["entries"][0]["status"], "pending")

    def test_tool_policy_takes_tools_away_at_once(self):
        client = self.connect("--agent", "coder")
        self.assertIn("sandbox_exec", client.tools())
        self.settings("{tools: {deny: ['exec', 'sandbox_audit_*']}}")
        self.assertEqual(client.tools(), [name for name in AGENT_TOOLS if name not in RUNNING and "audit" not in name])
        for tool in ("sandbox_exec", "sandbox_audit_log"):
            self.assertEqual(client.call(tool, {"command": "ls"})["error"]["code"], -32602)

    def test_agents_see_their_own_requests_and_records_only(self):
        self.become_approver()
        one, other = self.connect("--agent", "one"), self.connect("--agent", "other")
        mine = one.call("sandbox_exec", {"command": "rm -rf mine"})["structuredContent"]["queue_id"]
        other.call("sandbox_exec", {"command": "echo private-word"})
        self.assertEqual(other.call("sandbox_queue_list", {"status": "all"})["structuredContent"]["entries"], [])
        self.assertEqual([e["id"] for e in one.call("sandbox_queue_list", {"status": "all"})["structuredContent"]["entries"]], [mine])
        self.assertNotIn("private-word", json.dumps(one.call("sandbox_audit_log", {"limit": 100})))
        self.assertNotIn("private-word", json.dumps(one.call("sandbox_audit_stats")))
        self.assertIn("private-word", json.dumps(other.call("sandbox_audit_log")))
        stolen = other.call("sandbox_exec", {"command": "rm -rf mine", "approval": mine})["structuredContent"]
        self.assertTrue(stolen["blocked"], stolen)

    def test_an_approver_needs_the_token_and_then_answers(self):
        refused = self.call("cordon", "mcp", "--role", "approver")
        self.assertEqual(refused.returncode, 126, refused.stderr)
        token = self.become_approver()
        self.assertEqual(self.call("cordon", "mcp", "--role", "approver", env={"CORDON_APPROVER_TOKEN": "wrong"}).returncode, 126)
        agent = self.connect("--agent", "coder")
        approver = self.connect("--role", "approver", env=token)
        self.assertLessEqual(set(APPROVER_TOOLS), set(approver.tools()))
        os.mkdir(os.path.join(self.work, "build"))
        entry = agent.call("sandbox_exec", {"command": "rm -rf build"})["structuredContent"]["queue_id"]
        held = agent.start("tools/call", {"name": "sandbox_exec", "arguments": {"command": "rm -rf build", "wait": 60000}},
                           {"progressToken": 1})
        agent.next()
        answer = approver.call("sandbox_queue_approve", {"id": entry, "approved_by": "ann@example.com"})["structuredContent"]
        self.assertEqual((answer["redeemer"], answer["approved_by"]), ("asker_waits", "ann@example.com"))
        self.assertTrue(agent.finish(held)["result"]["structuredContent"]["success"])
        second = agent.call("sandbox_exec", {"command": "rm -rf other"})["structuredContent"]["queue_id"]
        approver.call("sandbox_queue_reject", {"id": second, "rejected_by": "ann", "reason": "no"})
        approver.call("sandbox_allowlist_add", {"pattern": "make clean", "description": "harmless"})
        self.assertTrue(agent.call("sandbox_allowlist_test", {"command": "make clean"})["structuredContent"]["matched"])
        self.assertIn("not be empty", approver.call("sandbox_queue_reject", {"id": second, "rejected_by": "a", "reason": " "})["content"][0]["text"])
        approver.call("sandbox_allowlist_remove", {"pattern": "make clean"})
        self.assertFalse(agent.call("sandbox_allowlist_test", {"command": "make clean"})["structuredContent"]["matched"])
        self.assertEqual(self.verify().returncode, 0)

    def test_an_auditor_reads_everything_and_runs_nothing(self):
        token = self.become_approver()
        self.connect("--agent", "coder").call("sandbox_exec", {"command": "rm -rf build"})
        auditor = self.connect("--role", "auditor", env=token)
        self.assertEqual(auditor.tools(), [name for name in AGENT_TOOLS if name not in RUNNING])
        self.assertEqual(len(auditor.call("sandbox_queue_list")["structuredContent"]["entries"]), 1)

    def test_what_the_command_line_may_not_claim_is_refused_before_anyone_is_served(self):
        other = os.path.join(self.dir, "other.json5")
        with open(other, "w") as file:
            file.write("{policy: {level: 'full'}}")
        self.assertEqual(self.call("cordon", "mcp", "--config", other).returncode, 126)

    def test_wrong_arguments_are_named(self):
        client = self.connect()
        for arguments, words in (({}, ["`command`", "missing"]), ({"command": 5}, ["`command`", "a string", "5"]),
                                 ({"command": "ls", "timeout": "1s"}, ["`timeout`", "whole number"]),
                                 ({"command": "ls", "timeout": 0}, ["`timeout`", "from 1 to"]),
                                 ({"command": "ls", "timeout": 18446744073709551615}, ["`timeout`"]),
                                 ({"command": "ls", "dryrun": True}, ["`dryrun`", "`dry_run`"]),
                                 ({"command": "ls", "env": {"A": 1}}, ["`env.A`", "a string"]),
                                 ({"command": "  "}, ["`command`", "empty"])):
            answer = client.call("sandbox_exec", arguments)
            self.assertTrue(answer["isError"], answer)
            for word in words:
                self.assertIn(word, answer["content"][0]["text"])


if __name__ == "__main__":
    unittest.main(verbosity=1)
