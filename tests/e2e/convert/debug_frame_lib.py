# SPDX-License-Identifier: MIT
"""What the tests of .debug_frame have in common: programs whose functions have CFI there alone, and
changes to the bytes of a section."""
import struct

import schema_lib
from elf_text import sections
from tap import must, run

# Frames of each kind that compilers make: none, pushed registers, a frame pointer, calls with arguments
# on the stack, an early return.
SOURCE = r"""
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define APART __attribute__((noinline))
APART int leaf(int n) { return n * 3 + 1; }
APART int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
APART int room(int n) { volatile char *p = __builtin_alloca(n + 8); memset((char *)p, n, n); return p[n / 2] + fib(n); }
APART int sum(int n, ...)
{
	va_list list;
	int all = 0;
	va_start(list, n);
	while (n-- > 0)
		all += va_arg(list, int);
	va_end(list);
	return all;
}
APART int many(int a, int b, int c, int d, int e, int f, int g, int h)
{
	return sum(9, a, b, c, d, e, f, g, h, leaf(a)) + sum(3, h, g, f);
}
APART int early(const int *p, int n)
{
	if (!p)
		return -1;
	int k = 0;
	for (int i = 0; i < n; i++)
		k += fib(p[i] & 7) * room(p[i] & 15) + many(i, k, n, 1, 2, 3, 4, 5);
	return k;
}
static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int unused(int n) { return fib(n) + early(0, n); }
int main(int argc, char **argv)
{
	int list[6] = {5, 3, 9, 1, 2, argc};
	(void)argv;
	qsort(list, 6, sizeof(*list), order);
	printf("%d\n", early(list, 6));
	return 0;
}
"""
FUNCTIONS = {"leaf", "fib", "room", "sum", "many", "early", "order", "main"}
# What turns .eh_frame off: more on AArch64 than elsewhere.
BARE = ("-O2", "-g", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fno-exceptions")
FULL = ("-O2", "-g", "-fasynchronous-unwind-tables")


def report(tool, path, *options):
    """The object of the only file in the JSON report; standard error."""
    made = run(tool, "report", "--json", *options, path)
    return (schema_lib.document(made.stdout)["files"][0] if made.stdout else {}), made.stderr


def by_source(found):
    """{name: source} of the functions that do not have their rows from .eh_frame."""
    return {one.get("name"): one["source"] for one in found.get("other_sources", [])}


def read(path):
    with open(path, "rb") as file:
        return bytearray(file.read())


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def section_header(data, place):
    """Where the file has the section header of a Place (elf_text)."""
    order = "<" if data[5] == 1 else ">"
    start = struct.unpack_from(order + "Q", data, 40)[0]
    size, count = struct.unpack_from(order + "HH", data, 58)
    for i in range(count):
        at = start + i * size
        if struct.unpack_from(order + "QQQ", data, at + 16) == (place.addr, place.offset, place.size):
            return at
    raise RuntimeError("no such section header")


def change(path, out, name, edit):
    """Copies a file and lets edit(bytes, place, header) change it."""
    data, place = read(path), sections(path)[name]
    edit(data, place, section_header(data, place))
    write(out, data)


def dump(tool, path):
    return must(tool, "dump", path)
