//! What the timeline hands over, as packets.

use std::ops::Range;

use super::super::field::{annotation, event, trace};
use super::super::head::begin_event;
use super::{MARK_SHIFT, Packets, RECENT, packet};
use crate::base::shift;
use crate::proto::{self, Writer};
use crate::timeline::{Base, Emit, On};

/// The annotation of a range that tells its end, in the file's times, where the file shows a later one.
const MOVED_END: &str = "nvtxw.end";

impl Emit for Packets {
    /// Writes a packet of nothing, which readers pass over. The number is where no flag is.
    fn mark(&mut self, number: u32) {
        let flags = (u64::from(number) + 1) << MARK_SHIFT;
        packet(&mut self.outlet.out, self.sequence, flags, 0, |_| {});
    }

    fn holds(&self, time: i64) -> bool {
        shift(self.base, time).is_some()
    }

    fn takes(&self, base: Base) -> bool {
        base == Base::Decided || self.base == 0
    }

    fn range(&mut self, place: u32, lane: u32, start: i64, end: i64, nests: bool, fields: &[u8]) {
        let track = self.lane(place, lane);
        self.event(event::BEGIN, track, start, nests, fields);
        self.event(event::END, track, end, nests, &[]);
        self.outlet.complete(1);
    }

    fn begin(&mut self, place: u32, lane: u32, time: i64, nests: bool, fields: &[u8]) {
        let track = self.lane(place, lane);
        self.event(event::BEGIN, track, time, nests, fields);
        self.outlet.complete(1);
    }

    fn end(&mut self, place: u32, lane: u32, time: i64, asked: i64, fields: &[u8]) {
        let track = self.lane(place, lane);
        if asked == time {
            self.event(event::END, track, time, true, fields);
        } else {
            let asked = asked.wrapping_sub(self.base);
            let (track, time) = self.begin_event(track, time);
            let (head, out) = (self.heads[1], &mut self.outlet.out);
            head.packet(out, time, fields.len() + 32, |out| {
                // No other event begins with an annotation.
                let open = out.open(event::ANNOTATIONS, 0);
                out.text(annotation::NAME, MOVED_END);
                out.int(annotation::INT, asked);
                out.close(open);
                begin_event(event::END, track, out);
                out.raw(fields);
            });
        }
        self.outlet.complete(0);
    }

    fn instant(&mut self, place: u32, time: i64, fields: &[u8]) {
        let track = self.lane(place, 0);
        self.event(event::INSTANT, track, time, false, fields);
        self.outlet.complete(1);
    }

    fn value(&mut self, counter: u32, time: i64, fields: &[u8]) {
        let track = self.counters[counter as usize].track;
        self.event(event::COUNTER, track, time, false, fields);
        self.outlet.complete(1);
    }

    fn values(&mut self, counter: u32, time: i64, ready: &[u8]) {
        for (counter, (_, packet)) in (counter..).zip(proto::nested(ready)) {
            let track = self.counters[counter as usize].track;
            self.event(event::COUNTER, track, time, false, fields_in(packet));
        }
        self.outlet.complete(1);
    }

    /// Each event names its track, which has to be described only.
    #[inline]
    fn joins(&self, on: On) -> bool {
        match on {
            On::Place(place) => {
                let track = self.places[place as usize].1.first();
                track.is_some_and(|track| self.recent[*track as usize % RECENT] == *track)
            }
            On::Counter(first) => self.counters[first as usize].are_described,
        }
    }

    fn ready(&mut self, on: On, events: u64, bytes: &[u8]) {
        self.use_ready(on);
        self.outlet.append(events, bytes);
    }

    fn ready_to_keep(&mut self, on: On, events: u64, bytes: &mut Writer, range: Range<usize>) {
        self.use_ready(on);
        self.outlet.append_or_keep(events, bytes, range);
    }

    fn leads(&self, start: i64) -> bool {
        start.wrapping_sub(self.base) as u64 >= self.steps.last
    }

    fn lead(&mut self, place: u32, start: i64, end: i64, nests: bool, fields: &[u8]) {
        self.use_clock(true);
        let track = self.lane(place, 0);
        let track = self.named(track);
        let [start, end] = [start, end].map(|time| time.wrapping_sub(self.base) as u64);
        let (head, out) = (self.heads[usize::from(nests)], &mut self.outlet.out);
        let step = start - self.steps.last;
        head.event(out, event::BEGIN, track, step, fields.len(), |out| {
            out.raw(fields);
        });
        head.event(out, event::END, track, end - start, 0, |_| {});
        self.steps.last = end;
        self.outlet.complete(1);
    }

    fn follow(&mut self, _place: u32, events: u64, bytes: &[u8], end: i64) {
        self.steps.last = end.wrapping_sub(self.base) as u64;
        self.outlet.append(events, bytes);
    }

    fn follow_to_keep(
        &mut self,
        _place: u32,
        events: u64,
        bytes: &mut Writer,
        range: Range<usize>,
        end: i64,
    ) {
        self.steps.last = end.wrapping_sub(self.base) as u64;
        self.outlet.append_or_keep(events, bytes, range);
    }

    fn fields_of(ready: &[u8]) -> &[u8] {
        fields_in(nested(ready, trace::PACKET))
    }
}

/// What an event's packet has besides time and track.
fn fields_in(packet: &[u8]) -> &[u8] {
    let event = nested(packet, packet::TRACK_EVENT);
    let after = |event, number| match proto::first_uint(event) {
        Some((found, _, rest)) if found == number => rest,
        _ => event,
    };
    after(after(event, event::TYPE), event::TRACK_UUID)
}

/// What the first of these fields is in a message.
fn nested(message: &[u8], number: u32) -> &[u8] {
    let mut all = proto::nested(message);
    all.find(|(found, _)| *found == number)
        .map_or(&[], |(_, content)| content)
}
