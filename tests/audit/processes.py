#!/usr/bin/env python3
"""Twenty processes append at once, as an unprivileged user: no record is lost or doubled, and the chain holds."""
import json
import os
import subprocess

from stage import DRIVER, VERIFY, as_a_user, fail, scratch
import verify

PROCESSES, RUNS = 20, 100  # two records per run


def main():
    with scratch() as root:
        prefix, uid = as_a_user()
        if prefix:
            os.chown(root, uid, -1)
        path = os.path.join(root, "log")
        writers = [subprocess.Popen([*prefix, DRIVER, "append", path, str(RUNS), "p{}".format(number)])
                   for number in range(PROCESSES)]
        failed = [writer.wait() for writer in writers]
        if any(failed):
            fail("writers ended with {}".format(failed))
        records = []
        for name in sorted(os.listdir(path)):
            if name.endswith(".jsonl"):
                with open(os.path.join(path, name)) as file:
                    records += [json.loads(line) for line in file]
        if [record["seq"] for record in records] != list(range(len(records))):
            fail("the numbers have gaps")
        for kind in ("intent", "outcome"):
            requests = [record["request"] for record in records if record["kind"] == kind]
            if len(requests) != PROCESSES * RUNS or len(set(requests)) != len(requests):
                fail("{} of kind {} for {} runs".format(len(requests), kind, PROCESSES * RUNS))
        if os.listdir(os.path.join(path, "running")):
            fail("a process left its mark in running/")
        code = subprocess.run([VERIFY, "log", path]).returncode
        if code != 0 or verify.Log(path).verify() != 0:
            fail("the log does not verify: {}".format(code))
        print("{} processes, {} records as uid {}, none lost or doubled".format(PROCESSES, len(records), uid))


if __name__ == "__main__":
    main()
