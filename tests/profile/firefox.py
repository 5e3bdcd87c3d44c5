# SPDX-License-Identifier: MIT
"""firefox.py RECORD FOLD RECORDING-OF STACKS: files for the Firefox Profiler. They are read as its description of the processed format says
(src/types/profile.ts of firefox-devtools/profiler), and by its own code, where FIREFOX_PROFILER is the dist/profile-query.js that
"yarn build-profile-query" makes in a checkout of it."""
import collections
import json
import os
import re
import shutil
import sys
import tempfile
import uuid

import tap
from fold_lib import CUT_OFF, EXACT, FILE, JIT, KERNEL, NO_ROW, UNKNOWN, Recording, folded, run

record, fold, writer, stacks = map(os.path.abspath, sys.argv[1:5])
work = tempfile.mkdtemp()
os.chdir(work)
os.environ["LC_ALL"] = "C"
# The columns of each table, and after a colon what their numbers count.
COLUMNS = {
    "stackTable": "frame:frameTable prefix:stackTable",
    "frameTable": "address inlineDepth category subcategory func:funcTable nativeSymbol:nativeSymbols innerWindowID line column",
    "funcTable": "name:stringArray isJS relevantForJS resource:resourceTable source:sources lineNumber columnNumber",
    "resourceTable": "lib:libs name:stringArray host:stringArray type",
    "nativeSymbols": "libIndex:libs address name:stringArray functionSize",
    "sources": "id filename:stringArray startLine startColumn sourceMapURL:stringArray"}
NODE = """globalThis.self = globalThis;
import(process.argv[1]).then(async (found) => {
    const query = await (found.default ?? found).ProfileQuerier.load(process.argv[2]), all = [];
    for (const { threadHandle, tid, name } of (await query.profileInfo('all')).processes.flatMap((one) => one.threads))
        all.push([tid, name, (await query.threadSamples(threadHandle)).topFunctionsByTotal.map((one) => [one.name, one.totalSamples])]);
    console.log('\\n' + JSON.stringify(all));
}).catch((error) => { console.error(error); process.exit(1); });"""


def wrong_of(data):
    """What the description does not permit."""
    shared, wrong = data["shared"], []
    sizes = {name: len(value) if isinstance(value, list) else value["length"] for name, value in [*shared.items(), ("libs", data["libs"])]}
    for table, columns in COLUMNS.items():
        columns = dict((column + ":").split(":")[:2] for column in columns.split())
        wrong += [table] if set(shared[table]) != {"length", *columns} else []
        wrong += [f"{table}.{name}" for name, of in columns.items() if len(shared[table][name]) != sizes[table] or
                  of and any(value not in (None, -1) and not 0 <= value < sizes[of] for value in shared[table][name])]
    wrong += [f"stack {i}" for i, prefix in enumerate(shared["stackTable"]["prefix"]) if prefix is not None and prefix >= i]
    for thread in data["threads"]:
        samples = thread["samples"]
        wrong += [thread["name"]] if samples["time"] != sorted(samples["time"]) or not isinstance(thread["pid"], str) else []
        wrong += [name for name in ("stack", "time", "weight") if len(samples[name] or samples["stack"]) != samples["length"]]
    return wrong


def stacks_of(data):
    """The weights of each thread's stacks, each as folded lines have it, by its number and name."""
    shared, of, found = data["shared"], [], {}
    for frame, prefix in zip(shared["stackTable"]["frame"], shared["stackTable"]["prefix"]):
        name = shared["stringArray"][shared["funcTable"]["name"][shared["frameTable"]["func"][frame]]]
        of.append((of[prefix] if prefix is not None else "") + ";" + name)
    for thread in data["threads"]:
        sums = found[thread["tid"], thread["name"]] = collections.Counter()
        for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"] or thread["samples"]["length"] * [1]):
            sums[of[stack] if stack is not None else ""] += weight
    return found


def by_firefox(title, path, found):
    """The heaviest functions of each thread, as the profiler counts them. Those whose names several files have are left out."""
    if not os.environ.get("FIREFOX_PROFILER") or not shutil.which("node"):
        tap.skip(title + ": the Firefox Profiler counts the same", "FIREFOX_PROFILER does not name its dist/profile-query.js, or there is no node")
        return
    got = run("node", "-e", NODE, os.environ["FIREFOX_PROFILER"], path)
    threads = json.loads(got.stdout.splitlines()[-1]) if got.returncode == 0 else []
    rows = [(tid, name, function.split("!", 1)[-1], total) for tid, name, functions in threads for function, total in functions
            if function.split("!")[-1] not in ("_start", "clock_gettime")]
    wrong = [row for row in rows if row[3] != sum(weight for stack, weight in found[row[:2]].items() if row[2] in stack.split(";"))]
    tap.check(len(threads) == len(found) and rows and not wrong, title + ": the Firefox Profiler counts the same", f"{wrong}\n{got}")


# All kinds of frames and ends. The recorder's name is that of the process before it runs the command.
build_id = re.search(r"Build ID: ([0-9a-f]+)", tap.must("readelf", "-n", stacks))[1]
at = {words[2]: int(words[0], 16) for words in map(str.split, tap.must("nm", "--defined-only", stacks).splitlines())}
for weights, unit in ((1000, 1000), "cpu-clock"), ((5, 2), "cycles"):
    rec = Recording(command='a "b"', event=unit)
    prog, kernel = rec.module(stacks, build_id), rec.module("[kernel]")
    before, main, other = rec.thread(7, 7, "record"), rec.thread(7, 7, "prog"), rec.thread(7, 8, "a\\ \"b")
    start, back, leaf = (rec.frame(FILE, at[name] + 1, prog, flags=EXACT if name == "inner" else 0) for name in ("main", "outer", "inner"))
    call = rec.frame(KERNEL, 0xffffffff81000000, kernel, flags=EXACT, name="do_read")
    made, lost = rec.frame(JIT, 0x7f00, pid=7, name="Lazy<b>"), rec.frame(UNKNOWN, 0x7f000000, pid=7)
    for i, (thread, frames, why) in enumerate(((before, [start], 1), (main, [start, back, leaf], 1), (other, [lost, made], NO_ROW), (
            main, [start, back, call], 1), (other, [start, back], CUT_OFF), (other, [start, back, leaf], CUT_OFF), (main, [], 9), (other, [], CUT_OFF))):
        rec.sample(thread, frames, why, weight=weights[i % 2], time=10**9 + 2500000 * i)
    got = run(fold, "-o", "made.json", rec.write(writer, "made.rec"))
    data = json.load(open("made.json", encoding="utf-8"))
    found, sums = stacks_of(data), collections.Counter()
    for (_, name), lines in found.items():
        sums.update({name + stack: weight for stack, weight in lines.items()})
    tap.check("made.json in https://" in got.stderr and not wrong_of(data), f"{unit}: as the format is described", f"{wrong_of(data)}\n{got}")
    tap.check(sums == folded(fold, "made.rec") and sum(sums.values()) == (8 if unit == "cpu-clock" else 28),
              f"{unit}: stacks, why they end, and weights", f"{sums}\n{folded(fold, 'made.rec')}")
    by_firefox(unit, "made.json", found)
threads = [(one["name"], one["processName"], one["isMainThread"], one["samples"]["time"]) for one in data["threads"]]
tap.check(threads == [("record", "prog", False, [0]), ("prog", "prog", True, [2.5, 7.5, 15]), ('a\\ "b', "prog", False, [5, 10, 12.5, 17.5])],
          "threads have names, processes and times", threads)
libs = [(one["name"], one["path"], one["codeId"], one["breakpadId"]) for one in data["libs"] if one["codeId"]]
tap.check(libs == [(os.path.basename(stacks), stacks, build_id, uuid.UUID(bytes_le=bytes.fromhex(build_id)[:16]).hex.upper() + "0")],
          "files have their build-ids", libs)
frames = data["shared"]["frameTable"]
tap.check({at["main"], at["outer"], at["inner"] + 1, -1} == set(frames["address"]) and {0, 1, 2} == set(frames["category"]),
          "addresses are those of calls", frames)

# The samples of a program, beside perf's.
done = tap.run(record, "-F", "999", "--user", "-o", "own", stacks, "threads")
if done.returncode == 124 or not shutil.which("perf") or run("perf", "--version").returncode:
    tap.skip("the stacks of perf script", "perf is not installed, or perf_event_open is not permitted here")
else:
    run(fold, "--format=firefox", "-o", "own.firefox", "own")
    data = json.load(open("own.firefox", encoding="utf-8"))
    found, ours, perfs = stacks_of(data), collections.Counter(), collections.Counter()
    for block in tap.must("perf", "script", "-i", "own", "-F", "tid,ip,sym").strip().split("\n\n"):
        tid, *lines = block.split("\n")
        perfs[int(tid), re.search(";inner;middle;outer|$", "".join(";" + line.split()[1] for line in lines))[0]] += 1
    for (tid, _), lines in found.items():
        for stack, n in lines.items():
            ours[tid, re.search(";inner;middle;outer|$", ";" + ";".join(stack.split(";")[::-1]))[0]] += n
    tap.check(not wrong_of(data) and sum(";" in stack for _, stack in ours) == 3 and ours == perfs, "the stacks of perf script, thread by thread",
              f"{wrong_of(data)}\n{ours}\n{perfs}")
    by_firefox("a program", "own.firefox", found)
os.chdir("/")
shutil.rmtree(work)
tap.plan()
