#!/usr/bin/env python3
"""What waits for a person carries its preview, and approving can mean committing it. As root and as a user."""
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../guard"))
from case import Case  # noqa: E402


class QueueCase(Case):
    queue_preview = "auto"

    def setUp(self):
        super().setUp()
        self.token = self.become_approver()
        os.mkdir(os.path.join(self.work, "old"))
        self.write("old/precious", "x\n")

    def wait_for(self, condition):
        until = time.monotonic() + 60
        while not (value := condition()):
            self.assertLess(time.monotonic(), until, "it did not happen")
            time.sleep(0.02)
        return value

    def show(self, id, env=None):
        return json.loads(self.call("sandbox-queue", "show", "--json", id, env=self.token if env is None else env, expect=0).stdout)

    def settled(self, id):
        """The entry once nobody makes its preview any more."""
        return self.wait_for(lambda: (e := self.show(id))["preview_state"] != "being made" and e)

    def made(self, id):
        entry = self.settled(id)
        self.assertEqual(entry["preview_state"], "made", entry)
        return entry

    def queue(self, text, *options):
        return self.exec(text, *options, expect=75)["queue_id"]

    def approve(self, id, *options, expect=0):
        return self.call("sandbox-queue", "approve", "--json", id, *options, env=self.token, expect=expect)

    def kept(self):
        return json.loads(self.call("cordon", "preview", "list", "--json", expect=0).stdout)

    def runs(self):
        """Intents, as (is a preview, is a commit)."""
        return [("preview" in line["detail"], "commit" in line["detail"]) for line in self.records() if line["kind"] == "intent"]


class Carried(QueueCase):
    def test_what_waits_carries_its_preview_and_only_the_approver_sees_it(self):
        self.write("secret.txt", "hunter2\n")
        answer = self.call("sandbox-exec", "--json", "cat secret.txt; rm -rf old; echo new > added", expect=75)
        id = json.loads(answer.stdout)["queue_id"]
        entry = self.made(id)
        self.assertEqual([(c["change"], c["path"]) for c in entry["preview"]["changes"]],
                         [("deleted", "old"), ("deleted", "old/precious"), ("added", "added")])
        self.assertEqual(entry["preview"]["stdout"], "hunter2\n")
        self.assertTrue(self.exists("old/precious"))
        text = self.call("sandbox-queue", "show", id, env=self.token, expect=0).stdout
        self.assertIn("deleted   old/precious", text)
        asker = self.show(id, env={})
        self.assertIsNone(asker["preview_state"])
        for shown in (json.dumps(asker), answer.stdout, json.dumps(self.records()),
                      self.call("sandbox-queue", "show", id, expect=0).stdout):
            self.assertNotIn("hunter2", shown)
            self.assertNotIn("added   ", shown)
        ended = [line for line in self.records() if line["status"] == "previewed"]
        self.assertEqual([(line["approval"], set(line["detail"])) for line in ended], [(id, {"preview"})])
        self.assertEqual(self.runs(), [(True, False)])

    def test_the_answer_does_not_wait_for_it_and_identical_requests_share_it(self):
        id = self.queue("rm -rf old; sleep 600")
        self.assertEqual(self.show(id)["preview_state"], "being made")
        self.assertIn("Preview      being made", self.call("sandbox-queue", "show", id, env=self.token).stdout)
        self.assertEqual(self.queue("rm -rf old; sleep 600"), id)
        self.assertEqual(len(self.makers()), 1)
        other = self.queue("rm -rf old")
        self.assertEqual(self.queue("rm -rf old"), other)
        self.made(other)
        self.assertEqual(self.queue("rm -rf old"), other)
        self.assertEqual(len(self.kept()), 1)

    def test_a_maker_that_died_is_not_waited_for(self):
        id = self.queue("rm -rf old; sleep 600")
        for pid in self.wait_for(self.makers):
            os.kill(pid, signal.SIGKILL)
        entry = self.settled(id)
        self.assertIn("the preview was not finished", entry["preview_state"])
        # Nobody is kept from making one.
        self.write("SANDBOX.md", "# Limits\n- Time: 1s\n")
        self.call("sandbox-queue", "approve", id, "--commit", env=self.token, expect=1)
        self.assertTrue(self.exists("old"))

    def test_its_limits_are_not_passed_off_as_the_whole(self):
        self.write("SANDBOX.md", "# Limits\n- Time: 1s\n")
        entry = self.settled(self.queue("rm -rf old; sleep 600"))
        self.assertIn("cannot preview: it was ended by a limit", entry["preview_state"])
        self.assertIsNone(entry["preview"])
        self.write("SANDBOX.md", "")
        entry = self.settled(self.queue("rm -rf old; head -c 300000000 /dev/zero > big"))
        self.assertIn("cannot preview: it writes more", entry["preview_state"])
        self.assertFalse(self.exists("big"))

    def test_the_settings_turn_it_off_and_the_approver_is_told_who_did(self):
        self.write("SANDBOX.md", "# Approval Settings\n- Preview: off\n")
        id = self.queue("rm -rf old")
        self.assertIn("SANDBOX.md:2 turns previews off", self.show(id)["preview_state"])
        self.assertEqual(self.runs(), [])
        # Whoever approves can still look.
        self.call("sandbox-queue", "preview", id, env=self.token, expect=0)
        self.assertEqual(self.show(id)["preview_state"], "made")

    def test_what_cannot_be_previewed_says_why_and_does_not_run(self):
        outside = os.path.join(self.dir, "outside")
        os.mkdir(outside)
        with open(os.path.join(outside, "f"), "w") as file:
            file.write("hunter2\n")
        for text, options, why in ((f"cp {outside}/f here", (), "which only an approval opens"),
                                   (f"touch {outside}/g", (), "it writes outside of the workspace"),
                                   ("rm -rf old; curl http://a.test/", (), "it needs the network"),
                                   ("rm -rf old", ("--tty",), "it needs a terminal")):
            id = self.queue(text, *options)
            self.assertIn("cannot preview: it ", self.show(id)["preview_state"])
            self.assertIn(why, self.show(id)["preview_state"])
            self.call("sandbox-queue", "approve", id, "--commit", env=self.token, expect=1)
        self.assertEqual(self.runs(), [])

    def test_code_is_not_tried_out(self):
        done = self.call("cordon", "run", "--json", "--require-approval", "python", "-c", "print(1)")
        if done.returncode == 75:
            id = json.loads(self.call("sandbox-queue", "list", "--json", expect=0).stdout)[0]["id"]
            self.assertIn("it is code", self.show(id)["preview_state"])


class Answered(QueueCase):
    def test_rejection_and_expiry_take_it_away(self):
        id = self.queue("rm -rf old")
        self.made(id)
        self.call("sandbox-queue", "reject", id, "--reason", "no", expect=0)
        self.assertEqual(self.kept(), [])
        self.write("SANDBOX.md", "# Approval Settings\n- Approval expiry: 1s\n")
        id = self.queue("rm -rf old; true")
        self.wait_for(lambda: self.show(id)["status"] == "expired")
        self.wait_for(lambda: not self.makers())
        self.queue("rm -rf old; echo another")
        self.assertEqual([p["id"] for p in self.kept() if p["queue_id"] == id], [])
        self.assertFalse(os.path.exists(os.path.join(self.state, "previews/making", id)))

    def test_an_answer_ends_the_making(self):
        id = self.queue("rm -rf old; sleep 600")
        self.wait_for(self.makers)
        self.call("sandbox-queue", "reject", id, "--reason", "no", expect=0)
        self.wait_for(lambda: not self.makers())
        self.assertEqual(self.kept(), [])
        self.assertFalse(os.path.exists(os.path.join(self.state, "previews/making", id)))

    def test_running_it_takes_the_preview_away(self):
        id = self.queue("rm -rf old")
        self.made(id)
        self.assertTrue(json.loads(self.approve(id).stdout)["executed"])
        self.assertFalse(self.exists("old"))
        self.assertEqual(self.kept(), [])

    def test_approving_by_commit_applies_exactly_what_was_shown(self):
        self.write("count", "0\n")
        id = self.queue("rm -rf old; date +%N%s > stamp; echo said")
        shown = next(c for c in self.made(id)["preview"]["changes"] if c["path"] == "stamp")["diff"]
        done = json.loads(self.approve(id, "--commit").stdout)
        self.assertTrue(done["committed"], done)
        self.assertFalse(self.exists("old"))
        self.assertEqual("@@ -0,0 +1 @@\n+" + self.read("stamp"), shown)
        self.assertEqual(self.show(id)["status"], "executed")
        self.assertEqual(self.runs(), [(True, False), (False, True)])
        lines = [(line["kind"], line["status"]) for line in self.records() if line.get("approval") == id]
        self.assertEqual([line for line in lines if line[0].startswith("approval")],
                         [("approval.requested", "queued"), ("approval.decided", "approved"), ("approval.consumed", "redeemed")])
        # Nothing is left to be run by it.
        again = self.exec("rm -rf old; date +%N%s > stamp; echo said", "--approval", id, expect=0)
        self.assertEqual((again["committed"], again["stdout"]), (done["preview"], "said\n"))
        self.assertEqual(self.runs(), [(True, False), (False, True)])

    def test_an_asker_that_waits_is_told_of_the_commit_and_runs_nothing(self):
        asker = subprocess.Popen(["sandbox-exec", "--json", "--wait", "60s", "rm -rf old; echo said; echo why >&2; exit 3"],
                                 cwd=self.work, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        entries = self.wait_for(lambda: json.loads(self.call("sandbox-queue", "list", "--json").stdout))
        self.made(entries[0]["id"])
        done = json.loads(self.approve(entries[0]["id"], "--commit").stdout)
        told = json.loads(asker.communicate(timeout=60)[0])
        self.assertEqual((told["committed"], told["executed"], told["exit_code"], told["stdout"], told["stderr"], told["applied"]),
                         (done["preview"], True, 3, "said\n", "why\n", 1))
        self.assertEqual(asker.returncode, 3)
        self.assertEqual(self.runs(), [(True, False), (False, True)])

    def test_a_conflict_approves_nothing(self):
        id = self.queue("rm -rf old")
        self.made(id)
        self.write("old/later", "theirs\n")
        self.approve(id, "--commit", expect=1)
        self.assertEqual((self.show(id)["status"], self.read("old/later")), ("pending", "theirs\n"))
        self.approve(id)
        self.assertFalse(self.exists("old"))

    def test_what_would_not_run_as_asked_is_not_committed(self):
        self.write("tool.sh", "rm -rf old\n")
        id = self.queue("bash tool.sh; rm -rf old")
        self.made(id)
        self.write("tool.sh", "echo harmless\n")
        self.approve(id, "--commit", expect=1)
        self.assertTrue(self.exists("old/precious"))
        self.assertEqual(self.show(id)["status"], "pending")

    def test_a_commit_is_once(self):
        id = self.queue("rm -rf old")
        self.made(id)
        self.approve(id, "--commit", "--uses", "2", expect=1)
        self.assertTrue(self.exists("old"))

    def test_committing_a_kept_preview_makes_no_other(self):
        kept = self.exec("rm -rf old", "--dry-run", "--keep", env=self.token, expect=0)["preview"]
        waits = json.loads(self.call("cordon", "preview", "commit", "--json", kept, expect=75).stdout)
        self.assertEqual(self.show(waits["queue_id"])["preview"]["id"], kept)
        self.assertEqual([p["id"] for p in self.kept()], [kept])
        # What a person kept is not lost when somebody says no.
        self.call("sandbox-queue", "reject", waits["queue_id"], "--reason", "no", expect=0)
        self.assertEqual([p["id"] for p in self.kept()], [kept])


class ByTheDaemon(QueueCase):
    def test_a_daemon_has_it_made_too(self):
        runtime = os.path.join(self.dir, "runtime")
        os.mkdir(runtime, 0o700)
        self.environment["XDG_RUNTIME_DIR"] = runtime
        daemon = subprocess.Popen(["cordon", "serve"], cwd="/", env=self.environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            self.assertIn("listening", daemon.stdout.readline())
            id = self.queue("rm -rf old")
            self.made(id)
            self.approve(id, "--commit")
            self.assertFalse(self.exists("old"))
        finally:
            daemon.terminate()
            daemon.communicate(timeout=60)


class NoWayOut(QueueCase):
    """Before anybody has said yes, what a command read may not leave."""

    def test_a_pipe_of_the_workspace_is_no_way_out(self):
        pipe = os.path.join(self.work, "pipe")
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        self.write("tell.py", "import os\nfd = os.open('pipe', os.O_RDWR | os.O_NONBLOCK)\nos.write(fd, b'hunter2')\n")
        self.settled(self.queue("python3 tell.py; rm -rf old"))
        with self.assertRaises(BlockingIOError):
            os.read(reader, 100)
        os.close(reader)
        os.close(writer)

    def test_a_socket_of_the_workspace_is_no_way_out(self):
        heard = []
        with socket.socket(socket.AF_UNIX) as server:
            here = os.getcwd()
            os.chdir(self.work)
            try:
                server.bind("sock")
            finally:
                os.chdir(here)
            server.listen()
            server.settimeout(0.2)
            over = threading.Event()

            def listen():
                while not over.is_set():
                    try:
                        heard.append(server.accept()[0])
                    except TimeoutError:
                        pass
            listener = threading.Thread(target=listen)
            listener.start()
            self.write("tell.py", "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect('sock')\ns.send(b'hunter2')\n")
            self.settled(self.queue("python3 tell.py; rm -rf old"))
            over.set()
            listener.join()
        for connection in heard:
            connection.close()
        self.assertEqual(heard, [])


if __name__ == "__main__":
    unittest.main(verbosity=1)
