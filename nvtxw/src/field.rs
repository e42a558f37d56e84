//! The types that fields of events and counter groups can have.

use std::marker::PhantomData;

use nvtxw_abi::{EntryPurpose, EntryRole, EntryType, TimestampRole};

#[cfg(feature = "derive")]
pub use nvtxw_derive::NvtxField;

use crate::derived::{NvtxEnum, NvtxPayload};
use crate::flags::Flags;
use crate::flex::FlexStr;
use crate::layout;
use crate::{Argb, CategoryId, Error, RangeId, Registrar, ScopeId, StringHandle};

/// A type that a field of an event can have.
///
/// | type | shown as |
/// |---|---|
/// | `i8`…`i128`, `u8`…`u128`, `usize`, `f32`, `f64` | numbers |
/// | `half::f16`, `half::bf16` (feature `half`) | numbers |
/// | `bool` | `false`, `true` |
/// | `char` | a character |
/// | `*const T` | an address; nothing is read there |
/// | [`StringHandle`] | registered text |
/// | [`Argb`], [`CategoryId`], [`RangeId`], [`ScopeId`] | numbers, unless an attribute says what they are |
/// | structs that derive [`NvtxPayload`](trait@crate::NvtxPayload) | structs |
/// | enums that derive [`NvtxEnum`](trait@crate::NvtxEnum), and [`Flags`](crate::Flags) of them | the names of the values |
/// | arrays of all these | arrays; those of arrays as one |
/// | structs that derive `NvtxField` | what they wrap |
///
/// `#[derive(NvtxField)]` makes a struct around one such type a field type of its own, which can be in every role that the
/// wrapped type can be in:
///
/// ```
/// # #[cfg(feature = "derive")] {
/// use nvtxw::{NvtxEvent, NvtxField};
///
/// #[derive(NvtxField, Clone, Copy, PartialEq, PartialOrd)]
/// #[repr(transparent)]
/// struct Cycles(i64);
///
/// #[derive(NvtxEvent, Clone, Copy)]
/// #[repr(C)]
/// #[nvtx(kind = range_pushpop)]
/// struct Stall {
///     #[nvtx(timestamp_start)]
///     start: Cycles,
///     #[nvtx(timestamp_end)]
///     end: Cycles,
/// }
/// # let _ = Stall { start: Cycles(3), end: Cycles(5) };
/// # }
/// ```
///
/// # Safety
///
/// Every byte of every value is initialised: the type has no padding. `TYPE` describes its bytes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a field of an event or a counter group",
    label = "not a type that a trace can hold",
    note = "fields are numbers (all but `isize`), `bool`, `char`, `*const T`, `StringHandle`, `Argb`, `CategoryId`, `RangeId`, \
            `ScopeId` and arrays of them; derive `NvtxPayload` for a struct, `NvtxEnum` for an enum and `NvtxField` for a newtype",
    note = "for text, register it with `Domain::string` and store its `StringHandle`, or mark a `FlexStr` with \
            `#[nvtx(flex)]` or a `[u8; N]` with `#[nvtx(string)]`",
    note = "a value that some events lack is no `Option`: write it beside those that have it, as a payload or a record with \
            `EventWriter::write_with`"
)]
pub unsafe trait NvtxField: Copy + 'static {
    /// How a value lies in memory.
    #[doc(hidden)]
    const TYPE: FieldType;

    /// A field that is data and nothing else.
    #[doc(hidden)]
    const PLAIN: Storage = Storage::with_role(Self::TYPE, EntryRole::None);
}

/// How a field's value lies in memory.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct FieldType {
    /// The type of the value, or of the elements.
    pub code: TypeCode,
    /// The number of elements of an array; arrays of arrays count as one.
    pub count: Option<usize>,
}

/// The type of an entry.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum TypeCode {
    /// One that every backend knows.
    Predefined(EntryType),
    /// One that each domain registers; the function does, once, and returns the ID.
    Registered(fn(&mut Registrar<'_>) -> Result<u64, Error>),
}

/// How a field is stored in its role.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Storage {
    pub(crate) ty: FieldType,
    pub(crate) role_flags: u64,
    pub(crate) entry_type: Option<EntryType>,
}

impl FieldType {
    const fn predefined(code: EntryType) -> Self {
        Self {
            code: TypeCode::Predefined(code),
            count: None,
        }
    }

    /// Whether it is text, whose count is that of its bytes.
    pub(crate) fn is_text(self) -> bool {
        matches!(self.code, TypeCode::Predefined(EntryType::CStringUtf8))
    }

    /// A struct around a value of the type `inner`.
    #[track_caller]
    pub const fn newtype<T: Newtype>(inner: Self) -> Self {
        layout::assert_size("the newtype", size_of::<T>(), size_of::<T::Inner>());
        inner
    }

    /// A struct inside the struct.
    pub const fn payload<P: NvtxPayload>() -> Self {
        let () = P::CHECK;
        Self {
            code: TypeCode::Registered(|registrar| registrar.payload::<P>()),
            count: None,
        }
    }

    /// An enum's value.
    #[track_caller]
    pub const fn enumeration<E: NvtxEnum>() -> Self {
        layout::assert_size("the enum", size_of::<E>(), size_of::<E::Bits>());
        Self {
            code: TypeCode::Registered(|registrar| registrar.enumeration::<E>()),
            count: None,
        }
    }
}

impl Storage {
    const fn with_role(ty: FieldType, role: EntryRole) -> Self {
        Self {
            ty,
            role_flags: role.flags(),
            entry_type: None,
        }
    }

    const fn as_attribute(ty: FieldType, entry_type: EntryType) -> Self {
        Self {
            ty,
            role_flags: 0,
            entry_type: Some(entry_type),
        }
    }

    /// UTF-8 of `len` bytes, or of as many as another entry says.
    const fn text(len: Option<usize>, role: EntryRole) -> Self {
        let ty = FieldType {
            code: TypeCode::Predefined(EntryType::CStringUtf8),
            count: len,
        };
        Self::with_role(ty, role)
    }

    const fn timestamp(ty: FieldType, role: TimestampRole) -> Self {
        Self::with_role(ty, EntryRole::Timestamp(role))
    }
}

macro_rules! predefined {
    ($($code:ident: $($ty:ty)*;)*) => { $($(
        // SAFETY:
        // - A primitive number, or a transparent wrapper of one, has no padding.
        // - The code is that number's.
        #[diagnostic::do_not_recommend]
        unsafe impl NvtxField for $ty {
            const TYPE: FieldType = FieldType::predefined(EntryType::$code);
        }
    )*)* };
}

predefined! {
    Int8: i8;
    Int16: i16;
    Int32: i32;
    Int64: i64;
    Int128: i128;
    UInt8: u8;
    UInt16: u16;
    UInt32: u32 Argb CategoryId;
    UInt64: u64 RangeId ScopeId;
    UInt128: u128;
    Size: usize;
    Float32: f32;
    Float64: f64;
    Char32: char;
    RegisteredString: StringHandle;
}

#[cfg(feature = "half")]
predefined! {
    Float16: half::f16;
    BFloat16: half::bf16;
}

// SAFETY:
// - A pointer to a sized type is an address and no more, all bytes of it initialised.
// - The code is that of an address which is shown and not followed.
#[diagnostic::do_not_recommend]
unsafe impl<T: 'static> NvtxField for *const T {
    const TYPE: FieldType = FieldType::predefined(EntryType::Address);
}

// SAFETY:
// - The struct is an integer of the enum's size, which has no padding.
// - The enum describes values of that size.
#[diagnostic::do_not_recommend]
unsafe impl<E: NvtxEnum> NvtxField for Flags<E> {
    const TYPE: FieldType = FieldType::enumeration::<E>();
}

// SAFETY:
// - A `bool` is one byte, 0 or 1.
// - The enum describes those two values of one byte.
#[diagnostic::do_not_recommend]
unsafe impl NvtxField for bool {
    const TYPE: FieldType = FieldType {
        code: TypeCode::Registered(|registrar| registrar.bool_enum()),
        count: None,
    };
}

// SAFETY:
// - An array is its elements one after the other, and they have no padding.
// - The code is the elements', and the count multiplies through arrays of arrays.
#[diagnostic::do_not_recommend]
unsafe impl<T: NvtxField, const N: usize> NvtxField for [T; N] {
    const TYPE: FieldType = FieldType {
        code: T::TYPE.code,
        count: match T::TYPE.count {
            Some(inner) => Some(inner * N),
            None => Some(N),
        },
    };
}

/// A struct that is one field type with another name, and stands wherever that one can.
///
/// # Safety
///
/// The struct is `repr(transparent)` around `Inner`.
#[doc(hidden)]
pub unsafe trait Newtype: NvtxField {
    /// What it wraps.
    type Inner;
}

/// Declares a role: a trait for the types that can be stored in it, and a constant for each way.
macro_rules! roles {
    ($(
        $(#[$doc:meta])*
        $name:ident for ($($ty:ty $(, if $feature:literal)?;)*) { $($(#[$constant_doc:meta])* $constant:ident = $storage:expr;)* }
    )*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// The type's bytes are those of one of the types that this crate implements the trait for.
        pub unsafe trait $name: NvtxField {
            $(
                $(#[$constant_doc])*
                #[doc(hidden)]
                const $constant: Storage = $storage;
            )*
        }

        $(
            $(#[cfg(feature = $feature)])?
            // SAFETY:
            // - It is that type.
            #[diagnostic::do_not_recommend]
            unsafe impl $name for $ty {}
        )*

        // SAFETY:
        // - The bytes are those of what it wraps.
        #[diagnostic::do_not_recommend]
        unsafe impl<T: Newtype<Inner: $name>> $name for T {}
    )* };
}

roles! {
    /// A type that a timestamp can have: `i64` or `u64`, in ticks of the stream's time domain.
    #[diagnostic::on_unimplemented(
        message = "a timestamp is an `i64` or a `u64`, not `{Self}`",
        label = "not a 64-bit integer",
        note = "it counts ticks of the stream's clock, nanoseconds if none is known: convert the time to that"
    )]
    TimestampField for (i64; u64;) {
        /// When a mark happens.
        MARK = Storage::timestamp(Self::TYPE, TimestampRole::Mark);
        /// When a range starts.
        RANGE_BEGIN = Storage::timestamp(Self::TYPE, TimestampRole::RangeBegin);
        /// When a range ends.
        RANGE_END = Storage::timestamp(Self::TYPE, TimestampRole::RangeEnd);
        /// When a group of counters was sampled.
        SAMPLE = Storage::timestamp(Self::TYPE, TimestampRole::Plain);
    }

    /// A type that a range's id can have: [`RangeId`] or `u64`.
    #[diagnostic::on_unimplemented(
        message = "a range id is a `RangeId` or a `u64`, not `{Self}`",
        label = "not a range id"
    )]
    RangeIdField for (RangeId; u64;) {
        /// What joins the start of a range to its end.
        RANGE_ID = Storage::as_attribute(Self::TYPE, EntryType::RangeId);
    }

    /// A type that a message can have: [`StringHandle`].
    #[diagnostic::on_unimplemented(
        message = "a message is a `StringHandle`, not `{Self}`",
        label = "not the handle of a registered string",
        note = "register the text with `Domain::string` and store its `handle()`"
    )]
    MessageField for (StringHandle;) {
        /// The event's message.
        MESSAGE = Storage::with_role(Self::TYPE, EntryRole::Message);
    }

    /// A type that registered text can have: [`StringHandle`].
    #[diagnostic::on_unimplemented(
        message = "a registered string is a `StringHandle`, not `{Self}`",
        label = "not the handle of a registered string",
        note = "register the text with `Domain::string` and store its `handle()`"
    )]
    StringField for (StringHandle;) {
        /// Text.
        STRING = Storage::with_role(Self::TYPE, EntryRole::None);
    }

    /// A type that a color can have: [`Argb`] or `u32`.
    #[diagnostic::on_unimplemented(
        message = "a color is an `Argb` or a `u32`, not `{Self}`",
        label = "not a color of 32 bits"
    )]
    ColorField for (Argb; u32;) {
        /// The event's color.
        COLOR = Storage::as_attribute(Self::TYPE, EntryType::ColorArgb);
    }

    /// A type that a category can have: [`CategoryId`] or `u32`.
    #[diagnostic::on_unimplemented(
        message = "a category is a `CategoryId` or a `u32`, not `{Self}`",
        label = "not a category of 32 bits"
    )]
    CategoryField for (CategoryId; u32;) {
        /// The event's category.
        CATEGORY = Storage::as_attribute(Self::TYPE, EntryType::Category);
    }

    /// A type that a scope can have: [`ScopeId`] or `u64`.
    #[diagnostic::on_unimplemented(
        message = "a scope is a `ScopeId` or a `u64`, not `{Self}`",
        label = "not a scope of 64 bits",
        note = "register the scope with `Domain::scope` and store its `id()`"
    )]
    ScopeField for (ScopeId; u64;) {
        /// The scope that the event belongs to.
        SCOPE = Storage::as_attribute(Self::TYPE, EntryType::ScopeId);
    }

    /// A type that a correlation can have: `u64`, `i64` or `u32`.
    #[diagnostic::on_unimplemented(
        message = "a correlation is a `u64`, an `i64` or a `u32`, not `{Self}`",
        label = "not an integer that correlates"
    )]
    CorrelationField for (u64; i64; u32;) {
        /// What relates the event to others of the same number.
        CORRELATION = Storage::with_role(Self::TYPE, EntryRole::None);
    }

    /// A type that a counter of a group can have: an integer or a float.
    #[diagnostic::on_unimplemented(
        message = "a counter is an integer or a float, not `{Self}`",
        label = "not a number",
        note = "`#[nvtx(skip)]` keeps the bytes of a field out of the trace's counters"
    )]
    CounterField for (
        i8; i16; i32; i64; i128; u8; u16; u32; u64; u128; usize; f32; f64;
        half::f16, if "half"; half::bf16, if "half";
    ) {
        /// One counter's value.
        COUNTER = Storage::with_role(Self::TYPE, EntryRole::Purpose(EntryPurpose::Counter));
    }
}

/// A type that a field with `#[nvtx(skip)]` can have: a type of fields, or `PhantomData<T>`.
///
/// # Safety
///
/// Every byte of every value is initialised: the type has no padding.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a skipped field",
    label = "not a type that a trace can hold",
    note = "the bytes of a skipped field are written all the same: make it a type that other fields can have, such as \
            `[u8; N]`, or a `PhantomData<T>`"
)]
pub unsafe trait SkippedField: Copy + 'static {
    /// Names the trait in an expression.
    #[doc(hidden)]
    const SKIPPED: () = ();
}

// SAFETY:
// - A `NvtxField` has no padding.
#[diagnostic::do_not_recommend]
unsafe impl<T: NvtxField> SkippedField for T {}

// SAFETY:
// - It has no bytes.
#[diagnostic::do_not_recommend]
unsafe impl<T: ?Sized + 'static> SkippedField for PhantomData<T> {}

/// A type that text of a fixed size can have: `[u8; N]`, UTF-8 that ends before the first 0.
///
/// # Safety
///
/// The type's bytes are those of a `[u8; N]`, and `LEN` is its `N`.
#[diagnostic::on_unimplemented(
    message = "text inside the struct is a `[u8; N]`, not `{Self}`",
    label = "no bytes to hold text",
    note = "`#[nvtx(string)]` is for UTF-8 in a `[u8; N]`; registered text is a `StringHandle`, without `string`",
    note = "for an array of texts, derive `NvtxPayload` for a struct with one `#[nvtx(string)]` field of type `[u8; N]`, and \
            make the field an array of that struct, without `string`"
)]
pub unsafe trait TextField: NvtxField {
    /// How many bytes there are.
    #[doc(hidden)]
    const LEN: usize;
    /// Text.
    #[doc(hidden)]
    const TEXT: Storage = Storage::text(Some(Self::LEN), EntryRole::None);
    /// The event's message.
    #[doc(hidden)]
    const TEXT_MESSAGE: Storage = Storage::text(Some(Self::LEN), EntryRole::Message);
}

// SAFETY:
// - It is that type.
#[diagnostic::do_not_recommend]
unsafe impl<const N: usize> TextField for [u8; N] {
    const LEN: usize = N;
}

// SAFETY:
// - The bytes are those of what it wraps.
#[diagnostic::do_not_recommend]
unsafe impl<T: Newtype<Inner: TextField>> TextField for T {
    const LEN: usize = T::Inner::LEN;
}

/// The type that text in a pool has: [`FlexStr`].
///
/// # Safety
///
/// The type's bytes are those of a `FlexStr`.
#[diagnostic::on_unimplemented(
    message = "text in a pool is a `FlexStr`, not `{Self}`",
    label = "not a `FlexStr`",
    note = "make the field a `nvtxw::FlexStr`, or remove `flex`",
    note = "for several texts, give each a field of its own"
)]
pub unsafe trait FlexField: Copy + 'static {
    /// Text.
    #[doc(hidden)]
    const FLEX: Storage = Storage::text(None, EntryRole::None);
    /// The event's message.
    #[doc(hidden)]
    const FLEX_MESSAGE: Storage = Storage::text(None, EntryRole::Message);

    /// Whether the text lies within a pool of `pool` bytes.
    #[doc(hidden)]
    fn fits(self, pool: usize) -> bool;
}

// SAFETY:
// - It is that type.
#[diagnostic::do_not_recommend]
unsafe impl FlexField for FlexStr {
    #[inline]
    fn fits(self, pool: usize) -> bool {
        self.end().is_some_and(|end| end <= pool as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_of_arrays_are_flat() {
        assert_eq!(<u32 as NvtxField>::TYPE.count, None);
        assert_eq!(<[u32; 3] as NvtxField>::TYPE.count, Some(3));
        assert_eq!(<[[u32; 3]; 4] as NvtxField>::TYPE.count, Some(12));
        assert!(matches!(
            <[[u32; 3]; 4] as NvtxField>::TYPE.code,
            TypeCode::Predefined(EntryType::UInt32)
        ));
        assert!(matches!(
            <[bool; 2] as NvtxField>::TYPE.code,
            TypeCode::Registered(_)
        ));
    }

    #[test]
    fn codes_have_the_size_of_their_types() {
        fn check<T: NvtxField>() {
            let TypeCode::Predefined(code) = T::TYPE.code else {
                panic!("{} is registered", std::any::type_name::<T>())
            };
            assert_eq!(
                code.layout(),
                Some((size_of::<T>(), align_of::<T>())),
                "{}",
                std::any::type_name::<T>()
            );
        }
        check::<i8>();
        check::<i16>();
        check::<i32>();
        check::<i64>();
        check::<i128>();
        check::<u8>();
        check::<u16>();
        check::<u32>();
        check::<u64>();
        check::<u128>();
        check::<usize>();
        check::<f32>();
        check::<f64>();
        check::<char>();
        check::<*const u8>();
        #[cfg(feature = "half")]
        {
            check::<half::f16>();
            check::<half::bf16>();
        }
        check::<StringHandle>();
        check::<Argb>();
        check::<CategoryId>();
        check::<RangeId>();
        check::<ScopeId>();
    }
}
