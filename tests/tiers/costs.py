#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""costs.py TIER BUDGET BUILD...: processor time that the tests of BUILD used, beside BUDGET seconds, and the ten
most expensive tests.

As a test of meson it counts the run that it is in; started by hand or by test.sh, all that the builds' files hold.
--more=SECONDS adds what was used beside the tests, as for compilers. With --fail it ends with 1 above the budget."""
import argparse
import json
import os
import pathlib


def read(build, run):
    """Yields the seconds and the name of each test in the file of BUILD."""
    def key(command):
        """The command with its paths made whole: meson lists some relative to the build."""
        return tuple(os.path.normpath(build.resolve() / word) for word in command)

    names = {key(test["cmd"]): test["name"] for test in json.loads((build / "meson-info/intro-tests.json").read_text())}
    path = build / "meson-logs/costs"
    for line in path.read_text(errors="replace").splitlines() if path.exists() else []:
        of_run, used, _, *command = line.split("\t")
        if run is None or of_run == run:
            yield float(used), names.get(key(command), " ".join(command)[-60:])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tier")
    parser.add_argument("budget", type=float)
    parser.add_argument("builds", nargs="+", type=pathlib.Path)
    parser.add_argument("--more", type=float, default=0, metavar="SECONDS")
    parser.add_argument("--fail", action="store_true")
    args = parser.parse_args()
    tests = [cost for build in args.builds for cost in read(build, os.environ.get("TEST_RUN"))]
    used = sum(cost for cost, _ in tests) + args.more
    beside = f", {args.more:.0f} s of it compilers and installation" if args.more else ""
    print(f"{args.tier}: {used:.0f} s of processor time{beside}; the budget is {args.budget:.0f} s. "
          f"{len(tests)} tests; the most expensive:")
    for cost, name in sorted(tests, reverse=True)[:10]:
        print(f"{cost:8.1f} s  {name}")
    if used > args.budget:
        print(f"{args.tier}: ABOVE ITS BUDGET by {used - args.budget:.0f} s")
        return 1 if args.fail else 0
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
