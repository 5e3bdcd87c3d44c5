# SPDX-License-Identifier: MIT
"""What the installed GNU binutils know of SFrame, by their version."""
import re
import subprocess


def release(tool="readelf"):
    """(2, 44)"""
    text = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(map(int, re.search(r"(\d+)\.(\d+)", text).groups()))


def merged(tool="ld.bfd"):
    """The version that as writes and ld merges, as --format takes it."""
    number = release(tool)
    return "1" if number <= (2, 40) else "2" if number <= (2, 45) else "3"


def readable():
    """[(version, options of eh2sframe)] that readelf and objdump read right. Before 2.45 they take the
    starts for relative to the section, whatever the flag says."""
    number = release()
    if number <= (2, 40):
        return [("1", [])]
    if number < (2, 45):
        return [("2", ["--no-pcrel"])]
    return [("2", [])] if number == (2, 45) else [("2", []), ("3", [])]
