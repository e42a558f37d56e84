//! Files whose packets are compressed say the same as others, up to where they are cut.

use std::fs;
use std::io::Read;
use std::path::Path;

use flate2::read::ZlibDecoder;

use crate::reader::Trace;
use crate::replay::{Field, Random, fields};
use crate::table::{Session, words};
use crate::{Run, Writer};

/// The whole packets of a file, those in bundles too, and how many bundles there are.
fn unpack(file: &[u8]) -> (Vec<u8>, usize) {
    let (mut packets, mut bundles) = (Vec::new(), 0);
    let mut rest = file;
    while let Some(len) = packet_len(rest).filter(|len| *len <= rest.len()) {
        let (packet, after) = rest.split_at(len);
        rest = after;
        let Some((1, Field::Bytes(content))) = fields(packet).next() else {
            panic!("no packet");
        };
        match fields(content).next() {
            Some((50, Field::Bytes(bundle))) => {
                ZlibDecoder::new(bundle).read_to_end(&mut packets).unwrap();
                bundles += 1;
            }
            _ => packets.extend_from_slice(packet),
        }
    }
    (packets, bundles)
}

/// How long the first packet is, if its length is there.
fn packet_len(file: &[u8]) -> Option<usize> {
    let mut len = 0;
    for (index, byte) in file.iter().skip(1).enumerate() {
        len |= usize::from(byte & 0x7F) << (7 * index);
        if *byte < 0x80 {
            return Some(2 + index + len);
        }
    }
    None
}

pub(crate) fn read(path: &Path) -> (Trace, usize) {
    let (packets, bundles) = unpack(&fs::read(path).unwrap());
    (Trace::of(&packets), bundles)
}

fn write(run: &Run, disorder: bool) {
    let mut out = Writer::new(run);
    let mut random = Random::new(5);
    for step in 0..3000 {
        let start = match disorder {
            true => random.below(30_000) as i64,
            false => step * 10,
        };
        out.pushpop(start, start + 7, &format!("step {}", step % 50))
            .unwrap();
        out.mark(step * 10 + 3, "tick").unwrap();
    }
}

#[test]
fn what_is_compressed_reads_the_same() {
    for disorder in [false, true] {
        let plain = Run::with("window=100");
        write(&plain, disorder);
        plain.session.end().unwrap();
        let want = format!("{:?}", Trace::read(&plain.path));
        let len = fs::metadata(&plain.path).unwrap().len();
        for level in ["zlib", "zlib:1", "zlib:9"] {
            let run = Run::with(&format!("window=100|compression={level}"));
            write(&run, disorder);
            run.session.end().unwrap();
            let (trace, bundles) = read(&run.path);
            assert_eq!(format!("{trace:?}"), want, "{level}");
            assert!(bundles > 0);
            let packed = fs::metadata(&run.path).unwrap().len();
            assert!(packed * 2 < len, "{level}: {packed} of {len} bytes");
        }
    }
}

#[test]
fn a_cut_file_has_all_that_was_whole() {
    let run = Run::with("window=20|compression=zlib");
    let mut out = Writer::new(&run);
    for step in 0..200 {
        out.pushpop(step * 10, step * 10 + 7, "step").unwrap();
    }
    let file = fs::read(&run.path).unwrap();
    let (whole, bundles) = unpack(&file);
    assert!(bundles > 10, "{bundles}");
    let all = Trace::of(&whole);
    assert!(all.ranges.len() >= 180);
    let mut before = 0;
    for len in 0..=file.len() {
        let (packets, _) = unpack(&file[..len]);
        assert!(whole.starts_with(&packets));
        let trace = Trace::of(&packets);
        assert!(trace.ranges.len() >= before);
        before = trace.ranges.len();
        for (range, step) in trace.ranges.iter().zip(0..) {
            assert_eq!((range.start, range.end), (step * 10, Some(step * 10 + 7)));
        }
    }
    assert_eq!(before, all.ranges.len());
    // Each append is there on its own: not much waits for the next.
    run.session.end().unwrap();
    assert_eq!(read(&run.path).0.ranges.len(), 200);
}

#[test]
fn threads_compress_side_by_side() {
    let run = Run::with("window=64|compression=zlib:1");
    let domain = run.session.domain("");
    let plain = crate::Plain::new(domain);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let mut stream = run.session.stream(&format!("thread {thread}"), domain, 0);
            let name = domain.string("step") as i64;
            scope.spawn(move || {
                for step in 0..2000 {
                    let payload = words(&[step * 10, step * 10 + 5 + thread, name]);
                    stream.event(&[(plain.pushpop, &payload)]).unwrap();
                }
            });
        }
    });
    run.session.end().unwrap();
    let (trace, _) = read(&run.path);
    for thread in 0..4 {
        let track = format!("thread {thread}");
        let mine = (trace.ranges.iter()).filter(|range| range.track == [track.as_str()]);
        let lengths: Vec<_> = mine.map(|range| range.end.unwrap() - range.start).collect();
        assert_eq!(lengths, [5 + thread; 2000]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_as_without_compression() {
    let failure = Session::begin("x", "path=/dev/full|overwrite=true|compression=zlib");
    let reason = failure.map(drop).unwrap_err().reason;
    assert!(
        reason.starts_with("writing /dev/full: No space left on device"),
        "{reason}"
    );
}

#[test]
fn compression_is_refused_where_there_is_none() {
    let failure = Session::begin("x", "format=chrome|compression=zlib");
    assert_eq!(
        failure.map(drop).unwrap_err().reason,
        "config key `compression` has the value `zlib`; accepted: none, as the format is not \
         perfetto"
    );
}
