//! The macros that define the ABI's items and, from the same text, their rows in
//! [`layout`](crate::layout).

/// Cuts the `r#` of a raw identifier.
pub(crate) const fn plain(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [b'r', b'#', ..] => name.split_at(2).1,
        _ => name,
    }
}

/// Defines structs and unions, asserts their layout at compile time, and lists them in `LAYOUTS`.
///
/// `field @ 8: T` states that the field lies 8 bytes from the start. The assertions are those of
/// the 64-bit ABI; the definitions serve other targets too.
macro_rules! layout {
    ($(
        $(#[$meta:meta])*
        $kind:ident $name:ident: size $size:literal, align $align:literal {
            $( $(#[$field_meta:meta])* $field:ident @ $offset:literal: $ty:ty, )+
        }
    )+) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy)]
            #[repr(C)]
            pub $kind $name {
                $( $(#[$field_meta])* pub $field: $ty, )+
            }

            #[cfg(target_pointer_width = "64")]
            const _: () = {
                static_assertions::const_assert_eq!(size_of::<$name>(), $size);
                static_assertions::const_assert_eq!(align_of::<$name>(), $align);
                $(
                    static_assertions::const_assert_eq!(
                        core::mem::offset_of!($name, $field),
                        $offset
                    );
                )+
            };
        )+

        pub(crate) const LAYOUTS: &[$crate::layout::Layout] = &[$(
            $crate::layout::Layout {
                name: stringify!($name),
                size: size_of::<$name>(),
                align: align_of::<$name>(),
                fields: &[$(
                    $crate::layout::Field {
                        name: $crate::raw::definition::plain(stringify!($field)),
                        offset: core::mem::offset_of!($name, $field),
                        size: size_of::<$ty>(),
                        rust_type: stringify!($ty),
                    },
                )+],
            },
        )+];
    };
}

/// Defines constants and lists them in `$list`, each as the [`Value`](crate::layout::Value) variant
/// named first.
macro_rules! constants {
    (
        $list:ident: $variant:ident as $wide:ty;
        $( $(#[$meta:meta])* $name:ident: $ty:ty = $value:expr; )+
    ) => {
        $( $(#[$meta])* pub const $name: $ty = $value; )+

        pub(crate) const $list: &[$crate::layout::Constant] = &[$(
            $crate::layout::Constant {
                name: stringify!($name),
                value: $crate::layout::Value::$variant($name as $wide),
            },
        )+];
    };
}

/// Defines function pointer types and lists them in `$list`.
macro_rules! functions {
    ($list:ident; $(
        $(#[$meta:meta])*
        $name:ident($( $parameter:ident: $ty:ty ),* $(,)?) -> $returns:ty;
    )+) => {
        $(
            $(#[$meta])*
            pub type $name = unsafe extern "C" fn($( $parameter: $ty ),*) -> $returns;
        )+

        pub(crate) const $list: &[$crate::layout::Function] = &[$(
            $crate::layout::Function {
                name: stringify!($name),
                parameters: &[$( (stringify!($parameter), stringify!($ty)) ),*],
                returns: stringify!($returns),
            },
        )+];
    };
}

pub(crate) use {constants, functions, layout};
