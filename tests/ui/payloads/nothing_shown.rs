use nvtxw::NvtxPayload;

#[derive(NvtxPayload, Clone, Copy)]
#[repr(C)]
struct Payload {
    #[nvtx(skip)]
    rest: u64,
}

fn main() {}
