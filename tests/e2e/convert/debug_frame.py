#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
""".debug_frame in the file: of compilers, linkers, machines, DWARF versions and compressions. The rows are those of
the same code with .eh_frame. Where both sections speak, .eh_frame counts. What is damaged is left out. TAP.

    debug_frame.py EH2SFRAME SECTION_ROWS [long]

SECTION_ROWS (tests/oracle) compares a section with what readelf prints of the CFI. long takes all compilers and linkers
through all their options; otherwise one program stands for each version, compression, linker and machine.
"""
import filecmp
import os
import re
import shutil
import struct
import sys
import tempfile
import zlib

from debug_frame_lib import BARE, FULL, FUNCTIONS, SOURCE, by_source, change, dump, read, report, write
from elf_text import functions, sections
from sframe_text import Section
from tap import check, must, plan, run, skip

tool, section_rows = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
LONG = sys.argv[3:] == ["long"]
A64, S390 = "aarch64-linux-gnu-gcc", "s390x-linux-gnu-gcc"
# Name: the compiler and its options.
PROGRAMS = {
    **{f"gcc, DWARF {n}": ("gcc", f"-gdwarf-{n}") for n in (2, 3, 4, 5)},
    **{f"clang, DWARF {n}": ("clang", f"-gdwarf-{n}") for n in (2, 3, 4, 5)},
    # GNU as writes .debug_frame in the 32-bit format all the same.
    **{f"clang, 64-bit DWARF {n}": ("clang", f"-gdwarf-{n}", "-gdwarf64") for n in (3, 5)},
    "zlib": ("gcc", "-gz=zlib"),
    "zlib-gnu": ("gcc", "-gz=zlib-gnu"),
    "gold": ("gcc", "-fuse-ld=gold"),
    "gold, zlib-gnu": ("gcc", "-fuse-ld=gold", "-Wl,--compress-debug-sections=zlib-gnu"),
    "lld": ("clang", "-fuse-ld=lld"),
    "lld, zlib": ("clang", "-fuse-ld=lld", "-Wl,--compress-debug-sections=zlib"),
    **{f"discarded functions, {linker}":
       ("gcc", f"-fuse-ld={linker}", "-ffunction-sections", "-Wl,--gc-sections")
       for linker in ("bfd", "gold", "lld")},
    "static": ("gcc", "-static"),
    "no PIE": ("gcc", "-no-pie"),
    "s390x": (S390,),
    "aarch64": (A64,),
    "aarch64, signed": (A64, "-mbranch-protection=pac-ret+leaf"),
}
SHORT = ("gcc, DWARF 4", "clang, DWARF 5", "clang, 64-bit DWARF 3", "zlib", "gold, zlib-gnu", "discarded functions, lld", "static",
         "s390x", "aarch64, signed")
SEVERAL = ("gcc, DWARF 4", "clang, DWARF 5", "clang, 64-bit DWARF 5", "zlib", "zlib-gnu", "s390x", "aarch64")
SHORT_SEVERAL = ("clang, 64-bit DWARF 5", "zlib-gnu", "aarch64")


def rows_of(path, names):
    """{function: (size, rows)}; what PLTs and startup code have is left out."""
    found = Section(dump(tool, path), exact=True).funcs
    return {name: found[at][::2] for at, _, name in functions(path) if name in names and at in found}


def converted(name, path, *options):
    made = run(tool, *options, path, path + ".out")
    return check(made.returncode == 0 and not re.search("left out|contradict", made.stderr),
                 f"{name}: converted", made.stderr)


def compile_both(name, compiler, *options):
    """bare and full; False where the compiler cannot."""
    if not shutil.which(compiler):
        return skip(name, f"no {compiler}")
    write("prog.c", SOURCE.encode())
    made = run(compiler, *BARE, *options, "-o", "bare", "prog.c")
    if made.returncode:
        return skip(name, made.stderr.strip().splitlines()[0])
    must(compiler, *FULL, *options, "-o", "full", "prog.c")
    return True


def same_rows(name, compiler, *options):
    if not compile_both(name, compiler, *options):
        return
    converted(name, "bare")
    must(tool, "--optimize=none", "bare", "bare.out")
    must(tool, "--optimize=none", "full", "full.out")
    wanted, found = (rows_of(path, FUNCTIONS) for path in ("full.out", "bare.out"))
    check(found == wanted and len(wanted) >= len(FUNCTIONS) - 1, f"{name}: the rows are those of .eh_frame",
          f"{found}\n{wanted}")
    for witness in ("own", "libdwarf"):
        made = run(tool, "verify", f"--witness={witness}", "bare.out")
        check(made.returncode == 0 and re.search(r" 0 differences; .* 0 could have", made.stdout),
              f"{name}: proven by {witness}", made.stdout + made.stderr)
    made = run(sys.executable, section_rows, tool, "2,3", "bare")
    check(made.returncode == 0, f"{name}: readelf says the same", made.stdout + made.stderr)
    said = by_source(report(tool, "bare")[0])
    check(FUNCTIONS - set(said) <= {"order"} and set(said.values()) == {"debug_frame"} and
          not by_source(report(tool, "full")[0]), f"{name}: the report names the source", said)


def both_sections():
    """.eh_frame of a part of the code, and .debug_frame of all."""
    write("part.c", SOURCE.encode())
    must("gcc", *BARE, "-c", "part.c")
    write("more.c", b'asm(".cfi_sections .eh_frame, .debug_frame");\n'
          b"int more(int n) { volatile int k[9] = {n}; return k[n & 7]; }\n"
          b"int again(int n) { return more(n) + more(n + 1); }\n")
    must("gcc", *FULL, "-c", "more.c")
    must("gcc", "-o", "mixed", "part.o", "more.o")
    found, errors = report(tool, "mixed")
    said = by_source(found)
    check(set(said) >= FUNCTIONS and not set(said) & {"more", "again"} and found["in_both"]["bytes"] > 0 and
          found["in_both"]["different_functions"] == 0 and not errors,
          "both: .debug_frame fills what .eh_frame leaves", f"{found.get('sources')} {errors}")
    converted("both", "mixed")
    check(run(tool, "verify", "--witness=libdwarf", "mixed.out").returncode == 0, "both: proven by libdwarf")
    for sources, wanted in (("eh_frame", (True, False)), ("debug_frame", (False, True)),
                            ("debug_frame,eh_frame", (True, True))):
        counts = report(tool, "mixed", f"--source={sources}")[0]["sources"]
        check(tuple(counts.get(one, {}).get("bytes", 0) > 0 for one in ("eh_frame", "debug_frame")) == wanted,
              f"both: --source={sources}", counts)
    # Without .eh_frame, .debug_frame alone describes more() and again().
    alone = by_source(report(tool, "mixed", "--source=debug_frame")[0])
    check(set(alone) >= FUNCTIONS | {"more", "again"}, "both: all functions are in .debug_frame", alone)


CONTRADICTION = r"""
	.text
	.globl _start, tail
	.type _start, @function
_start:	push %rbx
	call tail
	pop %rbx
	ret
	.size _start, .-_start
	.type tail, @function
tail:	nop
	ret
	.size tail, .-tail
	.section .eh_frame, "a", @unwind
	.long 2f-1f
1:	.long 0
	.byte 1
	.asciz "zR"
	.uleb128 1
	.sleb128 -8
	.byte 16, 1, 0x1b
	.byte 0x0c, 7, 8, 0x90, 1
	.balign 8
2:	.long 4f-3f
3:	.long 3b-1b+4
	.long _start-.
	.long tail-_start
	.byte 0
	.byte 0x41, 0x0e, 16
	.balign 8
4:	.long 0
	.section .debug_frame, "", @progbits
5:	.long 7f-6f
6:	.long 0xffffffff
	.byte 4
	.asciz ""
	.byte 8, 0
	.uleb128 1
	.sleb128 -8
	.uleb128 16
	.byte 0x0c, 7, 8, 0x90, 1
	.balign 8
7:	.long 9f-8f
8:	.long 0
	.quad _start
	.quad tail-_start+2
	.byte 0x41, 0x0e, OFFSET
	.balign 8
9:
"""


def contradicted(offset):
    write("says.S", CONTRADICTION.replace("OFFSET", str(offset)).encode())
    must("gcc", "-nostdlib", "-static", "-o", "says", "says.S")
    return report(tool, "says")


def contradictions():
    """The FDE of .debug_frame goes 2 bytes beyond that of .eh_frame."""
    found, errors = contradicted(16)
    check(found["in_both"] == {"bytes": 8, "different_bytes": 0, "different_functions": 0} and not errors and
          found["other_sources"][0]["size"] == 2, "equal rules: .debug_frame adds 2 bytes", found)
    found, errors = contradicted(24)
    check(found["in_both"] == {"bytes": 8, "different_bytes": 7, "different_functions": 1} and
          re.search(r"1 function in \.debug_frame contradicts \.eh_frame, which counts: 7 bytes of code; "
                    r"the first at 0x\w+, \.debug_frame\+0x\w+\n", errors),
          "other rules: they are told", f"{found['in_both']} {errors}")
    must(tool, "--optimize=none", "says", "says.out")
    funcs = Section(dump(tool, "says.out")).funcs
    start = dict((name, at) for at, _, name in functions("says"))["_start"]
    check([row[:2] for row in funcs[start][2]] == [(0, "sp+8"), (1, "sp+16")],
          "other rules: .eh_frame counts", funcs[start])
    check(run(tool, "verify", "--witness=libdwarf", "says.out").returncode == 0,
          "other rules: each row is proven by its own section")


def cut(keep):
    """Makes the section shorter."""
    def edit(data, place, header):
        struct.pack_into("<Q", data, header + 32, keep)
    return edit


def spoil(data, place, _):
    data[place.offset + place.size // 2] ^= 0xff
    data[place.offset + place.size // 2 + 1] ^= 0xff


def outside(data, place, header):
    struct.pack_into("<Q", data, header + 24, len(data) - 8)


def word(at, value, form="<I"):
    def edit(data, place, _):
        struct.pack_into(form, data, place.offset + at, value)
    return edit


# What is done to the section of a program; what standard error says.
HEAD = r"\.z?debug_frame \(section \d+, 0x\w+ bytes at offset 0x\w+\)"
DAMAGES = {
    "zlib": {
        "damaged data": (spoil, HEAD + ": cannot be decompressed: "),
        "cut data": (cut(60), HEAD + ": cannot be decompressed: "),
        "no header": (cut(20), HEAD + ": is smaller than the header"),
        "unknown type": (word(0, 77), HEAD + ": has the unknown compression type 77"),
        "zstd that is none": (word(0, 2), HEAD + ": (cannot be decompressed|is compressed with zstd)"),
        "a size beyond reason": (word(8, 1 << 60, "<Q"), HEAD + r": cannot have 0x1000000000000000 bytes"),
        "a size that is too large": (word(8, 4000, "<Q"), HEAD + ": cannot be decompressed: it has fewer"),
        "a size that is too small": (word(8, 16, "<Q"), HEAD + ": cannot be decompressed: it has more"),
        "outside the file": (outside, HEAD + ": reaches past the end of the file"),
    },
    "zlib-gnu": {
        "damaged data": (spoil, HEAD + ": cannot be decompressed: "),
        "no header": (cut(11), HEAD + ": does not begin with ZLIB"),
        "another header": (word(0, 0), HEAD + ": does not begin with ZLIB"),
    },
    "none": {
        "outside the file": (outside, HEAD + ": reaches past the end of the file"),
        "a length beyond the section": (word(0, 0xffff00), r"\.debug_frame\+0x0; left out"),
        "another version": (word(8, 0x42, "<B"), r"unknown CIE version, \.debug_frame\+0x0; left out"),
        "no such CIE": (None, r"CIE pointer 0x\w+ does not point to a CIE, \.debug_frame\+0x\w+; left out"),
    },
}


def no_such_cie(data, place, _):
    """Of the first FDE."""
    length = struct.unpack_from("<I", data, place.offset)[0]
    struct.pack_into("<I", data, place.offset + 4 + length + 4, 12345)


def damage():
    """The rest goes on, and is proven."""
    write("prog.c", SOURCE.encode())
    for packing, cases in DAMAGES.items():
        if run("gcc", *BARE, f"-gz={packing}", "-o", "packed", "prog.c").returncode:
            skip(f"damage, {packing}", "this gcc does not write it")
            continue
        section = next(name for name in sections("packed") if name.endswith("debug_frame"))
        if (packing == "zlib-gnu") != (section == ".zdebug_frame"):
            # GNU ld 2.44 takes the option and writes something else.
            skip(f"damage, {packing}", f"the linker writes {section}")
            continue
        for name, (edit, said) in cases.items():
            change("packed", "damaged", section, edit or no_such_cie)
            made = run(tool, "report", "damaged")
            check(made.returncode == 0 and re.search(said, made.stderr) and
                  all(re.fullmatch(r"eh2sframe: damaged: .*left out", line) for line in made.stderr.splitlines()),
                  f"{packing}, {name}: told and left out", f"{made.returncode} {made.stderr}")
            if name == "outside the file":
                continue
            check(run(tool, "damaged", "damaged.out").returncode == 0 and
                  run(tool, "verify", "damaged.out").returncode == 0, f"{packing}, {name}: converted and proven")


def zstd():
    """The tools of the machine may not write it: a section that is compressed here."""
    if not shutil.which("zstd"):
        return skip("zstd", "no zstd")
    write("prog.c", SOURCE.encode())
    must("gcc", *BARE, "-gz=zlib", "-o", "packed", "prog.c")
    place = sections("packed")[".debug_frame"]
    data = read("packed")
    raw = zlib.decompress(data[place.offset + 24:place.offset + place.size])
    write("raw", raw)
    must("zstd", "-q", "-f", "raw")

    def edit(data, place, header):
        packed = struct.pack("<IIQQ", 2, 0, len(raw), 1) + read("raw.zst")
        assert len(packed) <= place.size + 64
        struct.pack_into("<QQ", data, header + 24, len(data), len(packed))
        data += packed
        # The header table stays last, as tools write it.
        start, count = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<H", data, 60)[0]
        table = data[start:start + 64 * count]
        data += bytes(-len(data) % 8)
        struct.pack_into("<Q", data, 40, len(data))
        data += table
    change("packed", "frozen", ".debug_frame", edit)
    made = run(tool, "frozen", "frozen.out")
    if "this build cannot read" in made.stderr:
        return skip("zstd", "this build does not read it")
    check(made.returncode == 0 and not re.search("left out", made.stderr), "zstd: converted", made.stderr)
    check(by_source(report(tool, "frozen")[0]).keys() == by_source(report(tool, "packed")[0]).keys(),
          "zstd: the same functions as with zlib")
    check(run(tool, "verify", "frozen.out").returncode == 0, "zstd: proven")


def flagged(data, _, header):
    """As if it were compressed."""
    struct.pack_into("<Q", data, header + 8, 0x800)


def nothing_else():
    """A file whose only source cannot be read is an error."""
    write("says.S", CONTRADICTION.replace("OFFSET", "16").replace(".eh_frame,", ".eh_gone,").encode())
    must("gcc", "-nostdlib", "-static", "-o", "says", "says.S")
    check(run(tool, "says", "says.out").returncode == 0, "without .eh_frame: converted")
    change("says", "broken", ".debug_frame", flagged)
    made = run(tool, "broken", "broken.out")
    check(made.returncode == 1 and re.fullmatch(f"eh2sframe: broken: {HEAD}: has the unknown .*\n", made.stderr) and
          not os.path.exists("broken.out"), "a damaged only source: status 1", made.stderr)
    made = run(tool, "--source=eh_frame", "says", "none")
    check(made.returncode == 6 and "no CFI" in made.stderr, "the only source is not asked for: status 6",
          made.stderr)


# Tables of no use, beside .eh_frame that is whole.
BEYOND = r"""
	.section .gopclntab, "a", @progbits
	.zero 64
	.section .debug_frame, "", @progbits
	.zero 64
"""


def beyond():
    """A section header that leads out of the file, or into another section: a report goes on without, a conversion does not."""
    write("beyond.S", BEYOND.encode())
    write("part.c", SOURCE.encode())
    must("gcc", *FULL, "-o", "held", "part.c", "beyond.S")
    size = len(read("held"))
    # The output is longer, so that some places are outside of the input alone.
    for at in (size - 3, size, size + 100, 1 << 31, (1 << 64) - 16):
        for name in (".debug_frame", ".gopclntab"):
            change("held", "beyond", name, lambda data, _, header, at=at: struct.pack_into("<Q", data, header + 24, at))
            made = run(tool, "report", "beyond")
            ours = [line for line in made.stderr.splitlines() if name in line]
            check(made.returncode == 0 and len(ours) == 1 and ours[0].endswith("left out"),
                  f"{name} at {at - size:+}: left out of the report", made.stderr)
            refused(f"{name} at {at - size:+}", rf"section \d+ \({name}, 0x\w+ bytes at offset 0x{at:x}\) reaches past the end of "
                    r"the file .*; rebuild the file or copy it again")
    # In the file, but other sections have the bytes.
    code = sections("held")[".text"].offset
    for field, value in ((24, code), (32, 1000)):
        change("held", "beyond", ".debug_frame", lambda data, _, header: struct.pack_into("<Q", data, header + field, value))
        refused(f".debug_frame overlaps another section, field {field}",
                r"sections \d+ .* and \d+ .* overlap in the file at offset 0x\w+; rebuild the file")


def refused(name, said):
    """The conversion of a file that is called beyond, onto itself."""
    shutil.copy("beyond", "beyond.out")
    made = run(tool, "-q", "beyond.out", "beyond.out")
    ours = made.stderr.splitlines()
    check(made.returncode == 1 and re.fullmatch(f"eh2sframe: beyond.out: {said}", ours[-1]) and
          filecmp.cmp("beyond", "beyond.out", False), f"{name}: refused", made.stderr)


OTHER = b"""
int leaf(int n);
int __attribute__((noinline)) big(int n) { volatile int k[90]; k[n & 31] = n; return k[n & 7] + leaf(n); }
int helper(int n) { volatile int k[20]; k[n & 15] = n; return big(k[n & 3]) * 2 + big(n); }
"""


def several(name, compiler, *options):
    """Several .debug_frame sections in a linked file: the rows are those of one."""
    if not shutil.which(compiler):
        return skip(f"several: {name}", f"no {compiler}")
    write("prog.c", SOURCE.encode())
    write("other.c", OTHER)
    made = [run(compiler, *BARE, *options, *more, "-o", out, "prog.c", "other.c")
            for out, more in (("single", ()), ("several", ("-Wl,--unique=.debug_frame", "-Wl,--unique=.zdebug_frame")))]
    if any(one.returncode for one in made):
        return skip(f"several: {name}", made[1].stderr.strip())
    count = len(re.findall(r"\.z?debug_frame ", must("readelf", "-SW", "several")))
    if not check(count >= 2, f"several: {name}: the linker keeps them", count):
        return
    wanted = FUNCTIONS | {"big", "helper"}
    for path in ("single", "several"):
        must(tool, "--optimize=none", path, path + ".out")
    found = rows_of("several.out", wanted)
    check(found == rows_of("single.out", wanted) and len(found) >= len(wanted) - 1, f"several: {name}: the rows of one", found)
    made = run(tool, "verify", "--witness=libdwarf", "several.out")
    check(made.returncode == 0 and " 0 could" in made.stdout, f"several: {name}: proven by libdwarf", made.stdout + made.stderr)
    tools = compiler[:-3] if compiler.endswith("-gcc") else ""
    must(tools + "objcopy", "--only-keep-debug", "several", "several.debug")
    must(tools + "strip", "several")
    must(tool, "--optimize=none", "--debug-file=several.debug", "several", "bare.out")
    same = Section(dump(tool, "bare.out"), exact=True).funcs
    check(same == Section(dump(tool, "several.out"), exact=True).funcs, f"several: {name}: in a debug file", same)


def several_damaged():
    """One of several: no record may reach into the next section, and no FDE have its CIE there."""
    write("prog.c", SOURCE.encode())
    write("other.c", OTHER)
    must("gcc", *BARE, "-gz=none", "-Wl,--unique=.debug_frame", "-o", "several", "prog.c", "other.c")
    places = [int(at, 16) for at in re.findall(r"\.debug_frame +PROGBITS +\w+ (\w+)", must("readelf", "-SW", "several"))]
    size = places[1] - places[0]
    for name, at, value, said in (
            ("a length beyond the section", 0, 0xffff00, r"\.debug_frame \(section \d+\): the record at 0x0 reaches past the end "
             r"of the section, and there is another \.debug_frame; rebuild the file; \.debug_frame is left out"),
            ("a CIE in the next section", struct.unpack_from("<I", read("several"), places[0])[0] + 8, size,
             r"CIE pointer 0xfffffffe does not point to a CIE, \.debug_frame\+0x\w+; left out")):
        data = read("several")
        struct.pack_into("<I", data, places[0] + at, value)
        write("damaged", data)
        made = run(tool, "damaged", "damaged.out")
        check(made.returncode == 0 and re.fullmatch(f"eh2sframe: damaged: {said}\n", made.stderr) and
              run(tool, "verify", "damaged.out").returncode == 0, f"several, {name}: told, and the rest converted", made)
    # Each has its own CIE.
    data = read("several")
    data[places[0] + 8] = 0x42
    write("damaged", data)
    check(set(by_source(report(tool, "damaged")[0])) == {"big", "helper"}, "several, a CIE of one is damaged: the other has rows",
          by_source(report(tool, "damaged")[0]))


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    for title in PROGRAMS if LONG else SHORT:
        same_rows(title, *PROGRAMS[title])
    both_sections()
    contradictions()
    damage()
    beyond()
    for title in SEVERAL if LONG else SHORT_SEVERAL:
        several(title, *PROGRAMS[title])
    several_damaged()
    zstd()
    nothing_else()
plan()
