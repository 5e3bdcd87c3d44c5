#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""go_first_page.py EH2SFRAME: what readers of a core file look for in the first page of a dynamic Go program stays there,
because by default the kernel writes only this page of a file into the core. They know the loader by .interp."""

import os
import sys

import tap
from go_lib import Go


def main():
    tool, go = sys.argv[1], Go()
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cgo")
    path = go.build(source, "first page cgo", env={"CGO_ENABLED": "1"}, options=("-ldflags=-linkmode=external",))
    tap.must(tool, "-q", "--method=grow", path, path + ".grown")
    tap.must(path + ".grown")
    for name in (".interp", ".note.go.buildid", ".note.gnu.build-id"):
        places = [int(line.split(name)[1].split()[2], 16)
                  for line in tap.must("readelf", "-SW", path + ".grown").splitlines() if f" {name} " in line]
        tap.check(len(places) == 1 and places[0] < 4096, f"cgo: {name} is in the first page", str(places))
    tap.plan()


main()
