# SPDX-License-Identifier: MIT
"""Damaged files through everything that reads them and through the insertion: the driver must
neither crash nor call one of its own outputs wrong. usage: insert_mutants.py DRIVER COUNT [SEED]"""
import os
import random
import subprocess
import sys
import tempfile

from tap import check, plan

BATCH = 100
METHODS = ["slack", "grow", "append"]
WORDS = [0, 1, 2**64 - 1, 2**63, 2**63 - 1, 2**32 - 1, 2**32, 0x7FFFFFFF, 0xFFF, 0x1000]
KINDS = [0, 1, 2, 8, 11, 0xFFFFFFFF, 0x80000000, 0x70000001, 0x6FFFFFF4, 0x6474E554, 0x6474E550]


def offset(rng, data):
    """Mostly in the header tables, where it hurts."""
    tables = [(0, 64)]
    for at, count, size in ((32, 56, 56), (40, 60, 64)):
        start = int.from_bytes(data[at : at + 8], "little")
        length = int.from_bytes(data[count : count + 2], "little") * size
        if length and start + length <= len(data):
            tables.append((start, length))
    start, length = rng.choice(tables) if rng.random() < 0.9 else (0, len(data))
    return start + rng.randrange(length)


def mutate(rng, original):
    data = bytearray(original)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        at = offset(rng, original)
        kind = rng.random()
        if kind < 0.4:
            data[at] = rng.randrange(256)
        elif kind < 0.7:
            at &= ~7
            word = rng.choice(WORDS + [len(data), len(data) - 1])
            data[at : at + 8] = word.to_bytes(8, "little")
        elif kind < 0.85:
            at &= ~3
            data[at : at + 4] = rng.choice(KINDS).to_bytes(4, "little")
        else:
            data[at] ^= 1 << rng.randrange(8)
    return data[: rng.randrange(len(data))] if rng.random() < 0.1 else data


def originals(driver, folder):
    """A program, the same converted by each method, with room for two program headers, and without
    section headers."""
    source, plain, done = (os.path.join(folder, name) for name in ("p.c", "plain", "done"))
    with open(source, "w", encoding="ascii") as file:
        file.write("int main(void) { return 0; }\n")
    subprocess.run([os.environ.get("CC", "cc"), "-o", plain, source], check=True)
    with open(plain, "rb") as file:
        data = file.read()
    converted = []
    for method in METHODS:
        ran = subprocess.run(
            [driver, "add", plain, done, "200", method], capture_output=True, check=False)
        if ran.returncode == 0:
            with open(done, "rb") as file:
                converted.append(file.read())
    # The note with the build-id as a PT_NULL: one more to spare.
    spare = bytearray(data)
    start, entries = int.from_bytes(data[32:40], "little"), int.from_bytes(data[56:58], "little")
    notes = [at for at in range(start, start + entries * 56, 56) if data[at] == 4]
    spare[notes[-1]] = 0
    bare = bytearray(data)
    bare[40:48] = bytes(8)
    bare[58:64] = bytes(6)
    return [data, *converted, bytes(spare), bytes(bare)]


def main():
    driver, count = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 20240
    rng = random.Random(seed)
    print(f"# seed {seed}")
    with tempfile.TemporaryDirectory() as folder:
        sources = originals(driver, folder)
        for number in range(count // BATCH):
            paths = [os.path.join(folder, f"m{i}") for i in range(BATCH)]
            for path in paths:
                with open(path, "wb") as file:
                    file.write(mutate(rng, rng.choice(sources)))
            ran = subprocess.run(
                [driver, "try", os.path.join(folder, "scratch"), "each", "200"],
                input="".join(path + "\n" for path in paths),
                capture_output=True, text=True, errors="replace",
                check=False)
            lines = ran.stdout.splitlines()
            if ran.returncode or ran.stderr or len(lines) < BATCH:
                bad = [line for line in lines if line.startswith("70")]
                check(False, f"batch {number}, status {ran.returncode}, file {len(lines)}, seed {seed}",
                      "\n".join(bad[:5] + ran.stderr.splitlines()))
                break
        else:
            check(True, f"{count} damaged files")
    plan()


main()
