use nvtxw::NvtxEnum;

#[derive(NvtxEnum, Clone, Copy)]
#[repr(u8)]
enum Level {
    Low,
    #[nvtx(name = "Low")]
    Lower,
    #[nvtx(name = "")]
    Lowest,
}

fn main() {}
