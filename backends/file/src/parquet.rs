//! Parquet: a folder of tables, in which each session has partitions of its own.

mod builders;
mod column;
mod dataset;
mod encoder;
mod events;
mod partition;
mod record;
mod retime;
mod rows;
mod table;

use std::collections::HashMap;
use std::fmt::Display;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nvtxw_backend::{Event, Refusal, Result, Schema, ScopeRef, StreamInfo, Time};

use self::builders::FactRows;
use self::dataset::{Dataset, METADATA};
use self::encoder::Encoder;
use self::retime::{NewParts, Written};
use self::rows::{Counter, Rows};
use self::table::Table;
use crate::clock::Line;
use crate::config::Settings;
use crate::format::{Again, Fact, FactValue, Format, FormatStream, Half, NoRanges, Number, Ranges};
use crate::proto::Writer;
use crate::tally::{Cost, Tally};
use crate::timeline::Base;
use crate::track::{TrackId, Tracks};

/// A stream that is opened again has other IDs of events above so many bits.
const ID_BITS: u32 = 40;

/// A session's partitions.
pub(crate) struct Parquet {
    dataset: Arc<Dataset>,
    facts: Mutex<Facts>,
}

/// What is known of the session and its streams.
struct Facts {
    table: Table,
    rows: FactRows,
    /// How often streams of each name were opened.
    opened: HashMap<String, i64>,
    /// The first error of any stream.
    error: Option<Refusal>,
}

impl Format for Parquet {
    type Stream = ParquetStream;

    /// Tables have no order.
    const IS_ORDERED: bool = false;

    fn create(settings: &mut Settings, facts: &[Fact<'_>]) -> Result<Self> {
        let session = facts.iter().find_map(|fact| match fact.value {
            FactValue::Text(name) if fact.key == "nvtxw.session" => Some(name),
            _ => None,
        });
        let session = session.unwrap_or_default();
        // Without what there has to be at once, nothing that is new stays.
        let (dataset, made) = Dataset::create(&mut settings.destination, session, settings.parts)?;
        let dataset = Arc::new(dataset);
        let folder = dataset.folder(METADATA);
        let table = Table::new(&dataset, folder, "part".to_owned(), FactRows::schema());
        let parquet = Self {
            dataset,
            facts: Mutex::new(Facts {
                table,
                rows: FactRows::default(),
                opened: HashMap::new(),
                error: None,
            }),
        };
        parquet.note(facts);
        parquet.facts().write()?;
        made.keep();
        Ok(parquet)
    }

    fn note(&self, facts: &[Fact<'_>]) {
        let rows = &mut self.facts().rows;
        for fact in facts {
            match fact.value {
                FactValue::Text(text) => rows.add(None, fact.key, text),
                FactValue::Number(number) => rows.add(None, fact.key, &number.to_string()),
            }
        }
    }

    fn merge(self: &Arc<Self>, streams: Vec<Again<Written>>, _memory: usize) -> io::Result<Tally> {
        let (mut parts, mut tally) = (NewParts::default(), Tally::default());
        for stream in streams {
            if let Some(times) = &stream.times {
                tally.before_sync += parts.add(&stream.left, times)?;
            }
        }
        parts.place()?;
        Ok(tally)
    }

    fn end(&self) -> Result<()> {
        self.dataset.remove_open();
        let mut facts = self.facts();
        let written = facts.write();
        match facts.error.take() {
            Some(error) => Err(error),
            None => written.and_then(|()| self.dataset.check_folder().map_err(Refusal::failed)),
        }
    }

    fn open_stream(
        self: &Arc<Self>,
        info: &Arc<StreamInfo>,
        tracks: &Arc<Tracks>,
        number: u32,
    ) -> ParquetStream {
        let (stream, domain) = (info.name(), info.domain().name());
        let mut facts = self.facts();
        let times = facts.opened.entry(stream.to_owned()).or_default();
        // Those of all that have one name are in one partition.
        let first_id = *times << ID_BITS;
        *times += 1;
        let rows = Rows::new(&self.dataset, (stream, domain), number, first_id);
        let facts = &mut facts.rows;
        facts.add(Some(stream), "parts", &format!("part-{number}-*.parquet"));
        for (key, value) in [
            ("domain", domain.unwrap_or_default()),
            ("scope", &info.scope().to_string()),
        ] {
            if !value.is_empty() {
                facts.add(Some(stream), key, value);
            }
        }
        ParquetStream {
            session: Arc::clone(self),
            tracks: Arc::clone(tracks),
            encoder: Encoder::default(),
            tables: HashMap::new(),
            last: None,
            rows,
        }
    }
}

impl Parquet {
    fn facts(&self) -> MutexGuard<'_, Facts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Facts {
    /// Writes a part of what there is.
    fn write(&mut self) -> Result<()> {
        let written = self.table.write(self.rows.finish());
        let closed = written.and_then(|()| self.table.close());
        closed.map_err(|lost| Refusal::failed(lost.reason))
    }
}

/// A stream's rows.
pub(crate) struct ParquetStream {
    session: Arc<Parquet>,
    tracks: Arc<Tracks>,
    encoder: Encoder,
    /// The tables of schemas, by schema.
    tables: HashMap<u64, Option<u32>>,
    /// The one that was used last.
    last: Option<(u64, Option<u32>)>,
    rows: Rows,
}

impl FormatStream for ParquetStream {
    type Emitter = Rows;
    type Left = Written;

    fn add_place(&mut self, _track: TrackId, scope: &impl Display) {
        self.rows.add_place(text(scope));
    }

    fn add_counters(&mut self, tracks: &[TrackId], scope: &ScopeRef) -> u32 {
        let counters = tracks.iter();
        let counters = counters.map(|track| Counter::of(*track, &self.tracks, text(scope)));
        self.rows.add_counters(counters)
    }

    fn ranges<'r>(
        &'r mut self,
        _schema: &Schema,
        _place: u32,
        _line: Option<&'r Line>,
    ) -> Option<impl Ranges> {
        None::<NoRanges>
    }

    fn make_event(
        &mut self,
        _event: &Event<'_>,
        _time: Time,
        _place: u32,
        _out: &mut Writer,
    ) -> Option<Base> {
        None
    }

    fn make_values(
        &mut self,
        _values: &[Number],
        _time: i64,
        _counter: u32,
        _out: &mut Writer,
    ) -> Option<Base> {
        None
    }

    fn event(&mut self, event: &Event<'_>, half: Half<'_>, out: &mut Writer) {
        let table = match half {
            Half::First => self.table(event.schema()),
            Half::Second(_) => None,
        };
        self.encoder.event(event, half, table, out);
    }

    fn value(&mut self, value: Option<Number>, out: &mut Writer) {
        rows::write_value(value, out);
    }

    fn begin_epoch(&mut self, moved: impl Fn(i64) -> Option<i64>) {
        self.rows.begin_epoch(moved);
    }

    fn begin(&mut self) -> &mut Rows {
        &mut self.rows
    }

    fn send(&mut self) -> Result<()> {
        self.rows.send()
    }

    fn make_readable(&mut self) -> Result<()> {
        self.rows.make_readable()
    }

    fn close(&mut self) -> Result<()> {
        self.rows.close().inspect_err(|error| {
            self.session.facts().error.get_or_insert(error.clone());
        })
    }

    fn lost(&self) -> Cost {
        self.rows.lost()
    }

    fn leave(&mut self) -> Option<Written> {
        Some(self.rows.leave())
    }

    fn check(left: &Written) -> Result<()> {
        left.check()
    }
}

impl ParquetStream {
    /// The number of a schema's table, if it has one.
    #[inline]
    fn table(&mut self, schema: &Schema) -> Option<u32> {
        match self.last {
            Some((last, table)) if last == schema.id() => table,
            _ => {
                let table = self.tables.entry(schema.id());
                let table = *table.or_insert_with(|| self.rows.add_table(schema));
                self.last = Some((schema.id(), table));
                table
            }
        }
    }
}

/// A scope as text, if it is one.
fn text(scope: &impl Display) -> Option<String> {
    Some(scope.to_string()).filter(|text| !text.is_empty())
}
