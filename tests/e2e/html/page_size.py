#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A page of many files stays small. It leaves out what is least, and says how much that is. TAP.

    page_size.py EH2SFRAME
"""

import os
import sys

import samples
from batch_lib import remove, scratch
from page_lib import page, without, written
from tap import check, plan

TOOL = os.path.realpath(sys.argv[1])
LIMIT = 10 * 1000 * 1000


def less_than(file, was):
    """How many entries a file has less in the page. It says so, has the largest, and is the same otherwise."""
    left = file.get("page_left_out", {"entries": 0, "bytes": 0})
    have, had = ([*one.get("gaps", []), *one.get("without_cfi", [])] for one in (file, was))
    starts = {(one["start"], one["size"]) for one in have}
    gone = [one["size"] for one in had if (one["start"], one["size"]) not in starts]
    right = (
        left == {"entries": len(gone), "bytes": sum(gone)}
        and len(have) + len(gone) == len(had)
        and without(file, "page_left_out", "gaps", "without_cfi") == without(was, "gaps", "without_cfi")
        and [one["start"] for one in have] == [one["start"] for one in had if (one["start"], one["size"]) in starts]
        and (not gone or not have or max(gone) <= min(one["size"] for one in have))
    )
    return len(gone), right


def of_many():
    """3,000 files have to leave entries out, and the page says how many."""
    document = samples.many(3000)
    got, data = page(TOOL, "3,000 files", "--merge", written("many.json", document))
    check(1000 * 1000 < len(got.out) < LIMIT, f"3,000 files in {len(got.out)} bytes")
    all_of = {file["path"]: file for file in document["files"]}
    less = [less_than(file, all_of[file["path"]]) for file in data["files"]]
    cut = sum(gone > 0 for gone, _ in less)
    check(cut >= 20 and all(right for _, right in less), f"{cut} files have less, and say what is left out",
          [(i, one) for i, one in enumerate(less) if not one[1]][:9])


def of_faults():
    """Faults of a check are left out in the same way; its counts stay."""
    one = samples.checked(9)["files"][1]
    one["faults"] = [{**fault, "start": hex(0x1000 + 64 * (30 * i + k)), "size": 1 + i % 60}
                     for i in range(1500) for k, fault in enumerate(one["faults"])]
    got, data = page(TOOL, "45,000 faults", "--merge", written("faults.json", samples.document([one])))
    file = data["files"][0]
    left = file.get("page_left_out", {"entries": 0})["entries"]
    check(1000 * 1000 < len(got.out) < LIMIT, f"45,000 faults in {len(got.out)} bytes")
    check(left == 25003 and len(file["faults"]) + len(file["doubts"]) + left == 45003 and file["check"] == one["check"]
          and min(fault["size"] for fault in file["faults"]) > 1, f"{left} are left out", file.get("page_left_out"))


def main():
    top = scratch()
    try:
        of_many()
        of_faults()
    finally:
        remove(top)
    plan()


if __name__ == "__main__":
    main()
