"""cordon run typed as a person or an agent would; with `served`, a daemon answers."""
import hashlib
import json
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "guard"))
from case import Case  # noqa: E402

KEYS = ["success", "output", "stderr", "exitCode", "executionTime", "error", "isolation", "artifacts", "session"]


class RunCase(Case):
    served = False

    def setUp(self):
        super().setUp()
        self.runtime = os.path.join(self.dir, "runtime")
        os.mkdir(self.runtime, 0o700)
        self.environment["XDG_RUNTIME_DIR"] = self.runtime
        self.daemon = None
        if self.served:
            self.start_daemon()

    def tearDown(self):
        self.stop_daemon()
        super().tearDown()

    def start_daemon(self, *options, env=None):
        """Returns when it says that it is ready."""
        self.daemon = subprocess.Popen(["cordon", "serve", *options], cwd="/", env={**self.environment, **(env or {})},
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        line = self.daemon.stdout.readline()
        self.assertIn("listening on", line, line)
        return line.strip().split(" listening on ")[1]

    def stop_daemon(self, number=signal.SIGTERM):
        if self.daemon is None:
            return None
        self.daemon.send_signal(number)
        self.daemon.stdout.close()
        code = self.daemon.wait(60)
        self.daemon = None
        return code

    def run_code(self, language, code, *options, expect=None, **keywords):
        """The run object."""
        done = self.call("cordon", "run", "--json", "--lang", language, "-c", code, *options, expect=expect, **keywords)
        try:
            return json.loads(done.stdout)
        except ValueError:
            self.fail(f"{done.returncode}\n{done.stdout}\n{done.stderr}")

    def good(self, language, code, *options, **keywords):
        result = self.run_code(language, code, *options, **keywords)
        self.assertTrue(result["success"], json.dumps(result, indent=1)[:3000])
        self.assertEqual((result["exitCode"], result["error"]), (0, None))
        self.assertEqual(result["isolation"]["backend"], "native")
        return result["output"]

    def bad(self, language, code, pattern, *options, **keywords):
        result = self.run_code(language, code, *options, **keywords)
        self.assertFalse(result["success"], json.dumps(result, indent=1)[:3000])
        self.assertRegex(result["error"], pattern)
        self.assertNotEqual(result["exitCode"], 0)
        return result

    def code_records(self, code):
        """Kinds and statuses of what the log has about this code."""
        digest = hashlib.sha256(code.encode()).hexdigest()
        lines = self.records()
        runs = {line["request"] for line in lines if line.get("detail", {}).get("code", {}).get("sha256") == digest}
        return [(line["kind"], line["status"]) for line in lines if line.get("request") in runs]
