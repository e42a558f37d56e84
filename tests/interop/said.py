"""What a Python program says that it wrote: one JSON object a line, in the form of the lines of examples/jsonl_backend. And dtypes,
with what their values mean to a backend.
"""
import json
import math
import re

import numpy as np
import nvtx
from nvtx import EntryKind, PayloadEntryType

BEGIN, END, MARK, TIME = EntryKind.RANGE_BEGIN, EntryKind.RANGE_END, EntryKind.MARK, EntryKind.COUNTER_TIMESTAMP
MESSAGE, STRING = EntryKind.MESSAGE, PayloadEntryType.REGISTERED_STRING
COLOR, CATEGORY, RANGE_ID, SCOPE = PayloadEntryType.COLOR_ARGB, PayloadEntryType.CATEGORY, PayloadEntryType.RANGE_ID, PayloadEntryType.SCOPE_ID

# What the arguments of numpy_dtype are called.
ARGUMENTS = {EntryKind: "entry_kind", PayloadEntryType: "entry_type", nvtx.CounterSemantics: "counter_semantics"}


class Said:
    """The lines, and what the numbers in rows stand for: handles of strings, IDs of scopes and categories."""

    def __init__(self):
        self.lines, self.strings, self.scopes, self.categories = [], {0: None}, {}, {0: None}

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in self.lines)


class Place:
    """Where events and samples go."""

    def __init__(self, said, stream, domain=None, scope=""):
        self.said, self.where = said, {"stream": stream, "domain": domain, "scope": scope}

    def at(self, scope):
        """The same stream, in another scope."""
        return Place(self.said, self.where["stream"], self.where["domain"], scope)

    def event(self, kind, time, end=None, name=None, category=None, color=0, range_id=None, fields={}, **more):
        color = f"#{color:08x}" if color else None
        line = {"kind": kind, "schema": None, "name": name, "time": time, "end": end, "category": category, "color": color}
        self.said.lines.append({**line, "range_id": range_id, "fields": fields, **self.where, **more})

    def sample(self, counter, time, fields):
        self.said.lines.append({"kind": "counter", "name": counter, "time": time, "fields": fields, **self.where})

    def no_value(self, counter, time, reason):
        self.said.lines.append({"kind": "counter", "name": counter, "time": time, "no_value": reason.name.capitalize(), **self.where})

    def row(self, layout, row):
        """An event of this layout; `row` is what NumPy stores."""
        event, fields, entries, units, place = {}, {}, {}, {}, self
        for name in layout.dtype.names:
            role, value = layout.roles.get(name), row[name]
            if role in (BEGIN, MARK) or role == END and layout.kind.name in ("RANGE_POP", "RANGE_END"):
                event["time"] = number(value)
            elif role == END:
                event["end"] = number(value)
            elif role == SCOPE:
                place = self.at(self.said.scopes[number(value)]) if value else self
            elif role == CATEGORY:
                event["category"], entries["category"] = self.said.categories.get(number(value), number(value)), name
            elif role in (COLOR, RANGE_ID):
                key = "color" if role == COLOR else "range_id"
                event[key], entries[key] = number(value), name
            elif role in (MESSAGE, (MESSAGE, STRING)):
                event["name"], entries["name"] = self.said.strings[number(value)] if role != MESSAGE else shown(layout.dtype[name], value), name
                event["is_registered"] = role != MESSAGE
            elif role == STRING:
                fields[name] = self.said.strings[number(value)]
            else:
                fields[name] = shown(layout.dtype[name], value)
                if isinstance(role, nvtx.CounterSemantics) and role.unit:
                    units[name] = role.unit.decode()
        place.event(layout.kind.name.lower(), fields=fields, entries=entries, units=units, **event)


class Layout:
    """A structured dtype of `(name, dtype)` or `(name, dtype, role)`. A role is an EntryKind, a PayloadEntryType, both, or a counter's
    semantics.
    """

    def __init__(self, fields, kind=None, align=False):
        self.kind, self.roles = kind, {name: role for name, _, *roles in fields for role in roles}
        self.dtype = np.dtype([(name, self.annotated(name, dtype)) for name, dtype, *_ in fields], align=align)

    def annotated(self, name, dtype):
        role = self.roles.get(name, ())
        roles = role if isinstance(role, tuple) else (role,)
        return nvtx.numpy_dtype(dtype, **{ARGUMENTS[type(role)]: role for role in roles})


def number(value):
    """As JSON has it, which has none for some floats."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if value != value else "inf" if value > 0 else "-inf"
    return value


def shown(dtype, value, is_nested=False):
    """What a backend sees of a value. In a struct the package makes a struct of each scalar, called as its type, and one without a
    name of each array; elsewhere an array has one dimension, whatever its shape, and one of text is one text, with commas for
    the nulls in it.
    """
    if dtype.names:
        return {name: shown(dtype[name], value[name], is_nested=True) for name in dtype.names}
    if dtype.subdtype and (is_nested or dtype.base.names):
        items = value.reshape(math.prod(dtype.shape), *value.shape[len(dtype.shape):])
        return {"field 0": [shown(dtype.base, item, is_nested=True) for item in items]}
    if dtype.base.kind == "S":
        plain = "0x" + np.asarray(value, dtype.base).tobytes().hex()
    elif dtype.base.kind == "U":
        units = np.asarray(value, dtype.base).tobytes().decode("utf-32")
        plain = re.sub("\0+", ", ", units.rstrip("\0")) if dtype.subdtype else units.split("\0")[0]
    else:
        plain = [number(item) for item in value.ravel()] if dtype.subdtype else number(value)
    return {dtype.name: plain} if is_nested else plain
