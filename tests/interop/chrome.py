#!/usr/bin/env python3
"""Reads a trace in Chrome's JSON format strictly, the way trace viewers do, and says what is in it.

    chrome.py FILE [--dump OUT.jsonl] [--allow-open N] [--said SUMMARY.json]

The output is that of a checker of Perfetto files: one JSON object with counts, tracks and `errors`, and with --dump one
JSON line per slice, instant and counter value, times in nanoseconds. --said names what the simulator says of the file.
Exit 0 only without errors.
"""
import argparse, collections, json, sys
from decimal import Decimal


def refuse(constant):
    raise ValueError(f"{constant} is no JSON")


class Reader:
    def __init__(self, text):
        self.errors = []
        doc = json.loads(text, parse_constant=refuse, parse_float=Decimal, object_pairs_hook=self.unique)
        if doc.get("displayTimeUnit") != "ns":
            self.err(f"displayTimeUnit is {doc.get('displayTimeUnit')!r}")
        self.attributes = {**doc.get("otherData", {}), **doc.get("metadata", {})}
        self.events = doc["traceEvents"]
        lines = [line for line in text.split("\n")[1:] if line.startswith("{")]
        if len(lines) != len(self.events):
            self.err(f"{len(self.events)} events stand in {len(lines)} lines")

    def err(self, text):
        if len(self.errors) < 200:
            self.errors.append(text)

    def unique(self, pairs):
        keys = [key for key, _ in pairs]
        if len(set(keys)) != len(keys):
            self.err(f"a key stands twice in {keys}")
        return dict(pairs)

    def ns(self, value):
        value = value * 1000
        if isinstance(value, Decimal):
            if value != int(value):
                self.err(f"{value} ns is no whole number")
            value = int(value)
        return value

    def names(self):
        """Of processes, threads and their order."""
        names, order = {}, {}
        for event in self.events:
            if event["ph"] != "M":
                continue
            key = (event["pid"], event.get("tid"))
            if event["name"] in ("process_name", "thread_name"):
                if key in names:
                    self.err(f"{key} is named twice")
                names[key] = event["args"]["name"]
            elif event["name"].endswith("_sort_index"):
                order[key] = event["args"]["sort_index"]
        return names, order

    def key(self, at):
        """The order in which viewers take events: at one time ends, then whole ranges by their lengths, then all else."""
        ts, event = at
        return ts, {"E": 0, "X": 1}.get(event["ph"], 2), -self.ns(event["dur"]) if event.get("dur") else 0

    def replay(self):
        names, self.order = self.names()
        rows, stacks, arrows, joined = [], collections.defaultdict(list), {}, {}
        count = 0
        timed = [(self.ns(event["ts"]), event) for event in self.events if event["ph"] != "M"]
        # An arrow's end stands behind its range. Viewers have the times only: of several ranges that begin there they take
        # the inner one, which may be wrong for ranges that are correlated in several ways.
        last, near, row_of = {}, {}, {}
        for ts, event in timed:
            place = event["pid"], event.get("tid"), ts
            if event["ph"] in "XB":
                last[place] = id(event)
            elif event["ph"] in "sf":
                near[id(event)] = last.get(place)
        for ts, event in sorted(timed, key=self.key):
            phase, pid, tid = event["ph"], event["pid"], event.get("tid")
            if (pid, None) not in names or phase != "C" and (pid, tid) not in names:
                self.err(f"process {pid} or thread {tid} has no name")
            track = [names.get((pid, None)), names.get((pid, tid))]
            stack = stacks[pid, tid]
            if phase in "sf":
                # Else it is at the range that began last.
                here = row_of.get(near[id(event)]) or (stack[-1] if stack else None)
                if here is None:
                    self.err(f"flow {event['id']} at {ts} has no range")
                    continue
                if phase == "s":
                    if event["id"] in arrows:
                        self.err(f"flow {event['id']} starts twice")
                    arrows[event["id"]] = here
                elif event.get("bp") != "e" or event["id"] not in arrows:
                    self.err(f"flow {event['id']} at {ts}: an end without a start before it")
                else:
                    # A start alone joins nothing.
                    for row in (arrows[event["id"]], here):
                        row["flows"].append(event["id"])
                continue
            if phase == "C":
                (unit, value), = event["args"].items()
                name = event["name"]
                rows.append({"kind": "counter", "track": [track[0], name], "uuid": f"{pid} {name} {event.get('id')}", "ts": ts,
                             "name": name, "cats": [], "args": {}, "flows": [], "value": value, "unit": unit})
                continue
            while stack and not stack[-1].get("half") and stack[-1]["ts"] + stack[-1]["dur"] <= ts:
                stack.pop()
            if phase == "E":
                while stack and not stack[-1].get("half"):
                    self.err(f"the range {stack.pop()['name']!r} is cut at {ts}")
                if not stack:
                    self.err(f"an end at {ts} with nothing open")
                    continue
                row = stack.pop()
                row["dur"] = ts - row["ts"]
                if set(row["args"]) & set(event["args"]):
                    self.err(f"an argument of {row['name']!r} stands in both halves")
                row["args"].update(event["args"])
                continue
            row = {"kind": "instant" if phase == "i" else "slice", "track": track, "uuid": f"{pid} {tid}", "ts": ts, "depth": len(stack), "name": event["name"],
                   "cats": [event["cat"]] if "cat" in event else [], "args": event["args"], "flows": []}
            rows.append(row)
            if phase == "i":
                if event["s"] != "t":
                    self.err(f"an instant of scope {event['s']}")
                continue
            if phase == "X":
                row["dur"] = self.ns(event["dur"])
                outer = stack[-1] if stack else None
                if row["dur"] < 0:
                    self.err(f"{row['name']!r} lasts {row['dur']} ns")
                if outer and outer["dur"] >= 0 and ts + row["dur"] > outer["ts"] + outer["dur"]:
                    self.err(f"{row['name']!r} at {ts} overlaps {outer['name']!r} on one thread")
            elif phase == "B":
                row.update(dur=-1, half=True)
            else:
                self.err(f"phase {phase!r} at {ts}")
            stack.append(row)
            row_of[id(event)] = row
            # Ranges that name one number are joined, from each to the next.
            number = event.get("bind_id")
            if number is not None:
                if event.get("flow_in", False) is not (number in joined) or not (number in joined or event.get("flow_out")):
                    self.err(f"{row['name']!r} at {ts} begins no flow, or one that has begun")
                elif number in joined:
                    count += 1
                    for end in (joined[number], row):
                        end["flows"].append(f"joined {count}")
                if event.get("flow_out"):
                    joined[number] = row
        return rows


def shown(value):
    if isinstance(value, Decimal):
        return float(value)
    raise TypeError(type(value))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("file")
    ap.add_argument("--dump")
    ap.add_argument("--allow-open", type=int, default=0, help="this many ranges may stay open")
    ap.add_argument("--said", help="counts that must be those of the file")
    args = ap.parse_args()
    text = open(args.file, "rb").read().decode("utf-8")
    reader = Reader(text)
    rows = reader.replay()
    still_open = sum(row.pop("half", False) and row["dur"] < 0 for row in rows)
    if still_open > args.allow_open:
        reader.err(f"{still_open} ranges are still open at the end")
    if args.dump:
        with open(args.dump, "w") as out:
            for row in rows:
                out.write(json.dumps(row, ensure_ascii=False, default=shown) + "\n")
    kinds = collections.Counter(row["kind"] for row in rows)
    if args.said:
        said = json.load(open(args.said))
        for kind in ("slice", "instant", "counter"):
            if said[kind] != kinds[kind]:
                reader.err(f"{kinds[kind]} of the {said[kind]} that are said: {kind}")
    times = [row["ts"] for row in rows]
    print(json.dumps({"bytes": len(text.encode()), **{kind: kinds[kind] for kind in ("slice", "instant", "counter")},
                      "open": still_open, "tracks": sorted({" / ".join(map(str, row["track"])) for row in rows})[:400],
                      "max_depth": max((row.get("depth", 0) for row in rows), default=0),
                      "first": min(times, default=None), "last": max(times, default=None),
                      "attributes": reader.attributes, "errors": reader.errors}, indent=1, ensure_ascii=False))
    sys.exit(1 if reader.errors else 0)


if __name__ == "__main__":
    main()
