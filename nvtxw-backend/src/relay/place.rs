//! Where in payloads IDs and handles are that another backend has others for.

use nvtxw_abi::EntryType;

use crate::refusal::{Refusal, Result};
use crate::relay::copy::Copied;
use crate::schema::{Field, FieldKind, Place, Schema, Shape};
use crate::sink::Sink;
use crate::value::Value;

/// Payloads with more of them are walked through each time.
const LIMIT: usize = 4096;

/// What 8 bytes of a payload are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reference {
    /// A registered string's handle.
    String,
    /// A scope's ID.
    Scope,
}

impl Reference {
    pub(crate) fn of(ty: EntryType) -> Option<Self> {
        match ty {
            EntryType::RegisteredString => Some(Self::String),
            EntryType::ScopeId => Some(Self::Scope),
            _ => None,
        }
    }
}

/// Where the references in a payload are.
#[derive(Debug)]
pub(crate) enum Places {
    /// Nowhere.
    None,
    /// At these offsets.
    Fixed(Box<[(usize, Reference)]>),
    /// In each payload elsewhere.
    Varying,
}

impl Places {
    pub(crate) fn of(schema: &Schema) -> Self {
        if !has_references(schema) {
            return Self::None;
        }
        let mut fields = schema.fields().iter();
        let are_fixed =
            fields.all(|field| !has_references_in(field) || field.plain && !field.follows);
        let is_struct = matches!(schema.shape, Shape::Static | Shape::Dynamic);
        if !are_fixed || !is_struct || schema.size > LIMIT * size_of::<u64>() {
            return Self::Varying;
        }
        let mut places = Vec::new();
        struct_places(schema, 0, &mut |offset, reference| {
            places.push((offset, reference));
        });
        Self::Fixed(places.into())
    }
}

fn has_references(schema: &Schema) -> bool {
    schema.fields().iter().any(has_references_in)
}

fn has_references_in(field: &Field) -> bool {
    match &field.kind {
        FieldKind::Scalar(ty) => Reference::of(*ty).is_some(),
        FieldKind::Struct(schema) | FieldKind::Union(schema) => has_references(schema),
        FieldKind::Text(_) | FieldKind::Enum(_) => false,
    }
}

/// Whether an entry is a pointer.
pub(crate) fn has_pointers(schema: &Schema) -> bool {
    schema.fields().iter().any(|field| {
        matches!(field.place, Place::Pointer(_))
            || match &field.kind {
                FieldKind::Struct(schema) | FieldKind::Union(schema) => has_pointers(schema),
                _ => false,
            }
    })
}

/// Whether an entry is an offset.
pub(crate) fn has_offsets(schema: &Schema) -> bool {
    schema.fields().iter().any(|field| {
        matches!(field.place, Place::FromBase | Place::FromHere)
            || match &field.kind {
                FieldKind::Struct(schema) | FieldKind::Union(schema) => has_offsets(schema),
                _ => false,
            }
    })
}

/// The places in a struct that starts at `base`, whose fields with references are all plain.
fn struct_places(schema: &Schema, base: usize, found: &mut impl FnMut(usize, Reference)) {
    for field in schema
        .fields()
        .iter()
        .filter(|field| has_references_in(field))
    {
        field_places(field, field.count, base + field.offset, found);
    }
}

/// The same for a field.
fn field_places(
    field: &Field,
    count: Option<usize>,
    at: usize,
    found: &mut impl FnMut(usize, Reference),
) {
    let elements = (0..count.unwrap_or(1)).map(|index| at + index * field.size);
    match &field.kind {
        FieldKind::Scalar(ty) => {
            if let Some(reference) = Reference::of(*ty) {
                elements.for_each(|at| found(at, reference));
            }
        }
        FieldKind::Struct(schema) if has_references(schema) => {
            elements.for_each(|at| struct_places(schema, at, found));
        }
        _ => {}
    }
}

/// Finds what a walk comes by, by its address.
#[derive(Default)]
pub(crate) struct Finder {
    found: Vec<(usize, Reference)>,
    /// Offsets from a base, and the address of that.
    offsets: Vec<(usize, usize)>,
    /// Where the first pointer leads to that leads out of what is known.
    stray: Option<u64>,
}

impl Finder {
    /// The references, each place once: where payloads and events share data, walks come by more often.
    pub(crate) fn found(self) -> Vec<(usize, Reference)> {
        once(self.found)
    }

    /// Refuses what leads to memory that is not known.
    pub(crate) fn check(&self) -> Result<()> {
        match self.stray {
            None => Ok(()),
            Some(address) => Err(Refusal::unsupported(format!(
                "a pointer leads to {address:#x}, and nothing says what is there"
            ))),
        }
    }

    /// Has offsets from a base count from where the copy that they are in starts.
    pub(crate) fn rebase(&mut self, copies: &mut [Copied]) {
        for (address, base) in once(std::mem::take(&mut self.offsets)) {
            for copy in &mut *copies {
                let start = copy.bytes().as_ptr().addr();
                let (at, shift) = (address.wrapping_sub(start), base.wrapping_sub(start));
                if at.max(shift) < copy.bytes().len() {
                    copy.replace(at, |offset| offset.wrapping_add(shift as u64));
                }
            }
        }
    }
}

/// Each address once, in order.
pub(crate) fn once<T>(mut found: Vec<(usize, T)>) -> Vec<(usize, T)> {
    found.sort_by_key(|(address, _)| *address);
    found.dedup_by_key(|(address, _)| *address);
    found
}

impl<'a> Sink<'a> for Finder {
    fn plain(&mut self, field: &'a Field, count: Option<usize>, bytes: &'a [u8]) -> Result<()> {
        let start = bytes.as_ptr().addr();
        field_places(field, count, start, &mut |at, reference| {
            self.found.push((at, reference));
        });
        Ok(())
    }

    fn reference(&mut self, field: &'a Field, bytes: &'a [u8], base: Option<usize>) {
        if let Some(base) = base.filter(|_| field.place == Place::FromBase) {
            self.offsets.push((bytes.as_ptr().addr(), base));
        }
    }

    fn value(&mut self, _: &'a Field, value: Value<'a>) {
        if let Value::Address(address) = value {
            self.stray.get_or_insert(address);
        }
    }

    fn begin_array(&mut self, _: &'a Field, _: usize) {}
    fn end_array(&mut self, _: &'a Field) {}
    fn begin_struct(&mut self, _: &'a Field, _: &'a Schema) {}
    fn end_struct(&mut self, _: &'a Field) {}
}
