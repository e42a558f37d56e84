//! The values of a payload as its schema describes them.

use nvtxw_abi::{EntryType, raw};
use serde_json::{Map, Value, json};

use crate::recording::{Domain, Entry};
use crate::{read, symbol};

/// The values of the payload by the names of the entries; `None` if its layout is not fixed.
///
/// Offsets refer into `flex`.
pub(crate) fn payload(domain: &Domain, schema: u64, bytes: &[u8], flex: &[u8]) -> Option<Value> {
    let Some(schema) = domain.schemas.get(&schema) else {
        let ty = EntryType::from_raw(schema)?;
        return (ty.layout()?.0 == bytes.len()).then(|| scalar(domain, ty, bytes));
    };
    if !schema.is_static {
        return None;
    }
    let Some(entries) = &schema.entries else {
        return (bytes.len() == schema.size).then(|| unsigned(bytes));
    };
    let mut values = Map::new();
    for (index, entry) in entries.iter().enumerate() {
        if index > 0 && entry.offset == 0 {
            return None;
        }
        let next = entries
            .get(index + 1)
            .map_or(schema.size, |next| next.offset as usize);
        let field = bytes.get(entry.offset as usize..)?;
        let value = if entry.flags & raw::NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE != 0 {
            flexible(entries, entry, bytes, flex)
        } else {
            value(domain, entry, field)
        };
        let value =
            value.unwrap_or_else(|| json!(symbol::hex(&bytes[entry.offset as usize..next])));
        values.insert(entry.name.clone(), value);
    }
    Some(Value::Object(values))
}

/// The bytes of a payload, with 0xFF for those of pointers: where these lead to is another place each time.
pub(crate) fn lasting(domain: &Domain, schema: u64, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let known = domain.schemas.get(&schema);
    let entries = known.and_then(|schema| schema.entries.as_deref());
    for entry in entries.into_iter().flatten().filter(|entry| points(entry)) {
        let at = entry.offset as usize;
        if let Some(pointer) = bytes.get_mut(at..at + size_of::<u64>())
            && pointer.iter().any(|byte| *byte != 0)
        {
            pointer.fill(0xFF);
        }
    }
    bytes
}

/// Whether the entry's bytes are those of a pointer.
fn points(entry: &Entry) -> bool {
    let flags = entry.flags;
    let is_text = matches!(
        entry.ty,
        raw::NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8 | raw::NVTX_PAYLOAD_ENTRY_TYPE_CSTRING
    );
    let offsets = raw::NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE
        | raw::NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE
        | raw::NVTX_PAYLOAD_ENTRY_FLAG_IS_ARRAY;
    flags & raw::NVTX_PAYLOAD_ENTRY_FLAG_POINTER != 0
        || is_text && entry.detail == 0 && flags & offsets == 0
}

/// What the entry's pointer leads to: text up to its null, or as many elements of a fixed size as the entry says.
fn pointee(domain: &Domain, entry: &Entry, bytes: &[u8]) -> Option<Value> {
    let address = word(bytes.get(..size_of::<u64>())?) as usize;
    let start = std::ptr::with_exposed_provenance::<std::ffi::c_char>(address);
    if start.is_null() {
        return Some(Value::Null);
    }
    let element = Entry {
        flags: entry.flags & raw::NVTX_PAYLOAD_ENTRY_FLAG_IS_ARRAY,
        name: String::new(),
        ..*entry
    };
    if points(&element) {
        return read::text(start).map(Value::String);
    }
    let count = match element.flags {
        0 => 1,
        raw::NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE => entry.detail as usize,
        _ => return None,
    };
    let all = read::bytes(start.cast(), domain.size(entry.ty)? * count);
    value(domain, &element, all)
}

/// The text of a payload that is nothing else.
pub(crate) fn text(domain: &Domain, schema: u64, bytes: &[u8]) -> Option<Value> {
    let [entry] = domain.schemas.get(&schema)?.entries.as_deref()? else {
        return None;
    };
    let style = entry.flags & raw::NVTX_PAYLOAD_ENTRY_FLAG_IS_ARRAY;
    let is_text = style == raw::NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED
        && entry.ty == raw::NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8;
    let end = bytes
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(bytes.len());
    is_text.then(|| json!(String::from_utf8_lossy(&bytes[..end])))
}

/// The entry's value, which `bytes` begins with.
fn value(domain: &Domain, entry: &Entry, bytes: &[u8]) -> Option<Value> {
    if points(entry) {
        return pointee(domain, entry, bytes);
    }
    if entry.flags & raw::NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE != 0 {
        return None;
    }
    let style = entry.flags & raw::NVTX_PAYLOAD_ENTRY_FLAG_IS_ARRAY;
    if matches!(
        entry.ty,
        raw::NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8 | raw::NVTX_PAYLOAD_ENTRY_TYPE_CSTRING
    ) {
        let text = bytes.get(..entry.detail as usize)?;
        let end = text
            .iter()
            .position(|&byte| byte == 0)
            .unwrap_or(text.len());
        return (style == 0).then(|| json!(String::from_utf8_lossy(&text[..end])));
    }
    let size = domain.size(entry.ty)?;
    let one = |bytes: &[u8]| payload(domain, entry.ty, bytes, &[]);
    match style {
        0 => one(bytes.get(..size)?),
        raw::NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE => bytes
            .get(..size * entry.detail as usize)?
            .chunks_exact(size)
            .map(one)
            .collect::<Option<Vec<_>>>()
            .map(Value::Array),
        _ => None,
    }
}

/// Text in `flex`, whose length is in an earlier entry of the payload.
fn flexible(entries: &[Entry], entry: &Entry, bytes: &[u8], flex: &[u8]) -> Option<Value> {
    let has_length = entry.flags & raw::NVTX_PAYLOAD_ENTRY_FLAG_IS_ARRAY
        == raw::NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX;
    if !has_length || entry.ty != raw::NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8 {
        return None;
    }
    let number = |entry: &Entry| {
        let at = entry.offset as usize;
        Some(word(bytes.get(at..at + size_of::<u64>())?) as usize)
    };
    let (start, len) = (number(entry)?, number(entries.get(entry.detail as usize)?)?);
    Some(json!(String::from_utf8_lossy(
        flex.get(start..start.checked_add(len)?)?
    )))
}

/// A value of a predefined type, of which `bytes` are the bytes.
fn scalar(domain: &Domain, ty: EntryType, bytes: &[u8]) -> Value {
    match ty {
        EntryType::RegisteredString => domain.string(word(bytes) as usize),
        EntryType::ScopeId => json!(domain.scope(word(bytes) as u64)),
        EntryType::ColorArgb => json!(format!("{:#010x}", word(bytes))),
        EntryType::Float | EntryType::Float32 => float(f32::from_bits(word(bytes) as u32).into()),
        EntryType::Double | EntryType::Float64 => float(f64::from_bits(word(bytes) as u64)),
        EntryType::Char
        | EntryType::Short
        | EntryType::Int
        | EntryType::Long
        | EntryType::LongLong
        | EntryType::Int8
        | EntryType::Int16
        | EntryType::Int32
        | EntryType::Int64
        | EntryType::Int128 => {
            let unused = 128 - 8 * bytes.len() as u32;
            let number = ((word(bytes) << unused) as i128) >> unused;
            i64::try_from(number).map_or_else(|_| json!(number.to_string()), |number| json!(number))
        }
        _ => unsigned(bytes),
    }
}

fn unsigned(bytes: &[u8]) -> Value {
    let number = word(bytes);
    u64::try_from(number).map_or_else(|_| json!(number.to_string()), |number| json!(number))
}

/// JSON has no NaN and no infinities.
fn float(number: f64) -> Value {
    if number.is_finite() {
        json!(number)
    } else {
        json!(number.to_string())
    }
}

/// The bytes as a number.
fn word(bytes: &[u8]) -> u128 {
    let mut word = [0; 16];
    word[..bytes.len()].copy_from_slice(bytes);
    u128::from_le_bytes(word)
}
