#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--core: what core files have mapped. The kernel and gdb write some, with all pages and with few. Others are made
of files of each machine. Sections must be those of the files. TAP.

    memory_core.py EH2SFRAME FILE...

FILE...: linked ELF files, of any machine.
"""
import ctypes
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

from core_lib import Core, Elf, core_of, read
from memory_lib import Running, Tests
from tap import check, must, plan, run, skip

BIAS = 0x7f1200000000


def kernel_core(tests, program, pages):
    """The core file of a program that ends itself; None where the kernel writes none here."""
    with open("/proc/sys/kernel/core_pattern", encoding="ascii") as file:
        if not re.fullmatch(r"core[.%a-z]*", file.read().strip()):
            return None
    folder = tests.path("cores")
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)

    def before():
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        with open("/proc/self/coredump_filter", "w", encoding="ascii") as file:
            file.write(pages)

    try:
        subprocess.run([program, "abort"], cwd=folder, preexec_fn=before, stdout=subprocess.DEVNULL, check=False)
    except subprocess.SubprocessError:
        return None
    found = os.listdir(folder)
    return os.path.join(folder, found[0]) if found else None


def gdb_core(tests, program):
    if not shutil.which("gcore"):
        return None
    with Running(program) as process:
        run("gcore", "-o", tests.path("gdb"), process.pid)
    core = tests.path("gdb." + process.pid)
    return core if os.path.exists(core) else None


def of_program(tests, what, core, program, whole):
    """A core file of a program on this machine. whole: it has all pages."""
    if not core:
        skip(f"{what}: all images", "no core file can be written here")
        return
    at = "--core=" + core
    listed = tests.report(at)
    names = set(listed)
    check({program, "[vdso]"} <= names | {"[vdso]"} and any("libc" in name for name in names) and
          any("/ld" in name for name in names), f"{what}: all images are in the report", names)
    for name in sorted(names - {"[vdso]"}):
        base = f"{what}: {os.path.basename(name)}"
        tests.same(f"{base}: the section of the file", tests.section(name, at), read_section(tests, name))
        memory = listed[name]["memory"]
        check(memory["of"] == "core " + core and memory["file"] == name and memory["bytes"] > 0 and
              memory["file_bytes"] > 0 and "left_out" not in memory, f"{base}: what is of the file", memory)
        if whole:
            tests.same(f"{base}: the core alone", tests.section(name, at, "--sysroot=/nonexistent"),
                       tests.without_sections(name))
        else:
            tests.fails(f"{base}: without the file", 1, "--sysroot names the folder", "-q", "--report", at,
                        "--sysroot=/nonexistent", name)
    if "[vdso]" in names:
        with Running(program) as process:
            with open(tests.path("vdso.so"), "wb") as file:
                file.write(process.vdso())
        tests.same(f"{what}: [vdso]", tests.section(None, at, "--vdso"), tests.section(tests.path("vdso.so")))


def read_section(tests, path, known={}):  # pylint: disable=dangerous-default-value
    if path not in known:
        known[path] = tests.section(path)
    return known[path]


def made(tests, path):
    """A core file of one file, of any machine."""
    elf = Elf(read(path))
    bias = 0 if elf.type == 2 else BIAS
    base = f"{os.path.basename(path)}, machine {elf.machine}{' big-endian' if elf.big else ''}"
    wanted, bare = read_section(tests, path), tests.without_sections(path)
    for page in (4096, 65536):
        if any(load[7] % page for load in elf.loads):
            continue
        core = Core(elf.machine, elf.big, page).image(elf, bias, path)
        at = "--core=" + core.write(tests.path("made"))
        tests.same(f"{base}: the core and the file, pages of {page}", tests.section(path, at), wanted)
        alone(f"{base}: the core alone, pages of {page}", tests.section(path, at, "--sysroot=/nonexistent"), bare,
              wanted)
    if "NT_GNU_BUILD_ID" in must("readelf", "-nW", path):
        memory = tests.report(at)[path]["memory"]
        fixed = sum(load[5] for load in elf.loads if not load[1] & 2)
        check((memory["bytes"], memory["file_bytes"]) == (fixed, len(elf.data) - fixed),
              f"{base}: what is written to at run time is of the file", f"{fixed} {memory}")
    # What is written to at run time is not of interest.
    core = core_of(elf).image(elf, bias, path)
    for segment in core.segments:
        if segment[3] & 2:
            segment[2] = b"\xff" * len(segment[2])
    at = "--core=" + core.write(tests.path("made"))
    tests.same(f"{base}: data that was written to", tests.section(path, at), wanted)
    # As the kernel writes it by default.
    core = core_of(elf).image(elf, bias, path, pages=1)
    at = "--core=" + core.write(tests.path("made"))
    if "NT_GNU_BUILD_ID" in must("readelf", "-nW", path):
        tests.same(f"{base}: the first page and the file", tests.section(path, at), wanted)
        root = tests.path("root")
        os.makedirs(os.path.dirname(root + path), exist_ok=True)
        shutil.copy(path, root + path)
        check(tests.section(path, at, "--sysroot=" + root) == wanted, f"{base}: --sysroot")
        must(tests.tool, "-q", "--refresh", "--method=append", root + path, root + path)
        alone(f"{base}: a file that was converted since gives its bytes",
              tests.section(path, at, "--sysroot=" + root), bare, wanted)
    elif any(load[5] and load[2] + load[5] > 4096 for load in elf.loads):
        tests.fails(f"{base}: without a build-id", 1, "build-id", "--report", at, path)
    unnamed(tests, base, path, bias, bare, wanted)


def alone(name, got, bare, wanted):
    """What memory gives. Its pages may have the section headers of a small file."""
    same = got in (bare, wanted) if isinstance(got, bytes) else isinstance(bare, str) and got[:2] == bare[:2]
    check(same, name, f"{got}\n{bare}")


def unnamed(tests, base, path, bias, bare, wanted):
    """Without NT_FILE, as qemu-user writes it; and as [vdso]."""
    elf = Elf(read(path))
    start = min(load[3] - load[2] for load in elf.loads) + bias
    core = core_of(elf).image(elf, bias, None)
    name = f"[{start:#x}]"
    at = "--core=" + core.write(tests.path("made"))
    listed = list(tests.report(at))
    check(listed == [name], f"{base}: an image without a name", listed)
    alone(f"{base}: its section", tests.section(name, at), bare, wanted)
    core.vdso(start)
    at = "--core=" + core.write(tests.path("made"))
    alone(f"{base}: as [vdso]", tests.section(None, at, "--vdso"), bare, wanted)
    here, there = run(tests.tool, "--dump", at, "--vdso"), run(tests.tool, "--dump", path)
    check((here.returncode, here.stdout) == (there.returncode, there.stdout), f"{base}: --dump of [vdso]",
          f"{here}\n{there}")


def another_build(tests, program):
    """Only the file of the same build gives bytes."""
    elf = Elf(read(program))
    other = tests.path("other")
    shutil.copy(program, other)
    core = core_of(elf).image(elf, BIAS, other, pages=1).write(tests.path("made"))
    check(isinstance(tests.section(other, "--core=" + core), bytes), "a copy of the file")
    tests.build("other", "-O2", "-DOTHER", source="int main(void) { return 7; }\n")
    tests.fails("a file of another build", 1, "its build-id differs", "--report", "--core=" + core, other)
    with open(other, "wb") as file:
        file.write(b"no ELF file" * 20)
    tests.fails("a file that is no ELF file", 1, "not an ELF file", "--report", "--core=" + core, other)
    os.unlink(other)
    os.mkfifo(other)
    tests.fails("a pipe of that name", 1, "not a regular file", "--report", "--core=" + core, other)


def of_one_name(tests, program):
    """A core file has no inodes: what tells images of one name apart is their build."""
    other = tests.build("another", "-O2", source="int a(int n) { return n * 3; } int main(int n, char **v) "
                        "{ volatile char b[80]; (void)v; b[n] = 1; return a(n) + b[n]; }\n")
    elves = [Elf(read(path)) for path in (program, other, program, other)]
    core, name, places = core_of(elves[0]), "/a/jit (deleted)", [BIAS + (i << 24) for i in range(4)]
    for elf, place in zip(elves, places):
        core.image(elf, place, name)
    at = "--core=" + core.write(tests.path("made"))
    second = f"{name}@{places[1]:#x}"
    listed = list(tests.report(at))
    check(listed == [name, second], "images of one name: each build is there once", listed)
    wanted = [tests.without_sections(path) for path in (program, other)]
    check(wanted[0] != wanted[1], "they are different")
    for which, called in ((0, name), (1, second), (1, f"/a/jit@{places[1]:#x}"), (1, f"jit@{places[1]:#x}"),
                          (0, f"{name}@{places[0]:#x}"), (0, "/a/jit"), (0, "jit")):
        tests.same(f"images of one name: {called}", tests.section(called, at), wanted[which])
    for called in (f"{name}@{places[2]:#x}", f"{name}@{places[1] + 1:#x}", f"{name}@0x", f"/b@{places[1]:#x}"):
        tests.fails(f"images of one name: no {called}", 3, "has no code of this name", "--report", at, called)
    core = core_of(elves[0]).image(elves[0], places[0], f"/a/b@{places[2]:#x}")
    core.image(elves[0], places[1], "/a/b").image(elves[1], places[2], "/a/b")
    at = "--core=" + core.write(tests.path("made"))
    listed = list(tests.report(at))
    if not check(listed == [f"/a/b@{places[2]:#x}@{places[0]:#x}", "/a/b", f"/a/b@{places[2]:#x}"],
                 "a name that ends as an address does", listed):
        return
    for which, called in ((0, listed[0]), (0, listed[1]), (1, listed[2])):
        tests.same(f"a name that ends as an address does: {called}", tests.section(called, at), wanted[which])


def outside(tests, program):
    """A core file names a file that is not below --sysroot."""
    elf = Elf(read(program))
    os.makedirs(tests.path("top/inside"))
    os.makedirs(tests.path("top/outside"))
    shutil.copy(program, tests.path("top/outside/so"))
    shutil.copy(program, tests.path("top/inside/so"))
    sysroot = "--sysroot=" + tests.path("top/inside")
    for name in ("/../outside/so", "/..", "/a/..//../outside/so", "/so/../so"):
        core = core_of(elf).image(elf, BIAS, name, pages=1).write(tests.path("made"))
        tests.fails(f"{name}: no file is opened", 1, 'a part ".."', "--report", "--core=" + core, sysroot, name)
    core = core_of(elf).image(elf, BIAS, "/../outside/so").write(tests.path("made"))
    memory = tests.report("--core=" + core, sysroot)["/../outside/so"]["memory"]
    check('a part ".."' in memory.get("left_out", "") and memory.get("file_bytes", 0) == 0,
          "the report says why nothing is of the file", memory)
    for name in ("/so", "/./so", "/..so"):
        shutil.copy(program, tests.path("top/inside" + name))
        core = core_of(elf).image(elf, BIAS, name, pages=1).write(tests.path("made"))
        tests.same(f"{name} is below --sysroot", tests.section(name, "--core=" + core, sysroot),
                   read_section(tests, program))


def devices(tests, program):
    """What a core file names is not opened before it is known to be a file."""
    elf = Elf(read(program))
    pipe = tests.path("watched")
    os.mkfifo(pipe)
    core = core_of(elf).image(elf, BIAS, pipe, pages=1).write(tests.path("made"))
    libc = ctypes.CDLL(None, use_errno=True)
    in_open, nonblock = 0x20, os.O_NONBLOCK
    watch = libc.inotify_init1(nonblock)
    if watch < 0 or libc.inotify_add_watch(watch, os.fsencode(pipe), in_open) < 0:
        skip("a device of that name is not opened", "no inotify here")
        return
    tests.fails("a device of that name", 1, "not a regular file", "--report", "--core=" + core, pipe)
    try:
        events = os.read(watch, 4096)
    except BlockingIOError:
        events = b""
    check(not events, "a device of that name is not opened", events)
    os.close(watch)


def main():
    with tempfile.TemporaryDirectory() as work:
        tests = Tests(os.path.abspath(sys.argv[1]), os.path.realpath(work))
        program = tests.build("plain")
        of_program(tests, "the kernel's core, few pages", kernel_core(tests, program, "0x33"), program, False)
        of_program(tests, "the kernel's core, all pages", kernel_core(tests, program, "0x7f"), program, True)
        of_program(tests, "gdb's core", gdb_core(tests, program), program, False)
        another_build(tests, program)
        of_one_name(tests, program)
        outside(tests, program)
        devices(tests, program)
        for path in [program, *sys.argv[2:]]:
            if os.path.exists(path):
                made(tests, os.path.realpath(path))
    plan()


main()
