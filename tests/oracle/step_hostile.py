#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hostile functions without CFI get rows by --derive, and the processor contradicts none. TAP.

    step_hostile.py EH2SFRAME MACHINE STEP

MACHINE is x86_64, aarch64 or s390x; STEP is the stepper for x86-64, and qemu's plug-in for the others (step_guest.c). The
program is built with symbols and stripped, PIE and fixed, and gets a section of version 2 and 3. So that no rows at all do not pass,
each function that a line "rows:" of the sources names must have a row at its first instruction, and this must be stepped.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from tap import check, must, plan, run, skip_all

TOOL, MACHINE, STEP = os.path.abspath(sys.argv[1]), sys.argv[2], os.path.abspath(sys.argv[3])
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = [f"{HERE}/step_hostile.c", *sorted(glob.glob(f"{HERE}/step_hostile*_{MACHINE}.S"))]
NATIVE = MACHINE == "x86_64"
CC = "gcc" if NATIVE else f"{MACHINE}-linux-gnu-gcc"
STRIP = "strip" if NATIVE else f"{MACHINE}-linux-gnu-strip"
KINDS = {"PIE": ("-pie", "-fPIE"), "fixed": ("-no-pie", "-fno-pie", "-Wl,-z,lazy", *["-Wl,--no-ld-generated-unwind-info"] * NATIVE)}
LINKED = ("-L.", "-lhostile", "-Wl,-rpath,$ORIGIN")
# Steps in derived rows, and different addresses among them, at least.
LEAST = {"x86_64": (1000, 300), "aarch64": (600, 150), "s390x": (500, 130)}[MACHINE]


def named():
    """The functions that must have rows."""
    names = []
    for source in SOURCES[1:]:
        with open(source, encoding="ascii") as file:
            names += [name for line in re.findall(r"^ \* rows: (.*)$", file.read(), re.M) for name in line.split()]
    return names


def symbols(path):
    fields = (line.split() for line in must("readelf", "-sW", path).splitlines())
    return {f[7]: int(f[1], 16) for f in fields if len(f) == 8 and f[3] == "FUNC"}


def stepped(path):
    """Runs the program; the stepper's status and text."""
    if NATIVE:
        made = run(STEP, "--marks=.", "--seen", f"--known={HERE}/step_known.txt", path)
    else:
        made = run("bash", f"{HERE}/step_guest.sh", STEP, MACHINE, f"marks=.,seen=on,known={HERE}/step_known.txt", path)
    return made.returncode, made.stdout + made.stderr


def missing(path, addresses):
    """The names whose first instruction was not stepped in a derived row."""
    with open(f"{path}.json", encoding="ascii") as file:
        ranges = json.load(file)["files"][0]["not_by_cfi"]
    base = min(int(r["start"], 16) for r in ranges)
    derived = [(int(r["start"], 16), r["size"]) for r in ranges if r["kind"] == "derived"]
    with open(f"{path}.seen", "rb") as file:
        seen = file.read()
    return [name for name in named() if not any(start <= addresses[name] < start + size for start, size in derived)
            or not seen[addresses[name] - base]]


def build(kind, version):
    """What the program must give in each of its two forms."""
    for symtab in ("with symbols", "stripped"):
        path = f"./{kind}-{symtab.replace(' ', '-')}-{version}"
        title = f"{MACHINE}, {kind}, {symtab}, version {version}"
        plain = kind if symtab == "with symbols" else f"{kind}-stripped"
        must(TOOL, "convert", "-q", "--derive", "--code=repair", f"--format={version}", f"--report-file={path}.json", plain, path)
        status, text = stepped(path)
        found = re.search(r", derived: (\d+) steps matched; .* at (\d+) addresses", text)
        enough = found and int(found[1]) >= LEAST[0] and int(found[2]) >= LEAST[1]
        check(status == 0, f"{title}: no row is wrong", text)
        check(enough, f"{title}: enough is stepped", text)
        lacking = missing(path, symbols(kind))
        check(not lacking, f"{title}: functions with rows", lacking)
        print("".join(f"# {line}\n" for line in text.splitlines() if "steps matched" in line), end="")


def lies():
    """What the stepper must find, or its silence means nothing."""
    must(CC, "-O1", "-fno-omit-frame-pointer", "-DHOSTILE_LIES", "-o", "lies", *SOURCES, *LINKED)
    must(TOOL, "convert", "-q", "--format=2", "--report-file=./lied.json", "lies", "lied")
    status, text = stepped("./lied")
    wrong = set(re.findall(r"^DIFF .* (\w+)\): (\w+) is", text, re.M))
    kind = "fp" if NATIVE else "ra"  # the return address has a false place, too
    check(status == 1 and wrong == {("lies_of_cfa", "cfa"), ("lies_of_fp", kind)}, f"{MACHINE}: every lie is found", text)


if not shutil.which(CC) or not NATIVE and not shutil.which(f"qemu-{MACHINE}"):
    skip_all(f"needs {CC}" + ("" if NATIVE else f" and qemu-{MACHINE}"))
if NATIVE and subprocess.run([STEP, "--steps=10", "/bin/true"], capture_output=True, check=False).returncode:
    skip_all("single-stepping is not possible here")
if NATIVE and "with Zydis" not in must(TOOL, "--version"):
    skip_all("this build cannot decode x86-64 code")
with tempfile.TemporaryDirectory() as FOLDER:
    os.chdir(FOLDER)
    must(CC, "-O1", "-shared", "-fPIC", "-o", "libhostile.so", f"{HERE}/step_hostile_lib.c")
    for NAME, FLAGS in KINDS.items():
        must(CC, "-O1", "-fno-omit-frame-pointer", *FLAGS, "-o", NAME, *SOURCES, *LINKED)
        must(STRIP, "-o", f"{NAME}-stripped", NAME)
        for VERSION in (2, 3):
            build(NAME, VERSION)
    lies()
plan()
