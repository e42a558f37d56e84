use nvtxw::{NvtxCounterGroup, NvtxEvent};

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct r#Event {
    #[nvtx(timestamp)]
    r#type: i64,
    r#match: u64,
    größe: u64,
    #[nvtx(name = "an \"other\" name: 한강")]
    other: u64,
}

#[derive(NvtxCounterGroup, Clone, Copy)]
#[repr(C)]
#[nvtx(name = "memory channel")]
struct Channel {
    #[nvtx(description = "bytes that were read")]
    r#in: u64,
}

fn main() {
    let table = <Event as NvtxEvent>::SCHEMA;
    assert_eq!(table.name, c"Event");
    let names: Vec<_> = table.entries.iter().map(|entry| entry.name).collect();
    assert_eq!(names, [c"type", c"match", c"größe", c"an \"other\" name: 한강"]);

    let table = <Channel as NvtxCounterGroup>::SCHEMA;
    assert_eq!(table.name, c"memory channel");
    assert_eq!(table.entries[0].name, c"in");
    assert_eq!(table.entries[0].description, Some(c"bytes that were read"));
}
