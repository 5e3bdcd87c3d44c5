# SPDX-License-Identifier: MIT
"""Chromium without a screen, driven by playwright-core, which npm fetches once into a folder of the build."""

import fcntl
import os
import shutil
import subprocess

from tap import skip_all

HTML = os.path.realpath(os.path.join(os.path.dirname(__file__), "../e2e/html"))
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def needed(*names):
    """The first of these programs."""
    for name in names:
        path = shutil.which(name)
        if path:
            return path
    skip_all(f"needs {names[0]} (Debian: chromium, nodejs, npm)")
    return None


def fetch(npm, keep):
    """playwright-core, in the version that package.json names. Tests that run at once share the folder."""
    with open(os.path.join(HTML, "package.json"), encoding="utf-8") as file:
        wanted = file.read()
    with open(os.path.join(keep, "fetched"), "a+", encoding="utf-8") as mark:
        fcntl.flock(mark, fcntl.LOCK_EX)
        mark.seek(0)
        if mark.read() == wanted:
            return
        mark.truncate(0)
        shutil.copyfile(os.path.join(HTML, "package.json"), os.path.join(keep, "package.json"))
        made = subprocess.run(
            [npm, "install", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"],
            cwd=keep, capture_output=True, text=True, check=False)
        if made.returncode:
            skip_all("npm cannot fetch playwright-core: " + " ".join(made.stderr.split())[:200])
        mark.write(wanted)


def check_pages(keep, make, directory, subjects):
    """Fetches what is missing, calls make and runs the subjects, files of checks, on the pages in directory. The status."""
    chromium, node, npm = needed(*BROWSERS), needed("node", "nodejs"), needed("npm")
    fetch(npm, keep)
    make()
    return subprocess.run(
        [node, os.path.join(HTML, "browser.cjs"), chromium, directory, *subjects], check=False,
        env={**os.environ, "NODE_PATH": os.path.join(keep, "node_modules")}).returncode
