//! What is checked of what a producer registers.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::CStr;

use nvtxw_abi::IdClass;
use nvtxw_abi::raw::NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
use nvtxw_backend::call::{
    EntryAttributes, EnumValue, Message, Registration, SchemaAttributes, Semantic, SemanticNode,
};
use nvtxw_backend::{Domain, IdKind};

use crate::finding::{FindingKind, Place};
use crate::reserved;
use crate::values::not_utf8;

/// What is known of the names and IDs of a session, by the number of the domain.
#[derive(Default)]
pub(crate) struct Names {
    /// To what of which ID each name was given first.
    given: HashMap<Name, u64>,
    /// The names of categories.
    categories: HashMap<(u32, u32), Box<[u8]>>,
    /// IDs that nothing was registered under when they were used.
    missed: HashMap<(u32, IdKind, u64), Place>,
    /// The first two domains that have something under an ID: any but the one that asks will do.
    known: HashMap<(IdKind, u64), [u32; 2]>,
}

#[derive(PartialEq, Eq, Hash)]
struct Name {
    domain: u32,
    /// Of what kind of object.
    what: &'static str,
    /// The scope that a counter or a scope is in.
    within: u64,
    text: Box<[u8]>,
}

/// What a registration is found to break.
pub(crate) type Breach = (FindingKind, Place, String);

impl Names {
    /// An ID was used that nothing is registered under in this domain. Returns the one of the other domains that has it.
    pub(crate) fn miss(&mut self, domain: u32, kind: IdKind, id: u64, place: Place) -> Option<u32> {
        let class = IdClass::of(id);
        if class == IdClass::Predefined {
            return None;
        }
        let known = self.known.get(&(kind, id));
        let other = known.and_then(|known| known.iter().copied().find(|known| *known != domain));
        // Who uses an ID that the backend has picked in another domain means what is there, not what may get it here later.
        if class == IdClass::Static || other.is_none() {
            self.missed.entry((domain, kind, id)).or_insert(place);
        }
        other
    }

    /// Takes a registration, and tells what it breaks.
    pub(crate) fn take(
        &mut self,
        domain: &Domain,
        registration: &Registration<'_>,
        mut broken: impl FnMut(Breach),
    ) {
        let index = domain.index();
        let member = registration.member();
        each_text(registration, &mut |what, text| {
            if let Some(bad) = not_utf8(text.to_bytes()) {
                let what = format!("{member}: {what} is {bad}");
                broken((FindingKind::NotUtf8, Place::default(), what));
            }
        });
        if let Some(reserved) = of_registration(registration) {
            let what = format!("{member}{}: {reserved}", named(registration));
            broken((FindingKind::ReservedFlags, Place::default(), what));
        }
        if let Registration::Schema { attributes, .. } = registration
            && let Some(implicit) = implicit_offset(attributes)
        {
            let what = format!("{member}{}: {implicit}", named(registration));
            broken((FindingKind::ImplicitOffset, Place::default(), what));
        }
        let registered = match registration {
            Registration::Scope { id, .. } => Some((IdKind::Scope, *id)),
            Registration::Schema { id, .. } | Registration::Enum { id, .. } => {
                Some((IdKind::Layout, *id))
            }
            Registration::Counter { id, .. } => Some((IdKind::Counter, *id)),
            Registration::TimeDomain { id, .. } => Some((IdKind::TimeDomain, *id)),
            _ => None,
        };
        if let Some((kind, id)) = registered {
            match self.known.entry((kind, id)) {
                Entry::Vacant(new) => drop(new.insert([index; 2])),
                Entry::Occupied(mut known) if known.get()[0] == known.get()[1] => {
                    known.get_mut()[1] = index;
                }
                Entry::Occupied(_) => {}
            }
            if let Some(place) = self.missed.remove(&(index, kind, id)) {
                let what =
                    format!("uses the ID {id}, under which {member} registers something later");
                broken((FindingKind::LateRegistration, place, what));
            }
        }
        if let Some(twice) = self.twice(index, registration) {
            let what = format!("{member}: {twice}");
            broken((FindingKind::NameTwice, Place::default(), what));
        }
    }

    /// How a name is given twice.
    fn twice(&mut self, domain: u32, registration: &Registration<'_>) -> Option<String> {
        if let Registration::Category { category, name } = registration {
            let name = name.to_bytes();
            let before = self.categories.insert((domain, *category), name.into());
            if let Some(before) = before.filter(|before| **before != *name) {
                return Some(format!(
                    "the category {category} is `{}` already, and now `{}`",
                    before.escape_ascii(),
                    name.escape_ascii()
                ));
            }
        }
        let (what, within, name, id) = match registration {
            Registration::Category { category, name } => {
                ("category", 0, Some(*name), u64::from(*category))
            }
            Registration::Scope { attributes, id } => {
                ("scope", attributes.parent, attributes.path, *id)
            }
            // Payloads beside events may share a name, of what they are to those.
            Registration::Schema { attributes, .. } if attributes.flags & reserved::ROLE == 0 => {
                return None;
            }
            Registration::Schema { attributes, id } => ("schema", 0, attributes.name, *id),
            Registration::Enum { attributes, id } => ("enum", 0, attributes.name, *id),
            Registration::Counter { attributes, id } => {
                ("counter", attributes.scope, attributes.name, *id)
            }
            _ => return None,
        };
        let name = name.map(CStr::to_bytes).filter(|name| !name.is_empty())?;
        let key = Name {
            domain,
            what,
            within,
            text: name.into(),
        };
        let first = *self.given.entry(key).or_insert(id);
        (first != id).then(|| {
            let name = name.escape_ascii();
            format!("the {what} {first} is `{name}` already, and now {id} is too")
        })
    }
}

fn of_registration(registration: &Registration<'_>) -> Option<String> {
    match registration {
        Registration::Schema { attributes, .. } => reserved::of_schema(attributes),
        Registration::Enum { attributes, .. } => reserved::of_enum(attributes),
        Registration::Counter { attributes, .. } => reserved::of_semantics(&attributes.semantics),
        Registration::TimeDomain { attributes, .. } => reserved::of_time_domain(attributes),
        _ => None,
    }
}

/// Describes an entry whose offset 0 doesn't mean the start of a struct whose other entries have offsets.
fn implicit_offset(schema: &SchemaAttributes<'_>) -> Option<String> {
    let entries = schema.entries.iter().enumerate();
    let has_offset = |entry: &EntryAttributes<'_>| entry.offset != 0;
    if schema.kind != NVTX_PAYLOAD_SCHEMA_TYPE_STATIC || !schema.entries.iter().any(has_offset) {
        return None;
    }
    let (index, entry) = entries.skip(1).find(|(_, entry)| !has_offset(entry))?;
    let name = entry
        .name
        .map_or_else(String::new, |name| format!(" `{}`", name.to_string_lossy()));
    Some(format!(
        "entry {index}{name} has the offset 0, and is placed after entry {}",
        index - 1
    ))
}

/// The name of what is registered, to be put behind the member's.
fn named(registration: &Registration<'_>) -> String {
    let name = match registration {
        Registration::Schema { attributes, .. } => attributes.name,
        Registration::Enum { attributes, .. } => attributes.name,
        Registration::Counter { attributes, .. } => attributes.name,
        _ => None,
    };
    name.map_or_else(String::new, |name| {
        format!(" of `{}`", name.to_string_lossy())
    })
}

/// Calls `each` with each text of a registration, and what it is.
fn each_text(registration: &Registration<'_>, each: &mut dyn FnMut(&str, &CStr)) {
    match registration {
        Registration::Domain { name } => optional("the name", *name, each),
        Registration::Category { name, .. } => each("the name", name),
        Registration::String { text, .. } => each("the string", text),
        Registration::Resource(attributes) => {
            if let Message::Text(text) = attributes.message {
                each("the message", text);
            }
        }
        Registration::Scope { attributes, .. } => optional("the path", attributes.path, each),
        Registration::Schema { attributes, .. } => {
            optional("the name", attributes.name, each);
            for (index, entry) in attributes.entries.iter().enumerate() {
                let EntryAttributes {
                    name,
                    description,
                    semantics,
                    ..
                } = entry;
                optional(&format!("the name of entry {index}"), *name, each);
                let what = format!("the description of entry {index}");
                optional(&what, *description, each);
                of_semantics(semantics, each);
            }
        }
        Registration::Enum { attributes, .. } => {
            optional("the name", attributes.name, each);
            for (index, EnumValue { name, .. }) in attributes.entries.iter().enumerate() {
                each(&format!("the name of value {index}"), name);
            }
        }
        Registration::Counter { attributes, .. } => {
            optional("the name", attributes.name, each);
            optional("the description", attributes.description, each);
            of_semantics(&attributes.semantics, each);
        }
        Registration::TimeDomain { .. } => {}
    }
}

fn of_semantics(semantics: &[SemanticNode<'_>], each: &mut dyn FnMut(&str, &CStr)) {
    for node in semantics {
        match node.semantic {
            Semantic::Counter { unit, .. } => optional("the unit", unit, each),
            Semantic::Correlation { name, .. } => optional("the correlation's name", name, each),
            _ => {}
        }
    }
}

fn optional(what: &str, text: Option<&CStr>, each: &mut dyn FnMut(&str, &CStr)) {
    if let Some(text) = text {
        each(what, text);
    }
}
