#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""eh2sframe check over packages of Debian's releases, or over folders. TAP, with tables in its comments.

    corpus.py EH2SFRAME FETCH CACHE RELEASE/ARCH...
    corpus.py EH2SFRAME FETCH CACHE NAME=FOLDER...

FETCH is machines_fetch.sh, which keeps packages in CACHE. At least 300 files and the share of confirmed FDEs
are checked for each machine. CACHE/NAME.faults gets each contradiction, a line each, and CACHE/draw gets
a random hundred of them, spread over the files, to be read by hand: docs/FIGURES.md has what was found.
"""
import hashlib
import os
import random
import re
import sys

import readelf_rows
from code_said import Said
from tap import check, plan, run, skip, skip_all

TOOL, FETCH, CACHE, *ROOTS = sys.argv[1:]
NO_EH_FRAME = 6
LEAST_FILES = 300
# Percent of FDEs that the code confirms. LLVM describes no epilogues of AArch64 (up to 14) and s390x.
LEAST = {"amd64": 99.6, "arm64": 99.4, "s390x": 99.0}
LLVM = re.compile(r"/llvm-\d+/|/(?:libLLVM|libclang|libLTO|LLVMgold)")
OCAML = b"caml_curry2"
# What a program by Rust has in its messages of panics.
RUST = re.compile(rb"library/(?:std|core)/src/\w+/?\w*\.rs")
E_MACHINE = {"amd64": (b"\x3e\0",), "arm64": (b"\xb7\0",), "s390x": (b"\0\x16",)}
DRAWN, SEED = 100, 17
# What the machines' shares are of. OCaml has faults of its own (docs/FAULTS.md).
COUNTED = {"amd64": ("GCC", "LLVM, Rust"), "arm64": ("GCC",), "s390x": ("GCC",)}
HEAD = """# | packages | compiler | files | FDEs | confirmed % | review % | unknown % | contradict % | us CPU per FDE |
# |---|---|---:|---:|---:|---:|---:|---:|---:|"""


def elf_files(root, machine):
    """Linked files of one machine and who compiled them, each content once."""
    seen, found = set(), []
    for folder, _, names in sorted(os.walk(root)):
        for path in sorted(os.path.join(folder, name) for name in names):
            if os.path.islink(path) or not readelf_rows.machine_of(path):
                continue
            with open(path, "rb") as file:
                data = file.read()
            if data[18:20] not in E_MACHINE.get(machine, (data[18:20],)):
                continue
            content = hashlib.sha256(data).digest()
            if content not in seen:
                seen.add(content)
                llvm = LLVM.search(path) or RUST.search(data)
                found.append((path, "LLVM, Rust" if llvm else "OCaml" if OCAML in data else "GCC"))
    return found


class Sums:
    def __init__(self):
        self.files = self.fdes = self.review = self.unknown = self.wrong = self.cpu = 0

    def add(self, said):
        fdes, review, unknown, wrong, _ = said.counts
        self.files += 1
        self.fdes += fdes
        self.review += review
        self.unknown += unknown
        self.wrong += wrong
        self.cpu += said.cpu

    def share(self, n):
        return 100.0 * n / self.fdes if self.fdes else 100.0

    def confirmed(self):
        return self.fdes - self.review - self.unknown - self.wrong

    def row(self, name, group):
        counts = (self.confirmed(), self.review, self.unknown, self.wrong)
        shares = " | ".join(f"{self.share(n):.3f}" for n in counts)
        return f"| {name} | {group} | {self.files} | {self.fdes:,} | {shares} | {1e6 * self.cpu / max(self.fdes, 1):.1f} |"


def confirmed(several):
    """Percent of the FDEs of several sums."""
    fdes = sum(sums.fdes for sums in several)
    return 100.0 * sum(sums.confirmed() for sums in several) / fdes if fdes else 100.0


def look(name, root):
    """All files of a root: {group: sums}, and {path: faults}."""
    groups, faults = {}, {}
    with open(os.path.join(CACHE, name.replace("/", "-") + ".faults"), "w", encoding="utf-8") as listed:
        for path, group in elf_files(root, name.split("/")[-1]):
            said = Said(TOOL, path, "-j1")
            if said.counts is None:
                if said.status != NO_EH_FRAME:
                    check(False, f"{path}: looked at", f"status {said.status}: {said.text[:2000]}")
                continue
            groups.setdefault(group, Sums()).add(said)
            if said.faults:
                faults[path] = said.faults
            for fault in said.faults:
                print(path, f"{fault.at:#x}", fault.n, fault.kind, fault.what, fault.name or "", sep="\t", file=listed)
    return groups, faults


def draw(faults, number):
    """One of each file by turns, until there are enough."""
    chance = random.Random(SEED)
    left = {path: chance.sample(one, len(one)) for path, one in sorted(faults.items())}
    order = chance.sample(sorted(left), len(left))
    drawn = []
    while len(drawn) < number and any(left.values()):
        drawn += [(path, left[path].pop()) for path in order if left[path]]
    return drawn[:number]


def root_of(name):
    """The folder with the packages; None with a reason."""
    if "=" in name:
        return name.split("=", 1)[1], ""
    release, arch = name.split("/")
    cache = os.path.join(CACHE, release)
    fetched = run(FETCH, arch, "corpus", cache, release)
    if fetched.returncode:
        return None, fetched.stdout.strip() + fetched.stderr.strip()
    return os.path.join(cache, arch), ""


def main():
    if "build it with Zydis" in run(TOOL, "check", "/proc/self/exe").stderr:
        skip_all("this build cannot decode x86-64")
    os.makedirs(CACHE, exist_ok=True)
    files, drawn = {}, []
    print(HEAD, flush=True)
    for name in ROOTS:
        root, why = root_of(name)
        if root is None:
            skip(name, why)
            continue
        name = name.split("=")[0]
        machine = name.split("/")[-1]
        groups, faults = look(name, root)
        for group, sums in sorted(groups.items()):
            print("#", sums.row(name, group), flush=True)
            files[machine] = files.get(machine, 0) + sums.files
        if machine in LEAST:
            share = confirmed([sums for group, sums in groups.items() if group in COUNTED[machine]])
            check(share >= LEAST[machine], f"{name}: the code confirms {LEAST[machine]} %", f"{share:.3f} %")
        drawn.append((name, faults))
    for machine in sorted(set(files) & set(LEAST)):
        check(files[machine] >= LEAST_FILES, f"{machine}: {files[machine]} files")
    with open(os.path.join(CACHE, "draw"), "w", encoding="utf-8") as out:
        for i, (name, faults) in enumerate(drawn):
            number = DRAWN // len(drawn) + (i < DRAWN % len(drawn))
            for path, fault in draw(faults, number):
                print(name, path, f"{fault.at:#x}", fault.n, fault.kind, fault.what, fault.name or "", sep="\t", file=out)
    plan()


main()
