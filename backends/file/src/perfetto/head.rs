//! What the packets of events begin with: as words that are copied, for events that are [quick](super::quick), and for
//! any other event.

use super::field::{event, packet, trace};
use crate::proto::{SHORT_SLOT, SMALL, Tail, Writer, any_varint, tag_byte, varint};
use crate::track::TrackId;

/// The longest message whose length takes one byte.
pub(super) const SHORT: usize = 0x7F;

/// What all events of a sequence begin with: its number and the flags. In the packets of a range that
/// was declared to nest these stand the other way round: readers take fields in any order, and who
/// puts the file in order has to know.
#[derive(Clone, Copy)]
pub(super) struct Head {
    pub(super) word: u64,
    pub(super) len: usize,
}

/// The lane that ranges are made ready for.
#[derive(Clone, Copy)]
pub(crate) struct Lane {
    /// What each event's packet begins with, up to its timestamp; the second byte is its length.
    pub(super) head: Head,
    /// What the event of a start begins with, lowest byte first, and how many bytes that is; the second one is the event's
    /// length.
    pub(super) start: (u64, usize),
    /// The whole event of an end.
    pub(super) end: (u64, usize),
    /// How many bytes of the timestamp are in front of each event.
    pub(super) event_at: usize,
}

impl Lane {
    /// Without a track it is the sequence's default one. `None` if an event begins with more than a word.
    #[inline]
    pub(super) fn new(head: Head, kind: u64, track: Option<TrackId>) -> Option<Self> {
        const EVENT: u64 = tag_byte(packet::TRACK_EVENT, true) | tag_byte(event::TYPE, false) << 16;
        const TRACK: u64 = tag_byte(event::TRACK_UUID, false) << 32;
        let (track, len) = match track {
            None => (0, 4),
            Some(track) => {
                let (track, len) = varint((track < SMALL).then_some(track)?);
                (TRACK | track << 40, 5 + len)
            }
        };
        let event = |kind, size: u64| (EVENT | kind << 24 | size << 8 | track, len);
        (len <= 8).then(|| Self {
            head,
            start: event(kind, 0),
            end: event(event::END, len as u64 - 2),
            event_at: 0,
        })
    }

    /// Appends the packet of an event of the kind that it is for. `None` if that is not short, or there is no room yet.
    #[inline]
    pub(super) fn write(&self, time: u64, fields: &[u8], out: &mut Writer) -> Option<()> {
        let (time, more) = any_varint(time);
        let event = self.start.1 - 2 + fields.len();
        let packet = self.head.len - 2 + time.1 + more.1 + 2 + event;
        if packet > SHORT {
            return None;
        }
        let mut out = out.slot::<SHORT_SLOT>()?;
        out.word(self.head.word | (packet as u64) << 8, self.head.len);
        out.word(time.0, time.1);
        out.word(more.0, more.1);
        out.word(self.start.0 | (event as u64) << 8, self.start.1);
        out.try_with(|room, len| {
            room.get_mut(len..len + fields.len())?
                .copy_from_slice(fields);
            Some(len + fields.len())
        })?;
        out.keep();
        Some(())
    }

    /// The lane with the tail of the timestamp in front of each event.
    #[inline]
    pub(super) fn behind(self, tail: Tail) -> Option<Self> {
        let event = |(word, len)| (tail.before(word), len + tail.len());
        let Self { start, end, .. } = self;
        (start.1 + tail.len() <= 8).then(|| Self {
            start: event(start),
            end: event(end),
            event_at: tail.len(),
            ..self
        })
    }
}

impl Head {
    pub(super) fn new(sequence: u32, nests: bool) -> Self {
        let mut out = Writer::default();
        let mut fields = [
            (packet::SEQUENCE, sequence.into()),
            (packet::SEQUENCE_FLAGS, packet::NEEDS),
        ];
        if nests {
            fields.reverse();
        }
        for (field, value) in fields {
            out.uint(field, value);
        }
        let mut word = [0; 8];
        word[..out.len()].copy_from_slice(out.as_bytes());
        Self {
            word: u64::from_le_bytes(word),
            len: out.len(),
        }
    }

    /// With the packet's tag and length before it, and the timestamp's tag behind; `None` if that is
    /// more than a word.
    pub(super) fn of_ready(self) -> Option<Self> {
        let (packet, time) = (
            tag_byte(trace::PACKET, true),
            tag_byte(packet::TIMESTAMP, false),
        );
        (self.len <= 5).then(|| Self {
            word: packet | self.word << 16 | time << (16 + 8 * self.len),
            len: 3 + self.len,
        })
    }

    /// The packet of an event whose fields take about `expected` bytes. Without a track it is on
    /// the sequence's default one.
    #[inline]
    pub(super) fn event(
        self,
        out: &mut Writer,
        kind: u64,
        track: Option<TrackId>,
        time: u64,
        expected: usize,
        fields: impl FnOnce(&mut Writer),
    ) {
        self.packet(out, time, expected, |out| {
            begin_event(kind, track, out);
            fields(out);
        });
    }

    #[inline]
    pub(super) fn packet(
        self,
        out: &mut Writer,
        time: u64,
        expected: usize,
        content: impl FnOnce(&mut Writer),
    ) {
        let all = out.open(trace::PACKET, expected + 40);
        out.word(self.word, self.len);
        out.uint(packet::TIMESTAMP, time);
        let open = out.open(packet::TRACK_EVENT, expected + 16);
        content(out);
        out.close(open);
        out.close(all);
    }
}

#[inline]
pub(super) fn begin_event(kind: u64, track: Option<TrackId>, out: &mut Writer) {
    out.uint(event::TYPE, kind);
    if let Some(track) = track {
        out.uint(event::TRACK_UUID, track);
    }
}
