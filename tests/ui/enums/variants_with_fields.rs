use nvtxw::NvtxEnum;

#[derive(NvtxEnum, Clone, Copy)]
#[repr(u8)]
enum Level {
    Low,
    High(u8),
    Other { value: u8 },
}

fn main() {}
