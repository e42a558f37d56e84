//! Decoders by hand: each knows one struct, and how its fields lie.

use crate::shapes::TIME;
use crate::sink::Sink;

/// What is decoded.
pub struct Input<'a> {
    /// Events, or samples, one after the other.
    pub bytes: &'a [u8],
    /// What events refer to.
    pub pool: &'a [u8],
    /// The times of samples, 8 bytes each.
    pub times: &'a [u8],
    pub strings: &'a Strings,
    pub sink: &'a mut dyn Sink,
}

/// Shows all values of the input to its sink; `None` if something is wrong with it, and nothing is shown of an event that is bad.
pub type Decoder = fn(Input<'_>) -> Option<()>;

/// The registered strings of a domain.
pub struct Strings {
    pub domain: u32,
    pub texts: Vec<Box<str>>,
}

impl Strings {
    fn get(&self, handle: u64) -> Option<&[u8]> {
        let text = self.texts.get(handle as u32 as usize)?;
        ((handle >> 32) as u32 == self.domain).then_some(text.as_bytes())
    }
}

/// So many bytes from `at` on.
fn get<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    get(bytes, at).map(u64::from_ne_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    get(bytes, at).map(u32::from_ne_bytes)
}

fn i32_at(bytes: &[u8], at: usize) -> Option<u64> {
    get(bytes, at).map(|bytes| i64::from(i32::from_ne_bytes(bytes)) as u64)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    get(bytes, at).map(u16::from_ne_bytes)
}

fn i16_at(bytes: &[u8], at: usize) -> Option<u64> {
    get(bytes, at).map(|bytes| i64::from(i16::from_ne_bytes(bytes)) as u64)
}

/// The events of fixed size; `None` if some bytes are left over.
fn chunks<const N: usize>(bytes: &[u8]) -> Option<&[[u8; N]]> {
    match bytes.as_chunks() {
        (events, []) => Some(events),
        _ => None,
    }
}

fn before_null(bytes: &[u8]) -> Option<&[u8]> {
    Some(&bytes[..bytes.iter().position(|byte| *byte == 0)?])
}

pub fn numbers(Input { bytes, sink, .. }: Input<'_>) -> Option<()> {
    for event in chunks::<48>(bytes)? {
        sink.number(TIME, u64_at(event, 0)?);
        sink.number(1, u64_at(event, 8)?);
        sink.number(2, u64_at(event, 16)?);
        sink.number(3, u64_at(event, 24)?);
        sink.number(4, u32_at(event, 32)?.into());
        sink.number(5, i32_at(event, 36)?);
        sink.number(6, u32_at(event, 40)?.into());
        sink.number(7, u16_at(event, 44)?.into());
        sink.number(8, i16_at(event, 46)?);
    }
    Some(())
}

pub fn texts(input: Input<'_>) -> Option<()> {
    let Input {
        bytes,
        strings,
        sink,
        ..
    } = input;
    for event in chunks::<64>(bytes)? {
        let message = strings.get(u64_at(event, 8)?)?;
        let kernel = strings.get(u64_at(event, 16)?)?;
        sink.number(TIME, u64_at(event, 0)?);
        sink.text(1, message);
        sink.text(2, kernel);
        let text = &event[24..48];
        sink.text(3, before_null(text).unwrap_or(text));
        sink.number(4, u64_at(event, 48)?);
        sink.number(5, u64_at(event, 56)?);
    }
    Some(())
}

pub fn nested(Input { bytes, sink, .. }: Input<'_>) -> Option<()> {
    for event in chunks::<64>(bytes)? {
        sink.number(TIME, u64_at(event, 0)?);
        for (field, at) in [(1, 8), (2, 32)] {
            sink.open(field, 1);
            sink.number(0, u64_at(event, at)?);
            sink.number(1, u64_at(event, at + 8)?);
            sink.number(2, u64_at(event, at + 16)?);
            sink.close(field);
        }
        sink.number(3, u64_at(event, 56)?);
    }
    Some(())
}

pub fn arrays(Input { bytes, sink, .. }: Input<'_>) -> Option<()> {
    for event in chunks::<56>(bytes)? {
        sink.number(TIME, u64_at(event, 0)?);
        sink.open(1, 8);
        for index in 0..8 {
            sink.number(1, u32_at(event, 8 + index * 4)?.into());
        }
        sink.close(1);
        sink.open(2, 4);
        for index in 0..4 {
            sink.number(2, u16_at(event, 40 + index * 2)?.into());
        }
        sink.close(2);
        sink.number(3, u64_at(event, 48)?);
    }
    Some(())
}

pub fn enums(Input { bytes, sink, .. }: Input<'_>) -> Option<()> {
    for event in chunks::<24>(bytes)? {
        sink.number(TIME, u64_at(event, 0)?);
        sink.number(1, u32_at(event, 8)?.into());
        sink.number(2, u16_at(event, 12)?.into());
        sink.number(3, event[14].into());
        sink.number(4, event[15].into());
        sink.number(5, u64_at(event, 16)?);
    }
    Some(())
}

pub fn dynamic(
    Input {
        mut bytes, sink, ..
    }: Input<'_>,
) -> Option<()> {
    while !bytes.is_empty() {
        let (time, len) = (u64_at(bytes, 0)?, u32_at(bytes, 8)?);
        let path = bytes.get(12..)?.get(..len as usize)?;
        let at = 12 + path.len();
        let user = before_null(&bytes[at..])?;
        let at = (at + user.len() + 1).next_multiple_of(4);
        let size = u32_at(bytes, at)?;
        sink.number(TIME, time);
        sink.number(1, len.into());
        sink.text(2, path);
        sink.text(3, user);
        sink.number(4, size.into());
        bytes = &bytes[at + 4..];
    }
    Some(())
}

pub fn pooled(input: Input<'_>) -> Option<()> {
    let Input {
        bytes, pool, sink, ..
    } = input;
    for event in chunks::<32>(bytes)? {
        let len = u32_at(event, 8)?;
        let at = usize::try_from(u64_at(event, 16)?).ok()?;
        let text = pool.get(at..)?.get(..len as usize)?;
        sink.number(TIME, u64_at(event, 0)?);
        sink.number(1, len.into());
        sink.number(2, u32_at(event, 12)?.into());
        sink.text(3, text);
        sink.number(4, u64_at(event, 24)?);
    }
    Some(())
}

pub fn unions(Input { bytes, sink, .. }: Input<'_>) -> Option<()> {
    for event in chunks::<24>(bytes)? {
        let which = u32_at(event, 8)?;
        if which > 2 {
            return None;
        }
        sink.number(TIME, u64_at(event, 0)?);
        sink.number(1, which.into());
        sink.number(2, u32_at(event, 12)?.into());
        sink.open(3, 1);
        match which {
            0 => sink.number(0, u64_at(event, 16)?),
            1 => sink.number(1, u64_at(event, 16)?),
            _ => {
                sink.open(2, 1);
                sink.number(0, u32_at(event, 16)?.into());
                sink.number(1, u32_at(event, 20)?.into());
                sink.close(2);
            }
        }
        sink.close(3);
    }
    Some(())
}

pub fn group(input: Input<'_>) -> Option<()> {
    let Input {
        bytes, times, sink, ..
    } = input;
    let samples = chunks::<24>(bytes)?;
    for (sample, time) in samples
        .iter()
        .zip(times.get(..samples.len() * 8)?.chunks_exact(8))
    {
        sink.number(TIME, u64_at(time, 0)?);
        sink.number(0, u64_at(sample, 0)?);
        sink.number(1, u64_at(sample, 8)?);
        sink.number(2, u32_at(sample, 16)?.into());
        sink.number(3, u32_at(sample, 20)?.into());
    }
    Some(())
}
