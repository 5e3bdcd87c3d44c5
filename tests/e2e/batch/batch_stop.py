#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""eh2sframe tree convert when it is interrupted, killed, or the tree changes under it: every file is the old or
the new one, whole. TAP.

    batch_stop.py EH2SFRAME [MOMENTS]
"""

import ctypes
import fcntl
import os
import random
import select
import signal
import subprocess
import sys
import time

from batch_lib import (
    SIGNALS,
    children,
    copy,
    digest,
    picture,
    programs,
    remove,
    run,
    scratch,
    strays,
)
from tap import check, plan, skip, wait_for

TOOL = os.path.realpath(sys.argv[1])
SHIM = os.path.join(os.path.dirname(os.path.realpath(sys.argv[0])), "../../shared/cli_shim.c")
MOMENTS = int(sys.argv[2]) if len(sys.argv) > 2 else 60


def start(*argv, **how):
    return subprocess.Popen(
        [TOOL, "tree", "convert", *argv],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        **how,
    )


def make_tree(top):
    """Programs in two directories; every third has a second name, every ninth more."""
    os.makedirs(f"{top}/a/b")
    for i, path in enumerate(programs(45, 1 << 16)):
        name = f"{top}/a/{i}"
        subprocess.run(["cp", path, name], check=True)
        for k in range(5 if i % 9 == 0 else i % 3 == 0):
            os.link(name, f"{top}/a/b/{i}-{k}")
    with open(f"{top}/text", "w", encoding="utf-8") as file:
        file.write("not ELF\n")


class Renames:
    """Counts the files that get their names below a tree, as they do."""

    def __init__(self, top):
        self.libc, moved_to = ctypes.CDLL(None, use_errno=True), 0x80
        self.fd = self.libc.inotify_init1(os.O_CLOEXEC)
        for where, _, _ in os.walk(top):
            if self.libc.inotify_add_watch(self.fd, os.fsencode(where), moved_to) < 0:
                raise OSError(ctypes.get_errno(), "inotify", where)

    def wait(self, count, process):
        """Until as many have names, or the process has ended."""
        while count > 0:
            ready = select.select([self.fd, process.stdout], [], [])[0]
            if self.fd not in ready:
                break
            events = os.read(self.fd, 1 << 16)
            while events:
                count, events = count - 1, events[16 + int.from_bytes(events[12:16], sys.byteorder):]
        os.close(self.fd)


def states(top, old, new):
    """How many names have the old file, the new one; the names of others."""
    now = picture(top)[0]
    n_old = sum(1 for key, what in now.items() if what == old.get(key) != new.get(key))
    n_new = sum(1 for key, what in now.items() if what == new.get(key) != old.get(key))
    odd = [key for key, what in now.items() if what not in (old.get(key), new.get(key))]
    return n_old, n_new, odd + [key for key in old if key not in now]


def test_interrupt():
    make_tree("old")
    copy("old", "new")
    whole = run(TOOL, "tree", "convert", "-q", "-j2", "new")
    check(whole.status == 0, "the whole tree", whole)
    (old, links), (new, _) = picture("old"), picture("new")
    n_names = sum(map(len, links))
    rng = random.Random(int(os.environ.get("SEED", "7")))
    wrong, partly, unlike = [], 0, 0
    for moment in range(MOMENTS):
        copy("old", "tree")
        # As of a terminal every other time: all processes get it.
        group = moment % 2 == 1
        number = SIGNALS[moment // 2 % len(SIGNALS)]
        renames = Renames("tree")
        process = start("-q", "-j2", "tree", start_new_session=True)
        renames.wait(rng.randrange(n_names), process)
        # Anywhere in the next files.
        time.sleep(rng.random() * 0.05)
        (os.killpg if group else os.kill)(process.pid, number)
        out, err = process.communicate()
        n_old, n_new, odd = states("tree", old, new)
        partly += n_old > 0 and n_new > 0
        unlike += picture("tree")[1] != links
        if process.returncode not in (0, -number) or odd or out or err:
            wrong.append((moment, number, process.returncode, odd[:3], err))
        if process.returncode == 0 and n_old:
            wrong.append((moment, "status 0, but not all is done"))
        if strays("tree"):
            wrong.append((moment, strays("tree")))
        if moment % 10 == 0:
            again = run(TOOL, "tree", "convert", "-q", "tree")
            if again.status != 0 or states("tree", old, new)[0]:
                wrong.append((moment, "a second run does not finish it", str(again)))
        subprocess.run(["rm", "-rf", "tree"], check=True)
    words = ", ".join(number.name for number in SIGNALS)
    check(not wrong, f"{words} at {MOMENTS} moments: each file old or new", wrong)
    check(unlike == 0, "names of one file have the same one", unlike)
    check(partly >= MOMENTS // 4, f"{partly} of them in the middle of it")
    wrong = []
    for moment in range(MOMENTS // 3):
        copy("old", "tree")
        renames = Renames("tree")
        process = start("-q", "-j2", "tree", start_new_session=True)
        renames.wait(rng.randrange(n_names), process)
        time.sleep(rng.random() * 0.05)
        # Every other time only what the user started, whose workers must end, too.
        (os.killpg if moment % 2 else os.kill)(process.pid, signal.SIGKILL)
        process.communicate()
        if not moment % 2 and not wait_for(lambda: not orphans("tree")):
            wrong.append((moment, "workers go on"))
        for path in strays("tree"):
            if moment % 2 == 0 and os.path.basename(path).count(".") == 2:
                wrong.append((moment, path))
            os.unlink(path)
        odd = states("tree", old, new)[2]
        if odd:
            wrong.append((moment, odd[:3]))
        subprocess.run(["rm", "-rf", "tree"], check=True)
    check(not wrong, f"KILL at {MOMENTS // 3} moments: each file old or new", wrong)


def orphans(top):
    """Processes that have a directory of the tree as their own."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            where = os.readlink(f"/proc/{pid}/cwd")
        except OSError:
            continue
        if where.startswith(os.path.abspath(top)):
            found.append(pid)
    return found


def test_ignored():
    copy("old", "tree")

    def ignore():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    process = start("-q", "-j2", "tree", preexec_fn=ignore)
    while process.poll() is None:
        process.send_signal(signal.SIGHUP)
        time.sleep(0.005)
    check(process.returncode == 0, "a signal that is ignored, as by nohup", process.returncode)
    check(picture("tree") == picture("new"), "all is done")
    subprocess.run(["rm", "-rf", "tree"], check=True)


def slow_tree(top):
    """A file that takes long, and by one worker comes first; smaller ones in other directories."""
    os.makedirs(f"{top}/first")
    os.makedirs(f"{top}/moved")
    os.makedirs("outside", exist_ok=True)
    compiler = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True, check=True)
    subprocess.run(["cp", compiler.stdout.strip(), f"{top}/first/cc1"], check=True)
    for name in ("gone", "grown", "replaced", "link", "moved/file", "parted", "same"):
        subprocess.run(["cp", "/bin/cat", f"{top}/{name}"], check=True)
    os.link(f"{top}/parted", f"{top}/parted2")
    for name in ("file", "link"):
        subprocess.run(["cp", "/bin/ls", f"outside/{name}"], check=True)


def slow(top, **how):
    """Starts a run, and stops it and its worker when it has begun with the first file. A worker makes its new file, notes
    the name and writes: KILL between the first two would leave the file behind."""
    process = start("-j1", "--witness=libdwarf", top, start_new_session=True, **how)
    if not wait_for(lambda: any(map(os.path.getsize, strays(f"{top}/first"))), process):
        raise RuntimeError("it does not begin")
    os.killpg(process.pid, signal.SIGSTOP)
    return process


def test_blocked():
    """Workers are ended by TERM, which the caller may have blocked."""
    slow_tree("b")
    old = picture("b")
    process = slow("b", preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM}))
    process.send_signal(signal.SIGINT)
    os.killpg(process.pid, signal.SIGCONT)
    process.communicate()
    check(process.returncode == -signal.SIGINT and picture("b") == old and not strays("b"),
          "INT, where the caller has blocked TERM: a worker does not go on", process.returncode)
    subprocess.run(["rm", "-rf", "b", "outside"], check=True)


def test_changes():
    slow_tree("c")
    outside = picture("outside")
    process = slow("c")
    os.unlink("c/gone")
    os.unlink("c/parted2")
    with open("c/grown", "ab") as file:
        file.write(b"more")
    subprocess.run(["cp", "/bin/ls", "c/other"], check=True)
    os.rename("c/other", "c/replaced")
    os.unlink("c/link")
    os.symlink("../outside/link", "c/link")
    os.rename("c/moved", "c.moved")
    os.symlink("../outside", "c/moved")
    os.chmod("c/first/cc1", 0o700)
    before = {name: digest(f"c/{name}") for name in ("grown", "replaced", "parted", "first/cc1")}
    os.killpg(process.pid, signal.SIGCONT)
    out, err = process.communicate()
    said = err.decode().splitlines()
    for path, words in (
        ("c/gone", "cannot open: No such file"),
        ("c/grown", "changed after it was listed"),
        ("c/replaced", "changed after it was listed"),
        ("c/parted", "changed after it was listed"),
        ("c/link", "cannot open: Too many levels of symbolic links"),
        ("c/moved/file", "cannot open the directory: "),
        ("c/first/cc1", "changed while it was converted; left as it is"),
    ):
        check(any(line.startswith(f"eh2sframe: {path}: {words}") for line in said), f"{path}: {words}", err.decode())
    check(process.returncode == 3 and out.startswith(b"1 converted, 0 skipped, 7 failed"), "the others go on", out)
    check(before == {name: digest(f"c/{name}") for name in before}, "what changed is left alone")
    check(picture("outside") == outside, "nothing outside was touched")
    check(not strays("c") and not strays("c.moved") and not strays("outside"), "nothing is left")


def test_worker():
    """One that is ended costs the file it had."""
    for number in (signal.SIGKILL, signal.SIGABRT, signal.SIGTERM):
        subprocess.run(["rm", "-rf", "w", "outside"], check=True)
        slow_tree("w")
        process = slow("w")
        worker = children(process.pid)
        before = digest("w/first/cc1")
        if len(worker) != 1:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            skip("a worker that ends", "there is no list of children here")
            return
        os.kill(worker[0], number)
        os.killpg(process.pid, signal.SIGCONT)
        out, err = process.communicate()
        check(
            process.returncode == 70
            and err.startswith(b"eh2sframe: w/first/cc1: signal")
            and err.count(b"\n") == 1
            and out.startswith(b"7 converted, 0 skipped, 1 failed"),
            f"a worker ended by {number.name}: the others go on",
            err + out,
        )
        check(digest("w/first/cc1") == before and not strays("w"), "its file is as it was")


def test_calls():
    """Each call that makes a file with four names fails, or ends the worker, one after the other."""
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", "shim.so", SHIM, "-ldl"], check=True)
    os.makedirs("s.old/a")
    subprocess.run(["cp", "/bin/cat", "s.old/a/1"], check=True)
    names = [f"{where}/{n}" for where in ("a", ".") for n in "12"]
    for name in names[1:]:
        os.link("s.old/a/1", f"s.old/{name}")
    copy("s.old", "s.new")
    subprocess.run([TOOL, "tree", "convert", "-q", "s.new"], check=True)
    old, new = digest("s.old/1"), digest("s.new/1")

    def struck(call, nth, what, verb=("convert", "-q")):
        """The status, how many names are new, and what else is wrong."""
        subprocess.run(["rm", "-rf", "s", "hit"], check=True)
        copy("s.old", "s")
        env = {**os.environ, "SHIM_CALL": call, "SHIM_NTH": str(nth), "SHIM_DO": what}
        env.update(SHIM_LOG=os.path.abspath("hit"), LD_PRELOAD=os.path.abspath("shim.so"))
        asan = ":verify_asan_link_order=0:detect_leaks=0"
        env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + asan
        got = run(TOOL, "tree", *verb, "-j1", "s", env=env, start_new_session=True)
        made = [digest(f"s/{name}") for name in names]
        wrong = strays("s") + [name for name, d in zip(names, made) if d not in (old, new)]
        if got.err.count(b"\n") != (got.status != 0) or not got.err.startswith(b"eh2sframe: s/1: "[: 16 * (got.status != 0)]):
            wrong.append(got)
        return got, made.count(new), wrong

    for call, what, expected in (
        ("pwrite", "EIO", lambda nth: (3, 0)),
        ("fsync", "EIO", lambda nth: (3, 0)),
        ("linkat", "EIO", lambda nth: (3, 0)),
        ("linkat", "EXDEV", lambda nth: (3, 0)),
        ("renameat", "EIO", lambda nth: (3, nth - 1)),
        ("pwrite", "KILL", lambda nth: (70, 0)),
        ("linkat", "KILL", lambda nth: (70, 0)),
        ("renameat", "KILL", lambda nth: (70, nth - 1)),
        # Waits until all names are done.
        ("linkat", "TERM", lambda nth: (70, 4)),
        ("renameat", "TERM", lambda nth: (70, 4)),
    ):
        nth, bad = 1, []
        while True:
            got, n_new, wrong = struck(call, nth, what)
            if not os.path.exists("hit"):
                break
            if (got.status, n_new) != expected(nth) or wrong:
                bad.append((nth, got.status, n_new, wrong, got.err))
            nth += 1
        check(nth > 1 and not bad, f"{call}: {what} ({nth - 1} times)", bad)
        check(got.status == 0 and n_new == 4, "and without it all is done", got)
    got, n_new, _ = struck("prctl", 1, "KILL")
    check(
        got.status == 70 and n_new == 0 and b"another program ended the processes" in got.err,
        "a worker killed before it has a file",
        got,
    )
    os.environ["SHIM_LATE"] = "1"
    got, n_new, _ = struck("prctl", 1, "INT")
    with open("report", "w", encoding="utf-8") as file:
        file.write("the old one\n")
    text = struck("prctl", 1, "INT", ("report", "-o", "report"))[0]
    del os.environ["SHIM_LATE"]
    check(
        got.status == -signal.SIGINT and n_new == 0 and not got.err,
        "one ended by an interrupt, which the pool hears of later",
        got,
    )
    with open("report", encoding="utf-8") as file:
        check(text.status == -signal.SIGINT and file.read() == "the old one\n", "a report then keeps its old text", text)


def test_waits():
    """A signal that only the command gets: when it has ended, so have its workers, and all names are new."""
    new = digest("s.new/1")
    for number in SIGNALS:
        subprocess.run(["rm", "-rf", "s", "hit"], check=True)
        copy("s.old", "s")
        env = {**os.environ, "SHIM_CALL": "linkat", "SHIM_NTH": "1", "SHIM_DO": "WAIT"}
        env.update(SHIM_LOG=os.path.abspath("hit"), LD_PRELOAD=os.path.abspath("shim.so"))
        env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0:detect_leaks=0"
        process = start("-q", "-j1", "s", env=env, start_new_session=True)
        hit = wait_for(lambda: os.path.exists("hit"), process)
        process.send_signal(number)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        left = strays("s") + orphans("s")
        names = [path for path in ("s/a/1", "s/a/2", "s/1", "s/2") if digest(path) != new]
        process.communicate()
        check(
            hit and process.returncode == -number and not left and not names,
            f"{number.name} for the command alone: it ends after its workers",
            (process.returncode, left, names),
        )


def test_lock():
    """Two runs that give a file its names at the same time would part them."""
    os.makedirs("l")
    copy("/bin/cat", "l/1")
    os.link("l/1", "l/2")
    before = picture("l")
    with open("l/1", "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        got = run(TOOL, "tree", "convert", "-q", "l")
    check(
        got.status == 3 and got.err.startswith(b"eh2sframe: l/1: another process has locked it"),
        "a file that another run is at",
        got,
    )
    check(picture("l") == before and not strays("l"), "is left as it is")
    got = run(TOOL, "tree", "convert", "-q", "l")
    check(got.status == 0 and os.path.samefile("l/1", "l/2"), "and converted when it is done", got)


def main():
    top = scratch()
    try:
        test_interrupt()
        test_ignored()
        test_blocked()
        test_changes()
        test_worker()
        test_calls()
        test_waits()
        test_lock()
    finally:
        remove(top)
    plan()


if __name__ == "__main__":
    main()
