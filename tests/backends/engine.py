#!/usr/bin/env python3
"""Starts a real container engine on a socket and data of its own, makes Cordon's image with `cordon image build`, runs a
command with DOCKER_HOST set, and stops the engine again by its pid.

    engine.py COMMAND ARG…

Exit 77 with a reason where this machine cannot: no dockerd, not root, or an engine that does not come up."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PACKAGES = ("bash", "coreutils", "grep", "sed", "procps", "python3-minimal", "libpython3-stdlib", "util-linux")
PATIENCE = 120


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def start(place, driver):
    log = open(os.path.join(place, "log"), "wb")
    command = ["dockerd", "--bridge=none", "--iptables=false", f"--storage-driver={driver}",
               "-H", f"unix://{place}/docker.sock", "--data-root", f"{place}/data", "--exec-root", f"{place}/exec",
               "--pidfile", f"{place}/pid"]
    return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)


def answers(place, environment):
    cordon = os.path.join(os.environ["CORDON_BIN"], "cordon")
    probe = subprocess.run([cordon, "image", "build", "--json", "--only",
                            *(word for name in PACKAGES for word in ("--package", name))],
                           env=environment, cwd=place, capture_output=True, text=True)
    return probe


def stop(engine, place):
    engine.send_signal(signal.SIGTERM)
    try:
        engine.wait(60)
    except subprocess.TimeoutExpired:
        engine.kill()
        engine.wait()
    for line in open("/proc/mounts"):
        point = line.split()[1]
        if point.startswith(place + "/"):
            subprocess.run(["umount", "-l", point], check=False)
    shutil.rmtree(place, ignore_errors=True)


def main():
    if os.getuid() != 0:
        skip("a container engine is started by root; run this test as root")
    if shutil.which("dockerd") is None:
        skip("there is no dockerd; apt install docker.io")
    # Short: the name of a socket has room for 108 bytes. Everybody may pass through, as the test's user must.
    place = tempfile.mkdtemp(prefix="cordon-engine-", dir="/srv")
    os.chmod(place, 0o711)
    code = 77
    for driver in ("overlay2", "vfs"):
        engine = start(place, driver)
        socket = os.path.join(place, "docker.sock")
        deadline = time.monotonic() + PATIENCE
        while not os.path.exists(socket) and engine.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
        if engine.poll() is None and os.path.exists(socket):
            break
    else:
        with open(os.path.join(place, "log"), errors="replace") as log:
            reason = log.read()[-400:]
        shutil.rmtree(place, ignore_errors=True)
        skip(f"dockerd does not come up here: {reason}")
    try:
        os.chmod(socket, 0o666)
        state = os.path.join(place, "state")
        environment = {**os.environ, "DOCKER_HOST": f"unix://{socket}", "CORDON_STATE_DIR": state}
        built = answers(place, environment)
        if built.returncode != 0:
            print(f"cordon image build failed: {built.stdout}{built.stderr}")
            code = 1
        else:
            import json
            environment["CORDON_TEST_IMAGE"] = json.loads(built.stdout)["id"]
            environment["CORDON_TEST_SOCKET"] = socket
            del environment["CORDON_STATE_DIR"]
            code = subprocess.run(sys.argv[1:], env=environment).returncode
    finally:
        stop(engine, place)
    return code


if __name__ == "__main__":
    sys.exit(main())
