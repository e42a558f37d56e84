//! Values of counters, as packets: what of one begins with a word, as all do but in sessions with very many tracks.

use std::hint::cold_path;

use super::field::{event, packet};
use super::head::Head;
use crate::format::Number;
use crate::proto::{
    FIXED64, SHORT_SLOT, SMALL, VARINT, Writer, any_varint, small_varint, tag, tag_byte, varint,
};
use crate::track::TrackId;

/// What the values of a counter begin with, behind their time.
pub(super) struct ValueEvent {
    /// Lowest byte first; the second one is the length.
    word: u64,
    len: usize,
}

impl ValueEvent {
    /// `None` if it is more than a word.
    pub(super) fn new(track: TrackId) -> Option<Self> {
        const EVENT: u64 = tag_byte(packet::TRACK_EVENT, true)
            | tag_byte(event::TYPE, false) << 16
            | event::COUNTER << 24
            | tag_byte(event::TRACK_UUID, false) << 32;
        let (track, len) = varint((track < SMALL).then_some(track)?);
        (len <= 3).then_some(Self {
            word: EVENT | track << 40,
            len: 5 + len,
        })
    }

    /// Appends the packet of a value. `None` if there is no room yet.
    #[inline]
    pub(super) fn write(&self, head: &ValueHead, number: Number, out: &mut Writer) -> Option<()> {
        const INT: (u64, usize) = tag(event::COUNTER_VALUE, VARINT);
        const DOUBLE: (u64, usize) = tag(event::DOUBLE_COUNTER_VALUE, FIXED64);
        let mut out = out.slot::<SHORT_SLOT>()?;
        out.word(head.head.word, head.head.len);
        out.word(head.time.0, head.time.1);
        if head.more.1 > 0 {
            cold_path();
            out.word(head.more.0, head.more.1);
        }
        let event_at = out.len();
        out.word(self.word, self.len);
        match number {
            Number::Int(value) => {
                out.word(INT.0, INT.1);
                let value = value as u64;
                match value < SMALL {
                    true => {
                        let (word, len) = small_varint(value);
                        out.word(word, len);
                    }
                    false => out.varint(value),
                }
            }
            // The format has no unsigned counters.
            _ => {
                out.word(DOUBLE.0, DOUBLE.1);
                out.word(number.as_f64().to_bits(), 8);
            }
        }
        let len = out.len();
        out.set(1, (len - 2) as u8);
        out.set(event_at + 1, (len - event_at - 2) as u8);
        out.keep();
        Some(())
    }
}

/// What the packets of values begin with that have one time.
pub(super) struct ValueHead {
    head: Head,
    time: (u64, usize),
    /// The rest of a time that is more than a word.
    more: (u64, usize),
}

impl ValueHead {
    #[inline]
    pub(super) fn new(head: Head, time: u64) -> Self {
        let (time, more) = any_varint(time);
        Self { head, time, more }
    }
}
