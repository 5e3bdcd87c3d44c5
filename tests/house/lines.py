#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lines.py ROOT: counts the lines that somebody maintains, in a checkout, and fails above what a few people carry. TAP.

They are C, headers, pages, scripts and build files. Lines that only comment are counted apart, so that nobody saves
on them. Texts are not counted, nor what tests compare with.
"""
import collections
import os
import sys

import tap

FOLDERS = {"product": "base cfi sframe code gen cmd include walk profile packaging".split(), "tests": ["tests", "examples", "kit"]}
LIMITS = {"product": 73_812, "tests": 80_000}
DATA = (".md", ".txt", ".tsv", ".json", ".rows", ".scd")
BRACED = (".c", ".h", ".cc", ".S", ".js", ".cjs", ".css", ".proto", ".def", ".go")


def comments(name, lines):
    """How many of the lines have nothing but a comment."""
    found, inside = 0, False
    for line in lines:
        if not name.endswith(BRACED):
            found += line.startswith("#")
            continue
        begins = line.startswith(("/*", "//"))
        found += inside or begins
        inside = (inside or line.startswith("/*")) and "*/" not in line
    return found


def main(root):
    os.chdir(root)
    names = tap.known_to_git()
    if not names:
        tap.skip_all("this is no git checkout")
    total, apart = collections.Counter(), collections.Counter()
    for name in names:
        if name.endswith(DATA) or not os.path.isfile(name):
            continue
        with open(name, encoding="utf-8", errors="replace") as file:
            lines = [line.strip() for line in file]
        top = name.split("/")[0]
        apart[top] += comments(name, lines)
        total[top] += len(lines) - comments(name, lines)
    for what, folders in FOLDERS.items():
        for folder in folders:
            print(f"# {folder:10} {total[folder]:7,} lines, {apart[folder]:6,} of comments")
        lines, more = (sum(count[folder] for folder in folders) for count in (total, apart))
        print(f"# {what:10} {lines:7,} lines, {more:6,} of comments")
        tap.check(0 < lines <= LIMITS[what], f"{what}: at most {LIMITS[what]:,} lines", f"{lines:,}")
    tap.plan()


main(sys.argv[1])
