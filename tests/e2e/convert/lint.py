#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""eh2sframe lint, and --for: our sections keep the rules of the reader that they are for. Each rule of
gen/verify/lint.h is broken once, by a byte or two, and named with its readers. The manual page knows
all rules and readers. TAP.

    lint.py EH2SFRAME ROOT
"""
import os
import re
import struct
import sys
import tempfile

from elf_text import sections
from tap import check, must, plan, run

tool, root = sys.argv[1], sys.argv[2]
HEADER = 28
named = set()


def section(path):
    """(file offset, size) of .sframe."""
    place = sections(path)[".sframe"]
    return place.offset, place.size


def damaged(path, out, edit):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    edit(data, *section(path))
    with open(out, "wb") as file:
        file.write(data)
    os.chmod(out, 0o755)


def put(off, fmt, value):
    """An edit: value at off of the section."""
    return lambda data, at, size: struct.pack_into("<" + fmt, data, at + off, value)


def move(off, fmt, by):
    def edit(data, at, size):
        value = struct.unpack_from("<" + fmt, data, at + off)[0]
        struct.pack_into("<" + fmt, data, at + off, value + by)
    return edit


def all_of(*edits):
    def edit(data, at, size):
        for one in edits:
            one(data, at, size)
    return edit


def phdr_type(data, at, size):
    """PT_GNU_SFRAME becomes PT_NULL."""
    table = struct.unpack_from("<Q", data, 0x20)[0]
    for i in range(struct.unpack_from("<H", data, 0x38)[0]):
        if struct.unpack_from("<I", data, table + 56 * i)[0] == 0x6474E554:
            struct.pack_into("<I", data, table + 56 * i, 0)


def phdr(kind, off, fmt, *values):
    """An edit of the entry of a type."""
    def edit(data, at, size):
        table = struct.unpack_from("<Q", data, 0x20)[0]
        for i in range(struct.unpack_from("<H", data, 0x38)[0]):
            if struct.unpack_from("<I", data, table + 56 * i)[0] == kind:
                struct.pack_into("<" + fmt, data, table + 56 * i + off, *values)
    return edit


def over(data, at, size):
    """The page of the section gets other bytes by a second PT_LOAD, of its last 8. The section is where it is in the file."""
    end = (at | 0xFFF) - 7
    phdr(0x6474E551, 0, "IIQQQQQQ", 1, 4, 0x1000 + end % 0x1000, end, end, 8, 8, 0x1000)(data, at, size)


def executable(data, at, size):
    """Every PT_LOAD is."""
    table = struct.unpack_from("<Q", data, 0x20)[0]
    for i in range(struct.unpack_from("<H", data, 0x38)[0]):
        kind, flags = struct.unpack_from("<II", data, table + 56 * i)
        if kind == 1:
            struct.pack_into("<I", data, table + 56 * i + 4, flags | 1)


def no_load(data, at, size):
    """The PT_LOAD around the section cannot be read."""
    table = struct.unpack_from("<Q", data, 0x20)[0]
    for i in range(struct.unpack_from("<H", data, 0x38)[0]):
        kind, _, off, _, _, length = struct.unpack_from("<IIQQQQ", data, table + 56 * i)
        if kind == 1 and off <= at < off + length:
            struct.pack_into("<I", data, table + 56 * i + 4, 0)


def last_address(data, at, size):
    """The first function begins at the last address there is."""
    table = struct.unpack_from("<Q", data, 0x20)[0]
    for i in range(struct.unpack_from("<H", data, 0x38)[0]):
        kind, _, _, addr = struct.unpack_from("<IIQQ", data, table + 56 * i)
        if kind == 0x6474E554:
            struct.pack_into("<q", data, at + FDE, -1 - addr - FDE)


def second(data, at, size):
    """An empty section, and another one behind it at a multiple of 8, as lld leaves them."""
    struct.pack_into("<II", data, at + 8, 0, 0)
    struct.pack_into("<III", data, at + 0x10, 0, 0, 0)
    data[at + HEADER:at + size] = bytes(size - HEADER)
    data[at + HEADER + 4:at + 2 * HEADER + 4] = data[at:at + HEADER]


def first_rows(version):
    """Offset in the section of the first function's rows."""
    def find(data, at):
        freoff = struct.unpack_from("<I", data, at + 0x18)[0]
        first = struct.unpack_from("<I", data, at + HEADER + (12 if version == 3 else 8))[0]
        return HEADER + freoff + first + (5 if version == 3 else 0)
    return find


def row(version, off, value):
    def edit(data, at, size):
        data[at + first_rows(version)(data, at) + off] = value
    return edit


def other_order(data, at, size):
    """The section of version 2 in the other byte order, every byte swapped once."""
    def swap(off, *widths):
        for width in widths:
            data[at + off:at + off + width] = data[at + off:at + off + width][::-1]
            off += width

    n_funcs, _, _, _, freoff = struct.unpack_from("<IIIII", data, at + 8)
    done_rows = set()
    for off in range(HEADER, HEADER + 20 * n_funcs, 20):
        _, _, first, n_rows, info = struct.unpack_from("<iIIIB", data, at + off)
        rows = HEADER + freoff + first
        for _ in range(0 if rows in done_rows else n_rows):
            width = 1 << (info & 15)
            words = data[at + rows + width] >> 1 & 15
            each = 1 << (data[at + rows + width] >> 5 & 3)
            swap(rows, width)
            swap(rows + width + 1, *[each] * words)
            rows += width + 1 + each * words
        done_rows.add(HEADER + freoff + first)
        swap(off, 4, 4, 4, 4)
    swap(0, 2)
    swap(8, 4, 4, 4, 4, 4)


def attribute(off, fmt, value):
    """An edit of the first function's attribute, version 3."""
    return lambda data, at, size: struct.pack_into(
        "<" + fmt, data, at + first_rows(3)(data, at) - 5 + off, value)


def flexible(*row_bytes):
    """The first function has one flexible row: its info byte and words."""
    return all_of(attribute(0, "H", 1), attribute(3, "B", 1), *(row(3, 1 + i, byte) for i, byte in enumerate(row_bytes)))


FDE = HEADER
# Rule, version of the file it is broken in, how. Version 2: FDEs of 20 bytes, the first is PLT0's,
# its rows "00 03 10" and "06 03 18"; version 3: of 16.
BREACHES = [
    ("flags", 2, put(3, "B", 0x85)),
    ("sorted", 2, put(3, "B", 0x04)),
    ("pcrel", 2, put(3, "B", 0x01)),
    ("no-pcrel", "2 no-pcrel", put(3, "B", 0x05)),
    # A section that claims to be for AArch64.
    ("no-flex", 3, all_of(put(4, "B", 2), attribute(3, "B", 1))),
    ("version", 2, all_of(put(4, "B", 2), put(6, "b", 0))),
    # In each version, and of both places.
    ("fixed-offsets", 1, put(6, "b", -16)),
    ("fixed-offsets", 2, put(6, "b", 0)),
    ("fixed-offsets", 3, put(5, "b", -16)),
    ("aux-header", 2, all_of(put(7, "B", 4), move(0x10, "I", -4))),
    ("adjacent", 2, all_of(move(0x18, "I", 1), move(0x10, "I", -1))),
    ("tail", 2, move(0x10, "I", -1)),
    ("single", 2, second),
    ("not-empty", 3, put(8, "I", 0)),
    ("readable", 2, row(2, 1, 0x63)),
    # Flexible rows of one word, with a padding word at the end, with the reserved bit.
    ("readable", 3, flexible(0x02, 0x39)),
    ("readable", 3, flexible(0x06, 0x39, 0x10, 0)),
    ("readable", 3, flexible(0x04, 0x3d, 0x10)),
    ("count", 2, move(0x0C, "I", 1)),
    ("func-order", 2, move(FDE + 20, "i", -20000)),
    ("func-overlap", 3, put(FDE + 8, "I", 17)),
    ("func-code", 3, move(FDE, "q", -0x100000)),
    ("func-segment", 3, all_of(executable, move(FDE, "q", -0x1000))),
    ("func-size", 2, put(FDE + 4, "I", 0)),
    ("func-far", 2, put(FDE + 4, "I", 1 << 31)),
    ("func-end", 3, last_address),
    ("call-at-end", "2 ends", lambda data, at, size: None),
    ("func-rows", 2, put(FDE + 12, "I", 0)),
    ("block", 2, put(FDE + 20 + 17, "B", 0)),
    ("pcmask", 1, put(FDE + 16, "B", 0x10)),
    ("row-first", 2, row(2, 0, 1)),
    ("row-order", 2, row(2, 3, 0)),
    ("row-inside", 2, row(2, 3, 16)),
    ("row-words", 2, row(2, 1, 0)),
    # PLT0's rows as those of a flexible function: CFA is register 32 + 0x10, in words of 2 bytes.
    ("row-register", 3, flexible(0x24, 0x01, 0x01, 0x10, 0)),
    ("row-count", 3, put(FDE + 8, "I", 1)),
    ("row-shared", "2 shared", other_order),
    ("one-segment", 2, no_load),
    ("one-segment", 3, no_load),
    ("one-segment", 3, over),
    ("phdr", 2, phdr_type),
    ("phdr", 3, phdr(0x6474E554, 40, "Q", 8)),
    ("phdr", 2, phdr(0x6474E554, 8, "Q", 0)),
]


BINUTILS = ["binutils-2.40", "binutils-2.41", "binutils-2.45", "binutils-2.46"]
KERNEL = ["linux-user", "linux-arm64"]
# The sets of readers in gen/verify/lint.h, and what the manual page calls them.
SETS = {"LINT_ALL": KERNEL + ["glibc"] + BINUTILS, "LINT_KG": KERNEL + ["glibc"],
        "LINT_KL": KERNEL + BINUTILS, "LINT_GL": ["glibc"] + BINUTILS, "LINT_KERNEL": KERNEL,
        "LINT_GLIBC": ["glibc"], "LINT_LIBSFRAME": BINUTILS, "LINT_PCREL": KERNEL + BINUTILS[2:],
        "READER_BINUTILS_2_41": [BINUTILS[1]], "READER_LINUX_ARM64": ["linux-arm64"]}
WORDS = {"linux": KERNEL, "binutils": BINUTILS}
# Who reads a version on x86-64.
READERS = {1: BINUTILS[:1], 2: ["glibc"] + BINUTILS[1:], 3: ["linux-user", BINUTILS[3]]}
# What each name has always written: version, flags, and the reader that it stands for.
FOR = {"glibc": (2, 5, "glibc"), "linux-user": (3, 5, "linux-user"), "linux-arm64": (3, 5, "linux-arm64"),
       "binutils-2.40": (1, 1, "binutils-2.40"), "binutils-2.41": (2, 1, "binutils-2.41"),
       "binutils-2.42": (2, 1, "binutils-2.41"), "binutils-2.43": (2, 1, "binutils-2.41"),
       "binutils-2.44": (2, 1, "binutils-2.41"), "binutils-2.45": (2, 5, "binutils-2.45"),
       "binutils-2.46": (3, 5, "binutils-2.46"), "binutils-2.47": (3, 5, "binutils-2.46")}


def table():
    """{name: (readers, first, last)} of gen/verify/lint.h, and the names that verify has for faults of the format."""
    with open(os.path.join(root, "sframe/check.h"), encoding="ascii") as file:
        shared = dict(re.findall(r'#define (SF_WORDS_\w+)\s+(?:\\\n\s+)?"([\w-]+)"', file.read()))
    with open(os.path.join(root, "gen/verify/lint.h"), encoding="ascii") as file:
        found = re.findall(r'X\(\w+, (\w+), (\d), (\d), ("[\w-]+"|\w+)', file.read())
    return {shared.get(name, name.strip('"')): (SETS[who], int(first), int(last)) for who, first, last, name in found}


def broken(path, *reader):
    """{rule: readers} as lint --for=READER, or without a reader, has them, and the status."""
    said = run(tool, "lint", *(f"--for={name}" for name in reader), path)
    rules = re.findall(r"^[^:]+: ([a-z0-9., -]+): ([\w-]+) \(.*\): broken at \.sframe\+0x", said.stdout, re.M)
    return {name: who.split(", ") for who, name in rules}, said.returncode, said.stdout


def check_breaches(files, work):
    """Each reader of the version that has the rule names it, and no other reader does."""
    rules = table()
    out = os.path.join(work, "damaged")
    for name, version, edit in BREACHES:
        damaged(files[version], out, edit)
        version = int(str(version)[0])
        wrong = []
        for reader in ["linux-arm64"] if name == "no-flex" else READERS[version]:
            found, status, text = broken(out, reader)
            if (name in found) != (reader in rules[name][0]) or (name in found and status != 1):
                wrong.append((reader, text))
        check(not wrong, f"{name}: named for its readers", wrong)
        named.add(name)
    damaged(files[2], out, no_load)
    check(broken(out)[0] == {"one-segment": ["glibc"]}, "what no segment has is not blamed on PT_GNU_SFRAME", broken(out)[2])
    check(named == set(rules), "every rule is broken once",
          named.symmetric_difference(rules))


def check_words(files, work):
    """verify, lint and dump name a fault alike, with what the decoder says of it, and advise the same."""
    out = os.path.join(work, "worded")
    readable = "readable (function descriptors, row types and word counts are possible): broken at .sframe+0x"
    for version, edit, words, damage in (
            (2, put(FDE + 16, "B", 3), readable + "2c", ": row type 3 does not exist"),
            (3, all_of(row(3, 1, 0x63), put(0xC, "I", 0)), readable, ": the row's words have no size"),
            (2, move(0x0C, "I", 1), "count (the header's row count is the sum over the functions): broken at .sframe+0xc", None),
            (2, put(FDE + 20 + 17, "B", 0), "block (a PCMASK function has a block size): broken at .sframe+0x30", None),
            (3, last_address, "func-order (function starts ascend strictly): broken at .sframe+0x2c", None),
            (2, put(6, "b", 0), "fixed-offsets (the header's fixed offsets of FP and RA are the machine's): broken at .sframe+0x6", None)):
        damaged(files[version], out, edit)
        lint, proof, dump = (run(tool, verb, out) for verb in ("lint", "verify", "dump"))
        name = words.split(" ")[0]
        told = re.search(rf"^{re.escape(out)}: [a-z0-9., -]+: ({re.escape(words)}.*?)(, function.*)?(, and at.*)?$", lint.stdout, re.M)
        check(told and proof.stderr.startswith(f"eh2sframe: {out}: {told[1]}"), f"{name}: named by verify as by lint",
              lint.stdout + proof.stderr)
        wrong = [said.stderr for said in (lint, proof) + ((dump,) if damage else ())
                 if not said.stderr.endswith("; --refresh replaces the section\n") or said.stderr.count("; ") > 1]
        check(not wrong, f"{name}: advised alike", wrong)
        if damage:
            check(told and told[1].endswith(damage) and told[1].count(".sframe+") == 1 and damage in dump.stderr, f"{name}: with the decoder's words",
                  lint.stdout + dump.stderr)
    damaged(files[2], out, second)
    said = ".sframe+0x20: the second of 2 sections begins here, and readers see the first one alone"
    for verb in ("verify", "verify --witness=code", "dump"):
        made = run(tool, *verb.split(), out)
        check(made.stdout.startswith(f"{out}: {said}; --refresh replaces the section\n"), f"{verb}: tells of a second section", made.stdout)
    lint = run(tool, "lint", out).stdout
    check(f": single (no other section stands behind this one): broken at {said}\n" in lint and ": tail (" not in lint,
          "lint: tells of a second section", lint)


def check_other_order(files, work):
    files["2 shared"] = os.path.join(work, "shared")
    made = run(tool, "-q", "--format=2", "--optimize=share", files["plain"], files["2 shared"])
    check(made.returncode == 0, "converted, with shared rows", made.stderr)
    out = os.path.join(work, "swapped")
    damaged(files[2], out, other_order)
    here, there = run(tool, "dump", files[2]).stdout, run(tool, "dump", out).stdout
    check("func idx" in here and here == there, "the other byte order says the same", there)
    found, status, text = broken(out)
    check(status == 0 and not found, "and keeps every rule, as no rows are shared", text)


def make_ends(files, work):
    """A function that ends in a call, before filler, in a section for readers that print rows."""
    source, ends = os.path.join(work, "ends.c"), os.path.join(work, "ends")
    with open(source, "w", encoding="ascii") as file:
        file.write("#include <stdlib.h>\n__attribute__((noipa)) void stop(void) { abort(); }\n"
                   "int main(int n, char **arg) { if (n > 1) stop(); return 0; }\n")
    made = run("gcc", "-O2", "-o", ends, source)
    check(made.returncode == 0, "compiled, with a last call", made.stderr)
    files["2 ends"] = os.path.join(work, "ends-made")
    made = run(tool, "-q", "--for=binutils-2.45", ends, files["2 ends"])
    found, status, text = broken(files["2 ends"], "binutils-2.45")
    check(made.returncode == 0 and status == 0 and not found, "converted for a reader without that rule", made.stderr + text)
    made = run(tool, "-q", ends, os.path.join(work, "reaches"))
    found, status, text = broken(os.path.join(work, "reaches"))
    check(made.returncode == 0 and status == 0 and not found, "and for all, where it reaches over filler", made.stderr + text)
    # The bytes can be two calls: the second one would have filler in it, or the first one the end of a jump.
    for what, code, filler, reader, wanted in (("displacement", "0xe8, 0xe8, 255, 255, 255", 11, (), {}),
                                               ("jump", "0x74, 0xe8, 0xe8, 60, 5, 0, 0", 400000, ("--for=binutils-2.45",), {"call-at-end"})):
        with open(source, "w", encoding="ascii") as file:
            file.write('__asm__(".text; .type twice, @function; twice: .cfi_startproc; push %rbx; .cfi_def_cfa_offset 16; .nops 32; "\n'
                       f'        ".byte {code}; .cfi_endproc; .size twice, . - twice; .fill {filler}, 1, 0x90");\n'
                       "int next(void) { return 1; }\nint main(void) { return 0; }\n")
        must("gcc", "-O2", "-o", ends + "-twice", source)
        must(tool, "-q", *reader, ends + "-twice", os.path.join(work, "twice"))
        found, status, text = broken(os.path.join(work, "twice"))
        check(status == bool(wanted) and found.keys() == set(wanted), f"a call that looks like two, by its {what}", text)
    # A linker fills .text up with zeros, and other code comes next.
    for n in range(4):
        with open(source, "w", encoding="ascii") as file:
            file.write(f'int main(void) {{ return 0; }}\n__asm__(".text; .type last, @function; last: .cfi_startproc; .nops {32 + n}; call abort; "\n'
                       '        ".cfi_endproc; .size last, . - last");\n')
        must("gcc", "-O2", "-o", ends + "-last", source)
        made = run(tool, "-q", ends + "-last", os.path.join(work, "last"))
        found, status, text = broken(os.path.join(work, "last"))
        check(made.returncode == 0 and status == 0 and not found, f"a last call at the end of .text, {n} bytes later", made.stderr + text)
    # The code in front of the function, and that of the next section, are not its own.
    for what, options, text_of, reader, wanted in (
            ("nops in front of the next section's function", ("-Os", "-fpatchable-function-entry=5,3"),
             '#include <stdlib.h>\n__attribute__((section("a_text"))) void last(void) { abort(); }\n'
             '__attribute__((section("b_text"))) int other(int x) { return x; }\n'
             "int main(int n, char **arg) { if (n > 5) last(); return other(n); }\n", (), {}),
            ("the end of .plt before it", ("-O2", "-fPIC", "-fpatchable-function-entry=1", "-shared", "-nostdlib", "-Wl,-z,lazy"),
             "int inc(int x) { return x + 1; }\nextern int ext(int);\nint user(int x) { return ext(x) + 2; }\n", (), {}),
            ("a return of 1000 without CFI", ("-O2",),
             '__asm__(".text; thousand: mov $1000, %eax; ret; .fill 10, 1, 0x90; .type thousand, @function; .size thousand, 6");\n'
             "int next(int x) { return x; }\nint main(void) { return 0; }\n", ("--derive",), {}),
            ("filler up to a section without rows", ("-O2",),
             'int main(void) { return 0; }\n__asm__(".text; last: .cfi_startproc; call abort; .cfi_endproc; .nops 8");\n',
             ("--for=binutils-2.45",), {"call-at-end"})):
        with open(source, "w", encoding="ascii") as file:
            file.write(text_of)
        must("gcc", *options, "-o", ends + "-near", source)
        must(tool, "-q", *reader, ends + "-near", os.path.join(work, "near"))
        found, status, text = broken(os.path.join(work, "near"))
        check(status == bool(wanted) and found.keys() == set(wanted), f"a last call, and {what}", text)
    # No reader of version 1 looks up return addresses, so its bytes are those for readers that print rows.
    old = [os.path.join(work, name) for name in ("old", "old-named")]
    must(tool, "section", "-q", "--format=1", ends, old[0])
    must(tool, "section", "-q", "--for=binutils-2.40", ends, old[1])
    with open(old[0], "rb") as one, open(old[1], "rb") as other:
        check(one.read() == other.read(), "version 1 has no row behind a last call")


def check_loaded(files, work):
    """The bytes that are judged are those that a reader in memory finds."""
    out = os.path.join(work, "elsewhere")

    def other_place(data, at, size):
        table, n = struct.unpack_from("<Q", data, 0x28)[0], struct.unpack_from("<H", data, 0x3C)[0]
        for i in range(n):
            if struct.unpack_from("<I", data, table + 64 * i + 4)[0] == 0x6FFFFFF4:
                struct.pack_into("<Q", data, table + 64 * i + 24, len(data))
        data += data[at:at + size]
        data[at + FDE] ^= 4
    damaged(files[3], out, other_place)
    for verb in ("verify", "lint", "dump"):
        said = run(tool, verb, out)
        check(said.returncode == 1 and "other bytes of the file are loaded at its address" in said.stderr, f"{verb}: a section that is not loaded",
              said.stdout + said.stderr)


def check_loaded_plt(work):
    """Rows of a PLT without CFI are those of the bytes that run."""
    source, path, out = os.path.join(work, "plt.c"), os.path.join(work, "plt"), os.path.join(work, "plt.out")
    with open(source, "w", encoding="ascii") as file:
        file.write('#include <stdio.h>\nint main(void) { return puts("") < 0; }\n')
    made = run("gcc", "-fuse-ld=bfd", "-Wl,-z,lazy,--no-ld-generated-unwind-info", "-fcf-protection=none", "-o", path, source)

    def by_template():
        """Bytes of code, of which .plt.got has some."""
        said = run(tool, "--format=3", path, out)
        found = re.search(r"(\d+) from a PLT template", said.stdout)
        return int(found[1]) if found and said.returncode == 0 else -1, made.stderr + said.stdout + said.stderr
    before, words = by_template()
    with open(path, "rb") as file:
        data = bytearray(file.read())
    at, size = sections(path)[".plt"].offset, sections(path)[".plt"].size
    table, n = struct.unpack_from("<Q", data, 0x28)[0], struct.unpack_from("<H", data, 0x3C)[0]
    for i in range(n):
        if struct.unpack_from("<Q", data, table + 64 * i + 24)[0] == at:
            struct.pack_into("<Q", data, table + 64 * i + 24, len(data))
    data += data[at:at + size]
    data[at:at + 4] = b"\x55\x48\x89\xe5"
    with open(path, "wb") as file:
        file.write(data)
    after, more = by_template()
    check(before - after == size > 0 and after >= 0, "rows of a PLT need the bytes that are loaded", (words, more))


def check_two_segments(work):
    """Code in two executable segments is converted all the same, and said not to be validated."""
    source, linked = os.path.join(work, "far.c"), os.path.join(work, "far")
    with open(source, "w", encoding="ascii") as file:
        file.write('__attribute__((section("far_text"), noipa)) int far(int x) { return x; }\n'
                   "int main(void) { return far(0); }\n")
    made = run("gcc", "-fuse-ld=bfd", "-no-pie", "-Wl,--section-start=far_text=0x700000",
               "-o", linked, source)
    check(made.returncode == 0, "linked with code far away", made.stderr)
    made = run(tool, linked, linked)
    check(made.returncode == 0 and "segment" not in made.stderr, "which is converted", made.stderr)
    check(broken(linked)[1] == 0, "for readers that take that")
    made = run(tool, "--for=linux-user", "--refresh", linked, linked)
    check(made.returncode == 0 and f"{linked}: functions lie in more than one executable segment" in made.stderr,
          "also for the one that may not, with a warning", made.stderr)
    found, status, text = broken(linked)
    check(found == {"func-segment": ["linux-user"]} and status == 1, "and named", text)


def check_for(plain, work):
    """What each name writes: it never changes."""
    out = os.path.join(work, "for")
    with open(os.path.join(root, "gen/options/reader.c"), encoding="ascii") as file:
        known = re.findall(r'^    \{"([\w.-]+)", READER_', file.read(), re.M)
    check(known == list(FOR), "the readers of --for", known)
    for name, (version, flags, reader) in FOR.items():
        if name == "linux-arm64":
            said = run(tool, f"--for={name}", plain, out)
            check(said.returncode == 1 and "does not read version 3 for x86-64" in said.stderr,
                  f"{name}: not for this machine", said.stderr)
            continue
        made = run(tool, f"--for={name}", plain, out)
        with open(out, "rb") as file:
            header = file.read()[section(out)[0]:][:4]
        said = run(tool, "lint", f"--for={name}", out)
        check(made.returncode == 0 and "segment" not in made.stderr and header == struct.pack("<HBB", 0xDEE2, version, flags) and
              said.returncode == 0 and said.stdout.endswith(f"rule of {reader}\n"),
              f"{name}: version {version}, flags {flags}", made.stderr + said.stdout)
        os.unlink(out)
    for words, status, text in (
            ("--for=glibc --format=3", 2, "--format=3: glibc does not read this version"),
            ("--format=1 --for=linux-user", 2, "--format=1: linux-user does not read this version"),
            ("--for=binutils-2.45 --no-pcrel", 1, "binutils-2.45: pcrel (the flag FDE_FUNC_START_PCREL is set): "
         "broken at .sframe+0x3; leave out"),
            ("--for=binutils-9", 2, "--for=binutils-9: give glibc, "),
            ("--for=", 2, "--for=: give glibc, ")):
        said = run(tool, *words.split(), plain, out)
        check(said.returncode == status and text in said.stderr and not os.path.exists(out),
              f"{words}: refused", said.stderr)


def main():
    files = {}
    with tempfile.TemporaryDirectory() as work:
        source = os.path.join(root, "tests/e2e/convert/gsframe_prog.c")
        plain = os.path.join(work, "plain")
        made = run("gcc", "-fuse-ld=bfd", "-O2", "-Wl,-z,lazy", "-o", plain, source)
        check(made.returncode == 0, "compiled", made.stderr)
        files["plain"] = plain
        for version in (1, 2, 3):
            files[version] = os.path.join(work, f"v{version}")
            run(tool, "-q", f"--format={version}", "--optimize=none", plain, files[version])
            for name, (_, flags, reader) in FOR.items():
                said = run(tool, "lint", f"--for={name}", files[version])
                keeps = reader in READERS[version] and not (version == 2 and flags == 1)
                rule = "no-pcrel" if reader in READERS[version] else "version"
                check(said.returncode == (0 if keeps else 1), f"version {version}, {name}", said.stdout)
                if not keeps:
                    check(f": {rule} (" in said.stdout and said.stdout.count("\n") == 1,
                          f"version {version}, {name}: only the {rule}", said.stdout)
            said = run(tool, "lint", files[version])
            check(said.returncode == 0, f"version {version}, all", said.stdout)
        files["2 no-pcrel"] = os.path.join(work, "no-pcrel")
        made = run(tool, "-q", "--no-pcrel", "--optimize=none", plain, files["2 no-pcrel"])
        said = run(tool, "lint", files["2 no-pcrel"])
        check(made.returncode == 0 and said.returncode == 0 and "glibc, binutils-2.41\n" in said.stdout,
              "starts relative to the section are for old readers", said.stdout)
        # Big-endian sections are read as others are, and keep the rules unless rows are shared.
        check_other_order(files, work)
        make_ends(files, work)
        check_breaches(files, work)
        check_words(files, work)
        check_loaded(files, work)
        check_loaded_plt(work)
        check_two_segments(work)
        check_for(plain, work)
        check(run(tool, "lint", plain).returncode == 6, "no section: nothing to do")
        check(run(tool, "lint", "--for=kernel", plain).returncode == 2, "an unknown reader")
    check_page()
    plan()


def check_page():
    with open(os.path.join(root, "docs/eh2sframe-sframe.7.scd"), encoding="utf-8") as file:
        page = file.read()
    part = page[page.index("\n# RULES\n"):]
    part = part[:part.index("\n# ", 1)]
    rules = {name: [who for word in words.split(", ") if "version" not in word
                    for who in WORDS.get(word, [word])]
             for name, words in re.findall(r"^\*([\w-]+)\* \((.*)\)$", part, re.M)}
    wanted = {name: rule[0] for name, rule in table().items()}
    check(rules == wanted, "the manual page has every rule, with its readers, and no other",
          sorted(set(map(str, rules.items())) ^ set(map(str, wanted.items()))))
    part = page[page.index("\n# READERS\n"):page.index("\n# RULES\n")]
    names = [name for line in re.findall(r"^\*.*\*$", part, re.M) for name in re.findall(r"\*([\w.-]+)\*", line)]
    check(names == list(FOR), "and every reader of --for", names)


main()
