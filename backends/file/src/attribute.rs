//! The attributes of events, as text.

use std::borrow::Cow;

use nvtxw_backend::{Domain, Event, FieldRole, Text};

/// The message; if there is none, the name of the schema, or of the kind.
pub(crate) fn name<'e>(event: &'e Event<'_>) -> Cow<'e, str> {
    message(event).unwrap_or_else(|| event.schema().name().unwrap_or(event.kind().name()).into())
}

/// The message. A plain event without one has an empty one.
pub(crate) fn message<'e>(event: &Event<'e>) -> Option<Cow<'e, str>> {
    let text = match event.message()? {
        Text::Registered(string) => return Some(string.text().into()),
        Text::Inline(bytes) => lossy(bytes),
        Text::Wide(wide) => wide.to_string().into(),
    };
    (!text.is_empty()).then_some(text)
}

/// Text that is meant to be UTF-8. The check alone is much faster, and mostly all that is needed.
pub(crate) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

pub(crate) fn category(category: u32, domain: &Domain) -> String {
    let name = domain.category(category);
    name.map_or_else(|| category.to_string(), |name| name.to_string())
}

pub(crate) fn color(color: u32) -> String {
    format!("#{color:08X}")
}

/// The name of the entry that holds an attribute, unless that is hidden.
pub(crate) fn entry<'e>(event: &'e Event<'_>, role: FieldRole, name: &'e str) -> Option<&'e str> {
    let mut fields = event.schema().fields().iter();
    match fields.rfind(|field| field.role() == role) {
        None => Some(name),
        Some(field) => (!field.is_hidden()).then_some(field.name()),
    }
}
