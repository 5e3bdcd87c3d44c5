#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""derive_trial.py EH2SFRAME [--strip] [--least=PERCENT] [--known=LIST] FILE...: CFI hidden, derived, and compared.

Each file is copied without a way to its CFI (and with --strip to its symbols): the program header and
the sections have other names. The command derives rows from that copy, as it would for a file that never
had CFI. Each derived row is then held against the rows that readelf prints of the original, at each
address. Rules of the same kind must be equal. Where they are of different kinds, as sp+40 and rbp+16, both can be
right: those bytes are counted as "other", and the code witness looks at them, with the CFI back in place.

LIST has the places where the CFI is wrong: a line for each stretch, "PATH START END WHY".

Exit status 1 on any other row that differs, and below PERCENT of code with a row. TRIAL_JOBS files at a time.
"""
import os
import re
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from readelf_rows import MACHINES, readelf_fdes
from sframe_text import Section

HIDDEN = (".eh_frame", ".eh_frame_hdr", ".debug_frame", ".zdebug_frame", ".gopclntab", ".data.rel.ro.gopclntab")
SHT_PROGBITS, SHT_SYMTAB, SHT_X86_64_UNWIND, PT_GNU_EH_FRAME = 1, 2, 0x70000001, 0x6474e550
SHOWN = 8


def hide(data, strip):
    """Changes the headers in data; returns [(offset, bytes before)]."""
    order = ">" if data[5] == 2 else "<"
    phoff, shoff = struct.unpack_from(order + "QQ", data, 32)
    phsize, phnum, shsize, shnum, names = struct.unpack_from(order + "5H", data, 54)
    undo = []

    def put(at, value):
        new = struct.pack(order + "I", value)
        undo.append((at, bytes(data[at:at + 4])))
        data[at:at + 4] = new

    for at in range(phoff, phoff + phnum * phsize, phsize):
        if struct.unpack_from(order + "I", data, at)[0] == PT_GNU_EH_FRAME:
            put(at, 0)
    strings = struct.unpack_from(order + "Q", data, shoff + names * shsize + 24)[0] if shnum else 0
    for at in range(shoff, shoff + shnum * shsize, shsize):
        name, kind = struct.unpack_from(order + "II", data, at)
        text = bytes(data[strings + name:data.index(b"\0", strings + name)]).decode()
        if text in HIDDEN:
            put(at, name + 2)  # "h_frame"
            if kind == SHT_X86_64_UNWIND:
                put(at + 4, SHT_PROGBITS)
        if strip and kind == SHT_SYMTAB:
            put(at + 4, SHT_PROGBITS)
    return undo


def unhide(data, undo, original):
    """The headers of the original again, in a file whose section headers may have moved."""
    order = ">" if original[5] == 2 else "<"
    before, = struct.unpack_from(order + "Q", original, 40)
    after, = struct.unpack_from(order + "Q", data, 40)
    for at, old in undo:
        at += after - before if at >= before else 0
        data[at:at + 4] = old


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
    """[(start, end, CFA, FP, RA)] of readelf, ascending."""
    rows = []
    for start, end, table, _ in readelf_fdes(path, machine):
        for i, (pc, cfa, _, fp, ra) in enumerate(table):
            stop = table[i + 1][0] if i + 1 < len(table) else end
            if start <= pc < stop:
                rows.append((pc, stop, cfa, fp, ra))
    return sorted(rows)


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
        if mine.startswith("c") and (right or "").startswith("c"):
            return True
        other = other or "saved"
    return other or None


def compare(rows, truths):
    """(bytes compared, {address: (row, truth)} that differ, the same of those that cannot be compared)."""
    at, compared, wrong, other = 0, 0, {}, {}
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
                    other[low] = (row, truths[at][2:])
            at += 1
    return compared, wrong, other


def contradicted(tool, path, other):
    """The places among other that the code witness contradicts, with the CFI's beginnings of functions."""
    done = subprocess.run([tool, "verify", "--witness=code", "-v", path], capture_output=True, text=True, check=False)
    found = (re.search(r": (0x[0-9a-f]+) in [^,]*, (\d+) instr", line) for line in done.stdout.splitlines())
    return sorted(pc for pc in (int(match[1], 16) for match in found if match) if pc in other)


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
    machine = MACHINES.get(data[18] + data[19])
    original = bytes(data)
    undo = hide(data, strip)
    if not machine or not undo:
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
        compared, wrong, other = compare(derived_rows(dump, machine), true_rows(path, machine))
        if other:
            with open(out, "rb") as file:
                data = bytearray(file.read())
            unhide(data, undo, original)
            with open(out, "wb") as file:
                file.write(data)
            wrong.update((pc, other[pc]) for pc in contradicted(tool, out, other))
    excused = [pc for pc in wrong if any(path.endswith(name) and start <= pc < end for name, start, end in known)]
    for pc in excused:
        del wrong[pc]
    lines = [f"    {pc:#x}: {row}, and the CFI has {truth}" for pc, (row, truth) in sorted(wrong.items())[:SHOWN]]
    line = f"{path}: {share} %, {compared} bytes compared, {len(wrong)} rows differ, " \
           f"{len(excused)} where the CFI is wrong, {len(other)} of another kind"
    return "\n".join([line] + lines), len(wrong), float(share)


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
