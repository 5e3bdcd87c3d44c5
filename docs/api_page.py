#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The manual page of a library, made of its public header: each declaration with the comment above it.

    api_page.py page NAME PURPOSE HEADER PROGRAM     prints the page in scdoc's language
    api_page.py names HEADER                         prints the functions, one in a line

In a header, the first comment describes the library, and a comment without a declaration below it is the title of a section.
PROGRAM is a complete program, which is quoted. A function without a comment is an error.
"""
import re
import sys
import textwrap

WIDTH = 69  # of code, which man(1) indents by 11 columns
TOKEN = re.compile(r"/\*(?P<comment>.*?)\*/[ \t]*(?P<alone>\n[ \t]*(?:\n|$))?|(?P<blank>\n[ \t]*\n)|(?P<code>[^\s/][^;{]*(?:\{[^\n]*\}|\{.*?\n\})?[^;{]*;)", re.S)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def plain(comment):
    """The text of a comment without its stars."""
    return re.sub(r"(?m)^[ \t]*\*[ \t]?", "", comment).strip("\n ")


def parts(header):
    """The header's own comment, then (title, None) and (comment, [declarations])."""
    text = read(header)
    found = [(plain(re.search(r"\*/\s*/\*(.*?)\*/", text, re.S)[1]), None)]
    body = re.search(r'extern "C" \{\n#endif\n(.*)\n#ifdef __cplusplus', text, re.S)[1]
    body = re.sub(r"(?m)^#.*(?:\\\n.*)*\n", "", body)
    comment, code = None, []
    for match in TOKEN.finditer(body + "\n\n"):
        if match["comment"] is not None:
            if code:
                found.append((comment, code))
            comment, code = plain(match["comment"]), []
            if match["alone"]:
                found.append((comment, None) if len(comment) < 80 else (comment, []))
                comment = None
        elif match["code"]:
            if comment is None and not match["code"].startswith(("struct", "enum")):
                sys.exit(f"{header}: no comment above: {match['code'][:60]}")
            code.append(re.sub(r"\bEH2SFRAME_\w*(?:API|CHECKED) ", "", match["code"]))
        elif code:
            found.append((comment, code))
            comment, code = None, []
    return found


def functions(header):
    """The names of the functions that a header declares."""
    return [re.search(r"\b(eh2sframe_\w+)\(", line)[1] for _, code in parts(header) for line in code or [] if is_function(line)]


def is_function(code):
    return "{" not in code and "(" in code and not code.startswith("typedef")


def escape(text):
    """Text that scdoc prints as it is; names of the libraries and of pages are bold."""
    text = re.sub(r"\b(?:eh2sframe|EH2SFRAME)_\w+|[\w-]+(?=\(\d\))", "\1\\g<0>\2", text)
    return re.sub(r"([\\*_`~#])", r"\\\1", text).replace("\1", "*").replace("\2", "*")


def paragraphs(text):
    """Paragraphs and lists; a list's items begin with "- " or a number."""
    out = []
    for paragraph in re.split(r"\n[ \t]*\n", text):
        items = re.split(r"(?m)^ *(?:-|\d\.) +", paragraph)
        if items[0].strip():
            out.append(escape(" ".join(items[0].split())))
        mark = ". " if re.search(r"(?m)^ *\d\. ", paragraph) else "- "
        lines = [mark + escape(" ".join(item.split())) for item in items[1:]]
        if lines and out and out[-1].lstrip().startswith(mark):
            out[-1] += "\n" + "\n".join(lines)
        elif lines:
            out.append("\n".join(lines))
    return "\n\n".join(out)


def wrapped(code):
    """A prototype in lines, which end between parameters."""
    words = re.sub(r"(?<!,) ", "\0", re.sub(r"\s+", " ", code).replace("( ", "("))
    lines = textwrap.wrap(words, WIDTH - 4, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace("\0", " ")


def filled(match):
    """A comment with lines of its own, in lines that fit."""
    indent = match[1]
    lines = textwrap.wrap(" ".join(plain(match[2]).split()) + "\0*/", WIDTH - len(indent) - 3, break_on_hyphens=False)
    return indent + "/* " + f"\n{indent} * ".join(lines).replace("\0", " ")


def layout(code):
    """A struct or an enumeration for a page: comments behind a member that would be too far right stand above it."""
    lines = []
    for line in code.split("\n"):
        line = line.replace("\t", "    ")
        line = re.match(r" *", line)[0] + re.sub(r"\s+", " ", line.strip())
        match = re.match(r"( *)(\S.*[;,{]) (/\*.*)$", line)
        if len(line) > WIDTH and match:
            lines += [match[1] + match[3], match[1] + match[2]]
        else:
            lines.append(line)
    return re.sub(r"(?ms)^( *)/\*(.*?)\*/$", filled, "\n".join(lines))


def declared(comment, code):
    """A group of declarations and their comment."""
    if not code:
        return paragraphs(comment)
    lines = [wrapped(line) if is_function(line) else layout(line) for line in code]
    return "```\n" + "\n".join(lines) + "\n```" + ("\n\n" + paragraphs(comment) if comment else "")


def page(name, purpose, header, program):
    found = parts(header)
    quoted = re.sub(r"^/\* SPDX.*\n", "", read(program)).replace("\t", "    ").rstrip("\n")
    out = [f"{name}(3)", "# NAME", f"{name} - {purpose}", "# SYNOPSIS", f"*#include <{header.split('/')[-1]}>*",
           f"*cc* _file.c_ *$(pkg-config --cflags --libs {name})*", "# DESCRIPTION", paragraphs(found[0][0]),
           "# EXAMPLE", "```\n" + quoted.replace("\\", "\\\\") + "\n```"]
    for comment, code in found[1:]:
        out.append("# " + comment.rstrip(".").upper() if code is None else declared(comment, code))
    other = "libeh2sframe-walk" if name == "libeh2sframe" else "libeh2sframe"
    out += ["# SEE ALSO", f'*eh2sframe*(1), *{other}*(3), "The SFrame format" (binutils)']
    print("\n\n".join(out))


if __name__ == "__main__":
    if sys.argv[1] == "names":
        print("\n".join(functions(sys.argv[2])))
    else:
        page(*sys.argv[2:])
