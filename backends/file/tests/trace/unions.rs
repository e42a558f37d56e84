//! Unions: the member that is stored is an annotation inside of them.

use nvtxw_abi::raw::*;
use nvtxw_abi::{EntryType, EventKind};

use crate::Run;
use crate::reader::{Arg, text};
use crate::table::{Entry, entry, time};

fn of(ty: u64, count: u64, name: &std::ffi::CStr) -> Entry<'_> {
    Entry {
        ty,
        count,
        ..entry(EntryType::Int8, name)
    }
}

fn array(count: u64, entry: Entry<'_>) -> Entry<'_> {
    Entry {
        flags: NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE,
        count,
        ..entry
    }
}

fn dict(fields: &[(&str, Arg)]) -> Arg {
    let fields = fields
        .iter()
        .map(|(name, arg)| ((*name).to_owned(), arg.clone()));
    Arg::Dict(fields.collect())
}

#[test]
fn an_enum_beside_the_union_selects() {
    let run = Run::new();
    let domain = run.session.domain("");
    let mut stream = run.session.stream("main", domain, 0);
    let names = [c"Real", c"Point", c"Pair", c"Name", c"Color"];
    let names: Vec<_> = names.into_iter().zip(0..).collect();
    let kind = domain.enumeration(4, &names);
    let color = domain.enumeration(1, &[(c"red", 1), (c"green", 2)]);
    let point = [entry(EntryType::Int16, c"x"), entry(EntryType::Int16, c"y")];
    let point = domain.schema("point", 0, 4, &point);
    let members = [
        entry(EntryType::Float64, c"real"),
        of(point, 0, c"point"),
        array(2, entry(EntryType::UInt32, c"pair")),
        of(EntryType::CStringUtf8.to_raw(), 8, c"name"),
        of(color, 0, c"color"),
    ];
    let either = domain.schema_of("either", NVTX_PAYLOAD_SCHEMA_TYPE_UNION, 0, &members);
    let entries = [
        time(c"time", NVTX_PAYLOAD_ENTRY_FLAG_MARK),
        of(kind, 0, c"kind"),
        entry(EntryType::UInt32, c"before"),
        of(either, 1, c"value"),
        entry(EntryType::UInt64, c"after"),
    ];
    let mark = domain.schema("mark", EventKind::Mark.to_raw(), 32, &entries);
    let cases = [
        (1.5_f64.to_ne_bytes(), ("real", Arg::Double(1.5))),
        (
            [1, 0, 0xFE, 0xFF, 9, 9, 9, 9],
            ("point", dict(&[("x", Arg::Int(1)), ("y", Arg::Int(-2))])),
        ),
        (
            [3, 0, 0, 0, 4, 0, 0, 0],
            ("pair", Arg::List(vec![Arg::Uint(3), Arg::Uint(4)])),
        ),
        (*b"gemm\0xyz", ("name", text("gemm"))),
        ([2; 8], ("color", text("green"))),
    ];
    let mut events = Vec::new();
    for (which, (bytes, _)) in (0_u32..).zip(&cases) {
        events.extend(i64::from(which).to_ne_bytes());
        events.extend(which.to_ne_bytes());
        events.extend(77_u32.to_ne_bytes());
        events.extend(bytes);
        events.extend(88_u64.to_ne_bytes());
    }
    // In a batch, and one by one.
    stream.batch(mark, &events).unwrap();
    for event in events.chunks_exact(32) {
        stream.event(&[(mark, event)]).unwrap();
    }

    let trace = run.read();
    assert_eq!(trace.instants.len(), 2 * cases.len());
    for mark in &trace.instants {
        let which = mark.start as usize;
        let (_, (member, value)) = &cases[which];
        let shown = [
            ("kind", text(names[which].0.to_str().unwrap())),
            ("before", Arg::Uint(77)),
            ("value", dict(&[(member, value.clone())])),
            ("after", Arg::Uint(88)),
        ];
        for (name, arg) in &shown {
            assert_eq!(mark.arg(name), arg, "{name} at {which}");
        }
        assert_eq!(mark.args.len(), shown.len());
    }
}

#[test]
fn arrays_of_unions_that_select_by_themselves() {
    let run = Run::new();
    let domain = run.session.domain("");
    let mut stream = run.session.stream("main", domain, 0);
    let tagged = |name, ty, field| {
        domain.schema(
            name,
            0,
            8,
            &[entry(EntryType::UInt32, c"tag"), entry(ty, field)],
        )
    };
    let number = tagged("number", EntryType::Int32, c"number");
    let real = tagged("real", EntryType::Float32, c"real");
    let members = [
        entry(EntryType::UnionSelector, c"tag"),
        of(number, 0, c"as number"),
        of(real, 0, c"as real"),
    ];
    let either = domain.schema_of(
        "either",
        NVTX_PAYLOAD_SCHEMA_TYPE_UNION_WITH_INTERNAL_SELECTOR,
        0,
        &members,
    );
    let entries = [
        time(c"time", NVTX_PAYLOAD_ENTRY_FLAG_MARK),
        array(2, of(either, 0, c"values")),
    ];
    let mark = domain.schema("mark", EventKind::Mark.to_raw(), 24, &entries);
    let mut event = 5_i64.to_ne_bytes().to_vec();
    for word in [2, 0.5_f32.to_bits(), 1, 7] {
        event.extend(word.to_ne_bytes());
    }
    stream.event(&[(mark, &event)]).unwrap();

    let trace = run.read();
    let real = dict(&[("tag", Arg::Uint(2)), ("real", Arg::Double(0.5))]);
    let number = dict(&[("tag", Arg::Uint(1)), ("number", Arg::Int(7))]);
    let values = [dict(&[("as real", real)]), dict(&[("as number", number)])];
    let mark = trace.instant("mark");
    assert_eq!(mark.arg("values"), &Arg::List(values.to_vec()));
    assert_eq!(mark.args.len(), 1);
}
