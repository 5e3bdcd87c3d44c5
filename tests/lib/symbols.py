#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""symbols.py SHARED STATIC ROOT: the names that the library shows.

The static library must define just the names that the shared one exports and the header declares, and nothing else
(stable_abi holds them and their versions against a list). The same goes for the header of the walker. Neither library file may have a variable that is written to, nor ask the C library for what is the process's
own. TAP."""
import os
import re
import sys

from tap import check, must, plan, skip

# What a library that prints nothing, ends nothing and keeps to itself has no use for.
FORBIDDEN = """abort _exit exit quick_exit _Exit atexit printf vprintf puts putchar perror stdout stderr
stdin signal sigaction raise kill alarm setlocale umask chdir fchdir setenv putenv getenv secure_getenv
unsetenv mallopt isatty setrlimit system popen fork vfork execve waitpid sleep usleep syslog openlog
error warn warnx err errx __printf_chk __vprintf_chk xexit strtok localtime gmtime rand srand
getopt getopt_long""".split()
# What the linker and the start code have in every library.
STARTUP = {"completed.0", "__dso_handle", "__TMC_END__", "_edata", "__bss_start", "_end", ".bss",
           ".data", "", "__data_start", "data_start"}


def lines_of(*command):
    return must(*command).splitlines()


def same(wanted, got, what):
    missing, new = sorted(set(wanted) - set(got)), sorted(set(got) - set(wanted))
    check(not missing and not new, "%s: %d%s%s" % (
        what, len(set(got)), "; missing: " + " ".join(map(str, missing)) if missing else "",
        "; not listed: " + " ".join(map(str, new)) if new else ""))


def read(root, path):
    with open(os.path.join(root, path)) as file:
        return file.read()


def exported(shared):
    """The dynamic symbols, apart from the versions' own."""
    lines = [line.split() for line in lines_of("nm", "-D", "--defined-only", shared)]
    return [words[-1].split("@")[0] for words in lines if words[-2] != "A"]


def writable(shared):
    """Objects in sections that a program's threads would share."""
    found = []
    for line in lines_of("objdump", "-t", shared):
        match = re.search(r"\s\.(?:t?data|t?bss)\s+[0-9a-f]+\s*(?:\.hidden )?\s*(\S*)$", line)
        if match and match.group(1) not in STARTUP:
            found.append(match.group(1))
    return found


def declared(root, library, names):
    """The header, whose comments are the manual page, declares just those names."""
    header = re.sub(r"/\*.*?\*/", "", read(root, "include/%s.h" % library[3:]), flags=re.S)
    same(names, re.findall(r"\b(eh2sframe_\w+)\(", re.sub("(?m)^typedef.*", "", header)), library + ": declared by the header")


def main():
    shared, static, root = sys.argv[1:4]
    names = exported(shared)
    check(len(names) > 30 and len(set(names)) == len(names), "the shared library exports %d names" % len(names))
    nm = lines_of("nm", "--defined-only", "--extern-only", static)
    same(names, [line.split()[2] for line in nm if len(line.split()) == 3],
         "defined by the static library")
    declared(root, "libeh2sframe", names)
    walk_map = read(root, "walk/eh2sframe-walk.map")
    declared(root, "libeh2sframe-walk", re.findall(r"^\t(eh2sframe_\w+);", walk_map, flags=re.M))
    options = read(root, "gen/options/options.c")
    table = re.findall(r'^\s+\{"([a-z-]+)", OPTION_', options, flags=re.M)
    items = dict(re.findall(r"^ \* - ([a-z, -]+): (.*)$", read(root, "include/eh2sframe.h"), flags=re.M))
    items = {name: said for names_of, said in items.items() for name in names_of.split(", ")}
    same(table, items, "options in the header")
    for name, choice in re.findall(r'^\s+\{"([a-z-]+)", OPTION_\w+, true, \{(".*")\}', options, flags=re.M):
        same(re.findall(r'"([a-z0-9-]+)"', choice), re.split(r", | or |: ", items[name].removeprefix("the version of SFrame: ")), "values of " + name)
    entries = re.split(r"^OPTION\(", read(root, "cmd/common/options.def"), flags=re.M)[1:]
    command = [re.search(r'"([a-z-]+)"', entry)[1] for entry in entries if re.search(r"\bLIBRARY\b", entry)]
    same(table, command, "options of the library that the command has")
    undefined = [line.split()[-1].split("@")[0] for line in lines_of("nm", "-D", "--undefined-only", shared)]
    bad = sorted(set(undefined) & set(FORBIDDEN))
    if any("asan" in name or "tsan" in name for name in undefined):
        skip("calls and variables", "sanitizers have variables of their own")
    else:
        check(not bad, "calls that are the program's: %s" % " ".join(bad))
        state = writable(shared)
        check(not state, "variables that are written to: %s" % " ".join(state))
    plan()


main()
