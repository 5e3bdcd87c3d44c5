# SPDX-License-Identifier: MIT
"""Reads what readelf --sframe, objdump --sframe and eh2sframe dump print, all alike."""
import re

FUNC = re.compile(r"func idx \[\d+\]: pc = 0x([0-9a-f]+), size = (\d+) bytes(.*)")
ROW = re.compile(r"    ([0-9a-f]{16}) +(\S+) +(\S+) +(\S+)")
OUTERMOST = re.compile(r"    ([0-9a-f]{16}) +RA undefined")
VERSION = re.compile(r"Version: SFRAME_VERSION_(\d)")
COUNTS = re.compile(r"Num (FDEs|FREs): (\d+)")


class Section:
    """version, counts of the header, {pc: (size, masked, [(offset, CFA, FP, RA)])}, and what else is
    said of a function, {pc: text}. exact: RA as it is printed, not to be compared with another reader's."""

    def __init__(self, text, exact=False):
        self.version = None
        self.counts = {}
        self.funcs = {}
        self.marks = {}
        rows, start = [], 0
        for line in text.splitlines():
            if match := ROW.match(line):
                at = int(match[1], 16)
                # readelf 2.40 says u where the header fixes the RA, later ones and we say f.
                ra = "f" if match[4] == "u" and not exact else match[4]
                rows.append((at - start, match[2], match[3], ra))
            elif match := OUTERMOST.match(line):
                rows.append((int(match[1], 16) - start, "outermost", "", ""))
            elif match := FUNC.search(line):
                rows, pc = [], int(match[1], 16)
                self.funcs[pc] = (int(match[2]), False, rows)
                self.marks[pc] = match[3]
                start = pc
            elif "STARTPC[m]" in line:
                self.funcs[pc] = (self.funcs[pc][0], True, rows)
                start = 0
            elif match := VERSION.search(line):
                self.version = int(match[1])
            elif match := COUNTS.search(line):
                self.counts[match[1]] = int(match[2])

    def block(self, pc):
        """Bytes after which the rows of the function at pc begin again."""
        repeated = re.search(r"rep_size = (\d+)", self.marks[pc])
        return int(repeated[1]) if repeated else self.funcs[pc][0]

    def n_rows(self):
        return sum(len(rows) for _, _, rows in self.funcs.values())
