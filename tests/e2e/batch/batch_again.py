#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""eh2sframe tree convert: the report of a run that goes on where another stopped, and a run that cannot tell
all, or runs out of memory. TAP.

    batch_again.py EH2SFRAME SHARED [long]

long lets memory run out at more places.
"""

import contextlib
import os
import random
import resource
import signal
import subprocess
import sys
import time

import schema_lib
from batch_lib import copy, picture, programs, remove, run, scratch, strays
from tap import check, plan, skip

TOOL = os.path.realpath(sys.argv[1])
SHIM = os.path.join(os.path.realpath(sys.argv[2]), "endings.c")
# Allocations up to which each one fails, and how many are passed over behind it.
EACH, STEP = (120, 7) if sys.argv[3:] == ["long"] else (30, 23)
SANITIZED = b"__asan_init" in open(TOOL, "rb").read()


def make_tree(top):
    os.makedirs(f"{top}/a/b")
    for i, path in enumerate(programs(12, 1 << 15)):
        copy(path, f"{top}/a/{i}")
        if i % 4 == 0:
            os.link(f"{top}/a/{i}", f"{top}/a/b/{i}")
    with open(f"{top}/text", "w", encoding="utf-8") as file:
        file.write("not ELF\n")


def batch(*argv, **how):
    return run(TOOL, "tree", "convert", *argv, **how)


def report(path):
    return schema_lib.read(path)


def without_already(document):
    """The document of a run that does it all, and how many files an earlier one had done."""
    n = sum(file.pop("already", False) for file in document["files"])
    counted = document["summary"].pop("already")
    return document, n, counted


def test_again():
    """Whatever an earlier run did, the report is the same."""
    make_tree("old")
    copy("old", "tree")
    first = batch("--report-file=first.json", "tree")
    new, links = picture("tree")
    whole = without_already(report("first.json"))
    check(first.status == 0 and whole[1:] == (0, 0) and whole[0]["summary"]["done"] == 12, "a run", first)
    before = {key: os.lstat(os.path.join(b"tree", key)).st_mtime_ns for key in new}
    again = batch("-v", "--report-file=again.json", "tree")
    check(
        again.status == 0
        and b"\n12 converted (12 of them by an earlier run), 0 skipped, 0 failed, 1 not ELF; " in again.out
        and again.out.count(b", by an earlier run\n") == 12,
        "the same once more",
        again,
    )
    after = {key: os.lstat(os.path.join(b"tree", key)).st_mtime_ns for key in new}
    check(picture("tree") == (new, links) and before == after, "nothing is written")
    got = report("again.json")
    check(without_already(got) == (whole[0], 12, 12), "its report has the figures of the first", got["summary"])
    cheap = batch("tree")
    check(cheap.out.startswith(b"0 converted, 12 skipped (has-sframe 12), 0 failed"), "without one they are skipped")
    merged = run(TOOL, "merge", "-o", "merged.json", "again.json")
    check(merged.status == 0 and report("merged.json")["summary"]["already"] == 12, "a merged report", merged)
    subprocess.run(["rm", "-rf", "tree"], check=True)
    copy("old", "tree")
    batch("-q", "--report-file=some.json", "tree/a/1", "tree/a/2", "tree/a/4", "tree/a/b/4")
    batch("-q", "--report-file=again.json", "tree")
    document, n, counted = without_already(report("again.json"))
    check(document == whole[0] and n == counted == 3, "after a run over 3 of the files, too", document["summary"])
    rng = random.Random(5)
    wrong = []
    for moment in range(10):
        subprocess.run(["rm", "-rf", "tree"], check=True)
        copy("old", "tree")
        process = subprocess.Popen([TOOL, "tree", "convert", "-q", "-j2", "--report-file=half.json", "tree"])
        time.sleep(rng.random() * 0.2)
        process.send_signal((signal.SIGINT, signal.SIGTERM, signal.SIGKILL)[moment % 3])
        status = process.wait()
        # The signal may come when all is done; a report is complete in any case.
        if os.path.exists("half.json"):
            if report("half.json")["summary"]["done"] != 12:
                wrong.append((moment, status, "a report of nothing is left"))
            os.unlink("half.json")
        if strays(".") != strays("tree") and status != -signal.SIGKILL:
            wrong.append((moment, strays(".")))
        for path in strays("."):
            # A worker can still be at work when its pool was killed, and put the file in its place.
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
        again = batch("-q", "-j2", "--report-file=again.json", "tree")
        document, n, counted = without_already(report("again.json"))
        if again.status or document != whole[0] or n != counted or picture("tree")[0] != new:
            wrong.append((moment, str(again), n, document["summary"]))
    check(not wrong, "interrupted at 10 moments: the second run reports everything", wrong)


def test_others():
    """What has a section, but not the one that this run would write."""
    os.makedirs("o")
    for name, argv in (("format", ["--format=3"]), ("same", []), ("size", ["--optimize=size"]), ("starts", ["--no-pcrel"]), ("edited", [])):
        subprocess.run([TOOL, "-q", *argv, "/bin/cat", f"o/{name}"], check=True)
    with open("o/edited", "r+b") as file:
        file.seek(-1, os.SEEK_END)
        last = file.read()
        file.seek(-1, os.SEEK_END)
        file.write(bytes([last[0] ^ 1]))
    before = picture("o")
    got = batch("--report-file=o.json", "o")
    files = {file["path"]: file for file in report("o.json")["files"]}
    check(
        got.status == 0 and picture("o") == before and got.out.startswith(b"1 converted (1 of them by an earlier run), 4"),
        "sections of other options stay and are skipped",
        got,
    )
    check(
        files["o/same"]["already"] is True
        and [files[f"o/{name}"].get("skipped") for name in ("format", "size", "starts", "edited")] == ["has-sframe"] * 4
        and os.path.getsize("o/starts") == os.path.getsize("o/same"),
        "the report says which",
        files,
    )


def test_limits():
    """Limits change no byte: what an earlier run made without them fails."""
    copy("old", "l")
    batch("-q", "l")
    before = picture("l")
    n = len(report("l.json")["files"]) if batch("-q", "--report-file=l.json", "l").status == 0 else 0
    for limit in ("--max-size=1", "--max-growth=0.001", "--min-coverage=100 --min-coverage-of=text"):
        got = batch("--report-file=l.json", *limit.split(), "l")
        failed = [file["path"] for file in report("l.json")["files"] if file["status"] == 5]
        new = batch("--report-file=l.json", "--refresh", *limit.split(), "l")
        again = [file["path"] for file in report("l.json")["files"] if file["status"] == 5]
        check(n and got.status == 5 and failed and failed == again and new.status == 5 and picture("l") == before,
              f"{limit}: {len(failed)} of {n} files fail", f"{got} {failed} {again}")


def test_telling():
    """What stands against the report is found first; or all is converted, and it says so."""
    copy("old", "tree2")
    old = picture("tree2")
    os.makedirs("folder")
    for path in ("missing/report", "folder"):
        got = batch("-q", f"--report-file={path}", "tree2")
        check(
            got.status == 3 and got.err.startswith(f"eh2sframe: {path}: cannot write".encode()) and picture("tree2") == old,
            f"--report-file={path}: nothing is converted",
            got,
        )
    copy("old", "done")
    batch("-q", "done")
    got = batch("-q", "--report-file=/dev/full", "done")
    check(got.status == 3 and got.err.startswith(b"eh2sframe: /dev/full: cannot write: "),
          "what an earlier run converted is not said to be converted", got)
    closed = subprocess.run(["sh", "-c", f"'{TOOL}' tree convert tree2 >&-"], capture_output=True, check=False)
    check(closed.returncode == 3 and picture("tree2") == old, "standard output closed: nothing, either", closed)
    for argv, words in (
        (["-q", "--report-file=/dev/full"], b"eh2sframe: converted, but /dev/full: cannot write: "),
        ([], b"eh2sframe: converted, but cannot write to standard output: "),
    ):
        for broken in (False, True):
            subprocess.run(["rm", "-rf", "tree2"], check=True)
            copy("old", "tree2")
            if broken:
                with open("tree2/broken", "wb") as file, open("/bin/cat", "rb") as cat:
                    file.write(cat.read(5000))
            with open("/dev/full", "wb") as full:
                # A report into what standard output is would be one there.
                out = subprocess.DEVNULL if argv else full
                done = subprocess.run([TOOL, "tree", "convert", *argv, "tree2"], stdout=out, stderr=subprocess.PIPE, check=False)
            last = done.stderr.splitlines()[-1]
            now = {key: what for key, what in picture("tree2")[0].items() if key != b"broken"}
            check(
                done.returncode == (1 if broken else 8) and last.startswith(words) and now == picture("tree")[0],
                f"{words.decode()}{', and a file fails' if broken else ''}",
                done,
            )
    for verb, status, words in (
        ("verify", 3, b"eh2sframe: cannot write to standard output: "),
        ("remove", 8, b"eh2sframe: restored, but cannot write to standard output: "),
    ):
        if os.path.exists("tree2/broken"):
            os.unlink("tree2/broken")
        with open("/dev/full", "wb") as full:
            argv = [TOOL, "tree", verb, "tree2"]
            done = subprocess.run(argv, stdout=full, stderr=subprocess.PIPE, check=False)
        check(done.returncode == status and done.stderr.startswith(words), f"tree {verb}: status {status}", done)
    check(picture("tree2")[0] == old[0], "and the originals are back")
    with open("/dev/full", "wb") as full:
        done = subprocess.run([TOOL, "tree", "convert", "tree2/text"], stdout=full, stderr=subprocess.PIPE, check=False)
    check(done.returncode == 3 and b"converted, but" not in done.stderr, "with nothing converted it is status 3", done)


def test_memory():
    """The n-th allocation fails, in the pool and in each worker, alone or with all after it."""
    os.makedirs("m.old")
    copy("/bin/cat", "m.old/1")
    copy("/bin/ls", "m.old/2")
    os.link("m.old/2", "m.old/3")
    copy("m.old", "m.new")
    batch("-q", "m.new")
    old, new = picture("m.old")[0], picture("m.new")[0]
    wrong, statuses, n = [], {}, 0
    while n < 3000:
        n += 1 if n < EACH else STEP
        subprocess.run(["rm", "-rf", "m"], check=True)
        copy("m.old", "m")
        env = dict(os.environ, LD_PRELOAD=os.path.abspath("shim.so"), ENDING_HEAP=str(n))
        if n % 2:
            env["ENDING_ALL"] = "1"
        got = batch("-q", "-j1", "--report-file=m.json", "m", env=env)
        now = picture("m")[0]
        statuses[got.status] = statuses.get(got.status, 0) + 1
        if got.status not in (0, 7, 8) or strays("m") or any(now[key] not in (old[key], new[key]) for key in old):
            wrong.append((n, str(got), strays("m")))
        if (got.status in (0, 8)) > (now == new) or (got.status != 0) != (b"memory" in got.err):
            wrong.append((n, str(got), "not all is done"))
        if n % 2 and got.status == 0:
            break
    check(not wrong and statuses.get(7, 0) > 20, f"memory runs out at {n} places: {statuses}", wrong[:4])


def test_faults():
    """A worker that uses up its stack, or reaches the limit for files, costs only its file."""
    for what, status, words in (
        ({"ENDING_DO": "STACK"}, 70, b"signal 11"),
        ({"ENDING_DO": str(int(signal.SIGXCPU))}, 70, b"signal 24"),
        (None, 3, b"File too large"),
    ):
        if SANITIZED:
            skip("a worker's fault", "a sanitizer handles it")
            continue
        subprocess.run(["rm", "-rf", "m"], check=True)
        copy("m.old", "m")

        def limit():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if what is None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))

        env = dict(os.environ, LD_PRELOAD=os.path.abspath("shim.so"), **(what or {}))
        got = batch("-q", "m", env=env, preexec_fn=limit)
        check(
            got.status == status and got.err.count(words) == 2 and not strays("m") and picture("m") == picture("m.old"),
            f"a worker's end: {words.decode()}",
            f"{got} {strays('m')}",
        )


def main():
    top = scratch()
    try:
        subprocess.run(["gcc", "-shared", "-fPIC", "-O0", "-o", "shim.so", SHIM, "-ldl"], check=True)
        test_again()
        test_others()
        test_limits()
        test_telling()
        test_memory()
        test_faults()
    finally:
        remove(top)
    plan()


if __name__ == "__main__":
    main()
