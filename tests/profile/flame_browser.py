#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The flame graph in a real browser without a screen: makes pages and runs the checks of flame_checks.cjs. TAP.

    flame_browser.py EH2SFRAME-FOLD RECORDING-OF DIRECTORY

DIRECTORY keeps playwright-core, which npm fetches once.
"""

import os
import random
import sys

from batch_lib import remove, scratch
from browser import check_pages
from fold_lib import CUT_OFF, FILE, KERNEL, NO_ROW, Recording, run

FOLD, WRITER, KEEP = (os.path.realpath(path) for path in sys.argv[1:4])
HERE = os.path.dirname(os.path.realpath(__file__))


def page(name, rec):
    got = run(FOLD, "-q", "--format=html", "-o", name + ".html", rec.write(WRITER, name + ".rec"))
    if got.returncode:
        raise RuntimeError(got)


def shop():
    """100 samples whose shares are easy to tell: flame_checks.cjs has them."""
    rec = Recording(command="shop --open")
    prog, libc = rec.module("/usr/bin/shop"), rec.module("/lib/libc.so.6")
    kernel = rec.module("[kernel]")
    at = {name: rec.frame(FILE, 0x1000 + i * 16, prog, name=name) for i, name in enumerate(
        ("main", "sell", "count(std::vector<int> const&)", "pay", "Close"))}
    at["memcpy"] = rec.frame(FILE, 0x9000, libc, name="memcpy")
    at["sys_read"] = rec.frame(KERNEL, 2**63, kernel, flags=1, name="sys_read")
    shopper, till = rec.thread(10, 10, "shop"), rec.thread(10, 11, "till")
    for count, thread, names, why in (
        (40, shopper, ["main", "sell", "count(std::vector<int> const&)", "memcpy"], 1),
        (20, shopper, ["main", "sell", "sys_read"], 1),
        (10, shopper, ["main"], 1),
        (5, shopper, ["memcpy"], NO_ROW),
        (20, till, ["main", "pay", "memcpy"], 1),
        (3, till, ["pay", "Close"], CUT_OFF),
        (2, till, ["main", "pay", "pay", "Close"], 1),
    ):
        for _ in range(count):
            # From 1 to 3 s.
            rec.sample(thread, [at[name] for name in names], why, time=10**9 + 2 * 10**9 * rec.n["sample"] // 99)
    return rec


def hostile():
    rec = Recording(command="<img src=x onerror=alert(1)>")
    prog = rec.module("/x/<script>alert(2)</script>")
    frames = [rec.frame(FILE, 16 * i, prog, name=name) for i, name in enumerate(
        ("</script><script>alert(3)</script>", "a" * 5000, "\u202eevil\u2066", "constructor", "__proto__", "(unclosed["))]
    thread = rec.thread(1, 1, "<b>bold</b>")
    for i in range(1, len(frames) + 1):
        rec.sample(thread, frames[:i], NO_ROW)
    return rec


def many(count):
    """As many stacks, nearly all different. Those of one thread come together, because a name is recorded again for another process."""
    chance, rec = random.Random(7), Recording(command="many")
    modules = [rec.module(f"/usr/lib/lib{i}.so") for i in range(12)]
    frames = [rec.frame(FILE, 16 * i, modules[i * i % 12], name=f"function_{i}") for i in range(2000)]
    threads = [rec.thread(i, i, f"program{i % 5}") for i in range(20)]
    for i in range(count):
        at, stack = 3, []
        for _ in range(chance.randrange(8, 40)):
            at = (at * 31 + min(int(chance.expovariate(0.7)), 30)) % 2000
            stack.append(frames[at])
        rec.sample(threads[20 * i // count], stack)
    return rec


def deep():
    rec = Recording(command="deep")
    prog = rec.module("/bin/deep")
    frames = [rec.frame(FILE, i, prog, name=f"f{i}") for i in range(3)]
    rec.sample(rec.thread(1, 1, "deep"), frames * 1000)
    return rec


def make():
    for name, rec in (("shop", shop()), ("hostile", hostile()), ("many", many(100000)), ("deep", deep())):
        page(name, rec)


def main():
    top = scratch()
    try:
        status = check_pages(KEEP, make, top, [os.path.join(HERE, "flame_checks.cjs")])
    finally:
        remove(top)
    raise SystemExit(status)


if __name__ == "__main__":
    main()
