#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Objects of each machine and version. What GNU as writes into the same objects is what we write;
GNU ld merges them; and every version's relocations are applied by
the machine's linker to the section under a name that it does not know, after which it is proven.
The programs run, under qemu-user where need be. TAP.

    object_machines.py EH2SFRAME SOURCE-FOLDER
"""
import os
import shutil
import sys
import tempfile

import binutils
from elf_text import functions
from object_lib import simple
from sframe_text import Section
from tap import check, must, plan, run, skip

tool, folder = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])

FORMAT = binutils.merged()

AARCH64 = "mov x29, #0\n mov w0, #3\n bl plain\n and w0, w0, #127\n mov x8, #93\n svc #0"
# Prefix of the tools, options of the compiler, emulator, versions, start of a program, relocations
# of starts in 32 and 64 bits, the first version of as and ld that knows the machine's .sframe.
MACHINES = {
    "x86-64": ("", [], None, "123",
               "mov $3, %edi\n call plain\n mov %eax, %edi\n and $127, %edi\n mov $60, %eax\n syscall",
               ("R_X86_64_PC32", "R_X86_64_PC64"), 1),
    "aarch64": ("aarch64-linux-gnu-", [], "qemu-aarch64", "123", AARCH64,
                ("R_AARCH64_PREL32", "R_AARCH64_PREL64"), 1),
    "aarch64, signed": ("aarch64-linux-gnu-", ["-mbranch-protection=pac-ret+leaf+b-key"],
                        "qemu-aarch64", "123", AARCH64, ("R_AARCH64_PREL32", "R_AARCH64_PREL64"), 1),
    "aarch64_be": ("aarch64-linux-gnu-", ["-mbig-endian"], "qemu-aarch64_be", "123", AARCH64,
                   ("R_AARCH64_PREL32", "R_AARCH64_PREL64"), 1),
    "s390x": ("s390x-linux-gnu-", [], "qemu-s390x", "23",
              "lghi %r2, 3\n brasl %r14, plain\n nilf %r2, 127\n svc 1",
              ("R_390_PC32", "R_390_PC64"), 3),
}
LEVELS = ("-O0", "-O2", "-Os")


def compiled(machine, level, out, *more):
    prefix, options = MACHINES[machine][:2]
    must(prefix + "gcc", level, *options, "-fasynchronous-unwind-tables", "-ffreestanding",
         "-fno-stack-protector", "-fno-pie", *more, "-c", "-o", out,
         os.path.join(folder, "object_plain.c"))


def start_object(machine):
    prefix, options, _, _, code = MACHINES[machine][:5]
    with open("start.s", "w", encoding="ascii") as file:
        file.write(f"\t.globl _start\n_start:\n {code}\n")
    must(prefix + "gcc", *options, "-c", "-o", "start.o", "start.s")


def link(machine, out, *objects):
    prefix, options = MACHINES[machine][:2]
    order = ["-EB"] if "-mbig-endian" in options else []
    return run(prefix + "ld", *order, "-static", "-o", out, *objects)


def status(machine, path):
    emulator = MACHINES[machine][2]
    return run(*([emulator] if emulator else []), "./" + path).returncode


def runs(name, machine, path, wanted):
    emulator = MACHINES[machine][2]
    if emulator and not shutil.which(emulator):
        skip(f"{name}: runs", f"no {emulator}")
    else:
        check(status(machine, path) == wanted, f"{name}: runs")


def by_name(section, path):
    """Code of AArch64 is elsewhere with the program header of .sframe."""
    names = {at: name for at, _, name in functions(path)}
    return {names.get(pc, hex(pc)): simple(func) for pc, func in section.funcs.items()}


def by_gas(name, machine, level):
    """Rows of GNU as, less what it is known to get wrong: none of that is in this source."""
    compiled(machine, level, "gas.o", "-Wa,--gsframe")
    must(tool, "-q", *FORMAT, "plain.o", "ours.o")
    a, b = (Section(must(tool, "dump", path)) for path in ("ours.o", "gas.o"))
    wrong = [f"{pc:#x}: {a.funcs.get(pc)}, GNU as {b.funcs.get(pc)}"
             for pc in a.funcs.keys() | b.funcs.keys()
             if pc not in a.funcs or pc not in b.funcs or simple(a.funcs[pc]) != simple(b.funcs[pc])]
    check(not wrong and len(a.funcs) == 4, f"{name}: {len(a.funcs)} functions as GNU as has",
          "\n".join(wrong))
    relas = [run("readelf", "-rW", path).stdout.split("'.rela.sframe'")[1].splitlines()[2:6]
             for path in ("ours.o", "gas.o")]
    fields = [sorted((line.split()[2], line.split()[4:]) for line in lines) for lines in relas]
    check(fields[0] == fields[1], f"{name}: and its relocations", f"{fields[0]}\n{fields[1]}")


def merged(name, machine, wanted):
    """GNU ld with the version that it merges, against a conversion of the finished program."""
    made = link(machine, "linked", "start.o", "ours.o")
    check(made.returncode == 0, f"{name}: GNU ld links it", made.stderr)
    must(tool, "-q", *FORMAT, "--optimize=none", "plain", "converted")
    theirs = run("readelf", "--sframe=.sframe", "linked")
    a = by_name(Section(theirs.stdout), "linked")
    b = by_name(Section(must(tool, "dump", "converted")), "converted")
    check(a == b and not theirs.stderr and len(a) == 4,
          f"{name}: {len(a)} functions as of a conversion behind the link",
          f"{theirs.stderr}\n{a}\n{b}")
    check(run(tool, "verify", "linked").returncode == 0, f"{name}: proven")
    runs(name, machine, "linked", wanted)


def applied(name, machine, version, wanted):
    """The linker takes the section for data, whose relocations it has to apply."""
    prefix, _, _, _, _, kinds, _ = MACHINES[machine]
    made = run(tool, "-q", f"--format={version}", "plain.o", "v.o")
    check(made.returncode == 0, f"{name}: converted", made.stderr)
    check(run(tool, "verify", "-q", "v.o").returncode == 0, f"{name}: proven")
    relas = must("readelf", "-rW", "v.o").split("'.rela.sframe'")[1].splitlines()[2:]
    check(len(relas) >= 4 and all(line.split()[2] == kinds[version == "3"] for line in relas if line),
          f"{name}: relocations", relas)
    if version == "1":
        # Starts relative to the section are the linker's work.
        return
    must(prefix + "objcopy", "--rename-section", ".sframe=.stranger", "v.o", "stranger.o")
    made = link(machine, "linked", "start.o", "stranger.o")
    check(made.returncode == 0, f"{name}: linked as data", made.stderr)
    must(prefix + "objcopy", "--rename-section", ".stranger=.sframe", "linked", "renamed")
    proof = run(tool, "verify", "renamed")
    check(proof.returncode == 0 and " 0 differences" in proof.stdout and
          "; 0 could have a row" in proof.stdout, f"{name}: proven behind the link",
          proof.stdout + proof.stderr)
    runs(name, machine, "renamed", wanted)


def check_machine(machine):
    prefix, _, _, versions, _, _, known = MACHINES[machine]
    if not shutil.which(prefix + "gcc"):
        skip(machine, f"no {prefix}gcc")
        return
    start_object(machine)
    for level in LEVELS:
        name = f"{machine}, {level}"
        compiled(machine, level, "plain.o", *(["-ffunction-sections"] if level == "-Os" else []))
        must(*[word for word in link(machine, "plain", "start.o", "plain.o").args])
        emulator = MACHINES[machine][2]
        wanted = status(machine, "plain") if not emulator or shutil.which(emulator) else None
        if int(FORMAT[0][-1]) >= known:
            by_gas(name, machine, level) if level != "-Os" else must(
                tool, "-q", *FORMAT, "plain.o", "ours.o")
            merged(f"{name}, {' '.join(FORMAT)}", machine, wanted)
        for version in versions:
            applied(f"{name}, v{version}", machine, version, wanted)


def main():
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for machine in MACHINES:
            check_machine(machine)
        if shutil.which("s390x-linux-gnu-gcc"):
            made = run(tool, "--format=1", "plain.o", "none.o")
            check(made.returncode == 1 and "--format=2" in made.stderr, "s390x has no version 1",
                  made.stderr)
        os.chdir("/")
    plan()


main()
