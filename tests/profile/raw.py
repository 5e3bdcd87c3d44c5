# SPDX-License-Identifier: MIT
"""raw.py RECORD FOLD: eh2sframe-fold on raw recordings: rows of the files that are there, and code without CFI."""
import os
import re
import shutil
import struct
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


def disordered(name, record_type=9):
    """The file with the first tenth of its samples behind all records."""
    with open(name, "rb") as file:
        bytes_ = file.read()
    start, size = struct.unpack_from("<QQ", bytes_, 40)
    kept, samples, at = [], [], start
    while at < start + size:
        kind, _, length = struct.unpack_from("<IHH", bytes_, at)
        (samples if kind == record_type else kept).append((at, bytes_[at:at + length]))
        at += length
    first = samples[:len(samples) // 10]
    kept = sorted(kept + samples[len(first):]) + first
    with open(name + ".disordered", "wb") as file:
        file.write(bytes_[:start] + b"".join(record for _, record in kept) + bytes_[start + size:])
    return name + ".disordered"


tap.must(record, "--raw", "--user", "-q", "-F", "9999", "--stack-size", "32768", "-o", "long.rec", os.path.abspath("prog"))
found, late = folded(fold, "long.rec"), folded(fold, disordered("long.rec"))
tap.check(sum(found.values()) > 1000 and found == late, "a file whose order breaks late is read in order",
          (sum(found.values()), sum(late.values())))
os.rename("prog", "moved")
none = run(fold, path)
tap.check(none.returncode == 0 and "end: file without rows" in none.stderr, "without the file there are no rows", none)
# Of a file without a build-id, another one may have the path and the number of the inode, or its bytes are others.
for how in ("removed", "written over"):
    path = recorded("again", "-Wl,--build-id=none")
    right, wrong = inner(path)
    if how == "removed":
        os.unlink("again")
    shutil.copy("moved", "again")
    found = run(fold, path)
    tap.check(right > 100 and wrong <= right // 100 and "end: file without rows" in found.stderr and "inner" not in found.stdout,
              f"a file that was {how} since, with another one in its place", found)

path = recorded("bare", *WITHOUT_ROWS)
right, wrong = inner(path, "--no-guess")
tap.check(right == 0 and wrong > 100, "--no-guess: callers of code without CFI are not found", (right, wrong))
# A leaf has no frame pointer of its own, so its caller is left out.
found = folded(fold, path)
right = sum(n for stack, n in found.items() if stack.endswith((";main;outer;inner", ";main;outer;middle;inner")))
tap.check(right > 100 and right >= sum(found.values()) * 9 // 10, "the frame pointer leads to them", found)


def outermost(found):
    """Of samples that have main: those that have the caller of main, too, which has CFI."""
    has_main = {stack: n for stack, n in found.items() if ";main;" in stack}
    return sum(n for stack, n in has_main.items() if not stack.split(";")[1].startswith(("main", "[incomplete"))), sum(has_main.values())


def counts_apart(words, first, more, what):
    """The summary's first number has no stack that a frame pointer led to."""
    run = tap.run(*words)
    shares = [float(share) for share in re.findall(r"([0-9.]+) ?%", run.stderr)[:2]]
    tap.check(run.returncode == 0 and len(shares) == 2 and shares[0] <= first and shares[1] >= more and
              "with frames by frame pointers" in run.stderr, what, run.stderr)


got, of = outermost(found)
tap.check(of > 100 and got >= of * 99 // 100, "and from the last of them to its caller, whose frame pointer is none", found)
counts_apart([fold, "-o", "out", path], 10, 90, "the summary counts them apart")

tap.must(record, "-q", "-F", "999", "./bare")
tap.check(";main;" in tap.must(fold), "without a name the one writes and the other reads the same recording")

# Code in no file, which keeps frame pointers, and is called by code with CFI that keeps something else in the register.
with open("jit.c", "w", encoding="utf-8") as file:
    file.write("""#include <string.h>
#include <sys/mman.h>
#include <time.h>
__attribute__((noinline, noclone)) void caller(void *code)
{
#ifdef __x86_64__
	__asm__ volatile("mov $17, %%ebp; call *%0" : : "r"(code) : "rbp", "rcx", "memory", "cc");
#endif
}
int main(void)
{
	/* push %rbp; mov %rsp,%rbp; call 1f; pop %rbp; ret; 1: push %rbp; mov %rsp,%rbp; mov $200000,%ecx; 2: dec %ecx; jnz 2b; pop %rbp; ret */
	static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xe8, 2, 0, 0, 0, 0x5d, 0xc3, 0x55, 0x48, 0x89, 0xe5,
					     0xb9, 0x40, 0x0d, 3, 0, 0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3};
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const clock_t end = clock() + CLOCKS_PER_SEC / 2;

	memcpy(at, code, sizeof(code));
	while (clock() < end)
		caller(at);
	return 0;
}
""")
if os.uname().machine == "x86_64":
    tap.must("gcc", "-O2", "-fomit-frame-pointer", "-mno-red-zone", "-o", "jit", "jit.c")
    for options, share in (([], 0.99), (["--no-guess"], 0)):
        title = "code in no file" + "".join(f", {option}" for option in options)
        tap.must(record, "--user", "-q", "-F", "999", *options, "-o", "jit.rec", "./jit")
        found = {stack: n for stack, n in folded(fold, "jit.rec").items() if "[unknown]" in stack}
        right = sum(n for stack, n in found.items() if re.search(r"^jit;[^\[].*;main;caller;\[unknown\];\[unknown\]$", stack))
        tap.check(sum(found.values()) > 100 and (right >= share * sum(found.values()) if share else right == 0), title, found)
    counts_apart([record, "--user", "-F", "999", "-o", "jit.rec", "./jit"], 5, 90, "the recorder's summary counts it apart")
else:
    tap.skip("code in no file", "code of another machine")
shutil.rmtree(work)
tap.plan()
