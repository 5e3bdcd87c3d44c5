# SPDX-License-Identifier: MIT
"""gone.py RECORD SHOW STACKS: files that are gone before the recording ends, of programs that do not run for long. TAP."""
import os
import shutil
import sys
import tempfile

import tap
from record_lib import Recordings

record, show, stacks = map(os.path.abspath, sys.argv[1:4])
work = tempfile.mkdtemp()
os.chdir(work)
os.environ.update(LC_ALL="C", SECONDS="0.02")
if tap.run(record, "-o", "probe", "-d", "0.1", "-a").returncode == 124:
    tap.skip_all("events of the whole system are not permitted here")
found_in = Recordings(show, stacks)
COPIES = 'i=0; while [ $i -lt 40 ]; do cp "$0" copy_$i; ./copy_$i plain >/dev/null; rm copy_$i; sleep 0.05; i=$((i+1)); done'
CONTAINER = 'mount -t tmpfs none /mnt && cp "$0" /mnt/inside && exec /mnt/inside plain >/dev/null'
CONTAINERS = f"""i=0; while [ $i -lt 20 ]; do unshare -m sh -c '{CONTAINER}' "$0"; i=$((i+1)); done"""
for title, script in (("programs that are removed", COPIES), ("programs of containers", CONTAINERS)):
    if script is CONTAINERS and tap.run("unshare", "-m", "sh", "-c", CONTAINER, stacks).returncode != 0:
        tap.skip(title, "no container can be made here")
        continue
    run = tap.run(record, "-F", "499", "--user", "-o", "gone", "sh", "-c", script, stacks)
    ends = [sample[3] for sample in found_in.samples("gone")]
    without = sum(end in ("file without rows", "address in no file") for end in ends)
    tap.check(run.returncode == 0 and len(ends) > 100 and without <= len(ends) // 20, f"{title} after 20 ms have rows", f"{without} of {len(ends)}\n{run.stderr}")
os.environ["SECONDS"] = "0.3"
# A user alone has the program of his own process that has removed it.
user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
shutil.copy(stacks, "copy")
os.chmod(work, 0o777)
if os.geteuid() == 0 and shutil.which("setpriv") and tap.run(*user, record, "-o", "user", "true").returncode == 0:
    run = tap.run(*user, record, "-F", "499", "--user", "-o", "user", work + "/copy", "deleted")
    right, wrong = found_in.known("user")
    tap.check(run.returncode == 0 and right > 100 and len(wrong) <= right // 20, "a user's program that removes itself", f"{right} right\n{run.stderr}" + "\n".join(wrong[:5]))
else:
    tap.skip("a user's program that removes itself", "needs root, setpriv, and a program that another user can run")
os.chdir("/")
shutil.rmtree(work)
tap.plan()
