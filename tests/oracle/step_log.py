# SPDX-License-Identifier: MIT
"""AArch64 programs that qemu-user steps: its log, the rows of dump, and what instructions do."""
import bisect
import os
import re
import subprocess

FP, LR, SP, PC = 29, 30, 31, 32
ROW = re.compile(r"^ +([0-9a-f]{16})  (sp|fp)\+(\d+) +(u|c-\d+) +(u|c-\d+)(\[s\])?(.*)$")
FUNC = re.compile(r"^ +func idx .*pc = (0x[0-9a-f]+), size = (\d+)")
VALUE = re.compile(r"(X\d\d|SP|PC)=([0-9a-f]{16})")


class Rows:
    """The rows of dump; a row ends at the next one or at the end of its function."""

    def __init__(self, text):
        self.rows = []
        start = end = 0
        for line in text.splitlines():
            func, row = FUNC.match(line), ROW.match(line)
            if func:
                start = int(func[1], 16)
                end = start + int(func[2])
            elif row and int(row[1], 16) >= start:  # not those of a PLT, which repeat
                self.rows.append((int(row[1], 16), end, (row[2], int(row[3]), row[4], row[5], "repaired" in row[7])))
        self.rows.sort()
        self.starts = [row[0] for row in self.rows]
        self.cache = {}

    def at(self, pc):
        """(base, offset, rule of x29, rule of the return address, whether it is marked as repaired)."""
        if pc not in self.cache:
            i = bisect.bisect_right(self.starts, pc) - 1
            self.cache[pc] = self.rows[i][2] if i >= 0 and pc < self.rows[i][1] else None
        return self.cache[pc]


def signed(value, bits):
    return value - (1 << bits) if value >> (bits - 1) else value


def stores(insn, regs):
    """What an instruction that stores whole registers X writes: pairs of address and value."""
    base, source = regs[insn >> 5 & 31], insn & 31
    value = 0 if source == 31 else regs[source]
    if insn & 0xFE400000 == 0xA8000000:
        second = insn >> 10 & 31
        offset = 0 if insn >> 23 & 3 == 1 else signed(insn >> 15 & 127, 7) * 8
        return ((base + offset, value), (base + offset + 8, 0 if second == 31 else regs[second]))
    if insn & 0xFFC00000 == 0xF9000000:
        return ((base + (insn >> 10 & 0xFFF) * 8, value),)
    if insn & 0xFFE00000 == 0xF8000000 and insn >> 10 & 3 != 2:
        offset = 0 if insn >> 10 & 3 == 1 else signed(insn >> 12 & 511, 9)
        return ((base + offset, value),)
    return ()


def part_of(insn, regs):
    """(address, bytes, value) of a store of less than 8 bytes; None for others."""
    size, base = insn >> 30, regs[insn >> 5 & 31]
    if size == 3 or insn & 0x3E000000 != 0x38000000 or insn >> 22 & 3:
        return None
    if insn >> 24 & 1:
        addr = base + ((insn >> 10 & 0xFFF) << size)
    elif insn >> 21 & 1:
        return None
    else:
        addr = base + (0 if insn >> 10 & 3 == 1 else signed(insn >> 12 & 511, 9))
    return addr, 1 << size, (0 if insn & 31 == 31 else regs[insn & 31]) & ((1 << (8 << size)) - 1)


def call_of(insn, regs):
    """(SP, return address, x29) of a call; None for others."""
    if insn & 0xFC000000 == 0x94000000 or insn & 0xFFFFFC1F == 0xD63F0000:
        return regs[SP], regs[PC] + 4, regs[FP]
    return None


def next_of(insn, regs):
    """Where the instruction can lead."""
    pc = regs[PC]
    if insn & 0x7C000000 == 0x14000000:  # b, bl
        return (pc + 4 * signed(insn & 0x3FFFFFF, 26),)
    if insn & 0xFE000000 == 0xD6000000:  # br, blr, ret
        return (regs[insn >> 5 & 31],)
    if insn & 0xFF000010 == 0x54000000 or insn & 0x7E000000 == 0x34000000:  # b.cond, cbz, cbnz
        return pc + 4, pc + 4 * signed(insn >> 5 & 0x7FFFF, 19)
    if insn & 0x7E000000 == 0x36000000:  # tbz, tbnz
        return pc + 4, pc + 4 * signed(insn >> 5 & 0x3FFF, 14)
    return (pc + 4,)


def follow(run, command, most):
    """Feeds the log of qemu-user to a run, at most so many steps."""
    read, write = os.pipe()
    program = subprocess.Popen(["qemu-aarch64", "-singlestep", "-d", "nochain,cpu", "-D", f"/dev/fd/{write}", *command],
                               pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(write)
    regs = None
    with open(read, encoding="ascii", errors="replace") as log:
        for line in log:
            if line.startswith(" PC="):
                if regs:
                    run.step(regs)
                if run.steps >= most:
                    break
                regs = [0] * 33
            if regs:
                for name, value in VALUE.findall(line):
                    regs[PC if name == "PC" else SP if name == "SP" else int(name[1:])] = int(value, 16)
    program.kill()
    program.wait()
