#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What --verify takes for padding and what not: FDEs of a section made for size, with other sizes. TAP.

    padding.py EH2SFRAME FOLDER
"""
import os
import struct
import sys
import tempfile

from tap import check, plan, run

FDE_SIZE, HDR_SIZE = 20, 28
# Functions of 9 bytes each, and the bytes between one and the next.
GAPS = [15, 16, 0, 4]
BASE = 0x401000


def program(path):
    text = "\t.text\n"
    for i, gap in enumerate(GAPS + [0]):
        text += f"f{i}:\n\t.cfi_startproc\n\t.skip 9, 0x90\n\t.cfi_endproc\n\t.skip {gap}, 0xcc\n"
    with open(path + ".S", "w") as file:
        file.write(text)
    made = run("cc", "-nostdlib", "-static", "-fuse-ld=bfd", "-Wl,-e,0", f"-Wl,-Ttext={BASE:#x}",
               "-Wl,--build-id=none", "-o", path, path + ".S")
    assert made.returncode == 0, made.stderr


def section_of(path):
    for line in run("readelf", "-SW", path).stdout.splitlines():
        fields = line.replace("[ ", "[").split()
        if len(fields) > 5 and fields[1] == ".sframe":
            return int(fields[4], 16)
    raise AssertionError("no .sframe")


def sizes(data, at):
    n = struct.unpack_from("<I", data, at + 8)[0]
    return [struct.unpack_from("<I", data, at + HDR_SIZE + i * FDE_SIZE + 4)[0] for i in range(n)]


def main():
    tool = sys.argv[1]
    with tempfile.TemporaryDirectory() as scratch:
        plain, small, other = (os.path.join(scratch, name) for name in ("plain", "small", "other"))
        program(plain)
        made = run(tool, "-q", "--optimize=size", plain, small)
        check(made.returncode == 0, "converted for size", made.stderr)
        at = section_of(small)
        with open(small, "rb") as file:
            data = file.read()
        # f0 and f1 with the padding between them, then f2, f3 and f4 with theirs.
        check(sizes(data, at) == [33, 31], "two FDEs", sizes(data, at))
        told = run(tool, "--verify", small)
        check(told.returncode == 0 and "; 19 bytes of padding" in told.stdout, "padding is counted", told)
        for size, right, what in [
            (33, True, "as it was"),
            (34, False, "a byte behind the last function"),
            (49, False, "all of a gap of 16 bytes"),
            (24, False, "padding that no function of the FDE follows"),
            (23, False, "a part of the padding"),
            (9, None, "none of the padding, the next function without a row"),
        ]:
            changed = bytearray(data)
            struct.pack_into("<I", changed, at + HDR_SIZE + 4, size)
            with open(other, "wb") as file:
                file.write(changed)
            told = run(tool, "--verify", other)
            differs = "a row, but there is no CFI here" in told.stdout
            check(differs == (right is False) and (told.returncode == 4) == differs, what, told)
        # One FDE for all, over the gap of 16 bytes too.
        changed = bytearray(data)
        struct.pack_into("<II", changed, at + 8, 1, 1)
        struct.pack_into("<I", changed, at + HDR_SIZE + 4, 33 + 16 + 31)
        struct.pack_into("<I", changed, at + 24, FDE_SIZE)
        rows = at + HDR_SIZE + 2 * FDE_SIZE
        changed[at + HDR_SIZE + FDE_SIZE:at + HDR_SIZE + FDE_SIZE + 3] = changed[rows:rows + 3]
        with open(other, "wb") as file:
            file.write(changed)
        told = run(tool, "--verify", other)
        check(told.returncode == 4 and told.stdout.count("there is no CFI here") == 1,
              "a gap of 16 bytes inside of an FDE", told)
    plan()


main()
