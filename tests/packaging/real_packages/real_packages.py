#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Source packages, built with `dh --with eh2sframe` in a root of Debian 13, or of the release that packages.txt says. TAP.

    real_packages.py SOURCE DATA [PACKAGE...]
    real_packages.py SOURCE DATA --table

SOURCE is the tree of eh2sframe. Without PACKAGE all those of packages.txt are built, one after the other. DATA keeps
the roots and what was seen of each package (DATA/results): a package that passed is not built again. Several of these
programs may run at once with separate packages. Our own packages are those of the commit in DATA/RELEASE/debs/commit,
until that folder is removed. --table prints the results in Markdown. Needs root, overlayfs, mmdebstrap, a network.

Each package is built twice, at the same path. The first time with -j3: its own tests run on the converted files of the
build tree (tree.py). The second time with -j1: its own tests run on files that are not converted, where they take up
to a minute, else they are left out. The packages of both builds must be the same.
"""
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../shared"))
from tap import check, must, plan, skip, skip_all  # noqa: E402 pylint: disable=wrong-import-position
from counts import count_tests, outcome, said  # noqa: E402 pylint: disable=wrong-import-position

HERE = os.path.dirname(os.path.abspath(__file__))
ROOTS = os.path.join(HERE, "../../distributions")
INCLUDE = ("build-essential debhelper fakeroot eatmydata gdb elfutils python3 iproute2 dwz passwd netbase locales procps "
           "libdwarf-dev libelf-dev libiberty-dev libjansson-dev libseccomp-dev libdw-dev libzstd-dev libzydis-dev "
           "meson pkg-config scdoc zlib1g-dev").split()
# Tests that take longer run only once, on converted files.
LONG = 60


def inside(data, layers, shared, *command, network=False):
    """Runs a part of inside.sh in an overlay: the last of the layers gets what is written. The status."""
    names = [os.path.relpath(layer, data) for layer in layers]
    top = names[-1]
    overlay = len(names) > 1
    for name in (f"{top}.work", f"{top}.root", top) if overlay else ():
        os.makedirs(os.path.join(data, name), exist_ok=True)
    script = 'root=$PWD/$1 && shift && exec "$0" "$root" "$@"'
    if overlay:
        script = ("mount --make-rprivate / && mount -t overlay overlay -o "
                  f"lowerdir={':'.join(reversed(names[:-1]))},upperdir={top},workdir={top}.work {top}.root && {script}")
    spaces = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--uts", "--ipc", "--cgroup"] + ([] if network else ["--net"])
    out = os.path.join(shared, "log." + "-".join(command[:2]).replace("/", "_"))
    with open(out, "w", encoding="utf-8") as log:
        return subprocess.run(
            ["nice", "-n", "10", *spaces, "setpriv", "--bounding-set=-sys_time,-sys_module,-sys_rawio,-syslog,-wake_alarm",
             "sh", "-c", script, os.path.join(ROOTS, "in_root.sh"), f"{top}.root" if overlay else top,
             "bash", "/mnt/scripts/inside.sh", *command],
            cwd=data, env=dict(os.environ, SHARED_DIR=shared), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            timeout=7200, check=False).returncode


def shared_folder(data, name):
    """What is /mnt in the root."""
    shared = os.path.join(data, "shared", name)
    shutil.rmtree(shared, ignore_errors=True)
    os.makedirs(os.path.join(shared, "out"))
    os.chmod(os.path.join(shared, "out"), 0o777)
    scripts = os.path.join(shared, "scripts")
    shutil.copytree(HERE, scripts, ignore=shutil.ignore_patterns("__pycache__"))
    # Where debhelper looks for an add-on, and for what that calls.
    sequence = os.path.join(scripts, "perl/Debian/Debhelper/Sequence")
    os.makedirs(sequence)
    os.rename(os.path.join(scripts, "eh2sframe_tested.pm"), os.path.join(sequence, "eh2sframe_tested.pm"))
    os.mkdir(os.path.join(scripts, "bin"))
    for name in ("convert", "restore", "run"):
        os.symlink("../tree.py", os.path.join(scripts, "bin", f"dh_eh2sframe_tree_{name}"))
    return shared


def make_root(data, release):
    """The root that all packages of a release share."""
    os.makedirs(os.path.join(data, release), exist_ok=True)
    root, done = os.path.join(data, release, "root"), os.path.join(data, release, "root.made")
    with open(os.path.join(data, "lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(done):
            return root
        if os.path.exists(root):
            must("rm", "-rf", "--one-file-system", root)
        must("unshare", "--mount", os.path.join(ROOTS, "make_root.sh"), release, root, "--include=" + ",".join(INCLUDE))
        shared = shared_folder(data, f"setup-{release}")
        if inside(data, [root], shared, "setup", network=True):
            raise RuntimeError(f"no root: {shared}/log.setup")
        with open(done, "w", encoding="utf-8"):
            return root


def make_ours(source, data, release, root):
    """Our own packages, of the commit that DATA/RELEASE/debs/commit names."""
    debs = os.path.join(data, release, "debs")
    with open(os.path.join(data, "lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(os.path.join(debs, "commit")):
            return
        shared = shared_folder(data, f"ours-{release}")
        os.makedirs(os.path.join(shared, "source"))
        os.makedirs(debs, exist_ok=True)
        must("sh", "-c", 'git -C "$0" archive HEAD | tar -x -C "$1"', source, os.path.join(shared, "source"))
        layer = os.path.join(data, "work/ours-" + release)
        if inside(data, [root, layer], shared, "ours"):
            raise RuntimeError(f"our packages cannot be built: {shared}/log.ours")
        for name in os.listdir(os.path.join(shared, "out")):
            if re.match(r"(eh2sframe|libeh2sframe\d+)_.*\.deb$", name):
                shutil.copy(os.path.join(shared, "out", name), debs)
        must("rm", "-rf", "--one-file-system", layer, f"{layer}.work", f"{layer}.root")
        with open(os.path.join(debs, "commit"), "w", encoding="utf-8") as file:
            file.write(must("git", "-C", source, "rev-parse", "HEAD"))


class Package:
    """One package, and what is seen of it."""

    def __init__(self, name, data, release):
        self.name, self.data = name, data
        self.shared = shared_folder(data, name)
        self.work = os.path.join(data, "work", name)
        self.remove()
        os.makedirs(self.work)
        self.layers = [os.path.join(data, release, "root"), os.path.join(self.work, "fetched")]
        shutil.copytree(os.path.join(data, release, "debs"), os.path.join(self.shared, "debs"))
        with open(os.path.join(data, release, "debs/commit"), encoding="utf-8") as file:
            self.seen = {"name": name, "commit": file.read().strip(), "checks": [], "seconds": {}}

    def remove(self):
        must("rm", "-rf", "--one-file-system", self.work)

    def check(self, ok, name, why=""):
        self.seen["checks"].append([bool(ok), f"{self.name}: {name}", str(why)])
        check(ok, f"{self.name}: {name}", why)
        return ok

    def fetch(self):
        """Whether the source and what it needs are there."""
        status = inside(self.data, self.layers, self.shared, "fetch", self.name, network=True)
        if status:
            self.check(False, "source and build dependencies", said(self.shared, f"log.fetch-{self.name}"))
            return False
        with open(os.path.join(self.shared, "version"), encoding="utf-8") as file:
            self.seen["version"], self.seen["release"] = file.read().split()
        return True

    def build(self, out, jobs, *environment, options=""):
        """Builds the package in a layer of its own; whether that succeeds. Afterwards the layer is removed."""
        layer = os.path.join(self.work, out)
        began = time.monotonic()
        options = f"parallel={jobs} {options}".strip()
        load = os.getloadavg()[0]
        status = inside(self.data, [*self.layers, layer], self.shared, "build", out, f"DEB_BUILD_OPTIONS={options}", *environment)
        self.seen["seconds"][out] = round(time.monotonic() - began)
        self.seen.setdefault("load", {})[out] = [round(load, 1), round(os.getloadavg()[0], 1)]
        if status == 0:
            must("rm", "-rf", "--one-file-system", layer, f"{layer}.work", f"{layer}.root")
        return status == 0

    def debs(self, out):
        """{name: digest} of the packages of a build."""
        where = os.path.join(self.shared, "out", out)
        return dict(reversed(must("sha256sum", os.path.join(where, name)).split()[:1] + [name]) for name in sorted(os.listdir(where)))

    def tested(self):
        """The own tests, on converted files."""
        log = os.path.join(self.shared, "log.build-first")
        path = os.path.join(self.shared, "out", "tested.json")
        done = {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                done = json.load(file)
        ends = {path: file.get("end") for path, file in done.get("files", {}).items()}
        number = list(ends.values()).count("converted")
        path = os.path.join(self.shared, "out", "run.txt")
        if os.path.exists(path):
            # Programs of tests, each converted before it ran.
            with open(path, encoding="utf-8") as file:
                number += len(file.readlines())
        tests = self.seen["tests"] = count_tests(log)
        self.seen["tested"] = number
        self.seen["test_seconds"] = round(done.get("seconds", 0))
        self.check(done.get("done") and "converted" in ends.values() and (tests.get("passed") or tests.get("suites")),
                   f"its own tests run with {number} converted files: {tests}; then all are as before",
                   said(self.shared, "log.build-first"))
        again = [path for path, end in ends.items() if end not in ("converted", "nothing to convert")]
        self.check(not again, "the tests build none of these files again", again)

    def checked(self):
        """The packages of the first build, file by file."""
        shared = self.shared
        status = inside(self.data, [*self.layers, os.path.join(self.work, "check")], shared, "look", "first")
        if status:
            self.check(False, "the packages can be looked at", said(shared, "log.look-first"))
            return
        with open(os.path.join(shared, "out", "look.json"), encoding="utf-8") as file:
            found = json.load(file)
        files = found["files"]
        converted = {path: file for path, file in files.items() if file.get("converted")}
        nothing = {path: file["why"] for path, file in files.items() if file.get("status") == 6}
        bad = {path: file for path, file in files.items() if path not in nothing and
               not (file.get("converted") and file["verify"] == 0 and file["text"])}
        self.seen.update(elf=len(files), converted=len(converted), nothing=nothing, debs=found["debs"])
        self.check(converted and not bad, f"{len(files)} ELF files in {found['debs']} packages: {len(converted)} are proven, "
                   f"{len(nothing)} have nothing to convert", json.dumps(bad, indent=1))
        without = [path for path, file in converted.items() if file["debug"] is None]
        faults = {path: file["debug"] for path, file in converted.items() if file["debug"]}
        self.seen.update(debug=len(converted) - len(without) - len(faults), without_debug=without,
                         joined=sum(file["joined"] for file in converted.values()))
        self.check(not faults and len(without) < len(converted),
                   f"{self.seen['debug']} debug files match ({self.seen['joined']} pairs are joined by eu-unstrip as they are), "
                   f"{len(without)} files have none", json.dumps(faults, indent=1))

    def run(self):
        """All that is to be seen of it."""
        if not self.fetch():
            return
        convert = ["REAL_PACKAGES_CONVERT=1", "DH_EXTRA_ADDONS=eh2sframe_tested", "PERL5LIB=/mnt/scripts/perl"]
        if not self.build("first", 3, *convert):
            self.check(False, f"{self.seen['version']}: built with --with eh2sframe", said(self.shared, "log.build-first"))
            baseline = self.build("unmodified", 3, options="nosframe")
            self.check(baseline, f"unmodified it is built, {count_tests(os.path.join(self.shared, 'log.build-unmodified'))}",
                       said(self.shared, "log.build-unmodified"))
            return
        self.check(True, f"{self.seen['version']}: built with --with eh2sframe")
        self.tested()
        self.checked()
        quick = self.seen["test_seconds"] <= LONG or {"failed", "differ"} & self.seen["tests"].keys()
        if self.check(self.build("second", 1, options="" if quick else "nocheck"), "built again", said(self.shared, "log.build-second")):
            if quick:
                logs = [os.path.join(self.shared, f"log.build-{out}") for out in ("first", "second")]
                self.seen["tests_before"] = count_tests(logs[1])
                self.check(outcome(logs[0]) == outcome(logs[1]),
                           f"the same tests fail without a conversion: {self.seen['tests_before']}", self.seen["tests"])
            self.same()

    def same(self):
        """Both builds have the same packages, or the unmodified source does not give the same either."""
        first, second = self.debs("first"), self.debs("second")
        differ = sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))
        self.seen["same"] = not differ
        if not differ:
            self.check(True, f"{len(first)} packages are the same, by -j3 and -j1")
            return
        self.build("plain-first", 3, options="nosframe nocheck")
        self.build("plain-second", 1, options="nosframe nocheck")
        first, second = self.debs("plain-first"), self.debs("plain-second")
        plain = sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))
        self.seen["differ"], self.seen["differ_unmodified"] = differ, plain
        self.check(set(differ) <= set(plain), f"{differ} differ, and do so unmodified: {plain}")


def results(data, name):
    path = os.path.join(data, "results", f"{name}.json")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def listed():
    """{name: the release whose root builds it}"""
    with open(os.path.join(HERE, "packages.txt"), encoding="utf-8") as file:
        lines = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return {name: (rest or ["trixie"])[0] for name, *rest in lines}


def test_package(name, source, data):
    """One package; what an earlier run has seen of it counts."""
    seen = results(data, name)
    if seen and all(one[0] for one in seen["checks"]):
        for good, words, why in seen["checks"]:
            check(good, words, why)
        return
    release = listed()[name]
    make_ours(source, data, release, make_root(data, release))
    with open(os.path.join(data, "results", f"{name}.lock"), "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            skip(name, "another run builds it")
            return
        package = Package(name, data, release)
        package.run()
        with open(os.path.join(data, "results", f"{name}.json"), "w", encoding="utf-8") as out:
            json.dump(package.seen, out, indent=1)
        if all(one[0] for one in package.seen["checks"]):
            package.remove()


def words_of(tests):
    return ", ".join(f"{number} {what}" for what, number in tests.items()).replace("1 suites", "suite") if tests else "not run"


def table(data):
    print("| package | version, of Debian | ELF files | converted | converted for its tests | tests then | tests without | debug files match | "
          "eu-unstrip as is | the same |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    without = []
    for name in listed():
        seen = results(data, name)
        if not seen or "same" not in seen:
            without.append(name if not seen else f"{name} (" + "; ".join(one[1] for one in seen["checks"] if not one[0]) + ")")
            continue
        print(f"| {name} | {seen['version']}, {seen['release']} | {seen['elf']} | {seen['converted']} | {seen['tested']} | "
              f"{words_of(seen['tests'])} | {words_of(seen.get('tests_before'))} | {seen['debug']} | {seen['joined']} | "
              f"{'yes' if seen['same'] else 'no'} |")
    print(f"\nNot reached: {', '.join(without)}." if without else "")


def main():
    source, data, names = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2]), sys.argv[3:]
    if names == ["--table"]:
        table(data)
        return
    if os.getuid() != 0:
        skip_all("needs root")
    for need in ("mmdebstrap", "unshare", "setpriv", "git"):
        if not shutil.which(need):
            skip_all(f"needs {need}")
    os.makedirs(os.path.join(data, "results"), exist_ok=True)
    for name in names or listed():
        test_package(name, source, data)
    plan()


if __name__ == "__main__":
    main()
