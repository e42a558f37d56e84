//! Rows that only the run of a program makes known, on their way to a stream.

use std::fmt;

use bytemuck::NoUninit;
use nvtxw_abi::{BatchOrdering, EventKind, SchemaRole};

use crate::calls::{EventPort, Payload};
use crate::describe::SchemaInfo;
use crate::domain::{Domain, DomainState};
use crate::entry::{self, OwnedEntry, OwnedSemantics};
use crate::error::{self, Error, Result};
use crate::id::{Owner, Scope, ScopeId};
use crate::payload::{Payloads, TypedPayload};
use crate::register::Registrar;
use crate::row_field::{Extent, FieldRole, RowField, RowType};
use crate::row_layout::RowLayout;
use crate::stream::Stream;
use crate::writer::Writer;
use crate::{owner, text};

/// A registered [`RowLayout`], as a small value to keep.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RowSchema {
    pub(crate) owner: Owner,
    pub(crate) id: u64,
    pub(crate) role: SchemaRole,
    size: usize,
    align: usize,
    /// How many texts of any length follow.
    pub(crate) texts: usize,
}

impl RowSchema {
    /// The schema's number, unique among the schemas and enums of its domain.
    #[must_use]
    pub const fn id(self) -> u64 {
        self.id
    }

    /// Bytes of a row; without texts of any length, if it has such.
    #[must_use]
    pub const fn row_size(self) -> usize {
        self.size
    }

    /// The kind of the events that rows are; `None` if they are payloads.
    #[must_use]
    pub const fn kind(self) -> Option<EventKind> {
        match self.role {
            SchemaRole::Event(kind) => Some(kind),
            _ => None,
        }
    }

    /// A row to be written beside an event: see [`EventWriter::write_with`](crate::EventWriter::write_with) and
    /// [`RowWriter::write_with`].
    ///
    /// # Errors
    /// [`Error::RowSize`] if `T` has another size than a row; [`Error::RowBytes`] if the row has texts of any length;
    /// [`Error::RowKind`] unless the layout is a [`payload`](RowLayout::payload).
    pub fn payload<T: NoUninit>(self, row: &T) -> Result<TypedPayload<'_>> {
        self.check::<T>()?;
        self.payload_bytes(bytemuck::bytes_of(row))
    }

    /// The bytes of a row to be written beside an event.
    ///
    /// # Errors
    /// [`Error::RowBytes`] unless there are as many as a row has, behind them as many texts of any length, each with its NUL;
    /// [`Error::RowKind`] unless the layout is a [`payload`](RowLayout::payload).
    pub fn payload_bytes(self, row: &[u8]) -> Result<TypedPayload<'_>> {
        if self.role != SchemaRole::Generic {
            return Err(self.refuse(
                "holds events, which have calls of their own; make a `RowLayout::payload`",
            ));
        }
        if !self.is_row(row) {
            return Err(self.bytes_differ(row.len()));
        }
        Ok(TypedPayload {
            payload: Payload::bytes(self.id, row),
            owner: self.owner,
        })
    }

    /// Whether the bytes are one row. A NUL too few would lead a backend out of them.
    fn is_row(self, bytes: &[u8]) -> bool {
        let Some((_, texts)) = bytes.split_at_checked(self.size) else {
            return false;
        };
        texts.last().is_none_or(|&last| last == 0)
            && texts.iter().filter(|&&byte| byte == 0).count() == self.texts
    }

    pub(crate) fn extent(self) -> Extent {
        Extent {
            size: self.size,
            align: self.align,
        }
    }

    /// Whether values of `T` can be rows.
    #[inline]
    pub(crate) fn check<T>(self) -> Result<()> {
        if size_of::<T>() == self.size {
            Ok(())
        } else {
            Err(self.sizes_differ(size_of::<T>()))
        }
    }

    #[cold]
    fn sizes_differ(self, given: usize) -> Error {
        Error::RowSize {
            layout: self.name(),
            row: self.size,
            given,
        }
    }

    #[cold]
    pub(crate) fn bytes_differ(self, given: usize) -> Error {
        Error::RowBytes {
            layout: self.name(),
            row: self.size,
            texts: self.texts,
            given,
        }
    }

    #[cold]
    pub(crate) fn refuse(self, problem: &'static str) -> Error {
        Error::RowKind {
            layout: self.name(),
            problem,
        }
    }

    #[cold]
    pub(crate) fn name(self) -> String {
        owner::find(self.owner).map_or_else(
            || format!("#{}", self.id),
            |domain| domain.schema_name(self.id),
        )
    }
}

/// Registered layouts with one name and one fingerprint: hardly ever more than one.
pub(crate) type Namesakes = Vec<(RowLayout, RowSchema)>;

impl DomainState {
    /// The schema's name, for errors.
    pub(crate) fn schema_name(&self, id: u64) -> String {
        let registered = self.registered();
        registered
            .schema_infos
            .get(&id)
            .map_or_else(|| format!("#{id}"), |info| info.name.to_string())
    }
}

impl Domain<'_> {
    /// Registers a layout that the program found out at run time; once for the same name and layout. That of a counter
    /// group is for [`counter_rows`](Domain::counter_rows).
    ///
    /// # Errors
    /// [`Error::RowLayout`] if the layout isn't one, or is a counter group; [`Error::Foreign`] if an enum, a nested row or
    /// a time domain in it is of another domain; [`Error::InteriorNul`]; [`Error::Call`] if the backend refuses.
    pub fn rows(&mut self, name: &str, layout: &RowLayout) -> Result<RowSchema> {
        if layout.role == SchemaRole::CounterGroup {
            return Err(Error::RowLayout {
                layout: name.to_owned(),
                problem: "it is a counter group; register it with `counter_rows`".to_owned(),
            });
        }
        self.row_schema(name, layout)
    }

    pub(crate) fn row_schema(&mut self, name: &str, layout: &RowLayout) -> Result<RowSchema> {
        let owner = self.state.owner;
        let mut registered = self.state.registered();
        let key = (name.into(), layout.fingerprint());
        let known = registered.rows.get(&key).and_then(|layouts| {
            let same = |(registered, _): &&(RowLayout, RowSchema)| registered == layout;
            layouts.iter().find(same).map(|(_, schema)| *schema)
        });
        if let Some(schema) = known {
            return Ok(schema);
        }
        let placed = layout.place().map_err(|problem| Error::RowLayout {
            layout: name.to_owned(),
            problem,
        })?;
        let c_name = text::c_string(name, "layout name")?;
        let mut registrar = Registrar::new(self.live, self.state.handle, &mut registered);
        let entries = layout
            .fields
            .iter()
            .zip(&placed.offsets)
            .map(|(field, &offset)| row_entry(&mut registrar, owner, layout.role, field, offset))
            .collect::<Result<Vec<_>>>()?;
        let Extent { size, align } = placed.extent;
        let id = entry::register(
            &registrar,
            &c_name,
            layout.role,
            (size, placed.pack_align, placed.texts > 0),
            layout.static_id,
            &entries,
        )
        .map_err(|refusal| refusal.of("register", self.object("layout", name)))?;
        let schema = RowSchema {
            owner,
            id,
            role: layout.role,
            size,
            align,
            texts: placed.texts,
        };
        let info = SchemaInfo {
            id,
            name: name.into(),
            role: layout.role,
            row_size: size,
        };
        registered.schema_infos.insert(id, info);
        let layouts = registered.rows.entry(key).or_default();
        layouts.push((layout.clone(), schema));
        Ok(schema)
    }
}

/// The entry of a field, whose references must be of the domain `owner`.
fn row_entry(
    registrar: &mut Registrar<'_>,
    owner: Owner,
    role: SchemaRole,
    field: &RowField,
    offset: usize,
) -> Result<OwnedEntry> {
    let foreign = |what: &str, other: Owner| {
        let object = format!("the {what} of field `{}`", field.name);
        owner::foreign(object, other, "the layout is registered in", owner)
    };
    let (role_flags, role_type) = field.role.entry(role);
    let ty = match (role_type.or(field.ty.entry_type()), field.ty) {
        (Some(ty), _) => ty.to_raw(),
        (None, RowType::Enumeration(enumeration)) if enumeration.owner != owner => {
            return Err(foreign("enum", enumeration.owner));
        }
        (None, RowType::Row(schema)) if schema.owner != owner => {
            return Err(foreign("row", schema.owner));
        }
        (None, RowType::Enumeration(enumeration)) => enumeration.id,
        (None, RowType::Row(schema)) => schema.id,
        (None, _) => registrar.bool_enum()?,
    };
    let (flags, detail) = field.shape();
    let semantics = match (&field.role, field.clock) {
        (FieldRole::Correlation(name), _) => {
            OwnedSemantics::Correlation(text::c_string(name, "name of a correlation")?)
        }
        (_, Some(clock)) => OwnedSemantics::Time(
            clock
                .number(owner)
                .map_err(|other| foreign("time domain", other))?,
        ),
        _ => OwnedSemantics::Counter(
            field.semantics.clone(),
            field.semantics.c_unit("unit of a field")?,
        ),
    };
    Ok(OwnedEntry {
        name: text::c_string(&field.name, "name of a field")?,
        description: field
            .description
            .as_ref()
            .map(|text| text::c_string(text, "description of a field"))
            .transpose()?,
        flags: flags | role_flags,
        ty,
        detail,
        offset,
        semantics,
    })
}

impl Writer<'_> {
    /// What writes rows of a layout, which are events, to this stream.
    ///
    /// # Errors
    /// [`Error::Foreign`] if the layout is registered in another domain than the stream's; [`Error::RowKind`] if it is a
    /// payload.
    pub fn rows(&self, schema: RowSchema) -> Result<RowWriter<'_>> {
        let Some(kind) = schema.kind() else {
            return Err(schema.refuse(
                "holds payloads, which go beside an event: make one with `RowSchema::payload`",
            ));
        };
        if schema.owner != self.owner() {
            let object = format!("layout `{}`", schema.name());
            return Err(self.stream.foreign(&object, schema.owner));
        }
        Ok(RowWriter {
            port: self.live.events(&self.stream.handle),
            schema,
            kind,
            scope: ScopeId::NONE.to_u64(),
            flags: self.stream.batch_ordering.to_raw(),
            stream: self.stream,
        })
    }
}

/// What writes rows of one layout, which are events, to a stream.
///
/// Bound by [`Writer::rows`]. Rows are values of any type without uninitialised bytes that is as large as a row, or bytes;
/// nothing compares a type's fields with the layout's. Scopes, categories and range ids inside rows must be those of the
/// stream's domain.
pub struct RowWriter<'w> {
    port: EventPort<'w>,
    schema: RowSchema,
    kind: EventKind,
    scope: u64,
    flags: u64,
    stream: &'w Stream,
}

impl RowWriter<'_> {
    /// Writes rows: marks and whole ranges in one call, which gets the slice itself; the starts and ends of ranges in one
    /// call each. An empty slice is no call.
    ///
    /// # Errors
    /// [`Error::RowSize`] if `T` has another size than a row, and nothing is written; else [`Error::Write`], as the backend
    /// answered; of starts and ends, those before are written.
    #[inline]
    pub fn write_rows<T: NoUninit>(&self, rows: &[T]) -> Result<()> {
        self.schema.check::<T>()?;
        self.write(bytemuck::cast_slice(rows))
    }

    /// Writes the bytes of rows, as [`write_rows`](RowWriter::write_rows). They may be unaligned.
    ///
    /// # Errors
    /// [`Error::RowBytes`] unless they are a whole number of rows, and nothing is written; else [`Error::Write`].
    #[inline]
    pub fn write_bytes(&self, rows: &[u8]) -> Result<()> {
        if !rows.len().is_multiple_of(self.schema.size) {
            return Err(self.schema.bytes_differ(rows.len()));
        }
        self.write(rows)
    }

    /// Writes one row with what else there is to say of it, as
    /// [`EventWriter::write_with`](crate::EventWriter::write_with).
    ///
    /// # Errors
    /// [`Error::RowSize`]; [`Error::Write`], as the backend answered, or because a payload belongs to another domain, or
    /// this writer has a [`scope`](RowWriter::scope), which a single event can't carry.
    #[inline]
    pub fn write_with<T: NoUninit>(&self, row: &T, payloads: impl Payloads) -> Result<()> {
        self.schema.check::<T>()?;
        if self.scope != ScopeId::NONE.to_u64() {
            return Err(error::WriteError::ROW_WITH_SCOPE.at(self));
        }
        let event = Payload::bytes(self.schema.id, bytemuck::bytes_of(row));
        payloads
            .beside(event, self.schema.owner, |payloads| {
                self.port.write(payloads)
            })
            .map_err(|error| error.at(self))
    }

    /// Says in which order the rows of a batch stand; by default as
    /// [`StreamOptions::batch_ordering`](crate::StreamOptions::batch_ordering) says.
    #[inline]
    #[must_use]
    pub fn ordering(mut self, ordering: BatchOrdering) -> Self {
        self.flags = ordering.to_raw();
        self
    }

    /// Gives the rows a scope, if they have none of their own: it goes before the stream's.
    ///
    /// # Errors
    /// [`Error::Foreign`] if the scope is one of another domain; [`Error::RowKind`] if the rows are starts or ends of
    /// ranges, which aren't written in batches.
    pub fn scope(mut self, scope: Scope) -> Result<Self> {
        if scope.owner != self.schema.owner {
            return Err(self.stream.foreign("a scope that was passed", scope.owner));
        }
        if !self.kind.is_complete() {
            return Err(self.schema.refuse(
                "holds starts or ends of ranges, which take no scope from their writer: give the layout a scope field",
            ));
        }
        self.scope = scope.id.to_u64();
        Ok(self)
    }

    #[inline]
    fn write(&self, rows: &[u8]) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let id = self.schema.id;
        if self.kind.is_complete() {
            self.port
                .write_batch_bytes(id, rows, self.scope, self.flags)
        } else {
            rows.chunks_exact(self.schema.size)
                .try_for_each(|row| self.port.write(&[Payload::bytes(id, row)]))
        }
        .map_err(|error| error.at(self))
    }
}

impl fmt::Debug for RowWriter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("RowWriter");
        debug
            .field("stream", &self.stream.name())
            .field("schema", &self.schema.id)
            .finish_non_exhaustive()
    }
}

impl error::sealed::Place for RowWriter<'_> {
    fn what(&self) -> String {
        format!(
            "rows of layout `{}` to {}",
            self.schema.name(),
            self.stream.describe()
        )
    }

    fn stream(&self) -> &Stream {
        self.stream
    }
}
