//! What the trace holds: a struct for each kind of event, and the names that they refer to.

use nvtxw::{Argb, CategoryId, Domain, NvtxCounterGroup, NvtxEvent, StringHandle};

/// The host puts a kernel into an engine's queue.
#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_pushpop)]
pub struct Launch {
    #[nvtx(timestamp_start)]
    pub start: i64,
    #[nvtx(timestamp_end)]
    pub end: i64,
    #[nvtx(message, registered_string)]
    pub name: StringHandle,
    #[nvtx(correlation = "launch")]
    pub launch: u64,
    #[nvtx(category)]
    pub category: CategoryId,
    pub engine: u32,
}

/// A kernel on an engine. Kernels overlap without nesting, which is what start/end ranges are for.
#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_startend)]
pub struct Kernel {
    #[nvtx(timestamp_start)]
    pub start: i64,
    #[nvtx(timestamp_end)]
    pub end: i64,
    #[nvtx(message, registered_string)]
    pub name: StringHandle,
    /// The same number as in the `Launch`, which makes them a flow.
    #[nvtx(correlation = "launch")]
    pub launch: u64,
    #[nvtx(name = "shared memory", unit = "bytes")]
    pub shared_memory: u64,
    pub grid: [u32; 3],
    pub registers: u32,
    #[nvtx(category)]
    pub category: CategoryId,
    #[nvtx(color)]
    pub color: Argb,
}

/// An access that missed the translation cache.
#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
pub struct PageMiss {
    #[nvtx(timestamp)]
    pub time: i64,
    #[nvtx(message, registered_string)]
    pub name: StringHandle,
    pub address: u64,
    #[nvtx(unit = "ns")]
    pub walk: u32,
    #[nvtx(category)]
    pub category: CategoryId,
}

/// A descriptor of the copy engine; its bursts nest inside it.
#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_pushpop)]
pub struct Transfer {
    #[nvtx(timestamp_start)]
    pub start: i64,
    #[nvtx(timestamp_end)]
    pub end: i64,
    #[nvtx(message, registered_string)]
    pub name: StringHandle,
    #[nvtx(unit = "bytes")]
    pub size: u64,
    #[nvtx(category)]
    pub category: CategoryId,
    #[nvtx(color)]
    pub color: Argb,
}

/// One access of a transfer to a memory channel.
#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_pushpop)]
pub struct Burst {
    #[nvtx(timestamp_start)]
    pub start: i64,
    #[nvtx(timestamp_end)]
    pub end: i64,
    #[nvtx(message, registered_string)]
    pub name: StringHandle,
    pub address: u64,
    #[nvtx(unit = "bytes")]
    pub size: u32,
    pub channel: u32,
}

/// What a memory channel moved since its last sample.
#[derive(NvtxCounterGroup, Clone, Copy, Default)]
#[repr(C)]
pub struct Traffic {
    #[nvtx(unit = "bytes")]
    pub read: u64,
    #[nvtx(unit = "bytes")]
    pub written: u64,
    #[nvtx(unit = "%", min = 0, max = 100)]
    pub utilisation: f64,
}

impl Traffic {
    /// How many counters a sample has.
    pub const COUNTERS: usize = 3;
}

/// What the simulated events refer to.
pub struct Names {
    pub kernels: [(StringHandle, Argb); 4],
    pub upload: StringHandle,
    pub download: StringHandle,
    pub burst: StringHandle,
    pub page_miss: StringHandle,
    pub compute: CategoryId,
    pub copy: CategoryId,
    pub memory: CategoryId,
}

impl Names {
    pub fn register(domain: &mut Domain<'_>) -> nvtxw::Result<Self> {
        Ok(Self {
            kernels: [
                (domain.string("gemm")?.handle(), Argb::GREEN),
                (domain.string("softmax")?.handle(), Argb::MAGENTA),
                (
                    domain.string("layer norm")?.handle(),
                    Argb::rgb(0x76, 0x53, 0xc1),
                ),
                (domain.string("all reduce")?.handle(), Argb::YELLOW),
            ],
            upload: domain.string("host to device")?.handle(),
            download: domain.string("device to host")?.handle(),
            burst: domain.string("burst")?.handle(),
            page_miss: domain.string("page miss")?.handle(),
            compute: domain.category("compute")?,
            copy: domain.category("copy")?,
            memory: domain.category("memory")?,
        })
    }
}
