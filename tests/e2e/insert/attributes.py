#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A converted file keeps mode, owner and attributes of its input. Rights that only somebody else could give are not quietly
lost, and never given. cli_files.sh has the links and the full disks. TAP.

    attributes.py EH2SFRAME
"""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

from tap import ACL, check, plan, run, skip

# Capability CAP_NET_RAW, permitted and effective (linux/capability.h).
CAPABILITY = struct.pack("<5I", 0x02000001, 1 << 13, 0, 0, 0)
ATTRIBUTES = {"user.test": b"value", "system.posix_acl_access": ACL, "security.capability": CAPABILITY}


def of(path):
    status = os.stat(path)
    return f"{status.st_mode & 0o7777:o} {status.st_uid}:{status.st_gid}"


def fresh(mode):
    """A new input, and no output."""
    for path in ("in", "out", "open/out"):
        if os.path.exists(path):
            os.unlink(path)
    shutil.copyfile("/bin/cat", "in")
    os.chmod("in", mode)


def as_nobody(*argv):
    return subprocess.run(argv, capture_output=True, text=True, check=False, user=65534, group=65534, extra_groups=[])


def fails(words, out, name):
    """Status 3 and one line; nothing is made, and nothing is left."""
    made = as_nobody("./tool", "-q", "in", out)
    left = [name for _, _, names in os.walk(".") for name in names if name == "out" or name.startswith(".eh2sframe")]
    check(made.returncode == 3 and words in made.stderr and made.stderr.count("\n") == 1 and not left, name, f"{made}\n{left}")


def modes():
    for mode in (0o755, 0o700, 0o555, 0o4755, 0o2755, 0o6711, 0o1755):
        fresh(mode)
        made = run("./tool", "-q", "in", "out")
        check(made.returncode == 0 and of("out") == of("in") and run("./out", "/dev/null").returncode == 0,
              f"mode {mode:o}", f"{made} {of('in')} {of('out')}")
    fresh(0o700)
    old = os.umask(0o077)
    made = run("./tool", "-q", "in", "in")
    os.umask(old)
    check(made.returncode == 0 and of("in").startswith("700 ") and run("./in", "/dev/null").returncode == 0, "in place", f"{made}")


def owners():
    if os.getuid() != 0:
        skip("owners", "NOT ROOT")
        return
    fresh(0o755)
    os.chown("in", 1234, 4321)
    os.chmod("in", 0o4755)
    made = run("./tool", "-q", "in", "out")
    check(made.returncode == 0 and of("out") == "4755 1234:4321", "owner and setuid", f"{made} {of('out')}")
    os.unlink("out")
    fails("setuid", "open/out", "setuid of somebody else is not quietly lost")
    fails("cannot create", "out", "a directory of somebody else")
    os.chmod("in", 0o755)
    made = as_nobody("./tool", "-q", "in", "open/out")
    check(made.returncode == 0 and of("open/out") == "755 65534:65534", "an owner that is not ours to give", f"{made}")
    os.unlink("open/out")
    os.chmod("in", 0o444)
    try:
        os.setxattr("in", "user.test", b"x")
    except OSError as error:
        skip("an attribute of a file that nobody may write", str(error))
        return
    made = as_nobody("./tool", "-q", "in", "open/out")
    check(made.returncode == 0 and of("open/out") == "444 65534:65534" and os.listxattr("open/out") == ["user.test"],
          "an attribute of a file that nobody may write", f"{made}")


def attributes():
    for name, value in ATTRIBUTES.items():
        fresh(0o755)
        try:
            os.setxattr("in", name, value)
        except OSError as error:
            skip(name, str(error))
            continue
        made = run("./tool", "-q", "in", "out")
        check(made.returncode == 0 and os.getxattr("out", name) == value, f"{name} is kept", f"{made} {os.listxattr('out')}")
        os.unlink("out")
        if name == "security.capability":
            fails("", "open/out", "a capability is not quietly lost")


def no_room():
    """A file system that has no room for a value: what decides about access is not quietly lost, anything else is."""
    if not shutil.which("strace") or run("strace", "-qq", "-o", "/dev/null", "true").returncode:
        skip("a file system without room", "no strace")
        return
    # The mode of a file with an ACL has the mask in the group's place, so nobody else has rights before the ACL is there.
    fresh(0o755)
    run("strace", "-f", "-qq", "-o", "log", "-e", "trace=fchmod,fsetxattr", "./tool", "-q", "in", "out")
    with open("log", encoding="utf-8") as file:
        first = re.search(r"fchmod\(\d+, (\d+)\)", file.read())
    check(first and first[1] == "0700" and of("out") == "755 " + of("in")[4:], "nobody else has rights at first", f"{first}")
    for name, value in ATTRIBUTES.items():
        for error in ("ENOSPC", "E2BIG", "ERANGE", "EDQUOT"):
            fresh(0o755)
            try:
                os.setxattr("in", name, value)
            except OSError as why:
                skip(f"{name} {error}", str(why))
                break
            made = run("strace", "-f", "-qq", "-o", "/dev/null", "-e", f"inject=fsetxattr:error={error}", "./tool", "-q", "in", "out")
            if name == "user.test":
                check(made.returncode == 0 and name not in os.listxattr("out") and of("out") == of("in"),
                      f"{name}, {error}: OUT does without", f"{made}")
            else:
                check(made.returncode == 3 and f"cannot keep the attribute {name}: " in made.stderr and not os.path.exists("out"),
                      f"{name}, {error}: there is no OUT", f"{made}")


def names():
    fresh(0o755)
    made = run("./tool", "-q", "in", "")
    check(made.returncode == 1 and "no file name" in made.stderr and made.stderr.count("\n") == 1, "an empty name", f"{made}")
    with subprocess.Popen(["./in"], stdin=subprocess.PIPE) as running:
        made = run("./tool", "-q", "in", "in")
        running.stdin.close()
        check(made.returncode == 0 and running.wait(60) == 0 and run("./in", "/dev/null").returncode == 0,
              "in place, while it runs", f"{made} {running.returncode}")


with tempfile.TemporaryDirectory() as scratch:
    shutil.copy2(os.path.abspath(sys.argv[1]), scratch + "/tool")
    os.chdir(scratch)
    os.chmod(".", 0o755)
    os.mkdir("open")
    os.chmod("open", 0o777)
    modes()
    owners()
    attributes()
    no_room()
    names()
    os.chdir("/")
plan()
