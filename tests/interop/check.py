#!/usr/bin/env python3
"""Provokes findings of the checker from Python: by `nvtx.writer`, and by the C functions where that does not let one do wrong.

    check.py libnvtxw_check.so FINDINGS.jsonl

Each case is a session of its own; what is found in it must be what the case is named for, once, and nothing else.
"""
import ctypes
import os
import sys
import threading

import numpy as np
import nvtx
from nvtx import BatchOrdering, CounterSemantics, EntryKind, EventKind, TimestampType, writer
from nvtx.writer import StreamOrdering

from findings import read

library, findings = sys.argv[1:]
CASES = {}


def case(code):
    def add(function):
        CASES[code] = function
        return function

    return add


def refused(call, *arguments, **options):
    try:
        call(*arguments, **options)
    except Exception:
        return
    raise AssertionError(f"{call} with {arguments} {options} was taken")


def stream(session, name="gpu", **options):
    opened = session.create_stream(name, domain=session.get_domain("sim"), **options)
    opened.open()
    return opened


@case("stream-order")
def _(session):
    gpu = stream(session, ordering=StreamOrdering.STRICT)
    gpu.write_mark(100, message="one")
    gpu.write_mark(90, message="two")


@case("batch-order")
def _(session):
    depth = session.get_domain("sim").get_counter("depth", int)
    stream(session).write_counter_batch(depth, [1, 2, 3], timestamps=[10, 30, 20], ordering=BatchOrdering.SORTED)


@case("pop-without-push")
def _(session):
    gpu = stream(session)
    gpu.write_push(10, message="a")
    gpu.write_pop(20)
    gpu.write_pop(30)


@case("push-without-pop")
def _(session):
    stream(session).write_push(10, message="a")


@case("end-without-start")
def _(session):
    stream(session).write_end(10, 7)


@case("start-without-end")
def _(session):
    stream(session).write_start(10, 7, message="a")


@case("started-twice")
def _(session):
    gpu = stream(session)
    for time in (10, 20):
        gpu.write_start(time, 7, message="a")
    for time in (30, 40):
        gpu.write_end(time, 7)


@case("undated-stream")
def _(session):
    stream(session, "cpu", time_domain_id=TimestampType.CPU_CLOCK_GETTIME_REALTIME).write_mark(1_700_000_000_000_000_000, message="a")
    stream(session).write_mark(10, message="b")


@case("end-before-start")
def _(session):
    refused(stream(session).write_pushpop, 20, 10, message="a")


@case("counter-limit")
def _(session):
    load = session.get_domain("sim").get_counter("load", float, semantics=CounterSemantics(min=0.0, max=1.0))
    gpu = stream(session)
    gpu.write_counter_sample(load, 10, 1.0)
    gpu.write_counter_sample(load, 20, 1.5)


@case("unnamed-category")
def _(session):
    gpu = stream(session)
    gpu.write_mark(10, message="a", category="io")
    gpu.write_mark(20, message="b", category=4711)


@case("not-utf8")
def _(session):
    stream(session).write_mark(10, message=b"gr\xf6\xdfe")


@case("tiny-batches")
def _(session):
    marks = session.get_domain("sim").get_schema(np.dtype([("time", nvtx.numpy_dtype(np.int64, entry_kind=EntryKind.MARK))]), kind=EventKind.MARK)
    gpu = stream(session)
    for time in range(100):
        gpu.write_event_batch(marks, [(time,)])


@case("name-twice")
def _(session):
    stream(session, "same").close()
    stream(session, "same")


class Table:
    """The functions of the C table that the other cases call."""

    MEMBERS = {"SessionBegin": 0, "SessionEnd": 1, "DomainRegister": 2, "CategoryRegister": 3, "CounterRegister": 9, "StreamOpen": 11, "StreamClose": 12, "CounterWrite": 15, "CounterBatchWrite": 17}

    def __init__(self):
        get = ctypes.CDLL(library).nvtxwGetInterface
        table = ctypes.POINTER(ctypes.c_void_p)()
        assert get(2, ctypes.byref(table)) == 0
        for name, index in self.MEMBERS.items():
            setattr(self, name, ctypes.CFUNCTYPE(ctypes.c_int32)(table[index]))

    def begin(self, name):
        attr = (ctypes.c_size_t * 3)(24, self.text(name), self.text(f"check.output={findings}"))
        session = ctypes.c_void_p()
        assert self.SessionBegin(attr, ctypes.byref(session)) == 0
        domain, stream = ctypes.c_void_p(), ctypes.c_void_p()
        assert self.DomainRegister(session, None, ctypes.byref(domain)) == 0
        attr = (ctypes.c_size_t * 7)(56, self.text("gpu"), domain.value, 0, 0, 0, 0)
        assert self.StreamOpen(session, attr, ctypes.byref(stream)) == 0
        return session, domain, stream

    def counter(self, domain):
        attr = (ctypes.c_size_t * 7)(56, 17, self.text("depth"), 0, 0, 0, 0)
        counter = ctypes.c_uint64()
        assert self.CounterRegister(domain, attr, ctypes.byref(counter)) == 0
        return counter.value

    def text(self, text):
        """The address of a text that stays."""
        self.kept = getattr(self, "kept", []) + [ctypes.create_string_buffer(text.encode())]
        return ctypes.addressof(self.kept[-1])

    def batch(self, stream, counter, values, times, flags=0, size=None):
        size = values.nbytes if size is None else size
        batch = (ctypes.c_size_t * 6)(counter, values.ctypes.data, size, flags, times.ctypes.data, times.nbytes)
        return self.CounterBatchWrite(stream, batch)


C_CASES = {}


def c_case(code):
    def add(function):
        C_CASES[code] = function
        return function

    return add


@c_case("unknown-handle")
def _(table, domain, gpu):
    assert table.CounterWrite(domain, ctypes.c_int64(1), ctypes.c_uint64(17), None, ctypes.c_size_t(0)) == 2


@c_case("unknown-id")
def _(table, domain, gpu):
    assert table.CounterWrite(gpu, ctypes.c_int64(1), ctypes.c_uint64(1 << 33), None, ctypes.c_size_t(0)) == 2


@c_case("category-zero")
def _(table, domain, gpu):
    assert table.CategoryRegister(domain, 0, b"io") == 2


@c_case("batch-size")
def _(table, domain, gpu):
    values = np.arange(4)
    assert table.batch(gpu, table.counter(domain), values, values, size=20) == 2


@c_case("reserved-flags")
def _(table, domain, gpu):
    values = np.arange(4)
    assert table.batch(gpu, table.counter(domain), values, values, flags=1) == 0


@c_case("overlapping-calls")
def _(table, domain, gpu):
    """A thread registers while another writes: only whether that is found is certain, not how often."""
    counter, values = table.counter(domain), np.arange(1 << 20)
    done = threading.Event()

    def register():
        while not done.is_set():
            table.CategoryRegister(domain, 7, b"io")

    other = threading.Thread(target=register)
    other.start()
    for _ in range(5):
        assert table.batch(gpu, counter, values, values) == 0
    done.set()
    other.join()


if os.path.exists(findings):
    os.remove(findings)
backend = writer.load_backend(library)
for code, function in CASES.items():
    with writer.Session(code, backend=backend, config=f"check.output={findings}") as session:
        function(session)
backend.close()
table = Table()
for code, function in C_CASES.items():
    session, domain, gpu = table.begin(code)
    function(table, domain, gpu)
    assert table.SessionEnd(session) == 0

lines, _, running = read(findings)
assert not running, running
for line in lines:
    if "end" in line:
        code, found = line["end"], line["findings"]
        assert list(found) == [code] and (found[code] == 1 or code == "overlapping-calls"), line
    if "finding" in line:
        assert line["finding"] == line["session"] and line["what"] and line["why"] and line["fix"], line
ended = [line["end"] for line in lines if "end" in line]
assert ended == list(CASES) + list(C_CASES), ended
print(f"{len(CASES)} findings by nvtx.writer, {len(C_CASES)} by the C functions")
