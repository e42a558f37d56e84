use nvtxw::NvtxPayload;

#[derive(NvtxPayload, Clone, Copy)]
struct NoLayout {
    value: u64,
}

#[derive(NvtxPayload, Clone, Copy)]
#[repr(C)]
struct Pair(u64, u64);

#[derive(NvtxPayload, Clone, Copy)]
#[repr(u8)]
enum Level {
    Low,
}

#[derive(NvtxPayload, Clone, Copy)]
#[repr(C)]
struct Borrowed<'a> {
    text: &'a str,
}

fn main() {}
