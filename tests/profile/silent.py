#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""silent.py RECORD SHOW STACKS LIBRARY: a user's process has its root and a mapped file on a file system that it serves itself, and that
answers no more. Whoever asks for one of its files waits for ever, so root's recorder must not ask. TAP.
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile

import tap
from record_lib import Recordings

USER = 65534


def main(record, show, stacks, library):
    if os.geteuid() != 0 or not os.path.exists("/dev/fuse"):
        tap.skip_all("only root records other users, and only with FUSE")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as scratch:
        os.chmod(scratch, 0o777)
        os.mknod(os.path.join(scratch, "device"), 0o20666, os.makedev(10, 229))
        os.chmod(os.path.join(scratch, "device"), 0o666)
        shutil.copy(os.path.join(os.path.dirname(__file__), "silent_fs.py"), scratch)
        hostile = subprocess.Popen(
            ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "unshare", "-Urmpf", "--mount-proc",
             "/usr/bin/python3", os.path.join(scratch, "silent_fs.py"), scratch], stdout=subprocess.PIPE, text=True, start_new_session=True)
        try:
            if hostile.stdout.readline() != "silent\n":
                tap.skip_all("this system lets no user mount FUSE and overlayfs")
            check(record, show, stacks, library, scratch)
        finally:
            os.killpg(hostile.pid, signal.SIGKILL)
            hostile.wait()
    tap.plan()


def check(record, show, stacks, library, scratch):
    """Root records all while the file system is silent, and another program runs."""
    recording = os.path.join(scratch, "x")
    good = subprocess.Popen([stacks, "threads"], stdout=subprocess.DEVNULL, env=dict(os.environ, SECONDS="120"))
    run = subprocess.Popen([record, "-a", "-F", "499", "-d", "3", "-o", recording], stderr=subprocess.PIPE, text=True)
    try:
        said = run.communicate(timeout=120)[1]
        tap.check(run.returncode == 0, "root's recorder ends while a user's file system is silent", said)
    except subprocess.TimeoutExpired:
        run.kill()
        tap.check(False, "root's recorder ends while a user's file system is silent")
    good.kill()
    good.wait()
    found = Recordings(show, stacks, library)
    samples = found.samples(recording)
    # Other tests may run the same program meanwhile, and remove it.
    inner = [sample for sample in samples if sample[0] == str(good.pid) and "inner" in map(found.name, sample[4])]
    wrong = [sample for sample in inner if sample[3] != "outermost frame" or
             not {"middle", "outer"} <= set(map(found.name, sample[4]))]
    tap.check(len(inner) > 20 and len(wrong) <= len(inner) // 100, "others have all their stacks", f"{len(inner)}: {wrong[:3]}")
    names = [frame for sample in samples for frame in sample[4]]
    tap.check(any("/code+" in frame for frame in names), "and the silent process has samples", str(len(names)))


main(*map(os.path.abspath, sys.argv[1:]))
