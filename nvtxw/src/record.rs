//! Records: values whose names and types only the run of a program makes known.

use std::sync::Arc;

use nvtxw_abi::{EntryRole, EntryType, SchemaRole, raw};

use crate::entry::{self, OwnedEntry, OwnedSemantics};
use crate::error::{Error, Result};
use crate::id::Owner;
use crate::register::Registrar;
use crate::string::RegisteredString;
use crate::{owner, text};

/// The type of a record's column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum ColumnType {
    I64,
    U64,
    F64,
    Bool,
    String,
    Message,
    Correlation,
}

impl ColumnType {
    fn name(self) -> &'static str {
        match self {
            Self::I64 => "i64",
            Self::U64 => "u64",
            Self::F64 => "f64",
            Self::Bool => "bool",
            Self::String | Self::Message => "string",
            Self::Correlation => "u64 correlation",
        }
    }
}

/// The columns of a record: a layout that the program finds out while it runs, such as a converter that meets the names of
/// arguments as it reads.
///
/// [`Domain::record`](crate::Domain::record) registers it, [`Record::row`] makes a row to fill, and
/// [`EventWriter::write_with`](crate::EventWriter::write_with) writes the row beside an event. Columns are numbered from 0
/// in the order of these calls.
///
/// ```
/// # #[cfg(all(feature = "file", feature = "derive"))] {
/// use nvtxw::{Backend, Config, NvtxEvent, RecordLayout, Session, StreamOptions};
///
/// #[derive(NvtxEvent, Clone, Copy)]
/// #[repr(C)]
/// #[nvtx(kind = mark)]
/// struct Launch {
///     #[nvtx(timestamp)]
///     time: i64,
/// }
///
/// # let folder = std::env::temp_dir().join("nvtxw-doc-record");
/// # std::fs::create_dir_all(&folder)?;
/// # let config = Config::new().set("path", folder.join("run.pftrace").to_str().unwrap())?.set("overwrite", "true")?;
/// let mut session = Session::begin(&Backend::embedded(), "run", &config)?;
/// let mut domain = session.default_domain()?;
/// let launch = domain.schema::<Launch>()?;
/// let layout = RecordLayout::new().i64("External id").string("kind");
/// let arguments = domain.record("launch arguments", &layout)?;
/// let sync = domain.string("sync")?;
/// let domain = domain.id();
/// let mut stream = session.open_stream("launches", StreamOptions::new(domain))?;
///
/// let out = session.writer(&mut stream)?;
/// let launches = out.events(launch)?;
/// let mut row = arguments.row();
/// row.set(0, 17_i64)?;
/// row.set(1, sync)?;
/// launches.write_with(&Launch { time: 5 }, &row)?;
/// session.end()?;
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[must_use]
pub struct RecordLayout {
    columns: Vec<Column>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Column {
    name: String,
    ty: ColumnType,
    /// The name of the correlation, of a hidden column.
    hidden: Option<String>,
}

impl Column {
    fn entry(&self, registrar: &mut Registrar<'_>, offset: usize) -> Result<OwnedEntry> {
        let mut flags = 0;
        if self.hidden.is_some() {
            flags |= raw::NVTX_PAYLOAD_ENTRY_FLAG_HIDE;
        }
        if self.ty == ColumnType::Message {
            flags |= EntryRole::Message.flags();
        }
        Ok(OwnedEntry {
            name: text::c_string(&self.name, "name of a record's column")?,
            description: None,
            flags,
            ty: match self.ty {
                ColumnType::I64 => EntryType::Int64.to_raw(),
                ColumnType::U64 | ColumnType::Correlation => EntryType::UInt64.to_raw(),
                ColumnType::F64 => EntryType::Float64.to_raw(),
                ColumnType::Bool => registrar.bool_enum()?,
                ColumnType::String | ColumnType::Message => EntryType::RegisteredString.to_raw(),
            },
            detail: 0,
            offset,
            semantics: match self.ty {
                ColumnType::Correlation => {
                    let correlation = self.hidden.as_ref().unwrap_or(&self.name);
                    OwnedSemantics::Correlation(text::c_string(
                        correlation,
                        "name of a record's correlation",
                    )?)
                }
                _ => OwnedSemantics::None,
            },
        })
    }
}

impl RecordLayout {
    /// No columns.
    pub const fn new() -> Self {
        Self {
            columns: Vec::new(),
        }
    }

    /// Adds a column of `i64`.
    pub fn i64(self, name: &str) -> Self {
        self.column(name, ColumnType::I64)
    }

    /// Adds a column of `u64`.
    pub fn u64(self, name: &str) -> Self {
        self.column(name, ColumnType::U64)
    }

    /// Adds a column of `f64`.
    pub fn f64(self, name: &str) -> Self {
        self.column(name, ColumnType::F64)
    }

    /// Adds a column of `bool`.
    pub fn bool(self, name: &str) -> Self {
        self.column(name, ColumnType::Bool)
    }

    /// Adds a column of registered strings.
    pub fn string(self, name: &str) -> Self {
        self.column(name, ColumnType::String)
    }

    /// Adds a column of registered strings that are the messages of events, for those whose struct has none.
    pub fn message(self, name: &str) -> Self {
        self.column(name, ColumnType::Message)
    }

    /// Adds a column of `u64` that relate events: those with the same number in correlations of the same name, in whatever
    /// struct or record, belong together. 0 relates to nothing.
    pub fn correlation(self, name: &str) -> Self {
        self.column(name, ColumnType::Correlation)
    }

    /// How many columns there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there are no columns.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Adds a column that relates events by the correlation named `correlation`, and that tools don't show: an event with
    /// several relations has a column for each, and columns must differ in name.
    pub fn hidden_correlation(mut self, name: &str, correlation: &str) -> Self {
        let (name, hidden) = (name.to_owned(), Some(correlation.to_owned()));
        self.columns.push(Column {
            name,
            ty: ColumnType::Correlation,
            hidden,
        });
        self
    }

    fn column(mut self, name: &str, ty: ColumnType) -> Self {
        self.columns.push(Column {
            name: name.to_owned(),
            ty,
            hidden: None,
        });
        self
    }

    fn problem(&self) -> Option<String> {
        if self.columns.is_empty() {
            return Some("it has no columns; add one, or write the event alone".to_owned());
        }
        let is_message = |column: &&Column| column.ty == ColumnType::Message;
        if self.columns.iter().filter(is_message).count() > 1 {
            return Some("it has two columns of messages; an event has one".to_owned());
        }
        let mut names: Vec<_> = self.columns.iter().map(|column| &column.name).collect();
        names.sort_unstable();
        let twice = names.windows(2).find(|pair| pair[0] == pair[1])?;
        Some(format!(
            "it has two columns `{}`; name each differently",
            twice[0]
        ))
    }
}

/// A registered [`RecordLayout`]. Clones are the same record.
#[derive(Clone, Debug)]
pub struct Record {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    id: u64,
    owner: Owner,
    name: String,
    columns: Vec<ColumnType>,
}

impl Record {
    /// Registers `layout`; each column takes eight bytes. `object` is what the record is called in an error.
    pub(crate) fn register(
        name: &str,
        layout: &RecordLayout,
        registrar: &mut Registrar<'_>,
        owner: Owner,
        object: String,
    ) -> Result<Self> {
        let c_name = text::c_string(name, "record name")?;
        if let Some(problem) = layout.problem() {
            return Err(Error::RecordLayout {
                record: name.to_owned(),
                problem,
            });
        }
        let entries = layout
            .columns
            .iter()
            .enumerate()
            .map(|(index, column)| column.entry(registrar, index * size_of::<u64>()))
            .collect::<Result<Vec<_>>>()?;
        let id = entry::register(
            registrar,
            &c_name,
            SchemaRole::Generic,
            (size_of::<u64>() * entries.len(), None, false),
            None,
            &entries,
        )
        .map_err(|refusal| refusal.of("register", object))?;
        let columns = layout.columns.iter().map(|column| column.ty).collect();
        Ok(Self {
            shared: Arc::new(Shared {
                id,
                owner,
                name: name.to_owned(),
                columns,
            }),
        })
    }

    /// A row to fill and to write, as often as you like: numbers 0, `false`, no strings.
    #[must_use]
    pub fn row(&self) -> RecordRow {
        RecordRow {
            shared: Arc::clone(&self.shared),
            cells: vec![0; self.shared.columns.len()],
        }
    }
}

/// The value of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// For a column of `i64`.
    I64(i64),
    /// For a column of `u64` or a correlation.
    U64(u64),
    /// For a column of `f64`.
    F64(f64),
    /// For a column of `bool`.
    Bool(bool),
    /// For a column of strings: one of the record's domain.
    String(RegisteredString),
}

/// A value that a [`Value`] can be made of.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be the value of a cell",
    label = "not an `i64`, a `u64`, an `f64`, a `bool` or a `RegisteredString`",
    note = "register text with `Domain::string`, and convert other numbers with `i64::from` and the like"
)]
pub trait IntoValue: Into<Value> {}

#[diagnostic::do_not_recommend]
impl<T: Into<Value>> IntoValue for T {}

macro_rules! from {
    ($($variant:ident($ty:ty);)*) => { $(
        impl From<$ty> for Value {
            #[inline]
            fn from(value: $ty) -> Self {
                Self::$variant(value)
            }
        }
    )* };
}

from! {
    I64(i64);
    U64(u64);
    F64(f64);
    Bool(bool);
    String(RegisteredString);
}

impl Value {
    fn type_name(self) -> &'static str {
        match self {
            Self::I64(_) => "i64",
            Self::U64(_) => "u64",
            Self::F64(_) => "f64",
            Self::Bool(_) => "bool",
            Self::String(_) => "string",
        }
    }
}

/// A row of a [`Record`]: filled cell by cell, and written with
/// [`EventWriter::write_with`](crate::EventWriter::write_with). It is meant to be reused; filling it doesn't allocate.
#[derive(Clone, Debug)]
pub struct RecordRow {
    shared: Arc<Shared>,
    /// Eight bytes per column, whose first bytes are the value.
    cells: Vec<u64>,
}

impl RecordRow {
    /// Sets the cell of column `column`.
    ///
    /// # Errors
    /// [`Error::RecordCell`] if there is no such column, or it has another type; [`Error::Foreign`] if the string is one of
    /// another domain. The row stays as it was.
    #[inline]
    pub fn set(&mut self, column: usize, value: impl IntoValue) -> Result<()> {
        let value = value.into();
        let bits = match (self.shared.columns.get(column), value) {
            (Some(ColumnType::I64), Value::I64(value)) => u64::from_ne_bytes(value.to_ne_bytes()),
            (Some(ColumnType::U64 | ColumnType::Correlation), Value::U64(value)) => value,
            (Some(ColumnType::F64), Value::F64(value)) => value.to_bits(),
            (Some(ColumnType::Bool), Value::Bool(value)) => first_bytes([u8::from(value)]),
            (Some(ColumnType::String | ColumnType::Message), Value::String(string))
                if string.owner == self.shared.owner =>
            {
                first_bytes(string.handle.address().to_ne_bytes())
            }
            _ => return Err(self.refuse(column, value)),
        };
        self.cells[column] = bits;
        Ok(())
    }

    /// Sets all cells back: numbers to 0, `bool`s to `false`, strings to none.
    pub fn clear(&mut self) {
        self.cells.fill(0);
    }

    #[inline]
    pub(crate) fn owner(&self) -> Owner {
        self.shared.owner
    }

    #[inline]
    pub(crate) fn schema(&self) -> u64 {
        self.shared.id
    }

    #[inline]
    pub(crate) fn cells(&self) -> &[u64] {
        &self.cells
    }

    #[cold]
    fn refuse(&self, column: usize, value: Value) -> Error {
        let record = self.shared.name.clone();
        let problem = match (self.shared.columns.get(column), value) {
            (None, _) => format!(
                "it has {}, counted from 0",
                columns(self.shared.columns.len())
            ),
            (Some(ColumnType::String | ColumnType::Message), Value::String(string)) => {
                return owner::foreign(
                    format!("a string for column {column} of record `{record}`"),
                    string.owner,
                    "the record belongs to",
                    self.shared.owner,
                );
            }
            (Some(ty), _) => format!(
                "it holds {} values, and the given one is {}",
                ty.name(),
                value.type_name()
            ),
        };
        Error::RecordCell {
            record,
            column,
            problem,
        }
    }
}

fn columns(count: usize) -> String {
    if count == 1 {
        "1 column".to_owned()
    } else {
        format!("{count} columns")
    }
}

/// A cell that begins with `bytes`; the rest is 0.
#[inline]
fn first_bytes<const N: usize>(bytes: [u8; N]) -> u64 {
    let mut cell = [0; size_of::<u64>()];
    cell[..N].copy_from_slice(&bytes);
    u64::from_ne_bytes(cell)
}
