#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lines.py ROOT: counts the lines of the product and of the tests, in a checkout, and fails above what the project can carry. TAP.

Counted is each line of what somebody maintains: C, headers, pages, scripts, build files; comments and empty lines, too.
Not counted are texts (docs, lists) and data: what tests compare with, and the assembly of vectors is a test, so it counts.
"""
import collections
import os
import subprocess
import sys

import tap

PRODUCT = "base cfi sframe code gen cmd include walk profile packaging".split()
TESTS = "tests examples".split()
LIMITS = {"product": 75_000, "tests": 80_000}
# Words, and data that tests compare with.
DATA = (".md", ".txt", ".tsv", ".json", ".rows")


def main(root):
    os.chdir(root)
    names = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, check=False).stdout.split("\0")
    if len(names) < 2:
        tap.skip_all("this is no git checkout")
    total = collections.Counter()
    for name in filter(os.path.isfile, names):
        top = name.split("/")[0]
        if not name.endswith(DATA) and top in PRODUCT + TESTS:
            with open(name, "rb") as file:
                total[top] += sum(1 for _ in file)
    for what, folders in ("product", PRODUCT), ("tests", TESTS):
        lines = sum(total[folder] for folder in folders)
        for folder in folders:
            print(f"# {total[folder]:7,} {folder}")
        print(f"# {lines:7,} {what}, of {LIMITS[what]:,}")
        tap.check(folders and 0 < lines <= LIMITS[what], f"{what}: at most {LIMITS[what]:,} lines", f"{lines:,}")
    tap.plan()


main(sys.argv[1])
