"""Run by ctest with `cordon` on the PATH, a state of its own, and once with a daemon and once without."""
import base64
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import cordon_sandbox as sandbox  # noqa: E402


class Execute(unittest.TestCase):
    def test_examples(self):
        for language, code, output in (("javascript", "const x = 40 + 2; x", "42"),
                                       ("python", 'print("Hello from Python")', "Hello from Python"),
                                       ("bash", 'echo "Hello from Bash"', "Hello from Bash")):
            result = sandbox.execute(language, code, timeout=60000)
            self.assertEqual((result["success"], result["output"], result["error"]), (True, output, None))
            self.assertEqual(list(result)[:6], ["success", "output", "stderr", "exitCode", "executionTime", "error"])

    def test_errors_are_in_the_result(self):
        for arguments, error in ((("", "1"), "Language is required and must be a string"),
                                 ((5, "1"), "Language is required and must be a string"),
                                 (("js", ""), "Code is required and must be a string"),
                                 (("cobol", "x"), "Unsupported language: cobol"),
                                 (("python", "import nonexistent_module"),
                                  "ModuleNotFoundError: No module named 'nonexistent_module'")):
            result = sandbox.execute(*arguments)
            self.assertEqual((result["success"], result["error"]), (False, error))
        self.assertEqual(sandbox.execute("js", "for(;;);", timeout=300)["error"], "Execution timeout after 300ms")
        nowhere = sandbox.Sandbox(binary="/nowhere/cordon", daemon=False)
        self.assertIn("not found", nowhere.execute("js", "1")["error"])

    def test_files_arguments_input_and_long_code(self):
        code = ("import sys\nopen('out.txt', 'w').write(open('in.txt').read().upper())\n"
                "print(sys.argv[1:], sys.stdin.read())")
        result = sandbox.execute("py", code, files={"in.txt": b"data"}, args=["-a", "b c"], stdin="typed")
        self.assertEqual(result["output"], "['-a', 'b c'] typed")
        self.assertEqual([(a["path"], base64.b64decode(a["base64"])) for a in result["artifacts"]], [("out.txt", b"DATA")])
        self.assertEqual(sandbox.execute("js", "'%s'.length" % ("x" * 300000))["output"], "300000")
        self.assertEqual(sandbox.execute("js", "-1")["output"], "-1")
        self.assertEqual(sandbox.execute("js", "'x'.repeat(99)", max_output_size=5)["output"], "xxxxx\n[Output truncated]")

    def test_sessions(self):
        name = "python-%d" % os.getpid()
        sandbox.execute("js", "let n = 41", session=name)
        self.assertEqual(sandbox.execute("js", "n + 1", session=name)["output"], "42")

    def test_check_exec_queue_audit(self):
        self.assertEqual(sandbox.check("rm -rf /tmp/*")["risk_level"], "dangerous")
        self.assertEqual(sandbox.exec("echo out")["stdout"], "out\n")
        self.assertEqual(sandbox.exec("cat", stdin="typed")["stdout"], "typed")
        queued = sandbox.exec("rm -rf build")
        self.assertTrue(queued["queued"])
        self.assertIn(queued["queue_id"], [entry["id"] for entry in sandbox.queue_list()])
        self.assertEqual(sandbox.queue_show(queued["queue_id"])["command"], "rm -rf build")
        self.assertEqual(sandbox.queue_reject(queued["queue_id"], "no")["status"], "rejected")
        with self.assertRaises(sandbox.CordonError):
            sandbox.queue_show("cmd_nowhere0000")
        self.assertTrue(sandbox.audit_log(last=5)["entries"])
        self.assertGreater(sandbox.audit_stats("all")["total_commands"], 0)
        self.assertTrue(sandbox.audit_verify()["good"])


if __name__ == "__main__":
    unittest.main()
