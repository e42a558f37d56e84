use serde::de::IgnoredAny;

use super::*;

fn len(text: &str) -> Option<usize> {
    members(text, drop).ok()
}

#[test]
fn members_are_found_as_they_stand() {
    let text = r#"{ "a" : -0.5E+2 ,"b\t\u00e4":"x\"{\ud800" , "\ud800":[ ], "c":{"d":[1,{}], "e":null},
        "long enough for sixteen bytes":"äääääää" } behind"#;
    let mut found = Vec::new();
    let len = members(text, |member| {
        found.push((member.name(text).into_owned(), member.value.of(text)));
    });
    let found: Vec<_> = found
        .iter()
        .map(|(name, value)| (&**name, *value))
        .collect();
    assert_eq!(
        found,
        [
            ("a", "-0.5E+2"),
            ("b\tä", r#""x\"{\ud800""#),
            ("\u{FFFD}", "[ ]"),
            ("c", r#"{"d":[1,{}], "e":null}"#),
            ("long enough for sixteen bytes", r#""äääääää""#),
        ]
    );
    assert_eq!(&text[len.unwrap()..], " behind");
    assert_eq!(members("{}", drop), Ok(2));
}

/// Beginnings of texts, with some byte near the end changed.
#[test]
fn what_serde_json_takes_is_taken_and_the_rest_is_odd_or_bad() {
    let texts = [
        r#"{"a":[true,false,null,-0.5e-2,01,1.,.5,1e,+1],"b":{"c":"d\n\u12fg","e":{}},}"#,
        r#"{"a":[1,2,[3,[]]],"b":{"c":"d\n\u12f0","e":{}},"f":-10.25E+3,"g":true}"#,
        r#"{"seven b":"exactly8","":"0123456789abcdef01234567","x":[{},[{"y":0}]]}"#,
    ];
    let (mut accepted, mut odd, mut known) = (0, 0, KnownNames::default());
    for text in texts {
        for end in 1..=text.len() {
            for at in end.saturating_sub(9).max(1)..end {
                for byte in *b"\"\\{}[],:-0e. \x1f\x00\x7ftu" {
                    let mut changed = text.as_bytes()[..end].to_vec();
                    changed[at] = byte;
                    let changed = str::from_utf8(&changed).unwrap();
                    let mut values = serde_json::Deserializer::from_str(changed).into_iter();
                    let value: Result<IgnoredAny, _> = values.next().unwrap();
                    let found = members_and_inner(changed, 0, &mut known, b"b", |_, _| ());
                    assert_eq!(members(changed, drop), found, "{changed}");
                    let is_odd = !std::mem::take(&mut known.odd).is_empty();
                    match (value, found) {
                        (Ok(_), found) => {
                            assert_eq!(found, Ok(values.byte_offset()), "{changed}");
                            assert!(!is_odd, "{changed}");
                            accepted += 1;
                        }
                        (Err(_), Ok(_)) => {
                            assert!(is_odd, "{changed}");
                            odd += 1;
                        }
                        (Err(error), Err(at)) if at < changed.len() => {
                            assert!(!error.is_eof(), "{changed}");
                        }
                        (Err(_), Err(_)) => {}
                    }
                }
            }
        }
    }
    assert!(accepted > 20 && odd > 20, "{accepted} {odd}");
}

#[test]
fn oddities_have_places() {
    let odd = |text: &str| {
        let mut known = KnownNames::default();
        let end = members_and_inner(text, 0, &mut known, b"args", |_, _| ());
        (end, known.odd)
    };
    for (text, want) in [
        ("{\"a\":\"b\nc\"}", (Oddity::Control, 7)),
        (r#"{"a":"b\qc"}"#, (Oddity::Escape, 7)),
        (r#"{"a":"b\u12"}"#, (Oddity::Escape, 7)),
        (r#"{"a":-nan(ind)}"#, (Oddity::Float, 5)),
        (r#"{"a":[1, 1.#INF]}"#, (Oddity::Float, 9)),
        (r#"{"args":{"a":+Infinity }}"#, (Oddity::Float, 13)),
        (r#"{"a":None,"b":1}"#, (Oddity::NoValue, 5)),
        (r#"{"a":[1, ]}"#, (Oddity::Comma, 9)),
        (r#"{"args":{"a":1,}}"#, (Oddity::Comma, 15)),
        (r#"{"a":0x1f}"#, (Oddity::NoValue, 5)),
    ] {
        assert_eq!(odd(text), (Ok(text.len()), vec![want]), "{text}");
        // Any part of it may go on.
        for end in 1..text.len() {
            assert_eq!(odd(&text[..end]), (Err(end), vec![]), "{}", &text[..end]);
        }
    }
    assert_eq!(odd(r#"{"a" 1}"#).0, Err(5));
    assert_eq!(odd(r#"{"a":}"#).0, Err(5));
}

#[test]
fn known_names_are_found_as_they_stand() {
    let mut known = KnownNames::default();
    let names = |text: &str, known: &mut KnownNames| {
        let mut names = String::new();
        let end = members_and_inner(text, 0, known, b"args", |level, member| {
            let value = member.value.of(text);
            names += &match level {
                Level::Outer => format!("{}={value} ", member.name(text)),
                Level::Inner => format!("[{}={value}] ", member.name(text)),
            };
        });
        end.ok().map(|end| (names, end))
    };
    for text in [
        r#"{"ts": 17, "name":"n", "args": {"a": 1, "name": "long enough for sixteen"}, "ts":1}"#,
        // With more blanks, another start, and escapes.
        "{\"ts\":  2,\"ts\" :3, \"nam\": 4,\"names\": 5, \"a\\u0062\": 6, \"args\": {}, \"args\": 7}     ",
    ] {
        let fresh = names(text, &mut KnownNames::default()).unwrap();
        for _ in 0..2 {
            assert_eq!(names(text, &mut known).unwrap(), fresh);
        }
        let cut = &text[..fresh.1 - 1];
        assert_eq!(names(cut, &mut known), None);
    }
    let (found, _) = names(r#"{"ts": 2,"ts":3,"args": {"a": 1}}"#, &mut known).unwrap();
    assert_eq!(found, r#"ts=2 ts=3 [a=1] args={"a": 1} "#);
}

#[test]
fn nesting_has_no_limit() {
    for depth in [MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, 100_000] {
        let value = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let text = format!(r#"{{"a":{value}}}"#);
        assert_eq!(len(&text), Some(text.len()));
        assert_eq!(len(&text[..text.len() - 2]), None);
    }
}
