#!/usr/bin/env python3
"""An independent verifier of Cordon's audit log, written from docs/audit-format.md alone.

    verify.py DIRECTORY [--key KEY] [--against CHECKPOINT_FILE]

Needs Python's standard library and the openssl program (for Ed25519). Exit: 0 good, 2 damaged, 3 unsigned tail.
"""
import base64
import binascii
import datetime
import functools
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

KINDS = set("""day.open intent outcome refused approval.requested approval.decided approval.expired approval.consumed
approval.drifted policy.changed config.changed start stop network recovery retention key.rotated gap""".split())
LEADING = ["timestamp", "command", "user", "status", "output", "risk", "seq", "kind"]
TIME = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
HEX64 = re.compile(r"[0-9a-f]{64}")
DECIMAL = re.compile(r"0|[1-9][0-9]*")
LONGEST = 65536
EMPTY_ROOT = hashlib.sha256(b"").digest()


class Damaged(Exception):
    pass


def require(condition, what):
    if not condition:
        raise Damaged(what)


def b64(text):
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Damaged("not base64")
    # Only the canonical spelling: otherwise two texts would mean the same bytes.
    require(base64.b64encode(raw).decode() == (text if isinstance(text, str) else text.decode()), "not canonical base64")
    return raw


def leaf(line):
    return hashlib.sha256(b"\0" + line).digest()


def node(left, right):
    return hashlib.sha256(b"\1" + left + right).digest()


class Tree:
    def __init__(self, size=0, frontier=()):
        require(bin(size).count("1") == len(frontier), "the frontier does not fit the size")
        self.size, self.frontier = size, list(frontier)

    def add(self, value):
        size = self.size
        while size & 1:
            value = node(self.frontier.pop(), value)
            size >>= 1
        self.frontier.append(value)
        self.size += 1

    def root(self):
        if not self.frontier:
            return EMPTY_ROOT
        value = self.frontier[-1]
        for left in reversed(self.frontier[:-1]):
            value = node(left, value)
        return value


@functools.lru_cache(maxsize=None)
def signature_holds(key, text, signature):
    der = bytes.fromhex("302a300506032b6570032100") + key
    with tempfile.TemporaryDirectory() as scratch:
        for name, content in (("key", der), ("text", text), ("signature", signature)):
            with open(os.path.join(scratch, name), "wb") as file:
                file.write(content)
        done = subprocess.run(["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", "key", "-rawin",
                               "-in", "text", "-sigfile", "signature"], cwd=scratch, capture_output=True)
    return done.returncode == 0


class Key:
    def __init__(self, text):
        if text.endswith("\n"):
            text = text[:-1]
        parts = text.split("+", 2)
        require(len(parts) == 3 and parts[0] and re.fullmatch("[0-9a-f]{8}", parts[1]), "no verifier key")
        raw = b64(parts[2])
        require(len(raw) == 33 and raw[0] == 1, "no Ed25519 key")
        self.name, self.id, self.key = parts[0], bytes.fromhex(parts[1]), raw[1:]
        require(hashlib.sha256(self.name.encode() + b"\n" + raw).digest()[:4] == self.id, "the key's id is wrong")

    def __eq__(self, other):
        return (self.name, self.key) == (other.name, other.key)

    def open(self, note):
        """(size, root, further lines) of a signed note."""
        cut = note.find(b"\n\n")
        require(cut >= 0, "no signed note")
        text, signatures = note[:cut + 1], note[cut + 2:]
        start = "\u2014 {} ".format(self.name).encode()
        require(signatures.startswith(start) and signatures.endswith(b"\n") and signatures.count(b"\n") == 1,
                "not signed by " + self.name)
        raw = b64(decoded(signatures[len(start):-1]))
        require(len(raw) == 68 and raw[:4] == self.id, "signed by another key")
        require(signature_holds(self.key, text, raw[4:]), "the signature is wrong")
        lines = decoded(text).split("\n")[:-1]
        require(len(lines) >= 3 and lines[0] == self.name and DECIMAL.fullmatch(lines[1]), "no checkpoint")
        root = b64(lines[2])
        require(len(root) == 32, "no root")
        return int(lines[1]), root, lines[3:]


def decoded(raw):
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise Damaged("not UTF-8")


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def after(day):
    return (datetime.date.fromisoformat(day) + datetime.timedelta(days=1)).isoformat()


def is_day(text):
    try:
        return len(text) == 10 and datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def no_number(text):
    raise Damaged("a number that the format does not have: " + text)


def members_of(line):
    require(len(line) <= LONGEST, "the line is too long")
    try:
        # Blanks between tokens are not part of the format; inside strings they are.
        require(not re.search(rb'[\s]', re.sub(rb'"(?:[^"\\]|\\.)*"', b'""', line)), "blanks between tokens")
        pairs = json.loads(decoded(line), object_pairs_hook=list, parse_float=no_number, parse_constant=no_number)
    except (ValueError, RecursionError):
        raise Damaged("no JSON")
    require(isinstance(pairs, list) and line.startswith(b"{") and len(pairs) >= 9, "no record")
    require([key for key, _ in pairs[:8]] == LEADING, "the members are not in order")
    require(pairs[-1][0] == "prev" and isinstance(pairs[-1][1], str) and HEX64.fullmatch(pairs[-1][1]), "no link")
    record = dict(pairs)
    require(isinstance(record["timestamp"], str) and TIME.fullmatch(record["timestamp"].encode()), "no timestamp")
    try:
        datetime.datetime.strptime(record["timestamp"], "%Y-%m-%dT%H:%M:%S.%fZ")
    except ValueError:
        raise Damaged("no timestamp")
    require(type(record["seq"]) is int and record["seq"] >= 0, "no number")
    require(record["kind"] in KINDS, "unknown kind")
    return record


class Log:
    def __init__(self, directory, key=None, against=()):
        self.directory, self.given, self.against = directory, key, against
        self.damage, self.open_end = [], False
        self.seals, self.heads, self.missing, self.through = {}, [], [], ""
        self.size = self.signed = 0
        self.tree = self.last = self.time = None
        self.just_ended = None

    def path(self, name):
        return os.path.join(self.directory, name)

    def guarded(self, name, action):
        try:
            return action()
        except Damaged as error:
            self.damage.append("{}: {}".format(name, error))
            return None

    def verify(self):
        names = os.listdir(self.directory)
        self.files = {n[:-6] for n in names if n.endswith(".jsonl") and is_day(n[:-6])}
        self.days = sorted(self.files | {n[:-5] for n in names if n.endswith(".seal") and is_day(n[:-5])})
        self.guarded("key.pub", self.read_keys)
        if not self.key:
            return 2
        self.guarded("checkpoint", self.read_checkpoint)
        for note in self.against:
            self.guarded("given checkpoint", lambda: self.heads.append(self.key.open(note)[:2] + (False,)))
        self.read_seals()
        for day in self.days:
            self.check_day(day)
        self.check_ends()
        self.check_output()
        if self.damage:
            return 2
        return 3 if self.open_end or self.size > self.signed else 0

    def read_keys(self):
        self.key = Key(self.given) if self.given else None
        text = read(self.path("key.pub"))
        require(text is not None and text.endswith(b"\n"), "missing or cut off")
        own = Key(decoded(text))
        require(self.key is None or own == self.key, "not the given key")
        self.key = self.key or own

    def read_checkpoint(self):
        note = read(self.path("checkpoint"))
        require(note is not None, "missing")
        size, root, more = self.key.open(note)
        require(not more, "more lines than a checkpoint has")
        self.heads.append((size, root, True))
        self.signed = size

    def read_seals(self):
        for one, two in zip(self.days, self.days[1:]):
            if two != after(one):
                self.damage.append("{}: neither file nor seal".format(after(one)))
        before = (0, EMPTY_ROOT)
        for index, day in enumerate(self.days):
            note = read(self.path(day + ".seal"))
            if note is None:
                self.unsealed(index, day)
                before = None
                continue
            before = self.guarded(day + ".seal", lambda: self.read_seal(note, day, before))
            if index + 1 == len(self.days):
                self.damage.append("{}: missing, though the day before is sealed".format(after(day)))

    def unsealed(self, index, day):
        if index + 2 < len(self.days):
            self.damage.append(day + ".seal: missing")
        elif index + 2 == len(self.days):
            self.just_ended, self.open_end = day, True

    def read_seal(self, note, day, before):
        size, root, more = self.key.open(note)
        require(len(more) == 2 and more[0] == "day " + day, "not the seal of this day")
        found = re.fullmatch("from (0|[1-9][0-9]*) (.*)", more[1])
        require(found, "no seal")
        start = (int(found.group(1)), b64(found.group(2)))
        require(before is None or start == before, "does not continue the seal before")
        require(start[0] <= size, "ends before it begins")
        self.seals[day] = (size, root)
        self.signed = max(self.signed, size)
        return size, root

    def check_day(self, day):
        sealed = self.seals.get(day)
        if day not in self.files:
            self.tree = None
            self.missing.append(day)
            self.size = max(self.size, sealed[0] if sealed else 0)
            return
        self.line = 0
        self.guarded(day + ".jsonl", lambda: self.read_day(day, sealed, read(self.path(day + ".jsonl"))))
        if self.tree:
            self.size = max(self.size, self.tree.size)

    def read_day(self, day, sealed, content):
        before, self.tree, previous = self.tree, None, self.last
        *lines, rest = content.split(b"\n")
        tree = None
        for number, line in enumerate(lines, 1):
            where = "line {}: ".format(number)
            record = members_of(line)
            require(record["timestamp"][:10] == day, where + "of another day")
            if number == 1:
                tree = self.opened(day, record, before, previous)
                self.compare(tree)
            else:
                require(record["kind"] != "day.open", where + "a second day.open")
                require(record["seq"] == tree.size, where + "out of order")
                require(record["prev"] == previous.hex(), where + "does not follow the line before")
                require(record["timestamp"] >= self.time, where + "its time goes back")
            self.note(record)
            previous, self.time = leaf(line), record["timestamp"]
            tree.add(previous)
            self.compare(tree)
        if rest:
            require(day == self.days[-1], "the last line is cut off")
            self.open_end = True
        require(tree is not None, "empty")
        require(sealed is None or sealed == (tree.size, tree.root()), "not what its seal says")
        require(day != self.just_ended or self.signed <= tree.size, "its seal is missing")
        self.tree, self.last = tree, previous

    def opened(self, day, record, before, previous):
        require(record["kind"] == "day.open", "no day.open")
        detail = dict(record.get("detail", []))
        size, frontier = detail.get("size"), detail.get("frontier")
        require(type(size) is int and isinstance(frontier, list), "no tree")
        require(all(isinstance(one, str) and HEX64.fullmatch(one) for one in frontier), "no frontier")
        tree = Tree(size, [bytes.fromhex(one) for one in frontier])
        require(detail.get("root") == tree.root().hex() and record["seq"] == size, "its frontier does not give its root")
        yesterday = (datetime.date.fromisoformat(day) - datetime.timedelta(days=1)).isoformat()
        sealed = self.seals.get(yesterday)
        require(sealed is None or sealed == (size, tree.root()), "does not continue the seal before")
        if before:
            require((before.size, before.root()) == (size, tree.root()), "does not continue the day before")
            require(record["prev"] == previous.hex(), "does not follow the line before")
        if day == self.days[0]:
            require(size == 0 and record["prev"] == "0" * 64, "the oldest day is not the first")
        return tree

    def note(self, record):
        if record["kind"] != "retention" or record["seq"] >= self.signed:
            return
        through = dict(record.get("detail", [])).get("through")
        if isinstance(through, str):
            self.through = max(self.through, through)

    def compare(self, tree):
        for head in [head for head in self.heads if head[0] == tree.size]:
            require(head[1] == tree.root(), "the first {} records are not what was signed".format(tree.size))
            self.heads.remove(head)

    def check_ends(self):
        for size, root, own in self.heads:
            known = (size, root) in self.seals.values() or (size, root) == (0, EMPTY_ROOT)
            if known:
                continue
            if own or size > self.size or size in [sealed[0] for sealed in self.seals.values()] or size == 0:
                self.damage.append("checkpoint: signs {} records that are not there".format(size))
            else:
                self.open_end = True
        for day in self.missing:
            if day > self.through:
                self.damage.append(day + ".jsonl: missing without a notice")

    def check_output(self):
        for folder, _, names in os.walk(self.path("output")):
            for name in names:
                if HEX64.fullmatch(name) and hashlib.sha256(read(os.path.join(folder, name))).hexdigest() != name:
                    self.damage.append("output/{}: not what was committed to".format(name))


def main(arguments):
    key, against, directory = None, [], None
    while arguments:
        word = arguments.pop(0)
        if word == "--key":
            value = arguments.pop(0)
            key = open(value).read() if os.path.exists(value) else value
        elif word == "--against":
            against.append(read(arguments.pop(0)))
        else:
            directory = word
    log = Log(directory, key, against)
    code = log.verify()
    for line in log.damage:
        print("DAMAGED: " + line)
    print({0: "good", 2: "damaged", 3: "good, with an unsigned tail"}[code])
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
