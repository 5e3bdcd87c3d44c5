# SPDX-License-Identifier: MIT
"""What the tests of eh2sframe-record have in common: the samples of a recording, with names."""
import os
import re
import shutil
import signal
import subprocess

import tap


class Recordings:
    """Recordings as the program SHOW prints them. Functions of the files have their names; a copy of the
    first file has them, too."""

    def __init__(self, show, *files):
        self.show, self.first = show, files[0]
        self.symbols = {}
        for path in files:
            rows = [line.split() for line in tap.must("nm", "-S", "--defined-only", path).splitlines()]
            self.symbols[path] = [(int(row[0], 16), int(row[1], 16), row[3]) for row in rows if len(row) == 4]

    @staticmethod
    def place(frame):
        """The file and the address in it of the instruction that a frame is at."""
        found = re.fullmatch(r"(.*)\+([0-9a-f]+)(!?)(\??)(=.*)?", frame)
        return re.sub(r" \(deleted\)$", "", found[1]), int(found[2], 16) - (0 if found[3] else 1)

    def name(self, frame):
        """The function of a frame of the files, or what show prints."""
        if "=" in frame:
            return frame.partition("=")[2]
        path, address = self.place(frame)
        path = self.first if os.path.basename(path) == "copy" else path
        for start, size, symbol in self.symbols.get(path, []):
            if start <= address < start + size:
                return symbol
        return frame

    def samples(self, recording):
        """A list for each sample: process, thread, name, why it ended, frames."""
        lines = tap.must(self.show, recording).splitlines()
        return [line.split("\t")[:4] + [line.split("\t")[4:]] for line in lines]

    def complete(self, recording):
        """How many samples there are, and how many have all frames."""
        found = self.samples(recording)
        return len(found), sum(sample[3] in ("outermost frame", "thread of the kernel") for sample in found)

    def known(self, recording):
        """Of the samples in inner: how many have its callers, and all others."""
        right, wrong = 0, []
        for sample in self.samples(recording):
            frames = [self.name(frame) for frame in sample[4]]
            if "inner" not in frames:
                continue
            at = frames.index("inner")
            if frames[at:at + 3] == ["inner", "middle", "outer"] and sample[3] == "outermost frame":
                right += 1
            else:
                wrong.append(" ".join(frames) + " " + sample[3])
        return right, wrong


def in_shared_memory(path, name):
    """A copy of a program in /dev/shm; None where programs cannot run from there, as in many containers."""
    copy = f"/dev/shm/{name}-{os.getpid()}"
    try:
        shutil.copy(path, copy)
    except OSError:
        return None
    if os.statvfs("/dev/shm").f_flag & os.ST_NOEXEC:
        os.unlink(copy)
        return None
    return copy


def check_command(record):
    """How the recorder and its command live together: what is not of samples."""
    run = [record, "-o", "x"]
    # As a daemon has it: ends of children are not told.
    got = subprocess.run([*run, "sh", "-c", "exit 3"], preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
                         stderr=subprocess.PIPE, check=False)
    tap.check(got.returncode == 3, "SIGCHLD is ignored where it starts", got)
    got = subprocess.run([*run, "-d", "0.3", "sh", "-c", "sleep 1; exit 3"], stderr=subprocess.PIPE, check=False)
    tap.check(got.returncode == 3, "-d: the status is the command's, which goes on", got)
    with subprocess.Popen([record, "-o", "over", "-q", "-d", "0.2", "sh", "-c",
                           "trap 'exit 5' TERM; echo started; while :; do sleep 0.1; done"], stdout=subprocess.PIPE) as running:
        running.stdout.readline()
        # The size of its records is written when it is over.
        tap.wait_for(lambda: any(open("over", "rb").read(56)[48:]), running)
        running.terminate()
        tap.check(running.wait() == 5, "-d: signals still reach it")
    before = open("x", "rb").read()
    got = subprocess.run([*run, "/nonexistent/program"], stderr=subprocess.PIPE, check=False)
    tap.check(got.returncode == 127 and open("x", "rb").read() == before and before, "a command that is not there costs no recording", got)
    got = subprocess.run([record, "-o", "none", "/nonexistent/program"], stderr=subprocess.PIPE, check=False)
    tap.check(got.returncode == 127 and not os.path.exists("none"), "nor leaves an empty one", got)
