#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The JSON report says what the text report says, and what the file is. TAP.

    report_json.py EH2SFRAME
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import schema_lib
from elf_text import sections
from tap import check, must, plan, run


def numbers(value):
    """All numbers in it."""
    if isinstance(value, (dict, list)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from numbers(one)
    elif not isinstance(value, (str, bool)):
        yield value


def huge(tool, program, work):
    """CFI that claims almost all addresses: no count is negative, and the reports of other files can be joined with it."""
    bad, report = os.path.join(work, "huge"), os.path.join(work, "huge.json")
    frames = sections(program)[".eh_frame"].offset
    with open(program, "rb") as file:
        data = bytearray(file.read())
    # The range of the first FDE, behind the CIE: the highest bit of 4 bytes with a sign.
    data[frames + 4 + int.from_bytes(data[frames:frames + 4], "little") + 15] = 0x80
    with open(bad, "wb") as file:
        file.write(data)
    made = run(tool, "report", "--json", "-o", report, bad)
    whole = schema_lib.read(report)
    code = whole["files"][0]["code"]
    check(made.returncode == 0 and code["with_cfi"] == 2 ** 63 - 1 and min(numbers(whole)) >= 0,
          "a range of almost all addresses: no number is negative", made.stderr)
    made = run(tool, "merge", report, shutil.copy(report, report + ".copy"))
    check(made.returncode == 0 and schema_lib.document(made.stdout)["summary"]["code"]["with_cfi"] == 2 ** 63 - 1,
          "and joined twice it is as large as a sum can be", made.stderr)
    made = [run(tool, "report", "--html", bad), run(tool, "diff", report, report)]
    check([one.returncode for one in made] == [0, 0], "and a page and a comparison can be made", [one.stderr for one in made])
    code |= {"covered": 2 ** 63 - 1, "plt_template": 2 ** 63 - 1, "executable": 2 ** 63 - 1}
    with open(report, "w", encoding="utf-8") as file:
        json.dump(whole, file)
    made = run(tool, "merge", report)
    check(made.returncode == 0 and min(numbers(schema_lib.document(made.stdout))) >= 0, "nor are shares of what others report",
          made.stdout[-300:])
    for files in ((bad, bad), (bad, bad, program)):
        made = run(tool, "report", *files)
        check(made.returncode == 0 and not re.search(r"-[0-9.]+ ?%", made.stdout)
              and re.search(rf"^ +<0\.01% .* {len(files)} files$", made.stdout, re.M),
              f"and a table of {len(files)} files has no negative share", made.stdout)


def long_name(tool, work):
    """A name that each gap of its function repeats."""
    name, tree, report = "f" * 30000, os.path.join(work, "long"), os.path.join(work, "long.json")
    os.mkdir(tree)
    with open(tree + ".s", "w", encoding="utf-8") as file:
        file.write(f".globl {name}\n.type {name},@function\n{name}: .cfi_startproc\n" +
                   "nop\n.cfi_def_cfa %r10, 16\nnop\n.cfi_def_cfa %rsp, 8\n" * 4000 + f".cfi_endproc\n.size {name},.-{name}\n")
    must("gcc", "-shared", "-nostdlib", "-o", f"{tree}/long.so", tree + ".s")
    pid = os.posix_spawn(tool, [tool, "tree", "convert", "-q", tree], os.environ)
    _, status, used = os.wait4(pid, 0)
    check(status == 0 and used.ru_maxrss < 100000, "a tree needs no memory for lists that nobody asked for", (status, used.ru_maxrss))
    made = run(tool, "tree", "report", "--json", "-o", report, tree)
    names = {gap["name"] for gap in schema_lib.read(report)["files"][0]["gaps"]}
    check(made.returncode == 0 and names == {"f" * 4096}, "a long name is cut", made.stderr)


def later(tool):
    """A report of version 3 covers more by just what that of version 2 says of its gaps."""
    file = must("gcc", "-print-file-name=libc.so.6").strip()
    old, new = (schema_lib.document(run(tool, "report", "--json", f"--format={version}", file).stdout)["files"][0] for version in "23")
    more = new["code"]["covered"] - old["code"]["covered"]
    check(sum(gap.get("with_format_3", 0) for gap in old["gaps"]) == more > 0, "the gaps say what version 3 adds", more)
    check(not any("with_format_3" in gap for gap in new["gaps"]) and new["gaps"], "and nothing where it is asked for", new["gaps"])


def main():
    tool, program = sys.argv[1], os.path.realpath("/bin/ls")
    with tempfile.TemporaryDirectory() as work:
        out, side, latin = (os.path.join(work, n) for n in ("out", "side.json", "lat\udce9n"))
        made = run(tool, "-v", f"--report-file={side}", program, out)
        file = schema_lib.read(side)["files"][0]
        text = run(tool, "report", program).stdout
        check(made.returncode == 0 and file["status"] == 0, "a conversion writes it")
        check(file["sizes"][".sframe"] == sections(out)[".sframe"].size, "size of .sframe")
        check(file["sizes"][".eh_frame"] == sections(program)[".eh_frame"].size, "size of .eh_frame")
        check(file["sizes"][".eh_frame_hdr"] == sections(program)[".eh_frame_hdr"].size, "size of .eh_frame_hdr")
        check(f"{file['code']['with_cfi']} bytes, {file['code']['covered']} covered" in text, "code")
        method = file["method"]
        check(
            f"method: {method['name']}\n" in made.stdout
            and method["file_size"] == os.path.getsize(out)
            and all(f"method {m} does not apply: {why}" in made.stdout for m, why in method["not_by"].items()),
            "method",
        )
        huge(tool, program, work)
        long_name(tool, work)
        later(tool)
        gaps = sum(g["size"] for g in file["gaps"])
        refused = sum(r["bytes"] for r in file["refused"].values())
        check(gaps == refused > 0, "gaps and refusals add up")
        check(file["code"]["with_cfi"] - file["code"]["covered"] == refused, "and are the rest")

        for how in ("--optimize=none", "--optimize=share", "--optimize=size"):
            for version in "123":
                said = run(tool, "report", "--json", how, f"--format={version}", program).stdout
                file = schema_lib.document(said)["files"][0]
                counts, sizes = file["counts"], file["sizes"]
                # The header, and the entry that the version has for a function.
                entry = {"1": 17, "2": 20, "3": 16}[version]
                check(
                    sizes["sframe_index"] == 28 + entry * counts["sframe_functions"]
                    and sizes["sframe_index"] + sizes["sframe_rows"] == sizes[".sframe"],
                    f"{how}, version {version}: sizes add up",
                )
                check(
                    ("sframe_rows_before_joining" in counts) == (how != "--optimize=none"),
                    f"{how}: joined or not",
                )

        with open(latin, "w") as other:
            other.write("not an ELF file, and longer than the sixty-four bytes of an ELF header")
        both = run(tool, "report", "--json", program, latin)
        files = schema_lib.document(both.stdout)["files"]
        check(both.returncode == 1 and [f["status"] for f in files] == [0, 1], "a file that fails")
        check(files[1]["path"].endswith("lat?n"), "a name not in UTF-8")
        # What a terminal would obey: DEL, and U+009B, which begins a sequence. A letter of UTF-8 stays.
        odd = os.path.join(work, "o\x7f\x9b31m\xe9")
        shutil.copy(program, odd)
        made = [run(tool, "report", "--json", odd).stdout, run(tool, f"--report-file={side}", "-q", odd, out), open(side).read(),
                run(tool, "merge", side).stdout]
        check(all("\x7f" not in text and "\x9b" not in text and "\xe9" in text
                  and schema_lib.document(text)["files"][0]["path"] == odd for text in (made[0], *made[2:])),
              "control characters of a name are escapes in JSON", made)
        low = run(tool, "report", "--json", "--min-coverage=100", "--min-coverage-of=text", program)
        files = schema_lib.document(low.stdout)["files"]
        check(low.returncode == 5 and [f["status"] for f in files] == [5], "coverage too low")
        with open(side, "w", encoding="utf-8") as log:
            print("older line", file=log, flush=True)
            subprocess.run([tool, "report", "--json", "-o", "/dev/stdout", program], stdout=log, check=True)
        check(open(side).read().startswith("older line\n{"), "/dev/stdout is standard output, which is not emptied")
        full = run(tool, "report", "--json", "-o", "/dev/full", program)
        check(full.returncode == 3, "no space for the report")
    plan()


if __name__ == "__main__":
    main()
