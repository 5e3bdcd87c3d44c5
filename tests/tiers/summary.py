#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""summary.py TIER BUDGET BUILD...: says what the last run in each BUILD came to.

It names what was skipped and why, prints the processor time beside BUDGET seconds with the ten most expensive tests,
and ends with a line "TIER: N passed, N failed, N skipped", where a check that was skipped inside of a test that
passed counts as skipped, too. --more=SECONDS adds what was used beside the tests, as for compilers; with --fail it
ends with 1 above the budget. As a test of meson (TEST_RUN is set) it prints the costs of the run that it is part of."""
import argparse
import json
import os
import pathlib
import re


def costs(build, run):
    """Yields the seconds and the name of each test in the file that run_test writes."""
    def key(command):
        """The command with its paths made whole, because meson lists some relative to the build."""
        return tuple(os.path.normpath(build.resolve() / word) for word in command)

    names = {key(test["cmd"]): test["name"] for test in json.loads((build / "meson-info/intro-tests.json").read_text())}
    path = build / "meson-logs/costs"
    for line in path.read_text(errors="replace").splitlines() if path.exists() else []:
        of_run, used, _, *command = line.split("\t")
        if run is None or of_run == run:
            yield float(used), names.get(key(command), " ".join(command)[-60:])


def print_costs(tier, budget, tests, more):
    used = sum(cost for cost, _ in tests) + more
    beside = f", {more:.0f} s of it to install and compile" if more else ""
    print(f"{tier}: {used:.0f} s of processor time{beside}; the budget is {budget:.0f} s. The most expensive tests:")
    for cost, name in sorted(tests, reverse=True)[:10]:
        print(f"{cost:8.1f} s  {name}")
    if used > budget:
        print(f"{tier}: ABOVE ITS BUDGET by {used - budget:.0f} s")
    return used > budget


def results(build):
    """Returns how many tests passed, and the names of those that failed and of what was skipped."""
    passed, failed, skipped = 0, [], []
    # meson names it by the setup.
    logs = sorted(build.glob("meson-logs/testlog*.json"), key=lambda path: path.stat().st_mtime)
    for line in logs[-1].read_text(errors="replace").splitlines() if logs else []:
        test = json.loads(line)
        name, result, said = test["name"].split(" / ")[-1], test["result"], test.get("stdout", "")
        if result == "SKIP":
            why = re.search(r"# SKIP +(.*)|^(.*\S)\s*$", said, re.I | re.M)
            skipped.append(f"{name}: {(why[1] or why[2]) if why else 'it does not say why'}")
            continue
        if result in ("OK", "EXPECTEDFAIL"):
            passed += 1
        else:
            failed.append(f"{name}: {result}")
        skipped += [f"{name}: {check}: {why}" for check, why in re.findall(r"^ok \d+ *-? *(.*?) *# SKIP *(.*)", said, re.M)]
    return passed, failed, skipped


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tier")
    parser.add_argument("budget", type=float)
    parser.add_argument("builds", nargs="+", type=pathlib.Path)
    parser.add_argument("--more", type=float, default=0, metavar="SECONDS")
    parser.add_argument("--fail", action="store_true")
    args = parser.parse_args()
    run = os.environ.get("TEST_RUN")
    tests = [cost for build in args.builds for cost in costs(build, run)]
    above = print_costs(args.tier, args.budget, tests, args.more)
    if run is not None:
        return 0
    passed, failed, skipped = 0, [], []
    for build in args.builds:
        more = results(build)
        if not more[0] and not more[1]:
            more[1].append(f"{build}: no test ran")
        passed, failed, skipped = passed + more[0], failed + more[1], skipped + more[2]
    for line in skipped:
        print(f"skipped: {line}")
    for line in failed:
        print(f"failed: {line}")
    print(f"{args.tier}: {passed} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 1 if failed or not passed or (above and args.fail) else 0


if __name__ == "__main__":
    raise SystemExit(main())
