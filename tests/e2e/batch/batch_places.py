#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""eh2sframe --batch where it may not or cannot write: permissions, sticky directories, full file systems
and mount points. TAP.

    batch_places.py EH2SFRAME
"""

import json
import os
import resource
import subprocess
import sys

from batch_lib import copy, digest, picture, remove, run, scratch, strays
from tap import check, plan, skip

TOOL = os.path.realpath(sys.argv[1])


def as_nobody():
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)


def test_permissions():
    os.makedirs("p/closed")
    os.makedirs("p/locked")
    for name in ("open", "closed/a", "locked/b", "unreadable"):
        copy("/bin/cat", f"p/{name}")
    if os.getuid() == 0:
        subprocess.run(["chown", "-R", "65534:65534", "p"], check=True)
    os.chmod("p/closed", 0)
    os.chmod("p/locked", 0o555)
    os.chmod("p/unreadable", 0)
    os.chmod(".", 0o755)
    before = digest("p/locked/b")
    try:
        probe = run(TOOL, "--version", preexec_fn=as_nobody)
    except PermissionError:
        skip("permissions", f"nobody cannot reach {TOOL}")
        return
    check(probe.status == 0, "another user can run it", probe)
    got = run(TOOL, "--batch", "p", preexec_fn=as_nobody)
    os.chmod("p/closed", 0o755)
    check(
        got.status == 3
        and got.out.startswith(b"1 converted, 0 skipped, 3 failed")
        and got.err.count(b"\n") == 3,
        "directories and files without permission",
        got,
    )
    for words in (
        b"p/closed: cannot open the directory: Permission denied",
        b"p/unreadable: cannot open: Permission denied",
        b"p/locked/b: ",
    ):
        check(words in got.err, words.decode(), got)
    check(digest("p/locked/b") == before and not strays("p"), "what cannot be written is as it was")


def test_sticky():
    """Where a file can be made and none be renamed over somebody else's."""
    os.makedirs("s")
    copy("/bin/cat", "s/one")
    copy("/bin/cat", "s/two")
    os.link("s/two", "s/three")
    if os.getuid() != 0:
        skip("somebody else's files in a sticky directory", "not root")
        return
    os.chmod("s", 0o1777)
    before = picture("s")
    try:
        got = run(TOOL, "--batch", "-v", "s", preexec_fn=as_nobody)
    except PermissionError:
        skip("a sticky directory", f"nobody cannot reach {TOOL}")
        return
    check(
        got.status == 3
        and got.out.startswith(b"0 converted, 0 skipped, 2 failed")
        and b"s/one: cannot rename onto one: Operation not permitted\n" in got.err
        and b"; 0 of its 2 names are links to the new file\n" in got.err,
        "somebody else's files in a sticky directory",
        got,
    )
    check(picture("s") == before and not strays("s"), "are as they were")


FULL = """
mount -t tmpfs -o size=%dk none full || exit 77
cp -a source/. full/ || exit 77
"$1" --batch -j1 full; status=$?
echo "$(ls -A full | grep -c eh2sframe) strays"
for f in full/*; do
	cmp -s "$f" "source/${f#full/}" || cmp -s "$f" "done/${f#full/}" || echo "$f: neither"
done
exit $status
"""


def test_space():
    os.makedirs("source")
    os.makedirs("full")
    for i in range(6):
        copy("/bin/cat", f"source/cat{i}")
    copy("/bin/bash", "source/bash")
    copy("source", "done")
    subprocess.run([TOOL, "--batch", "-q", "done"], check=True)
    size = sum(os.path.getsize(f"source/{name}") for name in os.listdir("source"))
    with open("full.sh", "w", encoding="utf-8") as file:
        file.write(FULL % (size // 1024 + 400))
    got = run("unshare", "-m", "bash", "full.sh", TOOL)
    if got.status in (77, 1) and b"converted" not in got.out:
        skip("a full file system", "nothing can be mounted here")
    else:
        check(
            got.status == 3 and b"0 strays" in got.out and b"neither" not in got.out,
            "a full file system",
            got,
        )
        check(b"No space left on device" in got.err and b"0 converted" not in got.out,
              "what there is room for is converted", got)

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, 1 << 19))

    got = run(TOOL, "--batch", "source", preexec_fn=limit)
    check(
        got.status == 3
        and got.out.startswith(b"6 converted, 0 skipped, 1 failed")
        and b"File too large" in got.err,
        "a limit on the size of files",
        got,
    )
    check(not strays("source"), "leaves nothing")


MOUNTS = """
mount -t tmpfs none m/other || exit 77
cp source/cat0 m/other/ || exit 77
mount --bind m m/loop || exit 77
"$1" --batch -v --report-file=m.json m; status=$?
cmp source/cat0 m/other/cat0 || exit 99
exit $status
"""


def test_mounts():
    os.makedirs("m/other")
    os.makedirs("m/loop")
    copy("source/cat1", "m/cat")
    copy("/bin/ls", "m/ls")
    with open("mounts.sh", "w", encoding="utf-8") as file:
        file.write(MOUNTS)
    got = run("unshare", "-m", "bash", "mounts.sh", TOOL)
    if got.status in (77, 1) and not got.out:
        skip("mount points", "nothing can be mounted here")
        return
    with open("m.json", encoding="utf-8") as file:
        summary = json.load(file)["summary"]
    check(
        got.status == 0 and summary["mount_points"] == 1 and summary["done"] == 2 and summary["already"] == 1,
        "other file systems are not entered, a bind mount of the tree in itself not again",
        got,
    )


def main():
    top = scratch()
    try:
        test_permissions()
        test_sticky()
        test_space()
        test_mounts()
    finally:
        remove(top)
    plan()


if __name__ == "__main__":
    main()
