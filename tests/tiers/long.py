#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""long.py BUILD SANITIZED [--table] [TEST...]: runs the long tier, one test after the other, and keeps its table.

BUILD is the released program. Tests of the suite "sanitized" run once more in the build SANITIZED; their names there
begin with "sanitized/".

The table is tests/tiers/long.tsv: a line for each test with the commit at which it last passed, when, in how many
seconds, and how its last run ended. A test that passed at the commit that is checked out is not run again, so a run
that was stopped goes on where it was. A pass also holds at a later commit if nothing has changed since but texts (docs/, *.md), the
table and what the test does not read (UNREAD, READ_BY). With names it runs only these, even if they have passed. --table
prints the table, and ends with 1 unless a pass of every test holds at this commit."""
import argparse
import fcntl
import functools
import hashlib
import json
import pathlib
import re
import subprocess
import time

TABLE = pathlib.Path(__file__).with_name("long.tsv")
# Tests that compare rows, or convert what others built, and the folders that they do not read. All other tests read all.
CONVERTER = re.compile(r"(sanitized/)?(plt_all|rows-many|rules-|libdwarf-|readelf-|derive-|section-rows|step|flip|words_|code_corpus|"
                       r"lengths|contradictions|known_faults|corpus$|debug_frame_rows|afterwards|dlphdr|cycles|kinds|two_tools|sixty|go_|"
                       r"whole_root|glibc_backtrace|real_|fuzz_(?!recording|names))")
UNREAD = ("profile", "tests/profile", "tests/unit", "tests/house", "tests/lib", "tests/packaging/products.py",
          "tests/packaging/rpm_spec.sh", "kit", "examples", "cmd/report/page", "packaging/completions")
# Files and folders that are read by the tests of these names, and by no other.
READ_BY = {"tests/distributions": "distributions-.*|whole_root.*|old_kernel|glibc_backtrace|real_.*|release",
           "tests/bench": "release",
           "tests/code/contradictions.py": "contradictions", "tests/code/contradictions.tsv": "contradictions",
           "tests/fuzz/fuzz_names.c": "fuzz_names.*|release", "tests/fuzz/fuzz_walk.c": "fuzz_walk.*|release",
           "tests/tiers/long.py": "release",
           "tests/oracle/derive_trial.py": "derive-.*|step-hidden|release",
           "tests/oracle/rules_witness.c": "rules-.*|release",
           "tests/packaging/real_packages": "real_packages|real_rpms|release",
           # The converter does not have the walker in it.
           "walk": rf"flip.*|fuzz_(model|walk).*|(?!{CONVERTER.pattern}).*", "tests/walk": rf"(?!{CONVERTER.pattern}).*"}
HEAD = "test\tpassed at\ton\tseconds\tlast run\n"


def git(*words):
    return subprocess.run(["git", *words], capture_output=True, text=True, check=True).stdout.strip()


def commit():
    """The last commit that changed more than the table, and a hash of what is not committed, because it is tested, too."""
    but_table = ("--", ".", f":!*/{TABLE.name}")
    changed = git("diff", "HEAD", *but_table)
    return git("log", "-1", "--format=%h", "--abbrev=12", *but_table) + (
        "+" + hashlib.sha256(changed.encode()).hexdigest()[:8] if changed else "")


@functools.cache
def unchanged(at, here, *unread):
    """True if one commit follows the other, which is checked out, and between them no file differs that is read."""
    if at == here:
        return True
    if at == "-" or "+" in at + here or subprocess.run(["git", "merge-base", "--is-ancestor", at, here], check=False).returncode:
        return False
    return not git("diff", "--name-only", at, here, "--", ".", ":!docs", ":!*.md", f":!*/{TABLE.name}", *(f":!{one}" for one in unread))


def holds(name, at, here):
    """True if a pass of a test at one commit counts at the other."""
    unread = [path for path, names in READ_BY.items() if not re.fullmatch(names, name)]
    return unchanged(at, here, *unread, *(UNREAD if CONVERTER.match(name) else ()))


def registered(build, sanitized):
    """Returns the tests by name, each with the build that it runs in, and its own name there."""
    tests = json.loads((build / "meson-info/intro-tests.json").read_text())
    # The cheapest limit first: a table fills early, and what hangs is met late.
    tests.sort(key=lambda test: test["timeout"])
    known = {}
    for test in tests:
        suites = {suite.split(":")[-1] for suite in test["suite"]}
        if "long" in suites:
            known[test["name"]] = build, test["name"]
            if "sanitized" in suites:
                known["sanitized/" + test["name"]] = sanitized, test["name"]
    return known


def read():
    if not TABLE.exists():
        return {}
    return {line.split("\t")[0]: line.split("\t") for line in TABLE.read_text().splitlines()[1:]}


def write(rows, known):
    text = HEAD + "".join("\t".join(rows[name]) + "\n" for name in sorted(rows) if name in known)
    new = TABLE.with_suffix(".new")
    new.write_text(text)
    new.rename(TABLE)


def run(build, name):
    """Returns the verdict of one test: pass, skip, or what meson calls it."""
    log = build / "meson-logs/testlog-long.json"
    log.unlink(missing_ok=True)
    subprocess.run(["meson", "test", "-C", build, "--setup", "long", "--no-rebuild", "--print-errorlogs", name], check=False)
    results = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    if not results or results[0]["name"].split(" / ")[-1] != name:
        return "not run"
    verdict = {"OK": "pass", "SKIP": "skip"}.get(results[0]["result"], results[0]["result"].lower())
    checks = re.findall(r"^ok .*", results[0].get("stdout", ""), re.M)
    left_out = sum("# SKIP" in check for check in checks)
    if verdict != "pass" or not left_out:
        return verdict
    return f"pass, {left_out} of its checks skipped" if left_out < len(checks) else "skip"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("sanitized", type=pathlib.Path)
    parser.add_argument("tests", nargs="*")
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    if not args.table:
        # Two runs would write over each other's table and log.
        lock = open(args.build / "meson-logs/long.lock", "w", encoding="ascii")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            parser.error(f"another run of the long tier uses {args.build}")
        # Also brings the lists of tests up to date.
        for build in (args.build, args.sanitized) if not args.tests else (args.build,):
            subprocess.run(["meson", "compile", "-C", build], check=True)
    known, rows, here = registered(args.build, args.sanitized), read(), commit()
    unknown = set(args.tests) - set(known)
    if unknown:
        parser.error(f"not in the long tier: {', '.join(sorted(unknown))}")
    if any(name.startswith("sanitized/") for name in args.tests):
        subprocess.run(["meson", "compile", "-C", args.sanitized], check=True)
    for name in [] if args.table else args.tests or known:
        row = rows.setdefault(name, [name, "-", "-", "-", "-"])
        if holds(name, row[1], here) and row[4].startswith("pass") and not args.tests:
            continue
        if commit() != here:
            raise SystemExit(f"long: {here} is not checked out any more; start again")
        start = time.monotonic()
        row[4] = run(*known[name])
        if row[4].startswith("pass"):
            row[1:4] = here, time.strftime("%Y-%m-%d"), f"{time.monotonic() - start:.0f}"
        write(rows, known)
    if args.table:
        print(TABLE.read_text() if TABLE.exists() else HEAD, end="")
    chosen = args.tests or known
    count = {"passed": 0, "failed": 0, "skipped": 0}
    for name in chosen:
        row = rows.get(name, [name, "-", "-", "-", "has never run"])
        passed = holds(name, row[1], here) and row[4].startswith("pass")
        count["skipped"] += "skipped" in row[4]
        count["passed" if passed else "skipped" if row[4] == "skip" else "failed"] += 1
        if not passed or row[4] != "pass":
            print(f"{name}: {row[4]}" + ("" if passed else f"; last passed at {row[1]}"))
    print(f"long at {here}, what has not passed there counts as failed:")
    print(f"long: {count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    return 0 if count["passed"] == len(chosen) else 1


if __name__ == "__main__":
    raise SystemExit(main())
