#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""survey.py EH2SFRAME JSON DEB...: the .sframe sections that packages ship.

Every ELF file of each package is looked at, also those inside of archives (.a). JSON gets an object for each file with
a section: what the section holds, who made it, what verify and lint say, what --refresh --format=3 makes of it. The
tables of docs/FIGURES.md go to standard output.
"""

import collections
import json
import os
import re
import struct
import subprocess
import sys
import tarfile
import tempfile

NAME = b".sframe\0"
MACHINES = {62: "amd64", 183: "arm64", 22: "s390x"}
KINDS = {1: "object", 2: "program", 3: "PIE or library"}
WORDS = re.compile(r"(\d+) differences?; (\d+) bytes? of code compared with CFI.* (\d+) could have a row but have none")


class Elf:
    """Sections of a 64-bit ELF file of a machine that SFrame knows; ValueError for others."""

    def __init__(self, data):
        if data[:5] != b"\x7fELF\2" or data[5] not in (1, 2):
            raise ValueError
        self.data, self.order = data, "<" if data[5] == 1 else ">"
        self.kind, self.machine = struct.unpack_from(self.order + "HH", data, 16)
        self.entry, _, at = struct.unpack_from(self.order + "QQQ", data, 24)
        size, count, names = struct.unpack_from(self.order + "HHH", data, 58)
        if self.machine not in MACHINES or not at or size != 64:
            raise ValueError
        heads = [struct.unpack_from(self.order + "IIQQQQ", data, at + i * 64) for i in range(count)]
        text = heads[names]
        self.sections = {}
        for name, _, _, addr, offset, length in heads:
            start = text[4] + name
            self.sections.setdefault(data[start : data.index(b"\0", start)], (addr, offset, length))

    def bytes_of(self, name):
        _, offset, length = self.sections.get(name, (0, 0, 0))
        return self.data[offset : offset + length]


def members(data):
    """(name, bytes) of each member of an archive."""
    at, names = 8, b""
    while at + 60 <= len(data):
        name, size = data[at : at + 16].rstrip(), int(data[at + 48 : at + 58])
        body = data[at + 60 : at + 60 + size]
        if name == b"//":
            names = body
        elif match := re.fullmatch(rb"/(\d+)", name):
            name = names[int(match[1]) :].split(b"\n", 1)[0]
        yield name.rstrip(b"/").decode(errors="replace"), body
        at += 60 + size + size % 2


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    return done.returncode, done.stdout, done.stderr


def place(elf, pc, size):
    """Where a function of the section is, by what can be told of a stripped file."""
    if pc <= elf.entry < pc + size:
        return "_start"
    for name, (addr, _, length) in elf.sections.items():
        if addr and addr <= pc < addr + length:
            return name.decode(errors="replace") if name.startswith(b".plt") else "other"
    return "other"


def describe(tool, elf, path):
    """What the program says of the file at path."""
    section = elf.bytes_of(b".sframe")
    found = {"machine": MACHINES[elf.machine], "kind": KINDS.get(elf.kind, "other"), "bytes": len(section)}
    if len(section) >= 4:
        found["version"], found["flags"] = section[2], section[3]
    comment = [text.decode(errors="replace") for text in elf.bytes_of(b".comment").split(b"\0") if text]
    found["comment"] = sorted(set(comment))
    status, text, error = run(tool, "dump", path)
    found["dump"] = status
    functions = re.findall(r"func idx \[\d+\]: pc = 0x([0-9a-f]+), size = (\d+) bytes", text)
    found["functions"] = len(functions)
    if elf.kind != 1:
        where = [place(elf, int(pc, 16), int(size)) for pc, size in functions]
        found["where"] = {name: where.count(name) for name in sorted(set(where))}
    status, text, error = run(tool, "verify", path)
    found["verify"] = {"status": status, "text": text.splitlines()[-1:] + error.splitlines()[:1]}
    if match := WORDS.search(text):
        found["verify"].update(zip(("differences", "agree", "lacking"), map(int, match.groups())))
    status, text, error = run(tool, "lint", path)
    found["lint"] = {"status": status, "rules": sorted(set(re.findall(r": ([\w-]+): broken", text)))}
    status, _, error = run(tool, "--refresh", "--format=3", "--report-file", path + ".json", path, path + ".out")
    found["refresh"] = {"status": status, "error": error.strip()}
    if status == 0:
        with open(path + ".json", encoding="utf-8") as file:
            report = json.load(file)["files"][0]
        counts, code = report["counts"], report["code"]
        found["refresh"].update(
            bytes=report["sizes"][".sframe"],
            functions=counts["functions_with_rows"],
            percent=code["percent_of_cfi"],
            verify=run(tool, "verify", "--witness=libdwarf", path + ".out")[0],
            lint=run(tool, "lint", path + ".out")[0],
        )
        found["with_cfi"] = counts["functions_with_cfi"]
    return found


def look(tool, data, work):
    """The description of one ELF file, None where it has no section."""
    if NAME not in data:
        return None
    try:
        elf = Elf(data)
    except (ValueError, IndexError, struct.error):
        return None
    if b".sframe" not in elf.sections:
        return None
    path = os.path.join(work, "file")
    with open(path, "wb") as file:
        file.write(data)
    return describe(tool, elf, path)


def package(tool, deb, totals):
    """Yields a description for each file of the package that has a section."""
    name, version, machine = run("dpkg-deb", "-W", "--showformat=${Package} ${Version} ${Architecture}", deb)[1].split()
    stream = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE)
    totals["packages"] += 1
    with tarfile.open(fileobj=stream.stdout, mode="r|") as archive, tempfile.TemporaryDirectory() as work:
        for entry in archive:
            if not entry.isreg() or entry.size < 64:
                continue
            file = archive.extractfile(entry)
            data = file.read(8)
            if data[:4] == b"\x7fELF":
                parts = [("", data + file.read())]
            elif data == b"!<arch>\n":
                parts = members(data + file.read())
            else:
                continue
            for member, body in parts:
                totals["files"] += body[:4] == b"\x7fELF"
                if found := look(tool, body, work):
                    path = entry.name.removeprefix(".") + (f"({member})" if member else "")
                    yield {"package": name, "release": version, "architecture": machine, "path": path, **found}
    if stream.wait() != 0:
        raise ValueError(f"{deb}: dpkg-deb fails")


def table_line(group):
    """What the files of one package have, as a line of the table of docs/FIGURES.md."""
    first = group[0]
    where = collections.Counter()
    for found in group:
        where.update(found.get("where", {}))
    done = [found for found in group if found["refresh"]["status"] == 0]
    rules = sorted({rule for found in group for rule in found["lint"]["rules"]})
    return " | ".join((
        f"| {first['package']} {first['release']} {first['architecture']}",
        f"{len(group)}",
        ", ".join(sorted({f"{found.get('version')}, {found.get('flags', 0):#x}" for found in group})),
        ", ".join(f"{name} {count}" for name, count in sorted(where.items())),
        f"{sum(found['functions'] for found in group)} of {sum(found.get('with_cfi', 0) for found in group)}",
        f"{sum(found['verify'].get('differences', 0) for found in group)}",
        ", ".join(rules) or "none",
        f"{sum(found['refresh']['functions'] for found in done)} in {len(done)} files",
        f"{sum(found['bytes'] for found in group)} to {sum(found['refresh']['bytes'] for found in done)} |",
    ))


def main():
    tool, out, debs = os.path.realpath(sys.argv[1]), sys.argv[2], sys.argv[3:]
    totals, all_found = {"packages": 0, "files": 0}, []
    for deb in debs:
        group = list(package(tool, deb, totals))
        all_found += group
        if group:
            print(table_line(group), flush=True)
    with open(out, "w", encoding="utf-8") as file:
        json.dump({**totals, "found": all_found}, file, indent=1)
    print(f"{totals['packages']} packages, {totals['files']} ELF files, {len(all_found)} with .sframe")
    return 0


if __name__ == "__main__":
    sys.exit(main())
