#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""go_frames.py EH2SFRAME [BUILD...]: programs of the installed Go, built in several ways, and their rows.

Each row's CFA and return address are compared with what readelf reads in .debug_frame, at every address. (Go's
.debug_frame does not tell the frame pointer.) The converted programs run and prove, and without symbols and debug
sections they get the same rows.
"""

import os
import re
import shutil
import subprocess
import sys

import section_rows
import readelf_rows
import schema_lib
import tap
from go_lib import Go
from tap import must

HERE = os.path.dirname(os.path.abspath(__file__))
# name, folder, machine, options of go build, variables
BUILDS = (
    ("static", "frames", "amd64", [], {"CGO_ENABLED": "0"}),
    ("pie", "frames", "amd64", ["-buildmode=pie"], {}),
    ("not optimised", "frames", "amd64", ["-gcflags=all=-N -l"], {}),
    ("v3", "frames", "amd64", [], {"GOAMD64": "v3"}),
    ("cgo", "cgo", "amd64", [], {}),
    ("cgo pie", "cgo", "amd64", ["-buildmode=pie", "-ldflags=-linkmode=external"], {}),
    ("aarch64", "frames", "arm64", [], {}),
    ("aarch64 not optimised", "frames", "arm64", ["-gcflags=all=-N -l"], {}),
)
# AArch64: these give room on the stack by hand, and then .debug_frame says that the return address is at SP. Go's
# code keeps it where it was. Frames of 64 KiB are released by two instructions, of which it knows as one.
BY_HAND = ("runtime.callCgoSigaction", "runtime.callCgoMmap", "runtime.callCgoMunmap", "runtime.sigfwd",
           # It overwrites the word at SP, and returns by the register.
           "internal/chacha8rand.block")


def symbols(path):
    lines = (line.split(maxsplit=2) for line in must("nm", path).splitlines())
    return sorted((int(words[0], 16), words[2]) for words in lines if len(words) == 3 and words[1] in "tT")


def function_at(names, pc):
    return next((name for addr, name in reversed(names) if addr <= pc), "?")


def differences(tool, path, converted):
    """(bytes that agree, bytes with .debug_frame and without a row, differences as text)."""
    machine = readelf_rows.machine_of(path)
    agree, gaps, wrong, names = 0, 0, [], None
    theirs = section_rows.cfi_spans(path, machine)
    for start, end, one, other in section_rows.overlay(section_rows.section_spans(tool, converted, machine), theirs):
        if not one or not other:
            gaps += end - start if other else 0
        elif not one[2] or (one[2][0], one[2][2]) == (other[2][0], other[2][2]):
            agree += end - start
        else:
            names = names or symbols(path)
            function = function_at(names, start)
            large = "runtime.call" in function or "debugCall" in function
            two_parts = large and end - start == 4 and machine.stack == "sp"
            if not function.startswith(BY_HAND) and not two_parts:
                wrong.append(f"{start:#x}..{end:#x} {function}: {one[2]}, .debug_frame {other[2]}")
    return agree, gaps, wrong


def check_rows(tool, name, path, converted):
    agree, gaps, wrong = differences(tool, path, converted)
    share = 100 * agree / (agree + gaps)
    tap.check(agree > 300000 and not wrong, f"{name}: {agree} bytes of code agree with .debug_frame", "\n".join(wrong))
    # What has no row is code that changes stacks; small programs have as much of it as large ones.
    tap.check(share > (99 if "aarch64" not in name else 98), f"{name}: {share:.2f} % of them have rows")


def check_run(name, path, converted, runner):
    if runner and not shutil.which(runner[0]):
        tap.skip(f"{name}: it runs", f"no {runner[0]}")
        return
    ours, theirs = tap.run(*runner, converted), tap.run(*runner, path)
    tap.check(ours.returncode == 0 and ours.stdout == theirs.stdout, f"{name}: it runs", ours.stderr)


def check_stripped(tool, name, path, converted):
    stripped = path + ".stripped"
    strip = "aarch64-linux-gnu-strip" if "aarch64" in name else "strip"
    if not shutil.which(strip):
        tap.skip(f"{name}: stripped", f"no {strip}")
        return
    must(strip, "-s", "-o", stripped, path)
    must(tool, "-q", stripped, stripped + ".converted")
    machine = readelf_rows.machine_of(path)
    ours, theirs = (section_rows.section_spans(tool, file, machine) for file in (stripped + ".converted", converted))
    tap.check(ours == theirs, f"{name}: the same rows without symbols and debug sections")


def check_code(tool, name, path):
    """The instructions contradict no row, and leave few open."""
    found = tap.run(tool, "check", path)
    said = re.search(r"([\d.]+) % confirmed by the code, \d+ to review, (\d+) unknown, (\d+) contradict", found.stdout)
    good = said and float(said[1]) > 98 and int(said[2]) < 50 and int(said[3]) == 0
    tap.check(found.returncode == 0 and good, f"{name}: check", found.stdout + found.stderr)


def check_held(tool, name, path, *texts):
    """What the rows of Go's table were compared with is told by a conversion, by verify and in JSON, and is no CFI."""
    file = schema_lib.document(must(tool, "report", "--json", path))["files"][0]
    go, covered = file["sources"]["go"]["bytes"], file["code"]["covered"]
    words = rf" {covered - go} bytes? of code compared with CFI\b[^;]*, {go} with Go's table, read again by the same code\b"
    merged = schema_lib.document(must(tool, "tree", "report", "--json", path))["summary"]["code"]
    tap.check(go > 300000 and file["code"]["go_table"] == merged["go_table"] == go and all(re.search(words, text) for text in texts),
              f"{name}: what is compared with Go's table counts apart", f"{words}\n{file['code']}\n{texts}")


def check_build(tool, go, build):
    name, folder, machine, options, env = build
    path = go.build(os.path.join(HERE, folder), name, machine, options, env)
    converted = path + ".converted"
    said = must(tool, path, converted)
    tap.check(".gopclntab" in said, f"{name}: the summary names the source", said)
    proof = tap.run(tool, "verify", "--witness=libdwarf", converted)
    tap.check(proof.returncode == 0 and " 0 differences" in proof.stdout, f"{name}: proven", proof.stdout + proof.stderr)
    check_held(tool, name, path, said, proof.stdout)
    check_rows(tool, name, path, converted)
    check_code(tool, name, path)
    check_run(name, path, converted, ["qemu-aarch64"] if machine == "arm64" else [])
    check_stripped(tool, name, path, converted)
    must(tool, "remove", converted, path + ".again")
    tap.check(open(path, "rb").read() == open(path + ".again", "rb").read(), f"{name}: remove")
    return path


def section_of(path):
    """(offset in the file, bytes) of Go's table."""
    for line in must("readelf", "-SW", path).splitlines():
        if ".gopclntab" in line:
            words = line.split("]")[1].split()
            return int(words[3], 16), int(words[4], 16)
    raise RuntimeError("no .gopclntab")


def damaged(path, at, replacement):
    """A copy of the program with other bytes in its table."""
    bad = path + ".bad"
    start, _ = section_of(path)
    with open(path, "rb") as file:
        data = bytearray(file.read())
    data[start + at : start + at + len(replacement)] = replacement
    with open(bad, "wb") as file:
        file.write(data)
    return bad


def check_damage(tool, path):
    """One line with the section and the offset."""
    unknown, wide = b"\xf2\xff\xff\xff", b"\xff" * 8
    for at, replacement, part in (
        (0, unknown, ".gopclntab+0x0"),
        (8, wide, ".gopclntab+0x8"),
        (24, b"\x10" + bytes(7), ".gopclntab+0x18"),
        (32, wide, ".gopclntab+0x20"),
    ):
        bad = damaged(path, at, replacement)
        made = tap.run(tool, "-q", "--source=go", bad, path + ".out")
        lines = made.stderr.splitlines()
        tap.check(made.returncode == 1 and len(lines) == 1 and part in lines[0], f"damage at {at}: one line", made.stderr)
        # Go's .debug_frame is wrong about the frame pointer, so it counts where it is asked for alone.
        made = tap.run(tool, "-q", bad, path + ".out")
        tap.check(made.returncode == 1 and "is left out" not in made.stdout, f"damage at {at}: no other source counts",
                  f"{made.returncode} {made.stderr}")
        made = tap.run(tool, "-q", "--source=debug_frame", bad, path + ".out")
        tap.check(made.returncode == 0 and not made.stderr, f"damage at {at}: but one that is asked for", made.stderr)


def go_part(tool, path):
    """What Go's table gives of a program."""
    return schema_lib.document(must(tool, "report", "--json", "--source=go", path))["files"][0]["sources"]["go"]


def check_hidden(tool, path):
    """The table without a section header, and without the address of the text, as Go 1.26 writes it."""
    bare, whole = path + ".bare", go_part(tool, path)
    with open(path, "rb") as file:
        data = bytearray(file.read())
    data[40:48], data[58:64] = bytes(8), bytes(6)  # e_shoff; e_shentsize, e_shnum, e_shstrndx
    with open(bare, "wb") as file:
        file.write(data)
    found = go_part(tool, bare)
    tap.check(all(found[key] == whole[key] for key in ("functions", "in_table", "without_rows")), "without section headers",
              f"{found} in place of {whole}")
    found = go_part(tool, damaged(path, 24, bytes(8)))
    tap.check(found == whole, "without the address of the text", f"{found} in place of {whole}")


def check_json(tool, path, table):
    """JSON says of each function which source its rows come from; with -v by its name."""
    plain, full = (schema_lib.document(must(tool, "report", "--json", *more, path))["files"][0] for more in ((), ("-v",)))
    told = {int(one["start"], 16): one["source"] for one in full["other_sources"]}
    left = {int(one["start"], 16) for one in full["sources"]["go"]["without_rows"]}
    functions = [addr for name, addr in table.items() if name.startswith("main.") and addr not in left]
    spans = [(int(one["start"], 16), one["size"], one["source"]) for one in plain["source_ranges"]]
    ranges = [addr for addr in functions if any(start <= addr < start + size and source == "go" for start, size, source in spans)]
    tap.check(len(functions) > 5 and all(told.get(addr) == "go" for addr in functions), "JSON -v: other_sources", str(functions))
    tap.check(ranges == functions and "other_sources" not in plain, "JSON: source_ranges", str(spans))
    count = full["sources"]["go"]["functions"]
    tap.check(count == len(told) == sum(one["functions"] for one in plain["source_ranges"] if one["source"] == "go"),
              "JSON: each function once", f"{count} {len(told)}")
    both = plain["in_both_go"]
    known = [both["frame_pointer_unchanged"][key] for key in ("functions", "bytes")]
    text = must(tool, "report", path)
    tap.check(both["different_bytes"] == both["different_functions"] == 0 and not both["differences"] and known[0] > 500 and
              both["bytes"] > known[1] > 100000 and both["no_caller"]["functions"] > 9 and
              f" {known[1]} bytes of {known[0]} functions: .debug_frame says that the frame pointer is unchanged" in text,
              "what .debug_frame says otherwise is counted by kind", f"{both}\n{text}")
    page = must(tool, "report", "--html", path)
    tap.check('"source_ranges"' in page and '"other_sources"' not in page and "runtime.mcall" in page, "the page has them")


def check_sources(tool, path):
    """Which source the report names, and what --source leaves out."""
    text = must(tool, "report", "-v", path)
    tap.check(" by go " in text and "left out of go: " in text and "runtime.mcall" in text, "report -v", text[:2000])
    table = {name: addr for addr, name in symbols(path)}
    line = f"by go: {table['main.main']:#x}, "
    tap.check(any(line in one and one.endswith(" main.main") for one in text.splitlines()), "a function's source", line)
    check_json(tool, path, table)
    only = must(tool, "report", "--source=debug_frame", path)
    tap.check(" by go " not in only, "--source without go", only[:2000])
    other = schema_lib.document(must(tool, "report", "--json", "--source=debug_frame", path))["files"][0].get("not_by_cfi", [])
    tap.check(all(one["kind"] == "template" for one in other), "rows of another source are not the code's own", other[:9])
    none = tap.run(tool, "--source=eh_frame", path, path + ".none")
    tap.check(none.returncode == 6, "--source=eh_frame: nothing to do", none.stderr)


def check_names(tool, path):
    """Names of functions, and why they have no rows, where the file has no symbols."""
    bare, known = path + ".stripped", {(name.removesuffix(".abi0"), addr) for addr, name in symbols(path)}
    must("strip", "-o", bare, path)
    file = schema_lib.document(must(tool, "report", "--json", bare))["files"][0]
    gaps = {(one.get("name"), int(one["start"], 16)) for one in file["gaps"]}
    tap.check(len(gaps) > 12 and gaps <= known, "stripped: gaps have names", str(gaps - known))
    text = must(tool, "report", "--functions", bare)
    tap.check("runtime.mcall" in text and "(no name)" not in text, "stripped: --functions", text)
    why = {one["name"]: one["reason"] for one in file["sources"]["go"]["without_rows"]}
    stack = ("gogo", "runtime.mcall", "runtime.systemstack", "runtime.morestack", "runtime.asmcgocall", "runtime.nanotime1")
    tap.check(all("another stack" in why[name] for name in (*stack, "runtime.sigfwd")),
              "stripped: reasons", str(why))
    must(tool, "-q", "--exclude-symbol=main.main", bare, bare + ".out")
    kept, left = (must(tool, "dump", one) for one in (path + ".out", bare + ".out"))
    at = f"pc = {dict(known)['main.main']:#x},"
    tap.check(at in kept and at not in left, "stripped: --exclude-symbol", at)


def main():
    tool, go, wanted = sys.argv[1], Go(), sys.argv[2:]
    paths = [check_build(tool, go, build) for build in BUILDS if not wanted or build[0] in wanted]
    check_damage(tool, paths[0])
    check_hidden(tool, paths[0])
    check_sources(tool, paths[0])
    must(tool, "-q", paths[0], paths[0] + ".out")
    check_names(tool, paths[0])
    tap.plan()


main()
