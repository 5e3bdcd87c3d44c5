#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A whole root of Debian, every ELF file converted by eh2sframe tree, does what it did before. TAP.

    whole_root.py EH2SFRAME DATA RELEASE...
    whole_root.py EH2SFRAME DATA --variants RELEASE...
    whole_root.py EH2SFRAME DATA --upgrade RELEASE NEXT-RELEASE

A root of each RELEASE with more than 300 packages is made in DATA, and kept there for the next run. One copy of
it stays as it is, another one is converted. The same tasks run in both, and their words must be the same. DATA also
gets the words (DATA/logs). With --variants the root is converted with each policy, version and method instead, and a
shorter set of checks follows. With --upgrade a converted root becomes one of the next release by apt-get
dist-upgrade, as one that is not converted. Needs root, mmdebstrap, 10 GB and, to make a root, a network.
"""
import json
import os
import re
import shutil
import subprocess
import sys

import whole_root_state as state
from tap import check, must, plan, skip_all
from whole_root_lib import Root, add_repository, compare_programs, compare_texts, make_pristine, tool_folder

TASKS = ("ldconfig ldd dpkg perl python gcc git sqlite openssl nginx tools systemd cores boot").split()
# At least so many packages have to be there.
PACKAGES = 300
VARIANTS = [["--method=grow"], ["--method=slack"], ["--code=repair", "--derive", "--format=3"],
            ["--optimize=size", "--format=3"], ["--optimize=none"], ["--format=1"], ["--format=3"], ["--optimize=size"],
            ["--code=refuse"], ["--code=repair"], ["--derive"], ["--format=2", "--no-pcrel"], ["--source=eh_frame"],
            ["--source=debug_frame"], ["--witness=libdwarf"]]
READERS = ("glibc linux-user linux-arm64 binutils-2.40 binutils-2.41 binutils-2.42 binutils-2.43 binutils-2.44 "
           "binutils-2.45 binutils-2.46 binutils-2.47").split()


def all_before(text):
    """Whether the last line of eh2sframe tree says that an earlier run converted all of the files."""
    found = re.search(r"(\d+) converted \((\d+) of them by an earlier run\)", text)
    return found is not None and found[1] == found[2]


def of_report(report):
    """The paths that the report calls converted, with all names of each file, and those that failed."""
    converted, failed = set(), {}
    for file in report["files"]:
        names = [file["path"], *file.get("links", [])]
        if file["status"] == 0:
            converted.update(names)
        elif file["status"] != 6:
            failed[file["path"]] = file.get("error", file["status"])
    return converted, failed


def convert(root, *options):
    """Converts everything in the root; the status, what was said, and the report."""
    got = root.tool("tree", "convert", "-j1", "--exclude=/mnt/*", "--report-file=/mnt/out/report.json", *options, "/")
    with open(os.path.join(root.shared, "out", "report.json"), encoding="utf-8") as file:
        return got, json.load(file)


def changed_alone(before, after, converted, name):
    """Only contents and times of converted files differ."""
    found = state.differences(before, after)
    odd = {path: what for path, what in found.items()
           if path not in converted or not set(what) <= {"contents", "time"}}
    check(not odd, f"{name}: only contents of converted files changed", list(odd.items())[:20])
    missing = [path for path in converted if "contents" not in found.get(path, [])]
    check(not missing, f"{name}: each of {len(converted)} converted names has new contents", missing[:20])
    return found


def given_back(root, before, name):
    """tree remove gives back everything except times; the state then."""
    got = root.tool("tree", "remove", "-j1", "--exclude=/mnt/*", "/")
    check(got.returncode == 0, f"{name}: remove: {got.stdout.strip()}", got.stderr)
    now = root.state()
    found = state.differences(before, now, ignored=("time",))
    check(not found, f"{name}: each byte, mode, owner, attribute and link is as it was", list(found.items())[:20])
    return now


def test_release(release, tool, data):
    pristine = make_pristine(release, data)
    if not pristine:
        return
    shared = tool_folder(tool, data, release, pristine, "shared")
    installed = must("dpkg-query", f"--admindir={pristine}/var/lib/dpkg", "-f", "${db:Status-Abbrev}\n", "-W").count("ii")
    check(installed >= PACKAGES, f"{release}: {installed} packages are installed")

    old = Root(pristine, data, f"{release}-before", shared)
    new = Root(pristine, data, f"{release}-after", shared)
    before = new.state()
    known = {verb: findings(new, verb)[1] for verb in ("verify", "lint")}

    got, report = convert(new)
    converted, failed = of_report(report)
    check(got.returncode == 0 and not failed, f"{release}: tree: {got.stdout.strip()}", got.stderr)
    print(f"# {release}: {got.seconds:.1f} s, {len(report['files'])} ELF files in the report", flush=True)
    after = new.state()
    found = changed_alone(before, after, converted, release)
    times = sum("time" in what for what in found.values())
    print(f"# {release}: {times} of {len(converted)} names have another time of modification", flush=True)

    check_again(new, after, known, release)
    check_sums(new, old, converted, release)
    given_back(new, before, release)
    convert(new)
    found = state.differences(after, new.state(), ignored=("time",))
    check(not found, f"{release}: converted again, it is the same", list(found.items())[:20])

    for task in TASKS:
        compare_texts(old.task(task), new.task(task), f"{release}: {task}", os.path.join(data, "logs"))
    compare_programs(old, old.programs("all", "--help"), new, ["all", "--help"], release)
    compare_texts(old.task("packages"), new.task("packages"), f"{release}: packages", os.path.join(data, "logs"))
    check_upgraded(new, old, release)
    old.remove()
    new.remove()


def findings(root, verb, *options):
    """The outcome of verify or lint over the root, and its lines about files that have faults. Status 6 means that it looked at no file."""
    got = root.tool("tree", verb, *options, "-j1", "--exclude=/mnt/*", "/")
    if got.returncode == 6:
        return got, []
    return got, sorted(line for line in got.stderr.splitlines() if line.startswith("eh2sframe: "))


def check_again(root, after, known, name):
    """A second run, and the proof and the rules of every reader. A linker's own sections have faults that are known from
    before the conversion."""
    got, _ = convert(root)
    check(got.returncode == 0 and all_before(got.stdout), f"{name}: a second run: {got.stdout.strip()}",
          got.stderr)
    found = state.differences(after, root.state())
    check(not found, f"{name}: a second run changes nothing, not even a time", list(found.items())[:20])
    for verb in known:
        got, found = findings(root, verb)
        check(got.returncode != 6 and found == known[verb], f"{name}: tree {verb}: {got.stdout.strip().splitlines()[-1:]}, "
              f"{len(found)} files of others have faults", got.stderr)


def check_sums(new, old, converted, name):
    """debsums and dpkg -V name exactly the converted files that have a sum."""
    summed = set()
    where = os.path.join(new.path, "var/lib/dpkg/info")
    for package in os.listdir(where):
        if package.endswith(".md5sums"):
            with open(os.path.join(where, package), encoding="utf-8", errors="surrogateescape") as file:
                summed.update(new.real("/" + line.split(None, 1)[1].rstrip("\n")) for line in file)
    for what in (["debsums", "-c"], ["dpkg", "-V"]):
        paths = {}
        for root in (old, new):
            out = root.run(*what).stdout
            paths[root] = {root.real(line.split()[-1]) for line in out.splitlines() if line.split()[-1:] != []}
        said, wanted = paths[new] - paths[old], converted & summed
        check(said == wanted, f"{name}: {' '.join(what)} names {len(said)} files, those converted ones that have a sum "
              f"({len(converted)} names of converted files; {len(paths[old])} are named before, too)",
              sorted(said ^ wanted)[:30])


def check_upgraded(new, old, name):
    """After packages were installed over converted files: these files are those of the packages. A run converts them,
    and remove makes all files those of the packages. A linker's own sections have the faults that they have without it."""
    known = findings(old, "verify")[1]
    got, report = convert(new)
    converted, failed = of_report(report)
    fresh = sum(1 for file in report["files"] if file["status"] == 0 and not file.get("already"))
    check(got.returncode == 0 and not failed and fresh > 0,
          f"{name}: after upgrades {fresh} files of new packages are converted, "
          f"{len(converted) - fresh} names are converted already", got.stderr)
    got, found = findings(new, "verify")
    check(got.returncode != 6 and found == known, f"{name}: after upgrades verify: {got.stdout.strip().splitlines()[-1:]}, "
          f"{len(found)} files of others have faults", got.stderr)
    got = new.tool("tree", "remove", "-j1", "--exclude=/mnt/*", "/")
    check(got.returncode == 0, f"{name}: after upgrades remove: {got.stdout.strip()}", got.stderr)
    said = [root.run("dpkg", "-V").stdout for root in (old, new)]
    check(said[0] == said[1], f"{name}: dpkg -V after remove is that of the root that was never converted", said[1])


def test_upgrade(release, following, tool, data):
    pristine, later = make_pristine(release, data), make_pristine(following, data)
    if not pristine or not later:
        return
    shared = tool_folder(tool, data, release, pristine, "upgrade-shared")
    add_repository(shared, later)
    old = Root(pristine, data, f"{release}-upgrade-before", shared)
    new = Root(pristine, data, f"{release}-upgrade-after", shared)
    name = f"{release} to {following}"
    got, _ = convert(new)
    check(got.returncode == 0, f"{name}: tree: {got.stdout.strip()}", got.stderr)
    before, after = old.task("release"), new.task("release")
    check(before.count("Setting up") >= PACKAGES, f"{name}: {before.count('Setting up')} packages are set up")
    compare_texts(before, after, f"{name}: dist-upgrade", os.path.join(data, "logs"))
    check_upgraded(new, old, name)
    got, _ = convert(new)
    check(got.returncode == 0, f"{name}: the new release is converted", got.stderr)
    for task in ("ldconfig", "perl", "git", "openssl", "nginx", "boot"):
        compare_texts(old.task(task), new.task(task), f"{name}: {task}", os.path.join(data, "logs"))
    old.remove()
    new.remove()


def test_variants(release, tool, data):
    pristine = make_pristine(release, data)
    if not pristine:
        return
    shared = tool_folder(tool, data, release, pristine, "variants-shared")
    old = Root(pristine, data, f"{release}-variant-before", shared)
    root = Root(pristine, data, f"{release}-variant", shared)
    programs = old.programs("elf", "--version")
    libraries = root.task("libraries", read_only=True)
    before = root.state()
    for options in VARIANTS + [[f"--for={reader}"] for reader in READERS]:
        name = f"{release} {' '.join(options)}"
        proof = [option for option in options if re.match("--(code|derive|source)", option)]
        lint = ["lint", *(option for option in options[:1] if option.startswith("--for="))]
        known = [findings(root, *words)[1] for words in (["verify", *proof], lint)]
        got, report = convert(root, *options)
        converted, failed = of_report(report)
        said = got.stdout.strip()
        if options[0].startswith("--method=") or options[0] == "--for=linux-arm64":
            # A method that is named does not apply to every file; a reader is not for every machine.
            check(got.returncode in (0, 1) and all(reason_known(text) for text in failed.values()),
                  f"{name}: {said}", list(failed.items())[:20])
        else:
            check(got.returncode == 0 and not failed, f"{name}: {said}", got.stderr)
        print(f"# {name}: {got.seconds:.1f} s")
        if not converted:
            continue
        changed_alone(before, root.state(), converted, name)
        for words, others in zip((["verify", *proof], lint), known):
            got, found = findings(root, *words)
            check(got.returncode != 6 and found == others, f"{name}: {words[0]}: {got.stdout.strip().splitlines()[-1:]}, "
                  f"{len(found)} files of others have faults", got.stderr)
        compare_texts(libraries, root.task("libraries", read_only=True), f"{name}: ldconfig", os.path.join(data, "logs"))
        # What a reader's name chooses is one of the choices before.
        if not options[0].startswith("--for="):
            compare_programs(old, programs, root, ["elf", "--version"], name)
        before = given_back(root, before, name)
    old.remove()
    root.remove()


def reason_known(text):
    return re.search("^the method [a-z]+ does not apply: |: it does not read version", str(text)) is not None


def main():
    modes = {"--variants": test_variants, "--upgrade": test_upgrade}
    tool, data, releases = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2]), sys.argv[3:]
    mode = releases.pop(0) if releases[0] in modes else ""
    if os.getuid() != 0:
        skip_all("needs root")
    for need in ("mmdebstrap", "unshare", "setpriv", "dpkg-query", "dpkg-scanpackages"):
        if not shutil.which(need):
            skip_all(f"needs {need}")
    os.makedirs(os.path.join(data, "logs"), exist_ok=True)
    if mode == "--upgrade":
        test_upgrade(*releases, tool, data)
    else:
        for release in releases:
            modes.get(mode, test_release)(release, tool, data)
    plan()


if __name__ == "__main__":
    main()
