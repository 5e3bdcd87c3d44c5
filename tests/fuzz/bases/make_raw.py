#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make_raw.py OUT FILE: a raw recording, with FILE as the vDSO that a process maps, and samples at each fourth byte of its
code.

The records are those of perf_event_open(2), with the members that profile/stacks/event.h names."""
import struct
import sys

# By ELF machine: the number in a recording, the registers of a sample, and which of them are the PC, SP and FP. What a walk
# takes for the return address without a word of the stack is the last one.
MACHINES = {62: (1, 20, 8, 7, 6, None), 183: (2, 33, 32, 31, 29, 30), 22: (3, 18, 17, 15, 11, 14)}
PT_LOAD, PF_X, PID, BASE, STACK = 1, 1, 17, 0x7f1200000000, 0x7ffc00001000
MAP, COMM, EXIT, FORK, SAMPLE, LOST = 10, 3, 4, 7, 9, 2
INFO, MODULE, END, EVENT = 1, 2, 8, 9


def number(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def text(value):
    return number(len(value)) + value


def entry(kind, *parts):
    content = b"".join(parts)
    return bytes([kind]) + number(len(content)) + content


def record(kind, misc, content):
    return entry(EVENT, struct.pack("=IHH", kind, misc, len(content) + 8), content)


def ended(kind, misc, content, time):
    """A record that is not a sample: who and when is at its end."""
    return record(kind, misc, content + struct.pack("=IIQII", PID, PID, time, 0, 0))


def sample(machine, time, pc, words):
    _, n, at_pc, at_sp, at_fp, at_ra = machine
    registers = [0] * n
    registers[at_sp] = registers[at_fp] = STACK
    registers[at_pc] = pc
    if at_ra is not None:
        registers[at_ra] = words[1]
    size, stack = struct.pack("=Q", 8 * len(words)), struct.pack(f"={len(words)}Q", *words)
    kernel = struct.pack("=4Q", 2**64 - 128, 0xffffffff81000010, 0xffffffff81000020, 2**64 - 512)
    return record(SAMPLE, 2, struct.pack("=IIQIIQQ", PID, PID, time, 0, 0, 1, 4) + kernel
                  + struct.pack(f"={n + 1}Q", 2, *registers) + size + stack + size)


def main():
    with open(sys.argv[2], "rb") as file:
        data = file.read()
    order = ">" if data[5] == 2 else "<"
    machine = MACHINES[struct.unpack_from(order + "H", data, 18)[0]]
    entry_point, table = struct.unpack_from(order + "QQ", data, 24)
    count = struct.unpack_from(order + "H", data, 56)[0]
    headers = [struct.unpack_from(order + "IIQQ", data, table + 56 * i) for i in range(count)]
    offset, address = next(one[2:] for one in headers if one[0] == PT_LOAD and one[1] & PF_X)
    start = BASE + entry_point - address
    out = [b"eh2sprf\1",
           entry(INFO, number(machine[0]), number(99), number(10**18), number(900), number(1), text(b"cpu-clock"), text(b"ns"),
                 text(b"fuzz"), text(b"host"), text(b"6.1")),
           entry(MODULE, number(0), text(b""), text(b"[vdso]"), text(data)),
           ended(COMM, 0x2000, struct.pack("=II", PID, PID) + b"program\0", 1000),
           ended(MAP, 2, struct.pack("=IIQQQIIQQII", PID, PID, BASE, 0x10000, offset, 0, 0, 0, 0, 5, 2) + b"[vdso]\0\0", 1001),
           ended(FORK, 0, struct.pack("=IIIIQ", PID + 1, PID, PID + 1, PID, 1002), 1002)]
    callers = [start + 5 + 4 * i for i in range(8)]
    # Frames of two words; then words that lead to code wherever they are read.
    words = [word for i, pc in enumerate(callers) for word in (STACK + 16 * (i + 1), pc)]
    for i in range(0, 96, 4):
        out.append(sample(machine, 2000 + i, start + i, words if i % 8 else callers * 6))
    out += [ended(LOST, 0, struct.pack("=QQ", 1, 3), 3000),
            ended(EXIT, 0, struct.pack("=IIIIQ", PID, 1, PID, 1, 3001), 3001), entry(END, number(4000), number(3))]
    with open(sys.argv[1], "wb") as file:
        file.write(b"".join(out))


main()
