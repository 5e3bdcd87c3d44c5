#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""eh2sframe tree convert where it may not or cannot write, or others change the place meanwhile: permissions, default ACLs,
sticky directories, full file systems, mount points, swapped links and files that become shorter. TAP.

    batch_places.py EH2SFRAME
"""

import ctypes
import os
import resource
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time

import schema_lib
from batch_lib import copy, digest, picture, remove, run, scratch, strays
from tap import check, plan, skip, wait_for

TOOL = os.path.realpath(sys.argv[1])
# A sanitizer leaves this signal to the program. Threads and children have it from here.
os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":handle_sigbus=0"


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
    got = run(TOOL, "tree", "convert", "p", preexec_fn=as_nobody)
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


ACCESS, DEFAULT = "system.posix_acl_access", "system.posix_acl_default"


def test_default_acl():
    """What a default ACL gives to new files, a converted file does not get."""
    os.makedirs("acl")
    copy("/bin/cat", "acl/own")
    copy("/bin/cat", "acl/given")
    # Owner, a user, group, mask, others.
    entries = ((1, 7, -1), (2, 7, 65534), (4, 7, -1), (16, 7, -1), (32, 0, -1))
    acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
    try:
        os.setxattr("acl", DEFAULT, acl)
        os.setxattr("acl/given", ACCESS, acl)
    except OSError as error:
        skip("a default ACL", str(error))
        return
    os.chmod("acl/own", 0o4750)
    for words in (("tree", "convert", "-q", "acl"), ("-q", "--refresh", "acl/own", "acl/other"),
                  ("section", "-q", "acl/own", "acl/section")):
        got = run(TOOL, *words)
        check(got.status == 0, " ".join(words), got)
    check([ACCESS in os.listxattr(f"acl/{name}") for name in ("own", "other", "given", "section")] == [False, False, True, True]
          and os.getxattr("acl/given", ACCESS) == acl and os.stat("acl/own").st_mode & 0o7777 == 0o4750,
          "a default ACL gives no rights to a file that has its own")


def exchange(one, other, stop):
    libc = ctypes.CDLL(None, use_errno=True)
    while not stop.is_set():
        libc.renameat2(-100, one.encode(), -100, other.encode(), 2)
        time.sleep(0.0003)


def test_swapped():
    """A directory and a link that change places again and again."""
    os.makedirs("w/dir")
    os.makedirs("outside")
    with open("w.s", "w", encoding="utf-8") as file:
        file.write(".globl _start\n_start:\n.cfi_startproc\nnop\nhlt\n.cfi_endproc\n")
    subprocess.run(["gcc", "-nostdlib", "-static", "-o", "tiny", "w.s"], check=True)
    for i in range(300):
        copy("tiny", f"w/dir/{i}")
    os.symlink(os.path.realpath("outside"), "w/link")
    stop = threading.Event()
    thread = threading.Thread(target=exchange, args=("w/dir", "w/link", stop))
    thread.start()
    got = [run(TOOL, "tree", verb, "-q", "--sandbox=off", "w") for verb in ("convert", "remove") * 4]
    stop.set()
    thread.join()
    check(os.listdir("outside") == [] and {one.status for one in got} <= {0, 3, 6},
          f"nothing is made where a swapped link leads: {[one.status for one in got]}", (os.listdir("outside"), got[0].err[-300:]))


def test_archive_swapped():
    """An archive and a link in its place. As root, the link leads to what only root may change."""
    os.makedirs("kept")
    with open("kept/victim", "w", encoding="ascii") as file:
        file.write("mine")
    subprocess.run(["gcc", "-c", "-o", "w.o", "w.s"], check=True)
    with open("text", "wb") as file:
        file.write(b"x" * (16 << 20))  # reading it takes a while
    subprocess.run(["ar", "rc", "w.a", "w.o", "text"], check=True)
    statuses = set()
    for i in range(20):
        os.makedirs(f"a{i}")
        copy("w.a", f"a{i}/lib.a")
        os.symlink(os.path.realpath("kept/victim"), f"a{i}/link")
        stop = threading.Event()
        thread = threading.Thread(target=exchange, args=(f"a{i}/lib.a", f"a{i}/link", stop))
        thread.start()
        try:
            statuses.add(run(TOOL, "tree", "convert", "--objects", "--format=2", "-q", "--sandbox=off", f"a{i}").status)
        finally:
            stop.set()
            thread.join()
        shutil.rmtree(f"a{i}")
    with open("kept/victim", "rb") as file:
        check(os.listdir("kept") == ["victim"] and file.read() == b"mine" and statuses <= {0, 3, 6},
              f"no archive is made where a swapped link leads: {sorted(statuses)}", os.listdir("kept"))


def upgrade():
    copy(os.path.realpath("/bin/true"), "x/new")
    os.rename("x/new", "x/d/f")


def test_meanwhile():
    """A process that is stopped when its new file is there, and goes on after a change."""
    for words, change, name in (
            (("tree", "convert", "-j1", "x"), lambda: os.truncate("x/d/f", 1000), "tree: a file that becomes shorter"),
            *[(("x/d/f", "x/d/f"), lambda: os.truncate("x/d/f", 1000), "a file that becomes shorter")] * 6,
            (("x/d/f", "x/d/f"), upgrade, "a file in whose place is another one"),
            (("tree", "convert", "-j1", "x"), lambda: os.rename("x/d", "x/e"), "tree: a directory that gets another name"),
            (("x/d/f", "x/d/f"), lambda: os.rename("x/d", "x/e"), "a directory that gets another name")):
        shutil.rmtree("x", ignore_errors=True)
        os.makedirs("x/d")
        copy(os.path.realpath(shutil.which("gdb") or sys.executable), "x/d/f")
        with subprocess.Popen([TOOL, *words, "-q", "--witness=libdwarf"], stderr=subprocess.PIPE, start_new_session=True) as process:
            begun = wait_for(lambda: strays("x"), process)
            os.killpg(process.pid, signal.SIGSTOP)
            change()
            os.killpg(process.pid, signal.SIGCONT)
            said = process.stderr.read()
        check(begun and process.returncode in (0, 3) and not strays("x") and said.count(b"\n") == (process.returncode != 0),
              f"{name}: {process.returncode}", said)
        if change == upgrade:
            check(process.returncode == 3 and digest("x/d/f") == digest(os.path.realpath("/bin/true")), "stays", said)


def test_sticky():
    """Where a file can be made and none be renamed over somebody else's."""
    os.makedirs("s")
    copy("/bin/cat", "s/o\033ne")
    copy("/bin/cat", "s/two")
    os.link("s/two", "s/three")
    if os.getuid() != 0:
        skip("somebody else's files in a sticky directory", "not root")
        return
    os.chmod("s", 0o1777)
    before = picture("s")
    try:
        got = run(TOOL, "tree", "convert", "-v", "-j1", "s", preexec_fn=as_nobody)
    except PermissionError:
        skip("a sticky directory", f"nobody cannot reach {TOOL}")
        return
    check(
        got.status == 3
        and got.out.startswith(b"0 converted, 0 skipped, 2 failed")
        and b"s/o\\033ne: cannot rename onto o\\033ne: Operation not permitted\n" in got.err
        and b": cannot rename onto three: Operation not permitted\n" in got.err,
        "somebody else's files in a sticky directory",
        got,
    )
    check(picture("s") == before and not strays("s"), "are as they were")


FULL = """
mount -t tmpfs -o size=%dk none full || exit 77
cp -a source/. full/ || exit 77
"$1" tree convert -j1 full; status=$?
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
    subprocess.run([TOOL, "tree", "convert", "-q", "done"], check=True)
    size = sum(os.path.getsize(f"source/{name}") for name in os.listdir("source"))
    with open("full.sh", "w", encoding="utf-8") as file:
        file.write(FULL % (size // 1024 + 400))
    got = run("unshare", "-m", "bash", "full.sh", TOOL)
    if got.status in (77, 1) and b"converted" not in got.out:
        skip("a full file system", "nothing can be mounted here")
    else:
        check(got.status == 3 and b"0 strays" in got.out and b"neither" not in got.out, "a full file system", got)
        check(b"No space left on device" in got.err and b"0 converted" not in got.out,
              "what there is room for is converted", got)

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, 1 << 19))

    got = run(TOOL, "tree", "convert", "source", preexec_fn=limit)
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
"$1" tree convert -v --report-file=m.json m; status=$?
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
    summary = schema_lib.read("m.json")["summary"]
    check(
        got.status == 0 and summary["mount_points"] == 1 and summary["done"] == 2 and summary["already"] == 1,
        "other file systems are not entered, a bind mount of the tree in itself not again",
        got,
    )


def main():
    top = scratch()
    try:
        test_permissions()
        test_default_acl()
        test_swapped()
        test_archive_swapped()
        test_meanwhile()
        test_sticky()
        test_space()
        test_mounts()
    finally:
        remove(top)
    plan()


if __name__ == "__main__":
    main()
