//! What generated code names, and nobody else should.

pub use std::convert::{From, Into};
pub use std::ffi::c_int;
pub use std::marker::Copy;
pub use std::mem::{offset_of, size_of};
pub use std::ops::BitOr;
pub use std::option::Option;
pub use std::primitive::{bool, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, usize};

pub use nvtxw_abi::{EventKind, Interpolation, Limit, SchemaRole, TimestampType, ValueType};

pub use crate::derived::{
    CompleteEvent, EmbeddedTime, FixedEvent, FlexEvent, NvtxCounterGroup, NvtxEnum, NvtxEvent,
    NvtxFlags, NvtxPayload, SeparateTime,
};
pub use crate::field::{
    CategoryField, ColorField, CorrelationField, CounterField, FieldType, FlexField, MessageField,
    Newtype, NvtxField, RangeIdField, ScopeField, SkippedField, Storage, StringField, TextField,
    TimestampField, TypeCode,
};
pub use crate::flags::Flags;
pub use crate::layout::{Extent, tie};
pub use crate::table::{Entry, EnumTable, Number, SchemaTable, Semantics};
