#!/usr/bin/env python3
"""Checks that docs/coverage.md has every member of Python's writer API, with every parameter, and that a program uses each of them.

    members.py COVERAGE.md PROGRAM.py…
"""
import ast
import collections
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


def covered(path):
    """What the tables' first columns name. `Enum.{A, B}` stands for both."""
    for line in open(path, encoding="utf-8"):
        for subject in re.findall(r"`([^`]*)`", line.split(" | ")[0]) if line.startswith("|") else ():
            several = re.fullmatch(r"(\w+)\.\{(.*)\}", subject)
            yield from (f"{several[1]}.{value}" for value in several[2].split(", ")) if several else (subject,)


class Uses(ast.NodeVisitor):
    """What a program uses: names, attributes, all that is gone through, and with how many and which arguments it calls."""

    def __init__(self):
        self.attributes, self.looped, self.keywords = set(), set(), set()
        self.positional = collections.Counter()

    def visit_Attribute(self, node):
        self.attributes.add(node.attr)
        if isinstance(node.value, ast.Name):
            self.attributes.add(f"{node.value.id}.{node.attr}")
        self.generic_visit(node)

    def visit_For(self, node):
        self.note_loop(node)

    def visit_comprehension(self, node):
        self.note_loop(node)

    def note_loop(self, node):
        if isinstance(node.iter, ast.Name):
            self.looped.add(node.iter.id)
        self.generic_visit(node)

    def visit_Call(self, node):
        name = getattr(node.func, "attr", getattr(node.func, "id", None))
        self.positional[name] = max(self.positional[name], len(node.args))
        self.keywords.update(keyword.arg for keyword in node.keywords)
        self.generic_visit(node)

    def visit_Constant(self, node):
        # The key of options that are handed on.
        self.keywords.add(node.value)

    def has(self, member):
        name, *parameters = re.findall(r"[\w.]+", member)
        owner, _, last = name.rpartition(".")
        if not member.endswith(")"):
            is_value = last.isupper()
            return name in self.attributes or owner in self.looped if is_value else last in self.attributes
        return last in self.positional and all(index < self.positional[last] or name in self.keywords for index, name in enumerate(parameters))


wanted, subjects, uses = list(members()), set(covered(sys.argv[1])), Uses()
for program in sys.argv[2:]:
    uses.visit(ast.parse(open(program, encoding="utf-8").read()))
missing = [f"not in {sys.argv[1]}: {member}" for member in wanted if member not in subjects]
missing += [f"not used by {sys.argv[2]}: {member}" for member in wanted if not uses.has(member)]
for problem in missing:
    print(problem)
print(f"{len(wanted)} members of nvtx.writer, {len(missing)} missing")
sys.exit(bool(missing))
