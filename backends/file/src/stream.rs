//! A stream: from events to its timeline, and from there to the file.

use std::collections::HashMap;
use std::sync::Arc;

use nvtxw_backend::{
    Counter, CounterBatch, Event, EventKind, NoValueReason, Refusal, Result, ScopeRef, Stream,
    StreamInfo, Time,
};

use crate::counter::{self, Sample};
use crate::perfetto::{Encoder, Half, Number, Packets};
use crate::proto::FIELD_LIMIT;
use crate::session::Shared;
use crate::timeline::Timeline;

/// The most bytes that one event may take: what is around it has to fit into a packet too.
const EVENT_LIMIT: usize = FIELD_LIMIT / 4;

/// New texts are written before the window is, when they take so many bytes.
const TEXT_LIMIT: usize = 1 << 22;

/// A stream of a file.
pub struct FileStream {
    shared: Arc<Shared>,
    info: Arc<StreamInfo>,
    timeline: Timeline,
    encoder: Encoder,
    packets: Packets,
    /// The timeline's places, by scope.
    places: HashMap<u64, u32>,
    /// The one of them that was used last.
    last_place: Option<(u64, u32)>,
    counters: Vec<Tracked>,
    /// Indices of `counters`, by scope and counter.
    counter_indices: HashMap<(u64, u64), usize>,
    sample: Sample,
}

/// A counter that has tracks in this stream.
struct Tracked {
    /// The timeline's numbers, in the order of a sample's values.
    tracks: Vec<u32>,
    /// The values that were written last.
    last: Vec<Option<Number>>,
}

impl FileStream {
    pub(crate) fn new(shared: &Arc<Shared>, info: &Arc<StreamInfo>) -> Self {
        let number = shared.next_stream();
        let packets = Packets::new(Arc::clone(&shared.sink), Arc::clone(&shared.tracks), number);
        let mut stream = Self {
            shared: Arc::clone(shared),
            info: Arc::clone(info),
            timeline: Timeline::new(shared.limits),
            encoder: Encoder::default(),
            packets,
            places: HashMap::new(),
            last_place: None,
            counters: Vec::new(),
            counter_indices: HashMap::new(),
            sample: Sample::default(),
        };
        // Tracks come in the order in which streams are opened, whoever writes first.
        let scope = info.scope();
        stream.place(scope.id(), || scope);
        stream
    }

    /// The timeline's number of the place that a scope is.
    fn place(&mut self, id: u64, scope: impl FnOnce() -> ScopeRef) -> u32 {
        if let Some((last, place)) = self.last_place
            && last == id
        {
            return place;
        }
        let place = *self.places.entry(id).or_insert_with(|| {
            let track = self.shared.tracks.place(&self.info, &scope());
            self.packets.add_place(track);
            self.timeline.add_place()
        });
        self.last_place = Some((id, place));
        place
    }

    fn event(&mut self, event: &Event<'_>) -> Result<()> {
        let place = self.place(event.scope_id(), || event.scope());
        let base = &self.shared.base;
        match (event.kind(), event.time()) {
            (kind, Time::Range { start, end }) => {
                base.admit(start)?;
                base.admit(end)?;
                let fields = first(&mut self.encoder, event, &self.info)?;
                let nests = kind == EventKind::RangePushPop;
                self.timeline.range(place, start, end, nests, fields);
            }
            (EventKind::RangePush, Time::Point(time)) => {
                base.admit(time)?;
                let fields = first(&mut self.encoder, event, &self.info)?;
                self.timeline.push(place, time, fields);
            }
            (EventKind::RangePop, Time::Point(time)) => {
                base.admit(time)?;
                let Some(push) = self.timeline.last_push(place) else {
                    self.timeline.tally.pop_without_push += 1;
                    return Err(Refusal::invalid(format!(
                        "range_pop at {time}: no push of this stream and scope is open, so there \
                         is nothing to end"
                    )));
                };
                check_order("range_pop", time, push.start)?;
                let half = push.fields.map_or(Half::Alone, Half::Second);
                let fields = encode(&mut self.encoder, event, &self.info, half)?;
                self.timeline.pop(place, time, fields);
            }
            (EventKind::RangeStart, Time::Point(time)) => {
                base.admit(time)?;
                let id = range_id(event)?;
                if let Some(open) = self.timeline.started(id) {
                    return Err(Refusal::invalid(format!(
                        "range_start at {time}: the range {id} was started at {} and has not \
                         ended; ranges that are open at once need different IDs",
                        open.start
                    )));
                }
                let fields = first(&mut self.encoder, event, &self.info)?;
                self.timeline.start(place, time, id, fields);
            }
            (EventKind::RangeEnd, Time::Point(time)) => {
                base.admit(time)?;
                let id = range_id(event)?;
                let Some(start) = self.timeline.started(id) else {
                    self.timeline.tally.end_without_start += 1;
                    return Err(Refusal::invalid(format!(
                        "range_end at {time}: no range {id} was started in this stream, so there \
                         is nothing to end"
                    )));
                };
                check_order("range_end", time, start.start)?;
                let half = start.fields.map_or(Half::Alone, Half::Second);
                let fields = encode(&mut self.encoder, event, &self.info, half)?;
                self.timeline.end(id, time, fields);
            }
            // Whole ranges come as such, so that this is a mark.
            (_, Time::Point(time)) => {
                base.admit(time)?;
                let fields = first(&mut self.encoder, event, &self.info)?;
                self.timeline.instant(place, time, fields);
            }
        }
        Ok(())
    }

    /// The index of a counter's tracks in a scope.
    fn tracked(&mut self, counter: &Counter, scope: &ScopeRef) -> usize {
        let key = (scope.id(), counter.id());
        if let Some(&index) = self.counter_indices.get(&key) {
            return index;
        }
        let shared = &self.shared.tracks;
        let parent = shared.counter_place(&self.info, scope);
        let tracks: Vec<_> = counter::tracks(counter, parent, shared)
            .into_iter()
            .map(|track| self.packets.add_counter(track))
            .collect();
        let last = vec![None; tracks.len()];
        self.counters.push(Tracked { tracks, last });
        self.counter_indices.insert(key, self.counters.len() - 1);
        self.counters.len() - 1
    }

    fn flush_if_full(&mut self) -> Result<()> {
        if self.timeline.is_full() {
            let base = self.shared.decide_base();
            self.packets.begin(&mut self.encoder.texts.new);
            self.timeline.flush(base, &mut self.packets);
            self.packets.send()?;
        }
        if self.encoder.texts.new.len() >= TEXT_LIMIT {
            self.packets.begin(&mut self.encoder.texts.new);
            self.packets.send()?;
        }
        Ok(())
    }

    fn refused(&mut self, refusal: Refusal) -> Refusal {
        self.timeline.tally.refused += 1;
        refusal
    }
}

impl Stream for FileStream {
    fn write_event(&mut self, event: &Event<'_>) -> Result<()> {
        self.event(event).map_err(|refusal| self.refused(refusal))?;
        self.flush_if_full()
    }

    fn write_counters(&mut self, samples: &CounterBatch<'_>) -> Result<()> {
        let mut result = Ok(());
        let index = self.tracked(samples.counter(), &samples.scope());
        for sample in samples.samples() {
            let time = sample.time();
            if let Err(refusal) = self.shared.base.admit(time) {
                result = result.and(Err(self.refused(refusal)));
                continue;
            }
            self.sample.clear();
            sample.visit(&mut self.sample);
            let Tracked { tracks, last } = &mut self.counters[index];
            for ((&value, &mut track), last) in self.sample.values.iter().zip(tracks).zip(last) {
                *last = Some(value);
                self.timeline.value(track, time, self.encoder.value(value));
            }
            result = result.and(self.flush_if_full());
        }
        result
    }

    fn write_no_value(
        &mut self,
        counter: &Arc<Counter>,
        time: i64,
        reason: NoValueReason,
    ) -> Result<()> {
        if let Err(refusal) = self.shared.base.admit(time) {
            return Err(self.refused(refusal));
        }
        let scope = match counter.scope() {
            ScopeRef::None => self.info.scope(),
            scope => scope,
        };
        let index = self.tracked(counter, &scope);
        let Tracked { tracks, last } = &mut self.counters[index];
        for (&mut track, last) in tracks.iter_mut().zip(last) {
            let value = match reason {
                NoValueReason::Zero => *last.insert(Number::Int(0)),
                NoValueReason::Unavailable => Number::Float(f64::NAN),
                NoValueReason::Unchanged => match *last {
                    Some(value) => value,
                    None => continue,
                },
            };
            self.timeline.value(track, time, self.encoder.value(value));
        }
        self.flush_if_full()
    }

    fn close(&mut self) -> Result<()> {
        let mut base = 0;
        if !self.timeline.is_empty() {
            base = self.shared.decide_base();
            self.packets.begin(&mut self.encoder.texts.new);
            self.timeline.finish(base, &mut self.packets);
        }
        let sent = self.packets.send();
        let tally = self.timeline.tally;
        self.shared.add(tally, self.packets.lost());
        sent?;
        match tally.outside_base {
            0 => Ok(()),
            count => Err(Refusal::failed(outside_base(count, base))),
        }
    }
}

/// The reason why events were dropped that came before the base was decided.
pub(crate) fn outside_base(count: u64, base: i64) -> String {
    format!(
        "{count} events came before the first flush decided the time base {base}, and don't fit \
         it (it holds {base} to {}): set the session's `base` key to the smallest timestamp",
        base.saturating_add(i64::MAX)
    )
}

/// The fields of an event that is not the end of one before.
fn first<'e>(encoder: &'e mut Encoder, event: &Event<'_>, info: &StreamInfo) -> Result<&'e [u8]> {
    encode(encoder, event, info, Half::First)
}

fn encode<'e>(
    encoder: &'e mut Encoder,
    event: &Event<'_>,
    info: &StreamInfo,
    half: Half<'_>,
) -> Result<&'e [u8]> {
    let fields = encoder.event(event, info.domain(), half);
    if fields.len() > EVENT_LIMIT {
        return Err(Refusal::invalid(format!(
            "the event takes {} bytes in the file; readers skip such long ones: {EVENT_LIMIT} is \
             the most",
            fields.len()
        )));
    }
    Ok(fields)
}

fn check_order(what: &str, time: i64, start: i64) -> Result<()> {
    if time < start {
        return Err(Refusal::invalid(format!(
            "{what} at {time}: the range started later, at {start}; it stays open"
        )));
    }
    Ok(())
}

fn range_id(event: &Event<'_>) -> Result<u64> {
    event.range_id().ok_or_else(|| {
        Refusal::invalid(format!(
            "a {} without a range ID can't be joined with its other half",
            event.kind().name()
        ))
    })
}
