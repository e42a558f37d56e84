//! A backend that looks at all that reaches it, and counts it for the call that it came by.

use std::cell::{Cell, RefCell};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::hint::black_box;
use std::sync::{Arc, Once};

use nvtxw_backend::{
    Backend, Counter, CounterBatch, CounterKind, Event, EventBatch, Field, FieldKind,
    NoValueReason, PlainEvent, Refusal, RefusalCounts, Registered, Result, Schema, Session,
    SessionRequest, Stream, StreamInfo, Text, Time, TimeRelation, Value, Visitor,
};

/// What reached the backend by one call.
#[derive(Clone, Debug, Default)]
pub struct Reached {
    /// The times of the events, a range's start first.
    pub events: Vec<(i64, Option<i64>)>,
    /// The times of samples.
    pub samples: Vec<i64>,
    pub no_values: usize,
    pub relations: usize,
    pub begun: usize,
    /// The streams that were opened.
    pub opened: Vec<Arc<StreamInfo>>,
    pub closed: usize,
    pub ended: usize,
    /// What a session that ended was told of refusals.
    pub refusals: RefusalCounts,
    /// Whether the backend refused or panicked because it was told to.
    pub met_fate: bool,
    /// How much there was to look at: values, and the beginnings and ends of arrays and structs.
    pub visits: u64,
    /// Values by kind, and arrays, structs and unions.
    pub kinds: Kinds,
    /// All that there was to see of events, in its order.
    pub sights: Vec<Sight>,
}

/// Something that an event shows, apart from names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sight {
    /// What an event says of itself: message, colour, category, range ID, scope and time domains.
    Event(Option<String>, [Option<u64>; 6]),
    /// A value: which variant of [`Value`] it is, and its bits or a hash of its content.
    Value(u8, u128),
    Array(usize),
    Struct(u64),
    End,
}

impl Reached {
    /// Whether nothing reached it.
    pub fn is_nothing(&self) -> bool {
        let calls = self.no_values + self.relations + self.begun + self.closed + self.ended;
        calls + self.opened.len() + self.events.len() + self.samples.len() == 0
    }
}

/// How often each kind of value came, by the order of [`KINDS`].
pub type Kinds = [u64; KINDS.len()];

pub const KINDS: [&str; 12] = [
    "integers",
    "floats",
    "wide integers",
    "addresses",
    "text",
    "wide text",
    "registered strings",
    "enums",
    "bytes",
    "arrays",
    "structs",
    "unions",
];
const ARRAY: usize = 9;
const STRUCT: usize = 10;
const UNION: usize = 11;

/// What the next method of the backend does, beside its work.
pub enum Fate {
    Refuse,
    Panic,
    /// Calls the table from inside.
    Call(Box<dyn FnOnce()>),
}

/// What the backend panics with when it is told to.
pub const PANIC: &str = "the collector was told to panic";

/// Has panics that were asked for go by without a word; all others are told as before.
pub fn pass_over_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if panic.payload_as_str() != Some(PANIC) {
                before(panic);
            }
        }));
    });
}

thread_local! {
    static REACHED: RefCell<Reached> = RefCell::default();
    static FATE: Cell<Option<Fate>> = const { Cell::new(None) };
}

/// Runs a call on this thread, and tells what reached the backend by it. Of a call inside another one each gets its own.
pub fn reached_by<T>(fate: Option<Fate>, call: impl FnOnce() -> T) -> (T, Reached) {
    let outer = REACHED.take();
    FATE.set(fate);
    let result = call();
    FATE.set(None);
    (result, REACHED.replace(outer))
}

fn note(change: impl FnOnce(&mut Reached)) -> Result<()> {
    // The exit of the process ends sessions, when this thread's storage may be gone.
    let fate = FATE.try_with(Cell::take).ok().flatten();
    let _ = REACHED.try_with(|reached| {
        let reached = &mut *reached.borrow_mut();
        change(reached);
        reached.met_fate |= matches!(fate, Some(Fate::Refuse | Fate::Panic));
    });
    match fate {
        None => Ok(()),
        Some(Fate::Refuse) => Err(Refusal::failed("the collector was told to refuse")),
        Some(Fate::Panic) => std::panic::panic_any(PANIC),
        Some(Fate::Call(call)) => {
            call();
            Ok(())
        }
    }
}

pub struct Collector;

impl Backend for Collector {
    type Session = Collector;

    fn begin(&self, request: &SessionRequest<'_>) -> Result<Collector> {
        black_box(request.config().iter().count());
        note(|reached| reached.begun += 1)?;
        Ok(Collector)
    }
}

impl Session for Collector {
    type Stream = CollectorStream;

    fn open_stream(&self, stream: &Arc<StreamInfo>) -> Result<CollectorStream> {
        note(|reached| reached.opened.push(Arc::clone(stream)))?;
        Ok(CollectorStream {
            info: Arc::clone(stream),
            plain: None,
        })
    }

    fn note_refusals(&self, counts: RefusalCounts) {
        // As in `note`.
        let _ = REACHED.try_with(|reached| reached.borrow_mut().refusals = counts);
    }

    fn end(&self) -> Result<()> {
        note(|reached| reached.ended += 1)
    }
}

pub struct CollectorStream {
    info: Arc<StreamInfo>,
    /// The bytes and the text of the event that was not taken by them, and its scope.
    plain: Option<(Vec<u8>, Option<Vec<u8>>, u64)>,
}

impl CollectorStream {
    fn look_at(event: &Event<'_>) -> Tour {
        assert!(event.scope_id() == event.scope().id());
        assert!(event.color() != Some(0) && event.category() != Some(0));
        let message = event.message();
        let attributes = [
            event.color().map(u64::from),
            event.category().map(u64::from),
            event.range_id(),
            Some(event.scope_id()),
            Some(event.time_domain()),
            Some(event.end_time_domain()),
        ];
        let message = message.map(|text| text.to_string_lossy().into_owned());
        let mut tour = Tour::default();
        tour.sights.push(Sight::Event(message, attributes));
        event.visit(&mut tour);
        assert!(tour.open.is_empty(), "all that began has ended");
        if event.plain_but_texts().is_some() {
            // The fields one by one are the same as all of them.
            let mut again = Tour::default();
            for index in 0..event.schema().fields().len() {
                event.visit_field(index, &mut again);
            }
            assert_eq!((tour.visits, tour.kinds), (again.visits, again.kinds));
        }
        tour
    }
}

fn times(event: &Event<'_>) -> (i64, Option<i64>) {
    match event.time() {
        Time::Point(time) => (time, None),
        Time::Range { start, end } => {
            assert!(start <= end, "a range does not end before it starts");
            (start, Some(end))
        }
    }
}

impl Stream for CollectorStream {
    fn take_plain(
        &mut self,
        _: &Arc<Schema>,
        scope: u64,
        event: &PlainEvent<'_>,
    ) -> Option<Result<()>> {
        let text = event.text().map(<[u8]>::to_vec);
        self.plain = Some((event.bytes().to_vec(), text, scope));
        None
    }

    fn write_event(&mut self, event: &Event<'_>) -> Result<()> {
        // What was told of it before it was read is what it says.
        if let Some((bytes, text, scope)) = self.plain.take()
            && event.plain_but_texts() == Some(&bytes)
        {
            assert_eq!(event.scope_id(), scope);
            if let Some(text) = &text {
                assert_eq!(event.message(), Some(Text::Inline(text)));
            }
        }
        let tour = Self::look_at(event);
        note(|reached| {
            tour.add_to(reached);
            reached.events.push(times(event));
        })
    }

    fn write_batch(&mut self, batch: &EventBatch<'_>) -> Result<()> {
        assert!(!batch.is_empty(), "such a batch does not get here");
        let mut events = Vec::new();
        for event in batch.events() {
            assert!(Arc::ptr_eq(event.schema(), batch.schema()));
            if let Some(scope) = batch.scope_id() {
                assert_eq!(scope, event.scope_id());
            }
            let tour = Self::look_at(&event);
            REACHED.with_borrow_mut(|reached| tour.add_to(reached));
            events.push(times(&event));
        }
        assert!(events.len() <= batch.len());
        // All ways to look at a batch agree.
        let mut again = Vec::new();
        batch.for_each(|event| again.push(times(event)));
        assert_eq!(events, again);
        if let Some(mut plain) = batch.plain_events() {
            let mut one_by_one = Vec::new();
            while !plain.is_empty() {
                // What is told of an event before it is read is what it says then.
                let mut shown = None;
                plain.take_texts_while(|event| {
                    let owned = |text: &[u8]| text.to_vec();
                    let texts = event.texts().iter().map(|text| text.map(owned));
                    let texts: Vec<_> = texts.collect();
                    shown = Some((owned(event.bytes()), event.text().map(owned), texts));
                    false
                });
                let Some(event) = plain.read() else {
                    continue;
                };
                if let Some((bytes, text, texts)) = shown {
                    // Behind them are those of the next ones.
                    let own = event.plain_but_texts().expect("it is plain");
                    assert_eq!(Some(own), bytes.get(..own.len()));
                    if let Some(text) = &text {
                        assert_eq!(event.message(), Some(Text::Inline(text)));
                    }
                    let mut texts = texts.iter().map(Option::as_deref).peekable();
                    assert!(texts.peek().is_none() || texts.eq(event.texts().iter().copied()));
                }
                one_by_one.push(times(&event));
            }
            assert_eq!(one_by_one, again);
        }
        note(|reached| reached.events.append(&mut events))
    }

    fn write_counters(&mut self, samples: &CounterBatch<'_>) -> Result<()> {
        assert!(!samples.is_empty(), "such a batch does not get here");
        // What is behind a null pointer is no value.
        let has_values = match samples.counter().kind() {
            CounterKind::Scalar(_) => true,
            CounterKind::Group(schema) => schema.is_plain(),
        };
        let mut times = Vec::new();
        for sample in samples.samples() {
            assert_eq!(sample.scope_id(), sample.scope().id());
            let mut tour = Tour::default();
            sample.visit(&mut tour);
            assert!(tour.open.is_empty(), "all that began has ended");
            assert!(tour.visits > 0 || !has_values, "a sample has a value");
            REACHED.with_borrow_mut(|reached| tour.add_to(reached));
            times.push(sample.time());
        }
        assert!(times.len() <= samples.len());
        note(|reached| reached.samples.append(&mut times))
    }

    fn write_no_value(&mut self, _: &Arc<Counter>, _: i64, _: NoValueReason) -> Result<()> {
        note(|reached| reached.no_values += 1)
    }

    fn write_relation(&mut self, relation: &TimeRelation<'_>) -> Result<()> {
        black_box(format!("{relation:?}"));
        note(|reached| reached.relations += 1)
    }

    fn close(&mut self) -> Result<()> {
        black_box(self.info.name());
        note(|reached| reached.closed += 1)
    }
}

/// Looks at each byte of each value.
#[derive(Default)]
struct Tour {
    visits: u64,
    kinds: Kinds,
    sights: Vec<Sight>,
    open: Vec<Open>,
}

/// An array or a struct that has begun and not ended.
#[derive(Debug, PartialEq, Eq)]
struct Open {
    field: *const Field,
    /// Elements of an array that are still to come.
    left: Option<usize>,
}

impl Tour {
    fn add_to(self, reached: &mut Reached) {
        reached.visits += self.visits;
        reached.sights.extend(self.sights);
        for (sum, kind) in reached.kinds.iter_mut().zip(self.kinds) {
            *sum += kind;
        }
    }

    fn come_by(&mut self, kind: usize) {
        self.visits += 1;
        self.kinds[kind] += 1;
        if let Some(Open {
            left: Some(left), ..
        }) = self.open.last_mut()
        {
            *left = left.checked_sub(1).expect("no more elements than said");
        }
    }

    fn end(&mut self, field: &Field, left: Option<usize>) {
        self.visits += 1;
        self.sights.push(Sight::End);
        let begun = self.open.pop().expect("what ends has begun");
        assert_eq!(begun, Open { field, left });
    }
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn sum(bytes: &[u8]) -> u64 {
    bytes.iter().map(|byte| u64::from(*byte)).sum()
}

impl Visitor for Tour {
    fn value(&mut self, _: &Field, value: Value<'_>) {
        let (kind, looked_at) = match value {
            Value::I64(_) | Value::U64(_) | Value::Char(_) => (0, 0),
            Value::F32(_) | Value::F64(_) => (1, 0),
            Value::I128(_) | Value::U128(_) => (2, 0),
            Value::Address(_) => (3, 0),
            Value::Text(text) => (4, sum(text)),
            Value::Wide(text) => (5, text.chars().count() as u64),
            Value::Registered(string) => {
                (6, string.map_or(0, |string| sum(string.text().as_bytes())))
            }
            Value::Enum { value, meaning } => {
                (7, meaning.find(value).unwrap_or_default().len() as u64)
            }
            Value::Bytes(bytes) => (8, sum(bytes)),
        };
        black_box(looked_at);
        let (variant, bits) = match value {
            Value::I64(value) => (0, value as u128),
            Value::U64(value) => (1, value.into()),
            Value::I128(value) => (2, value as u128),
            Value::U128(value) => (3, value),
            Value::F32(value) => (4, value.to_bits().into()),
            Value::F64(value) => (5, value.to_bits().into()),
            Value::Char(value) => (6, value.into()),
            Value::Address(value) => (7, value.into()),
            Value::Text(text) => (8, hash(text).into()),
            Value::Wide(text) => (9, hash(text.chars().collect::<Vec<_>>()).into()),
            Value::Registered(string) => (10, hash(string.map(Registered::handle)).into()),
            Value::Enum { value, meaning } => (11, hash((value, meaning.id())).into()),
            Value::Bytes(bytes) => (12, hash(bytes).into()),
        };
        self.sights.push(Sight::Value(variant, bits));
        self.come_by(kind);
    }

    fn begin_array(&mut self, field: &Field, len: usize) {
        self.come_by(ARRAY);
        self.sights.push(Sight::Array(len));
        let left = Some(len);
        self.open.push(Open { field, left });
    }

    fn end_array(&mut self, field: &Field) {
        self.end(field, Some(0));
    }

    fn begin_struct(&mut self, field: &Field, schema: &Schema) {
        self.sights.push(Sight::Struct(schema.id()));
        self.come_by(match field.kind() {
            FieldKind::Union(_) => UNION,
            _ => STRUCT,
        });
        self.open.push(Open { field, left: None });
    }

    fn end_struct(&mut self, field: &Field) {
        self.end(field, None);
    }
}
