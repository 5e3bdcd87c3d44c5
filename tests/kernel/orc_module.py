#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Modules that are put together here, with ORC tables of each layout: the rows of each version at each place,
reports, the sources and their order, and tables that are damaged. TAP.

    orc_module.py EH2SFRAME
"""
import json
import lzma
import os
import subprocess
import sys
import tempfile

from orc_lib import HASHES, LAYOUTS, Elf, Entry, Rows, Table, compare, encode, row
from tap import check, must, plan, run, skip_all

tool = os.path.abspath(sys.argv[1])

CALL = Entry(8, 0, "sp", "", "call", False)
NOTHING = Entry(0, 0, "", "", "nothing", False)
# Functions of each section: code, with the entry that begins to hold in front of each line.
TEXT = [
    ("leaf", [(CALL, "xor %eax, %eax; ret")]),
    ("frame", [(CALL, "push %rbp"), (Entry(16, -16, "sp", "prev_sp", "call", False), "mov %rsp, %rbp"),
               (Entry(16, -16, "bp", "prev_sp", "call", False), "sub $32, %rsp; call leaf; leave"),
               (CALL, "ret")]),
    ("realign", [(CALL, "lea 8(%rsp), %r10"), (Entry(0, 0, "r10", "", "call", False), "and $-32, %rsp; push -8(%r10)"),
                 (Entry(0, 0, "r10", "", "call", False), "push %rbp; mov %rsp, %rbp"),
                 (Entry(0, 0, "r10", "bp", "call", False), "push %r10"),
                 (Entry(-8, 0, "*bp", "bp", "call", False), "call leaf; pop %r10"),
                 (Entry(0, 0, "r10", "bp", "call", False), "pop %rbp"),
                 (Entry(0, 0, "r10", "", "call", False), "lea -8(%r10), %rsp"), (CALL, "ret")]),
    ("interrupted", [(Entry(0, 0, "sp", "", "partial", True), "push $-1"),
                     (Entry(8, 0, "sp", "", "partial", True), "sub $120, %rsp"),
                     (Entry(0, 0, "sp", "", "regs", True), "call leaf; add $128, %rsp"),
                     (Entry(0, 0, "sp", "", "partial", True), "iretq")]),
    ("other_stack", [(CALL, "mov %rsp, (%rdi); mov %rdi, %rsp"),
                     (Entry(8, 0, "*sp", "", "call", False), "call leaf; pop %rsp"), (CALL, "ret")]),
    ("first", [(Entry(0, 0, "", "", "end", False), "call leaf; ud2")]),
]
INIT = [("early", [(CALL, "push %rbx"), (Entry(16, 0, "sp", "", "call", False), "call frame; pop %rbx"), (CALL, "ret")])]


def source(layout, change=None):
    """Assembler source of a module. Its tables are not sorted: .init.text comes first."""
    lines, table = [], []
    for section, functions in ((".init.text", INIT), (".text", TEXT)):
        lines.append(f'.section {section}, "ax", @progbits')
        for name, code in functions:
            lines.append(f".globl {name}\n.type {name}, @function\n{name}:")
            for number, (entry, text) in enumerate(code):
                lines.append(f".L{name}{number}: {text}")
                table.append([f".L{name}{number}", encode(layout, entry)])
            lines.append(f".size {name}, .-{name}")
            lines.append(f".Lend_{name}: .balign 16, 0x90")
            table.append([f".Lend_{name}", encode(layout, NOTHING)])
    if change:
        change(table)
    lines.append('.section .orc_unwind_ip, "a", @progbits')
    lines += [f".long {where} - ." for where, _ in table]
    lines.append('.section .orc_unwind, "a", @progbits')
    lines += [".byte " + ", ".join(map(str, data)) for _, data in table]
    versions = {"4.14": "5.15.1", "6.3": "6.3.0", "6.4": "6.4.9", "7.1": "7.1.3"}
    lines.append(f'.section .modinfo, "a", @progbits\n.asciz "license=GPL"\n.asciz "vermagic={versions[layout]}-test SMP"')
    for text in [text for text, known in HASHES.items() if known == layout and layout == "7.1"]:
        lines.append('.section .orc_header, "a", @progbits\n.byte ' + ", ".join(map(str, bytes.fromhex(text))))
    return "\n".join(lines) + "\n"


def assembled(name, text):
    with open(name + ".S", "w", encoding="ascii") as file:
        file.write(text)
    must("gcc", "-c", "-o", name + ".o", name + ".S")
    must("ld", "-r", "-o", name, name + ".o")
    return name


def check_rows(layout):
    name = assembled("module-" + layout, source(layout))
    table = Table(name, layout)
    check(sum(map(len, table.entries.values())) > 20, f"{layout}: entries of two sections", table.entries)
    for version in "123":
        out = f"{name}-{version}"
        made = run(tool, "--format=" + version, name, out)
        same, missing, different = compare(table, Rows(tool, out, table.elf))
        # No version has words for the last one. Of an object, a function that is not described whole is left out.
        without = {"*sp"} if version == "3" else {"*sp", "*bp", "r10", ""}
        said = {entry for entry in missing if entry.type == "call" and entry.sp == "sp"}
        wrong = {entry for entry in missing if entry not in said and entry.sp not in without and
                 (version == "3" or entry.type == "call")}
        check(made.returncode == 0 and same and not different and not wrong, f"{layout}, version {version}: each place",
              f"{made.stderr}{different}{wrong}")
        lint = run(tool, "--lint=all", out)
        verify = run(tool, "--verify", "--witness=libdwarf", out)
        check(verify.returncode == 0 and " 0 differences" in verify.stdout and "keeps every rule" in lint.stdout,
              f"{layout}, version {version}: proven, and read by all of its readers", verify.stdout + verify.stderr + lint.stdout)
    code = run(tool, "--check-code", name)
    check(" 0 contradict it" in code.stdout, f"{layout}: the code agrees", code.stdout + code.stderr)


def check_report(layout):
    name = "module-" + layout
    one = json.loads(must(tool, "--report=json", "-v", "--format=3", name))["files"][0]
    orc, table = one["sources"]["orc"], Table(name, layout)
    check(orc["entries"] == table.count and orc["layout"] == "Linux " + layout and orc["functions"] >= 6 and
          orc["size"] == table.count * 10 and one["sources"]["eh_frame"]["bytes"] == 0, f"{layout}: the report", orc)
    said = {piece.get("name"): piece["source"] for piece in one["other_sources"]}
    check({said.get(function) for function in ("leaf", "frame", "early")} == {"orc"}, f"{layout}: the source of each function",
          said)
    ranges = [(one["start"].split("+")[0], one["source"]) for one in one["source_ranges"]]
    check(sorted(ranges) == [(".init.text", "orc"), (".text", "orc")] and
          sum(one["functions"] for one in json.loads(must(tool, "--report=json", "--format=3", name))["files"][0]["source_ranges"]) ==
          orc["functions"], f"{layout}: ranges of one source", ranges)
    check('"source":"orc"' in must(tool, "--report=html", "--format=3", name).replace(" ", ""), f"{layout}: on the page", "")
    text = must(tool, "--report", "-v", name)
    check("of Linux " + layout in text and "  by orc " in text and "by orc: .text+0x0, " in text, f"{layout}: as text", text)
    check(run(tool, "--report", "--source=eh_frame,go,debug_frame", name).returncode == 6, f"{layout}: other sources: nothing",
          "")


def check_order():
    """A function that .debug_frame describes, too, has its rows; what it leaves out comes from ORC."""
    text = source("7.1").replace(
        ".type frame, @function\nframe:", ".type frame, @function\nframe: .cfi_startproc\n.cfi_def_cfa_offset 800").replace(
        ".size frame,", ".cfi_endproc\n.size frame,")
    name = assembled("both", ".cfi_sections .debug_frame\n" + text)
    at = {function: place for place, function in functions(name)}
    for sources, frame, leaf in (("", "sp+800", "sp+8"), ("--source=orc", "sp+8", "sp+8"),
                                 ("--source=orc,debug_frame", "sp+800", "sp+8"), ("--source=debug_frame", "sp+800", None)):
        made = run(tool, "-q", "--format=3", *([sources] if sources else []), name, "both.out")
        found = {place[0]: said[0] for place in Rows(tool, "both.out", Elf(name)).rows[Elf(name).find(".text")]
                 for said in [place[2]]}
        check(made.returncode == 0 and (found.get(at["frame"]), found.get(at["leaf"])) == (frame, leaf),
              f"order: {sources or 'all'}", f"{made.stderr}{found}")
        proof = run(tool, "--verify", "--witness=libdwarf", *([sources] if sources else []), "both.out")
        check(proof.returncode == 0, f"order: {sources or 'all'}: proven", proof.stdout + proof.stderr)
    one = json.loads(must(tool, "--report=json", "--format=3", "both"))["files"][0]["sources"]
    check(one["debug_frame"]["functions"] == 1 and one["orc"]["functions"] > 4, "order: counts", one)


def functions(path):
    """[(offset in .text, name)]"""
    elf = Elf(path)
    return [(int(line.split()[1], 16), line.split()[7]) for line in must("readelf", "-sW", path).splitlines()
            if " FUNC " in line and line.split()[6] == str(elf.find(".text"))]


def check_vmlinux():
    """A kernel: linked, with and without symbols; its version is in its text."""
    for layout, version in (("4.14", "6.1.0-1-amd64"), ("6.3", "6.3.7"), ("6.4", "6.4.1")):
        text = source(layout).replace(".section .modinfo", ".section .gone").replace("vermagic=", "gone=")
        name = assembled("vm-" + layout, text + f'.section .rodata\n.asciz "Linux version %s"\n.asciz "Linux version {version} x"\n')
        must("ld", "-o", "vmlinux", "-e", "leaf", "-Ttext=0xffffffff81000000", name)
        table = Table("vmlinux", layout)
        for stripped in (False, True):
            if stripped:
                must("strip", "vmlinux")
            made = run(tool, "-q", "--format=3", "--optimize=none", "vmlinux", "vmlinux.out")
            same, missing, different = compare(table, Rows(tool, "vmlinux.out", table.elf))
            check(made.returncode == 0 and same and not different and {entry.sp for entry in missing} == {"*sp"},
                  f"vmlinux, {layout}, {'stripped' if stripped else 'with symbols'}", f"{made.stderr}{different}{missing}")
        bare = run(tool, "--section-only", "vmlinux", "bare.sframe")
        check(bare.returncode == 0 and os.path.getsize("bare.sframe") > 100 and "of .orc_unwind" in bare.stdout,
              f"vmlinux, {layout}: the bare section", bare.stdout + bare.stderr)


def check_alone():
    """Bare bytes have no relocations, so a module's section is not given alone. The line says what to run."""
    for layout in LAYOUTS:
        name = "module-" + layout
        made = run(tool, "--section-only", "--format=3", name, "alone.sframe")
        check(made.returncode == 1 and not os.path.exists("alone.sframe") and made.stderr ==
              f"eh2sframe: {name}: --section-only: bare bytes have no place for the relocations that a relocatable object "
              "needs; eh2sframe --format=N IN OUT writes both sections\n", f"{layout}: --section-only", made.stderr)
    # What the line says gives both.
    must(tool, "-q", "--format=3", name, "both.ko")
    check(" .sframe" in must("readelf", "-SW", "both.ko") and " .rela.sframe" in must("readelf", "-SW", "both.ko"),
          "a conversion writes both sections", "")
    with lzma.open("module.ko.xz", "w") as file, open(name, "rb") as module:
        file.write(module.read())
    made = run(tool, "--format=3", "module.ko.xz", "alone.ko")
    check(made.returncode == 1 and made.stderr.count("\n") == 1 and "compressed" in made.stderr and
          not os.path.exists("alone.ko"), "a compressed module is refused by name", made.stderr)


def check_damage():
    """One line with section and offset; that source is left out, the rest goes on."""
    def place(number, where):
        return lambda table: table[number].__setitem__(0, where)

    def entry(number, data):
        return lambda table: table[number].__setitem__(1, data)

    text = source("7.1")
    known = next(text for text, layout in HASHES.items() if layout == "7.1")
    twice = source("7.1", place(7, ".Lleaf0"))
    cases = {
        "an unknown layout": (text.replace(", ".join(map(str, bytes.fromhex(known))), "1, 2, 3, 4" + ", 5" * 16),
                              "the hash 01020304..., .orc_header+0x0"),
        "a header of another size": (text.replace(str(bytes.fromhex(known)[0]) + ", ", "", 1), ".orc_header+0x0"),
        "sizes that disagree": (text + '.section .orc_unwind\n.byte 1\n', ".orc_unwind+0x"),
        "one entry more": (text + '.section .orc_unwind\n.zero 6\n', ".orc_unwind+0x"),
        "an entry without a relocation": (text + '.section .orc_unwind_ip\n.long 0\n.section .orc_unwind\n.zero 6\n',
                                          "an entry has no relocation, .orc_unwind_ip+0x"),
        "a place outside of its section": (source("7.1", place(3, ".text + 0x100000")), "leads out of the section"),
        "a place in data": (source("7.1", place(4, ".rodata")) + '.section .rodata\n.zero 64\n', "which is no code, .orc_unwind_ip+0x10"),
        "two entries for a place": (twice, "two entries of ORC are for the code at"),
        "no version": (source("4.14").replace("vermagic=", "gone="), "is not known, without .orc_header"),
        "a version without a header": (source("4.14").replace("vermagic=5.15", "vermagic=6.9"),
                                       "of Linux 6.9 without .orc_header is not known, .orc_unwind+0x0"),
        "another layout than the version says": (source("6.4").replace("vermagic=6.4", "vermagic=5.14"),
                                                 "do not have the layout of Linux 5.14, .orc_unwind+0x0"),
        "the places alone": (text.replace('.section .orc_unwind, ', '.section .elsewhere, '), ".orc_unwind_ip+0x0"),
        "entries of 5 bytes": (text.replace('.section .orc_unwind, ', '.section .elsewhere, ') +
                               '.section .orc_unwind, "a", @progbits\n.zero 5\n', ".orc_unwind+0x0"),
    }
    for about, (damaged, words) in cases.items():
        name = assembled("bad", damaged)
        made = run(tool, "--format=3", name, "bad.out")
        lines = made.stderr.splitlines()
        check(made.returncode == 1 and len(lines) == 1 and words in lines[0] and not os.path.exists("bad.out"),
              f"damage: {about}", made.stderr)
    # With another source the rest goes on.
    cfi = ".cfi_sections .eh_frame\n" + cases["an unknown layout"][0].replace("\nleaf:", "\nleaf: .cfi_startproc").replace(
        ".size leaf,", ".cfi_endproc\n.size leaf,")
    made = run(tool, "--format=3", assembled("rest", cfi), "rest.out")
    lines = [line for line in made.stderr.splitlines() if "ORC" in line]
    check(made.returncode == 0 and len(lines) == 1 and lines[0].endswith("; the ORC tables are left out"),
          "damage: the other source is used", made.stderr)
    said = json.loads(must(tool, "--report=json", "rest"))["files"][0]["sources"]
    check("unknown" in said["orc"]["left_out"] or "not known" in said["orc"]["left_out"], "damage: the report says it", said)


def check_unknown():
    """Numbers without a meaning cost their own code."""
    data = bytearray(encode("7.1", CALL))
    data[4] = 0x8f  # SP from register 15
    text = source("7.1", lambda table: [line for line in table if line[0] == ".Lleaf0"][0].__setitem__(1, bytes(data)))
    made = run(tool, "--report", "-v", assembled("numbers", text))
    check(made.returncode == 0 and "left out of orc: .text+0x0, 3 bytes: its entry counts SP from an unknown register"
          in made.stdout and "no-cfa" in made.stdout, "unknown numbers: this code is left out", made.stdout + made.stderr)
    said = json.loads(must(tool, "--report=json", "numbers"))["files"][0]["sources"]["orc"]["without_rows"]
    check([(one["start"], one["size"], one.get("name")) for one in said] == [(".text+0x0", 3, "leaf")] or
          [(one["start"], one["size"]) for one in said] == [(".text+0x0", 3)], "unknown numbers: in JSON", said)


def check_derived():
    """--source=derived is --derive among the sources."""
    with open("plain.c", "w", encoding="ascii") as file:
        file.write("extern int puts(const char *);\n__attribute__((noinline)) int f(int n) { char a[99]; a[n] = 1;"
                   " puts(a); return a[0]; }\nint main(void) { return f(3); }\n")
    must("gcc", "-O2", "-fno-asynchronous-unwind-tables", "-fno-stack-protector", "-o", "plain", "plain.c")

    def counts(*options):
        return json.loads(must(tool, "--report=json", *options, "plain"))["files"][0]

    one, both = counts("--derive"), counts("--source=eh_frame,go,debug_frame,orc,derived")
    check(one["sources"]["derived"] == both["sources"]["derived"] and one["sources"]["derived"]["functions"] >= 2 and
          one["code"]["derived"] == one["sources"]["derived"]["bytes"], "derived: as with --derive", (one, both))
    check("derived" not in counts()["sources"], "derived: not without being asked for", "")
    names = {piece.get("name"): piece["source"] for piece in counts("-v", "--derive").get("other_sources", [])}
    check(names.get("f") == "derived", "derived: the source of a function", names)
    check("by derived" in must(tool, "--report", "-v", "--derive", "plain"), "derived: as text", "")
    check("derived" in counts("--source=eh_frame", "--derive")["sources"], "derived: --derive adds it", "")
    must(tool, "-q", "--source=eh_frame,derived", "plain", "plain.out")
    proof = run(tool, "--verify", "--source=eh_frame,derived", "plain.out")
    check(proof.returncode == 0 and " 0 differences" in proof.stdout, "derived: proven", proof.stdout + proof.stderr)
    check(run(tool, "--verify", "plain.out").returncode != 0, "derived: the proof needs the source, too", "")


machine = os.uname().machine
if machine != "x86_64":
    skip_all("ORC is of x86-64: this is " + machine)
with tempfile.TemporaryDirectory(prefix="orc-") as work:
    os.chdir(work)
    assert row(CALL) == ("sp+8", "u", "f")
    for one in LAYOUTS:
        check_rows(one)
        check_report(one)
    check_order()
    check_vmlinux()
    check_alone()
    check_damage()
    check_unknown()
    check_derived()
    os.chdir("/")
plan()
