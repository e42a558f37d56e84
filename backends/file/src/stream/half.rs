//! Halves of ranges, and ends that come from other streams.

use std::mem;
use std::sync::Arc;

use nvtxw_backend::{Event, EventKind, Refusal, Result};

use super::{StreamIn, encode};
use crate::format::{Format, FormatStream, Half};
use crate::ranges::{ForeignEnd, NoRange};
use crate::timeline::{First, On, Timeline};

impl<F: Format> StreamIn<F> {
    /// The start or the end of a range.
    pub(super) fn half(
        &mut self,
        event: &Event<'_>,
        kind: EventKind,
        place: u32,
        time: i64,
    ) -> Result<()> {
        self.out.admit(time)?;
        match kind {
            EventKind::RangePush => {
                let fields = encode(&mut self.fields, &mut self.out, event, Half::First)?;
                self.timeline.push(place, time, fields);
            }
            EventKind::RangePop => {
                self.retime_first(First::Push(place));
                let Some(push) = self.timeline.last_push(place) else {
                    self.timeline.tally.pop_without_push += 1;
                    return Err(Refusal::invalid(format!(
                        "range_pop at {time}: no push of this stream and scope is open, so there \
                         is nothing to end"
                    )));
                };
                check_order("range_pop", time, push.start)?;
                let half = Half::Second(push.fields);
                let fields = encode(&mut self.fields, &mut self.out, event, half)?;
                self.timeline.pop(place, time, fields);
            }
            EventKind::RangeStart => {
                self.take_mail();
                let id = range_id(event)?;
                self.retime_first(First::Start(id));
                if let Some(open) = self.timeline.started(id) {
                    return Err(Refusal::invalid(format!(
                        "range_start at {time}: the range {id} was started at {} and has not \
                         ended; ranges that are open at once need different IDs",
                        open.start
                    )));
                }
                let fields = encode(&mut self.fields, &mut self.out, event, Half::First)?;
                let [clock, _] = self.timeline.clocks;
                self.timeline.start(place, time, id, fields);
                let tick = self.clocks.tick(clock, event.time().start());
                (self.shared.ranges).start(id, self.number, tick, &self.mailbox);
            }
            EventKind::RangeEnd => {
                self.take_mail();
                let id = range_id(event)?;
                self.retime_first(First::Start(id));
                match self.timeline.started(id) {
                    Some(_) => self.end_here(event, id, time)?,
                    None => self.end_elsewhere(event, id, time)?,
                }
            }
            // Whole ranges have two times, and marks are no halves.
            EventKind::Mark | EventKind::RangePushPop | EventKind::RangeStartEnd => {}
        }
        self.timeline.arrives(On::Place(place), time, time);
        Ok(())
    }

    /// Ends a range that was started in this stream.
    fn end_here(&mut self, event: &Event<'_>, id: u64, time: i64) -> Result<()> {
        if let Some(first) = self.timeline.started(id) {
            check_order("range_end", time, first.start)?;
        }
        let half = second(&self.timeline, id);
        let fields = encode(&mut self.fields, &mut self.out, event, half)?;
        if !self.shared.ranges.end(id, self.number) {
            // Another stream has just ended it.
            self.take_mail();
            return Err(self.no_range(id, time, NoRange::Unknown));
        }
        self.timeline.end(id, time, fields);
        Ok(())
    }

    /// Ends a range that was started in another stream.
    fn end_elsewhere(&mut self, event: &Event<'_>, id: u64, time: i64) -> Result<()> {
        let Some(bytes) = event.plain() else {
            return Err(match self.shared.ranges.is_open(id) {
                true => Refusal::unsupported(format!(
                    "range_end at {time}: the range {id} was started in another stream, where its \
                     end has to be one payload of a schema of fixed size"
                )),
                false => self.no_range(id, time, NoRange::Unknown),
            });
        };
        let end = ForeignEnd {
            id,
            info: Arc::clone(&self.info),
            schema: Arc::clone(event.schema()),
            bytes: bytes.to_vec(),
        };
        let time_of = |tick| self.shared.clocks.nanoseconds(tick);
        let ended = self.shared.ranges.end_elsewhere(end, time, time_of);
        ended.map_err(|reason| self.no_range(id, time, reason))
    }

    /// Ends the ranges of this stream that others have ended.
    #[inline]
    pub(super) fn take_mail(&mut self) {
        if let Some(ends) = self.mailbox.take() {
            self.end_from_others(&ends);
        }
    }

    #[cold]
    fn end_from_others(&mut self, ends: &[ForeignEnd]) {
        for end in ends {
            if self.end_from_elsewhere(end).is_err() {
                // The range stays open.
                self.timeline.tally.refused += 1;
            }
        }
    }

    fn end_from_elsewhere(&mut self, end: &ForeignEnd) -> Result<()> {
        let event = Event::again(&end.info, &end.schema, &end.bytes)?;
        let clock = self.clocks.number_in(event.domain(), event.time_domain())?;
        let time = self.clocks.nanoseconds(clock, event.time().start())?;
        self.out.admit(time)?;
        self.retime_first(First::Start(end.id));
        // The end was taken: by what was known then, the range had started before.
        let half = second(&self.timeline, end.id);
        let fields = encode(&mut self.fields, &mut self.out, &event, half)?;
        // What comes next may be of others.
        let clocks = mem::replace(&mut self.timeline.clocks, [clock; 2]);
        self.timeline.end(end.id, time, fields);
        self.timeline.clocks = clocks;
        Ok(())
    }

    fn no_range(&mut self, id: u64, time: i64, reason: NoRange) -> Refusal {
        match reason {
            NoRange::Unknown => {
                self.timeline.tally.end_without_start += 1;
                Refusal::invalid(format!(
                    "range_end at {time}: no range {id} is open in this session, so there is \
                     nothing to end"
                ))
            }
            NoRange::Later(start) => later("range_end", time, start),
            NoRange::Ambiguous(count) => {
                self.timeline.tally.end_without_start += 1;
                Refusal::invalid(format!(
                    "range_end at {time}: {count} other streams have a range {id} that is open; \
                     end it in the stream that started it, or give the ranges different IDs"
                ))
            }
        }
    }
}

/// What the end of a started range is encoded with.
fn second(timeline: &Timeline, id: u64) -> Half<'_> {
    let first = timeline.started(id);
    Half::Second(first.map_or(&[], |start| start.fields))
}

fn check_order(what: &str, time: i64, start: i64) -> Result<()> {
    match time < start {
        true => Err(later(what, time, start)),
        false => Ok(()),
    }
}

fn later(what: &str, time: i64, start: i64) -> Refusal {
    Refusal::invalid(format!(
        "{what} at {time}: the range started later, at {start}; it stays open"
    ))
}

fn range_id(event: &Event<'_>) -> Result<u64> {
    event.range_id().ok_or_else(|| {
        Refusal::invalid(format!(
            "a {} without a range ID can't be joined with its other half",
            event.kind().name()
        ))
    })
}
