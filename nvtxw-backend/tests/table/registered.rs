//! Schemas as the backend sees them.

use std::sync::Arc;

use nvtxw_abi::raw::*;
use nvtxw_backend::Schema;

use crate::program::*;

/// Registers a schema, and returns it as the backend sees it.
pub fn register(attr: &nvtxPayloadSchemaAttr_t) -> Outcome<Arc<Schema>> {
    let program = Program::new();
    let (_, domain, _) = program.ready();
    let id = program.schema(domain, attr)?;
    Ok(program
        .journal
        .domain()
        .schema(id)
        .expect("a registered schema"))
}

pub fn offsets(schema: &Schema) -> Vec<usize> {
    schema.fields().iter().map(|field| field.offset()).collect()
}

#[track_caller]
pub fn assert_schema_invalid(attr: &nvtxPayloadSchemaAttr_t, reason: &str) {
    assert_invalid(register(attr), &format!("SchemaRegister on \"\": {reason}"));
}
