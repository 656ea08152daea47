#!/usr/bin/env python3
"""A private internet on one machine: runs a program in a network namespace whose only neighbour is another one, in which
our own name server and web servers stand for the outside. Nothing leaves the machine.

    stage.py PROGRAM ARG…        (as root; needs no network)

The program's environment says where things are: STAGE (a directory), with ca.pem, log (what the outside saw, one JSON
object per line)."""
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CLONE_NEWNS, CLONE_NEWNET = 0x20000, 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)

# Addresses that lie outside by their number; they exist only here.
OUTSIDE = {
    "a.test": "93.184.216.1", "b.test": "93.184.216.2", "mirror.test": "93.184.216.3", "ssh.test": "93.184.216.4",
    "slow.test": "93.184.216.5", "dns": "93.184.216.53",
}
SIX = "2a00:1450::1"


def unshare(flags):
    if LIBC.unshare(flags) != 0:
        raise OSError(ctypes.get_errno(), "unshare")


def run(*command):
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)


def certificates(directory):
    """An authority of our own and a certificate for every name."""
    ca, key = f"{directory}/ca.pem", f"{directory}/ca.key"
    quiet = {"stderr": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "check": True}
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                    "2", "-keyout", key, "-out", ca, "-subj", "/CN=stage"], **quiet)
    subprocess.run(["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                    f"{directory}/server.key", "-out", f"{directory}/server.csr", "-subj", "/CN=server"], **quiet)
    names = ",".join(f"DNS:{name}" for name in list(OUTSIDE) + ["*.a.test", "evil.test"])
    with open(f"{directory}/names", "w") as file:
        file.write(f"subjectAltName={names}\n")
    subprocess.run(["openssl", "x509", "-req", "-in", f"{directory}/server.csr", "-CA", ca, "-CAkey", key,
                    "-CAcreateserial", "-days", "2", "-extfile", f"{directory}/names", "-out",
                    f"{directory}/server.pem"], **quiet)


def main():
    if os.getuid() != 0:
        print("needs root to set up network namespaces; run ./dev test as root")
        return 77
    stage = tempfile.mkdtemp(prefix="cordon-stage-", dir="/srv")
    os.chmod(stage, 0o755)
    outside = None
    try:
        certificates(stage)
        os.chmod(f"{stage}/ca.pem", 0o644)
        unshare(CLONE_NEWNS | CLONE_NEWNET)
        run("mount", "--make-rprivate", "/")
        for name, text in {"resolv.conf": f"nameserver {OUTSIDE['dns']}\n",
                           "hosts": "127.0.0.1 localhost\n93.184.216.1 listed.test\n10.0.0.9 inner.test\n"}.items():
            with open(f"{stage}/{name}", "w") as file:
                file.write(text)
            target = os.path.realpath(f"/etc/{name}")
            run("mount", "--bind", f"{stage}/{name}", target)
        open(f"{stage}/log", "w").close()
        with open("/proc/sys/net/ipv4/ip_unprivileged_port_start", "w") as file:
            file.write("0")  # of this namespace: tests listen where servers do
        outside = subprocess.Popen([sys.executable, f"{HERE}/outside.py", stage], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True, start_new_session=True)
        if outside.stdout.readline() != "namespace\n":
            raise RuntimeError("the outside did not come up")
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "near", "type", "veth", "peer", "name", "far", "netns", str(outside.pid))
        run("ip", "addr", "add", "10.77.0.1/24", "dev", "near")
        run("ip", "addr", "add", "93.184.216.200/32", "dev", "near")  # our own address outside
        run("ip", "-6", "addr", "add", "2a00:1450::200/64", "dev", "near", "nodad")
        run("ip", "link", "set", "near", "up")
        run("ip", "route", "add", "default", "via", "10.77.0.2")
        outside.stdin.write("linked\n")
        outside.stdin.flush()
        if outside.stdout.readline() != "ready\n":
            raise RuntimeError("the outside did not come up")
        environment = {**os.environ, "STAGE": stage, "STAGE_HOSTS": json.dumps(OUTSIDE)}
        return subprocess.run(sys.argv[1:], env=environment).returncode
    finally:
        if outside is not None:
            # Its ssh server is a group member; nobody of it may stay.
            os.killpg(outside.pid, signal.SIGKILL)
            outside.wait()
        shutil.rmtree(stage, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
