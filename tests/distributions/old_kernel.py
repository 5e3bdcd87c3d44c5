#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Converted programs on Debian 12's kernel, which loads programs by other code than those since Linux 6.7: they do what
they did before. With a converted program interpreter nothing starts, so that this test would see it. TAP.

    old_kernel.py EH2SFRAME DIRECTORY

DIRECTORY keeps the root, which has Debian's qemu and kernel. Needs root, mmdebstrap and a network.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from tap import check, must, plan, run, skip_all

TOOL, HOME = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HOME, "old-kernel")
PACKAGES = "qemu-system-x86,linux-image-cloud-amd64,perl,openssl,sed,gawk,python3-minimal"
LOADER = "lib64/ld-linux-x86-64.so.2"
PROGRAMS = ("bash", "dash", "perl", "openssl", "sed", "gawk", "ls", "sha256sum", "sort", "python3")
SCRIPTS = {
    "shell": "/bin/bash", "dash": "/bin/dash", "perl": "/usr/bin/perl", "python": "/usr/bin/python3"}
TEXTS = {
    "shell": "for i in 1 2 3; do x=$(echo $i | cat); echo $((x * 14)); done; (exit 3); echo $?\n",
    "dash": "echo dash; ls /usr/bin | sort | sha256sum; echo a b | sed s/b/c/ | gawk '{ print $2 }'\n",
    "perl": "my %h = map { $_ => $_ * 2 } 1 .. 5000; my $s = 0; $s += $_ for values %h; print \"$s\\n\";\n",
    "python": "print(sum(i * i for i in range(5000)))\n",
}
STATIC = '#include <stdio.h>\n#include <stdlib.h>\nstatic char large[%d];\n' \
    'int main(void)\n{\n\tchar *p = malloc(100000);\n\tlarge[sizeof(large) - 1] = 1;\n\treturn printf("%%d %%d\\n", p != NULL, large[0]) < 0;\n}\n'


def make_root():
    if os.path.exists(ROOT + ".made"):
        return
    shutil.rmtree(ROOT, ignore_errors=True)
    os.makedirs(HOME, exist_ok=True)
    made = run("unshare", "--mount", os.path.join(HERE, "make_root.sh"), "bookworm", ROOT, f"--include={PACKAGES}")
    if made.returncode and re.search("resolve|connect|timed out|Temporary failure|unreachable", made.stderr):
        skip_all("THE NETWORK DOES NOT ANSWER")
    if made.returncode:
        raise RuntimeError(made.stderr[-2000:])
    with open(ROOT + ".made", "w", encoding="utf-8"):
        pass


def libraries(program):
    return re.findall(r"(/\S+)", must("chroot", ROOT, "ldd", program))


def make_tree(top):
    """A root with some programs of Debian, and static ones."""
    files = {f"/usr/bin/{name}" for name in PROGRAMS}
    for program in sorted(files):
        files.update(libraries(program))
    for path in sorted(files):
        os.makedirs(top + os.path.dirname(path), exist_ok=True)
        shutil.copy(ROOT + path, top + path)
    shutil.copytree(ROOT + "/usr/lib/python3.11", top + "/usr/lib/python3.11", symlinks=True)
    os.makedirs(top + "/bin", exist_ok=True)
    for shell in ("bash", "dash"):
        shutil.copy(top + f"/usr/bin/{shell}", top + f"/bin/{shell}")
    shutil.copy(top + "/bin/dash", top + "/bin/sh")
    shutil.copy(ROOT + "/usr/bin/cat", top + "/usr/bin/cat")
    for name, text in TEXTS.items():
        with open(f"{top}/{name}", "w", encoding="ascii") as file:
            file.write(text)
    commands = [f"{program} /{name}" for name, program in SCRIPTS.items()] + ["/usr/bin/openssl version", "/bin/sh -c /static-0"]
    for i, (size, *options) in enumerate(((8, "-static"), (3 << 20, "-static"), (8, "-static-pie"), (3 << 20, "-static-pie"))):
        with open("static.c", "w", encoding="ascii") as file:
            file.write(STATIC % size)
        must("gcc", "-O1", *options, "-o", f"{top}/static-{i}", "static.c")
        commands.append(f"/static-{i}")
    return commands


def boot():
    """What the machine printed, by root and command."""
    kernel = next(name for name in os.listdir(ROOT + "/boot") if name.startswith("vmlinuz-"))
    with open("initrd", "wb") as out:
        names = subprocess.run(["find", ".", "-mindepth", "1"], cwd="machine", capture_output=True, check=True).stdout
        subprocess.run(["cpio", "-o", "-H", "newc", "--quiet"], cwd="machine", input=names, stdout=out, check=True)
    shutil.move("initrd", ROOT + "/initrd")
    said = run("timeout", "900", "chroot", ROOT, "qemu-system-x86_64", "-nodefaults", "-no-reboot", "-display", "none", "-m", "2000",
               "-cpu", "max", "-accel", "tcg", "-kernel", f"/boot/{kernel}", "-initrd", "/initrd", "-append",
               "console=ttyS0 quiet panic=-1", "-serial", "stdio")
    os.unlink(ROOT + "/initrd")
    text = said.stdout.replace("\r", "")
    found = {}
    for root, command, output, status in re.findall(r"BEGIN /(\w+) ([^\n]*)\n(.*?)END status (\d+)\n", text, re.DOTALL):
        # The kernel's own lines.
        output = "\n".join(line for line in output.splitlines() if not re.match(r"\[ *\d", line))
        found[root, command] = (output, int(status))
    version = re.search(r"KERNEL (\S+)", text)
    check("DONE\n" in text and version, "the machine runs all commands", text[-2000:] + said.stderr[-1000:])
    return version.group(1) if version else "", found


def main():
    if os.getuid() != 0 or not shutil.which("mmdebstrap") or not shutil.which("cpio"):
        skip_all("needs root, mmdebstrap and cpio")
    make_root()
    commands = make_tree("machine/before")
    shutil.copytree("machine/before", "machine/after", symlinks=True)
    batch = run(TOOL, "tree", "convert", "machine/after")
    check(batch.returncode == 0 and "loader" in batch.stdout and re.match("[1-9]", batch.stdout), "the programs are converted", batch.stdout + batch.stderr)
    print("#", batch.stdout.strip())
    shutil.copytree("machine/before", "machine/loader", symlinks=True)
    must(TOOL, "-q", "--method=grow", f"machine/loader/{LOADER}", f"machine/loader/{LOADER}")
    os.makedirs("machine/proc")
    must("gcc", "-static", "-O1", "-o", "machine/init", os.path.join(HERE, "old_kernel_init.c"))
    with open("machine/list", "w", encoding="ascii") as file:
        file.write("".join(command + "\n" for command in commands))
    version, found = boot()
    check(tuple(int(part) for part in version.split(".")[:2]) < (6, 7), f"the kernel is {version}, from before 6.7")
    for command in commands:
        before, after, loader = (found.get((root, command)) for root in ("before", "after", "loader"))
        check(before and before[1] == 0 and before == after, f"{command}: as before", f"{before}\n{after}")
        if not command.startswith("/static"):
            check(loader and loader[1] == 11, f"{command}: with a converted loader it cannot start", loader)
    plan()


with tempfile.TemporaryDirectory(dir="/var/tmp") as scratch:
    os.chdir(scratch)
    main()
