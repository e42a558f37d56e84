use nvtxw::NvtxEnum;

#[derive(NvtxEnum, Clone, Copy)]
#[repr(u8)]
enum Level<const N: usize> {
    Low,
    High,
}

fn main() {}
