#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""eh2sframe check on functions whose CFI is right or wrong by intention, and on what compilers write. TAP.

    check_code.py EH2SFRAME FIXTURES MACHINE

The assembly in FIXTURES says in its first line of each function what must be said of it (check_code.inc).
All of it is looked at as an object, too, before the link.
"""
import os
import re
import shutil
import sys
import tempfile

from code_said import Said, place
from tap import check, must, plan, run, skip, skip_all

TOOL, FIXTURES, MACHINE = sys.argv[1:]
PREFIX = "" if MACHINE == os.uname().machine else f"{MACHINE}-linux-gnu-"
CC = PREFIX + "gcc"
CONTRADICTED = 4
# FDEs of PLTs are not of the fixtures.
NO_PLT_ROWS = ["--no-ld-generated-unwind-info"] if MACHINE == "x86_64" else []

EXPECTED = re.compile(r"^(right|wrong|unknown|review|skipped|overlapped) ([\w.]+)(?:, (\w+), \"?([\w ]+)\"?)?$", re.M)
# What C and C++ are compiled with; each has to be confirmed as a whole.
FLAGS = {
    "functions.c": [
        ["-O2"], ["-O0"], ["-Os", "-fno-jump-tables"], ["-O2", "-fno-pic"], ["-O0", "-fno-pic"],
        ["-O2", "-ffunction-sections"], ["-O2", "-fno-plt"], ["-O2", "-fstack-clash-protection"], ["-O2", "-fno-omit-frame-pointer"], ["-O3", "-fstack-protector-all"]],
    "throws.cc": [["-O2"], ["-O0"], ["-Os"], ["-O2", "-fno-pic"], ["-O2", "-ffunction-sections", "-fdata-sections"]]}
PROTECTED = {"x86_64": [["-fcf-protection=full"]],
             "aarch64": [["-mbranch-protection=standard"]], "s390x": [["-mpacked-stack", "-msoft-float"]]}
# A table without a bound: the compiler knows that only 0 comes. The second section has entries, too, if the first
# is taken to go on where this program lays it out, 320 bytes further.
SHORT_TABLE = """
	.globl	short
	.type	short, @function
short:	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	movzbl	%dil, %eax
	lea	first(%rip), %rdx
	movslq	(%rdx, %rax, 4), %rax
	add	%rdx, %rax
	jmp	*%rax
1:	pop	%rbx
	.cfi_def_cfa_offset 8
2:	ret
	.cfi_endproc
	.size	short, . - short
	.section .rodata.first, "a"
first:	.long	1b - .
	.section .rodata.second, "a"
	.set	distance, 320
	.rept	255
	.long	2b - . + distance
	.set	distance, distance + 4
	.endr
	.section .note.GNU-stack, "", @progbits
"""
# Behind the table is a string, which only data points to. Its bytes lead to where instructions begin, too. The row of
# ret is wrong, which no check can say when ways from there come, too.
POINTED_TABLE = """
	.globl	pointed
	.type	pointed, @function
pointed:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	movzbl	(%rdi), %eax
	lea	table(%rip), %rdx
	movslq	(%rdx, %rax, 4), %rax
	add	%rdx, %rax
	jmp	*%rax
1:	pop	%rbx
2:	ret
	.cfi_endproc
	.size	pointed, . - pointed
	.section .rodata, "a"
	.balign	4
table:	.long	1b - table, 1b - table
string:	.long	2b - table, 2b - table
	.globl	other
	.hidden	other
other:	.long	0
	.data
	.quad	string
	.text
	.type	more, @function
more:	.cfi_startproc
	lea	other(%rip), %rax
	ret
	.cfi_endproc
	.size	more, . - more
	.section .note.GNU-stack, "", @progbits
"""
# Control goes on from leaves to tail, with x30 still where tail saves it later. No row says that tail begins there.
TAIL = """
	.type	leaves, %function
leaves:	.cfi_startproc
	sub	sp, sp, #32
	.cfi_def_cfa_offset 32
	str	x30, [sp, #16]
	.cfi_offset 30, -16
	bl	calls
	ldr	x30, [sp, #16]
	.cfi_restore 30
	add	sp, sp, #32
	.cfi_def_cfa_offset 0
	b	tail
	.cfi_endproc
	.size	leaves, . - leaves
	.type	calls, %function
calls:	.cfi_startproc
	str	x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset 30, -16
	bl	tail
	ldr	x30, [sp], #16
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	calls, . - calls
	.type	tail, %function
tail:	.cfi_startproc
	.cfi_def_cfa_offset 32
	.cfi_offset 30, -16
	str	x8, [sp, #-32]!
	mov	x0, sp
	stp	x9, x30, [sp, #8]
	bl	calls
	ldr	x30, [sp, #16]
	add	sp, sp, #32
	ret
	.cfi_endproc
	.size	tail, . - tail
	.section .note.GNU-stack, "", %progbits
"""


def symbols(path):
    """{name: (start, end)} as places."""
    table = {}
    for line in must(PREFIX + "nm", "--format=sysv", path).splitlines():
        parts = [part.strip() for part in line.split("|")]
        if len(parts) == 7 and parts[1]:
            section = parts[6] if path.endswith(".o") else ""
            end = int(parts[1], 16) + int(parts[4] or "0", 16)
            table[parts[0]] = place(section, parts[1]), place(section, f"{end:x}")
    return table


def verdict(said, start, end):
    """What was said of one function: "right", or ("wrong", place, kind, column) of its first fault."""
    faults = [(fault.at, fault.kind, fault.column) for fault in said.faults if start <= fault.at < end]
    if faults:
        return ("wrong", *min(faults))
    return next((word for at, word in said.doubts.items() if start <= at < end), "right")


def looked_at(path, expected, title):
    """Each function of a file, and that no other is there."""
    said, table = Said(TOOL, path), symbols(path)
    for word, function, kind, column in expected:
        wanted = "right" if word in ("skipped", "overlapped") else word
        if word == "wrong":
            wanted = ("wrong", table["at_" + function][0], kind, column)
        found = verdict(said, *table[function])
        check(found == wanted, f"{title}: {function}", f"{found}, not {wanted}")
        if "also_" + function in table:
            at = table["also_" + function][0]
            check(any(fault.at == at for fault in said.faults), f"{title}: another place of {function}", said.text)
        if "fine_" + function in table:
            start, end = table["fine_" + function][0], table[function][1]
            check(verdict(said, start, end) == "right", f"{title}: the end of {function}", verdict(said, start, end))
    number = {word: sum(1 for line in expected if line[0] == word) for word in
              ("right", "review", "unknown", "wrong", "skipped", "overlapped")}
    # Of two FDEs that overlap, one counts.
    unseen = number["skipped"] + number["overlapped"]
    # ld 2.47 describes its PLT, too, for s390x.
    plt = 0
    if PREFIX.startswith("s390x"):
        plt = len(re.findall(r" FDE .* pc=", must(PREFIX + "readelf", "--debug-dump=frames", path))) - len(expected)
    wanted = [len(expected) - number["skipped"] + plt, number["review"], number["unknown"], number["wrong"], unseen]
    check(said.counts == wanted, f"{title}: the summary counts each of them", f"{said.text}\nnot {wanted}")
    check(said.status == (CONTRADICTED if number["wrong"] else 0), f"{title}: the exit status", said.status)


def fixture(name, work):
    """One file of assembly, before and after the link."""
    path, linked = os.path.join(FIXTURES, name), os.path.join(work, "fixture.so")
    with open(path, encoding="utf-8") as file:
        expected = EXPECTED.findall(file.read())
    must(CC, "-c", path, "-o", linked + ".o")
    must(PREFIX + "ld", "-shared", *NO_PLT_ROWS, linked + ".o", "-o", linked)
    looked_at(linked + ".o", expected, f"{MACHINE}: {name}")
    looked_at(linked, expected, f"{MACHINE}: {name}, linked")


def compiled(name, flags, work):
    """A file of C or C++: every FDE is confirmed, before and after the link."""
    title = f"{MACHINE}: {name} {' '.join(flags)}"
    made, linked = os.path.join(work, "compiled.o"), os.path.join(work, "compiled.so")
    compiler = PREFIX + "g++" if name.endswith(".cc") else CC
    if not shutil.which(compiler):
        return skip(title, f"{compiler} is not installed")
    said = run(compiler, "-c", "-g0", "-fasynchronous-unwind-tables", *([] if "-fno-pic" in flags else ["-fPIC"]),
               *flags, os.path.join(FIXTURES, name), "-o", made)
    if said.returncode:
        return skip(title, said.stderr.splitlines()[-1])
    must(compiler, *(["-no-pie", "-Wl,--unresolved-symbols=ignore-all"] if "-fno-pic" in flags else ["-shared"]),
         "-nostartfiles", made, "-o", linked, "-Wl,-e,0",
         *(f"-Wl,{option}" for option in NO_PLT_ROWS))
    for path in (made, linked):
        said = Said(TOOL, path)
        check(said.status == 0 and said.counts and said.counts[0] > 3 and not any(said.counts[1:]),
              f"{title}{', linked' if path == linked else ''}", said.text)
    return None


def assembled(name, text, work):
    path = os.path.join(work, name + ".o")
    with open(path + ".s", "w", encoding="utf-8") as source:
        source.write(text)
    must(CC, "-c", path + ".s", "-o", path)
    return path


def tables(work):
    said = Said(TOOL, assembled("short", SHORT_TABLE, work))
    check(said.counts == [1, 0, 0, 0, 0], "a table of jumps ends before the next one", said.text)
    path = assembled("pointed", POINTED_TABLE, work)
    must(PREFIX + "ld", "-shared", *NO_PLT_ROWS, path, "-o", path + ".so")
    said = Said(TOOL, path + ".so")
    check(said.counts == [2, 0, 0, 1, 0], "a table of jumps ends before what data points to", said.text)


def caught(work):
    path = os.path.join(work, "caught.so")
    if not shutil.which("g++"):
        return skip("a function that catches what it throws", "g++ is not installed")
    must("g++", "-O2", "-fPIC", "-shared", "-nostartfiles", *(f"-Wl,{option}" for option in NO_PLT_ROWS),
         os.path.join(FIXTURES, "caught.cc"), "-o", path)
    said, table = Said(TOOL, path), symbols(path)
    for function, wanted in {"catches": "right", "throws": "right", "calls_catches": "review", "calls_throws": "right"}.items():
        found = verdict(said, *table[function])
        check(found == wanted, f"what a function throws may be caught in it: {function}", f"{found}, not {wanted}")
    return None


def tail(work):
    path = assembled("tail", TAIL, work)
    must(PREFIX + "ld", "-shared", path, "-o", path + ".so")
    must(TOOL, "--code=repair", path + ".so", path + ".repaired")
    said = run(TOOL, "verify", "--witness=code", "-v", path + ".repaired")
    check(said.returncode == 0 and "3 functions: 100.00 % confirmed" in said.stdout,
          "a row that is wrong behind a tail call is repaired", said.stdout + said.stderr)


def handed_over(work):
    """Some functions, and more than the check has rounds, hand over to one whose return pops."""
    def function(name, body):
        return f"\t.type {name}, @function\n{name}:\n\t.cfi_startproc\n\t{body}\n\t.cfi_endproc\n\t.size {name}, . - {name}\n"

    frame = "push %rbp; .cfi_def_cfa_offset 16; .cfi_offset %rbp, -16; mov %rsp, %rbp; sub $64, %rsp; .cfi_def_cfa %rsp, 80"
    for number, wanted in {1: "wrong", 24: "unknown", 99: "unknown"}.items():
        text = function("hand_0", "ret $8") + "".join(function(f"hand_{i}", f"nop; jmp hand_{i - 1}") for i in range(1, number + 1))
        text += function("calls", f"{frame}; call hand_{number}; nop; leave; .cfi_def_cfa %rsp, 8; ret")
        path = assembled("handed_over", text + '\t.section .note.GNU-stack, "", @progbits\n', work)
        said = Said(TOOL, path)
        found = verdict(said, *symbols(path)["calls"])
        check(wanted in (found, found[0]), f"an odd return behind {number} tail calls", f"{found}, not {wanted}\n{said.text}")


def main():
    if not shutil.which(CC):
        skip_all(f"{CC} is not installed")
    with tempfile.TemporaryDirectory() as work:
        if "build it with Zydis" in run(TOOL, "check", "/proc/self/exe").stderr and MACHINE == "x86_64":
            skip_all("this build cannot decode x86-64")
        for name in sorted(os.listdir(FIXTURES)):
            if name.startswith(MACHINE) and name.endswith(".S"):
                fixture(name, work)
        for name, choices in FLAGS.items():
            for flags in [*choices, *(["-O2", *more] for more in PROTECTED[MACHINE])]:
                compiled(name, flags, work)
        if MACHINE == "x86_64":
            tables(work)
            caught(work)
            handed_over(work)
        if MACHINE == "aarch64":
            tail(work)
    plan()


main()
