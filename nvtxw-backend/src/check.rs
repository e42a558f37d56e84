//! What may be wrong in settled fields: registered strings, and unions' selectors.

use crate::domain::Domain;
use crate::refusal::{Cause, Refusal, Result};
use crate::scalar::{Read, read};
use crate::schema::{Field, FieldKind, Integer, Schema, Shape};

/// A settled field that may be wrong, and that nobody else looks at.
#[derive(Debug)]
pub(crate) struct Check {
    /// The field's index.
    field: usize,
    glance: Glance,
}

/// How a good one is told at once.
#[derive(Debug)]
// With a tag of its own, which is faster told than one in unused values of a part.
#[repr(u8)]
enum Glance {
    /// By the handle at this place.
    String(u32),
    /// By what selects one of so many members, but for that which is the selector.
    Selector { by: Integer, members: u64, own: u64 },
    /// Not at once.
    Nothing,
}

impl Check {
    pub(crate) fn new(field: &Field) -> Self {
        let glance = match (&field.kind, field.selected_by) {
            (FieldKind::Scalar(_), _) if field.count.is_none() => Glance::String(field.at),
            (FieldKind::Union(union), Some(by)) if union.fields.iter().all(|it| !it.has_checks) => {
                Glance::Selector {
                    by,
                    members: union.fields.len() as u64,
                    own: match union.shape {
                        Shape::SelectingUnion(own) => own as u64,
                        _ => u64::MAX,
                    },
                }
            }
            _ => Glance::Nothing,
        };
        Self {
            field: field.index,
            glance,
        }
    }
}

/// Refuses a payload if something is wrong in the settled fields that nobody else looks at: a registered string is none of this
/// domain's, or nothing is what a union's selector selects.
#[inline(always)]
pub(crate) fn check(schema: &Schema, bytes: &[u8], domain: &Domain) -> Result<()> {
    for check in &schema.plan.checked {
        let is_good = match check.glance {
            Glance::String(at) => is_known(read(bytes, at as usize), domain),
            Glance::Selector { by, members, own } => by
                .bits(bytes)
                .is_some_and(|selected| selected < members && selected != own),
            Glance::Nothing => false,
        };
        if !is_good {
            check_field(&schema.fields[check.field], bytes, domain)?;
        }
    }
    Ok(())
}

/// The same for one of them. `bytes` start with the struct that it is in, if it has one.
#[inline(never)]
fn check_field(field: &Field, bytes: &[u8], domain: &Domain) -> Result<()> {
    let at = field.at as usize;
    match (&field.kind, field.whole) {
        (FieldKind::Union(union), Read::Union) => check_union(field, union, bytes, at, domain),
        _ => check_elements(field, &bytes[at..at + field.span()], domain),
    }
}

/// The same for all elements of a field.
pub(crate) fn check_elements(field: &Field, bytes: &[u8], domain: &Domain) -> Result<()> {
    for element in bytes.chunks_exact(field.size) {
        match &field.kind {
            FieldKind::Struct(inner) => {
                for field in inner.fields().iter().filter(|field| field.has_checks) {
                    check_field(field, element, domain)?;
                }
            }
            FieldKind::Union(union) => check_union(field, union, element, 0, domain)?,
            _ => match read(element, 0) {
                handle if is_known(handle, domain) => {}
                handle => return Err(unknown_handle(handle, field.name())),
            },
        }
    }
    Ok(())
}

fn check_union(
    field: &Field,
    union: &Schema,
    bytes: &[u8],
    at: usize,
    domain: &Domain,
) -> Result<()> {
    let selected = selected(field, union, bytes, at);
    match selected.and_then(|selected| union.member(selected)) {
        Some(member) if member.has_checks => check_field(member, &bytes[at..], domain),
        Some(_) => Ok(()),
        None => Err(union.selects_none(selected)),
    }
}

/// What the selector of a settled union at `at` says. `bytes` start with the struct that the union is in, if it has one.
#[inline(always)]
pub(crate) fn selected(field: &Field, union: &Schema, bytes: &[u8], at: usize) -> Option<u64> {
    match (field.selected_by, union.shape) {
        (Some(selector), _) => selector.bits(bytes),
        (None, Shape::SelectingUnion(own)) => {
            let own = &union.fields[own];
            own.element.bits(bytes, at + own.offset)
        }
        (None, _) => None,
    }
}

/// Whether a registered string is one of this domain's, or none.
#[inline(always)]
fn is_known(handle: u64, domain: &Domain) -> bool {
    handle == 0 || domain.registered(handle).is_some()
}

#[cold]
pub(crate) fn unknown_handle(handle: u64, what: &str) -> Refusal {
    Refusal::invalid(format!(
        "`{what}` is {handle:#x}, which is no string of the stream's domain: register it there"
    ))
    .because(Cause::Handle)
}
