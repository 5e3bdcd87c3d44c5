# SPDX-License-Identifier: MIT
"""Reports for the tests of the page, as docs/report.schema.json says: each member, and none."""

import random

MACHINES = ("x86-64", "aarch64", "s390x")
REASONS = (("cfa-expression", 0), ("cfa-register", 3), ("ra-undefined", 3), ("fp-memory", 3), ("sp-rule", 0),
           ("overlap", 0))


def gaps_of(dice, count, start, step, name):
    gaps, kinds = [], dice.sample(REASONS, k=4)
    for i in range(count):
        reason, needs = dice.choice(kinds)
        at = start + i * step
        gaps.append({
            "reason": reason, "start": hex(at), "size": dice.randrange(1, max(step // 3, 2)),
            "function": hex(at & ~15), "name": f"{name}_{i}(std::vector<int> const&)", "symbol": f"_Z{name}{i}",
            "rule": "CFA = *(rsp + %d) + 8" % (8 * dice.randrange(1, 64)), "cfi": hex(0x1000 + 24 * i),
            "needs": needs})
    return gaps


def bare_of(dice, count, start, step):
    kinds = ("code", "code", "data", "plt", "unknown")
    return [{"start": hex(start + i * step), "size": dice.randrange(1, step // 2), "kind": dice.choice(kinds),
             "name": f"hand_written_{i}"} for i in range(count)]


def sum_of(gaps):
    refused = {}
    for gap in gaps:
        one = refused.setdefault(gap["reason"], {"functions": 0, "bytes": 0, "needs": gap["needs"]})
        one["functions"] += 1
        one["bytes"] += gap["size"]
    return refused


def file_of(number, gaps=40, bare=30, text=1 << 20):
    """A file with every member that the page shows."""
    dice = random.Random(number)
    start = 0x401000
    refused = gaps_of(dice, gaps, start + 0x100, max(text // 2 // max(gaps, 1), 16), f"work{number}")
    without = bare_of(dice, bare, start + text // 2, max(text // 2 // max(bare, 1), 16))
    reasons = sum_of(refused)
    outermost = reasons.get("ra-undefined", {"bytes": 0})["bytes"]
    bytes_of = lambda kinds: sum(one["size"] for one in without if one["kind"] in kinds)
    data, bare_code = bytes_of(("data",)), bytes_of(("code", "unknown", "plt"))
    lost = sum(one["size"] for one in refused)
    with_cfi = text // 2 + lost
    frame = text // 12
    return {
        "path": f"/usr/lib/x86_64-linux-gnu/libsample{number}.so.{number % 7}", "status": 0,
        "links": [f"/usr/lib/x86_64-linux-gnu/libsample{number}.so"], "machine": MACHINES[number % 3],
        "kind": "shared-library", "build_id": "%040x" % dice.getrandbits(160),
        "producers": ["GCC: (Debian 12.2.0-14) 12.2.0"], "format": 2,
        "sizes": {".eh_frame": frame, ".eh_frame_hdr": frame // 5, ".sframe": frame * 93 // 100,
                  "sframe_index": frame // 4, "sframe_rows": frame // 2, "saved_by_sharing": frame // 9},
        "counts": {"functions_with_cfi": gaps * 10 + 50, "functions_with_rows": gaps * 10 + 50 - gaps // 2,
                   "functions_with_gaps": gaps, "functions_without_cfi": bare},
        "code": {"executable": with_cfi + bare_code + data, "with_cfi": with_cfi, "covered": with_cfi - lost,
                 "plt_template": 0, "outermost": outermost, "without_cfi": bare_code, "data": data,
                 "padding": text // 50, "decoded": True,
                 "percent_of_cfi": 99.0, "percent_of_executable": 98.0},
        "refused": reasons, "records": {},
        "sections": [{"name": ".init", "start": hex(start - 0x1000), "size": 23},
                     {"name": ".text", "start": hex(start), "size": text}],
        "gaps": refused, "without_cfi": without,
        "sources": {"eh_frame": {"functions": 50, "bytes": text // 4}, "go": {
            "functions": gaps * 10, "bytes": with_cfi // 2, "size": frame, "in_table": gaps * 10 + 1,
            "without_rows": [{"start": hex(start + 64), "size": 48, "name": f"runtime.mcall{number}",
                              "reason": "SP moves"}]}},
        "source_ranges": [{"start": hex(start + i * (text // 8)), "size": text // 8 - 16, "functions": 10 + i,
                           "source": ("go", "eh_frame")[i % 2]} for i in range(4)]}


def failed(number):
    return {"path": f"/usr/lib/broken{number}.so", "status": 1, "error": f"section {number} ends after the file"}


def skipped(number):
    return {"path": f"/usr/lib/go{number}", "status": 6, "skipped": "no-cfi"}


def many(count):
    """Files of very different sizes, some of which failed or were passed over."""
    files = []
    for i in range(count):
        if i % 50 == 7:
            files.append(failed(i))
        elif i % 20 == 3:
            files.append(skipped(i))
        else:
            large = i % 100 == 0
            files.append(file_of(i, 400 if large else i % 24, 200 if large else i % 15,
                                 (1 << 22) >> (i % 11)))
    return document(files)


def document(files):
    return {"tool": "eh2sframe", "version": "1.0.0", "schema": 1, "files": files}


# What must stay text. A page that ran any of it would set a variable.
MARKUP = "</script><script>window.broken = 1</script><img src=x onerror='window.broken = 2'>&amp;\"'`${1}<!--"
CONTROL = "bell\u0007 escape\u001b[31m newline\n right-to-left\u202e separators\u2028\u2029 nel\u0085"


def hostile():
    """Every text of the report is hostile, and the types are wrong in places."""
    evil = file_of(1, 6, 4)
    long_name = "std::map<" * 7282  # 64 KiB
    names = [MARKUP, CONTROL, long_name, "\ufffd\ufffd", "__proto__", "constructor"]
    for gap, name in zip(evil["gaps"], names):
        gap["name"] = gap["symbol"] = gap["rule"] = name
    evil["gaps"][4]["reason"] = "__proto__"
    evil["gaps"][5]["reason"] = "constructor"
    evil["gaps"][3]["cfi"] = MARKUP
    evil["refused"][MARKUP] = {"functions": 1, "bytes": 9}
    for key in ("path", "machine", "kind", "build_id"):
        evil[key] = MARKUP
    evil["producers"] = [MARKUP, CONTROL, long_name]
    evil["sections"].append({"name": MARKUP, "start": "0x10", "size": 99})
    for one in evil["without_cfi"]:
        one["name"] = one["kind"] = MARKUP
    evil["source_ranges"] = [{"start": MARKUP, "size": -1, "functions": MARKUP, "source": CONTROL}, {"start": "0x1", "source": MARKUP}]
    evil["sources"] = {"go": {"without_rows": [{"name": MARKUP, "reason": long_name, "start": 4}, 7]}, "x": MARKUP}
    strange = {"path": CONTROL, "status": 0, "code": {"decoded": "many", "without_cfi": -4, "executable": 1}, "gaps": [7, None, {}],
               "refused": {MARKUP: {"bytes": 1}}, "sections": [{"start": "here"}, {"start": "0x0", "size": -1}],
               "without_cfi": {"size": 4}, "sizes": {}, "sources": 3, "source_ranges": {"source": "go"}, "producers": "gcc", "links": 4}
    return document([evil, strange, {"path": MARKUP, "status": 6, "skipped": MARKUP},
                     {"path": "x", "status": 1, "error": MARKUP}])


def checked(count):
    """Files whose CFI was checked against the code. Of the last one every text is hostile."""
    files = []
    for number in range(count):
        dice = random.Random(number)
        faults = [{"start": hex(0x1000 + 16 * i), "size": 4, "instructions": 1 + i % 3, "kind": ("late", "early", "missing")[i % 3],
                   "column": ("CFA", "frame pointer")[i % 2], "rule": "rsp + 16", "found": "CFA + 8", "row": "CFA = rsp + 16",
                   "repair": None if i % 2 else "CFA = rsp + 8", "function": hex(0x1000 + 16 * i), "name": f"faulty{number}_{i}(int)",
                   "symbol": f"_Z7faulty{number}_{i}i"} for i in range(30 * (number % 3))]
        doubts = [{"start": hex(0x8000 + 16 * i), "size": 16, "verdict": ("unknown", "review")[i % 2], "reason": "SP at a return is not as at entry",
                   "function": hex(0x8000 + 16 * i)} for i in range(3)]
        groups = {}
        for one in faults:
            group = groups.setdefault(f"{one['kind']} {one['column']}", {"functions": 0, "instructions": 0})
            group["functions"] += 1
            group["instructions"] += one["instructions"]
        fdes = dice.randrange(100, 1000)
        files.append({"path": f"/usr/lib/libchecked{number}.so", "status": 4 if faults else 0, "machine": "AArch64",
                      "check": {"fdes": fdes, "confirmed": fdes - len(faults) - 3, "review": 1, "unknown": 2,
                                "contradicts": len(faults), "not_looked_at": number % 2, "instructions": 50 * fdes,
                                "agreeing": 49 * fdes, "seeded": fdes, "groups": groups},
                      "faults": faults, "doubts": doubts})
    evil = files[-1]
    for key in ("path", "machine", "build_id"):
        evil[key] = MARKUP
    for one in evil["faults"] + evil["doubts"]:
        for key in [key for key in one if isinstance(one[key], str)]:
            one[key] = MARKUP
    evil["faults"][0]["name"] = "std::map<" * 7282
    evil["faults"][1]["kind"] = "__proto__"
    evil["faults"] += [7, None, {}]
    evil["check"]["groups"][MARKUP] = {"functions": 3, "instructions": 7}
    evil["check"]["groups"]["__proto__ CFA"] = {"functions": 1, "instructions": 1}
    return document(files + [failed(99)])
