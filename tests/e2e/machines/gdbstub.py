# SPDX-License-Identifier: MIT
"""Runs a program of another machine under qemu-user and steps it: registers and memory as they are."""
import os
import socket
import subprocess

from tap import wait_for

# Bytes from the start of qemu's register packet: PC, SP, link register.
PLACES = {"aarch64": (32 * 8, 31 * 8, 30 * 8), "s390x": (8, 16 + 15 * 8, 16 + 14 * 8)}


class Program:
    """A stopped program. exited is its status when it has ended, else None."""

    def __init__(self, qemu, machine, order, path, scratch):
        address = os.path.join(scratch, "gdb")
        self.order = order
        self.places = PLACES[machine]
        self.exited = None
        self.process = subprocess.Popen([*qemu, "-g", address, path])
        self.socket = socket.socket(socket.AF_UNIX)
        if not wait_for(lambda: self.socket.connect_ex(address) == 0, self.process):
            raise RuntimeError(f"{path}: no answer from {qemu[0]}")
        os.unlink(address)
        self.unread = b""

    def close(self):
        self.socket.close()
        self.process.kill()
        self.process.wait()

    def receive(self):
        while True:
            start = self.unread.find(b"$")
            end = self.unread.find(b"#", start)
            if start >= 0 and 0 <= end <= len(self.unread) - 3:
                packet = self.unread[start + 1:end].decode()
                self.unread = self.unread[end + 3:]
                self.socket.sendall(b"+")
                return packet
            more = self.socket.recv(65536)
            if not more:
                raise RuntimeError("the program is gone")
            self.unread += more

    def ask(self, packet):
        self.socket.sendall(f"${packet}#{sum(packet.encode()) & 255:02x}".encode())
        return self.receive()

    def registers(self):
        """(PC, SP, link register)"""
        raw = bytes.fromhex(self.ask("g"))
        return tuple(int.from_bytes(raw[at:at + 8], self.order) for at in self.places)

    def memory(self, address, size):
        return bytes.fromhex(self.ask(f"m{address:x},{size:x}"))

    def step(self):
        answer = self.ask("s")
        if answer[0] == "W":
            self.exited = int(answer[1:3], 16)
        elif answer[:3] not in ("T05", "S05"):
            raise RuntimeError(f"stopped by {answer}")
