//! Predefined types as the schemas of payloads.

use std::sync::{Arc, OnceLock};

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

/// The schemas of payloads that have none of their own, each made when it is first used. Every domain has its own, so that
/// they are freed with it.
#[derive(Default)]
pub(crate) struct Predefined {
    /// By the type's number.
    types: OnceLock<Box<[TypeSchema]>>,
    blob: OnceLock<Arc<Schema>>,
    raw: OnceLock<Arc<Schema>>,
}

/// The schema of a type, once it was asked for.
type TypeSchema = OnceLock<Result<Arc<Schema>>>;

impl Predefined {
    /// The schema of payloads that are values of a predefined type, or text. Its one field is called `value`.
    pub(crate) fn schema(&self, number: u64) -> Result<&Arc<Schema>> {
        let types = self.types.get_or_init(|| {
            let numbers = EntryType::ALL.iter().map(|ty| ty.to_raw());
            let greatest = numbers.max().unwrap_or_default();
            (0..=greatest).map(|_| OnceLock::new()).collect()
        });
        let known = usize::try_from(number).ok();
        match known.and_then(|number| types.get(number)) {
            Some(schema) => schema
                .get_or_init(|| match EntryType::from_raw(number) {
                    Some(ty) => one_entry(ty, "value").map(Arc::new),
                    None => Err(no_type(number)),
                })
                .as_ref()
                .map_err(Clone::clone),
            None => Err(no_type(number)),
        }
    }

    /// A payload that has no fields: other payloads may refer to its bytes.
    pub(crate) fn blob<'a>(&'a self, bytes: &'a [u8]) -> Payload<'a> {
        let schema = self.blob.get_or_init(|| {
            let mut schema = one_entry(EntryType::Byte, "value").expect("a byte is decoded");
            schema.fields = [].into();
            Arc::new(schema)
        });
        Payload {
            schema,
            bytes,
            count: None,
        }
    }

    /// A payload of bytes of no known meaning. Its one field is called `raw`.
    pub(crate) fn raw<'a>(&'a self, bytes: &'a [u8]) -> Payload<'a> {
        let schema = self.raw.get_or_init(|| {
            let mut schema = one_entry(EntryType::Byte, "raw").expect("a byte is decoded");
            schema.id = NVTX_TYPE_PAYLOAD_SCHEMA_RAW;
            Arc::new(schema)
        });
        Payload {
            schema,
            bytes,
            count: Some(bytes.len()),
        }
    }
}

#[cold]
fn no_type(number: u64) -> Refusal {
    Refusal::invalid(format!(
        "{number} is no predefined type; schemas have IDs from 2^24 on: register one, and use the ID it gets"
    ))
}

/// A field of a predefined type.
pub(crate) fn field(ty: EntryType, name: &str) -> Result<Field> {
    Ok(one_entry(ty, name)?.fields.into_vec().swap_remove(0))
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
