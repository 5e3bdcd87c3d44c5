#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""eh2sframe tree convert over a copy of this machine's programs and libraries, which then run from it. TAP.

    batch_real.py EH2SFRAME DIRECTORY...
"""

import json
import os
import shutil
import subprocess
import sys
import time

from batch_lib import copy, picture, remove, run, scratch, strays
from tap import check, plan, skip

TOOL = os.path.realpath(sys.argv[1])

# Run in the copy as root directory, by the copy's loader with the copy's libraries.
PROGRAMS = (
    ["/usr/bin/bash", "-c", "echo $((6 * 7)); for i in a b; do echo $i; done | sort -r"],
    ["/usr/bin/ls", "-l", "/usr/bin/bash"],
    ["/usr/bin/perl", "-e", 'print join(",", map { $_ * 2 } 1 .. 5), "\\n"'],
    ["/usr/bin/sed", "s/x/y/", "/usr/share/text"],
    ["/usr/bin/grep", "-c", "x", "/usr/share/text"],
    ["/usr/bin/readelf", "-sW", "/usr/share/object"],
    ["/usr/bin/openssl", "dgst", "-sha256", "/usr/share/text"],
    ["/usr/bin/git", "--version"],
)


def links(top):
    """Groups of names with one inode each."""
    groups = {}
    for where, _, files in os.walk(top):
        for name in files:
            path = os.path.join(where, name)
            st = os.lstat(path)
            if st.st_nlink > 1:
                groups.setdefault(st.st_ino, []).append(path)
    return sorted(sorted(names) for names in groups.values())


def in_root(top, argv):
    done = subprocess.run(["unshare", "-r", "chroot", top, *argv], capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


def complete_root():
    os.makedirs("root/usr/share", exist_ok=True)
    for name in ("lib64", "lib", "bin"):
        if os.path.islink(f"/{name}"):
            os.symlink(os.readlink(f"/{name}"), f"root/{name}")
    if os.path.isdir("/usr/lib64"):
        copy("/usr/lib64", "root/usr/lib64")
    # A file does for the device.
    os.makedirs("root/dev")
    with open("root/dev/null", "wb"):
        pass
    subprocess.run(["cp", "/bin/ls", "root/usr/share/object"], check=True)
    with open("root/usr/share/object", "r+b") as file:
        file.seek(16)
        file.write(b"\1")
    with open("root/usr/share/text", "w", encoding="utf-8") as file:
        file.write("x\n" * 100)


def compare_runs():
    ran = 0
    for argv in PROGRAMS:
        if not os.path.exists("root" + argv[0]):
            continue
        before, after = in_root("root.before", argv), in_root("root", argv)
        if before[0] != 0:
            skip(f"{argv[0]} from the tree", f"the original does not run there: {before[2][:99]!r}")
            continue
        if argv[0].endswith("ls"):
            # The size is another one.
            check(after[0] == 0 and b"/usr/bin/bash" in after[1], f"{argv[0]} runs", after)
        else:
            check(after == before, f"{argv[0]} does as before", (before, after))
        ran += 1
    check(ran >= 4, f"{ran} programs of the tree were run")


def main():
    top = scratch()
    try:
        os.makedirs("root")
        for path in sys.argv[2:]:
            os.makedirs("root" + os.path.dirname(path), exist_ok=True)
            copy(path, "root" + path)
        complete_root()
        copy("root", "root.before")
        files = links("root")
        began = time.monotonic()
        got = run(TOOL, "tree", "convert", "--report-file=report.json", "root")
        took = time.monotonic() - began
        with open("report.json", encoding="utf-8") as file:
            report = json.load(file)
        print("#", got.out.decode().strip(), f"in {took:.1f} s")
        for line in got.err.decode(errors="replace").splitlines()[:20]:
            print("#", line)
        failures = [f for f in report["files"] if f["status"] not in (0, 6)]
        # Refusals for a reason, of files that the command refuses alone, too.
        check(got.status in (0, 1) and {f["status"] for f in failures} <= {1}, f"{len(failures)} files refused", failures)
        check(links("root") == files, f"{len(files)} groups of hard links are as before")
        check(not strays("root"), "no temporary file is left")
        now, before = picture("root")[0], picture("root.before")[0]
        done = {}
        for file in report["files"]:
            for path in [file["path"], *file.get("links", [])] if file["status"] == 0 else []:
                done[os.fsencode(os.path.relpath(path, "root"))] = file
        odd = [key for key in before if (now.get(key) == before[key]) == (key in done) or now[key][:4] != before[key][:4]]
        check(not odd and now.keys() == before.keys(), "all else is as it was", odd[:9])
        wrong = verify(sorted(done))
        check(not wrong, f"verify of {len(done)} names", wrong)
        compare_runs()
        again = run(TOOL, "tree", "convert", "root")
        check(again.out.startswith(b"0 converted"), "a second time there is nothing to do", again)
        shutil.rmtree("root")
        began = time.monotonic()
        subprocess.run(["find", "root.before", "-type", "f", "-exec", "cp", "--", "{}", "copied", ";"], check=True)
        print(f"# find -exec cp of each file: {time.monotonic() - began:.1f} s, tree: {took:.1f} s")
    finally:
        remove(top)
    plan()


def verify(paths):
    """Those of which verify does not say that they are right."""
    wrong = []
    for i in range(0, len(paths), 500):
        part = [b"root/" + path for path in paths[i : i + 500]]
        got = run(TOOL, "verify", *part)
        if got.status != 0 or got.out.count(b": 0 differences") != len(part):
            wrong.append(str(got)[:2000])
    return wrong


if __name__ == "__main__":
    main()
