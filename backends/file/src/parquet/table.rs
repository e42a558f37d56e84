//! Tables: parts in a folder, made of row groups.

use std::fs::{self, File};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use super::dataset::Dataset;

/// Columns that grow from row to row, more or less.
const ORDERED: [&str; 4] = ["event_id", "start_ns", "end_ns", "time_ns"];

/// A table's part for one stream.
pub(super) struct Table {
    dataset: Arc<Dataset>,
    folder: PathBuf,
    /// What the names of the parts begin with.
    prefix: String,
    schema: SchemaRef,
    /// How many parts there were.
    parts: usize,
    part: Option<Part>,
    /// From which row on of which part times are known in another way.
    epochs: Vec<(usize, usize)>,
}

/// A part that is open. It gets its name when it is complete.
struct Part {
    writer: ArrowWriter<File>,
    /// Where it is until then: readers pass over it.
    hidden: PathBuf,
    path: PathBuf,
    rows: usize,
    /// What its row group takes.
    memory: usize,
    /// Whether too many parts are open.
    is_short: bool,
}

/// Parts that are complete, but for those that failed.
pub(super) struct Parts {
    pub(super) paths: Vec<PathBuf>,
    pub(super) epochs: Vec<(usize, usize)>,
}

/// Why rows could not be written, and how many they are.
pub(super) struct Lost {
    pub(super) reason: String,
    pub(super) rows: u64,
}

impl Table {
    pub(super) fn new(
        dataset: &Arc<Dataset>,
        folder: PathBuf,
        prefix: String,
        schema: SchemaRef,
    ) -> Self {
        Self {
            dataset: Arc::clone(dataset),
            folder,
            prefix,
            schema,
            parts: 0,
            part: None,
            epochs: Vec::new(),
        }
    }

    /// Whether the parts of both would be the same files.
    pub(super) fn is(&self, other: &Self) -> bool {
        (&self.folder, &self.prefix) == (&other.folder, &other.prefix)
    }

    /// Notes that the rows that follow have times that are known in another way.
    pub(super) fn begin_epoch(&mut self) {
        self.epochs.push(match &self.part {
            Some(part) => (self.parts - 1, part.rows),
            None => (self.parts, 0),
        });
    }

    /// How many epochs have begun after the first.
    pub(super) fn epochs(&self) -> usize {
        self.epochs.len()
    }

    /// What was written, when all parts are complete.
    pub(super) fn leave(&mut self) -> Parts {
        Parts {
            paths: (0..self.parts).map(|part| self.path(part)).collect(),
            epochs: mem::take(&mut self.epochs),
        }
    }

    /// Removes all that was written.
    pub(super) fn remove(&mut self) {
        if let Some(part) = &self.part {
            let _ = fs::remove_file(&part.hidden);
        }
        self.forget();
        for part in 0..self.parts {
            let _ = fs::remove_file(self.path(part));
        }
        // Other streams may have theirs there.
        let _ = fs::remove_dir(&self.folder);
    }

    fn path(&self, part: usize) -> PathBuf {
        self.folder.join(format!("{}-{part}.parquet", self.prefix))
    }

    /// Appends rows.
    pub(super) fn write(&mut self, columns: Vec<ArrayRef>) -> Result<(), Lost> {
        let rows = columns.first().map_or(0, |column| column.len());
        if rows == 0 {
            return Ok(());
        }
        if let Err(reason) = self.dataset.check_process().and_then(|()| self.open()) {
            let rows = rows as u64;
            return Err(Lost { reason, rows });
        }
        let (dataset, schema) = (&self.dataset, &self.schema);
        let Some(part) = &mut self.part else {
            return Ok(());
        };
        part.rows += rows;
        let written = RecordBatch::try_new(Arc::clone(schema), columns)
            .map_err(ParquetError::from)
            .and_then(|batch| part.writer.write(&batch))
            .and_then(|()| {
                let memory = part.writer.memory_size();
                let is_much = dataset.account(part.memory, memory);
                part.memory = memory;
                if is_much {
                    part.writer.flush()?;
                    part.memory = part.writer.memory_size();
                    dataset.account(memory, part.memory);
                }
                Ok(())
            });
        if let Err(error) = written {
            return Err(self.fail(&error));
        }
        match part.is_short || part.rows >= dataset.limits.part {
            true => self.close(),
            false => Ok(()),
        }
    }

    /// Completes the part that is open.
    pub(super) fn close(&mut self) -> Result<(), Lost> {
        let Some(part) = &mut self.part else {
            return Ok(());
        };
        if let Err(reason) = self.dataset.check_process() {
            let rows = part.rows as u64;
            return Err(Lost { reason, rows });
        }
        if let Err(error) = part.writer.finish() {
            return Err(self.fail(&error));
        }
        if let Err(error) = fs::rename(&part.hidden, &part.path) {
            return Err(self.fail(&error.into()));
        }
        self.forget();
        Ok(())
    }

    fn open(&mut self) -> Result<(), String> {
        if self.part.is_some() {
            return Ok(());
        }
        let path = self.path(self.parts);
        let hidden = hidden(&path, "open");
        let failed =
            |error: ParquetError| format!("creating {}: {}", path.display(), plain(&error));
        self.dataset.check_folder()?;
        self.dataset
            .make(&self.folder)
            .map_err(|error| failed(error.into()))?;
        let file = File::create(&hidden).map_err(|error| failed(error.into()))?;
        let properties = properties(&self.schema, self.dataset.limits.row_group);
        let writer = ArrowWriter::try_new(file, Arc::clone(&self.schema), Some(properties));
        let writer = writer.map_err(|error| {
            let _ = fs::remove_file(&hidden);
            failed(error)
        })?;
        self.parts += 1;
        self.part = Some(Part {
            writer,
            hidden,
            path,
            rows: 0,
            memory: 0,
            is_short: self.dataset.open_part(),
        });
        Ok(())
    }

    /// Gives the part up.
    fn fail(&mut self, error: &ParquetError) -> Lost {
        let (mut reason, mut rows) = (plain(error), 0);
        if let Some(part) = &self.part {
            reason = match self.dataset.check_folder() {
                Ok(()) => format!("writing {}: {reason}", part.path.display()),
                Err(removed) => removed,
            };
            rows = part.rows as u64;
            // Nobody could read it.
            let _ = fs::remove_file(&part.hidden);
        }
        self.forget();
        Lost { reason, rows }
    }

    fn forget(&mut self) {
        if let Some(part) = self.part.take() {
            self.dataset.account(part.memory, 0);
            self.dataset.close_part();
            if self.dataset.check_process().is_err() {
                // Its buffer would be written into the parent's file.
                mem::forget(part);
            }
        }
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        self.forget();
    }
}

/// Where readers pass over what is to be a part.
pub(super) fn hidden(path: &Path, purpose: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{purpose}"))
}

pub(super) fn properties(schema: &Schema, row_group: usize) -> WriterProperties {
    let creator = concat!("nvtxw-file ", env!("CARGO_PKG_VERSION"));
    let mut properties = WriterProperties::builder()
        .set_created_by(creator.to_owned())
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_max_row_group_row_count(Some(row_group));
    for field in schema.fields() {
        let column = || ColumnPath::from(field.name().as_str());
        // Texts come again and again; finding out whether numbers do costs more than it spares.
        if field.data_type().is_numeric() {
            properties = properties.set_column_dictionary_enabled(column(), false);
        }
        // These grow by little, and are what is asked for.
        if ORDERED.contains(&&**field.name()) {
            properties = properties
                .set_column_encoding(column(), Encoding::DELTA_BINARY_PACKED)
                .set_column_statistics_enabled(column(), EnabledStatistics::Chunk);
        }
    }
    properties.build()
}

/// What happened, without the words that the library adds.
pub(super) fn plain(error: &ParquetError) -> String {
    match error {
        ParquetError::External(error) => error.to_string(),
        error => error.to_string(),
    }
}
