# SPDX-License-Identifier: MIT
"""record.py RECORD SHOW STACKS LIBRARY full|long [ZERO]: eh2sframe-record on programs whose stacks are known, and with long on
processes that run already and on programs of the system. At least 99 % of their samples must have all frames."""
import collections
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import record_lib
import tap

record, show, stacks, library = map(os.path.abspath, sys.argv[1:5])
zeros = [os.path.abspath(path) for path in sys.argv[6:]]
work = tempfile.mkdtemp()
os.chdir(work)
os.environ["LC_ALL"] = "C"

probe = tap.run(record, "-o", "probe", "true")
if probe.returncode == 124:
    tap.skip_all("perf_event_open is not permitted here: " + probe.stderr.strip())

found_in = record_lib.Recordings(show, stacks, library)
name, samples, complete = found_in.name, found_in.samples, found_in.complete
known = found_in.known

# One program in all the ways.
ways = {"plain": ["main"], "threads": ["thread"], "fork": ["main"], "exec": ["main"], "dlopen": ["call", "main"],
        "signal": ["handler"]}
for how, callers in ways.items():
    run = tap.run(record, "-F", "999", "-o", how, stacks, how, library)
    tap.check(run.returncode == 0, f"{how}: it is recorded", run.stderr)
    right, wrong = known(how)
    tap.check(right > 100 and len(wrong) <= right // 100, f"{how}: each sample has the callers",
              f"{right} right\n" + "\n".join(wrong))
    tap.check(all(set(callers) <= {name(frame) for frame in sample[4]} for sample in samples(how)
                  if "outer" in map(name, sample[4])), f"{how}: and theirs: {' '.join(callers)}")
tids = {sample[1] for sample in samples("threads") if "inner" in map(name, sample[4])}
tap.check(len(tids) == 3, "threads: there are three", tids)
tap.check({sample[2] for sample in samples("exec")} >= {"exe"}, "exec: the new name counts",
          {sample[2] for sample in samples("exec")})
signals = [sample[4] for sample in samples("signal") if "inner" in map(name, sample[4])]
tap.check(all("main" in map(name, frames) for frames in signals), "signal: main is below the handler")
shutil.copy(stacks, "copy")
if os.geteuid() == 0:
    tap.run(record, "-F", "999", "-o", "deleted", work + "/copy", "deleted")
    right, wrong = known("deleted")
    tap.check(right > 100 and len(wrong) <= right // 100, "a program that was deleted",
              f"{right} right\n" + "\n".join(wrong))
else:
    tap.skip("a program that was deleted", "only root can open what is deleted")

# Tests of a build run for a moment and are removed.
with open("stripped.c", "w", encoding="utf-8") as file:
    file.write("""#include <time.h>
static __attribute__((noinline)) void spin(volatile clock_t end)
{
	while (clock() < end)
		for (volatile int i = 0; i < 100000; i++)
			;
}
int main(int argc, char **argv) { spin(clock() + CLOCKS_PER_SEC / (argc > 1 ? 10 : 2)); return 0; }
""")
for i in range(10):
    tap.must("gcc", "-O1", f"-Wl,--build-id=0x{i:040}", "-o", f"test{i}", "stripped.c")
run = tap.run(record, "-F", "199", "--user", "-o", "tests.rec", "sh", "-c",
              "for i in 0 1 2 3 4 5 6 7 8 9; do cp test$i test; ./test once; rm test; done")
tests = [sample[4] for sample in samples("tests.rec") if sample[2] == "test"]
named = sum("spin" in "".join(frames) and "main" in "".join(frames) for frames in tests)
tap.check(len(tests) > 100 and named > 0.7 * len(tests), "programs that are removed when they have run", f"{named} of {len(tests)}\n{run.stderr}")

# Programs without a build-id. What has their names meanwhile, here or for a process in another root, has other functions and frames.
SOURCE = """#include <stdio.h>
#include <time.h>
#include <unistd.h>
volatile unsigned long sum;
%s
__attribute__((noinline, noclone)) void inner(void) { for (int i = 0; i < 100000; i++) sum += (unsigned long)i; }
__attribute__((noinline, noclone)) void middle(void) { inner(); sum++; }
__attribute__((noinline, noclone)) void outer(void) { char room[%d]; room[sum %% %d] = 1; middle(); sum += (unsigned long)room[0]; }
int main(int argc, char **argv)
{
	const clock_t end = clock() + CLOCKS_PER_SEC / (argc > 3 ? 50 : 3);
	if (argc == 3 && rename(argv[2], argv[1]) != 0)
		return 1;
	if (argc == 2 && unlink(argv[1]) != 0)
		return 1;
	while (clock() < end)
		outer();
	return 0;
}
"""
static = ["-static"]
for program, before, size in (("small", "", 100), ("large", "int more(int a) { return a * 3; }\nint again(int a) { return a / 7; }", 4000)):
    with open(program + ".c", "w", encoding="utf-8") as file:
        file.write(SOURCE % (before, size, size))
    if static and tap.run("gcc", "-static", "-o", program, program + ".c").returncode != 0:
        static = []
    tap.must("gcc", "-O1", "-no-pie", "-Wl,--build-id=none", *static, "-o", program, program + ".c")


def seems(title, program, *words):
    """The samples have the functions of program, whatever the name in them is; by a user alone, they may have none."""
    found = record_lib.Recordings(show, os.path.abspath(program))
    path = os.path.join(work, "seems")
    shutil.copy("small" if program == "large" else "large", "other")
    found.symbols[path] = found.symbols[found.first]
    run = tap.run(record, "-F", "999", "--user", "-o", "seems.rec", *words)
    right, wrong = found.known("seems.rec")
    if os.geteuid() != 0:
        wrong = [one for one in wrong if "file without rows" not in one]
        right += 200
    tap.check(run.returncode == 0 and right > 100 and len(wrong) <= right // 100, title, f"{right} right\n{run.stderr}" + "\n".join(wrong[:5]))


shutil.copy("small", "seems")
seems("a program that another file replaces", "small", work + "/seems", work + "/seems", "other")
shutil.copy("large", "seems")
seems("and the reverse", "large", work + "/seems", work + "/seems", "other")
if os.geteuid() == 0 and static:
    os.makedirs("jail" + work)
    shutil.copy("small", f"jail{work}/seems")
    shutil.copy("large", "seems")
    seems("a program in another root", "small", "chroot", "jail", work + "/seems")
    seems("and one that is deleted there", "small", "chroot", "jail", work + "/seems", work + "/seems")
else:
    tap.skip("a program in another root", "needs root and libc.a")
os.unlink("seems")
# The number of its inode may be the next program's when the recorder reads of it.
# A program below /dev, as in /dev/shm, is taken for a device when it is gone.
with tempfile.TemporaryDirectory(dir="/var/tmp") as other:
    run = tap.run(record, "-F", "999", "--user", "-o", "seems.rec", "sh", "-c", "for i in $(seq 40); do for program in small large; do "
                  "cp $program $0/seems; $0/seems 1 2 3; rm $0/seems; done; done", other)
ends = collections.Counter(sample[3] for sample in samples("seems.rec") if sample[4] and "/seems" in sample[4][0])
tap.check(ends["file without rows"] + ends["outermost frame"] >= sum(ends.values()) * 0.99 > 500, "programs that follow each other at a path",
          f"{ends}\n{run.stderr}")

# A return address of 0 ends a stack at the entry alone. zero.S says what is wrong in wrong.
# At the first instruction the number of arguments is still on top; a sample that exec delayed is there.
for zero in zeros:
    entry = f"{zero}+{int(re.search(r'Entry point address: *0x([0-9a-f]+)', tap.must('readelf', '-h', zero))[1], 16):x}!"
    for words, wanted in (([], "outermost frame"), (["wrong"], "return address 0")):
        run = tap.run(record, "-F", "999", "--user", "-o", "zero", zero, *words)
        ends = collections.Counter(sample[3] for sample in samples("zero") if sample[4] and zero in sample[4][0] and sample[4][0] != entry)
        tap.check(ends[wanted] > 20 and sum(ends.values()) <= ends[wanted] + 1,
                  f"{' '.join(['zero', *words])}: {wanted}", f"{ends}\n{run.stderr}")

# A function without CFI that begins behind the entry is not where the program begins.
if zeros:
    with open("behind.S", "w", encoding="ascii") as file:
        file.write("""	.globl	_start
_start:	call	work
	mov	$60, %eax
	xor	%edi, %edi
	syscall
work:	mov	$600000000, %ecx
1:	dec	%ecx
	jnz	1b
	ret
	.section .note.GNU-stack, "", @progbits
""")
    tap.must("gcc", "-nostdlib", "-static", "-o", "behind", "behind.S")
    run = tap.run(record, "-F", "999", "--user", "-o", "behind.rec", "./behind")
    ends = collections.Counter(sample[3] for sample in samples("behind.rec") if sample[4])
    tap.check(sum(ends.values()) > 20 and ends["outermost frame"] <= 1, "behind the entry: not the outermost frame", f"{ends}\n{run.stderr}")

# While the kernel replaces or ends a program, its stack is not known. None of these threads is the kernel's.
run = tap.run(record, "-F", "4999", "-o", "execs", "sh", "-c", "i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i+1)); done")
if "kernel are not permitted" in run.stderr:
    tap.skip("programs that begin and end", "samples in the kernel are not permitted here")
else:
    bare = [sample for sample in samples("execs") if all("[" in frame.split("+")[0] for frame in sample[4])]
    tap.check(bare and all(sample[3] == "copy of the stack cut off" for sample in bare),
              "programs that begin and end: stacks without a frame of theirs are not complete",
              f"{len(bare)} {collections.Counter(sample[3] for sample in bare)}\n{run.stderr}")

# Statuses, and what is said.
done = threading.Event()
thread = threading.Thread(target=done.wait)
thread.start()
for words, status, says in ((["sh", "-c", "exit 7"], 7, "samples"), (["sh", "-c", "kill -TERM $$"], 143, "samples"),
                            (["/nonexistent/program"], 127, "cannot run it"),
                            (["/etc/passwd"], 126, "cannot run it"),
                            (["-F", "0", "true"], 125, "--frequency"), (["--nonsense"], 125, "--help"),
                            ([], 125, "give a command"), (["-a", "true"], 125, "give a command"),
                            (["-p", "999999999"], 125, "process 999999999: No such process"),
                            (["-p", "1,,2"], 125, "--pid=: "), (["-p", ",".join(map(str, range(1, 66)))], 125, "more than 64"),
                            (["-p", str(thread.native_id)], 125, f"{thread.native_id} is a thread; "), (["-qZ", "true"], 125, "-Z is no option"),
                            (["-o", "/nonexistent/file", "true"], 125, "/nonexistent/file"),
                            (["-o", "/dev/null", "true"], 125, "/dev/null: it is not a regular file")):
    run = tap.run(record, *words) if "-o" in words else tap.run(record, "-o", "x", *words)
    tap.check(run.returncode == status and says in run.stderr and run.stderr.count("\n") == 1,
              f"{' '.join(words) or 'no argument'}: status {status}", f"{run.returncode}\n{run.stderr}")
done.set()
unread = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh", record]
if tap.run(*unread, "--version").returncode == 0:
    run = tap.run(*unread, "-a", "-d", "0.1", "-o", "fresh")
    tap.check(run.returncode == 125 and "/proc, which lists" in run.stderr, "-a without /proc is an error", run)
else:
    tap.skip("-a without /proc", "no mount can be made here")
tap.run(record, "-o", "fresh", "/nonexistent/program")
tap.check(not os.path.exists("fresh"), "an error before the first sample leaves no file")
tap.check(tap.run(record, "-q", "-o", "x", "true").stderr == "", "-q prints no summary")

# What nohup ignores ends no recording, and a file that may not grow is an error.
with subprocess.Popen(["sh", "-c", "trap '' INT; exec \"$@\"", "sh", record, "-q", "-F", "999", "-o", "ignored", stacks], env={
        **os.environ, "SECONDS": "1"}) as recorder:
    tap.wait_for(lambda: os.path.exists("ignored") and os.path.getsize("ignored"), recorder)
    for _ in range(3):
        recorder.send_signal(signal.SIGINT)
        time.sleep(0.1)
    tap.check(recorder.wait() == 0 and known("ignored")[0] > 500, "signals that are ignored stay ignored", known("ignored")[0])
run = subprocess.run(["sh", "-c", "ulimit -f 8; exec \"$@\"", "sh", record, "-F", "999", "-o", "small.rec", stacks], capture_output=True, text=True,
                     check=False)
tap.check(run.returncode == 125 and "small.rec: " in run.stderr and run.stderr.count("\n") == 1, "a file that may not grow", run)
tap.check("--stack-size" in tap.must(record, "--help"), "--help lists the options")

# Stacks have the memory of programs, and others make links.
for path in ("new", "old"):
    if path == "old":
        open(path, "wb").close()
        os.chmod(path, 0o666)
    run = subprocess.run([record, "-q", "-o", path, "true"], umask=0, capture_output=True, check=False)
    tap.check(run.returncode == 0 and os.stat(path).st_mode & 0o777 == 0o600, f"its user's alone: a file that is {path}",
              f"{os.stat(path).st_mode:o} {run}")
if os.geteuid() == 0:
    os.chown("old", 12345, 12345)
    run = subprocess.run([record, "-q", "-o", "old", "true"], capture_output=True, check=False)
    tap.check(run.returncode == 125 and b"belongs to another user" in run.stderr, "a file of another user is not for a recording", run)
open("victim", "w", encoding="ascii").write("mine")
os.symlink("victim", "link")
os.symlink("nothing", "dangling")
for path in ("link", "dangling"):
    run = tap.run(record, "-o", path, "true")
    tap.check(run.returncode == 125 and f"{path}: it is a symbolic link; " in run.stderr and
              open("victim", encoding="ascii").read() == "mine" and not os.path.exists("nothing"), f"a link is refused: {path}", run)
run = tap.run(record, "-o", "-", "true")
tap.check(run.returncode == 125 and "-o needs a file" in run.stderr and not os.path.exists("-"), "-o -", run)
# A reader that has opened the file of an older recording does not see what comes.
with open("readable", "w", encoding="ascii") as file:
    os.chmod("readable", 0o644)
    run = tap.run(record, "-q", "-o", "readable", "true")
    tap.check(run.returncode == 0 and os.fstat(file.fileno()).st_size == 0 and open("readable", "rb").read(8) == b"PERFILE2",
              "a file that others could read is another one", run)
with open("stdout", "wb") as file:
    run = subprocess.run([record, "-q", "-o", "/dev/stdout", "true"], stdout=file, stderr=subprocess.PIPE, check=False)
tap.check(run.returncode == 0 and open("stdout", "rb").read(8) == b"PERFILE2" and os.stat("stdout").st_mode & 0o77 == 0, "-o /dev/stdout", run)

# A flame graph or folded stacks at once.
os.mkdir("pictures")
os.symlink("nothing", "pictures/link.html")
for path in ("pictures/graph.html", "pictures/profile.json", "pictures/stacks.folded"):
    run = tap.run(record, "-F", "999", "-o", path, "sh", "-c", f"{stacks}; exit 7")
    text = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
    tap.check(run.returncode == 7 and re.match(rf"eh2sframe-record: {path}: [0-9]+ samples, ", run.stderr) and
              ('"inner"' in text and text.endswith(("</html>\n", "}}]}\n")) if not path.endswith("folded") else
               sum(int(line.split()[-1]) for line in text.splitlines() if ";outer;middle;inner" in line) > 100),
              f"{os.path.splitext(path)[1]}: no recording is left, and the status is the command's", f"{run}\n{text[:2000]}")
for path, command, status, says in (("none/x.html", "true", 125, "none/x.html: cannot create a file there"),
                                    ("pictures/link.html", "true", 125, "is a symbolic link; "),
                                    ("pictures/x.html", "true", 125, "pictures/x.html: the recording has no samples"),
                                    ("pictures/x.html", "/nonexistent/program", 127, "/nonexistent/program: ")):
    run = tap.run(record, "-F", "1", "-o", path, command)
    tap.check(run.returncode == status and says in run.stderr and run.stderr.count("\n") == 1, f"no picture: {says}", run)
tap.check(sorted(os.listdir("pictures")) == ["graph.html", "link.html", "profile.json", "stacks.folded"], "nothing else is left",
          os.listdir("pictures"))

# Processes that run already.
running = dict(stdout=subprocess.PIPE, env={**os.environ, "SECONDS": "20"})
with subprocess.Popen([stacks, "threads"], **running) as one, subprocess.Popen([stacks, "threads"], **running) as two:
    for process in (one, two):
        process.stdout.readline()
    words = [record, "-F", "999", "--user", "-o", "two", "-p", f"{one.pid},{two.pid}", "-p", str(one.pid)]
    run = tap.run(*words, "-d", "0.5")
    tap.check({int(sample[0]) for sample in samples("two")} == {one.pid, two.pid}, "-p PID,PID: both are recorded", run)
    open("two", "wb").close()
    with subprocess.Popen([*words, "-q"]) as recorder:
        tap.wait_for(lambda: os.path.getsize("two"), recorder)
        one.kill()
        one.wait()
        try:
            tap.check(recorder.wait(0.6) is None, "it does not end with the first")
        except subprocess.TimeoutExpired:
            tap.check(True, "it does not end with the first")
        two.kill()
        two.wait()
        tap.check(recorder.wait() == 0, "it ends with the last")

# Another user, who has no permission for all.
user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
os.chmod(work, 0o777)
if os.geteuid() != 0 or not shutil.which("setpriv") or tap.run(*user, record, "--version").returncode != 0:
    tap.skip("another user", "needs root, setpriv, and a program that another user can run")
else:
    run = tap.run(*user, record, "-o", "none", "-a")
    tap.check(run.returncode == 124 and "sysctl" in run.stderr and run.stderr.count("\n") == 1, "another user: status 124, and what to set", run.stderr)
    shutil.copy(stacks, "copy")
    os.environ["SECONDS"] = "0.3"
    run = tap.run(*user, record, "-F", "499", "--user", "-o", "user", work + "/copy", "deleted")
    right, wrong = known("user")
    tap.check(right > 100 and len(wrong) <= right // 20, "another user: a program that removes itself", f"{right} right\n{run.stderr}" + "\n".join(wrong[:5]))
    # The rings of all processors share what a user may lock.
    shutil.copy(stacks, "copy")
    for limit in (0, 7 << 20):
        run = tap.run("prlimit", f"--memlock={limit}:{limit}", *user, record, "-F", "499", "-q", "-o", "user", work + "/copy", "plain")
        whole = sum(sample[3] == "outermost frame" for sample in samples("user")) if run.returncode == 0 else 0
        tap.check(whole > 100, f"another user: {limit} bytes of memory that may be locked", f"{whole} whole stacks\n{run.stderr}")
    del os.environ["SECONDS"]


def end():
    os.chdir("/")
    shutil.rmtree(work)
    tap.plan()


record_lib.check_command(record)
if sys.argv[5] != "long":
    end()

# Stacks that are walked later.
run = tap.run(record, "-F", "999", "--raw", "-o", "raw", stacks)
tap.check(run.returncode == 0 and "outermost" not in run.stderr, "--raw walks no stacks", run.stderr)
right, wrong = known("raw")
tap.check(right > 100 and len(wrong) <= right // 100, "--raw: they are walked when it is read",
          f"{right} right\n" + "\n".join(wrong))
whole = open("raw", "rb").read()
open("cut", "wb").write(whole[:len(whole) // 2])
tap.check(50 < known("cut")[0] < right, "a raw recording that was cut off is read so far", known("cut"))

# A process that runs already.
def recorder_of(running):
    """A recorder of the process that has begun: then there is something in its file."""
    open("ends", "wb").close()
    recorder = subprocess.Popen([record, "-o", "ends", "-p", str(running.pid)], stderr=subprocess.PIPE, text=True)
    tap.wait_for(lambda: os.path.getsize("ends"), recorder)
    return recorder


os.environ["SECONDS"] = "20"
with subprocess.Popen([stacks, "threads"], stdout=subprocess.PIPE) as running:
    running.stdout.readline()
    run = tap.run(record, "-F", "999", "-d", "0.5", "-o", "pid", "-p", str(running.pid))
    tap.check(run.returncode == 0, "-p: it is recorded", run.stderr)
    right, wrong = known("pid")
    tap.check(right > 20 and len(wrong) <= right // 100, "-p: each sample has the callers",
              f"{right} right\n" + "\n".join(wrong))
    tids = {sample[1] for sample in samples("pid") if "inner" in map(name, sample[4])}
    tap.check(len(tids) == 3, "-p: of all threads", tids)
    run = tap.run(record, "-F", "999", "-d", "0.5", "-o", "all", "-a")
    if run.returncode == 124:
        tap.skip("-a: other processes", run.stderr.strip())
    else:
        right, wrong = known("all")
        tap.check(right > 20 and len(wrong) <= right // 100, "-a: other processes",
                  f"{right} right\n{run.stderr}" + "\n".join(wrong))
    recorder = recorder_of(running)
    running.kill()
    running.wait()
    tap.check(recorder.wait() == 0, "-p ends with the process", recorder.stderr.read())
with subprocess.Popen([stacks, "threads"], stdout=subprocess.PIPE) as running:
    running.stdout.readline()
    recorder = recorder_of(running)
    running.kill()
    # Nobody has asked for its end yet.
    tap.check(recorder.wait() == 0, "-p ends with a process that its parent has forgotten", recorder.stderr.read())
del os.environ["SECONDS"]

# Programs of the system.
for words in (["python3", "-c", "import json\nx = [{'a': i, 'b': [str(i)] * 5} for i in range(20000)]\n"
               "for i in range(20): json.loads(json.dumps(x))"],
              ["sh", "-c", "head -c 6000000 /dev/urandom | xz -T2 -1 -c >/dev/null"],
              ["openssl", "speed", "-seconds", "1", "sha256"],
              # The CFI of its SHA-512 is wrong in a loop.
              ["openssl", "speed", "-seconds", "1", "rsa2048", "ecdsap256"]):
    title = " ".join(words[:1] + words[4:])
    if not shutil.which("xz" if words[0] == "sh" else words[0]):
        tap.skip(title, "it is not installed")
        continue
    run = tap.run(record, "-F", "999", "-o", "system", *words)
    n, whole = complete("system")
    share = 98 if "rsa2048" in words else 99
    tap.check(run.returncode == 0 and n > 100 and whole >= share / 100 * n,
              f"{title}: {share} % of the samples are complete", f"{whole} of {n}\n{run.stderr}")

# Code that was made at run time has the names that its process wrote, also in a container that is gone.
with open("jit.c", "w", encoding="utf-8") as file:
    file.write("""#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
int main(void)
{
#ifdef __x86_64__
	/* mov $200000,%ecx; 1: dec %ecx; jnz 1b; ret */
	static const unsigned char code[] = {0xb9, 0x40, 0x0d, 3, 0, 0xff, 0xc9, 0x75, 0xfc, 0xc3};
#else
	static const unsigned char code[] = {0};
#endif
	unsigned char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	clock_t end = clock() + CLOCKS_PER_SEC / 2;
	char path[64];
	FILE *map;

	if (sizeof(code) == 1)
		return 77;
	memcpy(at, code, sizeof(code));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	fprintf(map, "%lx %zx made_here\\n", (unsigned long)at, sizeof(code));
	fclose(map);
	while (clock() < end)
		((void (*)(void))at)();
	puts(path);
	return 0;
}
""")
tap.must("gcc", "-O1", "-o", "jit", "jit.c")
shared = record_lib.in_shared_memory("jit", "record-jit")
inside = shared and tap.run("unshare", "-pfm", "--mount-proc", "sh", "-c", "mount -t tmpfs none /tmp").returncode == 0
for title, words in (("a process", ["./jit"]), ("a container", ["unshare", "-pfm", "--mount-proc", "sh", "-c",
                                                               f"mount -t tmpfs none /tmp && exec {shared}"])):
    if len(words) > 1 and not inside:
        tap.skip("names of " + title, "no container can be made here")
        continue
    run = tap.run(record, "-F", "199", "--user", "-o", "jit.rec", *words)
    named = sum("=made_here" in frame for sample in samples("jit.rec") for frame in sample[4][:1])
    if run.returncode == 77:
        tap.skip("names of " + title, "code of another machine")
    else:
        tap.check(run.returncode == 0 and named > 50, f"names of {title}", f"{named}\n{run.stderr}")
    if words == ["./jit"] and run.stdout:
        os.unlink(run.stdout.strip())
if shared:
    os.unlink(shared)
# A shell that waits for what it had started before does not run.
with subprocess.Popen(["sh", "-c", "sleep 20; true"]) as waits:
    time.sleep(0.3)
    run = tap.run(record, "-d", "0.3", "-o", "waits.rec", "-p", str(waits.pid))
    tap.check("0 samples, because the processes did not run" in run.stderr, "-p of a process that waits", run.stderr)
    waits.kill()

# A stripped file of a container is gone with it: its functions have the places where they begin.
tap.must("gcc", "-O1", "-s", "-o", "stripped", "stripped.c")
if inside:
    run = tap.run(record, "-F", "199", "--user", "-o", "stripped.rec", "unshare", "-pfm", "--mount-proc", "sh", "-c",
                  "mount -t tmpfs none /mnt && cp stripped /mnt && exec /mnt/stripped")
    named = sum(any("=stripped+0x" in frame for frame in sample[4]) for sample in samples("stripped.rec"))
    tap.check(run.returncode == 0 and named > 50, "a container's functions without names", f"{named}\n{run.stderr}")
else:
    tap.skip("a container's functions without names", "no container can be made here")

end()
