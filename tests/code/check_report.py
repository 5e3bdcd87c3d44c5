#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The reports of eh2sframe check: JSON against the text and the published schema, sums over trees, and --baseline. TAP.

    check_report.py EH2SFRAME FIXTURES
"""
import json
import os
import re
import shutil
import sys
import tempfile

import schema_lib
from sframe_text import Section
from tap import check, must, plan, run, skip, skip_all

TOOL, FIXTURES = (os.path.realpath(path) for path in sys.argv[1:])
CONTRADICTED, WORSE = 4, 5
# Of a machine that needs no library to be decoded.
AS, LD, STRIP = (f"aarch64-linux-gnu-{tool}" for tool in ("as", "ld", "strip"))
FAULT = re.compile(r"^\S+: (0x[0-9a-f]+)[^,]*, (\d+) instructions?: (.*?)(?:; the code gives (.*))? \((\w+)\)$", re.M)
DOUBT = re.compile(r"^\S+: (0x[0-9a-f]+)[^:]*: (unknown|review): (.*)$", re.M)
COUNTS = re.compile(r"(\d+) to review, (\d+) unknown, (\d+) contradicts? it; .*?(?:; (\d+) not looked at)?$", re.M)
COLUMNS = "CFA", "return address", "frame pointer"


def document(name, text):
    """The report, which has the published schema."""
    try:
        report = json.loads(text)
    except ValueError as why:
        check(False, name, f"{why}: {text[:500]}")
        plan()
    schema_lib.valid(report, name)
    return report


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def column(what):
    return next(name for name in COLUMNS if what.startswith(name))


def fixture(machine):
    """The functions of check_code.py, in a library; None without tools."""
    prefix = "" if machine == os.uname().machine else f"{machine}-linux-gnu-"
    if not shutil.which(prefix + "gcc"):
        return None
    path = machine + ".so"
    must(prefix + "gcc", "-c", os.path.join(FIXTURES, machine + ".S"), "-o", "fixture.o")
    must(prefix + "ld", "-shared", "fixture.o", "-o", path)
    return path


def json_and_text(path):
    """JSON has what -v prints."""
    said = run(TOOL, "check", "-v", path)
    made = run(TOOL, "check", "--json", path)
    file = document(path, made.stdout)["files"][0]
    counts = file["check"]
    check(made.returncode == said.returncode == file["status"] == CONTRADICTED, f"{path}: the status", made.returncode)
    # Where the same instruction begins two faults, their order is not told.
    wanted = sorted((at, int(n), kind, column(what), gives or None)
                    for at, n, what, gives, kind in FAULT.findall(said.stdout))
    found = sorted((one["start"], one["instructions"], one["kind"], one["column"], one["repair"]) for one in file["faults"])
    check(found == wanted and len(found) > 4, f"{path}: faults", f"{found}\nnot {wanted}")
    wanted = sorted(DOUBT.findall(said.stdout))
    found = sorted((one["start"], one["verdict"], one["reason"]) for one in file["doubts"])
    check(found == wanted and found, f"{path}: doubts", f"{found}\nnot {wanted}")
    wanted = [int(one or 0) for one in COUNTS.search(said.stdout).groups()]
    found = [counts[name] for name in ("review", "unknown", "contradicts", "not_looked_at")]
    check(found == wanted and counts["fdes"] == counts["confirmed"] + sum(found[:3]), f"{path}: counts", counts)
    check(len({one["function"] for one in file["faults"]}) == counts["contradicts"]
          and len(file["doubts"]) == counts["review"] + counts["unknown"], f"{path}: one FDE each")
    groups = {}
    for one in file["faults"]:
        group = groups.setdefault(f"{one['kind']} {one['column']}", [set(), 0])
        group[0].add(one["function"])
        group[1] += one["instructions"]
    groups = {name: {"functions": len(functions), "instructions": n} for name, (functions, n) in groups.items()}
    check(counts["groups"] == groups, f"{path}: groups", f"{counts['groups']}\nnot {groups}")
    lines = run(TOOL, "check", path).stdout
    told = {name: {"functions": int(functions), "instructions": int(n)} for name, n, functions in
            re.findall(r"^\S+: (\w+ [\w ]+): (\d+) instructions? of (\d+) functions? \(", lines, re.M)}
    check(told == groups, f"{path}: a line for each group", lines)
    for one in file["faults"]:
        high = int(one["found"].replace("CFA", "").replace(" ", "") or 0) if one["found"].startswith("CFA") else None
        rule = re.fullmatch(r"(\w+)(?: ([-+] \d+))?", one["rule"])
        right = re.match(r"CFA = (\w+)(?: ([-+] \d+))?(?:,|$)", one["repair"] or "")
        if one["column"] == "CFA" and high and rule and right and rule[1] == right[1]:
            distance = [int((offset or "0").replace(" ", "")) for offset in (rule[2], right[2])]
            check(distance[0] - distance[1] == high, f"{path}: {one['start']}: rule, row and found agree", one)
    return file


def beyond(file):
    """The ranges of rows that no CFI gives; PLTs have theirs whatever --code says."""
    return [one for one in file.get("not_by_cfi", []) if one["kind"] != "template"]


def bytes_of(ranges):
    return {at for one in ranges for at in range(int(one["start"], 16), int(one["start"], 16) + one["size"])}


def repairs(path, file):
    """What can be repaired is what --code=repair writes; the report names these rows, and no others."""
    out = path + ".out"
    apart, last = [], 0
    for one in file["faults"]:
        # Instructions that jumps into each other lead to can overlap; then the first counts.
        if int(one["start"], 16) >= last:
            apart.append(one)
            last = int(one["start"], 16) + one["size"]
    fixed = [(int(one["start"], 16), int(one["start"], 16) + one["size"]) for one in apart if one["repair"]]
    report = schema_lib.document(must(TOOL, "report", "--json", "--code=repair", path))["files"][0]
    corrected = {one["start"]: one["rule"] for one in report["corrections"] if one["rule"]}
    check(corrected == {one["start"]: one["repair"] for one in apart if one["repair"]},
          f"{path}: the rows that --code=repair writes", corrected)
    for version in ("2", "3"):
        must(TOOL, "-q", "--code=repair", f"--format={version}", "--report-file=beside", path, out)
        rows = {at for pc, (size, _, _) in Section(must(TOOL, "dump", out)).funcs.items() for at in range(pc, pc + size)}
        ranges = beyond(document(f"{path}: version {version}", read("beside"))["files"][0])
        named = bytes_of(ranges)
        wanted = {at for start, end in fixed for at in range(start, end)} & rows
        check(named == wanted and named, f"{path}: version {version}: ranges of rows", f"{named ^ wanted}")
        check({one["kind"] for one in ranges} == {"repaired"}, f"{path}: version {version}: no row is derived", ranges)
        functions = {one["function"] for one in file["faults"] if one["repair"]}
        check({one["function"] for one in ranges} <= functions, f"{path}: version {version}: their functions", ranges)
        listed = must(TOOL, "report", "--functions", "--code=repair", f"--format={version}", path)
        found = re.findall(r"^  (0x[0-9a-f]+) +([0-9]+) bytes? +(repaired) ", listed, re.M)
        check(found == [(one["start"], str(one["size"]), one["kind"]) for one in ranges], f"{path}: version {version}: --functions",
              listed)
    for policy in ("ignore", "refuse"):
        ranges = beyond(schema_lib.document(must(TOOL, "report", "--json", f"--code={policy}", path))["files"][0])
        check(not ranges, f"{path}: no range with --code={policy}", ranges)


RIGHT, WRONG = "16", "32"


def build(path, functions, *options):
    """A library of functions (name, offset): the CFA is right with 16. Without a name: no symbol."""
    text = []
    for i, (name, offset) in enumerate(functions):
        text.append(f"""
	.balign 16
	.type "{name or f'.Lnone{i}'}", %function
"{name or f'.Lnone{i}'}":
	.cfi_startproc
	sub sp, sp, #16
	.cfi_def_cfa_offset {offset}
	mov x0, x1
	add sp, sp, #16
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size "{name or f'.Lnone{i}'}", . - "{name or f'.Lnone{i}'}"
""")
    with open("one.s", "w", encoding="utf-8") as file:
        file.write("".join(text))
    must(AS, "one.s", "-o", "one.o")
    must(LD, "-shared", *options, "one.o", "-o", path)


def worse(said, *names):
    """Exactly these functions are newly wrong."""
    found = re.findall(r"newly contradicted: (.*), \w+ CFA, 8 bytes$", said.stderr, re.M)
    ok = said.returncode == (WORSE if names else 0) and found == list(names)
    return check(ok, f"newly wrong: {', '.join(names) or 'no function'}", f"{said.returncode}: {said.stderr}")


def baselines():
    """Functions that are newly wrong, whatever their addresses are."""
    build("old.so", [("a", RIGHT), ("b", WRONG), ("c", RIGHT)])
    build("moved.so", [("c", RIGHT), ("new", RIGHT), ("b", WRONG), ("a", RIGHT)], "-Ttext-segment=0x500000")
    build("worse.so", [("c", WRONG), ("new", WRONG), ("b", WRONG), ("a", RIGHT)], "-Ttext-segment=0x500000")
    build("twice.so", [("b", WRONG), ("b2", RIGHT), ("b3", WRONG)])
    run(TOOL, "check", "--json", "-o", "old.json", "old.so")
    document("the old report", read("old.json"))
    worse(run(TOOL, "check", "--baseline=old.json", "old.so"))
    worse(run(TOOL, "check", "--baseline=old.json", "moved.so"))
    said = run(TOOL, "check", "-q", "--baseline=old.json", "worse.so")
    worse(said, "c", "new")
    check("2 functions are worse off than in old.json" in said.stderr, "how many", said.stderr)
    made = run(TOOL, "check", "--json", "--baseline=old.json", "worse.so")
    worse(made, "c", "new")
    check(document("with an old report", made.stdout)["files"][0]["status"] == WORSE, "the status is in the report")
    run(TOOL, "check", "--json", "-o", "worse.json", "worse.so")
    said = run(TOOL, "check", "--baseline=worse.json", "old.so")
    check(said.returncode == 0 and said.stderr.count("no longer contradicted: ") == 2, "what is better does not fail", said.stderr)
    said = run(TOOL, "diff", "old.json", "worse.json")
    check("newly contradicted: c, " in said.stdout and "2 functions are worse off, 0 better off" in said.stdout,
          "diff", said.stdout)
    # Of one name, the number counts.
    for name in ("once.so", "twice.so"):
        text = [("same", WRONG), ("x", RIGHT)] if name == "once.so" else [("same", WRONG), ("sam2", WRONG)]
        build(name, text)
    must("sed", "-i", "s/sam2/same/", "twice.so")
    run(TOOL, "check", "--json", "-o", "once.json", "once.so")
    said = run(TOOL, "check", "--baseline=once.json", "twice.so")
    check(said.returncode == WORSE and "newly contradicted: same, " in said.stderr, "a second function of one name", said.stderr)
    # Without a symbol the place in the file counts, not the address.
    for name, offset, where in (("first", RIGHT, "0x10000"), ("again", RIGHT, "0x700000"), ("other", WRONG, "0x700000")):
        build(name, [(None, WRONG), (None, RIGHT), (None, offset)], f"-Ttext-segment={where}")
        must(STRIP, name)
    run(TOOL, "check", "--json", "-o", "first.json", "first")
    one = document("without symbols", read("first.json"))["files"][0]["faults"][0]
    check("name" not in one and int(one["offset"], 16) + 0x10000 == int(one["function"], 16), "an offset", one)
    worse(run(TOOL, "check", "--baseline=first.json", "again"))
    said = run(TOOL, "check", "--baseline=first.json", "other")
    check(said.returncode == WORSE and said.stderr.count("newly contradicted: 0x7") == 1, "without a symbol", said.stderr)
    # Reports of the other kind.
    must(TOOL, "report", "--json", "-o", "coverage.json", "old.so")
    said = run(TOOL, "check", "--baseline=coverage.json", "old.so")
    check(said.returncode == 1 and "make it with eh2sframe check" in said.stderr, "a report of coverage", said.stderr)
    said = run(TOOL, "report", "--baseline=old.json", "old.so")
    check(said.returncode == 1 and "by eh2sframe report" in said.stderr, "a report of a check", said.stderr)


def trees():
    """One object for each file, as for itself; sums, whatever the number of processes is."""
    shutil.rmtree("tree", ignore_errors=True)
    os.mkdir("tree")
    build("tree/a.so", [("a", RIGHT), ("b", WRONG)])
    build("tree/b.so", [("b", WRONG), ("c", WRONG)])
    build("tree/c.so", [("x", RIGHT)])
    must("aarch64-linux-gnu-objcopy", "--remove-section=.eh_frame", "tree/c.so", "tree/d.so")
    with open("tree/damaged", "wb") as file:
        file.write(b"\x7fELF" + b"\xff" * 100)
    said = run(TOOL, "tree", "check", "-j2", "--report-file=tree.json", "tree")
    report = document("a tree", read("tree.json"))
    files = {file["path"]: file for file in report["files"]}
    check([file["status"] for file in report["files"]] == [4, 4, 0, 6, 1] and said.returncode == CONTRADICTED, "its statuses", files)
    for path in ("tree/a.so", "tree/b.so", "tree/c.so"):
        alone = schema_lib.document(run(TOOL, "check", "--json", path).stdout)["files"][0]
        check(files[path] == alone, f"{path} is as alone", files[path])
    sums = report["summary"]["check"]
    parts = [file["check"] for file in report["files"] if "check" in file]
    check(sums["files"] == len(parts) == 3 and all(sums[name] == sum(one[name] for one in parts)
          for name in parts[0] if name != "groups"), "the summary is their sum", sums)
    (name, group), = sums["groups"].items()
    check(group == {"files": 2, "functions": 3, "instructions": 3 * parts[0]["groups"][name]["instructions"]}, "one group", sums)
    lines = said.stdout.splitlines()
    check(lines[-3] == f"{name}: {group['instructions']} instructions of 3 functions in 2 files"
          and lines[-2].startswith("5 FDEs of 3 files: 40.00 % confirmed by the code, 0 to review, 0 unknown, 3 contradict it; "),
          "lines of sums", said.stdout)
    check(lines[-1] == "1 not contradicted, 1 skipped (no-cfi 1), 3 failed, 0 not ELF", "the last line", said.stdout)
    again = run(TOOL, "tree", "check", "-j1", "--report-file=again.json", "tree")
    check(again.stdout == said.stdout and read("again.json") == read("tree.json"), "by one process", again.stdout)
    plain = run(TOOL, "tree", "check", "tree")
    check(plain.stdout == said.stdout, "without a report", plain.stdout)
    for path in ("a.so", "b.so", "rest"):
        choice = [f"--include={path}"] if path != "rest" else ["--exclude=a.so", "--exclude=b.so"]
        run(TOOL, "tree", "check", "-q", f"--report-file={path}.json", *choice, "tree")
    merged = schema_lib.document(must(TOOL, "merge", "rest.json", "b.so.json", "a.so.json"))
    del merged["summary"]["excluded"], report["summary"]["excluded"]
    check(merged == report, "merge of parts", merged)
    # What was wrong before passes.
    build("tree/c.so", [("x", WRONG)])
    os.remove("tree/damaged")
    said = run(TOOL, "tree", "check", "--baseline=tree.json", "--report-file=new.json", "tree")
    worse(said, "x")
    report = document("a tree with an old report", read("new.json"))
    check([file["status"] for file in report["files"]] == [0, 0, 5, 6] and len(report["files"][2]["faults"]) == 1, "its statuses")
    check("2 no worse, 1 skipped" in said.stdout and "tree/a.so" not in said.stdout, "and the text", said.stdout)


def pages():
    """A page has the data of the JSON report; one of a tree comes from its report."""
    for name, argv, wanted in (
        ("two files", ("check", "old.so", "worse.so"), run(TOOL, "check", "--json", "old.so", "worse.so").stdout),
        ("an old report", ("check", "--baseline=old.json", "worse.so"),
         run(TOOL, "check", "--json", "--baseline=old.json", "worse.so").stdout),
        ("a tree", ("merge", "tree.json"), read("tree.json")),
    ):
        made = run(TOOL, *argv, "--html")
        data = json.loads(re.search(r'<script type="application/json" id="report">(.*?)</script>', made.stdout, re.S)[1])
        wanted = json.loads(wanted)
        schema_lib.valid(data, f"a page of {name}")
        check(data["files"] == wanted["files"], f"a page of {name} has its files", data["files"])
        check("check" in data["summary"] and "code" not in data["summary"]
              and data["summary"]["check"] == wanted.get("summary", data["summary"])["check"], "and the sums", data["summary"])


def usage():
    """What does not go together, and what cannot be checked."""
    for argv, words in (
        (["tree", "check", "--html", "tree"], "no option --html"),
        (["tree", "check", "-o", "x", "tree"], "no option -o"),
        (["check", "--report-file=x", "old.so"], "no option --report-file"),
        (["check", "--functions", "old.so"], "no option --functions"),
        (["check", "--json", "--html", "old.so"], "--html"),
    ):
        said = run(TOOL, *argv)
        check(said.returncode == 2 and words in said.stderr and not said.stdout, " ".join(argv), said)
    same = [run(TOOL, *argv, "old.so").stdout for argv in
            (("check", "--json"), ("check", "-v", "--json", "-q"), ("check", "--json", "-j1"))]
    check(len(set(same)) == 1 and same[0], "the order of options, and the number of threads")
    shutil.copy("one.o", "object.o")
    made = run(TOOL, "check", "--json", "missing", "object.o", "tree/d.so", "old.so")
    files = document("failures", made.stdout)["files"]
    check(files[1]["faults"][0]["start"] == ".text+0x4", "an object has sections", files[1])
    check([file["status"] for file in files] == [3, 4, 6, 4] and made.returncode == CONTRADICTED, "their statuses", files)
    check(run(TOOL, "check", "--json", "-o", "/dev/full", "old.so").returncode == 4, "no room, and worse")
    build("right.so", [("x", RIGHT)])
    check(run(TOOL, "check", "--json", "-o", "/dev/full", "right.so").returncode == 3, "no room")
    check(run(TOOL, "check", "-o", "old.so", "old.so").returncode == 2, "not over an input")


def main():
    if not shutil.which(AS):
        skip_all(f"{AS} is not installed")
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for machine in ("aarch64", "s390x", "x86_64"):
            path = fixture(machine)
            if not path:
                skip(machine, f"needs {machine}-linux-gnu-gcc")
                continue
            if "build it with Zydis" in run(TOOL, "check", path).stderr:
                skip(machine, "needs a build with Zydis")
                continue
            repairs(path, json_and_text(path))
        baselines()
        trees()
        pages()
        usage()
        os.chdir("/")
    plan()


main()
