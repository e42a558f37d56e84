use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Value<T> {
    #[nvtx(timestamp)]
    time: i64,
    value: T,
}

nvtxw::assert_event!(Value<Option<u64>>);

fn main() {}
