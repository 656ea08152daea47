"""What a tree of files is, as far as a commit promises to get it right; and scripts that change one."""
import hashlib
import os
import random
import stat

OWN = {"SANDBOX.md", ".cordon"}


def tree_of(root, leave_out=OWN):
    """Path → type, mode, content or target, and which names are one file. Not times: a commit is a later writer."""
    tree, inodes = {}, {}
    for directory, names, files in os.walk(root):
        relative = os.path.relpath(directory, root)
        if relative == ".":
            names[:] = [n for n in names if n not in leave_out]
            files = [f for f in files if f not in leave_out]
        for name in names + files:
            path = os.path.join(directory, name)
            key = os.path.relpath(path, root)
            try:
                status = os.lstat(path)
            except PermissionError:  # in a directory of one's own that one may only list
                tree[key] = ("closed",)
                continue
            if stat.S_ISLNK(status.st_mode):
                tree[key] = ("link", os.readlink(path))
            elif stat.S_ISDIR(status.st_mode):
                tree[key] = ("directory", stat.S_IMODE(status.st_mode))
            elif stat.S_ISREG(status.st_mode):
                tree[key] = ("file", stat.S_IMODE(status.st_mode), content_of(path, status))
                if status.st_nlink > 1:
                    inodes.setdefault((status.st_dev, status.st_ino), []).append(key)
            # Pipes and sockets are never committed.
    for group in inodes.values():
        for key in group:
            tree[key] += (tuple(sorted(group)),)
    return tree


def content_of(path, status):
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except PermissionError:
        return status.st_size  # of one's own that one may not read


def stamps_of(root):
    """Everything that would tell a change: also inodes and times."""
    stamps = {}
    for directory, names, files in os.walk(root):
        for path in [directory] + [os.path.join(directory, f) for f in files]:
            s = os.lstat(path)
            stamps[os.path.relpath(path, root)] = (s.st_mode, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_nlink)
    return stamps


NAMES = ["a", "b", "c", "main.c", "with space", "-dash", "ü", "x.bin", "deep", "sub", "odd'quote", "new\nline"]


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


class Writer:
    """Makes a start tree and a script that changes it. The same seed makes the same."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.mark = f"copy{seed}"  # /tmp stays from one direct run to the next
        self.directories = ["."]
        self.files = []

    def name(self):
        return self.random.choice(NAMES) + (str(self.random.randrange(4)) if self.random.random() < 0.5 else "")

    def plant(self, root):
        for _ in range(self.random.randrange(1, 8)):
            path = os.path.join(self.random.choice(self.directories), self.name())
            if not os.path.lexists(os.path.join(root, path)):
                os.mkdir(os.path.join(root, path))
                self.directories.append(path)
        for _ in range(self.random.randrange(2, 14)):
            path = os.path.join(self.random.choice(self.directories), self.name())
            full = os.path.join(root, path)
            if os.path.lexists(full):
                continue
            if self.random.random() < 0.15:
                os.symlink(self.random.choice(["/etc/passwd", "a", "../b", "nowhere"]), full)
            else:
                with open(full, "wb") as file:
                    file.write(self.content())
                os.chmod(full, self.random.choice([0o644, 0o644, 0o600, 0o755, 0o444]))
            self.files.append(path)

    def content(self):
        kind = self.random.random()
        if kind < 0.1:
            return b""
        if kind < 0.3:
            return bytes(self.random.randrange(256) for _ in range(self.random.randrange(5000)))
        lines = [str(self.random.randrange(30)) for _ in range(self.random.randrange(60))]
        return "\n".join(lines).encode() + (b"\n" if self.random.random() < 0.8 else b"")

    def a_file(self):
        return quoted("./" + os.path.normpath(self.random.choice(self.files))) if self.files else "./a"

    def a_lower_directory(self):
        return quoted("./" + os.path.normpath(self.random.choice(self.directories[1:] or ["none"])))

    def a_directory(self):
        return quoted("./" + os.path.normpath(self.random.choice(self.directories)))

    def a_place(self):
        return quoted("./" + os.path.normpath(os.path.join(self.random.choice(self.directories), self.name())))

    def script(self):
        """Many of its steps fail, in both runs alike; every one is followed by the next."""
        steps = []
        for _ in range(self.random.randrange(3, 16)):
            steps.append(self.random.choice([
                lambda: f"echo {self.random.randrange(9999)} > {self.a_place()}",
                lambda: f"echo more >> {self.a_file()}",
                lambda: f"sed -i s/1/one/ {self.a_file()}",
                lambda: f"rm -f {self.a_file()}",
                lambda: f"rm -rf {self.a_directory()}/{quoted(self.name())}",
                lambda: f"rm -rf {self.a_lower_directory()}",
                lambda: f"mkdir -p {self.a_place()}/{quoted(self.name())}",
                lambda: f"mv -T {self.a_file()} {self.a_place()}",
                lambda: f"mv -f {self.a_file()} {self.a_directory()}/",
                lambda: f"cp -p {self.a_file()} {self.a_place()}",
                lambda: f"cp -r {self.a_directory()} /tmp/{self.mark}; cp -rT /tmp/{self.mark} {self.a_place()}; rm -rf /tmp/{self.mark}",
                lambda: f"chmod {self.random.choice(['600', '755', '444', 'u+x', 'a-w'])} {self.a_file()}",
                lambda: f"chmod {self.random.choice(['700', '755', '711'])} {self.a_place()}",
                lambda: f"ln -sfn {self.random.choice(['/etc/passwd', 'b', 'a/../c', '.'])} {self.a_place()}",
                lambda: f"ln {self.a_file()} {self.a_place()}",
                lambda: f"touch {self.a_place()}",
                lambda: f"truncate -s {self.random.randrange(20000)} {self.a_file()}",
                lambda: f"d={self.a_lower_directory()}; rm -rf \"$d\"; mkdir \"$d\"; echo again > \"$d\"/again",
                lambda: f"d={self.a_lower_directory()}; rm -rf \"$d\"; echo a file now > \"$d\"",
                lambda: f"f={self.a_file()}; rm -rf \"$f\"; mkdir \"$f\"; echo in > \"$f\"/in; chmod 500 \"$f\"",
                lambda: f"mkdir /tmp/{self.mark}m; echo x > /tmp/{self.mark}m/x; mv -T /tmp/{self.mark}m {self.a_place()}",
                lambda: f"p={self.a_place()}; mkdir \"$p\"; echo y > \"$p\"/y; mv -T \"$p\" {self.a_place()}",
                lambda: f"mkfifo {self.a_place()}.fifo",
                lambda: f"head -c {self.random.randrange(9000)} /dev/zero > {self.a_place()}",
            ])())
        return "\n".join(steps) + "\ntrue\n"
