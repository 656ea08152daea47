"""A container engine inside the cage: it mounts by name, so it must see what the attackers' launchers see. It ends with the
cage's first process."""
import json
import os
import shutil
import sys

import cage

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "backends"))
import engine as outside  # noqa: E402


class Engine:
    def __init__(self, binaries, groups):
        self.binaries = binaries
        self.groups = groups
        self.place = f"{cage.WORK}/engine"
        self.socket = f"{self.place}/engine.sock"
        self.image = None

    def start(self):
        """Once; gives the reason where it cannot be had."""
        if self.image:
            return None
        if shutil.which("dockerd") is None:
            return "there is no dockerd; apt install docker.io"
        os.makedirs(self.place, exist_ok=True)
        os.chmod(self.place, 0o711)
        # What the containers use is bounded by the cage's own groups, and removed with them.
        parent = "/" + os.path.basename(self.groups[0]) + "/engine"
        daemon = outside.start_docker(self.place, "overlay2", ["--cgroup-parent", parent])
        if not outside.wait_for_socket(self.place, daemon):
            with open(f"{self.place}/log", errors="replace") as log:
                return f"dockerd does not come up in the cage: {log.read()[-300:]}"
        os.chmod(self.socket, 0o666)
        environment = {"PATH": os.environ["PATH"], "HOME": "/root", "DOCKER_HOST": f"unix://{self.socket}",
                       "CORDON_STATE_DIR": f"{self.place}/state"}
        os.environ["CORDON_BIN"] = self.binaries
        built = outside.build_image(self.place, environment, ("bash", "coreutils"))
        if built.returncode != 0:
            return f"cordon image build: {built.stdout}{built.stderr}"[-300:]
        self.image = json.loads(built.stdout)["id"]
        return None
