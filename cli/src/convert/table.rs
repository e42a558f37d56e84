//! Reads tables: a row for each range or moment, and the names of the columns in the first line.

use std::borrow::Cow;
use std::io::{BufRead, Read};
use std::path::Path;

use clap::{Args, ValueEnum};

use super::chrome::NOT_UTF8;
use super::decimal::scaled;
use super::input::is_standard;
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
    /// The unit of times [default: as the start's name ends: `start_us`, `start (us)`; else nanoseconds]
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
    unit: Unit,
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
    rows(reader, path, &plan, trace)
}

fn rows(
    mut reader: csv::Reader<impl Read>,
    path: &Path,
    plan: &Plan,
    trace: &mut Trace,
) -> Result<()> {
    let mut row = csv::ByteRecord::new();
    while reader
        .read_byte_record(&mut row)
        .map_err(|error| bad(path, error))?
    {
        let place = row.position().map(|position| Place {
            byte: position.byte() + 1,
            line: position.line(),
        });
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
        let cell = |column: Option<usize>| {
            let cell = text(row.get(column?)?);
            (!cell.is_empty()).then_some(cell)
        };
        let cells = plan.names.iter().zip(&row).enumerate();
        let rest = cells.filter(|(column, _)| !plan.is_taken(*column));
        let rest = rest.map(|(_, (name, cell))| (&**name, text(cell)));
        let rest: Vec<_> = rest.filter(|(_, cell)| !cell.is_empty()).collect();
        let (track, name) = (cell(plan.track), cell(plan.name));
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
            unit: columns
                .unit
                .or(split_unit(&names[start]).1)
                .unwrap_or(Unit::Ns),
            names,
        })
    }

    fn is_taken(&self, column: usize) -> bool {
        column == self.start
            || [self.end, self.duration, self.name, self.track].contains(&Some(column))
    }

    /// When the row's range starts and ends; a moment has no end.
    fn times(&self, row: &csv::ByteRecord) -> Result<(i64, Option<i64>), String> {
        let time = |column: usize| {
            let name = &self.names[column];
            let cell = text(row.get(column).unwrap_or_default());
            let cell = cell.trim();
            if cell.is_empty() {
                return Ok(None);
            }
            match scaled(cell, self.unit.power()) {
                Some(time) => Ok(Some(time)),
                None if cell.parse::<f64>().is_ok_and(f64::is_finite) => Err(format!(
                    "a row whose `{name}` does not fit 64-bit nanoseconds is left out"
                )),
                None => Err(format!("a row whose `{name}` is not a number is left out")),
            }
        };
        let start = time(self.start)?;
        let start = start
            .ok_or_else(|| format!("a row without `{}` is left out", self.names[self.start]))?;
        let end = match (self.end, self.duration) {
            (Some(end), _) => time(end)?,
            (None, Some(duration)) => match time(duration)? {
                Some(duration) => Some(start.checked_add(duration).ok_or_else(|| {
                    "a row whose end does not fit 64-bit nanoseconds is left out".to_owned()
                })?),
                None => None,
            },
            (None, None) => None,
        };
        if end.is_some_and(|end| end < start) {
            return Err("a row whose range ends before it starts is left out".to_owned());
        }
        Ok((start, end))
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
    let unit = match unit.trim() {
        "ns" => Unit::Ns,
        "us" | "µs" | "μs" => Unit::Us,
        "ms" => Unit::Ms,
        "s" => Unit::S,
        _ => return (name, None),
    };
    (stem.trim(), Some(unit))
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
