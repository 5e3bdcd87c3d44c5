# SPDX-License-Identifier: MIT
"""Debian's kernels for x86-64: fetched by apt, and unpacked."""
import glob
import lzma
import os
import re
import shutil
import struct
import subprocess
import zlib

from tap import must

NAME = re.compile(r"^linux-(?:image|binary)-((\d+\.\d+)\S*cloud-amd64) ", re.M)
KEY = "/usr/share/keyrings/debian-archive-keyring.gpg"


def mirror():
    """Where this machine has Debian from."""
    targets = must("apt-get", "indextargets", "--format", "$(REPO_URI)").splitlines()
    return next(target for target in targets if target.endswith("/debian/"))


class Apt:
    """apt with lists of its own, so that nothing of the machine changes."""

    def __init__(self, cache, suite):
        self.folder = os.path.join(cache, "apt-" + suite)
        for part in ("lists/partial", "debs/archives/partial", "none"):
            os.makedirs(os.path.join(self.folder, part), exist_ok=True)
        open(os.path.join(self.folder, "status"), "w", encoding="ascii").close()
        with open(os.path.join(self.folder, "sources.list"), "w", encoding="ascii") as file:
            file.write(f"deb [signed-by={KEY} check-valid-until=no] {mirror()} {suite} main\n")
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


    def unpack_debug(self, name, root):
        """The kernel with .debug_frame, as its path; None: not fetched."""
        if not os.path.exists(root + "/done"):
            shutil.rmtree(root, ignore_errors=True)
            os.makedirs(root)
            self.run("apt-get", "-q", "download", f"linux-image-{name}-dbg", folder=root)
            for package in glob.glob(root + "/*.deb"):
                with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as packed:
                    subprocess.run(["tar", "-C", root, "-x", "--wildcards", "*/vmlinux*"], stdin=packed.stdout, check=True)
                os.remove(package)
                open(root + "/done", "w", encoding="ascii").close()
        found = [path for path in glob.glob(root + "/**/vmlinux*", recursive=True) if os.path.isfile(path)]
        return found[0] if found else None


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
