//! The layout of entries: what one holds, where, and how much of it.

use std::sync::Arc;

use nvtxw_abi::raw::{
    NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY, NVTX_PAYLOAD_ENTRY_FLAG_HIDE,
    NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE, NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE,
    NVTX_PAYLOAD_ENTRY_FLAG_POINTER, NVTX_PAYLOAD_SCHEMA_FLAG_DEEP_COPY,
};
use nvtxw_abi::{ArrayStyle, EntryRole, EntryType, IdClass};

use crate::domain::{self, Domain};
use crate::finalise::too_large;
use crate::refusal::{Cause, IdKind, Refusal, Result};
use crate::scalar::Read;
use crate::schema::{Beyond, Extent, Field, FieldKind, FieldRole, Integer, Place, Shape};
use crate::spec::{EntrySpec, SchemaSpec};
use crate::text::unit_size;

/// Size and alignment of pointers and offsets in payloads.
pub(crate) const REFERENCE: usize = 8;

/// The entry as a field whose name, place in the struct and role are still missing.
pub(crate) fn field(
    index: usize,
    spec: &SchemaSpec<'_>,
    shape: Shape,
    domain: &Domain,
) -> Result<Field> {
    let (entry, pack) = (&spec.entries[index], spec.pack);
    let (kind, size, natural) = kind(index, entry, shape, domain)?;
    let is_text = matches!(kind, FieldKind::Text(_));
    let mut place = place(entry)?;
    let (extent, count) = match ArrayStyle::from_raw(entry.flags) {
        // Text with a length is one text, also where it is flagged as an array.
        Some(ArrayStyle::None | ArrayStyle::FixedSize) if is_text && entry.detail != 0 => {
            (Extent::Schema, None)
        }
        Some(ArrayStyle::None) if is_text => {
            if place == Place::Here {
                place = Place::Pointer(Beyond::Refused);
            }
            (Extent::ZeroTerminated, None)
        }
        Some(ArrayStyle::None) => (Extent::Schema, None),
        Some(ArrayStyle::FixedSize) => (Extent::Schema, Some(fixed_count(entry.detail)?)),
        Some(ArrayStyle::ZeroTerminated) => (Extent::ZeroTerminated, None),
        Some(ArrayStyle::LengthIndex) => (Extent::Entry(index_of(entry.detail)?), None),
        Some(ArrayStyle::LengthPayloadIndex) => (Extent::Payload(index_of(entry.detail)?), None),
        None => {
            return Err(Refusal::invalid(
                "the flags hold an array style that the ABI does not define",
            ));
        }
    };
    // NumPy gives an array of `U4` as one text of all its units, flagged as an array.
    let has_texts = is_text
        && size == 4
        && ArrayStyle::from_raw(entry.flags) == Some(ArrayStyle::FixedSize)
        && EntryRole::from_flags(entry.flags) != Some(EntryRole::Message);
    let size = match is_text && extent == Extent::Schema {
        true => size
            .checked_mul(fixed_count(entry.detail)?)
            .ok_or_else(too_large)?,
        false => size,
    };
    size.checked_mul(count.unwrap_or(1))
        .filter(|bytes| *bytes <= isize::MAX as usize)
        .ok_or_else(too_large)?;

    if let Place::Pointer(beyond) = &mut place {
        let is_string = is_text && extent == Extent::ZeroTerminated;
        *beyond = self::beyond(entry, spec, is_string, domain);
    }
    let align = match place {
        Place::Here => natural,
        _ => REFERENCE,
    };
    let is_here = place == Place::Here && extent == Extent::Schema;
    Ok(Field {
        index,
        name: Box::default(),
        description: entry.description.as_deref().map(Into::into),
        has_checks: match &kind {
            FieldKind::Scalar(ty) => *ty == EntryType::RegisteredString,
            FieldKind::Struct(schema) => schema.fields().iter().any(|field| field.has_checks),
            FieldKind::Union(_) => true,
            FieldKind::Text(_) | FieldKind::Enum(_) => false,
        },
        plain: is_here
            && match &kind {
                FieldKind::Struct(schema) => schema.plan.is_plain,
                FieldKind::Union(_) => false,
                _ => true,
            },
        selector: match &kind {
            FieldKind::Union(schema) if schema.shape == Shape::Union => {
                Some(index_of(entry.detail)?)
            }
            _ => None,
        },
        element: Read::of(&kind),
        whole: Read::Nothing,
        shown: Read::Nothing,
        kind,
        offset: 0,
        at: 0,
        follows: false,
        align: if pack == 0 { align } else { align.min(pack) },
        size,
        place,
        extent,
        count,
        has_texts,
        slot: None,
        told_by: None,
        selected_by: None,
        settled: false,
        loose: None,
        hidden: entry.flags & NVTX_PAYLOAD_ENTRY_FLAG_HIDE != 0,
        role: FieldRole::Plain,
        is_attribute: false,
        counter_semantics: entry.semantics.counter.clone(),
        correlation: entry.semantics.correlation.clone(),
    })
}

/// How one element is read, its size (of text, that of a code unit), and its alignment.
fn kind(
    index: usize,
    entry: &EntrySpec<'_>,
    shape: Shape,
    domain: &Domain,
) -> Result<(FieldKind, usize, usize)> {
    if IdClass::of(entry.ty) != IdClass::Predefined {
        return match domain.layouts.get(entry.ty).map(|layout| &**layout) {
            Some(domain::Layout::Schema(schema)) => {
                let schema = Arc::clone(schema);
                let (size, align) = (schema.size, schema.align);
                Ok(match schema.shape {
                    Shape::Static | Shape::Dynamic => (FieldKind::Struct(schema), size, align),
                    Shape::Union | Shape::SelectingUnion(_) => {
                        (FieldKind::Union(schema), size, align)
                    }
                })
            }
            Some(domain::Layout::Enum(enumeration)) => {
                let size = enumeration.size();
                Ok((FieldKind::Enum(Arc::clone(enumeration)), size, size))
            }
            None => Err(Refusal::invalid(format!(
                "the type {} is no schema or enum of the domain: register it first",
                entry.ty
            ))
            .because(Cause::Unregistered(IdKind::Layout, entry.ty))),
        };
    }
    let ty = EntryType::from_raw(entry.ty)
        .filter(|_| entry.ty != 0)
        .ok_or_else(|| {
            Refusal::invalid(format!("the type {} is not defined by the ABI", entry.ty))
        })?;
    match ty {
        EntryType::UnionSelector if shape == Shape::SelectingUnion(index) => {
            // The ABI leaves its size open: that of the C enum that it mostly is, if the producer doesn't say.
            let ty = match entry.detail {
                0 | 4 => EntryType::UInt32,
                1 => EntryType::UInt8,
                2 => EntryType::UInt16,
                8 => EntryType::UInt64,
                size => {
                    return Err(Refusal::invalid(format!(
                        "arrayOrUnionDetail is {size}; of a union's selector it is the size: 1, 2, 4 or 8 bytes, or 0 for 4"
                    )));
                }
            };
            let (size, align) = ty.layout().unwrap_or((1, 1));
            Ok((FieldKind::Scalar(ty), size, align))
        }
        EntryType::UnionSelector => Err(Refusal::invalid(
            "only a union with internal selector has an entry of the type union_selector, and only one",
        )),
        // NumPy's type for bytes, `S8`, is an array of `BYTE`: a message of it is text.
        EntryType::Byte | EntryType::Char | EntryType::Char8 if is_array_of_message(entry) => {
            Ok((FieldKind::Text(EntryType::CStringUtf8), 1, 1))
        }
        ty if ty.is_string() => {
            let unit = unit_size(ty);
            Ok((FieldKind::Text(ty), unit, unit))
        }
        ty => {
            let (size, align) = ty.layout().unwrap_or((1, 1));
            Ok((FieldKind::Scalar(ty), size, align))
        }
    }
}

fn is_array_of_message(entry: &EntrySpec<'_>) -> bool {
    EntryRole::from_flags(entry.flags) == Some(EntryRole::Message)
        && ArrayStyle::from_raw(entry.flags) != Some(ArrayStyle::None)
}

fn place(entry: &EntrySpec<'_>) -> Result<Place> {
    const POINTER: u64 = NVTX_PAYLOAD_ENTRY_FLAG_POINTER;
    const FROM_BASE: u64 = NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE;
    const FROM_HERE: u64 = NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE;

    match entry.flags & (POINTER | FROM_BASE | FROM_HERE) {
        0 => Ok(Place::Here),
        POINTER => Ok(Place::Pointer(Beyond::Refused)),
        FROM_BASE => Ok(Place::FromBase),
        FROM_HERE => Ok(Place::FromHere),
        _ => Err(Refusal::invalid(
            "the flags say more than one of pointer, offset from base and offset from here; the entry is one of them",
        )),
    }
}

/// What becomes of an entry's pointer that leads out of its event.
fn beyond(
    entry: &EntrySpec<'_>,
    spec: &SchemaSpec<'_>,
    is_string: bool,
    domain: &Domain,
) -> Beyond {
    let is_copied = entry.flags & NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY != 0;
    let has_copies = spec.flags & NVTX_PAYLOAD_SCHEMA_FLAG_DEEP_COPY != 0;
    match domain.promise {
        Some(promise) if is_string || is_copied && has_copies => Beyond::Followed(promise),
        _ if is_copied => Beyond::Shown,
        _ => Beyond::Refused,
    }
}

/// What tells the length of a field, or selects a member of it, if it is one integer beside it at a known place.
pub(crate) fn told_by(field: &Field, before: &[Field]) -> Option<Integer> {
    let source = match (field.extent, field.selector) {
        (Extent::Entry(entry), _) | (_, Some(entry)) => &before[entry],
        _ => return None,
    };
    let is_known = source.settled && source.plain && source.count.is_none() && !source.follows;
    is_known.then_some(Integer {
        at: source.at,
        reading: source.element,
    })
}

/// What selects the member of a settled union.
pub(crate) fn selected_by(field: &Field) -> Option<Integer> {
    match &field.kind {
        FieldKind::Union(schema) if field.settled && !field.follows && field.count.is_none() => {
            match schema.shape {
                Shape::SelectingUnion(own) => {
                    let own = &schema.fields[own];
                    Some(Integer {
                        at: field.at.checked_add(own.at)?,
                        reading: own.element,
                    })
                }
                _ => field.told_by,
            }
        }
        _ => None,
    }
}

/// Whether a field is settled.
pub(crate) fn is_settled(field: &Field) -> bool {
    let is_known = match &field.kind {
        FieldKind::Struct(schema) => schema.plan.is_settled,
        FieldKind::Union(schema) if schema.shape == Shape::Union => {
            schema.plan.is_settled && field.told_by.is_some() && !field.follows
        }
        FieldKind::Union(schema) => schema.plan.is_settled,
        _ => true,
    };
    field.place == Place::Here && field.extent == Extent::Schema && is_known
}

/// Checks what the entry needs of its schema and of the entries before it.
pub(crate) fn check_references(
    field: &Field,
    before: &[Field],
    spec: &SchemaSpec<'_>,
    shape: Shape,
) -> Result<()> {
    let is_here = field.place == Place::Here;
    let is_array = field.extent != Extent::Schema || field.count.is_some();
    if is_here && field.extent != Extent::Schema && shape != Shape::Dynamic {
        return Err(Refusal::invalid(
            "varies in size, which only an entry of a dynamic schema may: make the schema dynamic, \
             or store an offset or a pointer to the data",
        ));
    }
    match &field.kind {
        FieldKind::Struct(schema) if schema.shape == Shape::Dynamic => {
            if is_array {
                return Err(Refusal::invalid(
                    "is an array of dynamic schemas, which the ABI does not allow; use a static schema",
                ));
            }
            if is_here && shape != Shape::Dynamic {
                return Err(Refusal::invalid(
                    "is of a dynamic schema, which only a dynamic schema may hold: make this one dynamic, \
                     or store an offset or a pointer to the data",
                ));
            }
        }
        FieldKind::Union(union) if union.shape == Shape::Union && is_array => {
            return Err(Refusal::invalid(
                "is an array of unions with external selector, which the ABI does not allow; use an internal one",
            ));
        }
        _ => {}
    }
    if let Extent::Entry(length) = field.extent {
        let is_length = |source: &&Field| {
            source.place == Place::Here
                && matches!(source.extent, Extent::Schema | Extent::ZeroTerminated)
                && matches!(&source.kind, FieldKind::Scalar(ty) if ty.is_integer())
        };
        if before.get(length).filter(is_length).is_none() {
            return Err(not_an_integer(
                length,
                spec,
                "the length",
                "an entry before this one",
            ));
        }
    }
    if let Some(selector) = field.selector {
        let is_selector = |source: &&Field| {
            source.plain
                && source.count.is_none()
                && match &source.kind {
                    FieldKind::Scalar(ty) => ty.is_integer(),
                    FieldKind::Enum(_) => true,
                    _ => false,
                }
        };
        if before.get(selector).filter(is_selector).is_none() {
            return Err(not_an_integer(
                selector,
                spec,
                "the union's selector",
                "one integer before this entry",
            ));
        }
    }
    Ok(())
}

fn not_an_integer(index: usize, spec: &SchemaSpec<'_>, what: &str, expected: &str) -> Refusal {
    let name = match spec
        .entries
        .get(index)
        .and_then(|entry| entry.name.as_deref())
    {
        Some(name) => format!("entry {index} `{name}`"),
        None => format!("entry {index}"),
    };
    Refusal::invalid(format!(
        "arrayOrUnionDetail names {name} as {what}; that must be {expected}, of an integer type and in place"
    ))
}

fn fixed_count(detail: u64) -> Result<usize> {
    match usize::try_from(detail) {
        Ok(0) => Err(Refusal::invalid(
            "arrayOrUnionDetail is 0; a fixed array has at least one element",
        )),
        Ok(count) => Ok(count),
        Err(_) => Err(too_large()),
    }
}

fn index_of(detail: u64) -> Result<usize> {
    usize::try_from(detail).map_err(|_| too_large())
}
