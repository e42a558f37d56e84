use nvtxw::{FlexStr, NvtxCounterGroup};

#[derive(NvtxCounterGroup, Clone, Copy)]
#[repr(C)]
struct Group {
    value: u64,
    #[nvtx(string)]
    name: [u8; 8],
    #[nvtx(flex)]
    text: FlexStr,
}

fn main() {}
