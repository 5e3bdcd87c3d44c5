#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""go_debian.py EH2SFRAME FETCH CACHE: Go programs of Debian 12 and 13, as they are installed.

At least 99.5 % of the code in Go's table must have rows; of small programs for AArch64 all but the runtime's functions. The written file is proven by libdwarf, and no row contradicts
its instructions. FETCH is machines_fetch.sh, which keeps packages in CACHE.
"""

import os
import re
import sys

import schema_lib
import tap

RELEASES = (("bookworm", "amd64"), ("trixie", "amd64"), ("trixie", "arm64"))
LEAST, PROGRAMS = 99.5, 20
# AArch64: bytes of functions that the runtime always has. In programs of less than 920 KB they are more than 0.5 %.
RUNTIME = 4608


def programs_of(root):
    """The files of a root with Go's table, by its section's name."""
    for folder, _, names in sorted(os.walk(os.path.join(root, "usr"))):
        for path in sorted(os.path.join(folder, name) for name in names):
            if os.path.islink(path) or os.path.getsize(path) < 300000 or not os.access(path, os.X_OK):
                continue
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF" and ".gopclntab" in tap.run("readelf", "-SW", path).stdout:
                    yield path


def check_program(tool, name, path, converted):
    file = schema_lib.document(tap.must(tool, "report", "--json", "--source=go", path))["files"][0]
    code, go = file["code"], file["sources"]["go"]
    share, rest = code["percent_of_cfi"], code["with_cfi"] - code["covered"] - code["outermost"]
    tap.check(share >= LEAST or (file["machine"] == "AArch64" and rest <= RUNTIME),
              f"{name}: {share:.2f} % with rows, {rest} bytes without; of {go['in_table']} functions {len(go['without_rows'])} have none")
    made = tap.run(tool, "-q", path, converted)
    proof = tap.run(tool, "verify", "--witness=libdwarf", converted)
    tap.check(made.returncode == 0 and proof.returncode == 0 and " 0 differences" in proof.stdout, f"{name}: proven",
              made.stderr + proof.stdout + proof.stderr)
    os.unlink(converted)
    said = tap.run(tool, "check", path)
    found = re.search(r": (\d+) FDEs: ([\d.]+) % confirmed by the code, .* (\d+) contradict it", said.stdout)
    tap.check(found and found[3] == "0", f"{name}: check", said.stdout + said.stderr)


def main():
    tool, fetch, cache = sys.argv[1:4]
    count = 0
    for release, arch in RELEASES:
        place = os.path.join(cache, release)
        os.makedirs(place, exist_ok=True)
        fetched = tap.run(fetch, arch, "go", place, release)
        if fetched.returncode == 77:
            tap.skip_all(fetched.stdout.strip())
        if fetched.returncode:
            raise RuntimeError(fetched.stdout + fetched.stderr)
        for path in programs_of(os.path.join(place, arch)):
            check_program(tool, f"{release} {arch} {os.path.basename(path)}", path, os.path.join(place, "converted"))
            count += 1
    tap.check(count >= PROGRAMS, f"{count} programs")
    tap.plan()


main()
