#!/usr/bin/env python3
"""Which backend runs a command, and that none is put in the place of another. With the engine of engine.py."""
import json
import os
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.environ["CORDON_SOURCE"], "tests", "guard"))
from case import Case  # noqa: E402

ENGINE = "unix://" + os.environ["CORDON_TEST_SOCKET"]


class Choice(Case):
    def settings(self, text):
        os.makedirs(os.path.join(self.home, ".config", "cordon"), exist_ok=True)
        with open(os.path.join(self.home, ".config", "cordon", "config.json5"), "w") as file:
            file.write(text)

    def setUp(self):
        super().setUp()
        self.engine = {"DOCKER_HOST": ENGINE}
        self.none = {"DOCKER_HOST": "unix:///nonexistent/docker.sock"}

    def test_each_backend_runs_and_says_so(self):
        for backend in ("native", "runc", "docker"):
            done = self.exec("echo hello", "--backend", backend, expect=0, env=self.engine)
            self.assertEqual((done["stdout"], done["isolation"]["backend"]), ("hello\n", backend))
        intents = [line for line in self.records() if line["kind"] == "intent"]
        self.assertEqual([line["detail"]["backend"] for line in intents], ["native", "runc", "docker"])

    def test_an_engine_that_is_not_there_is_refused_with_what_to_do(self):
        done = self.exec("touch made", "--backend", "docker", expect=125, env=self.none)
        self.assertFalse(done["executed"])
        self.assertIn("no container engine answers", done["error"])
        self.assertIn("docker.io", done["error"])
        self.assertFalse(self.exists("made"))
        self.settings("{agents: {defaults: {sandbox: {backend: 'docker'}}}}")
        done = self.exec("touch made", expect=125, env=self.none)
        self.assertFalse(done["executed"])
        self.assertFalse(self.exists("made"), "it ran somewhere else")

    def test_an_image_that_is_not_there_is_refused_with_what_to_do(self):
        self.settings("{agents: {defaults: {sandbox: {backend: 'docker', docker: {image: 'no-such:image'}}}}}")
        done = self.exec("true", expect=125, env=self.engine)
        self.assertIn("cordon image build", done["error"])

    def test_a_name_that_is_none_is_refused(self):
        done = self.call("sandbox-exec", "--backend", "podmn", "true", expect=1)
        self.assertIn("auto, native, docker, gvisor and runc", done.stderr)

    def test_levels_are_the_native_backend_s(self):
        done = self.exec("true", "--backend", "runc", "--require", "L0", expect=125)
        self.assertIn("levels are the native backend's", done["error"])

    def test_the_settings_backend_is_replaced_only_by_a_person(self):
        self.settings("{agents: {defaults: {sandbox: {backend: 'runc'}}}}")
        done = self.call("sandbox-exec", "--json", "--backend", "native", "true", expect=126)
        self.assertIn("needs a person", done.stdout + done.stderr)
        self.assertEqual(self.exec("true", expect=0)["isolation"]["backend"], "runc")

    def test_the_clean_room_takes_an_engine_where_one_is_and_says_so(self):
        self.write("in.txt", "given\n")
        self.write(".env", "SECRET=1\n")
        probe = "cat in.txt .env; id -un; echo x > made"
        for env, backend in ((self.engine, "docker"), (self.none, "native")):
            done = json.loads(self.call("mass", "--json", probe, env=env).stdout)
            self.assertEqual((done["stdout"], done["isolation"]["backend"]), ("given\nsandboxuser\n", backend), done)
            self.assertFalse(self.exists("made"))
        done = json.loads(self.call("mass", "--json", "--backend", "docker", "true", env=self.none, expect=125).stdout)
        self.assertFalse(done["executed"])

    def test_a_container_is_kept_for_the_session_listed_and_refused_when_settings_change(self):
        base = "{agents: {defaults: {sandbox: {backend: 'docker', scope: 'session', limits: {memory: '%s'}}}}}"
        self.settings(base % "256 MiB")
        options = ("--session", "agent:main:work")
        self.exec("echo one > /tmp/note", *options, expect=0, env=self.engine)
        first = self.listed()
        self.assertEqual(self.exec("cat /tmp/note; cat /proc/sys/kernel/hostname", *options, expect=0, env=self.engine)["stdout"], "one\nsandbox\n")
        self.assertEqual(self.listed(), first, "the second command made another container")
        self.assertTrue(first["agent:main:work"])
        self.settings(base % "300 MiB")
        done = self.exec("true", *options, expect=125, env=self.engine)
        self.assertIn("cordon sandbox recreate --keep-files --session 'agent:main:work'", done["error"])
        self.call("cordon", "sandbox", "recreate", "--keep-files", "--session", "agent:main:work", expect=0, env=self.engine)
        self.assertFalse(self.listed()["agent:main:work"])
        self.assertEqual(self.exec("cat /tmp/note", *options, expect=0, env=self.engine)["stdout"], "one\n")
        self.assertNotEqual(self.listed(), first)
        self.call("cordon", "sandbox", "recreate", "--force", "--session", "agent:main:work", expect=0, env=self.engine)
        self.assertEqual(self.listed(), {})

    def test_a_kept_container_ends_when_unused_for_as_long_as_the_settings_say(self):
        base = "{agents: {defaults: {sandbox: {backend: 'docker', scope: 'session', docker: {idle: '%s', age: '1h'}}}}}"
        session = "agent:main:idle"
        self.settings(base % "1h")
        self.exec("true", "--session", session, expect=0, env=self.engine)
        self.settings(base % "5s")
        done = self.exec("true", "--session", session, expect=125, env=self.engine)
        self.assertIn("cordon sandbox recreate", done["error"], "it lives by the old settings")
        self.call("cordon", "sandbox", "recreate", "--keep-files", "--session", session, expect=0, env=self.engine)
        self.exec("true", "--session", session, expect=0, env=self.engine)
        deadline = time.monotonic() + 120
        while self.listed()[session] and time.monotonic() < deadline:
            time.sleep(0.2)
        self.assertFalse(self.listed()[session], "it did not end by itself")
        self.exec("true", "--session", session, expect=0, env=self.engine)
        self.call("cordon", "sandbox", "recreate", "--force", "--session", session, expect=0, env=self.engine)

    def listed(self):
        rows = json.loads(self.call("cordon", "sandbox", "list", "--json", expect=0, env=self.engine).stdout)
        return {row["session"]: row["container"] for row in rows}

    def test_an_approval_is_for_the_image_it_was_asked_for(self):
        self.settings("{agents: {defaults: {sandbox: {backend: 'docker'}}}}")
        person = self.become_approver()
        queued = self.exec("rm -rf build", "--agent", "worker", expect=75, env=self.engine)
        plan = json.loads(self.call("sandbox-queue", "show", "--json", queued["queue_id"], expect=0).stdout)["plan"]
        self.assertEqual((plan["backend"], plan["image"]), ("docker", os.environ["CORDON_TEST_IMAGE"]))
        self.call("sandbox-queue", "approve", queued["queue_id"], env={**person, **self.none})
        shown = json.loads(self.call("sandbox-queue", "show", "--json", queued["queue_id"], expect=0).stdout)
        self.assertNotEqual(shown["status"], "executed", "it ran although its engine was gone")


if __name__ == "__main__":
    unittest.main(verbosity=2)
