#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--report --compare: each format's account is complete, and SFrame's sizes are those of conversions. TAP.

    report_compare.py EH2SFRAME OBJECT
"""
import json
import os
import sys
import tempfile

from tap import check, must, plan, run

tool, relocatable = sys.argv[1:]
program = os.path.realpath("/bin/ls")
OTHERS = ["compact-unwind", "orc", "parca", "otel", "frame-pointers"]


def report(path, *options):
    return json.loads(must(tool, "--report=json", *options, path))["files"][0]


def main():
    file = report(program, "--compare")
    formats = {entry["name"]: entry for entry in file["formats"]}
    names = [f"sframe-{version}-{how}" for version in (1, 2, 3) for how in ("none", "share", "size")]
    check(list(formats) == ["eh_frame", *names, *OTHERS], "every format once, in order", list(formats))
    code, functions = file["code"]["with_cfi"], file["counts"]["functions_with_cfi"]
    for name, entry in formats.items():
        escaped = sum(escape["bytes"] for escape in entry["escapes"].values())
        check(entry["code_bytes"] + escaped == code, f"{name}: every byte of code counts once", (entry, code))
        worst = max((escape["functions"] for reason, escape in entry["escapes"].items()
                     if reason != "outside-body"), default=0)
        check(entry["functions"] <= functions - worst, f"{name}: functions", (entry, functions))
        check(entry["holds"] == ("calls" if name == "compact-unwind" else "every-pc"), f"{name}: where it holds")
        check((entry["bytes"] == 0) == (name == "frame-pointers"), f"{name}: bytes")
    sizes = file["sizes"]
    check(formats["eh_frame"]["bytes"] == sizes[".eh_frame"] + sizes[".eh_frame_hdr"], "eh_frame: both sections")

    with tempfile.TemporaryDirectory() as work:
        out = os.path.join(work, "out")
        for name in names:
            _, version, how = name.split("-")
            must(tool, "-q", "--section-only", f"--format={version}", f"--optimize={how}", program, out)
            check(os.path.getsize(out) == formats[name]["bytes"], f"{name}: the size of a conversion")

    text = run(tool, "--report", "--compare", program).stdout
    lines = {line.split()[0]: line.split() for line in text.splitlines() if line.startswith("    ")}
    check(all(lines[name][1] == str(entry["bytes"]) for name, entry in formats.items()), "text has the same bytes")
    check("formats" not in report(program), "only on request")
    check(report(program, "--compare", "--exclude-symbol=*", "--allow-unmatched", "-j1")["formats"]
          == file["formats"], "patterns and threads change nothing")
    check("formats" not in report(relocatable, "--compare", "--format=3"), "a relocatable object has none")
    plan()


main()
