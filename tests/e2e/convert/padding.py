#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What verify takes for padding and what not: FDEs of a section made for size, with other sizes,
and with other bytes between functions; functions that end in a call. TAP.

    padding.py EH2SFRAME FOLDER
"""
import os
import struct
import sys
import tempfile

from elf_text import sections
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


def section_of(path, name=".sframe"):
    return sections(path)[name].offset


def sizes(data, at):
    n = struct.unpack_from("<I", data, at + 8)[0]
    return [struct.unpack_from("<I", data, at + HDR_SIZE + i * FDE_SIZE + 4)[0] for i in range(n)]


def filled(tool, plain, small, other):
    """Bytes of the gap behind f0, and whether that is what somebody fills up with."""
    for start, code, right, what in [
        (0, "0f054885c07c137401c3", False, "what clone() has without CFI"),
        (14, "c3", False, "an instruction at the end"),
        (0, "50", False, "an instruction at the start"),
        (14, "0f", False, "a part of an instruction"),
        (0, "00" * 15, True, "zeros"),
        (0, "90" * 15, True, "no-operations"),
        (0, "9066666666662e0f1f840000000000", True, "a long one"),
        (0, "0f1f8000000000" "0f1f840000000000", True, "two"),
        (0, "0f1f4400000f1f40000f1f00666690", True, "five"),
    ]:
        for path in (plain, small):
            with open(path, "rb") as file:
                changed = bytearray(file.read())
            at = section_of(path, ".text") + 9 + start
            changed[at:at + len(code) // 2] = bytes.fromhex(code)
            with open(other, "wb") as file:
                file.write(changed)
            if path == plain:
                made = run(tool, "-q", "--optimize=size", other, other)
                with open(other, "rb") as file:
                    data = file.read()
                fused = sizes(data, section_of(other)) if made.returncode == 0 else made.stderr
                check(fused == ([33, 31] if right else [9, 9, 31]), f"{what}: converted", fused)
            told = run(tool, "verify", other)
            wanted = path == plain or right
            check((told.returncode == 0) == wanted and
                  ("there is a row, but no CFI" in told.stdout) != wanted, f"{what}: proven or not", told)


def last_calls(tool, plain, other):
    """f1 ends in a call and filler follows, f2 ends in one and f3 follows, with the same row, f4 ends in one at the section's end."""
    with open(plain, "rb") as file:
        called = bytearray(file.read())
    text = section_of(plain, ".text")
    for end in (33, 58, 80):
        called[text + end - 5:text + end] = bytes.fromhex("e8fbffffff")

    def convert(*options, opcode=0xe8):
        called[text + 9 + GAPS[0] + 4] = opcode
        with open(other, "wb") as file:
            file.write(called)
        made = run(tool, "-q", "--optimize=none", *options, other, other)
        with open(other, "rb") as file:
            data = bytearray(file.read())
        return data, sizes(data, section_of(other)) if made.returncode == 0 else made.stderr

    with open(other, "wb") as file:
        file.write(called)
    told = run(tool, "report", "-v", other)
    check("2 functions end in a call whose return address has its row, 1 in one that readers misread" in told.stdout and
          f"misread: {BASE + 80:#x} is the return address of the last call of the function at {BASE + 71:#x} f4\n"
          in told.stdout, "the report counts last calls", told.stdout)
    for options, opcode, second in [((), 0xe8, 10), (("--for=glibc",), 0xe8, 10), (("--for=binutils-2.45",), 0xe8, 9),
                                    ((), 0xe9, 9)]:
        found = convert(*options, opcode=opcode)[1]
        check(found == [9, second, 9, 9, 9], f"{' '.join(options)} {opcode:#x}: sizes", found)
    for opcode, size, right in [(0xe8, 9, True), (0xe8, 10, True), (0xe8, 11, False), (0xe9, 10, False)]:
        data, _ = convert("--no-pcrel", opcode=opcode)
        struct.pack_into("<I", data, section_of(other) + HDR_SIZE + FDE_SIZE + 4, size)
        with open(other, "wb") as file:
            file.write(data)
        told = run(tool, "verify", other)
        check(("there is a row, but no CFI" in told.stdout) == (told.returncode == 4) == (not right),
              f"{opcode:#x}, {size} bytes: proven or not", told)


def section_ends(tool, plain, other):
    """A call ends a section, and the next one holds code without CFI, as .init behind lld's .text does."""
    with open(plain + ".S", "w") as file:
        file.write("""
            .section .one, "ax"
        f:  .cfi_startproc
            .skip 4, 0x90
            call f
            .cfi_endproc
            .section .two, "ax"
            .balign 16
            ret
""")
    made = run("cc", "-nostdlib", "-static", "-fuse-ld=bfd", "-Wl,-e,0", "-Wl,--build-id=none", "-o", plain, plain + ".S")
    assert made.returncode == 0, made.stderr
    with open(plain, "rb") as file:
        data = bytearray(file.read())
    behind = section_of(plain, ".one") + 9
    for fill, size, what in [(b"\xcc" * 7, 10, "filler alone"), (b"\xcc" * 6 + b"\xc3", 9, "other code")]:
        data[behind:behind + 7] = fill
        with open(plain, "wb") as file:
            file.write(data)
        made, told = run(tool, "-q", plain, other), run(tool, "lint", other)
        with open(other, "rb") as file:
            found = sizes(file.read(), section_of(other))
        check(made.returncode == told.returncode == 0 and found == [size], f"{what} between sections", (made, told, found))


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
        told = run(tool, "verify", small)
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
            told = run(tool, "verify", other)
            differs = "there is a row, but no CFI" in told.stdout
            check(differs == (right is False) and (told.returncode == 4) == differs, what, told)
        filled(tool, plain, small, other)
        last_calls(tool, plain, other)
        section_ends(tool, os.path.join(scratch, "ends"), other)
        # One FDE for all, over the gap of 16 bytes too.
        changed = bytearray(data)
        struct.pack_into("<II", changed, at + 8, 1, 1)
        struct.pack_into("<I", changed, at + HDR_SIZE + 4, 33 + 16 + 31)
        struct.pack_into("<I", changed, at + 24, FDE_SIZE)
        rows = at + HDR_SIZE + 2 * FDE_SIZE
        changed[at + HDR_SIZE + FDE_SIZE:at + HDR_SIZE + FDE_SIZE + 3] = changed[rows:rows + 3]
        with open(other, "wb") as file:
            file.write(changed)
        told = run(tool, "verify", other)
        check(told.returncode == 4 and told.stdout.count("there is a row, but no CFI") == 1,
              "a gap of 16 bytes inside of an FDE", told)
    plan()


main()
