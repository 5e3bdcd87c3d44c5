#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--source with each verb: exit statuses, what eh2sframe tree says of sources that are left out, names in summaries, rows
that no CFI gives, FDEs of what is no code, and folders that are not there. TAP.

    sources.py EH2SFRAME
"""
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import schema_lib
from elf_text import sections
from tap import check, must, plan, run

tool = os.path.realpath(sys.argv[1])
SOURCES = ("eh_frame", "go", "debug_frame", "derived")
CODE = b"""
__attribute__((noinline)) int leaf(int n) { volatile int k[9] = {n}; return k[n & 7]; }
__attribute__((noinline)) int inner(int n) { return leaf(n) + leaf(n + 1); }
void _start(void) { inner(1); for (;;) ; }
"""
# A function whose rows no instruction proves, and a table that only begins as Go's.
DAMAGED = b"""
	.section .gopclntab, "a"
	.balign 8
	.long 0xfffffff1
	.byte 0, 0, 1, 8
	.quad -1, 1, 0, 0, 0, 0, 0, 0
"""
SAID = "eh2sframe: {}: more functions than the Go table has room for, .gopclntab+0x8; rebuild the file; " \
       "Go's table is left out"


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def build():
    """bare and bare.o have .debug_frame alone, full and full.o .eh_frame alone, faulty also a damaged table of Go. mixed and
    part have both sections, for different functions, and part has a function without CFI. lost-NAME lacks .debug_frame, which is in NAME.debug."""
    write("code.c", CODE)
    write("damaged.s", DAMAGED)
    bare = ("-g", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables")
    for name, options in (("bare", bare), ("full", ("-fasynchronous-unwind-tables",))):
        must("gcc", "-O2", "-ffreestanding", "-fcf-protection=none", *options, "-c", "-o", name + ".o", "code.c")
        must("ld", "--build-id", "-o", name, name + ".o")
    must("gcc", "-c", "damaged.s")
    must("ld", "-o", "faulty", "full.o", "damaged.o")
    write("more.c", b"int more(int n) { volatile int k[99]; k[n & 3] = n; return k[n & 7]; }")
    must("gcc", "-O2", "-fasynchronous-unwind-tables", "-c", "more.c")
    must("ld", "--build-id", "-o", "mixed", "bare.o", "more.o")
    write("begin.c", b"int simple(int), plain(int); void _start(void) { simple(plain(1)); for (;;) ; }")
    write("simple.c", b"int simple(int n) { volatile int k[99]; k[n & 3] = n; return k[n & 7]; }")
    write("plain.s", b".globl plain\n.type plain, @function\nplain: push %rbx\n mov %edi, %ebx\n lea 1(%rbx), %eax\n pop %rbx\n"
          b" ret\n.size plain, .-plain\n")
    must("gcc", "-O2", "-ffreestanding", "-fasynchronous-unwind-tables", "-c", "begin.c")
    must("gcc", "-O2", "-ffreestanding", *bare, "-c", "simple.c")
    must("gcc", "-c", "plain.s")
    must("ld", "--build-id", "-o", "part", "begin.o", "simple.o", "plain.o")
    for name in ("bare", "mixed", "part"):
        must("objcopy", "--only-keep-debug", name, name + ".debug")
        must("strip", "-o", "lost-" + name, name)


def on_terminal(*argv):
    """Exit status and standard error of a run that has it on a terminal."""
    leader, follower = pty.openpty()
    text = b""
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=follower, env=os.environ | {"TERM": "xterm"}) as child:
        os.close(follower)
        try:
            while part := os.read(leader, 65536):
                text += part
        except OSError:
            pass  # The terminal's other end is closed.
        os.close(leader)
    return child.returncode, text.decode()


def statuses():
    """Of each kind of file, each source and each verb: 0 where the file has the source, 1 for rows that an object's code
    should prove, 6 where there is nothing to do."""
    has = {"bare": {"debug_frame", "derived"}, "full": {"eh_frame", "derived"},
           "bare.o": {"debug_frame"}, "full.o": {"eh_frame"}}
    for path, given in has.items():
        version = ["--format=2"] if path.endswith(".o") else []
        must(tool, "-q", *version, path, "with")
        for source in SOURCES:
            there = 0 if source in given else 1 if source == "derived" else 6
            checked = 6 if source == "derived" else there
            # Not every row of .debug_frame and .eh_frame can be derived.
            proven = 4 if there == 0 and source == "derived" else there
            wanted = {("report", path): there, (*version, path, "out"): there, ("check", path): checked,
                      ("verify", "with"): proven}
            if not version:
                wanted["section", path, "out"] = there
            got = {words: run(tool, *words, f"--source={source}").returncode for words in wanted}
            check(got == wanted, f"{path}, --source={source}: statuses", f"{got}\n{wanted}")
            if version:
                continue
            os.makedirs("tree")
            shutil.copy("with", "tree/one")
            wanted = {("tree", "convert", "--refresh"): 0, ("tree", "verify"): proven, ("tree", "check"): checked}
            got = {words: run(tool, *words, f"--source={source}", "tree").returncode for words in reversed(wanted)}
            check(got == wanted, f"{path}, --source={source}: statuses of tree", f"{got}\n{wanted}")
            shutil.rmtree("tree")
    made = run(tool, "report", "--source=derived", "full.o")
    check("--source=derived) is for linked files" in made.stderr, "an object: the reason", made.stderr)
    os.makedirs("tree")
    must(tool, "-q", "full", "tree/one")
    made = run(tool, "tree", "verify", "--source=go", "tree")
    check(made.stderr == "eh2sframe: no file has a .sframe section and CFI to look at\n", "tree: what is missing", made.stderr)
    shutil.rmtree("tree")


def left_out():
    """eh2sframe tree prints the line of a conversion of the file alone."""
    os.makedirs("left/out")
    names = [f"left/out/{i}" for i in range(40)]
    for name in names:
        shutil.copy("faulty", name)
    shutil.copy("full", "left/full")
    alone = run(tool, "faulty", "out").stderr
    check(alone == SAID.format("faulty") + "\n", "one file: the table is left out", alone)
    shutil.copytree("left", "again")
    made = run(tool, "tree", "convert", "left")
    check(made.returncode == 0 and sorted(made.stderr.splitlines()) == sorted(map(SAID.format, names)),
          "tree: a line for each file", made.stderr)
    made = run(tool, "tree", "convert", "--report-file=report.json", "left")
    check(made.returncode == 0 and not made.stderr, "no line for what an earlier run converted", made.stderr)
    shutil.rmtree("left")
    shutil.copytree("again", "left")
    made = run(tool, "tree", "convert", "-q", "left")
    check(made.returncode == 0 and not made.stderr, "none with -q", made.stderr)
    shutil.rmtree("left")
    shutil.move("again", "left")
    must(tool, "tree", "convert", "-q", "--baseline=report.json", "left")
    shutil.rmtree("left")
    # What is not converted has the line of its failure alone.
    os.makedirs("left")
    shutil.copy("faulty", "left/one")
    os.link("left/one", "other-name")
    made = run(tool, "tree", "convert", "left")
    check(made.returncode == 1 and made.stderr.count("\n") == 1 and "hard links" in made.stderr,
          "a failure has one line", made.stderr)
    os.unlink("other-name")
    for i in range(40):
        shutil.copy("faulty", f"left/{i}")
    status, text = on_terminal(tool, "tree", "convert", "left")
    lines = re.findall(r"(?:^|(?<=\n)|(?<=\x1b\[K))eh2sframe: left/\w+: .* is left out\r\n", text)
    check(status == 0 and len(lines) == 41 == text.count("left out") and "\x1b[K" in text,
          "on a terminal each line begins where the bar was", repr(text))


def names():
    """The ratio names the sections that there are."""
    os.makedirs("named")
    for name in ("bare", "full"):
        shutil.copy(name, "named")
    for options in ((), ("--source=derived",)):
        alone = {name: run(tool, *options, name, "out").stdout for name in ("bare", "full")}
        shutil.copytree("named", "tree")
        lines = must(tool, "tree", "convert", "-v", *options, "tree").splitlines()
        check(set(lines) > {"tree/" + line.rstrip("\n") for line in alone.values()},
              f"tree -v {' '.join(options)}: the line of a file alone", "\n".join(lines) + str(alone))
        shutil.rmtree("tree")
        wanted = ("", "") if options else (" of .debug_frame)", " of .eh_frame)")
        check(all(part in line if part else " of ." not in line for part, line in zip(wanted, alone.values())),
              f"{' '.join(options)}: the ratio is of what there is", str(alone))
    text = must(tool, "report", "--source=derived", "bare")
    check("of .eh_frame" not in text, "report: no ratio without a section", text)
    file = schema_lib.document(must(tool, "report", "--json", "--source=derived", "bare"))["files"][0]["code"]
    check("  code with CFI          0 bytes, 0 covered (-)\n" in text and file["with_cfi"] == 0 and file["percent_of_cfi"] is None,
          "no share of code with CFI where there is none", f"{text}\n{file}")
    for of, status in (("cfi", 5), ("text", 0)):
        said = run(tool, "--source=derived", "--min-coverage=1", "--min-coverage-of=" + of, "bare", "out")
        check(said.returncode == status, f"which fails a limit of it: {of}", said)


def beyond():
    """Only rows that neither section gives are the code's own."""
    for name in ("bare", "mixed", "part"):
        debug = f"--debug-file={name}.debug"
        # Of part, one function is in neither section.
        for path, options, kinds in ((name, (), []), ("lost-" + name, (debug,), []), ("lost-" + name, ("--derive",), ["derived"]),
                                     ("lost-" + name, (debug, "--derive"), ["derived"] if name == "part" else [])):
            file = schema_lib.document(must(tool, "report", "--json", *options, path))["files"][0]
            found = sorted({one["kind"] for one in file.get("not_by_cfi", [])})
            check(found == kinds, f"{path} {' '.join(options)}: rows that no CFI gives", file)


FAR = """
	.cfi_sections {}
	.globl _start
_start:	.cfi_startproc
	push %rbx
	.cfi_adjust_cfa_offset 8
	pop %rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
last:	.cfi_startproc
	nop
	ret
	.cfi_endproc
"""


def far():
    """FDEs that describe what is no code: both sections give the same lines of the report."""
    said = {}
    for section, size, range_format in ((".eh_frame", 4, "<I"), (".debug_frame", 8, "<Q")):
        write("far.s", FAR.format(section).encode())
        must("gcc", "-c", "far.s")
        must("ld", "-o", "far", "far.o")
        with open("far", "rb") as file:
            data = bytearray(file.read())
        place = sections("far")[section]
        at = data.rindex(struct.pack(range_format, 2), place.offset, place.offset + place.size)
        for name, where, add in (("over the end", at, 0x100000), ("behind the end", at - size, 0x200000)):
            changed = bytearray(data)
            struct.pack_into("<I", changed, where, (struct.unpack_from("<I", data, where)[0] + add) & 0xffffffff)
            write("far", changed)
            text = must(tool, "report", "-v", "far")
            # The reader of linux-eh-frame looks at one section alone.
            said[section, name] = re.findall("^(?!  linux-eh-frame).*(?:not-code|with CFI).*$", text, re.M), "discarded" in text
            check("refused: not-code             1 function " in text, f"{section}, {name}: refused", text)
    for name in ("over the end", "behind the end"):
        check(said[".eh_frame", name] == said[".debug_frame", name], f"{name}: the same of both sections", said)


def folders():
    """A folder that an option names and that is not there."""
    for path, why in (("none", "No such file or directory"), ("code.c", "Not a directory")):
        line = f"eh2sframe: {path}: cannot be used as --debug-dir: {why}; no debug file is found there, so name another directory\n"
        for verb in (("report",), ("verify",), ("tree", "verify")):
            must(tool, "-q", "full", "with")
            made = run(tool, *verb, f"--debug-dir={path}", "with")
            check(made.returncode == 0 and made.stderr == line, f"{' '.join(verb)} --debug-dir={path}: one line", made.stderr)
        made = run(tool, "report", "-q", f"--debug-dir={path}", "full")
        check(made.returncode == 0 and not made.stderr, f"--debug-dir={path}: none with -q", made.stderr)
    made = run(tool, "report", "--debug-dir=.", "full")
    check(made.returncode == 0 and not made.stderr, "a folder that is there", made.stderr)


def main():
    with tempfile.TemporaryDirectory(prefix="sources test ") as work:
        os.chdir(work)
        build()
        check(".debug_frame" in sections("bare") and ".eh_frame" not in sections("bare"), "bare has .debug_frame alone")
        statuses()
        left_out()
        names()
        beyond()
        far()
        folders()
        os.chdir("/")
    plan()


main()
