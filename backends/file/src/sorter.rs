//! Puts more records in order than memory holds: sorted runs of them on disk, merged at the end.

mod run;
mod spill;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::io;
use std::mem;
use std::path::{Path, PathBuf};

use self::run::{HEADER, Run, RunWriter};
use self::spill::Spill;

/// What records are ordered by, first to last. The number makes keys unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) group: u32,
    pub(crate) start: i64,
    pub(crate) rank: i64,
    pub(crate) number: u64,
}

/// What sorting may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Bytes of memory, about: one longer record is held too.
    pub(crate) memory: usize,
    /// Runs that are read at once, at least 2.
    pub(crate) fan_in: usize,
}

impl Limits {
    /// Pieces of runs are read that are large enough for disks.
    pub(crate) fn of(memory: usize) -> Self {
        Self {
            memory,
            fan_in: (memory >> 15).max(2),
        }
    }
}

/// Takes records in any order. What doesn't fit into memory is kept in files without a name.
pub(crate) struct Sorter {
    /// Beside this file.
    beside: PathBuf,
    limits: Limits,
    chunk: Chunk,
    /// Runs of one level have about one length, and lie in one file. When there are too many, they
    /// become one run of the next level.
    levels: Vec<Level>,
}

/// The records that are in memory.
#[derive(Default)]
struct Chunk {
    entries: Vec<Entry>,
    bytes: Vec<u8>,
}

struct Entry {
    key: Key,
    at: usize,
    len: u32,
}

struct Level {
    spill: Spill,
    /// Where in the file each run begins; it ends where the next one does.
    runs: Vec<u64>,
}

impl Sorter {
    /// Spilled records lie in the folder of the file `beside`.
    pub(crate) fn new(beside: &Path, limits: Limits) -> Self {
        Self {
            beside: beside.to_owned(),
            limits,
            chunk: Chunk::default(),
            levels: Vec::new(),
        }
    }

    /// Takes a record: the bytes of all parts.
    ///
    /// # Errors
    /// What happened to a file of spilled records, with its path.
    pub(crate) fn add(&mut self, key: Key, parts: &[&[u8]]) -> io::Result<()> {
        if self.chunk.entries.capacity() == 0 {
            // What isn't used takes no memory yet; growing would copy.
            let Limits { memory, .. } = self.limits;
            self.chunk
                .entries
                .reserve_exact(memory / size_of::<Entry>() + 1);
            self.chunk.bytes.reserve_exact(memory);
        }
        let at = self.chunk.bytes.len();
        for part in parts {
            self.chunk.bytes.extend_from_slice(part);
        }
        self.chunk.entries.push(Entry {
            key,
            at,
            len: (self.chunk.bytes.len() - at) as u32,
        });
        if self.chunk.size() >= self.limits.memory {
            self.spill()?;
        }
        Ok(())
    }

    /// The records in order.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub(crate) fn finish(mut self) -> io::Result<Sorted> {
        if self.levels.is_empty() {
            self.chunk.sort();
            return Ok(Sorted(Source::Memory {
                chunk: self.chunk,
                next: 0,
            }));
        }
        if !self.chunk.entries.is_empty() {
            self.spill()?;
        }
        self.chunk = Chunk::default();
        let count = |levels: &[Level]| levels.iter().map(|level| level.runs.len()).sum::<usize>();
        let mut lowest = 0;
        while count(&self.levels) > self.limits.fan_in {
            self.raise(lowest)?;
            lowest += 1;
        }
        let merge = Merge::new(self.levels, self.limits)?;
        Ok(Sorted(Source::Disk(merge)))
    }

    /// Writes what is in memory as a run.
    fn spill(&mut self) -> io::Result<()> {
        let mut chunk = mem::take(&mut self.chunk);
        chunk.sort();
        let mut out = self.begin_run(0)?;
        for entry in &chunk.entries {
            out.write(entry.key, chunk.bytes_of(entry))?;
        }
        out.end()?;
        if self.levels[0].runs.len() < self.limits.fan_in {
            chunk.clear();
            self.chunk = chunk;
            return Ok(());
        }
        // Merging takes as much memory as the chunk did.
        drop(chunk);
        for level in 0.. {
            match self.levels.get(level) {
                Some(Level { runs, .. }) if runs.len() >= self.limits.fan_in => {
                    self.raise(level)?
                }
                _ => break,
            }
        }
        Ok(())
    }

    /// Makes one run of all runs of a level.
    fn raise(&mut self, level: usize) -> io::Result<()> {
        let emptied = Level::create(&self.beside)?;
        let full = mem::replace(&mut self.levels[level], emptied);
        let mut merge = Merge::new(vec![full], self.limits)?;
        let mut out = self.begin_run(level + 1)?;
        while let Some((key, record)) = merge.next()? {
            out.write(key, record)?;
        }
        out.end()
    }

    fn begin_run(&mut self, level: usize) -> io::Result<RunWriter<'_>> {
        if self.levels.len() == level {
            self.levels.push(Level::create(&self.beside)?);
        }
        let Level { spill, runs } = &mut self.levels[level];
        runs.push(spill.len());
        Ok(RunWriter::new(spill))
    }
}

impl Level {
    fn create(beside: &Path) -> io::Result<Self> {
        Ok(Self {
            spill: Spill::create(beside)?,
            runs: Vec::new(),
        })
    }
}

impl Chunk {
    fn size(&self) -> usize {
        self.bytes.len() + self.entries.len() * size_of::<Entry>()
    }

    fn sort(&mut self) {
        self.entries.sort_unstable_by_key(|entry| entry.key);
    }

    fn bytes_of(&self, entry: &Entry) -> &[u8] {
        &self.bytes[entry.at..][..entry.len as usize]
    }

    fn clear(&mut self) {
        self.entries.clear();
        self.bytes.clear();
    }
}

/// Records in order.
pub(crate) struct Sorted(Source);

enum Source {
    /// All of them fit into memory.
    Memory {
        chunk: Chunk,
        next: usize,
    },
    Disk(Merge),
}

impl Sorted {
    /// Begins with the first record again.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub(crate) fn rewind(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Source::Memory { next, .. } => *next = 0,
            Source::Disk(merge) => {
                let levels = mem::take(&mut merge.levels);
                merge.runs = Vec::new();
                *merge = Merge::new(levels, merge.limits)?;
            }
        }
        Ok(())
    }

    /// # Errors
    /// What happened to a file of spilled records, with its path.
    pub(crate) fn next(&mut self) -> io::Result<Option<(Key, &[u8])>> {
        match &mut self.0 {
            Source::Memory { chunk, next } => Ok(chunk.entries.get(*next).map(|entry| {
                *next += 1;
                (entry.key, chunk.bytes_of(entry))
            })),
            Source::Disk(merge) => merge.next(),
        }
    }
}

/// Runs that are read together.
struct Merge {
    levels: Vec<Level>,
    limits: Limits,
    /// Each with the index of its level.
    runs: Vec<(usize, Run)>,
    /// The next key of each run that has one.
    next: BinaryHeap<Reverse<(Key, usize)>>,
    /// The bytes of the last record.
    record: Vec<u8>,
}

impl Merge {
    fn new(levels: Vec<Level>, limits: Limits) -> io::Result<Self> {
        let count = levels.iter().map(|level| level.runs.len()).sum::<usize>();
        let buffer = (limits.memory / count.max(1)).clamp(HEADER, 1 << 20);
        let mut runs = Vec::with_capacity(count);
        for (
            index,
            Level {
                spill,
                runs: starts,
            },
        ) in levels.iter().enumerate()
        {
            let ends = starts.iter().skip(1).copied().chain([spill.len()]);
            let extents = starts.iter().zip(ends);
            runs.extend(extents.map(|(&start, end)| (index, Run::new(start..end, buffer))));
        }
        let mut next = BinaryHeap::with_capacity(count);
        for (index, (level, run)) in runs.iter_mut().enumerate() {
            if let Some(key) = run.next_key(&levels[*level].spill)? {
                next.push(Reverse((key, index)));
            }
        }
        Ok(Self {
            levels,
            limits,
            runs,
            next,
            record: Vec::new(),
        })
    }

    fn next(&mut self) -> io::Result<Option<(Key, &[u8])>> {
        let Some(mut first) = self.next.peek_mut() else {
            return Ok(None);
        };
        let Reverse((key, index)) = *first;
        let (level, run) = &mut self.runs[index];
        let spill = &self.levels[*level].spill;
        run.record(spill, &mut self.record)?;
        match run.next_key(spill)? {
            Some(next) => first.0.0 = next,
            None => {
                PeekMut::pop(first);
            }
        }
        Ok(Some((key, &self.record)))
    }
}

#[cfg(test)]
mod tests;
