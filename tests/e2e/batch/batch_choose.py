#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""eh2sframe tree remove, verify and lint, and which files --include and --exclude leave. TAP.

    batch_choose.py EH2SFRAME
"""

import os
import struct
import subprocess
import sys

import schema_lib
from batch_lib import copy, digest, picture, remove, run, scratch, strays
from elf_text import sections
from tap import check, plan

TOOL = os.path.realpath(sys.argv[1])
FILES = {
    "bin/ls": "/bin/ls",
    "bin/cat": "/bin/cat",
    "lib/libcat.so.1": "/bin/cat",
    "lib/debug/cat": "/bin/cat",
    "lib/debug/deep/ls": "/bin/ls",
}


def make(top):
    for name, path in FILES.items():
        os.makedirs(f"{top}/{os.path.dirname(name)}", exist_ok=True)
        subprocess.run(["cp", path, f"{top}/{name}"], check=True)
    with open(f"{top}/bin/script", "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n")


def converted(top):
    """The files below a directory that have a section."""
    return sorted(name for name in FILES if run(TOOL, "dump", f"{top}/{name}").status == 0)


def test_globs():
    every = sorted(FILES)

    def case(name, wanted, excluded, *options):
        make("g")
        got = run(TOOL, "tree", "convert", *options, "g")
        tail = b", %d excluded" % excluded if excluded else b"1 not ELF"
        check(
            got.status == 0
            and converted("g") == sorted(wanted)
            and got.out.startswith(b"%d converted, 0 skipped, 0 failed" % len(wanted))
            and tail in got.out.split(b";")[0]
            and (b"excluded" in got.out) == bool(excluded),
            name,
            f"{converted('g')} {got}",
        )

    no_debug = [name for name in every if "debug" not in name]
    case("all", every, 0)
    case("a name", ["bin/cat", "lib/libcat.so.1"] + ["lib/debug/cat"], 2, "--exclude=ls")
    case("a pattern of names", [name for name in every if ".so" not in name], 1, "--exclude=*.so*")
    case("names are whole", every, 0, "--exclude=l", "--exclude=cat.so.1")
    case("a directory: it counts as one", no_debug, 1, "--exclude=lib/debug/*")
    case("a slash at the start", no_debug, 1, "--exclude=/lib/debug/*")
    case("an asterisk for slashes", ["bin/cat", "bin/ls"], 1, "--exclude=lib*/*")
    case("a path below it", [name for name in every if not name.endswith("debug/cat")], 1, "--exclude=*/debug/cat")
    case("paths begin at what is named", every, 0, "--exclude=debug/*", "--exclude=g/*")
    case("a directory's name is not a file's", every, 0, "--exclude=debug", "--exclude=lib")
    case("everything", [], 2, "--exclude=*/*")
    case("--include", ["bin/ls", "lib/debug/deep/ls"], 4, "--include=ls")
    case("two of them", ["bin/ls", "lib/debug/deep/ls", "lib/libcat.so.1"], 3, "--include=ls", "--include=lib*")
    case("one matches nothing", ["bin/ls", "lib/debug/deep/ls"], 4, "--include=ls", "--include=none")
    for order in (("--include=*s*", "--exclude=lib/debug/*"), ("--exclude=lib/debug/*", "--include=*s*")):
        case("both, in any order", ["bin/ls", "lib/libcat.so.1"], 2, *order)
    make("g")
    got = run(TOOL, "tree", "convert", "--include=none", "g")
    check(got.status == 0 and got.out == b"0 converted, 0 skipped, 0 failed, 0 not ELF, 6 excluded\n", "none", got)
    got = run(TOOL, "tree", "convert", "--exclude=ls", "g/bin/ls", "g/bin/cat")
    check(got.out.startswith(b"1 converted") and converted("g") == ["bin/cat"], "files that are named", got)
    got = run(TOOL, "tree", "convert", "--exclude=bin/*", "g/", "--report-file=g.json")
    check(schema_lib.read("g.json")["summary"]["excluded"] == 1, "in the report", got)
    # One is excluded, so all names of the file stay as they are.
    make("g")
    os.link("g/bin/ls", "g/lib/ls2")
    was = picture("g")
    got = run(TOOL, "tree", "convert", "--include=ls2", "g")
    check(
        got.status == 1
        and b"has 2 hard links, of which 1 is below the named paths and not excluded" in got.err
        and picture("g") == was,
        "a name of a file that is excluded",
        got,
    )


def test_remove():
    make("r")
    os.link("r/bin/ls", "r/lib/ls2")
    os.chmod("r/bin/ls", 0o4751)
    copy("r", "r0")
    was = picture("r0")
    run(TOOL, "tree", "convert", "-q", "r")
    copy("r", "outside")
    got = run(TOOL, "tree", "remove", "-j2", "r")
    check(got.status == 0 and not got.err and got.out == b"5 restored, 0 skipped, 0 failed, 1 not ELF\n", "remove", got)
    check(picture("r") == was, "the originals, modes and links")
    check(not strays("."), "no temporary file is left")
    got = run(TOOL, "tree", "remove", "-v", "r")
    check(
        got.status == 0
        and b"r/bin/ls: skipped: no-sframe\n" in got.out
        and got.out.endswith(b"0 restored, 5 skipped (no-sframe 5), 0 failed, 1 not ELF\n"),
        "a second time",
        got,
    )
    check(picture("r") == was, "and nothing is done")
    # Names outside, another producer, another tool since, a damaged file, a file that is locked.
    os.link("outside/bin/ls", "elsewhere")
    was = digest("outside/bin/ls")
    got = run(TOOL, "tree", "remove", "outside/bin")
    check(
        got.status == 1 and b"has 3 hard links, of which 1 is below" in got.err and digest("outside/bin/ls") == was,
        "a name outside",
        got,
    )
    os.makedirs("others")
    subprocess.run([TOOL, "section", "-q", "/bin/cat", "section"], check=True)
    subprocess.run(
        ["objcopy", "--add-section", ".sframe=section", "--set-section-flags", ".sframe=alloc,readonly"]
        + ["/bin/cat", "others/added"],
        check=True,
        capture_output=True,
    )
    os.link("others/added", "added-elsewhere")
    subprocess.run([TOOL, "-q", "/bin/ls", "others/stripped"], check=True)
    subprocess.run(["strip", "others/stripped"], check=True, capture_output=True)
    with open("/bin/ls", "rb") as source, open("others/cut", "wb") as file:
        file.write(source.read()[:5000])
    was = picture("others")
    got = run(TOOL, "tree", "remove", "others")
    check(
        got.status == 1
        and got.out == b"0 restored, 1 skipped (other-sframe 1), 2 failed, 0 not ELF\n"
        and b"others/stripped: another tool has rewritten the file" in got.err
        and b"--refresh replaces the section" in got.err
        and got.err.count(b"\n") == 2
        and picture("others") == was
        and not strays("."),
        "what is not this program's",
        got,
    )
    os.unlink("others/cut")
    os.unlink("added-elsewhere")
    got = run(TOOL, "tree", "convert", "--refresh", "others")
    check(got.status == 0 and got.out.startswith(b"2 converted"), "--refresh does both", got)
    got = run(TOOL, "tree", "verify", "others")
    check(got.out.startswith(b"2 proven"), "and they are proven", got)


def test_look():
    make("l")
    run(TOOL, "tree", "convert", "-q", "--exclude=ls", "l")
    os.link("l/bin/cat", "elsewhere-cat")
    was = picture("l")
    got = run(TOOL, "tree", "verify", "l")
    check(
        got.status == 0 and not got.err and got.out == b"3 proven, 2 skipped (no-sframe 2), 0 failed, 1 not ELF\n",
        "verify",
        got,
    )
    got = run(TOOL, "tree", "verify", "-v", "l")
    lines = got.out.splitlines()
    check(
        len(lines) == 6
        and lines[0].startswith(b"l/bin/cat: 0 differences; ")
        and lines[1] == b"l/bin/ls: skipped: no-sframe",
        "-v",
        got,
    )
    got = run(TOOL, "tree", "lint", "-v", "l")
    check(
        got.status == 0
        and got.out.startswith(b"l/bin/cat: SFrame version 2 keeps every rule of ")
        and got.out.endswith(b"3 keep every rule, 2 skipped (no-sframe 2), 0 failed, 1 not ELF\n"),
        "lint",
        got,
    )
    check(run(TOOL, "tree", "verify", "-q", "l").out == b"", "-q")
    # Somebody else's directory: nothing has to be written there.
    os.chmod("l/bin", 0o555)
    check(run(TOOL, "tree", "verify", "-q", "l").status == 0, "a directory that cannot be written to")
    os.chmod("l/bin", 0o755)
    check(picture("l") == was, "and nothing is written")
    # A row that is wrong, and a section that the kernel does not read.
    found = subprocess.run(["readelf", "-SW", "l/lib/debug/cat"], capture_output=True, text=True, check=True)
    fields = next(line for line in found.stdout.splitlines() if " .sframe " in line).split("]")[1].split()
    end = int(fields[3], 16) + int(fields[4], 16)
    with open("l/lib/debug/cat", "r+b") as file:
        file.seek(end - 1)
        byte = file.read(1)[0]
        file.seek(end - 1)
        file.write(bytes([byte ^ 8]))
    single = run(TOOL, "verify", "l/lib/debug/cat")
    got = run(TOOL, "tree", "verify", "-j3", "l")
    check(
        single.status == 4
        and got.status == 4
        and got.err == single.err
        and got.out == single.out + b"2 proven, 2 skipped (no-sframe 2), 1 failed, 1 not ELF\n",
        "a wrong row: what verify says of the file, and its status",
        f"{got}\n{single}",
    )
    quiet = run(TOOL, "tree", "verify", "-q", "l")
    check(quiet.status == 4 and quiet.err == got.err, "-q", quiet)
    # A section that cannot be read is not a missing one.
    os.makedirs("d")
    run(TOOL, "-q", "/bin/ls", "d/ls")
    with open("d/ls", "r+b") as file:
        data = file.read()
        file.seek(data.rindex(struct.pack("<QQ", *sections("d/ls")[".sframe"][1:3])) + 8)
        file.write(struct.pack("<Q", 1 << 40))
    for verb in ("verify", "lint", "remove"):
        single, got = run(TOOL, verb, "d/ls", *["new"] * (verb == "remove")), run(TOOL, "tree", verb, "d")
        check(got.status == single.status == 1 and got.err == single.err, f"{verb}: a damaged section", f"{got}\n{single}")
    run(TOOL, "-q", "--refresh", "--no-pcrel", "l/bin/ls", "l/bin/ls")
    single = run(TOOL, "lint", "--for=linux-user", "l/bin/ls")
    got = run(TOOL, "tree", "lint", "--for=linux-user", "--include=ls", "l")
    check(
        got.status == single.status == 1
        and got.err == single.err
        and got.out == single.out + b"0 keep every rule, 1 skipped (no-sframe 1), 1 failed, 0 not ELF, 4 excluded\n",
        "a broken rule",
        f"{got}\n{single}",
    )


def test_nothing():
    """A check that looked at nothing fails. Other commands have nothing to do, and that is well."""
    make("n")
    os.mkdir("empty")
    for how, paths in (
        (["verify"], ["n", "empty"]),
        (["lint"], ["n"]),
        (["verify", "-q"], ["empty"]),
        (["lint", "--for=glibc", "--include=nobody"], ["n"]),
    ):
        got = run(TOOL, "tree", *how, *paths)
        check(
            got.status == 6 and got.err == b"eh2sframe: no file has a .sframe section to look at\n",
            f"{' '.join(how)}: nothing to look at",
            got,
        )
    got = run(TOOL, "tree", "lint", "--for=nobody", "empty")
    check(
        got.status == 2 and got.err.startswith(b"eh2sframe: --for=nobody: give glibc, ") and not got.out,
        "an unknown reader, before any file",
        got,
    )
    got = run(TOOL, "tree", "verify", "n", "missing")
    check(got.status == 3 and got.err.count(b"\n") == 1, "a failure has its own status", got)
    for verb in ("convert", "remove"):
        got = run(TOOL, "tree", verb, "empty")
        check(got.status == 0 and not got.err, f"{verb}: nothing to do", got)


def main():
    top = scratch()
    try:
        test_globs()
        test_remove()
        test_look()
        test_nothing()
    finally:
        remove(top)
    plan()


if __name__ == "__main__":
    main()
