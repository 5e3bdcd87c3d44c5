#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--pid: what running processes have mapped. Sections must be those of the files, and those of the bytes that
this test reads from memory on its own. TAP.

    memory_process.py EH2SFRAME SECTION_ROWS.PY
"""
import ctypes
import os
import shutil
import subprocess
import sys
import tempfile

from memory_lib import PAUSE, Running, Tests, read
from tap import check, must, plan, run, skip

# Loads each file of its arguments from memory that is called "jit", and the last one twice.
LOAD = """
import ctypes, os, signal, sys
libc = ctypes.CDLL(None)
libc.dlmopen.restype = ctypes.c_void_p
for path in sys.argv[1:]:
    fd = os.memfd_create("jit")
    os.write(fd, open(path, "rb").read())
    ctypes.CDLL(f"/proc/self/fd/{fd}")
twice = libc.dlmopen(ctypes.c_long(-1), f"/proc/self/fd/{fd}".encode(), 2)
print("loaded", bool(twice), flush=True)
signal.pause()
"""
# Maps the same bytes of a file behind each other, below an image that claims them all.
REPEAT = """
import ctypes, os, signal, struct
many, block, base = 200, 1 << 21, 0x7e1200000000
size = 4096 + many * block
head = b"\\x7fELF\\2\\1\\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 1, 64, 0, 0)
head += struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, size, size, 4096)
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
for name, data, starts in (("head", head.ljust(4096, b"\\1"), [base]),
                           ("body", b"\\1" * block, [base + 4096 + i * block for i in range(many)])):
    fd = os.memfd_create(name)
    os.write(fd, data)
    for start in starts:
        assert libc.mmap(start, len(data), 5, 0x100011, fd, 0) == start  # shared, and nowhere else
print("mapped", flush=True)
signal.pause()
"""
LIBRARY = "int number(int a) { volatile int n[40]; n[a] = a; return n[a] + a; }\n"
WITH_LIBRARY = PAUSE.replace("int n[3] = {3, 1, argc}", "int number(int); int n[3] = {3, 1, number(argc)}")


def vdso(tests):
    with Running(tests.path("plain")) as process:
        data = process.vdso()
        if not data:
            skip("[vdso]", "this system has none")
            return
        copy = tests.path("vdso.so")
        with open(copy, "wb") as file:
            file.write(data)
        at = ["--pid=" + process.pid, "--vdso"]
        tests.same("[vdso]: the section of the bytes in memory", tests.section(None, *at), tests.section(copy))
        tests.same("[vdso] by its name", tests.section("[vdso]", at[0]), tests.section(copy))
        inside, alone = tests.report(*at)["[vdso]"], tests.report(copy)[copy]
        memory = inside.pop("memory")
        del inside["path"], alone["path"]
        check(inside == alone, "[vdso]: the report of the bytes in memory", f"{inside}\n{alone}")
        check(memory["of"] == "process " + process.pid and memory["bytes"] > 0 and "file" not in memory,
              "[vdso]: the report says where it was", memory)
        for command in ("--dump", "--verify", "--lint=all", "--check-code"):
            here, there = run(tests.tool, command, *at), run(tests.tool, command, copy)
            check((here.returncode, here.stdout.replace("[vdso]", copy)) == (there.returncode, there.stdout),
                  f"[vdso]: {command}", f"{here}\n{there}")
        if not check(run(tests.tool, copy, tests.path("vdso.sf")).returncode == 0, "[vdso]: converted as a file"):
            return
        said = run(tests.tool, "--verify", "--witness=libdwarf", tests.path("vdso.sf"))
        check(said.returncode == 0 and ": 0 differences" in said.stdout, "[vdso]: proven by libdwarf", said.stdout)
        said = run(sys.executable, sys.argv[2], tests.tool, "2,3", copy)
        check(said.returncode == 0, "[vdso]: rows as readelf reads its CFI", said.stdout + said.stderr)


def kinds(tests):
    """Programs of several kinds: each file that they have mapped, with the file and without."""
    for name, compiler, args in (("plain", "cc", []), ("fixed", "cc", ["-no-pie"]),
                                 ("pie", "cc", ["-static-pie"]), ("static", "cc", ["-static"]),
                                 ("musl", "musl-gcc", []), ("musl-pie", "musl-gcc", ["-static-pie"])):
        program = shutil.which(compiler) and tests.build(name, *args, compiler=compiler)
        if not program:
            skip(name, f"{compiler} {' '.join(args)} makes none")
            continue
        with Running(program) as process:
            at = "--pid=" + process.pid
            listed = tests.report(at)
            wanted = [path for path in process.files() if read(path)[:4] == b"\x7fELF"]
            check(sorted(path for path in listed if path[0] == "/") == wanted and
                  set(listed) - set(wanted) <= {"[vdso]"}, f"{name}: all images are in the report", list(listed))
            for path in wanted:
                base = f"{name}: {os.path.basename(path)}"
                tests.same(f"{base}: the section of the file", tests.section(path, at), tests.section(path))
                memory = listed[path]["memory"]
                check(memory["file"] == path and "left_out" not in memory and memory["file_bytes"] > 0,
                      f"{base}: the report says what is of the file", memory)
                bare = tests.without_sections(path)
                alone = tests.section(path, at, "--sysroot=/nonexistent")
                if isinstance(bare, bytes):
                    tests.same(f"{base}: memory alone, as without section headers", alone, bare)
                else:  # without .eh_frame_hdr and section headers it cannot be found
                    check(alone[:2] == bare[:2] == "6:", f"{base}: memory alone has no CFI", f"{alone}{bare}")


def dumps(tests):
    """A program that has .sframe."""
    converted = tests.path("converted")
    must(tests.tool, "-q", tests.path("plain"), converted)
    with Running(converted) as process:
        at = "--pid=" + process.pid
        for more in ([], ["--sysroot=/nonexistent"]):
            here = run(tests.tool, "--dump", at, *more, converted)
            check(here.returncode == 0 and here.stdout == must(tests.tool, "--dump", converted),
                  f"--dump of a section in memory {' '.join(more)}", here.stderr)
            here = run(tests.tool, "--verify", at, *more, converted)
            check(here.returncode == 0 and ": 0 differences" in here.stdout, f"--verify {' '.join(more)}", here)
            check(run(tests.tool, "--lint=all", at, *more, converted).returncode == 0, f"--lint {' '.join(more)}")
        said = must(tests.tool, "--report", "--refresh", at, converted)
        check(f"process {process.pid}, " in said, "--refresh: the report says where the bytes are from", said)
        here = run(tests.tool, "--dump", at, "converted")
        check(here.returncode == 0, "a name without its folders", here.stderr)
        os.symlink(converted, tests.path("link"))
        here = run(tests.tool, "--dump", at, tests.path("link"))
        check(here.returncode == 0, "a link to the name", here.stderr)


def replaced(tests):
    """The file of a library changes while a program has the old one mapped."""
    library, kept = tests.path("libnumber.so"), tests.path("kept.so")
    tests.build("libnumber.so", "-shared", "-fPIC", source=LIBRARY)
    tests.build("user", library, source=WITH_LIBRARY)
    shutil.copy(library, kept)
    with Running(tests.path("user"), env={"LD_LIBRARY_PATH": tests.work}) as process:
        at = "--pid=" + process.pid
        must(tests.tool, "-q", library, library)
        report = tests.report(at)
        name = next(path for path in report if "libnumber" in path)
        check(name == library + " (deleted)" and "headers differ" in report[name]["memory"]["left_out"],
              "a library that was converted since: the report says so", report[name]["memory"])
        tests.same("it has the rows of the old file", tests.section(library, at), tests.without_sections(kept))
        tests.build("libnumber.so", "-shared", "-fPIC", "-fno-omit-frame-pointer", source=LIBRARY + LIBRARY.replace(
            "number", "other"))
        why = tests.report(at, name)[name]["memory"]["left_out"]
        check("build-id differs" in why, "a library of another build: the report says so", why)
        tests.same("it has the rows of the old file, too", tests.section(name, at), tests.without_sections(kept))
        os.unlink(library)
        tests.same("a library that is gone has them, too", tests.section("libnumber.so", at),
                   tests.without_sections(kept))


def of_one_name(tests):
    """Images of one name that are not of one file."""
    libraries = []
    for number, source in enumerate((LIBRARY, LIBRARY + LIBRARY.replace("number", "other"))):
        libraries.append(tests.build(f"one{number}.so", "-shared", "-fPIC", source=source))
    with Running(sys.executable, "-c", LOAD, *libraries) as process:
        at = "--pid=" + process.pid
        jit = [(start, name) for start, _, name in process.maps() if "memfd:jit" in name]
        name = "/memfd:jit (deleted)"
        listed = {path: file["memory"]["address"] for path, file in tests.report(at).items() if "memfd:jit" in path}
        second = next((path for path in listed if path != name), "")
        if not check(len(listed) == 2 and name in listed and second.startswith(name + "@0x"),
                     "images of one name: each file is there once", f"{listed}\n{jit}"):
            return
        # The system chooses the addresses, so the first library may be the higher one.
        wanted = sorted(str(tests.without_sections(path)) for path in libraries)
        got = sorted(str(tests.section(path, at)) for path in listed)
        check(got == wanted and got[0] != got[1], "images of one name: their sections", got)
        tests.same("images of one name: the last part and the address",
                   tests.section("memfd:jit@" + second.split("@")[1], at), tests.section(second, at))
        check(len({start for start, _ in jit}) > 2, "the last one is loaded twice", jit)


def repeated(tests):
    """Few bytes of a file are mapped often, and an image claims them all."""
    with Running(sys.executable, "-c", REPEAT) as process:
        code = ("import resource, subprocess, sys; done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL); "
                "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(done.returncode)")
        said = run(sys.executable, "-c", code, tests.tool, "--report", "--pid=" + process.pid, "memfd:head")
        check(said.returncode == 1 and "the same bytes of a file" in said.stderr and int(said.stdout) < 100 << 10,
              "the same bytes of a file again and again take no memory", said)


def refusals(tests):
    with Running(tests.path("plain")) as process:
        at = "--pid=" + process.pid
        tests.fails("a name that is not mapped", 3, "has no code of this name mapped", "--report", at, "/bin/none")
        tests.fails("a file that is mapped as data", 3, "has no code", "--report", at, "[heap]")
        out = tests.path("new")
        for name, words, args in (
                ("a conversion", "not written as a file", [at, "--vdso", out]),
                ("--remove", "not written as a file", ["--remove", at, "--vdso", out]),
                ("--batch", "--batch is for files", ["--batch", at, tests.work]),
                ("--merge", "for reports", ["--report", "--merge", at, "a.json"]),
                ("two places", "only one of", ["--report", at, "--core=core"]),
                ("--vdso alone", "goes with --pid", ["--report", "--vdso"]),
                ("--sysroot alone", "goes with --pid", ["--report", "--sysroot=/", out]),
                ("no OUT", "and OUT", ["--section-only", at, out]),
                ("no number", "give the number", ["--report", "--pid=1x"]),
                ("number 0", "give the number", ["--report", "--pid=0"]),
                ("a large number", "give the number", ["--report", "--pid=99999999999"]),
                ("--debug-file of all", "--debug-dir", ["--report", at, "--debug-file=x"])):
            tests.fails(f"{name} is a wrong use", 2, words, *args)
        check(not os.path.exists(out), "nothing is written")
        tests.fails("OUT is the input", 2, "is an input", "--section-only", at, tests.path("plain"),
                    tests.path("plain"))
        another_user(tests, process)
    with subprocess.Popen(["true"]) as child:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        tests.fails("a process that has ended", 3, "cannot read its memory" if os.getuid() else "has ended", "--report", f"--pid={child.pid}")
    tests.fails("a process that does not exist", 3, "does not exist", "--report", "--pid=999999999")
    said = run(tests.tool, "--report", "--pid=self", "--vdso")
    check(said.returncode in (0, 3) and ("of process" in said.stdout or "has no code" in said.stderr),
          "the program itself", said.stderr)


def other_roots(tests):
    """Programs in a chroot, and in a mount namespace with another root."""
    program = tests.build("rooted", "-static")
    if os.getuid() or not program or not shutil.which("unshare"):
        skip("programs with another root", "needs root, unshare and a static program")
        return
    os.mkdir(tests.path("jail"))
    shutil.copy(program, tests.path("jail/rooted"))
    wanted = tests.section(program)
    for name, argv in (("in a chroot", ["chroot", tests.path("jail"), "/rooted"]),
                       ("in a mount namespace", ["unshare", "-m", "sh", "-c", 'mount --bind "$0" "$0" && cd "$0" && '
                        "mkdir -p old && pivot_root . old && exec /rooted", tests.path("jail")])):
        with Running(*argv) as process:
            listed = tests.report("--pid=" + process.pid)
            path = next((path for path in listed if path.endswith("/rooted")), None)
            if not path:
                skip(f"a program {name}", "it does not run here")
                continue
            tests.same(f"a program {name}: the section of its file", tests.section(path, "--pid=" + process.pid), wanted)
            check("left_out" not in listed[path]["memory"], f"a program {name}: its file is found", listed[path])


def without_proc(tests):
    """Files open through /proc, and by their names where it is not there."""
    covered = 'mount -t tmpfs none /proc && exec "$0" --report "$1"'
    if os.getuid() or not shutil.which("unshare") or run("unshare", "-m", "mount", "-t", "tmpfs", "none",
                                                         "/proc").returncode:
        skip("a system without /proc", "needs root and unshare")
        return
    plain = tests.path("plain")
    said = run("unshare", "-m", "sh", "-c", covered, tests.tool, plain)
    check(said.returncode == 0 and said.stdout == run(tests.tool, "--report", plain).stdout, "a system without /proc", said)
    said = run("unshare", "-m", "sh", "-c", covered, tests.tool, tests.work)
    check(said.returncode == 1 and "not a regular file" in said.stderr, "a folder on a system without /proc", said)


def another_user(tests, process):
    if os.getuid():
        skip("a process of another user", "only root can be another user")
        return
    tool = tests.path("tool")
    shutil.copy(tests.tool, tool)
    os.chmod(tests.work, 0o755)
    said = subprocess.run([tool, "--report", "--pid=" + process.pid], preexec_fn=lambda: os.setuid(65534),
                          capture_output=True, text=True, check=False)
    if "cannot execute" in said.stderr:
        skip("a process of another user", said.stderr)
        return
    check(said.returncode == 3 and said.stderr.count("\n") == 1 and "ptrace_scope" in said.stderr,
          "a process of another user", f"{said.returncode} {said.stderr}")
    # Root of a container: the process has a capability that it has not.
    prctl, drop = ctypes.CDLL(None).prctl, 24
    said = subprocess.run([tool, "--report", "--pid=" + process.pid],
                          preexec_fn=lambda: [prctl(drop, number, 0, 0, 0) for number in (0, 19)],
                          capture_output=True, text=True, check=False)
    if said.returncode == 0:
        skip("root without CAP_SYS_PTRACE", "the system permits it all the same")
        return
    check(said.returncode == 3 and said.stderr.count("\n") == 1 and "root needs CAP_SYS_PTRACE" in said.stderr and
          "as root" not in said.stderr, "root without CAP_SYS_PTRACE", f"{said.returncode} {said.stderr}")


def main():
    with tempfile.TemporaryDirectory() as work:
        tests = Tests(os.path.abspath(sys.argv[1]), os.path.realpath(work))
        tests.build("plain")
        vdso(tests)
        kinds(tests)
        dumps(tests)
        replaced(tests)
        other_roots(tests)
        without_proc(tests)
        of_one_name(tests)
        repeated(tests)
        refusals(tests)
    plan()


main()
