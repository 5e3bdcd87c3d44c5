# SPDX-License-Identifier: MIT
"""Recordings for the tests of eh2sframe-fold, written through the functions of the profile."""

import os
import subprocess

OUTERMOST, NO_ROW, CUT_OFF = 1, 4, 6
FILE, KERNEL, JIT, UNKNOWN = range(4)
EXACT = 1


def quoted(text):
    """A text as a word of the description."""
    data = text if isinstance(text, bytes) else text.encode()
    return "".join(chr(b) if b > 32 and b < 127 and b not in b"%-" else f"%{b:02x}" for b in data) or "-"


class Recording:
    """What recording_of reads, line by line."""

    def __init__(self, command="make it", event="cpu-clock", unit="ns", frequency=1000, written=2 * 10**9, host="here",
                 release="6.0"):
        self.written = written
        self.lines = [f"info {quoted(command)} {quoted(event)} {quoted(unit)} {frequency} {quoted(host)} {quoted(release)}"]
        self.n = {"module": 0, "frame": 0, "thread": 0, "sample": 0}

    def add(self, kind, line):
        self.lines.append(f"{kind} {line}")
        self.n[kind] += 1
        return self.n[kind] - 1

    def module(self, path, build_id="-"):
        return self.add("module", f"{build_id} {quoted(path)}")

    def frame(self, kind, address, module=0, pid=0, flags=0, name=None):
        return self.add("frame", f"{kind} {address} {module} {pid} {flags} {quoted(name) if name else '-'}")

    def thread(self, pid, tid, comm):
        return self.add("thread", f"{pid} {tid} {quoted(comm)}")

    def sample(self, thread, frames, why=OUTERMOST, weight=1000000, time=10**9, cpu=0):
        self.n["sample"] += 1
        self.lines.append(" ".join(map(str, ["sample", time, weight, cpu, thread, why, *frames])))

    def write(self, program, path):
        subprocess.run([program, path], input="\n".join(self.lines).encode() + b"\n", check=True)
        os.utime(path, (self.written, self.written))
        return path


def run(*argv):
    return subprocess.run(argv, capture_output=True, text=True, errors="surrogateescape", check=False)


def folded(program, path, *options):
    """The samples of each stack."""
    got = run(program, "-q", *options, path)
    if got.returncode:
        raise RuntimeError(got)
    return {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in got.stdout.splitlines()}
