# SPDX-License-Identifier: MIT
"""glibc.py: answers by the rules of backtrace(3) of glibc 2.42 to 2.44, written down from its behaviour (the lint rules
"glibc" of eh2sframe-sframe(7) are the same). The kit's README.md has the protocol.

It takes version 2 in the machine's own order, ignores fdeoff and freoff, searches sorted functions alone, knows neither
signatures nor machines, checks no bounds, looks up a return address itself, and gives up on a row that has no RA.
"""
import struct
import sys


def start_of(section, i):
    at = 28 + section[7] + 20 * i
    start = struct.unpack_from("<i", section, at)[0]
    return start + at if section[3] & 4 else start


def row_at(section, i, offset):
    """(info, words) of the row that holds there."""
    _, _, place, n, info, rep = struct.unpack_from("<iIIIBB", section, 28 + section[7] + 20 * i)
    at = 28 + section[7] + 20 * struct.unpack_from("<I", section, 8)[0] + place
    width = {0: "B", 1: "H", 2: "I"}.get(info & 15)
    found, key = None, offset % rep if info & 16 else offset
    for _ in range(n if width else 0):
        start, row = struct.unpack_from("<" + width + "B", section, at)
        if start > key:
            break
        at += struct.calcsize("<" + width + "B")
        size = row >> 5 & 3
        count, bytes_of = row >> 1 & 15, {0: 1, 1: 2, 2: 4}.get(size, 1)
        found = row, at, count, size
        at += count * bytes_of
    if not found or found[3] == 3 or found[2] > 3:
        return None
    return found[0], struct.unpack_from(f"<{found[2]}{'bhi'[found[3]]}", section, found[1])


def answer(section, at):
    low, high = 0, struct.unpack_from("<I", section, 8)[0] - 1
    while low <= high:
        middle = (low + high) // 2
        start = start_of(section, middle)
        if start <= at < start + struct.unpack_from("<I", section, 28 + section[7] + 20 * middle + 4)[0]:
            break
        low, high = (middle + 1, high) if start < at else (low, middle - 1)
    else:
        return "none"
    row = row_at(section, middle, at - start)
    fixed_fp, fixed_ra = struct.unpack_from("bb", section, 5)
    if not row or len(row[1]) < (1 if fixed_ra else 2):
        return "none"
    info, words = row
    sp, fp = {2: (31, 29)}.get(section[4], (7, 6))
    saved = f"c{fixed_fp:+}" if fixed_fp else "u"
    if not fixed_fp and len(words) > (1 if fixed_ra else 2):
        saved = f"c{words[1 if fixed_ra else 2]:+}"
    return f"r{sp if info & 1 else fp}{words[0]:+} c{fixed_ra or words[1]:+} {saved}"


def main():
    (_, address, digits), *asks = [line.split() for line in sys.stdin]
    section = b"" if digits == "-" else bytes.fromhex(digits)
    offsets = struct.unpack_from("<II", section, 20) if len(section) >= 28 else (0, 0)
    # Without rows it goes on by DWARF.
    if section[:3] != b"\xe2\xde\x02" or section[3] & ~7 or offsets[0] > offsets[1] or not section[3] & 1:
        print("refuse")
        return
    try:
        for _, at in asks:
            print(answer(section, int(at, 16) - int(address, 16)))
    except (struct.error, ZeroDivisionError) as why:
        print("it reads outside or crashes here:", why)


main()
