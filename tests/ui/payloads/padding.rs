use nvtxw::NvtxPayload;

#[derive(NvtxPayload, Clone, Copy)]
#[repr(C)]
struct Payload {
    a: u64,
    b: u16,
}

fn main() {}
