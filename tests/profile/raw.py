# SPDX-License-Identifier: MIT
"""raw.py RECORD FOLD: eh2sframe-fold on raw recordings: --cache-dir, --no-cache and --guess."""
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
os.environ["XDG_CACHE_HOME"] = work + "/default"
os.environ["LC_ALL"] = "C"

probe = tap.run(record, "--no-cache", "-o", "probe", "true")
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
    tap.must(record, "--raw", "--no-cache", "--user", "-q", "-F", "999", "-o", name + ".rec", os.path.abspath(name))
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
first = folded(fold, path, "--no-cache")
right, wrong = inner(path, "--no-cache")
tap.check(right > 100 and wrong <= right // 100 and not os.path.exists("default"), "--no-cache keeps no rows",
          (right, wrong))
tap.check(folded(fold, path, "--cache-dir=rows") == first and len(os.listdir("rows")) >= 2
          and not os.path.exists("default"), "--cache-dir keeps rows there", os.listdir("rows"))
# The program is gone: now its rows come from the directory alone. It has no names without its file.
os.rename("prog", "moved")
gone = folded(fold, path, "--cache-dir=rows")
tap.check(max(gone.values()) == max(first.values()) and sum("incomplete" in stack for stack in gone) <= 2,
          "--cache-dir takes the rows that are there", gone)
none = run(fold, "--no-cache", path)
tap.check(none.returncode == 0 and "end: file without rows" in none.stderr, "--no-cache takes none", none)
os.rename("moved", "prog")
tap.check(folded(fold, path) == first and len(os.listdir("default/eh2sframe")) >= 2, "the default directory",
          os.listdir("default"))
for options, status, text in ((["--cache-dir="], 2, "--cache-dir"), (["--cache-dir=/proc/none"], 3, "; name another with --cache-dir")):
    got = run(fold, *options, path)
    tap.check(got.returncode == status and text in got.stderr and got.stderr.count("\n") == 1 and not got.stdout
              and "entry at" not in got.stderr,
              f"{options[0]}: status {status}", got)

path = recorded("bare", *WITHOUT_ROWS)
right, wrong = inner(path)
tap.check(right == 0 and wrong > 100, "code without CFI: its callers are not found", (right, wrong))
# A leaf has no frame pointer of its own, so its caller is left out.
found = folded(fold, path, "--guess")
right = sum(n for stack, n in found.items() if stack.endswith((";main;outer;inner", ";main;outer;middle;inner")))
tap.check(right > 100 and right >= sum(found.values()) * 9 // 10, "--guess finds them by the frame pointer", found)
shutil.rmtree(work)
tap.plan()
