use nvtxw_abi::raw::*;
use nvtxw_abi::{EntryType, EventKind, ResultCode};

use crate::Run;
use crate::reader::{Arg, text};
use crate::table::{Entry, entry, time, words};

/// Packs fields one after the other.
macro_rules! pack {
    ($($field:expr),* $(,)?) => {{
        let mut bytes: Vec<u8> = Vec::new();
        $( bytes.extend_from_slice(&$field.to_ne_bytes()); )*
        bytes
    }};
}
pub(crate) use pack;

pub fn mark_time() -> Entry<'static> {
    time(c"time", NVTX_PAYLOAD_ENTRY_FLAG_MARK)
}

pub fn array(ty: EntryType, count: u64, name: &std::ffi::CStr) -> Entry<'_> {
    Entry {
        flags: NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE,
        count,
        ..entry(ty, name)
    }
}

#[test]
fn fields_are_annotations_of_their_type() {
    let run = Run::new();
    let domain = run.session.domain("");
    let mut stream = run.session.stream("main", domain, 0);
    let point = domain.schema(
        "point",
        0,
        8,
        &[
            entry(EntryType::Int32, c"x"),
            entry(EntryType::UInt32, c"y"),
        ],
    );
    let boolean = domain.enumeration(1, &[(c"false", 0), (c"true", 1)]);
    let level = domain.enumeration(1, &[(c"low", 1), (c"high", 200)]);
    let of = |ty, name| Entry {
        ty,
        ..entry(EntryType::Int8, name)
    };
    let entries = [
        mark_time(),
        entry(EntryType::Int64, c"least"),
        entry(EntryType::UInt64, c"most"),
        entry(EntryType::Int128, c"i128"),
        entry(EntryType::UInt128, c"u128"),
        entry(EntryType::Float64, c"nan"),
        entry(EntryType::Float64, c"infinite"),
        entry(EntryType::Address, c"address"),
        entry(EntryType::RegisteredString, c"known"),
        entry(EntryType::RegisteredString, c"absent"),
        array(EntryType::RegisteredString, 3, c"peers"),
        Entry {
            flags: NVTX_PAYLOAD_ENTRY_FLAG_HIDE,
            ..entry(EntryType::Int64, c"hidden")
        },
        of(point, c"point"),
        Entry {
            ty: point,
            ..array(EntryType::Int8, 2, c"points")
        },
        array(EntryType::Float32, 2, c"floats"),
        Entry {
            count: 8,
            ..entry(EntryType::CStringUtf8, c"text")
        },
        entry(EntryType::Char32, c"char"),
        of(boolean, c"yes"),
        of(boolean, c"odd"),
        of(level, c"level"),
        of(level, c"unnamed"),
    ];
    let payload = [
        pack![
            5i64,
            i64::MIN,
            u64::MAX,
            0u64, // the 128-bit integers are aligned
        ],
        pack![i128::MIN, u128::MAX],
        pack![f64::NAN, f64::NEG_INFINITY, 0xDEAD_BEEF_u64],
        pack![domain.string("한강"), 0u64],
        pack![0u64, domain.string("한강"), 0u64],
        pack![666i64],
        pack![-1i32, 2u32, 3i32, 4u32, 5i32, 6u32],
        pack![0.5f32, f32::INFINITY],
        b"a\xFF\xFEb\0xyz".to_vec(),
        pack![u32::from('é')],
        vec![1, 7, 200, 3],
        vec![0; 8],
    ]
    .concat();
    let schema = domain.schema("all", EventKind::Mark.to_raw(), payload.len(), &entries);
    stream.event(&[(schema, &payload)]).unwrap();

    let trace = run.read();
    let mark = trace.instant("all");
    let xy = |x, y| {
        Arg::Dict(vec![
            ("x".to_owned(), Arg::Int(x)),
            ("y".to_owned(), Arg::Uint(y)),
        ])
    };
    assert!(matches!(mark.arg("nan"), Arg::Double(value) if value.is_nan()));
    for (name, want) in [
        ("least", Arg::Int(i64::MIN)),
        ("most", Arg::Uint(u64::MAX)),
        ("i128", text("-170141183460469231731687303715884105728")),
        ("u128", text("340282366920938463463374607431768211455")),
        ("infinite", Arg::Double(f64::NEG_INFINITY)),
        ("address", Arg::Pointer(0xDEAD_BEEF)),
        ("known", text("한강")),
        (
            "peers",
            Arg::List(vec![text("null"), text("한강"), text("null")]),
        ),
        ("point", xy(-1, 2)),
        ("points", Arg::List(vec![xy(3, 4), xy(5, 6)])),
        (
            "floats",
            Arg::List(vec![Arg::Double(0.5), Arg::Double(f64::INFINITY)]),
        ),
        ("text", text("a\u{FFFD}\u{FFFD}b")),
        ("char", text("é")),
        ("yes", Arg::Bool(true)),
        ("odd", Arg::Uint(7)),
        ("level", text("high")),
        ("unnamed", Arg::Uint(3)),
    ] {
        assert_eq!(mark.arg(name), &want, "{name}");
    }
    assert_eq!(mark.args.len(), 18);

    let attribute = |key: &str| trace.attributes.get(key).cloned();
    assert_eq!(attribute("nvtxw.schema.0"), Some(text("all")));
    assert_eq!(attribute("nvtxw.schema.0.kind"), Some(text("mark")));
    // What is only a part of it is none.
    assert_eq!(attribute("nvtxw.schema.1"), None);
    let fields = [
        ("time", "i64", r#","role":"timestamp""#),
        ("least", "i64", ""),
        ("most", "u64", ""),
        ("i128", "i128", ""),
        ("u128", "u128", ""),
        ("nan", "f64", ""),
        ("infinite", "f64", ""),
        ("address", "address", ""),
        ("known", "text", ""),
        ("absent", "text", ""),
        ("peers", "[text; 3]", ""),
        ("point", "struct point", ""),
        ("points", "[struct point; 2]", ""),
        ("floats", "[f32; 2]", ""),
        ("text", "text", ""),
        ("char", "char32", ""),
        ("yes", "bool", ""),
        ("odd", "bool", ""),
        ("level", "enum", ""),
        ("unnamed", "enum", ""),
    ];
    let fields =
        fields.map(|(name, ty, more)| format!(r#"{{"name":"{name}","type":"{ty}"{more}}}"#));
    let want = format!("[{}]", fields.join(","));
    assert_eq!(attribute("nvtxw.schema.0.fields"), Some(text(&want)));
}

#[test]
fn structs_in_which_nothing_is_shown_keep_their_places() {
    let run = Run::new();
    let domain = run.session.domain("");
    let mut stream = run.session.stream("main", domain, 0);
    let of = |ty, name| Entry {
        ty,
        ..entry(EntryType::Int8, name)
    };
    let name = [entry(EntryType::RegisteredString, c"name")];
    let name = domain.schema("", 0, 8, &name);
    let secret = [Entry {
        flags: NVTX_PAYLOAD_ENTRY_FLAG_HIDE,
        ..entry(EntryType::Int64, c"secret")
    }];
    let secret = domain.schema("", 0, 8, &secret);
    let names = Entry {
        ty: name,
        ..array(EntryType::Int8, 3, c"names")
    };
    let far = array(EntryType::Int64, 300, c"far");
    let nothing = || text("{}");
    let some = || Arg::Dict(vec![("name".to_owned(), text("한강"))]);
    let values = pack![0u64, domain.string("한강"), 0u64, 0u64, 1u64];
    // By the short way, and by the long one.
    for more in [&[][..], &[far]] {
        let entries = [mark_time(), names, of(name, c"one"), of(secret, c"other")];
        let entries = [&entries[..], more].concat();
        let mut payload = [pack![i64::from(!more.is_empty())], values.clone()].concat();
        payload.resize(48 + more.len() * 2400, 0);
        let schema = domain.schema("e", EventKind::Mark.to_raw(), payload.len(), &entries);
        for _ in 0..2 {
            stream.event(&[(schema, &payload)]).unwrap();
        }
    }
    let trace = run.read();
    assert_eq!(trace.instants.len(), 4);
    for mark in &trace.instants {
        let names = Arg::List(vec![nothing(), some(), nothing()]);
        assert_eq!(mark.arg("names"), &names);
        assert_eq!(mark.arg("one"), &nothing());
        assert_eq!(mark.arg("other"), &nothing());
    }
}

#[test]
fn data_of_varying_size_nests_too() {
    let run = Run::new();
    let domain = run.session.domain("");
    let mut stream = run.session.stream("main", domain, 0);
    let of = |ty, count, name| Entry {
        ty,
        count,
        ..entry(EntryType::Int8, name)
    };
    let flagged = |flags, count, ty, name| Entry {
        flags,
        count,
        ..entry(ty, name)
    };
    let members = [
        entry(EntryType::Float64, c"real"),
        entry(EntryType::Int32, c"integer"),
    ];
    let either = domain.schema_of("either", NVTX_PAYLOAD_SCHEMA_TYPE_UNION, 0, &members);
    let inner = [
        entry(EntryType::UInt32, c"which"),
        of(either, 0, c"value"),
        flagged(
            NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED,
            0,
            EntryType::CStringUtf16,
            c"unit",
        ),
    ];
    let dynamic = NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC;
    let inner = domain.schema_of("inner", dynamic, 0, &inner);
    let by_index = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX;
    let entries = [
        mark_time(),
        array(EntryType::UInt16, 2, c"sizes"),
        flagged(by_index, 1, EntryType::UInt8, c"matrix"),
        flagged(
            NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE | NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED,
            0,
            EntryType::CStringUtf32,
            c"message",
        ),
        of(inner, 0, c"inner"),
        flagged(
            NVTX_PAYLOAD_ENTRY_FLAG_POINTER,
            0,
            EntryType::Float128,
            c"nothing",
        ),
        entry(EntryType::Float128, c"wide"),
    ];
    let mark = domain.schema_of("mark", dynamic, EventKind::Mark.to_raw(), &entries);
    let mut event = pack![5i64, 2u16, 2u16, 1u8, 2u8, 3u8, 4u8];
    event.extend(pack![u32::from('한'), 0u32]);
    // The inner struct is aligned to 8, for its union; its unit follows that.
    event.extend(pack![
        1u32,
        0u32,
        -7i64,
        u16::from(b'm'),
        u16::from(b's'),
        0u16,
        0u16
    ]);
    // The last one is aligned to 16.
    event.extend(pack![0u64, 0u64, 0x3FFF_8000_u128 << 96]);
    assert_eq!(event.len(), 80);
    stream.event(&[(mark, &event)]).unwrap();

    let trace = run.read();
    let mark = trace.instant("한");
    let row = |a, b| Arg::List(vec![Arg::Uint(a), Arg::Uint(b)]);
    let dict = |fields: Vec<(&str, Arg)>| {
        Arg::Dict(
            fields
                .into_iter()
                .map(|(name, arg)| (name.to_owned(), arg))
                .collect(),
        )
    };
    let inner = dict(vec![
        ("which", Arg::Uint(1)),
        ("value", dict(vec![("integer", Arg::Int(-7))])),
        ("unit", text("ms")),
    ]);
    for (name, want) in [
        ("sizes", row(2, 2)),
        ("matrix", Arg::List(vec![row(1, 2), row(3, 4)])),
        ("inner", inner),
        ("wide", Arg::Double(1.5)),
    ] {
        assert_eq!(mark.arg(name), &want, "{name}");
    }
    assert_eq!(
        mark.args.len(),
        4,
        "what is behind a null pointer is not there"
    );
}

#[test]
fn names_are_messages_or_else_what_the_schema_is_called() {
    let run = Run::new();
    let domain = run.session.domain("");
    let mut stream = run.session.stream("main", domain, 0);
    let message = domain.message_schema();
    let mark = EventKind::Mark.to_raw();
    let named = domain.schema("named", mark, 8, &[mark_time()]);
    let fixed = Entry {
        flags: NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE,
        count: 8,
        ..entry(EntryType::CStringUtf8, c"label")
    };
    let fixed = domain.schema("fixed", mark, 16, &[mark_time(), fixed]);
    let odd = "\"\\\n\u{1}한강";
    stream
        .event(&[(named, &words(&[1])), (message, odd.as_bytes())])
        .unwrap();
    stream
        .event(&[(named, &words(&[2])), (message, b"\xFF\xFE")])
        .unwrap();
    stream
        .event(&[(named, &words(&[3])), (message, b"\0")])
        .unwrap();
    stream.event(&[(named, &words(&[4]))]).unwrap();
    let payload = [&words(&[5])[..], b"short\0\0\0"].concat();
    stream.event(&[(fixed, &payload)]).unwrap();
    // An empty inline text says that there is no message; a registered empty string is one.
    let registered = Entry {
        flags: NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE,
        ..entry(EntryType::RegisteredString, c"label")
    };
    let registered = domain.schema("registered", mark, 16, &[mark_time(), registered]);
    stream
        .event(&[(registered, &words(&[6, domain.string("").cast_signed()]))])
        .unwrap();
    stream.event(&[(registered, &words(&[7, 0]))]).unwrap();
    let trace = run.read();
    let names: Vec<_> = trace.instants.iter().map(|mark| &*mark.name).collect();
    assert_eq!(
        names,
        [
            odd,
            "\u{FFFD}\u{FFFD}",
            "named",
            "named",
            "short",
            "",
            "registered"
        ]
    );
}

#[test]
fn colors_and_categories() {
    let run = Run::new();
    let domain = run.session.domain("");
    let mut stream = run.session.stream("main", domain, 0);
    domain.category(3, "kernels");
    let schema = |name, hide| {
        domain.schema(
            name,
            EventKind::Mark.to_raw(),
            16,
            &[
                mark_time(),
                Entry {
                    flags: hide,
                    ..entry(EntryType::ColorArgb, c"shade")
                },
                entry(EntryType::Category, c"kind"),
            ],
        )
    };
    let shown = schema("shown", 0);
    let hidden = schema("hidden", NVTX_PAYLOAD_ENTRY_FLAG_HIDE);
    stream
        .event(&[(shown, &pack![1i64, 0xFF00_8000u32, 3u32])])
        .unwrap();
    stream.event(&[(shown, &pack![2i64, 0u32, 4u32])]).unwrap();
    stream
        .event(&[(hidden, &pack![3i64, 0x8012_34ABu32, 0u32])])
        .unwrap();
    let trace = run.read();
    let [green, plain, hidden] = &trace.instants[..] else {
        panic!("{:?}", trace.instants)
    };
    // The number makes readers show it in a green.
    assert_eq!(green.correlation.as_deref(), Some("#FF008000 193"));
    assert_eq!(green.args, [("shade".to_owned(), Arg::Uint(0xFF00_8000))]);
    assert_eq!(green.categories, ["kernels"]);
    assert_eq!(plain.correlation, None);
    assert_eq!(plain.args, []);
    assert_eq!(plain.categories, ["4"]);
    assert_eq!(hidden.correlation.as_deref(), Some("#801234AB 332"));
    assert_eq!(hidden.args, []);
    assert!(hidden.categories.is_empty());
}

#[test]
fn greys_have_no_correlation_id_in_batches_and_singly() {
    let run = Run::new();
    let domain = run.session.domain("");
    let entries = [
        time(c"start", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN),
        time(c"end", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END),
        entry(EntryType::ColorArgb, c"shade"),
        entry(EntryType::UInt32, c"n"),
    ];
    let schema = domain.schema("range", EventKind::RangePushPop.to_raw(), 24, &entries);
    let colors = [0xFF80_8080u32, 0xFFFF_0000, 0, 0xFF00_0000];
    let range = |at: i64| {
        let color = colors[at as usize % colors.len()];
        pack![10 * at, 10 * at + 5, color, 7u32]
    };
    let mut stream = run.session.stream("batch", domain, 0);
    let batch: Vec<u8> = (0..40).flat_map(range).collect();
    stream.batch(schema, &batch).unwrap();
    let mut stream = run.session.stream("single", domain, 0);
    for at in 0..40 {
        stream.event(&[(schema, &range(at))]).unwrap();
    }
    let trace = run.read();
    assert_eq!(trace.ranges.len(), 80);
    for range in &trace.ranges {
        let color = colors[range.start as usize / 10 % colors.len()];
        let text = (color == 0xFFFF_0000).then_some("#FFFF0000 109");
        assert_eq!(range.correlation.as_deref(), text);
        let shade = (color != 0).then(|| ("shade".to_owned(), Arg::Uint(color.into())));
        let n = ("n".to_owned(), Arg::Uint(7));
        assert_eq!(range.args, shade.into_iter().chain([n]).collect::<Vec<_>>());
    }
}

#[test]
fn the_color_of_an_end_is_an_argument_if_it_differs() {
    let run = Run::new();
    let domain = run.session.domain("");
    let mut stream = run.session.stream("main", domain, 0);
    let half = |kind: EventKind, name, role| {
        let entries = [time(name, role), entry(EntryType::ColorArgb, c"shade")];
        domain.schema(kind.name(), kind.to_raw(), 16, &entries)
    };
    let push = half(
        EventKind::RangePush,
        c"start",
        NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN,
    );
    let pop = half(
        EventKind::RangePop,
        c"end",
        NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END,
    );
    let (grey, red) = (0xFF80_8080u32, 0xFFFF_0000u32);
    let pairs = [[grey, grey], [red, red], [grey, red], [red, grey]];
    for (at, [start, end]) in (0i64..).zip(pairs) {
        stream
            .event(&[(push, &pack![10 * at, start, 0u32])])
            .unwrap();
        stream
            .event(&[(pop, &pack![10 * at + 5, end, 0u32])])
            .unwrap();
    }
    let trace = run.read();
    for (range, [start, end]) in trace.ranges.iter().zip(pairs) {
        let mut args = vec![("shade".to_owned(), Arg::Uint(start.into()))];
        if start != end {
            args.push(("shade (2)".to_owned(), Arg::Uint(end.into())));
        }
        assert_eq!(range.args, args);
        let text = (start == red).then_some("#FFFF0000 109");
        assert_eq!(range.correlation.as_deref(), text);
    }
}

#[test]
fn equal_values_of_a_correlation_domain_share_a_flow() {
    let run = Run::new();
    let (a, b) = ([1; 16], [2; 16]);
    let schema = |domain: crate::Domain, flags| {
        domain.schema(
            "event",
            EventKind::Mark.to_raw(),
            24,
            &[
                mark_time(),
                Entry {
                    correlation: Some(a),
                    ..entry(EntryType::UInt64, c"launch")
                },
                Entry {
                    correlation: Some(b),
                    flags,
                    ..entry(EntryType::Int64, c"link")
                },
            ],
        )
    };
    let one = run.session.domain("one");
    let two = run.session.domain("two");
    let (in_one, in_two) = (schema(one, 0), schema(two, NVTX_PAYLOAD_ENTRY_FLAG_HIDE));
    let mut first = run.session.stream("first", one, 0);
    let mut second = run.session.stream("second", two, 0);
    first.event(&[(in_one, &words(&[1, 7, 0]))]).unwrap();
    second.event(&[(in_two, &words(&[2, 7, 9]))]).unwrap();
    first.event(&[(in_one, &words(&[3, 9, 7]))]).unwrap();
    second.event(&[(in_two, &words(&[4, 8, 9]))]).unwrap();
    let trace = run.read();
    let flows: Vec<_> = trace.instants.iter().map(|mark| &mark.flows[..]).collect();
    let (a7, [again, b9]) = (flows[0][0], flows[1].as_array().unwrap());
    assert_eq!(flows[0].len(), 1);
    assert_eq!(a7, *again);
    let [a9, b7] = flows[2] else {
        panic!("{flows:?}")
    };
    let [a8, same] = flows[3] else {
        panic!("{flows:?}")
    };
    assert_eq!(b9, same);
    let mut all = vec![a7, *b9, *a9, *b7, *a8];
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 5);
    assert_eq!(trace.instants[0].arg("link"), &Arg::Int(0));
    assert_eq!(
        trace.instants[1].args,
        [("launch".to_owned(), Arg::Uint(7))]
    );
}

#[test]
fn names_of_annotations_do_not_repeat_across_payloads() {
    let run = Run::new();
    let domain = run.session.domain("");
    let mut stream = run.session.stream("main", domain, 0);
    let int = |name| entry(EntryType::Int64, name);
    let event = domain.schema(
        "event",
        EventKind::Mark.to_raw(),
        24,
        &[mark_time(), int(c"a"), int(c"a (2)")],
    );
    let more = domain.schema("more", 0, 16, &[int(c"a"), int(c"b")]);
    let payloads = [words(&[1, 10, 20]), words(&[30, 40]), words(&[50, 60])];
    stream
        .event(&[
            (event, &payloads[0]),
            (more, &payloads[1]),
            (more, &payloads[2]),
        ])
        .unwrap();
    let trace = run.read();
    let mark = trace.instant("event");
    for (name, want) in [
        ("a", 10),
        ("a (2)", 20),
        ("a (3)", 30),
        ("b", 40),
        ("a (4)", 50),
        ("b (2)", 60),
    ] {
        assert_eq!(mark.arg(name), &Arg::Int(want), "{name}");
    }
}

#[test]
fn more_texts_than_are_interned_are_all_there() {
    let run = Run::with("window=100");
    let domain = run.session.domain("");
    let mut stream = run.session.stream("main", domain, 0);
    let mark = domain.schema("tick", EventKind::Mark.to_raw(), 8, &[mark_time()]);
    let message = domain.message_schema();
    let long = "x".repeat(100_000);
    for time in 0..66_000 {
        let name = match time {
            65_990 => long.clone(),
            _ => format!("tick {time}"),
        };
        stream
            .event(&[(mark, &words(&[time])), (message, name.as_bytes())])
            .unwrap();
    }
    let trace = run.read();
    assert_eq!(trace.instants.len(), 66_000);
    for mark in &trace.instants {
        match mark.start {
            65_990 => assert_eq!(mark.name, long),
            time => assert_eq!(mark.name, format!("tick {time}")),
        }
    }
}

#[test]
fn an_event_that_readers_would_skip_is_refused() {
    let run = Run::new();
    let domain = run.session.domain("");
    let mut stream = run.session.stream("main", domain, 0);
    let mark = domain.schema("tick", EventKind::Mark.to_raw(), 8, &[mark_time()]);
    let message = domain.message_schema();
    let mut text = vec![b'x'; 67_108_863];
    let failure = stream
        .event(&[(mark, &words(&[1])), (message, &text)])
        .unwrap_err();
    assert_eq!(failure.code, ResultCode::INVALID_ARGUMENT);
    assert_eq!(
        failure.reason,
        "the event takes 67108887 bytes in the file, and 67108863 is the most: shorten its texts, \
         or write it as several events"
    );
    text.truncate(1000);
    stream
        .event(&[(mark, &words(&[2])), (message, &text)])
        .unwrap();
    let trace = run.read();
    assert_eq!(trace.instants.len(), 1);
    assert_eq!(trace.instants[0].name.len(), 1000);
}
