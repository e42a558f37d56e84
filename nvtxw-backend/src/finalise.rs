//! Finalisation: from a schema as it was asked for to one that can be decoded without further checks.

use std::collections::HashSet;
use std::sync::Arc;

use nvtxw_abi::raw::{
    NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY, NVTX_PAYLOAD_ENTRY_FLAG_HIDE,
    NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE, NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE,
    NVTX_PAYLOAD_ENTRY_FLAG_POINTER, NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC,
    NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, NVTX_PAYLOAD_SCHEMA_TYPE_UNION,
    NVTX_PAYLOAD_SCHEMA_TYPE_UNION_WITH_INTERNAL_SELECTOR,
};
use nvtxw_abi::{ArrayStyle, EntryRole, EntryType, IdClass, SchemaRole};

use crate::domain::{Domain, Layout};
use crate::plan;
use crate::refusal::{Refusal, Result};
use crate::schema::{Field, FieldKind, FieldRole, Schema};
use crate::spec::{EntrySpec, SchemaSpec};

/// More structs than this inside one another are not decoded: decoding one takes stack.
const DEPTH: u32 = 32;

/// Flags of entries whose data is elsewhere.
const INDIRECT: u64 = NVTX_PAYLOAD_ENTRY_FLAG_POINTER
    | NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE
    | NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE
    | NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY;

/// Works out the schema's layout and checks all of it. The schema has no ID yet.
pub(crate) fn finalise(spec: &SchemaSpec<'_>, domain: &Domain) -> Result<Schema> {
    let role = SchemaRole::from_flags(spec.flags).ok_or_else(|| {
        Refusal::invalid(format!(
            "attr.flags {:#x} hold an event role that the ABI does not define",
            spec.flags
        ))
    })?;
    match spec.kind {
        NVTX_PAYLOAD_SCHEMA_TYPE_STATIC => finalise_static(spec, role, domain),
        NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC => finalise_text(spec, role),
        NVTX_PAYLOAD_SCHEMA_TYPE_UNION | NVTX_PAYLOAD_SCHEMA_TYPE_UNION_WITH_INTERNAL_SELECTOR => {
            Err(Refusal::unsupported(
                "attr.type: unions are not decoded yet; register a struct for each member instead",
            ))
        }
        kind => Err(Refusal::invalid(format!(
            "attr.type is {kind}; the ABI defines 1 to 4"
        ))),
    }
}

fn finalise_static(spec: &SchemaSpec<'_>, role: SchemaRole, domain: &Domain) -> Result<Schema> {
    if spec.entries.is_empty() {
        return Err(Refusal::invalid(
            "attr.numEntries is 0; a schema has at least one entry",
        ));
    }
    if spec.pack != 0 && !spec.pack.is_power_of_two() {
        return Err(Refusal::invalid(format!(
            "attr.packAlign is {}; it must be 0 or a power of two",
            spec.pack
        )));
    }

    let mut fields = Vec::with_capacity(spec.entries.len());
    let mut names = HashSet::new();
    let (mut cursor, mut end, mut align) = (0, 0, 1);
    for (index, entry) in spec.entries.iter().enumerate() {
        let placed =
            place(index, entry, cursor, spec.pack, domain).and_then(|(mut field, field_align)| {
                field.name = unique_name(index, entry, &mut names);
                field.role = plan::field_role(entry, &field)?;
                let bytes = field.size * field.count.unwrap_or(1);
                cursor = field
                    .offset
                    .checked_add(bytes)
                    .filter(|end| *end <= isize::MAX as usize)
                    .ok_or_else(too_large)?;
                end = end.max(cursor);
                align = align.max(field_align);
                Ok(field)
            });
        fields.push(placed.map_err(|refusal| refusal.at(label(index, entry)))?);
    }

    let size = match spec.size {
        0 => end.next_multiple_of(align),
        size if size < end => {
            return Err(Refusal::invalid(format!(
                "attr.payloadStaticSize is {size}, but the entries reach up to byte {end}; set it to the struct's size"
            )));
        }
        size if size > isize::MAX as usize => return Err(too_large()),
        size => size,
    };
    let plan = plan::plan(spec, role, &mut fields, domain)?;
    if plan.depth > DEPTH {
        return Err(Refusal::unsupported(format!(
            "more than {DEPTH} structs inside one another are not decoded"
        )));
    }
    if plan.values > (size as u64).saturating_mul(4) {
        return Err(Refusal::unsupported(format!(
            "the entries overlap too much: {size} bytes would be shown as {} values; give each entry bytes of its own",
            plan.values
        )));
    }
    Ok(Schema {
        id: 0,
        name: spec.name.as_deref().map(Into::into),
        role,
        size,
        align,
        fields: fields.into(),
        plan,
    })
}

/// The entry's kind and place, and its alignment. Name and role are still missing.
fn place(
    index: usize,
    entry: &EntrySpec<'_>,
    cursor: usize,
    pack: usize,
    domain: &Domain,
) -> Result<(Field, usize)> {
    if entry.flags & INDIRECT != 0 {
        return Err(Refusal::unsupported(
            "data behind pointers and offsets is not decoded yet; put it into the payload in place",
        ));
    }
    let mut count = match ArrayStyle::from_raw(entry.flags) {
        Some(ArrayStyle::None) => None,
        Some(ArrayStyle::FixedSize) => Some(fixed_count(entry.detail)?),
        Some(
            ArrayStyle::ZeroTerminated | ArrayStyle::LengthIndex | ArrayStyle::LengthPayloadIndex,
        ) => {
            return Err(Refusal::unsupported(
                "arrays and text of varying length are not decoded yet; give the length in the schema",
            ));
        }
        None => {
            return Err(Refusal::invalid(
                "the flags hold an array style that the ABI does not define",
            ));
        }
    };
    let (kind, size, natural) = match IdClass::of(entry.ty) {
        IdClass::Predefined => {
            let ty = EntryType::from_raw(entry.ty)
                .filter(|_| entry.ty != 0)
                .ok_or_else(|| {
                    Refusal::invalid(format!("the type {} is not defined by the ABI", entry.ty))
                })?;
            match ty {
                EntryType::CString | EntryType::CStringUtf8 => {
                    if entry.detail == 0 {
                        return Err(Refusal::unsupported(
                            "pointers to text are not decoded yet; give the length in the schema, or register the string",
                        ));
                    }
                    // Such an entry is one text, also where it is flagged as an array.
                    count = None;
                    let units = fixed_count(entry.detail)?;
                    (FieldKind::FixedString(ty, units), units, 1)
                }
                EntryType::CStringUtf16
                | EntryType::CStringUtf32
                | EntryType::LongDouble
                | EntryType::Float128
                | EntryType::TensorFloat32
                | EntryType::UnionSelector => {
                    return Err(Refusal::unsupported(format!(
                        "the type {} is not decoded yet",
                        ty.name()
                    )));
                }
                ty => {
                    let (size, align) = ty.layout().unwrap_or((1, 1));
                    (FieldKind::Scalar(ty), size, align)
                }
            }
        }
        IdClass::Static | IdClass::Dynamic => {
            match domain.layouts.get(entry.ty).map(|layout| &**layout) {
                Some(Layout::Schema(schema)) if schema.is_text() => {
                    return Err(Refusal::unsupported(
                        "text of varying length inside a struct is not decoded yet",
                    ));
                }
                Some(Layout::Schema(schema)) => (
                    FieldKind::Struct(Arc::clone(schema)),
                    schema.size,
                    schema.align,
                ),
                Some(Layout::Enum(enumeration)) => (
                    FieldKind::Enum(Arc::clone(enumeration)),
                    enumeration.size(),
                    enumeration.size(),
                ),
                None => {
                    return Err(Refusal::invalid(format!(
                        "the type {} is no schema or enum of the domain: register it first",
                        entry.ty
                    )));
                }
            }
        }
    };
    size.checked_mul(count.unwrap_or(1))
        .filter(|bytes| *bytes <= isize::MAX as usize)
        .ok_or_else(too_large)?;
    let align = if pack == 0 {
        natural
    } else {
        natural.min(pack)
    };
    let offset = if index == 0 || entry.offset != 0 {
        usize::try_from(entry.offset).map_err(|_| too_large())?
    } else {
        cursor.next_multiple_of(align)
    };
    let field = Field {
        index,
        name: Box::default(),
        description: entry.description.as_deref().map(Into::into),
        has_handles: match &kind {
            FieldKind::Scalar(ty) => *ty == EntryType::RegisteredString,
            FieldKind::Struct(schema) => schema.fields().iter().any(|field| field.has_handles),
            _ => false,
        },
        kind,
        offset,
        size,
        count,
        hidden: entry.flags & NVTX_PAYLOAD_ENTRY_FLAG_HIDE != 0,
        role: FieldRole::Plain,
        is_attribute: false,
        counter_semantics: entry.semantics.counter.clone(),
        correlation: entry.semantics.correlation.clone(),
    };
    Ok((field, align))
}

/// The one dynamic schema that is decoded: text that ends with the payload, or before its first null.
fn finalise_text(spec: &SchemaSpec<'_>, role: SchemaRole) -> Result<Schema> {
    let unsupported = || {
        Refusal::unsupported(
            "attr.type: of dynamic schemas only one zero-terminated UTF-8 text without event role is decoded yet",
        )
    };
    let [entry] = &*spec.entries else {
        return Err(unsupported());
    };
    let entry_role = EntryRole::from_flags(entry.flags);
    if role != SchemaRole::Generic
        || entry.flags & INDIRECT != 0
        || ArrayStyle::from_raw(entry.flags) != Some(ArrayStyle::ZeroTerminated)
        || !matches!(
            EntryType::from_raw(entry.ty),
            Some(EntryType::CString | EntryType::CStringUtf8)
        )
        || !matches!(entry_role, Some(EntryRole::None | EntryRole::Message))
        || entry.offset != 0
    {
        return Err(unsupported());
    }
    let is_message = entry_role == Some(EntryRole::Message);
    let field = Field {
        index: 0,
        name: unique_name(0, entry, &mut HashSet::new()),
        description: entry.description.as_deref().map(Into::into),
        kind: FieldKind::Text,
        offset: 0,
        size: 0,
        count: None,
        hidden: entry.flags & NVTX_PAYLOAD_ENTRY_FLAG_HIDE != 0,
        role: if is_message {
            FieldRole::Message
        } else {
            FieldRole::Plain
        },
        is_attribute: is_message,
        has_handles: false,
        counter_semantics: entry.semantics.counter.clone(),
        correlation: entry.semantics.correlation.clone(),
    };
    Ok(Schema {
        id: 0,
        name: spec.name.as_deref().map(Into::into),
        role,
        size: 0,
        align: 1,
        fields: [field].into(),
        plan: plan::text(is_message),
    })
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

fn too_large() -> Refusal {
    Refusal::invalid("the payload would be larger than the address space")
}

/// The entry's name, or one made for it; different from those before it.
fn unique_name(index: usize, entry: &EntrySpec<'_>, names: &mut HashSet<Box<str>>) -> Box<str> {
    let mut name = match entry.name.as_deref() {
        None | Some("") => format!("field {index}"),
        Some(name) => name.to_owned(),
    };
    while names.contains(&*name) {
        name = format!("{name} ({index})");
    }
    let name: Box<str> = name.into();
    names.insert(name.clone());
    name
}

/// How people find the entry.
pub(crate) fn label(index: usize, entry: &EntrySpec<'_>) -> String {
    match entry.name.as_deref() {
        None | Some("") => format!("entry {index}"),
        Some(name) => format!("entry {index} `{name}`"),
    }
}
