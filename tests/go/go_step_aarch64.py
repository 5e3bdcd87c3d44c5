#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""go_step_aarch64.py EH2SFRAME: a converted Go program for AArch64, one instruction at a time under qemu-user. TAP.

qemu-user prints the registers before each instruction. Calls, with SP, x29 and the return address, are kept for each
stack of a goroutine. At each instruction with a row, the row must give the CFA, the return address and x29 of the last
call: in a register, or where an instruction stored them.
"""

import collections
import os
import shutil
import sys

import tap
from go_lib import Go
from step_log import FP, LR, PC, SP, Rows, call_of, follow, next_of, part_of, stores
from tap import must

HERE = os.path.dirname(os.path.abspath(__file__))
# name, options of go build
BUILDS = (("static", []), ("not optimised", ["-gcflags=all=-N -l"]))
STEPS, LEAST = 400000, 200000
# A goroutine, or the stack of a thread, is known by the register G.
G = 28
# SP moves by more than this only where a stack is changed.
FAR = 1 << 16


class Thread:
    """The registers before its last instruction, which is None at first, and the call that it was."""

    def __init__(self, regs):
        self.regs, self.insn, self.called = regs, None, None


class Run:
    def __init__(self, path, rows, gogo):
        with open(path, "rb") as file:
            self.text = file.read()
        self.rows, self.gogo = rows, gogo
        self.threads, self.memory = [], {}
        self.stacks = collections.defaultdict(list)
        self.steps = self.compared = self.unknown = 0
        self.distinct, self.wrong = set(), {}

    def insn(self, pc):
        """The program is not moved, and its code is in the first segment."""
        at = pc - 0x10000
        return int.from_bytes(self.text[at : at + 4], "little") if 0 <= at < len(self.text) else 0

    def thread_of(self, regs):
        """The thread whose last instruction leads to these registers."""
        for same in (True, False):
            for thread in self.threads:
                if regs[PC] in next_of(thread.insn, thread.regs) and (thread.regs[SP] == regs[SP]) == same:
                    return thread
        self.threads.append(Thread(regs))
        return self.threads[-1]

    def resume(self, regs):
        """runtime.gogo goes on behind a call of the goroutine, or at its start, or on a copy of its stack."""
        frames = self.stacks[regs[G]]
        at = [i for i, frame in enumerate(frames) if frame[:2] == (regs[SP], regs[PC])]
        if at:
            del frames[at[-1] :]
        else:
            # Behind a call that was not seen there is no return address.
            frames[:] = [(regs[SP], regs[LR], regs[FP])] if regs[LR] else []

    def is_on_stack(self, regs):
        """Whether SP is in the stack that the goroutine says, if its stores were seen."""
        low, high = self.memory.get(regs[G]), self.memory.get(regs[G] + 8)
        return low is None or high is None or low <= regs[SP] <= high

    def store(self, insn, regs):
        for addr, value in stores(insn, regs):
            self.memory[addr] = value
        if part := part_of(insn, regs):
            addr, size, value = part
            shift = 8 * (addr & 7)
            if (addr & ~7) in self.memory and (addr & 7) + size <= 8:
                kept = self.memory[addr & ~7] & ~(((1 << (8 * size)) - 1) << shift)
                self.memory[addr & ~7] = kept | value << shift

    def compare(self, frames, regs):
        row = self.rows.at(regs[PC])
        if not row or not frames:
            return
        base, offset, fp, ra, _ = row
        cfa = regs[SP if base == "sp" else FP] + offset
        found = [cfa]
        for rule, reg in ((ra, LR), (fp, FP)):
            found.append(regs[reg] if rule == "u" else self.memory.get(cfa - int(rule[2:])))
        if None in found:
            self.unknown += 1
            return
        self.compared += 1
        self.distinct.add(regs[PC])
        if found != list(frames[-1]):
            self.wrong.setdefault(regs[PC], (row, [hex(one) for one in found], [hex(one) for one in frames[-1]]))

    def leave(self, frames, regs):
        """What returned, or was left by a panic, lies below SP."""
        while frames and (0 < regs[SP] - frames[-1][0] < FAR or frames[-1][:2] == (regs[SP], regs[PC])):
            frames.pop()

    def step(self, regs):
        self.steps += 1
        thread, pc = self.thread_of(regs), regs[PC]
        frames = self.stacks[regs[G]]
        here, was = (self.gogo[0] <= at < self.gogo[1] for at in (pc, thread.regs[PC]))
        if was and not here:
            self.resume(regs)
        elif not here and self.is_on_stack(regs):
            if thread.called and pc != thread.called[1]:
                frames.append(thread.called)
            self.leave(frames, regs)
            self.compare(frames, regs)
        insn = self.insn(pc)
        if insn:
            self.store(insn, regs)
        thread.regs, thread.insn, thread.called = regs, insn, call_of(insn, regs)


def symbol(path, name):
    """(start, end) of a function."""
    lines = [line.split() for line in must("nm", "-n", path).splitlines()]
    starts = [(int(words[0], 16), words[2]) for words in lines if len(words) == 3 and words[1] in "tT"]
    at = [i for i, (_, found) in enumerate(starts) if found == name][0]
    return starts[at][0], starts[at + 1][0]


def main():
    tool, go = sys.argv[1], Go()
    if not shutil.which("qemu-aarch64"):
        tap.skip_all("no qemu-aarch64")
    os.environ.update(GOMAXPROCS="1", GOGC="off", GODEBUG="asyncpreemptoff=1")
    for name, options in BUILDS:
        path = go.build(os.path.join(HERE, "frames"), f"aarch64 {name}", "arm64", options)
        must(tool, "-q", "--source=go", path, path + ".converted")
        run = Run(path + ".converted", Rows(must(tool, "dump", path + ".converted")), symbol(path, "gogo"))
        follow(run, [path + ".converted"], STEPS)
        tap.check(run.compared >= LEAST and not run.wrong,
                  f"{name}: {run.steps} steps, {run.compared} compared at {len(run.distinct)} addresses, "
                  f"{run.unknown} not known, {len(run.wrong)} addresses are wrong",
                  "\n".join(f"{pc:#x}: {wrong}" for pc, wrong in sorted(run.wrong.items())))
    tap.plan()


main()
