"""Real tools against mirrors of our own, through sandbox-exec with only those names allowed; and the same tools with the
name missing, when the message must say what to add. Runs inside stage.py and mirror.py."""
import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from exec_test import NetworkCase, STAGE

APT = ("printf 'deb [trusted=yes allow-insecure=yes] http://mirror.test/debian ./\\n' > apt.list; mkdir -p a/lists/partial a/cache/archives/partial a/state; "
       "touch a/status; apt-get -o Dir::Etc::SourceList=$PWD/apt.list -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists=$PWD/a/lists "
       "-o Dir::State=$PWD/a/state -o Dir::State::Status=$PWD/a/status -o Dir::Cache=$PWD/a/cache -o APT::Sandbox::User='' ")


class Tools(NetworkCase):
    def check(self, script, rule, proof):
        """It works with the rule, and without it says which rule is missing."""
        self.write("step.sh", script)
        self.allow("unrelated.test")
        refused = self.exec("bash step.sh", "--timeout", "120s")
        self.assertNotEqual(refused["exit_code"], 0, refused)
        self.assertIn(rule, refused.get("network", {}).get("rules_to_allow", []), refused)
        said = self.call("sandbox-exec", "--timeout", "120s", "bash step.sh").stderr
        self.assertIn(f"- {rule}\n", said)
        self.assertEqual(self.log(), [])
        self.allow(*refused["network"]["rules_to_allow"])
        done = self.exec("bash step.sh", "--timeout", "120s")
        self.assertEqual(done["exit_code"], 0, done["stderr"] + done["stdout"])
        self.assertTrue(self.exists(proof))

    def test_curl(self):
        self.check("curl -fsS --cacert ca.pem -o out https://mirror.test/\n", "mirror.test:443", "out")

    def test_npm_install(self):
        self.write("package.json", "{}")
        self.check("export npm_config_cache=/tmp/npm npm_config_cafile=$PWD/ca.pem npm_config_fetch_retries=0; "
                   "npm install --registry https://mirror.test/npm/ --no-audit --no-fund leftish\n", "mirror.test:443",
                   "node_modules/leftish/index.js")

    def test_pip_download(self):
        self.check("/usr/bin/python3 -m pip download -q --retries 0 --no-deps --disable-pip-version-check --cert ca.pem "
                   "--index-url https://mirror.test/simple demo\n", "mirror.test:443", "demo-1.0-py3-none-any.whl")

    def test_git_clone_over_https(self):
        self.check("GIT_SSL_CAINFO=$PWD/ca.pem git clone -q https://mirror.test/repo.git clone\n", "mirror.test:443", "clone/README")

    @unittest.skipUnless(shutil.which("dropbear"), "needs dropbear-bin (an ssh server)")
    def test_git_clone_over_ssh(self):
        self.check(f"install -m 600 {'key'} /tmp/key; mkdir -p ~/.ssh; printf 'Host *\\nIdentityFile /tmp/key\\nStrictHostKeyChecking no\\n"
                   "UserKnownHostsFile /dev/null\\nLogLevel ERROR\\n' > ~/.ssh/config; chmod 600 ~/.ssh/config; "
                   f"git clone -q root@ssh.test:{STAGE}/www/repo.git over-ssh\n", "ssh.test:22", "over-ssh/README")

    def setUp(self):
        super().setUp()
        shutil.copy(f"{STAGE}/client-key", os.path.join(self.work, "key"))

    def test_apt_get_download(self):
        self.check(APT + "update && " + APT.split("; ")[-1] + "download demo\n", "mirror.test:80", "demo_1.0_all.deb")


if __name__ == "__main__":
    unittest.main(verbosity=1)
