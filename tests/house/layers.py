#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""layers.py ROOT: which folder includes headers of which others, as docs/ARCHITECTURE.md explains it. TAP.

The list is exact, so that it can be read instead of the sources: an include that it does not name fails, and so does
a name that nothing includes. "." is config.h, which meson makes.
"""
import os
import re
import sys

import tap

TOP = "base cfi sframe code gen cmd include walk profile tests examples docs packaging kit .ci"
LAYERS = """
include: .
walk: include
base:
base/names: base
base/program: base include
base/sandbox: . base base/program
cfi: base
sframe: base
sframe/compact: base sframe
code: base
code/machines: . code
gen/options: base sframe
gen/arch: cfi code sframe
gen/elf: . base cfi gen/arch
gen/elf/object: base cfi gen/arch gen/elf sframe
gen/sources/go: base cfi code
gen/sources: base base/names cfi gen/arch gen/elf gen/elf/object gen/options gen/sources/go
gen/rows: base base/names cfi gen/arch gen/elf gen/elf/object gen/options gen/sources sframe sframe/compact
gen/check: base cfi code gen/arch gen/rows gen/sources
gen/check/derive: base cfi code gen/check gen/rows
gen/insert: base gen/arch gen/elf gen/options
gen/object: base gen/elf/object gen/insert gen/options gen/rows gen/sources sframe
gen/verify: base cfi gen/arch gen/check gen/check/derive gen/elf gen/elf/object gen/options gen/rows gen/sources sframe sframe/compact
gen/report: . base base/names cfi code gen/check gen/elf/object gen/insert gen/options gen/rows gen/sources gen/verify sframe sframe/compact
gen: base gen/check gen/check/derive gen/elf gen/insert gen/object gen/options gen/report gen/rows gen/sources gen/verify sframe
gen/lib: . base gen gen/arch gen/elf/object gen/report gen/sources gen/verify include
cmd/common: base base/program include
cmd/archive: base base/program include
cmd/report: base base/program cmd/common
cmd/batch: base base/program cmd/archive cmd/common cmd/report base/sandbox
cmd: base base/program cmd/archive cmd/batch cmd/common cmd/report base/sandbox
profile: base base/names base/sandbox
profile/perfdata: base
profile/stacks: base base/names base/sandbox include profile profile/perfdata profile/symbols
profile/record: base base/program include profile profile/fold profile/perfdata profile/stacks
profile/symbols: . base base/names base/sandbox include profile
profile/output: base profile profile/symbols
profile/fold: . base base/program include profile profile/output profile/symbols
"""
# The walker, also in the source trees of others.
BEHIND = {"walk": {"walk"}}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)


def read(path):
    with open(path, encoding="utf-8") as file:
        return INCLUDE.findall(file.read())


def sources():
    """Each file of the product, with its includes."""
    found = {}
    for top in TOP.split()[:9]:
        for directory, _, names in os.walk(top):
            for name in names:
                if name.endswith((".c", ".h")):
                    path = os.path.join(directory, name)
                    found[path] = read(path)
    return found


def circles(edges):
    """The groups of names that lead back to each other (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(name):
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in edges.get(name, ()):
            if other not in index:
                visit(other)
            if other in stack:
                low[name] = min(low[name], low[other])
        if low[name] == index[name]:
            group = [stack.pop()]
            while group[-1] != name:
                group.append(stack.pop())
            if len(group) > 1:
                found.append(" <-> ".join(sorted(group)))

    for name in edges:
        if name not in index:
            visit(name)
    return found


def folder(path):
    return os.path.dirname(path) or "."


def main(root):
    os.chdir(root)
    tops = sorted({path.split("/")[0] for path in tap.known_to_git() if "/" in path})
    if tops:
        tap.check(tops == sorted(TOP.split()), "the folders at the top level", tops)
    else:
        tap.skip("the folders at the top level", "this is no git checkout")

    files = sources()
    tap.check(len(files) > 450, "the sources are found", len(files))
    used = {}
    for path, includes in files.items():
        used.setdefault(folder(path), set()).update(folder(name) for kind, name in includes if kind == '"')
    allowed = {name: set(others.split()) for name, others in (line.split(":") for line in LAYERS.strip().splitlines())}
    for name in sorted(used.keys() | allowed.keys()):
        real = used.get(name, set()) - {name}
        tap.check(real == allowed.get(name), f"{name} includes what the list says",
                  f"really: {name}: {' '.join(sorted(real))}")
    tap.check(not circles(used), "no circle between folders", circles(used))

    # A header that several files share declares no work of its own, so only sources count.
    calls = {}
    for path, includes in files.items():
        if path.endswith(".c"):
            calls[path] = {name[:-1] + "c" for kind, name in includes
                           if kind == '"' and name[:-1] + "c" in files and name[:-1] + "c" != path}
    tap.check(not circles(calls), "no circle between the files of a folder", circles(calls))

    for what, may in BEHIND.items():
        inside = {name for name, others in used.items() if what in others and name != what}
        tap.check(inside <= may, f"what is behind include/ of {what} stays there", inside)
    outside = [path for path, includes in files.items() if path.startswith("include/")
               for kind, name in includes if kind == "<" and re.match(r"lib[a-z]*/|gelf|jansson", name)]
    tap.check(not outside, "public headers need no library", outside)
    dwarf = [path for path, includes in files.items() for kind, name in includes if kind == "<" and "libdwarf" in name]
    tap.check(set(dwarf) == {"cfi/libdwarf_internal.h"}, "one header includes libdwarf", dwarf)
    tap.plan()


main(sys.argv[1])
