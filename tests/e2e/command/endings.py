#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How the command ends when something beside the conversion fails: standard output, the report, memory,
the stack, limits, signals. OUT is then as it was, or the message says that it is converted. TAP.

    endings.py EH2SFRAME SHARED [long]

long lets each allocation fail, not every third.
"""

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

from tap import check, plan, skip

TOOL = os.path.realpath(sys.argv[1])
SHIM = os.path.join(os.path.realpath(sys.argv[2]), "endings.c")
STEP = 1 if sys.argv[3:] == ["long"] else 3
FULL = b"eh2sframe: converted, but cannot write to standard output: "
SANITIZED = b"__asan_init" in open(TOOL, "rb").read()


def digest(path):
    with open(path, "rb") as file:
        return file.read()


def run(*argv, stdout=subprocess.PIPE, env=None, limit=None, **how):
    def limits():
        if limit:
            resource.setrlimit(*limit)

    env = dict(os.environ, **env) if env else None
    if env:
        asan = ":verify_asan_link_order=0:detect_leaks=0"
        env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + asan
    done = subprocess.run([TOOL, *argv], stdout=stdout, stderr=subprocess.PIPE, env=env,
                          preexec_fn=limits, **how)
    done.text = f"status {done.returncode}\nout {done.stdout}\nerr {done.stderr}"
    return done


def fresh():
    shutil.copy2("plain", "x")


def strays():
    return [name for name in os.listdir(".") if name.startswith(".eh2sframe")]


def one_line(done, words):
    return done.stderr.startswith(words) and done.stderr.count(b"\n") == 1


def test_standard_output():
    forms = {"in place": ["x", "x"], "-v": ["-v", "x", "x"], "report": ["--report-file=-", "-q", "x", "x"]}
    for name, argv in forms.items():
        fresh()
        with open("/dev/full", "wb") as full:
            done = run(*argv, stdout=full)
        check(done.returncode == 8 and one_line(done, FULL), f"{name}: standard output is full", done.text)
        check(digest("x") == digest("converted"), f"{name}: and all is converted")
        fresh()
        reader, writer = os.pipe()
        os.close(reader)
        done = run(*argv, stdout=writer)
        os.close(writer)
        check(done.returncode == 8 and one_line(done, FULL), f"{name}: nobody reads it", done.text)
        for how, redirect in (("closed", ">&-"), ("for reading", "</dev/null >&0")):
            fresh()
            done = run_shell(f'"$0" "$@" {redirect}', *argv)
            check(
                done.returncode == 3 and one_line(done, b"eh2sframe: cannot write to standard output: "),
                f"{name}: standard output is {how}",
                done.text,
            )
            check(digest("x") == digest("plain"), f"{name}: and nothing is done")
    fresh()
    done = run_shell('"$0" "$@" >&-', "-q", "x", "x")
    check(done.returncode == 0 and digest("x") == digest("converted"), "-q needs no standard output", done.text)
    with open("/dev/full", "wb") as full:
        done = run("section", "plain", "section", stdout=full)
    check(done.returncode == 8 and os.path.getsize("section") > 28, "section, and it is full", done.text)
    with open("/dev/full", "wb") as full:
        done = run("dump", "converted", stdout=full)
    check(done.returncode == 3, "dump, and it is full: nothing was replaced", done.text)
    fresh()
    done = run_shell('"$0" "$@" <&- >&- 2>&-', "-q", "x", "x")
    check(
        done.returncode == 0 and digest("x") == digest("converted"),
        "no standard streams: no text is in the file",
        done.text,
    )
    # Damage is told on standard error, which must not be a file of the command's.
    done = run_shell('"$0" "$@" <&- >&- 2>&-', "-q", "missing", "new")
    check(done.returncode == 3 and not os.path.exists("new"), "nor is an error's", done.text)


def run_shell(line, *argv):
    done = subprocess.run(["sh", "-c", line, TOOL, *argv], capture_output=True, check=False)
    done.text = f"status {done.returncode}\nout {done.stdout}\nerr {done.stderr}"
    return done


def test_report_file():
    os.makedirs("folder", exist_ok=True)
    for path, words in (
        ("missing/report", "No such file"),
        ("folder", "Is a directory"),
        ("plain/report", "Not a directory"),
    ):
        fresh()
        done = run("-q", f"--report-file={path}", "x", "x")
        check(
            done.returncode == 3
            and one_line(done, f"eh2sframe: {path}: cannot write".encode())
            and words.encode() in done.stderr
            and digest("x") == digest("plain"),
            f"--report-file={path}: nothing is done",
            done.text,
        )
    fresh()
    done = run("-q", "--report-file=/dev/full", "x", "x")
    check(
        done.returncode == 8
        and one_line(done, b"eh2sframe: converted, but /dev/full: cannot write: ")
        and digest("x") == digest("converted"),
        "a report that is not written in the end",
        done.text,
    )
    done = run("-q", "--report-file=/dev/full", "converted", "x")
    check(done.returncode == 3 and b"converted, but" not in done.stderr, "and nothing converted", done.text)
    with open("old", "w") as file:
        file.write("x" * 100000)
    os.chmod("old", 0o640)
    os.link("old", "other")
    os.symlink("nowhere", "link")
    for path in ("old", "link"):
        fresh()
        done = run("-q", f"--report-file={path}", "x", "x")
        check(done.returncode == 0 and digest(path).endswith(b"}\n"), f"{path}: is written", done.text)
    check(os.path.samefile("old", "other") and os.stat("old").st_mode & 0o777 == 0o640, "as it was before")
    # Too large for the limit, after OUT: the part of it is worth nothing.
    fresh()
    size = os.path.getsize("converted")
    done = run("-v", "--report-file=long", "x", "x", env={"LD_PRELOAD": os.path.abspath("shim.so"),
               "ENDING_DO": str(int(signal.SIGTERM))})
    check(
        done.returncode == -signal.SIGTERM and not os.path.exists("long") and not strays(),
        f"interrupted ({size} bytes): no report is left",
        done.text,
    )


def test_nobody_reads_errors():
    """Standard error is a pipe that nobody reads: what was asked for with -o is whole."""
    for argv in (["report", "--json"], ["report", "--html"], ["report"], ["check", "--json"],
                 ["check"]):
        files = ["missing", "plain"]
        for path in ("fresh", "there"):
            with open("there", "wb") as file:
                file.write(b"old")
            whole = run(*argv, "-o", "whole", *files)
            reader, writer = os.pipe()
            os.close(reader)
            status = subprocess.run([TOOL, *argv, "-o", path, *files], stderr=writer, check=False).returncode
            os.close(writer)
            same = os.path.exists(path) and digest(path) == digest("whole")
            check(status == whole.returncode and same and not strays(),
                  f"{' '.join(argv)} -o {path}: nobody reads the errors", (status, whole.text, strays()))
            for name in strays() + ["fresh", "whole"]:
                if os.path.exists(name):
                    os.unlink(name)


def test_memory():
    """Allocations fail, alone and with all after them."""
    for argv in (["-v", "--report-file=report", "x", "x"], ["section", "plain", "section"],
                 ["remove", "-q", "converted", "y"]):
        wrong, late, n = [], 0, 1 - STEP
        old = b"what was here"
        done = None
        while n < 3000:
            n += STEP
            fresh()
            for name in ("section", "y"):
                with open(name, "wb") as file:
                    file.write(old)
            before = digest(argv[-1])
            env = {"LD_PRELOAD": os.path.abspath("shim.so"), "ENDING_HEAP": str(n)}
            if n % 2:
                env["ENDING_ALL"] = "1"
            done = run(*argv, env=env)
            replaced = digest(argv[-1]) != before
            late += done.returncode == 8
            if done.returncode not in (0, 7, 8) or replaced != (done.returncode in (0, 8)) or strays():
                wrong.append((n, done.text, strays()))
            # One line for the file, and one for the report.
            lines = done.stderr.splitlines()
            if len(lines) > 2 or (done.returncode != 0) != (lines != []) or not all(b"emory" in x for x in lines):
                wrong.append((n, done.text))
            if done.returncode == 8 and not all(x.startswith(b"eh2sframe: converted, but ") for x in lines):
                wrong.append((n, done.text))
            if n % 2 and done.returncode == 0:
                break
        check(n > 5 and not wrong, f"{argv[0]}: memory runs out at {n} places, by {STEP}", wrong[:5])
        if "-v" in argv:
            check(late, f"{late} of them after OUT is new: status 8")


def test_limits():
    """The size of files, which is a signal unless it is ignored."""
    shutil.copy2("plain", "x")
    for argv in (["x", "x"], ["remove", "-q", "converted", "x"], ["section", "x", "section"],
                 ["report", "-o", "report", "x"]):
        wrong = []
        for size in (0, 100, 4096, 10000):
            fresh()
            before = digest(argv[-1]) if os.path.exists(argv[-1]) else None
            done = run(*argv, limit=(resource.RLIMIT_FSIZE, (size, size)), env={"TMPDIR": "."})
            after = digest(argv[-1]) if os.path.exists(argv[-1]) else None
            if done.returncode not in (0, 3) or after != before and done.returncode or strays():
                wrong.append((size, done.text, strays()))
            if done.returncode and b"File too large" not in done.stderr:
                wrong.append((size, done.text))
            if size == 0 and done.returncode != 3:
                wrong.append("nothing was too large")
        check(not wrong, f"{' '.join(argv)}: a limit for the size of files", wrong)


def test_stack():
    if SANITIZED:
        skip("a small stack", "a sanitizer needs more")
        return
    small = (resource.RLIMIT_STACK, (80 << 10, resource.RLIM_INFINITY))
    big = os.path.realpath("/usr/lib/x86_64-linux-gnu/libcrypto.so.3")
    run("report", "-q", "--json", "-o", "report.json", "plain")
    for argv in (["plain", "y"], ["-v", "--format=3", "plain", "y"], ["--optimize=size", "plain", "y"],
                 ["section", "plain", "y"], ["report", "-v", "plain"], ["report", "--json", "-v", "plain"],
                 ["report", "--html", "-v", "plain"], ["merge", "report.json"], ["dump", "converted"],
                 ["verify", "-v", "converted"], ["verify", "--witness=libdwarf", "converted"],
                 ["lint", "converted"], ["remove", "converted", "y"], ["tree", "convert", "tree"],
                 ["tree", "convert", "--report-file=y.json", "tree"], ["-j4", big, "y"],
                 ["-j4", "--optimize=size", big, "y"]):
        if argv[-2] == big and not os.path.exists(big):
            skip(f"{' '.join(argv)}: a stack of 80 KiB", f"needs {big}")
            continue
        os.makedirs("tree", exist_ok=True)
        shutil.copy2("plain", "tree/file")
        done = run(*argv, limit=small)
        check(done.returncode == 0, f"{' '.join(argv)}: a stack of 80 KiB", done.text[:2000])


def test_faults():
    """The temporary file goes, and the status is one that the manual page has."""
    if SANITIZED:
        skip("faults", "a sanitizer handles them")
        return
    os.environ.pop("ENDING_HEAP", None)
    for what, status, words in (
        ("STACK", 7, b"eh2sframe: out of memory: the stack is too small"),
        ("SEGV", 70, b"eh2sframe: a bug"),
        ("ABRT", 70, b"eh2sframe: a bug"),
        ("BUS", 3, b"eh2sframe: a file shrank"),
        (signal.SIGTERM, -signal.SIGTERM, b""),
        (signal.SIGQUIT, -signal.SIGQUIT, b""),
        *((number, -number, b"") for number in (signal.SIGXCPU, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF,
                                                signal.SIGUSR1, signal.SIGUSR2)),
    ):
        fresh()
        done = run("x", "x", env={"LD_PRELOAD": os.path.abspath("shim.so"), "ENDING_DO": str(
            int(what) if isinstance(what, int) else what)}, limit=(resource.RLIMIT_CORE, (0, 0)))
        check(
            done.returncode == status
            and (one_line(done, words) if words else not done.stderr)
            and digest("x") == digest("plain")
            and not strays(),
            f"{what}: status {status}",
            f"{done.text} {strays()}",
        )


EVIL = b"a\nb\x1b[31m\x7f\xc2\x9b2J\t\xc3\xa9"
SHOWN = b"a\\012b\\033[31m\\177\\302\\2332J\\011\xc3\xa9"


def test_names():
    """A name is shown with its control characters escaped: as for a plain name otherwise."""
    shutil.copy2("plain", EVIL)
    shutil.copy2("converted", b"c" + EVIL)
    shutil.copy2("converted", "cplain")
    for argv in (
        ["IN", "y"], ["-v", "IN", "y"], ["IN", "plain/OUT"], ["IN", "missing-OUT/y"], ["section", "IN", "y"],
        ["report", "IN"], ["report", "-v", "IN"], ["report", "--json", "-o", "IN", "IN"], ["dump", "cIN", "cIN"],
        ["dump", "IN"], ["verify", "-v", "cIN"], ["verify", "--cfi=missing-IN", "cIN"], ["lint", "cIN"],
        ["remove", "IN", "y"], ["missing-IN", "y"], ["--report-file=missing/IN", "IN", "y"],
        ["report", "-o", "missing/IN", "plain"], ["merge", "missing-IN"], ["tree", "IN", "plain"],
        ["--method=IN", "plain", "y"], ["lint", "--for=IN", "cplain"], ["--IN", "plain"], ["--format=IN", "plain", "y"],
        ["tree", "convert", "missing-IN"], ["tree", "convert", "-v", "IN"], ["tree", "convert", "IN", "--report-file=IN"],
    ):
        shutil.copy2("plain", EVIL)
        fresh_plain = digest("plain")
        evil = run(*(a.encode().replace(b"IN", EVIL).replace(b"OUT", EVIL) for a in argv))
        plain = run(*(a.encode().replace(b"IN", b"plain").replace(b"OUT", b"plain") for a in argv))
        with open("plain", "wb") as file:
            file.write(fresh_plain)
        same = [
            (e.replace(SHOWN, b"plain") == p, e)
            for e, p in ((evil.stdout, plain.stdout), (evil.stderr, plain.stderr))
        ]
        check(
            evil.returncode == plain.returncode and all(ok for ok, _ in same) and SHOWN in evil.stdout + evil.stderr,
            f"{' '.join(argv)}: a name with a newline and escape sequences",
            f"{evil.text}\n{plain.text}",
        )


def test_symbols():
    """Names in the file itself: of functions, also by their demangled names, and of sections."""
    with open("s.c", "w") as file:
        file.write("__attribute__((section(\".text.odd\"))) int odd(int x) { return x + 1; }\n"
                   "int main(int argc, char **argv) { return odd(argc) - 2 + !argv; }\n")
    for name, function in (
        ("a name with a newline and ESC", EVIL), ("one with CSI alone", b"x\x9b2J"), ("one with CSI", b"x\xc2\x9b2J"),
    ):
        for argv in (["gcc", "-c", "-O1", "-fno-inline", "s.c", "-o", "s.o"],
                     ["objcopy", b"--redefine-sym=odd=" + function, b"--rename-section=.text.odd=.text." + function,
                      "s.o", "t.o"], ["gcc", "t.o", "-o", "symbols"]):
            if subprocess.run(argv, capture_output=True).returncode:
                skip(name, f"{argv[0]} refuses it")
                return
        wrong = []
        for argv in (["-v", "--refresh", "symbols", "csymbols"], ["-q", "--format=3", "t.o", "ct.o"],
                     ["report", "-v", "symbols"], ["report", "-v", "--exclude-symbol=*", "t.o"],
                     ["dump", "ct.o"], ["verify", "-v", "csymbols"], ["lint", "csymbols"]):
            done = run(*argv)
            text = done.stdout + done.stderr
            if done.returncode not in (0, 1) or any(c < 32 and c != 10 or c in (127, 0x9b) for c in text):
                wrong.append((argv, done.text))
        check(not wrong, name, wrong)


def main():
    os.environ["LC_ALL"] = "C"
    top = tempfile.mkdtemp(prefix="endings.")
    os.chdir(top)
    try:
        shutil.copy2("/bin/ls", "plain")
        subprocess.run(["gcc", "-shared", "-fPIC", "-O0", "-o", "shim.so", SHIM, "-ldl"], check=True)
        run("-q", "plain", "converted")
        test_standard_output()
        test_report_file()
        test_nobody_reads_errors()
        test_memory()
        test_limits()
        test_stack()
        test_faults()
        test_names()
        test_symbols()
    finally:
        os.chdir("/")
        shutil.rmtree(top)
    plan()


if __name__ == "__main__":
    main()
