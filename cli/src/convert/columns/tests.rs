use super::*;

fn row(values: &[(&str, &str)]) -> (Vec<(String, ColumnType)>, Vec<u8>, u64) {
    let (mut strings, mut layouts, mut row) =
        (Strings::default(), Layouts::new(), Values::default());
    for (name, json) in values {
        row.json(name, json, &mut strings);
    }
    let correlation = row.correlation();
    let (id, bytes) = row.row(&mut layouts, || unreachable!());
    let columns = layouts.used().nth(id as usize).flatten().unwrap().iter();
    let columns = columns.map(|&(name, ty)| (strings.text(name.unwrap()).to_owned(), ty));
    (columns.collect(), bytes.to_vec(), correlation)
}

#[test]
fn values_keep_their_types() {
    use ColumnType::{Bool, F64, F64s, I64, I64s, Text, U64};
    let (columns, bytes, _) = row(&[
        ("i", "-5"),
        ("u", "18446744073709551615"),
        ("big", "18446744073709551616"),
        ("f", "2e1"),
        ("inf", "1e999"),
        ("s", r#""a\tb\u0000""#),
        ("n", "null"),
        ("b", "true"),
        ("grid", "[1, 2]"),
        ("part", "[0.5]"),
        ("mixed", r#"[1, "x"]"#),
        ("nested", "[[1]]"),
        ("empty", "[]"),
        ("o", r#"{"k": 1}"#),
    ]);
    let columns: Vec<_> = columns.iter().map(|(name, ty)| (&**name, *ty)).collect();
    assert_eq!(
        columns,
        [
            ("i", I64),
            ("u", U64),
            ("f", F64),
            ("b", Bool),
            ("grid", I64s(2)),
            ("part", F64s(1)),
            ("big", Text),
            ("inf", Text),
            ("s", Text),
            ("mixed", Text),
            ("nested", Text),
            ("empty", Text),
            ("o", Text),
        ]
    );
    let mut want = Vec::new();
    want.extend((-5_i64).to_ne_bytes());
    want.extend(u64::MAX.to_ne_bytes());
    want.extend(20_f64.to_ne_bytes());
    want.push(1);
    want.extend([1_i64, 2].map(i64::to_ne_bytes).concat());
    want.extend(0.5_f64.to_ne_bytes());
    want.extend("18446744073709551616\x001e999\0a\tb\u{2400}\0".bytes());
    want.extend("[1, \"x\"]\0[[1]]\0[]\0{\"k\": 1}\0".bytes());
    assert_eq!(bytes, want);
}

#[test]
fn correlation_is_an_integer_that_stays_an_argument() {
    use ColumnType::{F64, Flow, I64, Text};
    let of = |json| {
        let (columns, _, correlation) = row(&[("correlation", json)]);
        let types: Vec<_> = columns.into_iter().map(|(_, ty)| ty).collect();
        (types, correlation)
    };
    assert_eq!(of("17"), (vec![Flow, I64], 17));
    for none in ["0", "-1", "4294967295"] {
        assert_eq!(of(none), (vec![I64], 0));
    }
    assert_eq!(of("0.5"), (vec![F64], 0));
    assert_eq!(of("\"17\""), (vec![Text], 0));
}

#[test]
fn end_arguments_replace_begin_arguments() {
    let (mut strings, mut layouts) = (Strings::default(), Layouts::new());
    let mut row = |values: &[(&str, &str)], layouts: &mut Layouts| {
        let mut row = Values::default();
        for (name, json) in values {
            row.json(name, json, &mut strings);
        }
        let (id, bytes) = row.row(layouts, || unreachable!());
        (id, bytes.to_vec())
    };
    let begin = row(
        &[("s", "\"old\""), ("n", "1"), ("t", "\"kept\"")],
        &mut layouts,
    );
    let end = row(&[("m", "2"), ("s", "3")], &mut layouts);
    let mut values = Values::default();
    let (id, bytes) = values
        .joined(&mut layouts, (begin.0, &begin.1), (end.0, &end.1))
        .unwrap();
    let mut want = [1_i64, 2, 3].map(i64::to_ne_bytes).concat();
    want.extend(b"kept\0");
    assert_eq!((id > end.0, bytes), (true, &want[..]));
    let other = row(&[("m", "2")], &mut layouts);
    let joined = values.joined(&mut layouts, (begin.0, &begin.1), (other.0, &other.1));
    assert_eq!(joined, None);
}

#[test]
fn further_layouts_are_json() {
    let (mut strings, mut layouts) = (Strings::default(), Layouts::new());
    let mut last = (0, Vec::new());
    for number in 0..MAX_LAYOUTS {
        let mut row = Values::default();
        row.number(&format!("argument {number}"), "1", &mut strings);
        let (id, bytes) = row.row(&mut layouts, || "{}".to_owned());
        last = (id, bytes.to_vec());
    }
    assert_eq!(last, (Layouts::JSON, b"{}\0".to_vec()));
    assert_eq!(layouts.used().count(), MAX_LAYOUTS);
}
