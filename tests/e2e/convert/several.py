#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files with several .eh_frame sections: all are read, with and without section headers, and damage that
would make one section's records another's is refused. TAP.

    several.py EH2SFRAME
"""
import os
import re
import struct
import sys
import tempfile

import schema_lib
from binutils import merged
from elf_text import sections
from tap import check, must, plan, run, skip

tool = os.path.realpath(sys.argv[1])
SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
int __attribute__((noinline)) deep(int n) { volatile int kept[40] = {n}; return n < 1 ? kept[0] : deep(n - 1) + 1; }
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(void) { int x[3] = {3, 1, 2}; qsort(x, 3, sizeof(int), compare); return printf("%d\n", deep(x[0])) < 0; }
"""
FIRST = ".globl _start\n_start:\n.cfi_startproc\npush %rbx\n.cfi_adjust_cfa_offset 8\nnop\nhlt\n.cfi_endproc\n"
SECOND = ".globl far\nfar:\n.cfi_startproc\nsub $24, %rsp\n.cfi_adjust_cfa_offset 24\nhlt\n.cfi_endproc\n"
SCRIPT = """
PHDRS { text PT_LOAD FLAGS(5); data PT_LOAD FLAGS(4); }
SECTIONS
{
	. = 0x400000 + SIZEOF_HEADERS;
	.text : { *(.text) } :text
	. = ALIGN(0x1000);
	.eh_frame : { first.o(.eh_frame) } :data
	.rodata : { BYTE(1); . += 3001; } :data
	.eh_frame : { second.o(.eh_frame) } :data
	/DISCARD/ : { *(.note*) }
}
"""


def write(name, text):
    with open(name, "w", encoding="ascii") as file:
        file.write(text)


def starts(path):
    return sorted(int(at, 16) for at in re.findall(
        r" FDE .* pc=(\w+)\.\.", must("readelf", "--debug-dump=frames", path)))


def counts(path):
    made = schema_lib.document(must(tool, "report", "--json", path))["files"][0]
    return made["counts"]["fdes"], made["code"]["covered"], made["refused"]


def functions(path):
    return must(tool, "dump", path).split("Function Index")[1].split("\n\n", 1)[1]


def without_headers(path):
    must("strip", "-o", "stripped", path)
    data = bytearray(open("stripped", "rb").read())
    data[40:48], data[60:64] = bytes(8), bytes(4)
    # Nothing after the last segment, which would be a payload.
    at = max(sum(struct.unpack_from("<Q16xQ", data, 72 + 56 * i)) for i in range(data[56]))
    with open(path + ".none", "wb") as file:
        file.write(data[:at])
    os.chmod(path + ".none", 0o755)
    return path + ".none"


def check_file(name, path, want):
    """want: counts of the program with one section."""
    made = run(tool, path, "out")
    check(made.returncode == 0, f"{name}: converted", made.stderr)
    check(counts(path) == want, f"{name}: the report knows all FDEs", (counts(path), want))
    for witness in ("own", "libdwarf"):
        said = must(tool, "verify", f"--witness={witness}", "out")
        # libdwarf stops at what is between the sections, where no header tells them apart.
        left = re.search(r"; (\d+) bytes? not compared with libdwarf, which does not list their FDEs$", said, re.M)
        check(not left or witness == "libdwarf" and path.endswith(".none"), f"{name}: {witness} lists all", said)
        check(f" 0 differences; {want[1] - int(left[1] if left else 0)} bytes" in said,
              f"{name}: verify knows all of them, {witness}", said)
    made = run(tool, "--witness=libdwarf", path, "proven")
    check(made.returncode == 0, f"{name}: converted with libdwarf", made.stderr)
    must(tool, "remove", "out", "back")
    check(open("back", "rb").read() == open(path, "rb").read(), f"{name}: and back")


def check_program(kind, *options):
    must("gcc", "-O2", "-fuse-ld=bfd", *options, "-o", "one", "program.c")
    must("gcc", "-O2", "-fuse-ld=bfd", *options, "-Wl,--unique=.eh_frame", "-o", "several", "program.c")
    n = len(re.findall(r" \.eh_frame ", must("readelf", "-SW", "several")))
    if len(starts("several")) < len(starts("one")):
        # ld 2.47 leaves the CFI of its PLT out, and .eh_frame_hdr.
        skip(f"{kind}: several sections", "this ld leaves CFI out where it makes several sections")
        return
    check(n > 3 and len(starts("several")) == len(starts("one")), f"{kind}: {n} sections", starts("several"))
    want = counts("one")
    check_file(kind, "several", want)
    # A static program that ld 2.44 links with several sections crashes before any conversion.
    now, before = run("./out"), run("./several")
    check((now.returncode, now.stdout) == (before.returncode, before.stdout), f"{kind}: runs as before", now)
    check("-static" in options or before.stdout == run("./one").stdout, f"{kind}: and as with one section")
    if "-static" in options:
        return
    # At the same addresses the two have the same rows.
    must(tool, "-q", "one", "one.out")
    check(functions("out") == functions("one.out"), f"{kind}: the rows of one section", functions("out"))
    check_file(f"{kind}, without section headers", without_headers("several"), want)


def check_far():
    write("first.s", FIRST)
    write("second.s", SECOND)
    write("script.ld", SCRIPT)
    for name in ("first", "second"):
        must("gcc", "-c", name + ".s")
    must("ld.bfd", "-static", "-T", "script.ld", "-o", "far", "first.o", "second.o")
    made = run(tool, "far", "out")
    said = re.findall(r"pc = 0x(\w+)", must(tool, "dump", "out"))
    check(made.returncode == 0 and sorted(int(at, 16) for at in said) == starts("far") and len(said) == 2,
          "with a section between: both are read", (said, made.stderr))
    check(run(tool, "verify", "--witness=libdwarf", "out").returncode == 0, "with a section between: proven")
    size = sections("far")[".eh_frame"].size
    report = schema_lib.document(must(tool, "report", "--json", "far"))["files"][0]["sizes"][".eh_frame"]
    check(size <= report < 200, "with a section between: its bytes do not count", report)


def check_object():
    must("ld.bfd", "-r", "--unique=.eh_frame", "-o", "many.o", "first.o", "second.o")
    n = len(re.findall(r" \.eh_frame ", must("readelf", "-SW", "many.o")))
    must(tool, "-q", *merged(), "many.o", "many.out.o")
    said = re.findall(r"pc = ", must(tool, "dump", "many.out.o"))
    check(n >= 1 and len(said) == 2, f"an object with {n} sections: all are read", said)
    check(run(tool, "verify", "many.out.o").returncode == 0, "an object: proven")


def damaged(name, offset, data, words):
    bad = bytearray(open("far", "rb").read())
    bad[offset:offset + len(data)] = data
    with open("bad", "wb") as file:
        file.write(bad)
    made = run(tool, "bad", "none")
    check(made.returncode == 1 and re.search(words, made.stderr) and made.stderr.count("\n") == 1 and
          not os.path.exists("none"), f"{name}: refused", made.stderr)


def check_damage():
    data = open("far", "rb").read()
    table, n = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<H", data, 60)[0]
    heads = [table + 64 * i for i in range(n)]
    # By their sizes and type: PROGBITS, SHF_ALLOC alone, with the record of a CIE at the start.
    cfi = [at for at in heads if struct.unpack_from("<IQ", data, at + 4) == (1, 2) and
           data[struct.unpack_from("<Q", data, at + 24)[0] + 4:][:5] == b"\0\0\0\0\1"]
    check(len(cfi) == 2, "the two section headers are found", cfi)
    addr, offset = struct.unpack_from("<QQ", data, cfi[0] + 16)
    damaged("a record that is too long", offset, struct.pack("<I", 0x4000), "passes|reaches past the end")
    damaged("the second over the first", cfi[1] + 16, struct.pack("<Q", addr + 8), "overlaps another")
    damaged("half a word", cfi[1] + 16, struct.pack("<Q", addr + 0x1002), "not consist of whole words")
    damaged("far away", cfi[1] + 16, struct.pack("<Q", addr + (1 << 40)), "apart")


def main():
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        write("program.c", SOURCE)
        check_program("PIE", "-fPIE", "-pie")
        check_program("not PIE", "-no-pie")
        check_program("static", "-static")
        check_far()
        check_object()
        check_damage()
        os.chdir("/")
    plan()


main()
