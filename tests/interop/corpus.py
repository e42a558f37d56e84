#!/usr/bin/env python3
"""Compares what pfcheck.py finds in the traces of tests/corpus with the rows of the cases there.

    corpus.py PFCHECK CASES TRACES

CASES has the `.case` files, TRACES the traces that the test `corpus` of nvtxw-tests wrote of them. The rows `track` and
`order` are about descriptors, which pfcheck.py does not list; that test checks them. Exit 0 only where all is equal.
"""
import collections
import concurrent.futures
import json
import pathlib
import subprocess
import sys

from tracks import descriptors, steps

pfcheck, cases, traces = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])


def values(text):
    """The JSON values of a line, one after the other."""
    decoder, at, found = json.JSONDecoder(), 0, []
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        found.append(value)
        at += len(text[at:]) - len(text[at:].lstrip())
    return found


def read(path):
    """Name, title and rows of each case of a file."""
    found = []
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.startswith("## "):
            found.append((f"{path.stem}-{len(found) + 1:02}", line[3:], []))
        elif line.startswith("= "):
            word, _, rest = line[2:].partition(" ")
            found[-1][2].append((word, values(rest)))
    return found


def shown(row):
    """What is compared of a row, as text: 1 and 1.0 differ."""
    return json.dumps(row, ensure_ascii=False, sort_keys=True)


def expected(word, row):
    options = row[-1] if isinstance(row[-1], dict) else {}
    cats, args = options.get("cats", []), options.get("args", {})
    if word == "counter":
        text = shown(["counter", *row[:3]])
    else:
        text = shown([word, *row[: 5 if word == "slice" else 3], cats, args])
    lane = f'{row[0]} {options.get("place", "")}/{options.get("lane", "")}'
    return text, lane, options.get("flows", [])


def found(row, tracks):
    track = steps(tracks, row["uuid"])
    if row["kind"] == "counter":
        text = shown(["counter", track, row["ts"], row["value"]])
    elif row["kind"] == "slice":
        text = shown(["slice", track, row["ts"], row["dur"], row["depth"], row["name"], row["cats"], row["args"]])
    else:
        text = shown(["instant", track, row["ts"], row["name"], row["cats"], row["args"]])
    return text, row["uuid"], row["flows"]


class Pairs:
    """Names and what they stand for: never one name for two things, never two names for one."""

    def __init__(self):
        self.by_name, self.by_number = {}, {}

    def fits(self, name, number):
        return self.by_name.setdefault(name, number) == number and self.by_number.setdefault(number, name) == name


def check(case):
    name, title, rows = case
    trace, dump = traces / f"{name}.pftrace", traces / f"{name}.jsonl"
    left_open = sum(word == "slice" and row[2] == -1 for word, row in rows)
    command = [sys.executable, pfcheck, trace, "--dump", dump, "--allow-open", str(left_open)]
    said = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
    wrong = [f"pfcheck: {error}" for error in said["errors"]]
    attributes = {row[0]: row[1] for word, row in rows if word == "attribute"}
    for key, value in attributes.items():
        if said["attributes"].get(key) != value:
            wrong.append(f"attribute {key}: expected {value!r}, found {said['attributes'].get(key)!r}")
    want = sorted(expected(word, row) for word, row in rows if word in ("slice", "instant", "counter"))
    tracks = descriptors(trace)
    have = sorted(found(json.loads(line), tracks) for line in dump.read_text(encoding="utf-8").splitlines())
    lost = collections.Counter(row[0] for row in want) - collections.Counter(row[0] for row in have)
    more = collections.Counter(row[0] for row in have) - collections.Counter(row[0] for row in want)
    wrong += [f"missing: {row}" for row in lost] + [f"not expected: {row}" for row in more]
    if not wrong:
        lanes, flows = Pairs(), Pairs()
        for (text, lane, names), (_, uuid, ids) in zip(want, have):
            if not lanes.fits(lane, uuid) or len(names) != len(ids) or not all(map(flows.fits, names, ids)):
                wrong.append(f"{text}: lane {lane!r} or flows {names} are not those of the rows before: found {uuid} {ids}")
    return name, title, len(want), wrong


every = [case for path in sorted(cases.glob("*.case")) for case in read(path)]
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    results = list(pool.map(check, every))
for name, title, _, wrong in results:
    if wrong:
        print(f"{name} ({title}):", *wrong, sep="\n")
bad = sum(bool(wrong) for *_, wrong in results)
print(json.dumps({"cases": len(results), "rows": sum(count for _, _, count, _ in results), "wrong": bad}))
sys.exit(1 if bad or not results else 0)
