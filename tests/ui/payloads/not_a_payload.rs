use nvtxw::{Domain, EventWriter, NvtxEvent};

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Extra {
    value: u64,
}

fn register(mut domain: Domain<'_>) {
    let _ = domain.payload_schema::<Extra>();
}

fn write(events: &EventWriter<'_, Event>, extra: &Extra) {
    let _ = events.write_with(&Event { time: 0 }, extra);
}

fn main() {}
