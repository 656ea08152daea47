"""Where commands run: sandbox mode, elevation, clean rooms; and that explain says what exec then does."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from case import Case


class Modes(Case):
    def settings(self, text):
        os.makedirs(os.path.join(self.home, ".config/cordon"), exist_ok=True)
        with open(os.path.join(self.home, ".config/cordon/config.json5"), "w") as file:
            file.write(text)

    def where(self, text, *options, **keywords):
        return self.exec(text, *options, **keywords)["isolation"]["backend"]

    def test_explain_prints_the_documented_text(self):
        self.settings('{ agents: { defaults: { sandbox: { mode: "non-main", workspace: "none" } } }, tools: { profile: "coding",'
                      ' deny: ["group:automation"], elevated: { enabled: true, patterns: ["brew *", "git push *"] } } }')
        done = self.call("cordon", "explain", "--session", "agent:main:main", expect=0)
        self.assertEqual(done.stdout, """Sandbox mode:     non-main
Sandbox scope:    session
Workspace access: none

Session "agent:main:main" → HOST (main session exempted)

Elevated patterns:
  brew *     → host (with approval)
  git push * → host (with approval)

Tool policy:
  Profile: coding
  Denied: group:automation
  Effective tools: read, write, edit, exec, browser
""")

    def test_mode_decides_where_and_explain_agrees(self):
        for mode, session, expected in (("all", "agent:main:main", "native"), ("non-main", "agent:main:other", "native"),
                                        ("non-main", "agent:main:main", "host"), ("off", "agent:main:other", "host")):
            with self.subTest(mode=mode, session=session):
                self.settings('{ agents: { defaults: { sandbox: { mode: "%s" } } } }' % mode)
                token = getattr(self, "token", None) or self.become_approver()
                self.token = token
                self.assertEqual(self.where("true", "--session", session, expect=0, env=token), expected)
                told = json.loads(self.call("cordon", "explain", "--json", "--session", session, expect=0).stdout)
                row = next(one for one in told["sessions"] if one["session"] == session)
                self.assertEqual(row["where"], "host" if expected == "host" else "sandbox")

    def test_a_main_session_on_the_host_needs_presence(self):
        self.settings('{ agents: { defaults: { sandbox: { mode: "non-main" } } } }')
        self.exec("touch ran", "--session", "agent:main:main", expect=126)
        self.assertFalse(self.exists("ran"))

    def test_an_elevated_command_asks_and_then_runs_on_the_host(self):
        self.settings('{ tools: { elevated: { enabled: true, patterns: ["touch outside *"] } } }')
        token = self.become_approver()
        asked = self.exec("touch outside one", expect=75)
        self.assertEqual(asked["safety"]["where"], "host")
        done = self.call("sandbox-queue", "--json", "approve", asked["queue_id"], expect=0, env=token)
        self.assertEqual(json.loads(done.stdout)["isolation"]["backend"], "host")
        self.assertTrue(self.exists("outside") and self.exists("one"))
        for command in ("touch outside two; true", "touchx outside two", "LD_PRELOAD=x touch outside two"):
            with self.subTest(command):
                self.assertNotEqual(self.exec(command)["safety"]["where"], "host")

    def test_a_disallowed_command_is_not_elevated(self):
        self.settings('{ tools: { elevated: { enabled: true, patterns: ["touch *"], requireApproval: false } } }')
        self.write("SANDBOX.md", "## Disallowed Commands\n- touch\n")
        self.exec("touch x", expect=126)
        self.assertFalse(self.exists("x"))

    def test_the_clean_room_shows_no_credentials_and_keeps_nothing(self):
        self.write(".env", "TOKEN=s3cret\n")
        self.write("u.sh", "cat .env; echo changed > u.sh; echo new > made; ls ~ | wc -l\n")
        done = self.call("mass", "bash u.sh", expect=0)
        self.assertNotIn("s3cret", done.stdout + done.stderr)
        self.assertFalse(self.exists("made"))
        self.assertIn("cat .env", self.read("u.sh"))
        self.assertEqual([line["kind"] for line in self.records() if line["kind"] in ("intent", "outcome")], ["intent", "outcome"])

    def test_the_clean_room_refuses_what_is_disallowed(self):
        self.write("SANDBOX.md", "## Disallowed Commands\n- nc -l\n")
        self.call("mass", "nc -l 9", expect=126)


if __name__ == "__main__":
    unittest.main()
