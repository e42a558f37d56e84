#!/usr/bin/env python3
"""Writes one trace by all that NVIDIA's `nvtx.writer` offers through a backend, and says what is in it.

    writer.py LIBRARY CONFIG SAID.jsonl [refusals]

CONFIG is the session's. With `refusals` it also calls what a backend must refuse. members.py checks that no member is forgotten; one
that can't reach a backend is used where it is refused.
"""
import sys

import numpy as np
import pandas as pd
from nvtx import BatchOrdering, CounterInterpolation, CounterNoValueReason, CounterSemantics, CounterValueType, EventKind, TimestampType, writer
from nvtx.writer import PredefinedScope, StreamInterleaving, StreamOrdering, StreamSkid

from said import BEGIN, CATEGORY, COLOR, END, MARK, MESSAGE, RANGE_ID, SCOPE, STRING, TIME, Layout, Place, Said, number, shown

said = Said()


def string(domain, text):
    registered = domain.get_registered_string(text)
    said.strings[registered.handle] = text if isinstance(text, str) else text.decode()
    return registered


def scope(domain, path, shown_as, **parent):
    registered = domain.get_scope(path, **parent)
    assert registered.path == (path if isinstance(path, str) else path.decode())
    said.scopes[registered.scope_id] = shown_as
    return registered


def refused(error, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except error as problem:
        return problem
    raise AssertionError(f"{call} with {arguments} {options} was taken")


def plain_events(domain, stream, place, time):
    """Each kind by the calls of their own, with each form of message, colour and category."""
    messages = [
        (None, ""),
        ("", ""),
        ("text", "text"),
        ("größe 한강 \"\n", "größe 한강 \"\n"),
        (b"bytes", "bytes"),
        (b"cut\0off", "cut"),
        ("x" * 3000, "x" * 3000),
        (string(domain, "gemm"), "gemm"),
        (string(domain, "한강".encode()), "한강"),
        (string(domain, ""), ""),
    ]
    looks = [
        (None, 0, None, None),
        (0xFF112233, 0xFF112233, "io", "io"),
        ("darkgreen", 0x006400, b"memory", "memory"),
        (1, 1, 77, 77),
        ("rapids", 0x7400FF, 2**32 - 1, 2**32 - 1),
        (0, 0, 0, None),
    ]
    for index, (message, name) in enumerate(messages):
        color, argb, category, category_name = looks[index % len(looks)]
        options = {"message": message, "color": color, "category": category}
        expected = {"name": name, "color": argb, "category": category_name, "is_registered": isinstance(message, writer.RegisteredString)}
        range_id = 2**64 - 1 - index
        stream.write_mark(time, **options)
        place.event("mark", time, **expected)
        stream.write_pushpop(time + 3, time + 5, **options)
        place.event("range_pushpop", time + 3, time + 5, **expected)
        stream.write_pushpop(time + 1, time + 9, **options)
        place.event("range_pushpop", time + 1, time + 9, **expected)
        stream.write_startend(time + 4, time + 12, **options)
        place.event("range_startend", time + 4, time + 12, **expected)
        stream.write_push(time + 20, **options)
        place.event("range_push", time + 20, **expected)
        stream.write_start(time + 21, range_id, **options)
        place.event("range_start", time + 21, range_id=range_id, **expected)
        stream.write_end(time + 31, range_id)
        place.event("range_end", time + 31, range_id=range_id)
        stream.write_pop(time + 30)
        place.event("range_pop", time + 30)
        time += 100


# Fields of every type that the package has, unaligned, in arrays, nested.
INNER = np.dtype([("x", np.float32), ("tags", np.uint8, (2, 2)), ("text", "U3")])
EVERYTHING = Layout(
    [
        ("i8", np.int8),
        ("start", np.int64, BEGIN),
        ("end", np.int64, END),
        ("name", np.uint64, (MESSAGE, STRING)),
        ("tint", np.uint32, COLOR),
        ("kind", np.uint32, CATEGORY),
        ("engine", np.uint64, SCOPE),
        ("file", np.uint64, STRING),
        ("i16", np.int16),
        ("i32", np.int32),
        ("i64", np.int64),
        ("u8", np.uint8),
        ("u16", np.uint16),
        ("u32", np.uint32),
        ("u64", np.uint64),
        ("f16", np.float16),
        ("f32", np.float32),
        ("f64", np.float64),
        ("wide", "U5"),
        ("raw", "S6"),
        ("index", np.uint32),
        ("matrix", (np.int16, (2, 3))),
        ("halves", (np.float16, (3,))),
        ("words", ("U2", (2,))),
        ("blobs", ("S2", (2,))),
        ("inner", INNER),
        ("inners", (INNER, (2,))),
    ],
    EventKind.RANGE_STARTEND,
)


def everything(i, time, names):
    """A row: the extremes of each type, NaN and infinities, text with and without a null."""
    ends = [np.iinfo(dtype) for dtype in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)]
    i8, i16, i32, i64, u8, u16, u32, u64 = ((end.min, end.max)[i % 2] for end in ends)
    floats = [(0.1, 65504.0, 6e-8), (np.nan, np.inf, -np.inf), (-0.0, 3.4e38, 1e-45)][i % 3]
    inner = (floats[0], [[i, 2], [3, 255]], ("a", "abc")[i % 2])
    return (
        (i8, time, time + 15, names["name"], (0, 0xFF00FF00, 1)[i % 3], (0, said.io, 99)[i % 3], names["scope"], (0, names["file"])[i % 2])
        + (i16, i32, i64, u8, u16, u32, u64, floats[0], floats[1], (floats[2], 5e-324)[i % 2], ("한강", "12345")[i % 2], (b"ab", b"a\0bcde")[i % 2])
        + (i, [[-i, 2, 3], [4, 5, 32767]], (floats[0], 65504.0, 6e-8), (["a", "b"], ["ab", "cd"])[i % 2], [b"a", b"bc"], inner, [inner, (2.5, [[0, 0], [0, i]], "z")])
    )


def layout(kind, *fields, **options):
    return Layout(fields, kind, **options)


def typed_events(domain, stream, place, names, time):
    """All kinds by dtypes: one by one, and complete ones in batches of every form and every order."""
    schema = domain.get_schema(EVERYTHING.dtype, kind=EventKind.RANGE_STARTEND)
    assert (schema.dtype, schema.kind) == (EVERYTHING.dtype, EventKind.RANGE_STARTEND) and schema.schema_id >= 2**32
    assert domain.get_schema(EVERYTHING.dtype, kind=EventKind.RANGE_STARTEND) is schema
    generic = domain.get_schema(INNER)
    assert generic.kind is None
    rows = np.array([everything(i, time + 10 * i, names) for i in range(12)], dtype=EVERYTHING.dtype)
    for row in rows:
        place.row(EVERYTHING, row)
    stream.write_event(schema, rows[:1])
    stream.write_event(schema, rows[1])
    stream.write_event(schema, rows[2].item())
    stream.write_event_batch(schema, rows[3:6])
    stream.write_event_batch(schema, np.repeat(rows[6:8], 2)[::2], ordering=BatchOrdering.SORTED)
    stream.write_event_batch(schema, [row.item() for row in rows[8:10]])
    stream.write_event_batch(schema, (row.item() for row in rows[10:]), ordering=BatchOrdering.PARTIALLY_SORTED)
    time += 1000

    # Many at once, packed, with columns that are not aligned.
    kernels = layout(EventKind.RANGE_STARTEND, ("level", np.uint8), ("start", np.int64, BEGIN), ("end", np.int64, END), ("name", np.uint64, (MESSAGE, STRING)), ("grid", (np.uint32, (3,))), ("flops", np.float64))
    rows = np.zeros(1000, dtype=kernels.dtype)
    rows["level"], rows["flops"] = np.arange(1000) % 256, np.arange(1000) * 0.1
    rows["start"] = time + np.arange(1000) // 2
    rows["end"] = rows["start"] + np.arange(1000) % 3
    rows["name"] = np.where(np.arange(1000) % 2, names["name"], names["file"])
    rows["grid"] = np.arange(3000).reshape(1000, 3)
    stream.write_event_batch(domain.get_schema(kernels.dtype, kind=kernels.kind), rows)
    for row in rows:
        place.row(kernels, row)
    time += 1000

    frames = layout(EventKind.RANGE_PUSHPOP, ("depth", np.uint8), ("start", np.int64, BEGIN), ("end", np.int64, END), ("name", "U8", MESSAGE))
    schema = domain.get_schema(frames.dtype, kind=EventKind.RANGE_PUSHPOP)
    # Inner ones first, by columns: their order and those too many don't matter.
    columns = {"name": ["a.b.c", "a.b", "한강12345", "a"], "more": [0, 0, 0, 0], "end": [30, 40, 60, 100], "start": [20, 10, 50, 0], "depth": [2, 1, 1, 0]}
    frame = pd.DataFrame(columns)
    frame[["start", "end"]] += time
    stream.write_event_batch(schema, frame, ordering=BatchOrdering.UNSORTED)
    for row in frame.itertuples():
        place.row(frames, {"depth": row.depth, "start": row.start, "end": row.end, "name": row.name})
    time += 1000

    launches = layout(EventKind.MARK, ("bytes", np.uint64, CounterSemantics(unit="bytes")), ("time", np.uint64, MARK), align=True)
    schema = domain.get_schema(launches.dtype, kind=EventKind.MARK)
    for ordering in (BatchOrdering.SORTED_PER_SCOPE, BatchOrdering.PARTIALLY_SORTED):
        rows = np.array([(2**64 - 1, time), (0, time + 1)], dtype=launches.dtype)
        stream.write_event_batch(schema, rows, ordering=ordering)
        for row in rows:
            place.row(launches, row)
        time += 10

    halves = [
        layout(EventKind.RANGE_PUSH, ("time", np.int64, BEGIN), ("name", np.uint64, (MESSAGE, STRING)), ("tint", np.uint32, COLOR), ("depth", np.int8)),
        layout(EventKind.RANGE_PUSH, ("time", np.int64, BEGIN), ("name", np.uint64, (MESSAGE, STRING)), ("tint", np.uint32, COLOR), ("depth", np.int8)),
        layout(EventKind.RANGE_POP, ("time", np.int64, END), ("why", np.uint64, (MESSAGE, STRING)), ("tint", np.uint32, COLOR), ("depth", np.int8), ("kind", np.uint32, CATEGORY)),
        layout(EventKind.RANGE_POP, ("time", np.int64, END), ("why", np.uint64, (MESSAGE, STRING)), ("tint", np.uint32, COLOR), ("depth", np.int8), ("kind", np.uint32, CATEGORY)),
        layout(EventKind.RANGE_START, ("time", np.uint64, BEGIN), ("number", np.uint64, RANGE_ID), ("name", "U4", MESSAGE), ("status", np.uint8)),
        layout(EventKind.RANGE_END, ("number", np.uint64, RANGE_ID), ("time", np.uint64, END), ("status", np.int64)),
    ]
    name, file = names["name"], names["file"]
    values = [(0, name, 0xFF000001, 0), (10, file, 0, 1), (20, file, 0xFF000002, 1, said.io), (30, 0, 0xFF000001, 5, 0), (40, 7, "text", 255), (7, 50, -1)]
    for half, (row, at) in zip(halves, [(values[0], 0), (values[1], 0), (values[2], 0), (values[3], 0), (values[4], 0), (values[5], 1)]):
        row = np.array([row[:at] + (row[at] + time,) + row[at + 1:]], dtype=half.dtype)[0]
        stream.write_event(domain.get_schema(half.dtype, kind=half.kind), row)
        place.row(half, row)


def plain(semantics):
    """What counter semantics say, as rows.py takes it."""
    if semantics is None:
        return {}
    return {
        "unit": semantics.unit and semantics.unit.decode(),
        "scale": [semantics.unit_scale_numerator, semantics.unit_scale_denominator],
        "min": semantics.min,
        "max": semantics.max,
        "value_type": semantics.value_type.name.lower(),
        "interpolation": semantics.interpolation.name.lower(),
    }


def declare(domain, counter, fields, is_group):
    name = None if domain is None else "sim"
    description = counter.description
    said.lines.append({"kind": "declared", "domain": name, "name": counter.name, "is_group": is_group, "description": description, "fields": fields})


def scalar_counters(domain, domain_name, stream, place, time):
    """Counters of one number: of every type, with all that can be said of their meaning."""
    most = CounterSemantics(unit="commands", value_type=CounterValueType.DELTA_SINCE_START, interpolation=CounterInterpolation.SINCE_LAST, min=-5, max=2**40, unit_scale_numerator=3, unit_scale_denominator=1000)
    meanings = [
        None,
        most,
        CounterSemantics(unit=b"bytes", value_type=CounterValueType.DELTA, interpolation=CounterInterpolation.UNTIL_NEXT, max=2**64 - 1, unit_scale_numerator=1024),
        CounterSemantics(unit="°C", value_type=CounterValueType.ABSOLUTE, interpolation=CounterInterpolation.LINEAR, min=-0.5),
        CounterSemantics(interpolation=CounterInterpolation.POINT, min=1, max=2),
    ]
    kinds = [int, float, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float16, np.float32, np.float64]
    for index, dtype in enumerate(kinds):
        semantics = meanings[index % len(meanings)]
        name = f"of {np.dtype(dtype).name} {index}"
        counter = domain.get_counter(name, dtype, description="a number" if index % 2 else None, semantics=semantics)
        assert (counter.name, counter.semantics, counter.dtype) == (name, semantics, np.dtype(dtype)) and counter.counter_id >= 2**32
        declare(domain_name, counter, {name: plain(semantics)}, is_group=False)
        values = [0.5, np.nan, -np.inf] if np.dtype(dtype).kind == "f" else [np.iinfo(dtype).min, np.iinfo(dtype).max, 1]
        stream.write_counter_sample(counter, time, values[0])
        stream.write_counter_batch(counter, values, timestamps=[time + 3, time + 1, time + 2], ordering=BatchOrdering.UNSORTED)
        stream.write_counter_batch(counter, np.array(values, dtype)[::-1], timestamps=np.arange(time + 4, time + 7))
        for at, value in zip((0, 3, 1, 2, 4, 5, 6), values[:1] + values + values[::-1]):
            place.sample(name, time + at, {name: number(np.dtype(dtype).type(value))})
        for at, reason in enumerate((CounterNoValueReason.UNCHANGED, CounterNoValueReason.ZERO, CounterNoValueReason.UNAVAILABLE), start=7):
            stream.write_counter_sample_no_value(counter, time + at, reason)
            place.no_value(name, time + at, reason)
        time += 100


def counter_groups(domain, domain_name, stream, place, time):
    """Groups: rows one by one and in batches of every form, with their times beside them and inside."""
    memory = Layout(
        [
            ("used", np.uint64, CounterSemantics(unit="bytes", max=1000)),
            ("load", np.float64, CounterSemantics(unit="%", max=1.5, interpolation=CounterInterpolation.LINEAR)),
            ("faults", np.int32, CounterSemantics(value_type=CounterValueType.DELTA)),
            ("pages", np.uint16),
        ],
        align=True,
    )
    counter = domain.get_counter("memory", memory.dtype, description="of the device")
    declare(domain_name, counter, {name: plain(memory.roles.get(name)) for name in memory.dtype.names}, is_group=True)
    rows = np.array([(1, 0.5, -1, 4), (2**64 - 1, np.inf, 2**31 - 1, 65535), (0, -0.0, 0, 0), (5, 1.0, 1, 1)], dtype=memory.dtype)
    times = [time, time + 2, time + 1, time + 3]
    stream.write_counter_sample(counter, times[0], rows[0].item())
    stream.write_counter_batch(counter, rows[1:3], timestamps=times[1:3], ordering=BatchOrdering.UNSORTED)
    stream.write_counter_batch(counter, pd.DataFrame(rows[3:])[["pages", "load", "faults", "used"]], timestamps=times[3:])
    for at, row in zip(times, rows):
        place.sample("memory", at, {name: shown(memory.dtype[name], row[name]) for name in memory.dtype.names})
    stream.write_counter_sample_no_value(counter, time + 4, CounterNoValueReason.UNCHANGED)
    place.no_value("memory", time + 4, CounterNoValueReason.UNCHANGED)

    power = Layout([("watts", np.float32), ("at", np.int64, TIME), ("fans", np.uint8)])
    counter = domain.get_counter("power", power.dtype, scope=PredefinedScope.NONE)
    declare(domain_name, counter, {"watts": {}, "fans": {}}, is_group=True)
    rows = np.array([(0.1, time + 11, 1), (-2.5, time + 10, 255), (np.nan, time + 12, 0)], dtype=power.dtype)
    stream.write_counter_batch(counter, rows, ordering=BatchOrdering.UNSORTED)
    for row in rows:
        place.sample("power", number(row["at"]), {name: number(row[name]) for name in ("watts", "fans")})


def counters_in_scopes(domain, domain_name, stream, place, scopes, time):
    """A counter's own scope counts before the stream's; one name in two scopes is two counters."""
    for index, (scope, shown_as) in enumerate(scopes):
        counter = domain.get_counter("here", int, scope=scope)
        stream.write_counter_sample(counter, time + index, index)
        place.at(shown_as).sample("here", time + index, {"here": index})
    declare(domain_name, counter, {"here": {}}, is_group=False)


# Ticks of clocks that don't count nanoseconds from their zero: some, and what they are in nanoseconds.
CLOCKS = {
    TimestampType.C_TIME: (3, {"ns_per_tick": 10**9, "zero": 0}),
    TimestampType.C_CLOCK: (77, {"ns_per_tick": 1000, "zero": 0}),
    # Since 1601; the file counts from 1970.
    TimestampType.WIN_GSTAFT: (11_644_473_600 * 10**7 + 5, {"ns_per_tick": 100, "zero": -11_644_473_600 * 10**9}),
    TimestampType.WIN_GSTAFTP: (11_644_473_600 * 10**7 + 6, {"ns_per_tick": 100, "zero": -11_644_473_600 * 10**9}),
}


def claims(session, domain, time):
    """Streams with each claim about the order of their events, and with each clock."""
    options = [{"interleaving": interleaving} for interleaving in (StreamInterleaving.NONE, StreamInterleaving.SCOPE)]
    options += [{"ordering": ordering} for ordering in (StreamOrdering.UNKNOWN, StreamOrdering.STRICT, StreamOrdering.PACKED_RANGE_START, StreamOrdering.PACKED_RANGE_END)]
    options += [{"ordering": StreamOrdering.STRICT, "skid": skid, "skid_amount": 10} for skid in (StreamSkid.NONE, StreamSkid.TIME_NS, StreamSkid.EVENT_COUNT)]
    options += [{"time_domain_id": clock} for clock in TimestampType]
    options += [{"time_domain_id": TimestampType.CPU_TSC.value, "scope": PredefinedScope.ROOT}]
    for index, option in enumerate(options):
        name = f"claim {index}"
        ticks, clock = CLOCKS.get(option.get("time_domain_id"), (time + index, None))
        stream = session.create_stream(name, domain=domain, **option)
        stream.open()
        stream.write_mark(ticks, message=name)
        more = {"clock": clock} if clock else {}
        Place(said, name, scope="/" if "scope" in option else "").event("mark", ticks, name=name, **more)
        stream.close()


def processes(session, domain, time):
    """Scopes that are processes and threads of a system."""
    for name, path in (("thread", "Process[1234]/Thread[42]"), ("task", "Process[1234]/Thread[42]/task"), ("process", "Process[1234]"), ("other", "PID[7]/TID[7]")):
        place = Place(said, name, scope=f"/{path}")
        with session.create_stream(name, domain=domain, scope=domain.get_scope(path)) as stream:
            stream.write_pushpop(time, time + 5, message=name)
            place.event("range_pushpop", time, time + 5, name=name)
            counter = domain.get_counter(f"of {name}", int)
            stream.write_counter_sample(counter, time, 1)
            place.sample(f"of {name}", time, {f"of {name}": 1})
            declare(None, counter, {f"of {name}": {}}, is_group=False)
        time += 10


def scopes_of_events(domain, stream, place, names, time):
    """Events that name their scope; where code ran can't be found out afterwards."""
    there = layout(EventKind.MARK, ("time", np.int64, MARK), ("name", np.uint64, (MESSAGE, STRING)), ("place", np.uint64, SCOPE))
    schema = domain.get_schema(there.dtype, kind=EventKind.MARK)
    for predefined in PredefinedScope:
        said.scopes.setdefault(predefined.value, {"NONE": place.where["scope"], "ROOT": "/"}.get(predefined.name, predefined.name.title().replace("_", "")))
    for index, scope_id in enumerate(said.scopes):
        row = np.array([(time + index, names["name"], scope_id)], dtype=there.dtype)
        stream.write_event_batch(schema, row)
        place.row(there, row[0])


def refusals(session, domain, other, stream, time):
    """What is refused by the backend, each with its code, or by the package before it; none of it leaves a trace."""
    problem = refused(writer.WriterError, stream.write_pushpop, time + 1, time)
    assert (problem.result_code, problem.operation) == (2, "nvtxwRangePushPopWriteUtf8")
    problem = refused(writer.WriterError, session.create_stream("host", domain=domain).open)
    assert (problem.result_code, problem.operation) == (2, "StreamOpen")
    refused(writer.WriterError, session.create_stream("clockless", domain=domain, time_domain_id=2**40).open)
    refused(writer.WriterError, session.create_stream("nowhere", domain=domain, scope=2**24).open)
    refused(writer.WriterError, domain.get_scope, "GPU[0")
    refused(writer.WriterError, domain.get_counter, "", int)
    # A number is no message; text is, and so are bytes.
    refused(writer.WriterError, domain.get_schema, layout(EventKind.MARK, ("time", np.int64, MARK), ("name", np.int64, MESSAGE)).dtype, kind=EventKind.MARK)
    counter = other.get_counter("of another domain", int)
    refused(ValueError, stream.write_counter_sample, counter, time, 1)
    refused(ValueError, session.create_stream, "current", domain=domain, scope=PredefinedScope.CURRENT_SW_THREAD)
    refused(RuntimeError, session.begin)
    refused(RuntimeError, stream.open)
    refused(TypeError, writer.WriterError)
    assert str(writer.WriterError(7, operation="anything")) == "anything failed: not supported by this backend (code 7)"


def write(session):
    domain = session.get_domain()
    assert session.get_domain("") is domain and session.get_domain(b"sim") is session.get_domain("sim")
    sim = session.get_domain("sim")
    said.io = sim.get_category_id("io")
    assert sim.get_category_id(b"io") == said.io != 0
    said.categories[said.io] = "io"

    engine = scope(sim, "GPU[0]/Engine[1]", "/GPU[0]/Engine[1]")
    queue = scope(sim, rb"queue \[high\]", r"/GPU[0]/Engine[1]/queue \[high\]", parent=engine)
    scope(sim, "socket", "CurrentHwMachine/socket", parent=PredefinedScope.CURRENT_HW_MACHINE)
    scope(sim, "process", "CurrentVm/process", parent=PredefinedScope.CURRENT_VM)
    scope(sim, "alone", "alone", parent=PredefinedScope.NONE)
    top = scope(sim, "top/level", "/top/level", parent=PredefinedScope.ROOT)
    assert sim.get_scope("GPU[0]/Engine[1]") is engine

    host, of_host = session.create_stream("host"), Place(said, "host")
    host.open()
    plain_events(domain, host, of_host, 1000)
    names = {"name": string(domain, "kernel").handle, "file": string(domain, "größe.c").handle, "scope": 0}
    said.categories[domain.get_category_id("io")] = "io"
    said.io = domain.get_category_id("io")
    typed_events(domain, host, of_host, names, 10_000)
    scalar_counters(domain, None, host, of_host, 20_000)
    counter_groups(domain, None, host, of_host, 30_000)

    with session.create_stream(b"engine", domain=sim, scope=engine, time_domain_id=TimestampType.NONE) as gpu:
        of_gpu = Place(said, "engine", "sim", "/GPU[0]/Engine[1]")
        plain_events(sim, gpu, of_gpu, 1000)
        names = {"name": string(sim, "kernel").handle, "file": string(sim, "größe.c").handle, "scope": queue.scope_id}
        said.io = sim.get_category_id("io")
        typed_events(sim, gpu, of_gpu, names, 10_000)
        scopes_of_events(sim, gpu, of_gpu, names, 15_000)
        scalar_counters(sim, "sim", gpu, of_gpu, 20_000)
        counter_groups(sim, "sim", gpu, of_gpu, 30_000)
        counters_in_scopes(sim, "sim", gpu, of_gpu, [(None, "/GPU[0]/Engine[1]"), (queue, r"/GPU[0]/Engine[1]/queue \[high\]"), (top, "/top/level"), (PredefinedScope.ROOT, "/")], 40_000)
    with session.create_stream("log", domain="sim", scope=PredefinedScope.NONE) as log:
        log.write_mark(0, message="first")
        Place(said, "log", "sim").event("mark", 0, name="first")
    claims(session, domain, 50_000)
    processes(session, domain, 55_000)
    if "refusals" in sys.argv[4:]:
        refusals(session, domain, sim, host, 60_000)


library, config, said_path = sys.argv[1:4]
backend = writer.load_backend(library)
session = writer.Session("writer", backend=backend, config=config)
session.begin()
write(session)
session.end()
refused(RuntimeError, session.end)
backend.close()
said.write(said_path)
print(f"{len(said.lines)} lines written through {library}")
