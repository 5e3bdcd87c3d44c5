#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""go_step.py EH2SFRAME STEP: converted Go programs, one instruction at a time under ptrace.

At each instruction with a row, the row must name the slot of the return address and the caller's frame pointer.
"""

import os
import sys

import tap
from go_lib import Go
from tap import must

HERE = os.path.dirname(os.path.abspath(__file__))
# name, folder, options of go build
BUILDS = (
    ("static", "frames", []),
    ("pie", "frames", ["-buildmode=pie"]),
    ("cgo", "cgo", []),
    ("not optimised", "cgo", ["-gcflags=all=-N -l"]),
)
STEPS, LEAST = 400000, 200000


def main():
    tool, step, go = sys.argv[1], sys.argv[2], Go()
    for name, folder, options in BUILDS:
        path = go.build(os.path.join(HERE, folder), name, "amd64", options)
        must(tool, "-q", "--source=go", path, path + ".converted")
        # Threads besides the first run at full speed.
        made = tap.run(step, f"--steps={STEPS}", f"--min={LEAST}", "--env=GOMAXPROCS=1", "--env=GOGC=off",
                       f"--module={os.path.basename(path)}.converted", path + ".converted")
        told = made.stdout + made.stderr
        tap.check(made.returncode == 0 and " 0 differ" in told, f"{name}: {told.splitlines()[-1] if told else ''}", told)
    tap.plan()


main()
