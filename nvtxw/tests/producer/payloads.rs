//! Structs inside structs, and beside events.

use nvtxw::abi::raw;
use nvtxw::{NvtxCounterGroup, NvtxEvent, NvtxPayload, RecordLayout, StreamOptions};

use crate::recorder::{self, Call, answer, call, calls};

#[derive(NvtxPayload, Clone, Copy, Debug)]
#[repr(C)]
struct Pair {
    a: u32,
    #[nvtx(unit = "bytes")]
    b: u32,
}

#[derive(NvtxPayload, Clone, Copy)]
#[repr(C)]
struct Box2 {
    corners: [Pair; 2],
    full: bool,
    #[nvtx(skip)]
    _pad: [u8; 7],
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Nested {
    #[nvtx(timestamp)]
    x: u64,
    inner: [Pair; 2],
    outer: Box2,
    y: u64,
}

/// A group of counters that is a field of events too.
#[derive(NvtxCounterGroup, NvtxPayload, Clone, Copy)]
#[repr(C)]
struct Both {
    value: u64,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Mark {
    #[nvtx(timestamp)]
    time: i64,
}

#[test]
fn what_is_inside_is_registered_first_and_once() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    let Call::Domain { out: handle, .. } = call() else {
        panic!()
    };
    domain.schema::<Nested>().unwrap();
    let made = calls();
    let [
        Call::Schema {
            domain: of,
            schema: ref pair,
            out: pair_id,
        },
        Call::Enum { out: boolean, .. },
        Call::Schema {
            schema: ref outer,
            out: outer_id,
            ..
        },
        Call::Schema {
            schema: ref event, ..
        },
    ] = made[..]
    else {
        panic!("{made:#?}")
    };
    assert_eq!(of, handle);
    // No event, counter group, or reference.
    assert_eq!(
        (pair.flags, pair.size, outer.flags, outer.size),
        (0, 8, 0, 24)
    );
    assert_eq!(pair.ty, raw::NVTX_PAYLOAD_SCHEMA_TYPE_STATIC);
    assert_eq!(pair.entries[1].semantics.len(), 1);
    let array = raw::NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;
    let entries = |schema: &recorder::Schema| -> Vec<_> {
        schema
            .entries
            .iter()
            .map(|entry| (entry.ty, entry.flags, entry.detail, entry.offset))
            .collect()
    };
    assert_eq!(
        entries(outer),
        [(pair_id, array, 2, 0), (boolean, 0, 0, 16)]
    );
    assert_eq!(
        entries(event)[1..],
        [
            (pair_id, array, 2, 8),
            (outer_id, 0, 0, 24),
            (raw::NVTX_PAYLOAD_ENTRY_TYPE_UINT64, 0, 0, 48)
        ]
    );

    // Asked for by itself, it is the same schema.
    domain.payload_schema::<Pair>().unwrap();
    domain.payload_schema::<Box2>().unwrap();
    assert_eq!(calls(), []);
    session.domain("other").unwrap().schema::<Nested>().unwrap();
    assert_eq!(calls().len(), 5);
}

#[test]
fn a_struct_may_be_a_counter_group_and_a_payload() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    calls();
    domain.payload_schema::<Both>().unwrap();
    domain.counter_group::<Both>("both").unwrap();
    let made = calls();
    let [
        Call::Schema {
            schema: ref payload,
            out: payload_id,
            ..
        },
        Call::Schema {
            schema: ref group,
            out: group_id,
            ..
        },
        Call::Counter { ref counter, .. },
    ] = made[..]
    else {
        panic!("{made:#?}")
    };
    assert_eq!(
        (payload.flags, group.flags),
        (0, raw::NVTX_PAYLOAD_SCHEMA_FLAG_COUNTER_GROUP)
    );
    assert_ne!(payload_id, group_id);
    assert_eq!(counter.schema, group_id);
}

#[test]
fn a_refusal_inside_leaves_the_rest_to_be_tried_again() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    answer("EnumRegister", raw::NVTXW_RESULT_FAILED);
    let error = domain.schema::<Nested>().unwrap_err().to_string();
    assert!(
        error.starts_with("can't register the enum of `bool` in domain `sim`"),
        "{error}"
    );
    calls();
    answer("EnumRegister", 0);
    domain.schema::<Nested>().unwrap();
    // `Pair` was registered with the first attempt.
    assert_eq!(calls().len(), 3);
}

#[test]
fn payloads_and_rows_stand_beside_an_event() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    let (mark, pair) = (
        domain.schema::<Mark>().unwrap(),
        domain.payload_schema::<Pair>().unwrap(),
    );
    let record = domain
        .record("arguments", &RecordLayout::new().i64("n"))
        .unwrap();
    let domain = domain.id();
    let ids: Vec<_> = calls()
        .into_iter()
        .filter_map(|call| match call {
            Call::Schema { out, .. } => Some(out),
            _ => None,
        })
        .collect();
    let [mark_id, pair_id, record_id] = ids[..] else {
        panic!("{ids:?}")
    };
    let mut stream = session
        .open_stream("s", StreamOptions::new(domain).plain_events(false))
        .unwrap();
    calls();
    let out = session.writer(&mut stream).unwrap();
    let marks = out.events(mark).unwrap();
    let (event, a, b) = (Mark { time: 7 }, Pair { a: 1, b: 2 }, Pair { a: 3, b: 4 });
    let mut row = record.row();
    row.set(0, 9_i64).unwrap();
    let written = || {
        let Call::Event { payloads, .. } = call() else {
            panic!()
        };
        assert_eq!(
            (payloads[0].schema, payloads[0].address),
            (mark_id, std::ptr::from_ref(&event).addr())
        );
        let rest: Vec<_> = payloads[1..]
            .iter()
            .map(|payload| (payload.schema, payload.address, payload.bytes.len()))
            .collect();
        rest
    };
    let of = |pair: &Pair| (pair_id, std::ptr::from_ref(pair).addr(), 8);

    marks.write_with(&event, pair.payload(&a)).unwrap();
    assert_eq!(written(), [of(&a)]);
    marks.write_with(&event, (pair.payload(&b),)).unwrap();
    assert_eq!(written(), [of(&b)]);
    marks
        .write_with(&event, (pair.payload(&a), &row, pair.payload(&b)))
        .unwrap();
    let found = written();
    assert_eq!((found[0], found[2]), (of(&a), of(&b)));
    assert_eq!((found[1].0, found[1].2), (record_id, 8));
    marks.write_with(&event, (&row, &row)).unwrap();
    assert_eq!(written().len(), 2);
    let all = (pair.payload(&a), pair.payload(&b), &row, &row);
    marks.write_with(&event, all).unwrap();
    assert_eq!(written().len(), 4);
}

#[test]
fn a_payload_of_another_domain_is_refused_wherever_it_stands() {
    let mut session = recorder::session("run");
    let foreign = session
        .domain("other")
        .unwrap()
        .payload_schema::<Pair>()
        .unwrap();
    let mut domain = session.domain("sim").unwrap();
    let (mark, own) = (
        domain.schema::<Mark>().unwrap(),
        domain.payload_schema::<Pair>().unwrap(),
    );
    let scope = domain.scope("GPU 0").unwrap();
    let domain = domain.id();
    let mut stream = session
        .open_stream("s", StreamOptions::new(domain).plain_events(false))
        .unwrap();
    calls();
    let out = session.writer(&mut stream).unwrap();
    let marks = out.events(mark).unwrap();
    let (event, pair) = (Mark { time: 7 }, Pair { a: 1, b: 2 });
    let text = "can't write events of schema `Mark` to stream `s` of domain `sim` of session `run`: a registered string or a \
                row that was passed belongs to domain `other` of session `run`: use one of the stream's own domain";
    let error = marks
        .write_with(&event, foreign.payload(&pair))
        .unwrap_err();
    assert_eq!(error.at(&marks).to_string(), text);
    let error = marks
        .write_with(&event, (own.payload(&pair), foreign.payload(&pair)))
        .unwrap_err();
    assert_eq!(error.at(&marks).to_string(), text);
    let scoped = out.events(mark).unwrap().scope(scope).unwrap();
    let error = scoped.write_with(&event, own.payload(&pair)).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("a row or payload can't be written"),
        "{error}"
    );
    assert_eq!(calls(), []);
}
