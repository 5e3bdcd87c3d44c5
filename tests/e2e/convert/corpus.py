#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Converts every x86-64 ELF file below the given folders: each is either converted and proven, or
refused for a reason that the table below lists and explains. What is converted is also converted for
size, in versions 2 and 3, and those files proven, and linted for every reader of their version;
objects in each version with .sframe for each part of them. TAP.

    corpus.py EH2SFRAME FOLDER...
"""

import collections
import concurrent.futures
import multiprocessing
import os
import re
import struct
import subprocess
import sys
import tempfile

from tap import check, plan

# Exit status, pattern of the message, why it is right to refuse.
REASONS = [
    (6, r"no CFI: no \.eh_frame", "pure Go, assembler, firmware and .debug files have none"),
    (6, r"no CFI: \.(eh|debug)_frame has no FDE", "only a terminator, as in crtn.o-like objects"),
    (6, r"has \.sframe already", "made by the linker; --refresh replaces it"),
    (1, r"an archive", "section and dump take objects alone"),
    (1, r"no function of this file can be described", "only _start-like code has CFI"),
    (1, r"appended payload", "a self-extracting file looks for its data at its end"),
    (1, r"a core dump", "holds no program"),
    (1, r"a program interpreter", "Linux before 6.7 could not start it"),
    (1, r"large \.bss", "the section would lie behind a hole of more than 64 MiB"),
    (1, r"PT_LOAD.*(congruent|ascend|overlap)", "a test file of another project, not loadable"),
    (1, r"no FDE can be read", "a test file of another project, damaged on purpose"),
    (1, r"(section|program) header table .* past the end", "a test file, truncated on purpose"),
]
EM_X86_64, ET_REL = 62, 1


def is_x86_64(path):
    try:
        with open(path, "rb") as file:
            head = file.read(20)
    except OSError:
        return False
    return (
        len(head) == 20
        and head[:6] == b"\x7fELF\x02\x01"
        and struct.unpack_from("<H", head, 18)[0] == EM_X86_64
    )


def candidates(folders):
    seen = set()
    for folder in folders:
        for base, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(base, name)
                if os.path.islink(path) or not os.path.isfile(path):
                    continue
                status = os.stat(path)
                if (status.st_dev, status.st_ino) in seen:
                    continue
                seen.add((status.st_dev, status.st_ino))
                if is_x86_64(path):
                    yield path


def several_segments(step, run):
    """Whether all that lint finds is that the file has code in two places, as it had before."""
    broken = [line for line in run.stdout.splitlines() if "): broken at " in line]
    return step[0].startswith("lint") and broken and all(": func-segment (" in b for b in broken)


def fails_small(tool, path, out):
    """What goes wrong when it is converted for size; None when nothing does."""
    for version in ("2", "3"):
        steps = [[path, out, "--optimize=size", f"--format={version}"], ["verify", out], ["lint", out]]
        for step in steps:
            run = subprocess.run([tool, *step, "-q"], capture_output=True, text=True, timeout=600)
            if run.returncode != 0 and not several_segments(step, run):
                return f"{step}: {run.stderr.strip()} {run.stdout.strip()}"
    return None


def is_object(path):
    with open(path, "rb") as file:
        return struct.unpack_from("<H", file.read(18), 16)[0] == ET_REL


def fails_as_object(tool, path, out):
    for version, sections in (("1", "one"), ("2", "text"), ("3", "group")):
        for step in ([path, out, f"--format={version}", "--object-sections=" + sections],
                     ["verify", out]):
            run = subprocess.run([tool, *step, "-q"], capture_output=True, text=True, timeout=600)
            if run.returncode != 0:
                return f"{step}: {run.stderr.strip()} {run.stdout.strip()}"
    return None


def convert(job):
    tool, path, scratch = job
    out = os.path.join(scratch, str(os.getpid()))
    again = out + ".again"
    kind = ["--format=1"] if is_object(path) else []
    run = subprocess.run([tool, *kind, path, out], capture_output=True, text=True, timeout=600)
    if run.returncode == 0:
        undo = subprocess.run([tool, "remove", out, again], capture_output=True, text=True)
        same = undo.returncode == 0 and subprocess.run(["cmp", "-s", path, again]).returncode == 0
        if not same:
            return path, -1, "remove does not give the original back: " + undo.stderr
        os.unlink(again)
        small = (fails_as_object if kind else fails_small)(tool, path, out)
        if small:
            return path, -1, small
    if os.path.exists(out):
        os.unlink(out)
    return path, run.returncode, (run.stderr.strip() or run.stdout).strip().splitlines()[-1]


def main():
    tool, folders = sys.argv[1], sys.argv[2:]
    counts, unexplained = collections.Counter(), []
    paths = sorted(candidates(folders))
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ProcessPoolExecutor(mp_context=multiprocessing.get_context("fork")) as pool:
        jobs = [(tool, path, scratch) for path in paths]
        for path, status, message in pool.map(convert, jobs, chunksize=8):
            if status == 0:
                counts["converted in each way, proven and taken out again"] += 1
                continue
            for wanted, pattern, why in REASONS:
                if status == wanted and re.search(pattern, message):
                    counts[f"{pattern}: {why}"] += 1
                    break
            else:
                unexplained.append(f"{path}: status {status}: {message}")
    for reason, count in counts.most_common():
        print(f"# {count:6} {reason}")
    for line in unexplained:
        print(f"# not explained: {line}")
    check(len(paths) >= 100, f"{len(paths)} files found")
    check(not unexplained, "every refusal is explained")
    plan()


if __name__ == "__main__":
    main()
