#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Core files that are damaged or lie: one line that says what and where, no memory for what is not there. TAP.

    memory_bad.py EH2SFRAME FILE

FILE: a small linked ELF file of this machine.
"""
import os
import random
import resource
import struct
import subprocess
import sys
import tempfile

from core_lib import NT_FILE, Core, Elf, core_of, read
from memory_lib import Tests
from tap import check, plan, run

BASE, GIB = 0x7f1200000000, 1 << 30


def core_with(elf, notes=None):
    core = core_of(elf).image(elf, BASE, "/a/program")
    if notes is not None:
        core.notes = notes(core)
    return core


def refused(tests, name, words, data, *args, status=1):
    with open(tests.path("core"), "wb") as file:
        file.write(data)
    tests.fails(name, status, words, "--report", "--core=" + tests.path("core"), *args)


def headers(tests, elf):
    good = core_with(elf).bytes()
    refused(tests, "a core of no bytes", "not an ELF file", b"")
    refused(tests, "a core of 32 bits", "32-bit", good[:4] + b"\1" + good[5:])
    refused(tests, "a program", "not a core file", elf.data)
    refused(tests, "a compressed core", "decompress", b"\x28\xb5\x2f\xfd" + good)
    refused(tests, "program headers cut off", "truncated", good[:100])
    refused(tests, "notes cut off", "PT_NOTE (program header 0", good[:64 + 56 * (1 + len(elf.loads)) + 40])
    refused(tests, "no memory", "no memory in them", Core().bytes())
    tests.fails("no such file", 3, "cannot open", "--report", "--core=" + tests.path("none"))
    tests.fails("a folder", 1, "not a regular file", "--report", "--core=" + tests.work)
    core = core_with(elf)
    core.add(core.segments[0][0] + 16, 4096, b"")
    refused(tests, "segments that overlap", "two segments have the address", core.bytes())
    core = core_with(elf)
    core.add((1 << 64) - 4096, 8192, b"")
    refused(tests, "a segment beyond the last address", "not possible", core.bytes())
    core = core_with(elf)
    core.add(BASE - GIB, 16, bytes(17))
    refused(tests, "more bytes in the file than in memory", "not possible", core.bytes())


def notes(tests, elf):
    def lie(name, words, change):
        def changed(core):
            desc = bytearray(core.file_note())
            return core.note(NT_FILE, bytes(change(desc)))
        refused(tests, name, words, core_with(elf, changed).bytes())

    lie("NT_FILE of no bytes", "do not fit", lambda desc: b"")
    lie("NT_FILE with a large count", "do not fit", lambda desc: struct.pack("<Q", 1 << 60) + desc[8:])
    lie("NT_FILE without names", "in the middle of a name", lambda desc: desc[:16 + 24 * len(elf.loads)])
    lie("NT_FILE with a name without end", "in the middle of a name", lambda desc: desc[:-1])
    lie("a mapping that ends before it starts", "mapping 0",
        lambda desc: desc[:16] + desc[24:32] + desc[16:24] + desc[32:])
    lie("a mapping behind all files", "a mapping must have bytes", lambda desc: desc[:32] + b"\xff" * 8 + desc[40:])
    lie("a mapping twice", "two mappings",
        lambda desc: desc[:40] + desc[16:40] + desc[64:])
    note = core_with(elf).file_note()
    refused(tests, "a note longer than all notes", "reaches past the end", core_with(
        elf, lambda core: struct.pack("<III", 5, 1 << 30, NT_FILE) + b"CORE\0\0\0\0" + note).bytes())
    core = core_with(elf)
    core.auxv.append((33, BASE + 16))
    refused(tests, "[vdso] in the middle of something", "has no code of this name", core.bytes(), "--vdso", status=3)


def images(tests, elf):
    """The ELF file in memory lies."""
    def lie(name, words, *changes):
        core = core_with(elf)
        for offset, width, value in changes:
            data = bytearray(core.segments[0][2])
            data[offset:offset + len(width)] = value.to_bytes(len(width), "little")
            core.segments[0][2] = bytes(data)
        with open(tests.path("core"), "wb") as file:
            file.write(core.bytes())
        tests.fails(name, 1, words, "--report", "--core=" + tests.path("core"), "/a/program")

    core = core_of(elf).image(elf, BASE, "/a/program", 0)
    refused(tests, "no ELF header", f"has no bytes at 0x{BASE:x}, where the ELF header was; name the file itself, or set bit 4 of",
            core.bytes(), "/a/program")
    index = next(i for i, phdr in enumerate(elf.phdrs()) if phdr[0] == 1 and phdr[1] & 1)
    code = elf.phoff + 56 * index
    lie("program headers that are not there", "cannot be read", (32, b"8bytes..", 1 << 40))
    lie("program headers beyond the last address", "cannot be read", (32, b"8bytes..", (1 << 64) - 64))
    lie("too many program headers", "more than Linux loads", (56, b"2b", 0xfffe))
    lie("program headers of another size", "not 56", (54, b"2b", 55))
    last = elf.phoff + 56 * max(i for i, phdr in enumerate(elf.phdrs()) if phdr[0] == 1)
    lie("a segment without its memory", "--sysroot names the folder", (last + 32, b"8bytes..", 4 * GIB),
        (last + 40, b"8bytes..", 4 * GIB))
    lie("more in the file than in memory", "not possible", (code + 32, b"8bytes..", 4 * GIB))
    lie("a segment beyond the last address", "not possible", (code + 40, b"8bytes..", (1 << 64) - 1))
    lie("segments that do not ascend", "not behind the end", (code + 16, b"8bytes..", 0))
    lie("a file of an Exbibyte", "ask for a file", (code + 8, b"8bytes..", 1 << 60))
    lie("another machine", "no ABI", (18, b"2b", 8))
    lie("an object", "not what a loader maps", (16, b"2b", 1))


def names(tests, elf):
    """A name must not reach the terminal as it is."""
    evil = "/a/\x1b[31m\n::error::x\r"
    for pages in (None, 1):
        path = core_of(elf).image(elf, BASE, evil, pages).write(tests.path("core"))
        for command in (["--report"], ["--report=json"], ["--dump"], ["--check-code"], ["-v", "--report"]):
            said = run(tests.tool, *command, "--core=" + path)
            text = said.stdout + said.stderr
            check(not any(character < " " and character != "\n" for character in text) and
                  "\n::error" not in text and said.returncode <= 6, f"{command[0]}: a name of control characters, {pages}",
                  text)


def limited(tests, *args):
    """Exit status, message and the most memory of a run."""
    said = subprocess.run([sys.executable, "-c", """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(done.returncode)
""", tests.tool, *args], capture_output=True, text=True, check=False)
    return said.returncode, said.stderr, int(said.stdout) * 1024


def large(tests, elf):
    """Memory that is not in the core, or that is in it as a hole of the file."""
    core = core_with(elf)
    core.add(BASE + 64 * GIB, 4 * GIB, b"")
    core.write(tests.path("core"))
    status, text, used = limited(tests, "--report", "--core=" + tests.path("core"))
    check(status == 0 and used < GIB // 8, "4 GiB that the core has not", f"{status} {text} {used}")
    hole = GIB // 4
    # The code's segment is the last one, and is large.
    data = bytearray(elf.data)
    index = max(i for i, phdr in enumerate(elf.phdrs()) if phdr[0] == 1)
    at = elf.phoff + 56 * index
    _, _, offset, vaddr, _, _, _, _ = elf.phdrs()[index]
    struct.pack_into("<IIQQQQQ", data, at, 1, 5, offset, vaddr, vaddr, hole, hole)
    core = Core().image(Elf(bytes(data)), BASE, "/a/program")
    core.segments[-1][1] = hole + 4096
    whole = bytearray(core.bytes())
    struct.pack_into("<Q", whole, 64 + 56 * len(core.segments) + 32, hole + 4096)
    with open(tests.path("sparse"), "wb") as file:
        file.write(whole)
        file.truncate(len(whole) + hole)
    status, text, used = limited(tests, "--dump", "--core=" + tests.path("sparse"), "/a/program")
    # The pages of the core count, which are the file's, and no others.
    check(status == 6 and used < hole + GIB // 8, "zeros that are in the core take no memory", f"{status} {text} {used}")


def claims(pages, size):
    """The first pages of an image whose one segment has size bytes."""
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 1, 64, 0, 0)
    return (head + struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, size, size, 4096)).ljust(4096 * pages, b"\1")


def shared(tests):
    """Small cores whose images have many bytes: time and memory must not grow with the product."""
    many, block = 1000, 256 * 1024
    core = Core().add(BASE, 4096, claims(1, 4096 + many * block), 5)
    for i in range(many):
        core.add(BASE + 4096 + i * block, block, bytes([1]) * block if i == 0 else b"", 5)
    data = bytearray(core.bytes())
    first = struct.unpack_from("<Q", data, 64 + 56 * 2 + 8)[0]
    for i in range(many):  # all segments have the bytes of the first one
        struct.pack_into("<Q", data, 64 + 56 * (2 + i) + 8, first)
        struct.pack_into("<Q", data, 64 + 56 * (2 + i) + 32, block)
    with open(tests.path("core"), "wb") as file:
        file.write(data)
    status, text, used = limited(tests, "--report", "--core=" + tests.path("core"))
    check(status == 1 and "several have the same bytes" in text and text.count("\n") == 1 and used < GIB // 8,
          f"{many} segments of a core with the same bytes", f"{len(data)} bytes: {status} {text} {used}")
    core = Core()
    for i in range(many):
        core.add(BASE + i * 4096, 4096, claims(1, (many - i) * 4096), 5)
    refused(tests, "images over each other", "lie over each other", core.bytes())
    core = Core()
    for i in range(many):
        core.add(BASE + i * 4096, 4096, claims(1, 4096), 5)
    with open(tests.path("core"), "wb") as file:
        file.write(core.bytes())
    said = run(tests.tool, "--report", "--core=" + tests.path("core"))
    check(said.stderr.count("no CFI") == many or said.returncode == 6, "images beside each other",
          f"{said.returncode} {said.stderr[:300]}")


def any_damage(tests, elf):
    """Cut off anywhere, and with random bytes: a status, at most one line for each image."""
    good = core_with(elf).bytes()
    draw = random.Random(1)
    wrong = []
    cuts = sorted({draw.randrange(len(good)) for _ in range(60)} | set(range(64, 600, 40)))
    for kind, many in (("cut off", cuts), ("random bytes", range(150))):
        for number in many:
            data = bytearray(good[:number] if kind == "cut off" else good)
            for _ in range(0 if kind == "cut off" else draw.choice((1, 4, 16))):
                data[draw.randrange(4096 + 1024)] = draw.randrange(256)
            with open(tests.path("core"), "wb") as file:
                file.write(data)
            said = run(tests.tool, "--report", "--core=" + tests.path("core"))
            if not 0 <= said.returncode <= 6 or (said.returncode and not said.stderr.startswith("eh2sframe: ")):
                wrong.append(f"{kind} {number}: {said.returncode} {said.stderr}")
        check(not wrong, f"{kind}: {len(many)} cores", "\n".join(wrong))


def main():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as work:
        tests = Tests(os.path.abspath(sys.argv[1]), os.path.realpath(work))
        elf = Elf(read(sys.argv[2]))
        check(list(tests.report("--core=" + core_with(elf).write(tests.path("core")))) == ["/a/program"],
              "the core is good before it is damaged")
        headers(tests, elf)
        notes(tests, elf)
        images(tests, elf)
        names(tests, elf)
        large(tests, elf)
        shared(tests)
        any_damage(tests, elf)
    plan()


main()
