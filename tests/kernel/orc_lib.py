# SPDX-License-Identifier: MIT
"""Reads ORC tables by their definition (Linux: arch/x86/include/asm/orc_types.h and
arch/x86/kernel/unwind_orc.c), and says which row of SFrame each entry is."""
import bisect
import struct
from typing import NamedTuple

from sframe_text import Section
from tap import must

# By the first version of Linux: names of registers by number, names of types by number.
OLD = ["", "prev_sp", "dx", "di", "bp", "sp", "r10", "r13", "*bp", "*sp"]
NEW = ["", "ax", "dx", "sp", "bp", "di", "r10", "r13", "prev_sp", "*sp", "*bp"]
TYPES = ["nothing", "end", "call", "regs", "partial"]
HASHES = {"fe5d32bf581bd63b2ca9a5c65ba5a625eab3fe24": "6.4", "137c36ad7627c4dd55932176bb0ecdbd5041fc82": "7.1"}
LAYOUTS = ("4.14", "6.3", "6.4", "7.1")
# struct pt_regs of x86-64: bp, ip, sp. The processor puts what is from ip on.
REGS_BP, REGS_IP, REGS_SP = 4 * 8, 16 * 8, 19 * 8
SHORT = {"sp": "sp", "bp": "fp", "ax": "r0", "dx": "r1", "di": "r5", "r10": "r10", "r13": "r13"}


class Entry(NamedTuple):
    """What 6 bytes say."""
    sp_offset: int
    bp_offset: int
    sp: str
    bp: str
    type: str
    signal: bool


def decode(layout, data):
    sp_offset, bp_offset, flags = struct.unpack("<hhH", data)
    names = NEW if layout == "7.1" else OLD
    sp, bp = names[flags & 15], names[flags >> 4 & 15]
    if layout in ("6.4", "7.1"):
        return Entry(sp_offset, bp_offset, sp, bp, TYPES[flags >> 8 & 7], bool(flags >> 11 & 1))
    end = flags >> (11 if layout == "6.3" else 10) & 1
    if not sp:
        return Entry(sp_offset, bp_offset, sp, bp, "end" if end else "nothing", False)
    kind = TYPES[2:][flags >> 8 & 3]
    return Entry(sp_offset, bp_offset, sp, bp, kind, bool(flags >> 10 & 1) if layout == "6.3" else kind != "call")


def encode(layout, entry):
    names = NEW if layout == "7.1" else OLD
    flags = names.index(entry.sp) | names.index(entry.bp) << 4
    if layout in ("6.4", "7.1"):
        flags |= TYPES.index(entry.type) << 8 | entry.signal << 11
    else:
        flags |= max(TYPES.index(entry.type) - 2, 0) << 8
        flags |= (entry.type == "end") << (11 if layout == "6.3" else 10)
        flags |= (layout == "6.3" and entry.signal) << 10
    return struct.pack("<hhH", entry.sp_offset, entry.bp_offset, flags)


def place(entry, more):
    """The base of an entry, and so many bytes more, as --dump writes it."""
    return f"{SHORT[entry.sp.lstrip('*')]}{entry.sp_offset + more:+d}"


def row(entry):
    """(CFA, FP, RA) as --dump writes them; "" for nothing, "outermost", and None for what no row can say."""
    if entry.type == "nothing":
        return ""
    if entry.type == "end":
        return "outermost"
    if entry.type == "call":
        if entry.sp == "*sp":
            return None
        cfa, ra = f"({place(entry, 0)})" if entry.sp[0] == "*" else place(entry, 0), "f"
        fp = {"": "u", "prev_sp": f"c{entry.bp_offset:+d}", "bp": f"(fp{entry.bp_offset:+d})"}[entry.bp]
        return cfa, fp, ra
    if entry.sp[0] == "*":
        return None
    less = REGS_IP if entry.type == "partial" else 0
    fp = {"": "u" if less else f"({place(entry, REGS_BP)})", "prev_sp": f"({place(entry, entry.bp_offset)})",
          "bp": f"(fp{entry.bp_offset:+d})"}[entry.bp]
    return f"({place(entry, REGS_SP - less)})", fp, f"({place(entry, REGS_IP - less)})"


class Elf:
    """Sections, and the relocations of one of them."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        at, = struct.unpack_from("<Q", self.bytes, 0x28)
        count, names = struct.unpack_from("<HH", self.bytes, 0x3c)
        self.object = struct.unpack_from("<H", self.bytes, 0x10)[0] == 1
        self.headers = [struct.unpack_from("<IIQQQQIIQQ", self.bytes, at + 64 * i) for i in range(count)]
        self.names = [self.text(self.headers[names][4] + header[0]) for header in self.headers]
        self.code = [i for i, header in enumerate(self.headers) if header[2] & 6 == 6]

    def text(self, at):
        return self.bytes[at:self.bytes.index(b"\0", at)].decode("ascii", "replace")

    def data(self, i):
        return self.bytes[self.headers[i][4]:self.headers[i][4] + self.headers[i][5]]

    def find(self, name):
        return self.names.index(name) if name in self.names else None

    def targets(self, i):
        """{offset: (section, offset in it)} of the PC-relative relocations of section i."""
        found = {}
        for header in self.headers:
            if header[1] != 4 or header[7] != i:
                continue
            symbols = self.headers[header[6]]
            for at in range(header[4], header[4] + header[5], 24):
                off, info, addend = struct.unpack_from("<QQq", self.bytes, at)
                assert info & 0xffffffff == 2, "R_X86_64_PC32"
                _, _, _, section, value, _ = struct.unpack_from("<IBBHQQ", self.bytes, symbols[4] + 24 * (info >> 32))
                found[off] = section, value + addend
        return found


class Table:
    """The entries of a file: {section: [(offset, Entry)]}, ascending, one for each place. Linked files have
    one section, 0, whose offsets are addresses."""

    def __init__(self, path, layout=None):
        self.elf = elf = Elf(path)
        ips, entries = elf.find(".orc_unwind_ip"), elf.find(".orc_unwind")
        self.layout = layout
        if elf.find(".orc_header") is not None:
            self.layout = HASHES[elf.data(elf.find(".orc_header")).hex()]
        self.entries, self.count = {}, 0
        if ips is None:
            return
        data, packed = elf.data(ips), elf.data(entries)
        self.count = len(packed) // 6
        assert len(data) // 4 == self.count
        targets = elf.targets(ips) if elf.object else {}
        for i in range(self.count):
            distance, = struct.unpack_from("<i", data, 4 * i)
            section, at = targets[4 * i] if elf.object else (0, elf.headers[ips][3] + 4 * i + distance)
            entry = decode(self.layout, packed[6 * i:6 * i + 6])
            self.entries.setdefault(section, {}).setdefault(at, []).append(entry)
        for section, places in self.entries.items():
            self.entries[section] = sorted((at, self.one_of(found)) for at, found in places.items())

    @staticmethod
    def one_of(entries):
        """Where two sections meet, the end of the first one says nothing."""
        said = {entry for entry in entries if entry.type != "nothing"}
        assert len(said) < 2, said
        return said.pop() if said else entries[0]

    def at(self, section, offset):
        places = self.entries.get(section, [])
        i = bisect.bisect_right(places, offset, key=lambda one: one[0])
        return places[i - 1][1] if i else None


class Rows:
    """The rows of a section, by place as in Table: {section: [(start, end, row, signal)]}."""

    def __init__(self, tool, path, elf):
        text = must(tool, "--dump", path)
        bases = [(0, 0)]
        if elf.object:
            bases = sorted((int(line.split()[0], 16), elf.names.index(line.split()[1]))
                           for line in text.split("Contents of")[0].splitlines() if line.startswith("    "))
        self.rows = {}
        for pc, (size, masked, rows) in sorted((section := Section(text, exact=True)).funcs.items()):
            assert not masked
            base, number = bases[bisect.bisect_right(bases, (pc, len(elf.names))) - 1]
            signal = "S" in (section.marks[pc].split('attr = "')[1:] or [""])[0]
            starts = [offset for offset, *_ in rows] + [size]
            for i, (offset, cfa, fp, ra) in enumerate(rows):
                said = "outermost" if cfa == "outermost" else (cfa, fp, ra)
                self.rows.setdefault(number, []).append(
                    (pc - base + offset, pc - base + starts[i + 1], said, signal))


def code_end(elf, section, at):
    """The end of the code that has a place."""
    if elf.object:
        return elf.headers[section][5]
    ends = [elf.headers[i][3] + elf.headers[i][5] for i in elf.code
            if elf.headers[i][3] <= at < elf.headers[i][3] + elf.headers[i][5]]
    return ends[0] if ends else at


def compare(table, rows):
    """At each place: (bytes with the row of their entry, bytes without a row by Entry, differences)."""
    same, missing, different = 0, {}, []
    for section in set(table.entries) | set(rows.rows):
        places = table.entries.get(section, [])
        stretches = [(start, min(places[i + 1][0] if i + 1 < len(places) else 1 << 64, code_end(table.elf, section, start)),
                      entry) for i, (start, entry) in enumerate(places)]
        found, next_row = sorted(rows.rows.get(section, [])), 0
        described = sum(end - start for start, end, *_ in found)
        for start, end, entry in stretches:
            at = start
            while at < end:
                while next_row < len(found) and found[next_row][1] <= at:
                    next_row += 1
                one = found[next_row] if next_row < len(found) else (1 << 64, 1 << 64, "", False)
                to = min(end, one[0] if one[0] > at else one[1])
                if one[0] > at:
                    if row(entry) != "":
                        missing[entry] = missing.get(entry, 0) + to - at
                else:
                    described -= to - at
                    if one[2] == row(entry) and (one[2] == "outermost" or one[3] == entry.signal):
                        same += to - at
                    else:
                        different.append((section, hex(at), one[2:], entry))
                at = to
        if described:
            different.append((section, f"{described} bytes of rows outside of all entries"))
    return same, missing, different
