#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Objects converted one by one and then linked: by GNU ld, which merges .sframe, and through
ld -r. The linked program runs as without, and its .sframe says of each function of these objects what
a conversion of the finished program says. What GNU as writes into the same objects is what we
write. The other linkers link them, too. TAP.

    object_link.py EH2SFRAME SOURCE-FOLDER
"""
import os
import shutil
import sys
import tempfile

from binutils import merged
from elf_text import functions, plts
from object_lib import simple
from sframe_text import Section
from tap import check, must, plan, run, skip

tool, folder = sys.argv[1], sys.argv[2]

FORMAT = merged()

SOURCES = ["main.cc", "other.cc", "plain.c", "asm.S"]
# Name, options of the compiler (the first may be "clang"), options of the link.
BUILDS = [
    ("O0", ["-O0"], []),
    ("O2", ["-O2"], []),
    ("sections", ["-O2", "-ffunction-sections"], []),
    ("fixed", ["-O1", "-fno-pie", "-ffunction-sections"], ["-no-pie"]),
    ("large", ["-O2", "-mcmodel=large"], []),
    ("clang", ["clang", "-O2", "-fexceptions"], []),
    ("frames", ["-O2", "-fno-omit-frame-pointer", "-fcf-protection=full"], []),
]


def section(path):
    """By readelf, which must have no complaint."""
    made = run("readelf", "--sframe=.sframe", path)
    return Section(made.stdout), made.stderr


def names_of(path):
    """{address: names} of the functions a linked file has."""
    names = {}
    for at, _, name in functions(path):
        names.setdefault(at, set()).add(name)
    return names


def defined(objects):
    return {name for path in objects
            for _, _, name in functions(path)}


def plt_places(path):
    return [(plt.addr, plt.addr + plt.size) for plt in plts(path).values()]


def same(path, pc, linked, converted):
    """A section of an object ends with its function, so it has nothing behind a last call that a row could reach over."""
    if linked == converted:
        return True
    end = pc + linked[0]
    last = must("objdump", "-d", f"--start-address={pc}", f"--stop-address={end}", path).rstrip().splitlines()[-1]
    return linked[1:] == converted[1:] and converted[0] == linked[0] + 1 and "\tcall" in last


def compare(name, linked, plain, objects, work):
    """The functions of linked, but for the linker's, against a conversion of plain."""
    reference = os.path.join(work, "reference")
    must(tool, "-q", *FORMAT, "--optimize=none", plain, reference)
    ours = Section(must(tool, "dump", reference))
    theirs, complaint = section(linked)
    check(not complaint, f"{name}: readelf reads .sframe", complaint)
    a, b = names_of(linked), names_of(reference)
    moved = {at: (a.get(at), b.get(at)) for at in a.keys() | b.keys() if a.get(at) != b.get(at)}
    check(not moved, f"{name}: code is where it is without .sframe", moved)
    names, own = names_of(linked), defined(objects)
    stubs = plt_places(linked)
    wrong, alike = [], 0
    for pc in sorted(ours.funcs.keys() | theirs.funcs.keys()):
        a, b = theirs.funcs.get(pc), ours.funcs.get(pc)
        who = names.get(pc, set())
        if any(start <= pc < end for start, end in stubs):
            continue
        if a and b and same(linked, pc, simple(a), simple(b)):
            alike += 1
        elif a or who & own:
            wrong.append(f"{pc:#x} {who}: linked {a}, converted {b}")
    check(not wrong and alike >= 10, f"{name}: {alike} functions alike", "\n".join(wrong))
    verified = run(tool, "verify", linked)
    differs = [line for line in verified.stdout.splitlines() if "<" in line and "<.plt" not in line]
    check(not differs and "bytes of code compared" in verified.stdout, f"{name}: and proven",
          "\n".join(differs) + verified.stderr)


def compile_all(options, suffix, work):
    objects = []
    compilers = ("gcc", "g++")
    if options[0] == "clang":
        compilers, options = ("clang", "clang++"), options[1:]
    for source in SOURCES:
        path = os.path.join(work, source + suffix)
        must(compilers[source.endswith("cc")], *options, "-c", "-o", path,
             os.path.join(folder, "object_" + source))
        objects.append(path)
    return objects


def convert(objects, mode, work):
    made = []
    for path in objects:
        out = path[:-2] + f".{mode}.o"
        must(tool, "-q", *FORMAT, f"--object-sections={mode}", path, out)
        must(tool, "verify", "-q", out)
        back = os.path.join(work, "back.o")
        must(tool, "remove", out, back)
        with open(path, "rb") as one, open(back, "rb") as two:
            check(one.read() == two.read(), f"{os.path.basename(out)}: and back")
        made.append(out)
    return made


def link(name, objects, options, linker, out):
    made = run("g++", f"-fuse-ld={linker}", *options, "-o", out, *objects)
    check(made.returncode == 0, f"{name}: linked", made.stderr)
    return made.returncode == 0


def same_as_gas(name, options, objects, work):
    """Function by function, at the same made-up addresses."""
    for path, theirs in zip(objects, compile_all(["-Wa,--gsframe", *options], ".gas.o", work)):
        ours = os.path.join(work, "ours.o")
        must(tool, "-q", *FORMAT, path, ours)
        a, b = (Section(must(tool, "dump", each)) for each in (ours, theirs))
        wrong = [f"{pc:#x}: {a.funcs.get(pc)}, GNU as {b.funcs.get(pc)}"
                 for pc in a.funcs.keys() | b.funcs.keys()
                 if pc not in a.funcs or pc not in b.funcs or
                 simple(a.funcs[pc]) != simple(b.funcs[pc])]
        check(not wrong, f"{name}: {os.path.basename(path)}: {len(a.funcs)} functions as GNU as has",
              "\n".join(wrong))


def through_ld_r(name, objects, options, plain, wanted, work):
    whole, linked = os.path.join(work, "whole.o"), os.path.join(work, "through")
    made = run("ld.bfd", "-r", "-o", whole, *objects)
    check(made.returncode == 0, f"{name}: ld -r", made.stderr)
    if link(name, [whole], options, "bfd", linked):
        check(run(linked).stdout == wanted, f"{name}: runs")
        # ld -r has put the functions elsewhere.
        other = os.path.join(work, "whole-plain.o")
        must("ld.bfd", "-r", "-o", other, *plain)
        again = os.path.join(work, "plain-through")
        must("g++", "-fuse-ld=bfd", *options, "-o", again, other)
        compare(name, linked, again, plain, work)


def check_build(build, work):
    name, options, link_options = build
    objects = compile_all(options, ".o", work)
    plain = os.path.join(work, "plain")
    must("g++", "-fuse-ld=bfd", *link_options, "-o", plain, *objects)
    wanted = run(plain).stdout
    check("over the limit" in wanted, f"{name}: the program throws")
    if name != "clang":
        same_as_gas(name, options, objects, work)
    for mode in ("one", "group", "text"):
        made = convert(objects, mode, work)
        linked = os.path.join(work, "linked")
        if link(f"{name}, {mode}", made, link_options, "bfd", linked):
            check(run(linked).stdout == wanted, f"{name}, {mode}: runs")
            compare(f"{name}, {mode}", linked, plain, objects, work)
        if mode == "one":
            partly(f"{name}, C by ld -r", made[2:], objects[:2], link_options, wanted, work)
        if mode == "group":
            through_ld_r(f"{name}, ld -r", made, link_options, objects, wanted, work)
        if mode != "one":
            others(f"{name}, {mode}", made, link_options, wanted, work)


def partly(name, made, rest, options, wanted, work):
    """Objects without COMDAT, of the usual form, through ld -r."""
    whole, linked = os.path.join(work, "part.o"), os.path.join(work, "partly")
    check(run("ld.bfd", "-r", "-o", whole, *made).returncode == 0, f"{name}: ld -r")
    if link(name, [*rest, whole], options, "bfd", linked):
        theirs, complaint = section(linked)
        check(run(linked).stdout == wanted and not complaint and len(theirs.funcs) >= 6,
              f"{name}: runs, {len(theirs.funcs)} functions", complaint)
        verified = run(tool, "verify", linked)
        check("<plain" not in verified.stdout and "<asm" not in verified.stdout,
              f"{name}: and proven", verified.stdout)


def others(name, objects, options, wanted, work):
    """They concatenate sections; a conversion of the program sets that right."""
    for linker in ("gold", "lld", "mold"):
        linked, after = os.path.join(work, "linked"), os.path.join(work, "after")
        if link(f"{name}, {linker}", objects, options, linker, linked):
            made = run(tool, "--refresh", linked, after)
            check(made.returncode == 0 and run(linked).stdout == wanted == run(after).stdout,
                  f"{name}, {linker}: runs, and is converted", made.stderr)


def after_tools(work):
    """What rewrites an object keeps sections, relocations and groups; not the way back."""
    objects = compile_all(["-O2", "-g"], ".tools.o", work)
    rewritten = os.path.join(work, "rewritten.o")
    for mode in ("one", "group", "text"):
        made = convert(objects[:1], mode, work)[0]
        for argv in (["strip", "-g"], ["strip", "--strip-unneeded"], ["llvm-strip", "-g"],
                     ["eu-strip", "-g"], ["objcopy"], ["llvm-objcopy"]):
            name = f"{mode}, after {' '.join(argv)}"
            if not shutil.which(argv[0]):
                skip(name, f"needs {argv[0]}")
                continue
            out = [made, rewritten] if "objcopy" in argv[0] else ["-o", rewritten, made]
            must(*argv, *out)
            check(run(tool, "verify", "-q", rewritten).returncode == 0, f"{name}: proven")
            back = run(tool, "remove", rewritten, os.path.join(work, "back.o"))
            check(back.returncode == 6, f"{name}: no way back", back.stderr)


def collected(work):
    """Garbage collection takes sections of their own with their code, and only then."""
    objects = compile_all(["-O2", "-ffunction-sections"], ".gc.o", work)
    made = convert(objects, "text", work)
    plain, linked = os.path.join(work, "plain"), os.path.join(work, "linked")
    for linker in ("bfd", "lld"):
        must("g++", "-fuse-ld=" + linker, "-Wl,--gc-sections", "-o", plain, *objects)
        if link(f"collected, {linker}", made, ["-Wl,--gc-sections"], linker, linked):
            check(run(linked).stdout == run(plain).stdout, f"collected, {linker}: runs")
            check(".sframe" in must("readelf", "-SW", linked), f"collected, {linker}: has .sframe")
            if linker == "bfd":
                compare("collected, bfd", linked, plain, objects, work)


def main():
    for build in BUILDS:
        if build[0] == "clang" and not shutil.which("clang++"):
            skip("clang", "needs clang++")
            continue
        with tempfile.TemporaryDirectory() as work:
            check_build(build, work)
    with tempfile.TemporaryDirectory() as work:
        collected(work)
        after_tools(work)
    plan()


main()
