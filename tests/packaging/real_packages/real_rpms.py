#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two RPM packages of original sources of Debian, by rpmbuild with macros.eh2sframe. TAP.

    real_rpms.py EH2SFRAME PACKAGING DATA [PACKAGE...]

zlib.spec and sed.spec are built twice, by -j3 and by -j1. Their own tests run in %check on the converted files of the
build root. Each file is proven, and its debug file matches. DATA keeps the sources and the logs of rpmbuild.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../shared"))
from tap import check, must, plan, skip, skip_all  # noqa: E402 pylint: disable=wrong-import-position
from check import look  # noqa: E402 pylint: disable=wrong-import-position
from counts import count_tests, said  # noqa: E402 pylint: disable=wrong-import-position
from tree import elf_files  # noqa: E402 pylint: disable=wrong-import-position

HERE = os.path.dirname(os.path.abspath(__file__))


def tarball(name, data):
    """The original source by apt; None where nothing can be fetched."""
    got = subprocess.run([os.path.join(HERE, "../source_fetch.sh"), name, data], capture_output=True, text=True, check=False)
    if got.returncode == 77:
        skip(name, got.stdout.strip())
        return None
    where = os.path.join(data, "get")
    found = [file for file in os.listdir(where) if re.match(rf"{re.escape(name)}_.*\.orig\.tar\.[a-z0-9]+$", file)]
    if not check(got.returncode == 0 and found, f"{name}: source", got.stderr):
        return None
    return os.path.join(where, found[0])


def build(name, source, scratch, jobs, log):
    """Both builds use the same paths. The status; the packages are in RPMS."""
    top = os.path.join(scratch, "top")
    shutil.rmtree(top, ignore_errors=True)
    defines = {"_topdir": top, "_dbpath": f"{scratch}/db", "_tmppath": f"{scratch}/tmp", "eh2sframe_brp": f"{scratch}/bin/brp-eh2sframe", "tarball": os.path.join(scratch, os.path.basename(source)),
               "_smp_mflags": f"-j{jobs}", "_buildhost": "builder", "use_source_date_epoch_as_buildtime": "1",
               "clamp_mtime_to_source_date_epoch": "1"}
    words = [word for key, value in defines.items() for word in ("--define", f"{key} {value}")]
    environment = dict(os.environ, HOME=f"{scratch}/home", PATH=f"{scratch}/bin:{os.environ['PATH']}", SOURCE_DATE_EPOCH="1700000000",
                       LC_ALL="C.UTF-8", TMPDIR=f"{scratch}/tmp")
    user = []
    if os.getuid() == 0:
        # The tests of sed expect that a directory can be closed to the user.
        user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        must("chown", "-R", "65534:65534", scratch)
    with open(log, "w", encoding="utf-8") as out:
        return subprocess.run([*user, "rpmbuild", "-bb", "--nodeps", *words, os.path.join(scratch, f"{name}.spec")], env=environment,
                              stdin=subprocess.DEVNULL, stdout=out, stderr=out, check=False).returncode


def keep(scratch, name):
    """Moves the packages to a folder, and unpacks them there; {file name: digest}."""
    kept = os.path.join(scratch, name)
    os.makedirs(kept)
    found = {}
    for where, _, files in os.walk(os.path.join(scratch, "top/RPMS")):
        for file in sorted(files):
            found[file] = must("sha256sum", os.path.join(where, file)).split()[0]
            must("sh", "-c", 'cd "$1" && rpm2cpio "$0" | cpio -idm --quiet', os.path.join(where, file), kept)
    return found


def test(name, data):
    source = tarball(name, data)
    if not source:
        return
    scratch = os.path.join(os.environ["TMPDIR"], name)
    os.makedirs(f"{scratch}/home")
    os.makedirs(f"{scratch}/tmp")
    os.symlink(f"{os.environ['TMPDIR']}/bin", f"{scratch}/bin")
    shutil.copy(os.path.join(os.environ["TMPDIR"], "macros"), f"{scratch}/home/.rpmmacros")
    for path in (source, os.path.join(HERE, f"{name}.spec")):
        shutil.copy(path, scratch)
    log = os.path.join(data, f"{name}.log")
    if not check(build(name, source, scratch, 3, log) == 0, f"{name}: rpmbuild of {os.path.basename(source)}", said(data, f"{name}.log")):
        return
    tests = count_tests(log)
    # A suite that prints no numbers counts as one, where it says that it passed.
    check((tests.get("passed") or tests.get("suites")) and not tests.get("failed"), f"{name}: its own tests run on the converted files of the package: {tests}")
    first = keep(scratch, "first")
    kept = os.path.join(scratch, "first")
    seen = {path: look(path, os.path.join(kept, "usr/lib/debug"), scratch) for path in elf_files(kept) if "/usr/lib/debug/" not in path}
    bad = {path: file for path, file in seen.items() if not file.get("converted") or file["verify"] or not file["text"]}
    check(seen and not bad, f"{name}: {len(seen)} ELF files in {len(first)} packages are proven", bad)
    unlike = {path: file["debug"] for path, file in seen.items() if file.get("debug") != []}
    check(not unlike, f"{name}: {len(seen)} debug files match", unlike)
    if check(build(name, source, scratch, 1, log) == 0, f"{name}: rpmbuild -j1", said(data, f"{name}.log")):
        second = keep(scratch, "second")
        check(first == second, f"{name}: {len(first)} packages are the same, by -j3 and -j1", (first, second))


def main():
    tool, packaging, data, names = *(os.path.realpath(word) for word in sys.argv[1:4]), sys.argv[4:]
    for need in ("rpmbuild", "rpm2cpio", "cpio", "gdb", "eu-unstrip", "find-debuginfo"):
        if not shutil.which(need):
            skip_all(f"needs {need}")
    os.makedirs(data, exist_ok=True)
    with tempfile.TemporaryDirectory(dir="/var/tmp") as scratch:
        os.environ["TMPDIR"] = scratch
        os.makedirs(f"{scratch}/bin")
        os.chmod(scratch, 0o755)
        shutil.copy(tool, f"{scratch}/bin/eh2sframe")
        shutil.copy(os.path.join(packaging, "rpm/brp-eh2sframe"), f"{scratch}/bin/brp-eh2sframe")
        os.environ["PATH"] = f"{scratch}/bin:{os.environ['PATH']}"
        shutil.copy(os.path.join(packaging, "rpm/macros.eh2sframe"), f"{scratch}/macros")
        for name in names or ["zlib", "sed"]:
            test(name, data)
    plan()


if __name__ == "__main__":
    main()
