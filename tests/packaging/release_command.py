#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""packaging/release stops at the first thing that does not hold; a pass of the long tier holds until more than texts
changes. TAP.

    release_command.py SOURCE
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

from tap import check, plan, skip_all

source = os.path.realpath(sys.argv[1])
if not os.path.exists(f"{source}/.git") or not shutil.which("dpkg-parsechangelog"):
    skip_all("needs a clone, and dpkg-parsechangelog")
work = tempfile.mkdtemp(prefix="release.")
os.environ.update(GIT_AUTHOR_NAME="A", GIT_AUTHOR_EMAIL="a@example.org", GIT_COMMITTER_NAME="A", GIT_COMMITTER_EMAIL="a@example.org")
subprocess.run(["git", "clone", "-q", source, f"{work}/clone"], check=True)
os.chdir(f"{work}/clone")
# What is tested here need not be committed.
for path in ("packaging/release", "tests/tiers/long.py"):
    shutil.copy(f"{source}/{path}", path)


def commit():
    subprocess.run(["git", "add", "-A"], check=True)
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "step"], check=True)
    return subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()


def change(path, old, new):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(old, new, 1))


def stops(says, what, version="9.9.9-rc1"):
    shutil.rmtree(f"{work}/out", ignore_errors=True)
    done = subprocess.run(["packaging/release", version, f"{work}/out"], capture_output=True, text=True, check=False)
    check(done.returncode == 1 and done.stderr.startswith("release: ") and done.stderr.count("\n") == 1 and says in done.stderr
          and not os.path.exists(f"{work}/out/SHA256SUMS"), what, done)


def table(passed_at):
    with open("tests/tiers/long.tsv", "w", encoding="ascii") as file:
        file.write(f"test\tpassed at\ton\tseconds\tlast run\nlonger\t{passed_at}\t2026-11-29\t9\tpass\n")
    commit()


commit()
stops("is no version", "a version that is none", "9.9")
stops("put '## 9.9.9-rc1, MONTH YEAR' above it", "no news")
change("NEWS.md", "\n## ", "\n## 9.9.9-rc1, May 2030\n\n## ")
stops("wrote 9.9.9-rc1 into", "another version")
with open("meson.build", encoding="utf-8") as meson:
    check("  version: '9.9.9-rc1',\n" in meson.read(), "meson.build has it")
log = subprocess.run(["dpkg-parsechangelog", "-l", "packaging/deb/debian/changelog"], capture_output=True, text=True, check=False)
check("\nVersion: 9.9.9~rc1-1\n" in log.stdout and not log.stderr, "and Debian's changelog, as dpkg reads it", log)
for path, text in (("packaging/rpm/eh2sframe.spec", "eh2sframe-9.9.9-rc1\n"), ("packaging/rpm/eh2sframe.spec", "\nVersion: 9.9.9~rc1\n"),
                   ("include/eh2sframe.h", 'such as "9.9.9-rc1". */\n'), ("docs/BUILD-SYSTEMS.md", " eh2sframe_9.9.9~rc1-1_amd64.deb ")):
    with open(path, encoding="utf-8") as file:
        check(text in file.read(), f"and {path}: {text.strip()}")
stops("commit them", "a version that is not committed")
passed = commit()
stops("build is missing", "no build")
for build, tests in (("build", [{"name": "longer", "suite": ["eh2sframe:long"], "timeout": 9}]), ("build-dev", [])):
    os.makedirs(f"{build}/meson-info")
    open(f"{build}/build.ninja", "w", encoding="ascii").close()
    with open(f"{build}/meson-info/intro-tests.json", "w", encoding="ascii") as out:
        json.dump(tests, out)
table("-")
stops("the long tier does not hold", "a long test that has not passed")
table(passed)
stops("meson dist failed", "one that has passed at this commit but for its table")
change("docs/RELEASES.md", "# Releases", "# All releases")
commit()
stops("meson dist failed", "and texts")
change("base/vec.c", "/*", "/* ")
commit()
stops("the long tier does not hold", "code has changed since")
os.chdir("/")
shutil.rmtree(work)
plan()
