//! Whole ranges of simple schemas, straight from the bytes of a batch.

use nvtxw_backend::Schema;

use super::encoder::{Tables, Times};
use super::field::{event, packet};
use super::packet::Lane;
use super::plan::Number;
use crate::base::shift;
use crate::format::Ranges;
use crate::plain::{Usual, UsualRange};
use crate::proto::{Slot, SteadyVarint, Writer, tag_byte};
use crate::timeline::Base;

/// Tags, each of one byte.
const TRACK_EVENT: u64 = tag_byte(packet::TRACK_EVENT, true);
const TYPE: u64 = tag_byte(event::TYPE, false);
const TRACK_UUID: u64 = tag_byte(event::TRACK_UUID, false);
const NAME_IID: u64 = tag_byte(event::NAME_IID, false);
const CATEGORY_IIDS: u64 = tag_byte(event::CATEGORY_IIDS, false);

/// The longest message whose length takes one byte.
const SHORT: usize = 0x7F;

/// How the usual ranges of a schema are written, if they have only numbers.
pub(super) struct Quick {
    usual: Usual,
    numbers: Vec<Number>,
}

impl Quick {
    /// `numbers` are the annotations of the schema's events; `None` if these need more than that.
    pub(super) fn new(schema: &Schema, numbers: Vec<Number>) -> Option<Self> {
        let usual = Usual::of(schema)?;
        Some(Self { usual, numbers })
    }
}

/// Writes the usual ranges of one schema to one lane.
pub(super) struct QuickRanges<'s> {
    pub(super) quick: &'s Quick,
    pub(super) texts: &'s mut Tables,
    pub(super) times: &'s mut Times,
    pub(super) lane: Lane,
    pub(super) base: (i64, Base),
}

impl Ranges for QuickRanges<'_> {
    #[inline(always)]
    fn write(
        &mut self,
        payload: &[u8],
        text: Option<&[u8]>,
        out: &mut Writer,
    ) -> Option<(i64, i64)> {
        let (base, _) = self.base;
        let UsualRange {
            start,
            end,
            name,
            category,
        } = self.quick.usual.read(payload)?;
        let (from, to) = (shift(base, start)?, shift(base, end)?);
        // Numbers of texts take three bytes at most.
        let (name, name_len) = match text {
            None => self.texts.name(name)?,
            Some(text) => self.texts.text(text)?,
        };
        let category = match category {
            0 => None,
            category => Some(self.texts.category(category)?),
        };
        let [starts, ends] = &mut *self.times;
        let mut out = out.slot();
        let event = Head::write(self.lane, from, event::BEGIN, starts, &mut out);
        out.word(NAME_IID | name << 8, 1 + name_len);
        if let Some((category, len)) = category {
            out.word(CATEGORY_IIDS | category << 8, 1 + len);
        }
        for number in &self.quick.numbers {
            number.write_quickly(payload, &mut out);
        }
        if out.len() > 2 + SHORT {
            return None;
        }
        event.close(&mut out);
        Head::write(self.lane, to, event::END, ends, &mut out).close(&mut out);
        out.keep();
        Some((start, end))
    }

    #[inline(always)]
    fn base(&self) -> Base {
        self.base.1
    }
}

/// What an event begins with. Its lengths are not written yet.
struct Head {
    packet: usize,
    event: usize,
}

impl Head {
    #[inline(always)]
    fn write(
        lane: Lane,
        time: u64,
        kind: u64,
        times: &mut SteadyVarint,
        out: &mut Slot<'_>,
    ) -> Self {
        let packet = out.len();
        out.word(lane.head.word, lane.head.len);
        times.write(time, out);
        let event = out.len();
        out.word(TRACK_EVENT | TYPE << 16 | kind << 24, 4);
        if let Some(track) = lane.track {
            out.word(TRACK_UUID, 1);
            out.small_varint(track);
        }
        Self { packet, event }
    }

    /// Ends the event, and its packet, with what was written last.
    #[inline(always)]
    fn close(self, out: &mut Slot<'_>) {
        out.set(self.packet + 1, (out.len() - self.packet - 2) as u8);
        out.set(self.event + 1, (out.len() - self.event - 2) as u8);
    }
}
