#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""eh2sframe tree convert over trees with kernel modules: which are converted, signatures, what is skipped. TAP.

    batch_modules.py EH2SFRAME
"""
import lzma
import os
import shutil
import struct
import subprocess
import sys

import schema_lib
from batch_lib import copy, digest, picture, remove, run, scratch
from tap import check, plan

TOOL = os.path.realpath(sys.argv[1])
MARK = b"~Module signature appended~\n"
MODULE = """
char __attribute__((section(".gnu.linkonce.this_module"), used)) this_module[64] = "name";
int __attribute__((noinline)) inner(int n) { volatile int kept[9] = {n}; return kept[n & 7]; }
int init_module(void) { return inner(1) + 1; }
"""


def compiled(path, text, compiler="gcc"):
    subprocess.run([compiler, "-O2", "-fasynchronous-unwind-tables", "-c", "-x", "c", "-", "-o", path], input=text, text=True,
                   check=True)


def content(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def many_sections(data):
    """The same module, with the number of its names where a file with many sections has it."""
    data = bytearray(data)
    shoff, = struct.unpack_from("<Q", data, 40)
    struct.pack_into("<I", data, shoff + 40, struct.unpack_from("<H", data, 62)[0])
    struct.pack_into("<H", data, 62, 0xffff)
    return bytes(data)


def make_tree():
    os.makedirs("tree/a folder")
    compiled("tree/module.ko", MODULE)
    module = content("tree/module.ko")
    signature = bytes(range(200))
    write("tree/a folder/signed.ko", module + signature + struct.pack(">8xI", len(signature)) + MARK)
    write("tree/names.ko", many_sections(module))
    write("tree/packed.ko.xz", lzma.compress(module))
    for name in ("packed.ko.zst", "packed.ko.gz", "module.ko.xz.old", "ko.xz", ".ko.xz"):
        write("tree/" + name, b"any bytes")
    compiled("tree/plain.o", MODULE.replace(".gnu.linkonce.this_module", ".modinfo"))
    # Names that are not there: what they are is not known, so they are left alone.
    for number, (at, value) in enumerate(((40, b"\xff" * 8), (40, b"\0" * 7 + b"\1"), (62, b"\xfe\xfe"))):
        write(f"tree/damaged{number}.ko", module[:at] + value + module[at + len(value):])
    write("tree/short.ko", module[:100])
    shutil.copy("/bin/cat", "tree/cat")


def summary():
    report = schema_lib.read("report.json")
    return report["summary"], {os.path.relpath(one["path"], "tree"): one for one in report["files"]}


SKIPPED = {"compressed-module": 3, "relocatable": 5}


def test_convert():
    copy("tree", "before")
    for options, skipped in ((["--for=glibc"], {"kernel-module": 3}),
                             (["--format=3", "--derive"], {"kernel-module": 3}),
                             (["--source=eh_frame,derived", "--format=3"], {"kernel-module": 3}),
                             (["--format=3", "--code=refuse"], {"kernel-module": 3}),
                             (["--format=3"], {"signed-module": 1})):
        got = run(TOOL, "tree", "convert", "--refresh", *options, "--report-file=report.json", "tree")
        counts, files = summary()
        check(got.status == 0 and not got.err and counts["skipped"] == SKIPPED | skipped and counts["not_elf"] == 3,
              f"{options}: what is skipped", got)
        check(digest("tree/a folder/signed.ko") == digest("before/a folder/signed.ko"),
              f"{options}: a signed module stays")
    check(files["a folder/signed.ko"] == {"path": "tree/a folder/signed.ko", "status": 6, "skipped": "signed-module"},
          "the report names it", files["a folder/signed.ko"])
    check(files["module.ko"]["method"]["name"] == "object" and not files["module.ko"]["method"]["signature_left_out"] and
          files["module.ko"]["method"]["file_size"] == os.path.getsize("tree/module.ko"), "a module's method", files["module.ko"])
    check(got.out.startswith(b"3 converted, "), "modules count as converted", got.out)
    for name in ("module.ko", "names.ko"):
        subprocess.run([TOOL, "-q", "--format=3", "before/" + name, "alone"], check=True)
        check(digest("tree/" + name) == digest("alone"), f"{name}: as by a conversion of its own")


def test_signed():
    got = run(TOOL, "tree", "convert", "-q", "--format=3", "--drop-signatures", "--report-file=report.json", "tree")
    data, one = content("tree/a folder/signed.ko"), summary()[1]["a folder/signed.ko"]
    check(got.status == 0 and one["method"]["signature_left_out"] and not data.endswith(MARK), "--drop-signatures", got)
    alone = run(TOOL, "--format=3", "before/a folder/signed.ko", "alone")
    check(alone.err == b"eh2sframe: before/a folder/signed.ko: the module's signature is left out, because it no longer "
          b"matches; sign the new module\n" and data == content("alone"), "as by a conversion of its own", alone)
    again = run(TOOL, "tree", "convert", "--format=3", "tree")
    check(again.status == 0 and again.out.startswith(b"0 converted, ") and b"has-sframe 4" in again.out,
          "a second time there is nothing to do", again)


def test_look():
    for verb, word in (("verify", b"4 proven"), ("lint", b"4 keep every rule"),
                       ("check", b"4 not contradicted")):
        got = run(TOOL, "tree", verb, "tree")
        check(got.status == 0 and word in got.out.splitlines()[-1], f"{verb}: modules, too", got)
    # The step that follows a conversion: to sign.
    write("tree/module.ko", content("tree/module.ko") + bytes(20) + struct.pack(">8xI", 20) + MARK)
    got = run(TOOL, "tree", "convert", "--refresh", "--format=3", "tree")
    check(got.status == 0 and b"signed-module 1)" in got.out and content("tree/module.ko").endswith(MARK),
          "--refresh leaves a module that was signed", got)
    got = run(TOOL, "tree", "remove", "tree")
    check(got.status == 0 and picture("tree")[0].keys() == picture("before")[0].keys() and
          all(digest("tree/" + name) == digest("before/" + name)
              for name in ("module.ko", "names.ko", "a folder/signed.ko", "cat")), "remove gives the modules back", got)


def test_kernel_reader():
    """linux-arm64 is the kernel's own reader, which reads modules."""
    if not shutil.which("aarch64-linux-gnu-gcc"):
        return
    os.mkdir("arm64")
    compiled("arm64/module.ko", MODULE, "aarch64-linux-gnu-gcc")
    for reader, word in (("linux-user", b"kernel-module 1"), ("linux-arm64", b"1 converted")):
        got = run(TOOL, "tree", "convert", "--for=" + reader, "arm64")
        check(got.status == 0 and word in got.out, f"--for={reader}", got)


def test_usage():
    for options in (["--drop-signatures", "before/module.ko", "out"],
                    ["tree", "remove", "--drop-signatures", "tree"],
                    ["tree", "verify", "--drop-signatures", "tree"]):
        got = run(TOOL, *options)
        check(got.status == 2 and b"no option --drop-signatures" in got.err, " ".join(options), got)


top = scratch()
try:
    make_tree()
    test_convert()
    test_signed()
    test_look()
    test_kernel_reader()
    test_usage()
finally:
    remove(top)
plan()
