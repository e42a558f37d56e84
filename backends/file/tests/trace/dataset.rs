//! Reads datasets of the format `parquet`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Schema};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

/// What readers of a dataset find in a table: complete parts only.
pub struct Rows {
    pub schema: Arc<Schema>,
    pub rows: Vec<Value>,
    /// Rows of each row group of each part.
    pub groups: Vec<Vec<usize>>,
}

pub fn parts(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            found.extend(parts(&path));
        } else if name.ends_with(".parquet") {
            assert!(name.starts_with("part-"), "{name}");
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The rows of the parts in a folder and below.
pub fn read(folder: impl AsRef<Path>) -> Rows {
    let mut all = Rows {
        schema: Arc::new(Schema::empty()),
        rows: Vec::new(),
        groups: Vec::new(),
    };
    for part in parts(folder.as_ref()) {
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(part).unwrap()).unwrap();
        let groups = reader.metadata().row_groups().iter();
        (all.groups).push(groups.map(|group| group.num_rows() as usize).collect());
        all.schema = Arc::clone(reader.schema());
        for batch in reader.build().unwrap() {
            let batch = batch.unwrap();
            for row in 0..batch.num_rows() {
                let fields = batch.schema();
                let columns = fields.fields().iter().zip(batch.columns());
                let cells =
                    columns.map(|(field, column)| (field.name().clone(), cell(column, row)));
                all.rows.push(cells.collect());
            }
        }
    }
    all
}

fn cell(array: &ArrayRef, row: usize) -> Value {
    use DataType::*;
    if array.is_null(row) {
        return Value::Null;
    }
    match array.data_type() {
        Boolean => array.as_boolean().value(row).into(),
        Int8 => array.as_primitive::<Int8Type>().value(row).into(),
        Int16 => array.as_primitive::<Int16Type>().value(row).into(),
        Int32 => array.as_primitive::<Int32Type>().value(row).into(),
        Int64 => array.as_primitive::<Int64Type>().value(row).into(),
        UInt8 => array.as_primitive::<UInt8Type>().value(row).into(),
        UInt16 => array.as_primitive::<UInt16Type>().value(row).into(),
        UInt32 => array.as_primitive::<UInt32Type>().value(row).into(),
        UInt64 => array.as_primitive::<UInt64Type>().value(row).into(),
        Float32 => match array.as_primitive::<Float32Type>().value(row) {
            value if value.is_finite() => value.into(),
            value => value.to_string().into(),
        },
        Float64 => match array.as_primitive::<Float64Type>().value(row) {
            value if value.is_finite() => value.into(),
            value => value.to_string().into(),
        },
        Utf8 => array.as_string::<i32>().value(row).into(),
        Binary => array.as_binary::<i32>().value(row).into(),
        Dictionary(..) => {
            let array = array.as_any_dictionary();
            cell(array.values(), array.normalized_keys()[row])
        }
        List(_) => items(&array.as_list::<i32>().value(row)),
        FixedSizeList(..) => items(&array.as_fixed_size_list().value(row)),
        Struct(fields) => {
            let columns = fields.iter().zip(array.as_struct().columns());
            let cells = columns.map(|(field, column)| (field.name().clone(), cell(column, row)));
            cells.collect()
        }
        other => panic!("{other}"),
    }
}

fn items(array: &ArrayRef) -> Value {
    (0..array.len()).map(|item| cell(array, item)).collect()
}
