#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The HTML report is well formed, fetches and runs nothing, says what the JSON report says, and whatever
a file or a symbol is called stays text. TAP.

    report_html.py EH2SFRAME
"""

import html.parser
import json
import os
import subprocess
import sys

from batch_lib import remove, run, scratch
from tap import check, plan

TOOL = os.path.realpath(sys.argv[1])
EMPTY = {"meta", "br"}
NASTY = "<script>alert(1)</script>&amp;\"'><img src=x onerror=alert(2)>"
SYMBOL = "</td><script>f</script>&lt;'"

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


class Page(html.parser.HTMLParser):
    """Tables as lists of rows of text; everything that should not be there."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.wrong, self.tables, self.headings, self.tags = [], [], [], [], set()
        self.cell = None
        self.feed(text)
        self.close()
        self.wrong += self.open

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.wrong += [a for a in attrs if a[0] in ("src", "href", "style") or a[0][:2] == "on"]
        if tag not in EMPTY:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th", "h3"):
            self.cell = ""

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}>")
        if tag in ("td", "th"):
            self.tables[-1][-1].append(self.cell)
        elif tag == "h3":
            self.headings.append(self.cell)

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data


def page(*argv):
    got = run(TOOL, "--report=html", *argv)
    text = got.out.decode()
    parsed = Page(text)
    check(
        not parsed.wrong
        and text.startswith("<!DOCTYPE html>")
        and parsed.tags.isdisjoint({"script", "img", "link", "iframe", "object", "base", "form"})
        and "url(" not in text
        and "@import" not in text,
        "well formed, and on its own: " + " ".join(argv)[:60],
        parsed.wrong or text[:2000],
    )
    return got.status, parsed


def row_of(file):
    code, counts, sizes = file["code"], file["counts"], file["sizes"]
    return [file["path"], str(file["status"]), file["machine"], str(counts["functions_with_cfi"])] + [
        str(counts["functions_with_gaps"]),
        f"{percent(code['covered'], code['with_cfi'] - code['outermost']):.2f}%",
        f"{percent(code['covered'] + code['plt_template'], code['executable'] - code['outermost']):.2f}%",
        str(sizes[".eh_frame"]),
        str(sizes[".sframe"]),
        f"{sizes['.sframe'] / sizes['.eh_frame']:.2f}",
    ]


def percent(covered, code):
    return min(100 * covered / code, 99.99) if covered < code else 100


def main():
    top = scratch()
    try:
        name = NASTY.replace("/", "_") + ".so"
        subprocess.run(
            ["gcc", "-shared", "-nostdlib", "-x", "assembler", "-", "-o", name],
            input=SOURCE,
            text=True,
            check=True,
        )
        with open("<b>text\n", "w", encoding="utf-8") as file:
            file.write("not an ELF file, and longer than the sixty-four bytes of an ELF header")
        paths = ["/bin/ls", "/bin/bash", name, "<b>text\n"]
        status, parsed = page("-v", *paths)
        run(TOOL, "--report=json", "-v", "-o", "report.json", *paths)
        with open("report.json", encoding="utf-8") as file:
            files = json.load(file)["files"]
        totals, refused, rows = parsed.tables[0], parsed.tables[1][1:], parsed.tables[2][1:]
        check(status == 1, "the status is that of the files", status)
        check(rows[:3] == [row_of(file) for file in files[:3]], "the files", rows)
        check(
            rows[3] == ["<b>text\ufffd", "1", files[3]["error"]], "a file that failed", rows[3]
        )
        check(
            ["bytes of code covered", str(sum(f["code"]["covered"] for f in files[:3]))] in totals
            and ["files done", "3"] in totals
            and ["files failed, status, 1", "1"] in totals,
            "the totals",
            totals,
        )
        sums = {}
        for file in files[:3]:
            for reason, counts in file["refused"].items():
                sums.setdefault(reason, [0, 0])
                sums[reason][0] += counts["functions"]
                sums[reason][1] += counts["bytes"]
        check(
            refused == [[reason, *map(str, sums[reason])] for reason in sorted(sums)],
            "what was left out, by reason",
            refused,
        )
        gaps = [[g.get(k, "") for k in ("reason", "start", "function", "rule", "name")]
                for g in files[2]["gaps"]]
        check(
            parsed.tables[-1][1:] == gaps and gaps[0][4] == SYMBOL and parsed.headings[-1] == name,
            "names of files and symbols are text",
            parsed.tables[-1],
        )
        merged = page("--merge", "report.json")[1]
        check(
            sorted(merged.tables[2][1:]) == sorted(rows), "a page of merged reports", merged.tables[2]
        )
        with open("strange.json", "w", encoding="utf-8") as file:
            json.dump({"tool": "eh2sframe", "files": [
                {"path": NASTY, "status": 6, "skipped": NASTY},
                {"path": "x", "status": 0, "machine": NASTY, "refused": {NASTY: {"bytes": 1}},
                 "gaps": [{"name": NASTY, "reason": 5}, 7], "code": {}},
            ]}, file)
        strange = page("--merge", "strange.json")[1]
        check(
            [NASTY, "6", NASTY] in strange.tables[2] and strange.tables[1][1][0] == NASTY,
            "nor does a report of somebody else's make more of it",
            strange.tables,
        )
        check(run(TOOL, "--report=html", "-o", "/dev/full", "/bin/ls").status == 3, "no room")
    finally:
        remove(top)
    plan()


if __name__ == "__main__":
    main()
