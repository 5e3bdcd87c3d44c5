# SPDX-License-Identifier: MIT
"""What the tests of images in memory have in common."""
import json
import os
import subprocess

from core_lib import Elf, read
from tap import check, run

PAUSE = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
static int by_number(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(int argc, char **argv)
{
	int n[3] = {3, 1, argc};
	qsort(n, 3, sizeof(n[0]), by_number);
	puts(argv[0]);
	fflush(stdout);
	if (argc > 1 && !strcmp(argv[1], "abort"))
		abort();
	pause();
	return n[0];
}
"""


class Tests:
    """One tool, one folder."""

    def __init__(self, tool, work):
        self.tool, self.work = tool, work

    def path(self, name):
        return os.path.join(self.work, name)

    def section(self, name, *args):
        """The bytes of --section-only, or the message."""
        out = self.path("out.sf")
        if os.path.exists(out):
            os.unlink(out)
        said = run(self.tool, "-q", "--section-only", *args, *([name] if name else []), out)
        return read(out) if said.returncode == 0 else f"{said.returncode}: {said.stderr}"

    def report(self, *args):
        """Members of the files of the JSON report, by path."""
        said = run(self.tool, "-q", "--report=json", *args)
        return {file["path"]: file for file in json.loads(said.stdout)["files"]} if said.stdout else {}

    def without_sections(self, path):
        """The section of a file that has lost its section headers, as memory has."""
        bare = self.path("bare")
        with open(bare, "wb") as file:
            file.write(Elf(read(path)).without_sections())
        return self.section(bare)

    def fails(self, name, status, words, *args):
        """One line that begins with the program's name, and has words."""
        said = run(self.tool, *args)
        lines = said.stderr.splitlines()
        return check(said.returncode == status and len(lines) == 1 and lines[0].startswith("eh2sframe: ") and
                     words in lines[0], name, f"{said.returncode}\n{said.stderr}")

    def same(self, name, got, wanted):
        return check(isinstance(got, bytes) and got == wanted, name,
                     got if isinstance(got, str) else f"{len(got)} bytes, wanted {len(wanted)}")

    def build(self, name, *args, compiler="cc", source=PAUSE):
        """A program, or None."""
        with open(self.path(name + ".c"), "w", encoding="ascii") as file:
            file.write(source)
        made = run(compiler, "-O1", "-Wl,--build-id", "-o", self.path(name), self.path(name + ".c"), *args)
        return self.path(name) if made.returncode == 0 else None


class Running:
    """A program that has printed a line."""

    def __init__(self, *argv, **how):
        # pylint: disable=consider-using-with
        self.child = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **how)
        self.child.stdout.readline()
        self.pid = str(self.child.pid)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()
        self.child.stdout.close()

    def maps(self):
        """(start, end, name) of each mapping."""
        with open(f"/proc/{self.pid}/maps", encoding="utf-8") as file:
            for line in file:
                words = line.rstrip("\n").split(maxsplit=5)
                start, end = (int(word, 16) for word in words[0].split("-"))
                yield start, end, words[5] if len(words) > 5 else ""

    def vdso(self):
        """Its bytes, or None."""
        for start, end, name in self.maps():
            if name == "[vdso]":
                with open(f"/proc/{self.pid}/mem", "rb", buffering=0) as file:
                    file.seek(start)
                    return file.read(end - start)
        return None

    def files(self):
        return sorted({name for _, _, name in self.maps() if name.startswith("/")})
