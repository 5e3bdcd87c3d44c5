#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The HTML report in a real browser without a screen: makes the pages and runs browser.cjs. TAP.

    page_browser.py EH2SFRAME DIRECTORY

DIRECTORY keeps playwright-core, which npm fetches once.
"""

import os
import shutil
import subprocess
import sys

import samples
from batch_lib import remove, run, scratch
from page_lib import written
from tap import skip_all

TOOL = os.path.realpath(sys.argv[1])
KEEP = os.path.realpath(sys.argv[2])
HERE = os.path.dirname(os.path.realpath(__file__))
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def needed(*names):
    """The first of these programs."""
    for name in names:
        path = shutil.which(name)
        if path:
            return path
    skip_all(f"needs {names[0]} (Debian: chromium, nodejs, npm)")
    return None


def fetch(npm):
    """playwright-core, in the version that package.json names."""
    package = os.path.join(HERE, "package.json")
    mark = os.path.join(KEEP, "package.json")
    with open(package, "rb") as file:
        wanted = file.read()
    if os.path.isdir(os.path.join(KEEP, "node_modules/playwright-core")) and os.path.exists(mark):
        with open(mark, "rb") as file:
            if file.read() == wanted:
                return
    shutil.copyfile(package, mark)
    made = subprocess.run(
        [npm, "install", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"],
        cwd=KEEP, capture_output=True, text=True, check=False, timeout=200)
    if made.returncode:
        os.unlink(mark)
        skip_all("npm cannot fetch playwright-core: " + " ".join(made.stderr.split())[:200])


def make(name, *argv):
    got = run(TOOL, "--report=html", "-o", name + ".html", *argv)
    if got.status not in (0, 1):
        raise RuntimeError(got)


def invalid_utf8():
    """A file with a name that is not UTF-8."""
    name = b"lib\xff\xfe<b>.so"
    shutil.copyfile("/bin/ls", name)
    return os.fsdecode(name)


def main():
    chromium, node, npm = needed(*BROWSERS), needed("node", "nodejs"), needed("npm")
    fetch(npm)
    top = scratch()
    try:
        for name, document in (
            ("one", samples.document([samples.file_of(4)])),
            ("few", samples.document([samples.file_of(i) for i in range(3)] + [samples.failed(3)])),
            ("many", samples.many(3000)),
            ("hostile", samples.hostile()),
            ("old", samples.old()),
            ("none", samples.document([])),
        ):
            make(name, "--merge", written(name + ".json", document))
        make("real", "-v", "/bin/ls")
        make("bytes", "-v", "/bin/ls", invalid_utf8())
        done = subprocess.run(
            [node, os.path.join(HERE, "browser.cjs"), chromium, top], check=False, timeout=280,
            env={**os.environ, "NODE_PATH": os.path.join(KEEP, "node_modules")})
    finally:
        remove(top)
    raise SystemExit(done.returncode)


if __name__ == "__main__":
    main()
