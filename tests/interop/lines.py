#!/usr/bin/env python3
"""Compares what a program says that it wrote with the lines that a backend wrote of it, value by value.

    lines.py SAID.jsonl LINES.jsonl

Both have the form of the lines of examples/jsonl_backend. Streams are compared one by one, each in its order, which is that of
the calls. What doesn't reach such lines is left out: what is declared, how entries are called that hold attributes, whether a
name is a registered string, the units of fields, how a clock runs. Exit 0 only where all is equal.
"""
import collections
import json
import sys


def load(path):
    streams = collections.defaultdict(list)
    for line in open(path, encoding="utf-8"):
        line = json.loads(line)
        if line["kind"] != "declared":
            for key in ("entries", "units", "is_registered", "clock"):
                line.pop(key, None)
            streams[line["stream"]].append(json.dumps(line, sort_keys=True, ensure_ascii=False))
    return streams


said, found = load(sys.argv[1]), load(sys.argv[2])
problems = []
for stream in sorted(said.keys() | found.keys()):
    one, other = said[stream], found[stream]
    for index in range(max(len(one), len(other))):
        left, right = (lines[index] if index < len(lines) else "nothing" for lines in (one, other))
        if left != right:
            problems.append(f"stream {stream!r}, line {index + 1}:\n    said  {left}\n    found {right}")
for problem in problems[:5]:
    print(problem)
print(f"{sum(map(len, said.values()))} lines said, {sum(map(len, found.values()))} found, {len(problems)} differ")
sys.exit(bool(problems) or not said)
