//! The files that the built-in backend writes.

use std::cell::Cell;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use flate2::read::ZlibDecoder;
use nvtxw_backend::relay::Relay;
use nvtxw_file::capture::replay::Replay;
use nvtxw_file::capture::{Ending, Reader};

use crate::reader::Trace;
use crate::replay::{Field, fields};
use crate::table;

/// The config of the format `parquet`, where that is built in.
pub const PARQUET: &str = match cfg!(feature = "parquet") {
    true => "format=parquet|row_group=3|part=7",
    false => "",
};

/// A folder of its own, in memory where there is one for that. It goes when it is dropped.
pub struct Folder {
    path: PathBuf,
    /// How many files were named.
    files: Cell<u32>,
}

impl Folder {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);

        let memory = PathBuf::from("/dev/shm");
        let parent = if memory.is_dir() {
            memory
        } else {
            std::env::temp_dir()
        };
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("nvtxw-garbage-{}-{count}", std::process::id()));
        std::fs::create_dir(&path).expect("a folder for the files");
        let files = Cell::new(0);
        Self { path, files }
    }

    /// Where there is no file yet.
    pub fn file(&self) -> PathBuf {
        self.files.set(self.files.get() + 1);
        self.path.join(self.files.get().to_string())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// How much of a session was accepted: least and most.
#[derive(Clone, Copy, Debug, Default)]
pub struct Written {
    pub marks: [usize; 2],
    pub ranges: [usize; 2],
    /// Whether relations between time domains came: what came before them may have no time by them.
    pub is_related: bool,
}

impl Written {
    /// Adds events of this role of the ABI.
    pub fn add(&mut self, role: u64, [least, most]: [usize; 2]) {
        let sum = match role {
            4 => &mut self.marks,
            2 | 3 | 5 | 7 => &mut self.ranges,
            // An end is a part of its range.
            _ => return,
        };
        sum[0] += least;
        sum[1] += most;
    }

    /// Adds events of any role.
    pub fn add_any(&mut self, [_, most]: [usize; 2]) {
        self.marks[1] += most;
        self.ranges[1] += most;
    }
}

/// Reads a file that is complete, and checks that it holds what was accepted.
pub fn check(path: &Path, written: &Written) {
    let Some((instants, ranges)) = read(path) else {
        return;
    };
    for (what, found, [least, most]) in [
        ("instants", instants, written.marks),
        ("ranges", ranges, written.ranges),
    ] {
        let least = if written.is_related { 0 } else { least };
        assert!(
            (least..=most).contains(&found),
            "{found} {what} in the file, of {least} to {most} that were accepted"
        );
    }
}

/// How many instants and ranges a complete file holds; `None` for a folder of tables, which are read elsewhere.
pub fn read(path: &Path) -> Option<(usize, usize)> {
    if path.is_dir() {
        return None;
    }
    let text = std::fs::read(path).expect("the file is there");
    Some(match text.first() {
        Some(b'{') => read_json(&text),
        _ => {
            let trace = Trace::of(&unpack(&text));
            (trace.instants.len(), trace.ranges.len())
        }
    })
}

/// Replays a capture on the built-in backend, in the same program and as a library, which follows pointers; returns how many
/// calls were replayed.
pub fn replay(path: &Path, folder: &Folder) -> u64 {
    // SAFETY:
    // - The table is that of the built-in backend. It follows no pointers but those that the relay has looked at.
    let library = unsafe { Relay::to_table(table::files()) };
    let library = library.expect("a whole table");
    let mut calls = 0;
    for relay in [Relay::to_instance(nvtxw_file::in_process()), library] {
        let file = File::open(path).expect("the file is there");
        let mut reader = Reader::new(BufReader::new(file)).expect("a capture");
        let out = folder.file();
        let replay = Replay::new(relay).set("path", out.to_str().expect("a path of text"));
        let replayed = replay.run(&mut reader, |_| ()).expect("it begins");
        assert!(matches!(replayed.ending, Ok(Ending::Whole)));
        read(&out);
        calls = replayed.calls;
    }
    calls
}

/// The packets of a Perfetto file, those that are compressed too.
fn unpack(file: &[u8]) -> Vec<u8> {
    const PACKET: u32 = 1;
    const COMPRESSED: u32 = 50;

    let mut packets = Vec::new();
    for (number, packet) in fields(file) {
        let Field::Bytes(packet) = packet else {
            panic!("{packet:?} is no packet")
        };
        assert_eq!(number, PACKET);
        if let Some((COMPRESSED, Field::Bytes(bundle))) = fields(packet).next() {
            let mut bundle = ZlibDecoder::new(bundle);
            bundle.read_to_end(&mut packets).expect("a whole bundle");
            continue;
        }
        packets.push((PACKET << 3 | 2) as u8);
        let mut rest = packet.len();
        while rest >= 0x80 {
            packets.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        packets.push(rest as u8);
        packets.extend_from_slice(packet);
    }
    packets
}

/// How many instants and ranges a file of Chrome's format holds, which is strictly JSON.
fn read_json(text: &[u8]) -> (usize, usize) {
    let file: serde_json::Value = serde_json::from_slice(text).expect("strictly JSON");
    let events = file["traceEvents"].as_array().expect("events");
    let of_phases = |phases: &str| {
        let phase = |event: &serde_json::Value| event["ph"].as_str().expect("a phase").to_owned();
        events
            .iter()
            .filter(|event| phases.contains(&phase(event)))
            .count()
    };
    assert!(of_phases("E") <= of_phases("B"), "what ends has begun");
    (of_phases("i"), of_phases("XB"))
}
