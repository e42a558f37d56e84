//! The tables that have a stream's events: that of all events, and those of schemas.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use super::builders::{EventRows, Spot, TypedRows};
use super::column;
use super::dataset::{Dataset, EVENTS};
use super::record::{Reader, Record};
use super::table::{Parts, Table};
use crate::tally::Cost;

/// So many rows are handed on at once.
const BATCH: usize = 1 << 12;

/// Where a stream's parts are in each table, and what their names begin with.
#[derive(Clone)]
pub(super) struct Share {
    pub(super) dataset: Arc<Dataset>,
    /// The folder that all tables are in.
    pub(super) root: &'static str,
    pub(super) folder: String,
    pub(super) prefix: String,
}

impl Share {
    pub(super) fn table(&self, name: &str, schema: arrow_schema::SchemaRef) -> Table {
        let folder = self.dataset.folder(&format!("{}{name}", self.root));
        let folder = folder.join(&self.folder);
        Table::new(&self.dataset, folder, self.prefix.clone(), schema)
    }
}

/// What rows of tables of schemas cost.
fn fields(fields: u64) -> Cost {
    Cost { events: 0, fields }
}

pub(super) struct EventTables {
    share: Share,
    events: (Table, EventRows),
    /// By the numbers that records have.
    typed: Vec<(Table, TypedRows)>,
    /// Indices of `typed`, by the tables' names.
    typed_numbers: HashMap<String, u32>,
}

impl EventTables {
    pub(super) fn new(share: Share) -> Self {
        Self {
            events: (share.table(EVENTS, EventRows::schema()), EventRows::new()),
            typed: Vec::new(),
            typed_numbers: HashMap::new(),
            share,
        }
    }

    /// A table for the events of a schema, which all have that are alike. Returns its number; `None` for schemas without a
    /// name, and those whose fields are not plain, or not there.
    pub(super) fn add_table(&mut self, schema: &nvtxw_backend::Schema) -> Option<u32> {
        let name = schema
            .name()
            .filter(|name| !name.is_empty() && schema.is_plain())?;
        let (fields, columns) = column::columns(schema);
        if fields.is_empty() {
            return None;
        }
        let schema = TypedRows::schema(fields);
        let number = self.typed.len() as u32;
        let name = match (self.typed_numbers).entry(self.share.dataset.table_of(name, &schema)) {
            Entry::Occupied(known) => return Some(*known.get()),
            Entry::Vacant(new) => new.insert_entry(number),
        };
        let mut table = self.share.table(name.key(), schema);
        // It has no rows of the epochs that were before.
        for _ in 0..self.events.0.epochs() {
            table.begin_epoch();
        }
        self.typed.push((table, TypedRows::new(columns)));
        Some(number)
    }

    /// Adds the event with the number `id`; `record` has its halves. Returns whether there are enough
    /// to [send](Self::send).
    pub(super) fn add(&mut self, id: i64, kind: &str, record: &[u8], spot: Spot<'_>) -> bool {
        let mut reader = Reader(record);
        let first = Record::read(&mut reader);
        let second = Record::read(&mut reader);
        if let Some((table, fields)) = first.typed
            && let Some((_, rows)) = self.typed.get_mut(table as usize)
        {
            rows.add(id, &first, spot, fields);
        }
        (self.events.1).add(id, kind, [&first, &second], spot);
        self.events.1.len >= BATCH
    }

    /// Hands rows on; `met` gets each error.
    pub(super) fn send(&mut self, mut met: impl FnMut(String, Cost)) {
        for (table, rows) in &mut self.typed {
            if let Err(lost) = table.write(rows.finish()) {
                met(lost.reason, fields(lost.rows));
            }
        }
        if let Err(lost) = self.events.0.write(self.events.1.finish()) {
            met(lost.reason, Cost::of(lost.rows));
        }
    }

    /// Completes the parts that are open.
    pub(super) fn close(&mut self, mut met: impl FnMut(String, Cost)) {
        for (table, _) in &mut self.typed {
            if let Err(lost) = table.close() {
                met(lost.reason, fields(lost.rows));
            }
        }
        if let Err(lost) = self.events.0.close() {
            met(lost.reason, Cost::of(lost.rows));
        }
    }

    pub(super) fn begin_epoch(&mut self) {
        self.tables().for_each(Table::begin_epoch);
    }

    /// Removes all that was written.
    pub(super) fn remove(&mut self) {
        self.tables().for_each(Table::remove);
    }

    /// What was written: all events first.
    pub(super) fn leave(&mut self) -> Vec<Parts> {
        self.tables().map(Table::leave).collect()
    }

    fn tables(&mut self) -> impl Iterator<Item = &mut Table> {
        let typed = self.typed.iter_mut().map(|(table, _)| table);
        [&mut self.events.0].into_iter().chain(typed)
    }
}
