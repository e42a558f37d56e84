//! Everything that was read: events as the structs that will be written, by process and thread.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use nvtxw::{CategoryId, Domain, RecordLayout, RegisteredString, StringHandle, Value};

use crate::event::{Arg, Args, Bad, CORRELATION, Correlation, Event};
use crate::row::{Head, Instant, Row};

/// The correlation of all flows; the fields of structs name it too.
const FLOW: &str = "flow";

/// A string of the trace as a small number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(u32);

#[derive(Default)]
pub struct Names {
    numbers: HashMap<Rc<str>, Name>,
    texts: Vec<Rc<str>>,
}

impl Names {
    pub fn number(&mut self, text: &str) -> Name {
        if let Some(&name) = self.numbers.get(text) {
            return name;
        }
        let (name, text) = (Name(self.texts.len() as u32), Rc::<str>::from(text));
        self.texts.push(Rc::clone(&text));
        self.numbers.insert(text, name);
        name
    }

    pub fn text(&self, name: Name) -> &str {
        &self.texts[name.0 as usize]
    }
}

#[derive(Default)]
pub struct Trace {
    pub names: Names,
    pub processes: Vec<Process>,
    pub threads: Vec<Thread>,
    pub points: Vec<FlowPoint>,
    process_by_id: HashMap<Name, usize>,
    thread_by_id: HashMap<(usize, Name), usize>,
}

pub struct Process {
    pub id: Name,
    pub name: Option<String>,
    pub labels: Option<String>,
    pub sort_index: i64,
}

pub struct Thread {
    pub process: usize,
    pub id: Name,
    pub name: Option<String>,
    pub sort_index: i64,
    pub events: Vec<Held>,
}

/// An event, and the arguments that its row has no field for.
pub struct Held {
    pub start: i64,
    pub end: i64,
    pub row: Row,
    /// The number by which the event's row or record relates it to others.
    pub correlation: Option<u64>,
    /// The flow that it belongs to without a point.
    pub flow: Option<Flow>,
    pub extra: Vec<(Name, Cell)>,
    /// The record that `extra` is written as, once it is registered.
    pub record: Option<usize>,
}

pub enum Cell {
    I64(i64),
    U64(u64),
    F64(f64),
    Bool(bool),
    Text(RegisteredString),
    Correlation(u64),
    Flow(u64),
}

impl Cell {
    /// Adds the column that holds such cells.
    pub fn add_to(&self, layout: RecordLayout, name: &str) -> RecordLayout {
        match self {
            Self::I64(_) => layout.i64(name),
            Self::U64(_) => layout.u64(name),
            Self::F64(_) => layout.f64(name),
            Self::Bool(_) => layout.bool(name),
            Self::Text(_) => layout.string(name),
            Self::Correlation(_) => layout.correlation(name),
            Self::Flow(_) => layout.hidden_correlation(name, FLOW),
        }
    }

    pub fn value(&self) -> Value {
        match *self {
            Self::I64(number) => number.into(),
            Self::U64(number) | Self::Correlation(number) | Self::Flow(number) => number.into(),
            Self::F64(number) => number.into(),
            Self::Bool(truth) => truth.into(),
            Self::Text(text) => text.into(),
        }
    }
}

/// The category and id that all points of a flow have in common.
pub type Flow = (Option<Name>, Name);

/// One end of a flow, or a point that it passes.
pub struct FlowPoint {
    pub thread: usize,
    pub time: i64,
    pub flow: Flow,
}

impl Trace {
    /// Reads one event. After an error the trace is as it was, but for names.
    pub fn add(&mut self, json: &str, domain: &mut Domain<'_>) -> Result<(), Bad> {
        let event = Event::parse(json)?;
        match &*event.phase()? {
            "X" => self.range(&event, domain),
            "i" | "I" => self.instant(&event, domain),
            "s" | "t" | "f" => self.flow_point(&event),
            "M" => self.metadata(&event),
            other => Err(Bad::Phase(other.to_owned())),
        }
    }

    fn range(&mut self, event: &Event<'_>, domain: &mut Domain<'_>) -> Result<(), Bad> {
        let (start, end) = event.span()?;
        let kind = event.category()?;
        let head = Head {
            start,
            end,
            name: name(event, domain)?,
            category: category(event, domain)?,
        };
        let mut args = event.args()?;
        let row = Row::range(head, kind.as_deref().unwrap_or(""), &mut args, domain);
        let extra = self.extra(&args, domain)?;
        let (mut correlation, mut flow) = (None, None);
        match args.correlation() {
            Some(Correlation::Number(number)) => correlation = Some(number),
            Some(Correlation::Other(json)) => {
                flow = Some((
                    Some(self.names.number(CORRELATION)),
                    self.names.number(json),
                ));
            }
            None => {}
        }
        self.thread(event)?.events.push(Held {
            start,
            end,
            row,
            correlation,
            flow,
            extra,
            record: None,
        });
        Ok(())
    }

    fn instant(&mut self, event: &Event<'_>, domain: &mut Domain<'_>) -> Result<(), Bad> {
        let time = event.time()?;
        let reach = match event.reach()?.as_deref() {
            Some("g") => "global",
            Some("p") => "process",
            _ => "thread",
        };
        let reach = string(domain, reach)?.handle();
        let (name, category) = (name(event, domain)?, category(event, domain)?);
        let extra = self.extra(&event.args()?, domain)?;
        let row = Row::Instant(Instant {
            time,
            name,
            reach,
            category,
            fill: 0,
        });
        self.thread(event)?.events.push(Held {
            start: time,
            end: time,
            row,
            correlation: None,
            flow: None,
            extra,
            record: None,
        });
        Ok(())
    }

    fn flow_point(&mut self, event: &Event<'_>) -> Result<(), Bad> {
        let (time, category, id) = (event.time()?, event.category()?, event.id()?);
        let flow = (
            category.map(|text| self.names.number(&text)),
            self.names.number(&id),
        );
        let thread = self.thread_index(event)?;
        self.points.push(FlowPoint { thread, time, flow });
        Ok(())
    }

    fn metadata(&mut self, event: &Event<'_>) -> Result<(), Bad> {
        let what = event.name()?.ok_or(Bad::Missing("name"))?;
        let mut args = event.args()?;
        match &*what {
            "process_name" => self.process(event)?.name = Some(args.need("name")?),
            "process_labels" => self.process(event)?.labels = Some(args.need("labels")?),
            "process_sort_index" => self.process(event)?.sort_index = args.need("sort_index")?,
            "thread_name" => self.thread(event)?.name = Some(args.need("name")?),
            "thread_sort_index" => self.thread(event)?.sort_index = args.need("sort_index")?,
            other => return Err(Bad::Metadata(other.to_owned())),
        }
        Ok(())
    }

    fn process(&mut self, event: &Event<'_>) -> Result<&mut Process, Bad> {
        let index = self.process_index(event)?;
        Ok(&mut self.processes[index])
    }

    fn process_index(&mut self, event: &Event<'_>) -> Result<usize, Bad> {
        let id = self.names.number(&event.process()?);
        Ok(*self.process_by_id.entry(id).or_insert_with(|| {
            self.processes.push(Process {
                id,
                name: None,
                labels: None,
                sort_index: 0,
            });
            self.processes.len() - 1
        }))
    }

    fn thread(&mut self, event: &Event<'_>) -> Result<&mut Thread, Bad> {
        let index = self.thread_index(event)?;
        Ok(&mut self.threads[index])
    }

    fn thread_index(&mut self, event: &Event<'_>) -> Result<usize, Bad> {
        let id = self.names.number(&event.thread()?);
        let process = self.process_index(event)?;
        Ok(*self.thread_by_id.entry((process, id)).or_insert_with(|| {
            self.threads.push(Thread {
                process,
                id,
                name: None,
                sort_index: 0,
                events: Vec::new(),
            });
            self.threads.len() - 1
        }))
    }

    /// The arguments that the row has no field for.
    fn extra(
        &mut self,
        args: &Args<'_>,
        domain: &mut Domain<'_>,
    ) -> Result<Vec<(Name, Cell)>, Bad> {
        args.rest()
            .map(|(name, value)| {
                let cell = match (value, args.correlation()) {
                    (_, Some(Correlation::Number(number))) if name == CORRELATION => {
                        Cell::Correlation(number)
                    }
                    (Arg::I64(number), _) => Cell::I64(number),
                    (Arg::U64(number), _) => Cell::U64(number),
                    (Arg::F64(number), _) => Cell::F64(number),
                    (Arg::Bool(truth), _) => Cell::Bool(truth),
                    (Arg::Text(text), _) => Cell::Text(string(domain, &text)?),
                };
                Ok((self.names.number(&visible(name)), cell))
            })
            .collect()
    }
}

fn name(event: &Event<'_>, domain: &mut Domain<'_>) -> Result<StringHandle, Bad> {
    event.name()?.map_or(Ok(StringHandle::NONE), |name| {
        Ok(string(domain, &name)?.handle())
    })
}

fn category(event: &Event<'_>, domain: &mut Domain<'_>) -> Result<CategoryId, Bad> {
    match event.category()? {
        None => Ok(CategoryId::NONE),
        Some(name) => domain.category(&visible(&name)).map_err(Bad::refused),
    }
}

fn string(domain: &mut Domain<'_>, text: &str) -> Result<RegisteredString, Bad> {
    domain.string(&visible(text)).map_err(Bad::refused)
}

/// A NUL would end the string in a reader.
fn visible(text: &str) -> Cow<'_, str> {
    if text.contains('\0') {
        Cow::Owned(text.replace('\0', "\u{2400}"))
    } else {
        Cow::Borrowed(text)
    }
}
