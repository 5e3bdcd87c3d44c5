#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Debian's kernels for x86-64, fetched: each module and vmlinux, each place. TAP.

    orc_kernels.py EH2SFRAME CACHE [SUITE...]

Takes the newest package of each version that a suite has. CACHE keeps what was unpacked. Prints a row for docs/RESULTS.md
of each kernel.
"""
import json
import os
import shutil
import sys

from orc_fetch import KEY, Apt, modules
from orc_lib import Rows, Table, compare
from tap import check, must, plan, run, skip, skip_all

TOOL, CACHE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
SUITES = sys.argv[3:] or ["bullseye", "bookworm", "trixie", "trixie-backports", "sid"]


def layout_of(version):
    """Of a kernel without a hash."""
    numbers = tuple(map(int, version.split(".")))
    return "4.14" if numbers < (6, 3) else "6.3" if numbers < (6, 4) else "6.4"


def check_modules(version, root):
    """Each place of each module, in version 3, which has words for all that modules have."""
    same, missing, wrong, out = 0, {}, [], root + "/converted"
    for path in modules(root):
        table = Table(path, layout_of(version))
        made = run(TOOL, "-q", "--format=3", path, out)
        if made.returncode == 6 and not table.count:
            continue
        if made.returncode:
            wrong.append(made.stderr)
            continue
        here, gone, different = compare(table, Rows(TOOL, out, table.elf))
        same += here
        for entry, size in gone.items():
            missing[entry] = missing.get(entry, 0) + size
        wrong += [f"{path}: {one}" for one in different[:3]]
    check(not wrong and same and not missing, f"{version}: {len(modules(root))} modules: each of {same} bytes of code",
          "\n".join(map(str, wrong[:20])) + str(missing))


def check_kernel(version, root):
    """vmlinux: only what no version says, and code outside of executable segments, has no row."""
    table = Table(root + "/vmlinux", layout_of(version))
    made = run(TOOL, "--section-only", "--optimize=none", "--format=3", root + "/vmlinux", root + "/bare.sframe")
    run("objcopy", "--add-section", f".sframe={root}/bare.sframe", "--set-section-flags", ".sframe=alloc,readonly",
        root + "/vmlinux", root + "/added")
    same, missing, different = compare(table, Rows(TOOL, root + "/added", table.elf))
    gaps = json.loads(must(TOOL, "--report=json", "--format=3", root + "/vmlinux"))["files"][0]["refused"]
    left = sum(size for entry, size in missing.items() if entry.sp != "*sp" or entry.type != "call")
    check(not made.returncode and same > 1000000 and not different and left == gaps.get("not-code", {}).get("bytes", 0) - sum(
        size for entry, size in missing.items() if entry.sp == "*sp") + gaps.get("cfa-expression", {}).get("bytes", 0),
          f"{version}: vmlinux: each of {same} bytes of code", f"{made.stderr}{different[:5]}{left}{gaps}")
    proof = run(TOOL, "--verify", "--witness=libdwarf", root + "/added")
    check(proof.returncode == 0 and " 0 differences" in proof.stdout, f"{version}: vmlinux: proven", proof.stdout + proof.stderr)


def summary(root, *options):
    """A JSON report of all modules, or of vmlinux."""
    made = run(TOOL, "-q", *options, "-o", root + "/report.json")
    with open(root + "/report.json", encoding="utf-8") as file:
        return json.load(file), made


def check_said(version, root):
    """What reports and the check of the code say of all modules, and of vmlinux: the row for docs/RESULTS.md."""
    cells = []
    for files in (modules(root), [root + "/vmlinux"]):
        counts, refused = {}, {}
        for form in "23":
            report, made = summary(root, "--report=json", "--format=" + form, *files)
            done = [one for one in report["files"] if one["status"] == 0]
            check(all(one["status"] in (0, 6) for one in report["files"]), f"{version}: reports of {len(files)} files",
                  made.stderr[:2000])
            code = {key: sum(one["code"][key] for one in done) for key in ("with_cfi", "covered", "outermost", "executable")}
            counts[form] = 100 * code["covered"] / (code["with_cfi"] - code["outermost"])
            functions = sum(one["counts"]["functions_with_cfi"] for one in done)
            whole = functions - sum(one["counts"]["functions_with_gaps"] for one in done)
            refused[form] = {}
            for one in done:
                for reason, gap in one["refused"].items():
                    refused[form][reason] = refused[form].get(reason, 0) + gap["functions"]
            cells.append(f"{100 * whole / functions:.2f} % ({counts[form]:.2f} %)")
        checked, made = summary(root, "--check-code", "--report=json", *files)
        fdes = {}
        for one in checked["files"]:
            for key in ("confirmed", "review", "unknown", "contradicts"):
                fdes[key] = fdes.get(key, 0) + one.get("check", {}).get(key, 0)
        looked = sum(fdes.values())
        check(looked and fdes["confirmed"] >= 0.99 * looked and fdes["contradicts"] <= 0.001 * looked and
              made.returncode in (0, 4), f"{version}: the code confirms {fdes['confirmed']} of {looked} FDEs", str(fdes))
        cells += [str(functions), f"{fdes['confirmed']} / {fdes['review']} / {fdes['unknown']} / {fdes['contradicts']}",
                  ", ".join(f"{reason} {n}" for reason, n in sorted(refused["2"].items())) or "-",
                  ", ".join(f"{reason} {n}" for reason, n in sorted(refused["3"].items())) or "-"]
    print(f"# | {version} | {len(modules(root))} | " + " | ".join(cells) + " |", flush=True)


def main():
    if os.uname().machine != "x86_64" or not shutil.which("apt-get") or not shutil.which("zstd") or not os.path.exists(KEY):
        skip_all("needs x86-64, apt, zstd and Debian's keys")
    seen = set()
    for suite in SUITES:
        apt = Apt(CACHE, suite)
        found, why = apt.kernels()
        if not found:
            skip(suite, "no packages of kernels: " + why)
        for version, name in sorted(found.items(), key=lambda one: [int(n) for n in one[0].split(".")]):
            root = os.path.join(CACHE, "kernel-" + version)
            if version in seen:
                continue
            seen.add(version)
            if not apt.unpack(name, root):
                skip(f"{version}: {name}", "not fetched")
                continue
            check_modules(version, root)
            check_kernel(version, root)
            check_said(version, root)
    plan()


main()
