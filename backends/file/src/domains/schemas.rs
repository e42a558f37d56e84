//! What a file tells of schemas.

use std::collections::HashSet;

use nvtxw_backend::{Domain, Field, FieldKind, FieldRole, SchemaRole};

use super::scale;
use crate::format::Told;
use crate::json;
use crate::proto::Writer;

/// The domain's schemas that have fields to show: those of events, and of what stands beside events.
/// `count` numbers those of all domains.
pub(super) fn tell(domain: &Domain, count: &mut usize, facts: &mut Vec<(String, Told)>) {
    let fields = domain.schemas().flat_map(|schema| schema.fields());
    let nested: HashSet<_> = fields
        .filter_map(|field| match field.kind() {
            FieldKind::Struct(schema) | FieldKind::Union(schema) => Some(schema.id()),
            _ => None,
        })
        .collect();
    for schema in domain.schemas() {
        let kind = match schema.role() {
            SchemaRole::CounterGroup => continue,
            SchemaRole::Generic if nested.contains(&schema.id()) => continue,
            SchemaRole::Generic => None,
            SchemaRole::Event(kind) => Some(kind.name()),
        };
        let fields = schema.fields().iter().filter(|field| !field.is_hidden());
        let fields: Vec<_> = fields.collect();
        if fields.iter().all(|field| field.is_attribute()) {
            continue;
        }
        let key = format!("nvtxw.schema.{count}");
        *count += 1;
        for (what, text) in [
            ("", Some(schema.name().unwrap_or_default())),
            (".kind", kind),
            (".domain", domain.name()),
            (".fields", Some(&described(&fields))),
        ] {
            facts.extend(text.map(|text| (format!("{key}{what}"), Told::Text(text.to_owned()))));
        }
    }
}

/// A JSON array of objects.
fn described(fields: &[&Field]) -> String {
    let mut out = Writer::default();
    out.put(b"[");
    for (index, field) in fields.iter().enumerate() {
        let semantics = field.counter_semantics();
        out.raw(if index == 0 {
            b"{\"name\":"
        } else {
            b",{\"name\":"
        });
        json::text(field.name(), &mut out);
        out.raw(b",\"type\":");
        json::text(&type_name(field), &mut out);
        for (key, value) in [
            ("role", role(field)),
            ("unit", semantics.and_then(|semantics| semantics.unit())),
            ("scale", semantics.and_then(scale).as_deref()),
            ("description", field.description()),
        ] {
            if let Some(value) = value {
                out.put(b",");
                json::text(key, &mut out);
                out.put(b":");
                json::text(value, &mut out);
            }
        }
        out.put(b"}");
    }
    out.put(b"]");
    String::from_utf8_lossy(out.as_bytes()).into_owned()
}

/// What a field is to the event, if it is no plain data.
fn role(field: &Field) -> Option<&'static str> {
    let role = match field.role() {
        FieldRole::Plain => return None,
        FieldRole::Message => "message",
        FieldRole::Time(_) => "timestamp",
        FieldRole::Color => "color",
        FieldRole::Category => "category",
        FieldRole::RangeId => "range_id",
        FieldRole::Scope => "scope",
    };
    field.is_attribute().then_some(role)
}

/// A type as Rust writes it.
fn type_name(field: &Field) -> String {
    let one = match field.kind() {
        FieldKind::Text(_) => return "text".to_owned(),
        FieldKind::Scalar(ty) => scalar(ty.name()),
        FieldKind::Enum(meaning) if meaning.as_bool(1).is_some() => "bool".to_owned(),
        FieldKind::Enum(meaning) => named("enum", meaning.name()),
        FieldKind::Struct(schema) => named("struct", schema.name()),
        FieldKind::Union(schema) => named("union", schema.name()),
    };
    match field.count() {
        Some(count) => format!("[{one}; {count}]"),
        None if field.varies() => format!("[{one}]"),
        None => one,
    }
}

fn named(what: &str, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("{what} {name}"),
        None => what.to_owned(),
    }
}

/// The name of a predefined type, by that of the ABI.
fn scalar(name: &str) -> String {
    let whole = [
        ("float", "f32"),
        ("double", "f64"),
        ("size", "usize"),
        ("nvtx_registered_string_handle", "text"),
    ];
    if let Some((_, short)) = whole.iter().find(|(long, _)| *long == name) {
        return (*short).to_owned();
    }
    let starts = [("uint", "u"), ("int", "i"), ("float", "f")];
    let short = starts.iter().find_map(|(long, short)| {
        let width: u32 = name.strip_prefix(long)?.parse().ok()?;
        Some(format!("{short}{width}"))
    });
    short.unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_short_names() {
        for (name, short) in [
            ("uint8", "u8"),
            ("int128", "i128"),
            ("float64", "f64"),
            ("float", "f32"),
            ("size", "usize"),
            ("uint", "uint"),
            ("longlong", "longlong"),
            ("nvtx_registered_string_handle", "text"),
            ("address", "address"),
        ] {
            assert_eq!(scalar(name), short);
        }
    }
}
