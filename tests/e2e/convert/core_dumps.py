#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Core dumps that the kernel writes of programs that are converted together with their libraries: every
file that a core dump named before, with its build-id, it names after, with the files and without them.
Stacks are the same. TAP.

    core_dumps.py EH2SFRAME COUNT

COUNT programs of /usr/bin are ended by a library that is loaded before their own code runs.
"""
import collections
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

from tap import check, must, plan, run, skip

tool, wanted = os.path.abspath(sys.argv[1]), int(sys.argv[2])
STOP = """
#include <signal.h>
#include <stdlib.h>
static int by_number(const void *a, const void *b) { (void)a; (void)b; raise(SIGABRT); return 0; }
__attribute__((constructor)) static void stop(void) { int n[2] = {1, 2}; qsort(n, 2, sizeof(n[0]), by_number); }
"""
grown = collections.Counter()


def programs():
    """Dynamic programs, spread over the alphabet."""
    found = {}
    for name in sorted(os.listdir("/usr/bin")):
        path = os.path.realpath(os.path.join("/usr/bin", name))
        if not os.path.isfile(path) or os.stat(path).st_mode & 0o6000:
            continue
        with open(path, "rb") as file:
            if file.read(4) != b"\x7fELF":
                continue
        found.setdefault(path, name)
    paths = list(found)
    step = max(1, len(paths) // (wanted + wanted // 4))
    return paths[::step] + paths[1::step]


def libraries(path):
    said = run("ldd", path)
    if said.returncode:
        return None
    return [line.split()[2] for line in said.stdout.splitlines()
            if "=>" in line and line.split()[2].startswith("/")]


def core_of(work, name):
    """Runs the program in work; the core dump it leaves, or None."""
    for old in os.listdir(work):
        if old.startswith("core"):
            os.unlink(os.path.join(work, old))
    env = {"LD_PRELOAD": os.path.join(work, "stop.so"), "PATH": os.environ["PATH"],
           "LD_LIBRARY_PATH": os.path.join(work, "run")}
    subprocess.run([os.path.join(work, "run", name)], cwd=work, env=env, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, timeout=60)
    cores = [found for found in os.listdir(work) if found.startswith("core")]
    return os.path.join(work, cores[0]) if cores else None


def modules(core):
    """Build-id and name of each file that the core dump tells; addresses change with every run."""
    listed = set()
    for line in must("eu-unstrip", "-n", f"--core={core}").splitlines():
        words = line.split()
        build_id = words[1].split("@")[0]
        if "vdso" not in line:
            listed.add((build_id, os.path.basename(words[2]) if words[2] != "-" else words[-1]))
    return listed


def package_metadata(work):
    """systemd's own parser tells from the core dump alone which package a program is of."""
    with open(f"{work}/main.c", "w", encoding="ascii") as file:
        file.write("int main(void) { return 0; }\n")
    made = run("cc", "-g", "-Wl,--build-id", "-Xlinker", '--package-metadata={"type":"deb","name":"kept"}',
               "-o", f"{work}/packaged", f"{work}/main.c")
    if made.returncode or not shutil.which("systemd-analyze"):
        skip("systemd: package of a program", "needs systemd-analyze and a linker that knows --package-metadata")
        return
    told = []
    for converted in (False, True):
        shutil.rmtree(f"{work}/run", ignore_errors=True)
        os.mkdir(f"{work}/run")
        shutil.copy(f"{work}/packaged", f"{work}/run/packaged")
        if converted:
            check(convert(f"{work}/run/packaged", "grow"), "systemd: program converted")
        core = core_of(work, "packaged")
        shutil.rmtree(f"{work}/run")
        said = run("systemd-analyze", "inspect-elf", "--json=short", core)
        told.append(re.findall(r'"name":"kept"|"buildId":"\w+"', said.stdout))
    check(told[0] and told[0] == told[1], "systemd: package of a program", told)


def stack(core, name, work):
    said = run("eu-stack", f"--core={core}", f"--executable={work}/run/{name}")
    return re.findall(r"^#\d+ +0x\w+ *(.*)$", said.stdout, re.M)


def gdb_stack(core, name, work):
    said = run("gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-iex", "set sysroot /",
               "-ex", "bt", f"{work}/run/{name}", core)
    return re.findall(r"^#\d+ +(?:0x\w+ in )?([a-zA-Z_]\w*)", said.stdout, re.M)


def seen(work, name, with_gdb):
    """All that is told of one core dump, or None when there is none."""
    core = core_of(work, name)
    if not core:
        return None
    result = {"stack": stack(core, name, work), "with files": modules(core)}
    if with_gdb:
        result["gdb"] = gdb_stack(core, name, work)
    os.rename(os.path.join(work, "run"), os.path.join(work, "away"))
    result["without files"] = modules(core)
    os.rename(os.path.join(work, "away"), os.path.join(work, "run"))
    return result


def convert(path, method="auto"):
    before = os.stat(path).st_size
    made = run(tool, "-v", "--refresh", "--no-verify", f"--method={method}", path, path)
    if made.returncode == 0:
        grown[re.search(r"^ *method: (.*)$", made.stdout, re.M).group(1)] += 1
    return made.returncode in (0, 6) and os.stat(path).st_size >= before


def check_program(path, work, with_gdb):
    """False when the program cannot be used for this."""
    name = os.path.basename(path)
    needed = libraries(path)
    if needed is None:
        return False
    shutil.rmtree(os.path.join(work, "run"), ignore_errors=True)
    os.mkdir(os.path.join(work, "run"))
    copies = [os.path.join(work, "run", os.path.basename(file)) for file in [path, *needed]]
    for source, copy in zip([path, *needed], copies):
        shutil.copy(source, copy)
    before = seen(work, name, with_gdb)
    if before is None or len(before["without files"]) < 2:
        return False
    if not check(all([convert(copy) for copy in copies]), f"{name}: converted with {len(needed)} libraries"):
        return True
    after = seen(work, name, with_gdb)
    lost = {what: (before[what], after[what]) for what in before
            if after is None or (not before[what] <= after[what] if isinstance(before[what], set)
                                 else before[what] != after[what])} if after else "no core dump"
    check(not lost, f"{name}: {len(before['without files'])} files named, {len(before['stack'])} frames", lost)
    return True


def main():
    for needed in ("eu-unstrip", "eu-stack", "ldd", "cc"):
        if not shutil.which(needed):
            skip("core dumps", f"needs {needed}")
            plan()
    with open("/proc/sys/kernel/core_pattern", encoding="ascii") as file:
        pattern = file.read().strip()
    if not re.fullmatch(r"core[.%a-z]*", pattern):
        skip("core dumps", f"the kernel gives them to {pattern}")
        plan()
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    done = 0
    with tempfile.TemporaryDirectory() as work:
        with open(os.path.join(work, "stop.c"), "w", encoding="ascii") as file:
            file.write(STOP)
        must("cc", "-shared", "-fPIC", "-O1", "-o", f"{work}/stop.so", f"{work}/stop.c")
        package_metadata(work)
        for path in programs():
            if done == wanted:
                break
            done += check_program(path, work, with_gdb=done % 10 == 0 and bool(shutil.which("gdb")))
    check(done == wanted, f"{wanted} programs", f"{done} could be used")
    print("#", *[f"{method} {n}" for method, n in grown.most_common()])
    plan()


main()
