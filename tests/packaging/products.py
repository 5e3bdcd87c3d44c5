#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""products.py SOURCE INSTALLED: the converter, and the converter with the walker, are built and installed without what
is on top of them; nothing of the others is left in what they install but the headers, one of which includes the other, and texts.
TAP."""
import os
import subprocess
import sys
import tempfile

import tap

OTHERS = {"walker": ("walk", "backtrace"), "profiler": ("record", "fold")}


def installed(source, directory, left_out):
    """The files that a build without these products installs, relative to the prefix."""
    build, root = directory + "/build", directory + "/root"
    options = [f"-D{name}=disabled" for name in left_out]
    tap.must("meson", "setup", build, source, "--prefix=/p", "-Dtests=disabled", "-Dman=disabled", "-Db_lto=false",
             "-Doptimization=0", *options)
    tap.must("ninja", "-C", build)
    tap.must("meson", "install", "-C", build, "--no-rebuild", "--destdir", root)
    return {os.path.relpath(os.path.join(at, name), root + "/p") for at, folders, names in os.walk(root)
            for name in names + [folder for folder in folders if os.path.islink(os.path.join(at, folder))]}


def main(source, listed):
    names = [line.split()[0] for line in open(listed, encoding="utf-8")]
    for left_out in (["walker", "profiler"], ["profiler"]):
        with tempfile.TemporaryDirectory() as directory:
            found = installed(source, directory, left_out)
            words = [word for product in left_out for word in OTHERS[product]]
            want = {os.path.basename(name) for name in names if "/man/" not in name and
                    (name.startswith(("include/", "share/doc/")) or not any(word in os.path.basename(name) for word in words))}
            real = {os.path.basename(name) for name in found}
            tap.check(real == want, f"without {' and '.join(left_out)}: what is installed", real ^ want)
            command = os.path.join(directory, "root/p/bin/eh2sframe")
            out = os.path.join(directory, "out")
            done = subprocess.run([command, "-q", command, out], check=False)
            tap.check(done.returncode == 0 and os.path.getsize(out) > 0, "the converter converts itself", done)
    with tempfile.TemporaryDirectory() as directory:
        done = tap.run("meson", "setup", directory + "/build", source, "-Dwalker=disabled", "-Dprofiler=enabled",
                       "-Dtests=disabled")
        tap.check(done.returncode != 0 and "the profiler walks stacks by the walker" in done.stdout,
                  "a profiler without the walker is refused", done.stdout[-500:])
    tap.plan()


main(sys.argv[1], sys.argv[2])
