#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""plt_walk.py EH2SFRAME SOURCE MACHINE LINKER: links SOURCE (plt_walk.c) in every way that changes
the PLT, converts it to each version, and holds the rows of every byte of the PLT against

  * the instructions, as objdump prints them;
  * the truth, at each step of the converted program under qemu: the SP that the call was made with,
    and the address where it came back to. TAP.
"""
import re
import shutil
import sys
import tempfile

from binutils import readable, release
from elf_text import plts
from gdbstub import Program
from sframe_text import Section
from tap import check, must, plan, skip_all

tool, source, machine, linker = sys.argv[1:]

ARM, ARM_BE, Z = "aarch64", "aarch64_be", "s390x"
BFD = {ARM: ["aarch64-linux-gnu-ld.bfd"], ARM_BE: ["aarch64-linux-gnu-ld.bfd", "-maarch64linuxb"],
       Z: ["s390x-linux-gnu-ld.bfd"]}
LINKERS = {"bfd": BFD, "gold": {ARM: ["aarch64-linux-gnu-ld.gold"]},
           "lld": {ARM: ["ld.lld"], ARM_BE: ["ld.lld"]}, "mold": {ARM: ["mold"], Z: ["mold"]}}
# Without the extension, authenticating is a no-op: no slot here is signed.
QEMU = {ARM: ["qemu-aarch64", "-cpu", "cortex-a57"], ARM_BE: ["qemu-aarch64_be", "-cpu", "cortex-a57"],
        Z: ["qemu-s390x"]}
OBJDUMP = {ARM: "aarch64-linux-gnu-objdump", ARM_BE: "aarch64-linux-gnu-objdump",
           Z: "s390x-linux-gnu-objdump"}
VERSIONS = {ARM: "123", ARM_BE: "123", Z: "23"}
SP_FROM_CFA = {ARM: 0, ARM_BE: 0, Z: -160}
KINDS = {"library": ["-fPIC"], "program": ["-fno-pic", "-DADDRESS"], "static": ["-fno-pic", "-DSTATIC"]}
PROTECTED = ["-z pac-plt", "-z force-bti", "-z pac-plt -z force-bti"]
ld = LINKERS[linker][machine]


def ways():
    """(kind, options of the linker)"""
    protected = PROTECTED if machine != Z and linker in ("bfd", "lld") else []
    for kind in KINDS:
        if (kind, linker) == ("program", "gold"):
            continue  # it cannot leave out the name of a loader
        for options in ["-z lazy", "-z now"] + ["-z lazy " + each for each in protected]:
            yield kind, options


def compile_all(scratch):
    """Objects by kind, with and without landing pads, and the library that programs need."""
    base = ["clang", f"--target={machine}-linux-gnu", "-O1", "-ffreestanding", "-fno-stack-protector",
            "-fasynchronous-unwind-tables", "-c"]
    protection = {"plain": [], "bti": ["-mbranch-protection=standard"]} if machine != Z else {"plain": []}
    for kind, flags in KINDS.items():
        for name, more in protection.items():
            must(*base, *flags, *more, source, "-o", f"{scratch}/{kind}-{name}.o")
    with open(f"{scratch}/lib.c", "w", encoding="ascii") as file:
        file.write("int first(int n) { return n; }\nint second(int n) { return n; }\n"
                   "int third(int n) { return n; }\n")
    must(*base, "-fPIC", f"{scratch}/lib.c", "-o", f"{scratch}/lib.o")
    must(*ld, "-shared", f"{scratch}/lib.o", "-o", f"{scratch}/lib.so")


def link(scratch, kind, options):
    out = f"{scratch}/linked"
    protection = "bti" if "force-bti" in options else "plain"
    how = {"library": ["-shared"], "static": ["-static"],
           "program": ["--no-dynamic-linker", f"{scratch}/lib.so"]}[kind]
    must(*ld, "--build-id=none", f"{scratch}/{kind}-{protection}.o", *how, *options.split(), "-o", out)
    return out


def plt_sections(path):
    return {name: (place.addr, place.size) for name, place in plts(path).items()}


class Rows:
    """What dump says, by address: (CFA - SP, None or RA's place - CFA)."""

    def __init__(self, path):
        section = Section(must(tool, "dump", path), exact=True)
        self.funcs = [(start, size, section.block(start), [
            (at, int(cfa[3:]), None if ra == "u" else int(ra[1:]))
            for at, cfa, fp, ra in rows if cfa.startswith("sp+") and fp == "u" and re.fullmatch(r"u|c-\d+", ra)])
            for start, (size, _, rows) in section.funcs.items()]

    def at(self, pc):
        for start, size, block, rows in self.funcs:
            if start <= pc < start + size:
                found = [row for row in rows if row[0] <= (pc - start) % block]
                return found[-1][1:] if found else None
        return None


def instructions(path, name):
    """(address, mnemonic, operands)"""
    how = ["-d", "-j", name, path]
    if machine == Z:
        # By its bytes alone: the names that objdump makes up for mold's entries are out of step.
        start = plt_sections(path)[name][0]
        must(OBJDUMP[machine].replace("objdump", "objcopy"), "-O", "binary", "--only-section", name, path,
             path + ".plt")
        how = ["-D", "-b", "binary", "-m", "s390:64-bit", f"--adjust-vma={start}", path + ".plt"]
    text = must(OBJDUMP[machine], "-z", "--no-show-raw-insn", *how)
    return [(int(at, 16), what, operands) for at, what, operands in
            re.findall(r"^ *([0-9a-f]+):\t(\S+) *\t?([^\n]*)", text, re.M)]


def meaning(code):
    """{address: (CFA - SP, RA's place - CFA)} by what the instructions do, and the addresses that run
    only when the linear flow before them does not branch away."""
    rows, behind = {}, set()
    moved, saved, branched = 0, None, False
    for at, what, operands in code:
        if branched and what not in ("nop", "brk"):
            moved, saved = 0, None  # another stub; on s390x there is nothing to forget
            branched = machine == Z and what in ("basr", "lgf", "jg", ".long", ".short", "nopr")
        if branched:
            behind.add(at)
        rows[at] = (moved - SP_FROM_CFA[machine], saved)
        push = re.match(r"x\d+, (x\d+), \[sp, #-16\]!", operands) if what == "stp" else None
        if push:
            moved += 16
            saved = 8 - moved if push[1] == "x30" else saved
        elif machine != Z and what not in ("adrp", "ldr", "add", "br", "nop", "brk", "bti", "hint",
                                           "autia1716") or re.match(r"(sp|x30|%r1[45])\b", operands):
            raise RuntimeError(f"{at:x}: {what} {operands}: not what a PLT does")
        # The entries of mold 2 branch by the second; what stands behind is filler.
        branched = branched or what in ("br", "jg") or (what, operands) == ("basr", "%r0,%r1")
    return rows, behind


def compare(path, sections):
    """Every byte of the sections against the instructions. Gives the addresses that must run."""
    rows, must_run, n_bytes = Rows(path), set(), 0
    for name, (start, size) in sections.items():
        wanted, behind = meaning(instructions(path, name))
        if min(wanted) != start:
            raise RuntimeError(f"{name} starts at {start:x}, its code at {min(wanted):x}")
        must_run |= set(wanted) - behind
        for pc in range(start, start + size):
            row = wanted[max(at for at in wanted if at <= pc)]
            if rows.at(pc) != row:
                raise RuntimeError(f"{name}, {pc:x}: {rows.at(pc)} in .sframe, the code says {row}")
            n_bytes += 1
    return rows, must_run, n_bytes


def read_by_others(path):
    """readelf has the same functions and rows as dump."""
    ours = Section(must(tool, "dump", path))
    theirs = Section(must("readelf", "--sframe=.sframe", path))
    if not ours.funcs or ours.funcs != theirs.funcs:
        raise RuntimeError(f"readelf: {theirs.funcs}\ndump: {ours.funcs}")


class Walk:
    """One run of the program, step by step."""

    def __init__(self, path, sections, rows, scratch):
        self.sections, self.rows, self.ran, self.calls = sections, rows, set(), 0
        entry = int(re.search(r"Entry point address: +0x(\w+)", must("readelf", "-h", path))[1], 16)
        self.order = "little" if machine == ARM else "big"
        self.program = Program(QEMU[machine], machine.removesuffix("_be"), self.order, path, scratch)
        self.bias = self.program.registers()[0] - entry
        try:
            self.go()
        finally:
            self.program.close()
        if self.program.exited != 0:
            raise RuntimeError(f"the program ends with status {self.program.exited}")

    def inside(self, pc):
        return any(start <= pc - self.bias < start + size for start, size in self.sections.values())

    def check(self, pc, sp, link, truth):
        row = self.rows.at(pc - self.bias)
        if row is None:
            raise RuntimeError(f"{pc - self.bias:x}: no row")
        cfa = sp + row[0]
        back = link
        if row[1] is not None:
            back = int.from_bytes(self.program.memory(cfa + row[1], 8), self.order)
        if (cfa + SP_FROM_CFA[machine], back) != truth:
            raise RuntimeError(f"{pc - self.bias:x}: SP {cfa + SP_FROM_CFA[machine]:x}, RA {back:x} by "
                               f"the row; in truth {truth[0]:x}, {truth[1]:x}")
        self.ran.add(pc - self.bias)

    def after_call(self, pc):
        if machine != Z:
            return pc + 4
        return pc + {0: 2, 1: 4, 2: 4, 3: 6}[self.program.memory(pc, 1)[0] >> 6]

    def go(self):
        truth = before = None
        while self.program.exited is None:
            pc, sp, link = self.program.registers()
            if self.inside(pc):
                if not self.inside(before[0]):
                    truth = (before[1], self.after_call(before[0]))
                self.check(pc, sp, link, truth)
            elif truth == (sp, pc):
                truth = None  # the call came back: so this was its SP, and this its return address
                self.calls += 1
            before = (pc, sp)
            self.program.step()
        if truth:
            raise RuntimeError(f"the call with SP {truth[0]:x} does not come back to {truth[1]:x}")


def check_way(scratch, kind, options):
    linked, out = link(scratch, kind, options), f"{scratch}/out"
    # The library relocates itself, as a program interpreter does, for which a method is named.
    method = ["--method=grow"] if kind == "library" else []
    sections = plt_sections(linked)
    total = sum(size for _, size in sections.values())
    told = re.search(r"from PLT template +(\d+) bytes", must(tool, "report", linked))
    by_cfi = machine == Z and linker == "bfd" and release(ld[0]) >= (2, 46)
    if not by_cfi and (not told or int(told[1]) != total):
        raise RuntimeError(f"{sections}: {told and told[1]} bytes from templates, not {total}")
    for version in VERSIONS[machine]:
        must(tool, "-q", *method, f"--format={version}", linked, out)
        must(tool, "verify", out)
        rows, must_run, n_bytes = compare(out, sections)
    for options in readable(machine == Z):
        must(tool, "-q", *method, *options, linked, f"{scratch}/read")
        read_by_others(f"{scratch}/read")
    walk = Walk(out, sections, rows, scratch)
    if kind == "static":  # a header, which gold writes, has nobody to resolve for
        must_run = {pc for pc in must_run if pc >= min(walk.ran)}
    if not walk.calls or not must_run <= walk.ran:
        raise RuntimeError("never run: " + " ".join(f"{pc:x}" for pc in sorted(must_run - walk.ran)))
    return f"{n_bytes} bytes, {walk.calls} calls, {len(walk.ran)} addresses run"


for need in ("clang", ld[0], QEMU[machine][0], OBJDUMP[machine], "readelf"):
    if not shutil.which(need):
        skip_all(f"{need} is not installed")
with tempfile.TemporaryDirectory() as work:
    compile_all(work)
    for what, given in ways():
        try:
            check(True, f"{linker}, {what}, {given}: {check_way(work, what, given)}")
        except RuntimeError as problem:
            check(False, f"{linker}, {what}, {given}", problem)
plan()
