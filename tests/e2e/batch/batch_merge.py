#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""eh2sframe merge: the reports of the parts of a tree make the report of the tree. TAP.

    batch_merge.py EH2SFRAME ROOT
"""

import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys

import schema_lib
from batch_lib import copy, digest, programs, remove, run, scratch
from tap import check, plan, read, skip

TOOL = os.path.realpath(sys.argv[1])
ROOT = os.path.realpath(sys.argv[2])


def make_tree(top):
    """Files for which there is something to do, nothing to do, and too much."""
    names = []
    for i, path in enumerate(programs(24)):
        where = f"{top}/{'abc'[i % 3]}/{i % 2}"
        os.makedirs(where, exist_ok=True)
        name = f"{where}/{os.path.basename(path)}"
        subprocess.run(["cp", path, name], check=True)
        names.append(name)
    for name, data in (("text", b"text"), ("tree\ntext", b"x"), ("broken", read("/bin/ls")[:5000])):
        with open(f"{top}/{name}", "wb") as file:
            file.write(data)
        names.append(f"{top}/{name}")
    with open(f"{top}/object.o", "wb") as file:
        file.write(read("/bin/ls")[:16] + b"\1\0" + read("/bin/ls")[18:])
    subprocess.run(["cp", "/bin/cat", os.fsencode(f"{top}/latin") + b"\xe9"], check=True)
    subprocess.run([TOOL, "-q", "--format=3", "/bin/cat", f"{top}/a/done"], check=True)
    return [os.fsencode(n) for n in names + [f"{top}/object.o", f"{top}/a/done"]] + [os.fsencode(f"{top}/latin") + b"\xe9"]


def batch(report, *paths):
    return run(TOOL, "tree", "convert", "-q", f"--report-file={report}", *paths)


def merge(out, *reports):
    return run(TOOL, "merge", "-q", "-o", out, *reports)


def test_parts():
    names = make_tree("tree")
    copy("tree", "before")
    whole = batch("whole.json", "tree")
    check(whole.status == 1, "a tree with a damaged file", whole)
    rng = random.Random(int(os.environ.get("SEED", "11")))
    for n_parts in (1, 2, 3, 5, 9):
        subprocess.run(["rm", "-rf", "tree"], check=True)
        copy("before", "tree")
        parts = [[] for _ in range(n_parts)]
        for name in names:
            rng.choice(parts).append(name)
        reports = []
        for i, part in enumerate(part for part in parts if part):
            reports.append(f"{n_parts}-{i}.json")
            batch(reports[-1], *part)
        rng.shuffle(reports)
        got = merge("merged.json", *reports)
        check(
            got.status == 0 and read("merged.json") == read("whole.json"),
            f"{len(reports)} parts: byte for byte the report of the tree",
            subprocess.run(["diff", "whole.json", "merged.json"], capture_output=True, text=True, check=False).stdout,
        )
    # In any order, and in steps.
    merge("one.json", *reports[:2])
    merge("two.json", "one.json", *reports[2:])
    check(read("two.json") == read("whole.json"), "merging what was merged")
    subprocess.run(["rm", "-rf", "tree"], check=True)
    copy("before", "tree")
    for directory in "abc":
        batch(f"{directory}.json", f"tree/{directory}")
    rest = [name for name in names if name.count(b"/") == 1]
    batch("rest.json", *rest)
    merge("merged.json", "rest.json", "c.json", "a.json", "b.json")
    check(read("merged.json") == read("whole.json"), "directories")
    got = run(TOOL, "merge", "whole.json")
    check(got.out == read("whole.json") and not got.err, "to standard output", got)
    got = run(TOOL, "merge", "-o", "merged.json", "a.json", "b.json")
    check(got.out.endswith(b"bytes .sframe\n") and got.out.count(b"\n") == 1, "a summary", got)
    check(re.match(rb"\d+ converted, \d+ skipped", got.out), "that says what was converted", got)


def test_sums():
    """The totals are those of the files, added here."""
    report = schema_lib.document(read("whole.json"))
    done = [file for file in report["files"] if file["status"] == 0]
    summary = report["summary"]
    for group in ("counts", "sizes", "code"):
        for name, value in summary[group].items():
            if not name.startswith("percent"):
                check(value == sum(file[group][name] for file in done), f"{group}, {name}")
    code = summary["code"]
    percent = 100 * code["covered"] / (code["with_cfi"] - code["outermost"])
    check(abs(percent - code["percent_of_cfi"]) < 1e-6, "percent of code with CFI")
    covered = code["covered"] + code["plt_template"]
    percent = 100 * covered / (code["executable"] - code["outermost"])
    check(abs(percent - code["percent_of_executable"]) < 1e-6, "percent of executable code")
    refused = {}
    for file in done:
        for reason, counts in file["refused"].items():
            for name in ("functions", "bytes"):
                refused.setdefault(reason, {"functions": 0, "bytes": 0})[name] += counts[name]
    check(refused == summary["refused"] and refused, "refused", summary["refused"])
    check(
        summary["done"] == len(done)
        and summary["skipped"] == {"has-sframe": 1, "relocatable": 1}
        and summary["failed"] == {"1": 1}
        and summary["not_elf"] == 2
        and summary["status"] == 1,
        "what became of the files",
        summary,
    )


def test_plain():
    """Reports of report --json and of conversions merge, too."""
    run(TOOL, "report", "--json", "-o", "plain.json", "/bin/ls", "/bin/cat")
    run(TOOL, "-q", "--report-file=single.json", "/bin/bash", "bash")
    got = merge("merged.json", "plain.json", "single.json")
    files = schema_lib.document(read("merged.json"))["files"]
    alone = schema_lib.document(read("plain.json"))["files"] + schema_lib.document(read("single.json"))["files"]
    check(got.status == 0 and files == sorted(alone, key=lambda file: file["path"]), "reports of single files", got)
    got = run(TOOL, "merge", "-o", "merged.json", "plain.json")
    check(got.out.startswith(b"2 reported, 0 skipped, 0 failed"), "nothing was converted", got)
    got = run(TOOL, "merge", "-o", "merged.json", "plain.json", "single.json")
    check(got.out.startswith(b"1 converted, 2 reported, 0 skipped"), "one was", got)


def test_bad():
    good = schema_lib.document(read("a.json"))

    def bad(name, words, data, status=1):
        if not isinstance(data, bytes):
            data = json.dumps(data).encode()
        with open("bad.json", "wb") as file:
            file.write(data)
        if os.path.exists("out.json"):
            os.unlink("out.json")
        got = merge("out.json", "a.json", "bad.json")
        check(
            got.status == status
            and got.err.startswith(b"eh2sframe: bad.json: ")
            and words in got.err
            and got.err.count(b"\n") == 1
            and not got.out
            and not os.path.exists("out.json"),
            name,
            got,
        )

    def with_file(**members):
        return {**good, "files": [{**good["files"][0], **members}]}

    bad("an empty file", b"not a JSON report: damaged at byte ", b"")
    bad("text", b"not a JSON report: damaged at byte 0; make the report again", b"hello\n\033[2J\n")
    bad("half a report", b"not a JSON report: damaged at byte ", read("a.json")[:-20])
    bad("deep nesting", b"not a JSON report: damaged at byte ", b"[" * 1000000)
    bad("a member twice", b"not a JSON report: damaged at byte ", b'{"tool": "eh2sframe", "tool": "eh2sframe"}')
    bad("files twice", b"not a JSON report: damaged at byte ", json.dumps(good)[:-1].encode() + b', "files": []}')
    bad("not UTF-8", b"not a JSON report: damaged at byte ", b'{"tool": "\xff"}')
    bad("a number that is too large", b"not a JSON report: damaged at byte ", b'{"tool": 99999999999999999999}')
    bad("another value", b"not a JSON report: damaged at byte 0", [1, 2])
    bad("another tool", b"not a report of this program", {**good, "tool": "other"})
    bad("files that are none", b"not a JSON report: damaged at byte ", {**good, "files": {}})
    bad("no files", b"not a report of this program", {name: good[name] for name in good if name != "files"})
    bad("a file that is none", b"files[0]: not an object", {**good, "files": [1]})
    bad("a path that is none", b"files[0]: path is not text", with_file(path=7))
    bad("no status", b"files[0]: status is not an exit status", with_file(status="0"))
    bad("a strange status", b"files[0]: status is not an exit status", with_file(status=8))
    bad("sizes that are none", b"files[0]: sizes is not an object", with_file(sizes=[]))
    bad("a negative count", b"files[0]: covered is not a count", with_file(code={"covered": -1}))
    bad("a fraction", b"files[0]: functions_with_cfi is not a count", with_file(counts={"functions_with_cfi": 0.5}))
    with open("sums.json", "w", encoding="utf-8") as file:
        json.dump({**good, "files": [{**good["files"][0], "path": path, "code": {"covered": 2**63 - 1}} for path in "ab"]}, file)
    got = merge("out.json", "a.json", "sums.json")
    check(got.status == 0 and json.loads(read("out.json"))["summary"]["code"]["covered"] == 2**63 - 1,
          "sums end at 63 bits", got)
    os.symlink("a.json", "again.json")
    for other in ("a.json", "./a.json", "again.json"):
        got = merge("out.json", "a.json", "b.json", other)
        check(got.status == 2 and b"json: is given twice, and would count twice; give it once\n" in got.err,
              f"a report counts once: {other}", got)
    bad("a bad refusal", b"refused.no-cfa is not an object", with_file(refused={"no-cfa": 1}))
    bad("a bad summary", b"summary is not an object", {**good, "summary": []})
    bad("a bad count", b"not_elf is not a count", {**good, "summary": {"not_elf": "1"}})
    got = merge("out.json", "missing.json", "a.json")
    check(
        got.status == 3 and got.err.startswith(b"eh2sframe: missing.json: cannot open: "),
        "a report that does not exist",
        got,
    )
    check(merge("out.json", ".").status == 3, "a directory")
    got = subprocess.run(["sh", "-c", "cat a.json | \"$1\" merge -o pipe.json /dev/stdin", "sh", TOOL],
                         capture_output=True, check=False)
    bare = run(TOOL, "merge", "a.json")
    check(run(TOOL, "merge", "-o", "-", "a.json").out == bare.out, "-o - is standard output", bare)
    with open("escape.json", "w", encoding="utf-8") as file:
        json.dump({**good, "files": [{"path": "x", "status": 6, "skipped": "\033]0;\a"}]}, file)
    out = run(TOOL, "merge", "-o", "out.json", "escape.json").out
    check(b"1 skipped (\\033]0;\\007 1)" in out, "no reason reaches a terminal with control characters", out)
    check(got.returncode == 0 and merge("whole.json", "a.json").status == 0 and read("pipe.json") == read("whole.json"),
          "a pipe", got)
    before = digest("a.json")
    got = merge("a.json", "a.json", "b.json")
    check(got.status == 2 and digest("a.json") == before, "the output is an input", got)
    check(merge("/dev/full", "a.json").status == 3, "no room")
    check(merge("missing/out.json", "a.json").status == 3, "nowhere to write")
    # Memory ran out for one file.
    with open("memory.json", "w", encoding="utf-8") as file:
        json.dump({**good, "files": [{"path": "x", "status": 7, "error": "out of memory"}]}, file)
    got = merge("out.json", "memory.json", "b.json")
    summary = schema_lib.document(read("out.json"))["summary"] if got.status == 0 else None
    check(summary and summary["status"] == 7 and summary["failed"]["7"] == 1, "a file without memory", (got, summary))
    # What a later version adds is kept.
    with open("new.json", "w", encoding="utf-8") as file:
        json.dump(with_file(news={"a": [1, "<&>"]}), file)
    merge("out.json", "new.json")
    check(json.loads(read("out.json"))["files"][0]["news"] == {"a": [1, "<&>"]}, "unknown members")


def test_documented():
    """What docs/TREES.md tells people to write does what it says."""
    with open(f"{ROOT}/docs/TREES.md", encoding="utf-8") as file:
        text = dict(re.findall(r"```(\w+)\n(.*?)```", file.read(), re.S))
    os.makedirs("bin")
    os.symlink(TOOL, "bin/eh2sframe")
    path = {**os.environ, "PATH": f"{os.getcwd()}/bin:{os.environ['PATH']}"}
    for top in ("root/usr", "build/one/usr", "build/two/usr"):
        for name in ("bin/ls", "lib/cat"):
            os.makedirs(f"{top}/{os.path.dirname(name)}")
            subprocess.run(["cp", "/bin/" + os.path.basename(name), f"{top}/{name}"], check=True)
    copy("root", "root.before")
    if shutil.which("ninja"):
        with open("build.ninja", "w", encoding="utf-8") as file:
            file.write(text["ninja"])
        got = subprocess.run(["ninja"], env=path, capture_output=True, text=True, check=False)
        shutil.rmtree("root")
        os.rename("root.before", "root")
        batch("once.json", "root")
        check(got.returncode == 0 and read("all.json") == read("once.json"), "ninja: as one run", got.stdout + got.stderr)
    else:
        skip("ninja", "not installed")
    got = subprocess.run(["sh", "-ec", text["sh"]], env=path, capture_output=True, text=True, check=False)
    report = schema_lib.document(read("archive.json"))
    check(
        got.stdout.startswith("4 converted, 0 skipped, 0 failed")
        and [file["path"] for file in report["files"]]
        == ["usr/bin/ls", "usr/bin/ls", "usr/lib/cat", "usr/lib/cat"],
        "packages",
        got.stdout + got.stderr,
    )
    tree = ast.parse(text["starlark"])
    check([f.name for f in tree.body] == ["sframe_tree", "sframe_package", "sframe_report"], "the Bazel rules can be parsed")


def main():
    top = scratch()
    try:
        test_parts()
        test_sums()
        test_plain()
        test_bad()
        test_documented()
    finally:
        remove(top)
    plan()


if __name__ == "__main__":
    main()
