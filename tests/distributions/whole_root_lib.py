# SPDX-License-Identifier: MIT
"""What whole_root.py runs: roots, copies of them, commands in them, and comparisons."""
import difflib
import json
import os
import re
import shutil
import subprocess
import time

import whole_root_state as state
from tap import check, must, skip

HERE = os.path.dirname(os.path.abspath(__file__))
# Packages whose files are installed again over converted ones, and the sources whose packages are upgraded.
REINSTALLED = ("libc6 libc-bin dpkg apt libapt-pkg6.0 perl-base bash coreutils tar util-linux libstdc++6 libgcc-s1 zlib1g libselinux1 openssl "
               "libssl3 git gcc g++ binutils nginx systemd libsystemd0 iputils-ping sudo mount passwd sqlite3 libsqlite3-0").split()
UPGRADED = "glibc dpkg apt perl bash coreutils systemd openssl git nginx util-linux tar zlib sqlite3 curl gnupg2".split()


def make_pristine(release, data):
    """The path of the root of a release that no task has touched; None where it cannot be made."""
    path, done = os.path.join(data, release), os.path.join(data, f"{release}.made")
    if os.path.exists(done):
        return path
    if os.path.exists(path):
        must("rm", "-rf", "--one-file-system", path)
    with open(os.path.join(HERE, "whole_root_packages.txt"), encoding="utf-8") as file:
        packages = ",".join(line.strip() for line in file if not line.startswith("#"))
    log = os.path.join(data, "logs", f"{release}-root.log")
    with open(log, "w", encoding="utf-8") as out:
        status = subprocess.run(
            ["unshare", "--mount", os.path.join(HERE, "make_root.sh"), release, path, "--skip=essential/unlink,cleanup/apt",
             "--aptopt=APT::Keep-Downloaded-Packages \"true\"", "--aptopt=Acquire::Retries \"3\"", f"--include={packages}"],
            stdin=subprocess.DEVNULL, stdout=out, stderr=out, check=False).returncode
    if status:
        with open(log, encoding="utf-8", errors="replace") as file:
            words = file.read()
        if re.search("resolve|connect|timed out|Temporary failure|unreachable", words):
            skip(f"{release}: a root", "THE NETWORK DOES NOT ANSWER")
        else:
            check(False, f"{release}: a root", "\n".join(words.splitlines()[-20:]))
        return None
    with open(done, "w", encoding="utf-8"):
        return path


def tool_folder(tool, data, release, pristine, name):
    """What is /mnt in the roots: the program with its libraries, the tasks, a repository of upgrades, and out/."""
    shared = os.path.join(data, f"{release}-{name}")
    shutil.rmtree(shared, ignore_errors=True)
    private = os.path.join(shared, "eh2sframe")
    os.makedirs(private)
    os.makedirs(os.path.join(shared, "out"))
    shutil.copy(tool, os.path.join(private, "eh2sframe"))
    for library in re.findall(r"(/\S+)", must("ldd", tool)):
        name = "ld.so" if os.path.basename(library).startswith("ld-linux") else os.path.basename(library)
        shutil.copy(library, os.path.join(private, name))
    shutil.copytree(HERE, os.path.join(shared, "scripts"))
    known = {line.split("\t")[0].split(":")[0] for line in must(
        "dpkg-query", f"--admindir={pristine}/var/lib/dpkg", "-W").splitlines()}
    with open(os.path.join(shared, "scripts", "reinstalled"), "w", encoding="utf-8") as file:
        file.write(" ".join(package for package in REINSTALLED if package in known))
    repository = os.path.join(data, f"{release}-repository")
    if not os.path.exists(os.path.join(repository, "Packages")):
        make_repository(pristine, repository)
    must("cp", "-a", "--reflink=auto", repository, os.path.join(shared, "repository"))
    with open(os.path.join(shared, "sources.list"), "w", encoding="utf-8") as file:
        file.write("deb [trusted=yes] file:/mnt/repository ./\n")
    return shared


def list_packages(repository):
    """Makes the list of a repository. apt decodes names, so none may have a colon that is coded."""
    for name in os.listdir(repository):
        os.rename(os.path.join(repository, name), os.path.join(repository, name.replace("%3a", "_")))
    with open(os.path.join(repository, "Packages"), "w", encoding="utf-8") as file:
        file.write(subprocess.run(["dpkg-scanpackages", "-m", "."], cwd=repository, check=True, capture_output=True,
                                  text=True).stdout)


def add_repository(shared, pristine):
    """The packages that another root was made of, for /mnt/next.list."""
    repository = os.path.join(shared, "next")
    must("cp", "-a", "--reflink=auto", os.path.join(pristine, "var/cache/apt/archives"), repository)
    list_packages(repository)
    with open(os.path.join(shared, "next.list"), "w", encoding="utf-8") as file:
        file.write("deb [trusted=yes] file:/mnt/next ./\n")


def make_repository(pristine, repository):
    """The packages of some sources again, with a higher version."""
    shutil.rmtree(repository, ignore_errors=True)
    os.makedirs(repository)
    sources = dict(line.split("\t") for line in must(
        "dpkg-query", f"--admindir={pristine}/var/lib/dpkg", "-W", "-f", "${Package}\t${source:Package}\n").splitlines())
    archives = os.path.join(pristine, "var/cache/apt/archives")
    for archive in sorted(os.listdir(archives)):
        package = archive.split("_")[0]
        if not archive.endswith(".deb") or sources.get(package) not in UPGRADED:
            continue
        tree = os.path.join(repository, "tree")
        must("dpkg-deb", "-R", os.path.join(archives, archive), tree)
        control = os.path.join(tree, "DEBIAN/control")
        with open(control, encoding="utf-8") as file:
            text = file.read()
        version = re.search(r"^Version: (.*)$", text, re.M).group(1)
        text = text.replace(f"(= {version})", f"(= {version}+sframe1)")
        text = text.replace(f"Version: {version}\n", f"Version: {version}+sframe1\n")
        with open(control, "w", encoding="utf-8") as file:
            file.write(text)
        must("dpkg-deb", "-Zgzip", "-z1", "-b", tree, os.path.join(repository, archive.replace(".deb", "+sframe1.deb")))
        shutil.rmtree(tree)
    list_packages(repository)


class Got:
    """What a command printed."""
    def __init__(self, returncode, stdout, stderr, seconds):
        self.returncode, self.stdout, self.stderr, self.seconds = returncode, stdout, stderr, seconds


class Root:
    """A copy of a root, in which commands run."""

    def __init__(self, pristine, data, name, shared):
        self.path, self.shared, self.name, self.real_paths = os.path.join(data, name), shared, name, {}
        self.remove()
        must("cp", "-a", "--reflink=auto", pristine, self.path)

    def remove(self):
        # Nothing is mounted in it, because commands have mount namespaces of their own.
        if os.path.exists(self.path):
            must("rm", "-rf", "--one-file-system", self.path)

    def state(self):
        return state.of_tree(self.path)

    def real(self, path):
        """The path without links of directories, as in the root."""
        where, name = os.path.split(path)
        if where not in self.real_paths:
            self.real_paths[where] = self.resolve(where)
        return os.path.join(self.real_paths[where], name)

    def resolve(self, where):
        resolved = "/"
        for part in where.strip("/").split("/"):
            if not part:
                continue
            full = os.path.join(resolved, part)
            link = os.path.join(self.path, full.lstrip("/"))
            if os.path.islink(link):
                full = self.resolve(os.path.normpath(os.path.join(resolved, os.readlink(link))))
            resolved = full
        return resolved

    def run(self, *command, read_only=False, timeout=3600):
        """Without network, and without what could reach the machine."""
        environment = dict(os.environ, SHARED_DIR=self.shared)
        if read_only:
            environment["ROOT_READ_ONLY"] = "1"
        began = time.monotonic()
        done = subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--net", "--uts", "--ipc", "--cgroup",
             "setpriv", "--bounding-set=-sys_time,-sys_module,-sys_rawio,-syslog,-wake_alarm",
             "sh", os.path.join(HERE, "in_root.sh"), self.path, *command],
            env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=timeout, check=False)
        return Got(done.returncode, done.stdout, done.stderr, time.monotonic() - began)

    def tool(self, *arguments):
        private = "/mnt/eh2sframe"
        return self.run(f"{private}/ld.so", "--library-path", private, f"{private}/eh2sframe", *arguments)

    def programs(self, *arguments):
        out = "/mnt/out/programs.json"
        got = self.run("python3", "/mnt/scripts/whole_root_programs.py", out, *arguments, read_only=True, timeout=3600)
        if got.returncode:
            raise RuntimeError(f"{self.name}: {got.stdout}{got.stderr}")
        with open(self.shared + out[len("/mnt"):], encoding="utf-8") as file:
            return json.load(file)

    def programs_again(self, keys):
        with open(os.path.join(self.shared, "out", "keys.json"), "w", encoding="utf-8") as file:
            json.dump(keys, file)
        return self.programs("--only", "/mnt/out/keys.json")

    def task(self, name, read_only=False):
        """What a task prints, and what it leaves in /mnt/out/booted."""
        booted = os.path.join(self.shared, "out", "booted")
        if os.path.exists(booted):
            os.unlink(booted)
        # Both streams in their order.
        got = self.run("bash", "-c", f"exec bash /mnt/scripts/whole_root_work.sh {name} 2>&1",
                       read_only=read_only)
        text = got.stdout + f"status {got.returncode}\n"
        if os.path.exists(booted):
            with open(booted, encoding="utf-8", errors="replace") as file:
                text += file.read()
        return text


def compare_texts(before, after, name, logs):
    """Both must be the same; both are kept."""
    stem = os.path.join(logs, re.sub("[^A-Za-z0-9.=-]+", "-", name))
    for text, suffix in ((before, "before"), (after, "after")):
        with open(f"{stem}.{suffix}", "w", encoding="utf-8") as file:
            file.write(text)
    lines = before.splitlines()
    why = "\n".join(difflib.unified_diff(lines, after.splitlines(), "before", "after", n=0, lineterm=""))
    check(before == after and len(lines) > 1, f"{name}: {len(lines)} lines are the same", why)


def compare_programs(old, before, new, arguments, name):
    """Each program ends and says as before. What differs is run again in the old root: where that differs from before,
    too, only the status is compared."""
    after = new.programs(*arguments)
    differ = [key for key in before if after.get(key) != before[key]]
    unsteady, wrong = 0, []
    again = [old.programs_again(differ) for _ in range(3)] if differ else []
    for key in differ:
        seen = [before[key], *(run[key] for run in again)]
        if key in after and seen.count(seen[0]) != len(seen) and after[key][0] in [status for status, _ in seen]:
            unsteady += 1
        else:
            wrong.append(f"{key}: before {str(before[key])[-300:]}, after {str(after.get(key))[-300:]}")
    good = sum(status == 0 for status, _ in before.values())
    check(not wrong and before.keys() == after.keys(),
          f"{name}: {len(before)} runs of programs end and print as before ({good} with status 0; {unsteady} print "
          "something else each time)", "\n".join(wrong))
