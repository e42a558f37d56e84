//! The strings, layouts and counters of a trace, as they are registered.

use std::collections::{HashMap, HashSet};

use nvtxw::{
    CategoryId, Counter, CounterOptions, Domain, RowField, RowLayout, RowSchema, RowType, Scope,
    StringHandle,
};

use super::columns::{Column, ColumnType, is_in, visible};
use super::strings::Use;
use super::trace::Trace;
use crate::error::Result;

/// Most arrows that start or end at an event; further ones are left out.
pub const MAX_FLOWS: usize = 1024;

/// What the strings, layouts and counters of the trace are in the session.
pub struct Names {
    /// By [`StringId`](super::strings::StringId): as an event's name, and as its category.
    pub messages: Vec<StringHandle>,
    pub categories: Vec<CategoryId>,
    /// Of events without a name.
    pub unnamed: StringHandle,
    /// By their numbers; `None` for those that no event has.
    pub layouts: Vec<Option<RowSchema>>,
    /// Where in the rows of each an arrow's number belongs.
    pub flow_slots: Vec<Option<usize>>,
    /// Of rows that hold the numbers of 1, 2, 4… arrows.
    pub flows: Vec<RowSchema>,
    pub counters: Vec<Sampled>,
}

pub enum Sampled {
    Integers(Counter<i64>),
    Floats(Counter<f64>),
}

impl Names {
    /// `most_flows` arrows start or end at one event at most.
    pub fn register(
        domain: &mut Domain<'_>,
        trace: &Trace,
        scopes: &[Option<Scope>],
        most_flows: usize,
    ) -> Result<Self> {
        let (mut messages, mut categories) = (Vec::new(), Vec::new());
        for (id, text) in trace.strings.all() {
            let text = visible(text);
            messages.push(if trace.strings.is(id, Use::Name) {
                domain.string(&text)?.handle()
            } else {
                StringHandle::NONE
            });
            categories.push(if trace.strings.is(id, Use::Category) && !text.is_empty() {
                domain.category(&text)?
            } else {
                CategoryId::NONE
            });
        }
        let layouts = trace.layouts.used().map(|columns| {
            let register = |columns| domain.rows("arguments", &layout(columns, trace));
            columns.map(register).transpose()
        });
        let layouts = layouts.collect::<nvtxw::Result<_>>()?;
        let flow_slots = trace.layouts.used().map(|columns| flow_slot(columns?));
        let flow_slots = flow_slots.collect();
        let powers = match most_flows.min(MAX_FLOWS) {
            0 => 0,
            most => most.next_power_of_two().ilog2() + 1,
        };
        let flows = (0..powers).map(|power| Ok(domain.rows("flows", &flows(1 << power))?));
        let flows = flows.collect::<Result<_>>()?;
        Ok(Self {
            messages,
            categories,
            unnamed: domain.string("")?.handle(),
            layouts,
            flow_slots,
            flows,
            counters: counters(domain, trace, scopes)?,
        })
    }
}

/// Where in a row its column for an arrow's number is.
fn flow_slot(columns: &[Column]) -> Option<usize> {
    let slot = columns.iter().position(|(_, ty)| *ty == ColumnType::Flow)?;
    columns[..slot].iter().map(|(_, ty)| ty.size()).sum()
}

/// The layout of columns. Of those with one name the last is shown, as of members of a JSON object; the names of hidden ones get
/// ` (2)`, ` (3)`… appended.
fn layout(columns: &[Column], trace: &Trace) -> RowLayout {
    let name = |column: &Column| {
        let name = column.0.map_or("args", |name| trace.strings.text(name));
        let name = visible(if name.is_empty() { "(unnamed)" } else { name });
        name.into_owned()
    };
    let shown = columns.iter().filter(|column| column.1 != ColumnType::Flow);
    let mut used: HashSet<_> = shown.map(name).collect();
    let mut layout = RowLayout::payload().packed();
    for (index, column) in columns.iter().enumerate() {
        let (name, ty) = (name(column), column.1);
        let is_last = !is_in(column, &columns[index + 1..]);
        let is_hidden = ty == ColumnType::Flow || !is_last;
        let name = match is_hidden {
            true => unique(&mut used, &name),
            false => name,
        };
        let field = |ty| {
            let field = RowField::new(&name, ty);
            if is_hidden { field.hidden() } else { field }
        };
        layout = layout.field(match ty {
            ColumnType::I64 => field(RowType::I64),
            ColumnType::U64 => field(RowType::U64),
            ColumnType::F64 => field(RowType::F64),
            ColumnType::Bool => field(RowType::Bool),
            ColumnType::Flow => field(RowType::U64).correlation("flow"),
            ColumnType::I64s(count) => field(RowType::I64).array(count as usize),
            ColumnType::F64s(count) => field(RowType::F64).array(count as usize),
            ColumnType::Text => field(RowType::TerminatedText),
            ColumnType::Name => field(RowType::TerminatedText).message(),
        });
    }
    layout
}

/// The layout of the numbers of so many arrows. 0 is none.
fn flows(count: usize) -> RowLayout {
    (1..=count).fold(RowLayout::payload(), |layout, number| {
        let name = format!("flow {number}");
        layout.field(
            RowField::new(&name, RowType::U64)
                .correlation("flow")
                .hidden(),
        )
    })
}

/// `name`, or with a number behind it if it is used.
pub fn unique(used: &mut HashSet<String>, name: &str) -> String {
    let further = (2..).map(|number| format!("{name} ({number})"));
    let mut names = std::iter::once(name.to_owned()).chain(further);
    let name = names.find(|name| !used.contains(name));
    let name = name.expect("numbers don't end");
    used.insert(name.clone());
    name
}

/// A counter with one value has its name, and its value's name as unit; each value of others is a counter.
fn counters(
    domain: &mut Domain<'_>,
    trace: &Trace,
    scopes: &[Option<Scope>],
) -> Result<Vec<Sampled>> {
    let mut series = HashMap::new();
    for counter in &trace.counters.all {
        *series.entry((counter.track, &counter.name)).or_insert(0) += 1;
    }
    let mut used: HashMap<u32, HashSet<String>> = HashMap::new();
    let mut registered = Vec::new();
    for counter in &trace.counters.all {
        let is_alone = series[&(counter.track, &counter.name)] == 1;
        let process = trace.tracks.all[counter.track as usize].process;
        let mut options = CounterOptions::new();
        if let Some(scope) = scopes[process] {
            options = options.scope(scope);
        }
        let described = (counter.track, counter.name.clone());
        if let Some(description) = trace.counters.descriptions.get(&described) {
            options = options.description(&visible(description));
        }
        let name = if is_alone {
            if !matches!(&*counter.series, "" | "value") && counter.series != counter.name {
                options = options.unit(&visible(&counter.series));
            }
            counter.name.clone()
        } else {
            format!("{} {}", counter.name, counter.series)
        };
        let name = unique(used.entry(counter.track).or_default(), &visible(&name));
        registered.push(if counter.is_integer {
            Sampled::Integers(domain.counter_with(&name, options)?)
        } else {
            Sampled::Floats(domain.counter_with(&name, options)?)
        });
    }
    Ok(registered)
}
