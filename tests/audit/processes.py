#!/usr/bin/env python3
"""Fifty processes write at once, as an unprivileged user, opening and closing the log as they go: no record is lost or doubled,
every run that began has ended, and the chain holds. A minute of it with --deep."""
import json
import os
import subprocess
import sys

from stage import DRIVER, VERIFY, as_a_user, fail, scratch
import verify

PROCESSES = 50
SECONDS = 60 if "--deep" in sys.argv else 6


def records_of(path):
    for name in sorted(os.listdir(path)):
        if name.endswith(".jsonl"):
            with open(os.path.join(path, name)) as file:
                for line in file:
                    yield json.loads(line)


def main():
    with scratch() as root:
        prefix, uid = as_a_user()
        if prefix:
            os.chown(root, uid, -1)
        path = os.path.join(root, "log")
        writers = [subprocess.Popen([*prefix, DRIVER, "seconds", path, str(SECONDS), "p{}".format(number)])
                   for number in range(PROCESSES)]
        failed = [writer.wait() for writer in writers]
        if any(failed):
            fail("writers ended with {}".format(failed))
        number, requests = 0, {"intent": [], "outcome": [], "refused": []}
        for record in records_of(path):
            if record["seq"] != number:
                fail("record {} follows {}".format(record["seq"], number - 1))
            number += 1
            if record["kind"] in requests:
                requests[record["kind"]].append(record["request"])
        for kind, of_kind in requests.items():
            if len(set(of_kind)) != len(of_kind):
                fail("a record of kind {} is there twice".format(kind))
        with open(path + ".witness") as file:
            ran = file.read().split()
        if sorted(requests["intent"]) != sorted(ran) or sorted(requests["outcome"]) != sorted(ran):
            fail("{} ran, {} intents, {} outcomes".format(len(ran), len(requests["intent"]), len(requests["outcome"])))
        writing = {request.split("-")[1] for request in requests["refused"]}
        if len(writing) != PROCESSES:
            fail("only {} processes came to write".format(len(writing)))
        if os.listdir(os.path.join(path, "running")):
            fail("a process left its mark in running/")
        code = subprocess.run([VERIFY, "log", path]).returncode
        if code != 0 or verify.Log(path).verify() != 0:
            fail("the log does not verify: {}".format(code))
        print("{} processes for {} s, {} records as uid {}, none lost or doubled".format(PROCESSES, SECONDS, number, uid))


if __name__ == "__main__":
    main()
