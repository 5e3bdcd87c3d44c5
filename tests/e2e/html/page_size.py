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


LISTS = "gaps", "without_cfi", "source_ranges"


def lists_of(file):
    return [*(file.get(name, []) for name in LISTS),
            *(source.get("without_rows", []) for source in file.get("sources", {}).values())]


def rest_of(file):
    """What is in no list."""
    sources = {name: without(source, "without_rows") for name, source in file.get("sources", {}).items()}
    return {**without(file, "page_left_out", "sources", *LISTS), "sources": sources}


def less_than(file, was):
    """How many entries a file has less in the page. It says so, has the largest, and is the same otherwise."""
    left = file.get("page_left_out", {"entries": 0, "bytes": 0})
    gone, have, right = [], [], True
    for now, before in zip(lists_of(file), lists_of(was), strict=True):
        starts = {(one["start"], one["size"]) for one in now}
        kept = [one for one in before if (one["start"], one["size"]) in starts]
        gone += [one["size"] for one in before if (one["start"], one["size"]) not in starts]
        have += [one["size"] for one in now]
        right = right and [one["start"] for one in now] == [one["start"] for one in kept]
    right = (right and left == {"entries": len(gone), "bytes": sum(gone)} and rest_of(file) == rest_of(was)
             and (not gone or not have or max(gone) <= min(have)))
    return len(gone), right


def of_many():
    """3,000 files have to leave entries out, and the page says how many."""
    document = samples.many(3000)
    got, data = page(TOOL, "3,000 files", written("many.json", document), verb="merge")
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
    got, data = page(TOOL, "45,000 faults", written("faults.json", samples.document([one])), verb="merge")
    file = data["files"][0]
    left = file.get("page_left_out", {"entries": 0})["entries"]
    check(1000 * 1000 < len(got.out) < LIMIT, f"45,000 faults in {len(got.out)} bytes")
    check(left == 25003 and len(file["faults"]) + len(file["doubts"]) + left == 45003 and file["check"] == one["check"]
          and min(fault["size"] for fault in file["faults"]) > 1, f"{left} are left out", file.get("page_left_out"))


def of_long_texts():
    """Names that fill a screen are cut, between characters, and so are lists of other things than gaps."""
    one = samples.many(1)["files"][0]
    gap = {"reason": "cfa-expression", "start": "0x1000", "size": 8, "function": "0x1000", "needs": 0,
           "name": "é" * 2500, "symbol": "_Z" + "s" * 5000, "rule": "r" * 200}
    one["gaps"] = [{**gap, "start": hex(0x1000 + 16 * i)} for i in range(15000)]
    one["source_ranges"] = [{"start": hex(0x1000 + 16 * i), "size": 1 + i % 3, "functions": 1, "source": "go"} for i in range(30000)]
    one["sources"] = {"go": {"functions": 1, "bytes": 1, "without_rows": [
        {"start": hex(0x1000 + 16 * i), "size": 2, "reason": "w" * 5000} for i in range(100)]}}
    got, data = page(TOOL, "long names", written("long.json", samples.document([one])), verb="merge")
    file = data["files"][0]
    lists = file["gaps"], file["source_ranges"], file["without_cfi"], file["sources"]["go"]["without_rows"]
    check(len(got.out) < 2 * LIMIT, f"15,000 long names and 30,000 sources in {len(got.out)} bytes")
    check(sum(map(len, lists)) == 20000 and all(
        entry["name"] == "é" * 100 + "…" and entry["symbol"] == "_Z" + "s" * 198 + "…" and entry["rule"] == "r" * 200
        for entry in lists[0]) and all(entry["reason"] == "w" * 200 + "…" for entry in lists[3]), "texts are cut",
        [list(map(len, lists)), lists[0][:1]])


def main():
    top = scratch()
    try:
        of_many()
        of_faults()
        of_long_texts()
    finally:
        remove(top)
    plan()


if __name__ == "__main__":
    main()
