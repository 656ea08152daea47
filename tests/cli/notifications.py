#!/usr/bin/env python3
"""Alerts reach a webhook over verified TLS, signed, and a command; trouble with them never changes a run."""
import hashlib, hmac, http.server, json, os, shutil, ssl, subprocess, sys, tempfile, threading, time

bin_dir = os.environ["CORDON_BIN"]
scratch = tempfile.mkdtemp()
home, state, work = scratch + "/home", scratch + "/state", scratch + "/work"
os.makedirs(home + "/.config/cordon")
os.makedirs(work)
os.chdir(work)
base = {"HOME": home, "CORDON_STATE_DIR": state, "PATH": bin_dir + ":/usr/bin:/bin", "LANG": "C.UTF-8"}
subprocess.run(["git", "init", "-q", "."], check=True)


def fail(text):
    print("FAILED:", text, file=sys.stderr)
    sys.exit(1)


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


def authority(name):
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=" + name,
            "-keyout", f"{scratch}/{name}.key", "-out", f"{scratch}/{name}.crt")


def certificate(name, subject, ca):
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=" + subject,
            "-keyout", f"{scratch}/{name}.key", "-out", f"{scratch}/{name}.csr")
    open(f"{scratch}/{name}.ext", "w").write(f"subjectAltName=DNS:{subject}\n")
    openssl("x509", "-req", "-in", f"{scratch}/{name}.csr", "-CA", f"{scratch}/{ca}.crt", "-CAkey", f"{scratch}/{ca}.key",
            "-CAcreateserial", "-days", "2", "-extfile", f"{scratch}/{name}.ext", "-out", f"{scratch}/{name}.crt")


def environments_of_speakers():
    """Of every cordon-https that is running: while a message waits for its answer, the one that sends it."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/exe").endswith("/cordon-https"):
                found.append(open(f"/proc/{pid}/environ", "rb").read())
        except OSError:
            pass
    return found


class Receiver:
    def __init__(self, name):
        self.requests = []
        self.speakers = []
        self.arrived = threading.Condition()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.speakers += environments_of_speakers()
                self.send_response(204)
                self.end_headers()
                with outer.arrived:
                    outer.requests.append((dict(self.headers), body))
                    outer.arrived.notify_all()

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{scratch}/{name}.crt", f"{scratch}/{name}.key")
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"https://localhost:{self.server.server_address[1]}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def wait(self, count):
        with self.arrived:
            if not self.arrived.wait_for(lambda: len(self.requests) >= count, 60):
                log = open(state + "/notify.log").read() if os.path.exists(state + "/notify.log") else "no notify.log"
                fail(f"{len(self.requests)} of {count} messages arrived; {log}")


def settings(text):
    open(home + "/.config/cordon/config.json5", "w").write(text)


def run(code, *argv, ca="good-ca"):
    env = {**base, "SSL_CERT_FILE": f"{scratch}/{ca}.crt", "A_SECRET": "for nobody else"}
    done = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    if done.returncode != code:
        fail(f"{argv}: exit {done.returncode}, not {code}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def noted(text):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if os.path.exists(state + "/notify.log") and text in open(state + "/notify.log").read():
            return
        time.sleep(0.02)
    fail(f"notify.log never said {text!r}")


authority("good-ca")
authority("other-ca")
certificate("server", "localhost", "good-ca")
certificate("stranger", "somewhere.example", "good-ca")
open(scratch + "/secret", "w").write("open sesame\n")
os.chmod(scratch + "/secret", 0o600)

receiver = Receiver("server")
settings(f'{{ notifications: {{ desktop: false, webhook: {{ url: "{receiver.url}", secretFile: "{scratch}/secret" }} }} }}')
run(75, "sandbox-exec", "-a", "touch x --token=ghp_" + "a" * 36)
receiver.wait(1)
headers, body = receiver.requests[0]
event = json.loads(body)
if event["event"] != "approval_wanted" or not event["queue_id"].startswith("cmd_"):
    fail(f"not the event: {event}")
if "aaaaaaaa" in body.decode():
    fail("a secret in the command was sent")
expected = hmac.new(b"open sesame", headers["X-Cordon-Timestamp"].encode() + b"." + body, hashlib.sha256).hexdigest()
if headers["X-Cordon-Signature"] != "sha256=" + expected:
    fail("the signature does not fit")
# Who reads a stranger's certificates is told nothing but where to find those of authorities.
if not receiver.speakers:
    fail("nobody was seen to send the message")
for environment in receiver.speakers:
    if b"A_SECRET" in environment or b"HOME=" in environment:
        fail(f"the program that speaks TLS was given {environment}")
run(126, "sandbox-exec", "rm -rf /")
receiver.wait(2)
if json.loads(receiver.requests[1][1])["event"] not in ("blocked", "disallowed"):
    fail("a refusal is not told")

# A certificate of an unknown authority, or for another name: nothing is sent, and the run is as it would have been.
run(126, "sandbox-exec", "rm -rf /etc", ca="other-ca")
noted("certificate")
stranger = Receiver("stranger")
settings(f'{{ notifications: {{ desktop: false, webhook: {{ url: "{stranger.url}" }} }} }}')
run(126, "sandbox-exec", "rm -rf /usr")
noted("hostname mismatch")
if stranger.requests or len(receiver.requests) != 2:
    fail("a message was sent to a receiver that proved nothing")

# A hook that hangs does not hold anything up; only listed events are told.
open(scratch + "/hook", "w").write(f"#!/bin/sh\ncat > {scratch}/input\nexec sleep 600\n")
os.chmod(scratch + "/hook", 0o700)
settings(f'{{ notifications: {{ desktop: false, command: ["{scratch}/hook", "-x"], events: ["disallowed", "blocked"] }} }}')
run(126, "sandbox-exec", "rm -rf /var")
end = time.monotonic() + 60
while not (os.path.exists(scratch + "/input") and open(scratch + "/input").read().endswith("\n")):
    if time.monotonic() > end:
        fail("the command was not told")
    time.sleep(0.02)

# Only the user's own file counts; what is wrong there is said with its line.
settings("{}")
os.makedirs(".cordon")
open(".cordon/config.json5", "w").write(f'{{ notifications: {{ command: ["{scratch}/hook"] }} }}')
text = run(0, "cordon", "config", "check")
if "counts only from the user's own settings file" not in text:
    fail(f"a workspace's notifications are not remarked: {text}")
shutil.rmtree(".cordon")
for wrong, said in (('{\n notifications: { webhook: { url: "ftp://x" } } }', "config.json5:2: notifications.webhook.url"),
                    ('{\n notifications: { command: ["hook"] } }', "absolute path"),
                    ('{\n notifications: { command: ["%s/hook"] } }' % work, "lies in the workspace"),
                    ('{\n notifications: { events: ["blockd"] } }', "did you mean 'blocked'"),
                    ('{\n notifications: { dekstop: true } }', "did you mean 'desktop'")):
    settings(wrong)
    text = run(1, "cordon", "config", "check")
    if said not in text:
        fail(f"{wrong}: does not say {said!r}: {text}")
settings('{ notifications: { desktop: false, events: ["blocked"] } }')
text = run(0, "cordon", "config", "show")
if "notifications.desktop = false" not in text or "notifications.events = blocked" not in text:
    fail(f"config show: {text}")
print("notifications: as promised")
shutil.rmtree(scratch, ignore_errors=True)
