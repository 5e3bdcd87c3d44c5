#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_refusal.py EH2SFRAME TABLE NAME VECTOR: the comment of NAME in TABLE (refusals.S) says what the
refusal costs, and which lines it may have. A refusal that version 3 does not have must say "needs v3", and
no other."""
import os
import re
import sys
import tempfile

from sframe_text import Section
from tap import must

program, table, name, vector = sys.argv[1:]
with open(table, encoding="ascii") as file:
    comment = re.search(rf"^ \* \S+ {name}\n((?: \* .*\n)+)", file.read(), re.M)[1]
said = dict(re.findall(r"^ \* ([a-z0-9-]+): (.*)", comment, re.M))


def check(version):
    def same(what, wanted, found):
        if wanted != found:
            sys.exit(f"{vector}, version {version}: {what}:\n"
                     f"  wanted {wanted}\n  found  {found}")

    options = [f"--format={version}", *said.get("options", "").split()]
    reason, size, kept = name.replace("_", "-"), said.get("refused", "8"), said.get("kept", "0+4 12+4")
    wanted = [(reason, "1", size, "; needs v3" if "kept-v3" in said else "")]
    if version == 3 and "kept-v3" in said:
        wanted, kept = [], said["kept-v3"]

    report = must(program, "report", "-v", *options, vector)
    refused = re.findall(r"refused: (\S+) +(\d+) functions? +(\d+) bytes? +.*?(; needs v\d)?$",
                         report, re.M)
    same("refusals of report", wanted, refused)
    gaps = re.findall(r"^    (\S+): 0x\w+\.\.0x\w+ \((\d+) bytes?\)", report, re.M)
    same("gaps of report -v", [line[::2] for line in wanted], gaps)

    func = int(re.search(r"^(\w+) T func$", must("nm", vector), re.M)[1], 16)
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "out")
        must(program, "-q", *options, vector, out)
        must(program, "verify", out)
        section = Section(must(program, "dump", out))
    same("version of dump", version, section.version)
    rows = [f"{pc - func}+{size}" for pc, (size, _, _) in section.funcs.items()]
    same("functions of dump", kept.split(), rows)


for number in said.get("versions", "1 2 3").split():
    check(int(number))
