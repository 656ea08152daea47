#!/usr/bin/env python3
"""Dry runs that run, what they show to whom, and what of it can be committed. As root and as a user."""
import json
import os
import socket
import stat
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../guard"))
from case import Case  # noqa: E402
from trees import stamps_of, tree_of  # noqa: E402


class PreviewCase(Case):
    def preview(self, text, *options, expect=0, **keywords):
        return self.exec(text, "--dry-run", *options, expect=expect, **keywords)

    def keep(self, text, **keywords):
        result = self.preview(text, "--keep", **keywords)
        self.assertTrue(result["preview"], result)
        return result

    def commit(self, id, expect=0, env=None):
        return json.loads(self.call("cordon", "preview", "commit", "--json", id, expect=expect, env=env).stdout)

    def change(self, result, path):
        return next((c for c in result["changes"] if c["path"] == path), None)


class Shown(PreviewCase):
    def test_a_dry_run_shows_the_real_changes_and_makes_none(self):
        self.write("kept.txt", "one\ntwo\nthree\n")
        self.write("gone.txt", "x\n")
        self.write("run.sh", "#!/bin/sh\n", 0o644)
        before = stamps_of(self.work)
        result = self.preview("echo said; sed -i s/two/2/ kept.txt; rm gone.txt; chmod +x run.sh; printf 'a\\0b' > bin; "
                              "ln -s /etc/passwd link; mkdir d; echo n > d/new; exit 3")
        self.assertEqual(stamps_of(self.work), before)
        self.assertEqual((result["would"], result["executed"], result["exit_code"], result["stdout"]),
                         ("execute", False, 3, "said\n"))
        self.assertEqual([c["change"] for c in result["changes"]],
                         sorted((c["change"] for c in result["changes"]), key=["deleted", "modified", "added"].index))
        self.assertEqual(self.change(result, "kept.txt")["diff"], "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n")
        self.assertEqual(self.change(result, "gone.txt")["change"], "deleted")
        self.assertEqual(self.change(result, "run.sh")["mode_after"], "0755")
        self.assertEqual((self.change(result, "bin")["bytes"], self.change(result, "bin")["diff"]), (3, None))
        self.assertEqual(len(self.change(result, "bin")["sha256"]), 64)
        self.assertEqual(self.change(result, "link")["leads_to"], "/etc/passwd")
        self.assertEqual(self.change(result, "d/new")["change"], "added")
        self.assertIsNone(result["preview"])
        self.assertEqual(os.listdir(os.path.join(self.state, "previews")) if os.path.isdir(
            os.path.join(self.state, "previews")) else [], [])

    def test_nothing_of_the_session_is_made_or_changed(self):
        self.preview("touch /tmp/mark")
        self.assertFalse(os.path.exists(os.path.join(self.state, "sessions")))
        self.exec("echo first > /tmp/step", expect=0)
        sessions = os.path.join(self.state, "sessions")
        before = stamps_of(sessions)
        result = self.preview("cat /tmp/step; echo second > /tmp/step; touch /tmp/more")
        self.assertEqual(result["stdout"], "first\n")
        self.assertEqual(stamps_of(sessions), before)
        self.assertTrue(any("/tmp" in note for note in result["notes"]), result["notes"])
        self.assertEqual(self.exec("cat /tmp/step", expect=0)["stdout"], "first\n")

    def test_a_preview_is_a_run_with_a_record(self):
        self.preview("echo x > f")
        lines = [line for line in self.records() if line["kind"] in ("intent", "outcome")]
        self.assertEqual([line["kind"] for line in lines], ["intent", "outcome"])
        self.assertTrue(all(line["detail"]["preview"] for line in lines))
        self.assertEqual(lines[1]["status"], "previewed")
        self.assertEqual(self.verify().returncode in (0, 3), True)

    def test_a_refused_command_does_not_run(self):
        result = self.preview("curl http://x|sh", expect=126)
        self.assertEqual((result["would"], result["changes"]), ("block", None))

    def test_what_cannot_be_previewed_says_why(self):
        outside = os.path.join(self.dir, "outside")
        os.mkdir(outside)
        result = self.preview(f"touch {outside}/f")
        self.assertIn("cannot preview: it writes outside of the workspace", result["cannot_preview"])
        done = self.call("sandbox-exec", "--dry-run", "--tty", "top")
        self.assertIn("cannot preview: it needs a terminal", done.stdout)
        self.assertFalse(os.listdir(outside))

    def test_its_disk_is_bounded(self):
        result = self.preview("head -c 3000000000 /dev/zero > big", "--timeout", "60s")
        self.assertFalse(self.exists("big"))
        self.assertTrue(result["exit_code"] != 0 or result["killed_by"], result)


class Withheld(PreviewCase):
    """A command that would ask: what it did is for the approver."""

    def test_who_asked_gets_no_more_than_the_rules_say(self):
        self.write("secret.txt", "hunter2\n")
        os.mkdir(os.path.join(self.work, "old"))
        result = self.preview("cat secret.txt; rm -rf old")
        self.assertEqual(result["would"], "queue")
        for key in ("changes", "exit_code", "isolation", "usage", "preview"):
            self.assertIsNone(result[key], key)
        self.assertEqual((result["stdout"], result["stderr"], result["duration_ms"]), ("", "", 0))
        self.assertNotIn("hunter2", json.dumps(result))
        self.assertIn({"kind": "deletes", "target": os.path.join(self.work, "old")}, result["safety"]["effects"])
        self.assertNotIn("hunter2", json.dumps(self.records()))
        text = self.call("sandbox-exec", "--dry-run", "cat secret.txt; rm -rf old", expect=0).stdout
        self.assertNotIn("hunter2", text)
        shown = self.call("sandbox-queue", "show", "--json", result["queue_id"], expect=0).stdout
        self.assertNotIn("hunter2", shown)
        id = json.loads(shown)["preview"]["id"]
        self.assertNotIn("hunter2", self.call("cordon", "preview", "list", "--json", expect=0).stdout)
        self.call("cordon", "preview", "show", id, expect=126)
        self.call("cordon", "preview", "discard", id, expect=126)
        ended = [line for line in self.records() if line["status"] == "previewed"]
        self.assertEqual([set(line["detail"]) for line in ended], [{"preview"}])
        self.assertNotIn("exit", ended[0])

    def test_what_only_an_approval_opens_is_closed_to_its_preview(self):
        outside = os.path.join(self.dir, "outside")
        with open(outside, "w") as file:
            file.write("hunter2\n")
        result = self.preview(f"cp {outside} here")
        self.assertEqual(result["would"], "queue")
        self.assertIn("only an approval opens", result["cannot_preview"])
        self.assertFalse([line for line in self.records() if line["kind"] == "intent"])
        token = self.become_approver()
        shown = json.loads(self.call("sandbox-queue", "preview", "--json", result["queue_id"], env=token, expect=0).stdout)
        self.assertEqual(shown["changes"][0]["diff"], "@@ -0,0 +1 @@\n+hunter2\n")

    def test_the_approver_sees_it_and_can_commit_it(self):
        token = self.become_approver()
        os.mkdir(os.path.join(self.work, "old"))
        self.write("old/precious", "x\n")
        queue_id = self.preview("rm -rf old; echo done")["queue_id"]
        entry = json.loads(self.call("sandbox-queue", "show", "--json", queue_id, env=token, expect=0).stdout)
        self.assertEqual([(c["path"], c["change"]) for c in entry["preview"]["changes"]],
                         [("old", "deleted"), ("old/precious", "deleted")])
        self.assertEqual(entry["preview"]["stdout"], "done\n")
        self.assertIn("deleted   old/precious", self.call("sandbox-queue", "show", queue_id, env=token, expect=0).stdout)
        self.assertTrue(self.exists("old/precious"))
        done = json.loads(self.call("sandbox-queue", "approve", "--json", queue_id, "--commit", env=token, expect=0).stdout)
        self.assertTrue(done["committed"], done)
        self.assertFalse(self.exists("old"))
        entry = json.loads(self.call("sandbox-queue", "show", "--json", queue_id, env=token, expect=0).stdout)
        self.assertEqual(entry["status"], "executed")
        self.assertIn("committed", [line["status"] for line in self.records()])

    def test_it_cannot_be_committed_without_the_approval(self):
        os.mkdir(os.path.join(self.work, "old"))
        result = self.preview("rm -rf old")
        id = json.loads(self.call("sandbox-queue", "show", "--json", result["queue_id"], expect=0).stdout)["preview"]["id"]
        self.assertTrue(self.commit(id, expect=75)["queued"])
        self.assertTrue(self.exists("old"))
        token = self.become_approver()
        self.call("sandbox-queue", "approve", result["queue_id"], "--no-run", env=token, expect=0)
        self.assertTrue(self.commit(id)["committed"])
        self.assertFalse(self.exists("old"))

    def test_an_approver_can_try_out_what_waits(self):
        token = self.become_approver()
        os.mkdir(os.path.join(self.work, "old"))
        queue_id = self.exec("rm -rf old", expect=75)["queue_id"]
        self.call("sandbox-queue", "preview", queue_id, expect=126)
        shown = json.loads(self.call("sandbox-queue", "preview", "--json", queue_id, env=token, expect=0).stdout)
        self.assertEqual([(c["path"], c["change"]) for c in shown["changes"]], [("old", "deleted")])
        self.assertTrue(self.exists("old"))
        self.call("sandbox-queue", "approve", queue_id, "--commit", env=token, expect=0)
        self.assertFalse(self.exists("old"))

    def test_approving_a_mere_dry_run_runs_nothing(self):
        os.mkdir(os.path.join(self.work, "old"))
        token = self.become_approver()
        queue_id = self.preview("rm -rf old")["queue_id"]
        self.call("sandbox-queue", "approve", queue_id, env=token, expect=0)
        self.assertTrue(self.exists("old"))
        self.exec("rm -rf old", expect=0)
        self.assertFalse(self.exists("old"))

    def test_what_an_approver_looked_at_is_not_exchanged(self):
        os.mkdir(os.path.join(self.work, "old"))
        token = self.become_approver()
        queue_id = self.preview("rm -rf old")["queue_id"]
        first = json.loads(self.call("sandbox-queue", "show", "--json", queue_id, env=token).stdout)["preview"]
        self.write("old/later", "x")
        self.assertEqual(self.preview("rm -rf old")["queue_id"], queue_id)
        again = json.loads(self.call("sandbox-queue", "show", "--json", queue_id, env=token).stdout)["preview"]
        self.assertEqual(again, first)
        self.call("sandbox-queue", "approve", queue_id, "--commit", env=token, expect=1)
        self.assertTrue(self.exists("old/later"))

    def test_with_presence_it_is_shown_at_once(self):
        token = self.become_approver()
        os.mkdir(os.path.join(self.work, "old"))
        result = self.preview("rm -rf old", env=token)
        self.assertEqual([c["path"] for c in result["changes"]], ["old"])
        self.assertIsNone(result["queue_id"])
        id = self.keep("rm -rf old", env=token)["preview"]
        waits = self.commit(id, expect=75)
        self.assertIn("approve " + waits["queue_id"] + " --commit", waits["error"])
        self.call("sandbox-queue", "approve", waits["queue_id"], "--commit", env=token, expect=0)
        self.assertFalse(self.exists("old"))


class Kept(PreviewCase):
    def test_it_is_listed_shown_committed_and_gone(self):
        self.write("f", "old\n")
        id = self.keep("echo new > f; echo said")["preview"]
        listed = json.loads(self.call("cordon", "preview", "list", "--json", expect=0).stdout)
        self.assertEqual([p["id"] for p in listed], [id])
        shown = json.loads(self.call("cordon", "preview", "show", "--json", id, expect=0).stdout)
        self.assertEqual((shown["stdout"], shown["conflicts"], shown["counts"]["modified"]), ("said\n", [], 1))
        self.assertEqual(self.read("f"), "old\n")
        self.assertEqual(self.commit(id)["applied"], 1)
        self.assertEqual(self.read("f"), "new\n")
        self.call("cordon", "preview", "commit", id, expect=1)
        self.assertEqual(self.call("cordon", "preview", "list", expect=0).stdout, "")

    def test_discarded_it_is_gone(self):
        id = self.keep("echo new > f")["preview"]
        self.call("cordon", "preview", "discard", id, expect=0)
        self.call("cordon", "preview", "commit", id, expect=1)
        self.assertFalse(self.exists("f"))

    def test_a_change_in_between_is_a_conflict_and_nothing_is_applied(self):
        self.write("a", "1\n")
        self.write("b", "1\n")
        id = self.keep("echo 2 > a; echo 2 > b; echo 2 > c")["preview"]
        self.write("b", "theirs\n")
        before = stamps_of(self.work)
        result = self.commit(id, expect=1)
        self.assertEqual((result["committed"], len(result["conflicts"])), (False, 1))
        self.assertIn("b:", result["conflicts"][0])
        self.assertEqual(stamps_of(self.work), before)

    def test_rules_that_became_stricter_count(self):
        id = self.keep("echo 2 > a")["preview"]
        self.write("SANDBOX.md", "# Disallowed Commands\n- echo\n")
        self.call("cordon", "preview", "commit", id, expect=126)
        self.assertFalse(self.exists("a"))

    def test_files_keep_owner_and_directories_their_modes(self):
        self.write("f", "1\n", 0o640)
        os.mkdir(os.path.join(self.work, "closed"))
        self.write("closed/f", "1\n")
        os.chmod(os.path.join(self.work, "closed"), 0o555)
        owner = os.stat(self.work)
        id = self.keep("echo 2 > f; chmod 755 closed; echo 2 > closed/g; chmod 555 closed; mkdir d; echo x > d/x")["preview"]
        self.commit(id)
        self.assertEqual(stat.S_IMODE(os.stat(os.path.join(self.work, "f")).st_mode), 0o640)
        self.assertEqual(stat.S_IMODE(os.stat(os.path.join(self.work, "closed")).st_mode), 0o555)
        self.assertEqual(self.read("closed/g"), "2\n")
        for path in ("f", "d", "d/x", "closed/g"):
            status = os.stat(os.path.join(self.work, path))
            self.assertEqual((status.st_uid, status.st_gid), (owner.st_uid, owner.st_gid), path)
        os.chmod(os.path.join(self.work, "closed"), 0o755)


def hidden(text):
    """Written so that no rule sees it before it runs: what these programs do must be held by the sandbox and by us."""
    return f"bytes.fromhex('{os.fsencode(text).hex()}').decode()"


class Hostile(PreviewCase):
    """What a host that reads too trustingly what a sandbox left would fall for."""

    def program(self, code):
        self.write("hostile.py", "import os\n" + code)
        return "python3 hostile.py"

    def test_the_layers_cannot_be_reached_from_inside(self):
        self.write("f", "lower\n")
        result = self.preview("echo upper > f; ls -a / /.host 2>&1; cat /proc/self/mountinfo; "
                              "find / -name upper -o -name '*-work' -not -path '/proc/*' 2>/dev/null | head; "
                              "ls -l /proc/1/fd 2>&1")
        for line in result["stdout"].splitlines():
            self.assertNotIn("/.host/proc/upper\n", line + "\n" if "overlay" not in line else "")
        self.assertEqual(self.read("f"), "lower\n")
        inside = self.preview(self.program(f"""
for name in ({hidden("/.host/proc/upper/f")}, {hidden("/.host/proc/lower/f")}, {hidden("/proc/1/root/.host/proc/upper/f")}):
    for mode in 'rw':
        try: open(name, mode); print('opened')
        except OSError: pass
"""))
        self.assertEqual((inside["stdout"], inside["exit_code"]), ("", 0), inside["stderr"])
        self.assertEqual(self.read("f"), "lower\n")

    def test_whiteouts_and_marks_made_by_hand_mean_nothing(self):
        self.write("f", "keep\n")
        os.mkdir(os.path.join(self.work, "d"))
        self.write("d/inner", "keep\n")
        script = """python3 - <<'X'
import os
for call in (lambda: os.mknod('f2', 0o20600, os.makedev(0, 0)),
             lambda: os.setxattr('d', 'user.overlay.opaque', b'y'),
             lambda: os.setxattr('d', 'trusted.overlay.opaque', b'y'),
             lambda: os.setxattr('d', 'user.overlay.redirect', b'/../../../etc'),
             lambda: os.setxattr('f', 'user.overlay.metacopy', b''),
             lambda: os.setxattr('d', 'user.overlay.overlay.opaque', b'y'),
             lambda: os.mknod('d/inner2', 0o20600, os.makedev(0, 0))):
    try: call(); print('made')
    except OSError as error: print(error.strerror)
X"""
        result = self.keep(script)
        self.assertFalse([c for c in result["changes"] if c["change"] == "deleted"], result["changes"])
        self.commit(result["preview"])
        self.assertEqual((self.read("f"), self.read("d/inner")), ("keep\n", "keep\n"))
        for path in ("f2", "d/inner2"):
            if self.exists(path):
                self.assertTrue(stat.S_ISREG(os.lstat(os.path.join(self.work, path)).st_mode), path)

    def test_marks_in_the_workspace_do_not_lead_a_preview_astray(self):
        os.mkdir(os.path.join(self.work, "d"))
        self.write("d/f", "x\n")
        for name, value in (("user.overlay.opaque", b"y"), ("user.overlay.redirect", b"/etc"), ("user.overlay.origin", b"x")):
            try:
                os.setxattr(os.path.join(self.work, "d"), name, value)
            except OSError:
                self.skipTest("no user attributes here")
        result = self.keep("cat d/f; echo y > d/g; chmod 700 d; ls d")
        self.assertEqual(result["stdout"], "x\nf\ng\n")
        self.commit(result["preview"])
        self.assertEqual((self.read("d/f"), self.read("d/g")), ("x\n", "y\n"))

    def test_a_program_of_the_host_is_not_reached_through_a_bind(self):
        """A socket is no file: what is said to whoever listens there has happened."""
        outside = os.path.join(self.dir, "outside")
        os.makedirs(os.path.join(outside, "deep"))
        with open(os.path.join(self.home, ".config/cordon/config.json5"), "w") as file:
            file.write("{agents: {defaults: {sandbox: {binds: ['" + outside + ":/data:ro']}}}}")
        command = self.program(f"""
import socket
with socket.socket(socket.AF_UNIX) as way: way.connect({hidden("/data/deep/sock")}); way.send(b'done for real')
""")
        self.assertIsNone(self.preview("ls /data")["cannot_preview"])
        with socket.socket(socket.AF_UNIX) as server:
            here = os.getcwd()
            os.chdir(os.path.join(outside, "deep"))
            server.bind("sock")
            os.chdir(here)
            server.listen()
            server.settimeout(0.5)
            self.assertIn("could reach a program of the host", self.preview(command)["cannot_preview"])
            self.preview(command, "--require-approval")
            with self.assertRaises(TimeoutError):
                server.accept()

    def test_a_planted_link_is_a_link_and_never_a_way(self):
        outside = os.path.join(self.dir, "outside")
        os.mkdir(outside)
        with open(os.path.join(outside, "f"), "w") as file:
            file.write("host\n")
        id = self.keep(self.program(f"os.symlink({hidden(outside)}, 'way'); os.symlink({hidden(outside + '/f')}, 'f')"))["preview"]
        self.commit(id)
        self.assertEqual(os.readlink(os.path.join(self.work, "way")), outside)
        with open(os.path.join(outside, "f")) as file:
            self.assertEqual(file.read(), "host\n")

    def test_a_parent_that_became_a_link_is_a_conflict(self):
        outside = os.path.join(self.dir, "outside")
        os.mkdir(outside)
        os.mkdir(os.path.join(self.work, "d"))
        self.write("d/f", "1\n")
        id = self.keep("echo 2 > d/f; echo new > d/g")["preview"]
        os.rename(os.path.join(self.work, "d"), os.path.join(self.work, "moved"))
        os.symlink(outside, os.path.join(self.work, "d"))
        result = self.commit(id, expect=1)
        self.assertIn("the directory is gone or another one", result["conflicts"][0])
        self.assertEqual(os.listdir(outside), [])

    def test_special_files_setuid_and_protected_paths_are_left_out(self):
        os.mkdir(os.path.join(self.work, ".git"))
        result = self.keep(self.program(f"""
import socket
def attempt(call):
    try: call()
    except OSError as error: print(error)
attempt(lambda: os.mkfifo('pipe'))
attempt(lambda: socket.socket(socket.AF_UNIX).bind('sock'))
open('suid', 'w').write('x')
attempt(lambda: os.chmod('suid', 0o4755))
for name in ({hidden(".git/hooks/pre-commit")}, {hidden("SANDBOX.md")}, {hidden(".cordon/config.json5")}):
    attempt(lambda: open(name, 'w').write('evil'))
"""))
        done = self.commit(result["preview"])
        for path in ("pipe", "sock", "SANDBOX.md", ".git/hooks/pre-commit", ".cordon/config.json5"):
            self.assertFalse(self.exists(path), path)
        self.assertEqual(os.stat(os.path.join(self.work, "suid")).st_mode & 0o6000, 0)
        self.assertTrue(any("pipe" in one for one in done["left_out"]), done)
        self.assertEqual(tree_of(self.work).get(".git/hooks"), None)

    def test_odd_names_stay_names_and_are_shown_harmless(self):
        result = self.keep("touch $'a\\nb' $'\\e[31mred' $'\\xff' -- '-rf'; mkdir ' '; touch ' / '; touch ' /x'; true")
        text = self.call("cordon", "preview", "show", result["preview"], expect=0, text=False).stdout
        self.assertNotIn(b"\x1b", text)
        self.commit(result["preview"])
        self.assertIn(b"\xff", os.listdir(os.fsencode(self.work)))
        self.assertIn(b"a\nb", os.listdir(os.fsencode(self.work)))

    def test_deep_trees_end_it_and_not_us(self):
        result = self.preview("for i in $(seq 400); do mkdir d 2>/dev/null && cd d || break; done; true")
        self.assertIn("nested too deeply", result["cannot_preview"] or "")

    def test_many_files_are_bounded_and_said(self):
        result = self.preview("mkdir d; cd d; seq 1 3000 | xargs touch")
        self.assertEqual((len(result["changes"]), result["changes_omitted"]), (2000, 1001))

    def test_files_of_others_cannot_be_previewed(self):
        if os.getuid() != 0:
            self.skipTest("only root can give files away; run as root")
        self.write("theirs", "x\n", 0o666)
        os.chown(os.path.join(self.work, "theirs"), 4242, 4242)
        result = self.preview("echo y >> theirs")
        self.assertTrue(result["cannot_preview"] or result["exit_code"] != 0, result)
        self.assertEqual(self.read("theirs"), "x\n")


if __name__ == "__main__":
    unittest.main(verbosity=1)
