//! What a stream promises about the order of its data.

use crate::raw;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// Among which data the order holds.
    StreamInterleaving: i16;
    /// Among all data of the stream.
    None = raw::NVTXW_STREAM_ORDER_INTERLEAVING_NONE,
    /// Among the data of each scope.
    Scope = raw::NVTXW_STREAM_ORDER_INTERLEAVING_SCOPE,
}

vocabulary! {
    /// By which of its timestamps an event takes its place.
    StreamOrdering: i16;
    /// Nothing is promised.
    Unknown = raw::NVTXW_STREAM_ORDERING_TYPE_UNKNOWN,
    /// All data are points in time.
    Strict = raw::NVTXW_STREAM_ORDERING_TYPE_STRICT,
    /// Whole ranges stand by their start.
    PackedRangeStart = raw::NVTXW_STREAM_ORDERING_TYPE_PACKED_RANGE_START,
    /// Whole ranges stand by their end.
    PackedRangeEnd = raw::NVTXW_STREAM_ORDERING_TYPE_PACKED_RANGE_END,
}

vocabulary! {
    /// The unit of how late data may come.
    Skid: i32;
    /// Never late.
    None = raw::NVTXW_STREAM_ORDERING_SKID_NONE,
    /// Nanoseconds, whatever the unit of the timestamps.
    TimeNs = raw::NVTXW_STREAM_ORDERING_SKID_TIME_NS,
    /// Number of events.
    EventCount = raw::NVTXW_STREAM_ORDERING_SKID_EVENT_COUNT,
}
