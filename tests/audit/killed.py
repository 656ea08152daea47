#!/usr/bin/env python3
"""Writers killed at random moments: afterwards the log verifies, no command ran without a durable intent, and every run that
was cut short is closed by a recovery record."""
import json
import os
import random
import subprocess
import sys

from stage import DRIVER, VERIFY, driver, fail, scratch
import verify

ROUNDS = 200 if "--deep" in sys.argv else 40


def records_of(path):
    records = []
    for name in sorted(os.listdir(path)):
        if name.endswith(".jsonl"):
            with open(os.path.join(path, name), "rb") as file:
                records += [json.loads(line) for line in file.read().split(b"\n")[:-1]]
    return records


def check(path, after):
    """Between writers a torn line or an unsigned tail is allowed, damage never."""
    done = subprocess.run([VERIFY, "log", path], capture_output=True, text=True)
    if done.returncode not in after:
        fail("verify says {}: {}".format(done.returncode, done.stdout))


def main():
    random.seed(7)
    with scratch() as root:
        path = os.path.join(root, "log")
        driver("append", path, 1, "first")
        for number in range(ROUNDS):
            writers = [subprocess.Popen([DRIVER, "append", path, "100000", "k{}x{}".format(number, which)])
                       for which in range(2)]
            try:
                # Not a wait for something: the moment of death itself.
                writers[0].wait(timeout=random.uniform(0.005, 0.08))
            except subprocess.TimeoutExpired:
                pass
            for writer in writers:
                writer.kill()
                writer.wait()
            check(path, (0, 3))
        driver("append", path, 1, "last")
        check(path, (0,))
        if verify.Log(path).verify() != 0:
            fail("verify.py does not agree")
        records = records_of(path)
        intents = {record["request"] for record in records if record["kind"] == "intent"}
        ended = [record["request"] for record in records if record["kind"] in ("outcome", "recovery") and "request" in record]
        with open(path + ".witness") as file:
            ran = file.read().split()
        if not set(ran) <= intents:
            fail("ran without an intent: {}".format(set(ran) - intents))
        if len(ended) != len(set(ended)) or set(ended) != intents:
            fail("{} intents, {} ends".format(len(intents), len(ended)))
        kinds = [record["kind"] for record in records]
        print("{} rounds: {} intents, {} of them closed by recovery, all that ran was intended".format(
            ROUNDS, len(intents), kinds.count("recovery")))


if __name__ == "__main__":
    main()
