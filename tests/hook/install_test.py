"""cordon install: agents' files are backed up, merged, put back; doctor finds a hook that does not refuse."""
import json
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../guard"))
from case import Case

FILES = {"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini": ".gemini/settings.json", "cursor": ".cursor/hooks.json"}


def text(path):
    with open(path) as file:
        return file.read()


class Install(Case):
    def file(self, agent, root=None):
        with open(os.path.join(root or self.home, FILES[agent])) as file:
            return json.load(file)

    def put(self, name, content):
        path = os.path.join(self.home, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(content)
        return path

    def install(self, agent, *options, **keywords):
        return self.call("cordon", "install", agent, *options, **{"expect": 0, **keywords})

    def hooks_of(self, agent, root=None):
        """Our own, with what stands beside them."""
        found = []
        for groups in self.file(agent, root)["hooks"].values():
            for group in groups:
                found += [hook for hook in group.get("hooks", [group]) if f" hook {agent}" in hook["command"]]
        return found

    def test_each_agent_gets_its_hook_once_however_often_it_is_installed(self):
        for agent in FILES:
            said = self.install(agent).stdout
            self.assertIn("should know", said)
            before = text(os.path.join(self.home, FILES[agent]))
            self.install(agent)
            self.assertEqual(text(os.path.join(self.home, FILES[agent])), before)
            hooks = self.hooks_of(agent)
            self.assertEqual(len(hooks), 4 if agent == "cursor" else 1)
            self.assertTrue(os.path.isabs(hooks[0]["command"].split(" hook ")[0]))
        self.assertEqual(self.hooks_of("claude-code")[0]["onFailure"], "block")
        self.assertGreater(self.hooks_of("claude-code")[0]["timeout"], 15 * 60)
        self.assertGreater(self.hooks_of("gemini")[0]["timeout"], 15 * 60 * 1000)

    def test_cordon_gone_crashed_killed_or_silent_is_a_no(self):
        """Exit code 2 with a word on stderr, which every one of them takes for a no."""
        broken = {"gone": None, "empty": "exit 0", "fails": "echo '{}'; exit 1", "crashes": "kill -SEGV $$", "killed": "echo '{}'; kill -KILL $$",
                  "no program": "\x7fELF"}
        for agent in FILES:
            self.install(agent)
            for command in {hook["command"] for hook in self.hooks_of(agent)}:
                good = self.call("/bin/sh", "-c", command, input="{", stdin=None)
                self.assertEqual((good.returncode, bool(good.stderr)), (2, True))
                for name, body in broken.items():
                    directory = os.path.join(self.dir, f"{agent} {name}")
                    os.makedirs(directory, exist_ok=True)
                    program = os.path.join(directory, "cordon")
                    if body is not None:
                        with open(program, "w") as file:
                            file.write(body if body.startswith("\x7f") else "#!/bin/sh\n" + body + "\n")
                        os.chmod(program, 0o755)
                    head, _, _ = command.rpartition(" ")
                    done = self.call("/bin/sh", "-c", f"{head} '{program}'", input="{}", stdin=None)
                    self.assertEqual((done.returncode, done.stdout), (2, ""), (agent, name))
                    self.assertIn("not done", done.stderr, (agent, name))

    def test_hooks_of_earlier_versions_are_replaced(self):
        old = {"hooks": {"PreToolUse": [{"matcher": ".*", "hooks": [{"type": "command", "command": "/usr/bin/cordon hook codex", "timeout": 960}]}]}}
        self.put(FILES["codex"], json.dumps(old))
        self.install("codex")
        self.assertEqual(len(self.hooks_of("codex")), 1)
        self.assertTrue(self.hooks_of("codex")[0]["command"].startswith("/bin/sh"))

    def test_what_cannot_be_enforced_is_said(self):
        for agent in ("codex", "gemini"):
            self.assertIn("NOT be made to enforce", self.install(agent).stdout.replace("\n", " "))
        self.assertTrue(all(hook["failClosed"] for hook in (self.install("cursor"), self.hooks_of("cursor"))[1]))

    def test_what_is_the_users_stays_and_comes_back_byte_for_byte(self):
        token = self.become_approver()
        theirs = '{"model":"x",   "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}]}]}}\n'
        path = self.put(FILES["claude-code"], theirs)
        os.chmod(path, 0o600)
        self.install("claude-code")
        made = self.file("claude-code")
        self.assertEqual(made["model"], "x")
        self.assertEqual(made["hooks"]["PreToolUse"][0]["hooks"][0]["command"], "mine")
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        self.assertEqual(text(path + ".before-cordon"), theirs)
        self.install("claude-code", "--uninstall", env=token)
        self.assertEqual(text(path), theirs)
        self.assertFalse(os.path.exists(path + ".before-cordon"))

    def test_what_changed_since_is_kept_when_it_is_taken_out(self):
        token = self.become_approver()
        path = self.put(FILES["gemini"], "{}")
        self.install("gemini")
        made = self.file("gemini")
        made["theme"] = "dark"
        with open(path, "w") as file:
            json.dump(made, file)
        self.install("gemini", "--uninstall", env=token)
        self.assertEqual(self.file("gemini"), {"theme": "dark"})

    def test_taking_it_out_loosens_and_needs_presence(self):
        self.install("claude-code")
        self.install("claude-code", "--uninstall", expect=126)
        self.assertEqual(len(self.hooks_of("claude-code")), 1)

    def test_an_agent_cannot_take_it_out_through_cordon(self):
        for command in ("cordon install claude-code --uninstall", "cordon install claude-code"):
            self.assertEqual(json.loads(self.call("sandbox-check", command).stdout)["risk_level"], "critical")

    def test_a_file_that_cannot_be_read_is_left_alone(self):
        path = self.put(FILES["gemini"], "{ // a comment\n}")
        self.assertIn("plain JSON", self.install("gemini", expect=1).stderr)
        self.assertEqual(text(path), "{ // a comment\n}")
        path = self.put(FILES["codex"], '{"hooks": [1]}')
        self.assertIn("not known", self.install("codex", expect=1).stderr)
        self.assertEqual(text(path), '{"hooks": [1]}')

    def test_a_link_to_settings_elsewhere_stays_a_link(self):
        real = self.put("dotfiles/settings.json", "{}")
        os.mkdir(os.path.join(self.home, ".claude"))
        os.symlink(real, os.path.join(self.home, FILES["claude-code"]))
        self.install("claude-code")
        self.assertTrue(os.path.islink(os.path.join(self.home, FILES["claude-code"])))
        self.assertIn("hooks", json.loads(text(real)))

    def test_in_a_project_it_is_the_projects_files(self):
        self.install("claude-code", "--project")
        self.assertEqual(len(self.hooks_of("claude-code", self.work)), 1)
        self.assertFalse(os.path.exists(os.path.join(self.home, ".claude")))
        with open(os.path.join(self.work, ".mcp.json")) as file:
            server = json.load(file)["mcpServers"]["cordon"]
        self.assertEqual(server["args"][:3], ["mcp", "--agent", "claude-code"])
        self.assertTrue(self.exists(".claude/skills/cordon/SKILL.md"))

    def test_openclaws_plugin_asks_the_hook_and_blocks_when_there_is_none(self):
        if not shutil.which("node"):
            self.skipTest("needs node")
        self.install("openclaw")
        plugin = os.path.join(self.home, ".openclaw/extensions/cordon/index.js")
        shutil.copy(plugin, os.path.join(self.dir, "plugin.mjs"))
        with open(os.path.join(self.dir, "plugin.mjs")) as file:
            text = file.read()
        with open(os.path.join(self.dir, "broken.mjs"), "w") as file:
            file.write(text.replace("/cordon\"", "/no-such-cordon\"", 1))
        script = """
          const [file, command] = process.argv.slice(2);
          const plugin = (await import(file)).default;
          // As in OpenClaw, which runs elsewhere than its agents work.
          const where = process.cwd();
          process.chdir("/");
          const agent = { resolveAgentWorkspaceDir: (config, id) => (config === "config" && id === "main" ? where : undefined) };
          const runtime = { agent, config: { current: () => "config" } };
          plugin.register({ runtime, on: (name, fn, { priority }) => priority < 0 && console.log(JSON.stringify(fn({ toolName: "exec", params: { command } }, { agentId: "main" }) ?? null)) });
        """
        with open(os.path.join(self.dir, "host.mjs"), "w") as file:
            file.write(script)

        def fire(name, command):
            done = self.call("node", os.path.join(self.dir, "host.mjs"), os.path.join(self.dir, name), command, expect=0)
            return json.loads(done.stdout)
        self.assertIn("exec --from hook", fire("plugin.mjs", "ls")["params"]["command"])
        self.assertIn("--cwd " + os.path.realpath(self.work), fire("plugin.mjs", "ls")["params"]["command"])
        self.assertTrue(fire("plugin.mjs", "rm -rf / --no-preserve-root")["block"])
        self.assertTrue(fire("broken.mjs", "ls")["block"])

    def test_doctor_sends_a_command_that_must_be_refused_through_every_hook(self):
        agents = [*FILES, *(["openclaw"] if shutil.which("node") else [])]
        for agent in agents:
            self.install(agent)
        checks = self.checks()
        for agent in agents:
            self.assertTrue(checks[f"hook of {agent}"]["works"], checks[f"hook of {agent}"])
        made = self.file("claude-code")
        fake = os.path.join(self.dir, "cordon")
        with open(fake, "w") as file:
            file.write("#!/bin/sh\necho '{}'\n")
        os.chmod(fake, 0o755)
        made["hooks"]["PreToolUse"][0]["hooks"][0]["command"] = fake + " hook claude-code"
        self.put(FILES["claude-code"], json.dumps(made))
        done = self.call("cordon", "doctor", "--json", expect=1)
        check = [check for check in json.loads(done.stdout)["checks"] if check["name"] == "hook of claude-code"][0]
        self.assertFalse(check["works"])
        self.assertIn("did not refuse", check["detail"])


    def checks(self, **keywords):
        return {check["name"]: check for check in json.loads(self.call("cordon", "doctor", "--json", **keywords).stdout)["checks"]}

    def test_doctor_finds_an_openclaw_plugin_that_lets_everything_pass(self):
        if not shutil.which("node"):
            self.skipTest("needs node")
        self.install("openclaw")
        path = os.path.join(self.home, ".openclaw/extensions/cordon/index.js")
        with open(path, "w") as file:
            file.write('export default { register(api) { api.on("before_tool_call", () => undefined); } };')
        self.assertFalse(self.checks()["hook of openclaw"]["works"])

    def codex_that_says(self, **about):
        """Codex's app-server, as far as doctor talks to it. The real one is asked in real_agents_test.py."""
        hook = {"command": self.hooks_of("codex")[0]["command"], "sourcePath": os.path.join(self.home, FILES["codex"]), "enabled": True, **about}
        folder = os.path.join(self.dir, "codex-bin")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "codex"), "w") as file:
            file.write("#!/usr/bin/python3\nimport json, sys\nassert sys.argv[1:] == ['app-server']\nfor line in sys.stdin:\n    asked = json.loads(line)\n"
                       "    if asked.get('method') == 'hooks/list':\n        print('{\"method\":\"noise\"}')\n"
                       f"        print(json.dumps({{'id': asked['id'], 'result': {{'data': [{{'hooks': [{hook!r}]}}]}}}}), flush=True)\n")
        os.chmod(os.path.join(folder, "codex"), 0o755)
        return {"PATH": folder + ":" + self.environment["PATH"]}

    def test_doctor_does_not_call_a_hook_fine_that_codex_will_not_run(self):
        self.install("codex")
        name = "trust in the hook of codex"
        for trust, runs in (("trusted", True), ("managed", True), ("untrusted", False), ("modified", False), ("", False)):
            done = self.call("cordon", "doctor", "--json", env=self.codex_that_says(trustStatus=trust))
            said = json.loads(done.stdout)
            check = next(check for check in said["checks"] if check["name"] == name)
            self.assertEqual((check["works"], check["needed"]), (runs, True), trust)
            if not runs:
                self.assertEqual((done.returncode, said["ok"]), (1, False))
        for about in ({"trustStatus": "trusted", "enabled": False}, {"trustStatus": "trusted", "command": "another"},
                      {"trustStatus": "trusted", "sourcePath": "/elsewhere"}, {"trustStatus": 5}):
            self.assertFalse(self.checks(env=self.codex_that_says(**about))[name]["works"], about)
        unknown = self.checks(env={"PATH": self.environment["PATH"].split(":")[0] + ":/usr/bin:/bin"})[name]
        self.assertEqual((unknown["works"], unknown["needed"]), (False, False))
        self.assertIn("not known", unknown["detail"])

    def test_doctor_finds_hooks_that_are_switched_off(self):
        for agent, off in (("claude-code", {"disableAllHooks": True}), ("gemini", {"hooksConfig": {"enabled": False}}),
                           ("gemini", {"hooksConfig": {"disabled": ["cordon"]}})):
            self.install(agent)
            self.assertNotIn(f"hooks of {agent}", self.checks())
            before = self.file(agent)
            self.put(FILES[agent], json.dumps({**before, **off}))
            self.assertFalse(self.checks()[f"hooks of {agent}"]["works"])
            self.put(FILES[agent], json.dumps(before))


if __name__ == "__main__":
    unittest.main(verbosity=1)
