#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A version 3 section as GNU as 2.47 writes it, faults and oddities included (gsframe3.S): it is read,
verify finds what is wrong and nothing else, lint names what a reader cannot take, and --refresh
makes of it what its CFI says. TAP.

    gsframe3.py EH2SFRAME SOURCE-FOLDER
"""
import os
import re
import sys
import tempfile

from tap import check, plan, run

tool, folder = sys.argv[1], sys.argv[2]


def check_verify(names, path):
    said = run(tool, "verify", "-v", path)
    check(said.returncode == 4, "verified, with differences", said.stderr)
    lines = re.findall(r": 0x\w+ <(\w+)>(?:, \.sframe\+0x\w+)?: (.*)$", said.stdout, re.M)
    wrong = {name: text for name, text in lines if "could have a row" not in text}
    missing = {name for name, text in lines if "could have a row" in text}
    for name in names:
        check((name in wrong) == name.startswith("fault_"), f"{name}: wrong?", said.stdout)
        check((name in missing) == name.startswith("skipped_"), f"{name}: missing?", said.stdout)
    check(wrong.get("fault_fp_expression") == "FP is *(unknown + 8) in .sframe, *(rsp + 8) in CFI",
          "a register that cannot be is named so", wrong)
    check(not (wrong.keys() | missing) - set(names), "no other function is named", said.stdout)


def check_dump(names, path):
    said = run(tool, "dump", path)
    listed = len(re.findall("func idx", said.stdout))
    kept = [name for name in names if name != "skipped_expression"]
    check(said.returncode == 0 and listed == len(kept), "every function is dumped", said.stdout)
    for text in ("r130+8    u         f", "sp+8      (r?+8)    f", "(fp-8)    (fp+0)    f",
                 'size = 0 bytes', 'attr = "S"', "RA undefined"):
        check(text in said.stdout, f"dump has: {text}", said.stdout)


def check_lint(path):
    said = run(tool, "lint", path)
    rules = dict(re.findall(r"^[^:]+: [a-z0-9., -]+: ([\w-]+) \([^()]*\): broken at \.sframe\+0x\w+(.*)$",
                            said.stdout, re.M))
    wanted = {"func-order", "func-size", "func-rows", "row-inside", "row-register",
              "row-count", "phdr"}
    check(rules.keys() == wanted, "lint names what readers cannot take", said.stdout)
    check("linux-user, binutils-2.46: func-rows" in said.stdout,
          "no rows: the kernel takes that of a signal frame only", said.stdout)
    signal = run(tool, "lint", "--for=linux-user", path).stdout
    check(re.search("func-rows .*[0-9a-f]$", signal, re.M), "which it does not mind", signal)


def main():
    source = os.path.join(folder, "gsframe3.S")
    with open(source, encoding="ascii") as file:
        names = re.findall(r"^\tbegin (\w+)", file.read(), re.M)
    with tempfile.TemporaryDirectory() as work:
        path, new = os.path.join(work, "linked"), os.path.join(work, "new")
        made = run("gcc", "-fuse-ld=bfd", "-nostdlib", "-shared", "-o", path, source)
        named = run("objcopy", "--rename-section", ".sframe_to_be=.sframe", path)
        check(made.returncode == 0 and named.returncode == 0, "assembled", made.stderr)
        check_dump(names, path)
        check_verify(names, path)
        check_lint(path)
        for version in ("1", "2", "3"):
            made = run(tool, "-q", "--refresh", f"--format={version}", path, new)
            proof = run(tool, "verify", new)
            check(made.returncode == 0 and proof.returncode == 0, f"refreshed to {version}",
                  made.stderr + proof.stdout)
    plan()


main()
