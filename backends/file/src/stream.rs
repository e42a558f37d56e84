//! A stream: from events to its timeline, and from there to the file.

mod any;
mod half;
mod lingering;
mod order;
mod place;
mod sampled;
mod usual;

use std::mem;
use std::sync::Arc;

use nvtxw_backend::{
    Counter, CounterBatch, Event, EventBatch, EventKind, NoValueReason, PlainEvent, Refusal,
    Result, Schema, Stream, StreamInfo, Time, TimeRelation,
};

pub(crate) use self::any::{AnyStream, FileStream};
pub(crate) use self::lingering::{Lingering, WriterId};
use self::place::OsId;
use self::sampled::Sampled;
use self::usual::{Usual, Usually};
use crate::clock::{ClockReader, Past};
use crate::counter::Sample;
use crate::flusher::Flush;
use crate::format::{Format, FormatStream, Half};
use crate::ids::IdMap;
use crate::proto::{FIELD_LIMIT, Writer};
use crate::ranges::Mailbox;
use crate::session::{Closed, Shared, with_cost};
use crate::timeline::{Chain, Claim, Content, First, Followed, Timeline, Written};
use crate::track::TrackId;

/// The most bytes that one event may take: what is around it has to fit into a packet too.
const EVENT_LIMIT: usize = FIELD_LIMIT / 4;

/// New texts are written before the window is, when they take so many bytes.
const TEXT_LIMIT: usize = 1 << 22;

/// A stream in one format.
pub(crate) struct StreamIn<F: Format> {
    shared: Arc<Shared<F>>,
    info: Arc<StreamInfo>,
    /// Among the streams of the session, from 0.
    number: u32,
    mailbox: Arc<Mailbox>,
    timeline: Timeline,
    out: F::Stream,
    /// The fields of an event that can't be ready when it comes.
    fields: Writer,
    /// The timeline's places, by scope.
    places: IdMap<u64, u32>,
    /// The one of them that was used last.
    last_place: Option<(u64, u32)>,
    /// Those of processes and threads that events name.
    os_places: IdMap<OsId, u32>,
    /// The first place on each track.
    track_places: IdMap<TrackId, u32>,
    /// Which ranges and marks were usual lately, by what is known of clocks now: first those that were so last.
    usuals: Vec<Usual>,
    /// That of the last usual range, for as long as nothing else comes to the timeline.
    chain: Option<Chain>,
    clocks: ClockReader,
    /// What was written with times by clocks of which more is known by now.
    history: Vec<(Past, Written)>,
    /// The clocks of starts and of ends behind each mark in the output, as they were known then, by its
    /// number. The first one is that of what is before all marks.
    marks: Vec<[Past; 2]>,
    /// For formats without marks, while there is only one clock: as it was known in each epoch of what
    /// was written.
    epochs: Vec<Past>,
    /// Counters and groups in a scope.
    counters: Vec<Sampled>,
    /// Indices of `counters`, by scope and counter.
    counter_indices: IdMap<(u64, u64), usize>,
    /// The one of them that was used last.
    last_counter: Option<((u64, u64), usize)>,
    sample: Sample,
    /// The thread that last wrote a full window.
    writer: Option<WriterId>,
}

impl<F: Format> StreamIn<F> {
    /// `number` counts the streams from 0.
    pub(crate) fn new(shared: &Arc<Shared<F>>, info: &Arc<StreamInfo>, number: u32) -> Self {
        let mut stream = Self {
            shared: Arc::clone(shared),
            info: Arc::clone(info),
            number,
            mailbox: Arc::new(Mailbox::new(info)),
            timeline: Timeline::within(shared.limits, &shared.budget),
            out: shared.format.open_stream(info, &shared.tracks, number),
            fields: Writer::default(),
            places: IdMap::default(),
            last_place: None,
            os_places: IdMap::default(),
            track_places: IdMap::default(),
            usuals: Vec::new(),
            chain: None,
            clocks: ClockReader::new(Arc::clone(&shared.clocks)),
            history: Vec::new(),
            marks: Vec::new(),
            epochs: Vec::new(),
            counters: Vec::new(),
            counter_indices: IdMap::default(),
            last_counter: None,
            sample: Sample::default(),
            writer: None,
        };
        if let Some(claim) = Claim::of(info) {
            stream.timeline.claim(claim);
        }
        // Tracks come in the order in which streams are opened, whoever writes first.
        let track = shared.tracks.default_place(info, number);
        let place = stream.add_place(track, &info.scope());
        stream.places.insert(info.scope().id(), place);
        stream
    }

    /// The numbers of the clocks of an event's start and end.
    #[inline]
    fn event_clocks(&mut self, start: u64, end: u64) -> Result<[u8; 2]> {
        let domain = self.info.domain();
        let start = self.clocks.number(domain, start)?;
        Ok([start, self.clocks.number(domain, end)?])
    }

    #[inline]
    fn are_nanoseconds(&self, clocks: [u8; 2]) -> bool {
        clocks
            .into_iter()
            .all(|clock| self.clocks.is_identity(clock))
    }

    #[inline]
    fn event(&mut self, event: &Event<'_>) -> Result<()> {
        match self.usual_event(event) {
            true => Ok(()),
            false => self.any_event(event),
        }
    }

    fn any_event(&mut self, event: &Event<'_>) -> Result<()> {
        self.chain = None;
        let names_other = event.process_id().or(event.thread_id()).is_some();
        let place = match names_other {
            false => self.place(event.scope_id(), || event.scope()),
            true => self.os_place(event),
        };
        let clocks = self.event_clocks(event.time_domain(), event.end_time_domain())?;
        self.timeline.clocks = clocks;
        let are_nanoseconds = self.are_nanoseconds(clocks);
        let time = match are_nanoseconds {
            true => event.time(),
            false => self.clocks.time(clocks, event.time())?,
        };
        let kind = event.kind();
        let is_whole = kind == EventKind::Mark || matches!(time, Time::Range { .. });
        if is_whole && !names_other && (are_nanoseconds || clocks[0] == clocks[1]) {
            let usual = Usual {
                schema: event.schema().id(),
                scope: event.scope_id(),
                place,
                clocks,
                are_nanoseconds,
                kind,
            };
            if self.note_usual(usual) && self.usual_event(event) {
                return Ok(());
            }
        }
        match (kind, time) {
            (kind, Time::Range { start, end }) => {
                let nests = kind == EventKind::RangePushPop;
                self.out.admit(start)?;
                self.out.admit(end)?;
                let content = whole(
                    &mut self.out,
                    &mut self.timeline,
                    &mut self.fields,
                    event,
                    time,
                    place,
                )?;
                self.timeline.range(place, start, end, nests, content);
            }
            (EventKind::Mark, Time::Point(at)) => {
                self.out.admit(at)?;
                let content = whole(
                    &mut self.out,
                    &mut self.timeline,
                    &mut self.fields,
                    event,
                    time,
                    place,
                )?;
                self.timeline.instant(place, at, content);
            }
            (kind, Time::Point(time)) => self.half(event, kind, place, time)?,
        }
        Ok(())
    }

    #[inline]
    fn single(&mut self, event: &Event<'_>) -> Result<()> {
        self.refresh();
        if let Err(refusal) = self.event(event) {
            return Err(self.refused(refusal));
        }
        self.flush_if_full()
    }

    #[inline]
    fn flush_if_full(&mut self) -> Result<()> {
        if self.timeline.is_full() || self.out.pending() >= TEXT_LIMIT {
            self.flush()
        } else {
            Ok(())
        }
    }

    #[cold]
    fn flush(&mut self) -> Result<()> {
        self.chain = None;
        if !self.timeline.make_room() {
            self.take_mail();
            self.retime();
            if self.timeline.must_write() {
                self.writer = Some(WriterId::current());
                self.timeline.flush(self.out.begin());
                self.note_marks();
                self.share_memory();
                self.out.send()?;
            }
        }
        if self.out.pending() >= TEXT_LIMIT {
            self.out.send_pending()?;
        }
        Ok(())
    }

    fn share_memory(&mut self) {
        if self.timeline.share_memory() {
            self.out.shrink();
        }
    }

    /// Learns what is known of clocks by now.
    #[inline]
    fn refresh(&mut self) {
        if self.clocks.is_outdated() {
            self.learn();
        }
    }

    #[cold]
    fn learn(&mut self) {
        self.usuals.clear();
        self.chain = None;
        let epoch = self.clocks.epoch();
        for (clock, past) in self.clocks.read_anew() {
            self.history.push((past, self.timeline.take_written(clock)));
        }
        if self.clocks.epoch() != epoch {
            self.timeline.begin_epoch(self.clocks.epoch());
        }
    }

    /// Gives all events in the window the times that are known now.
    fn retime(&mut self) {
        self.refresh();
        self.shared.note_dates();
        self.timeline.is_precise = self.clocks.must_be_precise();
        let is_first = self.marks.is_empty();
        if self.clocks.has_past() {
            let Self { clocks, out, .. } = self;
            self.timeline
                .retime(|epoch, clock, time| admitted(out, clocks.moved(epoch, clock, time)));
            if !is_first {
                out.begin_epoch(|time| clocks.moved_from_first(time));
                self.epochs.extend(clocks.only());
                self.timeline.forget_marks();
            }
            self.clocks.forget_past();
        }
        if is_first {
            self.epochs.extend(self.clocks.only());
            // Until the first mark.
            let clock = || self.clocks.present(0);
            self.marks
                .extend(clock().zip(clock()).map(<[Past; 2]>::from));
        }
    }

    /// Gives a range that is open the start that is known now.
    fn retime_first(&mut self, first: First) {
        if self.clocks.has_past() {
            let Self { clocks, out, .. } = self;
            self.timeline.retime_first(first, |epoch, clock, time| {
                admitted(out, clocks.moved(epoch, clock, time))
            });
        }
    }

    /// Notes what the marks mean that were written.
    fn note_marks(&mut self) {
        for [start, end] in self.timeline.take_marks() {
            let clocks = self.clocks.present(start).zip(self.clocks.present(end));
            self.marks.extend(clocks.map(<[Past; 2]>::from));
        }
    }

    #[cold]
    fn refused(&mut self, refusal: Refusal) -> Refusal {
        self.timeline.tally.refused += 1;
        refusal
    }
}

impl<F: Format> Stream for StreamIn<F> {
    #[inline(always)]
    fn take_plain(
        &mut self,
        schema: &Arc<Schema>,
        scope: u64,
        event: &PlainEvent<'_>,
    ) -> Option<Result<()>> {
        self.refresh();
        let followed = self.usual_range(schema, scope, event.bytes(), event.text(), &[])?;
        if followed == Followed::Yes && self.out.pending() < TEXT_LIMIT {
            return Some(Ok(()));
        }
        let written = self.flush_if_full();
        self.tell_breaks("EventWrite");
        Some(written)
    }

    #[inline]
    fn write_event(&mut self, event: &Event<'_>) -> Result<()> {
        let written = self.single(event);
        self.tell_breaks("EventWrite");
        written
    }

    fn write_batch(&mut self, batch: &EventBatch<'_>) -> Result<()> {
        self.chain = None;
        self.timeline.begin_batch(batch.ordering());
        let mut result = Ok(());
        let mut keep = |written: Result<()>| {
            if result.is_ok() {
                result = written;
            }
        };
        match batch.plain_events().zip(batch.scope_id()) {
            None => batch.for_each(|event| keep(self.single(event))),
            Some((mut events, scope)) => {
                let mut usually = Usually::Next;
                self.refresh();
                while !events.is_empty() {
                    if usually != Usually::Never {
                        usually = self.usual_ranges(batch.schema(), &mut events, scope);
                        keep(self.flush_if_full());
                        keep(self.out.catch_up());
                    }
                    if usually == Usually::Next {
                        continue;
                    }
                    if let Some(event) = events.read() {
                        keep(self.single(&event));
                    }
                }
            }
        }
        keep(self.out.catch_up());
        self.timeline.end_batch();
        self.tell_breaks("EventBatchWrite");
        result
    }

    fn write_counters(&mut self, samples: &CounterBatch<'_>) -> Result<()> {
        self.chain = None;
        self.samples(samples)
    }

    fn write_no_value(
        &mut self,
        counter: &Arc<Counter>,
        time: i64,
        reason: NoValueReason,
    ) -> Result<()> {
        self.chain = None;
        self.no_value(counter, time, reason)
    }

    fn write_relation(&mut self, relation: &TimeRelation<'_>) -> Result<()> {
        let contradictions = &mut self.timeline.tally.contradicting_relations;
        (self.shared.clocks).relate(self.info.domain(), relation, contradictions)
    }

    fn close(&mut self) -> Result<()> {
        self.chain = None;
        self.take_mail();
        if !self.timeline.is_empty() {
            self.retime();
            self.timeline.finish(self.out.begin());
            self.note_marks();
        }
        for (clock, past) in self.clocks.all() {
            self.history.push((past, self.timeline.take_written(clock)));
        }
        let sent = self.out.close();
        let mut tally = self.timeline.tally;
        let lost = self.out.lost();
        let epochs = mem::take(&mut self.epochs);
        let marks = match (F::IS_ORDERED, self.clocks.only()) {
            (true, _) => mem::take(&mut self.marks).into(),
            (false, Some(_)) => epochs
                .into_iter()
                .map(|past| [past.clone(), past])
                .collect(),
            (false, None) => Box::default(),
        };
        let history = mem::take(&mut self.history).into_iter();
        let closed = Closed {
            number: self.number,
            overlapping_pushpop: mem::take(&mut tally.overlapping_pushpop),
            history: history.filter(|(_, written)| written.count > 0).collect(),
            marks,
            is_unsettled: self.timeline.is_unsettled(),
            left: self.out.leave(),
        };
        self.shared.close(&self.info, tally, lost, closed);
        sent.map_err(|refusal| with_cost(refusal, lost))?;
        self.shared.format.check_outside(tally.outside_base)
    }
}

impl<F: Format> Flush for StreamIn<F> {
    fn rest(&mut self) -> Result<bool> {
        self.chain = None;
        self.take_mail();
        if !self.timeline.has_starts() {
            return Ok(false);
        }
        self.retime();
        self.timeline.rest(self.out.begin());
        self.note_marks();
        self.out.send_all()?;
        Ok(true)
    }

    fn flush_all(&mut self) -> Result<()> {
        self.chain = None;
        self.take_mail();
        if self.timeline.has_waiting() {
            self.retime();
            self.timeline.flush_all(self.out.begin());
            self.note_marks();
            self.share_memory();
        }
        self.out.send_all()?;
        self.out.make_readable()
    }

    fn writer(&self) -> Option<WriterId> {
        self.writer
    }
}

/// Lets the output know a time that it will get, if there is one. Where it can't hold it, that is
/// counted when it gets it.
fn admitted(out: &impl FormatStream, time: Option<i64>) -> Option<i64> {
    time.inspect(|time| drop(out.admit(*time)))
}

/// What a whole event has, ready if it can be; then it is in the timeline's buffer, else in
/// `fields`.
#[inline]
fn whole<'f, S: FormatStream>(
    out: &mut S,
    timeline: &mut Timeline,
    fields: &'f mut Writer,
    event: &Event<'_>,
    time: Time,
    place: u32,
) -> Result<Content<'f>> {
    let buffer = timeline.buffer();
    let before = buffer.len();
    let Some(base) = out.make_event(event, time, place, buffer) else {
        return encode(fields, out, event, Half::First).map(Content::Fields);
    };
    check_len(buffer.len() - before).inspect_err(|_| timeline.discard())?;
    Ok(Content::Ready(base))
}

/// What an event has besides time and place, in `fields`.
fn encode<'f>(
    fields: &'f mut Writer,
    out: &mut impl FormatStream,
    event: &Event<'_>,
    half: Half<'_>,
) -> Result<&'f [u8]> {
    fields.clear();
    out.event(event, half, fields);
    check_len(fields.len())?;
    Ok(fields.as_bytes())
}

#[inline]
fn check_len(len: usize) -> Result<()> {
    if len > EVENT_LIMIT {
        return Err(too_long(len));
    }
    Ok(())
}

#[cold]
fn too_long(len: usize) -> Refusal {
    Refusal::invalid(format!(
        "the event takes {len} bytes in the file, and {EVENT_LIMIT} is the most: shorten its texts, \
         or write it as several events"
    ))
}
