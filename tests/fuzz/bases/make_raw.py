#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make_raw.py OUT FILE: a recording with copies of stacks, of a process that maps FILE, and samples at each fourth byte of
its code.

The records are those of perf_event_open(2), and the file is one of linux/tools/perf/Documentation/perf.data-file-format.txt."""
import os
import struct
import sys

# By ELF machine: its name, the registers of a sample, and which of them are the PC, SP and FP. What a walk takes for the
# return address without a word of the stack is the last one.
MACHINES = {62: (b"x86_64", 0xff0fff, 8, 7, 6, None), 183: (b"aarch64", 0x1ffffffff, 32, 31, 29, 30),
            22: (b"s390x", 0x30000ffff, 17, 15, 11, 14)}
PT_LOAD, PF_X, PID, BASE, STACK = 1, 1, 17, 0x7f1200000000, 0x7ffc00001000
MAP, COMM, EXIT, FORK, SAMPLE, LOST = 10, 3, 4, 7, 9, 2
# PERF_SAMPLE_TID, TIME, CALLCHAIN, CPU, PERIOD, REGS_USER, STACK_USER.
TYPE = 1 << 1 | 1 << 2 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 12 | 1 << 13
HOST, RELEASE, ARCH = 3, 4, 6


def text(value):
    return struct.pack("=I", len(value) + 1) + value + b"\0"


def record(kind, misc, content):
    return struct.pack("=IHH", kind, misc, len(content) + 8) + content


def whole(machine, records):
    """The file of these records."""
    # Type, size, config, frequency, sample_type, read_format, flags (freq, sample_id_all), ..., sample_regs_user.
    attr = struct.pack("=IIQQQQQ", 1, 128, 0, 99, TYPE, 0, 1 << 10 | 1 << 18) + bytes(8 * 4) + struct.pack("=Q", machine[1])
    attr = attr.ljust(128, b"\0") + bytes(16)
    features = {HOST: text(b"host"), RELEASE: text(b"6.1"), ARCH: text(machine[0])}
    data_at = 104 + len(attr)
    at = data_at + len(records) + 16 * len(features)
    table = b""
    for content in features.values():
        table += struct.pack("=QQ", at, len(content))
        at += len(content)
    head = b"PERFILE2" + struct.pack("=12Q", 104, len(attr), 104, len(attr), data_at, len(records), 0, 0,
                                     sum(1 << one for one in features), 0, 0, 0)
    return head + attr + records + table + b"".join(features.values())


def ended(kind, misc, content, time):
    """A record that is not a sample: who and when is at its end."""
    return record(kind, misc, content + struct.pack("=IIQII", PID, PID, time, 0, 0))


def sample(machine, time, pc, words):
    _, mask, at_pc, at_sp, at_fp, at_ra = machine
    n = bin(mask).count("1")
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
    path = os.path.realpath(sys.argv[2]).encode()
    out = [ended(COMM, 0x2000, struct.pack("=II", PID, PID) + b"program\0", 1000),
           ended(MAP, 2, struct.pack("=IIQQQIIQQII", PID, PID, BASE, 0x10000, offset, 0, 0, 0, 0, 5, 2)
                 + path.ljust(len(path) + 8 & -8, b"\0"), 1001),
           ended(FORK, 0, struct.pack("=IIIIQ", PID + 1, PID, PID + 1, PID, 1002), 1002)]
    callers = [start + 5 + 4 * i for i in range(8)]
    # Frames of two words; then words that lead to code wherever they are read.
    words = [word for i, pc in enumerate(callers) for word in (STACK + 16 * (i + 1), pc)]
    for i in range(0, 96, 4):
        out.append(sample(machine, 2000 + i, start + i, words if i % 8 else callers * 6))
    out += [ended(LOST, 0, struct.pack("=QQ", 1, 3), 3000),
            ended(EXIT, 0, struct.pack("=IIIIQ", PID, 1, PID, 1, 3001), 3001)]
    with open(sys.argv[1], "wb") as file:
        file.write(whole(machine, b"".join(out)))


main()
