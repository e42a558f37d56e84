//! The layouts of rows that only the run of a program makes known.

use std::hash::{DefaultHasher, Hash, Hasher};

use nvtxw_abi::{EventKind, SchemaRole};

use crate::id::StaticId;
use crate::row_field::{Extent, FieldRole, RowField, RowType, words};

/// The fields of rows that the program finds out while it runs, such as a converter that reads a table's columns from its
/// file. A row is bytes in memory, as C would lay out a struct of these fields.
///
/// Events are registered with [`Domain::rows`](crate::Domain::rows) and written by a [`RowWriter`](crate::RowWriter),
/// counter groups with [`Domain::counter_rows`](crate::Domain::counter_rows) by a
/// [`RowCounterWriter`](crate::RowCounterWriter). (What is known when the program is compiled derives `NvtxEvent` or
/// `NvtxCounterGroup` instead. Values of registered strings go beside an event, in a
/// [`RecordLayout`](crate::RecordLayout).)
///
/// ```
/// # #[cfg(feature = "file")] {
/// use nvtxw::{Backend, Config, EventKind, RowField, RowLayout, RowType, Session, StreamOptions};
///
/// # let folder = std::env::temp_dir().join("nvtxw-doc-rows");
/// # std::fs::create_dir_all(&folder)?;
/// # let config = Config::new().set("path", folder.join("run.pftrace").to_str().unwrap())?.set("overwrite", "true")?;
/// let mut session = Session::begin(&Backend::embedded(), "run", &config)?;
/// let mut domain = session.default_domain()?;
/// let layout = RowLayout::event(EventKind::RangePushPop)
///     .field(RowField::new("start", RowType::I64).timestamp_start())
///     .field(RowField::new("end", RowType::I64).timestamp_end())
///     .field(RowField::new("rows", RowType::U64));
/// let query = domain.rows("query", &layout)?;
/// assert_eq!(query.row_size(), 24);
/// let domain = domain.id();
/// let mut stream = session.open_stream("database", StreamOptions::new(domain))?;
///
/// let out = session.writer(&mut stream)?;
/// let queries = out.rows(query)?;
/// queries.write_rows(&[[0_u64, 250, 17], [300, 420, 2]])?;
/// session.end()?;
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct RowLayout {
    pub(crate) role: SchemaRole,
    pub(crate) fields: Vec<RowField>,
    packed: bool,
    size: Option<usize>,
    pub(crate) static_id: Option<StaticId>,
}

/// Where everything in a row lies.
pub(crate) struct Placed {
    pub(crate) offsets: Vec<usize>,
    pub(crate) extent: Extent,
    /// What alignment is limited to, if fields lie below their own.
    pub(crate) pack_align: Option<usize>,
    /// How many texts of any length are behind that.
    pub(crate) texts: usize,
}

impl RowLayout {
    /// A number that equal layouts share, and others hardly ever.
    pub(crate) fn fingerprint(&self) -> u64 {
        let Self {
            role,
            fields,
            packed,
            size,
            static_id,
        } = self;
        let mut hasher = DefaultHasher::new();
        (role, packed, size, static_id).hash(&mut hasher);
        fields.iter().for_each(|field| field.hash(&mut hasher));
        hasher.finish()
    }

    /// Rows that are events of this kind.
    pub const fn event(kind: EventKind) -> Self {
        Self::of(SchemaRole::Event(kind))
    }

    /// Rows that are samples of a group of counters.
    pub const fn counters() -> Self {
        Self::of(SchemaRole::CounterGroup)
    }

    /// Rows that are inside other rows, or beside an event.
    pub const fn payload() -> Self {
        Self::of(SchemaRole::Generic)
    }

    const fn of(role: SchemaRole) -> Self {
        Self {
            role,
            fields: Vec::new(),
            packed: false,
            size: None,
            static_id: None,
        }
    }

    /// Adds a field after those before.
    pub fn field(mut self, field: RowField) -> Self {
        self.fields.push(field);
        self
    }

    /// Fields follow each other without gaps, whatever their alignment, and so do rows.
    pub fn packed(mut self) -> Self {
        self.packed = true;
        self
    }

    /// A row has this many bytes, if there are some after the last field.
    pub fn size(mut self, bytes: usize) -> Self {
        self.size = Some(bytes);
        self
    }

    /// Gives the schema a number of your own.
    pub fn static_id(mut self, id: StaticId) -> Self {
        self.static_id = Some(id);
        self
    }

    /// Whether the rows of a counter group hold their times.
    pub(crate) fn is_timed(&self) -> bool {
        self.fields
            .iter()
            .any(|field| field.role == FieldRole::Timestamp)
    }

    /// Where the fields lie, or what is wrong with the layout.
    pub(crate) fn place(&self) -> Result<Placed, String> {
        if let Some(problem) = self.problem() {
            return Err(problem);
        }
        let (mut offsets, mut end, mut align) = (Vec::new(), 0_usize, 1);
        let is_fixed = |field: &&RowField| field.ty != RowType::TerminatedText;
        let fixed = self.fields.iter().take_while(is_fixed).count();
        if let Some(behind) = self.fields[fixed..].iter().find(is_fixed) {
            return Err(format!(
                "field `{}` comes behind text of any length; put it before",
                behind.name
            ));
        }
        for field in &self.fields[..fixed] {
            let extent = field.extent();
            let natural = if self.packed {
                end
            } else {
                end.next_multiple_of(extent.align)
            };
            let offset = field.offset.unwrap_or(natural);
            if offset < end {
                return Err(format!(
                    "field `{}` begins at {offset}, inside the field before, which ends at {end}",
                    field.name
                ));
            }
            offsets.push(offset);
            end = offset
                .checked_add(extent.size)
                .filter(|&end| end <= isize::MAX as usize / 2)
                .ok_or_else(|| format!("field `{}` ends beyond all memory", field.name))?;
            align = align.max(extent.align);
        }
        let texts = self.fields.len() - fixed;
        let natural = if self.packed || texts > 0 {
            end
        } else {
            end.next_multiple_of(align)
        };
        let size = self.size.unwrap_or(natural);
        if size < end {
            return Err(format!(
                "its size is given as {size} bytes, and its last field ends at {end}"
            ));
        }
        if texts > 0 {
            // Only the first one's place is known; the ABI takes 0 for the place behind the entry before.
            offsets.push(size);
            offsets.resize(self.fields.len(), 0);
        }
        let fits =
            |limit: usize| {
                (texts > 0 || size.is_multiple_of(align.min(limit)))
                    && self.fields.iter().zip(&offsets).all(|(field, offset)| {
                        offset.is_multiple_of(field.extent().align.min(limit))
                    })
            };
        let limit = [16, 8, 4, 2].into_iter().find(|&limit| fits(limit));
        let limit = limit.unwrap_or(1);
        Ok(Placed {
            offsets,
            extent: Extent {
                size,
                align: align.min(limit),
            },
            pack_align: (limit < align).then_some(limit),
            texts,
        })
    }

    fn problem(&self) -> Option<String> {
        let problem = self
            .fields
            .iter()
            .find_map(|field| field.problem(self.role));
        if problem.is_some() {
            return problem;
        }
        let mut names: Vec<_> = self.fields.iter().map(|field| &field.name).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Some(format!(
                "it has two fields `{}`; name each differently",
                twice[0]
            ));
        }
        for role in [
            FieldRole::Timestamp,
            FieldRole::TimestampStart,
            FieldRole::TimestampEnd,
            FieldRole::RangeId,
            FieldRole::Message,
            FieldRole::Color,
            FieldRole::Category,
            FieldRole::Scope,
        ] {
            let count = self
                .fields
                .iter()
                .filter(|field| field.role == role)
                .count();
            let name = role.name();
            if count > 1 {
                return Some(format!(
                    "it has {count} fields that are its {name}; it can have one"
                ));
            }
            if count == 0 && self.needs(&role) {
                return Some(format!(
                    "{} needs a field that is its {name}; add one",
                    words(self.role)
                ));
            }
        }
        let is_data = |field: &RowField| {
            self.role != SchemaRole::CounterGroup || field.role == FieldRole::None
        };
        if !self.fields.iter().any(is_data) {
            return Some("it has no fields to hold values; add one".to_owned());
        }
        None
    }

    fn needs(&self, role: &FieldRole) -> bool {
        let is_time_or_id = matches!(
            role,
            FieldRole::Timestamp
                | FieldRole::TimestampStart
                | FieldRole::TimestampEnd
                | FieldRole::RangeId
        );
        matches!(self.role, SchemaRole::Event(_)) && is_time_or_id && role.belongs_to(self.role)
    }
}

#[cfg(test)]
mod tests {
    use nvtxw_abi::Limit;

    use super::*;
    use crate::counter_options::CounterSemantics;

    fn with_min(min: f64) -> RowLayout {
        let semantics = CounterSemantics::new().min(Limit::F64(min));
        RowLayout::counters().field(RowField::new("load", RowType::F64).semantics(semantics))
    }

    #[test]
    fn equal_layouts_share_a_fingerprint_and_different_ones_do_not() {
        assert_eq!(with_min(0.0), with_min(-0.0));
        let field = || RowField::new("load", RowType::F64);
        let of = |field| RowLayout::counters().field(field);
        let layouts = [
            of(field()),
            of(field()).packed(),
            of(field()).size(64),
            RowLayout::payload().field(field()),
            of(field()).field(RowField::new("other", RowType::F64)),
            of(RowField::new("other", RowType::F64)),
            of(RowField::new("load", RowType::F32)),
            of(field().array(2)),
            of(field().at(8)),
            of(field().description("of all cores")),
            of(field().hidden()),
            of(field().timestamp()),
            of(field().semantics(CounterSemantics::new().unit("%"))),
            with_min(0.0),
            with_min(1.0),
        ];
        for one in &layouts {
            for other in &layouts {
                assert_eq!(
                    one == other,
                    one.fingerprint() == other.fingerprint(),
                    "{one:?}, {other:?}"
                );
            }
        }
        assert_eq!(with_min(0.0).fingerprint(), with_min(-0.0).fingerprint());
    }
}
