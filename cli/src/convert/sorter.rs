//! Sorts more records than memory holds.

use std::borrow::Borrow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// What records are sorted by: by one field after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// What has an order of its own, such as a track.
    pub group: u64,
    /// Nanoseconds.
    pub time: i64,
    /// Which of one time come first; of ranges, the longest.
    pub rank: u64,
    /// The place in the file.
    pub number: u64,
}

impl Key {
    pub const SIZE: usize = 32;

    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let parts = [
            self.group,
            self.time.cast_unsigned(),
            self.rank,
            self.number,
        ];
        let mut bytes = [0; Self::SIZE];
        for (to, from) in bytes.chunks_exact_mut(8).zip(parts) {
            to.copy_from_slice(&from.to_le_bytes());
        }
        bytes
    }

    pub fn from_bytes(bytes: [u8; Self::SIZE]) -> Self {
        let part = |index: usize| {
            u64::from_le_bytes(bytes[index * 8..][..8].try_into().expect("eight bytes"))
        };
        Self {
            group: part(0),
            time: part(1).cast_signed(),
            rank: part(2),
            number: part(3),
        }
    }
}

/// What is read of all runs at once.
const MERGE_BYTES: usize = 16 << 20;

/// Takes records in any order. What is more than `budget` bytes is in a file without a name, in sorted runs.
pub struct Sorter {
    budget: usize,
    folder: PathBuf,
    memory: Memory,
    file: Option<File>,
    /// Where each run is in the file.
    runs: Vec<(u64, u64)>,
    earliest: i64,
    latest: i64,
}

/// Records in memory.
#[derive(Default)]
pub struct Memory {
    bytes: Vec<u8>,
    /// Where each record is in `bytes`.
    index: Vec<(Key, u32, u32)>,
    /// The places in `index` of those that were there when it was sorted, in order.
    order: Vec<u32>,
}

impl Sorter {
    /// `folder` has place for the file.
    pub fn new(budget: usize, folder: &Path) -> Self {
        Self {
            budget,
            folder: folder.to_owned(),
            memory: Memory::default(),
            file: None,
            runs: Vec::new(),
            earliest: i64::MAX,
            latest: i64::MIN,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.earliest > self.latest
    }

    /// The first time of all keys.
    pub fn earliest(&self) -> i64 {
        self.earliest
    }

    /// Whether all times still are times when `offset` is added.
    pub fn can_move(&self, offset: i64) -> bool {
        let fits = |time: i64| time.checked_add(offset).is_some();
        self.is_empty() || (fits(self.earliest) && fits(self.latest))
    }

    pub fn push(&mut self, key: Key, record: &[u8]) -> io::Result<()> {
        self.earliest = self.earliest.min(key.time);
        self.latest = self.latest.max(key.time);
        let entry = size_of::<(Key, u32, u32)>() + size_of::<u32>();
        let Memory { bytes, index, .. } = &mut self.memory;
        let used = bytes.len() + index.len() * entry;
        if used + record.len() + entry > self.budget && !index.is_empty() {
            self.spill()?;
        }
        self.memory.push(key, record);
        Ok(())
    }

    fn spill(&mut self) -> io::Result<()> {
        self.memory.sort();
        let mut file = match self.file.take() {
            Some(file) => file,
            None => tempfile::tempfile_in(&self.folder)?,
        };
        let start = file.seek(SeekFrom::End(0))?;
        let mut out = io::BufWriter::with_capacity(1 << 20, file);
        let mut place = 0;
        while let Some((key, record)) = self.memory.in_order(place) {
            out.write_all(&key.to_bytes())?;
            out.write_all(&(record.len() as u32).to_le_bytes())?;
            out.write_all(record)?;
            place += 1;
        }
        let mut file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        self.runs.push((start, file.stream_position()?));
        self.file = Some(file);
        self.memory.clear();
        Ok(())
    }

    /// The records in order.
    pub fn sorted(mut self) -> io::Result<Sorted> {
        if self.is_in_memory()? {
            return Ok(Sorted::Memory {
                records: self.memory,
                next: 0,
            });
        }
        drop(self.memory);
        let file = self.file.expect("there are runs");
        Ok(Sorted::File(Merge::new(file, &self.runs)?))
    }

    /// The same, of a sorter that goes on.
    pub fn walk(&mut self) -> io::Result<Sorted<&Memory>> {
        if self.is_in_memory()? {
            return Ok(Sorted::Memory {
                records: &self.memory,
                next: 0,
            });
        }
        self.memory = Memory::default();
        let file = self.file.as_ref().expect("there are runs").try_clone()?;
        Ok(Sorted::File(Merge::new(file, &self.runs)?))
    }

    /// Whether all records are in memory, and in order there; else all are in the file.
    fn is_in_memory(&mut self) -> io::Result<bool> {
        if self.runs.is_empty() {
            self.memory.sort();
            return Ok(true);
        }
        if !self.memory.index.is_empty() {
            self.spill()?;
        }
        Ok(false)
    }
}

impl Memory {
    fn push(&mut self, key: Key, record: &[u8]) {
        let (at, len) = (self.bytes.len() as u32, record.len() as u32);
        self.index.push((key, at, len));
        self.bytes.extend_from_slice(record);
    }

    fn clear(&mut self) {
        self.index.clear();
        self.order.clear();
        self.bytes.clear();
    }

    fn sort(&mut self) {
        let sorted = self.order.len() as u32;
        self.order.extend(sorted..self.index.len() as u32);
        let key = |place: u32| &self.index[place as usize].0;
        if self.order.is_sorted_by_key(|&place| key(place)) {
            return;
        }
        let last = self.index.iter().map(|(key, ..)| key.group).max();
        match last {
            // Numbers of tracks are small, so that all can be counted; in each the order is mostly that of time already.
            Some(last) if last < self.index.len() as u64 => {
                self.order = grouped(&self.order, last as usize, |place| key(place).group);
                let is_one_group = |&a: &u32, &b: &u32| key(a).group == key(b).group;
                let groups = self.order.chunk_by_mut(is_one_group);
                groups.for_each(|group| group.sort_by(|&a, &b| key(a).cmp(key(b))));
            }
            _ => self.order.sort_by(|&a, &b| key(a).cmp(key(b))),
        }
    }

    /// The record at a place of the order.
    fn in_order(&self, place: usize) -> Option<(Key, &[u8])> {
        let &place = self.order.get(place)?;
        let (key, at, len) = self.index[place as usize];
        Some((key, &self.bytes[at as usize..][..len as usize]))
    }
}

/// The same places with those of each group side by side. No group is after `last`.
fn grouped(places: &[u32], last: usize, group: impl Fn(u32) -> u64) -> Vec<u32> {
    let mut starts = vec![0; last + 2];
    for &place in places {
        starts[group(place) as usize + 1] += 1;
    }
    for group in 0..=last {
        starts[group + 1] += starts[group];
    }
    let mut grouped = vec![0; places.len()];
    for &place in places {
        let to = &mut starts[group(place) as usize];
        grouped[*to] = place;
        *to += 1;
    }
    grouped
}

/// Records in the order of their keys.
pub enum Sorted<M = Memory> {
    Memory { records: M, next: usize },
    File(Merge),
}

pub struct Merge {
    file: File,
    runs: Vec<Run>,
    /// The first record of each run that has any left.
    heads: BinaryHeap<Reverse<(Key, usize)>>,
    /// The run of the record that was given last.
    last: Option<usize>,
}

struct Run {
    /// What of the run isn't in the buffer yet, in the file.
    at: u64,
    end: u64,
    buffer: Vec<u8>,
    start: usize,
    filled: usize,
    record: Vec<u8>,
}

impl<M: Borrow<Memory>> Sorted<M> {
    /// How many records at most have one key; `None` where only the file tells.
    pub fn most_of_a_key(&self) -> Option<usize> {
        let Self::Memory { records, .. } = self else {
            return None;
        };
        let Memory { index, order, .. } = records.borrow();
        let key = |place: u32| index[place as usize].0;
        let of_keys = order.chunk_by(|&a, &b| key(a) == key(b));
        Some(of_keys.map(<[u32]>::len).max().unwrap_or(0))
    }

    pub fn next(&mut self) -> io::Result<Option<(Key, &[u8])>> {
        match self {
            Self::Memory { records, next } => {
                *next += 1;
                Ok(M::borrow(records).in_order(*next - 1))
            }
            Self::File(merge) => merge.next(),
        }
    }
}

impl Merge {
    fn new(file: File, runs: &[(u64, u64)]) -> io::Result<Self> {
        let capacity = (MERGE_BYTES / runs.len()).max(1 << 14);
        let mut merge = Self {
            file,
            runs: Vec::new(),
            heads: BinaryHeap::new(),
            last: None,
        };
        for &(at, end) in runs {
            merge.runs.push(Run {
                at,
                end,
                buffer: vec![0; capacity],
                start: 0,
                filled: 0,
                record: Vec::new(),
            });
            merge.advance(merge.runs.len() - 1)?;
        }
        Ok(merge)
    }
    fn next(&mut self) -> io::Result<Option<(Key, &[u8])>> {
        if let Some(run) = self.last.take() {
            self.advance(run)?;
        }
        let Some(Reverse((key, run))) = self.heads.pop() else {
            return Ok(None);
        };
        self.last = Some(run);
        Ok(Some((key, &self.runs[run].record)))
    }

    /// Reads the next record of a run.
    fn advance(&mut self, index: usize) -> io::Result<()> {
        let run = &mut self.runs[index];
        if run.start == run.filled && run.at == run.end {
            return Ok(());
        }
        let mut head = [0; Key::SIZE + 4];
        run.read(&self.file, &mut head)?;
        let (key, len) = head.split_at(Key::SIZE);
        let len = u32::from_le_bytes(len.try_into().expect("four bytes"));
        let mut record = std::mem::take(&mut run.record);
        record.resize(len as usize, 0);
        run.read(&self.file, &mut record)?;
        run.record = record;
        let key = Key::from_bytes(key.try_into().expect("as long as a key"));
        self.heads.push(Reverse((key, index)));
        Ok(())
    }
}

impl Run {
    fn read(&mut self, mut file: &File, mut to: &mut [u8]) -> io::Result<()> {
        while !to.is_empty() {
            if self.start == self.filled {
                file.seek(SeekFrom::Start(self.at))?;
                let want = (self.end - self.at).min(self.buffer.len() as u64) as usize;
                file.read_exact(&mut self.buffer[..want])?;
                (self.start, self.filled) = (0, want);
                self.at += want as u64;
            }
            let len = to.len().min(self.filled - self.start);
            to[..len].copy_from_slice(&self.buffer[self.start..][..len]);
            self.start += len;
            to = &mut to[len..];
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records of many lengths, in no order.
    fn records() -> Vec<(Key, Vec<u8>)> {
        let mut state = 1_u64;
        let mut next = move || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            state >> 33
        };
        (0..2000)
            .map(|number| {
                let key = Key {
                    group: next() % 3,
                    time: (next() % 100) as i64 - 50,
                    rank: next() % 2,
                    number,
                };
                (key, vec![number as u8; (next() % 70) as usize])
            })
            .collect()
    }

    #[test]
    fn the_order_is_the_same_in_memory_and_in_files() {
        let records = records();
        let mut want = records.clone();
        want.sort();
        for budget in [1, 1 << 12, 1 << 30] {
            let mut sorter = Sorter::new(budget, &std::env::temp_dir());
            for (number, (key, record)) in records.iter().enumerate() {
                sorter.push(*key, record).unwrap();
                if number == records.len() / 2 {
                    let before = all(&mut sorter.walk().unwrap());
                    assert!(before.is_sorted() && before.len() == number + 1);
                }
            }
            assert_eq!(sorter.runs.is_empty(), budget == 1 << 30);
            assert!(
                all(&mut sorter.walk().unwrap()) == want,
                "with {budget} bytes"
            );
            assert!(
                all(&mut sorter.sorted().unwrap()) == want,
                "with {budget} bytes"
            );
        }
    }

    fn all(sorted: &mut Sorted<impl Borrow<Memory>>) -> Vec<(Key, Vec<u8>)> {
        let mut found = Vec::new();
        while let Some((key, record)) = sorted.next().unwrap() {
            found.push((key, record.to_vec()));
        }
        found
    }

    #[test]
    fn a_record_may_be_larger_than_all_buffers() {
        let mut sorter = Sorter::new(100, &std::env::temp_dir());
        let large = vec![7; MERGE_BYTES + 5];
        for number in [1, 0] {
            let key = Key {
                number,
                ..Key::default()
            };
            sorter.push(key, &large).unwrap();
        }
        let mut sorted = sorter.sorted().unwrap();
        for number in [0, 1] {
            let (key, record) = sorted.next().unwrap().unwrap();
            assert!(key.number == number && record == large);
        }
        assert!(sorted.next().unwrap().is_none());
    }
}
