# SPDX-License-Identifier: MIT
"""ELF files by arithmetic alone: the same bytes on each system, whatever its compiler. A number says which file."""

import struct

# name: e_machine, byte order, return column, stack pointer, frame pointer, code alignment, relocation of a start
MACHINES = {
    "x86-64": (62, "<", 16, 7, 6, 1, 2),
    "aarch64": (183, "<", 30, 31, 29, 4, 261),
    "aarch64be": (183, ">", 30, 31, 29, 4, 261),
    "s390x": (22, ">", 14, 15, 11, 2, 5),
}
KINDS = ("shared", "pie", "exec", "object")
PAGE = 0x10000
ALLOC, EXEC = 2, 4


class Numbers:
    """Random numbers that no release of Python changes."""

    def __init__(self, seed):
        self.state = seed * 2654435761 + 12345

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % n


def uleb(value):
    out = bytearray()
    while True:
        out.append(value & 127 | (128 if value > 127 else 0))
        value >>= 7
        if not value:
            return bytes(out)


def sleb(value):
    out = bytearray()
    while True:
        byte = value & 127
        value >>= 7
        if value == -(byte >> 6):
            out.append(byte)
            return bytes(out)
        out.append(byte | 128)


def advance(steps, order):
    if steps < 64:
        return bytes([0x40 | steps])
    return b"\x02" + bytes([steps]) if steps < 256 else b"\x03" + struct.pack(order + "H", steps)


class Function:
    """Call frame instructions and the size of the code."""

    def __init__(self, rng, name):
        _, self.order, self.ra, self.sp, self.fp, self.align, _ = MACHINES[name]
        self.name, self.rng = name, rng
        self.program, self.size = b"", 0
        self.body(rng.below(16))
        self.go(1 + rng.below(40))

    def go(self, steps):
        """Code that runs before the next rule."""
        self.size += steps * self.align

    def at(self, steps, rule):
        self.go(steps)
        # On s390x the CIE counts bytes.
        self.program += advance(steps * (2 if self.name == "s390x" else 1), self.order) + rule

    def body(self, shape):
        if shape < 3:  # a leaf
            return
        first = 160 if self.name == "s390x" else 8 if self.name == "x86-64" else 0
        frame = 16 * (1 + self.rng.below(40))
        cfa = first + (frame + 8 if self.name == "x86-64" else frame)
        saved = {"x86-64": [(self.fp, 2)], "s390x": [(self.fp, 9), (14, 6), (15, 5)]}
        rule = b"\x0e" + uleb(cfa)
        for register, slot in saved.get(self.name, [(self.fp, frame // 8), (30, frame // 8 - 1)]):
            rule += bytes([0x80 | register]) + uleb(slot)
        if "aarch64" in self.name and shape % 2:
            self.at(1, b"\x2d")
        self.at(1 + self.rng.below(3), rule)
        if shape > 8:
            self.at(1 + self.rng.below(5), b"\x0d" + uleb(self.fp))
        if shape == 12:  # no version can say this
            self.at(2, b"\x0f\x04\x77\x08\x06\x22"[:2] + b"\x77\x08\x06\x22")
        if shape == 13:  # version 3 can
            self.at(2, b"\x0c" + uleb(10 if self.name == "x86-64" else 9) + uleb(0))
        if shape > 5:
            self.at(1 + self.rng.below(300), b"\x0a")
            self.at(1 + self.rng.below(3), b"\x0c" + uleb(self.sp) + uleb(first) + bytes([0xC0 | self.fp]))
            self.at(1 + self.rng.below(3), b"\x0b")


def padded(body, order):
    """A record: its length, and no-operations up to 8 bytes."""
    body += b"\0" * (-(len(body) + 4) % 8)
    return struct.pack(order + "I", len(body)) + body


def cie(name, signal):
    _, order, ra, sp, _, align, _ = MACHINES[name]
    rules = b"\x0c" + uleb(sp) + uleb({"x86-64": 8, "s390x": 160}.get(name, 0))
    if name == "x86-64":
        rules += b"\x90\x01"
    augmentation = b"zRS\0" if signal else b"zR\0"
    code = 1 if name == "s390x" else align
    return padded(b"\0\0\0\0\x01" + augmentation + uleb(code) + sleb(-8) + bytes([ra]) + b"\x01\x1b" + rules, order)


def eh_frame(name, functions, signals, where):
    """The section, and the places of its starts. where: the distance from it to the code; None: relocations."""
    order, out, starts, address = MACHINES[name][1], b"", [], 0
    for signal in (False, True):
        chosen = [f for f, s in zip(functions, signals) if s == signal]
        if not chosen:
            continue
        head = len(out)
        out += cie(name, signal)
        for function in chosen:
            start = len(out) + 8
            starts.append((start, function.address))
            pc = where + function.address - start if where is not None else 0
            body = struct.pack(order + "Iii", len(out) + 4 - head, pc, function.size) + b"\0" + function.program
            out += padded(body, order)
        address += 1
    return out + bytes(4), starts


def place(functions, rng):
    """Gives each function an address, and returns the size of the code."""
    address = 0
    for function in functions:
        function.address = address
        address += function.size
        address += -address % 16 if rng.below(3) else 0
    return address


def section_headers(order, sections):
    """[(name, type, flags, address, offset, size, link, info, align, entry size)] with names first."""
    names, out = b"\0", bytes(64)
    for section in sections:
        out += struct.pack(order + "IIQQQQIIQQ", len(names), *section[1:])
        names += section[0].encode() + b"\0"
    return out, names


def header(order, machine, kind, entry, phoff, phnum, shoff, shnum):
    return struct.pack(
        order + "4sBBBBQHHIQQQIHHHHHH", b"\x7fELF", 2, 1 if order == "<" else 2, 1, 0, 0, kind, machine, 1, entry, phoff,
        shoff, 0, 64, 56, phnum, 64, shnum, shnum - 1)


def linked(rng, name, kind, functions, signals):
    machine, order = MACHINES[name][:2]
    base = 0x400000 if kind == "exec" else 0
    text_size = place(functions, rng)
    spare = rng.below(3)
    types = [1, 1, 0x6474E551] + [0] * spare
    frame_at = 64 + 56 * len(types)
    frame_at += -frame_at % 8
    # Code on the page after the section; its size does not depend on the distance.
    frame, _ = eh_frame(name, functions, signals, 0)
    text_at = (frame_at + len(frame) + PAGE - 1) // PAGE * PAGE
    frame, _ = eh_frame(name, functions, signals, text_at - frame_at)
    end = text_at + text_size
    phdrs = [(1, 4, 0, frame_at + len(frame), PAGE), (1, 5, text_at, text_size, PAGE), (0x6474E551, 6, 0, 0, 16)]
    table = b"".join(
        struct.pack(order + "IIQQQQQQ", kind, flags, off, base + off if size else 0, base + off if size else 0, size, size, align)
        for kind, flags, off, size, align in phdrs) + bytes(56 * spare)
    sections = [
        (".eh_frame", 1, ALLOC, base + frame_at, frame_at, len(frame), 0, 0, 8, 0),
        (".text", 1, ALLOC | EXEC, base + text_at, text_at, text_size, 0, 0, 16, 0),
    ]
    _, names = section_headers(order, sections + [(".shstrtab",) + (0,) * 9])
    headers, _ = section_headers(order, sections + [(".shstrtab", 3, 0, 0, end, len(names), 0, 0, 1, 0)])
    shoff = end + len(names)
    shoff += -shoff % 8
    out = header(order, machine, 2 if kind == "exec" else 3, base + text_at, 64, len(types), shoff, 4) + table
    out = out.ljust(frame_at, b"\0") + frame
    out = out.ljust(text_at, b"\0") + code(name, text_size) + names
    return out.ljust(shoff, b"\0") + headers


def code(name, size):
    """No-operations, which no conversion looks at."""
    word = {"x86-64": b"\x90", "aarch64": b"\x1f\x20\x03\xd5", "aarch64be": b"\x1f\x20\x03\xd5", "s390x": b"\x07\x07"}[name]
    return word * (size // len(word)) + bytes(size % len(word))


def relocatable(rng, name, functions, signals):
    machine, order, *_, relocation = MACHINES[name]
    text_size = place(functions, rng)
    frame, starts = eh_frame(name, functions, signals, None)
    relocations = b"".join(
        struct.pack(order + "QQq", at, 1 << 32 | relocation, address) for at, address in starts)
    symbols = bytes(24) + struct.pack(order + "IBBHQQ", 0, 3, 0, 1, 0, 0)
    parts = [(".text", 1, ALLOC | EXEC, code(name, text_size), 0, 0, 16, 0), (".eh_frame", 1, ALLOC, frame, 0, 0, 8, 0),
             (".rela.eh_frame", 4, 64, relocations, 4, 2, 8, 24), (".symtab", 2, 0, symbols, 5, 2, 8, 24),
             (".strtab", 3, 0, b"\0", 0, 0, 1, 0)]
    out, sections = bytes(64), []
    for part, kind, flags, data, link, info, align, entry in parts:
        out += bytes(-len(out) % align)
        sections.append((part, kind, flags, 0, len(out), len(data), link, info, align, entry))
        out += data
    _, names = section_headers(order, sections + [(".shstrtab",) + (0,) * 9])
    headers, _ = section_headers(order, sections + [(".shstrtab", 3, 0, 0, len(out), len(names), 0, 0, 1, 0)])
    out += names
    out += bytes(-len(out) % 8)
    return header(order, machine, 1, 0, 0, 0, len(out), 7)[:54] + struct.pack(order + "HHHHH", 0, 0, 64, 7, 6) + out[64:] + headers


def elf_file(number):
    """The file of a number, and words for it."""
    name = list(MACHINES)[(0, 1, 3, 0, 2)[number % 5]]
    kind = KINDS[number // 5 % 4]
    rng = Numbers(number)
    functions = [Function(rng, name) for _ in range(1 + rng.below(4 + number // 2))]
    signals = [number % 7 == 3 and rng.below(9) == 0 for _ in functions]
    if kind == "object":
        made = relocatable(rng, name, functions, signals)
    else:
        made = linked(rng, name, kind, functions, signals)
    return made, f"{number:03} {name} {kind}"
