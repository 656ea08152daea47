"""Many at once: idle listeners and runs beside them. CORDON_LISTENERS and CORDON_RUNS say how many."""
import http.client
import os
import resource
import socket
import sys
import threading
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from http_case import HttpCase  # noqa: E402

LISTENERS = int(os.environ.get("CORDON_LISTENERS", "100"))
RUNS = int(os.environ.get("CORDON_RUNS", "20"))


class Many(HttpCase):
    options = ("--listen", "127.0.0.1:0", "--max-connections", str(LISTENERS + RUNS + 50), "--max-calls", str(RUNS))

    def memory(self):
        with open(f"/proc/{self.daemon.pid}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))

    def test_listeners_and_runs(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, LISTENERS + RUNS + 500)), hard))
        token, auditor = self.token(), self.token("auditor")
        before = self.memory()
        listening = []
        for _ in range(LISTENERS):
            one = socket.create_connection(("127.0.0.1", self.port), 300)
            one.sendall(self.head("/v1/events", auditor, "GET"))
            listening.append(one)
        for one in listening:
            received = b""
            while b": listening" not in received:
                received += one.recv(4096)
        self.assertIn(f"cordon_event_listeners {LISTENERS}\n", self.ask("GET", "/metrics", token=auditor).body)
        outputs = {}

        def run(number):
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=1200)
            outputs[number] = self.tool("sandbox_exec", {"command": f"echo {number}"}, token, connection=connection).json()["stdout"]
            connection.close()

        threads = [threading.Thread(target=run, args=(number,)) for number in range(RUNS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(outputs, {number: f"{number}\n" for number in range(RUNS)})
        # Each listener is told of each run: its intent and its outcome.
        for one in listening:
            one.settimeout(300)
            received = b""
            while received.count(b"event: run\n") < 2 * RUNS:
                more = one.recv(1 << 20)
                self.assertTrue(more, "a listener was dropped")
                received += more
            one.close()
        self.wait_for(lambda: "cordon_event_listeners 0\n" in self.ask("GET", "/metrics", token=auditor).body or self.tool("sandbox_exec", {"command": "true"}, token) is None)
        grown = self.memory() - before
        self.assertLess(grown, 200_000 + 200 * (LISTENERS + RUNS), f"{grown} KiB more than before")
        print(f"{LISTENERS} listeners, {RUNS} runs: {grown} KiB more", file=sys.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
