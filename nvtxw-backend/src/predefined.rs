//! Predefined types as the schemas of payloads.

use std::sync::{Arc, LazyLock};

use nvtxw_abi::EntryType;
use nvtxw_abi::raw::{
    NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED, NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC,
    NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, NVTX_TYPE_PAYLOAD_SCHEMA_RAW,
};

use crate::domain::Domain;
use crate::event::Payload;
use crate::finalise::finalise;
use crate::refusal::{Refusal, Result};
use crate::schema::{Field, Schema};
use crate::spec::{EntrySpec, SchemaSpec};

/// By the type's number.
static SCHEMAS: LazyLock<Vec<Option<Result<Arc<Schema>>>>> = LazyLock::new(|| {
    let greatest = EntryType::ALL
        .iter()
        .map(|ty| ty.to_raw())
        .max()
        .unwrap_or_default();
    (0..=greatest)
        .map(|number| EntryType::from_raw(number).map(|ty| one_entry(ty, "value").map(Arc::new)))
        .collect()
});

/// The schema of payloads that are values of a predefined type, or text. Its one field is called `value`.
pub(crate) fn schema(number: u64) -> Result<&'static Arc<Schema>> {
    let known = usize::try_from(number)
        .ok()
        .and_then(|number| SCHEMAS.get(number));
    match known {
        Some(Some(Ok(schema))) => Ok(schema),
        Some(Some(Err(refusal))) => Err(refusal.clone()),
        _ => Err(Refusal::invalid(format!(
            "{number} is no predefined type; schemas have IDs from 2^24 on: register one, and use the ID it gets"
        ))),
    }
}

/// A field of a predefined type.
pub(crate) fn field(ty: EntryType, name: &str) -> Result<Field> {
    Ok(one_entry(ty, name)?.fields.into_vec().swap_remove(0))
}

/// A payload that has no fields: other payloads may refer to its bytes.
pub(crate) fn blob(bytes: &[u8]) -> Payload<'_> {
    static BLOB: LazyLock<Arc<Schema>> = LazyLock::new(|| {
        let mut schema = one_entry(EntryType::Byte, "value").expect("a byte is decoded");
        schema.fields = [].into();
        Arc::new(schema)
    });

    Payload {
        schema: &BLOB,
        bytes,
        count: None,
    }
}

/// A payload of bytes of no known meaning. Its one field is called `raw`.
pub(crate) fn raw(bytes: &[u8]) -> Payload<'_> {
    static RAW: LazyLock<Arc<Schema>> = LazyLock::new(|| {
        let mut schema = one_entry(EntryType::Byte, "raw").expect("a byte is decoded");
        schema.id = NVTX_TYPE_PAYLOAD_SCHEMA_RAW;
        Arc::new(schema)
    });

    Payload {
        schema: &RAW,
        bytes,
        count: Some(bytes.len()),
    }
}

fn one_entry(ty: EntryType, name: &str) -> Result<Schema> {
    let (kind, flags) = match ty.is_string() {
        true => (
            NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC,
            NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED,
        ),
        false => (NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, 0),
    };
    let entry = EntrySpec {
        flags,
        ty: ty.to_raw(),
        name: Some(name.into()),
        ..EntrySpec::default()
    };
    let spec = SchemaSpec {
        kind,
        entries: vec![entry],
        ..SchemaSpec::default()
    };
    let mut schema = finalise(&spec, &Domain::new(None, 0, 0, None))?;
    schema.id = ty.to_raw();
    Ok(schema)
}
