#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stress.py SOURCE [--runs N] [--seed S] [--build DIR] [--setup NAME]: the tests of the full tier in random order,
N times in one run, beside seven busy processes for each processor; then once in order on one processor with nice.

A test that fails here depends on time, on order or on what else runs. TAP, a line for each run. It builds in a scratch
directory, unless DIR is a build that is finished. meson has no option for the order of tests, so it is made in meson's
own pickled list of them, which Debian's Python can read."""
import argparse
import json
import os
import pathlib
import pickle
import random
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "shared"))
# pylint: disable=wrong-import-position
from tap import check, must, plan

LOAD = 7


def shuffled(build, runs, seed):
    """Replaces meson's list of tests by RUNS of each in random order; returns what the list held."""
    path = build / "meson-private/meson_test_setup.dat"
    before = path.read_bytes()
    tests = []
    # Names differ, because meson keeps the results by name.
    for number in range(runs):
        for test in pickle.loads(before):
            test.name += f"#{number}"
            test.priority = 0
            tests.append(test)
    random.Random(seed).shuffle(tests)
    path.write_bytes(pickle.dumps(tests))
    return path, before


def run(name, build, setup, how):
    log = build / f"meson-logs/testlog-{setup}.json"
    log.unlink(missing_ok=True)
    command = [*how, "meson", "test", "-C", str(build), "--no-rebuild", "--setup", setup, "--no-suite", "budget"]
    wanted = len(must(*command, "--list").split("\n")) - 1
    with open(build / "meson-logs/stress.txt", "wb") as out:
        subprocess.run(command, stdout=out, stderr=out, check=False)
    tests = [json.loads(line) for line in log.read_text(errors="replace").splitlines()]
    bad = [test for test in tests if test["result"] not in ("OK", "SKIP", "EXPECTEDFAIL")]
    why = "\n".join(f"{test['name']}: {test['result']} {test['duration']:.0f} s: " + " | ".join(
        line for line in test.get("stdout", "").splitlines() if line.startswith(("not ok", "#")))[:600] for test in bad)
    check(len(tests) == wanted and not bad, f"{name}: {len(tests)} of {wanted} tests ran, {len(bad)} failed", why)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--setup", default="full")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="stress.", dir="/var/tmp") as scratch:
        build = args.build or pathlib.Path(scratch, "build")
        if not args.build:
            must("meson", "setup", "-Dtests=enabled", str(build), str(args.source))
            must("meson", "compile", "-C", str(build))
        path, before = shuffled(build, args.runs, args.seed)
        busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(LOAD * os.cpu_count())]
        try:
            run(f"{args.runs} runs, seed {args.seed}, {len(busy)} busy processes", build, args.setup, [])
        finally:
            path.write_bytes(before)
            for process in busy:
                process.send_signal(signal.SIGKILL)
                process.wait()
        run("one processor, nice", build, args.setup, ["taskset", "-c", "0", "nice", "-n", "19"])
    plan()


if __name__ == "__main__":
    main()
