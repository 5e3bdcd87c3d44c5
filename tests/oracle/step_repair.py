#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each kind of row that --code=repair writes is single-stepped. TAP.

    step_repair.py EH2SFRAME MACHINE STEP REPAIR

MACHINE is x86_64, aarch64 or s390x; STEP is the stepper for x86-64, and qemu's plug-in for the others (step_guest.c).
step_repair_MACHINE.S has labels at_NAME__KIND, with KIND a column and how its rule finds the value. At each of them the row must
be of that kind, repaired, and stepped; at NONE it is left out. REPAIR is the source that lists the kinds that are written: each of them has a label.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from tap import check, must, plan, run, skip_all

TOOL, MACHINE, STEP, REPAIR = os.path.abspath(sys.argv[1]), sys.argv[2], os.path.abspath(sys.argv[3]), sys.argv[4]
HERE = os.path.dirname(os.path.abspath(__file__))
NATIVE = MACHINE == "x86_64"
PREFIX = "" if NATIVE else f"{MACHINE}-linux-gnu-"
SP, FP = {"x86_64": ("rsp", "rbp"), "aarch64": ("sp", "x29"), "s390x": ("r15", "r11")}[MACHINE]


def kinds_of(rule):
    """The kinds of a row, by its text in the report: CFA = rsp + 16, RA = *(CFA - 8), FP = r11."""
    parts = dict(part.split(" = ", 1) for part in rule.split(", "))
    cfa = parts["CFA"]
    register = cfa.split(" ")[0]
    kinds = {"CFA_MEMORY" if cfa.startswith("*") else
             {SP: "CFA_SP", FP: "CFA_FP"}.get(register, "CFA_OTHER")}
    for column in ("RA", "FP"):
        text = parts.get(column, "")
        kinds.add(column + ("_KEPT" if not text else "_FRAME" if text.startswith("*(CFA") else
                            "_SP" if text.startswith("*(" + SP) else "_OTHER"))
    return kinds


def listed():
    """The kinds that the product writes for the machine."""
    with open(REPAIR, encoding="ascii") as file:
        text = file.read()
    found = re.search(r"\[CODE_%s\] =([^,}]*)" % MACHINE.upper(), text)
    return set(re.findall(r"REPAIR_(\w+)", found[1]))


def labels(path):
    found = {}
    for line in must(PREFIX + "nm", path).splitlines():
        match = re.fullmatch(r"(\w+) \w at_(\w+?)__(\w+)", line)
        if match:
            found[match[2], match[3]] = int(match[1], 16)
    return found


def stepped(path):
    if NATIVE:
        made = run(STEP, "--marks=.", "--seen", path)
    else:
        made = run("bash", f"{HERE}/step_guest.sh", STEP, MACHINE, "marks=.,seen=on", path)
    return made.returncode, made.stdout + made.stderr


def main():
    must(PREFIX + "gcc", "-O1", "-fno-omit-frame-pointer", "-o", "wrong", f"{HERE}/step_repair.c", f"{HERE}/step_repair_{MACHINE}.S")
    must(TOOL, "convert", "-q", "--format=3", "wrong", "plain")
    status, text = stepped("./plain")
    check(status == 1 and text.count("DIFF") >= 5, f"{MACHINE}: the CFI is wrong", text)
    must(TOOL, "convert", "-q", "--code=repair", "--format=3", "--report-file=repaired.json", "wrong", "repaired")
    status, text = stepped("./repaired")
    check(status == 0, f"{MACHINE}: no repaired row is wrong", text)
    said = run(TOOL, "verify", "--code=repair", "repaired")
    check(said.returncode == 0, f"{MACHINE}: the section is proven", said.stdout + said.stderr)

    with open("repaired.json", encoding="ascii") as file:
        report = json.load(file)["files"][0]
    ranges = report["not_by_cfi"]
    base = min(int(one["start"], 16) for one in ranges)
    with open("repaired.seen", "rb") as file:
        seen = file.read()
    reached = set()
    for (name, kind), pc in sorted(labels("wrong").items()):
        row = next((one for one in report["corrections"] if int(one["start"], 16) <= pc < int(one["start"], 16) + one["size"]), None)
        marked = any(int(one["start"], 16) <= pc < int(one["start"], 16) + one["size"] for one in ranges if one["kind"] == "repaired")
        rule = (row or {}).get("rule") or ""
        if kind == "NONE":
            check(row and not rule and not marked, f"{MACHINE}: {name}: left out", f"{pc:#x}: {rule}")
            continue
        wanted = kind.replace("SIGNED", "KEPT")
        check(rule and wanted in kinds_of(rule) and marked and seen[pc - base], f"{MACHINE}: {name}, {kind}: repaired and stepped",
              f"{pc:#x}: {rule or 'no row'}{'' if marked else ', not written'}")
        reached.add(kind)
    check(listed() == reached, f"{MACHINE}: each kind that is written has a label", f"{sorted(listed() ^ reached)}")


if not shutil.which(PREFIX + "gcc") or not NATIVE and not shutil.which(f"qemu-{MACHINE}"):
    skip_all(f"needs {PREFIX}gcc" + ("" if NATIVE else f" and qemu-{MACHINE}"))
if NATIVE and subprocess.run([STEP, "--steps=10", "/bin/true"], capture_output=True, check=False).returncode:
    skip_all("single-stepping is not possible here")
if NATIVE and "with Zydis" not in must(TOOL, "--version"):
    skip_all("this build cannot decode x86-64 code")
with tempfile.TemporaryDirectory() as FOLDER:
    os.chdir(FOLDER)
    main()
plan()
