//! Packets that hold other packets, compressed. Each is complete in itself, so that those before a
//! kill can be read.

use std::io::{self, Read};
use std::sync::{Mutex, PoisonError};

use flate2::read::ZlibDecoder;
use flate2::{Compress, Compression, FlushCompress, Status};

use super::field::{packet, trace};
use super::framing::after_packet;
use crate::proto::{FIELD_LIMIT, Fields, Value, Writer};
use crate::sink::Pack;

/// About how many bytes of packets one bundle holds at most: readers take it as a whole.
const PIECE: usize = 1 << 20;

/// Makes bundles, for any number of threads.
pub(super) struct Bundler {
    level: Compression,
    /// What threads compress with is large, and used for a moment.
    idle: Mutex<Vec<Compress>>,
}

impl Bundler {
    /// `level` is 1, the fastest, to 9.
    pub(super) fn new(level: u32) -> Self {
        Self {
            level: Compression::new(level),
            idle: Mutex::default(),
        }
    }

    fn idle(&self) -> Option<Compress> {
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop()
    }
}

impl Pack for Bundler {
    fn pack(&self, packets: &[u8]) -> Writer {
        let mut compress = self
            .idle()
            .unwrap_or_else(|| Compress::new(self.level, true));
        let mut out = Writer::default();
        let mut compressed = Vec::new();
        let mut rest = packets;
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(piece_of(rest));
            rest = after;
            compress.reset();
            compressed.clear();
            // What has no room is not shorter.
            compressed.reserve_exact(piece.len());
            let status = compress.compress_vec(piece, &mut compressed, FlushCompress::Finish);
            let before = out.len();
            if matches!(status, Ok(Status::StreamEnd)) {
                let open = out.open(trace::PACKET, compressed.len() + 8);
                out.bytes(packet::COMPRESSED_PACKETS, &compressed);
                out.close(open);
            }
            if out.len() == before || out.len() - before >= piece.len() {
                out.truncate(before);
                out.raw(piece);
            }
        }
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(compress);
        out
    }
}

/// How many bytes are packets of about one piece: at least one packet, and all that is no packet.
fn piece_of(packets: &[u8]) -> usize {
    let mut end = 0;
    while let Some(next) = after_packet(packets, end).filter(|next| *next <= packets.len()) {
        if next > PIECE && end > 0 {
            return end;
        }
        end = next;
    }
    packets.len()
}

/// What a packet's content holds, if that is a bundle.
pub(super) fn bundle(packet: &[u8]) -> Option<&[u8]> {
    match Fields::of(packet).next()? {
        (packet::COMPRESSED_PACKETS, Value::Bytes(bundle)) => Some(bundle),
        _ => None,
    }
}

/// The packets of a bundle.
pub(super) fn unpack(bundle: &[u8], packets: &mut Vec<u8>) -> io::Result<()> {
    packets.clear();
    let limit = (FIELD_LIMIT + PIECE) as u64;
    ZlibDecoder::new(bundle).take(limit).read_to_end(packets)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::Random;

    fn packets(sizes: &[usize], text: impl Fn(usize) -> String) -> Vec<u8> {
        let mut out = Writer::default();
        for &size in sizes {
            out.text(trace::PACKET, &text(size));
        }
        out.as_bytes().to_vec()
    }

    /// All packets, those in bundles too, and how many bundles there are.
    fn read(mut file: &[u8]) -> (Vec<u8>, Vec<usize>) {
        let (mut all, mut bundles) = (Vec::new(), Vec::new());
        while !file.is_empty() {
            let end = after_packet(file, 0).unwrap();
            let (packet, rest) = file.split_at(end);
            let Some((trace::PACKET, Value::Bytes(content))) = Fields::of(packet).next() else {
                panic!("no packet");
            };
            match bundle(content) {
                None => all.extend_from_slice(packet),
                Some(bundle) => {
                    let mut packets = Vec::new();
                    unpack(bundle, &mut packets).unwrap();
                    bundles.push(packets.len());
                    all.extend(packets);
                }
            }
            file = rest;
        }
        (all, bundles)
    }

    #[test]
    fn bundles_hold_whole_packets_of_about_one_piece() {
        let bundler = Bundler::new(3);
        let sizes = [200_000, 700_000, 300_000, 3_000_000, 5, 900_000];
        let packets = packets(&sizes, |size| "tick ".repeat(size / 5));
        let packed = bundler.pack(&packets);
        let (all, bundles) = read(packed.as_bytes());
        assert_eq!(all, packets);
        assert_eq!(bundles.len(), 4, "{bundles:?}");
        assert!(bundles[0] > 900_000 && bundles[2] > 3_000_000);
        assert!(packed.len() < packets.len() / 50);
    }

    #[test]
    fn what_would_not_be_shorter_stays_as_it_is() {
        let bundler = Bundler::new(9);
        let random = |size| {
            let mut random = Random::new(size as u64);
            let character = |_| char::from(random.below(128) as u8);
            (0..size).map(character).collect()
        };
        for sizes in [&[0][..], &[1], &[7, 9], &[300]] {
            let packets = packets(sizes, random);
            assert_eq!(bundler.pack(&packets).as_bytes(), packets);
        }
        assert!(bundler.pack(&[]).is_empty());
        // Not even a bundle of nothing but noise is longer.
        let packets = packets(&[100_000; 30], random);
        let packed = bundler.pack(&packets);
        assert!(packed.len() <= packets.len());
        assert_eq!(read(packed.as_bytes()).0, packets);
    }

    #[test]
    fn what_is_no_bundle_is_told() {
        let mut packets = Vec::new();
        unpack(b"no zlib", &mut packets).unwrap_err();
        let packed = Bundler::new(1).pack(&self::packets(&[1000], |size| "x".repeat(size)));
        let Some((_, Value::Bytes(content))) = Fields::of(packed.as_bytes()).next() else {
            panic!("no packet");
        };
        let bundle = bundle(content).unwrap();
        unpack(&bundle[..bundle.len() - 1], &mut packets).unwrap_err();
    }
}
