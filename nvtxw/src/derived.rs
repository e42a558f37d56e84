//! The traits that users derive, and those that say what can be done with such types.

use std::ops::{BitAnd, BitOr};

use nvtxw_abi::EventKind;

use crate::field::NvtxField;
use crate::table::{EnumTable, SchemaTable};

#[cfg(feature = "derive")]
pub use nvtxw_derive::{NvtxCounterGroup, NvtxEnum, NvtxEvent, NvtxPayload};

/// An event that is written as the struct's own bytes. Derived, never written by hand.
///
/// ```
/// # #[cfg(feature = "derive")] {
/// use nvtxw::{Argb, NvtxEvent, StringHandle};
///
/// /// A kernel's run on the device.
/// #[derive(NvtxEvent, Clone, Copy)]
/// #[repr(C)]
/// #[nvtx(kind = range_startend)]
/// struct Kernel {
///     #[nvtx(timestamp_start)]
///     start: i64,
///     #[nvtx(timestamp_end)]
///     end: i64,
///     #[nvtx(message, registered_string)]
///     name: StringHandle,
///     #[nvtx(color)]
///     color: Argb,
///     grid: [u32; 3],
///     #[nvtx(name = "shared memory", unit = "bytes", min = 0)]
///     shared: u64,
///     #[nvtx(correlation = "launch")]
///     launch: u64,
/// }
/// # let _ = Kernel {
/// #     start: 0, end: 1, name: StringHandle::NONE, color: Argb::GREEN, grid: [1, 1, 1], shared: 0, launch: 7,
/// # };
/// # }
/// ```
///
/// [`Domain::schema`](crate::Domain::schema) registers the struct's layout, and
/// [`Writer::events`](crate::Writer::events) writes such structs, one by one or in slices.
///
/// # Layout
///
/// The struct's memory is what the backend gets, so it is fixed by `#[repr(C)]` and has no padding, whose uninitialised
/// bytes would leak into the trace. The derive checks that when the crate is compiled and says how to close a gap: by
/// order, or by a field that `#[nvtx(skip)]` keeps out of the trace. `#[repr(C, packed)]` closes all of them.
///
/// A generic struct is checked for the types that it is used with, in a build. [`assert_event!`](crate::assert_event)
/// makes `cargo check` do it.
///
/// # Safety
///
/// Every byte of every value is initialised, and the table describes them: the type, the size, and every entry's offset.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an event",
    label = "doesn't derive `NvtxEvent`",
    note = "write `#[derive(nvtxw::NvtxEvent, Clone, Copy)] #[repr(C)] #[nvtx(kind = …)]` above the struct"
)]
pub unsafe trait NvtxEvent: Copy + 'static {
    /// What such an event says.
    const KIND: EventKind;
    #[doc(hidden)]
    const SCHEMA: SchemaTable;
    /// Evaluating it checks the layout of a generic struct.
    #[doc(hidden)]
    const CHECK: ();
}

/// An event that says all by itself: a mark, or a range with both of its times. Slices of such events can be written at
/// once; the derive of [`NvtxEvent`] implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be written in a batch: it is one end of a range",
    label = "neither a mark nor a whole range",
    note = "write such events one by one with `write`, or give the struct the kind `range_pushpop` or `range_startend`"
)]
pub trait CompleteEvent {}

/// An event all of whose data is in the struct: no field is marked with `flex`. The derive of [`NvtxEvent`] implements
/// it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has text in a `FlexPool`, which must be written with it",
    label = "has a `flex` field",
    note = "write it with `write_flex` or `write_batch_flex`, which take the pool"
)]
pub trait FixedEvent {}

/// An event with `#[nvtx(flex)]` fields, whose text lies in a [`FlexPool`](crate::FlexPool). The derive of [`NvtxEvent`]
/// implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no text in a `FlexPool`",
    label = "no field is marked with `#[nvtx(flex)]`",
    note = "write it with `write` or `write_batch`, or mark a `FlexStr` with `#[nvtx(flex)]`"
)]
pub trait FlexEvent: CompleteEvent {
    /// Whether all text lies within a pool of `pool` bytes.
    #[doc(hidden)]
    fn fits(&self, pool: usize) -> bool;
}

/// A struct that is a field of events, or of others of its kind, or that is written beside an event. Derived, never written
/// by hand.
///
/// ```
/// # #[cfg(feature = "derive")] {
/// use nvtxw::{NvtxEvent, NvtxPayload};
///
/// #[derive(NvtxPayload, Clone, Copy)]
/// #[repr(C)]
/// struct Point {
///     #[nvtx(unit = "mm")]
///     x: f32,
///     #[nvtx(unit = "mm")]
///     y: f32,
/// }
///
/// #[derive(NvtxEvent, Clone, Copy)]
/// #[repr(C)]
/// #[nvtx(kind = mark)]
/// struct Touch {
///     #[nvtx(timestamp)]
///     time: i64,
///     at: Point,
///     path: [Point; 4],
/// }
/// # let at = Point { x: 0.0, y: 1.0 };
/// # let _ = Touch { time: 0, at, path: [at; 4] };
/// # }
/// ```
///
/// Its schema is registered with the first schema that it is in, or by
/// [`Domain::payload_schema`](crate::Domain::payload_schema), whose result writes such structs
/// [beside an event](crate::EventWriter::write_with). The fields have no roles but `correlation` and `registered_string`. The
/// layout has the rules of [`NvtxEvent`]'s.
///
/// # Safety
///
/// The table describes every byte: the size, and every entry's type and offset.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a payload",
    label = "doesn't derive `NvtxPayload`",
    note = "write `#[derive(nvtxw::NvtxPayload, Clone, Copy)] #[repr(C)]` above the struct"
)]
pub unsafe trait NvtxPayload: NvtxField {
    #[doc(hidden)]
    const SCHEMA: SchemaTable;
    /// Evaluating it checks the layout of a generic struct.
    #[doc(hidden)]
    const CHECK: ();
}

/// An enum whose values a trace shows by their names. Derived, never written by hand.
///
/// ```
/// # #[cfg(feature = "derive")] {
/// use nvtxw::{NvtxEnum, NvtxEvent};
///
/// #[derive(NvtxEnum, Clone, Copy)]
/// #[repr(u8)]
/// enum Direction {
///     #[nvtx(name = "host to device")]
///     HostToDevice = 1,
///     #[nvtx(name = "device to host")]
///     DeviceToHost,
/// }
///
/// #[derive(NvtxEvent, Clone, Copy)]
/// #[repr(C, packed)]
/// #[nvtx(kind = mark)]
/// struct Copied {
///     #[nvtx(timestamp)]
///     time: i64,
///     direction: Direction,
/// }
/// # let _ = Copied { time: 0, direction: Direction::HostToDevice };
/// # let _ = Copied { time: 0, direction: Direction::DeviceToHost };
/// # }
/// ```
///
/// The enum is `Copy`, has variants without fields, and fixes its size: `#[repr(u8)]` to `#[repr(i64)]`, or `#[repr(C)]`.
/// With `#[nvtx(flags)]` its values are bits, and [`Flags`](crate::Flags) combines them.
///
/// # Safety
///
/// `Bits` and the table have the enum's size.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an enum that a trace can name",
    label = "doesn't derive `NvtxEnum`",
    note = "write `#[derive(nvtxw::NvtxEnum, Clone, Copy)] #[repr(u8)]` above the enum"
)]
pub unsafe trait NvtxEnum: NvtxField {
    /// The integer that the enum is stored as.
    type Bits: Copy
        + Default
        + Eq
        + BitOr<Output = Self::Bits>
        + BitAnd<Output = Self::Bits>
        + 'static;
    #[doc(hidden)]
    const TABLE: EnumTable;
}

/// An enum whose values are bits that combine: see [`Flags`](crate::Flags). The derive of [`NvtxEnum`] implements it
/// where the enum has `#[nvtx(flags)]`.
#[diagnostic::on_unimplemented(
    message = "the values of `{Self}` don't combine",
    label = "not an enum of flags",
    note = "derive `NvtxEnum` and write `#[nvtx(flags)]` above the enum"
)]
pub trait NvtxFlags: NvtxEnum {
    /// The value as its integer.
    #[doc(hidden)]
    fn bits(self) -> Self::Bits;
}

/// Some counters that are sampled together. Derived, never written by hand.
///
/// Each field is a counter of its own. A `timestamp` field holds the time of the sample; without it the times are
/// written beside the samples.
///
/// ```
/// # #[cfg(feature = "derive")] {
/// use nvtxw::NvtxCounterGroup;
///
/// /// One memory channel.
/// #[derive(NvtxCounterGroup, Clone, Copy)]
/// #[repr(C)]
/// struct Channel {
///     #[nvtx(unit = "bytes", value_type = "delta")]
///     read: u64,
///     #[nvtx(unit = "%", min = 0, max = 100, interpolation = "linear")]
///     busy: f32,
///     queue: u32,
/// }
/// # let _ = Channel { read: 1, busy: 0.5, queue: 2 };
/// # }
/// ```
///
/// The layout has the rules of [`NvtxEvent`]'s.
///
/// # Safety
///
/// Every byte of every value is initialised, and the table describes them: the type, the size, and every entry's offset.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a counter group",
    label = "doesn't derive `NvtxCounterGroup`",
    note = "write `#[derive(nvtxw::NvtxCounterGroup, Clone, Copy)] #[repr(C)]` above the struct"
)]
pub unsafe trait NvtxCounterGroup: Copy + 'static {
    #[doc(hidden)]
    const SCHEMA: SchemaTable;
    /// Evaluating it checks the layout of a generic struct.
    #[doc(hidden)]
    const CHECK: ();
}

/// A counter group without a `timestamp` field: times are written beside the samples. The derive of
/// [`NvtxCounterGroup`] implements it.
#[diagnostic::on_unimplemented(
    message = "the samples of `{Self}` hold their own time",
    label = "has a `timestamp` field",
    note = "write them with `sample_embedded` and `write_batch_embedded`, or remove `#[nvtx(timestamp)]`"
)]
pub trait SeparateTime {}

/// A counter group with a `timestamp` field. The derive of [`NvtxCounterGroup`] implements it.
#[diagnostic::on_unimplemented(
    message = "the samples of `{Self}` don't hold their time",
    label = "has no `timestamp` field",
    note = "write them with `sample` and `write_batch`, which take the times, or add an `i64` field with `#[nvtx(timestamp)]`"
)]
pub trait EmbeddedTime {}

/// Checks the layout of a generic event for one choice of its parameters, when the crate is checked rather than built.
///
/// ```
/// # #[cfg(feature = "derive")] {
/// use nvtxw::NvtxEvent;
///
/// #[derive(NvtxEvent, Clone, Copy)]
/// #[repr(C)]
/// #[nvtx(kind = mark)]
/// struct Value<T> {
///     #[nvtx(timestamp)]
///     time: i64,
///     value: T,
/// }
///
/// nvtxw::assert_event!(Value<u64>);
/// # let _ = Value { time: 0, value: 0_u64 };
/// # }
/// ```
///
/// ```compile_fail
/// # use nvtxw::NvtxEvent;
/// # #[derive(NvtxEvent, Clone, Copy)]
/// # #[repr(C)]
/// # #[nvtx(kind = mark)]
/// # struct Value<T> {
/// #     #[nvtx(timestamp)]
/// #     time: i64,
/// #     value: T,
/// # }
/// nvtxw::assert_event!(Value<u8>); // 7 padding bytes
/// ```
#[macro_export]
macro_rules! assert_event {
    ($event:ty $(,)?) => {
        const _: () = {
            <$event as $crate::NvtxEvent>::CHECK;
            let _ = <$event as $crate::NvtxEvent>::SCHEMA;
        };
    };
}
