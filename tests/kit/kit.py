#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kit.py KIT WALK: make.py makes the committed sections again; our walker answers each of them as the specification
says; and the kit notices readers that are wrong, crash, hang or say nothing. TAP."""
import os
import subprocess
import sys

from tap import check, plan, read, run

KIT, WALK = sys.argv[1:3]
# The walker searches, so it refuses sections whose functions do not ascend.
REFUSED = {"v2-x86-64-unsorted", "v3-x86-64-unsorted"}
# Wrong readers, and a line that is said of them.
WRONG = {
    "the base of the CFA inverted": ("sed 's/^r7/x/;s/^r6/r7/;s/^x/r6/'", "r6+8 c-8 u, not r7+8 c-8 u"),
    "no row at all": ("sed 's/.*/none/'", "none, not r7+8 c-8 u"),
    "half of the answers": ("sed 1d", "these are not"),
    "a refusal of everything": ("sed -n '1i refuse'", None),
    "no signatures": ("sed 's/ signed[-b]*//'", "r31+0 u u, not r31+0 u u signed"),
}


def tried(*arguments):
    done = run(sys.executable, os.path.join(KIT, "run.py"), *arguments)
    return done, [line for line in done.stdout.splitlines() if line.startswith(("ok", "not ok"))]


made = subprocess.run([sys.executable, os.path.join(KIT, "make.py")], capture_output=True, check=True).stdout
check(made == read(os.path.join(KIT, "sections.json")), "make.py makes sections.json again")
done, lines = tried(WALK)
check(done.returncode == 0 and len(lines) > 150, f"the walker: {len(lines)} sections", done.stdout)
skipped = {line.split()[3] for line in lines if "# SKIP" in line}
check(skipped == REFUSED, "the walker refuses no valid section but what it cannot search", skipped)
for name, (change, said) in WRONG.items():
    done, lines = tried("--all", "--only=v*-plain" if said != WRONG["no signatures"][1] else "--only=v*-signed",
                        "sh", "-c", f"{WALK} | {change}")
    wrong = [line for line in lines if line.startswith("not ok")]
    check(done.returncode == 1 and wrong and (said is None or said in done.stdout), f"noticed: {name}", done.stdout)
done, lines = tried("--only=v1-x86-64-plain", "sh", "-c", "kill -SEGV $$")
check(done.returncode == 1 and "it ended with -11" in done.stdout, "noticed: a crash", done.stdout)
done, lines = tried("--only=damaged-magic", "echo", "r7+8 c-8 u")
check(done.returncode == 1 and "the section is damaged" in done.stdout, "noticed: an answer from damage", done.stdout)
done, lines = tried("--only=nothing-of-this-name", WALK)
check(done.returncode == 1, "no section is no success", done.stdout)
plan()
