# SPDX-License-Identifier: MIT
"""What rows are worth, by objdump's text.

Each register holds a symbol and an offset. "cfa", "fp" and "ra" are what the function began with, and an instruction that is
not understood gives a new one. Words of memory at such an address hold the same. Where two ways meet with different
values, a new symbol stands for both. Two rows that name other registers or places are equal where their values are. The calls
of a function keep what the psABI says. Only places in question are followed: a way that comes there from another place brings
what the CFI's row says of that one. Code that no way leads to (landing pads, tables of jumps) starts with what all calls and
jumps to registers agree on.
"""
import heapq
import re
import shutil
import subprocess
from bisect import bisect_left

OBJDUMP = {62: "objdump", 183: "aarch64-linux-gnu-objdump", 22: "s390x-linux-gnu-objdump"}

TARGET = re.compile(r"(?:^|[ ,])(?:0x)?([0-9a-f]+)(?: <|$)")
PREFIXES = {"notrack", "bnd", "lock", "rep", "repz", "repnz", "data16", "cs", "ds", "es", "fs", "gs", "addr32", "rex.W"}

# ---- x86-64 ----
LOW = ["ax", "dx", "cx", "bx", "si", "di", "bp", "sp"]
X86 = {f"r{name}": i for i, name in enumerate(LOW)} | {f"e{name}": i for i, name in enumerate(LOW)}
X86 |= {name: i for i, name in enumerate(LOW)} | {name[0] + half: i for i, name in enumerate(LOW[:4]) for half in "lh"}
X86 |= {name + "l": i + 4 for i, name in enumerate(LOW[4:])}
X86 |= {f"r{i}{size}": i for i in range(8, 16) for size in ("", "d", "w", "b")}
WIDE = {f"r{name}" for name in LOW} | {f"r{i}" for i in range(8, 16)}
X86_MEMORY = re.compile(r"(?:%[cdefgs]s:)?(-?0x[0-9a-f]+|)\((?:%(\w+))?(,.*)?\)$")
X86_WIDTH = {"xmm": 16, "ymm": 32, "zmm": 64}
X86_READS = re.compile(r"cmp|test|bt[lqw]?$|nop|u?comis|v?u?comis|prefetch|endbr|lock$|data16|cs$")
SUFFIX = {"b": 1, "w": 2, "l": 4, "q": 8}


def x86_split(text):
    """Operands: commas in brackets do not count."""
    return [part.strip() for part in re.split(r",(?![^(]*\))", text.split("#")[0].split("<")[0]) if part.strip()]


def x86_reg(text):
    return X86.get(text[1:]) if text.startswith("%") else None


def x86_memory(text):
    """(base, offset) of a place without an index, else None."""
    match = X86_MEMORY.match(text)
    if not match or match[3] or match[2] not in WIDE:
        return None
    return X86[match[2]], int(match[1] or "0", 16)


def x86_wide(text):
    return text.startswith("%") and text[1:] in WIDE


def x86_stores(name, operands):
    """An instruction that is not a plain one writes to its last operand, or to all that are registers."""
    place = x86_memory(operands[-1]) if operands and "(" in operands[-1] else None
    effects = [("kill", x86_reg(one)) for one in operands if x86_reg(one) is not None]
    if place:
        widths = [X86_WIDTH[one[1:4]] for one in operands if one[1:4] in X86_WIDTH]
        effects = [("store", None, *place, max(widths) if widths else SUFFIX.get(name[-1], 8))]
    return effects


def x86_move(name, operands):
    source, target = operands
    if x86_wide(source) and x86_wide(target):
        return [("set", x86_reg(target), x86_reg(source), 0)]
    if x86_wide(target) and x86_memory(source):
        return [("load", x86_reg(target), *x86_memory(source))]
    if x86_wide(source) and x86_memory(target):
        return [("store", x86_reg(source), *x86_memory(target), 8)]
    if x86_memory(target):
        width = {"e": 4}.get(source[1:2], SUFFIX.get(name[-1], 8)) if source.startswith("%") else SUFFIX.get(name[-1], 8)
        return [("store", None, *x86_memory(target), width)]
    return [("kill", x86_reg(target))] if x86_reg(target) is not None else []


def x86_effects(name, text):
    """(effects, control)."""
    operands = x86_split(text)
    last = operands[-1] if operands else ""
    if name in ("push", "pushq", "pushf", "pushfq"):
        source = x86_reg(last) if x86_wide(last) else None
        return [("set", 7, 7, -8), ("store", source, 7, 0, 8)], None
    if name in ("pop", "popq", "popf", "popfq"):
        load = [("load", x86_reg(last), 7, 0)] if x86_wide(last) else []
        return [*load, ("set", 7, 7, 8)] if last != "%rsp" else [("kill", 7)], None
    if name in ("leave", "leaveq"):
        return [("set", 7, 6, 0), ("load", 6, 7, 0), ("set", 7, 7, 8)], None
    if name in ("mov", "movq", "movabs", "movl", "movw", "movb") and len(operands) == 2:
        return x86_move(name, operands), None
    if name == "lea" and x86_wide(last) and x86_memory(operands[0]):
        base, off = x86_memory(operands[0])
        return [("set", x86_reg(last), base, off)], None
    if name in ("add", "sub") and operands[0].startswith("$") and x86_wide(last):
        number = int(operands[0][1:], 16)
        number -= number >> 63 << 64
        return [("set", x86_reg(last), x86_reg(last), number if name == "add" else -number)], None
    if name.startswith("call"):
        return [], "call"
    if re.match(r"(bnd |notrack )?ret", name):
        return [], "ends"
    if name.startswith("j") or name in ("loop", "loope", "loopne"):
        return [], "indirect" if "*" in text else "jump" if name.startswith("jmp") else "branch"
    if name in ("ud2", "hlt", "int3", "(bad)"):
        return [], "ends"
    if name in ("cpuid", "cmpxchg8b", "cmpxchg16b", "mul", "imul", "div", "idiv", "cqto", "cltd", "rdtsc", "cmpxchg"):
        return [*x86_stores(name, operands), *(("kill", i) for i in (0, 1, 2, 3))], None
    if name.startswith(("rep", "movs", "stos")) and "%es:" in text:
        return [("kill", i) for i in (0, 2, 4, 5)], None
    return ([] if X86_READS.match(name) else x86_stores(name, operands)), None


# ---- AArch64 ----
A64_PLACE = re.compile(r"\[(x\d+|sp)(?:, #(-?\d+))?\](!)?(?:, #(-?\d+))?$")


def a64_reg(text):
    """The number of a general register, 31 is SP; others are None."""
    match = re.fullmatch(r"[xw](\d+)", text)
    return 31 if text in ("sp", "wsp") else int(match[1]) if match else None


def a64_access(name, operands, text):
    """ldp, ldr, stp, str and their kin."""
    match = A64_PLACE.search(text.split("//")[0].strip())
    regs = [one for one in operands[:2] if a64_reg(one) is not None or re.fullmatch(r"[bhsdqv]\d+|[xw]zr", one)]
    regs = regs if name[2] == "p" or name in ("stnp", "ldnp", "ldpsw") else regs[:1]
    loads = name.startswith("ld")
    if not match:
        return [("kill", a64_reg(one)) for one in regs if loads and a64_reg(one) is not None]
    base, off, effects = a64_reg(match[1]), int(match[2] or 0), []
    if match[3]:
        effects, off = [("set", base, base, off)], 0
    width = {"x": 8, "d": 8, "q": 16, "w": 4, "s": 4}.get(regs[0][0], 2) if regs else 8
    whole = name in ("ldp", "ldr", "ldur", "stp", "str", "stur")
    for i, one in enumerate(regs):
        reg, place = a64_reg(one), off + i * width
        if loads and reg is not None:
            effects.append(("load", reg, base, place) if whole and one[0] == "x" else ("kill", reg))
        elif not loads:
            effects.append(("store", reg if whole and one[0] == "x" else None, base, place, width))
    if match[4]:
        effects.append(("set", base, base, int(match[4])))
    return effects


def a64_effects(name, text):
    operands = [one.strip() for one in text.split("//")[0].split(",")]
    first = a64_reg(operands[0]) if operands else None
    if name in ("bl", "blr", "blraaz", "blraa"):
        return [("kill", 30)], "call"
    if name in ("ret", "retaa", "retab", "eret", "udf", "brk"):
        return [], "ends"
    if name.startswith("br"):
        return [], "indirect"
    if name == "b":
        return [], "jump"
    if name.startswith(("b.", "bc.", "cbz", "cbnz", "tbz", "tbnz")):
        return [], "branch"
    if re.match(r"(ld|st)(p|r|np|ur|psw|rb|rh|rs)", name) and not name.startswith(("stx", "stlx")):
        return a64_access(name, operands, text), None
    if name == "mov" and first is not None and operands[0][0] != "w" and a64_reg(operands[1]) is not None and operands[1][0] != "w":
        return [("set", first, a64_reg(operands[1]), 0)], None
    if name in ("add", "sub") and first is not None and operands[0][0] != "w" and operands[2].startswith("#"):
        number = int(operands[2][1:], 16 if "0x" in operands[2] else 10)
        number <<= 12 if len(operands) > 3 else 0
        return [("set", first, a64_reg(operands[1]), number if name == "add" else -number)], None
    if name.startswith(("cmp", "cmn", "tst", "ccm", "nop", "st", "prfm", "dmb", "hint", "bti", "paci", "auti", "xpac")):
        return [], None
    return [("kill", a64_reg(one)) for one in operands[:1] if a64_reg(one) is not None], None


# ---- s390x: r0 to r15 are 0 to 15, f0 to f15 are 100 to 115 ----
S390X_PLACE = re.compile(r"(-?\d+)\((?:(%r\d+),)?%r(\d+)\)$")
S390X_FLOAT = ["r0", "r2", "r4", "r6", "r1", "r3", "r5", "r7", "r8", "r10", "r12", "r14", "r9", "r11", "r13", "r15"]


def s390x_reg(text):
    match = re.fullmatch(r"%([rf])(\d+)", text)
    if match and match[1] == "f":
        return 16 + S390X_FLOAT.index("r" + match[2])
    return int(match[2]) if match else None


def s390x_place(text):
    match = S390X_PLACE.search(text)
    return (int(match[3]), int(match[1])) if match and not match[2] else None


def s390x_many(name, operands, place):
    first, last = s390x_reg(operands[0]), s390x_reg(operands[1])
    regs = [(first + i) % 16 for i in range((last - first) % 16 + 1)]
    if name == "stmg":
        return [("store", reg, place[0], place[1] + 8 * i, 8) for i, reg in enumerate(regs)]
    # Its base can be one of them.
    return [("load", reg, place[0], place[1] + 8 * i) for i, reg in enumerate(regs) if reg != place[0]] + \
           [("load", reg, place[0], place[1] + 8 * i) for i, reg in enumerate(regs) if reg == place[0]]


def s390x_effects(name, text):
    operands = [one.strip() for one in re.split(r",(?![^(]*\))", text.split("<")[0])]
    regs, place = [s390x_reg(one) for one in operands], s390x_place(operands[-1])
    if name in ("brasl", "basr", "bras", "basr"):
        return [("kill", regs[0])], "call"
    if name == "br":
        return [], "ends" if operands[0] == "%r14" else "indirect"
    if re.match(r"b[a-z]*r$", name) and name not in ("bassm", "bsmr"):
        return [], None
    if name in ("j", "jg"):
        return [], "jump"
    if re.match(r"j|c[gl]*[ir]*j|brct|brx", name):
        return [("kill", regs[0])] if name.startswith("br") and regs[0] is not None else [], "branch"
    if name in ("stmg", "lmg") and place:
        return s390x_many(name, operands, place), None
    if name in ("stg", "std", "stdy") and place:
        return [("store", regs[0], *place, 8)], None
    if name in ("lg", "ld", "ldy") and place:
        return [("load", regs[0], *place)], None
    if name in ("lgr", "ldgr", "lgdr", "ldr"):
        return [("set", regs[0], regs[1], 0)], None
    if name in ("la", "lay") and place:
        return [("set", regs[0], *place)], None
    if name in ("aghi", "agfi"):
        return [("set", regs[0], regs[0], int(operands[1]))], None
    if name == "aghik":
        return [("set", regs[0], regs[1], int(operands[2]))], None
    if name.startswith(("c", "st", "mv", "ni", "oi", "xi", "tm", "lt", "clc", "xc", "nc", "oc", "nop", "pfd")) and name not in ("cgfr",):
        if name in ("mvc", "xc", "mvghi", "mvhi", "mvi", "st", "sty", "stc", "sth", "sthy", "stcy", "ste", "stfh"):
            match = re.match(r"(-?\d+)\((?:(\d+),)?%r(\d+)\)", operands[0] if name in ("mvc", "xc") or name.startswith("mv") else operands[-1])
            return [("store", None, int(match[3]), int(match[1]), int(match[2] or 8))] if match else [], None
        return [("kill", regs[0])] if name.startswith("lt") and regs[0] is not None else [], None
    return [("kill", one) for reg in regs[:1] if reg is not None for one in (reg, reg + 1)], None


EFFECTS = {62: x86_effects, 183: a64_effects, 22: s390x_effects}
STOPS = ("jump", "indirect", "ends")
# What a call leaves; what holds the return address.
KEPT = {62: {3, 6, 7, *range(12, 16)}, 183: {*range(19, 30), 31}, 22: {*range(6, 14), 15, *range(24, 32)}}
STACK, FRAME, RETURN = {62: 7, 183: 31, 22: 15}, {62: 6, 183: 29, 22: 11}, {62: None, 183: 30, 22: 14}


class State:
    """Registers and words of memory, each with a value (symbol, offset)."""

    def __init__(self, regs, slots):
        self.regs, self.slots = regs, slots

    def copy(self):
        return State(dict(self.regs), dict(self.slots))

    def at(self, value):
        return self.slots.get(value)


def of_row(row, pc, machine, entry=False):
    """The state at pc as far as a row tells. Where a function is entered each register has a value of its own."""
    state = State({reg: (f"r{reg}" if entry and row[1] in ("u", "s") else (pc, reg), 0) for reg in range(33)}, {})
    cfa = re.fullmatch(r"r(\d+)([+-]\d+)", row[0] or "")
    if cfa:
        state.regs[int(cfa[1])] = ("cfa", -int(cfa[2]))
    for name, rule, reg in (("fp", row[1], FRAME[machine]), ("ra", row[2], RETURN[machine])):
        match = re.fullmatch(r"([cr])(\d*)([+-]\d+)(?:\[s\])?", rule or "")
        if rule in ("u", "u[s]", "s") and reg is not None:
            state.regs[reg] = (name, 0)
        elif match and match[1] == "c":
            state.slots["cfa", int(match[3])] = (name, 0)
        elif match:
            state.regs[int(match[2])] = (name, -int(match[3]))
    return state


def step(state, effects, call, machine, pc):
    """Changes the state to that behind the instruction at pc. Its new symbols are the same each time."""
    for i, (kind, *rest) in enumerate(effects):
        if kind == "kill":
            state.regs[rest[0]] = ((pc, i), 0)
        elif kind == "set":
            target, source, off = rest
            symbol, number = state.regs[source]
            state.regs[target] = (symbol, number + off)
        elif kind == "load":
            target, base, off = rest
            symbol, number = state.regs[base]
            state.regs[target] = state.at((symbol, number + off)) or ((pc, i), 0)
        else:
            source, base, off, width = rest
            symbol, number = state.regs[base]
            for near in range(number + off - 7, number + off + width):
                state.slots.pop((symbol, near), None)
            if source is not None:
                state.slots[symbol, number + off] = state.regs[source]
    if call:
        for reg in state.regs:
            if reg not in KEPT[machine]:
                state.regs[reg] = ((pc, "call", reg), 0)


def join(mine, other, pc):
    """Keeps in mine what both say. True: it changed."""
    changed = False
    if mine.regs == other.regs and mine.slots == other.slots:
        return False
    for reg in mine.regs:
        value = mine.regs[reg]
        if value != other.regs[reg] and value[0] != (pc, "join", reg):
            mine.regs[reg] = ((pc, "join", reg), 0)
            changed = True
    for place in [place for place, value in mine.slots.items() if other.slots.get(place) != value]:
        del mine.slots[place]
        changed = True
    return changed


class Function:
    """The instructions of [start, end), and the state before each that is in question."""

    def __init__(self, start, end, machine):
        self.start, self.end, self.machine = start, end, machine
        self.texts, self.insns = {}, {}

    def insn(self, pc):
        """(effects, control, target)."""
        if pc not in self.insns:
            name, text = self.texts[pc]
            while name in PREFIXES and text:
                head, _, rest = text.partition(" ")
                name, text = ("rep " + head if name.startswith("rep") and head.startswith(("stos", "movs")) else head), rest.strip()
            effects, control = EFFECTS[self.machine](name, text)
            match = TARGET.search(text) if control in ("jump", "branch") else None
            self.insns[pc] = effects, control, int(match[1], 16) if match else None
        return self.insns[pc]

    def behind(self, pc, row_at=None):
        """The state after the instruction at pc; by the CFI's row if it is not in question."""
        effects, control, _ = self.insn(pc)
        state = self.states[pc].copy() if pc in self.states else of_row(row_at(pc), pc, self.machine, pc == self.start)
        step(state, effects, control == "call", self.machine, pc)
        return state

    def follow(self, pc, state):
        """Brings a state to a place, and what comes of it to all places in question."""
        work = []

        def arrive(pc, state):
            if pc not in self.states:
                self.states[pc] = state.copy()
            elif not join(self.states[pc], state, pc):
                return
            heapq.heappush(work, pc)

        arrive(pc, state)
        while work:
            pc = heapq.heappop(work)
            state, (_, control, target) = self.behind(pc), self.insn(pc)
            for to in (target, None if control in STOPS else self.next.get(pc)):
                if to in self.sources:
                    arrive(to, state)

    def find_sources(self, order):
        """Finds what leads to the places in question."""
        self.next, before = dict(zip(order, order[1:])), dict(zip(order[1:], order))
        for to, sources in self.sources.items():
            pc = before.get(to)
            # Nothing may run what is only padding.
            while pc in before and "nop" in self.texts[pc][0]:
                pc = before[pc]
            if pc is not None and self.insn(pc)[1] not in STOPS:
                sources.append(before[to])
        for pc, (_, text) in self.texts.items():
            # A target's name is in angle brackets, and that of data behind a number sign.
            if "<" in text and "# " not in text and self.insn(pc)[2] in self.sources:
                self.sources[self.insn(pc)[2]].append(pc)

    def agree(self, row_at):
        """What all calls and jumps to registers agree on: those in question if there are any."""
        exits = sorted(self.exits & self.states.keys())
        if not exits and not self.agreed:
            exits = sorted(self.exits - self.sources.keys())
        self.exits.difference_update(exits)
        for pc in exits:
            state = self.behind(pc, row_at)
            if self.agreed:
                join(self.agreed, state, "agreed")
            self.agreed = self.agreed or state
        return self.agreed

    def run(self, stretches, row_at):
        """Follows the code of stretches, [(start, end)]. row_at: the row of another place."""
        order, self.states, self.sources, self.agreed = list(self.texts), {}, {}, None
        for start, end in stretches:
            self.sources.update((pc, []) for pc in order[bisect_left(order, start):bisect_left(order, end)])
        self.find_sources(order)
        for pc, sources in self.sources.items():
            for source in sources:
                if source not in self.sources:
                    self.follow(pc, self.behind(source, row_at))
        left = [pc for pc in self.sources if pc not in self.states]
        self.exits = {pc for pc in self.texts if left and self.insn(pc)[1] in ("call", "indirect")}
        for pc in left:
            if pc not in self.states and self.agree(row_at):
                self.follow(pc, self.agreed)


def evaluate(state, cfa, fp, ra, machine):
    """The values of the CFA, the caller's frame pointer and the return address; None is one that is not known. What an expression
    gives is taken to be right."""
    saved, match = None if cfa else ("cfa", 0), re.fullmatch(r"r(\d+)([+-]\d+)", cfa or "")
    if match:
        symbol, off = state.regs[int(match[1])]
        saved = (symbol, off + int(match[2]))
    elif match := re.fullmatch(r"\((sp|fp|r\d+)([+-]\d+)\)([+-]\d+)?", cfa or ""):
        reg = {"sp": STACK[machine], "fp": FRAME[machine]}.get(match[1]) or int(match[1][1:])
        symbol, off = state.regs[reg]
        saved = state.at((symbol, off + int(match[2])))
        saved = saved and (saved[0], saved[1] + int(match[3] or 0))
    return (saved, place_value(state, saved, fp, FRAME[machine], machine) if fp else ("fp", 0),
            place_value(state, saved, ra, RETURN[machine], machine) if ra else ("ra", 0))


def place_value(state, cfa, rule, reg, machine):
    """The value that a rule gives, or None."""
    rule = rule and rule.removesuffix("[s]")
    if rule in ("u", "U", "s", None):
        return None if rule is None or reg is None else state.regs[reg]
    if match := re.fullmatch(r"c([+-]\d+)", rule):
        return cfa and state.at((cfa[0], cfa[1] + int(match[1])))
    if match := re.fullmatch(r"r(\d+)([+-]\d+)", rule):
        symbol, off = state.regs[int(match[1])]
        return symbol, off + int(match[2])
    if match := re.fullmatch(r"\((sp|fp|r\d+)([+-]\d+)\)", rule):
        base = {"sp": STACK[machine], "fp": FRAME[machine]}.get(match[1]) or int(match[1][1:])
        symbol, off = state.regs[base]
        return state.at((symbol, off + int(match[2])))
    return None


def functions(path, machine, wanted):
    """Yields a Function for each [start, end) of wanted, which ascend and do not overlap. None without objdump."""
    command = [OBJDUMP[machine], "-d", "--no-show-raw-insn", "-w", path]
    at, function = 0, None
    if not wanted or not shutil.which(command[0]):
        return
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as run:
        for line in run.stdout:
            head, _, insn = line.partition(":\t")
            if not insn:
                continue
            pc = int(head, 16)
            if function and pc >= function.end:
                yield function
                function = None
            while at < len(wanted) and wanted[at][1] <= pc:
                at += 1
            if not function and at < len(wanted) and wanted[at][0] <= pc:
                function = Function(*wanted[at], machine)
            if function:
                name, *text = insn.split(None, 1)
                function.texts[pc] = name, text[0].strip() if text else ""
        if function:
            yield function
