use nvtxw::NvtxEnum;

#[derive(NvtxEnum, Clone, Copy)]
#[repr(C)]
#[nvtx(flags)]
enum Access {
    Read = 1,
    Write = 2,
}

fn main() {}
