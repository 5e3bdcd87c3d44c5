#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Real files of other machines: converted, proven and held against readelf row by row. TAP.

    machines.py EH2SFRAME CFI_ROWS SOURCE CACHE installed|full ARCH...

ARCH is Debian's name. installed is the largest libraries that come with the cross compilers, full the packages that
machines_fetch.sh gets: these libraries, programs, their libraries and one of more than 50 MB. It skips without a mirror.
"""
import collections
import contextlib
import io
import json
import multiprocessing
import os
import sys
import tempfile

import readelf_rows
import section_rows
from tap import check, plan, run, skip, skip_all

SOURCE = sys.argv[3]

VERSIONS = {"arm64": (1, 2, 3), "s390x": (2, 3)}
CROSS = {"arm64": "/usr/aarch64-linux-gnu/lib", "s390x": "/usr/s390x-linux-gnu/lib"}
# How many files, from those of so many bytes down; of those at least so many convert, one with so much code.
FILES = {"installed": (8, 2_000_000), "full": (None, float("inf"))}
LEAST = {"installed": (6, 1_000_000), "full": (500, 20_000_000)}
# Conversions end in fsync, which says nothing here.
SCRATCH = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
NOTHING_TO_DO = 6


def elf_files(root):
    """The linked 64-bit files, the largest first: what is large ends last otherwise."""
    found = []
    for folder, _, names in os.walk(root):
        paths = (os.path.join(folder, name) for name in names)
        found += [path for path in paths if not os.path.islink(path) and readelf_rows.machine_of(path)]
    return sorted(found, key=os.path.getsize, reverse=True)


def against_interpreter(job):
    """readelf_rows.py's comparison of one file: counts."""
    path, cfi_rows = job
    counts = dict.fromkeys(readelf_rows.COUNTS, 0)
    # What it prints must not look like TAP.
    with contextlib.redirect_stdout(io.StringIO()) as said:
        readelf_rows.compare_file(cfi_rows, path, readelf_rows.machine_of(path), counts)
    counts["said"] = said.getvalue().splitlines()
    return counts


def report_differs(path, report, counts):
    """What the report says of the code must be what readelf's tables and the section come to."""
    with open(report, encoding="utf-8") as file:
        said = json.load(file)["files"][0]
    code = said["code"]
    said = code["with_cfi"], code["covered"], code["plt_template"], code.get("padding_with_rows", 0)
    found = counts["with_cfi"], counts["agree"], counts["plt"], counts["padding"]
    return [] if said == found else [f"{path}: the report says {said}, found {found}"]


def convert(job):
    """One file, every version: {version: (status, what was said, counts, differences)}."""
    path, tool, versions = job
    results, theirs = {}, None
    with tempfile.TemporaryDirectory(dir=SCRATCH) as work:
        for version in versions:
            out = os.path.join(work, os.path.basename(path))
            report = os.path.join(work, "report")
            # readelf reads no tables of Go.
            made = run(tool, "-q", "--source=eh_frame", f"--format={version}", f"--report-file={report}", path, out)
            # A loader is converted when a method is named.
            if "program interpreter" in made.stderr:
                made = run(tool, "-q", "--source=eh_frame", "--method=grow", f"--format={version}", f"--report-file={report}", path, out)
            counts, wrong = {}, []
            if made.returncode == 0:
                machine = readelf_rows.machine_of(path)
                theirs = theirs or section_rows.cfi_spans(path, machine)
                counts, wrong = section_rows.compare(tool, out, theirs)
                wrong += report_differs(path, report, counts)
            results[version] = made.returncode, made.stderr.strip(), counts, wrong
    return results


def root_of(arch, which, cache):
    """Returns the folder with the files, or None where the libraries are not installed. Ends the test without a mirror."""
    if which == "installed":
        if os.path.exists(CROSS[arch] + "/libc.so.6"):
            return CROSS[arch]
        skip(arch, f"needs the C library of its cross compiler in {CROSS[arch]}")
        return None
    script = os.path.join(SOURCE, "tests/e2e/machines/machines_fetch.sh")
    done = run(script, arch, which, cache)
    if done.returncode == 77:
        skip_all(done.stdout.strip())
    if done.returncode:
        check(False, f"packages of {arch}", done.stderr)
        plan()
    return os.path.join(cache, arch)


def check_version(arch, version, which, results):
    """What came out of one version's conversions of all files."""
    statuses = collections.Counter(result[0] for result in results.values())
    # Three libraries of LLVM 14 for s390x have CFI for their PLT only, with a CFA that no row can have.
    hopeless = [path for path, result in results.items() if "no function of this file can be" in result[1]]
    odd = [f"{path}: status {result[0]}: {result[1]}" for path, result in results.items()
           if result[0] not in (0, NOTHING_TO_DO) and path not in hopeless]
    done = [path for path, result in results.items() if result[0] == 0]
    largest = max((results[path][2]["with_cfi"] for path in done), default=0)
    least, size = LEAST[which]
    check(not odd and len(done) >= least and largest >= size and len(hopeless) <= 3,
          f"{arch}, version {version}: {len(done)} files converted and proven, the largest with "
          f"{largest} bytes of code; {statuses[NOTHING_TO_DO]} without CFI, {len(hopeless)} without a function "
          "that can be described", "\n".join(odd + hopeless))
    total, wrong = collections.Counter(), []
    for result in results.values():
        total.update(result[2])
        wrong += result[3]
    check(not wrong and total["agree"] > 0,
          f"{arch}, version {version}: {total['rows']} rows, {total['agree']} of "
          f"{total['with_cfi']} bytes agree with readelf, {total['gaps']} have no row, "
          f"{total['plt']} bytes of PLT without CFI", "\n".join(wrong))


def check_arch(pool, arch, options):
    tool, cfi_rows, which, cache = options
    root = root_of(arch, which, cache)
    if not root:
        return
    many, largest = FILES[which]
    files = [path for path in elf_files(root) if os.path.getsize(path) <= largest][:many]
    jobs = [(path, tool, VERSIONS[arch]) for path in files]
    converted = dict(zip(files, pool.imap(convert, jobs)))
    for version in VERSIONS[arch]:
        check_version(arch, version, which,
                      {path: results[version] for path, results in converted.items()})
    with_cfi = [path for path in files if converted[path][2][0] == 0]
    total, said = collections.Counter(), []
    for counts in pool.imap(against_interpreter, [(path, cfi_rows) for path in with_cfi]):
        said += counts.pop("said")
        total.update(counts)
    check(total["rows"] and not total["different"],
          f"{arch}: the interpreter's {total['rows']} rows of {total['files']} files are readelf's; "
          f"{total['different']} differ", "\n".join(said))
    if 1 not in VERSIONS[arch]:
        refused = run(tool, "--format=1", with_cfi[0], os.devnull)
        check(refused.returncode == 1 and "version 1 is not defined" in refused.stderr,
              f"{arch}: version 1 is refused by name", refused.stderr)
    check_oracle(tool, cfi_rows, next(path for path in files if path.endswith("/libc.so.6")))


def check_oracle(tool, cfi_rows, path):
    """A dump with one wrong kind of row must not pass, nor wrong rows of the interpreter."""
    with tempfile.TemporaryDirectory(dir=SCRATCH) as work:
        out, liar, other = (os.path.join(work, name) for name in ("out", "liar", "other"))
        run(tool, "-q", path, out)
        for name, program, edit in ((liar, tool, "s/ sp+48 / sp+40 /;s/ sp+336 / sp+344 /"),
                                    (other, cfi_rows, "s/ fp=c-/ fp=c-1/")):
            with open(name, "w", encoding="ascii") as file:
                file.write(f"#!/bin/sh\n'{program}' \"$@\" | sed '{edit}'\n")
            os.chmod(name, 0o755)
        _, wrong = section_rows.compare(liar, out)
        check(wrong, f"{len(wrong)} wrong rows of a section are noticed")
        counts = against_interpreter((path, other))
        check(counts["different"], f"{counts['different']} wrong rows of CFI are noticed")


def main():
    tool, cfi_rows, _, cache, which, *archs = sys.argv[1:]
    with multiprocessing.get_context("fork").Pool(os.cpu_count()) as pool:
        for arch in archs:
            check_arch(pool, arch, (tool, cfi_rows, which, cache))
    plan()


main()
