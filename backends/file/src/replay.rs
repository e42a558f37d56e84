//! Reads what the crate writes, for its tests.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A field's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Field<'a> {
    Int(u64),
    Fixed(u64),
    Bytes(&'a [u8]),
}

/// The fields of a message.
pub(crate) fn fields(mut message: &[u8]) -> impl Iterator<Item = (u32, Field<'_>)> {
    std::iter::from_fn(move || {
        if message.is_empty() {
            return None;
        }
        let tag = varint(&mut message);
        let value = match tag & 7 {
            0 => Field::Int(varint(&mut message)),
            1 => {
                let (value, rest) = message.split_at(8);
                message = rest;
                Field::Fixed(u64::from_le_bytes(value.try_into().unwrap()))
            }
            2 => {
                let len = varint(&mut message) as usize;
                let (value, rest) = message.split_at(len);
                message = rest;
                Field::Bytes(value)
            }
            wire => panic!("wire type {wire}"),
        };
        Some(((tag >> 3) as u32, value))
    })
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first().expect("a varint is cut");
        *bytes = rest;
        value |= u64::from(byte & 0x7F) << shift;
        if *byte < 0x80 {
            return value;
        }
    }
    panic!("a varint of more than ten bytes");
}

/// Numbers that look random; the same for a seed each time.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number in 0..limit, 0 for a limit of 0.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit.max(1)
    }
}

/// A folder of its own that goes when it is dropped.
pub(crate) struct TempDir(PathBuf);

impl TempDir {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "nvtxw-file-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
