//! What is in a trace, gathered event by event. It takes memory by what has different names, not by events.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// What is in a trace.
#[derive(Default)]
pub(super) struct Summary {
    pub(super) format: &'static str,
    pub(super) counts: Counts,
    pub(super) span: Span,
    pub(super) streams: Vec<Stream>,
    pub(super) schemas: Vec<Schema>,
    /// Events with sets of fields beyond the first [`LAYOUTS`].
    pub(super) other_fields: u64,
    pub(super) counters: Vec<Counter>,
    pub(super) names: Names,
    pub(super) facts: Facts,
    /// What could not be taken for what it is, by kind.
    pub(super) warnings: Vec<String>,
    /// Why not all of the file could be read, and what it means.
    pub(super) damage: Option<String>,
}

/// How many there are of each kind.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    /// Ranges, by [`RangeKind`].
    pub(super) ranges: [u64; 3],
    /// Ranges that have no end. They are in `ranges` too.
    pub(super) open: u64,
    /// Ends of ranges that did not start.
    pub(super) unmatched: u64,
    pub(super) marks: u64,
    pub(super) samples: u64,
    /// What joins events: ends of arrows, or numbers of flows in events.
    pub(super) flows: u64,
}

/// What is known of a range's kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum RangeKind {
    /// The format doesn't tell.
    Any,
    PushPop,
    StartEnd,
}

impl Counts {
    pub(super) fn range(&mut self, kind: RangeKind) {
        self.ranges[kind as usize] += 1;
    }

    pub(super) fn all_ranges(&self) -> u64 {
        self.ranges.iter().sum()
    }

    pub(super) fn add(&mut self, more: &Self) {
        for (all, more) in self.ranges.iter_mut().zip(more.ranges) {
            *all += more;
        }
        self.open += more.open;
        self.unmatched += more.unmatched;
        self.marks += more.marks;
        self.samples += more.samples;
        self.flows += more.flows;
    }
}

/// From the first timestamp to the last one, in nanoseconds.
#[derive(Clone, Copy, Default)]
pub(super) struct Span(pub(super) Option<(i64, i64)>);

impl Span {
    pub(super) fn meet(&mut self, time: i64) {
        self.0 = Some(match self.0 {
            None => (time, time),
            Some((first, last)) => (first.min(time), last.max(time)),
        });
    }

    pub(super) fn add(&mut self, other: Self) {
        if let Some((first, last)) = other.0 {
            self.meet(first);
            self.meet(last);
        }
    }

    /// All times plus `base`.
    pub(super) fn moved(self, base: i64) -> Self {
        let by = |time: i64| time.saturating_add(base);
        Self(self.0.map(|(first, last)| (by(first), by(last))))
    }

    pub(super) fn duration(self) -> u64 {
        self.0
            .map_or(0, |(first, last)| last.wrapping_sub(first) as u64)
    }
}

/// What one stream wrote, or one thread where that is what a format has.
#[derive(Default)]
pub(super) struct Stream {
    pub(super) name: Option<String>,
    pub(super) counts: Counts,
    pub(super) span: Span,
    /// Where it wrote.
    pub(super) scopes: Vec<Scope>,
}

pub(super) struct Scope {
    pub(super) path: String,
    pub(super) counts: Counts,
    pub(super) span: Span,
}

impl Stream {
    pub(super) fn add(&mut self, path: String, counts: &Counts, span: Span) {
        self.counts.add(counts);
        self.span.add(span);
        match self.scopes.iter_mut().find(|scope| scope.path == path) {
            Some(scope) => {
                scope.counts.add(counts);
                scope.span.add(span);
            }
            None => self.scopes.push(Scope {
                path,
                counts: *counts,
                span,
            }),
        }
    }
}

/// Values of one counter.
#[derive(Default)]
pub(super) struct Counter {
    pub(super) path: String,
    pub(super) unit: Option<String>,
    pub(super) description: Option<String>,
    /// Whether samples tell differences; the values are their sums.
    pub(super) is_delta: bool,
    pub(super) values: Values,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Int(i128),
    Float(f64),
}

impl Number {
    pub(super) fn as_f64(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    fn is_less(self, than: Self) -> bool {
        match (self, than) {
            (Self::Int(one), Self::Int(other)) => one < other,
            (one, other) => one.as_f64() < other.as_f64(),
        }
    }

    fn plus(self, more: Self) -> Self {
        match (self, more) {
            (Self::Int(one), Self::Int(other)) => Self::Int(one.saturating_add(other)),
            (one, other) => Self::Float(one.as_f64() + other.as_f64()),
        }
    }
}

#[derive(Default)]
pub(super) struct Values {
    pub(super) samples: u64,
    /// How many of the samples have no value.
    pub(super) gaps: u64,
    range: Option<(Number, Number)>,
    /// Of integers, which stays exact, and of all others.
    sums: (i128, f64),
    /// What differences add up to so far.
    total: Option<Number>,
}

impl Values {
    /// A sample; NaN is a gap.
    pub(super) fn add(&mut self, value: Number) {
        self.samples += 1;
        if value.as_f64().is_nan() {
            self.gaps += 1;
            return;
        }
        match value {
            Number::Int(value) => self.sums.0 = self.sums.0.saturating_add(value),
            Number::Float(value) => self.sums.1 += value,
        }
        self.range = Some(match self.range {
            None => (value, value),
            Some((least, most)) => (
                if value.is_less(least) { value } else { least },
                if most.is_less(value) { value } else { most },
            ),
        });
    }

    /// The same for the difference to the sample before.
    pub(super) fn add_difference(&mut self, difference: Number) {
        if difference.as_f64().is_nan() {
            self.add(difference);
            return;
        }
        let total = self.total.unwrap_or(Number::Int(0)).plus(difference);
        self.total = Some(total);
        self.add(total);
    }

    pub(super) fn least(&self) -> Option<Number> {
        self.range.map(|(least, _)| least)
    }

    pub(super) fn most(&self) -> Option<Number> {
        self.range.map(|(_, most)| most)
    }

    pub(super) fn mean(&self) -> Option<f64> {
        let (ints, floats) = self.sums;
        let count = self.samples - self.gaps;
        (count > 0).then(|| (ints as f64 + floats) / count as f64)
    }
}

/// Numbers texts.
#[derive(Default)]
pub(super) struct Texts {
    numbers: HashMap<Box<str>, u32>,
    texts: Vec<Box<str>>,
}

impl Texts {
    pub(super) fn number(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.texts.len() as u32;
        self.texts.push(text.into());
        self.numbers.insert(text.into(), number);
        number
    }

    pub(super) fn text(&self, number: u32) -> &str {
        &self.texts[number as usize]
    }
}

/// What events are called.
#[derive(Default)]
pub(super) struct Names {
    pub(super) texts: Texts,
    all: Vec<Name>,
}

/// Events of one name.
#[derive(Clone, Copy, Default)]
pub(super) struct Name {
    pub(super) ranges: u64,
    pub(super) marks: u64,
    /// Ranges that have no end: they are counted in `ranges`, and no times of them.
    pub(super) open: u64,
    /// Of all ranges, in nanoseconds.
    pub(super) total: u128,
    pub(super) shortest: u64,
    pub(super) longest: u64,
}

impl Name {
    pub(super) fn closed(&self) -> u64 {
        self.ranges - self.open
    }

    pub(super) fn mean(&self) -> f64 {
        self.total as f64 / self.closed().max(1) as f64
    }
}

impl Names {
    pub(super) fn number(&mut self, text: &str) -> u32 {
        let number = self.texts.number(text);
        if self.all.len() <= number as usize {
            self.all.push(Name::default());
        }
        number
    }

    pub(super) fn mark(&mut self, name: u32) {
        self.all[name as usize].marks += 1;
    }

    /// A range that has begun; [`end`](Self::end) tells how long it took.
    pub(super) fn begin(&mut self, name: u32) {
        let name = &mut self.all[name as usize];
        name.ranges += 1;
        name.open += 1;
    }

    /// The end of a range that was begun.
    pub(super) fn end(&mut self, name: u32, duration: u64) {
        let name = &mut self.all[name as usize];
        name.shortest = match name.closed() {
            0 => duration,
            _ => name.shortest.min(duration),
        };
        name.open -= 1;
        name.longest = name.longest.max(duration);
        name.total += u128::from(duration);
    }

    /// All names of events, those whose ranges take most time first.
    pub(super) fn by_time(&self) -> Vec<(&str, Name)> {
        let named = |(number, name): (usize, &Name)| (self.texts.text(number as u32), *name);
        let mut all: Vec<_> = (self.all.iter().enumerate().map(named))
            .filter(|(_, name)| name.ranges + name.marks > 0)
            .collect();
        let key = |name: &Name| (name.total, name.ranges, name.marks);
        all.sort_by(|(one, a), (other, b)| key(b).cmp(&key(a)).then(one.cmp(other)));
        all
    }
}

/// Fields of events.
#[derive(Default)]
pub(super) struct Schema {
    pub(super) name: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) events: Option<u64>,
    pub(super) fields: Vec<Field>,
    /// What some of the events are called.
    pub(super) examples: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    /// Of a file that doesn't tell: what was seen.
    pub(super) types: Vec<String>,
    pub(super) unit: Option<String>,
}

/// What numbers count: each so many of a unit.
pub(super) fn unit(unit: Option<&str>, scale: Option<&str>) -> Option<String> {
    match (scale, unit) {
        (Some(scale), Some(unit)) => Some(format!("{scale} {unit}")),
        (one, other) => one.or(other).map(str::to_owned),
    }
}

/// What a value is, as far as a format tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Type {
    Bool,
    Unsigned,
    Int,
    Float,
    Text,
    Address,
    List,
    Struct,
    Null,
}

impl Type {
    const ALL: [(Self, &'static str); 9] = [
        (Self::Bool, "bool"),
        (Self::Unsigned, "unsigned"),
        (Self::Int, "int"),
        (Self::Float, "float"),
        (Self::Text, "text"),
        (Self::Address, "address"),
        (Self::List, "list"),
        (Self::Struct, "struct"),
        (Self::Null, "null"),
    ];
}

/// So many sets of fields are told apart; events with others are only counted.
const LAYOUTS: usize = 4096;

/// Which names are examples of a layout.
const EXAMPLES: usize = 3;

/// The sets of fields that events were seen with.
#[derive(Default)]
pub(super) struct Layouts {
    pub(super) names: Texts,
    numbers: HashMap<Box<[u32]>, u32>,
    all: Vec<Layout>,
    /// Events whose set of fields is not among these.
    pub(super) others: u64,
    /// The event that is being read.
    fields: Vec<u32>,
    types: Vec<Type>,
}

struct Layout {
    fields: Box<[u32]>,
    /// Of each field, a bit for each type that was seen.
    types: Vec<u16>,
    events: u64,
    examples: Vec<u32>,
}

impl Layouts {
    /// A field of the event that is being read.
    pub(super) fn field(&mut self, name: u32, ty: Type) {
        self.fields.push(name);
        self.types.push(ty);
    }

    /// The event is complete.
    pub(super) fn event(&mut self, name: u32) {
        if !self.fields.is_empty() {
            self.add(name);
        }
        self.discard();
    }

    /// The event has none that count.
    pub(super) fn discard(&mut self) {
        self.fields.clear();
        self.types.clear();
    }

    fn add(&mut self, name: u32) {
        let number = match self.numbers.get(&self.fields[..]) {
            Some(&number) => number,
            None if self.all.len() >= LAYOUTS => {
                self.others += 1;
                return;
            }
            None => {
                let number = self.all.len() as u32;
                let fields: Box<[u32]> = self.fields[..].into();
                self.numbers.insert(fields.clone(), number);
                self.all.push(Layout {
                    types: vec![0; fields.len()],
                    fields,
                    events: 0,
                    examples: Vec::new(),
                });
                number
            }
        };
        let layout = &mut self.all[number as usize];
        layout.events += 1;
        for (seen, ty) in layout.types.iter_mut().zip(&self.types) {
            *seen |= 1 << *ty as u16;
        }
        if layout.examples.len() < EXAMPLES && !layout.examples.contains(&name) {
            layout.examples.push(name);
        }
    }

    /// As schemas without a name, those with most events first.
    pub(super) fn schemas(&self, names: &Names) -> Vec<Schema> {
        let mut all: Vec<_> = self.all.iter().collect();
        all.sort_by_key(|layout| Reverse(layout.events));
        let schema = |layout: &Layout| {
            let fields = layout.fields.iter().zip(&layout.types);
            Schema {
                events: Some(layout.events),
                fields: fields.map(|(&name, &seen)| self.seen(name, seen)).collect(),
                examples: (layout.examples.iter())
                    .map(|name| names.texts.text(*name).to_owned())
                    .collect(),
                ..Schema::default()
            }
        };
        all.into_iter().map(schema).collect()
    }

    fn seen(&self, name: u32, seen: u16) -> Field {
        let types = Type::ALL
            .iter()
            .filter(|(ty, _)| seen & 1 << *ty as u16 != 0);
        Field {
            name: self.names.text(name).to_owned(),
            types: types.map(|(_, word)| (*word).to_owned()).collect(),
            unit: None,
        }
    }
}

/// What the file says of itself.
#[derive(Default)]
pub(super) struct Facts(pub(super) BTreeMap<String, Fact>);

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fact {
    Number(i64),
    Text(String),
}

impl Facts {
    pub(super) fn number(&self, key: &str) -> Option<i64> {
        match self.0.get(key) {
            Some(Fact::Number(number)) => Some(*number),
            // In Parquet all values are texts.
            Some(Fact::Text(text)) => text.parse().ok(),
            None => None,
        }
    }
}
