# SPDX-License-Identifier: MIT
"""raw.py RECORD FOLD: eh2sframe-fold on raw recordings: rows of the files that are there, and --guess."""
import os
import shutil
import sys
import tempfile

import tap
from fold_lib import folded, run

record, fold = map(os.path.abspath, sys.argv[1:3])
# A program below /dev, as in /dev/shm, is taken for a device when it is gone.
work = tempfile.mkdtemp(dir="/var/tmp")
os.chdir(work)
os.environ["LC_ALL"] = "C"

probe = tap.run(record, "-o", "probe", "true")
if probe.returncode == 124:
    tap.skip_all("perf_event_open is not permitted here: " + probe.stderr.strip())

with open("prog.c", "w", encoding="utf-8") as file:
    file.write("""#include <time.h>
#define DEEP __attribute__((noinline, noclone))
volatile unsigned long sum;
DEEP void inner(void) { for (int i = 0; i < 100000; i++) sum += (unsigned long)i; }
DEEP void middle(void) { inner(); sum++; }
DEEP void outer(void) { middle(); sum++; }
int main(void)
{
	const clock_t end = clock() + CLOCKS_PER_SEC / 2;

	while (clock() < end)
		outer();
	return 0;
}
""")
WITHOUT_ROWS = ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fno-omit-frame-pointer"]


def recorded(name, *options):
    tap.must("gcc", "-O1", "-Wl,--build-id", *options, "-o", name, "prog.c")
    tap.must(record, "--raw", "--user", "-q", "-F", "999", "-o", name + ".rec", os.path.abspath(name))
    return name + ".rec"


def inner(path, *options):
    """(samples of inner with all its callers, others)"""
    right = wrong = 0
    for stack, n in folded(fold, path, *options).items():
        frames = stack.split(";")
        if frames[-1] != "inner":
            continue
        if "main" in frames and frames[-3:] == ["outer", "middle", "inner"]:
            right += n
        else:
            wrong += n
    return right, wrong


path = recorded("prog")
right, wrong = inner(path)
tap.check(right > 100 and wrong <= right // 100, "its stacks are walked by the files that are there", (right, wrong))
os.rename("prog", "moved")
none = run(fold, path)
tap.check(none.returncode == 0 and "end: file without rows" in none.stderr, "without the file there are no rows", none)

path = recorded("bare", *WITHOUT_ROWS)
right, wrong = inner(path)
tap.check(right == 0 and wrong > 100, "code without CFI: its callers are not found", (right, wrong))
# A leaf has no frame pointer of its own, so its caller is left out.
found = folded(fold, path, "--guess")
right = sum(n for stack, n in found.items() if stack.endswith((";main;outer;inner", ";main;outer;middle;inner")))
tap.check(right > 100 and right >= sum(found.values()) * 9 // 10, "--guess finds them by the frame pointer", found)
shutil.rmtree(work)
tap.plan()
