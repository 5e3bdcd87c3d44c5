#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs with a .bss of 300 MiB, dynamic and static, in each code model: they are converted and run,
and their files grow by the section alone. kinds_lib.sh has more kinds of them. TAP.

    large_bss.py EH2SFRAME
"""
import os
import re
import sys
import tempfile

from tap import check, must, plan, run, skip

tool = os.path.realpath(sys.argv[1])
SOURCE = r"""
static volatile char big[314572800];
#ifdef BARE
void _start(void)
{
	static const char text[] = "x\n";
	big[300000000] = 'x';
	__asm__("syscall" : : "a"(1), "D"(1), "S"(text), "d"(2) : "rcx", "r11", "memory");
	__asm__("syscall" : : "a"(231), "D"(0));
	__builtin_unreachable();
}
#else
#include <stdio.h>
int main(int argc, char **argv) { (void)argv; big[argc * 300000000UL] = 'x'; return printf("%c\n", big[300000000]) < 0; }
#endif
"""
KINDS = {"PIE": ["-fPIE", "-pie"], "-mcmodel=large": ["-mcmodel=large"], "static": ["-static"],
         "static, -mcmodel=large": ["-static", "-mcmodel=large"], "static PIE": ["-static-pie", "-fPIE"],
         # What the refusal of static programs by these linkers tells the user to do.
         "PIE, gold": ["-fPIE", "-pie", "-fuse-ld=gold"], "static PIE, lld": ["-static-pie", "-fPIE", "-fuse-ld=lld"],
         "static PIE, mold": ["-static-pie", "-fPIE", "-fuse-ld=mold"],
         # As Valgrind's tools: the first segment has the build-id and nothing else, and padding behind it.
         "no libc": ["-static", "-nostdlib", "-DBARE", "-Wl,-z,separate-code"]}


def build(*options):
    return run("gcc", "-O2", "-Wl,--build-id", *options, "-o", "big", "big.c").returncode == 0


def build_id(path):
    return re.search(r"Build ID: (\w+)", must("readelf", "-nW", path))[1]


def check_kind(kind):
    if not build(*KINDS[kind]):
        skip(kind, "cannot be built here")
        return
    # Some have room for the section in the padding.
    made = run(tool, "-v", "--method=grow", "big", "out")
    if not check(made.returncode == 0, f"{kind}: converted", made.stderr):
        return
    check(run("./out").stdout == "x\n", f"{kind}: runs")
    check(run(tool, "verify", "-q", "out").returncode == 0, f"{kind}: proven")
    sframe = int(re.search(r"(\d+) bytes \.sframe", made.stdout)[1])
    # A static PIE's relocations and the names and headers of sections move to the end.
    by = os.path.getsize("out") - os.path.getsize("big")
    check(by < sframe + 50000, f"{kind}: the file grows by {by} bytes for {sframe}")
    check(build_id("out") == build_id("big"), f"{kind}: the build-id is there")
    must(tool, "remove", "out", "back")
    check(open("back", "rb").read() == open("big", "rb").read(), f"{kind}: and back")


def check_refused(*options):
    linker = " ".join(options)
    if not build("-static", *options):
        skip(f"static, {linker}", "cannot be built here")
        return
    made = run(tool, "--method=grow", "big", "none")
    check(made.returncode == 1 and re.fullmatch(
        r"eh2sframe: big: the method grow does not apply: the program headers would stand after a large "
        r"\.bss or wide gaps between segments, and the file would grow by as much; what often helps is to link it by GNU ld with -z separate-code, or as a PIE .*\n", made.stderr),
          f"static, {linker}: refused, with the reason", made.stderr)


def main():
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        with open("big.c", "w", encoding="ascii") as file:
            file.write(SOURCE)
        for kind in KINDS:
            check_kind(kind)
        for linker in ("gold", "lld", "mold"):
            check_refused(f"-fuse-ld={linker}")
        # By GNU ld; with -z separate-code it is the kind "no libc".
        check_refused("-nostdlib", "-DBARE", "-Wl,-z,noseparate-code")
        os.chdir("/")
    plan()


main()
