# SPDX-License-Identifier: MIT
"""What eh2sframe check, or another command with the same words, says of one file, read back from its text."""
import collections
import re
import resource

from tap import run

COLUMNS = "CFA", "return address", "frame pointer"
# What the summary counts, in the order of Said.counts.
COUNTED = "looked at", "review", "unknown", "wrong", "not looked at"
FAULT = re.compile(
    r": (?:(\.\S+)\+)?(0x[0-9a-f]+)(?: in (.*?))?, (\d+) instructions?: ((?:CFA|return address|frame pointer) .*) \((\w+)\)$", re.M)
DOUBT = re.compile(r": (?:(\.\S+)\+)?(0x[0-9a-f]+)[^:]*: (unknown|review): ", re.M)
SUMMARY = re.compile(
    r": (\d+) (?:FDE|function)s?: (?:\S+ %|-) confirmed by the code, (\d+) to review, (\d+) unknown, (\d+) contradicts? it"
    r".*?(?:; (\d+) not looked at)?$", re.M)

# at is the place of the first of n instructions; name is None where no symbol is near.
Fault = collections.namedtuple("Fault", "at name n what column kind")


def place(section, number):
    """An address; in an object a section and an offset."""
    return (section, int(number, 16)) if section else int(number, 16)


class Said:
    """What -v says of one file: faults, doubts {place: word}, counts (None: no summary)."""

    def __init__(self, tool, path, *options, command=("check",)):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        made = run(tool, *command, "-v", *options, path)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        # Seconds of processor time, with what starting the program takes.
        self.cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.status, self.text = made.returncode, made.stdout + made.stderr
        self.faults = [Fault(place(section, at), name or None, int(n), what,
                             next(column for column in COLUMNS if what.startswith(column)), kind)
                       for section, at, name, n, what, kind in FAULT.findall(made.stdout)]
        self.doubts = {place(section, at): word for section, at, word in DOUBT.findall(made.stdout)}
        found = SUMMARY.search(made.stdout)
        self.counts = [int(part or 0) for part in found.groups()] if found else None
