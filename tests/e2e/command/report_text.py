#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The text of eh2sframe report: bars, the table of several files, and --functions, against JSON. TAP.

    report_text.py EH2SFRAME
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

import schema_lib
from tap import check, must, plan, run

TOOL = sys.argv[1]
LINE = re.compile(r"^ *([\d.]+)% +([\d.]+)% +(\d+) +(\d+) +(\d+)  (.*)$")
BAR = re.compile(r"^    (.{16}) \|([#.]*) *\| +(\d+) +(<?[\d.]+)%$")


def json_of(*paths):
    """The objects of files."""
    return schema_lib.document(run(TOOL, "report", "--json", *paths).stdout)["files"]


def bars(path):
    """The bars are the bytes that JSON has, in 80 columns, and add up."""
    text, file = must(TOOL, "report", path), json_of(path)[0]
    lines = text[text.index("  of all executable bytes:") :].splitlines()[1:]
    lines = [line for line in lines if "|" in line]
    found = {m[1].strip(): (int(m[3]), m[2], m[4]) for m in map(BAR.match, lines) if m}
    code = file["code"]
    wanted = {
        "with rows": code["covered"] + code["plt_template"],
        "outermost": file["refused"].get("ra-undefined", {}).get("bytes", 0),
        "without CFI": code["without_cfi"],
        "data in text": code["data"],
        "padding": code["padding"] + code["padding_in_code"],
    }
    wanted |= {name: r["bytes"] for name, r in file["refused"].items() if name != "ra-undefined"}
    name = os.path.basename(path)
    check({k: v[0] for k, v in found.items()} == {k: v for k, v in wanted.items() if v}, f"{name}: bytes", text)
    whole = sum(wanted.values())
    check(
        all(
            abs(len(bar) - 36 * size / whole) <= 1 and ("." in bar) == (36 * size / whole < 0.5)
            for size, bar, _ in found.values()
        ),
        f"{name}: length of bars",
        text,
    )
    check(
        all(
            share == "<0.01" if size / whole < 0.0001 else abs(float(share) - 100 * size / whole) <= 0.011
            for size, _, share in found.values()
        ),
        f"{name}: shares",
        text,
    )
    check(all(len(line) <= 80 and line.isascii() for line in lines), f"{name}: 80 columns of ASCII", text)
    check(len(text.splitlines()) <= 40, f"{name}: a screen", len(text.splitlines()))
    check(
        text.startswith(f"{path}: x86-64 {file['kind']}\n")
        and f"  build-id       {file['build_id']}\n" in text
        and all(f"  made by        {p}\n" in text for p in file.get("producers", [])[:3]),
        f"{name}: what the file is",
        text,
    )


def uncovered(file):
    code = file["code"]
    return code["executable"] - code["outermost"] - code["covered"] - code["plt_template"]


def table(paths):
    """One line for each file, the worst first, and sums."""
    said = run(TOOL, "report", *paths)
    head, *lines, last = said.stdout.splitlines()
    rows = [LINE.match(line) for line in lines]
    files = {f["path"]: f for f in json_of(*paths)}
    check(said.returncode == 0 and all(rows) and len(rows) == len(paths), "a line for each file", said.stdout)
    check("uncovered" in head and head.isascii(), "columns have names", head)
    check(
        all(
            (int(m[3]), int(m[4]), int(m[5])) == (
                uncovered(files[m[6]]), files[m[6]]["counts"]["functions_with_gaps"], files[m[6]]["sizes"][".sframe"])
            for m in rows
        ),
        "numbers are those of JSON",
        said.stdout,
    )
    check(
        all(
            abs(float(m[1]) - files[m[6]]["code"]["percent_of_cfi"]) <= 0.011
            and abs(float(m[2]) - files[m[6]]["code"]["percent_of_executable"]) <= 0.011
            for m in rows
        ),
        "shares are those of JSON",
        said.stdout,
    )
    order = sorted(paths, key=lambda p: (-uncovered(files[p]), p))
    check([m[6] for m in rows] == order, "the worst first", said.stdout)
    total = LINE.match(last)
    check(
        total is not None and total[6] == f"{len(paths)} files"
        and all(int(total[i]) == sum(int(m[i]) for m in rows) for i in (3, 4, 5)),
        "totals",
        last,
    )
    each = "".join(must(TOOL, "report", "-v", path) for path in paths)
    check(run(TOOL, "report", "-v", *paths).stdout == each, "-v: the full text of each")
    return said.stdout


def failing(work, program, whole):
    """Files that fail have a line on standard error, and do not end the report."""
    text = os.path.join(work, "no-elf")
    with open(text, "w") as file:
        file.write("no ELF file, but longer than the sixty-four bytes of such a file's header.\n")
    said = run(TOOL, "report", program, text, os.path.join(work, "missing"))
    check(said.returncode == 3 and said.stdout.endswith("1 file, 2 failed\n"), "files that fail", said.stdout)
    check(said.stderr.count("\n") == 2 and "no-elf: " in said.stderr, "have a line each", said.stderr)
    said = run(TOOL, "report", text, text)
    check(said.returncode == 1 and not said.stdout, "no file left, no table", said.stdout)
    odd = os.path.join(work, "a\n\x1b[31m|b")
    shutil.copy(program, odd)
    said = run(TOOL, "report", odd, program)
    check(r"a\012\033[31m|b" in said.stdout and "\x1b" not in said.stdout, "a hostile name", said.stdout)
    out = os.path.join(work, "table")
    check(must(TOOL, "report", "-o", out, *whole[0]) == "" and open(out).read() == whole[1], "-o")


def functions(path):
    """Every gap and stretch of JSON is in the list."""
    said, file = must(TOOL, "report", "--functions", path), json_of(path)[0]
    name = os.path.basename(path)
    heads = [line for line in said.splitlines() if re.match(r"  0x", line)]
    gaps = {}
    for gap in file["gaps"]:
        gaps.setdefault(gap["function"], []).append(gap)
    code = [s for s in file["without_cfi"] if s["kind"] != "data"]
    wanted = [
        (f, sum(g["size"] for g in all_of), all_of[0].get("name", "(no name)")) for f, all_of in gaps.items()
    ] + [(s["start"], s["size"], s.get("name", "(no name)")) for s in code] + [
        (one["start"], one["size"], f"{one['kind']} {one.get('name', '(no name)')}") for one in file.get("not_by_cfi", [])]
    found = [(m[1], int(m[2]), m[3]) for m in (re.match(r"  (0x\w+) +(\d+) bytes? +(.*)$", line) for line in heads)]
    check(found == wanted and found, f"{name}: every function", said)
    rules = {
        f"{g['reason']}, " + (f"needs v{g['needs']}" if g["needs"] else "no version says it") + f": {g['rule']}"
        for g in file["gaps"]
    }
    check(rules and all(rule in said for rule in rules), f"{name}: every rule", said)
    lines = re.findall(r"^ +(\d+) [a-z-]+, ", said, re.M)
    check(sum(map(int, lines)) == sum(g["size"] for g in file["gaps"]), f"{name}: sizes of reasons", said)
    check(f"{path}: {len(gaps)} function" in said and f"{path}: {len(code)} piece" in said, f"{name}: counts", said)
    return said


def memory(program, work):
    """3,000 files take little more memory than one: the table keeps a few numbers of each."""
    small = os.path.join(work, "small")
    source = os.path.join(work, "small.c")
    with open(source, "w") as file:
        file.write("int main(void) { return 0; }\n")
    subprocess.run(["cc", "-o", small, source], check=True)
    peak = "import resource,subprocess,sys;subprocess.run(sys.argv[1:],stdout=subprocess.DEVNULL);print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    one, many = (
        int(must(sys.executable, "-c", peak, TOOL, "report", *[small] * n)) for n in (2, 3000)
    )
    check(many - one < 16 << 10, "memory of 3,000 files", f"{one} KiB, {many} KiB")


def main():
    program = os.path.realpath("/bin/ls")
    shell = os.path.realpath("/bin/bash")
    library = next(
        m[1] for m in re.finditer(r"=> (\S+libc\.so\S*)", must("ldd", program))
    )
    library = os.path.realpath(library)
    for path in (program, library):
        bars(path)
    paths = [program, library, shell, os.path.realpath(sys.executable)]
    text = table(paths)
    functions(library)
    both = must(TOOL, "report", "--functions", program, library)
    check(both == "".join(must(TOOL, "report", "--functions", p) for p in (program, library)), "--functions of two")
    with tempfile.TemporaryDirectory() as work:
        failing(work, program, (paths, text))
        memory(program, work)
    plan()


if __name__ == "__main__":
    main()
