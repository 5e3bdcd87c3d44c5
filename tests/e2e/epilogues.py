#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--drop-epilogues against a disassembler: what it takes away is not about any call. TAP.

    epilogues.py EH2SFRAME SOURCE CACHE

Other machines' files come from machines_fetch.sh, as for machines.py; without a network they are left out.

Each file is converted with and without. objdump says where the calls are: wherever one returns to, and
at its last byte, where unwinders look, both sections give the same row. Wherever they differ there are
only instructions that restore, leave or do nothing.
"""
import bisect
import os
import re
import sys
import tempfile

from tap import check, plan, run

EH2SFRAME, SOURCE = sys.argv[1:3]
sys.path.insert(0, os.path.join(SOURCE, "tests/oracle"))
import sframe_text  # noqa: E402

OBJDUMP = {"x86_64": "objdump", "arm64": "aarch64-linux-gnu-objdump", "s390x": "s390x-linux-gnu-objdump"}
CALL = {"x86_64": r"(notrack |bnd )?call", "arm64": r"bl[r]?[a-z]*$", "s390x": r"(bras|brasl|basr|bassm)$"}
# None of these can push a return address; taken from what compilers were seen to write.
HARMLESS = {
    "x86_64": r"(pop|ret|rep ret|repz ret|bnd ret|leave|add|lea|mov|xor|vzeroupper|(bnd |notrack )?jmp|"
              r"(cs |data16 )*nop[wl]?|xchg)$",
    "arm64": r"(ldp|ldr|add|mov|sub|autiasp|autibsp|ret|retaa|retab|b|br|nop)$",
    "s390x": r"(lmg|lg|ld|lgdr|aghi|la|lay|br|j|jg|nopr|nop)$",
}
LINE = re.compile(r" *([0-9a-f]+):\t(\S.*)$")
FLAGS = ["--section-only", "--section-address=0x10000000", "-q"]


class Rows:
    """The row that a section has for a PC; None without one."""

    def __init__(self, funcs):
        self.funcs = funcs
        self.starts = sorted(funcs)

    def at(self, pc):
        i = bisect.bisect_right(self.starts, pc) - 1
        if i < 0:
            return None
        start = self.starts[i]
        size, masked, rows = self.funcs[start]
        if pc - start >= size or masked:
            return "masked" if masked and pc - start < size else None
        j = bisect.bisect_right(rows, pc - start, key=lambda row: row[0]) - 1
        return rows[j][1:] if j >= 0 else None

    def edges(self):
        for start, (size, masked, rows) in self.funcs.items():
            if not masked:
                yield from (start + row[0] for row in rows)
                yield start + size


def instructions(machine, path):
    """[(address, mnemonic and operands)] of all code, in ascending order."""
    text = run(OBJDUMP[machine], "-d", "--no-show-raw-insn", path).stdout
    return [(int(m[1], 16), m[2]) for m in map(LINE.match, text.splitlines()) if m]


def compare(machine, path, version, scratch):
    """What is wrong, in words, and how many bytes have lost their rows."""
    sections = []
    for extra in ([], ["--drop-epilogues"]):
        out = os.path.join(scratch, "section")
        done = run(EH2SFRAME, *FLAGS, f"--format={version}", *extra, path, out)
        if done.returncode:
            return done.stderr.strip(), 0
        elf = os.path.join(scratch, "elf")
        # --dump wants a file: any that the section can be put into.
        done = run("objcopy" if machine == "x86_64" else OBJDUMP[machine].replace("objdump", "objcopy"),
                   "--add-section", f".sframe={out}", "--set-section-flags", ".sframe=alloc,readonly",
                   "--change-section-address", ".sframe=0x10000000", path, elf)
        if done.returncode:
            return done.stderr.strip(), 0
        sections.append(Rows(sframe_text.Section(run(EH2SFRAME, "--dump", elf).stdout).funcs))
    full, less = sections
    code = instructions(machine, path)
    addresses = [address for address, _ in code]
    call, harmless = re.compile(CALL[machine]), re.compile(HARMLESS[machine])
    calls = 0
    for (_, text), (after, _) in zip(code, code[1:]):
        if not call.match(text.split("\t")[0].split(" ")[0] if machine != "x86_64" else text):
            continue
        calls += 1
        if full.at(after - 1) != less.at(after - 1):
            return f"0x{after - 1:x}, in a call: {full.at(after - 1)}, {less.at(after - 1)}", 0
        # Where a call never returns, what follows is another path's.
        if full.at(after) == full.at(after - 1) != less.at(after):
            return f"0x{after:x}, behind a call: {full.at(after)}, {less.at(after)}", 0
    if calls < 100:
        return f"only {calls} calls found", 0
    edges = sorted(set(full.edges()) | set(less.edges()))
    lost = 0
    for start, end in zip(edges, edges[1:]):
        if full.at(start) == less.at(start):
            continue
        lost += end - start
        i = bisect.bisect_left(addresses, start)
        if i == len(addresses) or addresses[i] != start:
            return f"0x{start:x} is not the start of an instruction", 0
        while i < len(addresses) and addresses[i] < end:
            word = re.split(r"[\t#]| {2}", code[i][1])[0]
            word = re.sub(r" [^a-z].*$", "", word).strip()
            if not harmless.match(word):
                return f"0x{addresses[i]:x}: {code[i][1]} is no part of an epilogue", 0
            i += 1
    return None, lost


def proof(path, scratch):
    """A converted file is only right for who asks for no more; as a TAP line's end."""
    out = os.path.join(scratch, "out")
    done = run(EH2SFRAME, "--drop-epilogues", path, out)
    if done.returncode or not done.stdout.rstrip().endswith("; without epilogues"):
        return f"converted with status {done.returncode}: {done.stdout}{done.stderr}"
    verify = [run(EH2SFRAME, "--verify", *more, out).returncode for more in ((), ("--drop-epilogues",))]
    covered = run(EH2SFRAME, "--drop-epilogues", "--min-coverage=99.9", path, out).returncode
    return None if (verify, covered) == ([4, 0], 5) else f"statuses {verify}, {covered}, not [4, 0], 5"


def main():
    files = [("x86_64", path) for path in ("/bin/bash", "/usr/lib/x86_64-linux-gnu/libc.so.6",
                                           "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
                                           "/usr/lib/x86_64-linux-gnu/libstdc++.so.6")]
    files = [(machine, os.path.realpath(path)) for machine, path in files if os.path.exists(path)]
    for machine, triplet in (("arm64", "aarch64-linux-gnu"), ("s390x", "s390x-linux-gnu")):
        fetch = run("bash", os.path.join(SOURCE, "tests/e2e/machines_fetch.sh"), machine, "quick", sys.argv[3])
        if fetch.returncode == 77:
            continue
        if fetch.returncode:
            sys.exit(fetch.stderr)
        root = os.path.join(sys.argv[3], machine)
        files += [(machine, os.path.join(root, "lib", triplet, "libc.so.6")),
                  (machine, os.path.realpath(os.path.join(root, "usr/lib", triplet, "libstdc++.so.6")))]
    with tempfile.TemporaryDirectory() as scratch:
        for i, (machine, path) in enumerate(files, 1):
            version = 3 if i % 2 == 0 else 2
            wrong, lost = compare(machine, path, version, scratch)
            if not wrong and lost < 1000:
                wrong = f"only {lost} bytes of epilogues found"
            check(not wrong, f"{os.path.basename(path)}, {machine}, v{version}: {lost} bytes of epilogues, "
                  "no call among them", wrong)
        wrong = proof(files[0][1], scratch)
        check(not wrong, "proven on request only", wrong)
    plan()


main()
