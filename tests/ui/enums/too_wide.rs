use nvtxw::NvtxEnum;

#[derive(NvtxEnum, Clone, Copy)]
#[repr(u128)]
enum Level {
    Low,
    High,
}

fn main() {}
