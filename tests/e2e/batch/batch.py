#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""eh2sframe tree convert: which files of a tree it converts, and that each is what the same conversion of
that file alone gives. TAP.

    batch.py EH2SFRAME
"""

import os
import pty
import re
import socket
import subprocess
import sys

import schema_lib
from batch_lib import copy, digest, picture, programs, remove, run, scratch, strays
from tap import check, plan, skip

TOOL = os.path.realpath(sys.argv[1])


def poke(path, offset, value):
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(value)


def compile_to(path, *flags):
    text = "int f(int x) { return x + 1; } int main(void) { return f(-1); }"
    subprocess.run(["gcc", "-O1", *flags, "-x", "c", "-", "-o", path], input=text, text=True, check=True)


def make_tree(top):
    """A tree with one of everything; returns the paths of what is to be converted, one per file."""
    os.makedirs(f"{top}/usr/lib/deep/er")
    os.makedirs(f"{top}/bin")
    os.makedirs("outside", exist_ok=True)
    ls, cat, bash = "/bin/ls", "/bin/cat", "/bin/bash"
    convert = []

    def put(source, name):
        target = os.path.join(os.fsencode(top), os.fsencode(name))
        subprocess.run(["cp", "--", source, target], check=True)
        convert.append(target)
        return target

    put(ls, "bin/ls")
    put(cat, "bin/-rf")
    put(cat, "bin/-")
    put(cat, "bin/new\nline")
    put(cat, "bin/\033[2Jclear")
    put(cat, b"bin/lat\xe9n")
    put(cat, "bin/" + "x" * 250)
    os.chmod(put(bash, "bin/setuid"), 0o4711)
    os.chmod(put(cat, "bin/readonly"), 0o444)
    # Links in one directory, and across directories.
    first = put(bash, "usr/lib/deep/er/linked")
    os.link(first, f"{top}/usr/lib/deep/er/alias")
    os.link(first, f"{top}/bin/zlinked")
    os.link(first, f"{top}/a-linked")
    # Links out of it, and around in it.
    for name in ("program", "file"):
        subprocess.run(["cp", ls, f"outside/{name}"], check=True)
    os.symlink("../../outside", f"{top}/bin/out")
    os.symlink("../../outside/program", f"{top}/bin/program")
    os.symlink("..", f"{top}/usr/up")
    os.symlink("loop", f"{top}/loop")
    os.symlink("nowhere", f"{top}/dangling")
    # What is no ELF file, or none for us.
    for name, data in (
        ("text", b"hello\n"),
        ("empty", b""),
        ("tiny", b"\x7fELF\2\1\1" + bytes(20)),
        ("script.so", b"/* GNU ld script */\n" * 9),
    ):
        with open(f"{top}/usr/{name}", "wb") as file:
            file.write(data)
    os.mkfifo(f"{top}/usr/pipe")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{top}/usr/socket")
    listener.close()
    compile_to(f"{top}/usr/object.o", "-c")
    compile_to(f"{top}/usr/no-cfi", "-nostdlib", "-Wl,-e,main", "-fno-asynchronous-unwind-tables",
               "-fno-unwind-tables", "-Wl,--build-id=none")
    compile_to(f"{top}/usr/debug-only", "-g")
    subprocess.run(["objcopy", "--only-keep-debug", f"{top}/usr/debug-only"], check=True)
    subprocess.run([TOOL, "-q", "--format=3", cat, f"{top}/usr/has-sframe"], check=True)
    subprocess.run(["cp", "/lib64/ld-linux-x86-64.so.2", f"{top}/usr/loader"], check=True)
    for name, offset, value in (
        ("riscv", 18, b"\xf3\0"),
        ("thirty-two", 4, b"\1"),
        ("core", 16, b"\4\0"),
    ):
        subprocess.run(["cp", cat, f"{top}/usr/{name}"], check=True)
        poke(f"{top}/usr/{name}", offset, value)
    return convert


SKIPS = {"other-machine": 2, "relocatable": 1, "core": 1, "no-cfi": 1, "debug-only": 1, "has-sframe": 1, "loader": 1}


def test_everything():
    convert = make_tree("tree")
    os.rename("outside", "outside.0")
    copy("outside.0", "outside")
    try:
        os.setxattr("tree/bin/ls", "user.note", b"kept")
    except OSError:
        skip("extended attributes", "not on this file system")
    copy("tree", "before")
    was, groups = picture("tree")
    for path in convert:
        alone = b"alone"
        subprocess.run([TOOL, "-q", path, alone], check=True)
        was[os.path.relpath(path, b"tree")] = was[os.path.relpath(path, b"tree")][:4] + (
            digest(alone),
        )
        os.unlink(alone)
    for name in (b"usr/lib/deep/er/alias", b"bin/zlinked", b"a-linked"):
        was[name] = was[b"usr/lib/deep/er/linked"]
    outputs = []
    for jobs in ("1", "4", "16"):
        subprocess.run(["rm", "-rf", "tree"], check=True)
        copy("before", "tree")
        got = run(TOOL, "tree", "convert", "-v", "-j", jobs, "--report-file=report.json", "tree")
        told = re.sub(rb"eh2sframe: (no )?sandbox: .*\n", b"", got.err)
        check(got.status == 0 and not told, f"a tree, -j {jobs}", got)
        now, now_groups = picture("tree")
        differ = [k for k in was.keys() | now.keys() if was.get(k) != now.get(k)]
        check(not differ, "each file as by a conversion of its own, all else as it was", differ)
        check(groups == now_groups, "hard links are still links of each other", now_groups)
        with open("report.json", "rb") as file:
            outputs.append((got.out, file.read()))
    check(len(set(outputs)) == 1, "the same output and report for each -j")
    check(picture("outside") == picture("outside.0"), "nothing outside was touched")
    if "user.note" in os.listxattr("before/bin/ls"):
        check(os.getxattr("tree/bin/ls", "user.note") == b"kept", "extended attributes are kept")
    report = schema_lib.document(outputs[0][1])
    summary = report["summary"]
    check(summary["skipped"] == SKIPS, "skipped, by reason", summary)
    check((summary["done"], summary["failed"], summary["not_elf"]) == (len(convert), {}, 4), "counts", summary)
    paths = [file["path"] for file in report["files"]]
    check(paths == sorted(paths) and len(paths) == len(convert) + sum(SKIPS.values()), "files by path", paths)
    linked = next(file for file in report["files"] if "links" in file)
    check(
        [linked["path"], *linked["links"]]
        == ["tree/a-linked", "tree/bin/zlinked"]
        + ["tree/usr/lib/deep/er/alias", "tree/usr/lib/deep/er/linked"],
        "names of one file",
        linked["links"],
    )
    check("tree/bin/lat?n" in paths and "tree/bin/new\nline" in paths, "names of all kinds in the report")
    lines = outputs[0][0].decode(errors="replace").splitlines()
    check(
        len(lines) == len(paths) + 1 and any("new\\012line: " in line for line in lines),
        "one line per file, whatever its name",
        lines,
    )
    check(all(line == re.sub(r"[\0-\x1f]", "", line) for line in lines), "and no control characters")
    again = run(TOOL, "tree", "convert", "tree")
    check(
        again.status == 0 and again.out.startswith(b"0 converted, %d skipped" % len(paths)),
        "a second time there is nothing to do",
        again,
    )
    check(picture("tree") == (was, groups), "and nothing is done")
    other = run(TOOL, "tree", "convert", "-q", "--refresh", "--format=3", "tree")
    check(other.status == 0 and not other.out + other.err, "--refresh, -q: silence", other)
    subprocess.run([TOOL, "-q", "--format=3", "/bin/ls", "ls3"], check=True)
    check(digest("tree/bin/ls") == digest("ls3"), "--refresh as for one file")
    check(picture("tree")[1] == groups, "and links are links")
    check(not strays("."), "no temporary file is left")


def test_names():
    """What is named: files, links, the same twice, what does not exist."""
    os.makedirs("n/sub/two")
    for name in ("one", "sub/two/two", "sub/three"):
        subprocess.run(["cp", "/bin/cat", f"n/{name}"], check=True)
    os.link("n/one", "n/sub/one")
    copy("n", "n0")
    got = run(TOOL, "tree", "convert", "n/one")
    check(
        got.status == 1 and b"n/one: has 2 hard links, of which 1 " in got.err,
        "a link outside of what is named: refused",
        got,
    )
    check(picture("n") == picture("n0"), "and left alone")
    got = run(TOOL, "tree", "convert", "n/sub", "n/one", "./n/sub/two", "n/sub/two/two", "n/one")
    check(
        got.status == 0 and got.out.startswith(b"3 converted, 0 skipped, 0 failed"),
        "named twice and inside each other: each file once",
        got,
    )
    check(picture("n")[1] == picture("n0")[1], "and the links are links")
    os.symlink("n0/sub", "link")
    os.symlink("n0/one", "n0link")
    got = run(TOOL, "tree", "convert", "-v", "link", "n0link")
    check(
        got.status == 0
        and got.out.startswith(b"link/one: ")
        and os.path.islink("n0link")
        and os.path.islink("link"),
        "links that are named are followed",
        got,
    )
    check(picture("n") == picture("n0"), "to the same files")
    got = run(TOOL, "tree", "convert", "missing", "n")
    check(
        got.status == 3
        and got.err == b"eh2sframe: missing: cannot open: No such file or directory\n"
        and got.out.startswith(b"0 converted, 3 skipped"),
        "a path that does not exist: the others go on",
        got,
    )
    os.mkfifo("pipe")
    for path in ("pipe", "/dev/null"):
        got = run(TOOL, "tree", "convert", path)
        check(got.status == 1 and b"neither a regular file nor a directory" in got.err, f"{path} is not opened", got)
    copy("/bin/cat", "n/.eh2sframe.aaaaaa")
    os.chmod("n/.eh2sframe.aaaaaa", 0o600)
    copy("n", "n2")
    got = run(TOOL, "tree", "convert", "n")
    check(
        got.status == 0 and got.out.startswith(b"0 converted, 3 skipped (has-sframe 3), 0 failed")
        and picture("n") == picture("n2"),
        "what another run is writing is not looked at",
        got,
    )
    os.unlink("n/.eh2sframe.aaaaaa")
    got = run(TOOL, "tree", "convert", "/etc/passwd")
    check(got.status == 0 and got.out == b"0 converted, 0 skipped, 0 failed, 1 not ELF\n", "a file that is not ELF", got)
    copy("/bin/ls", "program")
    before = digest("program")
    got = run(TOOL, "tree", "convert", "--report-file=program", "program")
    check(got.status == 2 and digest("program") == before, "a report over a program", got)
    for argv in (["tree"], ["tree", "n"], ["tree", "convert"], ["tree", "convert", "-o", "x", "n"], ["tree", "dump", "n"],
                 ["tree", "convert", "--address=1", "n"], ["tree", "convert", "--cfi=x", "n"],
                 ["merge"]):
        check(run(TOOL, *argv).status == 2, "usage: " + " ".join(argv))


def test_deep():
    """Directories whose files other programs could not open by their paths are left out, each with a line."""
    start = os.open(".", os.O_RDONLY)
    # 16 names of 239 bytes make a path of 3846. The directory "more" is the 257th level of the other tree.
    for top, name, levels, many, words in (
        ("levels", "d", 256, 2, b"more than 256 levels below the named path; "),
        ("length", "d" * 239, 16, 1, b"a path of more than 3839 bytes, "),
    ):
        os.mkdir(top)
        os.chdir(top)
        for level in range(1, levels + 1):
            os.mkdir(name)
            os.chdir(name)
            if level == levels - 1:
                subprocess.run(["cp", "/bin/true", "kept"], check=True)
        subprocess.run(["cp", "/bin/true", "last"], check=True)
        os.mkdir("more")
        subprocess.run(["cp", "/bin/true", "more/never"], check=True)
        os.fchdir(start)
        got = run(TOOL, "tree", "convert", top)
        check(got.status == 1 and got.out.startswith(b"%d converted, 0 skipped, 1 failed" % many) and got.err.count(b"\n") == 1
              and words in got.err, f"{top}: what is too far down is refused, and all else converted", got)
        subprocess.run(["rm", "-rf", top], check=True)
    os.close(start)


def test_failures():
    """The others go on, and the worst status counts."""
    os.makedirs("f/sub")
    for name in ("a", "b", "sub/c"):
        copy("/bin/cat", f"f/{name}")
    copy("/bin/cat", "f/broken")
    poke("f/broken", 40, b"\xff" * 7)
    copy("f", "f0")
    got = run(TOOL, "tree", "convert", "f", "--report-file=f.json")
    check(got.status == 1 and got.out.startswith(b"3 converted") and b"f/broken: " in got.err, "a damaged file", got)
    report = schema_lib.read("f.json")
    broken = next(file for file in report["files"] if file["path"] == "f/broken")
    check(
        report["summary"]["failed"] == {"1": 1}
        and report["summary"]["status"] == 1
        and set(broken) == {"path", "status", "error"},
        "in the report, too",
        report["summary"],
    )
    check(digest("f/broken") == digest("f0/broken"), "is left as it is")
    subprocess.run(["rm", "-r", "f"], check=True)
    copy("f0", "f")
    got = run(TOOL, "tree", "convert", "--min-coverage=100", "--min-coverage-of=text", "f")
    check(got.status == 5 and got.out.startswith(b"0 converted, 0 skipped, 4 failed"), "coverage that is too low", got)
    check(picture("f") == picture("f0"), "changes nothing")
    got = run(TOOL, "tree", "convert", "f", "--report-file=/dev/full")
    check(
        got.status == 1
        and got.err.endswith(b"\neh2sframe: converted, but /dev/full: cannot write: No space left on device\n"),
        "no room for the report",
        got,
    )


def on_terminal(*argv):
    """Standard error of a run that has it on a terminal."""
    leader, follower = pty.openpty()
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=follower, env={**os.environ, "TERM": "xterm"}) as process:
        os.close(follower)
        text = b""
        while True:
            try:
                piece = os.read(leader, 4096)
            except OSError:
                break
            if not piece:
                break
            text += piece
        out = process.stdout.read()
    os.close(leader)
    return out, text


def test_bar():
    os.makedirs("bar/\033]0;title\a")
    for i, path in enumerate(programs(40, 1 << 18)):
        subprocess.run(["cp", path, f"bar/\033]0;title\a/{i}"], check=True)
    out, text = on_terminal(TOOL, "tree", "convert", "-j1", "--witness=libdwarf", "bar")
    last = text.rsplit(b"\r", 1)[-1]
    check(b" files  " in text and b"% " in text, "a bar on a terminal", text[:300])
    check(last == b"\x1b[K", "that is gone in the end", last)
    plain = text.replace(b"\x1b[K", b"").replace(b"\r", b"")
    check(not re.search(rb"[\0-\x1f\x7f-\xff]", plain), "with names that move no cursor", plain[:300])
    check(all(len(p) < 80 for p in text.replace(b"\x1b[K", b"").split(b"\r")), "on one line")
    check(out.count(b"\n") == 1, "and one line of output", out)
    subprocess.run(["rm", "-rf", "bar"], check=True)
    os.makedirs("bar")
    copy("/bin/bash", "bar/bash")
    out, text = on_terminal(TOOL, "tree", "convert", "-q", "--witness=libdwarf", "bar")
    check(not out + text, "-q: none", out + text)


def test_lines():
    """The pool takes a worker's line whatever bytes a name has, and prints it without those that move a cursor."""
    os.makedirs("lines")
    names = [b"\xc3\x80", b"\xe6\x97\xa5\xe6\x9c\xac", b"\xc3\xa4", b"\xff\x9b", b"\xc2\x9b2J", b"plain"]
    for name in names:
        copy("/bin/true", b"lines/" + name)
    got = run(TOOL, "tree", "convert", "-v", "lines")
    check(got.status == 0 and b"6 converted" in got.out and got.out.count(b" functions, ") == 6, "a line for each name", got)
    check(all(b"lines/" + name + b": " in got.out for name in names[:3] + names[5:]) and b"\xc2\x9b" not in got.out + got.err,
          "names as they are, but for control characters", got)


def main():
    top = scratch()
    try:
        test_everything()
        test_names()
        test_deep()
        test_failures()
        test_bar()
        test_lines()
    finally:
        remove(top)
    plan()


if __name__ == "__main__":
    main()
