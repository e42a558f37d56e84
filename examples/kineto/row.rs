//! The events that profilers are known to write, one struct each, and the plain range for all others.
//!
//! A struct is used where the event has its arguments with its types. What else the event has stays in [`Args`].

use nvtxw::{CategoryId, CompleteEvent, Domain, FixedEvent, NvtxEvent, StringHandle};

use crate::event::Args;

/// An operator of the framework.
#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_pushpop)]
pub struct CpuOp {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(message, registered_string)]
    name: StringHandle,
    /// The number of its flow, such as the one from a forward to its backward operator; 0: none.
    #[nvtx(correlation = "flow", hide)]
    pub flow: u64,
    #[nvtx(name = "External id")]
    external_id: u64,
    #[nvtx(name = "Ev Idx")]
    index: u32,
    #[nvtx(category)]
    category: CategoryId,
}

/// A range that the program's author marked.
#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_pushpop)]
pub struct Annotation {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(message, registered_string)]
    name: StringHandle,
    #[nvtx(name = "External id")]
    external_id: u64,
    #[nvtx(name = "Ev Idx")]
    index: u32,
    #[nvtx(category)]
    category: CategoryId,
}

/// A call of the GPU's runtime or driver.
#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_pushpop)]
pub struct Call {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(message, registered_string)]
    name: StringHandle,
    #[nvtx(correlation = "correlation")]
    correlation: u64,
    #[nvtx(name = "External id")]
    external_id: u64,
    cbid: u32,
    #[nvtx(category)]
    category: CategoryId,
}

/// A kernel on the GPU.
#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_startend)]
pub struct Kernel {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(message, registered_string)]
    name: StringHandle,
    #[nvtx(correlation = "correlation")]
    correlation: u64,
    #[nvtx(name = "External id")]
    external_id: u64,
    queued: i64,
    #[nvtx(name = "shared memory")]
    shared_memory: u64,
    #[nvtx(name = "blocks per SM")]
    blocks_per_sm: f64,
    #[nvtx(name = "warps per SM")]
    warps_per_sm: f64,
    grid: [u32; 3],
    block: [u32; 3],
    #[nvtx(name = "registers per thread")]
    registers: u32,
    #[nvtx(name = "est. achieved occupancy %")]
    occupancy: i32,
    device: i32,
    context: i32,
    stream: i32,
    #[nvtx(category)]
    category: CategoryId,
}

/// A copy or a fill of memory.
#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_startend)]
pub struct MemoryOp {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(message, registered_string)]
    name: StringHandle,
    #[nvtx(correlation = "correlation")]
    correlation: u64,
    #[nvtx(name = "External id")]
    external_id: u64,
    bytes: u64,
    #[nvtx(name = "memory bandwidth (GB/s)")]
    bandwidth: f64,
    device: i32,
    context: i32,
    stream: i32,
    #[nvtx(category)]
    category: CategoryId,
}

/// The GPU waits.
#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_startend)]
pub struct Sync {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(message, registered_string)]
    name: StringHandle,
    #[nvtx(correlation = "correlation")]
    correlation: u64,
    #[nvtx(name = "External id")]
    external_id: u64,
    #[nvtx(name = "cuda_sync_kind")]
    kind: StringHandle,
    device: i32,
    context: i32,
    stream: i32,
    #[nvtx(category)]
    category: CategoryId,
}

/// What an annotation of the program covers on the GPU.
#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_startend)]
pub struct GpuAnnotation {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(message, registered_string)]
    name: StringHandle,
    #[nvtx(name = "External id")]
    external_id: u64,
    #[nvtx(category)]
    category: CategoryId,
    #[nvtx(skip)]
    fill: u32,
}

/// Any other range of a thread.
#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_pushpop)]
pub struct CpuRange {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(message, registered_string)]
    name: StringHandle,
    #[nvtx(category)]
    category: CategoryId,
    #[nvtx(skip)]
    fill: u32,
}

/// Any other range of the GPU.
#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_startend)]
pub struct GpuRange {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(message, registered_string)]
    name: StringHandle,
    #[nvtx(category)]
    category: CategoryId,
    #[nvtx(skip)]
    fill: u32,
}

/// A moment.
#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
pub struct Instant {
    #[nvtx(timestamp)]
    pub time: i64,
    #[nvtx(message, registered_string)]
    pub name: StringHandle,
    /// What it marks: the thread, its process, or the whole trace.
    #[nvtx(name = "instant scope")]
    pub reach: StringHandle,
    #[nvtx(category)]
    pub category: CategoryId,
    #[nvtx(skip)]
    pub fill: u32,
}

macro_rules! rows {
    ($($name:ident),*) => {
        /// An event as the struct that it will be written as.
        pub enum Row {
            $($name($name),)*
        }

        $(impl InRow for $name {
            fn of(row: &Row) -> Option<&Self> {
                if let Row::$name(row) = row { Some(row) } else { None }
            }
        })*
    };
}

rows!(
    CpuOp,
    Annotation,
    Call,
    CpuRange,
    Kernel,
    MemoryOp,
    Sync,
    GpuAnnotation,
    GpuRange,
    Instant
);

/// A struct that a row may be.
pub trait InRow: NvtxEvent + CompleteEvent + FixedEvent {
    fn of(row: &Row) -> Option<&Self>;
}

/// What every range has.
#[derive(Clone, Copy)]
pub struct Head {
    pub start: i64,
    pub end: i64,
    pub name: StringHandle,
    pub category: CategoryId,
}

impl Row {
    /// The row of a range of the profiler's category `kind`; takes from `args` what the row holds.
    pub fn range(head: Head, kind: &str, args: &mut Args<'_>, domain: &mut Domain<'_>) -> Self {
        if let Some(row) = known(head, kind, args, domain) {
            return row;
        }
        args.put_back();
        let Head {
            start,
            end,
            name,
            category,
        } = head;
        // Ranges of a GPU may overlap without nesting.
        if kind.starts_with("gpu_")
            || matches!(kind, "kernel" | "cuda_sync" | "cuda_profiler_range")
        {
            Self::GpuRange(GpuRange {
                start,
                end,
                name,
                category,
                fill: 0,
            })
        } else {
            Self::CpuRange(CpuRange {
                start,
                end,
                name,
                category,
                fill: 0,
            })
        }
    }
}

fn known(head: Head, kind: &str, args: &mut Args<'_>, domain: &mut Domain<'_>) -> Option<Row> {
    let Head {
        start,
        end,
        name,
        category,
    } = head;
    let external_id = args.take("External id")?;
    Some(match kind {
        "cpu_op" => {
            let index = args.take("Ev Idx")?;
            Row::CpuOp(CpuOp {
                start,
                end,
                name,
                flow: 0,
                external_id,
                index,
                category,
            })
        }
        "user_annotation" => {
            let index = args.take("Ev Idx")?;
            Row::Annotation(Annotation {
                start,
                end,
                name,
                external_id,
                index,
                category,
            })
        }
        "cuda_runtime" | "cuda_driver" => {
            let (correlation, cbid) = (args.take_correlation()?, args.take("cbid")?);
            Row::Call(Call {
                start,
                end,
                name,
                correlation,
                external_id,
                cbid,
                category,
            })
        }
        "kernel" => Row::Kernel(Kernel {
            start,
            end,
            name,
            correlation: args.take_correlation()?,
            external_id,
            queued: args.take("queued")?,
            shared_memory: args.take("shared memory")?,
            blocks_per_sm: args.take("blocks per SM")?,
            warps_per_sm: args.take("warps per SM")?,
            grid: args.take("grid")?,
            block: args.take("block")?,
            registers: args.take("registers per thread")?,
            occupancy: args.take("est. achieved occupancy %")?,
            device: args.take("device")?,
            context: args.take("context")?,
            stream: args.take("stream")?,
            category,
        }),
        "gpu_memcpy" | "gpu_memset" => Row::MemoryOp(MemoryOp {
            start,
            end,
            name,
            correlation: args.take_correlation()?,
            external_id,
            bytes: args.take("bytes")?,
            bandwidth: args.take("memory bandwidth (GB/s)")?,
            device: args.take("device")?,
            context: args.take("context")?,
            stream: args.take("stream")?,
            category,
        }),
        "cuda_sync" => Row::Sync(Sync {
            start,
            end,
            name,
            correlation: args.take_correlation()?,
            external_id,
            kind: domain
                .string(&args.take::<String>("cuda_sync_kind")?)
                .ok()?
                .handle(),
            device: args.take("device")?,
            context: args.take("context")?,
            stream: args.take("stream")?,
            category,
        }),
        "gpu_user_annotation" => Row::GpuAnnotation(GpuAnnotation {
            start,
            end,
            name,
            external_id,
            category,
            fill: 0,
        }),
        _ => return None,
    })
}
