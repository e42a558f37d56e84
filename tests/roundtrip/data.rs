//! Values of field types: how any of them comes about, and what a backend must see of it.

use std::cell::RefCell;

use nvtxw::{CategoryId, Flags, NvtxFlags, RegisteredString, ScopeId, StringHandle};
use proptest::prelude::*;

use crate::seen::{Shown, Tree, Type};

/// What a value is to a backend, worked out from the value and its Rust type alone.
pub trait Data: Copy {
    fn ty() -> Type;
    fn tree(self) -> Tree;

    fn count() -> Option<usize> {
        None
    }
}

/// A field that holds a value.
pub fn field<T: Data>(name: &str, value: T) -> Shown {
    Shown {
        name: name.to_owned(),
        ty: T::ty(),
        count: T::count(),
        is_hidden: false,
        description: None,
        value: value.tree(),
    }
}

/// A field that is not to be shown.
pub fn hidden<T: Data>(name: &str, value: T) -> Shown {
    Shown {
        is_hidden: true,
        ..field(name, value)
    }
}

/// A field with a description.
pub fn described<T: Data>(name: &str, description: &str, value: T) -> Shown {
    Shown {
        description: Some(description.to_owned()),
        ..field(name, value)
    }
}

/// The bytes before the first null.
pub fn before_null(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|byte| *byte == 0);
    &bytes[..end.unwrap_or(bytes.len())]
}

/// A field of text of a fixed size.
pub fn text(name: &str, bytes: &[u8]) -> Shown {
    Shown {
        name: name.to_owned(),
        ty: Type::Number(76),
        count: None,
        is_hidden: false,
        description: None,
        value: Tree::Text(before_null(bytes).to_vec()),
    }
}

/// All values of a type, with more weight on the edges.
pub trait Values: Sized + std::fmt::Debug + 'static {
    fn values() -> BoxedStrategy<Self>;
}

macro_rules! integers {
    ($($ty:ty: $number:literal $tree:ident as $wide:ty;)*) => { $(
        impl Data for $ty {
            fn ty() -> Type {
                Type::Number($number)
            }
            fn tree(self) -> Tree {
                Tree::$tree(<$wide>::try_from(self).expect("it is no narrower"))
            }
        }

        impl Values for $ty {
            fn values() -> BoxedStrategy<Self> {
                prop_oneof![
                    4 => any::<$ty>(),
                    1 => (0..=3 as $ty),
                    1 => Just(<$ty>::MIN),
                    1 => Just(<$ty>::MAX),
                ]
                .boxed()
            }
        }
    )* };
}

integers! {
    i8: 11 I64 as i64;
    u8: 12 U64 as u64;
    i16: 13 I64 as i64;
    u16: 14 U64 as u64;
    i32: 15 I64 as i64;
    u32: 16 U64 as u64;
    i64: 17 I64 as i64;
    u64: 18 U64 as u64;
    usize: 22 U64 as u64;
    i128: 33 I128 as i128;
    u128: 34 U128 as u128;
}

macro_rules! floats {
    ($($ty:ty, $bits:ty: $number:literal $tree:ident;)*) => { $(
        impl Data for $ty {
            fn ty() -> Type {
                Type::Number($number)
            }
            fn tree(self) -> Tree {
                Tree::$tree(self.to_bits())
            }
        }

        impl Values for $ty {
            fn values() -> BoxedStrategy<Self> {
                let odd = [0.0, -0.0, <$ty>::NAN, -<$ty>::NAN, <$ty>::INFINITY, <$ty>::MIN_POSITIVE / 4.0];
                // Any bits, so that NaNs of all kinds come.
                let bits = any::<$bits>().prop_map(<$ty>::from_bits);
                prop_oneof![
                    3 => any::<$ty>(),
                    2 => bits,
                    1 => any::<$bits>().prop_map(|bits| <$ty>::from_bits(<$ty>::INFINITY.to_bits() | bits >> 3)),
                    1 => proptest::sample::select(odd.to_vec()),
                ]
                .boxed()
            }
        }
    )* };
}

floats! {
    f32, u32: 43 F32;
    f64, u64: 44 F64;
}

/// The bits of the `f32` that a binary16 of these bits is. Of a NaN, the payload is kept.
pub fn widened_f16(bits: u16) -> u32 {
    let (sign, exponent, fraction) = (bits >> 15, bits >> 10 & 31, bits & 1023);
    let magnitude = match exponent {
        31 => 0x7F80_0000 | u32::from(fraction) << 13,
        0 => (f32::from(fraction) / 16_777_216.0).to_bits(),
        _ => (f32::from(1024 + fraction) * 2_f32.powi(i32::from(exponent) - 25)).to_bits(),
    };
    u32::from(sign) << 31 | magnitude
}

/// The bits of the `f32` whose upper half a bfloat16 is.
pub fn widened_bf16(bits: u16) -> u32 {
    u32::from(bits) << 16
}

/// What a backend must see of an enum's value.
pub fn enumeration(name: &str, size: usize, values: &[(&str, u64)], are_flags: bool) -> Type {
    // No bits are no flag.
    let is_flag = |value: u64| are_flags && value != 0;
    let values = values
        .iter()
        .map(|(name, value)| ((*name).to_owned(), *value, is_flag(*value)));
    Type::Enum(name.to_owned(), size, values.collect())
}

impl Data for bool {
    fn ty() -> Type {
        enumeration("bool", 1, &[("false", 0), ("true", 1)], false)
    }
    fn tree(self) -> Tree {
        Tree::Enum(self.into(), Some(self.to_string()))
    }
}

impl Values for bool {
    fn values() -> BoxedStrategy<Self> {
        any::<Self>().boxed()
    }
}

impl Data for char {
    fn ty() -> Type {
        Type::Number(27)
    }
    fn tree(self) -> Tree {
        Tree::Char(self.into())
    }
}

impl Values for char {
    fn values() -> BoxedStrategy<Self> {
        any::<Self>().boxed()
    }
}

impl<T: 'static> Data for *const T {
    fn ty() -> Type {
        Type::Number(23)
    }
    fn tree(self) -> Tree {
        Tree::Address(self.addr() as u64)
    }
}

impl<T: 'static> Values for *const T {
    fn values() -> BoxedStrategy<Self> {
        usize::values()
            .prop_map(std::ptr::without_provenance)
            .boxed()
    }
}

impl<T: Data, const N: usize> Data for [T; N] {
    fn ty() -> Type {
        T::ty()
    }
    /// Arrays of arrays are one array.
    fn count() -> Option<usize> {
        Some(N * T::count().unwrap_or(1))
    }
    fn tree(self) -> Tree {
        let elements = self.into_iter().map(T::tree);
        Tree::List(
            elements
                .flat_map(|element| match (element, T::count()) {
                    (Tree::List(inner), Some(_)) => inner,
                    (element, _) => vec![element],
                })
                .collect(),
        )
    }
}

impl<T: Values + Clone, const N: usize> Values for [T; N] {
    fn values() -> BoxedStrategy<Self> {
        let elements = proptest::collection::vec(T::values(), N);
        elements
            .prop_map(|elements| elements.try_into().expect("as many"))
            .boxed()
    }
}

/// What is registered in the domain of the test.
#[derive(Clone)]
pub struct Registered {
    pub strings: Vec<(RegisteredString, &'static str)>,
    pub categories: Vec<CategoryId>,
    pub scopes: Vec<ScopeId>,
}

thread_local! {
    static REGISTERED: RefCell<Option<Registered>> = const { RefCell::new(None) };
}

/// From now on, values on this thread may refer to these.
pub fn refer_to(registered: Registered) {
    REGISTERED.set(Some(registered));
}

pub fn registered() -> Registered {
    REGISTERED
        .with_borrow(Clone::clone)
        .expect("a domain is there")
}

/// The text of a handle.
pub fn text_of(handle: StringHandle) -> Option<String> {
    let registered = registered();
    let mut strings = registered.strings.into_iter();
    let (_, text) = strings.find(|(string, _)| string.handle() == handle)?;
    Some(text.to_owned())
}

impl Data for StringHandle {
    fn ty() -> Type {
        Type::Number(80)
    }
    fn tree(self) -> Tree {
        Tree::Registered(text_of(self))
    }
}

impl Values for StringHandle {
    fn values() -> BoxedStrategy<Self> {
        let strings = registered().strings.into_iter();
        let mut handles: Vec<_> = strings.map(|(string, _)| string.handle()).collect();
        handles.push(Self::NONE);
        proptest::sample::select(handles).boxed()
    }
}

/// Categories, or none.
pub fn categories() -> BoxedStrategy<u32> {
    let mut categories: Vec<_> = registered()
        .categories
        .iter()
        .map(|id| id.to_u32())
        .collect();
    categories.push(0);
    proptest::sample::select(categories).boxed()
}

/// Scopes, or none.
pub fn scopes() -> BoxedStrategy<u64> {
    let mut scopes: Vec<_> = registered().scopes.iter().map(|id| id.to_u64()).collect();
    scopes.push(0);
    proptest::sample::select(scopes).boxed()
}

/// Timestamps that an unsigned field may hold.
pub fn unsigned_times() -> BoxedStrategy<u64> {
    u64::values().prop_map(|time| time >> 1).boxed()
}

impl<E: NvtxFlags + 'static> Values for Flags<E>
where
    E::Bits: Values + Copy,
{
    fn values() -> BoxedStrategy<Self> {
        E::Bits::values().prop_map(Self::from_bits).boxed()
    }
}

/// Makes any values of a struct out of any values of its fields, or of those that are given.
macro_rules! values {
    ($ty:ty: $($field:ident $(in $strategy:expr)?),* $(,)?) => {
        impl $crate::data::Values for $ty {
            fn values() -> proptest::strategy::BoxedStrategy<Self> {
                use proptest::strategy::Strategy;
                ($($crate::data::values!(@ $($strategy)?),)*)
                    .prop_map(|($($field,)*)| Self { $($field),* })
                    .boxed()
            }
        }
    };
    (@) => { $crate::data::Values::values() };
    (@ $strategy:expr) => { $strategy };
}
pub(crate) use values;
