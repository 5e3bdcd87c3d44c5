#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_refusal.py EH2SFRAME SOURCE VECTOR: the comment of SOURCE says what the refusal costs.

    expect: NAME functions=N bytes=M     the one line of the report's refusals
    kept: OFF+SIZE ...                   what has rows, from the symbol func
    options: ...                         of eh2sframe, for both commands (optional)
"""
import os
import re
import subprocess
import sys
import tempfile

program, source, vector = sys.argv[1:]


def run(*args):
    done = subprocess.run(args, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(args)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def said(key):
    with open(source, encoding="ascii") as lines:
        found = [m[1] for m in (re.match(rf" \* {key}: (.*)", line) for line in lines) if m]
    return found[0] if found else ""


def same(what, wanted, found):
    if wanted != found:
        sys.exit(f"{vector}: {what}:\n  wanted {wanted}\n  found  {found}")


options = said("options").split()
name, functions, size = re.fullmatch(
    r"([a-z-]+) functions=(\d+) bytes=(\d+)", said("expect")).groups()
kept = [tuple(map(int, part.split("+"))) for part in said("kept").split()]

report = run(program, "--report", "-v", *options, vector)
refused = re.findall(r"refused: (\S+) +(\d+) functions +(\d+) bytes", report)
same("refusals of --report", [(name, functions, size)], refused)
gaps = re.findall(r"^    (\S+): 0x\w+\.\.0x\w+ \((\d+) bytes\)", report, re.M)
same("gaps of --report -v", [(name, size)], gaps)

func = int(re.search(r"^(\w+) T func$", run("nm", vector), re.M)[1], 16)
with tempfile.TemporaryDirectory() as scratch:
    out = os.path.join(scratch, "out")
    run(program, "-q", *options, vector, out)
    run(program, "--verify", out)
    dump = run(program, "--dump", out)
rows = [(int(pc, 16) - func, int(n))
        for pc, n in re.findall(r"pc = 0x(\w+), size = (\d+) bytes", dump)]
same("functions of --dump", kept, rows)
