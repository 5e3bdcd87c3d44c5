# SPDX-License-Identifier: MIT
"""Makes core files of ELF files, as Linux writes them: each file is laid out in memory by its program headers."""
import struct

PT_LOAD, PT_NOTE = 1, 4
NT_AUXV, NT_FILE = 6, 0x46494c45
AT_SYSINFO_EHDR = 33


class Elf:
    """What of an ELF file is needed here."""

    def __init__(self, data):
        self.data = data
        self.big = data[5] == 2
        self.order = ">" if self.big else "<"
        fields = struct.unpack(self.order + "HHIQQQIHHHHHH", data[16:64])
        self.type, self.machine, self.phoff, self.phnum = fields[0], fields[1], fields[4], fields[9]
        self.shoff, self.shnum = fields[5], fields[11]
        self.loads = [ph for ph in self.phdrs() if ph[0] == PT_LOAD]

    def phdrs(self):
        """(type, flags, offset, vaddr, paddr, filesz, memsz, align)"""
        return [struct.unpack_from(self.order + "IIQQQQQQ", self.data, self.phoff + 56 * i)
                for i in range(self.phnum)]

    def without_sections(self):
        data = bytearray(self.data)
        data[40:48] = bytes(8)
        data[60:64] = bytes(4)
        return bytes(data)


class Core:
    def __init__(self, machine=62, big=False, page=4096):
        self.machine, self.order, self.page = machine, ">" if big else "<", page
        self.segments = []  # address, bytes in memory, bytes in the file, flags
        self.files = []     # start, end, page of the file, name
        self.auxv = []
        self.notes = None   # instead of those that are made

    def add(self, address, size, data, flags=4):
        self.segments.append([address, size, data, flags])
        return self

    def image(self, elf, bias, name, pages=None):
        """Lays a file out. pages: of each segment, how many pages the core has; None: all."""
        page = self.page
        for _, flags, offset, vaddr, _, filesz, memsz, _ in elf.loads:
            start, slack = (vaddr + bias) // page * page, vaddr % page
            end = -(-(vaddr + bias + memsz) // page) * page
            data = elf.data[offset - slack:-(-(offset + filesz) // page) * page]
            if flags & 2:  # behind the data there is .bss
                data = data[:slack + filesz]
            data = data.ljust(end - start, b"\0")
            if pages is not None:
                data = data[:page * (pages if offset < page else 0)]
            self.add(start, end - start, data, flags)
            if name:
                self.files.append((start, end, (offset - slack) // page, name))
        return self

    def vdso(self, address):
        self.auxv.append((AT_SYSINFO_EHDR, address))

    def note(self, kind, desc, name=b"CORE\0"):
        pad = lambda data: data + bytes(-len(data) % 4)
        return struct.pack(self.order + "III", len(name), len(desc), kind) + pad(name) + pad(desc)

    def file_note(self):
        numbers = struct.pack(self.order + "QQ", len(self.files), self.page)
        numbers += b"".join(struct.pack(self.order + "QQQ", *file[:3]) for file in self.files)
        return numbers + b"".join(file[3].encode() + b"\0" for file in self.files)

    def all_notes(self):
        if self.notes is not None:
            return self.notes
        auxv = b"".join(struct.pack(self.order + "QQ", *pair) for pair in self.auxv + [(0, 0)])
        notes = self.note(NT_AUXV, auxv)
        return notes + (self.note(NT_FILE, self.file_note()) if self.files else b"")

    def bytes(self):
        notes = self.all_notes()
        count = 1 + len(self.segments)
        at = 64 + 56 * count
        headers = struct.pack(self.order + "IIQQQQQQ", PT_NOTE, 4, at, 0, 0, len(notes), 0, 4)
        at += len(notes)
        at += -at % self.page
        headers, body = [headers], [notes.ljust(at - 64 - 56 * count, b"\0")]
        for address, size, data, flags in self.segments:
            headers.append(struct.pack(self.order + "IIQQQQQQ", PT_LOAD, flags, at, address, 0, len(data), size,
                                       self.page))
            body.append(data)
            at += len(data)
        ident = b"\x7fELF\x02" + (b"\x02" if self.order == ">" else b"\x01") + b"\x01" + bytes(9)
        return ident + struct.pack(self.order + "HHIQQQIHHHHHH", 4, self.machine, 1, 0, 64, 0, 0, 64, 56,
                                   count, 64, 0, 0) + b"".join(headers + body)

    def write(self, path):
        with open(path, "wb") as file:
            file.write(self.bytes())
        return path


def read(path):
    with open(path, "rb") as file:
        return file.read()


def core_of(elf):
    return Core(elf.machine, elf.big)
