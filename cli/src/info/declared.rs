//! Schemas that the built-in backend tells of in facts.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::summary::{Fact, Facts, Field, Schema, unit};

const PREFIX: &str = "nvtxw.schema.";

/// A schema as the file declares it.
#[derive(Default)]
pub(super) struct Declared {
    name: Option<String>,
    kind: Option<String>,
    fields: Vec<DeclaredField>,
}

#[derive(Deserialize)]
struct DeclaredField {
    name: String,
    #[serde(rename = "type")]
    ty: String,
    /// What it is to the event, if it is no plain data.
    role: Option<String>,
    unit: Option<String>,
    scale: Option<String>,
}

/// Takes them out of the facts.
pub(super) fn take(facts: &mut Facts) -> Vec<Declared> {
    let mut all: BTreeMap<u64, Declared> = BTreeMap::new();
    facts.0.retain(|key, fact| {
        let Some((_, rest)) = key.split_once(PREFIX) else {
            return true;
        };
        let (number, what) = rest.split_once('.').unwrap_or((rest, ""));
        let (Ok(number), Fact::Text(text)) = (number.parse(), &*fact) else {
            return true;
        };
        let schema = all.entry(number).or_default();
        match what {
            "" => schema.name = Some(text.clone()).filter(|name| !name.is_empty()),
            "kind" => schema.kind = Some(text.clone()),
            "fields" => schema.fields = serde_json::from_str(text).unwrap_or_default(),
            _ => {}
        }
        false
    });
    all.into_values().collect()
}

impl DeclaredField {
    /// Returns true if arguments of this name may be of the field: with its unit, or that of a struct's only value.
    fn is_shown_as(&self, name: &str) -> bool {
        let Some(rest) = name.strip_prefix(&*self.name) else {
            return false;
        };
        let shown = rest.strip_prefix(" (");
        match shown.and_then(|shown| shown.strip_suffix(')')) {
            None => rest.is_empty(),
            Some(_) if self.ty.contains("struct") => true,
            shown => unit(self.unit.as_deref(), self.scale.as_deref()).as_deref() == shown,
        }
    }
}

impl Declared {
    /// Whether events with the fields `seen` can be of this schema: texts may be absent, and attributes are where they are.
    fn matches(&self, seen: &[Field]) -> bool {
        let is_attribute = |field: &&Field| {
            let mut own = self.fields.iter().filter(|own| own.role.is_some());
            own.any(|own| own.name == field.name)
        };
        let mut seen = seen.iter().filter(|field| !is_attribute(field)).peekable();
        let plain = self.fields.iter().filter(|own| own.role.is_none());
        for own in plain {
            let is_own = |field: &&Field| own.is_shown_as(&field.name);
            if seen.next_if(is_own).is_none() && own.ty != "text" {
                return false;
            }
        }
        seen.next().is_none()
    }

    fn schema(&self) -> Schema {
        let plain = self.fields.iter().filter(|field| field.role.is_none());
        let field = |field: &DeclaredField| Field {
            name: field.name.clone(),
            types: vec![field.ty.clone()],
            unit: unit(field.unit.as_deref(), field.scale.as_deref()),
        };
        Schema {
            name: self.name.clone(),
            kind: self.kind.clone(),
            fields: plain.map(field).collect(),
            ..Schema::default()
        }
    }
}

/// The schemas that are declared, with the events whose fields are those of one of them only; then what else was seen.
pub(super) fn join(declared: &[Declared], seen: Vec<Schema>) -> Vec<Schema> {
    let mut all: Vec<_> = declared.iter().map(Declared::schema).collect();
    let mut others = Vec::new();
    for seen in seen {
        // Tables have the names of their schemas.
        let is_it = |own: &Declared| match &seen.name {
            Some(name) => own.name.as_ref() == Some(name),
            None => own.matches(&seen.fields),
        };
        let mut found = (0..declared.len()).filter(|index| is_it(&declared[*index]));
        match (found.next(), found.next()) {
            (Some(index), None) => {
                let schema = &mut all[index];
                *schema.events.get_or_insert(0) += seen.events.unwrap_or_default();
                let new = seen.examples.into_iter();
                schema
                    .examples
                    .extend(new.take(3 - schema.examples.len().min(3)));
            }
            _ => others.push(seen),
        }
    }
    all.append(&mut others);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(all: &[(&str, &str)]) -> Facts {
        let fact = |(key, text): &(&str, &str)| ((*key).to_owned(), Fact::Text((*text).to_owned()));
        Facts(all.iter().map(fact).collect())
    }

    fn seen(fields: &[&str], events: u64) -> Schema {
        let field = |name: &&str| Field {
            name: (*name).to_owned(),
            ..Field::default()
        };
        Schema {
            events: Some(events),
            fields: fields.iter().map(field).collect(),
            examples: vec![format!("{events}")],
            ..Schema::default()
        }
    }

    #[test]
    fn events_are_counted_where_their_fields_tell_the_schema() {
        let mut facts = facts(&[
            ("nvtxw.schema.0", "Kernel"),
            ("nvtxw.schema.0.kind", "range_startend"),
            (
                "nvtxw.schema.0.fields",
                r#"[{"name":"t","type":"i64","role":"timestamp"},{"name":"color","type":"u32","role":"color"},
                   {"name":"size","type":"u64","unit":"bytes"},{"name":"note","type":"text"}]"#,
            ),
            ("nvtxw.schema.1", "Twin"),
            ("nvtxw.schema.1.fields", r#"[{"name":"a","type":"u8"}]"#),
            ("nvtxw.schema.2", ""),
            ("nvtxw.schema.2.fields", r#"[{"name":"a","type":"u8"}]"#),
            ("nvtxw.schema.3", "Broken"),
            ("nvtxw.schema.3.fields", "["),
            ("nvtxw.schematic", "stays"),
        ]);
        let declared = take(&mut facts);
        assert_eq!(facts.0.len(), 1);
        let all = join(
            &declared,
            vec![
                seen(&["color", "size", "note"], 5),
                seen(&["size (bytes)"], 2),
                seen(&["size", "more"], 7),
                seen(&["size (ns)"], 1),
                seen(&["a"], 3),
            ],
        );
        let told: Vec<_> = all
            .iter()
            .map(|it| (it.name.as_deref(), it.events))
            .collect();
        let want = [
            (Some("Kernel"), Some(7)),
            (Some("Twin"), None),
            (None, None),
            (Some("Broken"), None),
            (None, Some(7)),
            (None, Some(1)),
            (None, Some(3)),
        ];
        assert_eq!(told, want);
        assert_eq!(all[0].kind.as_deref(), Some("range_startend"));
        assert_eq!(all[0].examples, ["5", "2"]);
        let size = Field {
            name: "size".to_owned(),
            types: vec!["u64".to_owned()],
            unit: Some("bytes".to_owned()),
        };
        assert_eq!((all[0].fields.len(), &all[0].fields[0]), (2, &size));
    }
}
