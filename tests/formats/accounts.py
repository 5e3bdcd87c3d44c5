#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/bench/compare: each format's account is complete, and SFrame's sizes are those of conversions. TAP.

    accounts.py COMPARE EH2SFRAME
"""
import json
import os
import sys
import tempfile

import schema_lib
from tap import check, must, plan, run

compare, tool = sys.argv[1:]
program = os.path.realpath("/bin/ls")
OTHERS = ["compact-unwind", "frame-pointers"]


def main():
    made, = json.loads(must(compare, program))
    report = schema_lib.document(must(tool, "report", "--json", program))["files"][0]
    formats = {entry["name"]: entry for entry in made["formats"]}
    names = [f"sframe-{version}-{how}" for version in (1, 2, 3) for how in ("none", "share", "size")]
    check(made["path"] == program and made["machine"] == report["machine"], "path and machine", made)
    check(list(formats) == ["eh_frame", *names, *OTHERS], "every format once, in order", list(formats))
    code, functions = report["code"]["with_cfi"], report["counts"]["functions_with_cfi"]
    for name, entry in formats.items():
        escaped = sum(escape["bytes"] for escape in entry["escapes"].values())
        check(entry["code_bytes"] + escaped == code, f"{name}: every byte of code counts once", (entry, code))
        worst = max((escape["functions"] for reason, escape in entry["escapes"].items()
                     if reason != "outside-body"), default=0)
        check(entry["functions"] <= functions - worst, f"{name}: functions", (entry, functions))
        check(entry["holds"] == ("calls" if name == "compact-unwind" else "every-pc"), f"{name}: where it holds")
        check((entry["bytes"] == 0) == (name == "frame-pointers"), f"{name}: bytes")
    sizes = report["sizes"]
    check(formats["eh_frame"]["bytes"] == sizes[".eh_frame"] + sizes[".eh_frame_hdr"], "eh_frame: both sections")

    with tempfile.TemporaryDirectory() as work:
        out = os.path.join(work, "out")
        for name in names:
            _, version, how = name.split("-")
            must(tool, "section", "-q", f"--format={version}", f"--optimize={how}", program, out)
            check(os.path.getsize(out) == formats[name]["bytes"], f"{name}: the size of a conversion")
        source, relocatable = os.path.join(work, "one.c"), os.path.join(work, "one.o")
        with open(source, "w", encoding="utf-8") as file:
            file.write("int one(void) { return 1; }\n")
        must("cc", "-c", "-o", relocatable, source)
        both = run(compare, relocatable, program)
        check(both.returncode == 1 and json.loads(both.stdout) == [made] and "relocatable" in both.stderr,
              "a relocatable object has none, and the next file has", both)
    plan()


main()
