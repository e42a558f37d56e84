use nvtxw::{CounterWriter, NvtxCounterGroup, Result};

#[derive(NvtxCounterGroup, Clone, Copy)]
#[repr(C)]
struct Channel {
    reads: u64,
}

fn run(channel: &CounterWriter<'_, Channel>, batch: &[Channel]) -> Result<()> {
    channel.write_batch(&[1, 2], batch)?;
    channel.sample_embedded(&batch[0])?;
    channel.write_batch_embedded(batch)?;
    Ok(())
}

fn main() {}
