#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs every program of a root with --version and with --help, inside of the root, and writes what each does.

    whole_root_programs.py OUT ARGUMENT...

OUT becomes a JSON object: "PATH ARGUMENT" leads to the status and the output. The root is read-only and has
no network. A program that waits gets an end of file, and is stopped after 20 seconds.
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

# Each of these ends, stops or waits for the system, whatever its argument.
SKIPPED = {
    "killall5": "sends signals to all processes",
    "fsfreeze": "freezes a file system",
    "pivot_root": "changes the root of all processes",
    "systemd-ask-password": "waits for a person",
}


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


def run(path, argument, home):
    environment = {"PATH": os.environ["PATH"], "HOME": home, "LC_ALL": "C.UTF-8", "TERM": "dumb", "COLUMNS": "80"}
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen([path, argument], cwd=home, env=environment, stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            status = process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            status = "waits"
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        out.seek(0)
        text = out.read(1 << 20).decode(errors="replace")
    # Names of temporary files, process numbers in messages of shells and addresses differ from run to run.
    return status, re.sub(r"0x[0-9a-f]{6,}", "0xX", text)


def main():
    said = {}
    for path in programs():
        if os.path.basename(path) in SKIPPED:
            continue
        for argument in sys.argv[2:]:
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
