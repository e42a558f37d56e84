//! How a capture is made of records.

/// What the file begins with.
pub(super) const MAGIC: [u8; 8] = *b"NVTXWCAP";
/// The version of the format. Version 1 is this one without the kinds of records from 24 to 26, and without the nulls of
/// what pointers lead to. Of another one nothing can be told.
pub(super) const VERSION: u16 = 2;
/// In a file, its own bytes tell in which order those of numbers are.
pub(super) const ORDER: u16 = 0x0102;
/// Bytes of the file's header.
pub(super) const FILE_HEADER: usize = 32;

/// Bytes of a record's header. Each record, and what is long in it, starts at a multiple of this.
pub(super) const HEADER: usize = 16;
/// What a record's header ends with, so that what is none is found out.
pub(super) const MARK: u16 = 0xCA9E;

/// What a record holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(super) enum Kind {
    Begin = 1,
    End = 2,
    Domain = 3,
    Category = 4,
    String = 5,
    Resource = 6,
    Scope = 7,
    Schema = 8,
    Enum = 9,
    Counter = 10,
    TimeDomain = 11,
    Open = 12,
    Close = 13,
    Event = 16,
    EventBatch = 17,
    Sample = 18,
    NoValue = 19,
    CounterBatch = 20,
    SyncPoint = 21,
    SyncPoints = 22,
    Conversion = 23,
    PointingSample = 24,
    PointingCounterBatch = 25,
    ReservedSchema = 26,
    Refused = 32,
    Refusals = 33,
}

impl Kind {
    const ALL: [Self; 26] = [
        Self::Begin,
        Self::End,
        Self::Domain,
        Self::Category,
        Self::String,
        Self::Resource,
        Self::Scope,
        Self::Schema,
        Self::Enum,
        Self::Counter,
        Self::TimeDomain,
        Self::Open,
        Self::Close,
        Self::Event,
        Self::EventBatch,
        Self::Sample,
        Self::NoValue,
        Self::CounterBatch,
        Self::SyncPoint,
        Self::SyncPoints,
        Self::Conversion,
        Self::PointingSample,
        Self::PointingCounterBatch,
        Self::ReservedSchema,
        Self::Refused,
        Self::Refusals,
    ];

    pub(super) fn of(number: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u16 == number)
    }
}

/// The header of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// Bytes of the body, without what fills it up to a multiple of [`HEADER`].
    pub(super) size: u64,
    /// The stream that the record is of; or the domain, for registrations.
    pub(super) owner: u32,
    pub(super) kind: u16,
}

impl Header {
    pub(super) fn to_bytes(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..8].copy_from_slice(&self.size.to_ne_bytes());
        bytes[8..12].copy_from_slice(&self.owner.to_ne_bytes());
        bytes[12..14].copy_from_slice(&self.kind.to_ne_bytes());
        bytes[14..].copy_from_slice(&MARK.to_ne_bytes());
        bytes
    }

    /// `None` if these bytes are no header.
    pub(super) fn from_bytes(bytes: [u8; HEADER]) -> Option<Self> {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = bytes;
        (u16::from_ne_bytes([o, p]) == MARK).then_some(Self {
            size: u64::from_ne_bytes([a, b, c, d, e, f, g, h]),
            owner: u32::from_ne_bytes([i, j, k, l]),
            kind: u16::from_ne_bytes([m, n]),
        })
    }
}

/// The file's header.
pub(super) fn file_header() -> [u8; FILE_HEADER] {
    let mut bytes = [0; FILE_HEADER];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..10].copy_from_slice(&ORDER.to_ne_bytes());
    bytes[10..12].copy_from_slice(&VERSION.to_ne_bytes());
    bytes
}

/// How many bytes fill up so many.
pub(super) fn padding(size: u64) -> usize {
    (size.wrapping_neg() % HEADER as u64) as usize
}

/// How many bytes at the beginning are whole records (the file's header is one).
pub(super) fn whole(bytes: &[u8]) -> usize {
    ends(bytes).last().unwrap_or(0)
}

/// How many records there are, all of which are whole.
pub(super) fn records(bytes: &[u8]) -> u64 {
    ends(bytes).filter(|end| *end > 0).count() as u64
}

/// Where the whole records end, after what comes before them.
fn ends(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let first = match bytes.starts_with(&MAGIC) {
        true => FILE_HEADER,
        false => 0,
    };
    let next = |end: usize| {
        let header = bytes[end..].first_chunk().copied()?;
        let header = Header::from_bytes(header)?;
        let size = usize::try_from(header.size).unwrap_or(usize::MAX);
        let end = end
            .saturating_add(HEADER)
            .saturating_add(size)
            .saturating_add(padding(header.size));
        Some(end).filter(|end| *end <= bytes.len())
    };
    let first = Some(first).filter(|end| *end <= bytes.len());
    std::iter::successors(first, move |end| next(*end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_records_are_found_and_counted() {
        let mut bytes = file_header().to_vec();
        let mut ends = vec![bytes.len()];
        for size in [0, 1, 16, 17] {
            let header = Header {
                size,
                owner: 1,
                kind: Kind::Event as u16,
            };
            bytes.extend(header.to_bytes());
            bytes.resize(bytes.len() + size as usize + padding(size), 7);
            ends.push(bytes.len());
        }
        for len in 0..=bytes.len() {
            let before = ends.iter().rev().find(|end| **end <= len);
            assert_eq!(whole(&bytes[..len]), *before.unwrap_or(&0), "{len}");
        }
        // The file's header is one.
        assert_eq!(records(&bytes), 5);
        assert_eq!(records(&bytes[ends[0]..]), 4);
        assert_eq!(records(&bytes[ends[1]..ends[2]]), 1);
        assert_eq!(records(b""), 0);
    }
}
