//! Events and payloads of any layout.

use super::*;

#[test]
fn events_of_any_layout() {
    let mut accepted = 0;
    let all = (
        proptest::sample::select(&KINDS[..]),
        any::<bool>(),
        proptest::collection::vec(plans(2), 0..3),
        plans(3),
        seeds(),
    );
    for_all(all, |(kind, is_unsigned, payload_plans, plan, seed)| {
        let (mut stage, (schema, places, payloads)) = Stage::with(|domain| {
            let enumeration = register_enum(domain)?;
            let payloads = register_payloads(domain, &payload_plans, enumeration);
            let mut plan = plan.clone();
            for field in &mut plan.fields {
                if let Ty::Row(index) = &mut field.ty {
                    match payloads.len() {
                        0 => field.ty = Ty::Enum,
                        count => *index %= count,
                    }
                }
            }
            let first = first_fields(kind, is_unsigned);
            let (layout, places) =
                layout(RowLayout::event(kind), &plan, first, &payloads, enumeration);
            Ok((domain.rows("events", &layout), places, payloads))
        });
        assert_eq!(schema.is_ok(), places.is_some(), "{schema:?}");
        let (Ok(schema), Some(places)) = (schema, places) else {
            return;
        };
        accepted += 1;
        let size = schema.row_size();
        let mut rows = rows(&seed, size, 3);
        let mut expected = Vec::new();
        for row in rows.chunks_exact_mut(size) {
            let is_whole = matches!(kind, EventKind::RangePushPop | EventKind::RangeStartEnd);
            let has_id = matches!(kind, EventKind::RangeStart | EventKind::RangeEnd);
            let mut numbers = 1;
            let time = |row: &[u8], at: usize| i64::from_ne_bytes(bytes(row, at));
            for at in [0, 8] {
                let fits = time(row, at) & if is_unsigned { i64::MAX } else { -1 };
                row[at..at + 8].copy_from_slice(&fits.to_ne_bytes());
            }
            let (mut start, mut end) = (time(row, 0), None);
            if is_whole {
                let (first, second) = (time(row, 0), time(row, 8));
                (start, end) = (first.min(second), Some(first.max(second)));
                row[..8].copy_from_slice(&first.max(second).to_ne_bytes());
                row[8..16].copy_from_slice(&start.to_ne_bytes());
                numbers = 2;
            }
            let mut range_id = None;
            if has_id {
                row[8] |= 1;
                range_id = Some(u64::from_ne_bytes(bytes(row, 8)));
                numbers = 2;
            }
            let at = 8 * numbers;
            let scope = match row[at] % 2 {
                0 => 0,
                _ => registered().scopes[0].to_u64(),
            };
            row[at..at + 8].copy_from_slice(&scope.to_ne_bytes());
            let color = u32::from_ne_bytes(bytes(row, at + 8));
            let category = u32::from_ne_bytes(bytes(row, at + 12));
            let message = before_null(&row[at + 16..at + 21]);
            expected.push(Seen::Event(SeenEvent {
                schema: "events".to_owned(),
                kind,
                start,
                end,
                message: Some(String::from_utf8_lossy(message).into_owned()),
                color: Some(color).filter(|color| *color != 0),
                category: Some(category).filter(|category| *category != 0),
                range_id,
                scope,
                fields: shown(&places, row, &payloads),
            }));
        }
        let out = stage.session.writer(&mut stage.stream).expect("a writer");
        let out = out.rows(schema).expect("rows");
        out.write_bytes(&rows).expect("written");
        assert_eq!(stage.eyes.take(), expected);
        // Rows need no alignment.
        let unaligned = [&[0], &rows[..]].concat();
        out.write_bytes(&unaligned[1..]).expect("written");
        assert_eq!(stage.eyes.take(), expected);
    });
    assert!(
        accepted > 60,
        "the test tests something: {accepted} layouts"
    );
}

#[derive(NvtxEvent, Clone, Copy, Debug)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Launch {
    #[nvtx(timestamp)]
    time: i64,
    grid: u64,
}

#[test]
fn payloads_of_any_layout() {
    let mut accepted = 0;
    for_all(
        (proptest::collection::vec(plans(2), 1..4), seeds()),
        |(plans, seed)| {
            let (mut stage, (launch, payloads)) = Stage::with(|domain| {
                let enumeration = register_enum(domain)?;
                let payloads = register_payloads(domain, &plans, enumeration);
                Ok((domain.schema::<Launch>()?, payloads))
            });
            let Some(payload) = payloads.last() else {
                return;
            };
            accepted += 1;
            let row = rows(&seed, payload.schema.row_size(), 1);
            let event = Launch { time: 7, grid: 8 };
            let out = stage.session.writer(&mut stage.stream).expect("a writer");
            let out = out.events(launch).expect("events");
            let beside = payload.schema.payload_bytes(&row).expect("a row");
            out.write_with(&event, beside).expect("written");
            let mut fields = vec![field("grid", event.grid)];
            fields.extend(shown(&payload.fields, &row, &payloads));
            let [Seen::Event(seen)] = &stage.eyes.take()[..] else {
                panic!("one event")
            };
            assert_eq!(seen.fields, fields);
        },
    );
    assert!(
        accepted > 60,
        "the test tests something: {accepted} payloads"
    );
}
