#[derive(NvtxPayload, Clone, Copy)]
#[repr(C)]
struct Inner<T> {
    pair: [T; 2],
    count: u64,
}
