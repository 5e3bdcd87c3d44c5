#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Libraries of C code (this project's own) for AArch64 in both byte orders and with return addresses
signed by either key, and for s390x: converted and proven in each version, held against readelf, and
the version that the installed readelf knows as it reads it. TAP.

    machines_c.py EH2SFRAME SOURCE
"""
import concurrent.futures
import glob
import os
import re
import sys
import tempfile

import section_rows
from sframe_text import Section
from tap import check, plan, run, skip_all

TOOL, SOURCE = sys.argv[1], sys.argv[2]

ARM, Z = "aarch64-linux-gnu-gcc", "s390x-linux-gnu-gcc"
# How called, the compiler, its options; what is signed, and by which key.
LIBRARIES = [
    ("aarch64", ARM, ["-O2"], None),
    ("aarch64 pac-ret+b-key", ARM, ["-O2", "-mbranch-protection=pac-ret+b-key"], "B"),
    ("aarch64 pac-ret+leaf", ARM, ["-Os", "-mbranch-protection=pac-ret+leaf"], "A"),
    ("aarch64 standard", ARM, ["-O2", "-mbranch-protection=standard"], "A"),
    ("aarch64_be", ARM, ["-O2", "-mbig-endian"], None),
    ("aarch64_be without optimization", ARM, ["-O0", "-mbig-endian"], None),
    ("aarch64_be standard", ARM, ["-O2", "-mbig-endian", "-mbranch-protection=standard"], "A"),
    ("aarch64_be pac-ret+leaf+b-key", ARM,
     ["-O2", "-mbig-endian", "-mbranch-protection=pac-ret+leaf+b-key"], "B"),
    ("s390x", Z, ["-O2"], None),
    ("s390x with back chain", Z, ["-O1", "-mbackchain", "-mpacked-stack", "-msoft-float"], None),
]
ABI = {"aarch64": 2, "aarch64_be": 1, "s390x": 4}


def build(compiler, options, work):
    """The library, or what the compiler says."""
    # The cross C library has no header for its big-endian self, which it asks for by name.
    os.makedirs(os.path.join(work, "include/gnu"), exist_ok=True)
    for name in ("stubs-lp64_be.h", "stubs-64.h"):
        with open(os.path.join(work, "include/gnu", name), "w", encoding="ascii"):
            pass
    sources = [path for folder in ("base", "cfi", "sframe")
               for path in sorted(glob.glob(os.path.join(SOURCE, folder, "**/*.c"), recursive=True))
               if "/witness" not in path and "/sandbox/" not in path]  # need libdwarf, libseccomp
    objects = [os.path.join(work, re.sub(r"\W", "_", os.path.relpath(path, SOURCE)) + ".o")
               for path in sources]
    common = ["-std=gnu11", "-D_GNU_SOURCE", "-w", "-fPIC", "-fasynchronous-unwind-tables",
              "-I", SOURCE, "-idirafter", os.path.join(work, "include"), *options]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        made = list(pool.map(lambda pair: run(compiler, *common, "-c", pair[0], "-o", pair[1]),
                             zip(sources, objects)))
    out = os.path.join(work, "library.so")
    made.append(run(compiler, *options, "-shared", "-nostdlib", "-o", out, *objects))
    return out, "".join(step.stderr for step in made if step.returncode)


def starts_with_key_b(path):
    """Of the functions whose CIE has the augmentation B: of those that sign something."""
    listing = run("readelf", "--debug-dump=no-follow-links,frames-interp", "-W", path).stdout
    of_b = set(re.findall(r'^([0-9a-f]+) \S+ \S+ CIE "[^"]*B', listing, re.M))
    return {int(pc, 16) for cie, pc in re.findall(r" FDE cie=([0-9a-f]+) pc=([0-9a-f]+)", listing)
            if cie in of_b}


def check_signed(name, dump, key, library):
    """Which rows are signed has been compared; are there any, and of which key."""
    section = Section(dump)
    signed = sum(row[3].endswith("[s]") for _, _, rows in section.funcs.values() for row in rows)
    of_b = {pc for pc, what in section.marks.items() if what.endswith("pauth = B key")}
    wanted = starts_with_key_b(library)
    check(bool(signed) == bool(key) and of_b == wanted and bool(of_b) == (key == "B"),
          f"{name}: {signed} rows signed, {len(of_b)} functions of the B key",
          sorted(map(hex, of_b ^ wanted)))


def check_version(name, library, version, key, out):
    made = run(TOOL, "-q", f"--format={version}", library, out)
    if made.returncode:
        check(False, f"{name}, version {version}", made.stderr)
        return
    counts, wrong = section_rows.compare(TOOL, out)
    check(not wrong and counts["agree"] > 20000 and counts["gaps"] == 0,
          f"{name}, version {version}: {counts['rows']} rows, {counts['agree']} bytes agree with "
          f"readelf, {counts['gaps']} have no row", "\n".join(wrong) or counts)
    dump = run(TOOL, "dump", out).stdout
    check_signed(f"{name}, version {version}", dump, key, library)
    section = os.path.splitext(out)[0] + ".bare"
    run(TOOL, "section", "-q", f"--format={version}", library, section)
    with open(section, "rb") as file:
        head = file.read(8)
    machine = name.split()[0]
    magic = b"\xe2\xde" if machine == "aarch64" else b"\xde\xe2"
    check(head[:2] == magic and head[2] == version and head[4] == ABI[machine],
          f"{name}, version {version}: byte order and ABI in the header", head.hex())


def check_readelf(name, out):
    """readelf 2.40 swaps the bytes of a big-endian section and reads what it finds."""
    theirs = Section(run("readelf", "--sframe=.sframe", out).stdout)
    ours = Section(run(TOOL, "dump", out).stdout)
    different = [hex(pc) for pc in ours.funcs.keys() | theirs.funcs.keys()
                 if ours.funcs.get(pc) != theirs.funcs.get(pc)]
    check(theirs.n_rows() > 300 and not different and ours.counts == theirs.counts,
          f"{name}: readelf reads {theirs.n_rows()} rows of version 1 as dump does",
          f"{ours.counts} {theirs.counts} {different[:5]}")


def check_library(name, compiler, options, key):
    with tempfile.TemporaryDirectory() as work:
        library, said = build(compiler, options, work)
        if said:
            check(False, f"{name}: compiles", said)
            return
        out = os.path.join(work, "out.so")
        for version in (2, 3) if compiler == Z else (2, 3, 1):
            check_version(name, library, version, key, out)
        if compiler == ARM and " 2.40" in run("readelf", "--version").stdout.split("\n", 1)[0]:
            check_readelf(name, out)


def main():
    missing = [tool for tool in (ARM, Z) if run("sh", "-c", f"command -v {tool}").returncode]
    if missing:
        skip_all("needs " + " ".join(missing))
    for library in LIBRARIES:
        check_library(*library)
    plan()


main()
