//! Text of any length that goes with its batch, and text of a fixed size.

use nvtxw::abi::raw;
use nvtxw::{FlexPool, FlexStr, NvtxEvent, StreamOptions};

use crate::recorder::{self, Call, call, calls};

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_pushpop)]
struct Query {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(message, flex)]
    text: FlexStr,
    rows: u64,
    #[nvtx(flex, description = "who asked", hide)]
    user: FlexStr,
    #[nvtx(string)]
    code: [u8; 8],
}

fn query(start: i64, text: FlexStr, user: FlexStr) -> Query {
    Query {
        start,
        end: start + 1,
        text,
        rows: 2,
        user,
        code: *b"ok\0\0\0\0\0\0",
    }
}

#[test]
fn a_text_is_a_hidden_length_and_an_offset() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    calls();
    domain.schema::<Query>().unwrap();
    let Call::Schema { schema, .. } = call() else {
        panic!()
    };
    assert_eq!(schema.ty, raw::NVTX_PAYLOAD_SCHEMA_TYPE_STATIC);
    assert_eq!(schema.size, size_of::<Query>());
    let flex = raw::NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE
        | raw::NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX;
    let hide = raw::NVTX_PAYLOAD_ENTRY_FLAG_HIDE;
    let message = raw::NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE;
    let utf8 = raw::NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8;
    let u64_ = raw::NVTX_PAYLOAD_ENTRY_TYPE_UINT64;
    let found: Vec<_> = schema.entries[2..]
        .iter()
        .map(|entry| {
            (
                entry.name.as_str(),
                entry.ty,
                entry.flags,
                entry.detail,
                entry.offset,
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("text length", u64_, hide, 0, 16),
            ("text", utf8, flex | message, 2, 24),
            ("rows", u64_, 0, 0, 32),
            ("user length", u64_, hide, 0, 40),
            ("user", utf8, flex | hide, 5, 48),
            ("code", utf8, 0, 8, 56),
        ]
    );
    assert_eq!(schema.entries[6].description.as_deref(), Some("who asked"));
    assert_eq!(schema.entries[5].description, None);
}

#[test]
fn the_pool_goes_with_the_batch_as_it_is() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    let (schema, domain) = (domain.schema::<Query>().unwrap(), domain.id());
    let mut stream = session
        .open_stream("s", StreamOptions::new(domain).plain_events(false))
        .unwrap();
    calls();
    let out = session.writer(&mut stream).unwrap();
    let queries = out.events(schema).unwrap();

    let mut pool = FlexPool::with_capacity(64);
    let user = pool.push("größe");
    let batch = [
        query(0, pool.push("SELECT 1"), user),
        query(5, pool.push(""), user),
    ];
    queries.write_batch_flex(&batch, &pool).unwrap();
    let Call::Batch {
        address,
        bytes,
        flex,
        ..
    } = call()
    else {
        panic!()
    };
    assert_eq!(
        (address, flex.1, flex.2),
        (batch.as_ptr().addr(), pool.len(), 0)
    );
    assert_eq!(recorder::flex(), "größeSELECT 1".as_bytes());
    let mut expected = Vec::new();
    for (start, len, offset) in [(0_i64, 8_u64, 7_u64), (5, 0, 15)] {
        expected.extend(start.to_ne_bytes());
        expected.extend((start + 1).to_ne_bytes());
        expected.extend(
            [len, offset, 2, 7, 0]
                .into_iter()
                .flat_map(u64::to_ne_bytes),
        );
        expected.extend(b"ok\0\0\0\0\0\0");
    }
    assert_eq!(bytes, expected);

    // The memory is used again.
    pool.clear();
    let one = query(9, pool.push("again"), FlexStr::EMPTY);
    queries.write_flex(&one, &pool).unwrap();
    let Call::Batch {
        address: of_one,
        flex: again,
        ..
    } = call()
    else {
        panic!()
    };
    assert_eq!(
        (of_one, again),
        (std::ptr::from_ref(&one).addr(), (flex.0, 5, 0))
    );
    assert_eq!(recorder::flex(), b"again");

    // Nothing to refer to is a null pointer, and no event is no call.
    let empty = query(9, FlexStr::EMPTY, FlexStr::default());
    queries.write_flex(&empty, &FlexPool::new()).unwrap();
    let Call::Batch { flex, .. } = call() else {
        panic!()
    };
    assert_eq!(flex, (0, 0, 0));
    queries.write_batch_flex(&[], &pool).unwrap();
    assert_eq!(calls(), []);
}

#[test]
fn text_of_another_pool_is_refused_and_nothing_is_written() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    let (schema, domain) = (domain.schema::<Query>().unwrap(), domain.id());
    let mut stream = session
        .open_stream("s", StreamOptions::new(domain).plain_events(false))
        .unwrap();
    calls();
    let out = session.writer(&mut stream).unwrap();
    let queries = out.events(schema).unwrap();
    let (mut pool, mut other) = (FlexPool::new(), FlexPool::new());
    let own = pool.push("own");
    other.push("a longer one");
    let foreign = other.push("x");
    for batch in [
        [query(0, own, own), query(1, foreign, own)],
        [query(0, own, foreign), query(1, own, own)],
    ] {
        let error = queries.write_batch_flex(&batch, &pool).unwrap_err();
        assert_eq!(
            error.at(&queries).to_string(),
            "can't write events of schema `Query` to stream `s` of domain `sim` of session `run`: the text of an event lies \
             outside the pool that was passed: pass the pool that made its `FlexStr`s, and clear it only after the write"
        );
    }
    assert_eq!(calls(), []);
}
