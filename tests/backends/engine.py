#!/usr/bin/env python3
"""Starts a real container engine on a socket and data of its own, makes Cordon's image with `cordon image build`, runs a
command with DOCKER_HOST set, and stops the engine again by its pid.

    engine.py COMMAND ARG…

The engine is Docker, or what CORDON_ENGINE says: podman. Exit 77 with a reason where this machine cannot: the engine is
not installed, not root, or an engine that does not come up."""
import json
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


def spawn(place, command, environment=None):
    log = open(os.path.join(place, "log"), "wb")
    # Podman's monitor leaves a file where it was started when memory runs out.
    return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True, cwd=place,
                            env={**os.environ, **(environment or {})})


def start_docker(place, driver, options=()):
    return spawn(place, ["dockerd", "--bridge=none", "--iptables=false", f"--storage-driver={driver}",
                         "-H", f"unix://{place}/engine.sock", "--data-root", f"{place}/data", "--exec-root", f"{place}/exec",
                         "--pidfile", f"{place}/pid", *options])


def start_podman(place, driver):
    # By runc: crun refuses control groups of both versions at once. Without systemd, and without any network.
    with open(f"{place}/containers.conf", "w") as file:
        file.write('[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "none"\nruntime = "runc"\n'
                   '[network]\nnetwork_backend = "cni"\n')
    with open(f"{place}/storage.conf", "w") as file:
        file.write(f'[storage]\ndriver = "{driver}"\nrunroot = "{place}/run"\ngraphroot = "{place}/data"\n')
    return spawn(place, ["podman", "system", "service", "--time=0", f"unix://{place}/engine.sock"],
                 {"CONTAINERS_CONF": f"{place}/containers.conf", "CONTAINERS_STORAGE_CONF": f"{place}/storage.conf"})


# Program, package, how it is started, and the storage drivers that are tried.
ENGINES = {"docker": ("dockerd", "docker.io", start_docker, ("overlay2", "vfs")),
           "podman": ("podman", "podman", start_podman, ("overlay", "vfs"))}


def wait_for_socket(place, engine):
    """Whether it came up."""
    deadline = time.monotonic() + PATIENCE
    socket = f"{place}/engine.sock"
    while not os.path.exists(socket) and engine.poll() is None and time.monotonic() < deadline:
        time.sleep(0.1)
    return engine.poll() is None and os.path.exists(socket)


def build_image(place, environment, packages=PACKAGES):
    cordon = os.path.join(os.environ["CORDON_BIN"], "cordon")
    words = [word for name in packages for word in ("--package", name)]
    return subprocess.run([cordon, "image", "build", "--json", "--only", *words], env=environment, cwd=place,
                          capture_output=True, text=True, check=False)


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


def start_any(place):
    """The engine, with the first storage driver that works here."""
    program, package, start, drivers = ENGINES[os.environ.get("CORDON_ENGINE", "docker")]
    if shutil.which(program) is None:
        skip(f"there is no {program}; apt install {package}")
    for driver in drivers:
        engine = start(place, driver)
        if wait_for_socket(place, engine):
            return engine
    with open(os.path.join(place, "log"), errors="replace") as log:
        reason = log.read()[-400:]
    shutil.rmtree(place, ignore_errors=True)
    return skip(f"{program} does not come up here: {reason}")


def main():
    if os.getuid() != 0:
        skip("a container engine is started by root; run this test as root")
    # Short: the name of a socket has room for 108 bytes. Everybody may pass through, as the test's user must.
    place = tempfile.mkdtemp(prefix="cordon-engine-", dir="/srv")
    os.chmod(place, 0o711)
    engine = start_any(place)
    try:
        socket = f"{place}/engine.sock"
        os.chmod(socket, 0o666)
        environment = {**os.environ, "DOCKER_HOST": f"unix://{socket}", "CORDON_STATE_DIR": f"{place}/state"}
        built = build_image(place, environment)
        if built.returncode != 0:
            print(f"cordon image build failed: {built.stdout}{built.stderr}")
            return 1
        environment["CORDON_TEST_IMAGE"] = json.loads(built.stdout)["id"]
        environment["CORDON_TEST_SOCKET"] = socket
        del environment["CORDON_STATE_DIR"]
        return subprocess.run(sys.argv[1:], env=environment, check=False).returncode
    finally:
        stop(engine, place)


if __name__ == "__main__":
    sys.exit(main())
