#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""section_rows.py EH2SFRAME VERSIONS FILE...: the .sframe section of each file against readelf.

VERSIONS, as 2,3: the files are converted to each first.

What dump prints of the section is held against readelf --debug-dump=frames-interp of the same
file at every address: CFA, FP, RA and whether the RA is signed. Neither our interpreter nor our proof
has a part in it. Rows where readelf has no FDE must be in a PLT, or go on over less than 16 bytes between two
FDEs, or over one instruction's unit behind an FDE; code with an FDE and without a row is counted. Exit status 1 on any difference, and when nothing was
compared.
"""

import collections
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile

import readelf_rows
from elf_text import plts
from sframe_text import Section
from tap import must

KEYS = ("rows", "agree", "plt", "padding", "behind", "gaps", "with_cfi")
PADDING_MAX = 15
UNITS = {62: 1, 183: 4, 22: 2}  # by e_machine
# Without a word for the RA it is where the header says: on x86-64 at CFA - 8. U is a word that says
# that it is not saved.
WORDS = {"f": "c-8", "U": "u"}


def place(text, machine):
    """dump's words in those of readelf_rows.py; None where readelf prints an expression."""
    if text.startswith("("):
        return None
    for name, column in (("sp", machine.stack), ("fp", machine.frame)):
        if text.startswith(name):
            return f"r{machine.numbers[column]}{text[2:] or '+0'}"
    return text + "+0" if re.fullmatch(r"r\d+", text) else WORDS.get(text, text)


def section_spans(tool, path, machine):
    """[(start, end, rules)] of the section, ascending; rules is None in periodic functions."""
    section = Section(must(tool, "dump", path), exact=True)
    spans = []

    def add(start, end, rules):
        if spans and spans[-1][1] > start:
            spans[-1] = (spans[-1][0], start, spans[-1][2])
        spans.append((start, end, rules))

    for start, (size, masked, rows) in section.funcs.items():
        if masked:
            add(start, start + size, None)
            continue
        for at, cfa, *others in rows:
            if cfa == "outermost":
                rules = (None, None, "u", False)
            else:
                words = cfa, others[0], others[1].removesuffix("[s]")
                rules = (*(place(word, machine) for word in words), others[1].endswith("[s]"))
            add(start + at, start + size, rules)
    return spans


def cfi_spans(path, machine):
    """The same of readelf's tables."""
    sections = r" \.(eh_frame|z?debug_frame) section"
    fdes = [fde for fde in readelf_rows.readelf_fdes(path, machine, sections) if 0 < fde[0] < fde[1]]
    if machine is readelf_rows.MACHINES[183]:
        fdes = readelf_rows.add_signed(fdes, readelf_rows.signed_places(path))
    spans = []
    for start, end, rows, _ in sorted(fdes, key=lambda fde: fde[0]):
        rows = {row[0]: row for row in rows if start <= row[0] < end}
        ends = [*list(rows)[1:], end]
        for row, row_end in zip(rows.values(), ends):
            fp, ra = ("u" if rule == "s" else rule for rule in row[3:5])
            spans.append((row[0], row_end, (row[1], fp, ra, row[5:] == ("signed",))))
    return spans


def overlay(ours, theirs):
    """Yields (start, end, our rules, their rules) where either has some; None: has not."""
    nothing = (1 << 64, 1 << 64, None)
    mine, others = iter(ours), iter(theirs)
    one, other = next(mine, nothing), next(others, nothing)
    at = 0
    while one is not nothing or other is not nothing:
        at = max(at, min(one[0], other[0]))
        in_one, in_other = one[0] <= at, other[0] <= at
        end = min(one[1] if in_one else one[0], other[1] if in_other else other[0])
        yield at, end, one if in_one else None, other if in_other else None
        at = end
        while one[1] <= at and one is not nothing:
            one = next(mine, nothing)
        while other[1] <= at and other is not nothing:
            other = next(others, nothing)


def agree(ours, theirs):
    """Expressions and periodic functions agree with anything."""
    return ours is None or all(None in (a, b) or a == b for a, b in zip(ours, theirs))


def compare(tool, path, theirs=None):
    """(counts, differences as lines) of one file."""
    machine = readelf_rows.machine_of(path)
    ranges = [(plt.addr, plt.addr + plt.size) for plt in plts(path).values()]
    counts, wrong = dict.fromkeys(KEYS, 0), []
    unit = next(UNITS[number] for number, found in readelf_rows.MACHINES.items() if found is machine)
    for start, end, one, other in overlay(
        section_spans(tool, path, machine), theirs or cfi_spans(path, machine)
    ):
        size = end - start
        counts["rows"] += 1
        counts["with_cfi"] += size if other else 0
        if not one:
            counts["gaps"] += size
        elif other and agree(one[2], other[2]):
            counts["agree"] += size
        elif not other and any(low <= start and end <= high for low, high in ranges):
            counts["plt"] += size
        elif not other and one[0] < start and end < one[1] and size <= PADDING_MAX:
            # One row that begins before and ends behind: so it is between two FDEs, that both have it.
            counts["padding"] += size
        elif not other and one[0] < start and end == one[1] and size == unit:
            counts["behind"] += size
        else:
            theirs_here = other[2] if other else "no FDE"
            wrong.append(f"{path}: {start:#x}..{end:#x}: {one[2]}, readelf {theirs_here}")
    return counts, wrong


def compare_job(job):
    """One file in each version: (counts, differences). Files without CFI count nothing."""
    tool, versions, path = job
    if not readelf_rows.machine_of(path):
        return {}, []
    total, different = collections.Counter(), []
    theirs = cfi_spans(path, readelf_rows.machine_of(path))
    for version in versions.split(",") if theirs else ():
        with tempfile.TemporaryDirectory() as work:
            out = os.path.join(work, os.path.basename(path))
            options = ["-q", "--refresh", f"--format={version}", "--", path, out]
            made = subprocess.run([tool, *options], capture_output=True, text=True, check=False)
            if "is a program interpreter" in made.stderr:
                made = subprocess.run([tool, "--method=grow", *options], capture_output=True, text=True, check=False)
            if made.returncode:
                different.append(f"{path}: version {version}: {made.stderr.strip()}")
                continue
            counts, wrong = compare(tool, out, theirs)
            total.update(counts)
            different += wrong
    return total, different


def main():
    total, different = collections.Counter(dict.fromkeys(KEYS, 0)), 0
    jobs = [(sys.argv[1], sys.argv[2], path) for path in sys.argv[3:]]
    with multiprocessing.get_context("fork").Pool(os.cpu_count()) as pool:
        for counts, wrong in pool.imap(compare_job, jobs):
            total.update(counts)
            different += len(wrong)
            for line in wrong[: readelf_rows.SHOWN]:
                print(line)
    print(
        "section: {rows} rows, {agree} of {with_cfi} bytes agree with readelf, {gaps} have no row, "
        "{plt} bytes of PLT without CFI, {padding} of padding, {behind} behind last calls".format(**total), f"{different} differ", sep=", "
    )
    return 1 if different or not total["agree"] else 0


if __name__ == "__main__":
    sys.exit(main())
