#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The HTML report is one page on its own, holds the data of the JSON report, and stays small. What the page
does with the data, tests/e2e/html tests in a browser. TAP.

    report_html.py EH2SFRAME
"""

import json
import os
import shutil
import subprocess
import sys

import samples
import schema_lib
from batch_lib import remove, run, scratch
from page_lib import page, without, written
from tap import check, plan, skip

TOOL = os.path.realpath(sys.argv[1])
DATA = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../../cmd/report/page/data.js")
NASTY = "<script>alert(1)</script>&amp;\"'><img src=x onerror=alert(2)>\u2028\u2029"
SYMBOL = "</td></script><!--<script>f</script>&lt;'"

# A function whose caller cannot be found, for a gap with its name.
SOURCE = f"""
	.text
	.globl	"{SYMBOL}"
	.type	"{SYMBOL}", @function
"{SYMBOL}":
	.cfi_startproc
	.cfi_undefined rip
	nop
	.cfi_endproc
	.size	"{SYMBOL}", . - "{SYMBOL}"
	.globl	g
	.type	g, @function
g:
	.cfi_startproc
	nop
	.cfi_endproc
	.size	g, . - g
"""


def of_files(paths):
    got, data = page(TOOL, "files", "-v", *paths)
    run(TOOL, "report", "--json", "-v", "-o", "report.json", *paths)
    report = schema_lib.read("report.json")
    seen = [without(file, "unmatched", "other_sources") for file in report["files"]]
    check(got.status == 1, "the status is that of the files", got)
    schema_lib.valid(data, "the data")
    check(data["files"] == seen, "the data are those of the JSON report", str(data)[:2000])
    gaps = data["files"][2]["gaps"]
    check(data["files"][2]["path"] == paths[2] and gaps[0]["name"] == SYMBOL, "names stay what they are", gaps)
    done = [file for file in seen if file["status"] == 0]
    check(
        data["summary"]["code"]["covered"] == sum(file["code"]["covered"] for file in done)
        and data["summary"]["done"] == 3
        and data["summary"]["failed"] == {"1": 1},
        "the summary is their sum",
        data["summary"],
    )
    merged = page(TOOL, "merged", "report.json", verb="merge")[1]
    check(
        sorted(merged["files"], key=str) == sorted(seen, key=str) and merged["summary"] == data["summary"],
        "a page of merged reports has the same",
        str(merged)[:2000],
    )


def ratios():
    """The ratio names the sections that a file has."""
    if not shutil.which("node"):
        skip("the ratio", "no node")
        return
    with open(DATA, encoding="utf-8") as file:
        script = file.read()
    go = {name: {"size": 100} for name in ("go", "debug_frame")}
    for sizes, sources, wanted in (
        ({".eh_frame": 100}, {}, "0.50 of .eh_frame"),
        ({".eh_frame": 0}, go, "0.25 of .gopclntab and .debug_frame"),
        ({".eh_frame": 300}, go, "0.10 of .eh_frame, .gopclntab and .debug_frame"),
        ({}, {}, ""),
    ):
        asked = f"{script}\nconsole.log(dataRatio(50, dataSections({json.dumps(sizes)}, {json.dumps(sources)})))"
        made = subprocess.run(["node", "-"], input=asked, capture_output=True, text=True, check=False)
        check(made.stdout == wanted + "\n", f"the ratio: {wanted}", made.stdout + made.stderr)


def percents():
    """Only the whole is 100 %, and nothing has no share."""
    if not shutil.which("node"):
        skip("shares", "no node")
        return
    with open(DATA, encoding="utf-8") as file:
        asked = file.read() + "\nconsole.log([[0, 0], [0, 7], [1, 99999], [6, 7], [99999, 100000], [7, 7], [8, 7], [1]]" \
            ".map((share) => dataPercent(...share)).join())"
    made = subprocess.run(["node", "-"], input=asked, capture_output=True, text=True, check=False)
    check(made.stdout == "-,0.00%,< 0.01%,85.71%,99.99%,100%,100%,?\n", "shares", made.stdout + made.stderr)


def main():
    top = scratch()
    try:
        name = NASTY.replace("/", "_") + ".so"
        subprocess.run(["gcc", "-shared", "-nostdlib", "-x", "assembler", "-", "-o", name],
                       input=SOURCE, text=True, check=True)
        with open("<b>text\n", "w", encoding="utf-8") as file:
            file.write("not an ELF file, and longer than the sixty-four bytes of an ELF header")
        of_files(["/bin/ls", "/bin/bash", name, "<b>text\n"])
        schema_lib.valid(samples.many(60), "samples of files")
        schema_lib.valid(samples.document(samples.checked(9)["files"][:8]), "samples of checks")
        hostile = samples.hostile()
        data = page(TOOL, "hostile", written("hostile.json", hostile), verb="merge")[1]
        check(
            sorted(data["files"], key=str) == sorted(hostile["files"], key=str),
            "hostile members stay what they are",
            str(data)[:2000],
        )
        ratios()
        percents()
        check(run(TOOL, "report", "--html", "-o", "/dev/full", "/bin/ls").status == 3, "no room")
    finally:
        remove(top)
    plan()


if __name__ == "__main__":
    main()
