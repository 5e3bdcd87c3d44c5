#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Neighbours with one equal row as one FDE, as --optimize=share writes them, against --optimize=none. TAP.

    together.py EH2SFRAME

On real libraries, as dump prints both: every PC of every function has the row it has without, and what has
a row besides is padding. What is not put together is as it was.
"""
import bisect
import os
import sys
import tempfile

import schema_lib
from sframe_text import Section
from tap import check, plan, run, skip_all

FILES = ["/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
         "/usr/lib/x86_64-linux-gnu/libcrypto.so.3"]
PADDING_MAX = 15


def functions(tool, path):
    """[(start, end, attributes, rows)], ascending."""
    section = Section(run(tool, "dump", path).stdout, exact=True)
    return [(pc, pc + size, section.marks[pc], rows)
            for pc, (size, _, rows) in section.funcs.items()]


def compare(plain, shared):
    """(bytes of padding, what is wrong)."""
    wrong, padding, last = [], 0, {}
    starts = [func[0] for func in shared]
    for func in plain:
        start, end, attributes, rows = func
        owner = shared[bisect.bisect(starts, start) - 1]
        if owner == func:
            continue
        if owner[0] > start or owner[1] < end:
            wrong.append(f"{start:#x}: not inside of one FDE")
        elif attributes or owner[2] or len(rows) != 1 or rows != owner[3]:
            wrong.append(f"{start:#x}: {attributes} {rows}, with sharing {owner[2:]}")
        elif start != last.get(owner[0], owner[0]):
            gap = start - last.get(owner[0], owner[0])
            padding += gap
            if gap > PADDING_MAX or owner[0] not in last:
                wrong.append(f"{start:#x}: {gap} bytes before it have its row")
        last[owner[0]] = end
    whole = set(map(str, plain))
    wrong += [f"{func[0]:#x}: ends behind its last function" for func in shared
              if str(func) not in whole and last.get(func[0]) != func[1]]
    return padding, wrong


def check_file(tool, path, version, work):
    name = f"{os.path.basename(path)}, version {version}"
    none, share, given = (os.path.join(work, how) for how in ("none", "share", "given"))
    report = os.path.join(work, "report")
    # For readers of which no row goes on behind a last call.
    how = ["-q", "--for=binutils-" + {1: "2.40", 2: "2.45", 3: "2.46"}[version]]
    made = [run(tool, *how, "--optimize=none", path, none),
            run(tool, *how, f"--report-file={report}", path, share),
            run(tool, *how, "--optimize=share", path, given)]
    if any(one.returncode for one in made):
        check(False, f"{name}: converted", "".join(one.stderr for one in made))
        return
    with open(share, "rb") as one, open(given, "rb") as other:
        check(one.read() == other.read(), f"{name}: share is what is done anyway")
    said = schema_lib.read(report)["files"][0]
    plain, shared = functions(tool, none), functions(tool, share)
    padding, wrong = compare(plain, shared)
    fewer = len(plain) - len(shared)
    check(not wrong and fewer > len(plain) // 50, f"{name}: {len(plain)} functions in {len(shared)} FDEs",
          "\n".join(wrong) or f"{fewer} fewer")
    # Version 1 has an FDE for each block of what is one function of the model.
    blocks = len(plain) - said["counts"]["sframe_functions_before_joining"]
    check(said["code"]["padding_with_rows"] == padding > 0 and
          said["counts"]["sframe_functions"] == len(shared) and (blocks == 0 or version == 1),
          f"{name}: the report says so, and {padding} bytes of padding", said)
    verified = run(tool, "verify", share)
    check(verified.returncode == 0 and f"; {padding} bytes of padding" in verified.stdout,
          f"{name}: and so does verify", verified.stdout)
    verified = run(tool, "verify", none)
    check(verified.returncode == 0 and "padding" not in verified.stdout, f"{name}: none without",
          verified.stdout)
    check(run(tool, "--refresh", *how, "--optimize=none", share, given).returncode == 0 and
          functions(tool, given) == plain, f"{name}: and taken apart again")


def main():
    tool = sys.argv[1]
    files = [path for path in FILES if os.path.exists(path)]
    if not files:
        skip_all("none of the libraries is here")
    with tempfile.TemporaryDirectory() as work:
        for path in files:
            for version in (1, 2, 3):
                check_file(tool, path, version, work)
    plan()


main()
