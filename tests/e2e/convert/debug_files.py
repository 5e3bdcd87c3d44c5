#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Separate debug files: named, found by build-id and by .gnu_debuglink, of another build or layout, damaged and gone.
And .debug_frame of relocatable objects. TAP.

    debug_files.py EH2SFRAME
"""
import filecmp
import os
import re
import shutil
import struct
import sys
import tempfile

from debug_frame_lib import BARE, FUNCTIONS, SOURCE, by_source, change, report, write
from elf_text import sections
from tap import check, must, plan, run, skip

tool = os.path.realpath(sys.argv[1])
HINT = "; its debug file may have the CFI (--debug-file, --debug-dir); --refresh replaces the section\n"


def build(name, *options):
    """name, stripped, and name.debug."""
    must("gcc", *BARE, *options, "-o", "whole", "prog.c")
    must("objcopy", "--only-keep-debug", "whole", name + ".debug")
    must("strip", "-o", name, "whole")


def names(path, *options):
    return set(by_source(report(tool, path, *options)[0]))


def file_of(path, *options):
    return report(tool, path, *options)[0].get("sources", {}).get("debug_frame", {}).get("file")


def put(path, source):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    shutil.copy(source, path)


def by_id(path):
    ident = re.search(r"Build ID: (\w+)", must("readelf", "-n", path))[1]
    return f".build-id/{ident[:2]}/{ident[2:]}.debug"


def kept():
    """What an option names is an input, and no output takes its place."""
    build("kept")
    must("objcopy", "--strip-debug", "whole", "kept")
    shutil.copy("kept.debug", "before")
    run(tool, "report", "--json", "-o", "base.json", "kept")
    shutil.copy("base.json", "base.before")
    debug, base = "--debug-file=kept.debug", "--baseline=base.json"
    for before, out, *args in (
            ("before", "kept.debug", debug, "kept", "kept.debug"),
            ("before", "kept.debug", "section", debug, "kept", "kept.debug"),
            ("before", "kept.debug", debug, "--report-file=kept.debug", "kept", "out"),
            ("before", "kept.debug", "report", debug, "-o", "kept.debug", "kept"),
            ("base.before", "base.json", base, "kept", "base.json"),
            ("base.before", "base.json", "report", base, "-o", "base.json", "kept")):
        made = run(tool, *args)
        check(made.returncode == 2 and "an input" in made.stderr and filecmp.cmp(out, before, shallow=False),
              "no output takes the place of an input: " + " ".join(args), made)
    # One that is found.
    build("found", "-Wl,--build-id=none")
    os.makedirs("where", exist_ok=True)
    shutil.copy("found.debug", "where/found.debug")
    must("objcopy", "--add-gnu-debuglink=where/found.debug", "found")
    for verb in ((), ("section",)):
        made = run(tool, *verb, "-q", "--debug-dir=where", "found", "where/found.debug")
        check(made.returncode == 2 and "is the debug file" in made.stderr and
              filecmp.cmp("where/found.debug", "found.debug", shallow=False),
              "nor that of a debug file that was found: " + " ".join(verb), made)
    # The checksum counts for one that is named, too.
    with open("where/found.debug", "ab") as file:
        file.write(b"more")
    made = run(tool, "report", "--debug-file=where/found.debug", "found")
    check("of another build: the checksum" in made.stderr, "a named debug file with another checksum is left out", made)
    os.mkdir("branch")
    # Code without any CFI can have rows.
    write("bare.s", b".globl _start\n_start: call f\n1: jmp 1b\nf: push %rbx\n call g\n pop %rbx\n ret\ng: ret\n")
    must("gcc", "-nostdlib", "-static", "-Wl,--build-id=none", "-o", "branch/found", "bare.s")
    made = run(tool, "tree", "convert", "--derive", "branch")
    check(made.returncode == 0 and "1 converted" in made.stdout, "tree --derive converts code without CFI", made)
    made = run(tool, "tree", "remove", "branch")
    made = run(tool, "tree", "convert", "branch")
    check("no-cfi 1" in made.stdout, "without --derive it has nothing", made)


def named():
    build("plain")
    check(not names("plain", "--debug-dir=none") and not file_of("plain", "--debug-dir=none"),
          "a stripped program has no .debug_frame")
    found, errors = report(tool, "plain", "--debug-file=plain.debug")
    check(found["sources"]["debug_frame"]["file"] == "plain.debug" and not errors and
          found["sources"]["debug_frame"]["functions"] >= len(FUNCTIONS) - 1,
          "the report names the debug file and counts functions", found["sources"])
    made = run(tool, "--debug-file=plain.debug", "plain", "out")
    check(made.returncode == 0 and not made.stderr, "converted with --debug-file", made.stderr)
    for witness in ("own", "libdwarf"):
        made = run(tool, "verify", f"--witness={witness}", "--debug-file=plain.debug", "out")
        check(made.returncode == 0 and re.search(" 0 differences; .* 0 could", made.stdout),
              f"proven by {witness} with the same debug file", made.stdout + made.stderr)
    must(tool, "whole", "whole.out")
    made = run(tool, "verify", "--cfi=whole", "out")
    check(made.returncode == 0, "proven with the CFI of the whole program", made.stdout)


def blamed():
    """--cfi=FILE without CFI, or with damaged CFI: that file is to blame."""
    must("gcc", "-O2", "-Wl,--build-id=none", "-o", "both", "prog.c")
    must(tool, "-q", "both", "both.out")
    must("objcopy", "-R", ".eh_frame", "-R", ".eh_frame_hdr", "both", "none.cfi")

    def outside(data, _, header):
        struct.pack_into("<Q", data, header + 24, len(data))
    change("both", "bad.cfi", ".eh_frame", outside)
    for name, status, said in (
            ("none.cfi", 6, "has no CFI that can be compared; name the file that was converted or its original"),
            ("bad.cfi", 1, r": section \d+ \(\.eh_frame, 0x\w+ bytes at offset 0x\w+\) reaches past the end.*")):
        made = run(tool, "verify", "--cfi=" + name, "both.out")
        check(made.returncode == status and re.fullmatch(f"eh2sframe: both.out: --cfi={name} ?{said}\n", made.stderr),
              f"--cfi={name} is to blame", made)
    made = run(tool, "verify", "--source=debug_frame", "both.out")
    check(made.returncode == 6 and "--cfi" not in made.stderr, "without --cfi, the file itself", made.stderr)


def gone():
    """What there is to do is said."""
    made = run(tool, "verify", "--debug-dir=none", "out")
    check(made.returncode == 4 and made.stderr.endswith(HINT),
          "verify without the debug file: rows without CFI", made.stdout + made.stderr)
    shutil.copy("out", "again")
    made = run(tool, "--refresh", "--debug-dir=none", "again", "again")
    check(made.returncode == 0 and re.search(r"the section that was replaced described \d+ more bytes of code; if rows "
                                             r"came from a debug file, name it", made.stderr),
          "--refresh without it says what is lost", made.stderr)
    made = run(tool, "--refresh", "--debug-file=plain.debug", "again", "again")
    check(made.returncode == 0 and not made.stderr, "--refresh with it", made.stderr)
    check(filecmp.cmp("again", "out", False), "and the file is as it was")
    must(tool, "remove", "out", "back")
    check(filecmp.cmp("back", "plain", False), "remove needs no debug file")


def found_by_id():
    put("dir/" + by_id("plain"), "plain.debug")
    check(file_of("plain", "--debug-dir=dir") == "dir/" + by_id("plain"), "found by build-id")
    must(tool, "--debug-dir=dir", "plain", "out")
    check(run(tool, "verify", "--debug-dir=dir", "out").returncode == 0, "the output has it, too")
    check(file_of("whole", "--debug-dir=dir") is None, "a program's own section comes before")
    check(file_of("whole", "--debug-dir=dir", "--debug-file=plain.debug") == "plain.debug",
          "what is named comes before both")
    os.makedirs("tree", exist_ok=True)
    shutil.copy("plain", "tree/plain")
    made = run(tool, "tree", "convert", "--debug-dir=dir", "tree")
    check(made.returncode == 0 and run(tool, "tree", "verify", "--debug-dir=dir", "tree").returncode == 0 and
          run(tool, "verify", "--debug-dir=none", "tree/plain").returncode == 4,
          "tree finds it", made.stdout + made.stderr)
    # A folder that is not there is not looked for beside each file.
    shutil.copytree("dir", "tree/beside")
    shutil.copy("plain", "tree/plain")
    made = run(tool, "tree", "convert", "--debug-dir=beside", "--exclude=beside/*", "tree")
    check(made.returncode == 0 and "beside: cannot be used as --debug-dir" in made.stderr and
          run(tool, "verify", "--debug-dir=none", "tree/plain").returncode == 0,
          "a relative --debug-dir is not that of each file", made.stdout + made.stderr)
    made = run(tool, "tree", "convert", "--debug-file=plain.debug", "tree")
    check(made.returncode == 2 and "no option --debug-file" in made.stderr, "tree convert --debug-file: status 2",
          made.stderr)
    # dwz puts what two files share into a third one.
    put("dir/" + by_id("plain"), "plain.debug")
    if shutil.which("dwz"):
        build("other", "-DOTHER")
        os.makedirs("share", exist_ok=True)
        shutil.copy("plain.debug", "one.debug")
        shutil.copy("other.debug", "two.debug")
        made = run("dwz", "-m", "share/common", "one.debug", "two.debug")
        if made.returncode == 0 and ".gnu_debugaltlink" in sections("one.debug"):
            check(file_of("plain", "--debug-file=one.debug") == "one.debug" and
                  names("plain", "--debug-file=one.debug") == names("plain", "--debug-file=plain.debug"),
                  "a supplementary file of dwz does no harm")
        else:
            skip("dwz", made.stderr.strip() or "it shares nothing")
    else:
        skip("dwz", "no dwz")
    if shutil.which("eu-strip"):
        must("eu-strip", "-f", "eu.debug", "-o", "eu", "whole")
        check(file_of("eu", "--debug-file=eu.debug") == "eu.debug", "a debug file of eu-strip")
    else:
        skip("eu-strip", "no eu-strip")


def found_by_link():
    """Without a build-id, the checksum counts."""
    build("linked", "-Wl,--build-id=none")
    must("objcopy", "--add-gnu-debuglink=linked.debug", "linked")
    put(f"links{os.getcwd()}/linked.debug", "linked.debug")
    check(file_of("linked", "--debug-dir=links") == f"links{os.getcwd()}/linked.debug", "found by .gnu_debuglink")
    os.makedirs("elsewhere", exist_ok=True)
    made = run(tool, "--debug-dir=links", "linked", "elsewhere/")
    check(made.returncode == 0 and not made.stderr, "the output is in another folder", made.stderr)
    shutil.rmtree("links")
    put("links/linked.debug", "linked.debug")
    check(file_of("linked", "--debug-dir=links") == "links/linked.debug", "found beside the folders")
    check(run(tool, "verify", "--debug-dir=links", "elsewhere/linked").returncode == 0, "proven in the other folder")
    with open("links/linked.debug", "ab") as file:
        file.write(b"x")
    check("the checksum in .gnu_debuglink differs; .debug_frame is left out" in report(tool, "linked",
                                                                                     "--debug-dir=links")[1],
          "another checksum is told")


def refused(name, path, debug, said):
    """One line; the rest goes on."""
    made = run(tool, f"--debug-file={debug}", path, "out")
    check(made.returncode == 0 and re.fullmatch(f"eh2sframe: {path}: {said}; .debug_frame is left out\n", made.stderr) and
          run(tool, "verify", "--debug-dir=none", "out").returncode == 0, f"{name}: left out", made.stderr)


def shift(data, place, header):
    struct.pack_into("<Q", data, header + 16, place.addr + 64)


def not_this_one():
    build("second", "-DSECOND", "-O1")
    refused("another build", "plain", "second.debug", r"second\.debug: it is of another build: its build-id differs")
    with open("other.c", "w", encoding="ascii") as file:
        file.write(SOURCE.replace("n * 3 + 1", "n * 3 + 2"))
    must("gcc", *BARE, "-Wl,--build-id=none", "-o", "other", "other.c")
    build("bare", "-Wl,--build-id=none")
    refused("another build without build-ids", "bare", "other", r"other: it is of another build: \.text differs")
    refused("no build-id", "plain", "linked.debug", r"linked\.debug: the debug file has no build-id, .*")
    refused("no build-id in the program", "linked", "plain.debug", r"plain\.debug: the program has no build-id, .*")
    refused("no such file", "plain", "nowhere", r"nowhere: cannot open: .*")
    refused("no ELF file", "plain", "prog.c", r"prog\.c: not an ELF file: .*")
    refused("no section", "plain", "plain", r"plain: it has no \.debug_frame")
    change("plain.debug", "moved.debug", ".text", shift)
    refused("another layout", "plain", "moved.debug",
            r"moved\.debug: \.text is at another address or of another size there")
    with open("plain.debug", "rb") as file:
        data = file.read()
    write("short.debug", data[:len(data) // 2])
    refused("cut off", "plain", "short.debug", r"short\.debug: .* reaches past the end of the file .*")
    build("packed", "-gz=zlib")
    place = sections("packed.debug")[".debug_frame"]
    with open("packed.debug", "rb") as file:
        data = bytearray(file.read())
    data[place.offset + 40:place.offset + 60] = bytes(20)
    write("packed.debug", data)
    refused("damaged data", "packed", "packed.debug",
            r"packed\.debug: \.debug_frame \(section \d+, 0x\w+ bytes at offset 0x\w+\): cannot be decompressed: .*")
    made = run(tool, "plain.debug", "out")
    check(made.returncode == 6, "a debug file is not converted", made.stderr)
    for options, said in ((["--source=eh_frame", "--debug-file=x"], "--debug-file goes with --source=debug_frame"),
                          (["--source=eh_frame", "--debug-dir=x"], "--debug-dir goes with --source=debug_frame"),
                          (["--source="], "give one or more of"), (["--source=eh_frame,"], "give one or more of"),
                          (["--source=go_home"], "give one or more of"), (["--debug-dir="], "has an empty name"),
                          (["report", "--debug-file=x", "plain"], "give --debug-dir for several")):
        made = run(tool, *options, "plain", "out")
        check(made.returncode == 2 and said in made.stderr, f"{' '.join(options)}: status 2", made.stderr)


def objects():
    tests = {"gcc": ["gcc"], "sections": ["gcc", "-ffunction-sections"], "zlib": ["gcc", "-gz=zlib"],
             "zlib-gnu": ["gcc", "-gz=zlib-gnu"], "clang": ["clang"],
             "64-bit DWARF": ["clang", "-gdwarf-5", "-gdwarf64"], "s390x": ["s390x-linux-gnu-gcc"],
             "aarch64": ["aarch64-linux-gnu-gcc"]}
    for name, (compiler, *options) in tests.items():
        if not shutil.which(compiler):
            skip(f"object, {name}", f"no {compiler}")
            continue
        must(compiler, *BARE, *options, "-c", "-o", "one.o", "prog.c")
        made = run(tool, "--format=2", "one.o", "two.o")
        check(made.returncode == 0 and not made.stderr, f"object, {name}: converted", made.stderr)
        made = run(tool, "verify", "--witness=libdwarf", "two.o")
        check(made.returncode == 0 and re.search(" 0 differences; .* 0 could", made.stdout),
              f"object, {name}: proven by libdwarf", made.stdout + made.stderr)
        check(names("one.o", "--format=2") >= FUNCTIONS - {"order"}, f"object, {name}: all functions")
    must("gcc", *BARE, "-c", "-o", "a.o", "prog.c")
    must("ld", "-r", "-o", "joined.o", "a.o")
    check(run(tool, "--format=2", "joined.o", "two.o").returncode == 0 and
          run(tool, "verify", "two.o").returncode == 0, "object, after ld -r")
    change("a.o", "bad.o", ".rela.debug_frame", lambda data, place, _: data.__setitem__(place.offset + 32, 99))
    made = run(tool, "--format=2", "bad.o", "two.o")
    check(made.returncode == 1 and re.fullmatch(r"eh2sframe: bad\.o: \.rela\.debug_frame, relocation 1 \(of \.debug_frame\+0x\w+\): type 99 does "
                       r"not occur in CFI of x86-64; .*\n", made.stderr),
          "object, a relocation of another kind", made.stderr)
    made = run(tool, "--format=2", "--debug-file=plain.debug", "joined.o", "two.o")
    check(made.returncode == 1 and re.fullmatch(r"eh2sframe: joined\.o: plain\.debug: debug files of relocatable objects are not read; "
                                                r"convert the object before its debug sections are stripped\n", made.stderr),
          "object with --debug-file", made.stderr)
    # What the message says to do.
    must(tool, "-q", "--format=2", "a.o", "two.o")
    before = must(tool, "dump", "two.o")
    must("strip", "-g", "two.o")
    check(must(tool, "dump", "two.o") == before, "object, converted and stripped: the same rows")


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(os.path.realpath(scratch))
    write("prog.c", SOURCE.encode())
    named()
    blamed()
    gone()
    found_by_id()
    found_by_link()
    not_this_one()
    objects()
    kept()
plan()
