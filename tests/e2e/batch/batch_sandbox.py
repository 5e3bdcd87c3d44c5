#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""eh2sframe tree convert in its sandbox: all of the usual work goes on, no worker opens a file before it is inside, a
worker that was taken over costs its file and nothing else, and where the sandbox is not possible -v says why. TAP.

    batch_sandbox.py EH2SFRAME DIRECTORY [long]

long traces each command, not a third of them.
"""

import ctypes
import json
import os
import re
import shutil
import struct
import subprocess
import sys

import schema_lib
from batch_lib import copy, picture, remove, run, scratch, strays
from tap import check, plan, skip

TOOL = os.path.realpath(sys.argv[1])
SHIM = os.path.join(os.path.realpath(sys.argv[2]), "batch_sandbox.c")
LONG = sys.argv[3:] == ["long"]
SANITIZED = b"__asan_init" in open(TOOL, "rb").read()
LINE = re.compile(rb"^eh2sframe: (no )?sandbox: .*\n", re.M)


def compile_c(out, text, *options):
    with open("source.c", "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.run(["gcc", "-O1", *options, "-o", out, "source.c"], check=True)


def make_tree(top):
    """What needs the most of a worker: links, owners, attributes, a debug file, several threads, bad files."""
    os.makedirs(f"{top}/a/b")
    for name in ("ls", "cat", "bash"):
        copy(os.path.realpath(f"/bin/{name}"), f"{top}/a/{name}")
    os.link(f"{top}/a/ls", f"{top}/a/b/linked")
    os.link(f"{top}/a/ls", f"{top}/again")
    os.chmod(f"{top}/a/cat", 0o4755)
    try:
        os.setxattr(f"{top}/a/bash", "user.test", b"value")
    except OSError:
        print("# no attributes on this file system")
    if os.geteuid() == 0:
        os.chown(f"{top}/a/cat", 1234, 4321)
        os.chmod(f"{top}/a/cat", 0o4755)
        try:
            os.setxattr(f"{top}/a/bash", "security.capability", struct.pack("<5I", 0x02000001, 1 << 10, 0, 0, 0))
        except OSError:
            print("# no capabilities on this file system")
    compile_c("whole", "int main(void) { return 0; }\n", "-g", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables",
              "-Wl,--build-id=0x1234567890")
    subprocess.run(["strip", "-g", "-o", f"{top}/a/split", "whole"], check=True)
    os.makedirs("debug/.build-id/12", exist_ok=True)
    subprocess.run(["objcopy", "--only-keep-debug", "whole", "debug/.build-id/12/34567890.debug"], check=True)
    # 32 MiB and more: all threads take one file.
    compile_c(f"{top}/a/large", "char large[33 << 20] = {1};\nint main(void) { return large[5]; }\n")
    with open(f"{top}/a/ls", "rb") as file:
        whole = file.read()
    for name, data in (("short", whole[:5000]), ("payload", whole + b"a payload")):
        with open(f"{top}/a/{name}", "wb") as file:
            file.write(data)


def as_nobody():
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)


def user_can_run():
    """Whether another user reaches the program, which may be below the home directory of root."""
    try:
        return run(TOOL, "--version", preexec_fn=as_nobody).status == 0
    except PermissionError:
        return False


def words_of(got):
    """What a run says, without the line about the sandbox."""
    err = sorted(re.sub(rb"\.eh2sframe\.[0-9a-f]+", b"TEMPORARY", line) for line in LINE.sub(b"", got.err).splitlines())
    return got.status, got.out, err


def traced(argv, user):
    """A run under strace, and its lines: [(process, call, line)]."""
    where = "/tmp" if user else "."
    log = os.path.join(where, f"strace.{os.getpid()}")
    how = {"preexec_fn": as_nobody} if user else {}
    got = run("strace", "-f", "-qq", "-s", "200", "-o", log, TOOL, *argv, **how)
    lines = []
    with open(log, encoding="utf-8", errors="replace") as file:
        for line in file:
            match = re.match(r"(\d+) +(?:<\.\.\. )?(\w+)", line)
            if match:
                lines.append((match[1], match[2], line.rstrip()))
    os.unlink(log)
    return got, lines


# What may fail inside, and what is done then.
HARMLESS = (
    "clone3",  # whose flags no filter can see; libc takes clone
    "/proc/sys/vm/overcommit_memory",  # malloc wants to know, and does without
    "fchown",  # of another user's file: the new one is the caller's own
    "fsetxattr",  # the same
)


def test_work():
    """Each command with and without the sandbox: the same words, the same tree; no refused call, no early open."""
    if run("strace", "-f", "-o", "/dev/null", "true").status:
        skip("the calls of each command", "strace cannot trace here")
        return
    make_tree("old")
    done = 0
    cases = [
        (["convert", "-j1"], None), (["convert", "-j4", "-v"], None), (["convert", "-j2", "--report-file=r.json"], None),
        (["convert", "--format=3", "--optimize=size", "--witness=libdwarf"], None), (["convert", "--code=repair", "--derive"], None),
        (["convert", "--refresh", "--report-file=r.json"], "new"), (["convert", "--report-file=r.json"], "new"), (["remove"], "new"),
        (["verify", "-v"], "new"), (["lint"], "new"), (["check", "--report-file=r.json"], None),
        (["convert", "--baseline=base.json"], None), (["convert", "-j3"], "user"),
    ]
    copy("old", "new")
    run(TOOL, "tree", "convert", "-q", "--debug-dir=debug", "new")
    run(TOOL, "report", "--json", "-q", "-o", "base.json", "old/a/ls")
    # Several threads, derived rows, remove, check and another user.
    for argv, start in cases if LONG else [*cases[1::3], cases[-1]]:
        user = start == "user"
        if user and not user_can_run():
            skip("as another user", f"nobody cannot reach {TOOL}")
            continue
        results = []
        for sandbox in ("off", "on"):
            subprocess.run(["rm", "-rf", "tree"], check=True)
            copy("new" if start == "new" else "old", "tree")
            if user and os.getuid() == 0:
                subprocess.run(["chmod", "755", "."], check=True)
                subprocess.run(["chown", "65534:65534", "tree", "tree/a", "tree/a/bash", "tree/a/large"], check=True)
                os.chmod("tree/a/split", 0)
            line = ["tree", *argv, f"--sandbox={sandbox}", *([] if argv[0] in ("remove", "lint") else ["--debug-dir=debug"]), "tree"]
            if sandbox == "off":
                got = run(TOOL, *line, **({"preexec_fn": as_nobody} if user else {}))
                lines = []
            else:
                got, lines = traced(line, user)
            results.append((words_of(got), picture("tree")))
        check(results[0] == results[1], f"{' '.join(argv)} {start or ''}: the same with the sandbox",
              f"{results[0][0]}\n{results[1][0]}")
        inside, asked, listing, early, refused = {}, {}, set(), [], []
        for process, call, line in lines:
            # strace may print a call in two lines.
            asks = "PR_SET_SECCOMP" in line or (asked.get(process) and "resumed" in line)
            asked[process] = asks
            if call == "prctl" and asks and line.endswith("= 0"):
                inside[process] = True
            if "killed by SIGSYS" in line:
                refused.append(line)
            if process not in inside:
                # The list is made by openat; only a worker enters the folder of a file.
                listing |= {process} if call == "getdents64" else set()
                if call == "fchdir":
                    early.append(line)
                # The process that lists reads 64 bytes of each file.
                if process in listing and (call == "pread64" and ", 64, 0) = " not in line or re.search(r"mmap\(.*, \d+, 0", line)):
                    early.append(line)
            elif re.search(r"= -1 (ENOSYS|EPERM|EACCES)", line) and not any(h in line for h in HARMLESS):
                if not (user and ("EACCES" in line and "old/a" not in line)):
                    refused.append(line)
            done += process in inside
        check(inside and not early, f"{' '.join(argv)}: {len(inside)} processes, each inside before its first file", early)
        check(not refused, f"{' '.join(argv)}: no call is refused", "\n".join(refused))
    print(f"# {done} calls from inside")
    check(done > 1000, "there were many calls")


def batch_hostile(what, sandbox, *options, **env):
    """All files but one are small; the shim acts on that one."""
    subprocess.run(["rm", "-rf", "h"], check=True)
    os.makedirs("h")
    for name in ("cat", "true", "sleep"):
        copy(os.path.realpath(f"/bin/{name}"), f"h/{name}")
    copy(os.path.realpath("/bin/bash"), "h/victim")
    before = picture("h")[0]
    env = dict(os.environ, LD_PRELOAD=os.path.abspath("shim.so"), HOSTILE_DO=what,
               HOSTILE_SIZE=str(os.path.getsize("h/victim")), **env)
    got = run(TOOL, "tree", "convert", "-v", "-j2", f"--sandbox={sandbox}", *options, "h", env=env)
    after = picture("h")[0]
    return got, sorted(name.decode() for name in before if before[name] == after.get(name))


def hostile_report():
    """A report among the files of the tree: a worker finds its temporary name, but what it does there shows."""
    here = os.path.abspath("h")
    got, _ = batch_hostile("READ", "on", "--report-file=h/r.json", HOSTILE_PATH="/dev/null/none")
    honest = len(schema_lib.read("h/r.json")["files"])
    got, _ = batch_hostile("SPOIL", "on", "--report-file=h/r.json", HOSTILE_PATH=here)
    check(got.status == 0 and len(schema_lib.read("h/r.json")["files"]) == honest == 4,
          "SPOIL: what it writes to the report is not in it", got)
    got, _ = batch_hostile("SWAP", "on", "--report-file=h/r.json", HOSTILE_PATH=here)
    check(got.status == 8 and b"h/r.json: another process replaced the temporary file; run again\n" in got.err
          and not os.path.exists("h/r.json"), "SWAP: another file does not become the report", got)


def test_hostile():
    """A worker that was taken over: its file fails, the others are converted."""
    subprocess.run(["gcc", "-shared", "-fPIC", "-O0", "-o", "shim.so", SHIM], check=True)
    os.makedirs("else", exist_ok=True)
    with open("else/secret", "w", encoding="utf-8") as file:
        file.write("secret")
    secret, new = os.path.abspath("else/secret"), os.path.abspath("else/new")
    blamed = b"eh2sframe: h/victim: the sandbox ended its process: it made a system call that no conversion needs; "
    # SECURITY.md lists what it can do, and that it can do nothing else.
    did, denied, unknown = (b"eh2sframe: h/victim: its process ended with status %d; report " % n for n in (100, 13, 38))
    for what, path, words in (
        *((call, "", blamed) for call in ("SOCKET", "EXEC", "FORK", "SIGNAL", "TRACE", "PEEK", "MOUNT", "LINK-TO", "SETUID")),
        ("SIGNAL-THREAD", "", unknown), ("CODE", "", unknown), ("READ", secret, denied), ("WRITE", secret, denied),
        ("WRITE", new, denied), ("CHMOD", secret, denied), ("HELD", os.path.abspath("h"), did),
        ("READ", os.path.abspath("h/cat"), did), ("WRITE", os.path.abspath("h/cat"), did),
        ("CHMOD", os.path.abspath("h/cat"), did),
    ):
        # What is done to cat by one worker must not meet another that converts it.
        got, same = batch_hostile(what, "on", *(["-j1"] if path.endswith("cat") else []), HOSTILE_PATH=path)
        check(
            got.status == 70 and LINE.sub(b"", got.err).startswith(words) and got.err.count(b"\n") == 2 and same == ["victim"]
            and b"\n3 converted, 0 skipped, 1 failed" in got.out and not strays("h") and not os.path.exists(new),
            f"{what} {os.path.basename(path)}: only its file fails", f"{got} {same} {strays('h')}",
        )
    got, same = batch_hostile("OUTPUT", "on")
    check(got.status == 0 and b"taken" not in got.out + got.err and not same, "OUTPUT: it has no standard streams", got)
    hostile_report()
    got, same = batch_hostile("READ", "off", HOSTILE_PATH=secret)
    check(b"ended with status 100; " in got.err, "without a sandbox it could read", got)
    victim = os.path.abspath("else/.eh2sframe.other")
    copy("/bin/true", victim)
    got, same = batch_hostile("RECORD", "off", HOSTILE_PATH=victim)
    check(got.status == 70 and b"signal 9" in got.err and os.path.exists(victim) and same == ["victim"],
          "the pool removes no file elsewhere, whatever a worker noted", f"{got} {same}")
    # A worker that the pool kills may leave its temporary file, as after any SIGKILL.
    run(TOOL, "report", "--json", "-o", "base.json", "/bin/true")
    for what, *options in (("FILE",), ("SIZE",), ("TEXT",), ("ESCAPE",), ("LINE",), ("CHANGES", "--baseline=base.json")):
        got, same = batch_hostile(what, "auto", *options)
        lines = LINE.sub(b"", got.err).splitlines()
        check(
            got.status == 70 and lines and not re.search(rb"[\x1b\x9b]", got.out + got.err)
            and all(b"its process sent a report that makes no sense, and was ended" in line
                    or b"processes sent reports that make no sense; run the command again for the " in line for line in lines),
            f"{what}: the pool ends workers that send such a message", got,
        )
    # A first report that could be true, before the worker's own. Each file counts once, whether or not the pool reads the
    # second report of the last file before it ends; it may also have ended all workers before some first report came.
    for what in ("TWICE", "SKIPPED"):
        got, same = batch_hostile(what, "auto")
        counts = re.search(rb"0 converted, (\d+) skipped .*, (\d+) failed", got.out)
        check((int(counts[1]) + int(counts[2]) == 4 if counts else got.status == 70 and b"make no sense" in got.err)
              and b"\x1b" not in got.out + got.err, f"{what}: a second report of a file does not count", got)


def test_fakeroot():
    """A library that the loader adds makes calls of its own: fakeroot's keeps owners in another process."""
    subprocess.run(["rm", "-rf", "f"], check=True)
    os.makedirs("f")
    copy("/bin/true", "f/true")
    copy("/bin/cat", "f/cat")
    for name in ("fakeroot-sysv", "fakeroot-tcp"):
        if not shutil.which(name):
            skip(name, "it is not there")
            continue
        got = run(name, "sh", "-c", 'chown 12:34 f/true && "$0" tree convert -v f && stat -c "owner %u:%g" f/true && "$0" tree remove f',
                  TOOL)
        check(got.status == 0 and b"no sandbox: LD_PRELOAD" in got.err and b"2 converted" in got.out and b"owner 12:34" in got.out
              and b"2 restored" in got.out, f"{name}: all files are converted, and keep the owner that it shows", got)


# Filters as a container has them, by the numbers of x86-64: landlock_create_ruleset, seccomp, prctl(PR_SET_SECCOMP).
def forbid(landlock, seccomp):
    def instruction(code, yes, no, k):
        return struct.pack("<HBBI", code, yes, no, k)

    program = [instruction(0x20, 0, 0, 0)]
    if landlock:
        program += [instruction(0x15, 0, 1, 444), instruction(0x06, 0, 0, 0x00050000 | 38)]
    if seccomp:
        program += [instruction(0x15, 0, 1, 317), instruction(0x06, 0, 0, 0x00050000 | 1)]
        program += [instruction(0x15, 0, 3, 157), instruction(0x20, 0, 0, 16), instruction(0x15, 0, 1, 22),
                    instruction(0x06, 0, 0, 0x00050000 | 1)]
    program.append(instruction(0x06, 0, 0, 0x7FFF0000))
    data = ctypes.create_string_buffer(b"".join(program))
    head = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(program), ctypes.addressof(data)))
    libc = ctypes.CDLL(None, use_errno=True)

    def enter(kept=data):  # or it would be gone by then
        if not kept or libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, head, 0, 0):
            os._exit(77)

    return enter


def possible():
    """Whether all of it is, asked without the program."""
    return (os.uname().machine == "x86_64" and run("true", preexec_fn=forbid(False, False)).status == 0
            and ctypes.CDLL(None).syscall(444, None, 0, 1) > 1 and b"without" not in run(TOOL, "--version").out)


def test_missing():
    """Where the kernel or a container has not all of it."""
    os.makedirs("n")
    copy("/bin/true", "n/true")
    if os.uname().machine != "x86_64":
        skip("a sandbox that is not possible", "the filter of the test is for x86-64")
        return
    for landlock, seccomp, words in (
        (True, False, b"eh2sframe: sandbox: seccomp; no Landlock: the kernel does not have it\n"),
        (False, True, b"; no seccomp: "),
        (True, True, b"eh2sframe: no sandbox: no Landlock: the kernel does not have it; no seccomp: "),
    ):
        how = {"preexec_fn": forbid(landlock, seccomp)}
        name = f"without{' Landlock' * landlock}{' seccomp' * seccomp}"
        before = picture("n")
        got = run(TOOL, "tree", "convert", "--sandbox", "n", **how)
        if got.status == 77:
            skip(name, "no filter can be set here")
            continue
        check(
            got.status == 3 and got.err.startswith(b"eh2sframe: --sandbox: nothing is done, because not all of it is ")
            and words.strip().replace(b"eh2sframe: ", b"") in got.err and got.err.count(b"\n") == 1 and picture("n") == before,
            f"{name}: --sandbox does nothing", got,
        )
        got = run(TOOL, "--sandbox", "n/true", "n/out", **how)
        check(got.status == 3 and b"nothing is done" in got.err and not os.path.exists("n/out"),
              f"{name}: for one file, too", got)
        got = run(TOOL, "tree", "convert", "-v", "n", **how)
        check(got.status == 0 and words in got.err, f"{name}: tree does without, and -v says why", got)
        got = run(TOOL, "tree", "remove", "-v", "--sandbox=off", "n", **how)
        check(got.status == 0 and b"sandbox" not in got.out + got.err, f"{name}: --sandbox=off says nothing", got)


def test_single():
    """--sandbox without tree: each verb says the same as without."""
    os.makedirs("s")
    copy("/bin/ls", "s/in")
    run(TOOL, "-q", "s/in", "s/converted")
    run(TOOL, "report", "--json", "-q", "-o", "s/old.json", "s/in")
    for argv in (
        ["s/in", "s/out"], ["-v", "--report-file=s/r.json", "s/in", "s/out"], ["-q", "s/in", "s/to"], ["section", "s/in", "s/out"],
        ["report", "s/in", "s/converted"], ["report", "--html", "-o", "s/out", "s/in"], ["dump", "s/converted"],
        ["verify", "-v", "--cfi=s/in", "s/converted"], ["lint", "s/converted"], ["check", "s/in"],
        ["remove", "s/converted", "s/out"], ["merge", "-o", "s/out", "s/old.json"],
        ["diff", "s/old.json", "s/old.json"], ["--baseline=s/old.json", "s/in", "s/out"], ["s/missing", "s/out"],
        ["report", "-o", "/dev/stdout", "s/in"], ["s/in", "s/link"],
    ):
        seen = []
        for sandbox in ("--sandbox=off", "--sandbox"):
            subprocess.run(["rm", "-rf", "s/out", "s/r.json", "s/link", "s/target", "s/to"], check=True)
            os.makedirs("s/to")
            copy("/bin/true", "s/target")
            os.symlink("target", "s/link")
            got = run(TOOL, *argv, sandbox)
            err = re.sub(rb"eh2sframe: sandbox: .*\n", b"", got.err)
            seen.append((got.status, got.out, err, picture("s")))
        check(seen[0] == seen[1], f"--sandbox {' '.join(argv)}", f"{seen[0][:3]}\n{seen[1][:3]}")
    copy("/bin/ls", "hidden")
    got = run(TOOL, "verify", "--sandbox", "s/converted", "hidden")
    check(got.status in (4, 6) or b"hidden" in got.err, "named files are open", got)


def test_debug_links():
    """A link out of the debug directory: what the manual page says."""
    os.makedirs("links/.build-id/12")
    os.symlink(os.path.abspath("debug/.build-id/12/34567890.debug"), "links/.build-id/12/34567890.debug")
    found = []
    for sandbox in ("off", "on"):
        subprocess.run(["rm", "-rf", "d"], check=True)
        os.makedirs("d")
        copy("old/a/split", "d/split")
        run(TOOL, "tree", "convert", "-q", f"--sandbox={sandbox}", "--debug-dir=links", "--report-file=d.json", "d")
        found.append(schema_lib.read("d.json")["files"][0])
    check("left_out" not in found[0].get("sources", {}) and "Permission denied" in json.dumps(found[1].get("sources", {})),
          "a link out of the debug directory is not followed, and the report says so", [f.get("sources") for f in found])


def main():
    top = scratch()
    try:
        os.makedirs("probe")
        copy("/bin/true", "probe/true")
        got = run(TOOL, "tree", "convert", "-v", "probe")
        if not check(LINE.search(got.err) is not None, "-v tells of the sandbox", got):
            plan()
        if SANITIZED:
            check(b"no sandbox: this program was built with a sanitizer" in got.err, "not with a sanitizer", got)
        elif b"eh2sframe: sandbox: Landlock" not in got.err or b" and seccomp" not in got.err:
            check(not possible(), "no part of the sandbox is possible that is not in force", got)
            skip("the sandbox", LINE.search(got.err)[0].decode())
        else:
            test_work()
            test_hostile()
            test_fakeroot()
            test_missing()
            test_single()
            if os.path.exists("old"):
                test_debug_links()
    finally:
        remove(top)
    plan()


if __name__ == "__main__":
    main()
