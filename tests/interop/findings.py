#!/usr/bin/env python3
"""Compares what the checker found with what is expected.

    findings.py FINDINGS.jsonl [CODE=COUNT]...

FINDINGS.jsonl is what NVTXW_CHECK_OUTPUT names; each session in it must have ended. The counts are those of all sessions together.
"""
import json
import sys
from collections import Counter


def read(path):
    """All lines; of what was found the counts, and the sessions that were not ended."""
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    found, running = Counter(), Counter()
    for line in lines:
        running[line.get("begin")] += 1
        running[line.get("end")] -= 1
        found.update(line.get("findings", {}))
    del running[None]
    return lines, dict(found), sorted(name for name, count in running.items() if count)


if __name__ == "__main__":
    lines, found, running = read(sys.argv[1])
    expected = {code: int(count) for code, count in (argument.split("=") for argument in sys.argv[2:])}
    if not any("end" in line for line in lines) or running or found != expected:
        for line in lines:
            print(json.dumps(line, ensure_ascii=False), file=sys.stderr)
        sys.exit(f"{sys.argv[1]}: found {found}, expected {expected}; not ended: {running}")
    print(f"{sys.argv[1]}: {found or 'no findings'}")
