#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a page as C: the lines before and after its data.

    embed.py OUT.c HEADER.h NAME PAGE.html STYLE.css... SCRIPT.js...

HEADER.h declares NAME_head and NAME_tail.

The policy of the page names the style and the script by their hashes, so a browser runs nothing else and
fetches nothing.
"""

import base64
import hashlib
import sys


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def hashed(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def script_of(paths):
    """All files in one function: none of their names is a name of the page."""
    return '"use strict";\n(() => {\n' + "".join(read(path) for path in paths) + "})();\n"


def literal(line):
    """A line as a C string, in characters that every compiler reads alike."""
    out = []
    for byte in line.encode():
        char = chr(byte)
        if char in '"\\?':
            out.append("\\" + char)
        elif 32 <= byte < 127:
            out.append(char)
        else:
            out.append(f"\\{byte:03o}")
    return '"' + "".join(out) + '"'


def lines_of(name, text):
    lines = "".join(f"\t{literal(line)},\n" for line in text.splitlines(keepends=True))
    return f"const char *const {name}[] = {{\n{lines}\tNULL,\n}};\n"


def page_of(html, style, script):
    """The page without its data. A text that could end its element would be another page."""
    if "</style" in style.lower() or "</script" in script.lower() or "<!--" in script:
        raise SystemExit("embed.py: the style or the script ends its own element")
    policy = (
        f"default-src 'none'; style-src {hashed(style)}; script-src {hashed(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    for place, text in (("policy", policy), ("style", style), ("script", script)):
        place = "{{" + place + "}}"
        if html.count(place) != 1:
            raise SystemExit(f"embed.py: the page must have {place} once")
        html = html.replace(place, text)
    return html


def main():
    out, header, name, html, *parts = sys.argv[1:]
    style = "".join(read(path) for path in parts if path.endswith(".css"))
    script = script_of(path for path in parts if path.endswith(".js"))
    head, data, tail = page_of(read(html), style, script).partition("{{data}}")
    if not data:
        raise SystemExit("embed.py: the page must have {{data}}")
    with open(out, "w", encoding="ascii") as file:
        file.write("/* Made by embed.py. */\n#include <stddef.h>\n\n")
        file.write(f'#include "{header}"\n\n')
        file.write(lines_of(name + "_head", head) + "\n" + lines_of(name + "_tail", tail))


if __name__ == "__main__":
    main()
