#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sections of installed libraries, of each version that the installed binutils read, as readelf and
objdump read them and as dump does: every function and every row must be the same. TAP.

    readelf_sframe.py EH2SFRAME some|all

some is 250 of the smaller libraries, all every library there is.
"""
import concurrent.futures
import glob
import os
import sys
import tempfile

from binutils import readable
from sframe_text import Section
from tap import check, plan, run

WANTED = 250  # some: converted; of those that have CFI at all
LEAST = 200
LARGEST = 100_000  # some: bytes


def paths_of(which):
    """Links to folders lead round in circles, so they are not followed."""
    if which == "all":
        for folder, folders, names in os.walk("/usr/lib"):
            folders.sort()
            yield from (os.path.join(folder, name) for name in sorted(names) if ".so" in name)
    for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/*", "/usr/lib64", "/usr/lib"):
        yield from sorted(glob.glob(folder + "/*.so*") + glob.glob(folder + "/*/*.so"))


def libraries(which):
    seen = set()
    for path in paths_of(which):
        real = os.path.realpath(path)
        if real in seen or not os.path.isfile(real):
            continue
        seen.add(real)
        if which == "all" or os.path.getsize(real) <= LARGEST:
            with open(real, "rb") as file:
                if file.read(5) == b"\x7fELF\x02":
                    yield real


def compare(job):
    """(functions, rows) that all three read alike; None: nothing to convert; or what differs."""
    tool, path, scratch, options = job
    with tempfile.TemporaryDirectory(dir=scratch) as work:
        out = os.path.join(work, "out")
        made = run(tool, "-q", *options, "--refresh", path, out)
        if made.returncode in (1, 6):
            return None
        if made.returncode != 0:
            return f"status {made.returncode}: {made.stderr}"
        ours = Section(run(tool, "dump", out).stdout)
        for reader in (["readelf", "--sframe=.sframe"], ["objdump", "--sframe=.sframe"]):
            read = run(*reader, out)
            theirs = Section(read.stdout)
            if not ours.version == theirs.version == int(options[0][-1]) or ours.counts != theirs.counts:
                return f"{reader[0]}: another header: {theirs.counts}, {ours.counts} {read.stderr}"
            if ours.funcs != theirs.funcs:
                pc = min(pc for pc in ours.funcs.keys() | theirs.funcs.keys()
                         if ours.funcs.get(pc) != theirs.funcs.get(pc))
                return (f"{reader[0]}: function at {pc:#x}: {theirs.funcs.get(pc)}, "
                        f"dump {ours.funcs.get(pc)}")
    return len(ours.funcs), ours.n_rows()


def check_version(tool, which, options):
    version = " ".join(options)
    done = funcs = rows = 0
    paths = libraries(which)
    bad = []
    with tempfile.TemporaryDirectory() as scratch, \
            concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        while which == "all" or done < WANTED:
            batch = [(tool, path, scratch, options) for _, path in zip(range(64), paths)]
            if not batch:
                break
            for (_, path, *_), result in zip(batch, pool.map(compare, batch)):
                if isinstance(result, str):
                    bad.append(f"{path}: {result}")
                elif result:
                    done, funcs, rows = done + 1, funcs + result[0], rows + result[1]
    check(not bad, f"{version}: {done} libraries, {funcs} functions, {rows} rows "
          "read alike by readelf, objdump and dump", "\n".join(bad[:20]))
    check(done >= LEAST, f"{version}: at least {LEAST} libraries", done)


def main():
    for options in readable():
        check_version(sys.argv[1], sys.argv[2], options)
    plan()


main()
