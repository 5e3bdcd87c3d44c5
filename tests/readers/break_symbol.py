#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a function of a shared library one that does nothing: it returns at once.

    break_symbol.py LIBRARY FUNCTION
"""
import re
import subprocess
import sys

RETURNS = {"Advanced Micro Devices X86-64": b"\xc3", "AArch64": bytes.fromhex("c0035fd6")}


def readelf(*options):
    return subprocess.run(["readelf", "-W", *options], check=True, capture_output=True, text=True).stdout


def main(path, name):
    machine = re.search(r"Machine: +(.*)", readelf("-h", path)).group(1)
    address = int(re.search(rf"^ *\d+: (\w+) +\d+ FUNC .* {name}(@.*)?$", readelf("--dyn-syms", path), re.M).group(1), 16)
    for off, start, size in re.findall(r"^ *LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+)", readelf("-l", path), re.M):
        if int(start, 16) <= address < int(start, 16) + int(size, 16):
            with open(path, "r+b") as file:
                file.seek(address - int(start, 16) + int(off, 16))
                file.write(RETURNS[machine])
            return
    sys.exit(f"{path}: {name} is in no segment")


main(*sys.argv[1:])
