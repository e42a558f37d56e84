//! The data of an event: what its payloads may refer to, and how much.

use std::cell::Cell;

use crate::domain::Domain;
use crate::event::Payload;
use crate::raw::TEXT_LIMIT;
use crate::refusal::{Refusal, Result};
use crate::region::Region;
use crate::schema::{Beyond, Field, Place};
use crate::text;

/// Events get so many steps for each byte that they may look at, so that shared data can't be looked at for ever; and some more,
/// so that small events have enough.
const STEPS_PER_BYTE: u64 = 16;
const STEPS: u64 = 1024;
/// The same for events that refer to memory outside: 4 KiB for each pointer, and a text of the greatest length.
const OUTSIDE_STEPS_PER_BYTE: u64 = 4096 / size_of::<u64>() as u64;
const OUTSIDE_STEPS: u64 = 2 * TEXT_LIMIT as u64;
/// One step stands for so many bytes of text, at which only the backend looks.
pub(crate) const SKIPPED: usize = 64;
/// One step looks at a byte, or at so many payloads for one that a pointer leads to.
const SEARCHED: usize = 16;

/// How much work is left for what an event, or all events of a batch, refer to.
#[derive(Clone, Debug)]
pub(crate) struct Steps(Cell<u64>);

impl Steps {
    /// For events of so many bytes, which may reach out of them.
    #[inline]
    pub(crate) fn for_bytes(bytes: usize, reach_out: bool) -> Self {
        let (per_byte, more) = match reach_out {
            false => (STEPS_PER_BYTE, STEPS),
            true => (OUTSIDE_STEPS_PER_BYTE, OUTSIDE_STEPS),
        };
        let steps = (bytes as u64).saturating_mul(per_byte);
        Self(Cell::new(steps.saturating_add(more)))
    }

    /// For data that was looked at before, within bounds.
    #[inline]
    pub(crate) fn unlimited() -> Self {
        Self(Cell::new(u64::MAX))
    }

    /// How many are left.
    pub(crate) fn left(&self) -> u64 {
        self.0.get()
    }

    /// Takes some for `field`.
    #[inline]
    pub(crate) fn take(&self, steps: u64, field: &Field) -> Result<()> {
        match self.try_take(steps) {
            true => Ok(()),
            false => Err(too_much(field)),
        }
    }

    /// Takes some; `false` if there are not so many: then none are left.
    #[inline]
    pub(crate) fn try_take(&self, steps: u64) -> bool {
        let rest = self.0.get().checked_sub(steps);
        self.0.set(rest.unwrap_or_default());
        rest.is_some()
    }

    /// How many bytes come before the first unit of all zero bytes, `Some(None)` if there is none. `None` if to look for it takes
    /// more steps than are left.
    #[inline]
    pub(crate) fn find_null(&self, bytes: &[u8], unit: usize) -> Option<Option<usize>> {
        let affordable = usize::try_from(self.left()).unwrap_or(usize::MAX);
        let window = &bytes[..bytes.len().min(affordable)];
        let len = text::find_null(window, unit);
        self.try_take(len.unwrap_or(window.len()) as u64);
        (len.is_some() || window.len() == bytes.len()).then_some(len)
    }
}

/// What the payloads of an event may refer to.
#[derive(Clone, Copy)]
pub(crate) struct Data<'e, 'a> {
    /// All payloads of the event.
    pub(crate) payloads: &'e [Payload<'a>],
    pub(crate) flex: Option<Flex<'a>>,
    /// What was outside of the event where it comes from, and pointers still lead to.
    pub(crate) pieces: &'a [u8],
    pub(crate) domain: &'a Domain,
    pub(crate) steps: &'e Steps,
}

/// The flexible data of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flex<'a> {
    /// The part that may be referred to.
    pub(crate) bytes: &'a [u8],
    /// From where offsets count to where that part starts.
    pub(crate) offset: usize,
}

/// Where a reference leads.
pub(crate) enum Target<'a> {
    /// It is null.
    Nothing,
    /// To memory outside of the event, of which the address is all that is shown.
    Address(u64),
    At(Region<'a>, usize),
}

impl<'a> Data<'_, 'a> {
    /// Where the data of a field is that refers to it. `here` is where the field ends.
    #[inline]
    pub(crate) fn target(
        &self,
        field: &Field,
        reference: u64,
        here: usize,
        region: Region<'a>,
    ) -> Result<Target<'a>> {
        let (region, at) = match (field.place, self.flex) {
            (Place::Pointer(beyond), _) => return self.pointee(field, reference, beyond),
            (_, Some(flex)) => (
                Region::Inside(flex.bytes),
                reference.checked_sub(flex.offset as u64),
            ),
            // From here it may also go back.
            (Place::FromHere, None) => (region, (here as u64).checked_add_signed(reference as i64)),
            (Place::FromBase | Place::Here, None) => (region, Some(reference)),
        };
        match at {
            Some(at) if at <= region.len() as u64 => Ok(Target::At(region, at as usize)),
            _ => Err(leads_outside(field, reference, region, self.flex)),
        }
    }

    /// Where a pointer leads.
    fn pointee(&self, field: &Field, address: u64, beyond: Beyond) -> Result<Target<'a>> {
        self.steps
            .take((self.payloads.len() / SEARCHED) as u64, field)?;
        let payloads = self.payloads.iter().map(|payload| payload.bytes);
        let mut regions = payloads.chain(self.flex.map(|flex| flex.bytes));
        let found = regions.find_map(|region| {
            let at = address.checked_sub(region.as_ptr().addr() as u64)?;
            (at < region.len() as u64).then_some((region, at as usize))
        });
        if address == 0 {
            return Ok(Target::Nothing);
        }
        // Offsets there count from where the pointer leads to, as they do outside.
        let piece = address.checked_sub(self.pieces.as_ptr().addr() as u64);
        let piece = piece.filter(|at| *at < self.pieces.len() as u64);
        if let (None, Some(at)) = (found, piece) {
            let piece = Region::Inside(&self.pieces[at as usize..]);
            return Ok(Target::At(piece, 0));
        }
        match (found, beyond) {
            (Some((region, at)), _) => Ok(Target::At(Region::Inside(region), at)),
            (None, Beyond::Followed(promise)) => {
                let outside = Region::Outside(promise.outside(address));
                Ok(Target::At(outside, 0))
            }
            (None, Beyond::Shown) => Ok(Target::Address(address)),
            (None, Beyond::Refused) => Err(points_outside(field, address)),
        }
    }
}

#[cold]
pub(crate) fn outside(field: &Field, at: usize, size: usize, region: Region<'_>) -> Refusal {
    Refusal::invalid(format!(
        "`{}` would have {size} bytes at offset {at}, but there are only {} bytes",
        field.name(),
        region.len()
    ))
}

#[cold]
pub(crate) fn endless(field: &Field, len: usize) -> Refusal {
    Refusal::invalid(format!(
        "`{}` has no element of all zero bytes that would end it within {len} bytes",
        field.name()
    ))
}

#[cold]
fn points_outside(field: &Field, address: u64) -> Refusal {
    Refusal::invalid(format!(
        "`{}` points to {address:#x}, which is in no payload of the event: add the data as a payload of schema \
         NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED",
        field.name()
    ))
}

#[cold]
fn leads_outside(
    field: &Field,
    reference: u64,
    region: Region<'_>,
    flex: Option<Flex<'_>>,
) -> Refusal {
    let name = field.name();
    let len = region.len();
    Refusal::invalid(match flex {
        Some(Flex { offset, .. }) => format!(
            "`{name}` is the offset {reference}, which is not in the flexible data: offsets from {offset} to {} are \
             (flexDataOffset, flexDataSize)",
            offset.saturating_add(len)
        ),
        None if field.place == Place::FromHere => format!(
            "`{name}` is the offset {}, which leads out of the payload of {len} bytes",
            reference as i64
        ),
        None => format!(
            "`{name}` is the offset {reference}, which leads out of the payload of {len} bytes"
        ),
    })
}

#[cold]
pub(crate) fn too_much(field: &Field) -> Refusal {
    Refusal::unsupported(format!(
        "`{}` is more than is decoded for so few bytes: some data is referred to too often; write it once, or register the text",
        field.name()
    ))
}
