#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What kernels are made of: modules by ld -r with .modinfo, .init.text, .exit.text and other sections
of code, stripped to what a module keeps, signed; Debian's own; and kernels where kernels are. TAP.

    object_kernel.py EH2SFRAME SOURCE-FOLDER
"""
import glob
import os
import re
import shutil
import struct
import sys
import tempfile

from binutils import merged
from sframe_text import Section
from tap import check, must, plan, run, skip

tool, folder = sys.argv[1], sys.argv[2]

MODULE = r"""
#define SECTION(name) __attribute__((section(name), noinline, used))
const char SECTION(".modinfo") about[] = "license=GPL";
extern int printk(const char *, int);
int shared(int);
static int __attribute__((noinline)) inner(int n) { int kept[8] = {n}; printk("a", kept[n & 7]); return n + 1; }
int SECTION(".init.text") init_module(void) { return inner(1) + shared(2); }
void SECTION(".exit.text") cleanup_module(void) { printk("b", inner(2)); }
int SECTION(".noinstr.text") quiet(int n) { return inner(n) * 3; }
int SECTION(".rodata.text") odd(int n) { return inner(n) * 5; }
int exported(int n) { return quiet(n) + odd(n); }
"""
SECOND = r"""
extern int printk(const char *, int);
int shared(int n) { volatile int kept = n; printk("c", kept); return kept * 2; }
int __attribute__((section(".init.text"))) early(int n) { return shared(n) + 1; }
"""
KERNEL = r"""
#ifdef __x86_64__
__asm__(".text\n.globl _start\n_start: call kernel\n1: jmp 1b\n");
#else
__asm__(".text\n.globl _start\n_start: bl kernel\n1: b 1b\n");
#endif
#ifdef BSS
char brk_area[BSS];
#endif
int __attribute__((noinline)) deep(int n) { volatile int kept[9] = {n}; return n < 1 ? kept[0] : deep(n - 1) + 1; }
int __attribute__((section(".init.text"), noinline)) early(int n) { return deep(n) + 1; }
int kernel(void) { return early(5) - 6; }
"""
SCRIPT = """
ENTRY(_start)
PHDRS { text PT_LOAD FLAGS(5); data PT_LOAD FLAGS(4); init PT_LOAD FLAGS(5); bss PT_LOAD FLAGS(6); }
SECTIONS
{
	. = KERNEL_AT;
	.text : AT(ADDR(.text) - PHYSICAL) { *(.text*) } :text
	. = ALIGN(0x1000);
	.rodata : AT(ADDR(.rodata) - PHYSICAL) { *(.rodata*) } :data
	.eh_frame : AT(ADDR(.eh_frame) - PHYSICAL) { KEEP(*(.eh_frame)) } :data
	%s
	. = ALIGN(0x1000);
	.init.text : AT(ADDR(.init.text) - PHYSICAL) { *(.init.text) } :init
	. = ALIGN(0x1000);
	.bss : AT(ADDR(.bss) - PHYSICAL) { *(.bss) } :bss
	/DISCARD/ : { *(.note*) *(.comment) }
}
"""
# Where Linux is: the tool chain's name, address, less what is the physical one, page size.
KERNELS = {
    "x86-64": ("", 0xffffffff81000000, 0xffffffff80000000, 0x200000),
    "x86-64, small pages": ("", 0xffffffff81000000, 0xffffffff80000000, 0x1000),
    "AArch64": ("aarch64-linux-gnu-", 0xffff800080000000, 0xffff800040000000, 0x10000),
}
MARK = b"~Module signature appended~\n"


def compiled(text, name, *options):
    with open(name + ".c", "w", encoding="ascii") as file:
        file.write(text)
    must("gcc", "-O2", "-fno-pie", "-fno-stack-protector", "-fasynchronous-unwind-tables", *options,
         "-c", "-o", name + ".o", name + ".c")
    return name + ".o"


def relocations(path, section):
    """[(offset, type, symbol + addend)] in the order of the file."""
    text = must("readelf", "-rW", path)
    part = text.split(f"'{section}'")[1].split("Relocation section")[0]
    return [(int(at, 16), kind, where) for at, kind, where in re.findall(
        r"^(\w{16})  \w{16} (R_\S+) +\w{16} (.*)$", part, re.M)]


def functions(path):
    """{(section, offset)} of all FDEs, by readelf and the relocations, none of it ours."""
    text = must("readelf", "--debug-dump=frames", path)
    starts = [int(at, 16) + 8 for at in re.findall(r"^(\w+) \w+ \w+ FDE", text, re.M)]
    by_place = {at: where for at, _, where in relocations(path, ".rela.eh_frame")}
    return {by_place[at] for at in starts}


def check_module(name, path, version, kind):
    out = name + ".out.ko"
    made = run(tool, f"--format={version}", path, out)
    check(made.returncode == 0 and "100.00%" in made.stdout, f"{name}, v{version}: converted",
          made.stdout + made.stderr)
    check(run(tool, "verify", out).returncode == 0, f"{name}, v{version}: proven")
    if version == 3:
        lint = run(tool, "lint", "--for=" + ("linux-arm64" if "AARCH64" in kind else "linux-user"), out)
        check(lint.returncode == 0, f"{name}, v{version}: as the kernel wants it", lint.stdout)
    sections = must("readelf", "-SW", out)
    check(len(re.findall(r" \.sframe ", sections)) == 1, f"{name}, v{version}: one .sframe", sections)
    relas = relocations(out, ".rela.sframe")
    check({where for _, _, where in relas} == functions(path) and
          all(each == kind for _, each, _ in relas),
          f"{name}, v{version}: {len(relas)} functions, where CFI's relocations lead", relas)
    # What a module loader does: S + A - P at each place, which readelf knows nothing of.
    places = [at for at, _, _ in relas]
    size = {1: 17, 2: 20, 3: 16}[version]
    check(places == [28 + size * i for i in range(len(places))],
          f"{name}, v{version}: every start has its relocation", places)
    flags = must("readelf", "-x", ".sframe", out).split("0x00000000 ")[1].split()[0]
    check(flags[:6] == f"e2de0{version}" and flags[6:] == ("00" if version == 1 else "04"),
          f"{name}, v{version}: not sorted", flags)
    dump = must(tool, "dump", out)
    for section in (".text", ".init.text", ".exit.text", ".noinstr.text", ".rodata.text"):
        check(re.search(rf"^    \w{{16}}  {re.escape(section)}$", dump, re.M),
              f"{name}, v{version}: {section} is told of", dump)
    must(tool, "remove", out, "back.ko")
    check(open("back.ko", "rb").read() == open(path, "rb").read(), f"{name}, v{version}: and back")


def check_excluded(path):
    out = "less.ko"
    made = run(tool, "-v", "--format=3", "--exclude-section=.init.*", "--exclude-section=.exit.text",
               path, out)
    left = {where.split(" + ")[0] for _, _, where in relocations(out, ".rela.sframe")}
    check(made.returncode == 0 and not left & {".init.text", ".exit.text"} and ".text" in left,
          "excluded: sections are left out", left)
    check("excluded: .init.text+0x0..0x" in made.stdout, "excluded: and told of", made.stdout)
    check(run(tool, "verify", out).returncode == 0, "excluded: the rest is proven")


def check_signed(path):
    signature = bytes(range(200))
    tail = signature + struct.pack(">8xI", len(signature)) + MARK
    with open("signed.ko", "wb") as file:
        file.write(open(path, "rb").read() + tail)
    made = run(tool, "--format=3", "signed.ko", "signed.out.ko")
    bytes_out = open("signed.out.ko", "rb").read()
    check(made.returncode == 0 and not bytes_out.endswith(MARK), "signed: the signature is left out", made.stderr)
    check(made.stderr == "eh2sframe: signed.ko: the module's signature is left out, because it no longer matches; "
          "sign the new module\n", "signed: a line says so", made.stderr)
    check(run(tool, "verify", "-q", "signed.out.ko").returncode == 0 and
          run("readelf", "-aW", "signed.out.ko").returncode == 0, "signed: proven")
    must(tool, "remove", "signed.out.ko", "back.ko")
    check(open("back.ko", "rb").read() == open("signed.ko", "rb").read(), "signed: and back")
    # Convert, then sign: what leads back is still there.
    with open("again.ko", "wb") as file:
        file.write(bytes_out + tail)
    must(tool, "remove", "again.ko", "back.ko")
    check(open("back.ko", "rb").read() == open("signed.ko", "rb").read() and
          run(tool, "verify", "again.ko").returncode == 0, "signed afterwards: proven, and back")
    must(tool, "-q", "--format=1", "signed.ko", "other.ko")
    made = run(tool, "--refresh", "--format=1", "again.ko", "again.out.ko")
    check(made.returncode == 0 and open("again.out.ko", "rb").read() == open("other.ko", "rb").read() and
          "signature is left out" in made.stderr, "signed afterwards: converted again", made.stderr)
    must(tool, "-q", "--format=3", path, "plain.ko")
    with open("plain.ko", "ab") as file:
        file.write(tail)
    made = run(tool, "--refresh", "--format=3", "plain.ko", "plain.out.ko")
    check(made.returncode == 0 and "signature is left out" in made.stderr, "signed between two conversions: a line says so",
          made.stderr)
    for what, change in (("the record", bytes_out[:-3] + b"abc" + tail), ("the end", bytes_out + b"\0" + tail),
                         ("two signatures", bytes_out + tail + tail)):
        with open("changed.ko", "wb") as file:
            file.write(change)
        made = run(tool, "remove", "changed.ko", "changed.out.ko")
        check(made.returncode == 1 and "--refresh" not in made.stderr and not os.path.exists("changed.out.ko"), f"signed afterwards: {what} changed", made.stderr)
    with open("short.ko", "wb") as file:
        file.write(open(path, "rb").read() + struct.pack(">8xI", 1 << 30) + MARK)
    made = run(tool, "--format=3", "short.ko", "short.out.ko")
    check(made.returncode == 1 and made.stderr.count("\n") == 1 and "signature" in made.stderr and
          not os.path.exists("short.out.ko"), "signed: one longer than the file is refused", made.stderr)


def check_debian():
    modules = sorted(glob.glob("/lib/modules/*/kernel/**/*.ko", recursive=True))
    if not modules:
        skip("Debian's modules", "none installed here")
        return
    statuses = {run(tool, "--format=3", path, "none.ko").returncode for path in modules[:20]}
    check(statuses <= {0, 6}, "Debian's modules: converted, or nothing to do", statuses)


def check_nothing():
    compiled(MODULE, "bare", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables")
    made = run(tool, "--format=3", "bare.o", "none.ko")
    check(made.returncode == 6 and "no CFI" in made.stderr and not os.path.exists("none.ko"),
          "without unwind tables: nothing to do", made.stderr)


def link_kernel(kernel, name, text, *options):
    """The file, and the distance of its addresses to the physical ones."""
    tools, at, physical, page = KERNELS[kernel]
    with open("script.ld", "w", encoding="ascii") as file:
        file.write(text.replace("KERNEL_AT", hex(at)).replace("PHYSICAL", hex(physical)))
    with open("kernel.c", "w", encoding="ascii") as file:
        file.write(KERNEL)
    must(tools + "gcc", "-O2", "-fno-pie", "-fno-stack-protector", "-fasynchronous-unwind-tables",
         *(["-mcmodel=kernel"] if not tools else []), *options, "-c", "-o", "kernel.o", "kernel.c")
    must(tools + "ld.bfd", "-static", "-z", f"max-page-size={page}", "-T", "script.ld", "-o", name, "kernel.o")
    return physical


def loads(path):
    """[(address, physical address, size in the file and in memory)] of each PT_LOAD."""
    return [tuple(int(word, 16) for word in line) for line in re.findall(
        r"LOAD +0x\w+ 0x(\w+) 0x(\w+) 0x(\w+) 0x(\w+)", must("readelf", "-lW", path))]


def check_kernel(kernel, bss):
    name = f"kernel, {kernel}, {bss >> 20} MiB of .bss"
    if not shutil.which(KERNELS[kernel][0] + "gcc"):
        skip(name, f"needs {KERNELS[kernel][0]}gcc")
        return
    physical = link_kernel(kernel, "vmlinux", SCRIPT % "", f"-DBSS={bss}")
    segments = must("readelf", "-lW", "vmlinux")
    check(len(re.findall(r"LOAD .* R E ", segments)) == 2 and "INTERP" not in segments and
          loads("vmlinux")[0][0] == KERNELS[kernel][1], f"{name}: linked where a kernel is", segments)
    for version in (1, 2, 3):
        made = run(tool, "--method=grow", f"--format={version}", "vmlinux", "vmlinux.out")
        check(made.returncode == 0 and "100.00%" in made.stdout, f"{name}, v{version}: converted",
              made.stdout + made.stderr)
        check(run(tool, "verify", "-q", "vmlinux.out").returncode == 0, f"{name}, v{version}: proven")
        after = loads("vmlinux.out")
        check(after == sorted(after) and after[:-1] == loads("vmlinux") and
              {at - where for at, where, _, _ in after} == {physical},
              f"{name}, v{version}: the new segment is above, at its physical address, too", after)
        grown = os.path.getsize("vmlinux.out") - os.path.getsize("vmlinux")
        check(grown < KERNELS[kernel][3] + 0x1000, f"{name}, v{version}: no hole in the file", grown)
        starts = {int(at, 16) for at in re.findall(r"pc = 0x(\w+)", must(tool, "dump", "vmlinux.out"))}
        theirs = {int(at, 16) for at in re.findall(r"pc=(\w+)\.\.", must(
            "readelf", "--debug-dump=frames", "vmlinux"))}
        check(starts == theirs, f"{name}, v{version}: functions where readelf has them", (starts, theirs))
        must(tool, "remove", "vmlinux.out", "back")
        check(open("back", "rb").read() == open("vmlinux", "rb").read(), f"{name}, v{version}: and back")


def check_reader():
    name = "vmlinux-reader"
    script = SCRIPT % (".sframe : AT(ADDR(.sframe) - PHYSICAL) { __start_sframe_header = .; "
                       "KEEP(*(.sframe)) __stop_sframe_header = .; }")
    link_kernel("x86-64", name, script, "-DBSS=4096")
    made = run(tool, name, name + ".out")
    check(made.returncode == 1 and made.stderr.count("\n") == 1 and "__start_sframe_header" in
          made.stderr and not os.path.exists(name + ".out"),
          f"{name}: refused by the name of its symbol", made.stderr)
    # The documented way: before the last link.
    must(tool, "-q", *merged(), "kernel.o", "kernel.s.o")
    must("ld.bfd", "-static", "-T", "script.ld", "-o", name, "kernel.s.o")
    theirs = Section(must("readelf", "--sframe=.sframe", name))
    start, stop = (int(re.search(rf"(\w+) . __{end}_sframe_header", must("nm", name))[1], 16)
                   for end in ("start", "stop"))
    check(len(theirs.funcs) == 3 and stop - start > 28, f"{name}: the link has its section between "
          "the symbols", theirs.funcs)
    check(run(tool, "verify", "-q", name).returncode == 0, f"{name}: and it is proven")


def main():
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        objects = [compiled(MODULE, "first", "-mcmodel=kernel"),
                   compiled(SECOND, "second", "-mcmodel=kernel", "-ffunction-sections")]
        must("ld.bfd", "-r", "-o", "whole.ko", *objects)
        for name, how in (("whole", None), ("unneeded", "--strip-unneeded"), ("debug", "-g")):
            if how:
                must("strip", how, "-o", name + ".ko", "whole.ko")
            for version, kind in ((1, "R_X86_64_PC32"), (2, "R_X86_64_PC32"), (3, "R_X86_64_PC64")):
                check_module(name, name + ".ko", version, kind)
        check_excluded("unneeded.ko")
        check_signed("unneeded.ko")
        check_nothing()
        check_debian()
        for kernel in KERNELS:
            check_kernel(kernel, 0x1000)
            check_kernel(kernel, 300 << 20)
        check_reader()
        os.chdir("/")
    plan()


tool = os.path.realpath(tool)
main()
