//! Who takes what a walk comes by.

use crate::check::check_elements;
use crate::decode::{Context, text_of, visit, visit_array};
use crate::domain::Domain;
use crate::event::Text;
use crate::refusal::Result;
use crate::scalar::read;
use crate::schema::{AttributesAt, Field, FieldKind, Plan, Schema};
use crate::text;
use crate::value::{Value, Visitor};

/// Takes what a walk comes by.
pub(crate) trait Sink<'a> {
    /// A field, or an element or a row of it, that lies in one piece; an array of `count` elements, if that is something.
    fn plain(&mut self, field: &'a Field, count: Option<usize>, bytes: &'a [u8]) -> Result<()>;
    fn value(&mut self, field: &'a Field, value: Value<'a>);
    fn begin_array(&mut self, field: &'a Field, len: usize);
    fn end_array(&mut self, field: &'a Field);
    fn begin_struct(&mut self, field: &'a Field, schema: &'a Schema);
    fn end_struct(&mut self, field: &'a Field);
    /// A field that refers to its data, of 8 bytes, and the address that offsets from the base count from, unless that is the
    /// flexible data's.
    fn reference(&mut self, _field: &'a Field, _bytes: &'a [u8], _base: Option<usize>) {}
    /// All bytes of a struct or a union whose fields come apart, or of what a null ends, with that.
    fn whole(&mut self, _bytes: &'a [u8]) {}
    /// Where the fields of the payload are that have slots.
    fn places(&mut self, _places: &[usize]) {}
}

/// Checks registered strings, and finds the event's attributes.
pub(crate) struct Check<'a> {
    pub(crate) domain: &'a Domain,
    pub(crate) plan: &'a Plan,
    /// The field of the message.
    pub(crate) wanted: Option<&'a Field>,
    pub(crate) message: Option<Text<'a>>,
    /// Where the attributes are, if the walk finds some.
    pub(crate) at: Option<AttributesAt>,
}

impl<'a> Check<'a> {
    fn wants(&self, field: &Field) -> bool {
        self.wanted
            .is_some_and(|wanted| std::ptr::eq(wanted, field))
    }
}

impl<'a> Sink<'a> for Check<'a> {
    fn plain(&mut self, field: &'a Field, _: Option<usize>, bytes: &'a [u8]) -> Result<()> {
        if field.has_checks {
            check_elements(field, bytes, self.domain)?;
        }
        if self.wants(field) {
            self.message = match field.kind {
                FieldKind::Text(ty) => Text::of(text::value(ty, text_of(field, bytes))),
                _ => self.domain.registered(read(bytes, 0)).map(Text::Registered),
            };
        }
        Ok(())
    }

    fn value(&mut self, field: &'a Field, value: Value<'a>) {
        if self.wants(field) {
            self.message = Text::of(value);
        }
    }

    fn begin_array(&mut self, _: &'a Field, _: usize) {}
    fn end_array(&mut self, _: &'a Field) {}
    fn begin_struct(&mut self, _: &'a Field, _: &'a Schema) {}
    fn end_struct(&mut self, _: &'a Field) {}

    fn places(&mut self, places: &[usize]) {
        if !self.plan.late.is_empty() {
            self.at = Some(self.plan.at_places(places));
        }
    }
}

/// Shows all to a visitor.
pub(crate) struct Show<'v, 'a, V> {
    pub(crate) domain: &'a Domain,
    pub(crate) visitor: &'v mut V,
}

impl<'a, V: Visitor> Sink<'a> for Show<'_, 'a, V> {
    fn plain(&mut self, field: &'a Field, count: Option<usize>, bytes: &'a [u8]) -> Result<()> {
        let context = &Context::new(self.domain);
        match count {
            None => visit(field, field.element, bytes, 0, context, self.visitor),
            Some(count) => visit_array(field, count, bytes, context, self.visitor),
        }
        Ok(())
    }

    fn value(&mut self, field: &'a Field, value: Value<'a>) {
        self.visitor.value(field, value);
    }

    fn begin_array(&mut self, field: &'a Field, len: usize) {
        self.visitor.begin_array(field, len);
    }

    fn end_array(&mut self, field: &'a Field) {
        self.visitor.end_array(field);
    }

    fn begin_struct(&mut self, field: &'a Field, schema: &'a Schema) {
        self.visitor.begin_struct(field, schema);
    }

    fn end_struct(&mut self, field: &'a Field) {
        self.visitor.end_struct(field);
    }
}
