#!/usr/bin/env python3
"""Compares what reaches a backend from Rust with what reaches it from Python, for the rich trace.

    compare.py RUST.jsonl PYTHON.jsonl

Both are the recorder's lines. Registrations are compared as sets, domain by domain: Python registers the schemas of plain
events with the first plain event, and names a category with the first event of it, while here that happens when a stream is
opened or the category is asked for. Writes are compared stream by stream, in their order, byte by byte. What is registered is
compared by what it is, not by its ID; string handles and scopes inside payloads are compared as the bytes that they are.

Where the two differ, one of the rules below has to say so and why. A rule that nothing uses is an error, too.
"""
import collections
import json
import sys

RULES = {}
USED = collections.Counter()


def rule(name, reason):
    """Declares a difference: the function changes a record to what the other side says, or gives None to leave it out. The
    function is only applied to records that it accepts."""

    def declare(function):
        RULES[name] = (reason, function)
        return function

    return declare


# What Rust says and Python has no words for.


@rule("schema name", "a NumPy dtype has no name")
def schema_name(side, record):
    if side.is_rust and record["call"] == "SchemaRegister" and "NAME" in record["mask"]:
        record = dict(record, mask=[bit for bit in record["mask"] if bit != "NAME"])
        del record["name"]
    return record


@rule("packing", "Python gives a packed dtype's offsets and size, and no alignment")
def packing(side, record):
    if side.is_rust and record["call"] == "SchemaRegister" and "ALIGNMENT" in record["mask"]:
        record = dict(record, mask=[bit for bit in record["mask"] if bit != "ALIGNMENT"])
        del record["pack_align"]
    return record


@rule("enums", "Python registers none, so that it has no truth values with names")
def enums(side, record):
    if side.is_rust and record["call"] == "EnumRegister":
        side.unsayable.add((record["domain"], record["id"]))
        return None
    return record


@rule("entries", "Python's entries have no descriptions, are never hidden, relate no events, have no clock of their own, don't refer to flexible data, and are no enums and none of SIZE, INT128 and UINT128")
def entries(side, record):
    if side.is_rust and record["call"] == "SchemaRegister":
        for entry in record["entries"]:
            if (
                entry["description"] is not None
                or "HIDE" in entry["flags"]
                or any(semantics["semantics"] != "COUNTERS_V1" for semantics in entry["semantics"])
                or entry["type"] in ("SIZE", "INT128", "UINT128")
                or (record["domain"], entry["type"]) in side.unsayable
            ):
                side.unsayable.add((record["domain"], record["id"]))
                return None
    return record


@rule("events of such schemas", "they go with their schemas; besides, Python writes one payload per typed event, has no scope for a batch, and no flexible data")
def events_of(side, record):
    used = [payload["schema"] for payload in record.get("payloads", [])] if record["call"] == "EventWrite" else [record.get("schema")]
    if side.is_rust and record["call"] in ("EventWrite", "EventBatchWrite"):
        if any((side.domains[record["stream"]], schema) in side.unsayable for schema in used):
            return None
    return record


@rule("static IDs", "Python lets the backend pick every ID")
def static_ids(side, record):
    return None if side.is_rust and str(record.get("id", "")).startswith("static ") and record["call"] != "TimeDomainRegister" else record


@rule("categories by number", "Python names no number that the caller picked")
def numbered_categories(side, record):
    if record["call"] == "CategoryRegister":
        side.categories[record["domain"]] += 1
        if side.is_rust and record["category"] > side.categories[record["domain"]] + 1:
            return None
    return record


@rule("resources", "Python names no objects")
def resources(side, record):
    return None if side.is_rust and record["call"] == "ResourceRegister" else record


@rule("time domains", "Python registers no time domains and writes nothing that relates them")
def time_domains(side, record):
    calls = ("TimeDomainRegister", "TimeSyncPointWrite", "TimeSyncPointTableWrite", "TimestampConversionFactorWrite")
    is_registered = record["call"] == "StreamOpen" and "time domain" in record["time_domain"]
    if is_registered:
        side.clocked.add(record["name"])
    return None if side.is_rust and (record["call"] in calls or is_registered or record.get("stream") in side.clocked) else record


@rule("intervals", "Python writes no batches of samples at equal distances")
def intervals(side, record):
    return None if side.is_rust and record["call"] == "CounterBatchWrite" and record["other_flags"] else record


@rule("other times", "Python refuses a time beside samples that hold their times")
def other_times(side, record):
    if side.is_rust and record["call"] in ("CounterWrite", "CounterBatchWrite"):
        holds_time = (side.domains[record["stream"]], record["counter"]) in side.timed
        if holds_time and (record["call"] == "CounterWrite" or record["times"] is not None):
            return None
    return record


# What Python says otherwise.


@rule("batch scope", "Python repeats the stream's default scope in each batch; a batch without a scope has the stream's anyway")
def batch_scope(side, record):
    if not side.is_rust and record["call"] == "EventBatchWrite" and record["scope"] != "NONE":
        assert record["scope"] == side.scopes[record["stream"]]
        return dict(record, scope="NONE")
    return record


@rule("named colours", "a colour by its name has alpha 0 in Python, and is opaque here, so that black is a colour")
def named_colors(side, record):
    if not side.is_rust and record["call"] == "EventWrite" and record["payloads"][0].get("values", {}).get("color") == "0x00006400":
        head = dict(record["payloads"][0], bytes=record["payloads"][0]["bytes"].replace("00640000", "006400ff"))
        head["values"] = dict(head["values"], color="0xff006400")
        return dict(record, payloads=[head] + record["payloads"][1:])
    return record


@rule("float counters", "here counters of floats have the types that C's helper takes for C's `float` and `double`; Python's are FLOAT32 and FLOAT64")
def float_counters(side, record):
    names = {"FLOAT": "FLOAT32", "DOUBLE": "FLOAT64"}
    if side.is_rust and record["call"] == "CounterRegister" and record["schema"] in names:
        return dict(record, schema=names[record["schema"]])
    return record


@rule("number types of counters", "for a counter of other numbers than int64 and float64 Python registers a schema of one entry; the bytes of a sample are the same")
def number_types(side, record):
    if side.is_rust:
        return record
    if record["call"] == "SchemaRegister" and len(record["entries"]) == 1 and "FLAGS" not in record["mask"]:
        entry = record["entries"][0]
        assert entry["name"].upper() == entry["type"] and entry["offset"] == 0 and not entry["flags"], record
        side.scalars[record["domain"], record["id"]] = entry["type"]
        return None
    if record["call"] == "CounterRegister" and (record["domain"], record["schema"]) in side.scalars:
        return dict(record, schema=side.scalars[record["domain"], record["schema"]])
    if record["call"] == "CounterWrite" and set(record["sample"]["values"] if isinstance(record["sample"]["values"], dict) else ()) <= {"uint64", "float32"}:
        values = record["sample"]["values"]
        if isinstance(values, dict):
            return dict(record, sample=dict(record["sample"], values=next(iter(values.values()))))
    return record


@rule("closing", "Python closes what is open before it ends a session; here the session's end does, for `gpu` and `log`")
def closing(side, record):
    return None if not side.is_rust and record["call"] == "StreamClose" and record["stream"] in ("gpu", "log") else record


class Side:
    """The records of one producer, changed by the rules, and what they refer to by what it is."""

    def __init__(self, name, lines):
        self.is_rust = name == "Rust"
        self.unsayable, self.timed, self.clocked = set(), set(), set()
        self.domains, self.scopes, self.scalars, self.categories = {}, {}, {}, collections.Counter()
        self.names = {}
        self.registered, self.written, self.lifecycle = collections.Counter(), collections.defaultdict(list), []
        for record in lines:
            self.note(record)
            record = self.ruled(record)
            if record is not None:
                self.enter(record)

    def note(self, record):
        """What rules need to know of records that came before."""
        if record["call"] == "StreamOpen":
            self.domains[record["name"]] = record["domain"]
            self.scopes[record["name"]] = record["scope"]
        if record["call"] == "SchemaRegister" and any(entry["flags"] == ["TIMESTAMP"] for entry in record["entries"]):
            self.timed.add((record["domain"], record["id"]))
        if record["call"] == "CounterRegister" and (record["domain"], record["schema"]) in self.timed:
            self.timed.add((record["domain"], record["id"]))

    def ruled(self, record):
        for name, (_, function) in RULES.items():
            changed = function(self, record)
            if changed != record:
                USED[name] += 1
            if changed is None:
                return None
            record = changed
        return record

    def enter(self, record):
        domain = record.get("domain", self.domains.get(record.get("stream")))
        what = self.by_content(domain, {key: value for key, value in record.items() if key != "id"})
        if "id" in record:
            self.names[domain, record["id"]] = json.dumps(what, sort_keys=True, ensure_ascii=False)
        text = json.dumps(what, sort_keys=True, ensure_ascii=False)
        if "stream" in record and record["call"] != "StreamClose":
            self.written[record["stream"]].append(text)
        elif record["call"].endswith("Register") and record["call"] != "DomainRegister":
            self.registered[text] += 1
        else:
            self.lifecycle.append(text)

    def by_content(self, domain, value, key=None):
        """Replaces the labels of IDs by what they are of."""
        if isinstance(value, dict):
            return {key: self.by_content(domain, item, key) for key, item in value.items()}
        if isinstance(value, list):
            return [self.by_content(domain, item, key) for item in value]
        if key in ("schema", "type", "counter", "scope", "parent", "engine"):
            return self.names.get((domain, value), value)
        return value


def load(path):
    lines = [json.loads(line) for line in open(path, encoding="utf-8")]
    return [record for record in lines if record["call"] != "nvtxwFinalize"]


rust, python = Side("Rust", load(sys.argv[1])), Side("Python", load(sys.argv[2]))
problems = []


def differ(where, one, other):
    problems.append(f"{where}:\n    Rust   {one}\n    Python {other}")


for text in rust.registered - python.registered:
    differ("registered by Rust only", text, "-")
for text in python.registered - rust.registered:
    differ("registered by Python only", "-", text)
for title, one, other in [("lifecycle", rust.lifecycle, python.lifecycle)] + [
    (f"stream {name}", rust.written[name], python.written[name]) for name in sorted(set(rust.written) | set(python.written))
]:
    for index in range(max(len(one), len(other))):
        left, right = (side[index] if index < len(side) else "-" for side in (one, other))
        if left != right:
            differ(f"{title}, call {index + 1}", left, right)
for name, (reason, _) in RULES.items():
    if not USED[name]:
        problems.append(f"the rule `{name}` is not used: {reason}")
    else:
        print(f"{name}: {reason} ({USED[name]} calls)")
same = sum((rust.registered & python.registered).values()) + sum(map(len, rust.written.values())) + len(rust.lifecycle)
print(f"{same} calls are the same on both sides, {sum(USED.values())} differ as said above")
for problem in problems[:20]:
    print(f"differs: {problem}")
sys.exit(1 if problems else 0)
