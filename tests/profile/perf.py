#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perf.data both ways: perf(1) reads what eh2sframe-record writes, and eh2sframe-fold reads what perf record writes. TAP.

    perf.py RECORD FOLD STACKS LIBRARY
"""
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import tap
from fold_lib import folded, run

record, fold, stacks, library = map(os.path.abspath, sys.argv[1:5])
work = tempfile.mkdtemp()
os.chdir(work)
os.environ["LC_ALL"] = "C"
os.environ.pop("DEBUGINFOD_URLS", None)
if not shutil.which("perf") or run("perf", "--version").returncode:
    tap.skip_all("perf is not installed")
if tap.run(record, "-o", "probe", "true").returncode == 124:
    tap.skip_all("perf_event_open is not permitted here")


def stacks_of_perf(path, *options):
    """The stacks of perf script, as a Counter of names from the outermost one on. What has no name is its file."""
    text = tap.must("perf", "script", "-i", path, "-F", "comm,ip,sym,dso", *options)
    found = collections.Counter()
    for block in text.strip().split("\n\n"):
        comm, *lines = block.strip().splitlines()
        frames = []
        for line in lines:
            name, dso = re.fullmatch(r"\s*[0-9a-f]+ (.*) \((.*)\)", line).groups()
            frames.append(re.sub(r"@@?[A-Z]\S*$", "", name) if name != "[unknown]" else f"[{os.path.basename(dso)}]")
        if frames:
            found[";".join([comm.strip(), *reversed(frames)])] += 1
    return found


def recorded(*words):
    """perf record. While another program records with build-ids, the kernel gives them to perf, too, and perf 6.1 aborts."""
    for _ in range(20):
        done = run("perf", "record", "-q", *words)
        if "assertion failed at util/build-id.c" not in done.stderr:
            break
        time.sleep(1)
    return done


def shares_of(stacks_found):
    """The samples of each function of the program that is called by main, by its callers there."""
    found = collections.Counter()
    for stack, n in stacks_found.items():
        names = stack.split(";")
        if "main" in names and "inner" in names:
            found[tuple(names[names.index("main"):names.index("inner") + 1])] += n
    return found


# Ours, read by perf.
done = tap.run(record, "-F", "999", "--user", "-o", "own", stacks)
tap.check(done.returncode == 0, "a recording", done.stderr)
said = run("perf", "report", "-i", "own", "--stdio")
tap.check(said.returncode == 0 and not re.search(r"(?i)warning|error|unknown event", said.stderr + said.stdout),
          "perf report says nothing against it", said.stderr + said.stdout[:500])
header = tap.must("perf", "report", "-i", "own", "--header-only")
tap.check("cmdline : " + stacks in header and f"hostname : {os.uname().nodename}" in header and "name = cpu-clock" in header and
          f"nrcpus avail : {os.sysconf('SC_NPROCESSORS_CONF')}" in header,
          "perf report --header-only", header)
ours, perfs = shares_of(folded(fold, "own")), shares_of(stacks_of_perf("own"))
tap.check(sum(ours.values()) > 100 and ours == perfs, "perf script has the stacks of eh2sframe-fold", f"{ours}\n{perfs}")
tap.check("inner" in tap.must("perf", "annotate", "-i", "own", "--stdio", "-s", "inner"), "perf annotate")
done = tap.run(record, "-F", "999", "--user", "--raw", "-o", "raw", stacks)
ours, perfs = shares_of(folded(fold, "raw")), shares_of(stacks_of_perf("raw"))
tap.check(sum(ours.values()) > 100 and sum((ours & perfs).values()) >= 0.98 * sum(ours.values()),
          "--raw: perf walks the copies of stacks itself, and finds the same", f"{ours}\n{perfs}")

# Perf's, read by us.
for what, options, share in (("dwarf", ["--call-graph", "dwarf"], 0.98), ("fp", ["--call-graph", "fp"], 1),
                             ("no stacks", [], 1)):
    done = recorded("-F", "999", "-e", "cpu-clock:u", *options, "-o", "perf.data", stacks)
    tap.check(done.returncode == 0, f"perf record, {what}", done.stderr)
    got = run(fold, "-o", "folded.txt", "perf.data")
    n = tap.must("perf", "script", "-i", "perf.data", "-F", "comm,time,event", "-G").count("cpu-clock")
    tap.check(f" {n} samples, " in got.stderr, f"{what}: each sample of perf is read", (n, got.stderr))
    if what == "dwarf":
        whole = float(re.search(r"([0-9.]+)% with complete", got.stderr)[1])
        tap.check(whole > 98, "dwarf: stacks are complete", got.stderr)
        ours, perfs = shares_of(folded(fold, "perf.data")), shares_of(stacks_of_perf("perf.data", "--no-inline"))
    else:
        tap.check("end: as recorded" in got.stderr, f"{what}: nobody knows whether a stack is complete", got.stderr)
        ours, perfs = collections.Counter(), collections.Counter(re.findall(
            r"[0-9a-f]+ (\w+)", "\n".join(re.findall(r"^.*\S\n?.*[0-9a-f]+ \w+", tap.must(
                "perf", "script", "-i", "perf.data", "-F", "comm,ip,sym"), re.M))))
        for stack, samples in folded(fold, "perf.data").items():
            ours[stack.split(";")[-1]] += samples
        ours, perfs = ({"inner": found["inner"]} for found in (ours, perfs))
    tap.check(sum(perfs.values()) > 100 and (ours == perfs if share == 1 else
                                             sum((ours & perfs).values()) >= share * sum(perfs.values())),
              f"{what}: the stacks that perf has", f"{ours}\n{perfs}")
# perf keeps copies of the files that it has recorded.
os.environ["HOME"] = work
os.environ.pop("PERF_BUILDID_DIR", None)
shutil.copy(stacks, "gone")
done = recorded("-F", "999", "-e", "cpu-clock:u", "--call-graph", "dwarf", "-o", "kept", "./gone")
before, names = run(fold, "-o", "before", "kept"), folded(fold, "kept")
os.unlink("gone")
after = run(fold, "-o", "after", "kept")
tap.check(sum(shares_of(names).values()) > 100 and after.stderr == before.stderr and folded(fold, "kept") == names,
          "a program that is gone: by perf's copy of it", f"{done}{before.stderr}{after.stderr}{names}")
shutil.rmtree(".debug")
tap.check(not shares_of(folded(fold, "kept")), "and without the copy it has no names")
# Of what was mapped before a recording began, the file says what its build-id is.
shutil.copy(stacks, "held")
with subprocess.Popen(["./held", "threads"], stdout=subprocess.DEVNULL) as running:
    done = tap.run(record, "-q", "-F", "999", "--user", "-d", "1", "-o", "held.rec", "-p", str(running.pid))
    running.kill()
build_id = re.search(r"Build ID: (\w+)", tap.must("readelf", "-n", "held"))[1]
os.makedirs(f"copies/.build-id/{build_id[:2]}/{build_id[2:]}")
shutil.move("held", f"copies/.build-id/{build_id[:2]}/{build_id[2:]}/elf")
os.environ["PERF_BUILDID_DIR"] = "copies"
tap.check(sum(n for stack, n in folded(fold, "held.rec").items() if ";outer;middle;inner" in stack) > 100,
          "-p: a program that is gone, by a copy of it", f"{done}{folded(fold, 'held.rec')}")
del os.environ["PERF_BUILDID_DIR"]
done = recorded("-F", "999", "-e", "cpu-clock:u,task-clock:u", "-g", "-o", "two", stacks)
got = run(fold, "-o", "folded.txt", "two")
tap.check(got.returncode == 0 and re.search(r"; [0-9]+ samples of other events", got.stderr),
          "two events: the first one's samples, and how many there are of others", got.stderr)
# With -F, perf changes the period of events that are no clocks, at each tick. Each machine has page faults.
done = recorded("-F", "999", "-g", "-e", "page-faults:u", "-o", "varied", sys.executable, "-c",
                "for i in range(120): bytearray(1 << 26)")
said = tap.must("perf", "report", "-i", "varied", "--stdio", "-g", "none", "--no-children", "-F", "period,sample,sym", "-s", "sym", "-t,")
# Code without a name has its address in perf's report, and its function's start here; that report has no inlined functions.
rows = re.findall(r"^ *([0-9]+) *, *([0-9]+) *,\[.\] (?!0x)(\w+) *$", said, re.M)
perfs, ours, n = collections.Counter(), collections.Counter(), sum(int(row[1]) for row in rows)
for period, _, name in rows:
    perfs[name] += int(period)
for stack, weight in folded(fold, "varied", "--no-inline").items():
    ours[stack.split(";")[-1]] += weight
heavy = {name: period for name, period in perfs.items() if 50 * period > sum(ours.values())}
tap.check(n > 50 and heavy and sum(heavy.values()) > 2 * n and heavy.items() <= ours.items(),
          "samples of different periods: each function has the share that it has in perf report", f"{n} samples: {heavy}\n{ours}")
done = recorded("-z", "-e", "cpu-clock:u", "-o", "small", stacks)
if done.returncode == 0 and os.path.exists("small"):
    got = run(fold, "small")
    tap.check(got.returncode == 1 and "without -z" in got.stderr and not got.stdout, "compressed records are refused", got)
else:
    tap.skip("compressed records are refused", "this perf does not compress")
with open("pipe", "wb") as file:
    file.write(b"PERFILE2" + (16).to_bytes(8, sys.byteorder) + bytes(200))
got = run(fold, "pipe")
tap.check(got.returncode == 1 and "written to a pipe; record with perf record -o FILE" in got.stderr, "what was written to a pipe is refused", got)
shutil.rmtree(work)
tap.plan()
