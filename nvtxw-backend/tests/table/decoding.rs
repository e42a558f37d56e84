//! What values the backend sees of a payload's bytes.

use nvtxw_abi::raw::*;

use crate::program::*;

/// The fields of a mark with these entries after its timestamp, packed without padding, from these bytes.
fn shown(entries: &[nvtxPayloadSchemaEntry_t], bytes: &[u8]) -> String {
    let program = Program::new();
    let (_, domain, stream) = program.ready();
    shown_in(&program, domain, stream, entries, bytes)
}

fn shown_in(
    program: &Program,
    domain: Domain,
    stream: Stream,
    entries: &[nvtxPayloadSchemaEntry_t],
    bytes: &[u8],
) -> String {
    let entries = [&mark_entries(), entries].concat();
    let attr = packed(1, schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &entries));
    let mark = program.schema(domain, &attr).expect("a schema");
    let event = [&0_i64.to_ne_bytes(), bytes].concat();
    program
        .write(stream, &[payload(mark, &event)])
        .expect("written");
    let single = program.journal.take();
    // The same from a batch, at an odd address.
    let moved = [&[0xAA], &event[..]].concat();
    program
        .write_batch(stream, &batch(mark, &moved[1..]))
        .expect("written");
    assert_eq!(program.journal.take()[1..], single);
    single[0]
        .strip_prefix("mark @0 ")
        .expect("a mark with fields")
        .to_owned()
}

#[test]
fn every_scalar_type() {
    let cases: &[(u64, Vec<u8>, &str)] = &[
        (NVTX_PAYLOAD_ENTRY_TYPE_CHAR, vec![b'x'], "Char(120)"),
        (NVTX_PAYLOAD_ENTRY_TYPE_CHAR, vec![0xFF], "Char(255)"),
        (NVTX_PAYLOAD_ENTRY_TYPE_UCHAR, vec![0xFF], "U64(255)"),
        (NVTX_PAYLOAD_ENTRY_TYPE_SHORT, bytes![-2_i16], "I64(-2)"),
        (
            NVTX_PAYLOAD_ENTRY_TYPE_USHORT,
            bytes![u16::MAX],
            "U64(65535)",
        ),
        (
            NVTX_PAYLOAD_ENTRY_TYPE_INT,
            bytes![i32::MIN],
            "I64(-2147483648)",
        ),
        (
            NVTX_PAYLOAD_ENTRY_TYPE_UINT,
            bytes![u32::MAX],
            "U64(4294967295)",
        ),
        (
            NVTX_PAYLOAD_ENTRY_TYPE_LONG,
            bytes![i64::MIN],
            "I64(-9223372036854775808)",
        ),
        (
            NVTX_PAYLOAD_ENTRY_TYPE_ULONG,
            bytes![u64::MAX],
            "U64(18446744073709551615)",
        ),
        (NVTX_PAYLOAD_ENTRY_TYPE_LONGLONG, bytes![-1_i64], "I64(-1)"),
        (
            NVTX_PAYLOAD_ENTRY_TYPE_ULONGLONG,
            bytes![1_u64 << 63],
            "U64(9223372036854775808)",
        ),
        (NVTX_PAYLOAD_ENTRY_TYPE_INT8, bytes![-128_i8], "I64(-128)"),
        (NVTX_PAYLOAD_ENTRY_TYPE_UINT8, bytes![255_u8], "U64(255)"),
        (
            NVTX_PAYLOAD_ENTRY_TYPE_INT16,
            bytes![i16::MIN],
            "I64(-32768)",
        ),
        (
            NVTX_PAYLOAD_ENTRY_TYPE_UINT16,
            bytes![u16::MAX],
            "U64(65535)",
        ),
        (NVTX_PAYLOAD_ENTRY_TYPE_INT32, bytes![-5_i32], "I64(-5)"),
        (
            NVTX_PAYLOAD_ENTRY_TYPE_UINT32,
            bytes![u32::MAX],
            "U64(4294967295)",
        ),
        (
            NVTX_PAYLOAD_ENTRY_TYPE_INT64,
            bytes![i64::MAX],
            "I64(9223372036854775807)",
        ),
        (
            NVTX_PAYLOAD_ENTRY_TYPE_UINT64,
            bytes![u64::MAX],
            "U64(18446744073709551615)",
        ),
        (NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, bytes![1.5_f32], "F32(1.5)"),
        (
            NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE,
            bytes![f64::NEG_INFINITY],
            "F64(-inf)",
        ),
        (NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, bytes![f64::NAN], "F64(NaN)"),
        (
            NVTX_PAYLOAD_ENTRY_TYPE_SIZE,
            bytes![usize::MAX],
            "U64(18446744073709551615)",
        ),
        (
            NVTX_PAYLOAD_ENTRY_TYPE_ADDRESS,
            bytes![0x1234_usize],
            "Address(4660)",
        ),
        (
            NVTX_PAYLOAD_ENTRY_TYPE_WCHAR,
            bytes!['한' as u32],
            "Char(54620)",
        ),
        (NVTX_PAYLOAD_ENTRY_TYPE_CHAR8, vec![0xED], "Char(237)"),
        (
            NVTX_PAYLOAD_ENTRY_TYPE_CHAR16,
            bytes![0xD800_u16],
            "Char(55296)",
        ),
        (
            NVTX_PAYLOAD_ENTRY_TYPE_CHAR32,
            bytes![u32::MAX],
            "Char(4294967295)",
        ),
        (NVTX_PAYLOAD_ENTRY_TYPE_BYTE, vec![7], "Bytes([7])"),
        (
            NVTX_PAYLOAD_ENTRY_TYPE_INT128,
            bytes![i128::MIN],
            "I128(-170141183460469231731687303715884105728)",
        ),
        (
            NVTX_PAYLOAD_ENTRY_TYPE_UINT128,
            bytes![u128::MAX],
            "U128(340282366920938463463374607431768211455)",
        ),
        (
            NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16,
            bytes![0x3E00_u16],
            "F32(1.5)",
        ),
        (
            NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32,
            bytes![f32::INFINITY],
            "F32(inf)",
        ),
        (NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64, bytes![0.1_f64], "F64(0.1)"),
        (
            NVTX_PAYLOAD_ENTRY_TYPE_BF16,
            bytes![0xBFC0_u16],
            "F32(-1.5)",
        ),
        (
            NVTX_PAYLOAD_ENTRY_TYPE_TF32,
            bytes![(-1.5_f32).to_bits() | 0x1FFF],
            "F32(-1.5)",
        ),
        (
            NVTX_PAYLOAD_ENTRY_TYPE_FLOAT128,
            bytes![0x3FFF_8000_u128 << 96],
            "F64(1.5)",
        ),
        (
            NVTX_PAYLOAD_ENTRY_TYPE_LONGDOUBLE,
            // The rest of the 16 bytes may hold anything.
            bytes![0xEEEE_EEEE_EEEE_BFFF_C000_0000_0000_0000_u128],
            "F64(-1.5)",
        ),
        (
            NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT32,
            bytes![u32::MAX],
            "U64(4294967295)",
        ),
        (
            NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT64,
            bytes![u64::MAX],
            "U64(18446744073709551615)",
        ),
        (NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT32, bytes![9_u32], "U64(9)"),
        (NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT64, bytes![9_u64], "U64(9)"),
        (
            NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE,
            bytes![0_u64],
            "Registered(None)",
        ),
    ];
    for (ty, bytes, value) in cases {
        assert_eq!(
            shown(&[entry(0, *ty, c"x")], bytes),
            format!("{{x: {value}}}"),
            "type {ty}"
        );
        // As an array of two, and behind a byte that takes away the alignment.
        let entries = [
            entry(0, NVTX_PAYLOAD_ENTRY_TYPE_UINT8, c"odd"),
            array(0, *ty, c"x", 2),
        ];
        let array = shown(&entries, &[&[1], &bytes[..], &bytes[..]].concat());
        let expected = match *ty {
            NVTX_PAYLOAD_ENTRY_TYPE_BYTE => "{odd: U64(1), x: Bytes([7, 7])}".to_owned(),
            _ => format!("{{odd: U64(1), x: 2[{value} {value}]}}"),
        };
        assert_eq!(array, expected, "type {ty}");
    }
}

#[test]
fn attributes_inside_arrays_and_structs_are_data() {
    let program = Program::new();
    let (_, domain, stream) = program.ready();
    let inner = [
        entry(0, NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB, c"color"),
        entry(0, NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY, c"category"),
        entry(0, NVTX_PAYLOAD_ENTRY_TYPE_RANGE_ID, c"id"),
        entry(0, NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID, c"scope"),
        entry(MARK_TIME, NVTX_PAYLOAD_ENTRY_TYPE_INT64, c"time"),
        array(MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, c"text", 8),
    ];
    let inner = program
        .schema(domain, &schema_attr(0, &inner))
        .expect("a schema");
    let entries = [
        entry(0, inner, c"inner"),
        array(0, NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB, c"palette", 2),
    ];
    let bytes = [
        bytes![1_u32, 2_u32, 3_u64, 4_u64, 5_i64],
        b"text\0\0\0\0".to_vec(),
        bytes![6_u32, 7_u32],
    ]
    .concat();
    assert_eq!(
        shown_in(&program, domain, stream, &entries, &bytes),
        "{inner: {color: U64(1), category: U64(2), id: U64(3), scope: U64(4), time: I64(5), text: \"text\"}, \
         palette: 2[U64(6) U64(7)]}"
    );
}

#[test]
fn enums_show_their_meaning() {
    let program = Program::new();
    let (_, domain, stream) = program.ready();
    for (size, minus_one) in [
        (1, bytes![-1_i8]),
        (2, bytes![-1_i16]),
        (4, bytes![-1_i32]),
        (8, bytes![-1_i64]),
    ] {
        let entries = [enum_entry(c"Red", 1), enum_entry(c"Unknown", u64::MAX)];
        let ty = program
            .enumeration(domain, &enum_attr(&entries, size))
            .expect("an enum");
        assert_eq!(
            shown_in(
                &program,
                domain,
                stream,
                &[entry(0, ty, c"color")],
                &minus_one
            ),
            "{color: Unknown}",
            "masked to {size} bytes"
        );
        let three = [
            minus_one.clone(),
            1_u64.to_ne_bytes()[..size].to_vec(),
            9_u64.to_ne_bytes()[..size].to_vec(),
        ];
        assert_eq!(
            shown_in(
                &program,
                domain,
                stream,
                &[array(0, ty, c"color", 3)],
                &three.concat()
            ),
            "{color: 3[Unknown Red 9 of Color]}"
        );
    }
}

#[test]
fn structs_nest_with_their_own_layout() {
    let program = Program::new();
    let (_, domain, stream) = program.ready();
    let u8 = NVTX_PAYLOAD_ENTRY_TYPE_UINT8;
    let point = [
        entry(0, u8, c"x"),
        entry(0, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, c"y"),
    ];
    let point = program
        .schema(domain, &schema_attr(0, &point))
        .expect("a schema");
    let line = program
        .schema(
            domain,
            &schema_attr(0, &[array(0, point, c"ends", 2), entry(0, u8, c"w")]),
        )
        .expect("a schema");
    // A point has 8 bytes, of which 3 are padding; a line has 20.
    let point = |x: u8, y: u32| [vec![x, 0xEE, 0xEE, 0xEE], bytes![y]].concat();
    let line_bytes = |n: u8| [point(n, 1), point(n + 1, 2), vec![n + 2, 0xEE, 0xEE, 0xEE]].concat();
    assert_eq!(
        shown_in(
            &program,
            domain,
            stream,
            &[
                entry(0, u8, c"n"),
                array(0, line, c"lines", 2),
                entry(NVTX_PAYLOAD_ENTRY_FLAG_HIDE, u8, c"m")
            ],
            &[vec![9], line_bytes(10), line_bytes(20), vec![8]].concat()
        ),
        "{n: U64(9), lines: 2[{ends: 2[{x: U64(10), y: U64(1)} {x: U64(11), y: U64(2)}], w: U64(12)} \
         {ends: 2[{x: U64(20), y: U64(1)} {x: U64(21), y: U64(2)}], w: U64(22)}], (hidden) m: U64(8)}"
    );
}

#[test]
fn fixed_strings_end_before_their_null() {
    let text = array(0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8, c"text", 4);
    for (bytes, value) in [
        (b"abcd", "abcd"),
        (b"ab\0d", "ab"),
        (b"\0bcd", ""),
        (b"a\xFFbc", "a\u{FFFD}bc"),
    ] {
        assert_eq!(shown(&[text], bytes), format!("{{text: {value:?}}}"));
    }
    // The array flag is redundant.
    let flagless = nvtxPayloadSchemaEntry_t { flags: 0, ..text };
    assert_eq!(shown(&[flagless], b"ab\0\0"), "{text: \"ab\"}");
}

#[test]
fn wide_fixed_strings_end_before_their_null() {
    let utf16 = |text: &str| -> Vec<u8> {
        let units = text.encode_utf16().chain([0; 8]).take(8);
        units.flat_map(u16::to_ne_bytes).collect()
    };
    let utf32 = |text: &str| -> Vec<u8> {
        let units = text.chars().map(u32::from).chain([0; 8]).take(8);
        units.flat_map(u32::to_ne_bytes).collect()
    };
    for text in ["", "a", "한글 🦀", "12345678"] {
        let expected = format!("{{text: wide {text:?}}}");
        let entry = array(0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16, c"text", 8);
        assert_eq!(shown(&[entry], &utf16(text)), expected);
        let flagless = nvtxPayloadSchemaEntry_t { flags: 0, ..entry };
        assert_eq!(shown(&[flagless], &utf16(text)), expected);
        let entry = array(0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32, c"text", 8);
        assert_eq!(shown(&[entry], &utf32(text)), expected);
        // As the message.
        let entry = array(MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32, c"text", 8);
        assert_eq!(shown(&[entry], &utf32(text)), format!("wide {text:?}"));
    }
}

#[test]
fn arrays_of_utf32_texts_are_one_text_of_all() {
    let utf32 = |text: &str| -> Vec<u8> {
        let units = text.chars().map(u32::from).chain([0; 12]).take(12);
        units.flat_map(u32::to_ne_bytes).collect()
    };
    let texts = array(0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32, c"texts", 12);
    for text in ["ab\0\0cde\0wxyz", "한강\0\0\0\0\0\0c", "\0\0b", "one", ""] {
        let shown = shown(&[texts], &utf32(text));
        assert_eq!(shown, format!("{{texts: wide {text:?}}}"));
    }
    // Without the flag it is one text.
    let one = nvtxPayloadSchemaEntry_t { flags: 0, ..texts };
    assert_eq!(shown(&[one], &utf32("ab\0\0cde")), "{texts: wide \"ab\"}");
}

#[test]
fn the_order_is_that_of_the_entries() {
    let entries = [
        at(10, entry(0, NVTX_PAYLOAD_ENTRY_TYPE_UINT8, c"later")),
        at(8, entry(0, NVTX_PAYLOAD_ENTRY_TYPE_UINT8, c"earlier")),
    ];
    assert_eq!(
        shown(&entries, &[1, 2, 3]),
        "{later: U64(3), earlier: U64(1)}"
    );
}
