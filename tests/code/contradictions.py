#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Contradictions drawn by chance from Debian's packages: eh2sframe check still says those that are true, and none that is false.
TAP.

    contradictions.py EH2SFRAME FETCH CACHE TABLE
    contradictions.py EH2SFRAME --draw FOLDER RELEASE/ARCH NUMBER PATTERN

FETCH is machines_fetch.sh, which keeps packages in CACHE. Each line of TABLE is a contradiction: package, version, release/architecture,
path, address, what was said, the instructions that decide it, the verdict, and who gave it. The verdict "true" is by straight_line.py, which
follows objdump's text and shares nothing with the program, or by somebody who read the disassembly, with the reason. Of each
file, some of what the program says besides is judged by straight_line.py, too. A package that is not there in that version is skipped.

--draw prints lines without a reader's verdicts. FOLDER/RELEASE/ARCH has unpacked packages, each in a folder with the name of its file.
At most 3 contradictions are drawn of a file, and 12 of a package; PATTERN matches the packages, most of which have none.
"""
import collections
import os
import random
import re
import shutil
import sys
import tempfile

import readelf_rows
import straight_line
from code_said import Said
from tap import check, plan, run, skip, skip_all

SEED, LARGEST, OF_FILE, OF_PACKAGE, ALSO = 38, 12_000_000, 3, 12, 8
Line = collections.namedtuple("Line", "package version root path at what shown verdict by")
TOOL = os.path.abspath(sys.argv[1])


def elf_files(folder, pattern):
    found = []
    for deb in sorted(one for one in os.listdir(folder) if re.match(pattern, one)):
        for top, _, names in os.walk(os.path.join(folder, deb)):
            found += [(deb, os.path.join(top, name)) for name in sorted(names)]
    return [(deb, path) for deb, path in found if not os.path.islink(path) and os.path.getsize(path) <= LARGEST
            and readelf_rows.machine_of(path)]


def draw(folder, root, number, pattern):
    chance = random.Random(f"{SEED} {root}")
    files = elf_files(os.path.join(folder, root), pattern)
    chance.shuffle(files)
    of_package, left = collections.Counter(), number
    for deb, path in files:
        package, version = deb.split("_")[:2]
        if not left or of_package[package] == OF_PACKAGE:
            continue
        faults = Said(TOOL, path, "-j1").faults
        file = straight_line.File(path) if faults else None
        if not file or not file.starts:
            continue
        for fault in chance.sample(faults, min(OF_FILE, OF_PACKAGE - of_package[package], left, len(faults))):
            verdict, shown = straight_line.opinion(file, fault.at, fault.what)
            print(package, version.replace("%3a", ":"), root, path.split(deb + "/", 1)[1], f"{fault.at:#x}", fault.what, shown, verdict,
                  "straight line", sep="\t", flush=True)
            of_package[package] += 1
            left -= 1


def unpacked(root, lines, fetch, cache, work):
    """{package: folder}, of the packages of the lines that are there in their version."""
    release, arch = root.split("/")
    cache = os.path.join(cache, release)
    # A mirror lacks some packages, and has the others.
    os.environ["POOL"] = " ".join(sorted({line.package for line in lines}))
    fetched = run(fetch, arch, "pool", cache, release)
    if fetched.returncode:
        print("#", root, fetched.stdout.strip().replace("\n", " "))
    folders = {}
    archives = os.path.join(cache, f"apt-{arch}", "debs", "archives")
    for line in lines:
        deb = os.path.join(archives, f"{line.package}_{line.version.replace(':', '%3a')}_{arch}.deb")
        folder = os.path.join(work, line.package)
        if line.package not in folders and os.path.exists(deb) and run("dpkg-deb", "-x", deb, folder).returncode == 0:
            folders[line.package] = folder
    return folders


def judge(path, lines):
    """What is wrong with what is said of a file."""
    said = {fault.at: fault for fault in Said(TOOL, path).faults}
    file = straight_line.File(path)
    known = {int(line.at, 16) for line in lines}
    for line in lines:
        at = int(line.at, 16)
        covered = any(fault.at <= at < fault.at + 16 * fault.n for fault in said.values())
        check((line.verdict == "true") == covered, f"{line.root} {line.package}: {os.path.basename(path)} {line.at}: {line.verdict}", line.what)
    others = random.Random(SEED).sample(sorted(set(said) - known), min(ALSO, len(set(said) - known)))
    false = [f"{at:#x} {said[at].what}" for at in others if straight_line.opinion(file, at, said[at].what)[0] == "false"]
    check(not false, f"{lines[0].root} {lines[0].package}: {os.path.basename(path)}: none of {len(others)} others is false", "\n".join(false))


def main(fetch, cache, table):
    if "with Zydis" not in run(TOOL, "--version").stdout:
        skip_all("this build cannot decode x86-64")
    missing = [name for name in ("objdump", "aarch64-linux-gnu-objdump", "s390x-linux-gnu-objdump") if not shutil.which(name)]
    if missing:
        skip_all("needs " + " ".join(missing))
    with open(table, encoding="utf-8") as file:
        lines = [Line(*text.rstrip("\n").split("\t")) for text in file if not text.startswith("#")]
    number = sum(1 for line in lines if line.verdict == "true")
    check(number >= 400 and {line.verdict for line in lines} <= {"true", "false"}, f"{number} contradictions are true")
    skipped = 0
    for root in sorted({line.root for line in lines}):
        of_root = [line for line in lines if line.root == root]
        with tempfile.TemporaryDirectory() as work:
            folders = unpacked(root, of_root, fetch, cache, work)
            for package, path in sorted({(line.package, line.path) for line in of_root}):
                of_file = [line for line in of_root if (line.package, line.path) == (package, path)]
                if package in folders:
                    judge(os.path.join(folders[package], path), of_file)
                else:
                    skipped += len(of_file)
    if skipped:
        skip(f"{skipped} contradictions", "their packages are there in another version, or not at all")
    check(skipped <= len(lines) / 2, f"at most half of {len(lines)} are skipped", str(skipped))
    plan()


if sys.argv[2] == "--draw":
    draw(sys.argv[3], sys.argv[4], int(sys.argv[5]), sys.argv[6])
else:
    main(*sys.argv[2:])
