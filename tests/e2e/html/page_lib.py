# SPDX-License-Identifier: MIT
"""What the tests of the page have in common: its elements, as HTML has them, and its data."""

import base64
import hashlib
import html.parser
import json
import re

from batch_lib import run
from tap import check

EMPTY = {"meta", "br", "link", "img", "input"}


class Page(html.parser.HTMLParser):
    """The elements as HTML has them, and what should not be there."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.text, self.open, self.wrong = text, [], []
        self.tags, self.content, self.policy = {}, {}, ""
        self.feed(text)
        self.close()
        self.wrong += self.open

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.wrong += [a for a in attrs if a[0] in ("src", "style") or a[0][:2] == "on"]
        self.wrong += [a for a in attrs if a[0] == "href" and not a[1].startswith("#")]
        self.tags[tag] = self.tags.get(tag, 0) + 1
        if named.get("http-equiv") == "Content-Security-Policy":
            self.policy = named["content"]
        if tag not in EMPTY:
            self.open.append(tag)
        self.key = tag if tag != "script" else "data" if named.get("type") == "application/json" else "code"

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}>")
        self.key = ""

    def handle_data(self, data):
        if self.open:
            self.content[self.key] = self.content.get(self.key, "") + data


def hash_of(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def page(tool, name, *argv, verb="report"):
    """The data in the page that the command writes."""
    got = run(tool, verb, "--html", *argv)
    parsed = Page(got.out.decode())
    code, style, data = (parsed.content.get(key, "") for key in ("code", "style", "data"))
    check(
        not parsed.wrong and parsed.text.startswith("<!DOCTYPE html>") and parsed.tags["script"] == 2,
        f"{name}: well formed",
        parsed.wrong or parsed.text[:2000],
    )
    check(
        parsed.policy == f"default-src 'none'; style-src {hash_of(style)}; script-src {hash_of(code)}; "
        "base-uri 'none'; form-action 'none'",
        f"{name}: the policy has the hashes of style and script, and nothing else",
        parsed.policy,
    )
    check(
        not re.search("[<>&\u2028\u2029]", data) and not re.search(r"url\((?!#)|@import|https?:(?!//www.w3.org)",
                                                                  style + code),
        f"{name}: the data have no markup, and style and script no address",
        data[:2000],
    )
    return got, json.loads(data)


def without(file, *members):
    return {key: value for key, value in file.items() if key not in members}


def written(name, document):
    with open(name, "w", encoding="utf-8") as file:
        file.write(json.dumps(document))
    return name
