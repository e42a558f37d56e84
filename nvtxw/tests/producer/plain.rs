//! Plain marks and ranges: the exact bytes.

use nvtxw::abi::raw;
use nvtxw::{Argb, CategoryId, RangeId, Session, Stream, StreamOptions, WriteError};

use crate::recorder::{self, Call, Payload, answer, call, calls};

/// A session with one stream, and the IDs of its 13 plain schemas in the order of their registration.
fn opened() -> (Session, Stream, Vec<u64>) {
    let mut session = recorder::session("run");
    let domain = session.domain("sim").unwrap().id();
    let stream = session
        .open_stream("main", StreamOptions::new(domain))
        .unwrap();
    let ids = calls()
        .into_iter()
        .filter_map(|call| match call {
            Call::Schema { out, .. } => Some(out),
            _ => None,
        })
        .collect();
    (session, stream, ids)
}

fn payloads(call: Call) -> Vec<Payload> {
    let Call::Event { payloads, .. } = call else {
        panic!("{call:?}")
    };
    payloads
}

/// The bytes of 64-bit numbers, in order.
fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

fn attributes(color: u32, category: u32) -> u64 {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&color.to_ne_bytes());
    bytes[4..].copy_from_slice(&category.to_ne_bytes());
    u64::from_ne_bytes(bytes)
}

#[test]
fn text_follows_the_header_as_a_payload_of_its_own() {
    let (session, mut stream, ids) = opened();
    let out = session.writer(&mut stream).unwrap();
    let id = RangeId::new(9).unwrap();
    let category = CategoryId::from_u32(3);
    let attr = attributes(0xFF00_8000, 3);
    let text = String::from("gémm");

    out.mark(-1)
        .message(&text)
        .color(Argb::GREEN)
        .category(category)
        .write()
        .unwrap();
    let mark = payloads(call());
    out.pushpop(1, 2)
        .message(&text)
        .color(Argb::GREEN)
        .category(category)
        .write()
        .unwrap();
    let pushpop = payloads(call());
    out.startend(3, i64::MAX)
        .message(&text)
        .color(Argb::GREEN)
        .category(category)
        .write()
        .unwrap();
    let startend = payloads(call());
    out.push(4)
        .message(&text)
        .color(Argb::GREEN)
        .category(category)
        .write()
        .unwrap();
    let push = payloads(call());
    out.start(5, id)
        .message(&text)
        .color(Argb::GREEN)
        .category(category)
        .write()
        .unwrap();
    let start = payloads(call());

    for (payloads, schema, header) in [
        (mark, ids[0], words(&[u64::MAX, attr])),
        (pushpop, ids[2], words(&[1, 2, attr])),
        (startend, ids[4], words(&[3, i64::MAX as u64, attr])),
        (push, ids[6], words(&[4, attr])),
        (start, ids[9], words(&[9, 5, attr])),
    ] {
        assert_eq!(payloads.len(), 2);
        assert_eq!((payloads[0].schema, &payloads[0].bytes), (schema, &header));
        assert_eq!(
            (payloads[1].schema, &*payloads[1].bytes),
            (ids[12], text.as_bytes())
        );
        // The text itself, not a copy.
        assert_eq!(payloads[1].address, text.as_ptr().addr());
    }
}

#[test]
fn a_registered_message_is_in_the_struct() {
    let (mut session, mut stream, ids) = opened();
    let mut domain = session.domain("sim").unwrap();
    let gemm = domain.string("gemm").unwrap();
    let Call::String { out: handle, .. } = call() else {
        panic!()
    };
    let out = session.writer(&mut stream).unwrap();
    let id = RangeId::new(u64::MAX).unwrap();
    let handle = handle as u64;
    let black = attributes(0xFF00_0000, 0);

    out.mark(-1)
        .message(gemm)
        .color(Argb::BLACK)
        .write()
        .unwrap();
    let mark = payloads(call());
    out.pushpop(1, 2)
        .message(gemm)
        .color(Argb::BLACK)
        .write()
        .unwrap();
    let pushpop = payloads(call());
    out.startend(3, 4)
        .message(gemm)
        .color(Argb::BLACK)
        .write()
        .unwrap();
    let startend = payloads(call());
    out.push(4)
        .message(gemm)
        .color(Argb::BLACK)
        .write()
        .unwrap();
    let push = payloads(call());
    out.start(5, id)
        .message(gemm)
        .color(Argb::BLACK)
        .write()
        .unwrap();
    let start = payloads(call());

    for (payloads, schema, bytes) in [
        (mark, ids[1], words(&[u64::MAX, black, handle])),
        (pushpop, ids[3], words(&[1, 2, black, handle])),
        (startend, ids[5], words(&[3, 4, black, handle])),
        (push, ids[7], words(&[4, black, handle])),
        (start, ids[10], words(&[u64::MAX, 5, black, handle])),
    ] {
        assert_eq!(payloads.len(), 1);
        assert_eq!((payloads[0].schema, &payloads[0].bytes), (schema, &bytes));
    }
}

#[test]
fn pop_and_end_have_no_message() {
    let (session, mut stream, ids) = opened();
    let out = session.writer(&mut stream).unwrap();
    out.pop(7).unwrap();
    let pop = payloads(call());
    assert_eq!(
        (pop.len(), pop[0].schema, &pop[0].bytes),
        (1, ids[8], &words(&[7]))
    );
    out.end(8, RangeId::new(9).unwrap()).unwrap();
    let end = payloads(call());
    assert_eq!(
        (end.len(), end[0].schema, &end[0].bytes),
        (1, ids[11], &words(&[9, 8]))
    );
}

#[test]
fn no_message_and_an_empty_one_are_one_nul_byte() {
    let (session, mut stream, ids) = opened();
    let out = session.writer(&mut stream).unwrap();
    out.mark(1).write().unwrap();
    out.mark(1).message("").write().unwrap();
    out.mark(1).message(b"\0".as_slice()).write().unwrap();
    for call in calls() {
        let payloads = payloads(call);
        assert_eq!(
            (payloads[1].schema, &*payloads[1].bytes),
            (ids[12], b"\0".as_slice())
        );
        assert_eq!(payloads[0].bytes, words(&[1, 0]), "no colour, no category");
    }
    // Neither scanned nor cut.
    out.mark(1).message("a\0b").write().unwrap();
    assert_eq!(payloads(call())[1].bytes, b"a\0b");
    out.mark(1)
        .message([0xFF_u8, 0xFE].as_slice())
        .write()
        .unwrap();
    assert_eq!(payloads(call())[1].bytes, [0xFF, 0xFE]);
}

#[test]
fn the_answer_of_the_backend_is_the_error() {
    let (session, mut stream, _) = opened();
    let out = session.writer(&mut stream).unwrap();
    for code in [1, 2, 7, 42, -1, i32::MAX] {
        answer("EventWrite", code);
        let error = out.mark(1).message("x").write().unwrap_err();
        assert_eq!(error.code().get(), code);
        assert_eq!(
            error.is_not_supported(),
            code == raw::NVTXW_RESULT_NOT_SUPPORTED
        );
    }
    answer("EventWrite", raw::NVTXW_RESULT_FAILED);
    let error = out.pop(1).unwrap_err();
    let reason = "the backend answered FAILED (1); it may tell why, a full disk for example, on standard error or in a log";
    // `WriteError::at` is for the programmer: a user of the program may read this.
    assert_eq!(error.to_string(), reason);
    assert_eq!(
        nvtxw::Error::from(error).to_string(),
        format!("a write failed: {reason}")
    );
    assert_eq!(
        error.at(&out).to_string(),
        format!("can't write an event to stream `main` of domain `sim` of session `run`: {reason}")
    );
    assert_eq!(size_of::<Result<(), WriteError>>(), 4);
}

#[test]
fn a_refusal_of_the_schemas_is_kept_for_the_first_write() {
    let mut session = recorder::session("run");
    let domain = session.domain("sim").unwrap().id();
    answer("SchemaRegister", raw::NVTXW_RESULT_NOT_SUPPORTED);
    answer("dynamic schema", raw::NVTXW_RESULT_INVALID_ARGUMENT);
    let mut stream = session
        .open_stream("main", StreamOptions::new(domain))
        .unwrap();
    calls();
    let out = session.writer(&mut stream).unwrap();
    let error = out.mark(1).write().unwrap_err();
    assert!(error.is_not_supported());
    assert_eq!(
        error.at(&out).to_string(),
        "can't write an event to stream `main` of domain `sim` of session `run`: the schema of marks with text was not \
         registered when the domain's first stream was opened: the backend answered NOT_SUPPORTED (7), which means that it \
         doesn't offer this; do without it, or use another backend"
    );
    assert!(out.pop(1).unwrap_err().is_not_supported());
    assert!(
        out.end(1, RangeId::new(1).unwrap())
            .unwrap_err()
            .is_not_supported()
    );
    assert_eq!(calls(), []);

    // A backend that takes no dynamic schema: registered messages go all the same.
    let mut session = recorder::session("run");
    answer("SchemaRegister", 0);
    let mut domain = session.domain("sim").unwrap();
    let (gemm, domain) = (domain.string("gemm").unwrap(), domain.id());
    let mut stream = session
        .open_stream("main", StreamOptions::new(domain))
        .unwrap();
    calls();
    let out = session.writer(&mut stream).unwrap();
    let error = out.mark(1).message("text").write().unwrap_err();
    assert_eq!(error.code().get(), raw::NVTXW_RESULT_INVALID_ARGUMENT);
    assert_eq!(
        error.to_string(),
        "the schema of the text of events was not registered when the domain's first stream was opened: the backend answered \
         INVALID_ARGUMENT (2); it may tell why on standard error or in a log"
    );
    assert_eq!(calls(), []);
    out.mark(1).message(gemm).write().unwrap();
    out.pop(2).unwrap();
    assert_eq!(calls().len(), 2);
}

#[test]
fn a_stream_without_plain_events_refuses_them() {
    let mut session = recorder::session("run");
    let domain = session.domain("sim").unwrap().id();
    let mut stream = session
        .open_stream("main", StreamOptions::new(domain).plain_events(false))
        .unwrap();
    calls();
    let out = session.writer(&mut stream).unwrap();
    let error = out.mark(1).write().unwrap_err();
    assert_eq!(error.code().get(), raw::NVTXW_RESULT_INVALID_ARGUMENT);
    assert_eq!(
        error.to_string(),
        "the stream was opened with `plain_events(false)`: leave that out"
    );
    assert_eq!(out.pop(1), Err(error));
    assert_eq!(calls(), []);
}

#[test]
fn a_color_may_be_a_number_or_a_triple() {
    let (session, mut stream, _) = opened();
    let out = session.writer(&mut stream).unwrap();
    let arrives = |event: nvtxw::PlainEvent<'_>| {
        event.write().unwrap();
        let payloads = payloads(call());
        u32::from_ne_bytes(payloads[0].bytes[8..12].try_into().unwrap())
    };
    assert_eq!(arrives(out.mark(1).color(0x80FF_0000)), 0x80FF_0000);
    assert_eq!(arrives(out.mark(1).color((1, 2, 3))), 0xFF01_0203);
    assert_eq!(
        arrives(out.mark(1).color(Argb::hex("#010203").unwrap())),
        0xFF01_0203
    );
    assert_eq!(arrives(out.mark(1).color(Argb::NONE)), 0);
    assert_eq!(arrives(out.mark(1)), 0);

    out.mark(1).message(b"\xFF").write().unwrap();
    assert_eq!(payloads(call())[1].bytes, [0xFF]);
}
