//! Which dates the times of a file are.

use nvtxw_abi::EventKind;
use nvtxw_abi::raw::*;

use crate::Run;
use crate::table::{Domain, Entry, Session, Stream, time, words};

const REAL: u64 = NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_REALTIME;
const MONOTONIC: u64 = NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC;

/// A schema of marks with timestamps of this clock.
fn marks(domain: Domain, clock: u64) -> u64 {
    let at = Entry {
        clock: Some(clock),
        ..time(c"time", NVTX_PAYLOAD_ENTRY_FLAG_MARK)
    };
    let name = format!("marks of {clock}");
    domain.schema(&name, EventKind::Mark.to_raw(), 8, &[at])
}

fn streams(session: &Session) -> (Domain, Stream) {
    let domain = session.domain("");
    (domain, session.stream("main", domain, 0))
}

/// The file's clock and the date at the same instant.
fn date(config: &str, times: &[(u64, i64)]) -> Option<(u64, u64)> {
    let run = Run::with(config);
    let (domain, mut stream) = streams(&run.session);
    for &(clock, at) in times {
        let schema = marks(domain, clock);
        stream.event(&[(schema, &words(&[at]))]).unwrap();
    }
    run.read().date
}

#[test]
fn the_file_tells_dates_if_a_clock_does() {
    let today = 1_700_000_000_123_456_789;
    assert_eq!(date("", &[(REAL, today)]), Some((0, 0)));
    let base = format!("base={}", today - 5);
    let want = Some((0, today as u64 - 5));
    assert_eq!(date(&base, &[(REAL, today)]), want);
    // No clock shows less than 0.
    assert_eq!(date("", &[(REAL, today), (REAL, -1)]), Some((1 << 62, 0)));
    assert_eq!(date("base=-7", &[(REAL, today)]), Some((7, 0)));
    let compressed = "compression=zlib|window=2";
    let times: Vec<_> = (0..100).map(|at| (REAL, today + at)).collect();
    assert_eq!(date(compressed, &times), Some((0, 0)));
    // Clocks that count from 1601 are moved to 1970.
    let filetime = [(NVTX_TIMESTAMP_TYPE_WIN_GSTAFT, 133_444_736_000_000_000)];
    assert_eq!(date("", &filetime), Some((0, 0)));
}

#[test]
fn a_file_without_dates_tells_none() {
    assert_eq!(date("", &[]), None);
    assert_eq!(date("", &[(MONOTONIC, 5)]), None);
    assert_eq!(date("base=-7", &[(NVTX_TIMESTAMP_TYPE_NONE, 5)]), None);
}

#[test]
fn dates_are_told_once_they_are_known() {
    let run = Run::with("window=2");
    let (domain, mut stream) = streams(&run.session);
    let schema = marks(domain, MONOTONIC);
    for at in 0..10 {
        stream.event(&[(schema, &words(&[at]))]).unwrap();
    }
    let before = std::fs::read(&run.path).unwrap();
    assert_eq!(crate::reader::Trace::of(&before).date, None);
    // A clock related to one that gives the date has dates, too.
    stream
        .sync([MONOTONIC, REAL], [0, 1_700_000_000_000_000_000])
        .unwrap();
    let trace = run.read();
    assert_eq!(trace.date, Some((0, 0)));
    assert_eq!(trace.instants[9].start, 1_700_000_000_000_000_009);
}

#[test]
fn dates_are_told_once_for_all_streams() {
    let run = Run::with("window=2|merge=false");
    let (domain, mut stream) = streams(&run.session);
    let mut other = run.session.stream("other", domain, 0);
    let (dated, undated) = (marks(domain, REAL), marks(domain, NVTX_TIMESTAMP_TYPE_NONE));
    for at in 0..20 {
        other.event(&[(undated, &words(&[at]))]).unwrap();
        stream.event(&[(dated, &words(&[at]))]).unwrap();
        other.event(&[(dated, &words(&[at]))]).unwrap();
    }
    // The reader takes it once only.
    assert_eq!(run.read().date, Some((0, 0)));
}
