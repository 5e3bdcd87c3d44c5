#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_plt_bits.py EH2SFRAME VECTOR some|all: a PLT section is known from a template no longer when any
bit of it is another, but for the bits in which an instruction says where the slot is, or which one it is;
and verify takes the rows of a converted file for wrong then. some is one bit of each byte."""
import os
import re
import subprocess
import sys
import tempfile

from elf_text import plts
from tap import must

program, vector, which = sys.argv[1:]
AARCH64 = 183
# Of A64: value of the bits that say what it is, their mask, and the bits that say where.
PLACES = [(0x90000000, 0x9f000000, 0x60ffffe0),  # ADRP
          (0xf9400000, 0xffc00000, 0x003ffc00),  # LDR, unsigned offset
          (0x91000000, 0xffc00000, 0x003ffc00)]  # ADD, immediate without a shift


def free_of_arm(code):
    """The bytes' free bits; instructions are little-endian in any file."""
    free = bytearray()
    for at in range(0, len(code), 4):
        word = int.from_bytes(code[at:at + 4], "little")
        bits = [where for what, mask, where in PLACES if word & mask == what]
        free += (bits[0] if bits else 0).to_bytes(4, "little")
    return free


def free_of_z(code):
    """LARL, LGFI and JG have 32 bits of value; a word behind JG is data."""
    free = bytearray()
    while len(free) < len(code):
        op = code[len(free):len(free) + 2]
        size = (2, 4, 4, 6)[op[0] >> 6]
        value = op[0] == 0xc0 and op[1] & 15 in (0, 1, 4)
        free += b"\0\0" + (b"\xff" if value else b"\0") * (size - 2)
        if op == b"\xc0\xf4":
            free += b"\xff" * 4
    return free


def verdict(path):
    return subprocess.run([program, "verify", path], capture_output=True, check=False).returncode


def described(path):
    found = re.search(r"from PLT template +(\d+) bytes", must(program, "report", path))
    return int(found[1]) if found else 0


with open(vector, "rb") as original:
    image = bytearray(original.read())
machine = int.from_bytes(image[18:20], "big" if image[5] == 2 else "little")
sections = [(name, place.offset, place.size) for name, place in plts(vector).items()]
total = sum(size for _, _, size in sections)
if not total or described(vector) != total:
    sys.exit(f"{vector}: {described(vector)} bytes from templates, not {total}")
flips = 0
with tempfile.TemporaryDirectory() as scratch:
    copy, out = os.path.join(scratch, "copy"), os.path.join(scratch, "out")
    must(program, "-q", vector, out)
    with open(out, "rb") as file:
        converted = bytearray(file.read())
    for name, start, size in sections:
        code = bytes(image[start:start + size])
        free = free_of_arm(code) if machine == AARCH64 else free_of_z(code)
        for bit in range(8 * size):
            at, value = start + bit // 8, 1 << bit % 8
            if which == "some" and bit % 8 != bit // 8 * 3 % 8:
                continue
            wanted = total if free[bit // 8] & value else total - size
            image[at] ^= value
            with open(copy, "wb") as file:
                file.write(image)
            image[at] ^= value
            if described(copy) != wanted:
                sys.exit(f"{vector}: {name}+{bit // 8:#x}, bit {bit % 8}: {described(copy)} bytes from "
                         f"templates, not {wanted}")
            flips += 1
            if bit // 8 % 8 == 0:  # the code stays where it was
                converted[at] ^= value
                with open(out, "wb") as file:
                    file.write(converted)
                converted[at] ^= value
                if (verdict(out) == 0) != (wanted == total):
                    sys.exit(f"{vector}: {name}+{bit // 8:#x}, bit {bit % 8}: verify: {verdict(out)}")
print(f"{flips} bits")
