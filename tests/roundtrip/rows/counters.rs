//! Counters of any layout, and rows that are values.

use super::*;

#[test]
fn counters_of_any_layout() {
    let mut accepted = 0;
    let all = (plans(0), any::<bool>(), seeds(), <[i64; 3]>::values());
    for_all(all, |(mut plan, is_timed, seed, given)| {
        // Arrays and letters are no counters.
        let is_counter = |ty: &Ty| {
            let odd = [
                RowType::Bool,
                RowType::Char,
                RowType::Byte,
                RowType::Address,
            ];
            matches!(ty, Ty::Number(number) if !odd.contains(number))
        };
        plan.fields.retain(|field| is_counter(&field.ty));
        plan.fields.iter_mut().for_each(|field| field.count = None);
        if plan.fields.is_empty() {
            return;
        }
        let (mut stage, (counter, places)) = Stage::with(|domain| {
            let enumeration = register_enum(domain)?;
            let first = match is_timed {
                true => vec![(RowField::new("time", RowType::I64).timestamp(), 8)],
                false => Vec::new(),
            };
            let (layout, places) = layout(RowLayout::counters(), &plan, first, &[], enumeration);
            Ok((
                domain.counter_rows("group", &layout, nvtxw::CounterOptions::new()),
                places,
            ))
        });
        assert_eq!(counter.is_ok(), places.is_some(), "{counter:?}");
        let (Ok(counter), Some(places)) = (counter, places) else {
            return;
        };
        accepted += 1;
        let size = counter.row_size();
        let rows = rows(&seed, size, 3);
        let expected = |time: &dyn Fn(usize) -> i64| -> Vec<Seen> {
            let rows = rows.chunks_exact(size).enumerate();
            let sample = |(index, row): (usize, &[u8])| Seen::Sample {
                counter: "group".to_owned(),
                time: time(index),
                fields: shown(&places, row, &[]),
            };
            rows.map(sample).collect()
        };
        let out = stage.session.writer(&mut stage.stream).expect("a writer");
        let out = out.row_counter(counter).expect("a counter");
        out.write_bytes(&given, &rows).expect("written");
        assert_eq!(stage.eyes.take(), expected(&|index| given[index]));
        if is_timed {
            let embedded = nvtxw::SampleTimes::Embedded;
            out.write_bytes(embedded, &rows).expect("written");
            let own = |index: usize| i64::from_ne_bytes(bytes(&rows, index * size));
            assert_eq!(stage.eyes.take(), expected(&own));
        }
    });
    assert!(
        accepted > 60,
        "the test tests something: {accepted} layouts"
    );
}

#[test]
fn rows_that_are_values() {
    let (mut stage, schema) = Stage::with(|domain| {
        let layout = RowLayout::event(EventKind::RangePushPop)
            .field(RowField::new("start", RowType::I64).timestamp_start())
            .field(RowField::new("end", RowType::I64).timestamp_end())
            .field(RowField::new("rows", RowType::U64));
        domain.rows("query", &layout)
    });
    let out = stage.session.writer(&mut stage.stream).expect("a writer");
    let out = out.rows(schema).expect("rows");
    for_all(
        proptest::collection::vec(<[u64; 3]>::values(), 1..5),
        |mut rows| {
            for row in &mut rows {
                let times = [row[0] as i64, row[1] as i64];
                row[0] = times[0].min(times[1]) as u64;
                row[1] = times[0].max(times[1]) as u64;
            }
            out.write_rows(&rows).expect("written");
            let expected = rows.iter().map(|row| {
                Seen::Event(SeenEvent {
                    schema: "query".to_owned(),
                    kind: EventKind::RangePushPop,
                    start: row[0] as i64,
                    end: Some(row[1] as i64),
                    message: None,
                    color: None,
                    category: None,
                    range_id: None,
                    scope: 0,
                    fields: vec![field("rows", row[2])],
                })
            });
            assert_eq!(stage.eyes.take(), expected.collect::<Vec<_>>());
        },
    );
}
