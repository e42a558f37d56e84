//! The values of events and samples: text that must be UTF-8, numbers that have limits.

use std::collections::HashMap;

use nvtxw_backend::{
    Counter, CounterKind, CounterSample, CounterSemantics, EntryType, Event, Field, FieldKind,
    Limit, Schema, Value, ValueType, Visitor,
};

/// Which schemas and counters have values that are worth a look.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    /// By the schema's ID in the stream's domain.
    schemas: HashMap<u64, bool>,
    last: Option<(u64, bool)>,
    /// By the counter's ID.
    counters: HashMap<u64, bool>,
}

/// What is wrong with values of one event or sample.
#[derive(Debug, Default)]
pub(crate) struct Wrong {
    /// Text that is not UTF-8: what it is, and itself.
    pub(crate) text: Option<String>,
    /// A number outside of its limits.
    pub(crate) limit: Option<String>,
}

impl Watched {
    /// Looks at the values of an event, if some may be wrong.
    pub(crate) fn event(&mut self, event: &Event<'_>) -> Wrong {
        let id = event.schema().id();
        let is_watched = match self.last {
            Some((last, is_watched)) if last == id => is_watched,
            _ => {
                let schema = self.schemas.entry(id);
                let is_watched = *schema.or_insert_with(|| is_watched(event.schema()));
                self.last = Some((id, is_watched));
                is_watched
            }
        };
        let mut watch = Watch::default();
        // What further payloads hold is not known beforehand.
        if is_watched || event.payload_count() > 1 {
            event.visit(&mut watch);
        }
        watch.wrong
    }

    /// Whether samples of a counter have limits.
    pub(crate) fn has_limits(&mut self, counter: &Counter) -> bool {
        let known = self.counters.entry(counter.id());
        *known.or_insert_with(|| {
            let of_fields = match counter.kind() {
                CounterKind::Group(schema) => is_watched(schema),
                CounterKind::Scalar(_) => false,
            };
            of_fields || counter.semantics().is_some_and(has_limits)
        })
    }
}

/// Looks at the values of a sample.
pub(crate) fn sample(counter: &Counter, sample: &CounterSample<'_>) -> Wrong {
    let mut watch = Watch {
        semantics: counter.semantics(),
        wrong: Wrong::default(),
    };
    sample.visit(&mut watch);
    watch.wrong
}

/// What bytes are that are not UTF-8.
pub(crate) fn not_utf8(bytes: &[u8]) -> Option<String> {
    let error = std::str::from_utf8(bytes).err()?;
    Some(format!(
        "`{}`, from byte {} on",
        bytes.escape_ascii(),
        error.valid_up_to()
    ))
}

/// Whether values of a schema have limits, or are text that must be UTF-8.
fn is_watched(schema: &Schema) -> bool {
    schema.fields().iter().any(|field| {
        let inside = match field.kind() {
            FieldKind::Text(ty) => *ty == EntryType::CStringUtf8,
            FieldKind::Struct(schema) | FieldKind::Union(schema) => is_watched(schema),
            FieldKind::Scalar(_) | FieldKind::Enum(_) => false,
        };
        inside || field.counter_semantics().is_some_and(has_limits)
    })
}

/// Whether there are limits that hold for the numbers as they are written.
fn has_limits(semantics: &CounterSemantics) -> bool {
    let is_absolute = matches!(semantics.value_type(), None | Some(ValueType::Absolute));
    let has_some = semantics.min().or(semantics.max()).is_some();
    has_some && is_absolute && !semantics.normalize()
}

/// Looks at each value.
#[derive(Default)]
struct Watch<'a> {
    /// Those of values whose fields have none.
    semantics: Option<&'a CounterSemantics>,
    wrong: Wrong,
}

impl Visitor for Watch<'_> {
    fn value(&mut self, field: &Field, value: Value<'_>) {
        if let (Value::Text(bytes), FieldKind::Text(EntryType::CStringUtf8)) = (value, field.kind())
        {
            if self.wrong.text.is_none()
                && let Some(bad) = not_utf8(bytes)
            {
                self.wrong.text = Some(format!("the text of `{}` is {bad}", field.name()));
            }
            return;
        }
        let semantics = field.counter_semantics().or(self.semantics);
        let Some(semantics) = semantics.filter(|semantics| has_limits(semantics)) else {
            return;
        };
        if self.wrong.limit.is_none()
            && let Some(number) = Number::of(value)
        {
            let below = |limit: &Limit| number.is_less_than(*limit);
            let above = |limit: &Limit| number.is_greater_than(*limit);
            let (what, limit) = match (semantics.min().filter(below), semantics.max().filter(above))
            {
                (Some(min), _) => ("below the minimum", min),
                (None, Some(max)) => ("above the maximum", max),
                (None, None) => return,
            };
            let name = field.name();
            self.wrong.limit = Some(match limit {
                Limit::I64(limit) => format!("`{name}` is {number}, {what} {limit}"),
                Limit::U64(limit) => format!("`{name}` is {number}, {what} {limit}"),
                Limit::F64(limit) => format!("`{name}` is {number}, {what} {limit}"),
            });
        }
    }

    fn begin_array(&mut self, _: &Field, _: usize) {}

    fn end_array(&mut self, _: &Field) {}

    fn begin_struct(&mut self, _: &Field, _: &Schema) {}

    fn end_struct(&mut self, _: &Field) {}
}

/// A value as a number.
#[derive(Clone, Copy, Debug)]
enum Number {
    Integer(i128),
    Float(f64),
}

impl Number {
    fn of(value: Value<'_>) -> Option<Self> {
        match value {
            Value::I64(value) => Some(Self::Integer(value.into())),
            Value::U64(value) => Some(Self::Integer(value.into())),
            Value::I128(value) => Some(Self::Integer(value)),
            // Above all limits anyway.
            Value::U128(value) => Some(Self::Integer(value.try_into().unwrap_or(i128::MAX))),
            Value::F32(value) => Some(Self::Float(value.into())),
            Value::F64(value) => Some(Self::Float(value)),
            _ => None,
        }
    }

    fn is_less_than(self, limit: Limit) -> bool {
        match (self, limit) {
            (Self::Integer(value), Limit::I64(limit)) => value < limit.into(),
            (Self::Integer(value), Limit::U64(limit)) => value < limit.into(),
            (Self::Integer(value), Limit::F64(limit)) => (value as f64) < limit,
            (Self::Float(value), Limit::I64(limit)) => value < limit as f64,
            (Self::Float(value), Limit::U64(limit)) => value < limit as f64,
            (Self::Float(value), Limit::F64(limit)) => value < limit,
        }
    }

    fn is_greater_than(self, limit: Limit) -> bool {
        match (self, limit) {
            (Self::Integer(value), Limit::I64(limit)) => value > limit.into(),
            (Self::Integer(value), Limit::U64(limit)) => value > limit.into(),
            (Self::Integer(value), Limit::F64(limit)) => (value as f64) > limit,
            (Self::Float(value), Limit::I64(limit)) => value > limit as f64,
            (Self::Float(value), Limit::U64(limit)) => value > limit as f64,
            (Self::Float(value), Limit::F64(limit)) => value > limit,
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Integer(value) => value.fmt(f),
            Self::Float(value) => value.fmt(f),
        }
    }
}
