//! A backend that does nothing, so that only the way to it is measured.

use std::hint::black_box;

use nvtxw::abi::raw::nvtxwInterface_v2_t;

/// What a registration gives.
pub trait Given {
    const VALUE: Self;
}

impl Given for u64 {
    const VALUE: Self = 0x1000;
}

impl<T> Given for *mut T {
    const VALUE: Self = std::ptr::without_provenance_mut(0x1000);
}

/// A function that looks at its arguments, gives a value through the last one if `gives`, and succeeds.
macro_rules! member {
    ($($argument:ident: $ty:ident),+) => {{
        unsafe extern "C" fn member<$($ty),+>($($argument: $ty),+) -> i32 {
            black_box(($($argument),+));
            0
        }
        Some(member)
    }};
    ($($argument:ident: $ty:ident),+; gives) => {{
        unsafe extern "C" fn member<$($ty),+, Out: Given>($($argument: $ty),+, out: *mut Out) -> i32 {
            black_box(($($argument),+));
            // SAFETY:
            // - The ABI says that the place is there through the call, unless the caller picks a static ID: none does.
            unsafe { out.write(Out::VALUE) };
            0
        }
        Some(member)
    }};
}

/// The function table.
pub const TABLE: nvtxwInterface_v2_t = nvtxwInterface_v2_t {
    SessionBegin: member!(a: A; gives),
    SessionEnd: member!(a: A),
    DomainRegister: member!(a: A, b: B; gives),
    CategoryRegister: member!(a: A, b: B, c: C),
    StringRegister: member!(a: A, b: B; gives),
    ResourceRegister: member!(a: A, b: B),
    ScopeRegister: member!(a: A, b: B; gives),
    SchemaRegister: member!(a: A, b: B; gives),
    EnumRegister: member!(a: A, b: B; gives),
    CounterRegister: member!(a: A, b: B; gives),
    TimeDomainRegister: member!(a: A, b: B; gives),
    StreamOpen: member!(a: A, b: B; gives),
    StreamClose: member!(a: A),
    EventWrite: member!(a: A, b: B, c: C),
    EventBatchWrite: member!(a: A, b: B),
    CounterWrite: member!(a: A, b: B, c: C, d: D, e: E),
    CounterNoValueWrite: member!(a: A, b: B, c: C, d: D),
    CounterBatchWrite: member!(a: A, b: B),
    TimeSyncPointWrite: member!(a: A, b: B, c: C, d: D, e: E),
    TimeSyncPointTableWrite: member!(a: A, b: B, c: C, d: D, e: E),
    TimestampConversionFactorWrite: member!(a: A, b: B, c: C, d: D, e: E, f: F),
    reserved: [None; 43],
};
