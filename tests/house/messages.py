# SPDX-License-Identifier: MIT
"""messages.py ROOT LIST [bless]: every text that a person can see, as LIST has it, so that a change of one is read on its own.

A text is a string of C with two words or more; pieces that the compiler joins are one. bless writes LIST. TAP.
"""
import os
import re
import sys

import tap

FOLDERS = ("base/", "cfi/", "sframe/", "code/", "gen/", "cmd/", "walk/", "profile/")
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|\'(?:[^\'\\]|\\.)*\'|"(?:[^"\\]|\\.)*"|\bPRI[a-zX0-9]+|\s+|.', re.S)
# Openings of an error that say neither what happened nor to what.
VAGUE = re.compile(r"^(invalid|failed|error|illegal|bad) ?(argument|input|value|option)?$|please|sorry|oops", re.I)


def texts(source):
    """The strings of a source, joined as the compiler does."""
    found, now = [], []
    for token in TOKEN.findall(source):
        if token.startswith('"'):
            now.append(token[1:-1])
        elif token.startswith("PRI"):
            now += ["<n>"] if now else []
        elif not token.isspace() and not token.startswith(("/*", "//")):
            found.append("".join(now))
            now = []
    return [text for text in found if re.search(r"[A-Za-z]{2,} [a-z%<]", text)]


def main(root, listed, *bless):
    os.chdir(root)
    names = sorted(name for name in tap.known_to_git() if name.startswith(FOLDERS) and name.endswith((".c", ".h", ".def")))
    if not names:
        tap.skip_all("this is no git checkout")
    seen = []
    for name in names:
        if os.path.isfile(name):
            with open(name, encoding="utf-8") as file:
                seen += [f"{name}: {text}" for text in texts(file.read())]
    if bless:
        with open(listed, "w", encoding="utf-8") as file:
            file.write("\n".join(seen) + "\n")
    with open(listed, encoding="utf-8") as file:
        known = file.read().splitlines()
    new, gone = [text for text in seen if text not in set(known)], [text for text in known if text not in set(seen)]
    tap.check(not new and not gone and len(seen) > 500, "every text is in the list: read what is new, then bless it",
              "\n".join([f"+ {text}" for text in new] + [f"- {text}" for text in gone]))
    vague = [text for text in seen if VAGUE.search(text.partition(": ")[2])]
    tap.check(not vague, "texts say what happened and to what", "\n".join(vague))
    tap.plan()


main(*sys.argv[1:])
