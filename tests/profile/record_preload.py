# SPDX-License-Identifier: MIT
"""record_preload.py RECORD SHOW STACKS LIBRARY WAYS FOLD: eh2sframe-record --preload on programs whose stacks
are known, on some that do what a sampler must not disturb, and on some of the system."""
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile

import record_lib
import tap

record, show, stacks, library, ways, fold = map(os.path.abspath, sys.argv[1:7])
work = tempfile.mkdtemp()
os.chdir(work)
os.environ["XDG_CACHE_HOME"] = work + "/cache"
os.environ["TMPDIR"] = work
os.environ["LC_ALL"] = "C"
# meson names the folder of the library there.
os.environ.pop("LD_LIBRARY_PATH", None)
found_in = record_lib.Recordings(show, stacks, library)
in_ways = record_lib.Recordings(show, ways, library)
number = record_lib.number

if "cannot be walked" in tap.run(record, "--preload", "-o", "probe", "true").stderr:
    tap.skip_all("no stacks of this machine can be walked")


def sampled(output, *words, hz="499"):
    return tap.run(record, "--preload", "-F", hz, "-o", output, *words)


# The ways of record.py.
callers_of = {"plain": ["main"], "threads": ["thread"], "fork": ["main"], "exec": ["main"],
              "dlopen": ["call", "main"], "signal": ["handler", "main"]}
for how, callers in callers_of.items():
    run = sampled(how, stacks, how, library)
    tap.check(run.returncode == 0 and run.stderr.count("\n") == 1, f"{how}: it is recorded", run.stderr)
    right, wrong = found_in.known(how)
    tap.check(right > 100 and len(wrong) <= right // 100, f"{how}: each sample has the callers",
              f"{right} right\n" + "\n".join(wrong))
    tap.check(all(set(callers) <= set(map(found_in.name, sample[4])) for sample in found_in.samples(how)
                  if "inner" in map(found_in.name, sample[4])), f"{how}: and theirs: {' '.join(callers)}")
    own = [frame for sample in found_in.samples(how) for frame in sample[4] if "eh2sframe-preload" in frame]
    tap.check(own == [], f"{how}: no frame is of the library itself", own)
tids = {sample[1] for sample in found_in.samples("threads") if "inner" in map(found_in.name, sample[4])}
tap.check(len(tids) == 3, "threads: there are three", tids)
tap.check({sample[2] for sample in found_in.samples("exec")} >= {"exe"}, "exec: the new name counts",
          {sample[2] for sample in found_in.samples("exec")})

# More often than any kernel has ticks.
run = sampled("way", stacks, hz="4999")
right, wrong = found_in.known("way")
tap.check(0.9 < right / (0.4 * 4999) < 1.3, "there is a sample for each period that has passed", right)

# What a program can do.
for how, status, least in (("keeps", 0, 0), ("reset", 0, 100), ("blocked", 0, 60), ("waits", 0, 100), ("alternate", 0, 100), ("tight", 0, 60),
                           ("c-threads", 0, 100), ("first-ends", 5, 100), ("killed", 0, 100), ("orphan", 0, 100),
                           ("many-threads", 0, 60), ("deep", 0, 60)):
    run = sampled("way", ways, how)
    n, whole = in_ways.complete("way")
    tap.check(run.returncode == status, f"{how}: the program ends as without a recording",
              f"{run.returncode}\n{run.stderr}")
    tap.check(in_ways.having("way", "often") >= least and whole >= 0.99 * n and number(run.stderr, "lost") == 0,
              f"{how}: its samples are there, and complete", run.stderr)
run = sampled("way", ways, "own")
tap.check(run.returncode == 0 and f"the signal {signal.SIGRTMAX - 7}" in run.stderr,
          "a program that needs the signal itself gets it, and that is said", f"{run.returncode}\n{run.stderr}")
run = sampled("way", ways, "late", os.path.basename(library))
n, whole = in_ways.complete("way")
tap.check(run.returncode == 0, "dlopen of a name in the RUNPATH of its caller", run.stderr)
tap.check(in_ways.having("way", "step") > 60 and whole >= 0.8 * n, "and its file is found after a while",
          f"{whole} of {n}")


def near(what, part, n, share):
    tap.check(n > 200 and abs(part / n - share) < 0.06, what, f"{part} of {n}")


# In proportion, as the kernel's samples.
for title, *words in (("--preload", "--preload"), ("the kernel", "--user")):
    run = tap.run(record, *words, "-F", "199", "-o", "share", ways, "share")
    if run.returncode == 124:
        tap.skip(title + ": samples are in proportion", run.stderr.strip())
        continue
    near(f"{title}: three quarters of the samples for three quarters of the time",
         in_ways.having("share", "often"), len(in_ways.samples("share")), 0.75)
    run = tap.run(record, *words, "-F", "199", "-o", "share", ways, "threads")
    near(f"{title}: and so for threads", in_ways.having("share", "often"), len(in_ways.samples("share")), 0.75)
folded = tap.must(fold, "-q", "way")
tap.check(any("call;step;often" in line for line in folded.splitlines()), "eh2sframe-fold reads it", folded)

# Programs of the system do the same as without, and nearly all stacks are complete.
open("data", "wb").write(random.Random(1).randbytes(2000000))
open("source.cc", "w", encoding="ascii").write("""#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>
int main() {
	std::vector<std::map<int, std::string>> maps(3);
	std::vector<std::thread> threads;
	for (auto &map : maps)
		threads.emplace_back([&map] { for (int i = 0; i < 2100000; i++) map[i % 60000 * 7919 % 60000] = std::to_string(i); });
	for (auto &thread : threads)
		thread.join();
	for (auto &map : maps)
		std::cout << map.size() << map[17] << '\\n';
	try { throw std::string("caught"); } catch (const std::string &text) { std::cout << text; }
	return 3;
}
""")
open("large", "wb").write(bytes(1 << 20) * 60)
programs = [["xz", "-T2", "-6", "-c", "data"],
            ["python3", "-c", "import json, threading, sys\nx = [{'a': i, 'b': [str(i)] * 5} for i in range(30000)]\n"
             "t = [threading.Thread(target=lambda: json.loads(json.dumps(x))) for i in range(3)]\n"
             "[a.start() for a in t]; [a.join() for a in t]; print(len(json.dumps(x))); sys.exit(7)"],
            ["perl", "-e", "my %h; $h{$_ % 1000} .= 'x' for 1 .. 900000; print join ',', map { length } values %h; exit 2"],
            ["openssl", "dgst", "-sha512", "large"],
            ["openssl", "speed", "-seconds", "1", "-evp", "sha256"],
            ["bash", "-c", "for i in $(seq 400); do x=$(echo $i | cat); [ $x = $i ] || exit 1; (exit 3); echo $x $?; done; "
             "kill -TERM $$"],
            ["g++", "-O2", "-S", "-o", "-", "source.cc"],
            ["./threads"]]
if shutil.which("g++"):
    tap.must("g++", "-O2", "-pthread", "-o", "threads", "source.cc")
for words in programs:
    title = " ".join(words[:2]) if words[0] != "openssl" else " ".join(words[:-1])
    if not shutil.which(words[0]):
        tap.skip(title, "it is not installed")
        continue
    alone = subprocess.run(words, capture_output=True, check=False)
    # Its libraries are large and it is short: without rows that are kept, samples come before their files are known.
    if "dgst" in words:
        tap.must(record, "--preload", "-o", "system", *words)
    run = subprocess.run([record, "--preload", "-F", "499", "-o", "system", *words], capture_output=True, check=False)
    status = alone.returncode if alone.returncode >= 0 else 128 - alone.returncode
    tap.check(run.returncode == status, f"{title}: the status is the same", f"{run.returncode} {status}\n{run.stderr}")
    # It prints what it measures.
    if "speed" not in words:
        tap.check(run.stdout == alone.stdout, f"{title}: the output is the same",
                  f"{len(run.stdout)} and {len(alone.stdout)} bytes")
    n, whole = in_ways.complete("system")
    # Short processes spend much of their time in _init and _fini, which have no CFI. A sample can come before their
    # files are known.
    share = 99
    if words[0] == "bash":
        share, n = 95, n - in_ways.in_code_without_cfi("system")
    tap.check(n > 10 and whole >= share / 100 * n - 1, f"{title}: {share} % of the samples are complete",
              f"{whole} of {n}\n{run.stderr.decode()}")

# What a sample would end.
for how in ("filtered", "small-stack"):
    run = tap.run(record, "--preload", "-F", "199", "-o", "harm", ways, how)
    tap.check(run.returncode == 0 and run.stdout == "done\n" and "records them no more: 1" in run.stderr,
              f"{how}: the program goes on, and this is said", f"{run.returncode} {run.stdout}{run.stderr}")

# Files that are not what they seem: complete stacks by all samples.
SOURCE = """#include <time.h>
volatile unsigned long sum;
%s
__attribute__((noinline)) void inner(void) { for (int i = 0; i < 100000; i++) sum += (unsigned long)i; }
__attribute__((noinline)) void outer(void) { char room[%d]; room[sum %% %d] = 1; inner(); sum += (unsigned long)room[0]; }
int main(void) { const clock_t end = clock() + CLOCKS_PER_SEC / 2; while (clock() < end) outer(); return 0; }
"""
for name, before, size in (("small", "", 100), ("large", "int more(int a) { return a * 3; }\nint again(int a) { return a / 7; }", 4000)):
    with open(name + ".c", "w", encoding="utf-8") as file:
        file.write(SOURCE % (before, size, size))
    tap.must("gcc", "-O1", "-no-pie", "-Wl,--build-id=none", "-o", name, name + ".c")


def all_complete(title, *words):
    run = tap.run(record, "--preload", "-F", "199", "-o", "seems", *words)
    n, whole = in_ways.complete("seems")
    tap.check(n > 50 and whole >= 0.99 * n, title, f"{whole} of {n}\n{run.stderr}")


all_complete("another program at the same path, without a build-id", "--no-cache", "sh", "-c",
             "cp small x && ./x && rm x && cp large x && ./x")
shared = record_lib.in_shared_memory("small", "record-preload")
if shared:
    all_complete("a program in /dev/shm", "--no-cache", shared)
    os.unlink(shared)
else:
    tap.skip("a program in /dev/shm", "programs cannot run from there")
if shutil.which("patchelf"):
    tap.must("gcc", "-O1", "-no-pie", "-Wl,--build-id", "-o", "plain", "large.c")
    shutil.copy("plain", "patched")
    tap.must("patchelf", "--set-rpath", "/" + "x" * 300, "patched")
    all_complete("a program whose rows are kept", "--cache-dir=moved", "./plain")
    all_complete("the same build with its code elsewhere in the file", "--cache-dir=moved", "./patched")
else:
    tap.skip("the same build with its code elsewhere in the file", "no patchelf")

record_lib.check_command(record, "--preload")

# A command that cannot run, an output that cannot be written, options of the other way.
for words, status, says in ((["/nonexistent/program"], 127, "running the command failed"),
                            (["/etc/passwd"], 126, "running the command failed"),
                            (["sh", "-c", "kill -TERM $$"], 143, "samples"),
                            (["-o", "/nonexistent/file", "true"], 125, "/nonexistent/file"),
                            (["-o", "/dev/full", stacks], 125, "/dev/full"),
                            (["-p", "1"], 125, "a command alone"), (["-a"], 125, "a command alone"),
                            (["--raw", "true"], 125, "--raw"), (["--stack-size=8192", "true"], 125, "--stack-size"),
                            (["-e", "cycles", "true"], 125, "--event=cycles")):
    run = tap.run(record, "--preload", *words) if "-o" in words else tap.run(record, "--preload", "-o", "x", *words)
    tap.check(run.returncode == status and says in run.stderr and run.stderr.count("\n") == 1,
              f"{' '.join(words)}: status {status}", f"{run.returncode}\n{run.stderr}")
open("empty.c", "w", encoding="ascii").write("int main(void) { return 4; }\n")
if tap.run("cc", "-static", "-o", "static", "empty.c").returncode == 0:
    run = sampled("x", "./static")
    tap.check(run.returncode == 4 and "static" in run.stderr, "a static program: a sentence says why there is no sample",
              run.stderr)
else:
    tap.skip("a static program", "libc.a is not installed")

# It ends before the command does, or is ended while processes still begin: they do not wait for it.
run = sampled("x", "-d", "0.3", ways, "share")
tap.check(run.returncode == 0 and 0 < number(run.stderr, "samples") < 400, "-d ends the samples", run.stderr)
script = f"{ways} reset; for i in 1 2 3; do x=$(echo $i | cat); done; echo end >ended"
run = tap.run("sh", "-c", f"'{record}' --preload -F 99999 -o - sh -c '{script}' | head -c 7 >/dev/null")
tap.check(tap.wait_for(lambda: os.path.exists("ended")), "no one reads the recording: the command comes to its end", run.stderr)
for entry in os.listdir(work):
    if entry.startswith("eh2sframe-"):
        shutil.rmtree(entry)
os.environ["LD_PRELOAD"] = "libm.so.6"
run = sampled("x", "sh", "-c", "echo $LD_PRELOAD")
tap.check(run.stdout.startswith("libm.so.6:/"), "another LD_PRELOAD stays, and comes first", run.stdout)
del os.environ["LD_PRELOAD"]

# Places with spaces and colons.
os.mkdir("a b:c")
for folder in ("record", "preload"):
    os.mkdir("a b:c/" + folder)
shutil.copy(record, "a b:c/record/")
shutil.copy(os.path.join(os.path.dirname(record), "../preload/libeh2sframe-preload.so"), "a b:c/preload/")
run = tap.run("a b:c/record/eh2sframe-record", "--preload", "-F", "499", "-o", "a b:c/x", stacks)
right, wrong = found_in.known("a b:c/x")
tap.check(run.returncode == 0 and right > 100, "a library below a folder with a space", run.stderr)
os.remove("a b:c/preload/libeh2sframe-preload.so")
run = tap.run("a b:c/record/eh2sframe-record", "--preload", "-o", "x", "true")
if run.returncode == 125:
    tap.check("libeh2sframe-preload.so" in run.stderr, "without the library", run.stderr)
else:
    tap.skip("without the library", "it is installed, too")
left = [entry for entry in os.listdir(work) if entry.startswith("eh2sframe-")]
tap.check(left == [], "no temporary folder is left", left)

os.chdir("/")
shutil.rmtree(work)
tap.plan()
