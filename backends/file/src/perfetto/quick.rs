//! Whole ranges of simple schemas, straight from the bytes of a batch.

use nvtxw_backend::{EntryType, Field, FieldKind, FieldRole, Schema, TimestampRole};

use super::encoder::Tables;
use super::field::{event, packet};
use super::packet::Lane;
use super::plan::{Number, bytes};
use crate::base::shift;
use crate::format::Ranges;
use crate::proto::{Slot, Writer, tag_byte, varint};
use crate::timeline::Base;

/// Tags, each of one byte.
const TRACK_EVENT: u64 = tag_byte(packet::TRACK_EVENT, true);
const TYPE: u64 = tag_byte(event::TYPE, false);
const TRACK_UUID: u64 = tag_byte(event::TRACK_UUID, false);
const NAME_IID: u64 = tag_byte(event::NAME_IID, false);
const CATEGORY_IIDS: u64 = tag_byte(event::CATEGORY_IIDS, false);

/// The longest message whose length takes one byte.
const SHORT: usize = 0x7F;

/// Where the ranges of a schema have what they need: two times, a registered message, perhaps a
/// category, and numbers.
pub(super) struct Quick {
    start: usize,
    end: usize,
    name: usize,
    category: Option<usize>,
    numbers: Vec<Number>,
}

impl Quick {
    /// `numbers` are the annotations of the schema's events; `None` if these need more than that.
    pub(super) fn new(schema: &Schema, numbers: Vec<Number>) -> Option<Self> {
        let (mut start, mut end, mut name, mut category) = (None, None, None, None);
        for field in schema.fields().iter().filter(|field| field.is_attribute()) {
            let (place, ty) = match field.role() {
                FieldRole::Time(TimestampRole::RangeBegin) => (&mut start, EntryType::Int64),
                FieldRole::Time(TimestampRole::RangeEnd) => (&mut end, EntryType::Int64),
                FieldRole::Message => (&mut name, EntryType::RegisteredString),
                FieldRole::Category => (&mut category, EntryType::Category),
                _ => return None,
            };
            if !is_one(field, ty) || place.replace(field.offset()).is_some() {
                return None;
            }
        }
        Some(Self {
            start: start?,
            end: end?,
            name: name?,
            category,
            numbers,
        })
    }

    /// Appends a range as it is in the file if it stands on `lane`; returns its times. `None`, and
    /// appends nothing, for a range that is anything but usual: bad, long, or with a text that has
    /// not come before.
    #[inline(always)]
    fn write(
        &self,
        payload: &[u8],
        base: i64,
        lane: Lane,
        texts: &Tables,
        out: &mut Writer,
    ) -> Option<(i64, i64)> {
        let start = i64::from_ne_bytes(bytes(payload, self.start));
        let end = i64::from_ne_bytes(bytes(payload, self.end));
        if end < start {
            return None;
        }
        let (from, to) = (shift(base, start)?, shift(base, end)?);
        let name = texts.name(u64::from_ne_bytes(bytes(payload, self.name)))?;
        let category = match self.category {
            None => None,
            Some(at) => match u32::from_ne_bytes(bytes(payload, at)) {
                0 => None,
                category => Some(texts.category(category)?),
            },
        };
        let mut out = out.slot();
        let begin = head(&mut out, lane, from, event::BEGIN);
        // Numbers of texts take three bytes at most.
        let (word, len) = varint(name.into());
        out.word(NAME_IID | word << 8, 1 + len);
        if let Some(category) = category {
            let (word, len) = varint(category.into());
            out.word(CATEGORY_IIDS | word << 8, 1 + len);
        }
        for number in &self.numbers {
            number.write_quickly(payload, &mut out);
        }
        if out.len() > 2 + SHORT {
            return None;
        }
        begin.close(&mut out);
        head(&mut out, lane, to, event::END).close(&mut out);
        out.keep();
        Some((start, end))
    }
}

/// Writes the usual ranges of one schema to one lane.
pub(super) struct QuickRanges<'s> {
    pub(super) quick: &'s Quick,
    pub(super) texts: &'s Tables,
    pub(super) lane: Lane,
    pub(super) base: (i64, Base),
}

impl Ranges for QuickRanges<'_> {
    #[inline(always)]
    fn write(&self, payload: &[u8], out: &mut Writer) -> Option<(i64, i64)> {
        let (base, _) = self.base;
        self.quick.write(payload, base, self.lane, self.texts, out)
    }

    #[inline(always)]
    fn base(&self) -> Base {
        self.base.1
    }
}

/// Whether a field is one value of this type.
fn is_one(field: &Field, ty: EntryType) -> bool {
    field.count().is_none() && matches!(field.kind(), FieldKind::Scalar(found) if *found == ty)
}

/// A packet whose lengths are not written yet.
struct Open {
    packet: usize,
    event: usize,
}

/// What an event begins with.
#[inline(always)]
fn head(out: &mut Slot<'_>, lane: Lane, time: u64, kind: u64) -> Open {
    let packet = out.len();
    out.word(lane.head.word, lane.head.len);
    out.varint(time);
    let event = out.len();
    out.word(TRACK_EVENT | TYPE << 16 | kind << 24, 4);
    if let Some(track) = lane.track {
        out.word(TRACK_UUID, 1);
        out.varint(track);
    }
    Open { packet, event }
}

impl Open {
    #[inline(always)]
    fn close(self, out: &mut Slot<'_>) {
        out.set(self.packet + 1, (out.len() - self.packet - 2) as u8);
        out.set(self.event + 1, (out.len() - self.event - 2) as u8);
    }
}
