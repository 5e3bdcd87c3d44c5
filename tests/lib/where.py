#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""where.py WHERE CC...: the functions of an object with a section for each, by section and offset as the
library gives them, against readelf's symbols; and none of a linked file has such a place. TAP."""
import os
import subprocess
import sys
import tempfile

SOURCE = """
int first(int n) { return n + 1; }
static __attribute__((noinline, noclone)) int second(volatile int *p) { return *p * 3; }
int third(int n) { volatile int x = first(n); return second(&x) + first(x); }
__attribute__((section(".text.together"))) int one(int n) { return third(n) + third(n + 1); }
__attribute__((section(".text.together"))) int two(int n) { return one(n) - one(n - 1); }
int main(void) { return two(3) & 1; }
"""


def lines_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def main():
    where, cc = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as work:
        source, binary = (os.path.join(work, name) for name in ("a.c", "a"))
        with open(source, "w") as out:
            out.write(SOURCE)
        subprocess.run(cc + ["-O2", "-ffunction-sections", "-fno-lto", "-c", "-o", binary + ".o", source],
                       check=True)
        subprocess.run(cc + ["-o", binary, binary + ".o"], check=True)
        wanted = set()
        for line in lines_of("readelf", "-sW", binary + ".o"):
            words = line.split()
            if len(words) == 8 and words[3] == "FUNC":
                wanted.add((words[6], int(words[1], 16), int(words[2], 0), words[7]))
        got = [line.split() for line in lines_of(where, binary + ".o")]
        found = {(words[0], int(words[1]), int(words[2]), words[3]) for words in got if len(words) == 4}
        ok = [len(wanted) == 6 and found == wanted and len(got) == 6,
              len({section for section, _, _, _ in wanted}) == 5]
        linked = lines_of(where, binary)
        # Some of the six are one there.
        ok.append(len(linked) > 3 and all(line.startswith("nowhere 0x") for line in linked))
    for i, what in enumerate(["functions as readelf has them", "in five sections", "not in a linked file"]):
        print("%s %d - %s" % ("ok" if ok[i] else "not ok", i + 1, what))
    if not all(ok):
        print("# wanted %s\n# got %s" % (sorted(wanted), got))
    print("1..%d" % len(ok))
    return 0 if all(ok) else 1


sys.exit(main())
