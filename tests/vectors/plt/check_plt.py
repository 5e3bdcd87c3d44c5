#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_plt.py EH2SFRAME SOURCE VECTOR: the "plt:" lines in the comment of SOURCE are all that
.sframe says of the PLT sections, and what --report counts as known from a template, or as unknown; or "plt: none".
A line "or, ...:" starts the same for another release of the linker."""
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


def functions(dump):
    """(start, words) of each function, rows as offsets from its start."""
    for part in re.split(r"\n    func idx ", dump)[1:]:
        start, size, rep = re.match(
            r"\[\d+\]: pc = 0x(\w+), size = (\d+) bytes(?:, PCMASK, rep_size = (\d+))?",
            part).groups()
        start = int(start, 16)
        rows = re.findall(r"^    (\w{16})  (\S+) +u +(?:[fu]|(c-\d+))$", part, re.M)
        words = ", ".join(f"{int(pc, 16) - (0 if rep else start)} {cfa} {ra}".rstrip()
                          for pc, cfa, ra in rows)
        yield start, f"size={size}{' rep=' + rep if rep else ''}: {words}"


with open(source, encoding="ascii") as lines:
    wanted = [sorted(re.findall(r"^ \* plt: (.*)", part, re.M))
              for part in re.split(r"^ \* or, .*:$", lines.read(), flags=re.M)]
sections = [(name, int(addr, 16), int(size, 16)) for name, addr, size in re.findall(
    r"^  \[ *\d+\] (\.i?plt\S*) +PROGBITS +(\w+) \w+ (\w+)", run("readelf", "-SW", vector), re.M)]
with tempfile.TemporaryDirectory() as scratch:
    out = os.path.join(scratch, "out")
    run(program, "-q", vector, out)
    run(program, "--verify", out)
    dump = run(program, "--dump", out)
found = [f"{name}+{start - addr} {words}" for start, words in functions(dump)
         for name, addr, size in sections if addr <= start < addr + size]
found += [f"template {n} bytes" for n in re.findall(
    r"from PLT template +(\d+) bytes", run(program, "--report", vector))]
found += [f"unknown {n} bytes" for n in re.findall(
    r"unknown PLT +(\d+) bytes", run(program, "--report", vector))]
if [] in wanted:
    sys.exit(f"{source}: no line of what is wanted")
if not sections:
    sys.exit(f"{vector}: no PLT")
if (sorted(found) or ["none"]) not in wanted:
    sys.exit(f"{vector}:\n  wanted " + "\n      or ".join(map(str, wanted)) + f"\n  found  {sorted(found)}")
