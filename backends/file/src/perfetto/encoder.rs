//! From events to the fields of the format's track events.

use nvtxw_backend::{Domain, Event, EventKind, FieldRole, Text};

use super::annotation::{Annotator, Names};
use super::field::{annotation, event, interned};
use crate::intern::{Number as TextNumber, Texts};
use crate::proto::Writer;

/// Encodes the events of a stream.
#[derive(Default)]
pub(crate) struct Encoder {
    pub(crate) texts: Tables,
    names: Names,
    fields: Writer,
    flows: Vec<u64>,
}

/// The texts of a stream, by use. The numbers of one table mean nothing in another.
#[derive(Default)]
pub(crate) struct Tables {
    names: Texts,
    categories: Texts,
    colors: Texts,
    pub(super) annotation_names: Texts,
    pub(super) values: Texts,
    /// What has to be written before the numbers are used.
    pub(crate) new: Writer,
}

/// What part of its range an event is.
#[derive(Clone, Copy)]
pub(crate) enum Half<'a> {
    /// The whole of it, or its start, or no range.
    First,
    /// Its end, whose fields are joined with these of its start.
    Second(&'a [u8]),
    /// Its end, whose start is written.
    Alone,
}

/// A counter's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Int(i64),
    Float(f64),
}

impl Encoder {
    /// The fields of an event, but for type and track.
    pub(crate) fn event(&mut self, event: &Event<'_>, domain: &Domain, half: Half<'_>) -> &[u8] {
        self.fields.clear();
        self.flows.clear();
        // Names may repeat where several payloads meet.
        self.names.begin(match half {
            Half::Second(first) => Some(Some(first)),
            _ if event.payload_count() > 1 => Some(None),
            _ => None,
        });
        if !matches!(half, Half::Alone) {
            self.name(event, matches!(half, Half::First));
            self.category(event, domain);
            self.color(event);
        }
        if matches!(half, Half::First) && event.kind() == EventKind::RangeStart {
            self.range_id(event);
        }
        let mut annotator = Annotator::new(
            &mut self.fields,
            &mut self.texts,
            &mut self.names,
            &mut self.flows,
        );
        event.visit(&mut annotator);
        for &flow in &self.flows {
            self.fields.fixed64(event::FLOW_IDS, flow);
        }
        self.fields.as_bytes()
    }

    /// The fields of a counter's value.
    pub(crate) fn value(&mut self, value: Number) -> &[u8] {
        self.fields.clear();
        match value {
            Number::Int(value) => self.fields.int(event::COUNTER_VALUE, value),
            Number::Float(value) => self.fields.double(event::DOUBLE_COUNTER_VALUE, value),
        }
        self.fields.as_bytes()
    }

    /// The message; if there is none and the event must have a name, that of its schema or kind.
    fn name(&mut self, event: &Event<'_>, needed: bool) {
        let Self { texts, fields, .. } = self;
        let Tables { names, new, .. } = texts;
        let lossy;
        let (key, text) = match event.message() {
            Some(Text::Registered(string)) => (string.handle(), string.text()),
            Some(Text::Inline(bytes)) if !bytes.is_empty() => {
                lossy = String::from_utf8_lossy(bytes);
                (0, &*lossy)
            }
            // A plain event without a message has an empty one.
            _ if !needed => return,
            _ => (0, event.schema().name().unwrap_or(event.kind().name())),
        };
        let number = match key {
            0 => intern(names, new, interned::NAMES, text),
            _ => intern_key(names, new, interned::NAMES, key, text),
        };
        match number {
            Some(number) => fields.uint(event::NAME_IID, number),
            None => fields.text(event::NAME, text),
        }
    }

    fn category(&mut self, event: &Event<'_>, domain: &Domain) {
        let Some(category) = event.category() else {
            return;
        };
        let Self { texts, fields, .. } = self;
        let Tables {
            categories, new, ..
        } = texts;
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
            Some(number) => fields.uint(event::CATEGORY_IIDS, number),
            None => {
                let name = domain.category(category);
                let name = name.map_or_else(|| category.to_string(), |name| name.to_string());
                fields.text(event::CATEGORIES, &name);
            }
        }
    }

    /// Readers colour by correlation, and take no colour: equal colours look equal. The annotation
    /// tells the true one.
    fn color(&mut self, event: &Event<'_>) {
        let Some(color) = event.color() else {
            return;
        };
        let Self { texts, fields, .. } = self;
        let Tables { colors, new, .. } = texts;
        let number = match colors.recent(color.into()) {
            Some(number) => Some(number.into()),
            None => {
                let text = format!("#{color:08X}");
                intern_key(colors, new, interned::CORRELATION_IDS, color.into(), &text)
            }
        };
        match number {
            Some(number) => fields.uint(event::CORRELATION_ID_IID, number),
            None => fields.text(event::CORRELATION_ID, &format!("#{color:08X}")),
        }
        self.attribute(event, FieldRole::Color, "color", color.into());
    }

    fn range_id(&mut self, event: &Event<'_>) {
        if let Some(id) = event.range_id() {
            self.attribute(event, FieldRole::RangeId, "range_id", id);
        }
    }

    /// Annotates an attribute of the event under the name that its entry has, unless that is
    /// hidden.
    fn attribute(&mut self, event: &Event<'_>, role: FieldRole, name: &str, value: u64) {
        let mut fields = event.schema().fields().iter();
        let field = fields.rfind(|field| field.role() == role);
        if field.is_some_and(|field| field.is_hidden()) {
            return;
        }
        let name = field.map_or(name, |field| field.name());
        let open = self.fields.open(event::ANNOTATIONS, 0);
        self.names.write(name, &mut self.texts, &mut self.fields);
        self.fields.uint(annotation::UINT, value);
        self.fields.close(open);
    }
}

/// The number of a text, if it has one, for which `field` of the interned data is written where it
/// is new.
pub(super) fn intern(texts: &mut Texts, new: &mut Writer, field: u32, text: &str) -> Option<u64> {
    let number = match texts.number(text) {
        TextNumber::Inline => return None,
        TextNumber::Known(number) => number,
        TextNumber::New(number) => {
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
