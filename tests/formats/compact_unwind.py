# SPDX-License-Identifier: MIT
"""compact_unwind.py CHECK_FORMATS: our __unwind_info beside that of LLVM's tools, for the same directives.

One assembler source becomes an object for ELF and one for Mach-O. ld.lld links the first, and its .eh_frame
goes through tests/bench/compare. ld64.lld links the second, with LLVM's encodings. Both must give each function the
same encoding. llvm-objdump reads our bytes from a Mach-O container that this test makes.
"""
import random
import re
import shutil
import struct
import subprocess
import sys

from tap import check, must, plan, run, skip_all

N_FUNCS = 3000
check_formats = sys.argv[1]


def tool(name):
    """The tool, by its plain name or by one with a version."""
    for candidate in (name, name + "-14", name + "-19", name + "-21"):
        if shutil.which(candidate):
            return candidate
    skip_all(f"needs {name} (Debian: llvm, lld)")
    return None


MC, LD, LD64, OBJDUMP = (tool(name) for name in ("llvm-mc", "ld.lld", "ld64.lld", "llvm-objdump"))


def x86_64(rng):
    """A prologue as clang writes it: directives and instructions."""
    regs = rng.sample(["rbx", "r12", "r13", "r14", "r15"], rng.randrange(6))
    if rng.random() < 0.5:
        yield "pushq %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16"
        yield "movq %rsp, %rbp\n.cfi_def_cfa_register %rbp"
        for reg in regs:
            yield f"pushq %{reg}"
        for place, reg in reversed(list(enumerate(regs))):
            yield f".cfi_offset %{reg}, {-24 - 8 * place}"
        return
    if rng.random() < 0.2:
        regs.insert(rng.randrange(len(regs) + 1), "rbp")
    cfa = 8
    for reg in regs:
        cfa += 8
        yield f"pushq %{reg}\n.cfi_def_cfa_offset {cfa}"
    size = rng.choice([0, 8, 24, 8 * rng.randrange(1, 200), 8 * rng.randrange(300, 9000)])
    if size >= 2048 - cfa:
        size += 128  # so that the number has 4 bytes
    if size:
        yield f"subq ${size}, %rsp\n.cfi_def_cfa_offset {cfa + size}"
    for place, reg in reversed(list(enumerate(regs))):
        yield f".cfi_offset %{reg}, {-16 - 8 * place}"


def aarch64(rng):
    if rng.random() < 0.3:
        size = 16 * rng.choice([0, 1, 2, rng.randrange(255)])
        if size:
            yield f"sub sp, sp, #{size}\n.cfi_def_cfa_offset {size}"
        return
    pairs = [("x", 19), ("x", 21), ("x", 23), ("x", 25), ("x", 27), ("d", 8), ("d", 10), ("d", 12), ("d", 14)]
    saved = [pair for pair in pairs if rng.random() < 0.4]
    size = 16 * (len(saved) + 1)
    yield f"sub sp, sp, #{size}\nstp x29, x30, [sp, #{size - 16}]\nadd x29, sp, #{size - 16}"
    yield ".cfi_def_cfa w29, 16\n.cfi_offset w30, -8\n.cfi_offset w29, -16"
    at = -16
    for kind, reg in saved:
        name = "w" if kind == "x" else "b"
        yield f".cfi_offset {name}{reg}, {at - 8}\n.cfi_offset {name}{reg + 1}, {at - 16}"
        at -= 16


MACHINES = {
    "x86_64": (x86_64, "callq _f0", "ret", "x86_64-linux-gnu", "x86_64-apple-macosx10.15", "10.15", 0x01000007),
    "arm64": (aarch64, "bl _f0", "ret", "aarch64-linux-gnu", "arm64-apple-macosx11.0", "11.0", 0x0100000C),
}


def source(machine, elf):
    """Functions, of which some have a personality routine and data for it."""
    prologue, call, ret = MACHINES[machine][:3]
    rng = random.Random(machine)
    pers, lsda = (0x1B, 0x1B) if elf else (155, 16)
    yield ".text\n.globl _pers\n_pers:\n.cfi_startproc\n" + ret + "\n.cfi_endproc"
    for i in range(N_FUNCS):
        yield f".globl _f{i}\n_f{i}:\n.cfi_startproc"
        if i % 7 == 0:
            yield f".cfi_personality {pers}, _pers\n.cfi_lsda {lsda}, Ldata"
        yield from prologue(rng)
        yield from [call] * 12
        yield ret + "\n.cfi_endproc"
    yield (".section .rodata" if elf else ".section __TEXT,__gcc_except_tab") + "\n.p2align 2\nLdata: .long 0"


# From LLVM 16 on a personality that is not Apple's takes an option.
CANONICAL = "--emit-compact-unwind-non-canonical"


def build(machine):
    """The ELF file and the Mach-O file."""
    known = CANONICAL not in run(MC, CANONICAL, "--version").stderr
    elf_target, mach_target, release = MACHINES[machine][3:6]
    for kind, target in (("elf", elf_target), ("macho", mach_target)):
        text = "\n".join(source(machine, kind == "elf")) + "\n"
        options = [CANONICAL] if known and kind == "macho" else []
        subprocess.run([MC, *options, "-triple", target, "-filetype=obj", "-o", f"{machine}.{kind}.o"], input=text,
                       text=True, check=True)
    must(LD, "-shared", "--eh-frame-hdr", "-Bsymbolic", "-o", f"{machine}.so", f"{machine}.elf.o")
    must(LD64, "-arch", machine, "-platform_version", "macos", release, release, "-dylib",
         "-o", f"{machine}.dylib", f"{machine}.macho.o")


def entries_of(text):
    """Function offset: encoding, without the bits of the personality, from llvm-objdump."""
    return {int(place, 16): int(encoding, 16) & 0x4FFFFFFF for place, encoding in re.findall(
        r"function offset=0x([0-9a-f]+), encoding(?:\[\d+\])?=0x([0-9a-f]+)", text)}


def at(entries, places):
    """For each place the encoding that holds there; neighbours may be one entry."""
    keys = sorted(entries)
    held, i = [], 0
    for place in places:
        while i + 1 < len(keys) and keys[i + 1] <= place:
            i += 1
        held.append(entries[keys[i]])
    return held


def container(machine, bytes_):
    """A Mach-O file with one segment and one section (mach-o/loader.h)."""
    header = struct.pack("<8I", 0xFEEDFACF, MACHINES[machine][6], 3 if machine == "x86_64" else 0, 2, 1, 152, 0, 0)
    offset = 32 + 152
    segment = struct.pack("<2I16s4Q4I", 0x19, 152, b"__TEXT", 0, len(bytes_), offset, len(bytes_), 5, 5, 1, 0)
    section = struct.pack("<16s16s2Q8I", b"__unwind_info", b"__TEXT", 0, len(bytes_), offset, 2, 0, 0, 0, 0, 0, 0)
    with open(f"{machine}.container", "wb") as file:
        file.write(header + segment + section + bytes_)


def sections(machine):
    """Name: address and size, of the Mach-O file."""
    text = must(OBJDUMP, "--section-headers", f"{machine}.dylib")
    return {name: (int(place, 16), int(size, 16)) for name, size, place in re.findall(
        r"^\s*\d+\s+(\S+)\s+([0-9a-f]+)\s+([0-9a-f]+)", text, re.M)}


def same(machine):
    build(machine)
    made = must(check_formats, "--unwind", f"{machine}.so", f"{machine}.unwind").split("\n")
    base = int(made[0], 16)
    ours = {}
    for line in made[1:]:
        if line:
            place, encoding, _ = line.split()
            ours[int(place, 16) - base] = int(encoding, 16) & 0x4FFFFFFF
    with open(f"{machine}.unwind", "rb") as file:
        bytes_ = file.read()
    container(machine, bytes_)
    read = entries_of(must(OBJDUMP, "--unwind-info", f"{machine}.container"))
    places = sorted(ours)
    check(len(places) > N_FUNCS and at(read, places) == [ours[place] for place in places],
          f"{machine}: llvm-objdump reads the encoding of each of {len(places)} functions")
    text, unwind = (sections(machine)[name] for name in ("__text", "__unwind_info"))
    theirs = entries_of(must(OBJDUMP, "--unwind-info", f"{machine}.dylib"))
    # Both begin with the same function.
    theirs = {place - text[0] + places[0]: encoding for place, encoding in theirs.items()}
    # A function without a frame: clang 14 writes no encoding, and clang 19 for x86-64 refers to DWARF.
    leaf = 0x02010000 if machine == "x86_64" else 0x02000000
    different = [(hex(place), hex(a), hex(b)) for place, a, b in
                 zip(places, at(read, places), at(theirs, places))
                 if a != b and (a & 0x0FFFFFFF != leaf or b not in (0, b & 0x44FFFFFF))]
    check(not different, f"{machine}: clang's encodings are the same", different[:20])
    kinds = {encoding >> 24 & 15 for encoding in ours.values()}
    check(kinds == ({1, 2, 3} if machine == "x86_64" else {2, 4}), f"{machine}: every mode without DWARF occurs", kinds)
    ratio = len(bytes_) / unwind[1]
    check(abs(ratio - 1) <= 0.02, f"{machine}: {len(bytes_)} bytes, ld64.lld {unwind[1]}", ratio)


for name in MACHINES:
    same(name)
plan()
