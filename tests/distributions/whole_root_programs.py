#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs every program of a root with --version and with --help, inside of the root, and writes what each does.

    whole_root_programs.py OUT all|elf ARGUMENT...
    whole_root_programs.py OUT --only KEYS

OUT becomes a JSON object: "PATH ARGUMENT" leads to the status and the output. KEYS is a file with a JSON array of such
names, which are run alone. "elf" leaves out scripts. The root is read-only and has
no network. A program that reads gets an end of file. One that waits for something else is stopped.
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

# Each of these does what it is for, whatever its argument.
SKIPPED = {
    "instmodsh": "asks again when it reads nothing",
    "aptitude-create-state-bundle": "archives the state of the system, which takes minutes",
    "killall5": "sends signals to all processes",
    "fsfreeze": "freezes a file system",
    "pivot_root": "changes the root of all processes",
    "systemd-ask-password": "waits for a person",
}

# Their processes print at the same time, so the lines come in any order.
UNORDERED = ("groff", "pdfroff")


def programs():
    """Executable files where programs are, each file once by its first name; links of other names stay, since a
    program looks at its name."""
    found = []
    for top in ("/usr/bin", "/usr/sbin", "/usr/games", "/usr/libexec", "/usr/lib"):
        for where, dirs, files in os.walk(top):
            dirs.sort()
            for name in sorted(files):
                path = os.path.join(where, name)
                if not os.access(path, os.X_OK) or not os.path.isfile(path) or re.search(r"\.so(\.|$)", name):
                    continue
                if top.startswith("/usr/lib") and not is_elf(path):
                    continue
                found.append(path)
    return found


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def at_work(session):
    """The processor time of the session's processes and of those that they waited for, and whether one of them wants to go on."""
    ticks, busy = 0, False
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                    words = file.read().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(words[3]) == session:
                ticks += sum(int(word) for word in words[11:15])
                busy = busy or words[0] in "RD"
    return ticks, busy


def status_of(process):
    """The status; "waits" when for two seconds no process does anything, "works" after 20 seconds of work."""
    last, idle = None, 0
    while not last or last[0] < 20 * os.sysconf("SC_CLK_TCK"):
        try:
            return process.wait(timeout=0.5)
        except subprocess.TimeoutExpired:
            pass
        now = at_work(process.pid)
        idle = idle + 1 if now == last and not now[1] else 0
        if idle == 4:
            return "waits"
        last = now
    return "works"


def run(path, argument, home):
    # Perl's hashes have another order in each process.
    environment = {"PATH": os.environ["PATH"], "HOME": home, "LC_ALL": "C.UTF-8", "TERM": "dumb", "COLUMNS": "80", "PERL_HASH_SEED": "0",
                   "PERL_PERTURB_KEYS": "0"}
    # Both streams by themselves: a warning can come anywhere between the lines of another process.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen([path, argument], cwd=home, env=environment, stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=errors, start_new_session=True)
        status = status_of(process)
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        text = ""
        for stream in (out, errors):
            stream.seek(0)
            text += stream.read(1 << 20).decode(errors="replace")
    if os.path.basename(path) in UNORDERED:
        text = "\n".join(sorted(text.splitlines()))
    # Addresses differ from run to run.
    return status, re.sub(r"0x[0-9a-f]{6,}", "0xX", text)


def wanted(arguments):
    if arguments[0] == "--only":
        with open(arguments[1], encoding="utf-8") as file:
            return [key.rsplit(" ", 1) for key in json.load(file)]
    return [(path, argument) for path in programs()
            if os.path.basename(path) not in SKIPPED and (arguments[0] == "all" or is_elf(path))
            for argument in arguments[1:]]


def main():
    said = {}
    for path, argument in wanted(sys.argv[2:]):
        with tempfile.TemporaryDirectory(prefix="home") as home:
            try:
                status, text = run(path, argument, home)
            except OSError as error:
                status, text = "error", error.strerror
        said[f"{path} {argument}"] = [status, text.replace(home, "HOME")]
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(said, file)


if __name__ == "__main__":
    main()
