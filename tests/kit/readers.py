#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""readers.py KIT EH2SFRAME: the kit's sections in the least file there is, as dump prints them and as verify judges
them; and what installed readers of others make of those that they are known to read right. TAP."""
import ctypes.util
import json
import os
import sys
import tempfile

from binutils import release
from tap import check, plan, run, skip

KIT, TOOL = sys.argv[1:3]
ADAPTERS = os.path.join(KIT, "adapters")
sys.dont_write_bytecode = True
sys.path.insert(0, ADAPTERS)
import dump  # noqa: E402


def wrong_of(*arguments):
    done = run(sys.executable, os.path.join(KIT, "run.py"), *arguments)
    lines = [line.split() for line in done.stdout.splitlines()]
    return {words[4] for words in lines if words[:2] == ["not", "ok"]}, \
        sum(words[:1] == ["ok"] and "SKIP" not in words for words in lines), done.stdout


def verified(section, path):
    with open(path, "wb") as file:
        file.write(dump.elf(bytes.fromhex(section["bytes"]), int(section["address"], 16)))
    # With the CFI of another program, intact sections differ from it (4).
    done = run(TOOL, "verify", "--cfi=/bin/true", path)
    damaged = section["kind"] != "rows" or section["name"] == "v2-x86-64-no-rows"
    wanted = {6} if section["name"] == "damaged-nothing" else {1} if damaged else {0, 4}
    return done.returncode in wanted, f"{section['name']}: {done.returncode} {done.stderr}"


# A dump also shows much of what is damaged, which is for verify.
wrong, right, text = wrong_of("--all", "--only=v*", sys.executable, os.path.join(ADAPTERS, "dump.py"), TOOL, "dump")
check(not wrong and right > 100, f"dump: {right} sections", text)
with open(os.path.join(KIT, "sections.json"), encoding="utf-8") as file, tempfile.TemporaryDirectory() as scratch:
    results = [verified(section, os.path.join(scratch, "file")) for section in json.load(file)["sections"]]
bad = "".join(why for ok, why in results if not ok)
check(not bad and len(results) > 150, f"verify: {len(results)} sections", bad)
number = release()
known = ("v1-aarch64*-[psw]*" if number <= (2, 40) else "v2-aarch64-section-relative*" if number < (2, 45) else
         "v2-[ax]*-plain" if number < (2, 46) else "v3-aarch64*-[psw]*")
for name, program in (("readelf", ["dump.py", "readelf", "--sframe=.sframe"]),
                      ("libsframe", ["libsframe.py", ctypes.util.find_library("sframe")])):
    if not program[-1]:
        skip(name, "there is none")
        continue
    program[0] = os.path.join(ADAPTERS, program[0])
    wrong, right, text = wrong_of("--only=" + known, sys.executable, *program)
    check(not wrong and right > 2, f"{name}: {right} sections, {known}", text)
wrong, right, text = wrong_of("--only=v2-x86-64-*", sys.executable, os.path.join(ADAPTERS, "glibc.py"))
check({"v2-x86-64-last-call-next", "v2-x86-64-last-call-gap"} <= wrong and "v2-x86-64-last-call-reaches" not in wrong and
      right > 15, f"glibc's rules: {right} sections, and return addresses behind a last call are misread", text)
plan()
