//! The counters of a stream: from samples to its timeline.

use nvtxw_backend::{Counter, CounterBatch, CounterSample, NoValueReason, Result, ScopeRef};

use super::StreamIn;
use crate::counter::{self, Meaning, Naming};
use crate::format::{Format, FormatStream, Number};
use crate::plain::Load;
use crate::timeline::{Content, On};
use crate::track::TrackId;

/// A counter, or a group, that is sampled in a scope.
pub(super) struct Sampled {
    /// Its values in the order of a sample, or of their names.
    values: Vec<Tracked>,
    /// Where a sample has them, if they are plain numbers.
    places: Option<Vec<(Load, usize)>>,
    /// Where samples differ.
    naming: Option<Naming>,
}

/// A counter's values in this stream.
struct Tracked {
    /// The timeline's number.
    track: u32,
    meaning: Meaning,
    /// The value that was written last.
    last: Option<Number>,
}

impl<F: Format> StreamIn<F> {
    /// The index of a counter's tracks in a scope.
    fn tracked(&mut self, counter: &Counter, scope: &ScopeRef) -> usize {
        let key = (scope.id(), counter.id());
        if let Some(&index) = self.counter_indices.get(&key) {
            return index;
        }
        let shared = &self.shared.tracks;
        let parent = shared.counter_place(&self.info, scope);
        let tracks = counter::tracks(counter, parent, self.number, shared).into_iter();
        let tracked = tracks.map(|(track, meaning)| self.add_track(track, meaning, scope));
        let values = tracked.collect();
        self.counters.push(Sampled {
            values,
            places: counter::places(counter),
            naming: counter::differs(counter).then(Naming::default),
        });
        self.counter_indices.insert(key, self.counters.len() - 1);
        self.counters.len() - 1
    }

    /// Gathers the values of a sample of the counter with this index. New names get tracks.
    fn gather(&mut self, sample: &CounterSample<'_>, counter: &Counter, index: usize) {
        let sampled = &mut self.counters[index];
        if let Some(places) = &sampled.places {
            self.sample.read(sample.bytes(), places);
            return;
        }
        self.sample.naming = sampled.naming.take();
        self.sample.clear();
        sample.visit(&mut self.sample);
        let Some(naming) = &mut self.sample.naming else {
            return;
        };
        for named in naming.take_fresh() {
            let (scope, shared) = (sample.scope(), &self.shared.tracks);
            let parent = shared.counter_place(&self.info, &scope);
            let (track, meaning) =
                counter::named_track(named, counter, parent, self.number, shared);
            let tracked = self.add_track(track, meaning, &scope);
            self.counters[index].values.push(tracked);
        }
    }

    fn add_track(&mut self, track: TrackId, meaning: Meaning, scope: &ScopeRef) -> Tracked {
        let track = self.out.add_counter(track, scope);
        if meaning.is_delta {
            self.timeline.add_sum(track);
        }
        Tracked {
            track,
            meaning,
            last: None,
        }
    }

    pub(super) fn samples(&mut self, samples: &CounterBatch<'_>) -> Result<()> {
        let mut result = Ok(());
        self.refresh();
        let number = self
            .clocks
            .number(self.info.domain(), samples.time_domain());
        let clock = number.map_err(|refusal| self.refused(refusal))?;
        self.timeline.clocks = [clock; 2];
        if !samples.is_single() {
            self.timeline.begin_batch(samples.ordering());
        }
        // Samples of one batch mostly belong to one scope.
        let mut last_scope = None;
        for sample in samples.samples() {
            let time = match self.clocks.nanoseconds(clock, sample.time()) {
                Ok(time) => time,
                Err(refusal) => {
                    result = result.and(Err(self.refused(refusal)));
                    continue;
                }
            };
            let index = match last_scope {
                Some((scope, index)) if scope == sample.scope_id() => index,
                _ => self.tracked(samples.counter(), &sample.scope()),
            };
            last_scope = Some((sample.scope_id(), index));
            if let Err(refusal) = self.out.admit(time) {
                result = result.and(Err(self.refused(refusal)));
                continue;
            }
            self.gather(&sample, samples.counter(), index);
            self.arrives(index, time);
            for (at, value) in self.sample.values.iter().enumerate() {
                let number = self.sample.number(at);
                let Some(tracked) = self.counters[index].values.get_mut(number) else {
                    continue;
                };
                let (track, value) = (tracked.track, tracked.meaning.apply(*value));
                tracked.last = Some(value);
                let buffer = self.timeline.buffer();
                let content = match self.out.make_value(value, time, track, buffer) {
                    Some(base) => Content::Ready(base),
                    None => {
                        self.fields.clear();
                        self.out.value(Some(value), &mut self.fields);
                        Content::Fields(self.fields.as_bytes())
                    }
                };
                self.timeline.value(track, time, content);
            }
            if self.sample.naming.is_some() {
                self.counters[index].naming = self.sample.naming.take();
            }
            result = result.and(self.flush_if_full());
        }
        if !samples.is_single() {
            self.timeline.end_batch();
        }
        self.tell_breaks("CounterBatchWrite");
        result
    }

    /// A sample of the counter with this index comes.
    fn arrives(&mut self, index: usize, time: i64) {
        // All of its values have one scope.
        if let Some(tracked) = self.counters[index].values.first() {
            self.timeline
                .arrives(On::Counter(tracked.track), time, time);
        }
    }

    pub(super) fn no_value(
        &mut self,
        counter: &Counter,
        time: i64,
        reason: NoValueReason,
    ) -> Result<()> {
        let time_domain = counter.time_domain().unwrap_or(self.info.time_domain());
        self.refresh();
        let number = self.clocks.number(self.info.domain(), time_domain);
        let time = number.and_then(|clock| {
            self.timeline.clocks = [clock; 2];
            self.clocks.nanoseconds(clock, time)
        });
        let admitted = time.and_then(|time| self.out.admit(time).map(|()| time));
        let time = admitted.map_err(|refusal| self.refused(refusal))?;
        let scope = counter.scope_in(&self.info);
        let index = self.tracked(counter, &scope);
        self.arrives(index, time);
        for tracked in &mut self.counters[index].values {
            let value = match reason {
                NoValueReason::Zero => Some(*tracked.last.insert(Number::Int(0))),
                // No sum could leave a gap behind.
                NoValueReason::Unavailable if tracked.meaning.is_delta => continue,
                NoValueReason::Unavailable => None,
                NoValueReason::Unchanged if tracked.last.is_none() => continue,
                NoValueReason::Unchanged => tracked.last,
            };
            let track = tracked.track;
            self.fields.clear();
            self.out.value(value, &mut self.fields);
            let content = Content::Fields(self.fields.as_bytes());
            self.timeline.value(track, time, content);
        }
        self.tell_breaks("CounterNoValueWrite");
        self.flush_if_full()
    }
}
