//! The structs of the rich trace.

use nvtxw::{
    Argb, CategoryId, Flags, FlexStr, NvtxCounterGroup, NvtxEnum, NvtxEvent, NvtxField,
    NvtxPayload, RangeId, ScopeId, StringHandle,
};

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_startend)]
pub(crate) struct Kernel {
    #[nvtx(timestamp_start)]
    pub(crate) start: i64,
    #[nvtx(timestamp_end)]
    pub(crate) end: i64,
    #[nvtx(message)]
    pub(crate) name: StringHandle,
    #[nvtx(scope)]
    pub(crate) engine: ScopeId,
    #[nvtx(color)]
    pub(crate) color: Argb,
    #[nvtx(category)]
    pub(crate) category: CategoryId,
    pub(crate) grid: [u32; 3],
    pub(crate) warps: u16,
    pub(crate) level: i8,
    pub(crate) flags: u8,
    pub(crate) flops: f64,
    pub(crate) ratio: f32,
    pub(crate) delta: i32,
    pub(crate) total: u64,
    pub(crate) file: StringHandle,
    pub(crate) steps: [i16; 4],
}

/// Packed, so that no field but the first is aligned.
#[derive(NvtxEvent, Clone, Copy)]
#[repr(C, packed(1))]
#[nvtx(kind = range_pushpop)]
pub(crate) struct Frame {
    pub(crate) depth: u8,
    #[nvtx(timestamp_start)]
    pub(crate) start: i64,
    #[nvtx(timestamp_end)]
    pub(crate) end: i64,
    #[nvtx(message)]
    pub(crate) name: StringHandle,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
pub(crate) struct Launch {
    #[nvtx(timestamp)]
    pub(crate) time: u64,
    #[nvtx(unit = "bytes", value_type = "absolute", interpolation = "point")]
    pub(crate) bytes: u64,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_push)]
pub(crate) struct Enter {
    #[nvtx(timestamp_start)]
    pub(crate) time: i64,
    #[nvtx(message)]
    pub(crate) name: StringHandle,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_pop)]
pub(crate) struct Leave {
    #[nvtx(timestamp_end)]
    pub(crate) time: i64,
    pub(crate) status: i64,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_start)]
pub(crate) struct Begin {
    #[nvtx(timestamp_start)]
    pub(crate) time: i64,
    #[nvtx(range_id)]
    pub(crate) id: RangeId,
    #[nvtx(message)]
    pub(crate) name: StringHandle,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_end)]
pub(crate) struct Finish {
    #[nvtx(range_id)]
    pub(crate) id: RangeId,
    #[nvtx(timestamp_end)]
    pub(crate) time: i64,
}

#[derive(NvtxCounterGroup, Clone, Copy)]
#[repr(C)]
pub(crate) struct Memory {
    #[nvtx(
        unit = "bytes",
        min = 0,
        max = 1000,
        value_type = "absolute",
        interpolation = "until_next"
    )]
    pub(crate) used: u64,
    #[nvtx(
        unit = "%",
        max = 1.5,
        value_type = "absolute",
        interpolation = "linear"
    )]
    pub(crate) load: f64,
    #[nvtx(value_type = "delta", interpolation = "point")]
    pub(crate) faults: i32,
    pub(crate) pages: u32,
}

#[derive(NvtxCounterGroup, Clone, Copy)]
#[repr(C)]
pub(crate) struct Power {
    pub(crate) watts: f32,
    pub(crate) fans: u32,
    #[nvtx(timestamp)]
    pub(crate) time: i64,
}

/// What Python has no words for: a name and a description of its own, what is hidden, what relates events, truth values,
/// and the types `usize`, `i128` and `u128`.
#[derive(NvtxEvent, Clone, Copy)]
#[repr(C, align(16))]
#[nvtx(kind = mark, name = "copy")]
pub(crate) struct Copy {
    #[nvtx(timestamp)]
    pub(crate) time: i64,
    #[nvtx(name = "bytes sent", description = "over the bus")]
    pub(crate) sent: usize,
    pub(crate) wide: i128,
    pub(crate) wider: u128,
    #[nvtx(correlation = "launch")]
    pub(crate) launch: u64,
    #[nvtx(hide)]
    pub(crate) address: u64,
    pub(crate) flags: [bool; 4],
    pub(crate) done: bool,
    #[nvtx(skip)]
    pub(crate) _reserved: [u8; 11],
}

#[derive(NvtxEnum, Clone, Copy)]
#[repr(i8)]
pub(crate) enum Direction {
    #[nvtx(name = "host to device")]
    HostToDevice = 1,
    DeviceToHost,
    Unknown = -1,
}

#[derive(NvtxEnum, Clone, Copy)]
#[repr(u16)]
#[nvtx(flags)]
pub(crate) enum Access {
    Read = 1,
    Write = 2,
    Execute = 0x8000,
}

/// A field type of the program's own.
#[derive(NvtxField, Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Cycle(pub(crate) i64);

#[derive(NvtxPayload, Clone, Copy)]
#[repr(C)]
pub(crate) struct Point {
    #[nvtx(unit = "mm", scale = "1/1000")]
    pub(crate) x: f32,
    #[nvtx(description = "from the top")]
    pub(crate) y: f32,
}

#[derive(NvtxPayload, Clone, Copy)]
#[repr(C)]
pub(crate) struct Line {
    pub(crate) ends: [Point; 2],
    pub(crate) direction: Direction,
    #[nvtx(skip)]
    pub(crate) _reserved: u8,
    pub(crate) access: Flags<Access>,
}

/// With structs, enums and text of fixed length inside.
#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
pub(crate) struct Draw {
    #[nvtx(timestamp, time_domain = "clock_monotonic")]
    pub(crate) time: Cycle,
    pub(crate) line: Line,
    pub(crate) letter: char,
    #[nvtx(string)]
    pub(crate) label: [u8; 8],
    #[nvtx(correlation = "launch")]
    pub(crate) launch: u64,
}

/// With text that goes with the batch.
#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_startend)]
pub(crate) struct Statement {
    #[nvtx(timestamp_start)]
    pub(crate) start: i64,
    #[nvtx(timestamp_end)]
    pub(crate) end: i64,
    #[nvtx(message, flex)]
    pub(crate) text: FlexStr,
    pub(crate) rows: u64,
    #[nvtx(flex)]
    pub(crate) plan: FlexStr,
}
