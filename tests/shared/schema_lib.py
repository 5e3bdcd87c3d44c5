# SPDX-License-Identifier: MIT
"""The published schema of the JSON report, for tests of what the program writes."""


def closed(schema):
    """The schema without permission for members that it does not name."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    done = {name: closed(value) for name, value in schema.items()}
    if "properties" in done and done.get("type") == "object":
        done.setdefault("additionalProperties", False)
    return done
