# SPDX-License-Identifier: MIT
"""short.py RECORD SHOW SHORT full|long: short threads and processes have as many samples as their processor time, and other processes
that run beside them have none. The shell's "times" says what they used."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import tap

record, show, short = map(os.path.abspath, sys.argv[1:4])
is_long = sys.argv[4] == "long"
work = tempfile.mkdtemp()
os.chdir(work)
os.environ["LC_ALL"] = "C"
if tap.run(record, "-o", "probe", "-d", "0.1", "-a").returncode == 124:
    tap.skip_all("events of the whole system are not permitted here")


def samples(path):
    """Process, thread and name of each."""
    return [line.split("\t")[:3] for line in tap.must(show, path).splitlines()]


def recorded(frequency, words, before=()):
    """Seconds with samples, seconds that were used, what the summary says of both, and the samples."""
    run = tap.run(*before, record, "-F", str(frequency), "-o", f"{work}/rec", "sh", "-c", '"$@" >/dev/null; times >times', "sh", *words)
    with open("times", encoding="ascii") as file:
        used = sum(60 * int(minutes) + float(seconds) for minutes, seconds in re.findall(r"(\d+)m([\d.]+)s", file.read()))
    found = samples("rec")
    said = re.search(r"; samples stand for ([\d.]+) s of ([\d.]+) s that were used([^;]*);", run.stderr)
    if run.returncode or not said:
        raise RuntimeError(run.stderr)
    return len(found) / frequency, used, (float(said[1]), float(said[2]), said[3]), found


PIPELINE = "for i in 1 2 3; do head -c 3000000 /dev/urandom | xz -1 | sha256sum; done"
TRUE = "i=0; while [ $i -lt 1200 ]; do /bin/true; i=$((i+1)); done"
beside = subprocess.Popen([short])
try:
    for title, words in (("800 threads of 5 ms", [short, "threads", "800", "5"]),
                         ("1200 processes of 3 ms", [short, "processes", "1200", "3"]),
                         ("1200 programs", ["sh", "-c", TRUE]), ("a pipeline", ["sh", "-c", PIPELINE]))[:4 if is_long else 1]:
        for frequency, most in ((999, 0.03), (99, 0.15)):
            # A machine under load may miss ticks.
            for _ in range(3):
                have, used, said, found = recorded(frequency, words)
                if abs(have - used) <= most * used:
                    break
            tap.check(abs(have - used) <= most * used, f"{title} at {frequency} Hz: {have:.2f} s of {used:.2f} s have samples", said)
            tap.check(abs(said[0] - have) < 0.02 and abs(said[1] - used) < 0.1 and not said[2].strip(), "as the summary says", said)
            strange = [one for one in found if one[0] == str(beside.pid) or not one[2]]
            tap.check(found and not strange, "there are no samples of what runs beside, and none without a name", strange[:5])
    with open(f"/proc/{beside.pid}/stat", encoding="ascii") as file:
        ran = sum(map(int, file.read().split()[13:15]))
        tap.check(ran > 300, "that has run", f"{ran} ticks")
finally:
    beside.kill()
    beside.wait()

with subprocess.Popen([short, "processes", "1200", "3"]) as running:
    run = tap.run(record, "-F", "999", "-o", "pid", "-p", str(running.pid))
pids = {one[0] for one in samples("pid")}
tap.check(len(pids) > 300 and str(running.pid) in pids, "-p: processes that begin later", f"{len(pids)} {run.stderr}")

# By events of each task they have none.
user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
os.chmod(work, 0o777)
if os.geteuid() == 0 and shutil.which("setpriv") and tap.run(*user, record, "-o", work + "/user", "true").returncode == 0:
    os.unlink("times")
    os.unlink("rec")
    have, used, said, found = recorded(99, [short, "threads", "800", "5"], user)
    tap.check(have < 0.5 * used and "short threads and processes, and programs behind sudo, have none: run it as root, or give -F 4999" in said[2], "another user is told of what is missing",
              f"{have} {used} {said}")
    # Its parent waits for it, so that nothing is left to ask.
    with subprocess.Popen([*user, "sh", "-c", '"$0" threads 800 5 & echo $!; wait', short], stdout=subprocess.PIPE, text=True) as running:
        run = tap.run(*user, record, "-o", work + "/user", "-p", running.stdout.readline().strip())
    tap.check(re.search(r"; samples stand for 0\.\d+ s of \d\.\d+ s that were used", run.stderr) and "give -F 4999" in run.stderr, "also of a process that has ended", run)
    run = tap.run(*user, record, "-o", work + "/user", "sh", "-c", '("$0" threads 100 5 &) ; sleep 2', short)
    tap.check("that were used outside the kernel, without that of 1 process that nobody waited for" in run.stderr, "and of one that nobody waited for", run)
else:
    tap.skip("another user is told of what is missing", "needs root, setpriv, and a program that another user can run")
os.chdir("/")
shutil.rmtree(work)
tap.plan()
