#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--lint: our sections keep the rules of whom they are for, and each rule of gen/verify/lint.h is broken once,
by a byte or two, and named with its consumers; and the manual page knows them all. TAP.

    lint.py EH2SFRAME ROOT
"""
import os
import re
import struct
import sys
import tempfile

from elf_text import sections
from tap import check, plan, run

tool, root = sys.argv[1], sys.argv[2]
HEADER = 28
named = set()


def section(path):
    """(file offset, size) of .sframe."""
    place = sections(path)[".sframe"]
    return place.offset, place.size


def damaged(path, out, edit):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    edit(data, *section(path))
    with open(out, "wb") as file:
        file.write(data)
    os.chmod(out, 0o755)


def put(off, fmt, value):
    """An edit: value at off of the section."""
    return lambda data, at, size: struct.pack_into("<" + fmt, data, at + off, value)


def move(off, fmt, by):
    def edit(data, at, size):
        value = struct.unpack_from("<" + fmt, data, at + off)[0]
        struct.pack_into("<" + fmt, data, at + off, value + by)
    return edit


def all_of(*edits):
    def edit(data, at, size):
        for one in edits:
            one(data, at, size)
    return edit


def phdr_type(data, at, size):
    """PT_GNU_SFRAME becomes PT_NULL."""
    table = struct.unpack_from("<Q", data, 0x20)[0]
    for i in range(struct.unpack_from("<H", data, 0x38)[0]):
        if struct.unpack_from("<I", data, table + 56 * i)[0] == 0x6474E554:
            struct.pack_into("<I", data, table + 56 * i, 0)


def executable(data, at, size):
    """Every PT_LOAD is."""
    table = struct.unpack_from("<Q", data, 0x20)[0]
    for i in range(struct.unpack_from("<H", data, 0x38)[0]):
        kind, flags = struct.unpack_from("<II", data, table + 56 * i)
        if kind == 1:
            struct.pack_into("<I", data, table + 56 * i + 4, flags | 1)


def no_load(data, at, size):
    """The PT_LOAD around the section cannot be read."""
    table = struct.unpack_from("<Q", data, 0x20)[0]
    for i in range(struct.unpack_from("<H", data, 0x38)[0]):
        kind, _, off, _, _, length = struct.unpack_from("<IIQQQQ", data, table + 56 * i)
        if kind == 1 and off <= at < off + length:
            struct.pack_into("<I", data, table + 56 * i + 4, 0)


def first_rows(version):
    """Offset in the section of the first function's rows."""
    def find(data, at):
        freoff = struct.unpack_from("<I", data, at + 0x18)[0]
        first = struct.unpack_from("<I", data, at + HEADER + (12 if version == 3 else 8))[0]
        return HEADER + freoff + first + (5 if version == 3 else 0)
    return find


def row(version, off, value):
    def edit(data, at, size):
        data[at + first_rows(version)(data, at) + off] = value
    return edit


def other_order(data, at, size):
    """The section of version 2 in the other byte order, every byte swapped once."""
    def swap(off, *widths):
        for width in widths:
            data[at + off:at + off + width] = data[at + off:at + off + width][::-1]
            off += width

    n_funcs, _, _, _, freoff = struct.unpack_from("<IIIII", data, at + 8)
    done_rows = set()
    for off in range(HEADER, HEADER + 20 * n_funcs, 20):
        _, _, first, n_rows, info = struct.unpack_from("<iIIIB", data, at + off)
        rows = HEADER + freoff + first
        for _ in range(0 if rows in done_rows else n_rows):
            width = 1 << (info & 15)
            words = data[at + rows + width] >> 1 & 15
            each = 1 << (data[at + rows + width] >> 5 & 3)
            swap(rows, width)
            swap(rows + width + 1, *[each] * words)
            rows += width + 1 + each * words
        done_rows.add(HEADER + freoff + first)
        swap(off, 4, 4, 4, 4)
    swap(0, 2)
    swap(8, 4, 4, 4, 4, 4)


def attribute(off, fmt, value):
    """An edit of the first function's attribute, version 3."""
    return lambda data, at, size: struct.pack_into(
        "<" + fmt, data, at + first_rows(3)(data, at) - 5 + off, value)


FDE = HEADER
# Rule, version of the file it is broken in, how. Version 2: FDEs of 20 bytes, the first is PLT0's,
# its rows "00 03 10" and "06 03 18"; version 3: of 16.
BREACHES = [
    ("flags", 2, put(3, "B", 0x85)),
    ("sorted", 2, put(3, "B", 0x04)),
    ("pcrel", 2, put(3, "B", 0x01)),
    ("pcrel-v3", 3, put(3, "B", 0x01)),
    ("aux-header", 2, all_of(put(7, "B", 4), move(0x10, "I", -4))),
    ("adjacent", 2, all_of(move(0x18, "I", 1), move(0x10, "I", -1))),
    ("tail", 2, move(0x10, "I", -1)),
    ("not-empty", 2, put(8, "I", 0)),
    ("readable", 2, row(2, 1, 0x63)),
    ("count", 2, move(0x0C, "I", 1)),
    ("func-order", 2, move(FDE + 20, "i", -20000)),
    ("func-overlap", 2, put(FDE + 4, "I", 17)),
    ("func-code", 2, move(FDE, "i", -0x100000)),
    ("func-segment", 2, all_of(executable, move(FDE, "i", -0x1000))),
    ("func-size", 2, put(FDE + 4, "I", 0)),
    ("func-far", 2, put(FDE + 4, "I", 1 << 31)),
    ("func-rows", 2, put(FDE + 12, "I", 0)),
    ("block", 2, put(FDE + 20 + 17, "B", 0)),
    ("pcmask", 1, put(FDE + 16, "B", 0x10)),
    ("row-first", 2, row(2, 0, 1)),
    ("row-order", 2, row(2, 3, 0)),
    ("row-inside", 2, row(2, 3, 16)),
    ("row-words", 2, row(2, 1, 0)),
    ("row-ra", 2, put(6, "b", 0)),
    # PLT0's rows as those of a flexible function: CFA is register 32 + 0x10, in words of 2 bytes.
    ("row-register", 3, all_of(attribute(0, "H", 1), attribute(3, "B", 1), row(3, 1, 0x24),
                               row(3, 2, 0x01), row(3, 3, 0x01), row(3, 4, 0x10), row(3, 5, 0))),
    ("row-count", 3, put(FDE + 8, "I", 1)),
    ("row-shared", "2 shared", other_order),
    ("one-segment", 2, no_load),
    ("phdr", 2, phdr_type),
]


def table():
    """{name: (consumers, first, last)} of gen/verify/lint.h."""
    sets = {"LINT_ALL": "kernel glibc libsframe", "LINT_KG": "kernel glibc",
            "LINT_KL": "kernel libsframe", "LINT_GL": "glibc libsframe", "LINT_KERNEL": "kernel", "LINT_GLIBC": "glibc",
            "LINT_LIBSFRAME": "libsframe"}
    with open(os.path.join(root, "gen/verify/lint.h"), encoding="ascii") as file:
        found = re.findall(r'X\(\w+, "([\w-]+)", (\w+), (\d), (\d),', file.read())
    return {name: (sets[who].split(), int(first), int(last)) for name, who, first, last in found}


def broken(path):
    """{rule: consumers} as --lint=all has them, and the status."""
    said = run(tool, "--lint=all", path)
    rules = re.findall(r"^[^:]+: ([a-z, ]+): ([\w-]+): broken at \.sframe\+0x", said.stdout, re.M)
    return {name: who.split(", ") for who, name in rules}, said.returncode, said.stdout


def check_breaches(files, work):
    readers = {1: ["libsframe"], 2: ["kernel", "glibc", "libsframe"], 3: ["kernel", "libsframe"]}
    rules = table()
    out = os.path.join(work, "damaged")
    for name, version, edit in BREACHES:
        damaged(files[version], out, edit)
        version = int(str(version)[0])
        found, status, text = broken(out)
        wanted = [who for who in rules[name][0] if who in readers[version]]
        check(found.get(name) == wanted and status == 1, f"{name}: named, for {wanted}", text)
        named.add(name)
    check(named | {"version"} == set(rules), "every rule is broken once",
          named.symmetric_difference(rules))


def check_other_order(files, work):
    files["2 shared"] = os.path.join(work, "shared")
    made = run(tool, "-q", "--format=2", "--optimize=share", files["plain"], files["2 shared"])
    check(made.returncode == 0, "converted, with shared rows", made.stderr)
    out = os.path.join(work, "swapped")
    damaged(files[2], out, other_order)
    here, there = run(tool, "--dump", files[2]).stdout, run(tool, "--dump", out).stdout
    check("func idx" in here and here == there, "the other byte order says the same", there)
    found, status, text = broken(out)
    check(status == 0 and not found, "and keeps every rule, as no rows are shared", text)


def check_two_segments(work):
    """Code in two executable segments is converted all the same, and said not to be validated."""
    source, linked = os.path.join(work, "far.c"), os.path.join(work, "far")
    with open(source, "w", encoding="ascii") as file:
        file.write('__attribute__((section("far_text"), noipa)) int far(int x) { return x; }\n'
                   "int main(void) { return far(0); }\n")
    made = run("gcc", "-fuse-ld=bfd", "-no-pie", "-Wl,--section-start=far_text=0x700000",
               "-o", linked, source)
    check(made.returncode == 0, "linked with code far away", made.stderr)
    made = run(tool, "-q", linked, linked)
    check(made.returncode == 0, "which is converted", made.stderr)
    found, status, text = broken(linked)
    check(found == {"func-segment": ["kernel"]} and status == 1, "and named", text)


def main():
    files = {}
    consumers = {1: ["libsframe"], 2: ["kernel", "glibc", "libsframe", "all"],
                 3: ["kernel", "libsframe"]}
    with tempfile.TemporaryDirectory() as work:
        source = os.path.join(root, "tests/e2e/convert/gsframe_prog.c")
        plain = os.path.join(work, "plain")
        made = run("gcc", "-fuse-ld=bfd", "-O2", "-Wl,-z,lazy", "-o", plain, source)
        check(made.returncode == 0, "compiled", made.stderr)
        files["plain"] = plain
        for version in (1, 2, 3):
            files[version] = os.path.join(work, f"v{version}")
            run(tool, "-q", f"--format={version}", "--optimize=none", plain, files[version])
            for who in ("kernel", "glibc", "libsframe", "all"):
                said = run(tool, f"--lint={who}", files[version])
                keeps = who in consumers[version]
                check(said.returncode == (0 if keeps else 1), f"version {version}, {who}",
                      said.stdout)
                if not keeps:
                    check(": version: broken" in said.stdout and said.stdout.count("\n") == 1,
                          f"version {version}, {who}: only the version", said.stdout)
        # Big-endian sections are read as others are, and keep the rules unless rows are shared.
        check_other_order(files, work)
        check_breaches(files, work)
        check_two_segments(work)
        check(run(tool, "--lint=all", plain).returncode == 6, "no section: nothing to do")
    with open(os.path.join(root, "docs/eh2sframe.1.scd"), encoding="utf-8") as file:
        page = file.read()
    page = page[page.index("# LINT"):]
    page = page[:page.index("\n# ", 1)]
    paragraphs = {name: [who for who in words.split(", ") if "version" not in who]
                  for name, words in re.findall(r"^\*([\w-]+)\* \((.*)\)$", page, re.M)}
    wanted = {name: rule[0] for name, rule in table().items()}
    check(paragraphs == wanted, "the manual page has every rule, with whose it is, and no other",
          sorted(set(map(str, paragraphs.items())) ^ set(map(str, wanted.items()))))
    plan()


main()
