//! What the two halves of a range give to it.

use nvtxw_abi::raw::*;
use nvtxw_abi::{EntryType, EventKind};

use crate::Run;
use crate::content::mark_time;
use crate::reader::{Arg, text};
use crate::table::{Entry, entry, time, words};

#[test]
fn both_halves_of_a_range_give_their_fields() {
    // In one window, and with the push written long before its pop.
    for window in [100, 2] {
        let run = Run::with(&format!("window={window}"));
        let domain = run.session.domain("");
        let mut stream = run.session.stream("main", domain, 0);
        let begin = time(c"start", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN);
        let end = time(c"end", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END);
        let int = |name| entry(EntryType::Int64, name);
        let push = domain.schema(
            "work",
            EventKind::RangePush.to_raw(),
            16,
            &[begin, int(c"in")],
        );
        let pop = domain.schema(
            "done",
            EventKind::RangePop.to_raw(),
            24,
            &[end, int(c"out"), int(c"in")],
        );
        let id = entry(EntryType::RangeId, c"ticket");
        let start = domain.schema("wait", EventKind::RangeStart.to_raw(), 16, &[id, begin]);
        let stop = domain.schema(
            "waited",
            EventKind::RangeEnd.to_raw(),
            24,
            &[id, end, int(c"ticket count")],
        );
        let mark = domain.schema("tick", EventKind::Mark.to_raw(), 8, &[mark_time()]);
        stream.event(&[(push, &words(&[0, 1]))]).unwrap();
        stream.event(&[(start, &words(&[77, 5]))]).unwrap();
        for tick in 10..20 {
            stream.event(&[(mark, &words(&[tick]))]).unwrap();
        }
        stream.event(&[(stop, &words(&[77, 90, 4]))]).unwrap();
        stream.event(&[(pop, &words(&[100, 2, 3]))]).unwrap();
        let trace = run.read();
        let work = trace.range("work");
        assert_eq!((work.start, work.end), (0, Some(100)));
        assert_eq!(work.args[0], ("in".to_owned(), Arg::Int(1)));
        assert_eq!(work.arg("out"), &Arg::Int(2));
        assert_eq!(work.args[2], ("in (2)".to_owned(), Arg::Int(3)));
        let wait = trace.range("wait");
        assert_eq!((wait.start, wait.end), (5, Some(90)));
        assert_eq!(wait.arg("ticket"), &Arg::Uint(77));
        assert_eq!(wait.arg("ticket count"), &Arg::Int(4));
        assert_eq!(wait.args.len(), 2);
    }
}

#[test]
fn what_an_end_has_instead_of_its_start_is_annotated() {
    for window in [100, 2] {
        let run = Run::with(&format!("window={window}"));
        let domain = run.session.domain("");
        domain.category(1, "setup");
        domain.category(2, "teardown");
        let mut stream = run.session.stream("main", domain, 0);
        let attributes = [
            Entry {
                flags: NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE,
                ..entry(EntryType::RegisteredString, c"message")
            },
            entry(EntryType::Category, c"category"),
            entry(EntryType::ColorArgb, c"tint"),
        ];
        let schema = |name, kind: EventKind, role| {
            let mut entries = vec![time(c"time", role)];
            entries.extend(attributes);
            domain.schema(name, kind.to_raw(), 24, &entries)
        };
        const BEGIN: u64 = NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN;
        const END: u64 = NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END;
        let push = schema("push", EventKind::RangePush, BEGIN);
        let pop = schema("pop", EventKind::RangePop, END);
        let mark = domain.schema("tick", EventKind::Mark.to_raw(), 8, &[mark_time()]);
        let mut write = |schema, time, message: &str, category: u32, color: u32| {
            let attributes = i64::from(category) | i64::from(color) << 32;
            let name = match message {
                "" => 0,
                _ => domain.string(message) as i64,
            };
            let payload = words(&[time, name, attributes]);
            stream.event(&[(schema, &payload)]).unwrap();
            for _ in 0..2 {
                stream.event(&[(mark, &words(&[time]))]).unwrap();
            }
        };
        write(push, 0, "all differ", 1, 0xFF80_0000);
        write(push, 1, "all the same", 1, 0xFF80_0000);
        write(push, 2, "nothing", 1, 0xFF80_0000);
        write(pop, 3, "", 0, 0);
        write(pop, 4, "all the same", 1, 0xFF80_0000);
        write(pop, 5, "done", 2, 0xFF00_8000);
        let trace = run.read();
        for name in ["all differ", "all the same", "nothing"] {
            let range = trace.range(name);
            assert_eq!(range.categories, ["setup"]);
            assert_eq!(range.correlation.as_deref(), Some("#FF800000 14"));
            assert_eq!(range.arg("tint"), &Arg::Uint(0xFF80_0000));
            if name != "all differ" {
                assert_eq!(range.args.len(), 1, "{range:?}");
            }
        }
        let range = trace.range("all differ");
        assert_eq!(range.arg("message"), &text("done"));
        assert_eq!(range.arg("category"), &text("teardown"));
        assert_eq!(range.arg("tint (2)"), &Arg::Uint(0xFF00_8000));
    }
}

#[test]
fn an_end_from_another_domain_is_of_a_schema_there() {
    // Schemas of two domains may have one number.
    for format in ["perfetto", "chrome"] {
        let run = Run::with(&format!("format={format}"));
        let (ours, theirs) = (run.session.domain("sim"), run.session.domain(""));
        let begin = time(c"start", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN);
        let end = time(c"end", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END);
        let id = entry(EntryType::RangeId, c"id");
        let int = |name| entry(EntryType::Int64, name);
        let role = EventKind::RangeEnd.to_raw();
        let bare_end = theirs.schema("end", role, 16, &[id, end]);
        let full_end = theirs.schema("end", role, 24, &[id, end, int(c"result")]);
        let role = EventKind::RangePushPop.to_raw();
        let full = ours.schema("full", role, 24, &[begin, end, int(c"number")]);
        let bare = ours.schema("bare", role, 16, &[begin, end]);
        assert_eq!([bare_end, full_end], [full, bare]);
        let role = EventKind::RangeStart.to_raw();
        let start = ours.schema("start", role, 16, &[id, begin]);
        let mut stream = run.session.stream("ours", ours, 0);
        let mut other = run.session.stream("theirs", theirs, 0);
        stream.event(&[(bare, &words(&[0, 1]))]).unwrap();
        for (at, end) in [(10, words(&[1, 11])), (20, words(&[1, 21, 5]))] {
            let schema = if at == 10 { bare_end } else { full_end };
            stream.event(&[(start, &words(&[1, at]))]).unwrap();
            other.event(&[(schema, &end)]).unwrap();
        }
        stream.event(&[(full, &words(&[30, 31, 7]))]).unwrap();
        let trace = run.read();
        assert_eq!(
            trace.range("full").args,
            [("number".to_owned(), Arg::Int(7))]
        );
        assert_eq!(trace.range("bare").args, []);
        let results: Vec<_> = (trace.ranges.iter())
            .filter(|range| range.name == "start")
            .map(|range| (range.start, range.args.get(1)))
            .collect();
        let result = ("result".to_owned(), Arg::Int(5));
        assert_eq!(results, [(10, None), (20, Some(&result))]);
    }
}
