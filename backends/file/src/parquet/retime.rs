//! Gives rows that were written the times that they have by now: in new parts, which then take the places
//! of the old ones.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch};
use nvtxw_backend::Result;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors::ParquetError;

use super::dataset::{Dataset, MEMORY};
use super::table::{Parts, hidden, plain, properties};
use crate::clock::{Side, TimeMap};
use crate::scratch::about;

/// So many rows are read at once, or of long ones about so many bytes.
const BATCH: usize = 1 << 12;
const BYTES: usize = 1 << 24;

/// What a stream wrote.
pub(crate) struct Written {
    pub(super) dataset: Arc<Dataset>,
    /// All events first, then those of schemas.
    pub(super) events: Vec<Parts>,
    pub(super) values: Parts,
}

impl Written {
    /// Fails if another program has removed or changed a part.
    pub(super) fn check(&self) -> Result<()> {
        let mut tables = self.events.iter().chain([&self.values]);
        tables.try_for_each(Parts::check)
    }
}

/// New parts. They go when it is dropped before they are placed.
#[derive(Default)]
pub(super) struct NewParts(Vec<(PathBuf, PathBuf)>);

impl NewParts {
    /// Makes new parts of all that a stream wrote. Returns how many rows keep times that are others by
    /// now.
    ///
    /// # Errors
    /// What happened to which file.
    pub(super) fn add(&mut self, written: &Written, times: &TimeMap) -> io::Result<u64> {
        written.dataset.check_process().map_err(io::Error::other)?;
        let mut unmoved = 0;
        for (table, index) in written.events.iter().chain([&written.values]).zip(0..) {
            let is_counted = index == 0 || index == written.events.len();
            for ((path, len), part) in table.files.iter().zip(0..) {
                if len.is_none() {
                    continue;
                }
                let epoch_of = |row| {
                    let later = |epoch: &(usize, usize)| *epoch <= (part, row);
                    table.epochs.partition_point(later) as u32
                };
                let count = self.rewrite(&written.dataset, path, |row, time| {
                    times.time(epoch_of(row), Side::Start, time)
                })?;
                unmoved += if is_counted { count } else { 0 };
            }
        }
        Ok(unmoved)
    }

    fn rewrite(
        &mut self,
        dataset: &Dataset,
        path: &Path,
        moved: impl Fn(usize, i64) -> Option<i64>,
    ) -> io::Result<u64> {
        let source = match File::open(path) {
            // That is told, and the others have their times.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            source => source.map_err(|error| about("reading", path, &error))?,
        };
        let failed = |what, path: &Path, error: ParquetError| {
            about(what, path, &io::Error::other(plain(&error)))
        };
        let reading = |error| failed("reading", path, error);
        let reader = ParquetRecordBatchReaderBuilder::try_new(source).map_err(reading)?;
        let schema = Arc::clone(reader.schema());
        let new = hidden(path, "merge");
        let writing = |error| failed("writing", &new, error);
        let file = File::create(&new).map_err(|error| about("creating", &new, &error))?;
        self.0.push((new.clone(), path.to_owned()));
        let properties = properties(&schema, dataset.limits.row_group);
        let mut writer =
            ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties)).map_err(writing)?;
        let groups = reader.metadata().row_groups().iter();
        let lengths = groups.map(|group| group.total_byte_size() / group.num_rows().max(1));
        let longest = lengths.max().unwrap_or(0).max(1) as usize;
        let reader = reader.with_batch_size((BYTES / longest).clamp(1, BATCH));
        let (mut row, mut unmoved) = (0, 0);
        for batch in reader.build().map_err(reading)? {
            let batch = batch.map_err(|error| reading(error.into()))?;
            let (columns, count) = retimed(&batch, |index, time| moved(row + index, time));
            row += batch.num_rows();
            unmoved += count;
            let batch = RecordBatch::try_new(Arc::clone(&schema), columns);
            let batch = batch.map_err(|error| writing(error.into()))?;
            writer.write(&batch).map_err(writing)?;
            if writer.memory_size() > MEMORY {
                writer.flush().map_err(writing)?;
            }
        }
        writer.finish().map_err(writing)?;
        Ok(unmoved)
    }

    /// Puts them in the places of the old ones.
    ///
    /// # Errors
    /// What happened to which file. Those before it are placed.
    pub(super) fn place(mut self) -> io::Result<()> {
        while let Some((new, path)) = self.0.pop() {
            if let Err(error) = fs::rename(&new, &path) {
                let _ = fs::remove_file(&new);
                return Err(about("replacing", &path, &error));
            }
        }
        Ok(())
    }
}

impl Drop for NewParts {
    fn drop(&mut self) {
        for (new, _) in &self.0 {
            let _ = fs::remove_file(new);
        }
    }
}

/// The columns of a batch with other times, and how many rows keep one that is another by now. `moved`
/// has them by row of the batch.
fn retimed(batch: &RecordBatch, moved: impl Fn(usize, i64) -> Option<i64>) -> (Vec<ArrayRef>, u64) {
    let times = |name| {
        batch
            .column_by_name(name)
            .map(|c| c.as_primitive::<Int64Type>())
    };
    let starts = times("start_ns").or(times("time_ns"));
    let ends = times("end_ns");
    let (mut new_starts, mut new_ends) = (Vec::new(), Vec::new());
    let mut unmoved = 0;
    for row in 0..batch.num_rows() {
        let mut is_moved = true;
        let mut move_time = |time: i64| {
            let new = moved(row, time);
            is_moved &= new.is_some();
            new.unwrap_or(time)
        };
        let at = |times: Option<&Int64Array>| {
            times
                .filter(|times| times.is_valid(row))
                .map(|times| times.value(row))
        };
        let start = at(starts).map(&mut move_time);
        // It may have begun before more was known of its clock.
        let end = at(ends).map(&mut move_time).max(at(ends).and(start));
        new_starts.push(start);
        new_ends.push(end);
        unmoved += u64::from(!is_moved);
    }
    let (starts, ends) = (Int64Array::from(new_starts), Int64Array::from(new_ends));
    let (starts, ends): (ArrayRef, ArrayRef) = (Arc::new(starts), Arc::new(ends));
    let schema = batch.schema();
    let columns = schema.fields().iter().zip(batch.columns());
    let columns = columns.map(|(field, column)| match &**field.name() {
        "start_ns" | "time_ns" => Arc::clone(&starts),
        "end_ns" => Arc::clone(&ends),
        _ => Arc::clone(column),
    });
    (columns.collect(), unmoved)
}
