# SPDX-License-Identifier: MIT
"""Reads what readelf prints of an ELF file."""
import re
from typing import NamedTuple

from tap import must

SECTION = re.compile(r"^ *\[ *\d+\] (\S+) +(\S+) +([0-9a-f]{16}) ([0-9a-f]+) ([0-9a-f]+) ", re.M)


FUNCTION = re.compile(r"^ *\d+: (\w+) +(\w+) FUNC +\w+ +\w+ +(?:\[.*?\] +)?\d+ (\S+)$", re.M)


class Place(NamedTuple):
    """Where a section is."""
    kind: str
    addr: int
    offset: int
    size: int


def sections(path):
    """{name: Place}"""
    return {name: Place(kind, *(int(number, 16) for number in numbers))
            for name, kind, *numbers in SECTION.findall(must("readelf", "-SW", path))}


def functions(path):
    """[(address, size, name)] of the functions that are defined."""
    return [(int(at, 16), int(size, 0), name)
            for at, size, name in FUNCTION.findall(must("readelf", "-sW", path))]


def fdes(path):
    """[(start, end)] of the code that FDEs describe. Debug files are left alone."""
    return [(int(start, 16), int(end, 16)) for start, end in
            re.findall(r" FDE .* pc=([0-9a-f]+)\.\.([0-9a-f]+)", must("readelf", "-wNf", path))]


def plts(path):
    """The sections in which a linker has put a PLT."""
    return {name: place for name, place in sections(path).items()
            if name.startswith((".plt", ".iplt")) and place.kind == "PROGBITS"}
