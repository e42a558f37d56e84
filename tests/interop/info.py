#!/usr/bin/env python3
"""Compares what `nvtxw info` says of traces with figures that are computed here from their source.

    info.py NVTXW SOURCE.json[.gz] [CONVERTED...]     a trace in Chrome's format, and what was converted from it
    info.py NVTXW --said SAID.json FILE...            files whose program says how many events are in them

Exit 0 only if all figures agree.
"""
import collections, decimal, gzip, json, subprocess, sys


def info(nvtxw, path):
    done = subprocess.run([nvtxw, "info", "--json", "--top", "0", path], stdout=subprocess.PIPE, check=True)
    said = json.loads(done.stdout)
    assert said["complete"] and said["version"] == 1, path
    return said


def nanoseconds(value):
    exact = decimal.Decimal(str(value)) * 1000
    return int(exact.to_integral_value(decimal.ROUND_HALF_EVEN))


def figures(source):
    """Of the trace itself: counts, time span, and of each name how many ranges there are and how long they take."""
    with (gzip.open if source.endswith(".gz") else open)(source, "rb") as file:
        document = json.loads(file.read(), parse_float=decimal.Decimal)
    events = document["traceEvents"] if isinstance(document, dict) else document
    counts, names, times, marks = collections.Counter(), {}, [], collections.Counter()
    for event in events:
        phase = event["ph"]
        if phase == "X":
            start, length = nanoseconds(event["ts"]), nanoseconds(event.get("dur", 0))
            names.setdefault(event["name"], []).append(length)
            times += [start, start + length]
            counts["ranges"] += 1
        elif phase == "i":
            marks[event["name"]] += 1
            times.append(nanoseconds(event["ts"]))
            counts["marks"] += 1
        elif phase in "sft":
            counts["flows"] += 1
        elif phase != "M":
            sys.exit(f"{source}: phase {phase} is not counted here")
    base = int(document.get("baseTimeNanoseconds", 0)) if isinstance(document, dict) else 0
    return counts, names, marks, (min(times), max(times)), base


def compare(what, found, wanted, errors):
    if found != wanted:
        errors.append(f"{what}: {found}, and it is {wanted}")


def check(path, said, source, is_converted, errors):
    counts, names, marks, span, base = source
    if is_converted:
        # PyTorch's newer times count from there.
        span = tuple(time + base for time in span)
    for kind in ("ranges", "marks"):
        compare(f"{path}: {kind}", said["counts"][kind], counts[kind], errors)
    if said["format"] == "chrome" and not any(key.startswith("nvtxw.") for key in said["facts"]):
        compare(f"{path}: flows", said["counts"]["flows"], counts["flows"], errors)
    compare(f"{path}: time", (said["start_ns"], said["end_ns"]), span, errors)
    compare(f"{path}: names", said["distinct_names"], len(names.keys() | marks.keys()), errors)
    streams = sum(stream["ranges"] + stream["marks"] for stream in said["streams"])
    compare(f"{path}: events of streams", streams, counts["ranges"] + counts["marks"], errors)
    for name in said["names"]:
        lengths, text = names.get(name["name"], []), f"{path}: {name['name'][:60]!r}"
        compare(f"{text}: ranges", name["ranges"], len(lengths), errors)
        compare(f"{text}: marks", name["marks"], marks[name["name"]], errors)
        if lengths:
            found = (name["total_ns"], name["min_ns"], name["max_ns"])
            compare(f"{text}: durations", found, (sum(lengths), min(lengths), max(lengths)), errors)
            mean = sum(lengths) / len(lengths)
            if abs(name["mean_ns"] - mean) > 1e-9 * mean:
                errors.append(f"{text}: mean {name['mean_ns']}, and it is {mean}")
    order = [name["total_ns"] for name in said["names"]]
    if order != sorted(order, reverse=True):
        errors.append(f"{path}: names are not in the order of their times")


def main():
    nvtxw, *arguments = sys.argv[1:]
    errors = []
    if arguments[0] == "--said":
        wanted = json.load(open(arguments[1]))
        for path in arguments[2:]:
            counts = info(nvtxw, path)["counts"]
            found = {"slice": counts["ranges"], "instant": counts["marks"], "counter": counts["samples"]}
            compare(path, found, {kind: wanted[kind] for kind in found}, errors)
            print(path, found)
    else:
        source = figures(arguments[0])
        for path in arguments:
            said = info(nvtxw, path)
            check(path, said, source, path != arguments[0], errors)
            print(path, said["format"], dict(source[0]), f"{said['distinct_names']} names, {said['duration_ns']} ns")
    for error in errors[:20]:
        print(error)
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
