#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Verbs, options and their values stay (docs/STABILITY.md): all that was in the tables once is in them now. TAP.

    options.py ROOT LIST [--bless]
"""

import os
import re
import sys

from tap import check, plan

ROOT, LIST = (os.path.realpath(path) for path in sys.argv[1:3])
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "docs"))
import options  # pylint: disable=wrong-import-position


def said():
    """Lines for each verb, each option of it, short forms and values."""
    common = os.path.join(ROOT, "cmd/common")
    with open(os.path.join(common, "options.c"), encoding="utf-8") as file:
        verbs = re.findall(r'^    \{"([a-z ]+)", "', file.read(), flags=re.M)
    lines = set(verbs)
    for option in options.table(os.path.join(common, "options.def")).values():
        lines.update(f"{verb} --{option.name}" for verb in (verbs if "*" in option.verbs else option.verbs))
        lines.update(f"--{option.name}={value}" for value in option.values.split("|") if value)
        lines.add(f"--{option.name}{'=' + option.argument if option.argument else ''}")
        if option.letter:
            lines.add(f"--{option.name} -{option.letter}")
    return lines


now = said()
if sys.argv[3:] == ["--bless"]:
    with open(LIST, "w", encoding="utf-8") as written:
        written.writelines(line + "\n" for line in sorted(now))
with open(LIST, encoding="utf-8") as listed:
    old = set(listed.read().splitlines())
check(not old - now, f"{len(old)} verbs, options and values are still there", "\n".join(sorted(old - now)))
check(not now - old, "all are in the list; --bless adds them", "\n".join(sorted(now - old)))
check(len(old) > 300, "there are many")
plan()
