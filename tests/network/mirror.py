"""Fills STAGE/www with what real tools fetch: a registry for npm, an index for pip, a repository for apt, one for git.
Done once, as root, before the tests run as each user:  mirror.py PROGRAM ARG…"""
import base64
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import zipfile

STAGE = os.environ["STAGE"]
WWW = f"{STAGE}/www"
QUIET = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def write(path, content):
    os.makedirs(os.path.dirname(f"{WWW}/{path}"), exist_ok=True)
    with open(f"{WWW}/{path}", "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)


def npm():
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, text in {"package/package.json": '{"name":"leftish","version":"1.0.0","main":"index.js"}',
                           "package/index.js": "module.exports = 42\n"}.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    tarball = buffer.getvalue()
    write("npm/leftish-1.0.0.tgz", tarball)
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(tarball).digest()).decode()
    version = {"name": "leftish", "version": "1.0.0", "main": "index.js",
               "dist": {"tarball": "https://mirror.test/npm/leftish-1.0.0.tgz", "integrity": integrity}}
    write("npm/leftish", json.dumps({"name": "leftish", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}))


def pip():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as wheel:
        wheel.writestr("demo.py", "x = 1\n")
        wheel.writestr("demo-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n")
        wheel.writestr("demo-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("demo-1.0.dist-info/RECORD", "")
    write("simple/demo/demo-1.0-py3-none-any.whl", buffer.getvalue())
    write("simple/demo/index.html", '<!DOCTYPE html><html><body><a href="demo-1.0-py3-none-any.whl">demo-1.0-py3-none-any.whl</a></body></html>')


def apt():
    root = f"{STAGE}/deb"
    os.makedirs(f"{root}/DEBIAN")
    with open(f"{root}/DEBIAN/control", "w") as file:
        file.write("Package: demo\nVersion: 1.0\nArchitecture: all\nMaintainer: x <x@x.test>\nDescription: x\n")
    os.makedirs(f"{WWW}/debian")
    subprocess.run(["dpkg-deb", "--root-owner-group", "-b", root, f"{WWW}/debian/demo_1.0_all.deb"], **QUIET)
    packages = subprocess.run(["dpkg-scanpackages", "."], cwd=f"{WWW}/debian", check=True, capture_output=True).stdout
    write("debian/Packages", packages)


def git():
    work = f"{STAGE}/git-work"
    identity = ["-c", "user.name=x", "-c", "user.email=x@x.test"]
    subprocess.run(["git", "init", "-q", "-b", "main", work], **QUIET)
    with open(f"{work}/README", "w") as file:
        file.write("from outside\n")
    subprocess.run(["git", "-C", work, "add", "."], **QUIET)
    subprocess.run(["git", "-C", work, *identity, "commit", "-qm", "x"], **QUIET)
    subprocess.run(["git", "clone", "-q", "--bare", work, f"{WWW}/repo.git"], **QUIET)
    subprocess.run(["git", "-C", f"{WWW}/repo.git", "update-server-info"], **QUIET)


def ssh():
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{STAGE}/client-key"], **QUIET)
    os.chmod(f"{STAGE}/client-key", 0o644)
    with open(f"{STAGE}/client-key.pub") as key, open(f"{STAGE}/ssh-home/.ssh/authorized_keys", "w") as keys:
        keys.write(key.read())
    with open(f"{STAGE}/ssh-home/.gitconfig", "w") as config:
        config.write("[safe]\n\tdirectory = *\n")


if __name__ == "__main__":
    for fill in (npm, pip, apt, git, ssh):
        fill()
    sys.exit(subprocess.run(sys.argv[1:]).returncode)
