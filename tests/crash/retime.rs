//! Datasets whose rows get other times at the end, for which their parts are written once more.

use std::path::Path;

use nvtxw::{
    Backend, Config, DomainId, NvtxEvent, Session, Stream, StreamOptions, SyncPoint, TimestampType,
};

use crate::child::run;
use crate::dataset;
use crate::fault::{fill, memory_of, run_mounted_in};
use crate::format::Format;
use crate::replay::TempDir;
use crate::tables::has_hidden;

const CLOCK: TimestampType = TimestampType::GpuGlobaltimer;
/// What the sync point adds to each time.
const SHIFT: i64 = 1_000_000;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Tick {
    #[nvtx(timestamp)]
    time: i64,
    number: i64,
}

fn begin(path: &Path, config: &str) -> Session {
    let path = path.to_str().expect("test folders are UTF-8");
    let config = Config::raw(&format!("format=parquet|path={path}|{config}")).unwrap();
    Session::begin(&Backend::embedded(), "crash", &config).unwrap()
}

fn open(session: &mut Session, domain: DomainId, name: &str) -> Stream {
    let options = StreamOptions::new(domain).time_domain(CLOCK);
    session.open_stream(name, options).unwrap()
}

/// Tells more of the clock when all else is written.
fn sync(session: &mut Session, domain: DomainId) {
    let mut stream = open(session, domain, "clocks");
    let point = SyncPoint {
        source: 0,
        destination: SHIFT,
    };
    let out = session.writer(&mut stream).unwrap();
    out.sync_point(CLOCK, TimestampType::ClockMonotonic, point)
        .unwrap();
    session.close_stream(stream).unwrap();
}

/// Ends sessions while the disk has less and more room for new parts: all rows are there, all with the times that they had,
/// which is told, or all with those that they have by now.
pub fn without_room(path: &Path) {
    const ROWS: i64 = 6_000;
    let filler = path.with_file_name("filler");
    let mut settled = Vec::new();
    for room in (0..32).map(|step| step * (8 << 10)) {
        let mut session = begin(path, "window=64|part=1000|row_group=500");
        let mut domain = session.default_domain().unwrap();
        let (tick, domain) = (domain.schema().unwrap(), domain.id());
        let mut stream = open(&mut session, domain, "ticks");
        // Numbers that take their place.
        let number = |time: i64| time.wrapping_mul(0x5851_f42d_4c95_7f2d);
        let ticks: Vec<_> = (0..ROWS)
            .map(|time| Tick {
                time,
                number: number(time),
            })
            .collect();
        let out = session.writer(&mut stream).unwrap();
        out.events(tick).unwrap().write_batch(&ticks).unwrap();
        session.close_stream(stream).unwrap();
        sync(&mut session, domain);
        fill(&filler, room);
        let ended = session.end();
        std::fs::remove_file(&filler).unwrap();
        let shift = match &ended {
            Ok(()) => SHIFT,
            Err(error) => {
                let error = error.to_string();
                let want = ": No space left on device (os error 28)";
                assert!(error.contains(want), "{room}: {error}");
                0
            }
        };
        for table in ["events", "typed/Tick"] {
            let rows = dataset::read(path.join(table)).rows;
            assert_eq!(rows.len() as i64, ROWS, "{room}: {table}");
            for row in &rows {
                let [id, start] = ["event_id", "start_ns"].map(|key| row[key].as_i64().unwrap());
                assert_eq!(start, id + shift, "{room}: {table}");
            }
        }
        assert!(!has_hidden(path), "{room}: new parts are left");
        std::fs::remove_dir_all(path).unwrap();
        settled.push(ended.is_ok());
    }
    let first = settled.iter().position(|settled| *settled).unwrap();
    assert!(first > 4, "there was room at once");
    assert!(settled[first..].iter().all(|settled| *settled));
    eprint!("parts were written once more from {} KiB on", first * 8);
}

/// Rows that are long take no more memory when they are written once more than before.
pub fn of_long_rows(path: &Path) {
    let mut session = begin(path, "merge=true");
    let domain = session.default_domain().unwrap().id();
    let mut stream = open(&mut session, domain, "ticks");
    let mut random = 88_172_645_463_325_252_u64;
    for time in 0..128 {
        // A mebibyte that can't be compressed.
        let piece: String = std::iter::repeat_with(|| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            char::from(b' ' + (random % 64) as u8)
        })
        .take(1 << 16)
        .collect();
        let out = session.writer(&mut stream).unwrap();
        out.mark(time).message(&piece.repeat(16)).write().unwrap();
    }
    session.close_stream(stream).unwrap();
    sync(&mut session, domain);
    let before = memory_of("VmHWM:");
    session.end().unwrap();
    let grown = memory_of("VmHWM:") - before;
    assert!(
        grown < 64 << 10,
        "{grown} KiB more than {before} were taken"
    );
    eprint!("{grown} KiB more than {before} were taken");
}

#[test]
fn a_disk_that_is_full_while_parts_are_written_once_more_is_told_and_keeps_all() {
    run_mounted_in(Format::Parquet, "full retime", "size=4m");
}

#[test]
fn long_rows_are_written_once_more_in_bounded_memory() {
    let dir = TempDir::new();
    let path = Format::Parquet.path(dir.path());
    println!("{}", run("long retime", &path, &[]).unwrap());
}
