#!/usr/bin/env python3
"""Compares what is in the corpus' traces in Chrome's JSON, and in Parquet, with the rows of the cases.

    formats.py CASES TRACES

CASES has the `.case` files, TRACES the traces that the test `corpus` of nvtxw-tests wrote of them. Each format tells the same
in its own way; what is equal then must be equal: tracks, times, names, categories, arguments, values, which rows are joined.
Exit 0 only where all is.
"""
import collections, json, math, pathlib, re, sys, unicodedata
from decimal import Decimal

import chrome
import parquet

cases, traces = map(pathlib.Path, sys.argv[1:3])
SESSION = "corpus"


def number(text):
    """A number that stands in a string because it is none of JSON, or too great for readers."""
    if re.fullmatch(r"-?\d+", text):
        return plain(int(text))
    return {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}.get(text, text)


def plain(value):
    """A value in a form that all formats come to."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int) and abs(value) >= 1 << 63:
        # In some formats only the nearest double.
        return f"{float(value):.6g}"
    if isinstance(value, str):
        if re.fullmatch(r"#[0-9A-F]{8}", value):
            return int(value[1:], 16)
        if re.fullmatch(r"0x[0-9a-f]+", value):
            # An address, or a few bytes.
            return int(value, 16)
        if value == "[]":
            return []
        return number(value)
    if isinstance(value, (float, Decimal)):
        # Of 32 bits there is the shortest form, or the exact one.
        value = float(value)
        return f"{value:.6g}" if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {name: plain(field) for name, field in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value if item is not None]
    return value


def text_of_bytes(value):
    """An array of bytes that are text, filled up with nulls, as the text that other formats show."""
    if isinstance(value, str) and re.fullmatch(r"0x([0-9a-f]{2}){2,}", value):
        try:
            text = bytes.fromhex(value[2:]).rstrip(b"\0").decode()
        except UnicodeDecodeError:
            return value
        return value if any(unicodedata.category(character) == "Cc" for character in text) else text
    return value


def shown(row):
    return json.dumps(row, ensure_ascii=False, sort_keys=True)


def read(path):
    """Name, title, config, rows and calls of each case of a file."""
    found = []
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.startswith("## "):
            found.append({"name": f"{path.stem}-{len(found) + 1:02}", "title": line[3:], "config": "", "rows": [], "calls": []})
        elif line.startswith("config "):
            found[-1]["config"] = line[7:]
        elif line.startswith("= "):
            word, _, rest = line[2:].partition(" ")
            found[-1]["rows"].append((word, values(rest)))
        elif line and found:
            found[-1]["calls"].append(line)
    return found


def values(text):
    decoder, at, found = json.JSONDecoder(), 0, []
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        found.append(value)
        at += len(text[at:]) - len(text[at:].lstrip())
    return found


def places(track, format, domains, is_counter):
    """A track's path. A process' own thread in Chrome's format is called like it; Parquet has domains in a column."""
    track = [re.sub(r"^(Process|Thread) (-?\d+)$", r"\2", step) for step in track]
    if format == "chrome" and track[:1] == track[1:2]:
        track = track[1:]
    if format == "parquet":
        first = 0 if is_counter else 1
        level = next((at for at, step in enumerate(track) if first <= at < len(track) - is_counter and step in domains), None)
        track = [step for at, step in enumerate(track) if at != level]
    return "/".join(track)


def colors(case):
    """What the arguments are called that are colours of events."""
    named = re.findall(r'\["([^"]*)", "color_argb"', "".join(case["calls"]))
    return {"color", *named, *(f"{name} (2)" for name in named)}


def unitless(value):
    """Arguments without units in their names."""
    if isinstance(value, dict):
        return {re.sub(r" \([^()]*\D[^()]*\)$", "", name): unitless(item) for name, item in value.items()}
    return [unitless(item) for item in value] if isinstance(value, list) else value


class Expected:
    def __init__(self, case, format, base):
        self.rows, self.flows = collections.Counter(), collections.defaultdict(set)
        rows = [(word, row) for word, row in case["rows"] if word in ("slice", "instant", "counter")]
        domains = {json.loads(name) for call in case["calls"] for name in re.findall(r'"domain": ("(?:[^"\\]|\\.)*")', call)}
        for word, row in rows:
            options = row[-1] if isinstance(row[-1], dict) else {}
            track, ts = places(row[0], format, domains, word == "counter"), row[1] + base
            if word == "counter":
                self.add(["counter", track, ts, plain(row[2])], [])
                continue
            args = options.get("args", {})
            args = {name: plain(value) for name, value in args.items() if not name.startswith("#")}
            name = row[4] if word == "slice" else row[2]
            if format == "parquet":
                # A colour is a column, and units are no part of a name.
                args = unitless({key: value for key, value in args.items() if key not in colors(case)})
                if (mark := re.fullmatch(r"(.*): (NaN|[+-]Inf|unavailable)", name)) and word == "instant":
                    # A value as others; one that is unavailable is null.
                    if mark[2] != "unavailable":
                        self.add(["counter", f"{track}/{mark[1]}", ts, {"NaN": "nan", "+Inf": "inf", "-Inf": "-inf"}[mark[2]]], [])
                    continue
            dur = row[2] if word == "slice" else 0
            # In Chrome's format an arrow would end at a range around a mark.
            flows = options.get("flows", []) if format != "chrome" or word == "slice" else []
            self.add([word, track, ts, dur, name, options.get("cats", []), args], flows)

    def add(self, row, flows):
        self.rows[shown(row)] += 1
        for flow in flows:
            self.flows[flow].add(shown(row))


class Found:
    def __init__(self):
        self.rows, self.flows = collections.Counter(), collections.defaultdict(set)

    def add(self, row, flows):
        row = shown(row)
        self.rows[row] += 1
        for flow in flows:
            self.flows[flow].add(row)


def in_chrome(case, path):
    reader = chrome.Reader(path.read_text(encoding="utf-8"))
    found = Found()
    for row in reader.replay():
        process, thread = row["track"]
        if row["kind"] != "counter":
            thread = re.sub(r" \(\d+\)$", "", thread)
        parts = [thread] if process in (SESSION, thread) else [process, thread]
        if row["kind"] == "counter":
            found.add(["counter", "/".join(parts), row["ts"], plain(row["value"])], [])
            continue
        args = {name: plain(value) for name, value in row["args"].items()}
        if "nvtxw.end" in args:
            args["nvtxw.end"] = int(row["args"]["nvtxw.end"] * 1000)
        found.add([row["kind"], "/".join(parts), row["ts"], row.get("dur", 0), row["name"], row["cats"], args], row["flows"])
    return found, reader.errors


def in_parquet(case, path):
    dataset = parquet.Dataset(path)
    found = Found()
    for row in [*dataset.events(), *dataset.values()]:
        track = row["track"]
        if track[:1] in (["CurrentVm"], ["CurrentHwMachine"]):
            # Perfetto's tracks don't say what a path starts from.
            track = track[1:]
        if row["kind"] == "counter":
            if row["value"] is not None:
                found.add(["counter", "/".join(track), row["ts"], plain(row["value"])], [])
            continue
        dur = row["dur"] if row["kind"] == "slice" else 0
        args = {name: plain(text_of_bytes(value)) for name, value in row["args"].items()}
        found.add([row["kind"], "/".join(track), row["ts"], dur, row["name"], row["cats"], args], row["flows"])
    return found, dataset.errors


def bases(case, format):
    """What Perfetto's times may count from. Those of Chrome's format count only from a base that is given, and Parquet's never."""
    if format == "chrome" and "base=" in case["config"]:
        return [0]
    told = [row[1] for word, row in case["rows"] if word == "attribute" and row[0] == "nvtxw.time_base"]
    given = [int(number) for number in re.findall(r"base=(-?\d+)", case["config"])]
    return told or given or [0, -1 << 62]


def differs(case, format):
    """Whether a format need not have the rows of a case."""
    calls = "".join(case["calls"])
    if format == "parquet":
        # Values are in the unit that is told, and names of one table say nothing about another.
        return case["title"] in BASED + TABLES + CLOCKS + ROOT or '"scale"' in calls
    # Differences are added up.
    return case["title"] in BASED or '"DELTA"' in calls


# Cases of times that Perfetto's files can't hold, which others do.
BASED = ["a time that the file can't hold stays as it was believed, and is counted"]

# Cases of streams that read several clocks, whose rows in tables keep the times that were believed.
CLOCKS = ["events of a stream that reads several clocks get their times too, each by its own"]

# Cases of names that stand in several tables, and of a bool that is none.
TABLES = [
    "D8: enums are the names of their values; bool is one",
    "the fields of both halves are the range's, those of the end after those of the start",
    "the fields of both halves, though the first was written long before",
    "fields of one name in several payloads are numbered",
    "a struct of one field that has no name, or that of its type, is no level of its own",
]

# Cases of counters in the root, which are in no place where events are.
ROOT = ["marks of a counter without a value stand where ranges of its scope are"]


def compare(case, format, found, base):
    want = Expected(case, format, base)
    # Other formats hold all times.
    more = [row for row in found.rows - want.rows if not {"too early", "too late"} & set(map(str, json.loads(row)))]
    wrong = [f"missing: {row}" for row in want.rows - found.rows] + [f"not expected: {row}" for row in more]
    if not wrong and any(not rows <= other for rows in want.flows.values() if len(rows) > 1
                         for other in [set().union(*(joined for joined in found.flows.values() if joined & rows))]):
        wrong.append(f"flows: {dict(want.flows)} are not among {dict(found.flows)}")
    return wrong


def check(case, format, extension, read):
    path = traces / f"{case['name']}.{extension}"
    if not path.exists() or differs(case, format):
        return None
    found, errors = read(case, path)
    wrong = errors + min((compare(case, format, found, base) for base in bases(case, format)), key=len)
    if wrong:
        print(f"{case['name']} in {format} ({case['title']}):", *wrong, sep="\n")
    return bool(wrong)


every = [case for path in sorted(cases.glob("*.case")) for case in read(path)]
bad = 0
for format, extension, reader in (("chrome", "json", in_chrome), ("parquet", "parquet", in_parquet)):
    results = [result for case in every if (result := check(case, format, extension, reader)) is not None]
    print(json.dumps({"format": format, "cases": len(results), "wrong": sum(results)}))
    bad += sum(results)
sys.exit(1 if bad else 0)
