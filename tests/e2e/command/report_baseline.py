#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--baseline and eh2sframe diff: real pairs, and hostile reports and names. TAP.

    report_baseline.py EH2SFRAME
"""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

import schema_lib
from tap import check, must, plan, run

TOOL = os.path.realpath(sys.argv[1])

# A stack frame that is aligned by itself has a CFA in another register, which version 2 cannot say. A function
# without CFI is one of assembler.
SOURCE = r"""
__attribute__((noinline)) int inner(int n) { return n * 3; }
#ifdef REFUSED
__attribute__((noinline)) int aligned(int n)
{
	_Alignas(64) volatile int a[16];
	int b[n + 1];
	for (int i = 0; i < n; i++)
		a[i & 15] = i;
	b[n] = inner(a[n & 15]);
	return b[n] + a[3];
}
#else
__attribute__((noinline)) int aligned(int n) { return inner(n) + 1; }
#endif
#ifdef BARE
__asm__(".text\n.type bare, @function\nbare: incl %edi\nmov %edi, %eax\nret\n.size bare, .-bare\n");
#else
__attribute__((noinline, used)) static int bare(int n) { return n + 1; }
#endif
int main(int c, char **v) { (void)v; return aligned(c) < 0; }
"""


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def compile_all():
    write("prog.c", SOURCE)
    for name, options in (("plain", []), ("refused", ["-DREFUSED"]), ("bare", ["-DBARE"])):
        subprocess.run(["gcc", "-O2", "-w", *options, "-o", name, "prog.c"], check=True)
        write(f"{name}.json", must(TOOL, "report", "--json", name))
        write(f"{name}-3.json", must(TOOL, "report", "--json", "--format=3", name))


def refused(said, name, status=5):
    return check(
        said.returncode == status and f": newly refused: {name}, cfa-register, " in said.stderr
        and "1 function is worse off than in" in said.stderr,
        "newly refused is found and named",
        said.stderr,
    )


def reports():
    """Pairs of one source, with report in each form."""
    refused(run(TOOL, "report", "--baseline=plain.json", "refused"), "aligned")
    said = run(TOOL, "report", "--json", "--baseline=plain.json", "refused")
    refused(said, "aligned")
    file = schema_lib.document(said.stdout)["files"][0]
    check(file["status"] == 5 and file["gaps"], "JSON has its status and all else")
    said = run(TOOL, "report", "--html", "-o", "page", "--baseline=plain.json", "refused")
    refused(said, "aligned")
    said = run(TOOL, "report", "--baseline=plain.json", "bare")
    check(
        said.returncode == 5 and ": newly without CFI: bare, 5 bytes\n" in said.stderr and "refused" not in said.stderr,
        "code that lost its CFI",
        said.stderr,
    )
    said = run(TOOL, "report", "--baseline=refused.json", "plain")
    check(
        said.returncode == 0 and ": no longer refused: aligned, cfa-register, " in said.stderr,
        "what improved",
        said.stderr,
    )
    said = run(TOOL, "report", "-q", "--baseline=refused.json", "plain")
    check(said.returncode == 0 and not said.stderr, "-q: no word of it", said.stderr)
    said = run(TOOL, "report", "--baseline=bare.json", "plain")
    check(": no longer without CFI: bare, 5 bytes\n" in said.stderr, "code that got CFI", said.stderr)
    for name in ("plain", "refused", "bare"):
        said = run(TOOL, "report", f"--baseline={name}.json", name)
        check(said.returncode == 0 and not said.stderr, f"{name} is as it was", said.stderr)
    said = run(TOOL, "report", "--format=3", "--baseline=refused.json", "refused")
    check(
        said.returncode == 0 and "no longer refused: aligned" in said.stderr and "_start" not in said.stderr,
        "version 3 after version 2: better, but for outermost frames",
        said.stderr,
    )
    refused(run(TOOL, "report", "--baseline=refused-3.json", "refused"), "aligned")
    both = run(TOOL, "report", "--min-coverage=100", "--baseline=plain.json", "refused")
    check(both.returncode == 5 and "newly refused" in both.stderr, "with --min-coverage", both.stderr)
    shutil.copy("refused", "stripped")
    subprocess.run(["strip", "stripped"], check=True)
    said = run(TOOL, "report", "--baseline=plain.json", "stripped")
    check(re.search(r": newly refused: 0x[0-9a-f]+, cfa-register, ", said.stderr), "without a name", said.stderr)
    write("stripped.json", must(TOOL, "report", "--json", "stripped"))
    said = run(TOOL, "report", "--baseline=stripped.json", "stripped")
    check(said.returncode == 0 and not said.stderr, "by its address", said.stderr)


def conversions():
    """A file that fails is not written."""
    for verb in ([], ["section"]):
        what = " ".join(["a conversion", *verb])
        write("out", "before")
        refused(run(TOOL, *verb, "--baseline=plain.json", "refused", "out"), "aligned")
        check(open("out").read() == "before", f"{what}: OUT is as it was")
        said = run(TOOL, *verb, "--baseline=plain.json", "plain", "out")
        must(TOOL, *verb, "plain", "other")
        same = open("out", "rb").read() == open("other", "rb").read()
        check(said.returncode == 0 and same, f"{what}: the usual bytes", said.stderr)
    said = run(TOOL, "-q", "--baseline=refused.json", "--report-file=r.json", "plain", "out")
    check(said.returncode == 0 and "method" in schema_lib.read("r.json")["files"][0], "with --report-file", said.stderr)
    said = run(TOOL, "--baseline=plain.json", "--report-file=r.json", "refused", "out")
    check(said.returncode == 5 and schema_lib.read("r.json")["files"][0]["status"] == 5, "its status is in the report")


def tree(*names):
    shutil.rmtree("tree", ignore_errors=True)
    os.mkdir("tree")
    for i, name in enumerate(names):
        shutil.copy(name, f"tree/{i}")


def batches():
    """Trees: one file that is worse off fails alone."""
    tree("plain", "refused", "bare")
    must(TOOL, "tree", "convert", "-q", "--report-file=tree.json", "tree")
    tree("plain", "refused", "bare")
    said = run(TOOL, "tree", "convert", "--baseline=tree.json", "--report-file=new.json", "tree")
    check(said.returncode == 0 and not said.stderr, "a tree as it was", said.stderr)
    check(open("new.json").read() == open("tree.json").read(), "has the same report")
    said = run(TOOL, "tree", "convert", "--baseline=tree.json", "tree")
    check(said.returncode == 0 and "(3 of them by an earlier run)" in said.stdout, "and again", said.stdout + said.stderr)
    tree("refused", "plain", "bare")
    before = open("tree/0", "rb").read()
    said = run(TOOL, "tree", "convert", "-j2", "--baseline=tree.json", "--report-file=new.json", "tree")
    refused(said, "aligned")
    check(open("tree/0", "rb").read() == before, "the file that failed is as it was")
    check("tree/1: no longer refused: aligned" in said.stderr, "another one is better", said.stderr)
    check(run(TOOL, "verify", "tree/1", "tree/2").returncode == 0, "and converted")
    files = schema_lib.read("new.json")["files"]
    check([f["status"] for f in files] == [5, 0, 0] and not any("changes" in f for f in files), "statuses in the report")
    tree("plain")
    old = open("tree.json").read()
    for verb in ("convert", "check"):
        said = run(TOOL, "tree", verb, "--baseline=tree.json", "--report-file=./tree.json", "tree")
        check(said.returncode == 2 and said.stderr == "eh2sframe: ./tree.json: is an input; give another name\n"
              and open("tree.json").read() == old and open("tree/0", "rb").read() == open("plain", "rb").read(),
              f"tree {verb}: a report over the baseline", said)
    tree("refused", "plain", "bare")
    os.rename("tree", "wood")
    said = run(TOOL, "tree", "convert", "--refresh", "--baseline=tree.json", "wood")
    check(said.returncode == 2 and "3 files; give a report of these files" in said.stderr, "other paths", said.stderr)


def which_file():
    """By path; a single file by being alone."""
    os.makedirs("elsewhere", exist_ok=True)
    shutil.copy("refused", "elsewhere/moved")
    refused(run(TOOL, "report", "--baseline=plain.json", "elsewhere/moved"), "aligned")
    write("two.json", must(TOOL, "report", "--json", "plain", "bare"))
    said = run(TOOL, "report", "--baseline=two.json", "elsewhere/moved")
    check(said.returncode == 2 and "two.json does not have this file" in said.stderr, "one of two", said.stderr)
    said = run(TOOL, "--baseline=two.json", "elsewhere/moved", "out2")
    check(said.returncode == 2 and not os.path.exists("out2"), "and is not written", said.stderr)
    said = run(TOOL, "report", "--baseline=two.json", "plain", "refused")
    check(said.returncode == 0 and "have 1 file; not compared" in said.stderr, "one is new", said.stderr)
    old = schema_lib.read("plain.json")
    del old["files"][0]["gaps"]
    write("early.json", json.dumps(old))
    said = run(TOOL, "report", "--baseline=early.json", "plain")
    check(said.returncode == 1 and "does not list the functions" in said.stderr, "a report without functions", said.stderr)
    write("merged.json", must(TOOL, "merge", "plain.json", "bare.json"))
    said = run(TOOL, "report", "--baseline=merged.json", "plain", "bare")
    check(said.returncode == 0 and not said.stderr, "a merged report", said.stderr)
    other = schema_lib.read("refused.json")
    other["files"][0]["path"] = "plain"
    write("other.json", json.dumps(other))
    write("both.json", must(TOOL, "merge", "plain.json", "other.json"))
    for words in (["report", "plain"], ["report", "plain", "bare"], ["plain", "out2"]):
        said = run(TOOL, *words, "--baseline=both.json")
        check(said.returncode == 2 and "plain: both.json has this path more than once; " in said.stderr and not os.path.exists("out2"),
              f"one of two files at its path, {words}", said)


def hostile_json():
    """What is no report ends the call with one line."""
    good = schema_lib.read("plain.json")
    file = good["files"][0]
    huge = 1 << 62

    def with_file(**more):
        return json.dumps(good | {"files": [file | more]})

    function = {"reason": "x", "start": "0x1", "size": 1, "function": "0x1"}
    bad = {
        "empty": "",
        "text": "no JSON",
        "array": "[]",
        "cut": open("plain.json").read()[:-20],
        "behind": open("plain.json").read() + "x",
        "zero": open("plain.json").read() + "\0",
        "twice": '{"tool": "eh2sframe", "files": [{"path": "a", "path": "b", "status": 0}]}',
        "tool": json.dumps(good | {"tool": "other"}),
        "number": json.dumps(good | {"files": 3}),
        "no files": '{"tool": "eh2sframe"}',
        "deep": '{"tool": "eh2sframe", "files": ' + "[" * 100000,
        "a file": json.dumps(good | {"files": [7]}),
        "a path": json.dumps(good | {"files": [{"path": 7, "status": 0}]}),
        "gaps": with_file(gaps=[7]),
        "reason": with_file(gaps=[function | {"reason": 7}]),
        "function": with_file(gaps=[function | {"function": 7}]),
        "size": with_file(gaps=[function | {"size": -1}]),
        "NUL": with_file(gaps=[function | {"name": "a\0b"}]),
    }
    for name, text in bad.items():
        write("bad.json", text)
        for argv in (["report", "--baseline=bad.json", "plain"], ["diff", "plain.json", "bad.json"]):
            said = run(TOOL, *argv)
            check(
                said.returncode == 1 and said.stderr.startswith("eh2sframe: bad.json: ")
                and said.stderr.count("\n") == 1 and not said.stdout,
                f"{name}: {argv[0]}",
                said,
            )
    # Such sizes are not bad: CFI can claim any range.
    for name, gaps in {
            "sum": [function | {"size": huge}, function | {"size": huge, "function": "0x1"}] * 2,
            "names": [function | {"size": huge, "name": "n", "function": f"0x{i}"} for i in range(3)]}.items():
        write("sums.json", with_file(gaps=gaps))
        said = run(TOOL, "diff", "plain.json", "sums.json")
        check(said.returncode == 0 and f" {2 ** 63 - 1} bytes" in said.stdout, f"{name}: sizes end at 63 bits", said)
    said = run(TOOL, "report", "--baseline=missing.json", "plain")
    check(said.returncode == 3 and not said.stdout, "no such report", said.stderr)
    said = run(TOOL, "--baseline=missing.json", "plain", "out3")
    check(said.returncode == 3 and not os.path.exists("out3"), "a conversion without it", said.stderr)
    write("spaces.json", json.dumps(good, indent=7).replace("\n", "\r\n\t"))
    check(run(TOOL, "report", "--baseline=spaces.json", "plain").returncode == 0, "blanks do not matter")
    write("counts.json", with_file(code=file["code"] | {"covered": huge, "outermost": huge, "executable": 1}))
    check(run(TOOL, "diff", "plain.json", "counts.json").returncode == 0, "counts that cannot be")
    write("kinds.json", with_file(faults=[function | {"kind": "\u00e9" * 60, "column": "CFA"}]))
    said = run(TOOL, "diff", "plain.json", "kinds.json")
    check(said.returncode == 0 and "\u00e9" * 60 + " CFA" in said.stdout, "a kind of any length, in letters of two bytes", said)


def damaged_json():
    """Reports with random damage are read, or refused in one line."""
    good, chosen = bytearray(open("refused.json", "rb").read()), random.Random(1)
    statuses = set()
    for number in range(300):
        bad = bytearray(good)
        for _ in range(chosen.randrange(1, 4)):
            at = chosen.randrange(len(bad))
            if chosen.randrange(2):
                bad[at] = chosen.choice(b'{}[]",:\\0n9-e \x00\xff')
            else:
                del bad[at : at + chosen.randrange(1, 40)]
        with open("bad.json", "wb") as file:
            file.write(bad)
        said = run(TOOL, "diff", "plain.json", "bad.json")
        statuses.add(said.returncode)
        if said.returncode not in (0, 1) or said.stderr.count("\n") != said.returncode:
            check(False, f"damage {number}", said)
    check(statuses == {0, 1}, "damaged reports", statuses)


HOSTILE = "a|b`c*[x](y)<img src=x>\n::error::pwned\r%0A,k=v:\x1b[2J\x9b\u202e@all##[error]x"


def hostile_names():
    """Names of files and functions, in all that is printed."""
    good = schema_lib.read("refused.json")
    gaps = good["files"][0]["gaps"]
    other = json.loads(json.dumps(good))
    for gap in gaps:
        if gap["reason"] != "ra-undefined":
            gap["name"] = HOSTILE
    other["files"][0]["gaps"] = []
    good["files"][0]["path"] = other["files"][0]["path"] = HOSTILE
    write("h1.json", json.dumps(other))
    write("h2.json", json.dumps(good))
    said = run(TOOL, "diff", "h1.json", "h2.json")
    lines = said.stdout.splitlines()
    check(
        said.returncode == 0 and "\x1b" not in said.stdout and "newly refused: a|b" in said.stdout
        and not any(line.lstrip().startswith("::") for line in lines),
        "diff",
        said.stdout,
    )
    said = run(TOOL, "report", "--baseline=h2.json", "plain")
    check(
        said.returncode == 0 and "\x1b" not in said.stderr and all(l.startswith("eh2sframe: ") for l in said.stderr.splitlines())
        and "no longer refused: a|b" in said.stderr,
        "names on standard error",
        said.stderr,
    )


# A qsort that exchanges what is equal, as other C libraries have it.
UNSTABLE = r"""
#include <string.h>
void qsort(void *list, size_t n, size_t size, int (*order)(const void *, const void *))
{
	char *at = list, other[4096];
	for (; n > 1; n--, at += size) {
		char *least = at;
		for (size_t i = 1; i < n; i++)
			if (order(at + i * size, least) < 0)
				least = at + i * size;
		memcpy(other, at, size), memmove(at, least, size), memcpy(least, other, size);
	}
}
"""


def equal_paths():
    """Files of one path, as packages have them, are compared in their order."""
    if b"__asan_init" in open(TOOL, "rb").read():
        return
    write("unstable.c", UNSTABLE)
    must("gcc", "-shared", "-fPIC", "-O1", "-o", "unstable.so", "unstable.c")
    one, two, other = ({"path": path, "status": 0, "code": {"executable": 9, "covered": n}} for n, path in enumerate("bba"))
    for name, files in (("before.json", [one, two, other]), ("after.json", [other, one, two])):
        write(name, json.dumps({"tool": "eh2sframe", "files": files}))
    said = run("env", "LD_PRELOAD=./unstable.so", TOOL, "diff", "before.json", "after.json")
    check(said.stdout.startswith("0 files changed, 3 did not"), "files of one path", said)


def diffs():
    """The difference of two reports."""
    said = run(TOOL, "diff", "plain.json", "refused.json")
    check(
        said.returncode == 0 and "  newly refused: aligned, cfa-register, " in said.stdout
        and said.stdout.endswith("1 file changed, 0 did not; 1 function is worse off, 0 better off\n"),
        "one file each",
        said.stdout,
    )
    said = run(TOOL, "diff", "refused.json", "refused-3.json")
    check("no longer refused: aligned" in said.stdout and "0 functions are worse off, 1 better off" in said.stdout,
          "another version", said.stdout)
    said = run(TOOL, "diff", "two.json", "two.json")
    check(said.stdout == "0 files changed, 2 did not; 0 functions are worse off, 0 better off\n", "the same", said.stdout)
    write("three.json", must(TOOL, "report", "--json", "refused", "plain"))
    said = run(TOOL, "diff", "two.json", "three.json")
    check(
        said.returncode == 0 and "bare: reported -> not there\n" in said.stdout
        and "refused: not there -> reported\n" in said.stdout and "2 files changed, 1 did not" in said.stdout,
        "files that come and go",
        said.stdout,
    )
    must(TOOL, "diff", "-o", "diff.txt", "two.json", "three.json")
    check(open("diff.txt").read() == said.stdout, "-o")
    check(run(TOOL, "diff", "-o", "/dev/full", "two.json", "three.json").returncode == 3, "no space")
    kept = open("two.json").read()
    for place in ("two.json", "./three.json"):
        said = run(TOOL, "diff", "-o", place, "two.json", "three.json")
        check(said.returncode == 2 and said.stderr == f"eh2sframe: {place}: is an input; give another name\n",
              f"-o {place} is an input", said)
    check(open("two.json").read() == kept, "which is as it was")


def lost():
    """A file that had CFI, and is there without any."""
    os.mkdir("lost")
    for name in ("plain", "refused"):
        shutil.copy(name, "lost/")
    write("lost.json", must(TOOL, "report", "--json", "lost/plain", "lost/refused"))
    write("one.json", must(TOOL, "report", "--json", "lost/plain"))
    write("none.c", "int main(void) { return 0; }")
    bare = ["gcc", "-nostdlib", "-static", "-fno-asynchronous-unwind-tables", "-Wl,-e,main", "-o", "lost/plain", "none.c"]
    subprocess.run(bare, check=True)
    line = "eh2sframe: lost/plain: newly without CFI: the whole file, which has some in "
    for name, path, args in (
            ("report", "lost.json", ("report", "lost/plain", "lost/refused")), ("a file alone", "one.json", ("lost/plain", "out")),
            ("report of one", "one.json", ("report", "lost/plain")), ("tree report", "lost.json", ("tree", "report", "lost")),
            ("tree convert", "lost.json", ("tree", "convert", "lost"))):
        said = run(TOOL, *args, "--baseline=" + path)
        check(said.returncode == 5 and said.stderr == line + path + "\n", f"without CFI, {name}", said)


def main():
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        compile_all()
        for part in (reports, conversions, batches, which_file, hostile_json, damaged_json, hostile_names, equal_paths, diffs, lost):
            part()
        os.chdir("/")
    plan()


if __name__ == "__main__":
    main()
