#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_plt.py EH2SFRAME TABLE NAME VECTOR: the "plt:" lines of the paragraph NAME in TABLE are all that
.sframe says of the PLT sections, and what eh2sframe report counts as known from a template, or as unknown; or "plt: none".
A line "or, ...:" starts the same for another release of the linker."""
import os
import re
import sys
import tempfile

from elf_text import plts
from sframe_text import Section
from tap import must

program, table, name, vector = sys.argv[1:]


def functions(dump):
    """(start, words) of each function, rows as offsets from its start."""
    section = Section(dump)
    for start, (size, masked, rows) in section.funcs.items():
        words = ", ".join(f"{at} {cfa}" + ("" if ra == "f" else f" {ra}") + ("" if fp == "u" else f" FP {fp}")
                          for at, cfa, fp, ra in rows)
        yield start, f"size={size}" + (f" rep={section.block(start)}" if masked else "") + f": {words}"


with open(table, encoding="ascii") as lines:
    said = re.search(rf"^{name}\n((?:\t.*\n)+)", lines.read(), re.M)[1]
wanted = [sorted(re.findall(r"^\tplt: (.*)", part, re.M)) for part in re.split(r"^\tor, .*:$", said, flags=re.M)]
sections = plts(vector)
with tempfile.TemporaryDirectory() as scratch:
    out = os.path.join(scratch, "out")
    must(program, "-q", vector, out)
    must(program, "verify", out)
    dump = must(program, "dump", out)
found = [f"{where}+{start - place.addr} {words}" for start, words in functions(dump)
         for where, place in sections.items() if place.addr <= start < place.addr + place.size]
found += [f"template {n} bytes" for n in re.findall(
    r"from PLT template +(\d+) bytes", must(program, "report", vector))]
found += [f"unknown {n} bytes" for n in re.findall(
    r"unknown PLT +(\d+) bytes", must(program, "report", vector))]
if [] in wanted:
    sys.exit(f"{table}: {name}: no line of what is wanted")
if not sections:
    sys.exit(f"{vector}: no PLT")
if (sorted(found) or ["none"]) not in wanted:
    sys.exit(f"{vector}:\n  wanted " + "\n      or ".join(map(str, wanted)) + f"\n  found  {sorted(found)}")
