#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""options.py TABLE PAGE: a man page of eh2sframe with its lists of options.

A line `@options VERB...@` becomes tables of those options of the verbs (`tree`: of any verb below it) that PAGE itself does
not explain, one for each page that does. TABLE is cmd/common/options.def. The pages beside PAGE must explain each option of
the table once, with the values of the table, and no other: a mistake ends the program with status 1.
"""
import collections
import os
import re
import sys

Option = collections.namedtuple("Option", "name letter argument values verbs help")
STRING = r'"(?:[^"\\]|\\.)*"'
# A definition: `*-o* _FILE_, *--output*=_FILE_`, `*--format=1|2|3*`.
HEAD = re.compile(r"(?m)^(\*-.*)\n\t")
LONG = re.compile(r"^--([a-z-]+)(\[?=(.*?)\]?)?$")


def table(path):
    """The options of the table, by their names."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    options = {}
    for entry in re.split(r"(?m)^OPTION\(", text)[1:]:
        fields = re.findall(rf"(?:{STRING}\s*)+|'.'|\w+", entry)
        if len(fields) != 8:
            sys.exit(f"{path}: an entry of {len(fields)} fields where 8 are wanted: {entry}")
        fields = ["".join(part[1:-1] for part in re.findall(STRING, field)) if field.startswith('"') else field for field in fields]
        _, name, letter, argument, values, _, verbs, said = fields
        options[name] = Option(name, letter.strip("'") if letter != "0" else "", argument, values, verbs.split(","), said)
    return options


def verbs_of(options):
    """The verbs that have a page."""
    return {verb.split(" ")[0] for option in options.values() for verb in option.verbs} - {"*"}


def explained(text):
    """{name: value, as the page has it, or None} for each option that a page explains."""
    found = {}
    for head in HEAD.findall(text):
        for word in re.sub(r"[*_\\]", "", head).split(", "):
            long = LONG.match(word)
            if long:
                found[long[1]] = long[3]
    return found


def homes(options, folder):
    """{name: page} of the page that explains an option; an error for what is wrong with it."""
    pages, wrong = {}, []
    for verb in sorted(verbs_of(options)) + [""]:
        page = "eh2sframe" + (verb and "-" + verb)
        path = os.path.join(folder, page + ".1.scd")
        if not os.path.exists(path) and verb == "merge":
            continue  # a link to that of diff
        with open(path, encoding="utf-8") as file:
            found = explained(file.read())
        for name, value in found.items():
            option = options.get(name)
            if not option:
                wrong.append(f"{page}: --{name} is no option")
                continue
            if name in pages:
                wrong.append(f"--{name} is explained in {pages[name]} and {page}")
            pages[name] = page
            if (value or "") not in (option.argument.strip("[]"), option.values):
                wrong.append(f"{page}: --{name}={value}: the table has {option.argument} {option.values}")
            if verb and "*" not in option.verbs and not any(use.split(" ")[0] == verb for use in option.verbs):
                wrong.append(f"{page}: --{name} does not go with {verb}")
    wrong += [f"--{name} is explained nowhere" for name in options if name not in pages]
    if wrong:
        sys.exit("\n".join(wrong))
    return pages


def shown(option):
    """The option as definitions have it."""
    value = option.values if 0 < len(option.values) < 30 else ""
    if option.argument.startswith("["):
        long = f"*--{option.name}*[={value}]"
    elif value:
        long = f"*--{option.name}={value}*"
    else:
        long = f"*--{option.name}*" + (option.argument and f"=_{option.argument}_")
    short = option.letter and f"*-{option.letter}*" + (option.argument and f" _{option.argument}_") + ", "
    return short + long


def uses(option, verb):
    """The uses of an option with a verb, or below tree."""
    if "*" in option.verbs:
        return ["*"]
    return [use for use in option.verbs if use == verb or use.startswith(verb + " ")]


def lists(options, verbs, here, pages):
    """A table for each other page that explains options of the verbs."""
    every = {use for option in options.values() for verb in verbs for use in uses(option, verb)} - {"*"}
    tables = {}
    for option in options.values():
        found = [use for verb in verbs for use in uses(option, verb)]
        if not found or pages[option.name] == here:
            continue
        said = re.sub(r"([\\*_])", r"\\\1", option.help)
        if "*" not in found and len(found) < len(every):
            said = f"with {', '.join(use.removeprefix('tree ') for use in found)}: {said}"
        tables.setdefault(pages[option.name], []).append(f"{shown(option)}\n:< {said}")
    return "\n\n".join(f"*{page}*(1) explains these:\n\n|[ " + "\n|  ".join(lines) for page, lines in tables.items())


def main():
    options = table(sys.argv[1])
    page = sys.argv[2]
    pages = homes(options, os.path.dirname(page))
    with open(page, encoding="utf-8") as file:
        text = file.read()
    here = os.path.basename(page)[: -len(".1.scd")]
    sys.stdout.write(re.sub(r"(?m)^@options (.*)@$", lambda match: lists(options, match[1].split(), here, pages), text))


if __name__ == "__main__":
    main()
