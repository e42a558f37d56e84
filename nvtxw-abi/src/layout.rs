//! The ABI as data: every layout, constant and function type of [`raw`] by its C name.
//!
//! The macros that define the items also write these tables, so that a comparison with another
//! description of the ABI (the C headers, a generated binding) can't miss an item or read a stale
//! value.
//!
//! ```
//! use nvtxw_abi::layout::layouts;
//!
//! let batch = layouts().find(|layout| layout.name == "nvtxEventBatch_t").unwrap();
//! assert_eq!((batch.size, batch.align), (64, 8));
//! assert_eq!(batch.fields[2].name, "events");
//! assert_eq!(batch.fields[2].offset, 16);
//! ```

use crate::raw;

/// One field of a struct or a union.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The field's C name.
    pub name: &'static str,
    /// Bytes from the start of the struct.
    pub offset: usize,
    /// Size in bytes.
    pub size: usize,
    /// The Rust type as written in the definition.
    pub rust_type: &'static str,
}

/// The layout of one struct or union.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The C name of the type.
    pub name: &'static str,
    /// Size in bytes.
    pub size: usize,
    /// Alignment in bytes.
    pub align: usize,
    /// The fields in the order of their declaration.
    pub fields: &'static [Field],
}

/// The value of a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// An integer of any of the ABI's integer types.
    Int(i128),
    /// A name or a part of a name.
    Text(&'static str),
}

/// One constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constant {
    /// The C name of the constant.
    pub name: &'static str,
    /// Its value.
    pub value: Value,
}

/// The type of one function: a member of the table, or an export of a backend library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// The member's name, or the C name of the function's type.
    pub name: &'static str,
    /// Name and Rust type of each parameter, in order.
    pub parameters: &'static [(&'static str, &'static str)],
    /// The Rust type of the result, `()` for none.
    pub returns: &'static str,
}

/// All structs and unions.
pub fn layouts() -> impl Iterator<Item = &'static Layout> {
    [
        raw::session::LAYOUTS,
        raw::table::LAYOUTS,
        raw::payload::LAYOUTS,
        raw::schema::LAYOUTS,
        raw::scope::LAYOUTS,
        raw::time::LAYOUTS,
        raw::counter::LAYOUTS,
        raw::semantics::LAYOUTS,
        raw::resource::LAYOUTS,
        raw::event::LAYOUTS,
    ]
    .into_iter()
    .flatten()
}

/// All constants.
pub fn constants() -> impl Iterator<Item = &'static Constant> {
    [
        raw::loading::CONSTANTS,
        raw::loading::NAMES,
        raw::session::CONSTANTS,
        raw::entry::CONSTANTS,
        raw::schema::CONSTANTS,
        raw::payload::CONSTANTS,
        raw::scope::CONSTANTS,
        raw::time::CONSTANTS,
        raw::counter::CONSTANTS,
        raw::semantics::CONSTANTS,
        raw::resource::CONSTANTS,
        raw::event::CONSTANTS,
    ]
    .into_iter()
    .flatten()
}

/// The table's 21 members in order, then the two exports.
pub fn functions() -> impl Iterator<Item = &'static Function> {
    [raw::table::MEMBERS, raw::loading::EXPORTS]
        .into_iter()
        .flatten()
}
