//! Tables: parts in a folder, made of row groups.

use std::fs::{self, File};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Schema, SchemaRef};
use nvtxw_backend::Refusal;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use super::dataset::Dataset;
use crate::open_files;

/// Columns that grow from row to row, more or less.
const ORDERED: [&str; 4] = ["event_id", "start_ns", "end_ns", "time_ns"];

/// A table's part for one stream.
pub(super) struct Table {
    dataset: Arc<Dataset>,
    folder: PathBuf,
    /// What the names of the parts begin with.
    prefix: String,
    schema: SchemaRef,
    parts: Arc<OpenPart>,
    /// From which row on of which part times are known in another way.
    epochs: Vec<(usize, usize)>,
}

/// The part of a table that is open. Other streams close it if they need its file handle.
#[derive(Default)]
pub(super) struct OpenPart {
    /// The dataset's clock at the last write.
    pub(super) last_use: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The lengths of the parts, but for those that are not complete.
    lengths: Vec<Option<u64>>,
    part: Option<Part>,
    /// The error of another stream that closed the part.
    lost: Option<Lost>,
}

/// A part that is open. It gets its name when it is complete.
struct Part {
    number: usize,
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

/// Parts, each with its length if it is complete.
pub(super) struct Parts {
    pub(super) files: Vec<(PathBuf, Option<u64>)>,
    pub(super) epochs: Vec<(usize, usize)>,
}

impl Parts {
    /// Fails if another program has removed or changed one.
    pub(super) fn check(&self) -> nvtxw_backend::Result<()> {
        for (path, len) in &self.files {
            if len.is_some_and(|len| !fs::metadata(path).is_ok_and(|found| found.len() == len)) {
                return Err(Refusal::failed(format!(
                    "{}: another program has removed or changed it; choose a `path` that nobody else writes",
                    path.display()
                )));
            }
        }
        Ok(())
    }
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
            parts: Arc::default(),
            epochs: Vec::new(),
        }
    }

    /// Notes that the rows that follow have times that are known in another way.
    pub(super) fn begin_epoch(&mut self) {
        let state = self.parts.lock();
        self.epochs.push(match &state.part {
            Some(part) => (part.number, part.rows),
            None => (state.lengths.len(), 0),
        });
    }

    /// How many epochs have begun after the first.
    pub(super) fn epochs(&self) -> usize {
        self.epochs.len()
    }

    /// What was written, when all parts are complete.
    pub(super) fn leave(&mut self) -> Parts {
        let epochs = mem::take(&mut self.epochs);
        let state = self.parts.lock();
        let lengths = state.lengths.iter().zip(0..);
        Parts {
            files: lengths.map(|(len, part)| (self.path(part), *len)).collect(),
            epochs,
        }
    }

    /// Removes all that was written.
    pub(super) fn remove(&mut self) {
        let mut state = self.parts.lock();
        if let Some(part) = &state.part {
            let _ = fs::remove_file(&part.hidden);
        }
        self.parts.forget(&mut state, &self.dataset);
        for part in 0..state.lengths.len() {
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
        let lost = |reason| Lost {
            reason,
            rows: rows as u64,
        };
        // Comes before any lock: a thread of the parent may hold it.
        self.dataset.check_process().map_err(lost)?;
        let (dataset, schema) = (&self.dataset, &self.schema);
        let mut state = self.parts.lock();
        if let Some(mut lost) = state.lost.take() {
            lost.rows += rows as u64;
            return Err(lost);
        }
        self.open(&mut state).map_err(lost)?;
        self.parts.last_use.store(dataset.tick(), Ordering::Relaxed);
        let Some(part) = &mut state.part else {
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
        let is_full = part.is_short || part.rows >= dataset.limits.part;
        match written {
            Err(error) => Err(self.parts.fail(&mut state, dataset, &error)),
            Ok(()) if is_full => self.parts.close(&mut state, dataset),
            Ok(()) => Ok(()),
        }
    }

    /// Completes the part that is open.
    pub(super) fn close(&mut self) -> Result<(), Lost> {
        if let Err(reason) = self.dataset.check_process() {
            // A thread of the parent may have held the lock.
            let Ok(state) = self.parts.state.try_lock() else {
                return Err(Lost { reason, rows: 0 });
            };
            return match &state.part {
                None => Ok(()),
                Some(part) => {
                    let rows = part.rows as u64;
                    Err(Lost { reason, rows })
                }
            };
        }
        let mut state = self.parts.lock();
        match state.lost.take() {
            Some(lost) => Err(lost),
            None => self.parts.close(&mut state, &self.dataset),
        }
    }

    fn open(&self, state: &mut State) -> Result<(), String> {
        if state.part.is_some() {
            return Ok(());
        }
        let number = state.lengths.len();
        let path = self.path(number);
        let hidden = hidden(&path, "open");
        let failed =
            |error: ParquetError| format!("creating {}: {}", path.display(), plain(&error));
        self.dataset.check_folder()?;
        self.dataset
            .make(&self.folder)
            .map_err(|error| failed(error.into()))?;
        let file = loop {
            match File::create(&hidden) {
                Err(error) if open_files::is_limit(&error) && self.dataset.close_oldest() => {}
                created => break created.map_err(|error| failed(error.into()))?,
            }
        };
        let properties = properties(&self.schema, self.dataset.limits.row_group);
        let writer = ArrowWriter::try_new(file, Arc::clone(&self.schema), Some(properties));
        let writer = writer.map_err(|error| {
            let _ = fs::remove_file(&hidden);
            failed(error)
        })?;
        state.lengths.push(None);
        state.part = Some(Part {
            number,
            writer,
            hidden,
            path,
            rows: 0,
            memory: 0,
            is_short: self.dataset.add_open(&self.parts),
        });
        Ok(())
    }
}

impl OpenPart {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Completes the part for another stream, if its own isn't using it. Returns whether its file is closed.
    pub(super) fn close_for_other(&self, dataset: &Dataset) -> bool {
        let Ok(mut state) = self.state.try_lock() else {
            return false;
        };
        let is_open = state.part.is_some();
        if let Err(lost) = self.close(&mut state, dataset) {
            // The next write of its own stream returns it.
            state.lost = Some(lost);
        }
        is_open
    }

    fn close(&self, state: &mut State, dataset: &Dataset) -> Result<(), Lost> {
        let Some(part) = &mut state.part else {
            return Ok(());
        };
        if let Err(error) = part.writer.finish() {
            return Err(self.fail(state, dataset, &error));
        }
        let written = part.writer.inner().metadata();
        match written.and_then(|file| fs::rename(&part.hidden, &part.path).map(|()| file.len())) {
            Ok(len) => {
                let number = part.number;
                state.lengths[number] = Some(len);
                self.forget(state, dataset);
                Ok(())
            }
            Err(error) => Err(self.fail(state, dataset, &error.into())),
        }
    }

    /// Gives the part up.
    fn fail(&self, state: &mut State, dataset: &Dataset, error: &ParquetError) -> Lost {
        let (mut reason, mut rows) = (plain(error), 0);
        if let Some(part) = &state.part {
            reason = match dataset.check_folder() {
                Ok(()) => format!("writing {}: {reason}", part.path.display()),
                Err(removed) => removed,
            };
            rows = part.rows as u64;
            // Nobody could read it.
            let _ = fs::remove_file(&part.hidden);
        }
        self.forget(state, dataset);
        Lost { reason, rows }
    }

    fn forget(&self, state: &mut State, dataset: &Dataset) {
        if let Some(part) = state.part.take() {
            dataset.account(part.memory, 0);
            dataset.remove_open_part(self);
        }
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        if self.dataset.check_process().is_ok() {
            let mut state = self.parts.lock();
            self.parts.forget(&mut state, &self.dataset);
        } else {
            // A forked child would write the buffer into the parent's file.
            mem::forget(Arc::clone(&self.parts));
        }
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
        ParquetError::External(error) => match error.downcast_ref() {
            Some(error) => open_files::describe(error),
            None => error.to_string(),
        },
        error => error.to_string(),
    }
}
