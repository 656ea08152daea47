"""One code_run process that answers requests line by line."""
import json
import os
import subprocess

TOOL = os.path.join(os.environ["CORDON_BIN"], "code_run")


class Driver:
    def __init__(self, *options, environment=None):
        self.process = subprocess.Popen([TOOL, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=environment)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("code_run ended with %s" % self.process.wait())
        return json.loads(line)

    def run(self, language, code, **more):
        return self.ask(language=language, code=code, **more)

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
