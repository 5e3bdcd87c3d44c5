#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""eh2sframe-fold as a user runs it: names, formats, errors. TAP.

    fold.py EH2SFRAME-FOLD RECORDING-OF
"""

import json
import os
import re
import resource
import shutil
import struct
import subprocess
import sys

from batch_lib import remove, scratch
from elf_text import fdes
from fold_lib import (CUT_OFF, EXACT, FILE, JIT, KERNEL, NO_ROW, OUTERMOST, UNKNOWN, Recording, folded, run)
from tap import check, must, plan

FOLD, WRITER = (os.path.realpath(path) for path in sys.argv[1:3])
SOURCE = """
namespace shop { struct cart { int total(int n); }; }
extern "C" __attribute__((noinline)) int plain(int n) { __asm__ volatile(""); return n * 3; }
__attribute__((noinline)) int shop::cart::total(int n) { return plain(n) + 1; }
int main(int argc, char **) { return shop::cart().total(argc) + 2; }
"""
TOTAL = "_ZN4shop4cart5totalEi"


def build():
    """prog, and stripped with its debug file below debug/."""
    with open("prog.cc", "w", encoding="utf-8") as file:
        file.write(SOURCE)
    must("g++", "-O1", "-Wl,--build-id", "-o", "prog", "prog.cc")
    symbols = {line.split()[-1]: int(line.split()[0], 16) for line in must("nm", "prog").splitlines()
               if len(line.split()) == 3}
    build_id = re.search(r"Build ID: ([0-9a-f]+)", must("readelf", "-n", "prog"))[1]
    path = f"debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug"
    os.makedirs(os.path.dirname(path))
    must("objcopy", "--only-keep-debug", "prog", path)
    must("strip", "-o", "stripped", "prog")
    return symbols, build_id


def stacks(symbols, path, build_id="-"):
    """main called shop::cart::total, which called plain."""
    rec = Recording()
    prog = rec.module(os.path.realpath(path), build_id)
    frames = [rec.frame(FILE, symbols["main"] + 4, prog), rec.frame(FILE, symbols[TOTAL] + 4, prog),
              rec.frame(FILE, symbols["plain"], prog, flags=EXACT)]
    rec.sample(rec.thread(7, 7, "prog"), frames)
    return rec


def names(symbols, build_id):
    whole = {"prog;main;shop::cart::total(int);plain": 1}
    starts = {";".join(["prog", *(f"stripped+{symbols[name]:#x}" for name in ("main", TOTAL, "plain"))]): 1}
    wrong = "00" * 20
    for what, path, given, options, wanted in (
        ("symbols", "prog", "-", [], whole),
        ("symbols of the right build-id", "prog", build_id, [], whole),
        ("no symbols of a file with another build-id", "prog", wrong, [], {"prog;[prog];[prog];[prog]": 1}),
        ("the starts of the functions of a stripped file", "stripped", build_id, [], starts),
        ("symbols of a separate debug file", "stripped", build_id, ["--debug-dir=debug"], whole),
        ("no symbols without the file, which says where its code was", "none", build_id, ["--debug-dir=debug"],
         {"prog;[none];[none];[none]": 1}),
        ("the first folder that has it", "stripped", build_id, ["--debug-dir=none", "--debug-dir=debug"], whole),
        ("the build-id of the file, where the recording has none", "stripped", "-", ["--debug-dir=debug"], whole),
        ("names as they are", "prog", "-", ["--no-demangle"], {f"prog;main;{TOTAL};plain": 1}),
    ):
        got = folded(FOLD, stacks(symbols, path, given).write(WRITER, "names.rec"), *options)
        check(got == wanted, what, got)
    # The recorder names functions of a container's stripped file so.
    for what, base, options, wanted in (
        ("starts in a file that is gone, which a debug file names", "gone", ["--debug-dir=debug"], "prog;main;shop::cart::total(int)"),
        ("starts in a file that is gone", "gone", [], f"prog;gone+{symbols['main']:#x};gone+{symbols[TOTAL]:#x}"),
        ("no starts in another file", "other", ["--debug-dir=debug"], f"prog;other+{symbols['main']:#x};other+{symbols[TOTAL]:#x}"),
    ):
        rec = Recording()
        gone = rec.module("/gone", build_id)
        rec.sample(rec.thread(7, 7, "prog"), [rec.frame(FILE, at, gone, name=f"{base}+{symbols[name]:#x}")
                                              for at, name in enumerate(("main", TOTAL), 1)])
        got = folded(FOLD, rec.write(WRITER, "names.rec"), *options)
        check(got == {wanted: 1}, what, got)
    # It also names those of a program that was made a moment before, which may still be here and say more.
    rec = Recording()
    rec.sample(rec.thread(7, 7, "prog"), [rec.frame(FILE, symbols["main"] + 4, rec.module(os.path.realpath("prog"), build_id), name="recorded")])
    got = folded(FOLD, rec.write(WRITER, "names.rec"))
    check(got == {"prog;main": 1}, "a file that is here before a name of the recorder", got)


def entries_of_plts(symbols, build_id):
    """They are named beside a separate debug file, which has no code, and have readable names."""
    entry = int(re.search(r"^0*(\w+) <__cxa_finalize@plt>:", must("objdump", "-d", "prog"), re.M)[1], 16)
    copy = f"copies/.build-id/{build_id[:2]}/{build_id[2:]}"
    os.makedirs(copy)
    os.environ["PERF_BUILDID_DIR"] = "copies"
    for what, path, copied, name in (
        ("", os.path.realpath("stripped"), None, "main"), (", perf's copy of a file that is gone", "/gone", "prog", "main"),
        (", its stripped copy", "/gone", "stripped", f"gone+{symbols['main']:#x}")):
        rec = Recording()
        module = rec.module(path, build_id)
        rec.sample(rec.thread(7, 7, "prog"), [rec.frame(FILE, symbols["main"] + 4, module), rec.frame(
            FILE, 1, module, name="_Z5thirdi@plt"), rec.frame(FILE, entry, module, flags=EXACT)])
        if copied:
            shutil.copy(copied, copy + "/elf")
        got = folded(FOLD, rec.write(WRITER, "plt.rec"), *([] if copied else ["--debug-dir=debug"]))
        check(got == {f"prog;{name};third(int)@plt;__cxa_finalize@plt": 1}, "entries of PLTs" + what, got)
    del os.environ["PERF_BUILDID_DIR"]


def starts_of_functions():
    """Functions of a stripped library are told apart by where they start, in each format."""
    with open("many.c", "w", encoding="utf-8") as file:
        file.write("#define F(n) __attribute__((noinline, visibility(\"hidden\"))) int f##n(int a) "
                   "{ __asm__ volatile(\"\"); return a * n; }\n")
        file.write("".join(f"F({n})\n" for n in range(2, 40)))
        file.write("int all(int a) { return " + " + ".join(f"f{n}(a)" for n in range(2, 40)) + "; }\n")
        file.write('__asm__("bare: .skip 32, 0x90\\nret");\n')
    must("gcc", "-O1", "-shared", "-fPIC", "-Wl,-z,noseparate-code", "-o", "many.so", "many.c")
    bare = int(next(line for line in must("nm", "many.so").splitlines() if line.endswith(" bare")).split()[0], 16)
    must("strip", "many.so")
    ranges = fdes("many.so")
    rec = Recording()
    many = rec.module(os.path.realpath("many.so"))
    thread = rec.thread(1, 1, "t")
    for start, end in ranges:
        rec.sample(thread, [rec.frame(FILE, start, many, flags=EXACT), rec.frame(FILE, end, many)])
    rec.sample(thread, [rec.frame(FILE, bare + 1, many, flags=EXACT)])
    path = rec.write(WRITER, "many.rec")
    names_of = [f"many.so+{start:#x}" for start, _ in ranges]
    got = folded(FOLD, path)
    # all() and what the PLTs call are in .dynsym, which strip leaves as it is.
    wanted = {f"t;{name};{name}": 1 for name in [*names_of, ".plt", "__cxa_finalize@plt"] if f"t;{name};{name}" in got}
    wanted |= {"t;all;all": 1, "t;[many.so]": 1}
    check(len(ranges) > 39 and len(wanted) == len(ranges) + 1 and got == wanted,
          "starts: each function of a stripped library, and none of code without CFI", got)
    found = {name for name in names_of if f"t;{name};{name}" in got}
    check(len(found) >= 38, "starts: most functions have no other name", found)
    data = data_of(run(FOLD, "-q", "--format=html", path).stdout)
    check(found <= set(data["functions"]["name"]), "starts: in the page", data["functions"])


def versions():
    """Linkers put versions behind names in .symtab."""
    with open("lib.map", "w", encoding="utf-8") as file:
        file.write("V_1 { };\nV_2 { global: second; } V_1;\n")
    with open("versioned.c", "w", encoding="utf-8") as file:
        file.write("int second(void) { return 2; }\n__asm__(\".symver second,first@V_1\");\n")
    must("gcc", "-O1", "-shared", "-fPIC", "-Wl,--version-script=lib.map", "-o", "versioned.so", "versioned.c")
    # What a debug file of glibc has; GNU ld writes it where a symbol has several versions.
    must("objcopy", "--redefine-sym", "second=second@@V_2", "versioned.so")
    address = [line.split()[0] for line in must("nm", "versioned.so").splitlines() if "second@@V_2" in line]
    must("strip", "-o", "stripped.so", "versioned.so")
    for path in ("versioned.so", "stripped.so"):
        rec = Recording()
        module = rec.module(os.path.realpath(path))
        rec.sample(rec.thread(1, 1, "t"), [rec.frame(FILE, int(address[0], 16), module, flags=EXACT)])
        got = folded(FOLD, rec.write(WRITER, "versioned.rec"))
        check(got == {"t;second": 1}, f"{path}: names without versions, and not that of an older one", got)
    with open("alias.c", "w", encoding="utf-8") as file:
        file.write("int __own_name(void) { return 1; }\nint name(void) __attribute__((weak, alias(\"__own_name\")));\n")
    must("gcc", "-O1", "-shared", "-fPIC", "-o", "alias.so", "alias.c")
    address = [line.split()[0] for line in must("nm", "alias.so").splitlines() if line.endswith(" name")]
    rec = Recording()
    rec.sample(rec.thread(1, 1, "t"), [rec.frame(FILE, int(address[0], 16), rec.module(os.path.realpath("alias.so")), flags=EXACT)])
    got = folded(FOLD, rec.write(WRITER, "alias.rec"))
    check(got == {"t;name": 1}, "the name that people know, and not the library's own", got)
    # Without a build-id its debug file, which may be here, is not found.
    libc = must("gcc", "-print-file-name=libc.so.6").strip()
    must("objcopy", "--remove-section=.note.gnu.build-id", libc, "bare-libc.so")
    known = ["fputs", "free", "fwrite", "malloc"]
    for path in (libc, "bare-libc.so"):
        rows = [line.replace("@", " ").split() for line in must("nm", "-D", path).splitlines()]
        rec = Recording()
        module = rec.module(os.path.realpath(path))
        for row in rows:
            if row[2:3] and row[2] in known:
                rec.sample(rec.thread(1, 1, "t"), [rec.frame(FILE, int(row[0], 16), module, flags=EXACT)])
        got = folded(FOLD, rec.write(WRITER, "libc.rec"))
        check(got == {f"t;{name}": 1 for name in known}, f"{os.path.basename(path)}: the names of the manual", got)


def libraries():
    """A library has .dynsym alone, and a return address at the end of a function belongs to it."""
    with open("lib.c", "w", encoding="utf-8") as file:
        file.write("int first(void) { return 1; }\nint second(void) { return 2; }\n")
    must("gcc", "-O1", "-shared", "-fPIC", "-falign-functions=1", "-o", "lib.so", "lib.c")
    must("strip", "lib.so")
    at = {}
    for line in must("nm", "-D", "-S", "lib.so").splitlines():
        words = line.split()
        if len(words) == 4:
            at[words[3]] = (int(words[0], 16), int(words[1], 16))
    start, size = at["first"]
    rec = Recording()
    lib = rec.module(os.path.realpath("lib.so"))
    thread = rec.thread(1, 1, "t")
    rec.sample(thread, [rec.frame(FILE, start + size, lib)])
    rec.sample(thread, [rec.frame(FILE, start, lib, flags=EXACT)])
    got = folded(FOLD, rec.write(WRITER, "lib.rec"))
    check(got == {"t;first": 2}, "a library has names in .dynsym; a call may be the last instruction", got)


def jit():
    """Names that a compiler at run time left in /tmp, for a recording of this machine since it started."""
    # A process that has ended and is not waited for keeps its number, so that no other test takes the name.
    with subprocess.Popen(["true"]) as child:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        jit_of(child.pid)


def jit_of(pid):
    path = f"/tmp/perf-{pid}.map"
    if os.path.exists(path):
        os.unlink(path)
    here = {"host": os.uname().nodename, "release": os.uname().release, "written": 2 * 10**9}
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write("7f0000 10 an older one\n7f0000 10 first one\nnot a line\n7f0010 20 Second::two\n\n7f0000 zz bad\n")
        for what, how, wanted in (
            ("names of /tmp/perf-PID.map", here, {"java;first one;Second::two;[unknown]": 1}),
            ("not for a recording of another machine", {**here, "host": "other"},
             {"java;[unknown];[unknown];[unknown]": 1}),
            ("not for a recording of an earlier start", {**here, "written": 1},
             {"java;[unknown];[unknown];[unknown]": 1}),
        ):
            rec = Recording(**how)
            rec.sample(rec.thread(pid, pid, "java"), [rec.frame(UNKNOWN, 0x7f0004, pid=pid), rec.frame(
                UNKNOWN, 0x7f0030, pid=pid), rec.frame(UNKNOWN, 0x7f0030, pid=pid, flags=EXACT)])
            got = folded(FOLD, rec.write(WRITER, "jit.rec"))
            check(got == wanted, what, got)
        # Whoever runs the process writes it. It is read apart, with a limit of memory.
        os.truncate(path, 4 << 30)
        rec = Recording(**here)
        rec.sample(rec.thread(pid, pid, "java"), [rec.frame(UNKNOWN, 0x7f0004, pid=pid)])
        folded(FOLD, rec.write(WRITER, "jit.rec"))
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        check(most < 1 << 20, "a map of 4 GiB", most)
    finally:
        os.unlink(path)


def mixed():
    """All kinds of frames and endings, in the order of no sample."""
    rec = Recording()
    prog, kernel = rec.module("/opt/a b/prog"), rec.module("[kernel]")
    one, two = rec.thread(7, 7, "two words"), rec.thread(7, 8, "a;b")
    main = rec.frame(FILE, 0x1000, prog, name="main")
    deep = rec.frame(FILE, 0x2000, prog, name="f;g")
    same = rec.frame(FILE, 0x2010, prog, name="f;g")
    call = rec.frame(KERNEL, 0xffffffff81000000, kernel, flags=EXACT, name="do_read")
    made = rec.frame(JIT, 0x7f00, pid=7, name="Lazy:~x\ny")
    lost = rec.frame(UNKNOWN, 0x7f000000, pid=7)
    nameless = rec.frame(KERNEL, 0xffffffff81000100, kernel, flags=EXACT)
    rec.sample(one, [main, deep, call], time=1_500_000_000)
    rec.sample(one, [main, same, call], time=1_600_000_000)
    rec.sample(one, [main], time=1_700_000_000)
    rec.sample(two, [lost, made], NO_ROW, time=1_800_000_000, cpu=12)
    rec.sample(two, [deep], CUT_OFF, time=1_900_000_001)
    rec.sample(two, [nameless], 9, time=2_000_000_000)
    rec.sample(two, [], 9, time=2_100_000_000)
    return rec.write(WRITER, "mixed.rec")


def test_folded(path):
    got = folded(FOLD, path)
    wanted = {"two words;main;f:g;do_read": 2, "two words;main": 1, "a:b": 1, "a:b;[kernel]": 1,
              "a:b;[incomplete: code without a row];[unknown];Lazy:~x\\012y": 1,
              "a:b;[incomplete: copy of the stack cut off];f:g": 1}
    check(got == wanted, "folded: all stacks", got)
    first = run(FOLD, path).stdout
    check(first == run(FOLD, path).stdout and first.splitlines() == sorted(
        first.splitlines(), key=lambda line: line.rpartition(" ")[0].split(";")[0]), "folded: the order is the same again", first)
    said = run(FOLD, path).stderr
    check("7 samples, 71.43% with complete stacks; 1 end: code without a row; 1 end: copy of the stack cut off" in said
          and said.count("\n") == 1, "the summary has the reasons", said)
    check(run(FOLD, "-q", path).stderr == "", "--quiet")
    with open(path, "rb") as file:
        got = subprocess.run([FOLD, "-q", "-"], stdin=file, capture_output=True, text=True, check=False)
    check(got.stdout == first, "a recording from standard input", got)
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as cat:
        got = subprocess.run([FOLD, "-q", "-"], stdin=cat.stdout, capture_output=True, text=True, check=False)
    check(got.returncode == 1 and "not a regular file" in got.stderr and not got.stdout, "a pipe is refused, as records are sorted", got)


def data_of(page):
    """The data of a page."""
    return json.loads(re.search(r'<script type="application/json" id="profile">(.*?)</script>', page, re.S)[1])


def tree_of(data):
    """The stacks in a page, as folded lines."""
    got, names_of, lines, path = {}, data["functions"]["name"], [""], []
    for function, up in zip(data["nodes"][::2], data["nodes"][1::2]):
        path = path[:len(path) - up] + [names_of[function]]
        lines.append(";".join(path))
    for thread in data["threads"]:
        for node, samples in zip(thread["weights"][::2], thread["weights"][1::2]):
            if not (lines[node] + ";").startswith(thread["comm"] + ";"):
                check(False, "html: a stack begins with its thread", (lines[node], thread["comm"]))
            got[lines[node]] = got.get(lines[node], 0) + samples
    return got


def test_html(path):
    page = run(FOLD, "-q", "--format=html", path).stdout
    data = data_of(page)
    got = tree_of(data)
    wanted = {"two words;main;f;g;do_read": 2, "two words;main": 1, "a;b": 1, "a;b;[kernel]": 1,
              "a;b;[incomplete: code without a row];[unknown];Lazy:~x\\012y": 1,
              "a;b;[incomplete: copy of the stack cut off];f;g": 1}
    check(got == wanted, "html: all stacks", got)
    ends = {end["why"]: (end["weight"], end["complete"]) for end in data["ends"]}
    check(ends == {"outermost frame": (3, True), "thread of the kernel": (2, True), "code without a row": (1, False),
                   "copy of the stack cut off": (1, False)} and data["samples"] == 7, "html: how stacks end", ends)
    check(data["command"] == "make it" and data["seconds"] == 0.6 and data["least"] == 1, "html: what was recorded")
    check("http" not in page.split("<script", 1)[1].replace("http://www.w3.org/2000/svg", ""),
          "html: no address of another place")


def weights():
    """Where samples have different weights, these count; where their sum is no number, samples do."""
    for what, heavy, line, share in (("weights are summed up", 5, 12, "92.31%"), ("weights of damage are not", 2**63, 2, "66.67%")):
        rec = Recording(event="cycles")
        frame = rec.frame(FILE, 0x1000, rec.module("/opt/prog"), name="main")
        for weight in (1, 7, heavy):
            rec.sample(rec.thread(7, 7, "t"), [frame], NO_ROW if weight == 1 else OUTERMOST, weight=weight)
        path = rec.write(WRITER, "weights.rec")
        got, data, said = folded(FOLD, path), data_of(run(FOLD, "-q", "--format=html", path).stdout), run(FOLD, path).stderr
        check(got == tree_of(data) == {"t;main": line, "t;[incomplete: code without a row];main": 1} and
              (data["total"], data["unit"], data["samples"]) == (line + 1, "cycles" if line == 12 else "", 3), what, (got, data))
        check(f"3 samples, {share} with complete stacks; 1 end: code" in said and
              [end["weight"] for end in data["ends"]] == [line, 1], what + " in how stacks end", (said, data["ends"]))


def advice():
    """More than a hundredth of the samples ends early: the line says what to do for the most frequent reason, where there is something."""
    known = {3: "-XX:+PreserveFramePointer", NO_ROW: "-fasynchronous-unwind-tables", CUT_OFF: "--stack-size", 10: "record as root",
             12: "eh2sframe-record"}
    for why in range(2, 14):
        said = []
        for n in (2, 3):
            rec = Recording()
            frame, thread = rec.frame(FILE, 0x1000, rec.module("/opt/prog"), name="main"), rec.thread(7, 7, "t")
            for i in range(200):
                rec.sample(thread, [frame], why if i < n else 2 if i == n else OUTERMOST)
            said.append(run(FOLD, "-o", "advice.txt", rec.write(WRITER, "advice.rec")).stderr)
        got = [text in line for text in known.values() for line in said]
        check(got == [n == 3 and text == known.get(why) for text in known.values() for n in (2, 3)] and all(
            line.count("\n") == 1 for line in said), f"what to do for reason {why}", said)


def odd_names():
    """Names that are markup, not UTF-8, or control a terminal."""
    rec = Recording(command="</script><b>&amp;")
    prog = rec.module(b"/\xff\xfe/<i>\x1b[31m")
    rec.sample(rec.thread(1, 1, b"\xc3\xa9\x1b]0;x\x07"), [
        rec.frame(FILE, 1, prog, name=b"</script><script>alert(1)</script>"), rec.frame(FILE, 2, prog, name=b"\xf0\x9f"),
        rec.frame(FILE, 3, prog)])
    path = rec.write(WRITER, "odd.rec")
    raw = subprocess.run([FOLD, path], capture_output=True, check=False)
    check(raw.returncode == 0 and not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", raw.stdout + raw.stderr),
          "no control characters in lines", raw)
    page = subprocess.run([FOLD, "-q", "--format=html", path], capture_output=True, check=False).stdout.decode()
    data = data_of(page)
    check(page.count("<script") == 2 and data["command"] == "</script><b>&amp;"
          and "</script><script>alert(1)</script>" in data["functions"]["name"], "names in the page stay text", data)


def lost_once():
    """The kernel has a record for those that it lost."""
    maker = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz", "bases", "make_raw.py")
    must("python3", maker, "lost.rec", "prog")
    made = run(FOLD, "-o", "lost.txt", "lost.rec")
    check("; 3 lost" in made.stderr, "records that were lost count once", made.stderr)


def damaged(path):
    """What a recorder that was killed leaves; and a sample whose chain does not end."""
    with open(path, "rb") as file:
        data = file.read()
    start, size = struct.unpack_from("<QQ", data, 40)
    with open("cut.rec", "wb") as file:
        file.write(data[:48] + bytes(8) + data[56:start + size])
    got = run(FOLD, "-o", "cut.txt", "cut.rec")
    check("7 samples" in got.stderr and "; the recording was cut off" in got.stderr, "features that were not written", got)
    at = last = start
    while at < start + size:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        last = at if kind == 9 else last
        at += length
    with open("long.rec", "wb") as file:
        file.write(data[:last + 48] + b"\xff" * 7 + data[last + 55:])
    got = run(FOLD, "-o", "long.txt", "long.rec")
    check("6 samples" in got.stderr and "; 1 lost" in got.stderr, "a damaged sample counts as lost", got)


def errors(path):
    with open("junk", "w", encoding="utf-8") as file:
        file.write("no recording\n")
    empty = Recording().write(WRITER, "empty.rec")
    for what, argv, status, text in (
        ("no argument", [], 3, "eh2sframe.recording: cannot open: No such file"), ("two recordings", [path, path], 2, "give one recording"),
        ("an unknown option", ["--nothing", path], 2, "--help"),
        ("an unknown format", ["--format=svg", path], 2, "--format=svg"),
        ("no such file", ["none.rec"], 3, "none.rec: cannot open: No such file"),
        ("not a recording", ["junk"], 1, "eh2sframe-fold: junk: it is"), ("no samples", [empty], 6, "empty.rec: the recording has no samples"),
        ("a directory", ["debug"], 1, "debug: it is not a regular file"),
        ("a letter that is none", ["-qZ", path], 2, "-Z is no option"),
        ("a recording as output", ["-o", path, path], 2, f"{path}: is an ELF file, an archive or a recording"),
        ("an output in no directory", ["-o", "none/out", path], 3, "none/out: "),
        ("a full disk", ["-o", "/dev/full", path], 3, "/dev/full: "),
    ):
        got = run(FOLD, *argv)
        lines = got.stderr.splitlines()
        check(got.returncode == status and text in got.stderr and lines[-1].startswith("eh2sframe-fold: ")
              and not got.stdout, f"{what}: status {status}", got)
    with open("/dev/full", "w", encoding="utf-8") as full:
        got = subprocess.run([FOLD, "-q", path], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    check(got.returncode == 3 and "standard output" in got.stderr, "standard output is full: status 3", got)
    got = run(FOLD, "--help")
    check(got.returncode == 0 and "--format=folded|html|firefox" in got.stdout and not got.stderr, "--help", got)
    got = run(FOLD, "--version")
    check(got.returncode == 0 and re.fullmatch(r"eh2sframe-fold \d+\.\d+\.\d+(-rc\d+)?\n", got.stdout), "--version", got)
    with open("kept", "w", encoding="utf-8") as file:
        file.write("before")
    got = run(FOLD, "-o", "kept", "junk")
    with open("kept", encoding="utf-8") as file:
        check(got.returncode == 1 and file.read() == "before", "a failure leaves the output as it was", got)
    os.symlink("kept", "link")
    os.symlink("nothing", "dangling")
    for name in ("link", "dangling"):
        got = run(FOLD, "-o", name, path)
        with open("kept", encoding="utf-8") as file:
            check(got.returncode == 3 and f"{name}: is a symbolic link" in got.stderr and file.read() == "before"
                  and not os.path.exists("nothing"), f"a link is refused: {name}", got)
    check(run(FOLD, "-q", "-o", "/dev/stdout", path).stdout == run(FOLD, "-q", path).stdout, "-o /dev/stdout")
    got = run(FOLD, "-q", "-o", "kept", path)
    with open("kept", encoding="utf-8") as file:
        check(file.read() == run(FOLD, "-q", path).stdout, "-o FILE", got)


def main():
    top = scratch()
    try:
        symbols, build_id = build()
        names(symbols, build_id)
        entries_of_plts(symbols, build_id)
        starts_of_functions()
        versions()
        libraries()
        jit()
        path = mixed()
        test_folded(path)
        test_html(path)
        weights()
        advice()
        odd_names()
        lost_once()
        damaged(path)
        errors(path)
    finally:
        remove(top)
    plan()


if __name__ == "__main__":
    main()
