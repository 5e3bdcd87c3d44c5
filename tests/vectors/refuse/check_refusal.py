#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_refusal.py EH2SFRAME SOURCE VECTOR: the comment of SOURCE says what the refusal costs.

    expect: NAME functions=N bytes=M     the one line of the report's refusals
    kept: OFF+SIZE ...                   what has rows, from the symbol func
    expect-v3: none; kept-v3: ...        the same for one version only, where it differs (optional)
    options: ...                         of eh2sframe, for both commands (optional)
    versions: ...                        that the machine has (optional; all three)

A refusal that version 3 does not have must say "needs v3", and no other.
"""
import os
import re
import sys
import tempfile

from sframe_text import Section
from tap import must

program, source, vector = sys.argv[1:]


def said(key, version):
    with open(source, encoding="ascii") as file:
        lines = file.read()
    for name in (f"{key}-v{version}", key):
        found = re.search(rf"^ \* {name}: (.*)", lines, re.M)
        if found:
            return found[1]
    return ""


def check(version):
    def same(what, wanted, found):
        if wanted != found:
            sys.exit(f"{vector}, version {version}: {what}:\n"
                     f"  wanted {wanted}\n  found  {found}")

    options = [f"--format={version}", *said("options", version).split()]
    wanted = re.findall(r"([a-z-]+) functions=(\d+) bytes=(\d+)", said("expect", version))
    kept = [tuple(map(int, part.split("+"))) for part in said("kept", version).split()]
    needs = "; needs v3" if said("expect", 3) == "none" else ""

    report = must(program, "--report", "-v", *options, vector)
    refused = re.findall(r"refused: (\S+) +(\d+) functions +(\d+) bytes  .*?(; needs v\d)?$",
                         report, re.M)
    same("refusals of --report", [(*line, needs) for line in wanted], refused)
    gaps = re.findall(r"^    (\S+): 0x\w+\.\.0x\w+ \((\d+) bytes\)", report, re.M)
    same("gaps of --report -v", [(name, size) for name, _, size in wanted], gaps)

    func = int(re.search(r"^(\w+) T func$", must("nm", vector), re.M)[1], 16)
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "out")
        must(program, "-q", *options, vector, out)
        must(program, "--verify", out)
        section = Section(must(program, "--dump", out))
    same("version of --dump", version, section.version)
    rows = [(pc - func, size) for pc, (size, _, _) in section.funcs.items()]
    same("functions of --dump", kept, rows)


for number in said("versions", 0).split() or "123":
    check(int(number))
