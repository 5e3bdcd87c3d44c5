#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""where.py WHERE CC...: the functions of an object with a section for each, by section and offset as the
library gives them, against readelf's symbols; and none of a linked file has such a place. TAP."""
import os
import sys
import tempfile

from tap import check, must, plan

SOURCE = """
int first(int n) { return n + 1; }
static __attribute__((noinline, noclone)) int second(volatile int *p) { return *p * 3; }
int third(int n) { volatile int x = first(n); return second(&x) + first(x); }
__attribute__((section(".text.together"))) int one(int n) { return third(n) + third(n + 1); }
__attribute__((section(".text.together"))) int two(int n) { return one(n) - one(n - 1); }
int main(void) { return two(3) & 1; }
"""


def lines_of(*command):
    return must(*command).splitlines()


def main():
    where, cc = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as work:
        source, binary = (os.path.join(work, name) for name in ("a.c", "a"))
        with open(source, "w") as out:
            out.write(SOURCE)
        must(*cc, "-O2", "-ffunction-sections", "-fno-lto", "-c", "-o", binary + ".o", source)
        must(*cc, "-o", binary, binary + ".o")
        wanted = set()
        for line in lines_of("readelf", "-sW", binary + ".o"):
            words = line.split()
            if len(words) == 8 and words[3] == "FUNC":
                wanted.add((words[6], int(words[1], 16), int(words[2], 0), words[7]))
        got = [line.split() for line in lines_of(where, binary + ".o")]
        found = {(words[0], int(words[1]), int(words[2]), words[3]) for words in got if len(words) == 4}
        check(len(wanted) == 6 and found == wanted and len(got) == 6, "functions as readelf has them",
              f"wanted {sorted(wanted)}\ngot {got}")
        check(len({section for section, _, _, _ in wanted}) == 5, "in five sections", wanted)
        linked = lines_of(where, binary)
        # Some of the six are one there.
        check(len(linked) > 3 and all(line.startswith("nowhere 0x") for line in linked), "not in a linked file",
              linked)
    plan()


main()
