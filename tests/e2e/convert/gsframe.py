#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""eh2sframe verify on sections that GNU as and ld 2.40 made: it finds what they get wrong and nothing else;
and our version 1 of the same files, function by function. TAP.

    gsframe.py EH2SFRAME SOURCE-FOLDER

Which differences there may be follows from the defects of these tools (docs/FORMAT.md, "What GNU
as and ld do"): in ordinary code none. Both sides are read by readelf, not by us.
"""
import os
import re
import sys
import tempfile

from elf_text import plts
from sframe_text import Section
from tap import check, plan, run, skip_all

tool, folder = sys.argv[1], sys.argv[2]

# Of the PLTs, ld gives .plt.got no row, and with IBT an old row to what another layout had there.
LAZY, IBT = "-Wl,-z,lazy", "-Wl,-z,lazy,-z,ibtplt"
BUILDS = [
    ("prog.c", ["-O0"]), ("prog.c", ["-O2", LAZY]), ("prog.c", ["-Os", "-Wl,-z,now"]),
    ("prog.c", ["-O2", "-fcf-protection=full", IBT]), ("prog.c", ["-O1", "-mstackrealign"]),
    ("prog.c", ["-O2", "-no-pie", "-fno-omit-frame-pointer"]), ("prog.c", ["-O3", "-mavx2"]),
    ("prog.cc", ["-O0"]), ("prog.cc", ["-O2", LAZY]), ("prog.cc", ["-O2", "-shared", "-fPIC"]),
    ("prog.cc", ["-O2", "-ffunction-sections", "-fcf-protection=full", IBT]),
    ("prog.cc", ["-O1", "-mstackrealign"]),
]


class Verified:
    """What verify -v says: {(pc, name): text} of differences, {pc: name} of missing rows."""

    def __init__(self, path):
        self.run = run(tool, "verify", "-v", path)
        self.wrong, self.missing = {}, {}
        for pc, name, text in re.findall(r"0x(\w+) <(.*?)>(?:, \.sframe\+0x\w+)?: (.*)$", self.run.stdout, re.M):
            if "could have a row" in text:
                self.missing[int(pc, 16)] = name
            else:
                self.wrong[int(pc, 16), name] = text


def simple(func):
    """Rows that say something: not twice the same, none beyond the end."""
    size, _, rows = func
    kept = []
    for row in rows:
        if row[0] < size and (not kept or kept[-1][1:] != row[1:]):
            kept.append(row)
    return size, kept


def plt_places(path):
    """[start, end) of the sections that ld makes."""
    return [(plt.addr, plt.addr + plt.size) for plt in plts(path).values()]


def explained(pc, gnu, verified):
    """Only we have a function at pc: behind a gap of one that verify named, or all missing."""
    before = max((start for start in gnu.funcs if start < pc), default=0)
    if before and pc < before + gnu.funcs[before][0]:
        return any(before <= at < pc for at, _ in verified.wrong)
    return any(before < at <= pc for at in verified.missing)


def check_functions(name, path, verified, work):
    """Every function outside the PLTs has GNU's rows, but where verify named it."""
    ours = os.path.join(work, "ours")
    # Sharing puts neighbours together; GNU as and ld do not.
    made = run(tool, "-q", "--refresh", "--for=binutils-2.40", "--optimize=none", path, ours)
    proof = run(tool, "verify", ours)
    check(made.returncode == 0 and proof.returncode == 0, f"{name}: converted", made.stderr)
    gnu = Section(run("readelf", "--sframe=.sframe", path).stdout)
    new = Section(run("readelf", "--sframe=.sframe", ours).stdout)
    stubs = plt_places(path)
    named = {pc for pc, _ in verified.wrong}
    unexplained, equal = [], 0
    for pc in sorted(gnu.funcs.keys() | new.funcs.keys()):
        if any(start <= pc < end for start, end in stubs):
            continue
        a, b = gnu.funcs.get(pc), new.funcs.get(pc)
        size = (a or b)[0]
        if a and b and simple(a) == simple(b):
            equal += 1
        elif a and not any(pc <= at < pc + size for at in named):
            unexplained.append(f"{pc:#x}: GNU {a}, we {b}")
        elif not a and not explained(pc, gnu, verified):
            unexplained.append(f"{pc:#x}: not in GNU's, nor said to be missing")
    check(not unexplained, f"{name}: {equal} functions alike, the rest explained",
          "\n".join(unexplained))
    false = [f"{pc:#x} {who}" for pc, who in verified.missing.items()
             if pc in gnu.funcs and not who.startswith(".plt")]
    check(not false, f"{name}: nothing is said to be missing that is there", "\n".join(false))


def check_program(source, options, work):
    name = f"{source} {' '.join(options)}"
    path = os.path.join(work, "linked")
    compiler = "g++" if source.endswith("cc") else "gcc"
    made = run(compiler, "-fuse-ld=bfd", "-Wa,--gsframe", *options, "-o", path,
               os.path.join(folder, "gsframe_" + source))
    if made.returncode:
        check(False, f"{name}: compiled", made.stderr)
        return
    verified = Verified(path)
    ordinary = [item for item in verified.wrong.items() if not item[0][1].startswith(".plt")]
    check(not ordinary, f"{name}: no difference in a function", ordinary)
    check("0x" in verified.run.stdout or verified.run.returncode in (0, 4),
          f"{name}: verified", verified.run.stderr)
    if "-mstackrealign" in options:
        check("main" in verified.missing.values(), f"{name}: main, which as skips, is missing",
              verified.missing)
    plt_faults(name, options, verified)
    check_functions(name, path, verified, work)


def plt_faults(name, options, verified):
    wrong = [(who, pc % 16, text) for (pc, who), text in verified.wrong.items()]
    if IBT not in options:
        check(not wrong, f"{name}: the PLT is right", wrong)
        return
    check((".plt", 9, "CFA is rsp + 8 in .sframe, rsp + 16 in CFI") in wrong,
          f"{name}: IBT entries push before 9, not before 11", wrong)
    check((".plt.sec", 0, "CFA is rsp + 16 in .sframe, rsp + 8 in CFI") in wrong,
          f"{name}: .plt.sec has PLT0's row", wrong)
    others = [w for w in wrong if w[0] not in (".plt", ".plt.sec")]
    check(not others, f"{name}: no other PLT differs", others)


def check_faults(work):
    path = os.path.join(work, "faults")
    source = os.path.join(folder, "gsframe_faults.S")
    made = run("gcc", "-fuse-ld=bfd", "-Wa,--gsframe", "-nostdlib", "-shared", "-o", path, source)
    check(made.returncode == 0, "faults: assembled", made.stderr)
    verified = Verified(path)
    with open(source, encoding="ascii") as file:
        names = re.findall(r"^\tbegin (\w+)", file.read(), re.M)
    wrong = {name for _, name in verified.wrong}
    for name in names:
        check((name in wrong) == name.startswith("fault_"), f"faults: {name}: wrong?", wrong)
        check((name in verified.missing.values()) == name.startswith("skipped_"),
              f"faults: {name}: missing?", verified.missing)
    check_functions("faults", path, verified, work)


def check_joined(work):
    """Linkers that do not know sections put them behind each other: told with their number, and put right."""
    objects, linked, after = [], os.path.join(work, "joined"), os.path.join(work, "after")
    for i in range(3):
        source = os.path.join(work, f"part{i}.c")
        with open(source, "w", encoding="ascii") as file:
            file.write(f"int part{i}(int x) {{ return x * {i + 2}; }}\n")
        objects.append(source[:-2] + ".o")
        run("gcc", "-O2", "-Wa,--gsframe", "-c", "-o", objects[-1], source)
    said = r"\.sframe\+0x30: the second of 3 sections begins here, and readers see the first one alone"
    for linker in ("gold", "lld", "mold"):
        made = run("gcc", f"-fuse-ld={linker}", "-nostdlib", "-shared", "-o", linked, *objects)
        check(made.returncode == 0, f"{linker}: linked", made.stderr)
        for verb in ("lint", "verify", "dump"):
            text = run(tool, verb, linked).stdout
            check(re.search(f"^{linked}: .*{said}", text, re.M), f"{linker}, {verb}: how many, and where", text)
        made, lint = run(tool, "--refresh", linked, after), run(tool, "lint", after)
        check(made.returncode == 0 and lint.returncode == 0, f"{linker}: put right", made.stderr + lint.stdout)
    made = run("ld.lld", "-r", "-o", linked, *objects)
    for verb in ("lint", "verify", "dump"):
        text = run(tool, verb, linked).stderr
        check(re.search(f"section \\d+ \\(.sframe\\): {said}; objcopy --remove-section .sframe makes room for another$", text),
              f"lld -r, {verb}: how many, and where", text)
    run("objcopy", "--remove-section", ".sframe", linked, after)
    made = run(tool, "--format=1", after, linked)
    check(made.returncode == 0 and run(tool, "verify", linked).returncode == 0, "lld -r: put right", made.stderr)


def main():
    version = re.search(r"(\d+\.\d+)", run("as", "--version").stdout)
    if not version or version[1] != "2.40":
        skip_all("this is about GNU as and ld 2.40")
    with tempfile.TemporaryDirectory() as work:
        check_faults(work)
        check_joined(work)
        for source, options in BUILDS:
            check_program(source, options, work)
    plan()


main()
