//! Field numbers of the format's messages.

pub(crate) mod trace {
    pub(crate) const PACKET: u32 = 1;
}

pub(crate) mod packet {
    pub(crate) const CLOCK_SNAPSHOT: u32 = 6;
    pub(crate) const TIMESTAMP: u32 = 8;
    pub(crate) const SEQUENCE: u32 = 10;
    pub(crate) const TRACK_EVENT: u32 = 11;
    pub(crate) const INTERNED_DATA: u32 = 12;
    pub(crate) const SEQUENCE_FLAGS: u32 = 13;
    pub(crate) const COMPRESSED_PACKETS: u32 = 50;
    pub(crate) const DEFAULTS: u32 = 59;
    pub(crate) const TRACK_DESCRIPTOR: u32 = 60;
    pub(crate) const TRACE_ATTRIBUTES: u32 = 126;

    /// Values of `SEQUENCE_FLAGS`.
    pub(crate) const CLEARED: u64 = 1;
    pub(crate) const NEEDS: u64 = 2;
}

pub(crate) mod defaults {
    pub(crate) const TRACK_EVENT: u32 = 11;
    pub(crate) const CLOCK_ID: u32 = 58;
    /// Of the message in `TRACK_EVENT`.
    pub(crate) const TRACK_UUID: u32 = 11;
}

pub(crate) mod clock_snapshot {
    pub(crate) const CLOCKS: u32 = 1;
    pub(crate) const PRIMARY: u32 = 2;
    /// Of the messages in `CLOCKS`.
    pub(crate) const CLOCK_ID: u32 = 1;
    pub(crate) const TIMESTAMP: u32 = 2;
    pub(crate) const INCREMENTAL: u32 = 3;

    /// The clock of dates.
    pub(crate) const REALTIME: u64 = 1;
    /// The clock of packets that name none.
    pub(crate) const BOOTTIME: u64 = 6;
    /// The first one that each sequence may have for itself.
    pub(crate) const OWN: u64 = 64;
}

pub(crate) mod attributes {
    pub(crate) const ATTRIBUTE: u32 = 1;
    /// Of the messages in `ATTRIBUTE`.
    pub(crate) const KEY: u32 = 1;
    pub(crate) const LONG: u32 = 2;
    pub(crate) const STRING: u32 = 3;
}

pub(crate) mod interned {
    pub(crate) const CATEGORIES: u32 = 1;
    pub(crate) const NAMES: u32 = 2;
    pub(crate) const ANNOTATION_NAMES: u32 = 3;
    pub(crate) const STRING_VALUES: u32 = 29;
    pub(crate) const CORRELATION_IDS: u32 = 43;
    /// Of the messages in each of them.
    pub(crate) const IID: u32 = 1;
    pub(crate) const TEXT: u32 = 2;
}

pub(crate) mod event {
    pub(crate) const CATEGORY_IIDS: u32 = 3;
    pub(crate) const ANNOTATIONS: u32 = 4;
    pub(crate) const TYPE: u32 = 9;
    pub(crate) const NAME_IID: u32 = 10;
    pub(crate) const TRACK_UUID: u32 = 11;
    pub(crate) const CATEGORIES: u32 = 22;
    pub(crate) const NAME: u32 = 23;
    pub(crate) const COUNTER_VALUE: u32 = 30;
    pub(crate) const DOUBLE_COUNTER_VALUE: u32 = 44;
    pub(crate) const FLOW_IDS: u32 = 47;
    pub(crate) const CORRELATION_ID: u32 = 53;
    pub(crate) const CORRELATION_ID_IID: u32 = 54;

    /// Values of `TYPE`.
    pub(crate) const BEGIN: u64 = 1;
    pub(crate) const END: u64 = 2;
    pub(crate) const INSTANT: u64 = 3;
    pub(crate) const COUNTER: u64 = 4;
}

pub(crate) mod annotation {
    pub(crate) const NAME_IID: u32 = 1;
    pub(crate) const BOOL: u32 = 2;
    pub(crate) const UINT: u32 = 3;
    pub(crate) const INT: u32 = 4;
    pub(crate) const DOUBLE: u32 = 5;
    pub(crate) const STRING: u32 = 6;
    pub(crate) const POINTER: u32 = 7;
    pub(crate) const NAME: u32 = 10;
    pub(crate) const DICT_ENTRIES: u32 = 11;
    pub(crate) const ARRAY_VALUES: u32 = 12;
    pub(crate) const STRING_IID: u32 = 17;
}

pub(crate) mod track {
    pub(crate) const UUID: u32 = 1;
    pub(crate) const NAME: u32 = 2;
    pub(crate) const PROCESS: u32 = 3;
    pub(crate) const THREAD: u32 = 4;
    pub(crate) const PARENT_UUID: u32 = 5;
    pub(crate) const COUNTER: u32 = 8;
    pub(crate) const CHILD_ORDERING: u32 = 11;
    pub(crate) const RANK: u32 = 12;
    pub(crate) const DESCRIPTION: u32 = 14;
    pub(crate) const MERGE_BEHAVIOR: u32 = 15;
    pub(crate) const MERGE_KEY: u32 = 17;
    pub(crate) const PROCESS_ORDERING: u32 = 19;
    pub(crate) const THREAD_ORDERING: u32 = 20;

    /// Value of `CHILD_ORDERING`: by rank.
    pub(crate) const EXPLICIT: u64 = 3;
    /// Value of `PROCESS_ORDERING` and `THREAD_ORDERING`: by their sort indices.
    pub(crate) const BY_SORT_INDEX: u64 = 1;
    /// Values of `MERGE_BEHAVIOR`.
    pub(crate) const MERGE_NONE: u64 = 2;
    pub(crate) const MERGE_BY_KEY: u64 = 3;
}

pub(crate) mod process {
    pub(crate) const PID: u32 = 1;
    pub(crate) const SORT_INDEX: u32 = 3;
    pub(crate) const NAME: u32 = 6;
}

pub(crate) mod thread {
    pub(crate) const PID: u32 = 1;
    pub(crate) const TID: u32 = 2;
    pub(crate) const SORT_INDEX: u32 = 3;
    pub(crate) const NAME: u32 = 5;
}

pub(crate) mod counter {
    pub(crate) const UNIT: u32 = 3;
    pub(crate) const MULTIPLIER: u32 = 4;
    pub(crate) const INCREMENTAL: u32 = 5;
    pub(crate) const UNIT_NAME: u32 = 6;
    pub(crate) const Y_AXIS: u32 = 7;

    /// Values of `UNIT`.
    pub(crate) const TIME_NS: u64 = 1;
    pub(crate) const COUNT: u64 = 2;
    pub(crate) const SIZE_BYTES: u64 = 3;
}
