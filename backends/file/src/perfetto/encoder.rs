//! From events to the fields of the format's track events.

use std::sync::Arc;

use nvtxw_backend::{Domain, Event, EventKind, FieldRole, Schema, Text};

use super::annotation::{Annotator, Names, known};
use super::color::Colors;
use super::field::{annotation, event, interned};
use super::head::Lane;
use super::plan::Plan;
use super::quick::QuickRanges;
use crate::attribute;
use crate::clock::Line;
use crate::format::Half;
use crate::intern::{Number, Texts};
use crate::plain::Copied;
use crate::plans::Plans;
use crate::proto::{self, Steady, Value, Writer, small_varint};
use crate::timeline::Base;

/// Encodes the events of a stream.
#[derive(Default)]
pub(crate) struct Encoder {
    pub(crate) texts: Tables,
    plans: Plans<Plan>,
    names: Names,
    flows: Vec<u64>,
    times: Steady,
    copied: Copied,
}

/// The texts of a stream, by use. The numbers of one table mean nothing in another.
#[derive(Default)]
pub(crate) struct Tables {
    names: Texts,
    categories: Texts,
    /// Interned IDs of colours, by the colour; 0 for a colour without one.
    colors: Texts,
    /// The session's texts for colours, which all streams share.
    session_colors: Arc<Colors>,
    /// Puts units into the names of fields.
    pub(super) field_units: bool,
    pub(super) annotation_names: Texts,
    pub(super) values: Texts,
    /// What has to be written before the numbers are used.
    pub(crate) new: Writer,
}

impl Tables {
    /// Appends a text that is an annotation's value.
    pub(super) fn value(&mut self, text: &str, out: &mut Writer) {
        match intern(
            &mut self.values,
            &mut self.new,
            interned::STRING_VALUES,
            text,
        ) {
            Some(number) => out.uint(annotation::STRING_IID, number),
            None => out.text(annotation::STRING, text),
        }
    }

    /// The number of a registered name, if it is known, as a varint.
    #[inline(always)]
    pub(super) fn name(&self, handle: u64) -> Option<(u64, usize)> {
        (handle != 0).then(|| self.names.recent_varint(handle))?
    }

    /// The number of a name that is text, as a varint; `None` if it has none.
    #[inline(always)]
    pub(super) fn text(&mut self, text: &[u8]) -> Option<(u64, usize)> {
        // Without text, the event is named after something else.
        if text.is_empty() {
            return None;
        }
        match self.names.known_varint(text) {
            Some(varint) => Some(varint),
            None => self.new_text(text),
        }
    }

    #[inline(never)]
    fn new_text(&mut self, text: &[u8]) -> Option<(u64, usize)> {
        let text = str::from_utf8(text).ok()?;
        // Numbers of texts are small.
        intern(&mut self.names, &mut self.new, interned::NAMES, text).map(small_varint)
    }

    /// The number of a colour's text, if it is known, as a varint; 0 for one that has none.
    #[inline]
    pub(super) fn color(&self, color: u32) -> Option<(u64, usize)> {
        self.colors.recent_varint(color.into())
    }

    /// Appends the text by which readers show a colour, if they can.
    fn correlate(&mut self, color: u32, out: &mut Writer) {
        let Self {
            colors,
            session_colors,
            new,
            ..
        } = self;
        let key = color.into();
        if let Some(number) = colors.recent(key) {
            if number != 0 {
                out.uint(event::CORRELATION_ID_IID, number.into());
            }
            return;
        }
        let Some(text) = session_colors.text(color) else {
            colors.remember(key, 0);
            return;
        };
        match intern_key(colors, new, interned::CORRELATION_IDS, key, &text) {
            Some(number) => out.uint(event::CORRELATION_ID_IID, number),
            None => out.text(event::CORRELATION_ID, &text),
        }
    }

    /// The number of a category, if it is known, as a varint.
    #[inline]
    pub(super) fn category(&self, category: u32) -> Option<(u64, usize)> {
        (category != 0).then(|| self.categories.recent_varint(category.into()))?
    }
}

impl Encoder {
    pub(super) fn new(field_units: bool, session_colors: Arc<Colors>) -> Self {
        Self {
            texts: Tables {
                session_colors,
                field_units,
                ..Tables::default()
            },
            ..Self::default()
        }
    }

    /// How the usual ranges of this schema are written, if it is simple.
    #[inline(always)]
    pub(super) fn quick_ranges<'s>(
        &'s mut self,
        schema: &Schema,
        lane: Lane,
        line: Option<&'s Line>,
        base: (i64, Base),
    ) -> Option<QuickRanges<'s>> {
        let texts = &mut self.texts;
        let plan = self.plans.get(schema, || Plan::new(schema, texts));
        let (quick, args) = plan.quick()?;
        Some(QuickRanges {
            quick,
            args,
            texts: &mut self.texts,
            times: &mut self.times,
            copied: &mut self.copied,
            lane,
            line,
            base,
        })
    }

    /// Appends the fields of an event, but for type and track. `domain` is the stream's, which only ends that come from
    /// other streams may not be of.
    pub(crate) fn event(
        &mut self,
        event: &Event<'_>,
        domain: &Domain,
        half: Half<'_>,
        out: &mut Writer,
    ) {
        let plain = event.plain_but_texts();
        if matches!(half, Half::Second(_)) && plain.is_some() && self.has_nothing(event, domain) {
            return;
        }
        // Names may repeat where several payloads meet.
        self.names.begin(match half {
            Half::Second(first) => Some(Some(first)),
            _ if plain.is_none() && event.payload_count() > 1 => Some(None),
            _ => None,
        });
        match half {
            Half::First => {
                self.name(event, out);
                if let Some(category) = event.category() {
                    self.category(category, domain, out);
                }
                if let Some(color) = event.color() {
                    self.color(event, color, out);
                }
            }
            Half::Second(first) => self.changes(event, event.domain(), first, out),
        }
        let is_first = matches!(half, Half::First);
        let payload = plain.filter(|_| is_first);
        if let Some(payload) = payload
            && let Self {
                plans,
                texts,
                copied,
                ..
            } = self
            && let schema = event.schema()
            && let plan = plans.get(schema, || Plan::new(schema, texts))
            && plan.write_usual(payload, event.texts(), copied, texts, out)
        {
            return;
        }
        if is_first && event.kind() == EventKind::RangeStart {
            self.range_id(event, out);
        }
        let Self {
            texts,
            plans,
            names,
            flows,
            ..
        } = self;
        flows.clear();
        match payload {
            Some(payload) => {
                let schema = event.schema();
                let plan = plans.get(schema, || Plan::new(schema, texts));
                let mut annotator = Annotator::new(out, texts, names, flows);
                plan.write(event, payload, &mut annotator);
            }
            None => event.visit(&mut Annotator::new(out, texts, names, flows)),
        }
        for &flow in &*flows {
            out.fixed64(event::FLOW_IDS, flow);
        }
    }

    /// Whether there is nothing that a plain event could change of the range that it ends.
    fn has_nothing(&mut self, event: &Event<'_>, domain: &Domain) -> bool {
        let (schema, texts) = (event.schema(), &mut self.texts);
        // A schema of another domain may have the number of one of this.
        event.domain().index() == domain.index()
            && event.message().is_none()
            && event.category().or(event.color()).is_none()
            && (self.plans.get(schema, || Plan::new(schema, texts))).is_bare()
    }

    /// The message; if there is none, the name of the schema or the kind.
    #[inline]
    fn name(&mut self, event: &Event<'_>, out: &mut Writer) {
        if let Some(Text::Registered(string)) = event.message()
            && let Some(number) = self.texts.names.recent(string.handle())
        {
            out.uint(event::NAME_IID, number.into());
        } else {
            self.any_name(event, out);
        }
    }

    /// Appends the name of an event that has nothing else.
    pub(super) fn named(&mut self, name: &str, out: &mut Writer) {
        let Tables { names, new, .. } = &mut self.texts;
        match intern(names, new, interned::NAMES, name) {
            Some(number) => out.uint(event::NAME_IID, number),
            None => out.text(event::NAME, name),
        }
    }

    fn any_name(&mut self, event: &Event<'_>, out: &mut Writer) {
        let Tables { names, new, .. } = &mut self.texts;
        let key = match event.message() {
            Some(Text::Registered(string)) => string.handle(),
            _ => 0,
        };
        let text = attribute::name(event);
        let number = match key {
            0 => intern(names, new, interned::NAMES, &text),
            _ => intern_key(names, new, interned::NAMES, key, &text),
        };
        match number {
            Some(number) => out.uint(event::NAME_IID, number),
            None => out.text(event::NAME, &text),
        }
    }

    fn category(&mut self, category: u32, domain: &Domain, out: &mut Writer) {
        let Tables {
            categories, new, ..
        } = &mut self.texts;
        let number = match categories.recent(category.into()) {
            Some(number) => Some(number.into()),
            None => match domain.category(category) {
                Some(name) => {
                    let key = category.into();
                    intern_key(categories, new, interned::CATEGORIES, key, &name)
                }
                // It may get a name later.
                None => {
                    let name = category.to_string();
                    intern(categories, new, interned::CATEGORIES, &name)
                }
            },
        };
        match number {
            Some(number) => out.uint(event::CATEGORY_IIDS, number),
            None => {
                out.text(event::CATEGORIES, &attribute::category(category, domain));
            }
        }
    }

    /// Readers take no colours, but show events by their correlation IDs: [that of a colour](super::color) is shown in one near
    /// to it. The annotation tells the true one.
    fn color(&mut self, event: &Event<'_>, color: u32, out: &mut Writer) {
        self.texts.correlate(color, out);
        self.color_annotation(event, color, out);
    }

    fn color_annotation(&mut self, event: &Event<'_>, color: u32, out: &mut Writer) {
        let value = Attribute::Number(color.into());
        self.attribute(event, FieldRole::Color, "color", value, out);
    }

    fn range_id(&mut self, event: &Event<'_>, out: &mut Writer) {
        if let Some(id) = event.range_id() {
            let value = Attribute::Number(id);
            self.attribute(event, FieldRole::RangeId, "range_id", value, out);
        }
    }

    /// A range has name, category and colour of its first half. What its second has instead of
    /// them is annotated.
    fn changes(&mut self, event: &Event<'_>, domain: &Domain, first: &[u8], out: &mut Writer) {
        if let Some(text) = attribute::message(event) {
            let known = (event::NAME_IID, event::NAME);
            if !has(first, known, &self.texts.names, &text) {
                let value = Attribute::Text(&text);
                self.attribute(event, FieldRole::Message, "message", value, out);
            }
        }
        if let Some(category) = event.category() {
            let text = attribute::category(category, domain);
            let known = (event::CATEGORY_IIDS, event::CATEGORIES);
            if !has(first, known, &self.texts.categories, &text) {
                let value = Attribute::Text(&text);
                self.attribute(event, FieldRole::Category, "category", value, out);
            }
        }
        if let Some(color) = event.color()
            && !self.has_color(event, color, first)
        {
            self.color_annotation(event, color, out);
        }
    }

    /// Returns true if a range's begin has the colour of its end: by its correlation ID, or its annotation if the colour
    /// has none.
    fn has_color(&mut self, event: &Event<'_>, color: u32, first: &[u8]) -> bool {
        if let Some(text) = self.texts.session_colors.text(color) {
            let known = (event::CORRELATION_ID_IID, event::CORRELATION_ID);
            return has(first, known, &self.texts.colors, &text);
        }
        let Some(name) = attribute::entry(event, FieldRole::Color, "color") else {
            return false;
        };
        let name = known(name, &mut self.texts);
        let mut annotations =
            proto::nested(first).filter(|(field, _)| *field == event::ANNOTATIONS);
        annotations.any(|(_, content)| {
            let has = |wanted| proto::Fields::of(content).any(|field| field == wanted);
            name.is_some_and(|name| has((annotation::NAME_IID, Value::Int(name))))
                && has((annotation::UINT, Value::Int(color.into())))
        })
    }

    /// Annotates an attribute of the event under the name that its entry has, unless that is
    /// hidden.
    fn attribute(
        &mut self,
        event: &Event<'_>,
        role: FieldRole,
        name: &str,
        value: Attribute<'_>,
        out: &mut Writer,
    ) {
        let Some(name) = attribute::entry(event, role, name) else {
            return;
        };
        let open = out.open(event::ANNOTATIONS, 0);
        self.names.write(name, &mut self.texts, out);
        match value {
            Attribute::Number(number) => out.uint(annotation::UINT, number),
            Attribute::Text(text) => self.texts.value(text, out),
        }
        out.close(open);
    }
}

/// The value of an attribute that is annotated.
enum Attribute<'a> {
    Number(u64),
    Text(&'a str),
}

/// Whether an event has this text: by number, or inline.
fn has(fields: &[u8], (number, inline): (u32, u32), texts: &Texts, text: &str) -> bool {
    proto::Fields::of(fields).any(|field| match field {
        (found, Value::Int(known)) if found == number => texts.is(known as u32, text),
        (found, Value::Bytes(known)) if found == inline => known == text.as_bytes(),
        _ => false,
    })
}

/// The number of a text, if it has one, for which `field` of the interned data is written where it
/// is new.
pub(super) fn intern(texts: &mut Texts, new: &mut Writer, field: u32, text: &str) -> Option<u64> {
    let number = match texts.number(text) {
        Number::Inline => return None,
        Number::Known(number) => number,
        Number::New(number) => {
            let open = new.open(field, text.len() + 8);
            new.uint(interned::IID, number.into());
            new.text(interned::TEXT, text);
            new.close(open);
            number
        }
    };
    Some(number.into())
}

/// The same for a text that `key` (never 0) always stands for.
pub(super) fn intern_key(
    texts: &mut Texts,
    new: &mut Writer,
    field: u32,
    key: u64,
    text: &str,
) -> Option<u64> {
    if let Some(number) = texts.recent(key) {
        return Some(number.into());
    }
    let number = intern(texts, new, field, text)?;
    texts.remember(key, number as u32);
    Some(number)
}
