# SPDX-License-Identifier: MIT
"""A second opinion of what `eh2sframe check` says: SP, the frame pointer and the return address, followed through objdump's
text from the start of an FDE. It takes the first way that leads to an instruction, and shares nothing with code/ and gen/."""
import bisect
import re
import struct
import subprocess

# Values: ("cfa", n) is n bytes above the CFA, ("made", pc, n) above an address that an instruction made, ("reg", name) what a
# register held at entry, ("ra",) the return address; None: anything.
MACHINES = {62: "x86_64", 183: "aarch64", 22: "s390x"}
ABI = {
    "x86_64": {"sp": "rsp", "fp": "rbp", "ra": None, "sp_off": -8, "kept": "rbx rbp r12 r13 r14 r15".split(),
               "first": "rax rcx rdx rsi rdi r8 r9 r10 r11"},
    "aarch64": {"sp": "sp", "fp": "x29", "ra": "x30", "sp_off": 0, "kept": [f"x{i}" for i in range(19, 30)],
                "first": " ".join(f"x{i}" for i in range(19))},
    "s390x": {"sp": "r15", "fp": "r11", "ra": "r14", "sp_off": -160, "kept": [f"r{i}" for i in range(6, 14)],
              "first": "r0 r1 r2 r3 r4 r5"},
}
LOW = {**{f"{a}{b}": f"r{a}{b}" for a in "abcd" for b in "x"}, **{f"e{n}": f"r{n}" for n in "ax bx cx dx si di bp sp".split()},
       **{f"{n}l": f"r{n}x" for n in "abcd"}, **{n: f"r{n}" for n in "si di bp sp".split()}, **{f"{n}l": f"r{n}" for n in "si di bp sp".split()}}


class File:
    """An ELF file: its machine, where its FDEs begin, and its instructions."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.path, self.order = path, "<" if self.data[5] == 1 else ">"
        self.machine = MACHINES[struct.unpack_from(self.order + "H", self.data, 18)[0]]
        self.starts = self.read_starts()

    def read_starts(self):
        """{start: (end, at entry)} by .eh_frame_hdr."""
        offset, size, number = (*struct.unpack_from(self.order + "Q", self.data, 32), *struct.unpack_from(self.order + "HH", self.data, 54))
        heads = [struct.unpack_from(self.order + "IIQQQQQQ", self.data, offset + i * size) for i in range(number)]
        self.loads = [h for h in heads if h[0] == 1]
        header = next((h for h in heads if h[0] == 0x6474E550), None)
        if not header or self.data[header[2] + 1:header[2] + 4] != b"\x1b\x03\x3b":
            return {}
        count = struct.unpack_from(self.order + "I", self.data, header[2] + 8)[0]
        pairs = struct.unpack_from(f"{self.order}{2 * count}i", self.data, header[2] + 12)
        return dict(self.fde(header[3] + pairs[i], header[3] + pairs[i + 1]) for i in range(0, 2 * count, 2))

    def fde(self, start, at):
        where = next(at - h[3] + h[2] for h in self.loads if h[3] <= at < h[3] + h[5])
        length = struct.unpack_from(self.order + "I", self.data, where)[0]
        size = struct.unpack_from(self.order + "I", self.data, where + 12)[0]
        first = where + 17 + self.data[where + 16]
        # An instruction that is in force at the first byte: a part of another function.
        return start, (start + size, first >= where + 4 + length or self.data[first] not in (0x0C, 0x0D, 0x0E, 0x0A))

    def function(self, pc):
        starts = sorted(self.starts)
        i = bisect.bisect_right(starts, pc)
        return (starts[i - 1], *self.starts[starts[i - 1]]) if i and pc < self.starts[starts[i - 1]][0] else None

    def instructions(self, start, end):
        """{pc: (text, next pc)}"""
        tool = ("" if self.machine == "x86_64" else self.machine + "-linux-gnu-") + "objdump"
        text = subprocess.run([tool, "-d", "--no-show-raw-insn", f"--start-address={start:#x}", f"--stop-address={end:#x}", self.path],
                              capture_output=True, text=True, check=True).stdout
        found = [(int(pc, 16), re.sub(r"\s+(# |//).*", "", what).strip()) for pc, what in re.findall(r"^ *([0-9a-f]+):\t(.*)$", text, re.M)]
        return {pc: (what, found[i + 1][0] if i + 1 < len(found) else end) for i, (pc, what) in enumerate(found)}


def plus(value, n):
    if value and value[0] == "reg" and n:
        return "made", value[1], n
    return (*value[:-1], value[-1] + n) if value and value[0] in ("cfa", "made", "const", "other") else value if n == 0 else None


class State:
    def __init__(self, machine, regs, slots, last=()):
        self.machine, self.abi, self.regs, self.slots, self.last = machine, ABI[machine], regs, slots, last

    def copy(self):
        return State(self.machine, dict(self.regs), dict(self.slots), self.last)

    def load(self, address):
        if not address or address[0] not in ("cfa", "made", "other"):
            return None
        # Memory that is not the function's own does not hold what the function has saved.
        own = address[0] == "cfa" or (address[0] == "made" and isinstance(address[1], int))
        return self.slots.get(address) if own else ("other", str(address), 0)

    def write(self, name, pc, what):
        """An instruction that is not modelled. From a vector it can be a value that was saved there."""
        unclear = name == self.abi["sp"] or re.match(r"v?mov[qd]|v?pextr|fmov|umov|vlg", what)
        self.regs[name] = None if unclear else ("other", pc, 0)

    def store(self, address, value, width=8):
        if address and address[0] in ("cfa", "made"):
            for n in range(-7, width):
                if plus(address, n) in self.slots:
                    self.slots[plus(address, n)] = None
            self.slots[address] = value


def entry(machine):
    abi = ABI[machine]
    regs = {name: ("reg", name) for name in [*abi["kept"], *abi["first"].split()]}
    regs[abi["sp"]] = ("cfa", abi["sp_off"])
    slots = {}
    if abi["ra"]:
        regs[abi["ra"]] = ("ra",)
    else:
        slots["cfa", -8] = ("ra",)
    return State(machine, regs, slots)


def number(text):
    return int(text.lstrip("$#"), 0)


def split(text):
    """The operands, without commas in brackets."""
    return [part.strip() for part in re.split(r",(?![^(\[]*[)\]])", text)] if text else []


def step_x86(state, pc, name, ops):
    regs, sp = state.regs, "rsp"
    reg = lambda op: op[1:] if op.startswith("%") else None

    def address(op):
        match = re.fullmatch(r"(-?0x[0-9a-f]+)?\(%(\w+)\)", op)
        return plus(regs.get(match[2]), int(match[1] or "0", 16)) if match else None

    if name.startswith(("pushf", "popf")):
        regs[sp] = plus(regs[sp], -8 if name.startswith("pushf") else 8)
        if name.startswith("pushf"):
            state.store(regs[sp], None)
    elif name.startswith(("push", "pop")) and ops:
        if name.startswith("push"):
            value = regs.get(reg(ops[0])) if reg(ops[0]) else state.load(address(ops[0]))
            regs[sp] = plus(regs[sp], -8)
            state.store(regs[sp], value)
        else:
            value = state.load(regs[sp])
            regs[sp] = plus(regs[sp], 8)
            if reg(ops[0]):
                regs[reg(ops[0])] = value
            else:
                state.store(address(ops[0]), value)
    elif name in ("add", "sub") and ops[0].startswith("$") and ops[1].startswith("%r"):
        regs[reg(ops[1])] = plus(regs.get(reg(ops[1])), number(ops[0]) * (1 if name == "add" else -1))
    elif name == "lea" and ops[1].startswith("%r"):
        regs[reg(ops[1])] = address(ops[0])
    elif name == "xor" and ops[0] == ops[1]:
        regs["r" + ops[0][-2:] if ops[0][1] == "e" else ops[0][1:]] = ("const", 0)
    elif name == "mov" and ops[0].startswith("$") and reg(ops[1]):
        regs[LOW.get(ops[1][1:], re.sub(r"^(r\d+)d$", r"\1", ops[1][1:]))] = ("const", number(ops[0]))
    elif name == "mov" and reg(ops[1]) and ops[1].startswith("%r"):
        regs[reg(ops[1])] = regs.get(reg(ops[0])) if reg(ops[0]) else state.load(address(ops[0]))
    elif name == "mov" and reg(ops[0]):
        state.store(address(ops[1]), regs.get(reg(ops[0])) if ops[0].startswith("%r") else None)
    elif name == "leave":
        regs["rbp"], regs[sp] = state.load(regs["rbp"]), plus(regs["rbp"], 8)
    elif name == "and" and ops[1] == "%rsp":
        regs[sp] = ("made", pc, 0)
    elif name == "cpuid":
        regs["rbx"] = None
    elif ops and not name.startswith(("cmp", "test", "nop", "j", "call", "prefetch", "bt ", "endbr")):
        for op in ops[-2:] if name in ("xchg", "xadd", "mulx") else ops[-1:]:
            if reg(op):
                whole = re.sub(r"^(r\d+)[dwb]$", r"\1", op[1:])
                state.write(LOW.get(whole, whole), pc, name)
            else:
                state.store(address(op), None, next((n for word, n in (("%z", 64), ("%y", 32), ("%x", 16)) if word in str(ops)), 8))


def step_aarch64(state, pc, name, ops):
    regs = state.regs
    if name in ("stp", "ldp", "str", "ldr", "stur", "ldur"):
        names = ops[:2] if name.endswith("p") else ops[:1]
        place = ops[len(names)]
        match = re.fullmatch(r"\[(\w+)(?:, #(-?\w+))?\](!?)", place)
        base = match and match[1]
        before = plus(regs.get(base), number(match[2] or "0")) if match else None
        width = 16 if names[0][0] == "q" else 4 if names[0][0] in "ws" else 8
        if match and match[3]:
            regs[base] = before
        for i, one in enumerate(names):
            where = plus(before, i * width)
            if name.startswith("st"):
                state.store(where, regs.get(one) if one[0] == "x" else None, width)
            elif one[0] in "xw":
                regs["x" + one[1:]] = state.load(where) if one[0] == "x" else None
        if match and len(ops) > len(names) + 1:
            regs[base] = plus(before, number(ops[-1]))
    elif name in ("add", "sub") and len(ops) >= 3 and ops[2].startswith("#") and (ops[0] == "sp" or ops[0][0] == "x"):
        n = number(ops[2]) << (number(ops[3].split()[1]) if len(ops) > 3 else 0)
        regs[ops[0]] = plus(regs.get(ops[1]), n if name == "add" else -n)
    elif name in ("add", "sub") and len(ops) == 3 and (regs.get(ops[2]) or ("",))[0] == "const":
        regs[ops[0]] = plus(regs.get(ops[1]), regs[ops[2]][1] * (1 if name == "add" else -1))
    elif name == "mov" and ops[0][0] == "x" and ops[1].startswith("#"):
        regs[ops[0]] = ("const", number(ops[1]))
    elif name == "mov":
        regs[ops[0].replace("w", "x")] = regs.get(ops[1]) if ops[0][0] in "xs" else None
    elif name in ("paciasp", "autiasp", "pacibsp", "autibsp"):
        value = regs.get("x30")
        regs["x30"] = {("ra",): ("signed",), ("signed",): ("ra",)}.get(value)
    elif ops and re.match(r"(x|w|sp)", ops[0]) and not name.startswith(("st", "cmp", "cmn", "tst", "cb", "tb", "ccmp")):
        state.write(ops[0].replace("w", "x", 1), pc, name)


def step_s390x(state, pc, name, ops):
    regs = state.regs
    reg = lambda op: op[1:]

    def address(op):
        match = re.fullmatch(r"(-?\d+)\((%r\d+)\)", op)
        return plus(regs.get(match[2][1:]), int(match[1])) if match else None

    if name in ("stmg", "lmg"):
        first, last, where = int(ops[0][2:]), int(ops[1][2:]), address(ops[2])
        for i in range(first, (last if last >= first else last + 16) + 1):
            if name == "stmg":
                state.store(plus(where, 8 * (i - first)), regs.get(f"r{i % 16}"))
            else:
                regs[f"r{i % 16}"] = state.load(plus(where, 8 * (i - first)))
    elif name in ("stg", "lg"):
        if name == "stg":
            state.store(address(ops[1]), regs.get(reg(ops[0])))
        else:
            regs[reg(ops[0])] = state.load(address(ops[1]))
    elif name in ("aghi", "agfi"):
        regs[reg(ops[0])] = plus(regs.get(reg(ops[0])), int(ops[1]))
    elif name in ("la", "lay"):
        regs[reg(ops[0])] = address(ops[1])
    elif name in ("lgr", "ldgr", "lgdr"):
        regs[reg(ops[0])] = regs.get(reg(ops[1]))
    elif ops and ops[0].startswith("%") and not name.startswith(("st", "c", "j", "br")):
        state.write(reg(ops[0]), pc, name)


STEP = {"x86_64": step_x86, "aarch64": step_aarch64, "s390x": step_s390x}
CALLS = {"x86_64": r"call", "aarch64": r"blr?$", "s390x": r"(brasl|basr|bras)$"}
ENDS = {"x86_64": r"(bnd )?(ret|ud2|hlt|jmp)", "aarch64": r"(ret|br|b|udf|brk)$", "s390x": r"(br|j|jg)$"}
JUMPS = {"x86_64": r"(bnd )?j", "aarch64": r"(b$|b\.|cb|tb)", "s390x": r"(j|cgr?j|cl?g?r?i?j|brc|brct)"}


def step(state, pc, text):
    name, rest = text.expandtabs(1).partition(" ")[::2]
    before = {name: state.regs.get(name) for name in (state.abi["sp"], state.abi["fp"], state.abi["ra"])}
    if re.match(CALLS[state.machine], name):
        for one in list(state.regs):
            if one not in state.abi["kept"] and one != state.abi["sp"]:
                state.regs[one] = ("other", pc, 0)
        sp = state.regs[state.abi["sp"]]
        # The callee writes below SP.
        state.slots = {k: v if not sp or k[:-1] != sp[:-1] or k[-1] >= sp[-1] else ("other", pc, 0) for k, v in state.slots.items()}
    else:
        STEP[state.machine](state, pc, name, split(rest.strip()))
    if any(state.regs.get(name) != value for name, value in before.items()):
        state.last = (*state.last[-2:], f"{pc:x}: {' '.join(text.split())}")


def states(machine, code, start):
    """{pc: the state before it}, by the first way; ways that do not follow a call come first."""
    found, first, later = {}, [(start, entry(machine))], []
    while first or later:
        pc, state = first.pop() if first else later.pop(0)
        while pc in code and pc not in found:
            found[pc] = state.copy()
            text, following = code[pc]
            name = text.split()[0] if not text.startswith("bnd ") else "bnd " + text.split()[1]
            step(state, pc, text)
            target = re.search(r"[\s,]([0-9a-f]+) <", text)
            if re.match(JUMPS[machine], name) and target:
                first.append((int(target[1], 16), state.copy()))
            if re.match(ENDS[machine], name):
                break
            pc = following
            if re.match(CALLS[machine], name):
                later.append((pc, state))
                break
    return found


def rule_value(state, text):
    """The value of a rule as eh2sframe prints it; False: it is not understood."""
    match = re.fullmatch(r"(\*\()?(\w+)(?: ([+-]) (\d+))?\)?(?: ([+-]) (\d+))?", text)
    if not match:
        return False
    base = ("cfa", 0) if match[2] == "CFA" else state.regs.get(match[2], None)
    value = plus(base, int((match[3] or "+") + (match[4] or "0")))
    if match[1]:
        value = plus(state.load(value), int((match[5] or "+") + (match[6] or "0")))
    return value


def opinion(file, pc, what):
    """("true", "false" or "cannot tell", the instructions that decide it) of a contradiction."""
    function = file.function(pc)
    if not function:
        return "cannot tell", "no FDE"
    start, end, at_entry = function
    code = file.instructions(start, end)
    state = states(file.machine, code, start).get(pc)
    here = f"{pc:x}: {' '.join(code[pc][0].split())}" if pc in code else ""
    if not state or not at_entry:
        return "cannot tell", here
    shown = "; ".join((*state.last[-3:], here))
    match = re.match(r"(CFA|return address|frame pointer) (?:= (.*?)|(unchanged)) is ", what)
    abi = ABI[file.machine]
    own = {"CFA": abi["sp"], "return address": abi["ra"], "frame pointer": abi["fp"]}[match[1]]
    wanted = {"CFA": ("cfa", 0), "return address": ("ra",), "frame pointer": ("reg", abi["fp"])}[match[1]]
    if match[3] and own is None:
        found = state.load(("cfa", -8))
    else:
        found = state.regs.get(own) if match[3] else rule_value(state, match[2])
    if found == wanted:
        return "false", shown
    if not found and own and state.regs.get(own) == wanted and match[2] and match[2].startswith("*("):
        # The register has the value, and the rule reads what it points to, or what has not been written yet.
        base = re.match(r"\*\((\w+)(?: - (\d+))?\)", match[2])
        unwritten = base and base[1] == "CFA" and ("cfa", -int(base[2] or "0")) not in state.slots
        if unwritten or (base and base[1] == own):
            return "true", shown
    if not found:
        # Another place of the value shows that this one is wrong.
        elsewhere = match[1] == "CFA" and state.regs[abi["sp"]] and state.regs[abi["sp"]][0] == "cfa" and found is None
        return ("true" if elsewhere and state.regs.get(match[2].split()[0], 0) is None else "cannot tell"), shown
    return "true", shown
