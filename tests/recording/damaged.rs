//! Captures that are cut or damaged: what is good is read, the rest is told, and nothing breaks.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use nvtxw::{Backend, Config};
use nvtxw_backend::relay::Relay;
use nvtxw_file::capture::replay::Replay;
use nvtxw_file::capture::{CaptureError, Ending, Reader};
use proptest::prelude::*;

use crate::{pointers, rich};

fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// The rich trace as a capture.
static RICH: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let path = place("damaged.nvtxw");
    let config = Config::new().set("format", "capture").unwrap();
    let config = config.set("path", path.to_str().unwrap()).unwrap();
    let config = config.set("overwrite", "true").unwrap();
    rich::write(&Backend::embedded(), config).unwrap();
    std::fs::read(path).unwrap()
});

/// Events and samples with pointers as a capture.
static POINTERS: LazyLock<Vec<u8>> =
    LazyLock::new(|| std::fs::read(pointers::capture("damaged-pointers.nvtxw")).unwrap());

/// Where each record of the rich trace ends, and before them where the first starts.
static ENDS: LazyLock<Vec<usize>> = LazyLock::new(|| {
    let mut reader = Reader::new(&**RICH).unwrap();
    let mut ends = vec![reader.offset() as usize];
    while reader.next(|_| ()).unwrap().is_some() {
        ends.push(reader.offset() as usize);
    }
    assert_eq!(reader.ending(), Some(Ending::Whole));
    ends
});

/// How many records are read, and how the file ends.
fn read(bytes: &[u8]) -> (usize, Result<Option<Ending>, CaptureError>) {
    let mut reader = match Reader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return (0, Err(error)),
    };
    let mut records = 0;
    loop {
        match reader.next(|record| format!("{record:?}").len()) {
            Ok(Some(_)) => records += 1,
            Ok(None) => return (records, Ok(reader.ending())),
            Err(error) => {
                assert!(reader.next(|_| ()).unwrap().is_none(), "there is no more");
                return (records, Err(error));
            }
        }
    }
}

#[test]
fn a_cut_capture_is_read_up_to_its_last_record() {
    let lengths = ENDS
        .iter()
        .flat_map(|end| [*end, end + 1, end + 15, end + 16, end + 17]);
    for len in lengths.chain((0..RICH.len()).step_by(97)) {
        let len = len.min(RICH.len());
        let (records, ending) = read(&RICH[..len]);
        if len < ENDS[0] {
            assert!(matches!(ending, Err(CaptureError::NotACapture)), "{len}");
            continue;
        }
        let whole = ENDS.partition_point(|end| *end <= len) - 1;
        assert_eq!(records, whole, "{len}");
        let start = ENDS[whole];
        let expected = match len - start {
            _ if len == RICH.len() => Ending::Whole,
            0 => Ending::Open,
            bytes => Ending::Cut {
                offset: start as u64,
                bytes: bytes as u64,
            },
        };
        assert_eq!(ending.unwrap(), Some(expected), "{len}");
    }
}

#[test]
fn a_cut_capture_replays_up_to_its_last_record() {
    let records = ENDS.len() - 10;
    let whole = ENDS[records];
    let cut = &RICH[..whole + 20];
    let path = place("cut.pftrace");
    let relay = Relay::to_instance(nvtxw_file::in_process());
    let replay = Replay::new(relay)
        .set("path", path.to_str().unwrap())
        .set("overwrite", "true")
        .set("base", "-2000000");
    let replayed = replay.run(&mut Reader::new(cut).unwrap(), |_| ()).unwrap();
    assert_eq!(replayed.calls, records as u64 - 1);
    assert_eq!(
        replayed.ending.unwrap(),
        Ending::Cut {
            offset: whole as u64,
            bytes: 20
        }
    );
    replayed.end.unwrap();
    assert!(File::open(path).unwrap().metadata().unwrap().len() > 1000);
}

#[test]
fn what_is_no_capture_is_told() {
    let told = |bytes: &[u8]| read(bytes).1.unwrap_err().to_string();
    let changed = |at: usize, to: &[u8]| {
        let mut bytes = RICH.clone();
        bytes[at..at + to.len()].copy_from_slice(to);
        told(&bytes)
    };
    assert_eq!(
        told(b"{\"traceEvents\":[]}"),
        "this is no capture: such a file begins with NVTXWCAP, and is written with the config `format=capture`"
    );
    assert_eq!(
        changed(8, &0x0201_u16.to_ne_bytes()),
        "this capture was written on a machine whose numbers have their bytes in another order: read it on such a one"
    );
    assert_eq!(
        changed(10, &7_u16.to_ne_bytes()),
        "this is a capture of version 7, and this program reads versions 1 to 2: use the release that has written it"
    );
    let second = ENDS[1];
    assert_eq!(
        changed(second + 14, &[0, 0]),
        format!(
            "the capture is damaged: the record at byte {second} has no header; what comes before is good"
        )
    );
    assert_eq!(
        changed(second + 12, &99_u16.to_ne_bytes()),
        format!(
            "the capture is damaged: the record at byte {second} is of a kind that this version doesn't know; what comes before is good"
        )
    );
    assert_eq!(
        changed(second, &u64::MAX.to_ne_bytes()),
        format!(
            "the capture is damaged: the record at byte {second} has a size out of range; what comes before is good"
        )
    );
}

#[test]
fn a_capture_of_the_first_version_is_read() {
    let mut bytes = RICH.clone();
    bytes[10..12].copy_from_slice(&1_u16.to_ne_bytes());
    let (records, ending) = read(&bytes);
    assert_eq!(records, ENDS.len() - 1);
    assert_eq!(ending.unwrap(), Some(Ending::Whole));
}

/// Some bytes elsewhere than they were.
fn damage() -> impl Strategy<Value = Vec<(prop::sample::Index, u8)>> {
    prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    /// What a damaged pointer leads to is never looked at, not even by a backend that follows pointers.
    #[test]
    fn damaged_pointers_lead_nowhere(damage in damage(), len in any::<prop::sample::Index>()) {
        let mut bytes = POINTERS[..POINTERS.len() - len.index(200)].to_vec();
        for (at, byte) in damage {
            let start = bytes.len() / 2;
            let at = start + at.index(bytes.len() - start);
            bytes[at] = byte;
        }
        // SAFETY:
        // - The table is that of the built-in backend. What it gets, the relay has looked at.
        let relay = unsafe { Relay::to_table(pointers::following()) }.unwrap();
        for relay in [relay, Relay::to_instance(nvtxw_file::in_process())] {
            let path = place("damaged-pointers.json");
            let replay = Replay::new(relay)
                .set("format", "chrome")
                .set("path", path.to_str().unwrap())
                .set("overwrite", "true");
            let _ = replay.run(&mut Reader::new(&*bytes).unwrap(), |_| ());
        }
    }

    #[test]
    fn damage_breaks_nothing(damage in damage(), len in any::<prop::sample::Index>()) {
        let mut bytes = RICH[..=len.index(RICH.len())].to_vec();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let (records, _) = read(&bytes);
        prop_assert!(records <= bytes.len() / 16);
        // Nor on the way to a backend.
        if let Ok(mut reader) = Reader::new(&*bytes) {
            let path = place("damaged-again.nvtxw");
            let replay = Replay::new(Relay::to_instance(nvtxw_file::in_process()))
                .set("format", "capture")
                .set("path", path.to_str().unwrap())
                .set("overwrite", "true");
            if let Ok(replayed) = replay.run(&mut reader, |_| ()) {
                prop_assert!(replayed.calls < records as u64);
            }
        }
    }
}
