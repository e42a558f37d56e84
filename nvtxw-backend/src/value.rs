//! Values of fields, and who takes them.

use crate::enumeration::Enum;
use crate::schema::{Field, Schema};
use crate::string::Registered;
use crate::text::WideText;

/// The value of a field, or of one element of an array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A signed integer of up to 64 bits.
    I64(i64),
    /// An unsigned integer of up to 64 bits; sizes, process, thread and other IDs too.
    U64(u64),
    /// A signed integer of 128 bits.
    I128(i128),
    /// An unsigned integer of 128 bits.
    U128(u128),
    /// A floating-point number of up to 32 bits. NaN and infinities are values like others.
    F32(f32),
    /// A floating-point number of 64 bits. Wider ones become the nearest.
    F64(f64),
    /// A character's code unit: of 8, 16 or 32 bits, maybe not a character by itself.
    Char(u32),
    /// An address.
    Address(u64),
    /// Text of bytes, where the producer has it, without the null that may end it. Meant to be UTF-8; it may not be.
    Text(&'a [u8]),
    /// Text of wider code units.
    Wide(WideText<'a>),
    /// A registered string; `None` if there is none.
    Registered(Option<Registered<'a>>),
    /// A value of an enum.
    Enum {
        /// The value; of the enum's bytes the rest is zero.
        value: u64,
        /// The enum, which may have a [name](Enum::find) for it.
        meaning: &'a Enum,
    },
    /// Bytes of no known meaning.
    Bytes(&'a [u8]),
}

/// Takes the values of a payload, in the order of its fields.
///
/// An array comes as `begin_array`, its elements, `end_array`; a struct as `begin_struct`, its fields, `end_struct`; in an
/// array of structs each element does. The elements of an array with more dimensions are arrays themselves. A union comes as a
/// struct with the one field that is stored. What is behind a null pointer does not come.
pub trait Visitor {
    /// A value, or one element of an array. An array of bytes, and text, come as one value.
    fn value(&mut self, field: &Field, value: Value<'_>);

    /// `len` elements of `field` follow.
    fn begin_array(&mut self, field: &Field, len: usize);

    /// The elements of `field` are through.
    fn end_array(&mut self, field: &Field);

    /// The fields of a struct follow; `field` is what holds it.
    fn begin_struct(&mut self, field: &Field, schema: &Schema);

    /// The struct is through.
    fn end_struct(&mut self, field: &Field);
}
