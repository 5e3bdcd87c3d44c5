#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints JSON reports as one table in Markdown: failures first, then the files with the most code without rows.

    eh2sframe report --json -o report.json prog lib.so
    examples/summary.py report.json >>"$GITHUB_STEP_SUMMARY"
"""
import json
import sys

MOST = 200  # files: a page of GitHub has 1 MiB at most
DONE, NOTHING = 0, 6


def plain(text):
    """Text that is no markup, whatever a file is called."""
    return "".join(c if c.isalnum() or c in " /-" else f"&#{ord(c) if c.isprintable() else 0xfffd};" for c in text[:300])


def percent(share):
    """100 only when nothing is missing."""
    return "-" if share is None else f"{int(share * 100) / 100:.2f} %"


def without_rows(file):
    code = file.get("code", {})
    return code.get("executable", 0) - sum(code.get(name, 0) for name in ("outermost", "covered", "plt_template", "derived"))


def row(file):
    code = file.get("code")
    cells = [plain(file["path"]), plain(file.get("error", file.get("skipped", "done")))]
    cells += [""] * 5 if code is None else [
        percent(code["percent_of_cfi"]), percent(code["percent_of_executable"]), without_rows(file),
        file["counts"]["functions_with_gaps"], file["sizes"][".sframe"]]
    return "| " + " | ".join(map(str, cells)) + " |"


files = []
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as report:
        files += json.load(report)["files"]
files.sort(key=lambda file: (file["status"] in (DONE, NOTHING), -without_rows(file), file["path"]))
print("\n## SFrame coverage\n")
print("| File | Result | Of code with CFI | Of executable code | Bytes without rows | Functions with gaps | .sframe bytes |")
print("| :--- | :--- | ---: | ---: | ---: | ---: | ---: |")
print(*map(row, files[:MOST]), sep="\n")
if len(files) > MOST:
    print(f"\n{len(files) - MOST} more files are not shown.")
