#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Converts the programs and libraries of a build tree, for as long as the package's own tests run.

    dh_eh2sframe_tree_convert
    dh_eh2sframe_tree_restore
    dh_eh2sframe_tree_run PROGRAM ARGUMENT...

The names of this program say which; the first two ignore the arguments of debhelper. The first one converts every 64-bit program
and library below the current directory in place and proves it. The second one looks whether each still is the
converted file, and takes the section out: it must have the bytes that it had before. Times of modification stay,
so that make builds nothing again. DATA/tested.json says what was seen. With `nocheck` both do nothing. The third one is
for tests that are built by what runs them, as `go test` does: it converts and proves the program, and becomes it.
"""
import hashlib
import json
import os
import stat
import subprocess
import sys
import time

DATA = os.environ.get("REAL_PACKAGES_OUT", "/mnt/out")


def elf_files(top):
    """Paths of 64-bit programs and shared libraries. Links are left out, as are second names of one file."""
    seen = set()
    for where, folders, names in os.walk(top):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(where, name)
            info = os.lstat(path)
            if not stat.S_ISREG(info.st_mode) or info.st_size < 64 or (info.st_dev, info.st_ino) in seen:
                continue
            try:
                with open(path, "rb") as file:
                    head = file.read(20)
            except PermissionError:
                continue
            if head[:5] == b"\x7fELF\x02" and head[5] == 1 and head[16:18] in (b"\2\0", b"\3\0"):
                seen.add((info.st_dev, info.st_ino))
                yield path


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def tree(verb):
    """Runs a verb of eh2sframe tree over the tree; ends the build when it fails."""
    done = subprocess.run(["eh2sframe", "tree", verb, "-q", "-j1", "."], check=False)
    if done.returncode not in (0, 6):
        sys.exit(f"{sys.argv[0]}: eh2sframe tree {verb} ended with status {done.returncode}")


def convert(saved):
    files = {path: {"before": digest(path), "time": os.stat(path).st_mtime_ns} for path in elf_files(".")}
    tree("convert")
    tree("verify")
    for path, file in files.items():
        file["after"] = digest(path)
        os.utime(path, ns=(file["time"], file["time"]))
    with open(saved, "w", encoding="utf-8") as out:
        json.dump({"began": time.time(), "files": files}, out)


def restore(saved):
    with open(saved, encoding="utf-8") as file:
        seen = json.load(file)
    seen["seconds"] = time.time() - seen["began"]
    files = seen["files"]
    for path, file in files.items():
        now = digest(path) if os.path.exists(path) else "gone"
        same = file["before"] == file["after"]
        file["end"] = "nothing to convert" if same else "converted" if now == file["after"] else "not converted any more"
    tree("remove")
    for path, file in files.items():
        if file["end"] == "converted":
            if digest(path) != file["before"]:
                sys.exit(f"{sys.argv[0]}: {path}: it has other bytes than before the conversion")
            os.utime(path, ns=(file["time"], file["time"]))
    seen["done"] = True
    with open(saved, "w", encoding="utf-8") as out:
        json.dump(seen, out, indent=1)


def run(program, *arguments):
    if os.environ.get("REAL_PACKAGES_CONVERT"):
        for words in (["convert", "-q", program, program], ["verify", program]):
            if subprocess.run(["eh2sframe", *words], stdout=subprocess.DEVNULL, check=False).returncode:
                sys.exit(f"{sys.argv[0]}: {program}: eh2sframe {words[0]} fails")
        with open(os.path.join(DATA, "run.txt"), "a", encoding="utf-8") as out:
            out.write(f"{program}\n")
    os.execv(program, [program, *arguments])


def main():
    if sys.argv[0].endswith("_run"):
        run(*sys.argv[1:])
    if "nocheck" in os.environ.get("DEB_BUILD_OPTIONS", "") or not os.environ.get("REAL_PACKAGES_CONVERT"):
        return
    saved = os.path.join(DATA, "tested.json")
    if sys.argv[0].endswith("_convert"):
        convert(saved)
    else:
        restore(saved)


if __name__ == "__main__":
    main()
