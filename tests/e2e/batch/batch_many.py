#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""eh2sframe tree convert over very many small files, very deep trees and many names: time and memory. TAP.

    batch_many.py EH2SFRAME COUNT
"""

import os
import resource
import subprocess
import sys
import tempfile
import time

from batch_lib import remove, run, scratch
from tap import check, plan

TOOL = os.path.realpath(sys.argv[1])
COUNT = int(sys.argv[2])

SOURCE = """
	.text
	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	pop	%rbp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	_start, . - _start
"""


def make_program(path):
    subprocess.run(
        ["gcc", "-nostdlib", "-static", "-s", "-Wl,--build-id=none,-z,noseparate-code"]
        + ["-x", "assembler", "-", "-o", path],
        input=SOURCE,
        text=True,
        check=True,
    )


def test_many():
    make_program("program")
    with open("program", "rb") as file:
        program = file.read()
    os.makedirs("many")
    for i in range(COUNT):
        if i % 500 == 0:
            where = f"many/{i // 500}"
            os.mkdir(where)
        with open(f"{where}/{i % 500}", "wb") as file:
            file.write(program if i % 2 else b"\x7fELF is no program\n" * 9)
    subprocess.run([TOOL, "-q", "program", "converted"], check=True)
    with open("converted", "rb") as file:
        converted = file.read()
    began = time.monotonic()
    got = run(TOOL, "tree", "convert", "--report-file=many.json", "many")
    took = time.monotonic() - began
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(
        f"# {COUNT} files, {COUNT // 2} of them converted: {took:.1f} s, the largest process"
        f" {peak / 1024:.0f} MiB, report {os.path.getsize('many.json') >> 20} MiB"
    )
    check(
        got.status == 1 and got.out.startswith(b"%d converted, 0 skipped, %d failed"
                                               % (COUNT // 2, COUNT - COUNT // 2)),
        f"{COUNT} files",
        str(got)[:2000],
    )
    # A file, its path and its object in the report are some 2 KB.
    check(peak * 1024 < (64 << 20) + COUNT * 2500, "memory", peak)
    wrong = 0
    for i in range(1, COUNT, 2):
        with open(f"many/{i // 500}/{i % 500}", "rb") as file:
            wrong += file.read() != converted
    check(wrong == 0, "each as it should be", wrong)


def test_deep():
    """A chain of directories, a few of which other programs can open."""
    depth, start = 100000, os.open(".", os.O_RDONLY)
    # On a disk this takes minutes, and the command less than a second.
    top = tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else ".")
    os.chdir(top)
    os.mkdir("deep")
    os.chdir("deep")
    for level in range(depth):
        if level in (256, 257):
            subprocess.run(["cp", "/bin/cat", "cat"], check=True)
        os.mkdir("d")
        os.chdir("d")
    os.chdir(top)
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    got = run(TOOL, "tree", "convert", "-j1", "deep")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    check(
        got.status == 1 and got.err.count(b"\n") == 1 and b"more than 256 levels below" in got.err
        and got.out.startswith(b"1 converted, 0 skipped, 1 failed") and used < 2,
        f"{depth} directories deep, in {time.monotonic() - began:.1f} s, {used:.2f} s of a processor",
        str(got)[-300:],
    )
    os.fchdir(start)
    subprocess.run(["rm", "-rf", top], check=True)


def test_links():
    os.makedirs("links")
    subprocess.run(["cp", "/bin/cat", "links/0"], check=True)
    for i in range(1, 5000):
        os.link("links/0", f"links/{i}")
    got = run(TOOL, "tree", "convert", "links")
    check(got.out.startswith(b"1 converted, 0 skipped, 0 failed"), "5000 names of one file", got)
    check(len({os.stat(f"links/{i}").st_ino for i in range(5000)}) == 1, "are links of each other")
    check(sorted(os.listdir("links")) == sorted(map(str, range(5000))), "and nothing else")


def main():
    top = scratch()
    try:
        test_many()
        test_deep()
        test_links()
    finally:
        remove(top)
    plan()


if __name__ == "__main__":
    main()
