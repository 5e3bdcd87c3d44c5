#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""package.py EH2SFRAME WITNESSES REPORT DEB...: everything that can be said of the files of Debian packages.

Each ELF file of the packages is converted in place and proven, then converted again for three readers. Each of these
sections is proven by libdwarf, linted, and compared with the witnesses. At last the sections are removed, and every
file must have its first bytes. REPORT is the report of --report-file, in which each converted file also has a member
"corpus" with the counts. It appears when all is done, or not at all.

WITNESSES is a directory with programs of these names: libdw and libsframe (made by witnesses.sh), and readelf of
binutils 2.46 or later. One that is not there is not asked. The exit status is 1 when anything differs.
"""

import hashlib
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(HERE, "../oracle"), os.path.join(HERE, "../shared")]

import readelf_rows  # noqa: E402
import section_rows  # noqa: E402
from sframe_text import Section  # noqa: E402

# For each machine the readers of three versions. Binutils on another byte order do not read shared rows.
READERS = {
    62: ("glibc", "linux-user", "binutils-2.47"),
    183: ("glibc", "linux-arm64", "binutils-2.47"),
    22: ("binutils-2.45", "linux-user", "binutils-2.47"),
}
UNREADABLE = (22, "linux-user")
# Bytes of .eh_frame. What is larger is not compared with readelf's tables of CFI, or with any witness but libdwarf.
CFI_LIMIT, WITNESS_LIMIT = 1_000_000, 4_000_000
# readelf leaves no gap behind a cell that is wider than its column, and prints sp+-16 where dump prints sp-16.
GLUED = re.compile(r"((?:\b|(?<=\())(?:sp|fp|c|r\d+)[+-]\d+\)?)(?=[a-zU(])")
SAID = re.compile(r"(\d+) asked, (\d+) agree, (\d+) none, (\d+) differ")


class Corpus:
    def __init__(self, tool, witnesses):
        self.tool, self.problems = os.path.realpath(tool), []
        self.witnesses = {}
        for name in ("libdw", "libsframe", "readelf"):
            path = os.path.realpath(os.path.join(witnesses, name))
            if os.access(path, os.X_OK):
                self.witnesses[name] = path

    def problem(self, text):
        self.problems.append(text)
        print(text, flush=True)

    def run(self, *command, **more):
        return subprocess.run(command, capture_output=True, text=True, errors="surrogateescape", check=False, **more)

    def tree(self, what, good, verb, *options):
        """A verb of trees over the packages, which are in the current directory."""
        done = self.run(self.tool, "tree", verb, "-q", "-j1", *options, ".")
        if done.returncode not in good:
            self.problem(f"{what}: status {done.returncode}: {(done.stdout + done.stderr)[:2000]}")

    def ask(self, name, path, rows):
        """The words of libdw or libsframe for lines of rows."""
        said = self.run(self.witnesses[name], path, input="".join(rows))
        match = SAID.search(said.stdout)
        if not match or said.returncode not in (0, 1):
            self.problem(f"{path}: {name}: {said.stdout[-500:]}{said.stderr[-500:]}")
            return {}
        if said.returncode or match[4] != "0":
            self.problem(f"{path}: {name}: {said.stdout[:2000]}")
        return dict(zip(("asked", "agree", "none", "differ"), map(int, match.groups())))


def line(start, end, rules):
    return f"{start:x} {end:x} {' '.join(rule or '-' for rule in rules[:3])}\n"


def row_lines(spans):
    """What libdw is asked: all but periodic functions and outermost frames, which CFI says in another way."""
    return [line(*span) for span in spans if span[2] and span[2][0] and span[0] < span[1]]


def lookup_lines(section, machine):
    """What libsframe is asked: rows of functions that are neither flexible nor periodic."""
    lines = []
    for start, (size, masked, rows) in section.funcs.items():
        if masked or re.search(r'attr = "\w*F', section.marks[start]):
            continue
        ends = [row[0] for row in rows[1:]] + [size]
        for (at, cfa, *others), end in zip(rows, ends):
            if cfa != "outermost" and at < end:
                words = (section_rows.place(word.removesuffix("[s]"), machine) for word in (cfa, *others))
                lines.append(line(start + at, start + end, tuple(words)))
    return lines


def printed(corpus, path, ours, flexible_too):
    """Whether readelf --sframe prints the rows that dump prints."""
    read = corpus.run(corpus.witnesses["readelf"], "--sframe=.sframe", path)
    theirs = Section(GLUED.sub(r"\1 ", read.stdout.replace("+-", "-")), exact=True)
    count = {"functions": len(ours.funcs), "rows": ours.n_rows(), "padding": 0, "differ": 0}

    def same(row, other):
        if row == other:
            return True
        # A flexible row's padding word is a place to readelf where the header fixes RA.
        padding = flexible_too and row[:3] == other[:3] and (row[3], other[3]) == ("f", "U")
        count["padding"] += padding
        return padding

    for pc in ours.funcs.keys() | theirs.funcs.keys():
        mine, other = ours.funcs.get(pc), theirs.funcs.get(pc)
        if not mine or not other or mine[:2] != other[:2] or len(mine[2]) != len(other[2]) or not all(
            map(same, mine[2], other[2])
        ):
            count["differ"] += 1
            corpus.problem(f"{path}: readelf --sframe: {pc:#x}: {other}, dump {mine}")
    return count


def compare(corpus, path, reader, cfi, eh_frame):
    """The section for one reader beside each witness."""
    if eh_frame > WITNESS_LIMIT:
        return {"too_large": 1}
    number = machine_number(path)
    machine = readelf_rows.MACHINES[number]
    text = corpus.run(corpus.tool, "dump", path).stdout
    section = Section(text, exact=True)
    said = {}
    if eh_frame <= CFI_LIMIT:
        said["readelf_cfi"], wrong = section_rows.compare(corpus.tool, path, cfi)
        said["readelf_cfi"]["differ"] = len(wrong)
        for words in wrong[:20]:
            corpus.problem(f"{reader}: {words}")
    else:
        said["readelf_cfi"] = {"too_large": 1}
    if "libdw" in corpus.witnesses:
        spans = section_rows.section_spans(corpus.tool, path, machine)
        said["elfutils"] = corpus.ask("libdw", path, row_lines(spans))
    if (number, reader) != UNREADABLE:
        if "readelf" in corpus.witnesses:
            said["readelf_sframe"] = printed(corpus, path, section, section.version == 3)
        if "libsframe" in corpus.witnesses:
            said["libsframe"] = corpus.ask("libsframe", path, lookup_lines(section, machine))
    return said


def machine_number(path):
    with open(path, "rb") as file:
        head = file.read(20)
    return struct.unpack_from("<H" if head[5] == 1 else ">H", head, 18)[0]


def digests(top):
    found = {}
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            if not os.path.islink(path) and os.path.isfile(path):
                with open(path, "rb") as file:
                    found[path] = hashlib.file_digest(file, "sha256").hexdigest() if hasattr(
                        hashlib, "file_digest"
                    ) else hashlib.sha256(file.read()).hexdigest()
    return found


def work_on(corpus, report):
    """Converts, proves, compares and removes what is below the current directory."""
    before = digests(".")
    corpus.tree("convert", (0, 6), "convert", f"--report-file={report}")
    with open(report, encoding="utf-8") as file:
        document = json.load(file)
    done = [file for file in document["files"] if file["status"] == 0]
    cfi = {}
    for file in done:
        path = file["path"]
        file["corpus"] = {}
        if file["sizes"].get(".eh_frame", 0) <= CFI_LIMIT:
            cfi[path] = section_rows.cfi_spans(path, readelf_rows.MACHINES[machine_number(path)])
    machines = {machine_number(file["path"]) for file in done}
    for version in range(3 if done else 0):
        readers = sorted({READERS[machine][version] for machine in machines})
        if len(readers) != 1:
            corpus.problem(f"packages of several machines: {readers}")
        corpus.tree(f"for {readers[0]}", (0, 6), "convert", "--refresh", f"--for={readers[0]}")
        corpus.tree(f"verify {readers[0]}", (0, 6), "verify", "--witness=libdwarf")
        corpus.tree(f"lint {readers[0]}", (0, 6), "lint", f"--for={readers[0]}")
        for file in done:
            path = file["path"]
            eh_frame = file["sizes"].get(".eh_frame", 0)
            file["corpus"][readers[0]] = compare(corpus, path, readers[0], cfi.get(path), eh_frame)
    corpus.tree("remove", (0, 6), "remove")
    after = digests(".")
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) != after.get(path):
            corpus.problem(f"{path}: not as it was after remove")
    return document


def main():
    tool, witnesses, report, *debs = sys.argv[1:]
    corpus, report = Corpus(tool, witnesses), os.path.realpath(report)
    debs = [os.path.realpath(deb) for deb in debs]
    with tempfile.TemporaryDirectory() as work:
        os.mkdir(f"{work}/tree")
        os.chdir(f"{work}/tree")
        for deb in debs:
            subprocess.run(["dpkg-deb", "-x", deb, os.path.basename(deb).removesuffix(".deb")], check=True)
        document = work_on(corpus, f"{work}/report.json")
        os.chdir("/")
    document["summary"]["corpus"] = {"packages": len(debs), "problems": len(corpus.problems)}
    part = f"{report}.{os.getpid()}"
    with open(part, "w", encoding="utf-8") as file:
        json.dump(document, file)
        file.write("\n")
    os.rename(part, report)
    used = sum(os.times()[:4])
    print(f"{len(debs)} packages, {len(document['files'])} files, {len(corpus.problems)} problems, "
          f"{used:.1f} s of processor time, {time.strftime('%H:%M:%S')}")
    return 1 if corpus.problems else 0


if __name__ == "__main__":
    sys.exit(main())
