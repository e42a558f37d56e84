//! Reads tables: a row for each range or moment, and the names of the columns in the first line.

use std::borrow::Cow;
use std::io::{BufRead, Read};
use std::mem;
use std::path::Path;

use clap::{Args, ValueEnum};

use super::chrome::NOT_UTF8;
use super::dates;
use super::decimal::{scaled, sum};
use super::input::is_standard;
use super::labels::is_number;
use super::text::Place;
use super::trace::Trace;
use crate::error::{Error, Result};

/// Which columns of a table are what
#[derive(Args, Default)]
#[command(next_help_heading = "Tables (CSV)")]
pub struct Columns {
    /// The column of starts, or of moments [default: `start`, `begin`, `time`, `timestamp` or `ts`]
    #[arg(long, value_name = "COLUMN")]
    start: Option<String>,
    /// The column of ends [default: `end`, `stop` or `finish`]
    #[arg(long, value_name = "COLUMN", conflicts_with = "duration")]
    end: Option<String>,
    /// The column of durations, instead of ends [default: `duration` or `dur`]
    #[arg(long, value_name = "COLUMN")]
    duration: Option<String>,
    /// The column of names [default: `name`, `event` or `label`]
    #[arg(long, value_name = "COLUMN")]
    name: Option<String>,
    /// The column whose values are tracks of their own [default: `track`, `thread`, `tid`, `stream` or `lane`]
    #[arg(long, value_name = "COLUMN")]
    track: Option<String>,
    /// The unit of times [default: of each column as its name ends, `start_us` or `start (us)`, or as a row of units below the
    /// names says; of ends and durations else that of starts, and of these nanoseconds]
    #[arg(long, value_enum)]
    unit: Option<Unit>,
}

impl Columns {
    /// The first of the options that was given.
    pub fn given(&self) -> Option<&'static str> {
        let options = [
            ("--start", self.start.is_some()),
            ("--end", self.end.is_some()),
            ("--duration", self.duration.is_some()),
            ("--name", self.name.is_some()),
            ("--track", self.track.is_some()),
            ("--unit", self.unit.is_some()),
        ];
        let given = options.into_iter().find(|(_, is_given)| *is_given);
        given.map(|(option, _)| option)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Unit {
    Ns,
    Us,
    Ms,
    S,
}

impl Unit {
    fn of(text: &str) -> Option<Self> {
        Some(match text {
            "ns" | "nsec" => Self::Ns,
            "us" | "µs" | "μs" | "usec" => Self::Us,
            "ms" | "msec" => Self::Ms,
            "s" | "sec" => Self::S,
            _ => return None,
        })
    }

    /// A unit is 10^this nanoseconds.
    fn power(self) -> u8 {
        match self {
            Self::Ns => 0,
            Self::Us => 3,
            Self::Ms => 6,
            Self::S => 9,
        }
    }
}

/// Where in a row everything stands.
struct Plan {
    names: Vec<String>,
    start: usize,
    end: Option<usize>,
    duration: Option<usize>,
    name: Option<usize>,
    track: Option<usize>,
    units: Units,
}

/// The units of the columns of times.
struct Units {
    start: Unit,
    end: Unit,
    duration: Unit,
}

/// Reads all rows into `trace`. After an error it has those that stand before.
pub fn read(
    mut input: impl BufRead,
    path: &Path,
    columns: &Columns,
    trace: &mut Trace,
) -> Result<()> {
    let io = |error| Error::io("read", path, error);
    let start = input.fill_buf().map_err(io)?;
    let line = start.split(|&byte| byte == b'\n').next().unwrap_or(start);
    let is_tabbed = line.contains(&b'\t') && !line.contains(&b',');
    let mark = "\u{FEFF}".as_bytes();
    if start.starts_with(mark) {
        input.consume(mark.len());
    }
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(if is_tabbed { b'\t' } else { b',' })
        .flexible(true)
        .from_reader(input);
    let names = reader.byte_headers().map_err(|error| bad(path, error))?;
    let names = names
        .iter()
        .map(|name| text(name).trim().to_owned())
        .collect();
    let plan = Plan::of(names, columns).map_err(|problem| Error::Input {
        path: path.to_owned(),
        problem,
    })?;
    // A table knows no processes: its tracks stand under the file's name.
    if let Some(name) = path.file_name().filter(|_| !is_standard(path)) {
        let process = trace.tracks.process(None, &mut trace.strings);
        let facts = &mut trace.tracks.processes[process].facts;
        facts.name = Some(name.to_string_lossy().into_owned());
    }
    rows(reader, path, plan, trace)
}

fn rows(
    mut reader: csv::Reader<impl Read>,
    path: &Path,
    mut plan: Plan,
    trace: &mut Trace,
) -> Result<()> {
    let mut row = csv::ByteRecord::new();
    let mut is_first = true;
    while reader
        .read_byte_record(&mut row)
        .map_err(|error| bad(path, error))?
    {
        let place = row.position().map(|position| Place {
            byte: position.byte() + 1,
            line: position.line(),
        });
        if mem::take(&mut is_first) && plan.take_units(&row) {
            continue;
        }
        if str::from_utf8(row.as_slice()).is_err() {
            trace.warnings.add(NOT_UTF8, place);
        }
        if row.len() > plan.names.len() {
            let kind = "the cells of a row that have no column are left out";
            trace.warnings.add(kind, place);
        }
        let (start, end) = match plan.times(&row) {
            Ok(times) => times,
            Err(kind) => {
                trace.warnings.add(kind, place);
                continue;
            }
        };
        if trace.number == 0 {
            trace.is_dated = row
                .get(plan.start)
                .is_some_and(|cell| dates::nanoseconds(text(cell).trim()).is_some());
        }
        let cell = |column: Option<usize>| {
            let cell = text(row.get(column?)?);
            (!cell.is_empty()).then_some(cell)
        };
        let cells = plan.names.iter().zip(&row).enumerate();
        let rest = cells.filter(|(column, _)| !plan.is_taken(*column));
        let rest = rest.map(|(_, (name, cell))| (&**name, text(cell)));
        let rest: Vec<_> = rest.filter(|(_, cell)| !cell.is_empty()).collect();
        let name = cell(plan.name);
        let track = cell(plan.track).map(|track| plan.track_name(track));
        trace.add_row(track.as_deref(), name.as_deref(), start, end, &rest)?;
    }
    Ok(())
}

impl Plan {
    fn of(names: Vec<String>, columns: &Columns) -> Result<Self, String> {
        let find = |asked: &Option<String>, option: &str, usual: &[&str]| match asked {
            Some(asked) => match names.iter().position(|name| name == asked) {
                Some(column) => Ok(Some(column)),
                None => Err(format!(
                    "there is no column `{asked}`; those that there are: {}; give one of them to `--{option}`",
                    names.join(", ")
                )),
            },
            None => {
                let is_usual = |usual: &&str| {
                    names
                        .iter()
                        .position(|name| split_unit(name).0.eq_ignore_ascii_case(usual))
                };
                Ok(usual.iter().find_map(is_usual))
            }
        };
        let start = find(
            &columns.start,
            "start",
            &["start", "begin", "time", "timestamp", "ts"],
        )?;
        let Some(start) = start else {
            return Err(format!(
                "no column tells when ranges start; those that there are: {}; name one with `--start`",
                names.join(", ")
            ));
        };
        let mut duration = find(&columns.duration, "duration", &["duration", "dur"])?;
        let mut end = find(&columns.end, "end", &["end", "stop", "finish"])?;
        if columns.duration.is_some() {
            end = None;
        } else if end.is_some() {
            duration = None;
        }
        Ok(Self {
            start,
            end,
            duration,
            name: find(&columns.name, "name", &["name", "event", "label"])?,
            track: find(
                &columns.track,
                "track",
                &["track", "thread", "tid", "stream", "lane"],
            )?,
            units: {
                let named = |column: Option<usize>| {
                    let own = column.and_then(|column| split_unit(&names[column]).1);
                    columns.unit.or(own)
                };
                let start = named(Some(start)).unwrap_or(Unit::Ns);
                Units {
                    start,
                    end: named(end).unwrap_or(start),
                    duration: named(duration).unwrap_or(start),
                }
            },
            names,
        })
    }

    /// Takes the units in the row below the names, if it is one of units.
    fn take_units(&mut self, row: &csv::ByteRecord) -> bool {
        let unit = |column: Option<usize>| {
            let cell = text(row.get(column?)?);
            Unit::of(cell.trim().trim_matches(['(', ')', '[', ']']))
        };
        let Some(start) = unit(Some(self.start)) else {
            return false;
        };
        self.units = Units {
            start,
            end: unit(self.end).unwrap_or(start),
            duration: unit(self.duration).unwrap_or(start),
        };
        true
    }

    fn is_taken(&self, column: usize) -> bool {
        column == self.start
            || [self.end, self.duration, self.name, self.track].contains(&Some(column))
    }

    /// A number alone says little: it gets the column's name.
    fn track_name<'t>(&self, cell: Cow<'t, str>) -> Cow<'t, str> {
        match self.track {
            Some(column) if is_number(&cell) => format!("{} {cell}", self.names[column]).into(),
            _ => cell,
        }
    }

    /// When the row's range starts and ends; a moment has no end.
    fn times(&self, row: &csv::ByteRecord) -> Result<(i64, Option<i64>), String> {
        let cell = |column: usize| {
            let cell = text(row.get(column).unwrap_or_default());
            let cell = cell.trim().to_owned();
            (!cell.is_empty()).then_some(cell)
        };
        let Units {
            start: unit,
            end: end_unit,
            duration: duration_unit,
        } = &self.units;
        let start = cell(self.start)
            .ok_or_else(|| format!("a row without `{}` is left out", self.names[self.start]))?;
        let start_time = self.time(self.start, &start, *unit)?;
        let end = match (self.end, self.duration) {
            (Some(column), _) => match cell(column) {
                Some(end) => Some(self.time(column, &end, *end_unit)?),
                None => None,
            },
            (None, Some(column)) => match cell(column) {
                Some(duration) => {
                    let length = self.time(column, &duration, *duration_unit)?;
                    let powers = (unit.power(), duration_unit.power());
                    let end = match dates::nanoseconds(&start) {
                        Some(start) => start.checked_add(length),
                        None => sum((&start, powers.0), (&duration, powers.1)),
                    };
                    let problem = "a row whose end does not fit 64-bit nanoseconds is left out";
                    Some(end.ok_or(problem)?)
                }
                None => None,
            },
            (None, None) => None,
        };
        if end.is_some_and(|end| end < start_time) {
            return Err("a row whose range ends before it starts is left out".to_owned());
        }
        Ok((start_time, end))
    }

    /// The nanoseconds in a cell of a column.
    fn time(&self, column: usize, cell: &str, unit: Unit) -> Result<i64, String> {
        let name = &self.names[column];
        let date = || dates::nanoseconds(cell);
        match scaled(cell, unit.power()).or_else(date) {
            Some(time) => Ok(time),
            None if cell.parse::<f64>().is_ok_and(f64::is_finite) => Err(format!(
                "a row whose `{name}` does not fit 64-bit nanoseconds is left out"
            )),
            None => Err(format!(
                "a row whose `{name}` is not a number or a date is left out"
            )),
        }
    }
}

/// A column's name without the unit at its end, and the unit.
fn split_unit(name: &str) -> (&str, Option<Unit>) {
    let (stem, unit) = match name.strip_suffix([')', ']']) {
        Some(name) => match name.rsplit_once(['(', '[']) {
            Some((stem, unit)) => (stem, unit),
            None => return (name, None),
        },
        None => match name.rsplit_once('_') {
            Some((stem, unit)) => (stem, unit),
            None => return (name, None),
        },
    };
    match Unit::of(unit.trim()) {
        Some(unit) => (stem.trim(), Some(unit)),
        None => (name, None),
    }
}

fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

fn bad(path: &Path, error: csv::Error) -> Error {
    let problem = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(error) => Error::io("read", path, error),
        _ => Error::Input {
            path: path.to_owned(),
            problem,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_at_the_end_of_names() {
        assert_eq!(split_unit("start_us"), ("start", Some(Unit::Us)));
        assert_eq!(split_unit("Start (ms)"), ("Start", Some(Unit::Ms)));
        assert_eq!(split_unit("ts [s]"), ("ts", Some(Unit::S)));
        assert_eq!(split_unit("start_time"), ("start_time", None));
        assert_eq!(split_unit("end"), ("end", None));
    }
}
