#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""eh2sframe lint --for=linux-eh-frame: each rule of gen/verify/lint_eh_frame.h is broken once, by assembly or by a byte
or two, and named with its severity and what it costs. Counts of real files are those of readelf. TAP.

    lint_eh_frame.py EH2SFRAME ROOT
"""
import json
import os
import re
import shutil
import struct
import sys
import tempfile

from elf_text import fdes, sections
from tap import check, must, plan, run, skip

tool, root = sys.argv[1], sys.argv[2]
FOR = "--for=linux-eh-frame"
WORDS = {"DROPS": "drops the module", "ENDS": "ends the stack"}
# The vector's instructions stand in the second of three functions, 6 bytes behind its start and 10 before its end.
SOURCE = """
.macro function name
\\name: .cfi_startproc
    .fill 6, 1, 0x90
.endm
.macro end
    .fill 10, 1, 0x90
    .cfi_endproc
.endm
    .text
    function first
    end
    .globl second
    function second
    {cfi}
    end
    .globl third
    function third
    end
"""
# Records by hand, for what no directive says, in a program whose linker makes no table of them.
CIE = """cie: .long 2f - 1f
1:  .long 0
    .byte 1, 'z', 'R', 0, 1, 0x78, 16, 1, {encoding}, 12, 7, 8, 0x90, 1
    .rept {pairs}
    .byte 0x2e, 0
    .endr
    .balign 4
2:
"""
FDE = """    .long 4f - 3f
3:  .long 3b - cie
    {pc}
    .byte 0
    .balign 4
4:
"""
HAND = """    .text
f:  .fill 16, 1, 0x90
    .section .eh_frame, "a", @progbits
"""
SHORT = ".long f, 16"
LINK = ["gcc", "-nostdlib", "-fuse-ld=bfd", "-Wl,--build-id=none"]


def put(section, off, fmt, *values):
    """An edit: values at off of the section."""
    return lambda data, at: struct.pack_into("<" + fmt, data, at[section].offset + off, *values)


def cie(off, *values):
    """An edit of the one CIE: length, id, version, "zR", factors, RA, data length, encoding, and 7 bytes of instructions."""
    return put(".eh_frame", off, f"{len(values)}B", *values)


def fde(off, fmt, *values):
    """An edit of the second FDE: CIE and FDEs have 24 and 20 bytes."""
    return put(".eh_frame", 24 + 20 + off, fmt, *values)


def hdr(off, fmt, *values):
    """An edit: 12 bytes are before the table, whose entries have 8."""
    return put(".eh_frame_hdr", off, fmt, *values)


def escape(*values):
    return ".cfi_escape " + ", ".join(map(str, values))


def same_start(data, at):
    table = at[".eh_frame_hdr"].offset + 12
    data[table + 8:table + 12] = data[table:table + 4]


# Rule, CFI of the second function or edits, and the bytes of code that it costs: of all functions with a bad CIE, and of
# none where the table leads to nothing.
VECTORS = [
    ("phdr", None, 0),
    ("hdr", hdr(0, "B", 2), 0),
    ("hdr", hdr(3, "B", 0x01), 0),
    ("table-size", hdr(8, "I", 4), 0),
    ("table-order", same_start, 0),
    ("table-fde", hdr(12 + 8 + 4, "i", 0), 0),
    ("table-all", hdr(8, "I", 2), 16),
    ("fde-length", ".rept 16384\n" + escape(0x2e, 0) + "\n.endr", 16),
    ("table-fde", fde(16, "B", 0x70), 0),
    ("fde-code", fde(12, "I", 0x100000), None),
    ("table-fde", fde(4, "I", 4), 0),
    ("cie-length", HAND + CIE.format(encoding=3, pairs=60) + FDE.format(pc=SHORT), 16),
    ("cie-place", HAND + FDE.format(pc=SHORT) + CIE.format(encoding=3, pairs=0), 16),
    ("encoding", HAND + CIE.format(encoding=0x50, pairs=0) + FDE.format(pc=".balign 8\n.quad f, 16"), 16),
    ("cie-version", cie(8, 3), 48),
    ("cie-string", cie(15, 2), 48),
    ("cie-letter", cie(9, *b"zRB\0\1\x78\x10\1\x1b\x0c\7\x08\x90\1\0"), 48),
    ("cie-factors", cie(13, 0x70), 48),
    ("cie-return", cie(14, 15), 48),
    ("table-fde", cie(16, 0x9b), None),
    ("signal-frame", ".cfi_signal_frame", 16),
    ("insn-count", ".rept 16384\n" + escape(0) + "\n.endr\n" + escape(0x2e, 0), 10),
    ("insn-readable", fde(17, "BBB", 0x46, 0x0f, 0x7f), 10),
    ("insn-known", escape(0x2d), 10),
    ("remember", ".cfi_remember_state\n.cfi_remember_state", 10),
    ("remember", escape(0x0b), 10),
    ("cie-restore", cie(20, 0xd0, 0), 48),
    ("cfa-form", escape(0x0f, 3, 0x76, 0x78, 6) + "\n.cfi_def_cfa_offset 8", 10),
    ("cfa-none", cie(17, 0, 0, 0), 48),
    ("expr-length", escape(0x0f, 33, *[0x96] * 33), 10),
    ("cfa-expr", escape(0x0f, 3, 0x77, 8, 6), 10),
    ("rule-expr", escape(0x16, 6, 2, 0x76, 0), 10),
    ("rule-expr", escape(0x10, 6, 2, 0x76, 8), 10),
    ("sp-rule", ".cfi_offset 7, -16", 10),
    ("restored", ".cfi_offset 16, -16\n.cfi_restore 16", 10),
]
# PLT and realigned stack, and what makes no row.
WALKED = [escape(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22),
          escape(0x0f, 3, 0x76, 0x78, 6) + "\n" + escape(0x10, 6, 2, 0x76, 0), escape(0x2e, 8), escape(0x10, 3, 2, 0x77, 8),
          ".cfi_remember_state\n.cfi_restore_state\n.cfi_remember_state\n.cfi_restore_state", ".cfi_offset 6, -16\n.cfi_restore 6"]


def table():
    """{name: severity in words} of gen/verify/lint_eh_frame.h."""
    with open(os.path.join(root, "gen/verify/lint_eh_frame.h"), encoding="ascii") as file:
        return {name: WORDS[how] for name, how in re.findall(r'X\(\w+, "([\w-]+)", (DROPS|ENDS),', file.read())}


def lint(path):
    """{rule: (severity, bytes)}, the status, and what was printed."""
    said = run(tool, "lint", FOR, path)
    rules = re.findall(r": linux-eh-frame: ([\w-]+) \(.*\): broken at \.eh_frame(?:_hdr)?\+0x[^;]*; ([a-z ]+?) in (\d+) bytes?$",
                       said.stdout, re.M)
    return {name: (how, int(size or 0)) for name, how, size in rules}, said.returncode, said.stdout + said.stderr


def make(work, cfi, *how):
    source, made = os.path.join(work, "vector.s"), os.path.join(work, "vector.so")
    with open(source, "w", encoding="ascii") as file:
        file.write(cfi if cfi.startswith(HAND) else SOURCE.replace("{cfi}", cfi))
    must(*LINK, *(["-static", "-Wl,-e,0"] if cfi.startswith(HAND) else ["-shared"]), *how, "-o", made, source)
    return made


def check_vectors(work):
    rules = table()
    for name, change, size in VECTORS:
        by_hand = isinstance(change, str) and change.startswith(HAND)
        made = make(work, change if isinstance(change, str) else "",
                    "-Wl,--no-eh-frame-hdr" if name == "phdr" or by_hand else "-Wl,--eh-frame-hdr")
        if callable(change):
            with open(made, "r+b") as file:
                data = bytearray(file.read())
                change(data, sections(made))
                file.seek(0)
                file.write(data)
        found, status, text = lint(made)
        wanted = size is None or found.get(name, (0, 0))[1] == size
        check(status == 1 and found.get(name, ("", 0))[0] == rules[name] and wanted and (size is None or set(found) <= {name, "phdr" if by_hand else "table-all"}),
              f"{name}: named, {rules[name]}", text)
        check(("but for what drops the module" in text) == any(how == WORDS["DROPS"] for how, _ in found.values()),
              f"{name}: the whole file is lost, or it is not", text)
    check({name for name, *_ in VECTORS} == set(rules), "every rule is broken once", set(rules) - {name for name, *_ in VECTORS})
    for cfi in WALKED:
        found, status, text = lint(make(work, cfi))
        check(status == 0 and "walks 100.00% of 48 bytes with CFI, 3 of 3 functions" in text, f"{cfi!r}: walked", text)


def check_s390x(work):
    """Functions of s390x save SP, and no expression will do there."""
    source, made = os.path.join(work, "s390x.s"), os.path.join(work, "s390x.so")
    for rule, cfi in ((None, ".cfi_offset 15, -40"), (None, ".cfi_register 14, 16"), ("cfa-expr", escape(0x0f, 3, 0x7b, 8, 6)),
                      ("sp-rule", ".cfi_undefined 15")):
        with open(source, "w", encoding="ascii") as file:
            file.write(".text\nf: .cfi_startproc\nnopr\nnopr\nnopr\n" + cfi + "\n.rept 5\nnopr\n.endr\n.cfi_endproc\n")
        must("s390x-linux-gnu-as", "-o", source + ".o", source)
        must("s390x-linux-gnu-ld", "-shared", "--eh-frame-hdr", "-o", made, source + ".o")
        found, status, text = lint(made)
        check((found == {rule: (WORDS["ENDS"], 10)} and status == 1) if rule else status == 0, f"s390x: {cfi}", text)


def check_real(work):
    """The sums are those that readelf counts in files of the system, and in a static program."""
    static = os.path.join(work, "static")
    with open(static + ".c", "w", encoding="ascii") as file:
        file.write("int main(void) { return 0; }\n")
    must("gcc", "-static", "-o", static, static + ".c")
    found, status, text = lint(static)
    check(status == 1 and found["phdr"][0] == WORDS["DROPS"] and "link with --eh-frame-hdr, or convert" in text,
          "gcc -static: the header is all that is missing", text)
    must("gcc", "-static", "-Wl,--eh-frame-hdr", "-o", static + "-hdr", static + ".c")
    with_hdr = lint(static + "-hdr")
    check("phdr" not in with_hdr[0] and {name: found[name] for name in found if name != "phdr"} == with_hdr[0],
          "and with it the rest is as before", with_hdr[2])
    for path in ("/bin/bash", must("gcc", "-print-file-name=libc.so.6").strip(), static + "-hdr", tool):
        code, text = fdes(path), lint(path)[2]
        check(f" of {sum(end - start for start, end in code)} bytes with CFI, " in text and f" of {len(code)} functions" in text,
              f"{os.path.basename(path)}: bytes and functions as readelf has them", text)
        report = json.loads(must(tool, "report", "--json", path))["files"][0]["linux_eh_frame"]
        parts = [report[name]["bytes"] for name in ("walked", "ends_stack", "drops_module")]
        check(sum(parts) == report["all"]["bytes"] == sum(end - start for start, end in code) and not report["dropped"],
              f"{os.path.basename(path)}: the report has them, too", report)


def check_use(work):
    out = os.path.join(work, "out")
    said = run(tool, FOR, "/bin/bash", out)
    check(said.returncode == 2 and "reads .eh_frame and no SFrame" in said.stderr and not os.path.exists(out),
          "a conversion for it is refused", said.stderr)
    with open(os.path.join(root, "docs/eh2sframe-sframe.7.scd"), encoding="utf-8") as file:
        page = file.read()
    told = dict(re.findall(r"^\*([\w-]+)\* \((drops the module|ends the stack)\)$", page, re.M))
    check(told == table(), "the manual page has every rule, with its severity", set(told.items()) ^ set(table().items()))


with tempfile.TemporaryDirectory() as directory:
    check_vectors(directory)
    if shutil.which("s390x-linux-gnu-ld"):
        check_s390x(directory)
    else:
        skip("s390x", "no binutils for it")
    check_real(directory)
    check_use(directory)
plan()
