//! Derived code works wherever the struct stands.

#![forbid(unsafe_code)]

use nvtxw::{NvtxCounterGroup, NvtxEnum, NvtxEvent, NvtxField, NvtxPayload};

/// Nothing of the prelude is in scope.
mod without_prelude {
    #![no_implicit_prelude]

    #[derive(::nvtxw::NvtxEvent, ::std::clone::Clone, ::std::marker::Copy)]
    #[repr(C, packed(4))]
    #[nvtx(kind = range_pushpop, name = "bare")]
    pub struct Event {
        #[nvtx(timestamp_start)]
        pub start: i64,
        #[nvtx(timestamp_end)]
        pub end: i64,
        #[nvtx(message)]
        pub name: ::nvtxw::StringHandle,
        #[nvtx(
            unit = "bytes",
            min = 0,
            max = 9.5,
            description = "sent",
            interpolation = "point"
        )]
        pub sent: f64,
        #[nvtx(correlation)]
        pub launch: u64,
        #[nvtx(skip)]
        pub _pad: [u8; 4],
    }

    #[derive(::nvtxw::NvtxCounterGroup, ::std::clone::Clone, ::std::marker::Copy)]
    #[repr(C)]
    pub struct Group<T> {
        #[nvtx(timestamp)]
        pub time: i64,
        pub value: T,
    }

    #[derive(::nvtxw::NvtxEnum, ::std::clone::Clone, ::std::marker::Copy)]
    #[repr(u8)]
    #[nvtx(flags)]
    pub enum Access {
        Read = 1,
        Write = 2,
    }

    #[derive(::nvtxw::NvtxField, ::std::clone::Clone, ::std::marker::Copy)]
    #[repr(transparent)]
    pub struct Time<T>(pub T);

    #[derive(::nvtxw::NvtxPayload, ::std::clone::Clone, ::std::marker::Copy)]
    #[repr(C)]
    pub struct Payload<T> {
        pub access: [Access; 4],
        pub both: ::nvtxw::Flags<Access>,
        pub value: T,
    }

    #[derive(::nvtxw::NvtxEvent, ::std::clone::Clone, ::std::marker::Copy)]
    #[repr(C)]
    #[nvtx(kind = mark)]
    pub struct Flexible {
        #[nvtx(timestamp, time_domain = "cpu_tsc")]
        pub time: Time<i64>,
        #[nvtx(flex)]
        pub text: ::nvtxw::FlexStr,
        #[nvtx(message, flex)]
        pub name: ::nvtxw::FlexStr,
        #[nvtx(scale = "1/1000", unit = "ms")]
        pub sent: u64,
        pub inner: Payload<[u8; 3]>,
    }
}

/// The user's own names shadow those of the language.
mod shadowed {
    #![allow(non_camel_case_types, dead_code)]

    use ::std::primitive;

    pub struct Result;
    pub struct Option;
    pub struct Some;
    pub struct None;
    pub struct Copy;
    pub struct Entry;
    pub struct SchemaTable;
    pub struct Self_;
    pub struct i64;
    pub struct u32;
    pub struct usize;
    pub struct u8;
    pub struct i128;
    pub struct u64;
    pub struct bool;
    pub struct str;
    pub mod core {}
    pub mod std {}
    pub mod nvtxw {}

    pub fn size_of() {}

    #[derive(::nvtxw::NvtxEvent, Clone, ::std::marker::Copy)]
    #[repr(C, packed)]
    #[nvtx(kind = mark, name = "shadowed")]
    pub struct Event {
        #[nvtx(timestamp)]
        pub time: primitive::i64,
        #[nvtx(unit = "bytes", min = 0)]
        pub sent: primitive::u32,
        #[nvtx(skip)]
        pub pad: [primitive::u8; 3],
    }

    #[derive(::nvtxw::NvtxEnum, Clone, ::std::marker::Copy)]
    #[repr(u8)]
    #[nvtx(flags)]
    pub enum Entries {
        Some = 1,
        None = 2,
        Entry = 4,
        Bits = 8,
        Table = 16,
    }

    #[derive(::nvtxw::NvtxField, Clone, ::std::marker::Copy)]
    #[repr(transparent)]
    pub struct Inner(primitive::u64);

    #[derive(::nvtxw::NvtxPayload, Clone, ::std::marker::Copy)]
    #[repr(C)]
    pub struct Payload {
        pub inner: Inner,
        pub entries: [Entries; 8],
    }

    #[derive(::nvtxw::NvtxEvent, Clone, ::std::marker::Copy)]
    #[repr(C, packed)]
    #[nvtx(kind = mark)]
    pub struct Flexible {
        #[nvtx(timestamp)]
        pub time: primitive::i64,
        /// As the parameter of the method that checks it.
        #[nvtx(flex)]
        pub pool: ::nvtxw::FlexStr,
        #[nvtx(flex)]
        pub fits: ::nvtxw::FlexStr,
    }

    /// The names that the check of the fields binds them to.
    #[derive(::nvtxw::NvtxPayload, Clone, ::std::marker::Copy)]
    #[repr(C, packed)]
    pub struct Bound {
        pub _nvtxw_1: primitive::u32,
        pub _nvtxw_0: primitive::u64,
        pub _nvtxw_this: primitive::u8,
    }

    impl Flexible {
        /// Not the trait's.
        pub fn fits(&self) {}
    }
}

/// `nvtxw` is found under another name.
mod renamed {
    pub mod vendored {
        pub use nvtxw as tracing;
    }

    #[derive(vendored::tracing::NvtxEvent, Clone, Copy)]
    #[repr(C)]
    #[nvtx(kind = mark, crate = "crate::renamed::vendored::tracing")]
    pub struct Event {
        #[nvtx(timestamp)]
        pub time: Time,
        pub inner: Payload,
    }

    #[derive(vendored::tracing::NvtxPayload, Clone, Copy)]
    #[repr(C)]
    #[nvtx(crate = "crate::renamed::vendored::tracing")]
    pub struct Payload {
        pub levels: [Level; 8],
    }

    #[derive(vendored::tracing::NvtxEnum, Clone, Copy)]
    #[repr(u8)]
    #[nvtx(crate = "crate::renamed::vendored::tracing", flags)]
    pub enum Level {
        Low = 1,
        High = 2,
    }

    #[derive(vendored::tracing::NvtxField, Clone, Copy)]
    #[repr(transparent)]
    #[nvtx(crate = "crate::renamed::vendored::tracing")]
    pub struct Time(i64);
}

/// Every part of a struct comes out of a macro.
macro_rules! event {
    ($name:ident, $kind:ident, $field:ident: $ty:ty, $unit:literal, $max:literal) => {
        #[derive(NvtxEvent, Clone, Copy)]
        #[repr(C)]
        #[nvtx(kind = $kind)]
        struct $name {
            #[nvtx(timestamp)]
            time: i64,
            #[nvtx(unit = $unit, max = $max)]
            $field: $ty,
        }
    };
}

/// So do an enum and a newtype.
macro_rules! field_types {
    ($level:ident { $($variant:ident = $value:expr),* }, $time:ident($inner:ty)) => {
        #[derive(NvtxEnum, Clone, Copy)]
        #[repr(u64)]
        enum $level { $($variant = $value),* }

        #[derive(NvtxField, Clone, Copy)]
        #[repr(transparent)]
        struct $time($inner);
    };
}

#[test]
fn nothing_of_the_prelude_is_needed() {
    let table = without_prelude::Event::SCHEMA;
    assert_eq!(
        (
            table.name,
            table.size,
            table.pack_align,
            table.entries.len()
        ),
        (c"bare", 44, Some(4), 5)
    );
    const { <without_prelude::Group<u64> as NvtxCounterGroup>::CHECK };
    assert_eq!(
        <without_prelude::Group<u64> as NvtxCounterGroup>::SCHEMA
            .entries
            .len(),
        2
    );
    let table = without_prelude::Flexible::SCHEMA;
    assert_eq!((table.size, table.entries.len()), (56, 5));
    assert_eq!(without_prelude::Access::TABLE.values.len(), 2);
}

#[test]
fn user_types_may_be_named_like_those_of_the_language() {
    let table = shadowed::Event::SCHEMA;
    assert_eq!(
        (table.name, table.size, table.entries.len()),
        (c"shadowed", 15, 2)
    );
    assert_eq!(shadowed::Payload::SCHEMA.size, 16);
    assert_eq!(
        <shadowed::Entries as NvtxEnum>::TABLE.values[4],
        (c"Table", 16)
    );
    assert_eq!(shadowed::Bound::SCHEMA.size, 13);
    assert_eq!(shadowed::Flexible::SCHEMA.entries[1].name, c"pool");
}

#[test]
fn the_crate_may_have_another_name() {
    assert_eq!(renamed::Event::SCHEMA.name, c"Event");
    assert_eq!(renamed::Payload::SCHEMA.name, c"Payload");
    assert_eq!(renamed::Level::TABLE.name, c"Level");
}

#[test]
fn a_struct_may_come_out_of_a_macro() {
    event!(Sent, mark, bytes: u64, "bytes", 9);
    let table = Sent::SCHEMA;
    assert_eq!(table.name, c"Sent");
    assert_eq!(table.entries[1].name, c"bytes");

    field_types!(Level { Low = -1_i64 as u64, High = 1 << 2 }, Time(i64));
    let values = [(c"Low", u64::MAX), (c"High", 4)];
    assert_eq!(Level::TABLE.values, values);
    let _ = (Level::Low, Level::High, Time::TYPE);
}

#[test]
fn a_struct_may_stand_in_a_function() {
    const LEN: usize = 2;
    type Time = i64;

    #[derive(NvtxCounterGroup, Clone, Copy)]
    #[repr(C)]
    struct Local {
        #[nvtx(timestamp)]
        time: Time,
        count: u64,
        #[nvtx(skip)]
        rest: [Time; LEN],
    }

    assert_eq!(Local::SCHEMA.size, 32);
}
