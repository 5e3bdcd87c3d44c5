#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--check-code on functions whose CFI is right or wrong by intention, and on what compilers write. TAP.

    check_code.py EH2SFRAME FIXTURES MACHINE

The assembly in FIXTURES says in its first line of each function what must be said of it (check_code.inc).
"""
import os
import re
import shutil
import sys
import tempfile

from tap import check, must, plan, run, skip, skip_all

TOOL, FIXTURES, MACHINE = sys.argv[1:]
PREFIX = "" if MACHINE == os.uname().machine else f"{MACHINE}-linux-gnu-"
CC = PREFIX + "gcc"
CONTRADICTED = 4
# FDEs of PLTs are not of the fixtures.
NO_PLT_ROWS = ["--no-ld-generated-unwind-info"] if MACHINE == "x86_64" else []

EXPECTED = re.compile(r"^\t(right|wrong|unknown|review|skipped|overlapped)\t([\w.]+)(?:, (\w+), \"?([\w ]+)\"?)?$", re.M)
FAULT = re.compile(r": (0x[0-9a-f]+)[^,]*, \d+ instructions?: (.*) \((\w+)\)$", re.M)
DOUBT = re.compile(r": (0x[0-9a-f]+)[^:]*: (unknown|review): ", re.M)
SUMMARY = re.compile(
    r": (\d+) FDEs?: \S+ % confirmed by the code, (\d+) to review, (\d+) unknown, (\d+) contradicts? it"
    r".*?(?:; (\d+) not looked at)?$", re.M)
COLUMNS = "CFA", "return address", "frame pointer"
# What C and C++ are compiled with; each has to be confirmed as a whole.
FLAGS = {
    "functions.c": [
        ["-O2"], ["-O0"], ["-Os", "-fno-jump-tables"], ["-O2", "-fno-pic"], ["-O0", "-fno-pic"],
        ["-O2", "-fstack-clash-protection"], ["-O2", "-fno-omit-frame-pointer"], ["-O3", "-fstack-protector-all"]],
    "throws.cc": [["-O2"], ["-O0"], ["-Os"]]}
PROTECTED = {"x86_64": ["-fcf-protection=full", "-mindirect-branch=thunk"], "aarch64": ["-mbranch-protection=standard"],
             "s390x": ["-mpacked-stack", "-msoft-float"]}


class Said:
    """What -v says of one file: faults (address, kind, column), doubts {address: word}, counts."""

    def __init__(self, path):
        made = run(TOOL, "--check-code", "-v", path)
        self.status, self.text = made.returncode, made.stdout + made.stderr
        self.faults = [(int(at, 16), kind, next(name for name in COLUMNS if what.startswith(name)))
                       for at, what, kind in FAULT.findall(made.stdout)]
        self.doubts = {int(at, 16): word for at, word in DOUBT.findall(made.stdout)}
        found = SUMMARY.search(made.stdout)
        self.counts = [int(part or 0) for part in found.groups()] if found else None


def symbols(path):
    """{name: (address, size)}"""
    table = {}
    for line in must(PREFIX + "nm", "-S", path).splitlines():
        parts = line.split()
        if parts[-2] != "U" and parts[-2] != "w":
            table[parts[-1]] = int(parts[0], 16), int(parts[1], 16) if len(parts) == 4 else 0
    return table


def verdict(said, start, size):
    """What was said of one function: "right", or ("wrong", address, kind, column) of its first fault."""
    faults = [fault for fault in said.faults if start <= fault[0] < start + size]
    if faults:
        return ("wrong", *min(faults))
    return next((word for at, word in said.doubts.items() if start <= at < start + size), "right")


def fixture(name, work):
    """Each function of one file of assembly, and that no other is there."""
    path, linked = os.path.join(FIXTURES, name), os.path.join(work, "fixture.so")
    with open(path, encoding="utf-8") as file:
        expected = EXPECTED.findall(file.read())
    must(CC, "-c", path, "-o", linked + ".o")
    must(PREFIX + "ld", "-shared", *NO_PLT_ROWS, linked + ".o", "-o", linked)
    said, table = Said(linked), symbols(linked)
    for word, function, kind, column in expected:
        wanted = "right" if word in ("skipped", "overlapped") else word
        if word == "wrong":
            wanted = ("wrong", table["at_" + function][0], kind, column)
        found = verdict(said, *table[function])
        check(found == wanted, f"{MACHINE}: {function}", f"{found}, not {wanted}")
    number = {word: sum(1 for line in expected if line[0] == word) for word in
              ("right", "review", "unknown", "wrong", "skipped", "overlapped")}
    # Of two FDEs that overlap, one counts.
    unseen = number["skipped"] + number["overlapped"]
    looked_at = len(expected) - number["skipped"]
    wanted = [looked_at, number["review"], number["unknown"], number["wrong"], unseen]
    check(said.counts == wanted, f"{MACHINE}: {name}: the summary counts each of them", f"{said.text}\nnot {wanted}")
    check(said.status == (CONTRADICTED if number["wrong"] else 0), f"{MACHINE}: {name}: the exit status", said.status)


def compiled(name, flags, work):
    """A file of C or C++: every FDE is confirmed."""
    title = f"{MACHINE}: {name} {' '.join(flags)}"
    linked = os.path.join(work, "compiled.so")
    pic = ["-no-pie"] if "-fno-pic" in flags else ["-fPIC", "-shared"]
    compiler = PREFIX + "g++" if name.endswith(".cc") else CC
    if not shutil.which(compiler):
        return skip(title, f"{compiler} is not installed")
    made = run(compiler, "-g0", "-fasynchronous-unwind-tables", *pic[:1], *flags, *pic, "-nostartfiles",
               os.path.join(FIXTURES, name), "-o", linked, "-Wl,-e,0", *(f"-Wl,{option}" for option in NO_PLT_ROWS))
    if made.returncode:
        return skip(title, made.stderr.splitlines()[-1])
    said = Said(linked)
    return check(said.status == 0 and said.counts and said.counts[0] > 3 and not any(said.counts[1:]), title, said.text)


def main():
    if not shutil.which(CC):
        skip_all(f"{CC} is not installed")
    with tempfile.TemporaryDirectory() as work:
        if "build it with Zydis" in run(TOOL, "--check-code", "/proc/self/exe").stderr and MACHINE == "x86_64":
            skip_all("this build cannot decode x86-64")
        for name in sorted(os.listdir(FIXTURES)):
            if name.startswith(MACHINE) and name.endswith(".S"):
                fixture(name, work)
        for name, choices in FLAGS.items():
            for flags in [*choices, ["-O2", *PROTECTED[MACHINE]]]:
                compiled(name, flags, work)
    plan()


main()
