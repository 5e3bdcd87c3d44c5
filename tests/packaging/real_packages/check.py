#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Unpacks Debian packages and looks at each program and library in them; prints JSON.

    check.py DIRECTORY-OF-DEBS

Each file is proven, or said by eh2sframe to have nothing to convert. Its debug file is the one that its build-id
names: the same sections at the same addresses, the checksum of .gnu_debuglink, lines by gdb. Sections that the
method "grow" moves are elsewhere, and then eu-unstrip cannot join the pair. It must join the debug file with what
remove gives. The bytes of .text are those of the file without the section.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import zlib

from tree import elf_files

# What "grow" may move: docs/INSERTION.md.
MOVES = set(".gnu.hash .hash .dynsym .dynstr .rela.dyn .interp .note.gnu.property .note.ABI-tag .note.dlopen "
            ".note.gnu.build-id .note.package".split())


def run(*argv):
    return subprocess.run(argv, capture_output=True, text=True, errors="replace", check=False)


def sections(path):
    """{name: (type, address, size, flags)} of a file."""
    found = {}
    for line in run("readelf", "-SW", path).stdout.splitlines():
        got = re.match(r" *\[ *\d+\] (\S+) +(\S+) +([0-9a-f]+) ([0-9a-f]+) ([0-9a-f]+) ..(.{4})", line)
        if got and got[1] != "NULL":
            found[got[1]] = (got[2], int(got[3], 16), int(got[5], 16), got[6].strip())
    return found


def contents(path, name, scratch):
    """The bytes of a section."""
    out = os.path.join(scratch, "section")
    if os.path.exists(out):
        os.unlink(out)
    run("objcopy", "-O", "binary", f"--only-section={name}", "--set-section-flags", f"{name}=alloc", path, out)
    if not os.path.exists(out):
        return b""
    with open(out, "rb") as file:
        return file.read()


def link_checksum(path, scratch):
    data = contents(path, ".gnu_debuglink", scratch)
    return int.from_bytes(data[-4:], "little") if data else None


def gdb_has_lines(path, debug, folder):
    """Whether gdb finds the debug file by itself, and in it lines of some function."""
    names = [line.split() for line in run("readelf", "-sW", debug).stdout.splitlines()]
    wanted = [words[1] for words in names if len(words) == 8 and words[3] == "FUNC" and words[6].isdigit() and int(words[1], 16)]
    step = max(1, len(wanted) // 60)
    orders = [word for address in wanted[::step] for word in ("-ex", f"info line *0x{address}")]
    said = run("gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-iex", f"set debug-file-directory {folder}",
               *orders, path).stdout
    return re.search(r"^Line \d+ of ", said, re.M) is not None


def join(path, debug, scratch):
    """Why eu-unstrip does not make one file of both, or nothing."""
    whole = os.path.join(scratch, "whole")
    done = run("eu-unstrip", path, debug, "-o", whole)
    if done.returncode:
        return f"eu-unstrip: {done.stderr.strip()}"
    if contents(whole, ".text", scratch) != contents(path, ".text", scratch):
        return "eu-unstrip: other bytes in .text"
    return "" if {".symtab", ".debug_info"} <= set(sections(whole)) else "eu-unstrip brings no symbols"


def debug_faults(path, removed, folder, scratch):
    """What does not match between a file and its debug file; None where the file has none. Also whether eu-unstrip
    joins the pair as it is."""
    got = re.search(r"Build ID: ([0-9a-f]+)", run("eu-readelf", "-n", path).stdout)
    if not got:
        return None, False
    debug = os.path.join(folder, ".build-id", got[1][:2], got[1][2:] + ".debug")
    if not os.path.exists(debug):
        return None, False
    faults = []
    of_file, of_removed = sections(path), sections(removed)
    for name, (_, address, size, flags) in sections(debug).items():
        if "A" in flags and of_removed.get(name, ("", -1, -1, ""))[1:3] != (address, size):
            faults.append(f"{name} is elsewhere after remove: {of_removed.get(name)}")
        if "A" in flags and name not in MOVES and of_file.get(name, ("", -1, -1, ""))[1:3] != (address, size):
            faults.append(f"{name} is elsewhere: {of_file.get(name)}")
    with open(debug, "rb") as file:
        if link_checksum(path, scratch) != zlib.crc32(file.read()):
            faults.append("the checksum of .gnu_debuglink")
    faults += [why for why in [join(removed, debug, scratch)] if why]
    if not gdb_has_lines(path, debug, folder):
        faults.append("gdb has no lines")
    return faults, not join(path, debug, scratch)


def look(path, folder, scratch):
    """What is to be said of one file."""
    if ".sframe" not in sections(path):
        done = run("eh2sframe", path, os.path.join(scratch, "out"))
        return {"status": done.returncode, "why": done.stderr.strip()}
    # Rows may come from .debug_frame, which only the debug file has.
    done = run("eh2sframe", "verify", f"--debug-dir={folder}", path)
    removed = os.path.join(scratch, "removed")
    back = run("eh2sframe", "remove", path, removed)
    same = back.returncode == 0 and contents(path, ".text", scratch) == contents(removed, ".text", scratch)
    faults, joined = debug_faults(path, removed, folder, scratch) if same else (["no remove"], False)
    return {"converted": True, "verify": done.returncode, "why": done.stderr.strip() + back.stderr.strip(), "text": same,
            "debug": faults, "joined": joined}


def main():
    debs = [os.path.join(sys.argv[1], name) for name in sorted(os.listdir(sys.argv[1])) if name.endswith(".deb")]
    found = {}
    with tempfile.TemporaryDirectory() as scratch:
        debug = os.path.join(scratch, "debug")
        for deb in debs:
            if "-dbgsym_" in deb:
                run("dpkg-deb", "-x", deb, debug)
        for deb in debs:
            if "-dbgsym_" not in deb:
                package = os.path.basename(deb).split("_")[0]
                tree = os.path.join(scratch, package)
                run("dpkg-deb", "-x", deb, tree)
                for path in elf_files(tree):
                    found[f"{package}: {os.path.relpath(path, tree)}"] = look(path, os.path.join(debug, "usr/lib/debug"), scratch)
    json.dump({"debs": len(debs), "files": found}, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
