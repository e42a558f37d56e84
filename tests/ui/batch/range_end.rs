use nvtxw::{EventWriter, NvtxEvent, WriteError};

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_end)]
struct Event {
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(range_id)]
    id: u64,
}

fn run(events: &EventWriter<'_, Event>, batch: &[Event]) -> Result<(), WriteError> {
    events.write(&batch[0])?;
    events.write_batch(batch)
}

fn main() {}
