#!/usr/bin/env python3
"""Says what the calls mean that the recorder wrote down, in the form of the lines of examples/jsonl_backend.

    recorded.py RECORDED.jsonl >LINES.jsonl

It takes the bytes for what the registered schemas say, without any of nvtxw: what a program says that it wrote can be compared
with what it called (lines.py).
"""
import json
import sys

KINDS = {"MARK", "RANGE_PUSHPOP", "RANGE_STARTEND", "RANGE_PUSH", "RANGE_POP", "RANGE_START", "RANGE_END"}
ATTRIBUTES = {"COLOR_ARGB": "color", "CATEGORY": "category", "RANGE_ID": "range_id", "SCOPE_ID": "scope"}
PARENTS = {"ROOT": "/", "NONE": "", "CURRENT_HW_MACHINE": "CurrentHwMachine/", "CURRENT_VM": "CurrentVm/"}


class Session:
    def __init__(self):
        self.schemas, self.scopes, self.counters, self.categories, self.streams = {}, {}, {}, {}, {}

    def register(self, record):
        """What later calls refer to."""
        call, key = record["call"], (record.get("domain"), record.get("id"))
        if call in ("SchemaRegister", "EnumRegister"):
            self.schemas[key] = record
        elif call == "ScopeRegister":
            parent = PARENTS.get(record["parent"])
            self.scopes[key] = (self.scopes[key[0], record["parent"]] + "/" if parent is None else parent) + record["path"]
        elif call == "CounterRegister":
            self.counters[key] = record
        elif call == "CategoryRegister":
            self.categories[record["domain"], record["category"]] = record["name"]
        elif call == "StreamOpen":
            self.streams[record["name"]] = record

    def scope(self, domain, label):
        return PARENTS[label] if label in PARENTS else self.scopes[domain, label]

    def value(self, domain, entry, value):
        """A value as the lines show it: an enum's by its name, a struct without what is hidden."""
        if isinstance(value, list):
            return [self.value(domain, entry, item) for item in value]
        schema = self.schemas.get((domain, entry["type"]), {})
        if schema.get("call") == "EnumRegister":
            return next((named["name"] for named in schema["values"] if named["value"] == value), value)
        if isinstance(value, dict):
            return self.fields(domain, schema, value)
        return value

    def fields(self, domain, schema, values, is_event=False):
        fields = {}
        for index, entry in enumerate(schema["entries"]):
            is_attribute = is_event and (entry["type"] in ATTRIBUTES or {"TIMESTAMP", "EVENT_MESSAGE"} & set(entry["flags"]))
            if not is_attribute and "HIDE" not in entry["flags"]:
                fields[entry["name"] or f"field {index}"] = self.value(domain, entry, values[entry["name"] or ""])
        return fields

    def event(self, stream, payloads):
        domain = stream["domain"]
        line = {"kind": None, "schema": None, "name": None, "time": None, "end": None, "category": None, "color": None, "range_id": None, "fields": {}}
        scope = stream["scope"]
        for payload in payloads:
            schema = self.schemas[domain, payload["schema"]]
            if "text" in payload:
                line["name"] = payload["text"]
                continue
            kinds = KINDS & set(schema.get("flags", ()))
            if kinds:
                line["kind"], line["schema"] = kinds.pop().lower(), schema.get("name")
            for entry in schema["entries"]:
                value = payload["values"][entry["name"] or ""]
                if entry["type"] == "SCOPE_ID" and value != "NONE":
                    scope = value
                elif entry["type"] in ATTRIBUTES:
                    line[ATTRIBUTES[entry["type"]]] = value
                elif "EVENT_MESSAGE" in entry["flags"]:
                    line["name"] = value
                elif "TIMESTAMP" in entry["flags"]:
                    line["time" if line["time"] is None else "end"] = value
            line["fields"].update(self.fields(domain, schema, payload["values"], is_event=True))
        line["category"] = self.categories.get((domain, line["category"]), line["category"]) or None
        line["color"] = "#" + line["color"][2:] if line["color"] and int(line["color"], 16) else None
        line.pop("scope", None)
        self.show(line, stream, scope)

    def sample(self, record, stream, time, sample):
        counter = self.counters[stream["domain"], record["counter"]]
        schema, values = self.schemas.get((stream["domain"], counter["schema"])), sample["values"]
        fields = self.fields(stream["domain"], schema, values) if schema else {counter["name"]: values}
        self.show({"kind": "counter", "name": counter["name"], "time": time, "fields": fields}, stream, self.counter_scope(counter, stream))

    def counter_scope(self, counter, stream):
        return stream["scope"] if counter["scope"] == "NONE" else counter["scope"]

    def show(self, line, stream, scope):
        line.update(stream=stream["name"], domain=stream["domain"] or None, scope=self.scope(stream["domain"], scope))
        print(json.dumps(line, ensure_ascii=False))

    def write(self, record):
        call, stream = record["call"], self.streams.get(record.get("stream"))
        if call == "EventWrite":
            self.event(stream, record["payloads"])
        elif call == "EventBatchWrite":
            for event in record["events"]:
                self.event(stream, [dict(event, schema=record["schema"])])
        elif call == "CounterWrite":
            self.sample(record, stream, record["time"], record["sample"])
        elif call == "CounterBatchWrite":
            for time, sample in zip(record["times"], record["samples"], strict=True):
                self.sample(record, stream, time, sample)
        elif call == "CounterNoValueWrite":
            counter = self.counters[stream["domain"], record["counter"]]
            line = {"kind": "counter", "name": counter["name"], "time": record["time"], "no_value": record["reason"].capitalize()}
            self.show(line, stream, self.counter_scope(counter, stream))


session = Session()
for record in open(sys.argv[1], encoding="utf-8"):
    record = json.loads(record)
    session.register(record)
    session.write(record)
