#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--code on a real library: rows that the instructions contradict are written, left out or repaired, the
proof holds what was written against the CFI and the code, and readelf reads it. TAP.

    code_policy.py EH2SFRAME
"""

import os
import re
import sys
import tempfile

import schema_lib
from code_said import Said
from tap import check, must, plan, run, skip_all

TOOL = os.path.realpath(sys.argv[1])
# setcontext and others, whose CFI is wrong, without Zydis.
LIBRARIES = ("/usr/aarch64-linux-gnu/lib/libc.so.6", "/usr/s390x-linux-gnu/lib/libm.so.6")


def places(library):
    """The contradicted instructions, as eh2sframe check -v tells them: {start: instructions}."""
    said = Said(TOOL, library)
    return said.status, {fault.at: fault.n for fault in said.faults}


def corrections(library, policy):
    report = schema_lib.document(must(TOOL, "report", "--json", f"--code={policy}", library))["files"][0]
    return report, {int(one["start"], 16): one for one in report.get("corrections", ())}


def policies(library):
    name = os.path.basename(os.path.dirname(os.path.dirname(library)))[:7] + " " + os.path.basename(library)
    status, wrong = places(library)
    check(status == 4 and wrong, f"{name}: its code contradicts its CFI", f"{status} {wrong}")
    for policy in ("ignore", "refuse", "repair"):
        must(TOOL, "-q", f"--code={policy}", library, policy)
        must(TOOL, "-q", f"--code={policy}", "-j1", library, "one")
        with open(policy, "rb") as a, open("one", "rb") as b:
            check(a.read() == b.read(), f"{name}, {policy}: the same bytes by one thread")
        said = run(TOOL, "verify", f"--code={policy}", policy)
        check(said.returncode == 0, f"{name}, {policy}: proven again", said.stdout + said.stderr)
    report, refused = corrections(library, "refuse")
    check(set(refused) <= set(wrong), f"{name}, refuse: only what is contradicted", f"{set(refused) - set(wrong)}")
    check(all(one["rule"] is None for one in refused.values()), f"{name}, refuse: no row")
    size = sum(one["size"] for one in refused.values())
    left_out = report["refused"].get("code-disagrees", {"bytes": 0})["bytes"]
    others = sum(one["bytes"] for why, one in report["refused"].items() if why != "code-disagrees")
    check(size - others <= left_out <= size, f"{name}, refuse: {left_out} of {size} bytes are left out")
    check(run(TOOL, "verify", "ignore").returncode == 0, f"{name}: without --code the CFI is written")
    # Some of what is left out had no row before, for another reason.
    before = sum(one["bytes"] for one in corrections(library, "ignore")[0]["refused"].values())
    said = run(TOOL, "verify", "--code=refuse", "ignore")
    check(said.returncode == (4 if left_out + others > before else 0),
        f"{name}: the proof with --code=refuse finds rows that should not be there", said.stdout + said.stderr)
    report, repaired = corrections(library, "repair")
    good = {start: one for start, one in repaired.items() if one["rule"]}
    check(report["code"]["repaired"] == sum(one["size"] for one in good.values()), f"{name}: bytes repaired")
    if good:
        check(run(TOOL, "verify", "repair").returncode == 4, f"{name}: a repaired row is not what the CFI says")
        for witness, words in ("own", "with CFI,"), ("libdwarf", "with CFI, with libdwarf too,"):
            said = run(TOOL, "verify", "--code=repair", f"--witness={witness}", "repair").stdout
            held = re.search(rf" (\d+) bytes of code compared {words} \d+ concluded from the code alone \(.*?(\d+) repaired", said)
            check(held and int(held[2]) == report["code"]["repaired"]
                  and int(held[1]) + int(held[2]) == report["code"]["covered"],
                  f"{name}, {witness}: repaired rows are not among those compared with CFI", said)


def usage():
    said = run(TOOL, "--code=guess", "/bin/ls", "out")
    check(said.returncode == 2 and "--code=guess" in said.stderr, "a wrong value is a usage error", said.stderr)
    with open("x.s", "w") as source:
        source.write(".cfi_startproc\n nop\n.cfi_endproc\n")
    if run("as", "-o", "x.o", "x.s").returncode == 0:
        said = run(TOOL, "--format=3", "--code=refuse", "x.o", "out")
        check(said.returncode == 1 and "linked" in said.stderr, "an object is refused", said.stderr)


def main():
    here = [path for path in LIBRARIES if os.path.exists(path)]
    if not here:
        skip_all("no C library of AArch64 or s390x")
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for library in here:
            policies(library)
        usage()
    plan()


main()
