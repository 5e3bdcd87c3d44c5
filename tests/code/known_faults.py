#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""eh2sframe check finds the faults of docs/FAULTS.md in Debian's packages. TAP.

    known_faults.py EH2SFRAME FETCH CACHE LIST

FETCH is machines_fetch.sh, which keeps packages in CACHE. Each line of LIST is a fault: its name, release and
architecture, path, build-id, address, kind, column and function (-: it has no name). When a package has
another build, the address is not looked at: a fault of that kind is looked for in the function, or in the file.
"""
import os
import re
import sys

from code_said import Said
from tap import check, plan, run, skip, skip_all

TOOL, FETCH, CACHE, LIST = sys.argv[1:]


def faults():
    """{release/arch: {path: [(name, build-id, address, kind, column, function)]}}"""
    listed = {}
    with open(LIST, encoding="utf-8") as file:
        for line in file:
            if line.startswith("#"):
                continue
            name, root, path, build, at, kind, column, function = line.split()
            listed.setdefault(root, {}).setdefault(path, []).append(
                (name, build, int(at, 16), kind, column.replace("-", " "), None if function == "-" else function))
    return listed


def build_id(path):
    found = re.search(r"Build ID: (\w+)", run("readelf", "-nW", path).stdout)
    return found.group(1) if found else ""


def look(root, path, expected):
    said = Said(TOOL, path)
    here = build_id(path)
    for name, build, at, kind, column, function in expected:
        alike = [fault for fault in said.faults if (fault.kind, fault.column) == (kind, column)]
        title = f"{root}: {name}: {os.path.basename(path)}"
        if here.startswith(build):
            check(any(fault.at == at for fault in alike), f"{title} {at:#x}", said.text[:2000])
            continue
        if function:
            alike = [fault for fault in alike if fault.name and fault.name.startswith(function)]
        check(alike, f"{title}, build {here[:16]}: {function or 'any function'}", said.text[:2000])


def main():
    if "build it with Zydis" in run(TOOL, "check", "/proc/self/exe").stderr:
        skip_all("this build cannot decode x86-64")
    for root, files in faults().items():
        release, arch = root.split("/")
        cache = os.path.join(CACHE, release)
        fetched = run(FETCH, arch, "faults", cache, release)
        if fetched.returncode:
            skip(f"{root}: packages", fetched.stdout.strip() + fetched.stderr.strip())
            continue
        for path, expected in files.items():
            full = os.path.join(cache, arch, path)
            if check(os.path.exists(full), f"{root}: {path} is there"):
                look(root, full, expected)
    plan()


main()
