#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make_messages.py OUT REPORT: the objects of a JSON report as a worker of eh2sframe tree sends them, and what a failure is."""
import json
import struct
import sys

with open(sys.argv[2], encoding="utf-8") as file:
    reports = json.load(file)["files"]
reports += [{"path": "bad", "status": 1, "error": ".eh_frame+0x10: it is damaged; report this"},
            {"path": "other", "status": 6, "skipped": "no-cfi", "links": ["/usr/bin/other"], "text": "one\n\ttwo\n"}]
with open(sys.argv[1], "wb") as file:
    for i, report in enumerate(reports):
        text = json.dumps(report).encode()
        file.write(struct.pack("@NN", i, len(text)) + text)
