#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The JSON report says what the text report says, and what the file is. TAP.

    report_json.py EH2SFRAME
"""

import json
import os
import sys
import tempfile

from elf_text import sections
from tap import check, plan, run


def main():
    tool, program = sys.argv[1], os.path.realpath("/bin/ls")
    with tempfile.TemporaryDirectory() as work:
        out, side, latin = (os.path.join(work, n) for n in ("out", "side.json", "lat\udce9n"))
        made = run(tool, "-v", f"--report-file={side}", program, out)
        file = json.load(open(side))["files"][0]
        text = run(tool, "--report", program).stdout
        check(made.returncode == 0 and file["status"] == 0, "a conversion writes it")
        check(file["sizes"][".sframe"] == sections(out)[".sframe"].size, "size of .sframe")
        check(file["sizes"][".eh_frame"] == sections(program)[".eh_frame"].size, "size of .eh_frame")
        check(f"{file['code']['with_cfi']} bytes, {file['code']['covered']} covered" in text, "code")
        method = file["method"]
        check(
            f"method: {method['name']}\n" in made.stdout
            and method["file_size"] == os.path.getsize(out)
            and all(f"method {m} does not apply: {why}" in made.stdout for m, why in method["not_by"].items()),
            "method",
        )
        gaps = sum(g["size"] for g in file["gaps"])
        refused = sum(r["bytes"] for r in file["refused"].values())
        check(gaps == refused > 0, "gaps and refusals add up")
        check(file["code"]["with_cfi"] - file["code"]["covered"] == refused, "and are the rest")

        for how in ("--optimize=none", "--optimize=share", "--optimize=size"):
            for version in "123":
                costs = run(tool, "--report=json", "-v", how, f"--format={version}", program).stdout
                file = json.loads(costs)["files"][0]
                counts, sizes = file["counts"], file["sizes"]
                check(
                    len(file["costs"]) == counts["sframe_functions"]
                    and sum(c["rows"] for c in file["costs"]) == counts["sframe_rows"]
                    and sum(c["index"] for c in file["costs"]) + 28 == sizes["sframe_index"]
                    and sizes["sframe_index"] + sizes["sframe_rows"] == sizes[".sframe"],
                    f"{how}, version {version}: costs add up",
                )
                # Rows that others share, or begin with, are stored once.
                stored = sum(c["row_bytes"] / c["users"] for c in file["costs"])
                check(
                    abs(stored - sizes["sframe_rows"]) <= 0.03 * sizes["sframe_rows"],
                    f"{how}, version {version}: rows add up",
                )
                check(
                    ("sframe_rows_before_joining" in counts) == (how != "--optimize=none"),
                    f"{how}: joined or not",
                )

        with open(latin, "w") as other:
            other.write("not an ELF file, and longer than the sixty-four bytes of an ELF header")
        both = run(tool, "--report=json", program, latin)
        files = json.loads(both.stdout)["files"]
        check(both.returncode == 1 and [f["status"] for f in files] == [0, 1], "a file that fails")
        check(files[1]["path"].endswith("lat?n"), "a name not in UTF-8")
        low = run(tool, "--report=json", "--min-coverage=100", "--min-coverage-of=text", program)
        files = json.loads(low.stdout)["files"]
        check(low.returncode == 5 and [f["status"] for f in files] == [5], "coverage too low")
        full = run(tool, "--report=json", "-o", "/dev/full", program)
        check(full.returncode == 3, "no space for the report")
    plan()


if __name__ == "__main__":
    main()
