#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""eh2sframe-fold on recordings that are cut off, changed, or made to cost much. TAP.

    fold_hostile.py EH2SFRAME-FOLD RECORDING-OF [long]

long makes five times as many damaged recordings.
"""

import json
import os
import random
import struct
import subprocess
import sys

from batch_lib import remove, scratch
from fold_lib import CUT_OFF, FILE, JIT, KERNEL, NO_ROW, UNKNOWN, Recording, run
from tap import check, plan

FOLD, WRITER = (os.path.realpath(path) for path in sys.argv[1:3])
FORMATS = ("folded", "html", "firefox")
CUT_AT = 4 << 20
CUT_STEP, MUTANTS = (7, 600) if sys.argv[3:] == ["long"] else (35, 120)


def small():
    rec = Recording()
    modules = [rec.module("/bin/ls", "ab" * 20), rec.module("[kernel]"), rec.module("/bin/sh")]
    frames = [rec.frame(FILE, 0x5000 + i, modules[0]) for i in range(8)]
    frames += [rec.frame(KERNEL, 2**63 + i, modules[1], flags=1) for i in range(3)]
    frames += [rec.frame(FILE, 0x4000 + i, modules[2]) for i in range(3)]
    frames += [rec.frame(JIT, i, pid=1, name=f"name {i}") for i in range(3)]
    frames += [rec.frame(UNKNOWN, i, pid=1) for i in range(3)]
    threads = [rec.thread(i, i, f"thread {i}") for i in range(3)]
    for i in range(60):
        rec.sample(threads[i % 3], frames[i % 7:i % 20:1 + i % 3], (1, NO_ROW, CUT_OFF, 9)[i % 4], time=10**9 + i)
    return rec.write(WRITER, "small.rec")


def contents(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def fine(got):
    """A documented status, and one line about what is wrong."""
    lines = got.stderr.splitlines()
    return got.returncode in (0, 1, 6) and len(lines) == (0 if got.returncode == 0 else 1) and all(
        line.startswith("eh2sframe-fold: ") for line in lines)


def mutants(data):
    """Cut at each of its places, then with changed bytes."""
    chance = random.Random(18)
    for size in range(0, len(data), CUT_STEP):
        yield data[:size]
    for _ in range(MUTANTS):
        changed = bytearray(data)
        for _ in range(chance.choice((1, 1, 2, 8))):
            at = chance.randrange(len(changed))
            changed[at] = chance.choice((0, 0x7f, 0x80, 0xff, changed[at] ^ 1 << chance.randrange(8)))
        if chance.random() < 0.2:
            at = chance.randrange(len(changed))
            changed[at:at] = changed[at // 2:at]
        yield bytes(changed)


def shortened(data):
    """What fold says of a recording that loses its end as soon as it is mapped."""
    start, size = struct.unpack_from("<QQ", data, 40)
    with os.fdopen(os.memfd_create("recording"), "r+b") as file:
        file.write(data[:start] + data[start:start + size] * (CUT_AT // size * 16))
        file.seek(48)
        file.write(struct.pack("<Q", CUT_AT // size * 16 * size))
        file.flush()
        with subprocess.Popen([FOLD, f"/proc/self/fd/{file.fileno()}"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              pass_fds=[file.fileno()], text=True) as fold:
            while fold.poll() is None and "memfd:recording" not in contents(f"/proc/{fold.pid}/maps"):
                pass
            file.truncate(CUT_AT)
            text = fold.communicate()[1]
    return fold.returncode, text


def main():
    top = scratch()
    try:
        with open(small(), "rb") as file:
            data = file.read()
        wrong, statuses = [], {}
        for i, mutant in enumerate(mutants(data)):
            with open("mutant", "wb") as file:
                file.write(mutant)
            got = run(FOLD, "-q", "--format=" + FORMATS[i % 3], "-o", "out", "mutant")
            if i % 3 == 2 and got.returncode == 0:
                with open("out", encoding="utf-8") as file:
                    json.load(file)
            statuses[got.returncode] = statuses.get(got.returncode, 0) + 1
            if not fine(got):
                wrong.append((i, got.returncode, got.stderr[:300]))
        check(not wrong, "changed recordings end with a status and a line", wrong[:5])
        found = [shortened(data) for _ in range(5)]
        check(all(status in (0, 3) for status, _ in found) and any("became shorter" in text for _, text in found),
              "a recording that becomes shorter is no damaged one", found)
        check(min(statuses.get(0, 0), statuses.get(1, 0)) > MUTANTS // 12, "some are read, some are refused", statuses)
    finally:
        remove(top)
    plan()


if __name__ == "__main__":
    main()
