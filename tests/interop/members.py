#!/usr/bin/env python3
"""Checks that docs/coverage.md has every member of Python's writer API, with every parameter.

    members.py COVERAGE.md
"""
import enum
import inspect
import re
import sys

import nvtx
from nvtx import writer

# Names of `nvtx` itself that the writer takes.
TAKEN = ["BatchOrdering", "CounterInterpolation", "CounterNoValueReason", "CounterSemantics", "CounterValueType", "EntryKind", "EventKind", "PayloadEntryType", "TimestampType", "numpy_dtype"]


def signature(name, function):
    parameters = [p for p in inspect.signature(function).parameters.values() if p.name != "self" and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return f"{name}({', '.join(p.name for p in parameters)})"


def members():
    named = [(name, getattr(writer, name)) for name in writer.__all__] + [(name, getattr(nvtx, name)) for name in TAKEN]
    for name, item in named:
        if not inspect.isclass(item):
            yield signature(name, item)
        elif issubclass(item, enum.Enum):
            yield from (f"{name}.{value.name}" for value in item)
        else:
            if name == "Session":
                # A Cython class hides the parameters of its `__init__`.
                yield "Session(name, backend, config)"
            elif name in ("CounterSemantics", "WriterError"):
                yield signature(name, item)
            for member, value in vars(item).items():
                if name == "CounterSemantics" or member.startswith("_"):
                    continue
                yield signature(f"{name}.{member}", getattr(item, member)) if callable(getattr(item, member)) else f"{name}.{member}"


text = open(sys.argv[1], encoding="utf-8").read()
subjects = set()
for line in text.splitlines():
    if line.startswith("|"):
        subjects.update(re.findall(r"`([^`]*)`", line.split(" | ")[0]))
# `Enum.{A, B}` stands for both.
for subject in list(subjects):
    several = re.fullmatch(r"(\w+)\.\{(.*)\}", subject)
    if several:
        subjects.update(f"{several[1]}.{value}" for value in several[2].split(", "))
wanted = list(members())
missing = [member for member in wanted if member not in subjects]
for member in missing:
    print(f"not in {sys.argv[1]}: {member}")
print(f"{len(wanted) - len(missing)} of {len(wanted)} members of nvtx.writer are covered")
sys.exit(1 if missing else 0)
