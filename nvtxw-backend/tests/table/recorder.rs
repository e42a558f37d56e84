//! A backend that writes down what reaches it, one line each.

use std::cell::RefCell;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

use nvtxw_backend::{
    Backend, Counter, CounterBatch, Domain, Event, EventBatch, Field, NoValueReason, Refusal,
    RefusalCounts, Result, Schema, Session, SessionRequest, Stream, StreamInfo, Text, Time,
    TimeRelation, Value, Visitor,
};

type Callback = Box<dyn FnOnce()>;

thread_local! {
    /// What the next method of the recorder on this thread runs, once.
    static CALLBACK: RefCell<Option<Callback>> = const { RefCell::new(None) };
}

/// Has the next method of the recorder on this thread run `callback`.
pub fn from_inside(callback: impl FnOnce() + 'static) {
    CALLBACK.with_borrow_mut(|slot| *slot = Some(Box::new(callback)));
}

fn run_callback() {
    if let Some(callback) = CALLBACK.with_borrow_mut(Option::take) {
        callback();
    }
}

/// What reached the recorder. Clones share it.
#[derive(Clone, Default)]
pub struct Journal {
    lines: Arc<Mutex<Vec<String>>>,
    domains: Arc<Mutex<Vec<Arc<Domain>>>>,
    streams: Arc<Mutex<Vec<Arc<StreamInfo>>>>,
    refusals: Arc<Mutex<Vec<RefusalCounts>>>,
}

impl Journal {
    fn note(&self, line: impl Into<String>) {
        self.lines
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(line.into());
    }

    /// The lines since the last time.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.lines.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What sessions were told of refusals when they ended.
    pub fn refusals(&self) -> Vec<RefusalCounts> {
        self.refusals.lock().expect("no panic").clone()
    }

    /// The domain of the stream that was opened last.
    pub fn domain(&self) -> Arc<Domain> {
        Arc::clone(
            self.domains
                .lock()
                .expect("no panic")
                .last()
                .expect("a stream was opened"),
        )
    }

    /// The stream that was opened last.
    pub fn stream(&self) -> Arc<StreamInfo> {
        Arc::clone(
            self.streams
                .lock()
                .expect("no panic")
                .last()
                .expect("a stream was opened"),
        )
    }
}

/// A stream, session or message of this name makes the recorder fail or panic where it comes up.
fn fate(name: &str, place: &str) -> Result<()> {
    run_callback();
    if name == format!("refuse {place}") {
        return Err(Refusal::failed(format!("the recorder refuses {place}")));
    }
    if name == format!("panic in {place}") {
        panic!("the recorder panics in {place}");
    }
    Ok(())
}

pub struct Recorder(pub Journal);

impl Backend for Recorder {
    type Session = RecorderSession;

    fn begin(&self, request: &SessionRequest<'_>) -> Result<RecorderSession> {
        let name = request.name().unwrap_or("(none)");
        let mut line = format!("begin {name}");
        for (key, value) in request.config().iter() {
            write!(line, " {key}={value}").expect("a string takes all");
        }
        self.0.note(line);
        fate(name, "begin")?;
        Ok(RecorderSession {
            name: name.to_owned(),
            journal: self.0.clone(),
        })
    }

    fn finalize(&self) {
        self.0.note("finalize");
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.0.note("drop backend");
    }
}

pub struct RecorderSession {
    name: String,
    journal: Journal,
}

impl Session for RecorderSession {
    type Stream = RecorderStream;

    fn open_stream(&self, stream: &Arc<StreamInfo>) -> Result<RecorderStream> {
        let name = stream.name();
        self.journal.note(format!("open {name}"));
        fate(name, "open")?;
        self.journal
            .domains
            .lock()
            .expect("no panic")
            .push(Arc::clone(stream.domain()));
        self.journal
            .streams
            .lock()
            .expect("no panic")
            .push(Arc::clone(stream));
        Ok(RecorderStream {
            info: Arc::clone(stream),
            journal: self.journal.clone(),
        })
    }

    fn note_refusals(&self, counts: RefusalCounts) {
        self.journal.refusals.lock().expect("no panic").push(counts);
    }

    fn end(&self) -> Result<()> {
        self.journal.note(format!("end {}", self.name));
        fate(&self.name, "end")
    }
}

impl Drop for RecorderSession {
    fn drop(&mut self) {
        self.journal.note(format!("drop session {}", self.name));
    }
}

pub struct RecorderStream {
    info: Arc<StreamInfo>,
    journal: Journal,
}

impl Stream for RecorderStream {
    fn write_event(&mut self, event: &Event<'_>) -> Result<()> {
        self.journal.note(show_event(event));
        let message = event
            .message()
            .map(|message| message.to_string_lossy().into_owned());
        fate(message.as_deref().unwrap_or_default(), "write")
    }

    fn write_batch(&mut self, batch: &EventBatch<'_>) -> Result<()> {
        let len = batch.len();
        self.journal
            .note(format!("batch of {len}, {:?}", batch.ordering()));
        assert!(!batch.is_empty(), "such a batch does not get here");
        // Looking twice changes nothing.
        assert!(batch.events().count() <= len);
        let mut result = Ok(());
        for event in batch.events() {
            assert!(Arc::ptr_eq(event.schema(), batch.schema()));
            result = result.and(self.write_event(&event));
        }
        result
    }

    fn write_counters(&mut self, samples: &CounterBatch<'_>) -> Result<()> {
        let name = samples.counter().name();
        let mut line = format!("counter {name} in scope {}", samples.scope().id());
        if samples.time_domain() != 0 {
            write!(line, " time domain {}", samples.time_domain()).expect("a string takes all");
        }
        assert!(!samples.is_empty(), "such a batch does not get here");
        for sample in samples.samples() {
            let mut shown = Shown::default();
            sample.visit(&mut shown);
            write!(line, " @{}", sample.time()).expect("a string takes all");
            assert_eq!(sample.scope().id(), sample.scope_id());
            if sample.scope_id() != samples.scope().id() {
                write!(line, " in {}", sample.scope_id()).expect("a string takes all");
            }
            write!(line, " {{{}}}", shown.text).expect("a string takes all");
        }
        self.journal.note(line);
        fate(name, "counters")
    }

    fn write_no_value(
        &mut self,
        counter: &Arc<Counter>,
        time: i64,
        reason: NoValueReason,
    ) -> Result<()> {
        self.journal
            .note(format!("no value {} @{time} {reason:?}", counter.name()));
        fate(counter.name(), "no value")
    }

    fn write_relation(&mut self, relation: &TimeRelation<'_>) -> Result<()> {
        self.journal.note(format!(
            "relation {} to {}: {:?}",
            relation.source(),
            relation.destination(),
            relation.kind()
        ));
        fate("", "relation")
    }

    fn close(&mut self) -> Result<()> {
        self.journal.note(format!("close {}", self.info.name()));
        fate(self.info.name(), "close")
    }
}

impl Drop for RecorderStream {
    fn drop(&mut self) {
        self.journal
            .note(format!("drop stream {}", self.info.name()));
        fate(self.info.name(), "drop").expect("a name that panics");
    }
}

fn show_event(event: &Event<'_>) -> String {
    let mut line = event.kind().name().to_owned();
    let mut add = |text: std::fmt::Arguments<'_>| line.write_fmt(text).expect("a string takes all");
    match event.time() {
        Time::Point(time) => add(format_args!(" @{time}")),
        Time::Range { start, end } => add(format_args!(" @{start}..{end}")),
    }
    match event.message() {
        Some(Text::Inline(text)) => add(format_args!(" \"{}\"", text.escape_ascii())),
        Some(Text::Wide(text)) => add(format_args!(" wide {text:?}")),
        Some(Text::Registered(string)) => {
            add(format_args!(" #{} {:?}", string.index(), string.text()))
        }
        None => {}
    }
    if let Some(color) = event.color() {
        add(format_args!(" color {color:08x}"));
    }
    if let Some(category) = event.category() {
        add(format_args!(" category {category}"));
    }
    if let Some(id) = event.range_id() {
        add(format_args!(" range {id}"));
    }
    assert_eq!(event.scope().id(), event.scope_id());
    if event.scope_id() != 0 {
        add(format_args!(" scope {}", event.scope_id()));
    }
    if event.time_domain() != 0 {
        add(format_args!(" time domain {}", event.time_domain()));
    }
    if event.end_time_domain() != event.time_domain() {
        add(format_args!(" to {}", event.end_time_domain()));
    }
    if event.payload_count() != 1 {
        add(format_args!(" of {} payloads", event.payload_count()));
    }
    let mut shown = Shown::default();
    event.visit(&mut shown);
    assert!(shown.arrays.is_empty(), "all that began has ended");
    if !shown.text.is_empty() {
        add(format_args!(" {{{}}}", shown.text));
    }
    line
}

/// Shows values as text: `name: value, name: [a b], name: {inner: value}`.
#[derive(Default)]
struct Shown {
    text: String,
    /// Fields whose array is being shown.
    arrays: Vec<usize>,
}

impl Shown {
    fn name(&mut self, field: &Field) {
        if self.arrays.last() == Some(&field.index()) && !self.text.ends_with('{') {
            if !self.text.ends_with('[') {
                self.text.push(' ');
            }
            return;
        }
        if !self.text.is_empty() && !self.text.ends_with('{') {
            self.text.push_str(", ");
        }
        let hidden = if field.is_hidden() { "(hidden) " } else { "" };
        write!(self.text, "{hidden}{}: ", field.name()).expect("a string takes all");
    }
}

impl Visitor for Shown {
    fn value(&mut self, field: &Field, value: Value<'_>) {
        self.name(field);
        match value {
            Value::Text(text) => write!(self.text, "{:?}", String::from_utf8_lossy(text)),
            Value::Wide(text) => write!(self.text, "wide {text:?}"),
            Value::Enum { value, meaning } => match meaning.find(value) {
                Some(name) => write!(self.text, "{name}"),
                None => write!(self.text, "{value} of {}", meaning.name().unwrap_or("?")),
            },
            Value::Registered(Some(string)) => {
                write!(self.text, "#{} {:?}", string.index(), string.text())
            }
            other => write!(self.text, "{other:?}"),
        }
        .expect("a string takes all");
    }

    fn begin_array(&mut self, field: &Field, len: usize) {
        self.name(field);
        write!(self.text, "{len}[").expect("a string takes all");
        self.arrays.push(field.index());
    }

    fn end_array(&mut self, field: &Field) {
        assert_eq!(self.arrays.pop(), Some(field.index()));
        self.text.push(']');
    }

    fn begin_struct(&mut self, field: &Field, _schema: &Schema) {
        self.name(field);
        self.text.push('{');
        // Fields inside are named, whatever array is around.
        self.arrays.push(usize::MAX);
    }

    fn end_struct(&mut self, _field: &Field) {
        assert_eq!(self.arrays.pop(), Some(usize::MAX));
        self.text.push('}');
    }
}
