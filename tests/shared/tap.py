# SPDX-License-Identifier: MIT
"""What the tests in Python have in common: lines of TAP, and commands that are run."""
import os
import signal
import subprocess

count = 0
failed = 0
# Programs started here must die of a signal that the caller ignores, as under nohup.
for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
    signal.signal(number, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
os.umask(0o022)


def check(ok, name, why=""):
    """One line of TAP; why is shown when it is not so."""
    global count, failed
    count += 1
    print("ok" if ok else "not ok", count, "-", name, flush=True)
    if not ok:
        failed += 1
        for line in str(why).splitlines()[:30]:
            print("#", line)
    return ok


def skip(name, why):
    global count
    count += 1
    print("ok", count, "-", name, "# SKIP", why, flush=True)


def skip_all(why):
    """The only line, where nothing can be tested; ends the program."""
    print("1..0 # SKIP", why, flush=True)
    raise SystemExit(0)


def plan():
    """The last line; ends the program."""
    print(f"1..{count}", flush=True)
    raise SystemExit(1 if failed else 0)


def run(*argv):
    return subprocess.run(argv, capture_output=True, text=True, errors="replace", check=False)


def must(*argv):
    """The standard output of a command that succeeds."""
    made = run(*argv)
    if made.returncode:
        raise RuntimeError(f"{' '.join(argv)}: {made.stdout}{made.stderr}")
    return made.stdout
