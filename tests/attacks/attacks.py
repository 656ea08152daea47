#!/usr/bin/python3
"""Runs every attack against every launcher and level this machine offers, and prints one table.

  attacks.py --bin DIR [--only NAME]… [--columns bare,bwrap,L0,…] [--json FILE] [--deep]

Two cages work side by side. The normal run has every level, each lower one with the attacks that could end otherwise
there; --deep is every attack at every level for user and root.


Exit 0 when nothing is open that is not in intended.py and the host is unchanged; 1 otherwise; 77 when this machine
can't run the attacks safely.
"""
import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import time

import cage
import decoys
import engine_in_cage
import intended
import launchers
import layers
import scenarios
import terminal


MOST_OPEN = 5  # at L0, each with its reason in intended.py
SHOWN = 6  # changes of the host printed for each column


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.environ.get("CORDON_BIN", "build/release/bin"))
    parser.add_argument("--sandbox-run", help="another build of sandbox_run (the mutation run uses this)")
    parser.add_argument("--only", action="append", default=[], help="only attacks whose name holds this")
    parser.add_argument("--exact", action="store_true", help="--only names whole attacks")
    parser.add_argument("--without", action="append", default=[], help="a layer to switch off in the L columns")
    parser.add_argument("--columns", default="", help="e.g. bare,bwrap,L0,L4 (default: all)")
    parser.add_argument("--principals", default="user,root")
    parser.add_argument("--json", help="write all results there")
    parser.add_argument("--report", help="write what is printed there, too")
    parser.add_argument("--probes-only", action="store_true", help="without the attacks that the host side drives")
    parser.add_argument("--layers", action="append", default=[], help="test this layer alone")
    parser.add_argument("--deep", action="store_true", help="every column, and the attacks that take long")
    parser.add_argument("--quiet", action="store_true", help="print what is open or failed, not the whole table")
    arguments = parser.parse_args()
    arguments.bin = os.path.abspath(arguments.bin)
    arguments.sandbox_run = os.path.abspath(arguments.sandbox_run or f"{arguments.bin}/sandbox_run")
    # Opened out here: what is written in the cage is gone with it.
    arguments.json = open(arguments.json, "w") if arguments.json else None
    if arguments.report:
        os.makedirs(os.path.dirname(os.path.abspath(arguments.report)), exist_ok=True)
        sys.stdout = Both(sys.stdout, open(arguments.report, "w", buffering=1))
    return arguments


class Both:
    """Standard output, and a copy of it."""

    def __init__(self, *files):
        self.files = files

    def write(self, text):
        for one in self.files:
            one.write(text)

    def flush(self):
        for one in self.files:
            one.flush()


# Which columns the two cages of a normal run have. What differs between user and root at the lower levels is who
# starts it, and L0 shows that for both.
NORMAL = (("bare/user", "unshare/user", "bwrap/user", "L0/user", "L2/user", "L4/user"),
          ("bare/root", "bwrap/root", "L0/root", "L1c/user", "L1l/user", "L3/root"))


def make_columns(arguments, groups, share, engine):
    columns = []
    for principal in arguments.principals.split(","):
        columns.append(launchers.bare(principal, groups))
        if principal == "user":
            columns.append(launchers.plain_namespaces(principal, groups))
        if os.path.exists("/usr/bin/bwrap"):
            columns.append(launchers.bubblewrap(principal, groups))
        columns += [launchers.native(level, principal, groups, arguments.sandbox_run, arguments.without)
                    for level in launchers.LEVELS if principal == "root" or level != "L3"]
        columns += [launchers.Container(backend, principal, groups, arguments.sandbox_run)
                    for backend in launchers.CONTAINERS if backend != "docker"]
        columns.append(launchers.Docker(principal, groups, arguments.sandbox_run, engine))
    wanted = [name for name in arguments.columns.split(",") if name]
    if wanted:
        return [c for c in columns if c.name in wanted or title(c) in wanted] if share == 0 else []
    if arguments.deep:
        return [c for c in columns if (c.principal == "root") == (share == 1)]
    return [c for c in columns if title(c) in NORMAL[share]]


def offered(column, workspace):
    """Whether this machine gives the level at all: a run that does not start says why."""
    _, report = column.run(workspace, ["/bin/true"])
    if report["outcome"] == "exited":
        return None
    return report.get("error") or report["outcome"]


class Results:
    """results[attack][column] = (open, errno, note)"""

    def __init__(self):
        self.claims = {}
        self.probes = []
        self.columns = []
        self.cells = {}
        self.skipped = {}
        self.changed = {}
        self.wrong = 0

    def merge(self, found):
        self.claims.update(found["claims"])
        self.columns += found["columns"]
        self.wrong += found["wrong"]
        for name, row in found["cells"].items():
            self.cells.setdefault(name, {}).update(row)
        for mine, other in ((self.skipped, found["skipped"]), (self.changed, found["changed"])):
            mine.update(other)

    def add(self, column, attack, claim, answer):
        self.claims.setdefault(attack, claim)
        self.cells.setdefault(attack, {})[column] = answer


def title(column):
    return f"{column.name}/{column.principal}"


def run_probes(column, workspace, results, arguments):
    # Those of the terminal say nothing without one: terminal.py runs them.
    names = [name for name in results.probes if matches(name, arguments) and name not in terminal.PROBES]
    if not names:
        return
    command = [f"{workspace.path}/attack_probe", *names, *workspace.arguments()]
    out, report = column.run(workspace, command)
    for line in out.splitlines():
        fields = line.split("\t")
        if len(fields) == 4 and fields[1] in ("OPEN", "closed"):
            results.cells.setdefault(fields[0], {})[title(column)] = (fields[1] == "OPEN", fields[2], fields[3])
    if report["outcome"] != "exited" or report.get("exit_code") != 0:
        results.add(title(column), "probe_program", "the probe program runs to its end",
                    (True, "-", str(report.get("error") or report)[:200]))


def matches(name, arguments):
    if not arguments.only:
        return True
    return name in arguments.only if arguments.exact else any(part in name for part in arguments.only)


def run_column(column, results, arguments, programs):
    workspace = decoys.Workspace(title(column).replace("/", "-"), column.owner, programs)
    trouble = column.prepare() or offered(column, workspace)
    if trouble:
        results.skipped[title(column)] = trouble
        return
    results.columns.append(title(column))
    before = decoys.host_state(column.groups, workspace)
    run_probes(column, workspace, results, arguments)
    settled = decoys.wait_for_same(before, column.groups, workspace)
    if settled:
        results.changed.setdefault(title(column), []).extend(settled)
    for scenario in [] if arguments.probes_only else scenarios.all_scenarios(arguments.deep):
        if matches(scenario.name, arguments) and scenario.applies(column, arguments.deep):
            run_scenario(scenario, column, results, programs)
    workspace.remove()


def run_scenario(scenario, column, results, programs):
    workspace = decoys.Workspace(f"{column.name}-{column.principal}-{scenario.name}", column.owner, programs)
    if os.environ.get("TRACE"):
        print(f"  {scenario.name} …", file=sys.stderr, flush=True)
    started = time.monotonic()
    native = column.name.startswith("L")
    before = decoys.host_state(column.groups, workspace) if native else {}
    try:
        answer = scenario.attempt(column, workspace)
    except Exception as error:  # an attack that can't be carried out proves nothing: that is a failure, not "closed"
        answer = (True, "-", f"could not be tried: {type(error).__name__}: {error}"[:200])
    results.add(title(column), scenario.name, scenario.claim, answer)
    settled = decoys.wait_for_same(before, column.groups, workspace) if native else []
    if settled and scenario.kills:
        # A launcher that was killed can't tidy up: the next start does, and then all must be as it was.
        column.run(workspace, ["/bin/true"])
        settled = decoys.wait_for_same(before, column.groups, workspace)
    if settled:
        results.changed.setdefault(title(column), []).extend(f"after {scenario.name}: {line}" for line in settled)
    workspace.remove()
    if time.monotonic() - started > 4:
        print(f"  {title(column)} {scenario.name} took {time.monotonic() - started:.1f} s", file=sys.stderr, flush=True)


def cell(answer):
    if answer is None:
        return ""
    is_open, error, _ = answer
    return "OPEN" if is_open else (error if error not in ("-", "?") else "closed")


def print_table(results, quiet):
    width = max(len(name) for name in results.cells) if results.cells else 10
    spans = [max(len(column), 8) for column in results.columns]
    print(f"{'attack':{width}}  " + "  ".join(f"{c:{w}}" for c, w in zip(results.columns, spans)) + "  claim")
    for name, row in results.cells.items():
        cells = [cell(row.get(column)) for column in results.columns]
        native_open = any(row.get(c, (False,))[0] for c in results.columns if c[0] == "L")
        if quiet and not native_open:
            continue
        print(f"{name:{width}}  " + "  ".join(f"{text:{w}}" for text, w in zip(cells, spans)) +
              f"  {results.claims.get(name, '')}")
    counts = [sum(1 for row in results.cells.values() if row.get(c, (False,))[0]) for c in results.columns]
    print(f"{'OPEN':{width}}  " + "  ".join(f"{count:<{w}}" for count, w in zip(counts, spans)) +
          f"  of {len(results.cells)}")


def judge(results, column):
    """Prints what is wrong in one column, as soon as it is there; gives how many things are."""
    if column in results.skipped:
        print(f"skipped {column}: {results.skipped[column]}", flush=True)
        return 0
    if not column.startswith(("L", *launchers.CONTAINERS)):
        return 0
    wrong = 0
    level, principal = column.split("/")
    for name, row in results.cells.items():
        answer = row.get(column)
        if answer and answer[0] and not intended.reason(level, principal, name):
            print(f"FAILED {column}: {name}: {results.claims.get(name)}: open ({answer[1]} {answer[2]})", flush=True)
            wrong += 1
    opened = sum(1 for row in results.cells.values() if row.get(column, (False,))[0])
    if level == "L0" and opened > MOST_OPEN:
        print(f"FAILED {column}: {opened} are open, at most {MOST_OPEN} may be", flush=True)
        wrong += 1
    changed = results.changed.get(column, [])
    for line in changed[:SHOWN]:
        print(f"FAILED {column}: the host changed: {line}", flush=True)
    if len(changed) > SHOWN:
        print(f"FAILED {column}: … and {len(changed) - SHOWN} more changes (--json has all)", flush=True)
    return wrong + len(changed)


def print_intended(results):
    """By reason: one line each."""
    print("\nOpen and intended:")
    by_reason = {}
    for level, principal, name, why in intended.rows():
        for column in results.columns:
            if intended.covers(level, principal, column) and results.cells.get(name, {}).get(column, (False,))[0]:
                names, columns = by_reason.setdefault(why, ({}, {}))
                names[name] = columns[column] = True
    for why, (names, columns) in by_reason.items():
        print(f"  {', '.join(names)} ({', '.join(columns)}): {why}")


def print_never_open(results):
    """A probe that can't be open anywhere proves nothing: each has to be seen open, or say by what it would be."""
    wrong = 0
    if not {"bare/user", "bare/root"} <= set(results.columns):
        return 0
    for name, row in results.cells.items():
        tried = any(not column.startswith("L") for column in row)  # some are about what only a sandbox does
        if any(answer[0] for answer in row.values()) or name == "probe_program" or not tried:
            continue
        why = intended.by_construction(name)
        print(f"never open here: {name}: {why or 'NO REASON GIVEN'}")
        wrong += 0 if why else 1
    return wrong


def attack_share(arguments, groups, share):
    """What one cage does; its results go through a pipe, since nothing else leaves it."""
    programs = [f"{arguments.bin}/attack_probe", f"{arguments.bin}/attack_bomb"]
    decoys.plant_all(programs[0], launchers.leak_descriptors)
    results = Results()
    for line in subprocess.check_output([programs[0], "--list"], text=True).splitlines():
        name, claim = line.split("\t")
        results.claims[name] = claim
    results.probes = list(results.claims)
    engine = engine_in_cage.Engine(arguments.bin, groups)
    for column in make_columns(arguments, groups, share, engine):
        started = time.monotonic()
        run_column(column, results, arguments, programs)
        results.wrong += judge(results, title(column))
        print(f"{title(column)}: {time.monotonic() - started:.1f} s", file=sys.stderr, flush=True)
    if arguments.layers or not (arguments.only or arguments.columns):
        make = lambda principal, without: launchers.Native("L", principal, groups, arguments.sandbox_run, without)
        started = time.monotonic()
        results.wrong += layers.test_alone(make, programs, arguments.layers, share, SHARES)
        print(f"layers alone: {time.monotonic() - started:.1f} s", file=sys.stderr, flush=True)
    return results


SHARES = 2


def attack_all(arguments):
    """Both cages at once; then one table."""
    if not os.path.exists(arguments.sandbox_run):
        print(f"FAILED: no {arguments.sandbox_run}: there is nothing to attack")
        return 1
    # sudo leaves what it starts no right to core files. Root without CAP_SYS_RESOURCE cannot give it back; then
    # intended.py says so.
    with contextlib.suppress(ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    shares = 1 if arguments.columns else SHARES
    cages = [cage.start(share, lambda groups, share=share: vars(attack_share(arguments, groups, share)))
             for share in range(shares)]
    ended = [cage.finish(one) for one in cages]
    results = Results()
    for status, found in ended:
        if found is None:
            return status or 1
        results.merge(found)
    if results.cells:
        print_table(results, arguments.quiet)
        print_intended(results)
    never = print_never_open(results) if not arguments.only else 0
    print(f"{len(results.cells)} attacks, {len(results.columns)} columns, {results.wrong + never} wrong")
    if arguments.json:
        write_json(arguments.json, results)
    return 1 if results.wrong + never else 0


def write_json(file, results):
    json.dump({"claims": results.claims, "columns": results.columns, "cells": results.cells,
               "skipped": results.skipped, "changed": results.changed}, file, indent=1)
    file.flush()


def main():
    arguments = parse_arguments()
    if os.geteuid() != 0:
        sudo = ["sudo", "-n", "--", sys.executable, *sys.argv, "--bin", arguments.bin]
        if subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode == 0:
            os.execvp("sudo", sudo)
        print("skipped: the attacks run in a cage that needs root (or sudo without a password)")
        return 77
    return attack_all(arguments)


if __name__ == "__main__":
    sys.exit(main())
