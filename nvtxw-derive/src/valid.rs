//! Rejects what the derives can't expand. Nothing else: what comes through expands without errors.

use std::collections::{HashMap, hash_map::Entry};
use std::hash::Hash;

use proc_macro2::{Ident, Span};
use syn::Generics;

use crate::{
    ast::{Enumeration, Field, Newtype, Shape, Struct},
    attr::Placed,
    errors::Errors,
    vocabulary::{EventKind, Role, Word as _, list},
};

/// Checks an event.
pub(crate) fn event(input: &Struct, errors: &mut Errors) {
    structure(input, "an event", errors);
    let Some(kind) = input.attributes.kind else {
        if !input.attributes.has_kind {
            let kinds = list(EventKind::ALL.iter().map(|kind| kind.spelling()), "or");
            let message =
                format!("an event needs a kind: add `#[nvtx(kind = …)]` where … is {kinds}");
            errors.push(input.ident.span(), message);
        }
        return;
    };
    if input.shape == Shape::NamedFields {
        roles_of_kind(input, kind, errors);
        clocks(input, errors);
    }
    if !kind.value.is_complete() {
        for span in input
            .fields
            .iter()
            .filter_map(|field| field.attributes.flex)
        {
            let kind = kind.value.spelling();
            let message = format!(
                "`kind = {kind}` is written singly, and only batches have text in a pool: register the text, or use \
                 `string`"
            );
            errors.push(span, message);
        }
    }
}

/// Checks that all times of an event are of one clock.
fn clocks(input: &Struct, errors: &mut Errors) {
    let mut times = input
        .fields
        .iter()
        .filter(|field| field.attributes.role().is_some_and(|role| role.is_time()));
    let Some(first) = times.next() else { return };
    let clock = |field: &Field| field.attributes.time_domain.map(|clock| clock.value);
    for time in times.filter(|time| clock(time) != clock(first)) {
        let (place, other) = match time.attributes.time_domain {
            Some(place) => (place.span, first),
            None => (
                first
                    .attributes
                    .time_domain
                    .map_or_else(Span::call_site, |place| place.span),
                time,
            ),
        };
        let message = format!(
            "`{}` is of another clock: an event is timed by one, give both the same `time_domain`",
            other.ident
        );
        errors.push(place, message);
    }
}

/// Checks the roles that depend on the kind.
fn roles_of_kind(input: &Struct, kind: Placed<EventKind>, errors: &mut Errors) {
    let name = kind.value.spelling();
    let needed = kind.value.needs();
    let mut wrong_time = false;
    for role in input
        .fields
        .iter()
        .flat_map(|field| &field.attributes.roles)
    {
        if role.value.depends_on_kind() && !needed.contains(&role.value) {
            let needed = list(needed.iter().map(|role| role.spelling()), "and");
            let role_name = role.value.spelling();
            let message = format!("`kind = {name}` has no `{role_name}`: it needs {needed}");
            errors.push(role.span, message);
            wrong_time |= role.value.is_time();
        }
    }
    // A time of the wrong role is one mistake, not two; so is a misspelled role.
    let is_there = |needed: &Role| {
        (needed.is_time() && wrong_time)
            || input.fields.iter().any(|Field { attributes, .. }| {
                attributes.meant.contains(needed)
                    || attributes.roles.iter().any(|role| role.value == *needed)
            })
    };
    for missing in needed
        .iter()
        .filter(|needed| !is_there(needed))
        .map(|role| role.spelling())
    {
        let message = format!(
            "`kind = {name}` needs a `{missing}`: mark its field with `#[nvtx({missing})]`"
        );
        errors.push(kind.span, message);
    }
}

/// Checks a counter group.
pub(crate) fn counter_group(input: &Struct, errors: &mut Errors) {
    structure(input, "a counter group", errors);
    if let Some(kind) = input.attributes.kind {
        errors.push(
            kind.span,
            "a counter group has no kind: remove `kind`, or derive `NvtxEvent`",
        );
    }
    for field in &input.fields {
        for role in field
            .attributes
            .roles
            .iter()
            .filter(|role| role.value != Role::Timestamp)
        {
            let role_name = role.value.spelling();
            let message =
                format!("a counter group has no `{role_name}`: its only role is `timestamp`");
            errors.push(role.span, message);
        }
        for (name, span) in text_attributes(field) {
            let message = format!("a counter group has no `{name}`: its fields are numbers");
            errors.push(span, message);
        }
    }
    let has_counter =
        |Field { attributes, .. }: &Field| attributes.skip.is_none() && attributes.roles.is_empty();
    if input.shape == Shape::NamedFields && !input.fields.iter().any(has_counter) {
        let message =
            "a counter group needs a counter: a numeric field without `skip` or `timestamp`";
        errors.push(input.ident.span(), message);
    }
}

/// Checks a payload.
pub(crate) fn payload(input: &Struct, errors: &mut Errors) {
    structure(input, "a payload", errors);
    if let Some(kind) = input.attributes.kind {
        errors.push(
            kind.span,
            "a payload has no kind: remove `kind`, or derive `NvtxEvent`",
        );
    }
    for Field { attributes, .. } in &input.fields {
        for role in attributes
            .roles
            .iter()
            .filter(|role| role.value != Role::Correlation)
        {
            let role_name = role.value.spelling();
            let message = format!(
                "a payload has no `{role_name}`: it describes the event that it belongs to, so put the field there"
            );
            errors.push(role.span, message);
        }
        if let Some(span) = attributes.flex {
            let message = "a payload has no text in a pool: put the field into the event, register the text, or use \
                           `string`";
            errors.push(span, message);
        }
    }
    let has_entry = |field: &Field| field.attributes.skip.is_none();
    if input.shape == Shape::NamedFields && !input.fields.iter().any(has_entry) {
        let message = "a payload needs a field that is shown: one without `skip`";
        errors.push(input.ident.span(), message);
    }
}

/// The integers that an enum can be stored as.
const INTEGERS: [&str; 10] = [
    "u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize",
];

/// Checks an enum.
pub(crate) fn enumeration(input: &Enumeration, errors: &mut Errors) {
    let span = input.ident.span();
    let Some(variants) = &input.variants else {
        let message = "only an enum has values with names: derive `NvtxPayload` for a struct";
        errors.push(span, message);
        return;
    };
    text("name", &input.name(), errors);
    match (&input.repr.other, input.repr.c) {
        (Some((name, span)), _) if name.ends_with("128") => errors.push(
            *span,
            "an enum in a trace has at most 64 bits: write `#[repr(u64)]` or less",
        ),
        (Some((name, span)), _) if !INTEGERS.contains(&name.as_str()) => {
            let message = format!("`repr({name})` doesn't fix the size of an enum: write `#[repr(u8)]` or the like");
            errors.push(*span, message);
        }
        (Some(_), _) => {}
        (None, true) if input.attributes.flags.is_some() => errors.push(
            span,
            "flags are an integer in the trace: write `#[repr(u32)]` or the like instead of `#[repr(C)]`",
        ),
        (None, true) => {}
        (None, false) => errors.push(
            span,
            "the size of an enum must be fixed: add `#[repr(u8)]` or the like",
        ),
    }
    if let Some(parameter) = input.generics.params.first() {
        let message = "an enum of values can't have parameters: remove them";
        errors.push(syn::spanned::Spanned::span(parameter), message);
    }
    if variants.is_empty() {
        errors.push(span, "the enum has no variants, so it has no values");
    }
    let mut names = HashMap::new();
    for variant in variants {
        text("name", &variant.name(), errors);
        if variant.has_fields {
            let message = format!(
                "`{}` has fields, and a value of an enum in a trace is a number: remove them, or write a payload struct \
                 instead",
                variant.ident
            );
            errors.push(variant.ident.span(), message);
        }
        let (name, span) = variant.name();
        match names.entry(name) {
            Entry::Occupied(first) => {
                let (name, first): (&String, &&Ident) = (first.key(), first.get());
                let message = format!("variant `{first}` is named `{name}` already");
                errors.push(span, message);
            }
            Entry::Vacant(first) => {
                first.insert(&variant.ident);
            }
        }
    }
}

/// Checks a newtype.
pub(crate) fn newtype(input: &Newtype, errors: &mut Errors) {
    let span = input.ident.span();
    let Some(fields) = &input.fields else {
        let message = "a newtype is a struct with one field: derive `NvtxEnum` for an enum";
        errors.push(span, message);
        return;
    };
    let transparent = matches!(&input.repr.other, Some((name, _)) if name == "transparent");
    if !transparent {
        let message = "a newtype must have the layout of what it wraps: add `#[repr(transparent)]`";
        errors.push(span, message);
    }
    if fields.len() != 1 {
        let message = format!(
            "a newtype wraps one field, and this struct has {}: derive `NvtxPayload` for a struct of several",
            fields.len()
        );
        errors.push(span, message);
    }
    lifetimes(&input.generics, "a newtype", errors);
}

fn lifetimes(generics: &Generics, what: &str, errors: &mut Errors) {
    for parameter in generics.lifetimes() {
        let message = format!(
            "{what} can't borrow: its bytes go into the trace; register text first and store its \
             `StringHandle`"
        );
        errors.push(parameter.lifetime.span(), message);
    }
}

/// What holds for all structs with named fields.
fn structure(input: &Struct, what: &str, errors: &mut Errors) {
    let span = input.ident.span();
    let shape = match input.shape {
        Shape::NamedFields => None,
        Shape::Tuple => {
            Some("a tuple struct: name its fields, the entries take their names from them")
        }
        Shape::Unit => Some("a unit struct: give it fields"),
        Shape::Enum => Some("an enum: derive `NvtxEnum`, and make it a field"),
        Shape::Union => Some("a union"),
    };
    if let Some(shape) = shape {
        errors.push(
            span,
            format!("{what} is a struct with named fields, not {shape}"),
        );
        return;
    }
    if !input.repr.c {
        let (span, message) = match (&input.repr.other, input.repr.packed) {
            (Some((name, span)), _) => (
                *span,
                format!("`repr({name})` doesn't fix where the fields lie: write `#[repr(C)]`"),
            ),
            (None, Some(_)) => (
                span,
                format!("{what} needs a fixed layout: add `C` to its `repr`"),
            ),
            (None, None) => (
                span,
                format!("{what} needs a fixed layout: add `#[repr(C)]`"),
            ),
        };
        errors.push(span, message);
    }
    lifetimes(&input.generics, what, errors);
    text("name", &input.name(), errors);
    let mut roles = HashMap::new();
    let mut names = HashMap::new();
    let mut correlations = HashMap::new();
    for field in &input.fields {
        self::field(field, errors);
        for role in field
            .attributes
            .roles
            .iter()
            .filter(|role| role.value != Role::Correlation)
        {
            let name = role.value.spelling();
            if let Some(first) = repeats(&mut roles, name, field) {
                let message = format!("field `{first}` is the `{name}` already: {what} has one");
                errors.push(role.span, message);
            }
        }
        if field.attributes.skip.is_none() {
            let (name, span) = field.name();
            if let Some(first) = repeats(&mut names, name.clone(), field) {
                errors.push(
                    span,
                    format!("the entry of field `{first}` is named `{name}` already"),
                );
            }
        }
        if field.attributes.role() == Some(Role::Correlation) {
            let (name, span) = field.correlation();
            if let Some(first) = repeats(&mut correlations, name.clone(), field) {
                let message = format!("field `{first}` correlates in the domain `{name}` already");
                errors.push(span, message);
            }
        }
    }
}

/// Notes that `field` has `key`. The field that had it before, if one had.
fn repeats<'a, K: Eq + Hash>(
    seen: &mut HashMap<K, &'a Ident>,
    key: K,
    field: &'a Field,
) -> Option<&'a Ident> {
    match seen.entry(key) {
        Entry::Occupied(first) => Some(first.get()),
        Entry::Vacant(first) => {
            first.insert(&field.ident);
            None
        }
    }
}

/// What can be said of a field by itself.
fn field(field: &Field, errors: &mut Errors) {
    let attributes = &field.attributes;
    text("name", &field.name(), errors);
    for (key, literal) in [
        ("description", &attributes.description),
        ("unit", &attributes.unit),
    ] {
        if let Some(literal) = literal {
            text(key, &(literal.value(), literal.span()), errors);
        }
    }
    if attributes.correlation.is_some() {
        text("correlation", &field.correlation(), errors);
    }
    if attributes.skip.is_some() {
        for Placed { value: other, span } in attributes.all.iter().filter(|all| all.value != "skip")
        {
            errors.push(
                *span,
                format!("a skipped field has no entry: remove `{other}` or `skip`"),
            );
        }
        return;
    }
    if let Some(((first, _), more)) = text_attributes(field).split_first() {
        for (other, span) in more {
            let message = format!("text is `{first}` or `{other}`, not both: remove one");
            errors.push(*span, message);
        }
        for Placed { value: other, span } in attributes.of_numbers() {
            let message =
                format!("`{other}` describes a number, and this field is text: remove it");
            errors.push(*span, message);
        }
    }
    if let Some(clock) = attributes.time_domain
        && !attributes.role().is_some_and(|role| role.is_time())
    {
        let message = "`time_domain` says which clock a timestamp is of: remove it, or give the field such a role";
        errors.push(clock.span, message);
    }
    let Some((role, more)) = attributes.roles.split_first() else {
        return;
    };
    let name = role.value.spelling();
    for Placed { value: other, span } in more {
        let other = other.spelling();
        let message =
            format!("the field is the `{name}` already: give the `{other}` a field of its own");
        errors.push(*span, message);
    }
    if role.value == Role::Message {
        return;
    }
    for (text, span) in text_attributes(field) {
        errors.push(span, format!("`{name}` is no text: remove `{text}`"));
    }
    for Placed { value: other, span } in attributes.of_numbers() {
        let message = format!(
            "`{other}` describes a plain number, and this field is the `{name}`: remove it"
        );
        errors.push(*span, message);
    }
}

/// The attributes that say how the field holds text.
fn text_attributes(field: &Field) -> Vec<(&'static str, Span)> {
    let attributes = &field.attributes;
    [
        ("registered_string", attributes.registered_string),
        ("string", attributes.string),
        ("flex", attributes.flex),
    ]
    .into_iter()
    .filter_map(|(name, span)| Some((name, span?)))
    .collect()
}

/// Text that becomes a C string.
fn text(key: &str, (text, span): &(String, Span), errors: &mut Errors) {
    if text.is_empty() {
        errors.push(
            *span,
            format!("`{key}` is empty: remove it or give it text"),
        );
    } else if text.contains('\0') {
        let message = format!("`{key}` has a NUL in it, where C text ends: remove the `\\0`");
        errors.push(*span, message);
    }
}
