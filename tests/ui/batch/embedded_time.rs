use nvtxw::{CounterWriter, NvtxCounterGroup, Result};

#[derive(NvtxCounterGroup, Clone, Copy)]
#[repr(C)]
struct Channel {
    #[nvtx(timestamp)]
    time: i64,
    reads: u64,
}

fn run(channel: &CounterWriter<'_, Channel>, batch: &[Channel]) -> Result<()> {
    channel.write_batch_embedded(batch)?;
    channel.sample(1, &batch[0])?;
    channel.write_batch(&[1, 2], batch)
}

fn main() {}
