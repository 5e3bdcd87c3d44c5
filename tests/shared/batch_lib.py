# SPDX-License-Identifier: MIT
"""What the tests of eh2sframe tree have in common: trees of files, pictures of them."""

import glob
import hashlib
import os
import shutil
import signal
import stat
import subprocess
import tempfile


def scratch():
    """A directory that is the current one from now on; LC_ALL is C."""
    os.environ["LC_ALL"] = "C"
    path = os.path.realpath(tempfile.mkdtemp(prefix="batch."))
    os.chdir(path)
    return path


def remove(path):
    os.chdir("/")
    subprocess.run(["chmod", "-R", "u+rwx", path], check=False)
    shutil.rmtree(path)


class Result:
    def __init__(self, argv, **how):
        done = subprocess.run(argv, capture_output=True, stdin=subprocess.DEVNULL, **how)
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr

    def __str__(self):
        return f"status {self.status}\nout: {self.out!r}\nerr: {self.err!r}"


def run(tool, *argv, **how):
    return Result([tool, *argv], **how)


def programs(limit, smallest=0):
    """Files of this machine with .eh_frame that can be read, of a few sizes."""
    found = []
    for pattern in ("/usr/bin/*", "/usr/lib/x86_64-linux-gnu/*.so.*", "/usr/lib/*/*.so.*"):
        for path in sorted(glob.glob(pattern)):
            path = os.path.realpath(path)
            if path in found or not os.path.isfile(path):
                continue
            with open(path, "rb") as file:
                head = file.read(20)
            if head[:5] == b"\x7fELF\2" and smallest <= os.path.getsize(path) < 1 << 20:
                found.append(path)
            if len(found) >= limit:
                return found
    return found


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def picture(top):
    """Everything under a directory: kind, mode, owner, links by group, contents."""
    seen, groups = {}, {}
    for where, dirs, files in os.walk(os.fsencode(top)):
        for name in dirs + files:
            path = os.path.join(where, name)
            st = os.lstat(path)
            key = os.path.relpath(path, os.fsencode(top))
            what = (stat.S_IFMT(st.st_mode), stat.S_IMODE(st.st_mode), st.st_uid, st.st_gid)
            if stat.S_ISREG(st.st_mode):
                groups.setdefault(st.st_ino, []).append(key)
                what += (digest(path),)
            elif stat.S_ISLNK(st.st_mode):
                what += (os.readlink(path),)
            seen[key] = what
    return seen, sorted(sorted(names) for names in groups.values())


def strays(top):
    return [
        os.path.join(where, name)
        for where, _, files in os.walk(top)
        for name in files
        if name.startswith(".eh2sframe.")
    ]


def copy(source, target):
    subprocess.run(["cp", "-a", "--", source, target], check=True)


def children(pid):
    """The processes that a process started."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [int(child) for child in file.read().split()]
    except OSError:
        return []


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGXCPU, signal.SIGALRM,
           signal.SIGVTALRM, signal.SIGPROF, signal.SIGUSR1, signal.SIGUSR2)
