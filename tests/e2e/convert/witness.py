#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--witness=libdwarf where libdwarf lists other FDEs than the program: a zero terminator between records, an FDE that is
there twice, FDEs that overlap. Code counts once, and what was not compared is told. TAP.

    witness.py EH2SFRAME
"""
import os
import re
import shutil
import sys
import tempfile

import schema_lib
from elf_text import sections
from tap import check, must, plan, run

tool = os.path.realpath(sys.argv[1])
# A CIE with CFA = SP + 8, and FDEs of 24 bytes for the code at LABEL.
CIE = """
cie{n}:	.long 20, 0
	.byte 1
	.asciz "zR"
	.uleb128 1
	.sleb128 -8
	.byte 16
	.uleb128 1
	.byte 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0
"""
FDE = """
	.long 20, .-cie{n}, {label}-., {size}
	.uleb128 0
	.byte 0x0e, {cfa}, 0, 0, 0, 0, 0
"""
CODE = """
	.text
	.hidden f
f:	.fill 15, 1, 0x90
	ret
	.hidden g
g:	.fill 15, 1, 0x90
	ret
	.section .eh_frame, "a", @progbits
"""
TERMINATOR = "\t.long 0\n"
UNLISTED = r"(\d+) bytes( of code)? not compared with libdwarf, which does not list their FDEs"


def cie(n):
    return CIE.format(n=n)


def fde(n, label, size, cfa=16):
    return FDE.format(n=n, label=label, size=size, cfa=cfa)


def link(name, *sources):
    # ld makes no table of FDEs that overlap.
    must("gcc", "-shared", "-nostdlib", "-Wl,--no-eh-frame-hdr", "-o", name, *sources)


def build(name, frames):
    with open(name + ".s", "w", encoding="ascii") as file:
        file.write(CODE + frames + '\t.section .note.GNU-stack, "", @progbits\n')
    link(name, name + ".s")


def unlisted(text):
    """The bytes that libdwarf does not list, by a line of the program."""
    found = re.search(UNLISTED, text)
    return int(found[1]) if found else 0


def agreed(text):
    return int(re.search(r": 0 differences; (\d+) bytes of code compared", text)[1])


def less_method(text):
    """What is said, but for how the section gets into the file."""
    return "".join(line for line in text.splitlines(True) if ": the program header table moves" not in line)


def convert(*argv):
    """Exit status and standard error of a conversion, without what it says of its method."""
    made = run(tool, *argv)
    return made.returncode, less_method(made.stderr)


def check_file(name, all_bytes, left):
    """left: bytes of code that a libdwarf which stops at a terminator does not list."""
    status, text = convert("--witness=libdwarf", name, name + ".out")
    check(status == 0, f"{name}: converted", text)
    check(convert(name, name + ".own") == (0, ""), f"{name}: the default proof says nothing")
    said = run(tool, "verify", "--witness=libdwarf", name + ".own")
    # A libdwarf that goes on behind a terminator lists all.
    both = said.returncode == 0 and (agreed(said.stdout), unlisted(said.stdout))
    check(both in ((all_bytes - left, left), (all_bytes, 0)), f"{name}: verify counts each byte once", said.stdout)
    told = f"eh2sframe: {name}: {left} bytes of code not compared with libdwarf, which does not list their FDEs; " \
           "the program's own reader covers them\n"
    check(text == (told if both and both[1] else ""), f"{name}: the conversion says the same", text)
    check(convert("-q", "--witness=libdwarf", name, name + ".out") == (0, ""), f"{name}: nothing with -q")
    alone = convert("section", "--witness=libdwarf", name, "section")
    check(alone == (0, text), f"{name}: section says the same", alone)
    said = must(tool, "verify", name + ".own")
    check(agreed(said) == all_bytes and "libdwarf" not in said, f"{name}: it covers all", said)


def check_altered(name):
    """Wrong rows are found, whatever libdwarf lists."""
    data = bytearray(open(name + ".own", "rb").read())
    at = sections(name + ".own")[".sframe"]
    # The last byte of the last row is its offset of the CFA.
    data[at.offset + at.size - 1] ^= 8
    with open("altered", "wb") as file:
        file.write(data)
    for witness in ("own", "libdwarf"):
        said = run(tool, "verify", f"--witness={witness}", "altered")
        check(said.returncode == 4, f"altered: {witness} finds it", said.stdout + said.stderr)


def batch(name, left):
    """eh2sframe tree prints the line of a conversion of the file alone, and the report has the bytes."""
    alone = convert("--witness=libdwarf", name, "out")[1]
    os.makedirs("tree")
    shutil.copy(name, "tree")
    made = run(tool, "tree", "convert", "--witness=libdwarf", "--report-file=report.json", "tree")
    check((made.returncode, less_method(made.stderr)) == (0, alone.replace(f" {name}:", f" tree/{name}:")),
          f"tree, {name}: the line of a single file", made.stderr)
    has = schema_lib.read("report.json")["files"][0].get("not_by_libdwarf")
    check(has == ({"too_many_rows": 0, "not_listed": left} if alone else None), f"tree, {name}: the report", has)
    shutil.rmtree("tree")
    os.makedirs("tree")
    shutil.copy(name, "tree")
    made = run(tool, "tree", "convert", "-q", "--witness=libdwarf", "tree")
    check((made.returncode, made.stderr) == (0, ""), f"tree, {name}: nothing with -q", made.stderr)
    shutil.rmtree("tree")


def main():
    build("between", cie(0) + fde(0, "f", 16) + TERMINATOR + fde(0, "g", 16))
    check_file("between", 32, 16)
    check_altered("between")
    build("first", TERMINATOR + cie(0) + fde(0, "f", 16) + fde(0, "g", 16))
    check_file("first", 32, 32)
    build("last", cie(0) + fde(0, "f", 16) + fde(0, "g", 16) + TERMINATOR)
    check_file("last", 32, 0)
    build("twice", cie(0) + fde(0, "f", 32) * 2)
    check_file("twice", 32, 0)
    build("again", cie(0) + fde(0, "f", 32) + TERMINATOR + fde(0, "f", 32))
    check_file("again", 32, 0)
    # The program gives f no rows, for its FDEs differ. g is of an FDE that begins where that of f does.
    build("overlap", cie(0) + fde(0, "f", 16, 24) + fde(0, "f", 32))
    check_file("overlap", 16, 0)
    build("hidden", cie(0) + fde(0, "f", 16, 24) + TERMINATOR + fde(0, "f", 32))
    check_file("hidden", 16, 16)
    # ld takes the terminator of an object out, if another follows, and leaves the one between records.
    build("plain", cie(0) + fde(0, "f", 32) + TERMINATOR)
    link("linked", "plain.s", "between.s")
    made = run(tool, "--witness=libdwarf", "linked", "linked.out")
    said = run(tool, "verify", "--witness=libdwarf", "linked.out")
    check(made.returncode == said.returncode == 0 and agreed(said.stdout) + unlisted(said.stdout) == 64,
          "linked: each byte counts", made.stderr + said.stdout)
    batch("between", 16)
    batch("twice", 0)


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    main()
plan()
