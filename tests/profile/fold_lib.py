# SPDX-License-Identifier: MIT
"""Recordings for the tests of eh2sframe-fold, written through the functions of the profile."""

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

    def __init__(self, command="make it", event="cpu-clock", unit="ns", frequency=1000, start=10**18, monotonic=10**9,
                 end=3 * 10**9, host="here", release="6.0"):
        self.lines = [f"info {quoted(command)} {quoted(event)} {quoted(unit)} {frequency} {start} {monotonic} {end} "
                      f"{quoted(host)} {quoted(release)}"]
        self.n = {"module": 0, "frame": 0, "thread": 0}

    def add(self, kind, line):
        self.lines.append(f"{kind} {line}")
        self.n[kind] += 1
        return self.n[kind] - 1

    def module(self, path, build_id="-", flags=0):
        return self.add("module", f"{flags} {build_id} {quoted(path)}")

    def frame(self, kind, address, module=0, pid=0, flags=0, name=None):
        return self.add("frame", f"{kind} {address} {module} {pid} {flags} {quoted(name) if name else '-'}")

    def thread(self, pid, tid, comm):
        return self.add("thread", f"{pid} {tid} {quoted(comm)}")

    def sample(self, thread, frames, why=OUTERMOST, weight=1000000, time=10**9, cpu=0):
        self.lines.append(" ".join(map(str, ["sample", time, weight, cpu, thread, why, *frames])))

    def deep(self, count, thread, frames):
        self.lines.append(" ".join(map(str, ["deep", count, thread, *frames])))

    def write(self, program, path):
        with open(path, "wb") as out:
            subprocess.run([program], input="\n".join(self.lines).encode() + b"\n", stdout=out, check=True)
        return path


def run(*argv):
    return subprocess.run(argv, capture_output=True, text=True, errors="surrogateescape", check=False)


def folded(program, path, *options):
    """The samples of each stack."""
    got = run(program, "-q", *options, path)
    if got.returncode:
        raise RuntimeError(got)
    return {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in got.stdout.splitlines()}


def pprof_number(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def pprof_message(data):
    """The fields of a message of protobuf: lists of numbers and of bytes. Lists of numbers are packed."""
    fields, at = {}, 0
    while at < len(data):
        tag, at = pprof_number(data, at)
        value, at = pprof_number(data, at)
        if tag & 7 == 2:
            value, at = data[at:at + value], at + value
        elif tag & 7:
            raise ValueError(f"type {tag & 7}")
        fields.setdefault(tag >> 3, []).append(value)
    for number in (1, 2):
        # Numbers of locations and values of a sample.
        if number in fields and isinstance(fields[number][0], bytes) and 3 in fields and 6 not in fields:
            packed, values, at = fields[number][0], [], 0
            while at < len(packed):
                value, at = pprof_number(packed, at)
                values.append(value)
            fields[number] = values
    return fields
