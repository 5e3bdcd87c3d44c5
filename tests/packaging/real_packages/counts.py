# SPDX-License-Identifier: MIT
"""Reads logs of builds: how many tests passed, by the words of the test programs in use."""
import os
import re

# What a summary has, and under which name its number counts.
AUTOMAKE = {"PASS": "passed", "FAIL": "failed", "ERROR": "failed", "XPASS": "failed", "XFAIL": "failed as expected", "SKIP": "skipped"}
MESON = {"Ok": "passed", "Fail": "failed", "Timeout": "failed", "Unexpected Pass": "failed", "Expected Fail": "failed as expected",
         "Skipped": "skipped"}


def add(found, name, number):
    if int(number):
        found[name] = found.get(name, 0) + int(number)


def count_tests(path):
    """{passed: N, ...} of a log. Suites that print no numbers count as one: bzip2, zlib, gawk."""
    found = {}
    with open(path, encoding="utf-8", errors="replace") as file:
        text = re.sub(r"\x1b\[[0-9;]*m", "", file.read())
    # Where a test fails, Debian prints automake's log of the suite, too. It begins with the same numbers.
    for summary in re.findall(r"^Testsuite summary .*\n=+\n((?:# .*\n)+)", text, re.M):
        for what, number in re.findall(r"^# (PASS|FAIL|ERROR|XPASS|XFAIL|SKIP): +(\d+)$", summary, re.M):
            add(found, AUTOMAKE[what], number)
    for what, number in re.findall(r"^(Ok|Fail|Timeout|Unexpected Pass|Expected Fail|Skipped): +(\d+) *$", text, re.M):
        add(found, MESON[what], number)
    for bad, total in re.findall(r"tests passed, (\d+) tests failed out of (\d+)", text):
        add(found, "passed", int(total) - int(bad))
        add(found, "failed", bad)
    for good, bad, ignored in re.findall(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", text, re.M):
        add(found, "passed", good)
        add(found, "failed", bad)
        add(found, "skipped", ignored)
    for number in re.findall(r"^Files=\d+, Tests=(\d+)", text, re.M):
        add(found, "passed", number)
    add(found, "passed", len(re.findall(r"^(?:--- PASS: |ok  ?\t)", text, re.M)))
    add(found, "failed", len(re.findall(r"^--- FAIL: ", text, re.M)))
    for good, total in re.findall(r"^TESTDONE: (\d+) tests out of (\d+) reported OK", text, re.M):  # curl
        add(found, "passed", good)
        add(found, "failed", int(total) - int(good))
    for bad, total in re.findall(r"^(\d+) errors out of (\d+) tests", text, re.M):  # sqlite3
        add(found, "passed", int(total) - int(bad))
        add(found, "failed", bad)
    add(found, "passed", len(re.findall(r"^\[ok\]: ", text, re.M)))  # redis
    add(found, "failed", len(re.findall(r"^\[(?:err|exception)\]: ", text, re.M)))
    # bash: the name of each test, then the lines that are not as expected.
    for printed in re.split(r"^run-[a-z0-9-]+$", text, flags=re.M)[1:]:
        add(found, "differ" if re.search(r"^[<>] ", printed, re.M) else "passed", 1)
    if not found:
        add(found, "passed", len(re.findall(r"^PASS: ", text, re.M)))
    if not found and re.search("^(Doing 6 tests|.*\\*\\*\\* zlib (shared )?test OK|ALL TESTS PASSED)", text, re.M):
        found["suites"] = 1
    return found


def outcome(path):
    """What a conversion may not change. sqlite3 has tests of random words, so each run has another number of tests: the
    names of its failures count."""
    with open(path, encoding="utf-8", errors="replace") as file:
        names = re.search(r"^!Failures on these tests: (.*)$", file.read(), re.M)
    return sorted(names[1].split()) if names else count_tests(path)


def said(shared, name):
    """The last lines of a log, and what looks like a reason."""
    path = os.path.join(shared, name)
    if not os.path.exists(path):
        return "no log"
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = file.read().splitlines()
    reasons = [line for line in lines if re.match(r"(FAIL|ERROR|not ok|E:|eh2sframe:|make.*\*\*\*)", line)]
    return "\n".join(reasons[:12] + lines[-15:])
