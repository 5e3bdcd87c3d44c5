#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Archives: the C library's, the compiler's and Rust's, member by member against what binutils says of them and what a
conversion of each object alone makes. They are linked by each linker that is there, and the programs run. Members of
another version are cured. Damaged archives cost one line. TAP.

    archives.py EH2SFRAME [long]
"""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

from binutils import merged
from elf_text import sections
from tap import check, must, plan, read, run, skip

TOOL, LONG = os.path.realpath(sys.argv[1]), sys.argv[2:] == ["long"]
FORMAT = merged()
CONVERT = [TOOL, *FORMAT, "--object-sections=group"]
MAIN = """#include <stdio.h>
#include <stdlib.h>
#if RUST
unsigned long hello(unsigned long);
#else
static unsigned long hello(unsigned long n) { return n + 1; }
#endif
static void bye(void) { puts("bye"); fflush(stdout); }
int main(int argc, char **argv)
{
	volatile unsigned __int128 a = (unsigned __int128)argc << 100, b = 3;
	volatile long double c = argc;
	_Complex long double d = c * 1.0iL; /* of libgcc: division and multiplication */
	at_quick_exit(bye);
	printf("%d %lu %s\\n", (int)(unsigned long)(a / b), hello(argc), (long)__real__(d * d) == -1 ? "ok" : argv[0]);
	fflush(stdout);
	quick_exit(0);
}
"""
RUST = """#[no_mangle] pub extern "C" fn hello(n: usize) -> usize {
    let v: Vec<usize> = (0..n + 1).map(|i| i * 1).collect();
    std::panic::catch_unwind(|| if v.len() > 1 { panic!("unwound") }).is_err() as usize + v.len() - 1 }
"""


def extract(path, to):
    os.mkdir(to)
    subprocess.run(["ar", "x", os.path.abspath(path)], cwd=to, check=True)
    return {name: read(os.path.join(to, name)) for name in sorted(os.listdir(to))}


def whole(name, path):
    """An archive that others made, against binutils and the objects alone."""
    made, again, back = (f"{name}.{i}.a" for i in ("made", "again", "back"))
    done, twice = run(*CONVERT, path, made), run(*CONVERT, "-j1", "-q", path, again)
    failed = re.findall(r"\((\S+)\): ", done.stderr)
    check(os.path.exists(made) and done.returncode == twice.returncode == bool(failed), f"{name}: is converted", done)
    check(read(made) == read(again), f"{name}: twice the same")
    # nm finds the member of each symbol by its offset in the table.
    said = [(must("ar", "t", each), run("nm", "-s", each).stdout) for each in (path, made)]
    check(said[0] == said[1] and "Archive index" in said[1][1], f"{name}: binutils see the same members and symbols")
    check(run(TOOL, "remove", made, back).returncode == 0 and read(back) == read(path), f"{name}: remove")
    said = [run(TOOL, verb, made) for verb in ("verify", "lint")]
    check(all(each.returncode == 0 and not each.stderr for each in said), f"{name}: verify, lint", said)
    old, new = extract(path, name + ".old"), extract(made, name + ".new")
    wrong, changed = [], 0
    for i, (member, data) in enumerate(old.items()):
        if i % (1 if LONG or len(old) < 50 else 16) and member not in failed:
            continue
        alone = run(*CONVERT, "-q", f"{name}.old/{member}", "alone.o")
        changed += alone.returncode == 0
        if new[member] != (data if alone.returncode else read("alone.o")) or (alone.returncode == 1) != (member in failed):
            wrong.append((member, alone.stderr))
    check(old.keys() == new.keys() and changed and not wrong, f"{name}: {changed} members as alone", wrong)
    return made


def links(made, plain):
    """Programs of converted archives, by all linkers, run as those of the archives as they were."""
    for linker in ("bfd", "gold", "lld", "mold"):
        if not shutil.which("ld." + linker) and not shutil.which(linker):
            skip(linker, "is not installed")
            continue
        for what, flags in [("shared", []), ("static", ["-static"])][:2 if LONG or linker == "bfd" else 1]:
            said = []
            for each in (plain, made):
                libs = [each[name] for name in ("rust", "libc_nonshared", "libgcc") if name in each]
                libs += [each["libc"], each["libgcc"], "-lgcc_eh", each["libc"]] if flags else ["-lgcc_s"]
                link = run("gcc", *flags, f"-fuse-ld={linker}", "-Wl,--trace", "-o", "prog", "main.o", *libs)
                lost = [lib for lib in libs if lib[0] != "-" and lib not in link.stdout + link.stderr]
                went = run("./prog")
                said.append((link.returncode, went.returncode, went.stdout))
            check(said[0] == said[1] and said[0][:2] == (0, 0) and not lost and "ok\nbye" in went.stdout,
                  f"{linker}, {what}: links and runs", f"{said} {lost} {link.stderr}")
            has = run("readelf", "-SW", "prog").stdout
            check(".sframe" in has, f"{linker}, {what}: has .sframe", has)
            fixed = run(TOOL, "-q", "--refresh", "prog", "fixed")
            check(fixed.returncode == 0 and run("./fixed").stdout == went.stdout, f"{linker}, {what}: put right", fixed)


def mixed():
    """Objects of the version that ld takes, and of another: its words, and both cures."""
    other = ["--format=2"] if FORMAT[0] != "--format=2" else ["--format=3"]
    must("gcc", "-O2", "-c", "f.c")
    must("ar", "rcs", "plain.a", "f.o")
    must("gcc", "-O2", "-c", "-o", "m.o", "m.c")
    must(TOOL, "-q", *FORMAT, "m.o", "right.o")
    must(TOOL, "-q", *other, "plain.a", "mixed.a")
    must(TOOL, "-q", "--refresh", *FORMAT, "mixed.a", "one.a")
    must(TOOL, "remove", "-q", "mixed.a", "none.a")
    words = "no .sframe will be created|different format versions|unexpected SFrame format version"
    check(re.search(words, run("gcc", "-fuse-ld=bfd", "right.o", "mixed.a").stderr), "ld complains of versions")
    for cure in ("one.a", "none.a"):
        link = run("gcc", "-fuse-ld=bfd", "right.o", cure, "-o", "cured")
        has = run("readelf", "-SW", "cured").stdout
        check(not link.returncode and not link.stderr and ".sframe" in has and not run("./cured").returncode, cure, link)
    check(run(TOOL, *FORMAT, "one.a", "x.a").returncode == 6 and not os.path.exists("x.a"), "converted already")


def header(name, size, end="`\n"):
    return f"{name:16}{0:<12}{0:<6}{0:<6}{644:<8}{size:<10}{end}".encode()


def member(name, data):
    return header(name, len(data)) + data + b"\n" * (len(data) & 1)


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def hostile():
    """One line each, with the status that is documented, and nothing written."""
    obj, arch = read("f.o"), b"!<arch>\n"
    one = member("f.o/", obj)
    table = struct.pack(">III", 1, 0, 0)[:8]
    cases = {
        "no size": arch + header("f.o/", "x") + obj, "negative": arch + header("f.o/", "-1") + obj,
        "too large": arch + header("f.o/", 9999999999) + obj, "beyond the end": arch + header("f.o/", len(obj) + 3) + obj,
        "no end": arch + header("f.o/", len(obj), "xx") + obj, "overlap": arch + header("f.o/", 100) + obj,
        "BSD name": arch + member("#1/9999", obj), "no BSD name": arch + member("#1/x", obj),
        "no table of names": arch + member("/0", obj), "name outside": arch + member("//", b"f.o/\n") + member("/99", obj),
        "2 tables of names": arch + member("//", b"f.o/\n") * 2 + one,
        "many symbols": arch + member("/", struct.pack(">I", 2**32 - 1)) + one,
        "many symbols of 64 bits": arch + member("/SYM64/", struct.pack(">Q", 2**61)) + one,
        "short symbols": arch + member("/", b"\0\0") + one, "no member there": arch + member("/", table + b"f\0") + one,
        "BSD symbols": arch + member("__.SYMDEF", table) + one, "garbage behind": arch + one + b"x",
        "thin": b"!<thin>\n" + member("//", b"f.o/\n") + header("/0", len(obj)),
    }
    for name, data in cases.items():
        write("bad.a", data)
        reads = "symbols" in name or name in ("no member there", "thin")
        for argv in ([*FORMAT, "bad.a", "x.a"], ["report", "bad.a"], ["verify", "bad.a"]):
            said = run(TOOL, *argv)
            if reads and argv[0] in ("report", "verify"):
                check(said.returncode == {"report": 0, "verify": 6}[argv[0]], f"{name}: {argv[0]}", said)
            else:
                check(said.returncode == 1 and len(said.stderr.splitlines()) == 1 and not os.path.exists("x.a"),
                      f"{name}: {argv[0]}", said)
    short = b"!<arch>\n" + member("/", struct.pack(">II", 1, 78) + b"f\0") + one
    left = []
    for cut in [*range(8, 150), *range(150, len(short), 1 if LONG else 37)]:
        write("bad.a", short[:cut])
        said = run(TOOL, *FORMAT, "bad.a", "x.a")
        left += [cut] * (said.returncode not in (1, 6) or len(said.stderr.splitlines()) != 1 or os.path.exists("x.a"))
    check(left == [], "cut off at each byte", left)
    write("many.a", arch + header("e/", 0) * 100000 + member("in.a/", arch + one) + one)
    said = run(TOOL, *FORMAT, "many.a", "x.a")
    check(said.returncode == 0 and ": 1 converted, 0 skipped, 0 failed, 100001 not ELF" in said.stdout, "many, nested", said)
    write("loop.a", b"!<thin>\n" + member("//", b"loop.a/\n/dev/zero/\n") + header("/0", 9) + header("/8", 9))
    said = run(TOOL, "report", "loop.a")
    check(said.returncode == 1 and "loop.a(loop.a): this is an archive" in said.stderr and
          "loop.a(/dev/zero): not a regular file" in said.stderr, "a thin archive of itself and of a device", said)
    with open("hole.a", "wb") as file:
        file.write(arch + header("f.o/", 1 << 32))
        file.truncate(68 + (1 << 32))
    check("are holes" in run(TOOL, "report", "hole.a").stderr, "a hole")
    # A member that fails is named, stays, and costs no other; a name in the body counts in the size of it.
    write("part.a", arch + member("bad.o/", obj[:-9]) + member("#1/4", b"f.o\0" + obj))
    said = run(TOOL, *FORMAT, "part.a", "x.a")
    check(said.returncode == 1 and re.fullmatch(r"eh2sframe: part\.a\(bad\.o\): .*\n", said.stderr) and
          "1 converted" in said.stdout and obj[:-9] in read("x.a"), "a damaged member", said)
    run(TOOL, "remove", "x.a", "y.a")
    check(read("y.a") == read("part.a"), "and the other one, back")
    data = bytearray(read("right.o"))
    struct.pack_into("<I", data, sections("right.o")[".rela.sframe"].offset + 12, 9999)
    write("bad.a", arch + member("bad.o/", bytes(data)))
    said = [run(TOOL, *argv) for argv in (["verify", "bad.a"], ["lint", "bad.a"], ["remove", "bad.a", "x.a"])]
    check(all(each.returncode == 1 and each.stderr.count("\n") == 1 for each in said), "a damaged section", said)


def trees():
    """In their place, only where --objects asks for them."""
    os.mkdir("tree")
    for name in ("plain.a", "f.o"):
        shutil.copy(name, "tree")
    os.link("tree/plain.a", "second.a")
    said = run(TOOL, "tree", "convert", *FORMAT, "tree")
    check(said.returncode == 0 and said.stdout.startswith("0 converted"), "a tree leaves them alone", said)
    said = run(TOOL, "tree", "convert", "--objects", *FORMAT, "tree")
    check(said.returncode == 1 and "has 2 hard links" in said.stderr and read("tree/plain.a") == read("plain.a"),
          "several names", said)
    os.remove("second.a")
    said = run(TOOL, "tree", "convert", "--objects", *FORMAT, "--report-file=r.json", "tree")
    check(said.returncode == 0 and "tree/plain.a(f.o)" in read("r.json").decode(), "tree --objects", said)
    must(TOOL, "-q", *FORMAT, "plain.a", "here.a")
    check(read("tree/plain.a") == read("here.a") and len(os.listdir("tree")) == 2, "as alone, and nothing else")
    must(TOOL, "tree", "remove", "--objects", "tree")
    said = [json.loads(run(TOOL, "check", "--json", path).stdout)["files"][0].keys() for path in ("f.o", "plain.a")]
    check(said[0] == said[1] and "faults" in said[1], "check --json lists the same of a member as of an object", said)
    check(read("tree/plain.a") == read("plain.a") and read("tree/f.o") == read("f.o"), "tree remove --objects")


def main():
    libs = {name: must("gcc", f"-print-file-name={name}.a").strip() for name in ("libc_nonshared", "libgcc", "libc")}
    for name, text in (("main.c", MAIN), ("h.rs", RUST), ("f.c", "int f(int n) { return n - 1; }\n"),
                       ("m.c", "int f(int); int main(int c, char **v) { return f(c) + !v; }\n")):
        write(name, text.encode())
    if shutil.which("rustc"):
        must("rustc", "-O", "--crate-type=staticlib", "-o", "librust.a", "h.rs")
        libs["rust"] = "librust.a"
    else:
        skip("Rust", "rustc is not installed")
    must("gcc", "-O2", f"-DRUST={int('rust' in libs)}", "-c", "main.c")
    links({name: whole(name, path) for name, path in libs.items()}, libs)
    mixed()
    hostile()
    trees()
    plan()


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    main()
