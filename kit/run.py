# SPDX-License-Identifier: MIT
"""run.py [--all] [--check] [--only=GLOB] PROGRAM [ARG...]: drives a reader of SFrame by the protocol of README.md. TAP.

A valid section that the program refuses is skipped, since readers need not read all versions and machines; with --all
it counts as wrong. --check: the program must also refuse damage that a look-up need not see.
"""
import argparse
import fnmatch
import json
import os
import re
import subprocess
import sys

LIMIT = 20  # seconds for a section
RULE = r"([rm]\d+[+-]\d+|c[+-]\d+|u|\?)"
ANSWER = re.compile(rf"none|refuse|unknown|outermost( signal)?|{RULE} {RULE} {RULE}( signed| signed-b)?( signal)?( \?)?")


def ask(program, section):
    """The lines of the program; a string when it gives no answers."""
    text = f"section {section['address']} {section['bytes'] or '-'}\n"
    text += "".join(f"{ask['how']} {ask['at']}\n" for ask in section["ask"])
    try:
        done = subprocess.run(program, input=text, capture_output=True, text=True, errors="replace", timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return f"no answer in {LIMIT} seconds"
    if done.returncode:
        return f"it ended with {done.returncode}: {done.stderr.strip()[-300:]}"
    lines = done.stdout.splitlines()
    if lines == ["refuse"]:
        return ["refuse"] * len(section["ask"])
    if len(lines) != len(section["ask"]) or not all(map(ANSWER.fullmatch, lines)):
        return f"these are not {len(section['ask'])} answers: {done.stdout[:300]}"
    return lines


def agrees(got, expected):
    """Words with ? say that the reader does not tell this."""
    if "?" not in got:
        return got == expected
    words, wanted = got.split(), expected.split()
    rules = [word in ("?", want) for word, want in zip(words[:3], wanted[:3])]
    return all(rules) and len(wanted) >= 3 and (words[-1] == "?" or words[3:] == wanted[3:])


def judge(section, lines, options):
    """(what is wrong, why it does not count)"""
    if isinstance(lines, str):
        return [lines], None
    kind, asks = section["kind"], section["ask"]
    if kind == "check" and not options.check:
        return [], None
    if kind != "rows":
        given = [f"{ask['how']} {ask['at']}: {line}, and the section is damaged" for ask, line in zip(asks, lines)
                 if line != "refuse" and (kind == "check" or line not in ("none", "unknown"))]
        return given, None
    if set(lines) == {"refuse"} and not options.all:
        return [], "refused"
    if set(lines) == {"unknown"}:
        return [], "not known to this reader"
    return [f"{ask['how']} {ask['at']}: {line}, not {ask['answer']}" for ask, line in zip(asks, lines)
            if line != "unknown" and not any(agrees(line, ask[key]) for key in ("answer", "or") if key in ask)], None


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", default="*")
    parser.add_argument("program", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "sections.json"), encoding="utf-8") as file:
        sections = [this for this in json.load(file)["sections"] if fnmatch.fnmatch(this["name"], options.only)]
    counts = {"right": 0, "wrong": 0, "skipped": 0}
    for number, section in enumerate(sections, 1):
        wrong, why = judge(section, ask(options.program, section), options)
        counts["wrong" if wrong else "skipped" if why else "right"] += 1
        print("not ok" if wrong else "ok", number, "-", section["name"], f"# SKIP {why}" if why else "", flush=True)
        for line in [section["says"], *wrong[:8]] if wrong else []:
            print("#", line)
    print(f"1..{len(sections)}\n# " + ", ".join(f"{count} {name}" for name, count in counts.items()))
    return 1 if counts["wrong"] or not sections else 0


sys.exit(main())
