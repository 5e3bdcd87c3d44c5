#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Debian's kernels for x86-64, fetched: each module and vmlinux, each place. TAP.

    orc_kernels.py EH2SFRAME CACHE [SUITE...]

Takes the newest package of each version that a suite has. CACHE keeps what was unpacked. Prints a row for docs/RESULTS.md
of each kernel.
"""
import glob
import json
import lzma
import os
import re
import shutil
import struct
import subprocess
import sys
import zlib

from orc_lib import Rows, Table, compare
from tap import check, must, plan, run, skip, skip_all

TOOL, CACHE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
SUITES = sys.argv[3:] or ["bullseye", "bookworm", "trixie", "trixie-backports", "sid"]
NAME = re.compile(r"^linux-(?:image|binary)-((\d+\.\d+)\S*cloud-amd64) ", re.M)
KEY = "/usr/share/keyrings/debian-archive-keyring.gpg"


class Apt:
    """apt with lists of its own, so that nothing of the machine changes."""

    def __init__(self, suite):
        self.folder = os.path.join(CACHE, "apt-" + suite)
        for part in ("lists/partial", "debs/archives/partial", "none"):
            os.makedirs(os.path.join(self.folder, part), exist_ok=True)
        open(os.path.join(self.folder, "status"), "w", encoding="ascii").close()
        with open(os.path.join(self.folder, "sources.list"), "w", encoding="ascii") as file:
            file.write(f"deb [signed-by={KEY} check-valid-until=no] http://deb.debian.org/debian {suite} main\n")
        main = os.path.join(self.folder, "main.conf")
        with open(main, "w", encoding="ascii") as file:
            if os.path.exists("/etc/apt/apt.conf"):
                file.write('#include "/etc/apt/apt.conf";\n')
            file.write(f"""#clear APT::Architectures;
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
APT::Architecture "amd64";
APT::Architectures {{ "amd64"; }};
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Retries "2";
Dir::State "{self.folder}";
Dir::State::lists "{self.folder}/lists";
Dir::State::status "{self.folder}/status";
Dir::Cache "{self.folder}/debs";
Dir::Etc::sourcelist "{self.folder}/sources.list";
Dir::Etc::sourceparts "{self.folder}/none";
""")
        self.config = os.path.join(self.folder, "apt.conf")
        with open(self.config, "w", encoding="ascii") as file:
            file.write(f'Dir::Etc::main "{main}";\n')

    def run(self, *argv, folder="/"):
        return subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False,
                              env=os.environ | {"APT_CONFIG": self.config})

    def kernels(self):
        """{version such as 6.12: name}, or what went wrong."""
        made = self.run("apt-get", "-q", "update")
        found = {}
        for name, version in NAME.findall(self.run("apt-cache", "search", "--names-only", "^linux-.*cloud-amd64").stdout):
            known = found.get(version)
            if "unsigned" not in name and (not known or [int(n) for n in re.findall(r"\d+", name)] >
                                           [int(n) for n in re.findall(r"\d+", known)]):
                found[version] = name
        return found, made.stderr

    def unpack(self, name, root):
        """The kernel and its modules, uncompressed. False: not fetched."""
        if os.path.exists(root + "/done"):
            return True
        shutil.rmtree(root, ignore_errors=True)
        os.makedirs(root + "/debs")
        for part in ("image", "binary", "modules"):
            self.run("apt-get", "-q", "download", f"linux-{part}-{name}", folder=root + "/debs")
        for package in glob.glob(root + "/debs/*.deb"):
            must("dpkg-deb", "-x", package, root)
        shutil.rmtree(root + "/debs")
        for path in glob.glob(root + "/**/*.ko.xz", recursive=True):
            with lzma.open(path) as packed, open(path[:-3], "wb") as file:
                file.write(packed.read())
            os.remove(path)
        kernels = glob.glob(root + "/**/vmlinuz*", recursive=True)
        if not kernels or not modules(root):
            return False
        with open(kernels[0], "rb") as file, open(root + "/vmlinux", "wb") as to:
            to.write(kernel(file.read()))
        open(root + "/done", "w", encoding="ascii").close()
        return True


def modules(root):
    return sorted(glob.glob(root + "/**/*.ko", recursive=True))


def lz4_length(block, at, length):
    """A length that goes on in bytes of its own, and the place behind them."""
    more = 255
    while more == 255:
        more = block[at]
        length += more
        at += 1
    return length, at


def lz4_block(block, out):
    """Sequences: literal bytes, and a copy of bytes before."""
    at = 0
    while at < len(block):
        token = block[at]
        length, at = lz4_length(block, at + 1, token >> 4) if token >> 4 == 15 else (token >> 4, at + 1)
        out += block[at:at + length]
        at += length
        if at >= len(block):
            return
        distance, = struct.unpack_from("<H", block, at)
        length, at = lz4_length(block, at + 2, 15) if token & 15 == 15 else (token & 15, at + 2)
        piece = bytes(out[len(out) - distance:len(out) - distance + length + 4])
        out += (piece * ((length + 4) // distance + 1))[:length + 4]


def unpack_lz4(data):
    """The old format of the tool: blocks by themselves, with their size in front."""
    out, at = bytearray(), 4
    while at + 4 <= len(data):
        size, = struct.unpack_from("<I", data, at)
        lz4_block(data[at + 4:at + 4 + size], out)
        at += 4 + size
    return bytes(out)


def kernel(image):
    """The vmlinux that a bzImage has (Linux: Documentation/arch/x86/boot.rst)."""
    assert image[0x202:0x206] == b"HdrS"
    off, size = struct.unpack_from("<II", image, 0x248)
    start = (image[0x1f1] + 1) * 512 + off
    packed = image[start:start + size]
    if packed[:4] == b"\x02\x21\x4c\x18":
        return unpack_lz4(packed[:-4])
    if packed[:4] == b"\x28\xb5\x2f\xfd":
        # The size of what comes out is behind it.
        return subprocess.run(["zstd", "-dc"], input=packed[:-4], capture_output=True, check=True).stdout
    if packed[:2] == b"\x1f\x8b":
        return zlib.decompressobj(31).decompress(packed)
    return lzma.LZMADecompressor().decompress(packed)


def layout_of(version):
    """Of a kernel without a hash."""
    numbers = tuple(map(int, version.split(".")))
    return "4.14" if numbers < (6, 3) else "6.3" if numbers < (6, 4) else "6.4"


def check_modules(version, root):
    """Each place of each module, in version 3, which has words for all that modules have."""
    same, missing, wrong, bare = 0, {}, [], 0
    for path in modules(root):
        table = Table(path, layout_of(version))
        made = run(TOOL, "-q", "--format=3", path, root + "/out.ko")
        if made.returncode == 6 and not table.count:
            bare += 1
            continue
        if made.returncode:
            wrong.append(made.stderr)
            continue
        here, gone, different = compare(table, Rows(TOOL, root + "/out.ko", table.elf))
        same += here
        for entry, size in gone.items():
            missing[entry] = missing.get(entry, 0) + size
        wrong += [f"{path}: {one}" for one in different[:3]]
    check(not wrong and same and not missing, f"{version}: {len(modules(root))} modules: each of {same} bytes of code",
          "\n".join(map(str, wrong[:20])) + str(missing))
    return bare


def check_kernel(version, root):
    """vmlinux: only what no version says, and code outside of executable segments, has no row."""
    table = Table(root + "/vmlinux", layout_of(version))
    made = run(TOOL, "--section-only", "--optimize=none", "--format=3", root + "/vmlinux", root + "/bare.sframe")
    run("objcopy", "--add-section", f".sframe={root}/bare.sframe", "--set-section-flags", ".sframe=alloc,readonly",
        root + "/vmlinux", root + "/added")
    same, missing, different = compare(table, Rows(TOOL, root + "/added", table.elf))
    gaps = json.loads(must(TOOL, "--report=json", "--format=3", root + "/vmlinux"))["files"][0]["refused"]
    left = sum(size for entry, size in missing.items() if entry.sp != "*sp" or entry.type != "call")
    check(not made.returncode and same > 1000000 and not different and left == gaps.get("not-code", {}).get("bytes", 0) - sum(
        size for entry, size in missing.items() if entry.sp == "*sp") + gaps.get("cfa-expression", {}).get("bytes", 0),
          f"{version}: vmlinux: each of {same} bytes of code", f"{made.stderr}{different[:5]}{left}{gaps}")
    proof = run(TOOL, "--verify", "--witness=libdwarf", root + "/added")
    check(proof.returncode == 0 and " 0 differences" in proof.stdout, f"{version}: vmlinux: proven", proof.stdout + proof.stderr)


def summary(root, *options):
    """A JSON report of all modules, or of vmlinux."""
    made = run(TOOL, "-q", *options, "-o", root + "/report.json")
    with open(root + "/report.json", encoding="utf-8") as file:
        return json.load(file), made


def check_said(version, root):
    """What reports and the check of the code say of all modules, and of vmlinux: the row for docs/RESULTS.md."""
    cells = []
    for files in (modules(root), [root + "/vmlinux"]):
        counts, refused = {}, {}
        for form in "23":
            report, made = summary(root, "--report=json", "--format=" + form, *files)
            done = [one for one in report["files"] if one["status"] == 0]
            check(all(one["status"] in (0, 6) for one in report["files"]), f"{version}: reports of {len(files)} files",
                  made.stderr[:2000])
            code = {key: sum(one["code"][key] for one in done) for key in ("with_cfi", "covered", "outermost", "executable")}
            counts[form] = 100 * code["covered"] / (code["with_cfi"] - code["outermost"])
            functions = sum(one["counts"]["functions_with_cfi"] for one in done)
            whole = functions - sum(one["counts"]["functions_with_gaps"] for one in done)
            refused[form] = {}
            for one in done:
                for reason, gap in one["refused"].items():
                    refused[form][reason] = refused[form].get(reason, 0) + gap["functions"]
            cells.append(f"{100 * whole / functions:.2f} % ({counts[form]:.2f} %)")
        checked, made = summary(root, "--check-code", "--report=json", *files)
        fdes = {}
        for one in checked["files"]:
            for key, value in one.get("check", {}).get("fdes", {}).items():
                fdes[key] = fdes.get(key, 0) + value
        looked = sum(fdes.get(key, 0) for key in ("confirmed", "review", "unknown", "contradicts"))
        check(looked and fdes["confirmed"] >= 0.99 * looked and fdes["contradicts"] <= 0.001 * looked and
              made.returncode in (0, 4), f"{version}: the code confirms {fdes['confirmed']} of {looked} FDEs", str(fdes))
        cells += [str(functions), f"{fdes['confirmed']} / {fdes['review']} / {fdes['unknown']} / {fdes['contradicts']}",
                  ", ".join(f"{reason} {n}" for reason, n in sorted(refused["2"].items())) or "-",
                  ", ".join(f"{reason} {n}" for reason, n in sorted(refused["3"].items())) or "-"]
    print(f"# | {version} | {len(modules(root))} | " + " | ".join(cells) + " |", flush=True)


def main():
    if os.uname().machine != "x86_64" or not shutil.which("apt-get") or not os.path.exists(KEY):
        skip_all("needs x86-64, apt and Debian's keys")
    seen = set()
    for suite in SUITES:
        apt = Apt(suite)
        found, why = apt.kernels()
        if not found:
            (check if os.environ.get("MACHINES_REQUIRED") else skip)(*((False, suite, why) if os.environ.get(
                "MACHINES_REQUIRED") else (suite, "THE NETWORK DOES NOT ANSWER")))
        for version, name in sorted(found.items(), key=lambda one: [int(n) for n in one[0].split(".")]):
            root = os.path.join(CACHE, "kernel-" + version)
            if version in seen:
                continue
            seen.add(version)
            if not apt.unpack(name, root):
                skip(f"{version}: {name}", "not fetched")
                continue
            check_modules(version, root)
            check_kernel(version, root)
            check_said(version, root)
    plan()


main()
