# SPDX-License-Identifier: MIT
"""moved.py RECORD SHOW: a limit that is known. The kernel has no record of mremap(2), so code that a program moves over other code has the
names and rows of that one. Where this changes, docs/PROFILE.md and eh2sframe-record(1) have to say so. TAP."""
import os
import sys
import tempfile

import tap
from record_lib import Recordings

record, show = map(os.path.abspath, sys.argv[1:3])
SOURCE = """#define _GNU_SOURCE
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#define SPIN(name, n) __attribute__((noinline, noclone, aligned(4096))) int name(void) { for (volatile int i = 0; i < n; i++); return n; }
SPIN(before, 100000)
SPIN(moved, 100001)
SPIN(behind, 100002)
int main(void)
{
	int (*volatile at)(void) = before;
	clock_t end = clock() + CLOCKS_PER_SEC / 2;

	if (sysconf(_SC_PAGESIZE) != 4096)
		return 77;
	if (mremap((void *)moved, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)before) == MAP_FAILED)
		return 1;
	while (clock() < end)
		if (at() != 100001)
			return 2;
	return 0;
}
"""
with tempfile.TemporaryDirectory(dir="/var/tmp") as scratch:
    os.chdir(scratch)
    with open("prog.c", "w", encoding="utf-8") as file:
        file.write(SOURCE)
    tap.must("gcc", "-O1", "-fno-toplevel-reorder", "-o", "prog", "prog.c")
    run = tap.run(record, "--user", "-F", "499", "-o", "x", os.path.abspath("prog"))
    if run.returncode in (77, 124):
        tap.skip_all("pages of another size, or perf_event_open is not permitted here: " + run.stderr.strip())
    found = Recordings(show, os.path.abspath("prog"))
    ends = [(found.name(sample[4][0]), sample[3]) for sample in found.samples("x") if sample[4]]
    tap.check(run.returncode == 0 and ends.count(("before", "outermost frame")) > 50 and "moved" not in dict(ends),
              "code that was moved counts as what was there before", f"{ends}\n{run.stderr}")
tap.plan()
