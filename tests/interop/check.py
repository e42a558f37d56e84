#!/usr/bin/env python3
"""Compares the rows that a reader finds with those that a producer wrote.

    check.py EXPECTED.json FOUND.jsonl

FOUND.jsonl is pfcheck.py's --dump. A null name in EXPECTED.json leaves the name open. Exit 0 only where both are equal.
"""
import collections
import json
import sys


def key(row, named):
    return json.dumps(
        [row["kind"], row["track"], row["ts"], row.get("dur"), row["name"] if named else None, sorted(row["cats"]), row.get("value"), sorted(row["args"].items())],
        ensure_ascii=False,
    )


expected = json.load(open(sys.argv[1]))
found = [json.loads(line) for line in open(sys.argv[2])]
unnamed = {(row["kind"], row["ts"]) for row in expected if row["name"] is None}
for row in found:
    row.setdefault("dur", None)
    if row["kind"] != "slice":
        row["dur"] = None
    # The annotation that repeats a colour's true value is checked by its own name elsewhere; here the shown colour counts.
    if "#correlation" in row["args"]:
        row["args"].pop("color", None)
want = collections.Counter(key(row, row["name"] is not None) for row in expected)
have = collections.Counter(key(row, (row["kind"], row["ts"]) not in unnamed) for row in found)
lost, extra = want - have, have - want
for title, rows in (("lost", lost), ("extra", extra)):
    for row in list(rows)[:5]:
        print(f"{title}: {row}")
print(json.dumps({"expected": sum(want.values()), "found": sum(have.values()), "lost": sum(lost.values()), "extra": sum(extra.values())}))
sys.exit(1 if lost or extra else 0)
