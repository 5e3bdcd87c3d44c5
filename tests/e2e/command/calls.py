#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The system calls of each command, as strace lists and fails them. TAP.

    calls.py places EH2SFRAME    nothing is made outside of the directories that the command names
    calls.py fail EH2SFRAME      each call fails once: OUT is the old or the new file, and the status says which
    calls.py meanwhile EH2SFRAME what others do to a file that is converted in its place is not undone
"""

import collections
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from tap import ACL, check, plan, read, run, skip_all, wait_for

TOOL = os.path.realpath(sys.argv[2])
SANITIZED = b"__asan_init" in open(TOOL, "rb").read()
# Each command, with the folders that it may write in. A has inputs, OUT goes to B, reports to C.
COMMANDS = [
    (["a/in", "b/out"], "b"),
    (["-v", "--report-file=c/r.json", "a/in", "b/out"], "bc"),
    (["--method=grow", "--optimize=size", "-j4", "a/in", "b/out"], "b"),
    (["--refresh", "a/converted", "b/out"], "b"),
    (["a/in", "b"], "b"),
    (["a/in", "b/link"], "d"),
    (["--format=3", "a/object.o", "b/out.o"], "b"),
    (["section", "a/in", "b/out"], "b"),
    (["remove", "a/converted", "b/out"], "b"),
    (["--code=repair", "--derive", "--witness=libdwarf", "a/in", "b/out"], "b"),
    (["--baseline=a/base.json", "a/in", "b/out"], "b"),
    (["report", "a/in", "a/converted"], ""),
    (["report", "--json", "-v", "-o", "c/r.json", "a/in"], "c"),
    (["report", "--html", "-o", "c/r.html", "a/in"], "c"),
    (["merge", "-o", "c/m.json", "a/base.json"], "c"),
    (["diff", "-o", "c/d.txt", "a/base.json", "a/base.json"], "c"),
    (["dump", "a/converted"], ""),
    (["verify", "--cfi=a/in", "a/converted"], ""),
    (["lint", "a/converted"], ""),
    (["check", "a/in"], ""),
    (["--sandbox", "a/in", "b/out"], "b"),
    (["tree", "convert", "-j2", "--report-file=c/r.json", "t"], "tc"),
    (["tree", "verify", "t"], ""),
    (["tree", "check", "t"], ""),
    (["tree", "remove", "t"], "t"),
]
MAKES = re.compile(
    r'(?:openat\((?P<at>[^,]*), "(?P<open>[^"]*)", [^)]*(?:O_CREAT|O_TMPFILE)'
    r'|(?P<call>open|creat|mkdir|mknod|symlink|link|rename|unlink|truncate|chmod|chown)(?:at2?)?\((?P<rest>.*)\) += 0)'
)


def prepare():
    for folder in "abcdt":
        os.makedirs(folder, exist_ok=True)
    shutil.copy2("/bin/cat", "a/in")
    shutil.copy2("/bin/cat", "t/one")
    shutil.copy2("/bin/true", "t/two")
    shutil.copy2("/bin/true", "d/target")
    os.link("t/one", "t/three")
    os.symlink("../d/target", "b/link")
    with open("o.c", "w", encoding="utf-8") as file:
        file.write("int f(int x) { return x + 1; }\n")
    subprocess.run(["gcc", "-c", "-O1", "o.c", "-o", "a/object.o"], check=True)
    subprocess.run([TOOL, "-q", "a/in", "a/converted"], check=True)
    subprocess.run([TOOL, "report", "-q", "--json", "-o", "a/base.json", "a/in"], check=True)


def made_by(logs):
    """The paths that traces make, change or remove by name. Each process has a log of its own, so no other one cuts its lines in two."""
    paths = []
    for log in os.listdir(logs):
        with open(os.path.join(logs, log), encoding="utf-8", errors="replace") as file:
            lines = file.readlines()
        for line in lines:
            match = MAKES.match(line)
            if not match:
                continue
            if match["open"] is not None:
                folder = re.search(r"<(.*)>", match["at"])
                paths.append(os.path.join(folder[1] if folder else os.getcwd(), match["open"]))
                continue
            # Of a link or a new name, both.
            where = re.findall(r'(?:<([^>]*)>, )?"([^"]*)"', match["rest"])
            both = [os.path.join(folder or os.getcwd(), path) for folder, path in where]
            paths += both if len({os.path.dirname(path) for path in both}) == 1 else ["/from one directory to another"]
    return paths


def places():
    prepare()
    total, seen = 0, set()
    for argv, folders in COMMANDS:
        # A directory for temporary files that must stay empty.
        os.makedirs("tmp", exist_ok=True)
        env = dict(os.environ, TMPDIR=os.path.abspath("tmp"))
        with tempfile.TemporaryDirectory() as logs:
            done = subprocess.run(["strace", "-ff", "-y", "-qq", "-s", "4096", "-o", logs + "/of", TOOL, *argv],
                                  env=env, capture_output=True, check=False)
            paths = made_by(logs)
        allowed = tuple(os.path.abspath(folder) + "/" for folder in folders)
        wrong = [path for path in paths if not os.path.realpath(path).startswith(allowed or "//")]
        temporary = [path for path in paths if "/.eh2sframe." in path]
        total += len(set(temporary))
        seen |= {os.path.basename(path) for path in temporary}
        check(done.returncode in (0, 4) and not wrong and (paths or not folders) and not os.listdir("tmp"),
              f"{' '.join(argv)}: {len(paths)} names, all in {' '.join(folders) or 'no folder'}",
              f"{wrong}\nstatus {done.returncode} {done.stderr}")
    check(total > 20 and len(seen) == total, f"{total} names of temporary files, none twice", sorted(seen))


# They do not fail by the kernel, or the C library ends the program when they do.
NEVER = {"exit", "exit_group", "futex", "getpid", "gettid", "getppid", "rt_sigreturn", "execve", "restart_syscall",
         "brk"}  # of which the kernel says by its result that nothing has changed
MEMORY = {"mmap", "munmap", "mremap", "mprotect"}


def calls_of(argv):
    """How often each call was made in the first process before main (its first fcntl), and in all."""
    subprocess.run(["strace", "-qq", "-o", "log", TOOL, *argv], capture_output=True, check=False)
    before, after, inside = collections.Counter(), collections.Counter(), False
    with open("log", encoding="utf-8", errors="replace") as file:
        for line in file:
            name = line.split("(")[0]
            inside |= line.startswith("fcntl(0, F_GETFD")
            (after if inside else before)[name] += 1
    return before, after


def judge(struck, done, old, new):
    out, status = read("f/out"), done.returncode
    if read("a/in") != IN:
        return "IN was changed"
    if status not in range(0, 9):
        return f"status {status}"
    if status and not done.stderr.startswith(b"eh2sframe: "):
        # Standard error itself may be what fails.
        if struck != "write":
            return f"status {status}, and no message"
    if out != (new if status in (0, 8) else old):
        return f"status {status}, and OUT is {'the old' if out == old else 'the new' if out == new else 'neither'} file"
    strays = [name for name in os.listdir("f") if name != "out"]
    return f"left: {strays}" if strays and struck not in ("unlink", "unlinkat") else None


def fail():
    global IN
    prepare()
    IN, old = read("a/in"), b"what was here"
    os.makedirs("f")
    for argv in (["-v", "-j1", "a/in", "f/out"], ["section", "-j1", "a/in", "f/out"], ["remove", "-j1", "a/converted", "f/out"],
                 ["--sandbox", "-j1", "a/in", "f/out"]):
        with open("f/out", "wb") as file:
            file.write(old)
        before, after = calls_of(argv)
        new, wrong, n = read("f/out"), [], 0
        for name, count in sorted(after.items()):
            for nth in range(before[name] + 1, before[name] + count + 1):
                if not re.fullmatch(r"\w+", name) or name in NEVER:
                    continue
                with open("f/out", "wb") as file:
                    file.write(old)
                error = "ENOMEM" if name in MEMORY else "EIO"
                done = subprocess.run(
                    ["strace", "-qq", "-o", "/dev/null", "-e", f"inject={name}:error={error}:when={nth}", TOOL, *argv],
                    capture_output=True, check=False)
                n += 1
                trouble = judge(name, done, old, new)
                if trouble:
                    wrong.append(f"{name} {nth}: {trouble}; {done.stderr}")
                for stray in os.listdir("f"):
                    if stray != "out":
                        os.unlink(f"f/{stray}")
        check(new != old and n > 50 and not wrong, f"{' '.join(argv)}: each of {n} calls fails", "\n".join(wrong))


def replace():
    shutil.copyfile("/bin/true", "r/new")
    os.rename("r/new", "r/in")


def append():
    with open("r/in", "ab") as file:
        file.write(b"more")


def patch():
    """As rsync --inplace -t and debugedit write: the times are as before."""
    was = os.stat("r/in")
    with open("r/in", "r+b") as file:
        file.seek(-5, os.SEEK_END)
        file.write(b"PATCH")
    os.utime("r/in", ns=(was.st_atime_ns, was.st_mtime_ns))


# At the open file, or at the sync, which is after the attributes of the new one were set.
CHANGES = [
    ("replaced", "mmap", replace), ("grown", "mmap", append), ("removed", "mmap", lambda: os.unlink("r/in")),
    ("linked", "fsync", lambda: os.link("r/in", "r/other")), ("patched", "fsync", patch),
    ("mode", "fsync", lambda: os.chmod("r/in", 0o700)), ("owner", "fsync", lambda: os.chown("r/in", 1234, 4321)),
    ("ACL", "fsync", lambda: os.setxattr("r/in", "system.posix_acl_access", ACL)), ("gone", "fsync", lambda: os.unlink("r/in"))]


def state(path):
    """Contents, mode, owner and rights; None without a file."""
    if not os.path.exists(path):
        return None
    status = os.stat(path)
    rights = {name: os.getxattr(path, name) for name in os.listxattr(path)}
    return read(path), status.st_ino, status.st_mode, status.st_uid, status.st_gid, rights


def stopped():
    """The process that strace has stopped."""
    match = re.search(rb"(?m)^(\d+) +--- stopped by SIGSTOP", read("log") or b"")
    return int(match[1]) if match else 0


def meanwhile():
    """Others change a file that is converted in its place, when it has been opened: strace stops the command there."""
    os.makedirs("r")
    os.symlink("r/in", "name")
    # Smaller files are read as a whole and not mapped.
    subprocess.run(["gcc", "-o", "large", "-x", "c", "-"], input=b"int main(void) { return 0; } const char large[9 << 20] = {1};", check=True)
    subprocess.run([TOOL, "report", "--json", "-o", "base.json", "large"], check=True)
    subprocess.run([TOOL, "-q", "large", "converted"], check=True)
    for words in (["-q", "r/in", "r/in"], ["-q", "r/in", "./name"], ["--baseline=base.json", "-q", "r/in", "r/in"],
                  ["remove", "-q", "r/in", "r/in"], ["tree", "convert", "-q", "r"], ["tree", "remove", "-q", "r"]):
        for what, call, change in CHANGES:
            if "./name" in words and what == "removed":
                continue  # it is a link to nothing then
            shutil.rmtree("r")
            os.makedirs("r")
            shutil.copyfile("converted" if "remove" in words else "large", "r/in")
            os.chmod("r/in", 0o4755)
            path = ["-P", "r/in"] if call == "mmap" else []
            # The command stops behind the call, until the change is made.
            process = subprocess.Popen(
                ["strace", "-f", "-qq", "-o", "log", *path, "-e", f"trace={call}", "-e",
                 f"inject={call}:signal=STOP:when=1", TOOL, *words, "--sandbox=off"], stderr=subprocess.PIPE)
            wait_for(stopped, process)
            try:
                change()
            except OSError as error:
                print(f"# {what}: {error}")
            changed = state("r/in")
            os.kill(stopped(), signal.SIGCONT)
            # strace says what the path is in full.
            said = re.sub(rb"(?m)^strace: .*\n", b"", process.communicate()[1])
            left = [name for name in os.listdir("r") if name.startswith(".eh2sframe")]
            check(process.returncode == 3 and state("r/in") == changed and said == SAID and not left,
                  f"{what} at {call}, {' '.join(words)}: what others do is not undone",
                  f"{process.returncode} {said} {left}")
            os.unlink("log")
    several_names()


def several_names():
    """A file with three names, of which the first is a new file already: it can be started, and an upgrade of another stays."""
    for change in (None, "r/m", "r/z"):
        shutil.rmtree("r")
        os.makedirs("r")
        shutil.copy2("/bin/true", "r/in")
        os.link("r/in", "r/m")
        os.link("r/in", "r/z")
        process = subprocess.Popen(
            ["strace", "-f", "-qq", "-o", "log", "-e", "trace=renameat", "-e", "inject=renameat:signal=STOP:when=1", TOOL,
             "tree", "convert", "-q", "--sandbox=off", "r"], stderr=subprocess.PIPE)
        wait_for(stopped, process)
        new = os.stat("r/in").st_ino
        check(new != os.stat("r/z").st_ino and run("env", "r/in").returncode == 0, "the first name can be started, the others are old")
        if change:
            shutil.copy2("/bin/cat", "upgrade")
            os.rename("upgrade", change)
        changed = change and state(change)
        os.kill(stopped(), signal.SIGCONT)
        said = process.communicate()[1]
        left = [name for name in os.listdir("r") if name.startswith(".eh2sframe")]
        n = [os.stat(path).st_ino for path in ("r/in", "r/m", "r/z")].count(new)
        check((process.returncode, said, n) == ((3, PARTLY, 2) if change else (0, b"", 3)) and not left
              and changed == (change and state(change)), f"an upgrade of {change}", f"{process.returncode} {said} {n} {left}")
        os.unlink("log")


PARTLY = b"eh2sframe: r/in: changed while it was converted; left as it is, run again; the new file has 2 of its 3 names\n"
SAID = b"eh2sframe: r/in: changed while it was converted; left as it is, run again\n"


def main():
    os.environ["LC_ALL"] = "C"
    if run("strace", "-V").returncode if shutil.which("strace") else True:
        skip_all("there is no strace")
    if run("strace", "-qq", "-o", "/dev/null", "true").returncode:
        skip_all("strace cannot trace here")
    if SANITIZED:
        skip_all("a sanitizer makes calls of its own")
    top = os.path.realpath(tempfile.mkdtemp(prefix="calls."))
    os.chdir(top)
    try:
        {"places": places, "fail": fail, "meanwhile": meanwhile}[sys.argv[1]]()
    finally:
        os.chdir("/")
        shutil.rmtree(top)
    plan()


if __name__ == "__main__":
    main()
