#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""derive_trial.py EH2SFRAME [--strip] [--least=PERCENT] [--known=LIST] FILE...: CFI hidden, derived, and compared.

Each file is copied without a way to its CFI (and with --strip to its symbols): the program header and
the sections have other names. The command derives rows from that copy, as it would for a file that never
had CFI. Each derived row is then held against the rows that readelf prints of the original, at each
address. Rules of the same kind must be equal. Where they are of different kinds, as sp+40 and rbp+16, both are
computed by objdump's instructions (row_values.py), and their values must be equal. Bytes where a value is not known are
counted: nothing has compared those.

LIST has the places where the CFI is wrong: a line for each stretch, "PATH START END WHY".

Exit status 1 on any other row that differs, and below PERCENT of code with a row. TRIAL_JOBS files at a time.
"""
import os
import re
import struct
import subprocess
import sys
import tempfile
from bisect import bisect_left
from concurrent.futures import ThreadPoolExecutor

import row_values
from readelf_rows import MACHINES, add_signed, readelf_fdes, signed_places
from sframe_text import Section

HIDDEN = (".eh_frame", ".eh_frame_hdr", ".debug_frame", ".zdebug_frame", ".gopclntab", ".data.rel.ro.gopclntab")
SHT_PROGBITS, SHT_SYMTAB, SHT_X86_64_UNWIND, PT_GNU_EH_FRAME = 1, 2, 0x70000001, 0x6474e550
SHOWN = 8


def hide(data, strip):
    """Changes the headers in data. True if they led to CFI."""
    order = ">" if data[5] == 2 else "<"
    phoff, shoff = struct.unpack_from(order + "QQ", data, 32)
    phsize, phnum, shsize, shnum, names = struct.unpack_from(order + "5H", data, 54)
    found = False

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
        if text in HIDDEN:
            put(at, name + 2)  # "h_frame"
            found = True
            if kind == SHT_X86_64_UNWIND:
                put(at + 4, SHT_PROGBITS)
        if strip and kind == SHT_SYMTAB:
            put(at + 4, SHT_PROGBITS)
    return found


def numbered(text, machine):
    """A rule of --dump in readelf_rows' words."""
    text = text.replace(" ", "")
    match = re.fullmatch(r"(sp|fp|r\d+)([+-]\d+)?", text)
    if not match:
        return text
    name = {"sp": machine.stack, "fp": machine.frame}.get(match[1])
    number = machine.numbers[name] if name else match[1][1:]
    return f"r{number}{match[2] or '+0'}"


def derived_rows(text, machine):
    """[(start, end, CFA, FP, RA)], ascending. PLTs have templates, which are not derived."""
    section, rows = Section(text, exact=True), []
    for start, (size, masked, offsets) in section.funcs.items():
        if masked:
            continue
        for i, (offset, cfa, fp, ra) in enumerate(offsets):
            end = offsets[i + 1][0] if i + 1 < len(offsets) else size
            rows.append((start + offset, start + end, numbered(cfa, machine), fp, ra))
    return sorted(rows)


def true_rows(path, machine):
    """What readelf prints: [(start, end, CFA, FP, RA)] and the FDEs, [(start, end, first row)]; both ascend."""
    rows, fdes, found = [], [], readelf_fdes(path, machine)
    if machine is MACHINES[183]:
        found = add_signed(found, signed_places(path))
    for start, end, table, _ in found:
        for i, (pc, cfa, _, fp, ra, *signed) in enumerate(table):
            stop = table[i + 1][0] if i + 1 < len(table) else end
            if start <= pc < stop:
                rows.append((pc, stop, cfa, fp, f"{ra}[s]" if signed else ra))
        if table and table[0][0] == start:
            fdes.append((start, end, [table[0][1], *table[0][3:5]]))
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
    """(bytes compared, {address: (row, truth)} that differ, [(start, end, row, truth)] of other kinds)."""
    at, compared, wrong, other = 0, 0, {}, []
    for start, end, *row in rows:
        while at and truths[at - 1][1] > start:
            at -= 1
        while at < len(truths) and truths[at][0] < end:
            low, high = max(start, truths[at][0]), min(end, truths[at][1])
            if low < high:
                found = verdict(row, truths[at][2:])
                compared += high - low
                if found is True:
                    wrong[low] = (row, truths[at][2:])
                elif found:
                    other.append((low, high, row, truths[at][2:]))
            at += 1
    return compared, wrong, other


def equal(mine, other, whole):
    """True if two values are equal, False if not. None: it is not known. Names are of registers at the FDE's start: where
    that is no function's, they can have the same value."""
    if not mine or not other:
        return None
    if mine[0] != other[0] and not (whole and isinstance(mine[0], str) and isinstance(other[0], str)):
        return None
    return mine == other


def same_values(state, row, truth, head, machine):
    """Answers for the CFA, FP and RA. head: the FDE's first row, and the CFA by it at its start."""
    (_, saved, _), first = head
    mine, right = (row_values.evaluate(state, *one, machine) for one in (row, truth))
    right = (right[0] or first, *right[1:])
    return [rule in ("f", other) or equal(a, b, saved == "u") for rule, other, a, b in zip(row, truth, mine, right)]


def in_range(other, start, end):
    """Those of other that begin in [start, end)."""
    return other[bisect_left(other, (start,)):bisect_left(other, (end,))]


def is_entry_value(value, reg):
    return value == (f"r{reg}", 0)


def right_by_code(state, row, first, machine):
    """True if the row gives the CFA of the function's start, and what the frame pointer and the return address were there."""
    cfa, fp, ra = row_values.evaluate(state, *row, machine)
    link = row_values.RETURN[machine]
    return cfa == first and is_entry_value(fp, row_values.FRAME[machine]) and (link is None or is_entry_value(ra, link))


def judge_others(path, machine, other, fdes, differ):
    """({address: (row, truth)} whose values differ, bytes that could not be compared, those that the code confirms)."""
    confirmed = set()
    wrong = {}
    odd = sorted(differ)
    wanted = [one for one in fdes if in_range(other, *one[:2]) or bisect_left(odd, one[0]) < bisect_left(odd, one[1])]
    places = {one[0]: one for one in wanted}
    unknown = sum(high - low for low, high, *_ in other)
    for function in row_values.functions(path, machine, [one[:2] for one in wanted]):
        start, end, row = places[function.start]
        first = row_values.evaluate(row_values.State({}, {}), *row, machine)[0]
        confirmed.update(pc for pc in odd[bisect_left(odd, start):bisect_left(odd, end)] if pc in function.states and
                         right_by_code(function.states[pc], differ[pc][0], first, machine))
        for low, high, mine, truth in in_range(other, start, end):
            for pc in range(low, high):
                if pc not in function.states:
                    continue
                same = same_values(function.states[pc], mine, truth, (row, first), machine)
                if False in same:
                    wrong[pc] = (mine, truth)
                    if right_by_code(function.states[pc], mine, first, machine):
                        confirmed.add(pc)
                if None not in same:
                    unknown -= min(function.next.get(pc, high), high) - pc
    return wrong, unknown, confirmed


def known_places(path):
    """[(end of a file's path, start, end)] of a list."""
    with open(path, encoding="utf-8") as file:
        lines = [line.split() for line in file if not line.startswith(("#", "\n"))]
    return [(line[0], int(line[1], 16), int(line[2], 16)) for line in lines]


def trial(tool, path, strip, known):
    """(line, number of wrong places, percentage) of one file; None: it has no code to look at."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    if data[:5] != b"\x7fELF\2" or data[16] + data[17] not in (2, 3):
        return None
    number = data[18] + data[19]
    machine = MACHINES.get(number)
    if not hide(data, strip) or not machine:
        return None
    with tempfile.TemporaryDirectory() as work:
        hidden, out = os.path.join(work, "hidden"), os.path.join(work, "out")
        with open(hidden, "wb") as file:
            file.write(data)
        made = subprocess.run([tool, "convert", "--derive", "--format=3", "--no-verify", hidden, out],
                              capture_output=True, text=True, check=False)
        if made.returncode:
            return f"{path}: exit {made.returncode}: {made.stderr.strip().splitlines()[-1][-100:]}", 0, None
        share = re.search(r"and ([\d.]+)% of all", made.stdout)
        share = share[1] if share else "0"
        dump = subprocess.run([tool, "dump", out], capture_output=True, text=True, check=True).stdout
    truths, fdes = true_rows(path, machine)
    compared, wrong, other = compare(derived_rows(dump, machine), truths)
    differ, unknown, confirmed = judge_others(path, number, other, fdes, wrong)
    wrong.update(differ)
    excused = [pc for pc in wrong if any(path.endswith(name) and start <= pc < end for name, start, end in known)]
    for pc in excused:
        del wrong[pc]
    lines = [f"    {pc:#x}: {row}, and the CFI has {truth}" for pc, (row, truth) in sorted(wrong.items()) if pc not in confirmed]
    line = f"{path}: {share} %, {compared} bytes compared, {len(wrong)} rows differ, {len(confirmed & set(wrong))} of them as objdump's " \
           f"instructions say, {len(excused)} where the CFI is wrong, {sum(high - low for low, high, *_ in other)} bytes by value, " \
           f"{unknown} not compared"
    return "\n".join([line] + lines[:SHOWN]), len(wrong), float(share)


def main():
    tool, *rest = sys.argv[1:]
    strip, least = "--strip" in rest, next((float(one[8:]) for one in rest if one.startswith("--least=")), 0.0)
    known = next((known_places(one[8:]) for one in rest if one.startswith("--known=")), [])
    files = sorted({os.path.realpath(one) for one in rest if not one.startswith("--")})
    bad = looked_at = 0
    with ThreadPoolExecutor(int(os.environ.get("TRIAL_JOBS", "1"))) as pool:
        for result in pool.map(lambda path: trial(tool, path, strip, known), files):
            if not result:
                continue
            line, wrong, share = result
            looked_at += share is not None
            bad += wrong + (share is not None and share < least)
            print(line, flush=True)
    print(f"{looked_at} files, {bad} faults")
    sys.exit(bad > 0 or not looked_at)


if __name__ == "__main__":
    main()
