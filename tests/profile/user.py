# SPDX-License-Identifier: MIT
"""user.py RECORD SHOW STACKS: what a user has who is not root. TAP."""
import os
import shutil
import sys
import tempfile

import tap
from record_lib import Recordings

record, show, stacks = map(os.path.abspath, sys.argv[1:4])
work = tempfile.mkdtemp()
os.chdir(work)
os.environ["LC_ALL"] = "C"
probe = tap.run(record, "-o", "probe", "true")
if probe.returncode == 124:
    tap.skip_all("perf_event_open is not permitted here: " + probe.stderr.strip())
found_in = Recordings(show, stacks)
os.environ["SECONDS"] = "0.3"
# A user alone has the program of his own process that has removed it.
user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
shutil.copy(stacks, "copy")
shutil.copy(stacks, "stacks")
os.chmod(work, 0o777)
if os.geteuid() == 0 and shutil.which("setpriv") and tap.run(*user, record, "-o", "user", "true").returncode == 0:
    run = tap.run(*user, record, "-F", "499", "--user", "-o", "user", work + "/copy", "deleted")
    right, wrong = found_in.known("user")
    tap.check(run.returncode == 0 and right > 100 and len(wrong) <= right // 20, "a user's program that removes itself", f"{right} right\n{run.stderr}" + "\n".join(wrong[:5]))
    # The rings of all processors share what a user may lock.
    for limit in (0, 7 << 20):
        run = tap.run("prlimit", f"--memlock={limit}:{limit}", *user, record, "-F", "499", "-q", "-o", "user", work + "/stacks", "plain")
        whole = sum(sample[3] == "outermost frame" for sample in found_in.samples("user")) if run.returncode == 0 else 0
        tap.check(whole > 100, f"a user who may lock {limit} bytes", f"{whole} whole stacks\n{run.stderr}")
else:
    tap.skip("a user's program that removes itself", "needs root, setpriv, and a program that another user can run")
os.chdir("/")
shutil.rmtree(work)
tap.plan()
