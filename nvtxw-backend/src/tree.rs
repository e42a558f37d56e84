//! Fields kept as a tree, for backends that want them as a whole.

use crate::event::Event;
use crate::sample::CounterSample;
use crate::schema::{Field, Schema};
use crate::value::{Value, Visitor};

/// The value of a field, kept: what a [`Visitor`] sees, as a tree.
///
/// With the crate's feature `serde` it can be serialised. In formats for people (JSON, for example) integers of 128 bits and
/// what is not a finite number are text, addresses and bytes are hexadecimal text, and what is absent is null.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// There is none: the null handle of a registered string.
    Absent,
    /// A truth value: one of an enum that [is a `bool`](crate::Enum::as_bool).
    Bool(bool),
    /// A signed integer of up to 64 bits.
    I64(i64),
    /// An unsigned integer of up to 64 bits, and a value of an enum that has no name.
    U64(u64),
    /// A signed integer of 128 bits.
    I128(i128),
    /// An unsigned integer of 128 bits.
    U128(u128),
    /// A floating-point number.
    F64(f64),
    /// An address.
    Address(u64),
    /// Text of any encoding, a character, or a value of an enum [in words](crate::Enum::describe). What is no text is U+FFFD.
    Text(String),
    /// Bytes of no known meaning.
    Bytes(Vec<u8>),
    /// The elements of an array.
    Array(Vec<Tree>),
    /// A struct, or a union with the one field that is stored.
    Struct(Fields),
}

impl From<Value<'_>> for Tree {
    fn from(value: Value<'_>) -> Self {
        match value {
            Value::I64(value) => Self::I64(value),
            Value::U64(value) => Self::U64(value),
            Value::I128(value) => Self::I128(value),
            Value::U128(value) => Self::U128(value),
            Value::F32(value) => Self::F64(value.into()),
            Value::F64(value) => Self::F64(value),
            Value::Char(code) => Self::Text(
                char::from_u32(code)
                    .unwrap_or(char::REPLACEMENT_CHARACTER)
                    .into(),
            ),
            Value::Address(address) => Self::Address(address),
            Value::Text(text) => Self::Text(String::from_utf8_lossy(text).into()),
            Value::Wide(text) => Self::Text(text.to_string()),
            Value::Registered(string) => {
                string.map_or(Self::Absent, |string| Self::Text(string.text().into()))
            }
            Value::Enum { value, meaning } => {
                match (meaning.as_bool(value), meaning.describe(value)) {
                    (Some(value), _) => Self::Bool(value),
                    (None, Some(words)) => Self::Text(words.into()),
                    (None, None) => Self::U64(value),
                }
            }
            Value::Bytes(bytes) => Self::Bytes(bytes.into()),
        }
    }
}

/// The fields of an event, of a sample or of a struct, kept in their order. Hidden ones are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fields(Vec<(String, Tree)>);

impl Fields {
    /// The names, which differ, and the values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Tree)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }

    /// The value of the field with this name.
    pub fn get(&self, name: &str) -> Option<&Tree> {
        self.iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    }

    /// Adds a field. Names differ in one schema, but an event may have payloads of several.
    fn push(&mut self, name: &str, value: Tree) {
        let mut unique = name.to_owned();
        for copy in 2.. {
            if self.get(&unique).is_none() {
                break;
            }
            unique = format!("{name} ({copy})");
        }
        self.0.push((unique, value));
    }
}

impl Event<'_> {
    /// The fields that [`visit`](Self::visit) shows, without the hidden ones. A name that comes again, in another payload, gets
    /// ` (2)`, ` (3)`… appended. Allocates.
    pub fn fields(&self) -> Fields {
        grow(|grower| self.visit(grower))
    }
}

impl CounterSample<'_> {
    /// The fields that [`visit`](Self::visit) shows, without the hidden ones. Allocates.
    pub fn fields(&self) -> Fields {
        grow(|grower| self.visit(grower))
    }
}

fn grow(visit: impl FnOnce(&mut Grower)) -> Fields {
    let mut grower = Grower::default();
    visit(&mut grower);
    grower.fields
}

/// Builds a tree.
#[derive(Default)]
struct Grower {
    fields: Fields,
    /// The arrays and structs that are open, the innermost last.
    open: Vec<Tree>,
}

impl Grower {
    fn add(&mut self, field: &Field, value: Tree) {
        match self.open.last_mut() {
            Some(Tree::Array(elements)) => elements.push(value),
            _ if field.is_hidden() => {}
            Some(Tree::Struct(fields)) => fields.push(field.name(), value),
            _ => self.fields.push(field.name(), value),
        }
    }

    fn close(&mut self, field: &Field) {
        if let Some(value) = self.open.pop() {
            self.add(field, value);
        }
    }
}

impl Visitor for Grower {
    fn value(&mut self, field: &Field, value: Value<'_>) {
        self.add(field, value.into());
    }

    fn begin_array(&mut self, _field: &Field, _len: usize) {
        self.open.push(Tree::Array(Vec::new()));
    }

    fn end_array(&mut self, field: &Field) {
        self.close(field);
    }

    fn begin_struct(&mut self, _field: &Field, _schema: &Schema) {
        self.open.push(Tree::Struct(Fields::default()));
    }

    fn end_struct(&mut self, field: &Field) {
        self.close(field);
    }
}

#[cfg(feature = "serde")]
mod serialize {
    use serde::{Serialize, Serializer};

    use super::{Fields, Tree};

    impl Serialize for Tree {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let for_people = serializer.is_human_readable();
            match self {
                Self::Absent => serializer.serialize_none(),
                Self::Bool(value) => serializer.serialize_bool(*value),
                Self::I64(value) => serializer.serialize_i64(*value),
                Self::U64(value) => serializer.serialize_u64(*value),
                // Most readers of text take numbers for doubles, at best for 64 bits.
                Self::I128(value) if for_people => serializer.collect_str(value),
                Self::I128(value) => serializer.serialize_i128(*value),
                Self::U128(value) if for_people => serializer.collect_str(value),
                Self::U128(value) => serializer.serialize_u128(*value),
                Self::F64(value) if for_people && !value.is_finite() => {
                    serializer.collect_str(value)
                }
                Self::F64(value) => serializer.serialize_f64(*value),
                Self::Address(value) if for_people => {
                    serializer.collect_str(&format_args!("{value:#x}"))
                }
                Self::Address(value) => serializer.serialize_u64(*value),
                Self::Text(text) => serializer.serialize_str(text),
                Self::Bytes(bytes) if for_people => {
                    let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
                    serializer
                        .serialize_str(&digits.fold("0x".to_owned(), |text, byte| text + &byte))
                }
                Self::Bytes(bytes) => serializer.serialize_bytes(bytes),
                Self::Array(elements) => serializer.collect_seq(elements),
                Self::Struct(fields) => fields.serialize(serializer),
            }
        }
    }

    impl Serialize for Fields {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_map(self.iter())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use nvtxw_abi::EntryType;

    use super::{Fields, Tree, grow};
    use crate::enumeration::{Enum, EnumEntry};
    use crate::predefined::{self, Predefined};
    use crate::schema::{Field, Schema};
    use crate::value::{Value, Visitor};

    fn field(name: &str) -> Field {
        predefined::field(EntryType::Int64, name).expect("a number")
    }

    fn schema() -> Arc<Schema> {
        let predefined = Predefined::default();
        let schema = predefined.schema(EntryType::Int64.to_raw());
        Arc::clone(schema.expect("a predefined type"))
    }

    fn fields<const N: usize>(fields: [(&str, Tree); N]) -> Fields {
        Fields(fields.map(|(name, value)| (name.to_owned(), value)).into())
    }

    #[test]
    fn nesting_is_kept_and_what_is_hidden_is_not() {
        let hidden = Field {
            hidden: true,
            ..field("secret")
        };
        let (point, x, schema) = (field("point"), field("x"), schema());
        let grown = grow(|grower| {
            grower.value(&x, Value::I64(1));
            grower.begin_array(&point, 2);
            for value in [2, 3] {
                grower.begin_struct(&point, &schema);
                grower.value(&x, Value::U64(value));
                grower.value(&hidden, Value::U64(0));
                grower.end_struct(&point);
            }
            grower.end_array(&point);
            grower.begin_array(&hidden, 1);
            grower.value(&hidden, Value::U64(0));
            grower.end_array(&hidden);
            grower.value(&x, Value::Registered(None));
            grower.begin_struct(&x, &schema);
            grower.end_struct(&x);
        });
        let inner = |value| Tree::Struct(fields([("x", Tree::U64(value))]));
        let expected = [
            ("x", Tree::I64(1)),
            ("point", Tree::Array(vec![inner(2), inner(3)])),
            ("x (2)", Tree::Absent),
            ("x (3)", Tree::Struct(Fields::default())),
        ];
        assert_eq!(grown.get("x (2)"), Some(&Tree::Absent));
        assert_eq!(grown.get("secret"), None);
        assert_eq!(grown, fields(expected));
    }

    fn meaning(size: usize, names: [&str; 2]) -> Enum {
        let entries = names.into_iter().zip(0..).map(|(name, value)| EnumEntry {
            name: name.into(),
            value,
            is_flag: false,
        });
        Enum::new(1, None, size, entries.collect())
    }

    #[test]
    fn values_become_what_they_mean() {
        let (truth, level) = (meaning(1, ["false", "true"]), meaning(1, ["low", "high"]));
        let wide = meaning(4, ["false", "true"]);
        let of = |meaning, value| Tree::from(Value::Enum { value, meaning });
        assert_eq!(of(&truth, 1), Tree::Bool(true));
        assert_eq!(of(&truth, 2), Tree::U64(2));
        assert_eq!(of(&level, 1), Tree::Text("high".into()));
        assert_eq!(of(&wide, 0), Tree::Text("false".into()));
        assert_eq!(Tree::from(Value::F32(0.1)), Tree::F64(0.1_f32.into()));
        assert_eq!(
            Tree::from(Value::Char(0xD800)),
            Tree::Text("\u{FFFD}".into())
        );
        assert_eq!(
            Tree::from(Value::Text(b"a\xFF")),
            Tree::Text("a\u{FFFD}".into())
        );
    }

    #[cfg(feature = "serde")]
    #[test]
    fn json_keeps_what_its_numbers_do_not() {
        let values = [
            ("z", Tree::Absent),
            ("yes", Tree::Bool(true)),
            ("most", Tree::U64(u64::MAX)),
            ("least", Tree::I64(i64::MIN)),
            ("wider", Tree::U128(u128::MAX)),
            ("wide", Tree::I128(-1)),
            ("float", Tree::F64(-0.0)),
            ("nan", Tree::F64(f64::NAN)),
            ("inf", Tree::F64(f64::NEG_INFINITY)),
            ("at", Tree::Address(0xBEEF)),
            ("text", Tree::Text("\"\n".into())),
            ("bytes", Tree::Bytes(vec![0, 0xAB])),
            ("list", Tree::Array(vec![Tree::Array(vec![]), Tree::U64(1)])),
            ("a", Tree::Struct(fields([("b", Tree::Bytes(vec![]))]))),
        ];
        let json = serde_json::to_string(&fields(values)).expect("JSON has all of it");
        assert_eq!(
            json,
            concat!(
                r#"{"z":null,"yes":true,"most":18446744073709551615,"least":-9223372036854775808,"#,
                r#""wider":"340282366920938463463374607431768211455","wide":"-1","float":-0.0,"#,
                r#""nan":"NaN","inf":"-inf","at":"0xbeef","text":"\"\n","bytes":"0x00ab","#,
                r#""list":[[],1],"a":{"b":"0x"}}"#
            )
        );
    }
}
