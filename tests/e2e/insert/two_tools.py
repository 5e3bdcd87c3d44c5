#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two tools that write ELF files, one after the other, on programs and libraries that were converted by slack and
grow: they work as they did before, where they do so without a conversion. Without --all few pairs, sizes and files of
one linker. TAP.

    two_tools.py EH2SFRAME [--all]
"""
import itertools
import os
import shutil
import struct
import subprocess
import sys
import tempfile

from tap import check, plan, skip

TOOL = os.path.abspath(sys.argv[1])
LOADER = "/lib64/../lib64/../lib64/../lib64/ld-linux-x86-64.so.2"
TOOLS = {
    "strip": ["strip"],
    "objcopy": ["objcopy"],
    "eu-strip": ["eu-strip"],
    "llvm-strip": ["llvm-strip"],
    "llvm-objcopy": ["llvm-objcopy"],
    "rpath": ["patchelf", "--set-rpath", "/long/" + "x" * 200],
    "needed": ["patchelf", "--add-needed", "libpthread.so.0"],
    "soname": ["patchelf", "--set-soname", "abc" * 40],
    "interpreter": ["patchelf", "--set-interpreter", LOADER],
}
FEW = ("strip", "eu-strip", "rpath", "needed")
PROGRAM = """#include <math.h>
#include <stdio.h>
__attribute__((noinline)) double f(double x) { return sin(x); }
int main(int argc, char **argv) { return printf("%d %f\\n", argc, f(argc)) < 0 || !argv[0]; }
"""
SAY = '#include <stdio.h>\nint say(void) { return printf("x\\n"); }\n'
LOAD = """import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
sys.exit(library.f1(1) != 2 or library.say() != 2)
"""


def known(*tools):
    """What the man page names (AFTERWARDS)."""
    return "interpreter" in tools and any(tool.startswith("llvm-") for tool in tools[tools.index("interpreter") :])


def works(name, loaded):
    command = [sys.executable, "-S", "-c", LOAD, "./" + name] if loaded else ["./" + name]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def null_symbol(name):
    """Whether the first symbol of .dynsym is zero, or there is no .dynsym."""
    data = open(name, "rb").read()
    table, = struct.unpack_from("<Q", data, 40)
    for i in range(struct.unpack_from("<H", data, 60)[0]):
        kind, = struct.unpack_from("<I", data, table + 64 * i + 4)
        if kind == 11:
            at, = struct.unpack_from("<Q", data, table + 64 * i + 24)
            return data[at : at + 24] == bytes(24)
    return True


def edited(source, tools, loaded):
    """A copy after the tools; whether it works, or None where a tool refuses the file."""
    shutil.copy(source, "edited")
    for tool in tools:
        if subprocess.run([*TOOLS[tool], "edited"], capture_output=True, check=False).returncode:
            return None
    return works("edited", loaded) and null_symbol("edited")


def compile_one(name, options):
    return subprocess.run(["gcc", "-O1", *options, "-o", name], capture_output=True, check=False).returncode == 0


def pairs(name, loaded, method, chosen):
    """All chosen sequences on one file."""
    said = subprocess.run([TOOL, "-q", f"--method={method}", name, "converted"], capture_output=True, text=True, check=False)
    if said.returncode:
        return None
    bad, n = [], 0
    for tools in chosen:
        if known(*tools) or not edited(name, tools, loaded):
            continue
        n += 1
        if not edited("converted", tools, loaded):
            bad.append(" ".join(tools))
    return n, bad


def library(n):
    """The source of a library with n functions and one more."""
    return SAY + "".join(f"int f{i}(int x) {{ return x + {i}; }}\n" for i in range(n))


def sequences(everything):
    have = [tool for tool, command in TOOLS.items() if shutil.which(command[0])]
    if everything:
        triples = [tools for tools in itertools.product(have, repeat=3) if len(set(tools)) == 3]
        return list(itertools.product(have, repeat=2)) + triples
    return [pair for pair in itertools.permutations(FEW, 2) if set(pair) <= set(have)]


def kinds(everything):
    chosen = sequences(everything)
    for linker in ("bfd", "gold", "lld", "mold") if everything else ("bfd",):
        if not shutil.which(f"ld.{linker}"):
            skip(f"ld.{linker}", "not installed")
            continue
        for kind, options in (
            ("pie", ["program.c", "-lm", "-pie", "-fPIE"]),
            ("exec", ["program.c", "-lm", "-no-pie"]),
            ("library", ["library.c", "-shared", "-fPIC"]),
        ):
            if not compile_one("plain", [f"-fuse-ld={linker}", *options]):
                check(False, f"{linker} {kind} can be built")
                continue
            for method in ("slack", "grow"):
                said = pairs("plain", kind == "library", method, chosen)
                if said is None and method == "slack":
                    continue
                check(said and said[0] > 0 and not said[1], f"{linker} {kind}, {method}: {said[0] if said else 0} sequences", said)


def sizes(everything):
    """.gnu.hash and .dynsym of many sizes: patchelf's entries go over none of what stays."""
    bad = []
    for n in range(2, 60, 1 if everything else 9):
        with open("many.c", "w") as file:
            file.write(library(n))
        if not compile_one("plain", ["many.c", "-shared", "-fPIC", f"-Wl,--hash-style={('gnu', 'both')[n % 2]}"]):
            bad.append(f"{n}: cannot build")
            continue
        said = pairs("plain", True, "grow", [("rpath",), ("rpath", "strip")] if n % 4 else [("needed", "rpath", "strip")])
        if not said or said[1] or not said[0]:
            bad.append(f"{n}: {said}")
    check(not bad, "libraries with 3 to 60 names, edited by patchelf and stripped", "\n".join(bad))


def main():
    with tempfile.TemporaryDirectory(prefix="two tools ") as work:
        os.chdir(work)
        for name, text in (("program.c", PROGRAM), ("library.c", library(30))):
            with open(name, "w") as file:
                file.write(text)
        if not shutil.which("patchelf"):
            skip("two tools", "no patchelf")
        else:
            everything = "--all" in sys.argv[2:]
            sizes(everything)
            kinds(everything)
        os.chdir("/")
    plan()


if __name__ == "__main__":
    main()
