# SPDX-License-Identifier: MIT
"""What the tests of relocatable objects have in common."""
import subprocess


def run(*argv):
    return subprocess.run(argv, capture_output=True, text=True, errors="replace", check=False)


def must(*argv):
    """The standard output of a command that succeeds."""
    made = run(*argv)
    if made.returncode:
        raise RuntimeError(f"{' '.join(argv)}: {made.stdout}{made.stderr}")
    return made.stdout


def simple(func):
    """A function's rows that say something: GNU as repeats some."""
    size, masked, rows = func
    kept = []
    for row in rows:
        if row[0] < size and (not kept or kept[-1][1:] != row[1:]):
            kept.append(row)
    return size, masked, kept
