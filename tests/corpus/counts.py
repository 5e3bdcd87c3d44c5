#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""counts.py REPORTS LIST: the sums of package.py's reports, as the tables of docs/FIGURES.md.

A report that LIST does not name is an error, and so is a difference that a witness found.
"""

import collections
import json
import os
import sys


def add(total, counts):
    for name, value in counts.items():
        if isinstance(value, int):
            total[name] += value


def main():
    folder, listed = sys.argv[1:]
    with open(listed, encoding="utf-8") as file:
        wanted = [os.path.basename(line.strip()).removesuffix(".deb") for line in file]
    if len(set(wanted)) != len(wanted):
        sys.exit(f"{listed}: a package twice")
    have = {name.removesuffix(".json") for name in os.listdir(folder) if name.endswith(".json")}
    if have - set(wanted):
        sys.exit(f"{folder}: not in the list: {sorted(have - set(wanted))[:5]}")
    files = collections.defaultdict(collections.Counter)
    witnesses = collections.defaultdict(collections.Counter)
    for name in sorted(have):
        machine = name.rsplit("_", 1)[1]
        with open(os.path.join(folder, name + ".json"), encoding="utf-8") as file:
            document = json.load(file)
        count = files[machine]
        count["packages"] += 1
        count["problems"] += document["summary"]["corpus"]["problems"]
        for file in document["files"]:
            status = file["status"]
            count["converted" if status == 0 else file.get("skipped", f"status {status}")] += 1
            if status:
                continue
            add(count, {"functions": file["counts"]["functions_with_cfi"], "rows": file["counts"]["sframe_rows"]})
            add(count, {"with_cfi": file["code"]["with_cfi"] - file["code"]["outermost"], "covered": file["code"]["covered"]})
            for said in file["corpus"].values():
                for witness, counts in said.items() if "too_large" not in said else ():
                    # A witness that ended early has no counts, and no files either.
                    add(witnesses[machine, witness], {**counts, "files": 1} if counts and "too_large" not in counts else {"larger": 1})
                count["too large for witnesses"] += "too_large" in said
    print(f"{len(have)} of {len(wanted)} packages")
    for machine, count in sorted(files.items()):
        print(f"{machine}: " + ", ".join(f"{value:,} {name}" for name, value in count.items()))
    print("\n| machine | witness | sections | compared | no CFI there | differ |\n|---|---|---|---|---|---|")
    for (machine, witness), count in sorted(witnesses.items()):
        compared = count["asked"] - count["none"] or count["rows"]
        print(f"| {machine} | {witness} | {count['files']:,} | {compared:,} | {count['none']:,} | {count['differ']:,} |")
    return 1 if any(count["problems"] for count in files.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
