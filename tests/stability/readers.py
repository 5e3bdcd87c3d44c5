#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What each name of --for writes for 100 files never changes (docs/STABILITY.md). TAP.

    readers.py EH2SFRAME LIST MANUAL [--bless]

LIST has a line for each file: its number, words and hash, and for each reader the hash of the section and of the
whole file, or the status of a refusal. --bless writes it again; read docs/STABILITY.md first.
"""

import concurrent.futures
import hashlib
import os
import re
import struct
import subprocess
import sys
import tempfile

from elf_files import elf_file
from tap import check, plan

TOOL, LIST, MANUAL = (os.path.realpath(path) for path in sys.argv[1:4])
N_FILES = 100


def digest(data, size=8):
    return hashlib.sha256(data).hexdigest()[:size]


def section(data, name=b".sframe"):
    """The bytes of all sections of that name; in objects there may be several."""
    order = "<" if data[5] == 1 else ">"
    shoff, = struct.unpack_from(order + "Q", data, 40)
    shnum, shstrndx = struct.unpack_from(order + "HH", data, 60)
    table = [struct.unpack_from(order + "IIQQQQIIQQ", data, shoff + 64 * i) for i in range(shnum)]
    names = table[shstrndx][4]
    return b"".join(data[one[4] : one[4] + one[5]] for one in table
                    if data[names + one[0] :].split(b"\0", 1)[0] == name)


def readers():
    """The names, as the manual page lists them."""
    with open(MANUAL, encoding="utf-8") as file:
        text = file.read()
    part = text[text.index("\n# READERS\n") : text.index("\n# RULES\n")]
    return sorted({name for line in part.splitlines() if line.startswith("*") for name in re.findall(r"\*([a-z][^*]+)\*", line)})


def convert(number, names, folder):
    data, words = elf_file(number)
    path, out = os.path.join(folder, f"{number}.in"), os.path.join(folder, f"{number}.out")
    with open(path, "wb") as file:
        file.write(data)
    line = [words, digest(data)]
    for name in names:
        done = subprocess.run([TOOL, "-q", "-j1", f"--for={name}", path, out], capture_output=True, check=False)
        if done.returncode:
            line.append(f"{name}={done.returncode}")
            continue
        with open(out, "rb") as file:
            made = file.read()
        line.append(f"{name}={digest(section(made))}.{digest(made)}")
        os.unlink(out)
    os.unlink(path)
    return line


def compare(old, new, name):
    """Files whose section, place or status changed for a reader."""
    changed = {"section": [], "place": [], "status": []}
    for before, after in zip(old, new):
        was, now = (dict(word.split("=") for word in line[2:]).get(name, "") for line in (before, after))
        if was == now:
            continue
        kind = "status" if "." not in was or "." not in now else \
            "section" if was.split(".")[0] != now.split(".")[0] else "place"
        changed[kind].append(after[0])
    return changed


def main():
    names = readers()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        new = list(pool.map(lambda number: convert(number, names, folder), range(N_FILES)))
    if sys.argv[4:] == ["--bless"]:
        with open(LIST, "w", encoding="utf-8") as file:
            file.writelines("; ".join(line) + "\n" for line in new)
    with open(LIST, encoding="utf-8") as file:
        old = [line.rstrip("\n").split("; ") for line in file]
    check(len(old) == N_FILES, f"{len(old)} files in the list")
    check([line[:2] for line in old] == [line[:2] for line in new], "the files are those of the list")
    listed = sorted(word.split("=")[0] for word in old[0][2:])
    check(set(listed) <= set(names), "each name of the list is still there", set(listed) - set(names))
    check(listed == names, "each name of the manual page is in the list; --bless adds it", set(names) - set(listed))
    for name in listed:
        written = sum("." in word.partition("=")[2] for line in new for word in line[2:] if word.startswith(name + "="))
        changed = compare(old, new, name)
        check(not any(changed.values()) and written >= 20, f"{name}: the same bytes for {written} files",
              "\n".join(f"{kind} changed: {', '.join(files)}" for kind, files in changed.items() if files))
    plan()


if __name__ == "__main__":
    main()
