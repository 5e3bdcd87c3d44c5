#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""go_core.py EH2SFRAME: core files of Go programs. Go's linker writes a build-id of its own. From Go 1.24 on it also writes
one of GNU, which no program header covers, so memory does not show it.

The core has the first page of each segment's file, as the kernel writes it by default. The file gives the rest if it
is of the same build.
"""

import os
import sys

import tap
from core_lib import Elf, core_of
from go_lib import Go

NAME = b"\4\0\0\0\x53\0\0\0\4\0\0\0Go\0\0"


def section(tool, out, *args):
    """The bytes of --section-only, or the message."""
    made = tap.run(tool, "-q", "--section-only", *args, out)
    if made.returncode:
        return f"{made.returncode}: {made.stderr}"
    with open(out, "rb") as file:
        return file.read()


def check_core(tool, go, machine):
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "frames")
    path = go.build(source, f"core {machine}", machine, env={"CGO_ENABLED": "0"})
    with open(path, "rb") as file:
        data = file.read()
    tap.check(data.count(NAME) == 1, f"{machine}: the program has Go's build-id", "")
    wanted, elf = section(tool, path + ".sf", path), Elf(data)
    core = core_of(elf).image(elf, 0, path, pages=1).write(path + ".core")
    got = section(tool, path + ".sf", "--core=" + core, path)
    tap.check(isinstance(got, bytes) and got == wanted, f"{machine}: the first page and the file", str(got)[:300])
    tap.must(tool, "-q", path, path + ".converted")
    os.rename(path + ".converted", path)
    got = section(tool, path + ".sf", "--core=" + core, path)
    tap.check(isinstance(got, bytes), f"{machine}: a file that was converted since", str(got)[:300])
    with open(path, "rb") as file:
        converted = Elf(file.read())
    later = core_of(converted).image(converted, 0, path, pages=1).write(path + ".core2")
    got = tap.run(tool, "--dump", "--core=" + later, path)
    tap.check(got.returncode == 0 and got.stdout == tap.must(tool, "--dump", path), f"{machine}: a converted program's core",
              got.stderr)
    at = data.index(NAME) + len(NAME)
    with open(path, "wb") as file:
        file.write(data[:at] + bytes([data[at] ^ 1]) + data[at + 1:])
    got = section(tool, path + ".sf", "--core=" + core, path)
    tap.check(isinstance(got, str) and "its build-id differs" in got, f"{machine}: a file of another build", str(got)[:300])


def check_first_page(tool, go):
    """A dynamic program: what readers of a core look for in the first page stays there. They know the loader by .interp."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cgo")
    path = go.build(source, "core cgo", env={"CGO_ENABLED": "1"}, options=("-ldflags=-linkmode=external",))
    tap.must(tool, "-q", "--method=grow", path, path + ".grown")
    tap.must(path + ".grown")
    for name in (".interp", ".note.go.buildid", ".note.gnu.build-id"):
        places = [int(line.split(name)[1].split()[2], 16)
                  for line in tap.must("readelf", "-SW", path + ".grown").splitlines() if f" {name} " in line]
        tap.check(len(places) == 1 and places[0] < 4096, f"cgo: {name} is in the first page", str(places))


def main():
    tool, go = sys.argv[1], Go()
    check_first_page(tool, go)
    for machine in ("amd64", "arm64"):
        check_core(tool, go, machine)
    tap.plan()


main()
