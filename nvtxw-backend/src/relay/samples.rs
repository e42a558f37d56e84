//! Samples of counters for another backend.

use std::borrow::Cow;
use std::sync::Arc;

use crate::call::{CounterBatchCall, CounterCall, Memory};
use crate::counter::{Counter, CounterKind};
use crate::data::Steps;
use crate::refusal::{Refusal, Result};
use crate::relay::RelayStream;
use crate::relay::copy::{Copied, is_aligned};
use crate::relay::moved::Moved;
use crate::relay::place::{Places, has_pointers};
use crate::rows;
use crate::schema::{Schema, Way};
use crate::write::times;

impl RelayStream {
    pub(super) fn sample(&self, call: &CounterCall<'_>, copies: &mut Vec<Copied>) -> Result<()> {
        let there = self.domain.counter(call.counter)?;
        let write = |bytes: &[u8]| self.onward.sample(self.handle, call.time, there, bytes);
        if let Some(counter) = self.domain.known.counter(call.counter)
            && let Some((schema, memory)) = self.moved_samples(&counter, || call.memory())?
        {
            self.check_samples(&counter, call.bytes.len(), true)?;
            return self.samples_with(schema, (call.bytes, true), &memory, copies, write);
        }
        write(self.samples(call.counter, call.bytes, true, copies)?)
    }

    /// What has to be moved along with samples of this counter.
    fn moved_samples<'c, 'm>(
        &self,
        counter: &'c Counter,
        memory: impl FnOnce() -> Option<Cow<'m, Memory>>,
    ) -> Result<Option<(&'c Arc<Schema>, Cow<'m, Memory>)>> {
        let Some(schema) = counter.schema().filter(|schema| has_pointers(schema)) else {
            return Ok(None);
        };
        let places = self.domain.places(schema.id()).map(|(_, places)| places);
        let is_walked = !matches!(places, Some(Places::None));
        let memory = self.moved(schema, is_walked, memory)?;
        Ok(memory.map(|memory| (schema, memory)))
    }

    pub(super) fn counter_batch(
        &self,
        call: &CounterBatchCall<'_>,
        copies: &mut Vec<Copied>,
    ) -> Result<()> {
        let there = self.domain.counter(call.counter)?;
        let mut times = Copied::default();
        let timestamps = call
            .timestamps
            .map(|own| match is_aligned(own, align_of::<i64>()) {
                true => own,
                false => {
                    times.set(own, 0);
                    times.bytes()
                }
            });
        let write = |bytes: &[u8]| {
            let there = CounterBatchCall {
                counter: there,
                bytes,
                timestamps,
                ..*call
            };
            self.onward.counter_batch(self.handle, &there)
        };
        if let Some(counter) = self.domain.known.counter(call.counter)
            && let Some((schema, memory)) = self.moved_samples(&counter, || call.memory())?
        {
            self.check_samples(&counter, call.bytes.len(), false)?;
            if self.is_instance() {
                let counter = (&*counter, schema);
                return self.sample_by_sample(counter, there, call, &memory, copies, write);
            }
            return self.samples_with(schema, (call.bytes, false), &memory, copies, write);
        }
        write(self.samples(call.counter, call.bytes, false, copies)?)
    }

    /// The bytes of samples for the other backend.
    fn samples<'c>(
        &self,
        counter: u64,
        bytes: &'c [u8],
        is_one: bool,
        copies: &'c mut Vec<Copied>,
    ) -> Result<&'c [u8]> {
        let Some(counter) = self.domain.known.counter(counter) else {
            return Ok(bytes);
        };
        self.check_samples(&counter, bytes.len(), is_one)?;
        let (schema, places) = match &counter.kind {
            CounterKind::Group(schema) => match self.domain.places(schema.id()) {
                Some((schema, places)) => (schema, places),
                None => return Ok(bytes),
            },
            CounterKind::Scalar(_) => match is_aligned(bytes, counter.sample_size()) {
                true => return Ok(bytes),
                false => {
                    copies.resize_with(copies.len().max(1), Copied::default);
                    copies[0].set(bytes, 0);
                    return Ok(copies[0].bytes());
                }
            },
        };
        if matches!(places, Places::None) && is_aligned(bytes, schema.align) && !self.is_strict() {
            return Ok(bytes);
        }
        let found = match (places, schema.plan.way) {
            (Places::None, Way::Settled) => Vec::new(),
            _ => {
                let steps = Steps::for_bytes(bytes.len(), false);
                (self.find_rows(schema, (bytes, is_one), None, &[], &steps)?).found()
            }
        };
        copies.resize_with(copies.len().max(1), Copied::default);
        let copy = &mut copies[0];
        copy.set(bytes, 0);
        let mut missing = None;
        for (address, reference) in found {
            let at = address.wrapping_sub(bytes.as_ptr().addr());
            if at < bytes.len() {
                copy.replace(at, |own| self.there(reference, own, &mut missing));
            }
        }
        if self.is_strict() && schema.plan.way != Way::Settled {
            // Entries may overlap, so that others have changed too.
            let steps = Steps::for_bytes(bytes.len(), false);
            self.find_rows(schema, (copy.bytes(), is_one), None, &[], &steps)?;
        }
        match missing {
            None => Ok(copy.bytes()),
            Some(refusal) => Err(refusal),
        }
    }

    fn check_samples(&self, counter: &Counter, size: usize, is_one: bool) -> Result<()> {
        if !self.is_strict() {
            return Ok(());
        }
        let sample = counter.sample_size();
        let is_right = match counter.is_dynamic() {
            true => true,
            false if is_one => size >= sample,
            false => size.is_multiple_of(sample.max(1)),
        };
        match is_right {
            true => Ok(()),
            false => Err(Refusal::invalid(format!(
                "{size} bytes are no samples of counter `{}`, of {sample} bytes each",
                counter.name()
            ))),
        }
    }

    /// Has `write` write the samples, or the only one, as the other backend is to get them.
    fn samples_with(
        &self,
        schema: &Arc<Schema>,
        (own, is_one): (&[u8], bool),
        memory: &Memory,
        copies: &mut Vec<Copied>,
        write: impl FnOnce(&[u8]) -> Result<()>,
    ) -> Result<()> {
        // A backend in the same program looks nowhere but in the sample.
        let home = if is_one && self.is_instance() { 0 } else { 1 };
        let moved = Moved::new(&[own], memory, home, copies)?;
        let find = |moved: &Moved<'_>| {
            let (bytes, behind) = moved.copy(0).split_at(own.len());
            let pieces = if home == 0 { behind } else { moved.copy(1) };
            let steps = Steps::for_bytes(bytes.len() + pieces.len(), true);
            self.find_rows(schema, (bytes, is_one), None, pieces, &steps)
        };
        let mut finder = find(&moved)?;
        if self.is_instance() {
            finder.rebase(moved.copies);
        }
        let found = finder.found();
        let mut missing = None;
        self.replace_found(&found, moved.copies, &mut missing);
        if self.is_strict() && !found.is_empty() {
            // Entries may overlap, so that pointers have changed too.
            find(&moved)?;
        }
        write(moved.copy(0)).and(missing.map_or(Ok(()), Err))
    }

    /// Writes the samples of a batch: one by one, each with what it points to, if that is not in the sample itself, for a backend
    /// in the same program looks nowhere else. `write` writes all at once.
    fn sample_by_sample(
        &self,
        (counter, schema): (&Counter, &Arc<Schema>),
        there: u64,
        call: &CounterBatchCall<'_>,
        memory: &Memory,
        copies: &mut Vec<Copied>,
        write: impl FnOnce(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let moved = Moved::new(&[call.bytes], memory, 0, copies)?;
        let around = moved.copy(0);
        let mut samples = Vec::new();
        let own = &around[..call.bytes.len()];
        let all = rows::each(schema, own, false, |bytes| {
            let (memory, end, at) = Memory::of_sample(bytes, around, self.known(), schema);
            let end = match end {
                Err(_) if !schema.is_dynamic() => bytes.len(),
                end => end?,
            };
            samples.push((&bytes[..end], memory, at));
            Ok(end)
        });
        if samples
            .iter()
            .all(|(_, memory, _)| memory.pieces.is_empty())
        {
            let own = (call.bytes, false);
            return self.samples_with(schema, own, memory, &mut Vec::new(), write);
        }
        let times = times(call.flags, call.timestamps, counter, samples.len())?;
        let mut copies = Vec::new();
        let mut written = Ok(());
        for (index, (bytes, memory, at)) in samples.iter().enumerate() {
            let time = times.at(index, bytes, Some(at.as_ref().unwrap_or(&schema.plan.at)));
            let one = time.and_then(|time| {
                self.samples_with(schema, (bytes, true), memory, &mut copies, |bytes| {
                    self.onward.sample(self.handle, time, there, bytes)
                })
            });
            written = written.and(one);
        }
        written.and(all)
    }
}
