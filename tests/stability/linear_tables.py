# SPDX-License-Identifier: MIT
"""Hostile files for linear.py, one kind for each table that is read: many headers over the same bytes, equal hashes, long
chains, and code that leads from everywhere to one place. Each function gives the file for a size."""

import struct
import zlib

from elf_files import ALLOC, EXEC, padded, uleb

WRITE, INFO_LINK, COMPRESSED = 1, 64, 2048
PROGBITS, SYMTAB, STRTAB, RELA, NOTE, NOBITS, DYNSYM, GROUP, RELR, SFRAME = 1, 2, 3, 4, 7, 8, 11, 17, 19, 0x6FFFFFF4
LOAD, DYNAMIC, PT_NOTE = 1, 2, 4
# What is code, and what is writable, has addresses of its own; all else has its offset.
CODE, DATA = 0x40000000, 0x80000000
CIE = padded(b"\0\0\0\0\x01zR\0\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01", "<")
RET, NOP = b"\xc3", b"\x90"


class Elf:
    """A file with all of it in one segment, and code in a second one."""

    def __init__(self, n_phdrs=8, kind=3):
        self.kind, self.n_phdrs = kind, n_phdrs if kind != 1 else 0
        self.body, self.names, self.known = bytearray(64 + 56 * self.n_phdrs), bytearray(b"\0"), {}
        self.sections, self.phdrs = [bytes(64)], []

    def name(self, text):
        if text not in self.known:
            self.known[text] = len(self.names)
            self.names += text.encode() + b"\0"
        return self.known[text]

    def add(self, data, align=16):
        self.body += bytes(-len(self.body) % align)
        self.body += data
        return len(self.body) - len(data)

    def section(self, name, kind, flags, at, size, address=None, link=0, info=0, entry=0, times=1):
        """Returns its index."""
        self.sections += [struct.pack("<IIQQQQIIQQ", self.name(name), kind, flags, at if address is None else address, at, size,
                                      link, info, 1, entry)] * times
        return len(self.sections) - times

    def segment(self, kind, flags, at, address, size, memory=None):
        self.phdrs.append(struct.pack("<IIQQQQQQ", kind, flags, at, address, address, size, memory or size, 1 if kind != LOAD else 4096))

    def text(self, code, name=".text", flags=ALLOC | EXEC):
        """Returns its address, which is its place in an object."""
        at = self.add(code, 4096 if self.kind != 1 else 16)
        if self.kind != 1:
            self.segment(LOAD, 5, at, CODE + at, len(code))
        self.section(name, PROGBITS, flags, at, len(code), CODE + at if self.kind != 1 else 0)
        return CODE + at if self.kind != 1 else at

    def frame(self, fdes, cie=CIE, data=b""):
        """fdes: [(start, size, program)]; data: the augmentation data of each."""
        at = self.add(b"", 8)
        out = bytearray(cie)
        for start, size, program in fdes:
            record = struct.pack("<IiI", len(out) + 4, start - (at + len(out) + 8), size) + uleb(len(data)) + data + program
            out += padded(record, "<")
        self.add(bytes(out + bytes(4)), 1)
        self.section(".eh_frame", PROGBITS, ALLOC, at, len(out) + 4)

    def symbols(self, entries, kind=SYMTAB, strings=b"\0"):
        """[(name, info, section, value, size)]"""
        link = self.section(".strtab", STRTAB, 0, self.add(strings), len(strings))
        table = bytes(24) + b"".join(struct.pack("<IBBHQQ", name, info, 0, section, value, size)
                                     for name, info, section, value, size in entries)
        return self.section(".symtab" if kind == SYMTAB else ".dynsym", kind, 0 if kind == SYMTAB else ALLOC,
                            self.add(table), len(table), None, link, 1, 24)

    def done(self):
        names_at, index = len(self.body) + -len(self.body) % 16, len(self.sections)
        self.section(".shstrtab", STRTAB, 0, names_at, 0)
        self.add(bytes(self.names))
        self.sections[index] = struct.pack("<IIQQQQIIQQ", self.name(".shstrtab"), STRTAB, 0, 0, names_at, len(self.names), 0, 0, 1, 0)
        n, shoff = len(self.sections), len(self.body) + -len(self.body) % 8
        if n >= 0xFF00:
            self.sections[0] = struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, n, index, 0, 0, 0)
        if self.kind != 1:
            self.phdrs.insert(0, struct.pack("<IIQQQQQQ", LOAD, 4, 0, 0, 0, shoff, shoff, 4096))
        assert len(self.phdrs) <= self.n_phdrs or self.kind == 1
        struct.pack_into("<4sBBBBQHHIQQQIHHHHHH", self.body, 0, b"\x7fELF", 2, 1, 1, 0, 0, self.kind, 62, 1, 0,
                         64 if self.n_phdrs else 0, shoff, 0, 64, 56, len(self.phdrs), 64, n if n < 0xFF00 else 0,
                         index if n < 0xFF00 else 0xFFFF)
        self.body[64:64 + 56 * len(self.phdrs)] = b"".join(self.phdrs)
        return bytes(self.body.ljust(shoff, b"\0")) + b"".join(self.sections)


def simple(n_phdrs=8, kind=3, code=RET * 64):
    """A file with a function that has CFI."""
    elf = Elf(n_phdrs, kind)
    start = elf.text(code)
    elf.frame([(start, len(code), b"")])
    return elf


# ---- headers over the same bytes ----

def same(name, kind, flags, entry=0, each=192, whole=False, link=0):
    """n headers over a few bytes, so that they stay below four times the file; whole: over as many bytes as there are headers,
    which is refused."""
    def make(n):
        elf = simple()
        size = 24 * n if whole else each
        at = elf.add(bytes(size))
        for i in range(n):
            elf.section(name, kind, flags, at, size, DATA + i * (size + 64) if flags & ALLOC else 0, link, 0, entry)
        return elf.done()
    return make


def same_segments(kind):
    def make(n):
        elf = simple(1160)
        at = elf.add(RET * 16 * n)
        for i in range(1100):
            elf.segment(kind, 5, at, CODE + (i << 32), 16 * n)
        elf.sections = elf.sections[:1] if kind == LOAD else elf.sections
        return elf.done()
    return make


def outside_segments(n):
    """Segments that are not in the file, at the address of one that is."""
    elf = Elf(1160)
    code = (b"\x55\x48\x89\xe5\x5d\xc3" + NOP * 10) * n
    at = elf.add(code, 4096)
    elf.segment(LOAD, 5, at, CODE + at, len(code))
    for _ in range(1100):
        elf.segment(LOAD, 5, 1 << 40, CODE + at, len(code))
    out = bytearray(elf.done())
    struct.pack_into("<QIHHHHHH", out, 40, 0, 0, 64, 56, 1102, 64, 0, 0)
    return bytes(out)


# ---- CFI ----

def debug_cies(field):
    """CIEs of .debug_frame that differ in one field, and an FDE for each."""
    def make(n):
        elf = Elf()
        start, out = elf.text(RET * n), bytearray()
        for i in range(n):
            code, data = (uleb(0x10000000 + i), b"\x78") if field == "code" else (b"\x01", uleb(0x10000000 + i)[:-1] + b"\1")
            record = b"\xff\xff\xff\xff\x03\0" + code + data + (uleb(0x10000000 + i) if field == "ra" else b"\x10")
            at = len(out)
            out += padded(record, "<")
            out += padded(struct.pack("<IQQ", at, start + i, 1), "<")
        elf.section(".debug_frame", PROGBITS, 0, elf.add(bytes(out)), len(out), 0)
        return elf.done()
    return make


def debug_headers(n):
    """Other sections, and then many of .debug_frame."""
    elf = simple()
    cie = padded(b"\xff\xff\xff\xff\x03\0\x01\x78\x10\x0c\x07\x08\x90\x01", "<")
    at = elf.add(cie * n)
    elf.section(".x", PROGBITS, 0, at, 0, 0, times=n)
    for i in range(n):
        elf.section(".debug_frame", PROGBITS, 0, at + len(cie) * i, len(cie), 0)
    return elf.done()


def packed(n):
    """Headers of one compressed .debug_frame, whose records are all the same."""
    elf = simple()
    out = padded(b"\xff\xff\xff\xff\x03\0\x01\x78\x10\x0c\x07\x08\x90\x01", "<") + struct.pack("<IIQQ", 20, 0, CODE, 16) * n
    data = struct.pack("<IIQQ", 1, 0, len(out), 8) + zlib.compress(out, 9)
    elf.section(".debug_frame", PROGBITS, COMPRESSED, elf.add(data), len(data), 0, times=4)
    return elf.done()


def rows(n, first=0):
    return b"".join(b"\x41\x0e" + uleb(16 + 8 * ((i + first) % 7)) for i in range(n))


def rivals(n):
    """One FDE with many rows, and many FDEs of a byte inside of it."""
    elf = Elf()
    start = elf.text(RET * 4 * n)
    elf.frame([(start, 4 * n, rows(4 * n))] + [(start + 4 * i + 1, 1, b"\x0e\x10") for i in range(n)])
    return elf.done()


def rivals_of_debug(n):
    """The same with the large one in .debug_frame, which .eh_frame then divides."""
    elf = Elf()
    start = elf.text(RET * 4 * n)
    elf.frame([(start + 4 * i + 1, 1, b"\x0e\x10") for i in range(n)])
    cie = padded(b"\xff\xff\xff\xff\x03\0\x01\x78\x10\x0c\x07\x08\x90\x01", "<")
    out = cie + padded(struct.pack("<IQQ", 0, start, 4 * n) + rows(4 * n), "<")
    elf.section(".debug_frame", PROGBITS, 0, elf.add(out), len(out), 0)
    return elf.done()


def fp_rule(cie, rule):
    """A CIE with an expression for FP."""
    return padded(cie + b"\x16\x06" + uleb(len(rule)) + rule, "<")


def contradicting(n):
    """One FDE, and many of .debug_frame over the same code with rules that depend on the PC and take a thousand operations."""
    elf = Elf()
    start = elf.text(RET * 453 * n)
    elf.frame([(start, 453 * n, b"\x0e\x10")])
    loop = b"\x08\xf0\x31\x1c\x12\x28\xfa\xff\x13\x03" + bytes(8)
    out = fp_rule(b"\xff\xff\xff\xff\x03\0\x01\x78\x10\x0c\x07\x08\x90\x01", loop + b"\x13\x80\0\x0a\xff\x0f\x1a\x22")
    out += b"".join(padded(struct.pack("<IQQ", 0, start + 453 * i, 453) + b"\x0e\x10", "<") for i in range(n))
    elf.section(".debug_frame", PROGBITS, 0, elf.add(out), len(out), 0)
    return elf.done()


def claimed(n):
    """FDEs of a megabyte each, which is not in the file, with rules that depend on the PC."""
    elf = Elf()
    at = elf.add(RET * 64, 4096)
    elf.segment(LOAD, 5, at, CODE + at, 64, n << 20)
    elf.section(".text", NOBITS, ALLOC | EXEC, at, n << 20, CODE + at)
    cie = fp_rule(b"\0\0\0\0\x01zR\0\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01", b"\x80\0\x0a\xff\x0f\x1a\x22")
    elf.frame([(CODE + at + (i << 20), 1 << 20, b"\x0e\x10") for i in range(n)], cie)
    return elf.done()


def letters(n):
    """A CIE with a long augmentation string, which each FDE would be read by."""
    cie = padded(b"\0\0\0\0\x01zR" + b"S" * n + b"\0\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01", "<")
    elf = Elf()
    start = elf.text((b"\xe8\0\0\0\0" + RET) * n)
    elf.frame([(start + 6 * i, 6, b"") for i in range(n)], cie)
    return elf.done()


def landings(n):
    """FDEs with one table of call sites."""
    elf = Elf()
    sites = b"".join(struct.pack("<III", 0, 6, 5) + b"\0" for _ in range(n))
    at = elf.add(b"\xff\xff\x03" + uleb(len(sites)) + sites)
    cie = padded(b"\0\0\0\0\x01zPLR\0\x01\x78\x10\x0b\x00" + struct.pack("<Q", 64) + b"\x00\x1b\x0c\x07\x08\x90\x01", "<")
    start = elf.text((b"\xe8\0\0\0\0" + RET) * n)
    elf.frame([(start + 6 * i, 6, b"") for i in range(n)], cie, struct.pack("<Q", at))
    return elf.done()


# ---- code ----

def jump(at, to):
    return b"\xe9" + struct.pack("<i", to - at - 5)


def branch(at, to):
    return b"\x0f\x84" + struct.pack("<i", to - at - 6)


def jumps_between(n):
    """Jumps by turns into two functions of many rows."""
    elf = Elf()
    code = bytearray(RET * 2 * n)
    for i in range(n):
        code += jump(len(code), n * (i % 2) + 1 + i // 2)
    start = elf.text(bytes(code))
    elf.frame([(start, n, rows(n - 1)), (start + n, n, rows(n - 1))] + [(start + 2 * n + 5 * i, 5, b"") for i in range(n)])
    return elf.done()


def bare_jumps_between(n):
    """The same from code without CFI."""
    elf = Elf()
    code = bytearray(RET * 2 * n)
    for i in range(n):
        code += jump(len(code), n * (i % 2) + 1 + i // 2)
    start = elf.text(bytes(code))
    elf.frame([(start, n, rows(n - 1)), (start + n, n, rows(n - 1))])
    elf.symbols([(0, 0x12, 1, start + 2 * n + 5 * i, 5) for i in range(n)], DYNSYM)
    return elf.done()


def exported(code, functions):
    """A library of code without CFI, whose functions are [(offset, size)]."""
    elf = Elf()
    start = elf.text(bytes(code))
    elf.symbols([(0, 0x12, 1, start + at, size) for at, size in functions], DYNSYM)
    return elf.done()


def stubs(size, one):
    """Functions that lead to one place in the middle of code that nothing else knows. one(at, place) gives the bytes of one."""
    def make(n):
        code = b"".join(one(size * i, size * n + 8) for i in range(n))
        return exported(code + RET * 8 + (b"\x50\x58" * 4 + b"\x90") * n + RET, [(size * i, size) for i in range(n)])
    return make


def framed_stub(at, body):
    return b"\x48\x81\xec" + struct.pack("<i", 8 * at) + jump(at + 7, body)


def mixed_stub(at, body):
    """It goes on in the next one, with a frame."""
    return branch(at, body) + b"\x50" + jump(at + 7, at + 12)


def pieces(n):
    """A function that branches to as many places, which are between others."""
    code = b"".join(branch(6 * i, 6 * n + 16 * i + 24) for i in range(n))
    return exported(code + RET * 16 + (RET * 16) * n, [(0, 6 * n)] + [(6 * n + 16 + 16 * i, 8) for i in range(n)])


def calls(n):
    """Calls that may not return, one behind the other."""
    code = b"".join(b"\x53\xe8" + struct.pack("<i", 0x1000000) for _ in range(n)) + RET
    return exported(code, [(0, len(code))])


def chain(n):
    """Functions that each call the next one, from the last to the first."""
    return exported((b"\xe8" + struct.pack("<i", 1) + RET) * n + RET, [(6 * i, 6) for i in range(n)])


# ---- Go ----

def go_table(funcs, names, levels, text):
    """[(start, level's offset)] of Go 1.20, with one record each."""
    head = 72
    funcs_at = head
    records, entries = bytearray(), bytearray()
    base = 8 * len(funcs) + 4
    for start, level in funcs:
        entries += struct.pack("<II", start, base + len(records))
        records += struct.pack("<IiIIIIIIIBBBB", start, 0, 0, 0, level, 0, 0, 0, 0, 0, 0, 0, 0)
    limit = struct.pack("<I", (funcs[-1][0] if funcs else 0) + 16)
    body = entries + limit + records
    names_at = funcs_at + len(body)
    return (struct.pack("<IHBBQQQQQQQQ", 0xFFFFFFF1, 0, 1, 8, len(funcs), 0, text, names_at, names_at, names_at,
                        names_at + len(names), funcs_at) + body + names + levels).ljust(64, b"\0") + bytes(8)


def go_names(n):
    """Functions of one long name."""
    elf = Elf()
    start = elf.text(RET * 16 * n)
    table = go_table([(16 * i, 1) for i in range(n)], b"n" * n + b"\0", b"\0\x02\x10\0", start)
    elf.section(".gopclntab", PROGBITS, ALLOC, elf.add(table), len(table))
    return elf.done()


def go_levels(n):
    """Functions of one long table of SP, whose code is not in the file, or the first byte of it alone."""
    elf = Elf(n // 64 + 8)
    elf.text(RET * 64)
    for i in range(n // 64):
        elf.segment(LOAD, 5, 0, (1 << 36) + 4 * n * i, 1)
    table = go_table([(4 * n * i, 1) for i in range(n // 8)], b"n\0", b"\0\x04\x01" + b"\x02\x01\x01\x01" * 2 * n + b"\0", 1 << 36)
    elf.section(".gopclntab", PROGBITS, ALLOC, elf.add(table), len(table))
    return elf.done()


def go_relocations(n):
    """Relocations that each could name the table, which does not say where its text is."""
    elf = Elf()
    start = elf.text(RET * 64)
    table = go_table([(4, 1)], b"n\0", b"\0\x02\x10\0", 0)
    table_at = elf.add(table)
    elf.section(".gopclntab", PROGBITS, ALLOC, table_at, len(table))
    relocations = b"".join(struct.pack("<QQQ", start + 8 * i, 8, table_at) for i in range(n))
    at = elf.add(relocations)
    dynamic = struct.pack("<QQQQQQ", 7, at, 8, len(relocations), 0, 0)
    at = elf.add(dynamic)
    elf.segment(DYNAMIC, 4, at, at, len(dynamic))
    return elf.done()


def go_words(n):
    """The same with words of the file."""
    elf = Elf()
    elf.text(RET * 64)
    table = go_table([(4, 1)], b"n\0", b"\0\x02\x10\0", 0)
    table_at = elf.add(table)
    elf.section(".gopclntab", PROGBITS, ALLOC, table_at, len(table))
    elf.add(struct.pack("<Q", table_at) * n)
    return elf.done()


def go_headers(n):
    """What could be a table, over and over, with bytes behind it that end no name."""
    elf = Elf()
    elf.text(RET * 64)
    elf.add(go_table([], b"n\0", b"\0", 0)[:64] * n + b"x" * 64 * n)
    out = elf.done()
    return out


# ---- names ----

def one_place(n):
    """Symbols of one place."""
    elf = simple()
    elf.symbols([(1, 0x12, 1, CODE + 4096, 1 + i) for i in range(n)], SYMTAB, b"\0f\0")
    return elf.done()


def asked_again(n):
    """Functions in as many sections, and rows of a function that has as many names."""
    elf = Elf()
    start = elf.text(RET * 16 * n)
    bare = elf.text(b"\x50\x58" * n + RET, ".bare")
    elf.frame([(start + 16 * i, 16, b"") for i in range(n)])
    for _ in range(n):
        elf.section(".x", NOBITS, ALLOC, 0, 16 * n, start)
    elf.symbols([(1, 0x12, 2, bare, 2 * n + 1) for _ in range(n)], SYMTAB, b"\0f\0")
    return elf.done()


def long_names(n):
    """Relocations by dynamic symbols whose names are the ends of a long one."""
    elf = simple()
    table = elf.symbols([(1 + i, 0x12, 1, CODE + 4096, 1) for i in range(n)], DYNSYM, b"\0_ZSt" + b"n" * 4 * n + b"\0")
    relocations = b"".join(struct.pack("<QQQ", DATA + 8 * i, (i + 1) << 32 | 6, 0) for i in range(n))
    elf.section(".rela.dyn", RELA, ALLOC, elf.add(relocations), len(relocations), None, table, 0, 24)
    return elf.done()


# ---- .sframe ----

def sframe(funcs, n_rows, row_bytes, flags=5):
    """Version 2: [(start from the section, size, offset of rows, rows)]."""
    index = b"".join(struct.pack("<iIIIBBH", start - 28 - 20 * i, size, off, n, 0, 0, 0) for i, (start, size, off, n) in enumerate(funcs))
    return struct.pack("<HBBBbbBIIIII", 0xDEE2, 2, flags, 3, 0, -8, 0, len(funcs), n_rows, len(row_bytes), 0, len(index)) + index + row_bytes


def shared_rows(n):
    """Functions with the same many rows."""
    elf = Elf()
    start = elf.text(RET * 16 * n)
    elf.frame([(start + 16 * i, 16, b"") for i in range(n)])
    at = len(elf.body) + -len(elf.body) % 8
    each = b"".join(bytes([i, 3, 8 + 8 * (i % 2)]) for i in range(16))
    data = sframe([(start - at + 16 * i, 16, 0, 16) for i in range(n)], 16 * n, each)
    elf.section(".sframe", SFRAME, ALLOC, elf.add(data, 8), len(data))
    return elf.done()


def in_turns(n):
    """A function that ends in a call and one behind much filler, again and again, as if they were sorted."""
    elf = Elf()
    start = elf.text(b"\xe8\xfb\xff\xff\xff" + NOP * 16 * n + RET)
    at = len(elf.body) + -len(elf.body) % 8
    data = sframe([(start - at, 5, 0, 1), (start - at + 5 + 16 * n, 1, 0, 1)] * n, 2 * n, bytes([0, 3, 8]))
    elf.section(".sframe", SFRAME, ALLOC, elf.add(data, 8), len(data))
    return elf.done()


def long_rows(n):
    """As many functions as there are rows, each with all of them."""
    elf = Elf()
    start = elf.text(RET * n)
    elf.frame([(start, n, b"")])
    at = len(elf.body) + -len(elf.body) % 8
    each = b"".join(struct.pack("<IBB", i, 3, 8 + 8 * (i % 2)) for i in range(n))
    data = sframe([(start - at + i, n, 0, n) for i in range(n)], n * n & 0xFFFFFFFF, each)
    elf.section(".sframe", SFRAME, ALLOC, elf.add(data, 8), len(data))
    return elf.done()


# ---- objects ----

def object_file(n, flags=lambda i: ALLOC | EXEC, size=16, relocated=True, tables=1):
    """n sections of code, one .eh_frame, and relocations for them."""
    elf = Elf(kind=1)
    code = elf.add(b"\xe8\0\0\0\0" + RET * (size - 5))
    first = len(elf.sections)
    for i in range(n):
        elf.section(f".text.{i % 7}", PROGBITS, flags(i), code, size, 0)
    strings = elf.section(".strtab", STRTAB, 0, elf.add(b"\0f\0"), 3)
    symbols = bytes(24) + b"".join(struct.pack("<IBBHQQ", 1, 0x02, 0, min(first + i, 0xFEFF), 0, size) for i in range(n))
    table = elf.section(".symtab", SYMTAB, 0, elf.add(symbols), len(symbols), 0, strings, len(symbols) // 24, 24)
    frame, starts = bytearray(CIE), []
    for i in range(n):
        starts.append(len(frame) + 8)
        frame += padded(struct.pack("<IiI", len(frame) + 4, 0, size) + b"\0", "<")
    frame_at = elf.section(".eh_frame", PROGBITS, ALLOC, elf.add(bytes(frame)), len(frame), 0)
    relocations = b"".join(struct.pack("<QQq", at, (i + 1) << 32 | 2, 0) for i, at in enumerate(starts))
    elf.section(".rela.eh_frame", RELA, INFO_LINK, elf.add(relocations), len(relocations), 0, table, frame_at, 24)
    call = elf.add(struct.pack("<QQq", 1, 1 << 32 | 4, -4))
    for i in range(n if relocated else 0):
        elf.section(".rela.text", RELA, INFO_LINK, call, 24, 0, table, first + i, 24)
    return elf.done()


def alternating(n):
    """Code that is writable by turns, so that each section would be a segment."""
    return object_file(n, lambda i: ALLOC | EXEC | (WRITE if i % 2 else 0))


def groups(n):
    elf = Elf(kind=1)
    elf.text(RET * 16)
    table = elf.symbols([(1, 0x12, 1, 0, 16)], SYMTAB, b"\0f\0")
    for i in range(n):
        elf.section(".x", PROGBITS, ALLOC, 64, 4, 0)
        at = elf.add(struct.pack("<II", 1, len(elf.sections) - 1), 4)
        elf.section(".group", GROUP, 0, at, 8, 0, table, 1, 4)
    return elf.done()


REPORT, JSON = ["report", "-v", "-j1", "in"], ["report", "--json", "-q", "-j1", "in"]
CONVERT, SECTION = ["convert", "-q", "-j1", "in", "out"], ["section", "-q", "-j1", "in", "out"]
DERIVE, CHECK = ["report", "--derive", "-q", "-j1", "in"], ["check", "--json", "-q", "-j1", "in"]
REPAIR = ["section", "--code=repair", "-q", "-j1", "in", "out"]
VERIFY, LINT, DUMP = ["verify", "-q", "-j1", "in"], ["lint", "-q", "-j1", "in"], ["dump", "-q", "-j1", "in"]
WITNESS = ["verify", "--witness=code", "-q", "-j1", "in"]
ALL = {"report": REPORT, "report --json": JSON, "convert": CONVERT, "derive": DERIVE, "check": CHECK}
SFRAMES = {"verify": VERIFY, "lint": LINT, "dump": DUMP, "verify by code": WITNESS, "refresh": ["convert", "--refresh", "-q", "-j1", "in", "out"]}

# name: (size, maker, commands)
TABLES = {
    "notes over the same bytes": (16000, same(".note.x", NOTE, ALLOC), {"report --json": JSON, "convert": CONVERT}),
    "notes over all of the same bytes": (8000, same(".note.x", NOTE, ALLOC, whole=True), {"report --json": JSON}),
    "code over the same bytes": (16000, same(".text.x", PROGBITS, ALLOC | EXEC), ALL),
    "code over all of the same bytes": (4000, same(".text.x", PROGBITS, ALLOC | EXEC, whole=True), ALL),
    "PLTs over the same bytes": (16000, same(".plt", PROGBITS, ALLOC | EXEC), ALL),
    "symbol tables over the same bytes": (16000, same(".dynsym", DYNSYM, ALLOC, 24, link=1), ALL),
    "relocations over the same bytes": (16000, same(".rela.dyn", RELA, ALLOC, 24), ALL),
    "RELR over the same bytes": (16000, same(".relr.dyn", RELR, ALLOC, 8), ALL),
    "segments of the same bytes": (1000, same_segments(LOAD), ALL),
    "notes of the same bytes": (1000, same_segments(PT_NOTE), ALL),
    "segments that are not in the file": (2000, outside_segments, ALL),
    "CIEs by their code factor": (8000, debug_cies("code"), {"report": REPORT}),
    "CIEs by their data factor": (8000, debug_cies("data"), {"report": REPORT}),
    "CIEs by their return column": (8000, debug_cies("ra"), {"report": REPORT}),
    "headers of .debug_frame": (16000, debug_headers, {"report": REPORT, "convert": CONVERT}),
    "one packed .debug_frame": (400000, packed, {"report": REPORT, "convert": CONVERT}),
    "rivals of an FDE": (16000, rivals, ALL),
    "rivals of an FDE in .debug_frame": (16000, rivals_of_debug, ALL),
    "expressions of .debug_frame over one FDE": (64, contradicting, {"convert": CONVERT}),
    "code that is not there": (64, claimed, {"report": REPORT, "convert": CONVERT}),
    "a long augmentation": (16000, letters, {"check": CHECK, "derive": DERIVE}),
    "one table of call sites": (8000, landings, {"check": CHECK, "derive": DERIVE}),
    "jumps between two functions": (16000, jumps_between, {"check": CHECK, "repair": REPAIR}),
    "bare jumps between two functions": (16000, bare_jumps_between, {"derive": DERIVE}),
    "stubs of one body": (4000, stubs(5, jump), {"derive": DERIVE}),
    "stubs of one body with frames": (4000, stubs(12, framed_stub), {"derive": DERIVE}),
    "stubs of one body in several states": (4000, stubs(12, mixed_stub), {"derive": DERIVE}),
    "a function in pieces": (16000, pieces, {"derive": DERIVE}),
    "calls that may not return": (3000, calls, {"derive": DERIVE}),
    "a chain of calls": (8000, chain, {"derive": DERIVE}),
    "Go: one name": (16000, go_names, ALL),
    "Go: one table of SP": (8000, go_levels, {"report": REPORT}),
    "Go: relocations": (16000, go_relocations, {"report": REPORT}),
    "Go: words": (32000, go_words, {"report": REPORT}),
    "Go: headers": (16000, go_headers, {"report": REPORT}),
    "symbols of one place": (16000, one_place, {"report": REPORT, "json": JSON,
        "exclude": ["section", "-q", "-j1", "--exclude-symbol=x*", "--allow-unmatched", "in", "out"]}),
    "patterns": (8000, asked_again, {"exclude": ["section", "-q", "-j1", "--derive", "--exclude-symbol=[g-z]*",
        "--exclude-section=.x", "--allow-unmatched", "in", "out"]}),
    "names of relocations": (16000, long_names, {"check": CHECK, "derive": DERIVE}),
    "shared rows": (16000, shared_rows, SFRAMES),
    "rows of all functions": (4000, long_rows, SFRAMES),
    "functions in turns": (4000, in_turns, {"lint": LINT}),
    "objects: sections": (8000, object_file, {"convert": ["convert", "--format=2", "-q", "-j1", "in", "out"], "report": REPORT,
        "check": CHECK, "one each": ["convert", "--format=2", "--object-sections=text", "-q", "-j1", "in", "out"]}),
    "objects: writable code": (8000, alternating, {"check": CHECK}),
    "objects: groups": (16000, groups, {"report": REPORT}),
}
