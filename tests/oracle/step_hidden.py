#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The processor against rows that no CFI gave: programs and libraries whose CFI is hidden while --derive looks at them. TAP.

    step_hidden.py EH2SFRAME STEP GUEST FETCH CACHE [MACHINE...]

STEP steps x86-64, GUEST is qemu's plug-in for the other machines (step_guest.c), FETCH is machines_fetch.sh, which keeps packages
in CACHE. The programs are of this machine (x86-64) and of Debian packages (AArch64, s390x); Rust's on AArch64 get --code=repair
instead, because it has something to repair there. Others are built here without CFI, by several compilers at several levels.

Each step in a derived, repaired or template row is compared. The end says how many there were, at how many addresses, and in how many of
these rows no run came by: what is not shown. STEP_HIDDEN_STEPS is how many steps each program may take (1,700,000).
"""
import collections
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

from derive_trial import hide
from tap import check, must, plan, run, skip, skip_all

TOOL, STEP, GUEST, FETCH, CACHE = map(os.path.abspath, sys.argv[1:6])
MACHINES = sys.argv[6:] or ["x86_64", "aarch64", "s390x"]
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = f"{HERE}/../code/effects_prog.c"
STEPS = int(os.environ.get("STEP_HIDDEN_STEPS", "1700000"))
# Of the whole run, in such rows.
LEAST = 20_000_000 if len(MACHINES) == 3 and STEPS >= 1700000 else 0
LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os", "-O2 -fno-omit-frame-pointer")
BUILDS = {
    "x86_64": [("gcc", level) for level in (*LEVELS, "-O2 -mindirect-branch=thunk", "-O2 -fcf-protection", "-O2 -mavx2 -mstackrealign")]
    + [("clang", level) for level in (*LEVELS, "-Oz")] + [("g++ -x c++ -fpermissive -w", "-O2")],
    "aarch64": [("aarch64-linux-gnu-gcc", level) for level in (*LEVELS, "-O2 -mbranch-protection=standard", "-O2 -fstack-clash-protection")]
    + [("clang --target=aarch64-linux-gnu", level) for level in ("-O0", "-O2", "-Oz -mllvm -homogeneous-prolog-epilog -fuse-ld=lld")],
    "s390x": [("s390x-linux-gnu-gcc", level) for level in (*LEVELS, "-O2 -mbackchain", "-O2 -march=z14", "-O3 -march=z16")]
    + [("clang --target=s390x-linux-gnu", level) for level in ("-O0", "-O2")],
}
PYTHON = 'import json, re; print(re.findall("a+b", "aab" * 9), json.dumps({"a": [1, 2.5, {"b": "c"}]}), sorted(map(str, range(300)))[7])'
SQL = """create table t(a, b); with recursive c(x) as (select 1 union all select x + 1 from c where x < 2000)
insert into t select x, hex(x * x) from c; select count(*), max(b) from t group by a % 7;"""
# No substitution of commands: a child would write into the same log.
SHELL = 'f() { [ $1 -lt 2 ] && r=1 && return; f $(($1 - 1)); r=$((r + $1)); }; for i in {1..300} a b; do f 9; x=$x$i; case $x in *a) echo ${x//1/7};; esac; done'
PERL = 'my %h = map { $_ => $_ ** 2 } 1..900; print join(",", sort { $h{$a} <=> $h{$b} } keys %h), sprintf("%.3f", 2 / 3), "abc" =~ /b(.)/'
PROGRAMS = [("bash", "-c", SHELL), ("perl", "-e", PERL), ("python3", "-S", "-c", PYTHON), ("sqlite3", ":memory:", SQL), ("gawk", "BEGIN { "
            "for (i = 0; i < 9000; i++) a[i % 37] = a[i % 37] sqrt(i); print length(a[3]), substr(a[5], 2, 9) }"), ("mawk", 'BEGIN { for (i = 0; i < 9000; i++) a[i % 9] = a[i % 9] i; print length(a[3]), 2 ^ 0.5 }'),
            ("openssl", "dgst", "-sha3-256", "/etc/passwd"), ("node", "--jitless", "--no-warnings", "-e", "console.log([3, 1, 2].sort().join())"),
            ("xz", "-c", "/etc/passwd"), ("bc", "/etc/hostname"), ("git", "--version")]
REPAIRED = [("rg", "-j1", "--no-config", r"1\w+ l[a-p]+m i", "text")]  # no threads: they would share the log
total = collections.Counter()
last_of = {}


def convert(machine, path, out, *options):
    """Says why not, if it fails. The CFI stays hidden, so nothing may throw."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    if "--derive" in options:
        hide(data, False)
    with open(out, "wb") as file:
        file.write(data)
    os.chmod(out, 0o755)
    report = f"--report-file={machine}/{os.path.basename(out)}.json"
    made = run(TOOL, "convert", "-q", *options, "--format=3", report, out, out)
    return "" if made.returncode == 0 else f"{out}: {made.returncode} {made.stdout}{made.stderr}"


def libraries(root, path):
    """What the program loads, without the loader; {name: path}."""
    folders = [f"{root}{folder}" for base in ("/lib", "/usr/lib") for folder in (f"{base}/{one}" for one in ("x86_64-linux-gnu",
               "aarch64-linux-gnu", "s390x-linux-gnu"))] + [f"{root}/lib"]
    found, todo = {}, [path]
    while todo:
        for name in re.findall(r"NEEDED.*\[(.*)\]", must("readelf", "-dW", todo.pop())):
            at = next((f"{folder}/{name}" for folder in folders if os.path.exists(f"{folder}/{name}")), None)
            if at and name not in found and not name.startswith("ld"):
                found[name] = os.path.realpath(at)
                todo.append(at)
    return found


def stepped(machine, root, title, argv):
    """Steps a converted program; adds what it printed to the sums."""
    if machine == "x86_64":
        command = [STEP, f"--marks={machine}", "--seen", f"--known={HERE}/step_known.txt", f"--steps={STEPS}",
                   f"--env=LD_LIBRARY_PATH={os.getcwd()}/{machine}", *argv]
    else:
        os.environ["STEP_GUEST_ROOT"] = root
        command = ["bash", f"{HERE}/step_guest.sh", GUEST, machine, f"marks={machine},seen=on,known={HERE}/step_known.txt,steps={STEPS}",
                   "-E", f"LD_LIBRARY_PATH={os.getcwd()}/{machine}", *argv]
    made = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", stdin=subprocess.DEVNULL, check=False)
    said, sums = [], collections.Counter()
    for name, kind, steps, shown, rows, places in re.findall(
            r"^(\S+), (derived|repaired|template): (\d+) steps matched; (\d+) of (\d+) rows shown at (\d+) addresses", made.stdout, re.M):
        sums[kind] += int(steps)
        last_of[machine, kind, name] = int(shown), int(rows), int(places)
    for kind, steps in sums.items():
        total[machine, kind] += steps
        said.append(f"{steps} steps in {kind} rows")
    # Rows that are as wrong as their CFI are another test's.
    found = re.search(r"(\d+) differ \((\d+) in marked rows", made.stdout)
    by_cfi = f", {int(found[1]) - int(found[2])} steps contradict CFI" if found and found[1] != found[2] else ""
    check(found and found[2] == "0" and sums and (by_cfi or not made.returncode), f"{machine}, {title}: {', '.join(said)}{by_cfi}",
          "\n".join(line for line in (made.stdout + made.stderr).splitlines() if not re.search(r", 0 differ|steps matched", line)))


def program(machine, root, name, *args, options=("--derive",)):
    path = shutil.which(name, path=f"{root}/usr/bin:{root}/bin")
    if not path:
        skip(f"{machine}, {name}", "not installed")
        return
    path = os.path.realpath(path)
    needed = {os.path.basename(path): path, **(libraries(root, path) if "--derive" in options else {})}
    failed = [convert(machine, at, f"{machine}/{one}", *options) for one, at in needed.items() if not os.path.exists(f"{machine}/{one}")]
    if check(not any(failed), f"{machine}, {name}: {len(needed)} files converted", "".join(failed)):
        stepped(machine, root, name, [f"{machine}/{os.path.basename(path)}", *args])


def build(machine, compiler, level):
    """A static program by that compiler; the C library's CFI is hidden with it."""
    title, out = f"{compiler.split()[0]} {level}", f"built{len(last_of)}-{re.sub('[^a-z0-9O]+', '-', level)}"
    made = subprocess.run([*compiler.split(), *level.split(), "-static", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fno-exceptions",
                           "-o", out, SOURCE, "-lm"], capture_output=True, text=True, check=False)
    runs = [f"./{out}"] if machine == "x86_64" else [f"qemu-{machine}", out]
    if made.returncode:
        skip(f"{machine}, {title}", (made.stderr.strip() or "cannot be built").splitlines()[-1].replace("#", ""))
    elif run(*runs).returncode:
        skip(f"{machine}, {title}", "does not run as it is linked")
    elif check(not convert(machine, out, f"{machine}/{out}", "--derive"), f"{machine}, {title}: converted"):
        stepped(machine, f"/usr/{machine}-linux-gnu", title, [f"{machine}/{out}"])


def pascal(machine):
    """Free Pascal's library is without CFI."""
    if not shutil.which("fpc"):
        skip("Free Pascal", "fpc is not installed")
        return
    with open("sorts.pas", "w", encoding="ascii") as out:
        out.write("program sorts; uses sysutils, classes; var l: TStringList; i: integer; begin l := TStringList.Create; for i := 1 to 300 do "
                  "l.Add(IntToStr(i * 7919 mod 1000)); l.Sort; writeln(l[3], Format('%8.3f', [Sqrt(2.0)]), UpperCase(l[5])); end.")
    must("fpc", "-O2", "sorts.pas")
    if check(not convert(machine, "sorts", f"{machine}/sorts", "--derive"), "Free Pascal: converted"):
        stepped(machine, "", "Free Pascal", [f"{machine}/sorts"])


def on(machine):
    os.mkdir(machine)
    root = ""
    if machine != "x86_64":
        arch = {"aarch64": "arm64"}.get(machine, machine)
        fetched = subprocess.run([FETCH, arch, "step-hidden", CACHE], capture_output=True, text=True, check=False)
        root = f"{CACHE}/{arch}"
        if fetched.returncode:
            skip(f"{machine}, Debian's packages", fetched.stdout.strip() or fetched.returncode)
            root = None
    if root is not None:
        for one in PROGRAMS:
            program(machine, root, *one)
        for one in REPAIRED if machine == "aarch64" else ():
            program(machine, root, *one, options=("--code=repair",))
    for compiler, level in BUILDS[machine]:
        if shutil.which(compiler.split()[0]):
            build(machine, compiler, level)
        else:
            skip(f"{machine}, {compiler.split()[0]} {level}", "not installed")
    if machine == "x86_64":
        pascal(machine)


if subprocess.run([STEP, "--steps=10", "/bin/true"], capture_output=True, check=False).returncode:
    skip_all("single-stepping is not possible here")
with tempfile.TemporaryDirectory() as FOLDER:
    os.chdir(FOLDER)
    with open("text", "w", encoding="ascii") as TEXT:
        TEXT.write("".join(f"{i} lorem ipsum dolor\n" for i in range(200)))
    for MACHINE in MACHINES:
        if MACHINE == "x86_64" or shutil.which(f"qemu-{MACHINE}"):
            on(MACHINE)
for MACHINE, KIND in sorted(total):
    SHOWN, ROWS, PLACES = (sum(values) for values in zip(*(counts for key, counts in last_of.items() if key[:2] == (MACHINE, KIND))))
    print(f"# {MACHINE}, {KIND} rows: {total[MACHINE, KIND]:,} steps at {PLACES:,} addresses, 0 wrong unless a line above says so; "
          f"{SHOWN:,} of {ROWS:,} rows; {ROWS - SHOWN:,} are not shown, because no run reached them")
check(sum(total.values()) >= LEAST, f"{sum(total.values()):,} steps in derived, repaired and template rows", f"wanted {LEAST:,}")
plan()
