//! Reads a folder of Parquet tables that the built-in backend wrote.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::{io, mem};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, BooleanArray, PrimitiveArray, RecordBatch, StringArray};
use arrow_schema::DataType;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;

use super::summary::{
    Counter, Counts, Fact, Field, Layouts, Names, Number, RangeKind, Schema, Span, Stream, Summary,
    Values, unit,
};
use super::{args, declared};
use crate::error::{Error, Result};

const SESSION: &str = "nvtxw_session=";
const STREAM: &str = "nvtxw_stream=";

/// What is in the dataset `root`.
pub(super) fn read(root: &Path) -> Result<Summary> {
    let mut reader = Reader {
        summary: Summary::default(),
        layouts: Layouts::default(),
        names: Names::default(),
        cells: BTreeMap::new(),
        counters: Vec::new(),
        by_key: BTreeMap::new(),
        streams: HashMap::new(),
        hidden: 0,
        is_shared: folders(&root.join("metadata"))?.len() > 1,
    };
    for session in folders(&root.join("metadata"))? {
        for part in reader.parts(&session)? {
            reader.metadata(&session, &part)?;
        }
    }
    for session in folders(&root.join("events"))? {
        for folder in folders(&session)? {
            for part in reader.parts(&folder)? {
                let stream = reader.stream(&session, &folder, &part);
                reader.events(&stream, &part)?;
            }
        }
    }
    for session in folders(&root.join("counters"))? {
        for folder in folders(&session)? {
            for part in reader.parts(&folder)? {
                let stream = reader.stream(&session, &folder, &part);
                reader.values(&stream, &part)?;
            }
        }
    }
    for table in folders(&root.join("typed"))? {
        let mut events = 0;
        let mut schema = None;
        for session in folders(&table)? {
            for folder in folders(&session)? {
                for part in reader.parts(&folder)? {
                    let builder = open(&part, None)?;
                    events += builder.metadata().file_metadata().num_rows() as u64;
                    schema = Some(builder.schema().clone());
                }
            }
        }
        let Some(schema) = schema else { continue };
        reader.summary.schemas.push(Schema {
            name: Some(decoded(&name(&table))),
            events: Some(events),
            // Those of all tables come first.
            fields: schema
                .fields()
                .iter()
                .skip(TYPED)
                .map(|it| field(it))
                .collect(),
            ..Schema::default()
        });
    }
    Ok(reader.finish())
}

/// How many columns all tables of schemas begin with.
const TYPED: usize = 6;

/// Where events are: the stream and the path.
type Place = (String, String);

/// Which counter values are of: the path, the domain, and the stream if samples are differences.
type CounterKey = (String, Option<String>, Option<String>);

struct Reader {
    summary: Summary,
    layouts: Layouts,
    names: Names,
    cells: BTreeMap<Place, (Counts, Span)>,
    counters: Vec<Counter>,
    /// Their indices.
    by_key: BTreeMap<CounterKey, usize>,
    /// The names of streams, by the session's folder and the beginning of their parts' names.
    streams: HashMap<(String, String), String>,
    /// Parts that are not complete.
    hidden: u64,
    /// Whether there are several sessions.
    is_shared: bool,
}

impl Reader {
    /// The parts in a folder, in order.
    fn parts(&mut self, folder: &Path) -> Result<Vec<PathBuf>> {
        let mut parts = Vec::new();
        for path in entries(folder)? {
            let name = name(&path);
            if name.starts_with('.') {
                self.hidden += u64::from(name.ends_with(".open"));
            } else if name.ends_with(".parquet") {
                parts.push(path);
            }
        }
        // The numbers in their names are of any length.
        parts.sort_by_key(|path| (name(path).len(), name(path)));
        Ok(parts)
    }

    fn metadata(&mut self, session: &Path, part: &Path) -> Result<()> {
        for batch in batches(part, &["stream", "key", "value"])? {
            let batch = batch?;
            let (stream, key, value) = (
                text(&batch, "stream"),
                text(&batch, "key"),
                text(&batch, "value"),
            );
            for row in 0..batch.num_rows() {
                let (key, value) = (at(key, row), at(value, row).unwrap_or_default());
                match (at(stream, row), key) {
                    (Some(stream), Some("parts")) => {
                        let prefix = value.trim_end_matches("*.parquet").to_owned();
                        self.streams
                            .insert((name(session), prefix), stream.to_owned());
                    }
                    (None, Some(key)) => {
                        let key = match self.is_shared {
                            false => key.to_owned(),
                            true => format!("{}: {key}", session_name(session)),
                        };
                        let fact = match value.parse() {
                            Ok(number) => Fact::Number(number),
                            Err(_) => Fact::Text(value.to_owned()),
                        };
                        self.summary.facts.0.insert(key, fact);
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// The name of the stream that wrote a part.
    fn stream(&self, session: &Path, folder: &Path, part: &Path) -> String {
        let part = name(part);
        let prefix = part.rfind('-').map_or("", |at| &part[..=at]);
        let known = self.streams.get(&(name(session), prefix.to_owned()));
        let stream = match known {
            Some(stream) => stream.clone(),
            None => decoded(name(folder).trim_start_matches(STREAM)),
        };
        match self.is_shared {
            false => stream,
            true => format!("{}: {stream}", session_name(session)),
        }
    }

    fn events(&mut self, stream: &str, part: &Path) -> Result<()> {
        let wanted = [
            "kind",
            "name",
            "start_ns",
            "end_ns",
            "scope",
            "correlation",
            "args",
        ];
        for batch in batches(part, &wanted)? {
            let batch = batch?;
            let [kind, name, scope, args] =
                ["kind", "name", "scope", "args"].map(|column| text(&batch, column));
            let (start, end) = (ints(&batch, "start_ns"), ints(&batch, "end_ns"));
            let flows = batch.column_by_name("correlation");
            let flows = flows.and_then(|column| column.as_list_opt::<i32>());
            // A batch has few places.
            let mut cells: HashMap<_, (Counts, Span)> = HashMap::new();
            for row in 0..batch.num_rows() {
                let (counts, span) = cells.entry(at(scope, row)).or_default();
                let name = self.names.number(at(name, row).unwrap_or_default());
                let begin = number(start, row).unwrap_or_default();
                span.meet(begin);
                let end = number(end, row);
                let kind = match at(kind, row) {
                    Some("mark") => None,
                    Some("range_pushpop") => Some(RangeKind::PushPop),
                    Some("range_startend") => Some(RangeKind::StartEnd),
                    _ => Some(RangeKind::Any),
                };
                match kind {
                    None => {
                        counts.marks += 1;
                        self.names.mark(name);
                    }
                    Some(kind) => {
                        counts.range(kind);
                        self.names.begin(name);
                        match end {
                            Some(end) => {
                                span.meet(end);
                                self.names.end(name, end.wrapping_sub(begin) as u64);
                            }
                            None => counts.open += 1,
                        }
                    }
                }
                if let Some(flows) = flows.filter(|flows| flows.is_valid(row)) {
                    counts.flows += flows.value_length(row) as u64;
                }
                if let Some(args) = at(args, row) {
                    args::fields(args, &mut self.layouts);
                    self.layouts.event(name);
                }
            }
            for (scope, (counts, span)) in cells {
                self.count(stream, path(scope.unwrap_or(stream)), &counts, span);
            }
        }
        Ok(())
    }

    fn count(&mut self, stream: &str, path: String, counts: &Counts, span: Span) {
        let cell = self.cells.entry((stream.to_owned(), path)).or_default();
        cell.0.add(counts);
        cell.1.add(span);
    }

    fn values(&mut self, stream: &str, part: &Path) -> Result<()> {
        let wanted = [
            "time_ns",
            "name",
            "group",
            "unit",
            "domain",
            "scope",
            "description",
            "is_delta",
            "value",
            "value_i64",
            "value_u64",
        ];
        for batch in batches(part, &wanted)? {
            let batch = batch?;
            let [name, group, unit, domain, scope, description] =
                ["name", "group", "unit", "domain", "scope", "description"]
                    .map(|column| text(&batch, column));
            let is_delta = batch
                .column_by_name("is_delta")
                .and_then(|it| it.as_boolean_opt());
            let time = ints(&batch, "time_ns");
            let (float, signed) = (
                primitive::<Float64Type>(&batch, "value"),
                ints(&batch, "value_i64"),
            );
            let unsigned = primitive::<UInt64Type>(&batch, "value_u64");
            let (mut counts, mut span) = (Counts::default(), Span::default());
            let mut indices = HashMap::new();
            for row in 0..batch.num_rows() {
                let is_delta = is_delta.is_some_and(|it: &BooleanArray| it.value(row));
                counts.samples += 1;
                span.meet(number(time, row).unwrap_or_default());
                let steps = [scope, domain, group, name].map(|column| at(column, row));
                let index = *indices.entry((steps, is_delta)).or_insert_with(|| {
                    let [scope, domain, group, name] = steps;
                    let mut path = path(scope.unwrap_or(stream));
                    for step in [group, name].into_iter().flatten() {
                        path = format!("{path}/{step}");
                    }
                    // Counters of one path may be of two domains.
                    let key = (
                        path.clone(),
                        domain.map(str::to_owned),
                        is_delta.then(|| stream.to_owned()),
                    );
                    let number = self.counters.len();
                    let known = self.by_key.entry(key).or_insert(number);
                    if *known == number {
                        self.counters.push(Counter {
                            path,
                            unit: at(unit, row).map(str::to_owned),
                            description: at(description, row).map(str::to_owned),
                            is_delta,
                            values: Values::default(),
                        });
                    }
                    *known
                });
                let value = match (number(signed, row), number(unsigned, row)) {
                    (Some(value), _) => Number::Int(value.into()),
                    (None, Some(value)) => Number::Int(value.into()),
                    _ => Number::Float(number(float, row).unwrap_or(f64::NAN)),
                };
                let values = &mut self.counters[index].values;
                match is_delta {
                    true => values.add_difference(value),
                    false => values.add(value),
                }
            }
            // They are where their counters are.
            self.count(stream, String::new(), &counts, span);
        }
        Ok(())
    }

    fn finish(self) -> Summary {
        let mut streams: Vec<Stream> = Vec::new();
        for ((name, path), (counts, span)) in self.cells {
            let is_known = streams
                .last()
                .is_some_and(|it| it.name.as_ref() == Some(&name));
            if !is_known {
                streams.push(Stream {
                    name: Some(name),
                    ..Stream::default()
                });
            }
            let Some(stream) = streams.last_mut() else {
                continue;
            };
            match &*path {
                // Of samples, which are where their counters are.
                "" => {
                    stream.counts.add(&counts);
                    stream.span.add(span);
                }
                _ => stream.add(path, &counts, span),
            }
        }
        let mut summary = self.summary;
        summary.format = "parquet";
        for stream in &streams {
            summary.counts.add(&stream.counts);
            summary.span.add(stream.span);
        }
        summary.streams = streams;
        summary.counters = self.counters;
        summary
            .counters
            .sort_by(|one, other| one.path.cmp(&other.path));
        let declared = declared::take(&mut summary.facts);
        let mut seen = mem::take(&mut summary.schemas);
        seen.append(&mut self.layouts.schemas(&self.names));
        summary.schemas = declared::join(&declared, seen);
        summary.other_fields = self.layouts.others;
        summary.names = self.names;
        if self.hidden > 0 {
            let parts = match self.hidden {
                1 => "a part is".to_owned(),
                count => format!("{count} parts are"),
            };
            summary.damage = Some(format!(
                "{parts} not complete, and left out: a session writes there, or was killed"
            ));
        }
        summary
    }
}

fn failed(path: &Path, error: io::Error) -> Error {
    Error::io("read", path, error)
}

/// What is in a folder, by name; nothing if there is no such folder.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(all),
        entries => entries.map_err(|error| failed(folder, error))?,
    };
    for entry in entries {
        all.push(entry.map_err(|error| failed(folder, error))?.path());
    }
    all.sort();
    Ok(all)
}

fn folders(folder: &Path) -> Result<Vec<PathBuf>> {
    let all = entries(folder)?.into_iter();
    Ok(all.filter(|path| path.is_dir()).collect())
}

fn name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

fn session_name(folder: &Path) -> String {
    decoded(name(folder).trim_start_matches(SESSION))
}

/// A part of a folder's name: `%XX` are bytes.
fn decoded(text: &str) -> String {
    if text == "__HIVE_DEFAULT_PARTITION__" {
        return String::new();
    }
    let (mut out, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((&byte, after)) = rest.split_first() {
        let code = after.first_chunk::<2>().filter(|_| byte == b'%');
        let code = code.and_then(|code| u8::from_str_radix(str::from_utf8(code).ok()?, 16).ok());
        out.push(code.unwrap_or(byte));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// A scope's path, as other formats have it.
fn path(scope: &str) -> String {
    scope.strip_prefix('/').unwrap_or(scope).to_owned()
}

fn bad(path: &Path, error: &ParquetError) -> Error {
    Error::Input {
        path: path.to_owned(),
        problem: format!("it is no Parquet file that can be read: {error}"),
    }
}

type Builder = ParquetRecordBatchReaderBuilder<File>;

/// A part; with columns, it is read as these.
fn open(path: &Path, columns: Option<&[&str]>) -> Result<Builder> {
    let file = File::open(path).map_err(|error| failed(path, error))?;
    // Dictionaries are read as what is in them.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(columns.is_some());
    let builder =
        Builder::try_new_with_options(file, options).map_err(|error| bad(path, &error))?;
    Ok(match columns {
        None => builder,
        Some(columns) => {
            let mask = ProjectionMask::columns(builder.parquet_schema(), columns.iter().copied());
            builder.with_projection(mask)
        }
    })
}

/// The rows of a part, a thousand at a time.
fn batches(path: &Path, columns: &[&str]) -> Result<impl Iterator<Item = Result<RecordBatch>>> {
    let reader = open(path, Some(columns))?
        .build()
        .map_err(|error| bad(path, &error))?;
    Ok(reader.map(move |batch| batch.map_err(|error| bad(path, &error.into()))))
}

fn text<'b>(batch: &'b RecordBatch, column: &str) -> Option<&'b StringArray> {
    batch.column_by_name(column)?.as_string_opt()
}

fn at(column: Option<&StringArray>, row: usize) -> Option<&str> {
    column
        .filter(|column| column.is_valid(row))
        .map(|column| column.value(row))
}

fn primitive<'b, T: arrow_array::ArrowPrimitiveType>(
    batch: &'b RecordBatch,
    column: &str,
) -> Option<&'b PrimitiveArray<T>> {
    batch.column_by_name(column)?.as_primitive_opt()
}

fn ints<'b>(batch: &'b RecordBatch, column: &str) -> Option<&'b PrimitiveArray<Int64Type>> {
    primitive(batch, column)
}

fn number<T: arrow_array::ArrowPrimitiveType>(
    column: Option<&PrimitiveArray<T>>,
    row: usize,
) -> Option<T::Native> {
    column
        .filter(|column| column.is_valid(row))
        .map(|column| column.value(row))
}

fn field(field: &arrow_schema::Field) -> Field {
    Field {
        name: field.name().clone(),
        types: vec![type_name(field.data_type())],
        unit: unit(
            field.metadata().get("unit").map(String::as_str),
            field.metadata().get("scale").map(String::as_str),
        ),
    }
}

/// A type as Rust calls it.
fn type_name(ty: &DataType) -> String {
    match ty {
        DataType::Boolean => "bool".to_owned(),
        DataType::Dictionary(..) => "enum".to_owned(),
        DataType::Utf8 => "text".to_owned(),
        DataType::Binary => "bytes".to_owned(),
        DataType::List(item) => format!("[{}]", type_name(item.data_type())),
        DataType::FixedSizeList(item, len) => format!("[{}; {len}]", type_name(item.data_type())),
        DataType::Struct(fields) => {
            let field = |field: &arrow_schema::FieldRef| {
                format!("{}: {}", field.name(), type_name(field.data_type()))
            };
            format!(
                "{{ {} }}",
                fields.iter().map(field).collect::<Vec<_>>().join(", ")
            )
        }
        number => {
            let name = format!("{number}");
            name.replace("UInt", "u")
                .replace("Int", "i")
                .replace("Float", "f")
        }
    }
}
