# SPDX-License-Identifier: MIT
"""make.py >sections.json: writes the sections of the kit and what they mean.

It follows the text of "The SFrame Format" (versions 1 to 3) and uses nothing of eh2sframe, so that eh2sframe can be
compared with it, too. Sections are described by rules, as in README.md; bytes and answers are both made of these.
"""
import collections
import json
import re
import struct
import sys

Machine = collections.namedtuple("Machine", "name abi order sp fp ra")
X86 = Machine("x86-64", 3, "<", 7, 6, -8)
A64 = Machine("aarch64", 2, "<", 31, 29, 0)
A64BE = Machine("aarch64-be", 1, ">", 31, 29, 0)
S390 = Machine("s390x", 4, ">", 15, 11, 0)
Row = collections.namedtuple("Row", "start cfa ra fp signed size words")
Func = collections.namedtuple("Func", "start size rows type rep key_b signal flex rows_of raw")
HERE, F = 0x10000402000, 0x10000401000  # the section, and the first function
KIT = {"kit": 1, "license": "MIT", "about": "README.md", "sections": []}
SECTIONS = []


def row(start, cfa, ra=None, fp="u", signed=False, size=0, words=None):
    """size: the least code of the words' size; words: other ones than the rules say."""
    return Row(start, cfa, ra, fp, signed, size, words)


def func(start, size, rows, type=0, rep=0, key_b=False, signal=False, flex=False, rows_of=None, **raw):
    """rows_of: number of the function whose rows these are; raw: fields that say something else."""
    return Func(start, size, rows, type, rep, key_b, signal, flex, rows_of, raw)


def rule_parts(machine, rule):
    """("r", 7, 8): kind, register, offset."""
    kind, name, offset = re.fullmatch(r"([rmc]?)(sp|fp|\d*)([+-]\d+)", rule).groups()
    number = {"sp": machine.sp, "fp": machine.fp, "": 0}.get(name)
    return kind or "r", int(name) if number is None else number, int(offset)


def text_of(machine, rule):
    if rule == "u":
        return rule
    kind, number, offset = rule_parts(machine, rule)
    return f"{kind}{'' if kind == 'c' else number}{offset:+}"


# Bytes.

def pair(machine, rule, scaled=False):
    """Control word and offset of a flexible function."""
    kind, number, offset = rule_parts(machine, rule)
    control = {"r": number << 3 | 1, "m": number << 3 | 3, "c": 2}[kind]
    return [control, (offset - 160) // 8 if scaled else offset]


def words_of(machine, version, flex, this):
    if this.words is not None:
        return this.words
    if this.cfa == "outermost":
        return []
    s390 = machine is S390
    if flex:
        words = pair(machine, this.cfa, s390)
        ra = [] if this.ra is None else pair(machine, this.ra)
        if this.fp == "u":
            return words + ra
        return words + (ra or [0]) + pair(machine, this.fp)
    words = [rule_parts(machine, this.cfa)[2]]
    if s390:
        words = [(words[0] - 160) // 8]
    saved = [] if machine.ra else [this.ra]
    saved += [this.fp]
    while saved and saved[-1] in (None, "u"):
        saved.pop()
    for rule in saved:
        kind, number, offset = ("c", 0, 0) if rule in (None, "u") else rule_parts(machine, rule)
        words.append(offset if kind == "c" else number << 1 | 1)
    return words


def row_bytes(machine, version, function, this):
    words = words_of(machine, version, function.flex, this)
    code, signed = this.size, "bhi"
    control = {0, 2, 3} if function.flex and len(words) == 5 else {0, 2, 4} if function.flex else set()

    def fits(i, word):
        bits = 8 << code
        return 0 <= word < 1 << bits if i in control else -1 << bits - 1 <= word < 1 << bits - 1
    while not all(fits(i, word) for i, word in enumerate(words)):
        code += 1
    base = 1 if not function.flex and words and rule_parts(machine, this.cfa)[1] == machine.sp else 0
    info = base | len(words) << 1 | (code << 5 if words else 0) | this.signed << 7
    out = struct.pack(machine.order + "BHI"[function.type], this.start) + bytes([info])
    for i, word in enumerate(words):
        out += struct.pack(machine.order + (signed[code].upper() if i in control else signed[code]), word)
    return out


def section(machine, version, funcs, flags=None, aux=b"", gaps=(0, 0), tail=b"", fixed_fp=0, **header):
    flags = (1 if version == 1 else 5) if flags is None else flags
    step = {1: 17, 2: 20, 3: 16}[version]
    order, places, fres = machine.order, [], b""
    for function in funcs:
        if function.rows_of is not None:
            places.append(places[function.rows_of])
            continue
        places.append(len(fres))
        info = function.type | (16 if function.rep else 0) | function.key_b << 5 | function.signal << 7
        info = function.raw.get("info", info)
        if version == 3:
            fres += struct.pack(order + "HBBB", function.raw.get("n", len(function.rows)), info,
                                function.raw.get("info2", function.flex), function.raw.get("rep", function.rep))
        for this in function.rows:
            fres += row_bytes(machine, version, function, this)
    fdes = b""
    for i, function in enumerate(funcs):
        at = HERE + 28 + len(aux) + gaps[0] + i * step if flags & 4 else HERE
        place = function.raw.get("place", places[i])
        info = function.type | (16 if function.rep else 0) | function.key_b << 5
        if version == 3:
            fdes += struct.pack(order + "qII", function.start - at, function.size, place)
        else:
            fdes += struct.pack(order + "iIIIB", function.start - at, function.size, place,
                                function.raw.get("n", len(function.rows)), function.raw.get("info", info))
        if version == 2:
            fdes += struct.pack(order + "BH", function.raw.get("rep", function.rep), 0)
    said = {"magic": 0xdee2, "version": version, "flags": flags, "abi": machine.abi, "aux": len(aux), "fdes": len(funcs),
            "fres": sum(len(function.rows) for function in funcs), "fre_len": len(fres), "fdeoff": gaps[0],
            "freoff": sum(gaps) + len(fdes), **header}
    return struct.pack(order + "HBBBbbBIIIII", said["magic"], said["version"], said["flags"], said["abi"], fixed_fp,
                       machine.ra, *list(said.values())[4:10]) + \
        aux + b"\xee" * gaps[0] + fdes + b"\xee" * gaps[1] + fres + tail


# Answers.

def answer(machine, funcs, pc, fixed_fp=0):
    for function in funcs:
        if not function.start <= pc < function.start + function.size:
            continue
        offset = (pc - function.start) % (function.rep or function.size)
        rows = [this for this in function.rows if this.start <= offset]
        if not rows:
            return "none"
        this = rows[-1]
        signal = " signal" if function.signal else ""
        if this.cfa == "outermost":
            return "outermost" + signal
        ra = this.ra or (f"c{machine.ra:+}" if machine.ra else "u")
        fp = this.fp if this.fp != "u" or not fixed_fp else f"c{fixed_fp:+}"
        signed = (" signed-b" if function.key_b else " signed") if this.signed else ""
        return " ".join(text_of(machine, rule) for rule in (this.cfa, ra, fp)) + signed + signal
    return "none"


def places_to_ask(funcs):
    """The first and the last byte of each row, and those around each function."""
    found = set()
    for function in funcs:
        found |= {function.start - 1, function.start, function.start + function.size}
        if not function.size:
            continue
        last = function.start + function.size - (function.size - 1) % (function.rep or 1 << 64) - 1
        for base in {function.start, function.start + function.rep, last}:
            ends = [this.start for this in function.rows][1:] + [function.rep or function.size]
            for this, end in zip(function.rows, ends):
                found |= {base + this.start, base + end - 1}
    return sorted(found)


def add(name, says, data, asks, machine=None, kind="rows"):
    SECTIONS.append({
        "name": name, "says": says, "kind": kind, "machine": machine.name if machine else "x86-64",
        "address": f"{HERE:#x}", "bytes": data.hex(),
        "ask": [dict(zip(("how", "at", "answer", "or"), (how, f"{at:#x}", *text))) for how, at, *text in asks]})


def case(name, says, machine, version, funcs, returns=(), also={}, **how):
    """also: {address: (another answer that the text allows,)}; returns: return addresses."""
    asks = [("pc", pc, answer(machine, funcs, pc, how.get("fixed_fp", 0)), *also.get(pc, ())) for pc in places_to_ask(funcs)]
    asks += [("return", pc, answer(machine, funcs, pc - 1)) for pc in returns]
    add(f"v{version}-{machine.name}-{name}", says, section(machine, version, funcs, **how), asks, machine)


# Instructions of functions.

PLAIN = {
    X86: [row(0, "sp+8"), row(1, "sp+16", fp="c-16"), row(4, "fp+16", fp="c-16"), row(31, "sp+8")],
    A64: [row(0, "sp+0"), row(4, "sp+32", "c-24", "c-32"), row(8, "fp+32", "c-24", "c-32"), row(28, "sp+0")],
    S390: [row(0, "sp+160"), row(6, "sp+160", "c-48", "c-72"), row(12, "fp+328", "c-48", "c-72"), row(26, "sp+160")],
}
PLAIN[A64BE] = PLAIN[A64]
ONE = {machine: [rows[0]] for machine, rows in PLAIN.items()}
MACHINES = {1: (X86, A64, A64BE), 2: (X86, A64, A64BE, S390), 3: (X86, A64, A64BE, S390)}


def rows_of_machines():
    for version, machines in MACHINES.items():
        for machine in machines:
            two = [func(F, 32, PLAIN[machine]), func(F + 48, 16, ONE[machine])]
            case("plain", "two functions with a gap between them; CFA from SP and from FP", machine, version, two)
            shared = [*two, func(F + 64, 32, PLAIN[machine], rows_of=0), func(F + 96, 8, PLAIN[machine][:1], rows_of=0)]
            if version == 3:
                shared.pop()
            case("shared", "functions that share rows, which the text allows and linkers do not do", machine, version, shared)
    for machine in (A64, A64BE):
        for version in (1, 2, 3):
            signed = [row(0, "sp+0"), row(4, "sp+0", signed=True), row(8, "sp+16", "c-8", "c-16", signed=True), row(24, "sp+0")]
            case("signed", "return addresses signed with key A, and with key B", machine, version,
                 [func(F, 32, signed), func(F + 32, 32, signed, key_b=True)])
    for version in (1, 2, 3):
        case("ra-alone", "two words: the return address is saved and FP is not", A64, version,
             [func(F, 16, [row(0, "sp+0"), row(4, "sp+16", "c-16")])])
    for version in (2, 3):
        case("fp-alone", "a word of 0 in RA's place: RA is in its register, and FP is saved", S390, version,
             [func(F, 16, [row(0, "sp+160"), row(6, "sp+160", fp="c-72")])])
    case("registers", "words with bit 0 set are registers: RA in f0, FP in f2 (numbers 16 and 17), RA in r1", S390, 2,
         [func(F, 24, [row(0, "sp+160"), row(4, "sp+160", "r16+0"), row(8, "sp+160", "r16+0", "r17+0"),
                       row(12, "sp+320", "r1+0")])])


def widths():
    for version, machine in ((1, X86), (2, X86), (3, X86), (2, S390), (3, A64BE)):
        plain = PLAIN[machine]
        late = plain[:-1] + [plain[-1]._replace(start=0x2fe)]
        later = plain[:-1] + [plain[-1]._replace(start=0x1fffe)]
        case("starts", "row starts of 1, 2 and 4 bytes", machine, version,
             [func(F, 32, plain), func(F + 0x100, 0x300, late, 1), func(F + 0x1000, 0x20000, later, 2)])
        case("starts-wide", "row starts wider than they need to be", machine, version,
             [func(F, 32, plain, 2), func(F + 32, 32, plain, 1)])
        big = {X86: "sp+100000", S390: "sp+800160", A64BE: "sp+100000"}[machine]
        middle = {X86: "sp+4096", S390: "sp+4256", A64BE: "sp+4096"}[machine]
        saved = {} if machine is X86 else {"ra": "c-48"}
        rows = [plain[0], row(4, middle, **saved, fp="c-16"), row(8, big, **saved, fp="c-32768"),
                row(12, plain[0].cfa, **saved, fp="c-128", size=2), row(16, plain[0].cfa, **saved, fp="c-136"), plain[0]._replace(start=20)]
        case("words", "words of 1, 2 and 4 bytes in one function, also wider than needed, and the least value of a byte",
             machine, version, [func(F, 32, rows)])
    case("negative", "the CFA is below its base", X86, 2, [func(F, 8, [row(0, "sp-8"), row(4, "fp-130")])])


def sections():
    for version in (2, 3):
        two = [func(F, 32, PLAIN[X86]), func(F + 48, 16, ONE[X86])]
        case("auxiliary-header", "8 bytes of an auxiliary header; all offsets begin behind it", X86, version, two, aux=bytes(range(1, 9)))
        case("gaps", "fdeoff and freoff leave gaps behind header and functions", X86, version, two, gaps=(4, 12))
        case("padding", "zeros behind the rows, as in the segment that GNU ld makes", X86, version, two, tail=bytes(5))
        case("no-functions", "a header and nothing else", X86, version, [])
        case("unsorted", "the functions descend, and no flag says that they ascend (as in objects)", X86, version, two[::-1], flags=4)
        case("unsaid", "the functions ascend, but no flag says so", X86, version, two, flags=4)
        case("above", "functions below and above the section", X86, version, [func(F, 8, ONE[X86]), func(F + 0x9000, 32, PLAIN[X86])])
        case("empty-function", "a function without bytes, and a row at a function's end, as GNU as writes them", X86, version,
             [func(F, 0, ONE[X86]), func(F + 16, 16, [row(0, "sp+8"), row(4, "sp+16"), row(16, "sp+24")])])
        case("late-row", "the first row begins behind the function's start", X86, version, [func(F, 16, [row(4, "sp+16")])])
        case("neighbours", "the next function begins at the last one's end", X86, version,
             [func(F + 16 * i, 16, [row(0, f"sp+{8 + 8 * i}")]) for i in range(9)])
        case("fixed-fp", "the header fixes the place of FP, too", X86, version, [func(F, 16, [row(0, "sp+16")])], fixed_fp=-16)
    for version in (1, 2):
        case("frame-pointer-flag", "the flag FRAME_POINTER says nothing of rows", X86, version, [func(F, 32, PLAIN[X86])],
             flags=3 if version == 1 else 7)
    case("padding", "zeros behind the rows, in the other byte order", S390, 2, [func(F, 32, PLAIN[S390])], tail=bytes(5))
    case("section-relative", "the flag FUNC_START_PCREL is clear: starts count from the section's start", S390, 3,
         [func(F, 32, PLAIN[S390]), func(F + 64, 16, ONE[S390])], flags=1)
    case("section-relative", "the flag FUNC_START_PCREL is clear: starts count from the section's start", X86, 3,
         [func(F, 32, PLAIN[X86]), func(F + 64, 16, ONE[X86])], flags=1)
    case("far", "functions 2 GiB and more below and above the section", X86, 3,
         [func(HERE - (1 << 40), 32, PLAIN[X86]), func(HERE + (1 << 31), 16, ONE[X86]), func(HERE + (1 << 44), 32, PLAIN[X86])])


def repeated():
    for version, machine in ((2, X86), (3, X86), (2, S390), (3, A64)):
        rows = {X86: [row(0, "sp+8"), row(11, "sp+16")], S390: [row(0, "sp+160"), row(14, "sp+168")],
                A64: [row(0, "sp+0"), row(4, "sp+16", "c-16")]}[machine]
        case("pcmask", "rows of blocks, whose start is a multiple of nothing; the last block is cut", machine, version,
             [func(F + 4, 16 * 5 + 12, rows, rep=16), func(F + 0x200, 24 * 3, rows, rep=24)])
        case("pcmask-many", "more blocks than a row's start can count", machine, version, [func(F + 8, 16 * 40, rows, rep=16)])
    case("pcmask-size", "a block size where nothing is repeated, as ld 2.41 to 2.44 wrote it, means nothing", X86, 2,
         [func(F, 32, [row(0, "sp+16"), row(6, "sp+24")], n=2)._replace(raw={"rep": 16})])


def ends():
    outermost = [row(0, "outermost")]
    for version, machine in ((2, X86), (3, X86), (2, A64), (3, A64), (2, S390), (3, S390)):
        case("outermost", "rows without words: the frame has no caller", machine, version,
             [func(F, 32, outermost), func(F + 32, 32, [PLAIN[machine][0], row(8, "outermost"), PLAIN[machine][-1]])])
    case("no-rows", "a function without rows", X86, 2, [func(F, 16, []), func(F + 16, 16, ONE[X86])])
    case("no-rows", "a default function without rows is outermost by the list of changes, and has no row by the rest",
         X86, 3, [func(F, 16, []), func(F + 16, 16, ONE[X86])], also={F: ("outermost",), F + 15: ("outermost",)})
    for machine in (X86, A64, S390):
        case("signal", "a signal frame: its caller was interrupted and did not call", machine, 3,
             [func(F, 16, ONE[machine]), func(F + 16, 16, PLAIN[machine][:2], signal=True),
              func(F + 32, 8, outermost, signal=True)])
    case("signal-no-rows", "a signal frame that the assembler could not describe", X86, 3, [func(F, 16, [], signal=True)])


def flexible():
    def flex(name, says, rows, machine=X86, size=64, **how):
        case("flexible-" + name, says, machine, 3, [func(F, size, rows, flex=True, **how), func(F + 128, 16, ONE[machine])])
    flex("cfa-register", "the CFA is in another register", [row(0, "sp+8"), row(5, "r10+0"), row(16, "r20-16", fp="c-16")])
    flex("cfa-memory", "the CFA is read from memory: a realigned stack", [row(0, "sp+8"), row(9, "r10+0", fp="mfp+0"),
                                                                        row(13, "mfp-8", fp="mfp+0"), row(40, "r10+0"), row(44, "sp+8")])
    flex("fp", "a word of 0 in RA's place, then FP: at the CFA, at a register, in a register",
         [row(0, "fp+16", fp="c-16"), row(8, "sp+8", fp="r3+0"), row(16, "sp+8", fp="r3-24"), row(24, "sp+8", fp="m3-24")])
    flex("ra", "RA is elsewhere than the header says, without FP and with it",
         [row(0, "sp+16", "c-16"), row(8, "sp+8", "r11+0"), row(16, "m7+160", "m7+168", "m7+120"), row(24, "sp+8", "m2+0", "c-16"),
          row(32, "sp+8", "c+8")])
    flex("signal", "a signal frame as the kernel makes it", [row(0, "m7+160", "m7+168", "m7+120")], signal=True)
    flex("control-unsigned", "a control word of 128 or more, alone in a byte", [row(0, "r16+8"), row(8, "m31-8", fp="m31+0")])
    flex("wide", "words of 2 and 4 bytes: large offsets, registers above 31", [
        row(0, "r7+32767", fp="c-16"), row(8, "sp+32768"), row(16, "r32+0"), row(24, "m67-8", fp="m130+0"), row(32, "sp+8", size=2)])
    flex("outermost", "a flexible function with a row without words", [row(0, "r10+0"), row(8, "outermost"), row(16, "sp+8")])
    flex("starts", "row starts of 2 bytes", [row(0, "sp+8"), row(40, "r10+0"), row(41, "sp+8")], type=1)
    case("flexible-pcmask", "a flexible function of repeated blocks", X86, 3,
         [func(F, 48, [row(0, "sp+8"), row(8, "r11+16")], flex=True, rep=16)])
    flex("registers", "RA and FP in other registers; offsets of the CFA are scaled as in ordinary rows, as GNU as writes them",
         [row(0, "sp+160"), row(4, "sp+160", "r16+0"), row(8, "sp+160", "r16+0", "r17+0"), row(12, "sp+320", fp="r17+0"),
          row(16, "r9+160", "c-48", "c-72"), row(20, "m15+160", "c-48")], S390)
    flex("aarch64", "nobody writes these yet, and the text allows them", [row(0, "sp+0"), row(4, "r9+16", "c-8", "c-16"),
                                                                          row(8, "sp+16", fp="c-16"), row(12, "sp+0", "r9+0", signed=True)], A64)


def traps():
    for version in (2, 3):
        call = [row(0, "sp+8"), row(1, "sp+16")]
        case("last-call-next", "a call ends the function, and the next one begins at its return address: the call has another row",
             X86, version, [func(F, 16, call), func(F + 16, 16, ONE[X86])], returns=[F + 10, F + 16, F + 20])
        case("last-call-gap", "a call ends the function, and no row is at its return address", X86, version,
             [func(F, 16, call), func(F + 32, 16, ONE[X86])], returns=[F + 16])
        case("last-call-reaches", "the function is one byte longer than its code: a reader that does not go back by one is right, too",
             X86, version, [func(F, 17, call), func(F + 32, 16, ONE[X86])], returns=[F + 16])
        case("call-before-row", "a call that does not return, and behind it a row of the code before", X86, version,
             [func(F, 32, [row(0, "sp+8"), row(1, "sp+16"), row(20, "sp+8")])], returns=[F + 20, F + 21])
    # A Java profiler reads these bits elsewhere: README.md.
    for machine in (X86, A64):
        saved = {"ra": None if machine is X86 else "c-8", "fp": "c-16"}
        plain, base = PLAIN[machine], [row(0, "sp+16", **saved), row(8, "fp+16", **saved), row(12, "sp+8", **saved)]
        early = {"flags": 1}
        case("section-relative", "starts relative to the section (binutils 2.41 to 2.44)", machine, 2,
             [func(F, 32, plain), func(F + 64, 16, ONE[machine])], **early)
        case("section-relative-base", "bit 0 of a row: 1 is SP, 0 is FP", machine, 2, [func(F, 16, base)], **early)
        case("section-relative-starts", "the width of starts is in bits 0 to 3 of the function's info", machine, 2,
             [func(F, 32, plain, 1), func(F + 64, 32, plain, 2), func(F + 128, 32, plain)], **early)
        case("section-relative-words", "the size of words is in bits 5 and 6 of a row, their number in bits 1 to 4", machine, 2,
             [func(F, 24, [this._replace(size=i) for i, this in enumerate(base)])], **early)
    case("section-relative-pcmask", "PCMASK is bit 4 of the function's info, not bit 0", X86, 2,
         [func(F, 48, [row(0, "sp+8"), row(11, "sp+16")], rep=16), func(F + 64, 32, PLAIN[X86], 1)], flags=1)


# Damage.

def damaged(name, says, data, at=(F,), kind="refuse"):
    add("damaged-" + name, says, data, [("pc", pc) for pc in at], kind=kind)


def damaged_headers():
    one = [func(F, 32, PLAIN[X86])]
    good = section(X86, 2, one)
    damaged("nothing", "no bytes", b"")
    damaged("header-cut", "the header is cut off", good[:27])
    for version in (0, 4, 255):
        damaged(f"version-{version}", "no such version", good[:2] + bytes([version]) + good[3:])
    damaged("magic", "another magic number", section(X86, 2, one, magic=0xdee3))
    for abi in (0, 5, 255):
        damaged(f"abi-{abi}", "no such machine", section(X86, 2, one, abi=abi))
    damaged("abi-order", "x86-64 in big-endian order", section(X86._replace(order=">"), 2, one))
    damaged("abi-order-s390x", "s390x in little-endian order", section(S390._replace(order="<"), 2, [func(F, 32, ONE[X86])]))
    damaged("abi-version", "s390x in version 1, which did not have it", section(S390, 1, [func(F, 32, ONE[S390])]))
    damaged("flag-v1", "FUNC_START_PCREL in version 1, which did not have it", section(X86, 1, one, flags=5))
    damaged("flag-v2", "a flag that is not defined", section(X86, 2, one, flags=0x0d))
    damaged("flag-v3", "FRAME_POINTER, which version 3 does not have any more", section(X86, 3, one, flags=7))
    for version in (1, 2, 3):
        cut = section(X86, version, one)
        damaged(f"functions-cut-v{version}", "the functions are cut off", cut[:40])
        damaged(f"rows-cut-v{version}", "the section ends before its rows do", cut[:-1])
    damaged("functions-many", "more functions than there are bytes", section(X86, 2, one, fdes=0xffffffff))
    damaged("functions-wrap", "the functions' bytes are 4 modulo 2^32", section(X86, 2, one, fdes=0x0ccccccd, freoff=20))
    damaged("functions-wrap-v3", "the functions' bytes are 16 modulo 2^32", section(X86, 3, one, fdes=0x10000001))
    damaged("fdeoff", "the functions are outside", section(X86, 2, one, fdeoff=0xfffffff0))
    damaged("freoff", "the rows are outside", section(X86, 2, one, freoff=0x7fffffff))
    damaged("freoff-wrap", "the rows' end wraps around", section(X86, 2, one, freoff=0xfffffff0, fre_len=0x20))
    damaged("fre-len", "the rows are longer than the section", section(X86, 2, one, fre_len=0x1000))
    damaged("auxiliary-header", "the auxiliary header passes the end", good[:7] + b"\xff" + good[8:])


def damaged_functions():
    plain = PLAIN[X86]
    for version in (2, 3):
        def one(name, says, *funcs, at=(F,), kind="refuse", last=None, **how):
            data = section(X86, version, list(funcs), **how)
            data = data if last is None else data[:-2] + bytes([last]) + data[-1:]
            damaged(f"{name}-v{version}", says, data, at, kind)
        one("rows-outside", "the function's rows are outside", func(F, 32, plain, place=0x1000))
        one("rows-far", "the rows' place is the largest number", func(F, 32, plain, place=0xffffffff))
        one("rows-too-many", "the function has more rows than there are bytes", func(F, 256, plain, n=65535), at=(F + 250,), kind="check")
        one("start-type", "the width of row starts is not defined", func(F, 32, plain, info=3))
        one("start-type-15", "the width of row starts is not defined", func(F, 32, plain, info=15))
        one("word-size", "the size of words is not defined", func(F, 32, plain[:1]), last=0x63)
        one("words-cut", "the last row's words pass the end", func(F, 32, [row(0, "sp+8"), row(8, "sp+8")]), at=(F + 8,), last=0x1f)
        one("descending", "the functions descend although a flag says that they ascend", func(F + 64, 16, plain[:1]),
            func(F, 16, plain[:1]), kind="check")
        one("overlap", "two functions overlap", func(F, 32, plain), func(F + 8, 32, plain), at=(F + 12,), kind="check")
        one("rows-descend", "a row begins before the one in front of it", func(F, 32, [plain[0], row(8, "sp+16"), row(4, "sp+24")]),
            at=(F + 5,), kind="check")
        one("rows-equal", "two rows begin at the same address", func(F, 32, [plain[0], row(8, "sp+16"), row(8, "sp+24")]),
            at=(F + 8,), kind="check")
        one("row-behind", "a row begins behind the function's end", func(F, 32, [plain[0], row(40, "sp+16")]), at=(F + 31,), kind="check")
        one("count", "the header counts other rows than the functions have", func(F, 32, plain), fres=5, kind="check")
    damaged("outermost-v1", "a row without words, which version 1 does not have", section(X86, 1, [func(F, 16, [row(0, "outermost")])]))
    for version in (2, 3):
        damaged(f"block-v{version}", "a PCMASK function without a block size",
                section(X86, version, [func(F, 32, plain, info=16)]))
    flex = [("words-1", [57]), ("words-3", [57, 8, 0]), ("words-7", [57, 8, 0, 2, 16, 0, 0]), ("cfa-at-cfa", [2, 8])]
    for name, words in flex:
        damaged("flexible-" + name, "no flexible row has such words",
                section(X86, 3, [func(F, 32, [row(0, "r7+8", words=words)], flex=True)]))
    damaged("type-v3", "a type of function that is not defined", section(X86, 3, [func(F, 32, plain, info2=2)]))


for group in (rows_of_machines, widths, sections, repeated, ends, flexible, traps, damaged_headers, damaged_functions):
    group()
# A line each, so that a change shows which.
print(json.dumps(KIT)[:-2] + "\n" + ",\n".join(map(json.dumps, SECTIONS)) + "\n]}")
