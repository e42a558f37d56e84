#!/usr/bin/env python3
"""Writes the rich trace of recording/rich.rs by NVIDIA's `nvtx.writer`, as far as Python can say it.

    NVTXW_RECORD=RECORDED.jsonl rich.py LIBRARY

LIBRARY is the recorder's, which appends what reached it to RECORDED.jsonl; compare.py compares that with the Rust trace.
"""
import sys

import numpy as np
import nvtx
from nvtx import BatchOrdering, CounterInterpolation, CounterNoValueReason, CounterSemantics, CounterValueType, EntryKind, EventKind, PayloadEntryType, TimestampType, writer
from nvtx.writer import PredefinedScope, StreamInterleaving, StreamOrdering, StreamSkid

field = nvtx.numpy_dtype
BEGIN = field(np.int64, entry_kind=EntryKind.RANGE_BEGIN)
END = field(np.int64, entry_kind=EntryKind.RANGE_END)
MESSAGE = field(np.uint64, entry_kind=EntryKind.MESSAGE, entry_type=PayloadEntryType.REGISTERED_STRING)
RANGE_ID = field(np.uint64, entry_type=PayloadEntryType.RANGE_ID)

KERNEL = np.dtype(
    [
        ("start", BEGIN),
        ("end", END),
        ("name", MESSAGE),
        ("engine", field(np.uint64, entry_type=PayloadEntryType.SCOPE_ID)),
        ("color", field(np.uint32, entry_type=PayloadEntryType.COLOR_ARGB)),
        ("category", field(np.uint32, entry_type=PayloadEntryType.CATEGORY)),
        ("grid", np.uint32, (3,)),
        ("warps", np.uint16),
        ("level", np.int8),
        ("flags", np.uint8),
        ("flops", np.float64),
        ("ratio", np.float32),
        ("delta", np.int32),
        ("total", np.uint64),
        ("file", field(np.uint64, entry_type=PayloadEntryType.REGISTERED_STRING)),
        ("steps", np.int16, (4,)),
    ],
    align=True,
)
FRAME = np.dtype([("depth", np.uint8), ("start", BEGIN), ("end", END), ("name", MESSAGE)])
LAUNCH = np.dtype([("time", field(np.uint64, entry_kind=EntryKind.MARK)), ("bytes", field(np.uint64, counter_semantics=CounterSemantics(unit="bytes")))])
ENTER = np.dtype([("time", BEGIN), ("name", MESSAGE)])
LEAVE = np.dtype([("time", END), ("status", np.int64)])
START = np.dtype([("time", BEGIN), ("id", RANGE_ID), ("name", MESSAGE)])
FINISH = np.dtype([("id", RANGE_ID), ("time", END)])
MEMORY = np.dtype(
    [
        ("used", field(np.uint64, counter_semantics=CounterSemantics(unit="bytes", min=0, max=1000, interpolation=CounterInterpolation.UNTIL_NEXT))),
        ("load", field(np.float64, counter_semantics=CounterSemantics(unit="%", max=1.5, interpolation=CounterInterpolation.LINEAR))),
        ("faults", field(np.int32, counter_semantics=CounterSemantics(value_type=CounterValueType.DELTA))),
        ("pages", np.uint32),
    ],
    align=True,
)
QUERY = np.dtype(
    [
        ("table", np.uint8),
        ("start", BEGIN),
        ("end", END),
        ("color", field(np.uint32, entry_type=PayloadEntryType.COLOR_ARGB)),
        ("category", field(np.uint32, entry_type=PayloadEntryType.CATEGORY)),
        ("cells", np.int16, (3,)),
    ]
)
OPEN = np.dtype([("time", BEGIN), ("id", RANGE_ID)])
CHANNEL = np.dtype([("time", field(np.int64, entry_kind=EntryKind.COUNTER_TIMESTAMP)), ("read", field(np.uint32, counter_semantics=CounterSemantics(unit="bytes"))), ("busy", np.float32)])
POWER = np.dtype([("watts", np.float32), ("fans", np.uint32), ("time", field(np.int64, entry_kind=EntryKind.COUNTER_TIMESTAMP))], align=True)


class Names:
    """What both producers register in the domain `sim`, in this order."""

    def __init__(self, sim):
        self.gemm = sim.get_registered_string("gemm")
        self.relu = sim.get_registered_string("größe 한강".encode())
        self.engine = sim.get_scope("GPU[0]/Engine[1]")
        self.queue = sim.get_scope(r"queue \[high\]", parent=self.engine)
        sim.get_scope("socket", parent=PredefinedScope.CURRENT_HW_MACHINE)
        sim.get_scope("process", parent=PredefinedScope.CURRENT_VM)
        sim.get_scope("alone", parent=PredefinedScope.NONE)
        assert sim.get_registered_string("gemm") is self.gemm
        assert sim.get_scope("GPU[0]/Engine[1]") is self.engine
        self.net = 1
        self.io = None


def plain(host, names):
    """Plain events: each kind with text and with a registered string; all attributes."""
    host.write_mark(100, message="begin", category=names.net)
    host.write_mark(101, message=names.gemm, color=0xFF112233, category="io")
    host.write_mark(102)
    host.write_mark(103, message="한강", color=0x80010203, category=names.net)
    host.write_mark(104, message=b"bytes", color="darkgreen")
    host.write_pushpop(200, 300, message="frame", color=0xFF008000)
    host.write_pushpop(210, 290, message=names.relu)
    host.write_startend(400, 500, message="copy", category="io")
    host.write_startend(450, 550, message=names.gemm)
    host.write_push(600, message="outer")
    host.write_push(610, message=names.gemm)
    host.write_pop(620)
    host.write_pop(630)
    host.write_start(700, 42, message="dma")
    host.write_start(710, 2**64 - 1, message=names.relu)
    host.write_end(720, 42)
    host.write_end(730, 2**64 - 1)


def kernel(names, index):
    time = 1000 + 100 * index
    name = names.relu if index == 1 else names.gemm
    return (time, time + 60, name.handle, names.queue.scope_id, 0xFF000000 + index, names.io, (index + 1, 2, 0xFFFFFFFF), 0x1234, -7, 0x85, 0.125, -1.5, -2_000_000_000, 2**64 - 1 - index, 0, (-1, 2, -3, 4))


def typed(sim, gpu, names):
    """Typed events of all seven kinds, one by one and in batches of every order."""
    kernels = sim.get_schema(KERNEL, kind=EventKind.RANGE_STARTEND)
    frames = sim.get_schema(FRAME, kind=EventKind.RANGE_PUSHPOP)
    launches = sim.get_schema(LAUNCH, kind=EventKind.MARK)
    enter = sim.get_schema(ENTER, kind=EventKind.RANGE_PUSH)
    leave = sim.get_schema(LEAVE, kind=EventKind.RANGE_POP)
    start = sim.get_schema(START, kind=EventKind.RANGE_START)
    finish = sim.get_schema(FINISH, kind=EventKind.RANGE_END)
    gpu.write_event(kernels, kernel(names, 0))
    gpu.write_event_batch(kernels, [kernel(names, i) for i in (1, 2, 3)])
    gpu.write_event(frames, (9, 2000, 2100, names.gemm.handle))
    gpu.write_event_batch(frames, [(1, 2210, 2220, names.gemm.handle), (0, 2200, 2300, names.gemm.handle)], ordering=BatchOrdering.UNSORTED)
    gpu.write_event(launches, (2**62 + 1, 7))
    for ordering in (BatchOrdering.PARTIALLY_SORTED, BatchOrdering.SORTED_PER_SCOPE):
        gpu.write_event_batch(launches, [(3000, 1), (3001, 2)], ordering=ordering)
    gpu.write_event(enter, (4000, names.relu.handle))
    gpu.write_event(leave, (4100, -1))
    gpu.write_event(start, (5000, 77, names.gemm.handle))
    gpu.write_event(finish, (77, 5100))


def counters(sim, host, names):
    """Counters and groups: samples one by one, without a value, in batches with their times beside them and inside."""
    semantics = CounterSemantics(
        unit="commands",
        value_type=CounterValueType.DELTA_SINCE_START,
        interpolation=CounterInterpolation.SINCE_LAST,
        min=-5,
        max=2**40,
        unit_scale_numerator=3,
        unit_scale_denominator=1000,
    )
    depth = sim.get_counter("queue depth", int, description="commands that wait", scope=names.queue, semantics=semantics)
    load = sim.get_counter("load", float)
    total = sim.get_counter("total", np.uint64)
    celsius = sim.get_counter("temperature", float, semantics=CounterSemantics(min=-0.5))
    memory = sim.get_counter("memory", MEMORY, description="of the device")
    power = sim.get_counter("power", POWER)
    sim.get_counter("single load", np.float32)
    host.write_counter_sample(depth, 100, -5)
    host.write_counter_sample_no_value(depth, 110, CounterNoValueReason.ZERO)
    host.write_counter_sample_no_value(depth, 111, CounterNoValueReason.UNCHANGED)
    host.write_counter_sample_no_value(depth, 112, CounterNoValueReason.UNAVAILABLE)
    host.write_counter_batch(depth, [1, -(2**63), 2**63 - 1], timestamps=[200, 201, 202], ordering=BatchOrdering.UNSORTED)
    host.write_counter_sample(load, 100, 45.25)
    host.write_counter_batch(load, [0.5, -0.25], timestamps=[200, 201])
    host.write_counter_sample(total, 100, 2**64 - 1)
    host.write_counter_sample(celsius, 100, -40.0)
    host.write_counter_sample(memory, 150, (1, 0.5, -1, 4))
    host.write_counter_batch(memory, [(2, 0.75, 1, 5), (3, 1.0, 0, 6)], timestamps=[160, 170], ordering=BatchOrdering.UNSORTED)
    host.write_counter_batch(power, [(1.5, 2, 180), (-2.5, 3, 190)], ordering=BatchOrdering.UNSORTED)


def rows(sim, gpu, names):
    """Layouts that the Rust program finds out while it runs."""
    queries = sim.get_schema(QUERY, kind=EventKind.RANGE_STARTEND)
    opens = sim.get_schema(OPEN, kind=EventKind.RANGE_START)
    channel = sim.get_counter("channel", CHANNEL)
    gpu.write_event_batch(queries, [(3, start, start + 50, 0xFF0000FF, names.io, (-1, 2, -3)) for start in (7000, 7100)])
    for row in ((7200, 1), (7201, 2)):
        gpu.write_event(opens, row)
    gpu.write_counter_batch(channel, [(7300, 9, 0.5), (7301, 10, 0.5)])


backend = writer.load_backend(sys.argv[1])
with writer.Session("rich", backend=backend, config="mode=full|level=3") as session:
    sim = session.get_domain("sim")
    names = Names(sim)
    host = session.create_stream("host", domain=sim)
    host.open()
    plain(host, names)
    names.io = sim.get_category_id("io")
    gpu = session.create_stream(
        "gpu",
        domain="sim",
        scope=names.engine,
        time_domain_id=TimestampType.CPU_CLOCK_GETTIME_MONOTONIC,
        interleaving=StreamInterleaving.SCOPE,
        ordering=StreamOrdering.PACKED_RANGE_START,
        skid=StreamSkid.TIME_NS,
        skid_amount=1000,
    )
    gpu.open()
    typed(sim, gpu, names)
    counters(sim, host, names)
    log = session.create_stream("log", scope=PredefinedScope.ROOT, time_domain_id=TimestampType.GPU_GLOBALTIMER, ordering=StreamOrdering.STRICT, skid=StreamSkid.EVENT_COUNT, skid_amount=2)
    log.open()
    log.write_mark(-1, message="before zero")
    rows(sim, gpu, names)
    gpu.write_counter_batch(sim.get_counter("power", POWER), [(0.5, 1, 2100)])
    host.close()
backend.close()
