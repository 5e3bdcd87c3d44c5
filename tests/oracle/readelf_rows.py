#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""readelf_rows.py CFI_ROWS FILE...: the interpreter against readelf, at every PC.

CFI_ROWS is the program that prints our rows. "readelf --debug-dump=frames-interp" is brought into
the same words and both are compared wherever either changes. readelf prints "exp" and "vexp" for
expressions: these agree with anything and are counted, as do our "?" and the FDEs that we refuse.
It has one word, "u", for undefined and for no rule. Whether the return address is signed is not in
those tables: on AArch64 it comes from readelf's list of the instructions. Exit status 1 on any
difference, and when nothing was compared.
"""

import re
import subprocess
import sys
from functools import cache


class Machine:
    """DWARF numbers of the names readelf uses; its names of the columns for SP and FP."""

    def __init__(self, names, stack, frame):
        self.numbers = {name: number for number, name in names}
        self.stack, self.frame = stack, frame


# x86-64 psABI, figure 3.36.
X86_64 = ["rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp"]
X86_64 += [f"r{i}" for i in range(8, 16)] + ["ra"]
X86_64 += [f"xmm{i}" for i in range(16)] + [f"st{i}" for i in range(8)]
# AADWARF64, "DWARF register names". "ra" is readelf's word for a CIE's column, here always x30.
AARCH64 = [*((i, f"x{i}") for i in range(30)), (30, "ra"), (30, "x30"), (31, "sp")]
AARCH64 += [(64 + i, f"v{i}") for i in range(32)]
# s390x ELF ABI supplement, "DWARF register number mapping".
S390X = [f"r{i}" for i in range(14)] + ["ra", "r15"]
S390X += [f"f{i}" for i in (0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15)]
MACHINES = {  # by e_machine
    62: Machine(enumerate(X86_64), "rsp", "rbp"),
    183: Machine(AARCH64, "sp", "x29"),
    22: Machine([*enumerate(S390X), (14, "r14")], "r15", "r11"),
}

FDE = re.compile(r"^[0-9a-f]+ [0-9a-f]+ [0-9a-f]+ FDE cie=([0-9a-f]+) pc=(\w+)\.\.(\w+)")
CIE = re.compile(r"^([0-9a-f]+) [0-9a-f]+ [0-9a-f]+ CIE")
NUMBER_AND_NAME = re.compile(r"r[0-9]+ \((\w+)\)")
ROW = re.compile(r"^[0-9a-f]{16} ")
REGISTER = re.compile(r"^([a-z]+[0-9]*)([+-][0-9]+)?$")
EH_FRAME = re.compile(r" \.eh_frame +(PROGBITS|X86_64_UNWIND)")
STEP = re.compile(r"^  DW_CFA_advance_loc\d?: .* to ([0-9a-f]+)$")
SHOWN = 5
COUNTS = ("files", "fdes", "rows", "exp", "opaque", "refused", "restoring", "different", "skipped")


@cache
def word(text, machine):
    """One of readelf's cells in our words; None for an expression."""
    if text in ("exp", "vexp"):
        return None
    if text in ("u", "s") or re.match(r"^[cv][+-]", text):
        return text
    match = REGISTER.match(text)
    if not match or match[1] not in machine.numbers:
        raise ValueError(f"readelf prints {text!r}")
    return f"r{machine.numbers[match[1]]}{match[2] or '+0'}"


def readelf_row(line, columns, machine):
    """One line of a table: (pc, cfa, sp, fp, ra)."""
    cells = (NUMBER_AND_NAME.sub(r"\1", line) if "(" in line else line).split()
    names = (machine.stack, machine.frame, "ra")
    tracked = [cells[columns[name]] if name in columns else "u" for name in names]
    return (int(cells[0], 16), *(word(cell, machine) for cell in [cells[1]] + tracked))


def readelf_fdes(path, machine, sections=r" \.eh_frame section"):
    """Yields (start, end, rows, offset of the CIE) for each FDE of the sections."""
    command = ["readelf", "--debug-dump=no-follow-links,frames-interp", "-W", path]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    inside, fde, columns, cies, rows = False, None, {}, {}, []
    for line in run.stdout:
        if line.startswith("Contents of the "):
            inside, cies = re.search(sections, line), {}
        elif not inside:
            continue
        elif match := FDE.match(line):
            if fde:
                yield fde
            start, end = int(match[2], 16), int(match[3], 16)
            # Without instructions of its own an FDE has no table: the CIE's row holds.
            initial = [(start, *row[1:]) for row in cies.get(int(match[1], 16), [])]
            fde = (start, end, initial, int(match[1], 16))
            rows = fde[2]
        elif match := CIE.match(line):
            if fde:
                yield fde
            fde = None
            rows = cies[int(match[1], 16)] = []
        elif line.lstrip().startswith("LOC"):
            columns = {name: i for i, name in enumerate(line.split())}
            if fde:
                rows.clear()
        elif ROW.match(line):
            rows.append(readelf_row(line, columns, machine))
    if fde:
        yield fde
    run.wait()


def own_fdes(cfi_rows, path):
    """The same from our program."""
    run = subprocess.Popen([cfi_rows, path], stdout=subprocess.PIPE, text=True)
    fde = None
    for line in run.stdout:
        cells = line.split()
        if cells[0] == "fde":
            if fde:
                yield fde
            start, end = cells[1].split("..")
            fde = (int(start, 16), int(end, 16), [])
        elif cells[0] == "error:":
            print(f"{path}: {fde[0]:x}: {line.strip()}")
            fde = (*fde[:2], None)
        else:
            row = [cell.split("=", 1)[1] for cell in cells[1:5]]
            row = ["u" if cell == "-" else cell for cell in row]
            fde[2].append((int(cells[0], 16), *row, *cells[5:]))
    if fde:
        yield fde
    if run.wait() != 0:
        raise ValueError(f"{cfi_rows} failed")


def signed_places(path):
    """{start of an FDE: [addresses where the return address begins or ceases to be signed]}."""
    command = ["readelf", "--debug-dump=no-follow-links,frames", "-W", path]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    places, at, state, kept = {}, None, False, []
    for line in run.stdout:
        if match := FDE.match(line):
            start = at = int(match[2], 16)
            state, kept = False, []
        elif match := STEP.match(line):
            at = int(match[1], 16)
        elif line.startswith("  DW_CFA_remember_state"):
            kept.append(state)
        elif line.startswith(("  DW_CFA_AARCH64_negate_ra_state", "  DW_CFA_restore_state")):
            before, state = state, kept.pop() if "restore" in line else not state
            if state != before:
                places.setdefault(start, []).append(at)
    run.wait()
    return places


def add_signed(fdes, places):
    """The same FDEs with "signed" at the end of the rows to which it applies."""
    for start, end, rows, cie in fdes:
        turns = places.get(start, [])
        rows = [
            (*row, "signed") if sum(turn <= row[0] for turn in turns) % 2 else row for row in rows
        ]
        yield start, end, rows, cie


def restoring_cies(path):
    """Offsets of the CIEs with a restore among their initial instructions.

    gas puts there what a function does before its first instruction. Nothing was there before, so
    that libgcc, libdwarf and we go back to no rule; readelf keeps the rule.
    """
    command = ["readelf", "--debug-dump=no-follow-links,frames", "-W", path]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    cie, found = None, set()
    for line in run.stdout:
        if match := CIE.match(line):
            cie = int(match[1], 16)
        elif FDE.match(line):
            cie = None
        elif cie is not None and "DW_CFA_restore:" in line:
            found.add(cie)
    run.wait()
    return found


def changes(own, theirs):
    """Yields (pc, our rules, readelf's rules) at each PC where either has a row."""
    start, end, own_rows = own
    by_pc = dict.fromkeys(row[0] for row in own_rows + theirs[2] if start <= row[0] < end)
    own_at = {row[0]: row[1:] for row in own_rows}
    their_at = {row[0]: row[1:] for row in theirs[2]}
    mine = other = None
    for pc in sorted(by_pc):
        mine, other = own_at.get(pc, mine), their_at.get(pc, other)
        yield pc, mine, other


def compare_fde(own, theirs, counts):
    """What differs, one line for each PC."""
    wrong = []
    for pc, ours, words in changes(own, theirs):
        counts["rows"] += 1
        counts["exp"] += words.count(None) if words else 0
        counts["opaque"] += ours.count("?")
        if not words or len(ours) != len(words) or any(w not in (None, o) and o != "?" for o, w in zip(ours, words)):
            wrong.append(f"at {pc:x}: {ours}, readelf {words}")
    return wrong


def compare_file(cfi_rows, path, machine, counts):
    own = list(own_fdes(cfi_rows, path))
    # Discarded and empty functions are no FDEs to us.
    theirs = [fde for fde in readelf_fdes(path, machine) if fde[0] != 0 and fde[0] < fde[1]]
    if machine is MACHINES[183]:
        theirs = list(add_signed(theirs, signed_places(path)))
    problems = []
    if [fde[:2] for fde in own] != [fde[:2] for fde in theirs]:
        problems.append(f"{path}: {len(own)} FDEs, readelf has {len(theirs)}, or other ranges")
    else:
        restoring = None
        for mine, other in zip(own, theirs):
            if mine[2] is None:
                counts["refused"] += 1
                continue
            wrong = compare_fde(mine, other, counts)
            if wrong and restoring is None:
                restoring = restoring_cies(path)
            if wrong and other[3] in restoring:
                counts["restoring"] += 1
            else:
                problems += [f"{path}: {line}" for line in wrong]
            counts["fdes"] += 1
    counts["files"] += bool(own)
    counts["different"] += len(problems)
    for line in problems[:SHOWN]:
        print(line)


def machine_of(path):
    """The Machine of a linked 64-bit file, None of others."""
    try:
        with open(path, "rb") as file:
            head = file.read(20)
    except OSError:
        return None
    if head[:5] != b"\x7fELF\2" or head[5] not in (1, 2) or len(head) < 20:
        return None
    order = "little" if head[5] == 1 else "big"
    if int.from_bytes(head[16:18], order) not in (2, 3):
        return None
    return MACHINES.get(int.from_bytes(head[18:20], order))


def main():
    counts = dict.fromkeys(COUNTS, 0)
    for path in sys.argv[2:]:
        listing = ""
        if machine := machine_of(path):
            command = ["readelf", "-SW", path]
            listing = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        if not EH_FRAME.search(listing):
            counts["skipped"] += 1
            continue
        try:
            compare_file(sys.argv[1], path, machine, counts)
        except ValueError as error:
            print(f"{path}: {error}")
            counts["different"] += 1
    print(
        "readelf: {files} files, {fdes} FDEs and {rows} rows compared, {exp} cells are "
        "expressions to readelf and {opaque} opaque to us, {different} rows differ, {refused} "
        "FDEs refused by us, {restoring} with restore in the CIE, {skipped} files without "
        "CFI".format(**counts)
    )
    return 1 if counts["different"] or not counts["rows"] else 0


if __name__ == "__main__":
    sys.exit(main())
