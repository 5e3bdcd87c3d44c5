#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every JSON report has the schema that docs/report.schema.json publishes, which allows no member that it does
not describe. TAP.

    report_schema.py EH2SFRAME VECTORS
"""

import copy
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import schema_lib
from tap import check, must, plan, run, skip_all

try:
    import jsonschema
except ImportError:
    skip_all("no python3-jsonschema")

TOOL, VECTORS = (os.path.realpath(path) for path in sys.argv[1:])

# The gap begins where the function before it ends.
NEXT = """
	.globl first, _Z6secondv
	.type first, @function
	.type _Z6secondv, @function
first:	.cfi_startproc
	nop
	ret
	.cfi_endproc
	.size first, . - first
_Z6secondv:	.cfi_startproc
	.cfi_def_cfa rax, 8
	ret
	.cfi_endproc
	.size _Z6secondv, . - _Z6secondv
	.section .note.GNU-stack,"",@progbits
"""


def check_rules(path, gaps):
    """Each gap has the offset of its FDE, and the CFA of its first row, as readelf prints them."""
    wrong, fdes, rows = [], {}, None
    for line in must("readelf", "--debug-dump=frames-interp", path).split("\n"):
        if found := re.match(r"([0-9a-f]+) [0-9a-f]+ [0-9a-f]+ FDE cie=\w+ pc=([0-9a-f]+)", line):
            rows = []
            fdes[int(found[1], 16)] = int(found[2], 16), rows
        elif rows is not None and (found := re.match(r"([0-9a-f]{16}) (\S+)", line)):
            rows.append((int(found[1], 16), found[2]))
    for gap in gaps:
        start, (function, rows) = int(gap["start"], 16), fdes.get(int(gap["cfi"], 16), (None, []))
        cfa = [text for at, text in rows if at <= start][-1:]
        # What is no register with an offset is "exp" there.
        said = re.match(r"CFA = (\w+)(?: ([-+]) (\d+))?(?:,|$)", gap["rule"])
        said = "".join((said[1], said[2] or "+", said[3] or "0")) if said and said[1] != "expression" else "exp"
        if function != int(gap["function"], 16) or cfa != [said]:
            wrong.append(f"{gap}: {function}, {cfa}, {said}")
    check(not wrong, f"{os.path.basename(path)}: FDE and CFA of {len(gaps)} gaps are those of readelf", "\n".join(wrong))


def unclosed(schema, path="schema"):
    """Yields the objects of a schema that may have any member, and the lists that may have any entry."""
    if isinstance(schema, dict):
        if schema.get("type") == "object" and "additionalProperties" not in schema:
            yield path
        if schema.get("type") == "array" and "items" not in schema:
            yield path
    for name, part in schema.items() if isinstance(schema, dict) else ():
        yield from unclosed(part, f"{path}.{name}")


def main():
    jsonschema.Draft202012Validator.check_schema(schema_lib.published())
    left = list(unclosed(schema_lib.published()))
    check(not left, "each object of the schema is closed", left)

    def valid(name, text, wanted=True):
        try:
            document = json.loads(text)
        except ValueError as why:
            check(False, name, f"{why}: {text[:500]}")
            return None
        wrong = schema_lib.faults(document)
        check(bool(wrong) != wanted, name, "\n".join(wrong[:5]))
        return document

    library = os.path.realpath("/usr/lib/x86_64-linux-gnu/libcrypto.so.3")
    programs = [path for path in ("/bin/ls", "/bin/bash", library) if os.path.exists(path)]
    vectors = sorted(glob.glob(os.path.join(VECTORS, "**", "*.elf"), recursive=True))[:400]
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        check(len(vectors) > 50, "there are vectors")
        document = valid("programs", run(TOOL, "report", "--json", *programs).stdout)
        valid("verbose", run(TOOL, "report", "--json", "-v", *programs).stdout)
        for version in "123":
            for how in ("none", "share", "size"):
                said = run(TOOL, "report", "--json", f"--format={version}", f"--optimize={how}", "/bin/ls")
                valid(f"version {version}, {how}", said.stdout)
        valid("vectors, with failures", run(TOOL, "report", "--json", "--", *vectors, "/etc/passwd").stdout)
        # A function whose CFI the code contradicts; the machine needs no library to be decoded.
        wrong = next((path for path in vectors if path.endswith("code_disagrees.elf")), None)
        for policy in ("refuse", "repair") if wrong else ():
            one = valid(f"--code={policy}", run(TOOL, "report", "--json", f"--code={policy}", wrong).stdout)["files"][0]
            rule = one["corrections"][0]["rule"]
            check(rule == ("CFA = sp" if policy == "repair" else None), f"--code={policy} has the rule", str(rule))
            said = one["code"]["repaired"]
            check(said == (8 if policy == "repair" else 0), f"--code={policy} counts bytes", str(said))
        valid("no pattern matches", run(TOOL, "report", "--json", "--exclude-symbol=no_such", "/bin/ls").stdout)
        run(TOOL, "-q", "--report-file=one.json", "/bin/ls", "ls")
        with open("one.json", encoding="utf-8") as file:
            valid("a conversion", file.read())
        os.mkdir("tree")
        for path in programs:
            shutil.copy(path, "tree")
        with open("tree/no-elf", "w", encoding="utf-8") as file:
            file.write("text")
        with open("tree/damaged", "wb") as file:
            file.write(b"\x7fELF" + b"\xff" * 100)
        for again in ("first", "again"):
            run(TOOL, "tree", "convert", "-q", "--report-file=tree.json", "tree")
            with open("tree.json", encoding="utf-8") as file:
                valid(f"tree, {again}", file.read())
        valid("merge", run(TOOL, "merge", "one.json", "tree.json").stdout)
        subprocess.run(["gcc", "-c", "-x", "assembler", "-", "-o", "tree/next.o"], input=NEXT, text=True, check=True)
        for name, *argv in (
            ("an object", "report", "--json", "-v", "tree/next.o"),
            ("an object, converted", "-q", "tree/next.o", "next.sframe"),
            ("a bare section", "section", "-q", "--exclude-symbol=no_such", "/bin/ls", "section"),
            ("rows of the code", "report", "--json", "--source=derived", *programs[:2]),
            ("rows of the code, too", "report", "--json", "-v", "--derive", "--code=repair", *programs[:2]),
            ("a gate that fails", "report", "--json", "--min-coverage=100", "--min-coverage-of=text", *programs),
            ("an old report", "report", "--json", "--baseline=one.json", "/bin/ls"),
            ("check", "check", "--json", *programs, "/etc/passwd"),
            ("tree report", "tree", "report", "--json", "tree"),
            ("tree check", "tree", "check", "tree"),
            ("tree, nothing converted", "tree", "convert", "--dry-run", "--refresh", "tree"),
        ):
            said = run(TOOL, *argv, *(() if "--json" in argv else ("--report-file=kind.json",)))
            if "--json" not in argv:
                with open("kind.json", encoding="utf-8") as file:
                    said.stdout = file.read()
                os.remove("kind.json")
            kind = valid(name, said.stdout)
            if name.startswith("rows") and "build it with Zydis" not in said.stderr:
                check(any(file["code"].get("derived") for file in kind["files"]), f"{name}: some are derived")

        # What the members count, held against the file.
        for path, file in zip(programs, document["files"]):
            code = file["code"]
            name = os.path.basename(path)
            refused = sum(one["bytes"] for one in file["refused"].values())
            rest = code["executable"] - code["with_cfi"] - code["plt_template"]
            inside = sum(one["size"] for one in file["without_cfi"])
            check(code["covered"] + refused == code["with_cfi"], f"{name}: covered and refused")
            check(inside == code["without_cfi"] + code["data"], f"{name}: code without CFI and data")
            check(rest == inside + code["padding_in_code"], f"{name}: executable is the sum of its parts")
            # Lines of `readelf -S`: [number] name type address offset size entries flags.
            lines = re.findall(
                r"^ *\[ *\d+\] (\S+) +\S+ +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) \S+ +(\w*X\w*) ",
                must("readelf", "-SW", path),
                re.M,
            )
            check(
                [(s["name"], s["size"]) for s in file["sections"]]
                == [(section, int(size, 16)) for section, size, _ in lines]
                and lines,
                f"{name}: executable sections",
                file["sections"],
            )

        for path, file in zip(programs, document["files"]):
            check_rules(path, file["gaps"])
        subprocess.run(["gcc", "-shared", "-nostdlib", "-x", "assembler", "-", "-o", "next.so"], input=NEXT,
                       text=True, check=True)
        gaps = schema_lib.document(must(TOOL, "report", "--json", "next.so"))["files"][0]["gaps"]
        check([(gap["name"], gap["symbol"]) for gap in gaps] == [("second()", "_Z6secondv")], "a function behind another has a gap", gaps)
        check_rules("next.so", gaps)

        # The validator finds what is wrong.
        for change in (
            lambda d: d.pop("schema"),
            lambda d: d["files"][0].pop("status"),
            lambda d: d["files"][0].update(status=9),
            lambda d: d["files"][0]["counts"].update(fdes=-1),
            lambda d: d["files"][0]["code"].update(covered="all"),
            lambda d: d["files"][0]["gaps"][0].update(start=7),
            lambda d: d["files"][0].update(undescribed=1),
        ):
            wrong = copy.deepcopy(document)
            change(wrong)
            valid("a wrong document is refused", json.dumps(wrong), False)
        os.chdir("/")
    plan()


if __name__ == "__main__":
    main()
