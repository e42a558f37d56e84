//! From events to the fields of the format's track events.

use std::borrow::Cow;

use nvtxw_backend::{Domain, Event, EventKind, FieldRole, Schema, Text};

use super::annotation::{Annotator, Names};
use super::field::{annotation, event, interned};
use super::plan::Plans;
use super::quick::Quick;
use crate::format::Half;
use crate::intern::{Number, Texts};
use crate::proto::Writer;

/// Encodes the events of a stream.
#[derive(Default)]
pub(crate) struct Encoder {
    pub(crate) texts: Tables,
    plans: Plans,
    names: Names,
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

impl Tables {
    /// The number of a registered name, if it is known.
    #[inline]
    pub(super) fn name(&self, handle: u64) -> Option<u32> {
        (handle != 0).then(|| self.names.recent(handle))?
    }

    /// The number of a category, if it is known.
    #[inline]
    pub(super) fn category(&self, category: u32) -> Option<u32> {
        (category != 0).then(|| self.categories.recent(category.into()))?
    }
}

impl Encoder {
    /// How the usual ranges of this schema are written, if it is simple.
    pub(super) fn quick(&mut self, schema: &Schema) -> Option<(&Quick, &Tables)> {
        let quick = self.plans.get(schema, &mut self.texts).quick()?;
        Some((quick, &self.texts))
    }

    /// Appends the fields of an event, but for type and track.
    pub(crate) fn event(
        &mut self,
        event: &Event<'_>,
        domain: &Domain,
        half: Half<'_>,
        out: &mut Writer,
    ) {
        // Names may repeat where several payloads meet.
        self.names.begin(match half {
            Half::Second(first) => Some(Some(first)),
            _ if event.payload_count() > 1 => Some(None),
            _ => None,
        });
        if !matches!(half, Half::Alone) {
            self.name(event, matches!(half, Half::First), out);
            if let Some(category) = event.category() {
                self.category(category, domain, out);
            }
            if let Some(color) = event.color() {
                self.color(event, color, out);
            }
        }
        if matches!(half, Half::First) && event.kind() == EventKind::RangeStart {
            self.range_id(event, out);
        }
        let Self {
            texts,
            plans,
            names,
            flows,
        } = self;
        flows.clear();
        match event.plain() {
            Some(payload) if matches!(half, Half::First) => {
                let plan = plans.get(event.schema(), texts);
                let mut annotator = Annotator::new(out, texts, names, flows);
                plan.write(event, payload, &mut annotator);
            }
            _ => event.visit(&mut Annotator::new(out, texts, names, flows)),
        }
        for &flow in &*flows {
            out.fixed64(event::FLOW_IDS, flow);
        }
    }

    /// The message; if there is none and the event must have a name, that of its schema or kind.
    #[inline]
    fn name(&mut self, event: &Event<'_>, needed: bool, out: &mut Writer) {
        if let Some(Text::Registered(string)) = event.message()
            && let Some(number) = self.texts.names.recent(string.handle())
        {
            out.uint(event::NAME_IID, number.into());
        } else {
            self.any_name(event, needed, out);
        }
    }

    fn any_name(&mut self, event: &Event<'_>, needed: bool, out: &mut Writer) {
        let Tables { names, new, .. } = &mut self.texts;
        let lossy;
        let (key, text) = match event.message() {
            Some(Text::Registered(string)) => (string.handle(), string.text()),
            Some(Text::Inline(bytes)) if !bytes.is_empty() => {
                // The check alone is much faster, and mostly all that is needed.
                lossy = str::from_utf8(bytes)
                    .map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
                (0, &*lossy)
            }
            Some(Text::Wide(wide)) if !wide.is_empty() => {
                lossy = wide.to_string().into();
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
            Some(number) => out.uint(event::NAME_IID, number),
            None => out.text(event::NAME, text),
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
                let name = domain.category(category);
                let name = name.map_or_else(|| category.to_string(), |name| name.to_string());
                out.text(event::CATEGORIES, &name);
            }
        }
    }

    /// Readers colour by correlation, and take no colour: equal colours look equal. The annotation
    /// tells the true one.
    fn color(&mut self, event: &Event<'_>, color: u32, out: &mut Writer) {
        let Tables { colors, new, .. } = &mut self.texts;
        let number = match colors.recent(color.into()) {
            Some(number) => Some(number.into()),
            None => {
                let text = format!("#{color:08X}");
                intern_key(colors, new, interned::CORRELATION_IDS, color.into(), &text)
            }
        };
        match number {
            Some(number) => out.uint(event::CORRELATION_ID_IID, number),
            None => out.text(event::CORRELATION_ID, &format!("#{color:08X}")),
        }
        self.attribute(event, FieldRole::Color, "color", color.into(), out);
    }

    fn range_id(&mut self, event: &Event<'_>, out: &mut Writer) {
        if let Some(id) = event.range_id() {
            self.attribute(event, FieldRole::RangeId, "range_id", id, out);
        }
    }

    /// Annotates an attribute of the event under the name that its entry has, unless that is
    /// hidden.
    fn attribute(
        &mut self,
        event: &Event<'_>,
        role: FieldRole,
        name: &str,
        value: u64,
        out: &mut Writer,
    ) {
        let mut fields = event.schema().fields().iter();
        let field = fields.rfind(|field| field.role() == role);
        if field.is_some_and(|field| field.is_hidden()) {
            return;
        }
        let name = field.map_or(name, |field| field.name());
        let open = out.open(event::ANNOTATIONS, 0);
        self.names.write(name, &mut self.texts, out);
        out.uint(annotation::UINT, value);
        out.close(open);
    }
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
