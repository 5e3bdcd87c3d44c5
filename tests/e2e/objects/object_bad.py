#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Objects that are no good, one field changed at a time: status 1, one line that names the place,
nothing written. What is only gone is passed over. And what verify finds in damaged .sframe. TAP.

    object_bad.py EH2SFRAME SOURCE-FOLDER
"""
import os
import struct
import sys
import tempfile

from elf_text import functions
from tap import check, must, plan, run

tool, folder = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])

RELA, REL, CREL, SYMTAB, GROUP = 4, 9, 0x40000014, 2, 17
# Of a section header: offset and width.
FIELDS = {"name": (0, 4), "type": (4, 4), "flags": (8, 8), "offset": (24, 8), "size": (32, 8),
          "link": (40, 4), "info": (44, 4), "entsize": (56, 8)}


class Object:
    """An object whose fields can be set."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = bytearray(file.read())
        self.shoff, = struct.unpack_from("<Q", self.bytes, 40)
        self.n, names = struct.unpack_from("<HH", self.bytes, 60)
        strings = self.get(names, "offset")
        self.names = []
        for i in range(self.n):
            at = strings + self.get(i, "name")
            self.names.append(self.bytes[at:self.bytes.index(0, at)].decode())

    def get(self, section, field):
        off, width = FIELDS[field]
        return int.from_bytes(self.bytes[self.shoff + 64 * section + off:][:width], "little")

    def set(self, section, **values):
        for field, value in values.items():
            off, width = FIELDS[field]
            self.put(self.shoff + 64 * section + off, value, width)
        return self

    def put(self, at, value, width):
        self.bytes[at:at + width] = value.to_bytes(width, "little")
        return self

    def find(self, name):
        return self.names.index(name)

    def of_type(self, kind):
        return next(i for i in range(self.n) if self.get(i, "type") == kind)

    def rela(self, i, section=".rela.eh_frame", off=None, kind=None, symbol=None, addend=None):
        at = self.get(self.find(section), "offset") + 24 * i
        for value, where, width in ((off, 0, 8), (kind, 8, 4), (symbol, 12, 4), (addend, 16, 8)):
            if value is not None:
                self.put(at + where, value, width)
        return self

    def symbols(self):
        """[(index, offset in the file, binding, type, section)]"""
        table = self.of_type(SYMTAB)
        at = self.get(table, "offset")
        found = []
        for i in range(self.get(table, "size") // 24):
            info, _, section = struct.unpack_from("<BBH", self.bytes, at + 24 * i + 4)
            found.append((i, at + 24 * i, info >> 4, info & 15, section))
        return found

    def symbol(self, wanted):
        return next(i for i, *rest in self.symbols() if i and wanted(*rest))

    def write(self, path):
        with open(path, "wb") as file:
            file.write(self.bytes)


def refused(name, thing, words, *options, status=1):
    if isinstance(thing, Object):
        thing.write("bad.o")
    if os.path.exists("out.o"):
        os.unlink("out.o")
    made = run(tool, *(options or ["--format=1"]), "bad.o", "out.o")
    good = made.returncode == status and made.stderr.count("\n") == 1 and \
        made.stderr.startswith("eh2sframe: bad.o: ") and not made.stdout and \
        all(word in made.stderr for word in words) and not os.path.exists("out.o")
    check(good, name, f"{made.returncode} {made.stdout}{made.stderr}")
    if status == 1:
        for verb in ("report", "verify", "dump", "check"):
            made = run(tool, verb, "bad.o")
            if made.returncode > 6 or made.stderr.count("\n") > 1:
                check(False, f"{name}: {verb}", made.stderr)


def check_relocations():
    def base():
        return Object("base.o")

    undefined = base().symbol(lambda at, bind, kind, section: section == 0)
    absolute = base().symbol(lambda at, bind, kind, section: section == 0xfff1)
    cfi, rela = base().find(".eh_frame"), base().find(".rela.eh_frame")
    text = base().find(".rela.text._Z5otheri")
    where = ".rela.eh_frame, relocation 2"
    refused("a symbol that does not exist", base().rela(2, symbol=4000),
            [where, "symbol 4000 does not exist", ".eh_frame+0x"])
    refused("a place outside the section", base().rela(2, off=1 << 33),
            [where, "outside the section", ".eh_frame+0x200000000"])
    refused("a place that is half outside", base().rela(2, off=base().get(cfi, "size") - 2),
            [where, "outside the section"])
    refused("a type that CFI has no use for", base().rela(2, kind=9), [where, "type 9", "x86-64"])
    refused("an undefined symbol", base().rela(0, symbol=undefined),
            ["relocation 0", "undefined symbol", ".eh_frame+0x"])
    refused("an absolute symbol", base().rela(0, symbol=absolute),
            ["relocation 0", "absolute symbol", ".eh_frame+0x"])
    refused("beyond its section", base().rela(0, addend=1 << 20),
            ["relocation 0", "not inside section", ".text"])
    refused("into the next section", base().rela(0, addend=0x100),
            ["relocation 0", "not inside section"])
    first = struct.unpack_from("<I", base().bytes, base().get(rela, "offset") + 12)[0]
    code = next(section for i, _, _, _, section in base().symbols() if i == first)
    refused("into zero-filled memory", base().set(code, type=8), ["relocation 0", "not inside section"])
    refused("too far for 32 bits", base().rela(0, addend=1 << 40), ["relocation 0", "32 bits"])
    # The instructions are the last bytes of a record.
    end = struct.unpack_from("<I", base().bytes, base().get(cfi, "offset"))[0] + 4
    refused("into the instructions of a CIE", base().rela(2, off=end - 4), [where, "instructions of the record"])
    refused("twice for one place", base().rela(3, off=struct.unpack_from(
        "<Q", base().bytes, base().get(rela, "offset"))[0]), ["same place"])
    for value, words in ((dict(entsize=16), ["24-byte"]), (dict(size=25), ["24-byte"]),
                         (dict(offset=1 << 40), ["past the end of the file"]),
                         (dict(size=24 << 32), ["past the end of the file"]),
                         (dict(type=REL), ["SHT_REL"]), (dict(type=CREL), ["SHT_CREL"]),
                         (dict(link=0), ["not the symbol table"]),
                         (dict(link=cfi), ["not the symbol table"])):
        refused(f"a table with {value}", base().set(rela, **value), [".rela.eh_frame", *words])
    refused("two tables", base().set(text, info=cfi), ["are both relocations of .eh_frame"])
    refused("tables that overlap", base().set(text, offset=0, size=base().shoff // 24 * 24,
                                              info=base().find(".symtab")).set(
        rela, offset=0, size=len(base().bytes) // 24 * 24), [".rela.eh_frame"])


def check_code():
    """Relocations of code, which only eh2sframe check reads."""
    rela = ".rela.text._Z5otheri"
    code = Object("base.o").find(".text._Z5otheri")
    for name, thing, words in (
            ("code: a symbol that does not exist", Object("base.o").rela(0, rela, symbol=4000), ["symbol 4000"]),
            ("code: a place outside the section", Object("base.o").rela(0, rela, off=1 << 33), ["0x200000000"]),
            ("code: a table that is none", Object("base.o").set(Object("base.o").find(rela), entsize=16), ["24-byte"])):
        thing.write("bad.o")
        made = run(tool, "check", "bad.o")
        check(made.returncode == 1 and made.stderr.count("\n") == 1 and not made.stdout and
              all(word in made.stderr for word in [rela, *words]), name, made.stdout + made.stderr)
    # A branch that does not reach leads nowhere, and a type that is not known says nothing.
    for name, thing in (("code: too far", Object("base.o").rela(0, rela, addend=1 << 40)),
                        ("code: another type", Object("base.o").rela(0, rela, kind=200)),
                        ("code: writable", Object("base.o").set(code, flags=7))):
        thing.write("bad.o")
        made = run(tool, "check", "bad.o")
        check(made.returncode == 0 and not made.stderr, name, made.stdout + made.stderr)


def check_tables():
    def base():
        return Object("base.o")

    symtab = base().of_type(SYMTAB)
    refused("no symbol table", base().set(symtab, type=1), ["symbol table"])
    refused("two symbol tables", base().set(base().find(".comment"), type=SYMTAB),
            ["are both symbol tables"])
    refused("symbols outside the file", base().set(symtab, offset=1 << 50), ["symbol table"])
    refused("symbols of another size", base().set(symtab, entsize=16), ["symbol table", "24"])
    refused("no symbols", base().set(symtab, size=0), ["signature"])
    text = base().find(".text")
    at = next(at for _, at, _, kind, where in base().symbols() if kind == 3 and where not in (0, text))
    refused("a symbol in no section", base().put(at + 6, 0xfe00, 2), ["section 65024"])
    # Its bytes would be what is new.
    refused("a section behind the file", base().set(base().find(".comment"), offset=len(base().bytes)),
            ["(.comment, 0x", "reaches past the end of the file"])
    refused("CFI outside the file", base().set(base().find(".eh_frame"), offset=1 << 50),
            [".eh_frame", "past the end of the file"])
    group = next(i for i in range(base().n)
                 if base().get(i, "type") == GROUP and base().get(i, "size") >= 12)
    at = base().get(group, "offset")
    for name, thing, words in (
            ("a group without a signature", base().set(group, info=0), ["no signature"]),
            ("a group with a signature that is not there", base().set(group, info=9999),
             ["no signature", "9999"]),
            ("a group with a member that is not there", base().put(at + 4, 9999, 4), ["9999"]),
            ("a group with itself not, but null for a member", base().put(at + 4, 0, 4), ["section 0"]),
            ("a member twice", base().put(at + 8, int.from_bytes(base().bytes[at + 4:at + 8], "little"),
                                          4), ["two groups"]),
            ("a group of three bytes", base().set(group, size=3), ["not a list of sections"]),
            ("a group outside the file", base().set(group, offset=1 << 50), ["not a list of sections"])):
        refused(name, thing, [f"the group in section {group}" if "two" not in words[0] else "section",
                              *words])
    # All local symbols of one section, so that there is none to name.
    thing = base()
    text = thing.find(".text._Z5otheri")
    for _, at, bind, kind, section in thing.symbols():
        if section == text and bind == 0:
            thing.put(at + 4, 0x10 | kind, 1)
    refused("no symbol that could be named", thing, [f"section {text} (.text._Z5otheri)", "ld -r"])


def check_options():
    Object("base.o").write("bad.o")
    refused("no version", None, ["relocatable", "--format=1"], "-q", status=2)
    for option in ("--optimize=size", "--optimize=share", "--method=grow"):
        refused(option, None, [option.split("=", maxsplit=1)[0], "linked files"], "--format=1", option,
                status=2)
    refused("section", None, ["relocations"], "section", "--format=1")
    made = run(tool, "--format=1", "bad.o", "with.o")
    check(made.returncode == 0, "and it is good", made.stderr)
    made = run(tool, "verify", "--cfi=base.o", "with.o")
    check(made.returncode == 1 and "--cfi" in made.stderr, "--cfi", made.stderr)


def check_gone():
    """A relocation that ld -r has emptied, and one that gold -r has left out."""
    thing = Object("base.o").rela(0, kind=0, symbol=0, addend=0)
    thing.write("bad.o")
    whole, less = run(tool, "report", "base.o").stdout, run(tool, "report", "bad.o").stdout
    n = int(whole.split(" with CFI")[0].split()[-1])
    check(f" {n - 1} with CFI" in less and "record: discarded    1" in less, "a discarded function", less)
    made = run(tool, "--format=1", "bad.o", "out.o")
    check(made.returncode == 0 and run(tool, "verify", "out.o").returncode == 0,
          "a discarded function: converted without it", made.stderr)
    os.unlink("out.o")


def check_whole():
    """What can be said in part is left out whole, and counted under its first reason."""
    made = run("gcc", "-O1", "-mstackrealign", "-c", "-o", "part.o",
               os.path.join(folder, "../convert/gsframe_prog.c"))
    check(made.returncode == 0, "compiled", made.stderr)
    size = next(size for _, size, name in functions("part.o") if name == "main")
    for version, whole in (("1", False), ("2", False), ("3", True)):
        made = run(tool, "-v", f"--format={version}", "part.o", "whole.o")
        gaps = [int(line.split("(")[1].split()[0]) for line in made.stdout.splitlines()
                if line.endswith(" main")]
        check(made.returncode == 0 and sum(gaps) == (0 if whole else size),
              f"v{version}: {sum(gaps)} of {size} bytes of a function are left out", made.stdout)
        proof = run(tool, "verify", "-v", "whole.o")
        check(proof.returncode == 0 and ("<main>" in proof.stdout) == (not whole),
              f"v{version}: and said to be missing" if not whole else f"v{version}: none missing",
              proof.stdout)
    made = run("gcc", "-c", "-Wa,--defsym,overlap=1", "-o", "overlap.o",
               os.path.join(folder, "../../vectors/refuse/refusals.S"))
    made = run(tool, "report", "-v", "overlap.o")
    check("2 with CFI, 0 with rows, 2 with gaps" in made.stdout and "covered (0.00%)" in made.stdout,
          "two FDEs for the same code: neither is taken", made.stdout)


def check_sframe():
    def base():
        return Object("with.o")

    def verify(name, thing, status, *words):
        thing.write("bad.o")
        made = run(tool, "verify", "bad.o")
        check(made.returncode == status and all(word in made.stdout + made.stderr for word in words),
              f"verify: {name}", f"{made.returncode} {made.stdout}{made.stderr}")

    rela, sframe = base().find(".rela.sframe"), base().find(".sframe")
    at = base().get(rela, "offset")
    first, second = bytes(base().bytes[at:at + 24]), bytes(base().bytes[at + 24:at + 48])
    verify("as it is", base(), 0, "0 differences")
    thing = base()
    thing.bytes[at:at + 48] = second + first
    verify("relocations out of order", thing, 1, "relocation 0", "function 0")
    thing = base()
    thing.bytes[at + 8:at + 24], thing.bytes[at + 32:at + 48] = second[8:], first[8:]
    # What is longer than the other then reaches into its neighbour; which is, the compiler decides.
    thing.write("bad.o")
    made = run(tool, "verify", "bad.o")
    check((made.returncode, "difference" in made.stdout) == (4, True) or
          (made.returncode, "func-overlap" in made.stderr) == (1, True), "verify: each other's places",
          f"{made.returncode} {made.stdout}{made.stderr}")
    verify("one relocation short", base().set(rela, size=base().get(rela, "size") - 24), 1,
           "functions and", "relocations")
    verify("none at all", base().set(rela, info=0), 1, "0 relocations")
    verify("an undefined function", base().rela(0, ".rela.sframe", symbol=base().symbol(
        lambda at, bind, kind, section: section == 0)), 1, "relocation 0", "not in a section")
    size = base().get(sframe, "offset") + 32
    verify("a function too long", base().put(size, base().bytes[size] + 1, 4), 4, "a row, but")
    # Each section has a header of its own. The second one's place is told, and what is to be done helps.
    with open("two.cc", "w", encoding="utf-8") as file:
        file.write("inline int shared(int n) { return n + 1; } int user(int n) { return shared(n); }")
    must("g++", "-c", "two.cc")
    must(tool, "-q", "--format=2", "--object-sections=group", "two.o", "both.o")
    thing = Object("both.o")
    second = [i for i, name in enumerate(thing.names) if name == ".sframe"][1]
    verify("two kinds of sections", thing.put(thing.get(second, "offset") + 3, 0, 1), 1,
           f": section {second}: .sframe+0x3: flags 0, but 4 in the first .sframe section; "
           "run objcopy --remove-section .sframe FILE NEW, then eh2sframe NEW OUT")
    made = [run("objcopy", "--remove-section", ".sframe", "bad.o", "new.o"), run(tool, "-q", "--format=2", "new.o", "again.o"),
            run(tool, "verify", "again.o")]
    check(all(one.returncode == 0 for one in made), "two kinds of sections: removed, and made again", str(made))
    # Sections of GNU as are not ours to replace.
    run("g++", "-O2", "-ffunction-sections", "-Wa,--gsframe", "-c", "-o", "bad.o",
        os.path.join(folder, "object_other.cc"))
    refused("another producer's section", None, ["has .sframe already"], "--format=1", status=6)
    refused("another producer's section, --refresh", None, ["another producer", "objcopy"],
            "--format=1", "--refresh")


def main():
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        made = run("g++", "-O2", "-ffunction-sections", "-c", "-o", "base.o",
                   os.path.join(folder, "object_other.cc"))
        check(made.returncode == 0, "compiled", made.stderr)
        check_relocations()
        check_code()
        check_tables()
        check_options()
        check_gone()
        check_whole()
        check_sframe()
        os.chdir("/")
    plan()


main()
