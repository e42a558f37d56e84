use nvtxw::NvtxEnum;

#[derive(NvtxEnum, Clone, Copy)]
#[repr(C)]
struct Level {
    value: u8,
}

#[derive(NvtxEnum, Clone, Copy)]
#[repr(C)]
union Either {
    value: u8,
}

fn main() {}
