# SPDX-License-Identifier: MIT
"""What the tests of relocatable objects have in common."""


def simple(func):
    """A function's rows that say something: GNU as repeats some."""
    size, masked, rows = func
    kept = []
    for row in rows:
        if row[0] < size and (not kept or kept[-1][1:] != row[1:]):
            kept.append(row)
    return size, masked, kept
