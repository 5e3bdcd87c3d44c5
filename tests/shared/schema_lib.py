# SPDX-License-Identifier: MIT
"""JSON reports as tests read them: each one must have the schema that docs/report.schema.json publishes."""

import json
import os

from tap import check

try:
    import jsonschema
except ImportError:
    jsonschema = None

SCHEMA = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../docs/report.schema.json")


def published():
    with open(SCHEMA, encoding="utf-8") as file:
        return json.load(file)


STRICT = jsonschema and jsonschema.Draft202012Validator(published())


def faults(report):
    """Returns a line for each fault against the schema; none without python3-jsonschema, which report_schema says."""
    return [f"{list(one.absolute_path)}: {one.message[:200]}" for one in STRICT.iter_errors(report)] if STRICT else []


def valid(report, name):
    """Checks a report in a line of TAP."""
    wrong = faults(report)
    check(not wrong, f"{name}: the published schema", "\n".join(wrong[:5]))


def document(text, name="a report"):
    """Parses a report. Only one that is not as the schema says gets a line of TAP."""
    report = json.loads(text)
    if faults(report):
        valid(report, name)
    return report


def read(path):
    """Parses the report in a file, as document does."""
    with open(path, encoding="utf-8") as file:
        return document(file.read(), path)
