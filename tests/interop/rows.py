#!/usr/bin/env python3
"""Derives from what a program says that it wrote what a reader must find in the file, and compares: row by row, track by track.

    rows.py SAID.jsonl TRACE.pftrace DUMP.jsonl

SAID.jsonl has the form of the lines of examples/jsonl_backend, with the counters that were declared; DUMP.jsonl is pfcheck.py's
--dump of the file. The rules are those that backends/file/src/lib.rs tells. Exit 0 only where both are equal.
"""
import collections
import decimal
import json
import re
import sys
import unicodedata

import colors
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

from tracks import descriptors, steps

WHOLE = ("range_pushpop", "range_startend")


def segments(scope):
    """The tracks of a scope's path: what it starts from has none."""
    parts = re.findall(r"(?:\\.|[^/\\])+", scope)
    if parts and re.fullmatch("Current(Hw|Sw|Hypervisor|Vm|Kernel|Container|Os)[A-Za-z]*", parts[0]):
        parts = parts[1:]
    return [re.sub(r"\\(.)", r"\1", part) for part in parts]


FIRST = {}


def level(line):
    """The level of a domain: none of the first one in a scope. The root's is that of the first stream."""
    first = FIRST.setdefault(line["scope"], line["domain"])
    return [line["domain"]] if line["domain"] not in (None, first) else []


def place(line):
    """Where ranges and marks are. Without a scope, or in the root, a stream is a track of its own."""
    return segments(line["scope"]) + level(line) if segments(line["scope"]) else [line["stream"] or "stream"]


def counter_place(line):
    """Where counters are: those of the root have no track above them."""
    return [line["stream"] or "stream"] if line["scope"] == "" else segments(line["scope"]) + level(line)


def times(line):
    """Start and end in the file's nanoseconds; without a clock of their own ticks are such."""
    clock = line.get("clock", {"ns_per_tick": 1, "zero": 0})
    return [ticks if ticks is None else ticks * clock["ns_per_tick"] + clock["zero"] for ticks in (line["time"], line.get("end"))]


def shown(value):
    """A field's value as an annotation: absent ones are not there, floats that are no number are text in both, bytes may be text,
    and a struct of one value that is called as its type, or has no name, is the value.
    """
    if isinstance(value, dict):
        if len(value) == 1 and re.fullmatch(r"field 0|u?int\d+|float\d+|bytes\d+|str\d+", next(iter(value))):
            return shown(next(iter(value.values())))
        return {name: shown(item) for name, item in value.items() if item is not None}
    if isinstance(value, list):
        return [shown(item) for item in value] or "[]"
    if isinstance(value, str) and re.fullmatch("0x([0-9a-f]{2})+", value):
        try:
            text = bytes.fromhex(value[2:]).rstrip(b"\0").decode()
        except UnicodeDecodeError:
            return value
        return value if any(unicodedata.category(character) == "Cc" for character in text) else text
    return {"NaN": "nan"}.get(value, value) if isinstance(value, str) else value


def annotations(line):
    units = line.get("units", {})
    args = {f"{name} ({units[name]})" if name in units else name: shown(item) for name, item in line["fields"].items() if item is not None}
    entries = line.get("entries", {})
    if line["color"] is not None:
        if (text := colors.text(int(line["color"][1:], 16))) is not None:
            args["#correlation"] = text
        args[entries.get("color", "color")] = int(line["color"][1:], 16)
    if line["kind"] == "range_start":
        args[entries.get("range_id", "rangeId")] = line["range_id"]
    return args


def name(line):
    """Plain events without a message have an empty one; an empty registered string was meant."""
    is_named = line["name"] or line.get("is_registered") and line["name"] is not None
    return line["name"] if is_named else line["schema"] or line["kind"]


def categories(line):
    return [] if line["category"] is None else [str(line["category"])]


def row(kind, line, dur=None):
    return {"kind": kind, "track": place(line), "ts": times(line)[0], "dur": dur, "name": name(line), "cats": categories(line), "args": annotations(line), "value": None}


def close(opened, line):
    """The end of a range. It adds its fields, and where they differ from the start's its name, category and colour; names of fields
    that repeat get numbers.
    """
    opened["dur"] = times(line)[0] - opened["ts"]
    entries, more = line.get("entries", {}), {}
    is_named = line["name"] or line.get("is_registered") and line["name"] is not None
    if is_named and line["name"] != opened["name"]:
        more[entries.get("name", "message")] = line["name"]
    if line["category"] is not None and categories(line) != opened["cats"]:
        more[entries.get("category", "category")] = str(line["category"])
    added = annotations(line)
    added.pop("#correlation", None)
    if line["color"] == opened["color"]:
        added.pop(entries.get("color", "color"), None)
    for key, value in {**more, **added}.items():
        unique, copy = key, 2
        while unique in opened["args"]:
            unique, copy = f"{key} ({copy})", copy + 1
        opened["args"][unique] = value


class Derived:
    def __init__(self, lines):
        self.rows, self.tracks = [], {}
        self.declared = {(line["domain"], line["name"]): line for line in lines if line["kind"] == "declared"}
        self.pushed, self.started, self.last = collections.defaultdict(list), {}, {}
        FIRST["/"] = next(line["domain"] for line in lines if line["kind"] != "declared")
        for line in lines:
            if line["kind"] == "counter":
                self.sample(line)
            elif line["kind"] != "declared":
                self.event(line)

    def event(self, line):
        kind = line["kind"]
        pushed = self.pushed[line["stream"], line["scope"]]
        range_id = line["stream"], line["range_id"]
        if kind == "mark":
            self.rows.append(row("instant", line))
        elif kind in WHOLE:
            start, end = times(line)
            self.rows.append(row("slice", line, end - start))
        elif kind == "range_pop":
            close(pushed.pop(), line)
        elif kind == "range_end":
            close(self.started.pop(range_id), line)
        else:
            self.rows.append(row("slice", line, -1))
            self.rows[-1]["color"] = line["color"]
            if kind == "range_push":
                pushed.append(self.rows[-1])
            else:
                self.started[range_id] = self.rows[-1]

    def sample(self, line):
        declared = self.declared[line["domain"], line["name"]]
        if line.get("no_value") == "Unavailable":
            self.mark(line, f"{line['name']}: unavailable")
        for field, semantics in declared["fields"].items():
            track = tuple(counter_place(line) + [line["name"]] + ([field] if declared["is_group"] else []))
            # The description of a whole counter is that of the folder of a group.
            self.tracks[track] = semantics if declared["is_group"] else dict(semantics, description=declared["description"])
            if declared["is_group"] and declared["description"]:
                self.tracks[track[:-1]] = {"description": declared["description"]}
            key = (line["stream"], track)
            if "fields" in line:
                value = line["fields"][field]
                if value not in ("NaN", "inf", "-inf"):
                    value = float(value) if value >= 2**63 else value
                    numerator, denominator = semantics.get("scale", [1, 1])
                    # A whole factor is the track's.
                    value = scaled(value, numerator, denominator) if denominator != 1 else value
                self.last[key] = value
            elif line["no_value"] == "Zero":
                value = self.last[key] = 0
            elif line["no_value"] == "Unavailable":
                continue
            elif key in self.last:
                value = self.last[key]
            else:
                continue
            if isinstance(value, str):
                # Viewers can't draw it.
                word = {"NaN": "NaN", "inf": "+Inf", "-inf": "-Inf"}[value]
                self.mark(line, f"{'/'.join(track[-2 if declared['is_group'] else -1:])}: {word}")
                continue
            self.rows.append({"kind": "counter", "track": list(track), "ts": times(line)[0], "dur": None, "name": track[-1], "cats": [], "args": {}, "value": value})

    def mark(self, line, name):
        """An instant where a counter has no value to be drawn."""
        self.rows.append({"kind": "instant", "track": place(line), "ts": times(line)[0], "dur": None, "name": name, "cats": [], "args": {}, "value": None})


FACTS = {
    "delta_since_start": "Differences to the start.",
    "point": "Nothing is known between the samples.",
    "since_last": "A value holds since the sample before.",
    "until_next": "A value holds until the next sample.",
    "linear": "Values run straight from sample to sample.",
}


def scaled(value, numerator, denominator):
    """In the counter's unit; an integer stays one where it can."""
    if isinstance(value, int) and value * numerator % denominator == 0:
        return value * numerator // denominator
    return float(value * numerator) / denominator if isinstance(value, int) else value * numerator / denominator


def description(semantics):
    """What a counter's track says of it beyond its unit."""
    facts = [semantics.get("description"), FACTS.get(semantics.get("value_type")), FACTS.get(semantics.get("interpolation"))]
    for bound, which in (("Least", "min"), ("Greatest", "max")):
        limit = semantics.get(which)
        if limit is not None:
            scale = semantics["scale"]
            limit = limit if scale == [1, 1] else scaled(limit if limit < 2**63 else float(limit), *scale)
            facts.append(f"{bound} expected value: {decimal.Decimal(str(limit)).normalize():f}.")
    if semantics.get("value_type") == "delta":
        facts.append("The sum of differences to the sample before.")
    return "\n".join(fact for fact in facts if fact)


def described():
    """The tracks of the file by path: unit, multiplier, whether values are differences, and description."""
    units = {pb.CounterDescriptor.UNIT_SIZE_BYTES: "bytes", pb.CounterDescriptor.UNIT_TIME_NS: "ns", pb.CounterDescriptor.UNIT_COUNT: "count"}
    return {
        tuple(steps(DESCRIPTORS, track.uuid)): (track.counter.unit_name or units.get(track.counter.unit), track.counter.unit_multiplier or 1, track.counter.is_incremental, track.description)
        for track in DESCRIPTORS.values()
        if not track.HasField("process") and not track.HasField("thread")
    }


def key(row):
    return json.dumps([row["kind"], row["track"], row["ts"], row["dur"], row["name"], row["cats"], row["value"], sorted(row["args"].items())], ensure_ascii=False)


derived = Derived([json.loads(line) for line in open(sys.argv[1], encoding="utf-8")])
found = [json.loads(line) for line in open(sys.argv[3], encoding="utf-8")]
DESCRIPTORS = descriptors(sys.argv[2])
for found_row in found:
    found_row["track"] = steps(DESCRIPTORS, found_row.pop("uuid"))
    if found_row["kind"] == "counter":
        found_row["name"] = found_row["track"][-1]
    found_row["dur"] = found_row.get("dur") if found_row["kind"] == "slice" else None
    found_row.setdefault("value", None)
want, have = (collections.Counter(map(key, rows)) for rows in (derived.rows, found))
problems = [f"lost:  {text}" for text in (want - have).elements()] + [f"extra: {text}" for text in (have - want).elements()]
tracks = described()
for track, semantics in derived.tracks.items():
    numerator, denominator = semantics.get("scale", [1, 1])
    expected = (semantics.get("unit"), numerator if denominator == 1 else 1, semantics.get("value_type") == "delta", description(semantics))
    if tracks.get(track) != expected:
        problems.append(f"track {' / '.join(track)}: derived {expected}, found {tracks.get(track)}")
for problem in sorted(problems)[:10]:
    print(problem)
print(f"{len(derived.rows)} rows and {len(derived.tracks)} counters derived, {len(found)} rows found, {len(problems)} differ")
sys.exit(bool(problems) or not found)
