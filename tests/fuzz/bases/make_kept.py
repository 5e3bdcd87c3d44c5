#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make_kept.py OUT FILE: what profile/stacks/rows_cache.c keeps behind its version for FILE, which has .sframe, with rules
that no row can say."""
import struct
import sys

SFRAME, PF_X, PT_LOAD = 0x6ffffff4, 1, 1


def location(place, reg, offset):
    return struct.pack("<BBi", place, reg, offset)


def main():
    with open(sys.argv[2], "rb") as file:
        data = file.read()
    order = ">" if data[5] == 2 else "<"
    entry, phoff, shoff = struct.unpack_from(order + "QQQ", data, 24)
    phnum, _, shnum = struct.unpack_from(order + "HHH", data, 56)
    loads = [struct.unpack_from(order + "IIQQQQQ", data, phoff + 56 * i) for i in range(phnum)]
    loads = [load for load in loads if load[0] == PT_LOAD]
    parts = [load for load in loads if load[1] & PF_X]
    sections = [struct.unpack_from(order + "IIQQQQ", data, shoff + 64 * i) for i in range(shnum)]
    _, _, _, address, offset, size = next(section for section in sections if section[1] == SFRAME)
    out = struct.pack("<I", 4) + b"\x12\x34\x56\x78" + struct.pack("<QQI", entry, max(load[3] + load[6] for load in loads), len(parts))
    for part in parts:
        out += struct.pack("<QQQ", part[2], part[5], part[3])
    rules = [(location(1, 7, 8), location(2, 0, -8), location(0, 0, 0)), (location(4, 6, 16), location(3, 1, 8), location(2, 6, -16))]
    out += struct.pack("<I", len(rules))
    for i, rule in enumerate(rules):
        out += struct.pack("<QQ", entry + 8 * i, entry + 8 * i + 8) + b"".join(rule) + struct.pack("<iIBB", 8 * i, i, i, 3 * i)
    out += struct.pack("<QQ", address, size) + data[offset:offset + size]
    with open(sys.argv[1], "wb") as file:
        file.write(out)


main()
