use nvtxw::NvtxEnum;

#[derive(NvtxEnum)]
#[repr(u8)]
enum Level {
    Low,
    High,
}

fn main() {}
