//! Text of any length in a pool beside the events.

use nvtxw::{EventKind, FlexPool, FlexStr, NvtxEvent, StringHandle};
use proptest::prelude::*;

use crate::data::{Values, field, text_of};
use crate::seen::{Seen, SeenEvent, Shown, Tree, Type};
use crate::stage::{Stage, for_all};

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Query {
    #[nvtx(timestamp)]
    time: i64,
    #[nvtx(message, flex)]
    text: FlexStr,
    rows: u64,
    #[nvtx(flex, hide)]
    plan: FlexStr,
    user: StringHandle,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C, packed)]
#[nvtx(kind = range_startend)]
struct Step {
    flag: bool,
    #[nvtx(flex, name = "note")]
    text: FlexStr,
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    byte: u8,
}

fn texts(name: &str, is_hidden: bool, text: &str) -> Shown {
    Shown {
        name: name.to_owned(),
        ty: Type::Number(76),
        count: None,
        is_hidden,
        description: None,
        value: Tree::Text(text.as_bytes().to_vec()),
    }
}

/// The hidden number of bytes that comes before such text.
fn length(name: &str, text: &str) -> Shown {
    Shown {
        is_hidden: true,
        ..field(name, text.len() as u64)
    }
}

#[derive(Clone, Debug)]
struct Parts {
    times: [i64; 2],
    texts: [String; 2],
    number: u64,
    user: StringHandle,
    /// Whether the second text is the first one.
    is_shared: bool,
}

fn parts() -> impl Strategy<Value = Parts> {
    let text = || "\\PC{0,12}";
    let all = (
        Values::values(),
        [text(), text()],
        Values::values(),
        Values::values(),
        any::<bool>(),
    );
    all.prop_map(|(times, texts, number, user, is_shared)| Parts {
        times,
        texts,
        number,
        user,
        is_shared,
    })
}

#[test]
fn text_in_a_pool() {
    let (mut stage, (query, step)) =
        Stage::with(|domain| Ok((domain.schema::<Query>()?, domain.schema::<Step>()?)));
    let out = stage.session.writer(&mut stage.stream).expect("a writer");
    let queries = out.events(query).expect("events");
    let steps = out.events(step).expect("events");
    for_all(proptest::collection::vec(parts(), 1..5), |all| {
        let mut pool = FlexPool::new();
        let (mut events, mut expected) = (Vec::new(), Vec::new());
        for parts in &all {
            let text = pool.push(&parts.texts[0]);
            let (plan, plan_text) = match parts.is_shared {
                true => (text, &parts.texts[0]),
                false => (pool.push(&parts.texts[1]), &parts.texts[1]),
            };
            events.push(Query {
                time: parts.times[0],
                text,
                rows: parts.number,
                plan,
                user: parts.user,
            });
            expected.push(Seen::Event(SeenEvent {
                schema: "Query".to_owned(),
                kind: EventKind::Mark,
                start: parts.times[0],
                end: None,
                message: Some(parts.texts[0].clone()),
                color: None,
                category: None,
                range_id: None,
                scope: 0,
                fields: vec![
                    length("text length", &parts.texts[0]),
                    field("rows", parts.number),
                    length("plan length", plan_text),
                    texts("plan", true, plan_text),
                    Shown {
                        value: Tree::Registered(text_of(parts.user)),
                        ..field("user", parts.user)
                    },
                ],
            }));
        }
        queries.write_batch_flex(&events, &pool).expect("written");
        assert_eq!(stage.eyes.take(), expected, "all at once");
        for event in &events {
            queries.write_flex(event, &pool).expect("written");
        }
        assert_eq!(stage.eyes.take(), expected, "one by one");

        pool.clear();
        let mut expected = Vec::new();
        let events: Vec<Step> = all
            .iter()
            .map(|parts| {
                let [start, end] = [
                    parts.times[0].min(parts.times[1]),
                    parts.times[0].max(parts.times[1]),
                ];
                expected.push(Seen::Event(SeenEvent {
                    schema: "Step".to_owned(),
                    kind: EventKind::RangeStartEnd,
                    start,
                    end: Some(end),
                    message: None,
                    color: None,
                    category: None,
                    range_id: None,
                    scope: 0,
                    fields: vec![
                        field("flag", parts.is_shared),
                        length("note length", &parts.texts[1]),
                        texts("note", false, &parts.texts[1]),
                        field("byte", parts.number as u8),
                    ],
                }));
                Step {
                    flag: parts.is_shared,
                    text: pool.push(&parts.texts[1]),
                    start,
                    end,
                    byte: parts.number as u8,
                }
            })
            .collect();
        steps.write_batch_flex(&events, &pool).expect("written");
        assert_eq!(stage.eyes.take(), expected, "packed");
    });
}
