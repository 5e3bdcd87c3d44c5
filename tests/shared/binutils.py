# SPDX-License-Identifier: MIT
"""What the installed GNU binutils know of SFrame, by their version."""
import re
import subprocess


def release(tool="readelf"):
    """(2, 44)"""
    text = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(map(int, re.search(r"(\d+)\.(\d+)", text).groups()))


def merged(tool="ld.bfd"):
    """Options of eh2sframe for the section that as writes and ld merges."""
    number = release(tool)
    if number <= (2, 40):
        return ["--format=1"]
    if number < (2, 45):
        return ["--format=2", "--no-pcrel"]
    return ["--format=2"] if number == (2, 45) else ["--format=3"]


def readable(s390x=False):
    """[options of eh2sframe] for what readelf and objdump read right. Before 2.45 they take the starts
    for relative to the section, whatever the flag says; before 2.46 they do not know s390x."""
    number = release()
    if number >= (2, 46):
        return [["--format=2"], ["--format=3"]]
    return [] if s390x else [merged("readelf")]
