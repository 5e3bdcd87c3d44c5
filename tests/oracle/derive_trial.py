#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""derive_trial.py EH2SFRAME [--strip] [--shares] [--known=LIST] FILE...: CFI hidden, derived, and compared.

Each file is copied without a way to its CFI (and with --strip to its symbols): the program header and
the sections have other names. The command derives rows from that copy, as it would for a file that never
had CFI. Each derived row is then held against the rows that readelf prints of the original, at each
address. Rules of the same kind must be equal. Where they are of different kinds, as sp+40 and rbp+16, both are
computed by objdump's instructions (row_values.py), and their values must be equal. Bytes where a value is not known are
counted: nothing has compared those.

LIST has the places where the CFI is wrong: a line for each stretch, "PATH START END WHY".

Exit status 1 on any other row that differs, and where less of the code has a row than LEAST says. --shares compares
nothing but that.
"""
import os
import re
import struct
import subprocess
import sys
import tempfile
from bisect import bisect_left
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial

import row_values
from readelf_rows import MACHINES, add_signed, readelf_fdes, signed_places
from sframe_text import Section

HIDDEN = (".eh_frame", ".eh_frame_hdr", ".debug_frame", ".zdebug_frame", ".gopclntab", ".data.rel.ro.gopclntab")
SHT_PROGBITS, SHT_SYMTAB, SHT_X86_64_UNWIND, PT_GNU_EH_FRAME = 1, 2, 0x70000001, 0x6474e550
SHOWN = 8
# Percent of Debian 12's files, a little below what they have: code that many functions share, tables, C++, assembler.
LEAST = {"/usr/bin/bash": 92, "/bin/git": 85, "/bin/gdb": 73, "/bin/perl": 71, "/bin/openssl": 88, "/libcrypto.so.3": 77,
         "/libpython3.11.so.1.0": 86, "/libperl.so.5.36.0": 78, "/libx265.so.199": 86, "/libdav1d.so.6.6.0": 48,
         "/aarch64-linux-gnu/lib/libc.so.6": 75, "/s390x-linux-gnu/lib/libc.so.6": 63}


def hide(data, strip):
    """Changes the headers in data. (True if they led to CFI, [(start, end)] of PLTs)."""
    order = ">" if data[5] == 2 else "<"
    phoff, shoff = struct.unpack_from(order + "QQ", data, 32)
    phsize, phnum, shsize, shnum, names = struct.unpack_from(order + "5H", data, 54)
    found, plts = False, []

    def put(at, value):
        data[at:at + 4] = struct.pack(order + "I", value)

    for at in range(phoff, phoff + phnum * phsize, phsize):
        if struct.unpack_from(order + "I", data, at)[0] == PT_GNU_EH_FRAME:
            put(at, 0)
            found = True
    strings = struct.unpack_from(order + "Q", data, shoff + names * shsize + 24)[0] if shnum else 0
    for at in range(shoff, shoff + shnum * shsize, shsize):
        name, kind = struct.unpack_from(order + "II", data, at)
        text = bytes(data[strings + name:data.index(b"\0", strings + name)]).decode()
        if text.startswith(".plt"):
            start, _, size = struct.unpack_from(order + "QQQ", data, at + 16)
            plts.append((start, start + size))
        if text in HIDDEN:
            put(at, name + 2)  # "h_frame"
            found = True
            if kind == SHT_X86_64_UNWIND:
                put(at + 4, SHT_PROGBITS)
        if strip and kind == SHT_SYMTAB:
            put(at + 4, SHT_PROGBITS)
    return found, plts


@cache
def numbered(text, machine):
    """A rule of --dump in readelf_rows' words."""
    text = text.replace(" ", "")
    match = re.fullmatch(r"(sp|fp|r\d+)([+-]\d+)?", text)
    if not match:
        return text
    name = {"sp": machine.stack, "fp": machine.frame}.get(match[1])
    number = machine.numbers[name] if name else match[1][1:]
    return f"r{number}{match[2] or '+0'}"


def derived_rows(text, machine, plts):
    """[(start, end, CFA, FP, RA)], ascending. PLTs have templates, which are not derived."""
    section, rows = Section(text, exact=True), []
    for start, (size, masked, offsets) in section.funcs.items():
        if masked or any(low <= start < high for low, high in plts):
            continue
        for i, (offset, cfa, fp, ra) in enumerate(offsets):
            end = offsets[i + 1][0] if i + 1 < len(offsets) else size
            rows.append((start + offset, start + end, numbered(cfa, machine), fp, ra))
    return sorted(rows)


def true_rows(path, machine):
    """What readelf prints: [(start, end, CFA, FP, RA)] and the FDEs, [(start, end)]; both ascend."""
    rows, fdes, found = [], [], readelf_fdes(path, machine)
    if machine is MACHINES[183]:
        found = add_signed(found, signed_places(path))
    for start, end, table, _ in found:
        for i, (pc, cfa, _, fp, ra, *signed) in enumerate(table):
            stop = table[i + 1][0] if i + 1 < len(table) else end
            if start <= pc < stop:
                rows.append((pc, stop, cfa, fp, f"{ra}[s]" if signed else ra))
        fdes.append((start, end))
    return sorted(rows), sorted(fdes)


def is_signed(rule):
    """The return address has AArch64's signature."""
    return (rule or "").endswith("[s]")


def verdict(row, truth):
    """None: they agree; True: they differ; else they cannot be compared."""
    (cfa, fp, ra), other = row, ""
    if cfa != truth[0]:
        if truth[0] and cfa.split("+")[0] == truth[0].split("+")[0]:
            return True
        other = "cfa"
    for mine, right in ((fp, truth[1]), (ra, truth[2])):
        if mine in ("f", right):
            continue
        if mine[0] == (right or "-")[0] == "c" or is_signed(mine) != is_signed(right):
            return True
        other = other or "saved"
    return other or None


def compare(rows, truths):
    """(bytes compared, [(start, end, row, truth, True: they differ)] where they are not equal)."""
    at, compared, doubts = 0, 0, []
    for start, end, *row in rows:
        while at and truths[at - 1][1] > start:
            at -= 1
        while at < len(truths) and truths[at][0] < end:
            low, high = max(start, truths[at][0]), min(end, truths[at][1])
            if low < high:
                found = verdict(row, truths[at][2:])
                compared += high - low
                if found:
                    doubts.append((low, high, row, truths[at][2:], found is True))
            at += 1
    return compared, doubts


def equal(mine, other):
    """True if two values are equal, False if not. None: it is not known."""
    if not mine or not other or (mine[0] != other[0] and not (isinstance(mine[0], str) and isinstance(other[0], str))):
        return None
    return mine == other


def same_values(state, row, truth, machine):
    """Answers for the CFA, FP and RA."""
    mine, right = (row_values.evaluate(state, *one, machine) for one in (row, truth))
    return [rule in ("f", other) or equal(a, b) for rule, other, a, b in zip(row, truth, mine, right)]


def in_range(doubts, start, end):
    """Those that begin in [start, end)."""
    return doubts[bisect_left(doubts, (start,)):bisect_left(doubts, (end,))]


def right_by_code(state, row, machine):
    """True if the row gives the CFA of the function's start, and what the frame pointer and the return address were there."""
    cfa, fp, ra = row_values.evaluate(state, *row, machine)
    return cfa == ("cfa", 0) and fp == ("fp", 0) and (row_values.RETURN[machine] is None or ra == ("ra", 0))


def judge_function(function, inside, machine):
    """({address: (row, truth)} that differ, bytes whose values are known, those that the code confirms) of doubts inside of it."""
    wrong, known, confirmed = {}, 0, set()
    for low, high, row, truth, differ in inside:
        for pc in (low,) if differ else range(low, high):
            if pc not in function.states:
                continue
            state = function.states[pc]
            same = [False] if differ else same_values(state, row, truth, machine)
            if False in same:
                wrong[pc] = (row, truth)
                if right_by_code(state, row, machine):
                    confirmed.add(pc)
            if None not in same and not differ:
                known += min(function.next.get(pc, high), high) - pc
    return wrong, known, confirmed


def judge(path, machine, doubts, truths, fdes):
    """({address: (row, truth)} that differ, those that the code confirms, bytes by value, bytes of these that are not compared)."""
    wrong, confirmed = {low: (row, truth) for low, _, row, truth, differ in doubts if differ}, set()
    by_value = unknown = sum(high - low for low, high, *_, differ in doubts if not differ)

    def row_at(pc):
        at = bisect_left(truths, (pc + 1,)) - 1
        return truths[at][2:] if at >= 0 and pc < truths[at][1] else (None, None, None)

    for function in row_values.functions(path, machine, [one for one in fdes if in_range(doubts, *one)]):
        inside = in_range(doubts, function.start, function.end)
        wanted = sum(high - low for low, high, *_, differ in inside if not differ)
        # Where the doubts alone do not decide, the whole function is followed.
        for stretches in ([one[:2] for one in inside], [(function.start + 1, function.end)]):
            function.run(stretches, row_at)
            differ, known, right = judge_function(function, inside, machine)
            if not differ and known == wanted:
                break
        wrong.update(differ)
        confirmed |= right
        unknown -= known
    return wrong, confirmed, by_value, unknown


def known_places(path):
    """[(end of a file's path, start, end)] of a list."""
    with open(path, encoding="utf-8") as file:
        lines = [line.split() for line in file if not line.startswith(("#", "\n"))]
    return [(line[0], int(line[1], 16), int(line[2], 16)) for line in lines]


def trial(tool, path, strip, shares, known):
    """(line, [faults, percentage, bytes compared, by value, not compared, places where the CFI is wrong]) of one file; None: it
    has no code to look at."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    if data[:5] != b"\x7fELF\2" or data[16] + data[17] not in (2, 3):
        return None
    number = data[18] + data[19]
    machine = MACHINES.get(number)
    found, plts = hide(data, strip) if machine else (False, [])
    if not found:
        return None
    with tempfile.TemporaryDirectory() as work:
        hidden, out = os.path.join(work, "hidden"), os.path.join(work, "out")
        with open(hidden, "wb") as file:
            file.write(data)
        made = subprocess.run([tool, "convert", "--source=derived", "--format=3", "--no-verify", hidden, out],
                              capture_output=True, text=True, check=False)
        if made.returncode:
            return f"{path}: exit {made.returncode}: {made.stderr.strip().splitlines()[-1][-100:]}", None
        share = re.search(r"and ([\d.]+)% of all", made.stdout)
        share = float(share[1]) if share else 0.0
        least = next((percent for name, percent in LEAST.items() if path.endswith(name)), 0)
        few = [f"    {least} % at least"] if share < least else []
        if shares:
            return "\n".join([f"{path}: {share} %"] + few), [len(few), share, 0, 0, 0, 0]
        dump = subprocess.run([tool, "dump", out], capture_output=True, text=True, check=True).stdout
    truths, fdes = true_rows(path, machine)
    compared, doubts = compare(derived_rows(dump, machine, plts), truths)
    wrong, confirmed, by_value, unknown = judge(path, number, doubts, truths, fdes)
    excused = [pc for pc in wrong if any(path.endswith(name) and start <= pc < end for name, start, end in known)]
    for pc in excused:
        del wrong[pc]
    lines = [f"    {pc:#x}: {row}, and the CFI has {truth}{'; the instructions give the row' if pc in confirmed else ''}"
             for pc, (row, truth) in sorted(wrong.items(), key=lambda one: (one[0] in confirmed, one[0]))]
    numbers = [len(wrong) + len(few), share, compared, by_value, unknown, len(excused)]
    line = f"{path}: {share} %, {compared} bytes compared, {len(wrong)} rows differ, {len(confirmed & set(wrong))} of them as " \
           f"objdump's instructions say, {len(excused)} where the CFI is wrong, {by_value} bytes by value, {unknown} not compared"
    return "\n".join([line] + few + lines[:SHOWN]), numbers


def main():
    tool, *rest = sys.argv[1:]
    known = next((known_places(one[8:]) for one in rest if one.startswith("--known=")), [])
    files = sorted({os.path.realpath(one) for one in rest if not one.startswith("--") and os.path.exists(one)})
    if not files:
        sys.exit(77)
    all_numbers = []
    one = partial(trial, tool, strip="--strip" in rest, shares="--shares" in rest, known=known)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for result in pool.map(one, files):
            if result:
                print(result[0], flush=True)
                all_numbers += [result[1]] if result[1] else []
    wrong, share, compared, by_value, unknown, excused = [sum(column) for column in zip([0] * 6, *all_numbers)]
    print(f"{len(all_numbers)} files, {share / max(len(all_numbers), 1):.1f} % of their code has a row on average, {compared} bytes compared, "
          f"{by_value} by value, {unknown} not compared, {excused} places where the CFI is wrong, {wrong} faults")
    sys.exit(wrong > 0 or not all_numbers)


if __name__ == "__main__":
    main()
