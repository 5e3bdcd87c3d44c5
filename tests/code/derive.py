#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--derive on functions without CFI that say themselves which rows they must get. TAP.

    derive.py EH2SFRAME FIXTURES MACHINE

derive_MACHINE.S in FIXTURES has a word in front of each row, and derive.inc explains them.
"""
import os
import re
import shutil
import struct
import sys
import tempfile

import schema_lib
from sframe_text import Section
from tap import check, must, plan, run, skip_all

TOOL, FIXTURES, MACHINE = sys.argv[1:]
PREFIX = "" if MACHINE == os.uname().machine else f"{MACHINE}-linux-gnu-"
CC, LD = PREFIX + "gcc", PREFIX + "ld"
ORDER = ">" if MACHINE == "s390x" else "<"
DIFFERS = 4
# What dump prints of RA where the machine's ABI fixes it.
FIXED_RA = ["f"] if MACHINE == "x86_64" else []
# Options of the linker. In a fixed program no relocation names what data points to: so less is known.
LINKS = {"shared": ["-shared", "-s"],
         **({"RELR": ["-shared", "-s", "-z", "pack-relative-relocs"]} if MACHINE == "x86_64" else {}),
         "fixed": ["-s"], "labels": ["-shared"]}


# Options that leave out one function. s390x has no version 1.
EXCLUDED = [("--exclude-symbol=pointed_to", "pointed_to")] + (
    [("--exclude-section=.init", "init")] if MACHINE == "x86_64" else [])
VERSIONS = (2, 3) if MACHINE == "s390x" else (1, 2, 3)


def expected(path, work):
    """[(address, kind, words)] of the section .expect, by address."""
    raw = os.path.join(work, "expect")
    must(PREFIX + "objcopy", f"--dump-section=.expect={raw}", path, os.path.join(work, "ignored"))
    with open(raw, "rb") as file:
        data = file.read()
    found, at = [], 0
    while at < len(data):
        end = data.index(b"\0", at + 8)
        kind, *words = data[at + 8:end].decode().replace(",", " ").split()
        found.append((struct.unpack_from(ORDER + "Q", data, at)[0], kind, words))
        at = (end + 8) & ~7
    # The sort is stable: a function's name stays in front of its first row.
    return sorted(found, key=lambda one: one[0])


def plain(words):
    """Version 3 alone prints an offset of 0 behind a register."""
    return [word[:-2] if re.fullmatch(r"[a-z0-9]+\+0", word) else word for word in words]


def rows_of(path):
    """{address: words} for each byte that has a row."""
    section, rows = Section(must(TOOL, "dump", path), exact=True), {}
    for start, (size, _, offsets) in section.funcs.items():
        for i, (offset, *words) in enumerate(offsets):
            end = offsets[i + 1][0] if i + 1 < len(offsets) else size
            for at in range(start + offset, start + end):
                rows[at] = plain(words)
    return rows


def stretches(wanted):
    """[(function, start, end, kind, words)]: what is expected from start on."""
    name, found = "", []
    for i, (start, kind, words) in enumerate(wanted):
        if kind == "function":
            name = words[0]
        elif i + 1 < len(wanted):
            found.append((name, start, wanted[i + 1][0], kind, words))
    return found


def compare(rows, wanted, version, title, fewer):
    """Each function's rows at each of its bytes. fewer: those that are there are right."""
    wrong = {}
    for name, start, end, kind, words in stretches(wanted):
        lines = wrong.setdefault(name, [])
        none = words == ["none"] or (kind == "row3" and version != 3)
        right = None if none else plain(words) + FIXED_RA
        lines += [f"{at:#x}: {rows.get(at)}, not {right}" for at in range(start, end)
                  if rows.get(at) != right and not (fewer and at not in rows)]
    for name, lines in wrong.items():
        check(not lines, f"{title}: {name}", "\n".join(lines))


def link(source, how, work):
    """The linked file, and what is expected of it."""
    made = os.path.join(work, how)
    # A library with an entry point would count as a program interpreter.
    must(CC, "-c", source, "-o", made + ".o")
    must(LD, "-e", "_start" if how == "fixed" else "0", *LINKS[how], made + ".o", "-o", made)
    return made, expected(made, work)


def look(path, wanted, how):
    for version in VERSIONS:
        title, out = f"{how}, version {version}", f"{path}.{version}"
        made = run(TOOL, "-q", "--derive", f"--format={version}", path, out)
        if not check(made.returncode == 0, f"{title}: converts and proves", made.stderr):
            continue
        compare(rows_of(out), wanted, version, title, how == "fixed")


def same_for_all_jobs(path, work):
    made = []
    for jobs in (1, 2, 4):
        out = os.path.join(work, f"jobs{jobs}")
        must(TOOL, "-q", "--derive", "--format=3", f"-j{jobs}", path, out)
        with open(out, "rb") as file:
            made.append(file.read())
    check(made[0] == made[1] == made[2], "one, two and four threads make the same file")


def proof(path):
    """What verify says of derived rows, with the option and without it."""
    for version in VERSIONS:
        out = f"{path}.{version}"
        plain, derived = run(TOOL, "verify", out), run(TOOL, "verify", "--derive", out)
        check(plain.returncode == DIFFERS and "there is a row, but no CFI" in plain.stdout,
              f"version {version}: verify without --derive finds rows without CFI", plain.stdout + plain.stderr)
        check(derived.returncode == 0 and re.search(r", (\d+) concluded from the code alone \(\1 derived\);", derived.stdout, re.M),
              f"version {version}: verify --derive proves them", derived.stdout + derived.stderr)


def counted(path, wanted, work):
    """JSON counts the bytes, and has their ranges."""
    report = schema_lib.document(must(TOOL, "report", "--derive", "--format=3", "--json", path))["files"][0]
    number = sum(end - start for name, start, end, _, words in stretches(wanted) if words != ["none"] and name != "described")
    check(report["code"]["derived"] == number, "JSON: the bytes with derived rows", f"{report['code']}, not {number}")
    check("derived" not in schema_lib.document(must(TOOL, "report", "--json", path))["files"][0]["code"],
          "JSON: no derived rows without the option")
    ranges = [(int(one["start"], 16), one["size"]) for one in report["not_by_cfi"] if one["kind"] == "derived"]
    named = {at for start, size in ranges for at in range(start, start + size)}
    right = {at for name, start, end, _, words in stretches(wanted) if words != ["none"] and name != "described"
             for at in range(start, end)}
    check(named == right and len(ranges) > 5, "JSON: the ranges of derived rows", sorted(map(hex, named ^ right)))


def excluded(path, wanted, work):
    """Functions and sections that are left out get no derived rows."""
    out, whole = os.path.join(work, "out"), rows_of(f"{path}.2")
    for option, name in (EXCLUDED):
        must(TOOL, "-q", "--derive", option, path, out)
        rows = rows_of(out)
        gone = {at for function, start, end, _, _ in stretches(wanted) if function == name for at in range(start, end)}
        right = {at: words for at, words in whole.items() if at not in gone}
        check(rows == right and len(whole) > len(rows), f"{option}: that function has no rows, and all others have theirs",
              sorted(map(hex, set(rows) ^ set(right))))
        check(run(TOOL, "verify", "--derive", option, out).returncode == 0, f"{option}: proven")
    made = run(TOOL, "--derive", "--exclude-symbol=not_there", path, out)
    check(made.returncode == 2, "--exclude-symbol: a name that nothing has", made.stderr)


def again(path, work):
    """A file with derived rows is converted again, and the section is taken out."""
    out, twice, removed = (os.path.join(work, name) for name in ("once", "twice", "removed"))
    must(TOOL, "-q", "--derive", path, out)
    must(TOOL, "-q", "--derive", "--refresh", out, twice)
    check(rows_of(out) == rows_of(twice), "--refresh makes the same rows")
    must(TOOL, "-q", "--refresh", out, twice)
    described = [at for at in rows_of(out) if at not in rows_of(twice)]
    check(described, "--refresh without --derive takes derived rows out")
    must(TOOL, "remove", "-q", out, removed)
    with open(path, "rb") as before, open(removed, "rb") as after:
        check(before.read() == after.read(), "remove gives the file back")
    must(TOOL, "-q", "--derive", "--optimize=size", path, out)
    check(rows_of(out).items() >= rows_of(f"{path}.2").items(), "--optimize=size keeps the rows")
    check(run(TOOL, "verify", "--derive", out).returncode == 0, "--optimize=size: proven")


def chain(work):
    """Functions that jump to each other, each to the next one: more than there are rounds."""
    path, n = os.path.join(work, "chain"), 300
    with open(path + ".s", "w", encoding="utf-8") as source:
        source.writelines(f".globl f{i}; .type f{i}, @function; f{i}: add ${i}, %edi; jmp f{i + 1}\n" for i in range(n))
        source.write(f".globl f{n}, other; .type f{n}, @function; f{n}: ret\n.type other, @function; other: push %rbx; pop %rbx; ret\n")
    must(CC, "-c", path + ".s", "-o", path + ".o")
    must(LD, "-shared", "-Bsymbolic", path + ".o", "-o", path)
    must(TOOL, "-q", "--derive", path, path + ".2")
    at = {name: int(value, 16) for value, _, name in map(str.split, must(PREFIX + "nm", path).splitlines())}
    rows = rows_of(path + ".2")
    check(at["other"] in rows and at[f"f{n - 200}"] in rows and at["f0"] not in rows,
          "a long chain of jumps leaves all but its beginning their rows", sorted(map(hex, rows)))


def main():
    if not shutil.which(CC):
        skip_all(f"{CC} is not installed")
    with tempfile.TemporaryDirectory() as work:
        source = os.path.join(FIXTURES, f"derive_{MACHINE}.S")
        if "build it with Zydis" in run(TOOL, "check", "/proc/self/exe").stderr and MACHINE == "x86_64":
            skip_all("this build cannot decode x86-64")
        for how in LINKS:
            path, wanted = link(source, how, work)
            look(path, wanted, how)
            if how == "shared":
                same_for_all_jobs(path, work)
                proof(path)
                counted(path, wanted, work)
                again(path, work)
            elif how == "labels":
                excluded(path, wanted, work)
        if MACHINE == "x86_64":
            chain(work)
    plan()


main()
