//! Counters: which tracks a sample's values go to, and what they mean there.

mod meaning;
mod naming;

use nvtxw_backend::{
    Counter, CounterKind, CounterSemantics, Field, FieldKind, FieldRole, Schema, Value, Visitor,
};

pub(crate) use self::meaning::Meaning;
use self::meaning::label;
pub(crate) use self::naming::{Named, Naming};
use crate::format::Number;
use crate::plain::Load;
use crate::track::{Label, TrackId, Tracks};

/// The tracks of a counter, or of the counters of a group, in the order of a sample's values, and
/// what these mean. `domain` is the index of the counter's, `parent` where the counter belongs, `stream` the number of who
/// samples it.
pub(crate) fn tracks(
    counter: &Counter,
    domain: u32,
    parent: TrackId,
    stream: u32,
    tracks: &Tracks,
) -> Vec<(TrackId, Meaning)> {
    let mut labels = Vec::new();
    let parent = match counter.kind() {
        CounterKind::Scalar(ty) => {
            let semantics = counter.semantics();
            let name = counter.name().to_owned();
            labels.push((
                label(name, counter.description(), semantics),
                Meaning::new(semantics, Some(*ty)),
            ));
            parent
        }
        CounterKind::Group(schema) => {
            let fields = schema.fields().iter();
            // Where samples differ, the tracks come with them.
            for field in fields.filter(|_| schema.is_plain()) {
                if !matches!(field.role(), FieldRole::Time(_) | FieldRole::Scope) {
                    add_field(field, "", counter.semantics(), &mut labels);
                }
            }
            group(counter, domain, parent, tracks)
        }
    };
    let id = (domain, counter.id());
    labels
        .into_iter()
        .zip(0..)
        .map(|((label, meaning), index)| {
            // Only those of one stream can be summed up: in its order.
            let stream = meaning.is_delta.then_some(stream);
            let track = tracks.counter(parent, id, index, stream, label);
            (track, meaning)
        })
        .collect()
}

/// The track of a value that has a name, of a group whose samples differ, and what it means.
pub(crate) fn named_track(
    value: Named,
    counter: &Counter,
    domain: u32,
    parent: TrackId,
    stream: u32,
    tracks: &Tracks,
) -> (TrackId, Meaning) {
    let semantics = value.semantics.as_ref().or(counter.semantics());
    let meaning = Meaning::new(semantics, value.ty);
    let name = value.name.clone().into();
    let label = label(name, value.description.as_deref(), semantics);
    let stream = meaning.is_delta.then_some(stream);
    let parent = group(counter, domain, parent, tracks);
    let id = (domain, counter.id());
    let track = tracks.named_counter(parent, id, value.name, stream, label);
    (track, meaning)
}

fn group(counter: &Counter, domain: u32, parent: TrackId, tracks: &Tracks) -> TrackId {
    let label = Label {
        description: counter.description().map(str::to_owned),
        ..Label::new(counter.name().to_owned())
    };
    tracks.group(parent, domain, counter.id(), label)
}

/// Where a sample has its values, in the order of [`tracks`], and how each is read; `None` if some are no plain numbers.
pub(crate) fn places(counter: &Counter) -> Option<Vec<(Load, usize)>> {
    let schema = match counter.kind() {
        CounterKind::Scalar(ty) => return Some(vec![(Load::of_type(*ty)?, 0)]),
        CounterKind::Group(schema) => Some(schema).filter(|schema| schema.is_plain())?,
    };
    let mut places = Vec::new();
    for field in schema.fields() {
        match field.role() {
            FieldRole::Time(_) | FieldRole::Scope => continue,
            FieldRole::Plain => {}
            _ => return None,
        }
        add_places(field, 0, &mut places)?;
    }
    Some(places)
}

/// Adds those of a field of what begins at `base`.
fn add_places(field: &Field, base: usize, places: &mut Vec<(Load, usize)>) -> Option<()> {
    if field.is_hidden() {
        return Some(());
    }
    for index in 0..field.count().unwrap_or(1) {
        let at = base + field.offset() + index * field.size();
        let load = match field.kind() {
            FieldKind::Scalar(ty) => Load::of_type(*ty)?,
            FieldKind::Enum(meaning) => Load::unsigned(meaning.size()),
            FieldKind::Struct(schema) => {
                for field in schema.fields() {
                    add_places(field, at, places)?;
                }
                continue;
            }
            FieldKind::Text(_) | FieldKind::Union(_) => return None,
        };
        places.push((load, at));
    }
    Some(())
}

/// Whether samples of the counter differ in what they hold.
pub(crate) fn differs(counter: &Counter) -> bool {
    matches!(counter.kind(), CounterKind::Group(schema) if !schema.is_plain())
}

/// One label for each value that a visitor of `field` gets and takes.
fn add_field(
    field: &Field,
    prefix: &str,
    semantics: Option<&CounterSemantics>,
    labels: &mut Vec<(Label, Meaning)>,
) {
    if field.is_hidden() {
        return;
    }
    let semantics = field.counter_semantics().or(semantics);
    let name = format!("{prefix}{}", field.name());
    let mut add = |name: String| match field.kind() {
        FieldKind::Struct(schema) => {
            for field in schema.fields() {
                add_field(field, &format!("{name}."), semantics, labels);
            }
        }
        kind => {
            let ty = match kind {
                FieldKind::Scalar(ty) => Some(*ty),
                _ => None,
            };
            labels.push((
                label(name, field.description(), semantics),
                Meaning::new(semantics, ty),
            ));
        }
    };
    match field.count() {
        None => add(name),
        Some(count) => {
            for index in 0..count {
                add(format!("{name}[{index}]"));
            }
        }
    }
}

/// Gathers the values of a sample, in the order of [`tracks`].
#[derive(Default)]
pub(crate) struct Sample {
    pub(crate) values: Vec<Number>,
    /// Where samples differ.
    pub(crate) naming: Option<Naming>,
    /// How many hidden arrays and structs are open.
    hidden: usize,
    /// How many other structs are open.
    depth: usize,
}

impl Sample {
    pub(crate) fn clear(&mut self) {
        self.values.clear();
        if let Some(naming) = &mut self.naming {
            naming.clear();
        }
    }

    /// Which of the counter's tracks the value at `index` goes to.
    #[inline]
    pub(crate) fn number(&self, index: usize) -> usize {
        match &self.naming {
            None => index,
            Some(naming) => naming.number(index),
        }
    }

    fn begin(&mut self, field: &Field, is_array: bool) {
        self.hidden += usize::from(self.skips(field));
        if let Some(naming) = &mut self.naming {
            naming.begin(field, is_array);
        }
    }

    fn end(&mut self) {
        self.hidden = self.hidden.saturating_sub(1);
        if let Some(naming) = &mut self.naming {
            naming.end();
        }
    }

    fn skips(&self, field: &Field) -> bool {
        let is_time = matches!(field.role(), FieldRole::Time(_)) && self.depth == 0;
        self.hidden > 0 || field.is_hidden() || is_time
    }
}

impl Visitor for Sample {
    fn value(&mut self, field: &Field, value: Value<'_>) {
        if self.skips(field) {
            return;
        }
        if let Some(naming) = &mut self.naming {
            naming.value(field);
        }
        self.values.push(match value {
            Value::I64(value) => Number::Int(value),
            Value::U64(value) | Value::Address(value) | Value::Enum { value, .. } => value.into(),
            Value::I128(value) => Number::Float(value as f64),
            Value::U128(value) => Number::Float(value as f64),
            Value::F32(value) => Number::Float(value.into()),
            Value::F64(value) => Number::Float(value),
            Value::Char(value) => Number::Int(value.into()),
            // Counters are numbers; a value keeps its place whatever it is.
            Value::Text(_) | Value::Wide(_) | Value::Registered(_) | Value::Bytes(_) => {
                Number::Float(f64::NAN)
            }
        });
    }

    fn begin_array(&mut self, field: &Field, _len: usize) {
        self.begin(field, true);
    }

    fn end_array(&mut self, _field: &Field) {
        self.end();
    }

    fn begin_struct(&mut self, field: &Field, _schema: &Schema) {
        self.begin(field, false);
        self.depth += 1;
    }

    fn end_struct(&mut self, _field: &Field) {
        self.end();
        self.depth -= 1;
    }
}
