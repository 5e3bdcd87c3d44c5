#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rows by ORC beside rows by .debug_frame, in a kernel of Debian that has both: at each place, and where calls return to. TAP.

    orc_dwarf.py EH2SFRAME CACHE [SUITE [VMLINUX]]

Takes the debug package of the newest kernel of SUITE (bookworm), of some 300 MB, or VMLINUX from one.
"""
import bisect
import collections
import os
import re
import shutil
import subprocess
import sys

from orc_fetch import KEY, Apt
from orc_lib import Elf, Rows
from tap import check, must, plan, run, skip_all

TOOL, CACHE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
SUITE, VMLINUX = (sys.argv[3:] + ["bookworm"])[0], (sys.argv[4:] + [None])[0]
LINE = re.compile(r"([0-9a-f]{16}):\t(\S+)")


def returns(path):
    """The last byte of each call: an unwinder looks there for the caller."""
    called, found = False, []
    with subprocess.Popen(["objdump", "-d", "--no-show-raw-insn", "--section=.text", path], stdout=subprocess.PIPE,
                          text=True) as made:
        for line in made.stdout:
            if match := LINE.match(line):
                if called:
                    found.append(int(match[1], 16) - 1)
                called = match[2] in ("call", "callq")
    return found


def rows_by(source, path, bare):
    """[(start, end, row)], ascending."""
    out = os.path.join(CACHE, source)
    must(TOOL, "-q", "--source=" + source, "--optimize=none", "--section-only", "--format=3", path, out + ".sframe")
    must("objcopy", "--add-section", f".sframe={out}.sframe", "--set-section-flags", ".sframe=alloc,readonly", bare, out)
    found = sorted(one[:3] for one in Rows(TOOL, out, Elf(bare)).rows[0])
    os.remove(out)
    return found


def kind(orc, dwarf):
    if not orc or not dwarf:
        return "neither" if not orc and not dwarf else "ORC alone" if orc else "DWARF alone"
    if orc == dwarf:
        return "the same"
    if "outermost" in (orc, dwarf):
        return "outermost"
    return "+".join(name for name, one, other in zip(("CFA", "FP", "RA"), orc, dwarf) if one != other)


def row_at(rows, pc):
    i = bisect.bisect_right(rows, pc, key=lambda one: one[0]) - 1
    return rows[i][2] if i >= 0 and pc < rows[i][1] else None


def each_byte(orc, dwarf):
    """{kind: bytes}"""
    counts = collections.Counter()
    edges = sorted({edge for rows in (orc, dwarf) for start, end, _ in rows for edge in (start, end)})
    at = [0, 0]
    for start, end in zip(edges, edges[1:]):
        said = []
        for i, rows in enumerate((orc, dwarf)):
            while at[i] < len(rows) and rows[at[i]][1] <= start:
                at[i] += 1
            said.append(rows[at[i]][2] if at[i] < len(rows) and rows[at[i]][0] <= start else None)
        if any(said):
            counts[kind(*said)] += end - start
    return counts


def main():
    path = VMLINUX
    if not path:
        if os.uname().machine != "x86_64" or not shutil.which("apt-get") or not os.path.exists(KEY):
            skip_all("needs x86-64, apt and Debian's keys")
        apt = Apt(CACHE, SUITE)
        found, why = apt.kernels()
        path = found and apt.unpack_debug(sorted(found.values())[-1], os.path.join(CACHE, "debug-" + SUITE))
        if not path:
            skip_all("no debug package: " + why)
    bare = os.path.join(CACHE, "bare")
    must("objcopy", "--strip-all", path, bare)
    orc, dwarf = rows_by("orc", path, bare), rows_by("debug_frame", path, bare)
    sites = collections.Counter(kind(row_at(orc, pc), row_at(dwarf, pc)) for pc in returns(bare))
    print("# calls:", dict(sites.most_common()), flush=True)
    check(sites["the same"] > 100000 and sum(sites.values()) - sites["the same"] < 0.005 * sites["the same"],
          "where calls return to, both have the same row", sites)
    # Where BP is in its register and on the stack, each may name the other place.
    different = {name: n for name, n in sites.items() if name not in ("the same", "ORC alone", "DWARF alone", "neither", "FP")}
    check(not different and sites["FP"] < 0.001 * sites["the same"], "where calls return to, neither contradicts the other",
          sites)
    places = each_byte(orc, dwarf)
    print("# bytes:", dict(places.most_common()), flush=True)
    both = sum(places.values()) - places["ORC alone"] - places["DWARF alone"]
    check(places["the same"] > 0.99 * both, "of the code that both describe, 99 % has the same row", places)
    both = run(TOOL, "--report", "--source=debug_frame,orc", path)
    check("  by debug_frame " in both.stdout and "  by orc " in both.stdout, "both are used, .debug_frame first", both.stderr)
    plan()


main()
