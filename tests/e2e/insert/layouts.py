#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Layouts that no linker of ours makes, or few files have: what a conversion gives runs and is proven, comes back byte
for byte, or is refused with the right words. TAP.

    layouts.py EH2SFRAME
"""
import os
import struct
import sys
import tempfile

from tap import check, must, plan, read, run, skip

TOOL = os.path.abspath(sys.argv[1])
HEADER, SECTION = "<IIQQQQQQ", "<IIQQQQIIQQ"
LOAD, PHDR, SFRAME, PAGE = 1, 6, 0x6474E554, 4096


class Elf:
    """A file of this machine: its bytes, program headers and section headers."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = bytearray(file.read())
        self.phoff, self.shoff = struct.unpack_from("<QQ", self.bytes, 32)
        n_phdrs, _, n_sections, self.names = struct.unpack_from("<HHHH", self.bytes, 56)
        self.phdrs = [list(struct.unpack_from(HEADER, self.bytes, self.phoff + 56 * i)) for i in range(n_phdrs)]
        self.sections = [list(struct.unpack_from(SECTION, self.bytes, self.shoff + 64 * i)) for i in range(n_sections)]

    def write(self, path):
        """With the tables where they are."""
        struct.pack_into("<Q", self.bytes, 32, self.phoff)
        struct.pack_into("<H", self.bytes, 56, len(self.phdrs))
        for i, phdr in enumerate(self.phdrs):
            struct.pack_into(HEADER, self.bytes, self.phoff + 56 * i, *phdr)
        for i, section in enumerate(self.sections):
            struct.pack_into(SECTION, self.bytes, self.shoff + 64 * i, *section)
        write(path, self.bytes)

    def bare(self):
        """Without section headers, and what stands behind the segments."""
        self.bytes[40:48], self.bytes[58:64], self.sections = bytes(8), bytes(6), []
        self.bytes = self.bytes[:max(phdr[2] + phdr[5] for phdr in self.phdrs if phdr[0] == LOAD)]

    def table_at_end(self, n, before_page_end=None):
        """Moves the program headers to a last segment, where they are n. They end so far before the end of a page."""
        loads = [phdr for phdr in self.phdrs if phdr[0] == LOAD]
        bias = loads[0][3] - loads[0][2]
        end = max(phdr[3] + phdr[6] for phdr in loads)
        off = max((len(self.bytes) + PAGE - 1) // PAGE * PAGE, (end + PAGE - 1) // PAGE * PAGE - bias)
        size = n * 56 if before_page_end is None else PAGE - before_page_end
        self.phoff = off + size - n * 56
        for phdr in self.phdrs:
            if phdr[0] == PHDR:
                phdr[2:7] = [self.phoff, self.phoff + bias, self.phoff + bias, n * 56, n * 56]
        self.phdrs.insert(1 + max(i for i, phdr in enumerate(self.phdrs) if phdr[0] == LOAD),
                          [LOAD, 4, off, off + bias, off + bias, size, size, PAGE])
        # A type that means nothing to anyone.
        self.phdrs += [[0x65041580, 4, 0, 0, 0, 0, 0, 8] for _ in range(n - len(self.phdrs))]
        self.bytes += bytes(off + size + 2 * PAGE - len(self.bytes))


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, 0o755)


def works(name, why, *options, says=None):
    """A conversion, by a method; the program runs as before, and comes back."""
    before = run("./" + name)
    made = run(TOOL, "-q", *options, name, "out")
    if not check(made.returncode == 0, f"{why}: is converted", made.stderr):
        return
    after = run("./out")
    check(before.returncode == after.returncode == 0 and (says or str)(after.stdout) == (says or str)(before.stdout),
          f"{why}: runs as before", f"{before}\n{after}")
    proven = run(TOOL, "verify", "out")
    check(proven.returncode == 0, f"{why}: is proven", proven.stdout + proven.stderr)
    back = run(TOOL, "remove", "-q", "out", "back")
    check(back.returncode == 0 and read("back") == read(name), f"{why}: comes back", back.stderr)
    for path in ("out", "back"):
        if os.path.exists(path):
            os.unlink(path)


def refused(name, why, words, *options):
    made = run(TOOL, "-q", *options, name, "out")
    check(made.returncode == 1 and words in made.stderr and made.stderr.count("\n") == 1 and not os.path.exists("out"),
          f"{why}: is refused", f"{made.returncode}\n{made.stderr}")


def program(name, text, *options):
    write(name + ".c", text.encode())
    must("gcc", "-O1", "-o", name, name + ".c", *options)
    return name


# A program that prints the segments that it has by its own program headers, and what is there. A PT_NOTE may make room.
SEES = """#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
static int see(struct dl_phdr_info *info, size_t size, void *unused)
{
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == 0x6474e554)
			printf("sframe %x\\n", *(const unsigned short *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
		else if (info->dlpi_phdr[i].p_type != PT_LOAD && info->dlpi_phdr[i].p_type != PT_NOTE)
			printf("%x\\n", info->dlpi_phdr[i].p_type);
	return unused != NULL || size == 0;
}
int main(void) { return dl_iterate_phdr(see, NULL); }
"""
# A program that reads its own build-id by a symbol of its linker script.
SCRIPT = "SECTIONS { .note.gnu.build-id : { own = .; KEEP(*(.note.gnu.build-id)) } } INSERT BEFORE .gnu.hash;"
OWN = """#include <stdio.h>
extern const unsigned char own[];
struct { const char *name; const unsigned char *note; } info = {"own", own};
int main(void)
{
	for (int i = 0; i < 36; i++)
		printf("%02x", info.note[i]);
	return puts("") < 0;
}
"""
HELLO = '#include <stdio.h>\nint main(void) { return puts("hello") < 0; }\n'


def interpreter_inside():
    """The name of a program's interpreter is in what is said to be an old section: nothing may be written over it."""
    program("inside", HELLO + '__asm__(".section .sfrane,\\"a\\",@progbits\\n.p2align 3\\n"\n".ascii \\"/lib64/ld-linux-x86-64.so.2\\"\\n'
            '.zero 6000\\n.text\\n");\n')
    elf = Elf("inside")
    elf.bytes = bytearray(bytes(elf.bytes).replace(b".sfrane", b".sframe"))
    old = next(section for section in elf.sections if section[1] == 1 and section[5] > 6000 and section[2] == 2)
    for phdr in elf.phdrs:
        if phdr[0] == 3:
            phdr[2:7] = [old[4], old[3], old[3], 28, 28]
    note = next(phdr for phdr in elf.phdrs if phdr[0] == 4)
    note[:] = [SFRAME, 4, old[4], old[3], old[3], old[5], old[5], 8]
    elf.write("inside")
    works("inside", "an interpreter's name in an old section", "--refresh")


def part_of_section():
    """A damaged program header has a part of a section that would move."""
    program("part", HELLO)
    for kind in (3, 4):
        elf = Elf("part")
        damaged = next(phdr for phdr in elf.phdrs if phdr[0] == kind)
        damaged[5] = damaged[6] = 1
        elf.write("damaged")
        sound("damaged", f"1 byte of type {kind}")


def without_sframe(text):
    """What a program sees must have the section, once and with its magic; and else what it saw before."""
    lines = text.split("\n")
    found = [line for line in lines if line.startswith("sframe")]
    return "wrong" if found not in ([], ["sframe dee2"]) else sorted(line for line in lines if line not in found)


def loaders():
    """Linux before 6.7 starts no program whose interpreter has a segment above its .bss."""
    found = [path for path in ("/lib64/ld-linux-x86-64.so.2", "/usr/lib/x86_64-linux-musl/libc.so",
                               "/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1",
                               "/usr/s390x-linux-gnu/lib/ld64.so.1") if os.path.exists(path)]
    for path in found:
        refused(path, path, "program interpreter")
        made = run(TOOL, "--method=grow", path, "out")
        check(made.returncode == 0 and "Linux before 6.7" in made.stderr, f"{path}, grow: a line tells of old kernels",
              f"{made.returncode}\n{made.stderr}")
        proven = run(TOOL, "verify", "out")
        check(proven.returncode == 0, f"{path}, grow: is proven", proven.stdout + proven.stderr)
        skipped = run(TOOL, "tree", "convert", "--refresh", "out")
        check(skipped.returncode == 0 and "skipped (loader 1)" in skipped.stdout, f"{path}, grow: tree convert --refresh skips it",
              skipped.stdout + skipped.stderr)
        os.unlink("out")
    check(found, "there is a program interpreter")
    # A linker gives a library the start of .text as its entry point.
    program("entry.so", "int entry(int a) { return a + 1; }\n", "-shared", "-nostdlib", "-fPIC", "-Wl,-e,entry")
    elf = Elf("entry.so")
    elf.bare()
    elf.write("bare.so")
    for name in ("entry.so", "bare.so"):
        made = run(TOOL, "-q", name, "out")
        check(made.returncode == 0, f"{name}: a library with an entry point is none", made.stderr)
        os.unlink("out")


def last_tables():
    program("sees", SEES, "-static")
    for gap in (0, 8, 56, 104, 112, 200):
        elf = Elf("sees")
        elf.table_at_end(len(elf.phdrs) + 1, gap)
        name = f"last-{gap}"
        elf.write(name)
        for options in ([], ["--method=grow"]):
            works(name, f"a table in the last segment, {gap} bytes before a page's end {' '.join(options)}", *options,
                  says=without_sframe)


def long_tables():
    """A table of a program is one page at most, where Linux starts it on all releases."""
    program("sees", SEES, "-static")
    # A segment of this note alone gives up its header. Debian 13's static programs have one, those of Debian 12 do not.
    alone = any(line.split()[1:] == [".note.ABI-tag"] for line in must("readelf", "-lW", "sees").splitlines())
    for n, fits in ((71, True), (72, True), (73, alone), (74, True), (100, True)):
        elf = Elf("sees")
        elf.table_at_end(n)
        name = f"long-{n}"
        elf.write(name)
        if not fits:
            refused(name, f"{n} program headers", "longer than a page")
            continue
        if run("./" + name).returncode:
            skip(f"{n} program headers", "this kernel starts no such program")
            continue
        works(name, f"{n} program headers", says=without_sframe)
        must(TOOL, "-q", name, "out")
        check((len(Elf("out").phdrs) <= 73) == (n <= 73), f"{n} program headers: no page more than before")
        os.unlink("out")


def relative_relocations():
    """The pointer to what would move is in the data alone, where relocations are packed."""
    write("own.lds", SCRIPT.encode())
    for packed in ("pack-relative-relocs", "nopack-relative-relocs"):
        try:
            name = program(packed, OWN, "-fPIE", "-pie", "-Wl,--build-id", f"-Wl,-z,{packed}", "-Wl,-T,own.lds", "-s")
        except RuntimeError as error:
            skip(packed, str(error).replace("\n", " ")[:100])
            continue
        works(name, packed)
        made = run(TOOL, "-q", "--method=grow", name, "out")
        if made.returncode == 0:
            check(run("./out").stdout == run("./" + name).stdout, f"{packed}, grow: reads the same")
            os.unlink("out")
        else:
            check("a symbol or relocation" in made.stderr, f"{packed}, grow: says why not", made.stderr)


def counts_elsewhere():
    """Numbers that are in the first section header, as the gABI allows."""
    program("hello", HELLO)
    elf = Elf("hello")
    elf.sections[0][6] = elf.names
    struct.pack_into("<H", elf.bytes, 62, 0xFFFF)
    elf.write("names")
    works("names", "e_shstrndx is SHN_XINDEX")
    elf = Elf("hello")
    elf.sections[0][7] = len(elf.phdrs)
    elf.write("many")
    with open("many", "r+b") as file:
        file.seek(56)
        file.write(b"\xff\xff")
    # The kernel starts no such program, but it can be read.
    made = run(TOOL, "-q", "many", "out")
    if check(made.returncode == 0, "e_phnum is PN_XNUM: is converted", made.stderr):
        back = run(TOOL, "remove", "-q", "out", "back")
        check(back.returncode == 0 and read("back") == read("many"), "e_phnum is PN_XNUM: comes back", back.stderr)
        os.unlink("out")


def no_section_headers():
    """After another tool has written to the header, remove cannot, and --refresh can."""
    for method in ("slack", "grow"):
        elf = Elf("hello")
        elf.bare()
        elf.write("bare")
        works("bare", f"no section headers, {method}", f"--method={method}")
        must(TOOL, "-q", f"--method={method}", "bare", "edited")
        data = bytearray(read("edited"))
        data[8] ^= 1  # EI_ABIVERSION
        write("edited", data)
        made = run(TOOL, "remove", "-q", "edited", "out")
        check(made.returncode == 1 and "--refresh" in made.stderr, f"{method}, edited: remove names --refresh",
              made.stderr)
        for name in ("edited", "again"):
            made = run(TOOL, "-q", "--refresh", name, "again")
            check(made.returncode == 0, f"{method}, edited: --refresh of {name}", made.stderr)
        for turn in range(3):
            data = bytearray(read("again"))
            data[8] += 1
            write("again", data)
            made = run(TOOL, "-q", "--refresh", "again", "again")
            check(made.returncode == 0, f"{method}, edited again: --refresh, turn {turn}", made.stderr)
        proven = run(TOOL, "verify", "again")
        check(proven.returncode == 0, f"{method}, edited: is proven", proven.stdout + proven.stderr)
        check(run("./again").stdout == "hello\n", f"{method}, edited: runs")
        write("edited", read("again") + b"x")
        refused("edited", f"{method}: a byte behind the record", "appended payload", "--refresh")


def wide_gaps():
    if run("ld.lld", "--version").returncode:
        skip("wide gaps", "no lld")
        return
    program("wide", HELLO, "-static", "-fuse-ld=lld", "-Wl,-z,max-page-size=0x200000")
    refused("wide", "segments 2 MiB apart", "wide gaps between segments")
    program("some", "char big[2097152];\n" + HELLO, "-static", "-fuse-ld=lld")
    refused("some", "2 MiB of .bss", "a large .bss or wide gaps")


def large_alignments():
    """The new segment is aligned to a page, whatever the others are aligned to; these keep theirs."""
    program("huge", HELLO, "-fPIE", "-pie", "-Wl,-z,max-page-size=0x200000")
    write("start.c", b"void _start(void) { __builtin_trap(); }\n")
    must("gcc", "-O1", "-static", "-nostdlib", "-Wl,-Ttext-segment=0,--build-id=none,--eh-frame-hdr,-z,separate-code",
         "-o", "vast", "start.c")
    vast = Elf("vast")
    for phdr in vast.phdrs:
        if phdr[0] == LOAD:
            phdr[7] = 1 << 45
    vast.write("vast")
    # Without section headers the table moves.
    vast.bytes[40:48] = bytes(8)
    vast.bytes[58:64] = bytes(6)
    write("bare", vast.bytes[:max(phdr[2] + phdr[5] for phdr in vast.phdrs if phdr[0] == LOAD)])
    for name, align in (("huge", 1 << 21), ("vast", 1 << 45), ("bare", 1 << 45)):
        for method in ("auto", "grow"):
            what = f"{name}, segments aligned to 0x{align:x}, {method}"
            made = run(TOOL, "-q", f"--method={method}", name, "out")
            check(made.returncode == 0, f"{what}: is converted", made.stderr)
            if made.returncode:
                continue
            grown = os.path.getsize("out") - os.path.getsize(name)
            check(grown < 32768, f"{what}: grows by less than 32 KiB", f"{grown} bytes")
            loads = [phdr[7] for phdr in Elf("out").phdrs if phdr[0] == LOAD]
            new = [PAGE] if method == "grow" or name != "huge" else []
            check(loads == [align] * (len(loads) - len(new)) + new,
                  f"{what}: each segment keeps its alignment, a new one has a page's", str(loads))
            check(run(TOOL, "verify", "out").returncode == 0, f"{what}: is proven")
            if name == "huge":
                check(run("./out").stdout == "hello\n", f"{what}: runs")
            check(run(TOOL, "remove", "-q", "out", "back").returncode == 0 and read("back") == read(name),
                  f"{what}: remove gives the original back")


def sound(name, why):
    """It is converted, proven and comes back."""
    for method in ("auto", "grow"):
        made = run(TOOL, "-q", f"--method={method}", name, "out")
        check(made.returncode == 0 and not run(TOOL, "verify", "-q", "out").returncode + run(TOOL, "remove", "-q", "out", "back").returncode
              and read("back") == read(name), f"{why}, {method}: is converted", made.stderr)


def table_loads():
    """Who maps the table must map what it grows by."""
    must("gcc", "-O1", "-static", "-nostdlib", "-o", "start", "start.c", "-Wl,-z,separate-code")
    for what in ("memory behind the table's bytes", "a table that can only be executed", "two segments that map the table"):
        elf = Elf("start")
        if "executed" in what:
            elf.phdrs.insert(0, [PHDR, 4, 0, 0, 0, 0, 0, 8])
        elf.table_at_end(len(elf.phdrs) + 1)
        last = [phdr for phdr in elf.phdrs if phdr[0] == LOAD][-1]
        if "memory" in what:
            last[6] += 8
        elif "executed" in what:
            last[1], last[5], last[6] = 1, last[5] + 120, last[6] + 120
        else:
            size = elf.phoff + 56 * (len(elf.phdrs) + 1)
            elf.phdrs.insert(0, [LOAD, 4, 0, 0x3F0000, 0x3F0000, size, size, PAGE])
            last[5] = last[6] = 56 * len(elf.phdrs) + 120
        elf.write("mapped")
        sound("mapped", what)
    # The first segment ends with notes that shift into its padding, and with what is kept free behind them.
    must("gcc", "-O1", "-static-pie", "-nostdlib", "-fPIE", "-o", "spare", "start.c", "-Wl,-z,separate-code,-z,norelro,--build-id")
    elf = Elf("spare")
    next(phdr for phdr in elf.phdrs if phdr[0] == 0x6474E551)[0] = 0
    elf.write("spare")
    sound("spare", "one spare header, and padding")


def other_pages():
    """The first segment's place allows pages of 4 KiB alone, the last one has those of 64 KiB."""
    gcc = "aarch64-linux-gnu-gcc"
    if run("which", gcc).returncode:
        skip("segments of different pages", f"no {gcc}")
        return
    write("data.c", b"int data = 5;\nint get(void) { return data; }\n")
    must(gcc, "-O1", "-shared", "-nostdlib", "-o", "pages", "data.c",
         "-Wl,-z,max-page-size=0x1000,-z,norelro,-Ttext-segment=0x401000,--build-id=none")
    elf = Elf("pages")
    last = [phdr for phdr in elf.phdrs if phdr[0] == LOAD][-1]
    for phdr in elf.phdrs:
        phdr[3] = phdr[4] = phdr[3] if phdr[2] < last[2] else 0x410000 + phdr[2]
    last[7] = 1 << 16
    elf.bare()
    elf.write("pages")
    sound("pages", "segments of different pages")


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    if os.uname().machine == "x86_64":
        interpreter_inside()
    loaders()
    last_tables()
    long_tables()
    relative_relocations()
    counts_elsewhere()
    no_section_headers()
    wide_gaps()
    large_alignments()
    table_loads()
    other_pages()
    part_of_section()
    os.chdir("/")
plan()
