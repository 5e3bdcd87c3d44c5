#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Another program writes to a file while the command reads it: at each of many moments, a word that decides how much one
pass finds and the next one stores. The command gives a result or refuses in one line, and OUT is proven or not there. TAP.

    changing.py EH2SFRAME SHARED MOMENTS

Each command meets each word at MOMENTS moments.
"""

import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time

from tap import check, plan, skip_all

TOOL = os.path.realpath(sys.argv[1])
SHIM = os.path.join(os.path.realpath(sys.argv[2]), "changing.c")
MOMENTS = int(sys.argv[3])
N_FDES = 20000
PADDING = 9 << 20  # smaller files are copied before the first look at them
COMMANDS = [["report"], ["report", "--derive"], ["convert"], ["convert", "--code=repair"], ["section"], ["verify"], ["check"]]


def section_of(name, path):
    """Offset and size in the file."""
    for line in subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=True).stdout.splitlines():
        words = line.replace("[ ", "[").split()
        if len(words) > 5 and words[1] == name:
            return int(words[4], 16), int(words[5], 16)
    raise ValueError(f"{path} has no {name}")


def make(name, section, *flags):
    """A library with one FDE for each byte of its code."""
    source = (f".cfi_sections {section}\n.text\n.rept {N_FDES}\n.cfi_startproc\nnop\n.cfi_endproc\n.endr\n"
              f".section .padding, \"\", @progbits\n.zero {PADDING}\n")
    subprocess.run(["gcc", "-shared", "-nostdlib", *flags, "-x", "assembler", "-o", name, "-"], input=source, text=True, check=True)


def words():
    """File, offset and both words: the length of the first FDE, and the size that .debug_frame has decompressed."""
    off, size = section_of(".eh_frame", "frames.so")
    with open("frames.so", "rb") as file:
        data = file.read()
    at = off + 4 + struct.unpack_from("<I", data, off)[0]
    real = struct.unpack_from("<Q", data, at)[0]
    yield "frames.so", at, real, real >> 32 << 32 | off + size - at - 8
    at = section_of(".debug_frame", "packed.so")[0] + 8
    with open("packed.so", "rb") as file:
        real = struct.unpack_from("<Q", file.read(), at)[0]
    yield "packed.so", at, real, 64


def start(argv, file, at, first, then, moment):
    """One run, in which the word is the first one until the moment: its paths, and what came of it."""
    shutil.copy(file, "in")
    with open("in", "r+b") as out:
        out.seek(at)
        out.write(struct.pack("<Q", first))
    paths = ["in"] + ["out"] * (argv[0] in ("convert", "section"))
    if os.path.exists("out"):
        os.unlink("out")
    # Kernels before 6.13 tell two writes apart by their ticks alone.
    time.sleep(0.01)
    env = dict(os.environ, LD_PRELOAD="./changing.so", CHANGING=f"in {at} {then} {moment}", CHANGING_LOG="log")
    return paths, subprocess.run([TOOL, argv[0], "-q", "-j1", *argv[1:], *paths], env=env, capture_output=True, check=False)


def run(argv, file, at, first, then, moment):
    paths, done = start(argv, file, at, first, then, moment)
    errors = done.stderr.decode(errors="replace")
    if done.returncode not in (0, 1, 3, 4, 5, 6) or (done.returncode == 4) > (argv[0] in ("verify", "check")):
        return f"moment {moment}: status {done.returncode}: {errors}"
    if errors.count("\n") > 1 or "a bug" in errors:
        return f"moment {moment}: {errors}"
    if os.path.exists("out") != (done.returncode == 0 and len(paths) == 2):
        return f"moment {moment}: status {done.returncode}, and OUT: {os.path.exists('out')}"
    if argv[0] == "convert" and done.returncode == 0:
        proof = subprocess.run([TOOL, "verify", "-q", *argv[1:], "out"], capture_output=True, check=False)
        if proof.returncode != 0:
            return f"moment {moment}: not proven: {proof.stderr}"
    return ""


def late():
    """What was copied late, and is compared with itself alone, would be of another file than what was read first."""
    at = section_of(".padding", "frames.so")[0] + PADDING // 2
    start(["convert"], "frames.so", at, 0, 1, 0)
    with open("log", encoding="ascii") as log:
        n = int(log.read())
    moments = sorted({1 + i * n // 40 for i in range(40)})
    statuses = [start(["convert"], "frames.so", at, 0, 1, i)[1].returncode for i in moments]
    # The first moments are before the file is opened, and the last behind it all.
    check(statuses[3:36].count(3) > 25 and set(statuses) <= {0, 3}, "bytes that nobody parses change", statuses)


def main():
    if b"__asan_init" in open(TOOL, "rb").read():
        skip_all("a sanitizer has its own malloc; fuzz_change is for it")
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", SHIM, "-o", "changing.so"], check=True)
    make("frames.so", ".eh_frame")
    make("packed.so", ".debug_frame", "-Wl,--compress-debug-sections=zlib")
    late()
    for file, at, real, other in words():
        for argv in COMMANDS:
            for first, then in ((real, other), (other, real)):
                wrong = run(argv, file, at, first, then, 0)
                with open("log", encoding="ascii") as log:
                    n = int(log.read())
                moments = sorted({1 + i * n // MOMENTS for i in range(MOMENTS)})
                bad = [text for text in [wrong] + [run(argv, file, at, first, then, i) for i in moments] if text]
                check(n > 10 and not bad, f"{' '.join(argv)} {file}: 0x{first:x} becomes 0x{then:x}", "\n".join(bad) or n)


os.chdir(tempfile.mkdtemp(prefix="changing."))
try:
    main()
finally:
    shutil.rmtree(os.getcwd(), ignore_errors=True)
plan()
