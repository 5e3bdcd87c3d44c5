# SPDX-License-Identifier: MIT
"""What the tests in Python have in common: lines of TAP, and commands that are run."""
import os
import struct
import subprocess
import time

# Rights of a user (posix_acl_xattr.h).
ACL = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in (
    (1, 7, -1), (2, 4, 1234), (4, 5, -1), (16, 5, -1), (32, 5, -1)))
count = 0
failed = 0


def check(ok, name, why=""):
    """One line of TAP; why is shown when it is not so."""
    global count, failed
    count += 1
    print("ok" if ok else "not ok", count, "-", name, flush=True)
    if not ok:
        failed += 1
        for line in str(why).splitlines()[:30]:
            print("#", line)
    return ok


def skip(name, why):
    global count
    count += 1
    print("ok", count, "-", name, "# SKIP", why, flush=True)


def skip_all(why):
    """The only line, where nothing can be tested; ends the program."""
    print("1..0 # SKIP", why, flush=True)
    raise SystemExit(0)


def plan():
    """The last line; ends the program."""
    print(f"1..{count}", flush=True)
    raise SystemExit(1 if failed else 0)


def known_to_git():
    """The files of the checkout that is the current directory; none where it is no checkout, or git is not installed."""
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        return []
    return listed.split("\0")[:-1]


def run(*argv):
    return subprocess.run(argv, capture_output=True, text=True, errors="replace", check=False)


def read(path):
    """The bytes of a file; None when there is none."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def wait_for(condition, process=None):
    """Waits until the condition is true. Returns False if the process ended without it, or after ten minutes. A process
    that has ended keeps its number, so a signal to it reaches no other."""
    until = time.monotonic() + 600
    while not condition():
        ended = process and os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
        if ended or time.monotonic() > until:
            return condition()
        time.sleep(0.002)
    return True


def must(*argv):
    """The standard output of a command that succeeds."""
    made = run(*argv)
    if made.returncode:
        raise RuntimeError(f"{' '.join(argv)}: {made.stdout}{made.stderr}")
    return made.stdout
