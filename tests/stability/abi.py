#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The public headers against the list of what they had: structs, enumerators, functions with the versions of their
symbols, types (docs/STABILITY.md). TAP.

    abi.py ROOT LIST LIBRARY... -- COMPILER... [--bless]

Places, sizes and values are the compiler's, versions those that LIBRARY exports. A line of LIST may not change or go. A
struct that begins with struct_size may grow, and members named reserved give their place to new ones. New lines come in by
--bless. The libraries export what the headers declare and nothing else.
"""

import os
import re
import sys
import tempfile

from tap import check, must, plan

BLESS = sys.argv[-1] == "--bless"
ARGV = sys.argv[1 : -1 if BLESS else None]
ROOT, LIST = ARGV[0], ARGV[1]
LIBRARIES, COMPILER = ARGV[2 : ARGV.index("--")], ARGV[ARGV.index("--") + 1 :]


def header_text(path):
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S)
    # Macros of attributes say nothing of the ABI.
    text = re.sub(r"^#.*(?:\\\n.*)*", "", text, flags=re.M)
    text = re.sub(r"__attribute__\(\(.*?\)\)\)?", "", text)
    return re.sub(r"\bEH2SFRAME_\w*(?:API|CHECKED)\b", "", text)


def members(body):
    """The names in the body of a struct."""
    for line in body.split(";"):
        pointer = re.search(r"\(\s*\*\s*(\w+)\s*\)\s*[\[(]", line)
        if pointer:
            yield pointer[1]
        elif line.strip():
            for part in line.split(","):
                yield re.search(r"(\w+)\s*(?:\[[^]]*\]\s*)*$", part.strip())[1]


def questions(name, text):
    """Lines of C that print the layout of what a header declares."""
    for body in re.findall(r"\benum\b\s*\w*\s*\{([^}]*)\}", text):
        for constant in re.findall(r"(?:^|,)\s*(\w+)", body):
            yield f'printf("{name}: {constant} = %lld\\n", (long long){constant});'
    for struct, body in re.findall(r"\bstruct\s+(\w+)\s*\{([^}]*)\}", text):
        yield f'printf("{name}: sizeof {struct} = %zu\\n", sizeof(struct {struct}));'
        for member in members(body):
            yield (f'printf("{name}: {struct}.{member} at %zu, %zu bytes\\n", offsetof(struct {struct}, {member}), '
                   f'sizeof(((struct {struct} *)0)->{member}));')


def prototypes(name, text):
    text = re.sub(r"\{[^}]*\}", "{}", text.replace('extern "C" {', ""))
    for line in text.split(";"):
        line = re.sub(r"\s+", " ", line).replace("( ", "(").strip(" }{")
        if "(" in line and re.match(r"(typedef |[A-Za-z_].*\beh2sframe_\w+\()", line):
            yield f"{name}: {line}"


def versions():
    """{name: version} of what the libraries export, without the versions' own symbols."""
    lines = [line.split() for library in LIBRARIES for line in must("nm", "-D", "--defined-only", library).splitlines()]
    return dict((words[-1].replace("@@", "@") + "@none").split("@")[:2] for words in lines if words[-2] != "A")


def function(line):
    """The function that a prototype declares, or None."""
    match = re.search(r"\b(eh2sframe_\w+)\(", line)
    return match[1] if match and ": typedef" not in line else None


def lines_now(exported):
    folder = os.path.join(ROOT, "include")
    headers = ["eh2sframe-walk.h", "eh2sframe.h"]
    program, found = ["#include <stddef.h>", "#include <stdio.h>"], []
    program += [f'#include "{name}"' for name in headers] + ["int main(void) {"]
    for name in headers:
        text = header_text(os.path.join(folder, name))
        program += questions(name, text)
        found += (line + f", {exported.get(function(line), 'not exported')}" * bool(function(line)) for line in prototypes(name, text))
    with tempfile.TemporaryDirectory() as scratch:
        source, binary = os.path.join(scratch, "abi.c"), os.path.join(scratch, "abi")
        with open(source, "w", encoding="utf-8") as file:
            file.write("\n".join([*program, "return 0; }", ""]))
        must(*COMPILER, "-D_GNU_SOURCE", "-I", folder, source, "-o", binary)
        return must(binary).splitlines() + found


def key(line):
    """What a line is about."""
    return re.split(r" = | at ", line)[0]


def main():
    exported = versions()
    now = lines_now(exported)
    if BLESS:
        with open(LIST, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in now)
    with open(LIST, encoding="utf-8") as file:
        old = file.read().splitlines()
    grows = {key(line).split(": ")[1].split(".")[0] for line in now if ".struct_size at 0," in line}
    have = {key(line): line for line in now}
    wrong = []
    for line in old:
        new = have.get(key(line))
        if new == line:
            continue
        name = key(line).split("sizeof ")
        # New members take the place of reserved ones; the size stays.
        if key(line).endswith(".reserved"):
            continue
        if new and len(name) == 2 and name[1] in grows and int(new.split(" = ")[1]) >= int(line.split(" = ")[1]):
            continue
        wrong.append(f"was: {line}\nis:  {new}")
    check(not wrong, f"{len(old)} lines of the ABI are as they were", "\n".join(wrong))
    unknown = sorted(set(now) - set(old))
    check(not unknown, "each line is in the list; --bless adds it", "\n".join(unknown))
    check(len(old) > 150 and sum("sizeof" in line for line in old) > 10, "the list has structs, numbers and functions")
    declared = {function(line) for line in now} - {None}
    check(len(declared) > 40 and declared == set(exported), f"the libraries export the {len(declared)} functions and nothing else",
          " ".join(sorted(declared ^ set(exported))))
    plan()


if __name__ == "__main__":
    main()
