//! What a domain has that others may refer to.

use nvtxw_abi::EntryType;
use nvtxw_abi::raw::*;
use nvtxw_backend::{FieldKind, Schema, SchemaRole};

use crate::choices::Choices;
use crate::entry::{self, Forms, PLACE, STYLE, Units};
use crate::schema::Made;

/// What a domain has that others may refer to.
#[derive(Debug, Default)]
pub struct Known {
    pub layouts: Vec<Layout>,
    pub scopes: Vec<u64>,
    pub time_domains: Vec<u64>,
    pub strings: Vec<u64>,
    pub pointers: Pointers,
}

/// Which pointers events may hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pointers {
    /// Any, because none is followed out of its event.
    #[default]
    Any,
    /// Those hold that are followed.
    Held,
    /// None that are followed.
    None,
}

impl Known {
    /// A schema or an enum; `None` if there is none yet.
    pub fn layout(&self, choices: &mut Choices<'_>) -> Option<&Layout> {
        let index = choices.below(self.layouts.len().max(1) as u64);
        self.layouts.get(index as usize)
    }

    fn knows(&self, id: u64) -> bool {
        self.layouts.iter().any(|layout| layout.id == id)
    }
}

/// A schema or an enum.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    pub id: u64,
    /// Bytes of a payload, at least; 0 for an enum.
    pub size: usize,
    pub is_static: bool,
    pub is_event: bool,
    /// Whether it is a union that an entry beside it selects a member of.
    pub is_selected: bool,
    pub forms: Forms,
    /// Whether data in it, or in structs in it, is at offsets.
    pub has_offsets: bool,
    pub aims: Vec<Aim>,
    /// The pointers that are followed out of an event.
    pub outward: Vec<Outward>,
    /// The places of their lengths, which are always [`LENGTH`], and the bytes there.
    pub lengths: Vec<(usize, usize)>,
}

/// A pointer that is followed out of its event.
#[derive(Clone, Copy, Debug)]
pub struct Outward {
    pub at: usize,
    /// Bytes of a unit of what it points to.
    pub unit: usize,
    /// Units of it; `None` for as many as come before one of zeros.
    pub units: Option<usize>,
}

/// The length of what is pointed to, where an entry says it.
pub const LENGTH: usize = 3;

/// Where in a payload what kind of number leads somewhere.
#[derive(Clone, Copy, Debug)]
pub struct Aim {
    pub at: usize,
    pub width: usize,
    pub what: What,
}

#[derive(Clone, Copy, Debug)]
pub enum What {
    Address,
    Offset,
    String,
    Scope,
    /// A length, or the index of a union's member.
    Small,
    Time,
}

impl Layout {
    /// That of a schema that was accepted. `None` if it can't be told where all pointers are that are followed out of an event.
    pub fn new(schema: &Schema, made: &Made, known: &Known) -> Option<Self> {
        let (entries, kind) = (&made.entries[..], made.kind);
        let mut layout = Self {
            id: schema.id(),
            size: schema.size(),
            is_static: kind != NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC,
            is_event: matches!(schema.role(), SchemaRole::Event(_)),
            is_selected: kind == NVTX_PAYLOAD_SCHEMA_TYPE_UNION,
            forms: entries
                .iter()
                .map(entry::form)
                .fold(0, |all, form| all | form),
            ..Self::default()
        };
        for (index, (entry, field)) in entries.iter().zip(schema.fields()).enumerate() {
            let at = field.offset();
            let (place, style) = (entry.flags & PLACE, entry.flags & STYLE);
            let is_pointer = style == 0
                && entry.arrayOrUnionDetail == 0
                && matches!(field.kind(), FieldKind::Text(_));
            let is_time = entry.flags & NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP != 0;
            if let FieldKind::Struct(inner) | FieldKind::Union(inner) = field.kind() {
                // Where a pointer leads into a payload, the offsets there count from the payload's start.
                let inner = known.layouts.iter().find(|layout| layout.id == inner.id());
                layout.has_offsets |= inner.is_none_or(|inner| inner.has_offsets);
            }
            let mut aim = |width, what| layout.aims.push(Aim { at, width, what });
            match field.kind() {
                _ if place == NVTX_PAYLOAD_ENTRY_FLAG_POINTER => aim(8, What::Address),
                _ if place != 0 => {
                    aim(8, What::Offset);
                    layout.has_offsets = true;
                }
                _ if is_pointer => aim(8, What::Address),
                FieldKind::Scalar(EntryType::RegisteredString) => aim(8, What::String),
                FieldKind::Scalar(EntryType::ScopeId) => aim(8, What::Scope),
                FieldKind::Scalar(_) if is_time => aim(8, What::Time),
                FieldKind::Scalar(ty) if entry::is_referred_to(index, entries) => {
                    aim(ty.layout().map_or(1, |(size, _)| size), What::Small);
                }
                FieldKind::Enum(meaning) if entry::is_referred_to(index, entries) => {
                    aim(meaning.size(), What::Small);
                }
                FieldKind::Struct(inner) | FieldKind::Union(inner) => {
                    let inner = known.layouts.iter().find(|layout| layout.id == inner.id());
                    let aims = inner.iter().flat_map(|inner| &inner.aims);
                    // What is behind all that can be, no payload has.
                    layout.aims.extend(aims.filter_map(|aim| {
                        let at = at.checked_add(aim.at)?;
                        Some(Aim { at, ..*aim })
                    }));
                }
                _ => {}
            }
        }
        if known.pointers == Pointers::Held {
            layout.find_outward(schema, made, known)?;
        }
        Some(layout)
    }

    /// Bytes outside of an event that it may point to, at most.
    pub fn outside(&self) -> usize {
        1024 * self.outward.len()
    }

    fn find_outward(&mut self, schema: &Schema, made: &Made, known: &Known) -> Option<()> {
        // A made-up type may come true, as a schema that is not among the known ones because it has such pointers itself.
        let mut fields = schema.fields().iter();
        let is_all_known = fields.all(|field| match field.kind() {
            FieldKind::Struct(inner) | FieldKind::Union(inner) => known.knows(inner.id()),
            _ => true,
        });
        if !is_all_known {
            return None;
        }
        // Only the first entry, or a member of a union, starts at 0; of others that is said where a walk finds them.
        let is_union = made.kind > NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC;
        let place = |index: usize| {
            let at = schema.fields()[index].offset();
            Some(at).filter(|at| *at > 0 || index == 0 || is_union)
        };
        for (index, entry) in made.entries.iter().enumerate() {
            if !entry::is_outward(entry, made.flags) {
                continue;
            }
            let (unit, units) = entry::outward(entry, &made.entries[..index])?;
            let units = match units {
                Units::Exactly(units) => Some(units),
                Units::Terminated => None,
                Units::At(length) => {
                    let ty = EntryType::from_raw(made.entries[length].r#type)?;
                    let place = (place(length)?, ty.layout()?.0);
                    if !self.lengths.contains(&place) {
                        self.lengths.push(place);
                    }
                    Some(LENGTH)
                }
            };
            let at = place(index)?;
            self.outward.push(Outward { at, unit, units });
        }
        // What lies in the same bytes can't all hold.
        let pointers = self.outward.iter().map(|outward| (outward.at, 8));
        let mut places: Vec<_> = pointers.chain(self.lengths.iter().copied()).collect();
        places.sort_unstable();
        let is_apart = places
            .windows(2)
            .all(|pair| pair[0].0 + pair[0].1 <= pair[1].0);
        is_apart.then_some(())
    }
}

#[cfg(test)]
mod tests {
    use crate::entry::entry;
    use crate::schema;
    use crate::side::{Side, expect};
    use crate::table::{Table, answer, member};

    use super::*;

    fn registered(side: &Side, entries: Vec<nvtxPayloadSchemaEntry_t>) -> (u64, Made) {
        let attr = schema::of_entries(0, &entries);
        let mut id = 0;
        expect(&answer(None, || {
            member!(side.table, SchemaRegister(side.domain, &attr, &mut id))
        }));
        let made = Made {
            attr: std::ptr::null(),
            kind: attr.r#type,
            flags: 0,
            pack: None,
            entries,
        };
        (id, made)
    }

    /// An entry of a schema.
    fn nested(flags: u64, id: u64) -> nvtxPayloadSchemaEntry_t {
        nvtxPayloadSchemaEntry_t {
            r#type: id,
            ..entry(flags, EntryType::Int8, 0)
        }
    }

    fn layout(
        side: &Side,
        known: &Known,
        entries: Vec<nvtxPayloadSchemaEntry_t>,
    ) -> (u64, Option<Layout>) {
        let (id, made) = registered(side, entries);
        let info = side.info.as_ref().expect("the collector has a stream");
        let schema = info.domain().schema(id).expect("it is registered");
        (id, Layout::new(&schema, &made, known))
    }

    #[test]
    fn no_payload_is_made_of_a_schema_with_pointers_in_a_struct() {
        let side = Side::begin(Table::of_collector(), c"");
        let mut known = Known {
            pointers: Pointers::Held,
            ..Known::default()
        };
        let (text, of_text) = layout(&side, &known, vec![entry(0, EntryType::CStringUtf8, 0)]);
        assert_eq!(of_text.expect("its pointer is its own").outward.len(), 1);
        let (number, of_number) = layout(&side, &known, vec![entry(0, EntryType::Int64, 0)]);
        known.layouts.push(of_number.expect("it has no pointer"));
        for (inner, is_written) in [(number, true), (text, false)] {
            let (_, outer) = layout(&side, &known, vec![nested(0, inner)]);
            assert_eq!(outer.is_some(), is_written);
        }
        expect(&side.end());
    }

    #[test]
    fn offsets_are_found_in_a_struct_that_is_pointed_to() {
        let side = Side::begin(Table::of_collector_in_process(), c"");
        let mut known = Known::default();
        let flags = [0, NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE];
        let inner = flags.map(|flags| {
            let (id, inner) = layout(&side, &known, vec![entry(flags, EntryType::Int64, 0)]);
            known.layouts.push(inner.expect("no pointer is followed"));
            id
        });
        for (inner, has_offsets) in inner.into_iter().zip([false, true]) {
            for place in [0, NVTX_PAYLOAD_ENTRY_FLAG_POINTER] {
                let (_, outer) = layout(&side, &known, vec![nested(place, inner)]);
                assert_eq!(
                    outer.expect("no pointer is followed").has_offsets,
                    has_offsets
                );
            }
        }
        expect(&side.end());
    }
}
