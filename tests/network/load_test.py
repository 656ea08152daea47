"""Many connections, slow ones and endless ones: others are not affected, and the proxy's memory is bounded. Runs inside
stage.py. CORDON_CONNECTIONS says how many (1,000)."""
import os
import subprocess
import unittest

import network_test
from network_test import Case, RUN

COUNT = int(os.environ.get("CORDON_CONNECTIONS", "1000"))
HOLD = """
import selectors, socket, sys
count = int(sys.argv[1])
def tunnel():
    sock = socket.create_connection(("127.0.0.1", 3128), 60)
    sock.sendall(b"CONNECT a.test:7 HTTP/1.1\\r\\nHost: a.test:7\\r\\n\\r\\n")
    return sock
def until(sock, end):
    data = b""
    while not data.endswith(end):
        part = sock.recv(4096)
        if not part:
            raise EOFError(data)
        data += part
    return data
held = [tunnel() for _ in range(count)]
for sock in held:
    until(sock, b"greetings\\n")
for number, sock in enumerate(held):
    sock.sendall(b"%d\\n" % number)
for number, sock in enumerate(held):
    assert until(sock, b"\\n") == b"%d\\n" % number
print("all held", flush=True)
sys.stdin.readline()
"""


class Load(Case):
    def start(self, rules, shell, *options):
        reach = [word for rule in rules for word in ("--reach", rule)]
        return subprocess.Popen([RUN, "--raw", "--stdin-inherit", "--wall", "300000", "--files", "8192", *reach, "--bind",
                                 f"{self.dir}:/tmp/test:ro", *options, "--shell", shell],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def proxy_of(self, run):
        [proxy] = [pid for pid in os.listdir("/proc") if pid.isdigit() and network_test.TheProxy.parent(pid) == run.pid and
                   network_test.TheProxy.name(pid) == "cordon-proxy"]
        return proxy

    def memory_of(self, run):
        with open(f"/proc/{self.proxy_of(run)}/status") as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM"))

    def finish(self, run):
        out, err = run.communicate("\n", timeout=120)
        self.assertEqual(run.returncode, 0, err)
        return out

    def test_a_thousand_connections_at_once(self):
        with open(f"{self.dir}/hold.py", "w") as file:
            file.write(HOLD)
        run = self.start(["a.test:7"], f"python3 /tmp/test/hold.py {COUNT}", "--connections", str(COUNT))
        self.assertEqual(run.stdout.readline(), "all held\n")
        self.assertLess(self.memory_of(run), 64 << 20)
        self.assertEqual(self.curl(["a.test"], "http://a.test/")["stdout"], "hello from outside\n")
        self.finish(run)

    def test_slow_silent_and_endless_peers_beside_others(self):
        shell = ("for i in $(seq 20); do curl -s -m 100 http://slow.test/ & done; "
                 "curl -s http://a.test/endless | (read -r -N 100000 x; echo reading; sleep 100) & "
                 "for i in $(seq 50); do exec {fd}<>/dev/tcp/127.0.0.1/3128; printf G >&$fd; done; "
                 "for i in $(seq 3); do curl -fsS http://a.test/slow || exit 1; done >/dev/null & wait $!; "
                 "curl -fsS http://a.test/; read x; kill 0")
        run = self.start(["a.test", "slow.test"], shell)
        lines = [run.stdout.readline(), run.stdout.readline()]
        self.assertEqual(sorted(lines), ["hello from outside\n", "reading\n"])
        self.assertLess(self.memory_of(run), 64 << 20)
        run.kill()
        run.communicate()


if __name__ == "__main__":
    unittest.main(verbosity=1)
