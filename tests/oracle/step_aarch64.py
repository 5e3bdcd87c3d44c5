#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""AArch64 programs by Rust, converted with --code=repair, are stepped by qemu-user. TAP.

    step_aarch64.py EH2SFRAME FETCH CACHE

qemu-user prints the registers before each instruction. A shadow stack of calls (SP, x29 and the return address)
says what the rows must give: the CFA, and the return address and x29, in a register or where an instruction
stored them. FETCH is machines_fetch.sh, which keeps packages in CACHE.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from step_log import FP, LR, PC, SP, Rows, call_of, follow, stores
from tap import check, must, plan, skip_all

TOOL, FETCH, CACHE = map(os.path.abspath, sys.argv[1:])


class Run:
    def __init__(self, path, rows, entry):
        with open(path, "rb") as file:
            self.text = file.read()
        self.rows, self.entry = rows, entry
        self.base = None
        self.frames, self.memory = [], {}
        self.steps = self.compared = self.repaired = 0
        self.distinct, self.wrong, self.others = set(), {}, {}

    def insn(self, pc):
        """0 outside of the program. Its code is at the same offset in the file."""
        at = pc - self.base
        return int.from_bytes(self.text[at:at + 4], "little") if 0 <= at < len(self.text) else 0

    def compare(self, pc, regs):
        row = self.rows.at(pc - self.base)
        if not row or not self.frames:
            return
        base, offset, fp, ra, repaired = row
        slot, ret, caller = self.frames[-1]
        cfa = regs[SP if base == "sp" else FP] + offset
        found = [cfa]
        for rule, reg in ((ra, LR), (fp, FP)):
            found.append(regs[reg] if rule == "u" else self.memory.get(cfa - int(rule[2:])))
        self.compared += 1
        if found != [slot, ret, caller]:
            wrong = self.wrong if repaired else self.others
            wrong.setdefault(pc - self.base, (row, found, self.frames[-1]))
        elif repaired:
            self.repaired += 1
            self.distinct.add(pc)

    def step(self, regs):
        pc = regs[PC]
        self.steps += 1
        if self.base is None:
            if pc & 0xFFF != self.entry & 0xFFF or pc >> 32 != 0x55 or pc >= 0x5502000000:
                return
            self.base = pc - self.entry
        if self.called and pc != self.called[1]:
            self.frames.append(self.called)
        was_called = self.called
        # What returned, or was left by an exception, lies below SP.
        while self.frames and (regs[SP] > self.frames[-1][0] or
                               regs[SP] == self.frames[-1][0] and pc == self.frames[-1][1]):
            self.frames.pop()
            was_called = True
        insn = self.insn(pc)
        # Code of another file calls: a library that was given an address.
        if insn and not self.inside and not was_called:
            self.frames.append((regs[SP], regs[LR], regs[FP]))
        self.inside = insn != 0
        self.compare(pc, regs)
        for addr, value in stores(insn, regs) if insn else ():
            self.memory[addr] = value
        self.called = call_of(insn, regs)

    called, inside = None, False


def step_program(root, folder, name, most, *args):
    original, converted = f"{root}/usr/bin/{name}", f"{folder}/{name}"
    must(TOOL, "-q", "--code=repair", original, converted)
    rows = Rows(must(TOOL, "dump", converted))
    entry = int(re.search(r"Entry point address: +(0x[0-9a-f]+)", must("readelf", "-hW", converted))[1], 16)
    run = Run(converted, rows, entry)
    follow(run, ["-L", root, converted, *args], most)
    said = f"{name}: {run.steps} steps, {run.compared} compared, {run.repaired} of them right in repaired rows " \
           f"at {len(run.distinct)} addresses; {len(run.wrong)} addresses in repaired rows are wrong, {len(run.others)} in others"
    check(run.repaired >= 2000 and len(run.distinct) >= 400 and not run.wrong, said,
          "\n".join(f"{pc:#x}: {wrong}" for pc, wrong in sorted(run.wrong.items())))
    for pc, wrong in sorted(run.others.items()):
        print(f"# not repaired, {pc:#x}: {wrong}")


if not shutil.which("qemu-aarch64"):
    skip_all("qemu-aarch64 is not installed")
fetched = subprocess.run([FETCH, "arm64", "step-rust", CACHE], capture_output=True, text=True, check=False)
if fetched.returncode == 77:
    skip_all(fetched.stdout.strip())
ROOT = f"{CACHE}/arm64"
with tempfile.TemporaryDirectory() as FOLDER:
    with open(f"{FOLDER}/text", "w", encoding="ascii") as out:
        out.write("".join(f"{i} lorem ipsum dolor\n" for i in range(200)))
    step_program(ROOT, FOLDER, "rg", 400000, "-j1", "--no-config", r"1\w+ l[a-p]+m i", f"{FOLDER}/text")
    step_program(ROOT, FOLDER, "fdfind", 300000, "-j1", "e.t$", FOLDER)
plan()
