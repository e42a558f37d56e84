use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Value<T> {
    #[nvtx(timestamp)]
    time: i64,
    value: T,
}

nvtxw::assert_event!(Value<u64>);
nvtxw::assert_event!(Value<u8>);
nvtxw::assert_event!(Value<[u8; 3]>);

fn main() {}
