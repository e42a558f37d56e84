//! Whole ranges and marks of simple schemas, straight from their payloads to the packets of start and end.
//!
//! They are written into one slot, which is kept only when all of it is there: where a name is new, or
//! something doesn't fit, nothing is written, and the event goes the long way by the [encoder](super::encoder).

use std::hint::cold_path;

use nvtxw_backend::{Field, FieldRole, Schema};

use super::arg::{Arg, Args};
use super::encoder::Tables;
use super::field::event;
use super::head::{Lane, SHORT};
use crate::base::shift_both;
use crate::clock::Line;
use crate::format::Ranges;
use crate::plain::{Copied, Load, Usual};
use crate::proto::{
    LONG_SLOT, SHORT_SLOT, Slot, Steady, VARINT, Writer, small_pair, tag, tag_byte,
};
use crate::timeline::{Base, Latest, WholeRange};

/// Tags, each of one byte.
const NAME_IID: u64 = tag_byte(event::NAME_IID, false);
const CATEGORY_IIDS: u64 = tag_byte(event::CATEGORY_IIDS, false);

/// The longest packet of a start that leaves room in a slot for longer lengths, and for the end's packet.
const fn longest(slot: usize) -> usize {
    slot - 72
}

/// Annotations that take more leave no room in such a packet for what is around them.
pub(super) const fn most(slot: usize) -> usize {
    longest(slot) - 16
}

/// The most that annotations may take at least, to be written into a long slot: of many numbers some are great, and what turns
/// out not to fit was written in vain.
pub(super) const MOST_LONG: usize = most(LONG_SLOT) / 2;

/// How the usual ranges of a schema are written, but for their fields.
pub(super) struct Quick {
    usual: Usual,
    /// Whether they take long slots.
    are_long: bool,
    /// What shows the colour.
    color: Option<Arg>,
}

impl Quick {
    /// `None` if what they have is elsewhere.
    pub(super) fn new(schema: &Schema, texts: &mut Tables) -> Option<Self> {
        let usual = Usual::of(schema).filter(Usual::is_near)?;
        let mut fields = schema.fields().iter();
        let is_color = |field: &&Field| field.role() == FieldRole::Color && !field.is_hidden();
        let color = match fields.rfind(is_color) {
            Some(field) => Some(Arg::attribute(field, Load::U32, texts)?),
            None => None,
        };
        Some(Self {
            usual,
            are_long: false,
            color,
        })
    }

    /// The same for ranges with these fields; `None` if they can't be written so.
    pub(super) fn with(mut self, args: &Args) -> Option<Self> {
        self.are_long = !args.fit::<SHORT_SLOT>(most(SHORT_SLOT));
        (!self.are_long || args.fit::<LONG_SLOT>(MOST_LONG)).then_some(self)
    }

    /// Writes category and colour.
    #[inline(never)]
    fn paint<const N: usize>(
        &mut self,
        payload: &[u8; N],
        texts: &mut Tables,
        room: &mut [u8; N],
        mut len: usize,
    ) -> Option<usize> {
        let category = self.usual.category(payload);
        if category != 0 {
            let (category, category_len) = texts.category(category)?;
            let word = CATEGORY_IIDS | category << 8;
            len = Slot::at(room, len, |out| out.word(word, 1 + category_len));
        }
        let color = self.usual.color(payload);
        if color != 0 {
            const TAG: (u64, usize) = tag(event::CORRELATION_ID_IID, VARINT);
            let (color, color_len) = texts.color(color)?;
            // Colours that can't be shown have none.
            if color != 0 {
                let word = TAG.0 | color << (8 * TAG.1);
                len = Slot::at(room, len, |out| out.word(word, TAG.1 + color_len));
            }
            if let Some(arg) = &mut self.color {
                len = arg.write(payload, texts, room, len)?;
            }
        }
        Some(len)
    }
}

/// Writes the usual ranges of one schema to one lane.
pub(super) struct QuickRanges<'s> {
    pub(super) quick: &'s mut Quick,
    pub(super) args: &'s mut Args,
    pub(super) texts: &'s mut Tables,
    pub(super) times: &'s mut Steady,
    pub(super) copied: &'s mut Copied,
    pub(super) lane: Lane,
    /// By which times become nanoseconds, if they aren't.
    pub(super) line: Option<&'s Line>,
    pub(super) base: (i64, Base),
}

impl Ranges for QuickRanges<'_> {
    #[inline(always)]
    fn are_long(&self) -> bool {
        self.quick.are_long
    }

    #[inline(always)]
    fn write<const N: usize>(
        &mut self,
        payload: &[u8],
        text: Option<&[u8]>,
        texts: &[Option<&[u8]>],
        latest: Option<Latest>,
        out: &mut Writer,
    ) -> Option<WholeRange> {
        let (base, _) = self.base;
        let payload = self.copied.near::<N>(payload);
        let usual = &self.quick.usual;
        let (mut start, mut end) = usual.times(payload)?;
        if let Some(line) = self.line {
            cold_path();
            (start, end) = line.range((start, end))?;
        }
        let [from, to] = shift_both(base, start, end)?;
        let step = latest.and_then(|latest| latest.step(start, end));
        let mut lane = &self.lane;
        let distant;
        let [from, to] = match step {
            Some(step) => small_pair([step.pause, step.duration.into()]),
            None => {
                let pair = self.times.pair([from, to])?;
                let tail = self.times.tail();
                if tail.len() > 0 {
                    distant = lane.behind(tail)?;
                    lane = &distant;
                }
                pair
            }
        };
        // Numbers of texts take three bytes at most.
        let (name, name_len) = match text {
            None => self.texts.name(usual.name(payload))?,
            Some(text) => self.texts.text(text)?,
        };
        if self.args.have_texts(texts) {
            self.args.find_texts(texts, self.texts)?;
        }
        let Lane {
            head,
            start: event,
            end: end_event,
            event_at,
        } = lane;
        let mut out = out.slot::<N>()?;
        out.word(head.word, head.len);
        out.word(from.0, from.1);
        let event_at = out.len() + event_at;
        out.word(event.0, event.1);
        out.word(NAME_IID | name << 8, 1 + name_len);
        if usual.has_more {
            cold_path();
            out.try_with(|room, len| self.quick.paint(payload, self.texts, room, len))?;
        }
        self.args.write(payload, self.texts, &mut out)?;
        let len = out.len();
        if len > 2 + SHORT {
            cold_path();
            if len > longest(N) {
                return None;
            }
            out.with(|room, len| lengthen(room, len, event_at));
        } else {
            out.set(1, (len - 2) as u8);
            out.set(event_at + 1, (len - event_at - 2) as u8);
        }
        if !self.quick.usual.is_mark {
            let end_len = head.len + to.1 + end_event.1 - 2;
            out.word(head.word | (end_len as u64) << 8, head.len);
            out.word(to.0, to.1);
            out.word(end_event.0, end_event.1);
        }
        out.keep();
        Some(WholeRange {
            start,
            end,
            step,
            is_next: step.is_some(),
        })
    }

    #[inline(always)]
    fn base(&self) -> Base {
        self.base.1
    }
}

/// Gives a packet of `len` bytes, and the event at `event_at` in it, lengths of two bytes each instead of one. Returns how
/// long it is then.
#[inline(never)]
fn lengthen(room: &mut [u8], len: usize, event_at: usize) -> usize {
    let two = |len: usize| [len as u8 | 0x80, (len >> 7) as u8];
    room.copy_within(event_at + 2..len, event_at + 4);
    room.copy_within(2..event_at + 1, 3);
    room[1..3].copy_from_slice(&two(len - 1));
    room[event_at + 2..event_at + 4].copy_from_slice(&two(len - event_at - 2));
    len + 2
}
