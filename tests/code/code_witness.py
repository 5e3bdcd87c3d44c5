#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""eh2sframe verify --witness=code: the rows of .sframe sections by this program and by GNU as, beside the code. TAP.

    code_witness.py EH2SFRAME FIXTURES MACHINE

What the code contradicts in a section is what it contradicts in the CFI that the section was made of, at the
same instructions. Then one row of a section of version 2 after the other is broken, and must be found.
"""
import os
import re
import shutil
import struct
import sys
import tempfile

from code_said import Said
from elf_text import sections
from tap import check, must, plan, run, skip, skip_all

TOOL, FIXTURES, MACHINE = sys.argv[1:]
PREFIX = "" if MACHINE == os.uname().machine else f"{MACHINE}-linux-gnu-"
CC = PREFIX + "gcc"
BYTE_ORDER = ">" if MACHINE == "s390x" else "<"
BY_CODE = "verify", "--witness=code"
CONTRADICTED = 4
# A row of s390x does not say where SP is saved. So no state can start from a row alone.
ALWAYS = ["-fasynchronous-unwind-tables", *(["-fno-jump-tables"] if MACHINE == "s390x" else [])]
VERSIONS = (2, 3) if MACHINE == "s390x" else (1, 2, 3)


def by_code(path, *options):
    return Said(TOOL, path, *options, command=BY_CODE)


def compiled(name, source, *flags):
    must(CC, "-shared", "-fPIC", "-nostartfiles", *ALWAYS, *flags, source, "-o", name)
    return name


def is_confirmed(said):
    return said.status == 0 and said.counts and said.counts[0] > 3 and not any(said.counts[1:])


# ---- sections by this program ----

def converted():
    source = os.path.join(FIXTURES, "functions.c")
    for flags in (["-O2"], ["-O0"]):
        compiled("a.so", source, *flags)
        for version in VERSIONS:
            must(TOOL, "-q", f"--format={version}", "--witness=code", "a.so", "b.so")
            check(is_confirmed(by_code("b.so")), f"{flags[0]}, version {version}: confirmed", by_code("b.so").text)
        must(PREFIX + "objcopy", "-R", ".eh_frame", "-R", ".eh_frame_hdr", "b.so", "c.so")
        check(is_confirmed(by_code("c.so")), f"{flags[0]}: confirmed without CFI", by_code("c.so").text)
        must(CC, "-c", "-fPIC", *ALWAYS, *flags, source, "-o", "a.o")
        must(TOOL, "-q", "--format=3", "a.o", "b.o")
        check(is_confirmed(by_code("b.o")), f"{flags[0]}: confirmed in an object", by_code("b.o").text)
    said = run(TOOL, *BY_CODE, "a.so")
    check(said.returncode == 6 and "no .sframe" in said.stderr, "no section: status 6", said.stderr)


def known_faults():
    """CFI that is wrong by intention makes a section that is wrong at the same instructions."""
    name = os.path.join(FIXTURES, f"{MACHINE}.S")
    must(CC, "-c", name, "-o", "f.o")
    must(PREFIX + "ld", "-shared", "f.o", "-o", "f.so")
    cfi = Said(TOOL, "f.so")
    expected = {(fault.at, fault.column) for fault in cfi.faults}
    for version in VERSIONS:
        must(TOOL, "-q", f"--format={version}", "f.so", "g.so")
        said = by_code("g.so")
        found = {(fault.at, fault.column) for fault in said.faults}
        check(said.status == CONTRADICTED and "the .sframe of" in said.text, f"version {version}: status 4", said.text)
        check(found <= expected, f"version {version}: no fault that the CFI does not have", found - expected)
        # Version 3 can say nearly all that CFI does.
        check(len(found) >= (0.9 if version == 3 else 0.7) * len(expected),
              f"version {version}: the faults of the CFI", f"{sorted(expected - found)} of {len(expected)}")
        made = run(TOOL, "-q", f"--format={version}", "--witness=code", "f.so", "h.so")
        check(made.returncode == CONTRADICTED and "the code contradicts" in made.stderr and not os.path.exists("h.so"),
              f"version {version}: a conversion that asks the code fails", made.stderr)
    must(TOOL, "-q", "--format=3", "--code=refuse", "--witness=code", "f.so", "h.so")
    check(not by_code("h.so").faults, "--code=refuse leaves no fault", by_code("h.so").text)


# ---- sections by GNU as ----

def assembled():
    source = os.path.join(FIXTURES, "functions.c")
    if run(CC, "-O2", "-fPIC", "-Wa,--gsframe", "-c", source, "-o", "g.o").returncode or ".sframe" not in sections("g.o"):
        return skip("GNU as", "the assembler makes no .sframe for this machine")
    check(is_confirmed(by_code("g.o")), "GNU as: confirmed", by_code("g.o").text)
    compiled("g.so", source, "-O2", "-Wa,--gsframe")
    check(is_confirmed(by_code("g.so")), "GNU ld: confirmed", by_code("g.so").text)
    return None


# ---- broken rows ----

def instructions(path):
    """Addresses, ascending."""
    return sorted(int(at, 16) for at in re.findall(r"^ *([0-9a-f]+):\t", must(PREFIX + "objdump", "-d", path), re.M))


class Row:
    """Where a row of version 2 is in the file, and what it says."""

    def __init__(self, data, at, width, pc):
        self.at, self.width = at, width
        self.start, = struct.unpack_from(BYTE_ORDER + "BHI"[width // 2], data, at)
        self.pc = pc + self.start
        info = data[at + width]
        self.size = 1 << (info >> 5 & 3)
        self.by_sp = info & 1
        self.cfa_at = at + width + 1
        self.cfa = int.from_bytes(data[self.cfa_at:self.cfa_at + self.size], "little" if BYTE_ORDER == "<" else "big")
        self.end = self.cfa_at + self.size * (info >> 1 & 15)


def rows_of(path, data):
    """[[Row]] of the functions that are no PLT's."""
    place = sections(path)[".sframe"]
    n, _, _, funcs, rows = struct.unpack_from(BYTE_ORDER + "5I", data, place.offset + 8)
    found = []
    for i in range(n):
        at = funcs + 28 + 20 * i
        start, _, first, count, info = struct.unpack_from(BYTE_ORDER + "i3IB", data, place.offset + at)
        if info & 16:
            continue
        where, width, function = place.offset + 28 + rows + first, 1 << (info & 15), []
        for _ in range(count):
            function.append(Row(data, where, width, place.addr + at + start))
            where = function[-1].end
        found.append(function)
    return found


def broken(data, at, width, value):
    with open("m.so", "wb") as file:
        file.write(data[:at] + value.to_bytes(width, "little" if BYTE_ORDER == "<" else "big") + data[at + width:])
    return not is_confirmed(by_code("m.so"))


def mutants():
    compiled("a.so", os.path.join(FIXTURES, "functions.c"), "-O2")
    must(TOOL, "-q", "--format=2", "--optimize=none", "a.so", "b.so")
    with open("b.so", "rb") as file:
        data = file.read()
    code = instructions("b.so")
    higher, late = [], []
    for rows in rows_of("b.so", data):
        for i, row in enumerate(rows):
            # On s390x a CFA counts in 8 bytes.
            if row.cfa < (1 << 8 * row.size) // 2 - 8:
                higher.append((row.pc, broken(data, row.cfa_at, row.size, row.cfa + (1 if MACHINE == "s390x" else 8))))
            following = next((pc for pc in code if pc > row.pc), row.pc)
            before, end = rows[i - 1], rows[i + 1].pc if i + 1 < len(rows) else following + 1
            if i and following < end and before.by_sp == row.by_sp and before.cfa != row.cfa:
                late.append((row.pc, broken(data, row.at, row.width, row.start + following - row.pc)))
    for name, tried in (("CFA + 8", higher), ("one instruction late", late)):
        missed = [hex(pc) for pc, noticed in tried if not noticed]
        check(len(tried) > 10 and not missed, f"{name}: {len(tried)} rows", f"not noticed: {missed}")


def tiny_blocks():
    """Outside of a PLT, rows that repeat are not those of blocks that somebody enters."""
    with open("b.so", "rb") as file:
        data = bytearray(file.read())
    place = sections("b.so")[".sframe"]
    n, _, _, funcs, _ = struct.unpack_from(BYTE_ORDER + "5I", data, place.offset + 8)
    infos = [at for at in (place.offset + funcs + 28 + 20 * i + 16 for i in range(n)) if not data[at] & 16]
    for at in infos:
        struct.pack_into(BYTE_ORDER + "IBB", data, at - 4, 1, data[at] | 16, 1)
    struct.pack_into(BYTE_ORDER + "I", data, place.offset + 12, sum(
        struct.unpack_from(BYTE_ORDER + "I", data, place.offset + funcs + 40 + 20 * i)[0] for i in range(n)))
    with open("m.so", "wb") as file:
        file.write(data)
    said = by_code("m.so")
    passed = re.search(r"(\d+) not looked at", said.text)
    check(passed and int(passed[1]) > 3, "functions of blocks of one byte are not looked at", said.text)


def main():
    if not shutil.which(CC):
        skip_all(f"{CC} is not installed")
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        if "build it with Zydis" in run(TOOL, "check", "/proc/self/exe").stderr and MACHINE == "x86_64":
            skip_all("this build cannot decode x86-64")
        converted()
        known_faults()
        assembled()
        mutants()
        tiny_blocks()
        os.chdir("/")
    plan()


TOOL, FIXTURES = os.path.realpath(TOOL), os.path.realpath(FIXTURES)
main()
