#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""go_callers.py EH2SFRAME [BUILD...]: whole goroutine stacks, as the rows of .sframe give them and as Go does.

callers/ prints registers and memory of goroutines, and what runtime.Callers says. It is built in several ways and
converted. A walk by the rows alone must find each PC, up to runtime.goexit.
"""

import bisect
import os
import shutil
import sys

import tap
from go_lib import Go
from sframe_text import Section
from tap import must

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "callers")
# name, machine, options of go build, how it is run
BUILDS = (
    ("static", "amd64", [], []),
    ("pie", "amd64", ["-buildmode=pie"], []),
    ("stripped", "amd64", ["-ldflags=-s -w"], []),
    ("not optimised", "amd64", ["-gcflags=all=-N -l"], []),
    ("aarch64", "arm64", [], ["qemu-aarch64"]),
)
MASK = (1 << 64) - 1


class Rows:
    """Looks up a row as a reader of version 2 does: without a row the walk ends."""

    def __init__(self, text):
        self.funcs = sorted(Section(text, exact=True).funcs.items())
        self.starts = [start for start, _ in self.funcs]

    def find(self, pc):
        at = bisect.bisect_right(self.starts, pc) - 1
        if at < 0:
            return None
        start, (size, _, rows) = self.funcs[at]
        if pc >= start + size:
            return None
        return [row for row in rows if row[0] <= pc - start][-1]


def moved(place):
    """"sp+16" or "c-16": the number."""
    return int(place[place.find("+") if "+" in place else place.find("-") :] or 0)


def walk(rows, pc, sp, fp, memory, bias):
    """The PCs that a walk finds; the first is pc."""
    # The memory begins 16 bytes below SP.
    base, found, at = sp - 16, [pc], pc

    def word(addr):
        if not base <= addr <= base + len(memory) - 8:
            raise ValueError(f"reads {addr:#x}")
        return int.from_bytes(memory[addr - base : addr - base + 8], "little")

    while row := rows.find((at - 1 - bias) & MASK):
        _, cfa, saved_fp, ra = row
        top = (sp if cfa.startswith("sp") else fp) + (moved(cfa) if len(cfa) > 2 else 0)
        # Only a leaf has its return address in a register, and each of these functions has called.
        if ra == "u":
            raise ValueError(f"{at:#x} has its return address in a register")
        at = word(top + (-8 if ra == "f" else moved(ra)))
        fp = word(top + moved(saved_fp)) if saved_fp.startswith("c") else fp
        sp = top
        found.append(at)
        if len(found) > 2000:
            raise ValueError("the walk does not end")
    return found


def stacks(text):
    """[(name, pc, sp, fp, memory, [(pc, function)])], and the places that Go does not tell, by 16 bytes."""
    found, not_told = [], set()
    for line in text.splitlines():
        kind, *words = line.split()
        if kind == "stack":
            found.append((words[0], *(int(word, 16) for word in words[1:4]), bytes.fromhex(words[4]), []))
        elif kind == "pc":
            found[-1][5].append((int(words[0], 16), words[1]))
        elif kind == "not-told":
            not_told.add(int(words[0], 16) // 16)
    return found, not_told


def same(found, said, not_told):
    """None, or what the first frame is that differs."""
    told = [pc for pc in found if (pc - 1) // 16 not in not_told]
    for i, (pc, function) in enumerate(said):
        if i == len(told):
            return f"{function} is not found"
        # Behind a fault Go counts one byte more, so that all of its PCs are those behind an instruction.
        if told[i] != pc and not (said[i - 1][1] == "runtime.sigpanic" and told[i] + 1 == pc):
            return f"frame {i}, {function}: {told[i]:#x} in place of {pc:#x}"
    return f"{len(told)} frames in place of {len(said)}" if len(told) != len(said) else None


def bias_of(printed, program):
    """How far the program was moved: Go tells the address of a function, and a symbol does."""
    symbols = must("nm", program) if tap.run("nm", program).stdout else ""
    for line in symbols.splitlines():
        if line.endswith(" main.capture"):
            return int(printed.split()[1], 16) - int(line.split()[0], 16)
    return 0


def compare(name, rows, printed, bias):
    total, frames, wrong = 0, 0, []
    found, not_told = stacks(printed)
    for what, pc, sp, fp, memory, said in found:
        total += 1
        try:
            pcs = walk(rows, pc, sp, fp, memory, bias)
        except ValueError as error:
            wrong.append(f"{what}: {error}")
            continue
        frames += len(pcs)
        if difference := same(pcs, said, not_told):
            wrong.append(f"{what}: {difference}")
    tap.check(total > 50 and frames > 400 and not wrong, f"{name}: {frames} frames of {total} stacks",
              "\n".join(wrong))


def main():
    tool, go, wanted = sys.argv[1], Go(), sys.argv[2:]
    for name, machine, options, runner in BUILDS:
        if wanted and name not in wanted:
            continue
        if runner and not shutil.which(runner[0]):
            tap.skip(name, f"no {runner[0]}")
            continue
        if not any(option.startswith("-gcflags") for option in options):
            options = ["-gcflags=all=-l", *options]
        program = go.build(SOURCE, name, machine, options)
        converted = program + ".converted"
        must(tool, "-q", "--source=go", program, converted)
        printed = must(*runner, converted)
        compare(name, Rows(must(tool, "dump", converted)), printed, bias_of(printed, program))
    tap.plan()


main()
