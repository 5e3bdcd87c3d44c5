#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Work and memory on hostile files: eight times the input may take no more than twenty times the work (2.7 for each
doubling), under a limit for both. Work that grows with the square of the input would take sixty-four times. Memory may be
so many times the file. TAP.

    linear.py EH2SFRAME some|all

some: files of an eighth of the size. Work is instructions where the kernel counts them, else processor time. What the
program takes for the smallest file of the kind is not counted.
"""

import ctypes
import json
import os
import resource
import struct
import subprocess
import sys
import tempfile

from elf_files import ALLOC, EXEC, PAGE, header, padded, section_headers, uleb
from linear_tables import DERIVE, RET, TABLES, branch, exported, jump
from tap import check, plan

TOOL = os.path.realpath(sys.argv[1])
SHARE = {"some": 8, "all": 1}[sys.argv[2]]
TIMES, MOST = 8, 20
# Done, refused, other than the CFI or the code says, below a limit, nothing to do.
OTHER_STATUSES = (0, 1, 4, 5, 6)
# Other programs can only add to the time of a run, so the fastest of more runs tells when one was too slow.
RUNS = 8
LIMIT_CPU, LIMIT_MEMORY = 20, 3 << 30
# Memory that is filled when it is freed is no work of the program.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "MALLOC_PERTURB_"}
# Of memory: times the file, and what any file may take.
MEMORY_TIMES, MEMORY_FREE = 200, 64 << 20
CIE = padded(b"\0\0\0\0\x01zR\0\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01", "<")
TEXT = PAGE * 160


def fdes(ranges, where, each_cie=False):
    """[(start, size, program)]: records with one CIE, or one each."""
    parts, at, cie_at = [], where, where
    for i, (start, size, program) in enumerate(ranges):
        if i == 0 or each_cie:
            parts.append(CIE)
            cie_at, at = at, at + len(CIE)
        record = padded(struct.pack("<IiI", at + 4 - cie_at, TEXT + start - (at + 8), size) + b"\0" + program, "<")
        parts.append(record)
        at += len(record)
    return b"".join(parts) + bytes(4)


def elf(text_size, frame, extra=(), names=None, phdrs=(), text=b"", same=None):
    """A shared library. extra: more section headers; names: a table in the place of the usual one; same: the name of a
    section, and how many headers more with its bytes and that name."""
    table = [(1, 4, 0, 0, 0, 0, 0, PAGE), (1, 5, TEXT, TEXT, TEXT, text_size, text_size, PAGE), *phdrs]
    frame_at = 64 + 56 * len(table)
    frame_at += -frame_at % 8
    data = frame(frame_at)
    table[0] = (1, 4, 0, 0, 0, frame_at + len(data), frame_at + len(data), PAGE)
    if frame_at + len(data) > TEXT:
        raise ValueError("the section reaches into the code")
    end = TEXT + text_size
    sections = [(".eh_frame", 1, ALLOC, frame_at, frame_at, len(data), 0, 0, 8, 0),
                (".text", 1, ALLOC | EXEC, TEXT, TEXT, text_size, 0, 0, 16, 0)]
    _, usual = section_headers("<", sections + [(".shstrtab",) + (0,) * 9])
    names = usual + (names or b"")
    headers, _ = section_headers("<", sections + [(".shstrtab", 3, 0, 0, end, len(names), 0, 0, 1, 0)])
    more = b"".join(struct.pack("<IIQQQQIIQQ", len(usual) + name, 1, 0, 0, end, 0, 0, 0, 1, 0) for name in extra)
    if same:
        name, flags, number = same
        _, _, _, at, off, size, *_ = next(section for section in sections if section[0] == name[0])
        more = struct.pack("<IIQQQQIIQQ", len(names), 1, flags, at, off, size, 0, 0, 1, 0) * number
        names += name[1].encode() + b"\0"
        extra = range(number)
        headers, _ = section_headers("<", sections + [(".shstrtab", 3, 0, 0, end, len(names), 0, 0, 1, 0)])
    shoff = end + len(names)
    shoff += -shoff % 8
    head = header("<", 62, 3, 0, 64, len(table), shoff, 4 + len(extra))
    head = head[:62] + struct.pack("<H", 3)
    out = head + b"".join(struct.pack("<IIQQQQQQ", *one) for one in table)
    out = out.ljust(frame_at, b"\0") + data
    return (out.ljust(TEXT, b"\0") + text.ljust(text_size, b"\x90") + names).ljust(shoff, b"\0") + headers + more


def built(text):
    """An object by the assembler."""
    with open("built.s", "w", encoding="ascii") as file:
        file.write(text)
    subprocess.run(["as", "built.s", "-o", "built.o"], check=True)
    with open("built.o", "rb") as file:
        return file.read()


def bare_functions(n):
    """A library of n functions without CFI, whose rows the code proves."""
    built(".globl f\nf: .cfi_startproc\nret\n.cfi_endproc\n" + "".join(
        f".balign 16\n.globl f{i}\n.type f{i},@function\nf{i}: sub $8,%rsp\ncall f\nadd $8,%rsp\nret\n" for i in range(n)))
    subprocess.run(["ld", "-shared", "-Bsymbolic", "-e", "0", "built.o", "-o", "built.so"], check=True)
    with open("built.so", "rb") as file:
        return file.read()


def ring(n):
    """Functions that each go on in the middle of the next one, round and round."""
    return exported(b"".join(jump(at, to) + RET * 3 + b"\x50\x58" + jump(at + 10, to) + RET for at, to in
                             ((16 * i, 16 * ((i + 1) % n) + 8) for i in range(n))), [(16 * i, 16) for i in range(n)])


def branches(n):
    """A function that branches to as many places of a long piece of code that nothing else knows."""
    code = b"".join(branch(6 * i, 6 * n + 16 + 64 * i) for i in range(n))
    return exported(code + RET * 16 + (b"\x48\xb8" + bytes(8) + b"\x48\x05" + bytes(4)) * 4 * n + RET, [(0, 6 * n + 1), (6 * n + 1, 1)])


def jumps_by_table(n):
    """Jumps from n places to each of them by one table."""
    code = b"".join(b"\x81\xff" + struct.pack("<iHi", n - 1, 0x870F, 28 * (n - i) - 12) + b"\x48\x8d\x05" +
                    struct.pack("<i", 28 * (n - i) - 15) + b"\x48\x63\x0c\xb8\x48\x01\xc1\xff\xe1" for i in range(n))
    return exported(code + RET * 4 + struct.pack(f"<{n}i", *(28 * (i - n) - 4 for i in range(n))), [(0, 28 * n + 1)])


def section_each(n):
    return built("".join(f'.section .text.f{i},"ax"\n.cfi_startproc\nnop\n.cfi_endproc\n' for i in range(n)))


def rows(n):
    return b"".join(b"\x41\x0e" + uleb(8 + 8 * (i % 50)) for i in range(n))


def colliding(i):
    """Call frame instructions of 15 bytes whose hashes would be equal (base/hash.h), if it multiplied by a known number."""
    factor, mask = 0x9E3779B97F4A7C15, 2**64 - 1
    back = pow(factor, -1, 2**64)
    value = (0x12345678 << 32 | i) * back & mask  # hash_fold
    value = (value ^ value >> 32) * back & mask  # the end, with zeros as the last bytes
    value = (value ^ value >> 32) * back & mask  # the first 8 bytes
    return struct.pack("<Q", value ^ 15 * factor & mask)


def names_in_each_other(n):
    """A library with n symbols of one address, whose names are the ends of one long name."""
    out = elf(16 * n, lambda at: fdes([(0, 16 * n, b"\x41\x0e\x10")], at))
    shoff, number = struct.unpack_from("<Q", out, 40)[0], struct.unpack_from("<H", out, 60)[0]
    names = b"\0" + b"n" * (3 * n) + b"\0"
    symbols = bytes(24) + b"".join(struct.pack("<IBBHQQ", 1 + i, 0x12, 0, 2, TEXT, 16) for i in range(n))
    at = len(out)
    more = struct.pack("<IIQQQQIIQQ", 0, 2, 0, 0, at, len(symbols), number + 1, 1, 8, 24)
    more += struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, at + len(symbols), len(names), 0, 0, 1, 0)
    body = (out + symbols + names).ljust(at + len(symbols) + len(names) + 8 & -8, b"\0")
    head = body[:40] + struct.pack("<Q", len(body)) + body[48:60] + struct.pack("<H", number + 2)
    return head + body[62:] + out[shoff:shoff + 64 * number] + more


def records(n):
    """A program without section headers, behind which zeros and records of insertions stand, each of which leads to the one before."""
    with open("/bin/true", "rb") as file:
        out = bytearray(file.read())
    at, number = struct.unpack_from("<Q", out, 32)[0], struct.unpack_from("<H", out, 56)[0]
    segments = [struct.unpack_from("<IIQQQQQQ", out, at + 56 * i) for i in range(number)]
    out = out[:max(segment[2] + segment[5] for segment in segments)]
    struct.pack_into("<Q", out, 40, 0)
    struct.pack_into("<HHH", out, 58, 64, 0, 0)
    out += bytes(-len(out) % 8 + 64 * n)
    for _ in range(n):
        size = len(out)
        out += b"eh2sframe undo\n\0" + struct.pack("<IIQQQQQQ", 2, 72, size, size + 72, size, 0, 0, 0)
    return bytes(out)


# Each gives the file for a size.
CASES = {
    "functions": (20000, lambda n: elf(n * 16, lambda at: fdes([(16 * i, 16, b"\x41\x0e" + uleb(16 + 8 * i)) for i in range(n)], at))),
    "functions from the last to the first": (
        20000, lambda n: elf(n * 16, lambda at: fdes([(16 * (n - 1 - i), 16, b"\x41\x0e\x10") for i in range(n)], at))),
    "ranges in each other": (
        20000, lambda n: elf(n * 4, lambda at: fdes([(i, 4 * n - 2 * i, b"\x41\x0e" + uleb(16 + 8 * i)) for i in range(n)], at))),
    "one range many times": (
        20000, lambda n: elf(4096, lambda at: fdes([(0, 4096, b"\x41\x0e" + uleb(16 + 8 * i)) for i in range(n)], at))),
    "ranges that begin in the one before": (
        20000, lambda n: elf(n * 8 + 4096, lambda at: fdes([(8 * i, 2048, b"\x41\x0e" + uleb(16 + 8 * i)) for i in range(n)], at))),
    "programs of one hash, if it were known": (
        5000, lambda n: elf(n * 16, lambda at: fdes([(16 * i, 16, colliding(i)) for i in range(n)], at))),
    "rows of a function": (50000, lambda n: elf(n * 2, lambda at: fdes([(0, n * 2, rows(n))], at))),
    "functions of many rows": (100, lambda n: elf(n * 1024, lambda at: fdes([(1024 * i, 1024, rows(900 + i % 9)) for i in range(n)], at))),
    "states to remember": (30000, lambda n: elf(n * 4, lambda at: fdes([(0, n * 4, b"\x41\x0a\x0e\x20\x41\x0b" * n)], at))),
    "states in each other": (50000, lambda n: elf(n * 4, lambda at: fdes([(0, n * 4, b"\x0a" * n + b"\x41\x0b" * n)], at))),
    "an operand that could be an address, at the end of a program that is there twice": (
        40000, lambda n: elf(4096, lambda at: fdes([(0, 64, bytes(n) + b"\x2e\x01")] * 2, at))),
    "CIEs": (15000, lambda n: elf(n * 16, lambda at: fdes([(16 * i, 16, b"\x41\x0e\x10") for i in range(n)], at, True))),
    "expressions": (
        1000, lambda n: elf(n * 64, lambda at: fdes([(64 * i, 64, b"\x0f" + uleb(403) + b"\x77\x08" + b"\x23\x08" * 200 + b"\x06") for i in range(n)], at))),
    "a long expression": (50000, lambda n: elf(4096, lambda at: fdes([(0, 64, b"\x0f" + uleb(2 * n + 2) + b"\x77\x08" + b"\x23\x08" * n)], at))),
    "sections with one long name": (
        6000, lambda n: elf(4096, lambda at: fdes([(0, 4096, b"\x41\x0e\x10")], at), [0] * n, b"n" * n + b"\0")),
    "program headers": (
        7000, lambda n: elf(4096, lambda at: fdes([(0, 4096, b"\x41\x0e\x10")], at), phdrs=[(4, 4, TEXT, TEXT, TEXT, 16, 16, 4)] * n)),
}
PLT = b"\xff\x35" + bytes(4) + b"\xff\x25" + bytes(4) + b"\x0f\x1f\x40\0"
STUB = b"\xff\x25" + bytes(4) + b"\x68" + bytes(4) + b"\xe9" + bytes(4)
# Each with a command of its own.
SECTION = ["section", "-q", "-j1", "in", "out"]
ALONE = {
    # The last entry is none, so that all are searched.
    "headers of one PLT": (1600, lambda n: elf(16 * n + 4096, lambda at: fdes([(0, 16, b"\x41\x0e\x10")], at), text=PLT + STUB * n,
                                               same=((".text", ".plt"), ALLOC | EXEC, n)), SECTION),
    "names that are the ends of one": (2500, names_in_each_other, ["report", "-v", "-j1", "in"]),
    "headers of one .eh_frame": (
        6000, lambda n: elf(16 * n, lambda at: fdes([(16 * i, 16, b"\x41\x0e\x10") for i in range(n)], at), same=((".eh_frame", ".eh_frame"), ALLOC, n)),
        SECTION),
    "records of insertions": (6000, records, ["convert", "-q", "-j1", "in", "out"]),
    "rules of a function": (
        20000, lambda n: elf(n * 2, lambda at: fdes([(0, n * 2, b"".join(b"\x41\x0f" + uleb(4 + len(uleb(8 * i))) + b"\x77\x08\x23" + uleb(8 * i) + b"\x06\x41\x0c\x07\x08" for i in range(n)))], at)),
        ["report", "--functions", "-j1", "in"]),
    "functions without CFI": (5000, bare_functions, ["section", "-q", "--derive", "-j1", "in", "out"]),
    "a ring of functions": (1000, ring, DERIVE),
    "branches into one body": (8000, branches, DERIVE),
    "jumps by one table": (16000, jumps_by_table, DERIVE),
    "sections, and a pattern": (
        5000, section_each, ["-q", "-j1", "--format=2", "--exclude-section=.none", "--allow-unmatched", "in", "out"]),
}
COMMANDS = {"convert": ["-q", "-j1", "in", "out"], "report": ["report", "-v", "-j1", "in"],
            "smallest": ["-q", "-j1", "--format=3", "--optimize=size", "in", "out"]}


def report(n):
    """A report with files of one path, and functions of one name in each of some."""
    function = {"function": "0x10", "start": "0x10", "name": "f", "size": 1, "reason": "r"}
    code = {"executable": 1, "with_cfi": 1, "covered": 1, "outermost": 0, "plt_template": 0, "derived": 0}
    files = [{"path": "p", "status": 0, "code": code, "gaps": [], "without_cfi": []} for _ in range(n)]
    files[0]["gaps"] = [dict(function, function=f"0x{i:x}") for i in range(n)]
    files[-1]["without_cfi"] = [dict(function, start=f"0x{i:x}", name=f"f{i}", kind="code") for i in range(n)]
    return json.dumps({"tool": "eh2sframe", "schema": 1, "files": files}).encode()


def members(n):
    """A report of many members, and another one in arrays."""
    return json.dumps({"tool": "eh2sframe", "schema": 1, "files": [], **{f"m{i}": [[]] * 2 for i in range(n)}}).encode()


REPORTS = {
    "reports of one path": (16000, report, {"merge": ["merge", "-q", "-o", "out", "in"], "diff": ["diff", "-o", "out", "in", "in"]}),
    "members of a report": (64000, members, {"merge": ["merge", "-q", "-o", "out", "in"]}),
}


def limits():
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_CPU, LIMIT_CPU))
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT_MEMORY, LIMIT_MEMORY))


class Instructions:
    """Counts instructions of children in user space, from their exec on (perf_event_open(2))."""

    unit, floor = 1e6, 2e6

    def __init__(self):
        # PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS; disabled, inherit, exclude_kernel, exclude_hv, enable_on_exec.
        attr = struct.pack("<IIQQQQQ", 0, 128, 1, 0, 0, 0, 1 | 2 | 1 << 5 | 1 << 6 | 1 << 12).ljust(128, b"\0")
        self.fd = ctypes.CDLL(None).syscall(298, attr, 0, -1, -1, 8)
        subprocess.run([TOOL, "--version"], stdout=subprocess.DEVNULL, check=True)
        # Some virtual machines have the counter, and it stands still.
        if self.fd < 0 or self.read() == 0:
            raise OSError("no instructions are counted here")

    def read(self):
        return struct.unpack("<Q", os.read(self.fd, 8))[0]


class Seconds:
    unit, floor = 1, 0.004

    def read(self):
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime


def counter():
    if os.uname().machine == "x86_64":
        try:
            return Instructions()
        except OSError:
            pass
    return Seconds()


WORK = counter()


def work_of(name, argv, runs=1):
    """The work of the run that did least, and the worst status; one that took too much memory is -1."""
    best, status = None, 0
    room = MEMORY_TIMES * os.stat(name).st_size + MEMORY_FREE
    for _ in range(runs):
        if os.path.exists("out"):
            os.unlink("out")
        before = WORK.read()
        with subprocess.Popen([TOOL, *(name if word == "in" else word for word in argv)], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=limits, env=ENVIRONMENT) as child:
            _, ended, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(ended)
        taken = WORK.read() - before
        best = taken if best is None else min(best, taken)
        status = child.returncode if child.returncode not in OTHER_STATUSES else status
        status = -1 if used.ru_maxrss * 1024 > room else status
    return best, status


def write(name, make, size):
    """In another process, as the memory of this one would count."""
    child = os.fork()
    if not child:
        with open(name, "wb") as file:
            file.write(make(size))
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        raise RuntimeError("no file was made")


def compare(name, n, make, commands, again=True):
    for size in (1, n, n * TIMES):
        write(str(size), make, size)
    for command, argv in commands.items():
        start = work_of("1", argv, 3)[0]
        few, bad = work_of(str(n), argv, 2)
        many = worse = None
        for _ in range(RUNS):
            more, worse = work_of(str(n * TIMES), argv)
            many = more if many is None else min(more, many)
            ratio = max(many - start, 0) / max(few - start, WORK.floor)
            if ratio <= MOST or bad or worse:
                break
            few = min(few, work_of(str(n), argv)[0])
            start = min(start, work_of("1", argv)[0])
        # A time is not known well enough to be a fault where others use the machine: files four times as large decide,
        # on which the square would show all the more. (Four times the largest ones would be too large.)
        if again and WORK.unit == 1 and ratio > MOST and (SHARE > 1 or few - start < 0.01) and not bad and not worse:
            compare(name, 4 * n, make, {command: argv}, False)
            continue
        check(ratio <= MOST and not bad and not worse,
              f"{name}, {command}: {n} to {n * TIMES} take {few / WORK.unit:.3f} and {many / WORK.unit:.3f} "
              f"{'s' if WORK.unit == 1 else 'million instructions'}, {ratio:.1f} times", f"status {bad} {worse}")


def main():
    with tempfile.TemporaryDirectory(prefix="linear.") as top:
        os.chdir(top)
        for name, (n, make) in CASES.items():
            compare(name, n // SHARE, make, COMMANDS)
        for name, (n, make, argv) in ALONE.items():
            compare(name, n // SHARE, make, {"convert": argv})
        for name, (n, make, commands) in (*TABLES.items(), *REPORTS.items()):
            compare(name, n // SHARE, make, commands)
        os.chdir("/")
    plan()


if __name__ == "__main__":
    main()
