#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every call that makes, changes, maps or names a file fails, or is the command's last. TAP.

    faults.py EH2SFRAME DIRECTORY full|long

For each of several files, each method and each use of the command, the first, second,
... such call is struck (faults.c), until the command comes through without meeting one. Whatever
happened, OUT holds its old bytes or the complete new ones, IN is as it was, and only a kill may
leave a temporary file behind. In the full tier this is one file, by grow.
"""

import collections
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile

from tap import ACL, check, plan, read

LONG = "long" in sys.argv[3:]
WANTED = 500 if LONG else 150
MAX_CALLS = 200
FAULTS = ["ENOSPC", "EIO", "KILL_BEFORE", "KILL_AFTER", "TERM"]
SIGNALS = {"KILL_BEFORE": 9, "KILL_AFTER": 9, "TERM": 15}
METHODS = ["slack", "grow"] if LONG else ["grow"]
OLD = b"what was here before"


def call(*argv, **env):
    base = dict(os.environ, LC_ALL="C")
    if env:
        options = base.get("ASAN_OPTIONS", "")
        base["ASAN_OPTIONS"] = f"{options}:verify_asan_link_order=0:detect_leaks=0"
    return subprocess.run(argv, env=base | env, capture_output=True)


def attributes(path):
    stat = os.stat(path)
    return stat.st_mode, stat.st_uid, stat.st_gid


class Case:
    """One command line on one file, in a directory of its own."""

    def __init__(self, tool, shim, root, name, options, source, target, old):
        self.tool, self.shim, self.name, self.options = tool, shim, name, options
        self.folder = os.path.join(root, name.replace(" ", "_").replace("/", "_"))
        self.source, self.old = source, old
        self.in_path = os.path.join(self.folder, "in")
        self.out_path = os.path.join(self.folder, target)
        self.log = os.path.join(root, os.path.basename(self.folder) + ".log")
        self.wrong, self.struck = [], collections.Counter()

    def prepare(self):
        for name in os.listdir(self.folder):
            os.unlink(os.path.join(self.folder, name))
        shutil.copyfile(self.source, self.in_path)
        shutil.chown(self.in_path, *attributes(self.source)[1:])
        os.chmod(self.in_path, attributes(self.source)[0])
        for name in os.listxattr(self.source):
            os.setxattr(self.in_path, name, os.getxattr(self.source, name))
        if self.old is not None and self.out_path != self.in_path:
            with open(self.out_path, "wb") as out:
                out.write(self.old)
        if os.path.exists(self.log):
            os.unlink(self.log)

    def run(self, what=None, nth=0):
        self.prepare()
        argv = [self.tool, *self.options, "-q", self.in_path, self.out_path]
        if not what:
            return call(*argv)
        return call(*argv, LD_PRELOAD=self.shim, FAULT_DO=what, FAULT_AT=str(nth), FAULT_LOG=self.log)

    def judge(self, what, where, process):
        """What is wrong after a fault; None when nothing is."""
        out, status = read(self.out_path), process.returncode
        text = process.stderr.decode(errors="replace")
        in_place = self.out_path == self.in_path
        if out != self.new and out != (read(self.source) if in_place else self.old):
            return "OUT is neither the old nor the new file"
        if not in_place and read(self.in_path) != read(self.source):
            return "IN was changed"
        if out is not None and out == self.new and self.new_is != attributes(self.out_path):
            return "OUT is new, but its mode or owner is not"
        strays = set(os.listdir(self.folder)) - {"in", os.path.basename(self.out_path)}
        killed = SIGNALS.get(what) == 9
        if len(strays) > killed or any(not s.startswith(".eh2sframe") for s in strays):
            return f"left behind: {strays}"
        if what in SIGNALS:
            return None if status == -SIGNALS[what] else f"status {status}: {text}"
        # What does not decide about access goes where there is room for it.
        if (what, where) == ("ENOSPC", "fsetxattr user"):
            return None if status == 0 and not text and out == self.new else f"status {status}: {text}"
        if status != 3 or not text.startswith("eh2sframe: ") or text.count("\n") != 1:
            return f"status {status}: {text}"
        return None

    def go(self):
        os.mkdir(self.folder)
        process = self.run()
        if process.returncode:
            self.wrong.append(f"without a fault: {process.stderr.decode(errors='replace')}")
            return self
        self.new, self.new_is = read(self.out_path), attributes(self.out_path)
        for what in FAULTS:
            for nth in range(1, MAX_CALLS):
                process = self.run(what, nth)
                struck = read(self.log)
                if struck is None:
                    if process.returncode or read(self.out_path) != self.new:
                        self.wrong.append(f"{what} {nth}: nothing struck, and no result")
                    break
                self.struck[struck.decode()] += 1
                trouble = self.judge(what, struck.decode(), process)
                if trouble:
                    self.wrong.append(f"{what} at call {nth}, {struck.decode()}: {trouble}")
        shutil.rmtree(self.folder)
        return self


def compiled(root, source_dir):
    """The files: with holes and without, a table that moves and one that does not."""
    probe, library = (os.path.join(source_dir, f) for f in ("insert_probe.c", "insert_library.c"))
    made = {}
    for name, *argv in (
        ("pie", "-O1", probe),
        ("static", "-O1", "-static", probe),
        ("library", "-O1", "-shared", "-fPIC", library),
        ("bss", "-O1", "-no-pie", "-DBSS=3000000", probe),
    ):
        path = os.path.join(root, name)
        if not LONG and name != "pie":
            continue
        if call("gcc", "-D_GNU_SOURCE", *argv, "-o", path).returncode == 0:
            made[name] = path
    # Two program headers that an insertion may take.
    if LONG and "pie" in made:
        path = made["spare"] = os.path.join(root, "spare")
        shutil.copy2(made["pie"], path)
        with open(path, "r+b") as file:
            data = file.read()
            start, n = int.from_bytes(data[32:40], "little"), data[56]
            notes = [at for at in range(start, start + 56 * n, 56) if data[at] == 4]
            file.seek(notes[-1])
            file.write(bytes(4))
    for path in made.values():
        # Another's, so that there is something to give away.
        if os.geteuid() == 0:
            os.chown(path, 1234, 4321)
        os.chmod(path, 0o4751)
        for name, value in (("user.test", b"value"), ("system.posix_acl_access", ACL)):
            try:
                os.setxattr(path, name, value)
            except OSError:
                print(f"# no {name} on this file system")
    return made


def cases(tool, shim, root, made, applied):
    for name, path in made.items():
        def case(what, options, source, target, old=None):
            return Case(tool, shim, root, f"{name} {what}", options, source, target, old)

        for method in METHODS:
            converted = os.path.join(root, f"{name}.{method}")
            option = f"--method={method}"
            process = call(tool, "-q", option, path, converted)
            if process.returncode in (1, 2):
                continue
            if process.returncode:
                check(False, f"{name}, {method}", process.stderr.decode(errors="replace"))
                continue
            applied[method] += 1
            yield case(f"{method}: to a new file", [option], path, "out")
            yield case(f"{method}: over another file", [option], path, "out", OLD)
            yield case(f"{method}: in place", [option], path, "in")
            refresh = [option, "--refresh", "--optimize=none"]  # so that it differs from the old
            yield case(f"{method}: refresh in place", refresh, converted, "in")
            yield case(f"{method}: refresh", refresh, converted, "out", OLD)
            yield case(f"{method}: remove in place", ["remove"], converted, "in")
            yield case(f"{method}: remove", ["remove"], converted, "out", OLD)
        yield case("section only", ["section"], path, "out")
        yield case("section only over another file", ["section"], path, "out", OLD)


def known(tool):
    """The methods that are no usage error."""
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "out")
        return [m for m in METHODS if call(tool, f"--method={m}", tool, out).returncode != 2]


def main():
    tool, source_dir = (os.path.realpath(a) for a in sys.argv[1:3])
    applied, struck = collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory(prefix="faults.") as root:
        shim = os.path.join(root, "faults.so")
        built = call("gcc", "-shared", "-fPIC", "-O1", "-o", shim, os.path.join(source_dir, "faults.c"), "-ldl")
        if built.returncode:
            check(False, "the shim can be built", built.stderr.decode())
        else:
            todo = list(cases(tool, shim, root, compiled(root, source_dir), applied))
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                for case in pool.map(Case.go, todo):
                    points = sum(case.struck.values())
                    struck += case.struck
                    check(points and not case.wrong, f"{case.name}: {points} points", "\n".join(case.wrong))
    points = sum(struck.values())
    print("# struck:", ", ".join(f"{n} {call}" for call, n in sorted(struck.items())))
    check(points >= WANTED, f"{points} points, at least {WANTED}")
    for method in known(tool):
        check(applied[method], f"method {method}: {applied[method]} files")
    for name in ("open", "openat", "pwrite", "fchmod", "fsync", "renameat", "pread"):
        check(struck[name], f"{name}: {struck[name]} times")
    plan()


if __name__ == "__main__":
    main()
