# SPDX-License-Identifier: MIT
"""Chromium without a screen, driven by playwright-core, which npm fetches once into a folder of the build."""

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
    """playwright-core, in the version that package.json names."""
    package = os.path.join(HTML, "package.json")
    mark = os.path.join(keep, "package.json")
    with open(package, "rb") as file:
        wanted = file.read()
    if os.path.isdir(os.path.join(keep, "node_modules/playwright-core")) and os.path.exists(mark):
        with open(mark, "rb") as file:
            if file.read() == wanted:
                return
    shutil.copyfile(package, mark)
    made = subprocess.run(
        [npm, "install", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"],
        cwd=keep, capture_output=True, text=True, check=False, timeout=200)
    if made.returncode:
        os.unlink(mark)
        skip_all("npm cannot fetch playwright-core: " + " ".join(made.stderr.split())[:200])


def check_pages(keep, make, directory, subjects):
    """Fetches what is missing, calls make and runs the subjects, files of checks, on the pages in directory. The status."""
    chromium, node, npm = needed(*BROWSERS), needed("node", "nodejs"), needed("npm")
    fetch(npm, keep)
    make()
    return subprocess.run(
        [node, os.path.join(HTML, "browser.cjs"), chromium, directory, *subjects], check=False, timeout=280,
        env={**os.environ, "NODE_PATH": os.path.join(keep, "node_modules")}).returncode
