#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make_core.py OUT NAME FILE...: a core file in which the files are mapped: the first by that name, the others without
one, the last as [vdso]."""
import sys

from core_lib import Elf, core_of, read

elves = [Elf(read(path)) for path in sys.argv[3:]]
core = core_of(elves[0])
for i, elf in enumerate(elves):
    core.image(elf, 0 if elf.type == 2 else 0x7f1200000000 + (i << 28), None if i else sys.argv[2])
core.vdso(core.segments[-len(elves[-1].loads)][0])
core.write(sys.argv[1])
