#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The HTML report in a real browser without a screen: makes the pages and runs browser.cjs. TAP.

    page_browser.py EH2SFRAME DIRECTORY

DIRECTORY keeps playwright-core, which npm fetches once.
"""

import os
import shutil
import sys

import samples
from batch_lib import remove, run, scratch
from browser import check_pages
from page_lib import written

TOOL = os.path.realpath(sys.argv[1])
KEEP = os.path.realpath(sys.argv[2])
HERE = os.path.dirname(os.path.realpath(__file__))
SUBJECTS = ("file", "many", "hostile", "code", "look", "time")


def make(name, *argv, verb="report"):
    got = run(TOOL, verb, "--html", "-o", name + ".html", *argv)
    if got.status not in (0, 1):
        raise RuntimeError(got)


def invalid_utf8():
    """A file with a name that is not UTF-8."""
    name = b"lib\xff\xfe<b>.so"
    shutil.copyfile("/bin/ls", name)
    return os.fsdecode(name)


def make_all():
    for name, document in (
        ("one", samples.document([samples.file_of(4)])),
        ("few", samples.document([samples.file_of(i) for i in range(3)] + [samples.failed(3)])),
        ("many", samples.many(3000)),
        ("hostile", samples.hostile()),
        ("none", samples.document([])),
        ("checked", samples.checked(9)),
        ("checked-one", samples.document([samples.checked(9)["files"][1]])),
        ("mixed", samples.document([samples.file_of(4), samples.checked(9)["files"][1]])),
    ):
        make(name, written(name + ".json", document), verb="merge")
    make("real", "-v", "/bin/ls")
    make("bytes", "-v", "/bin/ls", invalid_utf8())


def main():
    top = scratch()
    try:
        status = check_pages(KEEP, make_all, top, [os.path.join(HERE, f"check_{name}.cjs") for name in SUBJECTS])
    finally:
        remove(top)
    raise SystemExit(status)


if __name__ == "__main__":
    main()
