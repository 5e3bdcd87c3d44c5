#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Bytes after the end of an ELF file: what is no payload is kept, and a payload is refused. A program
that is converted before its payload is appended finds it. TAP.

    payload.py EH2SFRAME
"""
import os
import re
import shutil
import struct
import sys
import tempfile
import zipfile

from tap import check, must, plan, run, skip

tool = os.path.realpath(sys.argv[1])
REFUSED = re.compile(r"eh2sframe: \S+: 0x(\w+) bytes from offset 0x(\w+) on are an appended payload: "
                     r"no section and no segment has them; convert the program before the payload is appended\n")
# As the runtimes of AppImages do: from the end of the section header table. As PyInstaller's boot
# loader does: a mark at the end, and the length before it.
SOURCE = r"""
#include <elf.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
	char word[6] = "", mark[8] = "";
	unsigned long size = 0;
	Elf64_Ehdr ehdr;
	FILE *file = fopen("/proc/self/exe", "rb");

	(void)argv;
	if (fread(&ehdr, sizeof(ehdr), 1, file) != 1)
		return 2;
	fseek(file, (long)ehdr.e_shoff + ehdr.e_shentsize * ehdr.e_shnum, SEEK_SET);
	if (argc > 1) {
		fseek(file, -16, SEEK_END);
		if (fread(&size, 8, 1, file) != 1 || fread(mark, 8, 1, file) != 1 || memcmp(mark, "MEI\014\013\012\013\016", 8))
			return 3;
		fseek(file, -16 - (long)size, SEEK_END);
	}
	return fread(word, 5, 1, file) == 1 && !strcmp(word, "hello") ? 0 : 4;
}
"""
TAIL = b"hello, payload" + struct.pack("<Q", 14) + b"MEI\014\013\012\013\016"


def append(name, program, tail):
    shutil.copy(program, name)
    with open(name, "ab") as file:
        file.write(tail)
    return name


def refused(name, path, size, start):
    made = run(tool, path, "none")
    said = REFUSED.fullmatch(made.stderr)
    check(made.returncode == 1 and said and (int(said[1], 16), int(said[2], 16)) == (size, start) and
          not os.path.exists("none"), f"{name}: refused", made.stderr)
    check(run(tool, "section", "-q", path, "section").returncode == 0 and
          run(tool, "report", path).returncode == 0, f"{name}: but reported on")


def archive(path):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("__main__.py", "print('from the archive')")
    return open(path, "rb").read()


def check_order(size):
    must(tool, "-q", "program", "converted")
    done = append("both", "converted", TAIL)
    check(run("./" + done).returncode == 0 and run("./" + done, "end").returncode == 0,
          "converted first: the program finds its payload, from either end")
    check(run(tool, "verify", "-q", done).returncode == 0, "converted first: proven")
    packed = append("launcher", "converted", archive("app.zip"))
    made = run(sys.executable, packed)
    check(made.stdout == "from the archive\n", "converted first: Python finds an archive", made.stderr)
    if shutil.which("unzip"):
        made = run("unzip", "-tq", packed)
        check("No errors" in made.stdout, "converted first: unzip finds it, too", made.stdout)
    else:
        skip("converted first: unzip", "not installed")
    check(os.path.getsize("program") == size, "the program is as it was")


def main():
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        with open("program.c", "w", encoding="ascii") as file:
            file.write(SOURCE)
        must("gcc", "-O2", "-o", "program", "program.c")
        size = os.path.getsize("program")
        tails = {"an AppImage": TAIL, "a zip archive": archive("app.zip"), "one byte": b"x",
                 "a byte after zeros": bytes(5000) + b"x", "a byte before zeros": b"x" + bytes(5000)}
        for name, tail in tails.items():
            refused(name, append("with", "program", tail), len(tail), size)
        appimage = bytearray(open("with", "rb").read())
        appimage[8:11] = b"AI\002"
        with open("with", "wb") as file:
            file.write(appimage)
        refused("an AppImage with its mark", "with", 5001, size)
        for zeros in (1, 7, 4096, 100000):
            path = append("zeros", "program", bytes(zeros))
            made = run(tool, path, "out")
            check(made.returncode == 0 and run(tool, "verify", "-q", "out").returncode == 0 and
                  open("out", "rb").read()[size:size + zeros] == bytes(zeros),
                  f"{zeros} zeros: converted", made.stderr)
            must(tool, "remove", "out", "back")
            check(open("back", "rb").read() == open(path, "rb").read(), f"{zeros} zeros: and back")
        check_order(size)
        os.chdir("/")
    plan()


main()
