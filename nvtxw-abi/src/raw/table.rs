//! The function table of version 2.

use core::ffi::{c_char, c_void};

use crate::layout::Function;
use crate::raw::definition::layout;
use crate::raw::{
    nvtxCounterAttr_t, nvtxCounterBatch_t, nvtxDomainHandle_t, nvtxEventBatch_t, nvtxPayloadData_t,
    nvtxPayloadEnumAttr_t, nvtxPayloadSchemaAttr_t, nvtxResourceAttributes_t, nvtxScopeAttr_t,
    nvtxStringHandle_t, nvtxSyncPoint_t, nvtxTimeDomainAttr_t, nvtxwDomainAttributes_t,
    nvtxwResultCode_t, nvtxwSessionAttributes_t, nvtxwSessionHandle_t, nvtxwStreamAttributes_t,
    nvtxwStreamHandle_t,
};

/// Defines the table, whose members all return a result code, and what follows from the list of its
/// members.
macro_rules! table {
    (
        $(#[$meta:meta])*
        struct $table:ident: size $size:literal, align $align:literal {
            $(
                $(#[$member_meta:meta])*
                $member:ident @ $offset:literal($( $parameter:ident: $ty:ty ),+ $(,)?),
            )+
        }
    ) => {
        layout! {
            $(#[$meta])*
            struct $table: size $size, align $align {
                $(
                    $(#[$member_meta])*
                    $member @ $offset:
                        Option<unsafe extern "C" fn($( $parameter: $ty ),+) -> nvtxwResultCode_t>,
                )+
                /// Slots for members that later minor versions add; null here.
                reserved @ 168: [Option<unsafe extern "C" fn()>; 43],
            }
        }

        impl $table {
            /// The names of the baseline members, in order.
            pub const MEMBERS: [&str; 21] = [$( stringify!($member) ),+];

            /// A table of null members.
            pub const fn empty() -> Self {
                Self { $( $member: None, )+ reserved: [None; 43] }
            }

            /// The names of the baseline members that are null, in order. A table that has such is
            /// malformed: a backend that doesn't do something still has a member that returns
            /// [`NVTXW_RESULT_NOT_SUPPORTED`](crate::raw::NVTXW_RESULT_NOT_SUPPORTED).
            pub fn missing(&self) -> impl Iterator<Item = &'static str> + use<> {
                let members = [$( (stringify!($member), self.$member.is_none()) ),+];
                let missing = members.into_iter().filter(|(_, is_missing)| *is_missing);
                missing.map(|(name, _)| name)
            }
        }

        pub(crate) const MEMBERS: &[Function] = &[$(
            Function {
                name: stringify!($member),
                parameters: &[$( (stringify!($parameter), stringify!($ty)) ),+],
                returns: stringify!(nvtxwResultCode_t),
            },
        )+];
    };
}

table! {
    /// The functions of a backend.
    ///
    /// A producer may assume of threads only that distinct streams may be written at once. Session
    /// and stream lifecycle calls and registrations overlap neither each other nor any write. What
    /// is referred to is registered before.
    struct nvtxwInterface_v2_t: size 512, align 8 {
        /// Begins a session.
        SessionBegin @ 0(
            attr: *const nvtxwSessionAttributes_t,
            sessionOut: *mut nvtxwSessionHandle_t,
        ),
        /// Says that all data is in, and ends the session with all of its streams and domains.
        SessionEnd @ 8(session: nvtxwSessionHandle_t),
        /// Registers a domain, or finds the one of that name. A null `attr` is the default domain.
        DomainRegister @ 16(
            session: nvtxwSessionHandle_t,
            attr: *const nvtxwDomainAttributes_t,
            domainOut: *mut nvtxDomainHandle_t,
        ),
        /// Names a category by the number that events refer to it by; 0 can't be named.
        CategoryRegister @ 24(domain: nvtxDomainHandle_t, category: u32, name: *const c_char),
        /// Registers a string that events refer to by its handle.
        StringRegister @ 32(
            domain: nvtxDomainHandle_t,
            string: *const c_char,
            stringHandleOut: *mut nvtxStringHandle_t,
        ),
        /// Names an object of the traced program.
        ResourceRegister @ 40(domain: nvtxDomainHandle_t, attr: *const nvtxResourceAttributes_t),
        /// Registers a scope. `scopeIdOut` may be null if `attr` has a static ID.
        ScopeRegister @ 48(
            domain: nvtxDomainHandle_t,
            attr: *const nvtxScopeAttr_t,
            scopeIdOut: *mut u64,
        ),
        /// Registers a payload schema. `schemaIdOut` may be null if `attr` has a static ID.
        SchemaRegister @ 56(
            domain: nvtxDomainHandle_t,
            attr: *const nvtxPayloadSchemaAttr_t,
            schemaIdOut: *mut u64,
        ),
        /// Registers an enum, whose ID is in the same namespace as those of schemas. `enumIdOut`
        /// may be null if `attr` has a static ID.
        EnumRegister @ 64(
            domain: nvtxDomainHandle_t,
            attr: *const nvtxPayloadEnumAttr_t,
            enumIdOut: *mut u64,
        ),
        /// Registers a counter or a counter group. `counterIdOut` may be null if `attr` has a
        /// static ID.
        CounterRegister @ 72(
            domain: nvtxDomainHandle_t,
            attr: *const nvtxCounterAttr_t,
            counterIdOut: *mut u64,
        ),
        /// Registers a time domain. `timeDomainIdOut` may be null if `attr` has a static ID.
        TimeDomainRegister @ 80(
            domain: nvtxDomainHandle_t,
            attr: *const nvtxTimeDomainAttr_t,
            timeDomainIdOut: *mut u64,
        ),
        /// Opens a stream.
        StreamOpen @ 88(
            session: nvtxwSessionHandle_t,
            attr: *const nvtxwStreamAttributes_t,
            streamOut: *mut nvtxwStreamHandle_t,
        ),
        /// Closes a stream; what was written to it stays.
        StreamClose @ 96(stream: nvtxwStreamHandle_t),
        /// Writes one event, whose payloads may refer to each other by their index.
        EventWrite @ 104(
            stream: nvtxwStreamHandle_t,
            payloads: *const nvtxPayloadData_t,
            payloadCount: usize,
        ),
        /// Writes events of one schema.
        EventBatchWrite @ 112(stream: nvtxwStreamHandle_t, eventBatch: *const nvtxEventBatch_t),
        /// Writes one sample, `size` bytes at `data`, of a counter or a counter group.
        CounterWrite @ 120(
            stream: nvtxwStreamHandle_t,
            timestamp: i64,
            counterId: u64,
            data: *const c_void,
            size: usize,
        ),
        /// Writes a sample without a value; `reason` is one of `NVTX_COUNTER_SAMPLE_*`.
        CounterNoValueWrite @ 128(
            stream: nvtxwStreamHandle_t,
            timestamp: i64,
            counterId: u64,
            reason: u8,
        ),
        /// Writes samples of one counter or counter group.
        CounterBatchWrite @ 136(
            stream: nvtxwStreamHandle_t,
            counterBatch: *const nvtxCounterBatch_t,
        ),
        /// Says that two timestamps, one in each time domain, are the same instant.
        TimeSyncPointWrite @ 144(
            stream: nvtxwStreamHandle_t,
            timeDomainId1: u64,
            timeDomainId2: u64,
            timestamp1: i64,
            timestamp2: i64,
        ),
        /// Says for `count` pairs of timestamps that each is the same instant.
        TimeSyncPointTableWrite @ 152(
            stream: nvtxwStreamHandle_t,
            timeDomainIdSrc: u64,
            timeDomainIdDst: u64,
            syncPoints: *const nvtxSyncPoint_t,
            count: usize,
        ),
        /// Says how to convert: `slope` ticks of the destination per tick of the source, through
        /// one pair of timestamps.
        TimestampConversionFactorWrite @ 160(
            stream: nvtxwStreamHandle_t,
            timeDomainIdSrc: u64,
            timeDomainIdDst: u64,
            slope: f64,
            timestampSrc: i64,
            timestampDst: i64,
        ),
    }
}

#[cfg(test)]
mod tests {
    use core::mem::offset_of;

    use super::nvtxwInterface_v2_t;
    use crate::layout::{functions, layouts};
    use crate::raw::{NVTXW_RESULT_SUCCESS, nvtxwResultCode_t, nvtxwSessionHandle_t};

    #[test]
    fn an_empty_table_misses_all_members() {
        let mut table = nvtxwInterface_v2_t::empty();
        assert!(table.missing().eq(nvtxwInterface_v2_t::MEMBERS));
        table.SessionEnd = Some(session_end);
        let mut others = nvtxwInterface_v2_t::MEMBERS.to_vec();
        others.remove(1);
        assert!(table.missing().eq(others));
    }

    #[test]
    fn each_member_that_is_missing_is_named() {
        assert_eq!(full().missing().next(), None);
        macro_rules! misses {
            ($($member:ident)+) => { $(
                let mut table = full();
                table.$member = None;
                assert!(table.missing().eq([stringify!($member)]));
            )+ };
        }
        misses! {
            SessionBegin SessionEnd DomainRegister CategoryRegister StringRegister ResourceRegister
            ScopeRegister SchemaRegister EnumRegister CounterRegister TimeDomainRegister StreamOpen
            StreamClose EventWrite EventBatchWrite CounterWrite CounterNoValueWrite
            CounterBatchWrite TimeSyncPointWrite TimeSyncPointTableWrite
            TimestampConversionFactorWrite
        }
    }

    #[test]
    fn the_names_are_in_the_order_of_the_slots() {
        let table = layouts()
            .find(|layout| layout.name == "nvtxwInterface_v2_t")
            .unwrap();
        let slots = table.fields.iter().map(|field| (field.name, field.offset));
        let names = nvtxwInterface_v2_t::MEMBERS.into_iter().chain(["reserved"]);
        assert!(slots.eq(names.zip((0..).step_by(size_of::<usize>()))));
        assert!(
            functions()
                .map(|function| function.name)
                .take(21)
                .eq(nvtxwInterface_v2_t::MEMBERS)
        );
        assert_eq!(
            offset_of!(nvtxwInterface_v2_t, reserved),
            21 * size_of::<usize>()
        );
    }

    extern "C" fn session_end(_: nvtxwSessionHandle_t) -> nvtxwResultCode_t {
        NVTXW_RESULT_SUCCESS
    }

    /// A table without a null member.
    fn full() -> nvtxwInterface_v2_t {
        macro_rules! member {
            ($($parameter:ident)+) => {{
                extern "C" fn member<$($parameter),+>(
                    $(_: $parameter),+
                ) -> nvtxwResultCode_t {
                    NVTXW_RESULT_SUCCESS
                }
                Some(member)
            }};
        }
        nvtxwInterface_v2_t {
            SessionBegin: member!(A B),
            SessionEnd: member!(A),
            DomainRegister: member!(A B C),
            CategoryRegister: member!(A B C),
            StringRegister: member!(A B C),
            ResourceRegister: member!(A B),
            ScopeRegister: member!(A B C),
            SchemaRegister: member!(A B C),
            EnumRegister: member!(A B C),
            CounterRegister: member!(A B C),
            TimeDomainRegister: member!(A B C),
            StreamOpen: member!(A B C),
            StreamClose: member!(A),
            EventWrite: member!(A B C),
            EventBatchWrite: member!(A B),
            CounterWrite: member!(A B C D E),
            CounterNoValueWrite: member!(A B C D),
            CounterBatchWrite: member!(A B),
            TimeSyncPointWrite: member!(A B C D E),
            TimeSyncPointTableWrite: member!(A B C D E),
            TimestampConversionFactorWrite: member!(A B C D E F),
            reserved: [None; 43],
        }
    }
}
