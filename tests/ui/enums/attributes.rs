use nvtxw::NvtxEnum;

#[derive(NvtxEnum, Clone, Copy)]
#[repr(u8)]
#[nvtx(kind = mark, flag)]
enum Level {
    #[nvtx(unit = "bytes")]
    Low,
    #[nvtx(nam = "high")]
    High,
    #[nvtx(name = "a", name = "b")]
    Higher,
    #[nvtx(flags)]
    Highest,
}

fn main() {}
