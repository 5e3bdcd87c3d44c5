#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""preload.py LIBRARY BUILD WALKS [PROGRAM...]: interrupts real programs, and compares each walk with libgcc's.

Each program, of those named, runs again until all have WALKS walks together, at least once. No walk may differ,
and each one that ends early has a reason that is known. TAP."""
import mmap
import os
import shutil
import struct
import subprocess
import sys
import tempfile

from tap import check, plan, skip

WHYS = ["goes on", "outermost", "limit", "no module", "no row", "lost register", "cut off",
        "contradiction", "damaged", "zero"] + ["?"] * 6
FIELDS = ["same"] + ["early"] * 16 + ["further", "differ", "frames", "libgcc_frames", "ns",
                                      "libgcc_ns", "processes"]


class Counts(dict):
    def __init__(self, data=None):
        super().__init__((name, 0) for name in FIELDS)
        self.early = [0] * 16
        if data:
            values = struct.unpack("%dQ" % len(FIELDS), data)
            self.update((name, value) for name, value in zip(FIELDS, values) if name != "early")
            self.early = list(values[1:17])

    def add(self, other):
        for name in self:
            self[name] += other[name]
        self.early = [a + b for a, b in zip(self.early, other.early)]

    @property
    def walks(self):
        return self["same"] + self["further"] + self["differ"] + sum(self.early)

    def __str__(self):
        early = ", ".join("%d %s" % (n, why) for n, why in zip(self.early, WHYS) if n)
        n = max(self.walks, 1)
        return "%d walks: %d same, early: %s; %d further, %d differ; %.1f frames, %.1f us, libgcc %.1f us" % (
            self.walks, self["same"], early or "none", self["further"], self["differ"],
            self["frames"] / n, self["ns"] / n / 1000, self["libgcc_ns"] / n / 1000)


def run(library, directory, command, hz, clock):
    """What the library counted, and what it logged."""
    counts, log = os.path.join(directory, "counts"), os.path.join(directory, "log")
    with open(counts, "wb") as file:
        file.write(bytes(8 * len(FIELDS)))
    open(log, "w").close()
    env = dict(os.environ, LD_PRELOAD=library, WALK_COUNTS=counts, WALK_LOG=log,
               WALK_HZ=str(hz), WALK_CLOCK=clock, LC_ALL="C")
    done = subprocess.run(command, env=env, cwd=directory, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    with open(counts, "rb") as file:
        data = file.read()
    with open(log, errors="replace") as file:
        text = file.read()
    return done, Counts(data), text


def write(directory, name, text):
    path = os.path.join(directory, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def build(directory, name, text, *command):
    """The command of a program from source, or None without its compiler."""
    if not shutil.which(command[0]):
        return None
    source = write(directory, name, text)
    out = os.path.join(directory, name.replace(".", "_"))
    done = subprocess.run([*command, "-o", out, source], cwd=directory, stderr=subprocess.DEVNULL, check=False)
    return [out] if done.returncode == 0 else None


THROW = r"""
#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
static int f(int n) { if (n == 0) throw std::runtime_error(std::string(40, 'x')); return f(n - 1) + 1; }
int main()
{
	std::map<std::string, int> m;
	for (int i = 0; i < 40000; i++) {
		try { f(i % 40); } catch (const std::exception &e) { m[e.what() + std::to_string(i % 997)]++; }
	}
	std::vector<std::string> v;
	for (auto &p : m) v.push_back(p.first);
	std::sort(v.rbegin(), v.rend());
	return v.empty();
}
"""
THREADS = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
static int by(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static void *work(void *data)
{
	unsigned seed = (unsigned)(size_t)data;
	for (int i = 0; i < 40; i++) {
		int *n = malloc(20000 * sizeof(int));
		for (int j = 0; j < 20000; j++) n[j] = rand_r(&seed);
		qsort(n, 20000, sizeof(int), by);
		free(n);
	}
	return data;
}
int main(void)
{
	pthread_t t[4];
	for (size_t i = 0; i < 4; i++) pthread_create(&t[i], 0, work, (void *)i);
	for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
}
"""
TEMPLATES = "#include <map>\n#include <string>\nint main() { std::map<std::string, int> m; m[\"b\"] = 1; return m[\"a\"]; }\n"
GO = """package main
// #include <stdlib.h>
// static int by(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
// static void sort(int n) { unsigned s = 1; int *p = malloc(n * sizeof(int)); for (int i = 0; i < n; i++) p[i] = (int)(s = s * 1103515245 + 12345); qsort(p, n, sizeof(int), by); free(p); }
import "C"
func main() { for i := 0; i < 300; i++ { C.sort(20000) } }
"""
PYTHON = """import json, re, hashlib
x = [json.dumps({"a": list(range(i % 50))}) for i in range(20000)]
y = sorted(x, key=lambda s: hashlib.sha256(s.encode()).digest())
print(len(re.findall("[0-9]+, 4", "".join(y))))
"""
PERL = 'my %h; for my $i (1 .. 200000) { my $s = "k" . ($i * 7919 % 10007); $h{$s} .= $i; } my $n = 0; for (sort keys %h) { $n++ while $h{$_} =~ /[0-9]7(.)/g } print $n'
SQL = "create table t(a, b); with recursive c(x) as (select 1 union all select x + 1 from c where x < 100000) insert into t select x, hex(x * 7919) from c; create index i on t(b); select count(*) from t t1 join t t2 on t1.b = t2.b where t1.a % 7 = 0;"


NODE = """let a = [];
for (let i = 0; i < 300000; i++) a.push({k: String(i * 7919 % 10007)});
a.sort((x, y) => x.k < y.k ? -1 : 1); JSON.stringify(a)"""
RUST = """use std::collections::BTreeMap;
fn main() {
    let mut m = BTreeMap::new();
    for i in 0..2000000u64 { *m.entry((i * 7919 % 100003).to_string()).or_insert(0u64) += i; }
    println!("{}", m.len());
}
"""


def command_of(name, *arguments):
    path = shutil.which(name, path="/usr/bin:/bin") or shutil.which(name)
    return [path, *arguments] if path else None


def cc1plus(directory):
    if not shutil.which("g++"):
        return None
    path = subprocess.run(["g++", "-print-prog-name=cc1plus"], capture_output=True, text=True,
                          check=True).stdout.strip()
    write(directory, "templates.cc", TEMPLATES)
    subprocess.run(["g++", "-E", "-P", "templates.cc", "-o", "templates.ii"], cwd=directory, check=True)
    return [path, "-quiet", "-O2", "-fpreprocessed", "templates.ii", "-o", "templates.s"]


def go_with_c(directory):
    if not shutil.which("go"):
        return None
    os.makedirs(os.path.join(directory, "go"), exist_ok=True)
    write(directory, "go/main.go", GO)
    env = dict(os.environ, CGO_ENABLED="1", GOPROXY="off", GO111MODULE="off", GOCACHE=directory + "/cache")
    done = subprocess.run(["go", "build", "-o", "../go_with_c", "main.go"], cwd=os.path.join(directory, "go"),
                          env=env, stderr=subprocess.DEVNULL, check=False)
    return [os.path.join(directory, "go_with_c")] if done.returncode == 0 else None


def programs(directory, source):
    """Name, and a function that gives the command or None."""
    big = write(directory, "big.txt", "".join(
        "%x %s\n" % (i * 2654435761 % 2 ** 32, "abc" * (i % 9)) for i in range(150000)))

    def installed(*words):
        return lambda: command_of(*words)

    def built(*words):
        return lambda: build(directory, *words)

    return [
        ("cc1plus", lambda: cc1plus(directory)),
        ("python3", installed("python3", "-c", PYTHON)),
        ("perl", installed("perl", "-e", PERL)),
        ("openssl sha256", installed("openssl", "speed", "-seconds", "1", "-bytes", "16384", "sha256")),
        ("openssl rsa, ecdsa", installed("openssl", "speed", "-seconds", "1", "rsa2048", "ecdsap256")),
        ("xz", installed("xz", "-k", "-c", "-1", big)),
        ("git", installed("git", "-C", source, "log", "--stat", "--format=%h", "-n", "150")),
        ("sqlite3", installed("sqlite3", ":memory:", SQL)),
        ("node", installed("node", "-e", NODE)),
        ("ripgrep", installed("rg", "-c", "[a-f]{3}.*[0-9]{4}", big, "/usr/include")),
        ("Rust", built("main.rs", RUST, "rustc", "-O")),
        ("Go with C", lambda: go_with_c(directory)),
        ("C++ exceptions", built("throw.cc", THROW, "g++", "-O2")),
        ("threads", built("threads.c", THREADS, "gcc", "-O2", "-pthread")),
        ("gzip", installed("gzip", "-9", "-k", "-c", big)),
    ]


def main():
    library, source, wanted = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2]), int(sys.argv[3])
    only = sys.argv[4:]
    total, ran = Counts(), 0
    with tempfile.TemporaryDirectory() as directory:
        # LD_PRELOAD is a list that spaces divide, so the name of the build folder must not be in it.
        os.symlink(os.path.dirname(library), os.path.join(directory, "preload"))
        library = os.path.join(directory, "preload", os.path.basename(library))
        todo = [(name, make()) for name, make in programs(directory, source) if not only or name in only]
        sums = {name: Counts() for name, command in todo if command}
        texts = {name: "" for name in sums}
        good = {name: True for name in sums}
        first = True
        while first or total.walks < wanted:
            before = total.walks
            for name, command in todo:
                if not command or not good[name]:
                    continue
                # In the first round both clocks; later the one that gives more walks.
                for clock in ("cpu", "real") if first else ("real",):
                    done, counts, text = run(library, directory, command, 5000 if clock == "real" else 1000, clock)
                    sums[name].add(counts)
                    total.add(counts)
                    if done.returncode != 0:
                        good[name] = False
                        texts[name] += "status %d: %s\n" % (done.returncode, done.stderr.decode(errors="replace")[-500:])
                    if counts["differ"]:
                        good[name] = False
                        texts[name] += text
                    elif len(texts[name]) < 4000:
                        texts[name] += text[:2000]
                if not first and total.walks >= wanted:
                    break
            first = False
            if total.walks == before:
                break
        for name, command in todo:
            if not command:
                skip(name, "not installed")
                continue
            counts = sums[name]
            reasons = counts.early[0] == counts.early[1] == counts.early[8] == 0
            check(good[name] and counts["differ"] == 0 and counts.walks > 0 and reasons,
                  "%s: %s" % (name, counts), "" if good[name] and counts["differ"] == 0 else texts[name])
            if os.environ.get("WALK_SHOW") and texts[name]:
                print("".join("# %s\n" % line for line in texts[name].splitlines()))
    check(total.walks >= wanted, "all: %s" % total)
    plan()


if __name__ == "__main__":
    main()
