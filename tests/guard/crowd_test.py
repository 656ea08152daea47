"""Many processes at once on one state: no record lost or doubled, no approval spent twice, and the chain verifies.

CORDON_CROWD processes for CORDON_CROWD_SECONDS (default: 12 for 5 s)."""
import collections
import json
import os
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from case import Case

CROWD = int(os.environ.get("CORDON_CROWD", "12"))
SECONDS = float(os.environ.get("CORDON_CROWD_SECONDS", "5"))


class Crowd(Case):
    def test_no_record_is_lost_or_doubled_and_no_approval_is_spent_twice(self):
        approver = self.become_approver()
        self.ran = collections.Counter()
        self.trouble = []
        until = time.monotonic() + SECONDS
        asked = self.exec("touch spent-once", "-a", expect=75)["queue_id"]
        self.call("sandbox-queue", "approve", "--no-run", asked, expect=0, env=approver)
        threads = [threading.Thread(target=self.work_until, args=(number, until, asked)) for number in range(CROWD)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.trouble, [])
        self.assertEqual(self.verify().returncode, 0)
        lines = self.records()
        self.assertEqual([line["seq"] for line in lines], list(range(len(lines))))
        intents = [line for line in lines if line["kind"] == "intent"]
        outcomes = [line for line in lines if line["kind"] == "outcome"]
        self.assertEqual(len({line["request"] for line in intents}), len(intents))
        self.assertEqual(sorted(line["request"] for line in intents), sorted(line["request"] for line in outcomes))
        recorded = collections.Counter(line["command"] for line in intents if line["command"].startswith("echo "))
        self.assertEqual(recorded, self.ran)
        self.assertEqual(sum(line["command"] == "touch spent-once" for line in intents), 1)
        self.assertGreater(len(intents), CROWD)

    def work_until(self, number, until, asked):
        count = 0
        self.redeem(asked)
        while time.monotonic() < until:
            command = f"echo {number}-{count}"
            done = self.call("sandbox-exec", command)
            if done.returncode != 0 or done.stdout != f"{number}-{count}\n":
                self.trouble.append((command, done.returncode, done.stdout, done.stderr))
                return
            self.ran[command] += 1
            count += 1

    def redeem(self, asked):
        done = self.call("sandbox-exec", "--json", "-a", "--approval", asked, "touch spent-once")
        if done.returncode not in (0, 126):
            self.trouble.append(("redeem", done.returncode, done.stdout, done.stderr))


if __name__ == "__main__":
    unittest.main()
