//! Finalisation: from a schema as it was asked for to one that can be decoded without further checks of it.

use std::collections::HashSet;

use nvtxw_abi::raw::{
    NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
    NVTX_PAYLOAD_SCHEMA_TYPE_UNION, NVTX_PAYLOAD_SCHEMA_TYPE_UNION_WITH_INTERNAL_SELECTOR,
};
use nvtxw_abi::{EntryType, SchemaRole};

use crate::domain::Domain;
use crate::layout;
use crate::places::Places;
use crate::plan;
use crate::refusal::{Refusal, Result};
use crate::schema::{Extent, Field, FieldKind, FieldRole, Place, Schema, Shape};
use crate::spec::{EntrySpec, SchemaSpec, entry_label};

/// More structs than this inside one another are not decoded: decoding one takes stack.
const DEPTH: u32 = 32;

/// Works out the schema's layout and checks all of it. The schema has no ID yet.
pub(crate) fn finalise(spec: &SchemaSpec<'_>, domain: &Domain) -> Result<Schema> {
    let role = SchemaRole::from_flags(spec.flags).ok_or_else(|| {
        Refusal::invalid(format!(
            "attr.flags {:#x} hold an event role that the ABI does not define",
            spec.flags
        ))
    })?;
    let shape = shape(spec)?;
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
    let is_union = matches!(shape, Shape::Union | Shape::SelectingUnion(_));
    if is_union && role != SchemaRole::Generic {
        return Err(Refusal::invalid(
            "attr.flags give a union a role; put the union into a struct with that role",
        ));
    }

    let (mut fields, end, align) = fields(spec, shape, domain)?;
    let size = match spec.size {
        _ if shape == Shape::Dynamic => end,
        0 => end.next_multiple_of(align),
        size if size < end => {
            return Err(Refusal::invalid(format!(
                "attr.payloadStaticSize is {size}, but the entries reach up to byte {end}; set it to the struct's size"
            )));
        }
        size if size > isize::MAX as usize => return Err(too_large()),
        size => size,
    };
    let schema = Schema {
        id: 0,
        name: spec.name.as_deref().map(Into::into),
        role,
        shape,
        size,
        align,
        plan: plan::plan(spec, role, shape, &mut fields, domain)?,
        fields: fields.into(),
        places: Places::default(),
    };
    let plan = &schema.plan;
    if plan.depth > DEPTH {
        return Err(Refusal::unsupported(format!(
            "more than {DEPTH} structs inside one another are not decoded"
        )));
    }
    if shape != Shape::Dynamic && plan.values > (size as u64).saturating_mul(4) {
        return Err(Refusal::unsupported(format!(
            "the entries overlap too much: {size} bytes would be shown as {} values; give each entry bytes of its own",
            plan.values
        )));
    }
    Ok(schema)
}

fn shape(spec: &SchemaSpec<'_>) -> Result<Shape> {
    match spec.kind {
        NVTX_PAYLOAD_SCHEMA_TYPE_STATIC => Ok(Shape::Static),
        NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC => Ok(Shape::Dynamic),
        NVTX_PAYLOAD_SCHEMA_TYPE_UNION => Ok(Shape::Union),
        NVTX_PAYLOAD_SCHEMA_TYPE_UNION_WITH_INTERNAL_SELECTOR => {
            let is_selector = |entry: &EntrySpec<'_>| entry.ty == EntryType::UnionSelector.to_raw();
            match spec.entries.iter().position(is_selector) {
                Some(selector) => Ok(Shape::SelectingUnion(selector)),
                None => Err(Refusal::invalid(
                    "attr.type: a union with internal selector needs an entry of the type \
                     NVTX_PAYLOAD_ENTRY_TYPE_UNION_SELECTOR",
                )),
            }
        }
        kind => Err(Refusal::invalid(format!(
            "attr.type is {kind}; the ABI defines 1 to 4"
        ))),
    }
}

/// The fields, up to where those with a known place reach, and their alignment.
fn fields(
    spec: &SchemaSpec<'_>,
    shape: Shape,
    domain: &Domain,
) -> Result<(Vec<Field>, usize, usize)> {
    let mut fields: Vec<Field> = Vec::with_capacity(spec.entries.len());
    let mut names = HashSet::new();
    let (mut cursor, mut end, mut align) = (Some(0), 0, 1);
    for (index, entry) in spec.entries.iter().enumerate() {
        let mut add = || {
            let mut field = layout::field(index, spec, shape, domain)?;
            layout::check_references(&field, &fields, spec, shape)?;
            field.told_by = layout::told_by(&field, &fields);
            field.name = unique_name(index, entry, &mut names);
            // The first entry's 0 says "here", which is where the cursor stands.
            let start = match (entry.offset, cursor) {
                (0, _) if matches!(shape, Shape::Union | Shape::SelectingUnion(_)) => Some(0),
                (0, cursor) => cursor.map(|cursor: usize| cursor.next_multiple_of(field.align)),
                (offset, _) => Some(usize::try_from(offset).map_err(|_| too_large())?),
            };
            field.offset = start.unwrap_or_default();
            field.follows = start.is_none();
            field.settled = false;
            if let Ok(at) = u32::try_from(field.offset) {
                field.at = at;
                field.settled = layout::is_settled(&field);
            }
            field.selected_by = layout::selected_by(&field);
            field.role = plan::field_role(entry, &field, shape)?;
            cursor = match (start, field.own_size()) {
                (Some(start), Some(size)) => Some(
                    start
                        .checked_add(size)
                        .filter(|end| *end <= isize::MAX as usize)
                        .ok_or_else(too_large)?,
                ),
                _ => None,
            };
            // A field of varying size begins where its payload reaches at least.
            end = end.max(cursor.or(start).unwrap_or_default());
            align = align.max(field.align);
            fields.push(field);
            Ok(())
        };
        add().map_err(|refusal: Refusal| refusal.at(label(index, entry)))?;
    }
    // The last message names the event; those before it are data.
    let messages = fields.iter_mut().rev();
    let messages = messages.filter(|field| field.role == FieldRole::Message);
    for field in messages.skip(1) {
        field.role = FieldRole::Plain;
        let has_name = (spec.entries[field.index].name.as_deref()).is_some_and(|it| !it.is_empty());
        if !has_name && names.insert("message".into()) {
            field.name = "message".into();
        }
    }
    give_slots(&mut fields);
    Ok((fields, end, align))
}

/// Has a walk keep the places of the fields that something refers to, and that only a walk finds.
fn give_slots(fields: &mut [Field]) {
    let mut slots = 0;
    for index in 0..fields.len() {
        let referred = match (fields[index].extent, fields[index].selector) {
            (Extent::Entry(entry), _) | (_, Some(entry)) => entry,
            // The event refers to its attributes. (The walk itself shows a message.)
            _ if is_found(&fields[index]) => index,
            _ => continue,
        };
        let referred = &mut fields[referred];
        if referred.follows && referred.slot.is_none() {
            referred.slot = Some(slots);
            slots += 1;
        }
    }
}

/// Whether an event has an attribute there.
fn is_found(field: &Field) -> bool {
    !matches!(field.role, FieldRole::Plain | FieldRole::Message)
        || plan::is_process_id(field)
        || plan::is_thread_id(field)
}

impl Field {
    /// Bytes of all elements of a settled field.
    #[inline]
    pub(crate) fn span(&self) -> usize {
        self.size * self.count.unwrap_or(1)
    }

    /// Whether it has just one element.
    #[inline]
    pub(crate) fn is_one(&self) -> bool {
        self.extent == Extent::Schema && self.count.is_none()
    }

    /// Bytes that the field itself takes, if that is the same in all payloads.
    pub(crate) fn own_size(&self) -> Option<usize> {
        match (self.place, self.extent, &self.kind) {
            (Place::Here, Extent::Schema, FieldKind::Struct(schema))
                if schema.shape == Shape::Dynamic =>
            {
                None
            }
            (Place::Here, Extent::Schema, _) => Some(self.span()),
            (Place::Here, ..) => None,
            _ => Some(layout::REFERENCE),
        }
    }
}

pub(crate) fn too_large() -> Refusal {
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
    entry_label(index, entry.name.as_deref())
}
