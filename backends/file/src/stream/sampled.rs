//! The counters of a stream: from samples to its timeline.

use std::slice;
use std::sync::Arc;

use nvtxw_backend::{Counter, CounterBatch, CounterSample, NoValueReason, Result, ScopeRef};

use super::StreamIn;
use crate::counter::{self, Meaning, Naming};
use crate::format::{Format, FormatStream, Number};
use crate::plain::Load;
use crate::timeline::{Content, On};
use crate::track::{TrackId, Tracks};

/// A counter, or a group, that is sampled in a scope.
pub(super) struct Sampled {
    /// Its values in the order of a sample, or of their names.
    values: Vec<Tracked>,
    /// Where a sample has them, if they are plain numbers.
    places: Option<Vec<(Load, usize)>>,
    /// Where samples differ.
    naming: Option<Naming>,
    /// Whether the values of a sample come together, one for each track.
    are_joint: bool,
}

/// A counter's values in this stream.
struct Tracked {
    /// The timeline's number.
    track: u32,
    id: TrackId,
    meaning: Meaning,
    /// The value that was written last.
    last: Option<Number>,
}

impl Tracked {
    /// Takes the next value of a sample. Returns what it is on the track.
    #[inline]
    fn take(&mut self, value: Number) -> Number {
        *self.last.insert(self.meaning.apply(value))
    }
}

impl<F: Format> StreamIn<F> {
    /// The index of a counter's tracks in a scope.
    fn tracked(&mut self, counter: &Counter, scope: &ScopeRef) -> usize {
        let key = (scope.id(), counter.id());
        let index = match self.counter_indices.get(&key) {
            Some(&index) => index,
            None => self.add_counter(counter, scope),
        };
        self.last_counter = Some((key, index));
        index
    }

    fn add_counter(&mut self, counter: &Counter, scope: &ScopeRef) -> usize {
        let shared = &self.shared.tracks;
        let parent = shared.counter_place(&self.info, scope);
        let domain = self.info.domain().index();
        let tracks = counter::tracks(counter, domain, parent, self.number, shared);
        let values = self.add_tracks(&tracks, scope);
        let places = counter::places(counter);
        let is_delta = |tracked: &Tracked| tracked.meaning.is_delta;
        let are_all = (places.as_ref()).is_some_and(|places| places.len() == values.len());
        self.counters.push(Sampled {
            // Sums are looked after one by one.
            are_joint: are_all && !values.iter().any(is_delta),
            values,
            places,
            naming: counter::differs(counter).then(Naming::default),
        });
        let index = self.counters.len() - 1;
        let key = (scope.id(), counter.id());
        self.counter_indices.insert(key, index);
        index
    }

    /// Gathers the values of a sample of the counter with this index. New names get tracks.
    #[inline]
    fn gather(&mut self, sample: &CounterSample<'_>, counter: &Counter, index: usize) {
        let sampled = &mut self.counters[index];
        if let Some(places) = &sampled.places {
            let values = places.iter().zip(&mut sampled.values);
            let values = values.map(|((load, at), tracked)| {
                tracked.take(Number::of(load.read(sample.bytes(), *at)))
            });
            self.sample.values.clear();
            self.sample.values.extend(values);
            return;
        }
        self.sample.naming = sampled.naming.take();
        self.sample.clear();
        sample.visit(&mut self.sample);
        let fresh = self.sample.naming.as_mut().map(Naming::take_fresh);
        for named in fresh.into_iter().flatten() {
            let (scope, shared) = (sample.scope(), &self.shared.tracks);
            let parent = shared.counter_place(&self.info, &scope);
            let domain = self.info.domain().index();
            let track = counter::named_track(named, counter, domain, parent, self.number, shared);
            let tracked = self.add_tracks(&[track], &scope);
            self.counters[index].values.extend(tracked);
        }
        for at in 0..self.sample.values.len() {
            let number = self.sample.number(at);
            if let Some(tracked) = self.counters[index].values.get_mut(number) {
                self.sample.values[at] = tracked.take(self.sample.values[at]);
            }
        }
    }

    /// Tracks of values that come together.
    fn add_tracks(&mut self, tracks: &[(TrackId, Meaning)], scope: &ScopeRef) -> Vec<Tracked> {
        let ids: Vec<_> = tracks.iter().map(|(track, _)| *track).collect();
        let first = self.out.add_counters(&ids, scope);
        let tracked: Vec<_> = tracks
            .iter()
            .zip(first..)
            .map(|(&(id, meaning), track)| Tracked {
                track,
                id,
                meaning,
                last: None,
            })
            .collect();
        for tracked in tracked.iter().filter(|tracked| tracked.meaning.is_delta) {
            self.timeline.add_sum(tracked.track);
        }
        tracked
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
        for sample in samples.samples() {
            let time = match self.clocks.nanoseconds(clock, sample.time()) {
                Ok(time) => time,
                Err(refusal) => {
                    result = result.and(Err(self.refused(refusal)));
                    continue;
                }
            };
            let key = (sample.scope_id(), samples.counter().id());
            let index = match self.last_counter {
                Some((last, index)) if last == key => index,
                _ => self.tracked(samples.counter(), &sample.scope()),
            };
            if let Err(refusal) = self.out.admit(time) {
                result = result.and(Err(self.refused(refusal)));
                continue;
            }
            self.gather(&sample, samples.counter(), index);
            self.arrives(index, time);
            self.add_values(index, time, &sample);
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

    /// Adds the values that were gathered of the counter with this index.
    #[inline]
    fn add_values(&mut self, index: usize, time: i64, sample: &CounterSample<'_>) {
        let (sampled, values) = (&self.counters[index], &self.sample.values);
        if sampled.are_joint
            && values.iter().all(|value| value.is_finite())
            && let Some(Tracked { track, .. }) = sampled.values.first()
            && let buffer = self.timeline.buffer()
            && let Some(base) = self.out.make_values(values, time, *track, buffer)
        {
            self.timeline.value(*track, time, Content::Ready(base));
            return;
        }
        self.add_each(index, time, sample);
    }

    /// The same one by one.
    fn add_each(&mut self, index: usize, time: i64, sample: &CounterSample<'_>) {
        for at in 0..self.sample.values.len() {
            let (value, number) = (self.sample.values[at], self.sample.number(at));
            let Some(&Tracked { track, id, .. }) = self.counters[index].values.get(number) else {
                continue;
            };
            if !value.is_finite()
                && self.mark(&sample.scope(), time, |tracks| {
                    not_finite(id, value, tracks)
                })
            {
                continue;
            }
            let (value, buffer) = (slice::from_ref(&value), self.timeline.buffer());
            let content = match self.out.make_values(value, time, track, buffer) {
                Some(base) => Content::Ready(base),
                None => {
                    self.fields.clear();
                    self.out.value(Some(value[0]), &mut self.fields);
                    Content::Fields(self.fields.as_bytes())
                }
            };
            self.timeline.value(track, time, content);
        }
    }

    /// Marks where a counter has no value that viewers can draw, by an instant of this name in its scope. `false`, and there is
    /// no mark, if the format has such values.
    #[cold]
    fn mark(&mut self, scope: &ScopeRef, time: i64, name: impl FnOnce(&Tracks) -> String) -> bool {
        self.fields.clear();
        let tracks = Arc::clone(&self.shared.tracks);
        let is_marked = (self.out).counter_mark(|| name(&tracks), &mut self.fields);
        if is_marked {
            let place = self.place(scope.id(), || scope.clone());
            (self.timeline).counter_mark(place, time, self.fields.as_bytes());
        }
        is_marked
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
        if reason != NoValueReason::Unavailable
            || !self.mark(&scope, time, |_| format!("{}: unavailable", counter.name()))
        {
            self.add_without_value(index, time, reason, &scope);
        }
        self.tell_breaks("CounterNoValueWrite");
        self.flush_if_full()
    }

    /// Adds what the tracks of the counter with this index get for a sample without a value.
    fn add_without_value(
        &mut self,
        index: usize,
        time: i64,
        reason: NoValueReason,
        scope: &ScopeRef,
    ) {
        for at in 0..self.counters[index].values.len() {
            let tracked = &mut self.counters[index].values[at];
            let value = match reason {
                NoValueReason::Zero => Some(*tracked.last.insert(Number::Int(0))),
                // No sum could leave a gap behind.
                NoValueReason::Unavailable if tracked.meaning.is_delta => continue,
                NoValueReason::Unavailable => None,
                NoValueReason::Unchanged if tracked.last.is_none() => continue,
                NoValueReason::Unchanged => tracked.last,
            };
            let (track, id) = (tracked.track, tracked.id);
            if let Some(value) = value
                && !value.is_finite()
                && self.mark(scope, time, |tracks| not_finite(id, value, tracks))
            {
                continue;
            }
            self.fields.clear();
            self.out.value(value, &mut self.fields);
            let content = Content::Fields(self.fields.as_bytes());
            self.timeline.value(track, time, content);
        }
    }
}

/// The name of the mark for a counter's value that is no finite number.
fn not_finite(counter: TrackId, value: Number, tracks: &Tracks) -> String {
    let word = match value.as_f64() {
        value if value.is_nan() => "NaN",
        value if value > 0.0 => "+Inf",
        _ => "-Inf",
    };
    format!("{}: {word}", tracks.counter_name(counter))
}
