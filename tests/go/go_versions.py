#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""go_versions.py EH2SFRAME DIRECTORY [table]: programs that releases of Go from 1.16 on have built.

npm has esbuild as it was released over the years, for both machines, without .debug_frame. Each program is converted,
proven, checked against its instructions, and run. With "table" the lines are those of docs/GO.md. DIRECTORY keeps what
npm fetched.
"""

import os
import re
import shutil
import sys
import tarfile

import schema_lib
import tap

# release of Go, machine, package of npm
PROGRAMS = (
    ("1.16", "x86-64", "esbuild-linux-64@0.9.7"),
    ("1.16", "AArch64", "esbuild-linux-arm64@0.12.15"),
    ("1.17", "x86-64", "esbuild-linux-64@0.13.15"),
    ("1.17", "AArch64", "esbuild-linux-arm64@0.14.0"),
    ("1.18", "x86-64", "esbuild-linux-64@0.14.40"),
    ("1.18", "AArch64", "esbuild-linux-arm64@0.14.40"),
    ("1.19", "x86-64", "esbuild-linux-64@0.14.54"),
    ("1.20", "x86-64", "@esbuild/linux-x64@0.17.19"),
    ("1.20", "AArch64", "@esbuild/linux-arm64@0.17.19"),
    ("1.22", "x86-64", "@esbuild/linux-x64@0.23.1"),
    ("1.22", "AArch64", "@esbuild/linux-arm64@0.23.1"),
    ("1.23", "x86-64", "@esbuild/linux-x64@0.24.2"),
    ("1.25", "x86-64", "@esbuild/linux-x64@0.27.0"),
    ("1.26", "x86-64", "@esbuild/linux-x64@0.28.2"),
    ("1.26", "AArch64", "@esbuild/linux-arm64@0.28.2"),
)
MEMBER = "package/bin/esbuild"
# Per cent of the code that Go's table describes.
LEAST = 99.5


def fetch(keep, package):
    """The path of the program; None where npm has no network."""
    path = os.path.join(keep, re.sub(r"[@/]", "-", package).strip("-"))
    if os.path.exists(path):
        return path
    made = tap.run("npm", "pack", "--silent", "--pack-destination", keep, package)
    if made.returncode:
        return None
    archive = os.path.join(keep, made.stdout.split()[-1])
    with tarfile.open(archive) as file, open(path + ".part", "wb") as out:
        shutil.copyfileobj(file.extractfile(MEMBER), out)
    os.chmod(path + ".part", 0o755)
    os.rename(path + ".part", path)
    os.unlink(archive)
    return path


def release_of(path):
    """The release that the program itself names."""
    with open(path, "rb") as file:
        found = re.search(rb"go1\.(\d+)(\.\d+)?(?=[^\d.])", file.read())
    return found[0].decode()[2:] if found else "?"


def share_of(tool, path):
    """(per cent of the code with CFI that has rows, functions in the table, those without rows)."""
    file = schema_lib.document(tap.must(tool, "report", "--json", path))["files"][0]
    go = file["sources"]["go"]
    return file["code"]["percent_of_cfi"], go["in_table"], len(go["without_rows"])


def check_of(tool, path):
    """(FDEs, per cent confirmed, FDEs unknown, contradicted)."""
    said = tap.run(tool, "check", path).stdout
    found = re.search(r": (\d+) FDEs: ([\d.]+) % confirmed by the code, \d+ to review, (\d+) unknown, (\d+) contradict", said)
    if not found:
        raise RuntimeError(said)
    return int(found[1]), float(found[2]), int(found[3]), int(found[4])


def check_run(name, machine, path, converted):
    runner = ["qemu-aarch64"] if machine == "AArch64" else []
    if runner and not shutil.which(runner[0]):
        tap.skip(f"{name}: it runs", f"no {runner[0]}")
        return
    ours, theirs = tap.run(*runner, converted, "--help"), tap.run(*runner, path, "--help")
    tap.check(ours.returncode == 0 and ours.stdout + ours.stderr == theirs.stdout + theirs.stderr, f"{name}: it runs",
              ours.stderr)


def check_converted(tool, name, machine, path):
    converted = path + ".converted"
    made = tap.run(tool, "-q", "--source=go", path, converted)
    tap.check(made.returncode == 0, f"{name}: converted", made.stderr)
    proof = tap.run(tool, "verify", "--witness=libdwarf", "--source=go", converted)
    tap.check(proof.returncode == 0 and " 0 differences" in proof.stdout, f"{name}: proven", proof.stdout + proof.stderr)
    check_run(name, machine, path, converted)
    os.unlink(converted)


def check_program(tool, wanted, machine, path):
    name = f"Go {release_of(path)}, {machine}"
    tap.check(release_of(path).startswith(wanted), f"{name}: it is of Go {wanted}")
    check_converted(tool, name, machine, path)
    share, functions, left = share_of(tool, path)
    tap.check(share >= LEAST, f"{name}: {share:.2f} % of its code has rows; of {functions} functions {left} have none")
    fdes, confirmed, unknown, wrong = check_of(tool, path)
    tap.check(wrong == 0 and confirmed > 99,
              f"{name}: of {fdes} FDEs {confirmed:.2f} % confirmed, {unknown} unknown, {wrong} contradicted")


def print_line(tool, machine, path):
    share, functions, left = share_of(tool, path)
    fdes, confirmed, unknown, wrong = check_of(tool, path)
    print(f"| {release_of(path)} | {machine} | {functions:,} | {left} | {share:.2f} % | none in file | {fdes:,} | "
          f"{confirmed:.2f} % | {unknown} | {wrong} |")


def main():
    tool, keep = sys.argv[1:3]
    if not shutil.which("npm"):
        tap.skip_all("needs npm")
    os.makedirs(keep, exist_ok=True)
    for wanted, machine, package in PROGRAMS:
        path = fetch(keep, package)
        if not path:
            tap.skip_all(f"npm cannot fetch {package}")
        if sys.argv[3:]:
            print_line(tool, machine, path)
        else:
            check_program(tool, wanted, machine, path)
    if not sys.argv[3:]:
        tap.plan()


main()
