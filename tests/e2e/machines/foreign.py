#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs of AArch64, either byte order, and of s390x: assembled, converted by every method of
insertion that applies, read by the installed tools, run in an emulator, and taken back. And what the
proof finds when a signature, a key or a place in the section is not the CFI's. TAP.

    foreign.py EH2SFRAME DIRECTORY

DIRECTORY holds the sources foreign_*.S.
"""
import filecmp
import os
import re
import shutil
import struct
import sys
import tempfile

from elf_text import sections
from sframe_text import Section
from tap import check, plan, run, skip

tool, sources = sys.argv[1], sys.argv[2]

# Prefix of the binutils, byte order, emulator, source, versions, ABI, page sizes to link for.
MACHINES = {
    "aarch64": ("aarch64-linux-gnu", "-EL", "qemu-aarch64", "aarch64", "123", 2, (0x10000, 0x1000)),
    "aarch64_be": ("aarch64-linux-gnu", "-EB", "qemu-aarch64_be", "aarch64", "123", 1, (0x10000,)),
    "s390x": ("s390x-linux-gnu", None, "qemu-s390x", "s390x", "23", 4, (0x1000, 0x10000)),
}
# How linked: what the linker is told.
KINDS = {
    "static": ["-static"],
    "pie": ["-pie", "--no-dynamic-linker"],
    "packed": ["-static", "-z", "noseparate-code"],
    "stripped": ["-static", "-s"],
    # Room behind the program headers; in the second also behind a read-only segment.
    "apart": ["-static", "-z", "noseparate-code", "-Ttext=0x2001000"],
    "room": ["-static", "-z", "separate-code", "--section-start=.eh_frame=0x2001000",
             "-Ttext=0x2200000"],
}
METHODS = ("auto", "slack", "grow")


def link(machine, kind, page, out, *options):
    prefix, order, _, source = MACHINES[machine][:4]
    order = [order] if order else []
    made = run(prefix + "-as", *order, *options, "-o", out + ".o",
               os.path.join(sources, f"foreign_{source}.S"))
    if made.returncode == 0:
        made = run(prefix + "-ld", *order, "-z", f"max-page-size={page}", *KINDS[kind],
                   "-o", out, out + ".o")
    check(made.returncode == 0, f"{machine}, {kind}, {page:#x}: linked", made.stderr)


def loads(path):
    """(type, offset, address, file bytes, alignment) of each program header."""
    with open(path, "rb") as file:
        data = file.read()
    order = "<" if data[5] == 1 else ">"
    table = struct.unpack_from(order + "Q", data, 0x20)[0]
    for i in range(struct.unpack_from(order + "H", data, 0x38)[0]):
        kind, _, off, addr, _, size, _, align = struct.unpack_from(
            order + "IIQQQQQQ", data, table + 56 * i)
        yield kind, off, addr, size, align


def check_layout(name, path):
    """What loaders demand, and the tools say nothing against."""
    headers = list(loads(path))
    check(all((addr - off) % align == 0 for kind, off, addr, _, align in headers if kind == 1),
          f"{name}: segments lie as their alignment says", headers)
    inside = [any(k == 1 and o <= off and off + size <= o + n and addr - off == a - o
                  for k, o, a, n, _ in headers)
              for kind, off, addr, size, _ in headers if kind == 0x6474E554]
    check(inside == [True], f"{name}: PT_GNU_SFRAME lies in one PT_LOAD", headers)
    for option in ("-lW", "-SW"):
        said = run("readelf", option, path)
        check(said.returncode == 0 and not said.stderr, f"{name}: readelf {option}", said.stderr)


def fine(machine, path):
    emulator = MACHINES[machine][2]
    if not shutil.which(emulator):
        return None
    said = run(emulator, path)
    return said.stdout == "fine\n" and said.returncode == 0


def check_run(name, machine, path):
    result = fine(machine, path)
    if result is None:
        skip(f"{name}: runs", f"no {MACHINES[machine][2]}")
    else:
        check(result, f"{name}: runs", run(MACHINES[machine][2], path))


def check_method(machine, plain, name, method, version, work):
    """True when the method applies."""
    out, again = os.path.join(work, "out"), os.path.join(work, "again")
    made = run(tool, "-q", f"--format={version}", f"--method={method}", plain, out)
    if made.returncode == 1 and "does not apply" in made.stderr and method != "auto":
        return False
    check(made.returncode == 0, f"{name}: converted", made.stderr)
    check_layout(name, out)
    check_run(name, machine, out)
    said = run(tool, "verify", "--witness=libdwarf", out)
    check(said.returncode in (0, 1), f"{name}: verify", said.stderr)
    # libdwarf does not know the key of AArch64's second function.
    refuses = machine != "s390x"
    check(("FRAME_AUGMENTATION_UNKNOWN" in said.stderr) == refuses and
          (said.returncode == 1) == refuses, f"{name}: --witness=libdwarf", said)
    said = run(tool, "verify", out)
    check(said.returncode == 0 and ": 0 differences" in said.stdout, f"{name}: proven", said)
    reader = "binutils-2.40" if version == "1" else "binutils-2.46"
    said = run(tool, "lint", f"--for={reader}", out)
    check(said.returncode == 0, f"{name}: lint --for={reader}", said.stdout)
    run(tool, "-q", f"--format={version}", f"--method={method}", plain, again)
    check(filecmp.cmp(out, again, False), f"{name}: the same twice")
    other = "3" if version == "2" else "2"
    run(tool, "-q", "--refresh", f"--format={other}", f"--method={method}", out, out + "r")
    run(tool, "-q", f"--format={other}", f"--method={method}", plain, again)
    check(filecmp.cmp(out + "r", again, False), f"{name}: --refresh is as from the original")
    said = run(tool, "remove", out, again)
    check(said.returncode == 0 and filecmp.cmp(plain, again, False), f"{name}: remove", said)
    return True


def check_machine(machine, work):
    plain = os.path.join(work, "plain")
    used = set()
    pages = MACHINES[machine][6]
    for kind in KINDS:
        for page in pages:
            link(machine, kind, page, plain)
            check_run(f"{machine}, {kind}, {page:#x}", machine, plain)
            for i, method in enumerate(METHODS):
                version = MACHINES[machine][4][i % len(MACHINES[machine][4])]
                name = f"{machine}, {kind}, {page:#x}, {method}, v{version}"
                if check_method(machine, plain, name, method, version, work):
                    used.add(method)
    check(used == set(METHODS), f"{machine}: all methods apply", used)
    return plain


def section(path):
    place = sections(path)[".sframe"]
    return place.offset, place.size


def damaged(path, out, edits):
    """The section of path with bytes changed: (offset in it, bits)."""
    at, _ = section(path)
    with open(path, "rb") as file:
        data = bytearray(file.read())
    for off, bits in edits:
        data[at + off] ^= bits
    with open(out, "wb") as file:
        file.write(data)


def rows_of(machine, path, index):
    """Offsets in a version 2 section: of function number index, and of its first row."""
    order = ">" if machine != "aarch64" else "<"
    with open(path, "rb") as file:
        data = file.read()
    at, _ = section(path)
    func = 28 + 20 * index
    first = struct.unpack_from(order + "I", data, at + func + 8)[0]
    return func, 28 + struct.unpack_from(order + "I", data, at + 0x18)[0] + first


def check_proof(machine, work):
    """Each mark and place, changed, is found by the proof."""
    plain, out, bad = (os.path.join(work, name) for name in ("plain", "proof", "bad"))
    link(machine, "static", MACHINES[machine][6][0], plain)
    made = run(tool, "-q", "--optimize=none", plain, out)
    check(made.returncode == 0, f"{machine}: to be damaged", made.stderr)

    def finds(what, edits, words):
        damaged(out, bad, edits)
        said = run(tool, "verify", bad)
        check(said.returncode != 0 and words in said.stdout + said.stderr,
              f"{machine}: the proof finds {what}", said)

    # Function 0 is outer: _start has no row. Its rows: entry, and what comes after.
    func, row = rows_of(machine, out, 0)
    finds("another machine's ABI", [(4, 3 ^ MACHINES[machine][5])], ": version (this version is read for this machine): broken at .sframe+0x4: ABI 3, ")
    if machine == "s390x":
        # Row 1: start, info, CFA, RA, FP; row 0 is "00 03 00".
        finds("RA elsewhere", [(row + 6, 8)], "RA is *(CFA - 40) in .sframe, *(CFA - 48) in CFI")
        finds("RA in a register", [(row + 6, 0xF1)], "RA is f0 in .sframe, *(CFA - 48) in CFI")
        finds("FP elsewhere", [(row + 7, 8)], "FP is *(CFA - 80) in .sframe, *(CFA - 72) in CFI")
        finds("another CFA", [(row + 5, 1)], "CFA is r15 + 168 in .sframe, r15 + 160 in CFI")
        # Function 1 is middle, whose second row has r14 in f0: "04 05 00 21".
        func, row = rows_of(machine, out, 1)
        finds("another register", [(row + 6, 2)], "RA is f2 in .sframe, f0 in CFI")
        finds("a slot for a register", [(row + 6, 1)], "*(CFA + 32) in .sframe, f0 in CFI")
        return
    finds("the other key", [(func + 16, 0x20)], "the signing key is B in .sframe, A in CFI")
    # Row 0 is "00 03 00", row 1 "04 83 00", row 2 "08 87 20 e8 e0".
    finds("a signature too many", [(row + 1, 0x80)],
          "the return address is signed in .sframe, not in CFI")
    finds("a signature missing", [(row + 4, 0x80)],
          "the return address is unsigned in .sframe, not in CFI")
    finds("RA elsewhere", [(row + 9, 0x20)], "in .sframe, *(CFA - 24) in CFI")
    finds("FP elsewhere", [(row + 10, 0x10)], "in .sframe, *(CFA - 32) in CFI")
    func, row = rows_of(machine, out, 1)
    finds("key B missing", [(func + 16, 0x20)], "the signing key is A in .sframe, B in CFI")


def check_shared(machine, work):
    """Functions with equal rows: shared when asked for, which costs a big-endian file a reader."""
    more, plain, out = (os.path.join(work, name) for name in ("more.s", "plain", "out"))
    with open(more, "w", encoding="ascii") as file:
        for name in ("one", "two"):
            file.write(f"\t.type {name}, %function\n{name}:\n\t.cfi_startproc\n\tnop\n\tnop\n"
                       f"\t.cfi_def_cfa_offset 320\n\tnop\n\t.cfi_endproc\n\t.size {name}, .-{name}\n")
    link(machine, "static", MACHINES[machine][6][0], plain, more)
    for how, broken in (("", False), ("--optimize=share", machine != "aarch64")):
        made = run(tool, "-q", *filter(None, [how]), plain, out)
        said = run(tool, "lint", "--for=binutils-2.46", out)
        check(made.returncode == 0 and said.returncode == broken,
              f"{machine}: {how or 'no --optimize'}, equal rows", made.stderr + said.stdout)
        check((": row-shared (" in said.stdout) == broken,
              f"{machine}: {how or 'no --optimize'}, row-shared", said.stdout)
        os.remove(out)
        made = run(tool, "-q", "--for=binutils-2.46", *filter(None, [how]), plain, out)
        check(made.returncode == broken and (": row-shared (" in made.stderr) == broken,
              f"{machine}: {how or 'no --optimize'}, for binutils", made.stderr)
    # The kernel reads its own byte order, so it reads shared rows.
    linux = "linux-user" if machine == "s390x" else "linux-arm64"
    made = run(tool, "-q", f"--for={linux}", plain, out)
    size = os.path.getsize(out)
    run(tool, "-q", "--format=3", "--optimize=share", plain, out)
    check(made.returncode == 0 and os.path.getsize(out) == size, f"{machine}: for {linux}, shared", made.stderr)
    os.remove(out)


def check_options(machine, work):
    """Sharing by byte order, versions by machine."""
    plain = os.path.join(work, "plain")
    sizes = {}
    link(machine, "static", MACHINES[machine][6][0], plain)
    for how in ("", "--optimize=none", "--optimize=share"):
        out = os.path.join(work, "bare")
        made = run(tool, "section", "-q", *filter(None, [how]), plain, out)
        check(made.returncode == 0, f"{machine}: {how or 'no --optimize'}", made.stderr)
        sizes[how] = os.path.getsize(out)
    if machine == "aarch64":
        check(sizes[""] == sizes["--optimize=share"], "aarch64: rows are shared", sizes)
    else:
        check(sizes[""] == sizes["--optimize=none"], f"{machine}: rows are not shared", sizes)
    check_shared(machine, work)
    if machine == "s390x":
        said = run(tool, "--format=1", plain, os.path.join(work, "never"))
        check(said.returncode == 1 and "SFrame version 1 is not defined for s390x" in said.stderr
              and said.stderr.count("\n") == 1 and not os.path.exists(os.path.join(work, "never")),
              "s390x: no version 1", said)
        said = run(tool, "report", "--format=1", plain)
        check(said.returncode == 1, "s390x: no report on version 1", said)
        # The table cannot grow where it is, and would stand behind a gap of a MiB.
        link(machine, "static", 0x100000, plain)
        said = run(tool, plain, os.path.join(work, "never"))
        check(said.returncode == 1 and "wide gaps between segments" in said.stderr, "s390x: no room for pages of a MiB", said)


def check_gnu(machine, work):
    """The section that GNU as and ld make (version 1 for AArch64) against the CFI, and ours
    against theirs. They overlook that _start's return address is undefined."""
    plain, ours = os.path.join(work, "plain"), os.path.join(work, "ours")
    version = re.search(r"(\d+\.\d+)", run(MACHINES[machine][0] + "-as", "--version").stdout)
    if machine == "s390x":
        return
    if version[1] != "2.40":
        skip(f"{machine}: as GNU as", f"{MACHINES[machine][0]}-as is {version[1]}")
        return
    link(machine, "static", 0x1000, plain, "--gsframe")
    said = run(tool, "verify", plain)
    wrong = [line for line in said.stdout.splitlines() if " in CFI" in line]
    check(len(wrong) == 1 and "_start" in wrong[0]
          and wrong[0].endswith("RA is unchanged in .sframe, undefined in CFI"),
          f"{machine}: GNU's section is right but for _start", said)
    made = run(tool, "-q", "--refresh", "--format=1", plain, ours)
    check(made.returncode == 0, f"{machine}: ours in its place", made.stderr)
    theirs, mine = (Section(run(tool, "dump", path).stdout) for path in (plain, ours))
    read = Section(run("readelf", "--sframe=.sframe", ours).stdout)
    check(len(mine.funcs) == 3 and mine.funcs.items() < theirs.funcs.items()
          and len(theirs.funcs) == 4, f"{machine}: our rows are GNU's", (mine.funcs, theirs.funcs))
    check(mine.funcs == read.funcs and mine.counts == read.counts,
          f"{machine}: readelf reads the same", (mine.funcs, read.funcs))


def main():
    for machine, how in MACHINES.items():
        with tempfile.TemporaryDirectory() as work:
            if not shutil.which(how[0] + "-as") or not shutil.which(how[0] + "-ld"):
                skip(machine, f"no {how[0]}-as and -ld")
                continue
            check_machine(machine, work)
            check_proof(machine, work)
            check_options(machine, work)
            check_gnu(machine, work)
    plan()


main()
