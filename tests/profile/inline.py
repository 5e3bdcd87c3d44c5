# SPDX-License-Identifier: MIT
"""inline.py FOLD RECORDING-OF: functions that were inlined, and lines, against LLVM's addr2line, at addresses all over programs; and debug
information that is elsewhere, shared by dwz, or damaged."""
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

import tap
from fold_lib import EXACT, FILE, Recording, folded, run

fold, writer = map(os.path.abspath, sys.argv[1:3])
work = tempfile.mkdtemp()
os.chdir(work)
os.environ["LC_ALL"] = "C"
os.environ.pop("DEBUGINFOD_URLS", None)
open("a.cc", "w", encoding="ascii").write(r"""
#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
#define INLINE static inline __attribute__((always_inline))
namespace deep { struct point { int x, y; int sum() const { return x * 3 + y; } };
  template <class T> INLINE T twice(T x) { return x + x / 3; }
  INLINE int chain(int x) { point p = {x, x + 1}; return twice(p.sum()) + twice(x * 7); } }
INLINE int loop(int x, int n) { for (int i = 0; i < n; i++) x = deep::chain(x) ^ i; return x; }
__attribute__((noinline)) int work(int x) { if (x == 77) throw std::runtime_error("no"); return loop(x, 9) + loop(x + 1, 7); }
int main(int argc, char **argv) {
  std::map<std::string, int> names; std::vector<int> all;
  for (int i = 0; i < argc * 50; i++) { all.push_back(work(i)); names[argv[0] + std::to_string(i)] += all.back(); }
  std::sort(all.begin(), all.end(), [](int a, int b) { return a % 100 < b % 100; });
  try { return names.size() + all[0]; } catch (std::exception &e) { return 1; } }
""")
open("b.c", "w", encoding="ascii").write(r"""
static inline __attribute__((always_inline)) int add(int a, int b) { return a * b + 1; }
static inline __attribute__((always_inline)) int more(int a) { int s = 0; while (a--) s = add(s, a); return s; }
__attribute__((noinline)) int part(int a) { return more(a) + more(a + 2); }
int main(int argc, char **argv) { (void)argv; return part(argc); }
""")


def record(program, step=5):
    """A recording with a frame at each fifth address of the program's code. Returns these."""
    build_id = re.search(r"Build ID: ([0-9a-f]+)", tap.must("readelf", "-n", program))[1]
    text = re.search(r" \.text +PROGBITS +(\w+) \w+ (\w+)", tap.must("readelf", "-SW", program))
    at = range(int(text[1], 16), int(text[1], 16) + int(text[2], 16), step)
    made = Recording()
    module, thread = made.module(os.path.abspath(program), build_id), made.thread(1, 1, "t")
    for address in at:
        made.sample(thread, [made.frame(FILE, address, module, flags=EXACT)])
    made.write(writer, "made.rec")
    return at


def chains(*options):
    """(function, file, line) of each address, the innermost first, as the JSON has them."""
    tap.must(fold, "-q", "--no-demangle", "--format=firefox", "-o", "made.json", *options, "made.rec")
    shared = json.load(open("made.json", encoding="utf-8"))["shared"]
    frames, functions, strings, found = shared["frameTable"], shared["funcTable"], shared["stringArray"], {}
    for address, depth, function, line in zip(frames["address"], frames["inlineDepth"], frames["func"], frames["line"]):
        name = strings[functions["name"][function]]
        if address >= 0 and (name.endswith(" (inlined)") == (depth > 0)):
            found.setdefault(address, []).insert(0, (name.removesuffix(" (inlined)"), line or 0))
    # What is between functions has the name of the file.
    return {address: [("[]", 0)] if chain[0][0].startswith("[") else chain for address, chain in found.items()}


def expected(program, at):
    """As LLVM has them; binutils' addr2line finds nothing inlined in what clang writes."""
    out = subprocess.run(["llvm-addr2line", "-a", "-i", "-f", "-e", program], input="\n".join(map(hex, at)), capture_output=True, text=True,
                         check=True).stdout
    found = {}
    for block in re.split(r"^0x", out, flags=re.M)[1:]:
        address, *lines = block.splitlines()
        found[int(address, 16)] = [(lines[i], int((re.search(r":(\d+)", lines[i + 1]) or [0, 0])[1])) for i in range(0, len(lines), 2)]
    return found


def compare(name, program, at, got):
    """A constructor has two symbols at one address. What has no line has no debug information, and padding no function."""
    def alike(chain):
        return [(re.sub(r"([CD])[12]E", r"\1E", function), line) for function, line in chain]
    wrong = {hex(a): (got.get(a), want) for a, want in expected(program, at).items()
             if want[0][1] and want[-1][0] != "??" and alike(got.get(a, [])) != alike(want)}
    deep = sum(len(chain) > 2 for chain in got.values())
    tap.check(not wrong and deep > 3, f"{name}: {len(at)} addresses, {deep} with two functions inlined", f"{len(wrong)}: {list(wrong.items())[:8]}")


if not shutil.which("llvm-addr2line"):
    tap.skip_all("llvm-addr2line is not installed")
for compiler, source, *options in (("g++", "a.cc"), ("g++", "a.cc", "-gdwarf-4"), ("clang++", "a.cc"), ("clang++", "a.cc", "-gdwarf-4"), ("gcc", "b.c")):
    title = " ".join([compiler, *options])
    if not shutil.which(compiler):
        tap.skip(title, "not installed")
        continue
    tap.must(compiler, "-O2", "-g", *options, "-Wl,--build-id", "-o", "program", source)
    compare(title, "program", record("program", 5 if source == "a.cc" else 1), chains())

# Debug information in a file of its own, and shared by two such files.
tap.must("g++", "-O2", "-g", "-Wl,--build-id", "-o", "full", "a.cc")
at = record("full")
want, plain = chains(), folded(fold, "made.rec", "--no-inline")
shutil.copy("full", "stripped")
tap.must("objcopy", "--only-keep-debug", "full", "full.debug")
tap.must("strip", "stripped")
build_id = re.search(r"Build ID: ([0-9a-f]+)", tap.must("readelf", "-n", "full"))[1]
place = f"debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug"
os.makedirs(os.path.dirname(place))
shutil.copy("full.debug", place)
at = record("stripped")
tap.check(chains("--debug-dir=debug") == want, "a debug file by its build-id")
if shutil.which("dwz"):
    os.makedirs("debug/.dwz/here")
    tap.must("g++", "-O2", "-g", "-Wl,--build-id", "-o", "other.full", "a.cc", "-DOTHER")
    tap.must("objcopy", "--only-keep-debug", "other.full", "other.debug")
    tap.must("dwz", "-m", "debug/.dwz/here/both.debug", "-M", "/usr/lib/debug/.dwz/here/both.debug", place, "other.debug")
    tap.check(".gnu_debugaltlink" in tap.must("readelf", "-SW", place) and chains("--debug-dir=debug") == want, "with what dwz shares between files")
    os.unlink("debug/.dwz/here/both.debug")
    shared = chains("--debug-dir=debug")
    tap.check({a: c[-1] for a, c in shared.items()}.keys() == {a: c[-1] for a, c in want.items()}.keys(), "without the file that dwz made", shared)
else:
    tap.skip("with what dwz shares between files", "dwz is not installed")
shutil.copy("full.debug", place)
with open(place, "r+b") as out:
    out.seek(open(place, "rb").read().index(bytes.fromhex(build_id)))
    # It is another one each time, and can begin with any byte.
    out.write(bytes([int(build_id[:2], 16) ^ 1]))
tap.check(chains("--debug-dir=debug") != want and all(len(chain) == 1 for chain in chains("--debug-dir=debug").values()),
          "a debug file of another program is not used")

# Damaged debug information costs its names, and no more than its limits.
random.seed(5)
record("full")
whole = open("full", "rb").read()
spots = [(int(m[2], 16), int(m[3], 16)) for m in re.finditer(r" \.debug_(info|abbrev|line|ranges|rnglists|str) +PROGBITS +\w+ (\w+) (\w+)",
                                                            tap.must("readelf", "-SW", "full"))]
bad = []
for i in range(24):
    data = bytearray(whole)
    for _ in range(1 + i % 40):
        off, size = random.choice(spots)
        data[off + random.randrange(size)] = random.choice((0, 255, 128, random.randrange(256)))
    open("full", "wb").write(data)
    got = run(fold, "-q", "made.rec")
    names = {line.split(";")[1].split(" ")[0] for line in got.stdout.splitlines()}
    if got.returncode or got.stderr or not {"main", "work(int)"} <= names:
        bad.append((i, got.returncode, got.stderr, sorted(names)[:5]))
tap.check(not bad, "damaged: the functions of the symbol table are there", bad[:3])
open("full", "wb").write(whole)
tap.check(plain == folded(fold, "made.rec", "--no-inline") and not any("(inlined)" in stack for stack in plain) and
          sum(folded(fold, "made.rec").values()) == sum(plain.values()), "--no-inline: a frame is one function")
os.chdir("/")
shutil.rmtree(work)
tap.plan()
