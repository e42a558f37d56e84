use super::*;

fn parse(json: &str) -> Events {
    let mut events = Events::default();
    events.add(json, 0, &mut KnownNames::default()).unwrap();
    events
}

impl Events {
    fn first<'a>(&'a self, json: &'a str) -> Event<'a> {
        self.event(&self.all[0], json)
    }
}

#[test]
fn a_bad_member_is_named() {
    let span = |json| {
        let events = parse(json);
        let event = events.first(json);
        let span = event.span();
        let bad: Vec<_> = event.dropped().iter().map(Bad::to_string).collect();
        (span.map_err(|bad| bad.to_string()), bad.join(", "))
    };
    for (json, want) in [
        (r#"{"ts": 1, "dur": 2.5}"#, (1_000, 3_500)),
        (r#"{"ts": "1", "dur": "2.5"}"#, (1_000, 3_500)),
        (r#"{"ts": 10.0004, "dur": 5.0004}"#, (10_000, 15_001)),
        (r#"{"ts": 1}"#, (1_000, 1_000)),
        (r#"{"ts": 1, "dur": null}"#, (1_000, 1_000)),
    ] {
        assert_eq!(span(json), (Ok(want), String::new()));
    }
    for (json, problem) in [
        (r#"{"ts": 1, "dur": -0.001}"#, "a number from 0 on"),
        (r#"{"ts": 1, "dur": []}"#, "a number from 0 on"),
        (
            r#"{"ts": 9e15, "dur": 9e15}"#,
            "a length that fits 64-bit nanoseconds",
        ),
    ] {
        let (found, bad) = span(json);
        let want = format!("the member `dur` of an event is left out, as it is not {problem}");
        assert_eq!(bad, want);
        let (start, end) = found.unwrap();
        assert_eq!(start, end);
    }
    for (json, problem) in [
        (r#"{"dur": 1}"#, "an event without `ts` is left out"),
        (r#"{"ts": null}"#, "an event without `ts` is left out"),
        (
            r#"{"ts": 9e99}"#,
            "an event whose `ts` does not fit 64-bit nanoseconds is left out",
        ),
        (
            r#"{"ts": [1]}"#,
            "an event whose `ts` is not a number is left out",
        ),
        (
            r#"{"ts": "soon"}"#,
            "an event whose `ts` is not a number is left out",
        ),
    ] {
        assert_eq!(span(json).0.unwrap_err(), problem);
    }
    let json = r#"{"name": 5, "pid": true, "tid": "a\"b", "id": -1, "args": [1], "x": 1, "y": 2}"#;
    let events = parse(json);
    let event = events.first(json);
    assert_eq!(event.name().unwrap(), "5");
    assert_eq!(event.process(), None);
    assert_eq!(event.thread().unwrap(), "a\"b");
    assert_eq!(event.id().unwrap().text, "-1");
    assert!(event.args().is_none());
    assert_eq!(
        event.dropped(),
        [
            Bad::Member("pid", "a number or a string"),
            Bad::Member("args", "an object")
        ]
    );
    assert_eq!(event.phase(), Err(Bad::Missing("ph")));
    assert_eq!(event.others(), ["x".into(), "y".into()]);
}

#[test]
fn ids_have_a_second_form() {
    let id = |json| {
        let events = parse(json);
        events
            .first(json)
            .id()
            .map(|id| (id.text.into_owned(), id.is_local))
            .map_err(|bad| bad.to_string())
    };
    assert_eq!(id(r#"{"id": "0x1"}"#), Ok(("0x1".to_owned(), false)));
    assert_eq!(id(r#"{"id2": {"local": 7}}"#), Ok(("7".to_owned(), true)));
    assert_eq!(
        id(r#"{"id2": {"global": "7"}}"#),
        Ok(("7".to_owned(), false))
    );
    assert_eq!(id(r#"{"id": 7.0}"#), Ok(("7".to_owned(), false)));
    assert_eq!(id(r#"{"id": -7e1}"#), Ok(("-70".to_owned(), false)));
    assert_eq!(id(r#"{"id": 7.5}"#), Ok(("7.5".to_owned(), false)));
    assert_eq!(id(r#"{"id": 1e16}"#), Ok(("1e16".to_owned(), false)));
    assert_eq!(id("{}").unwrap_err(), "an event without `id` is left out");
    assert_eq!(
        id(r#"{"id2": {}}"#).unwrap_err(),
        "an event whose `id2` is not an object with `local` or `global` is left out"
    );
}

#[test]
fn the_last_arguments_count() {
    let args = |json: &str| {
        let (mut events, mut known) = (Events::default(), KnownNames::default());
        // Members of the event before are not this one's, and an event that is cut leaves none.
        events
            .add(r#"{"args":{"before":0}}"#, 0, &mut known)
            .unwrap();
        let cut = r#"{"args":{"cut":0},"#;
        assert!(events.add(cut, 0, &mut known).is_err());
        let text = format!("  {json}");
        assert_eq!(events.add(&text, 2, &mut known), Ok(text.len()));
        let [_, spans] = &events.all[..] else {
            panic!("two are whole");
        };
        let event = events.event(spans, &text);
        let mut found = Vec::new();
        if let Some(args) = event.args() {
            args.each(|name, value| found.push(format!("{name}={value}")));
        }
        found.join(" ")
    };
    for (json, want) in [
        (
            r#"{"args":{"a":1,"b\n":{"c":[2]}},"x":3}"#,
            "a=1 b\n={\"c\":[2]}",
        ),
        (r#"{"args":{"a":1},"args":{"b":2}}"#, "b=2"),
        (r#"{"args":{"a":1},"args":null}"#, ""),
        (r#"{"args":{"a":1},"args":{}}"#, ""),
        (
            r#"{"args":{"a":1},"\u0061rgs":{"b":{"args":{"c":2}}}}"#,
            r#"b={"args":{"c":2}}"#,
        ),
        (
            r#"{"x":{"args":{"a":1}},"args":{"args":{"b":2}}}"#,
            r#"args={"b":2}"#,
        ),
        ("{}", ""),
    ] {
        assert_eq!(args(json), want, "{json}");
    }
}
