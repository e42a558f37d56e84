use nvtxw::{EventWriter, NvtxEvent, WriteError};

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_push)]
struct Event {
    #[nvtx(timestamp_start)]
    start: i64,
}

fn run(events: &EventWriter<'_, Event>, batch: &[Event]) -> Result<(), WriteError> {
    events.write(&batch[0])?;
    events.write_batch(batch)
}

fn main() {}
