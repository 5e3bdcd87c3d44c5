#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Formats of files and their versions (docs/STABILITY.md): members of the JSON report stay and the manual page
names them, and what has another version than this program's is refused by name, or left alone. TAP.

    formats.py EH2SFRAME SCHEMA LIST [--bless]
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import schema_lib
from tap import check, plan

TOOL, SCHEMA, LIST = (os.path.realpath(path) for path in sys.argv[1:4])


def run(*argv, **how):
    return subprocess.run(argv, capture_output=True, text=True, errors="replace", check=False, **how)


def members(schema, path, seen):
    """Lines for what a schema says: each member with its types, values, and whether it is required; nothing of a draft."""
    if isinstance(schema, dict) and schema.get("$comment") != "draft":
        if "$ref" in schema:
            seen.append(f"{path} is {schema['$ref']}")
        for word in ("type", "enum", "const"):
            values = schema.get(word, [])
            seen += [f"{path} {word} {value}" for value in (values if isinstance(values, list) else [values])]
        for name, part in schema.get("properties", {}).items():
            if part.get("$comment") == "draft":
                continue
            seen.append(f"{path}.{name}{' required' if name in schema.get('required', ()) else ''}")
            members(part, f"{path}.{name}", seen)
        for word in ("items", "additionalProperties", "anyOf", "oneOf", "allOf", "then", "else"):
            parts = schema.get(word, [])
            for part in parts if isinstance(parts, list) else [parts]:
                members(part, f"{path}[{word}]", seen)
        for name, part in schema.get("$defs", {}).items():
            members(part, f"{name}:", seen)
    return seen


def named(schema):
    """Returns the names of members in a schema, and the words that values and names of maps may be."""
    names, words = set(schema.get("properties", ())), set(schema.get("enum", ()))
    parts = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values(),
             *(schema.get(word) for word in ("items", "additionalProperties", "propertyNames"))]
    for part in parts:
        if isinstance(part, dict):
            more = named(part)
            names |= more[0]
            words |= more[1]
    return names, words


def test_page():
    """The page names each member of the schema. Its bold words are members, values or verbs."""
    with open(os.path.join(os.path.dirname(SCHEMA), "eh2sframe-report.5.scd"), encoding="utf-8") as file:
        page = re.search(r"^# JSON REPORT\n(.*?)^# ", file.read(), re.M | re.S)[1]
    bold, italic = set(re.findall(r"\*([\w.]+)\*", page)), set(re.findall(r"\b_([\w.]+)_(?!\w)", page))
    with open(SCHEMA, encoding="utf-8") as file:
        names, words = named(json.load(file))
    check(not names - bold - italic and len(names) > 100, "the page names each member", sorted(names - bold - italic))
    others = bold - names - words - {"eh2sframe", "tree", "merge", "diff", "own"}
    check(not others, "and no member that the schema does not have", sorted(others))


def test_json():
    with open(SCHEMA, encoding="utf-8") as file:
        now = sorted(set(members(json.load(file), "report", [])))
    if sys.argv[4:] == ["--bless"]:
        with open(LIST, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in now)
    with open(LIST, encoding="utf-8") as file:
        old = file.read().splitlines()
    gone, new = sorted(set(old) - set(now)), sorted(set(now) - set(old))
    check(not gone, f"{len(old)} members, types and values of the JSON report are still there", "\n".join(gone))
    check(not new, "all are in the list; --bless adds them", "\n".join(new))
    check(len(old) > 150, "there are many")
    done = run(TOOL, "report", "--json", "-q", "-o", "old.json", "/bin/cat")
    report = schema_lib.read("old.json")
    check(done.returncode == 0 and report["schema"] == 1, "a report names its schema", report.get("schema"))
    for schema in (2, 0, "1"):
        with open("other.json", "w", encoding="utf-8") as file:
            json.dump(dict(report, schema=schema), file)
        for argv in (["merge", "other.json"], ["diff", "old.json", "other.json"],
                     ["--baseline=other.json", "/bin/cat", "out"]):
            done = run(TOOL, *argv)
            check(done.returncode in (1, 2) and 'other.json: its member "schema" is not 1' in done.stderr and not os.path.exists("out"),
                  f"schema {schema!r} is refused: {argv[0]} {argv[1]}", done)


def test_undo():
    """The record that remove follows."""
    run(TOOL, "-q", "/bin/cat", "converted")
    with open("converted", "rb") as file:
        data = file.read()
    at = data.find(b"eh2sframe undo\n\0") + 16
    check(at > 16 and data[at : at + 4] == b"\2\0\0\0", "the record names its version", data[at : at + 4])
    with open("other", "wb") as file:
        file.write(data[:at] + b"\3" + data[at + 1 :])
    done = run(TOOL, "remove", "other", "out")
    check(done.returncode == 1 and not os.path.exists("out"), "a record of another version is not followed", done)
    check(run(TOOL, "verify", "other").returncode == 0, "its section is proven as before")
    done = run(TOOL, "--refresh", "other", "out")
    check(done.returncode == 0 and run(TOOL, "verify", "out").returncode == 0, "and is replaced as another producer's", done)


def main():
    top = tempfile.mkdtemp(prefix="formats.")
    os.chdir(top)
    try:
        test_json()
        test_page()
        test_undo()
    finally:
        os.chdir("/")
        shutil.rmtree(top)
    plan()


if __name__ == "__main__":
    main()
