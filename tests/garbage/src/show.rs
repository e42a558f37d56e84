//! What a run does, for who looks for what broke.

use std::sync::LazyLock;

use nvtxw_abi::raw::nvtxPayloadData_t;

use crate::payload::Piece;
use crate::schema::Made;

/// Writes a line to standard error, if `NVTXW_SHOW` is set.
pub fn show(line: impl FnOnce() -> String) {
    static IS_ON: LazyLock<bool> = LazyLock::new(|| std::env::var_os("NVTXW_SHOW").is_some());
    if *IS_ON {
        eprintln!("{}", line());
    }
}

/// A schema, with its entries.
pub fn schema(made: &Made) -> String {
    let mut text = format!("schema of type {}, flags {:#x}", made.kind, made.flags);
    for (index, entry) in made.entries.iter().enumerate() {
        text += &format!(
            "\n  {index}: flags {:#x}, type {}, detail {}, offset {}",
            entry.flags, entry.r#type, entry.arrayOrUnionDetail, entry.offset
        );
    }
    text
}

pub fn payload(payload: &nvtxPayloadData_t) -> String {
    let (schema, size) = (payload.schemaId, payload.size);
    format!(
        "payload of schema {schema}, {size} bytes at {:?}",
        payload.payload
    )
}

pub fn piece(piece: Piece) -> String {
    format!("bytes at {:?}: {:02x?}", piece.start, piece.bytes())
}
