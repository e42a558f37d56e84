use nvtxw::{EventWriter, FlexPool, FlexStr, NvtxEvent, RecordRow};

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
    #[nvtx(message, flex)]
    text: FlexStr,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Plain {
    #[nvtx(timestamp)]
    time: i64,
}

fn without(events: &EventWriter<'_, Event>, row: &RecordRow) {
    let event = Event { time: 0, text: FlexStr::EMPTY };
    let _ = events.write(&event);
    let _ = events.write_batch(&[event]);
    let _ = events.write_with(&event, row);
}

fn with(events: &EventWriter<'_, Plain>, pool: &FlexPool) {
    let _ = events.write_batch_flex(&[Plain { time: 0 }], pool);
}

fn main() {}
