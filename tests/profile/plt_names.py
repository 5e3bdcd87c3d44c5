#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""plt_names.py EH2SFRAME-FOLD RECORDING-OF: the name of each instruction of PLTs, as objdump or the linker has it: what each
linker writes for each machine, with and without symbols, and what is installed. TAP."""
import glob
import os
import pathlib
import re
import shutil
import sys

from batch_lib import remove, scratch
from elf_text import plts
from fold_lib import EXACT, FILE, JIT, Recording, folded
from tap import check, must, plan, read, run, skip

FOLD, WRITER = (os.path.realpath(path) for path in sys.argv[1:3])
SOURCES = {"lib.c": "void first(void) {} void second(void) {} void _Z5thirdi(void) {}\n", "a.c": """
static int (*choose(void))(int) { return 0; }
__attribute__((ifunc("choose"))) int chosen(int n);
#ifndef STATIC
int first(int), second(int), _Z5thirdi(int);
int both(int n) { int (*volatile pointer)(int) = second; return pointer(first(second(n))) + _Z5thirdi(n) + 1; }
#endif
int _start(int n) { return chosen(n) + 1; }
"""}
ARM = "aarch64-linux-gnu-"
# Linkers, options for other kinds of PLTs, what is installed.
MACHINES = {
    "x86_64-linux-gnu-": (["ld.bfd", "ld.gold", "ld.lld", "ld.mold"], ["-z ibtplt", "-z force-ibt"],
                          "/usr/bin/[bl]*s[hs] /usr/bin/g[di][bt] /usr/bin/openssl /usr/lib/x86_64-linux-gnu/lib[cmz]*.so.[136]"),
    ARM: ([ARM + "ld.bfd", ARM + "ld.gold", "ld.lld", "ld.mold"], ["-z force-bti", "-z pac-plt", "-z force-bti -z pac-plt"],
          "/usr/aarch64-linux-gnu/lib/lib*.so.*"),
    "s390x-linux-gnu-": (["s390x-linux-gnu-ld.bfd", "s390x-linux-gnu-ld.gold", "ld.mold"], [], "/usr/s390x-linux-gnu/lib/lib*.so.*")}
KINDS = {"shared": ["-fPIC"], "pie lib.so --dynamic-linker=/none": ["-fpie"], "static": ["-fno-pic", "-DSTATIC"],
         "static -pie --no-dynamic-linker": ["-fpie", "-DSTATIC"]}


def instructions(tool, path):
    """{address: "strlen@plt"}, or ".plt" where an entry has no name or it is none. mold has symbols for its entries."""
    found, label = {}, None
    tls, sections = re.findall(r" TLS .* (\S+?)(?:@.*)?$", must("readelf", "--dyn-syms", "-W", path), re.M), plts(path)
    for line in must(tool, "-d", *(f"-j{name}" for name in sections), path).splitlines() if sections else ():
        begins = re.match(r"[0-9a-f]+ <(.*)>:$", line)
        if begins:
            entry = re.fullmatch(r"([\w.]+)(@plt|\$plt|\$pltgot)", begins[1])
            label = entry[1] + "@plt" if entry and entry[1] not in tls else ".plt"
        elif re.match(r" *[0-9a-f]+:\s", line):
            found[int(line.split(":")[0], 16)] = label
    return found


def compare(files):
    """files: [(what, instructions, paths)]. One recording is of all, and each frame's caller says where it is."""
    rec = Recording()
    thread = rec.thread(1, 1, "p")
    for path, wanted in ((path, wanted) for _, wanted, paths in files for path in paths):
        module = rec.module(path)
        for at in wanted:
            rec.sample(thread, [rec.frame(JIT, rec.n["frame"], name=f"{path}:{at:x}"), rec.frame(FILE, at, module, flags=EXACT)])
    got = dict(stack.split(";")[1:] for stack in folded(FOLD, rec.write(WRITER, "plt.rec"), "--no-demangle", "--no-inline"))
    for what, wanted, paths in files:
        wrong = [(place, got.get(place), name) for path in paths for at, name in wanted.items() if got.get(place := f"{path}:{at:x}") != name]
        check(not wrong, f"{what}: {len(set(wanted.values()) - {'.plt'})} entries, {len(wanted)} instructions", "\n".join(map(str, wrong)))


def link(tool, linker, more):
    """What the linker writes, with and without symbols."""
    for number, (kind, code) in enumerate(KINDS.items()):
        for how in ("-z lazy", "-z now", *("-z lazy " + each for each in more)):
            protect = ["-mbranch-protection=standard" if tool == ARM else "-fcf-protection"] if "force" in how else []
            must(tool + "gcc", "-O1", *code, *protect, "-ffreestanding", "-fno-stack-protector", "-c", "-o", "a.o", "a.c")
            linked = os.path.realpath(f"{tool}{linker}{number}{how.replace(' ', '')}")
            done = run(linker, *("-" + kind).split(), *how.split(), "--build-id=none", "a.o", "-o", linked)
            if done.returncode or "unknown -z" in done.stderr or linker == "ld.lld" and not shutil.which("llvm-objdump"):
                continue
            must(tool + "strip", "-o", linked + ".s", linked)
            # GNU's takes lld's entries with landing pads for shorter ones. In a program, the indirect function is its own.
            names = instructions("llvm-objdump" if (how[8:], linker) == ("-z force-bti", "ld.lld") else tool + "objdump", linked)
            names = {at: ".plt" if number and name == "chosen@plt" else name for at, name in names.items()}
            check(("static" in kind) == (len(set(names.values())) < 4), f"{linked}: three entries or none have names", names)
            yield f"{tool} {linker}, {kind}, {how}", names, [linked, linked + ".s"]


work = scratch()
for file, text in SOURCES.items():
    pathlib.Path(file).write_text(text, encoding="ascii")
for prefix, (linkers, more, installed) in MACHINES.items():
    if not shutil.which(prefix + "gcc") or not shutil.which(prefix + "objdump"):
        skip(prefix, "not installed")
        continue
    must(prefix + "gcc", "-shared", "-nostdlib", "-fPIC", "-o", "lib.so", "lib.c")
    found = {os.path.realpath(path) for pattern in installed.split() for path in glob.glob(pattern)}
    compare([made for linker in filter(shutil.which, linkers) for made in link(prefix, linker, more)] + [
        (path, instructions(prefix + "objdump", path), [path]) for path in sorted(found) if read(path)[:4] == b"\x7fELF"])
remove(work)
plan()
