"""What explain says is what exec then does: generated settings, sessions, agents and commands, each asked and then run.
CORDON_TRUTHS says how many (default 200); the seed is fixed and printed with what fails."""
import json
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from case import Case

ROUNDS = int(os.environ.get("CORDON_TRUTHS", "200"))
SEED = int(os.environ.get("CORDON_SEED", "7"))

# What it can see and change of what the settings give, told by the command itself.
PROBE = ("[ -e given.txt ] && echo workspace; ( : > probe.tmp ) 2>/dev/null && echo writable; [ -e /data/f ] && echo data; "
         "[ -w /data ] && echo data-writable; true")
COMMANDS = [PROBE, PROBE, PROBE, "true", "git status", "git push origin main", "git status; git push origin main", "git pushx origin",
            "git -c alias.push=!sh push origin", "GIT_SSH_COMMAND=sh git push origin main", "touch made", "rm -rf build",
            "uname -a", "env git push origin main", "git  push   origin main", "\"git\" 'push' origin main",
            "git push", "(git push origin main)", "git push origin main && true", "git push origin $(true)"]
PATTERNS = [["git push *"], ["git push *", "uname *"], ["git status"], ["touch *"], ["brew *"], []]
PROFILES = ["full", "coding", "messaging", "minimal"]
TOOLS = ["exec", "group:runtime", "browser", "group:automation", "EXEC", "web_search"]


class Truth(Case):
    def setUp(self):
        super().setUp()
        self.write("given.txt", "x")
        self.data = os.path.join(self.dir, "data")
        os.mkdir(self.data)
        with open(os.path.join(self.data, "f"), "w") as file:
            file.write("x")
        os.makedirs(os.path.join(self.home, ".config/cordon"), exist_ok=True)
        self.person = self.become_approver()
        self.draw = random.Random(SEED)

    def sandbox(self):
        pick = self.draw
        made = {"mode": pick.choice(["off", "non-main", "all", "all"]), "scope": pick.choice(["session", "agent", "shared"]),
                "workspace": pick.choice(["none", "ro", "rw"])}
        if pick.random() < 0.4:
            made["binds"] = [f"{self.data}:/data:{pick.choice(['ro', 'rw'])}"]
        return made

    def tools(self):
        pick = self.draw
        made = {"profile": pick.choice(["full", "coding", *PROFILES])}
        if pick.random() < 0.3:
            made["deny"] = pick.sample(TOOLS, pick.randint(1, 2))
        if pick.random() < 0.3:
            made["allow"] = pick.sample(TOOLS, pick.randint(1, 2))
        if pick.random() < 0.6:
            made["elevated"] = {"enabled": pick.random() < 0.85, "patterns": pick.choice(PATTERNS),
                                "requireApproval": pick.random() < 0.7}
        return made

    def settings(self):
        made = {"agents": {"defaults": {"sandbox": self.sandbox()}}, "tools": self.tools()}
        if self.draw.random() < 0.4:
            made["agents"]["entries"] = {"helper": {"sandbox": self.sandbox(), "tools": {
                key: value for key, value in self.tools().items() if key in ("profile", "deny", "allow")}}}
        with open(os.path.join(self.home, ".config/cordon/config.json5"), "w") as file:
            json.dump(made, file)
        return made

    def one(self):
        settings = self.settings()
        agent = self.draw.choice(["main", "main", "helper"])
        session = self.draw.choice([f"agent:{agent}:main", f"agent:{agent}:chat:{self.draw.randint(1, 3)}"])
        command = self.draw.choice(COMMANDS)
        options = ("--agent", agent, "--session", session)
        told = json.loads(self.call("cordon", "explain", "--json", *options, "--command", command, expect=0).stdout)
        did = self.exec(command, *options, env=self.person)
        for name in ("probe.tmp", "made"):
            if self.exists(name):
                os.unlink(os.path.join(self.work, name))
        self.compare(told, did, command)
        return settings, options, command

    def compare(self, told, did, command):
        has_exec = "exec" in told["tools"]["effective"]
        self.assertEqual(did["safety"]["rule"], told["command"]["rule"])
        if not has_exec:
            self.assertTrue(did["blocked"] and not did["executed"], did)
            self.assertIn("no exec", did["error"])
            self.assertEqual(did["error"], told["obstacle"])
            return
        if told["obstacle"]:
            self.assertFalse(did["executed"] or did["queued"], did)
            self.assertEqual(did["error"], told["obstacle"])
            return
        action = told["command"]["suggested_action"]
        self.assertEqual((did["executed"], did["queued"], did["blocked"]),
                         (action == "execute", action == "queue_for_approval", action == "block"), did)
        if action != "execute":
            self.assertFalse(self.exists("made"))
            return
        plan = told["plan"]
        self.assertEqual(did["isolation"]["backend"], plan["backend"])
        self.assertEqual(plan["where"], "host" if plan["backend"] == "host" else "sandbox")
        if command != PROBE:
            return
        seen = did["stdout"].split()
        if plan["where"] == "host":
            self.assertEqual(seen, ["workspace", "writable"])
            return
        access = plan["workspace"]["access"]
        binds = [bind for bind in plan["binds"] if ":/data:" in bind]
        expected = ["workspace"] if access != "none" else []
        expected += ["writable"] if access != "ro" else []  # without a workspace it is in its own HOME
        expected += ["data"] if binds else []
        expected += ["data-writable"] if binds and binds[0].endswith(":rw") else []
        self.assertEqual(seen, expected)

    def test_explain_tells_the_truth(self):
        ran = {"host": 0, "native": 0}
        for number in range(ROUNDS):
            state = self.draw.getstate()
            try:
                self.one()
            except AssertionError as trouble:
                self.draw.setstate(state)
                raise AssertionError(f"round {number} of seed {SEED}: {self.describe()}\n{trouble}") from trouble
        for line in self.records():
            if line["kind"] == "outcome" and not line["detail"].get("preview"):
                ran[line["detail"]["isolation"]["backend"]] += 1
        # A test in which everything was refused would show nothing.
        if ROUNDS >= 100:
            self.assertGreater(ran["host"], 5)
            self.assertGreater(ran["native"], 5)

    def describe(self):
        with open(os.path.join(self.home, ".config/cordon/config.json5")) as file:
            return file.read()


class Elevated(Case):
    def settings(self, text):
        os.makedirs(os.path.join(self.home, ".config/cordon"), exist_ok=True)
        with open(os.path.join(self.home, ".config/cordon/config.json5"), "w") as file:
            file.write(text)

    def test_only_the_pattern_itself_leaves_the_sandbox(self):
        self.settings('{agents: {defaults: {sandbox: "all"}}, tools: {elevated: {enabled: true, patterns: ["git push *"]}}}')
        asked = self.exec("git push origin main", expect=75)
        self.assertEqual(asked["safety"]["where"], "host")
        for command in ("git status; git push origin main", "git status && git push origin main", "git pushx origin", "xgit push origin",
                        "git -c alias.push=!sh push origin", "git -c core.sshCommand=sh push origin", "git --exec-path=. push origin",
                        "GIT_SSH_COMMAND=sh git push origin main", "env GIT_SSH_COMMAND=sh git push origin", "PATH=. git push origin",
                        "./git push origin", "git push origin $(touch made)", "git push origin main > out", "git push origin main | sh",
                        "git push --receive-pack=sh origin", "bash -c 'git push origin main'", "git\npush origin", "time git push origin main &"):
            with self.subTest(command):
                done = self.exec(command)
                silent = done["executed"] and done["isolation"]["backend"] == "host"
                self.assertFalse(silent, done)
                if not done["queued"]:
                    self.assertNotEqual(done["safety"]["where"], "host", "refused, but it was taken for the elevated one")

    def test_deny_beats_everything(self):
        for profile in ("full", "coding"):
            for allow in ([], ["exec"], ["group:runtime"], ["*"], ["EXEC"]):
                for deny in (["exec"], ["EXEC"], ["group:runtime"], ["Group:Runtime"], ["exe*"], ["*"]):
                    entry = {"tools": {"profile": "full", "allow": ["exec"]}}
                    tools = {"profile": profile, "allow": allow, "deny": deny,
                             "elevated": {"enabled": True, "patterns": ["touch *"], "requireApproval": False}}
                    self.settings(json.dumps({"agents": {"entries": {"worker": entry}}, "tools": tools}))
                    for agent in ("main", "worker"):
                        with self.subTest(profile=profile, allow=allow, deny=deny, agent=agent):
                            done = self.exec("touch made", "--agent", agent, expect=126)
                            self.assertTrue(done["blocked"])
                            self.assertFalse(self.exists("made"))
                            tools_there = self.call("cordon", "tools", "--agent", agent, expect=0).stdout.split()
                            self.assertNotIn("exec", tools_there)


class Scenarios(Case):
    """The three scenarios and four exercises of the guide to sandboxing that the settings come from."""
    settings = Elevated.settings

    def test_a_trusted_machine_of_one_s_own(self):
        self.settings('{agents: {defaults: {sandbox: {mode: "off"}}}, tools: {profile: "full"}}')
        self.assertEqual(self.exec("touch made", expect=0)["isolation"]["backend"], "host")
        self.assertTrue(self.exists("made"))

    def test_a_person_and_group_chats(self):
        self.settings('{agents: {defaults: {sandbox: {mode: "non-main"}}}, tools: {profile: "coding", deny: ["group:automation"]}}')
        person = self.become_approver()
        main = self.exec("true", "--session", "agent:main:main", expect=0, env=person)
        group = self.exec("true", "--session", "agent:main:telegram:group:-100123", expect=0)
        self.assertEqual((main["isolation"]["backend"], group["isolation"]["backend"]), ("host", "native"))
        self.assertEqual(self.call("cordon", "tools", expect=0).stdout.split(), ["read", "write", "edit", "exec", "browser"])

    def test_a_remote_server(self):
        self.settings('{agents: {defaults: {sandbox: {mode: "all", scope: "session", workspace: "ro"}}}, tools: {profile: "messaging",'
                      ' deny: ["group:runtime", "group:fs"], elevated: {enabled: true, patterns: ["systemctl status *", "journalctl *"],'
                      ' requireApproval: true}}}')
        # The guide says two things at once: exec is denied, and two commands are elevated. Deny is absolute.
        done = self.exec("systemctl status ssh", expect=126)
        self.assertIn("no exec", done["error"])

    def test_exercises(self):
        self.exec("true", "--session", "agent:main:one", expect=0)
        self.assertIn('Session "agent:main:one" → SANDBOX', self.call("cordon", "explain", expect=0).stdout)
        self.settings('{agents: {defaults: {sandbox: {mode: "non-main"}}}}')
        self.assertEqual(self.exec("true", "--session", "agent:main:one", expect=0)["isolation"]["backend"], "native")
        self.settings('{agents: {defaults: {sandbox: "all"}}, tools: {profile: "minimal"}}')
        self.assertTrue(self.exec("true", expect=126)["blocked"])
        self.assertEqual(self.call("cordon", "tools", expect=0).stdout.split(), ["web_search"])
        self.settings('{agents: {defaults: {sandbox: "all"}}, tools: {elevated: {enabled: true, patterns: ["git status"]}}}')
        person = self.become_approver()
        asked = self.exec("git status", expect=75)
        done = json.loads(self.call("sandbox-queue", "--json", "approve", asked["queue_id"], env=person).stdout)
        self.assertEqual(done["isolation"]["backend"], "host")


if __name__ == "__main__":
    unittest.main()
