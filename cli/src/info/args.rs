//! The fields of a JSON object, and what each of them is.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::summary::{Layouts, Type};

/// Adds the fields of the event that is being read. What is no object has none.
pub(super) fn fields(object: &str, layouts: &mut Layouts) {
    let mut json = serde_json::Deserializer::from_str(object);
    // All up to the first that is not as it should be.
    let _ = json.deserialize_map(Fields(layouts));
}

struct Fields<'l>(&'l mut Layouts);

impl<'de> Visitor<'de> for Fields<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Key(name)) = map.next_key()? {
            let name = self.0.names.number(&name);
            self.0.field(name, map.next_value()?);
        }
        Ok(())
    }
}

/// A name, without a copy where it has no escapes.
struct Key<'de>(Cow<'de, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Text;

        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(name)))
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(name.to_owned())))
            }
        }

        from.deserialize_str(Text)
    }
}

impl<'de> Deserialize<'de> for Type {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
            type Value = Type;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_bool<E: Error>(self, _: bool) -> Result<Type, E> {
                Ok(Type::Bool)
            }

            fn visit_i64<E: Error>(self, _: i64) -> Result<Type, E> {
                Ok(Type::Int)
            }

            // JSON has one kind of integers.
            fn visit_u64<E: Error>(self, _: u64) -> Result<Type, E> {
                Ok(Type::Int)
            }

            fn visit_f64<E: Error>(self, _: f64) -> Result<Type, E> {
                Ok(Type::Float)
            }

            fn visit_str<E: Error>(self, _: &str) -> Result<Type, E> {
                Ok(Type::Text)
            }

            fn visit_unit<E: Error>(self) -> Result<Type, E> {
                Ok(Type::Null)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Type, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Type::List)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Type, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Type::Struct)
            }
        }

        from.deserialize_any(Any)
    }
}

#[cfg(test)]
mod tests {
    use super::super::summary::Names;
    use super::*;

    #[test]
    fn fields_have_the_types_of_their_values() {
        let (mut layouts, mut names) = (Layouts::default(), Names::default());
        let name = names.number("a");
        let object = r#"{"i":-1,"\u0066":2.5,"t":"x","l":[1,{}],"s":{"i":1},"b":true,"n":null}"#;
        fields(object, &mut layouts);
        layouts.event(name);
        let schemas = layouts.schemas(&names);
        let found = schemas[0]
            .fields
            .iter()
            .map(|field| (&*field.name, &*field.types[0]));
        let want = [
            ("i", "int"),
            ("f", "float"),
            ("t", "text"),
            ("l", "list"),
            ("s", "struct"),
            ("b", "bool"),
            ("n", "null"),
        ];
        assert_eq!(found.collect::<Vec<_>>(), want);
        for bad in ["", "5", "[1]", r#"{"a""#] {
            fields(bad, &mut layouts);
            layouts.event(name);
            assert_eq!(layouts.schemas(&names).len(), 1, "{bad}");
        }
    }
}
