#!/usr/bin/env python3
"""Writes one trace by NVIDIA's `nvtx.writer` through libnvtxw3.so and says what must be in it.

    writer.py LIBRARY TRACE EXPECTED.json

Every kind of call that the writer offers is made at least once, with values computed here; EXPECTED.json lists the rows
that a reader has to find: no more and no fewer. check.py compares.
"""
import json
import sys

import numpy as np
import nvtx
from nvtx import writer

library, trace, expected_path = sys.argv[1:4]
rows = []


def args(color=None, **fields):
    """The annotations of a row; a colour stands among them as the ARGB text that the reader colours by."""
    if color is not None:
        fields["#correlation"] = color
    return fields


def expect(kind, track, ts, name, dur=None, cats=(), value=None, **fields):
    rows.append({"kind": kind, "track": track, "ts": ts, "dur": dur, "name": name, "cats": list(cats), "value": value, "args": args(**fields)})


def plain_events(domain, stream):
    """Marks and ranges of all kinds with text, bytes, registered or no message, colour and category."""
    gemm = domain.get_registered_string("gemm")
    stream.write_mark(100, message="begin")
    expect("instant", ["host"], 100, "begin")
    stream.write_mark(110, message=gemm, color=0xFF112233, category="io")
    expect("instant", ["host"], 110, "gemm", cats=["io"], color="#FF112233")
    stream.write_mark(120)
    stream.write_mark(121, message="")
    stream.write_pushpop(200, 300, message="frame")
    expect("slice", ["host"], 200, "frame", dur=100)
    stream.write_pushpop(210, 290, message="größe 한강", category=7)
    expect("slice", ["host"], 210, "größe 한강", dur=80, cats=["7"])
    stream.write_startend(400, 500, message=gemm, category="io")
    expect("slice", ["host"], 400, "gemm", dur=100, cats=["io"])
    stream.write_startend(450, 550, message=b"overlap")
    expect("slice", ["host"], 450, "overlap", dur=100)
    stream.write_push(600, message="outer")
    stream.write_push(610, message=gemm)
    stream.write_pop(620)
    stream.write_pop(630)
    expect("slice", ["host"], 600, "outer", dur=30)
    expect("slice", ["host"], 610, "gemm", dur=10)
    stream.write_start(700, 42, message="dma")
    stream.write_start(710, 43, message="dma 2")
    stream.write_end(720, 42)
    stream.write_end(730, 43)
    expect("slice", ["host"], 700, "dma", dur=20, rangeId=42)
    expect("slice", ["host"], 710, "dma 2", dur=20, rangeId=43)


def structured_batch(domain, stream):
    """Rows of a packed NumPy dtype: unaligned columns, arrays, a registered name."""
    start = nvtx.numpy_dtype(np.int64, entry_kind=nvtx.EntryKind.RANGE_BEGIN)
    end = nvtx.numpy_dtype(np.int64, entry_kind=nvtx.EntryKind.RANGE_END)
    name = nvtx.numpy_dtype(np.uint64, entry_kind=nvtx.EntryKind.MESSAGE, entry_type=nvtx.PayloadEntryType.REGISTERED_STRING)
    dtype = np.dtype([("level", np.uint8), ("start", start), ("end", end), ("name", name), ("grid", np.uint32, (3,)), ("flops", np.float64), ("big", np.uint64)])
    schema = domain.get_schema(dtype, kind=nvtx.EventKind.RANGE_STARTEND)
    names = [domain.get_registered_string(f"kernel {i}") for i in range(4)]
    batch = np.zeros(1000, dtype=dtype)
    for i in range(len(batch)):
        batch[i] = (i % 256, 1000 + 20 * i, 1000 + 20 * i + 10, names[i % 4].handle, (i, 2 * i, 1), i * 0.5, 2**64 - 1 - i)
        expect("slice", ["GPU[0]", "Engine[1]"], 1000 + 20 * i, f"kernel {i % 4}", dur=10, level=i % 256, grid=[i, 2 * i, 1], flops=i * 0.5, big=2**64 - 1 - i)
    stream.write_event_batch(schema, batch)
    stream.write_event(schema, batch[:1])
    rows.append(dict(rows[-1000]))


def counters(domain, stream):
    """Scalar and grouped counters; samples one by one, without a value, and in batches."""
    depth = domain.get_counter("queue depth", int)
    stream.write_counter_sample(depth, 100, -5)
    expect("counter", ["host", "queue depth"], 100, "queue depth", value=-5)
    stream.write_counter_sample_no_value(depth, 110, nvtx.CounterNoValueReason.ZERO)
    expect("counter", ["host", "queue depth"], 110, "queue depth", value=0)
    stream.write_counter_batch(depth, np.arange(100, dtype=np.int64), timestamps=np.arange(200, 300))
    for i in range(100):
        expect("counter", ["host", "queue depth"], 200 + i, "queue depth", value=i)
    temperature = domain.get_counter("temperature", float, semantics=nvtx.CounterSemantics(unit="°C"))
    stream.write_counter_sample(temperature, 100, 45.25)
    expect("counter", ["host", "temperature"], 100, "temperature", value=45.25)
    group = np.dtype([("read", np.uint32), ("write", np.uint32), ("load", np.float64)])
    channel = domain.get_counter("channel", group)
    stream.write_counter_sample(channel, 150, (1, 2, 0.5))
    stream.write_counter_batch(channel, np.array([(3, 4, 0.25), (5, 6, 0.75)], dtype=group), timestamps=[160, 170])
    for ts, values in ((150, (1, 2, 0.5)), (160, (3, 4, 0.25)), (170, (5, 6, 0.75))):
        for field, value in zip(group.names, values):
            expect("counter", ["host", "channel", field], ts, field, value=value)


backend = writer.load_backend(library)
with writer.Session("python", backend=backend, config=f"path={trace}|overwrite=true") as session:
    domain = session.get_domain()
    scope = domain.get_scope("GPU[0]/Engine[1]")
    with session.create_stream("host", domain=domain) as host, session.create_stream("engine", domain=domain, scope=scope) as engine:
        plain_events(domain, host)
        structured_batch(domain, engine)
        counters(domain, host)
backend.close()
# A mark without a message and one with an empty one: both are there, under the name that the schema or the text gives.
for ts in (120, 121):
    rows.append({"kind": "instant", "track": ["host"], "ts": ts, "dur": None, "name": None, "cats": [], "value": None, "args": {}})
json.dump(rows, open(expected_path, "w"))
print(f"{len(rows)} rows written through {library}")
