#!/usr/bin/env python3
"""Turns data/programs/*.json5 into one C++ file of static tables. The format is described in data/programs/README.md.

Rows hold offsets into one text, never pointers: the tables need no relocation and cost nothing at start.
"""
import re
import sys

LEVELS = {"safe": 0, "normal": 1, "dangerous": 2, "critical": 3}
ROLES = ["none", "data", "pair", "read", "tree", "list", "write", "delete", "argv", "until", "shell", "line", "exec", "upload",
         "url", "host", "package", "library", "config", "code", "script", "setting", "mount", "assign", "variable", "module",
         "project", "req", "ssh_option", "pair_read"]
MARKS = ["net", "recursive", "wrapper", "elevate", "optional", "opaque", "environment", "shell_out", "stdin_code",
         "stdin_args", "secret_out", "container", "away", "output", "extract", "quiet_stdin", "background", "target_first",
         "temporary", "list_only", "endless", "limits", "patches", "decodes", "names",
         "rehearses"]
STYLES = ["gnu", "posix", "single", "find", "tar", "none", "windows"]


class Json5:
    """The subset of JSON5 that the data uses: comments, bare keys, both quotes, trailing commas."""

    def __init__(self, name, text):
        self.name, self.text, self.at = name, text, 0

    def die(self, what):
        line = self.text.count("\n", 0, self.at) + 1
        sys.exit(f"{self.name}:{line}: {what}")

    def blank(self):
        while self.at < len(self.text):
            if self.text[self.at].isspace():
                self.at += 1
            elif self.text.startswith("//", self.at):
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif self.text.startswith("/*", self.at):
                self.at = self.text.index("*/", self.at) + 2
            else:
                return

    def string(self):
        quote = self.text[self.at]
        self.at += 1
        out = []
        while True:
            if self.at >= len(self.text):
                self.die("string without end")
            c = self.text[self.at]
            if c == quote:
                self.at += 1
                return "".join(out)
            if c == "\n":
                self.die("line end inside a string")
            if c == "\\":
                self.at += 1
                e = self.text[self.at]
                out.append({"n": "\n", "t": "\t"}.get(e, e))
            else:
                out.append(c)
            self.at += 1

    def value(self):
        self.blank()
        c = self.text[self.at] if self.at < len(self.text) else ""
        if c == "{":
            self.at += 1
            out = {}
            while True:
                self.blank()
                if self.text[self.at] == "}":
                    self.at += 1
                    return out
                if self.text[self.at] in "\"'":
                    key = self.string()
                else:
                    m = re.compile(r"[A-Za-z_$][\w$]*").match(self.text, self.at)
                    if not m:
                        self.die("a key is expected")
                    key = m.group()
                    self.at = m.end()
                if key in out:
                    self.die(f"'{key}' is given twice")
                self.blank()
                if self.text[self.at] != ":":
                    self.die("':' is expected")
                self.at += 1
                out[key] = self.value()
                self.blank()
                if self.text[self.at] == ",":
                    self.at += 1
                elif self.text[self.at] != "}":
                    self.die("',' or '}' is expected")
        if c == "[":
            self.at += 1
            out = []
            while True:
                self.blank()
                if self.text[self.at] == "]":
                    self.at += 1
                    return out
                out.append(self.value())
                self.blank()
                if self.text[self.at] == ",":
                    self.at += 1
        if c and c in "\"'":
            return self.string()
        m = re.compile(r"true|false|-?\d+").match(self.text, self.at)
        if not m:
            self.die("a value is expected")
        self.at = m.end()
        return {"true": True, "false": False}.get(m.group(), m.group())


def alias_groups(names):
    """Which of the names in one key are spellings of one option: a letter and the long names after it (-n --dry-run), or
    up to three with one long name (-r -R --recursive). Other names only share what is said about them."""
    tokens = names.split()
    short = [len(t) == 2 and t[0] == "-" for t in tokens]
    if len(tokens) <= 3 and sum(short) == len(tokens) - 1 and not short[-1]:
        return [tokens]
    groups = []
    for token, letter in zip(tokens, short):
        if letter or not groups or not (len(groups[-1][0]) == 2 and groups[-1][0][0] == "-"):
            groups.append([token])
        else:
            groups[-1].append(token)
    return groups


class Tables:
    def __init__(self):
        self.text = bytearray()
        self.seen = {}
        self.rules, self.rule_ids = [], {}
        self.languages, self.calls = {}, []
        self.nodes, self.options, self.whens, self.roles, self.subs = [], [], [], [], []
        self.checks = ["none"]
        self.programs = {}
        self.places, self.environment = [], []

    def put(self, s):
        raw = s.encode()
        if raw not in self.seen:
            found = self.text.find(raw) if len(raw) > 3 else -1
            self.seen[raw] = found if found >= 0 else len(self.text)
            if found < 0:
                self.text += raw
        return f"{{{self.seen[raw]}, {len(raw)}}}"

    def language(self, name, where):
        if name not in self.languages:
            sys.exit(f"{where}: unknown language '{name}'")
        return self.languages[name]

    def spec(self, text, where):
        """level/rule/marks and the roles in a spec string"""
        level, rule, override, marks, roles = -1, 0, 0, 0, []
        for token in text.split():
            bare = token
            if bare.startswith("="):
                override, bare = 1, bare[1:]
            repeat = bare.endswith("...")
            if repeat:
                bare = bare[:-3]
            head, _, lang = bare.partition(":")
            if bare in LEVELS:
                level = LEVELS[bare]
            elif head in ROLES:
                if lang and head not in ("code", "script"):
                    sys.exit(f"{where}: '{token}': only code and script name a language")
                roles.append((ROLES.index(head), self.language(lang, where) if lang else 0, int(repeat)))
            elif bare in MARKS:
                marks |= 1 << MARKS.index(bare)
            elif bare in self.rule_ids:
                rule = self.rule_ids[bare]
                level = self.rules[rule][1]
            else:
                sys.exit(f"{where}: '{token}' is neither a level, a rule, a role nor a mark")
        return level, rule, override, marks, roles

    def one(self, text, where):
        level, rule, override, marks, roles = self.spec(text, where)
        if len(roles) > 1:
            sys.exit(f"{where}: '{text}' names more than one role")
        role, lang, _ = roles[0] if roles else (0, 0, 0)
        return f"{{{level}, {override}, {role}, {lang}, {rule}, {marks}u}}"

    def option_rows(self, node, where):
        rows = {}

        def add(names, text):
            for group in alias_groups(names):
                for n in group:
                    if n in rows:
                        sys.exit(f"{where}: option {n} is given twice")
                    rows[n] = (group[0], text)
        for names, text in node.get("options", {}).items():
            add(names, text)
        for n in node.get("takes", "").split():
            if n not in rows:
                add(n, "data")
        for n in node.get("flags", "").split():
            if n not in rows:
                add(n, "")
        first = len(self.options)
        for n in sorted(rows, key=lambda s: s.encode()):
            group, text = rows[n]
            self.options.append(f"{{{self.put(n)}, {self.put(group)}, {self.one(text, where + ' ' + n)}}}")
        return first, len(rows)

    CONDITION = re.compile(r"^(!?)(#\d+\+?|@\S+|-?[^\s=]+=\S+|--?\S+|stdin|fetched)$")

    def when_rows(self, node, where):
        first = len(self.whens)
        canonical = {n: group[0] for names in node.get("options", {}) for group in alias_groups(names) for n in group}
        for condition, text in node.get("when", {}).items():
            tokens = []
            for token in condition.split():
                if not self.CONDITION.match(token):
                    sys.exit(f"{where}: condition '{token}' is not understood")
                mark = "!" if token.startswith("!") else ""
                name, equals, value = token[len(mark):].partition("=")
                tokens.append(mark + canonical.get(name, name) + equals + value)
            condition = " ".join(tokens)
            self.whens.append(f"{{{self.put(condition)}, {self.one(text, where + ' when ' + condition)}}}")
        return first, len(self.whens) - first

    KEYS = {"is", "options", "takes", "flags", "when", "sub", "check", "style", "like"}

    def node(self, names, body, where):
        if isinstance(body, str):
            body = {"is": body}
        for key in body:
            if key not in self.KEYS:
                sys.exit(f"{where}: unknown key '{key}'")
        index = len(self.nodes)
        self.nodes.append(None)
        level, rule, override, marks, roles = self.spec(body.get("is", "normal"), where)
        o = self.option_rows(body, where)
        w = self.when_rows(body, where)
        r = (len(self.roles), len(roles))
        self.roles += [f"{{{a}, {b}, {c}}}" for a, b, c in roles]
        check = body.get("check", "none")
        if check not in self.checks:
            self.checks.append(check)
        style = STYLES.index(body.get("style", "gnu"))
        children = []
        for child_names, child in body.get("sub", {}).items():
            child_index = self.node(child_names, child, f"{where} {child_names}")
            children += [(n, child_index) for n in child_names.split()]
        exact = sorted((c for c in children if "*" not in c[0]), key=lambda c: c[0].encode())
        for a, b in zip(exact, exact[1:]):
            if a[0] == b[0]:
                sys.exit(f"{where}: subcommand {a[0]} is given twice")
        globs = sorted((c for c in children if "*" in c[0]), key=lambda c: c[0] == "*")
        s = (len(self.subs), len(exact), len(globs))
        self.subs += [f"{{{self.put(n)}, {i}}}" for n, i in exact + globs]
        self.nodes[index] = (f"{{{self.put(names.split()[0])}, {{{level}, {override}, 0, 0, {rule}, {marks}u}}, {style}, "
                             f"{self.checks.index(check)}, {o[0]}, {o[1]}, {w[0]}, {w[1]}, {r[0]}, {r[1]}, {s[0]}, {s[1]}, {s[2]}}}")
        return index

    def load(self, files):
        parsed = [(f, Json5(f, open(f, encoding="utf-8").read()).value()) for f in files]
        self.rules.append(("none", 0, "", "", 0))
        for f, top in parsed:
            for name, rule in top.get("rules", {}).items():
                if name in self.rule_ids:
                    sys.exit(f"{f}: rule {name} is given twice")
                self.rule_ids[name] = len(self.rules)
                self.rules.append((name, LEVELS[rule["risk"]], rule["reason"], rule.get("safer", ""),
                                   int(rule.get("uncoverable", False))))
        self.languages["none"] = 0
        for f, top in parsed:
            for name in top.get("languages", {}):
                self.languages[name] = len(self.languages)
        shared = {}
        for f, top in parsed:
            for name, body in top.get("shared", {}).items():
                shared[name] = body
        for f, top in parsed:
            for name, body in top.get("languages", {}).items():
                for idents, what in body["calls"].items():
                    for ident in idents.split():
                        self.calls.append((self.languages[name], ident, what))
            for kind, entries in top.get("places", {}).items():
                self.places += [(kind, e) for e in entries]
            for what, names in top.get("environment", {}).items():
                self.environment += [(n, what) for n in names.split()]
            for names, body in top.get("programs", {}).items():
                if isinstance(body, dict) and "like" in body:
                    body = merge(shared[body["like"]], {k: v for k, v in body.items() if k != "like"})
                index = self.node(names, body, f"{f}: {names}")
                for n in names.split():
                    if n in self.programs:
                        sys.exit(f"{f}: program {n} is given twice")
                    self.programs[n] = index

    def write(self, out):
        rows = []

        def table(kind, name, items):
            body = ",\n  ".join(items) if items else "{}"
            rows.append(f"const {kind} {name}[] = {{\n  {body}\n}};\nconst std::uint32_t {name}_size = {len(items)};\n")
        rules = sorted(range(1, len(self.rules)), key=lambda i: self.rules[i][0].encode())
        rule_rows = [f"{{{self.put(n)}, {risk}, {hard}, {self.put(why)}, {self.put(safer)}}}"
                     for n, risk, why, safer, hard in self.rules]
        table("RuleRow", "rule_rows", rule_rows)
        table("std::uint16_t", "rules_by_name", [str(i) for i in rules])
        table("OptionRow", "option_rows", self.options)
        table("WhenRow", "when_rows", self.whens)
        table("RoleRow", "role_rows", self.roles)
        table("NodeRow", "node_rows", self.nodes)
        table("NameRow", "sub_rows", self.subs)
        table("NameRow", "program_rows",
              [f"{{{self.put(n)}, {i}}}" for n, i in sorted(self.programs.items(), key=lambda p: p[0].encode())])
        table("TextRow", "check_names", [self.put(c) for c in self.checks])
        table("TextRow", "language_names", [self.put(n) for n in self.languages])
        calls = sorted(self.calls, key=lambda c: (c[0], c[1].encode()))
        for a, b in zip(calls, calls[1:]):
            if a[:2] == b[:2]:
                sys.exit(f"language call {a[1]} is given twice")
        table("CallRow", "call_rows", [f"{{{lang}, {self.put(n)}, {self.put(w)}}}" for lang, n, w in calls])
        table("PlaceRow", "place_rows", [f"{{{self.put(k)}, {self.put(e)}}}" for k, e in sorted(self.places, key=lambda p: p[0])])
        table("PlaceRow", "environment_rows",
              [f"{{{self.put(n)}, {self.put(w)}}}" for n, w in sorted(self.environment, key=lambda e: e[0].encode())])
        blob = bytes(self.text)
        lines = []
        for at in range(0, len(blob), 100):
            lines.append('"' + "".join(chr(b) if 32 <= b < 127 and b not in (34, 92, 63) else f"\\{b:03o}"
                                       for b in blob[at:at + 100]) + '"')
        with open(out, "w", encoding="utf-8") as file:
            file.write("// Made by src/risk/generate.py from data/programs; not to be edited.\n"
                       '#include "risk/table.h"\n\nnamespace cordon::risk::rows {\n')
            file.write("const char all_text[] =\n" + "\n".join(lines) + ";\n")
            file.write("\n".join(rows))
            file.write("}  // namespace cordon::risk::rows\n")


def merge(base, extra):
    """`extra` over `base`; a name that both give belongs to `extra`."""
    named = {n for names in extra for n in names.split()}
    out = {}
    for names, body in base.items():
        left = " ".join(n for n in names.split() if n not in named or names in extra)
        if left:
            out[left] = body
    for key, value in extra.items():
        out[key] = merge(out[key], value) if isinstance(value, dict) and isinstance(out.get(key), dict) else value
    return out


def main():
    out, *files = sys.argv[1:]
    tables = Tables()
    tables.load(sorted(files))
    tables.write(out)


main()
