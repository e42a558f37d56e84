//! Enums, newtypes and clocks: what is registered for them.

use nvtxw::abi::raw;
use nvtxw::{Flags, NvtxEnum, NvtxEvent, NvtxField, StreamOptions};

use crate::recorder::{self, Call, Semantics, answer, call, calls};

#[derive(NvtxEnum, Clone, Copy)]
#[repr(i16)]
enum Level {
    Low = -1,
    #[nvtx(name = "so-so")]
    Middle,
    High = 300,
}

#[derive(NvtxEnum, Clone, Copy)]
#[repr(u8)]
#[nvtx(flags, name = "access rights")]
enum Access {
    None = 0,
    Read = 1,
    Write = 4,
}

#[derive(NvtxField, Clone, Copy)]
#[repr(transparent)]
struct Ticks(u64);

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Change {
    #[nvtx(timestamp, time_domain = "clock_monotonic")]
    time: Ticks,
    level: Level,
    levels: [Level; 2],
    access: Flags<Access>,
    #[nvtx(skip)]
    _pad: u8,
    #[nvtx(unit = "ms", scale = "1/1000", min = 0)]
    waited: Ticks,
}

#[test]
fn an_enum_is_registered_once_before_what_uses_it() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    calls();
    domain.schema::<Change>().unwrap();
    let made = calls();
    let [
        Call::Enum {
            mask,
            ref name,
            size,
            ref values,
            out: level,
            ..
        },
        Call::Enum {
            name: ref flags_name,
            size: flags_size,
            values: ref flags,
            out: access,
            ..
        },
        Call::Schema { ref schema, .. },
    ] = made[..]
    else {
        panic!("{made:#?}")
    };
    assert_eq!((mask, name.as_str(), size), (0b1_1110, "Level", 2));
    // A value is its two bytes, without the sign's continuation.
    assert_eq!(
        *values,
        [
            ("Low".into(), 0xFFFF, 0),
            ("so-so".into(), 0, 0),
            ("High".into(), 300, 0)
        ]
    );
    assert_eq!((flags_name.as_str(), flags_size), ("access rights", 1));
    // What has no bit can't be combined.
    assert_eq!(
        *flags,
        [
            ("None".into(), 0, 0),
            ("Read".into(), 1, 1),
            ("Write".into(), 4, 1)
        ]
    );

    let timestamp = raw::NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP | raw::NVTX_PAYLOAD_ENTRY_FLAG_MARK;
    let array = raw::NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;
    let found: Vec<_> = schema
        .entries
        .iter()
        .map(|entry| (entry.ty, entry.flags, entry.detail, entry.offset))
        .collect();
    assert_eq!(
        found,
        [
            (raw::NVTX_PAYLOAD_ENTRY_TYPE_UINT64, timestamp, 0, 0),
            (level, 0, 0, 8),
            (level, array, 2, 10),
            (access, 0, 0, 14),
            (raw::NVTX_PAYLOAD_ENTRY_TYPE_UINT64, 0, 0, 16),
        ]
    );
    assert_eq!(
        schema.entries[0].semantics,
        [Semantics::Time {
            struct_size: 24,
            version: 1,
            time_domain: raw::NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC,
        }]
    );
    let [
        Semantics::Counter {
            ref unit, scale, ..
        },
    ] = schema.entries[4].semantics[..]
    else {
        panic!("{:?}", schema.entries[4])
    };
    assert_eq!((unit.as_deref(), scale), (Some("ms"), (1, 1000)));

    // Another domain has none of it yet.
    session.domain("other").unwrap().schema::<Change>().unwrap();
    assert_eq!(calls().len(), 4);
}

#[test]
fn an_enum_that_is_refused_is_named() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    answer("EnumRegister", raw::NVTXW_RESULT_NOT_SUPPORTED);
    let error = domain.schema::<Change>().unwrap_err().to_string();
    let prefix = "can't register the enum of `Level` in domain `sim` of session `run`: the backend answered NOT_SUPPORTED";
    assert!(error.starts_with(prefix), "{error}");
    answer("EnumRegister", 0);
    domain.schema::<Change>().unwrap();
}

#[test]
fn values_are_written_as_their_bytes() {
    let mut session = recorder::session("run");
    let mut domain = session.default_domain().unwrap();
    let (schema, domain) = (domain.schema::<Change>().unwrap(), domain.id());
    let mut stream = session
        .open_stream("s", StreamOptions::new(domain).plain_events(false))
        .unwrap();
    calls();
    let out = session.writer(&mut stream).unwrap();
    let change = Change {
        time: Ticks(1),
        level: Level::Low,
        levels: [Level::Middle, Level::High],
        access: Flags::from(Access::Read) | Access::Write | Access::None,
        _pad: 0,
        waited: Ticks(2),
    };
    out.events(schema).unwrap().write(&change).unwrap();
    let Call::Event { payloads, .. } = call() else {
        panic!()
    };
    let mut expected = 1_u64.to_ne_bytes().to_vec();
    expected.extend([-1_i16, 0, 300].into_iter().flat_map(i16::to_ne_bytes));
    expected.extend([5, 0]);
    expected.extend(2_u64.to_ne_bytes());
    assert_eq!(payloads[0].bytes, expected);
}
