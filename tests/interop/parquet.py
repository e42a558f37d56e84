#!/usr/bin/env python3
"""Reads a dataset of the format `parquet` with DuckDB and with pyarrow, and says what is in it.

    pip install duckdb pyarrow        # in a virtual environment
    parquet.py DATASET [--dump OUT.jsonl] [--said SUMMARY.json]

Both readers must find the same rows. --dump writes a JSON line for each event and counter value, in the form that the
checkers of the other formats use: the fields of the tables in `typed` and the column `args` are its `args`. --said names
what the simulator says of its trace. Exit 0 only where all agree.
"""
import argparse, collections, json, math, pathlib, re, sys

import duckdb
import pyarrow
import pyarrow.dataset


def segments(scope):
    """The steps of a scope's path, without escapes."""
    parts = re.findall(r"(?:\\.|[^/\\])+", scope or "")
    return [re.sub(r"\\(.)", r"\1", part) for part in parts]


def partitioning(folder):
    """The keys that a table's folders have, as text: without types each reader guesses some, and names that are numbers
    would be numbers."""
    keys = [key for key in ("nvtxw_session", "nvtxw_stream") if next(folder.rglob(f"{key}=*"), None)]
    return pyarrow.dataset.partitioning(pyarrow.schema([(key, pyarrow.string()) for key in keys]), flavor="hive")


class Dataset:
    def __init__(self, root):
        self.root, self.errors = pathlib.Path(root), []
        self.duckdb = duckdb.connect()

    def err(self, text):
        if len(self.errors) < 200:
            self.errors.append(text)

    def read(self, table):
        """The rows of a table, as both readers find them."""
        folder = self.root / table
        if not folder.is_dir():
            return []
        arrow = pyarrow.dataset.dataset(folder, partitioning=partitioning(folder)).to_table().to_pylist()
        files = f"{folder}/**/*.parquet".replace("'", "''")
        found = self.duckdb.execute(
            f"select * from read_parquet('{files}', hive_partitioning = true, hive_types_autocast = false)")
        names = [column[0] for column in found.description]
        duck = [dict(zip(names, row)) for row in found.fetchall()]
        one, other = (collections.Counter(map(shown, rows)) for rows in (arrow, duck))
        for which, rows in (("DuckDB", one - other), ("pyarrow", other - one)):
            for row in list(rows)[:3]:
                self.err(f"{table}: {which} doesn't find {row}")
        return arrow

    def events(self):
        fields = {}
        typed = self.root / "typed"
        for folder in sorted(typed.iterdir()) if typed.is_dir() else []:
            for row in self.read(f"typed/{folder.name}"):
                key = (row["nvtxw_session"], row["nvtxw_stream"], row["event_id"])
                if key in fields:
                    self.err(f"{folder.name}: event {key} is there twice")
                fields[key] = row
        common = {"event_id", "name", "category", "start_ns", "end_ns", "scope", "nvtxw_session", "nvtxw_stream"}
        for row in self.read("events"):
            args = {}
            own = fields.pop((row["nvtxw_session"], row["nvtxw_stream"], row["event_id"]), {})
            for name in common & own.keys():
                if own[name] != row[name]:
                    self.err(f"event {row['event_id']} of {row['nvtxw_stream']}: {name} is {row[name]!r} and {own[name]!r}")
            args.update((name, plain(value)) for name, value in own.items() if name not in common and value is not None)
            args.update(json.loads(row["args"] or "{}", parse_constant=refuse))
            kind = "instant" if row["kind"] == "mark" else "slice"
            end = row["end_ns"]
            track = segments(row["scope"])
            yield {"kind": kind, "track": track or [row["nvtxw_stream"]], "ts": row["start_ns"],
                   "dur": -1 if end is None else end - row["start_ns"], "name": row["name"],
                   "cats": [row["category"]] if row["category"] is not None else [], "args": args,
                   "flows": row["correlation"] or []}
        for key in fields:
            self.err(f"event {key} has fields only")

    def values(self):
        for row in self.read("counters"):
            exact = row["value_i64"] if row["value_i64"] is not None else row["value_u64"]
            value = row["value"] if exact is None else exact
            if exact is not None and row["value"] != float(exact):
                self.err(f"{row['name']} is {row['value']} and {exact}")
            path = segments(row["scope"]) or ([] if row["scope"] else [row["nvtxw_stream"]])
            path += [part for part in (row["group"], row["name"]) if part is not None]
            yield {"kind": "counter", "track": path, "ts": row["time_ns"], "name": row["name"], "value": plain(value), "flows": []}


def refuse(constant):
    raise ValueError(f"{constant} is no JSON")


def plain(value):
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, bytes):
        return "0x" + value.hex()
    if isinstance(value, dict):
        return {name: plain(field) for name, field in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def shown(row):
    return json.dumps({name: plain(value) for name, value in row.items()}, sort_keys=True, ensure_ascii=False)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("dataset")
    ap.add_argument("--dump")
    ap.add_argument("--said", help="counts that must be those of the dataset")
    args = ap.parse_args()
    dataset = Dataset(args.dataset)
    rows = [*dataset.events(), *dataset.values()]
    facts = {row["key"]: row["value"] for row in dataset.read("metadata") if row["stream"] is None}
    kinds = collections.Counter(row["kind"] for row in rows)
    if args.said:
        said = json.load(open(args.said))
        for kind in ("slice", "instant", "counter"):
            if said[kind] != kinds[kind]:
                dataset.err(f"{kinds[kind]} of the {said[kind]} that are said: {kind}")
    if args.dump:
        with open(args.dump, "w") as out:
            for row in rows:
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
    print(json.dumps({**{kind: kinds[kind] for kind in ("slice", "instant", "counter")}, "attributes": facts,
                      "errors": dataset.errors}, indent=1, ensure_ascii=False))
    sys.exit(1 if dataset.errors else 0)


if __name__ == "__main__":
    main()
